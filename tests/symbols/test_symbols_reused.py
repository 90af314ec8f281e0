"""Memory that JIT compilers use again: an address has other functions in other processes and at
other times. Each sample has the name of its own, in all outputs, or none."""
import collections
import itertools
import json
import os
import random
import re
import subprocess
import time

import pytest

import named as named_recording
from conftest import TIMEOUT, TOOLS
from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from perfdata.wire import fstr
from test_symbols import MONOTONIC, SECOND, USER_MARK, jitdump

PERF_CLOCK = 0xffffffff     # of CLOCK_DATA: the records have no clockid
AT = 0x10020


class Recording:
    """Samples of JIT code at AT, in a recording that began `ago` seconds ago."""

    ago = 100

    def __init__(self, where, clock=MONOTONIC):
        self.where, self.path, self.clock = where, where / "s.data", clock
        flags = ("sample_id_all", "use_clockid") if clock == MONOTONIC else ("sample_id_all", )
        self.event = Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME|CALLCHAIN",
                          flags=flags, clockid=MONOTONIC if clock == MONOTONIC else 0)
        self.records, self.written, self.features = [], [], {}

    def process(self, pid, dump=(), perf_map=None):
        sid = sample_id(self.event, pid=pid, tid=pid, time=1)
        self.records.append(r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2,
                                    "//anon", sid=sid))
        if dump:
            path = self.where / f"jit-{pid}.dump"
            path.write_bytes(jitdump(pid, *((0x10010, 0x40, name, when * SECOND)
                                            for name, when in dump)))
            self.records.append(r.mmap2(pid, pid, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path),
                                        sid=sid))
        if perf_map is not None:
            path = f"/tmp/perf-{pid}.map"
            self.written.append(path)
            with open(path, "x", encoding="ascii") as file:
                file.write(perf_map)

    def hit(self, pid, *seconds):
        self.records += [sample(self.event, 2, ip=AT, pid=pid, tid=pid, time=second * SECOND,
                                callchain=[USER_MARK, AT]) for second in seconds]

    def write(self):
        now = int(time.time()) - self.ago
        features = {NUMBER["CLOCK_DATA"]: f.clock_data(self.clock, now * SECOND, 9 * SECOND),
                    NUMBER["SAMPLE_TIME"]: f.sample_time(9 * SECOND, 900 * SECOND), **self.features}
        self.path.write_bytes(File(attrs=[(self.event, [1])], records=self.records,
                                   features=features).build("<"))
        return self.path

    def run(self, tool, *args):
        return subprocess.run([TOOLS / tool, *args], capture_output=True, check=True, text=True,
                              timeout=TIMEOUT)

    def lines(self, *options):
        done = self.run("pdecode", "-f", "jsonl", "--symbols", *options, self.write())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def names(self):
        """The name of each sample, or why there is none."""
        return [line["frames"][0].get("symbol", line["frames"][0].get("why"))
                for line in self.lines() if line.get("type") == "SAMPLE"]


@pytest.fixture
def recording(tmp_path):
    made = Recording(tmp_path)
    yield made
    for path in made.written:
        os.unlink(path)


@pytest.fixture
def other_clock(tmp_path):
    return Recording(tmp_path, PERF_CLOCK)


def process_number():
    return random.randrange(3_000_000, 4_000_000)


@pytest.mark.sanitize
@pytest.mark.parametrize("lines, expected", [
    (["10010 40 f"], "f"),
    (["10010 40 f", "10010 40 g"], "JIT_REUSED"),
    (["10010 40 g", "10018 10 f"], "JIT_REUSED"),
    (["10018 10 f", "10010 40 f"], "f"),            # it was compiled again
    (["10010 40 f", "10030 20 g"], "f"),
    (["10010 40 f"] * 300, "JIT_REUSED"),           # not all are looked at
], ids=["one", "two", "part", "again", "beside", "many"])
def test_a_perf_map_has_no_times(lines, expected, recording):
    pid = process_number()
    recording.process(pid, perf_map="\n".join(lines) + "\n")
    recording.hit(pid, 9)
    assert recording.names() == [expected]
    table = recording.run("preport", recording.path).stdout
    assert ("several functions had that memory in turn" in table) == (expected == "JIT_REUSED")


@pytest.mark.sanitize
@pytest.mark.parametrize("dump, expected", [
    ([(b"f", 2)], "f"), ([(b"f", 2), (b"g", 3)], "JIT_REUSED"), ([(b"f", 2), (b"f", 3)], "f")],
    ids=str)
def test_a_dump_of_another_clock_has_no_times(dump, expected, other_clock):
    other_clock.process(7, dump)
    other_clock.hit(7, 9)
    assert other_clock.names() == [expected]


@pytest.mark.parametrize("host, written, expected", [
    (True, 0, "compiled"), (True, -1000, "JIT_NO_MAP"), (False, 0, "JIT_NO_MAP")],
    ids=["before the recording", "before the process", "on another machine"])
def test_a_perf_map_that_is_older_than_the_recording(host, written, expected, recording):
    """A process that has compiled all its code before writes nothing more. It still runs, so the
    map is no earlier process's with its number."""
    name = os.uname().nodename.encode() if host else b"another"
    recording.features[NUMBER["HOSTNAME"]] = fstr(name)
    recording.ago = -100
    with subprocess.Popen(["sleep", "1000"]) as running:
        try:
            recording.process(running.pid, perf_map="10010 40 compiled\n")
            when = time.time() + written
            os.utime(recording.written[0], (when, when))
            recording.hit(running.pid, 9)
            assert recording.names() == [expected]
            if expected == "compiled":
                running.kill()
                running.wait()
                assert recording.names() == ["JIT_NO_MAP"]
        finally:
            running.kill()


def by_process_and_time(recording):
    """Three processes: two with one function each, one with two, one after the other. Returns the
    names of the samples."""
    first, second = process_number(), process_number() + 1_000_000
    recording.process(first, perf_map="10010 40 of_first\n")
    recording.process(second, perf_map="10010 40 of_second\n")
    recording.process(7, [(b"before", 2), (b"after", 10)])
    recording.hit(7, 3, 4)
    recording.hit(first, 5)
    recording.hit(second, 6)
    recording.hit(7, 11, 12, 13)
    return ["before", "before", "of_first", "of_second", "after", "after", "after"]


def test_names_of_one_address_in_all_outputs(recording):
    names = by_process_and_time(recording)
    assert recording.names() == names
    table = recording.lines("--symbols=table")
    named = {line["id"]: line["symbol"] for line in table if line["kind"] == "frame"}
    assert [named[line["frame_ids"][0]] for line in table if "frame_ids" in line] == names
    path = recording.path
    folded = recording.run("preport", "-f", "folded", path).stdout
    assert collections.Counter(dict(re.findall(r";(\w+) (\d+)", folded))) == {
        name: str(n) for name, n in collections.Counter(names).items()}
    script = recording.run("preport", "-f", "script", path).stdout
    assert re.findall(r" (\w+)\+0x10 ", script) == names
    rows = recording.run("pquery", "-f", "csv", "--symbols", "select function from samples join "
                         "symbols using (frame) order by samples.offset", path).stdout
    assert rows.split()[1:] == names


def test_names_that_travel(recording):
    """As precord has found them: at times from the second one on, nothing tells the function."""
    recording.process(7)
    recording.hit(7, 1, 3, 6, 11)
    functions = [(0x10010, 2**64 - 1, 0, b"before"), (0, 2**64 - 1, 16, b""),
                 (0x10010, 2**64 - 1, 0, b"after")]
    recording.features[NUMBER["PD_SYMBOLS"]] = f.pd_symbols([
        (7, 0, b"", b"", functions, [AT] * 3, [0, 1, 2], [2 * SECOND, 5 * SECOND, 10 * SECOND])])
    names = ["JIT_NO_MAP", "before", "JIT_REUSED", "after"]
    assert recording.names() == names
    table = recording.lines("--symbols=table")
    named = {line["id"]: line.get("symbol", line.get("why"))
             for line in table if line["kind"] == "frame"}
    assert [named[line["frame_ids"][0]] for line in table if "frame_ids" in line] == names


@pytest.mark.parametrize("travels", [False, True], ids=["dump", "recording"])
def test_a_sample_from_before_the_code(travels, recording):
    """Nothing is known of what was there, and the others have their name."""
    recording.process(7, [] if travels else [(b"f", 5)])
    if travels:
        recording.features[NUMBER["PD_SYMBOLS"]] = f.pd_symbols([
            (7, 0, b"", b"", [(0x10010, 2**64 - 1, 0, b"f")], [AT], [0], [5 * SECOND])])
    recording.hit(7, 3, 6, 7)
    why = "JIT_NO_MAP" if travels else "NO_SYMBOL"
    assert recording.names() == [why, "f", "f"]
    folded = recording.run("preport", "-f", "folded", recording.path).stdout
    assert sorted(re.findall(r";\[?(\w+)\]? (\d+)", folded)) == [("anon", "1"), ("f", "2")]


# A compiler that writes three functions to the same memory, one after the other: each spins for
# 0.1 s, and the recording ends a moment later.
JIT = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static const uint8_t spin[] = { 0x48, 0x83, 0xef, 1, 0x75, 0xfa, 0xc3 };	/* sub, jne, ret */
int main(void)
{
	static const char *const names[] = { "first", "other", "third" };
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	FILE *to = fopen(path, "w+");
	const uint32_t header[10] = { 0x4a695444, 1, 40, 62, 0, getpid() };
	fwrite(header, sizeof(header), 1, to);
	fflush(to);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(to), 0);
	for (int i = 0; i < 3; i++) {
		struct { uint32_t id, size; uint64_t time; uint32_t pid, tid;
			 uint64_t vma, at, code_size, index; char name[6];
			 uint8_t code[sizeof(spin)]; } __attribute__((packed))
			load = { 0, sizeof(load), now(), getpid(), getpid(), (uintptr_t)at,
				 (uintptr_t)at, sizeof(spin), i };
		memcpy(load.name, names[i], 6);
		memcpy(load.code, spin, sizeof(spin));
		fwrite(&load, sizeof(load), 1, to);
		fflush(to);
		memcpy(at, spin, sizeof(spin));
		uint64_t begin = now(), end = begin;
		for (; end < begin + 100000000; end = now())
			((void (*)(long))at)(100000);
		printf("%s %llu %llu\n", names[i], (unsigned long long)begin,
		       (unsigned long long)end);
	}
	return 0;
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the code is of that machine")
@pytest.mark.parametrize("clock", [[], ["-k", "monotonic"], ["-k", "realtime"]], ids=" ".join)
def test_precord_names_code_by_its_times(clock, tmp_path):
    """It knows both clocks, about. By another one, nothing is decided just before and after."""
    (tmp_path / "j.c").write_text(JIT)
    subprocess.run(["gcc", "-O2", "-o", tmp_path / "app", tmp_path / "j.c"], check=True)
    done = named_recording.record(tmp_path / "s.data", "-F", "2000", *clock, "--", "./app",
                                  cwd=tmp_path, stdout=subprocess.PIPE)
    spans = [(name, int(begin), int(end)) for name, begin, end in
             map(str.split, done.stdout.splitlines())]
    for dump in tmp_path.glob("jit-*.dump"):
        dump.unlink()
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", tmp_path / "s.data"],
                           stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    found = [(line["time"], line["frames"][0]) for line in map(json.loads, lines)
             if line.get("type") == "SAMPLE" and line["frames"][0].get("dso") == "//anon"]
    found = sorted((time, frame.get("symbol") or frame["why"]) for time, frame in found)
    names = [name for _, name in found if name != "JIT_REUSED"]
    assert [name for name, _ in itertools.groupby(names)] == [name for name, *_ in spans]
    assert len(names) > 0.7 * len(found)
    if clock == ["-k", "monotonic"]:
        assert len(names) == len(found)
        assert all(begin <= time <= end for time, name in found
                   for own, begin, end in spans if own == name)
