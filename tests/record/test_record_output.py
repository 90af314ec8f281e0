"""The output files of precord: their number, names and space on disk."""
import os
import re
import signal
import subprocess
import time

import pytest

from recorder import (  # noqa: F401
    files, needs_root, precord, run_precord, start_precord, wait_for, workload)
from rights import needs

CLOCK = ["-e", "cpu-clock:u", "-F", "1000"]

pytestmark = needs("events")


@pytest.mark.parametrize("when, number", [("1s", 3), ("1d", 1), ("5m", 1), ("1h", 1)])
def test_a_time_is_no_size(run_precord, workload, decode, tmp_path, when, number):
    """One file for each second and one for the rest; none of them is nearly empty."""
    duration = "2.5" if number > 1 else "0.5"
    done = run_precord("-o", "perf.data", f"--switch-output={when}", *CLOCK, "--duration", duration,
                       "--", workload, "spin", "20000")
    left = files(tmp_path)
    assert done.returncode == 0 and len(left) == number, (left, done.stderr.decode())
    assert all(re.fullmatch(r"perf\.data\.\d{16}", name) for name in left)
    samples = [decode(tmp_path / name)["summary"]["by_type"]["SAMPLE"] for name in left]
    assert min(samples) > 5, samples


@needs_root
def test_a_second_of_the_whole_machine_is_a_file(start_precord, tmp_path):
    begin = time.monotonic()
    process = start_precord("--switch-output=1s", "-a", "-F", "100", "-e", "cpu-clock")
    # later on a machine that has other work: a file's tasks are described before the next
    wait_for(lambda: len(files(tmp_path)) == 3, seconds=40)
    assert time.monotonic() - begin >= 2
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0


def test_files_that_are_thrown_away_are_the_oldest_whole_ones(run_precord, workload, decode,
                                                              tmp_path):
    run_precord("-o", "perf.data", "--switch-output=1s", "--switch-max-files=2", *CLOCK,
                "--duration", "2.5", "--", workload, "spin", "20000")
    left = files(tmp_path)
    times = [[r["time"] for r in decode(tmp_path / name)["records"] if r["type"] == "SAMPLE"]
             for name in left]
    assert (len(left) == 2 and max(times[0]) - min(times[0]) > 0.8e9
            and min(times[1]) > max(times[0]))


def test_a_log_gets_the_commands_output_alone(run_precord, workload, tmp_path):
    """stdout is a regular file under nohup and in CI jobs: the recording goes there only with
    -o -."""
    log = tmp_path / "ci.log"
    for options, stream in (([], False), (["-o", "-"], True)):
        with open(log, "wb") as file:
            done = run_precord(*options, *CLOCK, "--", workload, "spin", "20", "say", "7",
                               stdout=file)
        assert done.returncode == 0
        assert log.read_bytes().startswith(b"PERFILE2") if stream else log.read_bytes() == b"7\n"
        assert (tmp_path / "perf.data").exists()


def test_a_socket_gets_the_stream(run_precord):
    import socket
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert run_precord("-e", "dummy:u", "--", "true", stdout=theirs).returncode == 0
        assert ours.recv(8) == b"PERFILE2"


@pytest.mark.parametrize("when", ["1", "0s", "0M", "5x", "s", "1sM", "99999999999999999999s",
                                  "99999999999999G"])
def test_neither_a_time_nor_a_size(run_precord, tmp_path, when):
    done = run_precord(f"--switch-output={when}", "--", "true")
    assert (done.returncode == 2 and b"a size (10M) or a time (30s, 5m)" in done.stderr
            and files(tmp_path) == [])


def reserves(directory):
    """Whether this is a file system where space is reserved for long recordings."""
    done = subprocess.run(["stat", "--file-system", "--format=%T", directory], text=True,
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.strip() in ("ext2/ext3", "xfs")


@needs_root     # more memory for buffers than others may have
@pytest.mark.parametrize("options", [[], ["--switch-output=24M"]], ids=("one file", "several"))
def test_space_that_is_reserved_is_given_back(start_precord, workload, tmp_path, options):
    """The file's size is that of its records all the time. (140 MB are recorded, if none is
    lost.)"""
    if not reserves(tmp_path):
        pytest.skip("no space is reserved on this file system")
    most = 0
    process = start_precord("-o", "perf.data", *options, "-e", "cpu-clock:u", "-F", "9000",
                            "-m", "8M", "--call-graph", "dwarf,16384", "--", workload, "spin",
                            "1000")
    while process.poll() is None:
        for name in files(tmp_path):
            state = os.stat(tmp_path / name)
            most = max(most, state.st_blocks * 512 - state.st_size)
        time.sleep(0.001)
    states = [os.stat(tmp_path / name) for name in files(tmp_path)]
    assert process.returncode == 0 and len(states) > bool(options)
    assert max(state.st_size for state in states) > 20e6 and most > 4e6, (states, most)
    assert all(state.st_blocks * 512 - state.st_size < 65536 for state in states), states
