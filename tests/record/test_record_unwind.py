"""Copied stacks of a program with all that is hard to unwind, recorded here: frame by frame as
perf and libdwfl, or better."""
import json
import subprocess

import pytest

from conftest import ROOT, TOOLS
from named import TRIES, is_whole
from recorder import precord, record, run_precord, workload  # noqa: F401
from rights import needs
from unwind_oracle import (KNOWN, count, dwfl_stacks, explain_dwfl, explain_perf, our_stacks,
                           pdecode_stacks, perf_stacks)

BUILDS = {
    "O0": ["gcc", "-O0"],
    "O2": ["gcc", "-O2"],
    "clang": ["clang", "-O2"],
    "static-pie": ["gcc", "-O1", "-static-pie"],
}
MS = 400


@pytest.fixture(params=BUILDS)
def recording(request, record, tmp_path):
    compiler, *options = BUILDS[request.param]
    program = tmp_path / "stacks"
    done = subprocess.run(
        [compiler, "-g", "-w", *options, "-o", program, ROOT / "tests" / "workload" / "stacks.c"],
        stderr=subprocess.PIPE,
        text=True,
        check=False)
    if done.returncode:
        pytest.skip(done.stderr)
    for _ in range(TRIES):
        path = record("-e", "cpu-clock:u", "-F", "2000", "--call-graph", "dwarf,8192",
                      command=[program, str(MS)]).path
        if is_whole(path):
            return path
    pytest.skip(f"precord had no time for names, {TRIES} times: this machine has other work")


@needs("events")
def test_frames_as_perf_and_libdwfl(recording, perf, run_pdecode):
    ours = our_stacks(recording)
    written = pdecode_stacks(run_pdecode, recording)
    # pdecode has no copy of the kernel's vdso; the test's program has.
    known = [row for row in ours if "[vdso]" not in [frame.file for frame in row[2]]]
    assert len(written) == len(ours) and len(known) > len(ours) / 2
    expected = {key: (end, [(frame.addr, frame.offset if frame.file != "-" else -1,
                             frame.flags.replace("rs", "x").replace("xs", "x"))
                            for frame in frames]) for key, end, frames in known}
    assert {key: written[key] for key in expected} == expected
    theirs, dwfl = dict(perf_stacks(perf, recording)), dict(dwfl_stacks(recording))
    assert len(ours) > MS / 10      # of MS on an idle machine
    with_perf = [explain_perf(theirs[key], frames, end) for key, end, frames in ours]
    # libdwfl is not given the vdso.
    with_dwfl = [
        explain_dwfl(dwfl[key], [frame.addr for frame in frames], end) for key, end, frames in ours
        if "[vdso]" not in [frame.file for frame in frames]
    ]
    # libunwind fails in the last instructions of longjmp, whose CFI saves registers in registers:
    # where it differs, libdwfl must agree with us.
    agreed = {key for key, _, frames in ours if dwfl[key] == [frame.addr for frame in frames]}
    with_perf = [
        "astray" if reason not in KNOWN and key in agreed else reason
        for reason, (key, _, _) in zip(with_perf, ours)
    ]
    assert set(with_perf) <= {*KNOWN, "astray"} and set(with_dwfl) <= KNOWN, (count(with_perf),
                                                                              count(with_dwfl))
    assert count(with_perf)["astray"] < 0.02 * len(ours) + 2
    assert count(with_dwfl)["same"] > 0.9 * len(ours)
    ends = count(end for _, end, _ in ours)
    assert set(ends) <= {"BOTTOM", "STACK_CUT", "OTHER_STACK", "NO_CFI"
                         } and ends["BOTTOM"] > ends["STACK_CUT"] > 0
    assert ends["NO_CFI"] < 5


@needs("kernel")
def test_copied_stacks_without_the_kernels_chain(record, workload, perf):
    """All frames are those of the program, also in the kernel."""
    path = record("-e", "cpu-clock", "-F", "2000", "--call-graph", "dwarf", "--user-callchains",
                  command=[workload, "getppid", "300000"]).path
    ours, theirs = our_stacks(path), dict(perf_stacks(perf, path))
    reasons = count(explain_perf(theirs[key], frames, end) for key, end, frames in ours)
    assert reasons["same"] > 20 and reasons["same"] > 0.9 * len(ours), reasons
    assert not any(frame.addr >> 63 for _, _, frames in ours for frame in frames)


# Each call is the first one of its function, which the loader binds.
LIBRARY = "".join(f"int f{i}(int a, double b) {{ return a + {i} + (int)b; }}\n"
                  for i in range(300)) + (
    "int many(void) { int s = 0;" + "".join(f"s += f{i}(s, 1.5);" for i in range(300)) +
    " return s; }\n")
BINDING = r"""
#include <dlfcn.h>
#include <time.h>
__attribute__((noinline)) static void bind_all(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	((int (*)(void))dlsym(library, "many"))();
	dlclose(library);
}
int main(int n, char **arguments)
{
	while (n > 1 && clock() < CLOCKS_PER_SEC / 2)
		bind_all(arguments[1]);
	return 0;
}
"""


@needs("events")
@pytest.mark.parametrize("options", [[], ["-fno-omit-frame-pointer"]], ids=["sp", "fp"])
def test_stacks_from_inside_lazy_binding(record, tmp_path, options):
    """_dl_runtime_resolve() saves all registers, and its CFA is where another one points."""
    for name, text, more in (("lazy.so", LIBRARY, ["-shared", "-fPIC", "-Wl,-z,lazy"]),
                             ("bind", BINDING, [])):
        (tmp_path / "p.c").write_text(text)
        subprocess.run(["gcc", "-O1", *options, *more, "-o", tmp_path / name, tmp_path / "p.c"],
                       check=True)
    path = record("-e", "cpu-clock:u", "-F", "4000", "--call-graph", "dwarf,8192",
                  command=[tmp_path / "bind", tmp_path / "lazy.so"]).path
    if not is_whole(path):
        pytest.skip("precord had no time for names: this machine has other work")
    done = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols=names", path],
                          stdout=subprocess.PIPE, check=True)
    inside, ends = 0, []
    for line in map(json.loads, done.stdout.splitlines()):
        names = [frame.get("symbol", "") for frame in line.get("frames", [])
                 ] if line.get("type") == "SAMPLE" else []
        at = [i for i, name in enumerate(names) if name.startswith("_dl_runtime_resolve")]
        if at:
            inside += 1
            ends.append(line["stack_end"])
            assert names[at[0] + 1:at[0] + 4] == ["many", "bind_all", "main"], names
    if not inside:
        pytest.skip("no sample in _dl_runtime_resolve(), or the loader has no names")
    assert set(ends) == {"BOTTOM"}
