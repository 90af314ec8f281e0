"""Tools that a signal ends while they read their input."""
import contextlib
import os
import subprocess
import time

from conftest import FIXTURES, TIMEOUT, TOOLS

RECORDING = (FIXTURES / "perf" / "02-callgraph-fp.data").read_bytes()


def _has_open(pid, folder):
    links = f"/proc/{pid}/fd"
    for name in os.listdir(links):
        try:
            if os.readlink(f"{links}/{name}").startswith(f"{folder}/"):
                return True
        except FileNotFoundError:
            pass
    return False


@contextlib.contextmanager
def reading(command, folder):
    """Runs a tool that reads a pipe, until it has had a part and has a file open in `folder`."""
    tool, *arguments = command
    with subprocess.Popen([TOOLS / tool, *arguments], stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdin.write(RECORDING[:4096])
        process.stdin.flush()
        end = time.monotonic() + TIMEOUT
        while not _has_open(process.pid, folder):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.005)
        yield process


def end_while_reading(command, folder, number):
    """Ends a tool by a signal while it reads."""
    with reading(command, folder) as process:
        process.send_signal(number)
        assert process.wait(TIMEOUT) == -number
