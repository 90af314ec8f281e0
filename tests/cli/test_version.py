"""--version: the version in the first line, then how the program was built."""
import re
import subprocess

import pytest

from conftest import ROOT, TOOLS

VERSION = re.search(r"^VERSION := (\S+)", (ROOT / "Makefile").read_text(), flags=re.M)[1]
PROGRAMS = ("pdecode", "pencode", "prepair", "precord", "preport", "pquery")
READERS = ("pdecode", "pencode", "prepair", "preport", "pquery")   # of untrusted input


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


@pytest.fixture(params=PROGRAMS)
def built(request):
    """(name, first line, {key: the rest of its line})"""
    first, *lines = output(TOOLS / request.param, "--version").splitlines()
    return request.param, first, dict(line.split(": ", 1) for line in lines)


def test_version_first(built):
    name, first, _ = built
    assert first == f"{name} {VERSION}"


def test_libraries(built):
    name, _, about = built
    libraries = dict(word.rsplit("-", 1) for word in about["libraries"].split())
    assert {"zlib", "libzstd"} <= set(libraries)
    assert ("json-c" in libraries) == (name in READERS and name != "pquery")
    assert ("sqlite3" in libraries) == (name == "pquery")
    assert libraries == {library: output("pkg-config", "--modversion", library).strip()
                         for library in libraries}


def test_build(built):
    name, _, about = built
    assert re.fullmatch(r"(gcc|clang) \d.*, (glibc \d+\.\d+|a libc other than glibc)",
                        about["compiler"])
    assert about.get("sandbox") == ("seccomp landlock" if name in READERS else None)
    assert (("stack-protector" in about["hardening"])
            == ("__stack_chk_fail" in output("nm", TOOLS / name)))
