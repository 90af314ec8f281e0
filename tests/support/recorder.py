"""Helpers for the tests of precord: the built recorder, a program to record, and a decoded recording."""
import collections
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

import rights
from conftest import ROOT, SANITIZER_REPORT, TOOLS, strict_json

TIMEOUT = 60
# The clock events of some virtual machines stop the machine when they come too often: no test asks for more.
MOST_HZ = 10000


@functools.lru_cache(maxsize=None)
def event_works(event, *options):
    """Can this event be sampled here? By precord itself: what it says is tested elsewhere."""
    done = subprocess.run([str(TOOLS / "precord"), "-q", "-e", event, "-c", "1000000", *options, "-o", "/dev/null",
                           "--", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT)
    return done.returncode == 0


# A child's peak counts the process it was forked from, and pytest's is large: a small one starts the program.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open(sys.argv[1], "w"))
sys.exit(code)
"""


def run_measured(command, directory):
    """The process that ended, and its peak in KiB."""
    peak = directory / "peak"
    done = subprocess.run([sys.executable, "-c", MEASURE, peak, *command], capture_output=True, timeout=TIMEOUT)
    return done, int(peak.read_text())


class Recording:
    """What a run of precord left."""

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
    def captured(self):
        """The number of samples that the footer tells."""
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
    """Path of the program to record, in a directory that every user may look into."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no compiler for tests/workload")
    with tempfile.TemporaryDirectory(prefix="precord-") as directory:
        os.chmod(directory, 0o755)
        path = pathlib.Path(directory) / "workload"
        subprocess.run([compiler, "-O1", "-g", "-fno-omit-frame-pointer", "-no-pie", "-pthread", "-o", path,
                        ROOT / "tests" / "workload" / "workload.c"], check=True, timeout=TIMEOUT)
        yield path


@pytest.fixture(scope="session")
def symbol(workload):
    """Function: the address of a symbol of the workload, which is not position independent."""
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("no nm")
    table = subprocess.run([nm, workload], check=True, capture_output=True, text=True).stdout
    found = dict(reversed(line.split()[::2]) for line in table.splitlines() if len(line.split()) == 3)
    return lambda name: int(found[name], 16)


def check_end(done, command):
    if done.returncode == SANITIZER_REPORT or b"Sanitizer" in done.stderr:
        pytest.fail(f"a sanitizer ended {' '.join(map(str, command))}\n{done.stderr[-4000:].decode(errors='replace')}",
                    pytrace=False)


@pytest.fixture
def run_precord(precord, tmp_path):
    """Function: run precord with these arguments in the test's directory; its end is the caller's to look at."""
    def run(*args, prefix=(), **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        command = [*map(str, prefix), str(precord), *map(str, args)]
        done = subprocess.run(command, stderr=subprocess.PIPE, timeout=TIMEOUT, cwd=options.pop("cwd", tmp_path),
                              **options)
        check_end(done, command)
        return done
    return run


@pytest.fixture
def start_precord(precord, tmp_path):
    """Function: start precord and return the process; those still there at the end of the test are ended."""
    rights.need("events")
    started = []

    def start(*args, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("cwd", tmp_path)
        process = subprocess.Popen([str(precord), *map(str, args)], stderr=subprocess.PIPE, **options)
        started.append(process)
        return process
    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def record(run_precord, workload, decode, tmp_path):
    """Function: record the workload with these options; `does` are its words, e.g. "spin 20"."""
    rights.need("events")

    def run(*options, does="spin 20", command=None, status=0, **more):
        path = tmp_path / "perf.data"
        command = command or [str(workload), *does.split()]
        done = run_precord("-o", path, *options, "--", *command, **more)
        assert done.returncode == status, done.stderr.decode(errors="replace")
        return Recording(done, path, decode)
    return run


@pytest.fixture
def print_attr(run_precord):
    """Function: the attributes of the events that these options ask for, without opening them."""
    def run(*options):
        done = run_precord("--print-attr", *options, stdout=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return strict_attrs(done.stdout)
    return run


def strict_attrs(printed):
    """The attributes in what --print-attr printed."""
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


def wait_for(test, seconds=10):
    """The first true value of test(); fails after a while."""
    end = time.monotonic() + seconds
    while True:
        value = test()
        if value:
            return value
        if time.monotonic() > end:
            pytest.fail(f"nothing happened in {seconds} s")
        time.sleep(0.02)


needs_root = rights.needs("root", "events")
needs_tracefs = rights.needs("tracefs")
