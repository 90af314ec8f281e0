"""Running tasks are synthesized in parallel with the recording: nothing waits for it, nothing is
missed, and the file looks as if it had been done before. A preloaded library
(tests/workload/gate.c) stops precord where it reads /proc."""
import collections
import os
import re
import resource
import signal
import subprocess
import time

import pytest

from compiled import preloaded
from conftest import strict_json
from perf_oracle import run_perf
from recorder import (  # noqa: F401
    Recording, needs_root, needs_tracefs, precord, release, run_precord, start_precord,
    start_recording, wait_for, wait_until_synthesized, workload)

CLOCK = ["-e", "cpu-clock:u", "-F", "1000"]
FAULTS = ["-e", "page-faults:u", "-c", "1", "-d", "-B"]
RING = 128 * 1024
PAGES = 40000
# The recorder must keep up on a machine that has other work: it has time after a part of a buffer.
TOUCH = "touch 1000 sleep 5 " * (PAGES // 1000)
SAMPLE = 48          # minimum size in bytes
# Shell commands: opens the gate once it was reached, which may be later than the command starts.
OPEN = ("n=0; until [ -e gate.reached ] || [ $n -ge 500 ]; do n=$((n+1)); sleep 0.02; done; "
        "rm gate")
STAYED_SHUT = "the gate stayed shut"
NO_THREAD = "a thread was refused"
Gate = collections.namedtuple("Gate", "path reached environment")


@pytest.fixture(scope="module")
def library(workload):
    return preloaded("gate", workload.parent)


@pytest.fixture
def gate(library, tmp_path):
    """A closed gate: precord waits where it reads /proc until the file is removed."""
    path = tmp_path / "gate"
    path.touch()
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return Gate(path, tmp_path / "gate.reached",
                dict(os.environ, LD_PRELOAD=str(library), GATE=str(path), ASAN_OPTIONS=sanitizer))


@pytest.fixture
def crowd(workload):
    """Function: starts `n` tasks that wait; returns their parent process."""
    started = []

    def call(n):
        process = subprocess.Popen([workload, "crowd", str(n)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"%d\n" % n
        return process
    yield call
    for process in started:
        process.communicate()


def ended(process, status=0):
    """Returns its messages."""
    said = process.communicate(timeout=60)[1].decode(errors="replace")
    assert process.returncode == status and "Sanitizer" not in said, said
    assert STAYED_SHUT not in said
    return said


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def order_of(document):
    return [record["type"] for record in document["records"]]


def own_errors(document):
    """Without those of samples that the kernel writes too large where others count page faults."""
    return [error for error in document["errors"]
            if (error["code"], error["record"]) != ("TRAILING", "SAMPLE")]


def check_order(document):
    """Synthesized records come first, then FINISHED_INIT, then those of the kernel."""
    order = order_of(document)
    assert own_errors(document) == [] and document["file"]["complete"]
    end = order.index("FINISHED_INIT")
    assert {"COMM", "MMAP2"} <= set(order[:end]) and order.count("FINISHED_INIT") == 1
    assert not {"SAMPLE", "FINISHED_ROUND", "COMPRESSED", "EXIT", "LOST"} & set(order[:end])
    assert not any(r.get("sample_id", {}).get("time") for r in document["records"][:end])


def on_one_cpu():
    """A prefix for shell commands: all records go to one buffer."""
    return f"taskset -c {min(os.sched_getaffinity(0))}"


def lost(*documents):
    return sum(record["lost"] for document in documents for record in document["records"]
               if record["type"] == "LOST_SAMPLES")


def faults(*documents):
    return [r for document in documents for r in document["records"] if r["type"] == "SAMPLE"]


@needs_root
@pytest.mark.parametrize("options",
                         [["-a"], ["-a", "-z"], ["-a", "--threads"], ["-C", "0"], ["-p", "SELF"]],
                         ids=" ".join)
def test_the_command_does_not_wait(start_precord, gate, workload, tmp_path, decode, options):
    options = [str(os.getpid()) if option == "SELF" else option for option in options]
    process = start_precord("-o", "perf.data", *CLOCK, *options, "--", "sh", "-c",
                            f"{workload} spin 60; {OPEN}", env=gate.environment)
    ended(process)
    assert gate.reached.exists()
    document = decode(tmp_path / "perf.data")
    if "--threads" not in options:
        check_order(document)
    if "-a" in options:
        names = {(r["pid"], r["tid"]): r["comm"] for r in document["records"]
                 if r["type"] == "COMM"}
        samples = [r for r in document["records"] if r["type"] == "SAMPLE"]
        assert sum(names.get((s["pid"], s["tid"])) == "workload" for s in samples) > 20


@needs_root
def test_a_stream_begins_with_the_descriptions(start_precord, gate, workload, run_pdecode):
    process = start_precord("-o", "-", "-a", *CLOCK, "--", "sh", "-c",
                            f"{workload} spin 60; {OPEN}", stdout=subprocess.PIPE,
                            env=gate.environment)
    stream, said = process.communicate(timeout=60)
    assert process.returncode == 0 and STAYED_SHUT not in said.decode() and gate.reached.exists()
    document = strict_json(run_pdecode(["-"], input=stream).stdout)
    assert document["file"]["mode"] == "pipe"
    check_order(document)
    assert faults(document)


@needs_root
@pytest.mark.parametrize("options", [[], ["-z"]], ids=" ".join)
def test_records_during_synthesis_are_held(start_precord, gate, workload, tmp_path, decode,
                                             options):
    """Several times the size of a buffer."""
    process = start_precord("-o", "perf.data", "-a", "-m", f"{RING}B", *FAULTS, *options, "--",
                            "sh", "-c", f"{on_one_cpu()} {workload} {TOUCH}; {OPEN}",
                            env=gate.environment)
    said = ended(process)
    document = decode(tmp_path / "perf.data")
    check_order(document)
    samples = faults(document)
    assert len(samples) * SAMPLE > 4 * RING
    assert len(samples) + lost(document) >= PAGES and f"({len(samples)} samples)" in said
    for cpu in {s["cpu"] for s in samples if "cpu" in s}:
        times = [s["time"] for s in samples if s["cpu"] == cpu]
        assert times == sorted(times)


@needs_root
def test_perf_reads_it(start_precord, gate, workload, tmp_path, perf):
    process = start_precord("-o", "perf.data", "-a", *CLOCK, "--", "sh", "-c",
                            f"{workload} spin 60; {OPEN}", env=gate.environment)
    ended(process)
    status, script, said = run_perf(perf, ["script", "-i", tmp_path / "perf.data", "-F",
                                           "comm,pid,ip,sym"])
    assert status == 0 and "out of order" not in said
    lines = [line for line in script.splitlines() if line.split()[0] == "workload"]
    assert len(lines) > 20 and any("spin_inner" in line for line in lines)
    status, report, _ = run_perf(perf, ["report", "-i", tmp_path / "perf.data", "--stdio", "--sort",
                                        "comm"])
    assert status == 0
    assert re.search(r"\d+\.\d+%\s+workload\b", report)


@needs_root
def test_a_thousand_tasks_are_all_described_once(start_precord, crowd, gate, tmp_path, decode):
    parent = crowd(1000)
    process = start_precord("-o", "perf.data", "-a", *CLOCK, "--", "sh", "-c", OPEN,
                            env=gate.environment)
    ended(process)
    document = decode(tmp_path / "perf.data")
    check_order(document)
    end = order_of(document).index("FINISHED_INIT")
    forks = [r["pid"] for r in document["records"][:end] if r["type"] == "FORK"
             and r["ppid"] == parent.pid]
    named = collections.Counter(r["pid"] for r in document["records"][:end] if r["type"] == "COMM")
    assert len(forks) == len(set(forks)) == 1000 and all(named[pid] == 1 for pid in forks)
    assert set(forks) <= {r["pid"] for r in document["records"][:end] if r["type"] == "MMAP2"}


MAPS_LATER = """
import mmap, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
with open(sys.argv[1], "rb") as file:
    kept = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print("mapped", flush=True)
sys.stdin.readline()
"""


def test_maps_made_during_synthesis_are_recorded(start_precord, gate, tmp_path, decode):
    """After its maps were read, before the last of its threads is described."""
    later = tmp_path / "later.so"
    later.write_bytes(bytes(4096))
    target = subprocess.Popen(["/usr/bin/python3", "-c", MAPS_LATER, later], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    try:
        assert target.stdout.readline() == b"ready\n"
        last = max(map(int, os.listdir(f"/proc/{target.pid}/task")))
        process = start_precord("-o", "perf.data", *CLOCK, "-p", target.pid,
                                env=dict(gate.environment, GATE_AT=f"{last}/status"))
        wait_for(gate.reached.exists)
        target.stdin.write(b"\n")
        target.stdin.flush()
        assert target.stdout.readline() == b"mapped\n"
        gate.path.unlink()
    finally:
        target.communicate(timeout=20)
    ended(process)
    maps = [r for r in decode(tmp_path / "perf.data")["records"] if r["type"] == "MMAP2"
            and r["filename"] == str(later)]
    assert [r["pid"] for r in maps] == [target.pid]


@needs_root
@pytest.mark.parametrize("way, status",
                         [("signal", 128 + signal.SIGTERM), ("command", 3), ("duration", 0)])
def test_an_end_meanwhile(start_precord, gate, workload, tmp_path, decode, way, status):
    command = ["sh", "-c", "exit 3"] if way == "command" else [workload, "sleep", "20000"]
    process = start_precord("-o", "perf.data", "-a", *CLOCK,
                            *(["--duration", "0.1"] if way == "duration" else []), "--", *command,
                            env=gate.environment)
    wait_for(gate.reached.exists)
    if way == "signal":
        process.send_signal(signal.SIGINT)
    time.sleep(0.4)
    assert process.poll() is None
    gate.path.unlink()
    ended(process, status)
    document = decode(tmp_path / "perf.data")
    check_order(document)
    assert "CMDLINE" in document["features"]


@needs_root
@pytest.mark.parametrize("late", [False, True], ids=["early", "late"])
def test_a_recorder_that_is_killed_meanwhile(start_precord, crowd, gate, workload, tmp_path, decode,
                                             late):
    """Late: after much was written that the header does not state."""
    options = {}
    if late:
        options["GATE_AT"] = f"{children(crowd(600).pid)[0]}/maps"     # the oldest, read last
    process = start_precord("-o", "perf.data", "-a", "-d", *CLOCK, "--", workload, "sleep", "1500",
                            env=dict(gate.environment, **options))
    wait_for(gate.reached.exists)
    time.sleep(0.7)     # longer than the interval between writes

    def is_written():
        return (tmp_path / "perf.data").stat().st_size > 100000
    assert not late or wait_for(is_written)
    process.kill()
    process.wait()
    gate.path.unlink()
    assert is_written() == late
    document = decode(tmp_path / "perf.data")
    codes = [error["code"] for error in document["errors"]]
    # the last write may be incomplete
    assert codes in (["UNFINISHED"], ["UNFINISHED", "TRUNCATED"])
    assert document["attrs"][0]["name"].startswith("cpu-clock:u")
    assert "ID_INDEX" in order_of(document)


@needs_root
@pytest.mark.parametrize("options", [[], ["-z"]], ids=" ".join)
def test_a_failed_write_ends_the_recording(run_precord, crowd, workload, options):
    """The synthesized records alone exceed the size limit."""
    crowd(600)
    begun = time.monotonic()
    done = run_precord("-o", "perf.data", "-a", *CLOCK, "-d", *options, "--", workload, "sleep",
                       "500",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                             (100000, 100000)))
    assert (done.returncode == 4 and done.stderr.count(b"File too large") == 1
            and b"Captured" not in done.stderr)
    assert time.monotonic() - begun < 15


@needs_root
def test_nobody_reads_the_stream_meanwhile(start_precord, crowd, gate, workload):
    crowd(600)
    process = start_precord("-o", "-", "-a", "-d", *CLOCK, "--", workload, "sleep", "3000",
                            stdout=subprocess.PIPE, env=gate.environment)
    wait_for(gate.reached.exists)
    process.stdout.close()
    gate.path.unlink()
    assert process.wait(timeout=20) == -signal.SIGPIPE and process.stderr.read() == b""


@needs_root
def test_the_recorders_priority_is_not_the_threads(start_precord, gate, tmp_path):
    process = start_precord("-o", "perf.data", "-r", "1", "-a", *CLOCK, "--", "true",
                            env=gate.environment)
    wait_for(gate.reached.exists)
    policies = {int(tid): os.sched_getscheduler(int(tid))
                for tid in os.listdir(f"/proc/{process.pid}/task")}
    assert policies.pop(process.pid) == os.SCHED_FIFO
    assert os.SCHED_OTHER in policies.values()      # sanitizers start threads, too
    gate.path.unlink()
    ended(process)


@needs_root
def test_a_new_file_is_described_while_samples_come(start_precord, gate, workload, tmp_path,
                                                    decode):
    gate.path.unlink()
    process = start_precord("-v", "-o", "perf.data", "--switch-output", "-a", "-m", f"{RING}B",
                            *FAULTS, "--", "sh", "-c",
                            "n=0; while [ ! -e go -a $n -lt 500 ]; do n=$((n+1)); sleep 0.02; "
                            f"done; {on_one_cpu()} {workload} {TOUCH}; {OPEN}",
                            env=gate.environment)
    assert any(b"maps existed already" in line for line in process.stderr)
    gate.path.touch()
    process.send_signal(signal.SIGUSR2)
    wait_for(gate.reached.exists)
    (tmp_path / "go").touch()
    said = ended(process)
    first, second = (decode(path) for path in sorted(tmp_path.glob("perf.data.*")))
    check_order(first)
    check_order(second)
    assert said.count("Dump") == 1
    samples = faults(second)
    assert len(samples) * SAMPLE > 4 * RING and len(samples) + lost(first, second) >= PAGES
    assert f"({len(samples) + len(faults(first))} samples)" in said


@needs_root
@pytest.mark.parametrize("options, files", [(["--switch-output"], 2), (["--switch-output=1K"], 2),
                                            (["--overwrite"], 1)],
                         ids=["switch", "size", "snapshot"])
def test_uses_of_the_file_wait(start_recording, gate, workload, tmp_path, decode, options, files):
    """A new file, a size, a snapshot."""
    process = start_recording("-o", "perf.data", "-a", *CLOCK, *options, "--", workload, "spin",
                              "300", "say", "1", "wait", "1", "spin", "60",
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=gate.environment)
    wait_for(gate.reached.exists)
    assert process.stdout.readline() == b"1\n"
    process.send_signal(signal.SIGUSR2)
    time.sleep(0.3)

    def names():
        return [path.name for path in tmp_path.glob("perf.data*")]
    assert names() == ["perf.data"]
    gate.path.unlink()
    wait_for(lambda: len(names()) >= files)
    wait_until_synthesized(tmp_path / "perf.data")
    process.control.settle()
    release(process)
    ended(process)
    found = [decode(path) for path in sorted(tmp_path.glob("perf.data*"))]
    assert len(found) >= files and sum(len(faults(document)) for document in found) > 100
    for document in found:
        assert document["errors"] == [] and document["file"]["complete"]
    check_order(found[0])
    if "--overwrite" in options:
        rounds = " ".join(order_of(found[0])).split("FINISHED_ROUND")
        assert sum("SAMPLE" in records.split() for records in rounds) >= 2


@needs_root
def test_without_a_thread(start_precord, gate, workload, tmp_path, decode):
    gate.path.unlink()
    process = start_precord("-o", "perf.data", "-a", *CLOCK, "--", workload, "spin", "60",
                            env=dict(gate.environment, NO_THREADS="1"))
    assert NO_THREAD in ended(process)
    document = decode(tmp_path / "perf.data")
    check_order(document)
    assert faults(document)


@needs_root
@needs_tracefs
@pytest.mark.parametrize("options", [[], ["-z"]], ids=" ".join)
def test_the_recorders_own_events_can_be_kept_out(options, start_precord, gate, tmp_path, decode):
    """Tasks are then synthesized before the command starts, and no thread compresses or writes:
    the filter knows processes by their first thread."""
    process = start_precord("-o", "perf.data", "-a", "-e", "raw_syscalls:sys_enter",
                            "--exclude-perf", *options, "--", "sh", "-c", "touch ran; sleep 0.7",
                            env=gate.environment)
    wait_for(gate.reached.exists)
    time.sleep(0.3)
    assert not (tmp_path / "ran").exists()
    gate.path.unlink()
    ended(process)
    document = decode(tmp_path / "perf.data")
    check_order(document)
    assert faults(document) and not any(s["pid"] == process.pid for s in faults(document))


@needs_root
def test_a_command_alone_needs_no_thread_to_describe(start_precord, gate, workload, tmp_path,
                                                     decode):
    process = start_precord("-o", "perf.data", "-m", "2M", *CLOCK, "--", workload, "spin", "30",
                            env=dict(gate.environment, NO_THREADS="1"))
    # the thread that waits for signals is refused, no other is started
    assert ended(process).count(NO_THREAD) == 1
    assert (not gate.reached.exists()
            and order_of(decode(tmp_path / "perf.data")).count("FINISHED_INIT") == 1)
