"""Mechanisms that make the recorder fast must stay correct: the compressing thread, few
writes, samples read back in place."""
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from compiled import BUILD, RECORD_LIBRARIES, ROOT, preloaded
from recorder import precord, record, run_precord, start_precord, workload  # noqa: F401 - fixtures

TIMEOUT = 60
FAULTS = ["-e", "page-faults:u", "-c", "1", "-d", "-m", "4M"]
PAGES = 30000
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
EXPANDED_MAX = 256 * 1024       # bytes of records in one COMPRESSED
FIXTURES = sorted((ROOT / "fixtures" / "perf").glob("*.data"))
# native byte order, file mode, finished, not compressed
IN_PLACE = {"01-basic", "02-callgraph-fp", "03-callgraph-dwarf", "10-group-leader-sampling",
            "12-tracepoints"}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="records Linux")


@pytest.fixture(scope="session")
def build_ids(tmp_path_factory):
    """Function: the output lines of tests/c/build_ids.c, built from the recorder's sources with
    sanitizers."""
    target = tmp_path_factory.mktemp("build_ids") / "build_ids"
    sources = [path for path in sorted((ROOT / "record" / "buildid").glob("*.c"))
               if path.name != "buildid_scan.c"]
    sources += [ROOT / "record" / "base" / name for name in (
        "deadline.c", "file_names.c", "file_process.c", "held_files.c", "mapped_inode.c",
        "priority.c", "regular_file.c")]
    command = [os.environ.get("CC") or "cc", "-std=gnu11", "-g", "-D_GNU_SOURCE",
               "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
               f"-I{ROOT}/record", f"-I{ROOT}/tools", f"-I{ROOT}/libdecode/include", "-o", target,
               ROOT / "tests" / "c" / "build_ids.c", *sources,
               BUILD / "libdecode.a", "-lpthread", *RECORD_LIBRARIES]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout

    def call(how, path):
        found = subprocess.run([target, how, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, timeout=TIMEOUT)
        assert found.returncode in (0, 2) and not found.stderr, found.stderr
        return found.stdout.splitlines()
    return call


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_samples_in_batches_hit_the_same_files(path, build_ids):
    fast = build_ids("fast", path)
    assert fast == build_ids("slow", path) and fast[0].startswith("samples")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("way", ["pieces", "file"])
def test_samples_on_their_way_hit_the_same_files(way, path, build_ids):
    """If they can be read where they are: not in pipe mode, nor once records are compressed."""
    found = build_ids(way, path)
    assert found == ["fast 1", *build_ids("slow", path)] or (path.stem not in IN_PLACE
                                                             and found in ([], ["fast 0"]))


@pytest.mark.parametrize("options", [[], ["-B"], ["-z"]], ids=" ".join)
def test_nothing_is_lost_on_the_way(record, options):
    """More than the writer's buffers hold, with and without its thread. Samples are counted at the
    end, or on their way with -B."""
    run = record(*FAULTS, *options, does=f"touch {PAGES}")
    assert run.document["errors"] == [] and run.document["file"]["complete"]
    assert run.captured == len(run.samples) >= PAGES and not run.count("LOST")
    assert len({s["addr"] for s in run.samples}) >= PAGES
    assert run.count("COMPRESSED") == 0 or "-z" in options


@pytest.mark.parametrize("options", [[], ["--threads"]], ids=" ".join)
def test_more_than_a_buffer_is_not_waited_for(options, record):
    """As much as --mmap-flush states never fits: all but a buffer would be lost."""
    faults = ["-e", "page-faults:u", "-c", "1", "-m", "64K", "--mmap-flush", "100M"]
    held = (64 << 10) // 40 * os.cpu_count()    # samples have more bytes
    # the recorder has time to read before the buffer is full
    run = record(*faults, *options, does="touch 600 sleep 5 " * (PAGES // 600))
    assert len(run.samples) > 2 * held


def test_compressed_files_follow_each_other(run_precord, workload, decode, tmp_path):
    """Each has a writer thread of its own; no sample is lost when they change."""
    done = run_precord("-o", "perf.data", "--switch-output=40K", *FAULTS, "-m", "64K", "-z", "--",
                       workload, "touch", str(PAGES))
    documents = [decode(path) for path in sorted(tmp_path.glob("perf.data.*"))]
    assert done.returncode == 0 and len(documents) >= 2
    samples = 0
    for document in documents:
        assert document["errors"] == [] and document["file"]["complete"]
        samples += document["summary"]["by_type"].get("SAMPLE", 0)
    lost = sum(r["lost"] for document in documents for r in document["records"]
               if r["type"] == "LOST_SAMPLES")
    assert samples + lost >= PAGES
    assert f"({samples} samples)" in done.stderr.decode()


def test_compressed_records_are_read_one_by_one(record):
    """Damage takes no more than one of them."""
    run = record(*FAULTS, "-z", does=f"touch {PAGES}")
    file = bytearray(run.path.read_bytes())
    samples, packed = run.samples, run.records("COMPRESSED")
    largest = max(packed[:-1], key=lambda record: record["size"])
    start, end = largest["offset"] + 8, largest["offset"] + largest["size"]
    assert file[start:start + 4] == ZSTD_FRAME
    file[start + 4:end] = bytes(end - start - 4)
    run.path.write_bytes(file)
    left = [record for record in run.decode(run.path)["records"] if record["type"] == "SAMPLE"]
    assert left[-1]["time"] == samples[-1]["time"]
    assert len(samples) - EXPANDED_MAX / 48 - 2 <= len(left) < len(samples)


def wait_for(what, seconds=30):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_killed_recorder_leaves_its_compressed_data(start_precord, decode, workload, tmp_path):
    path = tmp_path / "perf.data"
    process = start_precord("-z", "-e", "cpu-clock:u", "-F", "1000", "-o", path, "--", workload,
                            "spin", "2000")

    def samples():
        if not path.exists() or path.stat().st_size < 4096:
            return 0
        return decode(path)["summary"]["by_type"].get("SAMPLE", 0)
    wait_for(lambda: samples() > 100)
    process.kill()
    process.wait()
    document = decode(path)
    assert document["errors"][0]["code"] == "UNFINISHED"
    assert document["summary"]["by_type"]["SAMPLE"] > 100


@pytest.fixture(scope="module")
def slow_disk(workload):
    return preloaded("slowdisk", workload.parent)


@pytest.mark.skipif("san" in BUILD.name, reason="a sanitizer must be loaded first")
def test_a_slow_disk_does_not_overflow_small_buffers(record, slow_disk):
    """A write takes 100 ms, in which more arrives than a small buffer holds: a thread writes. Large
    buffers need none."""
    environment = dict(os.environ, LD_PRELOAD=str(slow_disk), SLOW_MS="100")
    # The recorder has time to read half a buffer, but not to write it.
    small = record(*FAULTS[:-2], "-m", "512K", "-B", does="touch 4000 sleep 30 " * 6,
                   env=environment)
    assert len(small.samples) >= 24000 and not small.count("LOST")
    assert sum(s["size"] for s in small.samples) > 2 * 512 * 1024
    large = record(*FAULTS[:-2], "-m", "4M", "-B", does="touch 24000", env=environment)
    assert len(large.samples) >= 24000 and not large.count("LOST")


# one more thread waits for signals
@pytest.mark.parametrize("size, threads", [("1M", 3), ("2M", 2)])
def test_small_buffers_have_a_thread_that_writes(size, threads, start_precord, workload, tmp_path):
    process = start_precord("-m", size, "-e", "cpu-clock:u", "-o", tmp_path / "perf.data", "--",
                            workload, "spin", "1500")
    wait_for(lambda: (tmp_path / "perf.data").exists()
             and (tmp_path / "perf.data").stat().st_size > 512)
    wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == threads)
    process.communicate(timeout=TIMEOUT)


@pytest.mark.parametrize("options", [[], ["-z"], ["-m", "512K"]], ids=" ".join)
def test_a_full_disk_is_said(run_precord, workload, options):
    """Before the start: the header can't be written, and the command does not run."""
    done = run_precord("-o", "/dev/full", *FAULTS, *options, "--", workload, "touch", str(PAGES))
    assert done.returncode == 3 and b"No space left" in done.stderr, done.stderr


def test_writes_are_few_and_large(precord, workload, tmp_path):
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace")
    path, table = tmp_path / "perf.data", tmp_path / "calls"
    done = subprocess.run([strace, "-f", "-o", table, "-e", "trace=write,pwrite64,writev", precord,
                           "-q", "-B", *FAULTS, "-m", "64K", "-o", path, "--", workload, "touch",
                           str(PAGES)], stderr=subprocess.PIPE,
                          timeout=TIMEOUT)
    if done.returncode:
        pytest.skip(f"strace: {done.stderr.decode()}")
    sizes = [int(size) for size in re.findall(r"^(?:\d+ +)?(?:write|pwrite64|writev)\(.*= (\d+)$",
                                              table.read_text(), re.M)]
    assert sum(sizes) >= path.stat().st_size > 1 << 20
    seconds = 30
    piece = 60 << 10
    assert len(sizes) < path.stat().st_size / piece + 2 * 2 * seconds
    assert max(sizes) == piece      # larger writes would need more memory


@pytest.mark.parametrize("options", [["-z"], ["-z", "-m", "64K"], ["-z", "--buildid-all"], []],
                         ids=" ".join)
def test_compressed_data_is_not_read_back(options, precord, workload, decode, tmp_path):
    """Samples are inspected before compression: as many are found as by reading the file."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace")
    path, trace = tmp_path / "perf.data", tmp_path / "calls"
    done = subprocess.run([strace, "-f", "-y", "-o", trace, "-e", "trace=read,pread64", precord,
                           *FAULTS, *options, "-o", path, "--", workload, "touch", str(PAGES)],
                          stderr=subprocess.PIPE, timeout=TIMEOUT)
    if done.returncode:
        pytest.skip(f"strace: {done.stderr.decode()}")
    sizes = [int(size) for size in re.findall(rf"pread64\(\d+<{re.escape(str(path))}>.*= (\d+)$",
                                              trace.read_text(), re.M)]
    document = decode(path)
    samples = document["summary"]["by_type"]["SAMPLE"]
    assert sum(sizes) < 65536 if "-z" in options else sum(sizes) > path.stat().st_size / 2
    assert f"({samples} samples)" in done.stderr.decode()
    files = {entry["filename"] for entry in document["features"]["BUILD_ID"]}
    assert {str(workload), "[vdso]"} <= files
    times = [record["time"] for record in document["records"] if record["type"] == "SAMPLE"]
    assert document["features"]["SAMPLE_TIME"] == {"first": min(times), "last": max(times)}


def test_nothing_is_read_twice(precord, workload, tmp_path):
    """Nor is anything that is not needed: the buffers' limit if -m is given, a timer if none is
    set."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace")
    trace = tmp_path / "calls"
    done = subprocess.run([strace, "-o", trace, "-e", "trace=openat,timerfd_create", precord, "-q",
                           *FAULTS, "-o", tmp_path / "perf.data", "--", workload, "touch", "10"],
                          stderr=subprocess.PIPE, timeout=TIMEOUT)
    if done.returncode:
        pytest.skip(f"strace: {done.stderr.decode()}")
    text = trace.read_text()
    read = re.findall(r'^openat\(AT_FDCWD, "(/(?:proc(?!/self/fd)|sys)/.*)", .*\) = \d+$', text,
                      re.M)
    assert len(read) > 10 and len(read) == len(set(read))
    assert not any("perf_event_mlock_kb" in path for path in read) and "timerfd_create" not in text


def test_rounds_are_fewer_than_passes(record):
    run = record(*FAULTS, "-m", "64K", does=f"touch {PAGES}")
    rounds = run.count("FINISHED_ROUND")
    assert 1 <= rounds < run.path.stat().st_size / (64 * 1024)
    order = [r["type"] for r in run.document["records"]]
    assert "SAMPLE" not in order[len(order) - order[::-1].index("FINISHED_ROUND"):]
