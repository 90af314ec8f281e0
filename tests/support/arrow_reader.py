"""A reader of Arrow IPC streams, written from the specification (Arrow columnar format,
Message.fbs, Schema.fbs, the internals of FlatBuffers): as much as pdecode writes, and strict."""
import struct

INT, FLOAT, BINARY, UTF8, BOOL, LIST, STRUCT = 2, 3, 4, 5, 6, 12, 13


class Table:
    """A table of a flatbuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        assert at % 4 == 0
        self.vtable = at - self.number("i", at)
        assert 0 <= self.vtable < at and self.vtable % 2 == 0
        self.slots = self.number("H", self.vtable) // 2 - 2

    def number(self, word, at):
        size = struct.calcsize("<" + word)
        assert at % size == 0, "not aligned"
        return struct.unpack_from("<" + word, self.data, at)[0]

    def place(self, field):
        offset = self.number("H", self.vtable + 4 + 2 * field) if field < self.slots else 0
        return self.at + offset if offset else None

    def get(self, field, word, default=0):
        place = self.place(field)
        return default if place is None else self.number(word, place)

    def target(self, place):
        return place + self.number("I", place)

    def table(self, field):
        place = self.place(field)
        return None if place is None else Table(self.data, self.target(place))

    def text(self, field):
        at = self.target(self.place(field))
        size = self.number("I", at)
        assert self.data[at + 4 + size] == 0
        return bytes(self.data[at + 4:at + 4 + size]).decode()

    def tables(self, field):
        at = self.target(self.place(field))
        return [Table(self.data, self.target(at + 4 + 4 * i))
                for i in range(self.number("I", at))]

    def pairs(self, field):
        at = self.target(self.place(field))
        return [(self.number("q", at + 4 + 16 * i), self.number("q", at + 12 + 16 * i))
                for i in range(self.number("I", at))]


class Field:
    def __init__(self, table):
        self.name, self.nullable = table.text(0), bool(table.get(1, "B"))
        self.kind, of = table.get(2, "B"), table.table(3)
        self.children = [Field(child) for child in table.tables(5)]
        self.word = {INT: lambda: self.word_of(of), FLOAT: lambda: "d"}.get(
            self.kind, lambda: None)()
        dictionary = table.table(4)
        self.dictionary = None if dictionary is None else dictionary.get(0, "q")
        assert (self.kind in (LIST, STRUCT)) == bool(self.children)

    @staticmethod
    def word_of(of):
        word = {32: "i", 64: "q"}[of.get(0, "i")]
        return word if of.get(1, "B") else word.upper()


class Body:
    """The arrays of a record batch."""

    def __init__(self, batch, body, dictionaries):
        self.nodes, self.spans = iter(batch.pairs(1)), iter(batch.pairs(2))
        self.body, self.dictionaries = body, dictionaries

    def span(self):
        offset, size = next(self.spans)
        assert offset % 8 == 0 and offset + size <= len(self.body)
        return self.body[offset:offset + size]

    def numbers(self, word, n):
        data = self.span()
        assert len(data) >= n * struct.calcsize(word)
        return list(struct.unpack_from(f"<{n}{word}", data))

    def bits(self, n):
        data = self.span()
        return [bool(data[i // 8] >> i % 8 & 1) for i in range(n)]

    def validity(self, n, nulls):
        if not nulls:
            self.span()
            return [True] * n
        valid = self.bits(n)
        assert valid.count(False) == nulls
        return valid

    def offsets(self, n):
        offsets = self.numbers("i", n + 1)
        assert offsets[0] == 0 and offsets == sorted(offsets)
        return offsets

    def array(self, field):
        n, nulls = next(self.nodes)
        assert field.nullable or not nulls
        valid = self.validity(n, nulls)
        if field.dictionary is not None:
            texts = self.dictionaries[field.dictionary]
            values = [texts[i] if ok else None for i, ok in zip(self.numbers("i", n), valid)]
        elif field.kind == UTF8:
            values = self.texts(n)
        elif field.kind == BINARY:
            values = self.pieces(n)
        elif field.kind == STRUCT:
            members = {child.name: self.array(child) for child in field.children}
            assert {len(items) for items in members.values()} == {n}
            values = [dict(zip(members, row)) for row in zip(*members.values())]
        elif field.kind == BOOL:
            values = self.bits(n)
        elif field.kind == LIST:
            offsets = self.offsets(n)
            items = self.array(field.children[0])
            assert len(items) == offsets[-1]
            values = [items[a:b] for a, b in zip(offsets, offsets[1:])]
        else:
            values = self.numbers(field.word, n)
        return [value if ok else None for value, ok in zip(values, valid)]

    def pieces(self, n):
        offsets, data = self.offsets(n), self.span()
        assert len(data) == offsets[-1]
        return [bytes(data[a:b]) for a, b in zip(offsets, offsets[1:])]

    def texts(self, n):
        return [piece.decode() for piece in self.pieces(n)]


def messages(data):
    """(type of the header, header, body)"""
    at = 0
    while True:
        mark, size = struct.unpack_from("<Ii", data, at)
        assert mark == 0xffffffff
        if not size:
            assert at + 8 == len(data), "bytes after the end"
            return
        assert size % 8 == 0
        meta = data[at + 8:at + 8 + size]
        message = Table(meta, struct.unpack_from("<I", meta)[0])
        assert message.get(0, "h") == 4
        length = message.get(3, "q")
        at += 8 + size
        yield message.get(1, "B"), message.table(2), memoryview(data)[at:at + length]
        at += length


def read_arrow(data):
    """({column: [value of each row]}, metadata) of the bytes of a stream."""
    fields, table, metadata, dictionaries = [], {}, {}, {}
    for kind, header, body in messages(data):
        if kind == 1:
            assert not fields and header.get(0, "h") == 0
            fields = [Field(field) for field in header.tables(1)]
            table = {field.name: [] for field in fields}
            metadata = {pair.text(0): pair.text(1) for pair in header.tables(2)}
        elif kind == 2:
            batch = header.table(1)
            n, _ = batch.pairs(1)[0]
            texts = Body(batch, body, {})
            next(texts.nodes)
            texts.validity(n, 0)
            dictionaries[header.get(0, "q")] = texts.texts(n)
        else:
            assert kind == 3
            arrays = Body(header, body, dictionaries)
            for field in fields:
                table[field.name] += arrays.array(field)
            rows = {len(rows) for rows in table.values()}
            assert len(rows) == 1 and not list(arrays.nodes) and not list(arrays.spans)
    return table, metadata
