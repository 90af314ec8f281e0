"""-S, --dso and --in: samples by the functions and files of their addresses."""
import json
import subprocess

import pytest

import perf_oracle
from conftest import TOOLS, strict_json_lines
from perfdata import features as f
from perfdata import records as r
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from profiles import folded, preport, text
from test_symbols import (BASE, EVENT, KERNEL, MONOTONIC, SECOND, USER_MARK, mapped, symbol)

SOURCE = r"""
static inline __attribute__((always_inline)) int inner(int x) { return x * x % 7; }
__attribute__((noinline)) int outer(int x) { return inner(x + 1) ^ x; }
__attribute__((noinline)) int after(int x) { return x - 7; }
/* Names that C++ has for Store<int, int>::add, P::operator< and P::operator[]. */
__attribute__((noinline)) int add(int x) __asm__("_ZN5StoreIiiE3addEv");
int add(int x) { return x + 8; }
__attribute__((noinline)) int less(int x) __asm__("_ZN1PltERKS_");
int less(int x) { return x < 9; }
__attribute__((noinline)) int at(int x) __asm__("_ZN1PixEi");
int at(int x) { return x / 3; }
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) + after(argc) + add(argc) + less(argc) + at(argc);
}
"""
FUNCTIONS = {"outer": "outer", "after": "after", "main": "main",
             "Store<int, int>::add": "_ZN5StoreIiiE3addEv", "P::operator<": "_ZN1PltERKS_",
             "P::operator[]": "_ZN1PixEi"}
NOWHERE = 0x10


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    top = tmp_path_factory.mktemp("filter")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O2", "-o", top / "app", top / "p.c"], check=True)
    return top / "app"


def starts(program):
    return {name: BASE + symbol(program, linkage)[0] for name, linkage in FUNCTIONS.items()}


@pytest.fixture
def recording(program, tmp_path):
    """A sample at each function, with a time for each, and some elsewhere."""
    at = starts(program)
    size = symbol(program, "outer")[1]
    stacks = [[address, at["main"] + 5] for address in at.values()]
    stacks += [[at["outer"] + i, at["after"] + 1] for i in range(size)] + [[NOWHERE, NOWHERE]]
    samples = [sample(EVENT, 2, ip=stack[0], pid=7, tid=7, time=(10 + i) * SECOND,
                      callchain=[USER_MARK, *stack]) for i, stack in enumerate(stacks)]
    samples += [sample(EVENT, 1, ip=KERNEL + 0x1000, pid=7, tid=7, time=900 * SECOND,
                       callchain=[])]
    sid = sample_id(EVENT, pid=-1, tid=0, time=0)
    kernel = r.mmap(-1, 0, KERNEL, 1 << 24, KERNEL, "[kernel.kallsyms]_text", misc=1, sid=sid)
    comm = r.comm(7, 7, "app", sid=sample_id(EVENT, pid=7, tid=7, time=1))
    features = {NUMBER["CLOCK_DATA"]: f.clock_data(MONOTONIC, 4_000_000_000 * SECOND, 9 * SECOND),
                NUMBER["SAMPLE_TIME"]: f.sample_time(9 * SECOND, 900 * SECOND)}
    path = tmp_path / "f.data"
    records = [kernel, comm, mapped(program), *samples]
    path.write_bytes(File(attrs=[(EVENT, [1])], records=records, features=features).build("<"))
    return path


def samples(run, *args, **more):
    done = run(["-f", "jsonl", *args], **more)
    assert done.returncode == 0, done.stderr
    return [line for line in strict_json_lines(done.stdout) if line.get("type") == "SAMPLE"]


def times(run, *args, **more):
    return [line["time"] for line in samples(run, *args, **more)]


def names(frame):
    found = [part["symbol"] for part in [*frame.get("inlined", []), frame] if "symbol" in part]
    return set(found) or {"[unknown]"}


SYMBOLS = [("outer", {"outer"}), ("inner", {"inner"}), ("after,main", {"after", "main"}),
           ("Store<int, int>::add,after", {"Store<int, int>::add", "after"}),
           ("P::operator<,main", {"P::operator<", "main"}), ("P::operator[]", {"P::operator[]"}),
           ("_ZN1PltERKS_", {"P::operator<"}), ("P::*", {"P::operator<", "P::operator[]"}),
           ("[unknown]", {"[unknown]"}), (r"Store<int\, int>*", {"Store<int, int>::add"})]


@pytest.mark.sanitize
@pytest.mark.parametrize("given, meant", SYMBOLS)
def test_functions(run_pdecode, recording, given, meant):
    every = samples(run_pdecode, "--symbols", recording)
    own = [s["time"] for s in every if names(s["frames"][0]) & meant]
    anywhere = [s["time"] for s in every if any(names(frame) & meant for frame in s["frames"])]
    assert 0 < len(own) < len(every)
    assert times(run_pdecode, "-S", given, recording) == own
    assert times(run_pdecode, "--in", given, "-j", "3", recording) == anywhere
    assert times(run_pdecode, "-S", given, "-", input=recording.read_bytes()) == own


@pytest.mark.parametrize("name", ["outer", "after", "main", "P::operator<"])
def test_as_perf_selects(run_pdecode, recording, name, perf):
    done = subprocess.run([perf, "script", "--no-inline", "-G", "-F", "time,ip", "-S", name,
                           "--ns", "-i", recording], stdout=subprocess.PIPE, text=True, check=True)
    theirs = [round(float(line.split(":")[0]) * SECOND) for line in done.stdout.splitlines()]
    if not theirs and not perf_oracle.version(perf).startswith("6.1."):
        pytest.skip("this perf finds no function of the program")
    assert theirs and times(run_pdecode, "-S", name, recording) == theirs


@pytest.mark.sanitize
def test_files(run_pdecode, recording, program):
    every = samples(run_pdecode, "--resolve", recording)
    dso = {s["time"]: s["frames"][0].get("dso", "[unknown]") for s in every}
    for given, meant in ((program, str(program)), ("app", str(program)), ("a?p", str(program)),
                         ("[kernel.kallsyms]", "[kernel.kallsyms]"), ("[unknown]", "[unknown]")):
        want = [time for time, path in dso.items() if path == meant]
        assert want and times(run_pdecode, "--dso", given, recording) == want
        assert times(run_pdecode, "--resolve", "--dso", given, "-",
                     input=recording.read_bytes()) == want
    assert times(run_pdecode, "--dso", "app", "-S", "main,[unknown]", recording) == [12 * SECOND]


def test_other_records_stay_and_are_counted(run_pdecode, recording):
    done = run_pdecode(["-f", "stats", "-S", "main", recording])
    stats = json.loads(done.stdout)
    assert {name: row["records"] for name, row in stats["by_type"].items()} == {
        "MMAP": 1, "COMM": 1, "MMAP2": 1, "SAMPLE": 1}
    assert (done.returncode, done.stderr) == (0, b"")
    done = run_pdecode(["-f", "stats", "-S", "nosuch", "--in", "other", recording])
    assert b"no sample matches --symbol nosuch --in other\n" in done.stderr
    assert b"SAMPLE" not in done.stdout.split(b"by_type")[1].split(b"by_event")[0]
    assert run_pdecode(["--header-only", "-S", "main", recording]).returncode == 0


def test_reports(recording):
    main = text(folded(preport("-f", "folded", "-S", "main", recording, symbols=())))
    assert main == {"app;main;main": 1}
    assert text(folded(preport("-f", "folded", "--in", "P::*", recording,
                                symbols=()))) == {
        "app;main;P::operator<": 1, "app;main;P::operator[]": 1}
    kernel = text(folded(preport("-f", "folded", "--no-symbols", "--dso", "[kernel.*", recording)))
    assert sum(kernel.values()) == 1
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "--in", "x", recording],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"'--in' needs the names" in done.stderr
