"""Rows of call frame information, address by address, against readelf's table."""
import glob
import os
import platform
import re
import shutil
import subprocess

import pytest

import compiled
import go_program
from elf_oracle import is_binutils_before

X86_64 = {
    name: i
    for i, name in enumerate(
        "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split())
}
I386 = {name: i for i, name in enumerate("eax ecx edx ebx esp ebp esi edi".split())}
AARCH64 = {**{f"x{i}": i for i in range(31)}, "sp": 31}
needs_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64",
                                  reason="programs are assembled for x86-64")
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
        elif match := re.match(r"((?:[0-9a-f]{8}){1,2}) (?!ZERO)(.*)", line):
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


# --- Go ------------------------------------------------------------------------------------------

E_MACHINE, EM_AARCH64 = 18, 183


def rows_of_go(path, *options, machine=None, **kind):
    """Rows of the functions of a Go program without call frame information, at each byte of the
    first one, and at the others."""
    starts = go_program.build(path, *options, **kind)
    subprocess.run(["strip", path], check=True)
    if machine:
        with open(path, "r+b") as file:
            file.seek(E_MACHINE)
            file.write(machine.to_bytes(2, "little"))
    return our_rows(path, [*range(starts[0], starts[1]), *starts[1:3]])


def go_frames(path, *options, ra="16", **kind):
    """The size of each frame, and "outermost"."""
    return [row and ("outermost" if row[ra] == "u" else row["cfa"])
            for row in rows_of_go(path, *options, **kind)]


@needs_x86_64
@pytest.mark.parametrize("kind", [
    {"text": "base", "magic": go_program.MAGIC_1_18}, {"text": "base"}, {},
    {"text": "base", "section": ".data.rel.ro.gopclntab"},
    {"text": "base", "section": ".data.rel.ro", "before": ".quad 1, 2, 3"}],
                         ids=["1.18", "1.20", "1.26", "PIE", "PIE with C"])
def test_frames_of_go(kind, tmp_path):
    """The runtime's table has them."""
    assert go_frames(tmp_path / "app", last_flags=1, **kind) == [
        "7+8", "7+96", "7+8", "7+8", "outermost"]


@needs_x86_64
def test_frames_of_go_with_32_bits(tmp_path):
    assert go_frames(tmp_path / "app", "-m32", ra="8", text="base", word=4, last_flags=1) == [
        "4+4", "4+92", "4+4", "4+4", "outermost"]


@needs_x86_64
def test_frames_of_go_where_calls_push_nothing(tmp_path):
    """The return address is at the end of a frame, or in its register. (The table is one of
    aarch64; what the code is does not matter.)"""
    rows = rows_of_go(tmp_path / "app", machine=EM_AARCH64, text="base")
    assert [(row["cfa"], row["30"]) for row in rows] == [
        ("31+0", "u"), ("31+88", "c-88"), ("31+0", "u"), ("31+0", "u"), ("31+0", "u")]


@needs_x86_64
@pytest.mark.parametrize("damage, expected", [
    ({"last_values": "0"}, ["7+8", "7+96", "7+8", "7+8", {}]),          # none
    ({"last_values": "1 << 30"}, ["7+8", "7+96", "7+8", "7+8", {}]),
    ({"frames": "2, 1, 3, 1, 1, 0"}, ["7+8", {}, {}, "7+8", "7+8"]),    # less than nothing
    ({"frames": "2, 1, 0, 1, 2, 1"}, ["7+8", {}, {}, "7+8", "7+8"]),    # ends early
    ({"frames": "2, 0, 2, 0, 2, 0"}, [{}, {}, {}, "7+8", "7+8"]),       # of no code
    ({"frames": ", ".join(["0xff"] * 9)}, [{}, {}, {}, "7+8", "7+8"]),  # a number without end
    ({"frames": "0xfe, 0xff, 0xff, 0xff, 0x0f, 3"}, [{}, {}, {}, "7+8", "7+8"]),  # too large
], ids=["none", "far", "negative", "early", "no code", "endless", "large"])
def test_damaged_frames_of_go(damage, expected, tmp_path):
    assert go_frames(tmp_path / "app", "-Wl,-e,0", **damage) == expected


@needs_x86_64
def test_the_entry_point_is_outermost(tmp_path):
    """It ends before what follows its return."""
    starts = go_program.build(tmp_path / "app", count=0)
    subprocess.run(["strip", tmp_path / "app"], check=True)
    first, last, after = our_rows(tmp_path / "app", [starts[0], starts[1] - 1, starts[1]])
    assert first["16"] == last["16"] == "u" and after == {}


@needs_x86_64
@pytest.mark.parametrize("cfi", [False, True], ids=["table", "CFI"])
def test_signal_trampolines_of_go(cfi, tmp_path):
    """Go's linker describes them as if they had been called."""
    code = "mov $15,%rax; syscall; int $3; ret"
    if cfi:
        code = f".cfi_startproc; {code}; .cfi_endproc"
    _, second, _, _ = go_program.build(tmp_path / "app", text="base", second=code)
    found = our_rows(tmp_path / "app", [second, second + 7, second + 9])
    assert [row["cfa"] for row in found] == ["7+40"] * 3


GO_PROGRAMS = {
    "amd64": (["-buildmode=exe"], X86_64, "rsp"),
    "amd64-pie": (["-buildmode=pie"], X86_64, "rsp"),
    "386": ([], I386, "esp"),
    "arm64": ([], AARCH64, "sp"),
}


@pytest.mark.skipif(not shutil.which("go"), reason="no go")
@pytest.mark.parametrize("name", GO_PROGRAMS)
def test_frames_of_a_go_program(name, tmp_path):
    """Without debug information they are those of its .debug_frame with it."""
    options, registers, sp = GO_PROGRAMS[name]
    (tmp_path / "app.go").write_text('package main\nimport "fmt"\nfunc main() { fmt.Println() }\n')
    for target, flags in ("full", ""), ("small", "-s -w"):
        done = subprocess.run(["go", "build", f"-ldflags={flags}", *options, "-o", target,
                               "app.go"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local",
                                   "GOARCH": name.partition("-")[0]})
        if done.returncode:
            pytest.skip(done.stderr)
    rows = [row for row in readelf_rows(tmp_path / "full") if row[0] < row[1]]
    assert len(rows) > 1000
    found = our_rows(tmp_path / "small", [start for start, _, _ in rows])
    # of some pieces of assembly it has frames of less than 0 bytes or of 1 GiB
    rows = [(row, ours) for (_, _, row), ours in zip(rows, found)
            if row["CFA"].startswith(f"{sp}+") and "10737418" not in row["CFA"]]
    wrong = [(row, ours) for row, ours in rows
             if not ours or ours["cfa"] != cfa_of(row["CFA"], registers)]
    assert len(wrong) < 3, wrong[:10]
    if name == "arm64":
        assert all(ours["30"] == row["ra"].replace("s", "u") for row, ours in rows if ours)
