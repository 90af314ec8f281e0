"""preport of recordings with virtual machines: a thread of the host and one of a guest that have
the same number are two."""
import csv
import gzip
import io
import json

import pytest

from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import Pprof, folded, preport, text

pytestmark = pytest.mark.sanitize
EVENT = Attr(type=1, config=0, sample_period=1000, sample_type="IDENTIFIER|IP|TID|TIME|CPU|PERIOD",
             flags=("sample_id_all", "context_switch"))
HOST, GUEST, MACHINE = 1, 2, 500
USER, GUEST_USER, OUT = 2, 5, 1 << 13


def recording():
    """Both samples a second apart; the host's thread waits for 10 ms, the guest's for 3."""
    def of(id, time):
        return sample_id(EVENT, pid=7, tid=7, time=time, cpu=0, id=id)

    def there(id, name, path):
        return [r.comm(7, 7, name, 0, sid=of(id, 10)),
                r.mmap2(7, 7, 0x1000, 0x1000, 0, 8, 1, 5, 0, 5, 2, path, misc=USER,
                        sid=of(id, 11))]

    def at(id, time, misc, period):
        return sample(EVENT, misc, ip=0x1010, pid=7, tid=7, time=time, cpu=0, id=id, period=period)
    return [r.id_index([(HOST, 0, 0, -1), (GUEST, 0, 0, -1)], [(0, 0), (MACHINE, 0)]),
            *there(HOST, "host", "/host"), *there(GUEST, "guest", "/guest"),
            at(HOST, 1_000_000_000, USER, 5), at(GUEST, 2_000_000_000, GUEST_USER, 3),
            r.switch(OUT, sid=of(HOST, 3_000_000_000)),
            r.switch(OUT, sid=of(GUEST, 3_001_000_000)),
            r.switch(0, sid=of(GUEST, 3_004_000_000)),
            r.switch(0, sid=of(HOST, 3_010_000_000))]


@pytest.fixture
def path(tmp_path):
    it = tmp_path / "perf.data"
    it.write_bytes(File(attrs=[(EVENT, [HOST, GUEST])], records=recording()).build("<"))
    return it


def test_groups(path):
    stacks = text(folded(preport("-f", "folded", "--group", "pid,tid", path)))
    assert stacks == {"pid_7/7;[host]": 5, "pid_7@500/7@500;[guest]": 3}


def test_the_number_of_threads(path):
    assert b", 2 threads" in preport(path)


def test_threads_of_timelines(path):
    threads = json.loads(gzip.decompress(preport("-f", "firefox", path)))["threads"]
    assert {(it["pid"], it["tid"], it["name"], it["samples"]["length"]) for it in threads} == {
        ("7", 7, "host", 1), ("7@500", 7, "guest@500", 1)}
    events = json.loads(preport("-f", "chrome", path))["traceEvents"]
    assert {(it["pid"], it["tid"]) for it in events if it["ph"] == "i"} == {
        (7, 7), (MACHINE << 22 | 7, 7)}


def test_labels_of_pprof(path):
    profile = Pprof(preport("-f", "pprof", "--group", "tid", path))
    assert [labels for labels, *_ in profile.samples] == [{"tid": 7}, {"tid": "7@500"}]


@pytest.mark.parametrize("key", ["pid", "tid", "pid,tid"])
def test_rows_for_programs(path, key):
    rows = json.loads(preport("-f", "json", "--sort", key, path))["rows"]
    assert [[row[k] for k in key.split(",")] + [row.get("machine_pid")] for row in rows] == [
        [7] * len(key.split(",")) + [None], [7] * len(key.split(",")) + [MACHINE]]
    lines = list(csv.DictReader(io.StringIO(preport("-f", "csv", "--sort", key, path).decode())))
    assert [[row[k] for k in key.split(",")] + [row["machine_pid"]] for row in lines] == [
        ["7"] * len(key.split(",")) + [""], ["7"] * len(key.split(",")) + [str(MACHINE)]]
    assert b"7@500" in preport("--sort", key, path)


def test_the_number_of_a_task_that_has_ended(tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(EVENT, [HOST])], records=[sample(
        EVENT, USER, ip=0x1010, pid=-1, tid=-1, time=1, cpu=0, id=HOST, period=1)]).build("<"))
    assert preport("-f", "csv", "--sort", "tid", path) == b'tid,self,total,samples\n"-1",1,1,1\n'
    assert json.loads(preport("-f", "json", "--sort", "tid", path))["rows"][0]["tid"] == -1


def test_waits(path):
    stacks = text(folded(preport("-f", "folded", "--off-cpu", "--group", "tid", path)))
    assert {key.split(";")[0]: value for key, value in stacks.items()} == {
        "tid_7": 10_000_000, "tid_7@500": 3_000_000}
