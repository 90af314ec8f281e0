"""Helpers for the tests of precord: the built recorder, a program to record, and a decoded
recording."""
import collections
import contextlib
import fcntl
import functools
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import pytest

import rights
from conftest import ROOT, SANITIZER_REPORT, TOOLS, TRACEFS, strict_json

TIMEOUT = 60
TRIES = 10
# Clock events stop some virtual machines if they are too frequent: no test asks for more.
MOST_HZ = 10000
MAX_SAMPLE_RATE = pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate")


@functools.lru_cache(maxsize=None)
def event_works(event, *options):
    """Whether precord can sample this event here. Its messages are tested elsewhere."""
    done = subprocess.run([str(TOOLS / "precord"), "-q", "-e", event, "-c", "1000000", *options,
                           "-o", "/dev/null", "--", "true"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=TIMEOUT)
    return done.returncode == 0


# The peak of a child includes that of its parent before exec, and pytest is large: a small parent
# is needed.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open(sys.argv[1], "w"))
sys.exit(code)
"""


def run_measured(command, directory):
    """The completed process, and its peak memory in KiB."""
    peak = directory / "peak"
    done = subprocess.run([sys.executable, "-c", MEASURE, peak, *command], capture_output=True,
                          timeout=TIMEOUT)
    return done, int(peak.read_text())


class Recording:
    """The result of a run of precord."""

    def __init__(self, done, path, decode):
        self.done = done
        self.path = path
        self.decode = decode

    @property
    def returncode(self):
        return self.done.returncode

    @property
    def stderr(self):
        return self.done.stderr.decode(errors="replace")

    @functools.cached_property
    def document(self):
        return self.decode(self.path)

    def records(self, kind):
        return [record for record in self.document["records"] if record["type"] == kind]

    @property
    def samples(self):
        return self.records("SAMPLE")

    def count(self, kind):
        return self.document["summary"]["by_type"].get(kind, 0)

    def attr(self, index=0):
        return self.document["attrs"][index]["attr"]

    @property
    def has_stray_bits(self):
        """Whether maps have the bit of a build id that belongs to those of another recorder (Linux
        before 6.19). perf 6.1 aborts then."""
        return "build_id" not in self.attr()["flags"]["names"] and any(
            "MMAP_BUILD_ID" in record.get("misc_flags", ()) for record in self.records("MMAP2"))

    @property
    def captured(self):
        """The number of samples in the footer."""
        return int(re.search(r"Captured and wrote .*\((\d+) samples", self.stderr).group(1))


@pytest.fixture(scope="session")
def precord():
    """Path of the built precord."""
    path = TOOLS / "precord"
    if not os.access(path, os.X_OK):
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture(scope="session")
def workload():
    """Path of the program to record, in a directory that all users can read."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no compiler for tests/workload")
    with tempfile.TemporaryDirectory(prefix="precord-") as directory:
        os.chmod(directory, 0o755)
        path = pathlib.Path(directory) / "workload"
        subprocess.run([compiler, "-O1", "-g", "-fno-omit-frame-pointer", "-no-pie", "-pthread",
                        "-o", path,
                        ROOT / "tests" / "workload" / "workload.c"], check=True, timeout=TIMEOUT)
        yield path


@pytest.fixture(scope="session")
def symbol(workload):
    """Function: the address of a symbol of the workload, which is linked at a fixed address."""
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("no nm")
    table = subprocess.run([nm, workload], check=True, capture_output=True, text=True).stdout
    found = dict(reversed(line.split()[::2]) for line in table.splitlines()
                 if len(line.split()) == 3)
    return lambda name: int(found[name], 16)


def check_end(done, command):
    if done.returncode == SANITIZER_REPORT or b"Sanitizer" in done.stderr:
        pytest.fail(f"a sanitizer ended {' '.join(map(str, command))}\n"
                    f"{done.stderr[-4000:].decode(errors='replace')}",
                    pytrace=False)


@pytest.fixture
def run_precord(precord, tmp_path):
    """Function: runs precord in the test's directory. The caller must check the exit code."""
    def run(*args, prefix=(), **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        command = [*map(str, prefix), str(precord), *map(str, args)]
        done = subprocess.run(command, stderr=subprocess.PIPE, timeout=TIMEOUT,
                              cwd=options.pop("cwd", tmp_path), **options)
        check_end(done, command)
        return done
    return run


@pytest.fixture
def start_precord(precord, tmp_path):
    """Function: starts precord and returns the process, which is killed at the end of the test."""
    rights.need("events")
    started = []

    def start(*args, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("cwd", tmp_path)
        process = subprocess.Popen([str(precord), *map(str, args)], stderr=subprocess.PIPE,
                                   **options)
        started.append(process)
        return process
    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


class Control:
    """Commands for a recorder, by pipes: passed_fds is for its process, option for its command
    line."""

    def __init__(self):
        theirs, self.into = os.pipe()
        self.back, ack = os.pipe()
        self.passed_fds = theirs, ack
        self.option = f"--control=fd:{theirs},{ack}"

    def say(self, command):
        os.write(self.into, f"{command}\n".encode())
        readable, _, _ = select.select([self.back], [], [], TIMEOUT)
        assert readable, f"no answer to '{command}'"
        answer = os.read(self.back, 64)
        assert answer.rstrip(b"\0") == b"ack\n", answer

    def settle(self):
        """Returns when the recorder has done what was asked for before: it answers the second
        time after that."""
        self.say("ping")
        self.say("ping")

    def close(self):
        os.close(self.into)
        os.close(self.back)


@pytest.fixture
def start_recording(start_precord):
    """Function: starts precord, and returns the process once its events are enabled. `control` of
    the process takes commands for it."""
    controls = []

    def start(*args, **options):
        control = Control()
        controls.append(control)
        try:
            process = start_precord(control.option, *args, pass_fds=control.passed_fds, **options)
        finally:
            for fd in control.passed_fds:
                os.close(fd)
        process.control = control
        control.say("ping")
        return process
    yield start
    for control in controls:
        control.close()


def seeing(directory, contents):
    """The start of a command that sees these texts in place of files in /proc, as {path: text}.
    The settings of the machine stay as they are: other tests record meanwhile."""
    script = ["mount --make-rprivate /"]
    for i, (path, text) in enumerate(contents.items()):
        file = directory / f"seen-{i}"
        file.write_text(text)
        script.append(f"mount --bind {file} {path}")
    prefix = ["unshare", "-m", "sh", "-c", " && ".join([*script, 'exec "$@"']), "sh"]
    done = subprocess.run([*prefix, "true"], stderr=subprocess.PIPE, check=False)
    if done.returncode:
        pytest.skip(f"no mount namespace: {done.stderr.decode()}")
    return prefix


@pytest.fixture
def lock_probes():
    """Recorders remove the probes that killed ones left: tests of probes wait for each other, also
    for those of another run."""
    rights.need("tracefs")
    with open(TRACEFS / "uprobe_events", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def steady_rate():
    """Keeps low_rate() waiting, also in other runs."""
    with open(MAX_SAMPLE_RATE, encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def low_rate(rate):
    """Lowers the highest rate of the kernel, and restores it. Other tests may record: it must be
    low for a moment only."""
    with open(MAX_SAMPLE_RATE, "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read()
        try:
            MAX_SAMPLE_RATE.write_text(f"{rate}\n")
            if MAX_SAMPLE_RATE.read_text() != f"{rate}\n":
                pytest.skip("the sample rate can't be limited")
            yield
        except OSError as error:
            pytest.skip(f"the sample rate can't be limited: {error}")
        finally:
            MAX_SAMPLE_RATE.write_text(before)


@pytest.fixture
def start_workload(workload):
    """Function: starts the workload with these arguments; it waits for what is written to its
    stdin. It is killed at the end of the test."""
    started = []

    def start(does, **options):
        process = subprocess.Popen([workload, *does.split()], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, **options)
        started.append(process)
        return process
    yield start
    for process in started:
        process.kill()
        process.communicate()


FINISHED_INIT = struct.pack("=IHH", 82, 0, 8)


def wait_until_synthesized(path):
    """Tasks that run are described while others are recorded: until then, one may end. The file may
    get another name meanwhile."""
    def is_said():
        for part in path.parent.glob(path.name + "*"):
            with contextlib.suppress(FileNotFoundError):
                if FINISHED_INIT in part.read_bytes():
                    return True
        return False
    wait_for(is_said, 20)


def release(process):
    """Ends a "wait 1" of the process, or of the command that it records."""
    process.stdin.write(b"\n")
    process.stdin.flush()


@pytest.fixture
def record(run_precord, workload, decode, tmp_path):
    """Function: records the workload with these options; `does` are its arguments, e.g. "spin
    20"."""
    rights.need("events")

    def run(*options, does="spin 20", command=None, status=0, **more):
        path = tmp_path / "perf.data"
        command = command or [str(workload), *does.split()]
        for _ in range(TRIES):
            done = run_precord("-o", path, *options, "--", *command, **more)
            assert done.returncode == status, done.stderr.decode(errors="replace")
            recording = Recording(done, path, decode)
            if status or not recording.has_stray_bits:
                break
            time.sleep(1)
        return recording
    return run


@pytest.fixture
def print_attr(run_precord):
    """Function: the attributes that precord would open with these options."""
    def run(*options):
        done = run_precord("--print-attr", *options, stdout=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return strict_attrs(done.stdout)
    return run


def strict_attrs(printed):
    """The attributes in the output of --print-attr."""
    document = strict_json(printed)
    assert not document["errors"]
    return [Attr(entry["name"], entry["attr"]) for entry in document["attrs"]]


class Attr(collections.namedtuple("Attr", "name fields")):
    __slots__ = ()

    def __getitem__(self, key):
        return self.fields[key] if isinstance(key, str) else tuple.__getitem__(self, key)

    @property
    def flags(self):
        return set(self.fields["flags"]["names"])

    @property
    def sample_type(self):
        return set(self.fields["sample_type"]["names"])

    @property
    def read_format(self):
        return set(self.fields["read_format"]["names"])

    @property
    def branches(self):
        return set(self.fields["branch_sample_type"]["names"])


def files(directory):
    """The names of perf.data, or of the files that --switch-output makes of it."""
    return sorted(path.name for path in directory.iterdir() if path.name.startswith("perf.data"))


def wait_for(test, seconds=10):
    """Returns the first true value of test(), or fails after these seconds."""
    end = time.monotonic() + seconds
    while True:
        value = test()
        if value:
            return value
        if time.monotonic() > end:
            pytest.fail(f"nothing happened in {seconds} s")
        time.sleep(0.02)


def end_by_second_signal(process, waits, within):
    """Ends a recorder that is still at work some seconds after the first SIGTERM, and must end
    soon after the second. Returns its messages."""
    process.send_signal(signal.SIGTERM)
    time.sleep(waits)
    assert process.poll() is None, "it did not wait"
    process.send_signal(signal.SIGTERM)
    start = time.monotonic()
    stderr = process.communicate(timeout=10)[1].decode()
    assert time.monotonic() - start < within and process.returncode == 0
    assert "a second signal" in stderr
    return stderr


needs_root = rights.needs("root", "events")
needs_tracefs = rights.needs("tracefs")
