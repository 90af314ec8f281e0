"""Symbols of the kernel and of JIT code: kallsyms, modules, perf-PID.map and jitdump."""
import random
import struct
import subprocess

import pytest

import compiled


def lookup(kind, path, *addresses):
    """Addresses are numbers, or texts "ADDRESS@TIME"."""
    texts = [a if isinstance(a, str) else f"{a:x}" for a in addresses]
    code, lines = compiled.run("symbols_text", kind, path, *texts)
    assert code == 0
    return lines


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# --- the kernel -----------------------------------------------------------------------------------

KALLSYMS = """ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81002000 t second
ffffffff81001000 T first
ffffffff81003000 D some_data
ffffffff81001000 t ____first_alias
ffffffffc0002000 t in_module\t[mod]
ffffffffc0001000 T mod_init\t[mod]
not a line
ffffffffc000zz00 t neither
0000000000000000 A absolute
"""


def test_kallsyms(tmp_path):
    path = write(tmp_path / "kallsyms", KALLSYMS)
    lines = lookup("kallsyms", path, 0xffffffff81000fff, 0xffffffff81001000, 0xffffffff81001fff,
                   0xffffffff81002fff, 0xffffffff81003000, 0xffffffffc0001800,
                   0xffffffffc0002000 + 65535, 0xffffffffc0002000 + 65536, 0)
    assert lines[0].split()[:3] == ["5", "ffffffff81000000", "open"]
    assert [line.split(" ")[-1] for line in lines[1:]] == ["_text", "first", "first", "second", "-",
                                                           "mod_init", "in_module", "-", "-"]
    assert lines[2] == "ffffffff81001000 ffffffff81002000 first"


def test_kallsyms_of_this_machine():
    """Each function is found, from its address to the next one."""
    with open("/proc/kallsyms", "rb") as file:
        text = file.read()
    rows = [line.split() for line in text.decode().splitlines()]
    if not any(int(row[0], 16) for row in rows):
        assert lookup("kallsyms", "/proc/kallsyms")[0].split()[2] == "restricted"
        pytest.skip("the kernel shows no addresses")
    functions = {int(row[0], 16) for row in rows if row[1] in "tTwW" and int(row[0], 16)}
    every = sorted({int(row[0], 16) for row in rows})
    ends = dict(zip(every, every[1:]))
    found = [line.split(" ", 2) for line in lookup("kallsyms", "/proc/kallsyms")[1:]]
    assert {int(start, 16) for start, _, _ in found} == functions
    assert all(int(end, 16) == min(ends.get(int(start, 16), 2**64), int(start, 16) + 65536)
               for start, end, _ in found)


def order_of(what, lines):
    """The kernel comes first, and is most of it; modules are in any order."""
    kernel, modules = lines[:-100], lines[-100:]
    chance = random.Random(3)
    return {"sorted": lines, "last first": lines[1:] + lines[:1], "modules": kernel + modules[::-1],
            "halves": lines[len(lines) // 2:] + lines[:len(lines) // 2],
            "shuffled modules": kernel + chance.sample(modules, len(modules)),
            "shuffled": chance.sample(lines, len(lines))}[what]


@pytest.mark.parametrize("what", ["sorted", "last first", "modules", "halves", "shuffled modules",
                                  "shuffled"])
def test_kallsyms_in_any_order(what, tmp_path):
    """Lines with other blanks, too; a word after the name says no more than a module does."""
    shapes = ["{:016x} {} {}\n", "{:016x} {} {}\t[mod]\n", "{:x}  {} \t{}\n",
              "{:016x} {} {} more\n", "{:016x}\t{}\t{}\t[mod] [x]\n"]
    at = [0xFFFFFFFF81000000 + 64 * i + i * i for i in range(1000)]
    lines = [shapes[i % 5].format(address, "TtDW"[i % 4], f"symbol_{i}")
             for i, address in enumerate(at)]
    path = write(tmp_path / "kallsyms", "".join(order_of(what, lines)))
    want = [f"{address:x} {([*at, at[-1] + 65536])[i + 1]:x} symbol_{i}"
            for i, address in enumerate(at) if i % 4 != 2]
    assert lookup("kallsyms", path)[1:] == want


def in_no_order(rows):
    random.Random(1).shuffle(rows)
    return rows


def all_but_neighbours(rows):
    """Pairs that differ by 1 have changed places."""
    rows = sorted(rows)
    for i in range(len(rows) - 1):
        if rows[i + 1][0] == rows[i][0] + 1:
            rows[i], rows[i + 1] = rows[i + 1], rows[i]
    return rows


@pytest.mark.sanitize
@pytest.mark.parametrize("bits", [8, 20, 30, 43, 64])
@pytest.mark.parametrize("order", [in_no_order, all_but_neighbours])
def test_kallsyms_of_all_addresses(order, bits, tmp_path):
    """Addresses that differ in the lowest of their bits only, or in all of them."""
    rng = random.Random(bits)
    top = 0xffffffff80000000 & ~(2**bits - 1)
    starts = {top + rng.randrange(1, 2**bits) for _ in range(100)}
    starts |= {start + 1 for start in list(starts)[:20]}
    rows = [(start, rng.choice("tTwWDr"), f"n{start:x}") for start in starts]
    text = "".join(f"{start:016x} {kind} {name}\n" for start, kind, name in order(list(rows)))
    lines = lookup("kallsyms", write(tmp_path / "kallsyms", text))
    ends = dict(zip(sorted(starts), [*sorted(starts)[1:], 2**64]))
    expected = [f"{start:016x} {min(ends[start], start + 65536):016x} {name}"
                for start, kind, name in sorted(rows) if kind in "tTwW"]
    assert [line.split()[2] for line in lines[1:]] == [line.split()[2] for line in expected]
    assert [[int(part, 16) for part in line.split()[:2]] for line in lines[1:]] == [
        [int(part, 16) for part in line.split()[:2]] for line in expected]


@pytest.mark.parametrize("line, names", [
    ("T  more_blanks", "more_blanks"), (" T more_blanks", "more_blanks"),
    ("T\ttab", "tab"), ("T n", "n"), ("T", ""), ("T ", ""), ("", ""), ("T  ", ""),
    ("TT two_letters", ""), ("two_words ", ""), ("T " + 70000 * "x", "")])
def test_lines_of_kallsyms(line, names, tmp_path):
    """One without a type and a name is none: it does not end the function before it."""
    path = write(tmp_path / "kallsyms", f"{0x1000:x} T before\n{0x1800:x} {line}\n"
                                        f"{0x2000:x} T after\n")
    found = [line.split() for line in lookup("kallsyms", path)[1:]]
    assert [name for _, _, name in found] == ["before", *names.split(), "after"]
    assert int(found[0][1], 16) == (0x1800 if names else 0x2000)


def test_kallsyms_without_addresses(tmp_path):
    path = write(tmp_path / "kallsyms", "0000000000000000 T _text\n0000000000000000 T first\n")
    assert lookup("kallsyms", path, 0)[0].split()[:3] == ["0", "0", "restricted"]


@pytest.mark.parametrize("text", ["", "\n\n", "hello\n", "\0" * 100])
def test_files_that_are_no_kallsyms(text, tmp_path):
    assert lookup("kallsyms", write(tmp_path / "kallsyms", text), 1) == ["2"]


def test_modules(tmp_path):
    path = write(tmp_path / "modules",
                 "mod 16384 1 other, Live 0xffffffffc0001000 (OE)\nshort 1\nnf_nat 57344 0 - Live "
                 "0x0000000000000000\n")
    assert lookup("modules", path) == ["mod ffffffffc0001000 16384", "nf_nat 0 57344"]


# --- JIT code -------------------------------------------------------------------------------------

def test_perf_map(tmp_path):
    """Nothing tells which of two functions at an address was there when."""
    path = write(tmp_path / "perf.map",
                 "1000 100 old function\n0x1080 20 new (a.js:3)\r\n  2000 10 spaced  name\nbad "
                 "line\n3000 0 empty\n"
                 "ffffffffffffff00 200 around\n4000 10\n")
    assert (lookup("perfmap", path, 0x1000, 0x107f, 0x1080, 0x109f, 0x10a0, 0x1100, 0x2005, 0x3000,
                   0x4000) == [
        "1000 1100 old function"] * 2 + ["several"] * 2 +
             ["1000 1100 old function", "-", "2000 2010 spaced  name", "-", "-"])


def record(kind, body, order, time=1):
    return struct.pack(order + "IIQ", kind, 16 + len(body), time) + body


def load(address, size, index, name, order, time=1):
    return record(0, struct.pack(order + "IIQQQQ", 1, 1, address, address, size, index) + name
                  + b"\0" + bytes(size), order, time)


def jitdump(order, *records):
    return (struct.pack(order + "IIIIIIQQ", 0x4a695444, 1, 48, 62, 0, 1, 0, 0) + bytes(8)
            + b"".join(records))


@pytest.mark.parametrize("order", "<>")
def test_jitdump(order, tmp_path):
    move = record(1, struct.pack(order + "IIQQQQQ", 1, 1, 0x5000, 0x1000, 0x5000, 64, 7), order)
    nowhere = record(1, struct.pack(order + "IIQQQQQ", 1, 1, 0x9000, 0x1000, 0x9000, 64, 99), order)
    data = jitdump(order, load(0x1000, 64, 7, b"first", order),
                   load(0x1020, 16, 8, b"inside", order), record(9, b"new kind", order), move,
                   nowhere, load(0x2000, 8, 9, b"last", order))
    addresses = (0x1000, 0x1020, 0x1030, 0x5010, 0x9000, 0x2000)
    names = ["first", "several", "first", "first", "-", "last"]
    assert [line.split(" ")[-1]
            for line in lookup("jitdump", write(tmp_path / "dump", data), *addresses)] == names
    for cut in (1, 20, 60):         # the last record is not whole
        lines = lookup("jitdump", write(tmp_path / "dump", data[:-cut]), *addresses)
        assert [line.split(" ")[-1] for line in lines] == names[:-1] + ["-"]


@pytest.mark.parametrize("nr", [1, 60, 1000])
def test_code_at_a_time(nr, tmp_path):
    """Against trying all of what was written until then, the last first."""
    dice = random.Random(nr)
    written = [(dice.randrange(0x1000, 0x3000), dice.randrange(1, 0x100), b"f%d" % i, 10 * (i // 3))
               for i in range(nr)]
    data = jitdump("<", *(load(at, size, i, name, "<", time)
                          for i, (at, size, name, time) in enumerate(written)))
    asked = [(dice.randrange(0x1000, 0x3000), dice.randrange(5 * nr)) for _ in range(300)]
    names = [next((name.decode() for at, size, name, time in reversed(written)
                   if time <= when and at <= address < at + size), "-")
             for address, when in asked]
    lines = lookup("jitdump", write(tmp_path / "dump", data),
                   *(f"{address:x}@{when}" for address, when in asked))
    assert [line.split(" ")[-1] for line in lines] == names


@pytest.mark.parametrize("nr", [1, 60, 1000])
def test_code_between_two_times(nr, tmp_path):
    """Against all that was there then, and what was written last before."""
    dice = random.Random(nr)
    written = [(dice.randrange(0x1000, 0x1800), dice.randrange(1, 0x100),
                b"f%d" % dice.randrange(9), 10 * (i // 3) + 1) for i in range(nr)]
    data = jitdump("<", *(load(at, size, i, name, "<", time)
                          for i, (at, size, name, time) in enumerate(written)))
    asked, names = [], []
    for _ in range(300):
        address, early = dice.randrange(0x1000, 0x1800), dice.randrange(1, 5 * nr + 1)
        late = early + dice.choice((0, 1, 10, 100))
        here = [(time, name.decode()) for at, size, name, time in written
                if at <= address < at + size and time <= late]
        before = [name for time, name in here if time <= early][-1:]
        found = {*before, *(name for time, name in here if time > early)}
        asked.append(f"{address:x}@{early}-{late}")
        names.append("several" if len(found) > 1 else found.pop() if found else "-")
    lines = lookup("jitdump", write(tmp_path / "dump", data), *asked)
    assert [line.split(" ")[-1] for line in lines] == names


@pytest.mark.parametrize("data",
                         [b"", b"JiTD", bytes(100),
                          struct.pack("<III", 0x4a695444, 1, 4000) + bytes(40)])
def test_files_that_are_no_jitdump(data, tmp_path):
    assert lookup("jitdump", write(tmp_path / "dump", data), 0) == ["1"]


# --- overlapping ranges ---------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(30))
def test_flat_ranges(seed):
    """Against trying all of them, the last first."""
    dice = random.Random(seed)
    ranges = [(start, start + dice.choice([0, 1, 3, 30, 400]))
              for start in (dice.randrange(900) for _ in range(dice.choice([0, 1, 5, 60])))]
    done = subprocess.run([compiled.program("symbols_text"), "flat"],
                          input="".join(f"{a} {b}\n" for a, b in ranges), stdout=subprocess.PIPE,
                          text=True, check=True)
    expected = [next((i for i in reversed(range(len(ranges))) if ranges[i][0] <= at < ranges[i][1]),
                     -1) for at in range(1000)]
    assert list(map(int, done.stdout.split())) == expected
