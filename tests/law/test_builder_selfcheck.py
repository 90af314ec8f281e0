"""The tests' own description of the format, checked against itself.

The layouts of perfdata/ make files in both byte orders, and perfdata/swap.py swaps the order of
files with them: both must agree on every byte. Whether a layout is right, the captures show: a walk
must end at the last byte of each record and section, and some bytes are pinned by hand. That they
are not libdecode's tables makes them a check of these.
"""

import os
import random
import struct
from pathlib import Path

import pytest

from perfdata import records as r
from perfdata import swap
from perfdata.attr import BRANCH_SAMPLE, FLAGS, READ_FORMAT, SAMPLE_TYPE, SIZES, Attr
from perfdata.catalog import cases, catalog
from perfdata.container import File, Pipe, gzip, zstd_records
from perfdata.features import NUMBER, SIMPLEPERF
from perfdata.sample import branch, sample, sample_id
from perfdata.wire import Wire, encode, fstr

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = cases()


def real_files():
    """The captures in fixtures/ and, if they are there, those of the corpus."""
    places = [
        ROOT / "fixtures",
        Path(os.environ.get("PERFDATA_CAPTURES", ROOT / "../shared/captures")),
        Path(os.environ.get("PERFDATA_CORPUS", ROOT / "../shared/corpus")),
    ]
    found = {}
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else ():
            if path.parent.name == "crash":     # damaged on purpose
                continue
            if path.is_dir() and (path / "data").is_file():
                found[str(path.relative_to(place))] = path
            elif path.is_file() and not (path.parent / "data").is_file():
                with open(path, "rb") as file:
                    if file.read(8) in (swap.LITTLE, swap.V1):
                        found[str(path.relative_to(place))] = path
    return found


REAL = real_files()


def load(path):
    if path.is_dir():
        return {p.name: p.read_bytes() for p in sorted(path.iterdir()) if p.is_file()}
    return path.read_bytes()


def plain(data):
    """The part in which two files with other compression must agree."""
    if not isinstance(data, dict):
        return swap.plain_records(data)
    return {
        name: swap.plain_records(part,
                                 data[swap.main_name(data)] if name.startswith("data.") else None)
        for name, part in data.items()
        if name.startswith("data") or name == swap.main_name(data)
    }


def parts_of(report):
    return report.parts.values() if report.parts else [report]


# --- made in one order and swapped from the other -------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_both_orders_agree(name):
    case = CASES[name]
    little, big = case.file.build("<"), case.file.build(">")
    swapped = swap.to_big_endian(little, long_size=case.long_size)
    if case.exact:
        assert swapped == big
        assert swap.to_little_endian(big) == little
    else:
        assert plain(swapped) == plain(big)
        assert plain(swap.to_little_endian(big)) == plain(little)


@pytest.mark.parametrize("name", CASES)
def test_every_byte_is_walked(name):
    """Except for the cases about bytes that no layout explains."""
    strange = {
        "body-of-a-newer-kernel": 8,
        "sample-trailing": 8,
        "feature-arch-with-more-after": 2,
    }
    for order in "<>":
        for report in parts_of(swap.walk(CASES[name].file.build(order))):
            assert sum(size for _, _, size in report.left) == strange.get(name, 0), report.left
            assert report.truncated is None


# --- pinned by hand -------------------------------------------------------------------------------


def test_bytes_pinned_by_hand():
    """A few layouts written out, because files are made and swapped by the same rows."""
    attr = Attr(sample_type="TID|TIME", flags=("disabled", "sample_id_all"), precise_ip=2, size=64)
    little, big = encode(attr, Wire("<")), encode(attr, Wire(">"))
    # bit 0, bits 15-16 holding 2, bit 18; from the other end: bit 63, bits 48-47 holding 2, bit 45
    assert little[40:48] == bytes.fromhex("0100050000000000")
    assert big[40:48] == bytes.fromhex("8001200000000000")
    assert little[:8] == bytes.fromhex("0100000040000000")
    assert big[:8] == bytes.fromhex("0000000100000040")

    sid = sample_id(attr, pid=1, tid=2, time=3)
    assert encode(r.comm(7, 8, "sh", misc=0x2000, sid=sid), Wire(">")) == bytes.fromhex(
        "00000003 2000 0028 00000007 00000008 7368000000000000 00000001 00000002 0000000000000003"
    )
    entry = branch(0x10, 0x20, mispred=1, cycles=2, type=3, priv=1)
    assert encode(entry, Wire("<"))[16:] == struct.pack("<Q", 1 | 2 << 4 | 3 << 20 | 1 << 30)
    assert encode(entry, Wire(">"))[16:] == struct.pack(">Q", 1 << 63 | 2 << 44 | 3 << 40 | 1 << 31)
    assert encode(fstr("a", 4), Wire(">")) == bytes.fromhex("00000004 61000000")


def test_headers_pinned_by_hand():
    attr = Attr(sample_type="IP", flags=(), size=64)
    data = File(attrs=[(attr, [5])], records=[sample(attr, ip=9)],
                features={3: fstr("box")}).build(">")
    assert data[:8] == b"2ELIFREP"
    header = struct.unpack(">12Q", data[8:104])
    # ids at 104, the attrs entry of 80 after them, then one sample of 16 bytes
    assert header == (104, 80, 112, 80, 192, 16, 0, 0, 1 << 3, 0, 0, 0)
    assert struct.unpack(">QQ", data[112 + 64 : 112 + 80]) == (104, 8)
    assert struct.unpack(">QQ", data[208:224]) == (224, 68)
    assert Pipe().build("<") == b"PERFILE2" + struct.pack("<Q", 16)


def test_bitmap_of_a_32_bit_producer():
    """Words of 4 bytes instead of 8, which differ only in a big-endian file."""
    attr = Attr(sample_type="IP", flags=())
    file = File(attrs=[(attr, [])], records=[sample(attr)],
                features={3: fstr("b"), 33: b"12345678"},
                long_size=4)
    assert file.build(">")[72:80] == bytes.fromhex("00000008 00000002")
    assert file.build("<")[72:80] == bytes.fromhex("0800000002000000")


# --- the catalogue is whole -----------------------------------------------------------------------


def walked():
    """(Case, Report) of every little-endian file of the catalogue."""
    for case in CASES.values():
        for report in parts_of(swap.walk(case.file.build("<"))):
            yield case, report


def attrs_of(case):
    file = getattr(case.file, "main", case.file)
    return [attr for attr, _ in getattr(file, "attrs", [])]


def test_every_record_type_is_there():
    types = {record[1] for _, report in walked() for record in report.records + report.inner}
    assert types >= set(range(1, 23)) | set(range(64, 87)) | set(r.SIMPLEPERF)


def test_every_feature_is_there():
    numbers = {section[0] for _, report in walked() for section in report.sections}
    assert numbers >= set(NUMBER.values()) - {0} | set(SIMPLEPERF)


def test_every_attribute_bit_is_there():
    attrs = [attr for case in CASES.values() for attr in attrs_of(case)]
    alone = {attr.sample_type for attr in attrs}
    assert alone >= {1 << bit for bit in range(len(SAMPLE_TYPE))}
    assert {attr.read_format for attr in attrs} >= set(range(1 << len(READ_FORMAT)))
    assert {flag for attr in attrs for flag in attr.flags} >= set(FLAGS) - {None}
    assert {attr.size for attr in attrs} >= set(SIZES)
    union = 0
    for attr in attrs:
        union |= attr.branch_sample_type
    assert union == (1 << len(BRANCH_SAMPLE)) - 1


def test_facts_name_existing_fields():
    kinds = {"record", "feature", "attr", "file", "summary", "errors"}
    for name, entry in catalog().items():
        report = swap.walk(entry.data)
        count = sum(len(p.records) + len(p.inner) for p in parts_of(report))
        assert entry.expect, name
        for kind, which, path, _ in entry.expect:
            assert kind in kinds, name
            assert kind != "record" or which < count or entry.data[:2] == swap.GZIP, (name, which)


# --- real files -----------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL, reason="neither captures nor corpus are here")
@pytest.mark.parametrize("name", REAL)
@pytest.mark.long
def test_walk_of_a_real_file(name):
    data = load(REAL[name])
    report = swap.Report()
    try:
        big = swap.swapped(data, report=report)
    except swap.NotSwappable as problem:
        pytest.skip(str(problem))
    for part in parts_of(report):
        assert part.left == []
        assert part.truncated is None
    assert plain(swap.swapped(big)) == plain(data)
    if not any(part.inner for part in parts_of(report)):
        assert swap.to_little_endian(big) == data


# --- what can't be swapped ------------------------------------------------------------------------


def test_refusals_say_why():
    attr = Attr(sample_type="IP", flags=())
    whole = File(attrs=[(attr, [1])], records=[sample(attr), sample(attr)]).build("<")
    with pytest.raises(swap.NotSwappable, match="other byte order"):
        swap.to_big_endian(swap.to_big_endian(whole))
    with pytest.raises(swap.NotSwappable, match="magic"):
        swap.to_big_endian(b"\x7fELF" + bytes(100))
    with pytest.raises(swap.NotSwappable, match="attrs section"):
        swap.to_big_endian(whole[:100].ljust(104, b"\0"))


def test_a_record_without_a_size_ends_the_walk():
    attr = Attr(sample_type="IP", flags=())
    broken = File(attrs=[(attr, [1])], records=[sample(attr, ip=7), r.record(9, b"", size=0),
                                                b"\xaa" * 40],
                  features={3: fstr("box")})
    assert swap.walk(broken.build("<")).garbage == swap.walk(broken.build("<")).records[0][0] + 16
    assert swap.to_big_endian(broken.build("<")) == broken.build(">")


def test_truncated_files_keep_what_is_whole():
    attr = Attr(sample_type="IP|TID", flags=())
    records = [sample(attr, ip=i, pid=1, tid=2) for i in range(4)]
    pipe = Pipe([r.header_attr(attr), *records])
    whole = pipe.build("<")
    for cut in range(1, 24):
        report = swap.walk(whole[:-cut])
        assert report.truncated == len(whole) - 24
        assert len(report.records) == 4
        big = swap.to_big_endian(whole[:-cut])
        assert big[: len(whole) - 24] == pipe.build(">")[: len(whole) - 24]


def test_damage_is_refused_or_walked():
    """No other exception, and no endless loop."""
    dice = random.Random(1)
    for case in list(CASES.values())[::9]:
        data = case.file.build("<")
        for _ in range(8 if isinstance(data, bytes) else 0):
            damaged = bytearray(data)
            for _ in range(3):
                damaged[dice.randrange(8, len(data))] = dice.randrange(256)
            for broken in (bytes(damaged), data[: dice.randrange(len(data))]):
                try:
                    swap.swapped(broken)
                except swap.NotSwappable:
                    pass


def test_compressed_files_are_the_same_after_the_records():
    """The sections after the data have moved, and their offsets with them."""
    attr = Attr(sample_type="IP|TIME")
    many = [sample(attr, ip=i * 0x1001, time=i) for i in range(500)]
    file = File(attrs=[(attr, [1])], records=[zstd_records(many, 3)], features={3: fstr("box")})
    big = swap.to_big_endian(file.build("<"))
    numbers = swap.walk(big).sections
    assert [number for number, _, _ in numbers] == [3]
    _, at, size = numbers[0]
    assert at + size == len(big)
    assert big[at : at + size] == encode(fstr("box"), Wire(">"))


def test_gzip_is_seen_through():
    attr = Attr(sample_type="IP", flags=())
    file = File(attrs=[(attr, [1])], records=[sample(attr, ip=1)])
    assert swap.to_big_endian(gzip(file.build("<"))) == gzip(file.build(">"))
