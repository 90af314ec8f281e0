"""The summary's lines: whether a profile can be trusted."""
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, fixture_files
from known_recording import CONTEXT_USER, EXEC, USER, Recording
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import folded, preport, text

CAPTURES = [file for file in fixture_files() if not file.is_directory]
READ = attr("IP|TID|TIME|READ|CALLCHAIN|IDENTIFIER", type=1, config=0, sample_period=1000,
            read_format="TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP",
            flags=("freq", "sample_id_all", "exclude_guest"))
MEMBER = attr("IP|TID|TIME|READ|CALLCHAIN|IDENTIFIER", type=1, config=2, sample_period=0,
              read_format="TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP")


def group(values, tmp_path, times=(100, 25)):
    """A recording of samples with the values [(leader, member)] of a group of two."""
    records = [r.comm(10, 10, "app", EXEC, sid=sample_id(READ, time=1, identifier=1))]
    for i, pair in enumerate(values):
        records.append(sample(
            READ, misc=USER, pid=10, tid=10, time=10 + i, ip=0x1010, identifier=1,
            callchain=[CONTEXT_USER, 0x1010],
            read={"time_enabled": times[0], "time_running": times[1],
                  "values": [(pair[0], 1, 0), (pair[1], 2, 0)]}))
    path = tmp_path / "group.data"
    path.write_bytes(File(attrs=[(READ, [1]), (MEMBER, [2])], records=records).build())
    return path


def test_events_of_a_group_count_what_they_gained(tmp_path):
    path = group([(1000, 5), (1700, 5), (2100, 9)], tmp_path)
    assert text(folded(preport("-f", "folded", path))) == {"app;[unknown]": 2100}
    out = preport(path).decode()
    assert "3 samples of cpu-clock" in out
    assert "also recorded: 2 samples of page-faults:HG (in the same group)" in out
    assert "counted 25 % of the time" in out
    got = preport("-f", "folded", "-e", "page-faults", path)
    assert text(folded(got)) == {"app;[unknown]": 9}


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
@pytest.mark.parametrize("name", ["10-group-leader-sampling", "98-group-lead-tp"])
def test_groups_count_as_perf_counts_them(name):
    path = next(file.path for file in CAPTURES if file.name.startswith(name))
    perf = subprocess.run(["perf", "report", "--stdio", "-i", path], capture_output=True,
                          timeout=TIMEOUT, text=True).stdout
    events = re.search(r"{ (.*) }", perf)[1].split(", ")
    stacks = [folded(preport("-f", "folded", f"--weight={weight}", "-e", event, path))
              for event in events for weight in ("period", "samples")]
    sums = [sum(stack.values()) for stack in stacks]
    assert sum(sums[1::2]) == int(re.search(r"# Samples: (\d+)", perf)[1])
    assert sum(sums[::2]) == int(re.search(r"Event count .approx..: (\d+)", perf)[1])


def test_weights_too_large_for_a_sum_are_an_error(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.sample(10, 10, 2**63, 0x1010)
    it.sample(11, 10, 2**63 - 1, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert text(folded(preport("-f", "folded", path))) == {"app;[unknown]": 2**64 - 1}
    it.sample(12, 10, 1, 0x1010)
    path.write_bytes(it.file())
    out = tmp_path / "out.folded"
    preport("-o", out, path, status=3)
    assert not out.exists()


@pytest.mark.parametrize("step, is_told", [(1_000_000, True), (1_003_009, False)])
def test_samples_in_lockstep_with_a_timer(tmp_path, step, is_told):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(200):
        it.sample(10_000_000 + i * step, 10, 1, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert ("lockstep with a timer of 1.0 ms" in preport(path).decode()) == is_told
