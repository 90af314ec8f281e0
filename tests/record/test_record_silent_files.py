"""Files whose file system never answers: precord goes on without them. A reader of such a file is
stuck in the kernel, and can't even be killed while its request is being served."""
import collections
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from recorder import (  # noqa: F401
    end_by_second_signal, precord, start_precord, start_recording, workload)
from rights import needs

pytestmark = needs("root", "events")
CLOCK = ["-e", "cpu-clock:u", "-F", "500"]
MNT_DETACH = 2
SERVER = ROOT / "tests" / "support" / "silent_fuse.py"
Silent = collections.namedtuple("Silent", "program fall_silent")
OPERATIONS = ["lookup", "open", "read", "stop"]


# After start_precord, whose processes end only when the file system does.
@pytest.fixture
def silent(request, workload, tmp_path):
    """A copy of the workload in a file system, and a function after which that answers no more."""
    mountpoint = tmp_path / "mount"
    mountpoint.mkdir()
    if not os.path.exists("/dev/fuse"):
        pytest.skip("the kernel has no FUSE")
    server = subprocess.Popen([sys.executable, SERVER, mountpoint, workload, request.param],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    mounted = server.stdout.readline() == b"mounted\n"

    def fall_silent():
        server.stdin.write(b"\n")
        server.stdin.flush()
        assert server.stdout.readline() == b"silent\n"
    if mounted:
        yield Silent(mountpoint / workload.name, fall_silent)
    server.kill()       # which ends all waiting
    said = server.communicate()[1].decode()
    ctypes.CDLL(None).umount2(os.fsencode(mountpoint), MNT_DETACH)
    if not mounted:
        pytest.skip(f"no FUSE here: {said}")


@pytest.fixture
def target(silent):
    process = spinning(silent.program)
    yield process
    process.kill()


def spinning(program):
    """Starts it and waits until it spins."""
    process = subprocess.Popen([program, *"say 1 spin 60000".split()], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"1\n"
    return process


def check_whole(path, decode):
    document = decode(path)
    assert not document["errors"] and document["file"]["complete"]
    assert "CMDLINE" in document["features"]
    return document


@pytest.mark.parametrize("silent", OPERATIONS, indirect=True)
@pytest.mark.parametrize("options", [[], ["-z", "--symbols=names"], ["--buildid-mmap"],
                                     ["-B", "--symbols=names"]], ids=" ".join)
def test_a_file_that_does_not_answer_is_left_out(start_recording, silent, target, tmp_path,
                                                 decode, options):
    if "--buildid-mmap" in options:
        silent.fall_silent()
    process = start_recording("-o", "perf.data", *CLOCK, "-p", target.pid, *options)
    time.sleep(0.5)
    if "--buildid-mmap" not in options:
        silent.fall_silent()
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=20)[1].decode()
    assert process.returncode == 0
    assert "did not answer" in stderr
    check_whole(tmp_path / "perf.data", decode)
    # one that runs from the file system may have to wait for its own pages
    assert "--buildid-mmap" in options or "(0 samples)" not in stderr


@pytest.mark.parametrize("silent", OPERATIONS, indirect=True)
@pytest.mark.parametrize("options", [[], ["--buildid-mmap"]], ids=["default", "buildid-mmap"])
def test_the_second_signal_ends_the_wait(start_recording, silent, target, tmp_path, decode,
                                         options):
    if options:
        silent.fall_silent()
    process = start_recording("-o", "perf.data", *CLOCK, "-p", target.pid, *options)
    time.sleep(0.5)
    if not options:
        silent.fall_silent()
    end_by_second_signal(process, waits=0.4, within=5)
    check_whole(tmp_path / "perf.data", decode)


@pytest.mark.parametrize("silent", ["read"], indirect=True)
def test_other_files_are_read_nevertheless(start_recording, silent, target, workload, tmp_path,
                                           decode):
    """Another program, after the one that does not answer; and the C library."""
    other = tmp_path / "other"
    shutil.copy(workload, other)
    second = spinning(other)
    try:
        process = start_recording("-o", "perf.data", *CLOCK, "-p", f"{target.pid},{second.pid}")
        time.sleep(0.5)
        silent.fall_silent()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    finally:
        second.kill()
        second.wait()
    document = check_whole(tmp_path / "perf.data", decode)
    names = [item["filename"] for item in document["features"]["BUILD_ID"]]
    assert str(other) in names and str(silent.program) not in names
    assert "PD_SYMBOLS" in str(document["features"])
