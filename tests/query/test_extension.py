"""The loadable extension: perf_samples('FILE') in any program with SQLite; here in its shell."""
import shutil
import sqlite3
import subprocess

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS
from installed import is_sanitized

PERF = FIXTURES / "perf"
CHAINS = PERF / "02-callgraph-fp.data"
EXTENSION = TOOLS / "perfdata.so"

pytestmark = [
    pytest.mark.skipif(not shutil.which("sqlite3"), reason="no sqlite3 here: install sqlite3"),
    pytest.mark.skipif(is_sanitized(TOOLS / "libdecode.a"), reason="sqlite3 has no sanitizers")]


def sqlite(*statements, database=":memory:"):
    return subprocess.run(["sqlite3", "-batch", "-bail", database, f".load {EXTENSION}",
                           *statements], capture_output=True, timeout=TIMEOUT, text=True,
                          stdin=subprocess.DEVNULL)


def ask(*statements, **more):
    done = sqlite(*statements, **more)
    assert done.returncode == 0, done.stderr
    return [tuple(line.split("|")) for line in done.stdout.splitlines()]


def pquery(sql, *files):
    done = subprocess.run([TOOLS / "pquery", "-f", "csv", sql, *files], capture_output=True,
                          timeout=TIMEOUT, text=True, stdin=subprocess.DEVNULL)
    return [tuple(line.split(",")) for line in done.stdout.splitlines()[1:]]


@pytest.mark.parametrize("table", ["samples", "frames", "objects", "tasks", "stack_frames", "maps"])
def test_tables_are_those_of_pquery(table):
    found = ask(f"select * from perf_{table}('{CHAINS}')")
    assert found == pquery(f"select * from {table}", CHAINS)


def test_joins_over_two_files():
    sql = ("select path, count(*) from perf_samples('{0}') s join perf_frames('{0}') using (frame) "
           "join perf_objects('{0}') using (object) group by path order by path")
    for path in (CHAINS, PERF / "01-basic.data"):
        plain = ("select path, count(*) from samples join frames using (frame) "
                 "join objects using (object) group by path order by path")
        assert ask("select 1 from perf_files('{}')".format(PERF / "16-zstd.data"),
                   sql.format(path))[1:] == pquery(plain, path)


def test_the_file_can_come_from_a_table(tmp_path):
    paths = [CHAINS, PERF / "01-basic.data"]
    values = ", ".join(f"('{path}')" for path in paths)
    found = ask("create table recordings (path)", f"insert into recordings values {values}",
                "select path, count(*) from recordings, perf_samples(path) group by path",
                database=tmp_path / "db")
    assert {(path, int(count)) for path, count in found} == {
        (str(path), int(pquery("select count(*) from samples", path)[0][0])) for path in paths}


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(CHAINS.read_bytes())
    count = f"select count(*) from perf_samples('{path}')"
    other = PERF / "01-basic.data"
    assert ask(count, f".shell cp {other} {path}", count) == [("66",), ("86",)]


@pytest.mark.parametrize("sql, message", [
    ("select * from perf_samples", "perf_samples('FILE'): which file?"),
    ("select * from perf_samples(null)", "perf_samples('FILE'): which file?"),
    ("select * from perf_samples('missing.data')", "missing.data: "),
    ("select * from perf_samples('/dev/null')", "is no file"),
    (f"select * from perf_samples('{CHAINS}' || char(0))", "texts without zero bytes"),
    (f"select * from perf_samples('{CHAINS}' || char(0) || 'x')", "texts without zero bytes"),
    (f"select * from perf_samples('{CHAINS}', 'damaged' || char(0))", "texts without zero bytes"),
    (f"select * from perf_samples('{CHAINS}', 1)", "both are texts"),
    (f"select * from perf_samples(cast('{CHAINS}' as blob))", "both are texts"),
    (f"delete from perf_samples where file = '{CHAINS}'", "may not be modified"),
])
def test_errors(sql, message):
    done = sqlite(sql)
    assert done.returncode == 1 and message in done.stderr and not done.stdout


def test_damage_must_be_accepted(tmp_path):
    cut = tmp_path / "cut.data"
    cut.write_bytes(CHAINS.read_bytes()[:7000])
    done = sqlite(f"select count(*) from perf_samples('{cut}')")
    assert done.returncode == 1 and "damaged part" in done.stderr and not done.stdout
    assert ask(f"select count(*) from perf_samples('{cut}', 'damaged')",
               f"select count(*) > 0, min(severity) from perf_errors('{cut}')") == [
        pquery("select count(*) from samples", cut)[0], ("1", "damaged")]


def test_views_of_strange_databases_open_no_files(tmp_path):
    path = tmp_path / "strange.db"
    with sqlite3.connect(path) as db:
        db.execute(f"create view v as select * from perf_samples('{CHAINS}')")
    done = sqlite("select * from v", database=path)
    assert done.returncode == 1 and 'unsafe use of virtual table "perf_samples"' in done.stderr


def test_only_the_entry_point_is_exported():
    names = subprocess.run(["nm", "-D", "--defined-only", EXTENSION], capture_output=True,
                           text=True, check=True).stdout.split()[2::3]
    assert names == ["sqlite3_perfdata_init"]
    needed = subprocess.run(["readelf", "-d", EXTENSION], capture_output=True, text=True,
                            check=True).stdout
    assert "libsqlite3" not in needed and "libdecode" not in needed
