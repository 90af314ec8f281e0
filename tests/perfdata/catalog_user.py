"""Cases of perf's own records (64 to 86) and of simpleperf's."""

from . import features as f
from . import records as r
from .attr import Attr
from .case import TRAILER, Case, attr, one_record, record_facts, trailer
from .container import File, Pipe
from .sample import sample, sample_id
from .tracing import Format, tracing_data
from .wire import Wire, encode, f64, fstr, u64

BUILD_ID = bytes(range(1, 21))
ATTR = attr("IP|TID|TIME|ID|PERIOD")
BLOB = tracing_data({"sched": [Format("sched_stat_x", 300, [("int x", 8, 4, 1)])]})


def piped(name, records, facts=None, expect=(), **options):
    """A stream whose first record is HEADER_ATTR; the facts are about the record after it."""
    return Case(name, Pipe(records=[r.header_attr(ATTR, [42, 43]), *records]),
                record_facts(1, **(facts or {})) + list(expect), **options)


def headers():
    yield piped("header-attr", [], expect=record_facts(0, type="HEADER_ATTR", ids=[42, 43],
                                                       attr__type="SOFTWARE"))
    yield Case("header-attr-no-ids", Pipe(records=[r.header_attr(ATTR), sample(ATTR, ip=0x10)]),
               record_facts(0, ids=[]) + record_facts(1, ip="0x10"))
    yield Case("header-attr-size-0",
               Pipe(records=[r.header_attr(Attr(sample_type="IP", flags=(), size=0), [1]),
                             sample(Attr(sample_type="IP"), ip=0x10)]),
               record_facts(0, ids=[1]) + record_facts(1, ip="0x10"))
    yield Case("header-attr-larger",
               Pipe(records=[r.header_attr(Attr(sample_type="IP", size=160, extra=b"\xcc" * 16),
                                           [1]),
                             sample(Attr(sample_type="IP"), ip=0x10)]),
               record_facts(0, ids=[1]) + record_facts(1, ip="0x10"))
    yield Case("record-before-attr", Pipe(records=[r.time_conv(1, 2, 3), r.comm(7, 8, "early"),
                                                   r.header_attr(ATTR, [42]),
                                                   sample(ATTR, ip=0x10)]),
               record_facts(0, type="TIME_CONV") + record_facts(1, comm="early")
               + record_facts(3, ip="0x10"))
    yield piped("header-event-type", [r.header_event_type(5, "minor-faults")],
                {"type": "HEADER_EVENT_TYPE"})
    for size in (12, 16):
        yield piped(f"header-tracing-data-{size}", [r.header_tracing_data(BLOB, size),
                                                    r.finished_round()],
                    {"type": "HEADER_TRACING_DATA", "size": size,
                     "data_size": len(BLOB) + -len(BLOB) % 8},
                    record_facts(2, type="FINISHED_ROUND"))
    yield piped("header-tracing-data-inline", [r.header_tracing_data_inline(BLOB),
                                               r.finished_round()],
                {"type": "HEADER_TRACING_DATA"}, record_facts(2, type="FINISHED_ROUND"))
    yield piped("header-build-id", [r.header_build_id(7, BUILD_ID, "/bin/ls")],
                {"type": "HEADER_BUILD_ID", "pid": 7, "build_id": BUILD_ID.hex(),
                 "filename": "/bin/ls",
                 "cpumode": "USER"})
    yield piped("header-build-id-kernel", [r.header_build_id(-1, BUILD_ID, "[kernel.kallsyms]",
                                                             misc=1)],
                {"pid": -1, "cpumode": "KERNEL", "filename": "[kernel.kallsyms]"})
    yield piped("header-build-id-no-size",
                [r.header_build_id(7, BUILD_ID[:16], "/bin/ls", with_size=False)],
                {"build_id": BUILD_ID[:16].hex()})
    yield piped("header-build-id-injected",
                [r.header_build_id(7, BUILD_ID, "/bin/ls",
                                   sid=sample_id(ATTR, pid=7, tid=8, time=5, id=42)),
                 r.finished_round()],
                {"filename": "/bin/ls", "sample_id__time": 5, "sample_id__pid": 7},
                record_facts(2, type="FINISHED_ROUND"))
    yield piped("header-feature", [r.header_feature(3, fstr("box")), r.header_feature(35)],
                {"type": "HEADER_FEATURE", "feat_id": "HOSTNAME", "feature": {"HOSTNAME": "box"}},
                [("feature", "HOSTNAME", "", "box")] + record_facts(2, type="HEADER_FEATURE",
                                                                    size=16))
    yield piped("header-feature-unaligned", [r.header_feature(3, fstr("box", 1)),
                                             r.finished_round()],
                {"feature__HOSTNAME": "box", "size": 24}, record_facts(2, type="FINISHED_ROUND"))


def streams():
    yield one_record("finished-round", r.finished_round(), type="FINISHED_ROUND", size=8)
    yield one_record("finished-init", r.finished_init(), type="FINISHED_INIT", size=8)
    yield one_record("id-index", r.id_index([(42, 0, 1, -1), (42, 1, -1, 8)]), type="ID_INDEX",
                     nr=2,
                     entries=[{"id": 42, "idx": 0, "cpu": 1, "tid": -1},
                              {"id": 42, "idx": 1, "cpu": -1, "tid": 8}])
    yield one_record("id-index-guest", r.id_index([(42, 0, 1, -1), (42, 1, 2, 8)],
                                                  [(0, 0), (99, 3)]),
                     type="ID_INDEX", nr=2, **{"entries[1].id": 42})
    yield one_record("id-index-empty", r.id_index([]), nr=0, entries=[])
    yield one_record("thread-map", r.thread_map([(7, "sh"), (8, "sixteen-letters")]),
                     type="THREAD_MAP",
                     nr=2, entries=[{"pid": 7, "comm": "sh"},
                                    {"pid": 8, "comm": "sixteen-letters"}])
    yield one_record("thread-map-any", r.thread_map([(-1, "")]), **{"entries[0].pid": -1})
    yield one_record("time-conv", r.time_conv(10, 20, 30), type="TIME_CONV", time_shift=10,
                     time_mult=20,
                     time_zero=30)
    yield one_record("time-conv-long", r.time_conv_long(10, 20, 30, 40, 0xFFFFFFFF, 1, 1),
                     time_shift=10,
                     time_cycles=40, cap_user_time_zero=1, cap_user_time_short=1)
    yield one_record("unknown-user-type", r.record(90, b"\1\2\3\4\5\6\7\x08"), type="UNKNOWN",
                     type_id=90,
                     body="0102030405060708")


def maps():
    kinds = {
        "cpus": r.cpus_list([0, 1, 5]),
        "cpus-any": r.cpus_list([0xFFFF]),
        "cpus-empty": r.cpus_list([]),
        "mask4": r.cpus_mask([0x5, 0x80000000], 4),
        "mask8": r.cpus_mask([0x5, 1 << 63], 8),
        "range": r.cpus_range(0, 7),
        "range-any": r.cpus_range(2, 3, any_cpu=1),
    }
    facts = {
        "cpus": {"cpu_map": {"type": "CPUS", "nr": 3, "cpus": [0, 1, 5]}},
        "cpus-any": {"cpu_map__cpus": [-1]},
        "mask8": {"cpu_map__type": "MASK", "cpu_map__long_size": 8,
                  "cpu_map__mask": ["0x5", "0x8000000000000000"]},
        "mask4": {"cpu_map__type": "MASK", "cpu_map__long_size": 4,
                  "cpu_map__mask": ["0x5", "0x80000000"]},
        "range": {"cpu_map__type": "RANGE_CPUS", "cpu_map__start_cpu": 0, "cpu_map__end_cpu": 7},
    }
    for name, cpus in kinds.items():
        yield one_record(f"cpu-map-{name}", r.cpu_map(cpus), type="CPU_MAP", **facts.get(name, {}))
        yield one_record(f"event-update-cpus-{name}", r.event_update_cpus(42, cpus),
                         type="EVENT_UPDATE",
                         update_type="CPUS", id=42, **facts.get(name, {}))
    yield one_record("cpu-map-type-unknown", r.cpu_map([b"\x09\x09", b"\xaa" * 6]), type="CPU_MAP")
    yield one_record("event-update-unit", r.event_update_unit(42, "Joules"), type="EVENT_UPDATE",
                     update_type="UNIT", id=42, unit="Joules")
    yield one_record("event-update-scale", r.event_update_scale(42, 0.25), update_type="SCALE",
                     scale=0.25)
    # in perf 6.1 the record has the size of the longest member
    yield one_record("event-update-scale-padded", r.record(78, [u64(1, 42), f64(1e-6), bytes(16)]),
                     update_type="SCALE", scale=1e-6, size=48)
    yield one_record("event-update-scale-nan", r.event_update_scale(42, float("nan")),
                     update_type="SCALE", id=42)
    yield one_record("event-update-name", r.event_update_name(42, "my cycles"), update_type="NAME",
                     name="my cycles")


def statistics():
    yield one_record("stat-config", r.stat_config([(0, 3), (1, 1000), (2, 1), (3, 2), (9, 9)]),
                     type="STAT_CONFIG", nr=5)
    yield one_record("stat", r.stat(42, 3, 0, 123456789, 1000, 900), type="STAT", id=42, cpu=3,
                     thread=0,
                     val=123456789, ena=1000, run=900)
    yield one_record("stat-any", r.stat(42, -1, -1, 1, 2, 3), cpu=-1, thread=-1)
    yield one_record("stat-round", r.stat_round(0, 1000), type="STAT_ROUND", round_type="INTERVAL",
                     time=1000)
    yield one_record("stat-round-final", r.stat_round(1, 0), round_type="FINAL")
    yield one_record("schedstat-cpu", r.schedstat_cpu(1000, 3, 15, range(10, 16), (100, 200, 300)),
                     type="SCHEDSTAT_CPU", timestamp=1000, cpu=3, version=15, yld_count=10,
                     pcount=300)
    for version, count in ((15, 36), (16, 36), (17, 45)):
        yield one_record(f"schedstat-domain-{version}",
                         r.schedstat_domain(1000, 3, version, 1, range(1, count + 1)),
                         type="SCHEDSTAT_DOMAIN", timestamp=1000, cpu=3, version=version, domain=1,
                         ttwu_move_balance=count)
    # in perf the record has the size of the longest version
    yield one_record("schedstat-domain-15-padded", r.schedstat_domain(1000, 3, 15, 1, range(1, 37),
                                                                      36),
                     type="SCHEDSTAT_DOMAIN", version=15, ttwu_move_balance=36)
    yield one_record("bpf-metadata", r.bpf_metadata("filter", [("version", "1"), ("who", "me")]),
                     type="BPF_METADATA", prog_name="filter", nr_entries=2,
                     entries=[{"key": "version", "value": "1"}, {"key": "who", "value": "me"}])
    yield one_record("bpf-metadata-trailer", r.bpf_metadata("filter", [("k", "v")], sid=trailer()),
                     prog_name="filter", entries=[{"key": "k", "value": "v"}], sample_id__time=1000)


def auxtraces():
    def info(name, type, kind, priv=(), tail=b""):
        return one_record(f"auxtrace-info-{name}", r.auxtrace_info(type, priv, tail),
                          type="AUXTRACE_INFO",
                          auxtrace_type=kind)

    pt = list(range(1, 17))
    yield info("unknown", 0, "UNKNOWN")
    yield info("intel-pt", 1, "INTEL_PT", pt + [0])
    yield info("intel-pt-old", 1, "INTEL_PT", pt[:10])
    yield info("intel-pt-filter", 1, "INTEL_PT", pt + [14], b"filter main @x".ljust(16, b"\0"))
    # eight NULs follow a length that is a multiple of 8
    yield info("intel-pt-filter-and-more", 1, "INTEL_PT", pt + [16],
               [b"filter main @xyz".ljust(24, b"\0"), u64(1)])
    yield info("intel-bts", 2, "INTEL_BTS", range(1, 7))
    etm3 = [0x3030303030303030, 0, 4, 1, 2, 3, 4]
    etm4 = [0x4040404040404040, 1, 7, 1, 2, 3, 4, 5, 6, 7]
    ete = [0x5050505050505050, 2, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    yield info("cs-etm-0", 3, "CS_ETM", [0, 8 << 32 | 1, 0, 0x4040404040404040, 0, 1, 2, 3, 4, 5, 6,
                                         7])
    yield info("cs-etm-1", 3, "CS_ETM", [1, 8 << 32 | 3, 0, *etm3, *etm4, *ete])
    yield info("cs-etm-2", 3, "CS_ETM", [2, 8 << 32 | 1, 1, 0x4040404040404040, 1, 8, *range(1, 9)])
    yield info("arm-spe-1", 4, "ARM_SPE", [8, 1])
    spe = 0x1010101010101010
    yield info("arm-spe-2", 4, "ARM_SPE", [2, 4, 8, 2, spe, 0, 3, 0x410FD0C0, 8, 1024,
                                           spe, 1, 3, 0x410FD0C0, 8, 1024])
    yield info("arm-spe-2-filter", 4, "ARM_SPE", [2, 4, 8, 1, spe, 0, 4, 0x410FD0C0, 8, 1024, 3])
    yield info("s390-cpumsf", 5, "S390_CPUMSF")
    yield info("hisi-ptt", 6, "HISI_PTT", [9])
    yield info("vpa-dtl", 7, "VPA_DTL")
    yield one_record("auxtrace-info-of-later", r.auxtrace_info(99, [1, 2]), auxtrace_type="99")

    data = bytes(range(40))
    yield Case("auxtrace", File(attrs=[(TRAILER, [42])],
                                records=[r.auxtrace(data, 0x1000, 99, 1, 8, 3), r.finished_round()],
                                features={3: fstr("box"), 18: f.auxtrace_index([0])}),
               record_facts(0, type="AUXTRACE", size=48, data_size=40, data_offset=0x1000, idx=1,
                            tid=8,
                            cpu=3, data=data.hex()) + record_facts(1, type="FINISHED_ROUND"))
    yield one_record("auxtrace-empty", [r.auxtrace(b""), r.finished_round()], data_size=0, tid=-1,
                     cpu=-1)
    # the data contain bytes that look like a record
    decoy = r.comm(7, 8, "decoy")
    yield Case("auxtrace-of-records", File(attrs=[(TRAILER, [42])], records=[
        r.auxtrace(encode(decoy, Wire("<"))), r.finished_round()]),
        record_facts(1, type="FINISHED_ROUND"))
    error = (1, 5, 3, 7, 8)
    for length, msg in (("short", "lost"), ("long", "m" * 63)):
        yield one_record(f"auxtrace-error-0-{length}", r.auxtrace_error(*error, 0, 0x401000, msg),
                         type="AUXTRACE_ERROR", code=5, cpu=3, pid=7, tid=8, fmt=0, ip="0x401000",
                         msg=msg)
        yield one_record(f"auxtrace-error-1-{length}",
                         r.auxtrace_error(*error, 1, 0x401000, msg, time=1000), fmt=1, time=1000,
                         msg=msg)
        yield one_record(f"auxtrace-error-2-{length}",
                         r.auxtrace_error(*error, 2, 0x401000, msg, time=1000, machine_pid=99,
                                          vcpu=2),
                         fmt=2, time=1000, msg=msg, machine_pid=99, vcpu=2)


def paddings():
    """As in catalog_kernel."""
    yield one_record("padding-auxtrace", r.auxtrace(b"12345678", tid=8, reserved=0xABABABAB), tid=8,
                     padding="abababab")
    yield one_record("padding-auxtrace-info", r.auxtrace_info(6, [9], reserved=0xABABABAB),
                     auxtrace_type="HISI_PTT", padding="abababab")
    yield piped("padding-header-build-id", [r.header_build_id(7, BUILD_ID, "/bin/ls",
                                                              reserved=b"\xab" * 3)],
                {"filename": "/bin/ls", "padding": "ababab" + "00" * 5})
    yield one_record("padding-time-conv", r.time_conv_long(1, 2, 3, 4, 5, 1, 0, b"\xab" * 6),
                     cap_user_time_zero=1, padding="ab" * 6)
    yield one_record("padding-cpu-map", r.record(74, [r.cpus_range(0, 7), b"\xab" * 2]),
                     type="CPU_MAP")


def simpleperfs():
    for type in r.SIMPLEPERF:
        yield one_record(f"simpleperf-{type}", [r.simpleperf(type, bytes(range(16))),
                                                r.finished_round()],
                         body=bytes(range(16)).hex())


def cases():
    yield from headers()
    yield from streams()
    yield from maps()
    yield from statistics()
    yield from auxtraces()
    yield from paddings()
    yield from simpleperfs()
