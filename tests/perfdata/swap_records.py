"""Records turned round: one function a record type, and the attributes that decide their layout.

Written from the format reference and not from the builder, so that each is a check of the other.
"""

from dataclasses import dataclass

from .turner import Short

(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER,
 STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP,
 DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT) = (1 << bit for bit in range(25))
KNOWN_SAMPLE_BITS = (1 << 25) - 1
INTERNAL_BIT = 1 << 63  # old kernels' own, never a field
HW_INDEX, COUNTERS = 1 << 17, 1 << 19
SAMPLE, HEADER_ATTR, TRACING_DATA, AUXTRACE, HEADER_FEATURE = 9, 64, 66, 71, 80
COMPRESSED, COMPRESSED2 = 81, 83

# fifteen single bits, precise_ip, then single bits again: kernels to come have those
ATTR_FLAGS = [1] * 15 + [2] + [1] * 47
# mispred predicted in_tx abort cycles type spec new_type priv not_taken reserved
BRANCH_FLAGS = [1, 1, 1, 1, 16, 4, 2, 4, 3, 1, 30]


@dataclass
class Layout:
    """What an attribute says about the shape of its records."""

    sample_type: int = 0
    read_format: int = 0
    sample_id_all: bool = False
    branch_sample_type: int = 0
    regs_user: int = 0
    regs_intr: int = 0

    def trailer(self):
        """Size of the sample_id behind a record."""
        bits = TID | TIME | ID | STREAM_ID | CPU | IDENTIFIER
        return 8 * bin(self.sample_type & bits).count("1") if self.sample_id_all else 0


def turn_attr(t, limit=None):
    """A perf_event_attr of t's next bytes; limit: how many of them it can have."""
    size = t.peek(t.pos + 4, 4) or 64
    size = min(size, t.left() if limit is None else limit)
    end = t.pos + size
    a = t.within(t.pos, end)
    layout = Layout()
    try:
        a.u32(), a.u32(), a.u64(), a.u64()
        layout.sample_type = a.u64() & ~INTERNAL_BIT
        layout.read_format = a.u64()
        layout.sample_id_all = bool(a.bits(8, ATTR_FLAGS)[17])
        a.u32(), a.u32(), a.u64(), a.u64()
        layout.branch_sample_type = a.u64()
        layout.regs_user = a.u64()
        a.u32(), a.u32()
        layout.regs_intr = a.u64()
        a.u32(), a.u16(), a.u16(), a.u32()
        a.bits(4, [1, 1, 1, 29])
        a.u64(), a.u64(), a.u64()
    except Short:
        pass  # an older and smaller one; bytes of a newer one stay as they are
    t.take(size)
    return layout


class Session:
    """The attributes seen so far and which id belongs to which."""

    def __init__(self):
        self.layouts = []
        self.by_id = {}
        self.nr_cpus = None

    def add(self, layout, ids):
        self.layouts.append(layout)
        for id in ids:
            self.by_id.setdefault(id, layout)

    def layout_of(self, t, type, start, end):
        """The attribute of a kernel record, by the rules that perf has."""
        if not self.layouts:
            return Layout()
        first = self.layouts[0]
        if len(self.layouts) == 1 or type != SAMPLE and not first.sample_id_all:
            return first
        if all(l.sample_type & IDENTIFIER for l in self.layouts):
            at = start + 8 if type == SAMPLE else end - 8
        elif first.sample_type & ID and type == SAMPLE:
            before = first.sample_type & (IP | TID | TIME | ADDR)
            at = start + 8 + 8 * bin(before).count("1")
        elif first.sample_type & ID:
            behind = first.sample_type & (CPU | STREAM_ID)
            at = end - 8 - 8 * bin(behind).count("1")
        else:
            return first
        try:
            return self.by_id.get(t.peek(at, 8), first)
        except Short:
            return first


# --- kernel records -------------------------------------------------------------------------------


def turn_sample_id(t, layout):
    has = layout.sample_type
    if has & TID:
        t.u32(), t.u32()
    for bit in (TIME, ID, STREAM_ID):
        if has & bit:
            t.u64()
    if has & CPU:
        t.u32(), t.u32()
    if has & IDENTIFIER:
        t.u64()


def turn_read(t, read_format):
    times = bin(read_format & 3).count("1")
    each = 1 + bin(read_format & 0b10100).count("1")
    if read_format & 8:
        count = t.u64()
        t.numbers(8, times)
        t.numbers(8, count * each)
    else:
        t.numbers(8, times + each)


def turn_branches(t, with_hw_idx, with_counters):
    count = t.u64()
    if with_hw_idx:
        t.u64()
    for _ in range(count):
        t.u64(), t.u64()
        t.bits(8, BRANCH_FLAGS)
    if with_counters:
        t.numbers(8, count)


def turn_regs(t, mask):
    if t.u64():
        t.numbers(8, bin(mask).count("1"))


def turn_sample_as(t, layout, with_hw_idx, with_counters, align_raw):
    """One reading of a sample's fields."""
    has = layout.sample_type

    def plain(*bits):
        for bit in bits:
            if has & bit:
                t.u64()

    plain(IDENTIFIER, IP)
    if has & TID:
        t.u32(), t.u32()
    plain(TIME, ADDR, ID, STREAM_ID)
    if has & CPU:
        t.u32(), t.u32()
    plain(PERIOD)
    if has & READ:
        turn_read(t, layout.read_format)
    if has & CALLCHAIN:
        t.numbers(8, t.u64())
    if has & RAW:
        t.take(t.u32())
        if align_raw:
            t.take(-t.pos % 8)
    if has & BRANCH_STACK:
        turn_branches(t, with_hw_idx, with_counters)
    if has & REGS_USER:
        turn_regs(t, layout.regs_user)
    if has & STACK_USER:
        size = t.u64()
        if size:
            t.take(size)
            t.u64()
    plain(WEIGHT | WEIGHT_STRUCT, DATA_SRC, TRANSACTION)
    if has & REGS_INTR:
        turn_regs(t, layout.regs_intr)
    plain(PHYS_ADDR, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE)
    if has & AUX:
        t.take(t.u64())


def turn_sample(t, layout, session):
    """Of the readings that old kernels and counters of a group leave open, the one that ends where
    the record does."""
    start = t.pos
    if layout.sample_type & ~KNOWN_SAMPLE_BITS:
        turn_sample_as(t, layout, bool(layout.branch_sample_type & HW_INDEX), False, False)
        t.rest()  # nobody can know what these bits mean
        return
    hw_idx = bool(layout.branch_sample_type & HW_INDEX)
    counters = any(l.branch_sample_type & COUNTERS for l in session.layouts)
    first = None
    for with_hw_idx in (hw_idx, False) if hw_idx else (False,):
        for with_counters in (counters, False) if counters else (False,):
            for align_raw in (False, True):
                t.pos = start
                t.out[start : t.end] = t.data[start : t.end]
                try:
                    turn_sample_as(t, layout, with_hw_idx, with_counters, align_raw)
                except Short:
                    continue
                if t.pos == t.end:
                    return
                first = first or (with_hw_idx, with_counters, align_raw)
    t.pos = start
    t.out[start : t.end] = t.data[start : t.end]
    turn_sample_as(t, layout, *(first or (hw_idx, counters, False)))


def widths(*sizes):
    """A record of plain numbers and then text to its end."""

    def turn(t, misc, layout):
        for size in sizes:
            t.number(size)
        t.rest()

    return turn


def numbers_only(*sizes):
    """A record of plain numbers and nothing more."""

    def turn(t, misc, layout):
        for size in sizes:
            t.number(size)

    return turn


def turn_read_record(t, misc, layout):
    t.u32(), t.u32()
    turn_read(t, layout.read_format)


def turn_mmap2(t, misc, layout):
    body = t.pos
    t.u32(), t.u32(), t.u64(), t.u64(), t.u64()
    if misc & 1 << 14:
        t.take(2)
        t.u16()
        t.take(20)
    else:
        t.u32(), t.u32(), t.u64(), t.u64()
        # RHEL 7 has the path where prot and flags belong
        if t.left() < 16 or t.peek(body + 56, 4) & ~7:
            t.rest()
            return
    t.u32(), t.u32()
    t.rest()


def turn_namespaces(t, misc, layout):
    t.u32(), t.u32()
    t.numbers(8, 2 * t.u64())


def turn_bpf_event(t, misc, layout):
    t.u16(), t.u16(), t.u32()
    t.take(8)


def turn_deferred(t, misc, layout):
    t.u64()
    t.numbers(8, t.u64())


KERNEL = {
    1: widths(4, 4, 8, 8, 8),
    2: numbers_only(8, 8),
    3: widths(4, 4),
    4: numbers_only(4, 4, 4, 4, 8),
    5: numbers_only(8, 8, 8),
    6: numbers_only(8, 8, 8),
    7: numbers_only(4, 4, 4, 4, 8),
    8: turn_read_record,
    10: turn_mmap2,
    11: numbers_only(8, 8, 8),
    12: numbers_only(4, 4),
    13: numbers_only(8),
    14: numbers_only(),
    15: numbers_only(4, 4),
    16: turn_namespaces,
    17: widths(8, 4, 2, 2),
    18: turn_bpf_event,
    19: widths(8),
    20: widths(8, 2, 2),
    21: numbers_only(8),
    22: turn_deferred,
}


# --- perf's own records ---------------------------------------------------------------------------


def turn_header_attr(t, session):
    layout = turn_attr(t)
    session.add(layout, t.all(8))


def turn_text_behind(*sizes):
    def turn(t, session):
        for size in sizes:
            t.number(size)
        t.rest()

    return turn


def turn_plain(*sizes):
    def turn(t, session):
        for size in sizes:
            t.number(size)

    return turn


def turn_late_trailer(t, session):
    """perf inject puts a sample_id behind records that have none of their own."""
    layout = session.layouts[0] if session.layouts else Layout()
    size = layout.trailer()
    if size and t.left() >= size and any(t.data[t.end - size : t.end]):
        t.take(t.left() - size)
        turn_sample_id(t, layout)
    else:
        t.rest()


def turn_build_id(t, session):
    t.u32()
    t.take(24)
    name = t.data[t.pos : t.end]
    text = name.find(b"\0") + 1 or len(name)
    t.take(min((36 + text + 7 & ~7) - 36, t.left()))
    turn_late_trailer(t, session)


def turn_id_index(t, session):
    count = t.u64()
    for _ in range(count):
        t.numbers(8, 4)
    if t.left() >= 16 * count:
        t.numbers(8, 2 * count)


def turn_auxtrace_info(t, session):
    kind, _ = t.u32(), t.u32()
    if kind == 1 and t.left() > 16 * 8:  # Intel PT: its address filter is text
        t.numbers(8, 16)
        length = t.u64()
        t.take(length + 8 & ~7 if length else 0)
    t.all(8)


def turn_auxtrace(t, session):
    size = t.u64()
    t.u64(), t.u64()
    t.numbers(4, 4)
    return size


def turn_auxtrace_error(t, session):
    kind = t.numbers(4, 6)
    t.u64()
    if kind[5]:
        t.u64()
    if kind[5] < 2:
        t.rest()
        return
    t.take(64)
    t.u32(), t.u32()


def turn_thread_map(t, session):
    for _ in range(t.u64()):
        t.u64()
        t.take(16)


def turn_cpu_map_data(t, session=None):
    kind = t.u16()
    if kind == 0:
        t.numbers(2, t.u16())
    elif kind == 1:
        count, long_size = t.u16(), t.u16()
        if long_size == 8:
            t.take(4)
        t.numbers(long_size, count)
    elif kind == 2:
        t.take(2)
        t.u16(), t.u16()
    if t.left() < 8 or kind > 2:
        t.rest()


def turn_pairs(t, session):
    t.numbers(8, 2 * t.u64())


def turn_event_update(t, session):
    kind = t.u64()
    t.u64()
    if kind == 1:
        t.u64()  # a double
    elif kind == 3:
        turn_cpu_map_data(t)
    else:
        t.rest()


def turn_time_conv(t, session):
    t.numbers(8, 3)
    if t.left() >= 24:
        t.numbers(8, 2)
        t.take(8)


def turn_bpf_metadata(t, session):
    t.take(512)
    t.take(t.u64() * (64 + 256))
    turn_late_trailer(t, session)


def turn_schedstat_domain(t, session):
    t.u64(), t.u32()
    version = t.u16()
    t.u16()
    t.numbers(4, (3 * 11 if version == 17 else 3 * 8) + 12)
    if t.data[t.pos : t.end].strip(b"\0") == b"":
        t.rest()


USER = {
    64: turn_header_attr,
    65: turn_text_behind(8),
    67: turn_build_id,
    68: turn_plain(),
    69: turn_id_index,
    70: turn_auxtrace_info,
    72: turn_auxtrace_error,
    73: turn_thread_map,
    74: turn_cpu_map_data,
    75: turn_pairs,
    76: turn_plain(8, 4, 4, 8, 8, 8),
    77: turn_plain(8, 8),
    78: turn_event_update,
    79: turn_time_conv,
    82: turn_plain(),
    84: turn_bpf_metadata,
    85: turn_plain(8, 4, 2, 2, 4, 4, 4, 4, 4, 4, 8, 8, 8),
    86: turn_schedstat_domain,
}
