"""pdecode --symbols: names of the recorded files, right or not at all."""
import ctypes
import json
import os
import random
import re
import shutil
import struct
import subprocess
import time

import pytest

from conftest import TIMEOUT, TOOLS, strict_json_lines
from elf_oracle import functions
from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from perfdata.wire import fstr
from schema_check import complaints

SECOND = 1_000_000_000
MONOTONIC = 1
EVENT = Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME|CALLCHAIN",
             flags=("sample_id_all", "use_clockid"), clockid=MONOTONIC)
KERNEL_MARK, USER_MARK = 2**64 - 128, 2**64 - 512
KERNEL, BASE = 0xffffffff81000000, 0x555500000000
IN_KERNEL = 1
IN_OPEN = 0x20          # linux/inotify.h

SOURCE = r"""
#include <stdlib.h>
static inline __attribute__((always_inline)) int inner(int x) { return x * abs(x) + 3; }
__attribute__((noinline)) int outer(int x) { return inner(x + 1) ^ x; }
__attribute__((noinline, noreturn)) static void ends(void) { abort(); }
__attribute__((noinline)) void calls_at_its_end(void) { ends(); }
__attribute__((noinline)) int after(int x) { return x - 7; }
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 9)
		calls_at_its_end();
	return outer(argc) + after(argc);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    top = tmp_path_factory.mktemp("program")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O2", "-fno-reorder-functions", "-o", top / "app", top / "p.c"],
                   check=True)
    return top / "app"


def build_id(path):
    text = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, text=True).stdout
    return bytes.fromhex(re.search(r"Build ID: (\w+)", text)[1])


def symbol(path, name):
    """(start, size) of a function."""
    return next(row[:2] for row in functions(path, ".symtab", "SYMTAB") if row[5] == name)


def code_of(path):
    """(offset, address, size) of the executable segment."""
    text = subprocess.run(["readelf", "-lW", path], stdout=subprocess.PIPE, text=True).stdout
    row = re.search(r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", text)
    return tuple(int(part, 16) for part in row.groups())


def mapped(path, recorded=None, pid=7, name=None):
    """The map of a program's code at BASE + its address, with this build id; "": none."""
    offset, address, size = code_of(path)
    pgoff = offset & ~0xfff
    start, length = BASE + (address & ~0xfff), (size + 0x1fff) & ~0xfff
    sid = sample_id(EVENT, pid=pid, tid=pid, time=1)
    if recorded == "":
        return r.mmap2(pid, pid, start, length, pgoff, 8, 1, 99, 0, 5, 2, name or str(path),
                       sid=sid)
    return r.mmap2_build_id(pid, pid, start, length, pgoff, recorded or build_id(path), 5, 2,
                            name or str(path), sid=sid)


def hit(*addresses, pid=7, tid=None, misc=2):
    mark = KERNEL_MARK if misc == IN_KERNEL else USER_MARK
    return sample(EVENT, misc, ip=addresses[0], pid=pid, tid=tid or pid, time=9 * SECOND,
                  callchain=[mark, *addresses])


class Symbols:
    """pdecode --symbols of records, which are written to a file first."""

    def __init__(self, run, where):
        self.run, self.path = run, where / "s.data"

    def write(self, records, began=None, bundle=None, more=None, order="<"):
        now = int(began or time.time() + 100)
        features = {NUMBER["CLOCK_DATA"]: f.clock_data(MONOTONIC, now * SECOND, 9 * SECOND),
                    NUMBER["SAMPLE_TIME"]: f.sample_time(9 * SECOND, 900 * SECOND)}
        if bundle:
            features[NUMBER["PD_SYMBOLS"]] = f.pd_symbols(bundle)
        features |= {NUMBER[name]: feature for name, feature in (more or {}).items()}
        file = File(attrs=[(EVENT, [1])], records=records,
                    features={bit: feature for bit, feature in features.items() if feature})
        self.path.write_bytes(file.build(order))

    def lines(self, records, *options, status=0, **more):
        self.write(records, **more)
        done = self.run(["-f", "jsonl", "--symbols", *options, self.path])
        assert done.returncode == status, done.stderr
        lines = strict_json_lines(done.stdout)
        wrong = [text for line in lines for text in complaints("line.schema.json", line)]
        assert not wrong, wrong[:5]
        return lines

    def frames(self, records, *options, **more):
        return [line["frames"] for line in self.lines(records, *options, **more)
                if line.get("type") == "SAMPLE"]

    def images(self, records, *options, **more):
        return [line for line in self.lines(records, *options, **more) if line["kind"] == "image"]


@pytest.fixture
def symbols(run_pdecode, tmp_path):
    return Symbols(run_pdecode, tmp_path)


def addr2line(path, address):
    done = subprocess.run(["addr2line", "-fie", path, hex(address)], stdout=subprocess.PIPE,
                          text=True, check=True)
    rows = re.sub(r" \(discriminator \d+\)", "", done.stdout).splitlines()
    return [(name, *place.rsplit(":", 1)) for name, place in zip(rows[::2], rows[1::2])]


def chain(frame):
    places = [*frame.get("inlined", []), frame]
    return [(p.get("symbol", "??"), p.get("file", "??"), str(p.get("line", "?"))) for p in places]


# --- names --------------------------------------------------------------------------------------

@pytest.mark.sanitize
def test_every_address_of_a_function(program, symbols):
    start, size = symbol(program, "outer")
    records = [mapped(program)] + [hit(BASE + start + i) for i in range(size)]
    for i, (frame,) in enumerate(symbols.frames(records, "--lines")):
        assert (frame["symbol"], frame["offset"]) == ("outer", i) and "why" not in frame
        assert chain(frame) == addr2line(program, start + i)
    assert any("inlined" in frame for (frame,) in symbols.frames(records))
    assert not any("inlined" in frame for (frame,) in symbols.frames(records, "--no-inline"))
    assert not any("line" in frame for (frame,) in symbols.frames(records))


def test_a_return_address_after_the_last_call(program, symbols):
    """The function that begins there was never called."""
    (start, size), (ends, _) = symbol(program, "calls_at_its_end"), symbol(program, "ends")
    records = [mapped(program), hit(BASE + ends, BASE + start + size)]
    first, second = symbols.frames(records)[0]
    assert (first["symbol"], second["symbol"], second["return_address"]) == (
        "ends", "calls_at_its_end", True)
    assert (second["addr"], second["offset"]) == (hex(BASE + start + size), size)


@pytest.mark.parametrize("before, after", [("", ""), (".cfi_startproc\nnop", ".cfi_endproc")],
                         ids=["makecontext", "signal"])
def test_code_entered_as_if_it_had_been_called(before, after, symbols, tmp_path):
    """makecontext() makes its function return to where __start_context begins. There is no call in
    the padding before. Call frame information of __restore_rt begins there."""
    source, path = tmp_path / "p.s", tmp_path / "p"
    source.write_text("".join(f"{gap}\n.globl {name}\n.type {name}, @function\n{name}: ret\n"
                              f".size {name}, 1\n{end}\n" for name, gap, end in
                              (("main", "", ""),
                               ("entered", ".p2align 5, 0x90\n" + before, after),
                               ("next", "", ""))) +
                      '.section .note.GNU-stack,"",@progbits\n')
    subprocess.run(["gcc", "-o", path, source], check=True)
    at = {name: BASE + symbol(path, name)[0] for name in ("main", "entered", "next")}
    assert at["next"] == at["entered"] + 1
    records = [mapped(path), hit(at["main"], at["entered"], at["next"], at["entered"] - 2)]
    frames = symbols.frames(records)[0]
    assert [frame.get("symbol", frame.get("why")) for frame in frames] == [
        "main", "entered", "entered", "NO_SYMBOL"]
    assert [frame.get("offset") for frame in frames] == [0, 0, 1, None]


@pytest.mark.sanitize
def test_stripped(program, symbols, tmp_path):
    path = tmp_path / "stripped"
    subprocess.run(["strip", "-o", path, program], check=True)
    start, _ = symbol(program, "outer")
    records = [mapped(path), hit(BASE + start + 3)]
    frame = symbols.frames(records)[0][0]
    assert (frame["function"], frame["why"]) == (hex(start), "NO_SYMBOLS")
    assert "symbol" not in frame
    tree = tmp_path / "debug" / ".build-id" / build_id(program).hex()[:2]
    tree.mkdir(parents=True)
    debug = tree / (build_id(program).hex()[2:] + ".debug")
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    options = ["--debug-dir", tmp_path / "debug"]
    frame = symbols.frames(records, *options, "--lines")[0][0]
    assert (frame["symbol"], frame["offset"]) == ("outer", 3) and chain(frame) == addr2line(
        program, start + 3)
    image = symbols.images(records, *options)[0]
    assert image["debug_file"] == str(debug) and "DEBUG_FILE" in image["sources"]


@pytest.mark.sanitize
def test_a_program_alone_in_the_directory_of_files(program, symbols, tmp_path):
    """It was recorded elsewhere; one of another build is not used."""
    start, _ = symbol(program, "outer")
    records = [mapped(program, name="/elsewhere/app"), hit(BASE + start + 3)]
    (tmp_path / "files").mkdir()
    options = ["--debug-dir", tmp_path / "files"]
    assert symbols.frames(records, *options)[0][0]["why"] == "NO_FILE"
    shutil.copy(program, tmp_path / "files" / "app")
    assert symbols.frames(records, *options)[0][0]["symbol"] == "outer"
    records[0] = mapped(program, bytes(range(20)), name="/elsewhere/app")
    assert symbols.frames(records, *options)[0][0]["why"] == "MISMATCH"


@pytest.mark.sanitize
def test_stripped_with_names_of_the_recorder(program, symbols, tmp_path):
    """It had the debug file: its names come before those that a stripped file has, but not before
    symbols that are here."""
    path = tmp_path / "stripped"
    subprocess.run(["strip", "-o", path, program], check=True)
    offset, address, _ = code_of(path)
    start, _ = symbol(program, "outer")
    at = start - address + offset
    given = [(2**32 - 1, 0, str(path).encode(), build_id(path),
              [(at, 2**64 - 1, 0, b"travelled")], [at + 3], [0], [])]
    records = [mapped(path), hit(BASE + start + 3), hit(BASE + start + 4)]
    (known,), (other,) = symbols.frames(records, bundle=given)
    assert (known["symbol"], known["offset"]) == ("travelled", 3)
    assert other["why"] == "NO_SYMBOLS" and other["function"] == hex(start)
    assert symbols.images(records, bundle=given)[0]["sources"][-1] == "BUNDLE"
    exported = tmp_path / "exported"
    subprocess.run(["gcc", "-O2", "-rdynamic", "-s", "-o", exported, program.parent / "p.c"],
                   check=True)
    start = next(row[0] for row in functions(exported, ".dynsym", "DYNSYM") if row[5] == "outer")
    offset, address, _ = code_of(exported)
    at = start - address + offset
    given = [(2**32 - 1, 0, str(exported).encode(), build_id(exported),
              [(at, 2**64 - 1, 0, b"travelled")], [at + 3], [0], [])]
    records = [mapped(exported), hit(BASE + start + 3), hit(BASE + start + 4)]
    assert [frame["symbol"] for (frame,) in symbols.frames(records, bundle=given)] == [
        "travelled", "outer"]
    offset, address, _ = code_of(program)
    at = symbol(program, "after")[0] - address + offset
    given = [(2**32 - 1, 0, str(program).encode(), build_id(program),
              [(at, 2**64 - 1, 0, b"travelled")], [at], [0], [])]
    records = [mapped(program), hit(BASE + symbol(program, "after")[0])]
    frame = symbols.frames(records, bundle=given)[0][0]
    assert frame["symbol"] == "after" and "inlined" not in frame


@pytest.mark.sanitize
def test_readable_and_linkage_names(symbols, tmp_path):
    if not shutil.which("g++"):
        pytest.skip("no g++ here")
    (tmp_path / "p.cc").write_text(
        "namespace n { template <class T> struct s { __attribute__((noinline)) T f(T x) "
        "{ return x + 1; } }; }\nint main(int c, char **) { return n::s<int>().f(c); }\n")
    path = tmp_path / "app"
    subprocess.run(["g++", "-o", path, tmp_path / "p.cc"], check=True)
    start, _ = symbol(path, "_ZN1n1sIiE1fEi")
    records = [mapped(path), hit(BASE + start)]
    assert symbols.frames(records)[0][0]["symbol"] == "n::s<int>::f"
    assert "linkage_name" not in symbols.frames(records)[0][0]
    assert symbols.frames(records, "--linkage-names")[0][0]["linkage_name"] == "_ZN1n1sIiE1fEi"


# --- the recorded file, or none -----------------------------------------------------------------

def reason(symbols, records, *options, **more):
    frame = symbols.frames(records, *options, **more)[0][0]
    assert ("symbol" in frame) != ("why" in frame)
    return frame.get("symbol", frame.get("why"))


@pytest.mark.sanitize
def test_a_rebuilt_program(program, symbols):
    """Its build id is another one: a name would be that of another function."""
    start, _ = symbol(program, "outer")
    records = [mapped(program, bytes(range(20))), hit(BASE + start)]
    assert reason(symbols, records) == "MISMATCH"
    image = symbols.images(records)[0]
    assert image["why"] == "MISMATCH" and image["other_build_id"] == build_id(program).hex()
    assert "match" not in image and "sources" not in image


@pytest.mark.parametrize("when, options, expected", [
    (100, [], "outer"), (-3600, [], "MISMATCH"), (100, ["--unverified", "no"], "MISMATCH")])
def test_a_program_without_a_recorded_id(when, options, expected, program, symbols):
    """It is used if it is older than the recording."""
    start, _ = symbol(program, "outer")
    records = [mapped(program, ""), hit(BASE + start)]
    began = os.stat(program).st_ctime + when
    assert reason(symbols, records, *options, began=began) == expected
    if expected == "outer":
        image = symbols.images(records, *options, began=began)[0]
        assert image["match"] == "NAME_ONLY"


@pytest.mark.parametrize("ino, machine, expected", [
    (0, "here", "outer"), (1, "here", "MISMATCH"), (1 << 48, "here", "outer"),
    (1, "elsewhere", "outer"), (1, None, "outer")])
def test_another_inode_on_the_machine_of_the_recording(ino, machine, expected, program, symbols):
    """The path has another file now, or had another one in a mount namespace. Stacked file systems
    have other devices; their layers are in the uppermost bits."""
    start, _ = symbol(program, "outer")
    st, sid = os.stat(program), sample_id(EVENT, pid=7, tid=7, time=1)
    offset, address, size = code_of(program)
    record = r.mmap2(7, 7, BASE + (address & ~0xfff), (size + 0x1fff) & ~0xfff, offset & ~0xfff,
                     0, 77, st.st_ino ^ ino, 0, 5, 2, str(program), sid=sid)
    name = {"here": os.uname().nodename, "elsewhere": os.uname().nodename + "2"}.get(machine)
    more = {"HOSTNAME": fstr(name)} if name else {}
    assert reason(symbols, [record, hit(BASE + start)], more=more) == expected


@pytest.mark.parametrize("form", ["full", "table", "names"])
def test_files_of_unknown_age(form, program, symbols, run_pdecode):
    """They are used when the user says so, and what they name is marked. A recorded id counts."""
    start, _ = symbol(program, "outer")
    known = mapped(program, name=str(program.parent / "gone"))
    records = [mapped(program, ""), hit(BASE + start)]
    began = os.stat(program).st_ctime - 3600
    always = ["--unverified", "always"]
    lines = symbols.lines(records, *always, f"--symbols={form}", began=began)
    found = [frame for line in lines if line.get("type") == "SAMPLE"
             for frame in line.get("frames", [])] + [f for f in lines if f["kind"] == "frame"]
    assert [(f["symbol"], f["unverified"]) for f in found] == [("outer", True)]
    assert [line["match"] for line in lines if line["kind"] == "image"] == ["UNVERIFIED"]
    done = run_pdecode(["-f", "jsonl", "--symbols", *always, symbols.path])
    assert f"nothing shows that 1 files are the recorded ones, as {program};" in (
        done.stderr.decode())
    assert reason(symbols, [mapped(program, bytes(range(20))), hit(BASE + start)],
                  *always) == "MISMATCH"
    assert "unverified" not in symbols.frames([mapped(program), known, *records[1:]],
                                              *always)[0][0]


def test_a_path_of_two_files(program, symbols):
    """One is in another root directory: only that with the inode of the map has its names."""
    stat, (start, _) = os.stat(program), symbol(program, "outer")
    device = os.major(stat.st_dev), os.minor(stat.st_dev)
    one, other = (r.mmap2(7, 7, BASE + at, 0x100000, 0, *device, stat.st_ino + at, 0, 5, 2,
                          str(program), sid=sample_id(EVENT, pid=7, tid=7, time=1))
                  for at in (0, 0x1000_0000))
    records = [one, other, hit(BASE + start), hit(BASE + 0x1000_0000 + start)]
    first, second = symbols.frames(records)
    assert first[0]["symbol"] == "outer" and second[0]["why"] == "MISMATCH"
    assert [i.get("match") for i in symbols.images(records)] == ["INODE", None]
    frame, = symbols.frames([other, hit(BASE + 0x1000_0000 + start)])
    assert frame[0]["symbol"] == "outer"


def test_names_of_the_recording_before_those_of_a_file_that_may_be_another(program, symbols):
    """Only its name is the recorded one. The recorder had the file itself."""
    start, _ = symbol(program, "outer")
    given = (2**32 - 1, 99, str(program).encode(), b"", [(start, 2**64 - 1, 0, b"recorded")],
             [start], [0], [])
    for build_id, expected in (("", "recorded"), (None, "outer")):
        records = [mapped(program, build_id), hit(BASE + start)]
        assert symbols.frames(records, bundle=[given])[0][0]["symbol"] == expected


@pytest.mark.sanitize
def test_files_that_are_not_there(program, symbols, tmp_path):
    start, _ = symbol(program, "outer")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "text").write_text("no program\n" * 100)
    for name in (tmp_path / "none", tmp_path / "fifo", tmp_path / "text", tmp_path):
        assert reason(symbols, [mapped(program, name=str(name)), hit(BASE + start)]) == "NO_FILE"


def test_only_regular_files_are_opened(program, symbols, tmp_path):
    """Opening some devices has an effect: a watchdog starts, a tape rewinds."""
    libc = ctypes.CDLL(None, use_errno=True)
    start, _ = symbol(program, "outer")
    root = tmp_path / "root"
    root.mkdir()
    for path in (tmp_path / "fifo", root / str(tmp_path)[1:] / "fifo"):
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        assert libc.inotify_add_watch(watch, os.fsencode(path), IN_OPEN) > 0
        assert reason(symbols, [mapped(program, name=str(tmp_path / "fifo")), hit(BASE + start)],
                      "--sysroot", root) == "NO_FILE"
        with pytest.raises(BlockingIOError):
            os.read(watch, 4096)
        # how it would be seen
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        assert os.read(watch, 4096)
        os.close(watch)


def test_sysroot(program, symbols, tmp_path):
    """The recorded path inside of it, also where links lead out."""
    start, _ = symbol(program, "outer")
    root = tmp_path / "root"
    (root / "opt").mkdir(parents=True)
    shutil.copy(program, root / "opt" / "app")
    (root / "out").symlink_to("/opt")
    for name in ("/opt/app", "/out/app"):
        records = [mapped(program, name=name), hit(BASE + start)]
        assert reason(symbols, records) == "NO_FILE"
        assert reason(symbols, records, "--sysroot", root) == "outer"


def test_deleted_file(program, symbols):
    start, _ = symbol(program, "outer")
    records = [mapped(program, name=f"{program} (deleted)"), hit(BASE + start)]
    assert reason(symbols, records) == "outer"


@pytest.mark.parametrize("options", [[], ["--unverified=always"]], ids=["yes", "always"])
def test_the_file_at_the_path_of_a_deleted_one(options, program, symbols, tmp_path):
    """It is another one, however old it is."""
    start, _ = symbol(program, "outer")
    path = tmp_path / "app"
    shutil.copy(program, path)
    at = hit(BASE + start)
    for name, word in ((path, "outer"), (f"{path} (deleted)", "NO_FILE")):
        assert reason(symbols, [mapped(program, "", name=str(name)), at], *options) == word
    root = tmp_path / "root" / str(path)[1:]
    root.parent.mkdir(parents=True)
    shutil.copy(program, root)
    given = ["--sysroot", tmp_path / "root", "--unverified=always"]
    assert reason(symbols, [mapped(program, "", name=f"{path} (deleted)"), at], *given) == "outer"


# --- kernel and JIT -----------------------------------------------------------------------------

KALLSYMS = f"{KERNEL:x} T _text\n{KERNEL + 0x1000:x} T do_it\n{KERNEL + 0x2000:x} t next\n"


@pytest.mark.sanitize
def test_kernel(symbols, tmp_path):
    path = tmp_path / "kallsyms"
    path.write_text(KALLSYMS)
    kernel = r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sample_id(EVENT))
    records = [kernel, hit(KERNEL + 0x1800, KERNEL + 0x2000, misc=IN_KERNEL)]
    first, second = symbols.frames(records, "--kallsyms", path)[0]
    assert (first["symbol"], first["offset"]) == ("do_it", 0x800)
    assert (second["symbol"], second["offset"]) == ("do_it", 0x1000)
    assert reason(symbols, records) == "NO_KERNEL"      # not this machine's, and not of this boot
    path.write_text(KALLSYMS.replace(f"{KERNEL:x} ", f"{KERNEL + 0x200000:x} "))
    assert reason(symbols, records, "--kallsyms", path) == "NO_KERNEL"


@pytest.mark.sanitize
@pytest.mark.parametrize("end, word", [
    (0x3008, "do_it"), (0x3010, "NO_KERNEL"),       # an _etext: this kernel's, another's
    (0x4000, "do_it"), (2**64 - 1 - KERNEL, "do_it")])      # not known
def test_another_kernel_at_the_same_address(end, word, symbols, tmp_path):
    path = tmp_path / "kallsyms"
    path.write_text(KALLSYMS + f"{KERNEL + 0x3008:x} D _etext\n")
    kernel = r.mmap(-1, 0, KERNEL, end, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sample_id(EVENT))
    records = [kernel, hit(KERNEL + 0x1800, misc=IN_KERNEL)]
    assert reason(symbols, records, "--kallsyms", path) == word


def test_kallsyms_of_this_machine_are_of_the_recorded_kernel(symbols):
    """That it is named by the user does not make it the recorded one."""
    with open("/proc/kallsyms", encoding="utf-8") as file:
        at = next((int(line.split()[0], 16) for line in file if line.split()[2] == "_stext"), 0)
    if not at:
        pytest.skip("the kernel shows no addresses")
    kernel = r.mmap2_build_id(-1, 0, at, 0x1000000, at, b"\1" * 20, 5, 2,
                              "[kernel.kallsyms]_stext", misc=IN_KERNEL, sid=sample_id(EVENT))
    records = [kernel, hit(at + 0x1000, misc=IN_KERNEL)]
    assert reason(symbols, records, "--kallsyms", "/proc/kallsyms") == "NO_KERNEL"


@pytest.mark.sanitize
def test_entry_code_that_nobody_calls(symbols, tmp_path):
    """A new task's stack has the address where ret_from_fork begins, not a return address; other
    functions that begin where a call returns were not called."""
    path = tmp_path / "kallsyms"
    path.write_text(KALLSYMS + f"{KERNEL + 0x3000:x} T ret_from_fork_asm\n"
                    f"{KERNEL + 0x4000:x} T asm_exc_page_fault\n{KERNEL + 0x5000:x} T last\n")
    kernel = r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sample_id(EVENT))
    chain = [KERNEL + at for at in (0x1001, 0x2000, 0x3000, 0x3001, 0x4000, 0x5000)]
    frames = symbols.frames([kernel, hit(*chain, misc=IN_KERNEL)], "--kallsyms", path)[0]
    assert [(frame["symbol"], frame["offset"]) for frame in frames] == [
        ("do_it", 1), ("do_it", 0x1000), ("ret_from_fork_asm", 0), ("ret_from_fork_asm", 1),
        ("asm_exc_page_fault", 0), ("asm_exc_page_fault", 0x1000)]


@pytest.mark.sanitize
@pytest.mark.parametrize("prefix", ["__pfx_", "__cfi_"])
def test_interrupted_at_its_beginning(symbols, prefix, tmp_path):
    """The bytes before a function have a symbol of their own, but they call nothing: the address is
    not a return address, but where an interrupt came."""
    path = tmp_path / "kallsyms"
    path.write_text(KALLSYMS + f"{KERNEL + 0x2ff0:x} t {prefix}unlock\n"
                    f"{KERNEL + 0x3000:x} T unlock\n{KERNEL + 0x4000:x} T last\n")
    kernel = r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sample_id(EVENT))
    chain = [KERNEL + at for at in (0x1001, 0x3000, 0x3001, 0x4000)]
    frames = symbols.frames([kernel, hit(*chain, misc=IN_KERNEL)], "--kallsyms", path)[0]
    assert [(frame["symbol"], frame["offset"]) for frame in frames] == [
        ("do_it", 1), ("unlock", 0), ("unlock", 1), ("unlock", 0x1000)]


@pytest.mark.sanitize
def test_code_that_the_kernel_made(symbols):
    """A BPF program has its name in the recording."""
    made = r.ksymbol(KERNEL + 0x40000000, 0x100, 1, 0, "bpf_prog_6deef7357e7b4530_mine",
                     sid=sample_id(EVENT, time=1))
    frame = symbols.frames([made, hit(KERNEL + 0x40000010, misc=IN_KERNEL)])[0][0]
    assert (frame["symbol"], frame["offset"]) == ("bpf_prog_6deef7357e7b4530_mine", 16)


@pytest.mark.sanitize
def test_jit(symbols):
    """perf-PID.map in /tmp, if the process wrote it in this recording."""
    pid = random.randrange(3_000_000, 4_000_000)
    anonymous = r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon",
                        sid=sample_id(EVENT, pid=pid, tid=pid, time=1))
    records = [anonymous, hit(0x10020, pid=pid)]
    assert reason(symbols, records) == "JIT_NO_MAP"
    path = f"/tmp/perf-{pid}.map"
    try:
        with open(path, "x", encoding="ascii") as file:
            file.write("10010 40 LazyCompile:~fib fib.js:1\n")
        frame = symbols.frames(records, began=time.time() - 100)[0][0]
        assert (frame["symbol"], frame["offset"]) == ("LazyCompile:~fib fib.js:1", 16)
        assert reason(symbols, records, began=time.time() + 100) == "JIT_NO_MAP"
        symbols.write([anonymous, hit(0x10080, pid=pid)], began=time.time() - 100)
        said = symbols.run(["--symbols", "-o", "/dev/null", symbols.path]).stderr
        assert b"in //anon, NO_SYMBOL; what its compiler wrote lacks that code; " in said
    finally:
        os.unlink(path)


@pytest.mark.sanitize
def test_a_perf_map_where_the_recording_has_no_time_of_day(perf_map, symbols):
    """As perf writes it: the map may be of an earlier process."""
    pid, anonymous = perf_map
    records, lack = [anonymous, hit(0x10020, pid=pid)], {"CLOCK_DATA": None}
    assert reason(symbols, records, more=lack) == "MISMATCH"
    said = symbols.run(["--symbols", "-o", "/dev/null", symbols.path]).stderr
    assert b"in //anon, MISMATCH; nothing shows that its map here, /tmp/perf-PID.map, " in said
    assert reason(symbols, records, "--unverified=always", more=lack) == "compiled"
    image, = symbols.images(records, "--unverified=always", more=lack)
    assert image["match"] == "UNVERIFIED"
    said = symbols.run(["--symbols", "-o", "/dev/null", "--unverified=always", symbols.path]).stderr
    assert b"files are the recorded ones, as /tmp/perf-PID.map; " in said


MAP_WRITTEN = 109       # s of the recording's clock, at most one later


@pytest.fixture
def perf_map():
    """A process number whose map is written MAP_WRITTEN s after the recording's time 0, with the
    map record of its code, and a function that gives a sample there."""
    pid = random.randrange(3_000_000, 4_000_000)
    anonymous = r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon",
                        sid=sample_id(EVENT, pid=pid, tid=pid, time=1))
    path = f"/tmp/perf-{pid}.map"
    with open(path, "x", encoding="ascii") as file:
        file.write("10010 40 compiled\n")
    yield pid, anonymous
    os.unlink(path)


def task(record, pid, second, tid=None, parent=1):
    own = tid or pid
    return record(pid, parent, own, parent, second * SECOND,
                  sid=sample_id(EVENT, pid=pid, tid=own, time=second * SECOND))


@pytest.mark.sanitize
@pytest.mark.parametrize("ended, expected", [
    ({}, "compiled"),                   # it goes on writing
    ({"": 50}, "JIT_NO_MAP"),
    ({"": 150}, "compiled"),            # it wrote it before it ended
    ({"": 50, "thread": 60}, "JIT_NO_MAP"),
    ({"": 50, "thread": 150}, "compiled"),
    ({"": 50, "thread": None}, "compiled"),
], ids=str)
def test_a_perf_map_of_a_later_process(ended, expected, perf_map, symbols):
    """It is written after the end of the recorded process, whose number it has."""
    pid, anonymous = perf_map
    records = [anonymous]
    if "thread" in ended:
        records.append(task(r.fork, pid, 2, pid + 1, pid))
    records.append(hit(0x10020, pid=pid))
    records += [task(r.exit, pid, second, pid + bool(who), pid) for who, second in ended.items()
                if second]
    assert reason(symbols, records, began=time.time() - 100) == expected


@pytest.mark.parametrize("second, expected", [
    (60, ["JIT_NO_MAP", "compiled"]), (200, ["compiled", "JIT_NO_MAP"])])
def test_a_perf_map_of_one_of_two_processes(second, expected, perf_map, symbols):
    """Both have the same number, and ran in the recording."""
    pid, anonymous = perf_map
    again = r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon",
                    sid=sample_id(EVENT, pid=pid, tid=pid, time=second * SECOND + 1))
    late = sample(EVENT, 2, ip=0x10020, pid=pid, tid=pid, time=(second + 5) * SECOND,
                  callchain=[USER_MARK, 0x10020])
    records = [anonymous, hit(0x10020, pid=pid), task(r.exit, pid, second - 1),
               task(r.fork, pid, second), again, late]
    frames = [frames[0] for frames in symbols.frames(records, began=time.time() - 100)]
    assert [frame.get("symbol", frame.get("why")) for frame in frames] == expected
    folded = subprocess.run([TOOLS / "preport", "-f", "folded", symbols.path], text=True,
                            stdout=subprocess.PIPE, timeout=TIMEOUT, check=True).stdout
    assert sorted(re.findall(r";\[?(\w+)", folded)) == ["anon", "compiled"]


def jitdump(pid, *loads):
    """A dump of code at 0x10000 to 0x20000: (address, size, name, time)."""
    out = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, pid, 0, 0)
    for i, (address, size, name, when) in enumerate(loads):
        body = struct.pack("<IIQQQQ", pid, pid, address, address, size, i) + name + bytes(1 + size)
        out += struct.pack("<IIQ", 0, 16 + len(body), when) + body
    return out


@pytest.mark.sanitize
def test_jitdump(symbols, tmp_path):
    """Code is named as it was when the sample was taken, below maps of any later time."""
    path = tmp_path / "jit-7.dump"
    sid = sample_id(EVENT, pid=7, tid=7, time=1)
    late = sample_id(EVENT, pid=7, tid=7, time=3 * SECOND)
    records = [r.mmap2(7, 7, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path), sid=sid),
               r.mmap2(7, 7, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon", sid=late),
               hit(0x10020)]
    assert reason(symbols, records) == "JIT_NO_MAP"
    path.write_bytes(jitdump(7, (0x10010, 0x40, b"before", 2 * SECOND),
                             (0x10018, 0x10, b"at", 8 * SECOND),
                             (0x10000, 0x80, b"after", 10 * SECOND)))
    began = time.time() - 100
    frame = symbols.frames(records, began=began)[0][0]
    assert (frame["symbol"], frame["offset"]) == ("at", 8)
    assert "JITDUMP" in str(symbols.images(records, began=began))
    assert reason(symbols, records, began=time.time() + 100) == "JIT_NO_MAP"
    other = path.rename(tmp_path / "jit-8.dump")        # another process wrote it
    assert reason(symbols, records, began=began) == "JIT_NO_MAP"
    os.chmod(other, 0)


def debug_info(code, *lines):
    """JIT_CODE_DEBUG_INFO: (address, line, file)."""
    body = struct.pack("<QQ", code, len(lines))
    body += b"".join(struct.pack("<QII", at, line, 0) + file + b"\0" for at, line, file in lines)
    return struct.pack("<IIQ", 2, 16 + len(body), 0) + body


def move(pid, old, new, size, index, when):
    return struct.pack("<IIQIIQQQQQ", 1, 64, when, pid, pid, new, old, new, size, index)


@pytest.mark.sanitize
def test_lines_of_a_jitdump(symbols, tmp_path):
    """They are those of the code that is loaded next, also after it has moved."""
    path = tmp_path / "jit-7.dump"
    sid = sample_id(EVENT, pid=7, tid=7, time=1)
    records = [r.mmap2(7, 7, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path), sid=sid),
               r.mmap2(7, 7, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon", sid=sid)]
    records += [hit(at) for at in (0x10010, 0x10013, 0x10014, 0x1002f, 0x10040, 0x10118)]
    records += [hit(0x10010, 0x10014)]
    whole = jitdump(7, (0x10010, 0x20, b"f", SECOND), (0x10040, 0x20, b"g", SECOND))
    header, rest = whole[:40], whole[40:]
    lines = debug_info(0x10010, (0x10014, 8, b"/src/a.js"), (0x10010, 7, b"\xff"),
                       (0x10018, 9, b"\xff"), (0x10018, 10, b"/src/b.js"))
    path.write_bytes(header + lines + rest + move(7, 0x10010, 0x10110, 0x20, 0, 2 * SECOND))
    began = time.time() - 100
    frames = symbols.frames(records, "--lines", "--prefix-map", "/src/b=/b", began=began)
    places = [(frame["symbol"], frame.get("file"), frame.get("line")) for frame, *_ in frames[:-1]]
    assert places == [("f", "/src/a.js", 7)] * 2 + [("f", "/src/a.js", 8), ("f", "/b.js", 10),
                                                    ("g", None, None), ("f", "/b.js", 10)]
    assert frames[-1][1]["line"] == 7       # the call before the return address
    assert "line" not in str(symbols.frames(records, began=began))
    for name, line in ((b"f", 7), (b"g", None)):    # which precord found
        given = [(7, 0, b"", b"", [(0x10010, 2**64 - 1, 0, name)], [0x10010], [0], [SECOND])]
        frame = symbols.frames(records, "--lines", began=began, bundle=given)[0][0]
        assert (frame["symbol"], frame.get("line")) == (name.decode(), line)
    path.write_bytes(header + debug_info(0x10018, (0x10018, 9, b"/src/a.js")) + rest)
    assert "line" not in str(symbols.frames(records, "--lines", began=began))
    path.write_bytes(header + lines.replace(struct.pack("<Q", 4), struct.pack("<Q", 2**60))[:-3]
                     + bytes(3) + rest)
    assert symbols.frames(records, "--lines", began=began)[0][0]["line"] == 7


VMLINUX = """
.globl _text, do_it
.text
_text: .skip 0x1000, 0x90
.type do_it, @function
do_it: .skip 0x800, 0x90
.size do_it, . - do_it
"""


def kernel_mapped(build_id):
    return r.mmap2_build_id(-1, 0, KERNEL, 0x1000000, KERNEL, build_id, 5, 2,
                            "[kernel.kallsyms]_text", misc=IN_KERNEL, sid=sample_id(EVENT))


@pytest.mark.sanitize
def test_vmlinux(symbols, tmp_path):
    """It was linked to another address than the kernel was loaded at."""
    (tmp_path / "k.s").write_text(VMLINUX)
    path = tmp_path / "vmlinux"
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id,-Ttext=0x1000000,-e,_text", "-o",
                    path, tmp_path / "k.s"], check=True)
    records = [kernel_mapped(build_id(path)), hit(KERNEL + 0x1010, misc=IN_KERNEL)]
    frame = symbols.frames(records, "--vmlinux", path)[0][0]
    assert (frame["symbol"], frame["offset"]) == ("do_it", 0x10)
    tree = tmp_path / "tree" / ".build-id" / build_id(path).hex()[:2]
    (tree / build_id(path).hex()[2:]).mkdir(parents=True)
    shutil.copy(path, tree / build_id(path).hex()[2:] / "elf")      # as perf archive packs it
    frame = symbols.frames(records, "--debug-dir", tmp_path / "tree")[0][0]
    assert (frame["symbol"], frame["offset"]) == ("do_it", 0x10)
    records[0] = kernel_mapped(b"\1" * 20)
    assert reason(symbols, records, "--vmlinux", path) == "MISMATCH"


def own_vdso():
    """The bytes of the vdso in this process."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        row = next((line.split()[0] for line in maps if line.endswith("[vdso]\n")), None)
    if not row:
        pytest.skip("no vdso")
    start, end = (int(part, 16) for part in row.split("-"))
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(start)
        return memory.read(end - start)


@pytest.mark.sanitize
def test_vdso(symbols, tmp_path):
    """This machine's is used if it is the recorded one."""
    path = tmp_path / "vdso"
    path.write_bytes(own_vdso())
    start = next(functions(path, ".dynsym", "DYNSYM"))

    def records(build_id):
        return [r.mmap2_build_id(7, 7, BASE, 0x4000, 0, build_id, 5, 2, "[vdso]",
                                 sid=sample_id(EVENT, pid=7, tid=7, time=1)),
                hit(BASE + start[0] + 1)]
    frame = symbols.frames(records(build_id(path)))[0][0]
    assert frame["offset"] == 1 and frame["symbol"]
    assert reason(symbols, records(b"\1" * 20)) == "MISMATCH"
    without = r.mmap2(7, 7, BASE, 0x4000, 0, 0, 0, 0, 0, 5, 2, "[vdso]",
                      sid=sample_id(EVENT, pid=7, tid=7, time=1))
    assert reason(symbols, [without, hit(BASE + start[0])]) == "MISMATCH"


def test_the_vdso_of_32_bits(symbols, tmp_path):
    """A kernel of 64 bits has another one for such processes, under the same name."""
    path = tmp_path / "vdso"
    path.write_bytes(own_vdso())
    start, low = next(functions(path, ".dynsym", "DYNSYM"))[0], 0xf7f00000
    records = [r.mmap2(pid, pid, base, 0x4000, 0, 0, 0, 0, 0, 5, 2, "[vdso]",
                       sid=sample_id(EVENT, pid=pid, tid=pid, time=1))
               for pid, base in ((7, BASE), (8, low))]
    records += [hit(low + start, pid=8), hit(BASE + start, pid=7)]

    def frames(arch):
        known = {"ARCH": fstr(arch), "BUILD_ID": f.build_ids([(0, build_id(path), "[vdso]", 2)])}
        return [frame for frame, in symbols.frames(records, "--unverified=always", more=known)]
    other, own = frames(b"x86_64")
    assert own["symbol"] and own["dso"] == "[vdso]"
    assert (other["why"], other["dso"]) == ("NO_FILE", "[vdso32]")
    assert "build_id" in own and "build_id" not in other
    assert [frame["dso"] for frame in frames(b"i686")] == ["[vdso]", "[vdso]"]
    frames(b"x86_64")
    said = symbols.run(["--symbols", symbols.path]).stderr.decode()
    assert said.endswith(" in [vdso32], NO_FILE; it is memory that the kernel maps, in no file\n")


# --- debug information --------------------------------------------------------------------------

@pytest.fixture(scope="module")
def inlined(program):
    """An address in a function that is inlined."""
    start, size = symbol(program, "outer")
    return next(at for at in range(start, start + size) if len(addr2line(program, at)) == 2)


@pytest.mark.skipif(not shutil.which("dwz"), reason="no dwz")
def test_dwz(program, inlined, symbols, tmp_path):
    """Names that dwz moved to a file that two programs share."""
    names = [tmp_path / name for name in ("a", "b")]
    for name in names:
        shutil.copy(program, name)
    shared = tmp_path / "tree" / "shared"
    shared.parent.mkdir()
    subprocess.run(["dwz", "-m", shared, "-M", shared, *names], check=True)
    plain = chain(symbols.frames([mapped(program), hit(BASE + inlined)], "--lines")[0][0])
    identity = build_id(shared).hex()
    place = tmp_path / "tree" / ".build-id" / identity[:2] / f"{identity[2:]}.debug"
    place.parent.mkdir(parents=True)
    shared.rename(place)
    records = [mapped(names[0]), hit(BASE + inlined)]
    moved = symbols.frames(records, "--lines", "--debug-dir", tmp_path / "tree")[0][0]
    assert chain(moved) == plain
    assert len(plain) == 2


@pytest.mark.skipif(not shutil.which("dwz"), reason="no dwz")
@pytest.mark.parametrize("stated", ["as it is", "relative", "in --debug-dir", "missing", "another"])
def test_where_dwz_put_them(stated, program, inlined, symbols, tmp_path):
    """By the path that the program states. Without the file, the function keeps its name."""
    app, other, shared = tmp_path / "app", tmp_path / "other", tmp_path / "common"
    for name in (app, other):
        shutil.copy(program, name)
    options, path = ["--lines"], shared
    if stated == "relative":
        path = "../" + tmp_path.name + "/common"
    elif stated == "in --debug-dir":
        path, options = "../../.dwz/t/x", [*options, "--debug-dir", tmp_path / "tree"]
    subprocess.run(["dwz", "-m", shared, "-M", path, app, other], check=True)
    if stated == "in --debug-dir":
        (tmp_path / "tree" / ".dwz" / "t").mkdir(parents=True)
        shared.rename(tmp_path / "tree" / ".dwz" / "t" / "x")
    elif stated in ("missing", "another"):
        shared.unlink()
    if stated == "another":
        shutil.copy(program, shared)
    plain = chain(symbols.frames([mapped(program), hit(BASE + inlined)], "--lines")[0][0])
    frame = symbols.frames([mapped(app), hit(BASE + inlined)], *options)[0][0]
    if stated in ("missing", "another"):
        assert (frame["symbol"], "inlined" in frame) == ("outer", False)
    else:
        assert chain(frame) == plain and len(plain) == 2


def compressed(program, to, kind):
    done = subprocess.run(["objcopy", f"--compress-debug-sections={kind}", program, to],
                          stderr=subprocess.PIPE)
    if done.returncode:
        pytest.skip(f"objcopy knows no {kind}")
    return to


@pytest.mark.parametrize("kind", ["zlib", "zstd", "zlib-gnu"])
def test_compressed_debug_information(kind, program, inlined, symbols, tmp_path):
    """zstd also where libelf does not expand it: that of elfutils before 0.189. The form of GNU is
    older than the flag; Go wrote it until 1.18."""
    packed = compressed(program, tmp_path / "app", kind)
    address = BASE + inlined
    plain = chain(symbols.frames([mapped(program), hit(address)], "--lines")[0][0])
    frame = symbols.frames([mapped(packed), hit(address)], "--lines")[0][0]
    assert chain(frame) == plain and len(plain) == 2


# --- the tool -----------------------------------------------------------------------------------

def test_threads_and_sandbox_change_nothing(program, symbols, run_pdecode):
    start, size = symbol(program, "main")
    symbols.write([mapped(program)] + [hit(BASE + start + i % size) for i in range(3000)])
    one, *others = [run_pdecode(["-f", "jsonl", "--symbols", *options, symbols.path]).stdout
                    for options in (["-j1"], ["-j4"], ["-j2", "--sandbox=never"])]
    assert b'"symbol":"main"' in one and all(other == one for other in others)


def test_more_addresses_than_are_found_without_a_lock(symbols, run_pdecode, tmp_path):
    source, path = tmp_path / "many.s", tmp_path / "many"
    source.write_text("".join(f".globl f{i}\n.type f{i}, @function\nf{i}: .skip 64, 0x90\n"
                              f".size f{i}, 64\n" for i in range(400)) +
                      ".globl main\nmain: ret\n.section .note.GNU-stack,\"\",@progbits\n")
    subprocess.run(["gcc", "-o", path, source], check=True)
    starts = [symbol(path, f"f{i}")[0] for i in (0, 399)]
    assert starts[1] - starts[0] == 399 * 64
    places = [(i, at) for at in range(24) for i in range(400)]
    symbols.write([mapped(path)] + [hit(BASE + starts[0] + 64 * i + at)
                                    for i, at in places + places[::-1]])
    for jobs in ("-j1", "-j3"):
        done = run_pdecode(["-f", "jsonl", "--symbols", "--types", "SAMPLE", jobs, symbols.path])
        lines = [line for line in map(json.loads, done.stdout.splitlines())
                 if line.get("type") == "SAMPLE"]
        found = [(line["frames"][0]["symbol"], line["frames"][0].get("offset", 0))
                 for line in lines]
        assert found == [(f"f{i}", at) for i, at in places + places[::-1]]


def test_resolve_is_a_part_of_it(program, symbols, run_pdecode):
    """Names only add keys; without the option, there are none."""
    start, _ = symbol(program, "outer")
    symbols.lines([mapped(program), hit(BASE + start)])
    added = {"symbol", "offset", "inlined", "match", "file", "sources", "named"}

    def without(value):
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items()
                    if k not in added or k == "offset" and "type" in value}
        return [without(v) for v in value] if isinstance(value, list) else value

    named, plain = [json.loads(run_pdecode([option, symbols.path]).stdout)
                    for option in ("--symbols", "--resolve")]
    assert named["summary"].pop("frames") == {"total": 1, "named": 1}
    assert named != plain and without(named) == without(plain)


@pytest.mark.parametrize("options, words", [
    (["--symbols=short"], "must be full"), (["--symbols", "-f", "stats"], "applies to records"),
    (["--symbols", "--lines", "--no-inline"], "does not read"),
    (["--symbols", "--prefix-map", "/a=/b"], "'--prefix-map' needs '--lines'"),
    (["--symbols", "--lines", "--prefix-map", "/a"], "needs OLD=NEW, not '/a'")])
def test_wrong_options(options, words, run_pdecode, tmp_path):
    done = run_pdecode([*options, tmp_path / "none"])
    assert done.returncode == 2 and words in done.stderr.decode()


def files(frames):
    return {place.get("file") for frame in frames
            for part in frame for place in [part, *part.get("inlined", [])]}


@pytest.mark.sanitize
def test_beginnings_of_source_files(program, symbols):
    """The last that fits counts, as for -ffile-prefix-map of the compilers; others stay."""
    start, size = symbol(program, "outer")
    top = str(program.parent)
    records = [mapped(program)] + [hit(BASE + start + i) for i in range(size)]
    assert files(symbols.frames(records, "--lines")) == {f"{top}/p.c"}
    for given, want in (([f"{top}=/src"], "/src/p.c"), ([f"{top}/="], "p.c"),
                        ([f"{top}=/one", f"{top}/p=/two/q=r"], "/two/q=r.c"),
                        ([f"{top}/p=/two/q", f"{top}=/one"], "/one/p.c"),
                        (["/nowhere=/x"], f"{top}/p.c"), (["/none=", "=x"], f"x{top}/p.c")):
        options = [word for one in given for word in ("--prefix-map", one)]
        assert files(symbols.frames(records, "--lines", *options)) == {want}


def test_names_alone(program, symbols):
    """--symbols=names: the functions that the full form has, and nothing else."""
    start, size = symbol(program, "outer")
    records = [mapped(program), hit(*(BASE + start + i for i in range(0, size, 3)))]
    full, = symbols.frames(records)
    names, = symbols.frames(records, "--symbols=names")
    assert [(f["addr"], f["symbol"], f.get("inlined")) for f in full] == [
        (f.pop("addr"), f.pop("symbol"), f.pop("inlined", None)) for f in names]
    assert not any(names)


# --- totals -------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", ["full", "table", "names"])
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_totals_by_reason(program, tmp_path, run_pdecode, form, jobs):
    """The summary counts what the frames say, and standard error names the worst images."""
    other = tmp_path / "gone"
    start = BASE + symbol(program, "outer")[0]
    gap = BASE + 0x1000_0000
    sid = sample_id(EVENT, pid=7, tid=7, time=1)
    away = r.mmap2_build_id(7, 7, gap, 0x1000, 0, b"\x01" * 20, 5, 2, str(other), sid=sid)
    records = [mapped(program), away]
    records += [hit(start + i % 3, gap + 5, 0x99, start + 1) for i in range(40)]
    path = tmp_path / "t.data"
    path.write_bytes(File(attrs=[(EVENT, [1])], records=records).build("<"))
    done = run_pdecode(["-f", "jsonl", f"--symbols={form}", "-j", jobs, path])
    lines = strict_json_lines(done.stdout)
    wrong = [text for line in lines for text in complaints("line.schema.json", line)]
    assert not wrong, wrong[:5]
    total = next(line["frames"] for line in lines if line["kind"] == "summary")
    assert total == {"total": 160, "named": 80, "why": {"NO_MAP": 40, "NO_FILE": 40}}
    images = {line["path"]: (line["frames"], line["named"]) for line in lines
              if line["kind"] == "image"}
    assert images == {str(program): (80, 80), str(other): (40, 0)}
    first, second = done.stderr.decode().splitlines()
    assert first.startswith(f"pdecode: {path}: 80 of 160 frames have no name, 40 of them")
    assert first.endswith("because of NO_MAP; chains by frame pointers get lost in code without "
                          "them: record with precord --call-graph dwarf, or JIT code with them: "
                          "java -XX:+PreserveFramePointer")
    assert f"40 frames without a name in {other}, NO_FILE; " in second and "--debug-dir" in second
    assert done.returncode == 0


def test_all_have_names(program, tmp_path, run_pdecode):
    start = BASE + symbol(program, "outer")[0]
    path = tmp_path / "t.data"
    path.write_bytes(File(attrs=[(EVENT, [1])],
                          records=[mapped(program), hit(start)]).build("<"))
    for options in (["--symbols"], ["--resolve"]):
        done = run_pdecode([*options, path])
        assert done.stderr == b""
        assert json.loads(done.stdout)["summary"].get("frames") == (
            {"total": 1, "named": 1} if "--symbols" in options else None)
