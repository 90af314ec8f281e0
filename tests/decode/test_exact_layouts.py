"""Each layout consumes its record exactly: no trailing, opaque or skipped bytes.

test_corpus checks that records, sections and gaps tile the file; here their content is checked. In
real files, only the bytes that perf itself leaves uninitialized may remain, and these are stated.
"""
import collections

import pytest

from perfdata.catalog import catalog

# Keys that show bytes which no layout explains, at any depth.
ODD = ("trailing", "cut", "body", "padding")

# Files with damaged records: see test_corpus.
DAMAGED = {"A3-zstd-unflushed.data": {"SAMPLE.cut": 1, "SAMPLE.trailing": 1},
           "linux-perf-data/sleep.compressed2.pipe.data": {"SKIPPED.body": 1},
           "quipper/perf.data.piped.corrupted.zero_size_sample-3.2": {"SKIPPED.body": 1}}

# perf and the kernel do not clear the bytes that align texts to 8, nor those after a BPF program's
# arrays; they are kept as padding.
DIRTY = {"MMAP.padding", "MMAP2.padding", "COMM.padding", "BUILD_ID[].padding",
         "BPF_PROG_INFO[].data.padding"}

# Strings of another tool, without perf's padding. Their bytes are kept beside them.
ODD_STRINGS = {"quipper/perf.data.weight_struct": {
    f"{name}_raw"
    for name in ("HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID CMDLINE EVENT_DESC CPU_TOPOLOGY "
                 "NUMA_TOPOLOGY PMU_MAPPINGS").split()}}


def odd(value, path, found):
    if isinstance(value, dict):
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            if key in ODD or key.endswith("_raw"):
                found[where] += 1
            odd(item, where, found)
    elif isinstance(value, list):
        for item in value:
            odd(item, f"{path}[]", found)
    return found


def odd_in(document):
    """Counts of such keys in records, features and attributes by place: {"MMAP.padding": 3}."""
    found = collections.Counter()
    for record in document["records"]:
        odd(record, record["type"], found)
    odd(document["features"], "", found)
    odd(document["attrs"], "attrs", found)
    return found


def test_nothing_is_left_over(data_file, decoder, run_pdecode):
    if run_pdecode(["--header-only", data_file.path]).returncode == 3:
        pytest.skip("not a perf.data file: see test_corpus")
    document = decoder.result(data_file.path).document
    found = odd_in(document)
    if data_file.origin == "perf" and data_file.name not in DAMAGED:
        assert not found
    strings = ODD_STRINGS.get(data_file.name, set())
    assert {where for where in found if where.endswith("_raw")} == strings
    unexplained = {where: n for where, n in found.items() if where not in DIRTY | strings}
    assert unexplained == DAMAGED.get(data_file.name, {})
    assert not [record for record in document["records"] if record["type"] == "UNKNOWN"]


def test_the_reader_itself_says_so(data_file, run_pdecode):
    """pdecode -v prints the library's note on a record that was not consumed exactly."""
    done = run_pdecode(["-v", "-f", "stats", data_file.path])
    assert b"after the last field" not in done.stderr


# --- the catalogue has what trails ----------------------------------------------------------------

TRAILING = {
    "body-of-a-newer-kernel": ("ITRACE_START", 8),
    "sample-trailing": ("SAMPLE", 8),
    "sample-unknown-bit": ("SAMPLE", 8),
}


@pytest.mark.parametrize("order", ["le", "be"])
def test_trailing_bytes_in_the_catalogue(order, catalogue_paths, decode):
    found = {}
    for name in catalog():
        if not name.endswith("." + order):
            continue
        trailing = [(record["type"], len(record["trailing"]) // 2)
                    for record in decode(catalogue_paths[name])["records"]
                    if record.get("trailing")]
        if trailing:
            assert len(trailing) == 1, name
            found[name.rsplit(".", 1)[0]] = trailing[0]
    assert found == TRAILING


@pytest.mark.parametrize("name", TRAILING)
def test_trailing_bytes_are_noted(name, catalogue_paths, run_pdecode):
    """Trailing bytes can be from a newer kernel. But if all fields are known, they are damage."""
    type, size = TRAILING[name]
    done = run_pdecode(["-v", catalogue_paths[name + ".le"]])
    is_damage = name == "sample-trailing"
    assert done.returncode == is_damage
    assert f"{type} at 256: {size} bytes after the last field" in done.stderr.decode()
    assert bool(run_pdecode([catalogue_paths[name + ".le"]]).stderr) == is_damage


def test_odd_is_found_at_any_depth():
    document = {"records": [{"type": "COMM", "padding": "00"},
                            {"type": "SAMPLE", "read": {"values": [{"cut": 1}]}}],
                "features": {"A_raw": "", "B": [{"padding": "ff"}]},
                "attrs": [{"attr": {"trailing": "aa"}}]}
    assert odd_in(document) == {"COMM.padding": 1, "SAMPLE.read.values[].cut": 1, "A_raw": 1,
                                "B[].padding": 1,
                                "attrs[].attr.trailing": 1}
