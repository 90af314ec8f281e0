"""The files that preport writes for other programs: each read by a reader of our own."""
import collections
import gzip
import re

import pytest

from conftest import corpus_files, fixture_files
from known_recording import ANSWER, CLOCK, EXEC, FAULTS, USER, Recording, recording  # noqa: F401
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from perfdata import records as r
from perfdata import wire
from profiles import (Callgrind, Firefox, Pprof, chrome, csv_rows, folded, json_table, page,
                      preport, speedscope, svg)

HOSTILE = "a;b\n\x1b[31m</script>\"'\u202e=&\x01("
SELF = {"[app]": 45, "[libx.so.1]": 150, "[[kernel.kallsyms]]": 1007, "[unknown]": 2}
TOTAL = {"[app]": 202, "[libx.so.1]": 157, "[[kernel.kallsyms]]": 1007, "[unknown]": 2}


@pytest.fixture
def hostile(tmp_path):
    it = Recording()
    it.comm(1, 10, "=x\"y", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/tmp/" + HOSTILE.replace("/", ""))
    it.sample(10, 10, 3, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    return path


# --- the table ----------------------------------------------------------------------------------

def test_the_table_as_csv_and_json(recording, tmp_path):
    out = tmp_path / "out.json"
    preport("-o", out, recording)
    table = json_table(out.read_bytes())
    assert (table["event"], table["unit"], table["total"], table["samples"]) == (
        "cpu-clock", "ns", sum(ANSWER.values()), 7)
    assert {row["function"]: row["self"] for row in table["rows"]} == SELF
    assert {row["function"]: row["total"] for row in table["rows"]} == TOTAL
    assert [row["self"] for row in table["rows"]] == sorted(SELF.values(), reverse=True)
    rows = csv_rows(preport("-f", "csv", recording))
    assert [(row["function"], row["image"], row.get("build_id", ""), row["self"], row["total"],
             row["samples"]) for row in table["rows"]] == rows


def test_a_table_by_samples_is_no_time(recording):
    table = json_table(preport("-f", "json", "--weight=samples", recording))
    assert (table["unit"], table["total"]) == ("count", 7)


# --- callgrind ------------------------------------------------------------------------------------

def test_callgrind_has_all_events_and_counts_recursion_once(recording, tmp_path):
    out = tmp_path / "callgrind.out.known"
    preport("-o", out, recording)
    got = Callgrind(out.read_bytes())
    assert got.events == ["cpu_clock", "page_faults_HG"]
    assert got.summary == got.totals() == [sum(ANSWER.values()), 3]
    assert got.self_by_name() == SELF and got.self_by_name(1) == {"[libx.so.1]": 3}
    calls = {(caller[1][0], callee[1][0]): costs for (caller, callee), costs in got.calls.items()}
    assert calls == {("[app]", "[libx.so.1]"): [157, 0], ("[app]", "[app]"): [40, 0],
                     ("[libx.so.1]", "[[kernel.kallsyms]]"): [7, 0]}


def test_events_of_the_same_name_are_columns(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for which in (1, 2, 3):
        it.records += [sample(CLOCK if which < 3 else FAULTS, misc=USER, pid=10, tid=10, time=10,
                              ip=0x1010, cpu=0, identifier=which, callchain=[],
                              **({"period": 10 * which} if which < 3 else {}))]
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(CLOCK, [1]), (CLOCK, [2]), (FAULTS, [3])],
                          records=it.records).build())
    profile = Pprof(preport("-f", "pprof", path))
    assert [name for name, _ in profile.types] == [
        "cpu-clock_sample", "cpu", "cpu-clock_2_sample", "cpu-clock_2_event",
        "page-faults:HG_sample", "page-faults:HG_event"]
    assert sorted(values for *_, values in profile.samples) == [
        [0, 0, 0, 0, 1, 3], [0, 0, 1, 20, 0, 0], [1, 10, 0, 0, 0, 0]]
    assert Callgrind(preport("-f", "callgrind", path)).events == [
        "cpu_clock", "cpu_clock_2", "page_faults_HG"]
    it = Pprof(preport("-f", "pprof", "--base", path, path))
    assert [sum(n - 2**64 if n >= 2**63 else n for n in column)
            for column in zip(*(values for *_, values in it.samples))] == [0] * 6


@pytest.mark.parametrize("words, want", [
    (["precord", "-g", "--", "./my app"], "precord -g -- ./my app"), (["a\nfn=b"], "a\\x0afn=b"),
    (["x" * 3000, "y" * 3000], "x" * 3000 + " " + "y" * 1094), ([], None)],
                         ids=["blank", "newline", "long", "none"])
def test_the_graph_of_calls_has_the_recorded_command(tmp_path, words, want):
    it = Recording()
    it.sample(5, 10, 7, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(CLOCK, [1])], records=it.records,
                          features={11: wire.slist(words)} if words else {}).build())
    assert Callgrind(preport("-f", "callgrind", path)).command == want


@pytest.mark.parametrize("config, flags, number, period", [
    (0, ["freq"], 4000, 250_000), (0, [], 7000, 7000), (2, ["freq"], 4000, 0), (2, [], 5, 5)])
def test_the_period_that_was_asked_for(tmp_path, config, flags, number, period):
    """A clock with a frequency has a time; the period of others changes with each sample."""
    event = attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=config, flags=flags,
                 sample_period=number)
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(event, [1])], records=[
        sample(event, misc=USER, pid=10, tid=10, time=10, ip=0x1010, identifier=1, period=9)
    ]).build())
    assert Pprof(preport("-f", "pprof", path)).period == period


def test_columns_do_not_depend_on_the_order_of_events(tmp_path):
    """Nor the type of the period: go tool pprof -diff_base wants both to be the same."""
    def types(name, first, second):
        it = Recording()
        it.comm(1, 10, "app", misc=EXEC)
        it.records += [sample(event, misc=USER, pid=10, tid=10, time=10 + i, ip=0x1010, cpu=0,
                              identifier=1 + i, callchain=[],
                              **({"period": 5} if event is CLOCK else {}))
                       for i, event in enumerate((first, second))]
        path = tmp_path / name
        path.write_bytes(File(attrs=[(first, [1]), (second, [2])], records=it.records).build())
        profile = Pprof(preport("-f", "pprof", path))
        return profile.types, profile.period_type, sorted(v for *_, v in profile.samples)
    one, other = types("one", CLOCK, FAULTS), types("other", FAULTS, CLOCK)
    assert one == other
    assert [name for name, _ in one[0]] == [
        "cpu-clock_sample", "cpu", "page-faults:HG_sample", "page-faults:HG_event"]


# --- svg ------------------------------------------------------------------------------------------

def test_the_picture_shows_the_shares(recording):
    frames, _ = svg(preport("-f", "svg", "--idle=keep", recording))
    total = sum(ANSWER.values())
    widths = collections.Counter()
    for title, width in frames:
        widths[title.rsplit(" (", 1)[0]] += width
    assert widths["all"] == pytest.approx(1180)
    for name, value in (("swapper", 1000), ("app one", 157), ("[libx.so.1]", 157)):
        assert widths[name] == pytest.approx(1180 * value / total, abs=0.02), name
    assert "swapper (1000, 83.06 %)" in str(frames)


@pytest.mark.parametrize("period, want", [(2_500_000_000, ", 2.500 s"), (7, ", 7 ns")])
def test_the_picture_has_a_time_for_people(tmp_path, period, want):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.sample(5, 10, period, 0x1010)
    (tmp_path / "x").write_bytes(it.file())
    assert f"cpu-clock{want}" in svg(preport("-f", "svg", tmp_path / "x"))[1]
    assert want not in svg(preport("-f", "svg", "--weight=samples", tmp_path / "x"))[1]


def test_a_picture_of_many_frames_is_small(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000000, "/bin/app")
    for i in range(3000):
        it.sample(10 + i, 10, 1 + i * i, *[0x1000 + (i * 7919 + k * 31) % 0xffff
                                           for k in range(20)])
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    out = preport("-f", "svg", "--addrs", path)
    frames, _ = svg(out)
    assert 100 < len(frames) <= 8000 and len(out) < 2_000_000 and b"#999999" in out


def test_the_script_of_a_picture_does_not_depend_on_the_recording(recording, tmp_path):
    it = Recording()
    it.comm(1, 10, "]]></script>", misc=EXEC)
    it.sample(5, 10, 1, 0x1010)
    (tmp_path / "x").write_bytes(it.file())
    pictures = [preport("-f", "svg", *options, path) for path in (recording, tmp_path / "x")
                for options in ([], ["--title=]]></script>"], ["--inverted"])]
    assert len({picture.split(b"<script>")[1] for picture in pictures}) == 1
    assert all(picture.count(b"]]>") == 1 and svg(picture) for picture in pictures)


# --- formats with times ---------------------------------------------------------------------------

LAST_NAMES = {"app_one": "renamed", "swapper": "[swapper/3]"}   # a track has its last name
BY_TRACK = collections.Counter()
for _key, _value in ANSWER.items():
    _comm, _, _rest = _key.partition(";")
    BY_TRACK[LAST_NAMES.get(_comm, _comm) + ";" + _rest] += _value
SWITCH_OUT, PREEMPT = 1 << 13, 1 << 14


@pytest.fixture
def switched(tmp_path):
    """A thread that waits, runs, and is preempted; its pid is used again."""
    it = Recording()

    def switch(time, misc):
        it.records.append(r.switch(misc, sid=sample_id(CLOCK, pid=10, tid=10, time=time, cpu=0,
                                                       identifier=1)))

    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.sample(10_000, 10, 500, 0x1010)
    switch(20_000, SWITCH_OUT)
    switch(50_000, 0)
    it.sample(60_000, 10, 700, 0x1010)
    switch(70_000, SWITCH_OUT | PREEMPT)
    switch(90_000, 0)
    it.sample(95_000, 10, 100, 0x1010)
    path = tmp_path / "switched.data"
    path.write_bytes(it.file())
    return path


def test_firefox_has_the_known_answer(recording, tmp_path):
    out = tmp_path / "out.firefox.json.gz"
    preport("-o", out, recording)
    got = Firefox(out.read_bytes())
    assert got.weights() == BY_TRACK
    assert got.top["meta"]["symbolicated"] is False
    assert [(thread, name, data["type"]) for thread, name, _, _, data in got.markers()] == [
        ("renamed", "page-faults:HG", "event")]
    assert {thread["pid"] for thread in got.threads} == {"10", "20", "0"}


def test_firefox_knows_when_threads_ran(switched):
    got = Firefox(preport("-f", "firefox", switched))
    assert got.threads[0]["samples"]["threadCPUDelta"] == [0, 20_000, 15_000]
    assert [(name, start, end, data["why"]) for _, name, start, end, data in got.markers()] == [
        ("off-CPU", 0.01, 0.04, "blocked"), ("off-CPU", 0.06, 0.08, "preempted")]


def test_speedscope_has_the_known_answer_in_the_order_of_time(recording, tmp_path):
    out = tmp_path / "out.speedscope.json"
    preport("-o", out, recording)
    got = {name: (unit, sums, order) for name, unit, sums, order in speedscope(out.read_bytes())}
    assert got["renamed 10/10 page-faults:HG"] == ("none", {"[libx.so.1]": 3}, ["[libx.so.1]"])
    unit, sums, order = got["renamed 10/10 cpu-clock"]
    assert unit == "nanoseconds" and order == [
        "[app];[libx.so.1]", "[app];[libx.so.1];[[kernel.kallsyms]]", "[app]"]
    assert sums == {"[app];[libx.so.1]": 150, "[app];[libx.so.1];[[kernel.kallsyms]]": 7,
                    "[app]": 5}
    assert got["child 20/20 cpu-clock"][1] == {"[app];[app];[app]": 40, "[unknown]": 2}


def test_chrome_shows_when_threads_ran(switched, recording, tmp_path):
    out = tmp_path / "out.trace.json"
    preport("-o", out, switched)
    slices, samples, names = chrome(out.read_bytes())
    assert [row[2:] for row in slices] == [
        ("running", 0, 9.999), ("blocked", 10, 39.999), ("running", 40, 59.999),
        ("preempted", 60, 79.999), ("running", 80, 84.999)]
    assert [args for _, args in samples] == [{"function": "[app]", "weight": weight}
                                             for weight in (500, 700, 100)]
    slices, samples, names = chrome(preport("-f", "chrome", recording))
    assert not slices and len(samples) == 8
    assert names == {(10, 10): "renamed", (20, 20): "child", (0, 3): "swapper", (0, 0): "swapper"}


def test_a_pid_that_is_used_again_is_another_process(tmp_path):
    it = Recording()
    for start in (100, 200):
        it.records.append(r.fork(10, 1, 10, 1, start, sid=it.sid(start)))
        it.comm(start + 1, 10, f"life {start}", misc=EXEC)
        it.map(start + 2, 10, 0x1000, 0x1000, "/bin/app")
        it.sample(start + 10, 10, start, 0x1010)
        it.records.append(r.exit(10, 1, 10, 1, start + 20, sid=it.sid(start + 20)))
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = Firefox(preport("-f", "firefox", path))
    assert got.weights() == {"life 100;[app]": 100, "life 200;[app]": 200}
    assert {(thread["name"], thread["pid"]) for thread in got.threads} == {
        ("life 100", "10"), ("life 200", "10.1")}


# --- labels, fewer samples ------------------------------------------------------------------------

def test_labels_of_pprof(recording):
    def labels(*options):
        return [(row, frames[-1], values) for row, frames, values in
                Pprof(preport("-f", "pprof", "--comm=app*,child,swapper", *options,
                              recording)).samples]
    assert labels("--labels=tid,cpu,execution_mode") == [
        ({"tid": 10, "cpu": 0, "execution_mode": "Host User"}, "[libx.so.1]", [1, 100]),
        ({"tid": 10, "cpu": 0, "execution_mode": "Host User"}, "[libx.so.1]", [1, 50]),
        ({"tid": 10, "cpu": 0, "execution_mode": "Host Kernel"}, "[[kernel.kallsyms]]",
         [1, 7]),
        ({"tid": 20, "cpu": 0, "execution_mode": "Host User"}, "[app]", [1, 40]),
        ({"tid": 20, "cpu": 0, "execution_mode": "Host User"}, "[unknown]", [1, 2]),
        ({"tid": 0, "cpu": 3, "execution_mode": "Host Kernel"}, "[[kernel.kallsyms]]",
         [1, 1000])]
    assert all(row == {} for row, *_ in labels("--labels=none"))
    assert labels("--labels=comm,pid,tid") == labels()


def test_samples_with_their_times_in_pprof(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for time, weight in ((10, 3), (20, 4), (30, 5)):
        it.sample(time, 10, weight, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = Pprof(preport("-f", "pprof", "--labels=timestamp_ns", path))
    assert [(row, values) for row, _, values in got.samples] == [
        ({"timestamp_ns": 10}, [1, 3]), ({"timestamp_ns": 20}, [1, 4]),
        ({"timestamp_ns": 30}, [1, 5])]
    merged = Pprof(preport("-f", "pprof", "--labels=none", path))
    assert [values for *_, values in merged.samples] == [[3, 12]]
    thinned = Pprof(preport("-f", "pprof", "--labels=timestamp_ns", "--thin=2", path))
    assert [(row, values[1]) for row, _, values in thinned.samples] == [
        ({"timestamp_ns": 20}, 7), ({"timestamp_ns": 30}, 5)]


def test_each_sample_counts_one_on_request(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.sample(10, 10, 3, 0x1010)
    one, both = tmp_path / "one", tmp_path / "both"
    one.write_bytes(it.file())
    it.sample(20, 10, 1, 0x1010, event=FAULTS)
    both.write_bytes(it.file())
    for path, weight, want in ((one, "period", "cpu"), (one, "samples", "samples"),
                               (both, "period", "cpu"), (both, "samples", "cpu-clock_sample")):
        assert Pprof(preport("-f", "pprof", f"--weight={weight}", path)).default_type == want
    for weight, want in (("period", 3), ("samples", 1)):
        _, samples, _ = chrome(preport("-f", "chrome", f"--weight={weight}", one))
        assert [args["weight"] for _, args in samples] == [want]


@pytest.mark.parametrize("form", ["pprof", "callgrind", "firefox", "otlp"])
@pytest.mark.parametrize("option", ["--max-stack=2", "--cut-after=x", "--fold-recursion"])
def test_addresses_are_not_left_out_of_stacks(recording, form, option):
    preport("-f", form, option, recording, status=2)
    preport("-f", "speedscope", option, recording)


@pytest.mark.parametrize("options", [
    ["--labels=pid"], ["--labels=x", "-f", "pprof"], ["--labels=pid", "--group=pid", "-f", "pprof"],
    ["--labels=timestamp_ns", "--base", "x", "-f", "pprof"], ["--thin=2"],
    ["--thin=2", "-f", "script"], ["--thin=2", "-f", "pprof"],
    ["--thin=2", "-f", "firefox", "--weight=samples"],
    ["--thin=2", "-f", "flamegraph", "--base", "x"]])
def test_labels_and_thinning_where_they_can_not_be(recording, options):
    preport(*options, recording, status=2)


def test_one_of_some_samples_has_the_weight_of_all(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so.1")
    for i in range(10):
        it.sample(1000 * i + 1000, 10, 2**40 + i, 0x1010 if i < 9 else 0x7010, tid=11)
        it.sample(1000 * i + 1500, 10, 1 << i, 0x7010)
    it.sample(20000, 10, 5, 0x1010, tid=11, event=FAULTS)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = {name: sums for name, _, sums, _ in speedscope(
        preport("-f", "speedscope", "--thin=4", path))}
    total = sum(2**40 + i for i in range(10))
    assert got["? 10/11 cpu-clock"] == {
        "[app]": total - sum(2**40 + i for i in (8, 9)), "[libx.so.1]": 2**41 + 17}
    assert got["app 10/10 cpu-clock"] == {"[libx.so.1]": 1023}
    assert got["? 10/11 page-faults:HG"] == {"[app]": 3}
    firefox = Firefox(preport("-f", "firefox", "--thin=4", path))
    times = {thread["tid"]: thread["samples"]["time"] for thread in firefox.threads}
    assert times == {10: [0.0035, 0.0075, 0.0095], 11: [0.003, 0.007, 0.009]}
    _, samples, _ = chrome(preport("-f", "chrome", "--thin=4", path))
    assert sum(args["weight"] for _, args in samples) == total + 1023 + 3
    about, nodes, times = page(preport("-f", "flamegraph", "--thin=4", path))
    assert about["facts"].endswith("; one of 4 has a time") and len(times) == 6
    assert sum(weight for *_, weight in times) == total + 1023 == sum(node[2] for node in nodes)


@pytest.mark.parametrize("of", [2, 3, 1000])
def test_thinned_captures_have_the_same_sum(of):
    path = next(file.path for file in fixture_files() if file.name.startswith("20-threads"))
    whole, less = (Firefox(preport("-f", "firefox", *options, path))
                   for options in ((), (f"--thin={of}",)))
    assert sum(whole.weights().values()) == sum(less.weights().values())
    for before, after in zip(sorted(whole.threads, key=lambda t: t["tid"]),
                             sorted(less.threads, key=lambda t: t["tid"])):
        assert after["samples"]["length"] == -(-before["samples"]["length"] // of)


def test_samples_need_memory(recording, tmp_path):
    out = tmp_path / "out.speedscope.json"
    preport("-o", out, "--memory=24K", recording, status=4)
    assert not out.exists()


# --- all ------------------------------------------------------------------------------------------

def sums(path, status):
    """{format: sum of the weights} of each format."""
    def run(name, *more):
        return preport("-f", name, "--idle=keep", *more, path, status=status)

    table = json_table(run("json"))
    callgrind = Callgrind(run("callgrind"))
    assert callgrind.totals() == callgrind.summary or not any(callgrind.summary)
    frames, _ = svg(run("svg"))
    firefox, profiles = Firefox(run("firefox")), speedscope(run("speedscope"))
    pprof, event = Pprof(run("pprof")), table["event"]
    is_time = any(t["samples"]["weightType"] == "tracing-ms" for t in firefox.threads)
    # one event: in the order of time another may be the first
    assert sum(firefox.weights().values()) in [pprof.total(i)
                                               for i in range(is_time, len(pprof.types), 2)]
    columns = dict(zip([name for name, _ in pprof.types[1::2]],
                       [pprof.total(i) for i in range(1, len(pprof.types), 2)]))
    _, samples, _ = chrome(run("chrome"))
    everything = sum(columns.values())
    assert sum(args["weight"] for _, args in samples) == everything
    assert sum(sum(sums.values()) for _, _, sums, _ in profiles) == everything
    return {
        "pprof": next(columns[name] for name in (event, event + "_event", "cpu")
                      if name in columns),
        "json": table["total"], "json rows": sum(row["self"] for row in table["rows"]),
        "csv": sum(row[3] for row in csv_rows(run("csv"))),
        "callgrind": max(callgrind.summary),
        "svg": int(re.search(r"\((\d+), ", frames[0][0])[1]),
    }


@pytest.mark.parametrize("file", [file for file in (*fixture_files(), *corpus_files())
                                  if not file.is_directory],
                         ids=lambda file: file.name)
def test_all_formats_have_the_same_sum(file):
    out = preport("-f", "folded", file.path, status=(0, 1, 3, 5))
    if not out:
        return
    want = sum(folded(out).values())
    got = sums(file.path, (0, 1))
    tasks = want - got.pop("json rows")     # stacks without a function
    assert tasks >= 0 and got.pop("csv") == want - tasks
    assert got.pop("callgrind") >= want
    assert set(got.values()) == {want}


@pytest.mark.parametrize("name", ["csv", "json", "callgrind", "svg", "firefox",
                                  "speedscope", "chrome", "pprof"])
def test_hostile_names_and_the_same_bytes_every_time(hostile, name):
    out = preport("-f", name, hostile)
    assert out == preport("-f", name, hostile)
    text = gzip.decompress(out) if name in ("firefox", "pprof") else out
    assert name == "pprof" or not re.search(rb"\x1b|\x01|\xe2\x80\xae", text)
    if name == "csv":
        assert len(csv_rows(out)) == 1
    elif name == "json":
        assert len(json_table(out)["rows"]) == 1
    elif name == "firefox":
        assert list(Firefox(out).weights().values()) == [3]
    elif name == "speedscope":
        assert [sum(sums.values()) for _, _, sums, _ in speedscope(out)] == [3]
    elif name == "chrome":
        assert [args["weight"] for _, args in chrome(out)[1]] == [3]
    elif name == "pprof":
        assert Pprof(out).total(1) == 3
    elif name == "callgrind":
        assert Callgrind(out).totals() == [3]
    else:
        assert len(svg(out)[0]) == 3
