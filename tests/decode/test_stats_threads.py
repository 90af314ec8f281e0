"""Statistics by several threads: the numbers of one thread, wherever their segments begin.

The files are larger than what the reader counts before other threads start, and have several segments after that.
"""
import collections
import os
import re
import shutil
import subprocess

import pytest

from conftest import TOOLS
from perfdata import records as r
from perfdata import tracing
from perfdata.attr import Attr
from perfdata.container import Directory, File, Pipe
from perfdata.sample import sample, sample_id
from perfdata.stacks import STACKS, with_old_records
from perfdata.wire import Wire, encode, u64
from test_threads import same_for_all

MIB = 1 << 20
BEHIND = 5 * MIB        # here parts are counted by whoever has time
SIZE = 30 * MIB
PLAIN = Attr(type=1, config=0, sample_period=7, sample_type="IP|TID|TIME|CPU|PERIOD", flags=("sample_id_all",))
FIRST, SECOND = (Attr(type=1, config=config, sample_period=1, sample_type="IDENTIFIER|IP|TID|TIME|CPU",
                      flags=("sample_id_all",)) for config in (0, 2))


def plain(i, times=1000):
    """Samples with whatever a recording has between them."""
    body = []
    for n in range(i, i + times):
        body.append(sample(PLAIN, ip=n, pid=n % 7, tid=n % 11, time=10**9 + n, cpu=n % 4, period=n))
        if n % 50 == 49:
            body.append(r.comm(1, n, "x" * (n % 13), sid=sample_id(PLAIN, pid=1, tid=n, time=10**9 + n, cpu=1)))
            body.append(r.finished_round())
        if n % 300 == 299:
            body.append(r.lost(1, n, sid=sample_id(PLAIN, pid=1, tid=n, time=10**9 + n, cpu=1)))
    return body


def two_events(i):
    return [sample(FIRST if n % 3 else SECOND, identifier=1 + (n % 3 == 0), ip=n, pid=1, tid=2, time=10**9 + n, cpu=n % 4)
            for n in range(i, i + 1000)]


def build(path, attrs, make, size=SIZE, order="<", between=lambda i, at: b"", **options):
    """Blocks of records, which differ, up to that size; between(number, offset) is what else comes after a block."""
    blocks = [encode(make(1000 * i), Wire(order)) for i in range(5)]
    data, i = bytearray(), 0
    while len(data) < size:
        data += blocks[i % 5]
        data += between(i, len(data))
        i += 1
    path.write_bytes(File(attrs=attrs, records=[lambda wire: bytes(data)], **options).build(order))
    path.chmod(0o600)
    return path


def counted_alike(run_pdecode, path, *args):
    return same_for_all(run_pdecode, path, "-f", "stats", *args)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_samples_and_others(order, mode, tmp_path, run_pdecode):
    """Of files that are mapped, and of those that are read."""
    path = build(tmp_path / "plain.data", [(PLAIN, [1])], plain, order=order)
    path.chmod(mode)
    assert counted_alike(run_pdecode, path).returncode == 0


def test_two_events(tmp_path, run_pdecode):
    path = build(tmp_path / "two.data", [(FIRST, [1]), (SECOND, [2])], two_events)
    assert counted_alike(run_pdecode, path).returncode == 0


@pytest.mark.sanitize
@pytest.mark.parametrize("args", [
    ("--time", "1.0000005,1.0000025"), ("--cpu", "1,3"), ("--types", "COMM,FINISHED_ROUND"), ("--pid", "3"), ("--comm", "xx*"),
    ("--event", "*"), ("--event", "none"), ("--sort", "time"), ("--memory", "9M"), ("--memory", "30M"), ("--pretty",)],
    ids=" ".join)
def test_options(args, tmp_path, run_pdecode):
    counted_alike(run_pdecode, build(tmp_path / "plain.data", [(PLAIN, [1])], plain), *args)


def test_old_records_in_stacks(tmp_path, run_pdecode):
    path = build(tmp_path / "stacks.data", [(STACKS, [1])], with_old_records)
    assert counted_alike(run_pdecode, path).returncode == 0


def odd_sizes(i, at):
    """Records, cut ones, of any size: what comes behind begins anywhere."""
    return encode([r.record(79, [u64(1, 1), bytes(5 + i % 7)])] if at > BEHIND else [], Wire("<"))


def unknown_types(i, at):
    return encode([r.record(60 + i % 3, [bytes(8 * (i % 50))]), r.record(200, [bytes(16)])], Wire("<"))


def events_are_told_of(i, at):
    """Nothing that was read ahead of such a record can be known to hold behind it."""
    return encode([r.event_update_name(1, f"name{i}")] if i % 90 == 89 else [], Wire("<"))


def payloads(i, at):
    """Data of an AUX area, in which records stand."""
    data = encode(plain(5000, 200), Wire("<"))
    return encode([r.auxtrace(data, offset=at, idx=1, tid=7, cpu=1)] if i % 9 == 8 else [], Wire("<"))


def zeros(i, at):
    return bytes(3000) if i % 70 == 69 else b""


def cut_records(i, at):
    return encode([r.record(3, [b"\1\2\3\4"])] if i % 40 == 39 else [], Wire("<"))


@pytest.mark.sanitize
@pytest.mark.parametrize("between, status", [
    (odd_sizes, 1), (unknown_types, 0), (events_are_told_of, 0), (payloads, 0), (zeros, 1), (cut_records, 1)],
    ids=lambda x: getattr(x, "__name__", None))
def test_what_else_there_is(between, status, tmp_path, run_pdecode):
    path = build(tmp_path / "more.data", [(PLAIN, [1])], plain, between=between)
    assert counted_alike(run_pdecode, path).returncode == status


def test_events_of_other_names(tmp_path, run_pdecode):
    """A filter asks for the name that the event has there."""
    def between(i, at):
        return encode([r.event_update_name(1, f"name{i % 4}")] if i % 30 == 29 else [], Wire("<"))
    path = build(tmp_path / "names.data", [(PLAIN, [1])], plain, between=between)
    counts = [counted_alike(run_pdecode, path, "--event", name).stdout for name in ("name1", "name3", "name*")]
    assert len(set(counts)) == 3


@pytest.mark.parametrize("at", [BEHIND, 9 * MIB + 12345, 17 * MIB + 1, 25 * MIB])
def test_damage(at, tmp_path, run_pdecode):
    """Six wrong bytes; half of the file gone; a part that can't be told from records."""
    path = build(tmp_path / "plain.data", [(PLAIN, [1])], plain)
    whole = path.read_bytes()
    for damaged in (whole[:at] + b"\xff\3\xee\1\0\x80" + whole[at + 6:], whole[:at], whole[:at] + whole[1000:100000] + whole[at:],
                    whole[:at] + bytes(5 * MIB) + whole[at:]):
        path.write_bytes(damaged)
        counted_alike(run_pdecode, path)


def test_times_far_apart(tmp_path, run_pdecode):
    """Whether a large record is believed depends on the time of the sample before."""
    a = Attr(type=1, config=2, sample_period=1, sample_type="IP|TID|TIME|RAW")
    hour = 3600 * 10**9

    def jumps(i):
        return [sample(a, ip=1, pid=1, tid=1, time=10**9 + (i * 1000 + n) // 100 * 2 * hour, raw=bytes(4000)) for n in range(300)]
    counted_alike(run_pdecode, build(tmp_path / "jumps.data", [(a, [1])], jumps))


def test_directory(tmp_path, run_pdecode):
    """Each file anew."""
    made = {}       # encoding takes Python long
    body = [lambda wire, i=i: made.get(i) or made.setdefault(i, encode(plain(i * 1000), wire)) for i in range(5)] * 45
    path = tmp_path / "parts.data"
    path.mkdir()
    streams = {f"data.{i}": body[i:] for i in range(3)}
    for name, data in Directory(File(attrs=[(PLAIN, [1])], features={24: u64(1)}), streams).build("<").items():
        (path / name).write_bytes(data)
        (path / name).chmod(0o600)
    assert counted_alike(run_pdecode, path).returncode == 0


def test_tracepoints(tmp_path, run_pdecode):
    events = [tracing.Format("sys_enter", 300, [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)])]
    a = Attr(type=2, config=300, sample_type="TIME|RAW")

    def make(i):
        return [sample(a, time=1000 + n, raw=tracing.common(300, 7) + bytes(56)) for n in range(i, i + 1000)]
    path = build(tmp_path / "tracepoints.data", [(a, [1])], make,
                 features={1: tracing.tracing_data({"raw_syscalls": events})})
    assert counted_alike(run_pdecode, path).returncode == 0


# --- who does the work ------------------------------------------------------------------------------------------------

def reads_by_thread(tmp_path, path, *args):
    """Bytes that each thread read of a file that others may write, and so is not mapped."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace")
    path.chmod(0o666)
    trace = tmp_path / "trace"
    done = subprocess.run([strace, "-f", "--seccomp-bpf", "-e", "trace=pread64", "-o", trace, TOOLS / "pdecode", "-f", "stats",
                           "-j", "2", *args, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if not trace.exists() or not trace.read_text():
        pytest.skip(f"strace: {done.stderr.decode()}")
    reads = collections.Counter()
    for thread, size in re.findall(r"^(\d+) .*pread64.* = (\d+)$", trace.read_text(), flags=re.M):
        reads[thread] += int(size)
    return reads


CASES = {"plain": ([(PLAIN, [1])], plain), "two events": ([(FIRST, [1]), (SECOND, [2])], two_events),
         "stacks": ([(STACKS, [1])], with_old_records)}


@pytest.mark.parametrize("args", [(), ("--cpu", "1")], ids=" ".join)
@pytest.mark.parametrize("case", CASES)
def test_threads_share_the_file(case, args, tmp_path):
    """Two have a good part of it, and no byte is read twice but where parts meet: what each has found holds."""
    path = build(tmp_path / "shared.data", *CASES[case], size=2 * SIZE)
    shares = []
    for _ in range(5):          # on a busy machine the second one may come late
        reads = reads_by_thread(tmp_path, path, *args)
        assert len(reads) == 2
        assert sum(reads.values()) < 1.15 * path.stat().st_size
        shares.append(min(reads.values()))
        if shares[-1] > path.stat().st_size // 10:
            break
    else:
        pytest.fail(f"of {path.stat().st_size} bytes the other thread read {shares}")


@pytest.mark.parametrize("args", [("--comm", "xx*"), ("--sort", "time"), ("--strict",), ("--memory", "4M")], ids=" ".join)
def test_one_thread_where_order_counts(args, tmp_path):
    """Names of threads come with the records before; and where there is no memory for two."""
    path = build(tmp_path / "alone.data", *CASES["plain"])
    assert len(reads_by_thread(tmp_path, path, *args)) == 1


def test_parts_that_are_of_no_use_are_given_up(tmp_path):
    """Records that have to be read one after the other are, mostly, read once."""
    path = build(tmp_path / "payloads.data", [(PLAIN, [1])], lambda i: plain(i, 20), size=60 * MIB, between=lambda i, at: encode(
        [r.auxtrace(bytes(30000), offset=at, idx=1, tid=7, cpu=1)], Wire("<")))
    reads = reads_by_thread(tmp_path, path)
    assert sum(reads.values()) < 1.5 * path.stat().st_size


def test_a_stream_costs_no_more_with_two(tmp_path):
    """There is one way through it: two threads have nothing to share, and one of them takes the short way that it takes alone."""
    path = tmp_path / "stream.data"
    block = encode(plain(0), Wire("<"))
    path.write_bytes(Pipe([r.header_attr(PLAIN, [1]), lambda wire: block * 500]).build("<"))

    def seconds(jobs):
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            counting = subprocess.Popen([TOOLS / "pdecode", "-f", "stats", "-j", jobs, "-"], stdin=cat.stdout,
                                        stdout=subprocess.DEVNULL)
            cat.stdout.close()
            _, status, used = os.wait4(counting.pid, 0)
            counting.returncode = status
        assert status == 0
        return used.ru_utime + used.ru_stime
    one, two = (min(seconds(jobs) for _ in range(5)) for jobs in "12")
    assert two < 1.6 * one      # one by one, records take more than twice as long


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_memory_of_many_threads(tmp_path):
    """Pieces of the file for all of them together."""
    path = build(tmp_path / "memory.data", [(PLAIN, [1])], plain, size=4 * SIZE)
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); " \
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    peak = {jobs: int(subprocess.run(["python3", "-c", code, TOOLS / "pdecode", "-f", "stats", "-j", jobs, path], check=True,
                                     stdout=subprocess.PIPE).stdout) // 1024 for jobs in ("2", "8", "16")}
    assert peak["2"] < 40 and peak["8"] < 60 and peak["16"] < 60, peak
