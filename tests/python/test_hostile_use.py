"""The binding of Python, used as it should not be: an exception, never a crash or a hang."""
import os
import shutil
import sys

import pytest

from test_binding import CHAINS, LARGE, PERF, pytestmark, python, wheel  # noqa: F401

OPEN = "perfdata.open(sys.argv[1], {})"
RECORD = "next(perfdata.open(sys.argv[1]).records()){}"


@pytest.mark.parametrize("code, error", [
    (OPEN.format("pid=-1"), "ValueError: -1 is not between 0 and 2**64 - 1"),
    (OPEN.format("pid=range(1 << 64, 1 << 65)"), "ValueError: 18446744073709551616 is not"),
    (OPEN.format("pid=b'12'"), "TypeError: b'12' is no number"),
    (OPEN.format("cpu=[1.5]"), "TypeError: 1.5 is no number"),
    (OPEN.format("memory=-1"), "ValueError: -1 is not between"),
    (OPEN.format("memory=1 << 64"), "ValueError: 18446744073709551616 is not"),
    (OPEN.format("time=(-1, None)"), "ValueError: -1 is not between"),
    (OPEN.format("time=(0, '99999999999s')"), "ValueError: 99999999999000000000 is not"),
    (OPEN.format("time=(1.5, 2)"), "TypeError: 1.5 is no number"),
    (OPEN.format("pid=[]"), "ValueError: pid=[] selects nothing: None selects all"),
    (OPEN.format("tid=range(5, 5)"), "ValueError: tid=range(5, 5) selects nothing"),
    (OPEN.format("cpu=[range(5, 3)]"), "ValueError: cpu=[range(5, 3)] selects nothing"),
    (OPEN.format("comm=()"), "ValueError: comm=() selects nothing"),
    (OPEN.format("event=[]"), "ValueError: event=[] selects nothing"),
    (OPEN.format("types=[]"), "ValueError: types=[] selects nothing"),
    (OPEN.format("columns=[]"), "ValueError: columns=[] selects nothing"),
    ("perfdata.open(sys.argv[1]).table('maps', [])", "ValueError: columns=[] selects nothing"),
    ("perfdata.open(sys.argv[1]).write_parquet('/nonexistent', tables=[])",
     "ValueError: tables=[] selects nothing"),
    (OPEN.format("comm='a' + chr(0)"), "ValueError: 'a\\x00' has a zero byte"),
    (OPEN.format("event=[5]"), "TypeError: 5 is no text"),
    (OPEN.format("types=b'MMAP'"), "TypeError: b'MMAP' is no text"),
    ("perfdata.open(sys.argv[1]).records(types=5)", "TypeError: 5 is no text"),
    ("perfdata.open('/nonexistent')", "FileNotFoundError"),
    ("perfdata.open(12.5)", "TypeError: a path, bytes or a file object is needed, not float"),
    ("perfdata.open(None)", "TypeError: a path, bytes or a file object is needed, not NoneType"),
    ("perfdata.open(open(sys.argv[1], errors='replace'))", "TypeError: read() gave str: a file"),
    ("import pickle; pickle.dumps(perfdata.open(sys.argv[1]))", "TypeError: cannot pickle"),
    ("import copy; copy.copy(" + RECORD.format("") + ")", "TypeError: cannot pickle"),
    (RECORD.format("[5]"), "TypeError: the path of a field is a text"),
    (RECORD.format("['type' + chr(0)]"), "KeyError: 'type"),
    ("perfdata.open(sys.argv[1])._open.write_parquet([1], 0, 0, None, None)",
     "ValueError: a descriptor for each table is needed"),
])
def test_wrong_arguments_raise(code, error, python):  # noqa: F811
    found = python(f"""
try:
    exec({code!r})
except Exception as e:
    say(f"{{type(e).__name__}}: {{e}}")
""", CHAINS)
    assert found[0].startswith(error)


def test_numbers_of_other_types(python):  # noqa: F811
    """Those of numpy have __index__()."""
    assert python("""
class Number:
    def __index__(self):
        return 7306
say([sum(r.type == "SAMPLE" for r in perfdata.open(sys.argv[1], pid=pid).records())
     for pid in (Number(), [Number()], (7306,), range(7306, 7307), [range(5, 5), 7306])])
""", CHAINS) == [[30] * 5]


def test_columns_are_read_once(python):  # noqa: F811
    """An iterator is empty after that. They come as the table has them."""
    assert python("""
with perfdata.open(sys.argv[1], columns=iter(["pid", "time"])) as f:
    say([f.table("samples").columns for _ in range(2)])
""", CHAINS) == [[["time", "pid"]] * 2]


def test_a_table_that_is_asked_for_twice(python, tmp_path):  # noqa: F811
    assert python(f"""
import os
perfdata.open(sys.argv[1]).write_parquet({str(tmp_path)!r}, tables=["maps", "maps", "files"])
say(sorted(os.listdir({str(tmp_path)!r})))
""", CHAINS) == [["files.parquet", "maps.parquet"]]


def test_a_map_is_not_copied(python):  # noqa: F811
    """Python closes no map whose memory is in use."""
    assert python("""
import mmap
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
mapped.seek(100)
f = perfdata.open(mapped)
try:
    mapped.close()
except BufferError:
    say(f.stats()["records"])
f.close()
mapped.close()
say("closed")
""", CHAINS) == [98, "closed"]


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_a_path_that_is_no_utf8(kind, python, run_pdecode, tmp_path):  # noqa: F811
    """It is shown as pdecode shows it."""
    path = os.fsencode(tmp_path) + b"/\xff.data"
    if kind == "directory":
        shutil.copytree(os.fsencode(PERF / "20-threads.data"), path)
    else:
        shutil.copy(CHAINS, path)
    run_pdecode(["-f", "parquet", "-o", tmp_path / "want", os.fsdecode(path)])
    found = python("""
f = perfdata.open(sys.argv[1])
f.write_parquet(os.fsencode(sys.argv[2]))
say([f.stats()["records"], rows_of(f.table("files"))["path"]])
""", os.fsdecode(path), tmp_path / "have")[0]
    assert found[0] > 0 and found[1][0].endswith("/\ufffd.data")
    assert {path.name: path.read_bytes() for path in (tmp_path / "have").iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "want").iterdir()}


@pytest.mark.sanitize
def test_a_finalizer_does_not_take_a_record_away(python):  # noqa: F811
    """Many new objects make Python collect garbage in the middle of a record; since 3.12 only after
    the call."""
    assert python("""
import gc, struct, sys
index = struct.pack("<IHHQ", 69, 0, 16 + 300 * 32, 300) + bytes(300 * 32)       # ID_INDEX
records = perfdata.open(b"PERFILE2" + struct.pack("<Q", 16) + index * 2).records()
class Garbage:
    def __init__(self):
        self.me = self
    def __del__(self):
        try:
            next(records)
        except ValueError as e:
            refused.append(str(e))
refused = []
record = next(records)
gc.disable()
want = record[""]
garbage = [Garbage() for _ in range(3)]
del garbage
gc.set_threshold(1)
gc.enable()
have = record[""]
gc.disable()
say([have == want, len(want["entries"]),
     refused == ["the records are in use"] * (0 if sys.version_info >= (3, 12) else 3)])
""") == [[True, 300, True]]


SHARED = """
import errno, threading
from arrow_c_reader import StreamError, next_batch, release
def rows(stream):               # of the next batch; None: the end; or why there is none
    try:
        array = next_batch(stream)
    except StreamError as e:
        return [errno.errorcode[e.args[0]], e.args[1]]
    n = array and array.length
    if array:
        release(array)
    return n
"""
BUSY = ["EBUSY", "another thread reads the stream"]


@pytest.mark.sanitize
def test_threads_that_share_a_stream(python):  # noqa: F811
    """Arrow does not ask that of a stream: one of them is told so, and none crashes."""
    found = python(LARGE + SHARED + """
data = large(sys.argv[1])
def work(stream, seen):
    while None not in seen:
        seen.append(rows(stream))
def share():
    capsule, stream = stream_of(perfdata.open(data).table("samples"))
    seen = []
    threads = [threading.Thread(target=work, args=(stream, seen)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    release(stream)
    return [sum(n for n in seen if type(n) is int), [n for n in seen if type(n) is list]]
want = len(rows_of(perfdata.open(data).table("samples"))["pid"])
for _ in range(50):
    have, refused = share()
    if have != want or refused:
        break
say([have == want, refused and refused[0]])
""", CHAINS)
    assert found == [[True, BUSY]]


@pytest.mark.sanitize
def test_a_stream_is_released_while_a_thread_reads(python):  # noqa: F811
    """The thread gets its batch."""
    found = python(LARGE + SHARED + """
data, seen = large(sys.argv[1]), []
def work(stream):
    while type(n := rows(stream)) is list:
        pass
    seen.append(n)
def release_early():            # returns whether the thread read then
    capsule, stream = stream_of(perfdata.open(data).table("samples"))
    thread = threading.Thread(target=work, args=(stream,))
    thread.start()
    while type(n := rows(stream)) is int:
        pass
    if n is None:
        thread.join()
    release(stream)
    thread.join()
    return n is not None
released = [release_early() for _ in range(20)]
say([True in released, all(n > 100 for n, early in zip(seen, released) if early)])
""", CHAINS)
    assert found == [[True, True]]


FORKED = """
import threading, time
# The answer of a child process, which is forked while a thread reads the recording.
def forked(f, use):
    thread = threading.Thread(target=lambda: f.errors)
    thread.start()
    time.sleep(0.001)
    inside, outside = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(outside, use(f).encode())
        except BaseException as e:
            os.write(outside, f"{type(e).__name__}: {e}".encode())
        os._exit(0)
    os.close(outside)
    answer = os.read(inside, 1000).decode()
    os.close(inside)
    os.waitpid(child, 0)
    thread.join()
    return answer
"""


@pytest.mark.sanitize
def test_a_fork_while_a_thread_reads(python):  # noqa: F811
    """The thread is not in the child, which neither waits for it nor uses what is half read."""
    found = python(LARGE + FORKED + """
data, seen = large(sys.argv[1]), set()
want = len(perfdata.open(data).errors)
for _ in range(50):
    seen.add(forked(perfdata.open(data), lambda f: str(len(f.errors))))
    if any(answer != str(want) for answer in seen):
        break
say([want, sorted(seen)])
""", CHAINS)[0]
    assert set(found[1]) - {str(found[0])} == {
        "RuntimeError: the process was forked while another thread read the recording: "
        "open it again"}


def test_an_error_crosses_processes(python):  # noqa: F811
    assert python("""
import pickle
try:
    perfdata.open(sys.argv[1], memory=1 << 10)
except perfdata.Error as e:
    again = pickle.loads(pickle.dumps(e))
    say([type(again) is perfdata.Error, str(again) == str(e), vars(again) == vars(e), e.code])
""", CHAINS) == [[True, True, True, "LIMIT"]]


def test_the_end_of_python(python):  # noqa: F811
    """Objects that are there when it ends, and threads that still read."""
    python(LARGE + """
import threading, time
class Cycle:
    pass
cycle = Cycle()
cycle.me, cycle.f = cycle, perfdata.open(bytearray(open(sys.argv[1], "rb").read()))
cycle.records = cycle.f.records()
cycle.record, cycle.capsule = next(cycle.records), cycle.f.table("samples").__arrow_c_stream__()
sys.kept = cycle
data = large(sys.argv[1])
def work():
    while True:
        f = perfdata.open(data)
        f.stats(), f.table("stacks").__arrow_c_stream__()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""", CHAINS)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="its module has another name")
def test_a_subinterpreter_is_refused(python):  # noqa: F811
    assert python("""
import _xxsubinterpreters
other = _xxsubinterpreters.create()
try:
    _xxsubinterpreters.run_string(other, f"import sys; sys.path = {sys.path}; import perfdata")
except Exception as e:
    say(str(e))
_xxsubinterpreters.destroy(other)
say(perfdata.open(sys.argv[1]).stats()["records"])
""", CHAINS) == ["<class 'ImportError'>: perfdata can't be used in a subinterpreter", 98]


@pytest.mark.sanitize
def test_the_module_is_imported_again(python):  # noqa: F811
    """The exception of the first import is still the one that is raised."""
    assert python("""
import gc
first = perfdata.Error
for name in [name for name in sys.modules if name.startswith("perfdata")]:
    del sys.modules[name]
del perfdata
gc.collect()
import perfdata
try:
    perfdata.open(b"")
except first:
    say(perfdata.Error is first)
say(sum(1 for _ in perfdata.open(sys.argv[1]).records()))
""", CHAINS) == [True, 98]
