"""-j N writes the same bytes for every N: files, pipes, directories, damaged files, and files of
many blocks."""

import functools
import json
import re

import pytest

from compiled import run
from perfdata import features
from perfdata import records as r
from perfdata import tracing
from perfdata.attr import Attr
from perfdata.container import Directory, File, Pipe, zstd_stream
from perfdata.sample import sample, sample_id
from perfdata.wire import Wire, encode, u64

JOBS = ("2", "3", "16")


def same_for_all(run_pdecode, path, *args):
    one = run_pdecode([*args, "-j", "1", str(path)])
    for jobs in JOBS:
        many = run_pdecode([*args, "-j", jobs, str(path)])
        assert many.returncode == one.returncode
        assert many.stdout == one.stdout
        assert many.stderr == one.stderr
    return one


def recording(mode, a, records):
    """A recording of one event, as a file or a pipe."""
    if mode == "file":
        return File(attrs=[(a, [1])], records=records).build("<")
    return Pipe([r.header_attr(a, [1]), *records]).build("<")


@pytest.mark.sanitize
@pytest.mark.parametrize("form", ["json", "jsonl", "stats"])
def test_same_bytes(data_file, run_pdecode, form):
    same_for_all(run_pdecode, data_file, "--format", form)


@functools.lru_cache(maxsize=None)
def many_records(broken):
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME", flags=("sample_id_all",))
    body = []
    for i in range(20000):
        body.append(sample(a, ip=0x1000 + i, pid=i % 7, tid=i, time=1000 + i))
        if i % 1000 == 999:
            body.append(r.comm(1, i, "x" * (i % 13), sid=sample_id(a, pid=1, tid=i, time=1000 + i)))
            body.append(r.finished_round())
        if broken and i % 5000 == 4999:
            body.append(r.record(3, [b"\1\2\3\4"]))    # a COMM that ends in its second field
    return a, body


@functools.lru_cache(maxsize=None)
def many_records_in(mode, broken):
    return recording(mode, *many_records(broken))


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("mode", ["file", "pipe"])
def test_many_blocks(tmp_path, run_pdecode, form, broken, mode):
    path = tmp_path / "many.data"
    path.write_bytes(many_records_in(mode, broken))
    one = same_for_all(run_pdecode, path, "--format", form)
    assert one.returncode == (1 if broken else 0)
    assert one.stdout.count(b'"type":"SAMPLE"') == 20000


@pytest.mark.parametrize("args", [("--sort", "time"), ("--types", "COMM"), ("--blobs", "omit"),
                                  ("--pretty",)])
def test_with_other_options(tmp_path, run_pdecode, args):
    path = tmp_path / "many.data"
    path.write_bytes(many_records_in("file", False))
    same_for_all(run_pdecode, path, *args)


def test_damage_far_into_a_file(tmp_path, run_pdecode):
    """The report depends on the bytes, not on how many of them are in memory."""
    a, body = many_records(False)
    data = bytearray(File(attrs=[(a, [1])], records=body * 8).build("<"))
    for i in (1, 2, 3):
        at = len(data) * i // 4 & ~7
        data[at:at + 304] = bytes((i * 7 + k * 13) % 255 + 1 for k in range(304))
    path = tmp_path / "damaged.data"
    path.write_bytes(data)
    lines = [json.loads(s)
             for s in same_for_all(run_pdecode, path, "--format", "jsonl").stdout.splitlines()]
    errors = [e for e in lines if e["kind"] == "error"]
    assert [e["code"] for e in errors] == ["GARBAGE"] * 3
    assert [e["have"] for e in errors] == [len(data) - e["offset"] for e in errors]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_errors_in_the_order_of_the_file(tmp_path, run_pdecode, form):
    """Some errors are found when records are read, others when they are written."""
    events = [tracing.Format("sys_enter", 300,
                             [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)])]
    a = Attr(type=2, config=300, sample_type="TIME|RAW")
    body = []
    for i in range(40):
        body.append(sample(a, time=1000 + i,
                           raw=tracing.common(300, 7) + bytes(12 if i % 3 else 56)))
        if i % 7 == 6:
            body.append(r.record(3, [b"\1\2\3\4"]))     # a COMM that ends in its second field
    path = tmp_path / "both.data"
    path.write_bytes(File(attrs=[(a, [1])], records=body,
                          features={1: tracing.tracing_data({"raw_syscalls": events})}).build("<"))
    one = same_for_all(run_pdecode, path, "--format", form)
    assert one.returncode == 1
    offsets = [int(offset) for offset in re.findall(rb'at (\d+)', one.stderr)]
    assert len(offsets) > 10 and offsets == sorted(offsets)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_errors_all_over_a_large_file(tmp_path, run_pdecode, form):
    """One thread reports errors while others read and write the records after them."""
    events = [tracing.Format("sys_enter", 300,
                             [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)])]
    a = Attr(type=2, config=300, sample_type="TIME|RAW")
    whole, short = (tracing.common(300, 7) + bytes(n) for n in (56, 12))
    body = [sample(a, time=1000 + i, raw=short if i % 997 == 996 else whole) for i in range(40000)]
    path = tmp_path / "short.data"
    path.write_bytes(File(attrs=[(a, [1])], records=body,
                          features={1: tracing.tracing_data({"raw_syscalls": events})}).build("<"))
    one = same_for_all(run_pdecode, path, "--format", form)
    assert one.returncode == 1 and one.stdout.count(b'"code":"TRUNCATED"') == 40000 // 997


def mixed_sizes():
    """Records of up to 64 KiB, which straddle the blocks that are read at once, between small
    ones."""
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME|RAW", flags=("sample_id_all",))
    body, size = [], 1
    for i in range(600):
        size = size * 1103515245 + 12345 & 0x7fffffff
        body.append(sample(a, ip=i, pid=1, tid=i, time=1000 + i,
                           raw=bytes([i % 256]) * ((size >> 8) % 65400 if i % 3 else 12)))
        if i % 5 == 4:
            body.append(r.finished_round())
        if i % 50 == 49:
            body.append(r.record(3, [b"\1\2\3\4"]))     # a COMM that ends in its second field
    return a, body


@pytest.mark.sanitize
@pytest.mark.parametrize("args", [(), ("--types", "FINISHED_ROUND"), ("--tid", "599")],
                         ids=" ".join)
@pytest.mark.parametrize("mode", ["file", "pipe", "directory", "after"])
def test_records_of_all_sizes(tmp_path, run_pdecode, mode, args):
    a, body = mixed_sizes()
    path = tmp_path / "sizes.data"
    if mode == "directory":
        streams = {f"data.{i}": body[i * 240:(i + 1) * 240] for i in range(3)}
        path.mkdir()
        for name, data in Directory(File(attrs=[(a, [1])], features={24: u64(1)}),
                                    streams).build("<").items():
            (path / name).write_bytes(data)
    elif mode == "after":      # the descriptor is at the start of perf.data inside another file
        path.write_bytes(recording("file", a, body) + bytes(300000))
    else:
        path.write_bytes(recording(mode, a, body))
    one = same_for_all(run_pdecode, path, "--format", "jsonl", "--blobs", "omit", *args)
    assert one.returncode == 1


def pressed(records, frames, broken):
    """COMPRESSED records of several frames, between others; payloads and headers can be broken."""
    def make(wire):
        step = len(records) // frames
        out = []
        for i in range(0, len(records), step):
            stream = zstd_stream(encode(records[i : i + step], wire), end=True)
            out += [r.compressed(stream[at : at + 3000]) for at in range(0, len(stream), 3000)]
            out.append(r.finished_round())
        blob = bytearray(encode(out, wire))
        for i in broken:
            at = len(blob) * i // 10
            blob[at : at + 32] = bytes(255 - b for b in blob[at : at + 32])
        return bytes(blob)
    return make


@functools.lru_cache(maxsize=None)
def varied_samples():
    """An event, and samples that hardly compress."""
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME|CPU", flags=("sample_id_all",))
    return a, [encode(sample(a, ip=i * 0x9e3779b97f4a7c15 % 2**64, pid=1, tid=i, time=2**62 + i,
                             cpu=1), Wire()) for i in range(20000)]


@functools.lru_cache(maxsize=None)
def pressed_in(mode, frames, broken):
    a, body = varied_samples()
    return recording(mode, a, [pressed(body, frames, broken)])


@pytest.mark.sanitize
@pytest.mark.parametrize("form", ["jsonl", "stats"])
@pytest.mark.parametrize("frames, broken", [(1, ()), (40, ()), (40, range(1, 10)), (1, (5,))])
@pytest.mark.parametrize("mode", ["file", "pipe"])
def test_decompressed_ahead(tmp_path, run_pdecode, form, frames, broken, mode):
    """Compressed recordings give the same output with threads."""
    path = tmp_path / "pressed.data"
    path.write_bytes(pressed_in(mode, frames, broken))
    one = same_for_all(run_pdecode, path, "--format", form)
    if broken:                      # changed literals are not detected
        assert frames == 1 or one.returncode == 1
    else:
        assert one.returncode == 0
        assert form == "stats" or one.stdout.count(b'"type":"SAMPLE"') == 20000
