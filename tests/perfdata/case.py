"""A case of the catalogue: a description of a file and what its JSON has to show.

An expectation is a fact (kind, which, path, value), stated by the author and not by any program:

    ("record", 0, "sample_id.time", 1000)      the first record of the stream
    ("feature", "HOSTNAME", "", "box")         a feature section, the whole value
    ("attr", 0, "attr.sample_type.names[0]", "IP")
    ("file", None, "mode", "pipe")
    ("errors", None, "", [])

Record numbers count what the JSON has under `records`; PRESENT stands for any value.  find()
looks a fact up in a document.
"""

import re
from dataclasses import dataclass, field

from .attr import Attr
from .container import File
from .sample import sample_id

MISSING = object()


class _Present:
    """Equal to whatever is there."""

    def __eq__(self, other):
        return other is not MISSING

    def __repr__(self):
        return "PRESENT"


PRESENT = _Present()


@dataclass
class Case:
    """file: an object with build(order).  exact: whether swapping one byte order gives exactly the
    bytes of the other; compressed files agree only in their records."""

    name: str
    file: object
    expect: list = field(default_factory=list)
    exact: bool = True
    long_size: int = 8


def find(document, kind, which, path):
    """The value that a fact is about, or MISSING."""
    try:
        if kind == "record":
            value = document["records"][which]
        elif kind == "feature":
            value = document["features"][which]
        elif kind == "attr":
            value = document["attrs"][which]
        else:
            value = document[kind]
        for key, index in re.findall(r"([^.\[\]]+)|\[(-?\d+)\]", path):
            value = value[key] if key else value[int(index)]
        return value
    except (KeyError, IndexError, TypeError):
        return MISSING


def broken_facts(document, expect):
    """[(fact, value found)] of the facts that the document does not show."""
    found = [(fact, find(document, *fact[:3])) for fact in expect]
    return [(fact, value) for fact, value in found if value is MISSING or not fact[3] == value]


def record_facts(which, /, **values):
    """Facts of one record; '__' in a name is a '.' of the path."""
    return [("record", which, key.replace("__", "."), value) for key, value in values.items()]


def read_of(members):
    """The values of a read: those of the first of its members (value, id, lost), or of all."""
    value, id, lost = members[0]
    return {"value": value, "id": id, "lost": lost, "time_enabled": 50, "time_running": 40,
            "values": members}


def read_facts(a, members):
    """The JSON of read_of() for an event with this read_format."""
    def one(value, id, lost):
        event = {"event": "cpu-clock:HG"} if a.reads("GROUP") else {}
        return {"value": value, **({"id": id, **event} if a.reads("ID") else {}),
                **({"lost": lost} if a.reads("LOST") else {})}

    times = {key: value for key, value in (("time_enabled", 50), ("time_running", 40))
             if a.reads(f"TOTAL_{key.upper()}")}
    if a.reads("GROUP"):
        return {"nr": len(members), **times, "values": [one(*m) for m in members]}
    return {**times, **one(*members[0])}


def attr(sample_type, **fields):
    """An attribute whose sample_type comes first: most cases are about that."""
    return Attr(sample_type=sample_type, **fields)


# All fields that a trailer can have.
TRAILER = attr("IP|TID|TIME|ID|STREAM_ID|CPU|IDENTIFIER")
TRAILER_IDS = [42]


def trailer(time=1000):
    """A trailer of the event TRAILER."""
    return sample_id(TRAILER, pid=7, tid=8, time=time, id=42, stream_id=43, cpu=1)


TRAILER_FACTS = {
    "sample_id__pid": 7,
    "sample_id__tid": 8,
    "sample_id__time": 1000,
    "sample_id__id": 42,
    "sample_id__stream_id": 43,
    "sample_id__cpu": 1,
    "sample_id__identifier": 42,
}


def one_record(name, record, /, **facts):
    """A file with one record, of the event TRAILER."""
    return Case(name, File(attrs=[(TRAILER, TRAILER_IDS)], records=[record]),
                record_facts(0, **facts))
