"""Recordings made by hand: one with the folded stacks that it must give, and one of a program with
names."""
import re
import subprocess

import pytest

from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe
from perfdata.sample import sample, sample_id

KERNEL, USER = 1, 2
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
EXEC = 1 << 13
CLOCK = attr("IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER", type=1, config=0, sample_period=1000,
             flags=("freq", "sample_id_all", "exclude_guest"))
FAULTS = attr("IP|TID|TIME|CPU|CALLCHAIN|IDENTIFIER", type=1, config=2, sample_period=3)
KTEXT = 0xffffffff81000000


class Recording:
    """Records of two events; ids 1 and 2."""

    def __init__(self):
        self.records = []

    def sid(self, time):
        return sample_id(CLOCK, time=time, identifier=1)

    def comm(self, time, pid, name, tid=None, misc=0):
        self.records.append(r.comm(pid, tid or pid, name, misc, sid=self.sid(time)))

    def map(self, time, pid, addr, size, path):
        self.records.append(r.mmap2(pid, pid, addr, size, 0, 8, 1, 7, 0, 5, 2, path,
                                    sid=self.sid(time)))

    def switch(self, time, pid, tid, misc):
        self.records.append(r.switch(misc=misc, sid=sample_id(
            CLOCK, pid=pid, tid=tid, time=time, identifier=1)))

    def task(self, pid):
        """A process with a program and a library, at 0x1000 and 0x2000."""
        self.comm(1, pid, f"task {pid}", misc=EXEC)
        self.map(2, pid, 0x1000, 0x1000, "/bin/one")
        self.map(3, pid, 0x2000, 0x1000, "/lib/two.so")

    def sample(self, time, pid, period, *chain, tid=None, event=CLOCK, cpu=0):
        """The chain is innermost first; addresses of the kernel come first."""
        marked, mode = [], None
        for address in chain:
            now = CONTEXT_KERNEL if address >= 2**63 else CONTEXT_USER
            marked += [now, address] if now != mode else [address]
            mode = now
        given = {"period": period} if event is CLOCK else {}
        self.records.append(sample(
            event, misc=KERNEL if chain[0] >= 2**63 else USER, pid=pid, tid=tid or pid, time=time,
            ip=chain[0], cpu=cpu, identifier=1 if event is CLOCK else 2, callchain=marked,
            **given))

    def file(self, order="<"):
        return File(attrs=[(CLOCK, [1]), (FAULTS, [2])], records=self.records).build(order)

    def map_kernel(self, name="[kernel.kallsyms]_text"):
        self.records.append(r.mmap(2**32 - 1, 0, KTEXT, 0x1000000, KTEXT, name, KERNEL,
                                   sid=self.sid(0)))

    def pipe(self, order="<"):
        head = [r.header_attr(CLOCK, [1]), r.header_attr(FAULTS, [2])]
        return Pipe(records=[*head, *self.records]).build(order)


def known():
    """Three processes: app (renamed on the way), a child with recursion, and an idle CPU."""
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app one", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so.1")
    it.comm(4, 20, "child", misc=EXEC)
    it.map(5, 20, 0x1000, 0x1000, "/bin/app")
    it.sample(10, 10, 100, 0x7010, 0x1010)
    it.sample(11, 10, 50, 0x7020, 0x1010)               # the same functions
    it.sample(12, 10, 7, KTEXT + 16, 0x7010, 0x1010)
    it.comm(13, 10, "renamed")
    it.sample(14, 10, 5, 0x1020)
    it.sample(15, 20, 40, 0x1010, 0x1010, 0x1010)       # recursion
    it.sample(16, 20, 2, 0x9999)                        # in no map
    it.sample(17, 0, 1000, KTEXT + 32, cpu=3)           # the idle task
    it.sample(18, 10, 0, 0x7010, event=FAULTS)
    it.records.append(r.lost(1, 9, sid=it.sid(19)))
    return it


ANSWER = {
    "app_one;[app];[libx.so.1]": 150,
    "app_one;[app];[libx.so.1];[[kernel.kallsyms]]": 7,
    "renamed;[app]": 5,
    "child;[app];[app];[app]": 40,
    "child;[unknown]": 2,
    "swapper;[[kernel.kallsyms]]": 1000,
}


def build_program(path):
    """A program with main() and leaf(): its path, build id, and the addresses of its functions."""
    subprocess.run(["gcc", "-O0", "-Wl,--build-id=sha1", "-xc", "-", "-o", path], check=True,
                   input=b"int leaf(void) { return 1; } int main(void) { return leaf(); }")
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True)
    names = subprocess.run(["nm", path], check=True, capture_output=True, text=True)
    return (path, bytes.fromhex(re.search(r"Build ID: (\w+)", notes.stdout)[1]),
            {line.split()[2]: int(line.split()[0], 16) for line in names.stdout.splitlines()
             if len(line.split()) == 3})


def build_named(path, name):
    """The same of a program with main() and, in place of leaf(), a function of any name."""
    source = (f'.text\n.globl main\nmain: ret\n.globl "{name}"\n.type "{name}", @function\n'
              f'"{name}": ret\n.size "{name}", 1\n.section .note.GNU-stack,"",@progbits\n')
    subprocess.run(["gcc", "-Wl,--build-id=sha1", "-xassembler", "-", "-o", path],
                   input=source.encode(), check=True)
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True)
    symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    at = {line[19:]: int(line.split()[0], 16) for line in symbols.splitlines()
          if not line.startswith(" ")}
    return (path, bytes.fromhex(re.search(r"Build ID: (\w+)", notes.stdout)[1]),
            {"leaf": at[name] - 4, "main": at["main"]})


def recorded(program, build_id, unit=1):
    """Two samples of the program: 5 units in leaf(), 2 in main()."""
    path, _, at = program
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    base = 0x555555554000
    it.records.append(
        r.mmap2_build_id(10, 10, base, 0x10000, 0, build_id, 5, 2, str(path), sid=it.sid(2))
        if build_id else
        r.mmap2(10, 10, base, 0x10000, 0, 8, 1, 7, 0, 5, 2, str(path), sid=it.sid(2)))
    it.sample(10, 10, 5 * unit, base + at["leaf"] + 4, base + at["main"] + 9)
    it.sample(11, 10, 2 * unit, base + at["main"])
    return it.file()


@pytest.fixture
def recording(tmp_path):
    """Path of known() as a file."""
    path = tmp_path / "perf.data"
    path.write_bytes(known().file())
    return path


@pytest.fixture
def deep(tmp_path):
    """Two stacks, of which one has as many addresses as the kernel records at most."""
    it = Recording()
    it.comm(1, 10, "deep", misc=EXEC)
    it.map(2, 10, 0x1000, 0x10000, "/bin/app")
    it.sample(10, 10, 1, *range(0x1000, 0x1000 + 127))
    it.sample(11, 10, 1, *range(0x1000, 0x1000 + 126))
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    return path
