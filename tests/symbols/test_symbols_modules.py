"""Kernel modules: names of their files, where there is no kallsyms of the recorded kernel."""
import gzip
import lzma
import shutil
import subprocess

import pytest

from elf_oracle import functions
from perfdata import records as r
from perfdata.sample import sample_id
from test_symbols import EVENT, IN_KERNEL, KALLSYMS, KERNEL, build_id, hit, reason
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
