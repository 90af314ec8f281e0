"""Stacks of a thread that begin like the one before: preport does not look them up again. The
result for a sample must not depend on the samples beside it."""
import collections
import random

import pytest

from known_recording import CLOCK, CONTEXT_KERNEL, CONTEXT_USER, EXEC, KERNEL, KTEXT, Recording
from perfdata import records as r
from perfdata.sample import sample
from profiles import folded, preport

HV, DEFERRED, GUEST_USER = 2**64 - 32, 2**64 - 640, 2**64 - 2560
MARKERS = (CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER, HV, GUEST_USER)
THREADS = ((10, 10), (10, 11), (74, 74))    # two of them differ by 64
SAMPLES = 120


def a_chain(chance, before):
    """Often the end of the one before, after something else."""
    if before and chance.random() < .8:
        kept = before[chance.randrange(len(before) + 1):]
    else:
        kept = []
    more = []
    for _ in range(chance.randrange(4)):
        if chance.random() < .3:
            more.append(chance.choice(MARKERS))
        elif chance.random() < .1:
            more += [DEFERRED, chance.choice((CONTEXT_KERNEL, 0x1010, 5))]
        else:
            more.append(chance.choice((0x1010, 0x1020, 0x2010, 0x9000, KTEXT + 16, KTEXT + 32)))
    chain = more + kept
    if chance.random() < .1:
        chain = chain + [0x1010] * (127 - len(chain))
    return chain[:200]


def a_recording(seed):
    """Pairs of a record and whether it is a sample."""
    chance = random.Random(seed)
    it = Recording()
    it.map_kernel()
    for pid in (10, 74):
        it.task(pid)
    first, before = len(it.records), {}
    samples = set()
    for i in range(SAMPLES):
        time = 10 + 2 * i
        pid, tid = chance.choice(THREADS)
        event = chance.random()
        if event < .1:
            it.map(time, pid, chance.choice((0x1000, 0x2000)), 0x1000, f"/bin/{i}")
        elif event < .15:
            it.comm(time, pid, f"renamed {i}", tid)
        before[tid] = chain = a_chain(chance, before.get(tid))
        samples.add(len(it.records))
        it.records.append(sample(CLOCK, misc=chance.choice((1, 2)), pid=pid, tid=tid,
                                 time=time + 1, ip=0x1030, cpu=i % 2, identifier=1, period=i + 1,
                                 callchain=chain))
    assert first == min(samples) or first + 1 == min(samples)
    return it, samples


def a_changing_recording(seed):
    """The same: few addresses, of which often another file is mapped at the next sample. The
    records are not in the order of their times."""
    chance = random.Random(seed)
    it = Recording()
    it.map_kernel()
    pids = [10, 74]
    for pid in pids:
        it.task(pid)
    first, sampled = len(it.records), set()
    for i in range(SAMPLES):
        time, pid, event = 10 + 2 * i, chance.choice(pids), chance.random()
        if event < .1:
            it.map(time, pid, chance.choice((0x1000, 0x2000)), 0x1000, f"/bin/{i}")
        elif event < .15:
            it.comm(time, pid, f"program {i}", misc=EXEC)
            it.map(time, pid, 0x1000, 0x1000, f"/bin/{i}")
        elif event < .25:
            it.records.append(r.mmap(2**32 - 1, 0, KTEXT, 0x1000, 0, f"[module{i}]", KERNEL,
                                     sid=it.sid(time)))
        elif event < .3:
            pids.append(100 + i)
            it.records.append(r.fork(100 + i, pid, 100 + i, pid, time, sid=it.sid(time)))
        chain = [chance.choice((KTEXT + 16, KTEXT + 0x2000)), chance.choice((0x1010, 0x2010))]
        sampled.add(len(it.records))
        it.sample(time + 1, pid, i + 1, *chain[chance.randrange(2):])
    order = sorted(range(len(it.records)), key=lambda i: i if i < first else
                   first + (i - first) // 9 * 9 + chance.random() * 9)
    it.records = [it.records[i] for i in order]
    return it, {at for at, i in enumerate(order) if i in sampled}


def written(records, tmp_path, *options):
    it = Recording()
    it.records = records
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    return preport(*options, path)


def stacks_of(records, tmp_path, *options):
    return folded(written(records, tmp_path, "-f", "folded", "--addrs", *options))


def alone(it, samples):
    """The records with one of the samples, for each of them."""
    for chosen in sorted(samples):
        yield [record for i, record in enumerate(it.records) if i == chosen or i not in samples]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("group", ["--group=comm,pid,tid", "--group=cpu"])
def test_a_stack_is_the_same_beside_others(seed, group, tmp_path):
    it, samples = a_recording(seed)
    want = collections.Counter()
    for records in alone(it, samples):
        want.update(stacks_of(records, tmp_path, group))
    assert len(want) > SAMPLES / 4
    assert stacks_of(it.records, tmp_path, group) == want


@pytest.mark.parametrize("seed", range(3))
def test_an_address_is_in_the_file_of_its_time(seed, tmp_path):
    it, samples = a_changing_recording(seed)
    want = collections.Counter()
    for records in alone(it, samples):
        want.update(stacks_of(records, tmp_path, "--group=pid"))
    assert len(want) > SAMPLES / 3
    assert stacks_of(it.records, tmp_path, "--group=pid") == want


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [("--mark-cut",), ("--compat=6.1", "--layout=stack"),
                                     ("--fields=comm,time,event", "--ns")])
def test_the_text_of_a_sample_is_the_same_beside_others(seed, options, tmp_path):
    it, samples = a_recording(seed)
    want = [written(records, tmp_path, "-f", "script", *options)
            for records in alone(it, samples)]
    assert len(set(want)) == SAMPLES
    assert written(it.records, tmp_path, "-f", "script", *options) == b"".join(want)


def test_a_cut_stack_is_cut_beside_others(tmp_path):
    """Those that are cut have a frame of their own; of a lone address the mode counts."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for time, depth in enumerate((126, 127, 128, 127, 126, 1, 1, 2, 1)):
        it.sample(10 + time, 10, 1, *[0x1010 + 16 * (i == 0 and depth > 2) for i in range(depth)])
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    lines = preport("-f", "tree", path).decode()
    assert "[cut stack]" in lines and "33.3 % cut" in lines


def test_stacks_of_one_function_are_counted_beside_others(tmp_path):
    it = Recording()
    it.map_kernel()
    for pid in (10, 11):
        it.comm(1, pid, "app", misc=EXEC)
        it.map(2, pid, 0x1000, 0x1000, "/bin/app")
    for time in range(10, 40, 3):
        it.sample(time, 10, 1, 0x1010)
        it.sample(time + 1, 10, 1, 0x1010)
        it.sample(time + 2, 11, 1, KTEXT + time, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert b"\n67 % of the stacks are one function" in preport("-f", "top", path)
