"""The parser of hotspot, which others wrote, finds all samples of precord's recordings, and their
functions.

It is installed by scripts/clients, which make check-clients runs.
"""
import collections
import glob
import os
import pathlib
import struct
import subprocess

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS, strict_json
from named import TRIES, is_whole
from recorder import event_works, workload as workload_fixture

workload = workload_fixture     # a fixture
pytestmark = pytest.mark.skipif("PD_CLIENTS" not in os.environ, reason="run by make check-clients")
# The first byte of a message, and what of it is read.
SYMBOL, STRING, SAMPLE, TRACEPOINT_SAMPLE = 4, 5, 13, 14


def messages(path):
    """Message: the texts of all that are of its type. It writes "QPERFSTREAM" with a NUL, a
    version of 4 bytes, then messages after their sizes."""
    found = glob.glob("/usr/lib/*/libexec/hotspot-perfparser")
    if not found:
        pytest.skip("hotspot is not here")
    out = subprocess.run([found[0], "--input", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=True,
                         env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}).stdout
    assert out.startswith(b"QPERFSTREAM\0")
    by_type, at = collections.defaultdict(list), 16
    while at < len(out):
        size, = struct.unpack_from("<I", out, at)
        by_type[out[at + 4]].append(out[at + 5:at + 4 + size])
        at += 4 + size
    return by_type


def counted(by_type):
    return len(by_type[SAMPLE]) + len(by_type[TRACEPOINT_SAMPLE])


def samples_of(path):
    done = subprocess.run([TOOLS / "pdecode", "-f", "stats", path], stdout=subprocess.PIPE,
                          check=True)
    return strict_json(done.stdout)["by_type"].get("SAMPLE", {"records": 0})["records"]


@pytest.mark.parametrize("options", [
    ["-e", "cpu-clock"], ["-e", "cpu-clock", "-g"], ["-e", "cpu-clock", "--call-graph", "dwarf"],
    ["-e", "cpu-clock", "--switch-events", "-d", "--sample-cpu"],
    ["-e", "cpu-clock", "-e", "sched:sched_switch", "-g"], ["-e", "{cpu-clock,page-faults}:S"],
    ["--off-cpu"]], ids=" ".join)
def test_recordings_of_precord(options, workload, tmp_path):
    if "sched:sched_switch" in options and not event_works("sched:sched_switch"):
        pytest.skip("no tracepoints here")
    path = tmp_path / "perf.data"
    for _ in range(TRIES):
        subprocess.run([TOOLS / "precord", "-q", *options, "-o", path, "--", workload, "spin", "60",
                        "sleep", "5"], check=True, timeout=TIMEOUT)
        if is_whole(path):
            break
    found = messages(path)
    assert counted(found) == samples_of(path) > 20
    texts = b"".join(found[STRING])
    assert "spin_inner".encode() in texts and pathlib.Path(workload).name.encode() in texts
    assert found[SYMBOL]


@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "03-callgraph-dwarf.data"])
def test_files_of_pencode(name, tmp_path):
    """The JSON is edited, so that nothing is where it was."""
    text = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", FIXTURES / "perf" / name],
                          stdout=subprocess.PIPE, check=True).stdout
    kept = [line for line in text.splitlines(True) if b'"type":"FINISHED_ROUND"' not in line]
    path = tmp_path / "new.data"
    subprocess.run([TOOLS / "pencode", "-o", path], input=b"".join(kept), check=True)
    assert counted(messages(path)) == samples_of(FIXTURES / "perf" / name) > 0
