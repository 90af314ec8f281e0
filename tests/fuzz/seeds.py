#!/usr/bin/python3
"""seeds.py PDECODE DIRECTORY: what the fuzz targets start from, made of the fixtures and the catalogue of layouts.

    DIRECTORY/data      files, some of them compressed as a whole: for the other targets
    DIRECTORY/json      their JSON Lines: for fuzz_encode
    DIRECTORY/feature   feature sections, with the two bytes that fuzz_feature wants before them
    DIRECTORY/tracing   tracepoint formats, with the two bytes of fuzz_tracing before and raw data behind them
"""
import bz2
import lzma
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
from perfdata.catalog import write  # noqa: E402
from perfdata.container import gzip, zstd_stream  # noqa: E402

SMALL = 16_000      # bytes: a larger seed costs more than it reaches
RAW = 64            # bytes of raw data behind a tracepoint's format
HEADER = 104
PACKED = ("file.le.data", "file.be.data", "pipe.le.data")


def xz(data):
    """Without a checksum, so that mutants of it are unpacked to their end."""
    return lzma.compress(data, check=lzma.CHECK_NONE, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}])


def packings(data):
    """Packed as a whole, and in two members."""
    half = len(data) // 2
    for kind, pack in (("gz", gzip), ("zst", lambda part: zstd_stream(part, end=True)), ("xz", xz),
                       ("bz2", lambda part: bz2.compress(part, 1))):
        yield kind, pack(data)
        yield f"2.{kind}", pack(data[:half]) + pack(data[half:])


def captures():
    top = os.path.join(ROOT, "fixtures", "perf")
    paths = [os.path.join(where, name) for where, _, names in os.walk(top) for name in names]
    return sorted(path for path in paths if path.endswith(".data"))


def put(directory, kind, name, data):
    where = os.path.join(directory, kind)
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, name), "wb") as out:
        out.write(data)


def features(data):
    """(number, big-endian or not, bytes) of each feature section of a file."""
    order = {b"PERFILE2": "<", b"2ELIFREP": ">"}.get(data[:8])
    if not order or len(data) < HEADER or struct.unpack_from(order + "Q", data, 8)[0] != HEADER:
        return
    at, size = struct.unpack_from(order + "2Q", data, 40)
    words = struct.unpack_from(order + "4Q", data, 72)
    bits = [i for i in range(256) if words[i // 64] >> i % 64 & 1]
    for i, bit in enumerate(bits):
        if at + size + 16 * (i + 1) <= len(data):
            where, length = struct.unpack_from(order + "2Q", data, at + size + 16 * i)
            yield bit, order == ">", data[where:where + length]


def main():
    pdecode, directory = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        paths = captures() + [path for path in write(scratch).values() if os.path.isfile(path)]
        for path in paths:
            name = os.path.basename(path)
            with open(path, "rb") as file:
                data = file.read()
            for bit, big, section in features(data):
                if len(section) < SMALL:
                    put(directory, "feature", f"{name}.{bit}", bytes([bit, big]) + section)
            for i, text in enumerate(re.findall(rb"name: \S+\nID: .*?print fmt: [^\n]*\n", data, re.S)):
                put(directory, "tracing", f"{name}.{i}", struct.pack("<H", RAW) + text + bytes(range(RAW)))
            if len(data) < SMALL:
                put(directory, "data", name, data)
                for kind, packed in packings(data) if name in PACKED else ():
                    put(directory, "data", f"{name}.{kind}", packed)
                lines = subprocess.run([pdecode, "-f", "jsonl", "--blobs", "full", path],
                                       capture_output=True, check=False).stdout
                if len(lines) < 4 * SMALL:
                    put(directory, "json", name, lines)


if __name__ == "__main__":
    main()
