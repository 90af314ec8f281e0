"""The language of the layouts. One list of rows makes bytes, and swaps the byte order of others.

    comm = Record(3, U32("pid tid"), Text("comm"))
    comm(7, 8, "ls")                    a Part, to be encoded in either order: see wire
    comm.swap(t, values)                swaps the next bytes of a Swapper, and collects the values

A row has a kind, names, and where needed a count or a condition. Both are functions of the values
so far and of the Swapper, which is None while bytes are made. A value that is not given is zero or
empty.
"""

from . import wire
from .swapper import Short
from .wire import encode, fixed, fstr, pad_to, raw_text, slist, text8

MAKE = {1: wire.u8, 2: wire.u16, 4: wire.u32, 8: wire.u64}
REST = object()  # a count: as many as there are until the end


class Row:
    """names: the values that the row is made from. build() gives a Part, swap() updates the
    values."""

    def __init__(self, names):
        self.names = names.split()


class Number(Row):
    def __init__(self, width, names):
        super().__init__(names)
        self.width, self.make = width, MAKE[width]

    def build(self, values):
        return self.make(*[values.get(name, 0) for name in self.names])

    def swap(self, t, values):
        for name in self.names:
            values[name] = t.number(self.width)


def U8(names):
    return Number(1, names)


def U16(names):
    return Number(2, names)


def U32(names):
    return Number(4, names)


def U64(names):
    return Number(8, names)


class F64(Number):
    def __init__(self, name):
        super().__init__(8, name)

    def build(self, values):
        return wire.f64(values[self.names[0]])


class Bits(Row):
    """A word of bit-fields: "name" has one bit, "name:4" four."""

    def __init__(self, width, names):
        fields = [name.partition(":") for name in names.split()]
        super().__init__(" ".join(name for name, _, _ in fields))
        self.width = width
        self.lengths = [int(length or 1) for _, _, length in fields]

    def build(self, values):
        fields, offset = [], 0
        for name, length in zip(self.names, self.lengths):
            fields.append((offset, length, values.get(name, 0)))
            offset += length
        return wire.bits(8 * self.width, *fields)

    def swap(self, t, values):
        values.update(zip(self.names, t.bits(self.width, self.lengths)))


class Text(Row):
    """Text to the end of a kernel record."""

    def build(self, values):
        return text8(values.get(self.names[0], b""))

    def swap(self, t, values):
        t.rest()


class CText(Row):
    """Text up to its NUL, and padding. The record's size is padded when it is made."""

    def build(self, values):
        return raw_text(values[self.names[0]]) + b"\0"

    def swap(self, t, values):
        t.take((t.data[t.pos : t.end].find(b"\0") + 1) or t.left())
        t.align()


class NulText(Row):
    """Text and its NUL."""

    def build(self, values):
        return raw_text(values[self.names[0]]) + b"\0"

    def swap(self, t, values):
        t.take((t.data[t.pos : t.end].find(b"\0") + 1) or t.left())


class Fixed(Row):
    """A char array."""

    def __init__(self, size, name):
        super().__init__(name)
        self.size = size

    def build(self, values):
        return fixed(values.get(self.names[0], b""), self.size)

    def swap(self, t, values):
        t.take(self.size)


class Str(Row):
    """Strings of a feature section: wire.fstr."""

    def build(self, values):
        return [fstr(values[name]) for name in self.names]

    def swap(self, t, values):
        for _ in self.names:
            t.fstr()


class StrList(Row):
    """Lists of strings of a feature section: wire.slist."""

    def build(self, values):
        return [slist(values[name]) for name in self.names]

    def swap(self, t, values):
        for _ in self.names:
            for _ in range(t.number(4)):
                t.fstr()


class Count(Row):
    """How many a later row has; the value nr_NAME."""

    def __init__(self, width, name):
        super().__init__("")
        self.width, self.name = width, name

    def build(self, values):
        count = values[f"nr_{self.name}"] = len(values.get(self.name, ()))
        return MAKE[self.width](count)

    def swap(self, t, values):
        values[f"nr_{self.name}"] = t.number(self.width)


class Counted(Row):
    """count: a number, a function, REST, or None where a Count comes before."""

    def __init__(self, name, count=None):
        super().__init__(name)
        self.count = count

    def number(self, t, values, width=1):
        if self.count is None:
            return values[f"nr_{self.names[0]}"]
        if self.count is REST:
            return t.left() // width
        return self.count(values, t) if callable(self.count) else self.count


class Bytes(Counted):
    """Bytes that have no order."""

    def build(self, values):
        return values.get(self.names[0], b"")

    def swap(self, t, values):
        t.take(self.number(t, values))


class Numbers(Counted):
    def __init__(self, width, name, count=None):
        super().__init__(name, count)
        self.width = width

    def build(self, values):
        return MAKE[self.width](*values.get(self.names[0], ()))

    def swap(self, t, values):
        values[self.names[0]] = t.numbers(self.width, self.number(t, values, self.width))


class Rows(Row):
    """Several rows as one."""

    def __init__(self, *rows):
        self.rows = rows
        self.names = list(dict.fromkeys(name for row in rows for name in row.names))

    def build(self, values):
        return [part for part in [row.build(values) for row in self.rows] if part]

    def swap(self, t, values):
        for row in self.rows:
            row.swap(t, values)


class If(Rows):
    def __init__(self, test, *rows):
        super().__init__(*rows)
        self.test = test

    def build(self, values):
        return super().build(values) if self.test(values, None) else b""

    def swap(self, t, values):
        if self.test(values, t):
            super().swap(t, values)


class Each(Counted):
    """Structures: tuples of their rows' values, or Parts."""

    def __init__(self, name, *rows, count=None):
        super().__init__(name, count)
        self.rows = Rows(*rows)

    def build(self, values):
        return [self.rows.build({**values, **dict(zip(self.rows.names, item))})
                if isinstance(item, tuple) else item for item in values.get(self.names[0], ())]

    def swap(self, t, values):
        if self.count is REST:
            while t.left():
                self.rows.swap(t, dict(values))
            return
        for _ in range(self.number(t, values)):
            self.rows.swap(t, dict(values))


def List(width, name, *rows):
    """A Count and as many structures, or as many u64 where no rows are given."""
    return Rows(Count(width, name), Each(name, *rows) if rows else Numbers(8, name))


class Sub(Row):
    """A Part, made elsewhere from these rows. size: a function; the rows end where the bytes do."""

    def __init__(self, name, *rows, size=None):
        super().__init__(name)
        self.rows, self.size = Rows(*rows), size

    def build(self, values):
        return values.get(self.names[0], b"")

    def swap(self, t, values):
        if self.size is None:
            self.rows.swap(t, values)
            return
        part = t.within(t.pos, t.pos + self.size(values, t))
        t.take(part.left())
        swap_known(self.rows, part, values)


def swap_known(rows, t, values):
    """Swaps as much as there is: a structure of an older version ends earlier."""
    try:
        rows.swap(t, values)
    except Short:
        pass


class Layout(Rows):
    """Rows that are called with their values: those without a default first, in the rows' order,
    then those with one."""

    def __init__(self, *rows, **defaults):
        super().__init__(*rows)
        self.defaults = defaults
        self.parameters = [name for name in self.names if name not in defaults] + list(defaults)
        self.known = {*self.parameters, "attr"}

    def __call__(self, *given, **named):
        values = {**self.defaults, **dict(zip(self.parameters, given)), **named}
        if len(given) > len(self.parameters) or values.keys() != set(self.parameters):
            raise TypeError(f"({', '.join(self.parameters)}) called with {given} {named}")
        return self.build(values)

    def part(self, **values):
        """As a call by names, but conditional rows need no values. attr: for conditions."""
        if not values.keys() <= self.known:
            raise TypeError(f"no such values: {sorted(values.keys() - self.known)}")
        return self.build({**self.defaults, **values})


RECORDS = {}  # type: Record
HEADER = Layout(U32("type"), U16("misc size"))


def record(type, body=b"", misc=0, size=None, after=b""):
    """A record of any type. size: what the header states, if not the real size."""

    def make(wire):
        data = encode(body, wire)
        length = 8 + len(data) if size is None else size
        return [HEADER.build({"type": type, "misc": misc, "size": length}), data, after]

    return make


class Record(Layout):
    """A record type: the rows of its body, to which a sample_id (sid) can be appended. step: the
    body is padded to a multiple of that."""

    def __init__(self, type, *rows, step=1, misc=0, **defaults):
        super().__init__(*rows, **defaults, misc=misc, sid=b"")
        self.type, self.step = type, step
        RECORDS[type] = self

    def build(self, values):
        body = [self.padded(super().build(values)), values["sid"]]
        return record(self.type, body, values["misc"])

    def padded(self, body):
        return body if self.step == 1 else lambda wire: pad_to(encode(body, wire), self.step)
