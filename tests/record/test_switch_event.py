"""precord --switch-output-event: an event begins a new file.

Each event waits for the file of the one before: a recorder that doesn't run meanwhile would make
one file of two.
"""
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from recorder import (  # noqa: F401
    files, needs_root, precord, release, run_precord, start_precord, start_recording, symbol,
    wait_for, workload)
from rights import needs

pytestmark = needs("events")


def recorded_events(document):
    return [attr["name"] for attr in document["attrs"] if attr["name"] != "dummy:u"]


def check_switched(directory, decode, stderr, number):
    """There are `number` complete files, and none has the event that divides them."""
    left = files(directory)
    assert len(left) == number, (left, stderr)
    documents = [decode(directory / name) for name in left]
    assert all(d["file"]["complete"] and d["errors"] == [] and recorded_events(d) == ["cpu-clock:u"]
               for d in documents)
    assert sum(d["summary"]["by_type"].get("SAMPLE", 0) for d in documents) == \
        int(re.search(r"\((\d+) samples", stderr.decode()).group(1))


@pytest.mark.parametrize("event, does, number", [
    ("page-faults/period=1000/u", "touch 1000 spin 20 wait 1 " * 3, 4),
    ("mem:{watched}:w:u", "store 1 spin 20 wait 1 " * 3, 4),
    ("dummy:u", "spin 50", 1),
    ("page-faults/period=1000/u --switch-output-event mem:{watched}:w:u",
     "store 1 spin 20 wait 1 touch 1000 spin 20 wait 1", 3),
    ("mem:{watched}:w:u --switch-output=200M --overwrite", "store 1 spin 20 wait 1 " * 2, 3),
])
def test_an_event_begins_a_file(start_precord, workload, symbol, decode, tmp_path, event, does,
                                number):
    event = event.format(watched=hex(symbol("watched")))
    process = start_precord("-o", "perf.data", "-e", "cpu-clock:u", "-F", "1000",
                            "--switch-output-event", *event.split(), "--",
                            # periods are counted per cpu
                            "taskset", "-c", "0", workload, *does.split(), stdin=subprocess.PIPE)
    for left in range(2, number + 1):
        wait_for(lambda: len(files(tmp_path)) == left)
        release(process)
    check_switched(tmp_path, decode, process.communicate(timeout=30)[1], number)
    assert process.returncode == 0


@needs_root
def test_perf_switches_as_often(run_precord, tmp_path):
    if not shutil.which("perf"):
        pytest.skip("no perf")
    # each waits for the file of the one before, without sleep
    script = ("for n in 2 3 4; do sleep .1; i=0; until [ $(ls perf.data* | wc -l) -ge $n ] || "
              "[ $i -ge 1000 ]; do i=$((i+1)); done; done")
    options = ["-q", "-o", "perf.data", "-e", "dummy:u", "--switch-output-event",
               "syscalls:sys_enter_clock_nanosleep", "--", "sh", "-c", script]
    (tmp_path / "perf").mkdir()
    subprocess.run(["perf", "record", *options], cwd=tmp_path / "perf", timeout=60, check=True)
    assert run_precord(*options).returncode == 0
    assert len(files(tmp_path)) == 4 <= len(files(tmp_path / "perf"))


@needs_root
@pytest.mark.parametrize("options, least, most", [([], 1, 1), (["-a"], 2, 99)])
def test_only_recorded_data_begins_a_file(start_recording, workload, tmp_path, options, least,
                                          most):
    process = start_recording("-o", "perf.data", "-e", "dummy:u", "--switch-output-event",
                              "syscalls:sys_enter_getpriority", *options, "--", workload, "wait",
                              "1", stdin=subprocess.PIPE)
    os.getpriority(os.PRIO_PROCESS, 0)
    wait_for(lambda: len(files(tmp_path)) >= least)
    process.control.settle()
    release(process)
    assert process.wait(timeout=30) == 0
    assert least <= len(files(tmp_path)) <= most


THREADS_THAT_END = """
import os, threading, time
def switch():
    os.read(0, 1)
    os.getpriority(os.PRIO_PROCESS, 0)
    time.sleep(0.2)
threads = [threading.Thread(target=switch) for _ in range(4)]
for t in threads: t.start()
print("ready", flush=True)
for t in threads: t.join()
"""


@needs_root
@pytest.mark.parametrize("options", [[], ["--per-thread"]])
def test_threads_that_end_leave_those_that_do_not(start_recording, tmp_path, options):
    """Four threads share the buffers of the first one to end, whose descriptor hangs up."""
    with subprocess.Popen([sys.executable, "-c", THREADS_THAT_END], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as target:
        target.stdout.readline()
        workers = sorted(map(int, os.listdir(f"/proc/{target.pid}/task")))[1:]
        process = start_recording("-o", "perf.data", "-e", "dummy:u", "--switch-output-event",
                                  "syscalls:sys_enter_getpriority", "-t",
                                  ",".join(map(str, workers)), *options)
        for number in range(2, 6):
            target.stdin.write("\n")
            target.stdin.flush()
            wait_for(lambda: len(files(tmp_path)) == number)
            time.sleep(0.1)
        assert process.wait(timeout=30) == 0
    assert len(files(tmp_path)) == 5


def test_no_more_than_a_hundred_files_a_second(run_precord, workload, tmp_path):
    start = time.monotonic()
    done = run_precord("-o", "perf.data", "-m", "64K", "-B", "--synth", "no", "-e", "dummy:u",
                       "--switch-max-files", "3", "--switch-output-event", "page-faults:u", "--",
                       workload, *"touch 3000 sleep 20 ".split() * 10)
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
