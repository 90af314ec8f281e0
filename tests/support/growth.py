"""Measures whether twice the input takes twice as long.

CPU time is measured first: the least of several runs, less that of an empty file. This is quick,
but other programs and caches add noise. If twice the input takes more than GROWTH times as long,
valgrind counts the instructions, and these may grow at most 2.2 times.

PD_LINEAR_INSTRUCTIONS=1 always counts instructions (minutes).
"""
import os
import re
import shutil
import subprocess

import pytest

COUNTS_ALWAYS = bool(os.environ.get("PD_LINEAR_INSTRUCTIONS"))
GROWTH = 2.4            # of the time, for each doubling
GROWTH_COUNTED = 2.2    # of the instructions
LEAST = 0.010           # seconds; smaller files are doubled until they take that long, or have ...
MOST = 4 << 20          # ... this size in bytes
ROUNDS = 4

EXPECTED = (0, 1, 3)    # 3: nothing to repair, or JSON that cannot be encoded


def seconds(command):
    """The CPU time of a run."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in EXPECTED, f"{command} ends with {process.returncode}"
    return usage.ru_utime + usage.ru_stime


# valgrind counts `rep movsb`, with which glibc copies more than 2 KiB, as eleven instructions a
# byte. Without it a copy costs next to nothing, as on the processor. Files above a megabyte are
# copied in part.
NO_REP_MOVSB = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=0x7fffffff"}


# A thread without work spins for a while. valgrind runs one thread at a time, so how long it spins
# is chance: 0 to 20 % of all instructions.
SPINNING = "await_change"


def spun(profile):
    """The instructions that a callgrind profile counts in SPINNING itself."""
    total, within, called = 0, False, False
    numbers = set()
    for line in profile.read_text().splitlines():
        name = re.match(r"c?fn=(\(\d+\))(?: (\S+))?", line)
        if name and name[2] and name[2].split("'")[0] == SPINNING:
            numbers.add(name[1])
        if line.startswith("fn="):
            within = name[1] in numbers
        elif line.startswith("calls="):
            called = True       # the next line has the cost of the callee
        elif re.match(r"[-+*\d]", line):
            total += int(line.split()[-1]) if within and not called else 0
            called = False
    return total


def instructions(command, directory):
    profile = directory / "callgrind.out"
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=NO_REP_MOVSB, check=False)
    assert done.returncode in EXPECTED, f"{command} ends with {done.returncode}"
    return int(re.search(rb"Collected : (\d+)", done.stderr)[1]) - spun(profile)


class Files:
    """The files of one kind. Each is made once."""

    def __init__(self, directory, make):
        self.directory, self.make = directory, make

    def of_size(self, n):
        path = self.directory / f"{n}.data"
        if not path.exists():
            path.write_bytes(self.make(n))
        return path


def most_growth(costs):
    return max(b / a for a, b in zip(costs, costs[1:]))


def times_of(command, paths, startup):
    """The cost of each file: the least of a few runs, as few as show the growth."""
    best = [float("inf")] * len(paths)
    for _ in range(ROUNDS):
        best = [min(before, max(seconds([*command, path]) - startup, 1e-4))
                for before, path in zip(best, paths)]
        if most_growth(best) <= GROWTH:
            break
    return best


def check_growth(command, paths, times, directory):
    if most_growth(times) <= GROWTH and not COUNTS_ALWAYS:
        return
    if not shutil.which("valgrind"):
        pytest.skip(f"{most_growth(times):.1f} times as long for twice the input, and no valgrind "
                    "to count instructions")
    counted = most_growth([instructions([*command, path], directory) for path in paths])
    assert counted <= GROWTH_COUNTED, f"{command}: {counted} times for twice the input"
