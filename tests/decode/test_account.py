"""Every byte of the input is counted once: the kept, skipped and lost bytes that pdecode and
prepair report add up to the file's size.

The numbers are compared with the file and with the records that are shown, for mutants of captures
and for files cut at any byte. scripts/mutants does the same for all of its mutants.
"""
import importlib.machinery
import importlib.util
import json
import random
import struct
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import FIXTURES, ROOT, TOOLS
from perfdata import records as r
from perfdata.case import attr
from perfdata.catalog import write
from perfdata.container import File, Pipe
from perfdata.sample import sample
from perfdata.wire import Wire, encode

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
ATTR = attr("IP|TID|TIME")


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


mutants = load_script("mutants")


def faults_of(path):
    return mutants.account_faults(TOOLS, path)


@pytest.mark.parametrize("name", mutants.FILES)
@pytest.mark.long
def test_mutants(name, tmp_path):
    """Some mutants of each kind of damage."""
    data = (PERF / f"{name}.data").read_bytes()
    draw = random.Random(name)
    path = tmp_path / "perf.data"
    for way in mutants.WAYS:
        for i in range(3):
            path.write_bytes(mutants.damage(way, data, draw)[0])
            assert faults_of(path) == [], (way, i)


@pytest.mark.long
def test_the_catalogue(tmp_path):
    """Every layout and container, in one byte order."""
    paths = write(str(tmp_path))
    for name in sorted(paths)[::5]:
        # the parts of a packed file are those of what it unpacks to
        if (tmp_path / paths[name]).is_file() and not name.startswith("gzip"):
            assert faults_of(paths[name]) == [], name


@pytest.mark.parametrize("name", ["20-threads.data", "96-zstd-threads.data"])
def test_directories(name, decode, run_pdecode):
    path = PERF / name
    total = sum(file.stat().st_size for file in path.glob("data*"))
    account = decode(path)["summary"]["account"]
    assert account["total"] == total and account["unread"] == account["skipped"] == 0
    for threads in "1", "3":
        assert (json.loads(run_pdecode(["-f", "stats", "-j", threads, path]).stdout)["account"]
                == account)


@pytest.mark.parametrize("name", ["01-basic.data", "16-zstd.data", "18-pipe.data"])
def test_ways_in(name, decode, run_pdecode):
    """A stream has the same account as the file."""
    path = PERF / name
    account = decode(path)["summary"]["account"]
    assert account["total"] == path.stat().st_size
    done = run_pdecode(["-f", "stats", "-"], input=path.read_bytes())
    assert json.loads(done.stdout)["account"] == account


@pytest.mark.parametrize("name", mutants.FILES)
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(cut=st.floats(0.02, 1), zeros=st.sampled_from([0, 1, 8, 5000]), no_size=st.booleans())
def test_cuts(name, cut, zeros, no_size, tmp_path_factory):
    data = bytearray((PERF / f"{name}.data").read_bytes())
    if no_size and data[8] != 16:
        data[48:56] = bytes(8)
    path = tmp_path_factory.getbasetemp() / "cut.data"
    path.write_bytes(data[:int(len(data) * cut)] + bytes(zeros))
    assert faults_of(path) == []


@pytest.mark.parametrize("damage, lost", [
    (lambda data: data, 0),
    (lambda data: data + b"rubbish", 7),
    (lambda data: data + bytes(5000), 0),
    (lambda data: data[:-9], None),
], ids=["intact", "a gap", "zeros", "cut"])
def test_prepair_says_nothing_is_lost_only_when_so(damage, lost, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(damage((PERF / "01-basic.data").read_bytes()))
    done = subprocess.run([TOOLS / "prepair", "--json", "-o", tmp_path / "fixed", path],
                          capture_output=True)
    report = json.loads(done.stdout)
    if lost is None:
        assert done.returncode == 1 and report["lost"]["bytes"] > 0
        return
    assert (done.returncode, report["lost"]["bytes"]) == (int(lost > 0), lost)
    assert (f"{lost} bytes lost" in done.stderr.decode()) is (lost > 0)


AUX = b"\xa5" * 4096


@pytest.mark.parametrize("claimed", [len(AUX), len(AUX) + 8, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_data_after_a_record_that_are_cut(kind, claimed, tmp_path, run_pdecode):
    """The bytes that are there count, not those that the record states; also if the input ends
    unexpectedly."""
    aux, head = encode(r.auxtrace(AUX), Wire()), r.header_attr(ATTR, [1])
    before = sample(ATTR, ip=1, pid=2, tid=3, time=4)
    data = bytearray(File(attrs=[(ATTR, [1])], records=[before, aux]).build() if kind == "file" else
                     Pipe([head, before, aux]).build())
    struct.pack_into("<Q", data, len(data) - len(aux) + 8, claimed)
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    assert faults_of(path) == []
    done = run_pdecode(["-f", "stats", "-"], input=bytes(data))
    stats = json.loads(done.stdout)
    assert (stats["by_type"]["AUXTRACE"]["bytes"] == len(aux)
            and stats["account"]["total"] == len(data))


def test_a_false_account_is_found(tmp_path):
    """The check does not take the expected numbers from the tools."""
    path = PERF / "01-basic.data"
    lines = mutants.decoded(TOOLS, path)
    assert mutants.decode_faults(lines, path.read_bytes()) == []
    for key in "total", "records", "skipped", "gaps", "unread":
        wrong = json.loads(json.dumps(lines))
        wrong[-1]["account"][key] += 1
        assert mutants.decode_faults(wrong, path.read_bytes())
