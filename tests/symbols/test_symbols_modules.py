"""Kernel modules: names of their files, where there is no kallsyms of the recorded kernel."""
import gzip
import lzma
import random
import re
import shutil
import struct
import subprocess

import pytest

from elf_oracle import functions
from perfdata import records as r
from perfdata.sample import sample_id
from test_symbols import EVENT, IN_KERNEL, KALLSYMS, KERNEL, build_id, chain, hit, reason
from test_symbols import symbols as symbols_fixture

symbols = symbols_fixture       # a fixture

MODULE = 0xffffffffc0400000
NAME = "/lib/modules/9.9.9-none/kernel/drivers/mine.ko"
SOURCE = """
__attribute__((section(".init.text"))) int starts(int x) { return x - 1; }
__attribute__((noinline)) int first(int x) { return x * 3; }
__attribute__((noinline)) static int second(int x) { return first(x) ^ x; }
__attribute__((section(".text.unlikely"))) int seldom(int x) { return second(x) + 5; }
"""


def make_module(path, source=SOURCE, layout=None):
    """A relocatable file with a build id, as the kernel's build makes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "m.c").write_text(source)
    plain = path.parent / "m.o"
    subprocess.run(["gcc", "-O1", "-c", "-fno-asynchronous-unwind-tables", "-o", plain,
                    path.parent / "m.c"], check=True)
    script = path.parent / "layout"
    script.write_text(layout or "")
    subprocess.run(["ld", "-r", "--build-id=sha1", *(["-T", script] if layout else []), "-o", path,
                    plain], check=True)
    return path


def installed(module, root):
    """Copies the module to its place below a root."""
    to = root / NAME[1:]
    to.parent.mkdir(parents=True)
    return shutil.copy(module, to)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return make_module(tmp_path_factory.mktemp("module") / "mine.ko")


def loaded(path, recorded=None, name=NAME):
    """A module's map: its length is that of all its memory."""
    return r.mmap2_build_id(-1, 0, MODULE, 0x8000, 0, recorded or build_id(path), 5, 2, name,
                            misc=IN_KERNEL, sid=sample_id(EVENT))


def place(path, name):
    """The offset of a function in its section, which is the first with code."""
    return next(row[0] for row in functions(path, ".symtab", "SYMTAB") if row[5] == name)


def pack(data, ending):
    if ending == ".zst":
        if not shutil.which("zstd"):
            pytest.skip("no zstd here")
        return subprocess.run(["zstd", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return {"": bytes, ".xz": lzma.compress, ".gz": gzip.compress}[ending](data)


@pytest.mark.sanitize
@pytest.mark.parametrize("ending", ["", ".xz", ".zst", ".gz"])
@pytest.mark.parametrize("recorded", ["", ".xz"])
@pytest.mark.parametrize("option", ["--sysroot", "--debug-dir"])
def test_by_path(ending, recorded, option, module, symbols, tmp_path):
    """However it is compressed there, and was on the recorded machine."""
    to = tmp_path / "tree" / (NAME[1:] + ending)
    to.parent.mkdir(parents=True)
    to.write_bytes(pack(module.read_bytes(), ending))
    records = [loaded(module, name=NAME + recorded)]
    records += [hit(MODULE + place(module, name) + 2, misc=IN_KERNEL) for name in
                ("first", "second")]
    frames = symbols.frames(records, option, tmp_path / "tree")
    assert [(frame["symbol"], frame["offset"]) for (frame,) in frames] == [
        ("first", 2), ("second", 2)]
    image = symbols.images(records, option, tmp_path / "tree")[0]
    assert image["match"] == "BUILD_ID" and str(to).endswith(image["file"])
    assert reason(symbols, records) == "NO_KERNEL"


@pytest.mark.sanitize
def test_by_build_id(module, symbols, tmp_path):
    """As perf keeps it; the recording has only a name then."""
    identity = build_id(module).hex()
    to = tmp_path / "tree" / ".build-id" / identity[:2] / identity[2:]
    to.mkdir(parents=True)
    shutil.copy(module, to / "elf")
    records = [loaded(module, name="[mine]"),
               hit(MODULE + place(module, "second"), misc=IN_KERNEL)]
    assert reason(symbols, records, "--debug-dir", tmp_path / "tree") == "second"


@pytest.mark.sanitize
def test_another_build_is_not_used(module, symbols, tmp_path):
    make_module(tmp_path / NAME[1:], SOURCE.replace("* 3", "* 5"))
    records = [loaded(module), hit(MODULE + place(module, "second"), misc=IN_KERNEL)]
    assert reason(symbols, records, "--sysroot", tmp_path) == "MISMATCH"


@pytest.mark.sanitize
def test_only_the_first_section_has_a_known_place(module, symbols, tmp_path):
    """Other sections follow in an order that depends on the kernel."""
    to = installed(module, tmp_path)
    rows = {row[5]: row for row in functions(module, ".symtab", "SYMTAB")}
    end = max(rows[name][0] + rows[name][1] for name in ("first", "second"))
    records = [loaded(module), hit(MODULE + end - 1, misc=IN_KERNEL),
               hit(MODULE + end + 8, misc=IN_KERNEL)]
    (last,), (next_section,) = symbols.frames(records, "--sysroot", tmp_path)
    assert last["symbol"] in ("first", "second") and next_section["why"] == "NO_SYMBOL"
    layout = "SECTIONS { .text.unlikely 0 : { *(.text.unlikely) } .text 0 : { *(.text) } }"
    make_module(to, layout=layout)
    records = [loaded(to), hit(MODULE, misc=IN_KERNEL)]
    assert reason(symbols, records, "--sysroot", tmp_path) == "NO_SYMBOL"


@pytest.mark.sanitize
def test_kallsyms_come_first(module, symbols, tmp_path):
    """They have all sections, as the kernel placed them."""
    to = installed(module, tmp_path)
    kallsyms = tmp_path / "kallsyms"
    kallsyms.write_text(KALLSYMS + f"{MODULE:x} t placed\t[mine]\n")
    kernel = r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sample_id(EVENT))
    records = [kernel, loaded(module), hit(MODULE + 1, misc=IN_KERNEL)]
    assert reason(symbols, records, "--sysroot", tmp_path) == "first"
    assert reason(symbols, records, "--sysroot", tmp_path, "--kallsyms", kallsyms) == "placed"


@pytest.mark.sanitize
@pytest.mark.parametrize("ending", [".xz", ".zst", ".gz"])
def test_damaged_files(ending, module, symbols, tmp_path):
    """A file that does not expand, or to something else, is not used."""
    to = tmp_path / (NAME[1:] + ending)
    to.parent.mkdir(parents=True)
    data = pack(module.read_bytes(), ending)
    records = [loaded(module), hit(MODULE, misc=IN_KERNEL)]
    for wrong in (data[:-20], data[:40] + bytes(40) + data[80:], pack(b"text" * 1000, ending)):
        to.write_bytes(wrong)
        assert reason(symbols, records, "--sysroot", tmp_path) in (
            "NOT_ELF", "BAD_FILE", "NO_KERNEL", "MISMATCH")
    to.write_bytes(data)
    assert reason(symbols, records, "--sysroot", tmp_path) == "first"


# --- lines --------------------------------------------------------------------------------------

LINES = """
static inline __attribute__((always_inline)) int inner(int x)
{
	return x * x + 3;
}

__attribute__((noinline)) int first(int x)
{
	return inner(x + 1) ^ x;
}

__attribute__((noinline)) static int twice(int x)
{
	return x * 2;
}

__attribute__((section(".text.unlikely"), noinline)) int seldom(int x)
{
	return inner(x) + twice(x);
}
"""
KERNEL_MAP = r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                    sid=sample_id(EVENT))
SELDOM = 0x4000     # where the kernel puts it


def make_with_lines(where, *options, machine=("gcc", "ld")):
    """A module with debug information: its addresses are in relocations."""
    compiler, linker = machine
    (where / "m.c").write_text(LINES)
    subprocess.run([compiler, "-O2", "-g", "-c", "-fno-asynchronous-unwind-tables", *options, "-o",
                    where / "m.o", where / "m.c"], check=True)
    subprocess.run([linker, "-r", "--build-id=sha1", "-o", where / "mine.ko", where / "m.o"],
                   check=True)
    return where / "mine.ko"


def section_of(path, name):
    """(section, offset in it, size) of a function."""
    text = subprocess.run(["readelf", "-sW", path], stdout=subprocess.PIPE, text=True).stdout
    row = next(line.split() for line in text.splitlines() if line.split()[7:8] == [name])
    text = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, text=True).stdout
    sections = dict(re.findall(r"\[ *(\d+)\] (\S+)", text))
    return sections[row[6]], int(row[1], 16), int(row[2], 0)


def by_addr2line(path, section, offset):
    """[(function, file, line)], innermost first."""
    done = subprocess.run(["addr2line", "-fi", "-j", section, "-e", path, hex(offset)],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = re.sub(r" \(discriminator \d+\)", "", done.stdout).splitlines()
    return [(name, *place.rsplit(":", 1)) for name, place in zip(rows[::2], rows[1::2])]


def by_kallsyms(path, tmp_path):
    """Records of a sample at each instruction of two functions, one of which the kernel put
    elsewhere; the option; and the answers of addr2line."""
    kallsyms = tmp_path / "kallsyms"
    text, records, expected = KALLSYMS, [KERNEL_MAP, loaded(path)], []
    for name, at in (("first", 0x200), ("seldom", SELDOM)):
        section, start, size = section_of(path, name)
        text += f"{MODULE + at:x} t {name}\t[mine]\n{MODULE + at + size:x} t .\t[mine]\n"
        for i in range(size):
            records.append(hit(MODULE + at + i, misc=IN_KERNEL))
            expected.append(by_addr2line(path, section, start + i))
    kallsyms.write_text(text)
    return records, ["--kallsyms", kallsyms, "--lines"], expected


@pytest.mark.sanitize
@pytest.mark.parametrize("options", [(), ("-gdwarf-4", ), ("-gz=zlib", ), ("-m32", )],
                         ids=["dwarf5", "dwarf4", "compressed", "i386"])
def test_lines(options, symbols, tmp_path):
    """Also in sections that the kernel placed elsewhere: kallsyms tells where a function is."""
    linker = tmp_path / "ld"
    linker.write_text("#!/bin/sh\nexec ld " + ("-melf_i386 " if options == ("-m32", ) else "") +
                      '"$@"\n')
    linker.chmod(0o755)
    path = make_with_lines(tmp_path, *options, machine=("gcc", linker))
    installed(path, tmp_path / "root")
    records, known, expected = by_kallsyms(path, tmp_path)
    frames = symbols.frames(records, *known, "--sysroot", tmp_path / "root")
    assert [chain(frame) for (frame, ) in frames] == expected
    assert max(map(len, expected)) == 2 and {row[-1][0] for row in expected} == {"first", "seldom"}
    unknown = symbols.frames(records, *known)
    assert [frame["symbol"] for (frame, ) in unknown] == [row[-1][0] for row in expected]
    assert not any("line" in frame for (frame, ) in unknown)
    image = symbols.images(records, *known, "--sysroot", tmp_path / "root")[1]
    assert image["match"] == "BUILD_ID" and "KALLSYMS" in image["sources"]


@pytest.mark.sanitize
@pytest.mark.parametrize("ending", ["", ".xz"])
@pytest.mark.parametrize("compressed", [[], ["--compress-debug-sections=zlib"],
                                        ["--compress-debug-sections=zstd"]])
def test_lines_of_a_debug_file(ending, compressed, symbols, tmp_path):
    """Its sections are at other offsets than those of the module."""
    whole = make_with_lines(tmp_path)
    identity = build_id(whole).hex()
    debug = tmp_path / "debug" / ".build-id" / identity[:2] / (identity[2:] + ".debug")
    debug.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", *compressed, whole, debug], check=True)
    module = tmp_path / "root" / (NAME[1:] + ending)
    module.parent.mkdir(parents=True)
    subprocess.run(["strip", "--strip-debug", "-o", tmp_path / "stripped", whole], check=True)
    module.write_bytes(pack((tmp_path / "stripped").read_bytes(), ending))
    records, known, expected = by_kallsyms(whole, tmp_path)
    options = [*known, "--sysroot", tmp_path / "root", "--debug-dir", tmp_path / "debug"]
    assert [chain(frame) for (frame, ) in symbols.frames(records, *options)] == expected
    assert symbols.images(records, *options)[1]["debug_file"] == str(debug)
    other = make_with_lines(tmp_path, "-DOTHER", "-O1")
    subprocess.run(["objcopy", "--only-keep-debug", other, debug], check=True)
    assert not any("line" in frame for (frame, ) in symbols.frames(records, *options))


@pytest.mark.sanitize
def test_lines_without_kallsyms(symbols, tmp_path):
    """Only one section has a known place."""
    path = make_with_lines(tmp_path)
    installed(path, tmp_path / "root")
    section, start, size = section_of(path, "first")
    assert section == ".text"
    records = [loaded(path)] + [hit(MODULE + start + i, misc=IN_KERNEL) for i in range(size)]
    frames = symbols.frames(records, "--sysroot", tmp_path / "root", "--lines")
    assert [chain(frame) for (frame, ) in frames] == [
        by_addr2line(path, section, start + i) for i in range(size)]


@pytest.mark.sanitize
def test_functions_of_one_name_have_no_lines(symbols, tmp_path):
    """Two static functions: kallsyms does not tell which one it is."""
    (tmp_path / "two.c").write_text("static int seldom(int x)\n{\n\treturn x - 1;\n}\n"
                                    "int (*other)(int) = seldom;\n")
    one = make_with_lines(tmp_path)
    one.rename(tmp_path / "one.ko")
    subprocess.run(["gcc", "-O2", "-g", "-c", "-o", tmp_path / "two.o", tmp_path / "two.c"],
                   check=True)
    subprocess.run(["ld", "-r", "--build-id=sha1", "-o", one, tmp_path / "one.ko",
                    tmp_path / "two.o"], check=True)
    installed(one, tmp_path / "root")
    records, known, _ = by_kallsyms(one, tmp_path)
    for (frame, ) in symbols.frames(records, *known, "--sysroot", tmp_path / "root"):
        assert ("line" in frame) == (frame["symbol"] == "first")


@pytest.mark.sanitize
@pytest.mark.parametrize("machine", [["aarch64"], ["riscv64"], ["riscv64", "-mrelax"],
                                     ["riscv64", "-mno-relax"]], ids=" ".join)
def test_lines_of_other_machines(machine, symbols, tmp_path):
    """Those of riscv have distances as pairs of relocations."""
    if not shutil.which("clang"):
        pytest.skip("no clang here")
    path = tmp_path / "mine.ko"
    (tmp_path / "m.c").write_text(LINES + """
__asm__(".pushsection .note.gnu.build-id, \\"a\\", %note\\n.long 4, 20, 3\\n.asciz \\"GNU\\"\\n"
        ".rept 20\\n.byte 7\\n.endr\\n.popsection");
""")
    subprocess.run(["clang", f"--target={machine[0]}-linux-gnu", *machine[1:], "-O2", "-g", "-c",
                    "-o", path, tmp_path / "m.c"], check=True)
    installed(path, tmp_path / "root")
    _, start, size = section_of(path, "first")
    records = [loaded(path)] + [hit(MODULE + start + i, misc=IN_KERNEL) for i in range(0, size, 4)]
    frames = symbols.frames(records, "--sysroot", tmp_path / "root", "--lines")
    lines = LINES.splitlines()
    for (frame, ) in frames:
        assert frame["symbol"] == "first" and 7 <= frame["line"] <= 10
        for part in frame.get("inlined", []):
            assert part["symbol"] == "inner" and "x * x" in lines[part["line"] - 1]
    assert any("inlined" in frame for (frame, ) in frames)


@pytest.mark.sanitize
def test_damaged_relocations(symbols, tmp_path):
    """Names stay, and there are no lines: they could be those of other functions."""
    path = make_with_lines(tmp_path)
    to = installed(path, tmp_path / "root")
    records, known, expected = by_kallsyms(path, tmp_path)
    whole = path.read_bytes()
    text = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, text=True).stdout
    tables = re.findall(r"(\.rela\.debug_\w+)\s+RELA\s+\w+ (\w+) (\w+)", text)
    assert len(tables) > 3
    chance = random.Random(3)
    for name, offset, size in tables:
        data = bytearray(whole)
        at = int(offset, 16) + chance.randrange(int(size, 16) // 24) * 24
        data[at:at + 16] = struct.pack("<QII", *chance.choice(
            [(1 << 63, 10, 1), (0, 77, 1), (0, 10, 1 << 31), (2**64 - 2, 1, 1)]))
        to.write_bytes(data)
        frames = symbols.frames(records, *known, "--sysroot", tmp_path / "root")
        assert [frame["symbol"] for (frame, ) in frames] == [row[-1][0] for row in expected], name
        assert not any("line" in frame for (frame, ) in frames), name
