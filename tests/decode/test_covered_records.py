"""Records that are inside an earlier one because its size is damaged: all are shown, and prepair
writes them."""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS

pytestmark = pytest.mark.sanitize

SIZE_AT = 6     # in a record's header
FILES = ["01-basic", "02-callgraph-fp", "03-callgraph-dwarf", "05-switch-events", "12-tracepoints",
         "43-multi-event"]
# The last field extends to the end of the record, whatever its size.
OPEN = {"COMPRESSED", "EVENT_UPDATE", "HEADER_ATTR", "HEADER_BUILD_ID", "HEADER_FEATURE",
        "ID_INDEX"}


def covering(records):
    """The first record of each type that has another right after it."""
    found = {}
    for record, following in zip(records, records[1:]):
        ends = record["offset"] + record["size"]
        if ends == following["offset"] and record["type"] not in OPEN:
            found.setdefault(record["type"], (record, following))
    return found


def damaged(path, pair):
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, pair[0]["offset"] + SIZE_AT, pair[0]["size"] + pair[1]["size"])
    return data


def by_type(run_pdecode, path):
    totals = json.loads(run_pdecode(["-f", "stats", path]).stdout)["by_type"]
    return {kind: total["records"] for kind, total in totals.items()}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.long
def test_a_size_that_covers_the_next_record(name, run_pdecode, decode, tmp_path):
    """If the size of a sample is implausible, the covered records can be found alone; the sample is
    then reported as skipped."""
    source = FIXTURES / "perf" / f"{name}.data"
    whole = by_type(run_pdecode, source)
    pairs = covering(decode(source)["records"])
    assert len(pairs) >= 5
    for kind, pair in pairs.items():
        path, fixed = tmp_path / f"{kind}.data", tmp_path / f"{kind}.fixed"
        path.write_bytes(damaged(source, pair))
        for args in (["-j", "1"], ["-j", "2"], ["-f", "stats"], ["-f", "stats", "-j", "2"]):
            assert run_pdecode([*args, path]).returncode == 1, (kind, args)
        [error] = json.loads(run_pdecode([path]).stdout)["errors"]
        assert (error["offset"], error["code"]) == (pair[0]["offset"], "SIZE"), kind
        assert ("covers other records" in error["message"]
                or (kind, error["skipped"]) == ("SAMPLE", pair[0]["size"]))
        done = subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True,
                              timeout=60)
        assert done.returncode == 1, kind
        kept = by_type(run_pdecode, fixed)
        if error["skipped"]:
            kept["SAMPLE"] += 1
        assert kept == whole, kind


def test_bytes_after_a_sample(run_pdecode, tmp_path):
    """Kernels write only the fields that the event selects."""
    source = FIXTURES / "perf" / "01-basic.data"
    data = bytearray(source.read_bytes())
    at = struct.unpack_from("<Q", data, 40)[0]
    while struct.unpack_from("<I", data, at)[0] != 9:
        at += struct.unpack_from("<H", data, at + SIZE_AT)[0]
    size = struct.unpack_from("<H", data, at + SIZE_AT)[0]
    following = struct.unpack_from("<H", data, at + size + SIZE_AT)[0]
    struct.pack_into("<H", data, at + SIZE_AT, size + following)
    data[at + size:at + size + 8] = b"\xff" * 8     # so that they are no records any more
    path = tmp_path / "more.data"
    path.write_bytes(data)
    done = run_pdecode([path])
    assert done.returncode == 1
    assert ([(e["code"], e["have"]) for e in json.loads(done.stdout)["errors"]]
            == [("TRAILING", following)])
