"""pdecode --utc: wall times beside the recording's own."""
import datetime
import gzip
import json
import re

import pytest

import perf_oracle
from conftest import ROOT, strict_json, strict_json_lines
from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, Pipe
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from schema_check import complaints

pytestmark = pytest.mark.sanitize

REALTIME, MONOTONIC, PERF_CLOCK = 0, 1, 0xffffffff
SECOND = 1_000_000_000
CLOCK_NS = 5000 * SECOND + 250
WALL_NS = 1_700_000_000 * SECOND + 7   # 2023-11-14T22:13:20.000000007Z
TYPE = "IDENTIFIER|IP|TID|TIME|CPU|PERIOD"


def event(clockid=None, **more):
    flags = ("sample_id_all",) if clockid is None else ("sample_id_all", "use_clockid")
    return Attr(type=1, config=0, sample_period=1, sample_type=TYPE, flags=flags,
                clockid=clockid or 0, **more)


def clock_data(clockid, wall=WALL_NS, clock=CLOCK_NS):
    return {NUMBER["CLOCK_DATA"]: f.clock_data(clockid, wall, clock)}


def records_of(attr, times, id=1):
    """A sample at each time, and records that have a time of their own or in the trailer."""
    at = times[0]
    return [sample(attr, id=id, ip=0x1000, pid=1, tid=1, time=time, cpu=0, period=1)
            for time in times] + [
        r.fork(1, 1, 2, 1, at, sid=sample_id(attr, pid=1, tid=1, time=at, id=id)),
        r.comm(1, 2, "x", sid=sample_id(attr, pid=1, tid=2, time=at + 1, id=id)),
        r.comm(1, 3, "synthesized", sid=sample_id(attr)),
    ]


def rfc3339(ns):
    """Python's own calendar, which does not know ns."""
    whole = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // SECOND)
    return whole.strftime("%Y-%m-%dT%H:%M:%S") + f".{ns % SECOND:09}Z"


def pairs(value):
    """(time, time_utc) of all objects that have a time."""
    if isinstance(value, dict):
        if "time" in value:
            yield value["time"], value.get("time_utc")
        for inside in value.values():
            yield from pairs(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from pairs(inside)


@pytest.fixture(params=["file", "big-endian", "pipe", "gzip"])
def write(request, tmp_path):
    def write(attrs, records, features):
        path = tmp_path / "utc.data"
        order = ">" if request.param == "big-endian" else "<"
        if request.param == "pipe":
            heads = [r.header_attr(attr, ids) for attr, ids in attrs]
            heads += [r.header_feature(number, part) for number, part in features.items()]
            path.write_bytes(Pipe(records=heads + records).build(order))
        else:
            data = File(attrs=attrs, records=records, features=features).build(order)
            path.write_bytes(gzip.compress(data) if request.param == "gzip" else data)
        return path
    return write


@pytest.mark.parametrize("attr, data", [
    (event(MONOTONIC), clock_data(MONOTONIC)), (event(), clock_data(PERF_CLOCK)),
    (event(REALTIME), {}),
], ids=["mono", "perf's own", "realtime"])
def test_wall_times(attr, data, write, decode, run_pdecode):
    offset = WALL_NS - CLOCK_NS if data else 0
    base = CLOCK_NS if data else WALL_NS
    times = [base + step for step in (0, 1, -1, SECOND, -3 * SECOND - 8, 86_400 * SECOND,
                                      107 * 86_400 * SECOND)]
    path = write([(attr, [1])], records_of(attr, times), data)
    found = list(pairs(decode(path, "--utc")["records"]))
    assert found == [(time, rfc3339(time + offset) if time else None) for time, _ in found]
    assert (len(found) == len(times) + 4 and [pair for pair in found if pair[1] is None]
            == [(0, None)])
    assert run_pdecode(["--utc", path]).stderr == b""


def test_only_adds_its_key(write, run_pdecode):
    attr = event(MONOTONIC)
    records = [record for n in range(3000)
               for record in records_of(attr, [CLOCK_NS + n * 777_777_777])]
    path = write([(attr, [1])], records, clock_data(MONOTONIC))
    for shape in "json", "jsonl":
        one = run_pdecode(["-f", shape, "-j", 1, "--utc", path]).stdout
        for jobs in 1, 2, 5:
            args = ["-f", shape, "-j", jobs, path]
            without, found = run_pdecode(args).stdout, run_pdecode([*args, "--utc"]).stdout
            assert re.subn(rb',"time_utc":"[^"]*"', b"", found) == (without, 9000 + 3000)
            assert found == one


def test_every_day_of_the_calendar(tmp_path, decode):
    """Leap years, the year 2000, and years divisible by 4 that have no leap day."""
    attr = event(REALTIME)
    days = [day for year in (1972, 1999, 2000, 2023, 2024, 2099, 2100, 2101, 2400, 2553)
            for day in range(*[(datetime.date(year, month, 1) - datetime.date(1970, 1, 1)).days - 2
                               for month in (1, 4)])]
    times = [day * 86_400 * SECOND + (day * 1_234_567_891_011) % (86_400 * SECOND) for day in days]
    path = tmp_path / "days.data"
    path.write_bytes(
        File(attrs=[(attr, [1])], records=[sample(attr, id=1, time=time) for time in times]).build(
            "<"))
    assert list(pairs(decode(path, "--utc")["records"])) == [(time, rfc3339(time))
                                                             for time in times]


@pytest.mark.parametrize("clockid", [MONOTONIC, PERF_CLOCK])
def test_as_perf_shows_them(clockid, tmp_path, perf, decode):
    """perf script -F tod does not look at the number of the clock."""
    attr = event(None if clockid == PERF_CLOCK else clockid)
    path = tmp_path / "tod.data"
    times = [CLOCK_NS + step for step in (-1, 0, 1, 3_999_999_999, 86_400 * SECOND)]
    records = [sample(attr, id=1, ip=0x1000, pid=1, tid=1, time=time, period=1) for time in times]
    path.write_bytes(File(attrs=[(attr, [1])], records=records,
                          features=clock_data(clockid)).build("<"))
    _, out, err = perf_oracle.run_perf(perf, ["script", "-i", path, "--ns", "-F", "tod"])
    theirs = [f"{day}T{time}Z" for day, time in re.findall(r"(\S+) (\d\d:\d\d:\d\d\.\d{9})", out)]
    assert theirs == [utc for _, utc in pairs(decode(path, "--utc")["records"])], err


UNTIED = ("the recording does not tie its clock to wall time: precord does, and perf record with "
          "-k mono")


@pytest.mark.parametrize("attr, data", [
    (event(), {}), (event(), clock_data(MONOTONIC)), (event(MONOTONIC), {}),
    (event(MONOTONIC), clock_data(PERF_CLOCK)),
    (event(MONOTONIC), {NUMBER["CLOCK_DATA"]: b"\1\0\0\0\1\0\0\0"}),
], ids=["no clock data", "of another clock", "no data for mono", "of perf's clock", "cut"])
def test_unknown_is_absent_and_told_once(attr, data, write, run_pdecode):
    path = write([(attr, [1])], records_of(attr, [CLOCK_NS, CLOCK_NS + 1]), data)
    for shape in "json", "jsonl":
        without, done = run_pdecode(["-f", shape, path]), run_pdecode(["-f", shape, "--utc", path])
        assert (done.returncode, done.stdout) == (without.returncode, without.stdout)
        told = [line for line in done.stderr.decode().splitlines() if "--utc" in line]
        assert told == [f"pdecode: {path}: --utc: {UNTIED}"]


def test_times_that_no_calendar_has_are_absent(tmp_path, decode):
    """Before 1970, and where the sum does not fit."""
    attr = event(MONOTONIC)
    path = tmp_path / "far.data"
    times = [1, 2**63, 2**64 - 1]
    path.write_bytes(File(attrs=[(attr, [1])],
                          records=[sample(attr, id=1, time=time) for time in times],
                          features=clock_data(MONOTONIC, wall=SECOND, clock=5 * SECOND)).build("<"))
    assert ([utc for _, utc in pairs(decode(path, "--utc")["records"])]
            == [None, rfc3339(2**63 - 4 * SECOND), None])


def test_two_clocks(tmp_path, run_pdecode):
    """One event's clock is tied, the other's is not."""
    tied, other = event(MONOTONIC), event(7, config1=1)
    path = tmp_path / "two.data"
    path.write_bytes(File(attrs=[(tied, [1]), (other, [2])], features=clock_data(MONOTONIC),
                          records=[
        sample(tied, id=1, time=CLOCK_NS), sample(other, id=2, time=CLOCK_NS)]).build("<"))
    done = run_pdecode(["--utc", path])
    assert list(pairs(strict_json(done.stdout)["records"])) == [(CLOCK_NS, rfc3339(WALL_NS)),
                                                                (CLOCK_NS, None)]
    assert (done.stderr.decode()
            == (f"pdecode: {path}: --utc: event cpu-clock:HG has a clock that the recording does "
                "not tie to "
                "wall time\n"))


def test_holds_the_schema_and_goes_back(write, run_pdecode, pencode_path, tmp_path):
    import subprocess
    attr = event(MONOTONIC)
    path = write([(attr, [1])], records_of(attr, [CLOCK_NS]), clock_data(MONOTONIC))
    done = run_pdecode(["--utc", path])
    assert not complaints("document.schema.json", json.loads(done.stdout))
    for line in strict_json_lines(run_pdecode(["-f", "jsonl", "--utc", path]).stdout):
        assert not complaints("line.schema.json", line)
    whole = path.read_bytes()
    back = subprocess.run([pencode_path, "-o", tmp_path / "back.data"], input=done.stdout,
                          stderr=subprocess.PIPE, check=True)
    assert back.stderr == b"" or b"wrote" in back.stderr
    assert (tmp_path / "back.data").read_bytes() == (gzip.decompress(whole)
                                                     if whole[:2] == b"\x1f\x8b" else whole)


@pytest.fixture(scope="module")
def pencode_path(pdecode):
    return pdecode.parent / "pencode"


def test_captures_without_the_option_have_none(run_pdecode):
    for name in ("01-basic.data", "18-pipe.data"):
        assert b"time_utc" not in run_pdecode([ROOT / "fixtures" / "perf" / name]).stdout
