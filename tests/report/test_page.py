"""Content of the flame graph page besides its tree: times, and an older recording."""
import re

import pytest

from conftest import fixture_files
from known_recording import CLOCK, EXEC, KTEXT, Recording, known
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import page, page_paths, pages, preport, without_large_files


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


@pytest.mark.sanitize
def test_each_event_has_its_tree_and_times(write):
    path = write("x", known())
    about, events = pages(preport("-f", "flamegraph", path))
    assert [event["event"] for event, *_ in events] == ["cpu-clock", "page-faults:HG"]
    for event, nodes, samples in events:
        name = event["event"]
        alone = page(preport("-f", "flamegraph", "-e", name, path))
        assert f" of {name};" in event["facts"]
        assert page_paths(about, nodes) == page_paths(*alone[:2])
        assert [node[2:] for node in nodes] == [node[2:] for node in alone[1]]
        assert samples == alone[2] and event["unit"] == alone[0]["unit"]


def test_without_memory_and_file_for_the_times_the_page_has_none(write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(30000):
        it.sample(10 + i, 10, 2**40 + i, 0x1010)
    path = write("perf.data", it)
    whole, small, without = (
        page(preport("-f", "flamegraph", "--memory", size, path, status=status, preexec_fn=limit))
        for size, status, limit in (("16M", 0, None), ("1M", 0, None),
                                    ("1M", 1, without_large_files)))
    assert len(whole[2]) == 30000 and small == whole
    assert without[0]["threads"] == [] and without[1] == whole[1]


@pytest.mark.sanitize
def test_waits_have_times(write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")

    def switch(time, tid, misc=0):
        it.records.append(r.switch(misc=misc, sid=sample_id(CLOCK, pid=10, tid=tid, time=time,
                                                            identifier=1)))
    it.sample(10_000, 10, 500, 0x1010)
    switch(11_000, 10, 1 << 13)
    it.sample(12_000, 10, 700, 0x1010, tid=11)
    switch(20_000, 11, 1 << 13 | 1 << 14)
    switch(31_000, 10)
    it.sample(40_000, 10, 300, 0x1010)
    switch(50_000, 11)
    path = write("x", it)
    wait = "app;[blocked, approximate];[app]"
    for options, want in (
            (["--off-cpu"], [(10, 21, wait, 20_000),
                             (11, 40, ":11;[preempted, approximate];[app]", 30_000)]),
            (["--wall"], [(10, 0, "app;[app]", 500), (10, 21, wait, 20_000),
                          (10, 30, "app;[app]", 300), (11, 2, ":11;[app]", 700),
                          (11, 40, ":11;[preempted, approximate];[app]", 30_000)])):
        about, nodes, samples = page(preport("-f", "flamegraph", *options, path))
        names = page_paths(about, nodes)
        assert [(about["threads"][i][2], time, names[node], weight)
                for i, time, node, weight in samples] == want
        sums = {}
        for _, _, node, weight in samples:
            before = sums.get(node, (0, 0))
            sums[node] = (before[0] + weight, before[1] + 1)
        assert sums == {i: tuple(node[2:]) for i, node in enumerate(nodes) if node[3]}


def test_times_of_waits_need_little_memory(write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.sample(5, 10, 1, 0x1010)
    for i in range(1, 60000):
        it.records.append(r.switch(misc=1 << 13 if i % 2 else 0, sid=sample_id(
            CLOCK, pid=10, tid=10, time=10_000 * i, identifier=1)))
    path = write("x", it)
    whole, small = (page(preport("-f", "flamegraph", "--off-cpu", "--memory", size, path))
                    for size in ("16M", "1M"))
    assert len(whole[2]) == 29999 and small == whole


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


def test_a_difference_joins_events_of_other_names(tmp_path):
    """A recording of cycles, and one of a machine without counters, which has cpu-clock."""
    def go(name, config, weight):
        event = attr("IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER", type=1, config=config,
                     sample_period=1000, flags=("freq", "sample_id_all", "exclude_guest"))
        path = tmp_path / name
        path.write_bytes(File(attrs=[(event, [1])], records=[sample(
            event, misc=2, pid=7, tid=7, time=10, ip=0x1010, cpu=0, identifier=1, period=weight,
            callchain=[2**64 - 512, 0x1010])]).build("<"))
        return path
    about, nodes, _ = page(preport("-f", "flamegraph", "--base", go("old", 0, 40),
                                   go("new", 1, 30)))
    assert about["event"] == "task-clock" and len(nodes) == 3
    assert [node[2:] for node in nodes] == [(0, 0, 0, 0), (0, 0, 0, 0), (30, 1, 40, 1)]


def test_a_difference_joins_the_kernel_and_its_modules(write):
    """A driver is part of one kernel, and a module of the other."""
    def go(name, address, weight):
        it = Recording()
        it.map_kernel()
        it.records.append(r.mmap(2**32 - 1, 0, 0xffffffffc0000000, 0x10000, 0, "[driver]", 1,
                                 sid=it.sid(0)))
        it.comm(1, 10, "app", misc=EXEC)
        it.sample(5, 10, weight, address)
        return write(name, it)
    old, new = go("old", KTEXT + 0x1010, 40), go("new", 0xffffffffc0001010, 30)
    names = old.parent / "kallsyms"
    names.write_text("ffffffff81000000 T _text\nffffffff81001000 T busy\n"
                     "ffffffff82000000 T _end\nffffffffc0001000 t busy\t[driver]\n")
    about, nodes, _ = page(preport("-f", "flamegraph", "--base", old, "--kallsyms", names, new,
                                   symbols=()))
    assert dict(zip(page_paths(about, nodes), [node[2:] for node in nodes])) == {
        "": (0, 0, 0, 0), "app": (0, 0, 0, 0), "app;busy": (30, 1, 40, 1)}


def test_of_more_than_a_million_samples_one_of_two_stays(tmp_path):
    """The last of each thread stands for those that are left."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.sample(1000, 10, 3, 0x1010)
    it.sample(1000, 10, 5, 0x1010, tid=11)
    one, other = it.records[-2:]
    it.records[1:] = [lambda order: one(order) * 600_001 + other(order) * 400_000]
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    about, nodes, samples = page(preport("-f", "flamegraph", path))
    assert [row[3] for row in about["threads"]] == [300_001, 200_000]
    assert about["facts"].endswith("; one of 2 has a time")
    weights = [[row[3] for row in samples if row[0] == thread] for thread in (0, 1)]
    assert weights == [[6] * 300_000 + [3], [10] * 200_000]


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


def test_the_view_that_is_asked_for_is_in_the_file(write):
    path = write("x", known())
    assert [page(preport("-f", "flamegraph", *view, path))[0].get("view") for view in (
        [], ["--inverted"], ["--callers"], ["--heatmap"])] == [None, "icicle", "callers", "time"]
    for wrong in (["-f", "svg", "--heatmap"], ["--heatmap"], ["-f", "folded", "--heatmap"],
                  ["-f", "flamegraph", "--heatmap", "--callers"],
                  ["-f", "flamegraph", "--inverted", "--callers"],
                  ["-f", "flamegraph", "--heatmap", "--base", path]):
        preport(*wrong, path, status=2)
