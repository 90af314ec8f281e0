"""Engines that others wrote read the tables: Parquet files, Arrow streams, and streams handed over
by pointer. All have the same rows, and the answers are those of the JSON.

They are installed by scripts/clients; PD_CLIENTS is their folder (make check-clients sets it).
"""
import collections
import json
import os
import pathlib
import subprocess

import pytest

from compiled import columns_library
from conftest import FIXTURES, ROOT, TIMEOUT, strict_json_lines
from periods import fixed_period

PYTHON = pathlib.Path(os.environ.get("PD_CLIENTS") or "/nonexistent") / "python" / "bin" / "python"
pytestmark = pytest.mark.skipif("PD_CLIENTS" not in os.environ, reason="run by make check-clients")
RECORDINGS = ["02-callgraph-fp.data", "03-callgraph-dwarf.data", "06-data-phys-pages.data",
              "10-group-leader-sampling.data", "50-max-size.data", "59-lost.data"]
GROUPS = "addr,raw,offset,wall,mem,branch,read,regs,stack,tracepoints"

# sys.argv: folder of *.parquet and *.arrow, the library, the recording
PROGRAM = """
import ctypes, json, pathlib, sys
import duckdb, pandas, polars, pyarrow, pyarrow.ipc, pyarrow.parquet
folder, library = pathlib.Path(sys.argv[1]), ctypes.CDLL(sys.argv[2])
library.stream_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32,
                                ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p]
ALL_GROUPS = 2**32 - 1

def handed_over(name):
    stream = ctypes.create_string_buffer(40)
    assert library.stream_open(sys.argv[3].encode(), name.encode(), ALL_GROUPS, 0, 0, stream) == 0
    reader = pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))
    table = reader.read_all()
    table.validate(full=True)
    return table

def rows(table):
    plain = [column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type)
             else column for column in table.columns]
    return dict(zip(table.column_names, (column.to_pylist() for column in plain)))

for path in sorted(folder.glob("*.parquet")):
    want = rows(pyarrow.parquet.read_table(path))
    stream = pyarrow.ipc.open_stream(path.with_suffix(".arrow")).read_all()
    stream.validate(full=True)
    assert rows(stream) == want, path
    table = handed_over(path.stem)
    assert rows(table) | {"path": want.get("path")} == want | {"path": want.get("path")}, path
    frame = polars.read_parquet(path)
    assert {name: frame[name].to_list() for name in frame.columns} == want, path
    assert duckdb.sql(f"select * from '{path}'").fetchall() == list(zip(*want.values())), path
    assert len(pandas.read_parquet(path)) == table.num_rows == len(polars.from_arrow(table))
assert library.stream_count() == 0

samples = handed_over("samples")
by_comm = "group by comm order by comm nulls first"
print(json.dumps(duckdb.sql(f"select comm, count(*), sum(period)::bigint from samples {by_comm}")
                 .fetchall()))
grouped = (polars.from_arrow(samples).with_columns(polars.col("comm").cast(polars.String))
           .group_by("comm").agg(polars.len(), polars.col("period").sum()).sort("comm"))
print(json.dumps(grouped.rows()))
"""


@pytest.mark.parametrize("name", RECORDINGS)
def test_engines_agree(name, run_pdecode, tmp_path):
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not here")
    path = FIXTURES / "perf" / name
    tables = tmp_path / "tables"
    assert run_pdecode(["-f", "parquet", "--with", GROUPS, "-o", tables, path]).returncode == 0
    for file in list(tables.glob("*.parquet")):
        done = run_pdecode(["-f", "arrow", "--with", GROUPS, "--table", file.stem, path])
        file.with_suffix(".arrow").write_bytes(done.stdout)
    library = columns_library("columns_stream", tmp_path)
    done = subprocess.run([PYTHON, "-c", PROGRAM, tables, library, path], capture_output=True,
                          timeout=TIMEOUT, text=True)
    assert done.returncode == 0, done.stderr
    want, fixed = collections.defaultdict(lambda: [0, 0]), {}
    for line in strict_json_lines(run_pdecode(["-f", "jsonl", "--resolve", path]).stdout):
        if line["kind"] == "attr":
            fixed[line["index"]] = fixed_period(line["attr"])
        if line["kind"] == "record" and line["type"] == "SAMPLE":
            want[line.get("comm")][0] += 1
            want[line.get("comm")][1] += line.get("period", fixed.get(line["attr_index"], 0))
    for answer in done.stdout.splitlines():
        got = {comm: [samples, period or 0] for comm, samples, period in json.loads(answer)}
        assert got == dict(want)


RECIPES = """
import pathlib, re, sys
import duckdb
text, scope = pathlib.Path(sys.argv[1]).read_text(), {}
exec(re.search(r"```python setup\\n(.*?)```", text, re.S)[1], scope)
blocks = re.findall(r"```sql\\n(.*?)```\\n\\n```python\\n(.*?)```\\n\\n((?:\\|[^\\n]*\\n)+)",
                    text, re.S)
assert len(blocks) == 10 == len(re.findall("^## [0-9]", text, re.M))

def lines(names, rows):
    words = lambda row: "".join(f"| {str(x).lower() if isinstance(x, bool) else x} " for x in row)
    return [words(row) + "|" for row in (names, ["---"] * len(names), *rows)]

for sql, python, answer in blocks:
    found = duckdb.sql(sql)
    assert lines(found.columns, found.fetchall()) == answer.splitlines(), sql
    exec(python, scope)
    assert lines(scope["answer"].columns, scope["answer"].rows()) == answer.splitlines(), python
"""


# sys.argv: the definitions, folder of *.parquet
DEFINITIONS = """
import pathlib, sys
import duckdb
db = duckdb.connect()
db.execute(pathlib.Path(sys.argv[1]).read_text())
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.parquet")):
    want = db.sql(f"describe {path.stem}").fetchall()
    have = db.sql(f"describe select * from '{path}'").fetchall()
    assert [row[:2] for row in have] == [row[:2] for row in want], (path.stem, have, want)
    db.execute(f"insert into {path.stem} select * from '{path}'")
"""


@pytest.mark.parametrize("more", [[], ["--int64"]], ids=" ".join)
def test_definitions_have_the_types_of_the_files(more, run_pdecode, tmp_path):
    path = FIXTURES / "perf" / "12-tracepoints.data"
    options = ["--with", GROUPS, *more]
    text = run_pdecode(["--ddl=duckdb", *options]).stdout
    (tmp_path / "definitions").write_bytes(text)
    assert run_pdecode(["-f", "parquet", *options, "-o", tmp_path / "t", path]).returncode == 0
    done = subprocess.run([PYTHON, "-c", DEFINITIONS, tmp_path / "definitions", tmp_path / "t"],
                          capture_output=True, timeout=TIMEOUT, text=True)
    assert done.returncode == 0, done.stderr


def test_the_recipes_give_the_answers_that_they_show(run_pdecode, tmp_path):
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not here")
    done = run_pdecode(["-f", "parquet", "-o", tmp_path / "tables",
                        FIXTURES / "perf" / "02-callgraph-fp.data"])
    assert done.returncode == 0
    done = subprocess.run([PYTHON, "-c", RECIPES, ROOT / "docs" / "recipes.md"], cwd=tmp_path,
                          capture_output=True, timeout=TIMEOUT, text=True)
    assert done.returncode == 0, done.stderr
