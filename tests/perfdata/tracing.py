"""The TRACING_DATA blob and the raw bytes of tracepoint samples.

The blob states its own byte order and word size, and raw data have those of the blob, not of the
file's header: swapping a file's byte order must change neither.
"""

import struct
from dataclasses import dataclass, field


@dataclass
class Format:
    """An event's `format` file.  fields: (C declaration, offset, size, signed)."""

    name: str
    id: int
    fields: list = field(default_factory=list)
    print_fmt: str = '"\\n"'

    def text(self):
        common = (
            ("unsigned short common_type", 0, 2, 0),
            ("unsigned char common_flags", 2, 1, 0),
            ("unsigned char common_preempt_count", 3, 1, 0),
            ("int common_pid", 4, 4, 1),
        )

        def lines(fields):
            return "".join(
                f"\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"
                for decl, offset, size, signed in fields
            )

        return (
            f"name: {self.name}\nID: {self.id}\nformat:\n{lines(common)}\n{lines(self.fields)}\n"
            f"print fmt: {self.print_fmt}\n"
        )


def header_page(order, long_size):
    """The ring buffer's page header, whose text depends on the word size, too."""
    return (
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        f"\tfield: local_t commit;\toffset:8;\tsize:{long_size};\tsigned:1;\n"
        f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        f"\tfield: char data;\toffset:{8 + long_size};\tsize:{4096 - 8 - long_size};\tsigned:1;\n"
    )


def tracing_data(systems, order="<", long_size=8, version="0.6", page_size=4096, ftrace=(),
                 kallsyms="", printk="", cmdlines=""):
    """systems: {name: [Format, ...]}."""
    number = lambda code, value: struct.pack(order + code, value)

    def text(body, code="Q"):
        data = body.encode()
        return number(code, len(data)) + data

    parts = [
        b"\x17\x08\x44tracing",
        version.encode() + b"\0",
        bytes([order == ">", long_size]),
        number("I", page_size),
        b"header_page\0", text(header_page(order, long_size)),
        b"header_event\0", text("# compressed entry header\n\ttype_len    :    5 bits\n"),
        number("I", len(ftrace)),
    ]
    parts += [text(f.text()) for f in ftrace]
    parts.append(number("I", len(systems)))
    for name, formats in systems.items():
        parts += [name.encode() + b"\0", number("I", len(formats))]
        parts += [text(f.text()) for f in formats]
    parts += [text(kallsyms, "I"), text(printk, "I")]
    if version >= "0.6":
        parts.append(text(cmdlines))
    return b"".join(parts)


def common(id, pid, flags=0, preempt_count=0, order="<"):
    """The four fields at the beginning of every tracepoint record."""
    return struct.pack(order + "HBBi", id, flags, preempt_count, pid)
