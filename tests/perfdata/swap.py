"""Whole perf.data files rewritten in the other byte order, by a walk of its own over all layouts.

    big = to_big_endian(little)                        file mode, pipe mode, gzip of either
    big = to_big_endian(stream, main=main_file)        a bare DIR/data.N
    big = to_big_endian({"data": ..., "data.0": ...})  a directory

Sizes and offsets stay as they are, but for files with COMPRESSED records: those are expanded,
turned and compressed again, each with what it had before, so what follows them moves.  Of such a
file everything but sizes and offsets agrees.

walk(data) gives the Report alone: what lies where, and which bytes no layout explained.
"""

import gzip
import struct
import zlib
from dataclasses import dataclass, field

from .container import gzip as gzip_again
from .swap_features import FEATURES
from .swap_records import (AUXTRACE, COMPRESSED, COMPRESSED2, HEADER_FEATURE, KERNEL, SAMPLE,
                           TRACING_DATA, USER, Session, turn_attr, turn_auxtrace, turn_sample,
                           turn_sample_id)
from .swap_zstd import NotSwappable, expand, recompress
from .turner import Short, Turner

LITTLE, BIG, V1 = b"PERFILE2", b"2ELIFREP", b"PERFFILE"
GZIP = b"\x1f\x8b"


@dataclass
class Report:
    """What a walk saw.  left: (where, type or feature, bytes) that were not part of a known layout;
    padding: the same where they are zero; records: (offset, type, size, bytes behind header.size);
    inner: the same of expanded ones; sections: (feature, offset, size); parts: the reports of a
    directory's files."""

    records: list = field(default_factory=list)
    inner: list = field(default_factory=list)
    sections: list = field(default_factory=list)
    left: list = field(default_factory=list)
    padding: list = field(default_factory=list)
    parts: dict = field(default_factory=dict)
    truncated: int = None  # offset of a last record that is not whole
    garbage: int = None  # offset of what is no record any more
    end: int = 0

    def rest(self, where, what, data):
        """Bytes behind the last field of something."""
        if data:
            (self.left if any(data) else self.padding).append((where, what, len(data)))


# --- records --------------------------------------------------------------------------------------


def _attempt(t, turn, start, end):
    """Whether this reading fits; where not, everything is as before."""
    part = t.within(start, end)
    try:
        turn(part)
    except Short:
        t.out[start:end] = t.data[start:end]
        return None
    return part.pos


def _turn_kernel(t, session, type, misc, start, end):
    """What was understood of a kernel record's body ends here, and the trailer begins there."""
    layout = session.layout_of(t, type, start, end)
    body = start + 8
    if type == SAMPLE:
        return _attempt(t, lambda p: turn_sample(p, layout, session), body, end), end
    if type not in KERNEL:
        return end, end
    # records that perf makes up can lack the trailer
    for size in {layout.trailer(): 0, 0: 0}:
        split = end - size
        if split < body:
            continue
        reached = _attempt(t, lambda p: KERNEL[type](p, misc, layout), body, split)
        if reached is None:
            continue
        if size:
            turn_sample_id(t.within(split, end), layout)
        return reached, split
    return None, end


def _turn_feature(t, number, session):
    if number in FEATURES and t.left():
        FEATURES[number](t, session)
    else:
        t.rest()


def _turn_user(t, session, type, start, end):
    body = start + 8
    if type == HEADER_FEATURE:

        def turn(part):
            number = part.u64()
            _turn_feature(part, number, session)

        return _attempt(t, turn, body, end)
    if type == COMPRESSED or type not in USER:
        return end
    return _attempt(t, lambda p: USER[type](p, session), body, end)


def turn_record(t, session, report):
    """The record at t.pos and what follows it.  False: there is no whole record any more."""
    start = t.pos
    if t.left() < 8:
        report.truncated = start
        t.rest()
        return False
    type, misc, size = t.peek(start, 4), t.peek(start + 4, 2), t.peek(start + 6, 2)
    if type == COMPRESSED2:
        wanted = 16 + t.peek(start + 8, 8)
        if wanted + 7 & ~7 != size and wanted > size:
            size = wanted  # the 16 bits have wrapped
    if size < 8:  # nothing can be framed behind it
        report.garbage = start
        t.u32(), t.u16(), t.u16()
        t.rest()
        return False
    if start + size > t.end:
        if type >= 0x1000000:
            report.garbage = start
        else:
            report.truncated = start
            head = t.within(start, t.end)
            head.u32(), head.u16(), head.u16()
        t.rest()
        return False
    end = understood = start + size
    extra = 0
    t.u32(), t.u16(), t.u16()
    if type < 64:
        reached, understood = _turn_kernel(t, session, type, misc, start, end)
    elif type == TRACING_DATA:
        length = t.u32()
        reached = end
        extra = 0 if 12 + length <= size else length
    elif type == AUXTRACE:
        part = t.within(t.pos, end)
        extra = turn_auxtrace(part, session)
        reached = part.pos
    elif type == COMPRESSED2:
        t.u64()
        reached = end
    else:
        reached = _turn_user(t, session, type, start, end)
    report.rest(start, type, t.data[start + 8 if reached is None else reached : understood])
    report.records.append((start, type, size, extra))
    t.pos = end
    if extra > t.left():
        report.truncated = start
        t.rest()
        return False
    t.take(extra)
    return True


def turn_stream(t, session, report):
    """Records to the end."""
    while t.left() and turn_record(t, session, report):
        pass
    report.end = t.pos


# --- compressed records ---------------------------------------------------------------------------


def _turn_inner(data, order, session, report):
    """The expanded stream in the other order, or None where there is none."""
    if not any(r[1] in (COMPRESSED, COMPRESSED2) for r in report.records):
        return None
    stream = b"".join(expand(data, order, report.records))
    inner = Report()
    t = Turner(stream, order)
    turn_stream(t, session, inner)
    report.inner = inner.records
    report.left += [(f"inner {start}", type, size) for start, type, size in inner.left]
    report.padding += [(f"inner {start}", type, size) for start, type, size in inner.padding]
    return bytes(t.out)


# --- containers -----------------------------------------------------------------------------------


@dataclass
class Header:
    size: int
    attr_size: int
    attrs: tuple
    data: tuple
    event_types: tuple
    bitmap: bytes


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


def read_header(data, order):
    if len(data) < 72:
        raise NotSwappable("the header is not whole")
    size, attr_size, *rest = struct.unpack_from(order + "8Q", data, 8)
    return Header(size, attr_size, tuple(rest[0:2]), tuple(rest[2:4]), tuple(rest[4:6]),
                  data[72:104] if size >= 104 else b"")


def features_of(bitmap, order):
    """The numbers of the bits that are set, and the size of the producer's long."""
    def numbers(width):
        words = struct.unpack(f"{order}{32 // width}{'Q' if width == 8 else 'I'}", bitmap)
        return [i * 8 * width + b for i,
                w in enumerate(words) for b in range(8 * width) if w >> b & 1]

    if not any(bitmap):
        return [], 8
    if 3 in numbers(8) or order == "<":
        return numbers(8), 8
    return (numbers(4), 4) if 3 in numbers(4) else (numbers(8), 8)


def _turn_attrs(t, header, session):
    at, size = header.attrs
    if not header.attr_size or at + size > len(t.data):
        raise NotSwappable("the attrs section is not in the file")
    for entry in range(at, at + size - header.attr_size + 1, header.attr_size):
        part = t.within(entry, entry + header.attr_size)
        layout = turn_attr(part, header.attr_size - 16)
        ids_at = _ids_place(t, header, entry)
        pair = t.within(ids_at, ids_at + 16)
        start, length = pair.u64(), pair.u64()
        ids = t.within(start, start + length).all(8)
        session.add(layout, ids)


def _ids_place(t, header, entry):
    """At the end of the entry; behind attr.size where only that is a section of the file."""
    def good(at):
        start, size = t.peek(at, 8), t.peek(at + 8, 8)
        return size % 8 == 0 and start + size <= len(t.data)

    usual = entry + header.attr_size - 16
    other = entry + (t.peek(entry + 4, 4) or 64)
    return other if not good(usual) and other <= usual and good(other) else usual


def _sections(t, header, numbers):
    """(number, place of its table entry, offset, size)."""
    at = sum(header.data)
    found = []
    for i, number in enumerate(numbers):
        entry = at + 16 * i
        if entry + 16 > len(t.data):
            break
        found.append((number, entry, t.peek(entry, 8), t.peek(entry + 8, 8)))
    return found


def _turn_features(t, sections, session, report):
    # CPU_TOPOLOGY has no count of its own
    for number, _, at, size in sections:
        if number == 7 and size >= 4 and at + size <= len(t.data):
            session.nr_cpus = t.peek(at, 4)
    for number, entry, at, size in sections:
        pair = t.within(entry, entry + 16)
        pair.u64(), pair.u64()
        if at + size > len(t.data):
            report.left.append((entry, f"feature {number}", size))
            continue
        part = t.within(at, at + size)
        try:
            _turn_feature(part, number, session)
        except Short:
            pass
        report.sections.append((number, at, size))
        report.rest(at, f"feature {number}", t.data[part.pos : part.end])


def _turn_bitmap(t, numbers, long_size):
    width = 8 * long_size
    words = [0] * (32 // long_size)
    for number in numbers:
        words[number // width] |= 1 << number % width
    for i, word in enumerate(words):
        t.put(72 + i * long_size, long_size, word)


def _move(data, order, header, numbers, new, places, end):
    """The same file with the data section's bytes, which end at `end`, replaced: everything behind
    them moves."""
    start, size = header.data
    by = len(new) - (end - start)
    out = bytearray(data[:start] + new + data[end:])
    if not size:
        return bytes(out)  # the recorder was killed: nothing knows where anything is

    def shifted(offset):
        return offset + by if offset >= end else offset

    def fix(at):
        (offset,) = struct.unpack_from(order + "Q", out, at)
        struct.pack_into(order + "Q", out, at, shifted(offset))

    t = Turner(data, order)
    fix(24)
    struct.pack_into(order + "Q", out, 48, size + by)
    fix(56)
    at, length = header.attrs
    for entry in range(at, at + length - header.attr_size + 1, header.attr_size):
        fix(shifted(_ids_place(t, header, entry)))
    moved = {old: start + place for old, place in places}
    for number, entry, offset, length in _sections(t, header, numbers):
        fix(shifted(entry))
        if number == 18:
            counted = length % 16  # simpleperf has no count before the pairs
            for pair in range(offset + counted, offset + length - 15, 16):
                (record,) = struct.unpack_from(order + "Q", data, pair)
                struct.pack_into(order + "Q", out, shifted(pair), moved.get(record, record))
    return bytes(out)


def _turn_file(data, order, long_size, report, moved=False):
    header = read_header(data, order)
    numbers, own_long = features_of(header.bitmap, order)
    long_size = long_size or own_long
    start, size = header.data
    killed = size == 0 and start < len(data)
    end = len(data) if killed or start + size > len(data) else start + size
    if killed:
        numbers = []  # the recorder never came to write them
    session = Session()
    t = Turner(data, order)
    if data[:8] != V1:
        t.u64()
    else:
        t.take(8)
    t.numbers(8, 8)
    if header.bitmap:
        _turn_bitmap(t, features_of(header.bitmap, order)[0], long_size)
    _turn_attrs(t, header, session)
    at, length = header.event_types
    for entry in range(at, at + length - 71, 72) if at + length <= len(data) else ():
        t.within(entry, entry + 8).u64()
    turn_stream(t.within(start, end), session, report)
    report.end = max(report.end, start)
    sections = _sections(t, header, numbers)
    _turn_features(t, sections, session, report)
    if moved:
        return bytes(t.out)
    inner = _turn_inner(data, order, session, report)
    if inner is None:
        return bytes(t.out)
    new, places = recompress(data, order, report, inner)
    whole = _move(data, order, header, numbers, new, places, report.end)
    return _turn_file(whole, order, long_size, Report(), True)


def _turn_bare(data, order, at, session, report):
    """A stream without a file header round it: pipe mode behind its 16 bytes, or a data.N."""
    t = Turner(data, order)
    if at:
        if data[:8] != V1:
            t.u64()
        else:
            t.take(8)
        t.u64()
    turn_stream(t, session, report)
    inner = _turn_inner(data, order, session, report)
    if inner is None:
        return bytes(t.out)
    new, _ = recompress(data, order, report, inner)
    new = data[:at] + new + data[report.end :]
    return _turn_bare_again(new, order, at)


def _turn_bare_again(data, order, at):
    t = Turner(data, order)
    t.take(at)
    session = Session()
    if at:
        t.pos = 0
        t.u64() if data[:8] != V1 else t.take(8)
        t.u64()
    turn_stream(t, session, Report())
    return bytes(t.out)


def main_name(files):
    """Which file of a directory has the header; the first layout called it so."""
    return "data" if "data" in files else "header"


def turn(data, main=None, long_size=None, report=None):
    """The file in the order that it is not in.  long_size: the producer's, for the feature bitmap
    of a big-endian file; a little-endian one does not tell."""
    report = report if report is not None else Report()
    try:
        return _turn(data, main, long_size, report)
    except (Short, struct.error, zlib.error) as problem:
        raise NotSwappable(f"too damaged to be walked: {problem!r}") from problem


def _turn(data, main, long_size, report):
    if isinstance(data, dict):
        turned = {}
        main = main_name(data)
        for name, content in data.items():
            bare = name.startswith("data.")
            if not bare and name != main:
                turned[name] = content  # kcore and the like
                continue
            report.parts[name] = Report()
            turned[name] = turn(content, data[main] if bare else None, long_size,
                                report.parts[name])
        return turned
    if data[:2] == GZIP:
        try:
            plain = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile) as problem:
            raise NotSwappable(f"gzip: {problem}") from problem
        return gzip_again(turn(plain, main, long_size, report))
    if main is not None:
        order = order_of(main)
        session = Session()
        _turn_attrs(Turner(main, order), read_header(main, order), session)
        return _turn_bare(data, order, 0, session, report)
    order = order_of(data)
    if struct.unpack_from(order + "Q", data, 8) == (16,):
        return _turn_bare(data, order, 16, Session(), report)
    return _turn_file(data, order, long_size, report)


def to_big_endian(data, main=None, long_size=None):
    """A little-endian file as the same machine would write it were it big-endian."""
    _expect(data, main, "<")
    return turn(data, main, long_size)


def to_little_endian(data, main=None):
    """The way back: to_little_endian(to_big_endian(x)) == x where nothing is compressed."""
    _expect(data, main, ">")
    return turn(data, main)


def _expect(data, main, order):
    first = data[main_name(data)] if isinstance(data, dict) else main if main is not None else data
    if first[:2] == GZIP:
        return
    if order_of(first) != order:
        raise NotSwappable("it has the other byte order already")


def walk(data, main=None):
    """What lies where, without a result."""
    report = Report()
    turn(data, main, report=report)
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
