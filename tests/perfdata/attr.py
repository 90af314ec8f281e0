"""struct perf_event_attr, all published sizes, and the names of its bit words.

The names are those of linux/perf_event.h without their prefixes.  Flag positions are counted as on
a little-endian machine; wire.bits() turns them round for the other.
"""

from dataclasses import dataclass, field

from .wire import bits, encode, u16, u32, u64

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
# None is where the two bits of precise_ip stand
FLAGS = (
    "disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap"
    " comm freq inherit_stat enable_on_exec task watermark"
).split() + [None, None] + (
    "mmap_data sample_id_all exclude_host exclude_guest exclude_callchain_kernel"
    " exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward namespaces"
    " ksymbol bpf_event aux_output cgroup text_poke build_id inherit_thread remove_on_exec sigtrap"
    " defer_callchain defer_output"
).split()
PRECISE_IP = 15
SIZES = (64, 72, 80, 96, 104, 112, 120, 128, 136, 144)


def mask(names, table):
    """'IP|TID' as the bit word of that table; a number stays as it is."""
    if isinstance(names, int):
        return names
    return sum(1 << table.index(name) for name in names.split("|") if name)


@dataclass
class Attr:
    """One event.  `size` is what attr.size says, `extra` the bytes of a newer kernel behind 144."""

    type: int = 1
    config: int = 0
    sample_period: int = 0  # sample_freq too: the flag freq tells
    sample_type: int = 0
    read_format: int = 0
    flags: tuple = ("sample_id_all",)
    precise_ip: int = 0
    reserved_flags: int = 0  # bits 40..63 from bit 0 on, for kernels to come
    wakeup_events: int = 0
    bp_type: int = 0
    config1: int = 0
    config2: int = 0
    branch_sample_type: int = 0
    sample_regs_user: int = 0
    sample_stack_user: int = 0
    clockid: int = 0
    sample_regs_intr: int = 0
    aux_watermark: int = 0
    sample_max_stack: int = 0
    reserved: int = 0  # the 16 bits behind sample_max_stack
    aux_sample_size: int = 0
    aux_action: tuple = ()  # of "start_paused", "pause", "resume"
    sig_data: int = 0
    config3: int = 0
    config4: int = 0
    size: int = 128  # the largest that perf 5.13 to 6.2 takes
    extra: bytes = field(default=b"")

    def __post_init__(self):
        self.sample_type = mask(self.sample_type, SAMPLE_TYPE)
        self.read_format = mask(self.read_format, READ_FORMAT)
        self.branch_sample_type = mask(self.branch_sample_type, BRANCH_SAMPLE)

    def has(self, name):
        """Whether this sample_type bit is set."""
        return bool(self.sample_type >> SAMPLE_TYPE.index(name) & 1)

    def reads(self, name):
        """Whether this read_format bit is set."""
        return bool(self.read_format >> READ_FORMAT.index(name) & 1)

    def branches(self, name):
        """Whether this branch_sample_type bit is set."""
        return bool(self.branch_sample_type >> BRANCH_SAMPLE.index(name) & 1)

    def _flag_word(self):
        return bits(
            64,
            (PRECISE_IP, 2, self.precise_ip),
            *((FLAGS.index(name), 1, 1) for name in self.flags),
            *((bit, 1, self.reserved_flags >> (bit - 40)) for bit in range(40, 64)),
        )

    def __call__(self, wire):
        """The attr is a Part: attr.size bytes, or 64 where size is 0."""
        whole = [
            u32(self.type, self.size),
            u64(self.config, self.sample_period, self.sample_type, self.read_format),
            self._flag_word(),
            u32(self.wakeup_events, self.bp_type),
            u64(self.config1, self.config2, self.branch_sample_type, self.sample_regs_user),
            u32(self.sample_stack_user, self.clockid),
            u64(self.sample_regs_intr),
            u32(self.aux_watermark),
            u16(self.sample_max_stack, self.reserved),
            u32(self.aux_sample_size),
            bits(32, *((("start_paused", "pause", "resume").index(a), 1,
                        1) for a in self.aux_action)),
            u64(self.sig_data, self.config3, self.config4),
        ]
        size = self.size or 64
        return (encode(whole, wire) + self.extra).ljust(size, b"\0")[:size]
