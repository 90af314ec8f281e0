"""The binaries have the requested hardening of compiler and linker, and a user's flags take
precedence."""
import platform
import re
import shutil
import subprocess

import pytest

from conftest import TOOLS
from installed import is_sanitized, make

BINARIES = ["pdecode", "pencode", "prepair", "precord", "preport", "pquery",
            "perfdata.so", "libdecode.so", "libpdsymbols.so", "libpdprofile.so", "libpdcolumns.so"]
# Marks of the objects: the linker keeps them only if the libc's start-up code has them, unlike
# Debian's.
BRANCH_PROTECTION = {"x86_64": "x86 feature: IBT, SHSTK", "aarch64": "AArch64 feature: BTI, PAC"}

needs_readelf = pytest.mark.skipif(not shutil.which("readelf"),
                                   reason="no readelf in PATH: install binutils")


def readelf(*args):
    return subprocess.run(["readelf", "-W", *map(str, args)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


@pytest.fixture(params=BINARIES)
def binary(request):
    if is_sanitized(TOOLS / "libdecode.a"):
        pytest.skip("built with sanitizers, which check more")
    return TOOLS / request.param


@needs_readelf
def test_where_code_and_data_are_is_not_known_and_no_table_stays_writable(binary):
    dynamic, segments = readelf("-d", binary), readelf("-l", binary)
    assert re.search(r"\(FLAGS\).*\bBIND_NOW\b", dynamic)
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK.* RW ", segments)
    assert "Elf file type is DYN" in segments
    if binary.suffix != ".so":
        assert re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic)


@needs_readelf
def test_stacks_and_buffers_are_checked(binary):
    imported = set(re.findall(r" UND (__\w+_chk(?:_fail)?)\b", readelf("--dyn-syms", binary)))
    assert "__stack_chk_fail" in imported
    if platform.libc_ver()[0] == "glibc":
        assert imported & {"__memcpy_chk", "__snprintf_chk"}


@needs_readelf
def test_indirect_branches_are_protected():
    wanted = BRANCH_PROTECTION.get(platform.machine())
    if not wanted:
        pytest.skip(f"{platform.machine()} has no such protection")
    objects = readelf("-n", TOOLS / "libdecode.a").split("\nFile: ")[1:]
    assert objects
    assert not [name for name, *notes in map(str.splitlines, objects)
                if wanted not in "\n".join(notes)]


def compile_line(*variables):
    """The arguments with which make runs the compiler for a file, given these variables."""
    shown = make("-n", "V=1", "B=build/none", *variables, "build/none/obj/libdecode/base/buf.o")
    return next(line for line in shown.splitlines() if "libdecode/base/buf.c" in line
                and " -c " in line).split()


@pytest.mark.parametrize("variables", [["OPT=-O0 -g"], ["OPT=-g"], ["CFLAGS=-O0"], ["SAN=1"],
                                       ["CPPFLAGS=-D_FORTIFY_SOURCE=2"],
                                       ["CFLAGS=-Wp,-D_FORTIFY_SOURCE=2"]], ids=str)
def test_no_fortified_functions_where_they_would_warn(variables):
    assert not [flag for flag in compile_line(*variables) if flag.startswith("-D_FORTIFY_SOURCE=3")]


def test_a_compiler_that_knows_none_of_the_flags_still_compiles(tmp_path):
    """An old compiler, or one for another machine: flags that it refuses are left out."""
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\nfor a; do case $a in -fcf-*|-fstack-*|-mbranch-*|*_SOURCE=3) '
                        'exit 1;; esac; done\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    flags = compile_line(f"CC={compiler}")
    assert not [flag for flag in flags if flag.startswith(("-fcf-", "-fstack-", "-mbranch-"))]
    assert "-D_FORTIFY_SOURCE=2" in flags


def test_flags_are_for_this_machine():
    flags = compile_line("CC=gcc")
    assert "-fstack-protector-strong" in flags
    assert ({"-fcf-protection", "-mbranch-protection=standard"} & set(flags)
            or platform.machine() not in BRANCH_PROTECTION)
