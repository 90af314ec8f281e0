"""Shared by all tests: the built tools, strict parsing of their output, and the recordings they run
on.

Environment:
  PD_TOOLS         directory of the built tools; default build/ of this project
  PERFDATA_CORPUS  directory of perf.data files of other projects; default ../shared/corpus next to
                   this project; tests that need it are skipped with a reason if it is absent
  PERF             the perf to compare with; default: the one in PATH

A test with the argument `fixture_file`, `corpus_file` or `data_file` (either) runs once for each
file. The arguments have module scope, so pytest runs all tests of one file together, and the file
is decoded once.
"""
import collections
import functools
import gc
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(1, str(ROOT / "tests" / "support"))

import rights  # noqa: E402

FIXTURES = ROOT / "fixtures"
TOOLS = pathlib.Path(os.environ.get("PD_TOOLS") or ROOT / "build")
CORPUS = pathlib.Path(os.environ.get("PERFDATA_CORPUS") or ROOT.parent / "shared" / "corpus")
NO_CORPUS = (f"no corpus at {CORPUS}: set PERFDATA_CORPUS to a directory with the perf.data files "
             "of other projects "
             "(quipper/, hotspot/, perfparser/, linux-perf-data/, tracepoints/)")
TRACEFS = pathlib.Path("/sys/kernel/tracing")
TIMEOUT = 120
SANITIZER_REPORT = 99   # set for ASan and UBSan: their default, 1, means a damaged file here
os.environ.setdefault("ASAN_OPTIONS", f"exitcode={SANITIZER_REPORT}")
os.environ.setdefault("UBSAN_OPTIONS", f"exitcode={SANITIZER_REPORT}:print_stacktrace=1")

# Parsed JSON and descriptions of files are millions of objects without circles. With Python's own
# thresholds a third of a test's time is spent on looking for circles in them.
gc.set_threshold(100_000, 20, 20)

# A shell starts background jobs with SIGINT and SIGQUIT ignored, which the tools would inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGQUIT) == signal.SIG_IGN:
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# The programs of which some captures were made.
CORPUS_PROGRAMS = {"perfparser/cpp-inlining", "perfparser/vector_static_clang"}


class DataFile(collections.namedtuple("DataFile", "name path origin")):
    """A perf.data file or directory: `origin` is "perf" or "corpus", `name` the path in it."""
    __slots__ = ()

    @property
    def label(self):
        return f"{self.origin}/{self.name}"

    @property
    def is_directory(self):
        return self.path.is_dir()


# Cached because pytest groups the tests of one file by the identity of the object.
@functools.lru_cache(maxsize=None)
def fixture_files(origin="perf"):
    """The captures in fixtures/ORIGIN: files, and directories with a file `data`."""
    top = FIXTURES / origin
    if not top.is_dir():
        return ()
    return tuple(DataFile(path.name, path, origin) for path in sorted(top.iterdir())
                 if path.is_file() or (path / "data").is_file())


@functools.lru_cache(maxsize=None)
def corpus_files():
    """The perf.data files of the corpus; empty without a corpus."""
    if not CORPUS.is_dir():
        return ()
    names = sorted(str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*") if path.is_file())
    return tuple(DataFile(name, CORPUS / name, "corpus") for name in names
                 if name not in CORPUS_PROGRAMS
                 and not pathlib.Path(name).name.startswith("README"))


def mount_tracefs(config):
    """After a boot, tracefs is not mounted until something asks for a tracepoint. Unmounted after
    the last test."""
    if hasattr(config, "workerinput") or os.geteuid() != 0 or (TRACEFS / "events").is_dir():
        return
    if subprocess.run(["mount", "-t", "tracefs", "nodev", str(TRACEFS)], stderr=subprocess.DEVNULL,
                      check=False).returncode == 0:
        config.add_cleanup(lambda: subprocess.run(["umount", str(TRACEFS)],
                                                  stderr=subprocess.DEVNULL, check=False))


def pytest_configure(config):
    config.addinivalue_line("markers", "sanitize: runs with tools built with sanitizers, and once "
                            "more with others in make check-more")
    config.addinivalue_line("markers", "long: takes seconds; only in make check-more")
    config.addinivalue_line("markers", "needs(*names): skipped without these of rights.RIGHTS")
    mount_tracefs(config)


def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        rights.need(*mark.args)


def pytest_terminal_summary(terminalreporter):
    for line in rights.summary(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line)


def pytest_generate_tests(metafunc):
    sources = {"fixture_file": [fixture_files], "corpus_file": [corpus_files],
               "data_file": [fixture_files, corpus_files]}
    for argument, lists in sources.items():
        if argument not in metafunc.fixturenames:
            continue
        params = [pytest.param(file, id=file.label) for files in lists for file in files()]
        if corpus_files in lists and not CORPUS.is_dir():
            params.append(pytest.param(None, id="corpus", marks=pytest.mark.skip(reason=NO_CORPUS)))
        metafunc.parametrize(argument, params, scope="module", indirect=True)


def _given(request):
    return request.param


fixture_file = pytest.fixture(scope="module", name="fixture_file")(_given)
corpus_file = pytest.fixture(scope="module", name="corpus_file")(_given)
data_file = pytest.fixture(scope="module", name="data_file")(_given)


@pytest.fixture(scope="session")
def corpus():
    """Path of the corpus; skips the test if there is none."""
    if not CORPUS.is_dir():
        pytest.skip(NO_CORPUS)
    return CORPUS


@pytest.fixture(scope="session")
def perf():
    """Path of the perf to compare with; skips the test if there is none."""
    path = shutil.which(os.environ.get("PERF") or "perf")
    if not path:
        pytest.skip("no perf in PATH: install Debian's linux-perf, or name one with PERF=")
    return path


@pytest.fixture(scope="session")
def pdecode():
    """Path of the built pdecode."""
    path = TOOLS / "pdecode"
    if not os.access(path, os.X_OK):
        pytest.fail(f"{path} is not built: run make, or set PD_TOOLS to its directory",
                    pytrace=False)
    return path


@pytest.fixture(scope="session")
def run_pdecode(pdecode):
    """Function: runs pdecode with `args` and with `input` (bytes) on stdin.

    A signal or a sanitizer's report fails the test.
    """
    def run(args, input=b"", timeout=TIMEOUT, **options):
        command = [str(pdecode), *map(str, args)]
        done = subprocess.run(command, input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout, **options)
        if done.returncode < 0 or done.returncode == SANITIZER_REPORT:
            ended = f"signal {-done.returncode}" if done.returncode < 0 else "a sanitizer"
            pytest.fail(f"{ended} ended {' '.join(command)}\n"
                        f"{done.stderr[-4000:].decode(errors='replace')}", pytrace=False)
        return done
    return run


class NotStrict(ValueError):
    """JSON that the contract does not allow."""


def _unique_keys(pairs):
    keys = dict(pairs)
    if len(keys) != len(pairs):
        counts = collections.Counter(key for key, _ in pairs)
        raise NotStrict(
            f"the keys {[key for key, n in counts.items() if n > 1]} are in one object twice")
    return keys


def _no_constant(name):
    raise NotStrict(f"{name} is not JSON")


LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _no_surrogate(value):
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if LONE_SURROGATE.search(item):
                raise NotStrict(f"lone surrogate in {item!r}")
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def strict_json(data):
    """The value of `data` (bytes); raises NotStrict or ValueError if RFC 8259 or the contract
    forbids it."""
    text = data.decode("utf-8")
    value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    if "\\ud" in text or "\\uD" in text:
        _no_surrogate(value)
    return value


Decoded = collections.namedtuple("Decoded", "document returncode stderr")


class Decoder:
    """Runs pdecode once for a file and arguments. Keeps all outputs on disk, and the last few
    parsed ones."""
    KEPT = 6

    def __init__(self, run, directory):
        self.run = run
        self.directory = directory
        self.outputs = {}
        self.parsed = collections.OrderedDict()

    def _cached(self, path, args, parse):
        status = os.stat(path)
        name = (str(path), status.st_mtime_ns, status.st_size)  # a test may rewrite its file
        key = (name, args, parse.__name__)
        if key in self.parsed:
            self.parsed.move_to_end(key)
            return self.parsed[key]
        if key[:2] not in self.outputs:
            done = self.run([*args, path])
            if done.returncode not in (0, 1):
                raise AssertionError(
                    f"pdecode {' '.join(map(str, args))} {path}: exit {done.returncode}\n"
                    f"{done.stderr.decode(errors='replace')}")
            output = self.directory / str(len(self.outputs))
            output.write_bytes(done.stdout)
            self.outputs[key[:2]] = (output, done.returncode, done.stderr.decode(errors="replace"))
        output, returncode, stderr = self.outputs[key[:2]]
        try:
            value = parse(output.read_bytes())
        except ValueError as error:
            raise AssertionError(f"pdecode {' '.join(map(str, args))} {path}: {error}") from error
        self.parsed[key] = Decoded(value, returncode, stderr)
        while len(self.parsed) > self.KEPT:
            self.parsed.popitem(last=False)
        return self.parsed[key]

    def result(self, path, *args):
        """Document, exit code and stderr of `pdecode ARGS PATH`."""
        return self._cached(path, args, strict_json)

    def lines(self, path, *args):
        """As result() for --format jsonl; the document is a list of objects."""
        return self._cached(path, ("--format", "jsonl", *args), strict_json_lines)


def strict_json_lines(data):
    if data and not data.endswith(b"\n"):
        raise NotStrict("the last line has no newline")
    return [strict_json(line) for line in data.split(b"\n")[:-1]]


@pytest.fixture(scope="session")
def decoder(run_pdecode, tmp_path_factory):
    return Decoder(run_pdecode, tmp_path_factory.mktemp("decoded"))


@pytest.fixture(scope="session")
def decode(decoder):
    """Function: the document that `pdecode ARGS PATH` writes. It is shared: do not change it."""
    return lambda path, *args: decoder.result(path, *args).document


@pytest.fixture(scope="session")
def decode_lines(decoder):
    """Function: the objects that `pdecode --format jsonl ARGS PATH` writes. They are shared,
    too."""
    return lambda path, *args: decoder.lines(path, *args).document


@pytest.fixture(scope="session")
def catalogue_paths(tmp_path_factory):
    """{name: path} of the files of tests/perfdata's catalogue."""
    from perfdata import catalog    # which most tests do without

    return catalog.write(str(tmp_path_factory.mktemp("catalogue")))


@pytest.fixture(scope="session")
def refusing_malloc(tmp_path_factory):
    """The library for LD_PRELOAD that refuses allocations."""
    import compiled

    return compiled.preloaded("refusing_malloc", tmp_path_factory.mktemp("preloaded"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The library as `make install` installs it."""
    from installed import Installed     # which imports this file

    return Installed(tmp_path_factory.mktemp("installed"))
