"""make static: tools that run without shared libraries and without /proc."""
import os
import shutil
import subprocess

import pytest

from conftest import FIXTURES, TOOLS
from installed import KEEP_FLAGS, is_sanitized, make

CAPTURE = FIXTURES / "perf" / "01-basic.data"
PROGRAMS = ("pdecode", "pencode", "prepair", "precord", "preport", "pquery")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A directory with the programs, a recording and nothing else."""
    if is_sanitized(TOOLS / "libdecode.a"):
        pytest.skip("sanitizers need their shared libraries")
    make(*KEEP_FLAGS, "static")
    top = tmp_path_factory.mktemp("root")
    for program in PROGRAMS:
        shutil.copy(TOOLS / "static" / program, top)
    shutil.copy(CAPTURE, top / "perf.data")
    return top


@pytest.fixture
def run(root):
    """Function: runs a program with this root directory; returns its standard output."""
    if os.geteuid() != 0:
        pytest.skip("only root may chroot")

    def run(*command):
        done = subprocess.run(["chroot", str(root), *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout
    return run


@pytest.mark.parametrize("program", PROGRAMS)
def test_asks_for_no_dynamic_linker(root, program):
    segments = subprocess.run(["readelf", "-lW", root / program], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    assert "INTERP" not in segments and "Elf file type is DYN" in segments


@pytest.mark.parametrize("program", PROGRAMS)
def test_version(run, program):
    assert run(f"/{program}", "--version").decode().startswith(f"{program} ")


def test_there_and_back(run, root, run_pdecode):
    assert run("/pdecode", "/perf.data") == run_pdecode([root / "perf.data"]).stdout
    run("/pdecode", "-j2", "-o", "/out.json", "/perf.data")
    run("/pencode", "-o", "/back.data", "/out.json")
    assert (root / "back.data").read_bytes() == CAPTURE.read_bytes()


def test_repair(run, root):
    run("/prepair", "-o", "/fixed.data", "/perf.data")
    assert (root / "fixed.data").stat().st_size > 0


def test_record_and_names(run, root):
    (root / "spin.c").write_text(
        "int main(void) { for (volatile int i = 0; i < 100000000; i++) {} return 0; }\n")
    subprocess.run(["gcc", "-static", "-o", root / "spin", root / "spin.c"], check=True)
    run("/precord", "-e", "cpu-clock", "-o", "/spin.data", "--", "/spin")
    assert b'"type":"SAMPLE"' in run("/pdecode", "-f", "jsonl", "/spin.data")
    named = run("/pdecode", "-f", "jsonl", "--symbols", "/spin.data")
    assert named.count(b'"symbol":"main"') > 10
