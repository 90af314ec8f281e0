"""Tables of columns: the same facts as in the JSON, in Parquet files and Arrow streams that readers
written from the specifications accept."""
import collections
import datetime
import json
import sqlite3

import pytest

from arrow_reader import read_arrow
from conftest import FIXTURES, fixture_files
from parquet_reader import read_parquet
from perfdata import features, records
from perfdata.attr import Attr
from perfdata.container import File
from periods import fixed_period

TABLES = {"files", "events", "samples", "stacks", "frames", "objects", "maps", "tasks", "comms",
          "switches", "cgroups", "namespaces", "lost", "features", "records", "errors", "symbols"}
CHAINS = FIXTURES / "perf" / "02-callgraph-fp.data"


def write(run_pdecode, place, path, *args):
    done = run_pdecode(["-f", "parquet", "-o", place, *args, path])
    assert done.returncode in (0, 1), done.stderr
    return {file.stem: file.read_bytes() for file in place.iterdir()}


@pytest.fixture(scope="module")
def tables(run_pdecode, tmp_path_factory):
    """Function: the tables of a recording."""
    kept = {}

    def read(path):
        if path not in kept:
            if run_pdecode(["--header-only", path]).returncode == 3:
                pytest.skip("no recording")
            files = write(run_pdecode, tmp_path_factory.mktemp("tables"), path)
            assert set(files) == TABLES
            kept.clear()
            kept[path] = {name: read_parquet(data)[0] for name, data in files.items()}
        return kept[path]
    return read


def rows(table):
    return [dict(zip(table, row)) for row in zip(*table.values())]


def of_type(lines, *types):
    return [line for line in lines if line["kind"] == "record" and line["type"] in types]


def period_of(sample, attrs):
    attr = attrs[sample["attr_index"]]["attr"] if "attr_index" in sample else {}
    return sample.get("period", fixed_period(attr) or None)


def by_cpu(samples):
    """In the order that the rows of many have."""
    return sorted(samples, key=lambda one: (one.get("cpu") or 0, one.get("time") or 0))


def as_entry(entry):
    return int(entry, 16) if entry.startswith("0x") else entry


# --- the same facts as in the JSON ----------------------------------------------------------------

def test_samples_are_those_of_the_json(data_file, tables, decode_lines):
    have = by_cpu(rows(tables(data_file.path)["samples"]))
    lines = decode_lines(data_file.path, "--resolve")
    samples = by_cpu(of_type(lines, "SAMPLE"))
    attrs = [line for line in lines if line["kind"] == "attr"]
    cgroups = {line["id"]: line["path"] for line in of_type(lines, "CGROUP")
               if "id" in line and "path" in line}
    assert len(have) == len(samples)
    for row, sample in zip(have, samples):
        want = {"time": sample.get("time"), "pid": sample.get("pid"), "tid": sample.get("tid"),
                "cpu": sample.get("cpu"), "period": period_of(sample, attrs),
                "event": sample.get("attr_index"), "comm": sample.get("comm"),
                "cpumode": sample.get("cpumode"), "cgroup": cgroups.get(sample.get("cgroup")),
                "weight": sample.get("weight", sample.get("weight_struct", {}).get("var1_dw"))}
        if "error" not in sample and "trailing" not in sample:
            assert {name: row[name] for name in want} == want


def test_totals_are_those_of_stats(data_file, tables, decode):
    found = tables(data_file.path)
    stats = decode(data_file.path, "-f", "stats")
    samples, file = rows(found["samples"]), rows(found["files"])[0]
    counted = collections.Counter(row["event"] for row in samples)
    periods = collections.Counter()
    for row in samples:
        periods[row["event"]] += row["period"] or 0
    for event in stats["by_event"]:
        assert counted[event["attr_index"]] == event.get("samples", 0)
        if event.get("period", 0) < 2**63:
            assert periods[event["attr_index"]] == event.get("period", 0)
    assert file["samples"] == len(samples)
    for name in ("lost", "lost_samples", "throttled", "errors"):
        assert file[name] == stats[name], name


def chain_of(found, row):
    """The entries of a row's stack: addresses of what has no object, else their places."""
    entries = []
    for number in found["stacks"]["frames"][row["stack"]]:
        kind, name = found["frames"]["kind"][number], found["frames"]["name"][number]
        offset, image = found["frames"]["offset"][number], found["frames"]["object"][number]
        entries.append(name if kind == "marker" and name else
                       (image, offset) if image is not None else offset % 2**64)
    return entries


def ancestors(tasks, pid):
    """The process, those that it descends from, and the kernel."""
    found = {pid, -1}
    while parents := {task["ppid"] for task in tasks if task["pid"] in found} - found - {None}:
        found |= parents
    return found


def holds(m, pid, time):
    """Whether a map can be that of a sample: a parent may replace what its child keeps."""
    return time is None or ((m["time"] or 0) <= time and
                            (m["pid"] != pid or m["until"] is None or m["until"] > time))


def addresses_at(maps, place, pids, row):
    """The addresses that the maps of these processes give to a place at the time of a sample."""
    image, offset = place
    return {(m["start"] + offset - m["pgoff"]) % 2**64 for m in maps.get(image, ())
            if m["pid"] in pids and holds(m, row["pid"], row["time"])
            and (m["len"] is None or 0 <= (offset - m["pgoff"]) % 2**64 < m["len"])}


def test_chains_are_those_of_the_json(data_file, tables, decode_lines):
    """Rebuilt from stacks, frames, and maps of the process or of those it descends from."""
    found, maps = tables(data_file.path), collections.defaultdict(list)
    tasks, pids = rows(found["tasks"]), {}
    samples = of_type(decode_lines(data_file.path, "--resolve"), "SAMPLE")
    for m in rows(found["maps"]):
        if m["object"] is not None and m["pgoff"] is not None:
            maps[m["object"]].append(m)
    for row, sample in zip(rows(found["samples"]), samples):
        if "error" in sample or row["stack"] is None:
            assert row["stack"] is not None or "callchain" not in sample or "error" in sample
            continue
        want = [as_entry(entry) for entry in sample["callchain"]]
        have = chain_of(found, row)
        if "USER_DEFERRED" in want:
            continue
        assert len(have) == len(want)
        pids.setdefault(row["pid"], ancestors(tasks, row["pid"]))
        for a, b in zip(have, want):
            if isinstance(a, tuple):
                assert b in addresses_at(maps, a, pids[row["pid"]], row)
            else:
                assert a == b


def test_tables_other_than_samples(fixture_file, tables, decode_lines):
    lines, found = decode_lines(fixture_file.path), tables(fixture_file.path)
    assert found["comms"]["comm"] == [line["comm"] for line in of_type(lines, "COMM")]
    assert found["switches"]["time"] == [
        line.get("sample_id", {}).get("time") for line in of_type(lines, "SWITCH",
                                                                 "SWITCH_CPU_WIDE")]
    assert len(found["maps"]["pid"]) == len(of_type(lines, "MMAP", "MMAP2", "KSYMBOL"))
    assert found["events"]["name"] == [line["name"] for line in lines if line["kind"] == "attr"]
    assert [json.loads(text) for text in found["events"]["json"]] == [
        line for line in lines if line["kind"] == "attr"]
    features = {name: json.loads(text)
                for name, text in zip(found["features"]["name"], found["features"]["json"])}
    assert features == {name: value for line in lines if line["kind"] == "feature"
                        for name, value in line["feature"].items()}
    assert len(found["namespaces"]["name"]) == sum(
        len(line["namespaces"]) for line in of_type(lines, "NAMESPACES"))


@pytest.mark.parametrize("name", ["25-clockid-mono", "26-clockid-realtime", "27-clockid-raw",
                                  "28-clockid-boottime", "29-clockid-tai", "01-basic"])
def test_clock(name, tables, decode_lines):
    path = FIXTURES / "perf" / f"{name}.data"
    file = rows(tables(path)["files"])[0]
    attr = next(line for line in decode_lines(path) if line["kind"] == "attr")
    assert file["clock"] == attr["attr"].get("clockid")
    walls = {datetime.datetime.fromisoformat(line["time_utc"][:26]): line["time"]
             for line in of_type(decode_lines(path, "--utc"), "SAMPLE") if "time_utc" in line}
    assert bool(walls) == (file["wall_offset_ns"] is not None) == (name != "01-basic")
    for wall, time in walls.items():
        ns = (time + file["wall_offset_ns"]) // 1000 * 1000
        assert wall == datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=ns // 1000)


def test_leaders_of_groups(tables):
    leaders = {name: tables(FIXTURES / "perf" / f"{name}.data")["events"]["group_leader"]
               for name in ("10-group-leader-sampling", "11-group-no-S", "43-multi-event")}
    assert leaders == {"10-group-leader-sampling": [0, 0, 0], "11-group-no-S": [0, 0],
                       "43-multi-event": [None] * len(leaders["43-multi-event"])}


@pytest.mark.parametrize("groups, leaders", [
    ([(1, 2), (3, 1)], [None, 1, 1, 3, None]), ([(2, 2**32 - 1)], [None, None, 2, 2, 2]),
    ([(1, 2), (2, 2)], [None, 1, 1, None, None]), ([(9, 1)], [None] * 5), ([], [None] * 5),
])
def test_groups_that_are_stated(groups, leaders, run_pdecode, tmp_path):
    """Also by wrong features: beyond the events, or with an event in two groups."""
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(Attr(), [i]) for i in range(5)], features={
        features.NUMBER["GROUP_DESC"]: features.group_desc([("g", *g) for g in groups])}).build(
            "<"))
    done = run_pdecode(["-f", "arrow", "--table", "events", path])
    assert read_arrow(done.stdout)[0]["group_leader"] == leaders


def test_aux_data_that_is_cut(run_pdecode, tmp_path):
    """It is lost, and has its record."""
    attr = Attr()
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(attr, [1])], records=[
        records.aux(0, 8, flags) for flags in (0, 1, 2, 3)]).build("<"))
    lost = read_arrow(run_pdecode(["-f", "arrow", "--table", "lost", path]).stdout)[0]
    assert lost["kind"] == ["AUX", "AUX"] and lost["count"] == [None, None]
    found = read_arrow(run_pdecode(["-f", "arrow", "--table", "records", path]).stdout)[0]
    assert found["type"] == ["AUX"] * 4


def test_every_record_has_its_place(fixture_file, tables, decode_lines):
    found = tables(fixture_file.path)
    own = ("SAMPLE", "COMM", "SWITCH", "SWITCH_CPU_WIDE", "CGROUP", "NAMESPACES", "LOST",
           "LOST_SAMPLES", "THROTTLE", "UNTHROTTLE", "MMAP", "MMAP2", "KSYMBOL", "FORK", "EXIT")
    rest = [line for line in decode_lines(fixture_file.path, "--blobs", "omit")
            if line["kind"] == "record" and line["type"] not in own]
    assert [json.loads(text) for text in found["records"]["json"]] == rest


# --- formats --------------------------------------------------------------------------------------

@pytest.mark.parametrize("table", sorted(TABLES))
def test_arrow_has_the_same_rows(table, run_pdecode, tables):
    done = run_pdecode(["-f", "arrow", "--table", table, CHAINS])
    assert done.returncode == 0
    found, metadata = read_arrow(done.stdout)
    assert found == tables(CHAINS)[table]
    assert metadata == {"perfdata.schema": "1", "perfdata.int64": "false",
                        "perfdata.version": "0.1.0"}


def test_every_run_and_any_jobs_give_the_same_bytes(run_pdecode, tmp_path):
    first = write(run_pdecode, tmp_path / "a", CHAINS)
    assert write(run_pdecode, tmp_path / "b", CHAINS, "-j", "1") == first
    assert write(run_pdecode, tmp_path / "a", CHAINS, "-j", "4") == first


def test_a_pipe_is_the_same_as_the_file(run_pdecode, tmp_path):
    done = run_pdecode(["-f", "parquet", "-o", tmp_path / "a", "-"], CHAINS.read_bytes())
    assert done.returncode == 0, done.stderr
    want = write(run_pdecode, tmp_path / "b", CHAINS)
    for name in TABLES - {"files"}:
        assert (tmp_path / "a" / f"{name}.parquet").read_bytes() == want[name]


def test_groups_of_columns(run_pdecode, decode_lines):
    done = run_pdecode(["-f", "arrow", "--with", "raw,offset", "--with", "addr", CHAINS])
    found = rows(read_arrow(done.stdout)[0])
    samples = of_type(decode_lines(CHAINS), "SAMPLE")
    assert [row["ip"] for row in found] == [int(s["ip"], 16) for s in samples]
    assert [row["offset"] for row in found] == [s["offset"] for s in samples]
    assert [len(row["callchain"]) for row in found] == [len(s["callchain"]) for s in samples]
    assert {row["addr"] for row in found} == {None} and "wall_ns" not in found[0]


def test_int64(run_pdecode, tmp_path):
    data = write(run_pdecode, tmp_path / "a", CHAINS, "--int64")["maps"]
    signed, metadata = read_parquet(data)
    plain, _ = read_parquet(write(run_pdecode, tmp_path / "b", CHAINS)["maps"])
    assert metadata["perfdata.int64"] == "true" and min(signed["start"]) < 0
    assert [start % 2**64 for start in signed["start"]] == plain["start"]


def test_file_id(run_pdecode):
    done = run_pdecode(["-f", "arrow", "--table", "tasks", "--file-id", "abc", CHAINS])
    assert set(read_arrow(done.stdout)[0]["file_id"]) == {"abc"}


def test_filters(run_pdecode, tables):
    times = sorted(tables(CHAINS)["samples"]["time"])[10:20]
    done = run_pdecode(["-f", "arrow", "--time", f"{times[0]},{times[-1]}", CHAINS])
    assert sorted(read_arrow(done.stdout)[0]["time"]) == times


def test_damage_is_rows(run_pdecode, tmp_path):
    cut = tmp_path / "cut.data"
    cut.write_bytes(CHAINS.read_bytes()[:7000])
    done = run_pdecode(["-f", "parquet", "-o", tmp_path / "a", cut])
    assert done.returncode == 1
    read = {name: rows(read_parquet((tmp_path / "a" / f"{name}.parquet").read_bytes())[0])
            for name in ("files", "errors", "samples")}
    assert read["files"][0]["status"] == "damaged" and read["files"][0]["complete"] is False
    assert {row["code"] for row in read["errors"]} >= {"TRUNCATED"} and read["samples"]


@pytest.mark.parametrize("memory, words", [("1K", "1 KiB"), ("1000", "1000 bytes")])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_too_little_memory_is_named(form, memory, words, run_pdecode, tmp_path):
    done = run_pdecode(["-f", form, "--memory", memory, "-o", tmp_path / "out", CHAINS])
    assert done.returncode == 4 and done.stderr.decode().endswith(
        f": needs more memory than --memory allows, which is {words}: try '--memory 16M'\n")


def test_no_recording_leaves_nothing(run_pdecode, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"no recording" * 100)
    assert run_pdecode(["-f", "parquet", "-o", tmp_path / "a", wrong]).returncode == 3
    assert not (tmp_path / "a").exists()


def test_definitions_hold_the_columns(run_pdecode, tables):
    found = tables(CHAINS)
    done = run_pdecode(["--ddl=sqlite"])
    assert done.returncode == 0
    db = sqlite3.connect(":memory:")
    db.executescript(done.stdout.decode())
    for name in TABLES:
        columns = [row[1] for row in db.execute(f"pragma table_info({name})")]
        assert columns == list(found[name])
    for engine in ("duckdb", "clickhouse", "spark"):
        assert run_pdecode([f"--ddl={engine}"]).stdout.count(b"CREATE TABLE") == len(TABLES)


@pytest.mark.parametrize("engine, words", [
    ("duckdb", '"branch" STRUCT("from" UBIGINT, "to" UBIGINT, "mispred" BOOLEAN, '),
    ("clickhouse", "`branch` Array(Tuple(`from` UInt64, `to` UInt64, `mispred` Bool, "),
    ("spark", "`branch` ARRAY<STRUCT<`from`: BIGINT, `to`: BIGINT, `mispred`: BOOLEAN, "),
    ("sqlite", '"branch" TEXT'),
])
def test_definitions_of_structs(engine, words, run_pdecode):
    done = run_pdecode([f"--ddl={engine}", "--with", "branch"])
    assert words in done.stdout.decode() and b'"from"' not in run_pdecode(["--ddl=duckdb"]).stdout


@pytest.mark.parametrize("args, words", [
    (["-f", "parquet"], "add '-o DIR'"), (["-f", "arrow", "--table", "x"], "no table 'x'"),
    (["--table", "samples"], "add '-f arrow'"), (["-f", "arrow", "--with", "x"], "no group 'x'"),
    (["-f", "arrow", "--with", "mem,x"], "takes addr, raw, offset, wall, mem, branch, read, "),
    (["-f", "arrow", "--pretty"], "does not apply to tables"), (["--ddl", "x"], "must be duckdb"),
])
def test_usage(run_pdecode, args, words):
    done = run_pdecode([*args, CHAINS])
    assert done.returncode == 2 and words in done.stderr.decode()


def test_there_are_fixtures():
    assert len(fixture_files()) > 30
