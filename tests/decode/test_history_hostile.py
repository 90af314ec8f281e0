"""The history (pd/history.h) over what a stranger may write: linear time, bounded memory, and LIMIT
where that is not enough."""
import struct

import pytest

import compiled
from growth import LEAST, Files, check_growth, seconds, times_of
from perfdata.container import File
from test_history import ATTR, comms, dump, places

EXEC = 1 << 13
BASE = 0x10000


def record(kind, misc, body, pid, time):
    """With a trailer of TID, TIME and CPU."""
    body += struct.pack("<IIQII", pid, pid, time, 0, 0)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    name = name.encode() + b"\0"
    return name + bytes(-len(name) % 8)


def mapped(time, pid, addr, size, path, prot=5):
    body = struct.pack("<IIQQQIIQQII", pid, pid, addr, size, 0, 8, 1, 7, 0, prot, 2)
    return record(10, 2, body + text(path), pid, time)


def fork(time, pid, ppid):
    return record(7, 0, struct.pack("<IIIIQ", pid, ppid, pid, ppid, time), pid, time)


def ended(time, pid, ppid):
    return record(4, 0, struct.pack("<IIIIQ", pid, ppid, pid, ppid, time), pid, time)


def comm(time, pid, name, misc=0):
    return record(3, misc, struct.pack("<II", pid, pid) + text(name), pid, time)


def ksymbol(time, addr, size, flags):
    return record(17, 1, struct.pack("<QIHH", addr, size, 1, flags) + text("bpf_prog"), 0, time)


def sampled(time, pid, addr, misc=2):
    body = struct.pack("<QIIQIIQ", addr, pid, pid, time, 0, 0, 0)
    return struct.pack("<IHH", 9, misc, 8 + len(body)) + body


def recording(records):
    blob = b"".join(records)
    return File(attrs=[(ATTR, [1])], records=[lambda wire: blob]).build("<")


def at_end(n, pid, addr, misc=2):
    """Samples of the last state, and of times before."""
    return [sampled(3 * n if i % 2 else 3 * i, pid(i) if callable(pid) else pid, addr(i), misc)
            for i in range(n // 8)]


def chain_then_forks(n):
    """Where children get copies: the parent maps again before each fork."""
    first = rows(18, lambda i: (mapped(i + 2, i + 1, BASE + i * PAGES, PAGES, "/lib"),
                                fork(i + 2, i + 2, i + 1)))
    return [*first, *rows(n // 2, lambda i: (mapped(20 + i, 19, BASE, PAGES, f"/lib{i % 2}"),
                                             fork(20 + i, 100 + i, 19)))]


PAGES = 4096
NR_SPREAD = 50


def rows(n, make):
    """make(i) for each i: a record, or several."""
    for i in range(n):
        made = make(i)
        yield from made if isinstance(made, tuple) else (made,)


def several(n, size, path="/lib{}", start=lambda i: BASE):
    """Maps of process 5, and samples of it. size, start: of the i-th map."""
    return [*rows(n, lambda i: mapped(i, 5, start(i), size(i), path.format(i % 7))),
            *at_end(n, 5, lambda i: BASE + i * PAGES)]


def chain(n, page):
    """Processes of which each maps something and forks the next."""
    links = rows(n // 2, lambda i: (mapped(2 * i + 2, i + 1, BASE + page(i) * PAGES, PAGES, "/lib"),
                                    fork(2 * i + 3, i + 2, i + 1)))
    return [*links, *at_end(n, lambda i: 1 + i * 7 % (n // 2), lambda i: BASE + page(i) * PAGES)]


def small_in_large(n):
    """Every 64th map covers all others."""
    small = (mapped(i, 5, BASE + i * 7919 % n * PAGES, PAGES, "/small") for i in range(n))
    return [mapped(i, 5, BASE, n * PAGES, "/large") if i % 64 == 0 else record
            for i, record in enumerate(small)] + at_end(n, 5, lambda i: BASE + i * PAGES)


def one_pid(n):
    return [*rows(n // 2, lambda i: (fork(2 * i, 5, 4), mapped(2 * i + 1, 5, BASE, PAGES, "/lib"))),
            *at_end(n, 5, lambda i: BASE)]


def falling_times(n):
    maps = rows(n, lambda i: mapped(n - i, i % NR_SPREAD, BASE + i % 30 * PAGES, 2 * PAGES, "/lib"))
    return [*maps, *at_end(n, lambda i: i % NR_SPREAD, lambda i: BASE + i % 30 * PAGES)]


KINDS = {
    "maps apart, falling": lambda n: several(n, lambda i: PAGES,
                                             start=lambda i: BASE + (n - i) * 2 * PAGES),
    "maps over each other": lambda n: several(n, lambda i: 3 * PAGES,
                                              start=lambda i: BASE + i * PAGES),
    "maps in each other": lambda n: several(n, lambda i: (2 * n - 2 * i) * PAGES,
                                            start=lambda i: BASE + i * PAGES),
    "maps around each other": lambda n: several(n, lambda i: (2 * i + 1) * PAGES,
                                                start=lambda i: BASE + (n - i) * PAGES),
    "one address again and again": lambda n: several(n, lambda i: PAGES),
    "small maps in a large one": small_in_large,
    "anonymous maps over each other": lambda n: several(n, lambda i: PAGES + i % 3, "//anon"),
    "a chain of forks": lambda n: chain(n, lambda i: i % 100),
    "a chain of forks, each with a map of its own": lambda n: chain(n, lambda i: i),
    "forks at the end of a chain": lambda n: chain_then_forks(n) + at_end(
        n, lambda i: 100 + i, lambda i: BASE + i % 20 * PAGES),
    "one pid again and again": one_pid,
    "names of one thread": lambda n: [
        *rows(n, lambda i: comm(i, 5, f"name{i % 9}", EXEC if i % 3 == 0 else 0)),
        *at_end(n, 5, lambda i: BASE)],
    "names that differ": lambda n: [*rows(n, lambda i: comm(i, i, f"name{i}")),
                                    *at_end(n, lambda i: i, lambda i: BASE)],
    "paths that differ": lambda n: [
        *rows(n, lambda i: mapped(i, 5, BASE + i * PAGES, PAGES, f"/lib{i}")),
        *at_end(n, 5, lambda i: BASE)],
    "times that fall": falling_times,
    "symbols that come and go": lambda n: [
        *rows(n, lambda i: ksymbol(i, BASE + i // 2 % 9 * 64, 64, i % 2)),
        *at_end(n, 5, lambda i: BASE + i % 9 * 64, misc=1)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_twice_the_input_takes_twice_as_long(kind, tmp_path):
    files = Files(tmp_path, lambda n: recording(KINDS[kind](n)))
    command = [compiled.program("history_dump")]
    startup = min(seconds([*command, files.of_size(8)]) for _ in range(3))
    n = 8000    # from about there on a fork copies no more maps
    while seconds([*command, files.of_size(n)]) - startup < LEAST and n < 64000:
        n *= 2
    paths = [files.of_size(factor * n) for factor in (1, 2, 4)]
    check_growth(command, paths, times_of(command, paths, startup), tmp_path)


def run(tmp_path, records, *options):
    path = tmp_path / "perf.data"
    path.write_bytes(recording(records))
    return dump(path, *options)


def test_a_million_maps_of_many_processes(tmp_path):
    """The limit is that of the library: 256 MiB."""
    path = tmp_path / "perf.data"
    n = 1_000_000
    size = 16 * PAGES
    maps = [mapped(i, 1 + i // 10, BASE + i % 10 * size, size, f"/lib{i % 10}") for i in range(n)]
    path.write_bytes(recording(maps + [sampled(2 * n, 1 + i * 977, BASE + 5 * size + i)
                                       for i in range(100)]))
    samples, others = dump(path, "-a", "-n")
    assert places(*samples) == [("/lib5", i) for i in range(100)]
    assert errors(others) == [] and memory(others) < 256 << 20


def test_a_million_tasks_that_execute_and_end(tmp_path):
    """The limit is that of the library: 256 MiB."""
    path = tmp_path / "perf.data"
    n = 1_000_000
    tasks = rows(n, lambda i: (fork(4 * i + 1, 10 + i, 4),
                               comm(4 * i + 2, 10 + i, f"name{i % 9}", EXEC),
                               ended(4 * i + 3, 10 + i, 4)))
    path.write_bytes(recording([mapped(0, 4, BASE, PAGES, "/parent"), *tasks,
                                *[sampled(4 * i + at, 10 + i, BASE + 1)
                                  for i in range(0, n, n // 50) for at in (1, 2, 4)]]))
    samples, others = dump(path, "-a", "-n")
    assert places(*samples) == [("/parent", 1), "NO_MAP", "NO_MAP"] * 50
    assert comms(*samples) == [name for i in range(0, n, n // 50)
                               for name in (None, f"name{i % 9}", f"name{i % 9}")]
    assert errors(others) == [] and memory(others) < 256 << 20


def memory(others):
    return int(next(line for line in others if line.startswith("memory "))[7:])


LACKS_MEMORY = "lacks memory: LIMIT"


def errors(others):
    return [line for line in others if line.startswith("error")]


def test_the_memory_limit(tmp_path):
    """Is reported once; what was learned still answers, and the rest says why."""
    records = [mapped(0, 5, BASE, PAGES, "/first"), comm(0, 5, "first")]
    records += [mapped(10 + i, 6 + i, BASE, PAGES, f"/lib{i}") for i in range(50000)]
    records += [comm(70000, 5, "last"), sampled(80000, 5, BASE), sampled(80000, 5, 1),
                sampled(80000, 50005, BASE)]
    samples, others = run(tmp_path, records, "-a", "-n", str(1 << 20))
    assert errors(others) == ["error LIMIT"] and LACKS_MEMORY in others
    assert places(*samples) == [("/first", 0), "LIMIT", "LIMIT"]
    assert comms(*samples) == ["first", "first", None]
    assert memory(others) <= 1 << 20 and " left_out=0" not in others[-1]


def test_the_memory_limit_of_the_replay(tmp_path):
    """Maps over each other need more than their records: a part of them is replayed."""
    maps = [mapped(i, 5, BASE + i * PAGES, 3 * PAGES, f"/lib{i % 7}") for i in range(9000)]
    samples, others = run(tmp_path, [*maps, *[sampled(10000, 5, BASE + i * PAGES)
                                              for i in (10, 8999)]], "-a", "-n", str(1 << 20))
    assert errors(others) == ["error LIMIT"] and LACKS_MEMORY in others
    assert places(*samples) == [("/lib3", 0), "LIMIT"] and memory(others) <= 1 << 20


def test_the_replay_keeps_the_first_change(tmp_path):
    """By time, wherever it is in the file: here, every other map. All that is kept is right."""
    maps = [mapped(i % 2 * 10000 + i, 5, BASE + i * PAGES, 3 * PAGES, f"/lib{i % 9}")
            for i in range(9000)]
    samples, others = run(tmp_path, [*maps, *[sampled(20000, 5, BASE + i * PAGES)
                                              for i in (10, 11, 8998, 9001)]],
                          "-a", "-n", str(2 << 20))
    assert errors(others) == ["error LIMIT"] and LACKS_MEMORY in others
    assert places(*samples) == [("/lib1", 0), ("/lib1", 0x1000), ("/lib7", 0), "LIMIT"]
    assert memory(others) <= 2 << 20


def test_a_deep_chain_is_right(tmp_path):
    """Each process has its own map and those of all before it."""
    depth = 300
    records = rows(depth, lambda i: (mapped(2 * i, i, BASE + i * PAGES, PAGES, f"/lib{i}"),
                                     fork(2 * i + 1, i + 1, i)))
    samples, _ = run(tmp_path, [*records, *[sampled(9999, depth, BASE + i * PAGES)
                                            for i in range(1, depth)]])
    assert places(*samples) == [(f"/lib{i}", 0) for i in range(1, depth)]


def test_a_chain_that_does_not_fit(tmp_path):
    """A copy for every 16th process would be quadratic: those that get none say LIMIT, not NO_MAP;
    their own maps are right."""
    depth = 20000
    records = rows(depth, lambda i: (mapped(2 * i, i, BASE + i * PAGES, PAGES, "/lib"),
                                     fork(2 * i + 1, i + 1, i)))
    samples, others = run(tmp_path, [*records, *[sampled(10**6, depth - 1, BASE + i * PAGES)
                                                 for i in (1, depth - 1)]],
                          "-a", "-n", str(32 << 20))
    assert places(*samples) == ["LIMIT", ("/lib", 0)] and errors(others) == []
    assert LACKS_MEMORY in others


@pytest.mark.parametrize("limit", [0, 1, 1000, 20000, 40000, 65536, 100000])
def test_any_limit(limit, tmp_path):
    samples, others = run(tmp_path, KINDS["a chain of forks"](400), "-a", str(limit))
    reasons = {found for found in places(*samples) if not isinstance(found, tuple)}
    assert reasons <= {"NO_MAP", "NO_PID", "LIMIT"} and (limit or "LIMIT" not in reasons)
    assert not limit or memory(others) <= limit
