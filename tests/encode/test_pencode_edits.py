"""JSON written or edited by people and programs: derived values may be missing, other spellings are
accepted, and errors state line and path."""
import copy
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import FIXTURES, ROOT, TOOLS, strict_json, strict_json_lines
from encoding import (COMPRESSED, document, events_of, features_of, pdecode, pencode, records_of,
                      refusal, run)
from perf_counts import stats
from perfdata.catalog import catalog
from same_length import zip_all

FORK = {"type": "FORK", "pid": 7, "ppid": 6, "tid": 7, "ptid": 6, "time": 5}
CATALOG = {name: entry.data for name, entry in catalog().items()}

# --- derived values left out ---

FILE_DERIVED = ("size", "header_size", "attr_size", "data_offset", "data_size", "long_size",
                "adds_features", "sections", "gaps", "complete")
RECORD_DERIVED = ("offset", "inner_offset", "size", "cut", "event")
# Counts of arrays, and sizes of bytes.
COUNTS = {"nr_namespaces": "namespaces", "old_len": "old_bytes", "new_len": "new_bytes",
          "build_id_size": "build_id", "nr_ids": "ids", "nr_entries": "entries",
          "nr_domains": "domains", "info_len": "info", "data_len": "data"}


def drop_counts(value):
    if isinstance(value, list):
        for item in value:
            drop_counts(item)
    if not isinstance(value, dict):
        return
    for item in value.values():
        drop_counts(item)
    for count, counted in COUNTS.items():
        if counted in value:
            value.pop(count, None)
    if any(isinstance(item, list) for item in value.values()):
        value.pop("nr", None)
    if isinstance(value.get("data"), str):
        value.pop("size", None)
        if "dyn_size" not in value:
            value.pop("data_size", None)


def without_derived(doc):
    doc = copy.deepcopy(doc)
    for key in FILE_DERIVED:
        doc["file"].pop(key, None)
    for key in ("pdecode", "summary", "errors"):
        doc.pop(key)
    for record in doc["records"]:
        drop_counts({key: value for key, value in record.items() if key != "payload"})
        for key in RECORD_DERIVED:
            record.pop(key, None)
        if record["type"] not in ("AUXTRACE", "HEADER_TRACING_DATA", "BPF_METADATA"):
            for key in ("nr", *COUNTS):
                if key == "nr" and any(isinstance(item, list) for item in record.values()):
                    record.pop("nr", None)
                elif COUNTS.get(key) in record:
                    record.pop(key, None)
        if not record["misc"] & ~0x7 and "cpumode" in record:
            del record["misc"]
        elif record["misc"] == 0:
            del record["misc"]
        for event in (record.get("attr"),):
            if isinstance(event, dict) and "padding" not in event:
                event.pop("size", None)
    for event in doc["attrs"]:
        event.pop("index")
        if "padding" not in event and "padding" not in event["attr"]:
            event["attr"].pop("size")
    drop_counts(doc["features"])
    return doc


def is_sound(doc):
    """Whether there is no damage, and no bytes that have meaning only at their place."""
    text = json.dumps(doc["records"])
    return not doc["errors"] and "trailing" not in text and not doc["file"].get("gaps")


def same_meaning(after, before):
    def plain(records):
        """Without derived values, and the zeros after text, of which perf writes varying
        numbers."""
        records = copy.deepcopy(records)
        for record in records:
            for key in ("size", "attr_index", "event", "padding"):
                record.pop(key, None)
            if isinstance(record.get("attr"), dict):
                record["attr"].pop("size", None)
        return records
    assert plain(records_of(after)) == plain(records_of(before))
    dropped = ["COMPRESSED"]
    assert features_of(after, dropped) == features_of(before, dropped)
    for one, other in zip_all(events_of(after), events_of(before)):
        assert one["ids"] == other["ids"]
        assert one["name"] == other["name"]
        one["attr"].pop("size")
        other["attr"].pop("size")
        assert one["attr"] == other["attr"]


def test_nothing_derived_is_needed(fixture_file, decode):
    before = decode(fixture_file.path)
    if fixture_file.is_directory or not is_sound(before):
        pytest.skip("directories and damaged files need their places")
    same_meaning(document(pencode(without_derived(before))), before)


# --- other ways to write the same ---

FIXTURE = "file.le"


@pytest.fixture(scope="module")
def data():
    return CATALOG["features-all.le"]


@pytest.mark.parametrize("write", [
    lambda doc: json.dumps(doc, indent=2),
    lambda doc: json.dumps(doc, indent="\t", sort_keys=True),
    lambda doc: json.dumps(doc, sort_keys=True, separators=(",", ":")),
    lambda doc: json.dumps(doc, ensure_ascii=False),
    lambda doc: "\n\n  " + json.dumps(doc, separators=(" ,\r\n", " :\t")) + "  \n",
    lambda doc: json.dumps({**doc, "mine": [1, {"a": None}]}),
], ids=["indented", "sorted", "compact", "unicode", "spaces", "other-members"])
def test_written_differently(write, data):
    assert pencode(write(document(data)).encode()) == data


@pytest.mark.parametrize("write", [
    lambda line: json.dumps(line, sort_keys=True),
    lambda line: json.dumps(line, indent=1),
    lambda line: json.dumps(line, indent=1, sort_keys=True),
], ids=["sorted", "indented", "both"])
def test_lines_written_differently(write, data):
    _, text = pdecode(data, "-f", "jsonl")
    lines = strict_json_lines(text)
    assert pencode("\n".join(map(write, lines)).encode()) == data
    # newlines are not needed either
    assert pencode("".join(map(write, lines)).encode()) == data


def other_numbers(value, key=None):
    if isinstance(value, dict):
        return {name: other_numbers(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [other_numbers(item, key) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value):
        return int(value, 16)
    return value


@pytest.mark.parametrize("name", ["features-all.le", "sample-all-weight.be", "pipe.le",
                                  "features-pipe.be", "mmap2.le", "cpu-map-mask8.le", "id-index.be",
                                  "namespaces.le", "auxtrace-info-intel-pt.le"])
def test_numbers_as_text_and_addresses_as_numbers(name):
    doc = other_numbers(document(CATALOG[name], "--blobs", "full"))
    assert pencode(doc) == CATALOG[name]


def test_numbers_with_exponents():
    text = json.dumps(document(CATALOG["file.le"])).replace('"time": 1000,', '"time": 1e3,')
    assert "1e3" in text
    assert pencode(text.encode()) == CATALOG["file.le"]
    assert pencode(text.replace("1e3", "1000.0").encode()) == CATALOG["file.le"]


def test_null_is_left_out():
    doc = document(CATALOG["file.le"])
    doc["records"][0]["size"] = None
    doc["records"][0]["event"] = None
    assert pencode(doc) == CATALOG["file.le"]


# --- edits ---

def test_records_removed(data, fixture_file, decode):
    before = copy.deepcopy(decode(fixture_file.path))
    if fixture_file.is_directory or not is_sound(before):
        pytest.skip("directories and damaged files need their places")
    kept = [record for record in before["records"] if record["type"] not in ("MMAP2", "COMM")]
    before["records"] = kept
    same_meaning(document(pencode(before)), before)


def test_feature_replaced_and_removed(data):
    doc = document(data)
    doc["features"]["HOSTNAME"] = "another-box " * 20
    del doc["features"]["CPUDESC"]
    after = document(pencode(doc))
    assert features_of(after) == features_of(doc)
    assert after["records"] == [{**record, "offset": after["records"][i]["offset"]}
                                for i, record in enumerate(doc["records"])]
    assert not after["errors"]


@pytest.mark.parametrize("events", [2, 20])
def test_events_added(events):
    """They take as much room as they need, not that of the records, which follow them."""
    doc = base()
    records, one = copy.deepcopy(doc["records"]), doc["attrs"][0]
    doc["attrs"] = [{**one, "index": i, "ids": one["ids"] if not i else [1000 + i]}
                    for i in range(events)]
    after = document(pencode(doc))
    assert not after["errors"]
    assert [event["ids"] for event in after["attrs"]] == [event["ids"] for event in doc["attrs"]]
    assert [(record["type"], record.get("ip")) for record in after["records"]] == \
        [(record["type"], record.get("ip")) for record in records] != []


@pytest.mark.parametrize("ids", [[42, 777], [777], []], ids=["added", "replaced", "removed"])
@pytest.mark.parametrize("name", ["file.le", "feature-event-desc.le"])
def test_ids_changed(ids, name):
    doc = document(CATALOG[name])
    assert doc["attrs"][0]["ids"] == [42]
    doc["attrs"][0]["ids"] = ids
    after = document(pencode(doc))
    known = [] if name == "file.le" or 42 in ids else [42]  # by EVENT_DESC
    assert after["attrs"][0]["ids"] == ids + known
    assert features_of(after) == features_of(doc)
    assert not [error for error in after["errors"] if error["code"] != "MISMATCH"]


def test_ids_that_only_event_desc_has():
    """They are in no section; without EVENT_DESC they need one."""
    doc = document(CATALOG["feature-event-desc-other-attr-size.le"])
    assert doc["attrs"][0]["ids"] == [42, 1]
    assert pencode(doc) == CATALOG["feature-event-desc-other-attr-size.le"]
    del doc["features"]["EVENT_DESC"], doc["attrs"][0]["name"]
    assert document(pencode(doc))["attrs"][0]["ids"] == [42, 1]


def test_sample_made_longer():
    doc = document(CATALOG["sample-callchain.le"])
    sample = next(record for record in doc["records"] if record["type"] == "SAMPLE")
    sample["callchain"] += ["0x1", "0x2", "KERNEL"]
    assert "size" in refusal(doc)
    del sample["size"]
    after = document(pencode(doc))
    again = next(record for record in after["records"] if record["type"] == "SAMPLE")
    assert again["callchain"] == sample["callchain"]


def test_sample_made_shorter():
    """A size that is too large would leave bytes after the last field."""
    doc = document(CATALOG["sample-callchain.le"])
    sample = next(record for record in doc["records"] if record["type"] == "SAMPLE")
    del sample["callchain"]
    assert "size: too large for these fields; omit it" in refusal(doc)
    del sample["size"]
    after = document(pencode(doc))
    assert not after["errors"]
    assert next(record for record in after["records"]
                if record["type"] == "SAMPLE")["callchain"] == []


def test_made_by_hand():
    """The smallest file: an event, and two records."""
    after = document(pencode({
        "attrs": [{"attr": {"type": "SOFTWARE", "config": "0x0", "sample_period": 1000,
                            "sample_type": {"names": ["IP", "TID", "CALLCHAIN"]},
                            "flags": {"names": ["sample_id_all"]},
                            "precise_ip": 2}}],
        "records": [
            {"type": "COMM", "pid": 7, "tid": 7, "comm": "ls", "sample_id": {"pid": 7, "tid": 7}},
            {"type": "SAMPLE", "cpumode": "USER", "misc_flags": ["EXACT_IP"], "ip": "0x401000",
             "pid": 7, "tid": 7,
             "callchain": ["USER", "0x401000", 4198400]},
        ]}))
    assert not after["errors"]
    assert after["attrs"][0]["attr"]["size"] >= 64
    assert after["attrs"][0]["attr"]["precise_ip"] == 2
    comm, sample = after["records"]
    assert comm["comm"] == "ls" and comm["sample_id"] == {"pid": 7, "tid": 7}
    assert sample["misc"] == 2 | 1 << 14
    assert sample["callchain"] == ["USER", "0x401000", "0x401000"]


@pytest.mark.parametrize("name", ["12-tracepoints", "43-multi-event", "16-zstd", "18-pipe"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_record_added_without_sample_id(name, is_first, decode, tmp_path, perf):
    """perf takes the last bytes of each record for its sample_id."""
    made, path = copy.deepcopy(decode(FIXTURES / "perf" / f"{name}.data")), tmp_path / "added"
    samples = [i for i, record in enumerate(made["records"]) if record["type"] == "SAMPLE"]
    with_ids = [i for i, record in enumerate(made["records"]) if "sample_id" in record]
    other = next(record for record in made["records"] if record["type"] == "COMM")
    added = {"type": "COMM", "pid": 7, "tid": 7, "comm": "added"}
    made["records"].insert(min(with_ids) if is_first else max(samples), added)
    path.write_bytes(pencode(made))
    after = decode(path)
    comm, = [record for record in after["records"] if record.get("comm") == "added"]
    assert comm["sample_id"] == dict.fromkeys(other["sample_id"], 0) and not after["errors"]
    assert stats(perf, path)["COMM"] == sum(record["type"] == "COMM" for record in made["records"])


def test_a_record_that_states_its_size_lacks_no_sample_id():
    """Some that perf synthesizes have none."""
    made = {"attrs": [{"attr": {"type": "SOFTWARE", "sample_type": {"names": ["TID"]},
                                "flags": {"names": ["sample_id_all"]}}}],
            "records": [{**FORK, "sample_id": {"pid": 7}}, {**FORK, "size": 32}, FORK]}
    records = document(pencode(made))["records"]
    assert [record["size"] for record in records] == [40, 32, 40]
    assert ["sample_id" in record for record in records] == [True, False, True]


def test_no_event_at_all():
    after = document(pencode({"records": [{"type": "FINISHED_ROUND"}]}))
    assert not after["errors"]
    assert [record["type"] for record in after["records"]] == ["FINISHED_ROUND"]


@pytest.mark.parametrize("text", ["\U0001d800", "\U0001f600", "a\U0010fffd\\ud800b", "\ufffd",
                                  "\u20ac\n\"\\"])
def test_characters_beyond_the_first_plane(text):
    doc = base()
    doc["features"]["HOSTNAME"] = text
    assert document(pencode(json.dumps(doc).encode()))["features"]["HOSTNAME"] == text
    assert (document(pencode(json.dumps(doc, ensure_ascii=False).encode()))["features"]["HOSTNAME"]
            == text)


@pytest.mark.parametrize("name", ["lookup-identifier.le", "lookup-identifier.be", "lookup-id.le",
                                  "two-attrs.le"])
def test_event_by_id(name):
    """Events with different layouts of samples: the id in the record selects the event."""
    before = document(CATALOG[name])
    doc = copy.deepcopy(before)
    for record in doc["records"]:
        for key in ("attr_index", "event", "size"):
            record.pop(key, None)
    assert document(pencode(doc))["records"] == before["records"]


def test_event_by_name():
    """Without an id, the event is selected by name."""
    events = [{"name": "a", "attr": {"type": "SOFTWARE", "sample_type": {"names": ["IP"]}}},
              {"name": "b",
               "attr": {"type": "SOFTWARE", "sample_type": {"names": ["ADDR", "TIME"]}}}]
    made = {"attrs": events, "records": [{"type": "SAMPLE", "event": "b", "addr": "0x1", "time": 2},
                                         {"type": "SAMPLE", "event": "a", "ip": "0x1"}]}
    pencode(made)
    made["records"][0]["event"] = "a"
    assert "records[0].addr" in refusal(made)


def fields_of(doc, field):
    """Those of the first sample whose tracepoint has the field."""
    return next(fields for record in doc["records"]
                if field in (fields := record.get("raw", {}).get("tracepoint", {})
                             .get("fields", {})))


@pytest.mark.parametrize("field, value", [("pid", 1), ("prev_state", -1), ("filename", "/bin/sh"),
                                          ("next_comm", "")])
def test_an_edited_field_of_a_tracepoint_is_refused(field, value):
    """raw.data is written: the edit would be lost."""
    doc = document(FIXTURES / "perf" / "12-tracepoints.data")
    fields_of(doc, field)[field] = value
    assert f"raw.tracepoint.fields.{field}: contradicts raw.data" in refusal(doc)


def test_edited_numbers_of_a_tracepoint_are_refused():
    doc = document(CATALOG["tracepoint-kinds.le"])
    fields = next(record["raw"]["tracepoint"]["fields"] for record in doc["records"]
                  if "tracepoint" in record.get("raw", {}))
    name, numbers = next((name, value) for name, value in fields.items()
                         if isinstance(value, list) and value)
    numbers[-1] = "0x1" if isinstance(numbers[-1], str) else 1
    assert f"fields.{name}: contradicts raw.data" in refusal(doc)


def test_rounded_and_missing_fields_of_a_tracepoint_are_accepted():
    """Programs without 64-bit integers round them; raw.data is exact."""
    for data in ((FIXTURES / "perf" / "12-tracepoints.data").read_bytes(),
                 CATALOG["tracepoint-kinds.be"]):
        doc = document(data)
        for record in doc["records"]:
            fields = record.get("raw", {}).get("tracepoint", {}).get("fields", {})
            for name, value in list(fields.items()):
                if isinstance(value, int) and value % 3 == 0:
                    del fields[name]
                elif isinstance(value, int):
                    fields[name] = float(value)
        assert pencode(doc) == data


def test_sample_id_of_an_event_without():
    """It would be lost; an id in it selects only events that have one."""
    path = FIXTURES / "perf" / "43-multi-event.data"
    doc = document(path)
    doc["features"].pop("EVENT_DESC")   # its copy would be used
    flags = doc["attrs"][1]["attr"]["flags"]
    flags["raw"] &= ~(1 << 18)      # sample_id_all
    del flags["names"]
    for record in doc["records"]:
        if "sample_id" in record:
            for key in "attr_index", "event":
                record.pop(key, None)
            for key in "id", "identifier":
                if key in record["sample_id"]:
                    record["sample_id"][key] = doc["attrs"][1]["ids"][0]
    before = [record["sample_id"] for record in doc["records"] if "sample_id" in record]
    data = pencode(doc)
    assert [record["sample_id"] for record in document(data)["records"]
            if "sample_id" in record] == before != []
    record = next(record for record in doc["records"] if "sample_id" in record)
    record["attr_index"] = 1
    assert "sample_id: the record's event has no sample_id_all" in refusal(doc)
    record["sample_id"] = {}
    record.pop("size")
    assert document(pencode(doc))


# --- what can't be encoded ---

def base():
    return document(CATALOG["file.le"])


def at(doc, *path):
    for key in path[:-1]:
        doc = doc[key]
    return doc, path[-1]


WRONG = [
    # place, value, path in the message, words of the message
    (("records", 0, "ip"), "0xzz", r"records\[0\]\.ip", "number"),
    (("records", 0, "ip"), [], r"records\[0\]\.ip", "number"),
    (("records", 0, "ip"), {}, r"records\[0\]\.ip", "number"),
    (("records", 0, "ip"), 1.5, r"records\[0\]\.ip", "number"),
    (("records", 0, "time"), -1, r"records\[0\]\.time", "negative"),
    (("records", 0, "time"), "-1", r"records\[0\]\.time", "negative"),
    (("records", 0, "pid"), 1 << 32, r"records\[0\]\.pid", "too large"),
    (("records", 0, "addr"), "0x1", r"records\[0\]\.addr", "unknown field"),
    (("records", 0, "tme"), 1, r"records\[0\]\.tme", "mean time"),
    (("records", 0, "type"), "SAMPEL", r"records\[0\]\.type", "no record type"),
    (("records", 0, "type"), 9, r"records\[0\]\.type", "name"),
    (("records", 0, "size"), 7, r"records\[0\]\.size", "8 to 65535"),
    (("records", 0, "size"), 16, r"records\[0\]\.size", "omit it"),
    (("records", 0, "size"), 200, r"records\[0\]\.size", "too large for these fields; omit it"),
    (("records", 0, "size"), "x", r"records\[0\]\.size", "number"),
    (("records", 0, "misc"), 1 << 16, r"records\[0\]\.misc", "16 bits"),
    (("records", 0, "misc"), {}, r"records\[0\]\.misc", "number"),
    (("records", 0, "misc"), 1, r"records\[0\]\.cpumode", "contradicts misc"),
    (("records", 0, "cpumode"), "KERNEL", r"records\[0\]\.cpumode", "contradicts misc"),
    (("records", 0, "cpumode"), "8", r"records\[0\]\.cpumode", "name of a mode"),
    (("records", 0, "misc_flags"), ["EXACT_IP"], r"records\[0\]\.misc_flags", "contradicts misc"),
    (("records", 0, "attr_index"), 1, r"records\[0\]\.attr_index", "no such event"),
    (("records", 0, "padding"), "0", r"records\[0\]\.padding", "hex"),
    (("records", 0, "trailing"), "xy", r"records\[0\]\.trailing", "hex"),
    (("records", 0, "trailing"), 5, r"records\[0\]\.trailing", "hex"),
    (("records", 0, "body"), 5, r"records\[0\]\.body", "hex"),
    (("records", 0), 5, r"records\[0\]", "object"),
    (("records",), {}, "records", "array"),
    (("records",), 5, "records", "array"),
    (("attrs",), {}, "attrs", "array"),
    (("attrs", 0, "attr"), [], r"attrs\[0\]\.attr", "object"),
    (("attrs", 0, "attr", "type"), "HARDWEAR", r"attrs\[0\]\.attr\.type", "HARDWARE, SOFTWARE"),
    (("attrs", 0, "attr", "typ"), 1, r"attrs\[0\]\.attr\.typ", "mean type"),
    (("attrs", 0, "attr", "sample_type"), {"names": ["IPP"]},
     r"attrs\[0\]\.attr\.sample_type\.names", ""),
    (("attrs", 0, "attr", "sample_type"), {"raw": "x"}, r"attrs\[0\]\.attr\.sample_type\.raw", ""),
    (("attrs", 0, "attr", "sample_type", "names"), ["IP"],
     r"attrs\[0\]\.attr\.sample_type\.names", "contradicts raw: change both, or omit raw"),
    (("attrs", 0, "attr", "precise_ip"), 3, r"attrs\[0\]\.attr\.precise_ip", "contradicts raw"),
    (("attrs", 0, "attr", "sample_type"), ["IP"], r"attrs\[0\]\.attr\.sample_type", ""),
    (("attrs", 0, "attr", "wakeup_events"), -1 << 40, r"attrs\[0\]\.attr\.wakeup_events",
     "too large"),
    (("attrs", 0, "ids"), 5, r"attrs\[0\]\.ids", "array"),
    (("attrs", 0, "ids"), ["x"], r"attrs\[0\]\.ids", "integer"),
    (("attrs", 0, "name"), 5, r"attrs\[0\]\.name", "string"),
    (("features", "HOSTNAM"), "box", r"features\.HOSTNAM", "no feature"),
    (("features", "HOSTNAME"), 5, r"features\.HOSTNAME", "string"),
    (("features", "NRCPUS"), 5, r"features\.NRCPUS", "object"),
    (("features", "NRCPUS"), {"online": "x"}, r"features\.NRCPUS\.online", ""),
    (("features", "CMDLINE"), ["perf", 5], r"features\.CMDLINE\[1\]", "string"),
    (("features", "CMDLINE"), ["perf", None], r"features\.CMDLINE\[1\]", "string"),
    (("features", "BUILD_ID"), [{"build_id": "0"}], r"features\.BUILD_ID\[0\]\.build_id", "hex"),
    (("features", "BUILD_ID"), [None], r"features\.BUILD_ID\[0\]", "object"),
    (("features", "BUILD_ID"), [{"pid": 1, "build_id": "00" * 21}],
     r"features\.BUILD_ID\[0\]\.build_id", "longer"),
    (("features",), [], "features", "object"),
    (("pdecode", "format"), 2, r"pdecode\.format", "only format 1"),
    (("pdecode", "format"), "x", r"pdecode\.format", "only format 1"),
    (("pdecode",), 1, "pdecode", "object"),
    (("file",), [], "file", "object"),
    (("file", "mode"), "fiel", r"file\.mode", "pipe"),
    (("file", "byte_order"), 1, r"file\.byte_order", "little"),
    (("file", "magic_hex"), "50", r"file\.magic_hex", "16 hex digits"),
    (("file", "data_offset"), [], r"file\.data_offset", "number"),
    (("file", "attr_size"), -1, r"file\.attr_size", "80 to 65535"),
    (("file", "attr_size"), 1 << 30, r"file\.attr_size", "80 to 65535"),
    (("file", "attr_size"), 65536, r"file\.attr_size", "80 to 65535"),
    (("file", "sections"), {}, r"file\.sections", "array"),
    (("file", "sections"), [5], r"file\.sections", "objects"),
    (("file", "gaps"), [{"offset": 1}], r"file\.gaps", "data"),
    (("file", "gaps"), 5, r"file\.gaps", "array"),
    (("file", "adds_features"), ["X"], r"file\.adds_features", "feature"),
    (("file", "adds_features"), 5, r"file\.adds_features", "array"),
    (("file", "event_types"), [5], r"file\.event_types", "objects"),
]


@pytest.mark.sanitize
@pytest.mark.parametrize("path, value, named, words", WRONG,
                         ids=["-".join(map(str, path)) + f"-{value!r:.20}"
                              for path, value, _, _ in WRONG])
def test_wrong_value(path, value, named, words):
    doc = base()
    holder, key = at(doc, *path)
    holder[key] = value
    said = refusal(json.dumps(doc, indent=1).encode())
    assert re.search(rf"^pencode: stdin:\d+: {named}: ", said), said
    assert words in said


@pytest.mark.sanitize
def test_lines_of_a_later_format():
    lines = pdecode(CATALOG["file.le"], "-f", "jsonl")[1]
    assert b'"format":1,' in lines
    said = refusal(lines.replace(b'"format":1,', b'"format":2,'))
    assert re.search(r"^pencode: stdin:1: pdecode\.format: only format 1", said), said


def kept_lines(data, *patterns):
    """The lines of a recording that grep would keep."""
    lines = pdecode(data, "-f", "jsonl")[1].splitlines(keepends=True)
    return b"".join(line for line in lines if any(p in line[:200] for p in patterns))


@pytest.mark.parametrize("name, patterns, advice", [
    ("01-basic", [b'"type":"SAMPLE"'], "keep file and attrs"),
    ("18-pipe", [b'"type":"SAMPLE"'], "kind file and HEADER_ATTR records"),
    ("18-pipe", [b'"type":"SAMPLE"', b'"kind":"file"', b'"kind":"attr"'],
     "keep the records of type HEADER_ATTR")])
def test_samples_without_their_events(name, patterns, advice):
    assert advice in refusal(kept_lines(FIXTURES / "perf" / f"{name}.data", *patterns))


@pytest.mark.parametrize("name, patterns", [
    ("01-basic", [b'"kind":"file"', b'"kind":"attr"']),
    ("18-pipe", [b'"kind":"file"', b'"HEADER_ATTR"'])])
def test_samples_with_their_events(name, patterns):
    source = FIXTURES / "perf" / f"{name}.data"
    lines = kept_lines(source, b'"type":"SAMPLE"', *patterns)
    made, whole = document(pencode(lines)), document(source)
    assert [r["time"] for r in made["records"] if r["type"] == "SAMPLE"] == [
        r["time"] for r in whole["records"] if r["type"] == "SAMPLE"] != []


def test_an_event_that_contradicts_its_index():
    doc = document(FIXTURES / "perf" / "43-multi-event.data")
    name = doc["attrs"][1]["name"]
    edited = next(record for record in doc["records"] if record.get("event") == name)
    edited["event"] = doc["attrs"][2]["name"]
    assert "event: contradicts attr_index" in refusal(doc)
    edited.update(attr_index=2, id=doc["attrs"][2]["ids"][0])
    again = document(pencode(doc))["records"]
    assert [record.get("event") for record in again] == [r.get("event") for r in doc["records"]]


def test_flags_of_misc_removed():
    doc = base()
    sample = doc["records"][0]
    sample.update(misc=sample["misc"] | 1 << 14, misc_flags=["EXACT_IP"])
    assert document(pencode(doc))["records"][0]["misc_flags"] == ["EXACT_IP"]
    sample["misc_flags"] = []
    assert "misc_flags: contradicts misc" in refusal(doc)
    del sample["misc"]
    assert document(pencode(doc))["records"][0]["misc"] == 2


@pytest.mark.sanitize
@pytest.mark.parametrize("name, path, value, named", [
    ("sample-callchain.le", ("callchain",), "x", r"callchain"),
    ("sample-callchain.le", ("callchain",), ["0x1", "zork"], r"callchain\[1\]"),
    ("sample-callchain.le", ("callchain",), [None], r"callchain\[0\]"),
    ("sample-callchain.le", ("calchain",), [], r"calchain"),
    ("sample-regs-user.le", ("regs_user", "regs"), [], r"regs_user\.regs"),
    ("sample-regs-user.le", ("regs_user", "regs", "zx"), 1, r"regs_user\.regs\.zx"),
    ("sample-regs-user.le", ("regs_user", "abi"), "65x", r"regs_user\.abi"),
    ("sample-read.le", ("read",), 5, r"read"),
    ("sample-read.le", ("read", "value"), "x", r"read\.value"),
    ("sample-raw.le", ("raw", "data"), "0", r"raw\.data"),
    ("sample-raw.le", ("raw", "size"), 99, r"raw\.data"),
    ("sample-raw.le", ("raw", "dat"), "00", r"raw\.dat"),
    ("sample-stack-user.le", ("stack_user", "data"), 5, r"stack_user\.data"),
    ("sample-branch-stack.le", ("branch_stack", "entries"), {}, r"branch_stack\.entries"),
    ("sample-branch-stack.le", ("branch_stack", "entries"), [5], r"branch_stack\.entries\[0\]"),
    ("sample-branch-stack.le", ("branch_stack", "entries"), [{"from": "x"}],
     r"branch_stack\.entries\[0\]\.from"),
    ("sample-branch-stack.le", ("branch_stack", "entries"), [{"mispred": 2}],
     r"branch_stack\.entries\[0\]\.mispred"),
    ("sample-branch-stack.le", ("branch_stack", "entries"), [{"form": 2}],
     r"branch_stack\.entries\[0\]\.form"),
    ("sample-weight-struct.le", ("weight_struct",), [], r"weight_struct"),
    ("sample-data-src.le", ("data_src",), {"op": "x"}, r"data_src"),
    ("sample-transaction.le", ("transaction",), {"raw": "x"}, r"transaction"),
])
def test_wrong_value_in_a_sample(name, path, value, named):
    doc = document(CATALOG[name])
    number, sample = next((i, record) for i, record in enumerate(doc["records"])
                          if record["type"] == "SAMPLE")
    sample.pop("size")
    holder, key = at(sample, *path)
    holder[key] = value
    said = refusal(doc)
    assert re.search(rf": records\[{number}\]\.{named}(\.\w+)?: ", said), said


@pytest.mark.sanitize
@pytest.mark.parametrize("text, words", [
    (b"", "no file, attrs, features or records"),
    (b"  \n\n", "no file"),
    (b"{}", "neither `kind` nor file"),
    (b"[]", "1: expected an object"),
    (b"PERFILE", "1: expected an object"),
    (b"5", "an object"),
    (b"null", "an object"),
    (b'"x"', "an object"),
    (b"{", "unexpected end|expected a key"),
    (b'{"records"', "unexpected end|colon"),
    (b'{"records":', "expected a value|unexpected end"),
    (b'{"records":[', "unexpected end"),
    (b'{"records":[{"type":"COMM"', "unexpected end"),
    (b'{"records":[{"type":"COMM"}', "unexpected end"),
    (b'{"records":[{"type":"COMM"}]', "unexpected end"),
    (b'{"records":[{"type":"COMM"},]}', "expected a value|expected an object"),
    (b'{"records":[,{"type":"COMM"}]}', "expected a value|expected an object"),
    (b'{"records":[{"type":"COMM"}{"type":"COMM"}]}', "comma"),
    (b'{"records":[]"file":{}}', "comma"),
    (b'{"records":[]} x', "an object"),
    (b'{"records":[{"type":"COMM","pid":NaN}]}', r"records\[0\]"),
    (b'{"records":[{"type":"COMM","pid":Infinity}]}', r"records\[0\]"),
    (b'{"records":[{"type":"COMM","pid":01}]}', r"records\[0\]"),
    (b'{"records":[{"type":"COMM","pid":18446744073709551616}]}', "64 bits"),
    (b'{"records":[{"type":"COMM","pid":-18446744073709551616}]}', "64 bits"),
    (b'{"records":[{"type":"COMM","pid":-9223372036854775809}]}', "64 bits"),
    (b'{"records":[{"type":"COMM","pid":1e400}]}', "number"),
    (b'{"records":[{"type":"COMM","pid":"99999999999999999999"}]}', "number"),
    (b'{"records":[{"type":"COMM","pid":1,"pid":1}]}', "twice"),
    (b'{"records":[{"type":"COMM","comm":"\xff"}]}', r"stdin:1: records\[0\]: .*UTF-8"),
    (b'{"records":[\n{"type":"COMM","comm":"\xc3\xa9\xc3"}]}', r"stdin:2: records\[0\]: .*UTF-8"),
    (b'{"records":[{"type":"COMM","comm":"\xc3\xa9", x}]}', r"records\[0\]"),
    (b'{"records":[{"type":"COMM","pid":1\xc2\xa0}]}', r"records\[0\]"),
    (b'{"records":[{"type":"COMM","comm":"\\ud800x"}]}', "surrogate"),
    (b'{"records":[{"type":"COMM","comm":"\\udc00"}]}', "surrogate"),
    (b'{"records":[{"type":"COMM","comm":"\\ud800\\u0041"}]}', "surrogate"),
    (b"{\"records\":[{'type':'COMM'}]}", r"records\[0\]"),
    (b'{"records":[{"type":"COMM",}]}', r"records\[0\]"),
    (b'{"records":[/* */{"type":"COMM"}]}', ""),
    (b'{"records":[{"type":"COMM","comm":' + b"[" * 5000 + b"]" * 5000 + b"}]}", "deep"),
    (b"[" * 100000, "an object"),
    (b'{"records":[\n\n\n{"type":"COMM",\n"comm":5}]}', "stdin:4: "),
    (b'{"kind":"file","mode":"file"}\n{"kind":"recrod"}', "stdin:2: `kind`"),
    (b'{"kind":"file","mode":"file"}\n{"kind":"record","type":"COMM"}\n\n{"type":"COMM","pid":1}\n',
     "stdin:4: .*`kind`"),
    (b'{"kind":"record","type":"COMM"}\n{"file":"data.1","type":"COMM"}', "stdin:2: .*`kind`"),
    (b'{"kind":"record","type":"COMM"}\n{}', "stdin:2: .*`kind`"),
    (b'{"kind":"record","type":"COMM"}\n{"summary":{"records":1}}', "stdin:2: .*`kind`"),
    (b'{"records":[{"type":"COMM"}]}\n{"type":"COMM","pid":1}', "stdin:2: .*`kind`"),
    (b'{"type":"COMM","pid":1}', "stdin:1: .*`kind`"),
    (b'{"kind":null}', "stdin:1: `kind`"),
    (b'{"kind":{"file":1}}', "stdin:1: `kind`"),
    (b'{"kind":"feature"}', "an object `feature`"),
    (b'{"kind":"record","type":"COMM"}\n{"kind":"file"}', "must precede"),
    (b'\x1f\x8b\x08\x00', "an object"),
    (b"PERFILE2", "stdin:1: this is perf.data already"),
    (b"2ELIFREP", "this is perf.data already"),
    (b'\xef\xbb\xbf{"records":[]}', "stdin:1: there is a byte order mark .* without BOM"),
    ('{"records":[]}'.encode("utf-16"), "stdin:1: this is UTF-16"),
    ('\ufeff{"records":[]}'.encode("utf-16-be"), "stdin:1: this is UTF-16"),
    (b'{"records":[]}', "stdin: nothing to encode: there is no file, .* are empty"),
    (b'\x00' * 100, "an object"),
])
def test_no_json(text, words):
    assert re.search(words, refusal(text)), refusal(text)


@pytest.mark.parametrize("where", ["README", "help"])
def test_the_example_without_some_records(where, tmp_path):
    """With the tools of Debian 12, and exact for 64-bit numbers such as the kernel's pgoff."""
    text = ((ROOT / "README.md").read_text() if where == "README"
            else run("pencode", "--help").stdout.decode())
    line, = re.findall(r"^ +(pdecode .*\bless\.data)$", text, flags=re.M)
    source = FIXTURES / "perf" / "45-kernel-callchains.data"
    shutil.copyfile(source, tmp_path / "perf.data")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, capture_output=True,
                          text=True, env={**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"})
    assert (done.returncode, done.stderr) == (0, "")
    before, after = document(source), document(tmp_path / "less.data")
    assert any(record.get("pgoff", 0) > 2 ** 53 for record in before["records"])
    assert (records_of(after)
            == [record for record in records_of(before) if record["type"] != "MMAP2"]
            != records_of(before))
    assert (events_of(after), after["features"]) == (events_of(before), before["features"])


@pytest.mark.sanitize
def test_keys_in_any_order():
    """Lines whose keys a tool has sorted: keys before `kind` do not make them a document."""
    data = CATALOG["file.le"]
    _, lines = pdecode(data, "-f", "jsonl")
    lines = [json.loads(line) for line in lines.splitlines()]
    assert {"file", "record", "summary"} <= {line["kind"] for line in lines}
    for order in (sorted, lambda keys: sorted(keys, reverse=True),
                  lambda keys: sorted(keys, key=lambda key: key == "kind")):
        text = "\n".join(json.dumps({key: line[key] for key in order(line)}) for line in lines)
        assert pencode(text.encode()) == data


def test_large_text_with_numbers_of_twenty_digits():
    doc = base()
    doc["features"]["HOSTNAME"] = "18446744073709551616"
    doc["records"][0]["time"] = (1 << 64) - 1
    after = document(pencode(doc))
    assert after["features"]["HOSTNAME"] == "18446744073709551616"
    assert after["records"][0]["time"] == (1 << 64) - 1


def test_left_out_blobs_are_refused():
    doc = document(CATALOG["sample-stack-user.le"], "--blobs", "omit")
    assert "--blobs omit" in refusal(doc)
