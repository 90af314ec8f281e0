"""COMPRESSED and COMPRESSED2 records taken apart and put together again.

All of them in one stream are one zstd stream, flushed for each record and never ended.
"""

import struct

from . import zstd
from .swap_records import COMPRESSED, COMPRESSED2


class NotSwappable(Exception):
    """The file can't be turned round; the text says why."""


class _Codec:
    """One zstd stream taken in and another given out, a record at a time."""

    def __init__(self):
        self.into, self.outof = zstd.Decompressor(), zstd.Compressor()

    def expand(self, data):
        try:
            return self.into.decompress(data)
        except zstd.Error as problem:
            raise NotSwappable(f"zstd: {problem}") from problem

    def compress(self, data):
        return self.outof.compress(data)


def _compressed_payload(data, order, start, type, size):
    if type == COMPRESSED:
        return data[start + 8 : start + size]
    (length,) = struct.unpack_from(order + "Q", data, start + 8)
    return data[start + 16 : start + 16 + length]


def expand(data, order, records):
    """The decompressed stream, and how many bytes of it each COMPRESSED record gives."""
    codec, chunks = _Codec(), []
    for start, type, size, _ in records:
        if type in (COMPRESSED, COMPRESSED2):
            chunks.append(codec.expand(_compressed_payload(data, order, start, type, size)))
    return chunks


def _wrap(order, type, misc, payload):
    if type == COMPRESSED:
        return struct.pack(order + "IHH", type, misc, 8 + len(payload)) + payload
    size = 16 + len(payload) + 7 & ~7
    head = struct.pack(order + "IHHQ", type, misc, size, len(payload))
    return (head + payload).ljust(size, b"\0")


def recompress(data, order, report, turned):
    """The stream with each COMPRESSED record's content replaced by `turned`, cut at the same
    places, still in the old order outside.  Returns it and [(old start, new start)]."""
    codec, out, places, at, here = _Codec(), bytearray(), [], 0, report.records[0][0]
    chunk = iter(expand(data, order, report.records))
    for start, type, size, extra in report.records:
        out += data[here:start]
        places.append((start, len(out)))
        here = start + size + extra
        if type not in (COMPRESSED, COMPRESSED2):
            out += data[start:here]
            continue
        length = len(next(chunk))
        (misc,) = struct.unpack_from(order + "H", data, start + 4)
        payload = codec.compress(turned[at : at + length])
        at += length
        # what was turned can be harder to compress: then one record more
        step = 65527 if type == COMPRESSED else 65504
        for i in range(0, max(len(payload), 1), step):
            out += _wrap(order, type, misc, payload[i : i + step])
    out += data[here : report.end]
    return bytes(out), places
