"""Virtual machines: nothing of this machine names an address of a guest. Its files are not here,
and its processes have the numbers of others here."""
import os
import random
import time

import pytest

from perfdata import records as r
from perfdata.sample import sample, sample_id
from test_symbols import (BASE, EVENT, IN_KERNEL, KALLSYMS, KERNEL, SECOND, build_id, code_of,
                          mapped, reason, symbol)
from test_symbols import program as program_fixture
from test_symbols import symbols as symbols_fixture

program, symbols = program_fixture, symbols_fixture     # fixtures

GUEST_KERNEL, GUEST_USER = 4, 5         # PERF_RECORD_MISC_*; linux/perf_event.h
GUEST_KERNEL_MARK, GUEST_USER_MARK = 2**64 - 2176, 2**64 - 2560         # PERF_CONTEXT_*


def guest_hit(address, misc, pid=7):
    mark = GUEST_KERNEL_MARK if misc == GUEST_KERNEL else GUEST_USER_MARK
    return sample(EVENT, misc, ip=address, pid=pid, tid=pid, time=9 * SECOND,
                  callchain=[mark, address])


def kernel(name, misc):
    return r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, name, misc=misc, sid=sample_id(EVENT))


def test_the_kernel(symbols, tmp_path):
    """The symbols are those of the host, which has a function at the address, too."""
    path = tmp_path / "kallsyms"
    path.write_text(KALLSYMS)
    host = kernel("[kernel.kallsyms]_text", IN_KERNEL)
    guest = kernel("[guest.kernel.kallsyms]_text", GUEST_KERNEL)
    at = guest_hit(KERNEL + 0x1800, GUEST_KERNEL)
    assert reason(symbols, [host, guest, at], "--kallsyms", path) == "NO_FILE"
    assert reason(symbols, [host, at], "--kallsyms", path) == "NO_MAP"
    given = [(2**32 - 1, 0, b"[kernel.kallsyms]", b"", [(KERNEL + 0x1800, 2**64 - 1, 0, b"host's")],
              [KERNEL + 0x1800], [0], [])]
    assert reason(symbols, [host, guest, at], bundle=given) == "NO_FILE"


@pytest.mark.parametrize("options", [[], ["--no-inline"]], ids=" ".join)
def test_a_process(program, symbols, options):
    """A file here has its path and even its build id; the recording has names of a process with its
    number."""
    start, _ = symbol(program, "outer")
    offset, address, size = code_of(program)
    at = start - address + offset
    in_guest = r.mmap2_build_id(7, 7, BASE + address, (size + 0xfff) & ~0xfff, offset,
                                build_id(program), 5, 2, str(program), misc=GUEST_USER,
                                sid=sample_id(EVENT, pid=7, tid=7, time=1))
    given = [(2**32 - 1, 0, str(program).encode(), b"", [(at, 2**64 - 1, 0, b"host's")], [at], [0],
              [])]
    records = [mapped(program), in_guest, guest_hit(BASE + start, GUEST_USER)]
    assert reason(symbols, records, *options, bundle=given) == "NO_FILE"


@pytest.mark.parametrize("options", [[], ["--no-inline"]], ids=" ".join)
def test_its_jit_code(symbols, options):
    """Neither the perf-PID.map here nor the names in the recording are of the guest's process."""
    pid = random.randrange(3_000_000, 4_000_000)
    path = f"/tmp/perf-{pid}.map"
    anonymous = r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon",
                        misc=GUEST_USER, sid=sample_id(EVENT, pid=pid, tid=pid, time=1))
    given = [(pid, 0, b"", b"", [(0x10010, 2**64 - 1, 0, b"host's")], [0x10020], [0], [0])]
    records = [anonymous, guest_hit(0x10020, GUEST_USER, pid)]
    try:
        with open(path, "x", encoding="ascii") as file:
            file.write("10010 40 here\n")
        for more in ({}, {"bundle": given}):
            began = time.time() - 100
            assert reason(symbols, records, *options, began=began, **more) == "NO_FILE"
    finally:
        os.unlink(path)
