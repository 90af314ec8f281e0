"""preport --off-cpu and --wall over recordings made by hand, with known times."""
import json
import re
import struct
import subprocess
from dataclasses import dataclass

import pytest

from conftest import TOOLS
from known_recording import (CLOCK, CONTEXT_KERNEL, CONTEXT_USER, EXEC, FAULTS, KERNEL, KTEXT,
                             USER, Recording)
from perfdata import features as f
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.tracing import Format, common, tracing_data
from profiles import Firefox, Pprof, folded, preport, speedscope, text
from test_otlp import Otlp

pytestmark = pytest.mark.sanitize
OUT, PREEMPT = 1 << 13, 1 << 14
SWITCH = attr("IP|TID|TIME|CPU|PERIOD|RAW|CALLCHAIN|IDENTIFIER", type=2, config=300,
              sample_period=1)


@dataclass
class Shape:
    """The format of sched_switch on one machine."""
    long_size: int
    code: str
    fields: list
    order: object = lambda *values: values


def shape(long_size, sizes, order=lambda *values: values, start=8):
    """sizes: of the fields as the kernel orders them, which `order` changes."""
    names = order("char prev_comm[16]", "pid_t prev_pid", "int prev_prio", "long prev_state",
                  "char next_comm[16]", "pid_t next_pid", "int next_prio")
    fields, at = [], start
    for name, size in zip(names, order(*sizes)):
        at += -at % (1 if size == 16 else size)
        fields.append((name, at, size, int("char" not in name)))
        at += size
    codes = {16: "16s", 4: "i", 8: "q"}
    return Shape(long_size, "<" + "".join(codes[size] for size in order(*sizes)), fields, order)


WIDE = shape(8, (16, 4, 4, 8, 16, 4, 4))
NARROW = shape(4, (16, 4, 4, 4, 16, 4, 4))      # of a machine of 32 bits
TURNED = shape(8, (16, 4, 4, 8, 16, 4, 4), lambda a, b, c, d, e, f, g: (f, c, d, b, g, a, e))
ABSENT = Shape(8, WIDE.code, [])


def mode_of(address):
    return CONTEXT_KERNEL if address >= KTEXT else CONTEXT_USER


class Switches(Recording):
    span = None      # times of the first and last sample, as a feature

    def sched_switch(self, time, tid, state, following, *chain, misc=KERNEL):
        raw = common(300, tid) + struct.pack(self.shape.code, *self.shape.order(
            b"a", tid, 120, state, b"b", following, 120))
        self.records.append(sample(SWITCH, misc=misc, pid=10, tid=tid, time=time, ip=chain[0],
                                   cpu=0, identifier=3, period=1, raw=raw,
                                   callchain=[mode_of(chain[0]), *chain]))

    def file(self):
        names = f.event_desc([(CLOCK, "cpu-clock", [1]), (SWITCH, "sched:sched_switch", [3])], 136)
        formats = {1: tracing_data({"sched": [Format("sched_switch", 300, self.shape.fields)]},
                                   long_size=self.shape.long_size)} if self.shape.fields else {}
        return File(attrs=[(CLOCK, [1]), (SWITCH, [3])], records=self.records,
                    features={**formats, 12: names,
                              **({21: struct.pack("<2Q", *self.span)} if self.span else {})}
                    ).build()


def attrs(it, *events):
    return File(attrs=list(events), records=it.records).build()


def start(shape=WIDE):
    it = Switches()
    it.shape = shape
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so.1")
    return it


def one_wait():
    """A sample of 90 ns, and 40 ns off the CPU."""
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    return it


@pytest.fixture
def write(tmp_path):
    def go(it):
        (tmp_path / "perf.data").write_bytes(it.file())
        return tmp_path / "perf.data"
    return go


def test_switch_records_wait_at_the_stack_of_the_last_sample(write):
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    it.switch(160, 10, 10, OUT | PREEMPT)
    it.switch(165, 10, 10, 0)
    path = write(it)
    assert " of CPU" not in preport("--off-cpu", path).decode().split("\n")[0]
    assert "waits are shown" in preport("--off-cpu", path).decode()
    assert "waits are shown" not in preport(path).decode()
    assert text(folded(preport("-f", "folded", "--off-cpu", path))) == {
        "app;[blocked, approximate];[app];[libx.so.1]": 40,
        "app;[preempted, approximate];[app];[libx.so.1]": 5}
    assert text(folded(preport("-f", "folded", "--wall", path)))["app;[app];[libx.so.1]"] == 90
    assert ("2 waits are shown at the stack of the last sample before them: record with precord "
            "--off-cpu") in preport("--wall", path).decode()


def test_a_cut_recording_is_not_to_be_recorded_in_another_way(tmp_path):
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    it.switch(155, 10, 10, OUT)
    clocks = attrs(it, (CLOCK, [1]))
    it.sched_switch(160, 10, 1, 11, 0x1020, 0x1010)
    it.switch(160, 10, 10, OUT)
    for data, advice in (
            (attrs(it, (CLOCK, [1]), (SWITCH, [3]))[:-3],
             "the recording is cut, and what tells its tracepoints apart is at the end"),
            (clocks[:-3], "record with precord --off-cpu where tracepoints are allowed")):
        (tmp_path / "x").write_bytes(data)
        said = preport("--off-cpu", tmp_path / "x", status=1).decode()
        assert f" the last sample before them: {advice}\n" in said


def test_time_off_the_cpu_is_not_called_cpu(write):
    path = write(one_wait())
    pprof = Pprof(preport("-f", "pprof", "--off-cpu", path))
    sums = {name: pprof.total(i) for i, (name, _) in enumerate(pprof.types)}
    assert (sums["cpu"], sums["off-CPU_event"]) == (90, 40)
    assert pprof.default_type == "off-CPU_event"
    assert Pprof(preport("-f", "pprof", "--wall", path)).types[1][0] == "wall-clock"
    for state, name in (("--off-cpu", "off_cpu"), ("--wall", "wall")):
        assert (name, "nanoseconds") in [type for type, _ in Otlp(
            preport("-f", "otlp", state, path)).profiles]


def test_waits_have_a_color_and_a_category(write):
    path = write(one_wait())
    picture = preport("-f", "svg", "--off-cpu", path).decode()
    assert re.search(r"<title>\[blocked, approximate\].*?</title><rect[^>]*#d4edff", picture)
    there = Firefox(preport("-f", "firefox", "--wall", path))
    names = [there.strings[i] for i in there.shared["funcTable"]["name"]]
    frames = there.shared["frameTable"]
    got = {names[func]: there.top["meta"]["categories"][category]["name"]
           for func, category in zip(frames["func"], frames["category"])}
    assert got.items() >= {
        "[app]": "User", "[libx.so.1]": "Library", "[blocked, approximate]": "Off-CPU"}.items()


@pytest.mark.parametrize("of", [WIDE, NARROW, TURNED], ids=["64 bits", "32 bits", "other order"])
def test_sched_switch_has_its_own_stack_and_names_the_next_thread(write, of):
    it = start(of)
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.sched_switch(200, 10, 1, 11, 0x1020, 0x1010)         # 10 blocks, 11 runs
    it.sched_switch(260, 11, 0, 10, 0x7020, 0x1010)         # 11 is preempted, 10 runs
    it.sched_switch(290, 10, 1, 11, 0x1030)
    it.sample(300, 10, 1, 0x7010, 0x1010, tid=11)
    path = write(it)
    assert text(folded(preport("-f", "folded", "--off-cpu", "--group=tid", path))) == {
        "tid_10;[blocked];[app];[app]": 60, "tid_11;[preempted];[app];[libx.so.1]": 30,
        "tid_10;[blocked];[app]": 10}
    also = "also recorded: 3 samples of sched:sched_switch"
    assert also + " (--off-cpu shows the waits)\n" in preport(path).decode()
    assert also + "\n" in preport("--off-cpu", path).decode()


SCHEDULER = {"schedule": 0x100, "__schedule.isra.0": 0x200, "futex_do_wait": 0x300,
             "schedule_timeout": 0x400, "pipe_read": 0x500, "schedule_work": 0x600}


def test_tables_show_who_called_the_scheduler(tmp_path):
    """All waits end in __schedule(). Files for other programs have the whole stack."""
    it = start()
    it.map_kernel()

    def wait(time, *names):
        it.sched_switch(time, 10, 1, 11, *(KTEXT + SCHEDULER[name] + 8 for name in names),
                        CONTEXT_USER, 0x1010)
        it.switch(time + 10, 10, 10, 0)
    wait(100, "__schedule.isra.0", "schedule", "futex_do_wait")
    wait(200, "__schedule.isra.0", "schedule", "schedule_timeout", "pipe_read")
    wait(300, "__schedule.isra.0", "schedule", "pipe_read", "futex_do_wait")
    wait(400, "schedule_work", "futex_do_wait")
    wait(500, "__schedule.isra.0")
    it.sample(600, 10, 7, KTEXT + SCHEDULER["__schedule.isra.0"], KTEXT + SCHEDULER["schedule"])
    (tmp_path / "kallsyms").write_text("".join(
        f"{KTEXT + at:x} T {name}\n" for name, at in
        {"_text": 0, **SCHEDULER, "_end": 0x1000000}.items()))
    (tmp_path / "perf.data").write_bytes(it.file())

    def go(*options):
        return preport("--off-cpu", *options, tmp_path / "perf.data",
                       symbols=("--kallsyms", tmp_path / "kallsyms")).decode()
    rows = json.loads(go("--json"))["rows"]
    assert {row["function"]: row["self"] for row in rows if row["self"]} == {
        "futex_do_wait": 10, "pipe_read": 20, "schedule_work": 10, "[app]": 10}
    assert {row["function"]: row["total"] for row in rows} == {
        "futex_do_wait": 30, "pipe_read": 20, "schedule_work": 10, "[app]": 50, "[blocked]": 50}
    assert "schedule.isra" not in go() + go("-f", "tree") + go("-f", "svg")
    assert go("-f", "csv").count("__schedule") == 0
    whole = text(folded(go("-f", "folded").encode()))
    assert sum(value for stack, value in whole.items() if "__schedule.isra.0" in stack) == 40
    walls = json.loads(preport("--wall", "--json", tmp_path / "perf.data",
                               symbols=("--kallsyms", tmp_path / "kallsyms")))["rows"]
    assert {"__schedule.isra.0": 7} == {row["function"]: row["self"] for row in walls
                                        if "__schedule" in row["function"]}


def test_a_wait_ends_with_its_thread_or_the_recording(write):
    it = start()
    for tid in (10, 11):
        it.sample(100, 10, 1, 0x7010, tid=tid)
        it.switch(200, 10, tid, OUT)
    it.records.append(r.exit(10, 1, 11, 11, 230, sid=it.sid(230)))
    it.sample(240, 10, 1, 0x7010, tid=12)
    it.switch(270, 10, 12, OUT)
    got = text(folded(preport("-f", "folded", "--off-cpu", "--group=tid", write(it))))
    assert got == {"tid_11;[blocked, approximate];[libx.so.1]": 30,
                   "tid_10;[blocked, approximate];[libx.so.1]": 70}


@pytest.mark.parametrize("switch", ["SWITCH", "sched_switch"])
def test_the_last_switch_of_a_thread_begins_no_wait(write, switch):
    """It comes after EXIT. A new thread may have the number."""
    it = start()

    def leave(time):
        if switch == "SWITCH":
            it.sample(time - 1, 10, 1, 0x7010, tid=11)
            it.switch(time, 10, 11, OUT)
        else:
            it.sched_switch(time, 11, 1, 10, 0x7010)
    leave(110)
    it.switch(120, 10, 11, 0)
    it.records.append(r.exit(10, 1, 11, 11, 230, sid=it.sid(230)))
    leave(240)
    it.records.append(r.fork(10, 10, 11, 10, 300, sid=it.sid(300)))
    it.switch(310, 10, 11, 0)
    leave(330)
    it.switch(333, 10, 11, 0)
    it.sample(900, 10, 1, 0x7010, tid=12)
    got = text(folded(preport("-f", "folded", "--off-cpu", "--group=tid", write(it))))
    assert sum(got.values()) == 13


@pytest.mark.parametrize("state, wait", [(0x10, 0), (0x20, 0), (0x40, 800)])
def test_the_dead_do_not_wait(write, state, wait):
    """EXIT is not recorded without attr.task. 0x40: parked, before Linux 4.14 also dead."""
    it = start()
    it.sched_switch(50, 10, 1, 11, 0x1010)
    it.sched_switch(100, 11, state, 10, 0x7010)
    it.sample(900, 10, 1, 0x7010)
    got = text(folded(preport("-f", "folded", "--off-cpu", "--group=tid", write(it))))
    assert got == {"tid_10;[blocked];[app]": 50,
                   **({"tid_11;[blocked];[libx.so.1]": wait} if wait else {})}


def test_waits_of_threads_without_a_sample_are_nowhere(write):
    it = start()
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    it.switch(160, 10, 10, OUT | PREEMPT)
    it.switch(167, 10, 10, 0)
    it.sample(170, 10, 90, 0x7010, 0x1010)
    it.switch(180, 10, 10, OUT)
    it.switch(183, 10, 10, 0)
    path = write(it)
    assert text(folded(preport("-f", "folded", "--off-cpu", path))) == {
        "app;[blocked];[unknown]": 40, "app;[preempted];[unknown]": 7,
        "app;[blocked, approximate];[app];[libx.so.1]": 3}
    head = preport("--off-cpu", path).decode()
    assert "\n2 waits have no stack" in head and "\n1 waits are shown" in head


@pytest.mark.parametrize("switch", ["SWITCH", "sched_switch"])
@pytest.mark.parametrize("state", ["--off-cpu", "--wall"])
@pytest.mark.parametrize("from_, to, want", [
    ("", "149ns", 49), ("149ns", "", 41 + 20 + 8), ("120ns", "130ns", 10), ("190ns", "209ns", 19),
    ("0%", "100%", 118), ("0%", "50%", None), ("195ns", "196ns", 1)])
def test_waits_count_as_far_as_they_are_in_the_time(write, switch, state, from_, to, want):
    """Threads 10 and 11 wait in turn, from 100 to 190, 190 to 210; the recording ends at 218."""
    it = start()
    it.sample(99, 10, 0, 0x7010)
    it.sample(99, 10, 0, 0x1010, tid=11)
    for time, leaves, enters in ((100, 10, 11), (190, 11, 10), (210, 10, 11)):
        if switch == "SWITCH":
            it.switch(time, 10, leaves, OUT)
            it.switch(time, 10, enters, 0)
        else:
            it.sched_switch(time, leaves, 1, enters, 0x7010)
    it.comm(218, 10, "last")
    it.span = 99, 210
    path = write(it)
    total = sum(folded(preport("-f", "folded", state, path)).values())
    part = sum(folded(preport("-f", "folded", state, f"--time={from_}-{to}" if "%" in to else
                              f"--time={from_},{to}", path)).values())
    if want is None:
        want = total - sum(folded(preport("-f", "folded", state, "--time=50%-100%", path)).values())
    assert (total, part) == (118, want)


@pytest.mark.parametrize("switch", ["SWITCH", "sched_switch"])
def test_a_filter_leaves_out_waits_of_its_threads_only(write, switch):
    """The record in which a thread goes on may be of another one."""
    it = start()
    for time, leaves, enters, cpu in ((100, 10, 11, 0), (150, 11, 10, 0), (210, 10, 11, 0),
                                      (215, 11, 10, 0)):
        if switch == "SWITCH":
            it.sample(time - 1, 10, 0, 0x7010, tid=leaves)
            it.switch(time, 10, leaves, OUT)
            it.switch(time, 10, enters, 0)
        else:
            it.sched_switch(time, leaves, 1, enters, 0x7010)
    path = write(it)
    waits = [sum(text(folded(preport("-f", "folded", "--off-cpu", *of, path, status=status)))
                 .values()) for of, status in (((), 0), (("--tid=10",), 0), (("--tid=11",), 0),
                                               (("--comm=app",), 0), (("--tid=12",), 5))]
    assert waits == [50 + 60 + 5, 55, 60, 55, 0]


@pytest.mark.parametrize("switch", ["SWITCH", "both"])
def test_waits_at_stacks_that_are_left_out(write, switch):
    """By --dso: a SWITCH record after a sample that is left out begins no wait elsewhere."""
    it = start()
    for time, address in ((100, 0x7010), (200, 0x1010), (300, 0x7010)):
        it.sample(time, 10, 0, address)
        if switch == "both":
            it.sched_switch(time + 9, 10, 1, 0, address, misc=USER)
        it.switch(time + 10, 10, 10, OUT)
        it.switch(time + 10 + time // 100, 10, 10, 0)
    path = write(it)
    got = [sum(text(folded(preport("-f", "folded", "--off-cpu", *of, path))).values())
           for of in ((), ("--dso=libx.so.1",), ("--dso=app",))]
    earlier = switch == "both"
    assert got == [6 + 3 * earlier, 4 + 2 * earlier, 2 + earlier]


def test_the_duration_is_that_of_the_waits(write):
    """A program that sleeps at its end has no samples then."""
    it = start()
    it.sample(1_000_000_000, 10, 0, 0x7010)
    it.switch(1_000_000_000, 10, 10, OUT)
    it.switch(3_500_000_000, 10, 10, 0)
    assert b"2.500 s in 2.500 s" in preport("--off-cpu", write(it))


def test_a_switch_whose_format_is_unknown_is_not_guessed(write):
    it = start(ABSENT)
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.sched_switch(200, 10, 1, 11, 0x1020, 0x1010)
    it.sched_switch(260, 11, 0, 10, 0x7020, 0x1010)
    preport("--off-cpu", write(it), status=5)


@pytest.mark.parametrize("state, why", [(0, "preempted"), (0x100, "preempted"), (1, "blocked"),
                                        (2, "blocked"), (0x80, "blocked"), (0x400, "preempted")])
def test_the_state_of_a_thread_that_leaves(write, state, why):
    it = start()
    it.sched_switch(200, 10, state, 11, 0x1020)
    it.sched_switch(260, 11, 0, 10, 0x7020)
    got = text(folded(preport("-f", "folded", "--off-cpu", "--group=tid", write(it))))
    assert got[f"tid_10;[{why}];[app]"] == 60


def test_records_during_a_wait_change_nothing(write):
    it = start()
    it.sample(100, 10, 1, 0x7010, 0x1010)
    it.switch(110, 10, 10, OUT)
    it.sample(115, 10, 1, 0x1020)               # of another CPU's clock, perhaps
    it.switch(120, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    it.switch(155, 10, 10, 0)
    assert text(folded(preport("-f", "folded", "--off-cpu", write(it)))) == {
        "app;[blocked, approximate];[app];[libx.so.1]": 40}


def test_a_sample_during_a_wait_is_not_the_stack_of_the_next_one(write):
    it = start()
    it.sample(100, 10, 1, 0x7010, 0x1010)
    it.switch(110, 10, 10, OUT)
    it.sample(115, 10, 1, 0x1020)               # of another CPU's clock, perhaps
    it.switch(150, 10, 10, 0)
    it.switch(160, 10, 10, OUT)
    it.switch(165, 10, 10, 0)
    assert text(folded(preport("-f", "folded", "--off-cpu", write(it)))) == {
        "app;[blocked, approximate];[app];[libx.so.1]": 45}


def test_each_wait_is_at_the_stack_before_it(write):
    it = start()
    for time, chain, misc in ((100, (0x7010, 0x1010), OUT), (200, (0x1020,), OUT),
                              (300, (0x1020,), OUT | PREEMPT), (400, (0x7010, 0x1010), OUT)):
        it.sample(time, 10, 1, *chain)
        it.switch(time + 10, 10, 10, misc)
        it.switch(time + 20 + time // 100, 10, 10, 0)
    assert text(folded(preport("-f", "folded", "--off-cpu", write(it)))) == {
        "app;[blocked, approximate];[app];[libx.so.1]": 11 + 14,
        "app;[blocked, approximate];[app]": 12, "app;[preempted, approximate];[app]": 13}


def test_waits_at_one_stack_have_their_reasons(write):
    it = start()
    it.sched_switch(100, 10, 1, 11, 0x1020)     # exact
    it.switch(110, 10, 10, 0)
    it.switch(120, 10, 10, OUT)                 # at the same stack, but of a switch that is over
    it.switch(132, 10, 10, 0)
    it.switch(140, 10, 10, OUT | PREEMPT)
    it.switch(153, 10, 10, 0)
    assert text(folded(preport("-f", "folded", "--off-cpu", write(it)))) == {
        "app;[blocked];[app]": 10, "app;[blocked, approximate];[app]": 12,
        "app;[preempted, approximate];[app]": 13}


def test_the_stack_of_a_switch_is_old_after_it(write):
    it = start()
    it.sched_switch(100, 10, 1, 11, 0x1020)
    it.switch(150, 10, 10, 0)
    it.switch(160, 10, 10, OUT)                 # without a sched_switch: it was lost
    it.switch(190, 10, 10, 0)
    assert text(folded(preport("-f", "folded", "--off-cpu", write(it)))) == {
        "app;[blocked];[app]": 50, "app;[blocked, approximate];[app]": 30}


@pytest.mark.sanitize
def test_waits_of_perf_record_off_cpu(tmp_path):
    """Samples of offcpu-time: their times are none, their periods are the waits."""
    waits = attr("IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER", type=1, config=10, sample_period=1,
                 flags=("sample_id_all",))
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    for i, (tid, period) in enumerate(((10, 40), (10, 2), (11, 5))):
        it.records.append(sample(waits, misc=2, pid=10, tid=tid, time=(2**32 - 1 << 32) + i,
                                 ip=0x7020, cpu=0, identifier=3, period=period,
                                 callchain=[2**64 - 512, 0x7020, 0x1010]))
    it.sample(120, 10, 9, 0x7010, 0x1010)
    path = tmp_path / "x"
    path.write_bytes(File(attrs=[(CLOCK, [1]), (waits, [3])], records=it.records, features={
        12: f.event_desc([(CLOCK, "cpu-clock", [1]), (waits, "offcpu-time", [3])], 136)}).build())
    blocked = {"app;[blocked];[app];[libx.so.1]": 42, ":11;[blocked];[app];[libx.so.1]": 5}
    assert text(folded(preport("-f", "folded", "--off-cpu", path))) == blocked
    assert text(folded(preport("-f", "folded", "--wall", path))) == {
        **blocked, "app;[app];[libx.so.1]": 99}
    assert text(folded(preport("-f", "folded", "-e", "offcpu-time", path))) == {
        "app;[app];[libx.so.1]": 42, ":11;[app];[libx.so.1]": 5}
    assert "no context switches" not in subprocess.run(
        [TOOLS / "preport", "--no-symbols", "--wall", path], capture_output=True, text=True,
        check=True).stderr


def test_the_wall_clock_has_no_counts(write):
    it = start()
    it.sample(100, 10, 90, 0x1010)
    it.sample(105, 10, 0, 0x7010, event=FAULTS)
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    faults = attrs(it, (CLOCK, [1]), (FAULTS, [2]))
    path = write(it)
    path.write_bytes(faults)
    assert text(folded(preport("-f", "folded", "--wall", path))) == {
        "app;[app]": 90, "app;[blocked, approximate];[libx.so.1]": 40}


@pytest.mark.parametrize("event, option, warned", [
    (FAULTS, [], "no samples of a clock, so this is only time off the CPU"),
    (FAULTS, ["-e", "*faults"], "no samples of a clock with -e, so"), (CLOCK, [], "")])
def test_the_wall_clock_without_a_clock_is_half_of_it(write, event, option, warned):
    it = start()
    it.sample(105, 10, 7, 0x7010, event=event)
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    path = write(it)
    path.write_bytes(attrs(it, (event, [1])))
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "--wall", *option, path],
                          capture_output=True, text=True, check=True)
    assert warned in done.stderr and bool(warned) == bool(done.stderr)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_wall_clock_has_the_time_of_one_clock(write, jobs):
    """cpu-clock and task-clock see the same time; -e chooses."""
    task_clock = attr("IP|TID|TIME|CPU|CALLCHAIN|IDENTIFIER", type=1, config=1, sample_period=45,
                      flags=("sample_id_all",))
    it = start()
    it.sample(99, 10, 0, 0x7010, event=task_clock)
    it.sample(100, 10, 90, 0x1010)
    it.sample(101, 10, 0, 0x7010, event=task_clock)
    path = write(it)
    path.write_bytes(attrs(it, (CLOCK, [1]), (task_clock, [2])))
    for event, sums in ((None, {"app;[app]": 90}), ("task-clock", {"app;[libx.so.1]": 90}),
                        ("cpu-clock", {"app;[app]": 90})):
        options = ["-e", event] if event else []
        assert text(folded(preport("-f", "folded", "--wall", "-j", jobs, *options, path))) == sums


@pytest.mark.parametrize("option", ["--off-cpu", "--wall"])
def test_files_with_times_have_the_waits(write, option):
    """Also of a thread whose number is that of another one later."""
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.sched_switch(200, 10, 1, 11, 0x1020, 0x1010)         # 10 blocks, 11 runs
    it.sched_switch(260, 11, 0, 10, 0x7020, 0x1010)         # 11 is preempted, 10 runs
    it.switch(270, 10, 10, OUT)
    it.records.append(r.exit(10, 1, 11, 11, 280, sid=it.sid(280)))
    it.switch(300, 10, 10, 0)
    path = write(it)
    want = sum(folded(preport("-f", "folded", option, path)).values())
    waits = {"app 10/10": 60 + 30, "? 10/11": 20}
    parts = {name.rpartition(" ")[0]: sums for name, _, sums, _ in
             speedscope(preport("-f", "speedscope", option, path))
             if name.endswith(("off-CPU", "wall-clock"))}
    assert {name: sum(value for key, value in sums.items() if key.startswith("["
            "blocked") or key.startswith("[preempted")) for name, sums in parts.items()} == waits
    assert sum(sum(sums.values()) for sums in parts.values()) == want
    assert sum(Firefox(preport("-f", "firefox", option, path)).weights().values()) == want


def test_of_a_deep_stack_the_outer_functions_remain(write):
    it = start()
    it.sample(100, 10, 90, *([0x7010] * 50 + [0x1010] * 600))
    it.switch(110, 10, 10, OUT)
    it.switch(150, 10, 10, 0)
    (stack,) = text(folded(preport("-f", "folded", "--off-cpu", write(it))))
    assert stack.count("[app]") > 500 and "libx" not in stack


def test_without_switches_no_sample_matches(write):
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    preport("--off-cpu", write(it), status=5)


def test_wall_time_without_switches_is_told(write):
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-f", "folded", "--wall", write(it)],
                          capture_output=True, text=True, check=True)
    assert done.stdout.endswith(" 90\n") and "precord --off-cpu" in done.stderr


@pytest.mark.parametrize("state", ["--off-cpu", "--wall"])
@pytest.mark.parametrize("form", ["top", "folded", "flamegraph", "pprof", "firefox", "chrome"])
def test_waits_do_not_depend_on_the_order_of_the_records(tmp_path, form, state):
    """A recording has those of each CPU one after the other; waits need them by time."""
    it = Recording()
    for pid in (10, 11):
        it.task(pid)
    head, it.records = it.records, []
    for i in range(60):
        time = 1000 * (i + 1)
        it.sample(time, 10 + i % 2, 100, 0x1000 + 16 * (i % 5), 0x2010, cpu=i % 3)
        it.switch(time + 100, 10 + i % 2, 10 + i % 2, OUT if i % 3 else OUT | PREEMPT)
        it.switch(time + 300 + i, 10 + i % 2, 10 + i % 2, 0)
    records, path, outputs = it.records, tmp_path / "perf.data", set()
    # a thread goes on at the next CPU
    for order in (records, [records[3 * i + k] for cpu in range(3) for i in range(60)
                            for k in range(3) if (i + (k == 2)) % 3 == cpu]):
        it.records = [*head, *order]
        path.write_bytes(it.file())
        outputs |= {preport("-f", form, state, jobs, path) for jobs in ("-j1", "-j2")}
    assert len(outputs) == 1
