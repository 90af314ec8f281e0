"""Sections of simpleperf's symbols: features SIMPLEPERF_FILE and SIMPLEPERF_FILE2."""
from perfdata.wire import encode, u32, u64

FILE, FILE2 = 128, 132
KERNEL_FILE, MODULE, ELF, DEX, UNKNOWN = 0, 1, 2, 3, 5
VARINT, BYTES = 0, 2


def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def message(*fields):
    """(number, value): a number, which is left out if it is 0, or bytes."""
    return b"".join(varint(number << 3 | BYTES) + varint(len(value)) + value
                    if isinstance(value, bytes) else varint(number << 3 | VARINT) + varint(value)
                    for number, value in fields if value != 0)


def protobuf(path, kind, vaddr, symbols, offset):
    more = [(6 if kind == ELF else 7, message((1, offset)))] if offset is not None else []
    return message((1, path), (2, kind), (3, vaddr),
                   *((4, message((1, start), (2, size), (3, name)))
                     for start, size, name in symbols), *more)


def plain(path, kind, vaddr, symbols, offset):
    return [path, b"\0", u32(kind), u64(vaddr), u32(len(symbols)),
            *(part for start, size, name in symbols
              for part in (u64(start), u32(size), name, b"\0")),
            *([u32(0)] if kind == DEX else []), *([u64(offset)] if offset is not None else [])]


def section(number, files):
    """files: (path, type, address of its code, (start, size, name) of symbols, offset of its code
    in the file or None)."""

    def make(wire):
        entries = [encode((plain if number == FILE else protobuf)(*file), wire) for file in files]
        return [part for entry in entries for part in (u32(len(entry)), entry)]

    return make
