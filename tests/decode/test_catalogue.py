"""Every file of the catalogue (perfdata/) decodes, shows the values that its author stated, and has
the expected exit code.

The catalogue has every layout that libdecode knows, in both byte orders. Its expected values are
written by hand, with the names of the JSON contract, never taken from a decoder.
"""
import copy

import pytest

from perfdata.case import PRESENT, broken_facts, find
from perfdata.catalog import catalog

CATALOG = catalog()

# The errors of files that are damaged on purpose. All others exit 0 without an error.
DAMAGED = {
    "pipe-text-at-the-end": ["GARBAGE"],     # perf prints into the pipe after the last record
    "killed": ["UNFINISHED"],
    "killed-with-bitmap": ["UNFINISHED"],
    "killed-zstd": ["UNFINISHED"],
    "no-data-at-all": ["UNFINISHED"],
    "sample-trailing": ["TRAILING"],           # more than the event selects
    "lookup-id-unknown": ["NO_ATTR"],          # an id that no event has
    "feature-event-desc-of-more": ["MISMATCH"],     # an event that the header does not have
    "feature-event-desc-empty": ["MISMATCH"],
    "tracepoint-outside": ["TRUNCATED"],       # a string after the end of the raw data
    "tracepoint-field-cut-off": ["TRUNCATED"],
}


def document_of(lines):
    """Makes a document from JSON Lines."""
    document = {"attrs": [], "features": {}, "records": [], "errors": []}
    lists = {"attr": "attrs", "record": "records", "error": "errors"}
    for line in lines:
        kind, value = line["kind"], {key: item for key, item in line.items() if key != "kind"}
        if kind == "file":
            assert "file" not in document
            document["pdecode"] = value.pop("pdecode")
            document["file"] = value
        elif kind == "feature":
            assert not set(value["feature"]) & set(document["features"])
            document["features"].update(value["feature"])
        elif kind == "summary":
            document["summary"] = value
        else:
            document[lists[kind]].append(value)
    return document


def shown(facts):
    return "\n".join(f"{kind} {which!r} {path!r}: expected {value!r}, found {found!r}"
                     for (kind, which, path, value), found in facts)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", CATALOG)
def test_entry(name, catalogue_paths, decoder):
    entry = CATALOG[name]
    codes = DAMAGED.get(entry.case.name, [])
    document, returncode, stderr = decoder.result(catalogue_paths[name])
    assert not broken_facts(document, entry.expect), shown(broken_facts(document, entry.expect))
    assert [error["code"] for error in document["errors"]] == codes
    assert document["summary"]["errors"] == len(codes)
    assert returncode == (1 if codes else 0)
    assert bool(stderr) == bool(codes)


@pytest.mark.parametrize("name", CATALOG)
def test_lines_are_the_parts_of_the_document(name, catalogue_paths, decoder):
    lines, returncode, _ = decoder.lines(catalogue_paths[name])
    document = decoder.result(catalogue_paths[name])
    assert document_of(lines) == document.document
    assert returncode == document.returncode


def test_damage_is_stated_for_the_fields_present():
    assert set(DAMAGED) <= {entry.case.name for entry in CATALOG.values()}


def test_an_unfinished_recording_says_so(catalogue_paths, decode):
    for name, codes in DAMAGED.items():
        complete = "UNFINISHED" not in codes
        assert decode(catalogue_paths[name + ".le"])["file"]["complete"] is complete, name


def test_no_record_of_the_catalogue_is_unknown_but_those_that_are(catalogue_paths, decode):
    """Each other type has a layout; without its table a record would be UNKNOWN."""
    unknown = set()
    for name, entry in CATALOG.items():
        if name.endswith(".le"):
            records = decode(catalogue_paths[name])["records"]
            unknown |= {entry.case.name
                        for record in records if record["type"] in ("UNKNOWN", "SKIPPED")}
    assert unknown == {"unknown-kernel-type", "unknown-user-type", "pipe-text-at-the-end"}


# --- the test of the test -------------------------------------------------------------------------

def test_a_wrong_document_breaks_facts(catalogue_paths, decode):
    entry, path = CATALOG["mmap2.le"], catalogue_paths["mmap2.le"]
    document = copy.deepcopy(decode(path))
    assert not broken_facts(document, entry.expect)
    document["records"][0]["ino"] += 1
    del document["records"][0]["sample_id"]["cpu"]
    assert (sorted(fact[2] for fact, _ in broken_facts(document, entry.expect))
            == ["ino", "sample_id.cpu"])


def test_present_is_not_missing():
    assert find({"features": {"A": 0}}, "feature", "A", "") == PRESENT
    assert not broken_facts({"features": {"A": 0}}, [("feature", "A", "", PRESENT)])
    assert broken_facts({"features": {}}, [("feature", "A", "", PRESENT)])
