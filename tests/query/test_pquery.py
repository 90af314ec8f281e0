"""pquery: the same facts as pdecode's, in SQL; errors that a person can act on."""
import collections
import csv
import io
import json
import os
import pathlib
import random
import re
import select
import signal
import subprocess

import pytest

from conftest import FIXTURES, ROOT, TIMEOUT, TOOLS
from arrow_reader import read_arrow
from known_recording import build_program, recorded
from parquet_reader import read_parquet
from perfdata.attr import Attr
from perfdata.catalog import catalog
from perfdata.container import File
from perfdata.sample import sample
from payloads import short_payload

PERF = FIXTURES / "perf"
CHAINS = PERF / "02-callgraph-fp.data"
BASIC = PERF / "01-basic.data"
TABLES = ["files", "events", "samples", "stacks", "frames", "objects", "maps", "tasks", "comms",
          "switches", "cgroups", "namespaces", "lost", "features", "records", "errors", "symbols"]


def run(*args, **options):
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run([TOOLS / "pquery", *map(str, args)], capture_output=True, timeout=TIMEOUT,
                          **options)


def documents(text):
    """The JSON documents that follow each other in a text."""
    found, decoder = [], json.JSONDecoder()
    text = text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def query(sql, *files, status=(0,), options=()):
    done = run("-f", "json", *options, sql, *files)
    assert done.returncode in status, done.stderr.decode()
    return documents(done.stdout.decode())


def rows(sql, *files, **more):
    """Tuples of the first result."""
    return [tuple(row.values()) for row in query(sql, *files, **more)[0]]


# --- the same facts -------------------------------------------------------------------------------

def test_counts_and_status_are_those_of_stats(data_file, run_pdecode):
    counted = run_pdecode(["-f", "stats", data_file.path])
    done = run("-f", "json", "select event, count(*) n, sum(period) p from samples group by event;"
               "select samples, lost, lost_samples, throttled, errors from files", data_file.path)
    assert done.returncode == counted.returncode, done.stderr.decode()
    if counted.returncode == 3:
        return
    stats = json.loads(counted.stdout)
    by_event, totals = documents(done.stdout.decode())
    samples = {row["event"]: row["n"] for row in by_event}
    for event in stats["by_event"]:
        assert samples.get(event["attr_index"], 0) == event.get("samples", 0)
        if event.get("period", 0) < 2**63 and event.get("samples"):
            found = [row["p"] for row in by_event if row["event"] == event["attr_index"]]
            assert [p or 0 for p in found] == [event.get("period", 0)]
    for name in ("lost", "lost_samples", "throttled", "errors"):
        assert totals[0][name] == stats[name]
    assert totals[0]["samples"] == sum(samples.values())


def as_sql(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return int(value) if isinstance(value, bool) else value


def test_tables_are_those_of_parquet(fixture_file, run_pdecode, tmp_path):
    """Every column, those that `select *` leaves out included."""
    done = run_pdecode(["-f", "parquet", "--int64", "--with", "addr,raw,offset,wall,mem,branch,"
                        "read,regs,stack", "-o",
                        tmp_path / "tables", fixture_file.path])
    if done.returncode == 3:
        pytest.skip("no recording")
    want = {name: read_parquet((tmp_path / "tables" / f"{name}.parquet").read_bytes())[0]
            for name in TABLES}
    sql = ";".join("select {} from {}".format(
        ", ".join('source_file' if column == "file" else f'"{column}"' for column in want[name]),
        name) for name in TABLES)
    found = query(sql, fixture_file.path, status=(0, 1))
    for name, have in zip(TABLES, found):
        columns = [[as_sql(value) for value in column] for column in want[name].values()]
        assert [tuple(row.values()) for row in have] == list(zip(*columns)), name


def test_members_of_structs(tmp_path):
    """A list of structs is JSON, and each of its members is a column, too."""
    path = tmp_path / "all.data"
    path.write_bytes(catalog()["sample-all-weight-struct.le"].data)
    lists, items = query(
        'select branch, "branch.from", "branch.predicted", counts, "counts.event" from samples '
        "limit 1; select json_extract(e.value, '$.to') as target from samples s, "
        "json_each(s.branch) e", path)
    row = lists[0]
    entries = json.loads(row["branch"])
    assert json.loads(row["branch.from"]) == [entry["from"] for entry in entries] == [0x401000]
    assert row["branch.predicted"] == "[true]" and entries[0]["cycles"] == 9
    assert json.loads(row["counts"]) == [{"event": 0, "value": 1 << 60}]
    assert row["counts.event"] == "[0]" and items == [{"target": 0x402000}]


def test_names_of_functions(tmp_path):
    """With --symbols, of each input."""
    program = build_program(tmp_path / "app")
    for name, unit in (("a", 1), ("b", 3)):
        (tmp_path / name).write_bytes(recorded(program, program[1], unit))
    sql = ("select file, function, sum(period) as n from samples join symbols using (file, frame) "
           "where depth = 0 group by file, function order by 1, 2")
    inputs = [tmp_path / "a", tmp_path / "b"]
    found = [(pathlib.Path(file).name, *rest) for file, *rest in
             rows(sql, *inputs, options=["--symbols"])]
    assert found == [("a", "leaf", 5), ("a", "main", 2), ("b", "leaf", 15), ("b", "main", 6)]
    assert rows("select count(*) from symbols", *inputs) == [(0,)]
    done = run("--lines", "select 1", *inputs)
    assert done.returncode == 2 and b"'--lines' needs '--symbols'" in done.stderr


def test_joins_find_the_matching_rows(fixture_file):
    stacks, frames, samples, joined, items = query(
        "select stack, frames from stacks; select frame, object, offset from frames;"
        "select frame, stack from samples;"
        "select samples.frame, object, frames.offset, stacks.stack, depth from samples "
        "left join stacks using (stack) left join frames on frames.frame = samples.frame;"
        "select stack, position, frame from stack_frames", fixture_file.path, status=(0, 1, 3),
    ) or pytest.skip("no recording")
    places = {row["frame"]: (row["object"], row["offset"]) for row in frames}
    assert [(row["object"], row["offset"]) for row in joined] == [
        places.get(row["frame"], (None, None)) for row in samples]
    assert [row["stack"] for row in joined] == [row["stack"] for row in samples]
    assert [tuple(row.values()) for row in items] == [
        (row["stack"], i, frame) for row in stacks
        for i, frame in enumerate(json.loads(row["frames"]))]


def test_recipes():
    """The questions of docs/recipes.md have the same answers."""
    text = (ROOT / "docs" / "recipes.md").read_text()
    blocks = re.findall(r"((?:\|[^\n]*\n)+)\n```pquery\n(.*?)```\n", text, re.S)
    assert len(blocks) == 10
    for answer, sql in blocks:
        result = query(sql, CHAINS)[0]
        lines = ["| " + " | ".join(str(word) for word in row) + " |" for row in (
            result[0].keys(), ["---"] * len(result[0]), *[row.values() for row in result])]
        assert lines == answer.splitlines(), sql


# --- conditions -----------------------------------------------------------------------------------

CONDITIONS = [
    "pid = 7306", "pid = 7306 and cpu = 0", "tid = 7302", "tid in (7302, 7303)", "pid = -1",
    "pid = 7306.0", "pid = 7306.5", "pid = '7306'", "pid = null", "pid is null", "cpu = 0",
    "comm = 'exe'", "comm = 'EXE'", "comm = 'EXE' collate nocase", "comm = 'e*'", "comm = 7",
    "comm = null", "comm > 'exe'", "event_name = 'cpu-clock'", "event_name = 'cpu'",
    "time > 2635030589093", "time >= 2635030589093", "time < 2635030589093",
    "time <= 2635030589093", "time = 2635030589093", "time between 2635030000000 and 2635040000000",
    "time > -5", "time > 1e12", "time < 'x'", "pid = 7178 or tid = 7306", "frame = 0",
    "stack = 0 and pid = 7306", "event = 0 and pid = 7306", "pid = 7306 and pid = 7178",
]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("columns", ["count(*), sum(period), min(time)", "frame, stack, time"])
def test_conditions_do_not_change_answers(columns, condition):
    """A condition that is used early selects what it selects on a copy of the rows."""
    plain = f"select {columns} from samples where {condition}"
    copied = (f"select {columns} from (select * from samples limit -1 offset 0) "
              f"where {condition}")
    assert sorted(rows(plain, CHAINS, BASIC), key=str) == sorted(rows(copied, CHAINS, BASIC),
                                                                 key=str)


@pytest.mark.sanitize
@pytest.mark.parametrize("table, column", [
    ("stacks", "stack"), ("frames", "frame"), ("objects", "object"), ("tasks", "tid"),
    ("maps", "pid"), ("stack_frames", "stack"), ("stack_frames", "frame"), ("comms", "tid"),
    ("frames", "object"), ("maps", "start"), ("switches", "tid")])
def test_lookups_find_all_rows(table, column):
    every = rows(f"select * from {table}", CHAINS)
    names = list(query(f"select * from {table} limit 1", CHAINS)[0][0]) if every else [column]
    at = names.index(column)
    values = {row[at] for row in every} | {-1, 2**31, 2**40}
    for value in sorted(values, key=lambda v: (v is None, v))[:40]:
        if value is not None:
            found = rows(f"select * from {table} where {column} = {value}", CHAINS)
            assert found == [row for row in every if row[at] == value]


@pytest.mark.sanitize
@pytest.mark.parametrize("files", [[CHAINS], [CHAINS, BASIC]], ids=["one", "two"])
@pytest.mark.parametrize("table, one, other", [
    ("maps", "pid", "object"), ("tasks", "pid", "tid"), ("comms", "tid", "cpu"),
    ("frames", "frame", "object"), ("stack_frames", "stack", "stack")])
def test_conditions_joined_by_or_lose_no_row(table, one, other, files):
    """SQLite makes a scan for each; after + it makes one for both."""
    values = [row[0] for row in rows(f"select distinct {one} from {table} where {one} is not null "
                                     f"union select {other} from {table} where {other} is not null",
                                     *files)][:6]
    conditions = [(f"{one} = {a} or {other} = {b}", f"+{one} = {a} or +{other} = {b}")
                  for a in values for b in values]
    found = query(";".join(f"select count(*), count(distinct rowid) from {table} where {condition}"
                           for pair in conditions for condition in pair), *files)
    counts = [list(row.values()) for (row,) in found]
    assert counts[::2] == counts[1::2]
    assert all(count == distinct for count, distinct in counts)


@pytest.mark.sanitize
@pytest.mark.parametrize("join", ["full join", "right join", "left join"])
@pytest.mark.parametrize("files", [[CHAINS], [CHAINS, BASIC]], ids=["one", "two"])
def test_joined_samples_that_match_nothing_are_there(join, files):
    """SQLite finds them by their numbers, which those of filtered scans do not have."""
    found = query(";".join(
        f"select t.comm as c, s.comm as d, s.time, count(*) from tasks t {join} samples s "
        f"on {plus}s.tid = t.tid group by 1, 2, 3 order by 1, 2, 3"
        for plus in ("", "+")), *files)
    assert found[0] == found[1]


def test_filtered_samples_that_a_join_needs_by_number():
    """A wrong answer is none: what is on the left is no table of a recording."""
    sql = "with v(t) as (values (7306)) select count(*) from v full join samples s on {} = v.t"
    done = run(sql.format("s.tid"), CHAINS)
    assert done.returncode != 0 and b"write +COLUMN" in done.stderr
    assert query(sql.format("+s.tid"), CHAINS) == [[{"count(*)": 66}]]


def test_repeated_scans_give_the_same_rows():
    """The third scan is one of a table in memory, which may need other columns by then."""
    sql = ";".join(f"select {column} from samples" for column in
                   ("time", "pid", "time, tid", "comm, time", "stack", "*", "time, pid"))
    first = query("select *, time from samples", CHAINS)[0]
    for result in query(sql, CHAINS):
        for have, want in zip(result, first):
            assert have == {name: want[name] for name in have}
        assert len(result) == len(first)
    pairs = rows("select a.time, count(*) from samples a left join samples b "
                 "on b.tid = a.tid and b.time < a.time group by 1 order by 1", CHAINS)
    times = collections.defaultdict(list)
    for row in first:
        times[row["tid"]].append(row["time"])
    assert dict(pairs) == {row["time"]: max(1, sum(t < row["time"] for t in times[row["tid"]]))
                           for row in first}


# --- several files --------------------------------------------------------------------------------

def test_several_files():
    counts = dict(rows("select file, count(*) from samples group by file", CHAINS, BASIC))
    assert counts == {str(path): rows("select count(*) from samples", path)[0][0]
                      for path in (CHAINS, BASIC)}
    assert list(query("select * from samples limit 1", CHAINS, BASIC)[0][0])[0] == "file"
    assert "file" not in query("select * from samples limit 1", CHAINS)[0][0]
    assert rows("select distinct file from samples", CHAINS) == [(str(CHAINS),)]
    only = f"select count(*) from samples where file = '{BASIC}'"
    assert rows(only, CHAINS, BASIC) == rows("select count(*) from samples", BASIC)


@pytest.mark.sanitize
def test_rows_of_two_files_never_match():
    other = PERF / "46-user-callchains.data"
    joined = ("select path, count(*) from samples join frames using (frame) "
              "left join objects using (object) group by path")
    stacks = "select count(*), sum(position) from samples join stack_frames using (stack)"
    lists = ("select count(*), sum(frames.offset) from stacks, json_each(stacks.frames) "
             "join frames on frame = json_each.value")
    for sql in (joined, stacks, lists):
        both = collections.Counter()
        for path in (CHAINS, other):
            both.update(dict(rows(sql, path)) if sql == joined else
                        {i: value or 0 for i, value in enumerate(rows(sql, path)[0])})
        found = rows(sql, CHAINS, other)
        assert (dict(found) if sql == joined else dict(enumerate(found[0]))) == both
    assert rows("select count(*) from samples a, frames b where a.frame = b.frame "
                "and a.file <> b.file", CHAINS, other) == [(0,)]


# --- output ---------------------------------------------------------------------------------------

ODD = "select 1 a, 'x,\"y' b, null c, '' d, 1.5 e, x'00ff' f, 9223372036854775807 g, 'l\nm' h"


def test_formats():
    assert query(ODD, CHAINS) == [[{"a": 1, "b": 'x,"y', "c": None, "d": "", "e": 1.5, "f": "00ff",
                                    "g": 2**63 - 1, "h": "l\nm"}]]
    done = run("-f", "csv", ODD, CHAINS)
    assert list(csv.reader(io.StringIO(done.stdout.decode()))) == [
        list("abcdefgh"), ["1", 'x,"y', "", "", "1.5", "00ff", "9223372036854775807", "l\nm"]]
    assert ',"",1.5,' in done.stdout.decode() and ',,"",' in done.stdout.decode()
    done = run("select 7 as number, 'text' as b union all select 12345678, char(27) || '[2J'",
               CHAINS)
    assert done.stdout.decode() == ("  number  b\n--------  ----\n       7  text\n"
                                        "12345678  ?[2J\n")


def test_no_format_writes_what_a_terminal_obeys():
    sql = "select char(27) || '[2J' a, char(155, 8238) b, cast(x'61ff' as text) c, char(13) d"
    done = run("-f", "csv", sql, CHAINS)
    assert done.stdout.decode() == "a,b,c,d\n\\x1b[2J,\\x9b\\u202e,a\\xff,\\x0d\n"
    done = run("-f", "json", sql, CHAINS)
    assert done.stdout.decode().isascii()
    assert json.loads(done.stdout) == [
        {"a": "\x1b[2J", "b": "\x9b\u202e", "c": "a\ufffd", "d": "\r"}]


def test_empty_results_and_several_statements():
    assert run("-f", "json", "select 1 as x where 0", CHAINS).stdout == b"[]\n"
    assert run("-f", "csv", "select 1 as x where 0", CHAINS).stdout == b"x\n"
    assert run("select 1 as x where 0;", CHAINS).stdout == b"x\n-\n"
    assert query("select 1 a; -- comment\n select 2 b;;", CHAINS) == [[{"a": 1}], [{"b": 2}]]


def test_keys_are_different():
    found = run("-f", "json", "select 1 x, 2 x, 3 'x:1', 4 x", CHAINS).stdout
    assert found == b'[\n{"x": 1, "x:1": 2, "x:1:1": 3, "x:2": 4}\n]\n'


def test_names_in_double_quotes_are_columns():
    assert rows('select sum("period") > 0 from "samples"', CHAINS) == [(1,)]
    done = run('select sum("perid") from samples', CHAINS)
    assert done.returncode == 2 and b"no such column: " in done.stderr


def test_sql_that_begins_with_a_comment():
    assert rows("/* hi */ select 1", CHAINS) == [(1,)]


def test_long_tables_are_whole():
    sql = ("with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) "
           "select i, hex(randomblob(200)) from n")
    lines = run(sql, CHAINS).stdout.decode().splitlines()
    assert [int(line.split()[0]) for line in lines[2:]] == list(range(1, 5001))


def test_output_to_a_file(tmp_path):
    out = tmp_path / "out"
    assert run("-o", out, "select 1 as x", CHAINS).returncode == 0
    assert out.read_text() == "x\n-\n1\n"
    assert run("-o", out, "select missing from samples", CHAINS).returncode == 2
    assert out.read_text() == "x\n-\n1\n"
    assert run("-o", tmp_path / "new", "select missing from samples", CHAINS).returncode == 2
    assert not (tmp_path / "new").exists()


def test_a_full_disk_is_an_error():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOLS / "pquery", "select * from samples", CHAINS], stdout=full,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=TIMEOUT)
    assert done.returncode == 4 and b"No space left" in done.stderr


# --- errors ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("sql, message", [
    ("select * from missing", "no such table: missing; .tables lists them"),
    ("select missing from samples", "no such column: missing; .schema lists them"),
    ("selekt 1 from samples", 'near "selekt": syntax error'),
    ("select 1; select missing from samples", "no such column"),
    ("select count(*) from samples where", "incomplete input: the SQL ends too early"),
    ("select load_extension('x')", "not authorized|can only be read|no such function"),
    ("select abs(-9223372036854775808)", "integer overflow"),
    *[(sql, "the tables can only be read") for sql in (
        "attach 'x' as y", "create table x (y)", "create temp table x as select 1",
        "create view x as select 1", "pragma temp_store = file",
        "insert into samples values (1)", "delete from samples", "drop table samples",
        "begin transaction", "vacuum into 'x'")],
])
def test_wrong_sql(sql, message, tmp_path):
    done = run(sql, CHAINS, cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(message, done.stderr.decode()) or "may not be" in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("args, status, message", [
    ([CHAINS, "select count(*) from samples"], 2, "the SQL comes before the FILE"),
    (["SELECT", "comm", "from", "samples", CHAINS], 2, "must be one argument, in quotes"),
    ([CHAINS, "with two.data"], 2, "comes before"), (["select.data"], 3, "select.data: No such"),
    ([CHAINS, "two words.data"], 3, "two words.data: No such file"),
    (["", CHAINS], 2, "an operand is empty"), ([CHAINS, ""], 2, "an operand is empty"),
    ([".quit", CHAINS], 2, "no command '.quit' and no such file"),
    ([".table"], 2, "'pquery .help' lists the commands"), ([".x.data"], 3, ".x.data: No such"),
    ([".tables", "nothing"], 3, "nothing: No such")])
def test_sql_that_is_taken_for_a_file(args, status, message, tmp_path):
    done = run(*args, cwd=tmp_path)
    assert done.returncode == status and message in done.stderr.decode()


def test_a_file_may_have_the_name_of_a_word(tmp_path):
    (tmp_path / "select").write_bytes(CHAINS.read_bytes())
    done = run("select", input=b"select count(*) as n from samples", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()[-1]) == (0, b"66")


def test_damage_is_status_1(tmp_path):
    cut = tmp_path / "cut.data"
    cut.write_bytes(CHAINS.read_bytes()[:7000])
    for sql in ("select count(*) from samples", "select 1", "select count(*) from objects"):
        done = run("-f", "json", sql, cut)
        assert done.returncode == 1 and b"cut.data: " in done.stderr
    both = run("-f", "json", "select status from files", CHAINS, cut)
    assert both.returncode == 1
    assert documents(both.stdout.decode()) == [[{"status": "ok"}, {"status": "damaged"}]]


def test_tables_that_need_no_second_pass(tmp_path, run_pdecode):
    """Have the same rows as pdecode's, which reads all records for them; damage is still told."""
    cut = tmp_path / "cut.data"
    cut.write_bytes(CHAINS.read_bytes()[:7000])
    for table, column in (("objects", "path"), ("maps", "len"), ("tasks", "tid")):
        done = run_pdecode(["-f", "arrow", "--table", table, cut])
        want = read_arrow(done.stdout)[0][column]
        have = rows(f"select {column} from {table}", cut, status=(1,))
        assert [str(value) for value, in have] == [str(value) for value in want] != []


def test_maps_are_learned_when_a_statement_needs_them(fixture_file, tmp_path):
    cut = tmp_path / "cut.data"
    whole = fixture_file.path if fixture_file.path.is_file() else CHAINS
    cut.write_bytes(whole.read_bytes()[:whole.stat().st_size * 3 // 4])
    statements = ["select comm, pid, count(*) n from samples group by 1, 2 order by n, 1, 2",
                  "select path, count(*) n from samples join frames using (frame) "
                  "join objects using (object) group by 1 order by n, 1",
                  "select count(*), sum(period) from samples"]
    for path in (whole, cut):
        alone = [run("-f", "json", statement, path) for statement in statements]
        together = run("-f", "json", "; ".join(statements), path)
        assert together.stdout == b"".join(one.stdout for one in alone)
        assert together.stderr == alone[0].stderr
        assert {one.returncode for one in alone} == {together.returncode}


def test_wrong_inputs(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"no recording" * 100)
    for args, status, message in [
            (["select 1", wrong], 3, "wrong: "), (["select 1", CHAINS, wrong], 3, "wrong: "),
            (["select 1", tmp_path / "none"], 3, "No such file"),
            ([tmp_path / "a file"], 3, "No such file"),
            (["select 1", PERF / "20-threads.data", CHAINS], 2, "must be the only input"),
            (["-"], 2, "standard input has the SQL"), ([], 2, "standard input has the SQL")]:
        done = run(*args)
        assert done.returncode == status and message in done.stderr.decode(), args
        assert not done.stdout


def test_memory_limit():
    sql = ("with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000) "
           "select i, hex(randomblob(100)) h from n order by h")
    done = run("--memory", "20M", sql, CHAINS)
    assert done.returncode == 4 and not done.stdout
    assert done.stderr == (b"pquery: the query: needs more memory than --memory allows, which is "
                           b"20 MiB: try '--memory 40M'\n")


def test_streams_and_directories():
    sql = "select count(*), sum(period) from samples"
    with open(CHAINS, "rb") as file:
        assert run(sql, stdin=file).stdout == run(sql, CHAINS).stdout
    assert run(sql, input=CHAINS.read_bytes()).stdout == run(sql, CHAINS).stdout
    assert run(sql, "-", BASIC, input=CHAINS.read_bytes()).returncode == 0
    threads = PERF / "20-threads.data"
    assert run(sql + "; select count(*) from stacks", threads).returncode == 0


@pytest.mark.sanitize
@pytest.mark.parametrize("seed", range(40))
def test_hostile_files(seed, tmp_path, run_pdecode):
    """Damaged copies have as many samples as JSON Lines have, and never status 0 for a part."""
    chosen = random.Random(seed)
    data = bytearray(chosen.choice([CHAINS, BASIC, PERF / "59-lost.data", PERF / "16-zstd.data",
                                    PERF / "12-tracepoints.data"]).read_bytes())
    for _ in range(chosen.choice([1, 4, 30])):
        data[chosen.randrange(len(data))] = chosen.randrange(256)
    if chosen.random() < 0.4:
        del data[chosen.randrange(len(data)):]
    path = tmp_path / "hostile.data"
    path.write_bytes(data)
    lines = run_pdecode(["-f", "jsonl", path])
    done = run("-f", "json", "select count(*) n from samples; select count(*) from stacks s join "
               "stack_frames f on s.stack = f.stack join frames using (frame); "
               "select * from samples, files; select * from maps, tasks limit 99", path)
    stats = run_pdecode(["-f", "stats", path])
    assert done.returncode == stats.returncode, (done.stderr, stats.stderr)
    if done.returncode != 3:
        assert documents(done.stdout.decode())[0][0]["n"] == lines.stdout.count(b'"type":"SAMPLE"')


# --- damage of what only some queries read -------------------------------------------------------

@pytest.mark.parametrize("sql, is_reported", [
    ("select fields from samples limit 1", True), ("select * from errors", True),
    ("select status from files", True), ("select count(*) from samples", False),
    ("select fields, count(*) from samples group by fields", True),
    ("select status from files; select fields from samples; select * from errors", True),
])
def test_damage_of_a_payload_is_reported_once_by_who_reads_it(sql, is_reported, tmp_path):
    done = run(sql, short_payload(tmp_path / "short.data"))
    assert done.returncode == is_reported and done.stdout
    assert done.stderr.count(b"raw.tracepoint") == is_reported


def test_damage_of_a_payload_is_in_the_tables(tmp_path, run_pdecode):
    path = short_payload(tmp_path / "short.data")
    assert rows("select status, errors from files", path, status=(1,)) == [("damaged", 1)]
    found = rows("select code, record, field from errors", path, status=(1,))
    assert found == [("TRUNCATED", "SAMPLE", "raw.tracepoint")]
    for table in ("files", "errors", "samples"):
        for options, status in (([], 0), (["--with", "tracepoints"], 1)):
            done = run_pdecode(["-f", "arrow", "--table", table, *options, path])
            assert done.returncode == status, table
            if table == "files":
                assert read_arrow(done.stdout)[0]["status"] == [["ok", "damaged"][status]]


def test_columns_whose_numbers_do_not_fit_are_named(tmp_path, run_pdecode):
    attr = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME", flags=("sample_id_all",))
    path = tmp_path / "large.data"
    path.write_bytes(File(attrs=[(attr, [1])], records=[
        sample(attr, 2, ip=1, pid=7, tid=7, time=2**63 + i) for i in range(3)]).build("<"))
    want = [("files", "first_time", 1), ("files", "last_time", 1), ("samples", "time", 3)]
    sql = "select record, field, have from errors where code = 'OUT_OF_RANGE'"
    assert rows(sql, path) == want
    table = read_arrow(run_pdecode(["-f", "arrow", "--table", "errors", path]).stdout)[0]
    assert list(zip(*(table[name] for name in ("record", "field", "have")))) == want
    assert run_pdecode(["-f", "parquet", "-o", tmp_path / "t", path]).returncode == 0
    assert read_parquet((tmp_path / "t" / "errors.parquet").read_bytes())[0] == table


def test_fields_of_errors_that_have_no_name_are_null(tmp_path):
    """The last string of CMDLINE is longer than the section, which has no name."""
    data = bytearray(CHAINS.read_bytes())
    entry = data.index((888).to_bytes(8, "little")) - 8    # of the section
    at, size = (int.from_bytes(data[i:i + 8], "little") for i in (entry, entry + 8))
    string, end = at + 4, at + size
    while string + 4 + int.from_bytes(data[string:string + 4], "little") < end:
        string += 4 + int.from_bytes(data[string:string + 4], "little")
    data[string:string + 4] = (end - string).to_bytes(4, "little")
    path = tmp_path / "cut.data"
    path.write_bytes(data)
    assert rows("select record, field from errors", path, status=(1,)) == [("CMDLINE", None)]


# --- the prompt -----------------------------------------------------------------------------------

def test_prompt():
    text = ".tables\nselect count(*)\nfrom samples;\nselect 1 as last"
    done = run("-f", "csv", CHAINS, input=text.encode())
    assert done.returncode == 0 and done.stdout.endswith(b"count(*)\n66\n\nlast\n1\n")
    assert done.stdout.count(b"\n") == len(TABLES) + 1 + 2 + 1 + 2


def test_the_prompt_stops_at_the_first_error_of_a_script():
    done = run(CHAINS, input=b"select missing;\nselect 1;\n")
    assert done.returncode == 2 and not done.stdout
    done = run(CHAINS, input=b".nothing\nselect 1;\n")
    assert done.returncode == 2 and b"no command '.nothing': see .help" in done.stderr
    for end in (b".quit", b".exit", b" .quit ;", b"quit", b"exit;"):
        done = run(CHAINS, input=b"select 1;\n" + end + b"\nselect missing;\n")
        assert done.returncode == 0 and b"missing" not in done.stderr, end
    done = run(CHAINS, input=b".quits\n")
    assert done.returncode == 2 and b"no command '.quits': see .help" in done.stderr
    assert run(CHAINS, input=b"select\nexit\n").returncode == 2


def test_help_is_found():
    want = run(".help").stdout
    for line in (b".help", b"help", b"  .help", b"help;"):
        assert run(CHAINS, input=line + b"\n").stdout == want, line


def test_examples_run(fixture_file):
    sql = run(".examples").stdout
    assert sql.count(b";") >= 7
    done = run(fixture_file.path, input=sql)
    assert done.returncode in (0, 1, 3), done.stderr.decode()


def test_schema_lists_the_columns():
    listed = run(".schema").stdout.decode()
    for name, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", listed, re.S):
        columns = re.findall(r'^ +"(\w+)" ([A-Z]+)', body, re.M)
        names = ", ".join(f'"{column}"' for column, _ in columns)
        assert run(f"select {names} from {name} limit 1", CHAINS).returncode == 0
    assert len(re.findall("^CREATE", listed, re.M)) == len(TABLES) + 1
    assert run(".schema", "nothing.data").returncode == 3
    for args in ([".schema nothing"], [".schema", "nothing"]):
        done = run(*args)
        assert done.returncode == 2 and b"no table 'nothing': see .tables" in done.stderr
    assert run(".schema samples").stdout.decode() in listed
    for name in ("samples", "stack_frames"):    # as in the examples of --help
        assert run(".schema", name).stdout == run(f".schema {name}").stdout != b""
    assert len({line.index("--") for line in listed.splitlines()
                if re.match(r'    "file(_id)?"', line)}) == 1


def test_a_prompt_at_a_terminal(tmp_path):
    import pty
    here, there = pty.openpty()
    process = subprocess.Popen([TOOLS / "pquery", CHAINS], stdin=there, stdout=there,
                               stderr=there, close_fds=True)
    os.close(there)
    os.write(here, b"select missing;\nselect count(*) as n from samples;\n.quit\n")
    seen = b""
    while process.poll() is None or b"66" not in seen:
        try:
            seen += os.read(here, 4096)
        except OSError:
            break
    assert process.wait(TIMEOUT) == 0
    text = seen.decode().replace("\r", "")
    assert "SQL ends with a semicolon; .help lists the commands\npquery> " in text
    assert "no such column: missing" in text and "\n66\n" in text


def test_empty_lines_and_comments_begin_no_statement(tmp_path):
    for before in (b"\n", b"  \n;\n", b"-- a comment; \n", b"/* one\nmore */ -- and\n"):
        done = run(CHAINS, input=before + b"quit\nselect missing;\n")
        assert done.returncode == 0 and not done.stderr, before
        done = run("-f", "csv", CHAINS, input=before + b".tables\nselect 1;\n")
        assert done.returncode == 0 and done.stdout.endswith(b"\n1\n1\n"), before
    for begun in (b"/* one\nquit\n*/ select 2;\n", b"select -- quit\n2;\n"):
        done = run("-f", "csv", CHAINS, input=begun)
        assert done.returncode == 0 and done.stdout == b"2\n2\n", begun


def test_ctrl_c_at_a_prompt():
    """It ends the statement that runs, or drops one that was begun; the prompt goes on."""
    import pty
    here, there = pty.openpty()
    process = subprocess.Popen([TOOLS / "pquery", CHAINS], stdin=there, stdout=there,
                               stderr=there, close_fds=True)
    os.close(there)
    seen = b""

    def wait_for(text, interrupt=False):
        nonlocal seen
        while text not in seen:
            if interrupt:
                process.send_signal(signal.SIGINT)
            if select.select([here], [], [], 0.02)[0]:
                seen += os.read(here, 4096)
        seen = seen[seen.index(text) + len(text):]

    wait_for(b"pquery> ")
    os.write(here, b"with recursive n(i) as (select 1 union all select i + 1 from n)\n"
                   b"select count(*) from n;\n")
    wait_for(b"pquery: interrupted", interrupt=True)
    os.write(here, b"select 'begun'\n")
    wait_for(b"begun")
    wait_for(b"...> ")
    wait_for(b"pquery> ", interrupt=True)
    os.write(here, b"select count(*) as n from samples;\n")
    wait_for(b"\n66\r\n")
    os.write(here, b".quit\n")
    assert process.wait(TIMEOUT) == 0


def test_the_sandbox_changes_nothing():
    sql = ("select comm, count(*) from samples group by 1 order by random(); "
           "select datetime('now', 'localtime') > '2020', * from stacks join stack_frames "
           "using (stack)")
    inside = run("--sandbox=always", sql.replace(" order by random()", ""), CHAINS)
    if b"not available" in inside.stderr:
        pytest.skip("no sandbox here")
    outside = run("--sandbox=never", sql.replace(" order by random()", ""), CHAINS)
    assert inside.returncode == outside.returncode == 0 and inside.stdout == outside.stdout
    assert run("--sandbox=always", sql, CHAINS).returncode == 0
