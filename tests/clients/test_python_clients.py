"""The binding of Python with the modules that people use: the examples of python/README.md as they
stand there, and the same rows in all of them.

The modules are installed by scripts/clients.
"""
import re
import shutil
import subprocess

import pytest

from binding import NEEDS_CLIENTS, run  # noqa: F401
from conftest import FIXTURES, ROOT, TOOLS

pytestmark = NEEDS_CLIENTS


def test_the_examples(run, tmp_path):
    shutil.copy(FIXTURES / "perf" / "02-callgraph-fp.data", tmp_path / "perf.data")
    text = (ROOT / "python" / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == len(re.findall("^# [1-6]  ", text, re.M)) == 6
    shown = run("".join(blocks), cwd=tmp_path)
    assert "'name': 'cpu-clock'" in shown and re.search(r"wl-thread +┆ 20", shown)
    assert re.search(r"wl-thread +│ +10000000 ", shown) and "shape: (0, 3)" in shown
    assert shown.count("MMAP2 ") == 11
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "samples.parquet", "stacks.parquet", "frames.parquet", "objects.parquet"}


PROGRAM = """
import sys
import duckdb, pandas, perfdata, polars, pyarrow
f = perfdata.open(sys.argv[1])
for name in perfdata.tables():
    tables = table = f.table(name, groups=["addr", "raw", "offset", "wall", "mem", "branch", "read",
                                           "regs", "stack", "tracepoints"])
    arrow = pyarrow.RecordBatchReader.from_stream(table).read_all()
    arrow.validate(full=True)
    assert arrow.column_names == table.columns == pyarrow.schema(table).names
    want = list(zip(*(column.to_pylist() for column in arrow.columns)))
    frame = polars.DataFrame(table)
    assert frame.columns == table.columns and frame.rows() == want, name
    assert duckdb.sql("select * from tables").fetchall() == want, name
    assert duckdb.sql("select count(*), count(file_id) from tables").fetchall() == [(len(want), 0)]
    assert len(pandas.DataFrame.from_arrow(table)) == len(want), name
    assert list(pandas.DataFrame.from_arrow(table).columns) == table.columns
samples, frames, objects = (f.table(name) for name in ("samples", "frames", "objects"))
joined = ("select path, count(*) n from samples join frames using (frame) "
          "left join objects using (object) group by 1 order by 1 nulls first")
print(duckdb.sql(joined).fetchall())
"""


@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "06-data-phys-pages.data",
                                  "50-max-size.data", "59-lost.data", "20-threads.data"])
def test_all_have_the_same_rows(name, run):
    path = FIXTURES / "perf" / name
    joined = subprocess.run([TOOLS / "pquery", "-f", "csv", "select path, count(*) from samples "
                             "join frames using (frame) left join objects using (object) "
                             "group by 1 order by 1", path], capture_output=True, text=True)
    found = eval(run(PROGRAM, path))
    assert [f"{'' if row[0] is None else row[0]},{row[1]}" for row in found] == (
        joined.stdout.splitlines()[1:])


def test_type_hints(run):  # noqa: F811
    """mypy compares them with the module, and checks a program that uses them."""
    run("""
import sys
from mypy import api, stubtest
if stubtest.test_stubs(stubtest.parse_options(["perfdata"])):
    sys.exit("the hints differ from the module")
shown, problems, code = api.run(["--strict", "-c", '''
import gzip, mmap, pathlib, subprocess, perfdata
class File:
    def read(self, size: int = -1) -> bytearray:
        return bytearray()
def copy(process: subprocess.Popen[bytes]) -> None:
    for source in (gzip.open("perf.data.gz"), process.stdout, File(), b"", pathlib.Path("a")):
        if source is not None:
            perfdata.open(source).write_parquet(b"tables")
def count(source: mmap.mmap) -> int:
    with perfdata.open(source, pid=range(3), time=("1s", None), comm=["a"]) as f:
        types: list[str] = [record.type for record in f.records("MMAP2")]
        offsets: list[int] = [error.offset for error in f.errors]
        return len(types) + len(offsets) + len(f.events)
'''])
sys.exit(shown + problems if code else 0)
""")
