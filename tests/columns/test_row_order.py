"""Rows of samples whose CPUs change often are written by (cpu, time), with all their values."""
import pytest

from arrow_reader import read_arrow
from parquet_reader import read_parquet
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import branch, sample
from test_columns import rows, write

EVENT = Attr(type=1, sample_period=1, sample_type="IDENTIFIER|IP|TID|TIME|CPU|PERIOD|CALLCHAIN|RAW|"
             "BRANCH_STACK", flags=("sample_id_all",))
BARE = Attr(type=1, config=1, sample_period=1, sample_type="IDENTIFIER|IP|TID",
            flags=("sample_id_all",))
GROUPS = ["--with", "raw,branch,offset"]
SAMPLES = 4200


CPUS = {"few": [0, 1, 2, 3, 4], "large": [1, 1023, 1024, (1 << 31) - 1, 2]}


def hit(i, cpus):
    """Each has values of its own; times grow but for every 100th, and are equal in pairs."""
    if i % 50 == 7:
        return sample(BARE, 2, id=2, ip=0x500 + i % 11, pid=9, tid=9)
    return sample(EVENT, 1 + i % 2, id=1, ip=0x1000 + i % 600, pid=i % 300, tid=i % 600,
                  cpu=cpus[i % 5], time=i // 10 * 10 + 5000 - (i % 100 == 0) * 3000,
                  period=i + 1, callchain=[0x1000 + i % 600] * (i % 4),
                  raw=bytes([i % 256]) * (i % 9),
                  branch_stack={"entries": [branch(i, j) for j in range(i % 3)]})


@pytest.fixture(scope="module", params=CPUS.values(), ids=CPUS)
def path(tmp_path_factory, request):
    file = tmp_path_factory.mktemp("order") / "in.data"
    file.write_bytes(File(attrs=[(EVENT, [1]), (BARE, [2])],
                          records=[hit(i, request.param) for i in range(SAMPLES)]).build("<"))
    return file


@pytest.fixture(scope="module")
def files(path, run_pdecode, tmp_path_factory):
    return write(run_pdecode, tmp_path_factory.mktemp("one"), path, *GROUPS, "-j1")


def test_rows_are_those_of_the_stream_by_cpu_and_time(files, path, run_pdecode):
    stream = rows(read_arrow(run_pdecode(["-f", "arrow", "--table", "samples", *GROUPS,
                                          path]).stdout)[0])
    assert len(stream) == SAMPLES and sum(row["cpu"] is None for row in stream) == SAMPLES // 50
    want = sorted(stream, key=lambda row: (row["cpu"] or 0, row["time"] or 0))
    assert want != stream and rows(read_parquet(files["samples"])[0]) == want


def test_threads_give_the_same_order(files, path, run_pdecode, tmp_path):
    assert write(run_pdecode, tmp_path / "out", path, *GROUPS, "-j2") == files


def test_runs_of_a_cpu_stay_as_they_are(run_pdecode, tmp_path):
    """As ring buffers are drained: what is gained is less than what it takes."""
    hits = [sample(EVENT, 2, id=1, pid=1, tid=1, cpu=i // 2100, time=9000 - i)
            for i in range(SAMPLES)]
    (tmp_path / "in.data").write_bytes(File(attrs=[(EVENT, [1])], records=hits).build("<"))
    files = write(run_pdecode, tmp_path / "out", tmp_path / "in.data")
    assert read_parquet(files["samples"])[0]["time"] == [9000 - i for i in range(SAMPLES)]
