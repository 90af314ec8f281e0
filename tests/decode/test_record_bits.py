"""One wrong bit in the records that perf itself writes, of a pipe above all: what is lost by it is
reported."""
import json
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from encoding import document, pdecode, run
from test_header_numbers import flipped

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
HEADER = 8


def places(data, *types):
    """Offset and size of the records of these types."""
    return [(r["offset"], r["size"]) for r in document(data)["records"]
            if r["type"] in types and "inner_offset" not in r]


def errors_of(data):
    code, text = pdecode(data)
    found = json.loads(text)
    in_records = [record["error"] for record in found["records"] if "error" in record]
    assert code == (1 if found["errors"] or in_records else 0)
    return {e["code"] for e in [*found["errors"], *in_records] if e["severity"] != "note"}


def records_of(found):
    """The records of a document, without the numbers that damaged headers state."""
    return [{key: value for key, value in record.items() if key != "type_id"}
            for record in found["records"]]


def test_ids_of_no_event():
    data = (PERF / "67-stat-record-pipe.data").read_bytes()
    begin, _ = places(data, "STAT")[0]
    for bit in range(0, 64, 3):
        assert "NO_ATTR" in errors_of(flipped(data, 8 * (begin + HEADER) + bit)), bit


def test_records_of_a_compressed_one():
    """The size of its first block is too large: it waits for bytes that never come."""
    data = (PERF / "16-zstd.data").read_bytes()
    begin, _ = places(data, "COMPRESSED")[-1]
    for bit in range(3, 20):
        changed = flipped(data, 8 * (begin + HEADER) + bit)
        before, after = (len(document(d)["records"]) for d in (data, changed))
        assert before == after or errors_of(changed), bit


@pytest.mark.parametrize("name", ["16-zstd", "95-zstd-pipe"])
def test_the_type_of_a_compressed_record(name):
    data = (PERF / f"{name}.data").read_bytes()
    expected = document(data)["records"]
    for begin, _ in places(data, "COMPRESSED"):
        for bit in (0, 2, 3, 4, 5, 6, 7, 8, 15):
            changed = flipped(data, 8 * begin + bit)
            assert records_of(document(changed)) == expected, bit
            full = pdecode(changed, "--blobs", "full")[1]
            assert run("pencode", "-", stdin=full).stdout == changed, bit
            assert errors_of(changed) == {"MISMATCH"}, bit


@pytest.mark.parametrize("type", [23, 24, 31])
def test_types_of_newer_kernels_stay(type):
    """A record of a type that does not exist yet has fields and a sample_id as a known one has."""
    data = (PERF / "01-basic.data").read_bytes()
    for kind in ("FORK", "SAMPLE"):
        begin, _ = places(data, kind)[-1]
        newer = data[:begin] + type.to_bytes(4, "little") + data[begin + 4:]
        [record] = [r for r in document(newer)["records"] if r["offset"] == begin]
        assert (record["type"], record["type_id"]) == ("UNKNOWN", type) and not errors_of(newer)


@pytest.mark.parametrize("name", ["01-basic", "03-callgraph-dwarf", "12-tracepoints", "18-pipe"])
def test_the_type_of_a_sample_or_map(name, tmp_path):
    """The corrected record is in the order of time as before, and in the repaired file."""
    data = (PERF / f"{name}.data").read_bytes()
    expected = document(data)["records"]
    for kind, bits in ("SAMPLE", (4, 5, 7, 8, 14)), ("MMAP2", (0, 4, 7, 8, 14)):
        begin, _ = places(data, kind)[-2]
        for bit in bits:
            changed = flipped(data, 8 * begin + bit)
            found = document(changed)
            assert records_of(found) == expected, (kind, bit)
            assert run("pencode", "-", stdin=pdecode(changed)[1]).stdout == changed
            [wrong] = [r for r in found["records"] if "type_id" in r]
            assert wrong["offset"] == begin
            assert wrong["type_id"] == int.from_bytes(changed[begin:begin + 4], "little")
            assert errors_of(changed) == {"MISMATCH"}, (kind, bit)
        (tmp_path / "changed").write_bytes(changed)
        for args in (["--sort", "time"], ["-j", "2"]):
            whole, found = (json.loads(pdecode(d, *args)[1]) for d in (data, changed))
            assert whole["records"] == records_of(found), args
            [wrong] = [r for r in found["records"] if "type_id" in r]
            assert wrong["offset"] == begin, args
        subprocess.run([TOOLS / "prepair", "-o", tmp_path / "fixed", tmp_path / "changed"],
                       timeout=60)
        assert document((tmp_path / "fixed").read_bytes())["records"] == expected


def test_a_byte_of_the_type():
    """Other wrong types than those of one bit, of samples and maps."""
    data = (PERF / "18-pipe.data").read_bytes()
    expected = document(data)["records"]
    for kind, types in ("SAMPLE", (0, 2, 0xff, 0x1009)), ("MMAP2", (0, 0xff, 0xff0a)):
        begin, _ = places(data, kind)[-2]
        for type in types:
            changed = data[:begin] + type.to_bytes(4, "little") + data[begin + 4:]
            assert records_of(document(changed)) == expected, (kind, type)
            assert errors_of(changed) == {"MISMATCH"}, (kind, type)


def test_two_names_of_an_event():
    """EVENT_UPDATE and EVENT_DESC differ: nothing tells which is right, so a note says that."""
    data = (PERF / "18-pipe.data").read_bytes()
    [begin] = [r["offset"] for r in document(data)["records"] if r.get("update_type") == "NAME"]
    changed = flipped(data, 8 * data.index(b"cpu-clock", begin))
    for source, notes in (data, 0), (changed, 1):
        done = run("pdecode", "-v", "-", stdin=source)
        assert done.returncode == 0 and done.stderr.count(b"name an event differently") == notes
