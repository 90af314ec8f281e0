"""ARCHITECTURE.md names files and folders that exist."""
import re
import subprocess

import pytest

from conftest import ROOT

FOLDERS = ("libdecode", "libsymbols", "libprofile", "libcolumns", "sqlite", "python", "fleet",
           "record", "tools", "tests", "docs", "schemas", "fixtures", "scripts")
# A path within the project or one of its parts; a module stands for its .c and .h.
PATH = re.compile(r"[a-z][a-z0-9_*]*(/[A-Za-z0-9_*]+)+(\.[a-z]+)?/?|[a-z_]+/|[a-z0-9_*]+\.[ch]")


def named():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    return sorted({words for words in re.findall(r"`([^`\n]+)`", text) if PATH.fullmatch(words)}
                  | {target for target in re.findall(r"\]\(([^)]+)\)", text) if ":" not in target})


def found(name):
    name = name.rstrip("/")
    places = [ROOT, *(ROOT / folder for folder in FOLDERS)]
    return any(next(place.glob(prefix + name + ending), None) for place in places
               for prefix in ("", "*/", "include/") for ending in ("", ".c", ".py"))


def test_many_are_named():
    assert len(named()) > 60


@pytest.mark.parametrize("name", named())
def test_it_exists(name):
    assert found(name)


def test_nothing_was_left_at_the_top():
    done = subprocess.run(["git", "ls-files", "--", ":(top,glob)*"], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        pytest.skip("not a clone: files of the project are not listed")
    files = done.stdout.split()
    assert "README.md" in files
    assert [name for name in files if not name.endswith((".md", "Makefile", "LICENSE"))
            and not name.startswith(".")] == []
