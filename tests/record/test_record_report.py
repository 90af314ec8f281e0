"""precord --flamegraph, --top and --off-cpu: a recording and what preport makes of it."""
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from profiles import folded, page, preport
from recorder import needs_root, precord, record, run_precord, workload   # noqa: F401

CLOCK = ["-e", "cpu-clock", "-F", "1999"]


@pytest.fixture
def run(precord, tmp_path):    # noqa: F811
    def go(*options, status=0):
        done = subprocess.run([precord, *options], cwd=tmp_path, capture_output=True, text=True,
                              timeout=TIMEOUT)
        assert done.returncode == status, (done.returncode, done.stderr)
        return done
    return go


def spin(status=0):
    return ["sh", "-c", f"i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit {status}"]


@needs_root
def test_a_recording_with_its_table_and_picture(run, tmp_path):
    done = run(*CLOCK, "--top", "--flamegraph=app.html", "--", *spin(3), status=3)
    assert "samples of cpu-clock" in done.stdout and "hottest path" in done.stdout
    assert "no call graphs" not in done.stdout      # -g is implied
    assert "Wrote app.html" in done.stderr
    about, nodes, _ = page((tmp_path / "app.html").read_bytes())
    assert about["event"] == "cpu-clock" and len(nodes) > 3
    assert (tmp_path / "perf.data").exists()


@needs_root
def test_without_preport_the_recording_stays(precord, tmp_path):    # noqa: F811
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(precord, alone / "precord")
    done = subprocess.run([alone / "precord", *CLOCK, "--top", "--", *spin()], cwd=tmp_path,
                          capture_output=True, text=True, timeout=TIMEOUT,
                          env={"PATH": "/nowhere:/bin"})
    assert done.returncode == 4 and "preport could not be started" in done.stderr
    assert preport(tmp_path / "perf.data")


@pytest.mark.parametrize("options, word", [
    (["--top", "-o", "-"], "'-o -'"), (["--flamegraph", "--switch-output"], "--switch-output")])
def test_reports_need_one_file(run, options, word):
    assert word in run(*options, "--", "true", status=2).stderr


@pytest.mark.parametrize("options, word", [
    (["--flamegraph=x.pb.gz"], "writes .html and .svg, not 'x.pb.gz'"),
    (["--flamegraph=a/x.json"], "writes .html and .svg, not 'a/x.json'"),
    (["--flamegraph", "app.html"], "--flamegraph=app.html"),
    (["--flamegraph", "app.svg", "--"], "--flamegraph=app.svg")])
def test_the_file_of_a_flame_graph_is_checked_before_the_recording(run, tmp_path, options, word):
    assert word in run(*options, "true", status=2).stderr
    assert not list(tmp_path.iterdir())


@needs_root
def test_a_flame_graph_is_a_picture_by_its_name(run, tmp_path):
    run(*CLOCK, "--flamegraph=app.svg", "--", *spin())
    assert (tmp_path / "app.svg").read_bytes().startswith(b"<svg ")


@needs_root
def test_time_off_the_cpu_has_the_stack_of_the_switch(run, tmp_path):
    done = run("--off-cpu", "-F", "1999", "-o", "perf.data", "--", "sleep", "0.3")
    assert "off-CPU time from sched:sched_switch" in done.stderr
    out = preport("--off-cpu", tmp_path / "perf.data", symbols=()).decode()
    assert "[blocked]" in out and "approximate" not in out
    assert 0.29 < float(out.split("off-CPU: ")[1].split(" s")[0]) < 3


CALLS = """
static volatile unsigned long sink;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void middle(int n) { leaf(n); sink++; }
int main(void) { for (int i = 0; i < 100; i++) middle(1000000); return 0; }
"""


@needs_root
def test_copied_stacks_are_unwound(run, tmp_path):
    (tmp_path / "calls.c").write_text(CALLS)
    subprocess.run(["cc", "-O1", "-fomit-frame-pointer", "-o", "calls", "calls.c"], cwd=tmp_path,
                   check=True)
    run(*CLOCK, "--call-graph", "dwarf", "-o", "perf.data", "--", "./calls")
    weights = folded(preport(tmp_path / "perf.data", "-f", "folded", symbols=()))
    whole = sum(weight for stack, weight in weights.items()
                if stack[-3:] == (b"main", b"middle", b"leaf"))
    assert whole > 0.9 * sum(weights.values())
    cut = re.search(rb"stacks: ([\d.]+) % cut", preport(tmp_path / "perf.data", symbols=()))
    assert cut and float(cut[1]) < 10       # nothing on an idle machine
