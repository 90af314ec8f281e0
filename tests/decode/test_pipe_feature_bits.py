"""One wrong bit in the features of a pipe."""
import pytest

from conftest import FIXTURES
from encoding import document, run
from test_header_numbers import flipped
from test_record_bits import HEADER, errors_of, places, records_of

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"


def test_numbers_of_features():
    """Bytes above the first one tell that it is wrong."""
    data = (PERF / "18-pipe.data").read_bytes()
    found = places(data, "HEADER_FEATURE")
    assert len(found) > 10
    for at, _ in found:
        for bit in 8, 20, 40, 63:
            assert errors_of(flipped(data, 8 * (at + HEADER) + bit)), (at, bit)


def test_features_are_no_attributes():
    data = (PERF / "18-pipe.data").read_bytes()
    for at, _ in places(data, "HEADER_FEATURE"):
        assert errors_of(flipped(data, 8 * at + 4)), at


@pytest.mark.parametrize("name", ["18-pipe", "19-pipe-tp"])
def test_the_type_of_a_feature(name, tmp_path):
    data = (PERF / f"{name}.data").read_bytes()
    expected = document(data)
    for at, _ in places(data, "HEADER_FEATURE"):
        for bit in 5, 8, 13:
            changed = flipped(data, 8 * at + bit)
            found = document(changed)
            assert errors_of(changed) == {"MISMATCH"}, (at, bit)
            assert found["features"] == expected["features"]
            assert records_of(found) == expected["records"]
    (tmp_path / "changed").write_bytes(changed)
    run("prepair", "-o", tmp_path / "fixed", tmp_path / "changed")
    fixed = document(tmp_path / "fixed")
    assert not fixed["errors"] and fixed["features"] == expected["features"]


def test_a_size_that_covers_other_records():
    """The contents of a feature end before the records do."""
    data = (PERF / "18-pipe.data").read_bytes()
    found = places(data, "HEADER_FEATURE")
    before = len(document(data)["records"])
    covering = 0
    for at, _ in found:
        for bit in range(56, 64):
            changed = flipped(data, 8 * at + bit)
            lost = before - len(document(changed)["records"])
            covering += lost > 1
            assert not lost or errors_of(changed), (at, bit)
    assert covering > 2
