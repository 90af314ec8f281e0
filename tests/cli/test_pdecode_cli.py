"""The command line of pdecode: options, messages, exit codes, pipes that close early, full
disks."""
import contextlib
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest

from conftest import ROOT, TIMEOUT, TOOLS, strict_json, strict_json_lines
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, Pipe
from perfdata.sample import sample, sample_id

COMMAND = [str(TOOLS / "pdecode")]   # for tests that connect it themselves
PERF = ROOT / "fixtures" / "perf"
PLAIN = PERF / "02-callgraph-fp.data"
PIPE = PERF / "18-pipe.data"
THREADS = PERF / "20-threads.data"
ZSTD = PERF / "16-zstd.data"
AS_WRITTEN = PERF / "41-overwrite.data"    # its records are not in time order

CLOCK = Attr(type=1, config=0, sample_period=1000, sample_type="IDENTIFIER|IP|TID|TIME")
HEAD = r.header_attr(CLOCK, [1])
sanitize = pytest.mark.sanitize


def clock(time):
    return sample(CLOCK, id=1, pid=1, tid=1, ip=0x1000, time=time)


def text(done):
    return done.stderr.decode()


def one_line(done):
    """Returns the message, which must be one line."""
    assert done.stderr.count(b"\n") == 1, done.stderr
    return text(done).rstrip("\n")


# --- options ---

OPTIONS = {
    "-i": ["--input", "FILE"], "-o": ["--output", "FILE"], "-f": ["--format",
                                                                  "json|jsonl|stats|arrow|parquet"],
    "--table": ["NAME"], "--with": ["GROUP"], "--int64": [], "--file-id": ["ID"],
    "--ddl": ["ENGINE"],
    "--pretty": [], "--blobs": ["hex|omit|full"], "--sort": ["file|time"], "--header-only": [],
    "--schema": [], "--records-only": [], "--utc": [], "--resolve": [],
    "--symbols": [], "--lines": [], "--prefix-map": ["OLD=NEW"], "--no-inline": [],
    "--linkage-names": [], "--max-frames": ["N"], "--stitch-lbr": [], "--symbols-strict": [],
    "--sysroot": ["DIR"], "--debug-dir": ["DIR"], "--kallsyms": ["FILE"],
    "--symbols-file": ["FILE"],
    "-k": ["--vmlinux", "FILE"], "--debuginfod": [],
    "--unverified": ["yes|no|always"], "--types": ["LIST"], "-e": ["--event", "LIST"],
    "--pid": ["LIST"],
    "--tid": ["LIST"], "-S": ["--symbol", "NAMES"],
    "--dso": ["NAMES"], "--in": ["NAMES"], "-c": ["--comm", "LIST"], "-C": ["--cpu", "LIST"],
    "--time": ["A,B"],
    "-j": ["--jobs", "N"], "--strict": [], "--memory": ["SIZE"],
    "--max-output": ["RATIO|SIZE"],
    "--sandbox": ["auto|always|never"], "-v": ["--verbose"],
    "-h": ["--help"], "--version": [], "--man": [], "--completion": [],
}


def test_help_holds_every_option(run_pdecode):
    done = run_pdecode(["--help"])
    assert (done.returncode, done.stderr) == (0, b"")
    out = done.stdout.decode()
    spelled = (set(re.findall(r"(?m)^ {2}(-\w), --", out))
               | set(re.findall(r"(?m)^ {6}(--[\w-]+)", out)))
    assert spelled == set(OPTIONS)
    for option, words in OPTIONS.items():
        row = re.search(rf"(?m)^ *{option}\b.*$", out).group()
        assert all(word in row for word in words), row
    assert max(map(len, out.split("\n"))) <= 80
    assert out.index("Usage: pdecode [OPTION]... [FILE|-]") < out.index("Examples:") < out.index(
        "Filters:")
    assert re.findall(r"(?m)^  (\d) ", out[out.index("Exit status:"):]) == list("01234")


@pytest.mark.parametrize("option", ["--help", "-h", "--version", "--man", "--completion=bash"])
def test_about_needs_no_file(option, run_pdecode, tmp_path):
    done = run_pdecode([option], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout
    with open("/dev/full", "wb") as full:
        process = subprocess.run([*COMMAND, option], stdout=full,
                                 stderr=subprocess.PIPE)
    assert process.returncode == 4 and b"No space left" in process.stderr


def test_version(run_pdecode, decode):
    first = run_pdecode(["--version"]).stdout.decode().split("\n")[0]
    assert first == "pdecode " + decode(PLAIN)["pdecode"]["version"]


def test_examples_of_help_work(run_pdecode, tmp_path):
    """Except those that need perf or a program that is not installed."""
    out = run_pdecode(["--help"]).stdout.decode()
    lines = out[out.index("Examples:"):out.index("Input and output:")].split("\n")
    examples = [line.strip() for line in lines if line.startswith("  ")
                and not line.startswith("   ")]
    assert len(examples) == 8 and sum("pdecode" in line for line in examples) == 8
    shutil.copy(PLAIN, tmp_path / "perf.data")
    environment = {**os.environ, "PATH": f"{pathlib.Path(COMMAND[0]).parent}:{os.environ['PATH']}"}
    for example in examples:
        for program in re.findall(r"(?:^|\| )(\w+)", example):
            if program == "perf" or not shutil.which(program, path=environment["PATH"]):
                break
        else:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", example], cwd=tmp_path,
                                  env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            note = (b"" if "nginx" not in example
                    else b"pdecode: --cpu does not apply to samples of cpu-clock, which have no "
                    b"CPU: record with --sample-cpu\n"
                    b"pdecode: no sample matches --comm nginx --cpu 0-3\n")
            assert (done.returncode, done.stderr) == (0, note), example


def test_man_page(run_pdecode, tmp_path):
    page = tmp_path / "pdecode.1"
    page.write_bytes(run_pdecode(["--man"]).stdout)
    for option, words in OPTIONS.items():
        for word in [option, *words[:-1]]:
            assert word.replace("-", "\\-") in page.read_text(), word
    others = page.read_text().split("SEE ALSO")[1]
    assert all(f"{tool}(1)" in others
               for tool in ("precord", "pencode", "prepair", "perf\\-record")), others
    if not shutil.which("man"):
        pytest.skip("no man here: the page is not rendered")
    done = subprocess.run(["man", "--warnings=w", "-l", page], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8",
                               "MANPAGER": "cat"})
    assert done.returncode == 0
    assert done.stderr == b""
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS", "EXIT STATUS",
                    "SEE ALSO"):
        assert f"\n{heading}\n".encode() in done.stdout, heading


@pytest.mark.parametrize("shell, check", [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]),
                                          ("fish", ["fish", "--no-execute"])])
def test_completion(shell, check, run_pdecode, tmp_path):
    script = tmp_path / shell
    script.write_bytes(run_pdecode(["--completion", shell]).stdout)
    for option in re.findall(r"--[\w-]+", " ".join([*OPTIONS, *sum(OPTIONS.values(), [])])):
        assert option.lstrip("-") in script.read_text(), option
    if not shutil.which(check[0]):
        pytest.skip(f"no {shell} here: its completion is not parsed")
    subprocess.run([*check, script], check=True)


@pytest.mark.parametrize("short, whole", [
    ("--blo=omit", "--blobs=omit"), ("--pret", "--pretty"), ("--form=jsonl", "--format=jsonl"),
    ("--vers", "--version"), ("--comp=bash", "--completion=bash")])
def test_a_beginning_of_one_name(short, whole, run_pdecode):
    assert run_pdecode([whole, PLAIN]).stdout == run_pdecode([short, PLAIN]).stdout != b""


@pytest.mark.parametrize("args, says", [
    (["--ver"], "'--ver' is ambiguous: --verbose, --version"),
    (["--blo"], "'--blobs' needs a value (hex|omit|full)"),
    (["--verbosely"], "unknown option '--verbosely'; did you mean '--verbose'?"),
    (["--=x"], "unknown option '--'"),
    (["--bolbs", "hex"], "unknown option '--bolbs'; did you mean '--blobs'?"),
    (["-q"], "unknown option '-q'"),
    (["--format", "xml"], "'--format' must be one of json|jsonl|stats|arrow|parquet, not 'xml'"),
    (["--format"], "'--format' needs a value (json|jsonl|stats|arrow|parquet)"),
    (["--blobs="], "'--blobs' must be one of hex|omit|full, not ''"),
    (["--in", ""], "'--in' needs names of functions, not ''"),
    (["--symbol", "main,"], "'--symbol' needs names of functions, not ''"),
    (["--dso", "a,,b"], "'--dso' needs names of files, not ''"),
    (["--sort", "size"], "'--sort' must be one of file|time, not 'size'"),
    (["--memory", "lots"], "'--memory' needs a size such as 64M, not 'lots'"),
    (["--pretty=yes"], "'--pretty' takes no value"),
    (["--strict=1"], "'--strict' takes no value"),
    (["--pretty", "-f", "jsonl"],
     "'--pretty' does not apply to jsonl, which has one object per line"),
    (["--header-only", "-f", "stats"],
     "'--header-only' reads no records, so stats has nothing to count"),
    (["--records-only"], "'--records-only' applies to jsonl: add '-f jsonl'"),
    (["--records-only", "-f", "stats"], "'--records-only' applies to jsonl: add '-f jsonl'"),
    (["--records-only", "-f", "jsonl", "--header-only"],
     "'--records-only' and '--header-only' leave nothing"),
    (["-i", "a", "b"], "two inputs: 'a' and 'b'"),
    (["-i", "a", "-i", "b"], "two inputs: 'a' and 'b'"),
    (["-i", "a", "--input=a"], "two inputs: 'a' and 'a'"),
    (["a", "b"], "too many operands: 'b'"),
    (["-F", "ip,sym"], "'-F' is not supported: all fields are written; select some with "
                       "pdecode -f jsonl | jq -c '{time,pid,ip}'"),
    (["--fields=ip"], "'--fields' is not supported: all fields are written; select some with "
                      "pdecode -f jsonl | jq -c '{time,pid,ip}'"),
    (["-D"], "'-D' is not supported: the JSON has every record and field; try --pretty"),
    (["--ns"], "'--ns' is not supported: times are always in ns"),
    (["--header"],
     "'--header' is not supported: the header is always written; --header-only omits the rest"),
    (["--schema", "document"], "'--schema' reads no input ('--schema=NAME' needs the '=')"),
    (["--schema=nothing-such"],
     "'--schema': 'nothing-such' is neither a schema nor a directory; --schema alone lists the "
     "schemas"),
])
def test_wrong_usage(args, says, run_pdecode):
    done = run_pdecode(args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert text(done) == f"pdecode: {says}\nTry 'pdecode --help'\n"


# --- input ---

def without_size(out):
    """Returns the document of an input of unknown size, such as a pipe."""
    return re.sub(rb'"size":\d+,("header_size":16,)', rb"\1", out, count=1)


@sanitize
@pytest.mark.parametrize("data", [PLAIN, PIPE, ZSTD])
def test_ways_to_give_the_input(data, run_pdecode):
    expected = run_pdecode([data]).stdout
    assert run_pdecode(["-i", data]).stdout == expected
    assert run_pdecode([f"--input={data}"]).stdout == expected
    assert run_pdecode(["--", data]).stdout == expected
    for args in (["-"], ["-i", "-"]):
        done = run_pdecode(args, input=data.read_bytes())
        assert (done.returncode, done.stdout) == (0, without_size(expected))


@sanitize
@pytest.mark.parametrize("data", [PLAIN, PIPE])
@pytest.mark.parametrize("name", ["packed.gz", "packed.data", "-"])
def test_gzip(data, name, run_pdecode, tmp_path):
    """Is recognized by its content, not by its name."""
    packed = gzip.compress(data.read_bytes())
    (tmp_path / "packed.gz").write_bytes(packed)
    (tmp_path / "packed.data").write_bytes(packed)
    done = run_pdecode([name], input=packed if name == "-" else b"", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    plain, unpacked = strict_json(run_pdecode([data]).stdout), strict_json(done.stdout)
    plain["file"].pop("size", None), unpacked["file"].pop("size", None)
    assert unpacked == plain


@sanitize
def test_directories(run_pdecode, tmp_path):
    document = strict_json(run_pdecode([THREADS]).stdout)
    assert document["file"]["mode"] == "directory"
    assert {record.get("file") for record in document["records"]} == {None, "data.1"}
    assert document["file"]["files"] == ["data.0", "data.1"]   # cpu 0 was idle
    done = run_pdecode([tmp_path])
    assert (done.returncode, done.stdout) == (3, b"")
    assert one_line(done).startswith(f"pdecode: {tmp_path}: ")


@sanitize
@pytest.mark.parametrize("content, what", [(b"", ": it is empty"), (b"PERF", ": it is text"),
                                           (b"PERFILE3" + bytes(96), ""),
                                           (b"#!/bin/sh\n" * 20, ": it is a script"),
                                           (bytes(4096), ": it begins with zeros: its header was "
                                                         "never written")])
def test_not_a_perf_file(content, what, run_pdecode, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    for args, given in (([path], b""), (["-"], content)):
        for more in ([], ["-f", "jsonl"], ["-f", "stats"], ["--pretty"]):
            done = run_pdecode([*args, *more], input=given)
            assert (done.returncode, done.stdout) == (3, b"")
            name = "standard input" if args == ["-"] else path
            assert one_line(done) == f"pdecode: {name}: not a perf.data file{what}"


def test_unreadable(run_pdecode, tmp_path):
    missing = run_pdecode([tmp_path / "missing"])
    assert (missing.returncode, missing.stdout) == (3, b"")
    assert one_line(missing) == f"pdecode: {tmp_path}/missing: No such file or directory"
    odd = run_pdecode([tmp_path / "two\nlines\x1b[2J"])
    assert one_line(odd) == f"pdecode: {tmp_path}/two?lines?[2J: No such file or directory"


def test_wrong_input_leaves_old_output(run_pdecode, tmp_path):
    (tmp_path / "old.json").write_text("precious")
    assert run_pdecode(["-o", tmp_path / "old.json", tmp_path / "missing"]).returncode == 3
    assert (tmp_path / "old.json").read_text() == "precious"
    assert run_pdecode(["-o", tmp_path / "new.json", tmp_path / "missing"]).returncode == 3
    assert not (tmp_path / "new.json").exists()


# --- output ---

@sanitize
@pytest.mark.parametrize("data", [PLAIN, PIPE, THREADS])
@pytest.mark.parametrize("args", [[], ["-f", "jsonl"], ["-f", "stats"], ["--pretty"]])
def test_output_file(data, args, run_pdecode, tmp_path):
    out = tmp_path / "out.json"
    out.write_text("x" * 10_000_000)    # longer than the new output
    done = run_pdecode([*args, "-o", out, data])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert out.read_bytes() == run_pdecode([*args, data]).stdout
    assert run_pdecode([*args, "-o", "-", data], cwd=tmp_path).stdout == out.read_bytes()
    assert not (tmp_path / "-").exists()


def test_output_is_input(run_pdecode, tmp_path):
    data, link = tmp_path / "perf.data", tmp_path / "link"
    shutil.copy(PLAIN, data)
    link.symlink_to(data)
    for args in (["-o", data, data], ["-o", link, data], ["-o", data, link]):
        done = run_pdecode(args)
        assert (done.returncode, done.stdout) == (2, b"")
        assert one_line(done).endswith("is both input and output")
    with open(data, "rb") as stdin:
        done = subprocess.run([*COMMAND, "-o", data, "-"], stdin=stdin)
        assert done.returncode == 2
    assert data.read_bytes() == PLAIN.read_bytes()


def test_output_inside_input_directory(run_pdecode, tmp_path):
    directory = tmp_path / "threads.data"
    shutil.copytree(THREADS, directory)
    for name in ("data", "data.0", "data.1"):
        done = run_pdecode(["-o", directory / name, directory])
        assert (done.returncode, one_line(done)) == (
            2, f"pdecode: {directory / name}: is both input and output")
        assert (directory / name).read_bytes() == (THREADS / name).read_bytes()
    assert run_pdecode(["-o", directory / "out.json", directory]).returncode == 0
    assert (strict_json((directory / "out.json").read_bytes())["file"]["files"]
            == ["data.0", "data.1"])


def test_output_cannot_be_opened(run_pdecode, tmp_path):
    for path, says in ((tmp_path, "Is a directory"),
                       (tmp_path / "no" / "such", "No such file or directory")):
        done = run_pdecode(["-o", path, PLAIN])
        assert (done.returncode, done.stdout) == (4, b"")
        assert one_line(done) == f"pdecode: {path}: {says}"


@sanitize
@pytest.mark.parametrize("args",
                         [[], ["-f", "jsonl"], ["-f", "stats"], ["--pretty"], ["--header-only"]])
def test_full_disk(args, run_pdecode):
    done = run_pdecode([*args, "-o", "/dev/full", PLAIN])
    assert (done.returncode, one_line(done)) == (4, "pdecode: /dev/full: No space left on device")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *args, PLAIN], stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, one_line(done)) == (4,
                                                 "pdecode: standard output: No space left on "
                                                 "device")


def test_full_disk_and_damage(run_pdecode, tmp_path):
    """The exit code is that of the worse one."""
    cut = tmp_path / "cut.data"
    cut.write_bytes(PLAIN.read_bytes()[:2000])
    assert run_pdecode([cut]).returncode == 1
    assert run_pdecode(["-o", "/dev/full", cut]).returncode == 4


@contextlib.contextmanager
def started(args, **options):
    process = subprocess.Popen([*COMMAND, *map(str, args)], stderr=subprocess.PIPE, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Larger than a pipe and all buffers together."""
    path = tmp_path_factory.mktemp("large") / "large.data"
    thousand = Pipe(records=[clock(n) for n in range(1000)]).build("<")[16:]
    path.write_bytes(Pipe(records=[HEAD]).build("<") + 200 * thousand)
    return path


@pytest.mark.parametrize("args", [[], ["-f", "jsonl"], ["--pretty"]])
@pytest.mark.parametrize("ignored", [False, True], ids=["default", "SIGPIPE ignored"])
def test_pipe_closed_early(args, ignored, large, run_pdecode):
    """`| head -1`: ends without a message, even if the parent ignores SIGPIPE."""
    with started([*args, large], stdout=subprocess.PIPE, restore_signals=not ignored,
                 preexec_fn=(lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored
                 else None) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(TIMEOUT) == -signal.SIGPIPE
        assert process.stderr.read() == b""
        process.stdout = None


def test_head(large, run_pdecode):
    done = subprocess.run(["bash", "-c", f"{COMMAND[0]} -f jsonl {large} | head -1"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert strict_json_lines(done.stdout)[0]["kind"] == "file"
    assert done.stderr == b""


@pytest.mark.parametrize("args, code", [(["-"], 3), ([PLAIN], 4)])
def test_closed_descriptors(args, code, run_pdecode, tmp_path):
    """Closed stdin can't be read, and closed stdout can't be written: no other file gets their
    descriptors."""
    redirect = "<&-" if code == 3 else ">&-"
    done = subprocess.run(["bash", "-c", f'"$0" "$@" {redirect}', *COMMAND, *map(str, args)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, b"")
    assert one_line(done).startswith("pdecode: standard ")
    everything = subprocess.run(["bash", "-c", '"$0" "$@" <&- >&- 2>&-', *COMMAND, "-o",
                                 str(tmp_path / "out"), str(PLAIN)])
    assert everything.returncode == 0
    assert (tmp_path / "out").read_bytes() == run_pdecode([PLAIN]).stdout


# --- live input ---

def read_until(process, what=None, timeout=30):
    """Returns the output up to `what`, or to its end, while the input is still open."""
    seen, end = b"", time.monotonic() + timeout
    while what is None or what not in seen:
        ready, _, _ = select.select([process.stdout], [], [], max(0, end - time.monotonic()))
        assert ready, f"waited for {what} and saw {seen[-500:]}"
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece and what is None:
            break
        assert piece, f"ended before {what}: {seen[-500:]}"
        seen += piece
    return seen


@sanitize
@pytest.mark.parametrize("args, ends", [(["-f", "jsonl"], b"\n"), ([], b"}"), (["--pretty"], b"}")])
def test_live(args, ends, run_pdecode):
    """Each record is written before the next one arrives."""
    with started([*args, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(Pipe(records=[HEAD]).build("<"))
        process.stdin.flush()
        out = b""
        for moment in (1001, 1002, 1003):
            process.stdin.write(Pipe(records=[clock(moment)]).build("<")[16:])
            process.stdin.flush()
            out += read_until(process, f"{moment}".encode())
            if args == ["-f", "jsonl"]:
                assert out.endswith(ends)
        process.stdin.close()
        process.stdin = None
        out += process.stdout.read()
        assert (process.wait(TIMEOUT), process.stderr.read()) == (0, b"")
    if args == ["-f", "jsonl"]:
        assert ([line["time"] for line in strict_json_lines(out) if line.get("type") == "SAMPLE"]
                == [1001, 1002, 1003])
    else:
        assert ([e["time"] for e in strict_json(out)["records"] if e["type"] == "SAMPLE"]
                == [1001, 1002, 1003])


def test_live_in_halves_of_records(run_pdecode):
    """Half a record is waited for; the records before it are written."""
    whole = Pipe(records=[HEAD, clock(1001), clock(1002)]).build("<")
    with started(["-f", "jsonl", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(whole[:-10])
        process.stdin.flush()
        assert b"1002" not in read_until(process, b"1001")
        process.stdin.write(whole[-10:])
        process.stdin.flush()
        read_until(process, b"1002")


# --- Ctrl-C: the terminal sends SIGINT to all processes of the pipeline ---

# Writes the first bytes, and the others at SIGINT. "waits" on stderr: the handler is installed.
WRITER = """
import os, signal, sys
whole, first = open(sys.argv[1], "rb").read(), int(sys.argv[2])
def finish(number, frame):
    os.write(1, whole[first:])
    os._exit(0)
signal.signal(signal.SIGINT, finish)
os.write(1, whole[:first])
os.write(2, b"waits")
while True:
    signal.pause()
"""


@sanitize
@pytest.mark.parametrize("args",
                         [[], ["-f", "jsonl"], ["-f", "stats"], ["--sort", "time"], ["-j", "3"]],
                         ids=" ".join)
@pytest.mark.parametrize("to", ["pipe", "socket", "file"])
def test_interrupt_of_a_pipeline(args, to, tmp_path):
    """The upstream recorder finishes the recording, and its end is decoded."""
    path, out, end = tmp_path / "whole", tmp_path / "out", Pipe(records=[clock(9)]).build("<")[16:]
    path.write_bytes(Pipe(records=[HEAD, *[clock(n) for n in range(1000)]]).build("<") + end)
    here, there = (end.detach() for end in socket.socketpair()) if to == "socket" else os.pipe()
    with open(out, "wb") as stdout, \
            subprocess.Popen(["python3", "-c", WRITER, path, str(path.stat().st_size - 20)],
                             stdout=there, stderr=subprocess.PIPE,
                             preexec_fn=os.setpgrp) as writer, \
            started([*args, *(["-o", out] if to == "file" else []), "-"], stdin=here, stdout=stdout,
                    preexec_fn=lambda: os.setpgid(0, writer.pid)) as process:
        os.close(here)
        os.close(there)
        assert writer.stderr.read(5) == b"waits"
        time.sleep(0.2)
        os.killpg(writer.pid, signal.SIGINT)
        assert writer.wait(TIMEOUT) == 0
        assert (process.wait(TIMEOUT), process.stderr.read()) == (0, b"")
    if "jsonl" in args:
        assert strict_json_lines(out.read_bytes())[-1]["records"] == 1002
    else:
        document = strict_json(out.read_bytes())
        assert (document if "stats" in args else document["summary"])["records"] == 1002


@sanitize
@pytest.mark.parametrize("args", [[], ["-o", "out"]], ids=" ".join)
def test_second_interrupt(args, tmp_path):
    """The user need not wait for a writer that does not end."""
    with started([*args, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=tmp_path,
                 preexec_fn=os.setpgrp) as process:
        process.stdin.write(PIPE.read_bytes()[:5000])
        process.stdin.flush()
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(TIMEOUT) == -signal.SIGINT


@sanitize
def test_interrupt_of_a_file(large):
    """No upstream recorder has to finish a file: the first SIGINT ends pdecode."""
    with started([large], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == -signal.SIGINT


@sanitize
def test_ignored_interrupts_stay_ignored():
    """A shell ignores SIGINT in its background commands."""
    with started(["-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process:
        process.stdin.write(PIPE.read_bytes()[:5000])
        process.stdin.flush()
        time.sleep(0.3)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        process.stdin.write(PIPE.read_bytes()[5000:])
        process.stdin.close()
        process.stdin = None
        assert strict_json(process.stdout.read())["errors"] == [] and process.wait(TIMEOUT) == 0


def test_live_into_a_file(run_pdecode, tmp_path):
    out = tmp_path / "out.jsonl"
    with started(["-f", "jsonl", "-o", out, "-"], stdin=subprocess.PIPE) as process:
        process.stdin.write(Pipe(records=[HEAD, clock(1001)]).build("<"))
        process.stdin.flush()
        end = time.monotonic() + TIMEOUT
        while not out.exists() or b"1001" not in out.read_bytes():
            assert time.monotonic() < end
            time.sleep(0.01)


# --- formats and parts ---

@sanitize
@pytest.mark.parametrize("data", [PLAIN, PIPE, THREADS, ZSTD])
def test_pretty_is_the_same(data, run_pdecode):
    plain, pretty = run_pdecode([data]), run_pdecode(["--pretty", data])
    assert pretty.returncode == 0
    assert strict_json(pretty.stdout) == strict_json(plain.stdout)
    lines = pretty.stdout.decode().split("\n")
    assert (lines[0] == "{" and lines[1].startswith('  "pdecode": {"format": 1, ')
            and lines[-2:] == ["}", ""])
    # only a single long text exceeds the width
    assert all(len(line) <= 100 or line.count('"') <= 4 for line in lines)
    assert not any(line != line.rstrip() for line in lines)


def test_pretty_by_hand(run_pdecode, tmp_path):
    path = tmp_path / "odd.data"
    name = 'quote" back\\slash {[,:]} ' + "long " * 30
    path.write_bytes(File(attrs=[(CLOCK, [1, 2])],
                          records=[r.comm(1, 1, name, sid=sample_id(CLOCK, id=1))]).build())
    out = run_pdecode(["--pretty", path]).stdout.decode()
    assert strict_json(out.encode())["records"][0]["comm"] == name
    at = out.index('  "records"')
    assert out[at:out.index('      "sample_id"')] == (
        '  "records": [\n'
        '    {\n'
        f'      "offset": {json.loads(out)["file"]["data_offset"]},\n'
        '      "type": "COMM",\n'
        f'      "size": {json.loads(out)["records"][0]["size"]},\n'
        '      "misc": 0,\n'
        '      "attr_index": 0,\n'
        f'      "event": "{json.loads(out)["attrs"][0]["name"]}",\n'
        '      "pid": 1,\n'
        '      "tid": 1,\n'
        f'      "comm": {json.dumps(name)},\n')
    assert '      "ids": [1, 2],\n' in out
    assert '  "errors": [],\n' in out
    assert '  "features": {},\n' in out


@sanitize
@pytest.mark.parametrize("data", [PLAIN, PIPE, THREADS, PERF / "19-pipe-tp.data"])
def test_header_only(data, run_pdecode):
    whole = strict_json(run_pdecode([data]).stdout)
    done = run_pdecode(["--header-only", data])
    assert done.returncode == 0
    head = strict_json(done.stdout)
    assert list(head) == list(whole)
    assert head["records"] == [] and head["summary"]["records"] == 0
    for key in ("pdecode", "file", "attrs", "features"):
        assert head[key] == whole[key], key
    lines = strict_json_lines(run_pdecode(["--header-only", "-f", "jsonl", data]).stdout)
    assert {line["kind"] for line in lines} == {"file", "attr", "feature", "summary"}
    features = {}
    for line in lines:
        if line["kind"] == "feature":
            features.update(line["feature"])
    assert features == whole["features"]
    assert ([line["name"] for line in lines if line["kind"] == "attr"]
            == [a["name"] for a in whole["attrs"]])


def test_header_only_reads_no_records(run_pdecode, tmp_path):
    """The records are garbage, which would be reported."""
    path = tmp_path / "garbage.data"
    path.write_bytes(File(attrs=[(CLOCK, [1])], records=[b"\xff" * 4096]).build("<"))
    assert run_pdecode([path]).returncode == 1
    done = run_pdecode(["--header-only", path])
    assert (done.returncode, done.stderr) == (0, b"")


def test_header_only_of_an_endless_pipe(run_pdecode):
    with started(["--header-only", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(Pipe(records=[HEAD, r.comm(1, 1, "x"), clock(1)]).build("<"))
        process.stdin.flush()
        assert strict_json(read_until(process))["attrs"][0]["ids"] == [1]
        assert process.wait(TIMEOUT) == 0


@sanitize
@pytest.mark.parametrize("data", [PLAIN, PIPE, THREADS, PERF / "19-pipe-tp.data"])
@pytest.mark.parametrize("args",
                         [["-j", "1"], ["-j", "2"], ["--types", "SAMPLE", "--sort", "time"]],
                         ids=" ".join)
def test_records_only(data, args, run_pdecode):
    """The same lines, without the other kinds."""
    whole = run_pdecode(["-f", "jsonl", *args, data]).stdout.splitlines()
    done = run_pdecode(["-f", "jsonl", "--records-only", *args, data])
    left_out = tuple(b'{"kind":"%s"' % kind for kind in (b"file", b"attr", b"feature"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert (done.stdout.splitlines() == [line for line in whole if not line.startswith(left_out)]
            != whole)


@sanitize
def test_records_only_keeps_errors(run_pdecode, tmp_path):
    path = tmp_path / "damaged.data"
    path.write_bytes(PLAIN.read_bytes()[:-3000])
    whole, only = (run_pdecode(["-f", "jsonl", path]),
                   run_pdecode(["-f", "jsonl", "--records-only", path]))
    assert ((only.returncode, only.stderr) == (whole.returncode, whole.stderr)
            and only.returncode == 1)
    kinds = [line["kind"] for line in strict_json_lines(only.stdout)]
    assert set(kinds) == {"record", "error", "summary"}
    assert kinds.count("error") == [line["kind"] for line in strict_json_lines(whole.stdout)].count(
        "error")


@sanitize
def test_sort(run_pdecode):
    def times(args):
        records = strict_json(run_pdecode([*args, AS_WRITTEN]).stdout)["records"]
        return [record["time"] for record in records if record["type"] == "SAMPLE"]
    as_written = times([])
    assert times(["--sort", "file"]) == as_written != sorted(as_written)
    assert times(["--sort", "time"]) == sorted(as_written)


@sanitize
def test_blobs(run_pdecode):
    dwarf = PERF / "03-callgraph-dwarf.data"

    def stacks(*args):
        records = strict_json(run_pdecode([*args, dwarf]).stdout)["records"]
        return [record["stack_user"] for record in records if "stack_user" in record]
    with_data, without = stacks(), stacks("--blobs", "omit")
    assert stacks("--blobs", "hex") == stacks("--blobs", "full") == with_data
    assert with_data and all(len(stack["data"]) == 2 * stack["size"] for stack in with_data)
    assert without == [{key: value for key, value in stack.items() if key != "data"}
                       for stack in with_data]

    def compressed(*args):
        records = strict_json(run_pdecode([*args, ZSTD]).stdout)["records"]
        return [record.get("data") for record in records if record["type"] == "COMPRESSED"]
    assert set(compressed()) == set(compressed("--blobs=omit")) == {None}
    full = compressed("--blobs", "full")
    assert full and all(bytes.fromhex(data) in ZSTD.read_bytes() for data in full)


def test_schema(run_pdecode, tmp_path):
    names = run_pdecode(["--schema"]).stdout.decode().split()
    assert ({"document.schema.json", "line.schema.json", "record-SAMPLE.schema.json", "RECORDS.md"}
            <= set(names))
    done = run_pdecode([f"--schema={tmp_path}"])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    for name in names:
        one = run_pdecode([f"--schema={name}"])
        assert (one.returncode, one.stdout) == (0, (tmp_path / name).read_bytes())
        if name.endswith(".json"):
            assert strict_json(one.stdout)["$id"] == name
    sample_schema = (tmp_path / "record-SAMPLE.schema.json").read_bytes()
    for name in ("record-SAMPLE", "SAMPLE", "sample"):
        assert run_pdecode([f"--schema={name}"]).stdout == sample_schema
    assert run_pdecode(["--schema=document", "-o", tmp_path / "out"]).returncode == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "document.schema.json").read_bytes()
    assert run_pdecode([f"--schema={tmp_path}", "-o", tmp_path / "out"]).returncode == 2
    for args in (["--schema=document"], ["--schema"]):      # a longer file is truncated
        (tmp_path / "out").write_bytes(b"longer" * 100000)
        assert run_pdecode([*args, "-o", tmp_path / "out"]).returncode == 0
        assert (tmp_path / "out").read_bytes() == run_pdecode(args).stdout
    assert run_pdecode(["--schema=document", "-o", "/dev/full"]).returncode == 4
    assert run_pdecode(["--schema", "-o", "/dev/full"]).returncode == 4


# --- damage ---

def damaged(count):
    """A file with `count` records too short for their fields, each between two good ones."""
    short = r.record(9, bytes(8))
    records = [clock(0)]
    for n in range(count):
        records += [short, clock(n + 1)]
    return File(attrs=[(CLOCK, [1])], records=records)


@sanitize
@pytest.mark.parametrize("args", [[], ["-f", "jsonl"], ["-f", "stats"], ["--sort", "time"]])
def test_damage_is_told(args, run_pdecode, tmp_path):
    path = tmp_path / "damaged.data"
    path.write_bytes(damaged(1).build("<"))
    done = run_pdecode([*args, path])
    assert done.returncode == 1
    offset = strict_json(run_pdecode([path]).stdout)["errors"][0]["offset"]
    line = one_line(done)
    assert line.startswith(f"pdecode: {path}: SAMPLE at {offset}: ")
    document = strict_json(run_pdecode([path]).stdout)
    error, = document["errors"]
    assert line == f"pdecode: {path}: {error['message']}"
    assert error["record"] == "SAMPLE" and error["field"] in line
    assert len(document["records"]) == 3


def test_many_errors(run_pdecode, tmp_path):
    path = tmp_path / "damaged.data"
    path.write_bytes(damaged(50).build("<"))
    done = run_pdecode([path])
    lines = text(done).split("\n")[:-1]
    assert done.returncode == 1 and len(lines) == 21
    assert lines[-1] == f"pdecode: {path}: and 30 more errors; -v shows all of them"
    assert len(strict_json(done.stdout)["errors"]) == 50
    assert text(run_pdecode(["-v", path])).count("\n") == 50
    path.write_bytes(damaged(20).build("<"))
    assert text(run_pdecode([path])).count("\n") == 20


@sanitize
@pytest.mark.parametrize("args", [[], ["--pretty"], ["-j", "1"]], ids=" ".join)
def test_more_errors_than_memory_for_them(args, run_pdecode, tmp_path):
    """The list in a document is charged to --memory; its last entry counts the errors left out."""
    path, most = tmp_path / "damaged.data", 9000
    path.write_bytes(damaged(most).build("<"))
    whole = strict_json(run_pdecode([path]).stdout)
    assert len(whole["errors"]) == whole["summary"]["errors"] == most
    done = run_pdecode(["--memory", "2M", *args, path])
    document = strict_json(done.stdout)
    *listed, last = document["errors"]
    assert (done.returncode == 1 and document["records"] == whole["records"]
            and document["summary"] == whole["summary"])
    assert listed == whole["errors"][:len(listed)] and 1000 < len(listed) < most
    assert last == {"offset": 0, "code": "LIMIT", "severity": "damaged", "field": "errors",
                    "want": most, "have": len(listed), "skipped": 0,
                    "message": f"{most - len(listed)} more errors: the memory limit is too low to "
                               "list them"}
    lines = strict_json_lines(run_pdecode(["--memory", "2M", "-f", "jsonl", path]).stdout)
    assert [{key: value for key, value in line.items() if key != "kind"}
            for line in lines if line["kind"] == "error"] == \
        whole["errors"]


@sanitize
def test_why_it_ends_is_always_listed(run_pdecode, tmp_path):
    path = tmp_path / "large-formats.data"
    short = r.record(9, bytes(8))
    path.write_bytes(
        Pipe(records=[HEAD, *[short] * 9000, r.header_tracing_data(bytes(4 << 20)),
                      clock(2)]).build("<"))
    errors = strict_json(run_pdecode(["--memory", "2M", path]).stdout)["errors"]
    assert [error["severity"] for error in errors[-3:]] == ["damaged", "fatal", "damaged"]
    assert errors[-1]["want"] == 9001 and errors[-1]["have"] == len(errors) - 1


@sanitize
@pytest.mark.parametrize("memory", ["1700K", "1900K", "2M", "2500K", "3M", "3500K", "4M"])
def test_threads_need_no_more_than_one_may_have(memory, run_pdecode, tmp_path):
    """The blocks of all threads leave room for the largest record."""
    path = tmp_path / "formats.data"
    short = r.record(9, bytes(8))
    path.write_bytes(
        Pipe(records=[HEAD, *[short] * 9000, r.header_tracing_data(bytes(4 << 20)),
                      clock(2)]).build("<"))
    one, *more = [run_pdecode(["--memory", memory, "-j", jobs, path]).stdout
                  for jobs in ("1", "2", "5")]
    assert len(strict_json(one)["records"]) == 9001
    assert more == [one, one]


@sanitize
@pytest.mark.parametrize("args", [[], ["-f", "jsonl"], ["-f", "stats"], ["--strict"]])
def test_oddities_are_no_errors(args, run_pdecode, tmp_path):
    """Bytes after a record's last field, as a newer kernel writes them: only -v reports them."""
    path = tmp_path / "odd.data"
    path.write_bytes(
        File(attrs=[(CLOCK, [1])], records=[clock(0), r.record(13, [bytes(range(1, 17))])]).build(
            "<"))
    done = run_pdecode([*args, path])
    assert (done.returncode, done.stderr) == (0, b"")
    loud = run_pdecode(["-v", *args, path])
    assert (loud.returncode, loud.stdout) == (0, done.stdout)
    assert one_line(loud).startswith(f"pdecode: {path}: ") and "after the last field" in text(loud)
    last = strict_json(done.stdout.split(b"\n")[-2] if "jsonl" in args else done.stdout)
    assert last.get("summary", last)["errors"] == 0


@sanitize
@pytest.mark.parametrize("args", [[], ["-f", "jsonl"], ["-f", "stats"]])
def test_strict(args, run_pdecode, tmp_path):
    path = tmp_path / "damaged.data"
    path.write_bytes(damaged(3).build("<"))
    done = run_pdecode(["--strict", *args, path])
    assert done.returncode == 1
    assert one_line(done).startswith(f"pdecode: {path}: SAMPLE at ")
    if not args:
        document = strict_json(done.stdout)
        assert [record["time"] for record in document["records"]] == [0]
        assert len(document["errors"]) == document["summary"]["errors"] == 1
    elif args[-1] == "jsonl":
        kinds = [line["kind"] for line in strict_json_lines(done.stdout)]
        assert kinds.count("record") == kinds.count("error") == 1 and kinds[-1] == "summary"
    else:
        assert strict_json(done.stdout)["records"] == 1
    whole = run_pdecode(["--strict", *args, PLAIN])
    assert (whole.returncode, whole.stdout) == (0, run_pdecode([*args, PLAIN]).stdout)


@sanitize
def test_strict_and_a_damaged_header(run_pdecode, tmp_path):
    """The document is complete nevertheless, and lists the error."""
    path = tmp_path / "killed.data"
    file = damaged(0)
    file.data_size = 0
    path.write_bytes(file.build("<"))
    lax, strict = run_pdecode([path]), run_pdecode(["--strict", path])
    assert (lax.returncode, strict.returncode) == (1, 1)
    assert len(strict_json(lax.stdout)["records"]) == 1
    document = strict_json(strict.stdout)
    assert document["records"] == [] and document["errors"][0]["code"] == "UNFINISHED"


def test_most_threads_and_the_defaults_of_numbers(run_pdecode):
    out = " ".join(run_pdecode(["--help"]).stdout.decode().split())
    assert "at most 16 (default and 0: one per CPU)" in out
    assert "(default and 0: 256M, and 1G of those files)" in out
    plain = run_pdecode([PLAIN])
    for args in (["-j", "0"], ["--memory", "0"], ["-j", "99"], ["-v", "-j", "16"]):
        done = run_pdecode([*args, PLAIN])
        assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, b"")
    assert (one_line(run_pdecode(["-v", "-j", "17", PLAIN]))
            == "pdecode: '--jobs': using 16 threads, the maximum")


@sanitize
def test_memory(run_pdecode):
    assert run_pdecode(["--memory", "1G", PLAIN]).returncode == 0
    assert run_pdecode(["--memory=64M", ZSTD]).stdout == run_pdecode([ZSTD]).stdout
    done = run_pdecode(["--memory", "4K", PLAIN])
    assert (done.returncode, done.stdout) == (3, b"")
    assert "memory limit" in one_line(done)
    done = run_pdecode(["--memory", "400K", ZSTD])
    assert done.returncode in (1, 3) and b"memory limit" in done.stderr


@sanitize
@pytest.mark.parametrize("args", [[], ["-f", "jsonl"], ["-f", "stats"], ["--sort", "time"]])
def test_end_on_the_way(args, run_pdecode, tmp_path):
    """If reading fails, the records before are written, and the output states why it ends."""
    path = tmp_path / "large-formats.data"
    path.write_bytes(
        Pipe(records=[HEAD, clock(1), r.header_tracing_data(bytes(4 << 20)), clock(2)]).build("<"))
    done = run_pdecode(["--memory", "2M", *args, path])
    assert done.returncode == 1
    assert "memory limit" in one_line(done)
    if "jsonl" in args:
        lines = strict_json_lines(done.stdout)
        kinds, errors = [line["kind"] for line in lines], [line for line in lines
                                                           if line["kind"] == "error"]
        assert (kinds.count("record") == 2 and kinds[-1] == "summary"
                and lines[-1]["complete"] is False)
    elif "stats" in args:
        stats = strict_json(done.stdout)
        assert stats["records"] == 2 and stats["file"]["complete"] is False
        errors = [{"code": code} for code in stats["errors_by_code"]]
    else:
        document = strict_json(done.stdout)
        assert [record["type"] for record in document["records"]][:2] == ["HEADER_ATTR", "SAMPLE"]
        assert document["summary"]["complete"] is False
        errors = document["errors"]
    assert [error["code"] for error in errors] == ["LIMIT"]


@sanitize
def test_a_cut_at_the_start_of_a_part_has_its_place(run_pdecode, tmp_path):
    """Offset 0 of a data.N is that of its first record, not an unknown offset."""
    path = tmp_path / THREADS.name
    shutil.copytree(THREADS, path)
    part = max(path.glob("data.*"), key=lambda part: part.stat().st_size)
    part.write_bytes(part.read_bytes()[:12])
    done = run_pdecode([path])
    assert done.returncode == 1
    assert re.search(rb"data\.[0-9]: [A-Z0-9_]+ at 0: .*; the records end inside it\n",
                     done.stderr), done.stderr


@sanitize
@pytest.mark.parametrize("args",
                         [[], ["-f", "jsonl"], ["-f", "stats"], ["--pretty"], ["--sort", "time"],
                          ["--pid", "1", "--comm", "x*", "-e", "c*"], ["--header-only"],
                          ["--strict"]])
def test_every_cut_of_a_file(args, run_pdecode, tmp_path):
    """Wherever a file is cut: no crash, no leak, valid JSON or none, and exit code 0 only if
    nothing is missing."""
    whole = PIPE.read_bytes()
    path = tmp_path / "cut.data"
    for size in [*range(0, 200, 9), *range(200, len(whole), 611)]:
        path.write_bytes(whole[:size])
        done = run_pdecode([*args, path])
        assert done.returncode in (0, 1, 3)
        assert (done.returncode == 0) == (done.stderr == b"")
        if done.returncode == 3:
            assert done.stdout == b""
        elif "jsonl" in args:
            strict_json_lines(done.stdout)
        else:
            strict_json(done.stdout)


# --- terminals ---

@contextlib.contextmanager
def on_terminal(columns=100):
    """Runs on a terminal, whose other end is `here`."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    try:
        yield here, there
    finally:
        os.close(here)
        os.close(there)


def drain(here):
    seen = b""
    while select.select([here], [], [], 0.05)[0]:
        seen += os.read(here, 65536)
    return seen


def slowly(args, stdout, here, there):
    """Runs for more than a second, with input in pieces; returns what the terminal showed."""
    own_session = dict(start_new_session=True,
                       preexec_fn=lambda: fcntl.ioctl(there, termios.TIOCSCTTY, 0))
    process = subprocess.Popen([*COMMAND, *args, "-"], stdin=subprocess.PIPE, stdout=stdout,
                               stderr=there, **own_session)
    seen = b""
    try:
        process.stdin.write(Pipe(records=[HEAD]).build("<"))
        piece = Pipe(records=[clock(n) for n in range(500)]).build("<")[16:]
        for _ in range(15):
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(0.1)
            seen += drain(here)
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0
        return seen + drain(here)
    finally:
        process.kill()
        process.wait()


def test_progress(run_pdecode):
    with on_terminal() as (here, there):
        seen = slowly([], subprocess.DEVNULL, here, there)
    assert re.search(rb"\d+ KiB  \d+ KiB/s", seen)
    assert seen.endswith(b" \r")    # the line was erased


def test_progress_does_not_mix_with_output(run_pdecode):
    with on_terminal() as (here, there):
        seen = slowly(["-f", "jsonl"], there, here, there)
    assert b"KiB/s" not in seen


def test_no_progress_in_less_than_a_second(run_pdecode):
    with on_terminal() as (here, there):
        subprocess.run([*COMMAND, PLAIN], stdout=subprocess.DEVNULL, stderr=there, check=True)
        assert drain(here) == b""


@pytest.mark.parametrize("option", ["--lines", "--no-inline", "--linkage-names", "--sysroot=/",
                                    "--debug-dir=/", "--kallsyms=/proc/kallsyms", "--vmlinux=/x",
                                    "--unverified=no"])
def test_options_of_names_need_names(option, run_pdecode):
    """Else the user would wait for the lines or names that the option promises."""
    done = run_pdecode([option, "perf.data"])
    assert done.returncode == 2 and done.stdout == b""
    name = option.partition("=")[0]
    assert done.stderr.startswith(f"pdecode: '{name}' needs '--symbols'\n".encode())


def test_a_binary_table_is_not_written_to_a_terminal(tmp_path):
    data = PERF / "01-basic.data"
    with on_terminal() as (here, there):
        for options in (["-f", "arrow"], ["-f", "arrow", "-o", "-"]):
            done = subprocess.run([*COMMAND, *options, data], stdout=there, stderr=subprocess.PIPE)
            assert done.returncode == 2 and b"'-f arrow' is binary" in done.stderr
        assert drain(here) == b""
        subprocess.run([*COMMAND, "-f", "arrow", "-o", tmp_path / "x.arrow", data], stdout=there,
                       check=True)
