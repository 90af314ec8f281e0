"""The sandbox of the tools: when it is on, that results are the same in it, and what code of an
attacker cannot do in it."""
import contextlib
import errno
import gzip
import itertools
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import Pipe
from perfdata.sample import sample
from sandboxed import SANITIZED, build, no_sandbox_here

PERF = FIXTURES / "perf"
PLAIN = PERF / "02-callgraph-fp.data"
DIRECTORY = PERF / "20-threads.data"
TRACEPOINTS = PERF / "12-tracepoints.data"
NOBODY = 65534
FILE_CAPABILITIES = 1 << 1 | 1 << 2 | 1 << 3    # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def run(tool, *args, **options):
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run([str(TOOLS / tool), *map(str, args)], capture_output=True,
                          timeout=TIMEOUT, **options)


def said(done):
    return done.returncode, done.stdout, done.stderr


def both(tool, *args, **options):
    """Runs the tool with and without sandbox, which must not differ; returns the result."""
    inside, outside = (said(run(tool, f"--sandbox={word}", *args, **options))
                       for word in ("always", "never"))
    assert inside == outside
    return inside


# --- the same results -----------------------------------------------------------------------------

FORMATS = [("-j", "1"), ("-j", "2"), ("-f", "jsonl", "--sort", "time", "-j", "2"), ("-f", "stats"),
           ("--header-only", "-v"), ("--resolve", "-f", "jsonl", "-j", "2")]


@no_sandbox_here
@pytest.mark.long
def test_every_fixture(fixture_file):
    for args in FORMATS:
        both("pdecode", *args, fixture_file.path)
    if not fixture_file.is_directory:
        with open(fixture_file.path, "rb") as file:
            expected = run("pdecode", "--sandbox=never", "-f", "jsonl", fixture_file.path)
            assert (run("pdecode", "--sandbox", "-f", "jsonl", "-", stdin=file).stdout
                    == expected.stdout)
        both("pdecode", "-f", "jsonl", input=fixture_file.path.read_bytes())
        both("pdecode", "-f", "jsonl", "--resolve", "--blobs", "omit",
             input=fixture_file.path.read_bytes())


@no_sandbox_here
@pytest.mark.parametrize("path", [PLAIN, DIRECTORY, PERF / "16-zstd.data", TRACEPOINTS],
                         ids=lambda path: path.name)
def test_repair_and_encode(path, tmp_path):
    whole = tmp_path / "in"
    shutil.copytree(path, whole) if path.is_dir() else shutil.copy(path, whole)
    largest = max((p for p in [whole, *whole.glob("*")] if p.is_file()),
                  key=lambda p: p.stat().st_size)
    os.truncate(largest, largest.stat().st_size * 2 // 3)
    kept = []
    for word in ("always", "never"):
        fixed, back = tmp_path / word, tmp_path / f"{word}.data"
        done = run("prepair", f"--sandbox={word}", "--json", "-o", fixed, whole)
        assert done.returncode in (0, 1), done.stderr
        json = run("pdecode", "--blobs", "full", path).stdout
        assert said(run("pencode", f"--sandbox={word}", "-o", f"{back}/" if path.is_dir() else back,
                        input=json)) == (0, b"", b"")
        files = ({p.name: p.read_bytes() for p in back.glob("*")} if path.is_dir()
                 else back.read_bytes())
        assert run("pencode", f"--sandbox={word}", input=json).stdout == files or path.is_dir()
        kept.append((done.returncode, done.stderr.replace(bytes(fixed), b""),
                     done.stdout.replace(bytes(fixed), b""), fixed.read_bytes(), files))
    assert kept[0] == kept[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["always", "always.data", "in", "never",
                                                          "never.data"]


def calls(args, tmp_path, before=(), **options):
    """Returns the result of the tool, and its system calls."""
    if not shutil.which("strace"):
        pytest.skip("no strace here: system calls are not seen")
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-o", trace, *before, TOOLS / "pdecode", *args]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, **options)
    return done, trace.read_text()


CLOCK = Attr(type=1, config=0, sample_period=1000, sample_type="IDENTIFIER|IP|TID|TIME|RAW")


def many_records(count, raw):
    head = Pipe(records=[r.header_attr(CLOCK, [1])]).build("<")
    one = [
        Pipe(records=[sample(CLOCK, id=1, pid=1, tid=1, ip=0x1000, time=count - i, raw=raw)]).build(
            "<")[16:]
        for i in range(count)]
    return head + b"".join(one)


def spooled(what, path):
    """Arguments and input that make pdecode open a temporary file after it entered the sandbox."""
    if what == "sorted":
        path.write_bytes(many_records(3000, bytes(2000)))
        return ["-f", "jsonl", "--sort", "time", "--memory", "2M", path]
    path.write_bytes(gzip.compress(PLAIN.read_bytes()))
    return ["-f", "jsonl", path]


@no_sandbox_here
@pytest.mark.parametrize("what", ["sorted", "packed"])
def test_temporary_files(what, tmp_path):
    args = spooled(what, tmp_path / "perf.data")
    done, trace = calls(["--sandbox", *args], tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert re.search(f'openat.*"{tmp_path}", .*O_TMPFILE', trace[trace.index("filter="):])
    assert said(done) == said(run("pdecode", "--sandbox=never", *args))
    assert len(list(tmp_path.iterdir())) == 2


@no_sandbox_here
@pytest.mark.parametrize("what", ["sorted", "packed"])
def test_temporary_files_with_names(what, tmp_path):
    """On file systems without O_TMPFILE."""
    place = tmp_path / "place"
    place.mkdir()
    args = spooled(what, tmp_path / "perf.data")
    expected = said(run("pdecode", "--sandbox=never", *args))
    done, trace = calls(["--sandbox", *args], tmp_path,
                        [build(tmp_path, "sandbox_refused"), "tmpfile"],
                        env={**os.environ, "TMPDIR": str(place)})
    assert said(done) == expected
    # the process that opens files may set its filter later
    trace = trace[trace.index("filter="):]
    # strace shows a call that another one interrupts as two lines
    assert re.search(f'"{place}/[^"]*", [^)]*O_CREAT.*( = [0-9]|<unfinished)', trace)
    assert "unlink" in trace
    assert list(place.iterdir()) == []


@no_sandbox_here
def test_outputs_with_names(tmp_path):
    """The outputs of pencode, on file systems without O_TMPFILE."""
    refused = [build(tmp_path, "sandbox_refused"), "tmpfile", TOOLS / "pencode", "--sandbox"]
    for path, out in ((PLAIN, tmp_path / "file"), (DIRECTORY, tmp_path / "directory")):
        json = run("pdecode", "--blobs", "full", path).stdout
        args = ["-o", f"{out}/" if path.is_dir() else out]
        done = subprocess.run([*refused, *args], capture_output=True, input=json)
        assert (done.returncode, done.stderr) == (0, b"")
        done = subprocess.run([*refused, *args], capture_output=True, input=json[:-100])
        assert done.returncode == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["directory", "file", "sandbox_refused"]
    assert (tmp_path / "file").read_bytes() == PLAIN.read_bytes()
    assert {p.name: p.read_bytes() for p in (tmp_path / "directory").iterdir()} == {
        p.name: p.read_bytes() for p in DIRECTORY.iterdir()}


@no_sandbox_here
def test_threads(tmp_path):
    """The C library prefers clone3, which the sandbox refuses: it must fall back to clone."""
    done, trace = calls(["--sandbox", "-j", "3", PLAIN], tmp_path)
    assert done.returncode == 0
    assert len(re.findall(r"clone\(.*CLONE_THREAD.*", trace)) == 2


@no_sandbox_here
def test_files_are_asked_for_at_once(tmp_path):
    """One message to the process that opens files has all names that a file may have."""
    done, trace = calls(["--symbols", "-f", "jsonl", "--sandbox", PLAIN], tmp_path,
                        env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0
    absent = len(re.findall(r"openat.*O_PATH.* ENOENT", trace))
    assert absent > 20 and len(re.findall(r"sendmsg\(", trace)) < absent / 2


# --- when it is on --------------------------------------------------------------------------------

@contextlib.contextmanager
def endless(*args):
    """pdecode in the middle of a stream, and the ids of its threads."""
    with subprocess.Popen([TOOLS / "pdecode", "-f", "jsonl", *args, "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdin.write(many_records(10, b"x" * 4))
        process.stdin.flush()
        seen = b""
        while b'"time":1,' not in seen:
            seen += os.read(process.stdout.fileno(), 65536)
        yield process, [int(p.name) for p in pathlib.Path(f"/proc/{process.pid}/task").iterdir()]
        process.kill()


def status(pid):
    return dict(line.split(":\t", 1)
                for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                if ":\t" in line)


@no_sandbox_here
def test_status():
    with endless("--sandbox", "-j", "2") as (_, threads):
        assert len(threads) == 2
        for thread in threads:
            now = status(thread)
            assert [now[key] for key in ("NoNewPrivs", "Seccomp")] == ["1", "2"]
            # for a directory of temporary files that belongs to somebody else
            assert (int(now["CapEff"], 16) | int(now["CapPrm"], 16)) & ~FILE_CAPABILITIES == 0
    with endless("--sandbox=never") as (process, _):
        assert [status(process.pid)[key] for key in ("NoNewPrivs", "Seccomp")] == ["0", "0"]


@no_sandbox_here
@pytest.mark.parametrize("options", [[], ["--no-symbols"]], ids=["symbols", "no-symbols"])
def test_status_of_preport(options):
    """While it waits for the rest of a stream. The process that opens files is not confined."""
    with subprocess.Popen([TOOLS / "preport", "--sandbox", *options, "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(many_records(10, b"x" * 4))
        process.stdin.flush()
        end = time.monotonic() + 10
        while (status(process.pid)["Seccomp"] != "2" and time.monotonic() < end
               and process.poll() is None):
            time.sleep(0.02)
        found = [status(process.pid)[key] for key in ("NoNewPrivs", "Seccomp")]
        process.kill()
    assert found == ["1", "2"]


@pytest.fixture(scope="module")
def open_directory():
    """A directory that every user can enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def intrude(open_directory):
    """Function: runs a tool in which injected code does `deed`."""
    library = build(open_directory, "sandbox_intruder", "-shared", "-fPIC")

    def runs(deed, *command, path="/etc/passwd", **options):
        environment = {**os.environ, "LD_PRELOAD": str(library), "INTRUDER": deed,
                       "INTRUDER_PATH": str(path)}
        return run(*command, env=environment, **options)
    return runs


def can_read_more(done):
    """Returns whether the injected code could read any file it wants."""
    assert done.returncode == 0, done.stderr
    return done.stderr == b"intruder: done\n"


@no_sandbox_here
@root_only
def test_default(intrude, open_directory):
    """On for all users, whoever owns the input."""
    tools = {name: shutil.copy(TOOLS / name, open_directory / name)
             for name in ("pdecode", "pencode", "prepair")}
    data, json = open_directory / "perf.data", open_directory / "in.json"
    shutil.copy(PLAIN, data)
    json.write_bytes(run("pdecode", data).stdout)
    results = open_directory / "results"
    results.mkdir()
    results.chmod(0o777)
    cases = itertools.product((0, NOBODY), (0, NOBODY), (
        (["pdecode", data], None), (["pdecode", "-"], data),
        (["pdecode", "-o", results / "new", data], None),
        (["pencode", json], None), (["prepair", "-o", results / "fixed", data], None)))
    for user, owner, (args, stdin) in cases:
        for path in (data, json):
            os.chown(path, owner, owner)
        for word in (None, "never", "always"):
            more = [f"--sandbox={word}"] if word else []
            for old in results.iterdir():
                old.unlink()
            with open(stdin or os.devnull, "rb") as file:
                done = intrude("read", tools[args[0]], *args[1:], *more, user=user, group=user,
                               extra_groups=[], stdin=file)
            assert can_read_more(done) == (word == "never"), (user, owner, args, word, done.stderr)


@root_only
@no_sandbox_here
def test_default_for_directories(intrude, open_directory):
    tool, directory = shutil.copy(TOOLS / "pdecode", open_directory / "pd"), open_directory / "dir"
    shutil.copytree(DIRECTORY, directory)
    for owner in (0, NOBODY):
        os.chown(directory, owner, owner)
        done = intrude("read", tool, directory, user=NOBODY, group=NOBODY, extra_groups=[])
        assert not can_read_more(done)
        done = intrude("read", tool, "--sandbox=never", directory, user=NOBODY, group=NOBODY,
                       extra_groups=[])
        assert can_read_more(done)


# --- what it prevents -----------------------------------------------------------------------------

COMMANDS = {"plain": ["pdecode", PLAIN], "sorted": ["pdecode", "--sort", "time", PLAIN],
            "directory": ["pdecode", DIRECTORY], "new file": ["pdecode", PLAIN, "-o", "new.json"],
            "repair": ["prepair", PLAIN, "-o", "fixed"], "encode": ["pencode", "in.json"],
            "encode to a file": ["pencode", "in.json", "-o", "out.data"]}


@pytest.fixture(params=COMMANDS)
def command(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.json").write_bytes(run("pdecode", "--sandbox=never", PLAIN).stdout)
    return COMMANDS[request.param]


@no_sandbox_here
@pytest.mark.parametrize("deed, call", [
    ("run", "clone"), ("exec", "execve"), ("socket", "socket"), ("unix", "socket"),
    ("trace", "ptrace"), ("kill", "kill")])
def test_fatal(deed, call, command, intrude, tmp_path):
    before = sorted(tmp_path.iterdir())
    done = intrude(deed, *command, "--sandbox")
    assert done.returncode == -signal.SIGSYS
    message = (f"{command[0]}: the sandbox ends this process: reading a file never needs the "
               f"system call {call}; the input may be an attack\n")
    # since glibc 2.41, fork() blocks all signals: nothing is printed then
    assert done.stderr.decode() in ([message, ""] if deed == "run" else [message])
    assert done.stdout == b""
    left = [path for path in tmp_path.iterdir() if path not in before]
    assert all(path.name == "new.json" and path.stat().st_size == 0 for path in left)
    done = intrude(deed, *command, "--sandbox=never")
    assert b"intruder: done" in done.stderr or (deed == "exec" and b"echo runs" in done.stdout)


@no_sandbox_here
@pytest.mark.parametrize("deed", ["read", "write", "append", "nameless", "remove", "move", "list",
                                  "mode", "code", "turn", "type", "tgkill"])
def test_refused(deed, command, intrude, tmp_path):
    """The tool continues, and its result is right."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    victim.chmod(0o600)
    path = tmp_path if deed in ("nameless", "list") else victim
    expected = run(*command, "--sandbox=never").stdout
    done = intrude(deed, *command, "--sandbox", path=path)
    assert (done.returncode, done.stdout) == (0, expected)
    refused = {f"intruder: {os.strerror(e)}\n".encode() for e in (errno.ENOSYS, errno.EACCES)}
    assert done.stderr in refused
    assert (victim.read_bytes(), victim.stat().st_mode & 0o777) == (b"precious", 0o600)
    assert intrude(deed, *command, "--sandbox=never", path=path).stderr == b"intruder: done\n"


@no_sandbox_here
def test_threads_are_left(command, intrude):
    done = intrude("thread", *command, "--sandbox")
    assert (done.returncode, done.stderr) == (0, b"intruder: done\n")


@no_sandbox_here
def test_the_rest_of_a_directory(intrude, tmp_path):
    """Only the input's directory can be read, and only the output's written."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    shutil.copytree(DIRECTORY, inside)
    outside.mkdir()
    secret = outside / "secret"
    secret.write_text("x")
    for deed, path, ok in (("read", inside / "data", True), ("list", inside, True),
                           ("write", inside / "data", False),
                           ("write", inside / "new", False), ("remove", inside / "data", False),
                           ("read", secret, False),
                           ("list", outside, False), ("unlinkable", inside, False),
                           ("unlinkable", outside, False)):
        done = intrude(deed, "pdecode", "--sandbox", inside, path=path, cwd=tmp_path)
        assert (done.returncode, b"done" in done.stderr) == (0, ok), (deed, path, done.stderr)
    json = run("pdecode", DIRECTORY).stdout
    for deed, path, ok in (("nameless", tmp_path / "back", True), ("read", secret, False),
                           ("append", secret, False),
                           ("remove", secret, False), ("move", secret, False),
                           ("write", outside / "new", False),
                           ("nameless", outside, False)):
        done = intrude(deed, "pencode", "--sandbox", "-o", f"{tmp_path}/back/", input=json,
                       path=path)
        assert (done.returncode, b"done" in done.stderr) == (0, ok), (deed, path, done.stderr)


# --- without it, and around it --------------------------------------------------------------------

@no_sandbox_here
@pytest.mark.parametrize("what, name, reason", [("landlock", "Landlock", "Operation not supported"),
                                                ("seccomp", "seccomp", "Operation not permitted")])
def test_missing(what, name, reason, tmp_path):
    """On an old kernel, or in a container that forbids it."""
    refused = build(tmp_path, "sandbox_refused")
    expected = run("pdecode", "--sandbox=never", PLAIN).stdout
    for args, status_, stderr in (
            (["--sandbox=never"], 0, ""), (["--sandbox=auto"], 0, ""),
            (["--sandbox=auto", "-v"], 0, f"pdecode: the sandbox works without {name}: {reason}\n"),
            (["--sandbox"], 2, f"pdecode: --sandbox: {name} is not available here: {reason}\n")):
        done = subprocess.run([refused, what, TOOLS / "pdecode", *args, PLAIN], capture_output=True)
        assert (done.returncode, done.stderr.decode()) == (status_, stderr)
        assert done.stdout == (b"" if status_ else expected)
    new = tmp_path / "new"
    done = subprocess.run([refused, what, TOOLS / "pdecode", "--sandbox", PLAIN, "-o", new],
                          capture_output=True)
    assert done.returncode == 2 and not new.exists()


@no_sandbox_here
@root_only
def test_no_process_to_be_had(open_directory):
    """A new output needs a process that reads nothing."""
    tool = shutil.copy(TOOLS / "pdecode", open_directory / "alone")
    out = open_directory / "alone.json"
    os.close(os.open(out, os.O_CREAT))
    os.chown(open_directory, NOBODY, NOBODY)
    for word, code, reason in (("auto", 0, b""),
                               ("always", 2,
                                b"pdecode: --sandbox: a separate process is not available here")):
        out.unlink(missing_ok=True)
        done = run(tool, f"--sandbox={word}", "-j", "1", PLAIN, "-o", out, user=NOBODY,
                   group=NOBODY, extra_groups=[],
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)))
        assert (done.returncode, done.stderr[:len(reason)]) == (code, reason)
        assert out.exists() == (code == 0)
    os.chown(open_directory, 0, 0)


@pytest.mark.sanitize
@pytest.mark.skipif(not SANITIZED, reason="these tools are built without sanitizers")
def test_sanitizers():
    assert run("pdecode", PLAIN).returncode == 0
    done = run("pdecode", "--sandbox", PLAIN)
    assert (done.returncode, done.stderr) == (2,
                                              b"pdecode: --sandbox: not available in a build with "
                                              b"sanitizers\n")


@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair", "preport", "pquery"])
def test_unknown_mode(tool):
    done = run(tool, "--sandbox=perhaps", PLAIN)
    assert done.returncode == 2
    assert (f"{tool}: '--sandbox' must be one of auto|always|never, not 'perhaps'\n"
            in done.stderr.decode())
    assert "--sandbox[=auto|always|never]" in run(tool, "--help").stdout.decode()
    assert "Landlock" in run(tool, "--man").stdout.decode()


@no_sandbox_here
def test_wrong_input_and_the_output(tmp_path):
    """An existing output stays as it was; a new one is not created."""
    bad, old, new = tmp_path / "bad", tmp_path / "old", tmp_path / "new"
    bad.write_bytes(b"#!/bin/sh\n" * 20)
    for word in ("always", "never"):
        old.write_bytes(b"precious")
        for out in (old, new):
            done = run("pdecode", f"--sandbox={word}", bad, "-o", out)
            assert done.returncode == 3 and done.stderr.count(b"\n") == 1
        assert old.read_bytes() == b"precious" and not new.exists()
        assert run("prepair", f"--sandbox={word}", bad, "-o", new).returncode == 3
        assert run("pencode", f"--sandbox={word}", bad, "-o", new).returncode == 3
        assert run("pencode", f"--sandbox={word}", bad, "-o", f"{new}/").returncode == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "old"]


def test_output_that_would_be_part_of_the_input(tmp_path):
    """The output must be opened before the directory is read."""
    directory = tmp_path / "in"
    shutil.copytree(DIRECTORY, directory)
    before = sorted(directory.iterdir())
    done = run("pdecode", directory, "-o", directory / "data.7")
    assert (done.returncode, sorted(directory.iterdir())) == (2, before)
    assert done.stderr.decode() == f"pdecode: {directory / 'data.7'}: is both input and output\n"
    assert run("pdecode", directory, "-o", directory / "out.json").returncode == 0
    assert (directory / "out.json").read_bytes() == run("pdecode", DIRECTORY).stdout


@no_sandbox_here
def test_ends_together(tmp_path):
    """The process in the sandbox ends with the one that waits for it; the status is right even if
    the caller ignores SIGCHLD."""
    new = tmp_path / "new"
    with endless("--sandbox", "-o", "/dev/stdout") as (process, threads):
        assert threads[0] == process.pid
    process = subprocess.Popen([TOOLS / "pdecode", "--sandbox", "-o", new, "-"],
                               stdin=subprocess.PIPE)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    end = time.monotonic() + TIMEOUT
    while not children.read_text():
        assert time.monotonic() < end
    child = children.read_text().strip()
    process.terminate()
    assert process.wait(TIMEOUT) == -signal.SIGTERM
    while pathlib.Path(f"/proc/{child}").exists() and status(child)["State"][0] != "Z":
        assert time.monotonic() < end
    done = run("prepair", "--sandbox", PLAIN, "-o", tmp_path / "fixed",
               preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert (done.returncode, done.stderr) == (0, b"") and (tmp_path / "fixed").exists()
