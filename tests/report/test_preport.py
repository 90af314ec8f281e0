"""preport over a hand-made recording with a known answer, and laws over all captures."""
import collections
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS, corpus_files, fixture_files
from known_recording import (  # noqa: F401
    ANSWER, CLOCK, EXEC, FAULTS, Recording, build_named, build_program, deep, known, recorded,
    recording)
from perfdata import features as f
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import Pprof, folded, page, page_stacks, preport, self_by_function, table, text


def test_folded_has_the_known_answer(recording):
    assert text(folded(preport("-f", "folded", recording))) == ANSWER


@pytest.mark.parametrize("order", "<>")
def test_a_pipe_and_the_other_byte_order_say_the_same(recording, tmp_path, order):
    want = preport("-f", "folded", recording)
    path = tmp_path / "other"
    path.write_bytes(known().file(order))
    assert preport("-f", "folded", path) == want
    assert preport("-f", "folded", "-", input=known().pipe(order)) == want


def test_samples_instead_of_periods(recording):
    got = text(folded(preport("-f", "folded", "--weight=samples", recording)))
    assert got == {**dict.fromkeys(ANSWER, 1), "app_one;[app];[libx.so.1]": 2}


def test_the_other_event_counts_its_fixed_period(recording):
    got = text(folded(preport("-f", "folded", "-e", "page-faults", recording)))
    assert got == {"renamed;[libx.so.1]": 3}


def test_two_events_of_one_name(tmp_path):
    """perf record -e cpu-clock -e cpu-clock: the second one's stacks are not the first one's."""
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(CLOCK, [1]), (CLOCK, [2])], records=[
        sample(CLOCK, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, cpu=0, identifier=identifier,
               period=period) for i, (identifier, period) in enumerate([(2, 100), (1, 3)])
    ]).build("<"))
    assert folded(preport("-f", "folded", path)) == {(b":7", b"[unknown]"): 3}


@pytest.mark.parametrize("options, want", [
    ([], {":7;[unknown]": 3}), (["--merge-events"], {":7;[unknown]": 103}),
    (["--merge-events", "-e", "cpu_atom/cycles/"], {":7;[unknown]": 3}),
    (["-f", "folded", "-e", "cpu_core*"], {":7;[unknown]": 100})])
def test_an_event_of_two_kinds_of_cores(tmp_path, options, want):
    path = tmp_path / "perf.data"
    core, atom = (attr("IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER", type=type, config=0,
                       sample_period=1000, flags=("freq", "sample_id_all", "exclude_guest"))
                  for type in (4, 10))
    names = f.event_desc([(atom, "cpu_atom/cycles/", [1]), (core, "cpu_core/cycles/", [2])], 136)
    path.write_bytes(File(attrs=[(atom, [1]), (core, [2])], features={12: names}, records=[
        sample(which, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, cpu=0, identifier=identifier,
               period=period, callchain=[2**64 - 512, 0x1010])
        for i, (which, identifier, period) in enumerate([(core, 2, 100), (atom, 1, 3)])
    ]).build("<"))
    assert text(folded(preport("-f", "folded", *options, path))) == want
    told = preport(*[word for word in options if word not in ("-f", "folded")], path).decode()
    assert ("also recorded" in told) == (not options)
    if options == ["--merge-events"]:
        assert "2 samples of cycles: 103 counted" in told


def test_samples_of_an_unwanted_event_are_not_merged_with_those_of_a_wanted_one(tmp_path):
    """With --off-cpu they are read, too: their stacks are those of waits."""
    path = tmp_path / "perf.data"
    core, atom = (attr("IP|TID|TIME|CPU|PERIOD|IDENTIFIER", type=type, config=0,
                       sample_period=1000, flags=("freq", "sample_id_all"))
                  for type in (4, 10))
    names = f.event_desc([(atom, "cpu_atom/cycles/", [1]), (core, "cpu_core/cycles/", [2])], 136)
    path.write_bytes(File(attrs=[(atom, [1]), (core, [2])], features={12: names}, records=[
        sample(which, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, cpu=0, identifier=identifier,
               period=period)
        for i, (which, identifier, period) in enumerate([(core, 2, 100), (atom, 1, 3)])
    ] + [r.switch(misc=misc, sid=sample_id(core, pid=7, tid=7, time=time, cpu=0, identifier=2))
         for time, misc in ((20, 1 << 13), (30, 0))]).build("<"))
    got = Pprof(preport("-f", "pprof", "--off-cpu", "--merge-events", "-e", "cpu_atom/cycles/",
                        path))
    totals = [got.total(i) for i in range(len(got.types))]
    assert totals.count(3) == 1 and 103 not in totals


def test_two_events_of_one_name_are_apart(tmp_path):
    """They are not added up, though the functions below them are the same."""
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(CLOCK, [1]), (CLOCK, [2])], records=[
        sample(CLOCK, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, cpu=0, identifier=identifier,
               period=period, callchain=[2**64 - 512, 0x1010])
        for i, (identifier, period) in enumerate([(1, 100), (2, 3), (2, 4)])]).build("<"))
    assert text(folded(preport("-f", "folded", path))) == {":7;[unknown]": 100}
    got = Pprof(preport("-f", "pprof", path))
    assert [got.total(i) for i in range(len(got.types))] == [1, 100, 2, 7]


def test_events_that_only_look_alike_stay_two(tmp_path):
    path = tmp_path / "perf.data"
    counted = attr("IP|TID|TIME|CPU|PERIOD|IDENTIFIER", type=4, config=0, sample_period=1000)
    names = f.event_desc([(counted, "cpu_core/cycles/u", [1]), (counted, "cpu_atom/cycles/k", [2])],
                         136)
    path.write_bytes(File(attrs=[(counted, [1]), (counted, [2])], features={12: names}, records=[
        sample(counted, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, cpu=0, identifier=i + 1,
               period=5 + i) for i in range(2)]).build("<"))
    told = preport("--merge-events", path).decode()
    assert "1 sample of cycles:u: 5 counted" in told
    assert "also recorded: 1 sample of cycles:k" in told


def test_a_clock_and_a_counter_of_one_name_stay_two(tmp_path):
    path = tmp_path / "perf.data"
    clock, counted = (attr("IP|TID|TIME|CPU|PERIOD|IDENTIFIER", type=type, config=0,
                           sample_period=1000) for type in (1, 4))
    names = f.event_desc([(clock, "cpu-clock", [1]), (counted, "pmu/cpu-clock/", [2])], 136)
    path.write_bytes(File(attrs=[(clock, [1]), (counted, [2])], features={12: names}, records=[
        sample(which, misc=2, pid=7, tid=7, time=10 + i, ip=0x1010, cpu=0, identifier=i + 1,
               period=5 + i) for i, which in enumerate((clock, counted))]).build("<"))
    told = preport("--merge-events", path).decode()
    assert "1 sample of cpu-clock: 0.000 s" in told
    assert "also recorded: 1 sample of cpu-clock" in told


def test_tasks_above_the_stacks(recording):
    got = text(folded(preport("-f", "folded", "--group=comm,pid,tid", "--comm", "child",
                              recording)))
    assert got == {"child-20/20;[app];[app];[app]": 40, "child-20/20;[unknown]": 2}
    none = text(folded(preport("-f", "folded", "--group=none", recording)))
    assert none["[app];[libx.so.1]"] == 150 and none["[[kernel.kallsyms]]"] == 1000
    assert sum(none.values()) == sum(ANSWER.values())


def test_addresses_of_functions_without_a_name(recording):
    got = text(folded(preport("-f", "folded", "--addrs", recording)))
    assert got["app_one;[app+0x10];[libx.so.1+0x10]"] == 100
    assert got["app_one;[app+0x10];[libx.so.1+0x20]"] == 50
    assert sum(got.values()) == sum(ANSWER.values())


def test_shapes_of_stacks(recording):
    def stacks(*options):
        return text(folded(preport("-f", "folded", "--comm", "child,app*", *options, recording)))
    assert stacks("--fold-recursion")["child;[app]"] == 40
    assert stacks("--max-stack=1") == {"app_one;[app]": 157, "child;[app]": 40,
                                       "child;[unknown]": 2}
    assert stacks("--parent", "*libx*") == {"app_one;[app];[libx.so.1]": 150,
                                            "app_one;[app];[libx.so.1];[[kernel.kallsyms]]": 7}
    preport("--parent", "nothing", recording, status=5)
    for pattern, advice in (("nothing", "; part of a name is '*nothing*'\n"), ("not*", "\n")):
        done = subprocess.run([TOOLS / "preport", "--parent", pattern, recording], text=True,
                              capture_output=True, timeout=TIMEOUT)
        assert done.stderr.endswith(f"no stack has '{pattern}'{advice}")


def test_the_totals_are_of_the_stacks_of_a_parent(recording):
    whole, part = preport(recording).decode(), preport("--parent", "*libx*", recording).decode()
    assert "7 samples of cpu-clock: " in whole and "3 samples of cpu-clock: " in part
    assert part.splitlines()[1].startswith("kernel 4.5 %  libraries 95.5 %  ·")
    profile = Pprof(preport("-f", "pprof", "--parent", "*libx*", recording))
    assert profile.comments[0].startswith("cpu-clock: 3 samples")


def test_a_table_for_programs_has_at_most_so_many_rows(recording):
    def rows(*options):
        lines = preport("-f", "csv", *options, recording).decode().splitlines()[1:]
        given = json.loads(preport("-f", "json", *options, recording))
        assert [line.split('"')[1] for line in lines] == [r["function"] for r in given["rows"]]
        return given.pop("rows"), given
    whole, about = rows()
    assert len(whole) > 2 and rows("-n0") == rows("-n100") == (whole, about)
    assert rows("-n2") == (whole[:2], about)


@pytest.mark.parametrize("option, formats", [
    ("-n2", ["folded", "flamegraph", "pprof", "tree"]),
    ("--percent-limit=2", ["folded", "csv", "json", "svg"])])
def test_options_of_a_table_are_for_nothing_else(recording, option, formats):
    for form in formats:
        preport("-f", form, option, recording, status=2)


@pytest.mark.parametrize("groups, heading", [
    ("comm,tid", "thread"), ("pid", "process"), ("pid,cpu", "process"), ("tid", "thread"),
    ("cpu", "CPU"), ("cgroup,comm", "cgroup"), ("none", None)])
def test_the_last_column_is_the_outermost_group(recording, groups, heading):
    head, line = preport("--group", groups, recording).decode().split("\n\n")[1].split("\n")[:2]
    assert not head.endswith(" ") and not line.endswith(" ")
    assert head.split()[3:] == ["function", "image", *[heading] * bool(heading)]


def test_the_table(recording):
    out = preport(recording)
    rows = table(out)
    all_of_it = sum(ANSWER.values())

    assert rows["[app]"] == (round(4500 / all_of_it, 1), round(20200 / all_of_it, 1), 2)
    assert rows["[libx.so.1]"][2] == 2
    first, second = out.decode().split("\n")[:2]
    head, line = out.decode().split("\n\n")[1].split("\n")[:2]
    assert head.split() == ["self", "total", "samples", "function", "image", "thread"]
    assert line[head.index("image"):].split() == ["[k]", "swapper", "+1"]
    assert line.index("swapper") == head.index("thread")
    assert "7 samples of cpu-clock" in first and "9 lost" in first and "3 threads" in first
    assert second.startswith(f"kernel {100 * 1007 / all_of_it:.1f} %")
    assert "also recorded: 1 sample of page-faults" in out.decode()


def test_part_of_the_time(recording):
    whole, before = ({key: value for key, value in text(folded(preport(
        "-f", "folded", "--time", part, recording))).items()} for part in ("0ns,99ns", "0ns,13ns"))
    after = text(folded(preport("-f", "folded", "--time", "14ns,99ns", recording)))
    assert whole == ANSWER
    assert collections.Counter(before) + collections.Counter(after) == collections.Counter(whole)


def test_no_sample_is_status_5(recording, tmp_path):
    assert preport("--pid", 77, recording, status=5) == b""
    out = tmp_path / "out.folded"
    preport("--pid", 77, "-o", out, recording, status=5)
    assert not out.exists()


def test_the_name_of_the_output_selects_the_format(recording, tmp_path):
    out = tmp_path / "out.folded"
    preport("-o", out, recording)
    assert text(folded(out.read_bytes())) == ANSWER


def test_deep_stacks_are_called_cut(deep):
    out = preport("-f", "tree", deep).decode()
    assert "stacks: 50.0 % cut" in out and "[cut stack]" in out
    assert "cut" not in preport("-f", "folded", deep).decode()


HOSTILE = ["a;b", "new\nline", "esc\x1b[31m", "</script>", "quo\"te'", "bidi\u202eabc", "x" * 15,
           "\u0085", " ", "(", "a(b)"]


def one_sample_of(name, tmp_path):
    """A recording whose task and file have this name: its path."""
    it = Recording()
    it.comm(1, 10, name, misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, (b"/tmp/" if isinstance(name, bytes) else "/tmp/") + name)
    it.sample(10, 10, 3, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    return path


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_their_field(tmp_path, name):
    path = one_sample_of(name, tmp_path)
    out = preport("-f", "folded", path)
    stacks = folded(out)
    assert list(stacks.values()) == [3] and all(len(key) == 2 for key in stacks)
    assert not any(c in out.decode() for c in "\x1b\u202e\x85\r")
    for format in ("top", "tree"):
        out = preport("-f", format, "--title=t", path).decode()
        assert not any(c in out for c in "\x1b\u202e\x85\r")
        assert not [line for line in out.split("\n") if line.startswith("line")]


def test_bytes_that_are_no_text_do_not_reach_stacks(tmp_path):
    path = one_sample_of(b"\x9b\xe2\x80a\xc3\xa9", tmp_path)
    assert preport("-f", "folded", path).decode() == "???a\u00e9;[???a\u00e9] 3\n"


def test_the_name_of_the_file_is_printable(tmp_path):
    path = tmp_path / "b\x1b[31mR\u202e.data"
    one_sample_of("app", tmp_path).rename(path)
    for options in (("-f", "top"), ("-f", "tree"), ("--base", path)):
        out = preport(*options, path).decode()
        assert "b\\x1b[31mR\\u202e.data" in out and not any(c in out for c in "\x1b\u202e")


def test_little_memory_keeps_the_sum(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000000, "/bin/app")
    for i in range(3000):
        it.sample(10 + i, 10, 1, *[0x1000 + (i * 7919 + k * 31) % 0xffff for k in range(20)])
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    whole = folded(preport("-f", "folded", "--addrs", path))
    assert sum(whole.values()) == 3000 and len(whole) > 2000
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-f", "folded", "--addrs",
                           "--memory=8M", path], capture_output=True, check=False)
    small = text(folded(done.stdout))
    assert sum(small.values()) == 3000 and 0 < small["[small]"] < 2900
    line = f"{small['[small]']} samples are in [small]: give more --memory\n"
    assert (done.returncode, done.stderr.decode()) == (1, f"preport: {path}: {line}")
    assert line in preport("--memory=8M", path, status=1).decode()


def test_without_memory_for_the_events_there_is_no_output(recording, tmp_path):
    out = tmp_path / "out.folded"
    preport("-o", out, "--memory=4K", recording, status=4)
    assert not out.exists()


def test_code_in_memory_is_named_by_its_address(tmp_path):
    it = Recording()
    for pid in (10, 20):
        it.comm(pid, pid, "jit", misc=EXEC)
        it.map(pid, pid, 0x1000, 0x1000, "//anon")
        it.sample(100 + pid, pid, pid, 0x1010)
        it.sample(200 + pid, pid, pid, 0x1020)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert text(folded(preport("-f", "folded", "--addrs", path))) == {
        "jit;[anon+0x1010]": 30, "jit;[anon+0x1020]": 30}
    assert re.search(r"  \[anon\] +\[JIT\] +jit\n", preport(path).decode())
    assert "in JIT code, //anon: its compiler" in preport(path, symbols=()).decode()


# --- names ----------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build_program(tmp_path_factory.mktemp("names") / "app")


def test_functions_have_the_names_of_the_recorded_file(program, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, program[1]))
    assert text(folded(preport("-f", "folded", path, symbols=()))) == {
        "app;main;leaf": 5, "app;main": 2}
    assert "names: 100 %" in preport(path, symbols=()).decode()
    assert page_stacks(preport("-f", "flamegraph", path, symbols=())) == {
        "app;main;leaf": 5, "app;main": 2}


def test_another_file_under_the_same_path_gives_no_names(program, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, b"\1" * 20))
    assert text(folded(preport("-f", "folded", path, symbols=()))) == {
        "app;[app];[app]": 5, "app;[app]": 2}
    about, *_ = page(preport("-f", "flamegraph", path, symbols=()))
    assert "MISMATCH" in {f[3] for f in about["functions"]}


def test_the_summary_names_the_package_with_names(program, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, b"\1" * 20))
    out = preport(path, symbols=()).decode()
    assert f"no names for 100.0 %, in {program[0]}: the file here is another build" in out


def test_the_summary_does_not_call_a_file_of_unknown_build_another_one(program, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, None))
    out = preport(path, symbols=()).decode()
    assert (f"no names for 100.0 %, in {program[0]}: nothing shows that the file here is the "
            "recorded one; precord --buildid-mmap records which it is, ") in out
    assert "no names for" not in preport("--unverified=always", path, symbols=()).decode()


def test_names_as_files_have_them(tmp_path):
    path, mangled = tmp_path / "perf.data", "_ZN3foo3barEi"
    path.write_bytes(recorded(build_named(tmp_path / "program", mangled), None))
    for options, name in ([], "foo::bar"), (["--linkage-names"], mangled):
        options += ["--unverified=always", path]
        assert name in {row["function"] for row in json.loads(
            preport("-f", "json", *options, symbols=()))["rows"]}
        assert f" {name}+0x" in preport("-f", "script", *options, symbols=()).decode()
    preport("--no-symbols", "--linkage-names", path, symbols=(), status=2)


# --- the page -------------------------------------------------------------------------------------

def test_the_page_holds_the_known_answer(recording, tmp_path):
    out = tmp_path / "out.html"
    preport("-o", out, "--idle=keep", recording)
    stacks = page_stacks(out.read_bytes())
    assert stacks == {key.replace("app_one", "app one"): value for key, value in ANSWER.items()}
    about, *_ = page(out.read_bytes())
    assert about["unit"] == "ns" and about["event"] == "cpu-clock" and about["has_periods"]
    assert "9 lost" in about["facts"]


def test_the_page_refers_to_nothing_else(recording):
    out = preport("-f", "flamegraph", recording)
    assert not re.search(rb"(?:src|href|url)\s*[=(]|https?:|@import|fetch\(|XMLHttp|import\(", out)
    assert b"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'" in out
    assert len(re.sub(rb'(<script id="data"[^>]*>)[^<]*', rb"\1", out)) < 40_000


@pytest.mark.parametrize("theme", ["light", "dark", "system"])
def test_the_page_has_its_theme(recording, theme):
    about, *_ = page(preport("-f", "flamegraph", "--theme", theme, recording))
    assert about.get("theme", "system") == theme


@pytest.mark.parametrize("form", ["top", "svg", "folded", "script"])
def test_only_the_page_has_a_theme(recording, form):
    preport("-f", form, "--theme=dark", recording, status=2)


def test_the_page_is_the_same_every_time(recording):
    assert preport("-f", "flamegraph", recording) == preport("-f", "flamegraph", recording)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_the_data(tmp_path, name):
    path = one_sample_of(name, tmp_path)
    out = preport("-f", "flamegraph", "--title=</script>", path)
    assert out.count(b"</script>") == 2     # of the data and of the program
    about, nodes, _ = page(out)
    assert len(nodes) == 3 and about["title"] == "</script>"
    assert not any(c in text for f in about["functions"] for text in f[:2]
                   for c in "\x1b\u202e\x85\n")


# --- pprof --------------------------------------------------------------------------------------

def test_pprof_has_the_known_answer(recording, tmp_path):
    out = tmp_path / "out.pb.gz"
    preport("-o", out, recording)
    got = Pprof(out.read_bytes())
    assert got.types == [("cpu-clock_sample", "count"), ("cpu", "nanoseconds"),
                         ("page-faults:HG_sample", "count"), ("page-faults:HG_event", "count")]
    assert {key.replace("app one", "app_one"): values[1]
            for key, values in got.stacks().items() if values[0]} == ANSWER
    assert [got.total(column) for column in range(4)] == [7, sum(ANSWER.values()), 1, 3]
    assert {(labels["comm"], labels["pid"], labels["tid"]) for labels, _, _ in got.samples} == {
        ("app one", 10, 10), ("renamed", 10, 10), ("child", 20, 20), ("swapper", 0, 0)}
    assert got.files[0] == "/bin/app" and not got.functions.keys() - {1}    # [unknown]
    assert "lost: 9, throttled: 0, cut stacks: 0" in got.comments
    assert out.read_bytes() == preport("-f", "pprof", recording)


def test_pprof_of_a_count_and_of_a_file_with_a_build_id(recording, program, tmp_path):
    got = Pprof(preport("-f", "pprof", "-e", "page-faults", recording))
    assert got.types == [("samples", "count"), ("page-faults:HG", "count")]
    assert got.stacks() == {"renamed;[libx.so.1]": [1, 3]}
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, program[1]))
    got = Pprof(preport("-f", "pprof", path, symbols=()))
    assert got.stacks() == {"app;main;leaf": [1, 5], "app;main": [1, 2]}
    assert got.build_ids == {program[1].hex()}
    assert {row[7][0] for row in got.mappings.values()} == {1}
    base, at = 0x555555554000, program[2]
    assert {row[3][0] for row in got.locations.values()} == {
        base + at["leaf"] + 4, base + at["main"] + 9, base + at["main"]}


# --- laws -----------------------------------------------------------------------------------------

CAPTURES = [file for file in (*fixture_files(), *corpus_files()) if not file.is_directory]


def stats_of(path):
    done = subprocess.run([TOOLS / "pdecode", "-f", "stats", path], capture_output=True,
                          timeout=TIMEOUT)
    return json.loads(done.stdout) if done.stdout else {"by_event": []}


def sample_types(path):
    done = subprocess.run([TOOLS / "pdecode", "--header-only", path], capture_output=True,
                          timeout=TIMEOUT)
    attrs = json.loads(done.stdout)["attrs"] if done.stdout else []
    return [attr["attr"].get("sample_type", {}).get("names", []) for attr in attrs]


@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: file.name)
def test_sums_are_those_of_the_statistics(file):
    events = collections.defaultdict(lambda: [0, 0])
    for event in stats_of(file.path)["by_event"]:
        events[event["event"]][0] += event.get("samples", 0)
        events[event["event"]][1] += event.get("period", 0)
    if any("READ" in attr for attr in sample_types(file.path)):
        return      # what is counted are differences of values, see test_groups
    names = {name: sums for name, sums in events.items() if sums[0] and name}
    for name, (samples, period) in list(names.items())[:3]:
        if any(c in name for c in "*?[,"):
            continue
        same = [other for other in events if other.split(":")[0] == name and other != name]
        if same:
            continue
        out = preport("-f", "folded", "--weight=samples", "-e", name, file.path, status=(0, 1))
        assert sum(folded(out).values()) == samples, name
        out = preport("-f", "folded", "-e", name, file.path, status=(0, 1))
        if period:
            assert sum(folded(out).values()) == period, name


@pytest.mark.parametrize("file", CAPTURES[::3], ids=lambda file: file.name)
def test_the_page_agrees_with_folded(file):
    out = preport("-f", "folded", file.path, status=(0, 1, 3, 5))
    if not out:
        return
    stacks = page_stacks(preport("-f", "flamegraph", "--idle=keep", file.path, status=(0, 1)))
    assert sum(stacks.values()) == sum(folded(out).values())


@pytest.mark.parametrize("file", CAPTURES[::3], ids=lambda file: file.name)
def test_the_table_agrees_with_folded(file):
    out = preport("-f", "folded", "--weight=samples", file.path, status=(0, 1, 3, 5))
    if not out:
        return
    rows = table(preport("-n", "0", "-s", "self", "--idle=keep", file.path, status=(0, 1)))
    assert ({name: row[2] for name, row in rows.items() if row[2]}
            == {name.decode(): n for name, n in self_by_function(folded(out)).items()})


def test_enough_captures_were_looked_at():
    assert len(CAPTURES) > 40


@pytest.mark.parametrize("option, instead", [
    ("--tui", "-f"), ("--call-graph=caller", "-g caller"), ("--symfs=/", "--sysroot"),
    ("-t,", "-f csv"), ("--hierarchy", "-f tree"), ("-D", "pdecode")])
def test_options_of_perf_report_name_ours(option, instead):
    done = subprocess.run([TOOLS / "preport", option], capture_output=True, text=True)
    assert done.returncode == 2 and instead in done.stderr.split(":", 2)[2]


@pytest.mark.parametrize("word", ["csv", "json"])
def test_formats_of_tables_are_options_too(recording, word):
    want = preport("-f", word, recording)
    assert want and want == preport("--" + word, recording) == preport(
        "--" + word, "-f", word, recording)
    other = {"csv": "json", "json": "csv"}[word]
    preport("--csv", "--json", recording, status=2)
    preport("--" + word, "-f", other, recording, status=2)


def test_inlined_functions_are_left_out_if_told_so(recording):
    assert preport("--inline", "--no-inline", recording) == preport(recording)
