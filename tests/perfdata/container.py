"""Whole files: file mode, pipe mode, directories, zstd streams and gzip.

    File(attrs=[(attr, [1, 2])], records=[comm(1, 1, "ls")], features={3: fstr("box")}).build("<")

`attrs` are (Attr, ids) pairs, `features` maps numbers to Parts.  build() returns the bytes, in the
byte order of its argument or of the object.  `own_features` have no bits in the header: a second
table after the first one leads to them.
"""

import gzip as _gzip
import struct
from dataclasses import dataclass, field

from . import zstd
from .features import auxtrace_index
from .records import compressed, event_type
from .rows import U64, Layout
from .wire import Wire, encode, u64

MAGIC = 0x32454C4946524550  # "PERFILE2" as the recording machine stores it
MAGIC_V1 = b"PERFFILE"
# After the magic; then the bitmap of features.
HEADER = Layout(U64("size attr_size attrs_at attrs_size data_at data_size types_at types_size"))
SECTION = Layout(U64("offset size"))
OWN_MAGIC = b"PDFEATS1"  # of the second table; then the number of its entries
OWN_ENTRY = Layout(U64("number"), *SECTION.rows)


def bitmap(numbers, wire):
    """256 bits as the array of longs that the producer has."""
    words = [0] * (32 // wire.long_size)
    for number in numbers:
        words[number // (8 * wire.long_size)] |= 1 << number % (8 * wire.long_size)
    return struct.pack(f"{wire.order}{len(words)}{'Q' if wire.long_size == 8 else 'I'}", *words)


@dataclass
class File:
    """A seekable perf.data, laid out as perf record does: header, ids, attrs, data, features."""

    attrs: list = field(default_factory=list)
    records: list = field(default_factory=list)
    features: dict = field(default_factory=dict)
    order: str = "<"
    long_size: int = 8
    header_size: int = 104
    magic: bytes = None  # MAGIC_V1, or None for the present one
    stride: int = None  # attr_size of the header; None: the largest attr + 16
    ids_at: int = None  # where in an attrs entry the ids section is; None: at its end
    data_size: int = None  # what the header states; None: its real size
    claimed: tuple = ()  # features that have a bit but no section: the recorder was killed
    late_attrs: bool = False  # ids and attrs after the data, as perf inject writes them
    event_types: list = None  # (event_id, name): the section of the first perfs
    own_features: dict = field(default_factory=dict)  # those of the second table
    own_count: int = None  # what the second table states; None: its real number of entries
    spare_features: int = 0  # entries of the feature table that were reserved and not used
    gap: bytes = b""  # bytes that belong to nothing, between ids and attrs
    tail: bytes = b""  # bytes after everything

    def build(self, order=None):
        wire = Wire(order or self.order, self.long_size)
        encoded = [encode(attr, wire) for attr, _ in self.attrs]
        stride = self.stride or max([len(a) for a in encoded], default=0) + 16
        records = [encode(record, wire) for record in self.records]
        data = b"".join(records)

        at = self.header_size
        layout = {}

        def place(name, size):
            nonlocal at
            layout[name] = at
            at += size

        ids = [encode(u64(*ids), wire) for _, ids in self.attrs]

        def place_attrs():
            place("ids", sum(map(len, ids)))
            place("gap", len(self.gap))
            place("attrs", stride * len(encoded))

        if not self.late_attrs:
            place_attrs()
        types = [event_type(id, name) for id, name in self.event_types or ()]
        place("event_types", 72 * len(types))
        place("data", len(data))
        if self.late_attrs:
            place_attrs()

        blob = bytearray(at)

        def put(where, part):
            piece = encode(part, wire)
            blob[where : where + len(piece)] = piece

        ids_at = layout["ids"]
        for i, (attr, own) in enumerate(zip(encoded, ids)):
            entry = layout["attrs"] + i * stride
            put(entry, attr)
            put(entry + (self.ids_at or stride - 16), SECTION(ids_at, len(own)))
            put(ids_at, own)
            ids_at += len(own)
        put(layout["gap"], self.gap)
        put(layout["event_types"], types)
        put(layout["data"], data)

        numbers, own = sorted(self.features), sorted(self.own_features)
        header = [
            self.magic or u64(MAGIC),
            HEADER(self.header_size, stride, layout["attrs"], stride * len(encoded), layout["data"],
                   len(data) if self.data_size is None else self.data_size,
                   layout["event_types"] if types else 0, 72 * len(types)),
        ]
        if self.header_size >= 104:
            header.append(bitmap([*numbers, *self.claimed], wire))
        put(0, header)
        if not numbers and not own and self.own_count is None:
            return bytes(blob) + self.tail

        # perf reads the table right after the data, so late attrs come after all features
        assert not self.late_attrs and not (own and self.spare_features)
        offsets, here = [], layout["data"]
        for record in records:
            offsets.append(here)
            here += len(record)
        sections = []
        for feature in [*map(self.features.get, numbers), *map(self.own_features.get, own)]:
            if isinstance(feature, auxtrace_index):
                feature = feature.at(offsets)
            sections.append(encode(feature, wire))
        second = [OWN_MAGIC, u64(len(own) if self.own_count is None else self.own_count)]
        has_second = own or self.own_count is not None
        here = len(blob) + 16 * (len(numbers) + self.spare_features)
        here += 16 + 24 * len(own) if has_second else 0
        table = []
        for section, number in zip(sections, [*numbers, *own]):
            if len(table) < len(numbers):
                table.append(SECTION(here, len(section)))
            else:
                second.append(OWN_ENTRY(number, here, len(section)))
            here += len(section)
        blob += encode(table, wire) + bytes(16 * self.spare_features)
        blob += encode(second, wire) if has_second else b""
        return bytes(blob) + b"".join(sections) + self.tail


@dataclass
class Pipe:
    """A stream: 16 bytes, then records, which include the attributes and features."""

    records: list = field(default_factory=list)
    order: str = "<"
    long_size: int = 8
    tail: bytes = b""

    def build(self, order=None):
        wire = Wire(order or self.order, self.long_size)
        return encode([u64(MAGIC, 16), list(self.records)], wire) + self.tail


@dataclass
class Directory:
    """DIR/data and its bare streams {"data.0": [records], ...}; others: other files in it."""

    main: File
    streams: dict = field(default_factory=dict)
    others: dict = field(default_factory=dict)
    main_name: str = "data"  # "header" in the first layout of directories

    def build(self, order=None):
        wire = Wire(order or self.main.order, self.main.long_size)
        files = {self.main_name: self.main.build(order)}
        files.update((name, encode(records, wire)) for name, records in self.streams.items())
        return {**files, **self.others}


def zstd_stream(data, flush_every=None, level=1, end=False):
    """One zstd stream that is flushed and never ended, as perf makes it."""
    compressor = zstd.Compressor(level)
    step = flush_every or max(len(data), 1)
    out = b"".join(compressor.compress(data[i : i + step]) for i in range(0, len(data), step))
    return out + compressor.compress(b"", zstd.END) if end else out


def zstd_records(records, pieces=1, flush_every=None, wrap=compressed):
    """Records inside COMPRESSED (or wrap=compressed2) ones.  The compressed bytes are cut into
    pieces of equal size, so records and zstd's own frames straddle them.  The cuts depend on the
    byte order, like the compressed bytes."""

    def make(wire):
        stream = zstd_stream(encode(records, wire), flush_every)
        cuts = [len(stream) * i // pieces for i in range(pieces + 1)]
        return [wrap(stream[a:b]) for a, b in zip(cuts, cuts[1:])]

    return make


def gzip(data):
    """Always the same bytes: no name, no time."""
    return _gzip.compress(data, mtime=0)
