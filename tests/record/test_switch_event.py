"""precord --switch-output-event: an event begins a new file.

The events are 100 ms or more apart: a recorder that doesn't run for so long makes one file of two.
"""
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from recorder import (  # noqa: F401
    files, needs_root, precord, run_precord, start_precord, symbol, wait_for, workload)
from rights import needs

pytestmark = needs("events")


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
    done = run_precord("-o", "perf.data", "-e", "cpu-clock:u", "-F", "1000",
                       "--switch-output-event", *event.split(), "--",
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
        wait_for((tmp_path / "perf.data").exists)
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
