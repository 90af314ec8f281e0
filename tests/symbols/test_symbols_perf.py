"""Places where perf shows wrong names, or none: perf's answer beside ours.

The answer of Debian's perf (6.1) is compared, too, so that each test shows that its recording is
one of those. Other versions are asked nothing: some of these are corrected there. That versions of
perf differ in aliases is in test_aliases.
"""
import json
import os
import random
import re
import shutil
import subprocess
import time

import pytest

import rights
from perf_oracle import run_perf, version
from perfdata import records as r
from perfdata.sample import sample_id
from test_symbols import (BASE, EVENT, IN_KERNEL, KALLSYMS, KERNEL, SECOND, build_id, hit, jitdump,
                          mapped, symbol)
from test_symbols import program as program_fixture
from test_symbols import symbols as symbols_fixture
from test_symbols_modules import MODULE, make_module
from test_symbols_modules import NAME as MODULE_NAME

program, symbols = program_fixture, symbols_fixture     # fixtures
PERF_INVENTS = 2**64 - 1
EXEC = 1 << 13          # misc of COMM


@pytest.fixture
def perf_shows(perf):
    """Function: what perf script shows of the samples of a recording, a list of names for each.
    None if this perf is not the one that the tests know."""
    def run(path, *options):
        if not version(perf).startswith("6.1."):
            return None
        _, out, err = run_perf(perf, ["script", "-f", "-F", "ip,sym", *options, "-i", path])
        stacks = [re.findall(r"^\s*[0-9a-f]+ (.+?)\s*$", stack, re.M) for stack in
                  re.split(r"\n\s*\n", out.strip("\n"))]
        assert stacks[0], err
        return stacks
    return run


def shown(frames):
    """The same of ours: a name or a reason for each frame."""
    return [[frame.get("symbol") or frame["why"] for frame in stack] for stack in frames]


def check(perf_shows, symbols, theirs, ours, records, *options, perf_options=(), **more):
    frames = symbols.frames(records, *options, **more)
    assert shown(frames) == ours
    assert perf_shows(symbols.path, *perf_options) in (None, theirs)
    return frames


def sid(when=1, pid=7, tid=7):
    return sample_id(EVENT, pid=pid, tid=tid, time=when)


# --- 1 to 3 -------------------------------------------------------------------------------------

def test_maps_end_with_exec(program, symbols, perf_shows):
    at = BASE + symbol(program, "outer")[0]
    records = [r.comm(7, 7, "old", sid=sid()), mapped(program), hit(at)]
    check(perf_shows, symbols, [["outer"]], [["outer"]], records)
    records[2:2] = [r.comm(7, 7, "new", misc=EXEC, sid=sid(2 * SECOND))]
    check(perf_shows, symbols, [["outer"]], [["NO_MAP"]], records)


def test_a_return_address_is_in_the_caller(program, symbols, perf_shows, tmp_path):
    """A function that was never called begins there."""
    path = tmp_path / "app"
    subprocess.run(["gcc", "-g", "-O2", "-fno-reorder-functions", "-falign-functions=1", "-o", path,
                    program.parent / "p.c"], check=True)
    (start, size), (ends, _) = symbol(path, "calls_at_its_end"), symbol(path, "ends")
    assert symbol(path, "after")[0] == start + size
    records = [mapped(path), hit(BASE + ends, BASE + start + size)]
    check(perf_shows, symbols, [["ends", "after"]], [["ends", "calls_at_its_end"]], records,
          "--no-inline", perf_options=["--no-inline"])


def test_inlined_functions_of_frame_pointer_chains(program, symbols, perf_shows):
    start, size = symbol(program, "outer")
    main, _ = symbol(program, "main")
    records = [mapped(program)] + [hit(BASE + start + i, BASE + main + 5) for i in range(size)]
    frames = symbols.frames(records)
    inlined = [part["symbol"] for stack in frames for part in stack[0].get("inlined", [])]
    assert "inner" in inlined
    theirs = perf_shows(symbols.path)
    assert theirs is None or {stack[0] for stack in theirs} == {"outer"}


# --- 4 and 5: recorded --------------------------------------------------------------------------

STACKS = r"""
#include <signal.h>
#include <string.h>
static volatile unsigned sink;
__attribute__((noinline)) static void spin(void) { for (int i = 0; i < 150000000; i++) sink += i; }
__attribute__((noinline)) static int deep(int n)
{
	char frame[400];
	memset(frame, n, sizeof(frame));
	if (n)
		return deep(n - 1) + frame[n];
	spin();
	return frame[3];
}
static void handle(int nr) { (void)nr; spin(); }
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return deep(100) & 1;
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	return 0;
}
"""


@pytest.fixture(scope="module")
def stacks(tmp_path_factory):
    top = tmp_path_factory.mktemp("stacks")
    (top / "p.c").write_text(STACKS)
    subprocess.run(["gcc", "-g", "-O2", "-fno-optimize-sibling-calls", "-o", top / "stacks",
                    top / "p.c"], check=True)
    return top / "stacks"


def record_by_perf(perf, path, *command):
    rights.need("events")
    code, _, err = run_perf(perf, ["record", "-q", "-e", "cpu-clock", "-F", 500, "--call-graph",
                                   "dwarf,4096", "-o", path, *command])
    assert code == 0, err


def decoded(run_pdecode, path):
    done = run_pdecode(["-f", "jsonl", "--symbols", "--types", "SAMPLE", path])
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if line.get("type") == "SAMPLE"]


def test_a_cut_stack_says_so(stacks, perf, perf_shows, run_pdecode, tmp_path):
    """perf ends it with a frame that it invents."""
    path = tmp_path / "perf.data"
    record_by_perf(perf, path, stacks, "deep")
    samples = [s for s in decoded(run_pdecode, path) if "spin" in shown([s["frames"]])[0]]
    assert len(samples) > 10
    for s in samples:
        names = shown([s["frames"]])[0]
        assert s["stack_end"] == "STACK_CUT" and set(names[names.index("spin") + 1:]) == {"deep"}
        assert int(s["frames"][-1]["addr"], 16) != PERF_INVENTS
    theirs = perf_shows(path, "--no-inline")
    if theirs:
        theirs = [stack for stack in theirs if "spin" in stack]
        assert {stack[-1] for stack in theirs} == {"[unknown]"}


def test_the_signal_trampoline_has_its_name(stacks, perf, perf_shows, run_pdecode, tmp_path):
    path = tmp_path / "perf.data"
    record_by_perf(perf, path, "-k", "mono", stacks)
    samples = [shown([s["frames"]])[0] for s in decoded(run_pdecode, path)]
    samples = [names for names in samples if "handle" in names]
    assert len(samples) > 10
    for names in samples:
        assert names[names.index("handle") + 1] == "__restore_rt" and "main" in names
    theirs = perf_shows(path, "--no-inline")
    if theirs:
        after = {stack[stack.index("handle") + 1] for stack in theirs if "handle" in stack}
        assert after == {"[unknown]"}


# --- 6 and 7: other builds, other kernels -------------------------------------------------------

def test_a_program_that_was_rebuilt(program, symbols, perf_shows, tmp_path):
    """Two functions have changed places; there are no build ids."""
    order = ["-falign-functions=64", "-fno-toplevel-reorder", "-Wl,--build-id=none"]
    one = "__attribute__((noinline)) int one(int x) { return x * 3; }\n"
    two = "__attribute__((noinline)) int two(int x) { return x * 5; }\n"
    last = "int main(int c, char **v) { (void)v; return one(c) + two(c); }\n"
    path = tmp_path / "app"

    def build(*parts):
        (tmp_path / "p.c").write_text("".join(parts))
        subprocess.run(["gcc", "-O2", *order, "-o", path, tmp_path / "p.c"], check=True)

    build(one, two, last)
    at = symbol(path, "one")[0]
    recorded = os.stat(path).st_ctime + 50
    records = [mapped(path, ""), hit(BASE + at)]
    check(perf_shows, symbols, [["one"]], [["one"]], records, began=recorded)
    build(two, one, last)
    assert symbol(path, "two")[0] == at
    records = [mapped(path, ""), hit(BASE + at)]
    check(perf_shows, symbols, [["two"]], [["MISMATCH"]], records,
          began=os.stat(path).st_ctime - 50)


def own_kernel():
    """(address of _text, [(address, name) of some function])"""
    with open("/proc/kallsyms", encoding="ascii") as file:
        rows = [line.split() for line in file]
    text = next((int(row[0], 16) for row in rows if row[2] == "_text"), 0)
    if not text:
        pytest.skip("this user may not read kernel addresses")
    return text, next((int(row[0], 16), row[2]) for row in rows if row[2] == "schedule")


def test_a_kernel_of_another_machine(symbols, perf_shows):
    text, (address, name) = own_kernel()
    kernel = r.mmap(-1, 0, text, 0x2000000, text, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sid(0, -1, 0))
    check(perf_shows, symbols, [[name]], [["NO_KERNEL"]], [kernel, hit(address, misc=IN_KERNEL)])


def test_the_vdso_of_another_kernel(symbols, perf_shows):
    began = time.time() + 100       # as by a clock that is ahead: the file is older then
    vdso = r.mmap2(7, 7, 0x7fff00000000, 0x2000, 0, 0, 0, 0, 0, 5, 2, "[vdso]", sid=sid())
    records = [vdso] + [hit(0x7fff00000000 + at) for at in range(0x600, 0x1800, 16)]
    names = {name for stack in shown(symbols.frames(records, began=began)) for name in stack}
    assert names == {"MISMATCH"}
    theirs = perf_shows(symbols.path)
    assert theirs is None or any("clock_gettime" in stack[0] for stack in theirs)


# --- 8 and 9 ------------------------------------------------------------------------------------

def test_a_thread_that_begins_after_its_leader_ended(program, symbols, perf_shows):
    """6.1 finds its maps, 6.12 does not."""
    at = BASE + symbol(program, "outer")[0]
    records = [r.comm(7, 7, "app", sid=sid()), mapped(program),
               r.fork(7, 7, 8, 7, 2 * SECOND, sid=sid(2 * SECOND)),
               r.exit(7, 7, 7, 7, 3 * SECOND, sid=sid(3 * SECOND)),
               r.fork(7, 7, 9, 8, 4 * SECOND, sid=sid(4 * SECOND, 7, 8)), hit(at, tid=9)]
    check(perf_shows, symbols, [["outer"]], [["outer"]], records)


def anonymous(pid, name, at=0x10000, when=1):
    return r.mmap2(pid, pid, at, 0x10000, at, 0, 0, 0, 0, 7, 2, name, sid=sid(when, pid, pid))


def test_named_memory_has_jit_code(symbols, perf_shows):
    pid = random.randrange(3_000_000, 4_000_000)
    path = f"/tmp/perf-{pid}.map"
    try:
        with open(path, "x", encoding="ascii") as file:
            file.write("10010 40 compiled\n")
        for name, theirs in (("//anon", "compiled"), ("[anon:JIT]", "[unknown]")):
            records = [anonymous(pid, name), hit(0x10020, pid=pid)]
            check(perf_shows, symbols, [[theirs]], [["compiled"]], records,
                  began=time.time() - 100)
    finally:
        os.unlink(path)


# --- files that travel by perf archive -----------------------------------------------------------

def test_files_that_perf_archive_packed(stacks, perf, run_pdecode, tmp_path):
    """Once unpacked, it has the files and the kernel's symbols."""
    path, home, tree = (tmp_path / name for name in ("perf.data", "home", "tree"))
    home.mkdir()
    tree.mkdir()
    app = shutil.copy(stacks, tmp_path / "app")
    environ = os.environ | {"HOME": str(home), "PERF_BUILDID_DIR": str(home / ".debug")}
    rights.need("events")
    for command in (["record", "-q", "-e", "cpu-clock", "-F", "200", "-o", path, app, "deep"],
                    ["archive", path]):
        done = subprocess.run([perf, *command], env=environ, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=tmp_path)
        if done.returncode or "not found" in done.stdout:
            pytest.skip(f"no perf {command[0]} here: {done.stdout}")
    packed, = tmp_path.glob("perf.data.tar.*")
    os.unlink(app)
    done = run_pdecode(["--symbols", "--debug-dir", packed, path])
    assert done.returncode == 3 and f"tar xf {packed} -C DIR" in done.stderr.decode()
    done = run_pdecode(["--symbols", "--debug-dir", tmp_path / "none", path])
    assert done.returncode == 3 and b"No such file" in done.stderr
    subprocess.run(["tar", "xf", packed, "-C", tree], check=True)
    # few samples are of other functions than spin(), if any
    for options, expected, others in ((["--debug-dir", tree], {"spin"}, {"deep", "main", "_start"}),
                                      ([], {"NO_FILE"}, set())):
        done = run_pdecode(["-f", "jsonl", "--symbols", *options, path])
        frames = [line["frames"][0] for line in map(json.loads, done.stdout.splitlines())
                  if line.get("type") == "SAMPLE"]
        assert expected <= {f.get("symbol", f.get("why")) for f in frames
                            if f.get("dso") == str(app)} <= expected | others


# --- 10 to 12 -----------------------------------------------------------------------------------

def test_a_debug_file_with_another_checksum(program, symbols, perf_shows, tmp_path):
    """That of another build, in the place that .gnu_debuglink names."""
    source = (program.parent / "p.c").read_text()
    link, app = tmp_path / "app.debug", tmp_path / "app"
    options = ["-g", "-O2", "-fno-reorder-functions", "-Wl,--build-id=none"]
    subprocess.run(["gcc", *options, "-o", tmp_path / "whole", program.parent / "p.c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", tmp_path / "whole", link], check=True)
    subprocess.run(["strip", "-o", app, tmp_path / "whole"], check=True)
    subprocess.run(["objcopy", "--add-gnu-debuglink", link, app], check=True)
    at = symbol(tmp_path / "whole", "outer")[0]
    records = [mapped(app, ""), hit(BASE + at)]
    check(perf_shows, symbols, [["outer"]], [["outer"]], records, "--no-inline",
          perf_options=["--no-inline"])
    (tmp_path / "other.c").write_text(re.sub(r"\bouter\b", "wrong", source))
    subprocess.run(["gcc", *options, "-o", tmp_path / "other", tmp_path / "other.c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", tmp_path / "other", link], check=True)
    check(perf_shows, symbols, [["wrong"]], [["NO_SYMBOLS"]], records, "--no-inline",
          perf_options=["--no-inline"])


def test_modules_with_the_build_id_of_the_first(symbols, perf_shows, tmp_path):
    """The kernel's records had it for all modules: their files are others then, and only kallsyms
    has the names."""
    first, second = (make_module(tmp_path / name / "m.ko", source) for name, source in
                     (("a", "int alpha(int x) { return x; }\n"),
                      ("b", "int beta(int x) { return x + 1; }\n")))
    tree = tmp_path / "tree"
    names = [MODULE_NAME, MODULE_NAME.replace("mine", "other")]
    for path, name in zip((first, second), names):
        (tree / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tree / name[1:])
    kernel = r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sid(0, -1, 0))
    records = [kernel] + [
        r.mmap2_build_id(-1, 0, MODULE + i * 0x8000, 0x8000, 0, build_id(first), 5, 2, name,
                         misc=IN_KERNEL, sid=sid()) for i, name in enumerate(names)]
    records += [hit(MODULE, misc=IN_KERNEL), hit(MODULE + 0x8000, misc=IN_KERNEL)]
    assert shown(symbols.frames(records, "--sysroot", tree)) == [["alpha"], ["MISMATCH"]]
    kallsyms = tmp_path / "kallsyms"
    kallsyms.write_text(KALLSYMS + f"{MODULE:x} t alpha\t[mine]\n"
                        f"{MODULE + 0x8000:x} t beta\t[other]\n")
    assert shown(symbols.frames(records, "--sysroot", tree, "--kallsyms", kallsyms)) == [
        ["alpha"], ["beta"]]
    theirs = perf_shows(symbols.path, "--symfs", tree, "--kallsyms", kallsyms)
    assert theirs is None or theirs[1] != ["beta"]


def test_a_jitdump_as_it_is(symbols, perf_shows, tmp_path):
    """perf needs perf inject for it. A later map does not hide the code."""
    path = tmp_path / "jit-7.dump"
    path.write_bytes(jitdump(7, (0x10010, 0x40, b"compiled", 2 * SECOND)))
    records = [r.mmap2(7, 7, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path), sid=sid()),
               anonymous(7, "//anon", when=3 * SECOND), hit(0x10020)]
    check(perf_shows, symbols, [["[unknown]"]], [["compiled"]], records, began=time.time() - 100)
