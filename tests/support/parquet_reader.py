"""A reader of Parquet files, written from the specification (parquet-format: README, Encodings,
parquet.thrift): as much as pdecode writes, and strict about it."""
import ctypes
import struct

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t

BOOLEAN, INT32, INT64, DOUBLE, BYTE_ARRAY = 0, 1, 2, 5, 6
PLAIN, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY = 0, 3, 5, 8


def unpack_zstd(data, size):
    out = ctypes.create_string_buffer(size or 1)
    got = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size, "zstd"
    return out.raw[:size]


class Bytes:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, n):
        assert self.at + n <= len(self.data), "the data ends early"
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def little(self, n):
        return int.from_bytes(self.take(n), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def thrift_value(data, kind):
    if kind in (1, 2):
        return kind == 1
    if kind == 3:
        return data.byte()
    if kind in (4, 5, 6):
        return data.zigzag()
    if kind == 7:
        return struct.unpack("<d", data.take(8))[0]
    if kind == 8:
        return data.take(data.varint())
    if kind == 9:
        head = data.byte()
        n = head >> 4 if head >> 4 < 15 else data.varint()
        return [thrift_value(data, head & 15) for _ in range(n)]
    assert kind == 12, f"type {kind}"
    return thrift_struct(data)


def thrift_struct(data):
    """{field id: value} of a struct in the compact protocol."""
    fields, last = {}, 0
    while True:
        head = data.byte()
        if head == 0:
            return fields
        last = last + (head >> 4) if head >> 4 else data.zigzag()
        assert last not in fields
        fields[last] = thrift_value(data, head & 15)


def unpack_bits(data, n, bits):
    number = int.from_bytes(data, "little")
    mask = (1 << bits) - 1
    return [number >> i * bits & mask for i in range(n)]


def rle(data, n, bits):
    values = []
    while len(values) < n:
        head = data.varint()
        if head & 1:
            count = (head >> 1) * 8
            for at in range(0, count, 8):
                values += unpack_bits(data.take(bits), 8, bits)
        else:
            values += [data.little((bits + 7) // 8)] * (head >> 1)
            assert head >> 1, "an empty run"
    return values[:n]


def delta(data, width):
    block, minis, total, value = data.varint(), data.varint(), data.varint(), data.zigzag()
    values, half = [], 1 << (8 * width - 1)
    size = block // minis
    assert block % 128 == 0 and size % 32 == 0
    if total:
        values.append(value)
    while len(values) < total:
        least = data.zigzag()
        widths = data.take(minis)
        assert max(widths) <= 8 * width
        for bits in widths:
            if len(values) >= total:
                break
            for rest in unpack_bits(data.take(size * bits // 8), size, bits):
                if len(values) < total:
                    value = (value + least + rest + half) % (2 * half) - half
                    values.append(value)
    return values


def plain(data, kind, n):
    if kind == BOOLEAN:
        return [bool(bit) for bit in unpack_bits(data.take((n + 7) // 8), n, 1)]
    if kind == BYTE_ARRAY:
        return [data.take(data.little(4)) for _ in range(n)]
    word, size = {INT32: ("i", 4), INT64: ("q", 8), DOUBLE: ("d", 8)}[kind]
    return list(struct.unpack(f"<{n}{word}", data.take(n * size)))


class Column:
    """A leaf of the schema. The last part of its path is the name of a member, if its column is a
    list of structs."""

    def __init__(self, path, element, is_nullable, is_list):
        self.name, self.path = path[0], path
        self.member = path[3] if len(path) > 3 else None
        self.kind = element[1]
        self.is_unsigned = element.get(10, {}).get(10, {}).get(2) is False
        self.is_text = 1 in element.get(10, {})
        self.is_nullable, self.is_list = is_nullable, is_list
        self.most_def = is_nullable + is_list


def columns_of(schema):
    """Columns, with the field ids of the outermost elements."""
    columns, ids, at = [], [], 1
    for _ in range(schema[0][5]):
        element = schema[at]
        ids.append(element[9])
        name = element[4].decode()
        if 5 not in element:
            columns.append(Column([name], element, element[3] == 1, False))
            at += 1
            continue
        assert element[6] == 3 and 3 in element[10] and element[5] == 1
        inner, item = schema[at + 1:at + 3]
        assert inner[3] == 2 and inner[4] == b"list" and inner[5] == 1
        assert item[4] == b"element" and item[3] == 0
        at += 3
        path = [name, "list", "element"]
        if 5 not in item:
            columns.append(Column(path, item, element[3] == 1, True))
        for leaf in schema[at:at + item.get(5, 0)]:
            assert leaf[3] == 0 and 5 not in leaf
            columns.append(Column([*path, leaf[4].decode()], leaf, element[3] == 1, True))
            ids.append(leaf[9])
        at += item.get(5, 0)
    assert at == len(schema) and len(set(ids)) == len(ids)
    return columns


def page_values(data, page, encoding, column, dictionary, n):
    if encoding == RLE_DICTIONARY:
        bits = data.byte()
        return [dictionary[i] for i in rle(data, n, bits)]
    if encoding == DELTA_BINARY_PACKED:
        values = delta(data, 4 if column.kind == INT32 else 8)
        assert len(values) == n
        return values
    assert encoding == PLAIN
    return plain(data, column.kind, n)


def rows_of_page(data, header, column, dictionary):
    page = header[5]
    n, levels = page[1], []
    for most in (column.is_list, column.most_def):
        if not most:
            levels.append([int(most)] * n)
            continue
        part = Bytes(data.take(data.little(4)))
        levels.append(rle(part, n, int(most).bit_length()))
        assert part.at == len(part.data)
    repeats, defs = levels
    values = iter(page_values(data, page, page[2], column, dictionary,
                              sum(d == column.most_def for d in defs)))
    assert data.at == len(data.data), "bytes after the values"
    rows = []
    for repeat, level in zip(repeats, defs):
        if not column.is_list:
            rows.append(next(values) if level == column.most_def else None)
        elif repeat:
            rows[-1].append(next(values))
        elif level == column.most_def:
            rows.append([next(values)])
        else:
            rows.append([] if level == column.most_def - 1 else None)
    return rows


def unsigned(value):
    return [unsigned(v) for v in value] if isinstance(value, list) else (
        value if value is None else value % 2**64)


def text(value):
    return [text(v) for v in value] if isinstance(value, list) else (
        value if value is None else value.decode())


def read_chunk(file, chunk, column):
    meta = chunk[3]
    assert [part.decode() for part in meta[3]] == column.path and meta[4] == 6
    start = meta.get(11, meta[9])
    data, end = Bytes(file, start), start + meta[7]
    dictionary, rows, values = None, [], 0
    while data.at < end:
        header = thrift_struct(data)
        page = Bytes(unpack_zstd(data.take(header[3]), header[2]))
        if header[1] == 2:
            dictionary = plain(page, column.kind, header[7][1])
            assert page.at == len(page.data) and len(set(dictionary)) == len(dictionary)
        else:
            rows += rows_of_page(page, header, column, dictionary)
            values += header[5][1]
    assert data.at == end and values == meta[5]
    statistics = meta[12]
    assert statistics[3] == sum(row is None for row in rows)
    if 5 in statistics:
        known = [row for row in rows if row is not None]
        assert [int.from_bytes(statistics[i], "little", signed=True) for i in (6, 5)] == [
            min(known), max(known)]
    change = unsigned if column.is_unsigned else text if column.is_text else lambda row: row
    return [change(row) for row in rows]


def structs(members):
    """The rows of a list of structs, from those of each member: {member: rows}"""
    made = []
    for row in zip(*members.values()):
        assert len({None if part is None else len(part) for part in row}) == 1
        made.append(None if row[0] is None else
                    [dict(zip(members, values)) for values in zip(*row)])
    return made


def read_footer(file):
    assert file[:4] == file[-4:] == b"PAR1"
    size = int.from_bytes(file[-8:-4], "little")
    data = Bytes(file[-8 - size:-8])
    footer = thrift_struct(data)
    assert data.at == size
    return footer


def rows_of_groups(file):
    """The number of rows in each row group."""
    return [group[3] for group in read_footer(file)[4]]


def encodings(file):
    """{column: the encodings of its values, by number}, of lists those of the items."""
    found = {}
    for group in read_footer(file)[4]:
        for chunk in group[1]:
            found.setdefault(chunk[3][3][0].decode(), set()).update(set(chunk[3][2]) - {RLE})
    return found


def read_parquet(file):
    """({column: [value of each row]}, metadata) of the bytes of a file."""
    footer = read_footer(file)
    columns = columns_of(footer[2])
    table = {column.name: [] for column in columns}
    assert len(footer[7]) == len(columns)
    for group in footer[4]:
        assert len(group[1]) == len(columns)
        lists = {}
        for chunk, column in zip(group[1], columns):
            rows = read_chunk(file, chunk, column)
            assert len(rows) == group[3]
            if column.member:
                lists.setdefault(column.name, {})[column.member] = rows
            else:
                table[column.name] += rows
        for name, members in lists.items():
            table[name] += structs(members)
    assert all(len(rows) == footer[3] for rows in table.values())
    return table, {pair[1].decode(): pair[2].decode() for pair in footer[5]}
