"""The output files of precord: their number and names."""
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from recorder import (  # noqa: F401
    needs_root, precord, run_precord, start_precord, symbol, workload)
from rights import needs

CLOCK = ["-e", "cpu-clock:u", "-F", "1000"]

pytestmark = needs("events")


def files(directory):
    return sorted(path.name for path in directory.iterdir() if path.name.startswith("perf.data"))


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
def test_a_second_of_the_whole_machine_is_a_file(run_precord, tmp_path):
    done = run_precord("--switch-output=1s", "-a", "--duration", "2.5", "-F", "100", "-e",
                       "cpu-clock")
    assert done.returncode == 0 and len(files(tmp_path)) == 3, files(tmp_path)


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


def recorded_events(document):
    return [attr["name"] for attr in document["attrs"] if attr["name"] != "dummy:u"]


def check_switched(directory, decode, done, number):
    """There are `number` complete files, and none has the event that divides them."""
    left = files(directory)
    assert done.returncode == 0 and len(left) == number, (left, done.stderr.decode())
    documents = [decode(directory / name) for name in left]
    assert all(d["file"]["complete"] and d["errors"] == [] and recorded_events(d) == ["cpu-clock:u"]
               for d in documents)
    assert sum(d["summary"]["by_type"].get("SAMPLE", 0) for d in documents) == \
        int(re.search(r"\((\d+) samples", done.stderr.decode()).group(1))


@pytest.mark.parametrize("event, does, number", [
    ("page-faults/period=1000/u", "touch 1000 spin 100 " * 3, 4),
    ("mem:{watched}:w:u", "store 1 spin 100 " * 3, 4),
    ("dummy:u", "spin 50", 1),
    ("page-faults/period=1000/u --switch-output-event mem:{watched}:w:u",
     "store 1 spin 100 touch 1000 spin 100", 3),
    ("mem:{watched}:w:u --switch-output=200M --overwrite", "store 1 spin 100 " * 2, 3),
])
def test_an_event_begins_a_file(run_precord, workload, symbol, decode, tmp_path, event, does,
                                number):
    event = event.format(watched=hex(symbol("watched")))
    done = run_precord("-o", "perf.data", *CLOCK, "--switch-output-event", *event.split(), "--",
                       # periods are counted per cpu
                       "taskset", "-c", "0", workload, *does.split())
    check_switched(tmp_path, decode, done, number)


@needs_root
def test_perf_switches_as_often(run_precord, tmp_path):
    if not shutil.which("perf"):
        pytest.skip("no perf")
    options = ["-q", "-o", "perf.data", "-e", "dummy:u", "--switch-output-event",
               "syscalls:sys_enter_clock_nanosleep", "--", "sh", "-c",
               "sleep .2; sleep .2; sleep .2"]
    (tmp_path / "perf").mkdir()
    subprocess.run(["perf", "record", *options], cwd=tmp_path / "perf", timeout=60, check=True)
    assert run_precord(*options).returncode == 0
    assert len(files(tmp_path)) == 4 <= len(files(tmp_path / "perf"))


@needs_root
@pytest.mark.parametrize("options, least, most", [([], 1, 1), (["-a"], 2, 99)])
def test_only_recorded_data_begins_a_file(start_precord, tmp_path, options, least, most):
    process = start_precord("-o", "perf.data", "-e", "dummy:u", "--switch-output-event",
                            "syscalls:sys_enter_getpriority", *options, "--", "sleep", "1")
    time.sleep(0.5)
    os.getpriority(os.PRIO_PROCESS, 0)
    assert process.wait(timeout=30) == 0
    assert least <= len(files(tmp_path)) <= most


THREADS_THAT_END = """
import os, threading, time
def switch(i):
    os.read(0, 1)
    time.sleep(0.15 * i)
    os.getpriority(os.PRIO_PROCESS, 0)
    time.sleep(0.2)
threads = [threading.Thread(target=switch, args=(i,)) for i in range(1, 5)]
for t in threads: t.start()
print("ready", flush=True)
for t in threads: t.join()
"""


@needs_root
@pytest.mark.parametrize("options", [[], ["--per-thread"]])
def test_threads_that_end_leave_those_that_do_not(start_precord, tmp_path, options):
    """Four threads share the buffers of the first one to end, whose descriptor hangs up."""
    with subprocess.Popen([sys.executable, "-c", THREADS_THAT_END], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as target:
        target.stdout.readline()
        workers = sorted(map(int, os.listdir(f"/proc/{target.pid}/task")))[1:]
        process = start_precord("-o", "perf.data", "-e", "dummy:u", "--switch-output-event",
                                "syscalls:sys_enter_getpriority", "-t", ",".join(map(str, workers)),
                                *options)
        time.sleep(0.3)
        target.stdin.write("\n" * 4)
        target.stdin.flush()
        assert process.wait(timeout=30) == 0
    assert len(files(tmp_path)) == 5


def test_no_more_than_a_hundred_files_a_second(run_precord, workload, tmp_path):
    start = time.monotonic()
    done = run_precord("-o", "perf.data", "-m", "64K", "-B", "--synth", "no", "-e", "dummy:u",
                       "--switch-max-files", "3", "--switch-output-event", "page-faults:u", "--",
                       workload, "touch", "30000")
    elapsed = time.monotonic() - start
    switched = done.stderr.count(b"Dump")
    assert done.returncode == 0 and 3 < switched < 100 * elapsed + 2 and len(files(tmp_path)) == 3


@pytest.mark.parametrize("options, said", [
    (["--switch-output-event", "cycles"], b"needs a period"),
    (["--switch-output-event=cpu-clock:u"], b"needs a period"),
    (["--switch-output-event", "flaults"], b"faults"),
    (["--switch-output-event", "dummy:u", "-o", "-"], b"not a stream"),
    (["--switch-output-event", "dummy:u", "--threads"], b"there is one directory"),
])
def test_an_event_that_begins_no_file(run_precord, tmp_path, options, said):
    done = run_precord(*options, "--", "true")
    assert done.returncode == 2 and said in done.stderr and files(tmp_path) == []
