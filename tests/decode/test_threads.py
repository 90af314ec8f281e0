"""-j N writes the same bytes for every N: files, pipes, directories, damaged files, and files of many blocks."""

import array
import collections
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import termios
import time

import pytest

from compiled import run
from perfdata import features
from perfdata import records as r
from perfdata import tracing
from perfdata.attr import Attr
from perfdata.container import Directory, File, Pipe, zstd_stream
from perfdata.sample import sample, sample_id
from perfdata.wire import encode, u64

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
    """Of one event, as a file or as a pipe."""
    if mode == "file":
        return File(attrs=[(a, [1])], records=records).build("<")
    return Pipe([r.header_attr(a, [1]), *records]).build("<")


@pytest.mark.sanitize
@pytest.mark.parametrize("form", ["json", "jsonl", "stats"])
def test_same_bytes(data_file, run_pdecode, form):
    same_for_all(run_pdecode, data_file, "--format", form)


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


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("mode", ["file", "pipe"])
def test_many_blocks(tmp_path, run_pdecode, form, broken, mode):
    a, body = many_records(broken)
    path = tmp_path / "many.data"
    path.write_bytes(recording(mode, a, body))
    one = same_for_all(run_pdecode, path, "--format", form)
    assert one.returncode == (1 if broken else 0)
    assert one.stdout.count(b'"type":"SAMPLE"') == 20000


@pytest.mark.parametrize("args", [("--sort", "time"), ("--types", "COMM"), ("--blobs", "omit"), ("--pretty",)])
def test_with_other_options(tmp_path, run_pdecode, args):
    a, body = many_records(False)
    path = tmp_path / "many.data"
    path.write_bytes(File(attrs=[(a, [1])], records=body).build("<"))
    same_for_all(run_pdecode, path, *args)


def test_damage_far_into_a_file(tmp_path, run_pdecode):
    """What is told of it depends on the bytes, not on how many of them happened to be in memory."""
    a, body = many_records(False)
    data = bytearray(File(attrs=[(a, [1])], records=body * 8).build("<"))
    for i in (1, 2, 3):
        at = len(data) * i // 4 & ~7
        data[at:at + 304] = bytes((i * 7 + k * 13) % 255 + 1 for k in range(304))
    path = tmp_path / "damaged.data"
    path.write_bytes(data)
    lines = [json.loads(s) for s in same_for_all(run_pdecode, path, "--format", "jsonl").stdout.splitlines()]
    errors = [e for e in lines if e["kind"] == "error"]
    assert [e["code"] for e in errors] == ["GARBAGE"] * 3
    assert [e["have"] for e in errors] == [len(data) - e["offset"] for e in errors]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_errors_in_the_order_of_the_file(tmp_path, run_pdecode, form):
    """Some are found by whoever reads the records, others by the threads that write them."""
    events = [tracing.Format("sys_enter", 300, [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)])]
    a = Attr(type=2, config=300, sample_type="TIME|RAW")
    body = []
    for i in range(40):
        body.append(sample(a, time=1000 + i, raw=tracing.common(300, 7) + bytes(12 if i % 3 else 56)))
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
    """They are told by one thread while others read and write what comes behind."""
    events = [tracing.Format("sys_enter", 300, [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)])]
    a = Attr(type=2, config=300, sample_type="TIME|RAW")
    whole, short = (tracing.common(300, 7) + bytes(n) for n in (56, 12))
    body = [sample(a, time=1000 + i, raw=short if i % 997 == 996 else whole) for i in range(40000)]
    path = tmp_path / "short.data"
    path.write_bytes(File(attrs=[(a, [1])], records=body,
                          features={1: tracing.tracing_data({"raw_syscalls": events})}).build("<"))
    one = same_for_all(run_pdecode, path, "--format", form)
    assert one.returncode == 1 and one.stdout.count(b'"code":"TRUNCATED"') == 40000 // 997


def mixed_sizes():
    """Records of up to 64 KiB, which end and begin everywhere in what is read at once; between them others."""
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME|RAW", flags=("sample_id_all",))
    body, size = [], 1
    for i in range(600):
        size = size * 1103515245 + 12345 & 0x7fffffff
        body.append(sample(a, ip=i, pid=1, tid=i, time=1000 + i, raw=bytes([i % 256]) * ((size >> 8) % 65400 if i % 3 else 12)))
        if i % 5 == 4:
            body.append(r.finished_round())
        if i % 50 == 49:
            body.append(r.record(3, [b"\1\2\3\4"]))     # a COMM that ends in its second field
    return a, body


@pytest.mark.sanitize
@pytest.mark.parametrize("args", [(), ("--types", "FINISHED_ROUND"), ("--tid", "599")], ids=" ".join)
@pytest.mark.parametrize("mode", ["file", "pipe", "directory", "behind"])
def test_records_of_all_sizes(tmp_path, run_pdecode, mode, args):
    a, body = mixed_sizes()
    path = tmp_path / "sizes.data"
    if mode == "directory":
        streams = {f"data.{i}": body[i * 240:(i + 1) * 240] for i in range(3)}
        path.mkdir()
        for name, data in Directory(File(attrs=[(a, [1])], features={24: u64(1)}), streams).build("<").items():
            (path / name).write_bytes(data)
    elif mode == "behind":      # bytes from where perf.data begins in another file's middle
        path.write_bytes(recording("file", a, body) + bytes(300000))
    else:
        path.write_bytes(recording(mode, a, body))
    one = same_for_all(run_pdecode, path, "--format", "jsonl", "--blobs", "omit", *args)
    assert one.returncode == 1


@pytest.mark.parametrize("jobs", [2, 3])
def test_each_thread_reads(tmp_path, pdecode, jobs):
    """What is formatted on a core is read on it: in a file of large records the reading takes as long."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace")
    a = Attr(type=1, config=0, sample_type="TIME|RAW")
    path, trace = tmp_path / "large.data", tmp_path / "trace"
    path.write_bytes(recording("file", a, [sample(a, time=1000 + i, raw=bytes(8188)) for i in range(4000)]))
    done = subprocess.run([strace, "-f", "--seccomp-bpf", "-e", "trace=pread64", "-o", trace,
                           pdecode, "-f", "jsonl", "-j", str(jobs), path],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if not trace.exists() or not trace.read_text():
        pytest.skip(f"strace: {done.stderr.decode()}")
    assert done.returncode == 0
    calls = (line.split() for line in trace.read_text().splitlines())
    reads = collections.Counter(words[0] for words in calls if words[-2] == "=" and int(words[-1]) > 100_000)
    assert len(reads) > 1 and sorted(reads.values())[-2] > 20       # on two cpus a third may come too late


def pressed(records, frames, broken):
    """COMPRESSED records of several frames, between them others; what is broken is inside payloads, and in headers."""
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


@pytest.mark.sanitize
@pytest.mark.parametrize("form", ["jsonl", "stats"])
@pytest.mark.parametrize("frames, broken", [(1, ()), (40, ()), (40, range(1, 10)), (1, (5,))])
@pytest.mark.parametrize("mode", ["file", "pipe"])
def test_decompressed_ahead(tmp_path, run_pdecode, form, frames, broken, mode):
    """From -j 3 on, and for statistics from 2 on, a thread decompresses what the reader has not come to yet."""
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME|CPU", flags=("sample_id_all",))
    body = [sample(a, ip=i * 0x9e3779b97f4a7c15 % 2**64, pid=1, tid=i, time=2**62 + i, cpu=1) for i in range(20000)]
    records = [pressed(body, frames, broken)]
    path = tmp_path / "pressed.data"
    path.write_bytes(recording(mode, a, records))
    one = same_for_all(run_pdecode, path, "--format", form)
    if broken:                      # literals may be other ones without anybody knowing
        assert frames == 1 or one.returncode == 1
    else:
        assert one.returncode == 0
        assert form == "stats" or one.stdout.count(b'"type":"SAMPLE"') == 20000


def threads_in_the_middle(pdecode, data, jobs):
    """How many there are when half of a stream has been read, and no more comes."""
    with subprocess.Popen([pdecode, "-f", "stats", "-j", jobs, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as p:
        p.stdin.write(data[: len(data) // 2])
        p.stdin.flush()
        waiting = array.array("i", [1])
        while waiting[0] and not fcntl.ioctl(p.stdin, termios.FIONREAD, waiting):
            time.sleep(0.01)
        while pathlib.Path(f"/proc/{p.pid}/stat").read_text().split()[2] != "S":
            time.sleep(0.01)
        threads = len(os.listdir(f"/proc/{p.pid}/task"))
        p.stdin.write(data[len(data) // 2 :])
        p.stdin.close()
        assert p.wait() == 0
    return threads


@pytest.mark.parametrize("jobs, expected", [("1", 1), ("2", 2), ("8", 2)])
def test_decompressing_has_a_thread(pdecode, jobs, expected):
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME", flags=("sample_id_all",))
    body = [sample(a, ip=i * 0x9e3779b97f4a7c15 % 2**64, pid=1, tid=i, time=1000 + i) for i in range(6000)]
    data = Pipe([r.header_attr(a, [1]), pressed(body, 10, ())]).build("<")
    assert threads_in_the_middle(pdecode, data, jobs) == expected


@pytest.mark.parametrize("ratio, expected", [(63, 2), (64, 1)])
def test_what_is_quickly_decompressed_has_none(pdecode, ratio, expected):
    """Handing it over would take longer."""
    a = Attr(type=1, config=0, sample_type="IP|TID|TIME", flags=("sample_id_all",))
    body = [sample(a, ip=i * 0x9e3779b97f4a7c15 % 2**64, pid=1, tid=i, time=1000 + i) for i in range(6000)]
    data = Pipe([r.header_attr(a, [1]), r.header_feature(27, features.compressed(ratio=ratio)), pressed(body, 10, ())]).build("<")
    assert threads_in_the_middle(pdecode, data, "2") == expected


def test_no_memory_for_decompressing_ahead():
    assert run("ahead_limits") == (0, [])
