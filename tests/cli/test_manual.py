"""The manual pages that the tools print are complete, and man reports no error in them."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS"]
MORE = {"precord": ["EVENTS", "TERMS", "MODIFIERS", "DIFFERENCES FROM PERF RECORD", "SIGNALS",
                    "SWITCHING AT EVENTS", "CONTROL", "FILES", "FULL DISK",
                    "NAMES OF A STREAM", "CONTAINERS", "PROGRAMS AND LIBRARIES THAT ARE REMOVED"]}


def output(tool, *args):
    if not (TOOLS / tool).exists():
        pytest.skip(f"no {tool} here")
    return subprocess.run([TOOLS / tool, *args], capture_output=True, text=True, check=True,
                          timeout=TIMEOUT).stdout


@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair", "precord", "preport", "pquery"])
def test_page(tool):
    page = output(tool, "--man")
    assert re.findall(r"(?m)^\.SH (.*)$", page) == [*SECTIONS, *MORE.get(tool, []), "EXIT STATUS",
                                                    "SEE ALSO"]
    if not shutil.which("man"):
        pytest.skip("no man here: the page is not rendered")
    done = subprocess.run(["man", "--warnings=w", "-l", "-"], input=page, capture_output=True,
                          text=True, check=True, timeout=TIMEOUT,
                          env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8",
                               "MANPAGER": "cat"})
    assert done.stderr == ""
    for section in MORE.get(tool, []):
        assert f"\n{section}\n       " in done.stdout


def test_commands_of_control():
    """The page explains the commands that --help names."""
    row = re.search(r"obey (.*?);", " ".join(output("precord", "--help").split()))[1]
    section = re.search(r"(?s)^\.SH CONTROL\n(.*?)^\.SH", output("precord", "--man"), re.M)[1]
    for command in row.split(", "):
        assert re.search(rf"\b{command}\b", section), command


@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair", "precord", "preport", "pquery"])
def test_help_has_80_columns(tool):
    """Only commands, which are to be copied, may be longer."""
    long = [line for line in output(tool, "--help").splitlines() if len(line) > 80]
    assert all(line.startswith(f"  {tool} ") for line in long), long
