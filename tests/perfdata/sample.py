"""PERF_RECORD_SAMPLE, the sample_id trailer and what both are made of.

The order of the fields is the kernel's order of output, not that of the bits in sample_type.
"""

from .records import record
from .wire import bits, encode, pad_to, u32, u64

NO_HW_IDX = object()  # nothing captured: the kernel writes nr alone, whatever HW_INDEX says


def sample_id(attr, pid=0, tid=0, time=0, id=0, stream_id=0, cpu=0, identifier=None, res=0):
    """The trailer of every kernel record but SAMPLE; nothing where the attr has no sample_id_all.
    ID and IDENTIFIER are one number in the kernel, so one argument will do."""
    if "sample_id_all" not in attr.flags:
        return b""
    identifier = id if identifier is None else identifier
    values = (
        ("TID", u32(pid, tid)),
        ("TIME", u64(time)),
        ("ID", u64(id)),
        ("STREAM_ID", u64(stream_id)),
        ("CPU", u32(cpu, res)),
        ("IDENTIFIER", u64(identifier)),
    )
    return [part for bit, part in values if attr.has(bit)]


def read_values(attr, value=0, id=0, lost=0, time_enabled=0, time_running=0, values=()):
    """read(2)'s layout: value, id and lost, or for a group `values`: (value, id, lost) a member."""
    times = [
        u64(time_enabled) if attr.reads("TOTAL_TIME_ENABLED") else b"",
        u64(time_running) if attr.reads("TOTAL_TIME_RUNNING") else b"",
    ]

    def tail(member_id, member_lost):
        return [
            u64(member_id) if attr.reads("ID") else b"",
            u64(member_lost) if attr.reads("LOST") else b"",
        ]

    if attr.reads("GROUP"):
        return [u64(len(values)), times, [[u64(v), tail(i, n)] for v, i, n in values]]
    return [u64(value), times, tail(id, lost)]


def branch(from_, to, mispred=0, predicted=0, in_tx=0, abort=0, cycles=0, type=0, spec=0,
           new_type=0,
           priv=0, not_taken=0, reserved=0):
    """One perf_branch_entry."""
    return [
        u64(from_, to),
        bits(
            64,
            (0, 1, mispred),
            (1, 1, predicted),
            (2, 1, in_tx),
            (3, 1, abort),
            (4, 16, cycles),
            (20, 4, type),
            (24, 2, spec),
            (26, 4, new_type),
            (30, 3, priv),
            (33, 1, not_taken),
            (34, 30, reserved),
        ),
    ]


def branch_stack(attr, entries=(), hw_idx=0, counters=None):
    """counters: a number an entry, for events whose group has COUNTERS."""
    with_hw_idx = attr.branches("HW_INDEX") and hw_idx is not NO_HW_IDX
    return [
        u64(len(entries)),
        u64(hw_idx) if with_hw_idx else b"",
        list(entries),
        u64(*counters) if counters else b"",
    ]


def registers(mask, values, abi=2):
    """abi, then a number for each bit of the mask; nothing more where abi is 0."""
    if abi == 0:
        return u64(0)
    assert len(values) == bin(mask).count("1"), "one value for each bit of the mask"
    return u64(abi, *values)


def raw(data, size=None):
    """Raw data, padded as by the kernel: the u32 and the data together are a multiple of 8."""

    def make(wire):
        body = encode(data, wire)
        padded = pad_to(bytes(4) + body, 8)[4:] if size is None else body
        return [u32(len(padded) if size is None else size), padded]

    return make


def stack_user(data=b"", dyn_size=None):
    """The copied stack; dyn_size is how much of it was really read."""
    if not data:
        return u64(0)
    return [u64(len(data)), data, u64(len(data) if dyn_size is None else dyn_size)]


def weight_struct(var1_dw=0, var2_w=0, var3_w=0):
    """union perf_sample_weight: one number on both byte orders."""
    return u64(var1_dw & 0xFFFFFFFF | var2_w << 32 | var3_w << 48)


def data_src(op=0, lvl=0, snoop=0, lock=0, dtlb=0, lvl_num=0, remote=0, snoopx=0, blk=0, hops=0,
             region=0):
    """union perf_mem_data_src as a number; the kernel declares it so that it is the same on both
    byte orders."""
    return (op | lvl << 5 | snoop << 19 | lock << 24 | dtlb << 26 | lvl_num << 33 | remote << 37
            | snoopx << 38 | blk << 40 | hops << 43 | region << 46)


def transaction(flags=0, abort_code=0):
    """PERF_TXN_*: eight flags below, the abort code above."""
    return flags | abort_code << 32


def sample(attr, misc=2, after=b"", **given):
    """A SAMPLE.  Every field that attr.sample_type has can be given; what is not is zero or empty.

    sample(attr, ip=0x401000, pid=7, tid=7, callchain=[...], read={"value": 3}, raw=b"...",
           branch_stack={"entries": [branch(1, 2)]}, regs_user=[...], user_abi=2, stack_user=b"...",
           data_src=data_src(op=2), aux=b"...")
    `after` puts bytes behind the last field, still inside the record.
    """
    has, get = attr.has, given.pop
    parts = []

    def put(bit, part):
        if has(bit):
            parts.append(part)

    number = lambda name: u64(get(name, 0))
    id_ = get("id", 0)
    put("IDENTIFIER", u64(get("identifier", id_)))
    put("IP", number("ip"))
    put("TID", u32(get("pid", 0), get("tid", 0)))
    put("TIME", number("time"))
    put("ADDR", number("addr"))
    put("ID", u64(id_))
    put("STREAM_ID", number("stream_id"))
    put("CPU", u32(get("cpu", 0), get("res", 0)))
    put("PERIOD", number("period"))
    put("READ", read_values(attr, **get("read", {})))
    chain = get("callchain", [])
    put("CALLCHAIN", u64(len(chain), *chain))
    put("RAW", raw(get("raw", b""), get("raw_size", None)))
    put("BRANCH_STACK", branch_stack(attr, **get("branch_stack", {})))
    user = get("regs_user", [])
    put("REGS_USER", registers(attr.sample_regs_user, user, get("user_abi", 2 if user else 0)))
    put("STACK_USER", stack_user(get("stack_user", b""), get("dyn_size", None)))
    put("WEIGHT", number("weight"))
    put("WEIGHT_STRUCT", weight_struct(*get("weight_struct", ())))
    put("DATA_SRC", number("data_src"))
    put("TRANSACTION", number("transaction"))
    intr = get("regs_intr", [])
    put("REGS_INTR", registers(attr.sample_regs_intr, intr, get("intr_abi", 2 if intr else 0)))
    put("PHYS_ADDR", number("phys_addr"))
    put("CGROUP", number("cgroup"))
    put("DATA_PAGE_SIZE", number("data_page_size"))
    put("CODE_PAGE_SIZE", number("code_page_size"))
    aux = get("aux", b"")
    put("AUX", [u64(len(aux)), aux])
    assert not given, f"unknown sample fields: {sorted(given)}"
    return record(9, [parts, after], misc)
