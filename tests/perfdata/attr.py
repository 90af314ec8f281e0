"""struct perf_event_attr, all published sizes, and the names of its bit words.

The names are those of linux/perf_event.h without their prefixes.  Flag positions are counted as on
a little-endian machine; wire.bits() mirrors them for the other.
"""

from .rows import Bits, Layout, Row, U16, U32, U64, swap_known
from .wire import encode

SAMPLE_TYPE = (
    "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER STACK_USER"
    " WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP DATA_PAGE_SIZE"
    " CODE_PAGE_SIZE WEIGHT_STRUCT"
).split()
READ_FORMAT = "TOTAL_TIME_ENABLED TOTAL_TIME_RUNNING ID GROUP LOST".split()
BRANCH_SAMPLE = (
    "USER KERNEL HV ANY ANY_CALL ANY_RETURN IND_CALL ABORT_TX IN_TX NO_TX COND CALL_STACK IND_JUMP"
    " CALL NO_FLAGS NO_CYCLES TYPE_SAVE HW_INDEX PRIV_SAVE COUNTERS"
).split()
FIRST_FLAGS = (
    "disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap"
    " comm freq inherit_stat enable_on_exec task watermark"
)
LATER_FLAGS = (
    "mmap_data sample_id_all exclude_host exclude_guest exclude_callchain_kernel"
    " exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward namespaces"
    " ksymbol bpf_event aux_output cgroup text_poke build_id inherit_thread remove_on_exec sigtrap"
    " defer_callchain defer_output"
)
RESERVED_FLAGS = [f"bit{bit}" for bit in range(40, 64)]  # for future kernels
# by position; None is where the two bits of precise_ip are
FLAGS = [*FIRST_FLAGS.split(), None, None, *LATER_FLAGS.split()]
SIZES = (64, 72, 80, 96, 104, 112, 120, 128, 136, 144)

LAYOUT = Layout(
    U32("type size"),
    U64("config sample_period sample_type read_format"),
    Bits(8, " ".join([FIRST_FLAGS, "precise_ip:2", LATER_FLAGS, *RESERVED_FLAGS])),
    U32("wakeup_events bp_type"),
    U64("config1 config2 branch_sample_type sample_regs_user"),
    U32("sample_stack_user clockid"),
    U64("sample_regs_intr"),
    U32("aux_watermark"),
    U16("sample_max_stack reserved"),
    U32("aux_sample_size"),
    Bits(4, "start_paused pause resume aux_reserved:29"),
    U64("sig_data config3 config4"),
)
ACTIONS = LAYOUT.rows[-2].names
NUMBERS = set(LAYOUT.names) - {*filter(None, FLAGS), *RESERVED_FLAGS, *ACTIONS}


def mask(names, table):
    """'IP|TID' as the bit word of that table; a number stays as it is."""
    if isinstance(names, int):
        return names
    return sum(1 << table.index(name) for name in names.split("|") if name)


class Attr:
    """One event, with the struct's members as attributes. sample_period is sample_freq too: the
    flag freq tells which. size: attr.size, by default the largest that perf 5.13 to 6.2 takes;
    extra: the bytes of a newer kernel after 144; reserved_flags: bits 40..63, from bit 0 on;
    aux_action: some of "start_paused", "pause", "resume"."""

    def __init__(self, *, flags=("sample_id_all",), reserved_flags=0, aux_action=(), extra=b"",
                 **numbers):
        if not numbers.keys() <= NUMBERS:
            raise TypeError(f"no such members: {numbers.keys() - NUMBERS}")
        self.__dict__.update({**dict.fromkeys(NUMBERS, 0), "type": 1, "size": 128, **numbers})
        self.flags = (*flags, *(flag for bit, flag in enumerate(RESERVED_FLAGS)
                                if reserved_flags >> bit & 1))
        self.aux_action, self.extra = aux_action, extra
        self.sample_type = mask(self.sample_type, SAMPLE_TYPE)
        self.read_format = mask(self.read_format, READ_FORMAT)
        self.branch_sample_type = mask(self.branch_sample_type, BRANCH_SAMPLE)

    def has(self, names):
        """The bits of sample_type that are set, of these."""
        return self.sample_type & mask(names, SAMPLE_TYPE)

    def reads(self, name):
        """Whether this read_format bit is set."""
        return bool(self.read_format >> READ_FORMAT.index(name) & 1)

    def branches(self, name):
        """Whether this branch_sample_type bit is set."""
        return bool(self.branch_sample_type >> BRANCH_SAMPLE.index(name) & 1)

    def __call__(self, wire):
        """The attr is a Part: attr.size bytes, or 64 where size is 0."""
        bits = dict.fromkeys((*self.flags, *self.aux_action), 1)
        size = self.size or 64
        return (encode(LAYOUT.part(**{name: vars(self)[name] for name in NUMBERS}, **bits), wire)
                + self.extra).ljust(size, b"\0")[:size]


def swap_attr(t, limit=None):
    """Swaps the attr at t and gives it. limit: how many bytes it can have."""
    size = min(t.peek(t.pos + 4, 4) or 64, t.left() if limit is None else limit)
    values = {}
    swap_known(LAYOUT, t.within(t.pos, t.pos + size), values)
    t.take(size)  # with the bytes of a newer kernel, which stay as they are
    return Attr(flags=[flag for flag in FLAGS if flag and values.pop(flag, 0)],
                **{name: values[name] for name in NUMBERS & values.keys()})


class AttrRow(Row):
    """An attr. limit: a function that gives the most bytes it can have."""

    def __init__(self, name, limit=None):
        super().__init__(name)
        self.limit = limit

    def build(self, values):
        if self.limit is None:
            return values[self.names[0]]
        size = self.limit(values, None)
        return lambda wire: encode(values[self.names[0]], wire).ljust(size, b"\0")[:size]

    def swap(self, t, values):
        limit = t.left() if self.limit is None else self.limit(values, t)
        part = t.within(t.pos, t.pos + limit)
        values[self.names[0]] = swap_attr(part)
        t.take(part.pos - part.start if self.limit is None else limit)
