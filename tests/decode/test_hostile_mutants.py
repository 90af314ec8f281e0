"""Mutants of files, the same in each run, in one process with the sanitizers: the properties of
tests/fuzz/ hold for each.

`make check` builds the driver (tests/fuzz/mutate.c) with the sanitizers; without it these tests are
skipped.
"""
import os
import re
import subprocess

import pytest

from conftest import FIXTURES, SANITIZER_REPORT, TOOLS
from perfdata.catalog import write

pytestmark = pytest.mark.sanitize

SMALL = 12_000      # bytes: larger files find little more and take longer
# A file of each container, one with all features, unfinished ones.
CUT = ("file.le", "event-types.be", "gap.le", "pipe.le", "features-pipe.be", "zstd2-2.le",
       "zstd-auxtrace-after.be", "feature-event-desc.le", "attr-stride-larger.be", "killed.le",
       "tail.be", "late-attrs.le")
SMALLEST = ["37-per-thread", "67-stat-record-pipe", "95-zstd-pipe"]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """The paths of the files of the catalogue, which have every layout."""
    paths = write(str(tmp_path_factory.mktemp("catalogue")))
    return {name: path for name, path in paths.items() if os.path.isfile(path)
            and os.path.getsize(path) < SMALL}


@pytest.fixture(scope="module")
def captures():
    return sorted(str(path) for path in (FIXTURES / "perf").iterdir() if path.is_file()
                  and path.stat().st_size < SMALL)


@pytest.fixture
def mutate(tmp_path):
    """Function: runs the driver of a target; returns the number of inputs."""
    def run(target, *args):
        program = TOOLS / f"mutate_{target}"
        if not program.exists():
            pytest.skip(f"{program} is not built (make SAN=1 mutators)")
        done = subprocess.run([program, *map(str, args)], capture_output=True, cwd=tmp_path,
                              timeout=1200)
        kept = tmp_path / "mutant.crash"
        if done.returncode:
            said = done.stderr[-4000:].decode(errors="replace")
            where = f"\nThe input is in {kept}" if kept.exists() else ""
            pytest.fail(f"exit {done.returncode} (a sanitizer's is {SANITIZER_REPORT})\n"
                        f"{said}{where}", pytrace=False)
        return int(re.search(rb": (\d+) inputs", done.stdout)[1])
    return run


def test_random_mutants_decode(mutate, catalogue, captures):
    assert mutate("decode", "random", 30_000, *captures, *catalogue.values()) == 30_000


@pytest.mark.long
def test_random_mutants_come_back(mutate, catalogue, captures):
    assert mutate("roundtrip", "random", 8_000, *captures, *catalogue.values()) == 8_000


def test_the_catalogue_turns(mutate, catalogue):
    """To the other byte order and back."""
    assert mutate("order", "whole", *catalogue.values()) == len(catalogue)


@pytest.mark.long
def test_every_length_comes_back(mutate, catalogue):
    paths = [catalogue[name] for name in CUT]
    assert (mutate("roundtrip", "truncate", *paths)
            == sum(os.path.getsize(path) for path in paths))


@pytest.mark.long
@pytest.mark.parametrize("name", SMALLEST)
def test_every_length(name, mutate):
    path = FIXTURES / "perf" / f"{name}.data"
    assert mutate("decode", "truncate", path) == path.stat().st_size


def test_every_bit(mutate):
    path = FIXTURES / "perf" / "67-stat-record-pipe.data"
    assert mutate("decode", "flip", path) == 8 * path.stat().st_size


def test_every_bit_of_a_header(mutate, catalogue):
    path = catalogue["two-attrs.le"]
    assert mutate("decode", "flip", path) == 8 * os.path.getsize(path)


@pytest.mark.long
def test_counts_and_sizes(mutate, catalogue):
    """Numbers found by the layout tables become 0, 1, the largest, the largest but one. Every other
    file is big-endian."""
    paths = [path for i, path in enumerate(catalogue.values()) if i % 16 in (0, 9)]
    assert mutate("decode", "counts", *paths) > 10_000
