"""Cases of the feature sections, each in a file and all of them in a pipe, and of attributes."""

import struct

from . import features as f
from . import records as r
from .attr import BRANCH_SAMPLE, FLAGS, READ_FORMAT, SAMPLE_TYPE, SIZES, Attr
from .case import PRESENT, TRAILER, Case, attr, record_facts
from .container import File, Pipe
from .features import NUMBER, SIMPLEPERF
from .tracing import Format, tracing_data
from .wire import fstr, slist, u32, u64

BUILD_ID = bytes(range(1, 21))
HOST = fstr("box")


INFO = f.bpf_info.part(
    type=6, id=17, tag=bytes(range(8)), xlated_prog_len=16, load_time=123456789,
    created_by_uid=1000, nr_map_ids=2, map_ids=16, name="prog", gpl_compatible=1, btf_id=5,
    nr_prog_tags=1, prog_tags=24, run_time_ns=1111, run_cnt=22, recursion_misses=3,
    verified_insns=8)
BPF_DATA = [bytes(range(16)), u32(1, 2), bytes(range(8))]
BTF = struct.pack("<HBBI", 0xEB9F, 1, 0, 24) + bytes(16)

# name: (payload, {path: value})
SECTIONS = {
    "TRACING_DATA": (tracing_data({"sched": [Format("sched_stat_x", 300, [("int x", 8, 4, 1)])]}),
                     {"version": "0.6", "long_size": 8, "page_size": 4096,
                      "systems[0].name": "sched", "ftrace_formats": [], "kallsyms": ""}),
    "BUILD_ID": (
        f.build_ids([(-1, BUILD_ID, "[kernel.kallsyms]", 1), (7, BUILD_ID[:16], "/bin/ls", 2),
                     (0, BUILD_ID, "[guest.kernel.kallsyms]", 4)]),
        {"[0].pid": -1, "[0].build_id": BUILD_ID.hex(), "[0].filename": "[kernel.kallsyms]",
         "[0].misc": 0x8001, "[1].build_id": BUILD_ID[:16].hex(),
         "[2].misc": 0x8004},
    ),
    "HOSTNAME": (HOST, {"": "box"}),
    "OSRELEASE": (fstr("6.18.0-x"), {"": "6.18.0-x"}),
    "VERSION": (fstr("6.1.187"), {"": "6.1.187"}),
    "ARCH": (fstr("x86_64"), {"": "x86_64"}),
    "NRCPUS": (f.nrcpus(4, 2), {"": {"available": 4, "online": 2}}),
    "CPUDESC": (fstr("A CPU \u00b5"), {"": "A CPU \u00b5"}),
    "CPUID": (fstr("GenuineIntel,6,85,7"), {"": "GenuineIntel,6,85,7"}),
    "TOTAL_MEM": (f.total_mem(24682416), {"": 24682416}),
    "CMDLINE": (slist(["/usr/bin/perf", "record", "-e", "cycles", ""]),
                {"": ["/usr/bin/perf", "record", "-e", "cycles", ""]}),
    "EVENT_DESC": (f.event_desc([(TRAILER, "cpu-clock", [42])], 128),
                   {"events[0].name": "cpu-clock", "events[0].ids": [42]}),
    "CPU_TOPOLOGY": (f.cpu_topology(["0-3"], ["0-1", "2-3"], [(0, 0), (0, 0), (1, 0), (1, -1)]),
                     {"sibling_cores": ["0-3"], "sibling_threads": ["0-1", "2-3"],
                      "cpus[2]": {"core_id": 1, "socket_id": 0}, "cpus[3].socket_id": -1}),
    "NUMA_TOPOLOGY": (f.numa_topology([(0, 24682416, 1000, "0-1"), (1, 2, 1, "2-3")]),
                      {"[0].node": 0, "[0].mem_total": 24682416, "[0].mem_free": 1000,
                       "[1].cpus": "2-3"}),
    "BRANCH_STACK": (b"", {"": {}}),
    "PMU_MAPPINGS": (f.pmu_mappings([(4, "cpu"), (1, "software")]),
                     {"": [{"type": 4, "name": "cpu"}, {"type": 1, "name": "software"}]}),
    "GROUP_DESC": (f.group_desc([("{anon_group}", 0, 2), ("g", 2, 3)]),
                   {"": [{"name": "{anon_group}", "leader_idx": 0, "nr_members": 2},
                         {"name": "g", "leader_idx": 2, "nr_members": 3}]}),
    "AUXTRACE": (f.auxtrace_index([0]),
                 {"nr": 1, "entries[0].file_offset": PRESENT, "entries[0].size": 48}),
    "STAT": (b"", {"": {}}),
    "CACHE": (f.cache([(1, 64, 64, 8, "Data", "32K", "0-1"),
                       (2, 64, 1024, 16, "Unified", "1024K", "0")]),
              {"version": 1, "caches[0].level": 1, "caches[1].sets": 1024, "caches[0].type": "Data",
               "caches[1].size": "1024K", "caches[1].map": "0"}),
    "SAMPLE_TIME": (f.sample_time(1000, 2000), {"": {"first": 1000, "last": 2000}}),
    "MEM_TOPOLOGY": (f.mem_topology(128 << 20, [(0, 70, [(1 << 64) - 1, 0x3F]), (1, 3, [7])]),
                     {"version": 1, "block_size": 128 << 20, "nodes[0].node": 0,
                      "nodes[0].nbits": 70, "nodes[0].bits": ["0xffffffffffffffff", "0x3f"],
                      "nodes[1].bits": ["0x7"]}),
    "CLOCKID": (u64(1), {"": 1}),
    "DIR_FORMAT": (u64(1), {"": 1}),
    "BPF_PROG_INFO": (f.bpf_prog_info([(INFO, 1 << 1 | 1 << 2 | 1 << 8, BPF_DATA)]),
                      {"[0].info.type": "XDP", "[0].info.id": 17, "[0].info.name": "prog",
                       "[0].info.tag": "0001020304050607", "[0].info.run_cnt": 22,
                       "[0].info.gpl_compatible": 1, "[0].info.load_time": 123456789,
                       "[0].data.xlated_insns": bytes(range(16)).hex(),
                       "[0].data.map_ids": [1, 2]}),
    "BPF_BTF": (f.bpf_btf([(5, BTF)]), {"": [{"id": 5, "data_size": 24, "data": BTF.hex()}]}),
    "COMPRESSED": (f.compressed(0, 1, 3, 4, 528384),
                   {"version": 0, "level": 3, "ratio": 4, "mmap_len": 528384}),
    "CPU_PMU_CAPS": (f.caps([("branches", "32"), ("max_precise", "3")]),
                     {"": [{"name": "branches", "value": "32"},
                           {"name": "max_precise", "value": "3"}]}),
    "CLOCK_DATA": (f.clock_data(1, 1700000000000000000, 1000),
                   {"": {"version": 1, "clockid": "MONOTONIC", "clockid_time_ns": 1000,
                         "wall_clock_ns": 1700000000000000000}}),
    "HYBRID_TOPOLOGY": (f.hybrid_topology([("cpu_core", "0-7"), ("cpu_atom", "8-15")]),
                        {"[0].pmu_name": "cpu_core", "[1].cpus": "8-15"}),
    "PMU_CAPS": (f.pmu_caps([([("branches", "32")], "cpu_core"), ([], "cpu_atom")]),
                 {"[0].pmu_name": "cpu_core", "[0].caps": [{"name": "branches", "value": "32"}],
                  "[1]": {"caps": [], "pmu_name": "cpu_atom"}}),
    "CPU_DOMAIN_INFO": (f.cpu_domain_info(17, 3, [(0, [(0, "SMT", "3", "0-1"),
                                                       (1, "MC", "f", "0-3")]),
                                                  (1, [])]),
                        {"schedstat_version": 17, "max_sched_domains": 3,
                         "cpus[0].domains[1]": {"domain": 1, "dname": "MC", "cpumask": "f",
                                                "cpulist": "0-3"},
                         "cpus[1]": {"cpu": 1, "nr_domains": 0, "domains": []}}),
    "E_MACHINE": (f.e_machine(62, 5), {"e_machine": "X86_64", "e_flags": "0x5"}),
    "CLN_SIZE": (f.cln_size(64), {"size": 64}),
    "PD_SYMBOLS": (f.pd_symbols([(2**32 - 1, 99, b"/bin/app", b"\1\2\3",
                                  [(0x1000, 2**64 - 1, 0, b"main"),
                                   (0x2000, 0x402000, 11, b"")], [0x1001, 0x1010, 0x2004],
                                  [0, 0, 1], [], [(b"f",), (b"_ZN1g1hEv",)], [(b"/a.c",)],
                                  [(1, 1, 7, 0), (2, 0, 0, 1)], [0, 2, 0], [3, 0, 9],
                                  [1, 0, 1], [(b"\0\4\7\x10\0\0\0",), (b"\2",)],
                                  [0x1001, 0x1007], [1, 0]),
                                 (7, 0, b"", b"", [(0x7000, 2**64 - 1, 0, b"jitted")], [0x7004],
                                  [0], [123], [], [], [], [], [], [], [], [], [])], version=3),
                   {"version": 3, "images[0]": {
                       "pid": -1, "ino": 99, "path": "/bin/app", "build_id": "010203",
                       "functions": [{"base": "0x1000", "extent": "0xffffffffffffffff", "why": 0,
                                      "name": "main"},
                                     {"base": "0x2000", "extent": "0x402000", "why": 11,
                                      "name": ""}],
                       "nr_addresses": 3, "addresses": ["0x1001", "0x1010", "0x2004"],
                       "hits": [0, 0, 1], "nr_times": 0, "times": [],
                       "names": ["f", "_ZN1g1hEv"], "files": ["/a.c"],
                       "calls": [{"name": 1, "file": 1, "line": 7, "caller": 0},
                                 {"name": 2, "file": 0, "line": 0, "caller": 1}],
                       "nr_inlined": 3, "inlined": [0, 2, 0],
                       "nr_lines": 3, "lines": [3, 0, 9], "line_files": [1, 0, 1],
                       "unwind_rows": [{"row": "00040710000000"}, {"row": "02"}],
                       "nr_unwound": 2, "unwound": ["0x1001", "0x1007"], "unwound_rows": [1, 0]},
                    "images[1].times": [123]}),
}
# Sections that are not written as HEADER_FEATURE.
NOT_PIPED = (
    "TRACING_DATA BUILD_ID BRANCH_STACK AUXTRACE STAT CACHE DIR_FORMAT HYBRID_TOPOLOGY PD_SYMBOLS"
).split()


def feature_facts(name):
    facts = SECTIONS[name][1] or {"": PRESENT}
    return [("feature", name, path, value) for path, value in facts.items()]


def with_features(name, sections, expect):
    """A file with HOSTNAME and these; its first record is AUXTRACE, for the index."""
    return Case(name, File(attrs=[(TRAILER, [42])],
                           records=[r.auxtrace(b"12345678"), r.comm(7, 8, "x")],
                           features={3: HOST, **sections}), expect)


def each_section():
    for name, (payload, _) in SECTIONS.items():
        sections = {NUMBER[name]: payload}
        if name == "CPU_TOPOLOGY":
            sections[7] = SECTIONS["NRCPUS"][0]
        if name == "HOSTNAME":
            sections[3] = payload
        yield with_features(f"feature-{name.lower().replace('_', '-')}", sections,
                            feature_facts(name))
    everything = {NUMBER[name]: payload for name, (payload, _) in SECTIONS.items()}
    facts = [fact for name in SECTIONS for fact in feature_facts(name)]
    yield with_features("features-all", everything, facts)
    yield Case("features-pipe", Pipe(records=[
        r.header_attr(TRAILER, [42]),
        *(r.header_feature(NUMBER[name], payload) for name, (payload, _) in SECTIONS.items()
          if name not in NOT_PIPED),
        r.header_feature(35)]), [fact for fact in facts if fact[1] not in NOT_PIPED])


def variants():
    """Sections of older and other writers."""
    def one(name, feature, payload, facts=None, more=None):
        number = NUMBER.get(feature) or int(feature.removeprefix("FEATURE_"))
        return with_features(f"feature-{name}", {number: payload, **(more or {})},
                             [("feature", feature, path, value) for path,
                              value in (facts or {"": PRESENT}).items()])

    cpus = {7: SECTIONS["NRCPUS"][0]}
    lists = (["0-3"], ["0-1", "2-3"])
    ids = [(0, 0), (0, 0), (1, 0), (1, -1)]
    siblings = {"sibling_cores": ["0-3"], "sibling_threads": ["0-1", "2-3"]}
    yield one("cpu-topology-lists-only", "CPU_TOPOLOGY", f.cpu_topology(*lists), siblings, cpus)
    yield one("cpu-topology-no-nrcpus", "CPU_TOPOLOGY", f.cpu_topology(*lists), siblings)
    yield one("cpu-topology-dies", "CPU_TOPOLOGY", f.cpu_topology(*lists, ids, ["0-1", "2-3"],
                                                                  [0, 0, 1, 1]),
              {**siblings, "sibling_dies": ["0-1", "2-3"]}, cpus)
    yield one("build-id-sizeless", "BUILD_ID",
              [r.build_id_entry(7, BUILD_ID[:16], "/bin/ls", 2, with_size=False)],
              {"[0].build_id": BUILD_ID[:16].hex(), "[0].filename": "/bin/ls"})
    yield one("build-id-old", "BUILD_ID",
              [r.build_id_old(BUILD_ID, "[kernel.kallsyms]"),
               r.build_id_old(BUILD_ID, "/bin/ls", misc=2)],
              {"[0].filename": "[kernel.kallsyms]", "[0].build_id": BUILD_ID.hex(),
               "[1].filename": "/bin/ls"})
    yield one("build-id-simpleperf", "BUILD_ID",
              [r.build_id_entry(-1, BUILD_ID, "/system/lib64/libc.so", 2, with_size=False, type=67,
                                 reserved=b"\xde\xad\xbe")],
              {"[0].filename": "/system/lib64/libc.so"})
    yield one("build-id-unaligned-names", "BUILD_ID",
              [r.build_id_entry(7, BUILD_ID, name, 2) for name in ("a", "abcdefg", "abcdefgh")],
              {"[0].filename": "a", "[1].filename": "abcdefg", "[2].filename": "abcdefgh"})
    yield one("event-desc-other-attr-size", "EVENT_DESC",
              f.event_desc([(Attr(size=96), "old", [1])], 96),
              {"events[0].name": "old"})
    yield one("event-desc-of-more", "EVENT_DESC",
              f.event_desc([(TRAILER, "cpu-clock", [42]), (attr("IP"), "faults", [])], 128),
              {"events[0].name": "cpu-clock", "events[1].name": "faults"})
    yield one("event-desc-empty", "EVENT_DESC", f.event_desc([], 128), {"events": []})
    yield one("pmu-mappings-empty", "PMU_MAPPINGS", f.pmu_mappings([]), {"": []})
    yield one("cpu-pmu-caps-empty", "CPU_PMU_CAPS", f.caps([]), {"": []})
    yield one("auxtrace-bare", "AUXTRACE", f.auxtrace_index([0], bare=True))
    yield one("auxtrace-empty", "AUXTRACE", f.auxtrace_index([]), {"entries": []})
    yield one("compressed-none", "COMPRESSED", f.compressed(0, 0, 0, 0, 0), {"level": 0})
    yield one("clock-data-zero", "CLOCK_DATA", f.clock_data(0, 0, 0, version=0), {"version": 0})
    yield one("bpf-prog-info-empty", "BPF_PROG_INFO", f.bpf_prog_info([]), {"": []})
    yield one("bpf-prog-info-short", "BPF_PROG_INFO",
              f.bpf_prog_info([([u32(1, 9), bytes(8), u32(0, 0)], 0, b"")]))
    yield one("cpu-domain-info-15", "CPU_DOMAIN_INFO",
              f.cpu_domain_info(15, 2, [(0, [(0, "", "3", "0-1")])]), {"schedstat_version": 15})
    yield one("hostname-short", "HOSTNAME", fstr("a", 1), {"": "a"})
    yield one("hostname-no-nul", "HOSTNAME", [u32(3), b"abc"], {"": "abc"})
    yield one("hostname-not-utf8", "HOSTNAME", fstr(b"b\xffx"), {"": "b\ufffdx"})
    yield one("osrelease-empty-string", "OSRELEASE", [u32(0)], {"": ""})
    yield with_features("feature-osrelease-no-bytes", {4: b""},
                        [("feature", "HOSTNAME", "", "box")])
    yield one("arch-with-more-after", "ARCH", [fstr("x86_64"), b"\xaa\xbb"], {"": "x86_64"})
    yield one("unknown-47", "FEATURE_47", b"\1\2\3", {"raw": "010203"})
    yield one("unknown-255", "FEATURE_255", b"\xff", {"raw": "ff"})
    for number, name in SIMPLEPERF.items():
        payload = f.meta_info([("simpleperf_version", "1"),
                               ("arch", "arm64")]) if number == 129 else b"\1\2\3"
        yield with_features(f"feature-simpleperf-{name.lower().replace('_', '-')}",
                            {number: payload},
                            [("feature", "HOSTNAME", "", "box")])
    topology = f.cpu_topology(*lists, ids)
    yield Case("features-pipe-cpu-topology-first",
               Pipe(records=[r.header_attr(TRAILER, [42]),
                             r.header_feature(7, f.nrcpus(4, 4)), r.header_feature(13, topology)]),
               [("feature", "CPU_TOPOLOGY", path, value) for path, value in siblings.items()])


def attrs():
    def one(name, a, facts, **options):
        return Case(f"attr-{name}", File(attrs=[(a, [42])], records=[r.finished_round()],
                                         **options),
                    [("attr", 0, f"attr.{path}", value) for path, value in facts.items()]
                    + [("attr", 0, "ids", [42])] + record_facts(0, type="FINISHED_ROUND"))

    full = dict(
        type=8, config=0x123456789ABCDEF0, sample_period=4000, sample_type="IP|TID",
        read_format="ID",
        precise_ip=2, wakeup_events=1, config1=0x11, config2=0x22, branch_sample_type="USER|ANY",
        sample_regs_user=0xFF, sample_stack_user=8192, sample_regs_intr=0xF, aux_watermark=4096,
        sample_max_stack=127, aux_sample_size=1024, sig_data=0x77, config3=0x33, config4=0x44,
    )
    for size in SIZES:
        facts = {"type": "8", "size": size, "config": "0x123456789abcdef0", "sample_period": 4000}
        if size >= 72:
            facts["config2"] = "0x22"
        if size >= 136:
            facts["config3"] = "0x33"
        yield one(f"size-{size}", Attr(**full, size=size, aux_action=("pause",)), facts)
    yield one("size-0", Attr(sample_type="IP", config1=0x11, size=0), {"config1": "0x11"})
    yield one("size-larger", Attr(**full, size=168, extra=bytes(24)),
              {"size": 168, "config4": "0x44"})
    yield one("size-larger-and-used", Attr(**full, size=160, extra=b"\xcc" * 16), {"size": 160})
    yield one("stride-larger", Attr(**full, size=120), {"size": 120, "config2": "0x22"}, stride=144)
    yield one("size-beyond-stride", Attr(sample_type="IP", size=112, config2=0x22),
              {"config2": "0x22"},
              stride=128)
    for flag in filter(None, FLAGS):
        # these two change the meaning of another field
        more = {"freq": {"sample_period": 99}, "watermark": {"wakeup_events": 99}}.get(flag, {})
        facts = {"flags.raw": 1 << FLAGS.index(flag), "flags.names": [flag]}
        if flag == "freq":
            facts["sample_freq"] = 99
        if flag == "watermark":
            facts["wakeup_watermark"] = 99
        yield one(f"flag-{flag.replace('_', '-')}", Attr(flags=(flag,), sample_type="IP", **more),
                  facts)
    for value in range(1, 4):
        yield one(f"precise-ip-{value}", Attr(flags=(), precise_ip=value), {"precise_ip": value})
    yield one("flag-of-a-newer-kernel", Attr(flags=(), reserved_flags=1),
              {"flags.raw": 1 << 40})
    for field, table in (("sample_type", SAMPLE_TYPE), ("read_format", READ_FORMAT),
                         ("branch_sample_type", BRANCH_SAMPLE)):
        word = (1 << len(table)) - 1
        yield one(f"{field.replace('_', '-')}-bits", Attr(**{field: word}),
                  {f"{field}.raw": word, f"{field}.names": table})
    for action in ("start_paused", "pause", "resume"):
        yield one(f"aux-action-{action.replace('_', '-')}", Attr(aux_action=(action,)),
                  {"size": 128})
    types = "HARDWARE SOFTWARE TRACEPOINT HW_CACHE RAW BREAKPOINT".split()
    for number, name in enumerate(types):
        yield one(f"type-{name.lower().replace('_', '-')}",
                  Attr(type=number, bp_type=3 if number == 5 else 0, config1=0x401000, config2=4),
                  {"type": name,
                   **({"bp_addr": "0x401000"} if number == 5 else {"config1": "0x401000"})})
    yield one("padding", Attr(sample_max_stack=5, reserved=0xABAB),
              {"sample_max_stack": 5, "padding": "00000000abab"})
    yield one("clockid", Attr(flags=("use_clockid",), clockid=11), {"clockid": "TAI"})
    yield one("hybrid-pmu", Attr(type=0, config=8 << 32 | 1), {"config": "0x800000001"})


def cases():
    yield from each_section()
    yield from variants()
    yield from attrs()
