"""Small C programs of tests/c, linked with the built library, for what the tools cannot show.

  PD_BUILD  directory of libdecode.a; default build/ of this project
  CC        the compiler; default cc
"""
import functools
import os
import pathlib
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("PD_BUILD") or ROOT / "build")
INCLUDES = ["libdecode", "libdecode/include", "libsymbols", "libsymbols/include", "tools"]
LIBRARIES = ["-lzstd", "-lz", "-llzma", "-lbz2", "-lm"]
RECORD_LIBRARIES = ["-lelf", *LIBRARIES]
HAS_DEFLATE = subprocess.run(["pkg-config", "--exists", "libdeflate"], check=False).returncode == 0
SYMBOLS_LIBRARIES = ["-ldw", "-lelf", "-liberty", *(["-ldeflate"] if HAS_DEFLATE else []),
                     *LIBRARIES]
QUERY_LIBRARIES = [ROOT / "tools" / "pquery" / "pquery_save.c", "-lsqlite3"]


@functools.lru_cache(maxsize=None)
def program(name):
    """Path of tests/c/NAME.c, compiled."""
    library = BUILD / "libdecode.a"
    if not library.is_file():
        pytest.fail(f"{library} is not built: run make, or set PD_BUILD to its directory",
                    pytrace=False)
    source, target = ROOT / "tests" / "c" / f"{name}.c", BUILD / "tests" / name
    target.parent.mkdir(exist_ok=True)
    compiler = shlex.split(os.environ.get("CC") or "cc")
    made = target.with_name(f"{name}.{os.getpid()}")  # others may compile it at the same time
    kind = name.partition("_")[0]
    libraries = {"symbols": [BUILD / "libpdsymbols.a", library, *SYMBOLS_LIBRARIES],
                 "query": QUERY_LIBRARIES}.get(kind, [library, *LIBRARIES])
    done = subprocess.run([*compiler, "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror",
                           "-Wno-missing-field-initializers", "-D_GNU_SOURCE",
                           *[f"-I{ROOT}/{place}" for place in INCLUDES], "-o", made, source,
                           *libraries], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        pytest.fail(f"{source} does not compile:\n{done.stdout}", pytrace=False)
    made.rename(target)
    return target


def columns_library(name, directory):
    """tests/c/NAME.c as a shared library in the directory, with libpdcolumns inside. Returns its
    path."""
    objects = [BUILD / "libpdcolumns.a", BUILD / "libdecode.a"]
    target = directory / f"{name}.so"
    includes = [f"-I{ROOT}/{place}/include" for place in ("libdecode", "libcolumns")]
    done = subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-std=gnu11", "-g", "-Wall",
                           "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-shared",
                           "-fPIC", *includes, "-o", target, ROOT / "tests" / "c" / f"{name}.c",
                           *objects, *LIBRARIES], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return target


def preloaded(name, directory):
    """Compiles tests/workload/NAME.c to a library for LD_PRELOAD in the directory; returns its
    path."""
    target = directory / f"{name}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-pthread", "-o", target,
                    ROOT / "tests" / "workload" / f"{name}.c", "-ldl"],
                   check=True)
    return target


def run_clean(name, *args, lines=()):
    """Runs such a program on the lines; returns those of its output. A sanitizer's report or a
    leak of the budget fails."""
    done = subprocess.run([program(name), *map(str, args)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, input="".join(f"{line}\n" for line in lines))
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "still charged" not in done.stdout
    return done.stdout.splitlines()


def run(name, *args):
    """Runs such a program; returns its exit code and the lines of its standard output."""
    done = subprocess.run([program(name), *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()
