"""Bytes that were inserted before the features, or removed: everything after them is elsewhere than
the file states, by the same distance. It is still read."""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.wire import fstr

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
ATTR = attr("IP|TID|TIME|PERIOD")
RECORDS = [sample(ATTR, ip=0x1000 + i, pid=7, tid=8, time=1000 + i, period=i) for i in range(99)]
FEATURES = {3: fstr("box"), 5: fstr("6.1"), 7: f.nrcpus(2, 4)}
OWN = {255: b"\2\3"}
JUNK = bytes(0xc0 | i % 7 for i in range(100_000))


def changed(data, bytes_more, at=0.5, order="<", filler=JUNK):
    """The file with more bytes in its records, or with fewer of them."""
    begin, size = struct.unpack_from(f"{order}2Q", data, 40)
    place = begin + int(size * at) // 8 * 8
    if bytes_more < 0:
        return data[:place] + data[place - bytes_more:]
    return data[:place] + filler[:bytes_more] + data[place:]


def check(data, whole, tmp_path, run_pdecode, decode, field="data.size"):
    """All features are read, from the file and the repaired one, and the same bytes come back."""
    path, fixed = tmp_path / "changed.data", tmp_path / "fixed.data"
    path.write_bytes(data)
    done = run_pdecode(["--blobs", "full", path])
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["features"] == whole["features"] != {}
    assert document["file"]["complete"] is False
    assert [error["field"] for error in document["errors"]
            if error.get("record") == "header"] == [field]
    assert document["summary"]["account"]["total"] == len(data)
    again = subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True, timeout=60)
    assert again.stdout == data, again.stderr
    assert subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                          timeout=60).returncode == 1
    repaired = decode(fixed)
    assert repaired["errors"] == []
    assert repaired["features"] == {name: value for name, value in whole["features"].items()
                                    if name != "COMPRESSED"}
    return document


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event", "16-zstd"])
@pytest.mark.parametrize("more", [1, 8, 64, 70_000, -1, -8, -64])
def test_features_of_perf(name, more, run_pdecode, decode, tmp_path):
    source = PERF / f"{name}.data"
    check(changed(source.read_bytes(), more), decode(source), tmp_path, run_pdecode, decode)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("own", [{}, OWN], ids=["", "own"])
@pytest.mark.parametrize("more, at", [(3, 0), (16, 0.5), (4096, 1), (-24, 0.9)])
def test_every_sample_but_the_removed_ones(order, own, more, at, run_pdecode, decode, tmp_path):
    data = File([(ATTR, [42])], RECORDS, FEATURES, own_features=own).build(order)
    (tmp_path / "whole").write_bytes(data)
    document = check(changed(data, more, at, order), decode(tmp_path / "whole"), tmp_path,
                     run_pdecode, decode, "data.size" if at else "data.offset")
    samples = document["summary"]["by_type"]["SAMPLE"]
    assert samples == len(RECORDS) if more > 0 else samples >= len(RECORDS) - 2


@pytest.mark.parametrize("more", [8, 48, 4096])
def test_zeros_where_the_table_is_stated(more, run_pdecode, decode, tmp_path):
    """Zeros look like a table of empty features."""
    data = File([(ATTR, [42])], RECORDS, FEATURES).build()
    (tmp_path / "whole").write_bytes(data)
    check(changed(data, more, 1, filler=bytes(more)), decode(tmp_path / "whole"), tmp_path,
          run_pdecode, decode)


def samples(document):
    return [{**record, "offset": 0} for record in document["records"]
            if record["type"] == "SAMPLE"]


def places_before_records(data):
    """Where perf has ids, then attributes, then records."""
    attrs, = struct.unpack_from("<Q", data, 24)
    return {"ids": 104, "in ids": 112, "attrs": attrs}


def inserted(data, at, more):
    """The file with more bytes there, or with fewer."""
    return data[:at] + JUNK[:more] + data[at:] if more > 0 else data[:at] + data[at - more:]


def decoded_samples(data, whole, path, run_pdecode):
    """The JSON of a changed file, as bytes and read, of which all samples are those of the whole
    one."""
    path.write_bytes(data)
    done = run_pdecode(["--blobs", "full", path])
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert samples(document) == samples(whole) != []
    return done.stdout, document


def check_samples(data, whole, tmp_path, run_pdecode, decode):
    """All events and samples are read, from the file and the repaired one, and the same bytes come
    back."""
    path, fixed = tmp_path / "changed.data", tmp_path / "fixed.data"
    text, document = decoded_samples(data, whole, path, run_pdecode)
    for attr in document["attrs"]:
        attr.pop("restored", None)
    assert document["attrs"] == whole["attrs"]
    again = subprocess.run([TOOLS / "pencode"], input=text, capture_output=True, timeout=60)
    assert again.stdout == data, again.stderr
    assert subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                          timeout=60).returncode == 1
    repaired = decode(fixed)
    assert not repaired["errors"]
    assert [a["ids"] for a in repaired["attrs"]] == [a["ids"] for a in whole["attrs"]]
    assert repaired["summary"]["by_type"]["SAMPLE"] == whole["summary"]["by_type"]["SAMPLE"]
    return document


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event", "16-zstd"])
@pytest.mark.parametrize("place", ["ids", "in ids", "attrs"])
@pytest.mark.parametrize("more", [1, 8, 64, 70_000, -8])
def test_bytes_before_the_attributes(name, place, more, run_pdecode, decode, tmp_path):
    """All samples are read, with the event that they are of."""
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    at = places_before_records(data)[place]
    if more < 0 and place == "attrs":
        at += more
    document = check_samples(inserted(data, at, more), whole, tmp_path, run_pdecode, decode)
    assert document["features"] == whole["features"]
    assert [error["field"] for error in document["errors"]] == ["attrs.offset", "data.offset"]


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event"])
@pytest.mark.parametrize("into", [5, 26, 127, 140])
@pytest.mark.parametrize("more", [1, 8, 4096, -1, -8, -16])
def test_bytes_in_the_attributes(name, into, more, run_pdecode, decode, tmp_path):
    """EVENT_DESC has the attributes and their ids."""
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    at = places_before_records(data)["attrs"] + into + min(more, 0)
    document = check_samples(inserted(data, at, more), whole, tmp_path, run_pdecode, decode)
    assert document["features"] == whole["features"]
    assert document["errors"][0]["field"] == "data.offset"


def test_a_file_whose_end_is_elsewhere_too_is_not_read_so(run_pdecode, tmp_path):
    """Nothing shows then by how much its sections have moved."""
    data = File([(ATTR, [42])], RECORDS, FEATURES).build()
    (tmp_path / "longer").write_bytes(changed(data, 16) + b"\0\0\0")
    document = json.loads(run_pdecode([tmp_path / "longer"]).stdout)
    assert document["errors"] and "box" not in document["features"].values()


# --- features, their tables, and the header itself ---

def sections(document, *others):
    """The sections of features, in the file's order."""
    return [s for s in document["file"]["sections"]
            if s["name"] not in ("header", "attrs", "ids", "data", "feature_table",
                                 "own_feature_table", "event_types", *others)]


def check_all_but(lost, data, whole, tmp_path, run_pdecode):
    """All but the `lost` features are read, and the same bytes come back."""
    path, fixed = tmp_path / "changed.data", tmp_path / "fixed.data"
    text, document = decoded_samples(data, whole, path, run_pdecode)
    assert [a["ids"] for a in document["attrs"]] == [a["ids"] for a in whole["attrs"]]
    assert {k: v for k, v in document["features"].items() if k.removesuffix("_raw") not in lost} \
        == {k: v for k, v in whole["features"].items() if k not in lost}
    assert document["file"]["complete"] is False
    assert document["summary"]["account"]["total"] == len(data)
    again = subprocess.run([TOOLS / "pencode"], input=text, capture_output=True, timeout=60)
    assert again.stdout == data, again.stderr
    assert subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                          timeout=60).returncode == 1
    repaired = json.loads(run_pdecode([fixed]).stdout)
    assert not repaired["errors"]
    assert samples(repaired) == samples(whole)
    return document


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event"])
@pytest.mark.parametrize("changed", ["HOSTNAME", "CPUDESC", "EVENT_DESC", "CACHE"])
@pytest.mark.parametrize("more", [1, 300, -4, -24])
def test_bytes_in_a_feature(name, changed, more, run_pdecode, decode, tmp_path):
    """A changed text may still be whole: then a neighbor without a form is in doubt, too."""
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    [section] = [s for s in sections(whole) if s["name"] == changed]
    lost = {changed, "NRCPUS", "TOTAL_MEM", "SAMPLE_TIME", "CPU_TOPOLOGY", "BPF_PROG_INFO",
            "BPF_BTF"}
    document = check_all_but(lost, inserted(data, section["offset"] + 30, more), whole, tmp_path,
                             run_pdecode)
    assert document["errors"][0]["message"].endswith(
        "bytes were inserted into it: what follows is after its offset" if more > 0 else
        "bytes of it are missing: what follows is before its offset")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("own", [{}, OWN], ids=["", "own"])
def test_bytes_between_features(order, own, run_pdecode, decode, tmp_path):
    """Two numbers may be any bytes, so nothing tells which they are."""
    features = {3: fstr("box"), 4: fstr("6.1"), 7: f.nrcpus(2, 4), 8: fstr("CPU"), 9: fstr("x,1")}
    data = File([(ATTR, [42])], RECORDS, features, own_features=own).build(order)
    (tmp_path / "whole").write_bytes(data)
    whole = decode(tmp_path / "whole")
    places = {s["name"]: s["offset"] for s in sections(whole)}
    for name, lost in [("OSRELEASE", set()), ("NRCPUS", {"NRCPUS"}), ("CPUDESC", {"NRCPUS"}),
                       ("CPUID", set())][:4 if own else 3]:
        check_all_but(lost, inserted(data, places[name], 8), whole, tmp_path, run_pdecode)


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints"])
@pytest.mark.parametrize("at", [0, 5, 55, 200])
@pytest.mark.parametrize("more", [1, 16, 300, -1, -4])
def test_bytes_in_the_feature_table(name, at, more, run_pdecode, decode, tmp_path):
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    table = sum(struct.unpack_from("<2Q", data, 40))
    if more < 0:    # from one entry, but not the first: the one before tells where it began
        at = max(at, 16 - more) // 16 * 16 + 4
    check_all_but(set(), inserted(data, table + at + max(-more, 0), more), whole, tmp_path,
                  run_pdecode)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("at", [0, 20, 48, 64, 80])
def test_bytes_in_both_feature_tables(order, at, run_pdecode, decode, tmp_path):
    data = File([(ATTR, [42])], RECORDS, FEATURES, own_features=OWN).build(order)
    (tmp_path / "whole").write_bytes(data)
    table = sum(struct.unpack_from(f"{order}2Q", data, 40))
    check_all_but(set(), inserted(data, table + at, 24), decode(tmp_path / "whole"), tmp_path,
                  run_pdecode)


@pytest.mark.parametrize("name", ["01-basic", "43-multi-event"])
@pytest.mark.parametrize("at", [8, 13, 16, 24, 31, 40, 50, 56, 72, 74])
@pytest.mark.parametrize("more", [1, 8, 4096])
def test_bytes_in_the_header(name, at, more, run_pdecode, decode, tmp_path):
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    document = check_all_but(set(), inserted(data, at, more), whole, tmp_path, run_pdecode)
    assert document["attrs"] == whole["attrs"]


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event"])
@pytest.mark.parametrize("at, size", [(8, 8), (16, 8), (20, 8), (24, 8), (36, 4), (40, 8), (48, 8),
                                      (56, 16), (80, 24)])
def test_a_header_with_fewer_bytes(name, at, size, run_pdecode, decode, tmp_path):
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    check_all_but(set(), data[:at] + data[at + size:], whole, tmp_path, run_pdecode)


def test_feature_bits_that_are_not_there_are_not_guessed(run_pdecode, decode, tmp_path):
    source = PERF / "01-basic.data"
    data, whole = source.read_bytes(), decode(source)
    document = check_all_but(set(whole["features"]), data[:72] + data[80:], whole, tmp_path,
                             run_pdecode)
    assert document["features"] == {}


def test_the_header_of_a_killed_recorder(run_pdecode, decode, tmp_path):
    """It has neither a size of the records nor features."""
    data = File([(ATTR, [42])], RECORDS).build()
    killed = data[:48] + bytes(8) + data[56:]
    (tmp_path / "killed").write_bytes(killed)
    for at in (16, 31, 40):
        check_all_but(set(), inserted(killed, at, 8), decode(tmp_path / "killed"), tmp_path,
                      run_pdecode)


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints", "43-multi-event", "16-zstd"])
@pytest.mark.parametrize("tail", [1, 68, 4096, -1, -40, -400])
def test_another_end_is_not_another_place(name, tail, run_pdecode, decode, tmp_path):
    """Features of a truncated file, or of one with bytes at its end, are where they are stated."""
    source = PERF / f"{name}.data"
    data, whole = source.read_bytes(), decode(source)
    (tmp_path / "t.data").write_bytes(data + JUNK[:tail] if tail > 0 else data[:tail])
    document = json.loads(run_pdecode([tmp_path / "t.data"]).stdout)
    assert sections(document) == sections(whole)
    if tail > 0:
        assert document["features"] == whole["features"]
