"""The layout tables keep the rules on which their interpreters rely, and the check of these rules
can fail."""
import re

import pytest

import compiled
from conftest import ROOT

# Mistakes of check_wrong_tables.c, each with a word of its message.
WRONG = {
    "no-doc": "no doc", "quoted-doc": "escaping", "key": "not rendered", "width": "3 bytes",
    "no-names": "no names", "names-twice": "two values have the name A",
    "name-too-big": "does not fit", "bits-overlap": "another part", "bits-outside": "not inside",
    "bits-lost": "not shown", "msb-first": "no bit-fields", "blob": "only bytes",
    "deep": "deeper than", "pads": "pads", "same-name": "at once", "same-name-maybe": "at once",
    "padding": "reserved bytes", "hex": "ends as",
    "other-type": "is a string, but an integer in one-type", "sibling": "there is no nowhere",
    "sibling-when": "there is no nowhere", "sibling-text": "it is no number",
    "ahead": "needed by an earlier row", "misc": "no header", "numbers": "has no row",
    "role-text": "need a role", "role-bytes": "need a role", "role-address": "need a role",
    "role-bare": "need a role",
    "role-struct": "can't have",
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
    said = [line.partition(": ")[2]
            for line in complaints if line.split(" ")[0].rstrip(":") == table]
    assert any(WRONG[table] in text for text in said), said


def test_nothing_else_is_said(complaints):
    assert {line.split(" ")[0].rstrip(":") for line in complaints} == set(WRONG) - RIGHT


# Keys whose values mean the same wherever they stand, and the role of them; but these are something
# else.
ROLES = {"pid": "pid", "ppid": "pid", "tid": "tid", "ptid": "tid", "cpu": "cpu", "time": "time",
         "comm": "comm", "filename": "path", "ip": "code address", "identifier": "event id",
         "stream_id": "event id", "build_id": "build id"}
OTHERWISE = {("THREAD_MAP", "pid"): "tid",      # perf calls them so
             ("STAT", "cpu"): "",               # an index
             ("STAT_ROUND", "time"): ""}        # since the start


def test_numbers_have_the_role_of_their_name():
    wrong, table, seen = [], None, set()
    for line in (ROOT / "schemas" / "RECORDS.md").read_text().splitlines():
        if line.startswith("#"):
            table = line.split(" ")[-1]
        match = re.match(r"\| `(?:\S*[.\]])?(\w+)` \|", line)
        if not match or match[1] not in ROLES or "| object |" in line:
            continue
        role, key = line.split(" | ")[4].strip(), match[1]
        if role != OTHERWISE.get((table, key), ROLES[key]):
            wrong.append((table, key, role))
        seen.add(key)
    assert not wrong and seen == set(ROLES)
