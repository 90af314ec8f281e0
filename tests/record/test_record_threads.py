"""precord --threads: a directory with a file for each reading thread, for pdecode and for perf."""
import collections
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

from conftest import TIMEOUT, TOOLS, strict_json
from perf_oracle import run_perf, total_events
from recorder import (  # noqa: F401
    needs_root, precord, record, run_precord, start_precord, wait_for, workload)
from rights import need, needs
from test_record_perf import complaints

CPUS = sorted(os.sched_getaffinity(0))[:2]
CLOCK = ["-e", "cpu-clock", "-F", "1000"]
SAMPLE_SIZE = 64    # maximum size in bytes

needs_two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="one cpu only")


@pytest.fixture
def load(workload):
    """Function: a command that keeps two cpus busy for `ms`."""
    def command(ms):
        spin = [f"taskset -c {cpu} {workload} spin {ms}" for cpu in CPUS]
        return ["sh", "-c", f"{' & '.join(spin)} & wait"]
    return command


@pytest.fixture
def whole_machine(record, load):
    """Function: a recording of all cpus with these options."""
    need("machine")
    return lambda *options, ms=100: record("-a", *CLOCK, *options, command=load(ms))


def files(path):
    return sorted(entry.name for entry in path.iterdir())


def samples_by_file(run):
    """{file: {cpu: samples}}"""
    found = collections.defaultdict(collections.Counter)
    for sample in run.samples:
        found[sample.get("file")][sample["cpu"]] += 1
    return found


def check_with_perf(perf, run):
    """perf reads the directory without warnings, and counts the same."""
    code, out, err = run_perf(perf, ["report", "--stats", "-i", run.path])
    assert code == 0 and complaints(err) == []
    assert total_events(out) == run.document["summary"]["by_type"]
    code, out, err = run_perf(perf, ["script", "-F", "time,event", "-i", run.path])
    assert code == 0 and complaints(err) == []
    assert out.count("cpu-clock") == len(run.samples) == run.captured


@needs_two_cpus
def test_a_thread_and_a_file_for_each_cpu(whole_machine, perf):
    run = whole_machine("--threads")
    online = os.sysconf("SC_NPROCESSORS_ONLN")
    assert files(run.path) == sorted(["data", *(f"data.{i}" for i in range(online))])
    by_file = samples_by_file(run)
    assert None not in by_file and all(len(cpus) == 1 for cpus in by_file.values())
    busy = {cpu for cpus in by_file.values() for cpu, n in cpus.items() if n > 20}
    assert busy >= set(CPUS)
    assert run.document["features"]["DIR_FORMAT"] == 1 and run.document["features"]["BUILD_ID"]
    assert not run.count("FINISHED_ROUND")
    assert not run.document["errors"]
    check_with_perf(perf, run)


@needs_two_cpus
def test_compressed(whole_machine, perf):
    # less would be nearly all uncompressed records
    run = whole_machine("--threads", "-z", "-g", ms=500)
    packed = collections.Counter(r.get("file") for r in run.records("COMPRESSED"))
    assert len(packed) >= 2 and None not in packed
    assert run.document["features"]["COMPRESSED"]["ratio"] > 1
    check_with_perf(perf, run)


@needs_two_cpus
def test_a_command_and_its_children(record, load, perf):
    run = record("--threads", *CLOCK, "--sample-cpu", command=load(100))
    by_file = samples_by_file(run)
    assert sum(max(cpus.values()) > 5 for cpus in by_file.values()) >= 2
    # a process that only waits may have no samples
    assert len({s["pid"] for s in run.samples}) >= 2
    check_with_perf(perf, run)


@needs("events")
def test_running_processes(run_precord, decode, tmp_path, workload):
    """Their small buffers overflow unless they are read as they fill."""
    with subprocess.Popen([workload, "spin", "1200"]) as process:
        done = run_precord("--threads", "-m", "8", "-o", "dir", *CLOCK, "-p", process.pid)
    document = decode(tmp_path / "dir")
    samples = [r for r in document["records"] if r["type"] == "SAMPLE"]
    assert (done.returncode == 0 and len(samples) > 50
            and {s["pid"] for s in samples} == {process.pid})
    assert "LOST" not in document["summary"]["by_type"] and not document["errors"]


@needs_two_cpus
@pytest.mark.parametrize("kind", ["core", "package", "numa", "custom"])
def test_groups(whole_machine, run_precord, kind):
    online = os.sysconf("SC_NPROCESSORS_ONLN")
    # cpu 0 is read by a thread on the last cpu, the others by one on cpu 0
    spec = f"0/{online - 1}:1-{online - 1}/0" if kind == "custom" else kind
    run = whole_machine(f"--threads={spec}", "-v", ms=50)
    threads = int(re.search(r"(\d+) threads read", run.stderr).group(1))
    assert files(run.path) == sorted(["data", *(f"data.{i}" for i in range(threads))])
    in_files = [set(cpus) for cpus in samples_by_file(run).values()]
    assert sum(map(len, in_files)) == len(set().union(*in_files))
    if kind == "custom":
        assert threads == 2 and {0} in in_files
    elif kind == "package":
        packages = {open(f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id").read()
                    for cpu in range(online)}
        assert threads == len(packages)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_directory(start_precord, decode, workload, tmp_path, number):
    process = start_precord("--threads", "-o", "dir", *CLOCK, "--", workload,
                            *"spin 50 say 1 spin 20000".split(), stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"1\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=TIMEOUT)
    document = decode(tmp_path / "dir")
    captured = int(re.search(rb"\((\d+) samples\)", said).group(1))
    assert (document["summary"]["by_type"]["SAMPLE"] == captured > 20
            and document["features"]["DIR_FORMAT"] == 1)


def test_a_killed_recorder_leaves_a_directory_that_decodes(start_precord, run_pdecode, workload,
                                                           tmp_path):
    process = start_precord("--threads", "-o", "dir", *CLOCK, "--", workload, "spin", "1200")
    wait_for(lambda: sum(p.stat().st_size for p in tmp_path.glob("dir/data.*")) > 150 * SAMPLE_SIZE)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    decoded = run_pdecode(["dir"], cwd=tmp_path)
    document = strict_json(decoded.stdout)
    assert decoded.returncode in (0, 1) and not [e for e in document["errors"] if "file" in e]
    assert (document["summary"]["by_type"]["SAMPLE"] > 100
            and document["summary"]["by_type"]["MMAP2"])


@needs("events")
def test_a_failed_write_of_a_thread_ends_the_recording_but_not_the_command(run_precord, workload):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))
    done = run_precord("--threads", "-o", "dir", "-e", "cpu-clock", "-g", "-F", "8000", "--",
                       workload, "spin", "1000", "say", "5", preexec_fn=limit,
                       stdout=subprocess.PIPE)
    assert (done.returncode == 4 and b"File too large" in done.stderr
            and b"Captured" not in done.stderr)
    assert done.stdout == b"5\n"


# The records of its maps exceed the limit of the file with the header.
MAPPER = """
import mmap, sys
with open(sys.executable, "rb") as file:
    maps = [mmap.mmap(file.fileno(), 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_EXEC)
            for _ in range(2000)]
print("ready", flush=True)
while True:
    pass
"""


@needs("events")
def test_an_unfinished_directory_is_repaired_for_perf(run_precord, perf, decode, tmp_path):
    """perf does not look for data.N, as the feature is missing that says there are any."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))
    target = subprocess.Popen([sys.executable, "-c", MAPPER], stdout=subprocess.PIPE)
    try:
        target.stdout.readline()
        done = run_precord("--threads", "-o", "dir", "-e", "cpu-clock:u", "-F", "1000", "-p",
                           target.pid, "--duration", "0.5", preexec_fn=limit)
    finally:
        target.kill()
        target.communicate()
    assert done.returncode == 4 and b"'prepair dir -o FILE'" in done.stderr
    samples = decode(tmp_path / "dir")["summary"]["by_type"]["SAMPLE"]
    subprocess.run([TOOLS / "prepair", "dir", "-o", "file"], cwd=tmp_path,
                   stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
    shown = subprocess.run([perf, "script", "-i", "file", "-F", "ip"], cwd=tmp_path,
                           stdout=subprocess.PIPE, timeout=TIMEOUT).stdout
    assert len(shown.splitlines()) == samples > 0


@needs("events")
def test_the_largest_size_counts_all_files(run_precord, workload, tmp_path):
    begun = time.monotonic()
    done = run_precord("--threads", "-o", "dir", "-e", "cpu-clock", "-g", "-F", "8000",
                       "--max-size=40K", "--", workload, "spin", "20000")
    assert b"size limit reached" in done.stderr and time.monotonic() - begun < 15
    # the limit is for all files together: no file alone has reached it
    assert (tmp_path / "dir/data").stat().st_size < 40000


@needs("events")
def test_losses_are_counted(run_precord, workload, tmp_path, decode):
    done = run_precord("--threads", "-o", "dir", "-e", "page-faults", "-c", "1", "-g", "-m", "1",
                       "--", workload, "touch", "20000")
    counted = decode(tmp_path / "dir")["summary"]["by_type"]
    said = done.stderr.decode()
    if "LOST" not in counted:
        pytest.skip("nothing was lost")
    assert f"({counted['LOST']} times)" in said and f"({counted['SAMPLE']} samples)" in said


@pytest.mark.parametrize("options", [["-B"], ["--buildid-all"]])
def test_the_footer_counts_the_records_present(record, options):
    run = record("--threads", *CLOCK, *options)
    assert run.captured == len(run.samples) > 0


@needs("events")
def test_the_old_recording_is_kept(run_precord, workload, tmp_path):
    def go(*options):
        done = run_precord(*options, "-o", "perf.data", *CLOCK, "--", workload, "spin", "5")
        said = done.stderr.replace(b"the kernel can't be recorded", b"")
        assert done.returncode == 0 and b"can't" not in said
        return (tmp_path / "perf.data").is_dir(), (tmp_path / "perf.data.old").is_dir()
    new, old = tmp_path / "perf.data", tmp_path / "perf.data.old"
    assert go() == (False, False)
    assert go("--threads") == (True, False) and old.stat().st_size
    assert go("--threads") == (True, True) and "data.0" in files(old)
    before = (new / "data").read_bytes()
    assert go("--threads") == (True, True) and (old / "data").read_bytes() == before
    assert go() == (False, True)
    assert go() == (False, False)
    go("--threads")
    assert new.stat().st_mode & 0o777 == 0o700 and (new / "data.0").stat().st_mode & 0o777 == 0o600


@needs("events")
def test_a_directory_of_something_else_is_left(run_precord, tmp_path):
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/mine").write_text("x")
    done = run_precord("--threads", "-o", "dir", *CLOCK, "--", "true")
    assert (done.returncode == 3 and b"dir: File exists" in done.stderr
            and files(tmp_path / "dir") == ["mine"])
    # nor are the user's files in an old recording
    (tmp_path / "rec").mkdir()
    (tmp_path / "rec.old").mkdir()
    for name in ("rec/data", "rec.old/data", "rec.old/data.0", "rec.old/mine", "rec.old/data.txt"):
        (tmp_path / name).write_text("x")
    done = run_precord("--threads", "-o", "rec/", *CLOCK, "--", "true")
    assert done.returncode == 3 and {"mine", "data.txt"} <= set(files(tmp_path / "rec.old"))


@pytest.mark.parametrize("options, said", [
    (["-o", "-"], "a directory, not a stream"), (["--switch-output"], "--switch-output"),
    (["--exclude-perf"], "it knows only the recorder's first thread"),
    (["--overwrite"], "--overwrite"), (["--per-thread"], "--per-thread"),
    (["--threads=none"], "cpu, core, package, numa"), (["--threads=0/"], "not '0/'"),
    (["--threads=0/0:0/0"], "more than one"), (["--threads=70/0"], "none of the lists"),
])
def test_incompatible_options_are_refused(run_precord, tmp_path, options, said):
    done = run_precord("--threads", "-e", "cpu-clock",
                       *(["-o", "dir"] if "-o" not in options else []), *options, "--", "true")
    assert (done.returncode == 2 and said in done.stderr.decode() and len(done.stderr.splitlines())
            == 1)
    assert files(tmp_path) == []
