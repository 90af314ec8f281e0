"""A file rewritten in the other byte order decodes to the same JSON except for `byte_order`,
bit-fields included.

perfdata/swap.py rewrites files by the tests' own description of the format. Bytes that the JSON
shows as they are in the file, because no layout explains them, are compared with the file instead.
Compressed files are compressed again, so their sizes and offsets differ.
"""
import copy
import gzip

import pytest

from conftest import fixture_files
from encoding import records_of
from perfdata import swap
from perfdata.catalog import cases, catalog

COMPRESSED = ("COMPRESSED", "COMPRESSED2")


class Bytes:
    """The bytes of a file, decompressed, or of the files of a directory."""

    def __init__(self, data):
        parts = data if isinstance(data, dict) else {None: data}
        self.parts = {name: gzip.decompress(part) if part[:2] == swap.GZIP else part
                      for name, part in parts.items()}
        self.main = swap.main_name(data) if isinstance(data, dict) else None

    def hex(self, offset, size, file=None):
        return self.parts[file or self.main][offset:offset + size].hex()


def own_bytes(holder, key, expected):
    """Replaces a value that must be the file's bytes by their number, which is equal in both
    orders."""
    assert holder[key] == expected, f"{key} has other bytes than the file"
    holder[key] = len(expected) // 2


def raw_features(features, expected):
    for key in list(features):
        if key.endswith("_raw"):
            own_bytes(features, key, expected(key.removesuffix("_raw")))


def without_order(document, data, order):
    """The part of the document that must be equal in both orders."""
    document = copy.deepcopy(document)
    data = Bytes(data)
    assert document["file"].pop("byte_order") == order
    sections = {section["name"]: (section["offset"], section["size"])
                for section in document["file"].get("sections", [])}
    piped = {}
    for record in document["records"]:
        file = record.get("file")
        if record["type"] == "SKIPPED":
            own_bytes(record, "body", data.hex(record["offset"], len(record["body"]) // 2, file))
        elif record["type"] == "HEADER_FEATURE":
            payload = data.hex(record["offset"] + 16, record["size"] - 16, file)
            raw_features(record.get("feature", {}), lambda name, payload=payload: payload)
            piped.update((name, payload) for name in record.get("feature", {}))
    raw_features(document["features"], lambda name: data.hex(*sections[name]) if name in sections
                 else piped[name])
    for error in document["errors"]:
        if error["code"] == "GARBAGE":  # numbers from bytes that have no order
            del error["want"], error["message"]
    if any(record["type"] in COMPRESSED for record in document["records"]):
        without_places(document)
    return document


def without_places(document):
    """Removes everything that depends on the size of the compressed data."""
    file = document["file"]
    for key in ("size", "data_size"):
        file.pop(key, None)
    document["summary"].pop("account")
    for section in file.get("sections", []):
        del section["offset"]
        if section["name"] == "data":
            del section["size"]
    for record in document["records"] + document["errors"]:
        del record["offset"]
    # a record that straddles two of them can come before or after the second
    document["records"] = [record for record in document["records"]
                           if record["type"] not in COMPRESSED]
    if "AUXTRACE" in document["features"]:
        for entry in document["features"]["AUXTRACE"]["entries"]:
            del entry["file_offset"]


def differences(one, other, path=""):
    """The paths of the differences, each with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(one.get(key, "(none)"), other.get(key, "(none)"),
                                   f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other)):
            yield from differences(*pair, f"{path}[{i}]")
    elif type(one) is not type(other) or one != other:
        yield path, one, other


def assert_same(little, big):
    wrong = list(differences(little, big))
    assert not wrong, "\n".join(f"{path}: little {a!r:.100}, big {b!r:.100}"
                                for path, a, b in wrong[:20])


def swapped(data):
    try:
        return swap.to_big_endian(data)
    except swap.NotSwappable as problem:
        pytest.skip(str(problem))


# The swapper ends at the damage, the decoder finds records after it: there the swapped file is
# still little-endian.
DAMAGED = {"perf.data.piped.corrupted.zero_size_sample-3.2"}
CUT = {"A3-zstd-unflushed.data"}


def before_damage(document):
    end = document["errors"][0]["offset"]
    return [record for record in document["records"] if record["offset"] < end]


def but_the_cut_one(document):
    """All records but the incomplete one. The swapped file can have one more compressed record."""
    return [record for record in records_of(document) if "cut" not in record]


@pytest.mark.sanitize
@pytest.mark.long
def test_file_swapped_to_big_endian(data_file, decoder, tmp_path):
    little = swap.load(data_file.path)
    big = swapped(little)
    path = swap.store(tmp_path / data_file.path.name, big)
    one, other = decoder.result(data_file.path), decoder.result(path)
    assert one.returncode == other.returncode
    if data_file.path.name in DAMAGED:
        assert_same(before_damage(one.document), before_damage(other.document))
        return
    if data_file.path.name in CUT:
        assert_same(but_the_cut_one(one.document), but_the_cut_one(other.document))
        return
    assert_same(without_order(one.document, little, "little"),
                without_order(other.document, big, "big"))


@pytest.mark.parametrize("name", cases())
def test_catalogue_pair(name, catalogue_paths, decode):
    """Both orders as the builder makes them, without swapping."""
    entries = catalogue()
    documents = [without_order(decode(catalogue_paths[f"{name}.{suffix}"]),
                               entries[f"{name}.{suffix}"].data, order)
                 for suffix, order in (("le", "little"), ("be", "big"))]
    # the producer's sizeof(long) shows only in the feature bitmap of a big-endian file
    long_sizes = [document["file"].pop("long_size", None) for document in documents]
    assert long_sizes in ([8, entries[f"{name}.be"].case.long_size], [None, None])
    assert_same(*documents)


def catalogue(kept={}):
    return kept or kept.update(catalog()) or kept


# --- the test of the test -------------------------------------------------------------------------

def test_every_capture_can_be_swapped():
    for file in fixture_files():
        assert swap.to_big_endian(swap.load(file.path))


def test_a_bit_that_is_not_swapped_shows(decode, tmp_path):
    file = next(file for file in fixture_files() if file.name == "02-callgraph-fp.data")
    little = swap.load(file.path)
    big = bytearray(swap.to_big_endian(little))
    at = decode(file.path)["file"]["sections"][1]["offset"] + 40   # the flags of the first attr
    # swapped as if they were a number
    big[at:at + 8] = little[at:at + 8][::-1]
    path = swap.store(tmp_path / "big", bytes(big))
    wrong = list(differences(without_order(decode(file.path), little, "little"),
                             without_order(decode(path), bytes(big), "big")))
    assert any(where.startswith(".attrs[0].attr.flags") for where, _, _ in wrong)


def test_bytes_that_are_not_the_files_show(corpus, decode):
    path = corpus / "quipper" / "perf.data.weight_struct"
    document = copy.deepcopy(decode(path))
    without_order(document, swap.load(path), "little")
    document["features"]["HOSTNAME_raw"] += "00"
    with pytest.raises(AssertionError, match="other bytes"):
        without_order(document, swap.load(path), "little")
