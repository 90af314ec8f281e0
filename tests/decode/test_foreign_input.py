"""Inputs that are not perf.data files, or that are compressed with hostile intent: they are
identified, at little cost."""
import bz2
import gzip
import io
import json
import lzma
import random
import resource
import struct
import subprocess
import tarfile
import zipfile
import zlib

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS

PERF = FIXTURES / "perf"
PLAIN = PERF / "02-callgraph-fp.data"
PIPE = PERF / "18-pipe.data"
PACKINGS = {"xz": lzma.compress, "bzip2": bz2.compress, "gzip": gzip.compress}


def run(tool, *args, **options):
    return subprocess.run([TOOLS / tool, *args], capture_output=True, timeout=TIMEOUT, check=False,
                          **options)


# --- what it is -----------------------------------------------------------------------------------

def tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(PLAIN, "perf.data")
    return out.getvalue()


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.write(PLAIN, "perf.data")
    return out.getvalue()


def perf_prints(*args):
    def text(perf):
        return subprocess.run([perf, *args, "-i", PLAIN], capture_output=True, check=False).stdout
    return text


FOREIGN = {
    "tar": (tar, "it is a tar archive; unpack it with tar xf"),
    "tar.gz": (lambda: gzip.compress(tar()), "it is a tar archive; unpack it with tar xf"),
    "tar.xz": (lambda: lzma.compress(tar()), "it is a tar archive; unpack it with tar xf"),
    "tar.bz2": (lambda: bz2.compress(tar()), "it is a tar archive; unpack it with tar xf"),
    "zip": (zipped, "it is a zip archive; unpack it with unzip"),
    "twice": (lambda: gzip.compress(lzma.compress(PLAIN.read_bytes())),
              "it is compressed twice; unpack it once"),
    "elf": ((TOOLS / "pdecode").read_bytes,
            "it is an ELF file: a program, a library or a core dump"),
    "json of pdecode": (lambda: run("pdecode", PLAIN).stdout,
                        "it is JSON of pdecode; pencode converts it to perf.data"),
    "lines of pdecode": (lambda: run("pdecode", "-f", "jsonl", PLAIN).stdout,
                         "it is JSON of pdecode; pencode converts it to perf.data"),
    "indented": (lambda: run("pdecode", "--pretty", PLAIN).stdout,
                 "it is JSON; pencode converts the JSON of pdecode to perf.data"),
    "other json": (lambda: json.dumps([{"name": "x"}]).encode(),
                   "it is JSON; pencode converts the JSON of pdecode to perf.data"),
    "perf script": (perf_prints("script"),
                    "it is output of perf script; decode the perf.data that it came from"),
    "perf report": (perf_prints("report", "--stdio"),
                    "it is output of perf; decode the perf.data that it came from"),
    "perf script --header": (perf_prints("script", "--header"),
                             "it is output of perf; decode the perf.data that it came from"),
    "report-sample": (lambda: b"SIMPLEPERF\1\0" + bytes(40),
                      "it is output of simpleperf report-sample; decode the perf.data that it was "
                      "made from"),
    "text": (lambda: "Grüße\n1.5: no time\n".encode() * 10, "it is text"),
    "html": (lambda: b"<!DOCTYPE html>\n<title>404</title>",
             "it is an HTML page, such as a failed download"),
    "random": (lambda: random.Random(1).randbytes(1000), None),
    "zeros": (lambda: bytes(4096), "it begins with zeros: its header was never written"),
    "empty": (lambda: b"", "it is empty"),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", FOREIGN)
def test_other_formats_are_named(kind, tmp_path, request):
    make, what = FOREIGN[kind]
    content = make(request.getfixturevalue("perf")) if kind.startswith("perf ") else make()
    path = tmp_path / "file"
    path.write_bytes(content)
    problem = f"{path}: not a perf.data file" + (f": {what}" if what else "")
    for tool in ("pdecode", "prepair"):
        done = run(tool, path, "-o", tmp_path / "out")
        assert (done.returncode, done.stderr.decode()) == (3, f"{tool}: {problem}\n")
        assert not (tmp_path / "out").exists()
    done = run("pdecode", "-", input=content)
    assert done.stderr.decode() == f"pdecode: standard input: {problem.split(': ', 1)[1]}\n"


@pytest.mark.sanitize
@pytest.mark.parametrize("packing", PACKINGS)
def test_wrapping_without_content(packing, tmp_path):
    whole = PACKINGS[packing](PLAIN.read_bytes())
    for content, problem in ((PACKINGS[packing](b""), "not a perf.data file: it is empty"),
                             (whole[:18], f"the {packing} stream is damaged"),
                             (whole[:10] + bytes(50), f"the {packing} stream is damaged")):
        (tmp_path / "file").write_bytes(content)
        done = run("pdecode", tmp_path / "file")
        assert ((done.returncode, done.stderr.decode())
                == (3, f"pdecode: {tmp_path}/file: {problem}\n")), content


# --- made to do harm ------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("packing", ["xz", "bzip2"])
@pytest.mark.parametrize("path", [PLAIN, PIPE], ids=lambda path: path.name)
def test_damaged_wrappings(packing, path, tmp_path):
    """Compressed files, changed and cut at any byte: pdecode ends normally, and reports incomplete
    ones."""
    whole = PACKINGS[packing](path.read_bytes())
    expected, dice = run("pdecode", path).stdout, random.Random(3)
    strip = (lambda out: out[out.index(b'"data_offset"'):]) if path == PLAIN else lambda out: out[
        out.index(b'"attrs"'):]
    for turn in range(60):
        at = dice.randrange(10, len(whole))
        broken = (whole[:at] if turn % 3 == 0 else whole[:at]
                  + bytes([whole[at] ^ (1 << dice.randrange(8))]) + whole[at + 1:])
        done = run("pdecode", "-", input=broken)
        assert done.returncode in (0, 1, 3), (turn, at, done.stderr)
        assert done.returncode or strip(done.stdout) == strip(expected), (turn, at)
        assert done.returncode == 0 or done.stderr


def with_dictionary(size):
    return [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": size}]


def declares_dictionary(data, bits):
    """The xz file with another dictionary size in its block header: 40 means 4 GiB - 1."""
    header_size = (data[12] + 1) * 4
    header = bytearray(data[12:12 + header_size])
    at = header.index(b"\x21\x01") + 2
    header[at] = bits
    header[-4:] = struct.pack("<I", zlib.crc32(bytes(header[:-4])))
    return data[:12] + bytes(header) + data[12 + header_size:]


@pytest.mark.sanitize
def test_memory_that_it_asks_for():
    """A dictionary is charged to the limit before it is allocated."""
    data = lzma.compress(PIPE.read_bytes(), filters=with_dictionary(1 << 20))
    assert run("pdecode", "-", input=data).returncode == 0
    said = (3, b"pdecode: standard input: the memory limit is too low (--memory)\n")
    for bits, args in ((40, ()), (33, ()), (26, ("--memory", "16M"))):
        done = run("pdecode", *args, "-", input=declares_dictionary(data, bits))
        assert (done.returncode, done.stderr) == said, bits
    done = run("pdecode", "--memory", "3M", "-", input=bz2.compress(PIPE.read_bytes(), 9))
    assert (done.returncode, done.stderr) == said


def seconds(data):
    """CPU time of pdecode."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = spent()
    done = run("pdecode", "-", input=data)
    assert done.returncode == 0, done.stderr
    return spent() - before


@pytest.mark.parametrize("packing", PACKINGS)
def test_members_without_number(packing):
    """Empty members that each need memory: clearing it every time would take minutes."""
    nothing = PACKINGS[packing](b"")
    other = bz2.compress(b"", 1) if packing == "bzip2" else nothing
    assert seconds(PACKINGS[packing](PIPE.read_bytes())
                   + (nothing + other) * (500_000 // len(nothing))) < 2


@pytest.mark.parametrize("packing", ["xz", "bzip2"])
def test_bomb(packing, tmp_path):
    """Only a window of a large expansion is in memory."""
    rounds = PACKINGS[packing](struct.pack("<IHH", 68, 0, 8) * 8192)    # FINISHED_ROUND
    content = PACKINGS[packing](PIPE.read_bytes()) + rounds * 400
    assert len(content) < 1 << 20    # of 26 MB
    (tmp_path / "bomb").write_bytes(content)
    done = subprocess.run(["sh", "-c", 'ulimit -v 100000; exec "$0" -j 1 -f stats --sandbox=never '
                                       '--memory 16M "$1"',
                           TOOLS / "pdecode", tmp_path / "bomb"], capture_output=True,
                          timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by_type"]["FINISHED_ROUND"]["records"] >= 8192 * 400
