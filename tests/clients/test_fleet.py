"""A fleet without Spark: slices of many hosts are converted and compacted, and DuckDB answers the
questions of fleet/sql. The counts are those of pdecode -f stats.

make fleet-demo does the same with Spark and ClickHouse."""
import collections
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
CONVERT = """
import json, sys
from perfdata_fleet import compact, convert, objects, symbols
raw, store = map(objects.open_store, sys.argv[1:3])
rows = convert.convert_all(raw, store, shards=2, limit=50_000)
symbols.create(store)
print(json.dumps([rows, compact.compact_all(store)]))
"""
ASK = """
import json, os, sys
from perfdata_fleet import compact, objects, queries, symbols
store = objects.open_store(sys.argv[1])
files = {table: [os.path.join(sys.argv[1], key) for key in (
    symbols.files(store) if table == "symbols" else compact.current_files(store, table))]
    for table in queries.TABLES}
db = queries.DuckDB(files)
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
    answer = run(LOOK_UP, tmp_path / "raw", tmp_path / "store", TOOLS / "pdecode", modules=[FLEET])
    assert answer.strip() == "[3, 0]"
    found = json.loads(run(ASK, tmp_path / "store", "", "", modules=[FLEET]))
    assert found["top_functions"] == [["main", 2, 4, 8.0, 28.0], ["leaf", 2, 2, 20.0, 20.0]]
    assert found["flame"] == [["app;main", 2], ["app;main;leaf", 2]]
