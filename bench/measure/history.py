"""Tasks and places of all samples, compared with `perf script -F comm,ip,dso`, which also writes
them as text.

The inputs are made here: the worst that a machine with many short-lived processes records.
"""
import json
import os
import random
import shutil
import struct
import subprocess

from measure import Program, measure, median, summary

PIDS, MAPS, DEPTH = 100_000, 10, 10     # processes, maps of each, addresses of a sample
SAMPLES = 300_000
FORKS, SHARED = 1_000_000, 100          # children of one process, and its maps
QUICK = 50                              # the fraction of all that for --quick
HEADER, ATTR_SIZE = 104, 64
BASE, STEP, SIZE = 0x7F0000000000, 0x100000, 0x80000
CONTEXT_USER = 2**64 - 512
SAMPLE_TYPE = 1 | 2 | 4 | 32            # IP, TID, TIME, CALLCHAIN
SAMPLE_ID_ALL = 1 << 18


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    name = name.encode() + b"\0"
    return name + bytes(-len(name) % 8)


def trailer(pid, time):
    return struct.pack("<IIQ", pid, pid, time)


def mapped(time, pid, addr, number):
    body = struct.pack("<IIQQQIIQQII", pid, pid, addr, SIZE, 0x1000, 8, 1, number, 0, 5, 2)
    path = f"/usr/lib/x86_64-linux-gnu/lib{number}.so.{number % 9}"
    return record(10, 2, body + text(path) + trailer(pid, time))


def forked(time, pid, parent):
    body = struct.pack("<IIIIQ", pid, parent, pid, parent, time)
    return record(7, 0, body + trailer(pid, time))


def executed(time, pid):
    body = struct.pack("<II", pid, pid) + text(f"command{pid % 500}")
    return record(3, 1 << 13, body + trailer(pid, time))


def sampled(time, pid, addresses):
    return record(9, 2, struct.pack(f"<QIIQ{len(addresses) + 2}Q", addresses[0], pid, pid, time,
                                    len(addresses) + 1, CONTEXT_USER, *addresses))


def start_of(i):
    """Where the i-th process has its maps."""
    return BASE + (i % 64 << 30)


def processes(quick):
    """Each process executes a program and maps libraries; samples of all of them in no order."""
    rng, time = random.Random(1), 1000
    pids, samples = PIDS // quick, SAMPLES // quick
    for i in range(pids):
        time += 20
        yield forked(time, 1000 + i, 1)
        yield executed(time + 1, 1000 + i)
        for k in range(MAPS):
            yield mapped(time + 2 + k, 1000 + i, start_of(i) + STEP * k, (i * 7 + k) % 300)
    for _ in range(samples):
        i, time = rng.randrange(pids), time + 1
        addresses = [start_of(i) + STEP * rng.randrange(MAPS) + rng.randrange(SIZE)
                     for _ in range(DEPTH)]
        yield sampled(time, 1000 + i, addresses)


def children(quick):
    """One process forks for each request."""
    rng, time = random.Random(1), 1000
    forks = FORKS // quick
    yield executed(time, 1)
    for k in range(SHARED):
        yield mapped(time + 1 + k, 1, BASE + STEP * k, k)
    for i in range(forks):
        yield forked(2000 + i, 1000 + i, 1)
    for i in range(SAMPLES // quick):
        yield sampled(2000 + forks + i, 1000 + rng.randrange(forks),
                      [BASE + STEP * rng.randrange(SHARED) for _ in range(DEPTH)])


def write(path, records):
    """A perf.data of one event."""
    attr = struct.pack("<IIQQQQQ", 1, ATTR_SIZE, 0, 1, SAMPLE_TYPE, 0, SAMPLE_ID_ALL)
    attr = attr.ljust(ATTR_SIZE + 16, b"\0")
    start = HEADER + len(attr)
    with open(path, "wb") as out:
        out.write(bytes(start))
        out.writelines(records)
        size = out.tell() - start
        out.seek(0)
        out.write(struct.pack("<8sQQQQQQQQ", b"PERFILE2", HEADER, len(attr), HEADER, len(attr),
                              start, size, 0, 0).ljust(HEADER, b"\0"))
        out.write(attr)
    return size


def phases(settings, path):
    """Figures that the program prints: medians of its rounds."""
    found = [json.loads(subprocess.run([settings.program("resolve"), path], check=True,
                                       stdout=subprocess.PIPE).stdout)
             for _ in range(settings.rounds)]
    return {**found[0],
            **{key: median([one[key] for one in found]) for key in ("learn", "seal", "resolve")}}


def history(settings, report):
    perf = shutil.which(os.environ.get("PERF") or "perf")
    quick = QUICK if settings.quick else 1
    for name, records in (("processes", processes), ("children", children)):
        path = settings.work / f"{name}.data"
        size = write(path, records(quick))
        programs = [Program("resolve", [settings.program("resolve"), path])]
        if perf:
            programs.append(Program("perf script -F comm,ip,dso",
                                    [perf, "script", "-F", "comm,ip,dso", "-i", path]))
        measure(settings, programs)
        report.add_history({"input": name, "bytes": size, **phases(settings, path),
                            "programs": [summary(one, size) for one in programs]})
        path.unlink()
