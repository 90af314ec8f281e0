"""A damaged time of one sample, with a bit that makes it minutes or centuries wrong: it is
reported, and the others alone tell when the recording began and ended."""
import json
import struct
import subprocess

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS
from encoding import document, pdecode

pytestmark = pytest.mark.sanitize

DATA = (FIXTURES / "perf" / "01-basic.data").read_bytes()
TIME = 8 + 8 + 8  # after the header, ip, pid and tid
REPORT = "1 sample has a time far outside of the recording's"


def preport(*args):
    return subprocess.run([TOOLS / "preport", "--no-symbols", *args], capture_output=True,
                          text=True, timeout=TIMEOUT)


def damaged(path, bit, which=10):
    """The recording with one bit changed in the time of a sample."""
    samples = [r for r in document(DATA)["records"] if r["type"] == "SAMPLE"]
    data = bytearray(DATA)
    at = samples[which]["offset"] + TIME
    assert struct.unpack_from("<Q", data, at)[0] == samples[which]["time"]
    data[at + bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    return path


def whole(tmp_path):
    path = tmp_path / "whole.data"
    path.write_bytes(DATA)
    return path


@pytest.mark.parametrize("bit", [33, 41, 50, 60, 63])
def test_the_table(bit, tmp_path):
    path = damaged(tmp_path / "bit.data", bit)
    before, after = preport(whole(tmp_path)), preport(path)
    assert (before.returncode, after.returncode) == (0, 1)
    assert REPORT in after.stderr and REPORT not in before.stderr
    assert before.stdout.replace("whole.data", "") == after.stdout.replace("bit.data", "")


@pytest.mark.parametrize("bit", [41, 60])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_formats_with_times(bit, jobs, tmp_path):
    def last(path):
        out = tmp_path / "out.json"
        preport(path, "-f", "firefox", "-j", jobs, "-o", out)
        threads = json.loads(out.read_text())["threads"]
        return max(max(t["samples"]["time"]) for t in threads if t["samples"]["length"])

    assert last(damaged(tmp_path / "bit.data", bit)) == last(whole(tmp_path))


def test_tables(tmp_path):
    path = damaged(tmp_path / "bit.data", 60)
    sql = "select first_time, last_time from files"
    found = [subprocess.run([TOOLS / "pquery", sql, file], capture_output=True,
                            timeout=TIMEOUT).stdout
             for file in (whole(tmp_path), path)]
    assert found[0] and found[0] == found[1]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("bit", [54, 60, 63])
def test_totals(jobs, bit, tmp_path):
    path = damaged(tmp_path / "bit.data", bit)
    keys = ("first_time", "last_time")
    for args in ["-f", "stats"], ["-f", "json", "--blobs", "omit"]:
        before, after = (json.loads(pdecode(file, *args, "-j", jobs)[1])
                         for file in (whole(tmp_path), path))
        before, after = (d.get("summary", d) for d in (before, after))
        assert [before[key] for key in keys] == [after[key] for key in keys]


def test_a_span_that_is_damaged_is_not_used(tmp_path):
    """First and last sample of SAMPLE_TIME in the wrong order, or centuries apart."""
    times = document(DATA)["features"]["SAMPLE_TIME"]
    at = DATA.rindex(struct.pack("<QQ", times["first"], times["last"]))
    for byte, bit in (7, 6), (15, 6):
        data = bytearray(DATA)
        data[at + byte] ^= 1 << bit
        path = tmp_path / "span.data"
        path.write_bytes(data)
        assert REPORT.split(" has ")[1] not in preport(path).stderr
        done = preport(path, "--time", "0%-50%")
        assert "use times" in done.stderr
