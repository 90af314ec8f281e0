"""PERF_RECORD_SAMPLE, the sample_id trailer and what both are made of.

The order of the fields is the kernel's order of output, not that of the bits in sample_type.
"""

from .attr import SAMPLE_TYPE
from .rows import (Bits, Bytes, Count, Each, If, Layout, List, Numbers, Record, Sub, U32, U64)
from .wire import encode, pad_to, u32

NO_HW_IDX = object()  # nothing captured: the kernel writes nr alone, whatever HW_INDEX says


def _has(bit, *rows):
    """Rows of an event with this sample_type bit."""
    mask = 1 << SAMPLE_TYPE.index(bit)
    return If(lambda v, t: v["attr"].sample_type & mask, *rows)


def _reads(bit, *rows):
    return If(lambda v, t: v["attr"].reads(bit), *rows)


SAMPLE_ID = Layout(
    _has("TID", U32("pid tid")),
    _has("TIME", U64("time")),
    _has("ID", U64("id")),
    _has("STREAM_ID", U64("stream_id")),
    _has("CPU", U32("cpu res")),
    _has("IDENTIFIER", U64("identifier")),
)


def sample_id(attr, **values):
    """The trailer of every kernel record but SAMPLE; nothing where the attr has no sample_id_all.
    ID and IDENTIFIER are one number in the kernel, so one argument will do."""
    if "sample_id_all" not in attr.flags:
        return b""
    return SAMPLE_ID.part(attr=attr, **{"identifier": values.get("id", 0), **values})


_IN_GROUP = lambda v, t: v["attr"].reads("GROUP")
_ALONE = lambda v, t: not v["attr"].reads("GROUP")
_MEMBER = U64("value"), _reads("ID", U64("id")), _reads("LOST", U64("lost"))
READ = Layout(
    If(_IN_GROUP, Count(8, "values")),
    If(_ALONE, _MEMBER[0]),
    _reads("TOTAL_TIME_ENABLED", U64("time_enabled")),
    _reads("TOTAL_TIME_RUNNING", U64("time_running")),
    If(_IN_GROUP, Each("values", *_MEMBER)),
    If(_ALONE, *_MEMBER[1:]),
)


def read_values(attr, **values):
    """read(2)'s layout: value, id and lost, or for a group `values`: (value, id, lost) a member."""
    return READ.part(attr=attr, **values)


_FLAGS = Bits(8, "mispred predicted in_tx abort cycles:16 type:4 spec:2 new_type:4 priv:3 not_taken"
                 " reserved:30")
branch = Layout(U64("from_ to"), _FLAGS, **dict.fromkeys(_FLAGS.names, 0))
BRANCH_STACK = Layout(
    Count(8, "entries"),
    If(lambda v, t: v["with_hw_idx"] if t else "hw_idx" in v, U64("hw_idx")),
    Each("entries", *branch.rows),
    If(lambda v, t: v["with_counters"] if t else "counters" in v,
       Numbers(8, "counters", lambda v, t: v["nr_entries"])),
)


def branch_stack(attr, entries=(), hw_idx=0, counters=None):
    """counters: a number an entry, for events whose group has COUNTERS."""
    more = {"counters": counters} if counters else {}
    if attr.branches("HW_INDEX") and hw_idx is not NO_HW_IDX:
        more["hw_idx"] = hw_idx
    return BRANCH_STACK.part(entries=entries, **more)


def _registers(mask):
    return Layout(U64("abi"), If(lambda v, t: v["abi"], Numbers(
        8, "values", lambda v, t: bin(getattr(v["attr"], mask)).count("1"))))


REGS_USER, REGS_INTR = _registers("sample_regs_user"), _registers("sample_regs_intr")


def registers(mask, values, abi=2):
    """abi, then a number for each bit of the mask; nothing more where abi is 0."""
    assert abi == 0 or len(values) == bin(mask).count("1"), "one value for each bit of the mask"
    return REGS_USER(abi, values)


# The kernel pads the u32 and the data together to a multiple of 8, other writers after the data.
RAW = Layout(Count(4, "data"), Bytes("data"), If(lambda v, t: t and v["align_raw"], Bytes(
    "padding", lambda v, t: -t.pos % 8)))


def raw(data, size=None):
    """Raw data as the kernel pads it; size: the stated one, if not the real one."""

    def make(wire):
        body = encode(data, wire)
        if size is not None:
            return [u32(size), body]
        return RAW.part(data=pad_to(bytes(4) + body, 8)[4:])

    return make


STACK_USER = Layout(Count(8, "data"), If(lambda v, t: v["nr_data"], Bytes("data"), U64("dyn_size")))


def stack_user(data=b"", dyn_size=None):
    """The copied stack; dyn_size is how much of it was really read."""
    return STACK_USER(data, len(data) if dyn_size is None else dyn_size)


def weight_struct(var1_dw=0, var2_w=0, var3_w=0):
    """union perf_sample_weight: one number on both byte orders."""
    return var1_dw & 0xFFFFFFFF | var2_w << 32 | var3_w << 48


def data_src(op=0, lvl=0, snoop=0, lock=0, dtlb=0, lvl_num=0, remote=0, snoopx=0, blk=0, hops=0,
             region=0):
    """union perf_mem_data_src as a number; the kernel declares it so that it is the same on both
    byte orders."""
    return (op | lvl << 5 | snoop << 19 | lock << 24 | dtlb << 26 | lvl_num << 33 | remote << 37
            | snoopx << 38 | blk << 40 | hops << 43 | region << 46)


def transaction(flags=0, abort_code=0):
    """PERF_TXN_*: eight flags below, the abort code above."""
    return flags | abort_code << 32


SAMPLE = Record(
    9,
    _has("IDENTIFIER", U64("identifier")),
    _has("IP", U64("ip")),
    _has("TID", U32("pid tid")),
    _has("TIME", U64("time")),
    _has("ADDR", U64("addr")),
    _has("ID", U64("id")),
    _has("STREAM_ID", U64("stream_id")),
    _has("CPU", U32("cpu res")),
    _has("PERIOD", U64("period")),
    _has("READ", Sub("read", READ)),
    _has("CALLCHAIN", List(8, "callchain")),
    _has("RAW", Sub("raw", RAW)),
    _has("BRANCH_STACK", Sub("branch_stack", BRANCH_STACK)),
    _has("REGS_USER", Sub("regs_user", REGS_USER)),
    _has("STACK_USER", Sub("stack_user", STACK_USER)),
    _has("WEIGHT", U64("weight")),
    _has("WEIGHT_STRUCT", U64("weight_struct")),
    _has("DATA_SRC", U64("data_src")),
    _has("TRANSACTION", U64("transaction")),
    _has("REGS_INTR", Sub("regs_intr", REGS_INTR)),
    _has("PHYS_ADDR", U64("phys_addr")),
    _has("CGROUP", U64("cgroup")),
    _has("DATA_PAGE_SIZE", U64("data_page_size")),
    _has("CODE_PAGE_SIZE", U64("code_page_size")),
    _has("AUX", Count(8, "aux"), Bytes("aux")),
)


def sample(attr, misc=2, after=b"", **given):
    """A SAMPLE.  Every field that attr.sample_type has can be given; what is not is zero or empty.

    sample(attr, ip=0x401000, pid=7, tid=7, callchain=[...], read={"value": 3}, raw=b"...",
           branch_stack={"entries": [branch(1, 2)]}, regs_user=[...], user_abi=2, stack_user=b"...",
           data_src=data_src(op=2), aux=b"...")
    `after` is bytes after the last field, still inside the record.
    """
    get = given.pop
    read, branches = get("read", {}), get("branch_stack", {})
    stack, dyn_size = get("stack_user", b""), get("dyn_size", None)
    user, intr = get("regs_user", []), get("regs_intr", [])
    user_abi, intr_abi = get("user_abi", 2 if user else 0), get("intr_abi", 2 if intr else 0)
    values = {  # of which only the fields that the event has are made
        "identifier": given.get("id", 0),
        "read": lambda wire: read_values(attr, **read),
        "raw": raw(get("raw", b""), get("raw_size", None)),
        "branch_stack": lambda wire: branch_stack(attr, **branches),
        "regs_user": lambda wire: registers(attr.sample_regs_user, user, user_abi),
        "stack_user": lambda wire: stack_user(stack, dyn_size),
        "weight_struct": weight_struct(*get("weight_struct", ())),
        "regs_intr": lambda wire: registers(attr.sample_regs_intr, intr, intr_abi),
    }
    return SAMPLE.part(attr=attr, misc=misc, sid=after, **{**values, **given})
