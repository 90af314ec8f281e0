"""The table of this project's own features, after perf's: a recording with it has the same features
as an old one with bit 240 in its header, damage of it costs no other feature, and the bytes come
back.
"""
import itertools
import json
import struct
import subprocess

import pytest

from conftest import TOOLS, strict_json
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.wire import fstr
from test_account import faults_of

pytestmark = pytest.mark.sanitize

ATTR = attr("IP|TID|TIME|PERIOD")
PERFS = {3: fstr("box"), 5: fstr("6.1"), 7: f.nrcpus(2, 4)}
NAMES = f.pd_symbols([(2**32 - 1, 9, b"/bin/app", b"\1\2", [(0x1000, 2**64 - 1, 0, b"main")],
                       [0x1004], [0], [])], version=1)
OWN = {240: NAMES, 255: b"\2\3"}
RECORDS = [sample(ATTR, ip=0x1000 + i, pid=7, tid=8, time=1000 + i, period=i) for i in range(9)]
DATA_SIZE = 48      # its place in the header
HEAD, ENTRY = 16, 24


def build(order="<", **options):
    whole = {"attrs": [(ATTR, [42])], "records": RECORDS, "features": PERFS, "own_features": OWN}
    return bytearray(File(**{**whole, **options}).build(order))


def table_at(data, order="<"):
    """Where the own table begins."""
    at, size = struct.unpack_from(f"{order}2Q", data, 40)
    return at + size + 16 * sum(bin(byte).count("1") for byte in data[72:104])


@pytest.fixture
def read(run_pdecode, tmp_path):
    """Function: the document, after all its bytes came back and were accounted for."""
    numbers = itertools.count()

    def read(data):
        path = tmp_path / f"{next(numbers)}.data"
        path.write_bytes(data)
        done = run_pdecode([path])
        document = strict_json(done.stdout)
        assert done.returncode == bool(document["errors"]), done.stderr
        again = subprocess.run([TOOLS / "pencode", "-"], input=done.stdout, capture_output=True)
        assert again.returncode == 0 and again.stdout == data, again.stderr
        account = document["summary"]["account"]
        assert account["total"] == len(data) == sum(
            account[part] for part in ("header", "features", "records", "skipped", "gaps", "zeros",
                                       "unread"))
        return document
    return read


def names(document):
    return [section["name"] for section in document["file"]["sections"]]


@pytest.mark.parametrize("order", "<>")
def test_both_forms_have_the_same_features(order, read):
    new = read(build(order))
    old = read(build(order, features={**PERFS, **OWN}, own_features={}))
    assert new["features"] == old["features"] and new["errors"] == old["errors"] == []
    assert new["records"] == old["records"]
    assert new["features"]["PD_SYMBOLS"]["images"][0]["path"] == "/bin/app"
    assert new["file"]["adds_features"] == ["HOSTNAME", "VERSION", "NRCPUS"]
    assert old["file"]["adds_features"] == [*new["file"]["adds_features"], "PD_SYMBOLS",
                                            "FEATURE_255"]
    assert "gaps" not in new["file"] or new["file"]["gaps"] == []
    assert "own_feature_table" in names(new) and "own_feature_table" not in names(old)


@pytest.mark.parametrize("order", "<>")
def test_own_features_beside_bits_of_old_ones(order, read):
    """Features stay in the order of their numbers."""
    document = read(build(order, features={**PERFS, 241: b"\1"}))
    assert list(document["features"]) == ["HOSTNAME", "VERSION", "NRCPUS", "PD_SYMBOLS",
                                          "FEATURE_241", "FEATURE_255"]
    assert document["errors"] == []


def test_a_file_without_records_that_has_only_own_features(read):
    document = read(build(records=[], features={}))
    assert list(document["features"]) == ["PD_SYMBOLS", "FEATURE_255"]
    assert document["errors"] == [] and document["file"]["complete"] is True


COUNTS = {"none": 0, "one too few": 1, "one too many": 3, "as many as there may be": 16,
          "more than there may be": 17, "2^60": 1 << 60, "all bits": 2**64 - 1,
          "a size that wraps to that of two": (1 << 61) + 2}


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_a_wrong_count(count, order, read):
    document = read(build(order, own_count=count))
    found = [*document["features"]]
    assert found[:3] == ["HOSTNAME", "VERSION", "NRCPUS"] and len(document["records"]) == 9
    assert found[3:] == ["PD_SYMBOLS", "FEATURE_255"][:count]
    said = {(error["record"], error["code"]) for error in document["errors"]}
    assert said == ({("own_feature_table", "SIZE")} if count > 2 else set())


NUMBERS = {"perf's": 3, "the last below ours": 239, "no bit": 256, "large": (1 << 32) + 240,
           "the one before again": 240}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_number_that_is_no_own_feature(number, read):
    data = build()
    struct.pack_into("<Q", data, table_at(data) + HEAD + ENTRY, number)
    document = read(data)
    assert [*document["features"]] == ["HOSTNAME", "VERSION", "NRCPUS", "PD_SYMBOLS"]
    assert document["features"]["HOSTNAME"] == "box"
    assert [(error["record"], error["code"]) for error in document["errors"]] == [
        ("own_feature_table", "SIZE")]


@pytest.mark.parametrize("offset, size", [(1 << 40, 8), (2**64 - 8, 16), (0, 2**64 - 1),
                                          (2**63, 2**63)])
def test_a_section_that_is_not_in_the_file(offset, size, read):
    data = build()
    struct.pack_into("<2Q", data, table_at(data) + HEAD + 8, offset, size)
    document = read(data)
    assert [document["features"][name] for name in ("HOSTNAME", "VERSION")] == ["box", "6.1"]
    assert document["features"]["FEATURE_255"] == {"raw": "0203"}
    assert {error["record"] for error in document["errors"]} == {"PD_SYMBOLS"}


def test_cut_anywhere(read):
    """From the first byte of the own table to the last byte of the file."""
    data = build(own_features={240: NAMES})
    for size in range(table_at(data), len(data)):
        document = read(data[:size])
        assert len(document["records"]) == 9 and document["file"]["complete"] is False
        damaged = {error["record"] for error in document["errors"]}
        whole = [name for name in document["features"]
                 if name not in damaged and not name.endswith("_raw")]
        ends = {s["name"]: s["offset"] + s["size"] for s in document["file"]["sections"]}
        assert whole == [name for name in ("HOSTNAME", "VERSION", "NRCPUS", "PD_SYMBOLS")
                         if ends.get(name, size + 1) <= size]


def test_the_magic_alone(read):
    """As the last bytes of the file, and before bytes that are no table."""
    data = build(features={}, own_features={})
    for tail in (b"PDFEATS1", b"PDFEATS1\1", b"PDFEATS1" + b"\xff" * 40, b"PDFEATS1" + bytes(8)):
        document = read(data + tail)
        assert len(document["records"]) == 9 and document["features"] == {}


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("size", [8, 40, 10_000, 2**64 - 1])
def test_a_damaged_size_of_the_data(size, order, run_pdecode, tmp_path):
    """The tables are found after the last record."""
    data = build(order)
    struct.pack_into(f"{order}Q", data, DATA_SIZE, size)
    (tmp_path / "p.data").write_bytes(data)
    document = strict_json(run_pdecode([tmp_path / "p.data"]).stdout)
    assert [*document["features"]] == ["HOSTNAME", "VERSION", "NRCPUS", "PD_SYMBOLS", "FEATURE_255"]
    assert len(document["records"]) == 9
    assert [error["field"] for error in document["errors"]] == ["data.size"]


def test_kept_skipped_and_lost_bytes_add_up(tmp_path):
    """As pdecode and prepair report them."""
    path, whole = tmp_path / "p.data", build()
    at = table_at(whole)
    for place, value in [(at, 0), (at + 8, 3), (at + 8, 1 << 60), (at + HEAD, 7),
                         (at + HEAD + 8, 5), (at + HEAD + 16, 1 << 40)]:
        data = bytearray(whole)
        struct.pack_into("<Q", data, place, value)
        path.write_bytes(data)
        assert faults_of(path) == [], (place - at, value)
    for size in range(at, len(whole), 13):
        path.write_bytes(whole[:size])
        assert faults_of(path) == [], size


@pytest.mark.parametrize("order", "<>")
def test_prepair_keeps_them(order, run_pdecode, tmp_path):
    """The output has them in the own table, also if the input has bits for them."""
    for form in ({}, {"features": {**PERFS, **OWN}, "own_features": {}}):
        source, fixed = tmp_path / "p.data", tmp_path / "fixed.data"
        source.write_bytes(build(order, **form))
        done = subprocess.run([TOOLS / "prepair", "--json", "-o", fixed, source],
                              capture_output=True)
        assert done.returncode == 0 and json.loads(done.stdout)["lost"]["features"] == []
        before, after = (strict_json(run_pdecode([path]).stdout) for path in (source, fixed))
        assert after["features"] == before["features"] and after["errors"] == []
        assert after["file"]["adds_features"] == ["HOSTNAME", "VERSION", "NRCPUS"]
        assert not form or fixed.read_bytes() == build(order)
