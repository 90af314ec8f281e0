"""A cursor that reads numbers in one byte order and leaves them in the other.

A walk with it is a walk over a layout: what it does not step over stays as it was, and where it
does not end on the last byte the layout was not understood.
"""


class Short(Exception):
    """A field ends behind the bytes that it should be in."""


class Turner:
    """data: the bytes as they are; out: a bytearray of the same size, turned so far."""

    def __init__(self, data, order, out=None, pos=0, end=None):
        self.data = data
        self.order = "little" if order == "<" else "big"
        self.other = "big" if order == "<" else "little"
        self.out = bytearray(data) if out is None else out
        self.pos = pos
        self.end = len(data) if end is None else end

    def within(self, pos, end):
        """Another cursor over a part of the same bytes, and never beyond them."""
        order = "<" if self.order == "little" else ">"
        return Turner(self.data, order, self.out, pos, min(end, len(self.data)))

    def left(self):
        return self.end - self.pos

    def peek(self, pos, width):
        """The number there, which stays unturned."""
        if pos < 0 or pos + width > len(self.data):
            raise Short
        return int.from_bytes(self.data[pos : pos + width], self.order)

    def put(self, pos, width, value):
        self.out[pos : pos + width] = value.to_bytes(width, self.other)

    def take(self, size):
        """Bytes that have no order."""
        if size > self.left():
            raise Short
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def rest(self):
        return self.take(self.left())

    def number(self, width):
        at = self.pos
        value = int.from_bytes(self.take(width), self.order)
        self.put(at, width, value)
        return value

    def u16(self):
        return self.number(2)

    def u32(self):
        return self.number(4)

    def u64(self):
        return self.number(8)

    def numbers(self, width, count):
        if count < 0 or count * width > self.left():  # before anything is turned
            raise Short
        return [self.number(width) for _ in range(count)]

    def all(self, width):
        """Numbers to the end, as many as are whole."""
        return self.numbers(width, self.left() // width)

    def bits(self, width, lengths):
        """A word of bit-fields, given as their lengths from the first declared one.  Returns them.
        The first stands lowest on a little-endian machine and highest on a big-endian one."""
        at = self.pos
        word = int.from_bytes(self.take(width), self.order)
        total, offset, turned, values = 8 * width, 0, 0, []
        for length in lengths:
            low, high = offset, total - offset - length
            if self.order == "big":
                low, high = high, low
            value = word >> low & (1 << length) - 1
            turned |= value << high
            values.append(value)
            offset += length
        assert offset == total
        self.put(at, width, turned)
        return values

    def fstr(self):
        """u32 length and that many bytes; the text of it."""
        return self.take(self.u32()).split(b"\0")[0]

    def slist(self):
        return [self.fstr() for _ in range(self.u32())]
