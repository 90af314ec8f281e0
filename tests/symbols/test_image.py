"""Symbol tables of ELF files: against readelf and nm, over the machine's own binaries and programs
of all kinds."""
import glob
import lzma
import os
import re
import shutil
import struct
import subprocess

import pytest

import compiled
import go_program
from elf_oracle import (
    chosen, extents, first_of_plt, functions, name_of_chosen, output, plt, plt_of_static)
from sandboxed import SANITIZED

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int data = 1;
static int hidden(int x) { return x * 3 + data; }
__attribute__((noinline)) int twice(int x) { return hidden(x) * 2; }
int alias_of_twice(int x) __attribute__((alias("twice")));
int _alias(int x) __attribute__((weak, alias("twice")));
static int chosen_one(int x) { return x + 1; }
static void *choose(void) { return (void *)chosen_one; }
int picked(int x) __attribute__((ifunc("choose")));
#ifdef LABELS
__asm__(".text\n.globl bare\nbare: nop\nnop\n.globl bare_next\nbare_next: ret\n"
        ".globl sized\n.type sized, @function\nsized: nop\nlocal_inside: nop\n"
        ".globl label_inside\nlabel_inside: nop\nret\n.size sized, . - sized\nint3\nint3\n"
        ".section .text.apart,\"ax\",@progbits\n.globl lonely\n"
        "lonely: .fill 6000, 1, 0x90\nret\n.text\n");
#endif
int main(int argc, char **argv)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	printf("main %p data %p\n", (void *)main, (void *)&data);
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, argv[0] + 2))
			fputs(line, stdout);
	return twice(argc) + picked(1) < 0 ? abs(argc) : 0;
}
"""

KINDS = {
    "default": [], "o2": ["-O2"], "no-pie": ["-no-pie"], "static": ["-static"],
    "static-pie": ["-static-pie"], "one-segment": ["-Wl,-z,noseparate-code"],
    "lazy": ["-Wl,-z,lazy"], "now": ["-Wl,-z,now"], "no-plt": ["-fno-plt"],
    "cet": ["-fcf-protection", "-Wl,-z,ibtplt"], "large-pages": ["-Wl,-z,max-page-size=65536"],
    "labels": ["-DLABELS"], "gdb": ["-g"], "lld": ["-fuse-ld=lld"], "gold": ["-fuse-ld=gold"],
    "clang": ["clang"], "32-bit": ["-m32"],
}
SYSTEM = ["/bin/ls", "/bin/bash", "/usr/bin/python3", "/lib/x86_64-linux-gnu/libc.so.6",
          "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
          "/usr/lib/*-linux-gnu/libstdc++.so.6", "/usr/lib/*-linux-gnu/libelf.so.1",
          "/usr/lib/*-linux-gnu/libzstd.so.1"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Function: path of the program of that kind; skips where the compiler can't make it."""
    top = tmp_path_factory.mktemp("programs")
    (top / "p.c").write_text(SOURCE)

    def build(kind):
        path = top / kind
        if not path.exists():
            options = [word for word in KINDS[kind] if word != "clang"]
            compiler = "clang" if "clang" in KINDS[kind] else "gcc"
            if not shutil.which(compiler):
                pytest.skip(f"no {compiler} here")
            done = subprocess.run([compiler, *options, "-o", path, top / "p.c"],
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode:
                pytest.skip(f"no such program here: {done.stderr[:100]}")
        return path
    return build


def read(path, *debug):
    """{start: (end, source, name)}"""
    code, lines = compiled.run("symbols_image", "list", path, *debug)
    assert code == 0, lines
    found = {}
    for line in lines:
        start, end, source, name = line.split(" ", 3)
        assert int(start, 16) not in found
        found[int(start, 16)] = (int(end, 16), source, name)
    return found


def compare(path):
    """All that is found, with the symbols and extents that readelf and nm show."""
    symbols = [*functions(path, ".symtab", "SYMTAB"), *functions(path, ".dynsym", "DYNSYM"),
               *(list(plt(path)) or plt_of_static(path)), *first_of_plt(path)]
    found, expected = read(path), chosen(symbols, extents(path))
    if "ELF32" in output("readelf", "-h", path):    # test_chosen_functions_of_i386
        found = {k: v for k, v in found.items() if v[2] != "picked@plt"}
    assert ({k: v for k, v in found.items() if expected.get(k) != v}
            == {k: v for k, v in expected.items() if found.get(k) != v})
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_programs(kind, built):
    found = compare(built(kind)).values()
    assert any(name == "main" for _, _, name in found)
    if kind not in ("32-bit", "no-plt"):    # test_chosen_functions_of_i386
        assert any(source == "PLT" and name == "picked@plt" for _, source, name in found)


CHOSEN = """
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static void *choose_one(void) { return one; }
static void *choose_two(void) { return two; }
static int first(int x) __attribute__((ifunc("choose_one")));
static int second(int x) __attribute__((ifunc("choose_two")));
int _start(void) { return first(1) + second(2); }
"""


@pytest.mark.parametrize("options", [["-static"], ["-static", "-fno-pie"], ["-shared", "-fPIC"],
                                     ["-static", "-fcf-protection", "-Wl,-z,ibtplt"]],
                         ids=" ".join)
def test_chosen_functions_of_i386(options, tmp_path):
    """Their relocations have no addend: the word has it. nm shows no such entry, objdump the jumps
    and the bytes. Without symbols there is only the address of the function that chooses."""
    path = tmp_path / "chosen"
    (tmp_path / "p.c").write_text(CHOSEN)
    done = subprocess.run(["gcc", "-m32", "-O0", "-nostdlib", *options, "-o", path,
                           tmp_path / "p.c"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        pytest.skip(f"no such program here: {done.stderr[:200]}")
    relocations, code = output("readelf", "-rW", path), output("objdump", "-d", path)
    words = {int(at, 16) for at in re.findall(r"^(\w+) .*R_386_IRELATIV", relocations, re.M)}
    got = int(re.search(r"\.got(?:\.plt)?\s+PROGBITS\s+(\w+)", [
        line for line in output("readelf", "-SW", path).splitlines() if ".got" in line][-1])[1], 16)
    jumps = {int(at, 16): int(word, 16) + (got if relative else 0) for at, word, relative in
             re.findall(r"^\s*(\w+):.*jmp\s+\*(?:%ds:)?0x(\w+)(\(%ebx\))?$", code, re.M)}
    bytes_at = {word: output("objdump", "-s", f"--start-address={word}",
                             f"--stop-address={word + 4}", path) for word in words}
    choosers = {word: int.from_bytes(bytes.fromhex(re.findall(r"^ \w+ (\w{8}) ", text, re.M)[0]),
                                     "little") for word, text in bytes_at.items()}
    assert set(choosers.values()) == {row[0] for row in functions(path, ".symtab", "SYMTAB")
                                      if "choose" in row[5]}
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, path], check=True)
    for program, debug, names in (
            (path, [], {word: name_of_chosen(path, at) for word, at in choosers.items()}),
            (stripped, [path], {word: name_of_chosen(path, at) for word, at in choosers.items()}),
            (stripped, [], {word: f"*ABS*+{at:#x}" for word, at in choosers.items()})):
        found = {name: (start, end) for start, (end, source, name) in read(program, *debug).items()
                 if source == "PLT" and name != ".plt"}
        assert sorted(found) == sorted(name + "@plt" for name in names.values()) and len(found) == 2
        for at, word in jumps.items():
            if word in words:
                start, end = found[names[word] + "@plt"]
                assert start <= at < end


def program_of_aarch64(*chosen_by, before=b""):
    """An ELF file with a PLT at 0x1000, whose entries jump through the words at 0x2000, which
    R_AARCH64_IRELATIVE sets. The second entry begins with bti c."""
    code = before
    for i in range(len(chosen_by)):
        bti, fill = ([0xd503245f], [0xd503201f]) if i == 1 else ([], [])
        # adrp x16, 0x2000; ldr x17, [x16, #8 * i]; add x16, x16, #8 * i; br x17
        entry = [*bti, 0xb0000010, 0xf9400211 | i << 10, 0x91000210 | 8 * i << 10, 0xd61f0220,
                 *fill]
        code += struct.pack(f"<{len(entry)}I", *entry)
    relocations = b"".join(struct.pack("<QQq", 0x2000 + 8 * i, 1032, at)
                           for i, at in enumerate(chosen_by))
    names = b"\0.plt\0.rela.plt\0.got\0.shstrtab\0"
    places = [(0, 0, 0, 0, 0), (1, 1, 6, 0x1000, len(code)), (6, 4, 2, 0x1800, len(relocations)),
              (16, 1, 3, 0x2000, 8 * len(chosen_by)), (21, 3, 0, 0x2100, len(names))]
    data = bytearray(0x2200)
    data[:64] = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, 183, 1, 0, 64, 0x2200, 0, 64, 56, 1, 64, len(places), 4)
    data[64:120] = struct.pack("<IIQQQQQQ", 1, 7, 0, 0, 0, 0x2200, 0x2200, 0x1000)
    for at, blob in ((0x1000, code), (0x1800, relocations), (0x2100, names)):
        data[at:at + len(blob)] = blob
    for name, kind, flags, at, size in places:
        data += struct.pack("<IIQQQQIIQQ", name, kind, flags, at if flags else 0, at, size, 0, 0, 1,
                            24 if kind == 4 else 0)
    return bytes(data)


def test_chosen_functions_of_aarch64(tmp_path):
    path = tmp_path / "chosen"
    path.write_bytes(program_of_aarch64(0x1234, 0x1400, 0x15678))
    assert "R_AARCH64_IRELATIV" in output("readelf", "-rW", path)
    entries = {0x1000: (0x1010, "PLT", "*ABS*+0x1234@plt"),
               0x1010: (0x1028, "PLT", "*ABS*+0x1400@plt"),
               0x1028: (0x1038, "PLT", "*ABS*+0x15678@plt")}
    assert read(path) == entries


def test_the_first_entry_of_aarch64(tmp_path):
    """It pushes x16 and x30, and is twice as long."""
    first = struct.pack("<8I", 0xa9bf7bf0, *[0xd503201f] * 7)
    (tmp_path / "first").write_bytes(program_of_aarch64(0x1234, before=first))
    assert read(tmp_path / "first") == {0x1000: (0x1020, "PLT", ".plt"),
                                        0x1020: (0x1030, "PLT", "*ABS*+0x1234@plt")}


def go_functions(starts, names=tuple(go_program.NAMES)):
    return {start: (end, "GO", name)
            for start, end, name in zip(starts, starts[1:], names) if name}


@pytest.mark.parametrize("kind", [
    {"text": "base", "magic": go_program.MAGIC_1_18}, {"text": "base"}, {},
    {"text": "base", "word": 4}, {"word": 4},
    {"text": "base", "section": ".data.rel.ro.gopclntab"},
    # other data that begins as the table does is not it
    {"text": "base", "section": ".data.rel.ro", "before": ".long 0xfffffff1; .fill 100, 4"}],
                         ids=["1.18", "1.20", "1.26", "32-bit", "32-bit-1.26", "PIE",
                              "PIE with C"])
def test_functions_of_go(kind, tmp_path):
    path = tmp_path / "app"
    starts = go_program.build(path, *(["-m32"] if kind.get("word") == 4 else []), **kind)
    assert {source for _, source, _ in read(path).values()} == {"SYMTAB"}
    subprocess.run(["strip", path], check=True)
    assert read(path) == go_functions(starts)


@pytest.mark.parametrize("damage, names", [
    ({"magic": 0xFFFFFFFB}, ()), ({"magic": 0}, ()), ({"count": 0}, ()),
    ({"count": 1 << 40}, ()), ({"count": 200}, ()), ({"highest": "end + 1"}, ()),
    ({"lowest": "base - 1"}, ()), ({"text": "0x10000000"}, ()), ({"word": 8, "text": "-1"}, ()),
    ({"last_name": "1 << 20"}, go_program.NAMES[:2]),
    ({"last_name": "9"}, go_program.NAMES[:2]),     # it is empty
], ids=str)
def test_damaged_functions_of_go(damage, names, tmp_path):
    path = tmp_path / "app"
    starts = go_program.build(path, **damage)
    subprocess.run(["strip", path], check=True)
    assert read(path) == go_functions(starts, tuple(names))


@pytest.mark.parametrize("places, names", [(63, go_program.NAMES), (64, ())])
def test_places_that_begin_as_a_table_of_go(places, names, tmp_path):
    """Not all of a file is looked at closely."""
    path = tmp_path / "app"
    place = ".balign 16; .long 0xfffffff1"
    starts = go_program.build(path, text="base", section=".data.rel.ro",
                              before=f".rept {places}; {place}; .endr")
    subprocess.run(["strip", path], check=True)
    assert read(path) == go_functions(starts, tuple(names))


@pytest.mark.parametrize("pattern", SYSTEM)
def test_system_binaries(pattern):
    paths = glob.glob(pattern)
    if not paths:
        pytest.skip(f"no {pattern} here")
    assert len(compare(os.path.realpath(paths[0]))) > 50


def test_symbols_without_sizes(built):
    """To the next symbol, to the end of the function around them, not past a page; and no symbol
    after an end. A local one in a function is no function."""
    path = built("labels")
    found = {name: (start, end) for start, (end, _, name) in read(path).items()}
    sized = found["sized"]
    assert found["bare"][1] == found["bare_next"][0] == found["bare"][0] + 2
    assert "local_inside" not in found
    assert found["label_inside"] == (sized[0] + 2, sized[1]) and sized[1] == sized[0] + 4
    assert found["lonely"][1] == found["lonely"][0] + 4096
    addresses = [sized[0] + 1, sized[0] + 2, sized[1] - 1, sized[1], found["lonely"][1] - 1,
                 found["lonely"][1]]
    lines = compiled.run("symbols_image", "find", path, *[f"{a:x}" for a in addresses])[1]
    assert [line.split(" ")[-1] for line in lines] == ["sized", "label_inside", "label_inside", "-",
                                                       "lonely", "-"]


def test_labels_of_the_assembler_are_no_functions(tmp_path):
    """One stands where a function begins, as those of clang for riscv do."""
    (tmp_path / "labels.s").write_text(".text\n.globl first, second\n.type first, @function\n"
                                       ".Lbefore:\nfirst: nop\n.Lin: nop\n.size first, 2\n"
                                       ".type second, @function\nsecond: nop\n.size second, 1\n")
    subprocess.run(["as", "--keep-locals", "-o", "labels.o", "labels.s"], cwd=tmp_path, check=True)
    subprocess.run(["ld", "-shared", "-o", "labels.so", "labels.o"], cwd=tmp_path, check=True)
    assert " .Lin" in output("readelf", "-sW", tmp_path / "labels.so")
    assert {name for _, _, name in read(tmp_path / "labels.so").values()} == {"first", "second"}


def test_aliases(built):
    """A global name before a weak one, fewer underscores, the shorter one."""
    names = {name for _, _, name in read(built("default")).values()}
    assert "twice" in names and not names & {"alias_of_twice", "_alias"}


# --- stripped programs ----------------------------------------------------------------------------

def test_stripped(built, tmp_path):
    """Only extents are left of functions that have no dynamic symbol."""
    whole, path = built("o2"), tmp_path / "stripped"
    subprocess.run(["strip", "-o", path, whole], check=True)
    main = next(start for start, symbol in read(whole).items() if symbol[2] == "main")
    found = read(path)
    assert found[main][1:] == ("FDE", "")
    with_debug = read(path, whole)
    assert with_debug[main] == read(whole)[main]


def test_separate_debug_file(built, tmp_path):
    """Its sections are NOBITS; addresses and extents are those of the image."""
    whole, path, debug = built("gdb"), tmp_path / "app", tmp_path / "app.debug"
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", whole, path],
                   check=True)
    assert read(path, debug) == read(whole)
    info = compiled.run("symbols_image", "info", path)[1]
    assert info[1].split()[0] == "app.debug"
    assert info[1].split()[1] == compiled.run("symbols_image", "info", debug)[1][2]
    assert info[0] and info[0] == compiled.run("symbols_image", "info", whole)[1][0]
    readelf = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, text=True).stdout
    assert re.search(r"Build ID: (\w+)", readelf)[1] == info[0]


def minidebug(whole, path, damage=lambda data: data):
    """The program with the symbols that are not dynamic in .gnu_debugdata, as distributions make
    it."""
    small = path.parent / "mini"
    subprocess.run(["objcopy", "--only-keep-debug", "-S", "--keep-symbol=hidden",
                    "--keep-symbol=main", "--keep-symbol=twice", whole, small], check=True)
    packed = path.parent / "mini.xz"
    packed.write_bytes(damage(lzma.compress(small.read_bytes())))
    subprocess.run(["objcopy", "--strip-all", f"--add-section=.gnu_debugdata={packed}", whole,
                    path], check=True)


def test_minidebug(built, tmp_path):
    whole, path = built("default"), tmp_path / "app"
    minidebug(whole, path)
    full = {name: (start, end) for start, (end, _, name) in read(whole).items()}
    found = {name: (start, end, source) for start, (end, source, name) in read(path).items()}
    for name in ("hidden", "main", "twice"):
        assert found[name] == (*full[name], "MINIDEBUG")
    assert any(source == "PLT" for _, _, source in found.values())


@pytest.mark.parametrize("damage", [lambda d: d[:-20], lambda d: d[:40] + bytes(40) + d[80:],
                                    lambda d: b"", lambda d: b"no"],
                         ids=["cut", "zeros", "empty", "other"])
def test_damaged_minidebug(damage, built, tmp_path):
    """The other symbols remain."""
    path = tmp_path / "app"
    minidebug(built("default"), path, damage)
    assert {source for _, source, _ in read(path).values()} >= {"FDE", "PLT"}


def test_minidebug_within_the_limit(built, tmp_path):
    """100 MB of zeros in 15 KB."""
    path = tmp_path / "app"
    minidebug(built("default"), path, lambda _: lzma.compress(bytes(100_000_000), preset=0))
    code, lines = compiled.run("symbols_image", f"limit={64 << 20}", "list", path)
    assert code == 0 and any(" PLT " in line for line in lines)


def test_limit(built):
    assert (compiled.run("symbols_image", "limit=10000", "list", built("default"))[1]
            in (["open: 3"], ["symbols: 3"]))


# --- addresses ------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_offsets_are_mapped_to_addresses(kind, built):
    """The program prints where it was mapped: every map's bytes must come out where the linker put
    them."""
    path = built(kind)
    done = subprocess.run([f"./{path.name}"], cwd=path.parent, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        pytest.skip("it doesn't run here")
    head, *maps = done.stdout.splitlines()
    loaded = int(head.split()[1], 16)
    linked = next(start for start, symbol in read(path).items() if symbol[2] == "main")
    tried = 0
    for line in maps:
        start, end, mode, pgoff = re.match(r"(\w+)-(\w+) (\S+) (\w+)", line).groups()
        start, end, pgoff = int(start, 16), int(end, 16), int(pgoff, 16)
        for address in (start, start + 8, end - 8):
            # rodata and RELRO data may be mapped from the same page, both read-only
            if "x" not in mode:
                continue
            found = compiled.run("symbols_image", "address", path, f"{start:x}", f"{pgoff:x}",
                                 "x" if "x" in mode else "-", f"{address - start + pgoff:x}")[1][0]
            tried += 1
            assert found == f"{address - loaded + linked:x}", line
    assert tried >= 3


# --- names ----------------------------------------------------------------------------------------

def demangle(names):
    done = subprocess.run([compiled.program("symbols_image"), "demangle"],
                          input="\n".join(names) + "\n", stdout=subprocess.PIPE, text=True,
                          timeout=20)
    assert done.returncode == 0
    return done.stdout.splitlines()


RUST_IMPL = "_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$"


@pytest.mark.parametrize("mangled, readable", [
    ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
    ("_Znwm@@GLIBCXX_3.4", "operator new@@GLIBCXX_3.4"),
    ("_ZN3foo3barEv.cold", "foo::bar"),
    ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
    (f"_ZN{len(RUST_IMPL)}{RUST_IMPL}9write_str17h0123456789abcdefE",
     "<alloc::string::String as core::fmt::Write>::write_str"),
    ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
    ("_RNvNtCs1234_7mycrate3foou8gdel_5qa", "mycrate::foo::gödel"),
    ("camlStdlib__List__map_1234", "Stdlib.List.map_1234"),
    ("camlStdlib__$2b$2b_5", "Stdlib.++_5"),
    ("main", "main"), ("_start", "_start"), ("_Z", "_Z"), ("_ZN", "_ZN"), ("camlback", "camlback"),
    ("", ""),
])
def test_demangling(mangled, readable):
    assert demangle([mangled]) == [readable]


def test_names_of_a_large_library():
    paths = glob.glob("/usr/lib/*-linux-gnu/libstdc++.so.6")
    if not paths or not shutil.which("c++filt"):
        pytest.skip("no libstdc++ or no c++filt here")
    names = sorted({name for *_, name in functions(paths[0], ".dynsym", "DYNSYM")})
    expected = subprocess.run(["c++filt", "-p", "-i"], input="\n".join(names),
                              stdout=subprocess.PIPE, text=True).stdout.splitlines()
    assert len(names) > 3000
    assert [pair for pair in zip(names, demangle(names), expected) if pair[1] != pair[2]] == []


DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def doubled(times):
    """A name that each further substitution makes twice as long, once it is readable."""
    more = "".join(f"S2_IS{n}_S{n}_E" for n in DIGITS[3:3 + times])
    return f"_Z1fI1aIiiE1bIS1_S1_E{more}Evv"


HOSTILE = [doubled(33), "_Z1f" + "P" * 16000 + "i", "_Z" + "1a" * 9000, "_R" + "B_" * 4000,
           "_ZN" + "4blah" * 3000 + "Ev", "x" * 20000]


def test_names_that_explode():
    """Each substitution doubles the name: gigabytes from some 200 bytes. They stay as they are, at
    once."""
    assert demangle([doubled(1)])[0].startswith("f<a<int, int>, b<a<int, int>, ")
    assert demangle(HOSTILE * 20) == HOSTILE * 20


def test_no_name_takes_more_than_a_millisecond_or_64_kib():
    """CPU time; the longest names that are made readable, and those that are left."""
    names = [*HOSTILE, *(doubled(n) for n in range(1, 20)), "_RIC1a" + "R" * 1000 + "uE",
             "_RIC1a" + "T" * 8000, "_R" + "IC1a" * 4000, "_RMC0" + "FDC1a" * 3000,
             "_RNvC1a1f" * 1700, "_ZN1aI" + "N1aI" * 4000, "_ZN" + "S_" * 8000,
             "_Z1fI" + "J" * 8000, "_Z1f" + "F" * 8000, "_Z1f" + "DpT_" * 4000, "_Z1fDTcl" * 1900]
    done = subprocess.run([compiled.program("symbols_image"), "demangle-time"],
                          input="\n".join(names) + "\n", stdout=subprocess.PIPE, text=True,
                          timeout=60, check=True)
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(rows) == len(names)
    assert max(made for _, made in rows) < 65536 and max(made for _, made in rows) > 30000
    if not SANITIZED:
        assert max(took for took, _ in rows) < 10**6, rows
