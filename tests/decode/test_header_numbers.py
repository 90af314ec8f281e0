"""One wrong bit in the numbers of a file header, or in the ids of its events: sizes and offsets
confirm each other, and EVENT_DESC has the ids again."""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS

NUMBERS = range(8, 56)      # bytes of the header, up to the offset of the event types


def events_of(path):
    done = subprocess.run([TOOLS / "pdecode", "-f", "stats", path], capture_output=True, timeout=60)
    found = json.loads(done.stdout)
    return done.returncode, [(event["event"], event["records"]) for event in found["by_event"]]


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("name", ["06-data-phys-pages", "10-group-leader-sampling",
                                  "12-tracepoints"])
def test_no_event_is_lost(name, tmp_path):
    """Their names, which features have, and all of their records."""
    whole, path = FIXTURES / "perf" / f"{name}.data", tmp_path / "flipped"
    data, (_, expected) = whole.read_bytes(), events_of(whole)
    assert len(expected) > 1
    for bit in range(8 * NUMBERS.start, 8 * NUMBERS.stop):
        path.write_bytes(flipped(data, bit))
        assert events_of(path)[1] == expected, f"byte {bit // 8}, bit {bit % 8}"


def test_ids_are_of_the_right_event(tmp_path):
    """Both the ids, and where an attribute states them to be."""
    whole, path = FIXTURES / "perf" / "12-tracepoints.data", tmp_path / "flipped"
    data, (_, expected) = whole.read_bytes(), events_of(whole)
    size, start, total = (int.from_bytes(data[at:at + 8], "little") for at in (16, 24, 32))
    places = [*range(104, start),
              *(end - 16 + i for end in range(start + size, start + total + 1, size)
                for i in range(16))]
    assert len(places) == 8 * 8 + 4 * 16
    for bit in (8 * place + i for place in places for i in range(8)):
        path.write_bytes(flipped(data, bit))
        assert events_of(path)[1] == expected, f"byte {bit // 8}, bit {bit % 8}"


@pytest.mark.parametrize("offset, wrong", [(8, 72), (8, 96), (8, 0), (16, 80), (32, 0), (32, 144),
                                           (32, 5 * 144), (40, 744 + 272)])
def test_a_wrong_number_is_reported(offset, wrong, tmp_path):
    """And kept: the same bytes come back."""
    data = bytearray((FIXTURES / "perf" / "12-tracepoints.data").read_bytes())
    assert int.from_bytes(data[offset:offset + 8], "little") != wrong
    data[offset:offset + 8] = wrong.to_bytes(8, "little")
    path = tmp_path / "wrong"
    path.write_bytes(data)
    done = subprocess.run([TOOLS / "pdecode", "--blobs", "full", path], capture_output=True,
                          timeout=60)
    errors = json.loads(done.stdout)["errors"]
    assert done.returncode == 1
    assert any(e["record"] == "header" and e["offset"] == offset for e in errors), errors
    again = subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True, timeout=60)
    assert again.stdout == bytes(data), again.stderr


def test_a_hole_before_the_records_is_not_searched(tmp_path):
    """Zeros could be attributes of the first perfs, a billion of them."""
    records_at, path = 104 + 80 * 10**9, tmp_path / "hole"
    with open(path, "wb") as file:
        file.write(struct.pack("<8s8Q32x", b"PERFILE2", 104, 80, 104, 80, records_at, 24, 0, 0))
        file.seek(records_at)
        file.write(3 * struct.pack("<IHH", 68, 0, 8))
    done = subprocess.run([TOOLS / "pdecode", "-f", "stats", path], capture_output=True, timeout=20)
    assert json.loads(done.stdout)["records"] == 3
