"""pencode --mode, --byte-order and --compress: the new file has the same records, and perf reads
it."""
import collections
import json
import re
import struct
import subprocess

import pytest

from conftest import FIXTURES, TIMEOUT
from encoding import COMPRESSED, document, events_of, features_of, pdecode, pencode, records_of, run
from perfdata import features as f
from perfdata.case import attr
from perfdata.catalog import catalog
from perfdata.container import File, Pipe
from perfdata.records import header_attr, header_feature
from perfdata.sample import sample
from perfdata.wire import fstr

CATALOG = {name: entry.data for name, entry in catalog().items()}
# Features that a pipe can't have: places in a file, and empty sections.
FILE_ONLY = ("TRACING_DATA", "BUILD_ID", "BRANCH_STACK", "AUXTRACE", "STAT", "DIR_FORMAT")


def is_sound(doc):
    return not doc["errors"] and not doc["file"].get("gaps")


def the_same(after, before, without=()):
    assert [e["message"] for e in after["errors"]] == []
    assert records_of(after) == records_of(before)
    assert events_of(after) == events_of(before)
    without = ["COMPRESSED", *without]
    assert features_of(after, without) == features_of(before, without)


def as_list(doc, name):
    value = doc["features"].get(name)
    return value if isinstance(value, list) else []


def build_ids(doc):
    """(pid, build id, file name) from the header or from the records of a pipe."""
    found = as_list(doc, "BUILD_ID") + [r for r in doc["records"] if r["type"] == "HEADER_BUILD_ID"]
    return {(item.get("pid"), item["build_id"], item["filename"]) for item in found}


@pytest.mark.parametrize("size, code", [(65000, 0), (66000, 1)])
def test_a_feature_too_large_for_a_pipe_is_left_out_and_said(size, code):
    text = pdecode(FIXTURES / "perf" / "01-basic.data")[1]
    doc = json.loads(text)
    doc["features"]["CMDLINE"] = ["x" * size]
    done = run("pencode", "--mode", "pipe", stdin=json.dumps(doc).encode())
    assert done.returncode == code
    said = ("pencode: stdin: feature CMDLINE left out: it exceeds the 64 KiB of a pipe's record "
            "(a file can hold it)\n")
    assert done.stderr.decode() == (said if code else "")
    after = document(done.stdout)
    assert after["errors"] == [] and ("CMDLINE" in after["features"]) == (code == 0)
    assert records_of(after) == records_of(doc) and "HOSTNAME" in after["features"]


# --- own features, which perf refuses in a pipe ---

SYMBOLS = f.pd_symbols([], version=1)


def own_features(form):
    """A recording with PD_SYMBOLS in its own table, or by bit 240 as in old ones."""
    new, old = ({240: SYMBOLS}, {}) if form == "new" else ({}, {240: SYMBOLS})
    return File(attrs=[(attr("IP"), [1])], records=[sample(attr("IP"), ip=5)],
                features={3: fstr("box"), **old}, own_features=new)


@pytest.mark.parametrize("form", ["new", "old"])
def test_own_features_are_left_out_of_a_pipe_and_said(form):
    before = document(own_features(form).build("<"))
    done = run("pencode", "--mode", "pipe", stdin=json.dumps(before).encode())
    assert done.returncode == 1
    assert done.stderr.decode() == ("pencode: stdin: feature PD_SYMBOLS left out: perf refuses a "
                                    "pipe with it (a file can hold it)\n")
    after = document(done.stdout)
    assert after["errors"] == [] and [*after["features"]] == ["HOSTNAME"]
    assert records_of(after) == records_of(before)


@pytest.mark.parametrize("order", "<>")
def test_a_pipe_that_has_own_features(order):
    """It comes back, and keeps them in the other byte order; a file has them in its own table."""
    data = Pipe([header_attr(attr("IP"), [1]), header_feature(3, fstr("box")),
                 header_feature(240, SYMBOLS), sample(attr("IP"), ip=5)]).build(order)
    _, text = pdecode(data)
    assert pencode(text) == pencode(text, "--mode", "pipe") == data
    other = document(pencode(text, "--byte-order", "big" if order == "<" else "little"))
    assert other["features"] == document(data)["features"] and "PD_SYMBOLS" in other["features"]
    file = document(pencode(text, "--mode", "file"))
    assert file["features"] == other["features"]
    assert file["file"]["adds_features"] == ["HOSTNAME"]


@pytest.mark.parametrize("form", ["new", "old"])
def test_own_features_get_their_table_where_the_layout_changes(form):
    before = document(own_features(form).build("<"))
    after = document(pencode(before, "--byte-order", "big"))
    the_same(after, before)
    assert after["file"]["adds_features"] == before["file"]["adds_features"]
    after = document(pencode(before, "--compress"))
    the_same(after, before)
    assert after["file"]["adds_features"] == ["HOSTNAME", "COMPRESSED"]
    before["features"]["PD_SYMBOLS"]["images"].append({"path": "/bin/app"})
    after = document(pencode(before))
    assert after["features"]["PD_SYMBOLS"]["images"][0]["path"] == "/bin/app"
    assert after["file"]["adds_features"] == ["HOSTNAME"] and after["errors"] == []


def test_own_features_that_are_removed_or_added():
    before = document(own_features("new").build("<"))
    symbols = before["features"].pop("PD_SYMBOLS")
    assert pencode(before) == File(attrs=[(attr("IP"), [1])], records=[sample(attr("IP"), ip=5)],
                                   features={3: fstr("box")}).build("<")
    before = document(pencode(before))
    before["features"]["PD_SYMBOLS"] = symbols
    assert pencode(before) == own_features("new").build("<")


@pytest.mark.parametrize("sizes", [(64, 128), (128, 64), (64, 72, 136)])
def test_events_of_a_pipe_that_come_late(sizes):
    """Each event is after the samples of the one before, and larger or smaller."""
    parts = []
    for number, size in enumerate(sizes):
        sample = struct.pack("<IHHQQ", 9, 2, 24, number + 1, 5)
        parts += [header_attr(attr("IDENTIFIER|IP", size=size, config=number), [number + 1]),
                  lambda wire, s=sample: s]
    before = document(Pipe(parts).build("<"))
    assert [event["attr"]["size"] for event in before["attrs"]] == list(sizes)
    the_same(document(pencode(before, "--mode", "file")), before)


@pytest.fixture
def before(fixture_file, decode):
    doc = decode(fixture_file.path)
    if not is_sound(doc):
        pytest.skip("damaged: its places can't be kept")
    return doc


@pytest.mark.parametrize("compress", [(), ("--compress",)], ids=["plain", "zstd"])
@pytest.mark.parametrize("mode", ["file", "pipe"])
def test_mode(fixture_file, before, mode, compress):
    _, text = pdecode(fixture_file.path)
    after = document(pencode(text, "--mode", mode, *compress))
    assert after["file"]["mode"] == mode
    the_same(after, before, FILE_ONLY)
    assert build_ids(after) == build_ids(before)
    if "TRACING_DATA" in before["features"]:
        assert after["features"]["TRACING_DATA"] == before["features"]["TRACING_DATA"]
    if compress and any("attr_index" in r for r in before["records"]):
        assert any(r["type"] in COMPRESSED for r in after["records"])
        assert after["features"]["COMPRESSED"]["level"] == 1
    else:
        assert not any(r["type"] in COMPRESSED for r in after["records"])


def test_there_and_back(fixture_file, before):
    """File to pipe to file, and pipe to file to pipe: only features that a pipe can't have are
    lost."""
    _, text = pdecode(fixture_file.path)
    first, second = ("pipe", "file") if before["file"]["mode"] != "pipe" else ("file", "pipe")
    _, text = pdecode(pencode(text, "--mode", first))
    after = document(pencode(text, "--mode", second))
    the_same(after, before, FILE_ONLY)
    assert build_ids(after) == build_ids(before)


@pytest.mark.parametrize("mode", ["same", "file", "pipe"])
def test_byte_order(fixture_file, before, mode):
    if fixture_file.is_directory and mode == "same":
        pytest.skip("directories: elsewhere")
    _, text = pdecode(fixture_file.path)
    big = pencode(text, "--byte-order", "big", "--mode", mode)
    after = document(big)
    assert after["file"]["byte_order"] == "big"
    raw = {name.removesuffix("_raw") for name in before["features"] if name.endswith("_raw")}
    the_same(after, before, [*FILE_ONLY, *raw])
    _, text = pdecode(big)
    the_same(document(pencode(text, "--byte-order", "little")), before, [*FILE_ONLY, *raw])


def test_catalogue_swaps():
    """Each entry, swapped to the other order, decodes like the catalogue's entry in that order."""
    wrong = []
    for name, data in CATALOG.items():
        if not name.endswith(".le") or isinstance(data, dict) or data.startswith(b"\x1f\x8b"):
            continue
        doc = document(data)
        if (not is_sound(doc) or "trailing" in str(doc["records"]) or "padding" in str(doc)
            or "_raw" in str(doc["features"])):
            continue
        if any(r["type"] in COMPRESSED or r["type"] == "UNKNOWN" or "body" in r
               for r in doc["records"]):
            continue
        twin = document(CATALOG[name[:-3] + ".be"])
        after = document(pencode(doc, "--byte-order", "big"))
        if (records_of(after) != records_of(twin) or after["attrs"] != twin["attrs"]
            or after["features"] != twin["features"]):
            wrong.append(name)
    # raw data and byte strings are not swapped; the other entry has its own
    assert [name for name in wrong
            if not re.match("tracepoint|lookup|feature-bpf|features-all|bpf-prog|feature-tracing|"
                            "header-tracing|feature-simpleperf|features-pipe|producer", name)] == []


@pytest.mark.parametrize("directory", ["20-threads.data", "96-zstd-threads.data"])
def test_directories(directory, decode, tmp_path):
    path = FIXTURES / "perf" / directory
    before = decode(path)
    _, text = pdecode(path)
    for args in (), ("--compress",), ("--byte-order", "big"):
        out = tmp_path / ("out" + "-".join(args))
        assert run("pencode", "-o", f"{out}/", *args, stdin=text).returncode == 0
        assert {part.name for part in out.iterdir()} == {part.name for part in path.iterdir()}
        the_same(document(out), before)
    after = document(pencode(text, "--mode", "file"))
    the_same(after, before, ["DIR_FORMAT"])


# --- perf reads it ---

def perf_words(perf, path, *command, stdin=None):
    done = subprocess.run([perf, *command, "-i", "-" if stdin else path], input=stdin,
                          capture_output=True, timeout=TIMEOUT)
    return (done.returncode, done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"))


CONVERTED = ("01-basic.data", "02-callgraph-fp.data", "03-callgraph-dwarf.data",
             "05-switch-events.data", "12-tracepoints.data", "16-zstd.data", "18-pipe.data",
             "19-pipe-tp.data", "43-multi-event.data", "95-zstd-pipe.data", "09-regs.data")


def script_of(perf, path):
    """perf reads the tracepoint formats of pipe mode only from a pipe."""
    data = path.read_bytes()
    is_pipe = data[8:16] == (16).to_bytes(8, "little")
    code, out, _ = perf_words(perf, path, "script", stdin=data if is_pipe else None)
    return code, out


@pytest.mark.parametrize("name", CONVERTED)
def test_perf_reads_conversions(perf, name, tmp_path):
    path = FIXTURES / "perf" / name
    _, text = pdecode(path)
    expected = script_of(perf, path)
    assert expected[1]
    for mode in "file", "pipe":
        for compress in (), ("--compress",):
            out = tmp_path / "out"
            out.write_bytes(pencode(text, "--mode", mode, *compress))
            assert script_of(perf, out) == expected, (mode, compress)


# The messages of perf 6.1 for entries that it does not read to the end. It must read all others.
PERF_WORDS = [
    # it requires ID in read_format if records have counts
    (r"(read-format|sample-read)-(0[0-389]|1[016-9]|2[4-7])"
     r"|sample-read|sample-all-weight(-struct)?",
     "non matching read_format"),
    # it requires hw_idx even without branches
    (r"branch-hw-idx-left-out", "Can't parse sample"),
    # a group needs events
    (r"sample-read-group-empty", "failed to process type: 9"),
    # it requires the decoder's event, and must know it
    (r"auxtrace-info-(cs-etm-[012]|vpa-dtl|of-later)", "failed to process type: 70"),
    # it requires AUXTRACE_INFO first, and then real traces
    (r"auxtrace(-empty|-of-records)?", "failed to process type: 71"),
]


def dump(perf, path):
    return perf_words(perf, path, "report", "-D", "--stdio")


def names_in_dump(out):
    return collections.Counter(re.findall(r"PERF_RECORD_(\w+)", out))


def perf_catalogue():
    """The entries with record types and sample bits that perf 6.1 knows, and without deliberate
    faults."""
    odd = ("tracepoint", "simpleperf", "unknown", "newer", "trailing", "lookup", "bitmap",
           "producer", "not-utf8")
    known = ("mmap", "lost", "comm", "exit", "throttle", "unthrottle", "fork", "aux", "itrace",
             "switch", "namespaces", "ksymbol", "bpf-event", "cgroup", "text-poke", "trailer-",
             "read-format", "sample-", "branch-", "data-src", "transaction", "regs-x86", "raw-",
             "stack-", "id-index", "thread-map", "time-conv", "cpu-map", "event-update", "stat",
             "finished", "header-build-id", "auxtrace")
    return [name for name in CATALOG if name.endswith(".le") and name.startswith(known) and
            not isinstance(CATALOG[name], dict) and not any(word in name for word in odd)]


@pytest.mark.parametrize("name", perf_catalogue())
def test_perf_reads_every_type(perf, name, tmp_path):
    """perf's dump of pencode's new file is that of the entry, apart from offsets."""
    doc = document(CATALOG[name])
    if doc["file"]["mode"] != "file":
        pytest.skip("pipes: above")
    for key in ("sections", "data_offset", "data_size", "size", "attr_size"):
        doc["file"].pop(key, None)
    made = pencode(doc)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.write_bytes(CATALOG[name])
    ours.write_bytes(made)

    def without_places(out):
        out = re.sub(r"(?m)^.*?0x[0-9a-f]+ \[(0x[0-9a-f]+)\]:", r"\1:", out)
        out = re.sub(r"0x[0-9a-f]+@\S+", "", out)
        return re.sub(r"(?m)^# .*$", "", out)
    code, out, err = dump(perf, ours)
    expected = dump(perf, theirs)
    assert (code, without_places(out)) == (expected[0], without_places(expected[1]))
    if code < 0:
        pytest.skip(f"this perf crashes on the entry itself: signal {-code}")
    words = next((words for names, words in PERF_WORDS if re.fullmatch(rf"(?:{names})\.le", name)),
                 None)
    if words:
        assert words in err
    else:
        assert code == 0 and "failed to process" not in err
        assert sum(names_in_dump(out).values()) >= len(doc["records"])
