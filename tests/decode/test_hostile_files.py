"""Faulty inputs and outputs: each run ends with one line that states the problem, and the right
exit code."""
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import time

import pytest

from conftest import FIXTURES, TOOLS

pytestmark = pytest.mark.sanitize

FILE = FIXTURES / "perf" / "01-basic.data"
PIPE = FIXTURES / "perf" / "18-pipe.data"
TERA = 1 << 40


def records(document):
    return [record for record in document["records"] if record["type"] != "SKIPPED"]


def one_line(done, code):
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(b"pdecode: ") and done.stderr.count(b"\n") == 1, done.stderr
    return done.stderr.decode()


# --- inputs that are none -------------------------------------------------------------------------

def test_no_perf_data(run_pdecode, tmp_path):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    sock = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(sock))
        (tmp_path / "dir").mkdir()
        for path, word in ((empty, "not a perf.data"), ("/dev/null", "not a perf.data"),
                           (tmp_path / "absent", "No such file"),
                           (tmp_path / "dir", "dir: a directory without a file 'data', so it is "
                                              "no recording"),
                           (sock, "No such device"), ("/proc/self/mem", "Input/output error"),
                           (tmp_path / "empty" / "x", "Not a directory"),
                           ("/" + "x" * 5000, "too long")):
            done = run_pdecode([path])
            assert word in one_line(done, 3)
            assert done.stdout == b""


def test_a_window_that_does_not_fit_is_no_damage(run_pdecode):
    """Neither in the record that starts it, nor in those that continue it."""
    path = FIXTURES / "perf" / "16-zstd.data"
    errors = run_pdecode(["-f", "stats", "--memory", "1M", path]).stderr.decode().splitlines()
    assert len(errors) == 2 and run_pdecode([path]).returncode == 0
    assert all(line.endswith(": the memory limit is too low (--memory)") for line in errors)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_unreadable(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(FILE.read_bytes())
    path.chmod(0)
    os.chmod(tmp_path, 0o755)
    for parent in list(tmp_path.parents)[:3]:
        if str(parent).startswith("/tmp/"):
            os.chmod(parent, 0o755)
    try:
        done = subprocess.run([TOOLS / "pdecode", path], capture_output=True, user=65534,
                              group=65534, extra_groups=[])
    except PermissionError:
        pytest.skip("the tools can't be run by others")
    if done.returncode == 126:
        pytest.skip("the tools can't be run by others")
    assert "Permission denied" in one_line(done, 3)


def test_stdin_closed():
    done = subprocess.run(["sh", "-c", 'exec "$0" - <&-', TOOLS / "pdecode"], capture_output=True)
    assert "Bad file descriptor" in one_line(done, 3)


# --- outputs --------------------------------------------------------------------------------------

@pytest.mark.parametrize("tool", ["pdecode", "pencode"])
def test_output_that_fails(tool, tmp_path):
    source = FILE
    if tool == "pencode":
        source = tmp_path / "in.json"
        source.write_bytes(subprocess.run([TOOLS / "pdecode", FILE], capture_output=True).stdout)
    full = subprocess.run(["sh", "-c", f'exec "$0" {source} >/dev/full', TOOLS / tool],
                          capture_output=True)
    assert (full.returncode, b"No space left" in full.stderr) == (4, True), full.stderr
    closed = subprocess.run(["sh", "-c", f'exec "$0" {source} >&-', TOOLS / tool],
                            capture_output=True)
    assert (closed.returncode, b"Bad file descriptor" in closed.stderr) == (4, True), closed.stderr
    absent = subprocess.run([TOOLS / tool, source, "-o", tmp_path / "no" / "where"],
                            capture_output=True)
    assert (absent.returncode, b"No such file" in absent.stderr) == (4, True), absent.stderr


def test_output_with_an_io_error():
    """A terminal that was closed at the other end."""
    master, slave = pty.openpty()
    os.close(master)
    done = subprocess.run([TOOLS / "pdecode", FILE], stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    assert "Input/output error" in one_line(done, 4)


def test_nobody_reads():
    """Killed by SIGPIPE without a message, like other tools."""
    done = subprocess.run(["sh", "-c", f'"$0" {FILE} | true; exit 0', TOOLS / "pdecode"],
                          capture_output=True)
    assert done.stderr == b""


# --- files that change ----------------------------------------------------------------------------

@pytest.fixture
def slow_reader(tmp_path):
    """Starts pdecode on a copy of a file that is large enough to fill the pipe; returns the path of
    the copy."""
    path = tmp_path / "perf.data"
    data = bytearray(FILE.read_bytes())
    offset, size = struct.unpack_from("<QQ", data, 40)
    one = data[offset:offset + size]
    many = bytes(one) * 400
    struct.pack_into("<Q", data, 48, len(many))
    struct.pack_into("<4Q", data, 72, 0, 0, 0, 0)
    path.write_bytes(bytes(data[:offset]) + many)
    running = subprocess.Popen([TOOLS / "pdecode", "-j", "1", path], bufsize=0,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begin = running.stdout.read(1)
    time.sleep(0.3)

    def finish():
        out, err = running.communicate(timeout=60)
        return json.loads(begin + out), running.returncode, err
    yield path, finish
    if running.poll() is None:
        running.send_signal(signal.SIGKILL)


def test_a_file_that_shrinks(slow_reader):
    path, finish = slow_reader
    os.truncate(path, path.stat().st_size * 3 // 4)
    document, code, err = finish()
    assert code == 1 and err.strip()
    assert document["errors"] and document["summary"]["complete"] is False


def test_a_file_that_is_emptied(slow_reader):
    path, finish = slow_reader
    os.truncate(path, 0)
    document, code, err = finish()
    assert code == 1 and document["errors"] and err.strip()


def test_a_file_that_grows(slow_reader):
    path, finish = slow_reader
    with open(path, "ab") as out:
        out.write(b"\xff" * 1_000_000)
    document, code, _ = finish()
    assert code == 0 and document["errors"] == []


def test_a_file_that_vanishes(slow_reader):
    path, finish = slow_reader
    path.unlink()
    document, code, _ = finish()
    assert code == 0 and document["errors"] == []


def test_a_pipe_that_ends_in_a_record(run_pdecode):
    data = PIPE.read_bytes()
    for size in (17, 20, 200, 3333, len(data) - 1):
        done = run_pdecode(["-"], input=data[:size])
        document = json.loads(done.stdout)
        assert done.returncode == 1
        assert document["errors"][-1]["code"] in ("TRUNCATED", "PAYLOAD")
        assert document["summary"]["complete"] is False
    for size in range(16):
        assert run_pdecode(["-"], input=data[:size]).returncode == 3


def test_a_fifo(tmp_path, run_pdecode):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = subprocess.Popen(["sh", "-c", f"cat {PIPE} > {fifo}"])
    done = run_pdecode([fifo])
    writer.wait()
    assert done.returncode == 0 and json.loads(done.stdout)["errors"] == []


# --- holes ----------------------------------------------------------------------------------------

def sparse(path, data, size, last=b""):
    try:
        with open(path, "wb") as out:
            out.write(data)
            out.truncate(size)
            if last:
                out.seek(size - len(last))
                out.write(last)
    except OSError as error:
        pytest.skip(f"no file of that size here: {error}")


def test_a_hole_after_everything(tmp_path, run_pdecode):
    path = tmp_path / "hole"
    for last in (b"", b"x"):
        sparse(path, FILE.read_bytes(), 8 * TERA, last)
        done = run_pdecode([path], timeout=20)
        document = json.loads(done.stdout)
        assert done.returncode == 0 and document["errors"] == []
        assert document["file"]["gaps"] == ([{"offset": 8 * TERA - 1, "data": "78"}] if last
                                            else [])


def test_a_hole_after_the_records(tmp_path, run_pdecode):
    """The recorder was killed; the file had been extended beforehand."""
    data = bytearray(FILE.read_bytes())
    offset, size = struct.unpack_from("<QQ", data, 40)
    struct.pack_into("<Q", data, 48, 0)
    path = tmp_path / "hole"
    sparse(path, data[:offset + size], 8 * TERA)
    done = run_pdecode([path], timeout=20)
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert len(records(document)) == len(json.loads(run_pdecode([FILE]).stdout)["records"])
    assert sum(error["skipped"] for error in document["errors"]) >= 8 * TERA - offset - size


def test_nothing_but_a_hole(tmp_path, run_pdecode):
    path = tmp_path / "hole"
    sparse(path, b"", 8 * TERA)
    assert run_pdecode([path], timeout=20).returncode == 3
    sparse(path, FILE.read_bytes()[:104], 8 * TERA)
    assert run_pdecode([path], timeout=20).returncode in (1, 3)
