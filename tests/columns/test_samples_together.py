"""Samples that come one after the other are added together, unless they have other fields, or
fields that are looked up in their records."""
import pytest

from parquet_reader import read_parquet
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from test_columns import rows, write

KIND = "IDENTIFIER|IP|TID|TIME|CPU"
PLAIN = Attr(type=1, sample_period=4000, sample_type=KIND, flags=("sample_id_all",))
CHAINS = Attr(type=1, sample_period=1, sample_type=KIND + "|PERIOD|CALLCHAIN",
              flags=("sample_id_all",))
HEAVY = Attr(type=1, sample_period=99, sample_type=KIND + "|WEIGHT",
             flags=("freq", "sample_id_all"))
EVENTS = [PLAIN, CHAINS, HEAVY]
PERIODS = [4000, None, None]    # fixed; stated by the samples; a frequency, and not stated
UNFIT, BAD_MODE, UNNAMED = 2**63, 7, 9


def hit(event, i, time=None, misc=2, tid=7):
    """The i-th sample: every value tells which one it is."""
    return sample(EVENTS[event], misc, identifier=event + 1, ip=0x1000 + i, pid=7, tid=tid,
                  time=1000 + i if time is None else time, cpu=i % 5, period=10 + i,
                  callchain=[0x1000 + i, 0x9000], weight=5 * i)


def row_of(event, i, time=None, misc=2, tid=7):
    return {"time": (1000 + i if time is None else time) if time != UNFIT else None,
            "cpu": i % 5, "pid": 7, "tid": tid, "event": event,
            "comm": "task" if tid == 7 else None, "cpumode": "USER" if misc == 2 else None,
            "period": 10 + i if event == 1 else PERIODS[event],
            "weight": 5 * i if event == 2 else None}


CASES = {
    "one event": [(0, i) for i in range(700)],
    "events in turn": [(i % 3, i) for i in range(700)],
    "a few of each": [(i // 7 % 3, i) for i in range(700)],
    "one of another": [(1 if i != 300 else 2, i) for i in range(600)],
    "the last of another": [(1 if i < 299 else 2, i) for i in range(300)],
    "values that are NULL": [(i // 50 % 2, i, UNFIT if i % 9 == 4 else None,
                              BAD_MODE if i % 5 == 1 else 2, UNNAMED if i % 4 == 3 else 7)
                             for i in range(600)],
}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_the_samples(case, jobs, run_pdecode, tmp_path):
    name = r.comm(7, 7, "task", sid=sample_id(PLAIN, identifier=1, pid=7, tid=7, time=1))
    path = tmp_path / "r.data"
    path.write_bytes(File(attrs=[(event, [i + 1]) for i, event in enumerate(EVENTS)],
                          records=[name, *(hit(*one) for one in CASES[case])]).build("<"))
    tables = {name: rows(read_parquet(data)[0])
              for name, data in write(run_pdecode, tmp_path / "out", path, "-j", jobs).items()}
    want = [row_of(*one) for one in CASES[case]]
    assert [{key: row[key] for key in want[0]} for row in tables["samples"]] == want
    lists = {row["stack"]: row["frames"] for row in tables["stacks"]}
    offsets = {row["frame"]: row["offset"] for row in tables["frames"]}
    for row, (event, i, *_) in zip(tables["samples"], CASES[case]):
        assert offsets[row["frame"]] == 0x1000 + i and (row["stack"] is None) == (event != 1)
        assert [offsets[one] for one in lists.get(row["stack"], [])] == (
            [0x1000 + i, 0x9000] if event == 1 else [])
    unfit = sum(one[2:3] == (UNFIT,) for one in CASES[case])
    assert [(row["record"], row["field"], row["have"]) for row in tables["errors"]] == (
        [("files", "last_time", 1), ("samples", "time", unfit)] if unfit else [])
