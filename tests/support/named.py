"""Recordings that carry names: precord stops looking them up after a second, which is over soon on
a machine that has other work."""
import json
import os
import subprocess
import time

import pytest

from conftest import TOOLS

TRIES = 3


def is_whole(path):
    """Whether precord had time for all names."""
    done = subprocess.run([TOOLS / "pdecode", "--header-only", path], stdout=subprocess.PIPE,
                          check=True)
    section = json.loads(done.stdout)["features"].get("PD_SYMBOLS")
    return section is not None and not section["cut"]


def record(path, *command, event="cpu-clock", **options):
    """Runs precord with these options, again if it had no time for names; skips the test if it
    never had, or can't record. Returns the completed process."""
    for _ in range(TRIES):
        done = subprocess.run([TOOLS / "precord", "-q", "-e", event, "-o", path, *command],
                              stderr=subprocess.PIPE, text=True, **options)
        if done.returncode:
            pytest.skip(f"can't record: {done.stderr}")
        if is_whole(path):
            return done
    pytest.skip(f"precord had no time for names, {TRIES} times: this machine has other work")


def need_time(stderr):
    """Skips a test that can't record again if precord had no time for names."""
    if "took too long" in stderr:
        pytest.skip("precord had no time for names: this machine has other work")


def wait_until_it_spins(pid, program):
    """Returns when the process has executed the program, and has used a few ticks of CPU time since
    then: no sample is of the loader."""
    def ticks():
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return int(file.read().rpartition(")")[2].split()[11])
    end = time.monotonic() + 20
    while os.readlink(f"/proc/{pid}/exe") != str(program) and time.monotonic() < end:
        time.sleep(0.01)
    start = ticks()
    while ticks() < start + 5 and time.monotonic() < end:
        time.sleep(0.01)
