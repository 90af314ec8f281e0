"""pquery --save: the same rows in a SQLite database, or no database."""
import resource
import signal
import sqlite3
import subprocess

import pytest

import compiled
from conftest import FIXTURES, TIMEOUT, TOOLS
from interrupted import end_while_reading
from test_pquery import TABLES, query, run

PERF = FIXTURES / "perf"
CHAINS = PERF / "02-callgraph-fp.data"
MANY = PERF / "A3-zstd-unflushed.data"


def rows(path, sql):
    db = sqlite3.connect(path)
    assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
    found = db.execute(sql).fetchall()
    db.close()
    return found


def test_tables_are_those_of_queries(fixture_file, tmp_path):
    path = tmp_path / "saved.db"
    done = run("--save", path, fixture_file.path)
    assert done.returncode in (0, 1) and done.stdout == b"", done.stderr
    db = sqlite3.connect(path)
    names = [name for name, in db.execute("select name from sqlite_master")]
    assert names == [*TABLES, "stack_frames"]
    for name in names:
        want = query(f"select * from {name}", fixture_file.path, status=(done.returncode,))[0]
        cursor = db.execute(f"select * from {name}")
        columns = [column[0] for column in cursor.description]
        assert [dict(zip(columns, row)) for row in cursor] == want, name
    db.close()


def test_several_files(tmp_path):
    path = tmp_path / "saved.db"
    assert run("--save", path, CHAINS, PERF / "01-basic.data").returncode == 0
    assert sorted(count for _, count in rows(
        path, "select file, count(*) from samples group by file")) == [66, 86]
    assert rows(path, "select count(distinct path) from samples join frames using (frame) "
                "join objects using (object)") > [(1,)]


def test_a_database_larger_than_its_cache(tmp_path):
    small, large = tmp_path / "small.db", tmp_path / "large.db"
    for path, memory in ((small, "6M"), (large, "1G")):
        assert run("--save", path, "--memory", memory, *[MANY] * 4).returncode == 1
    sql = "select comm, count(*), sum(stack), sum(frame) from samples group by comm"
    assert rows(small, sql) == rows(large, sql)
    assert small.stat().st_size > 5 << 20


def test_pages_that_are_read_again(tmp_path):
    assert compiled.run("query_save", tmp_path / "saved.db") == (0, [])


@pytest.mark.parametrize("given", ["-", "redirected"])
def test_standard_input(given, tmp_path):
    path = tmp_path / "saved.db"
    args = ["--save", path, *(["-"] if given == "-" else [])]
    done = (run(*args, input=CHAINS.read_bytes()) if given == "-" else
            run(*args, stdin=CHAINS.open("rb")))
    assert done.returncode == 0, done.stderr
    assert rows(path, "select count(*) from samples") == [(66,)]


def test_an_older_database_is_replaced(tmp_path):
    path = tmp_path / "saved.db"
    for file, count in ((MANY, 22933), (CHAINS, 66)):
        assert run("--save", path, file).returncode in (0, 1)
        assert rows(path, "select count(*) from samples") == [(count,)]


def test_a_wrong_input_leaves_an_older_file_alone(tmp_path):
    path = tmp_path / "saved.db"
    sqlite3.connect(path).executescript("create table older (x)")
    older = path.read_bytes()
    assert run("--save", path, FIXTURES / "README.md").returncode == 3
    assert path.read_bytes() == older
    assert run("--save", tmp_path / "new.db", FIXTURES / "README.md").returncode == 3
    assert not (tmp_path / "new.db").exists()


def test_a_recording_is_not_replaced(tmp_path):
    """The name of the database was forgotten, so that the recording has its place."""
    for name in ("perf.data", "mine.data"):
        (tmp_path / name).write_bytes(CHAINS.read_bytes())
    done = run("--save", "mine.data", cwd=tmp_path)
    assert done.returncode == 4 and b"mine.data: this file is not a SQLite database" in done.stderr
    assert (tmp_path / "mine.data").read_bytes() == CHAINS.read_bytes()
    (tmp_path / "mine.data").write_bytes(b"")
    assert run("--save", "mine.data", cwd=tmp_path).returncode == 0


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


def test_a_file_that_cannot_grow_is_an_error(tmp_path):
    path = tmp_path / "saved.db"
    done = subprocess.run([TOOLS / "pquery", "--save", path, MANY], capture_output=True,
                          timeout=TIMEOUT, preexec_fn=limit_files)
    assert done.returncode == 4 and b"File too large" in done.stderr, done.stderr
    assert not path.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
def test_a_signal_leaves_no_database(number, tmp_path):
    path = tmp_path / "saved.db"
    end_while_reading(["pquery", "--save", path, "-"], tmp_path, number)
    assert list(tmp_path.iterdir()) == []


def test_a_signal_leaves_an_older_database(tmp_path):
    path = tmp_path / "saved.db"
    assert run("--save", path, CHAINS).returncode == 0
    older = path.read_bytes()
    end_while_reading(["pquery", "--save", path, "-"], tmp_path, signal.SIGTERM)
    assert path.read_bytes() == older and list(tmp_path.iterdir()) == [path]


def test_a_database_of_a_recording_that_only_can_be_read(tmp_path):
    recording, path = tmp_path / "perf.data", tmp_path / "saved.db"
    recording.write_bytes(CHAINS.read_bytes())
    recording.chmod(0o440)
    assert run("--save", path, recording).returncode == 0
    assert path.stat().st_mode & 0o607 == 0o600


@pytest.mark.parametrize("args, words", [
    (["select 1", CHAINS], "takes no SQL"), (["-f", "csv", CHAINS], "'--format' does not apply"),
    (["-o", "x", CHAINS], "'--output' does not apply"), ([".schema"], "takes no SQL")])
def test_usage(args, words, tmp_path):
    done = run("--save", tmp_path / "saved.db", *args, cwd=tmp_path)
    assert done.returncode == 2 and words in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/dev/full", "-"])
def test_only_a_file_holds_a_database(path):
    done = run("--save", path, CHAINS)
    assert done.returncode == 4 and b"needs a regular file" in done.stderr
