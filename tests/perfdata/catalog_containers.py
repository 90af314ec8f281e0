"""Cases of all but the records: modes, headers, compression, directories, damage."""

import random

from . import features as f
from . import records as r
from .attr import Attr
from .case import TRAILER, Case, attr, record_facts, trailer
from .container import MAGIC_V1, Directory, File, Pipe, gzip, zstd_records, zstd_stream
from .sample import sample, sample_id
from .wire import encode, fstr, u64

HOST = {3: fstr("box")}
ATTR = attr("IP|TID|TIME|PERIOD")
TWO = [(attr("IP|TID|TIME|IDENTIFIER"), [1, 2]), (attr("IP|TID|TIME|IDENTIFIER", config=1), [3, 4])]
SOME = [sample(ATTR, ip=0x10 + i, pid=7, tid=8, time=1000 + i, period=i) for i in range(3)]
SOME_FACTS = [("record", i, "ip", hex(0x10 + i)) for i in range(3)]


class Zipped:
    """Another file, compressed by gzip."""

    def __init__(self, file):
        self.file = file

    def build(self, order=None):
        return gzip(self.file.build(order))


def file(name, facts=(), exact=True, case_long_size=8, **options):
    whole = {"attrs": [(ATTR, [42])], "records": SOME, "features": HOST, **options}
    return Case(name, File(**whole), SOME_FACTS + list(facts), exact, case_long_size)


def headers():
    yield file("file", [("file", None, "mode", "file"), ("file", None, "header_size", 104),
                        ("feature", "HOSTNAME", "", "box")])
    yield file("file-no-features", features={}, facts=[("file", None, "data_size", 3 * 40)])
    yield file("header-72", header_size=72, features={}, facts=[("file", None, "header_size", 72)])
    yield file("header-larger", header_size=136, facts=[("file", None, "header_size", 136)])
    yield file("magic-v1", magic=MAGIC_V1)
    yield file("magic-v1-header-72", magic=MAGIC_V1, header_size=72, features={})
    yield file("event-types", event_types=[(0, "cycles"), (1, "instructions")])
    yield file("late-attrs", late_attrs=True, features={})
    yield file("spare-features", spare_features=3, facts=[("feature", "HOSTNAME", "", "box")])
    yield file("own-features", own_features={240: f.pd_symbols([])},
               facts=[("feature", "HOSTNAME", "", "box"), ("feature", "PD_SYMBOLS", "images", []),
                      ("file", None, "adds_features", ["HOSTNAME"])])
    yield file("own-features-alone", features={}, own_features={241: b"", 255: b"\2\3"},
               facts=[("feature", "FEATURE_255", "raw", "0203")])
    yield file("gap", gap=b"\0\xff\0\0\0\0\0\0", facts=[("file", None, "gaps[0].data", "ff")])
    yield file("tail", tail=b"\xee" * 5)
    yield file("no-ids", attrs=[(ATTR, [])], facts=[("attr", 0, "ids", [])])
    yield file("many-ids", attrs=[(ATTR, list(range(1, 65)))],
               facts=[("attr", 0, "ids", list(range(1, 65)))])
    yield file("same-id-twice", attrs=[(ATTR, [1, 2]), (ATTR, [2, 3])])
    # attr.size 72 in entries of 104: the stride tells where the ids are
    yield file("attr-smaller-than-stride", stride=104,
               attrs=[(Attr(size=72, sample_type=ATTR.sample_type), [42])],
               facts=[("attr", 0, "ids", [42])])
    yield file("stride-larger-than-attr", stride=160)
    yield Case("two-attrs", File(attrs=TWO, records=[sample(TWO[1][0], id=4, ip=0x10)],
                                 features=HOST),
               record_facts(0, attr_index=1, ip="0x10"))
    yield file("bitmap-high-bits", features={**HOST, 100: b"\1", 130: b"", 255: b"\2\3"},
               facts=[("feature", "FEATURE_100", "raw", "01"),
                      ("feature", "FEATURE_255", "raw", "0203")])


def thirty_two_bit():
    """A recorder with 4-byte longs, which show in the bitmap of a big-endian file and in cpu
    masks."""
    yield file("producer-32", long_size=4, case_long_size=4,
               features={**HOST, 5: fstr("3.4"), 6: fstr("armv7l"), 7: f.nrcpus(2, 2)},
               facts=[("feature", "VERSION", "", "3.4"), ("feature", "NRCPUS", "online", 2)])
    yield file("producer-32-high-bits", long_size=4, case_long_size=4,
               features={**HOST, 33: f.e_machine(40, 0), 129: b"a\0b\0"},
               facts=[("feature", "E_MACHINE", "e_machine", "ARM")])
    yield file("producer-32-cpu-map", long_size=4, case_long_size=4,
               records=[*SOME, r.cpu_map(r.cpus_mask([0x5]))],
               facts=[("record", 3, "type", "CPU_MAP")])


def pipes():
    records = [r.header_attr(ATTR, [42]), *SOME]
    facts = [("record", i + 1, "ip", hex(0x10 + i)) for i in range(3)]
    yield Case("pipe", Pipe(records), facts + [("file", None, "mode", "pipe"),
                                               ("attr", 0, "ids", [42])])
    yield Case("pipe-empty", Pipe(), [("file", None, "mode", "pipe")])
    yield Case("pipe-unaligned", Pipe([records[0], r.header_feature(3, fstr("box", 1)), *SOME]),
               [("record", i + 2, "ip", hex(0x10 + i)) for i in range(3)])
    yield Case("pipe-stat", Pipe([r.header_attr(Attr(sample_type=0, flags=()), [1]),
                                  r.stat_config([(0, 3)]), r.stat(1, 0, 0, 5, 6, 7),
                                  r.stat_round(1, 9)]),
               record_facts(2, type="STAT", val=5))
    yield Case("pipe-text-at-the-end",
               Pipe(records, tail=b"[ perf record: Woken up 1 times to write data ]\n"), facts)
    attrs = [r.header_attr(a, ids) for a, ids in TWO]
    yield Case("pipe-two-attrs", Pipe([*attrs, sample(TWO[1][0], id=4, ip=0x10),
                                       r.comm(7, 8, "x", sid=sample_id(TWO[0][0], id=1))]),
               record_facts(2, attr_index=1) + record_facts(3, attr_index=0, comm="x"))


def compressed():
    many = [sample(ATTR, ip=0x400000 + 16 * i, pid=7, tid=8, time=1000 + i,
                   period=i) for i in range(200)]
    last = [("summary", None, "by_type.SAMPLE", 200)]
    for name, wrap in (("zstd", r.compressed), ("zstd2", r.compressed2)):
        for pieces in (1, 2, 7):
            yield Case(f"{name}-{pieces}", File(attrs=[(ATTR, [42])],
                                                features={**HOST, 27: f.compressed()},
                                                records=[zstd_records(many, pieces, 500, wrap)]),
                       last, exact=False)
        yield Case(f"{name}-pipe", Pipe([r.header_attr(ATTR, [42]),
                                         zstd_records(many, 3, None, wrap),
                                         r.finished_round()]), last, exact=False)
    yield Case("zstd-between-others",
               File(attrs=[(ATTR, [42])], features={**HOST, 27: f.compressed()},
                    records=[r.time_conv(1, 2, 3), zstd_records(many, 5, 100), r.finished_round()]),
               last + [("summary", None, "by_type.FINISHED_ROUND", 1)], exact=False)
    halves = [many[:100], many[100:]]
    yield Case("zstd-two-frames",
               File(attrs=[(ATTR, [42])], features={**HOST, 27: f.compressed()}, records=[
                   lambda wire: r.compressed(b"".join(zstd_stream(encode(half, wire), end=True)
                                                      for half in halves))]), last, exact=False)
    yield Case("zstd-auxtrace-after",
               File(attrs=[(TRAILER, [42])], features={**HOST, 18: f.auxtrace_index([1]),
                                                       27: f.compressed()},
                    records=[zstd_records([r.comm(7, 8, "x", sid=trailer())] * 50, 2),
                             r.auxtrace(b"12345678")]),
               [("summary", None, "by_type.COMM", 50)], exact=False)


def wrapped_size():
    """A perf that overlooks the limit of 16 bits writes a COMPRESSED2 with a size of 0."""
    a = attr("RAW")
    noise = random.Random(1)

    def make(wire):
        records = [sample(a, raw=noise_bytes) for noise_bytes in chunks]
        stream = zstd_stream(encode(records, wire))
        assert len(stream) > 65520
        return [r.compressed2_overflow(stream[:65515]), r.compressed2(stream[65515:])]

    chunks = [noise.randbytes(6004) for _ in range(11)]
    yield Case("zstd2-size-wrapped",
               File(attrs=[(a, [42])], features={**HOST, 27: f.compressed()},
                    records=[make, r.finished_round()]),
               [("summary", None, "by_type.SAMPLE", 11),
                ("summary", None, "by_type.FINISHED_ROUND", 1)],
               exact=False)


def gzipped():
    yield Case("gzip", Zipped(File(attrs=[(ATTR, [42])], records=SOME, features=HOST)), SOME_FACTS)
    yield Case("gzip-pipe", Zipped(Pipe([r.header_attr(ATTR, [42]), *SOME])),
               [("record", i + 1, "ip", hex(0x10 + i)) for i in range(3)])


def directories():
    main = File(attrs=[(ATTR, [42])], records=[r.time_conv(1, 2, 3)], features={**HOST, 24: u64(1)})
    yield Case("directory", Directory(main, {"data.0": SOME, "data.1": [], "data.2": SOME[:1]}),
               record_facts(0, type="TIME_CONV")
               + [("summary", None, "by_type.SAMPLE", 4), ("record", 1, "file", "data.0")])
    yield Case("directory-zstd", Directory(main, {"data.0": [zstd_records(SOME * 30, 3)],
                                                  "data.1": [zstd_records(SOME * 20, 2)]}),
               [("summary", None, "by_type.SAMPLE", 150)], exact=False)
    old = File(attrs=[(ATTR, [42])], records=SOME, features=HOST)
    yield Case("directory-main-only", Directory(old), SOME_FACTS)
    yield Case("directory-kcore", Directory(old, others={"kcore_dir/kallsyms": b"0 T _text\n"}),
               SOME_FACTS)
    yield Case("directory-old", Directory(main, {"data.0": SOME}, main_name="header"),
               [("summary", None, "by_type.SAMPLE", 3)])


def killed():
    """The recorder was killed before it wrote the sizes and features."""
    yield file("killed", data_size=0, features={}, facts=[("file", None, "complete", False)])
    yield file("killed-with-bitmap", data_size=0, features={}, claimed=(3, 4, 5, 6, 7),
               facts=[("file", None, "complete", False)])
    yield Case("killed-zstd", File(attrs=[(ATTR, [42])], data_size=0, claimed=(3, 27),
                                   records=[zstd_records(SOME * 30, 3)]),
               [("summary", None, "by_type.SAMPLE", 90)], exact=False)
    yield Case("no-data-at-all", File(attrs=[(ATTR, [42])], data_size=0),
               [("attr", 0, "ids", [42])])


def cases():
    yield from headers()
    yield from thirty_two_bit()
    yield from pipes()
    yield from compressed()
    yield from wrapped_size()
    yield from gzipped()
    yield from directories()
    yield from killed()
