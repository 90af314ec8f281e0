"""preport -f chrome --stacks: sampled functions as slices of a timeline."""
import subprocess

import pytest

from conftest import FIXTURES, TOOLS, fixture_files
from known_recording import EXEC, FAULTS, KTEXT, Recording
from profiles import chrome, chrome_stacks, json_table, preport

MS = 1_000_000
OUT, PREEMPT = 1 << 13, 1 << 14
LESS = ("37", "87")     # no times; samples overlap
APP, LIB, KERNEL = "[app]", "[libx.so.1]", "[[kernel.kallsyms]]"


def a_program():
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x7000, 0x1000, "/lib/libx.so.1")
    return it


def stacks(it, tmp_path, *options):
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    return chrome_stacks(preport("-f", "chrome", "--stacks", *options, path))


def test_a_sample_stands_for_the_time_of_its_weight(tmp_path):
    """Functions of samples in a row go on; a time without a sample is empty."""
    it = a_program()
    it.sample(10 * MS, 10, MS, 0x7010, 0x1010)
    it.sample(11 * MS, 10, MS, KTEXT + 16, 0x7010, 0x1010)
    it.sample(14 * MS, 10, MS, 0x1010)
    it.sample(15 * MS + 99, 10, MS, 0x1020)     # a timer that is late
    it.sample(16 * MS, 10, 3 * MS, 0x1030)      # not before the sample before
    it.sample(16 * MS, 10, 5, 0x7010, event=FAULTS)
    it.sample(16 * MS, 10, 5, 0x7010)           # at the time of another one
    assert stacks(it, tmp_path) == {(10, 10): [
        ((APP, LIB), 0, MS), ((APP, LIB, KERNEL), MS, 2 * MS), ((APP,), 4 * MS, 7 * MS)]}


def test_slices_of_functions_are_inside_those_of_the_kernels_switches(tmp_path):
    it = a_program()
    it.switch(10 * MS, 10, 10, 0)
    it.sample(11 * MS, 10, MS, 0x1010)
    it.switch(12 * MS, 10, 10, OUT)
    it.switch(20 * MS, 10, 10, 0)
    it.sample(21 * MS, 10, 9 * MS, 0x1010)      # it runs since 20 only
    it.sample(22 * MS, 10, MS, 0x7010, 0x1010)
    it.switch(23 * MS, 10, 10, OUT | PREEMPT)
    it.switch(24 * MS, 10, 10, 0)
    it.sample(24 * MS, 10, MS, 0x1010)          # no time since then
    running, blocked, preempted = "running", "blocked", "preempted"
    assert stacks(it, tmp_path) == {(10, 10): [
        ((running, APP), MS, 2 * MS), ((running,), 2 * MS, 3 * MS), ((blocked,), 3 * MS, 11 * MS),
        ((running, APP), 11 * MS, 12 * MS), ((running, APP, LIB), 12 * MS, 13 * MS),
        ((running,), 13 * MS, 14 * MS), ((preempted,), 14 * MS, 15 * MS)]}


def test_waits_are_slices_of_their_stacks(tmp_path):
    it = a_program()
    it.sample(11 * MS, 10, MS, 0x7010, 0x1010)
    it.switch(12 * MS, 10, 10, OUT)
    it.switch(20 * MS, 10, 10, 0)
    it.sample(21 * MS, 10, MS, 0x1010)
    wait = "[blocked, approximate]"
    assert stacks(it, tmp_path, "--off-cpu") == {(10, 10): [
        ((wait, APP, LIB), MS, 9 * MS)]}
    assert stacks(it, tmp_path, "--wall") == {(10, 10): [
        ((wait, APP, LIB), MS, 9 * MS), ((APP,), 9 * MS, 10 * MS)]}


def test_a_sample_of_a_count_stands_for_the_time_since_the_one_before(tmp_path):
    it = a_program()
    for time in (100, 250, 300):
        it.sample(time, 10, 7, 0x1010 if time < 300 else 0x7010, event=FAULTS)
    assert stacks(it, tmp_path) == {(10, 10): [((APP,), 0, 150), ((LIB,), 150, 200)]}


def test_idle_is_kept_as_in_all_files_for_programs(tmp_path):
    it = a_program()
    it.sample(11 * MS, 0, MS, KTEXT + 16, cpu=3)
    assert stacks(it, tmp_path) == {(0, 3): [((KERNEL,), 0, MS)]}


def test_weights_beyond_all_times(tmp_path):
    it = a_program()
    it.sample(MS, 10, 2**56 - 1, 0x1010)
    it.sample(2 * MS, 10, 2**56 - 1, 0x7010)
    assert stacks(it, tmp_path) == {(10, 10): [((APP,), 0, MS), ((LIB,), MS, 2 * MS)]}


def test_where_samples_stand_for_no_time_that_is_said(tmp_path):
    for name in ("37-per-thread.data", "13-syscalls.data"):
        done = subprocess.run([TOOLS / "preport", "-f", "chrome", "--stacks",
                               FIXTURES / "perf" / name], capture_output=True, check=False)
        assert done.returncode == 0 and not any(chrome_stacks(done.stdout).values())
        assert b"stand for no time: --stacks adds nothing" in done.stderr


@pytest.mark.parametrize("options", [[], ["-f", "firefox"], ["-f", "folded"], ["-f", "script"],
                                     ["-f", "flamegraph"]])
def test_it_is_for_chrome(options):
    preport("--stacks", *options, "x", status=2)


@pytest.mark.long
def test_more_than_viewers_open_is_refused(tmp_path):
    it = a_program()
    ours, other = ([address + 16 * i for i in range(120)] for address in (0x1000, 0x7000))
    for i in range(60000):
        it.sample((i + 1) * MS, 10, MS, *(other if i % 2 else ours))
    path, out = tmp_path / "perf.data", tmp_path / "out.trace.json"
    path.write_bytes(it.file())
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-o", out, "--stacks", path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 4 and not out.exists()
    assert done.stderr == (f"preport: {path}: --stacks gives more than 500 MB, which viewers do "
                           "not open: choose with --time or --tid, or --thin=N\n")
    preport("-o", out, "--stacks", "--thin=1000", path)
    assert chrome_stacks(out.read_bytes())


@pytest.mark.parametrize("file", [file for file in fixture_files() if not file.is_directory],
                         ids=lambda file: file.name)
def test_captures_have_all_they_have_without_and_slices_that_nest(file):
    out = preport("-f", "chrome", "--stacks", file.path, status=(0, 1, 3, 5))
    if not out:
        return
    got, want = chrome_stacks(out), chrome(preport("-f", "chrome", file.path, status=(0, 1)))
    assert set(got) <= set(want[2])
    table = json_table(preport("-f", "json", "--idle=keep", file.path, status=(0, 1)))
    named = sum(end - start for spans in got.values() for stack, start, end in spans
                if stack[-1] not in ("running", "blocked", "preempted"))
    if table["unit"] == "ns":
        assert named <= 1.05 * table["total"]
    if table["unit"] == "ns" and file.name[:2] not in LESS:
        assert named > 0.9 * table["total"]
