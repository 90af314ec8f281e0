"""Tables of more than one row group: a second thread encodes and writes them."""
import resource

import pytest

from parquet_reader import read_parquet, rows_of_groups
from perfdata import features, records
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from test_columns import rows, write

EVENT = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME|CALLCHAIN",
             flags=("sample_id_all",))
SAMPLES = 50_000
LEAST = ["--memory", "64M"]     # with which a table has groups of 2 MiB, and a thread is started


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A recording of many samples, of which each has another stack."""
    path = tmp_path_factory.mktemp("many") / "many.data"
    path.write_bytes(File(attrs=[(EVENT, [1])], records=hits()).build("<"))
    return path


def hits():
    return [sample(EVENT, 2, ip=0x1000 + i, pid=7, tid=7 + i % 9, time=100 + i * i % 1009,
                   callchain=[0x1000 + i, 0x2000 + i % 77, 0x3000]) for i in range(SAMPLES)]


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.fixture(scope="module")
def with_one_thread(many, run_pdecode, tmp_path_factory):
    return write(run_pdecode, tmp_path_factory.mktemp("one"), many, *LEAST, "-j1")


@pytest.mark.parametrize("jobs", ["2", "4"])
def test_threads_give_the_same_bytes(jobs, many, with_one_thread, run_pdecode, tmp_path):
    assert write(run_pdecode, tmp_path / "out", many, *LEAST, "-j", jobs) == with_one_thread


def write_long(path, size):
    """A recording with a feature as long as the name of a host that nobody has."""
    name = b"h" * (size - 1) + b"\0"
    host = {features.NUMBER["HOSTNAME"]: len(name).to_bytes(4, "little") + name}
    path.write_bytes(File(attrs=[(EVENT, [1])], records=hits(), features=host).build("<"))
    return path


def test_too_little_memory_is_named(run_pdecode, tmp_path):
    path = write_long(tmp_path / "long.data", 1_000_000)
    done = run_pdecode(["-f", "parquet", "-o", tmp_path / "out", "--memory", "2M", path])
    assert done.returncode == 4 and not (tmp_path / "out").exists()
    assert done.stderr.decode().endswith(
        f"pdecode: {path}: needs more memory than --memory allows, which is 2 MiB: try "
        "'--memory 16M'\n")


@pytest.mark.parametrize("size, memory", [(200_000, "2M"), (1_000_000, "6M")])
def test_rows_of_the_end_have_the_memory_of_samples(size, memory, run_pdecode, tmp_path):
    path = write_long(tmp_path / "long.data", size)
    found = write(run_pdecode, tmp_path / "out", path, "--memory", memory)
    assert read_parquet(found["files"])[0]["host"] == ["h" * (size - 1)]
    assert read_parquet(found["samples"])[0]["stack"] == list(range(SAMPLES))


def test_large_rows_need_no_more_memory(run_pdecode, tmp_path):
    """A few rows fill a batch of what 2 MiB allow."""
    event = Attr(type=1, sample_type="IP|TID|TIME|RAW|STACK_USER", sample_stack_user=32 << 10)
    one = sample(event, ip=0x1000, pid=7, tid=7, time=100, raw=bytes((16 << 10) - 4),
                 stack_user=bytes(32 << 10))
    path = tmp_path / "large.data"
    path.write_bytes(File(attrs=[(event, [1])], records=[one] * 200).build("<"))
    found = write(run_pdecode, tmp_path / "out", path, "--memory", "2M", "--with", "stack,raw")
    read = read_parquet(found["samples"])[0]
    assert [len(stack) for stack in read["user_stack"]] == [32 << 10] * 200
    assert [len(raw) for raw in read["raw"]] == [(16 << 10) - 4] * 200


def test_many_row_groups_need_no_more_memory(run_pdecode, tmp_path):
    """Their metadata, of the whole file, would have more than there is."""
    path, nr = tmp_path / "same.data", 100_000
    one = sample(EVENT, 2, ip=0x1000, pid=7, tid=7, time=100, callchain=[0x1000])
    path.write_bytes(File(attrs=[(EVENT, [1])], records=[one] * nr).build("<"))
    found = write(run_pdecode, tmp_path / "out", path, "--memory", "512K")["samples"]
    assert len(rows_of_groups(found)) > 100 and read_parquet(found)[0]["time"] == [100] * nr


def test_many_tables_need_no_more_memory(run_pdecode, tmp_path):
    """Rows of each are kept until there are many; those of all of them have a limit, too."""
    path, nr = tmp_path / "tables.data", 8_000
    of = sample_id(EVENT, pid=7, tid=7, time=100)
    path.write_bytes(File(attrs=[(EVENT, [1])], records=[record for i in range(nr) for record in (
        sample(EVENT, 2, ip=i, pid=7, tid=7, time=100, callchain=[i]),
        records.comm(7, 7, b"comm%d" % i, sid=of), records.switch(sid=of),
        records.lost(1, 1 + i, sid=of), records.cgroup(i, b"/cgroup/%d" % i, sid=of),
        records.read(7, 7, b"", sid=of))]).build("<"))
    found = write(run_pdecode, tmp_path / "out", path, "--memory", "1500K")
    for table in ("samples", "comms", "switches", "lost", "cgroups", "records"):
        assert len(read_parquet(found[table])[0]["time"]) == nr
    assert read_parquet(found["lost"])[0]["count"] == list(range(1, nr + 1))


def test_all_rows_are_there_in_order(with_one_thread):
    groups = rows_of_groups(with_one_thread["samples"])
    assert len(groups) > 1 and sum(groups) == SAMPLES
    found = rows(read_parquet(with_one_thread["samples"])[0])
    assert [row["time"] for row in found] == [100 + i * i % 1009 for i in range(SAMPLES)]
    assert [row["frame"] for row in found[:3]] == [0, 3, 5]
    assert [row["stack"] for row in found] == list(range(SAMPLES))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_cannot_be_written_is_an_error(jobs, many, run_pdecode, tmp_path):
    done = run_pdecode(["-f", "parquet", "-o", tmp_path / "out", *LEAST, "-j", jobs, many],
                       preexec_fn=limit_files)
    assert done.returncode == 4 and done.stderr.count(b"File too large") == 1, done.stderr
