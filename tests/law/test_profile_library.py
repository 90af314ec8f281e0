"""libpdprofile as a library: its exports and imports, no writable state, a header that compiles
alone."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, TOOLS
from test_library import FORBIDDEN, LANGUAGES, exported, mapped, output, without_comments, writable
from test_symbols_library import WAYS_OUT, undefined

HEADER = ROOT / "libprofile" / "include" / "pd" / "profile.h"
MAP = ROOT / "libprofile" / "libpdprofile.map"
SHARED = TOOLS / "libpdprofile.so"
STATIC = TOOLS / "libpdprofile.a"


def declared():
    names = re.findall(r"^PP_API\b[^;(]*?(\w+) ?\(", without_comments(HEADER.read_text()),
                       flags=re.M)
    assert names
    return set(names)


def test_the_map_is_the_header():
    assert set(mapped(MAP.read_text())) == declared()
    assert re.search(r"local:\s*\*;", without_comments(MAP.read_text()))


def test_the_library_exports_the_map():
    assert exported(SHARED) == mapped(MAP.read_text())


def test_names_have_the_prefix():
    text = without_comments(HEADER.read_text())
    names = declared() | set(re.findall(r"^(?:struct|enum|union)\s+(\w+)", text, flags=re.M))
    assert not [name for name in names if not name.startswith("pp_")]
    macros = set(re.findall(r"^#define\s+(\w+)", text, flags=re.M)) - {"PD_PROFILE_H"}
    assert not [name for name in macros if not name.startswith("PP_")]


def test_the_static_library_stays_in_its_names():
    lines = [line.split() for line in output("nm", "-g", "--defined-only", STATIC).splitlines()]
    names = {line[2] for line in lines if len(line) == 3}
    assert len(names) > 10
    assert not [name for name in names if not name.startswith("pp_")]


def test_no_object_has_writable_data():
    sections = output("readelf", "-SW", STATIC)
    assert sections.count("File:") > 5
    assert writable(sections) == {}


def test_what_it_imports():
    imported = undefined(SHARED, "-D") | undefined(STATIC)
    assert "pd_history_fields_frames" in imported
    assert not imported & (WAYS_OUT | FORBIDDEN)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_header_stands_alone(language, tmp_path):
    compiler, *options = LANGUAGES[language]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / "alone"
    source.write_text('#include "pd/profile.h"\n#include "pd/profile.h"\nextern int something;\n')
    done = subprocess.run([compiler, *options, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                           "-Werror", "-I", ROOT / "libdecode" / "include", "-I",
                           ROOT / "libprofile" / "include", source],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert HEADER.read_text().startswith("/* profile.h - ")
