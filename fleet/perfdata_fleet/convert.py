"""A recording as Parquet files of a store: t=TABLE/v=1/PLACE/FILEID.parquet.

Names and bytes of these files depend on the content and the raw key alone, so that a second
conversion replaces them by the same ones. The one of `files` is written last: a recording is there
when its row of `files` is. A file that cannot be read gives rows of `files` and `errors` only."""
import functools
import os
import tempfile

import pyarrow
import pyarrow.parquet

import perfdata

from . import objects
from .schema import arrow_schema

TABLES = ["events", "samples", "stacks", "frames", "objects", "maps", "tasks", "lost", "errors"]
SHARDS = 64


def table_key(table, place, file_id):
    return f"t={table}/v=1/{place.key}/{file_id}.parquet"


def converted(store, place_key=""):
    """{key of a place: [file_id]} of the recordings that are there, in one place or in all."""
    found = {}
    top = "t=files/v=1"
    for item in objects.find(store, f"{top}/{place_key}" if place_key else top):
        place, _, name = item.key.removeprefix(f"{top}/").rpartition("/")
        found.setdefault(place, []).append(name.removesuffix(".parquet"))
    return found


def parquet(table):
    """The bytes of a Parquet file."""
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def rows(recording, table, **options):
    """A table of a recording as Arrow table, without dictionaries."""
    stream = pyarrow.RecordBatchReader.from_stream(recording.table(table, int64=True, **options))
    return stream.read_all().cast(arrow_schema(table))


def failed_rows(error, file_id, size):
    """{table: its rows} of a file that is no recording."""
    about = {"file_id": file_id, "size": size, "mode": "unknown", "byte_order": "unknown",
             "complete": False, "status": "unreadable", "weight": 1.0, "schema": 1,
             "tool_version": perfdata.__version__, "samples": 0, "lost": 0, "lost_samples": 0,
             "throttled": 0, "errors": 1}
    what = {"file_id": file_id, "offset": error.offset, "code": error.code,
            "severity": error.severity, "record": error.record, "field": error.field,
            "skipped": size, "message": str(error)}
    return {name: pyarrow.Table.from_pylist([row], schema=arrow_schema(name))
            for name, row in (("files", about), ("errors", what))}


def file_row(row, key, weight):
    """The row of `files` with the fields that the raw key and the job know. `weight` is for keys
    that state none."""
    return row | {"path": key, "host": row["host"] or objects.host_of(key),
                  "weight": objects.weight_of(key) or weight}


def _write_tables(recording, file_id, write):
    with tempfile.TemporaryDirectory() as folder:
        recording.write_parquet(folder, tables=TABLES, int64=True, file_id=file_id)
        for name in TABLES:
            with open(os.path.join(folder, f"{name}.parquet"), "rb") as file:
                write(name, file.read())


def convert(raw, item, file_id, store, shards=SHARDS, weight=1.0):
    """Converts the recording with item.key. Returns its row of `files`, a dict. `weight` is 1 / the
    probability that it was made, if the key does not state it."""
    place = objects.place_of(item.key, shards)

    def write(name, data):
        objects.put(store, table_key(name, place, file_id), data)
    try:
        recording = perfdata.open(objects.read(raw, item.key))
        files = rows(recording, "files", file_id=file_id)
        _write_tables(recording, file_id, write)
    except perfdata.Error as error:
        failed = failed_rows(error, file_id, item.size)
        write("errors", parquet(failed["errors"]))
        files = failed["files"]
    row = file_row(files.to_pylist()[0], item.key, weight)
    write("files", parquet(pyarrow.Table.from_pylist([row], schema=files.schema)))
    return row


def _identities(raw, part):
    return [(objects.identity(raw, item.key), item) for item in part]


def _convert_part(raw, store, shards, weight, part):
    return [convert(raw, item, file_id, store, shards, weight) for file_id, item in part]


def _first_of_each(found, known):
    """[(file_id, item)] by key: of equal recordings the one with the first key."""
    first = {}
    for file_id, item in sorted(found, key=lambda pair: pair[1]):
        if file_id not in known:
            first.setdefault(file_id, item)
    return list(first.items())


def convert_all(raw, store, folder="", shards=SHARDS, limit=objects.PART_BYTES, run=map,
                weight=1.0):
    """Converts what is new in a folder of `raw`, each content once. `run` is map, or a function
    that does the same elsewhere; `weight` as for convert(). Returns the rows of `files`."""
    parts = objects.split(objects.find(raw, folder), limit)
    found = [pair for pairs in run(functools.partial(_identities, raw), parts) for pair in pairs]
    known = {file_id for file_ids in converted(store).values() for file_id in file_ids}
    new = _first_of_each(found, known)
    file_ids = {item: file_id for file_id, item in new}
    work = [[(file_ids[item], item) for item in part] for part in objects.split(file_ids, limit)]
    convert_part = functools.partial(_convert_part, raw, store, shards, weight)
    return [row for rows in run(convert_part, work) for row in rows]
