"""preport -f script: its text is that of perf script, and of programs that read it."""
import re
import shutil
import struct
import subprocess

import pytest

import perf_oracle
from conftest import TIMEOUT, fixture_files
from known_recording import EXEC, USER, Recording, build_program, known, recorded
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.tracing import Format, common, tracing_data
from profiles import folded, preport, text

CAPTURES = [file for file in fixture_files() if not file.is_directory]


@pytest.fixture
def write(tmp_path):
    def go(data):
        (tmp_path / "perf.data").write_bytes(data)
        return tmp_path / "perf.data"
    return go


def app():
    it = Recording()
    it.comm(1, 10, "my app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    return it


@pytest.mark.sanitize
def test_a_stack_below_each_sample(write):
    it = app()
    it.sample(1_234_567_891_999, 10, 250, 0x1010, 0x1020, cpu=3)
    it.sample(1_234_567_893_000, 10, 7, 0x9999, tid=11)
    assert preport("-f", "script", write(it.file())).decode() == (
        "my app      10 [003]  1234.567891:        250      cpu-clock: \n"
        "\t            1010 [unknown] (/bin/app)\n"
        "\t            1020 [unknown] (/bin/app)\n"
        "\n"
        ":11      11 [000]  1234.567893:          7      cpu-clock: \n"
        "\t            9999 [unknown] ([unknown])\n"
        "\n")


def test_a_stack_has_at_most_so_many_addresses(write):
    """The innermost ones, as in perf script; the second sample has most of the first one's."""
    it = app()
    for at, leaf in (10, 0x1010), (11, 0x1011), (12, 0x1012):
        it.sample(at, 10, 1, leaf, 0x1020, 0x1030, 0x1040)
    path = write(it.file())

    def stacks(*options):
        out = preport("-f", "script", "-F", "event,ip", *options, path).decode()
        return [[line.strip() for line in lines.splitlines()[1:]]
                for lines in out.split("\n\n")[:-1]]
    whole = [[leaf, "1020", "1030", "1040"] for leaf in ("1010", "1011", "1012")]
    assert stacks() == stacks("--max-stack=0") == stacks("--max-stack=4") == whole
    for most in (1, 2, 3):
        assert stacks("--max-stack", most) == [stack[:most] for stack in whole]


@pytest.mark.parametrize("option", ["--parent=x", "--group=pid", "--cut-after=x", "--addrs",
                                    "--fold-recursion", "--weight=samples", "--idle=drop",
                                    "--fail-above=x=5", "-n2", "--percent-limit=2", "--off-cpu",
                                    "--wall"])
def test_options_of_merged_stacks_are_refused(write, option):
    preport("-f", "script", option, write(app().file()), status=2)


@pytest.mark.parametrize("option", ["--compat=6.1", "--layout=perf", "--ns", "--header",
                                    "-Fcomm"])
def test_options_of_text_are_for_nothing_else(write, option):
    preport("-f", "folded", option, write(app().file()), status=2)


def test_a_line_for_each_sample_without_call_graphs(write, tmp_path):
    bare = attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=0, sample_period=1000,
                flags=("exclude_guest",))
    records = [sample(bare, misc=USER, pid=10, tid=10, time=10**9, ip=0x1010, identifier=1,
                      period=99)]
    path = write(File(attrs=[(bare, [1])], records=records).build())
    line = "             :10      10     1.000000:         99 cpu-clock: "
    place = "            1010 [unknown] ([unknown])\n"
    assert preport("-f", "script", path).decode() == line + " " + place
    stacks = f"{line.strip()} \n\t{place}\n"
    assert preport("-f", "script", "--layout=stack", path).decode() == stacks
    for name, want in (("x.linux-perf.txt", stacks), ("x.perf.txt", line + " " + place)):
        preport("-o", tmp_path / name, path)
        assert (tmp_path / name).read_text() == want


def test_perf_6_1_has_narrower_columns_and_offsets(write):
    it = app()
    it.records.pop()
    it.map(2, 10, 0x5000, 0x1000, "/bin/app")
    it.sample(10**9, 10, 250, 0x5010, 0x9999)
    out = preport("-f", "script", "--compat=6.1", write(it.file())).decode()
    assert out.startswith("my app    10 [000]     1.000000: ")
    assert "\t              10 [unknown] (/bin/app)\n\t            9999 [unknown]" in out


@pytest.mark.sanitize
def test_the_fields_of_a_tracepoint(write):
    """By their names, as its print format is not known; test_trace_text.py has those that are."""
    probe = attr("IP|TID|TIME|RAW|IDENTIFIER", type=2, config=300, sample_period=1)
    fields = [("int count", 8, 4, 1), ("char name[8]", 12, 8, 0), ("void * at", 24, 8, 0)]
    raw = common(300, 10) + struct.pack("<i8sxxxxQ", -5, b"a\nb", 0xabc)
    records = [sample(probe, misc=USER, pid=10, tid=10, time=10**9, ip=0x1010, identifier=1,
                      raw=raw)]
    path = write(File(attrs=[(probe, [1])], records=records, features={
        1: tracing_data({"sched": [Format("event_x", 300, fields, print_fmt="")]}),
        12: f.event_desc([(probe, "sched:event_x", [1])], 136)}).build())
    assert preport("-f", "script", path).decode() == (
        "             :10      10     1.000000: sched:event_x: count=-5 name=a?b at=0xabc\n")


@pytest.mark.parametrize("name", ["new\nline", "esc\x1b[31m", "\u202eabc", "\u0085"])
def test_names_do_not_break_lines(write, name):
    it = Recording()
    it.comm(1, 10, name, misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/tmp/" + name)
    it.sample(10, 10, 3, 0x1010)
    out = preport("-f", "script", write(it.file())).decode()
    assert out.count("\n") == 3 and not set(out) & set("\x1b\u202e\u0085") and "?" in out


@pytest.mark.sanitize
def test_names_of_functions_have_their_offsets(tmp_path):
    program = build_program(tmp_path / "app")
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, program[1]))
    out = preport("-f", "script", path, symbols=()).decode()
    assert re.findall(r"(\w+\+0x\w+) \((.*)\)", out) == [
        ("leaf+0x4", str(program[0])), ("main+0x9", str(program[0])),
        ("main+0x0", str(program[0]))]


def test_selected_samples_and_none(write):
    path = write(known().file())
    out = preport("-f", "script", "--tid=20", path).decode()
    assert out.count("cpu-clock:") == 2 and set(re.findall(r"^\S+", out, re.M)) == {"child"}
    assert preport("-f", "script", "-e", "page-faults", path).decode().count("page-faults:") == 1
    preport("-f", "script", "--tid=99", path, status=5)


# --- fields, times, header ------------------------------------------------------------------------

@pytest.mark.parametrize("fields, head, place", [
    ("comm,ip", "my app ", "\t            1010\n"),
    ("comm,pid,tid,time,event,ip,sym,dso", "my app      10/10          1.234567:      cpu-clock: ",
     "\t            1010 [unknown] (/bin/app)\n"),
    ("+pid", "my app      10/10      [003]     1.234567:        250      cpu-clock: ",
     "\t            1010 [unknown] (/bin/app)\n"),
    ("-period,-cpu", "my app      10     1.234567:      cpu-clock: ",
     "\t            1010 [unknown] (/bin/app)\n"),
    ("ip,dso", "", "\t            1010 (/bin/app)\n"),
    ("pid,period,event", "     10        250      cpu-clock: ", None),
    ("comm", "          my app ", None)])
def test_the_fields_that_were_asked_for(write, fields, head, place):
    it = app()
    it.sample(1_234_567_891, 10, 250, 0x1010, cpu=3)
    want = f"{head}\n{place}\n" if place else f"{head}\n"
    assert preport("-f", "script", "-F", fields, write(it.file())).decode() == want


def test_times_in_ns(write):
    it = app()
    it.sample(1_234_567_891, 10, 250, 0x1010)
    it.sample(123_000_000_001, 10, 250, 0x1010)
    out = preport("-f", "script", "--ns", write(it.file())).decode()
    assert re.findall(r" ([\d.]+): ", out) == ["1.234567891", "123.000000001"]


@pytest.mark.parametrize("options", [
    ["-F", "comm"], ["--ns"], ["--header"], ["-F", "x", "-f", "script"],
    ["-F", "", "-f", "script"], ["-F", "comm,sym", "-f", "script"],
    ["-F", "ip,symoff", "-f", "script"], ["-F", "comm,+pid", "-f", "script"],
    ["-F", "+pid,comm", "-f", "script"], ["-F", "hw:comm", "-f", "script"]])
def test_fields_that_can_not_be(write, options):
    preport(*options, write(known().file()), status=2)


def test_the_header_says_what_was_recorded(write):
    path = next(file.path for file in CAPTURES if file.name.startswith("02-callgraph-fp"))
    plain = preport("-f", "script", path).decode()
    out = preport("-f", "script", "--header", path).decode()
    assert out.endswith("# ========\n#\n" + plain)
    head = out[:-len(plain)].splitlines()
    assert head[0] == "# ========" and {line[0] for line in head} == {"#"}
    assert {"# hostname : vm", "# arch : x86_64", "# nrcpus online : 2", "# nrcpus avail : 2",
            "# perf version : 6.1.192", "# total memory : 24684096 kB",
            "# event : name = cpu-clock"} <= set(head)
    assert any(line.startswith("# cmdline : /usr/bin/perf record -q ") for line in head)
    assert preport("-f", "script", "--header", write(known().file())).startswith(
        b"# ========\n# event : name = cpu-clock\n# event : name = page-faults:HG\n# ========\n")


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
def test_the_header_has_lines_of_perfs():
    path = next(file.path for file in CAPTURES if file.name.startswith("02-callgraph-fp"))
    perf = subprocess.run(["perf", "script", "--header", "-i", path], capture_output=True,
                          timeout=TIMEOUT, text=True).stdout.splitlines()
    ours = preport("-f", "script", "--header", path).decode().split("\n#\n")[0].splitlines()
    assert len(ours) > 10 and [line for line in ours if line not in perf
                               and not line.startswith("# event")] == []


def collapsed(out):
    """{"comm;frame;frame": period} as stackcollapse-perf.pl reads the text of one event."""
    stacks = {}
    for part in out.split("\n\n")[:-1]:
        head, *lines = part.split("\n")
        found = re.match(r"(\S.*?)\s+(-?\d+)(?: \[\d+\])?\s+[\d.]+: +(\d+) +\S.*: $", head)
        frames = []
        for line in lines:
            name, image = re.match(r"\t *[0-9a-f]+ (.+) \((.*)\)$", line).groups()
            image = image.rpartition("/")[2]
            frames.append(f"[{image}]" if name == "[unknown]" and image != "[unknown]" else name)
        key = ";".join([found[1].replace(" ", "_"), *frames[::-1]])
        stacks[key] = stacks.get(key, 0) + int(found[3])
    return stacks


def test_readers_of_stacks_get_the_folded_ones(write):
    path = write(known().file())
    out = preport("-f", "script", "-e", "cpu-clock", path).decode()
    assert collapsed(out) == text(folded(preport("-f", "folded", path)))


# --- perf -----------------------------------------------------------------------------------------

# Captures whose text differs, and why.
DIFFERENT = {
    "03-callgraph-dwarf": "copied stacks, which the two unwind on their own",
    "A2-raw-all-pipe": "likewise",
    "A3-zstd-unflushed": "perf prints a sample of the part that is cut",
    "88-32bit-regs": "registers without a stack, of which one function is known",
    "62-bp-exec": "perf prints nothing", "71-lock-record": "perf prints nothing",
    "68-switch-output.data.2026112112470082": "perf prints nothing",
    "87-event-terms": "times of events that have none",
    "K-all": "the address beside the chain", "K-weight": "the address beside the chain",
    "K-bpfout": "perf can't read it",
}
FRAMES = re.compile(r"^(\s+[0-9a-f]+ ).* \((.*)\)$|( +[0-9a-f]+ )\S.* (\(\S*\))$", re.M)


def without_names(out):
    """Names are another test's: tests/symbols."""
    return FRAMES.sub(lambda m: f"{m[1] or m[3]} NAME {m[2] or m[4]}", out).split("\n")


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
def test_the_text_is_perfs():
    numbers = re.match(r"(\d+)\.(\d+)", perf_oracle.version("perf")).groups()
    like = "6.12" if tuple(map(int, numbers)) >= (6, 12) else "6.1"
    equal = []
    for file in CAPTURES:
        name = file.name.removesuffix(".data")
        done = subprocess.run(["perf", "script", "--no-inline", "-i", file.path], text=True,
                              capture_output=True, timeout=TIMEOUT, errors="replace")
        if done.returncode or name in DIFFERENT or "THREAD" in done.stdout:
            continue
        want = without_names(done.stdout)
        got = without_names(preport("-f", "script", f"--compat={like}", file.path,
                                    status=(0, 1, 5)).decode(errors="replace"))
        assert len(got) == len(want), (name, len(got), len(want))
        wrong = [pair for pair in zip(want, got) if pair[0] != pair[1]]
        # perf goes on to use the maps of a program that was replaced
        assert len(wrong) <= len(want) // 20 and all(
            "[unknown]" in ours for _, ours in wrong), (name, wrong[:3])
        equal.append(name)
    assert len(equal) > 40, equal


# The text after an address, but for the image.
SYMBOLS = re.compile(r"(?<=[0-9a-f]{4}) (?!\()[^ ]+(?: \[.*?])?(?= \(|$)")


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
@pytest.mark.parametrize("fields", ["comm,pid,tid,time,period,event,ip,sym,dso",
                                    "comm,time,event", "pid,ip,dso", "tid,ip,sym,symoff", "event",
                                    "comm,ip", "+pid", "comm,tid,time,event,trace"])
def test_the_fields_are_perfs(fields):
    numbers = re.match(r"(\d+)\.(\d+)", perf_oracle.version("perf")).groups()
    like = "6.12" if tuple(map(int, numbers)) >= (6, 12) else "6.1"
    equal = 0
    for file in CAPTURES:
        if not re.match("02-callgraph-fp|01-basic|20-threads|43-multi-event|12-trace", file.name):
            continue
        done = subprocess.run(["perf", "script", "--no-inline", "-F", fields, "--ns", "-i",
                               file.path], text=True, capture_output=True, timeout=TIMEOUT)
        if done.returncode:     # perf wants each event to have them
            continue
        got = preport("-f", "script", "--ns", f"--compat={like}", "-F", fields, file.path).decode()
        want, got = ([SYMBOLS.sub(" NAME", line) for line in out.split("\n")]
                     for out in (done.stdout, got))
        wrong = [pair for pair in zip(want, got) if pair[0] != pair[1]]
        # perf goes on to use the maps of a program that was replaced
        assert len(got) == len(want) and len(wrong) <= len(want) // 20, (file.name, wrong[:3])
        assert all(re.match("\t|.*\\[unknown]", ours) for _, ours in wrong), (file.name, wrong[:3])
        equal += len(got) > 50
    assert equal >= 2
