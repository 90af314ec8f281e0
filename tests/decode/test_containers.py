"""Containers: pdecode shows the same records however it gets the file, and all whole records of a
file that is cut.

The output is compared here; test_pdecode_cli tests arguments and streams.
"""
import bz2
import gzip
import hashlib
import itertools
import lzma
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys

import pytest

from conftest import FIXTURES, TOOLS, fixture_files, strict_json
from perfdata import features as f
from perfdata import records as r
from perfdata import tracing, zstd
from perfdata.case import attr
from perfdata.container import File, Pipe, zstd_records, zstd_stream
from perfdata.sample import sample, sample_id
from perfdata.wire import Wire, encode, fstr, u64

PERF = FIXTURES / "perf"
ATTR = attr("IP|TID|TIME|PERIOD")
FILES = [PERF / name for name in ("02-callgraph-fp.data", "12-tracepoints.data", "16-zstd.data",
                                  "18-pipe.data")]
PARTS = ("attrs", "features", "records", "errors")


def samples(n, first=0, time=1000):
    return [sample(ATTR, ip=0x1000 + i, pid=7, tid=8, time=time + i, period=i)
            for i in range(first, first + n)]


def parts(document):
    return {part: document[part] for part in PARTS}


@pytest.fixture
def given(tmp_path):
    """Function: writes bytes to a file, or several to a directory."""
    numbers = itertools.count()

    def store(data):
        path = tmp_path / f"given{next(numbers)}"
        for name, content in data.items() if isinstance(data, dict) else [(None, data)]:
            where = path / name if name else path
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_bytes(content)
        return path
    return store


# --- ways in --------------------------------------------------------------------------------------

def from_pipe(path, run_pdecode):
    return run_pdecode(["-"], input=path.read_bytes())


def from_descriptor(path, run_pdecode):
    """Standard input is a file."""
    with open(path, "rb") as file:
        return run_pdecode(["-"], input=None, stdin=file)


@pytest.mark.sanitize
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("way", [from_pipe, from_descriptor])
def test_ways_in(path, way, run_pdecode, decode):
    done = way(path, run_pdecode)
    assert done.returncode == 0, done.stderr
    document = strict_json(done.stdout)
    assert parts(document) == parts(decode(path))
    assert document["file"]["mode"] == decode(path)["file"]["mode"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_named_pipe(path, run_pdecode, decode, tmp_path):
    """A path that is a stream."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", 'cat "$0" > "$1"', path, fifo]):
        done = run_pdecode([fifo], timeout=20)
    assert done.returncode == 0 and parts(strict_json(done.stdout)) == parts(decode(path))


def packed(kind, data):
    if kind == "gzip":
        return gzip.compress(data, mtime=0)
    if kind == "gzip of several members":
        return gzip.compress(data[:1000], mtime=0) + gzip.compress(data[1000:], mtime=0)
    if kind == "xz":
        return lzma.compress(data)
    # the format allows padding between streams
    if kind == "xz in streams and blocks":
        blocks = subprocess.run(["xz", "--block-size=1000", "-T1"], input=data[1000:],
                                capture_output=True, check=True).stdout \
            if shutil.which("xz") else lzma.compress(data[1000:], check=lzma.CHECK_SHA256)
        return lzma.compress(data[:1000], check=lzma.CHECK_CRC32) + bytes(8) + blocks
    if kind == "bzip2":
        return bz2.compress(data)
    if kind == "bzip2 of several streams":
        return bz2.compress(data[:1000], 1) + bz2.compress(b"") + bz2.compress(data[1000:], 9)
    if kind == "zstd of several frames":
        return zstd.compress(data[:1000]) + zstd.compress(data[1000:])
    if kind == "zstd in blocks":
        return zstd_stream(data, flush_every=512, end=True)
    return zstd.compress(data)


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["gzip", "gzip of several members", "zstd", "zstd in blocks",
                                  "zstd of several frames", "xz", "xz in streams and blocks",
                                  "bzip2", "bzip2 of several streams"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_wrapped(path, kind, given, decode, run_pdecode):
    data = packed(kind, path.read_bytes())
    assert parts(decode(given(data))) == parts(decode(path))
    done = run_pdecode(["-"], input=data)
    assert done.returncode == 0 and parts(strict_json(done.stdout)) == parts(decode(path))


@pytest.mark.parametrize("kind", ["gzip", "zstd in blocks", "xz", "bzip2 of several streams"])
@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "18-pipe.data"])
def test_wrapping_that_is_cut(name, kind, given, decode, run_pdecode):
    """The part that can be decompressed is decoded; the rest is reported as missing."""
    whole = decode(PERF / name)["records"]
    data = packed(kind, (PERF / name).read_bytes())
    done = run_pdecode([given(data[:-len(data) // 8])])
    assert done.returncode == 1
    document = strict_json(done.stdout)
    assert "CODEC" in [error["code"] for error in document["errors"]]
    assert document["summary"]["complete"] is False
    kept = [record for record in document["records"] if record["type"] != "SKIPPED"
            and "cut" not in record]
    assert kept and kept == whole[:len(kept)]


AFTER = {
    "zeros": (bytes(300_000), False),
    "another packing":
        ({"gzip": b"\x28\xb5\x2f\xfd", "zstd": b"\x1f\x8b", "xz": b"BZh9", "bzip2": b"\xfd7zXZ\0"},
         True),
    "a letter": (b"x", True),
    "half a member":
        ({"gzip": b"\x1f", "zstd": b"\x28\xb5", "xz": b"\xfd7zX",
          "bzip2": b"BZh9\x31\x41\x59\x26\x53"}, True),
    "a letter after zeros": (bytes(300_000) + b"x", True),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["gzip", "zstd", "xz", "bzip2"])
@pytest.mark.parametrize("what", AFTER)
def test_after_the_wrapping(what, kind, given, run_pdecode, decode):
    """Padding is ignored; anything else is reported, because it is not decoded."""
    after, is_damage = AFTER[what]
    after = after[kind] if isinstance(after, dict) else after
    for name in "02-callgraph-fp.data", "18-pipe.data":
        data = (PERF / name).read_bytes()
        path = given(packed(kind, data) + after)
        for done, skipped in ((run_pdecode([path]), len(after)),
                              (run_pdecode(["-"], input=path.read_bytes()), 0)):
            assert done.returncode == int(is_damage), done.stderr
            document = strict_json(done.stdout)
            assert document["records"] == decode(PERF / name)["records"]
            assert [(error["code"], error["offset"], error["skipped"])
                    for error in document["errors"]] == \
                [("TRAILING", len(data), skipped)] * is_damage
            assert (f"bytes after the {kind} stream".encode() in done.stderr) is is_damage


@pytest.mark.sanitize
def test_frames_of_zstd_that_hold_nothing(given, decoder):
    skippable = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 5) + b"12345"
    data = FILES[0].read_bytes()
    whole = (packed("zstd", data[:777]) + skippable + packed("zstd", b"")
             + packed("zstd", data[777:]) + skippable * 2)
    document, returncode, _ = decoder.result(given(whole))
    assert returncode == 0 and parts(document) == parts(decoder.result(FILES[0]).document)


# --- headers --------------------------------------------------------------------------------------

HEADERS = {
    "104": dict(),
    "72": dict(header_size=72, features={}),
    "88": dict(header_size=88, features={}),
    "112": dict(header_size=112),
    "4096": dict(header_size=4096),
    "V1": dict(magic=b"PERFFILE"),
    "V1 72": dict(magic=b"PERFFILE", header_size=72, features={}),
    "event types": dict(event_types=[(0, "cycles"), (1, "instructions")]),
    "attrs after the data": dict(late_attrs=True, features={}),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("name", HEADERS)
def test_headers(name, order, given, decoder):
    options = {"features": {3: fstr("box"), 5: fstr("6.1")}, **HEADERS[name]}
    file = File(attrs=[(ATTR, [42])], records=samples(5), **options)
    document, returncode, _ = decoder.result(given(file.build(order)))
    assert returncode == 0
    assert document["file"]["header_size"] == options.get("header_size", 104)
    assert (document["file"].get("magic", "PERFILE2")
            == (b"PERFFILE" if "V1" in name else b"PERFILE2").decode())
    assert [record["ip"] for record in document["records"]] == [hex(0x1000 + i) for i in range(5)]
    assert document["attrs"][0]["ids"] == [42]
    assert document["features"] == ({"HOSTNAME": "box", "VERSION": "6.1"} if options["features"]
                                    else {})
    names = document["file"].get("event_types", [])
    assert [event["name"] for event in names] == [name
                                                  for _, name in options.get("event_types", [])]


# --- cut anywhere ---------------------------------------------------------------------------------

def whole_before(records, size):
    """The records that are complete in the first `size` bytes."""
    return [record for record in records if record["offset"] + record["size"] <= size]


CUTTABLE = {
    "file": File(attrs=[(ATTR, [42])], records=samples(6), features={3: fstr("box")}),
    "file without features": File(attrs=[(ATTR, [42])], records=samples(6)),
    "late attrs": File(attrs=[(ATTR, [])], records=samples(3), late_attrs=True),
    "killed": File(attrs=[(ATTR, [42])], records=samples(6), data_size=0, claimed=(3, 4)),
    "pipe": Pipe([r.header_attr(ATTR, [42]), *samples(6), r.finished_round()]),
}


def kept_of(document):
    return [record for record in document["records"] if record["type"] != "SKIPPED"
            and "cut" not in record]


@pytest.mark.sanitize
@pytest.mark.parametrize("name", CUTTABLE)
def test_cut_anywhere(name, given, run_pdecode):
    data = CUTTABLE[name].build("<")
    path = given(data)
    full = strict_json(run_pdecode([path]).stdout)
    readable = 16 if name == "pipe" else 72 if name.startswith("late") else None
    step = 7 if TOOLS.name == "san" else 1
    for size in range(0, len(data), step):
        path.write_bytes(data[:size])
        done = run_pdecode([path])
        if done.returncode == 3:
            assert size < (readable or 104) and not done.stdout, size
            continue
        document = strict_json(done.stdout)
        kept = kept_of(document)
        expected = whole_before(full["records"], size)
        assert ([record["offset"] for record in kept]
                == [record["offset"] for record in expected]), size
        if name != "late attrs":
            assert kept == expected, size
        # A stream can end between two records; all other cut files are incomplete.
        boundary = name == "pipe" and size in {16} | {record["offset"] + record["size"]
                                                      for record in full["records"]}
        if name == "killed":
            assert done.returncode == 1
        else:
            assert done.returncode == (0 if boundary else 1), (size, document["errors"])
            assert document["summary"]["complete"] is boundary, size
        assert bool(document["errors"]) == (done.returncode == 1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_capture_cut(path, given, run_pdecode, decode):
    """Captures, cut at fewer places; the whole compressed records are expanded."""
    data, full = path.read_bytes(), decode(path)
    for size in sorted({*range(104, len(data), len(data) // 23), len(data) - 1}):
        done = run_pdecode([given(data[:size])])
        assert done.returncode in (0, 1), size
        document = strict_json(done.stdout)
        assert done.returncode == 1 or full["file"]["mode"] == "pipe"
        kept = {(record["offset"], record.get("inner_offset")) for record in kept_of(document)}
        for record in whole_before(full["records"], size):
            if "inner_offset" not in record:
                assert (record["offset"], None) in kept, (size, record["type"])
        compressed = [record for record in whole_before(full["records"], size)
                      if record["type"].startswith("COMPRESS")]
        ends = {record["offset"] for record in compressed}
        inner = [record for record in full["records"] if record.get("inner_offset") is not None]
        for record in inner:
            if record["offset"] in ends:
                assert (record["offset"], record["inner_offset"]) in kept, (size, record["type"])


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_killed_recorder(order, given, decoder):
    """No data size in the header, features that have a bit but no section, and a last record that
    is incomplete."""
    file = File(attrs=[(ATTR, [42])], records=samples(40), data_size=0, claimed=(2, 3, 4, 24))
    data = file.build(order)
    document, returncode, _ = decoder.result(given(data[:-11]))
    assert returncode == 1
    assert document["file"]["complete"] is False
    assert document["features"] == {}
    assert document["file"]["adds_features"] == ["BUILD_ID", "HOSTNAME", "OSRELEASE", "DIR_FORMAT"]
    assert [record["time"] for record in kept_of(document)] == list(range(1000, 1039))
    assert document["records"][-1]["cut"] == 40 - 11
    assert {error["code"] for error in document["errors"]} == {"UNFINISHED", "TRUNCATED"}


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_sign_of_an_unfinished_recording(order, given, run_pdecode, tmp_path):
    """precord keeps the data size in the header up to date, and marks an unfinished file
    elsewhere."""
    data = bytearray(File(attrs=[(ATTR, [42])], records=samples(40)).build(order))
    struct.pack_into(f"{order}QQ", data, 56, 1, 0)
    path = given(bytes(data))
    done = run_pdecode([path])
    document = strict_json(done.stdout)
    assert done.returncode == 1
    assert document["file"]["complete"] is document["summary"]["complete"] is False
    assert [error["code"] for error in document["errors"]] == ["UNFINISHED"]
    assert [record["time"] for record in document["records"]] == list(range(1000, 1040))
    assert strict_json(run_pdecode(["-f", "stats", path]).stdout)["file"]["complete"] is False
    again = subprocess.run([TOOLS / "pencode", "-"], input=done.stdout, capture_output=True)
    assert again.stdout == data, again.stderr
    fixed = tmp_path / "fixed"
    mended = subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True)
    document = strict_json(run_pdecode([fixed]).stdout)
    assert (mended.returncode == 1 and document["errors"] == []
            and document["file"]["complete"] is True)
    assert len(document["records"]) == 40


@pytest.mark.parametrize("section", [(0, 0), (2, 0), (384, 0), (1, 72), ((1 << 64) - 1, 0)])
def test_other_event_types_are_no_sign(section, given, decode):
    """The first perfs wrote an offset for the section even without event types."""
    data = bytearray(File(attrs=[(ATTR, [42])], records=samples(4)).build("<"))
    struct.pack_into("<QQ", data, 56, *section)
    assert decode(given(bytes(data)))["file"]["complete"] is True


# --- order ----------------------------------------------------------------------------------------

LAST = (1 << 64) - 1


def time_of(record):
    """None: the record has no time and keeps its place."""
    if record["type"] in KERNEL_TYPES and "cut" not in record:
        time = (record.get("time") if record["type"] == "SAMPLE"
                else record.get("sample_id", {}).get("time"))
        if time not in (None, 0, LAST):
            return time
    return None


KERNEL_TYPES = set("MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX "
                   "ITRACE_START LOST_SAMPLES SWITCH "
                   "SWITCH_CPU_WIDE NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE AUX_OUTPUT_HW_ID "
                   "CALLCHAIN_DEFERRED".split())


def by_time(records, rounds=True):
    """The expected order of --sort time, made with Python's stable sort.

    A round releases the records up to the largest time before the previous round: none that follow
    are older. A record that is older nevertheless is released at once. One that is cut off by the
    end of the input comes last.
    """
    out, waiting, largest, freed, next_freed = [], [], 0, -1, -1
    last = [one for one in records if rounds and "cut" in one and one["type"] in KERNEL_TYPES]
    for record in records[:len(records) - len(last)]:
        time = time_of(record)
        if time is None:
            out.append(record)
            if rounds and record["type"] == "FINISHED_ROUND":
                freed, next_freed = next_freed, largest
                out += sorted((item for item in waiting if time_of(item) <= freed), key=time_of)
                waiting = [item for item in waiting if time_of(item) > freed]
        elif time <= freed:
            out.append(record)
        else:
            waiting.append(record)
        largest = max(largest, time or 0)
    return out + sorted(waiting, key=time_of) + last


@pytest.mark.sanitize
def test_sort_by_time(data_file, decoder, run_pdecode):
    if run_pdecode(["--header-only", data_file.path]).returncode == 3:
        pytest.skip("not a perf.data file: see test_corpus")
    plain, by = decoder.result(data_file.path), decoder.result(data_file.path, "--sort", "time")
    assert by.returncode == plain.returncode
    expected = by_time(plain.document["records"], rounds=not data_file.is_directory)
    assert place(by.document["records"]) == place(expected)
    assert by.document["records"] == expected
    assert by.document["summary"] == plain.document["summary"]
    assert by.document["errors"] == plain.document["errors"]


def place(records):
    return [(record.get("file"), record["offset"], record.get("inner_offset"), record["type"])
            for record in records]


def test_sort_has_something_to_do(decode):
    """Some captures are not written in order of time."""
    documents = [decode(file.path)["records"] for file in fixture_files() if not file.is_directory]
    assert sum(by_time(records) != records for records in documents) > 5


ROUNDS = attr("IP|TID|TIME|CPU|IDENTIFIER")


def timed(time, ip=0):
    return sample(ROUNDS, ip=ip or time, pid=7, tid=8, time=time, cpu=0, id=42)


def comm(time):
    return r.comm(7, 8, "x", sid=sample_id(ROUNDS, pid=7, tid=8, time=time, id=42))


STREAMS = {
    "stable": [timed(5, 1), timed(5, 2), timed(3, 3), comm(5), timed(5, 4)],
    "no time stays": [timed(9), comm(0), timed(5), r.time_conv(1, 2, 3), comm(LAST), timed(1)],
    "rounds": [timed(5), timed(2), r.finished_round(), timed(7), timed(4), r.finished_round(),
               timed(9), timed(6), r.finished_round(), timed(8)],
    # older than released records: perf would report it as out of order
    "late": [timed(50), timed(20), r.finished_round(), timed(70), r.finished_round(), timed(10),
             timed(60), r.finished_round(), timed(5)],
    "round at once": [r.finished_round(), r.finished_round(), timed(3), timed(2)],
    "many": [timed((i * 7919) % 1009 + 1 + i // 100 * 50) if i % 97 else r.finished_round()
             for i in range(1, 3000)],
}


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["file", "pipe"])
@pytest.mark.parametrize("name", STREAMS)
def test_sort_semantics(name, mode, given, decode):
    records = STREAMS[name]
    whole = File(attrs=[(ROUNDS, [42])], records=records) if mode == "file" else \
        Pipe([r.header_attr(ROUNDS, [42]), *records])
    path = given(whole.build("<"))
    plain, by = decode(path)["records"], decode(path, "--sort", "time")["records"]
    assert by == by_time(plain)
    assert by != plain


@pytest.mark.parametrize("name, expected", [
    ("rounds", ["round", "round", 2, 4, 5, "round", 6, 7, 8, 9]),
    ("late", ["round", "round", 20, 50, 10, "round", 60, 70, 5]),
])
def test_sorted_by_hand(name, expected, given, decode):
    """Expected orders that are written by hand."""
    path = given(File(attrs=[(ROUNDS, [42])], records=STREAMS[name]).build("<"))
    assert ([record.get("time", "round") for record in decode(path, "--sort", "time")["records"]]
            == expected)


@pytest.mark.sanitize
@pytest.mark.parametrize("short", [4, 16, 24])
def test_compressed_stream_without_its_end(short, given, decoder):
    """perf -z can lose the last bytes of the compressor: the last record is shown as far as it is
    there."""
    def pressed(wire):
        return r.compressed(zstd_stream(encode(samples(50), wire)[:-short]))
    path = given(File(attrs=[(ATTR, [42])], records=[pressed, r.finished_round()]).build("<"))
    document, returncode, _ = decoder.result(path)
    assert returncode == 1
    cut = [record for record in document["records"] if "cut" in record]
    assert [(record["ip"], record["size"] - record["cut"]) for record in cut] == [("0x1031", short)]
    assert [record["type"] for record in document["records"]
            if record["type"] in ("SKIPPED", "FINISHED_ROUND")] == ["FINISHED_ROUND"]
    assert [error["code"] for error in document["errors"]] == ["TRUNCATED"]


@pytest.mark.sanitize
@pytest.mark.parametrize("damage", ["frame without an end", "blocks of nothing"])
def test_a_damaged_frame_is_lost_alone(damage, given, decoder):
    """precord begins a frame in each record. The next one tells that this one has no end."""
    def pressed(wire):
        frames = [bytearray(zstd_stream(encode(samples(50, 50 * i), wire), end=True))
                  for i in range(4)]
        if damage == "blocks of nothing":
            frames[1][4:] = bytes(len(frames[1]) - 4)
        else:
            frames[1] = frames[1][:-3]
        return [r.compressed(bytes(frame)) for frame in frames]
    path = given(File(attrs=[(ATTR, [42])], records=[pressed]).build("<"))
    document, returncode, _ = decoder.result(path)
    packed = [record for record in document["records"] if record["type"] == "COMPRESSED"]
    ips = [record["ip"] for record in document["records"] if record["type"] == "SAMPLE"]
    lost = set(hex(0x1000 + i) for i in range(200)) - set(ips)
    assert returncode == 1 and len(ips) == len(set(ips))
    assert lost <= set(hex(0x1000 + i) for i in range(50, 100))
    assert [(error["code"], error["offset"]) for error in document["errors"]] \
        == [("CODEC", packed[1]["offset"])]
    assert document["summary"]["account"]["unexpanded"] == packed[1]["size"]


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("between", [0, 5000])
def test_a_recording_that_is_appended_is_named(between, order, given, decoder):
    """cat(1) of two files: perf, too, reads the first, but the second is not lost in silence."""
    first = File(attrs=[(ATTR, [42])], records=samples(3), features={3: fstr("box")}).build("<")
    second = File(attrs=[(ATTR, [7])], records=samples(2)).build(order)
    path = given(first + bytes(between) + second)
    document, returncode, _ = decoder.result(path)
    assert returncode == 1 and document["summary"]["by_type"] == {"SAMPLE": 3}
    (error,) = document["errors"]
    assert (error["code"], error["offset"], error["severity"]) \
        == ("TRAILING", len(first) + between, "damaged")
    assert error["message"].startswith(f"recording at {len(first) + between}: another one")


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("first, second, expected", [
    ("pipe", "file", "nothing is decoded"), ("killed", "file", "nothing is decoded"),
    ("killed", "pipe", "nothing is decoded"), ("pipe", "pipe", "its events are added")])
def test_a_recording_after_the_records(first, second, expected, order, given, decoder):
    """Where the records end is not stated: the events of another file are not those of this one."""
    def build(kind):
        if kind == "pipe":
            return Pipe([r.header_attr(ATTR, [42]), *samples(3)]).build(order)
        data = File(attrs=[(ATTR, [42])], records=samples(3)).build(order)
        return data if kind != "killed" else data[:48] + bytes(8) + data[56:]
    before = build(first)
    document, returncode, _ = decoder.result(given(before + build(second)))
    both = expected == "its events are added"
    assert returncode == 1 and document["summary"]["by_type"]["SAMPLE"] == (6 if both else 3)
    error = document["errors"][-1]
    assert (error["code"], error["offset"]) == ("TRAILING", len(before))
    assert error["message"].startswith(f"recording at {len(before)}: another one")
    assert expected in error["message"]


# --- directories ----------------------------------------------------------------------------------

MAIN = File(attrs=[(ROUNDS, [42])], records=[r.time_conv(1, 2, 3), comm(1)],
            features={3: fstr("box"), 24: u64(1)})


def directory(streams, compressed=False, others=None):
    files = {"data": MAIN.build("<"), **(others or {})}
    for name, records in streams.items():
        part = [zstd_records(records, 2)] if compressed and records else records
        files[name] = encode(part, Wire("<"))
    return files


@pytest.mark.sanitize
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "zstd"])
def test_directory_is_sorted_as_one(compressed, given, decode):
    """The files of a directory are in order, but can be merged only after the last one is read.
    Their rounds release nothing."""
    streams = {f"data.{cpu}": list(itertools.chain.from_iterable(
        [timed(100 + 10 * i + cpu)] + [r.finished_round()] * (i % 50 == 49) for i in range(200)))
               for cpu in range(12)}
    path = given(directory(streams, compressed))
    plain = decode(path)["records"]
    # by number: data.10 comes after data.9
    assert [record["file"] for record in plain if record["type"] == "SAMPLE"] == \
        [f"data.{cpu}" for cpu in range(12) for _ in range(200)]
    by = decode(path, "--sort", "time")["records"]
    times = [time_of(record) for record in by if time_of(record)]
    assert len(times) == 1 + 12 * 200 and times == sorted(times)
    assert by == by_time(plain, rounds=False)


@pytest.mark.sanitize
def test_kcore_directory(given, decode, decoder):
    """perf record --kcore: DIR/data, and copies of files of the kernel, which are not
    recordings."""
    data = (PERF / "45-kernel-callchains.data").read_bytes()
    path = given({"data": data, "kcore_dir/kallsyms": b"ffffffff81000000 T _text\n",
                  "kcore_dir/modules": b"", "kcore_dir/kcore": b"\x7fELF" + bytes(60),
                  "kcore_dir__1/kallsyms": b""})
    document, returncode, _ = decoder.result(path)
    assert returncode == 0
    assert document["file"]["mode"] == "directory" and document["file"].get("files", []) == []
    assert parts(document) == parts(decode(PERF / "45-kernel-callchains.data"))


@pytest.mark.sanitize
@pytest.mark.parametrize("strange", ["data.", "data.x", "data.0.old", "data.-1", "metadata.0"])
def test_other_files_of_a_directory_are_left_alone(strange, given, decode):
    path = given({**directory({"data.0": [timed(5)]}), strange: b"\xff" * 100})
    assert decode(path)["file"]["files"] == ["data.0"]
    assert decode(path)["summary"]["by_type"]["SAMPLE"] == 1


@pytest.mark.sanitize
def test_damaged_file_of_a_directory(given, run_pdecode):
    """The other files are read, and the error names the damaged one."""
    files = directory({"data.0": [timed(5), timed(6)], "data.1": [timed(7)], "data.2": [timed(8)]})
    files["data.1"] = files["data.1"][:-5]
    for args in [], ["--sort", "time"]:
        done = run_pdecode([*args, given(files)])
        document = strict_json(done.stdout)
        assert done.returncode == 1
        assert ([(error["file"], error["code"]) for error in document["errors"]]
                == [("data.1", "TRUNCATED")])
        assert ([record["time"] for record in kept_of(document) if record["type"] == "SAMPLE"]
                == [5, 6, 8])
        assert b"data.1" in done.stderr


def put_no_file(kind, path):
    """Makes something that is no file. A FIFO or a terminal would block its reader."""
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root can make devices")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(path))
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to({"link": "elsewhere", "link to a device": "/dev/zero",
                         "link to a terminal": "/dev/tty"}[kind])


LINK = "a symbolic link, which is not followed: give a directory that holds the file itself"


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["fifo", "device", "socket", "directory", "link",
                                  "link to a device", "link to a terminal"])
@pytest.mark.parametrize("name", ["data", "data.1"])
def test_foreign_files_in_a_directory(kind, name, given, run_pdecode, monkeypatch):
    """It is an error at once: nothing blocks, no device is opened, no link is followed."""
    path = given(directory({"data.0": [timed(5)], "data.1": [timed(7)]}))
    monkeypatch.chdir(path)
    (path / name).rename("elsewhere")
    put_no_file(kind, path / name)
    problem = f"{name}: {LINK if kind.startswith('link') else 'not a regular file'}"
    for sandbox in ("--sandbox=never", "--sandbox=auto"):
        done = run_pdecode([sandbox, path], timeout=20)
        assert done.stderr.decode() == f"pdecode: {path}: {problem}\n"
        if name == "data":
            assert (done.returncode, done.stdout) == (3, b"")
        else:
            document = strict_json(done.stdout)
            assert ([(error["file"], error["code"]) for error in document["errors"]]
                    == [(name, "IO")])
            assert done.returncode == 1 and document["summary"]["by_type"]["SAMPLE"] == 1
        fixed = path.with_name("fixed")
        done = subprocess.run([TOOLS / "prepair", sandbox, "-o", fixed, path], capture_output=True,
                              check=False, timeout=20)
        assert done.stderr.decode().startswith(f"prepair: {path}: {problem}\n")
        assert (done.returncode, fixed.exists()) == ((3, False) if name == "data" else (1, True))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_of_a_directory(given, run_pdecode):
    path = given(directory({"data.0": [timed(5)], "data.1": [timed(7)]}))
    (path / "data.0").chmod(0)
    done = run_pdecode([path])
    assert done.returncode == 1
    assert ([(error["file"], error["code"]) for error in strict_json(done.stdout)["errors"]]
            == [("data.0", "IO")])


def test_unreadable_entry_of_a_directory(given, run_pdecode):
    """Entries with the name of a part that are not files: a directory, a dangling link."""
    path = given(directory({"data.2": [timed(5)]}))
    (path / "data.0").mkdir()
    (path / "data.1").symlink_to("nowhere")
    done = run_pdecode([path])
    document = strict_json(done.stdout)
    assert done.returncode == 1
    assert ([(error["file"], error["code"]) for error in document["errors"]]
            == [("data.0", "IO"), ("data.1", "IO")])
    assert document["summary"]["by_type"]["SAMPLE"] == 1


@pytest.mark.sanitize
@pytest.mark.parametrize("there, missing", [
    ([0, 2], [1]), ([0, 5], [1, 2, 3, 4]), ([1], [0]), ([], [0]), ([0, 1, 10], list(range(2, 10))),
    ([0], []), ([0, 1, 2], []),
])
def test_missing_file_of_a_directory(there, missing, given, decoder):
    """Recorders number the files without gaps, and the header of a directory states that there are
    some."""
    path = given(directory({f"data.{n}": [timed(5 + n)] for n in there}))
    for args in [], ["--sort", "time"], ["-f", "stats"]:
        document, returncode, told = decoder.result(path, *args)
        assert returncode == (1 if missing else 0)
        assert document["file"]["complete"] is not bool(missing)
        if "stats" in args:
            continue
        assert ([(error["file"], error["code"]) for error in document["errors"]]
                == [(f"data.{n}", "IO") for n in missing])
        assert ([record["time"] for record in document["records"] if record["type"] == "SAMPLE"]
                == [5 + n for n in there])
        assert all(f"data.{n}: No such file" in told for n in missing)


@pytest.mark.sanitize
def test_odd_numbers_in_a_directory(given, decoder):
    """Such files are read nevertheless; an unusual number only means that others are missing."""
    path = given(directory({"data.00": [timed(5)], "data.0": [timed(6)], "data.1": [timed(7)]}))
    document, returncode, _ = decoder.result(path)
    assert returncode == 0 and document["summary"]["by_type"]["SAMPLE"] == 3
    path = given(directory({"data.0": [timed(6)], "data.99999999999999999999999": [timed(7)]}))
    document, returncode, _ = decoder.result(path)
    assert returncode == 1 and document["summary"]["by_type"]["SAMPLE"] == 2
    assert document["errors"][0]["file"] == "data.1" and document["summary"]["errors"] == 65535


# --- memory ---------------------------------------------------------------------------------------

MIB = 1 << 20
CHAIN = attr("IP|TID|TIME|CALLCHAIN")
# The peak of a process includes that of the program before exec: this one is small.
MEASURE = """
import os, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=1, stdin=0)
os.write(2, b"peak %d\\n" % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


def large_file(path, size, time):
    """A file of this size, of samples with a callchain of ten; time(i) is the time of the i-th."""
    head = File(attrs=[(CHAIN, [42])], records=[]).build("<")
    record = encode(sample(CHAIN, ip=1, pid=7, tid=8, time=0, callchain=range(10)), Wire("<"))
    at = 8 + 8 + 8     # header, ip, pid and tid
    n = size // len(record)
    data = bytearray(record * n)
    for i in range(n):
        struct.pack_into("<Q", data, i * len(record) + at, time(i))
    head = bytearray(head)
    struct.pack_into("<Q", head, 48, len(data))
    path.write_bytes(bytes(head) + data)
    return n


def measured(pdecode, args, stdin=subprocess.DEVNULL):
    """Starts pdecode; returns its output, and a function that waits and returns exit code and peak
    in bytes."""
    process = subprocess.Popen([sys.executable, "-c", MEASURE, str(pdecode), *map(str, args)],
                               stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end():
        error = process.stderr.read().decode()
        return process.wait(), int(re.search(r"peak (\d+)", error)[1]) * 1024
    return process, end


def test_memory_of_sorting(pdecode, tmp_path):
    """100 MB in the worst order and without a round are sorted in the allowed memory."""
    path = tmp_path / "large.data"
    n = large_file(path, 100_000_000, lambda i: (i * 7919 + 13) % 800_011 + 1)
    process, end = measured(pdecode, ["--sort", "time", "--memory", "48M", "-f", "jsonl", path])
    last = count = 0
    for line in process.stdout:
        if line.startswith(b'{"kind":"record"'):
            at = line.index(b'"time":') + 7
            time = int(line[at:line.index(b",", at)])
            assert time >= last
            last, count = time, count + 1
    returncode, peak = end()
    assert (returncode, count) == (0, n)
    assert peak < 64 * MIB, f"{peak / MIB:.1f} MiB"


@pytest.mark.parametrize("args", [["-f", "json"], ["-f", "jsonl"], ["-f", "stats", "-j", "1"]],
                         ids=lambda args: args[1])
def test_memory_does_not_grow_with_the_file(args, pdecode, tmp_path):
    """Both files are larger than the part that is in memory. (The number of threads at work
    varies.)"""
    peaks = []
    for size in 20_000_000, 60_000_000:
        path = tmp_path / "large.data"
        large_file(path, size, lambda i: i + 1)
        process, end = measured(pdecode, [*args, path])
        while process.stdout.read(MIB):
            pass
        returncode, peak = end()
        assert returncode == 0
        peaks.append(peak)
    assert peaks[1] < peaks[0] + MIB, peaks


def test_memory_does_not_grow_with_the_stream(pdecode):
    """40 MB through a pipe, the size of which is not known."""
    record = encode(sample(CHAIN, ip=1, pid=7, tid=8, time=5, callchain=range(10)), Wire("<"))
    head = Pipe([r.header_attr(CHAIN, [42])]).build("<")
    process, end = measured(pdecode, ["-f", "jsonl", "-"], stdin=subprocess.PIPE)
    with subprocess.Popen(["grep", "-c", '"type":"SAMPLE"'], stdin=process.stdout,
                          stdout=subprocess.PIPE) as counter:
        process.stdout.close()
        process.stdin.write(head)
        block = record * 1000
        for _ in range(300):
            process.stdin.write(block)
        process.stdin.close()
        count = int(counter.stdout.read())
    returncode, peak = end()
    assert (returncode, count) == (0, 300_000)
    assert peak < 32 * MIB, f"{peak / MIB:.1f} MiB"


def test_memory_does_not_grow_with_the_text(pdecode, tmp_path):
    """Blocks of records whose text is larger than a thread's buffer."""
    fields = [(f"unsigned char {'x' * 400}{i}", 8 + i, 1, 0) for i in range(250)]
    a = attr("TIME|RAW", type=2, config=300)
    body = [sample(a, time=1000 + i, raw=tracing.common(300, 7) + bytes(250)) for i in range(1500)]
    path = tmp_path / "text.data"
    path.write_bytes(File(attrs=[(a, [1])], records=body, features={1: tracing.tracing_data(
        {"large": [tracing.Format("names", 300, fields)]})}).build("<"))
    size, digests = 0, set()
    for jobs in "1", "2", "4":
        process, end = measured(pdecode, ["-f", "jsonl", "-j", jobs, path])
        digest = hashlib.sha256()
        while text := process.stdout.read(MIB):
            size += len(text)
            digest.update(text)
        returncode, peak = end()
        assert returncode == 0
        assert peak < 48 * MIB, f"{peak / MIB:.1f} MiB"
        digests.add(digest.hexdigest())
    assert size > 3 * 100 * MIB and len(digests) == 1


def test_sorting_leaves_nothing(pdecode, tmp_path):
    """The temporary file has no name, even while the program runs."""
    path, spool = tmp_path / "large.data", tmp_path / "spool"
    spool.mkdir()
    large_file(path, 10_000_000, lambda i: (i * 7919 + 13) % 80_021 + 1)
    with subprocess.Popen([pdecode, "--sort", "time", "--memory", "8M", path],
                          stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(spool)}) as process:
        assert process.stdout.read(100_000)
        assert list(spool.iterdir()) == []
        process.kill()
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(not shutil.which("cat"), reason="no cat")
def test_cat(run_pdecode, decode):
    """cat FILE | pdecode -, for a file that has its features at the end."""
    path = FILES[0]
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as cat:
        done = run_pdecode(["-"], input=None, stdin=cat.stdout)
    assert done.returncode == 0 and parts(strict_json(done.stdout)) == parts(decode(path))


def test_the_own_header_is_no_other_recording(decode, tmp_path):
    """Records are found after it if the header says that they begin where the file does."""
    path = tmp_path / "perf.data"
    damaged = bytearray((FIXTURES / "perf" / "02-callgraph-fp.data").read_bytes())
    for at in 24, 40:       # attrs.offset, data.offset
        damaged[at:at + 8] = bytes(8)
    path.write_bytes(damaged)
    assert decode(path)["summary"]["records"] == 98
