"""The questions of fleet/sql, on DuckDB, Spark and ClickHouse.

The texts are for all three. They differ in one thing, the ordered concatenation of texts: the
queries have the standard's listagg(), as Spark does."""
import os
import pathlib
import re

from . import compact, symbols

SQL = pathlib.Path(__file__).resolve().parent.parent / "sql"
NAMES = ["top_functions", "versions", "regression", "flame", "quality", "kernel_by_cgroup",
         "services_by_hour", "hosts"]
TABLES = ["samples", "hourly", "stack_frames", "frames", "files", "errors", "symbols"]

# Frames and entries of stacks stand in the files of each hour.
ONCE = {
    "stack_frames": "select distinct stack, position, frame from {}",
    "frames": "select frame, min(kind) as kind, min(build_id) as build_id, min(path) as path,"
              " min({0}.offset) as offset, min(exact) as exact, min(label) as label"
              " from {0} group by frame"}

_LISTAGG = re.compile(r"listagg\((\S+), (\S+)\) within group "
                      r"\(order by (\S+) desc, (\S+) desc\)")
_DUCKDB = r"string_agg(\1, \2 order by \3 desc, \4 desc)"
_CLICKHOUSE = (r"arrayStringConcat(arrayMap(entry -> entry.3, "
               r"arrayReverseSort(groupArray((\3, \4, \1)))), \2)")
_STANDARD_SQL = ("join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1, "
                 "aggregate_functions_null_for_empty = 1")


def text(name):
    return (SQL / f"{name}.sql").read_text()


def find_files(store):
    """{table: the paths of its files}, of a store that is a local folder. A table that no hour has
    any more has one without rows."""
    return {table: [os.path.join(store.base_path, key) for key in (
        symbols.files(store) if table == "symbols" else
        compact.current_files(store, table) or [compact.empty_file(table)])]
        for table in TABLES}


class DuckDB:
    def __init__(self, files):
        """`files` are those of find_files(). Each table must have one: see symbols.create()."""
        import duckdb
        self.db = duckdb.connect()
        for table in TABLES:
            self.db.execute(f"create view {table}_of_files as "
                            f"select * from read_parquet({files[table]!r})")
        _create_views(self.db.execute)

    def compare(self, old, new):
        self.db.execute(f"create or replace view compared as select '{old}' as old, '{new}' as new")

    def rows(self, name):
        return self.db.execute(_LISTAGG.sub(_DUCKDB, text(name))).fetchall()


class Spark:
    def __init__(self, files, spark):
        self.spark = spark
        for table in TABLES:
            spark.read.parquet(*files[table]).createOrReplaceTempView(f"{table}_of_files")
        _create_views(lambda view: spark.sql(view.replace("create view", "create temporary view")))

    def compare(self, old, new):
        self.spark.sql("create or replace temporary view compared as "
                       f"select '{old}' as old, '{new}' as new")

    def rows(self, name):
        return [tuple(row) for row in self.spark.sql(text(name)).collect()]


class ClickHouse:
    def __init__(self, files):
        import chdb.session
        self.session = chdb.session.Session()
        self._run("create database fleet")
        self._run("use fleet")
        for table in TABLES:
            self._run(f"create view {table}_of_files as select * from "
                      f"file('{_one_pattern(files[table])}', Parquet)")
        _create_views(self._run)

    def _run(self, query, form="CSV"):
        return self.session.query(query, form)

    def compare(self, old, new):
        self._run(f"create or replace view compared as select '{old}' as old, '{new}' as new")

    def rows(self, name):
        import json
        query = _LISTAGG.sub(_CLICKHOUSE, text(name))
        answer = self._run(f"{query} settings {_STANDARD_SQL}, "
                           "output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow")
        return [tuple(json.loads(line)) for line in str(answer).splitlines()]


def _one_pattern(paths):
    """A pattern of ClickHouse for these paths: /FOLDER/{a,b}."""
    if len(paths) == 1:
        return paths[0]
    folder = os.path.commonpath(paths)
    return f"{folder}/{{{','.join(os.path.relpath(path, folder) for path in paths)}}}"


def _create_views(run):
    for table in TABLES:
        select = ONCE.get(table, "select * from {}").format(f"{table}_of_files")
        run(f"create view {table} as {select}")
    run(f"create view names as {text('names')}")


def same(rows, others):
    """Whether two answers are equal: numbers to nine digits, since sums of floating-point numbers
    depend on their order."""
    return len(rows) == len(others) and all(
        len(row) == len(other) and all(map(_is_same_value, row, other))
        for row, other in zip(rows, others))


def _is_same_value(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return (one is not None and other is not None
                and abs(one - other) <= 1e-9 * max(abs(one), abs(other), 1e-300))
    return one == other
