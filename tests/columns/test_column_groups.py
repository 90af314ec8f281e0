"""Columns of samples that --with adds: the same values as in the JSON, in both byte orders, for
each sample_type and read_format."""
import json

import pytest

from arrow_c_reader import read_stream
from arrow_reader import read_arrow
from conftest import FIXTURES, strict_json_lines
from parquet_reader import read_parquet
from perfdata import catalog_samples, catalog_tracepoints
from perfdata.attr import Attr
from perfdata.catalog import catalog
from perfdata.container import File
from perfdata.sample import branch, sample
from perfdata.tracing import Format, common, tracing_data
from test_columns import rows
from test_stream import library, opened  # noqa: F401  (fixtures)

GROUPS = ["addr", "raw", "offset", "wall", "mem", "branch", "read", "regs", "stack",
          "tracepoints"]
EVERY = ",".join(GROUPS)
CASES = [f"{case.name}.{order}" for cases in (catalog_samples, catalog_tracepoints)
         for case in cases.cases() for order in ("le", "be")]
FILES = ["03-callgraph-dwarf", "06-data-phys-pages", "08-weight-datasrc", "09-regs",
         "10-group-leader-sampling", "12-tracepoints", "88-32bit-regs"]


def number(text):
    return int(text, 16) if isinstance(text, str) else text


def joined(data_src, *lists):
    words = [str(word) for name in lists for word in data_src[name]]
    return "|".join(words) or None


def memory_of(sample):
    data_src, costs = sample.get("data_src"), sample.get("weight_struct", {})
    found = {"data_src": None, "mem_op": None, "mem_lvl": None, "mem_snoop": None,
             "mem_lock": None, "mem_tlb": None, "mem_hops": None,
             "ins_lat": costs.get("var2_w"), "retire_lat": costs.get("var3_w"),
             "transaction": number(sample.get("transaction", {}).get("raw"))}
    if data_src is not None:
        found |= {"data_src": number(data_src["raw"]), "mem_op": joined(data_src, "op"),
                  "mem_lvl": joined(data_src, "lvl", "lvl_num", "remote"),
                  "mem_snoop": joined(data_src, "snoop", "snoopx"),
                  "mem_lock": joined(data_src, "lock"), "mem_tlb": joined(data_src, "dtlb"),
                  "mem_hops": joined(data_src, "hops")}
    return found


def branches_of(sample):
    if "branch_stack" not in sample:
        return {"branch": None}
    return {"branch": [
        {"from": number(entry["from"]), "to": number(entry["to"]), "cycles": entry["cycles"],
         **{flag: bool(entry[flag]) for flag in ("mispred", "predicted", "in_tx", "abort")},
         "type": str(entry["type"]), "spec": str(entry["spec"])}
        for entry in sample["branch_stack"]["entries"]]}


def counts_of(sample, events):
    read = sample.get("read")
    if read is None:
        return {"time_enabled": None, "time_running": None, "counts": None}
    values = read.get("values", [read])
    own = -1 if "values" in read else sample.get("attr_index", -1)
    return {"time_enabled": read.get("time_enabled"), "time_running": read.get("time_running"),
            "counts": [{"event": events.get(value["id"], -1) if "id" in value else own,
                        "value": value["value"]} for value in values]}


def registers_of(sample, kind):
    registers = sample.get(f"regs_{kind}", {})
    values = registers.get("regs")
    abi = registers.get("abi")
    return {f"{kind}_abi": abi if abi is None else str(abi), f"{kind}_regs": values and [
        number(value) for value in values.values()]}


def rest_of(sample):
    stack, raw = sample.get("stack_user", {}), sample.get("raw", {})
    return {"dyn_size": stack.get("dyn_size"),
            "user_stack": bytes.fromhex(stack["data"]) if "data" in stack else None,
            "raw": bytes.fromhex(raw["data"]) if "data" in raw else None,
            "fields": raw.get("tracepoint", {}).get("fields")}


def wanted(sample, events):
    return (memory_of(sample) | branches_of(sample) | counts_of(sample, events) | rest_of(sample) |
            registers_of(sample, "user") | registers_of(sample, "intr"))


def compare(run_pdecode, path):
    """Compares all samples of a file. Returns the columns that had values."""
    lines = list(strict_json_lines(run_pdecode(["-f", "jsonl", path]).stdout))
    events = {id: line["index"] for line in reversed(lines) if line["kind"] == "attr"
              for id in line["ids"]}
    samples = [line for line in lines if line["kind"] == "record" and line["type"] == "SAMPLE"]
    done = run_pdecode(["-f", "arrow", "--with", EVERY, path])
    assert done.returncode in (0, 1), done.stderr
    found = rows(read_arrow(done.stdout)[0])
    assert len(found) == len(samples)
    used = set()
    for row, sample in zip(found, samples):
        want = wanted(sample, events)
        row["fields"] = row["fields"] and json.loads(row["fields"])
        if "error" not in sample:
            assert {name: row[name] for name in want} == want
        used |= {name for name in want if row[name] is not None}
    return used


def test_groups_have_the_fields_of_the_json(run_pdecode, tmp_path):
    used, files = set(), catalog()
    assert len(CASES) > 100
    for name in CASES:
        if not isinstance(files[name].data, bytes):
            continue
        path = tmp_path / "case.data"
        path.write_bytes(files[name].data)
        if run_pdecode(["--header-only", path]).returncode != 3:
            used |= compare(run_pdecode, path)
    assert not set(wanted({}, {})) - used, "each column has a value somewhere"


@pytest.mark.parametrize("name", FILES)
def test_groups_of_recordings(name, run_pdecode):
    assert compare(run_pdecode, FIXTURES / "perf" / f"{name}.data")


@pytest.mark.parametrize("text", [b"}", b'"}', b'\\"}', b'{"', b'"fields":{'])
def test_fields_of_a_tracepoint_end_with_their_object(text, run_pdecode, tmp_path):
    """Texts have what ends objects, and branches follow in the record."""
    attr = Attr(type=2, config=300, sample_type="TID|TIME|RAW|BRANCH_STACK")
    raw = common(300, 7, 1, 2) + text.ljust(16, b"\0")
    tracing = tracing_data({"test": [Format("event_x", 300, [("char name[16]", 8, 16, 0)])]})
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(attr, [42])], features={1: tracing}, records=[
        sample(attr, pid=7, tid=7, time=5, raw=raw,
               branch_stack={"entries": [branch(1, 2)]})]).build("<"))
    assert compare(run_pdecode, path) >= {"fields", "branch"}


@pytest.fixture(scope="module")
def every_bit(tmp_path_factory):
    """Function: a recording whose first sample has all fields, in a byte order."""
    def make(order):
        path = tmp_path_factory.mktemp("groups") / "all.data"
        path.write_bytes(catalog()[f"sample-all-weight-struct.{order}"].data)
        return path
    return make


@pytest.mark.parametrize("order", ["le", "be"])
def test_formats_have_the_same_groups(order, every_bit, run_pdecode, tmp_path,
                                      opened):      # noqa: F811
    path = every_bit(order)
    want = read_arrow(run_pdecode(["-f", "arrow", "--with", EVERY, path]).stdout)[0]
    done = run_pdecode(["-f", "parquet", "--with", EVERY, "-o", tmp_path / "tables", path])
    assert done.returncode == 0, done.stderr
    assert read_parquet((tmp_path / "tables" / "samples.parquet").read_bytes())[0] == want
    assert read_stream(opened(path, "samples", 2**32 - 1))[0] == want
    assert want["branch"][0] and want["counts"][0] and want["user_stack"][0]


def test_names_of_registers(every_bit, run_pdecode):
    done = run_pdecode(["-f", "arrow", "--table", "events", every_bit("le")])
    events = read_arrow(done.stdout)[0]
    names = "ax bx cx dx si di bp sp ip".split()
    assert events["user_regs"] == [names] and events["intr_regs"] == [names]
    done = run_pdecode(["-f", "arrow", "--table", "events", FIXTURES / "perf" / "01-basic.data"])
    assert set(read_arrow(done.stdout)[0]["user_regs"]) == {None}


@pytest.mark.parametrize("present, absent", [("user_regs", "intr_regs"),
                                             ("intr_regs", "user_regs")])
def test_names_of_one_set_of_registers(present, absent, run_pdecode, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(catalog()[f"sample-regs-{present[:4]}.le"].data)
    events = read_arrow(run_pdecode(["-f", "arrow", "--table", "events", path]).stdout)[0]
    assert "ax" in events[present][0] and events[absent] == [None]


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_adds_only_its_columns(group, every_bit, run_pdecode):
    plain = read_arrow(run_pdecode(["-f", "arrow", every_bit("le")]).stdout)[0]
    more = read_arrow(run_pdecode(["-f", "arrow", "--with", group, every_bit("le")]).stdout)[0]
    every = read_arrow(run_pdecode(["-f", "arrow", "--with", EVERY, every_bit("le")]).stdout)[0]
    assert set(plain) < set(more) < set(every)
    assert all(more[name] == every[name] for name in more)
