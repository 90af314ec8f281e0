"""Events of a pipe whose HEADER_ATTR record is damaged or lost: EVENT_DESC has a copy, and their
samples are read."""
import json
import struct

import pytest

from conftest import FIXTURES
from encoding import document, pdecode, pencode, records_of, run

PERF = FIXTURES / "perf"
HEADER_ATTR, HEADER_FEATURE = 64, 80


def attrs_of(pipe):
    """Offset and size of each HEADER_ATTR record, which come first."""
    at = 16
    while True:
        kind, _, size = struct.unpack_from("<IHH", pipe, at)
        if kind != HEADER_ATTR:
            return
        yield at, size
        at += size


def samples_by_event(doc):
    found = {}
    for record in doc["records"]:
        if record["type"] == "SAMPLE" and "event" in record:
            key = (record["event"], doc["attrs"][record["attr_index"]]["name"])
            fields = {name: value for name, value in record.items()
                      if name not in ("attr_index", "offset")}
            found.setdefault(key, []).append(fields)
    return found


@pytest.fixture(scope="module", params=["18-pipe.data", "43-multi-event.data"])
def pipe(request):
    path = PERF / request.param
    _, text = pdecode(path)
    return pencode(text, "--mode", "pipe")


def damages(pipe):
    """Each HEADER_ATTR with another type, and without it."""
    for at, size in attrs_of(pipe):
        for kind in 1, 65, 72, 0x4040:
            damaged = bytearray(pipe)
            struct.pack_into("<I", damaged, at, kind)
            yield bytes(damaged)
        yield pipe[:at] + pipe[at + size:]


@pytest.mark.sanitize
def test_samples_are_read(pipe, tmp_path):
    before = document(pipe)
    assert samples_by_event(before) and not before["errors"]
    for damaged in damages(pipe):
        code, text = pdecode(damaged)
        after = json.loads(text)
        assert code == 1
        assert samples_by_event(after) == samples_by_event(before)
        assert [(e["code"], e["record"], e["field"]) for e in after["errors"]
                if e["code"] == "RESTORED"] == [("RESTORED", "EVENT_DESC", "attr")]
        assert [attr.get("restored") for attr in after["attrs"]].count(True) == 1
        assert (sorted(attr["ids"] for attr in after["attrs"])
                == sorted(attr["ids"] for attr in before["attrs"]))
        assert pencode(text) == damaged


def with_attrs_after_features(pipe):
    places = list(attrs_of(pipe))
    begin, end = places[0][0], sum(places[-1])
    at = end
    while struct.unpack_from("<I", pipe, at)[0] == HEADER_FEATURE:
        at += struct.unpack_from("<H", pipe, at + 6)[0]
    assert at > end
    return pipe[:begin] + pipe[end:at] + pipe[begin:end] + pipe[at:]


@pytest.mark.sanitize
def test_attributes_that_come_after_the_features(pipe, tmp_path):
    """The order of perf 4.16."""
    before, moved = document(pipe), with_attrs_after_features(pipe)
    code, text = pdecode(moved)
    after = json.loads(text)
    assert code == 0 and not after["errors"]
    assert samples_by_event(after) == samples_by_event(before)
    assert after["attrs"] == before["attrs"]
    assert pencode(text) == moved
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(moved)
    assert run("prepair", "-o", copy, source).returncode == 0
    assert copy.read_bytes() == moved


def test_prepair_writes_the_event(pipe, tmp_path):
    before = document(pipe)
    broken, fixed = tmp_path / "broken", tmp_path / "fixed"
    for damaged in damages(pipe):
        broken.write_bytes(damaged)
        done = run("prepair", "-o", fixed, broken)
        assert done.returncode == 1 and b"no record has it: this copy is used" in done.stderr
        after = document(fixed)
        assert samples_by_event(after) == samples_by_event(before)
        assert not [e for e in after["errors"] if e["code"] == "RESTORED"]


@pytest.mark.parametrize("first, last", [(0, 128), (24, 128), (0, 96)], ids=str)
def test_prepair_writes_the_copy_of_what_was_zeroed(first, last, pipe, tmp_path):
    before = document(pipe)
    broken, fixed = tmp_path / "broken", tmp_path / "fixed"
    for at, _ in attrs_of(pipe):
        damaged = bytearray(pipe)
        damaged[at + 8 + first:at + 8 + last] = bytes(last - first)
        broken.write_bytes(damaged)
        done = run("prepair", "-o", fixed, broken)
        assert done.returncode == 1 and b"this copy is used" in done.stderr
        after = document(fixed)
        assert not after["errors"]
        assert after["attrs"] == before["attrs"]
        assert samples_by_event(after) == samples_by_event(before)
        assert fixed.read_bytes() == pipe


def test_a_copy_before_the_record(pipe):
    """No program is known to write it first; the event is not added twice."""
    attrs = list(attrs_of(pipe))
    end = attrs[-1][0] + attrs[-1][1]
    at = end
    while pipe[at + 8] != 12:       # EVENT_DESC
        at += struct.unpack_from("<H", pipe, at + 6)[0]
    size = struct.unpack_from("<H", pipe, at + 6)[0]
    moved = pipe[:16] + pipe[at:at + size] + pipe[16:at] + pipe[at + size:]
    before, after = document(pipe), document(moved)
    assert len(after["attrs"]) == len(before["attrs"])
    assert samples_by_event(after) == samples_by_event(before)
    assert len(records_of(after)) == len(records_of(before))


SAMPLE_TYPE, KNOWN_BITS = 24, 25


def with_wrong_bit(pipe, attr, bit):
    damaged = bytearray(pipe)
    damaged[attr + SAMPLE_TYPE + bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def attrs_with_samples(pipe):
    doc = document(pipe)
    indexes = {r["attr_index"] for r in doc["records"] if r["type"] == "SAMPLE"}
    return [at + 8 for index, (at, _) in enumerate(attrs_of(pipe)) if index in indexes]


@pytest.mark.sanitize
@pytest.mark.parametrize("bit", range(KNOWN_BITS))
@pytest.mark.long
def test_a_wrong_bit_of_sample_type(bit, pipe, tmp_path):
    """The first sample fits the copy in EVENT_DESC, and not the attribute."""
    before = document(pipe)
    broken, fixed = tmp_path / "broken", tmp_path / "fixed"
    for attr in attrs_with_samples(pipe):
        damaged = with_wrong_bit(pipe, attr, bit)
        code, text = pdecode(damaged)
        after = json.loads(text)
        assert code == 1
        assert samples_by_event(after) == samples_by_event(before)
        assert [error["code"] for error in after["errors"]].count("RESTORED") == 1
        assert pencode(text) == damaged
        broken.write_bytes(damaged)
        assert run("prepair", "-o", fixed, broken).returncode == 1
        assert fixed.read_bytes() == pipe


def test_a_wrong_bit_with_threads(pipe):
    damaged = with_wrong_bit(pipe, attrs_with_samples(pipe)[0], 5)
    one, two = (pdecode(damaged, "-f", "jsonl", "-j", jobs) for jobs in "12")
    assert one == two and b'"RESTORED"' in one[1]


@pytest.mark.parametrize("bit", [0, 1, 5, 8])
def test_a_wrong_bit_of_the_copy(bit, pipe):
    """The attribute stays, also where one of the samples that fit it is damaged."""
    before = document(pipe)
    attr, _ = next(attrs_of(pipe))
    size, = struct.unpack_from("<I", pipe, attr + 12)
    copy = pipe.index(pipe[attr + 8:attr + 8 + size], attr + 9)
    damaged = bytearray(with_wrong_bit(pipe, copy, bit))
    after = document(bytes(damaged))
    assert not after["errors"] and samples_by_event(after) == samples_by_event(before)
    sample = next(r for r in before["records"] if r["type"] == "SAMPLE")
    damaged[sample["offset"] + 6] -= 8      # its size
    after = document(bytes(damaged))
    assert after["errors"]
    assert "RESTORED" not in [error["code"] for error in after["errors"]]
