"""Samples with the addresses of an earlier one: what was known of that one holds for them only
while thread, mode, maps and chain are the same."""
import pytest

from parquet_reader import read_parquet
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from test_columns import rows, write

ADDRESS, CALLER, OTHER = 0x400100, 0x400200, 0x400300
KERNEL_MARK, USER_MARK = 2**64 - 128, 2**64 - 512
MODULE = 0xffffffffc0000000
EVENT = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME|CALLCHAIN", flags=("sample_id_all",))
LONE = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME", flags=("sample_id_all",))


def mapped(time, name, pid=7):
    return r.mmap2(pid, pid, 0x400000, 0x1000, 0, 8, 1, 99, 0, 5, 2, name,
                   sid=sample_id(EVENT, pid=pid, tid=pid, time=time))


def module(time, name, pid=-1, misc=1):
    return r.mmap2(pid, pid, MODULE, 0x1000, 0, 8, 1, 99, 0, 5, 2, name, misc=misc,
                   sid=sample_id(EVENT, pid=pid, tid=pid, time=time))


def alone(time, pid, misc, ip=MODULE + 0x100):
    return sample(LONE, misc, ip=ip, pid=pid, tid=pid, time=time)


def hit(time, misc=2, pid=7, tid=7, ip=ADDRESS, chain=(USER_MARK, ADDRESS, CALLER)):
    return sample(EVENT, misc, ip=ip, pid=pid, tid=tid, time=time, callchain=list(chain))


@pytest.fixture(scope="module")
def read(tmp_path_factory, run_pdecode):
    """Function: for each sample of these records its comm, the kind and path of its frame, and
    the offsets of its stack, or another column of its frames."""
    def read(*records, event=EVENT, column="offset"):
        place = tmp_path_factory.mktemp("repeated")
        path = place / "r.data"
        path.write_bytes(File(attrs=[(event, [1])], records=records).build("<"))
        tables = {name: rows(read_parquet(data)[0])
                  for name, data in write(run_pdecode, place / "out", path).items()}
        paths = {row["object"]: row["path"] for row in tables["objects"]}
        frames = {row["frame"]: row for row in tables["frames"]}
        stacks = {row["stack"]: [frames[i][column] for i in row["frames"]]
                  for row in tables["stacks"]}
        found = []
        for row in tables["samples"]:
            frame = frames.get(row["frame"], {"kind": None, "object": None})
            found.append((row["comm"], frame["kind"], paths.get(frame["object"]),
                          stacks.get(row["stack"])))
        return found
    return read


STACK = [USER_MARK - 2**64, 0x100, 0x200]


def test_the_same_addresses_in_another_mode(read):
    found = read(mapped(1, "/a"), hit(2), hit(3), hit(4, misc=1), hit(5))
    assert [row[1:3] for row in found] == [("user", "/a"), ("user", "/a"), ("unmapped", None),
                                           ("user", "/a")]


def test_the_same_addresses_after_a_change_of_maps(read):
    found = read(mapped(1, "/a"), hit(2), hit(3), mapped(4, "/b"), hit(5), hit(6))
    assert [row[2] for row in found] == ["/a", "/a", "/b", "/b"]


def test_the_same_addresses_in_another_process(read):
    found = read(mapped(1, "/a"), mapped(1, "/b", pid=8), hit(2), hit(3, pid=8, tid=8), hit(4),
                 hit(5, pid=9, tid=7), hit(6, pid=8, tid=8))
    assert [row[2] for row in found] == ["/a", "/b", "/a", None, "/b"]


def test_kernel_addresses_of_several_processes(read):
    found = read(module(1, "/a.ko"), mapped(1, "/a"), *(alone(time, 7 + time % 2, 1)
                                                        for time in (2, 3, 4)),
                 module(5, "/b.ko"), *(alone(time, 7 + time % 2, 1) for time in (6, 7)),
                 alone(8, 7, 2), alone(9, 7, 1), event=LONE)
    assert [row[2] for row in found] == [*["/a.ko"] * 3, *["/b.ko"] * 2, None, "/b.ko"]


def test_kernel_and_user_addresses_in_one_chain(read):
    chain = (KERNEL_MARK, MODULE + 0x100, USER_MARK, ADDRESS)
    found = read(module(1, "/a.ko"), mapped(1, "/a"), mapped(1, "/b", pid=8),
                 *(hit(2 + i, misc=1, pid=7 + i % 3, tid=7, ip=MODULE + 0x100, chain=chain)
                   for i in range(6)))
    offsets = [KERNEL_MARK - 2**64, 0x100, USER_MARK - 2**64]
    assert [row[2:] for row in found] == [("/a.ko", [*offsets, last])
                                          for last in (0x100, 0x100, ADDRESS)] * 2


@pytest.mark.parametrize("event, one", [(LONE, alone), (EVENT, lambda time, pid, misc: hit(
    time, misc, pid, pid, MODULE + 0x100, (2**64 - 2176, MODULE + 0x100)))])
def test_the_same_addresses_in_several_virtual_machines(read, event, one):
    found = read(module(1, "[guest.kernel.kallsyms.5]", 5, 4),
                 module(1, "[guest.kernel.kallsyms.6]", 6, 4),
                 *(one(2 + i, 5 + i % 3, 4) for i in range(6)), event=event)
    assert [row[2] for row in found] == ["[guest.kernel.kallsyms.5]", "[guest.kernel.kallsyms.6]",
                                         None] * 2


def test_the_same_addresses_after_another_name(read):
    names = [r.comm(7, 7, name, sid=sample_id(EVENT, pid=7, tid=7, time=time))
             for name, time in (("one", 1), ("two", 4))]
    found = read(names[0], hit(2), hit(3), names[1], hit(5), hit(6))
    assert [row[0] for row in found] == ["one", "one", "two", "two"]


def test_chains_that_differ_in_one_entry(read):
    chains = [(USER_MARK, ADDRESS, CALLER), (USER_MARK, ADDRESS, OTHER), (USER_MARK, ADDRESS),
              (USER_MARK, OTHER, CALLER), ()]
    found = read(mapped(1, "/a"), *(hit(2 + i, chain=chain) for i, chain in enumerate(chains * 2)))
    want = [STACK, [*STACK[:2], 0x300], STACK[:2], [STACK[0], 0x300, 0x200], []]
    assert [row[3] for row in found] == want * 2


def test_one_address_in_chains_before_and_after_a_change_of_maps(read):
    chains = [(USER_MARK, ADDRESS, CALLER), (USER_MARK, ADDRESS, OTHER), (USER_MARK, OTHER, CALLER)]
    found = read(mapped(1, "/a"), *(hit(2 + i, chain=chain) for i, chain in enumerate(chains)),
                 mapped(8, "/b"), *(hit(9 + i, chain=chain) for i, chain in enumerate(chains)),
                 mapped(12, "/b", pid=8), hit(13, pid=8, tid=8), column="object")
    objects = [sorted({*row[3]} - {None}) for row in found]
    assert [row[2] for row in found] == ["/a"] * 3 + ["/b"] * 4
    assert all(len(one) == 1 for one in objects)
    assert objects[:3] == [objects[0]] * 3 and objects[3:] == [objects[3]] * 4 != objects[0]


def test_one_address_as_that_of_a_call_and_of_a_return(read):
    chains = [(USER_MARK, ADDRESS, CALLER), (USER_MARK, CALLER, ADDRESS), (USER_MARK, ADDRESS)]
    found = read(mapped(1, "/a"), *(hit(2 + i, ip=chain[1], chain=chain)
                                    for i, chain in enumerate(chains)), column="exact")
    assert [row[3] for row in found] == [[None, True, False]] * 2 + [[None, True]]


def test_one_chain_with_different_instruction_pointers(read):
    found = read(mapped(1, "/a"), hit(2), hit(3, ip=0x1), hit(4), hit(5, ip=0x1))
    assert [row[1:] for row in found] == [("user", "/a", STACK), ("unmapped", None, STACK)] * 2


def test_more_addresses_than_are_kept(read):
    many = range(20_000)
    hits = [hit(2 + i, ip=ADDRESS + i % 100, chain=(USER_MARK, ADDRESS + i % 100, i)) for i in many]
    found = read(mapped(1, "/a"), *hits)
    assert [row[3] for row in found] == [[STACK[0], 0x100 + i % 100, i] for i in many]


def test_more_instruction_pointers_than_are_kept(read):
    many = range(20_000)
    found = read(mapped(1, "/a"), *(hit(2 + i, ip=0x400000 + i) for i in many))
    assert [row[2] for row in found] == ["/a" if i < 0x1000 else None for i in many]


def test_more_threads_than_are_kept(read):
    pids = [7 if i % 2 else 10 + i for i in range(20_000)]
    found = read(mapped(1, "/a"), *(hit(2 + i, pid=pid, tid=pid) for i, pid in enumerate(pids)))
    assert [row[2] for row in found] == ["/a" if pid == 7 else None for pid in pids]
