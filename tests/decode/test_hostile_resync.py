"""After a damaged record, decoding continues where records can be trusted again; the bytes between
are kept and reported.

The files are made by the tests and then damaged: the expected result follows from the damage, not
from the decoder.
"""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe, zstd_records
from perfdata.sample import sample, sample_id
from perfdata.stacks import STACKS, with_old_records
from perfdata.wire import Wire, encode

pytestmark = pytest.mark.sanitize

ATTR = attr("IP|TID|TIME|CPU|PERIOD|IDENTIFIER")
IDS = [71, 72]
FIRST, COUNT = 5_000_000_000, 40


def stream(count=COUNT):
    """Samples with a COMM after every fourth."""
    parts = []
    for i in range(count):
        time = FIRST + 1000 * i
        parts.append(sample(ATTR, ip=0xffffffff81000000 + i, pid=7, tid=8, time=time, cpu=1,
                            period=i, identifier=IDS[i % 2]))
        if i % 4 == 3:
            parts.append(r.comm(7, 8, f"thread{i}",
                                sid=sample_id(ATTR, pid=7, tid=8, time=time, id=IDS[0], cpu=1)))
    return parts


def plain(kind, order="<"):
    """(bytes, [(offset, size)]) of a file or pipe with the stream."""
    wire = Wire(order)
    parts = stream()
    if kind == "file":
        data = File(attrs=[(ATTR, IDS)], records=parts).build(order)
        at = struct.unpack_from(order + "Q", data, 40)[0]
    else:
        head = r.header_attr(ATTR, IDS)
        data = Pipe([head, parts]).build(order)
        at = 16 + len(encode(head, wire))
    places = []
    for part in parts:
        size = len(encode(part, wire))
        places.append((at, size))
        at += size
    return bytearray(data), places


def decode(run_pdecode, data, *args):
    done = run_pdecode([*args, "-"], input=bytes(data))
    return json.loads(done.stdout), done


def offsets(document):
    return [record["offset"] for record in document["records"]
            if record["type"] in ("SAMPLE", "COMM")]


def gaps(document):
    return [(error["offset"], error["skipped"]) for error in document["errors"] if error["skipped"]]


def again(output):
    return subprocess.run([TOOLS / "pencode"], input=output, capture_output=True, check=True).stdout


SIZES = {"zero": 0, "one": 1, "seven": 7, "max": 0xffff, "max-1": 0xfffe, "larger": 0x0808,
         "odd": 57, "largest-8": 0xfff8}


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
@pytest.mark.parametrize("which", [0, 1, 20, COUNT])
@pytest.mark.parametrize("size", SIZES)
def test_a_size_that_is_damaged_costs_one_record(size, which, kind, order, run_pdecode):
    data, places = plain(kind, order)
    struct.pack_into(order + "H", data, places[which][0] + 6, SIZES[size])
    document, done = decode(run_pdecode, data)
    assert offsets(document) == [at for at, _ in places if at != places[which][0]]
    assert gaps(document) == [places[which]]
    assert document["summary"]["skipped"] == places[which][1]
    assert done.returncode == 1
    assert again(done.stdout) == data


@pytest.mark.parametrize("kind", ["file", "pipe"])
@pytest.mark.parametrize("size", [8, 16, 24, 32, 48])
def test_a_size_that_is_too_small_costs_one_record(size, kind, run_pdecode):
    data, places = plain(kind)
    at, real = places[20]
    struct.pack_into("<H", data, at + 6, size)
    document, done = decode(run_pdecode, data)
    assert offsets(document) == [offset for offset, _ in places]
    assert gaps(document) == [(at + size, real - size)]
    assert again(done.stdout) == data


@pytest.mark.parametrize("type", [0, 1, 11, 13, 63, 73, 200, 0x8009])
def test_a_type_that_is_damaged_is_corrected(type, run_pdecode):
    data, places = plain("file")
    struct.pack_into("<I", data, places[20][0], type)
    document, done = decode(run_pdecode, data)
    [error] = document["errors"]
    assert (error["code"], error["field"], error["offset"]) == ("MISMATCH", "type", places[20][0])
    assert again(done.stdout) == data


def test_a_type_that_is_implausible_costs_one_record(run_pdecode):
    for type in (0xff0009, 0xffffffff):
        data, places = plain("file")
        struct.pack_into("<I", data, places[20][0], type)
        document, done = decode(run_pdecode, data)
        assert offsets(document) == [at for at, _ in places if at != places[20][0]], type
        assert again(done.stdout) == data


@pytest.mark.parametrize("kind", ["file", "pipe"])
@pytest.mark.parametrize("hole", [8, 64, 512, 1000])
def test_bytes_that_are_overwritten(hole, kind, run_pdecode):
    data, places = plain(kind)
    start = places[10][0]
    for byte in (0x00, 0x41, 0xff):
        broken = bytearray(data)
        broken[start:start + hole] = bytes([byte]) * hole
        document, done = decode(run_pdecode, broken)
        intact = [at for at, size in places if at >= start + hole or at + size <= start]
        assert set(offsets(document)) >= set(intact)
        assert again(done.stdout) == broken


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_bytes_that_are_missing_or_too_many(kind, run_pdecode):
    """The next records do not begin at multiples of 8."""
    data, places = plain("pipe")
    cut = places[10][0] + 13
    for broken, moved in ((data[:cut] + data[cut + 5:], -5), (data[:cut] + b"abc" + data[cut:], 3)):
        document, _ = decode(run_pdecode, broken)
        assert (set(offsets(document)) >= {at for at, _ in places[:10]}
                | {at + moved for at, _ in places[11:]})


@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_a_long_gap_is_one_error(where, run_pdecode):
    """Longer than the window that is searched, and than the largest piece that is shown."""
    data, places = plain("pipe")
    noise = bytes((i * 7919 >> 3 | 0x80) & 0xff for i in range(3_000_001))
    at = {"first": places[0][0], "middle": places[20][0], "last": len(data)}[where]
    broken = data[:at] + noise + data[at:]
    document, done = decode(run_pdecode, broken)
    assert gaps(document) == [(at, len(noise))]
    assert offsets(document) == [o if o < at else o + len(noise) for o, _ in places]
    pieces = [record for record in document["records"] if record["type"] == "SKIPPED"]
    assert max(len(piece["body"]) // 2 for piece in pieces) <= 32 << 10
    assert again(done.stdout) == broken


@pytest.mark.parametrize("first, second", [(3, 14), (4, 13), (5, 14), (6, 13), (7, 13), (8, 14)])
def test_two_blocks_that_are_exchanged(first, second, run_pdecode):
    """The second one is from a sample with a long call chain, which then has later records in it:
    those before that sample are no old ones in the copy of a stack."""
    data = (FIXTURES / "perf" / "02-callgraph-fp.data").read_bytes()
    blocks = [data[at:at + 512] for at in range(0, len(data), 512)]
    blocks[first], blocks[second] = blocks[second], blocks[first]
    edges = {512 * block + end for block in (first, second) for end in (0, 512)}

    def samples(document):
        return {(o["offset"], o["size"]) for o in document["records"] if o["type"] == "SAMPLE"}
    intact = {(at, size) for at, size in samples(decode(run_pdecode, data)[0])
              if at // 512 not in (first, second) and not edges & set(range(at + 1, at + size))}
    document, done = decode(run_pdecode, b"".join(blocks))
    assert len(intact) > 50 and samples(document) >= intact
    assert again(run_pdecode(["--blobs", "full", "-"], input=b"".join(blocks)).stdout) \
        == b"".join(blocks)


def test_inside_compressed_records(run_pdecode):
    """The records were damaged before they were compressed."""
    wire = Wire()
    parts = [encode(part, wire) for part in stream()]
    inner = [sum(map(len, parts[:i])) for i in range(len(parts))]
    for size in (0, 7, 0x0808, 0xfff8):
        bad = list(parts)
        bad[20] = parts[20][:6] + struct.pack("<H", size) + parts[20][8:]
        data = File(attrs=[(ATTR, IDS)], records=[zstd_records([b"".join(bad)], pieces=3)]).build()
        document, _ = decode(run_pdecode, data)
        seen = [record["inner_offset"] for record in document["records"]
                if record["type"] in ("SAMPLE", "COMM")]
        assert seen == inner[:20] + inner[21:]
        assert [error["skipped"] for error in document["errors"]] == [len(parts[20])]


def test_a_payload_that_is_too_long(run_pdecode):
    """Its size counts as damaged if records are found inside."""
    parts = stream()
    aux = encode(r.auxtrace(b"\xa5" * 4096), Wire())
    data = bytearray(File(attrs=[(ATTR, IDS)], records=[parts[:10], aux, parts[10:]]).build())
    at = data.index(b"\xa5" * 4096) - 48
    for size in (1 << 63, (1 << 64) - 1, len(data)):
        struct.pack_into("<Q", data, at + 8, size)
        document, done = decode(run_pdecode, data)
        assert len(offsets(document)) == len(parts)
        assert gaps(document) == [(at, 4096)] and document["errors"][0]["code"] == "PAYLOAD"
        assert again(done.stdout) == data


@pytest.mark.parametrize("block", [3000, 4096, 4907])
def test_tracing_data_without_a_block(block, run_pdecode, tmp_path):
    """The records after it are read from a stream as from a file."""
    data = (FIXTURES / "perf" / "19-pipe-tp.data").read_bytes()
    data = data[:block] + data[block + 4096:]
    (tmp_path / "t.data").write_bytes(data)
    document, done = decode(run_pdecode, data)
    whole = json.loads(run_pdecode([tmp_path / "t.data"]).stdout)
    assert document["records"] == whole["records"]
    assert document["summary"]["by_type"]["SAMPLE"] == 11
    assert again(run_pdecode(["--blobs", "full", "-"], input=data).stdout) == data


def test_a_file_that_ends_in_a_record_is_cut_there(run_pdecode):
    """The incomplete record is not decoded as another type."""
    data, places = plain("pipe")
    at, size = places[-1]
    for left in range(1, size):
        document, _ = decode(run_pdecode, data[:at + left])
        assert offsets(document)[:len(places) - 1] == [offset for offset, _ in places[:-1]]
        last = document["records"][-1]
        assert (last["offset"], last["type"]) == (at, "SKIPPED" if left < 8 else "COMM")
        assert left < 8 or last["cut"] == left


HOLES = {"size": (6, b"\0\0"), "type": (3, b"\x77"), "head": (0, bytes(64)),
         "more": (0, bytes(9000))}


@pytest.mark.parametrize("before", [200, 4096, 8000])
@pytest.mark.parametrize("hole", HOLES)
@pytest.mark.parametrize("kind", ["file", "pipe", "compressed"])
def test_old_records_in_stacks_are_none(kind, hole, before, run_pdecode):
    """They are whole and form a chain; but the samples that contain them are newer."""
    records = with_old_records(0, 60, before=before)
    size = len(encode(records[0], Wire("<")))
    blob = bytearray(encode(records, Wire("<")))
    at, bad = HOLES[hole]
    at += 20 * size
    blob[at:at + len(bad)] = bad
    lost = {20, 21} if hole == "more" else {20}
    if kind == "pipe":
        data = Pipe([r.header_attr(STACKS, [1]), lambda wire: bytes(blob)]).build("<")
    else:
        body = zstd_records([lambda wire: bytes(blob)],
                            pieces=40) if kind == "compressed" else lambda wire: bytes(blob)
        data = File(attrs=[(STACKS, [1])], records=[body]).build("<")
    document, done = decode(run_pdecode, data)
    times = [record["time"] for record in document["records"] if record["type"] == "SAMPLE"]
    assert times == [2 * 10**9 + 20 * n for n in range(60) if n not in lost]
    assert done.returncode == 1


CHAINS = attr("IP|TID|TIME|CALLCHAIN")


def chains(count, word):
    """Samples of 768 bytes. Each word of the callchain, read as a header, has that size, and so
    leads into the callchain of the next sample."""
    return [sample(CHAINS, ip=5, pid=7, tid=8, time=FIRST + n, callchain=[word] * 91)
            for n in range(count)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("type_id", [0x100, 0x1234, 0xffff])
def test_records_are_found_in_an_endless_chain(type_id, order, run_pdecode):
    """200 bytes are missing: from there on, the callchains form an endless chain if they are read
    as headers."""
    word = struct.unpack(order + "Q", struct.pack(order + "IHH", type_id, 0, 768))[0]
    blob = bytearray(encode(chains(4000, word), Wire(order)))
    del blob[100 * 768 + 400:100 * 768 + 600]
    data = File(attrs=[(CHAINS, [1])], records=[lambda wire: bytes(blob)]).build(order)
    document, done = decode(run_pdecode, data)
    times = [record["time"] for record in document["records"] if record["type"] == "SAMPLE"]
    assert times == [FIRST + n for n in range(4000) if n != 101]
    assert gaps(document) == [(data.index(blob) + 101 * 768, 768 - 200)]
    assert again(done.stdout) == data


@pytest.mark.parametrize("type_id", [120, 0xff, 0x80ff, 0xffff])
def test_many_records_of_an_unknown_type_are_records(type_id, run_pdecode):
    """More of them in a row than are searched, of a newer perf or another tool. Those of the other
    tool contain no records: compressed bytes contain pieces of records."""
    inside = encode(chains(1, 0), Wire("<")) if type_id < 0x100 else bytes(range(256)) * 3
    blob = (struct.pack("<IHH", type_id, 0, 8 + 5 * len(inside)) + 5 * inside) * 800
    data = File(attrs=[(CHAINS, [1])],
                records=[chains(10, 0), lambda wire: blob, chains(10, 0)]).build("<")
    document, done = decode(run_pdecode, data)
    assert len(blob) > 3_000_000 and done.returncode == 0 and not document["errors"]
    assert ([record["type"] for record in document["records"]] == ["SAMPLE"] * 10
            + ["UNKNOWN"] * 800 + ["SAMPLE"] * 10)
