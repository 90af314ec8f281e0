"""The default input of each tool: redirected standard input, otherwise perf.data, and never another
file without a message."""
import contextlib
import os
import pty
import shutil
import socket
import subprocess

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS, strict_json

PERF = FIXTURES / "perf"
HERE, OTHER = PERF / "02-callgraph-fp.data", PERF / "18-pipe.data"
HINT = "; standard input is read because no FILE is given"


@contextlib.contextmanager
def standard_input(kind, data=b""):
    """A standard input of some kind; pipes and sockets contain `data` of at most 64 KiB."""
    if kind == "terminal":
        ours, theirs = pty.openpty()
    elif kind == "null":
        ours, theirs = None, os.open("/dev/null", os.O_RDONLY)
    elif kind == "file":
        ours, theirs = None, os.memfd_create("stdin")
        os.write(theirs, data)
        os.lseek(theirs, 0, os.SEEK_SET)
    elif kind == "socket":
        left, right = socket.socketpair()
        left.sendall(data)
        left.shutdown(socket.SHUT_WR)
        ours, theirs = left.detach(), right.detach()
    else:
        theirs, ours = os.pipe()
        os.write(ours, data)
        if kind == "pipe":
            os.close(ours)
            ours = None
    yield theirs
    for fd in (ours, theirs):
        if fd is not None:
            os.close(fd)


@pytest.fixture
def run(tmp_path):
    """Function: runs a tool in a directory with perf.data."""
    shutil.copy(HERE, tmp_path / "perf.data")

    def run_tool(tool, *args, stdin):
        return subprocess.run([TOOLS / tool, *args], stdin=stdin, capture_output=True, cwd=tmp_path,
                              timeout=TIMEOUT, check=False)
    return run_tool


def events_of(done):
    assert (done.returncode, done.stderr) == (0, b"")
    return strict_json(done.stdout)["records"]


@pytest.fixture(scope="module")
def expected(decode):
    return {path: decode(path)["records"] for path in (HERE, OTHER)}


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["file", "pipe", "socket"])
def test_redirected_input_is_read(kind, run, expected, tmp_path, decode):
    assert expected[HERE] != expected[OTHER]
    with standard_input(kind, OTHER.read_bytes()) as stdin:
        assert events_of(run("pdecode", stdin=stdin)) == expected[OTHER]
    with standard_input(kind, OTHER.read_bytes()) as stdin:
        done = run("prepair", "-o", "fixed", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    samples = [record["ip"] for record in expected[OTHER] if record["type"] == "SAMPLE"]
    assert [record["ip"] for record in decode(tmp_path / "fixed")["records"]
            if record["type"] == "SAMPLE"] == samples
    with standard_input(kind, OTHER.read_bytes()) as stdin:
        done = run("prepair", stdin=stdin)
    assert done.returncode == 2 and f"use -o FILE{HINT}\n" in done.stderr.decode()


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["terminal", "null"])
def test_nothing_is_redirected(kind, run, expected, tmp_path):
    """A terminal; cron, systemd, nohup and ssh -n have /dev/null."""
    with standard_input(kind) as stdin:
        assert events_of(run("pdecode", stdin=stdin)) == expected[HERE]
        assert run("prepair", stdin=stdin).returncode == 0
    assert (tmp_path / "perf.data.repaired").read_bytes()[:8] == b"PERFILE2"
    (tmp_path / "perf.data").unlink()
    for tool in ("pdecode", "prepair"):
        with standard_input(kind) as stdin:
            done = run(tool, stdin=stdin)
        assert (done.returncode, done.stdout) == (3, b"")
        assert (done.stderr.decode()
                == f"{tool}: perf.data: No such file or directory; give a FILE, or - for standard "
                   "input\n")


@pytest.mark.sanitize
def test_closed(expected, tmp_path):
    shutil.copy(HERE, tmp_path / "perf.data")
    done = subprocess.run(["sh", "-c", 'exec "$0" <&-', TOOLS / "pdecode"], cwd=tmp_path,
                          capture_output=True, timeout=TIMEOUT, check=False)
    assert events_of(done) == expected[HERE]


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["file", "pipe", "socket"])
@pytest.mark.parametrize("data", [b"", b"echo a script\npdecode > out.json\n"],
                         ids=["empty", "script"])
def test_wrappers(kind, data, run, tmp_path):
    """Some wrappers give an empty pipe, or the script that the shell reads. A failed recorder gives
    an empty pipe, too, so perf.data is not used."""
    for tool, args in (("pdecode", []), ("prepair", ["-o", "out"])):
        with standard_input(kind, data) as stdin:
            done = run(tool, *args, stdin=stdin)
        assert (done.returncode, done.stdout) == (3, b"")
        message = done.stderr.decode()
        assert (message.startswith(f"{tool}: standard input: ") and message.endswith(HINT + "\n")
                and message.count("\n") == 1)
    with standard_input(kind, data) as stdin:
        assert run("pencode", "-o", "out", stdin=stdin).returncode == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["perf.data"]


@pytest.mark.parametrize("named", [["perf.data"], ["-i", "perf.data"], ["--", "perf.data"]])
def test_a_named_file_is_read(named, run, expected):
    for kind in ("file", "pipe", "open pipe"):
        with standard_input(kind, OTHER.read_bytes()) as stdin:
            assert events_of(run("pdecode", *named, stdin=stdin)) == expected[HERE]


def test_waiting(tmp_path):
    """If a wrapper leaves a pipe open, a message states what the tool waits for."""
    with standard_input("open pipe") as stdin:
        process = subprocess.Popen([TOOLS / "pdecode"], stdin=stdin, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, cwd=tmp_path)
        try:
            assert (process.stderr.readline()
                    == b"pdecode: waiting for standard input, which is read because no FILE is "
                       b"given\n")
        finally:
            process.kill()
            process.communicate()


def test_terminal_gives_no_json(run, tmp_path):
    with standard_input("terminal") as stdin:
        done = run("pencode", "-o", "out", stdin=stdin)
    assert (done.returncode == 2
            and done.stderr.startswith(
                b"pencode: no FILE is given and standard input is a terminal"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("tool", ["pdecode", "prepair"])
def test_help_says_it(tool, run):
    assert b"Without FILE: standard input when it is a file or a pipe, else perf.data." in run(
        tool, "--help", stdin=subprocess.DEVNULL).stdout
    assert b"ssh \\-n" in run(tool, "--man", stdin=subprocess.DEVNULL).stdout


@pytest.mark.parametrize("tool, args", [("pdecode", ["-f", "jsonl"]), ("preport", ["-f", "csv"]),
                                        ("prepair", ["-o", "-"])])
def test_the_input_may_be_named_as_perf_does(tool, args, run):
    def output(*input_args):
        return run(tool, *args, *input_args, stdin=subprocess.DEVNULL).stdout
    other = output(OTHER)
    assert other == output("-i", OTHER) == output(f"--input={OTHER}") != output()
    done = run(tool, *args, "-i", OTHER, "perf.data", stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"{tool}: two inputs: '{OTHER}' and 'perf.data'\n")
