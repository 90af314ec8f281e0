"""preport -f script of samples of memory accesses, as perf mem records them."""
import re
import shutil
import subprocess

import pytest

import perf_oracle
from conftest import TIMEOUT
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import data_src, sample
from profiles import preport

ALL = attr("IP|TID|TIME|ADDR|PERIOD|WEIGHT_STRUCT|DATA_SRC|IDENTIFIER|CALLCHAIN|PHYS_ADDR|"
           "DATA_PAGE_SIZE|CODE_PAGE_SIZE", type=4, config=0x1cd, sample_period=1000,
           flags=("exclude_guest",))
SOURCES = attr("IP|TID|TIME|ADDR|PERIOD|DATA_SRC|WEIGHT|IDENTIFIER", type=4, config=0x1cd,
               sample_period=1000, flags=("exclude_guest",))
FLAT = attr("IP|TID|TIME|PERIOD|PHYS_ADDR|CODE_PAGE_SIZE|IDENTIFIER", type=4, config=0x1cd,
            sample_period=1000, flags=("exclude_guest",))
# L5 to L8 are words of perf 6.1 for numbers that had no name; it has none for distances from 5 on.
BITS = {"op": 5, "lvl": 14, "snoop": 5, "lock": 2, "dtlb": 7, "remote": 1, "snoopx": 2, "blk": 3}
VALUES = [data_src()] + [data_src(**{part: 1 << i}) for part, n in BITS.items() for i in range(n)]
VALUES += [data_src(lvl_num=i) for i in (1, 2, 3, 4, *range(9, 16))]
VALUES += [data_src(hops=i) for i in range(1, 5)]
VALUES += [data_src(lvl=2 | 8, lvl_num=1), data_src(lvl=4, lvl_num=12), data_src(lvl=6 | 8),
           data_src(lvl=6), data_src(lvl=1, lvl_num=15), data_src(lvl=0x28, lvl_num=3),
           data_src(remote=1, hops=2, lvl=10, lvl_num=1), data_src(remote=1, lvl=10),
           data_src(remote=1, lvl_num=13), data_src(snoop=6, snoopx=3), data_src(dtlb=0x1a),
           data_src(dtlb=14), data_src(lock=3), data_src(blk=6), data_src(blk=7), data_src(op=6),
           data_src(op=2, lvl=0x3ffe, snoop=0x1e, dtlb=0x7e, blk=6), 0]


@pytest.fixture
def write(tmp_path):
    def go(event, *samples):
        records = [sample(event, misc=2, pid=10, tid=10, time=10**9 + i * 1000, ip=0x1010,
                          identifier=1, period=9, **values) for i, values in enumerate(samples)]
        path = tmp_path / "perf.data"
        path.write_bytes(File(attrs=[(event, [1])], records=records, features={
            12: f.event_desc([(event, "mem-loads", [1])], 136)}).build())
        return path
    return go


def access(size=4096):
    return {"addr": 0xabc, "weight_struct": (70000, 60000, 50000), "phys_addr": 0x123456000,
            "callchain": [0xfffffffffffffe00, 0x1010], "data_page_size": size,
            "code_page_size": 2 * size, "data_src": data_src(op=2, lvl=2, lvl_num=12)}


@pytest.mark.sanitize
@pytest.mark.parametrize("like, thread, last", [("6.1", ":10    10", ""),
                                                ("6.12", ":10      10", "           50000")])
def test_the_facts_around_the_place(write, like, thread, last):
    path = write(ALL, access(0), access(2 << 20))
    source = "      1800000042 |OP LOAD|LVL LFB/MAB hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"
    line = (f"{thread}     1.00000%d:          9 mem-loads:              abc{source}"
            f"           70000           60000{last}\n\t            1010 [unknown] ([unknown])\n"
            f"       123456000 %s\n")
    assert preport("-f", "script", "--compat", like, path).decode() == (
        line % (0, "N/A N/A") + line % (1, "2M 4M"))


@pytest.mark.sanitize
def test_in_one_line(write):
    path = write(FLAT, {"phys_addr": 0x5000, "code_page_size": 4096})
    head = "             :10      10     1.000000:          9 mem-loads: "
    place = "            1010 [unknown] ([unknown])"
    assert preport("-f", "script", path).decode() == f"{head} {place}            5000 4K\n"
    assert preport("-f", "script", "-F-ip,-sym,-symoff,-dso", path).decode() == (
        f"{head}            5000 4K\n")


def test_fields_that_are_listed_and_stacks_are_as_before(write):
    path = write(ALL, access())
    lines = "\n\t            1010 [unknown] ([unknown])\n\n"
    assert preport("-f", "script", "-Fcomm,event,ip,sym,dso", path).decode() == (
        f":10 mem-loads: {lines}")
    assert preport("-f", "script", "--layout=stack", path).decode() == (
        f":10      10     1.000000:          9 mem-loads: {lines}")


def test_events_of_other_types_have_no_access(write):
    event = attr("IP|TID|TIME|ADDR|PERIOD|IDENTIFIER", type=0, config=0, sample_period=1)
    out = preport("-f", "script", write(event, {"addr": 0xabc})).decode()
    assert "mem-loads:              1010 [unk" in out


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
def test_all_sources_are_perfs(write):
    numbers = re.match(r"(\d+)\.(\d+)", perf_oracle.version("perf")).groups()
    like = "6.12" if tuple(map(int, numbers)) >= (6, 12) else "6.1"
    sources = [{"addr": 0xabc, "weight": 1 << 40, "data_src": value} for value in VALUES]
    pages = [access(n) for n in (0, 512, 1024, 4096, 3000, 1 << 30, 1 << 50)]
    for event, samples in ((SOURCES, sources), (ALL, pages)):
        path = write(event, *samples)
        want = subprocess.run(["perf", "script", "-i", path], text=True, capture_output=True,
                              timeout=TIMEOUT, check=True).stdout
        got = preport("-f", "script", "--compat", like, path).decode()
        assert want.splitlines() and got.splitlines() == want.splitlines()
