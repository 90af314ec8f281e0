"""The binary interface of the library: what a program may use is neither removed nor changed.

tests/abi/libdecode.abi.xz describes the interface of the last release; before the first one, of a
state that was chosen. `make abi` writes it, and a change of it is a change of SONAME once there is
a release. Additions are no change.
"""
import lzma
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, TOOLS

REFERENCE = ROOT / "tests" / "abi" / "libdecode.abi.xz"
SUPPRESSIONS = ROOT / "tests" / "abi" / "suppressions"
FAILED, CHANGED = 3, 12     # bits of abidiff's exit code

# Debian 12's. Version 2.6 takes types of the reference for others, and does not know the
# suppression of options that grow.
VERSION = "2.2"


def why_not():
    if not shutil.which("abidiff"):
        return "no abidiff here: it is in Debian's abigail-tools"
    found = subprocess.run(["abidiff", "--version"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    if not re.search(rf"\b{re.escape(VERSION)}\b", found):
        return f"the reference is for abidiff {VERSION}, this is {found.strip()}"
    return None


needs_abidiff = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def compare(old, new):
    """Whether abidiff sees a change other than an addition, and its report."""
    done = subprocess.run(["abidiff", "--no-added-syms", "--suppressions", SUPPRESSIONS, old, new],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode & FAILED == 0, done.stdout
    return done.returncode & CHANGED != 0, done.stdout


@needs_abidiff
def test_the_interface_is_the_old_one(tmp_path):
    library = TOOLS / "libdecode.so"
    header = subprocess.run(["readelf", "-hSW", library], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    if ".debug_info" not in header:
        pytest.skip("the library was built without -g")
    if "X86-64" not in header:
        pytest.skip("the reference is of x86-64")
    old, new = tmp_path / "old.abi", tmp_path / "new.abi"
    old.write_bytes(lzma.decompress(REFERENCE.read_bytes()))
    new.write_bytes(subprocess.run([ROOT / "scripts" / "abi", library], stdout=subprocess.PIPE,
                                   check=True).stdout)
    changed, report = compare(old, new)
    assert not changed, f"{report}\nIf there was no release with the old interface: make abi"


def test_the_reference_names_no_place():
    text = lzma.decompress(REFERENCE.read_bytes()).decode()
    assert "pd_reader_next" in text and "pd_tree_read_record" in text
    assert not re.search(r"comp-dir-path|='/", text)


SOURCE = """
struct pd_thing { long a;
#ifdef WIDER
	long other;
#endif
	long b; };
struct pd_thing_options { unsigned long size;
#ifdef MIDDLE
	long c;
#endif
	long a;
#ifdef OPTION
	long b;
#endif
};
enum pd_code { PD_OK, PD_E_IO,
#ifdef VALUE
	PD_E_MORE,
#endif
};
#ifdef ARGUMENT
long pd_f(struct pd_thing *t, int n) { return t->a + n; }
#else
long pd_f(struct pd_thing *t) { return t->a; }
#endif
int pd_g(const struct pd_thing_options *o, enum pd_code code) { return o->a + code; }
#ifndef REMOVED
int pd_h(void) { return 0; }
#endif
#ifdef ADDED
int pd_i(void) { return 0; }
#endif
"""


@needs_abidiff
@pytest.mark.parametrize("change, seen", [("SAME", False), ("ADDED", False), ("OPTION", False),
                                          ("VALUE", False), ("MIDDLE", True), ("WIDER", True),
                                          ("REMOVED", True), ("ARGUMENT", True)])
def test_changes_are_seen(change, seen, tmp_path):
    source = tmp_path / "source.c"
    source.write_text(SOURCE)
    for name, flags in ("old", []), ("new", [f"-D{change}"]):
        subprocess.run(["cc", "-g", "-shared", "-fPIC", *flags, "-o", tmp_path / f"{name}.so",
                        source], check=True)
    changed, report = compare(tmp_path / "old.so", tmp_path / "new.so")
    assert changed == seen, report
