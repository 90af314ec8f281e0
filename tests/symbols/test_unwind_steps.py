"""Unwinding after each instruction of a program: against the calls and returns that were seen
(tests/c/symbols_step.c)."""
import re
import subprocess

import pytest

import compiled
from conftest import ROOT

SOURCE = ROOT / "tests" / "workload" / "stacks.c"

BUILDS = {
    "gcc-O0": ["gcc", "-O0", "-Wl,-z,lazy"],
    "gcc-O2": ["gcc", "-O2", "-Wl,-z,lazy"],
    "gcc-O2-fp": ["gcc", "-O2", "-fno-omit-frame-pointer"],
    "gcc-no-pie": ["gcc", "-O1", "-no-pie", "-fcf-protection=none", "-Wl,-z,lazy"],
    "gcc-static-pie": ["gcc", "-O2", "-static-pie"],
    "gcc-one-segment": ["gcc", "-Os", "-Wl,-z,noseparate-code"],
    "gold": ["gcc", "-O2", "-fuse-ld=gold"],
    "clang-O2": ["clang", "-O2", "-Wl,-z,lazy"],
    "clang-static": ["clang", "-O1", "-static"],
}
WITHOUT_CFI = {"gcc-static-pie", "clang-static"}  # the libc's .init and .fini


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    top = tmp_path_factory.mktemp("stacks")

    def make(name):
        compiler, *options = BUILDS[name]
        target = top / name
        if not target.exists():
            done = subprocess.run([compiler, "-g", "-w", *options, "-o", target, SOURCE],
                                  stderr=subprocess.PIPE,
                                  text=True,
                                  check=False)
            if done.returncode:
                pytest.skip(
                    f"{name}: {done.stderr.splitlines()[0] if done.stderr else 'can not be made'}")
        return target

    return make


def step(*arguments):
    done = subprocess.run([compiled.program("symbols_step"), *map(str, arguments)],
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          text=True,
                          check=False)
    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
        pytest.skip(f"no ptrace here: {done.stderr.strip()}")
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return done.stdout.splitlines()


def counts(lines):
    """{"stacks": n, "different": n, "guessed": n}, {end: (stacks, stacks that lack frames)}"""
    words = next(line for line in lines if line.startswith("stacks ")).split()
    ends = {
        line.split()[0]: (int(line.split()[1]), int(line.split()[3]))
        for line in lines if re.match(r"[A-Z_]+ \d+ cut", line)
    }
    return dict(zip(words[::2], map(int, words[1::2]))), ends


def differences(lines):
    """(expected, found) callers of each address where they differ."""
    for line in lines:
        if match := re.match(r"different \S+ \S+ \S+: expected ?(.*), found ?(.*) ([A-Z_]+)$",
                             line):
            yield match[1].split(), match[2].split()


@pytest.mark.parametrize("name", BUILDS)
def test_every_instruction(build, name):
    lines = step("from=trap", build(name))
    total, ends = counts(lines)
    assert re.fullmatch(r"callers [23] BOTTOM", lines[0])
    assert total["stacks"] > 5000
    # glibc's vfork takes its return address off the stack into rdi; the end of longjmp says in its
    # CFI that setjmp is its caller. Both are right, but no return address on the stack says so.
    found = list(differences(lines))
    assert all(expected[len(expected) - len(frames) + 1:] == frames[1:] and len(frames) > 2
               for expected, frames in found), lines
    assert len(found) <= 18 and total["different"] <= 20
    # Cut is what has to be: the deep recursion, and what runs on the other stack.
    assert ends["BOTTOM"][1] == 0
    assert ends["STACK_CUT"][0] == ends["STACK_CUT"][1] > 500
    assert ends["OTHER_STACK"][0] == ends["OTHER_STACK"][1] > 20
    assert (set(ends) - {"BOTTOM", "STACK_CUT", "OTHER_STACK"}
            <= ({"NO_CFI"} if name in WITHOUT_CFI else set()))
    assert ends.get("NO_CFI", (0, 0))[0] + total["guessed"] < 40


def test_a_large_copy_is_not_cut(build):
    total, ends = counts(step("from=trap", "bytes=65000", build("gcc-O2")))
    assert "STACK_CUT" not in ends and total["stacks"] == sum(n for n, _ in ends.values())


def test_a_small_copy_has_the_first_frames(build):
    total, ends = counts(step("from=trap", "bytes=96", build("gcc-O2")))
    assert total["different"] <= 20 and ends["STACK_CUT"][1] > 5000 and "BOTTOM" not in ends


def test_a_cache_changes_nothing(build):
    """Both in one run: in two, SIGCHLD and its stop come after different instructions."""
    lines = step("from=trap", "bits=1", build("gcc-O0"))
    assert counts(lines)[0]["stacks"] > 5000
    assert lines[-1] == "with the small cache 0 otherwise"


def test_from_the_first_instruction():
    """With the dynamic linker, whose first frame has no CFI: nothing calls it."""
    total, ends = counts(step("steps=20000", "/bin/true"))
    assert total["stacks"] == 20000 and total["different"] == total["guessed"] == 0
    assert set(ends) <= {"NO_CFI", "BOTTOM"} and ends.get("NO_CFI", (0, 0))[1] < 10


WITHOUT_TABLES = {
    "gcc-O0": ["gcc", "-O0"],
    "gcc-O2": ["gcc", "-O2"],
    "gcc-Os-static": ["gcc", "-Os", "-static"],
    "clang-O2": ["clang", "-O2"],
    "musl-O0": ["musl-gcc", "-O0"],
    "musl-O2": ["musl-gcc", "-O2"],
    "musl-O2-static": ["musl-gcc", "-O2", "-static"],
    "musl-O2-stripped": ["musl-gcc", "-O2", "-static", "-s"],
}


@pytest.mark.parametrize("name", WITHOUT_TABLES)
def test_every_instruction_without_cfi(name, tmp_path):
    """By the instructions of functions. The callers are right, though marked as guesses."""
    compiler, *options = WITHOUT_TABLES[name]
    try:
        subprocess.run([compiler, "-w", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                        "-fno-stack-protector", *options, "-o", tmp_path / "p", SOURCE],
                       check=True, stderr=subprocess.PIPE)
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"{name}: {problem}")
    lines = step("from=trap", "guesses=compare", tmp_path / "p")
    total, ends = counts(lines)
    assert re.fullmatch(r"callers [23] BOTTOM", lines[0])
    assert total["guessed"] > 0.7 * total["stacks"] > 5000
    # As above; musl's vfork also goes on with its return address in a register.
    found = list(differences(lines))
    assert all(expected[len(expected) - len(frames) + 1:] == frames[1:] and len(frames) > 2
               for expected, frames in found), lines
    assert total["different"] <= 20 and ends["BOTTOM"][1] == 0
    assert ends["NO_CFI"][0] < (0.4 if "stripped" in name else 0.2) * total["stacks"]


I386 = """
__attribute__((noinline)) int leaf(volatile int *p, int n) { return p[n & 3] + n; }
__attribute__((noinline)) int recurse(int n)
{
	volatile int a[4] = { n, 1, 2, 3 };

	return n ? recurse(n - 1) + leaf(a, n) : leaf(a, 1);
}
void _start(void)
{
	__asm__ volatile("int3");
	recurse(20);
	__asm__ volatile("int3");
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("options", [["-O0"], ["-O2", "-fomit-frame-pointer"]], ids=str)
def test_i386(compiler, options, tmp_path):
    """Only code of the program itself; the word above its first frame is no return address."""
    (tmp_path / "p.c").write_text(I386)
    program = tmp_path / "p"
    command = [compiler, "-m32", "-w", *options, "-nostdlib", "-static", "-fno-stack-protector",
               "-fasynchronous-unwind-tables", "-Wl,--eh-frame-hdr", "-o", program,
               tmp_path / "p.c"]
    try:
        subprocess.run(command, check=True, stderr=subprocess.PIPE)
        subprocess.run([program], check=False)
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"no 32-bit programs here: {problem}")
    lines = step("from=trap", program)
    total, ends = counts(lines)
    assert lines[0].startswith("callers 1 ")
    assert total["stacks"] > 300 and total["different"] == total["guessed"] == 0
    assert sum(n for _, n in ends.values()) == 0
