"""A cursor that reads numbers in one byte order and leaves them in the other.

Bytes that it steps over as bytes stay as they are. If a walk does not end at the last byte, the
layout was not understood.
"""


class Short(Exception):
    """A field extends beyond the bytes that should contain it."""


class Swapper:
    """data: the bytes as they are; out: a bytearray of the same size, swapped so far."""

    def __init__(self, data, order, out=None, pos=0, end=None):
        self.data = data
        self.order = "little" if order == "<" else "big"
        self.other = "big" if order == "<" else "little"
        self.out = bytearray(data) if out is None else out
        self.start = self.pos = pos
        self.end = len(data) if end is None else end

    def within(self, pos, end):
        """Another cursor over a part of the same bytes, and never beyond them."""
        order = "<" if self.order == "little" else ">"
        return Swapper(self.data, order, self.out, pos, min(end, len(self.data)))

    def left(self):
        return self.end - self.pos

    def peek(self, pos, width):
        """The number at pos, which is not swapped."""
        if pos < 0 or pos + width > len(self.data):
            raise Short
        return int.from_bytes(self.data[pos : pos + width], self.order)

    def put(self, pos, width, value):
        self.out[pos : pos + width] = value.to_bytes(width, self.other)

    def undo(self):
        """Goes back to the start and restores the bytes."""
        self.out[self.start : self.end] = self.data[self.start : self.end]
        self.pos = self.start

    def take(self, size):
        """Bytes that have no order."""
        if size > self.left():
            raise Short
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def rest(self):
        return self.take(self.left())

    def align(self):
        """Padding up to a multiple of 8 bytes from the start, as far as it is there."""
        return self.take(min((self.start - self.pos) % 8, self.left()))

    def number(self, width):
        at, data = self.pos, self.take(width)
        self.out[at : self.pos] = data[::-1]
        return int.from_bytes(data, self.order)

    def numbers(self, width, count):
        if count < 0 or count * width > self.left():  # before anything is swapped
            raise Short
        return [self.number(width) for _ in range(count)]

    def bits(self, width, lengths):
        """A word of bit-fields, given by their lengths in the order of declaration. The first one
        is the lowest on a little-endian machine and the highest on a big-endian one."""
        at = self.pos
        word = int.from_bytes(self.take(width), self.order)
        total, offset, swapped, values = 8 * width, 0, 0, []
        for length in lengths:
            low, high = offset, total - offset - length
            if self.order == "big":
                low, high = high, low
            value = word >> low & (1 << length) - 1
            swapped |= value << high
            values.append(value)
            offset += length
        assert offset == total
        self.put(at, width, swapped)
        return values

    def fstr(self):
        """u32 length and that many bytes."""
        return self.take(self.number(4))
