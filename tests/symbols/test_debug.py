"""Inlined functions and lines: at every address of a program, as addr2line shows them."""
import re
import shutil
import subprocess

import pytest

import compiled
from elf_oracle import functions, is_binutils_before

HEADER = """
#pragma once
template <class T> struct box {
	T value;
	box(T v) : value(v) {}
	__attribute__((always_inline)) T twice() const { return value + add(value); }
	T add(T other) const { return value * other; }
};
static inline __attribute__((always_inline)) int deep(int x) { return box<int>(x + 1).twice(); }
"""
CPLUSPLUS = """
#include "p.h"
#include <stdio.h>
#include <string>
#include <vector>
#include <algorithm>
namespace outer { namespace {
struct shape { virtual ~shape() {} virtual int area(int) const { return 1; } };
struct square : shape { int side; square(int s) : side(s) {}
                        int area(int f) const override { return side * side * f; } };
} }
__attribute__((noinline)) int work(std::vector<int> &v, const outer::shape &s)
{
	int sum = 0;
	std::sort(v.begin(), v.end(), [](int a, int b) { return deep(a) > deep(b); });
	for (int x : v) {
		struct local { static int f(int y) { return deep(y) + 3; } };
		sum += local::f(x) + s.area(x);
		if (sum > 1000000)
			throw std::string("much");
	}
	return sum;
}
int main(int argc, char **argv)
{
	std::vector<int> v;
	for (int i = 0; i < argc + 10; i++)
		v.push_back(i * 7 % 5);
	outer::square s(argc);
	try { printf("%d\\n", work(v, s)); } catch (std::string &e) { puts(e.c_str()); }
	return 0;
}
"""
SECOND = """
#include "p.h"
extern "C" int other_unit(int x) { return deep(x) ? deep(x + 2) : 0; }
"""
KINDS = {
    "gcc-O2": ["g++", "-O2"], "gcc-O0": ["g++", "-O0"], "gcc-O3-v4": ["g++", "-O3", "-gdwarf-4"],
    "gcc-v3": ["g++", "-O2", "-gdwarf-3"], "gcc-zlib": ["g++", "-O2", "-gz"],
    "gcc-zstd": ["g++", "-O2"],
    "gcc-static": ["g++", "-O2", "-static"], "gcc-no-pie": ["g++", "-O2", "-no-pie"],
    "gcc-sections": ["g++", "-O2", "-ffunction-sections", "-Wl,--gc-sections"],
    "gcc-types": ["g++", "-O2", "-fdebug-types-section"], "gcc-64": ["g++", "-O2", "-gdwarf64"],
    "gcc-lto": ["g++", "-O2", "-flto"], "clang-O2": ["clang++", "-O2"],
    "clang-O0": ["clang++", "-O0"], "clang-v4": ["clang++", "-O2", "-gdwarf-4"],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    top = tmp_path_factory.mktemp("programs")
    (top / "p.h").write_text(HEADER)
    (top / "p.cc").write_text(CPLUSPLUS)
    (top / "q.cc").write_text(SECOND)

    def build(kind):
        compiler, *options = KINDS[kind]
        path = top / kind
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler} here")
        if not path.exists():
            done = subprocess.run([compiler, "-g", *options, "-o", path, "p.cc", "q.cc"], cwd=top,
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode:
                pytest.skip(f"no such program here: {done.stderr[:200]}")
            if kind == "gcc-zstd":
                subprocess.run(["objcopy", "--compress-debug-sections=zstd", path], check=True)
        return path
    return build


def chains(text):
    """{address: [(function, file, line)]} of addr2line -afi."""
    found, chain, lines = {}, None, text.splitlines()
    i = 0
    while i < len(lines):
        if re.match(r"0x[0-9a-f]+$", lines[i]):
            chain = found.setdefault(int(lines[i], 16), [])
            i += 1
            continue
        place = re.sub(r" \(discriminator \d+\)", "", lines[i + 1])
        file, _, line = place.rpartition(":")
        line = int(line) if line.isdigit() else 0
        chain.append((lines[i], re.sub(r"/\./", "/", file) if line else "??", line))
        i += 2
    return found


def ours(path, addresses, *alt):
    done = subprocess.run([compiled.program("symbols_debug"), path, *alt],
                          input="".join(f"{a:x}\n" for a in addresses), stdout=subprocess.PIPE,
                          text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-300:]
    assert "???" not in done.stdout     # the name that libdw has for no file
    return chains(done.stdout)


def addr2line(path, addresses):
    done = subprocess.run(["addr2line", "-afi", "-e", path],
                          input="".join(f"{a:x}\n" for a in addresses), stdout=subprocess.PIPE,
                          text=True, check=True)
    return chains(done.stdout)


def addresses_of(path, pattern, step=1):
    spans = [(value, size) for value, size, *_, name in functions(path, ".symtab", "SYMTAB")
             if size and re.search(pattern, name)]
    return sorted({address for value, size in spans
                   for address in range(value, value + size, step)})


PATTERN = r"^main$|^_Z4work|other_unit|L4deep|twice|N5outer|work.*[Ul]"


# Programs that Debian 12's addr2line can't read, or reads differently from llvm-symbolizer:
# DWARF64, type units, files of DWARF 5 of clang, and units that LTO put together.
UNLIKE_BINUTILS = {"gcc-64", "gcc-types", "gcc-lto", "clang-O2", "clang-O0"}


def differences(path, mine, theirs):
    """Where the chains differ. Both oracles take names from the symbol table: for the outermost
    function, and instead of plain names."""
    symbols = {name for *_, name in functions(path, ".symtab", "SYMTAB")}
    wrong = {}
    for address, chain in mine.items():
        other = theirs[address]
        names = [i for i, (a, b) in enumerate(zip(chain, other)) if a[0] != b[0]
                 and not (b[0] in symbols and (i == len(chain) - 1 or not a[0].startswith("_Z")))]
        if [place[1:] for place in chain] != [place[1:] for place in other] or names:
            wrong[hex(address)] = (chain, other)
    return wrong


@pytest.mark.parametrize("kind", sorted(set(KINDS) - UNLIKE_BINUTILS))
@pytest.mark.long
def test_every_address_as_addr2line(kind, built):
    if kind == "clang-v4" and is_binutils_before(2, 40):
        pytest.skip("this addr2line shows the plain names of inlined functions")
    path = built(kind)
    addresses = addresses_of(path, PATTERN)
    assert len(addresses) > 300
    mine = ours(path, addresses)
    assert max(map(len, mine.values())) >= (3 if "O0" not in kind else 2)
    wrong = differences(path, mine, addr2line(path, addresses))
    assert not wrong, f"{len(wrong)} of {len(addresses)}: {dict(list(wrong.items())[:3])}"


def symbolizer():
    return next(
        filter(None,
               map(shutil.which, ["llvm-symbolizer", "llvm-symbolizer-14", "llvm-symbolizer-19"])),
        None)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"gcc-zstd"}))    # LLVM 14 expands none
def test_every_address_as_llvm_symbolizer(kind, built):
    path = built(kind)
    if not symbolizer():
        pytest.skip("no llvm-symbolizer here")
    addresses = addresses_of(path, PATTERN)
    done = subprocess.run([symbolizer(), "--output-style=GNU", "-f", "-i", "-a", "--no-demangle",
                           "-e", path], stdout=subprocess.PIPE,
                          text=True, input="".join(f"0x{a:x}\n" for a in addresses), check=True)
    wrong = differences(path, ours(path, addresses), chains(done.stdout))
    assert not wrong, f"{len(wrong)} of {len(addresses)}: {dict(list(wrong.items())[:3])}"


def test_units_are_found_by_their_ranges(built):
    """Only the units of the C library that are hit are read."""
    path = built("gcc-static")
    text = "".join(f"{a:x}\n" for a in addresses_of(path, PATTERN)[:50])
    done = subprocess.run([compiled.program("symbols_debug"), "-t", path], input=text,
                          stdout=subprocess.PIPE, text=True)
    assert (done.returncode == 0
            and re.match(r"\d+ units in \d+ us, \d+ us functions, ", done.stdout)), done.stdout


@pytest.mark.parametrize("kind", ["gcc-O2", "gcc-zlib", "gcc-zstd", "clang-O2"])
def test_damaged_files(kind, built, tmp_path):
    """Bytes of the debug sections changed at random: no crash, nothing stays charged, and it
    ends."""
    data = built(kind).read_bytes()
    spans = [(int(row[1], 16), int(row[2], 16)) for row in re.finditer(
        r"\.debug_\w+\s+PROGBITS\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)",
        subprocess.run(["readelf", "-SW", built(kind)], stdout=subprocess.PIPE, text=True,
                       check=True).stdout)]
    addresses = addresses_of(built(kind), PATTERN, 37)
    state = 1
    for turn in range(40):
        damaged = bytearray(data)
        for offset, size in spans:
            for _ in range(1 + turn % 4):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                damaged[offset + (state >> 20) % size] = state >> 56
        path = tmp_path / "damaged"
        path.write_bytes(damaged)
        done = subprocess.run([compiled.program("symbols_debug"), path],
                              input="".join(f"{a:x}\n" for a in addresses), stdout=subprocess.PIPE,
                              text=True, errors="replace", timeout=20)
        assert done.returncode in (0, 1) and "charged" not in done.stdout


APART = """
static inline int inner(int x) { return x ? 7 / x : 3; }
__attribute__((noinline, section(".text.apart"))) int apart(int *p)
{
	return inner(p[0]) + inner(p[1]);
}
__attribute__((noinline)) int near(int *p)
{
	return apart(p) - inner(p[3]);
}
int main(int argc, char **argv) { return near(&argc); }
"""


@pytest.mark.parametrize("options", [[], ["-ffunction-sections"]])
def test_functions_outside_of_the_only_range_of_a_unit(options, tmp_path):
    """DWARF 2 has no lists of ranges, and gcc states none at all where one is not enough: also
    addr2line has no lines then. The program is the same with them."""
    path, listed = tmp_path / "app", tmp_path / "listed"
    for name, text in (("p.c", APART), ("q.c", "int other(int x) { return x * 3; }\n")):
        (tmp_path / name).write_text(text)
    for to, debug in ((path, ["-gdwarf-2", "-gstrict-dwarf"]), (listed, ["-gdwarf-4"])):
        subprocess.run(["gcc", "-O2", *debug, *options, "-o", to, tmp_path / "p.c",
                        tmp_path / "q.c"], check=True)
    addresses = addresses_of(path, "^(main|apart|near|other)$")
    found = ours(path, addresses)
    assert {len(chain) for chain in found.values()} >= {1, 2}
    assert ({address: chain[0][1:] for address, chain in found.items()} ==
            {address: chain[0][1:] for address, chain in addr2line(listed, addresses).items()})


@pytest.mark.parametrize("version", [4, 5])
def test_lines_of_dropped_functions(tmp_path, version):
    """The linker leaves a function that it drops at address 0, where it covers others: lines that
    could be of either are not shown."""
    many = "\n".join("\t*p += 1;" for _ in range(4000))
    (tmp_path / "p.c").write_text(
        "int kept(int x)\n{\n\treturn x * 3;\n}\nint main(int argc, char **argv)\n{\n"
        "\treturn kept(argc) + !argv;\n}\nvoid dropped(volatile int *p)\n{\n" + many + "\n}\n")
    path = tmp_path / "app"
    subprocess.run(["gcc", "-g", f"-gdwarf-{version}", "-O1", "-ffunction-sections",
                    "-Wl,--gc-sections", "-o", path, tmp_path / "p.c"], check=True)
    found = ours(path, addresses_of(path, "^kept$|^main$"))
    assert {place[2] for chain in found.values() for place in chain} <= set(range(9))
    assert "dropped" not in {place[0] for chain in found.values() for place in chain}
    assert not any(name == "dropped" for *_, name in functions(path, ".symtab", "SYMTAB"))


CALLS = """
static inline __attribute__((always_inline)) int inner(int x)
{
	int sum = 0;
	for (volatile int i = 0; i < x; i++)
		sum += i * x;
	return sum;
}
__attribute__((noinline)) int outer(int x) { return inner(x) + 1; }
int main(int argc, char **argv) { (void)argv; return outer(argc); }
"""


@pytest.mark.parametrize("version", [2, 3, 5])
def test_calls_in_no_file(version, tmp_path):
    """DWARF 2 has no attributes for the place of an inlined call."""
    (tmp_path / "p.c").write_text(CALLS)
    subprocess.run(["gcc", "-O2", f"-gdwarf-{version}", "-gstrict-dwarf", "-o", tmp_path / "app",
                    "p.c"], cwd=tmp_path, check=True)
    addresses = addresses_of(tmp_path / "app", "^outer$")
    mine = ours(tmp_path / "app", addresses)
    assert mine == addr2line(tmp_path / "app", addresses)
    places = {chain[1] for chain in mine.values() if len(chain) == 2}
    assert places == {("outer", "??", 0) if version == 2 else ("outer", f"{tmp_path}/p.c", 9)}
