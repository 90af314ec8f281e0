"""The files of an hour as few large ones: compact/HOUR/generation=N/t=TABLE/shard=NN.parquet.

The object compact/HOUR/current.json states which generation counts, so that readers see all of it
or the one before, and whether the hour still has its samples."""
import functools
import hashlib
import json
import pathlib

import duckdb
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

from . import convert, hourly, objects, services
from .schema import arrow_schema

SQL = pathlib.Path(__file__).with_name("compact.sql")
MADE = {"samples": "select * exclude is_single from fleet_samples",
        "stack_frames": "select * from fleet_stack_frames",
        "frames": "select * from fleet_frames",
        "files": "select * from files",
        "lost": "select * from lost",
        "errors": "select * from errors"}
# The tables that stay when the samples of an hour are removed.
LASTING = ["hourly", "stack_frames", "frames", "files"]


def _table(store, table, place_key, file_ids):
    """The rows of the recordings. Those that could not be read have few tables."""
    keys = [f"t={table}/v=1/{place_key}/{file_id}.parquet" for file_id in file_ids]
    found = store.get_file_info(keys)
    there = [info.path for info in found if info.type == pyarrow.fs.FileType.File]
    schema = arrow_schema(table)
    return pyarrow.dataset.dataset(there, filesystem=store, format="parquet",
                                   schema=schema) if there else schema.empty_table()


def _connect():
    # one thread: the same order of rows in each run
    return duckdb.connect(config={"threads": 1})


def generation_folder(hour_key, generation):
    return f"compact/{hour_key}/generation={generation}"


def compact_place(store, work):
    """Writes the large files of a place: `work` is its key and the generation. Returns the number
    of keys that two different frames or stacks have."""
    place_key, generation = work
    file_ids = convert.converted(store, place_key)[place_key]
    hour_key, _, shard = place_key.rpartition("/")
    db = _connect()
    for table in ("files", "samples", "stacks", "frames", "objects", "lost", "errors"):
        db.register(table, _table(store, table, place_key, file_ids))
    db.register("rules", services.table(store))
    db.execute(SQL.read_text())
    folder = generation_folder(hour_key, generation)
    for table, select in MADE.items():
        made = db.sql(f"{select} order by all").to_arrow_table()
        objects.put(store, f"{folder}/t={table}/{shard}.parquet", convert.parquet(made))
    return db.execute("select found from collisions").fetchone()[0]


def aggregate_hour(store, work):
    """Counts the samples of a generation, whose large files are there: `work` is the hour's key,
    the keys of its places, and the generation."""
    hour_key, place_keys, generation = work
    folder = generation_folder(hour_key, generation)
    keys = [f"{folder}/t=samples/{key.rpartition('/')[2]}.parquet" for key in place_keys]
    hourly.aggregate(store, hour_key, folder,
                     pyarrow.dataset.dataset(keys, filesystem=store, format="parquet"))


def pointer_key(hour_key):
    return f"compact/{hour_key}/current.json"


def read_pointer(store, hour_key):
    """The content of current.json; generation 0: none yet."""
    key = pointer_key(hour_key)
    if store.get_file_info(key).type != pyarrow.fs.FileType.File:
        return {"generation": 0, "files": "", "has_samples": True}
    return json.loads(objects.read(store, key).to_pybytes())


def switch(store, hour_key, pointer):
    objects.put(store, pointer_key(hour_key),
                (json.dumps(pointer, sort_keys=True) + "\n").encode())


def changed_hours(store):
    """{hour: ([keys of its places], its next pointer)} of the hours with recordings that the
    current generation lacks. Not of those whose samples were removed."""
    hours = {}
    for place_key, file_ids in convert.converted(store).items():
        places = hours.setdefault(place_key.rpartition("/")[0], {})
        places[place_key] = file_ids
    changed = {}
    for hour_key, places in hours.items():
        text = "\n".join(sorted(id for file_ids in places.values() for id in file_ids))
        now, files = read_pointer(store, hour_key), hashlib.sha256(text.encode()).hexdigest()
        if now["has_samples"] and now["files"] != files:
            changed[hour_key] = sorted(places), {"generation": now["generation"] + 1,
                                                 "files": files, "has_samples": True}
    return changed


def current_hours(store):
    """{key of an hour: its pointer}"""
    found = [item.key.removeprefix("compact/").removesuffix("/current.json")
             for item in objects.find(store, "compact") if item.key.endswith("/current.json")]
    return {hour_key: read_pointer(store, hour_key) for hour_key in found}


def empty_file(table):
    """The key of a file of a table without rows, for engines that want one."""
    return f"compact/none/{table}.parquet"


def keep_schemas(store, hour_key):
    """Makes empty files of the tables that go when the samples of an hour are removed."""
    folder = generation_folder(hour_key, read_pointer(store, hour_key)["generation"])
    for table in set(MADE) - set(LASTING):
        for item in objects.find(store, f"{folder}/t={table}")[:1]:
            schema = pyarrow.parquet.read_schema(
                pyarrow.BufferReader(objects.read(store, item.key)))
            objects.put(store, empty_file(table), convert.parquet(schema.empty_table()))


def current_files(store, table):
    """The keys of a table's large files, of all hours that have it."""
    return [item.key for hour_key, pointer in current_hours(store).items()
            if pointer["has_samples"] or table in LASTING
            for item in objects.find(
                store, f"{generation_folder(hour_key, pointer['generation'])}/t={table}")]


def compact_all(store, run=map):
    """Compacts the hours that changed. `run` is map, or a function that does the same elsewhere.
    Returns the number of collisions."""
    changed = changed_hours(store)
    work = [(place_key, pointer["generation"])
            for place_keys, pointer in changed.values() for place_key in place_keys]
    collisions = sum(run(functools.partial(compact_place, store), work))
    list(run(functools.partial(aggregate_hour, store),
             [(hour_key, place_keys, pointer["generation"])
              for hour_key, (place_keys, pointer) in changed.items()]))
    for hour_key, (_, pointer) in changed.items():
        switch(store, hour_key, pointer)
    return collisions
