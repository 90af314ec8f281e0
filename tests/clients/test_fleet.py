"""A fleet without Spark: slices of many hosts are converted and compacted, and DuckDB answers the
questions of fleet/sql. The counts are those of pdecode -f stats.

make fleet-demo does the same with Spark and ClickHouse."""
import collections
import fnmatch
import hashlib
import json
import math
import shutil
import subprocess
import sys

import pytest

from binding import NEEDS_CLIENTS, run  # noqa: F401
from conftest import FIXTURES, ROOT, TOOLS
from known_recording import build_program, recorded

FLEET = ROOT / "fleet"
sys.path.append(str(FLEET))
import slices  # noqa: E402

pytestmark = NEEDS_CLIENTS
TOTAL, CUT, FOREIGN, DUPLICATES = 60, 5, 3, 4
CONVERT = f"""
import json, sys
from perfdata_fleet import compact, convert, objects, services, symbols
raw, store = map(objects.open_store, sys.argv[1:3])
services.put(store, {slices.RULES})
rows = convert.convert_all(raw, store, shards=2, limit=50_000)
symbols.create(store)
print(json.dumps([rows, compact.compact_all(store)]))
"""
ASK = """
import json, sys
from perfdata_fleet import objects, queries
db = queries.DuckDB(queries.find_files(objects.open_store(sys.argv[1])))
db.compare(*sys.argv[2:4])
print(json.dumps({name: db.rows(name) for name in queries.NAMES}))
"""


# Each 16 bytes of a program are a function.
ADD_SYMBOLS = """
import sys
import pyarrow
from perfdata_fleet import objects, symbols
store = objects.open_store(sys.argv[1])
missing = [row for row in symbols.missing(store).to_pylist() if row["path"][0] == "/"]
rows = [{"build_id": row["build_id"], "offset": row["offset"], "exact": row["exact"], "depth": 0,
         "function": f"{row['path']} {row['offset'] // 16}"} for row in missing]
symbols.add(store, pyarrow.Table.from_pylist(rows, schema=symbols.SCHEMA))
print(len(rows), sum(row["path"][0] == "/" for row in symbols.missing(store).to_pylist()))
"""


class Fleet:
    def __init__(self, folder, run):
        self.raw, self.store, self.run = folder / "raw", folder / "store", run
        self.paths = slices.make(TOOLS, self.raw, TOTAL, CUT, FOREIGN, DUPLICATES)
        self.rows, self.collisions = self.convert(self.store)

    def convert(self, store):
        store.mkdir(exist_ok=True)
        return json.loads(self.run(CONVERT, self.raw, store, modules=[FLEET]))

    def stats(self):
        """{path: statistics of pdecode; None: it is no recording}. is_damaged: pdecode exits 1."""
        found = {}
        for path in self.paths:
            done = subprocess.run([TOOLS / "pdecode", "-f", "stats", path], capture_output=True)
            found[str(path.relative_to(self.raw))] = (
                {**json.loads(done.stdout), "is_damaged": done.returncode == 1}
                if done.returncode in (0, 1) else None)
        return found


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, run):  # noqa: F811
    return Fleet(tmp_path_factory.mktemp("fleet"), run)


@pytest.fixture(scope="module")
def answers(fleet):
    return json.loads(fleet.run(ASK, fleet.store, slices.OLD, slices.NEW, modules=[FLEET]))


def objects_of(store):
    return {str(path.relative_to(store)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in store.rglob("*") if path.is_file()}


def samples_of(stats):
    return stats["by_type"].get("SAMPLE", {}).get("records", 0)


def test_each_recording_has_the_counts_of_pdecode(fleet):
    stats = fleet.stats()
    assert {row["path"] for row in fleet.rows} == set(stats)
    for row in fleet.rows:
        want = stats[row["path"]]
        if want is None:
            assert (row["status"], row["samples"], row["errors"]) == ("unreadable", 0, 1)
        else:
            assert (row["samples"], row["lost_samples"]) == (
                samples_of(want), want["lost_samples"]), row["path"]
            assert row["status"] == ("damaged" if want["is_damaged"] else "ok"), row["path"]
    found = collections.Counter(row["status"] for row in fleet.rows)
    assert found == {"ok": TOTAL - CUT - FOREIGN - DUPLICATES, "damaged": CUT,
                     "unreadable": FOREIGN}


def test_a_recording_that_is_cut_in_the_head_of_a_record_is_damaged(fleet, tmp_path):
    """No record is damaged then: pdecode counts none, and exits 1."""
    cut = Fleet.__new__(Fleet)
    cut.run, cut.raw = fleet.run, tmp_path / "raw"
    path = cut.raw / "date=2026-11-22" / "hour=13" / "host=web-01" / "1.data"
    path.parent.mkdir(parents=True)
    whole = (FIXTURES / "perf" / "18-pipe.data").read_bytes()
    path.write_bytes(whole + b"\t\0\0\0\0")
    cut.paths = [path]
    (stats,), (rows, _) = cut.stats().values(), cut.convert(tmp_path / "store")
    assert (stats["damaged"], stats["is_damaged"]) == (0, True)
    assert [(row["status"], row["samples"]) for row in rows] == [("damaged", samples_of(stats))]


def test_the_identity_is_the_hash_of_the_content(fleet):
    for row in fleet.rows:
        digest = hashlib.sha256((fleet.raw / row["path"]).read_bytes()).hexdigest()
        assert row["file_id"] == digest[:32]
    assert len({row["file_id"] for row in fleet.rows}) == TOTAL - DUPLICATES


def test_the_host_is_that_of_the_recording_or_of_the_raw_key(fleet):
    for row in fleet.rows:
        assert f"/host={row['host']}/" in row["path"]


def test_a_file_that_is_no_recording_is_a_row_of_errors(fleet):
    failed = {row["file_id"] for row in fleet.rows if row["status"] == "unreadable"}
    for file_id in failed:
        tables = {path.relative_to(fleet.store).parts[0]
                  for path in fleet.store.rglob(f"{file_id}.parquet")}
        assert tables == {"t=files", "t=errors"}
    assert len(failed) == FOREIGN


def test_a_second_run_gives_the_same_objects(fleet, tmp_path):
    fleet.convert(tmp_path)
    assert objects_of(tmp_path) == objects_of(fleet.store)


def test_nothing_new_changes_nothing(fleet, tmp_path):
    store = shutil.copytree(fleet.store, tmp_path / "store")
    assert fleet.convert(store) == [[], 0]
    assert objects_of(store) == objects_of(fleet.store)


def test_a_recording_is_there_when_its_row_of_files_is(fleet, tmp_path):
    """The files of a run that was killed are written again."""
    store = shutil.copytree(fleet.store, tmp_path / "store")
    row = next(row for row in fleet.rows if row["status"] == "ok" and row["samples"])
    marks = list(store.glob(f"t=files/**/{row['file_id']}.parquet"))
    assert len(marks) == 1
    marks[0].unlink()
    next(store.glob(f"t=samples/**/{row['file_id']}.parquet")).write_bytes(b"half")
    shutil.rmtree(store / "compact")
    assert [found["path"] for found in fleet.convert(store)[0]] == [row["path"]]
    assert objects_of(store) == objects_of(fleet.store)


def test_a_later_recording_makes_a_new_generation_of_its_hour(fleet, tmp_path):
    later = Fleet.__new__(Fleet)
    later.run, later.raw = fleet.run, shutil.copytree(fleet.raw, tmp_path / "raw")
    store = shutil.copytree(fleet.store, tmp_path / "store")
    path = later.raw / "date=2026-11-22" / "hour=14" / "host=new" / "1.data"
    path.parent.mkdir()
    shutil.copy(FIXTURES / "perf" / "59-lost.data", path)
    rows, _ = later.convert(store)
    assert [row["samples"] for row in rows] == [199]
    pointers = {path.parent.name: json.loads(path.read_text())["generation"]
                for path in store.glob("compact/*/*/current.json")}
    assert pointers == {"hour=13": 1, "hour=14": 2}


def test_the_weight_is_that_of_the_job(run, tmp_path):  # noqa: F811
    """Hosts that record 1 % of the time: each recording stands for 100."""
    raw, store = tmp_path / "raw", tmp_path / "store"
    for folder in (raw, store):
        folder.mkdir()
    shutil.copy(FIXTURES / "perf" / "59-lost.data", raw)
    program = """
import sys
from perfdata_fleet import convert, objects
raw, store = map(objects.open_store, sys.argv[1:])
print([row["weight"] for row in convert.convert_all(raw, store, weight=100.0)])
"""
    assert run(program, raw, store, modules=[FLEET]).strip() == "[100.0]"


def test_the_weight_of_a_recording_is_that_of_its_key(run, tmp_path):  # noqa: F811
    """Others have that of the job."""
    for name, sample in (("weight=20", "59-lost"), ("weight=2.5", "18-pipe"), (".", "16-zstd")):
        path = tmp_path / "raw" / "date=2026-11-22" / "hour=13" / "host=web-01" / name / "1.data"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / "perf" / f"{sample}.data", path)
    (tmp_path / "store").mkdir()
    program = """
import json, sys
from perfdata_fleet import convert, objects
raw, store = map(objects.open_store, sys.argv[1:])
print(json.dumps([[row["path"].partition("host=web-01")[2], row["host"], row["weight"]]
                  for row in convert.convert_all(raw, store, weight=3.0)]))
keys = [f"date=1/hour=2/host=3/{middle}name" for middle in ("", "weight=7/", "weight=0/",
                                                          "weight=-1/", "weight=nan/")]
print(json.dumps([[objects.host_of(key), objects.weight_of(key)] for key in keys]))
"""
    rows, keys = map(json.loads, run(program, tmp_path / "raw", tmp_path / "store",
                                     modules=[FLEET]).splitlines())
    assert sorted((path, weight) for path, _, weight in rows) == [
        ("/1.data", 3.0), ("/weight=2.5/1.data", 2.5), ("/weight=20/1.data", 20.0)]
    assert keys == [["3", None], ["3", 7.0], [None, None], [None, None], [None, None]]


def test_probabilities_of_services(run, tmp_path):  # noqa: F811
    """A service with weight 10 would have ten times as many samples; the event that has the most
    counts; hours before, and samples of no service, do not."""
    hour = tmp_path / "compact" / "date=1" / "hour=2"
    program = """
import json, sys
import pyarrow
from perfdata_fleet import convert, objects, sampling
store = objects.open_store(sys.argv[1])
names = ["upload_hour", "service", "event_name", "samples", "period", "weighed"]
rows = [("2026-11-22 13", "shop", "cycles", 100, 1000, 10000.0),
        ("2026-11-22 14", "shop", "cycles", 300, 3000, 30000.0),
        ("2026-11-22 14", "shop", "faults", 1900, None, 1900.0),
        ("2026-11-22 12", "shop", "cycles", 9999, 9999, 9999.0),
        ("2026-11-22 14", "small", "cycles", 5, 0, 0.0),
        ("2026-11-22 14", None, "cycles", 5000, 5000, 5000.0)]
print(sampling.retune(store, "2026-11-22 13"))
objects.put(store, "compact/date=1/hour=2/generation=1/t=hourly/hour.parquet", convert.parquet(
    pyarrow.Table.from_pylist([dict(zip(names, row)) for row in rows])))
objects.put(store, "compact/date=1/hour=2/current.json",
            b'{"generation": 1, "files": "", "has_samples": true}')
print(json.dumps([sampling.retune(store, "2026-11-22 13", target=1000),
                  json.loads(objects.read(store, "services/probabilities.json").to_pybytes())]))
try:
    sampling.retune(store, "2026-11-22 13", target=0)
except ValueError as error:
    print(error)
"""
    none, found, refused = run(program, tmp_path, modules=[FLEET]).splitlines()
    assert none == "{}" and hour.is_dir()
    assert json.loads(found) == [{"shop": 0.5, "small": 1.0}] * 2
    assert refused == "0 samples are no target"


def test_parts_are_of_a_size(run):  # noqa: F811
    """64 MB of input for each task; a larger recording is a part of its own."""
    program = """
from perfdata_fleet.objects import Item, split
items = [Item(str(size), size) for size in (3, 3, 3, 20, 1, 9)]
print([[item.size for item in part] for part in split(items, 10)], split([]))
"""
    assert run(program, modules=[FLEET]).strip() == "[[3, 3, 3], [20], [1, 9]] []"


# --- the questions --------------------------------------------------------------------------------

def expected(fleet):
    """(samples, period) of all recordings, by pdecode."""
    known = [stats for stats in fleet.stats().values() if stats]
    return (sum(map(samples_of, known)),
            sum(event.get("period", 0) for stats in known for event in stats["by_event"]))


def samples_by_kind(fleet):
    """{(hour, host, event, comm, cgroup): (samples, sum of periods, the same where a sample without
    a period counts 1)}, by pquery."""
    found = {}
    for path in fleet.paths:
        done = subprocess.run(
            [TOOLS / "pquery", "-f", "json", "select event_name, comm, cgroup, count(*) as n, "
             "sum(period) as period, sum(ifnull(period, 1)) as weight from samples "
             "group by 1, 2, 3", path], capture_output=True)
        date, hour, host, _ = path.relative_to(fleet.raw).parts
        for row in json.loads(done.stdout or "[]"):
            key = (f"{date[5:]} {hour[5:]}", host[5:], row["event_name"], row["comm"],
                   row["cgroup"])
            found.setdefault(key, []).append(
                (row["n"], row["period"] or 0, row["weight"]))
    return {key: tuple(map(sum, zip(*values))) for key, values in found.items()}


def answers_of_rules(host, comm, cgroup):
    kind = {"host": host, "comm": comm, "cgroup": cgroup}
    for rule in slices.RULES:
        if all(kind[name] is not None and fnmatch.fnmatchcase(kind[name], rule[name])
               for name in kind if name in rule):
            return [rule.get(name) for name in ("service", "version", "host_group")]
    return [None] * 3


HOURLY = """
import json, sys
import duckdb
print(json.dumps(duckdb.sql(f'''
    select upload_hour, event_name, service, version, host_group, sum(samples)::bigint,
        sum(period)::bigint, sum(weighed)
    from '{sys.argv[1]}/compact/*/*/*/t=hourly/*.parquet' group by all order by all''').fetchall()))
"""


def test_hourly_counts_have_the_services_of_the_rules(fleet):
    want = {}
    for (hour, host, event, comm, cgroup), counts in samples_by_kind(fleet).items():
        key = (hour, event, *answers_of_rules(host, comm, cgroup))
        want[key] = tuple(map(sum, zip(want.get(key, (0, 0, 0)), counts)))
    rows = json.loads(fleet.run(HOURLY, fleet.store))
    assert {tuple(row[:5]): tuple(row[5:]) for row in rows} == want
    assert {key[2:] for key in want} >= {("shop", "2", "odd"), ("shop", "1", None),
                                         ("loader", "7", None), (None, None, "with cgroups")}


def test_services_by_hour(fleet, answers):
    rows = answers["services_by_hour"]
    assert sum(row[4] for row in rows) == expected(fleet)[0]
    for hour in {row[0] for row in rows}:
        assert sum(row[6] for row in rows if row[0] == hour) == pytest.approx(1)
    assert any(row[1:3] == ["shop", "2"] for row in rows)


@pytest.mark.parametrize("rule, words", [
    ({"user": "me"}, "rule 0: no field 'user'"), ({"host": 1}, "rule 0: host is no text: 1"),
    ("host", "rule 0 is no object: 'host'")])
def test_a_wrong_rule_is_refused(run, tmp_path, rule, words):  # noqa: F811
    program = """
import json, sys
from perfdata_fleet import objects, services
try:
    services.put(objects.open_store(sys.argv[1]), [json.loads(sys.argv[2])])
except ValueError as error:
    print(error)
"""
    assert words in run(program, tmp_path, json.dumps(rule), modules=[FLEET])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text, words", [
    ("{nope", "services/rules.json: Expecting property name"),
    ('{"host": "a"}', "services/rules.json: the rules are no list"),
    ('[{"hosts": "a"}]', "services/rules.json: rule 0: no field 'hosts'")])
def test_wrong_rules_in_a_store_are_named(run, tmp_path, text, words):  # noqa: F811
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "rules.json").write_text(text)
    program = """
import sys
from perfdata_fleet import objects, services
try:
    services.table(objects.open_store(sys.argv[1]))
except ValueError as error:
    print(error)
"""
    assert run(program, tmp_path, modules=[FLEET]).startswith(words)


def test_an_empty_store(run, tmp_path):  # noqa: F811
    for name in ("raw", "store"):
        (tmp_path / name).mkdir()
    program = """
import datetime, sys
from perfdata_fleet import compact, convert, objects, retention, symbols
raw, store = map(objects.open_store, sys.argv[1:])
print(convert.convert_all(raw, store), compact.compact_all(store), symbols.missing(store).num_rows,
      symbols.look_up(raw, store), retention.expire(raw, store, datetime.date.today()))
"""
    assert run(program, tmp_path / "raw", tmp_path / "store", modules=[FLEET]) == (
        "[] 0 0 0 {'raw': [], 'store': []}\n")


def check_hosts(fleet, answers):
    """Against the statistics of pdecode. Returns the bytes that were skipped, by host."""
    sizes, skipped, lost, samples = (collections.Counter() for _ in range(4))
    for path, stats in zip(fleet.paths, fleet.stats().values()):
        host = path.parts[-2][5:]
        sizes[host] += path.stat().st_size
        skipped[host] += stats["skipped"] if stats else path.stat().st_size
        lost[host] += stats["lost_samples"] if stats else 0
        samples[host] += samples_of(stats) if stats else 0
    rows = {row[0]: row[1:] for row in answers["hosts"]}
    assert set(rows) == set(sizes)
    for host, (_, _, _, skipped_share, lost_share) in rows.items():
        assert skipped_share == pytest.approx(skipped[host] / sizes[host]), host
        assert lost_share == pytest.approx(
            lost[host] / max(lost[host] + samples[host], 1)), host
    return skipped


def test_hosts(fleet, answers):
    check_hosts(fleet, answers)
    assert [sum(row[i] for row in answers["hosts"]) for i in (1, 2, 3)] == [
        len(fleet.paths), CUT, FOREIGN]


def test_the_host_whose_recording_is_damaged_is_the_first(fleet, tmp_path):
    damaged = Fleet.__new__(Fleet)
    damaged.run, damaged.raw = fleet.run, tmp_path / "raw"
    damaged.paths = slices.make(TOOLS, damaged.raw, 4, 0, 0, 0)
    whole = damaged.paths[2].read_bytes()
    damaged.paths[2].write_bytes(whole[:5000] + b"\xff" * 2000 + whole[7000:])
    damaged.convert(tmp_path / "store")
    answers = json.loads(fleet.run(ASK, tmp_path / "store", "", "", modules=[FLEET]))
    skipped = check_hosts(damaged, answers)
    assert answers["hosts"][0][0] == "web-02"
    assert [host for host, size in skipped.items() if size] == ["web-02"]


def test_no_keys_collide(fleet):
    assert fleet.collisions == 0


def test_top_functions(fleet, answers):
    rows = answers["top_functions"]
    samples, _ = expected(fleet)
    assert sum(row[1] for row in rows) == samples
    assert all(row[2] >= row[1] > -1 for row in rows)
    assert rows[0][0] == "[workload]"


def test_a_flame_graph_has_all_samples(fleet, answers):
    samples, _ = expected(fleet)
    assert sum(count for _, count in answers["flame"]) == samples
    assert all(line.split(";")[0] for line, _ in answers["flame"])


def test_versions(answers):
    hosts = {row[1]: row[2] for row in answers["versions"] if row[0] == "/tmp/exp/workload"}
    assert hosts[slices.OLD] > 1 and hosts[slices.NEW] > 1
    shares = collections.Counter()
    for path, build_id, _, _, _, share in answers["versions"]:
        shares[path, build_id] += share
    assert all(share == pytest.approx(1) for share in shares.values())


def test_quality(fleet, answers):
    found = {(measure, what): (count, share)
             for measure, what, count, share in answers["quality"]}
    stats = fleet.stats().values()
    lost = sum(one["lost_samples"] for one in stats if one)
    assert found["lost", ""] == (lost, pytest.approx(lost / (lost + expected(fleet)[0])))
    assert found["damaged", ""][0] == CUT
    assert found["unreadable", ""] == (FOREIGN, pytest.approx(FOREIGN / len(stats)))


def test_quality_divides_all_samples(fleet, answers, named):
    before, after = ({row[1]: row[2:] for row in found["quality"] if row[0] == "quality"}
                     for found in (answers, named))
    for shares in (before, after):
        assert sum(count for count, _ in shares.values()) == expected(fleet)[0]
        assert sum(share for _, share in shares.values()) == pytest.approx(1)
    assert before["named"][0] == 0 and after["named"][0] > 0
    assert before["object"][0] == after["object"][0] + after["named"][0]
    assert before["unmapped"] == after["unmapped"]


def test_kernel_by_cgroup(fleet, answers):
    rows = {row[0]: row[2] for row in answers["kernel_by_cgroup"]}
    assert set(rows) == {"/", "[not recorded]"} and sum(rows.values()) == expected(fleet)[0]


# --- late symbols ---------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def named(fleet, tmp_path_factory):
    """The store with symbols, and the answers."""
    store = shutil.copytree(fleet.store, tmp_path_factory.mktemp("named") / "store")
    added, left = fleet.run(ADD_SYMBOLS, store, modules=[FLEET]).split()
    assert int(added) > 20 and left == "0"
    return json.loads(fleet.run(ASK, store, slices.OLD, slices.NEW, modules=[FLEET]))


def function_of(frame):
    dso = frame.get("dso", "[unmapped]")
    if dso.startswith("["):
        return dso
    if frame.get("build_id"):
        return f"{dso} {int(frame['file_offset'], 16) // 16}"
    return f"[{dso.rpartition('/')[2]}]"


def functions_by_version(fleet):
    """{build id: [the functions on the stack, of each sample with a frame of it]}, by pdecode."""
    found = {slices.OLD: [], slices.NEW: []}
    for path in fleet.paths:
        done = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--resolve", path],
                              capture_output=True, text=True)
        for line in map(json.loads, done.stdout.splitlines()):
            frames = line.get("frames", []) if line["kind"] == "record" else []
            for version in {frame.get("build_id") for frame in frames} & set(found):
                found[version].append(set(map(function_of, frames)))
    return found


def z_of(row):
    return row[4]


def q_values(tests):
    """{function: q} of {function: p}, after Benjamini and Hochberg."""
    least, found = 1, {}
    ordered = sorted(tests, key=lambda function: (tests[function], function))
    for place, function in reversed(list(enumerate(ordered, 1))):
        least = min(least, tests[function] * len(tests) / place)
        found[function] = least
    return found


def test_regression(fleet, named):
    old, new = functions_by_version(fleet).values()
    n1, n2, want = len(old), len(new), {}
    for function in set().union(*old, *new):
        k1, k2 = (sum(function in sample for sample in version) for version in (old, new))
        p = (k1 + k2) / (n1 + n2)
        if k1 + k2 >= 100 and p < 1:
            want[function] = (k2 / n2 - k1 / n1) / math.sqrt(p * (1 - p) * (1 / n1 + 1 / n2))
    q = q_values({function: math.erfc(abs(z) / math.sqrt(2)) for function, z in want.items()})
    rows = {row[0]: row for row in named["regression"]}
    assert set(rows) == set(want) and len(want) > 3
    for function, (_, _, p1, p2, z, found) in rows.items():
        assert z == pytest.approx(want[function])
        assert found == pytest.approx(q[function], rel=1e-6)
    slower, faster = max(rows.values(), key=z_of), min(rows.values(), key=z_of)
    assert faster[2] > faster[3] and faster[5] < 0.05 and slower[2] < slower[3]


def test_names_come_late(answers, named):
    """The same samples, now by function. Some recordings have no build ids."""
    before, after = ({row[0]: row[1] for row in found["top_functions"]}
                     for found in (answers, named))
    assert sum(after.values()) == sum(before.values())
    assert after["/tmp/exp/workload 296"] > 100 and after["[workload]"] < before["[workload]"]


LOOK_UP = """
import sys
from perfdata_fleet import objects, symbols
raw, store = map(objects.open_store, sys.argv[1:3])
print([symbols.look_up(raw, store, [sys.argv[3]]) for _ in range(2)])
"""


def test_symbols_are_looked_up_once(run, tmp_path):  # noqa: F811
    """By pdecode, where the program is: later, and by one recording for all that have the place."""
    program = build_program(tmp_path / "program")
    for host in ("one", "two"):
        path = tmp_path / "raw" / "date=1" / "hour=2" / f"host={host}" / "1.data"
        path.parent.mkdir(parents=True)
        path.write_bytes(recorded(program, program[1], unit=1 if host == "one" else 3))
    (tmp_path / "store").mkdir()
    run(CONVERT, tmp_path / "raw", tmp_path / "store", modules=[FLEET])
    pdecode, asked = tmp_path / "pdecode", tmp_path / "asked"
    pdecode.write_text("#!/bin/sh\nfor last; do :; done\n"
                       f'echo "$last" >> "{asked}"\nexec "{TOOLS}/pdecode" "$@"\n')
    pdecode.chmod(0o755)
    answer = run(LOOK_UP, tmp_path / "raw", tmp_path / "store", pdecode, modules=[FLEET])
    assert answer.strip() == "[3, 0]"
    assert [line.rpartition("/")[2] for line in asked.read_text().splitlines()] == ["1.data"]
    found = json.loads(run(ASK, tmp_path / "store", "", "", modules=[FLEET]))
    assert found["top_functions"] == [["main", 2, 4, 8.0, 28.0], ["leaf", 2, 2, 20.0, 20.0]]
    assert found["flame"] == [["app;main", 2], ["app;main;leaf", 2]]


FORGET = """
import sys
from perfdata_fleet import objects, symbols
store = objects.open_store(sys.argv[1])
left = {row["build_id"] for row in symbols.missing(store).to_pylist()}
added = [symbols.pyarrow.Table.from_pylist(
    [{"build_id": build_id, "offset": len(ids), "exact": True, "depth": 0, "why": "STRIPPED"}
     for build_id in ids], schema=symbols.SCHEMA) for ids in (["aa", "bb"], ["aa", None], ["bb"])]
for rows in added:
    symbols.add(store, rows)
print([symbols.forget(store, build_id) for build_id in ("aa", "aa", "cc")],
      sorted(map(str, symbols._read(store, "symbols").to_table()["build_id"].to_pylist())))
"""


def test_rows_of_a_program_are_removed(run, tmp_path):  # noqa: F811
    """Those of other programs stay, whichever object they stand in."""
    assert run(FORGET, tmp_path, modules=[FLEET]) == "[2, 0, 0] ['None', 'bb', 'bb']\n"


def test_a_program_is_looked_up_again(run, tmp_path):  # noqa: F811
    program = build_program(tmp_path / "program")
    path = tmp_path / "raw" / "date=1" / "hour=2" / "host=one" / "1.data"
    path.parent.mkdir(parents=True)
    path.write_bytes(recorded(program, program[1]))
    (tmp_path / "store").mkdir()
    run(CONVERT, tmp_path / "raw", tmp_path / "store", modules=[FLEET])
    answer = run(LOOK_UP + """
build_id = symbols._read(store, "symbols").to_table()["build_id"][0].as_py()
print(symbols.forget(store, build_id), symbols.look_up(raw, store, [sys.argv[3]]))
""", tmp_path / "raw", tmp_path / "store", TOOLS / "pdecode", modules=[FLEET])
    assert answer.split() == ["[3,", "0]", "3", "3"]


def test_nothing_has_a_name_without_a_table_of_symbols(fleet, tmp_path):
    store = shutil.copytree(fleet.store, tmp_path / "store")
    program = """
import sys
from perfdata_fleet import objects, symbols
print(symbols.missing(objects.open_store(sys.argv[1])).num_rows)
"""
    want = fleet.run(program, store, modules=[FLEET])
    shutil.rmtree(store / "symbols")
    assert fleet.run(program, store, modules=[FLEET]) == want != "0\n"


def test_a_recording_that_was_removed_is_not_looked_up(run, tmp_path):  # noqa: F811
    """The later of two that have a place is read; without both there are no rows."""
    program = build_program(tmp_path / "program")
    raw = tmp_path / "raw"
    for hour in ("1", "2"):
        path = raw / "date=1" / f"hour={hour}" / "host=one" / f"{hour}.data"
        path.parent.mkdir(parents=True)
        path.write_bytes(recorded(program, program[1], unit=int(hour)))
    (tmp_path / "store").mkdir()
    run(CONVERT, raw, tmp_path / "store", modules=[FLEET])
    for hour, want in (("2", "[0, 0]"), ("1", "[3, 0]")):
        copy = shutil.copytree(raw, tmp_path / f"raw-without-{hour}")
        shutil.rmtree(copy / "date=1" / f"hour={hour}")
        store = shutil.copytree(tmp_path / "store", tmp_path / f"store-{hour}")
        answer = run(LOOK_UP, copy, store, TOOLS / "pdecode", modules=[FLEET])
        assert answer.strip() == want, hour


# --- retention ------------------------------------------------------------------------------------

EXPIRE = """
import datetime, json, sys
from perfdata_fleet import compact, convert, objects, retention
raw, store = map(objects.open_store, sys.argv[1:3])
today = datetime.date.fromisoformat(sys.argv[3])
gone = retention.expire(raw, store, today)
print(json.dumps([gone, len(convert.convert_all(raw, store, shards=2)),
                  compact.compact_all(store), compact.current_files(store, "samples")]))
"""


class Kept:
    """A fleet after `today`, and what was removed."""

    def __init__(self, fleet, folder, today):
        self.raw, self.store = folder / "raw", folder / "store"
        shutil.copytree(fleet.raw, self.raw)
        shutil.copytree(fleet.store, self.store)
        self.fleet = fleet
        self.expire(today)

    def expire(self, today):
        gone, self.converted, _, self.samples = json.loads(self.fleet.run(
            EXPIRE, self.raw, self.store, today, modules=[FLEET]))
        self.gone_raw, self.gone = gone["raw"], gone["store"]

    def tables(self):
        return {part for path in objects_of(self.store) for part in path.split("/")
                if part.startswith("t=")}


def test_raw_recordings_go_first(fleet, tmp_path):
    kept = Kept(fleet, tmp_path, "2026-11-25")
    assert (kept.gone_raw, kept.gone, kept.converted) == ([], [], 0)
    kept.expire("2026-11-26")
    assert len(kept.gone_raw) == TOTAL and objects_of(kept.raw) == {}
    assert kept.gone == [] and objects_of(kept.store) == objects_of(fleet.store)


def test_hourly_counts_stay_when_samples_go(fleet, tmp_path):
    kept = Kept(fleet, tmp_path, "2026-12-22")
    assert kept.gone == []
    kept.expire("2026-12-23")
    assert kept.samples == []
    assert kept.tables() == {"t=hourly", "t=stack_frames", "t=frames", "t=files"}
    assert fleet.run(HOURLY, kept.store) == fleet.run(HOURLY, fleet.store)
    kept.expire("2026-12-24")
    assert kept.gone == []


def test_queries_of_hours_without_samples(fleet, tmp_path):
    """The hourly counts are all that there is."""
    kept = Kept(fleet, tmp_path, "2026-12-23")
    answers, before = (json.loads(fleet.run(ASK, store, "1.0", "1.1", modules=[FLEET]))
                       for store in (kept.store, fleet.store))
    assert answers["services_by_hour"] == before["services_by_hour"] != []
    assert answers["top_functions"] == [] != before["top_functions"]


def test_an_hour_that_is_being_removed_has_no_samples(fleet, tmp_path):
    """Its pointer says so while the first objects are still there."""
    store = shutil.copytree(fleet.store, tmp_path / "store")
    path = store / "compact" / "date=2026-11-22" / "hour=13" / "current.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"has_samples": False}))
    program = """
import json, sys
from perfdata_fleet import compact, objects
store = objects.open_store(sys.argv[1])
print(json.dumps([sorted({key.split("/")[2] for key in compact.current_files(store, table)})
                  for table in ("samples", "hourly", "files")]))
"""
    assert json.loads(fleet.run(program, store, modules=[FLEET])) == [
        ["hour=14"], ["hour=13", "hour=14"], ["hour=13", "hour=14"]]


def test_a_late_recording_does_not_start_an_old_hour_again(fleet, tmp_path):
    kept = Kept(fleet, tmp_path, "2026-12-23")
    late = kept.raw / "date=2026-11-22" / "hour=13" / "host=late" / "1.data"
    late.parent.mkdir(parents=True)
    shutil.copy(FIXTURES / "perf" / "59-lost.data", late)
    before = objects_of(kept.store)
    program = EXPIRE.replace("gone = retention.expire(raw, store, today)", "gone = None")
    assert json.loads(fleet.run(program, kept.raw, kept.store, "2026-12-23", modules=[FLEET])) == [
        None, 1, 0, []]
    after = objects_of(kept.store)
    assert {path: after[path] for path in before} == before
    assert not any(path.startswith("compact/") for path in after.keys() - before.keys())


def test_everything_goes_at_last(fleet, tmp_path):
    kept = Kept(fleet, tmp_path, "2027-12-24")
    assert set(objects_of(kept.store)) == {"services/rules.json", "symbols/none.parquet"} | {
        f"compact/none/{table}.parquet" for table in ("samples", "lost", "errors")}
    assert [key.endswith("current.json") for key in kept.gone if key.startswith("compact/")] == [
        True] * 2 + [False] * (sum(key.startswith("compact/") for key in kept.gone) - 2)


def test_earlier_generations_go_with_the_raw_recordings(fleet, tmp_path):
    """A later one is being made."""
    store = shutil.copytree(fleet.store, tmp_path / "first" / "store")
    hour = store / "compact" / "date=2026-11-22" / "hour=13"
    for generation in (2, 3):
        shutil.copytree(hour / "generation=1", hour / f"generation={generation}")
    pointer = json.loads((hour / "current.json").read_text())
    (hour / "current.json").write_text(json.dumps(pointer | {"generation": 2}))
    copy = Fleet.__new__(Fleet)
    copy.raw, copy.store, copy.run = fleet.raw, store, fleet.run
    kept = Kept(copy, tmp_path / "second", "2026-11-26")
    assert {key.split("/")[3] for key in kept.gone} == {"generation=1"}
    assert sorted(path.name for path in (kept.store / hour.relative_to(store)).iterdir()
                  if any(path.rglob("*.parquet"))) == ["generation=2", "generation=3"]


def test_raw_recordings_can_not_stay_the_longest(run, tmp_path):  # noqa: F811
    """They would be converted again."""
    program = """
import datetime
from perfdata_fleet import retention
try:
    retention.expire(None, None, datetime.date.today(), retention.Days(raw=40))
except ValueError as error:
    print(error)
"""
    assert "raw recordings go first" in run(program, modules=[FLEET])


# --- the data source of Spark ---------------------------------------------------------------------

SOURCE = """
import json, sys
try:
    from pyspark.sql.datasource import EqualTo, In
except ImportError:
    sys.exit(print("null"))
from perfdata_fleet.datasource import PerfDataReader

def pushed(*filters, path=sys.argv[1]):
    reader = PerfDataReader({"path": path})
    return len(list(reader.pushFilters(filters))), reader.filters

found = [pushed(EqualTo(("pid",), 5), In(("cpu",), (0, 1)), EqualTo(("comm",), "sh")),
         *(pushed(EqualTo(("pid",), pid)) for pid in (-1, None)), pushed(In(("tid",), (5, -1))),
         *(pushed(EqualTo(("comm",), comm)) for comm in ("a*", "a" + chr(0)))]
try:
    PerfDataReader({"path": sys.argv[2]}).partitions()
except FileNotFoundError as error:
    found.append(str(error))
print(json.dumps(found))
"""


def test_filters_and_folders_of_spark(fleet, tmp_path):
    """Filters that libdecode would refuse are left to Spark, and a folder without recordings is no
    empty one: the path may be that of a file."""
    found = json.loads(fleet.run(SOURCE, fleet.raw, tmp_path, modules=[FLEET]))
    if found is None:
        pytest.skip("make fleet-demo has not installed pyspark")
    assert found == [[3, {"pid": [5], "cpu": [0, 1], "comm": ["sh"]}], *[[1, {}]] * 5,
                     f"{tmp_path}: no recordings in this folder"]
