"""The rights of the tests, as the kernel reports them: tests that lack a right are skipped with a
reason.

    @needs("machine")            on a test or in pytestmark
    need("machine")              in a test or a fixture

pytest's summary counts the skipped tests by right, and states who has it.
"""
import collections
import ctypes
import functools
import mmap
import os
import platform
import struct

import pytest

TRACEPOINT_ID = "/sys/kernel/tracing/events/sched/sched_switch/id"
# perf_event_open(2); linux/perf_event.h
# others: asm-generic's
NUMBERS = {"x86_64": 298, "i686": 336, "armv7l": 364, "ppc64le": 319, "s390x": 331}
SOFTWARE, TRACEPOINT = 1, 2
CPU_CLOCK, DUMMY = 0, 9
SAMPLE_RAW = 1 << 10
DISABLED, EXCLUDE_KERNEL, EXCLUDE_HV, NAMESPACES = 1 << 0, 1 << 5, 1 << 6, 1 << 28
USER_SPACE = DISABLED | EXCLUDE_KERNEL | EXCLUDE_HV
LARGE_BUFFER = 8 << 20

Right = collections.namedtuple("Right", "what who test")


def opened(flags, kind=SOFTWARE, config=CPU_CLOCK, sample=0, pid=0, cpu=-1):
    """The descriptor of a new event, or -1."""
    attr = struct.pack("=IIQQQQQIIQQQ", kind, 96, config, 0, sample, 0, flags, 0, 0, 0, 0, 0).ljust(
        96, b"\0")
    number = NUMBERS.get(platform.machine(), 241)
    return ctypes.CDLL(None).syscall(number, attr, pid, cpu, -1, ctypes.c_ulong(0))


def opens(*args, **kwargs):
    fd = opened(*args, **kwargs)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def maps_large_buffers():
    """Whether each cpu can have one."""
    cpus = os.sched_getaffinity(0)
    fds = [opened(USER_SPACE, cpu=cpu) for cpu in cpus]
    maps = []
    try:
        maps = [mmap.mmap(fd, LARGE_BUFFER + mmap.PAGESIZE) for fd in fds if fd >= 0]
    except OSError:
        pass
    for fd in fds:
        if fd >= 0:
            os.close(fd)
    return len(maps) == len(cpus)


def reads_tracefs():
    return os.access(TRACEPOINT_ID, os.R_OK)


def samples_tracepoints():
    return reads_tracefs() and opens(DISABLED, TRACEPOINT, int(open(TRACEPOINT_ID).read()),
                                     SAMPLE_RAW)


RIGHTS = {
    "root": Right("root", "", lambda: os.geteuid() == 0),
    "events": Right("perf_event_open",
                    "any user, with kernel.perf_event_paranoid=2 and no seccomp filter against it",
                    lambda: opens(USER_SPACE)),
    "kernel": Right("events of the kernel",
                    "root, CAP_PERFMON, or any user with kernel.perf_event_paranoid=1",
                    lambda: opens(DISABLED)),
    "machine": Right("events of a whole cpu",
                     "root, CAP_PERFMON, or any user with kernel.perf_event_paranoid=0",
                     lambda: opens(DISABLED, pid=-1, cpu=0)),
    "namespaces": Right("records of namespaces", "root or CAP_PERFMON",
                        lambda: opens(USER_SPACE | NAMESPACES, config=DUMMY)),
    "buffers": Right("buffers of 8 MiB", "root, CAP_IPC_LOCK, or any user with "
                                         "kernel.perf_event_mlock_kb=8196 and more",
                     maps_large_buffers),
    "tracefs": Right("reading tracefs", "root, where tracefs is mounted", reads_tracefs),
    "tracepoints": Right("data of tracepoints", "root, where tracefs is mounted",
                         samples_tracepoints),
}


@functools.lru_cache(maxsize=None)
def has(name):
    return RIGHTS[name].test()


def reason(name):
    right = RIGHTS[name]
    return f"needs {right.what}" + (f": {right.who}" if right.who else "")


def need(*names):
    """Skips the test if one of these rights is missing."""
    for name in names:
        if not has(name):
            pytest.skip(reason(name))


def needs(*names):
    """need() as a mark."""
    return pytest.mark.needs(*names)


def summary(reports):
    """Lines with the number of skipped tests by missing right."""
    reasons = collections.Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports
                                  if isinstance(report.longrepr, tuple))
    return [f"{reasons[reason(name)]} skipped, {reason(name)}"
            for name in RIGHTS if reasons[reason(name)]]
