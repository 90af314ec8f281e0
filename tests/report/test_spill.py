"""Formats with times: samples for which there is no memory are in a temporary file meanwhile."""
import gzip
import hashlib
import random
import shutil
import struct
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import CLOCK, EXEC, FAULTS, Recording
from perfdata import records as r
from perfdata.sample import sample_id
from profiles import page, preport, without_large_files

SAMPLES = 60_000
LITTLE = "--memory=1M"      # a quarter of it is for the samples, which need about 500 kB

OUT = 1 << 13               # PERF_RECORD_MISC_SWITCH_OUT

FORMS = {
    "firefox": ("-f", "firefox"),
    "speedscope": ("-f", "speedscope"),
    "chrome": ("-f", "chrome"),
    "pprof": ("-f", "pprof", "--labels=timestamp_ns"),
    "thinned": ("-f", "speedscope", "--thin=2"),
}
PAGE = ("-f", "flamegraph")
LITTLE_OF_PAGE = "--memory=2M"


def a_recording():
    """Few stacks, and many samples; the first thread has more than are read back at once. Numbers
    need one byte, or many."""
    chance = random.Random(7)
    it = Recording()
    for pid in range(10, 40):
        it.task(pid)
    time = 1_000_000
    for i in range(SAMPLES):
        time += chance.choice((1, 200, 100_000))
        it.sample(time, 10 if i % 4 else 10 + i // 4 % 30, chance.choice((5, 70_000, 1 << 40)),
                  0x1000 * chance.randrange(1, 3), 0x2010, event=CLOCK if i % 9 else FAULTS)
    return it


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    path = tmp_path_factory.mktemp("spill") / "perf.data"
    path.write_bytes(a_recording().file())
    return path


def run(path, *args):
    """No file can be longer than a memory page. Returns the status, the message and the output."""
    done = subprocess.run([TOOLS / "preport", "--no-symbols", *args, path], capture_output=True,
                          preexec_fn=without_large_files, timeout=TIMEOUT)
    return done.returncode, done.stderr.decode(), done.stdout


def digest(data):
    return hashlib.sha256(data).hexdigest()


def page_of(path, *args):
    return digest(preport(*PAGE, *args, path))


@pytest.mark.parametrize("form", FORMS)
def test_samples_in_a_file_give_the_same_bytes(form, long):
    want = preport(*FORMS[form], long)
    assert len(gzip.decompress(want) if want[:2] == b"\x1f\x8b" else want) > 2 * SAMPLES
    assert preport(*FORMS[form], LITTLE, long) == want
    assert preport(*FORMS[form], LITTLE, "--sandbox", long) == want


def test_threads_that_there_is_no_memory_for_while_samples_have_it(tmp_path):
    """At 512 threads their array grows, when one of them has most of the memory."""
    it = Recording()
    time = 1_000_000
    it.task(10)
    for tid in range(11, 610):
        it.comm(time, 10, "same", tid)
    for tid in [*range(10, 510), *[10] * 11_000, *range(510, 610)]:
        time += 100_000
        it.sample(time, 10, 1 << 20, 0x1000, 0x2010, tid=tid)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert preport("-f", "speedscope", LITTLE, path) == preport("-f", "speedscope", path)


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_told(form, long):
    status, message, _ = run(long, *FORMS[form], LITTLE)
    assert status == 4
    assert message == f"preport: {long}: a temporary file (TMPDIR): File too large\n"


def test_with_memory_there_is_no_file(long):
    status, message, _ = run(long, *FORMS["speedscope"])
    assert (status, message) == (0, "")


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_a_thread_that_changed_its_cpu_is_put_in_order_without_the_file(tmp_path):
    """The samples of two buffers, which memory has room for twice, but not as much as may stay
    there: each went to the file alone."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for start in range(0, 40_000, 1000):
        for i in [*range(0, 1000, 2), *range(1, 1000, 2)]:
            it.sample(1000 + 10**9 * (start + i), 10, 1 << 47, 0x1000, 0x2010)
    path, trace = tmp_path / "perf.data", tmp_path / "trace"
    path.write_bytes(it.file())
    subprocess.run(["strace", "-f", "-e", "trace=pread64,pwrite64", "-o", trace,
                    TOOLS / "preport", "--no-symbols", *PAGE, "--memory=32M", "--sandbox=never",
                    "-j1", "-o", "/dev/null", path], check=True, timeout=TIMEOUT)
    assert 0 < trace.read_text().count("pread64") < 1000
    assert "pwrite64" not in trace.read_text()


@pytest.mark.parametrize("jobs", ("-j1", "-j2"))
def test_a_page_has_all_times_that_do_not_fit_in_memory(jobs, long):
    want = page_of(long)
    assert page_of(long, LITTLE_OF_PAGE, jobs) == want
    assert page_of(long, LITTLE_OF_PAGE, jobs, "--sandbox") == want


def test_a_page_needs_no_file_for_times_that_fit_in_memory(long):
    """A 32nd of the memory is too little for them, a quarter is enough."""
    status, message, data = run(long, *PAGE, "--memory=4M")
    assert (status, message) == (0, "")
    assert digest(data) == page_of(long, "--no-symbols")


def check_lack(path, *args):
    """A page without times, and with whatever else it has with them."""
    want, want_nodes, want_samples = page(preport(*PAGE, *args, path))
    assert want_samples and "the times" not in want["facts"]
    status, message, data = run(path, *PAGE, *args, LITTLE_OF_PAGE)
    assert status == 1
    assert message == (f"preport: {path}: the page has no times: they need more memory (--memory) "
                       "or a temporary file (TMPDIR)\n")
    about, nodes, samples = page(data)
    lack = "; the times did not fit into memory"
    events = [{**event, "threads": [], "facts": event["facts"] + lack} for event in want["events"]]
    assert about == {**want, "threads": [], "facts": want["facts"] + lack, "events": events}
    assert (nodes, samples) == (want_nodes, [])


@pytest.mark.parametrize("jobs", ("-j1", "-j2"))
def test_a_page_without_file_and_memory_has_no_times_and_tells(jobs, long):
    check_lack(long, jobs)


def waits_of(threads):
    """Threads that have a sample each, and take turns to wait."""
    it = Recording()
    it.task(10)
    for i in range(SAMPLES):
        tid, start = 10 + i % threads, 1_000_000 * (i + 1)
        if i < threads:
            it.sample(start, 10, 5, 0x1000, tid=tid)
        for time, misc in ((start + 1, OUT), (start + 999_000 - i, 0)):
            it.records.append(r.switch(misc=misc, sid=sample_id(
                CLOCK, pid=10, tid=tid, time=time, identifier=1)))
        if i % 100 == 0:    # so that sorting needs no file
            it.records.append(r.finished_round())
    return it


def test_times_of_waits_without_file_and_memory(tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(waits_of(1).file())
    check_lack(path, "--off-cpu")


def test_waits_are_counted_without_file_and_memory_for_all_threads(tmp_path):
    """Those of threads whose stacks do not fit are "[small]"."""
    path = tmp_path / "perf.data"
    path.write_bytes(waits_of(12_000).file())
    want = sum(999_000 - i - 1 for i in range(SAMPLES))
    for memory, is_whole in (("3M", False), ("8M", False), ("64M", True)):
        status, _, data = run(path, *PAGE, "--off-cpu", f"--memory={memory}")
        about, nodes, samples = page(data)
        assert status == (0 if is_whole else 1), memory
        assert [sum(node[i] for node in nodes) for i in (2, 3)] == [want, SAMPLES], memory
        assert len(samples) == (SAMPLES if is_whole else 0), memory
        assert any(name == "[small]" for name, *_ in about["functions"]) != is_whole, memory


def of_one_thread(order):
    """`order` has the times; each time has a weight, of seven bytes. One sample is encoded, the
    others are its copies."""
    time, weight = 0x1122334455667788, 0x99aabbcc
    it = Recording()
    it.comm(1, 10, "task", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/one")
    it.sample(time, 10, weight, 0x1000)
    file = it.file()
    start, size = struct.unpack_from("<QQ", file, 40)
    record = start
    while record + struct.unpack_from("<H", file, record + 6)[0] < start + size:
        record += struct.unpack_from("<H", file, record + 6)[0]
    sample = file[record:start + size]
    assert sample.count(struct.pack("<Q", time)) == sample.count(struct.pack("<Q", weight)) == 1
    samples = [sample.replace(struct.pack("<Q", time), struct.pack("<Q", 1_000_000 + 2000 * at))
               .replace(struct.pack("<Q", weight), struct.pack("<Q", (1 + at * at % 1009) << 37))
               for at in order]
    data = file[start:record] + b"".join(samples)
    return (file[:48] + struct.pack("<Q", len(data)) + file[56:start] + data +
            file[start + size:])


@pytest.mark.parametrize("memory", ("256M", "40M"), ids=("memory", "file"))
@pytest.mark.parametrize("shift", (10, 25_000, 50_000))
def test_the_page_has_the_samples_of_a_thread_in_order(shift, memory, tmp_path):
    """However far from their places they are in the recording."""
    times = list(range(100_000))
    pairs = [times[i:i + 2 * shift] for i in range(0, len(times), 2 * shift)]
    path = tmp_path / "perf.data"
    path.write_bytes(of_one_thread(times))
    want = page_of(path)
    path.write_bytes(of_one_thread([t for pair in pairs for t in pair[shift:] + pair[:shift]]))
    assert page_of(path, f"--memory={memory}") == want
