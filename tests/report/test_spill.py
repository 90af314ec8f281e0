"""Formats with times: samples for which there is no memory are in a temporary file meanwhile."""
import gzip
import random
import resource
import signal
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import CLOCK, EXEC, FAULTS, Recording
from profiles import preport

SAMPLES = 60_000
LITTLE = "--memory=1M"      # a quarter of it is for the samples, which need about 500 kB

FORMS = {
    "firefox": ("-f", "firefox"),
    "speedscope": ("-f", "speedscope"),
    "chrome": ("-f", "chrome"),
    "pprof": ("-f", "pprof", "--labels=timestamp_ns"),
    "thinned": ("-f", "speedscope", "--thin=2"),
}


def a_recording():
    """Few stacks, and many samples; the first thread has more than are read back at once. Numbers
    need one byte, or many."""
    chance = random.Random(7)
    it = Recording()
    for pid in range(10, 40):
        it.comm(1, pid, f"task {pid}", misc=EXEC)
        it.map(2, pid, 0x1000, 0x1000, "/bin/one")
        it.map(3, pid, 0x2000, 0x1000, "/lib/two.so")
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
    """No file can be longer than a page."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run([TOOLS / "preport", "--no-symbols", *args, path], capture_output=True,
                          preexec_fn=limit, timeout=TIMEOUT)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("form", FORMS)
def test_samples_in_a_file_give_the_same_bytes(form, long):
    want = preport(*FORMS[form], long)
    assert len(gzip.decompress(want) if want[:2] == b"\x1f\x8b" else want) > 2 * SAMPLES
    assert preport(*FORMS[form], LITTLE, long) == want
    assert preport(*FORMS[form], LITTLE, "--sandbox", long) == want


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_told(form, long):
    status, message = run(long, *FORMS[form], LITTLE)
    assert status == 4
    assert message == f"preport: {long}: a temporary file (TMPDIR): File too large\n"


def test_with_memory_there_is_no_file(long):
    status, message = run(long, *FORMS["speedscope"])
    assert (status, message) == (0, "")


def test_without_memory_for_the_threads_there_is_no_output(tmp_path):
    """A thread for each sample: the memory is for the threads, not for what they have."""
    it = Recording()
    for i in range(20_000):
        it.sample(10 + i, 10, 1, 0x1000, tid=10 + i)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    out = tmp_path / "out.speedscope.json"
    preport("-o", out, LITTLE, path, status=4)
    assert not out.exists()
