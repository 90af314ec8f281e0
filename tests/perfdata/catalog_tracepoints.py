"""Cases of tracepoint samples: every kind of field, in both word sizes and byte orders of the
recorder, which may differ from those of the file."""

import struct

from . import records as r
from .attr import Attr
from .case import Case, attr, record_facts
from .container import File, Pipe
from .sample import sample
from .tracing import Format, common, tracing_data
from .wire import fstr

ATTR = dict(type=2, config=300, sample_type="TID|TIME|RAW")


def traced(name, fields, body, want, order="<", long_size=8, system="test", piped=False,
           version="0.6",
           id=300, tail=b""):
    """One sample of one event.  body: the bytes after the common fields; want: the fields'
    values."""
    blob = tracing_data({system: [Format("event_x", id, fields)]}, order, long_size, version)
    a = Attr(**{**ATTR, "config": id})
    raw = common(id, 7, 1, 2, order=order) + body
    record = sample(a, pid=7, tid=7, time=5, raw=raw)
    facts = {"raw__tracepoint__system": system, "raw__tracepoint__name": "event_x"}
    facts.update({f"raw.tracepoint.fields.{key}": value for key, value in want.items()})
    if piped:
        file = Pipe(records=[r.header_attr(a, [42]), r.header_tracing_data(blob), record])
    else:
        file = File(attrs=[(a, [42])], records=[record], features={1: blob, 3: fstr("box")},
                    long_size=long_size)
    return Case(name, file, record_facts(2 if piped else 0, **facts),
                long_size=8 if piped else long_size)


def scalars(order):
    """Signed and unsigned numbers of 1, 2, 4 and 8 bytes."""
    fields, values, want, at = [], [], {}, 8
    for size, code, kind in ((8, "q", "s64"), (8, "Q", "u64"), (4, "i", "int"), (4, "I", "u32"),
                             (2, "h", "short"), (2, "H", "u16"), (1, "b", "s8"), (1, "B", "u8")):
        signed = int(code.islower())
        name = f"{'s' if signed else 'u'}{8 * size}_"
        value = -size - 1 if signed else (1 << 8 * size) - size
        fields.append((f"{kind} {name}", at, size, signed))
        values.append(struct.pack(order + code, value))
        want[name] = value
        at += size
    return fields, b"".join(values), want


def kinds(order, long_size):
    """All other kinds of `field:` lines."""
    long_code, word = ("q", 8) if long_size == 8 else ("i", 4)
    at, fields, body, want = 8, [], b"", {}

    def add(decl, size, signed, data, **values):
        nonlocal at, body
        fields.append((decl, at, size, signed))
        body += data
        at += size
        want.update(values)

    pack = lambda code, *v: struct.pack(order + code, *v)
    add("char comm[16]", 16, 0, b"sh".ljust(16, b"\0"), comm="sh")
    add("char whole[8]", 8, 0, b"12345678", whole="12345678")
    add("int numbers[3]", 12, 1, pack("3i", 1, -2, 3), numbers=[1, -2, 3])
    add("unsigned short ports[2]", 4, 0, pack("2H", 80, 443), ports=[80, 443])
    add("unsigned long address", word, 0, pack(long_code.upper(), 0x1234))
    add("long error", word, 1, pack(long_code, -2), error=-2)
    add("const char * pointer", word, 0, pack(long_code.upper(), 0xC0000010))
    add("pid_t pid", 4, 1, pack("i", 7), pid=7)
    add("bool flag", 1, 0, b"\1" + b"", flag=1)
    add("unsigned char mac[3]", 3, 0, b"\1\2\3")
    # three dynamic arrays: offset in the low half, length in the high one
    here = at + 16
    name, list_, empty = b"/etc/passwd\0", pack("2I", 5, 6), b""
    add("__data_loc char[] filename", 4, 0, pack("I", len(name) << 16 | here),
        filename="/etc/passwd")
    add("__data_loc u32[] ids", 4, 0, pack("I", len(list_) << 16 | here + len(name)), ids=[5, 6])
    add("__data_loc char[] nothing", 4, 0, pack("I", len(empty) << 16 | here + 20), nothing="")
    # relative to the end of the field, where the dynamic part begins
    add("__rel_loc char[] relative", 4, 0, pack("I", len(name) << 16 | 0), relative="/etc/passwd")
    assert at == here
    return fields, body + name + list_, want


def cases():
    for order, suffix in (("<", ""), (">", "-be-recorder")):
        yield traced(f"tracepoint-scalars{suffix}", *scalars(order), order=order)
        yield traced(f"tracepoint-kinds{suffix}", *kinds(order, 8), order=order)
        yield traced(f"tracepoint-kinds-32{suffix}", *kinds(order, 4), order=order, long_size=4)
    fields, body, want = scalars("<")
    yield traced("tracepoint-pipe", fields, body, want, piped=True)
    yield traced("tracepoint-version-0.5", fields, body, want, version="0.5")
    yield traced("tracepoint-not-utf8", [("char comm[16]", 8, 16, 0)], b"a\xff".ljust(16, b"\0"),
                 {"comm": "a\ufffd"})
    yield traced("tracepoint-outside", [("__data_loc char[] name", 8, 4, 0)],
                 struct.pack("<I", 100 << 16 | 5000), {})
    yield traced("tracepoint-field-cut-off", [("u64 x", 8, 8, 0), ("u64 y", 16, 8, 0)],
                 struct.pack("<Q", 5), {"x": 5})
    a = Attr(**{**ATTR, "config": 999})
    yield Case("tracepoint-format-missing",
               File(attrs=[(a, [42])], records=[sample(a, tid=7, raw=common(999, 7) + b"\1\2\3\4")],
                    features={1: tracing_data({"test": [Format("event_x", 300)]}), 3: fstr("box")}),
               record_facts(0, raw__size=12))
    two = tracing_data({"one": [Format("x", 1, [("int a", 8, 4, 1)]),
                                Format("y", 2, [("int b", 8, 4, 1)])],
                        "two": [Format("z", 3, [("int c", 8, 4, 1)])]},
                       ftrace=[Format("function", 4)], kallsyms="c1 T _text\n",
                       printk='0xffff : "hello"\n', cmdlines="7 sh\n")
    attrs = [attr("IDENTIFIER|RAW", type=2, config=i) for i in (1, 2, 3)]
    yield Case("tracepoint-systems",
               File(attrs=[(a, [i + 1]) for i, a in enumerate(attrs)],
                    records=[sample(a, id=i + 1, raw=common(i + 1, 7) + struct.pack("<i", 50 + i))
                             for i, a in enumerate(attrs)],
                    features={1: two, 3: fstr("box")}),
               [("record", i, "raw.tracepoint.system", s) for i,
                s in enumerate(("one", "one", "two"))]
               + [("record", i, f"raw.tracepoint.fields.{n}", 50 + i) for i, n in enumerate("abc")])
