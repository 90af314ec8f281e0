"""Rows of call frame information, address by address, against readelf's table."""
import glob
import os
import re
import subprocess

import pytest

import compiled
from elf_oracle import is_binutils_before

X86_64 = {
    name: i
    for i, name in enumerate(
        "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split())
}
AARCH64 = {**{f"x{i}": i for i in range(31)}, "sp": 31}
FILES = {
    "libc": ("/lib/x86_64-linux-gnu/libc.so.6", X86_64, 16),
    "ld.so": ("/lib64/ld-linux-x86-64.so.2", X86_64, 16),
    "libstdc++": ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", X86_64, 16),
    "aarch64 libc": ("/*/aarch64-linux-gnu/lib*/libc.so.6", AARCH64, 30),
}


def readelf_rows(path):
    """(first address, end, {column: text}) of each row of each FDE."""
    output = subprocess.run(["readelf", "--debug-dump=frames-interp", path],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL,
                            text=True,
                            check=False).stdout
    cies, rows, columns, fde = {}, [], [], None

    def finish():
        if fde:
            found = rows or [(fde[0], cies[fde[2]])]
            for i, (start, row) in enumerate(found):
                yield start, found[i + 1][0] if i + 1 < len(found) else fde[1], row

    for line in output.splitlines():
        if match := re.match(
                r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE)"
                r"(?: cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))?",
                line):
            yield from finish()
            rows = []
            fde = (int(match[4], 16), int(match[5], 16), match[3]) if match[2] == "FDE" else None
            cie = match[1]
        elif line.startswith("   LOC "):
            columns = line.split()[1:]
        elif match := re.match(r"([0-9a-f]{16}) (.*)", line):
            row = dict(zip(columns, re.sub(r"\br(\d+) \(\w+\)", r"r\1", match[2]).split()))
            rows.append((int(match[1], 16), row))
            if fde is None:
                cies[cie] = row
    yield from finish()


def our_rows(path, addresses):
    done = subprocess.run([compiled.program("symbols_cfi"), path],
                          input="".join(f"{a:x}\n" for a in addresses),
                          stdout=subprocess.PIPE,
                          text=True,
                          check=True)
    return [
        dict(item.split("=") for item in line.split() if "=" in item)
        for line in done.stdout.splitlines()
    ]


def cfa_of(text, registers):
    if text == "exp":
        return "exp"
    name, offset = re.match(r"(\w+)([+-]\d+)", text).groups()
    return f"{registers[name]}{offset}"


@pytest.mark.parametrize("name", FILES)
def test_rows(name):
    pattern, registers, ra = FILES[name]
    path = next((path for path in sorted(glob.glob(pattern)) if os.path.isfile(path)), None)
    if not path:
        pytest.skip(f"no {pattern}")
    rows = [row for row in readelf_rows(path) if row[0] < row[1]]
    assert len(rows) > 1000
    sp, kinds = registers.get("rsp", 31), {"v": "vexp", "s": "u"}
    # begins with u for what the FDE names later, whatever the CIE says
    forgets = is_binutils_before(2, 40)
    wrong = []
    for (start, end, row), ours in zip(rows, our_rows(path, [start for start, _, _ in rows])):
        if not ours or ours["cfa"] != cfa_of(row["CFA"], registers):
            wrong.append((hex(start), row, ours))
            continue
        for column, text in row.items():
            number = ra if column == "ra" else registers.get(column)
            if number is None or column == "CFA":
                continue
            found, text = ours[str(number)], kinds.get(text, text)
            if column == "ra" and text == "u" and found != "u":  # in another register
                text = "r15" if name == "aarch64 libc" else text
            # In an epilogue, a register whose copy is below the stack pointer has its value again.
            popped = (found == "u" and text.startswith("c-") and ours["cfa"].startswith(f"{sp}+")
                      and int(ours["cfa"].split("+")[1]) + int(text[1:]) < 0)
            default = text == "u" and (number == sp and found == "v+0"
                                       or forgets and column == "ra" and found == "c-8")
            if found != text and not popped and not default:
                wrong.append((hex(start), column, text, found))
    assert not wrong, f"{len(wrong)} of {len(rows)}: {wrong[:10]}"
