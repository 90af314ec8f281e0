"""Task and addresses of a sample (pd/history.h): hand-made files, one for each rule.

tests/c/history_dump.c prints what the library finds.
"""
import collections
import re

import pytest

import compiled
from conftest import FIXTURES
from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.case import attr
from perfdata.container import Directory, File, Pipe, zstd_records
from perfdata.sample import branch, sample, sample_id
from perfdata.wire import Wire, encode

TYPE = "IP|TID|TIME|CPU|CALLCHAIN"
ATTR = attr(TYPE)
EXEC, DATA, BUILD_ID, FORK_EXEC = 1 << 13, 1 << 13, 1 << 14, 1 << 13
KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER = 1, 2, 3, 4, 5
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_HV, CONTEXT_DEFERRED = (2**64 - 128, 2**64 - 512, 2**64 - 32,
                                                              2**64 - 640)
CONTEXT_GUEST_KERNEL, CONTEXT_GUEST_USER = 2**64 - 2176, 2**64 - 2560
RX, R, RW = 5, 1, 3
PRIVATE, HUGETLB = 2, 0x40000
ANY = 2**64 - 1

Sample = collections.namedtuple("Sample", "offset pid tid cpu time comm places")
TEXT = r'"((?:[^"\\]|\\.)*)"'


def dump(path, *options):
    """Samples, and the other lines."""
    code, lines = compiled.run("history_dump", *options, path)
    assert code == 0, lines
    samples, others = [], []
    for line in lines:
        if line.startswith("sample "):
            offset, pid, tid, cpu, time, comm = line[7:].split(" ", 5)
            samples.append(Sample(int(offset), int(pid), int(tid), int(cpu),
                                  None if time == "-" else int(time),
                                  None if comm == "?" else comm[1:-1], []))
        elif line.startswith("  "):
            samples[-1].places.append(line.strip())
        else:
            others.append(line)
    return samples, others


class Maker:
    """Records of one event, with its trailer."""

    def __init__(self, event=ATTR):
        self.attr = event

    def sid(self, time, pid=0, tid=0):
        return sample_id(self.attr, pid=pid, tid=tid, time=time)

    def comm(self, time, pid, name, tid=None, exec=False):
        return r.comm(pid, tid or pid, name, EXEC if exec else 0, sid=self.sid(time))

    def fork(self, time, pid, ppid, tid=None, ptid=None, misc=0, own_time=None):
        return r.fork(pid, ppid, tid or pid, ptid or ppid, time if own_time is None else own_time,
                      sid=self.sid(time), misc=misc)

    def exit(self, time, pid, tid=None, ppid=1):
        return r.exit(pid, ppid, tid or pid, ppid, time, sid=self.sid(time))

    def map(self, time, pid, addr, len, pgoff, path, prot=RX, misc=USER, inode=0, flags=PRIVATE):
        return r.mmap2(pid, pid, addr, len, pgoff, 8, 1, inode or 1 + sum(path.encode()), 0, prot,
                       flags, path, misc=misc, sid=self.sid(time))

    def sample(self, time, pid, ip, tid=None, misc=USER, callchain=(), **more):
        return sample(self.attr, misc=misc, pid=pid, tid=tid or pid, time=time, ip=ip,
                      **({"callchain": list(callchain)} if callchain else {}), **more)

    def kernel(self, addr, len, pgoff, name="[kernel.kallsyms]_text", time=0, pid=2**32 - 1,
               misc=KERNEL):
        return r.mmap(pid, 0, addr, len, pgoff, name, misc, sid=self.sid(time))

    def ksymbol(self, time, addr, len, name, flags=0, kind=1):
        return r.ksymbol(addr, len, kind, flags, name, sid=self.sid(time))


M = Maker()


@pytest.fixture
def resolve(tmp_path):
    """Function: the samples of a file of these records."""
    def run(*records, maker=M, features=None, options=(), **container):
        path = tmp_path / "perf.data"
        path.write_bytes(File(attrs=[(maker.attr, [1])], records=list(records),
                              features=features or {}, **container).build("<"))
        samples, others = dump(path, *options)
        run.others = others
        return samples
    return run


def place(sample, i=0):
    """Image of the i-th address: (path, offset), (path, offset, flags...), or the reason."""
    line = sample.places[i]
    why = re.search(r" why=(\w+)$", line)
    if why:
        return why[1]
    found = re.search(rf"image=\d+ offset=0x([0-9a-f]+)((?: data| remapped)*) {TEXT}$", line)
    return (found[3], int(found[1], 16), *found[2].split())


def places(*samples):
    return [place(sample) for sample in samples]


def comms(*samples):
    return [sample.comm for sample in samples]


# --- names ----------------------------------------------------------------------------------------

def test_a_name_holds_from_its_time_on(resolve):
    samples = resolve(M.comm(0, 5, "first"), M.sample(100, 5, 1), M.comm(200, 5, "second"),
                      M.sample(150, 5, 1), M.sample(300, 5, 1))
    assert comms(*samples) == ["first", "first", "second"]


def test_file_order_does_not_matter(resolve):
    """One round is late: the rename stands after samples that are newer."""
    samples = resolve(M.sample(300, 5, 1), M.sample(100, 5, 1), M.comm(200, 5, "second"),
                      M.comm(0, 5, "first"))
    assert comms(*samples) == ["second", "first"]


def test_before_its_first_name_a_task_has_none(resolve):
    assert comms(*resolve(M.sample(100, 5, 1), M.comm(200, 5, "later"), M.sample(300, 5, 1),
                          M.sample(300, 6, 1))) \
        == [None, "later", None]


def test_a_child_begins_with_its_parents_name(resolve):
    samples = resolve(M.comm(0, 5, "shell"), M.fork(100, 6, 5), M.comm(150, 5, "renamed"),
                      M.sample(160, 6, 1), M.comm(200, 6, "ls", exec=True), M.sample(250, 6, 1),
                      M.sample(250, 5, 1), M.sample(90, 6, 1))
    assert comms(*samples) == ["shell", "ls", "renamed", None]


def test_threads_have_names_of_their_own(resolve):
    samples = resolve(M.comm(0, 5, "main"), M.fork(100, 5, 5, tid=7),
                      M.comm(200, 5, "worker", tid=7), M.sample(150, 5, 1, tid=7),
                      M.sample(250, 5, 1, tid=7), M.sample(250, 5, 1))
    assert comms(*samples) == ["main", "worker", "main"]


def test_a_tid_is_used_again(resolve):
    samples = resolve(M.comm(0, 5, "shell"), M.fork(10, 6, 5), M.comm(20, 6, "one", exec=True),
                      M.sample(25, 6, 1), M.exit(30, 6), M.sample(31, 6, 1), M.fork(40, 6, 5),
                      M.sample(45, 6, 1), M.comm(50, 6, "two", exec=True), M.sample(55, 6, 1),
                      options=["-a"])
    assert comms(*samples) == ["one", "one", "shell", "two"]
    assert [line for line in resolve.others if line.startswith("task 6 ")] == [
        'task 6 6 5 5 "one" 10 30 execs=1 flags=4', 'task 6 6 5 5 "two" 40 - execs=1 flags=4']


def test_a_tid_of_another_process_has_no_name(resolve):
    """Records were lost: a stale name would be a guess."""
    samples = resolve(M.comm(0, 5, "main"), M.comm(0, 5, "worker", tid=7),
                      M.sample(100, 8, 1, tid=7), M.sample(100, 5, 1, tid=7))
    assert comms(*samples) == [None, "worker"]


def test_tasks_alone_have_the_same_names(data_file):
    """With other addresses: they are in no image."""
    if data_file.name == "hotspot/perf.data.broken.gz":
        pytest.skip("no recording")
    samples, _ = dump(data_file.path)
    alone, others = dump(data_file.path, "-a", "-t")
    assert [one._replace(places=[]) for one in alone] == [one._replace(places=[])
                                                          for one in samples]
    assert not [place for one in alone for place in one.places if "image=" in place]
    assert not [line for line in others if line.startswith(("image", "map"))]


def test_the_idle_task(resolve):
    samples = resolve(M.comm(0, 5, "main"), M.sample(100, 0, 1, misc=KERNEL, cpu=3))
    assert (samples[0].comm, samples[0].cpu) == ("swapper", 3)


def test_tasks_that_were_there(resolve):
    resolve(M.fork(0, 5, 1, misc=FORK_EXEC), M.comm(0, 5, "old"), M.exit(50, 5), M.fork(60, 6, 5),
            M.exit(70, 9), options=["-a"])
    assert [line for line in resolve.others if line.startswith("task")] == [
        'task 5 5 1 1 "old" - 50 execs=0 flags=6', 'task 6 6 5 5 "old" 60 - execs=0 flags=4',
        "task 9 9 -1 -1 ? - 70 execs=0 flags=6"]


def test_a_synthesized_fork_gives_no_name(resolve):
    """The parent's present name is not the one that it had then."""
    samples = resolve(M.comm(0, 5, "shell"), M.fork(0, 6, 5, misc=FORK_EXEC), M.sample(100, 6, 1))
    assert comms(*samples) == [None]


# --- maps -----------------------------------------------------------------------------------------

def test_an_offset_is_that_in_the_file(resolve):
    samples = resolve(M.map(0, 5, 0x400000, 0x2000, 0x1000, "/bin/a"), M.sample(100, 5, 0x400000),
                      M.sample(100, 5, 0x401fff), M.sample(100, 5, 0x402000),
                      M.sample(100, 5, 0x3fffff), M.sample(100, 9, 0x400000))
    assert places(*samples) == [("/bin/a", 0x1000), ("/bin/a", 0x2fff), "NO_MAP", "NO_MAP",
                                "NO_PID"]


def test_a_huge_pgoff(resolve):
    samples = resolve(M.map(0, 5, 0x1000, 0x1000, 2**64 - 0x1000, "/dev/mem"),
                      M.map(0, 5, 2**64 - 0x2000, 0x2000, 0, "/top"), M.sample(100, 5, 0x1800),
                      M.sample(100, 5, 2**64 - 2), M.sample(100, 5, 2**64 - 1))
    assert places(*samples) == [("/dev/mem", 2**64 - 0x800), ("/top", 0x1ffe), "NO_MAP"]


def test_until_when_maps_are_there(resolve):
    """Until the last of it is replaced, by another map, by an exec, or by the next of that pid."""
    resolve(M.map(10, 5, 0x10000, 0x3000, 0, "/a"), M.map(20, 5, 0x11000, 0x1000, 0, "/b"),
            M.map(30, 5, 0x10000, 0x2000, 0, "/c"), M.map(35, 5, 0x10000, 0x2000, 0, "/c"),
            M.fork(36, 6, 5), M.map(40, 6, 0x10000, 0x3000, 0, "/child"),
            M.map(50, 5, 0x12000, 0x1000, 0, "/d"), M.map(60, 5, 0x20000, 0, 0, "/empty"),
            M.comm(70, 5, "x", exec=True), M.map(80, 5, 0x10000, 0x1000, 0, "/e"),
            M.exit(90, 6), M.fork(100, 6, 5), options=["-a"])
    assert [line.split()[-2:] for line in resolve.others if line.startswith("map")] == [
        ["10", "50"], ["20", "30"], ["30", "70"], ["35", "35"], ["40", "100"], ["50", "70"],
        ["60", "60"], ["80", "-"]]


def test_a_map_is_replaced_in_the_middle(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x9000, 0, "/lib/old"),
                      M.map(20, 5, 0x13000, 0x2000, 0x5000, "/lib/new"),
                      *[M.sample(time, 5, addr) for time in (15, 25)
                        for addr in (0x12fff, 0x13000, 0x14fff, 0x15000)])
    assert places(*samples) == [("/lib/old", 0x2fff), ("/lib/old", 0x3000), ("/lib/old", 0x4fff),
                                ("/lib/old", 0x5000),
                                ("/lib/old", 0x2fff), ("/lib/new", 0x5000), ("/lib/new", 0x6fff),
                                ("/lib/old", 0x5000)]


@pytest.mark.parametrize("start, end", [(0x8000, 0x11000), (0x18000, 0x22000), (0x10000, 0x20000),
                                        (0x8000, 0x22000)],
                         ids=["front", "back", "all", "more"])
def test_a_map_cuts_what_it_overlaps(start, end, resolve):
    addresses = [0x10000, 0x10fff, 0x11000, 0x17fff, 0x18000, 0x1ffff]
    samples = resolve(M.map(10, 5, 0x10000, 0x10000, 0x7000, "/old"),
                      M.map(20, 5, start, end - start, 0, "/new"),
                      *[M.sample(30, 5, addr) for addr in addresses])
    assert places(*samples) == [("/new", addr - start) if start <= addr < end
                                else ("/old", addr - 0x9000) for addr in addresses]


def test_a_data_map_cuts_code_away(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x9000, 0, "/lib/a"),
                      M.map(20, 5, 0x13000, 0x1000, 0x3000, "/lib/a", prot=RW, misc=USER | DATA),
                      M.map(30, 5, 0x13800, 0x100, 0, "/lib/b"), M.sample(40, 5, 0x13000),
                      M.sample(40, 5, 0x13810), M.sample(40, 5, 0x14000))
    assert places(*samples) == [("/lib/a", 0x3000, "data"), ("/lib/b", 0x10), ("/lib/a", 0x4000)]


def test_a_child_has_its_parents_maps(resolve):
    """Those of the moment of the fork, whatever the parent maps later."""
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a"), M.fork(20, 6, 5),
                      M.map(30, 5, 0x20000, 0x1000, 0, "/b"),
                      M.map(30, 5, 0x10000, 0x1000, 0, "/c"),
                      *[M.sample(40, pid, addr) for pid in (5, 6) for addr in (0x10000, 0x20000)])
    assert places(*samples) == [("/c", 0), ("/b", 0), ("/a", 0), "NO_MAP"]


def test_a_childs_maps_hide_its_parents(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x3000, 0, "/a"), M.fork(20, 6, 5),
                      M.map(30, 6, 0x11000, 0x1000, 0, "/own"), M.fork(40, 7, 6),
                      *[M.sample(50, pid, addr) for pid in (5, 6, 7)
                        for addr in (0x10000, 0x11000, 0x12000)],
                      M.sample(25, 6, 0x11000))
    assert (places(*samples) == [("/a", 0), ("/a", 0x1000), ("/a", 0x2000)]
            + 2 * [("/a", 0), ("/own", 0), ("/a", 0x2000)] \
        + [("/a", 0x1000)])


def test_a_child_of_a_child_without_maps(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a"), M.fork(20, 6, 5),
                      M.map(25, 5, 0x10000, 0x1000, 0, "/late"), M.fork(30, 7, 6), M.fork(40, 8, 7),
                      M.map(50, 8, 0x20000, 0x1000, 0, "/own"),
                      *[M.sample(60, pid, 0x10000) for pid in (5, 6, 7, 8)])
    assert places(*samples) == [("/late", 0), ("/a", 0), ("/a", 0), ("/a", 0)]


def test_exec_drops_maps(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/old"), M.comm(20, 5, "new", exec=True),
                      M.map(30, 5, 0x20000, 0x1000, 0, "/new"), M.sample(15, 5, 0x10000),
                      M.sample(25, 5, 0x10000), M.sample(35, 5, 0x10000), M.sample(35, 5, 0x20000))
    assert places(*samples) == [("/old", 0), "NO_MAP", "NO_MAP", ("/new", 0)]


def test_a_rename_drops_no_maps(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/old"), M.comm(20, 5, "new"),
                      M.sample(25, 5, 0x10000))
    assert places(*samples) == [("/old", 0)]


def test_a_pid_is_used_again(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/shell"), M.fork(20, 6, 5),
                      M.comm(21, 6, "one", exec=True), M.map(22, 6, 0x20000, 0x1000, 0, "/one"),
                      M.exit(30, 6), M.sample(31, 6, 0x20000), M.fork(40, 6, 5),
                      M.sample(45, 6, 0x20000), M.sample(45, 6, 0x10000), M.sample(25, 6, 0x20000))
    assert places(*samples) == [("/one", 0), "NO_MAP", ("/shell", 0), ("/one", 0)]


def test_a_synthesized_fork_shares_nothing(resolve):
    samples = resolve(M.map(0, 5, 0x10000, 0x1000, 0, "/parent"), M.fork(0, 6, 5, misc=FORK_EXEC),
                      M.map(0, 6, 0x20000, 0x1000, 0, "/own"), M.fork(0, 7, 5),
                      M.sample(10, 6, 0x10000), M.sample(10, 6, 0x20000), M.sample(10, 7, 0x10000))
    assert places(*samples) == ["NO_MAP", ("/own", 0), "NO_MAP"]


def test_a_thread_shares_its_processs_maps(resolve):
    """After the leader's exit, too."""
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a"), M.fork(20, 5, 5, tid=7),
                      M.exit(30, 5), M.map(40, 5, 0x20000, 0x1000, 0, "/b"),
                      M.fork(50, 5, 5, tid=8, ptid=7), M.sample(60, 5, 0x10000, tid=8),
                      M.sample(60, 5, 0x20000, tid=8), M.sample(60, 5, 0x20000, tid=7))
    assert places(*samples) == [("/a", 0), ("/b", 0), ("/b", 0)]


def test_synthesized_at_the_end(resolve):
    samples = resolve(M.sample(10, 5, 0x10000), M.map(0, 5, 0x10000, 0x1000, 0, "/a"),
                      M.comm(0, 5, "a"))
    assert (places(*samples), comms(*samples)) == ([("/a", 0)], ["a"])


def test_without_times_the_offset_decides(resolve):
    m = Maker(attr(TYPE, flags=()))
    samples = resolve(m.map(0, 5, 0x10000, 0x1000, 0, "/a"), m.comm(0, 5, "one"),
                      m.sample(300, 5, 0x10000), m.comm(0, 5, "two", exec=True),
                      m.sample(200, 5, 0x10000), m.map(0, 5, 0x10000, 0x1000, 0, "/b"),
                      m.sample(100, 5, 0x10000), maker=m)
    assert (places(*samples), comms(*samples)) == ([("/a", 0), "NO_MAP", ("/b", 0)],
                                                   ["one", "two", "two"])


def test_without_times_in_compressed_records(resolve):
    m = Maker(Attr(sample_type="IP|TID"))
    samples = resolve(zstd_records([m.map(0, 5, 0x10000, 0x1000, 0, "/a"), m.comm(0, 5, "one"),
                                    m.sample(0, 5, 0x10000), m.comm(0, 5, "two"),
                                     m.map(0, 5, 0x10000, 0x1000, 0, "/b"),
                                    m.sample(0, 5, 0x10000)]), maker=m,
                      features={27: f.compressed()})
    assert (places(*samples), comms(*samples)) == ([("/a", 0), ("/b", 0)], ["one", "two"])


def test_records_without_a_time_keep_their_place_in_the_file(tmp_path):
    """One of two events has no times."""
    timed, untimed = Maker(attr("IDENTIFIER|IP|TID|TIME")), Maker(attr("IDENTIFIER|IP|TID"))
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(timed.attr, [1]), (untimed.attr, [2])], records=[
        sample(untimed.attr, pid=5, tid=5, id=2),
        r.comm(5, 5, "one", sid=sample_id(timed.attr, time=100, id=1)),
        sample(untimed.attr, pid=5, tid=5, id=2),
        r.comm(5, 5, "three", sid=sample_id(timed.attr, time=200, id=1)),
        r.comm(5, 5, "two", sid=sample_id(timed.attr, time=140, id=1)),
        sample(timed.attr, pid=5, tid=5, time=150, id=1),
        sample(untimed.attr, pid=5, tid=5, id=2),
        r.comm(5, 5, "four", sid=sample_id(untimed.attr, id=2)),
        sample(untimed.attr, pid=5, tid=5, id=2),
        sample(timed.attr, pid=5, tid=5, time=199, id=1),
        sample(timed.attr, pid=5, tid=5, time=201, id=1),
        r.comm(5, 5, "five", sid=sample_id(timed.attr, time=300, id=1))]).build("<"))
    expected = [None, "one", "two", "three", "four", "two", "four"]
    assert comms(*dump(path)[0]) == expected


def test_records_of_the_same_time_follow_the_file(resolve):
    samples = resolve(M.comm(100, 5, "one"), M.sample(100, 5, 1), M.comm(100, 5, "two"),
                      M.sample(100, 5, 1))
    assert comms(*samples) == ["one", "two"]


def test_old_maps(resolve):
    """MMAP has no inode and no prot; RHEL 7's MMAP2 has no prot."""
    samples = resolve(r.mmap(5, 5, 0x10000, 0x1000, 0x3000, "/a", misc=USER, sid=M.sid(10)),
                      r.mmap(5, 5, 0x20000, 0x1000, 0, "/data", misc=USER | DATA, sid=M.sid(10)),
                      r.mmap2_rhel7(5, 5, 0x30000, 0x1000, 0x100, 8, 1, 77, 0, "/lib64/libc.so",
                                    sid=M.sid(10)),
                      *[M.sample(20, 5, addr) for addr in (0x10001, 0x20000, 0x30000)])
    assert places(*samples) == [("/a", 0x3001), ("/data", 0, "data"), ("/lib64/libc.so", 0x100)]


def test_an_empty_map_maps_nothing(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a"), M.map(20, 5, 0x10000, 0, 0, "/empty"),
                      M.sample(30, 5, 0x10000))
    assert places(*samples) == [("/a", 0)]


# --- kernel ---------------------------------------------------------------------------------------

TEXT_AT = 0xffffffff81000000


def test_the_kernel_and_its_modules(resolve):
    samples = resolve(M.kernel(TEXT_AT, 0x1000000, TEXT_AT),
                      M.kernel(0xffffffffc0000000, 0x5000, 0, "/lib/modules/6.1/kernel/a.ko"),
                      M.kernel(0xffffffffc0005000, 0x1000, 0, "[b]"),
                      *[M.sample(10, 5, ip, misc=KERNEL)
                        for ip in (TEXT_AT + 1, 0xffffffffc0000010, 0xffffffffc0005001,
                                   0xffffffffc0006000)],
                      M.sample(10, 5, TEXT_AT), options=["-a"])
    assert places(*samples) == [("[kernel.kallsyms]", TEXT_AT + 1),
                                ("/lib/modules/6.1/kernel/a.ko", 0x10), ("[b]", 1), "NO_MAP",
                                "NO_PID"]
    images = [line for line in resolve.others if line.startswith("image")]
    assert images == ['image 0 KERNEL "[kernel.kallsyms]" id=- from=0 symbol=_text',
                      'image 1 MODULE "/lib/modules/6.1/kernel/a.ko" id=- from=0',
                      'image 2 MODULE "[b]" id=- from=0']


@pytest.mark.parametrize("turned", [False, True])
def test_a_kernel_of_no_length_ends_at_the_next_map(turned, resolve):
    records = [M.kernel(TEXT_AT, 0, TEXT_AT, "[kernel.kallsyms]_stext"),
               M.kernel(0xffffffffc0000000, 0x5000, 0, "[a]")]
    samples = resolve(*(reversed(records) if turned else records),
                      *[M.sample(10, 5, ip, misc=KERNEL) for ip in (
        TEXT_AT + 1, 0xffffffffbfffffff, 0xffffffffc0000000, 0xffffffffc0005000)])
    assert places(*samples) == [("[kernel.kallsyms]", TEXT_AT + 1),
                                ("[kernel.kallsyms]", 0xffffffffbfffffff), ("[a]", 0), "NO_MAP"]


def test_hidden_kernel_addresses(resolve):
    assert (places(*resolve(M.kernel(0, 2**64 - 1, 0), M.sample(10, 5, TEXT_AT, misc=KERNEL)))
            == ["KPTR_RESTRICT"])


def test_names_of_the_kernel_in_old_files(resolve):
    resolve(M.kernel(TEXT_AT, 0, TEXT_AT, "[kernel.kallsyms._stext]"), options=["-a"])
    assert resolve.others[0] == 'image 0 KERNEL "[kernel.kallsyms]" id=- from=0 symbol=_stext'


def test_ksymbols_come_and_go(resolve):
    """Addresses are used again within a recording."""
    at = 0xffffffffc0100000
    samples = resolve(M.kernel(TEXT_AT, 2**64 - 1 - TEXT_AT, TEXT_AT),
                      M.ksymbol(10, at, 0x100, "bpf_prog_1_a"),
                      M.ksymbol(20, at, 0x100, "bpf_prog_1_a", flags=1),
                      M.ksymbol(30, at, 0x80, "bpf_prog_2_b"),
                      *[M.sample(time, 5, at + 4, misc=KERNEL) for time in (5, 15, 25, 35)],
                      M.sample(35, 5, at + 0x80, misc=KERNEL),
                      M.ksymbol(50, at, 0x80, "ftrace", kind=2), options=["-a"])
    kernel = ("[kernel.kallsyms]", at + 4)
    assert places(*samples) == [kernel, ("bpf_prog_1_a", 4), kernel, ("bpf_prog_2_b", 4),
                                ("[kernel.kallsyms]", at + 0x80)]
    assert ([line.split()[2] for line in resolve.others if line.startswith("image")]
            == ["KERNEL", "BPF", "BPF", "KERNEL_CODE"])


def test_ids_of_bpf_programs(resolve):
    """By the tag; two programs of the same tag can't be told apart."""
    tags = [bytes(range(8)), bytes(range(8, 16)), bytes(8)]
    names = [f"bpf_prog_{tag.hex()}_name" for tag in tags]
    resolve(*[M.ksymbol(1, 0x1000 * i, 64, name) for i, name in enumerate([*names, "bpf_prog_1"])],
            *[r.bpf_event(kind, 0, number, tags[i], sid=M.sid(2)) for kind, number, i in (
                (1, 77, 0), (1, 78, 1), (1, 79, 1), (2, 80, 2))], options=["-a"])
    images = [line.split(" from=0")[1] for line in resolve.others if line.startswith("image")]
    assert images == [" bpf=77", "", "", ""]


def test_text_pokes_are_counted(resolve):
    resolve(r.text_poke(TEXT_AT, b"\x90", b"\xcc", sid=M.sid(10)), M.sample(20, 5, 1),
            options=["-a"])
    assert " text_pokes=1 " in resolve.others[-1]


def test_guests(resolve):
    samples = resolve(M.kernel(TEXT_AT, 0x1000000, TEXT_AT),
                      M.kernel(TEXT_AT, 0x2000000, TEXT_AT, "[guest.kernel.kallsyms]_text",
                               misc=GUEST_KERNEL),
                      M.kernel(TEXT_AT, 0x3000000, TEXT_AT, "[guest.kernel.kallsyms.77]_text",
                               misc=GUEST_KERNEL),
                      M.sample(10, 5, TEXT_AT + 0x2500000, misc=GUEST_KERNEL),
                      M.sample(10, 77, TEXT_AT + 0x2500000, misc=GUEST_KERNEL),
                      M.sample(10, 5, TEXT_AT + 0x1500000, misc=GUEST_KERNEL),
                      M.sample(10, 5, TEXT_AT + 0x1500000, misc=KERNEL),
                      M.sample(10, 5, 1, misc=GUEST_USER), M.sample(10, 5, 1, misc=HYPERVISOR))
    assert places(*samples) == ["NO_MAP", ("[guest.kernel.kallsyms.77]", TEXT_AT + 0x2500000),
                                ("[guest.kernel.kallsyms]", TEXT_AT + 0x1500000), "NO_MAP",
                                "NO_PID", "HYPERVISOR"]


# --- callchains and branches ----------------------------------------------------------------------

def test_markers_set_the_mode_of_a_chain(resolve):
    chain = [CONTEXT_KERNEL, TEXT_AT, TEXT_AT + 8, CONTEXT_USER, 0x10000, 0x10004, CONTEXT_HV, 7,
             CONTEXT_GUEST_KERNEL, 8, CONTEXT_GUEST_USER, 9]
    sample, = resolve(M.kernel(TEXT_AT, 0x1000, TEXT_AT), M.map(0, 5, 0x10000, 0x1000, 0, "/a"),
                      M.sample(10, 5, TEXT_AT, misc=KERNEL, callchain=chain))
    assert [" ".join(line.split()[:3]) + (" return" if " return" in line else "")
            for line in sample.places] == [
        f"ip KERNEL {TEXT_AT:#x}", f"chain KERNEL {TEXT_AT:#x}",
        f"chain KERNEL {TEXT_AT + 8:#x} return", "chain USER 0x10000", "chain USER 0x10004 return",
        "chain HYPERVISOR 0x7", "chain GUEST_KERNEL 0x8", "chain GUEST_USER 0x9"]
    assert [place(sample, i) for i in (1, 4, 5)] == [("[kernel.kallsyms]", TEXT_AT), ("/a", 4),
                                                     "HYPERVISOR"]


def test_a_cookie_is_no_address(resolve):
    chain = [CONTEXT_KERNEL, TEXT_AT, CONTEXT_DEFERRED, 4711]
    sample, = resolve(M.sample(10, 5, TEXT_AT, misc=KERNEL, callchain=chain))
    assert len(sample.places) == 2


def test_a_deferred_chain_is_in_its_samples_place(resolve):
    """It is recorded later, when others have the process's addresses; two samples may share it."""
    def waiting(cookie):
        return [CONTEXT_KERNEL, TEXT_AT, CONTEXT_DEFERRED, cookie]

    samples = resolve(
        M.map(0, 5, 0x10000, 0x1000, 0, "/a"), M.sample(10, 5, 1, callchain=waiting(4711)),
        M.sample(11, 5, 1, callchain=waiting(4711)), M.sample(12, 5, 1, callchain=waiting(4712)),
        M.map(15, 5, 0x10000, 0x1000, 0, "/b"),
        r.callchain_deferred(4711, [CONTEXT_USER, 0x10010, 0x10020], sid=M.sid(20, 5, 5)))
    assert [[place(sample, i) for i in range(2, len(sample.places))] for sample in samples] == [
        [("/a", 0x10), ("/a", 0x20)], [("/a", 0x10), ("/a", 0x20)], []]
    assert [line.split()[1:4] for line in samples[0].places[2:]] == [
        ["USER", "0x10010", "image=0"], ["USER", "0x10020", "return"]]


def test_a_chain_without_a_marker_has_the_samples_mode(resolve):
    sample, = resolve(M.map(0, 5, 0x10000, 0x1000, 0, "/a"),
                      M.sample(10, 5, 0x10000, callchain=[0x10000, 0x10010]))
    assert [place(sample, i) for i in range(3)] == [("/a", 0), ("/a", 0), ("/a", 0x10)]


def test_branches(resolve):
    m = Maker(attr("IP|TID|TIME|BRANCH_STACK"))
    entries = [branch(0x10004, 0x10008), branch(0x10010, TEXT_AT + 1)]
    with_branches = sample(m.attr, pid=5, tid=5, time=10, ip=0x10000,
                           branch_stack={"entries": entries})
    found, = resolve(m.kernel(TEXT_AT, 0x1000, TEXT_AT), m.map(0, 5, 0x10000, 0x1000, 0, "/a"),
                     with_branches, maker=m)
    assert [line.split()[0] for line in found.places] == ["ip", "from", "to", "from", "to"]
    assert [place(found, i) for i in range(1, 5)] == [("/a", 4), ("/a", 8), ("/a", 0x10),
                                                      ("[kernel.kallsyms]", TEXT_AT + 1)]


# --- images ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("path, kind", [
    ("/bin/a", "FILE"), ("/bin/a (deleted)", "DELETED"), ("/memfd:jit (deleted)", "MEMFD"),
    ("//anon", "ANONYMOUS"),
    ("/dev/zero (deleted)", "ANONYMOUS"), ("/anon_hugepage (deleted)", "ANONYMOUS"),
    ("[anon:dalvik]", "ANONYMOUS"), ("/SYSV00000000", "ANONYMOUS"),
    ("[heap]", "HEAP"), ("[stack]", "STACK"), ("[stack:77]", "STACK"), ("[vdso]", "VDSO"),
    ("[vsyscall]", "VSYSCALL"), ("[vvar]", "SPECIAL"),
    ("[uprobes]", "SPECIAL"), ("anon_inode:[perf_event]", "SPECIAL"), ("relative", "FILE"),
    ("", "ANONYMOUS")])
def test_kinds(path, kind, resolve):
    sample, = resolve(
        M.map(10, 5, 0x10000, 0x1000, 0x10000 if path == "//anon" else 0, path, inode=1),
        M.sample(20, 5, 0x10000), options=["-a"])
    assert resolve.others[0].startswith(f'image 0 {kind} "{path}"')
    assert place(sample)[0] == path


def test_huge_pages_are_no_file(resolve):
    resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/dev/hugepages/a", flags=PRIVATE | HUGETLB),
            options=["-a"])
    assert resolve.others[0].startswith("image 0 ANONYMOUS")


def test_an_image_is_a_path_and_a_file(resolve):
    """A rebuilt program is another image under the same path."""
    resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a", inode=1),
            M.map(10, 6, 0x10000, 0x1000, 0, "/a", inode=1),
            M.map(10, 7, 0x10000, 0x1000, 0, "/a", inode=2),
            M.map(10, 7, 0x20000, 0x1000, 0, "/b", inode=1), options=["-a"])
    assert ([line.split()[3] for line in resolve.others if line.startswith("image")]
            == ['"/a"', '"/a"', '"/b"'])


def generations(*generations):
    return [r.mmap2(5, 5, 0x10000 * (i + 1), 0x1000, 0, 8, 1, 9, n, RX, PRIVATE, "/a",
                    sid=M.sid(10 + i)) for i, n in enumerate(generations)]


@pytest.mark.parametrize("given, images", [
    ((0, 7, 0, 7), [7]), ((7, 0, 7), [7]), ((0, 0), [0]), ((0, 7, 8, 0), [7, 8]),
    ((7, 8, 0), [7, 8])])
def test_maps_of_a_recorder_have_no_generation(given, images, resolve):
    """/proc/PID/maps has none: they are of the file that the kernel's maps are of."""
    resolve(*generations(*given), options=["-a"],
            features={2: f.build_ids([(2**32 - 1, ID, "/a", USER)])})
    found = [line for line in resolve.others if line.startswith("image")]
    assert [int(re.search(r"inode=(\S+)", line)[1].split(":")[-1]) for line in found] == images
    assert ids(resolve) == [("/a", *((ID.hex(), "2") if len(images) == 1 else ("-", "0")))
                            for _ in images]


ID, OTHER = bytes(range(1, 21)), bytes(range(101, 121))


def ids(resolve):
    return [re.search(rf'{TEXT} id=(\S+) from=(\d)', line).groups() for line in resolve.others
            if line.startswith("image")]


def test_build_ids_of_maps(resolve):
    m = Maker(attr(TYPE, flags=("sample_id_all", "build_id")))
    resolve(r.mmap2_build_id(5, 5, 0x10000, 0x1000, 0, ID, RX, PRIVATE, "/a", sid=m.sid(1)),
            r.mmap2_build_id(5, 5, 0x20000, 0x1000, 0, ID[:8], RX, PRIVATE, "/b", sid=m.sid(1)),
            r.mmap2_build_id(5, 5, 0x30000, 0x1000, 0, bytes(20), RX, PRIVATE, "[vdso]",
                             sid=m.sid(1)), maker=m, options=["-a"],
            features={2: f.build_ids([(0, OTHER, "/a", USER)])})
    assert ids(resolve) == [("/a", ID.hex(), "1"), ("/b", ID[:8].hex(), "1"), ("[vdso]", "-", "0")]


def test_build_ids_of_the_header(resolve):
    resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a"), M.map(10, 5, 0x20000, 0x1000, 0, "/none"),
            M.kernel(TEXT_AT, 0x1000, TEXT_AT), M.map(10, 5, 0x30000, 0x1000, 0, "/kernel"),
            options=["-a"],
            features={2: f.build_ids([(2**32 - 1, ID, "/a", USER),
                                      (2**32 - 1, OTHER, "[kernel.kallsyms]", KERNEL),
                                      (2**32 - 1, OTHER, "/kernel", KERNEL)])})
    assert ids(resolve) == [("/a", ID.hex(), "2"), ("/none", "-", "0"),
                            ("[kernel.kallsyms]", OTHER.hex(), "2"), ("/kernel", "-", "0")]


def test_a_build_id_of_a_path_with_two_files_is_not_used(resolve):
    resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/a", inode=1),
            M.map(10, 5, 0x20000, 0x1000, 0, "/a", inode=2), options=["-a"],
            features={2: f.build_ids([(2**32 - 1, ID, "/a", USER)])})
    assert ids(resolve) == [("/a", "-", "0"), ("/a", "-", "0")]


def test_build_ids_in_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    path.write_bytes(Pipe([r.header_attr(ATTR, [1]), r.header_build_id(2**32 - 1, ID, "/a"),
                           M.map(10, 5, 0x10000, 0x1000, 0, "/a"),
                           M.sample(20, 5, 0x10000)]).build("<"))
    samples, others = dump(path, "-a")
    assert places(*samples) == [("/a", 0)] and f'"/a" id={ID.hex()} from=2' in others[0]


@pytest.mark.parametrize("maj, inode", [(254, 5), (259, 5), (8, 2**40 + 5)])
def test_an_inode_that_is_marked_as_a_build_id(maj, inode, resolve):
    """Linux 6.18 leaves the bit of another event's record in this one's, whose event does not ask
    for build ids."""
    blob = encode(r.mmap2(5, 5, 0x10000, 0x1000, 0, maj, 3, inode, 99, RX, PRIVATE, "/a", misc=USER,
                          sid=M.sid(10)), Wire("<"))
    marked = blob[:4] + (USER | BUILD_ID).to_bytes(2, "little") + blob[6:]
    resolve(lambda wire: marked, options=["-a"],
            features={2: f.build_ids([(2**32 - 1, ID, "/a", USER)])})
    assert resolve.others[0] == f'image 0 FILE "/a" id={ID.hex()} from=2 inode={maj}:3:{inode}:99'


def test_text_that_was_copied_to_huge_pages(resolve):
    """An anonymous executable map over a file's text is that file's, until another one is there; in
    children as well."""
    samples = resolve(M.map(10, 5, 0x10000, 0x10000, 0, "/bin/a"),
                      M.map(20, 5, 0x12000, 0x2000, 0x12000, "//anon"), M.fork(30, 6, 5),
                      M.map(40, 5, 0x12000, 0x1000, 0, "/anon_hugepage (deleted)"),
                      M.map(50, 5, 0x30000, 0x1000, 0x30000, "//anon"),
                      M.map(60, 5, 0x12800, 0x10, 0, "/bin/b"),
                      *[M.sample(70, 5, addr)
                        for addr in (0x11fff, 0x12000, 0x13000, 0x30000, 0x12800)],
                      M.sample(70, 6, 0x12000), M.sample(15, 5, 0x12000))
    assert places(*samples) == [("/bin/a", 0x1fff), ("/bin/a", 0x2000, "remapped"),
                                ("/bin/a", 0x3000, "remapped"), ("//anon", 0x30000),
                                ("/bin/b", 0), ("/bin/a", 0x2000, "remapped"), ("/bin/a", 0x2000)]


def test_data_is_not_remapped_text(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/lib", prot=RW, misc=USER | DATA),
                      M.map(20, 5, 0x10000, 0x1000, 0x10000, "//anon"), M.sample(30, 5, 0x10000))
    assert places(*samples) == [("//anon", 0x10000)]


def test_remapped_text_ends_with_exec(resolve):
    samples = resolve(M.map(10, 5, 0x10000, 0x1000, 0, "/bin/a"), M.comm(20, 5, "b", exec=True),
                      M.map(30, 5, 0x10000, 0x1000, 0x10000, "//anon"), M.sample(40, 5, 0x10000))
    assert places(*samples) == [("//anon", 0x10000)]


# --- other records --------------------------------------------------------------------------------

def test_lost_maps(resolve):
    samples = resolve(M.comm(0, 5, "a"), M.sample(10, 5, 1), r.lost(1, 3, sid=M.sid(20)),
                      M.sample(30, 5, 1), M.sample(30, 9, 1), M.sample(15, 5, 1), options=["-a"])
    assert (places(*samples) == ["NO_MAP", "MAPS_LOST", "NO_PID", "NO_MAP"]
            and " lost=3 " in resolve.others[-1])


def test_namespaces(resolve):
    links = [(4, 4026531840 + i) for i in range(7)]
    resolve(M.comm(0, 5, "a"), r.namespaces(5, 5, links, sid=M.sid(0)),
            r.namespaces(5, 5, links[:5] + [(4, 77), links[6]], sid=M.sid(20)), M.comm(0, 6, "b"),
            r.namespaces(6, 6, links[:3], sid=M.sid(0)), options=["-a"])
    assert ([line.split()[-1] for line in resolve.others if line.startswith("task")]
            == ["mnt=77", "mnt=0"])


def test_damaged_records_are_counted(resolve):
    damaged = r.record(10, [bytes(range(1, 41))], USER)
    samples = resolve(damaged, M.comm(0, 5, "a"), M.sample(10, 5, 1), options=["-a"])
    assert comms(*samples) == ["a"] and " damaged=1 " in resolve.others[-1]


def test_directories(tmp_path):
    """The side-band of data.N is in its time."""
    path = tmp_path / "perf.data"
    path.mkdir()
    for name, content in Directory(File(attrs=[(ATTR, [1])],
                                        records=[M.map(0, 5, 0x10000, 0x1000, 0, "/a"),
                                                 M.comm(0, 5, "a")]),
                                   {"data.0": [M.sample(10, 5, 0x10000), M.sample(30, 5, 0x10000)],
                                    "data.1": [M.comm(20, 5, "b", exec=True),
                                               M.map(25, 5, 0x10000, 0x1000, 0, "/b")]}).build(
                                                   "<").items():
        (path / name).write_bytes(content)
    samples, _ = dump(path)
    assert (places(*samples), comms(*samples)) == ([("/a", 0), ("/b", 0)], ["a", "b"])


@pytest.mark.parametrize("order", "<>")
def test_both_byte_orders(order, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(ATTR, [1])],
                          records=[M.map(0, 5, 0x10000, 0x1000, 0x2000, "/a"), M.fork(5, 6, 5),
                                   M.comm(7, 6, "b"),
                                   M.sample(10, 6, 0x10001, callchain=[CONTEXT_USER, 0x10002])],
                          features={2: f.build_ids([(2**32 - 1, ID, "/a", USER)])}).build(order))
    samples, others = dump(path, "-a")
    assert ((place(samples[0]), place(samples[0], 1), samples[0].comm)
            == (("/a", 0x2001), ("/a", 0x2002), "b") and ID.hex() in others[0])


@pytest.mark.parametrize("path", sorted(path for path in (FIXTURES / "perf").iterdir()
                                        if path.suffix == ".data"), ids=lambda path: path.stem)
def test_batches_teach_the_same(path):
    """pd_history_learn_next()."""
    learned = dump(path, "-a")
    assert learned == dump(path, "-a", "-b") and learned[1]
