"""One wrong byte in EVENT_DESC, which has the events' attributes, ids and names a second time."""
import json

import pytest

from conftest import FIXTURES
from encoding import document, pdecode, pencode
from test_header_numbers import flipped

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"


def description(data):
    """Offset and size of the feature."""
    [section] = [s for s in document(data, "--header-only")["file"]["sections"]
                 if s["name"] == "EVENT_DESC"]
    return section["offset"], section["size"]


def names_of(doc):
    return [attr["name"] for attr in doc["attrs"]]


@pytest.mark.parametrize("name", ["12-tracepoints", "06-data-phys-pages", "01-basic"])
def test_names(name):
    """Those that attributes imply; the case of letters may differ, but not in tracepoints'."""
    data = (PERF / f"{name}.data").read_bytes()
    names, (begin, size) = names_of(document(data)), description(data)
    for event in names:
        at = data.index(event.encode() + b"\0", begin, begin + size)
        for i in range(event.find(":") if name != "12-tracepoints" else len(event)):
            changed = flipped(data, 8 * (at + i) + i % 5)
            code, text = pdecode(changed, "--blobs", "full")
            found = json.loads(text)
            assert code == 0 and names_of(found) == names, (event, i)
            assert pencode(text) == changed


@pytest.mark.parametrize("more", [-1, 1])
def test_another_number_of_events(more):
    """It is damaged in a file, as in the pipe that the file becomes."""
    doc = document(PERF / "12-tracepoints.data")
    events = doc["features"]["EVENT_DESC"]
    events["events"] = (events["events"] * 2)[:4 + more] if more > 0 else events["events"][:3]
    events["nr"] = 4 + more
    if more > 0:
        events["events"][4] = dict(events["events"][4], name="another", ids=[12345678])
        events["events"][4]["nr_ids"] = 1
    for mode in "file", "pipe":
        code, text = pdecode(pencode(doc, "--mode", mode))
        assert code == 1, mode
        assert any(e["record"] == "EVENT_DESC" for e in json.loads(text)["errors"]), mode
