"""Rows in groups that several threads read, each a part of the recording: the answers are those of
one thread."""
import os

import pytest

from compiled import preloaded
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from test_pquery import run

EVENT = Attr(type=1, config=0, sample_period=1, flags=("sample_id_all",),
             sample_type="IDENTIFIER|IP|TID|TIME|PERIOD")
SAMPLES = 1000      # of a block
BLOCKS = 200
JOBS = (2, 3, 16)
QUERIES = ["select comm, count(*) from samples group by comm order by 2 desc, 1",
           "select comm, pid, count(*), sum(period), min(time), max(time) from samples "
           "where pid != 12 group by comm, pid",
           "select tid, count(distinct comm), count(addr), max(wall_ns) from samples group by tid",
           "select comm, count(distinct frame) from samples group by comm"]


def block(number):
    """Samples of ten threads, of which one gets another name."""
    def of(pid, time):
        return {"id": 1, "pid": pid, "tid": pid, "time": number * 10 * SAMPLES + time}

    name = r.comm(10 + number % 10, 10 + number % 10, f"name {number}",
                  sid=sample_id(EVENT, **of(10 + number % 10, 0)))
    return [name, *(sample(EVENT, 2, ip=i, period=number + i, **of(10 + i * i % 10, 5 + i))
                    for i in range(SAMPLES))]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Two recordings: one is damaged in its middle, where no record begins for a while."""
    records = [record for number in range(BLOCKS) for record in block(number)]
    whole = File(attrs=[(EVENT, [1])], records=records).build("<")
    middle = len(whole) // 2 // 8 * 8
    damaged = whole[:middle] + bytes(4096) + whole[middle + 4096:]
    folder = tmp_path_factory.mktemp("parts")
    for name, data in (("whole", whole), ("damaged", damaged)):
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("name", ["whole", "damaged"])
def test_groups_are_the_same_for_all_numbers_of_threads(recordings, name, sql):
    one = run("-j", "1", "-f", "csv", sql, recordings / name)
    assert one.stdout.count(b"\n") > 5 and bool(one.stderr) == (name == "damaged")
    for jobs in JOBS:
        several = run("-j", str(jobs), "-f", "csv", sql, recordings / name)
        assert (several.stdout, several.stderr, several.returncode) == (
            one.stdout, one.stderr, one.returncode)


def test_all_samples_are_counted(recordings):
    sql = "select pid, sum(period) from samples group by pid"
    lines = run("-j", "2", "-f", "csv", sql, recordings / "whole").stdout.decode().split()[1:]
    periods = {}
    for number in range(BLOCKS):
        for i in range(SAMPLES):
            pid = 10 + i * i % 10
            periods[pid] = periods.get(pid, 0) + number + i
    assert {tuple(map(int, line.split(","))) for line in lines} == set(periods.items())


def test_several_recordings(recordings):
    sql = "select file, comm, count(*) from samples group by file, comm"
    both = [run("-j", jobs, "-f", "csv", sql, recordings / "whole", recordings / "damaged").stdout
            for jobs in "12"]
    assert both[0] == both[1]


@pytest.mark.parametrize("place", [1, 5])
def test_after_an_error_in_a_part_the_whole_is_read(recordings, tmp_path, place):
    """The place is in sixths of the file. The first pass is not the one that fails. The file can be
    written by others, so that it is read and not mapped."""
    path = tmp_path / "perf.data"
    path.write_bytes((recordings / "whole").read_bytes())
    path.chmod(0o666)
    environment = dict(os.environ, LD_PRELOAD=str(preloaded("badsector", tmp_path)),
                       BAD_BYTE=str(path.stat().st_size * place // 6))
    args = ("--sandbox=never", "-j", "2", "-f", "csv", QUERIES[0], path)
    whole = run(*args)
    once = run(*args, env={**environment, "BAD_TIME": "2"})
    assert (once.returncode, once.stdout) == (0, whole.stdout)
    first = run(*args, env={**environment, "BAD_TIME": "1"})
    assert first.returncode == 1 and b"Input/output error" in first.stderr
