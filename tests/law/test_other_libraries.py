"""The libraries other than libdecode: exports and imports, no writable state, headers that compile
alone, and no way to files."""
import re
import shutil
import subprocess
from typing import NamedTuple

import pytest

from conftest import ROOT, TOOLS
from test_library import FORBIDDEN, LANGUAGES, exported, mapped, output, without_comments, writable

# All files come from the caller. libelf and libdw are given bytes.
WAYS_OUT = set("""
    open open64 openat openat64 openat2 creat creat64 fopen fopen64 freopen fdopen
    opendir fdopendir readlink realpath socket connect bind fork vfork clone posix_spawn
    execve execv execvp dlopen getenv secure_getenv syscall
    shm_open memfd_create mkstemp tmpfile elf_begin elf_open dwarf_begin dwelf_elf_begin dwfl_begin
""".split())


class Library(NamedTuple):
    name: str           # libpdNAME, pd/NAME.h
    folder: str
    prefix: str         # of functions and types; in capitals that of macros
    imports: set        # some of what it is known to import
    needs: set          # the libraries that it may be linked with, besides libdecode and libc
    ways_out: set = set()

    @property
    def header(self):
        return ROOT / self.folder / "include" / "pd" / f"{self.name}.h"

    @property
    def map(self):
        return (ROOT / self.folder / f"libpd{self.name}.map").read_text()

    @property
    def shared(self):
        return TOOLS / f"libpd{self.name}.so"

    @property
    def static(self):
        return TOOLS / f"libpd{self.name}.a"

    def declared(self):
        names = re.findall(rf"^{self.prefix.upper()}API\b[^;(]*?(\w+) ?\(",
                           without_comments(self.header.read_text()), flags=re.M)
        assert names
        return set(names)

    def imported(self):
        return undefined(self.shared, "-D") | undefined(self.static)


LIBRARIES = [
    Library("symbols", "libsymbols", "ps_", {"elf_memory", "pread64"},
            {"libdeflate", "libdw", "libelf", "liblzma", "libz", "libzstd"}),
    Library("profile", "libprofile", "pp_", {"pd_history_fields_frames"}, {"libz"},
            {"open64", "secure_getenv"}),
    Library("columns", "libcolumns", "pc_", {"pd_history_fields_frames"}, {"libzstd"},
            {"open64", "secure_getenv"}),
]


def undefined(library, *options):
    return {re.split("@", line.split()[-1])[0]
            for line in output("nm", *options, "--undefined-only", library).splitlines()
            if line.strip() and not line.endswith(":")}


@pytest.fixture(params=LIBRARIES, ids=[library.name for library in LIBRARIES])
def library(request):
    return request.param


def test_the_map_is_the_header(library):
    assert set(mapped(library.map)) == library.declared()
    assert re.search(r"local:\s*\*;", without_comments(library.map))


def test_the_library_exports_the_map(library):
    assert exported(library.shared) == mapped(library.map)


def test_names_have_the_prefix(library):
    text = without_comments(library.header.read_text())
    names = library.declared() | set(re.findall(r"^(?:struct|enum|union)\s+(\w+)", text,
                                                flags=re.M))
    assert not [name for name in names if not name.startswith(library.prefix)]
    guard = f"PD_{library.name.upper()}_H"
    macros = set(re.findall(r"^#define\s+(\w+)", text, flags=re.M)) - {guard}
    assert not [name for name in macros if not name.startswith(library.prefix.upper())]


def test_the_static_library_stays_in_its_names(library):
    lines = [line.split()
             for line in output("nm", "-g", "--defined-only", library.static).splitlines()]
    names = {line[2] for line in lines if len(line) == 3}
    assert len(names) > 10
    assert not [name for name in names if not name.startswith(library.prefix)]


def test_no_object_has_writable_data(library):
    sections = output("readelf", "-SW", library.static)
    assert sections.count("File:") > 5
    assert writable(sections) == {}


def test_no_file_is_opened(library):
    """But the temporary file of libdecode, of which some have a copy."""
    assert library.imports <= library.imported()
    assert not undefined(library.static) & WAYS_OUT
    assert undefined(library.shared, "-D") & WAYS_OUT == library.ways_out


def test_nothing_is_imported_that_a_library_has_no_use_for(library):
    """libiberty's parts that end the process are not linked in."""
    assert not library.imported() & (FORBIDDEN - {"abort"})
    assert "abort" not in undefined(library.static)
    assert "xmalloc" not in output("nm", library.shared)


def test_libraries_that_are_linked(library):
    dynamic = output("readelf", "-d", library.shared)
    needed = {re.sub(r"\.so.*", "", name) for name in re.findall(r"NEEDED.*\[(.*?)\]", dynamic)}
    assert needed <= library.needs | {"libdecode", "libc", "ld-linux-x86-64", "ld-linux-aarch64",
                                      "libpthread"}     # part of libc since glibc 2.34
    assert f"[libpd{library.name}.so.0]" in dynamic


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_header_stands_alone(library, language, tmp_path):
    compiler, *options = LANGUAGES[language]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / "alone"
    source.write_text(2 * f'#include "pd/{library.name}.h"\n' + "extern int something;\n")
    done = subprocess.run([compiler, *options, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                           "-Werror", "-I", ROOT / "libdecode" / "include", "-I",
                           library.header.parents[1], source],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert library.header.read_text().startswith(f"/* {library.name}.h - ")
