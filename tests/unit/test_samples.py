"""Samples in a caller's memory (pd_reader_samples_in() of pd/fields.h) against the JSON."""
import re

import pytest

from conftest import FIXTURES, strict_json_lines
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample

PERF = FIXTURES / "perf"
MARKERS = {"HV": -32, "KERNEL": -128, "USER": -512, "USER_DEFERRED": -640, "GUEST": -2048,
           "GUEST_KERNEL": -2176, "GUEST_USER": -2560}
CUTS = 100


@pytest.fixture
def run(installed):
    return lambda *arguments: installed.run("api_samples.c", "static", *arguments)


def lines_of(run_pdecode, path):
    return strict_json_lines(run_pdecode(["-f", "jsonl", path]).stdout)


def entry(text):
    return MARKERS[text] % 2 ** 64 if text in MARKERS else int(text, 16)


def expected(record):
    chain, total = [entry(text) for text in record.get("callchain", [])], 0
    for value in chain:
        total = (31 * total + value) % 2 ** 64
    return (f"sample misc={record.get('misc', 0)} pid={record.get('pid', -1)} "
            f"time={record.get('time', 0)} ip={int(record.get('ip', '0x0'), 16)} "
            f"callchain={len(chain)},{total}")


def check(run, run_pdecode, path):
    """Returns whether the samples could be read this way."""
    records = [line for line in lines_of(run_pdecode, path) if line["kind"] == "record"]
    samples = [record for record in records if record["type"] == "SAMPLE"]
    for capacity in (1, 100):
        returncode, output = run(path, capacity)
        *lines, last = output.splitlines()
        assert returncode == 0
        if samples and not lines:
            return False
        assert lines == [expected(record) for record in samples]
    others = sum(record["size"] for record in records if record["type"] != "SAMPLE")
    end = max(record["offset"] + record["size"] for record in records)
    cut = [record for record in samples if record["offset"] + record["size"] > end - CUTS]
    assert last == f"others={others} fewer={len(cut)}"
    return True


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["01-basic", "02-callgraph-fp", "03-callgraph-dwarf",
                                  "12-tracepoints", "09-regs", "06-phys-pagesize"])
def test_samples_of_perf(name, run, run_pdecode):
    found = sorted(PERF.glob(name.split("-")[0] + "-*.data"))
    assert found and all(check(run, run_pdecode, path) for path in found)


EVENT = attr("IDENTIFIER|IP|TID|TIME|CALLCHAIN|RAW", flags=("sample_id_all",))
SAME = attr("IDENTIFIER|IP|TID|TIME|CALLCHAIN", flags=("sample_id_all",))
OTHER = attr("IDENTIFIER|IP|TID|TIME|ADDR|CALLCHAIN", flags=("sample_id_all",))
NO_TASK = attr("IDENTIFIER|IP", flags=("sample_id_all",))
GROUP = attr("IDENTIFIER|IP|TID|TIME|READ|CALLCHAIN", read_format="GROUP|ID")


def built(events, tmp_path, order):
    records = [r.comm(1, 1, "first")]
    for i in range(20):
        for number, event in enumerate(events):
            values = {"identifier": number + 1, "ip": 2 ** 63 + i, "pid": i, "tid": i,
                      "time": 500 + i, "callchain": [2 ** 64 - 512, 0x400000 + i][:i % 3],
                      "raw": bytes(i), "read": {"values": [(1, 2)] * (i % 3)}}
            kinds = {"raw": "RAW", "read": "READ", "callchain": "CALLCHAIN", "pid": "TID",
                     "tid": "TID", "time": "TIME"}
            records.append(sample(event, **{
                key: value for key, value in values.items()
                if key not in kinds or event is not NO_TASK and (
                    key != "raw" or event is EVENT) and (key != "read" or event is GROUP)}))
    path = tmp_path / "built.data"
    path.write_bytes(File(attrs=[(event, [i + 1]) for i, event in enumerate(events)],
                          records=records).build(order))
    return path


@pytest.mark.sanitize
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("events, can", [([EVENT], True), ([EVENT, SAME], True), ([NO_TASK], True),
                                         ([SAME, OTHER], False), ([EVENT, NO_TASK], False),
                                         ([GROUP], False)],
                         ids=["one", "same places", "no task", "other places", "one has none",
                              "varying"])
def test_places(events, can, order, tmp_path, run, run_pdecode):
    assert check(run, run_pdecode, built(events, tmp_path, order)) == can


@pytest.mark.sanitize
def test_a_callchain_that_is_too_long(tmp_path, run, run_pdecode):
    """Its count is greater than the record: the sample is left to others."""
    good = sample(SAME, identifier=1, ip=1, pid=1, tid=1, time=1, callchain=[7, 8, 9])
    path = tmp_path / "built.data"
    path.write_bytes(File(attrs=[(SAME, [1])], records=[good, good, good]).build())
    whole = bytearray(path.read_bytes())
    size = len(whole) - whole.rindex(bytes([3, 0, 0, 0, 0, 0, 0, 0]))
    for count in (4, 2 ** 61 + 3, 2 ** 64 - 1):
        whole[-size:-size + 8] = count.to_bytes(8, "little")
        path.write_bytes(whole)
        _, output = run(path, 100)
        assert output.count("sample ") == 2
        assert re.search(r"others=(\d+)", output)[1] != "0"


@pytest.mark.sanitize
def test_a_sample_that_is_too_short(tmp_path, run, run_pdecode):
    good = sample(SAME, identifier=1, ip=1, pid=1, tid=1, time=1, callchain=[7, 8, 9])
    path = tmp_path / "built.data"
    for size in range(0, 40, 8):    # the callchain's count ends at 40
        records = [good, r.record(9, bytes(size))]
        path.write_bytes(File(attrs=[(SAME, [1])], records=records).build())
        returncode, output = run(path, 100)
        assert returncode == 0 and output.count("sample ") == 1
        assert f"others={8 + size} " in output
