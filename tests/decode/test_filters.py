"""The filters of pdecode, on a file whose records have names here."""
import pytest

from conftest import strict_json
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, Pipe
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from perfdata.wire import encode, u64, Wire

pytestmark = pytest.mark.sanitize

TYPE = "IDENTIFIER|IP|TID|TIME|CPU|PERIOD"
SOFTWARE = 1
CPU_CLOCK, PAGE_FAULTS = 0, 2
CLOCK = Attr(type=SOFTWARE, config=CPU_CLOCK, sample_period=1000, sample_type=TYPE)
FAULTS = Attr(type=SOFTWARE, config=PAGE_FAULTS, sample_period=1, sample_type=TYPE)
CLOCK_ID, FAULTS_ID = 11, 22
SECOND = 1_000_000_000
LONG = 4_711 * SECOND   # a time with 13 digits


def clock(pid, tid, seconds, cpu):
    return sample(CLOCK, id=CLOCK_ID, ip=0x1000, pid=pid, tid=tid, time=int(seconds * SECOND),
                  cpu=cpu, period=1000)


def fault(pid, tid, seconds, cpu):
    return sample(FAULTS, id=FAULTS_ID, ip=0x1000, pid=pid, tid=tid, time=int(seconds * SECOND),
                  cpu=cpu, period=1)


def sid(pid, tid, seconds, cpu, id=CLOCK_ID):
    return sample_id(CLOCK, pid=pid, tid=tid, time=int(seconds * SECOND), cpu=cpu, id=id)


NOTHING = sample_id(CLOCK)   # the trailer of records that perf synthesizes
# Two processes: 100 (threads 100 and 101) and 200; times from 1 s to 12 s.
ALL = {
    "kernel map": r.mmap(-1, 0, 0xffff0000, 0x1000, 0, "[kernel.kallsyms]_text", sid=NOTHING),
    "old comm 100": r.comm(100, 100, "alpha", sid=NOTHING),
    "old map 100": r.mmap2(100, 100, 0x1000, 0x1000, 0, 8, 1, 5, 0, 5, 2, "/bin/alpha",
                           sid=NOTHING),
    "old comm 200": r.comm(200, 200, "beta", sid=NOTHING),
    "init": r.record(82),
    "100 at 1": clock(100, 100, 1, 0),
    "200 at 2": clock(200, 200, 2, 1),
    "fork 101": r.fork(100, 100, 101, 100, 3 * SECOND, sid=sid(100, 100, 3, 0)),
    "101 at 4": clock(100, 101, 4, 3),
    "comm 101": r.comm(100, 101, "gamma", sid=sid(100, 101, 5, 3)),
    "101 at 6": clock(100, 101, 6, 3),
    "fault 100": fault(100, 100, 6.5, 0),
    "fault 200": fault(200, 200, 6.75, 1),
    "map 200": r.mmap2(200, 200, 0x1000, 0x1000, 0, 8, 1, 5, 0, 5, 2, "/lib/late",
                       sid=sid(200, 200, 7, 1)),
    "round": r.finished_round(),
    "idle": clock(0, 0, 8, 2),
    "gone": clock(-1, -1, 8.5, 2),
    "ksymbol": r.ksymbol(0xffff1000, 16, 1, 0, "bpf_prog", sid=sid(200, 200, 9, 1)),
    "switch": r.switch(sid=sid(200, 200, 9.5, 1)),
    "lost": r.lost(CLOCK_ID, 7, sid=sid(200, 200, 10, 1)),
    "throttle 200": r.throttle(11 * SECOND, FAULTS_ID, FAULTS_ID,
                               sid=sid(200, 200, 11, 1, id=FAULTS_ID)),
    "exit 101": r.exit(100, 100, 101, 101, 12 * SECOND, sid=sid(100, 101, 12, 3)),
}
PERFS_OWN = {"init", "round"}
MADE_UP = {"kernel map", "old comm 100", "old map 100", "old comm 200"}
NO_TASK = {"kernel map", "ksymbol", "lost"} | PERFS_OWN


def those(*words):
    """Records with one of these words in their names."""
    return {name for name in ALL if any(word in name.split() for word in words)}


def attrs():
    return [(CLOCK, [CLOCK_ID]), (FAULTS, [FAULTS_ID])]


@pytest.fixture(scope="module", params=["file", "big-endian", "pipe"])
def data(request, tmp_path_factory):
    """The file, little-endian and big-endian, and as a pipe."""
    path = tmp_path_factory.mktemp("filters") / "all.data"
    records = list(ALL.values())
    if request.param == "pipe":
        heads = [r.header_attr(attr, ids) for attr, ids in attrs()]
        path.write_bytes(Pipe(records=heads + records).build("<"))
    else:
        path.write_bytes(
            File(attrs=attrs(), records=records).build(">" if request.param == "big-endian"
                                                       else "<"))
    return path


def names_of(document, whole):
    """Names of the records in a document, by their offsets in the whole one."""
    offsets = [record["offset"] for record in whole["records"] if record["type"] != "HEADER_ATTR"]
    assert len(offsets) == len(ALL)
    by_offset = dict(zip(offsets, ALL))
    kept = [record for record in document["records"] if record["type"] != "HEADER_ATTR"]
    return {by_offset[record["offset"]] for record in kept}


CASES = {
    "no such pid": (["--pid", "7"], NO_TASK),
    "pid": (["--pid", "100"], NO_TASK | those("100", "101")),
    "pid by body, not by who ran": (["--pid", "200"], NO_TASK | those("200", "switch")),
    "pids": (["--pid", "100,200"], set(ALL) - {"idle", "gone"}),
    "pids, twice": (["--pid", "100", "--pid=200"], set(ALL) - {"idle", "gone"}),
    "pid range": (["--pid", "0-199"], NO_TASK | those("100", "101", "idle")),
    "tid": (["--tid", "101"], NO_TASK | those("101")),
    "pid and tid": (["--pid", "200", "--tid", "101"], NO_TASK),
    "cpu": (["--cpu", "1"], PERFS_OWN | MADE_UP | those("200", "switch", "lost", "ksymbol")),
    "cpus": (["-C", "0,2-3"],
             set(ALL) - ({"200 at 2", "fault 200", "map 200", "switch", "lost", "ksymbol",
                         "throttle 200"})),
    "comm by COMM": (["--comm", "beta"], NO_TASK | those("200", "switch")),
    "comm by FORK, until renamed": (["--comm", "alpha"],
                                    NO_TASK | those("100") | {"fork 101", "101 at 4"}),
    "comm, renamed": (["--comm", "gamma"], NO_TASK | {"comm 101", "101 at 6", "exit 101"}),
    "comms with wildcards": (["-c", "al*,?amma"], NO_TASK | those("100", "101")),
    "comm of idle": (["--comm", "swapper"], NO_TASK | {"idle"}),
    "event": (["--event", "page-faults"],
              set(ALL) - {"100 at 1", "200 at 2", "101 at 4", "101 at 6", "idle", "gone",
                          "lost"}),
    "event with wildcards": (["-e", "cpu*"], set(ALL) - {"fault 100", "fault 200", "throttle 200"}),
    "event with modifiers": (["-e", "cpu-clock:HG"],
                             set(ALL) - {"fault 100", "fault 200", "throttle 200"}),
    "two events": (["-e", "cpu-clock,page-faults"], set(ALL)),
    "no such event": (["-e", "cycles"],
                      set(ALL) - {"100 at 1", "200 at 2", "101 at 4", "101 at 6", "idle", "gone",
                                  "lost", "fault 100", "fault 200", "throttle 200"}),
    "types": (["--types", "SAMPLE"],
              {"100 at 1", "200 at 2", "101 at 4", "101 at 6", "fault 100", "fault 200", "idle",
               "gone"}),
    "types by number, any case": (["--types", "mmap2,3,Finished_Round"],
                                  {"old map 100", "map 200", "old comm 100", "old comm 200",
                                   "comm 101", "round"}),
    "type range": (["--types", "64-99"], PERFS_OWN),
    "comm although COMM is left out": (["--types", "SAMPLE", "--comm", "gamma"], {"101 at 6"}),
    "time": (["--time", "6.5,8"],
             PERFS_OWN | MADE_UP | {"fault 100", "fault 200", "map 200", "idle"}),
    "time from": (["--time", "9.5,"],
                  PERFS_OWN | MADE_UP | {"switch", "lost", "throttle 200", "exit 101"}),
    "time to": (["--time", ",2"], PERFS_OWN | MADE_UP | {"100 at 1", "200 at 2"}),
    "time with units": (["--time", "6500ms,6750000us"],
                        PERFS_OWN | MADE_UP | {"fault 100", "fault 200"}),
    "time in ns": (["--time", "11000000000,12000000000"],
                   PERFS_OWN | MADE_UP | {"throttle 200", "exit 101"}),
    "time in few ns": (["--time", "0ns,1000000000ns"], PERFS_OWN | MADE_UP | {"100 at 1"}),
    "time with decimals": (["--time", "6.750000000,6.7500000009"],
                           PERFS_OWN | MADE_UP | {"fault 200"}),
    "all together": (["--pid", "100", "--cpu", "3", "--time", "5,7", "--types", "SAMPLE", "--event",
                      "cpu-clock"],
                     {"101 at 6"}),
}


@pytest.mark.parametrize("name", CASES)
def test_stays(name, data, decode):
    args, expected = CASES[name]
    assert names_of(decode(data, *args), decode(data)) == expected


@pytest.mark.parametrize("name", ["pid", "types", "time"])
def test_rest_of_document_stays(name, data, decode):
    whole, part = decode(data), decode(data, *CASES[name][0])
    assert list(part) == list(whole)
    for key in ("pdecode", "file", "attrs", "features", "errors"):
        assert part[key] == whole[key]
    summary = part["summary"]
    assert "filtered" not in whole["summary"]
    assert summary["records"] == len(part["records"])
    assert summary["records"] + summary["filtered"] == whole["summary"]["records"]
    by_offset = {record["offset"]: record for record in whole["records"]}
    assert all(record == by_offset[record["offset"]] for record in part["records"])


@pytest.mark.parametrize("name", CASES)
def test_same_for_lines_and_stats(name, data, decode, decode_lines, decoder):
    args, _ = CASES[name]
    document = decode(data, *args)
    records = [line for line in decode_lines(data, *args) if line["kind"] == "record"]
    assert [{**record, "kind": "record"} for record in document["records"]] == records
    stats = decoder.result(data, "--format", "stats", *args).document
    assert stats["records"] == len(document["records"])
    assert stats["filtered"] == document["summary"]["filtered"]


def test_names_are_those_of_the_time(tmp_path, decode):
    """The buffers of two cpus: the second one has an earlier COMM."""
    path = tmp_path / "two-cpus.data"
    path.write_bytes(File(attrs=[(CLOCK, [CLOCK_ID])], records=[
        clock(5, 5, 3, 0),
        r.comm(5, 5, "late", sid=sid(5, 5, 2, 1)),
        clock(5, 5, 1, 1),
        r.finished_round(),
    ]).build("<"))
    args = ["--types", "SAMPLE", "--comm", "late"]
    times = lambda document: [record["time"] for record in document["records"]]
    for order in "file", "time":
        assert times(decode(path, "--sort", order, *args)) == [3 * SECOND]


def test_part_of_the_time(tmp_path, run_pdecode, decode):
    path = tmp_path / "with-span.data"
    span = u64(LONG, LONG + 100 * SECOND)
    records = [sample(CLOCK, id=CLOCK_ID, pid=1, tid=1, time=LONG + n * SECOND)
               for n in range(0, 101, 5)]
    path.write_bytes(File(attrs=[(CLOCK, [CLOCK_ID])], records=records,
                          features={NUMBER["SAMPLE_TIME"]: span}).build("<"))

    def seconds(part):
        return [(record["time"] - LONG) // SECOND
                for record in decode(path, "--time", part)["records"]]
    assert seconds("10%-20%") == [10, 15, 20]
    assert seconds("50%/2") == list(range(50, 101, 5))
    assert seconds("90%-100%") == [90, 95, 100]
    assert seconds("2.5%-7.5%") == [5]
    assert seconds(f"{LONG},{LONG + 5 * SECOND}") == [0, 5]


@pytest.mark.parametrize("mode", ["file", "pipe"])
def test_events_that_are_not_there_are_told(mode, tmp_path, run_pdecode):
    """A warning, because the event may just not be in this recording. It lists the events, in case
    the name is misspelt."""
    path, events = tmp_path / "events.data", [(CLOCK, [CLOCK_ID]), (FAULTS, [FAULTS_ID]),
                                              (CLOCK, [33])]
    records = [clock(1, 1, 1, 0), fault(1, 1, 2, 0)]
    path.write_bytes(File(attrs=events, records=records).build("<") if mode == "file" else
                     Pipe([*[r.header_attr(*event) for event in events], *records]).build("<"))
    for args, missing in ((["-e", "nosuch,cpu-clock"], ["nosuch"]),
                          (["-e", "x*", "-e", "page-faults,y"], ["x*", "y"]),
                          (["-e", "cpu/event=1,umask=2/"], ["cpu/event=1,umask=2/"]),
                          (["-e", "cpu*"], []), ([], [])):
        for form in "json", "jsonl", "stats":
            done = run_pdecode(["-f", form, *args, path])
            assert done.returncode == 0
            assert done.stderr.decode().splitlines() == [
                f"pdecode: --event: no event matches '{name}'; the events are cpu-clock:HG, "
                "page-faults:HG" for name in missing]


def test_many_events_are_not_all_named(tmp_path, run_pdecode):
    path = tmp_path / "events.data"
    many = [(Attr(type=4, config=n, sample_type=TYPE), [n]) for n in range(1, 100)]
    path.write_bytes(File(attrs=many, records=[]).build("<"))
    line = run_pdecode(["-e", "nosuch", path]).stderr.decode().splitlines()[-1]
    assert line.endswith(", ...") and line.count(",") == 20
    path.write_bytes(File(attrs=[], records=[]).build("<"))
    told = run_pdecode(["-e", "nosuch", path]).stderr.decode()
    assert told.endswith("pdecode: --event: no event matches 'nosuch'; there are no events\n")


def test_part_of_unknown_time_is_refused(tmp_path, run_pdecode):
    path = tmp_path / "no-span.data"
    path.write_bytes(File(attrs=attrs(), records=list(ALL.values())).build("<"))
    done = run_pdecode(["--time", "10%-20%", path])
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"states the time of its first" in done.stderr


def test_event_name_with_commas(tmp_path, decode):
    """A comma inside cpu/.../ does not separate events."""
    path = tmp_path / "pmu.data"
    name = "cpu/event=0x3c,umask=1/"
    path.write_bytes(Pipe(records=[
        r.header_attr(CLOCK, [CLOCK_ID]), r.header_attr(FAULTS, [FAULTS_ID]),
        r.event_update_name(CLOCK_ID, name), clock(1, 1, 1, 0), fault(2, 2, 2, 0)]).build("<"))

    def pids(*args):
        return [record["pid"] for record in decode(path, *args)["records"]
                if record["type"] == "SAMPLE"]
    assert decode(path)["attrs"][0]["name"] == name
    assert pids("-e", name) == [1]
    assert pids("-e", f"{name},page-faults") == [1, 2]
    assert pids("-e", "page-faults") == [2]


NAMES = ["mem:0x1000/8:w", "mem:0x2000/4:rw", "cpu/event=0x3c,umask=1/", "cpu/event=0x3c,umask=2/u",
         "a,b", "probe[1]", "x\\y", "z" * 500]


def test_every_name_of_an_event_selects_it(tmp_path, decode, run_pdecode):
    """The name as in by_event; only a comma outside of a PMU's slashes needs a backslash."""
    path = tmp_path / "names.data"
    events = [(CLOCK, [n]) for n, _ in enumerate(NAMES, 1)]
    records = [record for n, name in enumerate(NAMES, 1) for record in
               (r.event_update_name(n, name),
                sample(CLOCK, id=n, ip=0x1000, pid=n, tid=n, time=n, cpu=0, period=1))]
    path.write_bytes(
        Pipe(records=[*[r.header_attr(*event) for event in events], *records]).build("<"))
    spelled = [name.replace(",", "\\,") if name == "a,b" else name for name in NAMES]
    assert [event["event"] for event in decode(path, "-f", "stats")["by_event"]] == NAMES

    def pids(*args):
        done = run_pdecode([*args, path])
        assert done.stderr == b""
        return [record["pid"] for record in strict_json(done.stdout)["records"]
                if record["type"] == "SAMPLE"]
    for n, name in enumerate(spelled, 1):
        assert pids("-e", name) == [n], name
    assert pids("-e", ",".join(spelled)) == list(range(1, len(NAMES) + 1))
    assert pids("-e", "mem:*", "-e", "probe\\[?]") == [1, 2, 6]


def test_names_of_all_events_are_taken(data_file, decoder, run_pdecode):
    """Each name in by_event selects the samples that it counts, and those of the event with
    modifiers."""
    try:
        whole = decoder.result(data_file.path, "-f", "stats").document
    except AssertionError:
        return      # not a perf.data file
    for name in sorted({event["event"] for event in whole["by_event"]} - {""})[:2]:
        spelled = name if name.count("/") == 2 else name.replace(",", "\\,")
        done = run_pdecode(["-f", "stats", "--event", spelled, data_file.path])
        part = strict_json(done.stdout)
        assert b"no event matches" not in done.stderr
        taken = {event["event"] for event in part["by_event"] if event["samples"]}
        assert all(event == name or event.startswith(name + ":") for event in taken)
        for before, now in zip(whole["by_event"], part["by_event"]):
            assert before["event"] != name or before["samples"] == now["samples"]


def test_event_that_is_renamed(tmp_path, decode):
    """In a pipe the name can come after the first samples."""
    path = tmp_path / "renamed.data"
    path.write_bytes(Pipe(records=[
        r.header_attr(CLOCK, [CLOCK_ID]), clock(1, 1, 1, 0), r.event_update_name(CLOCK_ID, "tick"),
        clock(2, 2, 2, 0),
    ]).build("<"))

    def pids(event):
        return [record["pid"] for record in decode(path, "-e", event)["records"]
                if record["type"] == "SAMPLE"]
    assert (pids("cpu-clock"), pids("tick")) == ([1], [2])


@pytest.mark.parametrize("args, says", [
    (["--pid", "x"], b"'--pid' needs process ids such as 1,20-29, not 'x'"),
    (["--pid", ""], b"'--pid'"),
    (["--pid", "1,,2"], b"'--pid'"),
    (["--pid", "5-3"], b"not '5-3'"),
    (["--pid", "4294967296"], b"not '4294967296'"),
    (["--tid", "99999999999999999999"], b"'--tid'"),
    (["--cpu", "0-"], b"'--cpu' needs cpus such as 0-3,5, not '0-'"),
    (["--types", "SAMPEL"], b"'--types' needs record types such as SAMPLE,MMAP2, not 'SAMPEL'"),
    (["--comm", ","], b"'--comm'"),
    (["--time", "5"], b"'--time' needs a span"),
    (["--time", ","], b"'--time'"),
    (["--time", "5,4"], b"'--time'"),
    (["--time", "1,2,3"], b"'--time'"),
    (["--time", "1m,2"], b"'--time'"),
    (["--time", ".,2"], b"'--time'"),
    (["--time", "99999999999999999999,"], b"'--time'"),
    (["--time", "18446744074s,"], b"'--time'"),
    (["--time", "20%-10%"], b"'--time' needs a part such as 10%-20%"),
    (["--time", "10%-200%"], b"'--time' needs a part such as 10%-20%"),
    (["--time", "10%/0"], b"'--time' needs a part such as 10%-20%"),
    (["--time", "10%"], b"'--time' needs a part such as 10%-20%"),
    (["--time", "nan%-20%"], b"'--time' needs a part such as 10%-20%"),
])
def test_bad_filters(args, says, data, run_pdecode):
    done = run_pdecode([*args, data])
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr
    assert done.stderr.count(b"\n") == 2


def test_damage_is_never_filtered(tmp_path, run_pdecode, decode):
    path = tmp_path / "cut.data"
    whole = Pipe(records=[r.header_attr(CLOCK, [CLOCK_ID]), clock(1, 1, 1, 0)]).build("<")
    path.write_bytes(whole + encode(u64(0), Wire("<")))   # a record of size 0: framing is lost
    assert run_pdecode(["--types", "COMM", path]).returncode == 1
    document = decode(path, "--types", "COMM")
    assert [record["type"] for record in document["records"]] == ["SKIPPED"]
    assert document["errors"] and document["summary"]["skipped"] == 8


@pytest.mark.parametrize("form", [["-f", "jsonl"], ["-f", "stats"], ["-f", "stats", "-j", "2"]],
                         ids=" ".join)
@pytest.mark.parametrize("options, said", [
    (["--comm", "nobody"], "--comm nobody"), (["--pid", "1,2"], "--pid 1,2"),
    (["--tid", "77", "--cpu", "9"], "--tid 77 --cpu 9"),
    (["--comm", "alpha"], None), (["--cpu", "0-3"], None),
    (["--types", "COMM", "--comm", "nobody"], None),
])
def test_no_sample_left_is_said(data, run_pdecode, form, options, said):
    done = run_pdecode([*form, *options, data])
    assert done.returncode == 0
    assert done.stderr.decode() == (f"pdecode: no sample matches {said}\n" if said else "")


@pytest.mark.parametrize("form", ["jsonl", "stats"])
def test_samples_without_a_cpu_are_told(tmp_path, run_pdecode, form):
    alone = Attr(type=SOFTWARE, config=CPU_CLOCK, sample_period=1000, sample_type="ID|IP|TID")
    path = tmp_path / "alone.data"
    path.write_bytes(File(attrs=[(alone, [1])], records=[
        sample(alone, id=1, ip=0x1000, pid=1, tid=1)]).build("<"))
    done = run_pdecode(["-f", form, "-C", "7", path])
    assert (done.returncode, done.stderr.decode()) == (
        0, "pdecode: --cpu does not apply to samples of cpu-clock:HG, which have no CPU: "
           "record with --sample-cpu\n")
    assert run_pdecode(["-f", form, path]).stderr == b""
