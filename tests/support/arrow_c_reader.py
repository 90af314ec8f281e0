"""A reader of Arrow's C stream interface, written from the specification, with ctypes: as much as
libpdcolumns hands over, and strict."""
import ctypes
import struct

POINTER, CFUNC = ctypes.POINTER, ctypes.CFUNCTYPE
NULLABLE = 2


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p),
                   ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", POINTER(POINTER(Schema))),
                   ("dictionary", POINTER(Schema)), ("release", CFUNC(None, POINTER(Schema))),
                   ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64),
                  ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", POINTER(ctypes.c_void_p)),
                  ("children", POINTER(POINTER(Array))), ("dictionary", POINTER(Array)),
                  ("release", CFUNC(None, POINTER(Array))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", CFUNC(ctypes.c_int, POINTER(Stream), POINTER(Schema))),
                   ("get_next", CFUNC(ctypes.c_int, POINTER(Stream), POINTER(Array))),
                   ("get_last_error", CFUNC(ctypes.c_char_p, POINTER(Stream))),
                   ("release", CFUNC(None, POINTER(Stream))), ("private_data", ctypes.c_void_p)]

NUMBERS = {b"i": "i", b"l": "q", b"L": "Q", b"g": "d"}


class StreamError(Exception):
    pass


def release(thing):
    thing.release(ctypes.byref(thing))
    assert not thing.release


def metadata_of(schema):
    """The pairs that a pointer leads to: their number, then counted texts."""
    at, words = schema.metadata, []

    def number():
        nonlocal at
        value = struct.unpack("i", ctypes.string_at(at, 4))[0]
        at += 4
        return value
    if not at:
        return {}
    for _ in range(2 * number()):
        size = number()
        words.append(ctypes.string_at(at, size).decode())
        at += size
    return dict(zip(words[::2], words[1::2]))


class Reader:
    """The values of one array."""

    def __init__(self, schema, array):
        self.schema, self.array = schema, array
        assert array.release and array.offset == 0
        assert bool(array.dictionary) == bool(schema.dictionary)
        assert array.n_children == schema.n_children

    def data(self, i, size):
        assert i < self.array.n_buffers
        at = self.array.buffers[i]
        assert at and at % 8 == 0
        return ctypes.string_at(at, size)

    def numbers(self, word, i, n):
        return list(struct.unpack(f"={n}{word}", self.data(i, n * struct.calcsize(word))))

    def bits(self, i, n):
        data = self.data(i, (n + 7) // 8)
        return [bool(data[k // 8] >> k % 8 & 1) for k in range(n)]

    def validity(self):
        n, nulls = self.array.length, self.array.null_count
        if not self.array.buffers[0]:
            assert nulls == 0
            return [True] * n
        valid = self.bits(0, n)
        assert valid.count(False) == nulls and self.schema.flags & NULLABLE
        return valid

    def offsets(self):
        offsets = self.numbers("i", 1, self.array.length + 1)
        assert offsets[0] == 0 and offsets == sorted(offsets)
        return offsets

    def lists(self, offsets):
        child = self.array.children[0].contents
        assert child.length == offsets[-1] and self.array.n_buffers == 2
        items = Reader(self.schema.children[0].contents, child).values()
        return [items[a:b] for a, b in zip(offsets, offsets[1:])]

    def structs(self):
        assert self.array.n_buffers == 1
        members = {}
        for i in range(self.array.n_children):
            child = self.schema.children[i].contents
            members[child.name.decode()] = Reader(child, self.array.children[i].contents).values()
        assert {len(items) for items in members.values()} == {self.array.length}
        return [dict(zip(members, row)) for row in zip(*members.values())]

    def pieces(self, offsets):
        data = self.data(2, offsets[-1])
        return [data[a:b] for a, b in zip(offsets, offsets[1:])]

    def texts(self, offsets):
        return [piece.decode() for piece in self.pieces(offsets)]

    def chosen(self):
        texts = Reader(self.schema.dictionary.contents, self.array.dictionary.contents).values()
        assert len(set(texts)) == len(texts)
        return [texts[i] if valid else None for i, valid
                in zip(self.numbers("i", 1, self.array.length), self.validity())]

    def values(self):
        kind, n = self.schema.format, self.array.length
        if self.schema.dictionary:
            assert kind == b"i"
            return self.chosen()
        if kind == b"+l":
            values = self.lists(self.offsets())
        elif kind == b"u":
            values = self.texts(self.offsets())
        elif kind == b"z":
            values = self.pieces(self.offsets())
        elif kind == b"+s":
            values = self.structs()
        else:
            values = self.bits(1, n) if kind == b"b" else self.numbers(NUMBERS[kind], 1, n)
        return [value if valid else None for value, valid in zip(values, self.validity())]


def check(stream, error):
    if error:
        raise StreamError(error, (stream.get_last_error(ctypes.byref(stream)) or b"").decode())


def next_batch(stream):
    """The next array of a stream, or None."""
    array = Array()
    check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(array)))
    return array if array.release else None


def schema_of(stream):
    schema = Schema()
    check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
    assert schema.format == b"+s"
    return schema


def columns_of(schema, array):
    """{column: values} of one batch."""
    assert array.n_buffers == 1 and array.null_count == 0 and array.n_children == schema.n_children
    columns = {}
    for i in range(schema.n_children):
        child = schema.children[i].contents
        columns[child.name.decode()] = Reader(child, array.children[i].contents).values()
        assert len(columns[child.name.decode()]) == array.length
    return columns


def read_stream(stream):
    """({column: [value of each row]}, metadata, rows of each batch) of a stream, which is
    released."""
    schema, batches = schema_of(stream), []
    table = {schema.children[i].contents.name.decode(): [] for i in range(schema.n_children)}
    try:
        while array := next_batch(stream):
            for name, values in columns_of(schema, array).items():
                table[name] += values
            batches.append(array.length)
            release(array)
        return table, metadata_of(schema), batches
    finally:
        release(schema)
        release(stream)
