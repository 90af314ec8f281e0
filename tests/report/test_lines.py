"""The lines of a table: -s with columns, --children, and the calls below each with -g."""
import collections
import csv
import io
import json
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, fixture_files
from known_recording import (  # noqa: F401
    ANSWER, EXEC, Recording, build_program, recorded, recording)
from perfdata import records as r
from profiles import preport

CAPTURES = [file for file in fixture_files() if file.name.split("/")[0] in (
    "01-basic.data", "02-callgraph-fp.data", "20-threads.data", "43-multi-event.data",
    "12-tracepoints.data", "45-kernel-callchains.data", "18-pipe.data", "16-zstd.data")]
A, B, C = 0x1010, 0x2010, 0x3010


@pytest.fixture
def calls(tmp_path):
    """a>b 10, a>b>b>c 5, c>b 3, b 2 and, in another task, a>b 100."""
    it = Recording()
    for pid, name in ((10, "one"), (20, "two")):
        it.comm(1, pid, name, misc=EXEC)
        for at, image in ((A, "a"), (B, "b"), (C, "c")):
            it.map(2, pid, at & ~0xfff, 0x1000, "/bin/" + image)
    it.sample(10, 10, 10, B, A)
    it.sample(11, 10, 5, C, B, B, A)
    it.sample(12, 10, 3, B, C)
    it.sample(13, 10, 2, B)
    it.sample(14, 20, 100, B, A, cpu=2)
    path = tmp_path / "calls.data"
    path.write_bytes(it.file())
    return path


def rows(keys, path, *options):
    """{values of the keys: (self, total, samples)} of a CSV table."""
    reader = csv.DictReader(io.StringIO(preport("-f", "csv", "-s", keys, *options, path).decode()))
    names = [name for name in reader.fieldnames
             if name not in ("self", "total", "samples", "build_id")]
    return names, {tuple(row[name] for name in names):
                   tuple(int(row[name]) for name in ("self", "total", "samples"))
                   for row in reader}


def test_columns_in_the_order_that_was_asked_for(calls):
    names, got = rows("dso,comm,sym", calls)
    assert names == ["image", "comm", "function"]
    assert got == {
        ("/bin/b", "one", "[b]"): (15, 20, 3), ("/bin/c", "one", "[c]"): (5, 8, 1),
        ("/bin/a", "one", "[a]"): (0, 15, 0), ("/bin/b", "two", "[b]"): (100, 100, 1),
        ("/bin/a", "two", "[a]"): (0, 100, 0)}


def test_fewer_columns_join_lines(calls):
    assert rows("comm", calls) == (["comm"], {("one",): (20, 20, 4), ("two",): (100, 100, 1)})
    assert rows("symbol", calls)[1][("[b]",)] == (115, 120, 4)
    assert rows("pid,cpu", calls)[1] == {("10", "0"): (20, 20, 4), ("20", "2"): (100, 100, 1)}


def test_the_table_has_the_columns(calls):
    out = preport("-s", "total,tid,dso", calls).decode().split("\n\n")[1].split("\n")
    assert out[0].split() == ["self", "total", "samples", "tid", "image"]
    assert [line.replace(" %", "").split() for line in out[1:6]] == [
        ["83.3", "83.3", "1", "20", "b"], ["0.0", "83.3", "0", "20", "a"],
        ["12.5", "16.7", "3", "10", "b"], ["0.0", "12.5", "0", "10", "a"],
        ["4.2", "6.7", "1", "10", "c"]]
    assert "2 more lines" in preport("-s", "sym", "-n1", calls).decode()


def test_json_has_numbers_and_nulls(calls, recording):
    got = json.loads(preport("-f", "json", "-s", "cpu,pid,comm", calls))["rows"]
    assert got == [{"cpu": 2, "pid": 20, "comm": "two", "self": 100, "total": 100, "samples": 1},
                   {"cpu": 0, "pid": 10, "comm": "one", "self": 20, "total": 20, "samples": 4}]
    assert json.loads(preport("-f", "json", "-s", "cgroup", recording))["rows"][0][
        "cgroup"] == "[no cgroup]"


def test_children_is_the_order_by_total(calls):
    assert preport("--children", calls) == preport("-s", "total", calls)
    assert preport("--children", "--no-children", calls) == preport(calls)
    assert preport("--children", calls) != preport(calls)


def test_tasks_have_the_sums_of_their_stacks(recording):
    sums = collections.Counter()
    for key, weight in ANSWER.items():
        sums[key.split(";")[0].replace("_", " ")] += weight
    got = rows("comm", recording, "--idle=keep")[1]
    assert {key: row[0] for (key,), row in got.items()} == sums


def test_a_sample_counts_once_in_a_line(recording):
    assert rows("dso", recording, "--comm=child")[1][("/bin/app",)] == (40, 40, 1)


def graph(path, *options):
    """{function: [(depth, percent, calls)]} of a table with calls."""
    lines, at = {}, None
    out = preport(*options, path).decode().split("\n\n")[1].split("\n")
    for line in out[1:]:
        if line.startswith(("hottest", "1 more")):
            break
        branch = re.match(r" {10} *([\d.]+) %  ( *)(.*)", line)
        if branch:
            lines[at].append((len(branch[2]) // 2, float(branch[1]), branch[3]))
        else:
            at = line.split()[5]
            lines[at] = []
    return lines


def test_callers_of_a_function(calls):
    assert graph(calls, "-g", "callee", "--comm=one") == {
        "[b]": [(0, 50.0, "[a]"), (0, 15.0, "[c]")], "[c]": [(0, 25.0, "[b] ×2 › [a]")], "[a]": []}
    assert graph(calls, "-g", "callee", "--comm=one", "--children") == {
        "[b]": [(0, 75.0, "[a]"), (0, 15.0, "[c]")], "[a]": [], "[c]": [(0, 25.0, "[b] ×2 › [a]")]}


def test_callees_of_a_function(calls):
    assert graph(calls, "-g", "caller", "--comm=one", "--children") == {
        "[b]": [(0, 25.0, "[b] › [c]")], "[c]": [(0, 15.0, "[b]")],
        "[a]": [(0, 75.0, "[b]  (self 50.0 %)"), (1, 25.0, "[b] › [c]")]}


def test_calls_of_lines_that_join_functions(calls):
    assert graph(calls, "-g", "callee", "-s", "comm") == {
        "two": [(0, 83.3, "[b] › [a]")],
        "one": [(0, 12.5, "[b]"), (1, 8.3, "[a]"), (1, 2.5, "[c]"), (0, 4.2, "[c] › [b] ×2 › [a]")]}
    assert graph(calls, "-g", "caller", "-s", "dso", "--comm=one")["c"] == [
        (0, 40.0, "[c]  (self 25.0 %)"), (1, 15.0, "[b]")]


def test_calls_of_a_function_in_a_task(calls):
    assert graph(calls, "-g", "callee", "-s", "sym,comm", "--comm=two") == {
        "[b]": [(0, 100.0, "[a]")], "[a]": []}


def test_the_heaviest_task_of_a_function(calls):
    lines = preport(calls).decode().split("\n")
    assert [line.split()[7:] for line in lines if "[b]  " in line] == [["two", "+1"]]


@pytest.mark.sanitize
@pytest.mark.parametrize("names, want", [
    (["pool-1-a", "pool-12-a", "pool-3-a"], ["pool-*-a", "(3)"]),
    (["w1", "w2", "v1"], ["w1", "+2"]),
    (["w", "w1"], ["w", "+1"]), (["12", "3"], ["*", "(2)"]), (["w1", "w1x"], ["w1", "+1"]),
    (["w1", "w1"], ["w1"])])
def test_threads_whose_names_differ_in_digits_are_one_name(tmp_path, names, want):
    it = Recording()
    for i, name in enumerate(names):
        it.comm(1, 10, name, tid=10 + i, misc=0 if i else EXEC)
        it.sample(5 + i, 10, 100 - i, 0x1010, tid=10 + i)
    (tmp_path / "x").write_bytes(it.file())
    line = preport("-s", "self", tmp_path / "x").decode().split("\n\n")[1].split("\n")[1]
    assert line.split()[6:] == want


def test_functions_of_one_image(tmp_path):
    path = tmp_path / "perf.data"
    program = build_program(tmp_path / "app")
    path.write_bytes(recorded(program, program[1]))
    out = preport("-f", "csv", "-s", "sym", path, symbols=()).decode()
    assert out == "function,self,total,samples\n\"leaf\",5,5,1\n\"main\",2,7,1\n"
    out = preport("-s", "comm,sym", path, symbols=()).decode()
    assert [line.split()[5:] for line in out.split("\n\n")[1].split("\n")[1:3]] == [
        ["app", "leaf"], ["app", "main"]]


SOURCE = """int work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}
int main(void) { return work(3); }
"""


@pytest.fixture(scope="module")
def with_lines(tmp_path_factory):
    """A program with debug information, with 5 ns in line 5, 2 and 1 in line 6, and 4 in line 8."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "app.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O0", "-g", "-Wl,--build-id=sha1", folder / "app.c", "-o",
                    folder / "app"], check=True)
    notes = subprocess.run(["readelf", "-n", folder / "app"], check=True, capture_output=True,
                           text=True).stdout
    lines = subprocess.run(["objdump", "-d", "-l", "--no-show-raw-insn", folder / "app"],
                           check=True, capture_output=True, text=True).stdout
    at = {int(line): int(address, 16) for line, address in re.findall(
        r"app\.c:(\d+)(?: \(.*\))?\n +([0-9a-f]+):", lines)}
    it, base = Recording(), 0x555555554000
    it.comm(1, 10, "app", misc=EXEC)
    it.records.append(r.mmap2_build_id(
        10, 10, base, 0x10000, 0, bytes.fromhex(re.search(r"Build ID: (\w+)", notes)[1]), 5, 2,
        str(folder / "app"), sid=it.sid(2)))
    for i, (line, weight) in enumerate([(5, 5), (6, 2), (6, 1), (8, 4)]):
        it.sample(10 + i, 10, weight, base + at[line])
    (folder / "perf.data").write_bytes(it.file())
    return folder


def test_lines_of_the_source(with_lines):
    path = with_lines / "perf.data"
    out = preport("-f", "csv", "-s", "srcline", path, symbols=()).decode()
    assert list(csv.reader(out.splitlines())) == [
        ["srcline", "self", "total", "samples"], [f"{with_lines}/app.c:5", "5", "5", "1"],
        [f"{with_lines}/app.c:8", "4", "4", "1"], [f"{with_lines}/app.c:6", "3", "3", "2"]]
    out = preport("-s", "sym,srcline", path, symbols=()).decode()
    assert [line.split()[4:] for line in out.split("\n\n")[1].split("\n")[1:4]] == [
        ["1", "work", "app.c:5"], ["1", "main", "app.c:8"], ["2", "work", "app.c:6"]]
    together = preport("-s", "sym", path, symbols=()).decode()
    assert re.search(r"66\.7 % +66\.7 % +3  work", together)


def test_paths_of_sources_may_be_others(with_lines):
    path = with_lines / "perf.data"
    out = preport("-f", "csv", "-s", "srcline", "--prefix-map", f"{with_lines}=/src", path,
                  symbols=()).decode()
    assert [row[0] for row in csv.reader(out.splitlines())] == [
        "srcline", "/src/app.c:5", "/src/app.c:8", "/src/app.c:6"]
    assert b") /src/app.c\n" in preport("-f", "callgrind", "--lines", "--prefix-map",
                                           f"{with_lines}=/src", path, symbols=())
    for options in (["--prefix-map=a=b"], ["--lines", "--prefix-map=ab"]):
        preport(*options, path, symbols=(), status=2)


def test_code_without_lines_is_one_line(calls):
    out = preport("-f", "csv", "-s", "srcline", calls, symbols=()).decode()
    assert out == 'srcline,self,total,samples\n"[no line]",120,120,5\n'
    preport("-s", "srcline", "--no-symbols", calls, status=2)


def test_lines_in_files_for_programs(with_lines):
    path = with_lines / "perf.data"
    bare = preport("-f", "callgrind", path, symbols=()).decode()
    lines = preport("-f", "callgrind", "--lines", path, symbols=()).decode()
    assert "app.c" not in bare and f"{with_lines}/app.c" in lines
    assert re.findall(r"^([568]) (\d+)$", lines, re.M) == [("5", "5"), ("6", "3"), ("8", "4")]


def test_small_calls_are_left_out(calls):
    assert graph(calls, "-g", "callee", "--percent-limit=20", "--comm=one") == {
        "[b]": [(0, 50.0, "[a]")], "[c]": [(0, 25.0, "[b] ×2 › [a]")]}


def test_every_line_of_a_capture_has_its_whole_below_it():
    path = next(file.path for file in CAPTURES if file.name.startswith("02-"))
    whole = graph(path, "-g", "callee", "--children", "-n0")
    assert whole and any(whole.values())
    for calls in whole.values():
        assert sum(share for depth, share, _ in calls if not depth) <= 100.5


@pytest.mark.parametrize("options", (
    ["-s", "comm,node"], ["-s", "comm,comm"], ["-s", "sym,symbol"], ["-s", ""],
    ["-s", "comm", "-f", "folded"], ["-s", "comm", "-f", "script"], ["-g", "caller", "-f", "tree"],
    ["-g", "both"], ["-s", "comm", "--base", "x"], ["-g", "callee", "--base", "x"]))
def test_wrong_words(recording, options):
    preport(*options, recording, status=2)


def perf_rows(fields, path):
    """{values of the keys: (period, samples)} of the first event as perf report prints it."""
    done = subprocess.run(["perf", "report", "--stdio", "-q", "-g", "none", "--no-children",
                           "-F", f"period,sample,{fields}", "-t", "|", "-i", path],
                          capture_output=True, timeout=TIMEOUT, text=True)
    sums = collections.Counter()
    for line in done.stdout.split("\n\n")[0].splitlines():
        if line.strip():
            period, samples, *values = (part.strip() for part in line.split("|"))
            sums[tuple(values)] += complex(int(period), int(samples))
    return {key: (int(n.real), int(n.imag)) for key, n in sums.items()}


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: file.name)
def test_lines_of_perf_report(file):
    assert len(CAPTURES) >= 8
    want = perf_rows("comm,dso", file.path)
    got = {(comm, image.rsplit("/", 1)[-1]): (self, samples)
           for (comm, image), (self, _, samples)
           in rows("comm,dso", file.path, "--idle=keep")[1].items() if samples}
    assert got == want


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
def test_tids_of_perf_report():
    path = next(file.path for file in CAPTURES if file.name.startswith("20-"))
    want = {key[0].split(":")[0]: value for key, value in perf_rows("pid", path).items()}
    assert {key[0]: (self, samples) for key, (self, _, samples)
            in rows("tid", path, "--idle=keep")[1].items() if samples} == want
