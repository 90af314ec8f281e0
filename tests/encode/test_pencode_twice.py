"""Values that the JSON has twice: an edit of only the place that does not count has no effect,
which is said. In a pipe, records count, not `attrs` and `features`; EVENT_DESC and EVENT_UPDATE
have the names of events."""
import copy
import json

import pytest

from conftest import FIXTURES
from encoding import document, pdecode, run

PIPE = FIXTURES / "perf" / "18-pipe.data"
TRACEPOINTS = FIXTURES / "perf" / "19-pipe-tp.data"
FILE = FIXTURES / "perf" / "43-multi-event.data"
RECORDS_COUNT = ("the records of a pipe count, and differ; change them, too, or omit attrs and "
                 "features")
NAMES_ELSEWHERE = ("names of events are in EVENT_DESC, of a pipe also in EVENT_UPDATE records; "
                   "change them there, too")


def encode(doc, *args, code=1):
    """The output, and what is said."""
    done = run("pencode", *args, stdin=doc if isinstance(doc, bytes) else json.dumps(doc).encode())
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr.decode()


def said(path, why):
    return f"pencode: stdin: {path} ignored: {why}\n"


def edit_attr(doc):
    doc["attrs"][0]["attr"]["sample_freq"] += 1


def edit_ids(doc):
    doc["attrs"][0]["ids"].append(77)


def edit_name(doc):
    doc["attrs"][0]["name"] = "mine"


def edit_feature(doc):
    doc["features"]["HOSTNAME"] = "mine"


def remove_feature(doc):
    del doc["features"]["CPUDESC"]


def add_feature(doc):
    doc["features"]["CLOCKID"] = 1000


def spoil_feature(doc):
    doc["features"]["NRCPUS"] = "many"


def add_attr(doc):
    doc["attrs"].append({**doc["attrs"][0], "index": 1, "ids": [1234]})


EDITS = [(edit_attr, "attrs[0].attr"), (edit_ids, "attrs[0].ids"), (edit_name, "attrs[0].name"),
         (edit_feature, "features.HOSTNAME"), (remove_feature, "features.CPUDESC"),
         (add_feature, "features.CLOCKID"), (spoil_feature, "features.NRCPUS"),
         (add_attr, "attrs[1]")]


@pytest.mark.sanitize
@pytest.mark.parametrize("edit, path", EDITS, ids=[edit.__name__ for edit, _ in EDITS])
@pytest.mark.parametrize("sort_keys", [False, True], ids=["after-records", "before-records"])
def test_an_edit_beside_the_records_of_a_pipe(edit, path, sort_keys):
    doc = document(PIPE)
    edit(doc)
    text = json.dumps(doc, sort_keys=sort_keys).encode()
    out, words = encode(text)
    assert out == PIPE.read_bytes()
    assert words == said(path, NAMES_ELSEWHERE if path.endswith("name") else RECORDS_COUNT)


@pytest.mark.parametrize("edit, path", EDITS, ids=[edit.__name__ for edit, _ in EDITS])
def test_the_same_in_lines(edit, path):
    doc = document(PIPE)
    before = copy.deepcopy(doc)
    edit(doc)
    _, text = pdecode(PIPE, "-f", "jsonl")
    lines = [json.loads(line) for line in text.splitlines()]
    lines = [line for line in lines if line["kind"] not in ("attr", "feature")]
    lines += [{"kind": "attr", **event} for event in doc["attrs"]]
    lines += [{"kind": "feature", "feature": {name: value}}
              for name, value in doc["features"].items()]
    assert doc != before
    out, words = encode("\n".join(map(json.dumps, lines)).encode())
    assert out == PIPE.read_bytes()
    assert words == said(path, NAMES_ELSEWHERE if path.endswith("name") else RECORDS_COUNT)


def test_lines_before_the_records():
    _, text = pdecode(PIPE, "-f", "jsonl")
    lines = [json.loads(line) for line in text.splitlines()]
    first = [line for line in lines if line["kind"] in ("file", "attr", "feature")]
    rest = [line for line in lines if line not in first]
    assert encode("\n".join(map(json.dumps, first + rest)).encode(), code=0)[1] == ""
    edit_feature({"features": next(line["feature"] for line in first
                                   if "HOSTNAME" in line.get("feature", ()))})
    words = encode("\n".join(map(json.dumps, first + rest)).encode())[1]
    assert words == said("features.HOSTNAME", RECORDS_COUNT)


def test_an_edit_of_the_records_is_made():
    """And nothing is said where `attrs` and `features` are changed, too, or omitted."""
    doc = document(PIPE)
    for record in doc["records"]:
        if record["type"] == "HEADER_ATTR":
            record["attr"]["sample_freq"] += 1
        if "HOSTNAME" in record.get("feature", ()):
            record["feature"]["HOSTNAME"] = "mine"
        if "EVENT_DESC" in record.get("feature", ()):
            record["feature"]["EVENT_DESC"]["events"][0]["attr"]["sample_freq"] += 1
    assert encode(doc)[1].startswith("pencode: stdin: attrs[0].attr and 2 other members ignored: ")
    without = {key: doc[key] for key in doc if key not in ("attrs", "features")}
    edited = encode(without, code=0)[0]
    after = document(edited)
    assert after["features"]["HOSTNAME"] == "mine"
    edit_attr(doc)
    doc["features"] = after["features"]
    assert encode(doc, code=0) == (edited, "")


@pytest.mark.parametrize("path", [PIPE, TRACEPOINTS], ids=["plain", "tracepoints"])
@pytest.mark.parametrize("args", [(), ("--byte-order", "big"), ("--mode", "file"), ("-z",)],
                         ids=str)
def test_nothing_is_said_of_what_is_unchanged(path, args):
    doc = document(path)
    for text in json.dumps(doc), json.dumps(doc, sort_keys=True):
        assert encode(text.encode(), *args, code=0)[1] == ""
    if not args:
        del doc["features"]["EVENT_DESC"]
        assert "ignored" in encode(doc, *args)[1]


def test_the_name_of_an_event_of_a_file():
    doc = document(FILE)
    doc["attrs"][2]["name"] = "mine"
    out, words = encode(doc)
    assert words == said("attrs[2].name", NAMES_ELSEWHERE)
    assert document(out)["attrs"][2]["name"] != "mine"
    doc["features"]["EVENT_DESC"]["events"][2]["name"] = "mine"
    assert document(encode(doc, code=0)[0])["attrs"][2]["name"] == "mine"


def test_the_name_of_an_event_without_event_desc():
    """The attribute implies a name; another one is lost."""
    doc = document(FILE)
    del doc["features"]["EVENT_DESC"]
    doc["file"]["adds_features"].remove("EVENT_DESC")
    del doc["file"]["sections"]
    before = [event["name"] for event in document(encode(doc, code=0)[0])["attrs"]]
    doc["attrs"][2]["name"] = "mine"
    out, words = encode(doc)
    assert words == said("attrs[2].name", NAMES_ELSEWHERE)
    assert [event["name"] for event in document(out)["attrs"]] == before
