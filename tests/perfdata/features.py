"""The feature sections: the same bytes in file mode and in a pipe's HEADER_FEATURE records.

Strings are wire.fstr (HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID) and wire.slist (CMDLINE).
"""

from .attr import AttrRow
from .records import build_id_entry
from .rows import (HEADER, REST, U32, U64, Bits, Bytes, Count, Each, Fixed, If, Layout, List,
                   NulText, Numbers, Row, Str, StrList, Sub)
from .wire import encode

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
NUMBER["PD_SYMBOLS"] = 240
SIMPLEPERF = {128: "FILE", 129: "META_INFO", 130: "DEBUG_UNWIND", 131: "DEBUG_UNWIND_FILE",
              132: "FILE2"}
# Number: Layout. The other sections are bytes: TRACING_DATA states its own byte order.
FEATURES = {}


class Feature(Layout):
    def __init__(self, names, *rows, **defaults):
        super().__init__(*rows, **defaults)
        for name in names.split():
            FEATURES[NUMBER[name]] = self


Feature("HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID", Str("text"))
Feature("CMDLINE", StrList("arguments"))
Feature("CLOCKID DIR_FORMAT", U64("value"))
Feature("BRANCH_STACK STAT")
nrcpus = Feature("NRCPUS", U32("available online"))
total_mem = Feature("TOTAL_MEM", U64("kilobytes"))
sample_time = Feature("SAMPLE_TIME", U64("first last"))
numa_topology = Feature("NUMA_TOPOLOGY", List(4, "nodes", U32("node"), U64("mem_total mem_free"),
                                              Str("cpus")))
pmu_mappings = Feature("PMU_MAPPINGS", List(4, "pmus", U32("type"), Str("name")))
group_desc = Feature("GROUP_DESC", List(4, "groups", Str("name"), U32("leader_idx nr_members")))
cache = Feature("CACHE", U32("version"), List(4, "levels", U32("level line_size sets ways"),
                                              Str("type size map")), version=1)
# BTF tells its own byte order.
bpf_btf = Feature("BPF_BTF", List(4, "entries", U32("id"), Count(4, "data"), Bytes("data")))
compressed = Feature("COMPRESSED", U32("version type level ratio mmap_len"), version=0, type=1,
                     level=1, ratio=3, mmap_len=528384)
caps = Feature("CPU_PMU_CAPS", List(4, "pairs", Str("name value")))
clock_data = Feature("CLOCK_DATA", U32("version clockid"), U64("tod_ns clockid_ns"), version=1)
hybrid_topology = Feature("HYBRID_TOPOLOGY", List(4, "pmus", Str("name cpus")))
pmu_caps = Feature("PMU_CAPS", List(4, "pmus", *caps.rows, Str("pmu_name")))
e_machine = Feature("E_MACHINE", U32("e_machine e_flags"))
cln_size = Feature("CLN_SIZE", U32("size"))
# No count: to the end of the section.
cpu_domain_info = Feature(
    "CPU_DOMAIN_INFO", U32("schedstat_version max_sched_domains"),
    Each("cpus", U32("cpu"), List(
        4, "domains", U32("domain"), If(lambda v, t: v["schedstat_version"] >= 17, Str("dname")),
        Str("cpumask cpulist")), count=REST))
event_desc = Feature(
    "EVENT_DESC", Count(4, "events"), U32("attr_size"),
    Each("events", AttrRow("attr", lambda v, t: v["attr_size"]), Count(4, "ids"), Str("name"),
         Numbers(8, "ids")), attr_size=128)


def _if_left(name, size, *rows):
    """A part that came with a later perf. The number of cpus is in another section."""
    return If(lambda v, t: v["nr_cpus"] and t.left() >= size(v) if t else v[name] is not None,
              *rows)


def _nr_cpus(v, t):
    return v["nr_cpus"]


cpu_topology = Feature(
    "CPU_TOPOLOGY", StrList("sibling_cores sibling_threads"),
    _if_left("ids", lambda v: 8 * v["nr_cpus"],
             Each("ids", U32("core_id socket_id"), count=_nr_cpus)),
    _if_left("sibling_dies", lambda v: 1, StrList("sibling_dies"), Numbers(4, "die_ids", _nr_cpus)),
    ids=None, sibling_dies=None, die_ids=())


class _BuildIds(Row):
    """Records, one after the other. Before perf had the pid in them, the id began where it is
    now."""

    def build(self, values):
        return [build_id_entry(*entry) for entry in values["entries"]]

    def swap(self, t, values):
        old = t.data[t.pos + 36 : t.pos + 49] == b"nel.kallsyms]"
        while t.left() >= 8:
            HEADER.swap(t, values)
            if values["size"] < 8:
                return
            part = t.within(t.pos, t.pos + values["size"] - 8)
            t.take(part.end - part.pos)
            if not old:
                part.number(4)


build_ids = Feature("BUILD_ID", _BuildIds("entries"))  # (pid, build_id, filename, misc)
_auxtrace_index = Feature("AUXTRACE", Numbers(8, "words", REST))


class auxtrace_index:
    """Where the AUXTRACE records are.  The file fills in the offsets of the given records."""

    def __init__(self, records, bare=False):
        self.records = records
        self.bare = bare  # simpleperf: no count before the pairs

    def at(self, offsets):
        pairs = [number for i in self.records for number in (offsets[i], 48)]
        return _auxtrace_index(pairs if self.bare else [len(self.records), *pairs])


_mem_topology = Feature(
    "MEM_TOPOLOGY", U64("version block_size"), List(8, "nodes", U64("node size nbits"), Numbers(
        8, "bits", lambda v, t: (v["nbits"] + 63) // 64)))


def mem_topology(block_size, nodes, version=1):
    """nodes: (node, bits, words): u64 words of a bitmap of memory blocks.  The number of bits is
    there twice, from the node and from the bitmap."""
    return _mem_topology(version, block_size,
                         [(node, nbits, nbits, words) for node, nbits, words in nodes])


bpf_info = Layout(
    U32("type id"), Fixed(8, "tag"), U32("jited_prog_len xlated_prog_len"),
    U64("jited_prog_insns xlated_prog_insns load_time"), U32("created_by_uid nr_map_ids"),
    U64("map_ids"), Fixed(16, "name"), U32("ifindex"), Bits(4, "gpl_compatible reserved:31"),
    U64("netns_dev netns_ino"), U32("nr_jited_ksyms nr_jited_func_lens"),
    U64("jited_ksyms jited_func_lens"), U32("btf_id func_info_rec_size"), U64("func_info"),
    U32("nr_func_info nr_line_info"), U64("line_info jited_line_info"),
    U32("nr_jited_line_info line_info_rec_size jited_line_info_rec_size nr_prog_tags"),
    U64("prog_tags run_time_ns run_cnt recursion_misses"),
    U32("verified_insns attach_btf_obj_id attach_btf_id"),
)


def _arrays(*rows):
    """The arrays whose bits are set, each padded to a multiple of 8 bytes."""
    return [If(lambda v, t, bit=bit: v["arrays"] >> bit & 1, row, _Padding("padding"))
            for bit, row in enumerate(rows)]


class _Padding(Row):
    def build(self, values):
        return b""

    def swap(self, t, values):
        t.align()


def _length(name):
    return lambda v, t: v.get(name, 0)


# Code is bytes, as is what follows: BTF's own tables, tags.
_BPF_ARRAYS = _arrays(
    Bytes("jited_insns", _length("jited_prog_len")),
    Bytes("xlated_insns", _length("xlated_prog_len")),
    Numbers(4, "map_ids", _length("nr_map_ids")),
    Numbers(8, "jited_ksyms", _length("nr_jited_ksyms")),
    Numbers(4, "jited_func_lens", _length("nr_jited_func_lens")))
_bpf_prog_info = Feature("BPF_PROG_INFO", List(
    4, "programs", U32("info_size data_size"), U64("arrays"),
    Sub("info", bpf_info, size=_length("info_size")),
    Sub("data", *_BPF_ARRAYS, size=_length("data_size"))))


pd_symbols = Feature("PD_SYMBOLS", U32("version cut"), List(
    4, "images", U32("pid"), U64("ino"), Count(4, "path"), Bytes("path"),
    Count(4, "build_id"), Bytes("build_id"),
    List(4, "functions", U64("base extent"), U32("why"), Count(4, "name"), Bytes("name")),
    Count(4, "addresses"), Numbers(8, "addresses"), Numbers(4, "hits", _length("nr_addresses")),
    Count(4, "times"), Numbers(8, "times"),
    If(lambda values, _: values["version"] >= 2,
       List(4, "names", NulText("text")), List(4, "files", NulText("text")),
       List(4, "calls", U32("name file line caller")),
       Count(4, "inlined"), Numbers(4, "inlined"),
       Count(4, "lines"), Numbers(4, "lines"),
       Numbers(4, "line_files", _length("nr_lines"))),
    If(lambda values, _: values["version"] >= 3,
       List(4, "unwind_rows", Count(4, "row"), Bytes("row")),
       Count(4, "unwound"), Numbers(8, "unwound"),
       Numbers(4, "unwound_rows", _length("nr_unwound")))), version=1, cut=0)


def bpf_prog_info(programs):
    """programs: (info, arrays, data): a Part, the bit word of arrays that are there, a Part."""

    def make(wire):
        encoded = [(encode(info, wire), arrays, encode(data, wire))
                   for info, arrays, data in programs]
        return _bpf_prog_info([(len(info), len(data), arrays, info, data)
                               for info, arrays, data in encoded])

    return make


def meta_info(pairs):
    """simpleperf's: NUL-separated keys and values."""
    return b"".join(k.encode() + b"\0" + v.encode() + b"\0" for k, v in pairs)
