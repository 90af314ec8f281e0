"""Outputs that stop accepting data: a full disk, a file size limit, a reader that exits. The bytes
written are a valid recording, the loss is reported, and the command is not disturbed."""
import ctypes
import ctypes.util
import json
import mmap
import os
import re
import resource
import signal
import struct
import subprocess

import pytest

from recorder import (  # noqa: F401
    event_works, needs_root, precord, run_precord, start_precord, workload)

FAULTS = ["-e", "page-faults:u", "-c", "1", "-g", "-m", "512K"]
AFTER = ["say", "5", "exit", "7"]       # the rest of the command, long after the disk is full
SAMPLE, COMPRESSED, AUXTRACE = 9, 81, 71
MODES = {"plain": [], "compressed": ["-z"], "threads": ["--threads"],
         "threads-compressed": ["--threads", "-z"],
         "switch": ["--switch-output=300K"]}

pytestmark = pytest.mark.skipif(not event_works("page-faults:u"),
                                reason="page faults can't be sampled here")


class Zstd:
    """Decompresses the one stream that all compressed records of a file form."""

    class Buffer(ctypes.Structure):
        _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t)]

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        self.library.ZSTD_createDStream.restype = ctypes.c_void_p
        self.library.ZSTD_decompressStream.restype = ctypes.c_size_t
        self.library.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.c_void_p,
                                                       ctypes.c_void_p]
        self.stream = ctypes.c_void_p(self.library.ZSTD_createDStream())

    def decompress(self, data):
        room = ctypes.create_string_buffer(1 << 20)
        source = self.Buffer(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data), 0)
        out = b""
        while True:
            target = self.Buffer(ctypes.addressof(room), len(room), 0)
            left = self.library.ZSTD_decompressStream(self.stream, ctypes.byref(target),
                                                      ctypes.byref(source))
            assert not self.library.ZSTD_isError(ctypes.c_size_t(left))
            out += room.raw[:target.pos]
            if source.pos == len(data) and target.pos < len(room):
                return out


def count_in(records):
    """Returns the number of samples and the bytes of whole records. A sample that is cut at the end
    counts, because pdecode shows its beginning."""
    at = samples = 0
    while at + 8 <= len(records):
        kind, _, size = struct.unpack_from("<IHH", records, at)
        assert size >= 8 and kind != AUXTRACE
        samples += kind == SAMPLE
        if at + size > len(records):
            break
        at += size
    return samples, at


def samples_in(path, is_part=False):
    """Counts without the library. The file must end with a whole record."""
    data = path.read_bytes()
    begin, size = (0, len(data)) if is_part else struct.unpack_from("<QQ", data, 40)
    assert is_part or begin + size <= len(data)
    records, zstd, expanded = data[begin:begin + size], Zstd(), b""
    samples, end = count_in(records)
    assert end == size
    at = 0
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", records, at)
        if kind == COMPRESSED:
            expanded += zstd.decompress(records[at + 8:at + size])
        at += size
    return samples + count_in(expanded)[0]


def all_samples(path):
    if path.is_dir():
        return samples_in(path / "data") + sum(samples_in(part, True)
                                               for part in path.glob("data.*"))
    return samples_in(path)


def recordings(directory):
    return sorted(path for path in directory.iterdir() if path.name.startswith("perf.data"))


def check_what_is_left(done, directory, run_pdecode):
    """Each file has the samples that it states, and the last one those that precord states."""
    told = re.search(r"the recording ends here, with (\d+\.\d{3}) MB \((\d+) samples\); at least "
                     r"(\d+\.\d{3}) MB of records "
                     r"are lost", done.stderr.decode())
    paths = recordings(directory)
    # a file without records was removed
    begun = paths if float(told[1]) else [*paths, None]
    total = 0
    for path in paths:
        decoded = run_pdecode(["-f", "stats", path])
        samples = json.loads(decoded.stdout)["by_type"].get("SAMPLE", {}).get("records", 0)
        total += samples
        assert samples == all_samples(path)
        if path != begun[-1]:
            assert decoded.returncode == 0
            continue
        # of a directory: only its data.N were full
        whole = path.is_dir() and b"the recorder did not finish" not in decoded.stderr
        assert samples == int(told[2]) and (decoded.returncode == 1 or whole), decoded.stderr
        if path.is_file():      # nothing follows the data that the header states
            assert sum(struct.unpack_from("<QQ", path.read_bytes(), 40)) == path.stat().st_size
    assert total > 100
    return float(told[3])


@pytest.fixture
def disk(tmp_path):
    """Function: a directory on a disk of this size."""
    mounted = []

    def mount(size):
        path = tmp_path / f"disk{len(mounted)}"
        path.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            pytest.skip("tmpfs can't be mounted here")
        mounted.append(path)
        return path
    yield mount
    for path in mounted:
        subprocess.run(["umount", path], check=True)


@needs_root
@pytest.mark.parametrize("less", [0, mmap.PAGESIZE], ids=["2M", "a-page-less"])
@pytest.mark.parametrize("mode", MODES)
def test_a_full_disk(run_precord, run_pdecode, workload, disk, mode, less):
    compressed = "-z" in MODES[mode]
    where = disk((128 << 10 if compressed else 2 << 20) - less)
    done = run_precord("-o", where / "perf.data", *FAULTS, *MODES[mode], "--", workload, "touch",
                       "150000" if compressed else "40000", *AFTER, stdout=subprocess.PIPE)
    assert done.returncode == 4 and done.stdout == b"5\n", done.stderr
    assert b"No space left on device" in done.stderr
    check_what_is_left(done, where, run_pdecode)


@pytest.mark.parametrize("mode", MODES)
def test_a_limit_of_the_files_size(run_precord, run_pdecode, workload, tmp_path, mode):
    limit = (20 if "-z" in MODES[mode] else 200) << 10
    done = run_precord("-o", "perf.data", *FAULTS, *MODES[mode], "--", workload, "touch", "40000",
                       *AFTER, stdout=subprocess.PIPE,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 4 and done.stdout == b"5\n" and b"File too large" in done.stderr
    assert check_what_is_left(done, tmp_path, run_pdecode) > 0


@needs_root
def test_perf_reads_the_file_of_a_full_disk(run_precord, workload, disk, perf):
    where = disk(1 << 20)
    run_precord("-o", where / "perf.data", *FAULTS, "--", workload, "touch", "40000")
    told = subprocess.run([perf, "script", "-i", where / "perf.data", "-F", "time", "-G"],
                          capture_output=True, timeout=60)
    assert told.returncode == 0 and len(told.stdout.splitlines()) == samples_in(where / "perf.data")


@pytest.mark.parametrize("options", [[], ["-z"]], ids=["plain", "compressed"])
def test_a_stream_whose_reader_ends(start_precord, workload, tmp_path, options):
    """precord waits for the command to end, then dies of SIGPIPE without a message."""
    process = start_precord("-o", "-", *FAULTS, *options, "--", workload, "touch", "40000", "sleep",
                            "300", "touch", "40000", *AFTER, stdout=subprocess.PIPE)
    process.stdout.read(16)
    process.stdout.close()
    assert process.wait(timeout=30) == -signal.SIGPIPE
    assert process.stderr.read() == b"5\n"      # the command prints to its stdout


def limit_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


def test_nothing_is_waited_for_without_a_command(start_precord, workload):
    target = subprocess.Popen([workload, "sleep", "100", "touch", "40000", "sleep", "20000"])
    try:
        process = start_precord("-o", "perf.data", *FAULTS, "-p", target.pid,
                                preexec_fn=limit_size)
        assert process.wait(timeout=15) == 4
        assert target.poll() is None
    finally:
        target.kill()
        target.wait()


def test_a_signal_still_ends_it(start_precord, workload):
    process = start_precord("-q", "-o", "perf.data", *FAULTS, "--", workload, "touch", "40000",
                            "sleep", "20000", preexec_fn=limit_size)
    said = process.stderr.readline() + process.stderr.readline()
    assert b"File too large" in said and b"the recording ends here" in said
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 4
