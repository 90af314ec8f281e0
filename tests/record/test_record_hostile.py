"""precord reads files and maps that others own: within a time budget, and two signals end it."""
import ctypes
import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from recorder import (  # noqa: F401
    end_by_second_signal, precord, start_precord, wait_for, workload)
from rights import needs
from test_record_background_synth import gate, library   # noqa: F401

pytestmark = needs("events")
CLOCK = ["-e", "cpu-clock:u", "-F", "500"]
IN_OPEN = 0x20          # linux/inotify.h
CODE_AT = 4096
# Maps each argument executable, then prints a line.
MAPPER = """
import mmap, sys, time
kept = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE,
                              prot=mmap.PROT_READ | mmap.PROT_EXEC))
print("mapped", flush=True)
while True:
    sum(range(10000))
"""


@pytest.fixture
def slow_file(tmp_path):
    """A sparse ELF file with as many note segments as fit, all of the same 8 MiB."""
    headers = 65535
    at = 2 * CODE_AT
    notes = (at + 56 * headers + 4095) & ~4095
    size = 8 << 20
    path = tmp_path / "slow"
    with open(path, "wb") as file:
        file.write(struct.pack("<4s12sHHIQQQIHHHHHH", b"\x7fELF", bytes([2, 1, 1]), 3, 62, 1, 0, at,
                               0, 0, 64, 56, headers, 64, 0, 0))
        file.seek(at)
        file.write(struct.pack("<IIQQQQQQ", 4, 4, notes, 0, 0, size, size, 4) * headers)
        file.truncate(notes + size)
    return path


@pytest.fixture
def mapper():
    """Function: starts a process that maps these files."""
    started = []

    def start(*paths):
        process = subprocess.Popen([sys.executable, "-c", MAPPER, *map(str, paths)],
                                   stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"mapped\n"
        return process
    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("options", [["--buildid-mmap"], ["--buildid-all"]], ids=" ".join)
def test_a_file_full_of_notes_costs_little(start_precord, mapper, slow_file, options):
    process = start_precord(*CLOCK, "-p", mapper(slow_file).pid, "--duration", "0.2", *options)
    assert process.wait(timeout=20) == 0    # it would take minutes


def test_the_second_signal_leaves_the_rest_undescribed(start_precord, mapper, slow_file, decode,
                                                       tmp_path):
    """Reading the same file under many names takes many seconds."""
    names = [tmp_path / f"slow-{i}" for i in range(4000)]
    for name in names:
        os.link(slow_file, name)
    process = start_precord("-o", "perf.data", *CLOCK, "-p", mapper(*names).pid, "--buildid-all")
    wait_for(lambda: (tmp_path / "perf.data").exists()
             and (tmp_path / "perf.data").stat().st_size > 500000)
    time.sleep(0.3)
    assert "not all build ids" in end_by_second_signal(process, waits=1, within=5)
    document = decode(tmp_path / "perf.data")
    assert not document["errors"] and document["summary"]["by_type"]["MMAP2"] >= 4000
    assert "CMDLINE" in document["features"]


def test_signals_in_quick_succession_are_one(start_precord, workload, decode, tmp_path):
    """timeout(1) sends its signal to the process and to the group."""
    process = start_precord("-o", "perf.data", *CLOCK, "--", workload,
                            *"spin 50 say 1 spin 20000".split(), stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"1\n"
    for _ in range(3):
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
        if time.monotonic() - begin > 0.05:
            pytest.skip("this machine has other work: the signals are not in quick succession")
    stderr = process.communicate(timeout=10)[1].decode()
    assert process.returncode == 128 + signal.SIGTERM and "second signal" not in stderr
    assert decode(tmp_path / "perf.data")["features"]["BUILD_ID"]


def test_the_second_signal_ends_a_recorder_that_is_stuck(gate, precord, run_pdecode, workload,
                                                         tmp_path):
    """As if a file system did not answer."""
    target = subprocess.Popen([workload, "spin", "20000"])
    try:
        process = subprocess.Popen([precord, "-o", "perf.data", *CLOCK, "-p", str(target.pid)],
                                   cwd=tmp_path, env=gate.environment, stderr=subprocess.PIPE)
        wait_for(gate.reached.exists)
        process.send_signal(signal.SIGINT)
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        process.communicate(timeout=8)
    finally:
        target.kill()
        target.wait()
    assert time.monotonic() - start < 6 and process.returncode == 128 + signal.SIGINT
    # as after SIGKILL: the part that reached the disk
    done = run_pdecode(["-f", "stats", tmp_path / "perf.data"])
    assert (done.returncode == 1 and done.stderr.count(b"\n") == 1
            and b"did not finish" in done.stderr)


@pytest.mark.parametrize("full", ["stdout", "stderr"])
def test_the_second_signal_ends_a_recorder_whose_output_nobody_reads(precord, tmp_path, full):
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with pytest.raises(BlockingIOError):
        while os.write(theirs, bytes(1 << 16)):
            pass
    os.set_blocking(theirs, True)
    process = subprocess.Popen([precord, "-v", "-o", "-" if full == "stdout" else "perf.data",
                                *CLOCK, "-p", str(os.getpid())], cwd=tmp_path, **{full: theirs})
    # the thread that waits for signals runs
    wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 1)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.4)
    process.send_signal(signal.SIGTERM)
    start = time.monotonic()
    try:
        assert process.wait(timeout=8) == 128 + signal.SIGTERM
    finally:
        process.kill()
        os.close(ours)
        os.close(theirs)
    assert time.monotonic() - start < 6


def test_only_regular_files_are_opened(start_precord, mapper, tmp_path):
    """The mapped file is replaced by a FIFO before its build id is read."""
    libc = ctypes.CDLL(None, use_errno=True)
    path = tmp_path / "mapped"
    path.write_bytes(bytes(8192))
    process = start_precord("-o", "perf.data", *CLOCK, "-p", mapper(path).pid, "--duration", "1",
                            "--buildid-all")
    wait_for(lambda: (tmp_path / "perf.data").exists()
             and b"/mapped" in (tmp_path / "perf.data").read_bytes())
    path.unlink()
    os.mkfifo(path)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(watch, os.fsencode(path), IN_OPEN) > 0
    # the watch works
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    assert os.read(watch, 4096)
    assert process.wait(timeout=10) == 0
    with pytest.raises(BlockingIOError):
        os.read(watch, 4096)
    os.close(watch)
