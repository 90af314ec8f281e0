"""An attribute whose type or config is not that of the tracepoint it is named after: the copy in
EVENT_DESC is."""
import pytest

from conftest import FIXTURES
from encoding import document
from test_header_numbers import flipped

PATH = FIXTURES / "perf" / "12-tracepoints.data"
ATTRS, SIZE, NR = 168, 144, 4


def samples(data):
    return [record for record in document(data)["records"] if record["type"] == "SAMPLE"]


@pytest.mark.sanitize
@pytest.mark.parametrize("field", [0, 8])       # type, config
def test_fields_of_tracepoints_are_not_lost(field):
    data = PATH.read_bytes()
    expected = samples(data)
    assert any("fields" in str(sample) for sample in expected)
    for attr in range(NR):
        for bit in (0, 3, 17, 30):
            changed = flipped(data, 8 * (ATTRS + SIZE * attr + field) + bit)
            assert samples(changed) == expected, (attr, bit)
            assert "RESTORED" in [error["code"] for error in document(changed)["errors"]]
