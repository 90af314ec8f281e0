"""Stacks from the leaf, cut stacks, suffixes, and the view with which pictures begin."""
import itertools
import json
import re
from xml.etree import ElementTree

import pytest

from conftest import fixture_files
from known_recording import (  # noqa: F401
    CONTEXT_USER, EXEC, KTEXT, Recording, deep, recording)
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from profiles import Firefox, Pprof, folded, page, page_stacks, preport, text

CAPTURES = [file for file in fixture_files() if file.name.split("/")[0] in (
    "02-callgraph-fp.data", "45-kernel-callchains.data", "03-callgraph-dwarf.data")]
SAMPLED = "IP|TID|TIME|PERIOD|CALLCHAIN|IDENTIFIER"
TRACED = attr(SAMPLED, type=2, config=77, sample_period=1, flags=("sample_id_all",))
COUNTED = attr(SAMPLED, type=1, config=2, sample_period=1, flags=("sample_id_all",))
A, B, C = 0x1010, 0x2010, 0x3010


def test_the_kernel_is_there_if_chains_leave_it_out(tmp_path):
    """--user-callchains. perf script has chains alone, and perf report the ip."""
    clock = attr(SAMPLED, type=1, config=0, sample_period=1,
                 flags=("sample_id_all", "exclude_callchain_kernel"))
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "one", misc=EXEC)
    it.map(2, 10, A & ~0xfff, 0x1000, "/bin/a")
    for time, ip, *chain in ((10, KTEXT, A, A + 1), (11, A, A, A + 1), (12, KTEXT, A, A + 1),
                             (13, KTEXT), (14, A, A)):
        it.records.append(sample(clock, misc=1 if ip >= KTEXT else 2, pid=10, tid=10, time=time,
                                 ip=ip, period=time, identifier=1,
                                 callchain=[CONTEXT_USER, *chain] if chain else []))
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(clock, [1])], records=it.records).build())
    assert text(folded(preport("-f", "folded", path))) == {
        "one;[a];[a];[[kernel.kallsyms]]": 22, "one;[a];[a]": 11, "one;[[kernel.kallsyms]]": 13,
        "one;[a]": 14}
    head = preport(path).decode()
    assert head.split("\n")[1].startswith("kernel 58.3 %  program 41.7 %")
    assert "kernel" not in preport("-f", "script", path, "--time=,12ns").decode()


@pytest.fixture
def calls(tmp_path):
    """a>b 10, a>b>b>c 5, c>b 3, b 2 and the kernel below b 100."""
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "one", misc=EXEC)
    for at, image in ((A, "a"), (B, "b"), (C, "c")):
        it.map(2, 10, at & ~0xfff, 0x1000, "/bin/" + image)
    it.sample(10, 10, 10, B, A)
    it.sample(11, 10, 5, C, B, B, A)
    it.sample(12, 10, 3, B, C)
    it.sample(13, 10, 2, B)
    it.sample(14, 10, 100, KTEXT + 16, B)
    path = tmp_path / "calls.data"
    path.write_bytes(it.file())
    return path


def turned(stacks):
    return {";".join([key.split(";")[0], *reversed(key.split(";")[1:])]): value
            for key, value in stacks.items()}


def test_callers_are_the_stacks_from_the_leaf(recording, calls):
    for path in (recording, calls):
        stacks = text(folded(preport("-f", "folded", path)))
        assert text(folded(preport("-f", "folded", "--callers", path))) == turned(stacks)


def test_callers_of_an_event_that_is_not_the_first(tmp_path):
    sid = sample_id(TRACED, time=1, identifier=1)
    records = [r.comm(10, 10, "one", sid=sid)]
    records += [r.mmap2(10, 10, at & ~0xfff, 0x1000, 0, 8, 1, 7, 0, 5, 2, name, sid=sid)
                for at, name in ((A, "/bin/a"), (B, "/bin/b"), (C, "/bin/c"))]
    for i, (event, *chain) in enumerate(((TRACED, A, B), (TRACED, C, B), (COUNTED, A, B))):
        id = 2 if event is COUNTED else 1
        records.append(sample(event, misc=2, pid=10, tid=10, time=10 + i, ip=A, identifier=id,
                              period=id, callchain=[CONTEXT_USER, *chain]))
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(TRACED, [1]), (COUNTED, [2])], records=records).build("<"))
    assert preport("-f", "folded", "--callers", path) == b"one;[a];[b] 2\n"
    assert preport("-f", "folded", "--min=60", path) == b"one;[b];[a] 2\n"


@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: file.name)
def test_callers_of_captures(file):
    assert len(CAPTURES) == 3
    stacks = text(folded(preport("-f", "folded", file.path)))
    assert len(stacks) > 5
    assert text(folded(preport("-f", "folded", "--callers", file.path))) == turned(stacks)


def test_no_stack_is_longer_than_asked_for_from_its_leaf(calls):
    assert text(folded(preport("-f", "folded", "--callers", "--max-stack=1", calls))) == {
        "one;[b]": 15, "one;[c]": 5, "one;[[kernel.kallsyms]]": 100}
    assert text(folded(preport("-f", "folded", "--callers", "--max-stack=2", calls))) == {
        "one;[b];[a]": 10, "one;[c];[b]": 5, "one;[b];[c]": 3, "one;[b]": 2,
        "one;[[kernel.kallsyms]];[b]": 100}


def test_the_tree_of_callers(calls):
    out = preport("-f", "tree", "--callers", calls).decode()
    assert out.split("\n\n")[1].split("\n")[:7] == [
        "   total  callers", " 100.0 %  cpu-clock", " 100.0 %    one",
        "  83.3 %      [[kernel.kallsyms]] › [b]", "  12.5 %      [b]", "   8.3 %        [a]",
        "   2.5 %        [c]"]
    assert out.split("\n")[1] == preport("-f", "tree", calls).decode().split("\n")[1]
    assert out.startswith(preport("-f", "tree", calls).decode().split("\n\n")[0])


def test_a_function_can_end_the_stacks(calls, recording):
    assert text(folded(preport("-f", "folded", "--cut-after", "?b?", calls))) == {
        "one;[a];[b]": 15, "one;[b]": 102, "one;[c];[b]": 3}
    assert text(folded(preport("-f", "folded", "--cut-after", "no*", calls))) == text(
        folded(preport("-f", "folded", calls)))


def test_idle_samples_are_known_by_their_leaf(tmp_path):
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "one", misc=EXEC)
    it.map(2, 10, A & ~0xfff, 0x1000, "/bin/a")
    it.sample(10, 10, 10, A)
    it.sample(11, 0, 100, KTEXT + 0x20, KTEXT + 0x10)
    (tmp_path / "kallsyms").write_text(
        f"{KTEXT:x} T _text\n{KTEXT + 0x10:x} T start_cpu\n{KTEXT + 0x20:x} T default_idle\n")
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    for options in ((), ("--max-stack=1",), ("--cut-after=start*",), ("--callers",)):
        out = preport("-f", "tree", "--kallsyms", tmp_path / "kallsyms", *options, path,
                      symbols=()).decode()
        assert "idle: 90.9 % of the samples' weight, left out" in out
    out = preport("-n", "0", "--idle=only", "--kallsyms", tmp_path / "kallsyms", path,
                  symbols=()).decode()
    assert "only idle CPUs: 90.9 % of the samples' weight\n" in out and "left out" not in out
    page_of = page(preport("-f", "flamegraph", "--idle=only", "--kallsyms", tmp_path / "kallsyms",
                           path, symbols=()))[0]
    assert "; 1 other sample left out" in page_of["facts"]


@pytest.mark.parametrize("form", ["top", "flamegraph", "folded"])
def test_without_idle_samples_only_those_are_none(calls, form):
    assert preport("-f", form, "--idle=only", calls, status=5) == b""


@pytest.mark.parametrize("option", ["--kallsyms", "--vmlinux", "--sysroot"])
def test_a_file_of_names_must_be_there(calls, tmp_path, option):
    preport(option, tmp_path / "missing", calls, status=3, symbols=())


def test_suffixes(calls, tmp_path):
    marked = text(folded(preport("-f", "folded", "--annotate", calls)))
    assert marked["one;[b];[[kernel.kallsyms]]_[k]"] == 100 and marked["one;[b]"] == 2
    assert preport("-f", "folded", "--annotate=j,i", calls) == preport("-f", "folded", calls)
    it = Recording()
    it.comm(1, 10, "one", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "//anon")
    it.sample(10, 10, 10, A)
    path = tmp_path / "jit.data"
    path.write_bytes(it.file())
    assert b"_[j] 10\n" in preport("-f", "folded", "--annotate=j", path)
    assert b"_[j]" not in preport("-f", "folded", "--annotate=k", path)


def rows(data):
    """{name: y} of a picture's frames."""
    space = "{http://www.w3.org/2000/svg}"
    return {re.sub(r" \(.*", "", frame.find(space + "title").text):
            float(frame.find(space + "rect").get("y"))
            for frame in ElementTree.fromstring(data).iter(space + "g")}


def test_an_icicle_has_its_root_above(calls):
    flame, icicle = (rows(preport("-f", "svg", "--comm=one", *options, calls))
                     for options in ((), ("--inverted",)))
    assert flame["all"] > flame["one"] > flame["[a]"]
    assert icicle["all"] < icicle["one"] < icicle["[a]"]


def test_callers_in_a_picture(calls):
    got = rows(preport("-f", "svg", "--callers", calls))
    assert got["one"] > got["[[kernel.kallsyms]]"] > got["[a]"]


def test_the_page_begins_with_a_view(recording):
    for options, view in ((("--callers",), "callers"), (("--inverted",), "icicle"), ((), None)):
        data = preport("-f", "flamegraph", *options, recording)
        assert page(data)[0].get("view") == view
        assert page_stacks(data) == page_stacks(preport("-f", "flamegraph", recording))


@pytest.mark.parametrize("options", (
    ["--callers"], ["--callers", "-f", "pprof"], ["--callers", "-f", "script"], ["--inverted"],
    ["--inverted", "-f", "folded"], ["--callers", "--inverted", "-f", "flamegraph"],
    ["--annotate"], ["--annotate", "-f", "script"], ["--annotate=x", "-f", "folded"],
    ["--annotate=kj", "-f", "folded"], ["--theme=dark"], ["--theme=dark", "-f", "svg"]))
def test_wrong_words(recording, options):
    preport(*options, recording, status=2)


# --- small stacks, cut stacks, whole names --------------------------------------------------------

def test_small_stacks_are_one_frame_below_their_callers(calls):
    got = text(folded(preport("-f", "folded", "--min=10", calls)))
    assert got == {"one;[b];[[kernel.kallsyms]]": 100, "one;[b]": 2, "one;[a];[b]": 10,
                   "one;[a];[b];[small]": 5, "one;[small]": 3}
    assert text(folded(preport("-f", "folded", "--min=50", calls))) == {
        "one;[b];[[kernel.kallsyms]]": 100, "one;[b]": 2, "one;[small]": 18}
    for none in ("0", "0.01", "1%"):
        assert preport("-f", "folded", "--min", none, calls) == preport("-f", "folded", calls)


def test_small_stacks_from_the_leaf(calls):
    assert text(folded(preport("-f", "folded", "--callers", "--min=10", calls))) == {
        "one;[[kernel.kallsyms]];[b]": 100, "one;[b]": 2, "one;[b];[small]": 13, "one;[small]": 5}


@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: file.name)
def test_sums_stay_without_small_stacks(file):
    for options in ((), ("--callers",)):
        whole, less = (folded(preport("-f", "folded", *options, *more, file.path))
                       for more in ((), ("--min=6",)))
        assert sum(less.values()) == sum(whole.values()) and less != whole
        all_of_it = sum(whole.values())
        heavy = {key: value for key, value in totals(whole).items() if value * 100 >= 6 * all_of_it}
        assert heavy == {key: value for key, value in totals(less).items()
                         if not key[-1] == b"[small]"}


def totals(stacks):
    """{the first frames of stacks: their weight}."""
    sums = {}
    for key, value in stacks.items():
        for depth in range(1, len(key) + 1):
            sums[key[:depth]] = sums.get(key[:depth], 0) + value
    return sums


def test_the_page_and_the_picture_have_small_stacks(calls):
    data = preport("-f", "flamegraph", "--min=10", calls)
    assert page_stacks(data) == {"one;[b];[[kernel.kallsyms]]": 100, "one;[b]": 2,
                                 "one;[a];[b]": 10, "one;[a];[b];[small]": 5, "one;[small]": 3}
    about, nodes, samples = page(data)
    sums = {}
    for _, _, node, weight in samples:
        sums[node] = sums.get(node, 0) + weight
    assert sums == {i: node[2] for i, node in enumerate(nodes) if node[3]}
    assert "[small]" in rows(preport("-f", "svg", "--min=10", calls))


@pytest.mark.parametrize("options", (
    ["--min=10"], ["--min=10", "-f", "tree"], ["--min=x", "-f", "folded"],
    ["--min=101", "-f", "folded"], ["--min=-1", "-f", "folded"], ["--min=nan", "-f", "folded"],
    ["--min=", "-f", "folded"], ["--percent-limit=x"], ["--raw-names"], ["--raw-names", "-f",
                                                                          "script"]))
def test_wrong_percentages_and_formats(recording, options):
    preport(*options, recording, status=2)


def test_a_limit_can_be_a_part_of_a_percent(calls):
    shown = preport("-n0", "--percent-limit=1.6", "-s", "self", calls).decode()
    assert "[c]" in shown and "1 more function\n" in shown       # [a] has no self
    assert "2 more functions" in preport("-n0", "--percent-limit=5.5", calls).decode()


def test_cut_stacks_are_marked_in_files_for_programs_if_asked_for(deep):
    marked = text(folded(preport("-f", "folded", "--mark-cut", "--fold-recursion", deep)))
    assert marked == {"deep;[cut stack];[app]": 1, "deep;[app]": 1}
    assert b"[cut stack]" not in preport("-f", "folded", deep)
    for mark in ([], ["--mark-cut"]):
        stacks = Pprof(preport("-f", "pprof", *mark, deep)).stacks()
        assert ["[cut stack]" in key.split(";") for key in stacks] == [bool(mark), False]
        lines = preport("-f", "script", *mark, deep).decode().split("\n\n")[0].split("\n")
        assert len(lines) == 128 + len(mark)
        assert (lines[-1] == "\t               0 [cut stack] ([unknown])") == bool(mark)
    assert Firefox(preport("-f", "firefox", deep)).weights().keys() == {
        ";".join(["deep", "[cut stack]", *["[app]"] * 127]), ";".join(["deep", *["[app]"] * 126])}


def test_whole_names(tmp_path):
    it = Recording()
    it.comm(1, 10, "my app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/tmp/a(b;c) \"d'\x01")
    it.sample(10, 10, 3, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert preport("-f", "folded", path) == b"my_app;[a 3\n"
    assert preport("-f", "folded", "--raw-names", path) == b"my_app;[a(b:c) \"d'?] 3\n"


# --- the hottest path -----------------------------------------------------------------------------

def hottest_path(path, *options):
    lines = preport(*options, path).decode().splitlines()
    return lines[-1].removeprefix("hottest path  ")


def test_the_hottest_path_counts_recursion_and_states_each_share_once(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x2000, 0x1000, "/lib/libx.so")
    it.sample(10, 10, 60, 0x2010, *[0x1010] * 3)
    it.sample(11, 10, 40, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert hottest_path(path) == "100 % app › [app] ×3 › 60 % [libx.so]"


@pytest.mark.parametrize("depth, want", [
    (16, "100 % app › " + " › ".join(f"[app+0x{i:x}]" for i in range(16))),
    (17, "100 % app › [app+0x0] › [app+0x1] › [app+0x2] › … 2 more › "
         + " › ".join(f"[app+0x{i:x}]" for i in range(5, 17))),
    (60, "100 % app › [app+0x0] › [app+0x1] › [app+0x2] › … 45 more › "
         + " › ".join(f"[app+0x{i:x}]" for i in range(48, 60)))])
def test_a_long_hottest_path_shows_its_ends(depth, want, tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.sample(10, 10, 1, *[0x1000 + i for i in reversed(range(depth))])
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert hottest_path(path, "--addrs") == want


@pytest.mark.parametrize("callees, want", [
    ((25, 25, 25, 25), "100 % app › [app] › 25 % [lib0.so] › [deep.so]"),
    ((24, 24, 24, 24, 4), "100 % app › [app]"),
    ((6, 5), "100 % app › [app] › 55 % [lib0.so] › [deep.so]")])
def test_the_hottest_path_ends_where_it_splits_up(callees, want, tmp_path):
    """Each callee calls another, so that the path could go on."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(3, 10, 0x2000, 0x1000, "/lib/deep.so")
    for i, weight in enumerate(callees):
        it.map(4 + i, 10, 0x10000 * (1 + i), 0x1000, f"/lib/lib{i}.so")
        it.sample(20 + i, 10, weight, 0x2010, 0x10000 * (1 + i), 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert hottest_path(path) == want


def test_the_hottest_path_ends_before_functions_of_nothing(tmp_path):
    """Each function has four callees that are alike: at the fifth level of 0.4 % each."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for leaf in itertools.product(range(4), repeat=4):
        at = [0x1000]
        for digit in leaf:
            at.append(0x1000 + 4 * (at[-1] - 0x1000) + 1 + digit)
        it.sample(10, 10, 1, *reversed(at))
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    assert hottest_path(path, "--addrs") == (
        "100 % app › [app+0x0] › 25 % [app+0x1] › 6 % [app+0x5] › 2 % [app+0x15]")


def test_samples_below_a_place_that_is_left_out_stay(tmp_path):
    """The kernel was entered where the program was sampled before: the same place of the tree."""
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.sample(10, 10, 1, 0x1010)
    it.sample(20, 10, 2, KTEXT + 8, 0x1010)
    it.sample(30, 10, 4, 0x1010)
    it.sample(40, 10, 8, KTEXT + 8, 0x1010)
    path = tmp_path / "x"
    path.write_bytes(it.file())
    options = ["--addrs", "--parent=[[][[]kernel*"]
    assert sum(folded(preport("-f", "folded", *options, path)).values()) == 10
    profiles = json.loads(preport("-f", "speedscope", *options, path))["profiles"]
    assert sum(weight for one in profiles for weight in one["weights"]) == 10
