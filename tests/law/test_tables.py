"""The layout tables keep to what the code that runs them takes for granted; and the check of that can fail."""
import pytest

import compiled

# What check_wrong_tables.c gets wrong: a word of what must be said about it.
WRONG = {
    "no-doc": "no doc", "quoted-doc": "escaping", "key": "not rendered", "width": "3 bytes", "no-names": "no names",
    "names-twice": "two values are called A", "name-too-big": "does not fit", "bits-overlap": "another part",
    "bits-outside": "not inside", "bits-lost": "not shown", "msb-first": "no bit-fields", "blob": "only bytes",
    "deep": "deeper than", "pads": "pads", "same-name": "at once", "same-name-maybe": "at once",
    "padding": "reserved bytes", "hex": "ends as", "other-type": "is a string, but an integer in one-type",
    "sibling": "there is no nowhere", "sibling-when": "there is no nowhere", "sibling-text": "it is none",
    "ahead": "before its turn", "misc": "no header", "numbers": "has no row",
}
RIGHT = {"one-type"}    # other-type contradicts it


def test_tables():
    code, lines = compiled.run("check_tables")
    assert (code, lines) == (0, [])


@pytest.fixture(scope="module")
def complaints():
    code, lines = compiled.run("check_wrong_tables")
    assert code == 1
    return lines


@pytest.mark.parametrize("table", WRONG)
def test_a_wrong_table_is_found(table, complaints):
    said = [line.partition(": ")[2] for line in complaints if line.split(" ")[0].rstrip(":") == table]
    assert any(WRONG[table] in text for text in said), said


def test_nothing_else_is_said(complaints):
    assert {line.split(" ")[0].rstrip(":") for line in complaints} == set(WRONG) - RIGHT
