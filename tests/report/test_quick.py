"""Time does not multiply: of inputs of few megabytes every part is read once or twice."""
import json
import re
import resource
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import USER, build_named, recorded
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.wire import Wire, encode

SECONDS = 3     # of CPU: what one loop within another took was at least three times as long


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def preport(tmp_path, data, *options, symbols="--no-symbols"):
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    return subprocess.run([TOOLS / "preport", symbols, *options, path], check=True,
                          capture_output=True, timeout=TIMEOUT, preexec_fn=limit).stdout


def test_a_name_of_brackets(tmp_path):
    program = build_named(tmp_path / "program", ".(" * 250_000)
    out = preport(tmp_path, recorded(program, program[1]), "-f", "folded", symbols="--jobs=1")
    assert out.endswith(b";. 5\napp;main 2\n")


def clock():
    return attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=0, sample_period=1000,
                flags=("exclude_guest", ))


def sample_of(event, id, **more):
    return sample(event, misc=USER, pid=10, identifier=id,
                  **{"tid": 10, "ip": 0x1010, "time": id, "period": 1, **more})


def of_events(nr, samples=1, faults=0):
    """A recording of clocks, each with samples, after page faults without."""
    event, other = clock(), attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=2,
                                 flags=("exclude_guest", ))
    ids = range(1 + faults, 1 + faults + nr)
    return File(attrs=[*((other, [1 + i]) for i in range(faults)), *((event, [i]) for i in ids)],
                records=[encode(sample_of(event, i), Wire("<")) * samples for i in ids]).build()


def test_the_first_clock_of_many_events(tmp_path):
    out = preport(tmp_path, of_events(3000, faults=3000), "-f", "folded")
    assert out == b":10;[unknown] 1\n"


@pytest.mark.parametrize("format", ["flamegraph", "speedscope"])
def test_events_with_many_samples(tmp_path, format):
    assert len(preport(tmp_path, of_events(2000, samples=200), "-f", format)) > 10_000


def test_a_page_of_many_events(tmp_path):
    """Memory does not multiply either."""
    assert len(preport(tmp_path, of_events(4000), "-f", "flamegraph")) > 10_000


def test_code_at_many_places(tmp_path):
    event, mark = clock(), 2**62
    a_map = encode(r.mmap2(10, 10, mark, 4096, 0, 0, 0, 0, 0, 7, 2, "//anon"), Wire("<"))
    a_sample = encode(sample_of(event, 1, ip=mark), Wire("<"))
    places = [(4096 * (1 + i)).to_bytes(8, "little") for i in range(80_000)]
    data = File(attrs=[(event, [1])], records=[
        record.replace(mark.to_bytes(8, "little"), at) for record in (a_map, a_sample)
        for at in places]).build()
    assert len(preport(tmp_path, data, "-f", "pprof")) > 10_000


def test_the_samples_of_each_event_in_each_thread(tmp_path):
    """More events than are worth reading a thread's samples again for each."""
    event, nr = clock(), 7
    want = {}
    records = [r.mmap2(10, 10, 0x1000, 0x1000, 0, 8, 1, 7, 0, 5, 2, "/bin/app")]
    for i in range(100):
        which, tid, weight = i * i % nr, 10 + i % 3, 1 + i * i * i
        records.append(sample_of(event, 1 + which, tid=tid, time=1 + i, ip=0x1000 + i,
                                 period=weight))
        want.setdefault((tid, which), []).append(weight)
    data = File(attrs=[(event, [1 + i]) for i in range(nr)], records=records).build()
    got = json.loads(preport(tmp_path, data, "-f", "speedscope", "--addrs"))["profiles"]
    assert sorted((int(re.search(r"/(\d+)", it["name"])[1]), it["weights"]) for it in got) == (
        sorted((tid, weights) for (tid, _), weights in want.items()))
    assert [it["endValue"] for it in got] == sorted(map(sum, want.values()), reverse=True)
