"""Random values where the schemas allow them: decoding returns what was encoded.

An entry of the catalogue has fields that occur together, and schemas/ has their possible values.
Fields that decide which others exist keep their values; counts are left out.
"""
import copy
import functools
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from conftest import ROOT, TOOLS
from encoding import document, pencode
from perfdata.catalog import catalog
from test_pencode_edits import drop_counts, is_sound

pytestmark = pytest.mark.sanitize

# With the sanitizers each takes ten times as long, and begins with the same ones.
EXAMPLES = 60 if TOOLS.name == "san" else 200
CATALOG = {name: entry.data for name, entry in catalog().items()}
SCHEMAS = {path.name: json.loads(path.read_text())
           for path in (ROOT / "schemas").glob("*.schema.json")}
LEFT_OUT = ("offset", "inner_offset", "size", "event", "attr_index")

# The values of these decide which fields there are, or select the event.
DECIDES = {"type", "kind", "misc", "cpumode", "misc_flags", "id", "identifier", "abi", "fmt",
           "version", "long_size", "nr", "auxtrace_type", "update_type", "schedstat_version",
           "build_id_size", "magic", "arrays", "feat_id", "tag_name", "data_size", "nr_params",
           "nr_cpus", "filter_str_len", "filter", "byte_order", "dyn_size", "max_sched_domains",
           "nbits", "attr", "hw_idx", "sample_type", "info", "tracepoint", "prot", "value_hex",
           "header_size", "size", "priv", "cpus_and_pmu", "record_type", "ARCH", "E_MACHINE",
           "NRCPUS", "misc_hex", "bpf_prog", "func_info_rec_size", "line_info_rec_size",
           "nr_addresses", "nr_times", "nr_inlined", "nr_lines", "nr_unwound"}
# Lists whose length is also elsewhere.
COUPLED = {"counters", "vcpu_entries", "cpus", "die_ids", "events", "domains", "mask", "bits",
           "values", "params", "regs", "names", "data", "formats", "systems", "ftrace_formats",
           "ids", "addresses", "hits", "times", "inlined", "lines", "line_files", "unwound",
           "unwound_rows"}
NOT_THESE = re.compile(
    "zstd|gzip|directory|killed|tracepoint|lookup|simpleperf|bpf-prog|feature-bpf|newer|trailing|"
    "not-utf8|padding|rhel7|tracing|text-without|features-all|raw-empty|stack-empty|feature-dir|"
    "feature-build-id|feature-auxtrace|feature-cpu-topology|feature-event-desc|features-pipe")


def resolve(schema, name):
    """The schema of a reference, and the file that it is in."""
    while "$ref" in schema:
        file, _, pointer = schema["$ref"].partition("#")
        name = file or name
        schema = SCHEMAS[name]
        for part in pointer.split("/")[1:]:
            schema = schema[part]
    return schema, name


def fits(value, schema, name):
    schema, name = resolve(schema, name)
    if "anyOf" in schema:
        return any(fits(value, one, name) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    if "pattern" in schema and not (isinstance(value, str) and re.search(schema["pattern"], value)):
        return False
    kinds = {"integer": int, "string": str, "array": list, "object": dict, "number": (int, float)}
    kind = schema.get("type")
    return isinstance(kind, str) and isinstance(value, kinds.get(kind, ()))


PLAIN_TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"),
                     max_size=3)
HEX_NUMBER = re.compile(r"\^0x\(0\|\[1-9a-f\]\[0-9a-f\]\{0,(\d+)\}\)\$")


def leaf(draw, value, schema, name):
    """Another value of the same schema; bytes keep their length."""
    schema, name = resolve(schema, name)
    if "anyOf" in schema:
        ours = [one for one in schema["anyOf"] if fits(value, one, name)]
        return leaf(draw, value, draw(st.sampled_from(ours)), name) if ours else value
    if "const" in schema:
        return value
    if "enum" in schema:
        return draw(
            st.sampled_from([one for one in schema["enum"] if not isinstance(one, str)
                             or not one.isdigit()] or [value]))
    if schema.get("type") == "integer":
        return draw(st.integers(schema.get("minimum", 0), schema.get("maximum", (1 << 64) - 1)))
    if schema.get("type") != "string":
        return value
    number = HEX_NUMBER.match(schema.get("pattern", ""))
    if number:
        return hex(draw(st.integers(0, 16 ** (int(number.group(1)) + 1) - 1)))
    if "[0-9a-f]" in schema.get("pattern", ""):
        return bytes(draw(st.lists(st.integers(1, 255), min_size=len(value) // 2,
                                   max_size=len(value) // 2))).hex()
    return value if "pattern" in schema else draw(PLAIN_TEXT)


def word(draw, value):
    """A flag word, or one with parts, by names or by number."""
    if "names" in value and draw(st.booleans()):
        return {"names": sorted(draw(st.sets(st.sampled_from(value["names"])))) if value["names"]
                else []}
    return {"raw": draw(st.integers(0, value["raw"] | 1))}


def changed(draw, value, schema, name, key=None):
    if key in DECIDES:
        return value
    schema, name = resolve(schema, name)
    if "anyOf" in schema and isinstance(value, (dict, list)):
        schema, name = next(
            (resolve(one, name) for one in schema["anyOf"] if fits(value, one, name)),
            (schema, name))
    if isinstance(value, dict):
        if isinstance(value.get("raw"), int):
            return word(draw, value)
        parts = schema.get("properties", {})
        return {part: changed(draw, item, parts[part], name, part) if part in parts
                and part != "padding" else item
                for part, item in value.items()}
    if isinstance(value, list):
        items = schema.get("items")
        if not items or not value:
            return value
        if key not in COUPLED:
            value = [copy.deepcopy(value[i % len(value)]) for i in range(draw(st.integers(1, 5)))]
        return [changed(draw, item, items, name) for item in value]
    return leaf(draw, value, schema, name)


def agrees(want, got):
    if isinstance(want, dict):
        if set(want) in ({"raw"}, {"names"}):
            part = next(iter(want))
            return sorted(got[part]) == want[part] if part == "names" else got[part] == want[part]
        return all(part in got and agrees(item, got[part]) for part, item in want.items())
    if isinstance(want, list):
        return len(want) == len(got) and all(map(agrees, want, got))
    return want == got


@functools.lru_cache(maxsize=None)
def skeletons():
    """Documents with fields of every type, without damage and without bytes that no field has."""
    found = {}
    for name, data in CATALOG.items():
        if isinstance(data, dict) or NOT_THESE.search(name):
            continue
        doc = document(data)
        text = json.dumps(doc)
        if (not is_sound(doc) or '"padding"' in text or '"body"' in text or "_raw" in text
            or "_hex" in text):
            continue
        doc = {part: doc[part] for part in ("file", "attrs", "features", "records")}
        for key in ("sections", "size", "data_offset", "data_size", "adds_features", "gaps",
                    "attr_size"):
            doc["file"].pop(key, None)
        for record in doc["records"]:
            for key in LEFT_OUT:
                record.pop(key, None)
            for value in record.get("read", {}).get("values", []):
                value.pop("event", None)  # is derived from the id
            coupled = record.get("branch_stack", {}).get("counters") or record.get("vcpu_entries")
            if not coupled and record["type"] not in ("AUXTRACE",):
                drop_counts(record)
        drop_counts(doc["features"])
        found[name] = doc
    return found


def has_fixed_lists(record):
    return ("vcpu_entries" in record or "counters" in record.get("branch_stack", {})
            or "cpu_map" in record)


@st.composite
def documents(draw):
    name = draw(st.sampled_from(sorted(skeletons())))
    doc = copy.deepcopy(skeletons()[name])
    for i, record in enumerate(doc["records"]):
        schema = f"record-{record['type']}.schema.json"
        if (schema in SCHEMAS
            and record["type"] not in ("HEADER_FEATURE", "HEADER_TRACING_DATA", "HEADER_ATTR") and \
           not has_fixed_lists(record)):
            doc["records"][i] = changed(draw, record, SCHEMAS[schema], schema)
    if doc["file"]["mode"] == "file":
        doc["features"] = changed(draw, doc["features"], SCHEMAS["features.schema.json"],
                                  "features.schema.json")
    return name, doc


@settings(derandomize=True, max_examples=EXAMPLES, deadline=None, database=None,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                                 HealthCheck.filter_too_much])
@given(documents())
@pytest.mark.long
def test_encoded_values_are_decoded(made):
    name, doc = made
    after = document(pencode(doc))
    assert after["errors"] == [], name
    assert len(after["records"]) == len(doc["records"]), name
    for want, got in zip(doc["records"], after["records"]):
        assert agrees(want, got), (name, want, got)
    if doc["file"]["mode"] == "file":
        assert agrees(doc["features"], after["features"]), (name, doc["features"],
                                                            after["features"])


@pytest.mark.long
def test_there_are_skeletons_of_all_types():
    """The property would also hold for an empty list."""
    types = {record["type"] for doc in skeletons().values() for record in doc["records"]}
    known = {name[len("record-"):-len(".schema.json")]
             for name in SCHEMAS if name.startswith("record-")}
    missing = {one for one in known - types if not one.startswith(("SIMPLEPERF", "COMPRESSED"))}
    assert missing <= {"UNKNOWN", "SKIPPED", "HEADER_TRACING_DATA", "BPF_METADATA"}
    fields = {key for doc in skeletons().values() for record in doc["records"] for key in record}
    assert len(fields) > 100
