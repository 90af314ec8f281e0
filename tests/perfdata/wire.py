"""The smallest pieces: numbers, texts and bit-fields as bytes, in either byte order.

A Part is bytes, a function that takes a Wire and returns a Part, or a list of Parts.  Nothing is
encoded before the whole file is, so one description gives the file in both byte orders:

    part = [u32(7), text8("ls"), bits(64, (0, 1, 1))]
    encode(part, Wire("<"))
    encode(part, Wire(">"))
"""

import struct
from typing import NamedTuple


class Wire(NamedTuple):
    """The recording machine: its byte order and its sizeof(long)."""

    order: str = "<"
    long_size: int = 8


def encode(part, wire):
    """The bytes of a Part on this machine."""
    while callable(part):
        part = part(wire)
    if isinstance(part, (bytes, bytearray)):
        return bytes(part)
    return b"".join([encode(p, wire) for p in part])


def _numbers(code, width):
    mask = (1 << width) - 1

    def make(*values):
        def part(wire):
            form = f"{wire.order}{len(values)}{code}"
            try:
                return struct.pack(form, *values)
            except struct.error:    # masked, so that a test can say -1 where the field is unsigned
                return struct.pack(form, *(v & mask for v in values))
        return part

    make.__doc__ = f"{width}-bit numbers; negative ones in two's complement."
    return make


u8 = _numbers("B", 8)
u16 = _numbers("H", 16)
u32 = _numbers("I", 32)
u64 = _numbers("Q", 64)


def f64(value):
    """An IEEE double."""
    return lambda wire: struct.pack(f"{wire.order}d", value)


def bits(width, *fields):
    """A C bit-field word.  Each field is (offset, width, value), offset as a little-endian compiler
    counts it; a big-endian one lays the same fields out from the most significant bit."""

    def make(wire):
        word = 0
        for offset, length, value in fields:
            value &= (1 << length) - 1
            word |= value << (offset if wire.order == "<" else width - offset - length)
        return word.to_bytes(width // 8, "little" if wire.order == "<" else "big")

    return make


def raw_text(text):
    """The bytes of a str, or bytes as they are: some names are not UTF-8."""
    return text if isinstance(text, bytes) else text.encode()


def pad_to(data, step):
    """The bytes, followed by zeros up to a multiple of step."""
    return data + bytes(-len(data) % step)


def text8(text):
    """NUL-terminated, zero-filled to 8: the strings at the end of kernel records."""
    return pad_to(raw_text(text) + b"\0", 8)


def fixed(text, size):
    """A char array of a fixed size."""
    data = raw_text(text)
    assert len(data) <= size
    return data.ljust(size, b"\0")


def fstr(text, step=64):
    """A feature section's string: u32 length (with the padding), then the text."""
    data = pad_to(raw_text(text) + b"\0", step)
    return [u32(len(data)), data]


def slist(texts, step=64):
    """A feature section's list of strings."""
    return [u32(len(texts)), [fstr(t, step) for t in texts]]
