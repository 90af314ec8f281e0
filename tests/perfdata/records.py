"""All records but SAMPLE: the kernel's, perf's own from 64 on, simpleperf's from 32769 on.

A record is called with the members of the kernel's or perf's struct, in their order and with their
names.  `sid` is the sample_id trailer (sample.sample_id()), `misc` the header's. Bytes after a
record, outside of its header.size (AUXTRACE, TRACING_DATA), are part of the result.
"""

from .attr import AttrRow
from .rows import (F64, REST, U8, U16, U32, U64, Bytes, Count, CText, Each, Fixed, If, Layout, List,
                   Numbers, Record, Sub, Text, record)
from .sample import READ
from .wire import fixed, pad_to, text8

MISC_KERNEL, MISC_USER, MISC_HYPERVISOR, MISC_GUEST_KERNEL, MISC_GUEST_USER = 1, 2, 3, 4, 5
MISC_PROC_MAP_PARSE_TIMEOUT = 1 << 12
MISC_MMAP_DATA = MISC_COMM_EXEC = MISC_FORK_EXEC = MISC_SWITCH_OUT = 1 << 13
MISC_EXACT_IP = MISC_SWITCH_OUT_PREEMPT = MISC_MMAP_BUILD_ID = 1 << 14
MISC_EXT_RESERVED = MISC_BUILD_ID_SIZE = MISC_LOST_SAMPLES_BPF = 1 << 15

# --- kernel ---------------------------------------------------------------------------------------

mmap = Record(1, U32("pid tid"), U64("addr len pgoff"), Text("filename"), misc=MISC_KERNEL)
lost = Record(2, U64("id lost"))
comm = Record(3, U32("pid tid"), Text("comm"))
exit = Record(4, U32("pid ppid tid ptid"), U64("time"))
throttle = Record(5, U64("time id stream_id"))
unthrottle = Record(6, *throttle.rows)
fork = Record(7, *exit.rows)
read = Record(8, U32("pid tid"), Sub("values", READ))  # values: sample.read_values(attr, ...)


def _has_prot(v, t):
    """RHEL 7 has the first layout of MMAP2: the path is where prot and flags are now."""
    if t is None:
        return "prot" in v
    return v["misc"] & MISC_MMAP_BUILD_ID or t.left() >= 16 and not t.peek(t.pos, 4) & ~7


_mmap2 = Record(
    10, U32("pid tid"), U64("addr len pgoff"),
    If(lambda v, t: v["misc"] & MISC_MMAP_BUILD_ID,
       U8("build_id_size pad8"), U16("pad16"), Fixed(20, "build_id")),
    If(lambda v, t: not v["misc"] & MISC_MMAP_BUILD_ID, U32("maj min"), U64("ino ino_generation")),
    If(_has_prot, U32("prot flags")),
    Text("filename"), misc=MISC_USER)


def mmap2(pid, tid, addr, len, pgoff, maj, min, ino, ino_generation, prot, flags, filename,
          misc=MISC_USER, sid=b""):
    return _mmap2.part(**locals())


def mmap2_rhel7(pid, tid, addr, len, pgoff, maj, min, ino, ino_generation, filename, misc=MISC_USER,
                sid=b""):
    return _mmap2.part(**locals())


def mmap2_build_id(pid, tid, addr, len, pgoff, build_id, prot, flags, filename, misc=MISC_USER,
                   sid=b"", pad=(0, 0)):
    return _mmap2.part(pid=pid, tid=tid, addr=addr, len=len, pgoff=pgoff, build_id=build_id,
                       build_id_size=build_id.__len__(), pad8=pad[0], pad16=pad[1], prot=prot,
                       flags=flags, filename=filename, misc=misc | MISC_MMAP_BUILD_ID, sid=sid)


aux = Record(11, U64("aux_offset aux_size flags"))
itrace_start = Record(12, U32("pid tid"))
lost_samples = Record(13, U64("lost"))
switch = Record(14)
switch_cpu_wide = Record(15, U32("next_prev_pid next_prev_tid"))
namespaces = Record(16, U32("pid tid"), List(8, "links", U64("dev inode")))  # net first
ksymbol = Record(17, U64("addr"), U32("len"), U16("ksym_type flags"), Text("name"))
bpf_event = Record(18, U16("type flags"), U32("id"), Fixed(8, "tag"))
cgroup = Record(19, U64("id"), Text("path"))
_text_poke = Record(20, U64("addr"), U16("old_len new_len"), Bytes("code", REST))


def text_poke(addr, old, new, sid=b"", misc=MISC_KERNEL):
    code = pad_to(bytes(4) + bytes(old) + bytes(new), 8)[4:]
    return _text_poke(addr, len(old), len(new), code, misc, sid)


aux_output_hw_id = Record(21, U64("hw_id"))
callchain_deferred = Record(22, U64("cookie"), List(8, "ips"), misc=MISC_USER)

# --- perf's own -----------------------------------------------------------------------------------

header_attr = Record(64, AttrRow("attr"), Numbers(8, "ids", REST), ids=())
event_type = Layout(U64("event_id"), Fixed(64, "name"))  # of the section of the first perfs
_header_event_type = Record(65, U64("event_id"), Bytes("name", REST))  # a real file has none
_tracing_data = Record(66, U32("size"), Bytes("rest", REST))


def header_event_type(event_id, name):
    return _header_event_type(event_id, fixed(name, 64))


def header_tracing_data(blob, header_size=12):
    """12 bytes of header as perf declares it, 16 as newer ones write it; the blob comes after
    it."""
    data = pad_to(blob, 8)
    return [_tracing_data(len(data), bytes(header_size - 12)), data]


def header_tracing_data_inline(blob):
    """Old simpleperf: the blob inside header.size."""
    data = pad_to(blob, 8)
    return _tracing_data(len(data), data)


_BUILD_ID = Layout(U32("pid"), Fixed(20, "build_id"), U8("size"), Fixed(3, "reserved"))
_header_build_id = Record(67, *_BUILD_ID.rows, CText("filename"), step=8)


def header_build_id(pid, build_id, filename, misc=MISC_USER, with_size=True, sid=b"",
                    reserved=b"\0\0\0"):
    """The record of a pipe: its whole size is a multiple of 8."""
    size, misc = (len(build_id), misc | MISC_BUILD_ID_SIZE) if with_size else (0, misc)
    return _header_build_id(pid, build_id, size, reserved, filename, misc, sid)


def build_id_entry(pid, build_id, filename, misc=MISC_USER, with_size=True, type=0,
                   reserved=b"\0\0\0"):
    """An entry of the feature section: the name alone is a multiple of 8; perf writes type 0."""
    size, misc = (len(build_id), misc | MISC_BUILD_ID_SIZE) if with_size else (0, misc)
    return record(type, [_BUILD_ID(pid, build_id, size, reserved), text8(filename)], misc)


def build_id_old(build_id, filename, misc=MISC_KERNEL):
    """An entry of the feature section before perf had the pid in it."""
    return record(0, [build_id.ljust(24, b"\0"), text8(filename)], misc)


finished_round = Record(68)
# vcpus: one an entry, after all entries
id_index = Record(
    69, List(8, "entries", U64("id idx cpu tid")),
    If(lambda v, t: not t or t.left() >= 16 * v["nr_entries"],
       Each("vcpus", U64("machine_pid vcpu"), count=lambda v, t: v["nr_entries"])), vcpus=())

INTEL_PT, INTEL_PT_NUMBERS = 1, 17  # the last of them is the length of a filter


def _has_filter(v, t):
    return v["type"] == INTEL_PT and t.left() >= 8 * INTEL_PT_NUMBERS


def _filter_size(v, t):
    length = v["priv"][-1] if len(v["priv"]) == INTEL_PT_NUMBERS and v["type"] == INTEL_PT else 0
    return length + 8 & ~7 if length else 0


auxtrace_info = Record(
    70, U32("type reserved"),
    Numbers(8, "priv", lambda v, t: INTEL_PT_NUMBERS if _has_filter(v, t) else t.left() // 8),
    Bytes("tail", _filter_size), Numbers(8, "more", REST), priv=(), tail=b"", reserved=0, more=())
_auxtrace = Record(71, U64("size offset reference"), U32("idx tid cpu reserved"))


def auxtrace(data, offset=0, reference=0, idx=0, tid=-1, cpu=-1, reserved=0):
    data = pad_to(data, 8)
    return [_auxtrace(len(data), offset, reference, idx, tid, cpu, reserved), data]


# fmt 0 and 1 end after the message, fmt 2 is whole
auxtrace_error = Record(
    72, U32("type code cpu pid tid fmt"), U64("ip"), If(lambda v, t: v["fmt"], U64("time")),
    If(lambda v, t: v["fmt"] < 2, Text("msg")),
    If(lambda v, t: v["fmt"] >= 2, Fixed(64, "msg"), U32("machine_pid vcpu")),
    time=0, machine_pid=0, vcpu=0)
thread_map = Record(73, List(8, "entries", U64("pid"), Fixed(16, "comm")))

CPUS, MASK, RANGE = range(3)


def _cpus(kind, *rows):
    return If(lambda v, t: v["kind"] == kind, *rows)


def _mask(size, *rows):
    return If(lambda v, t: v["long_size"] == size, *rows)


CPU_MAP_DATA = Layout(
    U16("kind"),
    _cpus(CPUS, Count(2, "cpus"), Numbers(2, "cpus")),
    _cpus(MASK, Count(2, "words"), U16("long_size"), _mask(4, Numbers(4, "words")),
          _mask(8, Fixed(4, "pad"), Numbers(8, "words"))),
    _cpus(RANGE, U8("any_cpu pad8"), U16("start end")),
    If(lambda v, t: t and (v["kind"] > RANGE or t.left() < 8), Bytes("padding", REST)),
)


def cpus_list(cpus):
    """cpu_map_data as a list of cpus."""
    return CPU_MAP_DATA.part(kind=CPUS, cpus=cpus)


def cpus_mask(words, long_size=None):
    """cpu_map_data as a bit mask, in longs of the recording machine."""
    return lambda wire: CPU_MAP_DATA.part(kind=MASK, long_size=long_size or wire.long_size,
                                          words=words)


def cpus_range(start, end, any_cpu=0):
    """cpu_map_data as a range, both ends in it."""
    return CPU_MAP_DATA.part(kind=RANGE, start=start, end=end, any_cpu=any_cpu)


cpu_map = Record(74, Sub("cpus", CPU_MAP_DATA), step=8)
stat_config = Record(75, List(8, "entries", U64("tag val")))
stat = Record(76, U64("id"), U32("cpu thread"), U64("val ena run"))
stat_round = Record(77, U64("type time"))

UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS = range(4)
_event_update = Record(
    78, U64("type id"),
    If(lambda v, t: v["type"] == UPDATE_SCALE, F64("scale")),
    If(lambda v, t: v["type"] == UPDATE_CPUS, Sub("cpus", CPU_MAP_DATA)),
    If(lambda v, t: v["type"] not in (UPDATE_SCALE, UPDATE_CPUS), Text("text")), step=8)


def event_update_unit(id, unit):
    return _event_update.part(type=UPDATE_UNIT, id=id, text=unit)


def event_update_scale(id, scale):
    return _event_update.part(type=UPDATE_SCALE, id=id, scale=scale)


def event_update_name(id, name):
    return _event_update.part(type=UPDATE_NAME, id=id, text=name)


def event_update_cpus(id, cpus):
    return _event_update.part(type=UPDATE_CPUS, id=id, cpus=cpus)


time_conv_long = Record(
    79, U64("time_shift time_mult time_zero"),
    If(lambda v, t: t.left() >= 24 if t else "time_cycles" in v, U64("time_cycles time_mask"),
       U8("cap_user_time_zero cap_user_time_short"), Fixed(6, "reserved")), reserved=bytes(6))


def time_conv(time_shift, time_mult, time_zero):
    """The first form."""
    return time_conv_long.part(time_shift=time_shift, time_mult=time_mult, time_zero=time_zero)


# No payload: the marker after the last feature.
header_feature = Record(80, U64("feat_id"), Sub("payload"), payload=b"")
compressed = Record(81, Bytes("data", REST))
finished_init = Record(82)
compressed2 = Record(83, Count(8, "data"), Bytes("data", REST), step=8)


def compressed2_overflow(data):
    """The record of a perf that overlooks the limit: the header's 16 bits have wrapped."""
    size = (16 + len(data) + 7 & ~7) & 0xFFFF
    return record(83, [Count(8, "data").build({"data": data}), data], size=size)


bpf_metadata = Record(84, Fixed(512, "prog_name"),
                      List(8, "entries", Fixed(64, "key"), Fixed(256, "value")))
# counts: the six u32, times: the three u64
schedstat_cpu = Record(85, U64("timestamp"), U32("cpu"), U16("version reserved"),
                       Numbers(4, "counts", 6), Numbers(8, "times", 3), reserved=0)
# counts: three blocks of 8 (15, 16) or 11 (17) numbers, then 12; room: zeros after them
_schedstat_domain = Record(
    86, U64("timestamp"), U32("cpu"), U16("version domain"),
    Numbers(4, "counts", lambda v, t: 45 if v["version"] == 17 else 36),
    If(lambda v, t: not t or not any(t.data[t.pos : t.end]), Bytes("room", REST)), step=8)


def schedstat_domain(timestamp, cpu, version, domain, counts, room=0):
    return _schedstat_domain(timestamp, cpu, version, domain, counts, bytes(room))


# --- simpleperf's ---------------------------------------------------------------------------------

SIMPLEPERF = {
    32769: "KERNEL_SYMBOL",
    32770: "DSO",
    32771: "SYMBOL",
    32772: "SPLIT",
    32773: "SPLIT_END",
    32774: "EVENT_ID",
    32775: "CALLCHAIN",
    32776: "UNWINDING_RESULT",
    32777: "TRACING_DATA",
}


def simpleperf(type, body):
    """Opaque to this project: bytes that no byte order changes."""
    return record(type, body)
