"""Tools that a signal ends while they read their input."""
import contextlib
import os
import subprocess
import time

from conftest import FIXTURES, TIMEOUT, TOOLS

RECORDING = (FIXTURES / "perf" / "02-callgraph-fp.data").read_bytes()


def _count_open(pid, folder):
    links, files = f"/proc/{pid}/fd", set()
    for name in os.listdir(links):
        with contextlib.suppress(FileNotFoundError):
            files.add(os.readlink(f"{links}/{name}"))
    return sum(file.startswith(f"{folder}/") for file in files)


@contextlib.contextmanager
def reading(command, folder, files=1):
    """Runs a tool that reads a pipe, until it has had a part and has `files` files open in
    `folder`."""
    tool, *arguments = command
    with subprocess.Popen([TOOLS / tool, *arguments], stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdin.write(RECORDING[:4096])
        process.stdin.flush()
        end = time.monotonic() + TIMEOUT
        while _count_open(process.pid, folder) < files:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.005)
        yield process


def end_while_reading(command, folder, number):
    """Ends a tool by a signal while it reads."""
    with reading(command, folder) as process:
        process.send_signal(number)
        assert process.wait(TIMEOUT) == -number
