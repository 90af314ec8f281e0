"""The pager of a terminal, and --open."""
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import recording  # noqa: F401

NOBODY = {"PAGER": None, "LESS": None, "LV": None, "NO_COLOR": "1", "TERM": "xterm"}


def on_terminal(*args, columns=100, rows=50, cwd=None, **environment):
    """(status, text) of preport on a terminal; environment: None removes a variable."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    env = {key: value for key, value in {**os.environ, **NOBODY, **environment}.items()
           if value is not None}
    with subprocess.Popen([TOOLS / "preport", "--no-symbols", *map(str, args)], stdout=follower,
                          stderr=follower, stdin=follower, env=env, cwd=cwd,
                          start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
        os.close(follower)
        out = b""
        while True:
            try:
                part = os.read(leader, 1 << 16)
            except OSError:         # all of the other end are closed
                break
            if not part:
                break
            out += part
        os.close(leader)
        return process.wait(TIMEOUT), out.decode().replace("\r\n", "\n")


def test_text_goes_to_the_pager(recording):
    for format in ("top", "tree", "script"):
        status, plain = on_terminal("-f", format, "--no-pager", recording)
        assert status == 0 and plain
        status, paged = on_terminal("-f", format, recording, PAGER="sed 's/^/> /'")
        assert status == 0
        assert paged == "".join(f"> {line}\n" for line in plain.splitlines())


@pytest.mark.parametrize("options,environment", (
    (["--no-pager"], {}), ([], {"PAGER": ""}), ([], {"PAGER": "cat"}), ([], {"TERM": "dumb"}),
    (["-f", "csv"], {}), (["-f", "folded"], {}), (["-f", "top", "-o", "-"], {})))
def test_there_is_no_pager(recording, options, environment):
    status, out = on_terminal(*options, recording, **{"PAGER": "echo PAGED", **environment})
    assert status == 0 and "PAGED" not in out and "app" in out


def test_a_pipe_has_no_pager(recording):
    out = subprocess.run([TOOLS / "preport", "--no-symbols", recording], check=True,
                         capture_output=True, timeout=TIMEOUT,
                         env={**os.environ, "PAGER": "echo PAGED", "TERM": "xterm"}).stdout
    assert b"PAGED" not in out and b"samples of cpu-clock" in out


def test_less_is_told_to_show_colors_and_to_leave_short_text(recording):
    status, out = on_terminal(recording, PAGER="echo LESS=$LESS LV=$LV; cat >/dev/null")
    assert (status, out) == (0, "LESS=FRX LV=-c\n")
    assert on_terminal(recording, PAGER="echo $LESS; cat >/dev/null", LESS="S")[1] == "S\n"
    colored = on_terminal(recording, PAGER="sed s:x:x:", NO_COLOR=None)[1]
    assert "\x1b[3" in colored


@pytest.mark.parametrize("programs,begin", ((("less", "more"), "less"), (("more",), "more"),
                                            ((), "")))
def test_the_pager_without_a_choice(recording, tmp_path, programs, begin):
    for name in programs:
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name}; exec /bin/cat\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "cat").symlink_to("/bin/cat")
    status, out = on_terminal(recording, PATH=str(tmp_path))
    assert status == 0 and "samples of cpu-clock" in out
    assert out.startswith(begin + "\n" if begin else str(recording))


@pytest.mark.parametrize("pager", ("nosuchpager", "nosuchpager -R", "/no/such/pager"))
def test_a_pager_that_is_not_there_loses_no_report(recording, pager):
    plain = on_terminal("--no-pager", recording)
    assert on_terminal(recording, PAGER=pager) == (
        0, f"preport: PAGER: '{pager}' could not be started\n{plain[1]}")


@pytest.mark.parametrize("pager", ("LESS=R cat", "eval cat", "(cat)", "command cat"))
def test_a_pager_may_be_what_only_a_shell_knows(recording, pager):
    assert on_terminal(recording, PAGER=pager) == on_terminal("--no-pager", recording)


def test_the_status_is_that_of_the_report(recording):
    assert on_terminal("--pid=77", recording, PAGER="sed s/^/x/")[0] == 5
    status, out = on_terminal("nothing.data", PAGER="echo PAGED")
    assert status == 3 and "PAGED" not in out
    assert on_terminal(recording, PAGER="exit 3")[0] in (0, -signal.SIGPIPE)


def test_the_pager_ends_before_the_command(recording, tmp_path):
    leader, follower = pty.openpty()
    last = tmp_path / "last"
    with subprocess.Popen([TOOLS / "preport", "--no-symbols", recording], stdout=follower,
                          env={**os.environ, **{"PAGER": f"cat >/dev/null; sleep 0.5; touch {last}",
                                                "TERM": "xterm"}}) as process:
        assert process.wait(TIMEOUT) == 0 and last.exists()
    os.close(leader)
    os.close(follower)


@pytest.fixture
def opener(tmp_path):
    """Runs preport with an xdg-open that writes its arguments to a file."""
    bin = tmp_path / "bin"
    bin.mkdir()
    program = bin / "xdg-open"
    program.write_text(f"#!/bin/sh\nprintf '%s ' \"$@\" > {tmp_path}/opened\ntest -s \"$1\"\n")
    program.chmod(0o755)

    def go(*args, path=f"{bin}:{os.environ['PATH']}"):
        done = subprocess.run([TOOLS / "preport", "--no-symbols", *map(str, args)], cwd=tmp_path,
                              capture_output=True, timeout=TIMEOUT, text=True,
                              env={**os.environ, "PATH": path})
        opened = tmp_path / "opened"
        text = opened.read_text() if opened.exists() else None
        opened.unlink(missing_ok=True)
        return done.returncode, text, done.stderr
    return go


def test_open_shows_the_file_written(opener, recording, tmp_path):
    assert opener("--open", recording) == (0, f"{tmp_path}/perf.html ", "")
    assert b"<!DOCTYPE html>" in (tmp_path / "perf.html").read_bytes()
    assert opener("--open", "-f", "svg", recording)[:2] == (0, f"{tmp_path}/perf.svg ")
    assert opener("--open", "-o", "a b.html", recording)[:2] == (0, "a b.html ")
    assert opener("--open", "-o", "-x.html", recording)[:2] == (0, "./-x.html ")


def test_open_is_not_for_failures_and_other_formats(opener, recording):
    assert opener("--open", "--pid=77", recording)[:2] == (5, None)
    assert opener("--open", "nothing.data")[:2] == (3, None)
    for options in (["-f", "top"], ["-f", "pprof"], ["-o", "-", "-f", "flamegraph"],
                    ["-o", "x.txt"]):
        assert opener("--open", *options, recording)[:2] == (2, None)


def test_without_a_program_that_opens(opener, recording, tmp_path):
    status, opened, said = opener("--open", recording, path=str(tmp_path))
    assert (status, opened) == (4, None) and (tmp_path / "perf.html").exists()
    assert said == f"preport: {tmp_path}/perf.html is written, but xdg-open could not open it\n"
