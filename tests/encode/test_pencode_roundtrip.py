"""pencode returns the original bytes from pdecode's output, for intact and damaged files."""
import random
import struct

import pytest

from conftest import FIXTURES, fixture_files, strict_json
from encoding import (COMPRESSED, document, features_of, first_difference, pdecode, pencode,
                      records_of, run)
from perfdata.catalog import catalog

GZIP = b"\x1f\x8b"
CATALOG = {name: entry.data for name, entry in catalog().items()}
FORMATS = ("json", "jsonl")


def same_again(data, *args):
    """The difference if the bytes are not returned. None if they are, or if they are no
    perf.data."""
    code, text = pdecode(data, *args)
    if code == 3:
        return None
    assert code in (0, 1)
    done = run("pencode", "-", stdin=text)
    if done.returncode:
        return done.stderr.decode()
    if done.stdout == data:
        return None
    place = first_difference(data, done.stdout)
    return f"{len(data)} bytes became {len(done.stdout)}, different from {place} on"


def directory_bytes(path):
    return {part.name: part.read_bytes() for part in path.iterdir() if part.is_file()}


def is_packed(path):
    with open(path, "rb") as f:
        return f.read(2) == GZIP


@pytest.mark.parametrize("form", FORMATS)
def test_file(data_file, form, tmp_path):
    args = ("--blobs", "full", "-f", form)
    if data_file.is_directory:
        _, text = pdecode(data_file.path, *args)
        out = tmp_path / "out"
        assert run("pencode", "-o", f"{out}/", stdin=text).returncode == 0
        assert directory_bytes(out) == directory_bytes(data_file.path)
    elif not is_packed(data_file.path):
        _, text = pdecode(data_file.path, *args)
        data, again = data_file.path.read_bytes(), pencode(text)
        assert data == again, f"different from {first_difference(data, again)} on"


def test_a_stream_after_a_file():
    """Features in records, of which one counts the elements of another; the header has none."""
    file = (FIXTURES / "perf" / "01-basic.data").read_bytes()
    stream = (FIXTURES / "perf" / "18-pipe.data").read_bytes()
    offset, size = struct.unpack_from("<2Q", file, 40)
    assert same_again(file[:offset + size] + stream) is None


def test_file_with_usual_blobs(data_file, tmp_path):
    """Without the payloads of compressed records: the same records, and without any the same
    bytes."""
    if data_file.is_directory or is_packed(data_file.path):
        pytest.skip("directories and packed files: elsewhere")
    code, text = pdecode(data_file.path)
    before = document(data_file.path)
    if any("cut" in record and "inner_offset" in record for record in before["records"]):
        pytest.skip("what is left out of it: below")
    again = pencode(text)
    if not any(record["type"] in COMPRESSED for record in before["records"]):
        assert again == data_file.path.read_bytes()
        return
    after = document(again)
    assert records_of(after) == records_of(before)
    assert after["attrs"] == before["attrs"]
    assert features_of(after, ["COMPRESSED"]) == features_of(before, ["COMPRESSED"])
    assert not any(record["type"] in COMPRESSED for record in after["records"])


def samples_of(doc):
    return [record for record in records_of(doc) if record["type"] == "SAMPLE"]


@pytest.fixture(scope="module")
def unflushed():
    """The JSON of a recording that ends within a compressed record, and its samples."""
    text = pdecode(FIXTURES / "perf" / "A3-zstd-unflushed.data")[1]
    return text, samples_of(strict_json(text))


@pytest.mark.parametrize("args", [[], ["-z"], ["--mode", "pipe"], ["-o", "out.data"]], ids=" ".join)
def test_half_a_record_of_a_compressed_stream_is_left_out_and_said(args, unflushed, tmp_path):
    text, before = unflushed
    done = run("pencode", *args, stdin=text, cwd=tmp_path)
    assert done.returncode == 1
    assert (done.stderr.decode()
            == ("pencode: stdin: 1 record left out: the compressed records hold only a part of it "
                "(pdecode --blobs full keeps it)\n"))
    after = document(done.stdout or (tmp_path / "out.data").read_bytes())
    assert after["errors"] == []
    assert samples_of(after) == before[:-1]
    assert "cut" in before[-1]


@pytest.mark.parametrize("form", FORMATS)
def test_catalogue(form, tmp_path):
    wrong = {}
    for name, data in CATALOG.items():
        if isinstance(data, dict) or data.startswith(GZIP):
            continue
        why = same_again(data, "--blobs", "full", "-f", form)
        if why:
            wrong[name] = why
    assert not wrong


@pytest.mark.parametrize("name", [name for name, data in CATALOG.items() if isinstance(data, dict)])
def test_catalogue_directory(name, tmp_path):
    data = {part: value for part, value in CATALOG[name].items() if part == "data"
            or part.startswith("data.")}
    if "data" not in data:
        pytest.skip("the main file had another name then")
    for part, value in data.items():
        path = tmp_path / "in" / part
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(value)
    _, text = pdecode(tmp_path / "in", "--blobs", "full")
    assert run("pencode", "-o", f"{tmp_path}/out/", stdin=text).returncode == 0
    assert directory_bytes(tmp_path / "out") == data


# tests/decode/test_hostile_mutants.py does the same to every length, in one process.
# A small file of each container, and one with all features.
CUT = ("file.le", "event-types.be", "gap.le", "pipe.le", "features-pipe.be", "zstd2-2.le",
       "zstd-auxtrace-after.be", "feature-event-desc.le", "attr-stride-larger.be", "killed.le",
       "tail.be", "late-attrs.le")


@pytest.mark.parametrize("name", CUT)
def test_cut_short(name):
    data = CATALOG[name]
    wrong = {}
    for size in range(0, len(data), 17):
        why = same_again(data[:size], "--blobs", "full")
        if why:
            wrong[size] = why
    for size in range(0, len(data), 41):
        why = same_again(data[:size], "--blobs", "full", "-f", "jsonl")
        if why:
            wrong[size] = why
    assert not wrong


@pytest.mark.parametrize("name",
                         ["attr-smaller-than-stride.le", "stride-larger-than-attr.be", "file.be"])
def test_each_byte_before_the_data(name):
    data = CATALOG[name]
    wrong = {}
    for at in range(8, 260):
        for value in 0, 0xff:
            why = (same_again(data[:at] + bytes([value]) + data[at + 1:], "--blobs", "full")
                   if data[at] != value else None)
            if why:
                wrong[at, value] = why
    assert not wrong


@pytest.mark.parametrize("name", ["file.le", "file.be"])
@pytest.mark.parametrize("size", [80, 87, 96, 104])
def test_data_over_a_header_that_is_cut_short(name, size):
    """The header states data at offset 0, and has bits that its end lacks."""
    data = bytearray(CATALOG[name][:size])
    data[40:56] = bytes(16)
    data[72:] = bytes(range(1, size - 71))
    assert not same_again(bytes(data), "--blobs", "full")


def damaged(data, seed):
    """A few changed bytes, often in the header, on which much depends."""
    choose = random.Random(seed)
    data = bytearray(data)
    end = len(data) if choose.random() < 0.6 else min(len(data), 600)
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        at = choose.randrange(8, end)
        data[at] = choose.choice((0, 1, 0x7f, 0xff, choose.randrange(256),
                                  data[at] ^ 1 << choose.randrange(8)))
    return bytes(data)


def test_damaged_catalogue():
    wrong = {}
    for number, (name, data) in enumerate(CATALOG.items()):
        if isinstance(data, dict) or data.startswith(GZIP) or len(data) < 16:
            continue
        why = same_again(damaged(data, number), "--blobs", "full", "-f", FORMATS[number % 2])
        if why:
            wrong[name] = why
    assert not wrong


SMALL = [file for file in fixture_files() if not file.is_directory
         and file.path.stat().st_size < 20000]


@pytest.mark.parametrize("file", SMALL[::4], ids=lambda file: file.name)
def test_damaged_capture(file):
    data = file.path.read_bytes()
    wrong = {}
    for seed in range(8):
        why = same_again(damaged(data, seed), "--blobs", "full")
        if why:
            wrong[seed] = why
    assert not wrong
