"""make install and make uninstall: every file in its place, no other file touched, and the
installed tools work."""
import functools
import os
import re
import shutil
import subprocess

import pytest

from conftest import FIXTURES, ROOT, TOOLS
from installed import is_sanitized, make

VERSION = re.search(r"^VERSION := (\S+)", (ROOT / "Makefile").read_text(), flags=re.M)[1]
ABI = re.search(r"^ABI := (\S+)", (ROOT / "Makefile").read_text(), flags=re.M)[1]
HEADERS = sorted(path.name for library in ("libdecode", "libsymbols", "libprofile", "libcolumns")
                 for path in (ROOT / library / "include" / "pd").glob("*.h"))
LIBRARIES = {name: f"{name}.so.{ABI}"
             for name in ("libdecode", "libpdsymbols", "libpdprofile", "libpdcolumns")}
PROGRAMS = [name for name in ("pdecode", "pencode", "prepair", "precord", "preport", "pquery")
            if (TOOLS / name).is_file()]
CAPTURE = FIXTURES / "perf" / "01-basic.data"


def tree(top):
    """{path: mode, or target of a link}"""
    return {str(path.relative_to(top)): os.readlink(path) if path.is_symlink()
            else path.stat().st_mode & 0o777
            for path in top.rglob("*") if path.is_symlink() or path.is_file()}


@functools.lru_cache(maxsize=None)
def pages():
    """Names of the manual pages of section 3."""
    listed = subprocess.run([ROOT / "scripts" / "man3", "--list"], stdout=subprocess.PIPE,
                            text=True, check=True).stdout.split()
    assert {"pd_reader_next.3", "libdecode_reader.3"} <= set(listed)
    return listed


def expected(prefix, libdir=None):
    lib = libdir or f"{prefix}/lib"
    files = {}
    for name, soname in LIBRARIES.items():
        files.update({f"{lib}/{name}.a": 0o644, f"{lib}/{name}.so.{VERSION}": 0o755,
                      f"{lib}/{soname}": f"{name}.so.{VERSION}", f"{lib}/{name}.so": soname,
                      f"{lib}/pkgconfig/{name}.pc": 0o644})
    files[f"{lib}/perfdata.so"] = 0o755
    files.update((f"{prefix}/include/pd/{name}", 0o644) for name in HEADERS)
    files.update((f"{prefix}/share/man/man3/{name}", 0o644) for name in pages())
    for program in PROGRAMS:
        files[f"{prefix}/bin/{program}"] = 0o755
        files[f"{prefix}/share/man/man1/{program}.1"] = 0o644
        files[f"{prefix}/share/bash-completion/completions/{program}"] = 0o644
        files[f"{prefix}/share/zsh/site-functions/_{program}"] = 0o644
        files[f"{prefix}/share/fish/vendor_completions.d/{program}.fish"] = 0o644
    return files


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """The DESTDIR of an installation with the default prefix."""
    top = tmp_path_factory.mktemp("staged")
    make("install", f"DESTDIR={top}")
    return top


def test_every_file_is_in_its_place(staged):
    assert tree(staged) == expected("usr/local")


def test_other_places(tmp_path):
    make("install", f"DESTDIR={tmp_path}", "PREFIX=/opt/pd", "LIBDIR=/opt/pd/lib/x86_64-linux-gnu")
    assert tree(tmp_path) == expected("opt/pd", "opt/pd/lib/x86_64-linux-gnu")
    config = (tmp_path / "opt/pd/lib/x86_64-linux-gnu/pkgconfig/libdecode.pc").read_text()
    assert "prefix=/opt/pd\n" in config and "libdir=/opt/pd/lib/x86_64-linux-gnu\n" in config
    # DESTDIR is the staging directory, which installed files must not name
    assert str(tmp_path) not in config


def test_a_path_with_a_blank(tmp_path):
    top = tmp_path / "a place"
    make("install", f"DESTDIR={top}")
    assert tree(top) == expected("usr/local")
    make("uninstall", f"DESTDIR={top}")
    assert tree(top) == {}


def test_every_user_can_read_the_installation_of_root(tmp_path):
    """The permissions do not depend on the umask."""
    make("install", f"DESTDIR={tmp_path}", umask=0o077)
    assert tree(tmp_path) == expected("usr/local")
    assert not [path for path in tmp_path.rglob("*") if path.is_dir()
                and path.stat().st_mode & 0o055 != 0o055]


def test_installing_again_changes_nothing(staged):
    before = tree(staged)
    make("install", f"DESTDIR={staged}")
    assert tree(staged) == before


def test_uninstall_takes_all_of_it_and_nothing_else(tmp_path):
    make("install", f"DESTDIR={tmp_path}")
    others = ["usr/local/bin/other", "usr/local/lib/libother.so", "usr/local/include/pdother.h",
              "usr/local/share/man/man1/other.1", "usr/local/share/man/man3/pd_other.3"]
    for name in others:
        (tmp_path / name).write_text("of somebody else")
    make("uninstall", f"DESTDIR={tmp_path}")
    assert sorted(tree(tmp_path)) == sorted(others)
    assert not (tmp_path / "usr/local/include/pd").exists()
    make("uninstall", f"DESTDIR={tmp_path}")      # without the files, it succeeds as well


def test_nothing_names_where_it_was_built(staged):
    """The installed files do not contain the build directory."""
    texts = [path for path in staged.rglob("*") if path.is_file() and not path.is_symlink()
             and path.suffix in (".pc", ".h", ".1", ".fish") or "completion" in str(path)
             and path.is_file()]
    assert len(texts) > len(HEADERS) + 1
    assert not [path.name for path in texts if str(ROOT) in path.read_text()
                or str(staged) in path.read_text()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_installed_programs_run(program, staged, tmp_path):
    """They run without the build directory."""
    path = staged / "usr/local/bin" / program
    done = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 0 and VERSION in done.stdout
    dynamic = subprocess.run(["readelf", "-d", path], stdout=subprocess.PIPE, text=True).stdout
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic and "libdecode" not in dynamic


def test_pdecode_and_pencode_work_together(staged, tmp_path):
    programs = staged / "usr/local/bin"
    done = subprocess.run(f"'{programs}/pdecode' '{CAPTURE}' | '{programs}/pencode' > copy",
                          shell=True, cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "copy").read_bytes() == CAPTURE.read_bytes()


@pytest.mark.parametrize("program", PROGRAMS)
def test_man_pages(program, staged):
    """The pages are about this program, and man, if present, reports no error in them."""
    page = staged / "usr/local/share/man/man1" / f"{program}.1"
    text = page.read_text()
    assert re.search(rf'^\.TH "?{program.upper()}"? "?1"?', text, flags=re.M)
    assert text.count("\n.SH ") >= 4 and f'{program}' in text.split(".SH", 2)[1]
    if not shutil.which("man"):
        pytest.skip("no man here")
    shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", str(page)],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    assert shown.returncode == 0 and "SYNOPSIS" in shown.stdout and not shown.stderr


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("shell, where, check", [
    ("bash", "bash-completion/completions/{}", ["bash", "-n"]),
    ("zsh", "zsh/site-functions/_{}", ["zsh", "-n"]),
    ("fish", "fish/vendor_completions.d/{}.fish", ["fish", "--no-execute"]),
])
def test_completions(shell, where, check, program, staged):
    path = staged / "usr/local/share" / where.format(program)
    text = path.read_text()
    assert program in text and "output" in text
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    assert subprocess.run([*check, str(path)]).returncode == 0


# --- pkg-config -----------------------------------------------------------------------------------

def pkg_config(top, *arguments):
    env = {**os.environ, "PKG_CONFIG_PATH": str(top / "usr/local/lib/pkgconfig")}
    done = subprocess.run(["pkg-config", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_pkg_config(staged):
    assert pkg_config(staged, "--modversion", "libdecode") == VERSION
    assert pkg_config(staged, "--cflags", "libdecode") == "-I/usr/local/include"
    assert pkg_config(staged, "--libs", "libdecode").split() == ["-L/usr/local/lib", "-ldecode"]
    static = pkg_config(staged, "--static", "--libs", "libdecode").split()
    assert {"-ldecode", "-lzstd", "-lz", "-llzma", "-lbz2"} <= set(static)
    pkg_config(staged, "--validate", "libdecode")
    assert "@" not in (staged / "usr/local/lib/pkgconfig/libdecode.pc").read_text()


def test_pkg_config_of_symbols(staged):
    assert pkg_config(staged, "--modversion", "libpdsymbols") == VERSION
    assert (pkg_config(staged, "--libs", "libpdsymbols").split()
            == ["-L/usr/local/lib", "-lpdsymbols", "-ldecode"])
    static = pkg_config(staged, "--static", "--libs", "libpdsymbols").split()
    assert ({"-lpdsymbols", "-ldecode", "-ldw", "-lelf", "-llzma", "-liberty", "-lzstd"}
            <= set(static))
    assert "@" not in (staged / "usr/local/lib/pkgconfig/libpdsymbols.pc").read_text()


@pytest.mark.parametrize("name", LIBRARIES)
def test_versions_agree(name, staged):
    library = staged / f"usr/local/lib/{name}.so"
    dynamic = subprocess.run(["readelf", "-d", library], stdout=subprocess.PIPE, text=True).stdout
    assert f"[{LIBRARIES[name]}]" in dynamic
    if is_sanitized(TOOLS / "libdecode.a"):
        pytest.skip("the sanitized library has symbols of its own")
    symbols = subprocess.run(["nm", "-D", library], stdout=subprocess.PIPE, text=True).stdout
    assert f"{name.upper()}_" + ".".join(VERSION.split(".")[:2]) in symbols
