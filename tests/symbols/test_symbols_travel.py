"""Names that travel in the recording: precord --symbols and feature PD_SYMBOLS."""
import collections
import json
import os
import random
import re
import shutil
import subprocess

import pytest

import named as named_recording
from conftest import TOOLS
from perfdata import features as f
from perfdata import records as r
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample_id
from profiles import preport
from test_symbols import EVENT, hit

NONE = 2**64 - 1
INLINING = r"""
#include <stdlib.h>
static inline __attribute__((always_inline)) void innermost(volatile int *sum, int x)
{
	for (int i = 0; i < 1000000; i++) *sum += i * x;
}
static inline __attribute__((always_inline)) void middle(volatile int *sum, int x)
{
	*sum = x;
	innermost(sum, x);
}
__attribute__((noinline)) int outermost(int x)
{
	volatile int sum = 0;

	middle(&sum, x);
	return sum;
}
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += outermost(i) + abs(rand());
	return sum == 1;
}
"""
SOURCE = r"""
#include <stdlib.h>
__attribute__((noinline)) int inner(int x)
{
	volatile int sum = 0;

	for (int i = 0; i < 1000000; i++)
		sum += i * x;
	return sum;
}
__attribute__((noinline)) int outer(int x) { return inner(x) + 1; }
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += outer(i) + abs(rand());
	return sum == 1;
}
"""


STACKS = r"""
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int sort(unsigned n)
{
	int *values = malloc(n * sizeof(*values));
	unsigned seed = 1;
	for (unsigned i = 0; i < n; i++)
		values[i] = rand_r(&seed);
	qsort(values, n, sizeof(*values), compare);
	n = values[n / 2];
	free(values);
	return n;
}
__attribute__((noinline)) static int aligned(int n)
{
	char space[n + 1] __attribute__((aligned(64)));
	memset(space, n, n);
	return sort(20000) + space[n / 2];
}
__attribute__((noinline)) static int deep(int n)
{
	char frame[100];
	memset(frame, n, sizeof(frame));
	return n ? deep(n - 1) + frame[n % 100] : aligned(50);
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 60; i++)
		sum += deep(i % 30);
	return sum == 1;
}
"""


JIT = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static const uint8_t code[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3 };
static const uint8_t frames[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	20, 0, 0, 0, 28, 0, 0, 0, 0xd0, 255, 255, 255, 11, 0, 0, 0, 0, 0x44, 0x0e, 16, 0x46, 0x0e,
	8, 0 };
struct head { uint32_t id, size; uint64_t time; };
static void put(FILE *to, uint32_t id, const void *a, size_t n, const void *b, size_t m)
{
	struct timespec t;
	struct head h = { id, (uint32_t)(sizeof(h) + n + m), 0 };
	clock_gettime(CLOCK_MONOTONIC, &t);
	h.time = t.tv_sec * 1000000000ull + t.tv_nsec;
	fwrite(&h, sizeof(h), 1, to);
	fwrite(a, n, 1, to);
	fwrite(b, m, 1, to);
}
__attribute__((noinline)) void spin(long n, int a, int b)
{
	for (volatile long i = 0; i < n; i++)
		;
}
int main(int argc, char **argv)
{
	static const char name[] = "py::work:/a.py";
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	snprintf(path, sizeof(path), argc > 1 ? "./jit-%d.dump" : "/tmp/perf-%d.map", getpid());
	FILE *to = fopen(path, "w+");
	const uint32_t header[10] = { 0x4a695444, 1, 40, 0, 0, getpid() };
	const uint64_t unwinding[3] = { sizeof(frames), 0, 0 };
	struct { uint32_t pid, tid; uint64_t vma, at, size, index; char name[sizeof(name)]; }
		__attribute__((packed)) load = { getpid(), getpid(), (uintptr_t)at, (uintptr_t)at,
						 sizeof(code), 1, "" };
	puts(path);
	memcpy(load.name, name, sizeof(name));
	memcpy(at, code, sizeof(code));
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	if (argc > 1) {
		fwrite(header, sizeof(header), 1, to);
		fflush(to);
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(to), 0);
		put(to, 4, unwinding, sizeof(unwinding), frames, sizeof(frames));
		put(to, 0, &load, sizeof(load), code, sizeof(code));
	} else {
		fprintf(to, "%lx %zx %s\n", (long)at, sizeof(code), name);
	}
	fclose(to);
	((void (*)(long, int, int, void *))at)(100000000, 0, 0, spin);
	return argc > 9;
}
"""


OF_32_BITS = r"""
static unsigned vsyscall;
static char buffer[1 << 20];
__attribute__((noinline)) static int call(int n, int a, void *b, int c)
{
	int ret;
	__asm__ volatile("call *%1" : "=a"(ret) : "m"(vsyscall), "a"(n), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return ret;
}
__attribute__((noinline)) int read_zeros(int fd)
{
	int sum = 0;
	for (int i = 0; i < 300; i++)
		sum += call(3, fd, buffer, sizeof(buffer));
	return sum;
}
__attribute__((used)) static void start(unsigned *sp)
{
	int fd;
	for (sp += *sp + 2; *sp++;)
		;
	for (; sp[0]; sp += 2)
		vsyscall = sp[0] == 32 ? sp[1] : vsyscall;	/* AT_SYSINFO */
	fd = call(5, (int)"/dev/zero", 0, 0);
	for (int i = 0; i < 10; i++)
		read_zeros(fd);
	call(1, 0, 0, 0);
}
__asm__(".globl _start\n"
	"_start: .cfi_startproc\n"
	".cfi_undefined %eip\n"
	"mov %esp, %eax\n"
	"push %eax\n"
	"call start\n"
	".cfi_endproc\n");
"""


SWITCHING = r"""
#include <stdint.h>
#include <stdlib.h>
asm(".globl runtime.systemstack.abi0\n"
    ".type runtime.systemstack.abi0, @function\n"
    "runtime.systemstack.abi0:\n"
    "	.cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	mov %rsp, %rbp\n"
    "	mov %rsi, %rsp\n"
    "	call *%rdi\n"
    "	mov %rbp, %rsp\n"
    "	pop %rbp\n"
    "	.cfi_def_cfa_offset 8\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size runtime.systemstack.abi0, . - runtime.systemstack.abi0\n");
void switching(void (*f)(void), uintptr_t *stack) asm("runtime.systemstack.abi0");
__attribute__((noinline)) void never_called(void) { abort(); }
__attribute__((noinline)) void spin(void)
{
	for (volatile long i = 0; i < 100000000; i++)
		;
}
int main(void)
{
	uintptr_t *stack = malloc(65536);
	for (int i = 0; i < 8192; i++)
		stack[i] = (uintptr_t)never_called + 1;
	switching(spin, stack + 8000);
	return 0;
}
"""


# --- a recording that is carried away -----------------------------------------------------------

@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A program and its recording."""
    top = tmp_path_factory.mktemp("travel")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-o", top / "app", top / "p.c"],
                   check=True)
    named_recording.record(top / "p.data", "-F", "1000", "-g", "--", top / "app")
    return top


@pytest.fixture(scope="module")
def inlining(tmp_path_factory):
    """A program with debug information, whose functions are inlined, and its recording."""
    top = tmp_path_factory.mktemp("inlining")
    (top / "p.c").write_text(INLINING)
    subprocess.run(["gcc", "-g", "-O2", "-fno-omit-frame-pointer", "-o", top / "app",
                    top / "p.c"], check=True)
    named_recording.record(top / "p.data", "-F", "1000", "-g", "--symbols=lines", "--", top / "app")
    return top


def record_stacks(top, *options):
    (top / "p.c").write_text(STACKS)
    subprocess.run(["gcc", "-g", "-O2", *options, "-o", top / "app", top / "p.c"], check=True)
    named_recording.record(top / "p.data", "-F", "1000", "--call-graph", "dwarf,2048", "--",
                           top / "app")
    return top


@pytest.fixture(scope="module")
def unwound(tmp_path_factory):
    """A program without frame pointers, and its recording with copied stacks: some are cut, and one
    function has its caller's stack pointer in memory only."""
    return record_stacks(tmp_path_factory.mktemp("unwound"))


@pytest.fixture(scope="module")
def unwound_by_debug_frame(tmp_path_factory):
    """The same without .eh_frame."""
    return record_stacks(tmp_path_factory.mktemp("debug_frame"),
                         "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")


@pytest.fixture(scope="module")
def unwound_by_code(tmp_path_factory):
    """The same without any."""
    return record_stacks(tmp_path_factory.mktemp("code"), "-g0", "-fno-asynchronous-unwind-tables",
                         "-fno-unwind-tables")


def frames(lines):
    return [json.dumps(line["frames"]) for line in map(json.loads, lines.splitlines())
            if line.get("type") == "SAMPLE"]


def ends(lines):
    return [line["stack_end"] for line in map(json.loads, lines.splitlines())
            if "stack_end" in line]


def decode(path, *options):
    return subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", *options, path],
                          stdout=subprocess.PIPE, check=True).stdout


def empty_root(top):
    """A directory with nothing but pdecode and its libraries, at places of their own."""
    place = top / "root" / "x"
    place.mkdir(parents=True)
    listed = subprocess.run(["ldd", TOOLS / "pdecode"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    for library in re.findall(r"/\S+", listed):
        shutil.copy(library, place)
    shutil.copy(TOOLS / "pdecode", place)
    loader = next(name for name in os.listdir(place) if name.startswith("ld-"))
    return ["chroot", top / "root", f"/x/{loader}", "--library-path", "/x", "/x/pdecode"]


@pytest.mark.parametrize("options", [[], ["--no-inline"]])
def test_without_the_program(options, recorded, tmp_path):
    home = frames(decode(recorded / "p.data", *options))
    assert sum('"symbol": "inner"' in line and '"symbol": "outer"' in line for line in home) > 10
    (recorded / "app").rename(recorded / "away")
    try:
        assert frames(decode(recorded / "p.data", *options)) == home
    finally:
        (recorded / "away").rename(recorded / "app")


def test_callers_of_copied_stacks(recorded, tmp_path):
    """Functions that are only callers have names, too: a stripped program can be unwound, but has
    none."""
    app = tmp_path / "app"
    shutil.copy(recorded / "app", app)
    named_recording.record(tmp_path / "p.data", "-F", "500", "--call-graph", "dwarf", "--", app)
    home = frames(decode(tmp_path / "p.data", "--no-inline"))
    subprocess.run(["strip", app], check=True)
    stripped = frames(decode(tmp_path / "p.data", "--no-inline"))
    assert sum('"symbol": "main"' in line for line in home) > 10
    assert stripped == home


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the code is of that machine")
@pytest.mark.parametrize("name, options", [
    ("py::work:/a.py", []), ("py::work:/a.py", ["dump"]), ("work", ["dump"])],
    ids=["python map", "python dump", "dump"])
def test_stacks_through_jit_code(name, options, tmp_path):
    """Neither names nor call frame information need the file of the process afterwards. A jitdump
    is written while it is mapped."""
    (tmp_path / "p.c").write_text(JIT.replace("py::work:/a.py", name))
    subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-o", tmp_path / "app",
                    tmp_path / "p.c"], check=True)
    done = named_recording.record(tmp_path / "p.data", "-F", "1000", "-k", "monotonic",
                                  "--call-graph", "dwarf,2048", "--", tmp_path / "app", *options,
                                  cwd=tmp_path, stdout=subprocess.PIPE)
    written = tmp_path / done.stdout.strip()

    def stacks():
        return collections.Counter(
            (tuple(frame.get("symbol") for frame in line["frames"])[:3], line["stack_end"])
            for line in map(json.loads, decode(tmp_path / "p.data").splitlines())
            if line.get("type") == "SAMPLE" and line["cpumode"] == "USER")
    home = stacks()
    written.unlink()
    assert home == stacks()
    assert home.most_common(1)[0][0] == (("spin", name, "main"), "BOTTOM")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the code is of that machine")
def test_system_calls_of_32_bits(tmp_path):
    """Their vdso is in no file, and not that of the recorder."""
    (tmp_path / "p.c").write_text(OF_32_BITS)
    done = subprocess.run(["gcc", "-m32", "-O2", "-ffreestanding", "-fno-pic", "-no-pie", "-static",
                           "-nostdlib", "-fno-stack-protector", "-fasynchronous-unwind-tables",
                           "-o", tmp_path / "app", tmp_path / "p.c"], stderr=subprocess.PIPE)
    if done.returncode or subprocess.run([tmp_path / "app"], check=False).returncode:
        pytest.skip("no programs of 32 bits here")
    named_recording.record(tmp_path / "p.data", "-F", "1000", "--call-graph", "dwarf,2048", "--",
                           tmp_path / "app")
    stacks = collections.Counter(
        (tuple(frame.get("symbol") for frame in line["frames"])[-4:], line["stack_end"])
        for line in map(json.loads, decode(tmp_path / "p.data").splitlines())
        if line.get("type") == "SAMPLE" and line["cpumode"] == "KERNEL")
    (user, end), _ = stacks.most_common(1)[0]
    assert (user[1:], end) == (("read_zeros", "start", "_start"), "BOTTOM")
    assert user[0] == "call"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the code is of that machine")
def test_the_runtime_of_go_switches_stacks(tmp_path):
    """The words on the other stack are no callers."""
    (tmp_path / "p.c").write_text(SWITCHING)
    subprocess.run(["gcc", "-O2", "-o", tmp_path / "app", tmp_path / "p.c"], check=True)
    named_recording.record(tmp_path / "p.data", "-F", "1000", "--call-graph", "dwarf,2048", "--",
                           tmp_path / "app")
    home = decode(tmp_path / "p.data")
    stacks = collections.Counter(
        (tuple(frame.get("symbol") for frame in line["frames"]), line["stack_end"])
        for line in map(json.loads, home.splitlines())
        if line.get("type") == "SAMPLE" and line["cpumode"] == "USER")
    assert stacks.most_common(1)[0][0] == (("spin", "runtime.systemstack.abi0"), "OTHER_STACK")
    (tmp_path / "app").unlink()
    assert frames(decode(tmp_path / "p.data")) == frames(home)


def chains(lines):
    """The functions of each frame, innermost first: (name, file, line)."""
    return [[(p.get("symbol"), p.get("file"), p.get("line"))
             for p in [*frame.get("inlined", []), frame]]
            for line in lines for frame in json.loads(line)]


def test_debug_information_is_opened_for_what_the_recording_lacks(inlining, run_pdecode, tmp_path):
    document = json.loads(run_pdecode([inlining / "p.data"]).stdout)

    def sources(path):
        image, = [image for image in json.loads(run_pdecode(["--symbols", path]).stdout)["images"]
                  if image["path"] == str(inlining / "app")]
        return image["sources"]
    home = frames(decode(inlining / "p.data"))
    assert sources(inlining / "p.data") == ["BUNDLE"]
    image, = [image for image in document["features"]["PD_SYMBOLS"]["images"]
              if image["path"] == str(inlining / "app")]
    keep = len(image["addresses"]) // 2
    assert keep
    for key in "addresses", "hits", "inlined", "lines", "line_files":
        image[key] = image[key][:keep]
    for key in "nr_addresses", "nr_inlined", "nr_lines":
        image[key] = min(keep, image[key])
    done = subprocess.run([TOOLS / "pencode", "-o", tmp_path / "fewer.data", "-"],
                          input=json.dumps(document).encode(), stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert frames(decode(tmp_path / "fewer.data")) == home
    assert {"SYMTAB", "BUNDLE"} <= set(sources(tmp_path / "fewer.data"))


@pytest.mark.parametrize("options", [[], ["--no-inline"], ["--lines"]], ids=" ".join)
@pytest.mark.parametrize("away", ["missing", "stripped", "without debug information"])
def test_inlined_functions_and_lines_travel(away, options, inlining, tmp_path):
    """Also where names of the file are there."""
    home = frames(decode(inlining / "p.data", *options))
    source = str(inlining / "p.c")
    assert chains(home).count({
        "": [("innermost", None, None), ("middle", None, None), ("outermost", None, None)],
        "--no-inline": [("outermost", None, None)],
        "--lines": [("innermost", source, 5), ("middle", source, 10), ("outermost", source, 16)],
    }["".join(options)]) > 10
    shutil.copy(inlining / "app", tmp_path / "kept")
    try:
        if away == "missing":
            (inlining / "app").unlink()
        else:
            subprocess.run(["strip", *(["-g"] if away != "stripped" else []), inlining / "app"],
                           check=True)
        assert frames(decode(inlining / "p.data", *options)) == home
    finally:
        shutil.copy(tmp_path / "kept", inlining / "app")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for chroot")
@pytest.mark.parametrize("made, options", [
    ("recorded", []), ("recorded", ["--no-inline"]), ("inlining", []), ("inlining", ["--lines"]),
    ("unwound", []), ("unwound", ["--no-inline"]),
    ("unwound_by_debug_frame", ["--no-inline"]), ("unwound_by_code", ["--no-inline"])],
    ids=lambda value: "".join(value))
def test_in_an_empty_root(made, options, request, tmp_path):
    """Functions of libraries and of the kernel, too."""
    path = request.getfixturevalue(made) / "p.data"
    home = frames(decode(path, *options))
    pdecode = empty_root(tmp_path)
    shutil.copy(path, tmp_path / "root" / "x" / "p.data")
    done = subprocess.run([*pdecode, "-f", "jsonl", "--symbols", *options, "/x/p.data"],
                          stdout=subprocess.PIPE, check=True)
    assert frames(done.stdout) == home
    assert any('"symbol": "__libc_start_' in line for line in home)
    assert ends(done.stdout) == ends(decode(path, *options))
    if made.startswith("unwound"):
        found = collections.Counter(ends(done.stdout))
        assert found["BOTTOM"] > 2 and found["STACK_CUT"] > 10, found


@pytest.mark.sanitize
def test_damaged_rows(unwound, run_pdecode, tmp_path):
    """Rows that anyone may have written: chains end, or are others."""
    document = json.loads(run_pdecode([unwound / "p.data"]).stdout)
    images = document["features"]["PD_SYMBOLS"]["images"]
    home, chance = frames(decode(unwound / "p.data")), random.Random(2)
    (unwound / "app").rename(unwound / "away")
    try:
        assert frames(decode(unwound / "p.data")) == home
        for turn in range(12):
            for row in (row for image in images for row in image["unwind_rows"]):
                data = bytearray.fromhex(row["row"])
                for _ in range(chance.randrange(3)):
                    data[chance.randrange(len(data))] = chance.randrange(256 if turn % 2 else 7)
                row["row"] = data.hex()
            done = subprocess.run([TOOLS / "pencode", "-o", tmp_path / "damaged.data", "-"],
                                  input=json.dumps(document).encode(), stderr=subprocess.PIPE)
            assert done.returncode == 0, done.stderr
            done = run_pdecode(["-f", "jsonl", "--symbols", tmp_path / "damaged.data"])
            assert done.returncode == 0 and len(frames(done.stdout)) == len(home), done.stderr
    finally:
        (unwound / "away").rename(unwound / "app")


def test_the_file_comes_back(recorded, tmp_path):
    with open(tmp_path / "json", "wb") as out:
        subprocess.run([TOOLS / "pdecode", recorded / "p.data"], stdout=out, check=True)
    subprocess.run([TOOLS / "pencode", "-o", tmp_path / "back", tmp_path / "json"], check=True)
    assert (tmp_path / "back").read_bytes() == (recorded / "p.data").read_bytes()


@pytest.mark.skipif(not shutil.which("perf"), reason="no perf")
def test_perf_reads_it(recorded):
    done = subprocess.run(["perf", "script", "-i", recorded / "p.data"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and "outer" in done.stdout
    assert not re.search("240|unknown|invalid", done.stderr), done.stderr


@pytest.mark.parametrize("options, there", [
    ([], True), (["--symbols=off"], False), (["-z"], False), (["-B"], False),
    (["--switch-output"], False), (["-z", "--symbols=names"], True)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_when_names_are_written(options, there, recorded, tmp_path):
    done = subprocess.run([TOOLS / "precord", "-e", "cpu-clock", *options, "-o",
                           tmp_path / "p.data", "--", recorded / "app"], stderr=subprocess.PIPE,
                          text=True, check=True)
    if there and "looking them up took too long" in done.stderr:
        pytest.skip("precord had no time for names: this machine has other work")
    path, = tmp_path.glob("p.data*")
    header = subprocess.run([TOOLS / "pdecode", "--header-only", path], stdout=subprocess.PIPE,
                            check=True).stdout
    assert ("PD_SYMBOLS" in json.loads(header)["features"]) == there


# --- what a recording says ----------------------------------------------------------------------

BUILD_ID = bytes(range(1, 21))


def names_in(lines):
    return {frame.get("symbol") for line in map(json.loads, lines.splitlines())
            if line.get("type") == "SAMPLE" for frame in line["frames"]}


@pytest.mark.parametrize("options", [[], ["--no-inline"]])
def test_debug_files_that_are_installed_later(options, tmp_path):
    """When it was recorded the program was stripped, and precord wrote that it has no symbols."""
    app = tmp_path / "app"
    (tmp_path / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-o", app, tmp_path / "p.c",
                    "-Wl,--build-id=0x12" + "34" * 19], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", app, tmp_path / "debug"], check=True)
    subprocess.run(["strip", app], check=True)
    named_recording.record(tmp_path / "p.data", "-F", "1000", "-g", "--", app)
    assert "outer" not in names_in(decode(tmp_path / "p.data", *options))
    place = tmp_path / "installed/.build-id/12" / ("34" * 19 + ".debug")
    place.parent.mkdir(parents=True)
    (tmp_path / "debug").rename(place)
    there = [*options, "--debug-dir", tmp_path / "installed"]
    assert "outer" in names_in(decode(tmp_path / "p.data", *there))


def image(path, functions, addresses, hits, ino=0, build_id=b"", pid=2**32 - 1, times=(),
          inlined=()):
    """inlined: names, files, calls, and the innermost call of each address."""
    return pid, ino, path, build_id, functions, addresses, hits, times, *inlined


def named(base, name):
    return base, NONE, 0, name


class Travel:
    """Frames of hand-made recordings with a feature PD_SYMBOLS."""

    def __init__(self, run, where):
        self.run, self.path = run, where / "t.data"

    def frames(self, records, images, order="<", cut=None, version=1, options=()):
        section = f.pd_symbols(images, version=version)
        section = (section(order) if callable(section) else section)
        file = File(attrs=[(EVENT, [1])], records=records,
                    features={NUMBER["PD_SYMBOLS"]: section if cut is None else section[:cut]})
        self.path.write_bytes(file.build(order))
        done = self.run(["-f", "jsonl", "--symbols", *options, self.path])
        assert done.returncode in (0, 1), done.stderr
        return [frame for line in map(json.loads, done.stdout.splitlines())
                if line.get("type") == "SAMPLE" for frame in line["frames"]]


@pytest.fixture
def travel(run_pdecode, tmp_path):
    return Travel(run_pdecode, tmp_path)


def mapped(name="/nowhere/app"):
    return r.mmap2_build_id(7, 7, 0x10000, 0x4000, 0x1000, BUILD_ID, 5, 2, name,
                            sid=sample_id(EVENT, pid=7, tid=7, time=1))


def test_kallsyms_are_read_for_what_the_bundle_lacks(travel, tmp_path):
    kernel = 0xFFFFFFFF81000000
    (tmp_path / "kallsyms").write_text(f"{kernel:x} T _text\n{kernel + 0x1000:x} T do_it\n")
    text = r.mmap(-1, 0, kernel, 0x1000000, kernel, "[kernel.kallsyms]_text", misc=1,
                  sid=sample_id(EVENT))
    given = image(b"[kernel.kallsyms]", [named(kernel + 0x1000, b"recorded")],
                  [kernel + 0x1000], [0])
    found = travel.frames([text, hit(kernel + 0x1000, kernel + 0x1100, misc=1)], [given],
                          options=["--kallsyms", tmp_path / "kallsyms"])
    assert [frame["symbol"] for frame in found] == ["recorded", "do_it"]


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_names_and_extents(order, travel):
    """Readable names come from the mangled ones. An address that is not listed has no name."""
    images = [image(b"/nowhere/app",
                    [named(0x1000, b"_ZN1a1bEv"), (0x2000, 0x402000, 11, b"")], [0x1010, 0x2004],
                    [0, 1], build_id=BUILD_ID)]
    records = [mapped(), *(hit(0x10000 + at) for at in (0x10, 0x1004, 0x11))]
    name, extent, missing = travel.frames(records, images, order)
    assert (name["symbol"], name["offset"]) == ("a::b", 0x10)
    assert (extent["why"], extent["function"]) == ("NO_SYMBOL", "0x402000")
    assert missing["why"] == "NO_FILE"


@pytest.mark.sanitize
@pytest.mark.parametrize("other", [{"build_id": bytes(20)}, {"build_id": b""},
                                   {"build_id": BUILD_ID, "ino": 5}])
def test_names_of_another_file(other, travel):
    images = [image(b"/nowhere/app", [named(0x1000, b"f")], [0x1010], [0], **other)]
    assert travel.frames([mapped(), hit(0x10010)], images)[0]["why"] == "NO_FILE"


@pytest.mark.sanitize
def test_code_at_a_time(travel):
    """Two functions were at the address, one after the other; the sample is of 9 s."""
    anonymous = r.mmap2(7, 7, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon",
                        sid=sample_id(EVENT, pid=7, tid=7, time=1))
    images = [image(b"", [named(0x10000, b"first"), named(0x10008, b"second"),
                          named(0x10000, b"third")], [0x10010] * 3, [0, 1, 2], pid=7,
                    times=[1, 9_000_000_000, 9_000_000_001])]
    frame = travel.frames([anonymous, hit(0x10010)], images)[0]
    assert (frame["symbol"], frame["offset"]) == ("second", 8)


NAMES, FILES = [(b"_ZN1a1bEv",), (b"c",)], [(b"/x/a.cc",)]


def with_calls(calls, inlined, lines=(), files=()):
    return image(b"/nowhere/app", [named(0x1000, b"f")], [0x1010, 0x1014], [0, 0],
                 build_id=BUILD_ID, inlined=(NAMES, FILES, calls, inlined, lines, files))


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_inlined_functions(order, travel):
    """The innermost is first. Places that are not known are left out, and functions without a
    name."""
    images = [with_calls([(2, 1, 5, 0), (1, 0, 0, 1), (0, 1, 9, 0)], [2, 3], [0, 7], [0, 1])]
    records = [mapped(), hit(0x10010), hit(0x10014)]
    frame, unknown = travel.frames(records, images, order, version=2, options=["--lines"])
    assert chains([json.dumps([frame])]) == [[("a::b", None, None), ("c", None, None),
                                              ("f", "/x/a.cc", 5)]]
    assert (frame["offset"], unknown["offset"]) == (0x10, 0x14)
    assert chains([json.dumps([unknown])]) == [[("f", "/x/a.cc", 9)]]
    unknown = travel.frames(records, images, order, version=2)[1]
    assert chains([json.dumps([unknown])]) == [[("f", None, None)]]
    frame = travel.frames(records, images, order, version=2, options=["--no-inline"])[0]
    assert frame["symbol"] == "f" and "inlined" not in frame


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_lines(order, travel):
    images = [with_calls([], [], [7, 0], [1, 0])]
    records = [mapped(), hit(0x10010), hit(0x10014)]
    known, unknown = travel.frames(records, images, order, version=2,
                                   options=["--lines", "--prefix-map=/x=/y"])
    assert chains([json.dumps([known, unknown])]) == [[("f", "/y/a.cc", 7)], [("f", None, None)]]


@pytest.mark.sanitize
@pytest.mark.parametrize("damage", [
    ([(2, 1, 5, 1)], [1, 0]), ([(1, 1, 5, 2), (1, 1, 5, 1)], [2, 0]), ([(3, 0, 0, 0)], [1, 0]),
    ([(1, 2, 0, 0)], [1, 0]), ([(1, 1, 5, 0)], [2, 0]), ([(1, 1, 5, 0)], [1]),
    ([], [], [5, 5], [1, 2]), ([], [], [5], [1])],
    ids=["its own caller", "a loop", "name", "file", "call", "too few", "file of a line",
         "too few lines"])
def test_damaged_calls(damage, travel):
    images = [with_calls(*damage)]
    assert travel.frames([mapped(), hit(0x10010)], images, version=2)[0]["why"] == "NO_FILE"


@pytest.mark.sanitize
def test_a_long_chain_of_calls(travel):
    """At most 128 functions of an address are shown."""
    images = [with_calls([(1, 1, i, i) for i in range(1000)], [1000, 0])]
    frame = travel.frames([mapped(), hit(0x10010)], images, version=2)[0]
    assert len(frame["inlined"]) == 127 and frame["symbol"] == "f"


@pytest.mark.sanitize
def test_text_has_all_of_long_names(travel):
    """12 KB at one address."""
    name = b"x" * 100
    given = image(b"/nowhere/app", [named(0x1000, b"f")], [0x1010, 0x1014], [0, 0],
                  build_id=BUILD_ID,
                  inlined=([(name,)], [], [(1, 0, 0, i) for i in range(1000)], [1000, 0], [], []))
    travel.frames([mapped(), hit(0x10010)], [given], version=2)
    shown = preport("-f", "script", "--inline", travel.path, symbols=()).splitlines()
    assert [line.split()[1:] for line in shown[1:-1]] == (
        127 * [[name + b"+0x0", b"(inlined)"]] + [[b"f+0x10", b"(/nowhere/app)"]])


@pytest.mark.sanitize
@pytest.mark.parametrize("version", [1, 2])
def test_damage(version, travel):
    """A section that ends early, or whose counts are too large, has fewer names."""
    images = [image(b"/nowhere/app", [named(0x1000, b"f")], [0x1010], [0], build_id=BUILD_ID,
                    inlined=(NAMES, FILES, [(1, 1, 5, 0)], [1], [4], [1]) if version > 1 else ())]
    whole = f.pd_symbols(images, version=version)
    size = len(whole("<") if callable(whole) else whole)
    records = [mapped(), hit(0x10010)]
    for cut in range(0, size, 5):
        assert travel.frames(records, images, cut=cut, version=version)[0]["why"] == "NO_FILE"
    assert travel.frames(records, images, version=version)[0]["symbol"] == "f"


@pytest.mark.sanitize
def test_a_later_version(travel):
    """Its layout is not known."""
    images = [(*with_calls([(1, 1, 5, 0)], [1, 0]), [], [], [])]
    assert travel.frames([mapped(), hit(0x10010)], images, version=3)[0]["symbol"] == "f"
    assert travel.frames([mapped(), hit(0x10010)], images, version=4)[0]["why"] == "NO_FILE"
