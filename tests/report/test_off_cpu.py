"""preport --off-cpu and --wall over recordings made by hand, with known times."""
import struct

import pytest

from known_recording import CLOCK, EXEC, KERNEL, Recording
from perfdata import features as f
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import folded, preport, text

OUT, PREEMPT = 1 << 13, 1 << 14
SWITCH = attr("IP|TID|TIME|CPU|PERIOD|RAW|CALLCHAIN|IDENTIFIER", type=2, config=300,
              sample_period=1)


class Switches(Recording):
    def switch(self, time, pid, tid, misc):
        self.records.append(r.switch(misc=misc, sid=sample_id(
            CLOCK, pid=pid, tid=tid, time=time, identifier=1)))

    def sched_switch(self, time, tid, state, following, *chain):
        raw = struct.pack("<HBBi16siiq16sii", 300, 0, 0, tid, b"a", tid, 120, state, b"b",
                          following, 120)
        self.records.append(sample(SWITCH, misc=KERNEL, pid=10, tid=tid, time=time, ip=chain[0],
                                   cpu=0, identifier=3, period=1, raw=raw,
                                   callchain=[2**64 - 512, *chain]))

    def file(self):
        names = f.event_desc([(CLOCK, "cpu-clock", [1]), (SWITCH, "sched:sched_switch", [3])], 136)
        return File(attrs=[(CLOCK, [1]), (SWITCH, [3])], records=self.records,
                    features={12: names}).build()


def start():
    it = Switches()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so.1")
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
    assert text(folded(preport("-f", "folded", "--off-cpu", path))) == {
        "app;[blocked, approximate];[app];[libx.so.1]": 40,
        "app;[preempted, approximate];[app];[libx.so.1]": 5}
    assert text(folded(preport("-f", "folded", "--wall", path)))["app;[app];[libx.so.1]"] == 90
    assert "2 waits are shown at the stack of the last sample" in preport("--wall", path).decode()


def test_sched_switch_has_its_own_stack_and_names_the_next_thread(write):
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    it.sched_switch(200, 10, 1, 11, 0x1020, 0x1010)         # 10 blocks, 11 runs
    it.sched_switch(260, 11, 0, 10, 0x7020, 0x1010)         # 11 is preempted, 10 runs
    it.sched_switch(290, 10, 1, 11, 0x1030)
    it.sample(300, 10, 1, 0x7010, 0x1010, tid=11)
    path = write(it)
    assert text(folded(preport("-f", "folded", "--off-cpu", "--group=tid", path))) == {
        "tid_10;[blocked];[app];[app]": 60, "tid_11;[preempted];[app];[libx.so.1]": 30}


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


def test_without_switches_no_sample_matches(write):
    it = start()
    it.sample(100, 10, 90, 0x7010, 0x1010)
    preport("--off-cpu", write(it), status=5)
