"""Tables compared with perf's text and with JSON Lines: what they take to write, their sizes, and
queries over them."""
import os
import pathlib
import shlex
import shutil
import subprocess

from inputs import KINDS, CantRecord, make, multiply, stats_of
from measure import ROOT, Program, median, measure, run, summary
from profiles import STACKS

SAMPLES = "samples.parquet"
BY_COMM = "select comm, count(*) from {samples} group by 1 order by 2 desc"
INCLUSIVE = """with s as (select stack, count(*) n from '{tables}/samples.parquet' group by 1)
select frame, sum(n) from (select unnest(list_distinct(frames)) frame, n
from s join '{tables}/stacks.parquet' using (stack)) group by 1 order by 2 desc limit 20"""
# Each prints the seconds that it took, without starting Python and importing.
DUCKDB = """
import sys, time, duckdb
duckdb.sql("set threads = 1")
start = time.perf_counter()
duckdb.sql(sys.argv[1]).fetchall()
print(time.perf_counter() - start)
"""
FRAME = ("time", "cpu", "pid", "tid", "period")
TO_FRAME = """
import sys, time, perfdata, polars
start = time.perf_counter()
columns = sys.argv[2].split(",") if len(sys.argv) > 2 else None
polars.DataFrame(perfdata.open(sys.argv[1], columns=columns).table("samples"))
print(time.perf_counter() - start)
"""
FROM_JSON = """
import json, subprocess, sys, time, polars
start = time.perf_counter()
rows = {name: [] for name in sys.argv[3].split(",")}
with subprocess.Popen([sys.argv[2], "-f", "jsonl", sys.argv[1]], stdout=subprocess.PIPE) as lines:
    for line in lines.stdout:
        record = json.loads(line)
        if record.get("type") == "SAMPLE":
            for name, values in rows.items():
                values.append(record.get(name))
polars.DataFrame(rows)
print(time.perf_counter() - start)
"""


def size_of(folder):
    return sum(file.stat().st_size for file in folder.iterdir())


def parquet(settings, path, jobs=1):
    return Program(f"parquet -j{jobs}",
                   [settings.tool("pdecode"), "-f", "parquet", "-j", str(jobs), "-o",
                    settings.work / "tables", path])


def writing(settings, report, file):
    """The time and memory of all tables, and of one as a stream."""
    arrow = Program("arrow samples", [settings.tool("pdecode"), "-f", "arrow", "--table",
                                      "samples", file.path])
    programs = [parquet(settings, file.path), parquet(settings, file.path, 2), arrow]
    measure(settings, programs)
    report.add_tables({"part": "writing", "input": file.describe(),
                       "samples": stats_of(settings, file.path)["by_type"]["SAMPLE"]["records"],
                       "programs": [summary(one, file.bytes) for one in programs]})


def sizes(settings, report, file):
    """Bytes of the recording itself: one that is repeated flatters whoever compresses it."""
    tables, lines = settings.work / "tables", settings.work / "lines.jsonl"
    run(settings, parquet(settings, file.base).command)
    run(settings, [settings.tool("pdecode"), "-f", "jsonl", "-o", lines, file.base])
    packed = settings.work / "packed.data"
    recorded = os.path.getsize(file.base)
    multiply(settings, file.base, packed, recorded // 2, 3)
    report.add_tables({"part": "sizes", "input": file.describe(), "recorded": recorded,
                       "tables": size_of(tables), "jsonl": os.path.getsize(lines),
                       "zstd": os.path.getsize(packed), **script_size(settings, file),
                       "each": {one.name: one.stat().st_size for one in sorted(tables.iterdir())}})
    lines.unlink()
    packed.unlink()


def installed_perf():
    """The path of perf, or None."""
    return shutil.which(os.environ.get("PERF") or "perf")


def script_size(settings, file):
    """The bytes that `perf script` prints, if there is perf."""
    text = settings.work / "script.txt"
    if not installed_perf():
        return {}
    run(settings, [installed_perf(), "script", "--no-inline", "-i", file.base], text)
    size = os.path.getsize(text)
    text.unlink()
    return {"script": size}


def clients():
    """The Python that make check-clients installs modules for, or None."""
    place = os.environ.get("PD_CLIENTS") or pathlib.Path.home() / ".cache" / "perf-data-clients"
    python = pathlib.Path(place) / "python" / "bin" / "python"
    return python if python.exists() else None


def binding(settings):
    """A folder with the binding, or None: make python builds it."""
    module = settings.build / "python" / "_perfdata.abi3.so"
    if not module.exists():
        return None
    folder = settings.work / "binding"
    shutil.copytree(ROOT / "python" / "perfdata", folder / "perfdata", dirs_exist_ok=True)
    shutil.copy(module, folder / "perfdata")
    return folder


def seconds(settings, python, program, *arguments):
    """The median of what the program prints."""
    found = [float(subprocess.run([python, "-c", program, *map(str, arguments)], check=True,
                                  stdout=subprocess.PIPE,
                                  env={**os.environ, "PYTHONPATH": str(settings.work / "binding")}
                                  ).stdout) for _ in range(settings.rounds)]
    return median(found)


def in_python(settings, report, file):
    """Seconds of queries and data frames, by their names."""
    python, found = clients(), {}
    if not python:
        report.skip("tables in Python", "make check-clients has not installed the modules")
        return found
    tables = settings.work / "tables"
    samples = f"'{tables / SAMPLES}'"
    found["DuckDB by comm"] = seconds(settings, python, DUCKDB, BY_COMM.format(samples=samples))
    found["DuckDB inclusive"] = seconds(settings, python, DUCKDB, INCLUSIVE.format(tables=tables))
    found["jsonl to data frame"] = seconds(settings, python, FROM_JSON, file.path,
                                           settings.tool("pdecode"), ",".join(FRAME))
    if binding(settings):
        found["binding to data frame"] = seconds(settings, python, TO_FRAME, file.path,
                                                 ",".join(FRAME))
        found["binding, all columns"] = seconds(settings, python, TO_FRAME, file.path)
    else:
        report.skip("the binding of Python", "make python has not built it")
    return found


def queries(settings, report, file):
    perf = installed_perf()
    programs = [Program("pquery by comm",
                        [settings.tool("pquery"), BY_COMM.format(samples="samples"), file.path])]
    if perf:
        script = shlex.join([perf, "script", "-F", "comm", "-i", str(file.path)])
        programs += [Program("perf script | sort | uniq -c",
                             ["sh", "-c", f"{script} | sort | uniq -c"]),
                     Program("perf report --children",
                             [perf, "report", "--stdio", "--no-inline", "--children", "--sort",
                              "sym", "-i", file.path])]
    measure(settings, programs)
    run(settings, parquet(settings, file.path).command)
    report.add_tables({"part": "queries", "input": file.describe(),
                       "programs": [summary(one, file.bytes) for one in programs],
                       "seconds": in_python(settings, report, file)})


def tables(settings, report):
    kinds = {kind.name: kind for kind in KINDS}
    for kind in (kinds["chains"], kinds["short"], STACKS):
        try:
            file = make(settings, kind, False)
            writing(settings, report, file)
            if kind is not kinds["chains"]:
                sizes(settings, report, file)
            if kind is STACKS:
                queries(settings, report, file)
            file.remove()
        except CantRecord as error:
            report.skip(f"tables of {kind.name}", str(error))
    shutil.rmtree(settings.work / "tables", ignore_errors=True)
