"""Options as the users of perf report write them, and where files without -o go."""
import gzip
import os
import re
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import (  # noqa: F401
    EXEC, Recording, build_named, recorded, recording)
from profiles import preport
from test_viewer import on_terminal


def test_a_graph_without_a_word_has_the_callers_or_with_totals_the_callees(recording):
    callers, callees = (preport("-g", word, recording) for word in ("callee", "caller"))
    assert callers != callees
    for options in (["-g"], ["--graph"], ["--graph=auto"], ["-g", "auto"]):
        assert preport(*options, recording) == callers
    total = preport("-s", "total", "-g", "caller", recording)
    assert preport("-g", "-s", "total", recording) == total
    assert preport("--children", "-g", recording) == total


def test_the_number_of_samples_is_no_number_of_rows(recording):
    whole, one = preport(recording), preport("-n", "1", recording)
    for options in (["-n"], ["--show-nr-samples"], ["-n", "-s", "self"], ["-n", "1000"],
                    ["--stdio"]):
        assert preport(*options, recording) == whole
    assert one == preport("-n1", recording) == preport("--rows=1", recording) != whole


def test_ninety_nine_rows_are_a_number_like_others(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for i in range(120):
        it.sample(10 + i, 10, 1, 0x1000 + 8 * i)
    (tmp_path / "x").write_bytes(it.file())
    for rows in (98, 99, 100):
        assert b"\n%d more functions" % (120 - rows) in preport("--addrs", "-n", rows,
                                                                tmp_path / "x")


@pytest.mark.parametrize("option, says", [
    ("-nx", "'-n' needs a number, not 'x'"), ("--rows=", "'--rows' needs a number, not ''"),
    ("-gx", "'-g' must be one of none|callee|caller|auto, not 'x'")])
def test_an_attached_value_must_be_one(recording, option, says):
    status, out, said = everything(option, recording)
    assert status == 2 and says in said and not out


@pytest.mark.parametrize("options, more", [
    (["-n", "abc"], "; 'abc' is no value of '-n'"), (["-g", "x"], "; 'x' is no value of '-g'"),
    (["--rows", "-q", "abc"], ""), (["-n", "2", "abc"], "")])
def test_an_operand_may_be_meant_as_a_value(recording, options, more):
    status, out, said = everything(*options, str(recording))
    assert status == 2 and not out
    more = more or "; --base OLD compares two recordings"
    assert said.splitlines()[0] == f"preport: too many operands: '{recording}'{more}"
    said = everything(str(recording), *options)[2]
    assert said.splitlines()[0] == f"preport: too many operands: '{options[-1]}'{more}"


@pytest.mark.parametrize("option, meant", [
    ("--no-childern", "--no-children"), ("--childern", "--children"), ("--no-pagr", "--no-pager"),
    ("--calers", "--callers")])
def test_an_option_that_is_nearly_one_is_named(option, meant, recording):
    status, out, said = everything(option, recording)
    assert status == 2 and not out
    assert f"unknown option '{option}'; did you mean '{meant}'?" in said


@pytest.mark.parametrize("option", ["--no-ouput", "--no-xyzzy", "--xyzzy"])
def test_an_option_that_is_none_is_not(option, recording):
    """Only flags with two forms have no-."""
    status, _, said = everything(option, recording)
    assert status == 2 and "did you mean" not in said


@pytest.mark.parametrize("word, meant", [
    ("html", "flamegraph"), ("flam", "flamegraph"), ("speedscop", "speedscope"),
    ("fierfox", "firefox"), ("txt", "top"), ("collapsed", "folded"), ("pb", "pprof"),
    ("perfetto", "chrome"), ("callgrnd", "callgrind")])
def test_a_format_that_is_nearly_one_is_named(word, meant, recording):
    status, out, said = everything("-f", word, recording)
    assert status == 2 and not out
    assert f", not '{word}'; did you mean '{meant}'?" in said


@pytest.mark.parametrize("word", ["xml", "x", "", "none"])
def test_a_format_that_is_none_is_not(word, recording):
    status, _, said = everything("-f", word, recording)
    assert status == 2 and "must be one of" in said and "did you mean" not in said


def everything(*options):
    done = subprocess.run([TOOLS / "preport", "--no-symbols", *options], capture_output=True,
                          text=True, timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr


def test_the_graph_of_perf_report_is_no_file(recording):
    status, _, said = everything("-g", "graph,0.5,caller", recording)
    assert status == 2 and "'-g' must be one of none|callee|caller|auto" in said


@pytest.mark.parametrize("name, alias, value", [
    ("--dso", "--dsos", "libx.so.1"), ("--dso", "-d", "libx.so.1"), ("--comm", "--comms", "child")])
def test_filters_have_the_names_of_perf_report(recording, name, alias, value):
    assert preport(name, value, recording) == preport(alias, value, recording)
    assert preport(name, value, recording) != preport(recording)


def test_a_recording_without_samples_is_no_filter_that_matches_nothing(recording, tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    (tmp_path / "x").write_bytes(it.file())
    for options, says in (([tmp_path / "x"], "the recording has no samples: nothing ran for lo"),
                          (["--pid=10", tmp_path / "x"], "no sample matches"),
                          (["-e", "cycles", recording], "no sample matches")):
        status, out, said = everything(*options)
        assert status == 5 and says in said and not out


def test_a_name_that_no_thread_has_is_answered_with_those_that_threads_have(tmp_path):
    it = Recording()
    for pid in range(10, 40):
        it.comm(1, pid, f"app {pid % 25}", misc=EXEC)
        it.map(2, pid, 0x1000, 0x1000, "/bin/one")
        it.sample(3, pid, 1000, 0x1010)
    (tmp_path / "x").write_bytes(it.file())
    status, out, said = everything("--comm", "ap", tmp_path / "x")
    names = ", ".join(f"app {pid % 25}" for pid in range(39, 19, -1))
    assert status == 5 and not out
    assert said.splitlines()[1:] == [f"preport: --comm: the threads are called {names}, ..."]
    assert "called" not in everything("--pid", "1", tmp_path / "x")[2]


def test_a_gate_for_a_function_that_is_not_there_says_so(recording):
    status, out, said = everything("--fail-above", "[libx.so.2]=5%", recording)
    assert status == 5 and out     # a pattern: one of these characters
    assert "'--fail-above': no function matches '[libx.so.2]'" in said
    status, _, said = everything("--fail-above", "nothing=5%", "--fail-above=*=5%", recording)
    assert status == 6 and "no function matches 'nothing'" in said
    for pattern in ("[[]libx.so.1]", "[libx.so.1]"):
        status, _, said = everything("--fail-above", f"{pattern}=5%", recording)
        assert status == 6 and "no function" not in said
        assert everything("--fail-above", f"{pattern}=95%", recording)[0] == 0
        assert "3 samples of cpu-clock" in everything("--parent", pattern, recording)[1]


def test_a_file_without_a_name_is_beside_the_input(recording, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    data = there / "perf.data"
    data.write_bytes(recording.read_bytes())
    assert f"wrote {there}/perf.html" in on_terminal("-f", "flamegraph", data, cwd=here)[1]
    assert "wrote there/perf.pb.gz" in on_terminal("-f", "pprof", "there/perf.data",
                                                   cwd=tmp_path)[1]
    assert "wrote perf.svg" in on_terminal("-f", "svg", "perf.data", cwd=there)[1]
    assert sorted(os.listdir(there)) == ["perf.data", "perf.html", "perf.pb.gz", "perf.svg"]
    assert os.listdir(here) == []


def test_a_file_is_here_if_none_can_be_beside_the_input(recording, tmp_path):
    """Nobody can make files in a folder of /proc."""
    with recording.open("rb") as data:
        path = f"/proc/{os.getpid()}/fd/{data.fileno()}"
        said = on_terminal("-f", "flamegraph", path, cwd=tmp_path)[1]
    assert "wrote perf.html" in said and (tmp_path / "perf.html").exists()


@pytest.mark.parametrize("options", [[], ["-s", "total"], ["-s", "dso,sym"], ["-s", "comm,dso"]])
def test_a_table_fits_into_the_terminal(recording, options):
    for columns in (40, 60, 80, 100, 120, 200):
        status, out = on_terminal("--no-pager", *options, recording, columns=columns)
        rows = [line for line in out.split("\n") if "%    " in line[:14] or "total" in line[:20]]
        assert status == 0 and len(rows) > 3 and max(map(len, rows)) <= max(columns, 62), out
        head = rows[0].split()
        assert ("thread" in head) == (columns >= 100 and options[1:] in ([], ["total"]))
        if columns >= 120:
            assert rows[1].count("█") == 8 and rows[1].count("█") > rows[-1].count("█")
    assert "█" not in preport(*options, recording).decode()


@pytest.mark.parametrize("name, shown", [
    ("std::vector<Order, std::allocator<Order> >::_M_realloc_insert<Order const&>",
     "std::vector<…>::_M_realloc_insert<…>"),
    ("std::operator<< <std::char_traits<char> >", "std::operator<< <…>"),
    ("bool std::operator<=><int, std::vector<int>>(x)", "bool std::operator<=><…>(x)"),
    ("T<int, 12345678901234567890>::operator-><int, float>()", "T<…>::operator-><…>()"),
    ("std::operator< <int, 12345678901234567890>", "std::operator< <…>"),
    ("half<open and a long end that does not fit", "half<open and a long end that does not …"),
    ("half>open and a long end that does not fit", "half>open and a long end that does not …"),
    ("<>" * 2048, "<…>" * 13 + "…"),
    ("short<int>", "short<int>")])
@pytest.mark.sanitize
def test_template_arguments_go_first_where_there_is_no_room(name, shown, tmp_path):
    """The hottest path has 40 columns for a name."""
    program = build_named(tmp_path / "app", name)
    (tmp_path / "x").write_bytes(recorded(program, program[1]))
    out = preport("--title=x", tmp_path / "x", symbols=()).decode()
    assert f"  {name} " in out      # in a pipe a table has all of it
    assert f" › {shown}\n" in out


@pytest.mark.parametrize("option, path, why", [
    ("--vmlinux", "text", "no ELF file"), ("--vmlinux", ".", "no ELF file"),
    ("--vmlinux", "packed", "no ELF file"),
    ("--vmlinux", "nothing", "No such file"), ("--sysroot", "text", "Not a directory"),
    ("--sysroot", "nothing", "No such file"), ("--debug-dir", "text", "Not a directory")])
def test_files_of_another_kind_are_refused(recording, tmp_path, option, path, why):
    """A vmlinuz has no symbols: without a word, the user would think that its names are shown."""
    (tmp_path / "text").write_text("no ELF file at all")
    (tmp_path / "packed").write_bytes(gzip.compress(b"\x7fELF"))
    done = subprocess.run([TOOLS / "preport", option, tmp_path / path, recording], timeout=TIMEOUT,
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert re.fullmatch(f"preport: {option} \\S+: {why}.*\n", done.stderr), done.stderr


@pytest.mark.parametrize("options, says", [
    (["--off-cpu", "--wall"], "one of them, please"),
    (["--no-symbols", "--inline"], "'--inline' is for the names that '--no-symbols' leaves out"),
    (["-f", "pprof", "--no-symbols", "--lines"], "'--lines' is for the names"),
    (["--no-symbols", "--kallsyms=x"], "'--kallsyms' is for the names"),
    (["--no-symbols", "-k", "x"], "'--vmlinux' is for the names"),
    (["--group=comm,none"], "--group comm,none: none is not for others"),
    (["-f", "pprof", "--labels=none,pid"], "--labels none,pid: none is not for others"),
    (["-f", "folded", "--title=x"], "'--title' is for -f top, tree"),
    (["-f", "script", "--title=x"], "'--title' is for"),
    (["-f", "pprof", "--title=x"], "'--title' is for"),
    (["-f", "folded", "-s", "total"], "'--sort' is for -f top, csv and json"),
    (["-f", "tree", "--children"], "'--children' is for -f top, csv and json"),
    (["-f", "script", "--children"], "'--children' is for"),
    (["--csv", "--group=pid"], "'--group' is not for -f csv and json: '--sort comm,pid,sym' has"),
    (["--json", "--group=none"], "'--group' is not for -f csv"),
    (["-f", "speedscope", "--group=pid"],
     "'--group' is not for -f csv, json, speedscope, chrome and script\n"),
    (["-f", "chrome", "--stacks", "--group=none"], "'--group' is not for -f csv, json, speed"),
    (["-f", "folded", "--lines"], "'--lines' is for -f flamegraph, pprof, callgrind, firefox, "
     "speedscope and otlp; tables have '--sort srcline'\n"),
    (["--lines"], "'--lines' is for -f flamegraph, pprof"),
    (["-f", "script", "--wall"], "'--wall' is not for -f script\n"),
    (["-f", "top", "--min=1"], "'--min' is for -f folded, flamegraph and svg; '--percent-limit'"),
    (["--absolute"], "'--absolute' is for '--base'\n"),
    (["--base=x", "-f", "tree"], "'--base' is for -f top, flamegraph, pprof, csv and json\n"),
    (["--labels=pid", "--group=pid", "-f", "pprof"], "'--labels' takes the place of '--group'"),
    (["--base=x", "--group=pid"], "'--group' is not for the table of '--base'"),
    (["--base=x", "-s", "comm"], "'--sort' with columns is not for '--base'"),
])
def test_options_that_would_do_nothing_are_refused(recording, options, says):
    status, out, said = everything(*options, str(recording))
    assert status == 2 and says in said and not out
