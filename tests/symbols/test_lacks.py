"""Files that would have more names: that they are not used is said once, with what helps."""
import re
import shutil
import subprocess

import pytest

from test_symbols import (BASE, IN_KERNEL, KALLSYMS, KERNEL, SOURCE, code_of, compressed, hit,
                          kernel_mapped, mapped, symbol)
from test_symbols import program as program_fixture
from test_symbols import symbols as symbols_fixture

program, symbols = program_fixture, symbols_fixture     # fixtures


def notices(symbols, records, *options, **more):
    """The lines of standard error, but for those about frames without a name."""
    symbols.write(records, **more)
    done = symbols.run(["--symbols", "-o", "/dev/null", *options, symbols.path])
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()
    return [line.removeprefix(f"pdecode: {symbols.path}: ") for line in lines
            if not re.search("frames ha(s|ve) no name|without a name", line)]


def built(where, *options):
    where.mkdir(exist_ok=True)
    (where / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O2", *options, "-c", "p.c"], cwd=where, check=True)
    subprocess.run(["gcc", *(o for o in options if o.startswith("-Wl")), "-o", "app", "p.o"],
                   cwd=where, check=True)
    return where / "app"


def in_outer(path):
    return hit(BASE + symbol(path, "outer")[0] + 1)


def test_names_of_the_recording_where_the_file_is_another(program, symbols):
    """The recording has no build id, and the file here is newer."""
    offset, address, _ = code_of(program)
    start = symbol(program, "outer")[0]
    at = start - address + offset
    given = [(2**32 - 1, 99, str(program).encode(), b"",
              [(at, 2**64 - 1, 0, b"travelled")], [at + 1], [0], [])]
    records = [mapped(program, ""), hit(BASE + start + 1)]
    line, = notices(symbols, records, began=1000, bundle=given)
    assert line.startswith(f"{program}: only functions that the recording names are shown: ")
    assert notices(symbols, records, "--no-inline", began=1000, bundle=given) == []


def test_split_debug_information(symbols, tmp_path):
    """One line for all programs."""
    one = built(tmp_path / "one", "-gsplit-dwarf")
    two = built(tmp_path / "two", "-gsplit-dwarf")
    start = BASE + symbol(two, "outer")[0] + 1
    records = [mapped(one), in_outer(one), mapped(two, pid=8), hit(start, pid=8)]
    assert notices(symbols, records) == []
    away = (one.parent / "p.dwo").rename(tmp_path / "p.dwo")
    line, = notices(symbols, records)
    assert line == (f"{one}: what is inlined there is in {one.parent}/p.dwo, which is not here or "
                    "of another build: give it, or the program's .dwp, with --debug-dir")
    assert notices(symbols, records, "--no-inline") == []       # none is asked for
    (two.parent / "p.dwo").unlink()
    assert notices(symbols, records)[0].endswith("(the same of 1 other files)")
    root = tmp_path / "root" / str(one.parent)[1:]
    root.mkdir(parents=True)
    away.rename(root / "p.dwo")
    assert len(notices(symbols, records, "--debug-dir", tmp_path / "root")) == 1


def test_a_debug_file_with_another_checksum(symbols, tmp_path):
    """Without build ids the checksum in .gnu_debuglink decides."""
    app = built(tmp_path, "-Wl,--build-id=none")
    start = BASE + symbol(app, "outer")[0] + 1
    debug = tmp_path / "app.debug"
    subprocess.run(["objcopy", "--only-keep-debug", app, debug], check=True)
    subprocess.run(["strip", app], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", app], check=True)
    records = [mapped(app, ""), hit(start)]
    assert notices(symbols, records) == []
    with open(debug, "ab") as file:
        file.write(b"\0")
    line, = notices(symbols, records)
    assert line.startswith(f"{app}: its debug file {debug} is not used: ")


@pytest.mark.skipif(not shutil.which("dwz"), reason="no dwz")
def test_names_that_dwz_moved_away(program, symbols, tmp_path):
    app, other, shared = tmp_path / "app", tmp_path / "other", tmp_path / "common"
    for path in (app, other):
        shutil.copy(program, path)
    subprocess.run(["dwz", "-m", shared, app, other], check=True)
    assert notices(symbols, [mapped(app), in_outer(app)]) == []
    shared.unlink()
    line, = notices(symbols, [mapped(app), in_outer(app)])
    assert line.startswith(f"{app}: some names and lines there are in {shared}, ")


@pytest.mark.parametrize("kind", ["zlib", "zstd"])
def test_damaged_debug_information(kind, program, symbols, tmp_path):
    packed = compressed(program, tmp_path / "app", kind)
    records = [mapped(packed), in_outer(packed)]
    assert notices(symbols, records) == []
    row = next(line for line in subprocess.run(
        ["readelf", "-SW", packed], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines() if " .debug_info " in line).split("PROGBITS")[1].split()
    data = bytearray(packed.read_bytes())
    data[int(row[1], 16) + 24:int(row[1], 16) + int(row[2], 16)] = b"\xff" * (int(row[2], 16) - 24)
    packed.write_bytes(data)
    line, = notices(symbols, records)
    assert line.startswith(f"{packed}: no names or lines are taken from debug information in ")
    assert line.endswith(f"{packed} that is damaged, or compressed in an unknown way")


def test_files_of_the_kernel_that_are_not_used(program, symbols, tmp_path):
    kallsyms = tmp_path / "kallsyms"
    records = [kernel_mapped(b"\1" * 20), hit(KERNEL + 0x1010, misc=IN_KERNEL)]

    def said(text, *options):
        kallsyms.write_text(text)
        return notices(symbols, records, "--kallsyms", kallsyms, *options)
    place = f"[kernel.kallsyms]: --kallsyms {kallsyms} is not used: "
    assert said(KALLSYMS) == []
    later = KALLSYMS.replace(f"{KERNEL:x} ", f"{KERNEL + 0x200000:x} ")
    for text in (later, "no addresses\n", ""):
        assert said(text) == [place + "it is of another kernel, or of another start of the "
                                      "recorded one"]
    hidden = "".join("0" * 16 + line[16:] for line in KALLSYMS.splitlines(True))
    assert said(hidden) == [place + "all its addresses are 0; copy /proc/kallsyms as root"]
    line, = said(KALLSYMS, "--vmlinux", program)
    assert line.startswith(f"[kernel.kallsyms]: --vmlinux {program} is not used: ")
