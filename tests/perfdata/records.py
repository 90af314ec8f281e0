"""All records but SAMPLE: the kernel's 1 to 22, perf's own 64 to 86, simpleperf's from 32769.

One function a record, arguments in the order and with the names of the kernel's or perf's struct.
`sid` is the sample_id trailer (sample.sample_id()), `misc` the header's.  What follows a record
outside its header.size (AUXTRACE, TRACING_DATA) is part of what the function gives.
"""

from .wire import encode, f64, fixed, pad_to, raw_text, text8, u8, u16, u32, u64

MISC_KERNEL, MISC_USER, MISC_HYPERVISOR, MISC_GUEST_KERNEL, MISC_GUEST_USER = 1, 2, 3, 4, 5
MISC_PROC_MAP_PARSE_TIMEOUT = 1 << 12
MISC_MMAP_DATA = MISC_COMM_EXEC = MISC_FORK_EXEC = MISC_SWITCH_OUT = 1 << 13
MISC_EXACT_IP = MISC_SWITCH_OUT_PREEMPT = MISC_MMAP_BUILD_ID = 1 << 14
MISC_EXT_RESERVED = MISC_BUILD_ID_SIZE = MISC_LOST_SAMPLES_BPF = 1 << 15


def record(type, body=b"", misc=0, size=None, after=b""):
    """A record of any type.  size: what the header says, where that is not the truth."""

    def make(wire):
        data = encode(body, wire)
        length = 8 + len(data) if size is None else size
        return [u32(type), u16(misc, length), data, after]

    return make


# --- kernel ---------------------------------------------------------------------------------------


def mmap(pid, tid, addr, len, pgoff, filename, misc=MISC_KERNEL, sid=b""):
    return record(1, [u32(pid, tid), u64(addr, len, pgoff), text8(filename), sid], misc)


def lost(id, lost, sid=b"", misc=0):
    return record(2, [u64(id, lost), sid], misc)


def comm(pid, tid, comm, misc=0, sid=b""):
    return record(3, [u32(pid, tid), text8(comm), sid], misc)


def exit(pid, ppid, tid, ptid, time, sid=b"", misc=0):
    return record(4, [u32(pid, ppid, tid, ptid), u64(time), sid], misc)


def throttle(time, id, stream_id, sid=b"", misc=0):
    return record(5, [u64(time, id, stream_id), sid], misc)


def unthrottle(time, id, stream_id, sid=b"", misc=0):
    return record(6, [u64(time, id, stream_id), sid], misc)


def fork(pid, ppid, tid, ptid, time, sid=b"", misc=0):
    return record(7, [u32(pid, ppid, tid, ptid), u64(time), sid], misc)


def read(pid, tid, values, sid=b"", misc=0):
    """values: sample.read_values(attr, ...)."""
    return record(8, [u32(pid, tid), values, sid], misc)


def mmap2(pid, tid, addr, len, pgoff, maj, min, ino, ino_generation, prot, flags, filename,
          misc=MISC_USER, sid=b""):
    return record(10, [u32(pid, tid), u64(addr, len, pgoff), u32(maj, min),
                       u64(ino, ino_generation),
                       u32(prot, flags), text8(filename), sid], misc)


def mmap2_build_id(pid, tid, addr, len, pgoff, build_id, prot, flags, filename, misc=MISC_USER,
                   sid=b"",
                   pad=(0, 0)):
    size = build_id.__len__()  # len is the mapping's here
    return record(10, [u32(pid, tid), u64(addr, len, pgoff), u8(size, pad[0]), u16(pad[1]),
                       fixed(build_id, 20), u32(prot, flags), text8(filename), sid],
                  misc | MISC_MMAP_BUILD_ID)


def mmap2_rhel7(pid, tid, addr, len, pgoff, maj, min, ino, ino_generation, filename, misc=MISC_USER,
                sid=b""):
    """The first layout of MMAP2, still alive in RHEL 7: no prot, no flags."""
    return record(10, [u32(pid, tid), u64(addr, len, pgoff), u32(maj, min),
                       u64(ino, ino_generation),
                       text8(filename), sid], misc)


def aux(aux_offset, aux_size, flags, sid=b"", misc=0):
    return record(11, [u64(aux_offset, aux_size, flags), sid], misc)


def itrace_start(pid, tid, sid=b"", misc=0):
    return record(12, [u32(pid, tid), sid], misc)


def lost_samples(lost, sid=b"", misc=0):
    return record(13, [u64(lost), sid], misc)


def switch(misc=0, sid=b""):
    return record(14, sid, misc)


def switch_cpu_wide(next_prev_pid, next_prev_tid, misc=0, sid=b""):
    return record(15, [u32(next_prev_pid, next_prev_tid), sid], misc)


def namespaces(pid, tid, links, sid=b"", misc=0):
    """links: (dev, inode) pairs, net first."""
    return record(16, [u32(pid, tid), u64(len(links)), [u64(*link) for link in links], sid], misc)


def ksymbol(addr, len, ksym_type, flags, name, sid=b"", misc=0):
    return record(17, [u64(addr), u32(len), u16(ksym_type, flags), text8(name), sid], misc)


def bpf_event(type, flags, id, tag, sid=b"", misc=0):
    return record(18, [u16(type, flags), u32(id), fixed(tag, 8), sid], misc)


def cgroup(id, path, sid=b"", misc=0):
    return record(19, [u64(id), text8(path), sid], misc)


def text_poke(addr, old, new, sid=b"", misc=MISC_KERNEL):
    code = bytes(old) + bytes(new)
    return record(20, [u64(addr), u16(len(old), len(new)), pad_to(bytes(4) + code, 8)[4:], sid],
                  misc)


def aux_output_hw_id(hw_id, sid=b"", misc=0):
    return record(21, [u64(hw_id), sid], misc)


def callchain_deferred(cookie, ips, sid=b"", misc=MISC_USER):
    return record(22, [u64(cookie, len(ips), *ips), sid], misc)


# --- perf's own -----------------------------------------------------------------------------------


def header_attr(attr, ids=()):
    return record(64, [attr, u64(*ids)])


def header_event_type(event_id, name):
    return record(65, [u64(event_id), fixed(name, 64)])


def header_tracing_data(blob, header_size=12):
    """12 bytes of header as perf declares it, 16 as newer ones write it; the blob stands behind."""
    data = pad_to(blob, 8)
    return record(66, [u32(len(data)), bytes(header_size - 12)], after=data)


def header_tracing_data_inline(blob):
    """Old simpleperf: the blob inside header.size."""
    data = pad_to(blob, 8)
    return record(66, [u32(len(data)), data])


def _build_id(type, pid, build_id, name, misc, with_size, reserved=b"\0\0\0", sid=b""):
    size = len(build_id) if with_size else 0
    misc |= MISC_BUILD_ID_SIZE if with_size else 0
    return record(type, [u32(pid), fixed(build_id, 20), u8(size), reserved, name, sid], misc)


def header_build_id(pid, build_id, filename, misc=MISC_USER, with_size=True, sid=b"",
                    reserved=b"\0\0\0"):
    """The record of a pipe: its whole size is a multiple of 8."""
    name = pad_to(bytes(36) + raw_text(filename) + b"\0", 8)[36:]
    return _build_id(67, pid, build_id, name, misc, with_size, reserved, sid)


def build_id_entry(pid, build_id, filename, misc=MISC_USER, with_size=True, type=0,
                   reserved=b"\0\0\0"):
    """An entry of the feature section: the name alone is a multiple of 8; perf writes type 0."""
    return _build_id(type, pid, build_id, text8(filename), misc, with_size, reserved)


def build_id_old(build_id, filename, misc=MISC_KERNEL):
    """An entry of the feature section before perf had the pid in it."""
    return record(0, [fixed(build_id, 24), text8(filename)], misc)


def finished_round():
    return record(68)


def id_index(entries, vcpus=()):
    """entries: (id, idx, cpu, tid); vcpus: (machine_pid, vcpu), one an entry, after all entries."""
    return record(69, [u64(len(entries)), [u64(*e) for e in entries], [u64(*v) for v in vcpus]])


def auxtrace_info(type, priv=(), tail=b"", reserved=0):
    """priv: u64 numbers; tail: what stands behind them (Intel PT's filter)."""
    return record(70, [u32(type, reserved), u64(*priv), tail])


def auxtrace(data, offset=0, reference=0, idx=0, tid=-1, cpu=-1, reserved=0):
    data = pad_to(data, 8)
    return record(71, [u64(len(data), offset, reference), u32(idx, tid, cpu, reserved)], after=data)


def auxtrace_error(type, code, cpu, pid, tid, fmt, ip, msg, time=0, machine_pid=0, vcpu=0):
    """fmt 0 and 1 end behind the message, fmt 2 is whole."""
    head = [u32(type, code, cpu, pid, tid, fmt), u64(ip), u64(time) if fmt else b""]
    if fmt < 2:
        return record(72, [head, text8(msg)])
    return record(72, [head, fixed(msg, 64), u32(machine_pid, vcpu)])


def thread_map(entries):
    """entries: (pid, comm)."""
    return record(73, [u64(len(entries)), [[u64(pid), fixed(name, 16)] for pid, name in entries]])


def cpus_list(cpus):
    """cpu_map_data as a list of cpus."""
    return [u16(0, len(cpus), *cpus)]


def cpus_mask(words, long_size=None):
    """cpu_map_data as a bit mask, in longs of the recording machine."""

    def make(wire):
        if (long_size or wire.long_size) == 4:
            return [u16(1, len(words), 4), u32(*words)]
        return [u16(1, len(words), 8), bytes(4), u64(*words)]

    return make


def cpus_range(start, end, any_cpu=0):
    """cpu_map_data as a range, both ends in it."""
    return [u16(2), u8(any_cpu, 0), u16(start, end)]


def _padded(part):
    return lambda wire: pad_to(encode(part, wire), 8)


def cpu_map(cpus):
    return record(74, _padded(cpus))


def stat_config(entries):
    """entries: (tag, val)."""
    return record(75, [u64(len(entries)), [u64(*e) for e in entries]])


def stat(id, cpu, thread, val, ena, run):
    return record(76, [u64(id), u32(cpu, thread), u64(val, ena, run)])


def stat_round(type, time):
    return record(77, u64(type, time))


def event_update_unit(id, unit):
    return record(78, [u64(0, id), text8(unit)])


def event_update_scale(id, scale):
    return record(78, [u64(1, id), f64(scale)])


def event_update_name(id, name):
    return record(78, [u64(2, id), text8(name)])


def event_update_cpus(id, cpus):
    return record(78, [u64(3, id), _padded(cpus)])


def time_conv(time_shift, time_mult, time_zero):
    """The first form."""
    return record(79, u64(time_shift, time_mult, time_zero))


def time_conv_long(time_shift, time_mult, time_zero, time_cycles, time_mask, cap_user_time_zero,
                   cap_user_time_short, reserved=bytes(6)):
    return record(79, [u64(time_shift, time_mult, time_zero, time_cycles, time_mask),
                       u8(cap_user_time_zero, cap_user_time_short), reserved])


def header_feature(feat_id, payload=b""):
    """No payload: the marker behind the last feature."""
    return record(80, [u64(feat_id), payload])


def compressed(data):
    return record(81, data)


def finished_init():
    return record(82)


def compressed2(data):
    return record(83, [u64(len(data)), pad_to(data, 8)])


def compressed2_overflow(data):
    """What a perf that overlooks the limit writes: the header's 16 bits have wrapped."""
    return record(83, [u64(len(data)), data], size=(16 + len(data) + 7 & ~7) & 0xFFFF)


def bpf_metadata(prog_name, entries, sid=b""):
    """entries: (key, value)."""
    return record(84, [fixed(prog_name, 512), u64(len(entries)),
                       [[fixed(k, 64), fixed(v, 256)] for k, v in entries], sid])


def schedstat_cpu(timestamp, cpu, version, counts, times):
    """counts: the six u32, times: the three u64."""
    assert len(counts) == 6 and len(times) == 3
    return record(85, [u64(timestamp), u32(cpu), u16(version, 0), u32(*counts), u64(*times)])


def schedstat_domain(timestamp, cpu, version, domain, counts, room=0):
    """counts: three blocks of 8 (15, 16) or 11 (17) numbers, then 12; room: bytes behind them."""
    assert len(counts) == {15: 36, 16: 36, 17: 45}[version]
    body = [u64(timestamp), u32(cpu), u16(version, domain), u32(*counts), bytes(room)]
    return record(86, _padded(body))


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
