"""Functions of an ELF file according to readelf, nm and the rules of libsymbols/image, independent
of libpdsymbols."""
import bisect
import re
import subprocess

PAGE = 4096
RANK = {"GLOBAL": 0, "UNIQUE": 0, "WEAK": 1, "LOCAL": 2}
ORDER = ["SYMTAB", "DYNSYM", "MINIDEBUG"]


def is_binutils_before(*version):
    text = subprocess.run(["readelf", "--version"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return tuple(map(int, re.search(r" (\d+)\.(\d+)", text).groups())) < version


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace").stdout


def sections(path):
    """{index: (name, type, address, size, flags)}"""
    found = {}
    for line in output("readelf", "-SW", path).splitlines():
        row = re.match(r"\s*\[\s*(\d+)\] (\S*)\s+([A-Z]\w+)\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) "
                       r"[0-9a-f]+\s+([A-Za-z]*)\s", line)
        if row and row[3] != "NULL":
            found[int(row[1])] = (row[2], row[3], int(row[4], 16), int(row[5], 16), row[6])
    return found


def rows(path, table):
    """(value, size, type, binding, section, name) of a symbol table, as readelf prints them."""
    inside = False
    for line in output("readelf", "-sW", path).splitlines():
        if line.startswith("Symbol table"):
            inside = f"'{table}'" in line
        row = re.match(r"\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) "
                       r"(\w+)\s+(\w+)\s+\w+\s.*?\b(\d+|UND|ABS|COM) (\S+)", line)
        if inside and row:
            name = re.sub(r"@.*", "", row[6]) if table == ".dynsym" else row[6]
            yield int(row[1], 16), int(row[2], 0), row[3], row[4], row[5], name


def functions(path, table, source, shape=None):
    """(start, size, limit, binding, source, name) of the table's functions."""
    places = sections(shape or path)
    for value, size, kind, binding, index, name in rows(path, table):
        if kind not in ("FUNC", "IFUNC", "NOTYPE") or not index.isdigit():
            continue
        _, _, address, length, flags = places.get(int(index), ("", "", 0, 0, ""))
        if "A" not in flags or (kind == "NOTYPE" and "X" not in flags):
            continue
        yield value, size, address + length, binding, source, name


def name_of_chosen(path, chooser):
    """The name of a function whose code another one at that address chooses, of its symbols."""
    symbols = [(value, size, 0, binding, source, name) for table, source in
               ((".symtab", "SYMTAB"), (".dynsym", "DYNSYM"))
               for value, size, kind, binding, _, name in rows(path, table)
               if kind == "IFUNC" and value == chooser]
    return min(symbols, key=preference)[5] if symbols else f"*ABS*+{chooser:#x}"


def plt(path):
    """(start, size, 0, ...) of the entries that nm makes names for."""
    small = re.search(r"\.plt\.got\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) 08 ",
                      output("readelf", "-SW", path))
    start, size = (int(small[1], 16), int(small[2], 16)) if small else (0, 0)
    for line in output("nm", "-D", "--synthetic", path).splitlines():
        row = re.match(r"([0-9a-f]+) [TtWw] ([^@\s*]+|\*ABS\*\+0x[0-9a-f]+)(@.*)?@plt$", line)
        if row:
            address, name = int(row[1], 16), row[2]
            if name.startswith("*ABS*+"):
                name = name_of_chosen(path, int(name[6:], 16))
            yield (address, 8 if start <= address < start + size else 16, 0, "GLOBAL", "PLT",
                   name + "@plt")


def first_of_plt(path):
    """The entry that pushes what the others jump to it with, of x86: objdump has no name for it."""
    shown = output("objdump", "-d", "--no-show-raw-insn", "-j", ".plt", path)
    first = re.search(r"^\s+([0-9a-f]+):\s+push\s", shown, re.M)
    if first and not re.search(r"^\s+[0-9a-f]+:", shown[:first.start()], re.M):
        yield int(first[1], 16), 16, 0, "GLOBAL", "PLT", ".plt"


def plt_of_static(path):
    """The same for a program in which nm finds none: objdump's jumps, each through a word that
    readelf's relocations have. All entries are of one size."""
    if not re.search(r" \.plt\s", output("readelf", "-SW", path)):
        return
    relocations = output("readelf", "-rW", path)
    chosen_by = {int(at, 16): int(addend, 16) for at, addend in re.findall(
        r"^([0-9a-f]+) .* R_X86_64_IRELATIV\S*\s+([0-9a-f]+)$", relocations, re.M)}
    code = output("objdump", "-d", "-j", ".plt", path)
    jumps = [(int(at, 16), int(word, 16)) for at, word in re.findall(
        r"^\s*([0-9a-f]+):.*jmp\s.*# ([0-9a-f]+)", code, re.M) if int(word, 16) in chosen_by]
    for at, word in jumps:
        yield (at, jumps[1][0] - jumps[0][0], 0, "GLOBAL", "PLT",
               name_of_chosen(path, chosen_by[word]) + "@plt")


def preference(symbol):
    start, size, _, binding, source, name = symbol
    return (source == "PLT", not size, RANK[binding], "@" in name,
            len(name) - len(name.lstrip("_")), len(name), name.encode(errors="replace"), -size,
            ORDER.index(source) if source in ORDER else 9)


def chosen(symbols, fdes=()):
    """{start: (end, source, name)}: one symbol an address, with ends for those without a size; then
    the extents of other functions."""
    best = {}
    for symbol in symbols:
        if not symbol[1] and symbol[2] <= symbol[0]:
            continue
        if symbol[0] not in best or preference(symbol) < preference(best[symbol[0]]):
            best[symbol[0]] = symbol
    ends = with_ends(best)
    named = Finder([(start, *symbol) for start, symbol in ends.items()])
    for start, end in fdes:
        if not named.find(start):
            better = (start, end - start, 0, "LOCAL", "FDE", "")
            best[start] = max(best.get(start, better), better)
    return with_ends(best)


def with_ends(best):
    starts = sorted(best)
    ends, reach = {}, []        # reach: of what surrounds, the end and whether it is a function
    for i, start in enumerate(starts):
        _, size, limit, binding, source, name = best[start]
        if size:
            end = start + size
        else:
            end = min([limit, start + PAGE] + starts[i + 1:i + 2])
        while reach and reach[-1][0] <= start:
            reach.pop()
        if not size and reach:
            if reach[-1][1] and binding == "LOCAL":
                continue
            end = min(end, reach[-1][0])
        reach.append((end, size and name))
        ends[start] = (end, source, name)
    return ends


def extents(path):
    """(start, end) of the FDEs of .eh_frame."""
    text = output("readelf", "-W", "-wN", "-wf", path).split("Contents of the .debug_frame")[0]
    for start, end in re.findall(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", text):
        if int(end, 16) > int(start, 16) > 0:
            yield int(start, 16), int(end, 16)


class Finder:
    """The innermost of many ranges, by trying all that could hold an address."""

    def __init__(self, ranges):
        self.ranges = sorted(ranges)
        self.starts = [r[0] for r in self.ranges]
        self.longest = max((r[1] - r[0] for r in self.ranges), default=0)

    def find(self, address):
        i = bisect.bisect_right(self.starts, address)
        while i and self.starts[i - 1] + self.longest > address:
            i -= 1
            if self.ranges[i][1] > address:
                return self.ranges[i]
        return None
