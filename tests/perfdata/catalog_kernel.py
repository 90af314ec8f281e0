"""Cases of the kernel's records other than SAMPLE, with and without the trailer."""

from . import records as r
from .attr import READ_FORMAT
from .case import (TRAILER, TRAILER_FACTS, Case, attr, one_record, read_facts, read_of,
                   record_facts, trailer)
from .container import File
from .sample import read_values, sample_id
from .wire import u32

BUILD_ID = bytes(range(1, 21))


def whole(name, record, /, **facts):
    """A kernel record with a complete trailer."""
    return one_record(name, record, **facts, **TRAILER_FACTS)


def plain_records():
    """Every type, with a trailer."""
    sid = trailer()
    yield whole("mmap", r.mmap(7, 8, 0x400000, 0x1000, 0x2000, "/bin/ls", sid=sid, misc=2),
                type="MMAP", cpumode="USER", pid=7, tid=8, addr="0x400000", filename="/bin/ls")
    yield whole("mmap-kernel", r.mmap(-1, 0, 0xFFFFFFFF81000000, 0x1000, 0xFFFFFFFF81000000,
                                      "[kernel.kallsyms]_text", sid=sid),
                type="MMAP", cpumode="KERNEL", pid=-1, addr="0xffffffff81000000",
                filename="[kernel.kallsyms]_text")
    yield whole("mmap-data", r.mmap(7, 8, 0x400000, 0, 0, "//anon", sid=sid,
                                    misc=2 | r.MISC_MMAP_DATA | r.MISC_PROC_MAP_PARSE_TIMEOUT),
                misc=0x3002, misc_flags=["PROC_MAP_PARSE_TIMEOUT", "MMAP_DATA"])
    yield whole("lost", r.lost(42, 5, sid=sid), type="LOST", id=42, lost=5)
    yield whole("comm", r.comm(7, 8, "worker", sid=sid), type="COMM", pid=7, tid=8, comm="worker")
    yield whole("comm-exec", r.comm(7, 8, "exactly8", misc=r.MISC_COMM_EXEC, sid=sid),
                comm="exactly8", misc_flags=["COMM_EXEC"])
    yield whole("comm-not-utf8", r.comm(7, 8, b"a\xff", sid=sid), comm="a\ufffd", comm_hex="61ff")
    yield whole("comm-empty", r.comm(7, 8, "", sid=sid), comm="")
    yield whole("exit", r.exit(7, 1, 8, 2, 990, sid=sid), type="EXIT", pid=7, ppid=1, tid=8, ptid=2,
                time=990)
    yield whole("throttle", r.throttle(990, 42, 43, sid=sid), type="THROTTLE", time=990, id=42,
                stream_id=43)
    yield whole("unthrottle", r.unthrottle(991, 42, 43, sid=sid), type="UNTHROTTLE", time=991,
                id=42,
                stream_id=43)
    yield whole("fork", r.fork(9, 7, 9, 8, 992, sid=sid, misc=r.MISC_FORK_EXEC), type="FORK", pid=9,
                ppid=7, tid=9, ptid=8, time=992, misc_flags=["FORK_EXEC"])
    yield whole("mmap2", r.mmap2(7, 8, 0x7F0000000000, 0x2000, 0x1000, 8, 1, 12345, 6, 5, 2,
                                 "/usr/lib/libc.so.6", sid=sid),
                type="MMAP2", cpumode="USER", addr="0x7f0000000000", maj=8, min=1, ino=12345,
                ino_generation=6, prot__raw=5, prot__names=["READ", "EXEC"], flags__raw=2,
                flags__names=["PRIVATE"], filename="/usr/lib/libc.so.6")
    yield whole("mmap2-build-id", r.mmap2_build_id(7, 8, 0x7F0000000000, 0x2000, 0x1000, BUILD_ID,
                                                   5, 2,
                                                   "/usr/lib/libc.so.6", sid=sid),
                build_id=BUILD_ID.hex(), prot__raw=5, filename="/usr/lib/libc.so.6",
                misc_flags=["MMAP_BUILD_ID"])
    yield whole("mmap2-build-id-md5", r.mmap2_build_id(7, 8, 0x7F0000000000, 0x2000, 0,
                                                       BUILD_ID[:16], 5, 2,
                                                       "/usr/lib/libm.so.6", sid=sid),
                build_id=BUILD_ID[:16].hex(), filename="/usr/lib/libm.so.6")
    yield whole("aux", r.aux(0x1000, 0x800, 0xF, sid=sid), type="AUX", aux_offset=0x1000,
                aux_size=0x800, flags__raw=15,
                flags__names=["TRUNCATED", "OVERWRITE", "PARTIAL", "COLLISION"])
    yield whole("aux-format", r.aux(0, 0x800, 0x0100, sid=sid), flags__raw=0x100)
    yield whole("itrace-start", r.itrace_start(7, 8, sid=sid), type="ITRACE_START", pid=7, tid=8)
    yield whole("lost-samples", r.lost_samples(3, sid=sid), type="LOST_SAMPLES", lost=3)
    yield whole("lost-samples-bpf", r.lost_samples(3, sid=sid, misc=r.MISC_LOST_SAMPLES_BPF),
                lost=3,
                misc=0x8000)
    yield whole("switch-in", r.switch(sid=sid), type="SWITCH")
    yield whole("switch-out", r.switch(r.MISC_SWITCH_OUT, sid=sid), misc_flags=["SWITCH_OUT"])
    yield whole("switch-preempt", r.switch(r.MISC_SWITCH_OUT | r.MISC_SWITCH_OUT_PREEMPT, sid=sid),
                misc_flags=["SWITCH_OUT", "SWITCH_OUT_PREEMPT"])
    yield whole("switch-cpu-wide", r.switch_cpu_wide(9, 10, r.MISC_SWITCH_OUT, sid=sid),
                type="SWITCH_CPU_WIDE", next_prev_pid=9, next_prev_tid=10,
                misc_flags=["SWITCH_OUT"])
    yield whole("switch-cpu-wide-dead", r.switch_cpu_wide(-1, -1, sid=sid), next_prev_pid=-1,
                next_prev_tid=-1)
    yield whole("namespaces", r.namespaces(7, 8, [(4, 0xF0000000 + i) for i in range(7)], sid=sid),
                type="NAMESPACES", nr_namespaces=7, namespaces=[
                    {"dev": 4, "inode": 0xF0000000 + i} for i in range(7)])
    yield whole("ksymbol", r.ksymbol(0xFFFFFFFFC0000000, 128, 1, 0, "bpf_prog_1", sid=sid),
                type="KSYMBOL", addr="0xffffffffc0000000", len=128, ksym_type="BPF",
                name="bpf_prog_1")
    yield whole("ksymbol-ool", r.ksymbol(0xFFFFFFFFC0000000, 128, 2, 1, "kprobe_insn_page",
                                         sid=sid),
                ksym_type="OOL", flags__raw=1, flags__names=["UNREGISTER"])
    yield whole("ksymbol-unknown-type", r.ksymbol(0xFFFFFFFFC0000000, 128, 9, 0, "x", sid=sid),
                ksym_type="9")
    yield whole("bpf-event", r.bpf_event(1, 0, 17, bytes(range(8)), sid=sid), type="BPF_EVENT",
                bpf_type="PROG_LOAD", id=17, tag="0001020304050607")
    yield whole("bpf-event-unload", r.bpf_event(2, 0, 17, bytes(8), sid=sid),
                bpf_type="PROG_UNLOAD")
    yield whole("cgroup", r.cgroup(77, "/system.slice/x.service", sid=sid), type="CGROUP", id=77,
                path="/system.slice/x.service")
    yield whole("text-poke", r.text_poke(0xFFFFFFFF81000010, b"\x0f\x1f\x44\x00\x00",
                                         b"\xe9\x01\x02\x03\x04",
                                         sid=sid),
                type="TEXT_POKE", addr="0xffffffff81000010", old_len=5, new_len=5)
    yield whole("text-poke-add", r.text_poke(0xFFFFFFFF81000010, b"", b"\x90" * 12, sid=sid),
                old_len=0,
                new_len=12)
    yield whole("aux-output-hw-id", r.aux_output_hw_id(0x1F, sid=sid), type="AUX_OUTPUT_HW_ID",
                hw_id=0x1F)
    yield whole("callchain-deferred", r.callchain_deferred(99, [0x401000, 0x402000], sid=sid),
                type="CALLCHAIN_DEFERRED", cookie=99, ips=["0x401000", "0x402000"])
    yield whole("callchain-deferred-empty", r.callchain_deferred(0, [], sid=sid), ips=[])
    yield one_record("unknown-kernel-type", r.record(26, b"\1\2\3\4\5\6\7\x08"), type="UNKNOWN",
                     type_id=26, body="0102030405060708")


def trailers():
    """Each trailer bit alone, none, and trailers that a tool filled with zeros."""
    bits = {
        "TID": {"sample_id.pid": 7, "sample_id.tid": 8},
        "TIME": {"sample_id.time": 1000},
        "ID": {"sample_id.id": 42},
        "STREAM_ID": {"sample_id.stream_id": 43},
        "CPU": {"sample_id.cpu": 1},
        "IDENTIFIER": {"sample_id.identifier": 42},
    }
    for bit, facts in bits.items():
        a = attr(bit)
        sid = sample_id(a, pid=7, tid=8, time=1000, id=42, stream_id=43, cpu=1)
        yield Case(f"trailer-{bit.lower().replace('_', '-')}",
                   File(attrs=[(a, [42])], records=[r.comm(7, 8, "x", sid=sid)]),
                   [("record", 0, path, value) for path, value in facts.items()]
                   + record_facts(0, comm="x"))
    a = attr("IP|TID|TIME", flags=())
    yield Case("trailer-none", File(attrs=[(a, [42])], records=[r.comm(7, 8, "x"),
                                                                r.exit(7, 1, 8, 1, 5)]),
               record_facts(0, comm="x") + record_facts(1, time=5))
    a = attr("IP|TID|TIME|CPU")
    yield Case("trailer-zero", File(attrs=[(a, [42])], records=[r.comm(7, 8, "x",
                                                                       sid=sample_id(a))]),
               record_facts(0, comm="x", sample_id__time=0, sample_id__cpu=0))
    yield Case("trailer-cpu-unknown",
               File(attrs=[(a, [42])], records=[r.comm(7, 8, "x", sid=sample_id(a, cpu=-1))]),
               record_facts(0, sample_id__cpu=-1))


def reads():
    """READ with every read_format."""
    for bits in range(1 << len(READ_FORMAT)):
        a = attr("IP|TID|TIME|READ|IDENTIFIER", read_format=bits)
        members = [(100, 42, 1), (200, 43, 2), (300, 44, 3)]
        values = read_values(a, **read_of(members))
        sid = sample_id(a, pid=7, tid=8, time=1000, id=42)
        yield Case(f"read-format-{bits:02}",
                   File(attrs=[(a, [42, 43, 44])], records=[r.read(7, 8, values, sid=sid)]),
                   record_facts(0, type="READ", pid=7, tid=8, read=read_facts(a, members),
                                sample_id__time=1000))


def quirks():
    yield one_record("mmap2-rhel7", r.mmap2_rhel7(7, 8, 0x7F0000000000, 0x2000, 0, 8, 1, 12345, 6,
                                                  "/usr/lib64/libc-2.17.so", sid=trailer()),
                     type="MMAP2", maj=8, ino=12345, filename="/usr/lib64/libc-2.17.so",
                     sample_id__time=1000)
    yield one_record("mmap2-special-names", [
        r.mmap2(7, 8, 0x1000, 0x1000, 0, 0, 0, 0, 0, 3, 2, name, sid=trailer())
        for name in ("//anon", "[heap]", "[stack]", "[vdso]", "//enomem", "//toolong",
                     "/anon_hugepage", "")
    ], filename="//anon")
    yield one_record("body-of-a-newer-kernel", r.record(12, [u32(7, 8), b"\xaa" * 8, trailer()]),
                     type="ITRACE_START", tid=8, trailing="aa" * 8, sample_id__time=1000)


def paddings():
    """Reserved bytes that are not zero.  All are equal, because it is not defined whether a
    reserved u32 has a byte order."""
    sid = trailer()
    yield one_record("padding-trailer-cpu", r.comm(7, 8, "x", sid=sample_id(
        TRAILER, tid=8, time=1000, id=42, cpu=1, res=0xABABABAB)),
        comm="x", sample_id__cpu=1, sample_id__padding="abababab")
    yield one_record("padding-mmap2-build-id", r.mmap2_build_id(
        7, 8, 0x1000, 0x1000, 0, BUILD_ID, 5, 2, "/bin/ls", sid=sid, pad=(0xAB, 0xABAB)),
        filename="/bin/ls", padding="ababab00")
    yield one_record("padding-after-text", r.record(3, [u32(7, 8), b"ab\0XYZW\0", sid]), comm="ab")
    yield one_record("padding-whole-words-after-text", r.record(3,
                                                                 [u32(7, 8), b"ab".ljust(24, b"\0"),
                                                                  sid]),
                     comm="ab", size=88)
    yield one_record("text-without-end", r.record(3, [u32(7, 8), b"12345678", sid]),
                     comm="12345678")


def cases():
    yield from plain_records()
    yield from trailers()
    yield from reads()
    yield from quirks()
    yield from paddings()
