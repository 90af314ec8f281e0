"""Feature sections turned round; written from the format reference, apart from the builder."""

from .swap_records import turn_attr
from .turner import Turner

# not here, so kept: 1, the tracing blob, which tells its own order, and 128 to 132, simpleperf's


def turn_text(t, session):
    t.fstr()


def turn_numbers(*sizes):
    def turn(t, session):
        for size in sizes:
            t.number(size)

    return turn


def turn_build_ids(t, session):
    """Records back to back.  Before perf had the pid in them the id came 4 bytes earlier."""
    start = t.pos
    old = t.data[start + 36 : start + 49] == b"nel.kallsyms]"
    while t.left() >= 8:
        here = t.pos
        t.u32(), t.u16()
        size = t.u16()
        if size < 8:
            return
        if not old:
            t.u32()
        t.take(size - (t.pos - here))


def turn_nrcpus(t, session):
    session.nr_cpus = t.u32()
    t.u32()


def turn_list(t, session):
    t.slist()


def turn_event_desc(t, session):
    count, size = t.u32(), t.u32()
    for _ in range(count):
        end = t.pos + size
        turn_attr(t, size)
        t.take(end - t.pos)
        ids = t.u32()
        t.fstr()
        t.numbers(8, ids)


def turn_cpu_topology(t, session):
    t.slist()
    t.slist()
    if session.nr_cpus is None:
        return
    if t.left() >= 8 * session.nr_cpus:
        t.numbers(4, 2 * session.nr_cpus)
    if t.left():
        t.slist()
        t.numbers(4, session.nr_cpus)


def turn_numa(t, session):
    for _ in range(t.u32()):
        t.u32(), t.u64(), t.u64()
        t.fstr()


def turn_pmus(t, session):
    for _ in range(t.u32()):
        t.u32()
        t.fstr()


def turn_groups(t, session):
    for _ in range(t.u32()):
        t.fstr()
        t.u32(), t.u32()


def turn_auxtrace_index(t, session):
    """perf has a count before the pairs, simpleperf has not; all of it is u64 either way."""
    t.all(8)


def turn_cache(t, session):
    t.u32()
    for _ in range(t.u32()):
        t.numbers(4, 4)
        t.fstr(), t.fstr(), t.fstr()


def turn_mem_topology(t, session):
    t.u64(), t.u64()
    for _ in range(t.u64()):
        t.u64(), t.u64()
        bits = t.u64()
        t.numbers(8, (bits + 63) // 64)


# struct bpf_prog_info, up to the fields that later kernels add; (n,) is bytes
BPF_INFO = [4, 4, (8,), 4, 4, 8, 8, 8, 4, 4, 8, (16,), 4, "gpl", 8, 8, 4, 4, 8, 8, 4, 4, 8, 4, 4, 8,
            8,
            4, 4, 4, 4, 8, 8, 8, 8, 4, 4, 4]


def turn_bpf_info(t):
    """The kernel's struct as it was in memory."""
    for what in BPF_INFO:
        if isinstance(what, tuple):
            if t.left() < what[0]:
                return
            t.take(what[0])
        elif what == "gpl":
            if t.left() < 4:
                return
            t.bits(4, [1, 31])
        else:
            if t.left() < what:
                return
            t.number(what)
    t.rest()


# The first arrays behind the struct: where in it their length stands, and of what.  Numbers are
# turned; code is bytes, and so is what follows (BTF's own tables, tags).
BPF_ARRAYS = [(16, 1, "code"), (20, 1, "code"), (52, 4, "numbers"), (104, 8, "numbers"),
              (108, 4, "numbers")]


def turn_bpf_arrays(t, lengths, present):
    for bit, (_, width, what) in enumerate(BPF_ARRAYS):
        if not present >> bit & 1:
            continue
        if what == "numbers":
            t.numbers(width, lengths[bit])
        else:
            t.take(width * lengths[bit])
        t.take(min(-t.pos % 8, t.left()))


def turn_bpf_prog_info(t, session):
    """The struct is turned field by field, and the numbers in the arrays behind it."""
    for _ in range(t.u32()):
        info, data, present = t.u32(), t.u32(), t.u64()
        start, end = t.pos, t.pos + info
        lengths = [t.peek(start + at, 4) if at + 4 <= info else 0 for at, _, _ in BPF_ARRAYS]
        turn_bpf_info(t.within(start, end))
        t.take(info)
        # a cursor of its own, where offset 0 is a multiple of 8
        part = Turner(t.take(data), "<" if t.order == "little" else ">")
        turn_bpf_arrays(part, lengths, present)
        t.out[end : end + data] = part.out


def turn_btf(t, session):
    for _ in range(t.u32()):
        t.u32()
        t.take(t.u32())


def turn_caps(t, session):
    for _ in range(t.u32()):
        t.fstr(), t.fstr()


def turn_hybrid(t, session):
    turn_caps(t, session)


def turn_pmu_caps(t, session):
    for _ in range(t.u32()):
        turn_caps(t, session)
        t.fstr()


def turn_domains(t, session):
    version = t.u32()
    t.u32()
    while t.left():
        t.u32()
        for _ in range(t.u32()):
            t.u32()
            for _ in range(3 if version >= 17 else 2):
                t.fstr()


FEATURES = {
    2: turn_build_ids,
    3: turn_text,
    4: turn_text,
    5: turn_text,
    6: turn_text,
    7: turn_nrcpus,
    8: turn_text,
    9: turn_text,
    10: turn_numbers(8),
    11: turn_list,
    12: turn_event_desc,
    13: turn_cpu_topology,
    14: turn_numa,
    15: turn_numbers(),
    16: turn_pmus,
    17: turn_groups,
    18: turn_auxtrace_index,
    19: turn_numbers(),
    20: turn_cache,
    21: turn_numbers(8, 8),
    22: turn_mem_topology,
    23: turn_numbers(8),
    24: turn_numbers(8),
    25: turn_bpf_prog_info,
    26: turn_btf,
    27: turn_numbers(4, 4, 4, 4, 4),
    28: turn_caps,
    29: turn_numbers(4, 4, 8, 8),
    30: turn_hybrid,
    31: turn_pmu_caps,
    32: turn_domains,
    33: turn_numbers(4, 4),
    34: turn_numbers(4),
}
