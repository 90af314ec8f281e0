"""scripts/bench runs to its end and writes its measurements as JSON. Speed is not tested."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import ROOT, TOOLS
from recorder import event_works

pytestmark = pytest.mark.long
TIMEOUT = 120
KINDS = {"short", "chains", "dwarf", "tracepoints", "side-band"}


@pytest.fixture(scope="module", name="bench")
def bench_fixture(tmp_path_factory):
    """Function: runs a part of scripts/bench on small inputs; returns the JSON and the output."""
    for tool in ("pdecode", "precord"):
        if not os.access(TOOLS / tool, os.X_OK):
            pytest.skip(f"{TOOLS / tool} is not built")
    if not (TOOLS / "libdecode.a").is_file():
        pytest.skip(f"{TOOLS / 'libdecode.a'} is not built")
    if not shutil.which("gcc"):
        pytest.skip("no gcc for tests/bench")
    directory = tmp_path_factory.mktemp("bench")

    def run(part):
        target = directory / f"{part}.json"
        environment = {**os.environ, "BENCH_MB": "1", "BENCH_SYSCALLS": "20000",
                       "BENCH_SECONDS": "0"}
        done = subprocess.run([ROOT / "scripts" / "bench", TOOLS, "--quick", "--only", part,
                               "--output", target, "--instructions",
                               directory / "instructions.tsv"], env=environment, timeout=TIMEOUT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout[-4000:]
        return json.loads(target.read_text()), done.stdout, directory
    return run


def needs_events(*events):
    if os.geteuid() != 0:
        pytest.skip("tracepoints and kernel samples need root")
    for event in events:
        if not event_works(event):
            pytest.skip(f"{event} can't be recorded here")


def test_resolving(bench):
    document, printed, _ = bench("history")
    assert [row["input"] for row in document["history"]] == ["processes", "children"]
    for row in document["history"]:
        assert (row["found"] == row["addresses"] > 50_000 and row["named"] == row["samples"] > 5000
                and not row["left_out"])
        assert all("failed" not in program for program in row["programs"])
    assert "addresses a second, millions" in printed


def test_profiles(bench):
    needs_events("cpu-clock", "page-faults")
    document, printed, _ = bench("profiles")
    results = document["profiles"]
    assert [(result["part"], result["input"]["kind"]) for result in results] == [
        ("peers", "chains"), ("peers", "stacks"), ("threads", "stacks"), ("many", "stacks"),
        ("few with the kernel", "few"), ("few without the kernel", "few")]
    for result in results[:2]:
        names = [one["program"] for one in result["programs"]]
        assert {"preport folded", "preport top", "preport firefox"} <= set(names)
        assert result["samples"] > 100
    assert {"preport folded -j 1", "preport folded -j 2"} <= {
        one["program"] for one in results[2]["programs"]}
    assert results[3]["samples"] > 50_000 > results[4]["samples"] > 0
    assert all("failed" not in one for result in results for one in result["programs"]
               if one["program"].startswith("preport"))
    assert "preport pprof, of the cpu of folded" in printed
    assert "preport folded of 10 million samples, cpu s" in printed
    assert "preport" in printed.split("\ngoals\n")[1]


def test_symbols(bench):
    needs_events("cpu-clock")
    document, printed, _ = bench("symbols")
    rows = {row["input"]["kind"]: row for row in document["symbols"]}
    assert list(rows) == ["copied stacks", "frame pointers"]
    for row in rows.values():
        assert not [one for one in row["programs"] if "failed" in one]
        assert row["frames"] > 2 * row["samples"] > 200 and row["addresses"] > 50
        assert 1000 < row["carried"] < row["input"]["file_bytes"]
    goals = printed.split("\ngoals\n")[1]
    for words in ("stacks with inlined functions, of perf script, times",
                  "everything of 20,000 samples", "memory for copied stacks"):
        assert words in goals


def test_tables(bench):
    needs_events("cpu-clock", "page-faults")
    document, printed, _ = bench("tables")
    parts = {(row["part"], row["input"]["kind"]): row for row in document["tables"]}
    assert set(parts) == {("writing", "chains"), ("writing", "short"), ("writing", "stacks"),
                          ("sizes", "short"), ("sizes", "stacks"), ("queries", "stacks")}
    assert all("failed" not in one for row in parts.values() for one in row.get("programs", []))
    sizes = parts["sizes", "stacks"]
    assert 0 < sizes["tables"] < sizes["recorded"] < sizes["jsonl"]
    assert sizes["tables"] < sizes["zstd"] * 2 and "samples.parquet" in sizes["each"]
    goals = printed.split("\ngoals\n")[1]
    for words in ("stacks: perf.data, times all tables", "two threads against one, wall",
                  "chains: Arrow stream, million samples", "pquery by comm against perf script"):
        assert words in goals


def test_decoding(bench):
    needs_events("cpu-clock", "page-faults")
    if not shutil.which("perf"):
        pytest.skip("no perf in PATH")
    document, printed, _ = bench("decode")
    left_out = {entry["what"] for entry in document["skipped"]}
    kinds = {entry["input"]["kind"] for entry in document["decode"]}
    assert kinds | left_out >= KINDS | {kind + " zstd" for kind in KINDS}
    assert document["notes"] == []      # the hand-written loop printed the same lines
    for entry in document["decode"]:
        assert entry["input"]["bytes"] > 0.9e6
        for program in entry["programs"]:
            assert "failed" in program or program["wall"] > 0
            assert "failed" not in program or not program["program"].startswith("pdecode"), program
    assert len(document["growth"]) == 3
    assert "goals" in printed


def test_recording(bench):
    needs_events("cpu-clock", "raw_syscalls:sys_enter")
    document, _, _ = bench("recorder")
    tests = {(row["test"], row["recorder"]) for row in document["recorder"]}
    assert {("true", "precord"), ("syscalls", "precord"), ("own events", "precord")} <= tests


def test_instructions(bench):
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind")
    document, _, directory = bench("instructions")
    assert document["instructions"] and all(row["per_record"] > 0
                                            for row in document["instructions"])
    lines = (directory / "instructions.tsv").read_text().splitlines()
    assert lines[0].startswith("#") and len(lines) == 2 + len(document["instructions"])


def test_times_include_processes_that_nobody_waits_for(tmp_path):
    """As perf leaves its addr2line."""
    program, took = tmp_path / "timed", tmp_path / "took"
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-o", program, ROOT / "bench/programs/timed.c"],
                   check=True)
    loop = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
    for command in (loop, f"({loop}) & exit 0"):
        subprocess.run([program, took, "60", "sh", "-c", command], check=True)
        _, user, system, _, status = took.read_text().split()
        assert float(user) + float(system) > 0.05 and status == "0"
