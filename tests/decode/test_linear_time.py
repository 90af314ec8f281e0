"""No input costs more than linear time: files that might, at three sizes, each twice the one
before (support/growth.py). PD_LINEAR_SCALE=8 makes all files eight times as large.
"""
import os
import random
import struct
import subprocess

import pytest

import lbr
from conftest import TOOLS
from growth import LEAST, MOST, Files, check_growth, seconds, times_of
from perfdata import features as f
from perfdata import records as r
from perfdata import tracing
from perfdata.attr import Attr
from perfdata.case import attr
from perfdata.container import File, Pipe, zstd_records
from perfdata.sample import branch, sample, sample_id
from perfdata.wire import Wire, encode

SCALE = int(os.environ.get("PD_LINEAR_SCALE") or 1)
# seconds; code that was quadratic in the size of a record took ten times that
PER_BYTE = 2e-6

ATTR = attr("IP|TID|TIME")
WITH_ID = attr("IP|TID|TIME|IDENTIFIER")
FIRST = 5_000_000_000
SORT = ("pdecode", "-f", "jsonl", "--sort", "time", "--memory", "8M")
DECODE, STATS, REPAIR = ("pdecode", "-f", "jsonl"), ("pdecode", "-f", "stats"), ("prepair",)
ENCODE = ("pencode",)
FOLDED = ("preport", "--no-symbols", "-j1", "-f", "folded")


def header(type_id, size, misc=2):
    return struct.pack("<IHH", type_id, misc, size)


def samples(n, time=lambda i: FIRST + i):
    return b"".join(header(9, 32) + struct.pack("<QIIQ", 5, 7, 8, time(i)) for i in range(n))


def raw(blob):
    return [lambda wire: blob]


def records(blob):
    return File(attrs=[(ATTR, [1])], records=raw(samples(3) + blob + samples(3))).build("<")


def pipe(blob, attrs=((ATTR, [1]),)):
    return Pipe([*(r.header_attr(a, ids) for a, ids in attrs), *raw(blob)]).build("<")


def blob(part):
    return encode(part, Wire("<"))


def events(n, ids=lambda i: [i + 1], **fields):
    return [(attr("IP|TID|TIME|IDENTIFIER", config=i, **fields), ids(i)) for i in range(n)]


def unmixed(n):
    """Numbers that the finalizer of splitmix64 turns into multiples of 2^32: without a seed they
    collide."""
    def unshift(x, by):
        out = x
        for _ in range(64 // by + 1):
            out = x ^ out >> by
        return out

    first, second = (pow(a, -1, 2**64) for a in (0xbf58476d1ce4e5b9, 0x94d049bb133111eb))
    return [unshift(unshift(unshift(i << 32 | 1, 31) * second % 2**64, 27) * first % 2**64, 30)
            for i in range(n)]


def without_seed(n, last, first=0, factor=0x9e3779b97f4a7c15):
    """Addresses in the lower half whose hash once was the same, for a table that mixed them with
    `first` and then with `last`."""
    inverse, found, i = pow(factor, -1, 2**64), [], 0

    def unmix(x):
        out = x
        for _ in range(3):
            out = x ^ out >> 29
        return out * inverse % 2**64

    while len(found) < n:
        address = unmix(unmix(i << 32 | 1) ^ last) ^ first
        i += 1
        if 4096 < address < 2**63:
            found.append(address)
    return found


def at(addresses):
    return b"".join(header(9, 32) + struct.pack("<QIIQ", ip, 7, 7, FIRST + i)
                    for i, ip in enumerate(addresses))


NO_MAP_NO_PID = 0xffffffff << 32 | 1 << 24 | 2 << 16 | 3 << 8 | 1     # as tables hold a frame
IN_PROGRAM, IN_FIRST_IMAGE = 1 << 24 | 2 << 16, 0xffffffff          # and as profiles do


def mapped(addresses):
    sid = sample_id(ATTR, pid=7, tid=7, time=1)
    return blob(r.mmap(7, 7, 0, 2**63, 0, b"/bin/program", misc=2, sid=sid)) + at(addresses)


def stitched_samples(n):
    """Samples of a deep call stack, to each of which the calls of the first are added, at times
    that are their offsets shifted: keys made of both once were the same."""
    a = lbr.lbr_attr()
    calls = [branch(lbr.BASE + 64 * i, lbr.BASE + 64 * i - 32) for i in range(1, 9)]
    first, then = (blob(sample(a, pid=7, tid=7, ip=lbr.BASE, branch_stack=stack,
                               callchain=[lbr.USER_MARK, lbr.BASE]))
                   for stack in ({"entries": calls, "hw_idx": 7},
                                 {"entries": calls[2:5], "hw_idx": 5}))
    data = bytearray(File(attrs=[(a, [1])], records=raw(first + then * n), features={
        f.NUMBER["CPU_PMU_CAPS"]: f.caps([("branches", "8")])}).build("<"))
    start, = struct.unpack_from("<Q", data, 40)     # of the records
    second = start + len(first)
    for offset in (start, *range(second, second + len(then) * n, len(then))):
        struct.pack_into("<Q", data, offset + 24, offset << 32)
    return bytes(data)


def with_ids(ids):
    blob = b"".join(header(9, 40) + struct.pack("<QQIIQ", i, 5, 7, 8, FIRST) for i in ids)
    return File(attrs=[(WITH_ID, ids)], records=raw(blob)).build("<")


def formats(n, fields=2):
    return [
        tracing.Format(f"event{i}", i + 1, [(f"int f{k}", 8 + 4 * k, 4, 1) for k in range(fields)])
        for i in range(n)]


def tracepoints(n):
    return [(Attr(type=2, config=i + 1, sample_type="IP|TID|TIME|IDENTIFIER"), [i + 1])
            for i in range(n)]


def damaged_formats(n):
    """prepair makes placeholder formats for lost ones, here the last one."""
    blob = tracing.tracing_data({"sys": formats(n)})
    data = File(attrs=tracepoints(n), records=raw(samples(3)),
                features={1: lambda wire: blob}).build("<")
    return data.replace(f"ID: {n}\n".encode(), f"ID? {n}\n".encode())


def noise(n):
    return random.Random(1).randbytes(n)


def late_starts(n):
    """After each short chain of records the next one is at an odd offset, and is found only after
    all multiples of 8 were tried."""
    part = samples(6) + b"\1" * 4099
    return (part * (n // len(part) + 1))[:n]


def strides(n):
    """Headers of unknown types in 63 interleaved chains that lead to no record."""
    return (header(200, 504) * (n // 8 - 1)) + header(0x20000, 8)


def aux_beyond_the_end(n):
    return b"".join(header(71, 48) + struct.pack("<QQQIII", 1 << 40, 0, 0, 0, 0, 0) + bytes(4)
                    + samples(6) for _ in range(n // 240))


def comms(n):
    return b"".join(header(3, 24) + struct.pack("<II8s", i, i, b"name") for i in range(n))


def frames(n):
    """Compressed records with a frame of one empty block."""
    empty = bytes.fromhex("28b52ffd0058010000")
    return (header(81, 8 + len(empty)) + empty) * n


def compressed(inner):
    data = File(attrs=[(ATTR, [1])], records=[zstd_records(raw(inner))],
                features={27: f.compressed()})
    return data.build("<")


def cpus(n):
    return b"".join(blob(r.cpu_map(r.cpus_list(range(4000)))) for _ in range(n // 8000))


def feature_records(n):
    return b"".join(blob(r.header_feature(7, f.nrcpus(i, i)))
                    + blob(r.event_update_name(1, f"n{i % 7}")) + samples(1)
                    for i in range(n))


def event_descriptions(n):
    """Each has other ids of the same event."""
    return b"".join(blob(r.header_feature(12, f.event_desc(
        [(WITH_ID, "e", [1, *range(50 * i + 2, 50 * i + 52)])], 128))) for i in range(n))


def rounds(n):
    return (samples(1) + blob(r.finished_round())) * n


def encoded(data):
    done = subprocess.run([TOOLS / "pdecode", "-f", "jsonl"], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return done.stdout


def named_samples(n):
    """Samples that state their event only by name."""
    names = encoded(File(attrs=events(n)).build("<"))
    line = ('{"kind":"record","type":"SAMPLE","event":"%s","ip":"0x1","pid":1,"tid":1,"time":5,'
            '"identifier":0}\n')
    return names + "".join(line % f"unknown{i}" for i in range(n)).encode()


def other_descriptions(n):
    """Each attribute differs from its copy, and half of them are zeroed."""
    copies = [(attr("IP|TID|TIME|CPU", config=i), "x", [i + 1]) for i in range(n)]
    data = bytearray(File(attrs=events(n), records=raw(samples(3)), features={
        12: f.event_desc(copies, len(encode(ATTR, Wire("<"))))}).build("<"))
    stride, at, size = struct.unpack_from("<3Q", data, 16)
    for entry in range(at, at + size, 2 * stride):
        data[entry:entry + stride - 16] = bytes(stride - 16)
    return bytes(data)


# name: (function that makes a file of "size" n, first n, programs)
KINDS = {
    # --- records ---
    "samples": (lambda n: records(samples(n)), 20000, (DECODE,)),
    "sizes that cover all that follows": (lambda n: records(header(9, 0xfff8) * (n // 8)), 1 << 20,
                                          (DECODE, REPAIR)),
    "the same, compressed": (lambda n: compressed(samples(3) + header(9, 0xfff8) * (n // 8)),
                             1 << 20, (DECODE,)),
    "texts without an end": (lambda n: records((header(3, 0xfff8) + b"abcdefgh") * (n // 16)),
                             1 << 20, (DECODE, REPAIR)),
    # the cost of one search for the next record grows with its window, until the window is full
    "headers that nearly lead on": (lambda n: records((header(9, 40) + b"\1" * 16) * (n // 24)),
                                    1 << 21, (DECODE,)),
    "chains of unknown types": (lambda n: records(strides(n)), 1 << 19, (DECODE, STATS)),
    "noise": (lambda n: records(noise(n)), 1 << 20, (DECODE, STATS)),
    "zeros": (lambda n: records(bytes(n)), 1 << 20, (DECODE,)),
    "ones": (lambda n: records(b"\xff" * n), 1 << 20, (DECODE,)),
    "noise between chains": (lambda n: records(late_starts(n)), 1 << 21, (DECODE,)),
    "AUX data beyond the end": (lambda n: records(aux_beyond_the_end(n)), 1 << 21, (REPAIR,)),
    "names of tasks": (lambda n: records(comms(n)), 10000,
                       (("pdecode", "-f", "jsonl", "--comm", "x*"),)),
    "tiny compressed records": (lambda n: records(frames(n)), 20000, (DECODE,)),
    "lists of CPUs": (lambda n: records(cpus(n)), 1 << 19, (DECODE,)),
    "types that nobody knows": (lambda n: records(b"".join(header(1000 + i, 8) for i in range(n))),
                                20000, (DECODE, STATS)),
    # --- order ---
    "rounds": (lambda n: records(rounds(n)), 20000, (SORT,)),
    "times that fall": (lambda n: records(samples(n, lambda i: FIRST + 10**9 - i)), 20000, (SORT,)),
    "times in no order": (lambda n: records(samples(n, lambda i: FIRST + i * 7919 % 10007)), 20000,
                          (SORT,)),
    # --- events and ids ---
    "events": (lambda n: File(attrs=events(n), records=raw(samples(3))).build("<"), 2000,
               (DECODE, STATS, REPAIR)),
    "events that all have the same ids": (
        lambda n: File(attrs=events(n, lambda i: [7] * 4), records=raw(samples(3))).build("<"),
        2000, (DECODE,)),
    "ids": (lambda n: with_ids(list(range(1, n + 1))), 10000, (DECODE, STATS)),
    "ids that collide": (lambda n: with_ids(unmixed(n)), 10000, (DECODE, STATS)),
    "ids far apart": (lambda n: with_ids([i << 32 for i in range(n)]), 10000, (STATS,)),
    "samples of many events": (lambda n: File(attrs=events(n), records=raw(b"".join(
        header(9, 40) + struct.pack("<QQIIQ", i + 1, 5, 7, 8, FIRST) for i in range(n)))).build(
            "<"), 2000,
        (STATS, ("pdecode", "-f", "jsonl", "--event", "x*"))),
    "events in a pipe": (lambda n: pipe(b"", events(n)), 2000, (DECODE, STATS)),
    "features and names in a pipe": (lambda n: pipe(feature_records(n)), 2000, (DECODE,)),
    "ids in many descriptions of an event": (lambda n: pipe(event_descriptions(n)), 2000, (STATS,)),
    "samples of many processes": (lambda n: records(b"".join(
        header(9, 32) + struct.pack("<QIIQ", 5, i + 9, i + 9, FIRST) for i in range(n))), 10000,
        (("preport", "--no-symbols", "-j1", "-f", "csv"),)),
    "addresses of one hash, as a table": (
        lambda n: records(at(without_seed(n, NO_MAP_NO_PID))), 5000,
        (("pdecode", "-f", "arrow", "--table", "samples"),)),
    "addresses of one hash, as a profile": (
        lambda n: records(mapped(without_seed(n, IN_PROGRAM, IN_FIRST_IMAGE))), 5000,
        (FOLDED,)),
    "call stacks at times that equal their offsets": (
        stitched_samples, 5000, ((*FOLDED, "--stitch-lbr"),)),
    # --- features ---
    "descriptions of events": (lambda n: File(attrs=events(n), records=raw(samples(3)), features={
        12: f.event_desc([(a, f"name{i}", ids) for i, (a, ids) in enumerate(events(n))],
                         128)}).build("<"), 1000, (DECODE,)),
    "descriptions of other events": (other_descriptions, 2000, (STATS,)),
    "formats of tracepoints": (lambda n: File(attrs=tracepoints(n), records=raw(samples(3)),
                                              features={
        1: lambda wire: tracing.tracing_data({"sys": formats(n)})}).build("<"), 500, (DECODE,)),
    "fields of a tracepoint": (lambda n: File(attrs=tracepoints(1), records=raw(samples(3)),
                                              features={
        1: lambda wire: tracing.tracing_data({"sys": formats(1, n)})}).build("<"), 5000, (DECODE,)),
    "formats that are lost": (damaged_formats, 500, (REPAIR,)),
    # --- JSON ---
    "JSON of events": (lambda n: encoded(File(attrs=events(n), records=raw(samples(3))).build("<")),
                       1000, (ENCODE,)),
    "JSON of ids": (lambda n: encoded(with_ids(list(range(1, n + 1)))), 2000, (ENCODE,)),
    "JSON of gaps":
        (lambda n: encoded(File(attrs=[(ATTR, [1])],
                                tail=(b"x" + bytes(5000)) * (n // 5001)).build("<")), 1 << 20,
         (ENCODE,)),
    "JSON with names of events": (named_samples, 1000, (ENCODE,)),
    "JSON in brackets": (lambda n: b'{"kind":"record","type":"SAMPLE","ip":' + b"[" * n + b"]" * n
                         + b"}", 100000, (ENCODE,)),
    "JSON of one long key": (lambda n: b'{"kind":"record","' + b"k" * n + b'":1}', 1 << 20,
                             (ENCODE,)),
    "JSON of keys": (lambda n: b'{"kind":"other",' + b",".join(b'"k%d":1' % i for i in range(n))
                     + b"}", 50000, (ENCODE,)),
}


@pytest.fixture(scope="module", name="startup")
def cost_of_nothing(tmp_path_factory):
    path = tmp_path_factory.mktemp("linear") / "empty.data"
    path.write_bytes(records(b""))
    return min(seconds([TOOLS / "pdecode", "-f", "stats", "-o", os.devnull, path])
               for _ in range(5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_twice_the_input_takes_twice_as_long(kind, tmp_path, startup):
    make, first, commands = KINDS[kind]
    files = Files(tmp_path, make)
    for command in commands:
        command = [TOOLS / command[0], *command[1:], "-o",
                   os.devnull if command[0] == "pdecode" else tmp_path / "out"]
        n = first * SCALE
        while (seconds([*command, files.of_size(n)]) - startup < LEAST
               and files.of_size(n).stat().st_size < MOST):
            n *= 2
        paths = [files.of_size(factor * n) for factor in (1, 2, 4)]
        times = times_of(command, paths, startup)
        check_growth(command, paths, times, tmp_path)
        size = max(paths[-1].stat().st_size, 4 * n)     # compressed files are small
        assert times[-1] / size < PER_BYTE, f"{command}: {times[-1]} s for {size} bytes"
