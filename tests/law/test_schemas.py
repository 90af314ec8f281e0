"""The schemas match the build, are valid, hold for every output, and can reject.

Validation is slow: of lines with the same keys and types at all depths, one is validated.
"""
import copy
import json
import re

import pytest

from conftest import ROOT, corpus_files, fixture_files
from perfdata import catalog
from schema_check import SCHEMAS, complaints, draft, schemas, validator


def schema_of(line):
    """The narrowest schema of a line, which gives clearer messages than line.schema.json."""
    if line["kind"] != "record":
        return f"{line['kind']}.schema.json"
    if line["type"] in ("UNKNOWN", "SKIPPED"):
        return f"record.schema.json#/$defs/{line['type']}"
    return f"record-{line['type']}.schema.json"


def shape(value):
    if isinstance(value, dict):
        return tuple((key, shape(inside)) for key, inside in value.items())
    if isinstance(value, list):
        return tuple(sorted({shape(inside) for inside in value}, key=repr))
    return type(value).__name__


def shape_of_line(line):
    return line["kind"], line.get("type"), shape(line)


# --- the schemas themselves -----------------------------------------------------------------------

@pytest.mark.sanitize
def test_schemas_are_those_of_the_build(run_pdecode, tmp_path):
    """If this fails after a change of the tables: make schemas."""
    run_pdecode([f"--schema={tmp_path}"])
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in SCHEMAS.iterdir() if path.is_file()}
    assert sorted(kept) == sorted(written), "run make schemas, and git rm what is no more"
    stale = [name for name in written if kept[name] != written[name]]
    assert not stale, "run make schemas"


def test_schemas_are_schemas():
    assert {"document.schema.json", "line.schema.json", "record-MMAP.schema.json"} <= set(schemas())
    for name, schema in schemas().items():
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["$id"] == name
        assert schema["description"]
        draft().check_schema(schema)


@pytest.mark.parametrize("schema, key, source, prefix, but", [
    ("record-SAMPLE", "stack_end", "unwind/end.c", "PS_END_", {""}),
    ("image", "match", "find/verdict.c", "PS_MATCH_", {"MISMATCH"}),
])
def test_words_of_libpdsymbols_are_in_the_schema(schema, key, source, prefix, but):
    """The schemas are libdecode's, which does not know libpdsymbols."""
    text = (ROOT / "libsymbols" / source).read_text()
    words = re.findall(rf'\[{prefix}\w+\] = "(\w*)"', text)
    assert len(words) > 4
    assert set(schemas()[f"{schema}.schema.json"]["properties"][key]["enum"]) == set(words) - but


def references(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        schema = list(schema.values())
    for inside in schema if isinstance(schema, list) else ():
        yield from references(inside)


def test_references_lead_somewhere():
    for name, schema in schemas().items():
        for reference in references(schema):
            file, _, pointer = reference.partition("#")
            target = schemas()[file or name]
            for key in pointer.split("/")[1:]:
                target = target[key]
            assert isinstance(target, dict)


def objects(schema):
    """All schemas of objects with keys of their own."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield schema
        schema = list(schema.values())
    for inside in schema if isinstance(schema, list) else ():
        yield from objects(inside)


def test_no_object_is_open():
    for name, schema in schemas().items():
        for inside in objects(schema):
            assert "additionalProperties" in inside, (name, list(inside["properties"]))
            assert set(inside.get("required", ())) <= set(inside["properties"])


def test_files_are_laid_out():
    for path in SCHEMAS.iterdir():
        text = path.read_text()
        assert text.endswith("\n") and "\t" not in text and not re.search(" $", text, re.MULTILINE)
        if path.suffix == ".json":
            assert all(len(line) <= 120 for line in text.splitlines()), path.name


# --- the output -----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def shapes():
    """The lines so far, one of each shape: shape -> line."""
    return {}


def hold(path, run_pdecode, shapes):
    """All lines of the file are valid by their schema, and the document by its own."""
    done = run_pdecode(["--format", "jsonl", path])
    if done.returncode == 3:
        return
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    intact = done.returncode == 0
    wrong, new = [], []
    for line in lines:
        key = (*shape_of_line(line), intact)
        if key in shapes:
            continue
        shapes[key] = line
        new.append(line)
        reference = schema_of(line)
        wrong += [f"{reference} {text}" for text in complaints(reference, line)]
        # the wide schemas try every record type, so few lines are tested
        if not intact or len(shapes) % 8 == 0:
            wrong += [f"line.schema.json {text}" for text in complaints("line.schema.json", line)]
    assert not wrong, "\n".join(wrong[:20])
    if new:
        document_holds(run_pdecode([path]), new)


def document_holds(done, new):
    """The document, with only the records whose lines had a new shape."""
    document = json.loads(done.stdout)
    offsets = {(line["offset"], line.get("inner_offset"))
               for line in new if line["kind"] == "record"}
    document["records"] = [record for record in document["records"]
                           if (record["offset"], record.get("inner_offset")) in offsets][:8]
    wrong = complaints("document.schema.json", document)
    assert not wrong, "\n".join(wrong[:20])


def test_captures_and_corpus(run_pdecode, shapes):
    for file in fixture_files() + corpus_files():
        hold(file.path, run_pdecode, shapes)
    assert len(shapes) > 200


def test_catalogue(run_pdecode, shapes, tmp_path):
    for path in catalog.write(tmp_path).values():
        hold(path, run_pdecode, shapes)
    types = {key[1] for key in shapes if key[0] == "record"}
    described = {name[len("record-"):-len(".schema.json")]
                 for name in schemas() if name.startswith("record-")}
    assert described <= types, "no case has these types"


@pytest.mark.parametrize("options", [
    ["--blobs", "omit"], ["--blobs", "full"], ["--sort", "time"], ["--header-only"],
    ["--types", "SAMPLE"], ["--pretty"],
], ids=" ".join)
def test_options(options, run_pdecode):
    """Options that omit or move parts give a valid document."""
    for name in ("03-callgraph-dwarf.data", "16-zstd.data", "18-pipe.data", "20-threads.data"):
        path = ROOT / "fixtures" / "perf" / name
        done = run_pdecode([*options, path])
        assert done.returncode == 0
        document = json.loads(done.stdout)
        document["records"] = document["records"][:60:3]
        assert not complaints("document.schema.json", document)


@pytest.mark.parametrize("size", [16, 60, 104, 263, 300, 700, 2000, 5000, 9999])
def test_cut_files(size, run_pdecode, tmp_path):
    """Damage is described, too."""
    for name in ("01-basic.data", "12-tracepoints.data", "16-zstd.data", "18-pipe.data"):
        path = tmp_path / name
        path.write_bytes((ROOT / "fixtures" / "perf" / name).read_bytes()[:size])
        done = run_pdecode(["--format", "jsonl", path])
        for line in map(json.loads, done.stdout.splitlines()):
            assert not complaints(schema_of(line), line), line


@pytest.mark.sanitize
@pytest.mark.parametrize("seed", range(12))
def test_damaged_files(seed, run_pdecode, tmp_path):
    """Bytes that were changed at random."""
    state = seed * 2654435761 + 1
    for name in ("01-basic.data", "09-regs.data", "19-pipe-tp.data"):
        data = bytearray((ROOT / "fixtures" / "perf" / name).read_bytes())
        for _ in range(40):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            data[16 + (state >> 20) % (len(data) - 16)] = state >> 56
        path = tmp_path / name
        path.write_bytes(data)
        done = run_pdecode(["--format", "jsonl", path])
        seen = set()
        for line in map(json.loads, done.stdout.splitlines()):
            key = shape_of_line(line)
            if key not in seen:
                seen.add(key)
                wrong = complaints(schema_of(line), line)
                assert not wrong, (name, wrong, str(line)[:400])


# --- they can say no ------------------------------------------------------------------------------

OPEN = {"regs", "fields"}       # keys are the machine's, or the file's


def spots(value, path=()):
    """Every place of a line: (keys to it, what is there)."""
    yield path, value
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from spots(inside, (*path, key))
    elif isinstance(value, list) and value:
        yield from spots(value[0], (*path, 0))


def changed(line, path, new):
    line = copy.deepcopy(line)
    target = line
    for key in path[:-1]:
        target = target[key]
    if path:
        target[path[-1]] = new(target[path[-1]])
    else:
        line = new(line)
    return line


def other_types(value):
    """Values of every other type than this one's, as changes."""
    if isinstance(value, bool):
        return [lambda _: 1, lambda _: None]
    if isinstance(value, int):
        return [str, lambda _: None, lambda n: n + 2**65, lambda n: n - 2**65, lambda _: 0.5]
    if isinstance(value, str):
        return [lambda _: 1, lambda _: None, lambda text: [text]]
    if isinstance(value, list):
        return [lambda _: {}, lambda _: "text", lambda items: [*items, None]]
    return [lambda _: [], lambda _: "text", lambda inside: {**inside, "no_such_key": 1}]


@pytest.fixture(scope="module")
def one_of_each(run_pdecode, tmp_path_factory):
    """The largest line of each kind, type of record and feature."""
    best = {}
    files = list(catalog.write(tmp_path_factory.mktemp("catalogue")).values())
    for path in [path for path in files if path.endswith(".le.data")]:
        done = run_pdecode(["--format", "jsonl", path])
        for text in done.stdout.splitlines():
            line = json.loads(text)
            key = (line["kind"], line.get("type") or ",".join(line.get("feature", ())))
            if key not in best or len(text) > len(best[key][0]):
                best[key] = (text, line)
    return {key: line for key, (_, line) in best.items()}


def test_wrong_lines_are_refused(one_of_each):
    tried, passed = 0, []
    for line in one_of_each.values():
        reference = schema_of(line)
        assert not complaints(reference, line)
        for path, value in spots(line):
            if OPEN & set(path):
                continue
            for change in other_types(value):
                wrong = changed(line, path, change)
                tried += 1
                # may be null or a fraction
                if validator(reference).is_valid(wrong) and path[-1:] != ("scale",):
                    passed.append(f"{reference} {'/'.join(map(str, path))}: {value!r:.60} as "
                                  f"{change(value)!r:.60}")
    assert tried > 3000
    assert not passed, "\n".join(passed[:40])


def test_missing_keys_are_refused(one_of_each):
    """Only a record that says so may lack what its type always has."""
    tried = 0
    for (kind, name), line in one_of_each.items():
        reference = schema_of(line)
        schema = schemas().get(reference)
        if kind == "feature" or not schema:
            continue
        always = list(schema.get("required", ()))
        if "trailing" not in line:
            always += schema.get("anyOf", [{}])[0].get("required", ())
        for key in set(always) & set(line):
            tried += 1
            assert not validator(reference).is_valid({k: v for k, v in line.items() if k != key}), (
                reference, key)
    assert tried > 250


@pytest.mark.parametrize("kind, path, value", [
    (("record", "MMAP2"), ["addr"], "400000"),              # no 0x
    (("record", "MMAP2"), ["addr"], "0x00400000"),          # padded
    (("record", "MMAP2"), ["addr"], "0xABCD"),              # upper case
    (("record", "MMAP2"), ["addr"], "0x10000000000000000"),     # more than 64 bits
    (("record", "MMAP2"), ["pid"], 2**31),
    (("record", "MMAP2"), ["type"], "MMAP"),
    (("record", "MMAP2"), ["type"], "NO_SUCH_TYPE"),
    (("record", "MMAP2"), ["cpumode"], "8"),
    (("record", "MMAP2"), ["misc_flags"], []),
    (("record", "MMAP2"), ["misc_flags"], ["SWITCH_OUT"]),  # of another type
    (("record", "TEXT_POKE"), ["old_bytes"], "abc"),        # half a byte
    (("record", "TEXT_POKE"), ["old_bytes"], "AB"),
    (("record", "KSYMBOL"), ["ksym_type"], "NO_SUCH_NAME"),
    (("record", "KSYMBOL"), ["ksym_type"], "123456"),       # it has 16 bits
    (("record", "KSYMBOL"), ["flags", "names"], ["UNREGISTER", "UNREGISTER"]),
    (("record", "BPF_EVENT"), ["tag"], "0011"),             # it has eight bytes
    (("record", "SAMPLE"), ["kind"], "error"),
])
def test_wrong_values_are_refused(kind, path, value, one_of_each):
    wrong = changed(one_of_each[kind], path, lambda _: value)
    assert not validator(schema_of(one_of_each[kind])).is_valid(wrong)
    assert not validator("line.schema.json").is_valid(wrong)
