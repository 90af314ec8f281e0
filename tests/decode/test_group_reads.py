"""Counts of a group have the name of the event with the id."""
import json
import subprocess

import pytest

from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, Pipe
from perfdata.sample import read_values, sample
from schema_check import complaints

pytestmark = pytest.mark.sanitize

TYPE = "IDENTIFIER|IP|TID|TIME|READ"
LEADER = Attr(type=1, config=0, sample_period=1, sample_type=TYPE, read_format="ID|GROUP|LOST")
MEMBER = Attr(type=1, config=2, sample_period=1, sample_type=TYPE, read_format="ID|GROUP|LOST")
EVENTS = [(LEADER, [11, 12]), (MEMBER, [21, 22])]
VALUES = [(100, 11, 0), (3, 22, 1), (5, 99, 0)]     # no event has the id 99


def group_records():
    return [sample(LEADER, id=11, pid=1, tid=1, time=1, read={"values": VALUES}),
            r.read(1, 1, read_values(LEADER, values=VALUES))]


def values_of(document):
    return [[(value["id"], value.get("event")) for value in record["read"]["values"]]
            for record in document["records"] if "read" in record]


@pytest.mark.parametrize("mode", ["file", "big-endian", "pipe", "pipe with names"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_group_counts_name_their_events(mode, jobs, tmp_path, run_pdecode, pdecode):
    path = tmp_path / "group.data"
    heads = [r.header_attr(*event) for event in EVENTS]
    names = [r.event_update_name(21, "mine")] if mode == "pipe with names" else []
    if mode.startswith("pipe"):
        path.write_bytes(Pipe(heads + names + 500 * group_records()).build("<"))
    else:
        path.write_bytes(File(attrs=EVENTS, records=500 * group_records()).build(
            ">" if mode == "big-endian" else "<"))
    member = "mine" if names else "page-faults:HG"
    done = run_pdecode(["-j", jobs, path])
    document = json.loads(done.stdout)
    assert values_of(document) == 1000 * [[(11, "cpu-clock:HG"), (22, member), (99, None)]]
    document["records"] = document["records"][:6]
    assert not complaints("document.schema.json", document)
    back = subprocess.run([pdecode.parent / "pencode"], input=done.stdout, stdout=subprocess.PIPE,
                          check=True)
    assert back.stdout == path.read_bytes()


def test_an_event_of_one_count_is_the_records_own(tmp_path, decode):
    attr = Attr(type=1, config=0, sample_period=1, sample_type=TYPE, read_format="ID")
    path = tmp_path / "single.data"
    path.write_bytes(
        File(attrs=[(attr, [7])], records=[sample(attr, id=7, read={"value": 1, "id": 7})]).build(
            "<"))
    record, = decode(path)["records"]
    assert (record["event"], record["read"]) == ("cpu-clock:HG", {"value": 1, "id": 7})
