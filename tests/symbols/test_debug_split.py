"""Split DWARF: functions that are in .dwo files, or in a .dwp."""
import json
import re
import shutil
import struct
import subprocess

import pytest

from elf_oracle import functions
from test_debug import (CPLUSPLUS, HEADER, PATTERN, SECOND, addresses_of, chains, differences, ours,
                        symbolizer)
from test_symbols import BASE, chain, hit, mapped
from test_symbols import symbols as symbols_fixture

symbols = symbols_fixture       # a fixture

# The sections of functions make lists of ranges. Clang can leave inlined functions in the program,
# too. Types can have units of their own: gcc writes a section for each.
KINDS = {
    "gcc": ["g++", "-O2"], "gcc-v4": ["g++", "-O2", "-gdwarf-4"],
    "gcc-sections": ["g++", "-O3", "-ffunction-sections"], "gcc-zlib": ["g++", "-O2", "-gz"],
    "clang": ["clang++", "-O2"], "clang-v4": ["clang++", "-O2", "-gdwarf-4"],
    "clang-inlining": ["clang++", "-O2", "-fsplit-dwarf-inlining"],
    "clang-v4-inlining": ["clang++", "-O2", "-gdwarf-4", "-fsplit-dwarf-inlining"],
    "clang-v4-inlining-sections": ["clang++", "-O3", "-gdwarf-4", "-ffunction-sections",
                                   "-fsplit-dwarf-inlining"],
    "clang-alone": ["clang++", "-O2", "-fno-split-dwarf-inlining"],
    "clang-v4-alone": ["clang++", "-O2", "-gdwarf-4", "-fno-split-dwarf-inlining"],
    "clang-sections": ["clang++", "-O3", "-ffunction-sections", "-fno-split-dwarf-inlining"],
    "gcc-types": ["g++", "-O2", "-fdebug-types-section"],
    "gcc-v4-types": ["g++", "-O2", "-gdwarf-4", "-fdebug-types-section"],
    "clang-types": ["clang++", "-O2", "-fdebug-types-section", "-fno-split-dwarf-inlining"],
    "clang-v4-types": ["clang++", "-O2", "-gdwarf-4", "-fdebug-types-section",
                       "-fno-split-dwarf-inlining"],
}
SPLIT = "-gsplit-dwarf"


def compile_in(where, kind, *options):
    """A program whose objects are in a directory of their own. Returns its path."""
    compiler, *more = KINDS[kind]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    where.mkdir()
    for name, text in (("p.h", HEADER), ("p.cc", CPLUSPLUS), ("q.cc", SECOND)):
        (where / name).write_text(text)
    subprocess.run([compiler, "-g", *more, *options, "-c", "p.cc", "q.cc"], cwd=where, check=True)
    subprocess.run([compiler, *more, "-o", "app", "p.o", "q.o"], cwd=where, check=True)
    return where / "app"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Returns a program, and the same one whose debug information is not split."""
    top, made = tmp_path_factory.mktemp("split"), {}

    def build(kind):
        if kind not in made:
            made[kind] = (compile_in(top / kind, kind, SPLIT), compile_in(top / f"{kind}-whole",
                                                                          kind))
        return made[kind]
    return build


def same_place(found, split, whole):
    """With the directory of the other program."""
    return {address: [(name, file.replace(f"{split.parent}/", f"{whole.parent}/"), line)
                      for name, file, line in chain] for address, chain in found.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_every_address_as_if_it_were_whole(kind, built):
    split, whole = built(kind)
    addresses = addresses_of(split, PATTERN)
    assert addresses == addresses_of(whole, PATTERN) and len(addresses) > 300
    found = same_place(ours(split, addresses), split, whole)
    assert max(map(len, found.values())) >= 3
    assert found == ours(whole, addresses)


@pytest.mark.parametrize("kind", ["gcc", "gcc-v4", "gcc-sections", "gcc-zlib", "clang-sections",
                                  "gcc-v4-types"])
def test_every_address_as_llvm_symbolizer(kind, built):
    """LLVM 14 lacks functions of the others that are inlined at line 0."""
    split, _ = built(kind)
    if not symbolizer():
        pytest.skip("no llvm-symbolizer here")
    addresses = addresses_of(split, PATTERN)
    done = subprocess.run([symbolizer(), "--output-style=GNU", "-f", "-i", "-a", "--no-demangle",
                           "-e", split], stdout=subprocess.PIPE, text=True, check=True,
                          input="".join(f"0x{a:x}\n" for a in addresses))
    wrong = differences(split, ours(split, addresses), chains(done.stdout))
    assert not wrong, f"{len(wrong)} of {len(addresses)}: {dict(list(wrong.items())[:3])}"


def copied(program, to, *without):
    """A copy of the directory; the program still names the first one."""
    shutil.copytree(program.parent, to, ignore=shutil.ignore_patterns(*without))
    return to / "app"


def pack(program):
    """Makes the .dwp. Returns whether one of the packers can: of DWARF 5 of gcc the one of LLVM 14
    makes none in any time, and that of binutils 2.40 crashes."""
    for packer in ("llvm-dwp", "llvm-dwp-14", "llvm-dwp-19", "dwp"):
        try:
            if shutil.which(packer) and subprocess.run(
                    [packer, "-e", program, "-o", f"{program}.dwp"], stderr=subprocess.DEVNULL,
                    timeout=10).returncode == 0:
                return True
        except subprocess.TimeoutExpired:
            pass
    return False


def found_alone(program, split, whole, tmp_path):
    """Returns what a packed program says without the .dwo files of `split`: the same as `whole`."""
    addresses = addresses_of(split, PATTERN)
    away = split.parent.rename(tmp_path / "away")
    try:
        found = same_place(ours(program, addresses), split, whole)
    finally:
        away.rename(split.parent)
    assert found == ours(whole, addresses)
    return found


@pytest.mark.parametrize("kind", ["gcc-v4", "gcc-v4-types",
                                  *(kind for kind in KINDS if "clang" in kind)])
def test_packages(kind, built, tmp_path):
    """The .dwp alone says the same."""
    split, whole = built(kind)
    program = copied(split, tmp_path / "packed", "*.o")
    if not pack(program):
        pytest.skip("no program here that packs these")
    found_alone(program, split, whole, tmp_path)


@pytest.mark.parametrize("kind", ["gcc", "gcc-v4", "clang-alone"])
def test_another_build_is_not_used(kind, built, tmp_path):
    """The functions of a .dwo that belongs to another build are left out; lines, which are in the
    program, stay."""
    split, _ = built(kind)
    program = compile_in(tmp_path / "made", kind, SPLIT)
    before = ours(program, addresses_of(program, "other_unit"))
    (program.parent / "q.cc").write_text(SECOND + "int more;")
    compiler, *options = KINDS[kind]
    subprocess.run([compiler, "-g", *options, SPLIT, "-c", "q.cc"], cwd=program.parent, check=True)
    after = ours(program, addresses_of(program, "other_unit"))
    assert {chain[0][1:] for chain in after.values()} == {chain[0][1:] for chain in before.values()}
    assert {name for chain in after.values() for name, *_ in chain} == {"??"}
    assert any(len(chain) > 1 for chain in before.values())
    assert split.exists()


@pytest.mark.parametrize("kind, packed", [
    ("gcc", False), ("gcc-types", False), ("gcc-v4", False), ("gcc-v4", True),
    ("clang-alone", False), ("clang-alone", True), ("clang-v4-alone", True)])
def test_damage(kind, packed, built, tmp_path):
    """Bytes changed at random: no crash, nothing stays charged, and it ends."""
    split, _ = built(kind)
    program = compile_in(tmp_path / "made", kind, SPLIT)
    if packed and not pack(program):
        pytest.skip("no program here that packs these")
    path = program.parent / ("app.dwp" if packed else "p.dwo")
    data, addresses, state = path.read_bytes(), addresses_of(program, PATTERN, 37), 1
    assert split.exists()
    for turn in range(40):
        damaged = bytearray(data)
        for _ in range(1 + turn):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            damaged[(state >> 20) % len(data)] = state >> 56
        path.write_bytes(damaged[:len(data) - turn % 5 * 100])
        ours(program, addresses)    # asserts


# --- pdecode ------------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["gcc", "clang-v4-alone"])
def test_pdecode(kind, built, symbols, tmp_path):
    """The .dwo where the compiler wrote it, or below --sysroot or --debug-dir."""
    split, whole = built(kind)
    start, size = next(row[:2] for row in functions(split, ".symtab", "SYMTAB")
                       if row[5] == "_Z4workRSt6vectorIiSaIiEERKN5outer12_GLOBAL__N_15shapeE"
                       or row[5] == "other_unit")
    records = [mapped(split)] + [hit(BASE + start + i) for i in range(0, size, 3)]
    want = [chain(frame) for (frame,) in symbols.frames(
        [mapped(whole)] + records[1:], "--lines")]
    want = json.loads(json.dumps(want).replace(str(whole.parent), str(split.parent)))

    def found(*options):
        return json.loads(json.dumps([chain(frame) for (frame,) in symbols.frames(
            records, "--lines", *options)]))
    assert found() == want and max(map(len, want)) > 1
    image = symbols.images(records, "--lines")[0]
    assert "SPLIT_DWARF" in image["sources"]
    root = tmp_path / "root"
    shutil.copytree(split.parent, root / str(split.parent)[1:])
    away = [path.rename(path.with_suffix(".away")) for path in split.parent.glob("*.dwo")]
    assert len(away) == 2
    try:
        assert found() != want
        assert found("--sysroot", root) == want
        assert found("--debug-dir", root) == want
    finally:
        for path in away:
            path.rename(path.with_suffix(".dwo"))
    assert re.search("inlined", json.dumps(symbols.frames(records)))


# --- a packer of our own ------------------------------------------------------------------------

# DW_SECT numbers of DWARF 5.
SECTIONS = {1: ".debug_info.dwo", 3: ".debug_abbrev.dwo", 4: ".debug_line.dwo",
            5: ".debug_loclists.dwo", 6: ".debug_str_offsets.dwo", 8: ".debug_rnglists.dwo"}


def section_bytes(path, name, where):
    out = where / "section"
    out.unlink(missing_ok=True)
    subprocess.run(["objcopy", "-O", "binary", "--only-section", name, "--set-section-flags",
                    f"{name}=alloc", path, out], check=True)
    return out.read_bytes() if out.exists() else b""


def moved_strings(offsets, base):
    """.debug_str_offsets.dwo of a unit whose strings begin at `base`."""
    numbers = struct.unpack(f"<{len(offsets) // 4 - 2}I", offsets[8:])
    return offsets[:8] + struct.pack(f"<{len(numbers)}I", *(base + n for n in numbers))


def unit_index(ids, rows):
    """.debug_cu_index: an open hash table of ids, and a row of offsets and of sizes for each."""
    slots = 4
    table, numbers = [0] * slots, [0] * slots
    for number, unit in enumerate(ids, 1):
        slot, step = unit & (slots - 1), (unit >> 32 & (slots - 1)) | 1
        while numbers[slot]:
            slot = (slot + step) & (slots - 1)
        table[slot], numbers[slot] = unit, number
    out = struct.pack("<HHIII", 5, 0, len(SECTIONS), len(ids), slots)
    out += struct.pack(f"<{slots}Q", *table) + struct.pack(f"<{slots}I", *numbers)
    out += struct.pack(f"<{len(SECTIONS)}I", *SECTIONS)
    for column in (0, 1):
        for row in rows:
            out += struct.pack(f"<{len(SECTIONS)}I", *(row[name][column] for name in SECTIONS))
    return out


def pack_units(objects, program, where):
    """Makes the .dwp of .dwo files with a unit each, as DWARF 5 says in 7.3.5."""
    joined, strings, ids, rows = dict.fromkeys(SECTIONS, b""), b"", [], []
    for path in objects:
        parts = {number: section_bytes(path, name, where) for number, name in SECTIONS.items()}
        parts[6] = moved_strings(parts[6], len(strings))
        strings += section_bytes(path, ".debug_str.dwo", where)
        ids.append(struct.unpack_from("<Q", parts[1], 12)[0])
        rows.append({number: (len(joined[number]), len(part)) for number, part in parts.items()})
        joined = {number: joined[number] + part for number, part in parts.items()}
    options = []
    made = {**{SECTIONS[number]: part for number, part in joined.items()},
            ".debug_str.dwo": strings, ".debug_cu_index": unit_index(ids, rows)}
    for name, content in made.items():
        (where / name[1:]).write_bytes(content)
        there = section_bytes(objects[0], name, where)
        options += [f"--{'update' if there else 'add'}-section", f"{name}={where / name[1:]}"]
    subprocess.run(["objcopy", *options, objects[0], f"{program}.dwp"], check=True)


def test_a_package_of_gcc(built, tmp_path):
    """The packers here can't read DWARF 5 of gcc."""
    split, whole = built("gcc")
    program = copied(split, tmp_path / "packed", "*.o")
    objects = sorted(program.parent.glob("*.dwo"))
    assert len(objects) == 2
    pack_units(objects, program, tmp_path)
    for path in objects:
        path.unlink()
    found = found_alone(program, split, whole, tmp_path)
    assert any(len(chain) > 1 for chain in found.values())
