"""Rows in groups: those of GROUP BY and DISTINCT are in order before SQLite gets them, which can be
compared with the order that SQLite makes itself, of a term that is no column."""
import random

import pytest

from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from test_pquery import CHAINS, query, rows, run

EVENTS = [Attr(type=1, config=i, sample_period=1, flags=("sample_id_all",),
               sample_type="IDENTIFIER|IP|TID|TIME" + more) for i, more in
          enumerate(("|CPU|PERIOD", ""))]
NAMES = ["a", "ab", "b", "", "B", "a b", "\N{SNOWMAN}", "aa"]
SAMPLES = 30_000
FEW = ("--memory", "2M")    # a batch has some thousand rows


def of(event, pid, time):
    return {"id": event + 1, "pid": pid, "tid": pid, "time": time, "cpu": 0}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Samples of processes that are named, renamed, or not known, in no order; those of the second
    event have no CPU and no period."""
    chance = random.Random(4)
    records = [r.comm(pid, pid, NAMES[pid % len(NAMES)], sid=sample_id(EVENTS[0], **of(0, pid, 1)))
               for pid in range(10, 100)]
    for i in range(SAMPLES):
        pid, event = chance.choice([-1, 0, *range(10, 120)]), i % 7 == 0
        if i % 1000 == 999:
            records.append(r.comm(pid, pid, f"later {i}",
                                  sid=sample_id(EVENTS[0], **of(0, pid, 2 + i))))
        records.append(sample(EVENTS[event], 2, ip=i, period=chance.choice([0, 1, 300, 2**40]),
                              **{**of(event, pid, 2 + i), "cpu": chance.randrange(300)}))
    path = tmp_path_factory.mktemp("groups") / "many.data"
    path.write_bytes(File(attrs=[(event, [i + 1]) for i, event in enumerate(EVENTS)],
                          records=records).build("<"))
    return path


TERMS = [["comm"], ["pid"], ["cpu"], ["event_name"], ["period"], ["time"], ["cgroup"],
         ["comm", "pid"], ["cpu", "comm"], ["period", "comm", "cpu"],
         ["event", "cpumode", "comm", "tid"],
         ["comm", "cpu", "event", "period", "pid"], ["frame"], ["addr"]]


def unknown(terms):
    """The same values, but SQLite knows no order of them."""
    return [f"iif(1, {term}, 0)" for term in terms]


@pytest.mark.parametrize("terms", TERMS, ids=",".join)
@pytest.mark.parametrize("tail", ["", "order by {}", "order by {} desc"])
def test_groups_are_those_that_sqlite_makes(many, terms, tail):
    for path in (many, CHAINS):
        for where in ("", "where comm = 'a' and cpu < 100", "where time > 9000"):
            sql = (f"select {', '.join(terms)}, count(*), sum(period), min(time) from samples "
                   f"{where} group by ")
            have, want = (rows(sql + ", ".join(names) + " " + tail.format(", ".join(names)), path,
                               options=FEW if path is many else ())
                          for names in (terms, unknown(terms)))
            assert have == want
            assert sum(row[len(terms)] for row in have) or where


@pytest.mark.parametrize("terms", TERMS, ids=",".join)
def test_distinct_rows_are_those_that_sqlite_makes(many, terms):
    have, want = (rows(f"select distinct {', '.join(names)} from samples", many, options=FEW)
                  for names in (terms, unknown(terms)))
    assert sorted(have, key=str) == sorted(want, key=str)


def test_groups_of_records():
    have, want = (rows(f"select {term}, count(*), min(record) from records group by {term}", CHAINS)
                  for term in ("type", "iif(1, type, 0)"))
    assert have == want and len(have) > 3


def test_groups_of_scans_that_are_repeated():
    """The third scan is one of a table in memory."""
    want, *found = query(";".join(f"select {term} c, pid, count(*) from samples where cpu >= 0 "
                                  f"group by {term}, pid"
                                  for term in ("iif(1, comm, 0)", *["comm"] * 4)), CHAINS)
    assert found == [want] * 4


def test_rows_whose_numbers_are_read_are_not_merged(many):
    for name in ("rowid", "oid"):
        found = rows(f"select comm, max({name}) from samples group by comm", many, options=FEW)
        assert max(number for _, number in found) == SAMPLES


def test_columns_alone_are_those_of_all(many):
    """A scan for one column makes no others."""
    for path in (many, CHAINS):
        every = rows("select time, cpu, pid, tid, event, event_name, comm, cpumode, frame, stack, "
                     "period, weight, cgroup, ip, addr from samples", path)
        names = ("time, cpu, pid, tid, event, event_name, comm, cpumode, frame, stack, period, "
                 "weight, cgroup, ip, addr").split(", ")
        for i, name in enumerate(names):
            assert rows(f"select {name} from samples", path) == [(row[i],) for row in every], name


def test_rows_that_do_not_fit_are_sorted_by_sqlite(many):
    sql = "select comm, pid, cpu, period, count(*) from samples group by 1, 2, 3, 4"
    done = run("--memory", "2M", sql, many)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == run(sql, many).stdout
    for memory, is_sorted in ("2M", True), ("256M", version() < (3, 38)):
        plan = run("--memory", memory, "explain query plan " + sql, many).stdout
        assert (b"B-TREE" in plan) == is_sorted


def version():
    """SQLite says from 3.38 on that groups are wanted."""
    return tuple(map(int, rows("select sqlite_version()", CHAINS)[0][0].split(".")))


def test_the_plan_has_no_sorting(many):
    for tail in ("", "order by comm desc, pid desc"):
        sql = f"explain query plan select count(*) from samples group by comm, pid {tail}"
        plans = [row[3] for row in rows(sql, many)]
        assert any("B-TREE" in plan for plan in plans) == (version() < (3, 38))
    # ORDER BY alone may keep a few rows only, and those of two files are in no order.
    for sql, paths in (("select comm from samples order by comm limit 3", [many]),
                       ("select count(*) from samples group by comm", [many, CHAINS])):
        assert any("B-TREE" in row[3] for row in rows("explain query plan " + sql, *paths))


# A scan returns equal rows once where they are only counted; {} is a column.
COUNTED = [
    "select {}, count(*) from samples group by 1 order by 2 desc, 1",
    "select {}, count({}), count(pid) from samples group by {}, pid order by 1, 2, 3",
    "select {}, count(*) from samples where {} in ('a', 'b', 7, 8) group by {}",
    "select {}, count(*) from samples where {} like 'a%' or pid > 3 group by {}, pid",
    "select {}, count(*) from samples where cpu = 1 or cpu = 2 group by {}, cpu",
    "select {}, count(distinct {}), count(*) from samples group by {}",
    "select {}, count(*), count(*) over () from samples group by {}",
    "select distinct {}, count(*) over () from samples",
    "select {}, count(*) filter (where {} is not null) n from samples group by {} having n > 30",
    "select {}, max({}), total(cpu), group_concat({}) from samples where cpu = 3 group by {}",
    "select {}, cpu other, sum(cpu), count(*) from samples group by {}, cpu",
    "select {}, count(*) from samples, (select 1 union select 2) group by {}",
    "select {}, count(*) from samples, json_each('[1,2]') group by {}",
    "select {}, count(*) from samples, events e group by {}",
    "select {}, (select count(*) from events) from samples group by {}",
    "select {}, count(*) from samples group by {} union all select '', count(*) from events",
    "select count(*) from (select {} from samples group by {})",
    "select {}, count(*) over (partition by {}) from samples order by 1 limit 300",
    "select count(*), count({}), count(cgroup) from samples",
]


@pytest.mark.parametrize("sql", COUNTED)
def test_counted_rows_are_as_many_as_without_merging(many, sql):
    for column in ("comm", "cpu", "period", "tid"):
        have, want = (rows(sql.format(*[term] * sql.count("{}")), many, options=FEW)
                      for term in (column, f"iif(1, {column}, 0)"))
        assert sorted(have, key=str) == sorted(want, key=str)


def test_only_rows_of_which_all_columns_are_terms_are_merged(many):
    for sql, is_merged in (("select comm, count(*) from samples group by comm", True),
                           ("select distinct comm, cpu from samples", True),
                           ("select comm, count(pid) from samples group by comm", False),
                           ("select comm from samples where cpu = 1 group by comm", False),
                           ("select comm from samples where comm in ('a', 'b') group by 1", False)):
        plan = run("explain query plan " + sql, many).stdout
        assert (b"*" in plan) == (is_merged and version() >= (3, 38)), sql


def test_statements_after_one_another_are_merged_each_for_itself(many):
    """A prompt's statements have nothing to do with each other."""
    alone, other = ("select comm, count(*) from samples group by comm",
                    "select count(*) from samples")
    want = query(alone, many) + query(other, many)
    assert query(f"{alone};{other};{alone};{other}", many) == want * 2
