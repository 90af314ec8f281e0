"""Recordings that carry names: precord stops looking them up after a second, which is over soon on
a machine that has other work."""
import json
import subprocess

import pytest

from conftest import TOOLS

TRIES = 3


def is_whole(path):
    """Whether precord had time for all names."""
    done = subprocess.run([TOOLS / "pdecode", "--header-only", path], stdout=subprocess.PIPE,
                          check=True)
    section = json.loads(done.stdout)["features"].get("PD_SYMBOLS")
    return section is not None and not section["cut"]


def record(path, *command):
    """Runs precord with these options, again if it had no time for names; skips the test if it
    never had, or can't record."""
    for _ in range(TRIES):
        done = subprocess.run([TOOLS / "precord", "-q", "-e", "cpu-clock", "-o", path, *command],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            pytest.skip(f"can't record: {done.stderr}")
        if is_whole(path):
            return
    pytest.skip(f"precord had no time for names, {TRIES} times: this machine has other work")
