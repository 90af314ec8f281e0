"""Whole perf.data files rewritten in the other byte order, by a walk over all layouts.

    big = to_big_endian(little)                        file mode, pipe mode, gzip of either
    big = to_big_endian(stream, main=main_file)        a bare DIR/data.N
    big = to_big_endian({"data": ..., "data.0": ...})  a directory

Sizes and offsets stay as they are, except in files with COMPRESSED records: those are expanded,
swapped and compressed again, each with what it had before, so what follows them moves.  In such a
file everything but sizes and offsets agrees.

walk(data) gives the Report alone: what lies where, and which bytes no layout explained.
"""

import gzip
import struct
import zlib
from types import SimpleNamespace

from .attr import swap_attr
from .container import HEADER, OWN_MAGIC, SECTION
from .container import gzip as gzip_again
from .records import event_type
from .swap_records import COMPRESSED, COMPRESSED2, Events, Report, swap_feature, swap_stream
from .swap_zstd import NotSwappable, expand, recompress
from .swapper import Short, Swapper
from .wire import Wire, encode

LITTLE, BIG, V1 = b"PERFILE2", b"2ELIFREP", b"PERFFILE"
GZIP = b"\x1f\x8b"
AUXTRACE_INDEX = 18
BITMAP = 72  # where the feature bits are
TYPE_SIZE = 72  # of an entry of event_types


def _swap_inner(data, order, events, report):
    """The expanded stream in the other order, or None where there is none."""
    if not any(r[1] in (COMPRESSED, COMPRESSED2) for r in report.records):
        return None
    inner = Report()
    t = Swapper(b"".join(expand(data, order, report.records)), order)
    swap_stream(t, events, inner)
    report.inner = inner.records
    report.left += [(f"inner {start}", type, size) for start, type, size in inner.left]
    report.padding += [(f"inner {start}", type, size) for start, type, size in inner.padding]
    return bytes(t.out)


def order_of(data):
    """'<' or '>'.  The first magic tells nothing: there a plausible size does."""
    if data[:8] == LITTLE:
        return "<"
    if data[:8] == BIG:
        return ">"
    if data[:8] == V1:
        for order in "<>":
            size, attr_size = struct.unpack_from(order + "QQ", data, 8)
            if size == 16 or attr_size in range(64, 4096, 8):
                return order
    raise NotSwappable("no perf.data: the magic is not known")


def _swap_magic(t):
    if t.data[:8] == V1:
        t.take(8)
    else:
        t.number(8)


def _swap_header(t):
    """The header's members, and the bytes of its bitmap."""
    if len(t.data) < BITMAP:
        raise NotSwappable("the header is not whole")
    _swap_magic(t)
    values = {}
    HEADER.swap(t, values)
    return SimpleNamespace(**values, bitmap=t.data[t.pos : t.pos + 32] if values["size"] >= 104
                           else b"")


def features_of(bitmap, order):
    """The numbers of the bits that are set, and the size of the producer's long."""
    def numbers(width):
        words = struct.unpack(f"{order}{32 // width}{'Q' if width == 8 else 'I'}", bitmap)
        return [i * 8 * width + bit for i, word in enumerate(words)
                for bit in range(8 * width) if word >> bit & 1]

    if not any(bitmap):
        return [], 8
    if 3 in numbers(8) or order == "<":
        return numbers(8), 8
    return (numbers(4), 4) if 3 in numbers(4) else (numbers(8), 8)


def _swap_attrs(t, header, events):
    if not header.attr_size or header.attrs_at + header.attrs_size > len(t.data):
        raise NotSwappable("the attrs section is not in the file")
    for entry in _entries(header):
        attr = swap_attr(t.within(entry, entry + header.attr_size), header.attr_size - 16)
        start, size = _section(t, _ids_place(t, header, entry))
        ids = t.within(start, start + size)
        events.add(attr, ids.numbers(8, ids.left() // 8))


def _entries(header):
    """Where the attrs are."""
    step = header.attr_size
    return range(header.attrs_at, header.attrs_at + header.attrs_size - step + 1, step)


def _section(t, at):
    """Swaps an offset and a size, and gives them."""
    section = {}
    SECTION.swap(t.within(at, at + 16), section)
    return section["offset"], section["size"]


def _ids_place(t, header, entry):
    """At the end of the entry; after attr.size where only that is a section of the file."""
    def good(at):
        start, size = t.peek(at, 8), t.peek(at + 8, 8)
        return size % 8 == 0 and start + size <= len(t.data)

    usual = entry + header.attr_size - 16
    other = entry + (t.peek(entry + 4, 4) or 64)
    return other if not good(usual) and other <= usual and good(other) else usual


def _sections(t, header, numbers):
    """(number, place of its table entry, offset, size)."""
    table = header.data_at + header.data_size
    places = [(number, table + 16 * i) for i, number in enumerate(numbers)]
    return [(number, at, t.peek(at, 8), t.peek(at + 8, 8)) for number, at in places
            if at + 16 <= len(t.data)]


def _own_sections(t, header, numbers):
    """The same of the second table."""
    table = header.data_at + header.data_size + 16 * len(numbers)
    if t.data[table : table + 8] != OWN_MAGIC:
        return []
    entries = [table + 16 + 24 * i for i in range(min(t.peek(table + 8, 8), 16))]
    return [(t.peek(at, 8), at + 8, t.peek(at + 8, 8), t.peek(at + 16, 8)) for at in entries
            if at + 24 <= len(t.data)]


def _swap_own_table(t, header, numbers):
    """Swaps the count and the numbers of the features."""
    sections = _own_sections(t, header, numbers)
    if sections:
        first = sections[0][1] - 16
        t.within(first, first + 8).number(8)
    for _, entry, _, _ in sections:
        t.within(entry - 8, entry).number(8)
    return sections


def _swap_features(t, sections, events, report):
    for number, entry, at, size in sections:
        _section(t, entry)
        if at + size > len(t.data):
            report.left.append((entry, f"feature {number}", size))
            continue
        part = t.within(at, at + size)
        try:
            swap_feature(part, number, events)
        except Short:
            pass
        report.sections.append((number, at, size))
        report.rest(at, f"feature {number}", t.data[part.pos : part.end])


def _swap_bitmap(t, numbers, long_size):
    width = 8 * long_size
    words = [0] * (32 // long_size)
    for number in numbers:
        words[number // width] |= 1 << number % width
    for i, word in enumerate(words):
        t.put(BITMAP + i * long_size, long_size, word)


def _move(data, order, header, numbers, new, places, end):
    """The same file with the data section's bytes, which end at `end`, replaced: everything after
    them moves."""
    start, size = header.data_at, header.data_size
    by = len(new) - (end - start)
    out = bytearray(data[:start] + new + data[end:])
    if not size:
        return bytes(out)  # the recorder was killed: no sizes are stated

    def shifted(offset):
        return offset + by if offset >= end else offset

    def put(at, part):
        content = encode(part, Wire(order))
        out[at : at + len(content)] = content

    t = Swapper(data, order)
    members = {**vars(header), "data_size": size + by, "attrs_at": shifted(header.attrs_at),
               "types_at": shifted(header.types_at)}
    put(8, HEADER.part(**{name: members[name] for name in HEADER.names}))
    for entry in _entries(header):
        at = _ids_place(t, header, entry)
        put(shifted(at), SECTION(shifted(t.peek(at, 8)), t.peek(at + 8, 8)))
    moved = {old: start + place for old, place in places}
    for number, entry, offset, length in (_sections(t, header, numbers)
                                          + _own_sections(t, header, numbers)):
        put(shifted(entry), SECTION(shifted(offset), length))
        if number == AUXTRACE_INDEX:
            counted = length % 16  # simpleperf has no count before the pairs
            for pair in range(offset + counted, offset + length - 15, 16):
                record = t.peek(pair, 8)
                put(shifted(pair), SECTION(moved.get(record, record), t.peek(pair + 8, 8)))
    return bytes(out)


def _swap_file(data, order, long_size, report, moved=False):
    t = Swapper(data, order)
    header = _swap_header(t)
    numbers, own_long = features_of(header.bitmap, order)
    long_size = long_size or own_long
    start, size = header.data_at, header.data_size
    killed = size == 0 and start < len(data)
    end = len(data) if killed or start + size > len(data) else start + size
    if header.bitmap:
        _swap_bitmap(t, numbers, long_size)
    if killed:
        numbers = []  # the recorder was killed before it wrote them
    events = Events()
    _swap_attrs(t, header, events)
    if header.types_at + header.types_size <= len(data):
        for entry in range(0, header.types_size - TYPE_SIZE + 1, TYPE_SIZE):
            event_type.swap(t.within(header.types_at + entry, len(data)), {})
    swap_stream(t.within(start, end), events, report)
    report.end = max(report.end, start)
    own = [] if killed else _swap_own_table(t, header, numbers)
    _swap_features(t, _sections(t, header, numbers) + own, events, report)
    if moved:
        return bytes(t.out)
    inner = _swap_inner(data, order, events, report)
    if inner is None:
        return bytes(t.out)
    new, places = recompress(data, order, report, inner)
    whole = _move(data, order, header, numbers, new, places, report.end)
    return _swap_file(whole, order, long_size, Report(), True)


def _swap_stream_alone(data, order, main, report, moved=False):
    """A stream without a file header: pipe mode after its 16 bytes, or a data.N of the file
    `main`."""
    t, events = Swapper(data, order), Events()
    if main is None:
        _swap_magic(t)
        t.number(8)
    else:
        attrs = Swapper(main, order)
        _swap_attrs(attrs, _swap_header(attrs), events)
    at = t.pos
    swap_stream(t, events, report)
    inner = None if moved else _swap_inner(data, order, events, report)
    if inner is None:
        return bytes(t.out)
    new, _ = recompress(data, order, report, inner)
    return _swap_stream_alone(data[:at] + new + data[report.end :], order, main, Report(), True)


def main_name(files):
    """Which file of a directory has the header; the first layout called it so."""
    return "data" if "data" in files else "header"


def swapped(data, main=None, long_size=None, report=None):
    """The file in the other byte order.  long_size: the producer's, for the feature bitmap
    of a big-endian file; a little-endian one does not tell."""
    report = report if report is not None else Report()
    try:
        return _swapped(data, main, long_size, report)
    except (Short, struct.error, zlib.error) as problem:
        raise NotSwappable(f"too damaged to be walked: {problem!r}") from problem


def _swapped(data, main, long_size, report):
    if isinstance(data, dict):
        return {name: _swapped_part(data, name, long_size, report) for name in data}
    if data[:2] == GZIP:
        try:
            plain = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile) as problem:
            raise NotSwappable(f"gzip: {problem}") from problem
        return gzip_again(swapped(plain, main, long_size, report))
    order = order_of(data if main is None else main)
    if main is not None or struct.unpack_from(order + "Q", data, 8) == (16,):
        return _swap_stream_alone(data, order, main, report)
    return _swap_file(data, order, long_size, report)


def _swapped_part(files, name, long_size, report):
    """A file of a directory; kcore and the like stay as they are."""
    main, bare = main_name(files), name.startswith("data.")
    if not bare and name != main:
        return files[name]
    report.parts[name] = Report()
    return swapped(files[name], files[main] if bare else None, long_size, report.parts[name])


def to_big_endian(data, main=None, long_size=None):
    """A little-endian file as the same machine would write it if it were big-endian."""
    _expect(data, main, "<")
    return swapped(data, main, long_size)


def to_little_endian(data, main=None):
    """The way back: to_little_endian(to_big_endian(x)) == x where nothing is compressed."""
    _expect(data, main, ">")
    return swapped(data, main)


def _expect(data, main, order):
    first = data[main_name(data)] if isinstance(data, dict) else main if main is not None else data
    if first[:2] == GZIP:
        return
    if order_of(first) != order:
        raise NotSwappable("it has the other byte order already")


def walk(data, main=None):
    """Returns the Report only."""
    report = Report()
    swapped(data, main, report=report)
    return report


def plain_records(data, main=None):
    """[(type, misc, body)] with COMPRESSED records replaced by what is in them: what two files have
    to agree in when only the compression differs."""
    order = order_of(data if main is None else main)
    report = walk(data, main)

    def bodies(content, records):
        for start, type, size, extra in records:
            (misc,) = struct.unpack_from(order + "H", content, start + 4)
            yield type, misc, bytes(content[start + 8 : start + size + extra])

    found = [r for r in bodies(data, report.records) if r[0] not in (COMPRESSED, COMPRESSED2)]
    if report.inner:
        stream = b"".join(expand(data, order, report.records))
        found += bodies(stream, report.inner)
    return found


def load(path):
    """The bytes of a file; of a directory {name: bytes}."""
    if path.is_dir():
        return {str(part.relative_to(path)): part.read_bytes() for part in sorted(path.rglob("*"))
                if part.is_file()}
    return path.read_bytes()


def store(path, data):
    """Writes what load() returns. Returns the path."""
    parts = ({path / name: part for name, part in data.items()} if isinstance(data, dict)
             else {path: data})
    for where, part in parts.items():
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(part)
    return path
