"""Tables of a recording in the other byte order are the same, as are counts and periods of samples
and those that `perf script` prints."""
import collections
import gzip
import re

import pytest

import perf_oracle
from parquet_reader import read_parquet
from perfdata import swap

# The swapper ends at the damage, or the last record is cut: see tests/decode/test_byte_order.py
DAMAGED = {"perf.data.piped.corrupted.zero_size_sample-3.2", "A3-zstd-unflushed.data"}
PLACES = {"offset", "size", "path", "byte_order", "json", "message", "have", "want"}

# Files whose samples perf prints otherwise, and how.
EXPANDED = {"10-group-leader-sampling.data", "98-group-lead-tp.data", "K-group.data"}
OTHERWISE = {
    **dict.fromkeys(EXPANDED, "perf makes samples of the other counts of a group"),
    "87-event-terms.data": "perf puts samples without a time before the names of their threads",
    "perf.data.PerfFormatLost": "a later perf makes samples of the other counts of a group",
    "A3-zstd-unflushed.data": "perf leaves out the sample that is cut",
    "perf.data.intel_pt-4.14": "perf prints instructions of AUX data, too",
    "K-bpfout.data": "perf 6.1 has another name for the event",
}
LINE = re.compile(r"^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+(?:\[(\d+)\])?\s*(.*):\s*$")


@pytest.fixture(scope="module")
def write(run_pdecode, tmp_path_factory):
    """Function: the tables of a recording, and pdecode's exit code."""
    def tables(path):
        place = tmp_path_factory.mktemp("tables")
        done = run_pdecode(["-f", "parquet", "-o", place, path])
        if done.returncode == 3:
            pytest.skip("no recording")
        return done.returncode, {file.stem: read_parquet(file.read_bytes())[0]
                                 for file in place.iterdir()}
    return tables


@pytest.fixture(scope="module")
def tables(data_file, write):
    return write(data_file.path)


def test_swapped_to_big_endian(data_file, tables, write, tmp_path):
    if data_file.path.name in DAMAGED:
        pytest.skip("the swapper can't swap all of it")
    try:
        big = swap.to_big_endian(swap.load(data_file.path))
    except swap.NotSwappable as problem:
        pytest.skip(str(problem))
    code, found = write(swap.store(tmp_path / data_file.path.name, big))
    assert code == tables[0]
    assert found["files"]["byte_order"] == ["big"]
    for name, columns in tables[1].items():
        for column in columns.keys() - PLACES:
            assert found[name][column] == columns[column], (name, column)


def perf_samples(perf, path):
    """Counts of (comm, pid, tid, cpu, event) and whether it has CPUs, or perf's reason to print
    none."""
    for fields in ("comm,pid,tid,cpu,event", "comm,pid,tid,event"):
        code, out, error = perf_oracle.run_perf(perf, ["script", "-i", path, "-F", fields])
        if code == 0:
            break
    else:
        return error, False
    lines = [LINE.match(line) for line in out.splitlines() if line.strip()]
    return collections.Counter(
        (m[1], int(m[2]), int(m[3]), m[4] and int(m[4]), m[5]) for m in lines if m), "cpu" in fields


def perf_name(comm, pid, tid):
    """A thread without a name is :TID in perf's output, or the idle task."""
    return comm if comm is not None else "swapper" if tid == 0 < pid else f":{tid}"


def without_forgotten_names(have, want, tasks):
    """A later perf (6.12) forgets a thread with its exit: samples after it are of :TID there."""
    ended = {(pid, tid) for pid, tid, end in zip(*(tasks[name] for name in ("pid", "tid", "end")))
             if end is not None}
    have = have.copy()
    for (comm, pid, tid, *more), count in (have - want).items():
        nameless = (f":{tid}", pid, tid, *more)
        if (pid, tid) in ended and nameless in want:
            count = min(count, want[nameless] - have[nameless])
            have[nameless] += count
            have[(comm, pid, tid, *more)] -= count
    return +have


def test_samples_are_those_of_perf_script(data_file, tables, perf, tmp_path):
    if data_file.path.name in OTHERWISE:
        pytest.skip(OTHERWISE[data_file.path.name])
    path = data_file.path
    if path.suffix == ".gz":
        path = swap.store(tmp_path / "perf.data", gzip.decompress(path.read_bytes()))
    want, has_cpus = perf_samples(perf, path)
    if isinstance(want, str):
        pytest.skip(f"perf: {want.strip().splitlines()[-1]}")
    rows = tables[1]["samples"]
    have = collections.Counter(
        (perf_name(comm, pid, tid), pid, tid, cpu if has_cpus else None, event)
        for comm, pid, tid, cpu, event in zip(*(rows[name] for name in (
            "comm", "pid", "tid", "cpu", "event_name"))))
    assert without_forgotten_names(have, want, tables[1]["tasks"]) == want


def test_periods_are_those_of_perf_script(fixture_file, write, perf):
    """Also of events with a fixed period, whose samples do not state it."""
    if fixture_file.path.name in EXPANDED | {"A3-zstd-unflushed.data"}:
        pytest.skip(OTHERWISE[fixture_file.path.name])
    code, out, error = perf_oracle.run_perf(
        perf, ["script", "-f", "-i", fixture_file.path, "-F", "period"])
    if code:
        pytest.skip(f"perf: {error.strip().splitlines()[-1]}")
    periods = write(fixture_file.path)[1]["samples"]["period"]
    assert sorted(period or 0 for period in periods) == sorted(
        map(int, re.findall(r"^\s*(\d+) *$", out, re.M)))
