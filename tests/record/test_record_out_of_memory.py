"""Allocations of the recorder find no memory. It ends with a message and a status that says so, or
states what is missing, or the recording lacks nothing."""
import collections
import os
import subprocess
import sys

import pytest

from conftest import TOOLS, strict_json
from recorder import event_works, wait_for

pytestmark = pytest.mark.skipif(not event_works("page-faults:u"),
                                reason="page faults can't be sampled here")

EACH, STEP = 100, 7     # allocations: the first ones each, later ones in steps
# records that a run of a command has as often each time
STABLE = {"COMM", "FORK", "EXIT", "MMAP2", "CGROUP", "NAMESPACES", "BPF_EVENT", "ID_INDEX",
          "THREAD_MAP", "CPU_MAP", "EVENT_UPDATE", "TIME_CONV", "FINISHED_INIT"}


THREADS = """
import threading, time
for _ in range(12):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
time.sleep(600)
"""


@pytest.fixture
def process():
    """One with threads."""
    with subprocess.Popen([sys.executable, "-c", THREADS]) as started:
        wait_for(lambda: len(os.listdir(f"/proc/{started.pid}/task")) == 13)
        yield started.pid
        started.kill()


@pytest.fixture(params=["command", "process"])
def target(request):
    return [] if request.param == "command" else ["-p", str(request.getfixturevalue("process"))]


@pytest.fixture
def run(refusing_malloc, target, tmp_path, run_pdecode):
    output = tmp_path / "perf.data"

    def content():
        """The features, and the number of records of each type that all runs have."""
        done = run_pdecode([output])
        assert done.returncode == 0, done.stderr
        document = strict_json(done.stdout)
        types = collections.Counter(record["type"] for record in document["records"])
        return sorted(document["features"]), {t: n for t, n in types.items() if t in STABLE}

    def run(refused, **more):
        done = subprocess.run(
            [TOOLS / "precord", "-e", "page-faults:u", *target, "-o", output, "--", "true"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
            env=dict(os.environ, LD_PRELOAD=str(refusing_malloc), REFUSED=str(refused), **more))
        said = [line for line in done.stderr.splitlines() if not line.startswith(b"[ precord: ")]
        return done.returncode, said, content() if done.returncode == 0 else None
    return run


def test_nothing_is_lost_without_a_word(run, tmp_path):
    count = tmp_path / "count"
    status, said, whole = run(0, ALLOCATIONS=str(count))
    allocations = int.from_bytes(count.read_bytes(), "little")
    assert status == 0 and not said and allocations > 2 * EACH
    failed = 0
    for refused in (*range(1, EACH), *range(EACH, allocations, STEP)):
        status, said, found = run(refused)
        failed += status != 0
        assert 0 <= status <= 4, f"allocation {refused}: status {status}"
        if not said and found != whole:     # a program of BPF may have come or gone
            whole = run(0)[2]
            status, said, found = run(refused)
        assert said or found == whole, f"allocation {refused}"
    assert failed > EACH / 3
