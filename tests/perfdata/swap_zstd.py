"""COMPRESSED and COMPRESSED2 records taken apart and put together again.

All of them in one stream are one zstd stream, flushed for each record and never ended.
"""

from . import zstd
from .rows import RECORDS
from .swap_records import COMPRESSED, COMPRESSED2
from .swapper import Swapper
from .wire import Wire, encode

# The largest payload, by record type.
ROOM = {COMPRESSED: 65527, COMPRESSED2: 65504}


class NotSwappable(Exception):
    """The file's byte order can't be swapped; the text says why."""


def expand(data, order, records):
    """Expanded content of each COMPRESSED record."""
    source, decompressor, chunks = Swapper(data, order), zstd.Decompressor(), []
    for start, type, size, _ in records:
        if type not in ROOM:
            continue
        begin, end = start + 8, start + size
        if type == COMPRESSED2:
            begin, end = start + 16, start + 16 + source.peek(start + 8, 8)
        try:
            chunks.append(decompressor.decompress(data[begin:end]))
        except zstd.Error as problem:
            raise NotSwappable(f"zstd: {problem}") from problem
    return chunks


def recompress(data, order, report, swapped):
    """The stream with the content of its COMPRESSED records replaced by `swapped`, cut at the same
    places, still in the old order outside.  Returns it and [(old start, new start)]."""
    compressor, out, places, at, here = zstd.Compressor(), bytearray(), [], 0, report.records[0][0]
    source, chunk = Swapper(data, order), iter(expand(data, order, report.records))
    for start, type, size, extra in report.records:
        out += data[here:start]
        places.append((start, len(out)))
        here = start + size + extra
        if type not in ROOM:
            out += data[start:here]
            continue
        length = len(next(chunk))
        misc = source.peek(start + 4, 2)
        payload = compressor.compress(swapped[at : at + length])
        at += length
        # what was swapped can be harder to compress: then one record more
        for i in range(0, max(len(payload), 1), ROOM[type]):
            piece = RECORDS[type](payload[i : i + ROOM[type]], misc)
            out += encode(piece, Wire(order))
    out += data[here : report.end]
    return bytes(out), places
