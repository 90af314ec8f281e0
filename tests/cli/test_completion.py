"""Completion in bash, zsh and fish, run by the shells."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS

TRACEPOINTS = ["sched:sched_switch", "sched:sched_stat_wait", "cycles", "cache-misses", "cpu-clock"]
# Replaces a tool: lists the same events on all machines, and prints its arguments.
STAND_IN = f"""#!/bin/sh
test "$1" != --list-names || exec printf '%s\\n' {' '.join(TRACEPOINTS)}
printf '\\nGIVEN'; printf '<%s>' "$@"; echo
"""
# A command line, and its end after Tab, which is the same if there is no completion.
LINES = [
    ("precord -e sched:sched_sw", "sched:sched_switch"),
    ("precord --event=sched:sched_sw", "--event=sched:sched_switch"),
    ("precord -e cycles,cpu", "cycles,cpu-clock"),
    ("precord -e cycles,sched:sched_st", "cycles,sched:sched_stat_wait"),
    ("precord -a -e cac", "cache-misses"),
    ("precord --call-graph d", "dwarf"), ("precord --call-graph=l", "--call-graph=lbr"),
    ("precord -k mono_", "mono_raw"),
    ("precord -j any_call,in", "any_call,in"), ("precord -j any_call,in_", "any_call,in_tx"),
    ("precord -j ab", "abort_tx"),
    ("precord --synth cg", "cgroup"), ("precord --threads=nu", "--threads=numa"),
    ("precord -F m", "max"),
    ("precord --switch-output=s", "--switch-output=signal"), ("precord --control fi", "fifo:"),
    ("precord -u roo", "root"),
    ("precord --call-gr", "--call-graph"), ("precord -o some", "some file"),
    ("precord -e nosuch", "nosuch"),
    ("pdecode --format js", "json"), ("pdecode -f st", "stats"),
    ("pdecode --types MMAP2,LOST_", "MMAP2,LOST_SAMPLES"),
    ("pdecode --types NAM", "NAMESPACES"), ("pdecode --schema=KSY", "--schema=KSYMBOL"),
    ("pdecode --sandbox=al", "--sandbox=always"),
    ("pdecode --blobs o", "omit"), ("pdecode some", "some file"), ("pdecode -i some", "some file"),
    ("pdecode --completion ba", "bash"),
    ("pencode --byte-order b", "big"), ("pencode --mode pi", "pipe"),
    ("prepair --sandbox=n", "--sandbox=never"),
    ("prepair some", "some file"),
]
AMBIGUOUS = {"precord -j any_call,in", "pdecode --format js"}   # in_tx and ind_call; json and jsonl
NAMES = ["pdecode", "pencode", "prepair", "precord", "preport", "pquery"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with the replaced tools, their completions, and a file."""
    top = tmp_path_factory.mktemp("completion")
    for name in NAMES:
        if not (TOOLS / name).exists():
            pytest.skip(f"no {name} here")
        for shell, path in (("bash", f"{name}.bash"), ("zsh", f"zsh/_{name}"),
                            ("fish", f"{name}.fish")):
            (top / path).parent.mkdir(exist_ok=True)
            done = subprocess.run([TOOLS / name, "--completion", shell], capture_output=True,
                                  check=True, timeout=TIMEOUT)
            (top / path).write_bytes(done.stdout)
        (top / "bin").mkdir(exist_ok=True)
        (top / "bin" / name).write_text(STAND_IN)
        (top / "bin" / name).chmod(0o755)
    (top / "files").mkdir()
    (top / "files" / "some file").touch()
    return top


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, command, place, setup):
        environment = {"PATH": f"{place}/bin:{os.environ['PATH']}", "TERM": "dumb",
                       "HOME": str(place), "LC_ALL": "C.UTF-8", "COLUMNS": "300",
                       "HISTFILE": "/dev/null"}
        self.here, there = pty.openpty()
        self.process = subprocess.Popen(command, stdin=there, stdout=there, stderr=there,
                                        cwd=place / "files", env=environment,
                                        start_new_session=True)
        os.close(there)
        self.run(setup + "; echo RE''ADY", "READY")

    def run(self, text, until):
        """Types a line; returns the output up to the pattern."""
        os.write(self.here, text.encode() + b"\r")
        seen, end = "", time.monotonic() + 30
        while not re.search(until, seen):
            ready, _, _ = select.select([self.here], [], [], max(0, end - time.monotonic()))
            assert ready, f"{text!r}: {seen!r}"
            seen += os.read(self.here, 65536).decode(errors="replace")
        return seen

    def complete(self, line):
        """The arguments that the command gets after Tab."""
        seen = self.run(line + "\t", r"GIVEN(<[^>]*>)+\r?\n")
        return re.findall(r"<([^>]*)>", re.findall(r"GIVEN((?:<[^>]*>)+)", seen)[-1])

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.here)


def need(shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here: its completion is not tried (apt-get install {shell})")


@pytest.fixture(scope="module")
def bash(place):
    need("bash")
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], place,
                        f"bind 'set bell-style none'; PS1='> '; for f in {place}/*.bash; do . $f; "
                        "done")
    yield terminal
    terminal.close()


@pytest.fixture(scope="module")
def zsh(place):
    need("zsh")
    terminal = Terminal(["zsh", "-f", "-i"], place,
                        f"unsetopt beep; PROMPT='> '; setopt noautomenu noautolist; "
                                                    f"fpath=({place}/zsh $fpath); autoload -U "
                                                    "compinit; compinit -D -u")
    yield terminal
    terminal.close()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_tab(shell, request):
    terminal = request.getfixturevalue(shell)
    wrong = {line: given for line, end in LINES for given in [terminal.complete(line)]
             if given[-1] != end}
    assert not wrong


def test_fish(place):
    """fish can print its completions."""
    need("fish")

    def offers(line):
        done = subprocess.run(["fish", "-c", f"for f in {place}/*.fish; source $f; end; "
                                             'complete -C "$line"'],
                              capture_output=True, text=True, timeout=TIMEOUT, check=True,
                              cwd=place / "files",
                              env={**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}",
                                   "HOME": str(place), "XDG_CONFIG_HOME": str(place),
                                   "line": line})
        assert not done.stderr, done.stderr
        return [offer.split("\t")[0].replace("\\", "") for offer in done.stdout.splitlines()]
    wrong = {line: found for line, end in LINES if line not in AMBIGUOUS for found in [offers(line)]
             if (end in found) == (end == line.split()[-1])}
    assert not wrong


# --- what is offered is right ---------------------------------------------------------------------

def words_of(tool, option):
    """The words that bash offers."""
    script = subprocess.run([TOOLS / tool, "--completion", "bash"], capture_output=True, text=True,
                            check=True, timeout=TIMEOUT)
    return re.search(rf"(?m)^\t(?:\S*\|)?--{option}=\).*printf '%s\\n' (.*?)\);",
                     script.stdout)[1].split()


def test_types_are_known():
    for name in words_of("pdecode", "types"):
        done = subprocess.run([TOOLS / "pdecode", "-f", "stats", "--types", name,
                               FIXTURES / "perf" / "01-basic.data"],
                              capture_output=True, timeout=TIMEOUT, check=False)
        assert (done.returncode, done.stderr) == (0, b""), name
    assert {"SAMPLE", "MMAP2", "COMPRESSED"} <= set(words_of("pdecode", "types"))


@pytest.mark.parametrize("option", ["branch-filter", "clockid", "call-graph", "synth"])
def test_values_of_precord_are_taken(option):
    """precord accepts the offered values, and they are those in its help."""
    text = subprocess.run([TOOLS / "precord", "--help"], capture_output=True, text=True, check=True,
                          timeout=TIMEOUT).stdout
    row = re.search(rf"(?ms)^ +(?:-\w, )?--{option} .*?(?=^ +(?:-\w, )?--)", text)[0]
    for word in words_of("precord", option):
        assert re.search(rf"\b{word}\b", row), word
        done = subprocess.run([TOOLS / "precord", "--print-attr", "-e", "dummy:u", f"--{option}",
                               word],
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert done.returncode != 2, done.stderr
