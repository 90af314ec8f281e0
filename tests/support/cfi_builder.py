"""Small ELF files with call frame information, byte by byte: what compilers do not write, and
other machines."""
import struct

X86_64, I386, AARCH64 = 62, 3, 183
WORD = {X86_64: 8, I386: 4, AARCH64: 8}
TEXT = 0x1000  # address and offset of the code
EH_FRAME = 0x10000  # address of .eh_frame; the offsets in the file are the addresses
PLT = 0x12000  # address of .plt, if there is one
PCREL_SDATA4 = 0x1B


def uleb(value):
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def sleb(value):
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        last = value == (-1 if low & 0x40 else 0)
        out.append(low | (0 if last else 0x80))
        if last:
            return bytes(out)


# --- instructions ---


def advance(n):
    return bytes([0x40 | n]) if n < 64 else b"\x04" + struct.pack("<I", n)


def def_cfa(reg, offset):
    return b"\x0c" + uleb(reg) + uleb(offset)


def cfa_offset(offset):
    return b"\x0e" + uleb(offset)


def saved(reg, words):
    """In memory `words` below the CFA, with a data alignment of minus a word."""
    return b"\x05" + uleb(reg) + uleb(words)


def undefined(reg):
    return b"\x07" + uleb(reg)


def same(reg):
    return b"\x08" + uleb(reg)


def in_register(reg, other):
    return b"\x09" + uleb(reg) + uleb(other)


def block(code):
    return uleb(len(code)) + code


def cfa_expression(code):
    return b"\x0f" + block(code)


def at_expression(reg, code):
    return b"\x10" + uleb(reg) + block(code)


def is_expression(reg, code):
    return b"\x16" + uleb(reg) + block(code)


REMEMBER, RESTORE, NEGATE_RA = b"\x0a", b"\x0b", b"\x2d"

# --- operations ---


def breg(reg, offset=0):
    return bytes([0x70 + reg]) + sleb(offset)


def lit(n):
    return bytes([0x30 + n])


DEREF, PLUS, AND, GE, SHL = b"\x06", b"\x22", b"\x1a", b"\x2a", b"\x24"

# --- sections ---


class Cfi:
    """One CIE, and FDEs as (start, size, program)."""
    def __init__(self,
                 machine=X86_64,
                 augmentation="zR",
                 encoding=PCREL_SDATA4,
                 initial=None,
                 debug_frame=False,
                 version=1,
                 column=None):
        self.machine, self.word = machine, WORD[machine]
        self.augmentation, self.encoding = augmentation, encoding
        self.debug_frame, self.version = debug_frame, version
        self.column = self.ra() if column is None else column  # of the return address
        self.initial = self.default_initial() if initial is None else initial
        self.fdes = []

    def default_initial(self):
        if self.machine == X86_64:
            return def_cfa(7, 8) + saved(16, 1)
        if self.machine == I386:
            return def_cfa(4, 4) + saved(8, 1)
        return def_cfa(31, 0)

    def ra(self):
        return {X86_64: 16, I386: 8, AARCH64: 30}[self.machine]

    def fde(self, start, size, program=b""):
        self.fdes.append((start, size, program))
        return self

    def entry(self, body):
        body += b"\0" * (-(len(body) + 4) % self.word)
        return struct.pack("<I", len(body)) + body

    def cie(self):
        data = b""
        for letter in self.augmentation[1:] if self.augmentation.startswith("z") else "":
            data += {"R": bytes([self.encoding]), "L": b"\x1b",
                     "P": b"\x03\0\0\0\0"}.get(letter, b"")
        eh = bytes(self.word) if self.augmentation == "eh" else b""
        sized = uleb(len(data)) if self.augmentation.startswith("z") else b""
        sizes = bytes([self.word, 0]) if self.version == 4 else b""
        return self.entry(
            struct.pack("<I", 0xFFFFFFFF if self.debug_frame else 0) + bytes([self.version]) +
            self.augmentation.encode() + b"\0" + sizes + eh + uleb(1) + sleb(-self.word) +
            bytes([self.column]) + sized + data + self.initial)

    def pointer(self, value, at):
        encoding = self.encoding if self.augmentation.startswith("z") else 0
        if encoding == 0x50:  # aligned
            pad = -at % self.word
            return b"\0" * pad + value.to_bytes(self.word, "little")
        if encoding & 0x70 == 0x10:
            value -= at
        width = {0: self.word, 3: 4, 4: 8, 0xB: 4, 0xC: 8}[encoding & 0xF]
        return (value % 2**(8 * width)).to_bytes(width, "little")

    def section(self):
        """(bytes, [(start, offset of the FDE)])"""
        out, table = self.cie(), []
        for start, size, program in self.fdes:
            at = len(out)
            where = EH_FRAME + at + 8
            location = self.pointer(start, where)
            encoding = self.encoding & 0xF if self.augmentation.startswith("z") else 0
            length = size.to_bytes({0: self.word, 3: 4, 4: 8, 0xB: 4, 0xC: 8}[encoding], "little")
            sized = b""
            if self.augmentation.startswith("z"):
                lsda = bytes(4) if "L" in self.augmentation else b""
                sized = uleb(len(lsda)) + lsda
            pointer = 0 if self.debug_frame else at + 4
            out += self.entry(struct.pack("<I", pointer) + location + length + sized + program)
            table.append((start, at))
        return out + bytes(4), table


def header_table(table, vaddr):
    rows = b"".join(
        struct.pack("<ii", start - vaddr, EH_FRAME + at - vaddr) for start, at in sorted(table))
    return b"\x01\x1b\x03\x3b" + struct.pack("<iI", EH_FRAME - (vaddr + 4), len(table)) + rows


def elf(cfi, table=True, nobits=False, code_size=0x8000, header=None, name=None, plt=b""):
    """An ELF file with the code at TEXT. `header` replaces .eh_frame_hdr. `plt` is at PLT."""
    section, entries = cfi.section()
    hdr_at = EH_FRAME + len(section) + 16
    hdr = header_table(entries, hdr_at) if header is None else header(entries, hdr_at)
    name = name or (".debug_frame" if cfi.debug_frame else ".eh_frame")
    rows = [("", 0, 0, 0, 0), (".text", 1, 6, TEXT, code_size)]
    if table and not cfi.debug_frame:
        rows.append((".eh_frame_hdr", 1, 2, hdr_at, len(hdr)))
    rows.append((name, 8 if nobits else 1, 0 if cfi.debug_frame else 2, EH_FRAME, len(section)))
    names_at = hdr_at + len(hdr)
    if plt:
        assert names_at <= PLT
        rows.append((".plt", 1, 6, PLT, len(plt)))
        names_at = PLT + len(plt)
    names = b"\0".join(row[0].encode() for row in rows) + b"\0.shstrtab\0"
    rows.append((".shstrtab", 3, 0, names_at, len(names)))
    wide = cfi.word == 8
    sections_at = names_at + len(names)
    data = bytearray(sections_at)
    data[EH_FRAME:EH_FRAME + len(section)] = section
    data[hdr_at:hdr_at + len(hdr)] = hdr
    data[PLT:PLT + len(plt)] = plt
    data[names_at:names_at + len(names)] = names
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    head_size, segment_size, row_size = (64, 56, 64) if wide else (52, 32, 40)
    form = "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH"
    data[:head_size] = ident + struct.pack(form, 3, cfi.machine, 1, 0, head_size, sections_at, 0,
                                           head_size, segment_size, 1, row_size, len(rows),
                                           len(rows) - 1)
    if wide:
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, sections_at, sections_at, 0x1000)
    else:
        segment = struct.pack("<IIIIIIII", 1, 0, 0, 0, sections_at, sections_at, 5, 0x1000)
    data[head_size:head_size + segment_size] = segment
    for text, kind, flags, at, size in rows:
        where = names.index(text.encode() + b"\0") if text else 0
        data += struct.pack("<IIQQQQIIQQ" if wide else "<IIIIIIIIII", where, kind, flags,
                            at if flags else 0, at, size, 0, 0, 1, 0)
    return bytes(data)
