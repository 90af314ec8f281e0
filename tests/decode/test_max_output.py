"""--max-output: compressed input expands to at most this size; cutting it off is an error."""
import gzip
import json
import struct
import subprocess

import pytest

from conftest import TOOLS
from perfdata import features as f
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe
from perfdata.sample import sample

ATTR = attr("IP|TID|TIME")
BLOCK = 128 << 10
MIB = 1 << 20


def frame(blocks):
    """A zstd frame of this number of blocks, each one repeated byte."""
    def block(i):
        return struct.pack("<I", (i == blocks - 1) | 1 << 1 | BLOCK << 3)[:3] + b"\0"

    return struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3) + b"".join(map(block, range(blocks)))


def expands_to(size):
    samples = [sample(ATTR, ip=5, pid=7, tid=8, time=1000 + i) for i in range(3)]
    return File(attrs=[(ATTR, [1])], records=[samples, r.compressed(frame(size // BLOCK))],
                features={27: f.compressed()}).build("<")


def run(tool, data, *args):
    done = subprocess.run([TOOLS / tool, *args, "-"], input=data, capture_output=True, check=False)
    return done.stdout, done.returncode, done.stderr.decode()


def decode(data, *args):
    out, status, _ = run("pdecode", data, "--blobs", "omit", *args)
    return json.loads(out), status


def limits(document):
    return [error for error in document["errors"] if error["code"] == "LIMIT"]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("limit", ["1M", "3000x", "1048576"])
def test_records_become_no_more_than_that(limit, jobs):
    data = expands_to(16 * MIB)
    document, status = decode(data, "--max-output", limit, "-j", jobs)
    most = 3000 * len(data) if limit.endswith("x") else MIB
    assert (status == 1 and len(limits(document)) == 1
            and "--max-output" in limits(document)[0]["message"])
    assert most / 2 < document["summary"]["skipped"] < most + MIB
    assert [record["type"] for record in document["records"]].count("SAMPLE") == 3


@pytest.mark.parametrize("limit", ["0", "0x", "17M", "100000x"])
def test_output_below_the_limit_is_expanded(limit):
    document, _ = decode(expands_to(16 * MIB), "--max-output", limit)
    assert not limits(document) and document["summary"]["skipped"] >= 16 * MIB - BLOCK


def test_a_file_that_is_compressed_as_a_whole_too(tmp_path):
    data = gzip.compress(Pipe([r.header_attr(ATTR, [1])]).build("<") + bytes(16 * MIB))
    path = tmp_path / "perf.data.gz"
    path.write_bytes(data)
    done = subprocess.run([TOOLS / "pdecode", "-f", "stats", "--max-output=100x", path],
                          capture_output=True, check=False)
    assert done.returncode == 1 and b"--max-output" in done.stderr
    assert 50 * len(data) < json.loads(done.stdout)["skipped"] < 100 * len(data) + MIB
    assert not limits(decode(data)[0])


def test_prepair_says_so_and_keeps_the_rest(tmp_path):
    path = tmp_path / "out"
    _, status, said = run("prepair", expands_to(16 * MIB), "--max-output=1M", "-o", str(path))
    assert status == 1 and "--max-output" in said
    assert [record["type"] for record in decode(path.read_bytes())[0]["records"]] == ["SAMPLE"] * 3


@pytest.mark.parametrize("wrong",
                         ["x", "12q", "1Mx", "-1", "99999999999999999999", "20000000T", ""])
def test_a_wrong_limit_is_refused(wrong):
    _, status, said = run("pdecode", b"", f"--max-output={wrong}")
    assert status == 2 and "expected a ratio (100x) or a size (2G)" in said
