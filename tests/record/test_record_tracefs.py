"""precord and tracefs: mounted, not mounted, and that nothing is left behind in it."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import TOOLS, TRACEFS
from recorder import (  # noqa: F401
    lock_probes, needs_root, precord, record, run_precord, start_precord, wait_for, workload)
from rights import needs

pytestmark = [needs_root, pytest.mark.skipif(not shutil.which("unshare"), reason="no unshare")]


@pytest.fixture
def without_tracefs(tmp_path):
    """Function: runs a shell command line in a mount namespace without tracefs; returns what is
    mounted afterwards."""
    def run(command):
        script = (
            "while umount /sys/kernel/tracing || umount /sys/kernel/debug; do :; done 2>/dev/null\n"
            f"{command}\necho $?; grep -c tracefs /proc/self/mounts")
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60)
        if "unshare" in done.stderr:
            pytest.skip(f"no mount namespace: {done.stderr}")
        return done
    return run


def test_a_tracefs_that_is_not_mounted_stays_so(without_tracefs, workload, decode, tmp_path):
    done = without_tracefs(
        f"{TOOLS}/precord -o perf.data -e sched:sched_switch -- {workload} switch 20")
    assert done.stdout.splitlines() == ["0", "0"], done.stderr
    document = decode(tmp_path / "perf.data")
    samples = [r for r in document["records"] if r["type"] == "SAMPLE"]
    assert len(samples) >= 20 and "prev_comm" in samples[0]["raw"]["tracepoint"]["fields"]


def test_probes_without_a_mounted_tracefs(lock_probes, without_tracefs, workload, decode, tmp_path):
    done = without_tracefs(f"{TOOLS}/precord -o perf.data -e 'uprobe:{workload}:probed "
                           f"value=%di:s64' -- {workload} call 3")
    assert done.stdout.splitlines() == ["0", "0"], done.stderr
    values = [r["raw"]["tracepoint"]["fields"]["value"]
              for r in decode(tmp_path / "perf.data")["records"]
              if r["type"] == "SAMPLE"]
    assert values == [0, 1, 2]


def test_probes_with_a_read_only_tracefs(without_tracefs, workload, decode, tmp_path):
    """Only the PMU is left, whose probes new processes don't inherit: forks would fail."""
    done = without_tracefs(
        f"mount -t tracefs -o ro tracefs /sys/kernel/tracing; mount -o remount,bind,ro "
        f"/sys/kernel/tracing; {TOOLS}/precord -o perf.data -e uprobe:{workload}:probed -- "
        f"sh -c '{workload} call 3; exec {workload} call 2'")
    assert done.stdout.splitlines()[0] == "0", done.stderr
    assert "new threads and processes are not recorded" in done.stderr
    assert [r["type"] for r in decode(tmp_path / "perf.data")["records"]].count("SAMPLE") == 2


@pytest.mark.parametrize("options", ["--list 'sched:*'", "--doctor"])
def test_looking_mounts_nothing(without_tracefs, options):
    done = without_tracefs(
        f"{TOOLS}/precord {options} | grep -E 'sched:sched_switch|^ok +tracepoints'")
    assert done.stdout.splitlines()[-2:] == ["0", "0"], done.stdout


def change_probes(line):
    fd = os.open(TRACEFS / "uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def left_probes(workload):
    """Those of this program: the machine may have others."""
    return [line for line in (TRACEFS / "uprobe_events").read_text().splitlines()
            if "precord_" in line and str(workload) in line]


@pytest.fixture
def killed(lock_probes, start_precord, workload):
    """Kills a recorder that has set a probe; the probe's line in tracefs, which is removed in the
    end."""
    process = start_precord("-o", "killed.data", "-e", f"uprobe:{workload}:probed value=%di:s64",
                            "--", workload, "spin", "3000")
    line = wait_for(lambda: [line for line in left_probes(workload)
                             if f"_{process.pid}_" in line])[0]
    assert "precord_" in line
    process.kill()
    process.wait()
    yield line
    if line in left_probes(workload):
        change_probes("-:" + line.split()[0].partition(":")[2])


@needs("tracepoints")
def test_the_doctor_finds_and_removes_leftovers(killed, run_precord, workload):
    assert killed in left_probes(workload)
    done = run_precord("--doctor", stdout=subprocess.PIPE)
    found = re.search(rb"no    (\d+) probes of killed recorders remain in tracefs", done.stdout)
    assert done.returncode == 1 and int(found[1]) >= 1
    assert killed in left_probes(workload)
    done = run_precord("--doctor", "--clean", stdout=subprocess.PIPE)
    assert b"ok    removed %s probes of killed recorders from tracefs" % found[1] in done.stdout
    assert killed not in left_probes(workload)
    assert run_precord("--clean", "--", "true").returncode == 2


@needs("tracepoints")
def test_the_next_probe_removes_leftovers_and_nothing_else(killed, start_precord, record,
                                                               workload):
    change_probes(f"p:precord_1_1_1/of_another_namespace {workload}:0x1000")
    other = start_precord("-o", "other.data", "-e", f"uprobe:{workload}:probed value=%di:s64", "--",
                          workload, "spin", "3000")
    try:
        running = wait_for(lambda: [line for line in left_probes(workload)
                                    if f"_{other.pid}_" in line])
        run = record("-e", f"uprobe:{workload}:probed value=%di:s64", does="call 2")
        assert len(run.samples) == 2
        assert killed not in left_probes(workload) and running[0] in left_probes(workload)
        assert [line for line in left_probes(workload) if "of_another_namespace" in line]
    finally:
        change_probes("-:precord_1_1_1/of_another_namespace")
    other.terminate()
    other.wait()
    assert not left_probes(workload)
