"""Recordings whose newlines were changed on the way: a terminal, such as that of "docker exec -t",
writes "\\r\\n" for "\\n"."""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe
from perfdata.sample import sample

pytestmark = pytest.mark.sanitize

ATTR = attr("IP|TID|TIME|PERIOD")
PIPES = ["18-pipe", "19-pipe-tp", "A2-raw-all-pipe"]
FILES = ["01-basic", "12-tracepoints", "16-zstd", "43-multi-event"]
REMARK = ("a terminal, or a transfer as text, has added a carriage return to each newline: these "
          "are left out")


def samples(ips):
    return [sample(ATTR, ip=ip, pid=7, tid=8, time=1000 + i, period=i)
            for i, ip in enumerate(ips)]


def pipe(ips, order="<"):
    return Pipe([r.header_attr(ATTR, [42]), *samples(ips)]).build(order)


def shown_by(terminal):
    return terminal.replace(b"\n", b"\r\n")


@pytest.fixture
def read(run_pdecode, tmp_path):
    def read(data):
        path = tmp_path / "t.data"
        path.write_bytes(data)
        done = run_pdecode([path])
        return json.loads(done.stdout), done, path
    return read


def repaired(path, tmp_path):
    fixed = tmp_path / "fixed"
    subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True, timeout=60)
    return fixed.read_bytes()


def check(data, read, tmp_path):
    """All is read as it was, the change is reported, and prepair and pencode take it back."""
    whole, _, _ = read(data)
    document, done, path = read(shown_by(data))
    assert done.returncode == 1
    assert [(error["code"], error["message"]) for error in document["errors"]] \
        == [("RESTORED", REMARK)]
    assert [document[part] for part in ("records", "attrs", "features")] \
        == [whole[part] for part in ("records", "attrs", "features")]
    assert document["file"]["complete"] == whole["file"]["complete"]
    (tmp_path / "whole").write_bytes(data)
    assert repaired(path, tmp_path) == repaired(tmp_path / "whole", tmp_path)
    text = subprocess.run([TOOLS / "pdecode", "--blobs", "full", path], capture_output=True,
                          timeout=60).stdout
    again = subprocess.run([TOOLS / "pencode"], input=text, capture_output=True, timeout=60)
    assert again.stdout == data


@pytest.mark.parametrize("name", PIPES + FILES)
def test_a_recording_of_perf(name, read, tmp_path):
    source = FIXTURES / "perf" / f"{name}.data"
    check(source.read_bytes(), read, tmp_path)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("last", [0x0d0d0d0d, 0x0a0d0a0d, 0x0d000000000000])
def test_carriage_returns_of_the_recording_stay(order, last, read, tmp_path):
    check(pipe([0x0d0a0d0a, 0x0a0a0d0d, 0x0d, 0x0a0a0a0a0a0a, last], order), read, tmp_path)


def test_long_recordings(read, tmp_path):
    """The pieces that are read end anywhere."""
    check(pipe([0x0d0a0d0a0d0a0d0d + i for i in range(20_000)]), read, tmp_path)


@pytest.mark.parametrize("ips", [[0x0d0a, 0x0d0a], [0x0d0a] * 9 + [0x0a]],
                         ids=["few newlines", "one without"])
def test_an_intact_recording_is_not_changed(ips, read):
    document, done, _ = read(pipe([struct.unpack(">Q", struct.pack("<Q", ip))[0] for ip in ips]))
    assert done.returncode == 0 and len(document["records"]) == 1 + len(ips)


@pytest.mark.parametrize("order", "<>")
def test_a_stream_with_offsets(order, run_pdecode):
    """It is in a temporary file before it is looked at."""
    data = File(attrs=[(ATTR, [42])], records=samples([0x0a0a0a0a] * 9)).build(order)
    document = json.loads(run_pdecode(["-"], input=shown_by(data)).stdout)
    assert [error["message"] for error in document["errors"]] == [REMARK]
    assert [record["ip"] for record in document["records"]] == ["0xa0a0a0a"] * 9


def test_without_memory_a_file_is_to_be_copied_again(run_pdecode, tmp_path):
    data = File(attrs=[(ATTR, [42])], records=samples([0x0a0a0a0a] * 90_000)).build()
    (tmp_path / "t.data").write_bytes(shown_by(data))
    done = run_pdecode(["--memory", "4M", tmp_path / "t.data"])
    assert done.returncode == 1
    assert json.loads(done.stdout)["errors"][0]["message"].endswith(
        "it was copied as text; copy it as binary")


@pytest.mark.parametrize("data, message", [
    (b"\xff\xfe" + "PERFILE2".encode("utf-16-le") + bytes(40), "converted to UTF-16 text"),
    (b"WARNING: no kernel symbols\r\n" + pipe([1]), "text precedes it"),
    (b"WARNING: no kernel symbols\n" + pipe([1], ">"), "text precedes it")])
def test_other_conversions_are_named(data, message, run_pdecode):
    done = run_pdecode(["-"], input=data)
    assert done.returncode == 3 and message in done.stderr.decode()
