"""Time does not multiply: of inputs of few megabytes every part is read once or twice."""
import resource
import subprocess

from conftest import TIMEOUT, TOOLS
from known_recording import USER, build_named, recorded
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample

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


def clock(**more):
    return attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=0, sample_period=1000, **more)


def sample_of(event, id, **more):
    return sample(event, misc=USER, pid=10, tid=10, ip=0x1010, identifier=id,
                  **{"time": id, "period": 1, **more})


def of_events(nr, samples=1, faults=0):
    """A recording of clocks, each with samples, after page faults without."""
    event, other = clock(), attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=2)
    ids = range(1 + faults, 1 + faults + nr)
    return File(attrs=[*((other, [1 + i]) for i in range(faults)), *((event, [i]) for i in ids)],
                records=[sample_of(event, i) for i in ids for _ in range(samples)]).build()


def test_the_first_clock_of_many_events(tmp_path):
    out = preport(tmp_path, of_events(3000, faults=3000), "-f", "folded")
    assert out == b":10;[unknown] 1\n"
