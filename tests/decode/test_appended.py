"""A recording after another one in the same file or stream, as by cat(1)."""
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS, strict_json
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe
from perfdata.sample import sample, sample_id

pytestmark = pytest.mark.sanitize

ATTR = attr("IP|TID|TIME|PERIOD")


def samples(n):
    return [sample(ATTR, ip=0x1000 + i, pid=7, tid=8, time=1000 + i, period=i) for i in range(n)]


@pytest.fixture
def given(tmp_path):
    def store(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name
    return store


KILLED = ["01-basic", "03-callgraph-dwarf", "16-zstd", "18-pipe"]


@pytest.mark.parametrize("name", KILLED)
@pytest.mark.parametrize("less", [1, 3, 5, 7, 9, 15, 30, 300])
def test_a_recording_after_one_that_was_cut(name, less, given, decoder, decode):
    """The last record of the first one covers the beginning of the second."""
    data = (FIXTURES / "perf" / f"{name}.data").read_bytes()
    if name != "18-pipe":
        data = data[:48] + bytes(8) + data[56:sum(struct.unpack_from("<2Q", data, 40))]
    cut = data[:-less]
    second = (FIXTURES / "perf" / "02-callgraph-fp.data").read_bytes()
    alone = decode(given("alone", cut))
    document, returncode, _ = decoder.result(given("both", cut + second))
    read = [record for record in document["records"] if record["offset"] < len(cut)]
    assert returncode == 1 and read == alone["records"]
    assert all(record["type"] == "SKIPPED" for record in document["records"][len(read):])
    assert [(error["offset"], error["message"].split(":")[1]) for error in document["errors"]
            if error.get("record") == "recording"] == [(len(cut), " another one, of which nothing "
                                                       "is decoded")]


def test_records_between_a_damaged_size_and_another_recording(given, decode):
    data = bytearray(Pipe([r.header_attr(ATTR, [42]), *samples(40)]).build())
    struct.pack_into("<H", data, len(data) - 30 * 40 + 6, 2000)
    document = decode(given("damaged", bytes(data) + Pipe([]).build()))
    assert document["summary"]["by_type"]["SAMPLE"] >= 39


def test_bytes_of_a_recording_in_a_record_are_its_own(given, decode):
    """Those of a sample's raw data, for example: another record follows it."""
    raw = attr("IP|TID|TIME|RAW")
    inside = File(attrs=[(ATTR, [42])], records=samples(3)).build()
    records = [sample(raw, ip=1, pid=7, tid=8, time=1000 + i, raw=inside + bytes(4))
               for i in range(3)]
    document = decode(given("raw", File(attrs=[(raw, [42])], records=records).build()))
    assert not document["errors"] and document["summary"]["by_type"] == {"SAMPLE": 3}


def two_without_ids(order):
    """Two recordings of a pipe, of different events."""
    other = attr("IP|TID|TIME|ADDR|CPU|PERIOD")
    first = [sample(ATTR, ip=i, pid=7, tid=8, time=1000 + i, period=1) for i in range(9)]
    second = [sample(other, ip=i, pid=7, tid=8, time=5000 + i, addr=i, cpu=1, period=1)
              for i in range(9)]
    return b"".join(Pipe([r.header_attr(event, []), *records]).build(order)
                    for event, records in ((ATTR, first), (other, second)))


@pytest.mark.parametrize("order", "<>")
def test_events_of_two_recordings_without_ids(order, given, decoder, run_pdecode,
                                                tmp_path):
    """A sample is of the event of its own recording."""
    data = two_without_ids(order)
    path = given("two", data)
    document, returncode, _ = decoder.result(path)
    found = [record for record in document["records"] if record["type"] == "SAMPLE"]
    assert [record["attr_index"] for record in found] == 9 * [0] + 9 * [1]
    assert [record.get("addr") for record in found] == 9 * [None] + [hex(i) for i in range(9)]
    assert returncode == 1 and len(document["errors"]) == 1
    again = subprocess.run([TOOLS / "pencode"], input=run_pdecode(["--blobs", "full", path]).stdout,
                           capture_output=True, timeout=60)
    assert again.stdout == data, again.stderr
    fixed = tmp_path / "fixed"
    subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True, timeout=60)
    assert decoder.result(fixed)[0]["summary"]["by_type"]["SAMPLE"] == 9


def with_a_name_of_no_event(order):
    """Two recordings of a pipe; in the first one a name has the layout of both events, but no id of
    theirs."""
    own, other = attr("IP|TID|TIME|ID"), attr("IP|TID|TIME|CPU|IDENTIFIER")
    name = r.comm(7, 8, "name", sid=sample_id(own, pid=7, tid=8, time=1000, id=99))
    first = Pipe([r.header_attr(own, [1]), r.header_attr(own, [2]), name])
    second = Pipe([r.header_attr(other, [3]), r.finished_round()])
    return first.build(order) + second.build(order)


@pytest.mark.parametrize("recordings", [two_without_ids, with_a_name_of_no_event])
@pytest.mark.parametrize("order", "<>")
def test_by_time_a_record_is_read_as_where_it_is(order, recordings, given, run_pdecode):
    """Events of the second recording come while records of the first one wait."""
    path = given("two", recordings(order))

    def read(*options):
        document = strict_json(run_pdecode([*options, path]).stdout)
        return sorted(document["records"], key=lambda record: record["offset"])
    in_file = read()
    assert read("--sort", "time") == in_file
    assert sum("sample_id" in x or x["type"] == "SAMPLE" for x in in_file) in (1, 18)
