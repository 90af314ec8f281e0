"""The history (pd/history.h) against a model that replays from the beginning for each question,
over random histories.

The model knows no pieces, ranks or trees: a space is the list of its maps, and the last one that
has the address counts.
"""
import os
import random
import re

import pytest

from perfdata import records as r
from perfdata.container import File
from same_length import zip_all
from test_history import CONTEXT_USER, DATA, FORK_EXEC, KERNEL, M, RW, RX, USER, dump, place

ROUNDS = int(os.environ.get("PD_HISTORY_ROUNDS") or 60)
PAGE = 0x1000
PATHS = [f"/lib/{name}" for name in "abcdefgh"]
KERNEL_AT = 0xffffffff80000000


class Model:
    """Applies changes in their order."""

    def __init__(self, changes):
        """Processes whose first change is no fork were there before."""
        self.spaces, self.lives = {}, {}
        begins = {}
        for kind, pid, *values in changes:
            if kind not in ("module", "ksymbol"):
                begins.setdefault(pid, kind == "fork" and values[1] != pid)
        self.spaces = {pid: [] for pid, is_fork in begins.items() if not is_fork}
        self.kernel, self.ksymbols = [], []

    def life(self, pid, tid, ends=False):
        life = self.lives.get(tid)
        if not life or life["pid"] != pid or (life["ended"] and not ends):
            life = self.lives[tid] = {"pid": pid, "comm": None, "ended": False}
        return life

    def apply(self, change):
        getattr(self, change[0])(*change[1:])

    def comm(self, pid, tid, name, exec):
        self.life(pid, tid)["comm"] = name
        self.spaces.setdefault(pid, [])
        if exec:
            self.spaces[pid] = []

    def fork(self, pid, tid, ppid, ptid):
        parent = self.lives.get(ptid)
        name = parent["comm"] if parent and parent["pid"] == ppid and ptid != tid else None
        self.lives[tid] = {"pid": pid, "comm": name, "ended": False}
        if pid != ppid:
            self.spaces[pid] = list(self.spaces.get(ppid, []))
        self.spaces.setdefault(pid, [])

    def there(self, pid, tid, ppid, ptid):
        self.life(pid, tid)
        if pid != ppid:
            self.spaces[pid] = []
        self.spaces.setdefault(pid, [])

    def exit(self, pid, tid):
        self.life(pid, tid, ends=True)["ended"] = True
        self.spaces.setdefault(pid, [])

    def map(self, pid, start, size, pgoff, path, is_data):
        self.spaces.setdefault(pid, []).append((start, start + size, pgoff, path, is_data))

    def module(self, start, size, name):
        self.kernel.append((start, start + size, 0, name, False))

    def ksymbol(self, start, size, name, is_end):
        self.ksymbols.append((start, start + size, 0, None if is_end else name, False))

    @staticmethod
    def find(maps, addr):
        for start, end, pgoff, path, is_data in reversed(maps):
            if start <= addr < end:
                return path and (path, addr - start + pgoff, *(["data"] if is_data else []))
        return None

    def user(self, pid, addr):
        if pid not in self.spaces:
            return "NO_PID"
        return self.find(self.spaces[pid], addr) or "NO_MAP"

    def in_kernel(self, addr):
        return self.find(self.ksymbols, addr) or self.find(self.kernel, addr) or "NO_MAP"

    def name(self, pid, tid):
        life = self.lives.get(tid)
        return life["comm"] if life and life["pid"] == pid else None


def record(time, change):
    """The record of a change, at a time."""
    kind, *values = change
    sid = M.sid(time)
    if kind == "comm":
        pid, tid, name, exec = values
        return r.comm(pid, tid, name, DATA if exec else 0, sid=sid)
    if kind in ("fork", "there"):
        pid, tid, ppid, ptid = values
        return r.fork(pid, ppid, tid, ptid, time + 1, sid=sid,
                      misc=FORK_EXEC if kind == "there" else 0)
    if kind == "exit":
        pid, tid = values
        return r.exit(pid, 1, tid, 1, time, sid=sid)
    if kind == "map":
        pid, start, size, pgoff, path, is_data = values
        return M.map(time, pid, start, size, pgoff, path, RW if is_data else RX,
                     USER | (DATA if is_data else 0))
    if kind == "module":
        start, size, name = values
        return M.kernel(start, size, 0, name, time)
    start, size, name, is_end = values
    return M.ksymbol(time, start, size, name, int(is_end))


def random_change(rng, pids):
    pid, other = rng.choice(pids), rng.choice(pids)
    tid = rng.choice([pid, pid, pid, 1000 + pid])
    kind = rng.choices(["comm", "exec", "fork", "thread", "there", "exit", "map", "module",
                        "ksymbol"], [4, 2, 6, 2, .3, 2, 20, 1, 2])[0]
    start, size = rng.randrange(24) * PAGE, rng.randrange(1, 9) * PAGE
    if kind in ("comm", "exec"):
        return ("comm", pid, tid if kind == "comm" else pid, f"name{rng.randrange(8)}",
                kind == "exec")
    if kind == "fork":
        return "fork", pid, pid, other, rng.choice([other, other, 1000 + other])
    if kind == "thread":
        return "fork", pid, 1000 + pid, pid, pid
    if kind == "there":
        return "there", pid, pid, other, other
    if kind == "exit":
        return "exit", pid, tid
    if kind == "map":
        return ("map", pid, 0x10000 + start, size, rng.randrange(5) * PAGE, rng.choice(PATHS),
                rng.random() < .2)
    name = f"[{rng.choice('xyz')}]"
    if kind == "module":
        return "module", KERNEL_AT + start, size, name
    return "ksymbol", KERNEL_AT + start, size, name, rng.random() < .4


def shuffled(rng, items, near):
    """In the order of a file that was written in rounds: each item is at most some places from its
    own."""
    return [item
            for _, item in sorted((i + rng.random() * near, item) for i, item in enumerate(items))]


def history(seed):
    """(file's records, what each of its samples must show)."""
    rng = random.Random(seed)
    pids = range(1, rng.choice([3, 6, 40]))
    n = rng.choice([20, 150, 600])
    timeline = []
    for i in range(n):
        if rng.random() < .3:
            pid = rng.choice(pids)
            places = [0x10000 + rng.randrange(-1, 33) * PAGE + rng.choice([0, 5, PAGE - 1])
                      for _ in range(4)]
            timeline.append((10 + i, ("sample", pid, rng.choice([pid, 1000 + pid]), places,
                                      KERNEL_AT + rng.randrange(33) * PAGE)))
        else:
            timeline.append((0 if i < n / 8 else 10 + i, random_change(rng, pids)))
    numbered = shuffled(rng, list(enumerate(timeline)), rng.choice([0, 5, n]))
    ordered = sorted(numbered, key=lambda item: item[1][0])
    model, expected = Model([item for _, (_, item) in ordered if item[0] != "sample"]), {}
    for number, (time, item) in ordered:
        if item[0] != "sample":
            model.apply(item)
            continue
        _, pid, tid, addresses, kernel = item
        expected[number] = (model.name(pid, tid), [model.in_kernel(kernel)]
                            + [model.user(pid, addr) for addr in addresses])
    records = [M.sample(time, item[1], item[4], item[2], KERNEL, [CONTEXT_USER, *item[3]])
               if item[0] == "sample" else record(time, item)
               for _, (time, item) in numbered]
    return records, [expected[number] for number, (_, item) in numbered if item[0] == "sample"]


def assert_live(path, samples):
    """A history that follows the records answers the same, except that it does not know that a
    process will be heard of."""
    live, others = dump(path, "-l")
    assert others[-1].startswith("live late=0 forgotten=0 left_out=0 ")
    live.sort(key=lambda sample: sample.offset)

    def comparable(sample):
        """Images are numbered in the order of learning."""
        return sample._replace(places=[re.sub(r"image=\d+ ", "", place.replace("NO_PID", "NO_MAP"))
                                       for place in sample.places])
    for ours, whole in zip_all(live, samples):
        assert comparable(ours) == comparable(whole)


@pytest.mark.parametrize("part", range(4))
def test_random_histories(part, tmp_path):
    answers = 0
    for seed in range(part * ROUNDS // 4, (part + 1) * ROUNDS // 4):
        records, expected = history(seed)
        path = tmp_path / "perf.data"
        path.write_bytes(File(attrs=[(M.attr, [1])], records=records).build("<"))
        samples, _ = dump(path)
        assert_live(path, samples)
        found = [(sample.comm, [place(sample, i) for i in range(len(sample.places))])
                 for sample in samples]
        for i, (ours, model) in enumerate(zip(found, expected)):
            assert ours == model, f"seed {seed}, sample {i}: {samples[i]}"
        assert len(found) == len(expected)
        answers += sum(isinstance(location, tuple) for _, locations in found
                       for location in locations)
    assert answers > 5 * ROUNDS
