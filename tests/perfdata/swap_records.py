"""Records in the other byte order: which event decides the layout of one, and which reading fits
it."""

from dataclasses import dataclass, field

from .attr import SAMPLE_TYPE, Attr, mask
from .features import FEATURES, NUMBER
from .rows import HEADER, RECORDS
from .sample import SAMPLE, SAMPLE_ID
from .swapper import Short

HEADER_ATTR, TRACING_DATA, BUILD_ID, AUXTRACE, HEADER_FEATURE = 64, 66, 67, 71, 80
COMPRESSED, COMPRESSED2, BPF_METADATA = 81, 83, 84
# Where the id is that finds the event.
BEFORE_ID = mask("IP|TID|TIME|ADDR", SAMPLE_TYPE)
AFTER_ID = mask("CPU|STREAM_ID", SAMPLE_TYPE)
IN_TRAILER = mask("TID|TIME|ID|STREAM_ID|CPU|IDENTIFIER", SAMPLE_TYPE)
KNOWN = (1 << len(SAMPLE_TYPE)) - 1 | 1 << 63  # the last one is old kernels' own, never a field


@dataclass
class Report:
    """Result of a walk. left: (where, type or feature, bytes) that were not part of a known layout;
    padding: the same where they are zero; records: (offset, type, size, bytes after header.size);
    inner: the same of expanded ones; sections: (feature, offset, size); parts: the reports of a
    directory's files."""

    records: list = field(default_factory=list)
    inner: list = field(default_factory=list)
    sections: list = field(default_factory=list)
    left: list = field(default_factory=list)
    padding: list = field(default_factory=list)
    parts: dict = field(default_factory=dict)
    truncated: int = None  # offset of a last record that is not whole
    garbage: int = None  # offset of the first bytes that are no record
    end: int = 0

    def rest(self, where, what, data):
        """Bytes after the last field of something."""
        if data:
            (self.left if any(data) else self.padding).append((where, what, len(data)))


def _count(bits):
    return bin(bits).count("1")


class Events:
    """The attributes so far, and which id belongs to which."""

    def __init__(self):
        self.attrs = []
        self.by_id = {}
        self.nr_cpus = None
        self.counters = False

    def add(self, attr, ids):
        self.attrs.append(attr)
        self.counters |= attr.branches("COUNTERS")
        for id in ids:
            self.by_id.setdefault(id, attr)

    def attr_of(self, t, type, start, end):
        """The attribute of a kernel record, by the rules that perf has."""
        if not self.attrs:
            return Attr(flags=())
        first = self.attrs[0]
        if len(self.attrs) == 1 or type != SAMPLE.type and "sample_id_all" not in first.flags:
            return first
        if all(attr.has("IDENTIFIER") for attr in self.attrs):
            at = start + 8 if type == SAMPLE.type else end - 8
        elif not first.has("ID"):
            return first
        elif type == SAMPLE.type:
            at = start + 8 + 8 * _count(first.sample_type & BEFORE_ID)
        else:
            at = end - 8 - 8 * _count(first.sample_type & AFTER_ID)
        try:
            return self.by_id.get(t.peek(at, 8), first)
        except Short:
            return first


def _trailer_size(attr):
    return 8 * _count(attr.sample_type & IN_TRAILER) if "sample_id_all" in attr.flags else 0


def _readings(attr, events):
    """Readings that old kernels and counters of a group leave open."""
    for with_hw_idx in {attr.branches("HW_INDEX"): 0, False: 0}:
        for with_counters in {events.counters: 0, False: 0}:
            for align_raw in (False, True):
                yield {"attr": attr, "with_hw_idx": with_hw_idx, "with_counters": with_counters,
                       "align_raw": align_raw}


def _swap_sample(t, attr, events):
    """Takes the reading that ends where the record does, or the first one that does not end after
    it."""
    first = None
    for values in _readings(attr, events):
        try:
            SAMPLE.swap(t, dict(values))
            if attr.sample_type & ~KNOWN:
                t.rest()  # their meaning is not known
            if t.pos == t.end:
                return
            first = first or values
        except Short:
            pass
        t.undo()
    SAMPLE.swap(t, first or next(_readings(attr, events)))


def _fits(swap, t, *arguments):
    """Whether this reading fits; if not, everything is as before."""
    try:
        swap(t, *arguments)
    except Short:
        t.undo()
        return False
    return True


def _swap_kernel(t, events, type, misc, start, end):
    """Returns where the known fields of a kernel record end, and where its trailer begins."""
    attr = events.attr_of(t, type, start, end)
    if type == SAMPLE.type:
        part = t.within(start + 8, end)
        _fits(_swap_sample, part, attr, events)
        return part.pos, end
    if type not in RECORDS:
        return end, end
    # records that perf makes up can lack the trailer
    for size in {_trailer_size(attr): 0, 0: 0}:
        part = t.within(start + 8, end - size)
        if part.left() < 0 or not _fits(RECORDS[type].swap, part, {"attr": attr, "misc": misc}):
            continue
        if size:
            SAMPLE_ID.swap(t.within(part.end, end), {"attr": attr})
        return part.pos, part.end
    return start + 8, end


def _swap_late_trailer(t, events):
    """perf inject appends a sample_id to records that have none of their own."""
    size = _trailer_size(events.attrs[0]) if events.attrs else 0
    if size and t.left() >= size and any(t.data[t.end - size : t.end]):
        t.take(t.left() - size)
        SAMPLE_ID.swap(t, {"attr": events.attrs[0]})
    else:
        t.rest()


def swap_feature(t, number, events):
    values = {"nr_cpus": events.nr_cpus}
    if number in FEATURES and t.left():
        FEATURES[number].swap(t, values)
    else:
        t.rest()
    if number == NUMBER["NRCPUS"]:
        events.nr_cpus = values.get("available")


def _swap_user(t, type, values, events):
    RECORDS[type].swap(t, values)
    if type == HEADER_ATTR:
        events.add(values["attr"], values["ids"])
    elif type == HEADER_FEATURE:
        swap_feature(t, values["feat_id"], events)
    elif type in (BUILD_ID, BPF_METADATA):
        _swap_late_trailer(t, events)


def _size_after(type, size, values):
    """How many bytes follow a record outside its header.size."""
    if type == AUXTRACE or type == TRACING_DATA and 12 + values["size"] > size:
        return values["size"]
    return 0


def swap_record(t, events, report):
    """The record at t.pos and what follows it.  False: there are no more whole records."""
    start = t.pos
    if t.left() < 8:
        report.truncated = start
        t.rest()
        return False
    header = {}
    HEADER.swap(t, header)
    type, misc, size = header["type"], header["misc"], header["size"]
    if type == COMPRESSED2:
        wanted = 16 + t.peek(start + 8, 8)
        if wanted + 7 & ~7 != size and wanted > size:
            size = wanted  # the 16 bits have wrapped
    if size < 8:  # nothing can be framed after it
        report.garbage = start
        t.rest()
        return False
    end = understood = start + size
    if end > t.end:
        if type >= 0x1000000:
            report.garbage = start
            t.out[start : t.pos] = t.data[start : t.pos]
        else:
            report.truncated = start
        t.rest()
        return False
    extra = 0
    reached = end
    if type < 64:
        reached, understood = _swap_kernel(t, events, type, misc, start, end)
    elif type in RECORDS:
        part, values = t.within(t.pos, end), {"nr_cpus": events.nr_cpus}
        if _fits(_swap_user, part, type, values, events):
            extra = _size_after(type, size, values)
        reached = part.pos
    report.rest(start, type, t.data[reached : understood])
    report.records.append((start, type, size, extra))
    t.pos = end
    if extra > t.left():
        report.truncated = start
        t.rest()
        return False
    t.take(extra)
    return True


def swap_stream(t, events, report):
    """Records to the end."""
    while t.left() and swap_record(t, events, report):
        pass
    report.end = t.pos
