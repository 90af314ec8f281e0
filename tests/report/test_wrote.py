"""The lines after a file was written, and the progress before that: on a terminal."""
import json
import re
import shlex
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import recording  # noqa: F401
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from test_viewer import on_terminal


def test_the_line_says_what_is_in_the_file(recording, tmp_path):
    out = tmp_path / "x.html"
    status, said = on_terminal("-f", "flamegraph", "--idle=keep", "-o", out, recording)
    size = out.stat().st_size
    assert status == 0 and size > 10000
    # 2 events, 5 names of tasks, 10 functions
    assert said.split("\n")[0] == (
        f"preport: wrote {out} ({size / 1000:.0f} kB, 17 frames, 8 samples; 9 lost)")


@pytest.mark.parametrize("name, opens", [
    ("x.html", "xdg-open PATH"), ("x.svg", "xdg-open PATH"),
    ("x.pb.gz", "go tool pprof -http=: PATH"), ("x.folded", "flamegraph.pl PATH"),
    ("callgrind.out.x", "kcachegrind PATH"), ("x.otlp", None), ("x.csv", None),
    ("x.perf.txt", None), ("x.firefox.json.gz", "https://profiler.firefox.com"),
    ("x.speedscope.json", "https://www.speedscope.app"),
    ("x.trace.json.gz", "https://ui.perfetto.dev")])
def test_the_line_that_opens_the_file(recording, tmp_path, name, opens):
    status, said = on_terminal("-o", tmp_path / name, recording)
    lines = [line for line in said.splitlines() if "samples of cpu-clock; -e" not in line]
    assert status == 0 and re.fullmatch(
        r"preport: wrote \S+ \([\d.]+ k?B?(bytes)?, (\d+ frames, )?\d samples; \d lost\)",
        lines[0])
    assert ("frames" in lines[0]) == (name != "x.perf.txt")
    want = opens and "preport: to open it: " + opens.replace("PATH", str(tmp_path / name))
    assert lines[1:] == ([want] if want else [])


def test_a_path_is_one_word_of_the_command(recording, tmp_path):
    for name in ("a b.html", "it's.html", "$(x).html", "-x.html"):
        status, said = on_terminal("-o", name, recording, cwd=tmp_path)
        assert status == 0 and (tmp_path / name).exists()
        words = shlex.split(said.splitlines()[1].split("open it: ")[1])
        assert words == ["xdg-open", ("./" if name[0] == "-" else "") + name]


def test_numbers_have_commas(tmp_path):
    from known_recording import EXEC, Recording
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(1234):
        it.sample(10 + i, 10, 1, 0x1010)
    (tmp_path / "perf.data").write_bytes(it.file())
    said = on_terminal("-o", tmp_path / "x.csv", tmp_path / "perf.data")[1]
    assert "1,234 samples" in said


def test_no_line_for_standard_output_or_if_quiet(recording, tmp_path):
    assert "wrote" not in on_terminal("-f", "csv", "-o", "-", recording)[1]
    assert on_terminal("-q", "-o", tmp_path / "x.csv", recording) == (0, "")


# The clock goes on by a second with each look at it.
CLOCK = """
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *out)
{
    static long seconds = 1000;
    (void)id;
    *out = (struct timespec){ seconds++, 0 };
    return 0;
}
"""


@pytest.fixture(scope="module", name="clock")
def clock_fixture(tmp_path_factory):
    path = tmp_path_factory.mktemp("clock") / "clock.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", path], input=CLOCK.encode(),
                   check=True)
    return path


def large(path):
    from known_recording import EXEC, Recording
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    for i in range(2000):
        it.sample(10 + i, 10, 1, 0x1010)
    path.write_bytes(it.file())
    return path


@pytest.mark.parametrize("format", ["folded", "top", "speedscope"])
def test_progress_is_shown_after_a_second_and_removed(tmp_path, clock, format):
    path = large(tmp_path / "perf.data")
    _, said = on_terminal("-f", format, "--no-pager", "-o", tmp_path / "out", path,
                          LD_PRELOAD=str(clock))
    bars = re.findall(r"\r *(\d+)% \[#*\.*\] [\d.]+ KiB of ", said)
    assert bars and list(map(int, bars)) == sorted(map(int, bars)) and "\r " in said
    assert re.match(r"[^\r]*\r +\r", said[said.rindex("% ["):])


def test_no_progress_of_short_work_or_beside_the_text(tmp_path, clock):
    path = large(tmp_path / "perf.data")
    assert "\r" not in on_terminal("-f", "folded", "-o", tmp_path / "out", path)[1]
    assert "%" not in on_terminal("-f", "script", "--no-pager", path, LD_PRELOAD=str(clock))[1]


# --- one event of several -------------------------------------------------------------------------

def run(*args):
    return subprocess.run([TOOLS / "preport", "--no-symbols", *map(str, args)], check=True,
                          capture_output=True, text=True, timeout=TIMEOUT)


@pytest.mark.parametrize("format", ["folded", "csv", "json", "svg"])
def test_formats_of_one_event_name_the_others(recording, format):
    line = f"preport: {recording}: samples of cpu-clock; -e has those of page-faults:HG\n"
    assert run("-f", format, recording).stderr == line
    for options in (["-q"], ["-e", "cpu-clock"], ["-e", "page-faults"]):
        assert "page-faults" not in run("-f", format, *options, recording).stderr


@pytest.mark.parametrize("options", [
    ["-f", "top"], ["-f", "tree"], ["-f", "pprof"], ["-f", "callgrind"], ["-f", "flamegraph"],
    ["-f", "speedscope"], ["-f", "csv", "--sort", "event,sym"], ["-f", "script"]])
def test_formats_of_all_events_print_nothing(recording, tmp_path, options):
    assert run(*options, "-o", tmp_path / "out", recording).stderr == ""


def test_json_names_the_others(recording):
    got = json.loads(run("-f", "json", recording).stdout)
    assert got["event"] == "cpu-clock" and got["other_events"] == ["page-faults:HG"]
    for options in (["-e", "cpu-clock"], ["--sort", "event,sym"]):
        assert "other_events" not in json.loads(run("-f", "json", *options, recording).stdout)


def test_many_names_are_cut(tmp_path):
    event = attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=0, sample_period=1)
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(event, [1 + i]) for i in range(99)], records=[
        sample(event, pid=1, tid=1, ip=1, time=i, period=1, identifier=1 + i)
        for i in range(99)]).build())
    said = run("-f", "folded", path).stderr
    assert said.endswith(", cpu-clock:HG, ...\n") and len(said) < 160 + len(str(path)) + 60


def test_samples_are_those_of_the_file(recording, tmp_path):
    for name, options, nr in (("x.folded", [], 7), ("x.csv", [], 7), ("x.pb.gz", [], 8),
                              ("x.csv", ["--sort=event,sym"], 8),
                              ("x.folded", ["-e", "page-faults"], 1)):
        said = on_terminal("--idle=keep", *options, "-o", tmp_path / name, recording)[1]
        assert f", {nr} samples;" in said
