"""Each reason that a frame without a name can have, as a user meets it."""
import lzma
import os
import subprocess
import zlib

import pytest

from conftest import TIMEOUT, TOOLS
from perfdata import records as r
from perfdata.sample import sample, sample_id
from test_symbols import (BASE, EVENT, IN_KERNEL, KERNEL, SECOND, code_of, hit, mapped, reason)
from test_symbols import program as program_fixture
from test_symbols import symbols as symbols_fixture
from test_symbols_containers import namespaces_of, own_namespace
from test_symbols_modules import MODULE, NAME

program, symbols = program_fixture, symbols_fixture     # fixtures
IN_HYPERVISOR, HYPERVISOR_MARK = 3, 2**64 - 32
XZ_BLOCK, XZ_DICTIONARY = 12, 16    # offsets of the first block's header, and in it (flags, filter)


def sid(when=1):
    return sample_id(EVENT, pid=7, tid=7, time=when)


def kernel(address, pgoff):
    return r.mmap(-1, 0, address, 0x1000000, pgoff, "[kernel.kallsyms]_text", misc=IN_KERNEL,
                  sid=sample_id(EVENT))


def anonymous(name):
    return r.mmap2(7, 7, 0x10000, 0x1000, 0x10000, 0, 0, 0, 0, 7, 2, name, sid=sid())


@pytest.mark.parametrize("word, records", [
    ("NO_MAP", [anonymous("//anon"), hit(0x99)]),
    ("MAPS_LOST", [anonymous("//anon"), r.lost(1, 3, sid=sid(2)), hit(0x99)]),
    ("NO_PID", [anonymous("//anon"), hit(0x99, pid=8)]),
    ("JIT_NO_MAP", [anonymous("//anon"), hit(0x10010)]),
    ("NO_FILE", [anonymous("/nowhere/app"), hit(0x10010)]),
    ("KPTR_RESTRICT", [kernel(0, 0), hit(KERNEL, misc=IN_KERNEL)]),
    ("NO_KERNEL", [kernel(KERNEL, KERNEL), hit(KERNEL, misc=IN_KERNEL)]),
    ("HYPERVISOR", [sample(EVENT, IN_HYPERVISOR, ip=KERNEL, pid=7, tid=7, time=9 * SECOND,
                           callchain=[HYPERVISOR_MARK, KERNEL])]),
    ("FOREIGN_NAMESPACE", [own_namespace(), namespaces_of(7, 0xFEEDBEEF),
                           anonymous("/nowhere/app"), hit(0x10010)]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_words_of_the_recording(word, records, symbols):
    assert reason(symbols, records) == word


@pytest.mark.parametrize("path, help", [
    ("/nowhere/app", "; the file is not here; give a copy with --sysroot"),
    ("/nowhere/app (deleted)", "; only its processes had the file; precord that ends before"),
    ("/memfd:x (deleted)", "; only its processes had the file; precord that ends before"),
    ("[uprobes]", "; it is memory that the kernel maps, in no file"),
    ("[vdso32]", "; it is memory that the kernel maps, in no file")])
def test_help_where_the_file_is_gone(path, help, symbols):
    """pdecode and the table of preport say the same."""
    symbols.write([anonymous(path), hit(0x10010)])
    done = symbols.run(["--symbols", "-o", "/dev/null", symbols.path])
    assert f"1 frame without a name in {path}, NO_FILE{help}" in done.stderr.decode()
    table = subprocess.run([TOOLS / "preport", symbols.path], capture_output=True, timeout=TIMEOUT)
    assert f"no names for 100.0 %, in {path}: {help[2:]}" in table.stdout.decode()


def test_a_chain_that_leads_to_data(symbols):
    """No map of a compiler would help; the instruction pointer itself is in code."""
    data = r.mmap2(7, 7, 0x10000, 0x1000, 0x10000, 0, 0, 0, 0, 3, 2, "//anon", sid=sid(),
                   misc=0x2000 | 2)
    first, second = symbols.frames([data, hit(0x10010, 0x10020)])[0]
    assert (first["why"], second["why"]) == ("JIT_NO_MAP", "NO_MAP")


def test_another_build(program, symbols):
    assert reason(symbols, [mapped(program, bytes(range(20))), hit(BASE + 0x1000)]) == "MISMATCH"


def test_no_symbol_there(program, symbols):
    """The rest of the last page of the code has none."""
    offset, address, size = code_of(program)
    end = BASE + (address + size + 0xfff & ~0xfff) - 1
    assert reason(symbols, [mapped(program), hit(end)]) == "NO_SYMBOL"


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_stripped_program(dynamic, symbols, tmp_path):
    """Also if it has names that others may call."""
    path = tmp_path / "app"
    path.with_suffix(".c").write_text(
        "void seen(void) { }\n"
        "__attribute__((visibility(\"hidden\"))) void _start(void) { for (;;); }\n")
    subprocess.run(["gcc", "-nostdlib", "-s", "-fno-asynchronous-unwind-tables", "-o", path,
                    *(["-shared", "-fpic"] if dynamic else ["-static"]),
                    path.with_suffix(".c")], check=True)
    _, address, size = code_of(path)
    records = [mapped(path), hit(BASE + address + size - 1)]
    assert reason(symbols, records) == "NO_SYMBOLS"
    image, = symbols.images(records)
    assert ("DYNSYM" in image.get("sources", [])) == dynamic


def large_dictionary(packed):
    """The same with a dictionary of 4 GiB, which takes that much memory to unpack."""
    size = (packed[XZ_BLOCK] + 1) * 4
    header = bytearray(packed[XZ_BLOCK:XZ_BLOCK + size - 4])
    header[XZ_DICTIONARY - XZ_BLOCK] = 40
    return (packed[:XZ_BLOCK] + bytes(header) + zlib.crc32(header).to_bytes(4, "little") +
            packed[XZ_BLOCK + size:])


@pytest.mark.sanitize
@pytest.mark.parametrize("word, change", [
    ("NOT_ELF", bytes), ("BAD_FILE", lambda packed: packed[:-20]), ("LIMIT", large_dictionary)],
    ids=lambda value: value if isinstance(value, str) else "")
def test_words_of_a_packed_module(word, change, symbols, tmp_path):
    path = tmp_path / f"{NAME[1:]}.xz"
    path.parent.mkdir(parents=True)
    path.write_bytes(change(lzma.compress(os.urandom(5000) + b"text" * 1000)))
    records = [r.mmap(-1, 0, MODULE, 0x8000, 0, NAME, misc=IN_KERNEL, sid=sample_id(EVENT)),
               hit(MODULE, misc=IN_KERNEL)]
    status = word == "LIMIT"
    assert reason(symbols, records, "--sysroot", tmp_path, status=status) == word


@pytest.mark.sanitize
@pytest.mark.parametrize("memory, word", [("16M", "LIMIT"), ("200M", "NOT_ELF")])
@pytest.mark.parametrize("ending", [".xz", ".zst"])
def test_memory_of_a_decoder_counts(ending, memory, word, symbols, tmp_path):
    """Dictionaries of 32 MiB."""
    path = tmp_path / f"{NAME[1:]}{ending}"
    path.parent.mkdir(parents=True)
    if ending == ".xz":
        path.write_bytes(lzma.compress(os.urandom(5000), filters=[
            {"id": lzma.FILTER_LZMA2, "dict_size": 32 << 20}]))
    else:
        path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([(25 - 10) << 3]) +
                         b"\x21\x00\x00text")       # no size; one block as it is, the last one
    records = [r.mmap(-1, 0, MODULE, 0x8000, 0, NAME, misc=IN_KERNEL, sid=sample_id(EVENT)),
               hit(MODULE, misc=IN_KERNEL)]
    assert reason(symbols, records, "--sysroot", tmp_path, "--memory", memory,
                  status=word == "LIMIT") == word
