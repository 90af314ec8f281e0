"""The JSON of a record depends on that record only: values that repeat, change slightly, return."""

import json
import random
import struct

import pytest

from perfdata import tracing
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample

COUNT = 3000
MARKERS = {2**64 - 32: "HV", 2**64 - 128: "KERNEL", 2**64 - 512: "USER",
           2**64 - 640: "USER_DEFERRED", 2**64 - 2048: "GUEST", 2**64 - 2176: "GUEST_KERNEL",
           2**64 - 2560: "GUEST_USER"}
EDGES = [0, 1, 9, 10, 99, 100, 9999, 10000, 10**8 - 1, 10**8, 2**31 - 1, 2**31, 2**32 - 1]
LONG_EDGES = [*EDGES, 2**32, 10**16 - 1, 10**16, 2**63 - 1, 2**63, 2**64 - 1]


def number(rng, last, edges, bits):
    """Mostly the last value, or one near it."""
    return rng.choice([last, last, last, (last + rng.randrange(1000)) % 2**bits, rng.choice(edges),
                       rng.getrandbits(bits)])


def chain(rng, last):
    """Often a callchain with the same outer frames as the last one."""
    new = [rng.choice([*MARKERS, 2**64 - 1, 2**64 - 4095, 0, rng.getrandbits(47),
                       rng.getrandbits(64)])
           for _ in range(rng.choice([0, 1, 2, 3, 20]))]
    cut = rng.randrange(len(last) + 1)
    made = rng.choice([last, new, new + last[cut:], last[:cut] + new, last[:cut] + new + last[cut:],
                       last[:cut], last[cut:], last[:1] * rng.choice([1, 159, 160, 161])])
    return made if len(made) < 300 else []


def signed(value, bits):
    return value - 2**bits if value >> bits - 1 else value


def lines(run_pdecode, path, *args):
    done = run_pdecode(["--format", "jsonl", *args, str(path)])
    assert done.returncode == 0, done.stderr
    return [record for record in map(json.loads, done.stdout.splitlines())
            if record.get("type") == "SAMPLE"]


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("jobs", "12")
def test_numbers_and_chains(tmp_path, run_pdecode, order, jobs):
    rng = random.Random(f"chains {order}")
    attr = Attr(type=1, sample_type="IP|TID|TIME|CPU|PERIOD|CALLCHAIN|REGS_USER",
                sample_regs_user=0xff0fff)
    want, body = [], []
    one = {"ip": 1, "pid": 1, "tid": 1, "time": 7 * 10**12, "cpu": 0, "period": 1, "callchain": [],
           "regs_user": [0] * 20}
    for _ in range(COUNT):
        one = {"ip": number(rng, one["ip"], LONG_EDGES, 64),
               "pid": number(rng, one["pid"], EDGES, 32), "tid": number(rng, one["tid"], EDGES, 32),
               "time": number(rng, one["time"], LONG_EDGES, 64),
               "cpu": number(rng, one["cpu"], EDGES, 32),
               "period": number(rng, one["period"], LONG_EDGES, 64),
               "callchain": chain(rng, one["callchain"]),
               "regs_user": [number(rng, value, LONG_EDGES, 64) for value in one["regs_user"]]}
        want.append(one)
        body.append(sample(attr, **one))
    path = tmp_path / "repeats.data"
    path.write_bytes(File(attrs=[(attr, [1])], records=body).build(order))
    got = lines(run_pdecode, path, "-j", jobs)
    assert len(got) == COUNT
    for record, one in zip(got, want):
        assert record["ip"] == hex(one["ip"])
        assert ([record[key] for key in ("pid", "tid", "cpu")]
                == [signed(one[key], 32) for key in ("pid", "tid", "cpu")])
        assert [record[key] for key in ("time", "period")] == [one["time"], one["period"]]
        assert record["callchain"] == [MARKERS.get(ip, hex(ip)) for ip in one["callchain"]]
        assert list(record["regs_user"]["regs"].values()) == [hex(value)
                                                              for value in one["regs_user"]]


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("jobs", "12")
def test_numbers_alone(tmp_path, run_pdecode, order, jobs):
    """Some records have bytes in their padding, which are no number."""
    rng = random.Random(f"numbers {order}")
    attr = Attr(type=1, sample_type="IP|TID|TIME|CPU|PERIOD")
    want, body = [], []
    one = {"ip": 1, "pid": 1, "tid": 1, "time": 7 * 10**12, "cpu": 0, "period": 1}
    for _ in range(COUNT):
        one = {key: number(rng, value, EDGES if key in ("pid", "tid", "cpu") else LONG_EDGES,
                           32 if key in ("pid", "tid", "cpu") else 64)
               for key, value in one.items()}
        dirt = rng.choice([0, 0, 0, rng.getrandbits(32)])
        body.append(sample(attr, **one, res=dirt, misc=rng.choice([1, 2])))
        want.append({"ip": hex(one["ip"]), **{key: signed(one[key], 32) for key in ("pid", "tid")},
                     "time": one["time"], "cpu": signed(one["cpu"], 32), "period": one["period"],
                     **({"padding": struct.pack(order + "I", dirt).hex()} if dirt else {})})
    path = tmp_path / "numbers.data"
    path.write_bytes(File(attrs=[(attr, [1])], records=body).build(order))
    got = lines(run_pdecode, path, "-j", jobs)
    heads = ("kind", "offset", "type", "size", "misc", "cpumode", "attr_index", "event")
    assert len(got) == COUNT
    for record, numbers, before in zip(got, want, [None, *got]):
        assert tuple(record)[:len(heads)] == heads
        assert not before or record["offset"] == before["offset"] + before["size"]
        assert record["cpumode"] == {1: "KERNEL", 2: "USER"}[record["misc"]]
        assert {key: record[key] for key in record if key not in heads} == numbers


LONG_NAME = "long_name_" * 4
FIELDS = [("s8 state", 8, 1, 1), ("u8 flags", 9, 1, 0), ("short prio", 10, 2, 1),
          ("u32 pair[2]", 12, 8, 0), ("long ret", 24, 8, 1),
          ("char comm[8]", 32, 8, 1), ("unsigned long args[3]", 40, 24, 0),
          ("void * ptr", 64, 8, 0), ("long deltas[2]", 72, 16, 1),
          (f"int {LONG_NAME}", 88, 4, 1), ("u64 many[9]", 96, 72, 0), ("u64 last", 168, 8, 0)]
WIDTHS = [8, 8, 16, 32, 32, 64, *[64] * 3, 64, *[64] * 2, 32, *[64] * 9]


@pytest.mark.sanitize
def test_fields_of_tracepoints(tmp_path, run_pdecode):
    rng = random.Random("tracepoints")
    attr = Attr(type=2, config=300, sample_type="IP|TID|TIME|RAW")
    want, body = [], []
    one = [0] * len(WIDTHS)
    for i in range(COUNT):
        one = [number(rng, value, [edge % 2**bits for edge in LONG_EDGES], bits)
               for value, bits in zip(one, WIDTHS)]
        comm = rng.choice(["a", "longer", 'qu"te', "\u00e4\u00f6"])
        raw = tracing.common(300, i) + struct.pack("<BBHII4xQ8s3QQ2QI4x9QQ", *one[:6],
                                                   comm.encode(), *one[6:], i)
        want.append((one, comm))
        body.append(sample(attr, ip=1, pid=1, tid=1, time=i, raw=raw))
    path = tmp_path / "fields.data"
    data = tracing.tracing_data({"made_up": [tracing.Format("up", 300, FIELDS)]})
    path.write_bytes(File(attrs=[(attr, [1])], records=body, features={1: data}).build("<"))
    got = lines(run_pdecode, path)
    assert len(got) == COUNT
    for i, (record, (one, comm)) in enumerate(zip(got, want)):
        assert record["raw"]["tracepoint"]["fields"] == {
            "common_type": 300, "common_flags": 0, "common_preempt_count": 0, "common_pid": i,
            "state": signed(one[0], 8), "flags": one[1], "prio": signed(one[2], 16),
            "pair": one[3:5], "ret": signed(one[5], 64), "comm": comm, "args": one[6:9],
            "ptr": hex(one[9]), "deltas": [signed(value, 64) for value in one[10:12]],
            LONG_NAME: signed(one[12], 32), "many": one[13:22], "last": i}
