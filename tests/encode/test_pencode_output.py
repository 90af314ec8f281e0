"""Output of pencode: exit codes, memory, help; no files after a failure."""
import json
import os
import resource
import signal
import stat
import subprocess
import sys

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS
from encoding import document, pdecode, run
from perfdata.catalog import catalog

CATALOG = {name: entry.data for name, entry in catalog().items()}
DATA = CATALOG["file.le"]
BAD = b'{"records":[{"type":"COMM","pid":"x"}]}'
AS_ROOT = os.geteuid() == 0


@pytest.fixture
def text():
    return pdecode(DATA)[1]


@pytest.fixture
def inside(tmp_path):
    """Function: the content of the directory, except for files from before the test."""
    return lambda: sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.sanitize
def test_to_a_file(text, tmp_path, inside):
    out = tmp_path / "out.data"
    done = run("pencode", "-o", out, stdin=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert out.read_bytes() == DATA
    assert inside() == ["out.data"]
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_is_there_keeps_its_mode(text, tmp_path, inside):
    out = tmp_path / "out.data"
    out.write_bytes(b"old")
    out.chmod(0o600)
    (tmp_path / "link").symlink_to(out)
    assert run("pencode", "-o", tmp_path / "link", stdin=text).returncode == 0
    assert out.read_bytes() == DATA and stat.S_IMODE(out.stat().st_mode) == 0o600
    assert (tmp_path / "link").is_symlink()
    assert inside() == ["link", "out.data"]


@pytest.mark.sanitize
def test_a_link_to_a_file_that_is_not_there_yet(text, tmp_path, inside):
    (tmp_path / "link").symlink_to("out.data")
    assert run("pencode", "-o", tmp_path / "link", stdin=BAD).returncode == 3
    assert inside() == ["link"]
    assert run("pencode", "-o", tmp_path / "link", stdin=text).returncode == 0
    assert (tmp_path / "out.data").read_bytes() == DATA and (tmp_path / "link").is_symlink()


@pytest.mark.sanitize
def test_nothing_is_written_of_a_wrong_record(tmp_path, inside):
    out = tmp_path / "out.data"
    assert run("pencode", "-o", out, stdin=BAD).returncode == 3
    assert inside() == []
    out.write_bytes(b"old")
    assert run("pencode", "-o", out, stdin=BAD).returncode == 3
    assert out.read_bytes() == b"old" and inside() == ["out.data"]
    bad_directory = b'{"file":{"mode":"directory"},' + BAD[1:]
    assert run("pencode", "-o", f"{tmp_path}/new/", stdin=bad_directory).returncode == 3
    assert inside() == ["out.data"]


def test_late_error_after_many_records(tmp_path, inside):
    line = (json.dumps({"kind": "record", "type": "COMM", "pid": 1, "tid": 1, "comm": "x" * 200})
            + "\n")
    done = run("pencode", "-o", tmp_path / "out",
               stdin=(line * 5000 + '{"kind":"record","type":"COMM","pid":{}}').encode())
    assert done.returncode == 3
    assert b"stdin:5001: pid: " in done.stderr
    assert inside() == []


@pytest.mark.sanitize
def test_output_is_input(text, tmp_path, inside):
    """Edited JSON is not lost; but a recording may be edited by a pipe."""
    (tmp_path / "x").mkdir()
    path = tmp_path / "x/data"
    path.write_bytes(text)
    (tmp_path / "link").symlink_to(path)
    for output in (path, tmp_path / "link", tmp_path / "x"):
        done = run("pencode", path, "-o", output)
        assert done.returncode == 2 and b"is both input and output" in done.stderr
    for there in ("-o '{}' < '{}'", "'{}' >> '{}'"):
        done = subprocess.run(f"'{TOOLS}/pencode' " + there.format(path, path), shell=True,
                              stderr=subprocess.PIPE, timeout=TIMEOUT)
        assert done.returncode == 2 and b"is both input and output" in done.stderr
    assert path.read_bytes() == text and inside() == ["link", "x"]
    path.write_bytes(DATA)
    again = subprocess.run(f"'{TOOLS}/pdecode' '{path}' | '{TOOLS}/pencode' -o '{path}'",
                           shell=True, timeout=TIMEOUT)
    assert again.returncode == 0 and path.read_bytes() == DATA


@pytest.mark.sanitize
def test_devices_are_written_into(text):
    before = os.stat("/dev/null")
    assert run("pencode", "-o", "/dev/null", stdin=text).returncode == 0
    assert (stat.S_ISCHR(os.stat("/dev/null").st_mode)
            and os.stat("/dev/null").st_ino == before.st_ino)
    assert run("pencode", "-o", "/dev/stdout", stdin=text).stdout == DATA
    assert run("pencode", "-o", "-", stdin=text).stdout == DATA


@pytest.mark.sanitize
@pytest.mark.parametrize("args", [("-o", "/dev/full"), ()], ids=["named", "stdout"])
def test_full_disk(text, args):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOLS / "pencode", *args], input=text, stdout=full,
                              stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert done.returncode == 4
    assert b"No space left" in done.stderr


def test_no_room_for_files(text, tmp_path, inside):
    """A limit on the file size, like a full disk: writing fails half-way."""
    line = (json.dumps({"kind": "record", "type": "COMM", "pid": 1, "tid": 1, "comm": "x" * 200})
            + "\n")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
    done = subprocess.run([TOOLS / "pencode", "-o", tmp_path / "out"], input=(line * 5000).encode(),
                          capture_output=True, preexec_fn=limit, timeout=TIMEOUT)
    assert done.returncode == 4
    assert b"File too large" in done.stderr
    assert inside() == []


def test_closed_stdout(text):
    done = subprocess.run([TOOLS / "pencode"], input=text, stderr=subprocess.PIPE, timeout=TIMEOUT,
                          preexec_fn=lambda: os.close(1))
    assert done.returncode == 4 and done.stderr


def test_reader_gone(text):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([TOOLS / "pencode"], input=text, stdout=write, stderr=subprocess.PIPE,
                          timeout=TIMEOUT)
    os.close(write)
    assert done.returncode == -signal.SIGPIPE and not done.stderr


@pytest.mark.sanitize
def test_places_that_can_not_be(text, tmp_path):
    assert run("pencode", "-o", tmp_path / "no" / "such", stdin=text).returncode == 4
    (tmp_path / "file").write_bytes(b"")
    assert run("pencode", "-o", tmp_path / "file" / "x", stdin=text).returncode == 4
    assert run("pencode", "-o", f"{tmp_path}/file/", stdin=text).returncode == 4
    done = run("pencode", stdin=text, env={**os.environ, "TMPDIR": str(tmp_path / "no")})
    assert done.returncode == 4 and b"TMPDIR" in done.stderr


@pytest.mark.skipif(AS_ROOT, reason="root may write everywhere")
def test_directory_without_permission(text, tmp_path):
    tmp_path.chmod(0o500)
    assert run("pencode", "-o", tmp_path / "out", stdin=text).returncode == 4


@pytest.mark.sanitize
@pytest.mark.parametrize("args", [("--compress=0",), ("--compress=23",), ("--compress=x",),
                                  ("--compress=",), ("-z1x",),
                                  ("--mode=fiel",), ("--byte-order=middle",), ("--memory=x",),
                                  ("a", "b"), ("--nonsense",)])
def test_usage(args):
    done = run("pencode", *args, stdin=b"{}")
    assert done.returncode == 2 and done.stderr and not done.stdout


PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10,
      done.stderr.decode(), sep="\\n")
"""


@pytest.mark.parametrize("element", ["{}", "[]", "1", '"a"', '{"a":1}'])
@pytest.mark.parametrize("text", ['{"kind":"record","x":[%s]}', '{"attrs":[%s]}',
                                  '{"features":{"x":[%s]}}'], ids=["line", "attrs", "features"])
def test_values_are_parsed_within_the_memory(element, text, tmp_path):
    """A value of 3 bytes takes up to 800 when it is parsed."""
    path = tmp_path / "in.json"
    path.write_text(text % ",".join([element] * 300_000))
    done = subprocess.run([sys.executable, "-c", PEAK, TOOLS / "pencode", "--memory=16M", "-o",
                           tmp_path / "out", path], stdout=subprocess.PIPE, check=True, text=True)
    code, peak, said = done.stdout.split("\n", 2)
    assert int(code) == 3 and int(peak) < 48, done.stdout
    assert "--memory" in said or "expected an object" in said


@pytest.mark.sanitize
def test_input_that_is_not_there(tmp_path, inside):
    done = run("pencode", tmp_path / "none", "-o", tmp_path / "out")
    assert done.returncode == 3 and b"No such file" in done.stderr
    done = run("pencode", tmp_path, "-o", tmp_path / "out")
    assert (done.returncode, done.stderr.decode()) == (3, f"pencode: {tmp_path}: Is a directory\n")
    assert inside() == []


def test_directory_over_another_recording(tmp_path):
    """An old data.N that would be read with the new ones is an error; nothing is changed."""
    _, text = pdecode(FIXTURES / "perf" / "20-threads.data", "--blobs", "full")
    out = tmp_path / "out"
    assert run("pencode", "-o", f"{out}/", stdin=text).returncode == 0
    assert run("pencode", "-o", out, stdin=text).returncode == 0    # over itself
    (out / "data.7").write_bytes(b"other")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = run("pencode", "-o", out, stdin=text)
    assert done.returncode == 4 and b"data.7" in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_directory_needs_one(tmp_path, inside):
    _, text = pdecode(FIXTURES / "perf" / "20-threads.data")
    for out in (tmp_path / "out", "-"):
        done = run("pencode", "-o", out, stdin=text)
        assert (done.returncode == 3
                and b"the recording is a directory: write it to one (-o DIR/), or" in done.stderr)
    assert inside() == []
    assert run("pencode", "-o", tmp_path / "out", "--mode=file", stdin=text).returncode == 0


def test_file_that_would_become_a_directory(text, tmp_path, inside):
    """DIR/data alone would look like a recording with threads. The message states what to use
    instead, which works."""
    (tmp_path / "out").mkdir()
    lines = run("pdecode", "-f", "jsonl", "-", stdin=DATA).stdout
    parts = [b'{"kind":"record","type":"COMM","pid":1,"tid":1,"comm":"a"}',
             b'{"attrs":[{"attr":{"type":1}}]}']
    threads = pdecode(FIXTURES / "perf" / "20-threads.data")[1]
    for args, out, given in [((), out, given) for out in ("out", "out/", "new/")
                             for given in (text, lines, *parts)] + [
            (("--mode=file",), "out", threads), (("--mode=pipe",), "new/", threads)]:
        done = run("pencode", "-o", tmp_path / out if out == "out" else f"{tmp_path}/{out}", *args,
                   stdin=given)
        place = f"{tmp_path}/{out.rstrip('/')}/"
        assert (done.returncode, done.stderr.decode()) == (4,
                                                           f"pencode: {place}: is a directory, but "
                                                           "the recording is one file: "
                                                              f"use -o {place}perf.data\n")
        assert inside() == ["out"] and not list((tmp_path / "out").iterdir())
    assert run("pencode", "-o", tmp_path / "out" / "perf.data", stdin=text).returncode == 0
    assert (tmp_path / "out" / "perf.data").read_bytes() == DATA


def test_directory_that_can_not_hold_it(tmp_path, inside):
    """The message names the entry that is in the way, and nothing is changed."""
    _, text = pdecode(FIXTURES / "perf" / "20-threads.data")
    for name in ("data", "data.1"):
        (tmp_path / name / name).mkdir(parents=True)
        done = run("pencode", "-o", tmp_path / name, stdin=text)
        assert done.returncode == 4 and b": Is a directory" in done.stderr
        assert [path.name for path in (tmp_path / name).iterdir()] == [name]


def test_help_and_man():
    said = run("pencode", "--help")
    assert said.returncode == 0
    for word in "--output --byte-order --mode --compress --memory JSON".split():
        assert word.encode() in said.stdout
    man = run("pencode", "--man")
    assert man.returncode == 0 and b".TH" in man.stdout


# --- memory ---

# The peak of a child includes that of its parent before exec, and pytest is large: a small parent
# is needed.
LAUNCHER = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def peak(args, path):
    """The peak memory of pencode in KiB."""
    with open(path, "rb") as source:
        done = subprocess.run([sys.executable, "-c", LAUNCHER, TOOLS / "pencode", *args, "-o",
                               "/dev/null"],
                              stdin=source, stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("form", ["jsonl", "json"])
@pytest.mark.long
def test_memory_does_not_grow(form, tmp_path):
    """60 MB of JSON are encoded in less than 48 MiB."""
    doc = document(FIXTURES / "perf" / "02-callgraph-fp.data")
    doc["file"].pop("sections")
    records = ",\n".join(json.dumps({**r, "offset": 0}) for r in doc["records"])
    path = tmp_path / "in"
    with open(path, "w") as f:
        if form == "jsonl":
            f.write(json.dumps({"kind": "file", **doc["file"]}) + "\n")
            for attr in doc["attrs"]:
                f.write(json.dumps({"kind": "attr", **attr}) + "\n")
            records = "".join(json.dumps({"kind": "record", **r}) + "\n" for r in doc["records"])
        else:
            f.write(
                f'{{"file":{json.dumps(doc["file"])},"attrs":{json.dumps(doc["attrs"])},"records":['
                + records)
        while f.tell() < 60_000_000:
            f.write(records if form == "jsonl" else ",\n" + records)
        if form == "json":
            f.write("]}")
    for args in (), ("--compress",), ("--mode", "pipe"):
        assert peak(args, path) < 48 * 1024
