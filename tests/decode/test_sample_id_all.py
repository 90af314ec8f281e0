"""A wrong sample_id_all: all events of a recording have it, or none, and the records' sizes tell
which."""
import json
import struct

import pytest

from conftest import FIXTURES
from encoding import document, pdecode, pencode

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
FLAG_AT, FLAG = 40 + 2, 4
HEADER_ATTR = 64


def attrs_of_file(data):
    stride, at, size = struct.unpack_from("<3Q", data, 16)
    return range(at, at + size, stride)


def attrs_of_pipe(data):
    at = 16
    while struct.unpack_from("<I", data, at)[0] == HEADER_ATTR:
        yield at + 8
        at += struct.unpack_from("<H", data, at + 6)[0]


def flipped(data):
    """The recording with the flag of each of its events changed."""
    find = attrs_of_pipe if struct.unpack_from("<Q", data, 8)[0] == 16 else attrs_of_file
    for at in find(data):
        changed = bytearray(data)
        changed[at + FLAG_AT] ^= FLAG
        yield bytes(changed)


def records_of(doc):
    return [{key: value for key, value in record.items() if key != "offset"}
            for record in doc["records"] if record["type"] != "HEADER_ATTR"]


def without_copy(data, *types):
    """The recording without EVENT_DESC; with records of these types only, if any are given."""
    doc = document(data)
    doc["features"].pop("EVENT_DESC")
    doc["records"] = [r for r in doc["records"] if not types or r["type"] in types]
    return pencode(doc)


@pytest.mark.parametrize("name", ["01-basic", "05-switch-events", "12-tracepoints", "18-pipe",
                                  "A2-raw-all-pipe"])
def test_sample_ids_are_read(name):
    data = (PERF / f"{name}.data").read_bytes()
    expected = records_of(document(data))
    for changed in flipped(data):
        code, text = pdecode(changed, "--blobs", "full")
        found = json.loads(text)
        assert code == 1 and [e["code"] for e in found["errors"]] == ["RESTORED"]
        assert records_of(found) == expected
        assert pencode(text) == changed


@pytest.mark.parametrize("name", ["01-basic", "12-tracepoints"])
def test_records_tell_without_a_copy(name):
    data = without_copy((PERF / f"{name}.data").read_bytes())
    expected = records_of(document(data))
    assert any("sample_id" in record for record in expected)
    for changed in flipped(data):
        code, text = pdecode(changed)
        found = json.loads(text)
        assert code == 1
        assert [(e["code"], e["field"]) for e in found["errors"]] == [("RESTORED", "sample_id_all")]
        assert records_of(found) == expected


def test_events_that_differ_are_reported():
    """No record tells which of the two is right."""
    data = without_copy((PERF / "06-data-phys-pages.data").read_bytes(), "SAMPLE")
    assert len(list(attrs_of_file(data))) == 2
    for changed in flipped(data):
        code, text = pdecode(changed)
        assert code == 1
        assert ("MISMATCH", "damaged", "sample_id_all") in {
            (e["code"], e["severity"], e["field"]) for e in json.loads(text)["errors"]
            if "field" in e}
