"""Linux perf.data files in Python: tables as Arrow streams, records, statistics, Parquet.

    import perfdata

    with perfdata.open("perf.data") as f:
        print(f.events, f.stats()["records"])

Tables offer Arrow's PyCapsule interface: polars, DuckDB, pandas and pyarrow take them as they are,
and none of them is needed. Damage does not raise: see Recording.errors, and strict=True.
"""
import json as _json
import os as _os
import stat as _stat
import tempfile as _tempfile
import warnings as _warnings

from operator import index as _index

from . import _perfdata
from ._perfdata import Error, Record

__all__ = ["Error", "Record", "Recording", "Table", "open", "tables"]
__version__ = _perfdata.version

_TABLES = {name: (number, doc, columns)
           for number, (name, doc, columns) in enumerate(_perfdata.tables())}
_GROUPS = {name: 1 << i for i, name in enumerate(_perfdata.groups())}
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_MOST = 2**64 - 1


def tables():
    """{table: its columns}"""
    return {name: [column for column, *_ in columns] for name, (_, _, columns) in _TABLES.items()}


# --- arguments ------------------------------------------------------------------------------------

def _as_list(value):
    if value is None:
        return []
    is_one = isinstance(value, (str, bytes)) or not hasattr(value, "__iter__")
    return [value] if is_one else list(value)


def _given(name, value, found):
    """Returns the choice that an argument makes: None is all, and an empty one is an error."""
    if not found and value is not None:
        raise ValueError(f"{name}={value!r} selects nothing: None selects all")
    return found


def _number(value):
    """An int of 64 bits without a sign; also of numpy's numbers."""
    try:
        number = _index(value)
    except TypeError:
        raise TypeError(f"{value!r} is no number") from None
    if not 0 <= number <= _MOST:
        raise ValueError(f"{value!r} is not between 0 and 2**64 - 1")
    return number


def _texts(value):
    found = _as_list(value)
    for text in found:
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no text")
        if "\0" in text:
            raise ValueError(f"{text!r} has a zero byte")
    return found


def _ranges(value):
    """[(first, last)] of numbers and ranges."""
    found = []
    for item in [value] if isinstance(value, range) else _as_list(value):
        if not isinstance(item, range):
            found.append((_number(item),) * 2)
        elif item.step != 1:
            raise ValueError(f"{item}: only steps of 1")
        elif item:
            found.append((_number(item.start), _number(item.stop - 1)))
    return found


def _types(names):
    found = []
    for name in _texts(names):
        number = _perfdata.record_type(name)
        if number is None:
            raise ValueError(f"no record type {name!r}")
        found.append((number, number))
    return found


def _ns(value, default):
    """ns of a time: an int of ns, or "12.5s"."""
    if value is None:
        return default
    if not isinstance(value, str):
        return _number(value)
    for unit, ns in _UNITS.items():
        number = value[:-len(unit)].strip()
        if value.endswith(unit) and number.replace(".", "", 1).isdecimal():
            whole, _, rest = number.partition(".")
            return _number(int(whole or 0) * ns + int((rest + "0" * 9)[:9]) * ns // 10**9)
    raise ValueError(f"{value!r} is no time: give ns as an int, or a text with a unit, '12.5s'")


def _span(time):
    if time is None:
        return None
    if not isinstance(time, (tuple, list)) or len(time) != 2:
        raise ValueError(f"time={time!r} is no pair: give (from, to)")
    first, last = _ns(time[0], 0), _ns(time[1], _MOST)
    if first > last:
        raise ValueError(f"time={time!r} ends before it begins")
    return first, last


def _groups(names):
    found = 0
    for name in _as_list(names):
        if name not in _GROUPS:
            raise ValueError(f"no group {name!r}: there are {', '.join(_GROUPS)}")
        found |= _GROUPS[name]
    return found


def _find_table(name):
    if name not in _TABLES:
        raise ValueError(f"no table {name!r}: there are {', '.join(_TABLES)}")
    return _TABLES[name]


# --- tables ---------------------------------------------------------------------------------------

class Table:
    """A table of a recording. Each stream is a pass of its own over the recording, with the same
    rows and numbers."""

    def __init__(self, source, name, columns, groups, *more):
        number, _, known = _find_table(name)
        chosen, every = 0, {column: (i, group) for column, i, group in known}
        for column in _given("columns", columns, _as_list(columns)):
            if column not in every:
                raise ValueError(f"{name} has no column {column!r}: there are {', '.join(every)}")
            chosen |= 1 << every[column][0]
            groups |= every[column][1]
        self.name = name
        self.columns = [column for column, i, group in known
                        if (not group or group & groups) and (not chosen or chosen >> i & 1)]
        self._source = source
        self._arguments = (number, chosen, groups, *more)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._source().stream(*self._arguments)

    def __arrow_c_schema__(self):
        return self._source().schema(*self._arguments)

    def __repr__(self):
        return f"<perfdata.Table {self.name}: {', '.join(self.columns)}>"


# --- a recording ----------------------------------------------------------------------------------

class Recording:
    """A perf.data file. Made by perfdata.open(); a context manager."""

    def __init__(self, source, path, columns, chains):
        self._open, self._path, self._header = source, path, None
        self._columns, self._with_chains = columns, chains == "inline"

    def _source(self):
        if self._open is None:
            raise ValueError("the recording is closed")
        return self._open

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Streams and records that exist stay valid."""
        self._open = None

    def _lines(self, kind):
        if self._header is None:
            self._header = [_json.loads(line) for line in self._source().header().splitlines()]
        return [line for line in self._header if line.get("kind") == kind]

    @property
    def file(self):
        """The file's header, as in pdecode's JSON."""
        return self._lines("file")[0]

    @property
    def events(self):
        """The events: a dict each, as in pdecode's JSON."""
        return self._lines("attr")

    @property
    def features(self):
        """{name: value} of the feature sections."""
        return {name: value for line in self._lines("feature")
                for name, value in line["feature"].items()}

    @property
    def errors(self):
        """The errors of the whole recording, as Error objects: damage, and notes."""
        return self._source().errors()

    def stats(self):
        """Totals, as pdecode -f stats prints them."""
        return _json.loads(self._source().stats())

    def table(self, name, columns=None, groups=(), int64=False, file_id=None):
        """A table: perfdata.tables() lists them. `columns` are given in the order that the table
        has. `groups` adds columns to samples, as pdecode's --with: addr, raw, offset, wall, mem,
        branch, read, regs, stack, tracepoints. With int64, addresses are int64 of the same
        bits."""
        if name == "samples" and columns is None:
            columns = self._columns
        chosen = _groups(groups)
        if name == "samples" and self._with_chains:
            if columns is None:
                columns = [column for column, _, group in _TABLES[name][2]
                           if not group or group & chosen]
            columns = [*columns, "callchain"]
        return Table(self._source, name, columns, chosen, bool(int64), file_id, self._path)

    def records(self, types=None):
        """An iterator over the records. Each is valid until the next one is read."""
        wanted = {name.upper() for name in _texts(types)}
        _types(wanted)
        found = self._source().records()
        return found if types is None else (r for r in found if r.type in wanted)

    def write_parquet(self, directory, tables=None, groups=(), int64=False, file_id=None):
        """Writes tables (default: all) to DIRECTORY/TABLE.parquet. The files get these names when
        all are complete, files.parquet last; an older one is removed first."""
        chosen = list(_TABLES) if tables is None else list(dict.fromkeys(_as_list(tables)))
        for name in _given("tables", tables, chosen):
            _find_table(name)
        directory = _os.fsdecode(directory)
        _os.makedirs(directory, exist_ok=True)
        with _tempfile.TemporaryDirectory(prefix="incomplete-", dir=directory) as folder:
            self._write_files(folder, chosen, groups, int64, file_id)
            _move_files(folder, directory, chosen)

    def _write_files(self, folder, chosen, groups, int64, file_id):
        files = []
        try:
            for name in _TABLES:
                files.append(-1 if name not in chosen else _os.open(
                    _os.path.join(folder, f"{name}.parquet"),
                    _os.O_WRONLY | _os.O_CREAT | _os.O_EXCL | _os.O_CLOEXEC, 0o666))
            self._source().write_parquet(files, _groups(groups), bool(int64), file_id, self._path)
        finally:
            for file in files:
                if file >= 0:
                    _os.close(file)


def _move_files(folder, directory, tables):
    mark = _os.path.join(directory, "files.parquet")
    if "files" in tables and _os.path.lexists(mark):
        _os.unlink(mark)
    for name in sorted(tables, key=lambda name: name == "files"):
        name += ".parquet"
        _os.replace(_os.path.join(folder, name), _os.path.join(directory, name))


def _open_path(path, arguments):
    if _os.path.isdir(path):
        return _perfdata.Source(-1, path, None, *arguments)
    fd = _os.open(path, _os.O_RDONLY | _os.O_CLOEXEC | _os.O_NOCTTY)
    try:
        return _perfdata.Source(fd, None, None, *arguments)
    finally:
        _os.close(fd)


def _copied(stream):
    """A temporary file with what a stream has, which is read more than once."""
    file = _tempfile.TemporaryFile(buffering=0)
    try:
        while data := _os.read(stream, 1 << 16):
            file.write(data)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _has_descriptor(source):
    try:
        mode = _os.fstat(source.fileno()).st_mode
    except (AttributeError, OSError):
        return False
    return _stat.S_ISFIFO(mode) or _stat.S_ISSOCK(mode)


def _read(source):
    data = source.read()
    if not _is_buffer(data):
        raise TypeError(f"read() gave {type(data).__name__}: a file object of bytes is needed")
    return data


def _is_buffer(source):
    try:
        return memoryview(source) is not None
    except TypeError:
        return False


def _warn_of_events(recording, patterns):
    names = [one["name"] for one in recording.events] if patterns else []
    for pattern in patterns:
        if not any(_perfdata.event_matches(pattern, name) for name in names):
            _warnings.warn(f"no event matches {pattern!r}: there are {', '.join(names) or 'none'}",
                           stacklevel=3)


def open(source, *, pid=None, tid=None, cpu=None, comm=None, event=None, types=None, time=None,
         columns=None, chains="stacks", strict=False, memory=0):
    """Opens a recording: a path, bytes (or a memoryview, an mmap), or a file object.

    The filters are those of pdecode: numbers, range() objects or lists of them; names and patterns;
    time=(from, to), in ns or texts such as "12.5s", None: open. Texts need their unit; only pdecode
    takes shares ("10%"). An event that matches none in the recording gives no rows, and a warning.
    `columns` are those of samples, chains="inline" adds their callchain. With strict=True damage
    raises an Error. `memory` limits what a recording can make the library allocate, in bytes (0:
    256 MiB)."""
    if chains not in ("stacks", "inline"):
        raise ValueError("chains is 'stacks' or 'inline'")
    comm, event = _given("comm", comm, _texts(comm)), _given("event", event, _texts(event))
    columns = columns if columns is None else _as_list(columns)
    arguments = (_number(memory), bool(strict), _given("types", types, _types(types)),
                 _given("pid", pid, _ranges(pid)), _given("tid", tid, _ranges(tid)),
                 _given("cpu", cpu, _ranges(cpu)), comm, event, _span(time))
    path = None
    if isinstance(source, (str, _os.PathLike)):
        path = _os.fspath(source)
        opened = _open_path(path, arguments)
    elif _is_buffer(source):
        opened = _perfdata.Source(-1, None, source, *arguments)
    elif not hasattr(source, "read"):
        raise TypeError(f"a path, bytes or a file object is needed, not {type(source).__name__}")
    elif _has_descriptor(source):
        with _copied(source.fileno()) as file:
            opened = _perfdata.Source(file.fileno(), None, None, *arguments)
    else:
        opened = _perfdata.Source(-1, None, _read(source), *arguments)
    # a path that is no UTF-8 is shown as pdecode shows it
    path = _os.fsencode(path).decode(errors="replace") if path is not None else None
    recording = Recording(opened, path, columns, chains)
    if columns is not None:
        recording.table("samples")  # raises if there is no such column
    recording._lines("file")        # raises if it is no recording
    _warn_of_events(recording, event)
    return recording
