"""One wrong bit in the features of a pipe: their order tells."""
import struct

import pytest

from conftest import FIXTURES
from test_header_numbers import flipped
from test_record_bits import HEADER, errors_of, places

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
COMPRESSED = 27     # pencode writes it last


def test_numbers_of_features():
    """Bytes above the first one tell that it is wrong, and the order of features else, but for a
    number between those of the features before and after it."""
    data = (PERF / "18-pipe.data").read_bytes()
    found = places(data, "HEADER_FEATURE")
    ids = [struct.unpack_from("<Q", data, at + HEADER)[0] for at, _ in found]
    assert ids == sorted(ids) and len(ids) > 10
    for i, (at, _) in enumerate(found):
        after = ids[i + 1] if i + 1 < len(ids) else 256
        for bit in [*range(8), 8, 20, 40, 63]:
            wrong = ids[i] ^ 1 << bit
            if wrong != COMPRESSED and not ids[i - 1] * (i > 0) < wrong < after:
                assert errors_of(flipped(data, 8 * (at + HEADER) + bit)), (ids[i], wrong)


def test_features_are_no_attributes():
    data = (PERF / "18-pipe.data").read_bytes()
    for at, _ in places(data, "HEADER_FEATURE"):
        assert errors_of(flipped(data, 8 * at + 4)), at
