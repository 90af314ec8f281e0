"""libpdsymbols as a library: its exports and imports, no writable state, a header that compiles
alone, and no way to files."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, TOOLS
from test_library import FORBIDDEN, LANGUAGES, exported, mapped, output, without_comments, writable

HEADER = ROOT / "libsymbols" / "include" / "pd" / "symbols.h"
MAP = ROOT / "libsymbols" / "libpdsymbols.map"
SHARED = TOOLS / "libpdsymbols.so"
STATIC = TOOLS / "libpdsymbols.a"

# All files come from the caller. libelf and libdw are given bytes.
WAYS_OUT = set("""
    open open64 openat openat64 openat2 creat creat64 fopen fopen64 freopen fdopen
    opendir fdopendir readlink realpath socket connect bind fork vfork clone posix_spawn
    execve execv execvp dlopen getenv secure_getenv syscall
    shm_open memfd_create mkstemp tmpfile elf_begin elf_open dwarf_begin dwelf_elf_begin dwfl_begin
""".split())


def declared():
    names = re.findall(r"^PS_API\b[^;(]*?(\w+) ?\(", without_comments(HEADER.read_text()),
                       flags=re.M)
    assert names
    return set(names)


def undefined(library, *options):
    return {re.split("@", line.split()[-1])[0]
            for line in output("nm", *options, "--undefined-only", library).splitlines()
            if line.strip() and not line.endswith(":")}


def test_the_map_is_the_header():
    assert set(mapped(MAP.read_text())) == declared()
    assert re.search(r"local:\s*\*;", without_comments(MAP.read_text()))


def test_the_library_exports_the_map():
    assert exported(SHARED) == mapped(MAP.read_text())


def test_names_have_the_prefix():
    text = without_comments(HEADER.read_text())
    names = declared() | set(re.findall(r"^(?:struct|enum|union)\s+(\w+)", text, flags=re.M))
    assert not [name for name in names if not name.startswith("ps_")]
    macros = set(re.findall(r"^#define\s+(\w+)", text, flags=re.M)) - {"PD_SYMBOLS_H"}
    assert not [name for name in macros if not name.startswith("PS_")]


def test_the_static_library_stays_in_its_names():
    lines = [line.split() for line in output("nm", "-g", "--defined-only", STATIC).splitlines()]
    names = {line[2] for line in lines if len(line) == 3}
    assert len(names) > 10
    assert not [name for name in names if not name.startswith("ps_")]


def test_no_object_has_writable_data():
    sections = output("readelf", "-SW", STATIC)
    assert sections.count("File:") > 5
    assert writable(sections) == {}


def test_no_file_is_opened():
    imported = undefined(SHARED, "-D") | undefined(STATIC)
    assert "elf_memory" in imported and "pread64" in imported
    assert not imported & WAYS_OUT


def test_nothing_is_imported_that_a_library_has_no_use_for():
    """libiberty's parts that end the process are not linked in."""
    assert not (undefined(SHARED, "-D") | undefined(STATIC)) & (FORBIDDEN - {"abort"})
    assert "abort" not in undefined(STATIC)
    assert "xmalloc" not in output("nm", SHARED)


def test_libraries_that_are_linked():
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", output("readelf", "-d", SHARED)))
    assert ({re.sub(r"\.so.*", "", name) for name in needed}
            <= {"libdecode", "libdw", "libelf", "liblzma", "libc", "ld-linux-x86-64",
               "ld-linux-aarch64"})
    assert "[libpdsymbols.so.0]" in output("readelf", "-d", SHARED)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_header_stands_alone(language, tmp_path):
    compiler, *options = LANGUAGES[language]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / "alone"
    source.write_text('#include "pd/symbols.h"\n#include "pd/symbols.h"\nextern int something;\n')
    done = subprocess.run([compiler, *options, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                           "-Werror", "-I", ROOT / "libdecode" / "include", "-I",
                           ROOT / "libsymbols" / "include", source],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert HEADER.read_text().startswith("/* symbols.h - ")
