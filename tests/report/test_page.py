"""Content of the flame graph page besides its tree: times, and an older recording."""
import re

import pytest

from conftest import fixture_files
from known_recording import EXEC, Recording, known
from perfdata import records as r
from profiles import page, page_paths, preport


@pytest.fixture
def write(tmp_path):
    def go(name, it):
        (tmp_path / name).write_bytes(it.file())
        return tmp_path / name
    return go


@pytest.mark.sanitize
def test_each_sample_has_its_thread_and_time(write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so")
    for time, tid, period, chain in ((5000, 10, 3, [0x1010]), (9999, 11, 4, [0x7010, 0x1010]),
                                     (12000, 10, 5, [0x7010, 0x1010])):
        it.sample(time, 10, period, *chain, tid=tid)
    about, nodes, samples = page(preport("-f", "flamegraph", write("perf.data", it)))
    names = page_paths(about, nodes)
    assert [row[1:] for row in about["threads"]] == [[10, 10, 2], [10, 11, 1]]
    assert [(i, time, names[node], weight) for i, time, node, weight in samples] == [
        (0, 0, "app;[app]", 3), (0, 7, "app;[app];[libx.so]", 5),
        (1, 4, ":11;[app];[libx.so]", 4)]


@pytest.mark.parametrize("options", [[], ["--idle=keep"], ["--tid=20"], ["--group=none"],
                                     ["-e", "page-faults"]])
def test_the_samples_are_those_of_the_tree(write, options):
    about, nodes, samples = page(preport("-f", "flamegraph", *options, write("x", known())))
    sums = {}
    for _, _, node, weight in samples:
        before = sums.get(node, (0, 0))
        sums[node] = (before[0] + weight, before[1] + 1)
    assert sums == {i: tuple(node[2:]) for i, node in enumerate(nodes) if node[3]}


def test_without_memory_for_the_times_the_page_has_none(write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(30000):
        it.sample(10 + i, 10, 2**40 + i, 0x1010)
    path = write("perf.data", it)
    whole, small = (page(preport("-f", "flamegraph", "--memory", size, path))
                    for size in ("16M", "1M"))
    assert len(whole[2]) == 30000 and small[0]["threads"] == [] and whole[1] == small[1]


def test_waits_have_no_times(write):
    it = known()
    it.records.append(r.switch(misc=1 << 13, sid=it.sid(18)))
    out = preport("-f", "flamegraph", "--wall", write("perf.data", it))
    assert page(out)[0]["threads"] == []


@pytest.mark.sanitize
def test_a_difference_joins_the_functions_of_other_paths_and_threads(write):
    def go(name, program, thread, app, lib, more=()):
        it = Recording()
        it.comm(1, 10, thread, misc=EXEC)
        it.map(2, 10, 0x1000, 0x1000, program)
        it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so")
        it.sample(5, 10, app, 0x1010)
        it.sample(6, 10, lib, 0x7010, 0x1010)
        for period in more:
            it.map(7, 10, 0x9000, 0x1000, "/lib/liby.so")
            it.sample(8, 10, period, 0x9010, 0x1010)
        return write(name, it)
    old = go("old", "/old/app", "worker-7", 60, 40, [9])
    new = go("new", "/new/app", "worker-12", 30, 70)
    about, nodes, samples = page(preport("-f", "flamegraph", "--base", old, new))
    values = {path: node[2:] for path, node in zip(page_paths(about, nodes), nodes)}
    assert values == {"": (0, 0, 0, 0), "worker-*": (0, 0, 0, 0), "worker-*;[app]": (30, 1, 60, 1),
                      "worker-*;[app];[libx.so]": (70, 1, 40, 1),
                      "worker-*;[app];[liby.so]": (0, 0, 9, 1)}
    assert about["base"]["title"].endswith("old") and "3 samples" in about["base"]["facts"]
    assert samples == []


def test_functions_of_one_name_in_two_images_are_two(write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/a/same")
    it.map(3, 10, 0x3000, 0x1000, "/b/same")
    it.sample(5, 10, 3, 0x1010)
    it.sample(6, 10, 4, 0x3010)
    path = write("x", it)
    alone = page(preport("-f", "flamegraph", path))[1]
    joined = page(preport("-f", "flamegraph", "--base", path, path))[1]
    assert [node[2] for node in alone] == [0, 0, 4, 3]
    assert [node[2:] for node in joined] == [(0, 0, 0, 0), (0, 0, 0, 0), (7, 2, 7, 2)]


def test_the_facts_count_cut_copies_of_stacks():
    path = next(file.path for file in fixture_files() if file.name.startswith("03-callgraph-dwarf"))
    facts = page(preport("-f", "flamegraph", path, symbols=()))[0]["facts"]
    samples, cut = re.search(r"(\d+) samples .* (\d+) stacks cut", facts).groups()
    assert int(samples) == int(cut) > 10        # its program is not here
