"""The binding of Python, installed from its wheel into a fresh environment: the same facts as
pdecode's, with nothing but Python."""
import gzip
import json
import os
import random
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from arrow_reader import read_arrow
from conftest import FIXTURES, ROOT, SANITIZER_REPORT, TIMEOUT, TOOLS, fixture_files
from installed import KEEP_FLAGS, is_sanitized, make
from payloads import short_payload
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample

PERF = FIXTURES / "perf"
CHAINS = PERF / "02-callgraph-fp.data"
HEADER = os.path.join(sysconfig.get_path("include"), "Python.h")

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="the binding needs Python 3.11"),
    pytest.mark.skipif(not os.path.exists(HEADER), reason="no Python.h: install python3-dev")]
SANITIZED = is_sanitized(TOOLS / "libdecode.a")

COMMON = """
import ctypes, json, os, sys
import perfdata
from arrow_c_reader import Stream, read_stream

def stream_of(table):
    '''The capsule, and the stream in it.'''
    capsule = table.__arrow_c_stream__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return capsule, Stream.from_address(get(capsule, b"arrow_array_stream"))

def rows_of(table):
    '''{column: values}, through the capsule.'''
    capsule, stream = stream_of(table)
    return read_stream(stream)[0]

def say(value):
    print(json.dumps(value, default=bytes.hex))
"""


def sanitizer():
    """The environment of a Python that has no sanitizer of its own, and does not free all."""
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], check=True,
                             capture_output=True, text=True).stdout.strip()
    return {"LD_PRELOAD": library,
            "ASAN_OPTIONS": f"exitcode={SANITIZER_REPORT}:detect_leaks=0"}


@pytest.fixture(scope="module")
def wheel():
    flags = ["SAN=1"] if SANITIZED else []
    return make(*KEEP_FLAGS, "python", *flags).split()[-1]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Function: runs a program in the environment; returns what it printed, as JSON values."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    packages = next(place.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(ROOT / wheel) as packed:
        packed.extractall(packages)

    def python(code, *args, stdin=None, status=0):
        done = subprocess.run([place / "bin" / "python", "-c", COMMON + code, *map(str, args)],
                              capture_output=True, timeout=TIMEOUT, input=stdin,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support"),
                                   **(sanitizer() if SANITIZED else {})})
        assert done.returncode == status, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.decode().splitlines()]
    return python


GROUPS = ["addr", "raw", "offset", "wall", "mem", "branch", "read", "regs", "stack",
          "tracepoints"]
RECORDINGS = [CHAINS, PERF / "59-lost.data", PERF / "20-threads.data", PERF / "18-pipe.data",
              PERF / "16-zstd.data", PERF / "12-tracepoints.data",
              PERF / "10-group-leader-sampling.data", PERF / "03-callgraph-dwarf.data"]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_tables_are_those_of_pdecode(path, python, run_pdecode):
    found = python(f"""
f = perfdata.open(sys.argv[1])
say({{name: rows_of(f.table(name, groups={GROUPS}, file_id="id")) for name in perfdata.tables()}})
""", path)[0]
    for name, have in found.items():
        done = run_pdecode(["-f", "arrow", "--with", ",".join(GROUPS), "--file-id", "id",
                            "--table", name, path])
        want = read_arrow(done.stdout)[0]
        assert have == json.loads(json.dumps(want, default=bytes.hex)), name


def test_stats_errors_and_header_are_those_of_pdecode(python, run_pdecode):
    paths = [file.path for file in fixture_files()]
    found = python("""
for path in sys.argv[1:]:
    try:
        f = perfdata.open(path)
    except perfdata.Error as e:
        say(None)
        continue
    damaged = [e for e in f.errors if e.severity != "note"]
    say([f.stats(), len(damaged), f.events, f.features, f.file])
""", *paths)
    assert len(found) == len(paths)
    for path, have in zip(paths, found):
        done = run_pdecode(["-f", "stats", path])
        assert (have is None) == (done.returncode == 3), path
        if have is None:
            continue
        stats = json.loads(done.stdout)
        lines = [json.loads(line) for line in
                 run_pdecode(["-f", "jsonl", path]).stdout.decode().splitlines()]
        assert have[0] == stats and have[1] == stats["errors"], path
        assert have[2] == [line for line in lines if line["kind"] == "attr"], path
        assert have[3] == {name: value for line in lines if line["kind"] == "feature"
                           for name, value in line["feature"].items()}, path


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_records_are_those_of_the_json(path, python, run_pdecode):
    lines = [line for line in run_pdecode(["-f", "jsonl", path]).stdout.decode().splitlines()
             if line.startswith('{"kind":"record"')]
    found = python("""
for r in perfdata.open(sys.argv[1]).records():
    fields = json.loads(r.json())
    values = {}
    for name in ("pid", "tid", "comm", "filename", "period", "ip", "callchain", "sample_id.time"):
        try:
            values[name] = r[name]
        except KeyError:
            pass
    say([r.json(), r.type, r.offset, r.time, values])
""", path)
    assert [row[0] for row in found] == lines
    for text, kind, offset, time, values in found:
        fields = json.loads(text)
        assert (kind, offset) == (fields["type"], fields["offset"])
        assert time == fields.get("sample_id", {}).get("time", fields.get("time"))
        for name in ("pid", "tid", "comm", "filename", "period"):
            assert values.get(name) == fields.get(name)
        assert values.get("ip") == (int(fields["ip"], 16) if "ip" in fields else None)
        assert len(values.get("callchain", [])) == len(fields.get("callchain", []))
        assert values.get("sample_id.time") == fields.get("sample_id", {}).get("time")


def test_types_of_records(python):
    for types, wanted in [("MMAP2", {"MMAP2"}), (["comm", "MMAP2"], {"COMM", "MMAP2"}),
                          ([], set())]:
        found = python(f"say([r.type for r in perfdata.open(sys.argv[1]).records({types!r})])",
                       CHAINS)
        assert set(found[0]) == wanted


@pytest.mark.sanitize
def test_sources(python):
    """All are the same recording; each table is a pass of its own."""
    code = """
import io, mmap, pathlib
path = sys.argv[1]
file = open(path, "rb")
data = file.read()
with open(path, "rb") as again:
    mapped = mmap.mmap(again.fileno(), 0, access=mmap.ACCESS_READ)
sources = [path, pathlib.Path(path), os.fsencode(path), data, bytearray(data), memoryview(data),
           mapped, io.BytesIO(data), open(path, "rb"), sys.stdin.buffer]
del sources[2]
for source in sources:
    f = perfdata.open(source)
    say([rows_of(f.table("samples")), rows_of(f.table("stacks")), rows_of(f.table("samples")),
         sum(r.type == "SAMPLE" for r in f.records()), f.stats()["records"]])
"""
    found = python(code, CHAINS, stdin=CHAINS.read_bytes())
    assert len(found) == 9 and all(value == found[0] for value in found)
    assert found[0][3:] == [66, 98] and found[0][0] == found[0][2]


FILTERS = [("pid=[7306]", ["--pid", "7306"]), ("pid=7306, cpu=0", ["--pid", "7306", "--cpu", "0"]),
           ("tid=range(7302, 7303)", ["--tid", "7302"]), ("comm='wl*'", ["--comm", "wl*"]),
           ("comm=['exe', 'workload']", ["--comm", "exe,workload"]),
           ("event='cycles'", ["-e", "cycles"]), ("types=['COMM']", ["--types", "COMM"]),
           ("time=(2635030000000, 2635040000000)", ["--time", "2635030000000,2635040000000"]),
           ("time=('2635.03s', '2635040ms')", ["--time", "2635.03,2635.04"]),
           ("time=('2635.03s', None)", ["--time", "2635.03,"])]


@pytest.mark.parametrize("filters, options", FILTERS, ids=[filters for filters, _ in FILTERS])
def test_filters_are_those_of_pdecode(filters, options, python, run_pdecode):
    found = python(f"""
f = perfdata.open(sys.argv[1], {filters})
say([{{name: rows_of(f.table(name)) for name in ("samples", "stacks", "comms")}},
     [json.loads(r.json()) for r in f.records()], f.stats()])""", CHAINS)[0]
    for name, have in found[0].items():
        done = run_pdecode(["-f", "arrow", "--table", name, *options, CHAINS])
        assert have == read_arrow(done.stdout)[0], name
    lines = [json.loads(line) for line in
             run_pdecode(["-f", "jsonl", *options, CHAINS]).stdout.decode().splitlines()]
    assert found[1] == [line for line in lines if line["kind"] == "record"]
    assert found[2] == json.loads(run_pdecode(["-f", "stats", *options, CHAINS]).stdout)


def test_columns(python):
    names, same, inline, raw = python("""
f = perfdata.open(sys.argv[1], columns=["stack", "time"])
every = rows_of(perfdata.open(sys.argv[1]).table("samples", groups="raw"))
few = rows_of(f.table("samples"))
say(f.table("samples").columns)
say(few == {name: every[name] for name in ("time", "stack")} and list(few) == ["time", "stack"])
chains = perfdata.open(sys.argv[1], columns=["time"], chains="inline").table("samples")
say([chains.columns, rows_of(chains)["callchain"] == every["callchain"]])
say(list(rows_of(perfdata.open(sys.argv[1]).table("samples", ["ip"]))))
""", CHAINS)
    assert names == ["time", "stack"] and same
    assert inline == [["time", "callchain"], True] and raw == ["ip"]


@pytest.mark.parametrize("options, arguments", [
    ([], ""), (["--int64"], ", int64=True"), (["--with", "raw,addr"], ", groups=['raw', 'addr']"),
    (["--file-id", "abc"], ", file_id='abc'")])
def test_parquet_is_that_of_pdecode(options, arguments, python, run_pdecode, tmp_path):
    assert run_pdecode(["-f", "parquet", *options, "-o", tmp_path / "a", CHAINS]).returncode == 0
    python(f"perfdata.open(sys.argv[1]).write_parquet(sys.argv[2]{arguments})", CHAINS,
           tmp_path / "b")
    want = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == want


def test_parquet_of_some_tables(python, tmp_path):
    python("perfdata.open(sys.argv[1]).write_parquet(sys.argv[2], tables=['samples', 'files'])",
           CHAINS, tmp_path / "b")
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"samples.parquet",
                                                                  "files.parquet"}


# --- errors ---------------------------------------------------------------------------------------

@pytest.mark.sanitize
def test_errors(python, tmp_path):
    cut = tmp_path / "cut.data"
    cut.write_bytes(CHAINS.read_bytes()[:7000])
    lenient, strict, wrong = python("""
f = perfdata.open(sys.argv[1])
error = next(e for e in f.errors if e.severity == "damaged")
say([error.code, error.offset, error.record, error.field, str(error), isinstance(error, Exception),
     len(rows_of(f.table("samples"))["time"]), f.stats()["by_type"]["SAMPLE"]["records"]])
try:
    rows_of(perfdata.open(sys.argv[1], strict=True).table("samples"))
except perfdata.Error as e:
    say([e.code, e.offset])
try:
    perfdata.open(__file__ if "__file__" in globals() else sys.argv[2])
except perfdata.Error as e:
    say([e.code, e.severity])
""", cut, ROOT / "README.md")
    assert lenient[0] == "TRUNCATED" and lenient[4] and lenient[5] and lenient[6] == lenient[7] > 0
    assert strict[0] == "TRUNCATED" and wrong == ["MAGIC", "fatal"]


@pytest.mark.sanitize
def test_a_packed_recording_that_is_cut_off(python, tmp_path):
    cut = tmp_path / "cut.data.gz"
    cut.write_bytes(gzip.compress(CHAINS.read_bytes(), mtime=0)[:1500])
    samples, errors, strict = python("""
f = perfdata.open(sys.argv[1])
say(len(rows_of(f.table("samples"))["time"]))
say([e.code for e in f.errors])
try:
    rows_of(perfdata.open(sys.argv[1], strict=True).table("samples"))
except Exception as e:
    say(type(e).__name__)
""", cut)
    assert errors and strict == "Error" and 0 < samples < 66


def test_damage_of_payloads_is_known_when_they_are_read(python, tmp_path):
    before, after, again, strict = python("""
f = perfdata.open(sys.argv[1])
rows_of(f.table("samples"))
say([e.field for e in f.errors])
rows_of(f.table("samples", groups="tracepoints"))
say([e.field for e in f.errors])
say([rows_of(f.table("files", groups="tracepoints"))["status"], len(f.errors)])
try:
    rows_of(perfdata.open(sys.argv[1], strict=True).table("samples", groups="tracepoints"))
except Exception as e:
    say(str(e))
""", short_payload(tmp_path / "short.data"))
    assert (before, after, again) == ([], ["raw.tracepoint"], [["damaged"], 1])
    assert "raw.tracepoint" in strict


def test_events_that_do_not_exist_are_warned_of(python):
    found = python("""
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for event in ("nosuch", ["cpu-clock*", "cycles*"]):
        perfdata.open(sys.argv[1], event=event)
say([str(one.message) for one in caught])
""", CHAINS)[0]
    assert [text.partition(":")[0] for text in found] == ["no event matches 'nosuch'",
                                                          "no event matches 'cycles*'"]


@pytest.mark.parametrize("code, error", [
    ("perfdata.open(sys.argv[1]).table('nothing')", "ValueError: no table 'nothing'"),
    ("perfdata.open(sys.argv[1]).table('samples', ['x'])", "ValueError: samples has no column 'x'"),
    ("perfdata.open(sys.argv[1]).table('samples', groups='x')", "ValueError: no group 'x'"),
    ("perfdata.open(sys.argv[1], types='x')", "ValueError: no record type 'x'"),
    ("perfdata.open(sys.argv[1], time=('x', None))", "ValueError: 'x' is no time"),
    ("perfdata.open(sys.argv[1], time=(5, 1))", "ValueError: time=(5, 1) ends before it begins"),
    ("perfdata.open(sys.argv[1], time='12.5s')",
     "ValueError: time='12.5s' is no pair: give (from, to)"),
    ("perfdata.open(sys.argv[1], time=5)", "ValueError: time=5 is no pair: give (from, to)"),
    ("perfdata.open(sys.argv[1], time=('10%', '20%'))", "ValueError: '10%' is no time"),
    ("perfdata.open(sys.argv[1], columns=['nope'])", "ValueError: samples has no column 'nope'"),
    ("perfdata.open(sys.argv[1], chains='x')", "ValueError: chains is"),
    ("perfdata.open(b'')", "Error: "),
    ("f = perfdata.open(sys.argv[1]); f.close(); f.stats()", "ValueError: the recording is closed"),
    ("t = perfdata.open(sys.argv[1]); r = list(t.records()); r[0].type",
     "ValueError: a record is valid until the next one is read"),
    ("i = perfdata.open(sys.argv[1]).records(); r = next(i); next(i); r.type",
     "ValueError: a record is valid until the next one is read"),
    ("next(perfdata.open(sys.argv[1]).records())['nothing']", "KeyError: 'nothing'"),
    ("perfdata.open(sys.argv[1], memory=1 << 20).table('samples').__arrow_c_stream__() and 1 / 0",
     "Error"),
    ("import perfdata._perfdata as p; p.Source(1)", "TypeError"),
    ("import perfdata._perfdata as p; p.Records()", "TypeError"),
])
def test_wrong_use_raises(code, error, python):
    found = python(f"""
try:
    exec({code!r})
except Exception as e:
    say(f"{{type(e).__name__}}: {{e}}")
""", CHAINS)
    assert any(word in found[0] for word in error.split("|")), found


@pytest.mark.sanitize
def test_a_full_disk_leaves_older_files(python, tmp_path):
    out = tmp_path / "out"
    found = python("""
import resource
f = perfdata.open(sys.argv[1])
f.write_parquet(sys.argv[2])
older = {name: open(f"{sys.argv[2]}/{name}", "rb").read() for name in os.listdir(sys.argv[2])}
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    f.write_parquet(sys.argv[2])
except OSError as e:
    say(e.errno == 27)
say([older == {name: open(f"{sys.argv[2]}/{name}", "rb").read()
               for name in os.listdir(sys.argv[2])}, len(older)])
""", CHAINS, out)
    assert found == [True, [True, len(list(out.iterdir()))]]


HANDLER = """
import signal
class Stop(Exception): pass
calls = []
def handler(number, frame):
    calls.append(number)
    if stops: raise Stop
signal.signal(signal.SIGALRM, handler)
stops = False
"""


@pytest.fixture(scope="module")
def long_recording(tmp_path_factory):
    """Records for some tenths of a second."""
    path = tmp_path_factory.mktemp("long") / "long.data"
    event = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME", flags=("sample_id_all",))
    one = sample(event, 2, ip=0x1000, pid=7, tid=7, time=100)
    path.write_bytes(File(attrs=[(event, [1])],
                          records=[lambda wire: one(wire) * 2_000_000]).build("<"))
    return path


CALLS = {"learning": "perfdata.open(sys.argv[1]).errors",
         "parquet": "f.write_parquet(sys.argv[2], tables=['samples'])",
         "stats": "f.stats()",
         "stream": "rows_of(f.table('samples', columns=['cpu']))",
         "records": "list(none.records())"}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_signals_are_handled_meanwhile(call, python, long_recording, tmp_path):
    """A signal that only waits for the end of the call is handled once."""
    found = python(HANDLER + f"""
f, none = perfdata.open(sys.argv[1]), perfdata.open(sys.argv[1], pid=[8])
f.errors, none.errors
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
{call}
signal.setitimer(signal.ITIMER_REAL, 0)
say(len(calls))
""", long_recording, tmp_path)
    assert found[0] > 1


@pytest.mark.parametrize("strict", [False, True])
def test_a_signal_ends_a_stream(strict, python, long_recording):
    """Its consumer gets an errno value; Ctrl-C is not lost by that."""
    assert python(f"""
import errno, signal
from arrow_c_reader import Array
f = perfdata.open(sys.argv[1], pid=[8], strict={strict})
f.errors
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.signal(signal.SIGINT, signal.default_int_handler)
capsule, stream = stream_of(f.table("samples"))
signal.setitimer(signal.ITIMER_REAL, 0.005)
codes = []
try:
    codes.extend(map(stream.get_next, [ctypes.byref(stream)], [ctypes.byref(Array())]))
except KeyboardInterrupt:
    say(codes == [errno.EINTR])
say(len(rows_of(f.table("samples"))["time"]))
""", long_recording) == [True, 0]


def test_a_signal_ends_the_writing(python, long_recording, tmp_path):
    assert python(HANDLER + """
f = perfdata.open(sys.argv[1])
f.errors
stops = True
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    f.write_parquet(sys.argv[2])
except Stop:
    say("stopped")
say(f.stats()["records"])
""", long_recording, tmp_path) == ["stopped", 2_000_000]
    assert list(tmp_path.iterdir()) == []


def test_a_signal_ends_the_wait_for_a_pipe(python):
    assert python(HANDLER + """
stops = True
reading, writing = os.pipe()
os.write(writing, open(sys.argv[1], "rb").read(4096))
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    perfdata.open(os.fdopen(reading, "rb"))
except Stop:
    say("stopped")
""", CHAINS) == ["stopped"]


@pytest.mark.sanitize
def test_a_file_object_that_fails_midway(python):
    found = python("""
import errno, io
data = open(sys.argv[1], "rb").read()
class Failing(io.RawIOBase):
    left = [data[:5000], data[5000:9000]]
    def readable(self): return True
    def readinto(self, room):
        if not self.left:
            raise OSError(errno.EIO, "gone")
        part = self.left[0][:len(room)]
        self.left = [part for part in (self.left[0][len(part):], *self.left[1:]) if part]
        room[:len(part)] = part
        return len(part)
for source in (Failing(), io.BufferedReader(Failing())):
    try:
        perfdata.open(source)
    except OSError as e:
        say(e.errno)
say(perfdata.open(data).stats()["records"])
""", CHAINS)
    assert found == [5, 5, 98]


@pytest.mark.sanitize
def test_a_socket_that_fails_midway(python):
    """The other end leaves before it has read what was sent to it."""
    found = python("""
import socket
here, there = socket.socketpair()
here.sendall(b"unread")
there.sendall(open(sys.argv[1], "rb").read(5000))
there.close()
before = len(os.listdir("/proc/self/fd"))
try:
    perfdata.open(here.makefile("rb"))
except OSError as e:
    say([e.errno, len(os.listdir("/proc/self/fd")) - before])
""", CHAINS)
    assert found == [[104, 0]]


# --- lifetimes ------------------------------------------------------------------------------------

@pytest.mark.sanitize
def test_streams_outlive_their_recording(python):
    found = python("""
import gc
def make():
    f = perfdata.open(bytearray(open(sys.argv[1], "rb").read()))
    return f.table("samples", file_id="x" * 3)
table = make()
gc.collect()
first = rows_of(table)
class Held:
    def __init__(self, capsule): self.capsule = capsule
    def __arrow_c_stream__(self): return self.capsule
held = Held(make().__arrow_c_stream__())
record = next(perfdata.open(sys.argv[1]).records())
gc.collect()
say([rows_of(held) == first, record.type, set(first["file_id"]) == {"xxx"}])
""", CHAINS)
    assert found[0][0] and found[0][1] and found[0][2]


def test_nothing_leaks(python):
    """Neither descriptors nor memory, whether streams are read or not."""
    fds, memory = python("""
import gc, resource
data = open(sys.argv[1], "rb").read()
def once():
    f = perfdata.open(sys.argv[1])
    rows_of(f.table("frames"))
    f.table("samples").__arrow_c_stream__()
    f.table("samples").__arrow_c_schema__()
    next(f.records()).json()
    perfdata.open(data + bytes(1 << 20)).table("comms").__arrow_c_stream__()
    f.errors, f.stats(), f.events
    try:
        perfdata.open(b"nothing at all, really")
    except perfdata.Error:
        pass
for _ in range(20):
    once()
gc.collect()
before = len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(300):
    once()
gc.collect()
after = len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
say(after[0] - before[0])
say(after[1] - before[1])
""", CHAINS)
    # a sanitizer keeps what was freed
    assert fds == 0 and (SANITIZED or memory < 8 * 1024)


@pytest.mark.sanitize
def test_threads(python):
    """Many passes at a time over one recording: the GIL is released meanwhile."""
    found = python("""
import concurrent.futures
f = perfdata.open(sys.argv[1])
want = rows_of(f.table("samples")), rows_of(f.table("frames"))
def work(i):
    name = ("samples", "frames")[i % 2]
    return rows_of(f.table(name)) == want[i % 2] and sum(1 for _ in f.records())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    say(sorted(set(pool.map(work, range(64)))))
    again = perfdata.open(sys.argv[1])
    say(list(pool.map(lambda i: len(again.errors), range(8))))
""", CHAINS)
    assert found == [[98], [0] * 8]


LARGE = """
def large(path):        # its records again and again: reading takes a while
    data = bytearray(open(path, "rb").read())
    at, size = (int.from_bytes(data[i:i + 8], "little") for i in (40, 48))
    records = bytes(data[at:at + size])
    while len(records) < 1 << 22:
        records += records
    data[40:56] = len(data).to_bytes(8, "little") + len(records).to_bytes(8, "little")
    data[72:104] = bytes(32)        # no features
    return bytes(data + records)
"""


@pytest.mark.sanitize
def test_threads_that_begin_at_once(python):
    """With a recording each, and with one that no thread has learned yet."""
    found = python(LARGE + """
import threading
data, failed = large(sys.argv[1]), []
def counts(f):
    return f.stats()["records"], len(rows_of(f.table("tasks"))["pid"]), len(f.errors)
want = counts(perfdata.open(data))
def work(f, start):
    start.wait()
    try:
        found = counts(f or perfdata.open(data))
        if found != want:
            failed.append(found)
    except Exception as e:
        failed.append(str(e))
for shared in (False, True) * 3:
    f, start = perfdata.open(data) if shared else None, threading.Barrier(4)
    threads = [threading.Thread(target=work, args=(f, start)) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
say([want[0] > 10000, failed])
""", CHAINS)
    assert found == [[True, []]]


@pytest.mark.sanitize
def test_threads_that_share_an_iterator(python):
    """Each record goes to one of them; none takes the other's reading for the end. Threads that do
    not meet try again."""
    found = python(LARGE + """
import threading
data, refused = large(sys.argv[1]), set()
want = sum(1 for _ in perfdata.open(data).records())
def work(records, counts):
    n = 0
    while True:
        try:
            next(records)
            n += 1
        except ValueError as e:
            refused.add(str(e))
        except StopIteration:
            break
    counts.append(n)
def share():
    records, counts = perfdata.open(data).records(), []
    threads = [threading.Thread(target=work, args=(records, counts)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sum(counts)
sys.setswitchinterval(1e-6)
rounds = 0
while not refused and rounds < 50:
    rounds += 1
    if share() != want:
        break
say([want == share(), sorted(refused)])
""", CHAINS)
    assert found == [[True, ["the records are in use"]]]


@pytest.mark.sanitize
def test_hostile_files(python, run_pdecode, tmp_path):
    """Damaged copies have as many samples as JSON Lines have."""
    paths = []
    for seed in range(40):
        chosen = random.Random(seed)
        data = bytearray(chosen.choice(RECORDINGS[:2] + RECORDINGS[3:]).read_bytes())
        for _ in range(chosen.choice([1, 4, 30])):
            data[chosen.randrange(len(data))] = chosen.randrange(256)
        if chosen.random() < 0.4:
            del data[chosen.randrange(len(data)):]
        paths.append(tmp_path / f"{seed}.data")
        paths[-1].write_bytes(data)
    found = python("""
for path in sys.argv[1:]:
    try:
        f = perfdata.open(open(path, "rb").read())
        samples = len(rows_of(f.table("samples"))["time"])
        for name in perfdata.tables():
            rows_of(f.table(name))
        for r in f.records():
            r.json()
            try:
                r["callchain"]
            except KeyError:
                pass
        say([samples, len([e for e in f.errors if e.severity != "note"]), f.stats()["errors"]])
    except perfdata.Error:
        say(None)
""", *paths)
    for path, have in zip(paths, found):
        done = run_pdecode(["-f", "jsonl", path])
        assert (have is None) == (done.returncode == 3), path
        if have is not None:
            assert have[0] == done.stdout.count(b'"type":"SAMPLE"') and have[1] == have[2]


# --- the wheel ------------------------------------------------------------------------------------

def test_the_wheel(wheel):
    """One for all versions from 3.11, the same in every build."""
    first = (ROOT / wheel).read_bytes()
    assert ROOT / make(*KEEP_FLAGS, "python").split()[-1] == ROOT / wheel
    assert (ROOT / wheel).read_bytes() == first and "-cp311-abi3-linux_" in wheel
    with zipfile.ZipFile(ROOT / wheel) as packed:
        names = set(packed.namelist())
        record = next(name for name in names if name.endswith("/RECORD"))
        listed = {line.split(",")[0] for line in packed.read(record).decode().splitlines()}
    assert listed == names
    assert {"perfdata/__init__.py", "perfdata/__init__.pyi", "perfdata/py.typed",
            "perfdata/_perfdata.pyi", "perfdata/_perfdata.abi3.so"} <= names


def test_type_hints_match_the_module(python):
    import ast
    hints = ast.parse((ROOT / "python" / "perfdata" / "__init__.pyi").read_text())
    members = {node.name: [item.name for item in node.body
                           if isinstance(item, ast.FunctionDef)]
               for node in hints.body
               if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    functions = [node for node in hints.body if isinstance(node, ast.FunctionDef)]
    arguments = {node.name: [argument.arg for argument in node.args.args + node.args.kwonlyargs]
                 for node in functions}
    found = python("""
import inspect
say([{name: [n for n in json.loads(sys.argv[1])[name] if hasattr(getattr(perfdata, name), n)]
      for name in json.loads(sys.argv[1])},
     {name: list(inspect.signature(getattr(perfdata, name)).parameters)
      for name in json.loads(sys.argv[2])}])
""", json.dumps(members), json.dumps(arguments))[0]
    assert found == [members, arguments] and arguments["open"] and members["Recording"]
