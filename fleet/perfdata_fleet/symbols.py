"""Names for the addresses that were hit: symbols/*.parquet, found by build id, offset and whether
it is exact.

Machines that record need no debug information. A symbol is looked up once for a fleet; a file of
rows that is removed is looked up again."""
import hashlib
import pathlib
import subprocess
import tempfile

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

from . import compact, convert, objects

SCHEMA = pyarrow.schema([
    ("build_id", pyarrow.string()), ("offset", pyarrow.int64()), ("exact", pyarrow.bool_()),
    ("depth", pyarrow.int32()), ("function", pyarrow.string()), ("file", pyarrow.string()),
    ("line", pyarrow.int32()), ("why", pyarrow.string())])
_EMPTY = "symbols/none.parquet"
_NO_PLACES = pyarrow.schema([
    ("build_id", pyarrow.string()), ("path", pyarrow.string()), ("offset", pyarrow.int64()),
    ("exact", pyarrow.bool_())]).empty_table()
# One recording for each place in code, the latest: older ones may have been removed.
_RECORDINGS = """
select distinct max(files.path) over (partition by f.frame) as path
from missing m
join frames f on f.build_id = m.build_id and f."offset" = m."offset" and f.exact = m.exact
join stack_frames e on e.frame = f.frame
join samples s on s.stack = e.stack
join files on files.file_id = s.file_id
order by path"""
_FOUND = """
select o.build_id, f."offset", f.exact, s.depth, s."function", s.file, s.line, s.why
from read_parquet('{0}/symbols.parquet') s join read_parquet('{0}/frames.parquet') f using (frame)
join read_parquet('{0}/objects.parquet') o using (object)
where o.build_id is not null order by all"""
_MISSING = """
select distinct f.build_id, f.path, f."offset", f.exact from frames f
where f.build_id is not null and not exists (
    select 1 from symbols s
    where s.build_id = f.build_id and s."offset" = f."offset" and s.exact = f.exact)
order by all"""


def create(store):
    """Makes an empty table, for engines that want a file."""
    objects.put(store, _EMPTY, convert.parquet(SCHEMA.empty_table()))


def add(store, rows):
    """Adds rows, an Arrow table of SCHEMA. The object's name is that of its content."""
    data = convert.parquet(rows.select(SCHEMA.names).cast(SCHEMA))
    digest = hashlib.sha256(data).hexdigest()[:32]
    objects.put(store, f"symbols/{digest}.parquet", data)


def forget(store, build_id):
    """Removes the rows of a program, because its symbols have arrived: it is looked up again.
    Returns their number. Other rows of the same objects are away for a moment; if this fails, they
    are looked up again, too."""
    forgotten = 0
    for key in files(store):
        rows = pyarrow.parquet.read_table(pyarrow.BufferReader(objects.read(store, key)))
        is_other = pyarrow.compute.not_equal(rows["build_id"], build_id)
        others = rows.filter(pyarrow.compute.fill_null(is_other, True))
        if others.num_rows == rows.num_rows:
            continue
        objects.remove(store, [key])
        if others.num_rows:
            add(store, others)
        forgotten += rows.num_rows - others.num_rows
    return forgotten


def files(store):
    return [item.key for item in objects.find(store, "symbols")]


def _read(store, table):
    keys = files(store) if table == "symbols" else compact.current_files(store, table)
    if not keys and table == "symbols":
        return SCHEMA.empty_table()
    return pyarrow.dataset.dataset(keys, filesystem=store, format="parquet")


def _connect(store, *tables):
    db = duckdb.connect()
    for table in tables:
        db.register(table, _read(store, table))
    return db


def missing(store):
    """The frames of all hours that have a build id and no row here: an Arrow table of build_id,
    path, offset and exact."""
    if not compact.current_hours(store):
        return _NO_PLACES
    return _connect(store, "frames", "symbols").sql(_MISSING).to_arrow_table()


def _look_up(raw, key, command):
    """The rows of one recording; none if it was removed."""
    if raw.get_file_info(key).type != pyarrow.fs.FileType.File:
        return []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tables:
        # pdecode's messages have this name
        recording = pathlib.Path(folder, pathlib.PurePosixPath(key).name)
        recording.write_bytes(objects.read(raw, key))
        done = subprocess.run([*command, "-f", "parquet", "--symbols", "-o", tables, recording],
                              check=False, stdout=subprocess.DEVNULL)
        if done.returncode not in (0, 1):       # 1: damaged
            raise RuntimeError(f"{' '.join(command)}: {key}: exit code {done.returncode}")
        return duckdb.sql(_FOUND.format(tables)).to_arrow_table().to_pylist()


def look_up(raw, store, command=("pdecode",)):
    """Looks up what is missing, on a machine that has the programs or their debug information:
    `command` is pdecode with its options. Also adds why there is no name, so that it is not looked
    up again. Returns the number of rows."""
    if not compact.current_files(store, "samples"):
        return 0
    left = missing(store)
    db = _connect(store, "frames", "stack_frames", "samples", "files")
    db.register("missing", left)
    wanted = {(row["build_id"], row["offset"], row["exact"]) for row in left.to_pylist()}
    rows = []
    for (key,) in db.execute(_RECORDINGS).fetchall():
        found = [row for row in _look_up(raw, key, command)
                 if (row["build_id"], row["offset"], row["exact"]) in wanted]
        wanted -= {(row["build_id"], row["offset"], row["exact"]) for row in found}
        rows += found
    if rows:
        add(store, pyarrow.Table.from_pylist(rows, schema=SCHEMA))
    return len(rows)
