"""The summary's lines: whether a profile can be trusted."""
import json
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS, fixture_files
from known_recording import (CLOCK, CONTEXT_USER, EXEC, FAULTS, KTEXT, USER, Recording,
                             build_program, recorded)
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import folded, page, preport, table, text

CAPTURES = [file for file in fixture_files() if not file.is_directory]
READ = attr("IP|TID|TIME|READ|CALLCHAIN|IDENTIFIER", type=1, config=0, sample_period=1000,
            read_format="TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP",
            flags=("freq", "sample_id_all", "exclude_guest"))
MEMBER = attr("IP|TID|TIME|READ|CALLCHAIN|IDENTIFIER", type=1, config=2, sample_period=0,
              read_format="TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP")


def group(values, tmp_path, times=(100, 25)):
    """A recording of samples with the values [(leader, member)] of a group of two."""
    records = [r.comm(10, 10, "app", EXEC, sid=sample_id(READ, time=1, identifier=1))]
    for i, pair in enumerate(values):
        records.append(sample(
            READ, misc=USER, pid=10, tid=10, time=10 + i, ip=0x1010, identifier=1,
            callchain=[CONTEXT_USER, 0x1010],
            read={"time_enabled": times[0], "time_running": times[1],
                  "values": [(pair[0], 1, 0), (pair[1], 2, 0)]}))
    path = tmp_path / "group.data"
    path.write_bytes(File(attrs=[(READ, [1]), (MEMBER, [2])], records=records).build())
    return path


def test_events_of_a_group_count_their_increase(tmp_path):
    path = group([(1000, 5), (1700, 5), (2100, 9)], tmp_path)
    assert text(folded(preport("-f", "folded", path))) == {"app;[unknown]": 2100}
    out = preport(path).decode()
    assert "3 samples of cpu-clock" in out
    assert "also recorded: 2 samples of page-faults:HG (in the same group)" in out
    assert "counted 25 % of the time" in out
    got = preport("-f", "folded", "-e", "page-faults", path)
    assert text(folded(got)) == {"app;[unknown]": 9}


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
@pytest.mark.parametrize("name", ["10-group-leader-sampling", "98-group-lead-tp"])
def test_groups_count_as_perf_counts_them(name):
    path = next(file.path for file in CAPTURES if file.name.startswith(name))
    perf = subprocess.run(["perf", "report", "--stdio", "-i", path], capture_output=True,
                          timeout=TIMEOUT, text=True).stdout
    events = re.search(r"{ (.*) }", perf)[1].split(", ")
    stacks = [folded(preport("-f", "folded", f"--weight={weight}", "-e", event, path))
              for event in events for weight in ("period", "samples")]
    sums = [sum(stack.values()) for stack in stacks]
    assert sum(sums[1::2]) == int(re.search(r"# Samples: (\d+)", perf)[1])
    assert sum(sums[::2]) == int(re.search(r"Event count .approx..: (\d+)", perf)[1])


@pytest.mark.parametrize("step, is_told", [(1_000_000, True), (1_003_009, False)])
def test_samples_in_lockstep_with_a_timer(tmp_path, step, is_told):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(200):
        it.sample(10_000_000 + i * step, 10, 1, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert ("lockstep with a timer of 1.0 ms" in preport(path).decode()) == is_told


@pytest.mark.parametrize("step, event", [(1_000, CLOCK), (1_000_000, FAULTS)])
def test_samples_that_no_timer_causes(tmp_path, step, event):
    """A recording of less than a timer's period, and page faults, whose rate is not chosen."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(200):
        it.sample(10_000_000 + i * step, 10, 1, 0x1010, event=event)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert "lockstep" not in preport(path).decode()


# --- the lines ------------------------------------------------------------------------------------

KALLSYMS = "ffffffff81000000 T _text\nffffffff81001000 T default_idle\n" \
           "ffffffff81002000 T busy\nffffffff82000000 T _end\n"


@pytest.fixture
def report(tmp_path):
    """Writes a recording, perhaps changed, and returns preport's table."""
    def go(it, *options, change=lambda data: data, symbols=("--no-symbols",), attrs=None):
        path = tmp_path / "perf.data"
        data = it.file() if attrs is None else File(attrs=attrs, records=it.records).build()
        path.write_bytes(change(data))
        (tmp_path / "kallsyms").write_text(KALLSYMS)
        named = ("--kallsyms", str(tmp_path / "kallsyms"))
        return preport(*options, path, symbols=named if symbols is None else symbols,
                       status=(0, 1)).decode()
    return go


def started():
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x10000, "/bin/app")
    it.sample(10, 10, 60, 0x1010, 0x1020)
    return it


DOUBTS = ("unfinished", "are lost", "few samples", "throttled the event", "[small]", "took turns",
          "no call graphs", "are one function", "begin in no file", "in JIT code", "are cut at",
          "reach beyond", "idle:", "lockstep", "waits are shown", "no periods", "no names",
          "also recorded", "no address")


def many(it, samples=50):
    for i in range(1, samples):
        it.sample(1000 + i * i, 10, 60, 0x1010, 0x1020)
    return it


def test_a_good_recording_has_no_doubts(report):
    out = report(many(started()))
    assert not [line for line in DOUBTS if line in out]
    assert "0 lost, 0 throttled" in out


def test_missing_names_are_explained(report):
    it = started()
    it.records += [r.lost(1, 9, sid=it.sid(19)), r.lost_samples(4, sid=it.sid(20)),
                   r.throttle(21, 1, 1, sid=it.sid(21)), r.throttle(22, 1, 1, sid=it.sid(22))]
    out = report(it)
    assert "; 9 lost, 2 throttled\n" in out
    assert re.search(r"^9 records are lost, \d+\.\d % of all: .* -m 4M", out, re.M)
    it.records += [r.lost_samples(7, sid=it.sid(30))]   # of the records that LOST counts, and more
    assert "; 11 lost, 2 throttled\n" in report(it)
    assert re.search(r"^the kernel throttled the event 2 times: .*-F 1000$", out, re.M)


@pytest.mark.parametrize("samples, error", [(1, 100), (4, 50), (5, 45), (49, 15), (50, None)])
def test_few_samples_have_inexact_shares(report, samples, error):
    found = re.search(r"^few samples: shares may be off by (\d+) %; .*-F 20000$",
                      report(many(started(), samples)), re.M)
    assert (found and int(found[1])) == error


@pytest.mark.parametrize("period, is_exact", [(1, True), (3, False)])
def test_events_that_were_counted_one_by_one_are_exact(period, is_exact, report):
    it = started()
    it.records.pop()
    for i in range(9):
        it.sample(10 + i, 10, 0, 0x1010, 0x1020, event=FAULTS)
    event = attr("IP|TID|TIME|CPU|CALLCHAIN|IDENTIFIER", type=1, config=2, sample_period=period)
    assert ("few samples" not in report(it, attrs=[(CLOCK, [1]), (event, [2])])) == is_exact


def test_a_recording_without_its_end(report):
    out = report(started(), change=lambda data: data[:48] + bytes(8) + data[56:])
    assert re.search("^the recording is unfinished.* prepair", out, re.M)


def test_no_call_graphs_and_no_periods(report):
    bare = attr("IP|TID|TIME|IDENTIFIER", type=1, config=0, sample_period=1000, flags=("freq",))
    it = Recording()
    for time in (10, 20):
        it.records.append(sample(bare, misc=USER, pid=10, tid=10, time=time, ip=0x1010,
                                 identifier=1))
    out = report(it, attrs=[(bare, [1])])
    assert re.search("^no call graphs: record with -g$", out, re.M)
    assert re.search("^the samples have no periods: each counts 1$", out, re.M)


def test_samples_without_an_address(report):
    """An event without its address stands beside one with addresses."""
    with_ip = attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=0, sample_period=1000)
    without = attr("TID|TIME|PERIOD|IDENTIFIER", type=1, config=1, sample_period=1000)
    it = Recording()
    it.records += [sample(with_ip, misc=USER, pid=10, tid=10, time=10 + i, ip=0x1010, period=1,
                          identifier=1) for i in range(3)]
    assert "no address" not in report(it, attrs=[(with_ip, [1]), (without, [2])])
    it.records.append(sample(without, misc=USER, pid=10, tid=10, time=20, period=1, identifier=2))
    out = report(it, attrs=[(with_ip, [1]), (without, [2])])
    assert re.search(r"^25\.0 % of the samples have no address, so no function: ", out, re.M)


def test_samples_without_an_address_have_a_row(tmp_path):
    """Beside stacks of the same thread."""
    event = attr("TID|TIME|PERIOD|IDENTIFIER|CALLCHAIN", type=1, config=0, sample_period=1000)
    it = Recording()
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.records += [sample(event, misc=USER, pid=10, tid=10, time=10 + i, period=1, identifier=1,
                          callchain=[CONTEXT_USER, 0x1010] if i == 3 else []) for i in range(5)]
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(event, [1])], records=it.records).build())
    want = {"[unknown]": (4, 4), "[app]": (1, 1)}
    for sort in ([], ["--sort", "comm,sym"]):
        assert {name: (self, total) for name, self, total in rows_of(path, *sort)} == want
    assert table(preport(path)) == {"[unknown]": (80, 80, 4), "[app]": (20, 20, 1)}
    for direction in ([], ["--callers"]):
        assert text(folded(preport("-f", "folded", *direction, path))) == {
            ":10;[app]": 1, ":10;[unknown]": 4}
    assert "unknown 80.0 %  ·  names: 0 %" in preport(path).decode()


def rows_of(path, *options):
    return [(row["function"], row["self"], row["total"])
            for row in json.loads(preport("-f", "json", *options, path))["rows"]]


@pytest.mark.parametrize("lone, is_told", [(3, False), (4, True)])
def test_stacks_of_one_function(report, lone, is_told):
    it = started()
    for i in range(2):
        it.sample(20 + i, 10, 1, 0x1010, 0x1020)
    for i in range(lone):
        it.sample(30 + i, 10, 1, 0x1010)
    told = re.search(r"^(\d+) % of the stacks are one function: .*--call-graph dwarf$",
                     report(it), re.M)
    assert bool(told) == is_told and (not told or told[1] == "57")


NOWHERE = 0x7ffe00001230


@pytest.mark.parametrize("bad, good, share", [(9, 0, None), (10, 0, "91"), (10, 89, "10"),
                                              (10, 90, None)])
def test_stacks_that_begin_nowhere(report, bad, good, share):
    """Where code keeps no frame pointers, the kernel takes for a return address what is there."""
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x10000, "/bin/app")
    for i in range(bad):
        it.sample(20 + i, 10, 1, *((KTEXT + 16, ) if i % 2 else ()), 0x1010, NOWHERE + i)
    for i in range(good):
        it.sample(100 + i, 10, 1, 0x1010, NOWHERE, 0x1020)
    it.sample(500, 10, 1, NOWHERE, NOWHERE)     # no stack of a known function
    for options in ((), ("-j", "2"), ("-g", "callee"), ("--children", )):
        found = re.search(r"^(\d+) % of the stacks begin in no file, .*--call-graph dwarf$",
                          report(it, *options), re.M)
        assert (found and found[1]) == share


@pytest.mark.parametrize("bad, good, share", [(9, 0, None), (10, 0, "91"), (10, 89, "10"),
                                              (10, 90, None)])
def test_stacks_that_begin_in_jit_code(report, bad, good, share):
    """Their callers are lost: threads begin in files."""
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "java", misc=EXEC)
    it.map(2, 10, 0x1000, 0x10000, "/bin/java")
    it.map(3, 10, 0x100000, 0x10000, "//anon")
    for i in range(bad):
        it.sample(20 + i, 10, 1, *((KTEXT + 16, ) if i % 2 else ()), *(0x100010, 0x100020)[i % 2:])
    for i in range(good):
        it.sample(100 + i, 10, 1, 0x100010, 0x1020)
    it.sample(500, 10, 1, *[0x100010] * 127)    # it is cut
    for options in ((), ("-j", "2"), ("-g", "callee"), ("--children", )):
        found = re.search(r"^(\d+) % of the stacks begin in JIT code, .*PreserveFramePointer$",
                          report(it, *options), re.M)
        assert (found and found[1]) == share


def test_the_same_is_said_of_a_file(report, tmp_path):
    it = started()
    for i in range(20):
        it.sample(20 + i, 10, 1, 0x1010, NOWHERE)
    report(it)
    for options, said in (((), 1), (("-q", ), 0)):
        done = subprocess.run([TOOLS / "preport", "--no-symbols", "-o", tmp_path / "out.html",
                               *options, tmp_path / "perf.data"], stderr=subprocess.PIPE,
                              check=True, text=True)
        assert done.stderr.count("95 % of the stacks begin in no file") == said
        assert "begin in no file" in page((tmp_path / "out.html").read_bytes())[0]["facts"]


@pytest.mark.parametrize("unnamed, is_said", [(1, True), (0, False)])
@pytest.mark.parametrize("name", ["out.html", "out.pb.gz", "out.perf.txt"])
def test_missing_names_are_told_of_a_file(name, unnamed, is_said, tmp_path):
    """One of ten samples, or none, are in a file that is not here."""
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x10000, "/absent/app")
    for i in range(10):
        it.sample(10 + i, 10, 60, 0x1010 if i < unnamed else KTEXT + 0x2010)
    (tmp_path / "perf.data").write_bytes(it.file())
    (tmp_path / "kallsyms").write_text(KALLSYMS)
    done = subprocess.run([TOOLS / "preport", "--kallsyms", tmp_path / "kallsyms", "-o",
                           tmp_path / name, tmp_path / "perf.data"], stderr=subprocess.PIPE,
                          check=True, text=True)
    says = "no names for 10.0 %, in /absent/app: the file is not here"
    assert (says in done.stderr) == (is_said and name != "out.perf.txt")    # which has no tree
    if name == "out.html":
        assert (says in page((tmp_path / name).read_bytes())[0]["facts"]) == is_said


def test_a_function_of_the_kernel_alone_is_no_doubt(report):
    it = started()
    for i in range(9):
        it.sample(30 + i, 10, 1, KTEXT + 16)
    assert "are one function" not in report(it)
    for i in range(12):
        it.sample(50 + i, 10, 1, 0x1010)
    assert "55 % of the stacks are one function" in report(it)


def test_stacks_that_the_kernel_cut(report):
    it = started()
    it.sample(20, 10, 1, *range(0x1000, 0x1000 + 127))
    assert re.search(r"^50\.0 % of the stacks are cut at 127 addresses: record with --max-stack "
                     r"508, after sysctl kernel\.perf_event_max_stack=508$", report(it), re.M)
    short = attr("IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER", type=1, config=0,
                 sample_period=1000, sample_max_stack=20,
                 flags=("freq", "sample_id_all", "exclude_guest"))
    it = started()
    it.sample(20, 10, 1, *range(0x1000, 0x1000 + 20))
    assert re.search(r"are cut at 20 addresses: record with --max-stack 80$",
                     report(it, attrs=[(short, [1])]), re.M)


def test_copied_stacks_that_are_cut(report):
    out = report(Copied(), symbols=None)
    assert "stacks: 100.0 % cut" in out


class Copied:
    """A capture whose stacks are copied, read without its program."""

    def file(self):
        return next(file.path for file in CAPTURES
                    if file.name.startswith("03-callgraph-dwarf")).read_bytes()


def test_idle_cpus_are_left_out_of_the_shares(report):
    it = started()
    it.sample(20, 0, 100, KTEXT + 0x1010, cpu=3)
    it.sample(21, 0, 40, KTEXT + 0x2010, cpu=3)
    out = report(it, symbols=None)
    assert re.search(r"^idle: 50\.0 % of the samples' weight, left out$", out, re.M)
    assert "\nkernel 40.0 %  program 60.0 %" in out
    assert re.search("^no names for 60.0 %, in /bin/app", out, re.M)


def test_how_many_cpus_were_busy(report):
    it = started()
    it.sample(10 + 200, 10, 440, 0x1010, 0x1020)
    assert ", 2.50 CPUs;" in report(it)


@pytest.mark.parametrize("file, chain, help", [
    ("/bin/gone", 0x20010, "the file is not here; give a copy with --sysroot"),
    ("//anon", 0x20010, "its compiler wrote no map, /tmp/perf-PID.map; node --perf-basic-prof"),
    ("/bin/gone", 0x99999, "the addresses are in no recorded map"),
])
def test_sources_of_missing_names(report, file, chain, help):
    it = started()
    it.map(3, 10, 0x20000, 0x1000, file)
    it.sample(20, 10, 1000, chain, chain)
    assert re.search(rf"^no names for 94\.3 %, in .*: {re.escape(help)}", report(it, symbols=None),
                     re.M)


def test_a_kernel_without_symbols(tmp_path):
    it = started()
    it.sample(20, 10, 1000, KTEXT + 0x1010, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    zeros = tmp_path / "zeros"
    zeros.write_text(re.sub("^[0-9a-f]{16}", "0" * 16, KALLSYMS, flags=re.M))
    none = tmp_path / "none"
    none.write_text("")
    for kallsyms, help in ((zeros, "kernel addresses are hidden"),
                           (none, "the kernel's symbols are not here")):
        out = preport("--kallsyms", kallsyms, path, symbols=(), status=(0, 1)).decode()
        assert re.search(f"^no names for 94.3 %, in .*: {help}", out, re.M), out


def test_a_stripped_program(tmp_path):
    program = build_program(tmp_path / "app")
    subprocess.run(["strip", program[0]], check=True)
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, program[1]))
    out = preport(path, symbols=()).decode()
    assert re.search("^no names for 100.0 %, in .*/app: it is stripped; ", out, re.M)


# --- groups, timers -------------------------------------------------------------------------------

def test_a_counter_that_was_reset_begins_again(tmp_path):
    path = group([(1000, 5), (300, 5)], tmp_path)
    assert text(folded(preport("-f", "folded", path))) == {"app;[unknown]": 1300}


def test_inherited_counters_are_those_of_their_threads(tmp_path):
    inherited = attr("IP|TID|TIME|READ|CALLCHAIN|IDENTIFIER", type=1, config=0, sample_period=1000,
                     read_format="ID", flags=("freq", "sample_id_all", "inherit"))
    records = [r.comm(10, 10, "app", EXEC, sid=sample_id(READ, time=1, identifier=1))]
    for time, (tid, value) in enumerate([(10, 1000), (11, 400), (10, 1500), (11, 700)]):
        records.append(sample(inherited, misc=USER, pid=10, tid=tid, time=10 + time, ip=0x1010,
                              identifier=1, callchain=[CONTEXT_USER, 0x1010],
                              read={"value": value, "id": 1}))
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(inherited, [1])], records=records).build())
    assert sum(folded(preport("-f", "folded", path)).values()) == 1500 + 700


@pytest.mark.parametrize("late, is_told", [(20, True), (60, False)])
def test_the_phase_is_that_of_each_cpu_and_of_most_samples(tmp_path, late, is_told):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(200):
        for cpu in (0, 1):      # half a ms apart
            shift = 300_000 if i < late else 0
            it.sample(10_000_000 + i * 1_000_000 + cpu * 500_000 + shift, 10, 1, 0x1010, cpu=cpu)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert ("lockstep with a timer of 1.0 ms" in preport(path).decode()) == is_told


@pytest.mark.parametrize("nr", [1, 2])
def test_samples_of_no_event_are_counted(nr, tmp_path):
    """Linux writes the ids of another recorder where both count the same software events."""
    it = started()
    foreign = [sample(CLOCK, misc=USER, pid=10, tid=10, time=20 + i, ip=0x1010, cpu=0, period=1,
                      identifier=99, callchain=[CONTEXT_USER, 0x1010]) for i in range(nr)]
    path = tmp_path / "perf.data"
    for records, is_told in ((it.records, False), (it.records + foreign, True)):
        path.write_bytes(File(attrs=[(CLOCK, [1]), (FAULTS, [2])], records=records).build())
        done = subprocess.run([TOOLS / "preport", path], capture_output=True, timeout=TIMEOUT)
        assert done.returncode == is_told
        line = f"\n{nr} sample{' is' if nr == 1 else 's are'} left out: no event here has their ids"
        assert (line in done.stdout.decode()) == is_told
        done = subprocess.run([TOOLS / "preport", "-f", "flamegraph", "-o", "-", path],
                              capture_output=True, timeout=TIMEOUT)
        assert (f"; {nr} of no event left out" in page(done.stdout)[0]["facts"]) == is_told


def test_the_share_of_names(report):
    assert "names: 0 %" in report(started())
    it = started()
    it.sample(11, 10, 540, KTEXT + 0x2010)
    out = report(it, symbols=None)
    assert "names: 90 %" in out and "no names for 10.0 %, in /bin/app: " in out


def test_a_time_that_is_none_is_not_the_end(report):
    it = started()
    it.sample(2**64 - 2**32, 10, 60, 0x1010)
    assert " in " not in report(it).split("\n")[0]


def test_the_page_tells_of_idle_samples_and_of_weights(tmp_path):
    it = started()
    it.sample(11, 0, 40, KTEXT + 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    (tmp_path / "kallsyms").write_text(KALLSYMS)
    about, nodes, _ = page(preport("-f", "flamegraph", "--kallsyms", tmp_path / "kallsyms", path,
                                   symbols=()))
    assert about["facts"].endswith("--symbols=names' record the names") and about["has_periods"]
    assert "; 1 idle sample left out; no names for 100.0 %, in /bin/app: " in about["facts"]
    assert [f[3] for f in about["functions"] if f[2] >= 6] == ["", ""]
    data = preport("-f", "flamegraph", "--weight=samples", path)
    assert not page(data)[0]["has_periods"] and "idle samples" not in page(data)[0]["facts"]


def test_stacks_that_memory_does_not_suffice_for_are_counted_and_told(tmp_path):
    """The addresses of one sample take more than --memory; those of the others do not."""
    event = attr("IP|TID|TIME|CALLCHAIN")
    deep = [CONTEXT_USER, *range(0x1010, 0x1010 + 16 * 8000, 16)]
    chains = [[CONTEXT_USER, 0x1010], deep, [CONTEXT_USER, 0x1010]]
    records = [r.comm(10, 10, "app", EXEC, sid=sample_id(event, time=1))] + [
        sample(event, misc=USER, pid=10, tid=10, time=10 + i, ip=0x1010, callchain=chain)
        for i, chain in enumerate(chains)]
    path = tmp_path / "deep.data"
    path.write_bytes(File(attrs=[(event, [1])], records=records).build())
    done = subprocess.run([TOOLS / "preport", "-q", "--no-symbols", "-f", "folded", "--memory",
                           "560K", path], capture_output=True, timeout=TIMEOUT, text=True)
    assert done.returncode == 1 and "1 samples are in [small]: give more --memory" in done.stderr
    assert text(folded(done.stdout.encode())) == {"app;[unknown]": 2, "[small]": 1}
