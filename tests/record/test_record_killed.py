"""kill -9 at random moments under load: every sample that reached the file is decoded, kept by
prepair, and read by perf.

tests/support/walk.py counts the samples without the library. The moments come from a seed that a
failure prints.
"""
import os
import random
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import TOOLS
from recorder import event_works, precord, workload  # noqa: F401
from perf_counts import stats
from walk import walk

MOMENTS = 13        # for each mode
MOST_MOMENTS = 60   # on a machine that has other work, few recordings are begun
SEED = int(os.environ.get("PD_SEED", "17"))
LOAD = ["-e", "page-faults:u", "-c", "1"]
TOUCH = ["touch", "2000"] * 300
# mode: (options, what the program does). Compressible data would not reach the file in time.
MODES = {
    "plain": (["-m", "64K"], TOUCH),
    "zstd": (["-z", "-m", "256K", "--call-graph", "dwarf,1024"], ["noise", "1000000"]),
    "threads": (["--threads"], TOUCH),
    "switch": (["--switch-output=500K"], TOUCH),
}

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0,
                       reason="needs root: buffers and CPUs of one's own choice"),
    pytest.mark.skipif(not event_works("page-faults:u"),
                       reason="page faults can't be sampled here"),
]


@pytest.fixture
def kill_at(tmp_path):
    """Function: starts this command in a process group; returns a function that kills the group
    after `after` s."""
    started = []

    def start(command, after):
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        started.append(process)
        end = time.monotonic() + after

        def kill():
            time.sleep(max(0, end - time.monotonic()))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return kill
    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def decoded_samples(run_pdecode, path, *args):
    """Counts whole samples, like the walk."""
    done = run_pdecode(["-f", "jsonl", "--types", "SAMPLE", *args, path])
    return sum(b'"type":"SAMPLE"' in line and b'"cut":' not in line
               for line in done.stdout.splitlines() if line.startswith(b'{"kind":"record"'))


def check(path, run_pdecode, perf, fixed):
    """Returns the number of samples, which must be the same for every reader."""
    found = sum(one.samples for one in walk(path).values())
    if not path.is_dir() and path.stat().st_size < 104:
        return 0    # killed before the header was written
    assert decoded_samples(run_pdecode, path, "-j", "1") == found
    assert decoded_samples(run_pdecode, path, "-j", "2") == found
    done = subprocess.run([TOOLS / "prepair", "-o", fixed, path], capture_output=True)
    if not found and done.returncode == 3:
        return 0
    assert done.returncode in (0, 1), done.stderr
    assert decoded_samples(run_pdecode, fixed) == found
    if found:
        assert stats(perf, fixed)["SAMPLE"] == found
    return found


def recordings(place):
    return sorted(path for path in place.iterdir() if path.name.startswith("perf.data"))


@pytest.mark.long
def test_precord(precord, workload, kill_at, run_pdecode, perf, tmp_path):
    draw = random.Random(SEED)
    totals = dict.fromkeys(MODES, 0)
    for i in range(MOST_MOMENTS):
        if i >= MOMENTS and min(totals.values()) > 1000:
            break
        kills = []
        for mode, (options, does) in MODES.items():
            place = tmp_path / f"{i}.{mode}"
            place.mkdir()
            kills.append(kill_at([precord, "-q", "-o", place / "perf.data", *LOAD, *options, "--",
                                  workload, *does],
                                 draw.uniform(0.02, 0.4)))
        for kill in kills:
            kill()

        def check_all(mode, i=i):
            place = tmp_path / f"{i}.{mode}"
            for path in recordings(place):
                try:
                    totals[mode] += check(path, run_pdecode, perf, tmp_path / f"fixed.{mode}")
                except AssertionError as error:
                    raise AssertionError(f"seed {SEED}, moment {i}, {mode}, {path.name}") from error
            shutil.rmtree(place)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(check_all, MODES))
    assert all(n > 1000 for n in totals.values()), totals


@pytest.mark.parametrize("options", [[], ["-z"]], ids=["plain", "zstd"])
def test_perf(options, workload, kill_at, run_pdecode, perf, tmp_path):
    """A killed perf leaves a header without a size. Half of the time is its start."""
    draw = random.Random(SEED)
    paths = [tmp_path / f"perf.data{i}" for i in range(2)]
    kills = [kill_at([perf, "record", "-o", path, "-e", "page-faults:u", "-c", "10", *options, "--",
                      workload, *TOUCH, *TOUCH],
                     draw.uniform(1.5, 2.2)) for path in paths]
    for kill in kills:
        kill()
    assert sum(check(path, run_pdecode, perf, tmp_path / "fixed")
               for path in paths) > 1000, f"seed {SEED}"
