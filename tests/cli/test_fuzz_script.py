"""scripts/fuzz: a failing target is reported, and the other targets still run. Each target limits
the CPU time for each byte."""
import os
import re
import subprocess

import pytest

from conftest import ROOT

TARGET = """#!/bin/sh
prefix=$(printf '%s\\n' "$@" | sed -n 's/^-artifact_prefix=//p')
case "$*" in
*-merge=1*) {merge} ;;
*) echo 'stat::number_of_executed_units: 7'; {run} ;;
esac
"""
FAIL = "echo 'property broken: planted'; echo x > ${prefix}crash-1; "


def fuzz(where, jobs=1, **targets):
    (where / "build" / "fuzz").mkdir(parents=True)
    for name, (merge, run) in targets.items():
        program = where / "build" / "fuzz" / f"fuzz_{name}"
        program.write_text(TARGET.format(merge=merge, run=run))
        program.chmod(0o755)
    return subprocess.run([ROOT / "scripts" / "fuzz", "1", *(f"{name}=seeds" for name in targets)],
                          cwd=where, capture_output=True, text=True, check=False,
                          env={**os.environ, "JOBS": str(jobs)})


def test_all_good(tmp_path):
    done = fuzz(tmp_path, a=(":", ":"), b=(":", ":"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all targets              14 executions" in done.stdout
    assert "found" not in done.stdout and "failed" not in done.stdout


def test_a_failure_does_not_stop_the_others(tmp_path):
    done = fuzz(tmp_path, a=(":", FAIL + "exit 77"), b=(":", ":"))
    assert done.returncode == 1
    assert "fuzz_a: property broken: planted" in done.stdout
    assert "fuzz_a: found build/fuzz/a.found/crash-1" in done.stdout
    assert "fuzz_b                    7 executions" in done.stdout
    assert done.stdout.endswith("failed: a\n")


def test_two_run_at_once(tmp_path):
    """Each waits for the other's start."""
    waits = ("touch {0}; n=0; until test -e {1}; do sleep 0.05; n=$((n + 1)); "
             "test $n -lt 200 || exit 1; done")
    done = fuzz(tmp_path, 2, a=(":", waits.format("a", "b")), b=(":", waits.format("b", "a")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all targets              14 executions" in done.stdout


def test_a_finding_of_the_merge_is_a_failure(tmp_path):
    """A merge leaves out the inputs that fail, and ends well."""
    done = fuzz(tmp_path, a=(FAIL, ":"), b=(":", ":"))
    assert done.returncode == 1
    assert "fuzz_a: property broken: planted" in done.stdout
    assert "fuzz_a: found build/fuzz/a.found/crash-1" in done.stdout
    assert "fuzz_b                    7 executions" in done.stdout


def test_a_program_that_does_not_run(tmp_path):
    done = fuzz(tmp_path, a=("exit 1", "exit 1"), b=(":", ":"))
    assert done.returncode == 1
    assert done.stdout.endswith("failed: a\n")


@pytest.mark.parametrize("target", sorted((ROOT / "tests" / "fuzz").glob("fuzz_*.c")),
                         ids=lambda path: path.stem)
def test_each_target_limits_its_time(target):
    """Through the functions that decode and encode, or by itself."""
    assert re.search(r"\bfuzz_(check_time|decode|encode)\(", target.read_text())
