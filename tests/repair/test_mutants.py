"""scripts/mutants, which makes the table of damaged files: it runs and counts; pdecode neither
crashes nor hangs."""
import json
import shutil
import subprocess

import pytest

from conftest import ROOT, TOOLS

COUNT = 25      # one of each file and kind of damage


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Its output, and the file that it wrote."""
    if not shutil.which("perf"):
        pytest.skip("perf is not here")
    numbers = tmp_path_factory.mktemp("mutants") / "mutants.json"
    done = subprocess.run([ROOT / "scripts" / "mutants", "-n", str(COUNT), "-o", numbers, TOOLS],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(numbers.read_text())


def sums(said, tool, key):
    return sum(run.get(key, 0) for run in said[1]["runs"] if run["tool"] == tool)


def test_every_tool_sees_every_mutant(said):
    text, numbers = said
    tools = {run["tool"] for run in numbers["runs"]}
    assert len(tools) == 4 and all(f"| `{tool}` |" in text for tool in tools)
    assert {sums(said, tool, "mutants") for tool in tools} == {COUNT}
    assert len({(run["file"], run["way"]) for run in numbers["runs"]}) == COUNT


def test_pdecode_recovers(said):
    tool = "pdecode -f jsonl"
    assert not sums(said, tool, "crashes") and not sums(said, tool, "hangs")
    for unit in ("records", "samples"):
        assert sums(said, tool, unit + "_shown") >= 0.98 * sums(said, tool, unit + "_intact") > 0


def test_perf_is_read_right(said):
    """perf shows nearly all records if single bits change; otherwise its output is misread."""
    for tool in ("perf script", "perf report -D", "perf data convert --to-json"):
        bits = [run for run in said[1]["runs"] if run["tool"] == tool and run["way"] == "bit"]
        intact = sum(run["samples_intact"] for run in bits)
        assert sum(run["samples_shown"] for run in bits) >= 0.5 * intact > 0
