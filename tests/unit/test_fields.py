"""Records in batches (pd/fields.h), from programs that see only what `make install` installs,
compared with the JSON."""
import collections
import re
import subprocess

import pytest

from conftest import FIXTURES, ROOT, strict_json_lines
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe, zstd_records
from perfdata.sample import sample, sample_id

PERF = FIXTURES / "perf"
FILES = sorted(path.name for path in PERF.iterdir() if path.suffix == ".data")
TYPES = {name: int(value) for name, value in re.findall(
    r"PD_RECORD_(\w+) = (\d+),", (ROOT / "libdecode" / "include" / "pd" / "types.h").read_text())}
DAMAGED = {"A3-zstd-unflushed.data"}    # its last record is cut
IDS_OF_OTHERS = {"BPF_EVENT", "CGROUP", "BPF_METADATA"}     # their `id` is not that of an event
CPUS_OF_OTHERS = {"STAT"}


@pytest.fixture
def run(installed):
    return lambda *arguments: installed.run("api_fields.c", "static", *arguments)


def number(text):
    return int(text, 16) if isinstance(text, str) else text


def markers(entry):
    """A callchain entry as a number."""
    values = {"HV": -32, "KERNEL": -128, "USER": -512, "USER_DEFERRED": -640, "GUEST": -2048,
              "GUEST_KERNEL": -2176,
              "GUEST_USER": -2560}
    return values[entry] % 2 ** 64 if entry in values else int(entry, 16)


def checksum(values, bits):
    total = 0
    for value in values:
        total = (31 * total + value) % 2 ** bits
    return total


def expected_numbers(record):
    """The expected members, by the contract of pd/fields.h."""
    kind, trailer = record["type"], record.get("sample_id", {})
    own = record if kind == "SAMPLE" else trailer
    found = {}
    for key in ("pid", "tid"):
        found[key] = record.get(key, trailer.get(key))
    found["cpu"] = own.get("cpu", None if kind in CPUS_OF_OTHERS else record.get("cpu"))
    found["time"] = own.get("time")
    found["period"] = record.get("period")
    found["id"] = own.get("identifier",
                          own.get("id", None if kind in IDS_OF_OTHERS else record.get("id")))
    found["ip"], found["addr"] = number(record.get("ip")), number(record.get("addr"))
    return [f"{key}={value}" for key, value in found.items() if value is not None]


def expected(record):
    words = ["item", record["type"], record.get("type_id", TYPES.get(record["type"], 0)),
             record["offset"]]
    words += [record.get("size", 0),
              f"misc={record.get('misc', 0)},{record.get('cpumode', 'UNKNOWN')}"]
    if "attr_index" in record:
        words.append(f"attr={record['attr_index']}")
    words += expected_numbers(record)
    if "callchain" in record:
        chain = [markers(entry) for entry in record["callchain"]]
        names = [entry for entry in record["callchain"] if not entry.startswith("0x")]
        words.append(",".join([f"callchain={len(chain)}", f"{checksum(chain, 64)}", *names]))
    if "raw" in record:
        raw = bytes.fromhex(record["raw"]["data"])
        words.append(f"raw={len(raw)},{checksum(raw, 32)}")
    text = record.get("comm", record.get("filename"))
    if text is not None:
        words.append(f"text={text}")
    return " ".join(map(str, words))


def records_of(run_pdecode, path, *options):
    lines = strict_json_lines(run_pdecode(["-f", "jsonl", *options, path]).stdout)
    return [line for line in lines if line["kind"] == "record"]


def items_of(output, word="item"):
    assert "WRONG" not in output
    return [line for line in output.splitlines() if line.startswith(word + " ")]


@pytest.mark.sanitize
@pytest.mark.parametrize("name", FILES)
def test_items_are_the_records(name, run, run_pdecode):
    records = records_of(run_pdecode, PERF / name)
    for capacity in (1, 7, 512):
        returncode, output = run(PERF / name, capacity)
        assert returncode == 0 and output.endswith(f"end 0 - errors={int(name in DAMAGED)}\n")
        assert_items(output, records)
        sizes = [int(line.split(" ")[1]) for line in items_of(output, "batch")]
        assert max(sizes, default=0) <= capacity and sum(sizes) == len(records)


def test_batches_hold_many(run):
    """Batches are large; the test above would accept batches of two."""
    _, output = run(PERF / "02-callgraph-fp.data", 512)
    assert max(int(line.split(" ")[1]) for line in items_of(output, "batch")) > 50


# --- layouts --------------------------------------------------------------------------------------

def assert_items(output, records):
    """Damaged records are marked; their other members are not compared."""
    lines = items_of(output)
    assert len(lines) == len(records)
    for line, record in zip(lines, records):
        if " error=" not in line and "cut" not in record and "size" in record:
            assert line == expected(record)
        else:
            assert line.split(" ")[:4] == expected(record).split(" ")[:4]


@pytest.mark.parametrize("part", range(8))
def test_the_catalogue(part, catalogue_paths, run, run_pdecode):
    """Every layout that libdecode knows, in both byte orders, files, pipes and directories."""
    some = list(catalogue_paths.values())[part::8]
    for path in some:
        _, output = run(path, 64)
        assert_items(output, records_of(run_pdecode, path))
    assert len(some) > 20


EVENTS = [(attr("IDENTIFIER|IP|TID|TIME|PERIOD", flags=("sample_id_all",)), [1]),
          (attr("IDENTIFIER|TID|CPU|ADDR|CALLCHAIN|RAW", flags=("sample_id_all",)), [2]),
          (attr("IDENTIFIER|TIME|READ|CALLCHAIN|RAW", read_format="GROUP|ID|LOST",
                flags=("sample_id_all",)), [3])]


def several_events():
    """Samples of three layouts in turn, with maps between them. In one layout the place of the
    callchain varies."""
    (a, _), (b, _), (c, _) = EVENTS
    chain = [2 ** 64 - 128, 0xffffffff81000000, 2 ** 64 - 512, 0x400000]
    for i in range(60):
        yield sample(a, identifier=1, ip=0x1000 + i, pid=i, tid=2 ** 32 - 1, time=100 + i, period=i)
        yield sample(b, identifier=2, pid=2 ** 32 - 1, tid=i, cpu=i, addr=2 ** 63 + i,
                     callchain=chain[:i % 5], raw=bytes(range(i)))
        yield sample(c, identifier=3, time=200 + i, read={"values": [(1, 2, 3)] * (i % 4)},
                     callchain=chain, raw=b"abcd" * i)
        yield r.comm(i, i, "thread %d" % i, sid=sample_id(b, pid=i, tid=i, cpu=3, identifier=2))


@pytest.mark.sanitize
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("kind", ["file", "pipe", "zstd"])
def test_several_events(kind, order, tmp_path, run, run_pdecode):
    records = list(several_events())
    if kind == "zstd":
        file = File(attrs=EVENTS, records=[zstd_records(records, pieces=5)])
    elif kind == "pipe":
        file = Pipe([*(r.header_attr(*event) for event in EVENTS), *records])
    else:
        file = File(attrs=EVENTS, records=records)
    path = tmp_path / "built.data"
    path.write_bytes(file.build(order))
    found = records_of(run_pdecode, path)
    for capacity in (1, 50, 512):
        _, output = run(path, capacity)
        assert items_of(output) == [expected(record) for record in found]
        assert output.endswith("end 0 - errors=0\n")
    assert max(int(line.split(" ")[1]) for line in items_of(output, "batch")) > 30


@pytest.mark.sanitize
def test_damage_is_marked(tmp_path, run, run_pdecode):
    (a, ids) = EVENTS[0]
    good = [sample(a, identifier=1, ip=i, pid=i, tid=i, time=1000 + i) for i in range(30)]
    path = tmp_path / "built.data"
    path.write_bytes(File(attrs=[(a, ids)], records=[
        *good, sample(a, identifier=1, ip=5, time=2000, after=bytes(8)), *good,
        r.record(9, bytes(16)), *good]).build())
    whole = path.read_bytes()
    for cut in (0, 3, 20):
        path.write_bytes(whole[:len(whole) - cut])
        _, output = run(path, 128)
        records = records_of(run_pdecode, path)
        assert_items(output, records)
        assert sum(" error=" in line for line in items_of(output)) >= 2
        assert int(output.rsplit("errors=", 1)[1]) >= 2
        marked = [i for i, line in enumerate(items_of(output)) if " error=" in line]
        assert [i for i in marked if i < 61] == [30]
        assert ("period=" in items_of(output)[-1]) == (cut == 0)    # its last field


@pytest.mark.parametrize("name", ["13-truncated", "skipped"])
def test_bytes_that_are_no_record(name, tmp_path, run, run_pdecode):
    (a, ids) = EVENTS[0]
    good = [sample(a, identifier=1, ip=i, pid=i, tid=i, time=1000 + i) for i in range(30)]
    path = tmp_path / f"{name}.data"
    path.write_bytes(File(attrs=[(a, ids)], records=[*good, b"\xff" * 64, *good]).build())
    _, output = run(path, 128)
    records = records_of(run_pdecode, path)
    assert "SKIPPED" in [record["type"] for record in records]
    assert ([line.split(" ")[1] for line in items_of(output)]
            == [record["type"] for record in records])
    assert all((line.split(" ")[2] == "0") == (line.split(" ")[1] == "SKIPPED")
               for line in items_of(output))


# --- ways of asking -------------------------------------------------------------------------------

NAME = "02-callgraph-fp.data"


def test_in_turn_with_pd_next(run, run_pdecode):
    records = records_of(run_pdecode, PERF / NAME)
    _, output = run(PERF / NAME, 3, "mixed")
    printed = [line for line in output.splitlines() if line.split(" ")[0] in ("item", "next")]
    assert ([" ".join(line.split(" ")[1:2]) for line in printed]
            == [record["type"] for record in records])
    assert sum(line.startswith("next") for line in printed) > len(records) / 5
    for line, record in zip(printed, records):
        assert line == (expected(record) if line.startswith("item")
                        else f"next {record['type']} {record['offset']}")


def test_by_time(run, run_pdecode):
    _, output = run(PERF / NAME, 64, "time")
    assert items_of(output) == [expected(record)
                                for record in records_of(run_pdecode, PERF / NAME, "--sort",
                                                         "time")]


def test_callers_of_another_release(run, run_pdecode):
    records = records_of(run_pdecode, PERF / NAME)
    assert items_of(run(PERF / NAME, 64, "new")[1]) == [expected(record) for record in records]
    has = [dict(word.partition("=")[::2] for word in expected(record).split(" ")[5:])
           for record in records]
    want = [f"item {TYPES[record['type']]} {some.get('pid', -2)} {some.get('cpu', -2)}"
            for record, some in zip(records, has)]
    assert items_of(run(PERF / NAME, 64, "old")[1]) == want


def test_requested_fields(run):
    words = {word.partition("=")[0] for line in items_of(run(PERF / NAME, 64, "few")[1])
             for word in line.split(" ")[6:] if "=" in word}
    assert words == {"pid", "time", "attr", "text"}


def test_no_room(run):
    assert run(PERF / NAME, 0)[1] == "end -1 ARGUMENT errors=0\n"


def test_the_size_of_the_batch_must_be_set(run):
    assert run(PERF / NAME, 5, "unset")[1] == "end -1 ARGUMENT errors=0\n"


# --- the example ----------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["shared", "static"])
def test_count_samples(kind, installed, run_pdecode):
    """examples/count_samples.c, built as its comment says."""
    if installed.sanitized and kind == "shared":
        pytest.skip("the sanitized library is linked statically")
    program = installed.link(ROOT / "examples" / "count_samples.c", kind)
    for name in (NAME, "18-pipe.data", "20-threads.data"):
        counts = collections.Counter((record["pid"], number(record["ip"]))
                                     for record in records_of(run_pdecode, PERF / name)
                                     if record["type"] == "SAMPLE")
        done = subprocess.run([program, PERF / name, "1000000"], stdout=subprocess.PIPE, text=True,
                              check=True)
        most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        assert done.stdout == "".join(f"{n} {pid} {ip:#x}\n" for (pid, ip), n in most) != ""
    assert subprocess.run([program], stderr=subprocess.PIPE, check=False).returncode == 2
    assert (subprocess.run([program, "/nowhere"], stderr=subprocess.PIPE, check=False).returncode
            == 1)
