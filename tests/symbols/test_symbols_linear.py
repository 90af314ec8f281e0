"""Names of hostile ELF files, each twice the size of the one before: no table of a file costs more
than linear time."""
import struct

import pytest

from conftest import TOOLS
from growth import LEAST, Files, check_growth, seconds, times_of
from perfdata import records as r
from perfdata.container import File
from perfdata.sample import sample_id
from test_symbols import BASE, EVENT, hit

PROGBITS, SYMTAB, STRTAB, RELA, NOTE, DYNSYM, X86_64_UNWIND = 1, 2, 3, 4, 7, 11, 0x70000001
ALLOC, EXECUTABLE = 2, 4
CODE, SIZE = 0x1000, 0x4000000      # addresses of code
BUILD_ID = bytes(range(20))
HEADER, PROGRAM_HEADER, SECTION_HEADER = 64, 56, 64
FUNCTION, GLOBAL_FUNCTION = 2, 0x12
LARGEST = 160000
PER_SECTION = 3     # no file has more than 65,279 sections


def note(name, kind, text):
    padded = name + b"\0" * (-len(name) % 4)
    return struct.pack("<III", len(name), len(text), kind) + padded + text


IDENTITY = note(b"GNU\0", 3, BUILD_ID)


class Elf:
    """Sections [(name, type, flags, address, bytes, size, link, info, size of an entry)] after the
    null section, and program headers of the code and of the notes."""

    def __init__(self, notes=IDENTITY):
        self.notes, self.sections, self.names = notes, [], bytearray(b"\0")
        self.add(b".text", PROGBITS, ALLOC | EXECUTABLE, CODE, size=SIZE)
        self.add(b".note", NOTE, ALLOC, data=notes)

    def add(self, name, kind, flags=0, address=0, data=b"", size=None, link=0, info=0, entry=0):
        at = len(self.names)
        self.names += name + b"\0"
        self.sections.append((at, kind, flags, address, data,
                              len(data) if size is None else size, link, info, entry))
        return len(self.sections)

    def symbols(self, names, symbols, kind=SYMTAB):
        """[(name's offset, info, section, value, size)]"""
        table = bytes(24) + b"".join(struct.pack("<IBBHQQ", at, info, 0, section, value, size)
                                     for at, info, section, value, size in symbols)
        link = self.add(b".strtab", STRTAB, data=names)
        return self.add(b".symtab", kind, data=table, link=link, info=1, entry=24)

    def build(self):
        index = self.add(b".shstrtab", STRTAB) - 1
        self.sections[index] = (*self.sections[index][:4], bytes(self.names), len(self.names),
                                0, 0, 0)
        body, headers = bytearray(), [bytes(SECTION_HEADER)]
        start = HEADER + 2 * PROGRAM_HEADER
        for name, kind, flags, address, data, size, link, info, entry in self.sections:
            body += bytes(-len(body) % 8)
            offset = start + len(body) if data else CODE
            headers.append(struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size,
                                       link, info, 4 if kind == NOTE else 8, entry))
            body += data
        body += bytes(max(0, SIZE // 0x1000 - len(body)))
        body += bytes(-len(body) % 8)
        header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, CODE, HEADER, start + len(body), 0, HEADER,
            PROGRAM_HEADER, 2, SECTION_HEADER, len(headers), index + 1)
        code = struct.pack("<IIQQQQQQ", 1, 5, CODE, CODE, CODE, SIZE, SIZE, 0x1000)
        notes = struct.pack("<IIQQQQQQ", 4, 4, start, 0, 0, len(self.notes), len(self.notes), 4)
        return header + code + notes + body + b"".join(headers)


def places(n):
    """Addresses of n functions."""
    return [CODE + 16 * i for i in range(n)]


def with_symbols(n, symbol, names=None, kind=SYMTAB):
    elf = Elf()
    text = b"\0" + b"".join(b"f%07d\0" % i for i in range(n)) if names is None else names
    elf.symbols(text, [symbol(i, at) for i, at in enumerate(places(n))], kind)
    return elf.build()


def sections(n):
    elf = Elf()
    for i in range(n // PER_SECTION):
        elf.add(b".s%d" % i, PROGBITS, ALLOC)
    elf.symbols(b"\0f\0", [(1, FUNCTION, 1, CODE, 16)])
    return elf.build()


def sections_over_each_other(n):
    elf = Elf()
    nr = n // PER_SECTION + 1
    for i in range(nr):
        elf.add(b".text", PROGBITS, ALLOC | EXECUTABLE, CODE + i, size=SIZE)
    elf.symbols(b"\0f\0", [(1, FUNCTION, 1 + i % nr, at, 0) for i, at in enumerate(places(n))])
    return elf.build()


def symbol_tables(n):
    """Each is read, or none is."""
    elf = Elf()
    for i in range(n // PER_SECTION // 2):
        elf.symbols(b"\0f\0", [(1, FUNCTION, 1, CODE + 16 * i, 16)], (SYMTAB, DYNSYM)[i % 2])
    return elf.build()


def stubs(n):
    """Calls of functions in libraries."""
    elf = Elf()
    names = b"\0" + b"".join(b"f%07d\0" % i for i in range(n))
    dynamic = elf.symbols(names, [(1 + 9 * i, GLOBAL_FUNCTION, 0, 0, 0) for i in range(n)], DYNSYM)
    code = b"".join(struct.pack("<HI10x", 0x25ff, 0x8000000 + 8 * i - at - 6)
                    for i, at in enumerate(places(n)))
    elf.add(b".plt", PROGBITS, ALLOC | EXECUTABLE, CODE, data=code, entry=16)
    elf.add(b".got.plt", PROGBITS, ALLOC, 0x8000000, size=8 * n)
    table = b"".join(struct.pack("<QQq", 0x8000000 + 8 * i, (i + 1) << 32 | 7, 0)
                     for i in range(n))
    elf.add(b".rela.plt", RELA, ALLOC, data=table, link=dynamic, info=dynamic + 1, entry=24)
    return elf.build()


def frames(n, start=lambda i: CODE + 16 * i, size=lambda i: 16, cies=1):
    """Call frame information of functions without names."""
    elf, text, where = Elf(), bytearray(), 0x10000000
    cie = struct.pack("<IIB", 16, 0, 1) + b"zR\0\1\x78\x10\1\x1b" + bytes(3)
    for i in range(n):
        if i < cies:
            first = len(text)
            text += cie
        at = len(text)
        text += struct.pack("<IIiIB3x", 16, at + 4 - first, start(i) - (where + at + 8), size(i), 0)
    elf.add(b".eh_frame", X86_64_UNWIND, ALLOC, where, bytes(text) + bytes(4))
    return elf.build()


KINDS = {
    "sections": sections,
    "sections over each other": sections_over_each_other,
    "symbol tables": symbol_tables,
    "notes": lambda n: Elf(note(b"GNU\0", 4, b"") * n + IDENTITY).build(),
    "functions": lambda n: with_symbols(n, lambda i, at: (1 + 9 * i, FUNCTION, 1, at, 16)),
    "falling": lambda n: with_symbols(
        n, lambda i, at: (1 + 9 * i, FUNCTION, 1, CODE + 16 * (n - i), 16)),
    "without sizes": lambda n: with_symbols(n, lambda i, at: (1 + 9 * i, FUNCTION, 1, at, 0)),
    "aliases": lambda n: with_symbols(
        n, lambda i, at: (1 + 9 * i, GLOBAL_FUNCTION - 16 * (i % 2), 1, CODE, 16)),
    "in each other": lambda n: with_symbols(
        n, lambda i, at: (1 + 9 * i, FUNCTION, 1, at, 32 * (n - i))),
    "over each other": lambda n: with_symbols(
        n, lambda i, at: (1 + 9 * i, FUNCTION, 1, at, 16 * n)),
    "ends of one name": lambda n: with_symbols(
        n, lambda i, at: (1 + 32 * i, FUNCTION, 1, at, 16), b"\0" + b"a" * 32 * n + b"\0"),
    "aliases with ends of one name": lambda n: with_symbols(
        n, lambda i, at: (1 + 32 * i, FUNCTION, 1, CODE, 16), b"\0" + b"a" * 32 * n + b"\0"),
    "dynamic": lambda n: with_symbols(
        n, lambda i, at: (1 + 9 * i, FUNCTION, 1, at, 16), kind=DYNSYM),
    "stubs": stubs,
    "frames": frames,
    "frames falling": lambda n: frames(n, lambda i: CODE + 16 * (n - i)),
    "frames over each other": lambda n: frames(n, size=lambda i: SIZE),
    "frames with CIEs": lambda n: frames(n, cies=n),
}


class Recordings(Files):
    """Recordings of samples in a file, which is made with each."""

    def of_size(self, n):
        path, app = self.directory / f"{n}.data", self.directory / f"{n}.elf"
        if not path.exists():
            app.write_bytes(self.make(n))
            sid = sample_id(EVENT, pid=7, tid=7, time=1)
            records = [r.mmap2_build_id(7, 7, BASE, SIZE, CODE, BUILD_ID, 5, 2, str(app), sid=sid),
                       *(hit(BASE + 16 * (i * n // 100) + 1) for i in range(100))]
            path.write_bytes(File(attrs=[(EVENT, [1])], records=records).build("<"))
        return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_twice_the_file_takes_twice_as_long(kind, tmp_path):
    files = Recordings(tmp_path, KINDS[kind])
    command = [TOOLS / "pdecode", "-f", "jsonl", "--symbols=names", "--lines", "-o", "/dev/null"]
    startup = min(seconds([*command, files.of_size(8)]) for _ in range(3))
    n = 10000
    while seconds([*command, files.of_size(n)]) - startup < LEAST and 4 * n < LARGEST:
        n *= 2
    paths = [files.of_size(factor * n) for factor in (1, 2, 4)]
    times = times_of(command, paths, startup)
    check_growth(command, paths, times, tmp_path)
