"""demo.py TOOLS FOLDER: makes 2,000 slices of a fleet and converts them with Spark, twice.

In the first run a worker is killed. The counts must be those of pdecode -f stats, the second run
must give the same bytes, and DuckDB, Spark and ClickHouse the same answers: it exits 1 if anything
differs. make fleet-demo runs it."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

from pyspark.sql import SparkSession
from pyspark.sql.datasource import EqualTo

from perfdata_fleet import compact, convert, jobs, objects, queries, services, symbols
from perfdata_fleet.datasource import PerfDataReader, PerfDataSource
import slices

SHARDS = 4
FILTERED = "wl-thread"
PARTITION_BYTES = 1 << 20       # the slices are small: still some thirty tasks


class Check:
    """Prints what was compared, and remembers whether anything differed."""

    def __init__(self):
        self.failures = 0

    def equal(self, what, have, want):
        self.failures += have != want
        print(f"{'equal ' if have == want else 'DIFFER'} {what}: {have}"
              + ("" if have == want else f", not {want}"), flush=True)


def timed(what, function, *args, **options):
    start = time.monotonic()
    answer = function(*args, **options)
    print(f"       {what}: {time.monotonic() - start:.1f} s", flush=True)
    return answer


# --- counts of pdecode ----------------------------------------------------------------------------

def stats(tools, path, *filters):
    """(statistics of a recording, whether it is damaged); None: it is none."""
    done = subprocess.run([tools / "pdecode", "-f", "stats", *filters, path], capture_output=True,
                          check=False)
    return (json.loads(done.stdout), done.returncode == 1) if done.returncode in (0, 1) else None


def all_stats(tools, paths, *filters):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(paths, pool.map(lambda path: stats(tools, path, *filters), paths)))


def counts_of_pdecode(found):
    counts = collections.Counter()
    for one in found:
        if one is None:
            counts["unreadable"] += 1
            continue
        one, is_damaged = one
        counts.update(samples=one["by_type"].get("SAMPLE", {}).get("records", 0),
                      period=sum(event.get("period", 0) for event in one["by_event"]),
                      lost_samples=one["lost_samples"], damaged=is_damaged)
    return dict(counts)


# --- counts of the tables -------------------------------------------------------------------------

def counts_of_tables(samples, files):
    """From two data frames of Spark."""
    period, count = samples.selectExpr("sum(period)", "count(*)").first()
    status = {row["status"]: row["count"] for row in files.groupBy("status").count().collect()}
    return {"samples": count, "period": period,
            "lost_samples": files.selectExpr("sum(lost_samples)").first()[0],
            "damaged": status.get("damaged", 0), "unreadable": status.get("unreadable", 0)}


def read(spark, store, keys):
    return spark.read.parquet(*[os.path.join(store.base_path, key) for key in keys])


def digest(store):
    """{key: hash of the content}, of all objects."""
    return {item.key: hashlib.sha256(objects.read(store, item.key)).hexdigest()
            for item in objects.find(store) if not item.key.startswith("incomplete/")}


# --- the worker that is killed --------------------------------------------------------------------

def executors():
    """The processes of Spark's workers below this one."""
    parents, found = {}, []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            words = (entry / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if entry.name.isdecimal():
            parents[int(entry.name)] = int(stat[1])
            if b"CoarseGrainedExecutorBackend" in words and b"--executor-id" in words:
                found.append(int(entry.name))
    return [pid for pid in found if _is_below(parents, pid)]


def _is_below(parents, pid):
    while pid in parents and pid != os.getpid():
        pid = parents[pid]
    return pid == os.getpid()


class Killer(threading.Thread):
    """Kills a worker as soon as `files` recordings are converted."""

    def __init__(self, store, files):
        super().__init__(daemon=True)
        self.store, self.files, self.killed = store, files, []
        self.start()

    def run(self):
        while sum(map(len, convert.converted(self.store).values())) < self.files:
            time.sleep(0.2)
        pid = executors()[0]
        os.kill(pid, signal.SIGKILL)
        self.killed.append(pid)


# --- the run --------------------------------------------------------------------------------------

def start_spark(folder):
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1",
                      SPARK_WORKER_DIR=str(folder / "workers"))
    paths = os.pathsep.join(path for path in sys.path if path)
    spark = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("fleet")
             .config("spark.executorEnv.PYTHONPATH", paths)
             .config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false")
             .config("spark.sql.shuffle.partitions", "4")
             .config("spark.sql.python.filterPushdown.enabled", "true")
             .getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    spark.dataSource.register(PerfDataSource)
    return spark


def convert_and_compact(spark, raw, store):
    services.put(store, slices.RULES)
    run = jobs.on_spark(spark.sparkContext)
    rows = timed("convert", convert.convert_all, raw, store, shards=SHARDS, limit=PARTITION_BYTES,
                 run=run)
    collisions = timed("compact", compact.compact_all, store, run)
    symbols.create(store)
    return rows, collisions


def check_queries(check, spark, store):
    files = queries.find_files(store)
    engines = [queries.DuckDB(files), queries.Spark(files, spark), queries.ClickHouse(files)]
    for name in queries.NAMES:
        answers = []
        for engine in engines:
            engine.compare(slices.OLD, slices.NEW)
            answers.append(timed(f"{name} on {type(engine).__name__}", engine.rows, name))
        check.equal(f"{name}, rows on DuckDB, Spark and ClickHouse", len(answers[0]) > 0 and [
            queries.same(answers[0], answer) for answer in answers[1:]], [True, True])


def check_filters(check, spark, tools, raw, paths):
    """A filter of Spark that the data source hands to libdecode finds what Spark alone does. Those
    of libdecode keep a sample that is cut before its task: Spark drops it."""
    frame = (spark.read.format("perfdata").option("partitionBytes", PARTITION_BYTES)
             .load(raw.base_path))
    with_it, without = (tuple(frame.where(condition).selectExpr("count(*)", "sum(period)").first())
                        for condition in (f"comm = '{FILTERED}'", f"concat(comm) = '{FILTERED}'"))
    check.equal(f"samples and periods of {FILTERED}, filtered by both", with_it, without)
    reader = PerfDataReader({"path": raw.base_path})
    list(reader.pushFilters([EqualTo(("comm",), FILTERED)]))
    found = timed("pdecode -f stats --comm", all_stats, tools, paths, "--comm", FILTERED)
    check.equal("samples that libdecode leaves for Spark's filter", sum(
        batch.num_rows for part in reader.partitions() for batch in reader.read(part)),
        counts_of_pdecode(found.values())["samples"])


def check_hourly(check, spark, store, want):
    """The hourly counts have all samples, and each service of the rules."""
    hourly = read(spark, store, compact.current_files(store, "hourly"))
    check.equal("samples and periods of the hourly counts",
                tuple(hourly.selectExpr("sum(samples)", "sum(period)").first()),
                (want["samples"], want["period"]))
    check.equal("services", sorted(row[0] for row in hourly.where("service is not null")
                                   .select("service").distinct().collect()), ["loader", "shop"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--slices", type=int, default=2000)
    args = parser.parse_args()
    check = Check()
    shutil.rmtree(args.folder, ignore_errors=True)
    raw_folder = args.folder / "raw"
    paths = timed(f"{args.slices} slices", slices.make, args.tools, raw_folder, args.slices,
                  cut=args.slices // 20, foreign=args.slices // 100,
                  duplicates=args.slices // 40)
    found = timed("pdecode -f stats", all_stats, args.tools, sorted(raw_folder.glob("*/*/*/*")))
    want = counts_of_pdecode(found[path] for path in paths)
    raw = objects.open_store(str(raw_folder.resolve()))
    stores = [objects.open_store(str((args.folder / name).resolve())) for name in ("one", "two")]
    spark = timed("start Spark", start_spark, args.folder.resolve())

    killer = Killer(stores[0], args.slices // 10)
    rows, collisions = convert_and_compact(spark, raw, stores[0])
    check.equal("workers that were killed meanwhile", len(killer.killed), 1)
    check.equal("recordings, duplicates once", len(rows), len(paths))
    check.equal("keys that two frames or stacks have", collisions, 0)
    check.equal("counts of the files of each recording", counts_of_tables(
        spark.read.option("basePath", f"{stores[0].base_path}/t=samples").parquet(
            f"{stores[0].base_path}/t=samples"),
        spark.read.parquet(f"{stores[0].base_path}/t=files")), want)
    check.equal("counts of the compacted files", counts_of_tables(
        *(read(spark, stores[0], compact.current_files(stores[0], table))
          for table in ("samples", "files"))), want)
    check_hourly(check, spark, stores[0], want)
    check_queries(check, spark, stores[0])
    check.equal("counts of the data source, with the duplicates", counts_of_tables(
        *(spark.read.format("perfdata").option("table", table)
          .option("partitionBytes", PARTITION_BYTES).load(raw.base_path)
          for table in ("samples", "files"))), counts_of_pdecode(found.values()))
    check_filters(check, spark, args.tools, raw, sorted(found))

    again, _ = timed("nothing new", convert_and_compact, spark, raw, stores[0])
    check.equal("recordings that are converted again", len(again), 0)
    convert_and_compact(spark, raw, stores[1])
    one, two = map(digest, stores)
    check.equal("a second run gives the same objects", (len(one), one == two), (len(two), True))
    spark.stop()
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
