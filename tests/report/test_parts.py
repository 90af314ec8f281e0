"""Samples read by several threads, each a part of the recording: the same bytes as by one."""
import array
import json
import random
import struct

import pytest

from conftest import TOOLS
from known_recording import CLOCK, FAULTS, KTEXT, Recording
from perfdata.case import attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample
from perfdata.wire import slist
from profiles import preport
from recorder import run_measured

TIMES = 100         # a part has at least 25,000 records
READ = attr("IP|TID|TIME|READ|IDENTIFIER", type=0, config=1, sample_period=1, read_format="ID")
FORMS = ("top", "tree", "folded", "flamegraph", "pprof", "csv", "callgrind", "svg",
         "firefox", "speedscope", "chrome")


def a_recording():
    """Records that come again and again; and, in the middle and at the end, others."""
    chance = random.Random(5)
    it = Recording()
    it.map_kernel()
    for pid in range(10, 30):
        it.task(pid)
    head, it.records = it.records, []
    for i in range(1500):
        chain = [chance.randrange(0x1000, 0x3000, 64) for _ in range(chance.randrange(1, 8))]
        kernel = [KTEXT + 16 * chance.randrange(50)] * (i % 3 == 0)
        it.sample(10 + 7919 * i % 1500, 10 + i % 20, i + 1, *kernel, *chain, cpu=i % 4)
    often, it.records = it.records, []
    for i in range(300):
        it.sample(2000 + i, 40 + i, 3, 0x1000 + 16 * i, event=FAULTS if i % 2 else CLOCK)
    once = it.records
    it.records = [*head, *often * (TIMES // 2), *once, *often * (TIMES // 2), *once[:50]]
    return it


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("parts") / "perf.data"
    path.write_bytes(a_recording().file())
    return path


@pytest.mark.parametrize("form", FORMS)
def test_threads_give_the_same_bytes(form, large):
    want = preport("-f", form, "--addrs", "-j1", large)
    assert len(want) > 1000
    for jobs in ("-j2", "-j3", "-j16"):
        assert preport("-f", form, "--addrs", jobs, large) == want


def test_callgrind_numbers_objects_alike(tmp_path):
    """The command line is a string, too, the first cut stack is in the last part, and other samples
    are in no file."""
    it = Recording()
    it.map_kernel()
    it.task(10)
    head, it.records = it.records, []
    for i in range(1500):
        it.sample(10 + i, 10, 1, 0x1000 + 16 * (i % 50))
    often, it.records = it.records, []
    for i in range(20):
        it.sample(3001 + i, 99, 1, 0x1000 + 16 * i)
    it.sample(4000, 10, 1, *range(0x1000, 0x1000 + 16 * 127, 16))
    it.records = [*head, *often * 60, *it.records]
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(CLOCK, [1]), (FAULTS, [2])], records=it.records,
                          features={NUMBER["CMDLINE"]: slist(["app"])}).build("<"))
    assert (preport("-f", "callgrind", "-j1", path) == preport("-f", "callgrind", "-j2", path) ==
            preport("-f", "callgrind", "-j3", path))


@pytest.mark.parametrize("shape", ("--parent=*one+0x*", "--cut-after=*two*", "--max-stack=3",
                                   "--dso=one", "--fold-recursion", "--group=pid,tid",
                                   "--weight=samples", "--time=0.0000005,0.000001"))
def test_threads_shape_stacks_alike(shape, large):
    whole = preport("-f", "folded", "--addrs", "-j1", large)
    of_functions = shape.startswith(("--cut-after", "--max-stack", "--fold-recursion"))
    for form in ("folded", "speedscope" if of_functions else "pprof", "flamegraph"):
        want = preport("-f", form, "--addrs", "-j1", shape, large)
        assert len(want) > 500 and (want != whole or shape == "--fold-recursion")
        assert preport("-f", form, "--addrs", "-j5", shape, large) == want


@pytest.mark.parametrize("form", ("firefox", "speedscope", "chrome"))
def test_the_order_of_the_records_is_not_seen(form, tmp_path):
    """Functions and stacks are in the order of time, as the samples."""
    chance = random.Random(3)
    it = Recording()
    it.map_kernel()
    for pid in range(10, 20):
        it.task(pid)
    head, it.records = it.records, []
    for i in range(500):
        chain = [chance.randrange(0x1000, 0x3000, 64) for _ in range(chance.randrange(1, 8))]
        it.sample(100 + i // 2, 10 + i % 10, 7, *chain, cpu=i % 4,
                  event=FAULTS if i % 3 else CLOCK)
    samples = it.records
    path = tmp_path / "perf.data"
    outputs = []
    for order in (samples, [one for cpu in range(4) for one in samples[cpu::4]]):
        it.records = [*head, *order]
        path.write_bytes(it.file())
        outputs.append(preport("-f", form, "--addrs", path))
    assert outputs[0] == outputs[1]


UNTIMED = attr("IP|TID|PERIOD|IDENTIFIER", type=1, config=1, sample_period=7)
NO_TIME = 0xffffffff << 32      # in samples of perf record --off-cpu


def test_samples_without_a_time_have_that_of_the_one_before(tmp_path):
    """Which may be in another part; the first ones have none."""
    it = a_recording()
    timed, it.records = it.records, []
    for i in range(20):
        it.sample(NO_TIME + i if i % 2 else 0, 10 + i, 5, 0x1010)
    untimed = it.records + [sample(UNTIMED, misc=2, pid=10 + i, tid=10 + i, ip=0x1010,
                                   identifier=3, period=7) for i in range(20)]
    it.records = [record for i in range(0, len(timed), 1000)
                  for record in (*timed[i:i + 1000], *untimed[i // 1000 % 40:])]
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(CLOCK, [1]), (FAULTS, [2]), (UNTIMED, [3])],
                          records=it.records).build())
    for form in ("chrome", "firefox", "speedscope", "flamegraph"):
        want = preport("-f", form, "--addrs", "-j1", path)
        for jobs in ("-j2", "-j5"):
            assert preport("-f", form, "--addrs", jobs, path) == want, (form, jobs)
    samples = [event for event in json.loads(preport("-f", "chrome", path))["traceEvents"]
               if event["ph"] == "i" and event["name"].startswith("task-clock")]
    assert len(samples) > 2000 and sum(event["ts"] == 0 for event in samples) < 100


def test_threads_with_little_memory_give_the_same_bytes(large):
    """Stacks for which there is no memory are counted together."""
    want = preport("-f", "folded", "--memory=1M", "-j1", large, status=1)
    assert b"[small]" in want
    assert preport("-f", "folded", "--memory=1M", "-j3", large, status=1) == want


def test_all_threads_together_have_twice_the_memory_at_most(tmp_path):
    """Each part has other stacks, which need more than it may have."""
    depth, many = 60, 110_000
    it = Recording()
    it.map(2, 10, 0x1000, 0xfffff000, "/bin/app")
    it.sample(10, 10, 1, *range(0x1000, 0x1000 + depth))
    file = it.file()
    at, size = struct.unpack_from("<QQ", file, 40)
    chain = file.index(struct.pack("<3Q", 0x1000, 0x1001, 0x1002))
    first = file.rindex(struct.pack("<I", 9), at, chain)
    assert at + size == len(file)
    chains = array.array("Q", array.array("I", random.Random(7).randbytes(4 * depth * many)))
    chains = chains.tobytes()
    data = bytearray(file[:first] + b"".join(
        file[first:chain] + chains[i:i + 8 * depth] + file[chain + 8 * depth:]
        for i in range(0, len(chains), 8 * depth)))
    struct.pack_into("<Q", data, 48, len(data) - at)
    path = tmp_path / "perf.data"
    path.write_bytes(data)

    def peak(jobs):
        done, kib = run_measured([TOOLS / "preport", "--no-symbols", "-f", "folded", jobs,
                                  "--memory=64M", path], tmp_path)
        assert done.returncode == 1 and b"[small]" in done.stdout
        return kib
    assert peak("-j8") < peak("-j1") * 4.7


def test_damage_in_a_later_part_is_reported(large, tmp_path):
    data = bytearray(large.read_bytes())
    at = len(data) * 3 // 4
    data[at:at + 4000] = b"\xff" * 4000
    path = tmp_path / "damaged.data"
    path.write_bytes(data)
    want = preport("-f", "folded", "-j1", path, status=1)
    assert preport("-f", "folded", "-j3", path, status=1) == want


def test_counters_in_samples_are_read_by_one_thread(tmp_path):
    """A counter's value is compared with the last one, which may be in another part."""
    number = 50_100
    records = [sample(READ, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, identifier=1,
                      read={"value": 5 * (i + 1), "id": 1}) for i in range(number)]
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(READ, [1])], records=records).build())
    for jobs in ("-j1", "-j2"):
        assert preport("-f", "folded", jobs, path) == f":7;[unknown] {5 * number}\n".encode()
