"""Recordings of precord, read by perf: no warnings, and the counts of pdecode."""
import re

import pytest

from perf_oracle import run_perf, total_events
from recorder import (  # noqa: F401
    lock_probes, needs_root, precord, record, run_precord, workload)
from rights import need, needs
from same_length import zip_all

CASES = {
    "clock": (["-e", "cpu-clock", "-F", "500"], "spin 50"),
    "call chains": (["-e", "cpu-clock", "-g", "-F", "500"], "spin 50"),
    "dwarf": (["-e", "cpu-clock:u", "--call-graph", "dwarf,1024", "-F", "200"], "spin 50"),
    "two events": (["-e", "cpu-clock,page-faults", "-F", "500"], "touch 500 spin 20"),
    "group": (["-e", "{cpu-clock,page-faults}:S", "-F", "500"], "touch 500 spin 20"),
    "registers": (["-e", "cpu-clock:u", "-I", "--user-regs", "-F", "200"], "spin 50"),
    "every field": (["-e", "minor-faults", "-c", "1", "-d", "--phys-data", "--data-page-size",
                     "--code-page-size", "-W", "--transaction", "-P", "--sample-cpu"], "touch 100"),
    "side-band": (["-e", "dummy", "--namespaces", "--switch-events", "--all-cgroups"],
                  "fork 2 thread 2 map 1 bpf 1"),
    "build ids in maps": (["-e", "cpu-clock:u", "--buildid-mmap"], "spin 20"),
    "compressed": (["-e", "cpu-clock", "-g", "-z", "-F", "1000"], "spin 100"),
    "compressed, small buffers": (["-e", "page-faults:u", "-c", "1", "-z", "-m", "16"],
                                  "touch 30000"),
    "compressed noise":
        (["-e", "page-faults:u", "-c", "1", "-z", "--call-graph", "dwarf,8192", "-m", "8M"],
         "noise 500"),
    "read": (["-e", "page-faults", "-c", "1", "-s"], "fork 3"),
    "overwrite": (["-e", "page-faults", "-c", "1", "--overwrite", "-m", "1"], "touch 500"),
    "per thread": (["-e", "cpu-clock:u", "--per-thread", "-F", "500"], "spin 50"),
    "clock id": (["-e", "cpu-clock:u", "-k", "mono"], "spin 20"),
    "lost": (["-e", "page-faults", "-c", "1", "-m", "1"], "touch 20000"),
    "whole machine": (["-a", "-e", "cpu-clock", "-F", "200"], "spin 50"),
    "tracepoints": (["-e", "sched:sched_switch,sched:sched_process_fork"], "fork 3 switch 20"),
    "probe": (["-e", "uprobe:{workload}:probed value=%di:s64"], "call 5"),
}
NEEDS = {
    "every field": ["kernel"], "side-band": ["namespaces"], "compressed noise": ["buffers"],
    "whole machine": ["machine"], "tracepoints": ["tracepoints"], "probe": ["root", "tracepoints"],
}


@pytest.fixture(params=CASES, name="run")
def run_fixture(request, record, workload):
    options, does = CASES[request.param]
    options = [option.replace("{workload}", str(workload)) for option in options]
    need(*NEEDS.get(request.param, ["events"]))
    if request.param == "probe":
        request.getfixturevalue("lock_probes")
    return record(*options, does=does)


def complaints(text):
    """Returns the warnings of perf, except those about kernel symbols, hints and progress."""
    fine = re.compile(
        r"kallsyms|kptr_restrict|\[kernel|kernel address|vmlinux|addr2line|^$|build.?id cache|"
        r"Kernel .*symbol|/proc/kcore|kernel map|^Check|^Samples|^As no|^can't be|^If some|"
        r"^Warning:$|Processed \d+ (events|samples) and lost|Check IO/CPU overload|overload")
    return [line for line in text.splitlines() if not fine.search(line)]


def test_perf_counts_the_same_records(run, perf):
    code, out, err = run_perf(perf, ["report", "--stats", "-i", run.path])
    assert (code, complaints(err)) == (0, [])
    counts = total_events(out)
    mine = dict(run.document["summary"]["by_type"])
    assert counts == mine


def test_perf_prints_every_sample(run, perf):
    code, out, err = run_perf(perf, ["script", "-F", "comm,tid,time,event", "-i", run.path])
    assert (code, complaints(err)) == (0, [])
    samples = run.samples
    if any("READ" in a["attr"]["sample_type"]["names"]
           and "GROUP" in a["attr"]["read_format"]["names"]
           for a in run.document["attrs"]):
        return      # perf prints one line for each member
    assert len(out.splitlines()) == len(samples)
    # The kernel gives tid -1 for a task that has exited; perf finds the names of all others.
    gone = sum(sample["tid"] == -1 for sample in samples)
    assert sum(line.split(None, 1)[0] == ":-1" for line in out.splitlines()) == gone


def test_perf_knows_the_events(run, perf):
    code, out, err = run_perf(perf, ["evlist", "-v", "-i", run.path])
    assert (code, complaints(err)) == (0, [])
    lines = [line for line in out.splitlines() if not line.startswith("#")]
    for attr, line in zip_all(run.document["attrs"], lines):
        assert line.startswith(attr["name"] + ": ")


def test_perf_reads_every_feature(run, perf):
    code, out, err = run_perf(perf, ["report", "--header-only", "-I", "-i", run.path])
    assert (code, complaints(err)) == (0, [])
    for words in ("# hostname :", "# os release :", "# arch :", "# nrcpus online :", "# cmdline :",
                  "# event :",
                  "# total memory :", "# CPU cache info:", "# node", "# pmu mappings:",
                  "# perf version : precord"):
        assert words in out


def sample_count(perf, path):
    code, out, _ = run_perf(perf, ["report", "--stats", "-i", path])
    assert code == 0
    return total_events(out)["SAMPLE"]


# perf 6.1 looks every feature bit up in a table that ends with its own features.
@pytest.mark.parametrize("options", [["-b"], ["-j"], ["-s"], ["-b", "-j"]], ids=" ".join)
def test_perf_injects(options, record, perf, tmp_path):
    run = record("-e", "cpu-clock", "-F", "500", does="spin 100")
    if "PD_SYMBOLS" not in run.document["features"]:
        pytest.skip("precord had no time for names: this machine has other work")
    code, _, err = run_perf(perf, ["inject", *options, "-i", run.path, "-o", tmp_path / "out"])
    assert (code, complaints(err)) == (0, [])
    assert sample_count(perf, tmp_path / "out") == len(run.samples) > 10
    code, out, err = run_perf(perf, ["script", "-F", "comm,ip", "-i", tmp_path / "out"])
    assert code == 0 and complaints(err) == [] and len(out.splitlines()) == len(run.samples)


def test_perf_unwinds_the_stacks(record, perf):
    run = record("-e", "cpu-clock:u", "--call-graph", "dwarf", "-F", "200", does="spin 100")
    code, out, err = run_perf(perf, ["script", "-F", "ip,sym", "-i", run.path])
    assert (code, complaints(err)) == (0, [])
    chains = [chain for chain in out.split("\n\n") if "spin_inner" in chain]
    assert chains
    unwound = [chain for chain in chains
               if re.search(r"spin_inner\n.* spin_middle\n.* spin\n.* main\n", chain)]
    assert len(unwound) > len(chains) / 2


@pytest.mark.parametrize("options", [[], ["-g"], ["-z"], ["-e", "page-faults"]], ids=" ".join)
@needs("events")
def test_perf_reads_a_stream(run_precord, workload, perf, tmp_path, options):
    with open(tmp_path / "stream", "wb") as stream:
        done = run_precord("-o", "-", "-e", "cpu-clock", "-F", "500", *options, "--", workload,
                           "spin", "100", stdout=stream)
    assert done.returncode == 0
    code, out, err = run_perf(perf, ["script", "-i", tmp_path / "stream"])
    assert (code, complaints(err)) == (0, [])
    assert (len(re.findall(r"cpu-clock|page-faults", out))
            == int(re.search(rb"\((\d+) samples", done.stderr).group(1)) > 10)
