"""Files that no path leads to: deleted, replaced, or of memfd_create(2). While a process has one
mapped, it is found by /proc/PID/map_files."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import named as named_recording
from conftest import TIMEOUT, TOOLS
from perfdata import records as r
from perfdata.sample import sample_id
from test_symbols import EVENT, build_id, code_of, hit, reason, symbol
from test_symbols import symbols as symbols_fixture
from test_symbols_containers import SPIN, compile_to

symbols = symbols_fixture       # a fixture

OTHER_ID = bytes(range(20))
FOLLOWS = 1 << 21 | 1 << 40     # CAP_SYS_ADMIN, CAP_CHECKPOINT_RESTORE; linux/capability.h


def can_follow():
    """Whether the links of map_files may be followed."""
    status = open("/proc/self/status", encoding="ascii").read()
    return int(re.search(r"CapEff:\s*(\w+)", status)[1], 16) & FOLLOWS


pytestmark = pytest.mark.skipif(not can_follow(),
                                reason="needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_to(tmp_path_factory.mktemp("program") / "app", SPIN)


class Running:
    """A program that runs, and whose file has no path."""

    def __init__(self, process, program):
        self.process, self.pid, self.program = process, process.pid, program

    def code(self):
        """The line of its code in /proc/PID/maps."""
        row = None
        while not row:          # during its exec there are none
            assert self.process.poll() is None
            text = open(f"/proc/{self.pid}/maps", encoding="ascii").read()
            row = re.search(r"^(\w+)-(\w+) r-xp (\w+) (\w+):(\w+) (\d+) +(/.*)$", text, re.M)
        return [int(row[i], 16) for i in (1, 2, 3, 4, 5)] + [int(row[6]), row[7]]

    def map(self, recorded=None, inode=0, shift=0):
        """Its record: with a build id, or with the inode and this more."""
        start, end, pgoff, major, minor, ino, name = self.code()
        sid = sample_id(EVENT, pid=self.pid, tid=self.pid, time=1)
        if recorded == "":
            return r.mmap2(self.pid, self.pid, start, end - start, pgoff, major, minor,
                           ino + inode, 0, 5, 2, name, sid=sid)
        return r.mmap2_build_id(self.pid, self.pid, start, end - start + shift, pgoff,
                                recorded or build_id(self.program), 5, 2, name, sid=sid)

    def hit(self):
        start, _, pgoff, *_ = self.code()
        offset, address, _ = code_of(self.program)
        at = symbol(self.program, "outer")[0]
        return hit(start + at - address + offset - pgoff, pid=self.pid)

    def records(self, **of_map):
        return [self.map(**of_map), self.hit()]

    def link(self):
        start, end, *_ = self.code()
        return f"/proc/{self.pid}/map_files/{start:x}-{end:x}"

    def end(self):
        self.process.kill()
        self.process.wait()


def start_deleted(program, where):
    copy = where / "copy"
    shutil.copy(program, copy)
    process = subprocess.Popen([copy])
    copy.unlink()
    return process


IN_MEMORY = """
import os, sys
fd = os.memfd_create("in memory")
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, ["app"], {})
"""


def start_in_memory(program, where):
    process = subprocess.Popen([sys.executable, "-c", IN_MEMORY, program], stdout=subprocess.PIPE)
    while "python" in os.readlink(f"/proc/{process.pid}/exe"):
        assert process.poll() is None
    return process


STARTS = {"deleted": start_deleted, "memfd": start_in_memory}


@pytest.fixture(params=STARTS)
def running(request, program, tmp_path):
    made = Running(STARTS[request.param](program, tmp_path), program)
    assert made.code()[-1].endswith(" (deleted)")
    yield made
    made.end()


def test_while_the_process_runs(running, symbols):
    records = running.records()
    assert reason(symbols, records) == "outer"
    image = symbols.images(records)[0]
    assert (image["file"], image["match"]) == (running.link(), "BUILD_ID")
    assert reason(symbols, records, "--sandbox=never") == "outer"
    running.end()
    assert reason(symbols, records) == "NO_FILE"


def test_by_inode(running, symbols):
    """Where no build id was recorded. Another inode is another file, however it is called."""
    records = running.records(recorded="")
    began = os.stat(running.link()).st_ctime + 100
    assert reason(symbols, records, began=began) == "outer"
    assert symbols.images(records, began=began)[0]["match"] == "INODE"
    assert reason(symbols, running.records(recorded="", inode=1), began=began) == "NO_FILE"
    assert reason(symbols, records, "--unverified", "no", began=began) == "MISMATCH"


def test_another_process_with_its_number(running, symbols):
    """It has another file mapped there, or nothing."""
    assert reason(symbols, running.records(recorded=OTHER_ID)) == "NO_FILE"
    assert reason(symbols, running.records(shift=4096)) == "NO_FILE"


def test_without_the_right(running, symbols, run_pdecode):
    """It is a quiet refusal: there is no message."""
    symbols.write(running.records())
    done = subprocess.run(["setpriv", "--bounding-set=-sys_admin,-checkpoint_restore",
                           TOOLS / "pdecode", "-f", "jsonl", "--symbols", symbols.path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    frames = [line["frames"] for line in map(json.loads, done.stdout.splitlines())
              if line.get("type") == "SAMPLE"]
    assert frames[0][0]["why"] == "NO_FILE"
    assert "map_files" not in done.stderr


def test_a_rebuilt_program_that_still_runs(program, symbols, tmp_path):
    """Another file has its path now."""
    path, new = tmp_path / "app", tmp_path / "new"
    shutil.copy(program, path)
    running = Running(subprocess.Popen([path]), program)
    try:
        records = running.records()
        compile_to(new, SPIN.replace("x - 7", "x - 8"))
        new.rename(path)
        assert build_id(path) != build_id(program)
        assert reason(symbols, records) == "outer"
    finally:
        running.end()
    assert reason(symbols, records) == "MISMATCH"


@pytest.mark.parametrize("options", [["-g"], ["-g", "-B", "--symbols=names"],
                                     ["--call-graph", "dwarf"]], ids=" ".join)
def test_names_in_the_recording(running, tmp_path, options):
    """precord finds them at the end. A copied stack is unwound with the file's own information."""
    path = tmp_path / "p.data"
    running.code()      # its exec is done
    named_recording.wait_until_it_spins(running.pid, os.readlink(f"/proc/{running.pid}/exe"))
    named_recording.record(path, "-F", "200", *options, "--duration", "1", "-p",
                           str(running.pid))
    running.end()
    done = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", path],
                          stdout=subprocess.PIPE, check=True, timeout=TIMEOUT)
    samples = [line for line in map(json.loads, done.stdout.splitlines())
               if line.get("type") == "SAMPLE"]
    assert samples
    for line in samples:
        assert {"outer", "main"} & {frame.get("symbol") for frame in line["frames"]}
    if "dwarf" in options:
        assert {line["stack_end"] for line in samples} == {"BOTTOM"}
