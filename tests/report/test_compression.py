"""Compressed files: a thread compresses them, and their bytes are those of one thread."""
import gzip
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import Recording
from profiles import preport

SAMPLES = 30_000        # more chunks of output than are kept for the thread at once
FORMS = {"pprof": ("-f", "pprof", "--labels=timestamp_ns"), "firefox": ("-f", "firefox")}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    it = Recording()
    for pid in range(10, 14):
        it.task(pid)
    for i in range(SAMPLES):
        it.sample(1_000_000 + 777 * i, 10 + i % 4, 5 + i * i % 70_000, 0x1000 * (1 + i % 2), 0x2010)
    path = tmp_path_factory.mktemp("compression") / "perf.data"
    path.write_bytes(it.file())
    return path


@pytest.mark.parametrize("form", FORMS)
def test_threads_write_the_same_bytes(form, recording):
    want = preport(*FORMS[form], "-j1", recording)
    assert len(gzip.decompress(want)) > 8 << 16
    for jobs in ("-j2", "-j4"):
        assert preport(*FORMS[form], jobs, recording) == want


def test_a_compressed_file_has_the_text_of_a_plain_one(recording, tmp_path):
    plain = tmp_path / "plain.firefox.json"
    preport("-f", "firefox", "-o", plain, recording)
    assert gzip.decompress(preport("-f", "firefox", "-j2", recording)) == plain.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_ends_the_thread(form, recording):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOLS / "preport", "--no-symbols", *FORMS[form], "-j2", recording],
                              stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert done.returncode == 4
    assert b"No space left" in done.stderr


def test_a_full_disk_ends_text(recording):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOLS / "preport", "--no-symbols", "-f", "script", recording],
                              stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (
        4, b"preport: standard output: No space left on device\n")
