"""One wrong bit in the features of a pipe."""
import pytest

from conftest import FIXTURES
from test_header_numbers import flipped
from test_record_bits import HEADER, errors_of, places

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
