"""A short run of scripts/soak: a busy machine is recorded completely. `make soak` takes ten
minutes."""
import os
import re
import subprocess

import pytest

from conftest import ROOT, TOOLS


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0,
                    reason="records the whole machine: needs root or CAP_PERFMON")
def test_a_short_soak():
    done = subprocess.run([ROOT / "scripts" / "soak", TOOLS, "--seconds", "5"], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    made = re.findall(r"(\w+) of \d+: ([\d,]+) made, ([\d,]+) FORK and ([\d,]+) EXIT", done.stdout)
    assert [what for what, *_ in made] == ["forks", "forks", "threads"]
    assert all(int(count.replace(",", "")) > 100 for _, count, *_ in made)
