"""Attributes that read as zeros, like a block that never reached the disk: EVENT_DESC has a copy of
each."""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from perf_counts import stats

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
FILES = ["01-basic", "12-tracepoints", "43-multi-event", "16-zstd"]
IDS = 16        # size of the ids' section at the end of an entry


def zeroed(path, first, last):
    """The file with bytes of each entry of the attrs section zeroed; last: from the entry's end."""
    data = bytearray(path.read_bytes())
    stride, at, size = struct.unpack_from("<3Q", data, 16)
    for entry in range(at, at + size, stride):
        data[entry + first:entry + stride - last] = bytes(stride - last - first)
    return data


def samples(document):
    return [{key: value for key, value in record.items() if key != "offset"}
            for record in document["records"] if record["type"] == "SAMPLE"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("first, last", [(0, 0), (0, IDS), (8, IDS), (24, 60)],
                         ids=["entry", "attr", "from config", "sample_type"])
def test_zeros_are_restored(name, first, last, run_pdecode, decode, tmp_path, perf):
    source, path, fixed = PERF / f"{name}.data", tmp_path / "zeroed.data", tmp_path / "fixed.data"
    path.write_bytes(zeroed(source, first, last))
    done = run_pdecode([path])
    document, whole = json.loads(done.stdout), decode(source)
    assert done.returncode == 1
    assert {e["code"] for e in document["errors"]} == {"RESTORED"}
    assert len(document["errors"]) == len(whole["attrs"])
    for attr, intact in zip(document["attrs"], whole["attrs"]):
        assert attr.pop("restored") is True
        assert attr == intact
    assert samples(document) == samples(whole) != []
    again = subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True, timeout=60)
    assert again.stdout == path.read_bytes() or name == "16-zstd"
    repaired = subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                              timeout=60)
    assert repaired.returncode == 1
    assert stats(perf, fixed)["SAMPLE"] == stats(perf, source)["SAMPLE"]


def ids_section(data):
    """Begin and end of the ids, which perf writes between the header and the attributes."""
    return 104, struct.unpack_from("<Q", data, 24)[0]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("attrs", ["intact", "zeroed"])
def test_zeroed_ids_are_those_of_the_copy(name, attrs, run_pdecode, decode, tmp_path, perf):
    source, path, fixed = PERF / f"{name}.data", tmp_path / "zeroed.data", tmp_path / "fixed.data"
    data = zeroed(source, 0, IDS) if attrs == "zeroed" else bytearray(source.read_bytes())
    first, last = ids_section(data)
    data[first:last] = bytes(last - first)
    path.write_bytes(data)
    done, whole = run_pdecode([path]), decode(source)
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert {(e["code"], e["field"]) for e in document["errors"]} == \
        {("RESTORED", "ids")} | ({("RESTORED", "attr")} if attrs == "zeroed" else set())
    for attr, intact in zip(document["attrs"], whole["attrs"]):
        assert [number for number in attr["ids"] if number] == intact["ids"]
    assert samples(document) == samples(whole) != []
    again = subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True, timeout=60)
    assert again.stdout == data or name == "16-zstd"
    repaired = subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                              timeout=60)
    assert repaired.returncode == 1
    assert stats(perf, fixed)["SAMPLE"] == stats(perf, source)["SAMPLE"]


def test_an_id_that_differs_is_noted(run_pdecode, decode, tmp_path):
    """It is not known which of the two is right: samples may have either."""
    source, path = PERF / "43-multi-event.data", tmp_path / "differs.data"
    data = bytearray(source.read_bytes())
    data[ids_section(data)[0]] ^= 1
    path.write_bytes(data)
    quiet, loud = run_pdecode([path]), run_pdecode(["-v", path])
    document, whole = json.loads(quiet.stdout), decode(source)
    assert (quiet.returncode, quiet.stderr, loud.returncode) == (0, b"", 0)
    assert b"ids: this copy differs from the header's" in loud.stderr
    assert samples(document) == samples(whole) != []


def test_statistics_count_by_code(run_pdecode, tmp_path):
    path = tmp_path / "zeroed.data"
    path.write_bytes(zeroed(PERF / "43-multi-event.data", 0, 0))
    counts = json.loads(run_pdecode(["-f", "stats", path]).stdout)
    assert counts["errors_by_code"] == {"RESTORED": counts["errors"]} == {"RESTORED": 8}


def test_without_a_copy(run_pdecode, tmp_path):
    """Without the features the fields of samples are unknown, which is reported."""
    data = zeroed(PERF / "01-basic.data", 0, 0)
    at, size = struct.unpack_from("<2Q", data, 40)
    path = tmp_path / "zeroed.data"
    path.write_bytes(data[:at + size])
    done = run_pdecode([path])
    codes = {e["code"] for e in json.loads(done.stdout)["errors"] if e.get("record") == "SAMPLE"}
    assert (done.returncode, codes) == (1, {"TRAILING"})


def test_a_copy_that_differs_is_noted(run_pdecode, decode, tmp_path):
    """It is not known which of the two is right: that of the header is used."""
    source, path = PERF / "01-basic.data", tmp_path / "differs.data"
    data = bytearray(source.read_bytes())
    at = struct.unpack_from("<Q", data, 24)[0] + 16     # sample_freq, 2000
    data[at] ^= 1
    path.write_bytes(data)
    quiet, loud = run_pdecode([path]), run_pdecode(["-v", path])
    assert (quiet.returncode, quiet.stderr, loud.returncode) == (0, b"", 0)
    assert b"differs from the header's" in loud.stderr
    assert json.loads(quiet.stdout)["attrs"][0]["attr"]["sample_freq"] == 2001


def test_a_damaged_copy_restores_nothing(run_pdecode, decode, tmp_path):
    """A few zeros between other bytes are the attribute's own: no block of zeros is there."""
    source, path = PERF / "01-basic.data", tmp_path / "copy.data"
    data = bytearray(source.read_bytes())
    at = struct.unpack_from("<Q", data, 24)[0]
    copy = data.index(data[at:at + 128], at + 128)
    data[copy + 24 + 2] ^= 2        # of sample_type: one whose field samples do not have
    path.write_bytes(data)
    done = run_pdecode([path])
    document, whole = json.loads(done.stdout), decode(source)
    assert (done.returncode, document["errors"]) == (0, [])
    assert samples(document) == samples(whole) != []


@pytest.mark.parametrize("own, code", [(1, "SIZE"), (63, "SIZE"), (64, None), (0x100, "TRUNCATED"),
                                       (0xffffffff, "TRUNCATED")])
def test_a_size_that_no_recorder_writes(own, code, run_pdecode, tmp_path):
    """An attribute states its size: one smaller than the first kernels', or larger than the entry,
    is damage."""
    data = bytearray((PERF / "43-multi-event.data").read_bytes())
    stride, at = struct.unpack_from("<2Q", data, 16)
    struct.pack_into("<I", data, at + stride + 4, own)
    path = tmp_path / "size.data"
    path.write_bytes(data)
    done = run_pdecode([path])
    found = [e["code"] for e in json.loads(done.stdout)["errors"] if e["record"] == "attrs"
             and e["offset"] == at + stride]
    assert (code in found) if code else not {"SIZE", "TRUNCATED"} & set(found), found
    assert done.returncode == 1 or not code


@pytest.mark.parametrize("own, damaged", [(64, False), (0x100, True), (0xffffffff, True)])
def test_a_size_that_no_recorder_writes_in_a_pipe(own, damaged, run_pdecode, tmp_path):
    """HEADER_ATTR with an attribute that states more bytes than the record has is decoded as far as
    it is there."""
    data = bytearray((PERF / "18-pipe.data").read_bytes())
    at = next(at for at in range(16, len(data), 8) if struct.unpack_from("<I", data, at)[0] == 64)
    struct.pack_into("<I", data, at + 12, own)
    path = tmp_path / "size.data"
    path.write_bytes(data)
    done = run_pdecode([path])
    document = json.loads(done.stdout)
    found = [e["code"] for e in document["errors"] if e["offset"] == at]
    assert found == (["TRUNCATED"] if damaged else []) or (not damaged and "TRUNCATED" not in found)
    assert done.returncode == 1 or not damaged
    attr = next(record for record in document["records"] if record["offset"] == at)["attr"]
    assert attr["size"] == own and attr["sample_type"]["names"]


@pytest.mark.parametrize("bit", [0, 1, 2, 6, 16])
@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event", "09-regs"])
@pytest.mark.parametrize("place", ["header", "copy"])
def test_a_wrong_bit_of_sample_type(name, bit, place, run_pdecode, decode, tmp_path, perf):
    """All samples would be unreadable; they tell whether the attribute or its copy is right."""
    source, path, fixed = PERF / f"{name}.data", tmp_path / "wrong.data", tmp_path / "fixed.data"
    data, whole = bytearray(source.read_bytes()), decode(source)
    entry = struct.unpack_from("<Q", data, 24)[0]
    if place == "copy":
        section, = [s for s in whole["file"]["sections"] if s["name"] == "EVENT_DESC"]
        entry = section["offset"] + 8
    data[entry + 24 + bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    done = run_pdecode(["-v", path])
    document = json.loads(done.stdout)
    assert samples(document) == samples(whole) != []
    restored = [e for e in document["errors"] if e["code"] == "RESTORED"]
    assert [attr.get("restored") for attr in document["attrs"]].count(True) == len(restored)
    assert len(restored) == (1 if place == "header" else 0)
    if restored:
        assert b"the samples fit this copy, which is used" in done.stderr
    again = subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True, timeout=60)
    assert (again.stdout, again.stderr) == (data, b"")
    repaired = subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                              timeout=60)
    assert repaired.returncode == (1 if restored else 0)
    assert stats(perf, fixed)["SAMPLE"] == stats(perf, source)["SAMPLE"]
    assert decode(fixed)["attrs"][0]["attr"] == whole["attrs"][0]["attr"]
