"""pd/index.h: a reader started from an entry gives the records that come from the start."""
import random

import pytest

from conftest import FIXTURES

PERF = FIXTURES / "perf"


@pytest.fixture
def run(installed):
    return lambda *arguments: installed.run("api_index.c", "static", *arguments)[1]


def numbers(output):
    assert "WRONG" not in output and "failed" not in output, output
    words = output.split()
    assert words[::2] == ["records", "entries", "compared"]
    return tuple(map(int, words[1::2]))


@pytest.mark.sanitize
def test_every_capture(fixture_file, run):
    records, entries, compared = numbers(run(fixture_file.path, 17))
    assert entries >= records // 17 - 1 and (compared or not entries)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "19-pipe-tp.data", "20-threads.data",
                                  "96-zstd-threads.data"])
def test_built_in_batches(name, run):
    _, entries, _ = numbers(run(PERF / name, 10, "batches"))
    assert entries >= 5


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["18-pipe.data", "12-tracepoints.data", "16-zstd.data"])
def test_each_record(name, run):
    records, entries, _ = numbers(run(PERF / name, 1))
    assert entries > records / 2


@pytest.mark.sanitize
@pytest.mark.parametrize("seed", range(10))
def test_damaged(seed, run, tmp_path):
    some = random.Random(seed)
    name = some.choice(["02-callgraph-fp", "18-pipe", "12-tracepoints", "13-syscalls"])
    data = bytearray((PERF / f"{name}.data").read_bytes())
    for _ in range(some.randrange(1, 6)):
        at = some.randrange(len(data) // 4, len(data))
        data[at:at + 8] = some.randbytes(8)
    path = tmp_path / "damaged"
    path.write_bytes(data)
    numbers(run(path, some.choice([1, 3, 20])))


@pytest.mark.sanitize
def test_refused(run):
    output = run("refused", PERF / "02-callgraph-fp.data", PERF / "18-pipe.data")
    assert output == "1 1 0 -1 -1 -1 -1 ARGUMENT\n"
