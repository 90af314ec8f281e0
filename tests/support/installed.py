"""libdecode as installed, and programs of tests/c that are built against the installation only."""
import fcntl
import os
import shlex
import shutil
import subprocess

import pytest

from conftest import ROOT, SANITIZER_REPORT, TOOLS

CC = {".c": ["cc", "-std=c11", "-D_GNU_SOURCE"], ".cc": ["c++", "-std=c++17"]}
STRICT = ["-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# The name that the Makefile gives the folder.
BUILD = os.path.relpath(TOOLS, ROOT) if TOOLS.is_relative_to(ROOT) else str(TOOLS)
# Arguments for make(): with the flags of the existing objects.
KEEP_FLAGS = ("-o", f"{BUILD}/flags")


def make(*arguments, umask=-1):
    """Runs the project's make without building anything, and without the variables of a make that
    runs the tests. Only one process at a time does: the binding of Python is built."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DESTDIR", "PREFIX",
                           "B", "SAN")}
    with open(TOOLS / "make.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-C", str(ROOT), "--no-print-directory", "-o", "all",
                               "SETUP=:", f"B={TOOLS}", *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
                              umask=umask)
    assert done.returncode == 0, done.stdout
    return done.stdout


def is_sanitized(library):
    names = subprocess.run(["nm", "--undefined-only", str(library)], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout
    return "__asan_" in names


class Installed:
    """An installation under `prefix`, and the programs that are linked with it."""

    def __init__(self, prefix):
        if not (TOOLS / "libdecode.a").is_file():
            pytest.fail(f"{TOOLS} holds no libdecode.a: run make, or set PD_TOOLS", pytrace=False)
        self.prefix = prefix
        make("install", f"PREFIX={prefix}")
        self.sanitized = is_sanitized(prefix / "lib" / "libdecode.a")
        self.programs = {}

    def pkg_config(self, *arguments, packages=("libdecode",)):
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")}
        done = subprocess.run(["pkg-config", *arguments, *packages], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return shlex.split(done.stdout)

    def program(self, source, kind):
        """Path of tests/c/SOURCE, linked with the "shared" or the "static" library."""
        if (source, kind) not in self.programs:
            self.programs[source, kind] = self.link(ROOT / "tests" / "c" / source, kind)
        return self.programs[source, kind]

    def compiler(self, source):
        """A library that gcc sanitized needs gcc's run-time library; `c++` may be clang, which has
        its own."""
        command, *options = CC[source.suffix]
        if source.suffix == ".cc":
            command = "g++" if self.sanitized else command
            if not shutil.which(command):
                pytest.skip(f"no {command} here")
        return [command, *options]

    def link(self, source, kind, warnings=(), packages=("libdecode",)):
        if kind == "static":
            libraries = [f"-l:lib{word[2:]}.a" if word == "-ldecode" or word.startswith("-lpd")
                         else word
                         for word in self.pkg_config("--static", "--libs", packages=packages)]
        else:
            libraries = [*self.pkg_config("--libs", packages=packages),
                         f"-Wl,-rpath,{self.prefix / 'lib'}"]
        if self.sanitized:
            libraries.append("-fsanitize=address,undefined")
        target = self.prefix / f"{source.stem}-{kind}"
        done = subprocess.run([*self.compiler(source), *STRICT, *warnings,
                               *self.pkg_config("--cflags", packages=packages), "-o",
                               str(target), str(source), *libraries, "-pthread"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        return target

    def run(self, source, kind, *arguments, **options):
        """Exit code and standard output."""
        done = subprocess.run([self.program(source, kind), *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options)
        assert (done.returncode not in (SANITIZER_REPORT, 2)
                and done.returncode >= 0), done.stderr.decode()
        assert not done.stderr, done.stderr.decode()
        return done.returncode, done.stdout.decode(errors="replace")
