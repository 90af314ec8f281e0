"""Recordings with call stacks in branches, as `perf record --call-graph lbr` writes them, of
threads whose calls are known, on a CPU whose registers are modelled here.

In call-stack mode each call takes the next of the CPU's registers, in a circle, and each return
frees the newest one. A deep stack overwrites its oldest calls; they stay lost after the returns.
"""
import random
import re
import subprocess

from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import branch, sample, sample_id
from perfdata.wire import fstr

BASE, KERNEL = 0x7F0000000000, 0xFFFFFFFF81000000
KERNEL_MARK, USER_MARK = 2**64 - 128, 2**64 - 512
IN_KERNEL, IN_USER = 1, 2
PID = 5_000_000         # perf enters the mount namespace of a process that has it
SAMPLED = "IP|TID|TIME|CALLCHAIN|PERIOD"
FILTER = "USER|CALL_STACK|NO_FLAGS|NO_CYCLES|HW_INDEX"


def lbr_attr(branches=FILTER, sample_type=SAMPLED + "|BRANCH_STACK", **more):
    return Attr(type=1, sample_period=1, sample_type=sample_type, flags=("sample_id_all", ),
                branch_sample_type=branches, **more)


class Registers:
    """The branch registers of a CPU, as a thread sees them."""

    def __init__(self, size):
        self.of, self.newest = [None] * size, size - 1

    def call(self, source, target):
        self.newest = (self.newest + 1) % len(self.of)
        self.of[self.newest] = (source, target)

    def ret(self):
        self.of[self.newest] = None
        self.newest = (self.newest - 1) % len(self.of)

    def entries(self):
        """[(from, to)], newest first."""
        size = len(self.of)
        found = [self.of[(self.newest - i) % size] for i in range(size)]
        return found[:found.index(None)] if None in found else found


class Thread:
    """A thread that calls and returns at random. `calls`: where each function of its stack was
    called, and its start, outermost first."""

    def __init__(self, functions, registers, seed=1, tid=PID):
        self.functions, self.registers, self.tid = functions, Registers(registers), tid
        self.random = random.Random(seed)
        self.calls, self.function = [], functions[0]

    def somewhere(self):
        start, size = self.function
        return start + self.random.randrange(8, size - 8)

    def call(self):
        source, self.function = self.somewhere(), self.random.choice(self.functions)
        self.calls.append((source, self.function[0]))
        self.registers.call(source, self.function[0])

    def ret(self):
        self.calls.pop()
        target = self.calls[-1][1] if self.calls else self.functions[0][0]
        self.function = next(item for item in self.functions if item[0] == target)
        self.registers.ret()

    def run(self, steps, depth):
        """Calls and returns; about as deep as that."""
        for _ in range(steps):
            if self.calls and self.random.random() < len(self.calls) / (2 * depth):
                self.ret()
            else:
                self.call()

    def sample(self, attr, time, in_kernel=False, **more):
        """A sample of the thread, whose callchain has a wrong user part, as programs without
        frame pointers have."""
        ip, wrong = self.somewhere(), [BASE + 0x123456, BASE + 0x654321]
        kernel = [KERNEL_MARK, KERNEL + 16, KERNEL + 160] if in_kernel else []
        entries = [branch(source, target) for source, target in self.registers.entries()]
        given = {"callchain": [*kernel, USER_MARK, ip, *wrong],
                 "branch_stack": {"entries": entries, "hw_idx": self.registers.newest}, **more}
        return sample(attr, IN_KERNEL if in_kernel else IN_USER, pid=PID, tid=self.tid, time=time,
                      ip=KERNEL + 16 if in_kernel else ip, period=1, **given)


def build_image(directory):
    """Compiles a library of functions. Returns its path, and their [(address when mapped, size)],
    f0 first."""
    source, path = directory / "calls.c", directory / "calls.so"
    body = "x = x * 3 + 1; " * 20
    source.write_text("".join(f"int f{i}(volatile int x) {{ {body} return x; }}\n"
                              for i in range(12)))
    subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", "-shared", "-fPIC", "-o", path, source],
                   check=True)
    names = subprocess.run(["nm", "-S", path], check=True, capture_output=True, text=True).stdout
    rows = {row[-1]: row for row in map(str.split, names.splitlines())}
    return path, [(BASE + int(rows[f"f{i}"][0], 16), int(rows[f"f{i}"][1], 16)) for i in range(12)]


def build_id(path):
    text = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True)
    return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", text.stdout)[1])


def recording(image, attrs, samples, registers=None, pmu_caps=None):
    """The bytes of a file; `registers`: how many branches the CPU keeps, as it states that."""
    sid = sample_id(attrs[0], pid=PID, tid=PID, time=1)
    features = {NUMBER["ARCH"]: fstr(b"x86_64")}
    if registers:
        features[NUMBER["CPU_PMU_CAPS"]] = f.caps([("branches", str(registers)),
                                                   ("max_precise", "3")])
    if pmu_caps:
        features[NUMBER["PMU_CAPS"]] = f.pmu_caps(
            [([("branches", str(nr))], name) for name, nr in pmu_caps])
    records = [r.comm(PID, PID, "calls", sid=sid),
               r.mmap2_build_id(PID, PID, BASE, 0x10000, 0, build_id(image), 5, 2, str(image),
                                sid=sid)]
    return File(attrs=[(attr, [i + 1]) for i, attr in enumerate(attrs)],
                records=[*records, *samples], features=features).build("<")
