"""Statistics and JSON map a file that only the user can write: the results are the same, memory is
bounded, and the program survives a file that shrinks meanwhile."""
import collections
import functools
import json
import os
import subprocess

import pytest

from compiled import preloaded, run
from conftest import TOOLS
from perfdata.attr import Attr
from perfdata.container import File, zstd_records
from perfdata.sample import sample
from perfdata.wire import Wire, encode, slist
from recorder import run_measured

EVENT = Attr(type=1, config=0, sample_type="IP|TID|TIME")
COUNT = 30000
MIB = 1 << 20
SAID = "it shrank while it was read, or parts can't be read: zeros replace what is missing"
ENDS = "the file has shrunk since it was opened"
Read = collections.namedtuple("Read", "mapped in_memory records sum result mapped_at_the_end")


@functools.cache
def recording(count=COUNT):
    """Samples with random content, encoded: they can't be compressed."""
    return encode([sample(EVENT, ip=i * 0x9e3779b97f4a7c15 % 2**64, pid=1, tid=i, time=1000 + i)
                   for i in range(count)], Wire("<"))


def write(path, body, mode=0o600, **parts):
    path.write_bytes(File(attrs=[(EVENT, [1])], records=[body], **parts).build("<"))
    path.chmod(mode)
    return path


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    return write(tmp_path_factory.mktemp("mapped") / "own.data", recording())


def read(access, path, limit=256 * MIB, skip=0):
    code, lines = run("map_own", access, limit, skip, path)
    assert code == 0
    return Read(int(lines[0]), int(lines[1]), int(lines[2]), lines[3], int(lines[4]), int(lines[5]))


def test_an_own_file_is_mapped(own):
    plain, mapped = read("read", own), read("map", own)
    assert plain.mapped == 0 and plain.records == COUNT
    assert mapped.mapped > own.stat().st_size // 2 and mapped.mapped_at_the_end == 0
    assert mapped[2:] == plain[2:]


@pytest.mark.parametrize("limit, is_mapped", [(7 * MIB, False), (8 * MIB, True)])
def test_little_memory_is_left_for_all_else(limit, is_mapped, own):
    assert (read("map", own, limit).mapped > 0) == is_mapped


@pytest.mark.parametrize("args", [["-f", "stats"], ["-f", "json"], ["-f", "json", "--header-only"]])
def test_a_large_feature_needs_its_size_of_memory(args, run_pdecode, tmp_path):
    path = write(tmp_path / "large.data", recording(), features={11: slist(["x" * 1_100_000])})
    done = run_pdecode([*args, "--memory", "3M", path])
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == run_pdecode([*args, path]).stdout


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_is_read(mode, tmp_path):
    path = write(tmp_path / "shared.data", recording(5000), mode)
    assert path.stat().st_size > 1 << 17
    assert read("map", path) == read("read", path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file away")
def test_a_file_of_somebody_else_is_read(tmp_path):
    path = write(tmp_path / "others.data", recording(5000))
    os.chown(path, 1000, 1000)
    assert read("map", path) == read("read", path)


def test_little_memory_is_for_reading(own):
    assert read("map", own, limit=900 << 10) == read("read", own)


def test_a_piece_of_a_large_file_is_in_memory(tmp_path):
    path = write(tmp_path / "large.data", recording(1000) * 1500)
    assert path.stat().st_size > 40 * MIB
    plain, mapped = read("read", path), read("map", path)
    assert mapped.mapped > 40 * MIB
    assert MIB < mapped.in_memory < 8 * MIB     # the kernel maps several pages for each fault
    assert mapped[2:] == plain[2:] and plain.records == 1500000


@pytest.mark.parametrize("skip", [1, 4096, 5000])
def test_from_where_the_descriptor_is(skip, own, tmp_path):
    path = tmp_path / "after.data"
    path.write_bytes(b"\xff" * skip + own.read_bytes())
    path.chmod(0o600)
    mapped = read("map", path, skip=skip)
    assert mapped.mapped > 0 and mapped[2:] == read("read", own)[2:]


@pytest.mark.parametrize("form", ["stats", "jsonl"])
def test_captures_are_read_alike(form, data_file, run_pdecode, tmp_path):
    """A mapped file gives the same as one that is read because others can write it."""
    if data_file.is_directory:
        pytest.skip("links into a directory: one file is enough here")
    results = []
    for mode in (0o600, 0o666):
        path = tmp_path / data_file.path.name
        path.write_bytes(data_file.path.read_bytes())
        path.chmod(mode)
        done = run_pdecode(["-f", form, path])
        results.append((done.returncode, done.stdout, done.stderr))
    assert results[0] == results[1]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_json_keeps_few_pages(jobs, tmp_path):
    """Threads read pages that the reader has left: those that come back are dropped again."""
    path = write(tmp_path / "large.data", recording(1000) * 3000)
    assert path.stat().st_size > 80 * MIB
    command = [TOOLS / "pdecode", "-f", "jsonl", "-j", jobs, "-o", "/dev/null", path]
    done, kib = run_measured(command, tmp_path)
    assert done.returncode == 0 and kib < 40 * 1024


# --- SIGBUS ---------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def shrink(tmp_path_factory):
    return preloaded("shrink", tmp_path_factory.mktemp("shrink"))


def shrunk(library, path, to, *args, tool="pdecode", form="stats", **more):
    environment = dict(os.environ, LD_PRELOAD=str(library), SHRINK=str(path), SHRINK_TO=str(to),
                       **more)
    return subprocess.run([TOOLS / tool, "-f", form, "--sandbox=never", *args, path],
                          env=environment, timeout=60, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_shrinks_is_counted_up_to_there(jobs, shrink, tmp_path):
    path = write(tmp_path / "shrinks.data", recording())
    size = path.stat().st_size
    done = shrunk(shrink, path, size // 2, "-j", jobs)
    assert path.stat().st_size == size // 2
    assert done.returncode == 1 and f"pdecode: {path}: {SAID}\n" in done.stderr
    counts = json.loads(done.stdout)
    assert COUNT // 2 - 200 < counts["by_type"]["SAMPLE"]["records"] <= COUNT // 2 + 200
    assert counts["errors_by_code"]["IO"] == 1


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_json_says_that_a_file_shrank(jobs, shrink, tmp_path):
    path = write(tmp_path / "shrinks.data", recording())
    done = shrunk(shrink, path, path.stat().st_size // 2, "-j", jobs, form="jsonl")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and f"pdecode: {path}: {SAID}\n" in done.stderr
    assert [line["code"] for line in lines if line["kind"] == "error"][-1] == "IO"
    whole = [line for line in lines if line.get("type") == "SAMPLE"]
    assert COUNT // 2 - 200 < len(whole) <= COUNT // 2 + 200
    assert all(line["tid"] == i for i, line in enumerate(whole[:COUNT // 2 - 200]))


@pytest.mark.parametrize("form", ["stats", "jsonl"])
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_file_that_shrinks_ends_there(form, jobs, shrink, tmp_path):
    """Also between two records: pieces that are not mapped yet are read."""
    path = write(tmp_path / "shrinks.data", recording(1000) * 1500)
    done = shrunk(shrink, path, 20 * MIB, "-j", jobs, form=form)
    assert done.returncode == 1 and ENDS in done.stderr and SAID not in done.stderr
    end = json.loads(done.stdout.splitlines()[-1])
    assert end["errors"] == 1 and 19.9 * MIB < end["account"]["records"] <= 20 * MIB


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_decompressed_bytes_may_vanish_as_well(jobs, shrink, tmp_path):
    path = write(tmp_path / "shrinks.data", [zstd_records(recording(), pieces=7)])
    done = shrunk(shrink, path, os.sysconf("SC_PAGESIZE"), "-j", jobs, SHRINK_IN_ZSTD="1")
    assert done.returncode == 1 and SAID in done.stderr
    assert "SAMPLE" not in json.loads(done.stdout)["by_type"]


def test_preport_reads_a_file_that_shrinks_up_to_there(shrink, tmp_path):
    path = write(tmp_path / "shrinks.data", recording())
    done = shrunk(shrink, path, path.stat().st_size // 2, tool="preport", form="folded")
    assert done.returncode == 1 and f"preport: {path}: {SAID}\n" in done.stderr
    counted = sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines())
    assert COUNT // 2 - 200 < counted <= COUNT // 2 + 200


def test_pquery_counts_a_file_that_shrinks_up_to_there(shrink, tmp_path):
    path = write(tmp_path / "shrinks.data", recording())
    done = shrunk(shrink, path, path.stat().st_size // 2, "select count(*) from samples",
                  tool="pquery", form="csv")
    assert done.returncode == 1 and f"pquery: {path}: {SAID}" in done.stderr
    assert COUNT // 2 - 200 < int(done.stdout.split()[-1]) <= COUNT // 2 + 200


@pytest.mark.parametrize("tool, form, args", [
    ("preport", "folded", ()),
    ("pquery", "csv", ("select comm, count(*) from samples group by comm", ))])
def test_threads_survive_a_file_that_shrinks(tool, form, args, shrink, tmp_path):
    """SIGBUS ends a process in a thread that blocks it."""
    path = write(tmp_path / "shrinks.data", recording(1000) * 1500)
    done = shrunk(shrink, path, MIB, "-j", "2", *args, tool=tool, form=form, SHRINK_IN_THREAD="1")
    assert done.returncode == 1 and SAID in done.stderr
    assert path.stat().st_size == MIB


def test_a_file_that_stays_says_nothing(shrink, own):
    done = shrunk(shrink, own, own.stat().st_size)
    assert done.returncode == 0 and not done.stderr
