"""The feature sections: the same bytes in file mode and in a pipe's HEADER_FEATURE records.

Strings are wire.fstr (HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID) and wire.slist (CMDLINE).
"""

from .records import build_id_entry
from .wire import encode, fstr, slist, u32, u64

NUMBER = {
    name: number
    for number, name in enumerate(
        (
            "RESERVED TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID"
            " TOTAL_MEM CMDLINE EVENT_DESC CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS"
            " GROUP_DESC AUXTRACE STAT CACHE SAMPLE_TIME MEM_TOPOLOGY CLOCKID DIR_FORMAT"
            " BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS"
            " CPU_DOMAIN_INFO E_MACHINE CLN_SIZE"
        ).split()
    )
}
SIMPLEPERF = {128: "FILE", 129: "META_INFO", 130: "DEBUG_UNWIND", 131: "DEBUG_UNWIND_FILE",
              132: "FILE2"}


def build_ids(entries):
    """entries: (pid, build_id, filename, misc)."""
    return [build_id_entry(pid, build_id, name, misc) for pid, build_id, name, misc in entries]


def nrcpus(available, online):
    return u32(available, online)


def total_mem(kilobytes):
    return u64(kilobytes)


def event_desc(events, attr_size):
    """events: (attr, name, ids)."""
    return [
        u32(len(events), attr_size),
        [
            [lambda wire, attr=attr: encode(attr, wire).ljust(attr_size, b"\0")[:attr_size],
             u32(len(ids)), fstr(name), u64(*ids)]
            for attr, name, ids in events
        ],
    ]


def cpu_topology(sibling_cores, sibling_threads, ids=None, sibling_dies=None, die_ids=()):
    """ids: (core_id, socket_id) a cpu.  Each later part came with a later perf."""
    parts = [slist(sibling_cores), slist(sibling_threads)]
    if ids is not None:
        parts.append([u32(*pair) for pair in ids])
    if sibling_dies is not None:
        parts.append([slist(sibling_dies), u32(*die_ids)])
    return parts


def numa_topology(nodes):
    """nodes: (node, mem_total, mem_free, cpus)."""
    return [u32(len(nodes)), [[u32(n), u64(total, free), fstr(cpus)] for n, total, free,
                              cpus in nodes]]


def pmu_mappings(pmus):
    """pmus: (type, name)."""
    return [u32(len(pmus)), [[u32(type), fstr(name)] for type, name in pmus]]


def group_desc(groups):
    """groups: (name, leader_idx, nr_members)."""
    return [u32(len(groups)), [[fstr(name), u32(leader, nr)] for name, leader, nr in groups]]


class auxtrace_index:
    """Where the AUXTRACE records lie.  The file fills in the offsets of the given records."""

    def __init__(self, records, bare=False):
        self.records = records
        self.bare = bare  # simpleperf: no count before the pairs

    def at(self, offsets):
        pairs = [u64(offsets[i], 48) for i in self.records]
        return pairs if self.bare else [u64(len(pairs)), pairs]


def cache(levels, version=1):
    """levels: (level, line_size, sets, ways, type, size, map)."""
    return [
        u32(version, len(levels)),
        [[u32(*numbers), fstr(type), fstr(size), fstr(cpus)] for *numbers, type, size,
         cpus in levels],
    ]


def sample_time(first, last):
    return u64(first, last)


def mem_topology(block_size, nodes, version=1):
    """nodes: (node, bits, words): u64 words of a bitmap of memory blocks.  The number of bits is
    there twice, from the node and from the bitmap."""
    return [
        u64(version, block_size, len(nodes)),
        [u64(node, bits, bits, *words) for node, bits, words in nodes],
    ]


def bpf_prog_info(programs):
    """programs: (info, arrays, data): a Part, the bit word of arrays that are there, a Part."""

    def one(info, arrays, data):
        def make(wire):
            head, body = encode(info, wire), encode(data, wire)
            return [u32(len(head), len(body)), u64(arrays), head, body]

        return make

    return [u32(len(programs)), [one(*program) for program in programs]]


def bpf_btf(entries):
    """entries: (id, data).  BTF tells its own byte order."""
    return [u32(len(entries)), [[u32(id, len(data)), data] for id, data in entries]]


def compressed(version=0, type=1, level=1, ratio=3, mmap_len=528384):
    return u32(version, type, level, ratio, mmap_len)


def caps(pairs):
    """CPU_PMU_CAPS: (name, value) pairs."""
    return [u32(len(pairs)), [[fstr(name), fstr(value)] for name, value in pairs]]


def clock_data(clockid, tod_ns, clockid_ns, version=1):
    return [u32(version, clockid), u64(tod_ns, clockid_ns)]


def hybrid_topology(pmus):
    """pmus: (name, cpus)."""
    return [u32(len(pmus)), [[fstr(name), fstr(cpus)] for name, cpus in pmus]]


def pmu_caps(pmus):
    """pmus: (pairs, pmu_name)."""
    return [u32(len(pmus)), [[caps(pairs), fstr(name)] for pairs, name in pmus]]


def cpu_domain_info(schedstat_version, max_sched_domains, cpus):
    """cpus: (cpu, [(domain, dname, cpumask, cpulist)]).  No count: to the end of the section."""
    named = schedstat_version >= 17
    return [
        u32(schedstat_version, max_sched_domains),
        [
            [u32(cpu, len(domains)),
             [[u32(domain), fstr(dname) if named else b"", fstr(cpumask), fstr(cpulist)]
              for domain, dname, cpumask, cpulist in domains]]
            for cpu, domains in cpus
        ],
    ]


def e_machine(e_machine, e_flags):
    return u32(e_machine, e_flags)


def cln_size(size):
    return u32(size)


def meta_info(pairs):
    """simpleperf's: NUL-separated keys and values."""
    return b"".join(k.encode() + b"\0" + v.encode() + b"\0" for k, v in pairs)
