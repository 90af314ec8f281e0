"""One wrong bit in the records that perf itself writes, of a pipe above all: what is lost by it is
reported."""
import json

import pytest

from conftest import FIXTURES
from encoding import document, pdecode
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
