"""KSYMBOL and BPF_EVENT records that a kernel wrote for several events: for each but the first, the
size counts sample_id more than once. The one that was written follows the fields, then old bytes of
the buffer."""
import json

import pytest

from encoding import document, pdecode, pencode, run
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, zstd_records
from perfdata.sample import sample, sample_id
from perfdata.wire import Wire, encode

pytestmark = pytest.mark.sanitize

ENDIAN = {"<": "little", ">": "big"}
WITH_IDS = "IP|TID|TIME|ID|CPU|IDENTIFIER"
NAMES = ["bpf_prog_1234567", "bpf_prog_a", "x"]     # padded by 8, 6 and 7 bytes
STALE = bytes(range(0x91, 0x100))       # no header of a record, no id, never zero


def attr_of(sample_type=WITH_IDS):
    return Attr(type=1, config=0, sample_period=1, sample_type=sample_type,
                flags=("sample_id_all",))


def trailer(attr, time, id=2):
    return sample_id(attr, pid=7, tid=8, time=time, id=id, cpu=1)


def size_of(attr, order="<"):
    return len(encode(trailer(attr, 1), Wire(order)))


def oversized(record, stale):
    """The record with old bytes after its trailer, counted by its size."""
    def build(wire):
        blob = encode(record, wire) + stale
        return blob[:6] + len(blob).to_bytes(2, ENDIAN[wire.order]) + blob[8:]
    return build


def ksymbol(attr, time, name=NAMES[1], id=2):
    return r.ksymbol(0xFFFFFFFFC0000000, 128, 1, 0, name, sid=trailer(attr, time, id))


def bpf_event(attr, time, id=2):
    return r.bpf_event(1, 0, 17, bytes(range(8)), sid=trailer(attr, time, id))


def recording(attrs, records, order):
    """The records, after one that is known to be later."""
    attr = attrs[0][0]
    return File(attrs=attrs, records=[
        sample(attr, ip=1, pid=7, tid=8, time=900, id=attrs[0][1][0], cpu=1), *records,
    ]).build(order)


def two_events(attr):
    return [(attr, [1]), (attr, [2])]


def decoded(data, *args):
    code, text = pdecode(data, *args)
    assert code == 0, text[-1000:]
    return json.loads(text)


def check_round_trip(data):
    assert pencode(pdecode(data, "--blobs", "full")[1]) == data


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("more", [1, 2, 5])
def test_sample_id_follows_the_fields(order, more):
    attr = attr_of()
    stale = (STALE * 3)[:more * size_of(attr, order)]
    built = [*(ksymbol(attr, 100 + i, name) for i, name in enumerate(NAMES)), bpf_event(attr, 200)]
    data = recording(two_events(attr), [oversized(one, stale) for one in built], order)
    exact = decoded(recording(two_events(attr), built, order))["records"]
    shown = decoded(data)
    assert shown["errors"] == []
    for record, wanted in zip(shown["records"][1:], exact[1:], strict=True):
        assert record.pop("trailing") == stale.hex()
        assert record.pop("size") == wanted.pop("size") + len(stale)
        assert record["sample_id"]["time"] in (100, 101, 102, 200) and record["attr_index"] == 1
        del record["offset"], wanted["offset"]
        assert record == wanted
    check_round_trip(data)


@pytest.mark.parametrize("size", [16, 24, 56, 64])
def test_another_recorders_sample_id_has_another_size(size):
    """The id tells where sample_id is."""
    attr = attr_of("IP|TID|TIME|CPU|IDENTIFIER")
    assert size_of(attr) == 32
    data = recording(two_events(attr), [oversized(ksymbol(attr, 100), STALE[:size]),
                                        oversized(bpf_event(attr, 101), STALE[:size])], "<")
    shown = decoded(data)["records"][1:]
    assert [(one["sample_id"]["time"], one["trailing"]) for one in shown] == [
        (100, STALE[:size].hex()), (101, STALE[:size].hex())]
    check_round_trip(data)


@pytest.mark.parametrize("sample_type, ids", [
    ("IP|TID|TIME", [1]), ("IP|TIME|CPU", [1]), ("IP|TID|TIME|ID|CPU|IDENTIFIER", [1, 2]),
    ("IP|TID|TIME|IDENTIFIER", [2]), ("IP|IDENTIFIER", [2]), ("IP|TIME|ID", []),
])
def test_one_event(sample_type, ids):
    """Without ids in records, their sizes alone decide."""
    attr = attr_of(sample_type)
    stale = STALE[:size_of(attr)]
    built = [oversized(one, stale) for one in (ksymbol(attr, 100), bpf_event(attr, 101))]
    data = File(attrs=[(attr, ids)], records=built).build("<")
    records = decoded(data)["records"]
    assert [record["trailing"] for record in records] == [stale.hex()] * 2
    if "TIME" in sample_type:
        assert [record["sample_id"]["time"] for record in records] == [100, 101]
    assert [record["sample_id"].get("id", 2) for record in records] == [2, 2]
    check_round_trip(data)


def test_events_that_place_ids_differently():
    first, second = attr_of("IP|TID|TIME|IDENTIFIER"), attr_of("IP|TID|TIME|ID|CPU")
    stale = STALE[:size_of(second)]
    records = [oversized(ksymbol(second, 100), stale), oversized(bpf_event(second, 101), stale)]
    data = recording([(first, [1]), (second, [2])], records, "<")
    shown = decoded(data)["records"][1:]
    assert [(one["attr_index"], one["sample_id"]["time"]) for one in shown] == [(1, 100), (1, 101)]
    check_round_trip(data)


def test_every_way_of_reading_shows_the_same():
    attr = attr_of()
    stale = STALE[:size_of(attr)]
    records = []
    for i in range(300):
        records += [oversized(ksymbol(attr, 100 + 2 * i, NAMES[i % 3]), stale),
                    oversized(bpf_event(attr, 101 + 2 * i), stale),
                    sample(attr, ip=1, pid=7, tid=8, time=1000 + i, id=1, cpu=1)]
    data = recording(two_events(attr), records, "<")
    times = [100 + i for i in range(600)]
    for jobs in ("1", "2"):
        code, text = pdecode(data, "-f", "jsonl", "--records-only", "--sort", "time", "-j", jobs)
        lines = [json.loads(line) for line in text.splitlines()]
        found = [line["sample_id"]["time"] for line in lines if "sample_id" in line]
        assert code == 0 and found == times
        assert [line["type"] for line in lines[:2]] == ["KSYMBOL", "BPF_EVENT"]
        stats = decoded(data, "-f", "stats", "-j", jobs)
        assert stats["by_type"]["KSYMBOL"]["records"] == 300 and not stats["errors"]
        kept = decoded(data, "--time", "0.0000001,0.000000199", "-j", jobs)["records"]
        assert [one["sample_id"]["time"] for one in kept] == times[:100]


def test_the_rest_is_noted():
    attr = attr_of()
    stale = STALE[:size_of(attr)]
    data = recording(two_events(attr), [oversized(ksymbol(attr, 100), stale)], "<")
    done = run("pdecode", "-v", "-f", "stats", "-", stdin=data)
    assert done.returncode == 0
    assert f": {len(stale)} bytes after the last field" in done.stderr.decode()
    assert not run("pdecode", "-", stdin=data).stderr


def test_zeros_after_a_name_precede_sample_id():
    """A program that gives names a constant size writes sample_id after it."""
    attr = attr_of()
    room = 8 + 2 * size_of(attr)
    built = ksymbol(attr, 100, "x".ljust(room, "\0")[:room - 1])
    data = recording(two_events(attr), [built], "<")
    record = decoded(data)["records"][1]
    assert (record["name"], record["sample_id"]["time"]) == ("x", 100)
    assert "trailing" not in record
    check_round_trip(data)


def test_an_unknown_id_after_the_fields_is_none():
    """The bytes may be fields of a newer kernel: the record is shown without a sample_id."""
    attr = attr_of()
    size = size_of(attr)
    later = bytes(range(0x91, 0x91 + size))
    whole = bpf_event(attr, 100)

    def build(wire):
        blob = encode(whole, wire)
        blob = blob[:-size] + later + blob[-size:]
        return blob[:6] + len(blob).to_bytes(2, ENDIAN[wire.order]) + blob[8:]
    data = recording(two_events(attr), [build], "<")
    record = document(data)["records"][1]
    assert "sample_id" not in record and len(record["trailing"]) == 4 * size
    check_round_trip(data)


def test_any_other_size_leaves_sample_id_at_the_end():
    attr = attr_of()

    def build(wire):
        blob = encode(bpf_event(attr, 100), wire)
        blob = blob[:-size_of(attr)] + STALE[:8] + blob[-size_of(attr):]
        return blob[:6] + len(blob).to_bytes(2, ENDIAN[wire.order]) + blob[8:]
    data = recording(two_events(attr), [build], "<")
    record = decoded(data)["records"][1]
    assert record["sample_id"]["time"] == 100 and record["trailing"] == STALE[:8].hex()
    check_round_trip(data)


def test_records_after_it_are_no_old_bytes():
    """A damaged size that covers a record of a multiple of sample_id's size is still damage."""
    attr = attr_of("IP|TID|TIME")
    following = encode(bpf_event(attr, 101), Wire("<"))
    assert len(following) % size_of(attr) == 8
    size = size_of(attr)
    covered = encode(r.lost_samples(1, sid=trailer(attr, 101)), Wire("<"))
    assert len(covered) % size == 0
    data = File(attrs=[(attr, [1])], records=[
        oversized(bpf_event(attr, 100), covered)]).build("<")
    code, text = pdecode(data)
    assert code == 1 and [error["code"] for error in json.loads(text)["errors"]] == ["SIZE"]


def old_samples(attr, size, cut):
    """Bytes that the buffer had before, from the middle of a record on."""
    old = b"".join(encode(sample(attr, ip=2, pid=7, tid=8, time=1000 + i, id=1, cpu=1), Wire("<"))
                   for i in range(size // 8))
    return old[cut:cut + size]


@pytest.mark.parametrize("packed", [False, True], ids=["", "compressed"])
@pytest.mark.parametrize("cut, size", [(8, 8384), (24, 8384), (0, 8384), (0, 8352), (0, 48)])
def test_old_samples_in_a_sample(cut, size, packed, tmp_path):
    """Where two recorders sample the same event, the kernel adds the size of one's stack. Old
    samples may follow the fields directly, and even end where the large sample does."""
    attr = attr_of("IP|TID|TIME|CPU|IDENTIFIER")
    new = [sample(attr, ip=1, pid=7, tid=8, time=10**6 + i, id=1, cpu=1) for i in range(50)]
    large = [oversized(one, old_samples(attr, size, cut)) if 10 <= i < 40 else one
             for i, one in enumerate(new)]
    if packed:
        large = [zstd_records(large)]
    data = File(attrs=two_events(attr), records=large).build("<")
    code, text = pdecode(data, "--blobs", "full")
    shown = json.loads(text)
    times = [one["time"] for one in shown["records"] if one["type"] == "SAMPLE"]
    assert code == 1 and times == [10**6 + i for i in range(50)]
    assert [error["code"] for error in shown["errors"]] == ["TRAILING"] * 30
    assert pencode(text) == data
    (tmp_path / "in").write_bytes(data)
    assert run("prepair", "-o", tmp_path / "out", tmp_path / "in").returncode == 1
    fixed = document(tmp_path / "out")
    assert not fixed["errors"]
    assert [one["time"] for one in fixed["records"] if one["type"] == "SAMPLE"] == times


def test_prepair_corrects_foreign_ids(tmp_path):
    """Such samples have the id of the other recorder's event, with which perf rejects a file."""
    attr = attr_of("IP|TID|TIME|CPU|IDENTIFIER")
    dummy = Attr(type=1, config=9, sample_type=attr.sample_type, flags=attr.flags)
    samples = [sample(attr, ip=1, pid=7, tid=8, time=10**6 + i, id=99, cpu=1) for i in range(4)]
    samples[1:3] = [oversized(one, old_samples(attr, 80, 8)) for one in samples[1:3]]
    data = File(attrs=[(dummy, [1]), (attr, [2, 3])], records=samples).build("<")
    (tmp_path / "in").write_bytes(data)
    done = run("prepair", "--json", "-o", tmp_path / "out", tmp_path / "in")
    assert json.loads(done.stdout)["mended"]["ids"] == 4
    assert [one["identifier"] for one in document(tmp_path / "out")["records"]] == [2] * 4
