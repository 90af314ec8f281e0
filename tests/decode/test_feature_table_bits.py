"""One wrong bit in the table of features, or in the bits of the header that tell which it has: each
section begins where the one before ends, and has the form of its feature."""
import json
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from encoding import pdecode, pencode
from test_header_numbers import flipped

PERF = FIXTURES / "perf"
BITS = range(8 * 72, 8 * 80)
ENTRY = 16


def features_of(path):
    done = subprocess.run([TOOLS / "pdecode", "--header-only", path], capture_output=True,
                          timeout=60)
    document = json.loads(done.stdout)
    return done.returncode, document["features"], [attr["name"] for attr in document["attrs"]]


def table_of(data):
    """Where it begins, and the size of its entries."""
    at, size = (int.from_bytes(data[i:i + 8], "little") for i in (40, 48))
    return at + size, ENTRY * bin(int.from_bytes(data[72:104], "little")).count("1")


def check(data, bits, expected, tmp_path, may_lack=()):
    path = tmp_path / "flipped"
    for bit in bits:
        path.write_bytes(flipped(data, bit))
        code, features, names = features_of(path)
        place = f"byte {bit // 8}, bit {bit % 8}"
        assert code == 1 and names == expected[1], place
        for name, value in expected[0].items():
            assert features.get(name) == value or name in may_lack, f"{place}: {name}"


@pytest.mark.parametrize("name, step", [
    ("12-tracepoints", 17), ("01-basic", 17), ("16-zstd", 17),
    pytest.param("63-index", 1, marks=pytest.mark.long)])
def test_entries(name, step, tmp_path):
    """CPU_TOPOLOGY has the form of older perfs if it is shorter."""
    data = (PERF / f"{name}.data").read_bytes()
    _, *expected = features_of(PERF / f"{name}.data")
    at, size = table_of(data)
    check(data, range(8 * at, 8 * (at + size), step), expected, tmp_path, ["CPU_TOPOLOGY"])


@pytest.mark.parametrize("name", ["12-tracepoints", "01-basic"])
def test_bits_of_the_header(name, tmp_path):
    """Features at the end without a value that others could not have are lost, with a report."""
    data = (PERF / f"{name}.data").read_bytes()
    _, *expected = features_of(PERF / f"{name}.data")
    check(data, BITS, expected, tmp_path, ["BPF_PROG_INFO", "BPF_BTF", "PMU_CAPS"])


@pytest.mark.sanitize
@pytest.mark.parametrize("bit", [8 * 72 + 4, 8 * 73 + 4, 8 * 76, 8 * 72 + 5])
def test_wrong_bits_come_back(bit):
    """The recording is the same after pencode."""
    data = flipped((PERF / "12-tracepoints.data").read_bytes(), bit)
    code, text = pdecode(data, "--blobs", "full")
    assert code == 1
    assert pencode(text) == data


@pytest.mark.sanitize
@pytest.mark.parametrize("entry", [0, 1, 4, 20])
@pytest.mark.parametrize("number", [0, 8])
def test_wrong_entries_come_back(entry, number):
    data = (PERF / "12-tracepoints.data").read_bytes()
    wrong = flipped(data, 8 * (table_of(data)[0] + ENTRY * entry + number) + 9)
    code, text = pdecode(wrong, "--blobs", "full")
    assert code == 1
    assert pencode(text) == wrong
