"""Prints what was measured of tables, and whether their goals are met."""

MEMORY = 64                                             # MiB
RATES = {"chains": 2, "stacks": 2, "short": 4}          # million samples a second
MB_RATES = {"chains": 350, "stacks": 350}               # MB a second
STREAM = {"chains": 5}                                  # million samples a second
SIZES = {("stacks", "recorded"): 12, ("stacks", "jsonl"): 30, ("stacks", "zstd"): 1.25,
         ("short", "recorded"): 9}                      # times the tables
SCRIPT, CHILDREN = "perf script | sort | uniq -c", "perf report --children"
LABELS = {"recorded": "perf.data", "jsonl": "jsonl", "zstd": "perf.data with zstd records"}


def divide(a, b):
    return a / b if a is not None and b else None


class TablesReport:
    def __init__(self):
        self.rows = []

    def _of(self, part):
        return {row["input"]["kind"]: row for row in self.rows if row["part"] == part}

    @staticmethod
    def _programs(row):
        return {one["program"]: one for one in row["programs"] if "failed" not in one}

    def lines(self):
        """Rows of words: what, wall seconds, cpu seconds, MiB."""
        found = []
        for row in self.rows:
            label = f"{row['input']['kind']}, {row['part']}"
            for one in row.get("programs", []):
                found.append([f"{label}: {one['program']}", *([one["failed"], "", ""] if "failed"
                             in one else [f"{one['wall']:.3f}", f"{one['cpu']:.3f}",
                                          f"{one['rss_kib'] / 1024:.1f}"])])
            for name, value in row.get("seconds", {}).items():
                found.append([f"{label}: {name}", f"{value:.3f}", "", ""])
            for name in ("recorded", "tables", "jsonl", "zstd", "script"):
                if name in row:
                    found.append([f"{label}: {name}, MB", f"{row[name] / 1e6:.2f}", "", ""])
        return found

    def _writing_goals(self):
        for kind, row in self._of("writing").items():
            programs, samples = self._programs(row), row["samples"] / 1e6
            one, two, arrow = (programs.get(name) for name in ("parquet -j1", "parquet -j2",
                                                               "arrow samples"))
            if not one or not two or not arrow:
                continue
            yield (f"{kind}: Parquet, one thread, million samples a second of cpu", RATES[kind],
                   divide(samples, one["cpu"]))
            if kind in MB_RATES:
                yield (f"{kind}: the same in MB a second", MB_RATES[kind],
                       divide(row["input"]["bytes"] / 1e6, one["cpu"]))
            yield f"{kind}: the same, memory in MiB", -MEMORY, one["rss_kib"] / 1024
            yield f"{kind}: Parquet, two threads against one, wall", 1.7, divide(one["wall"],
                                                                             two["wall"])
            if kind in STREAM:
                yield (f"{kind}: Arrow stream, million samples a second of cpu", STREAM[kind],
                       divide(samples, arrow["cpu"]))

    def _size_goals(self):
        found = self._of("sizes")
        for (kind, other), least in SIZES.items():
            if kind in found:
                yield (f"{kind}: {LABELS[other]}, times all tables", least,
                       divide(found[kind][other], found[kind]["tables"]))

    def _query_goals(self):
        for kind, row in self._of("queries").items():
            wall = {name: one["wall"] for name, one in self._programs(row).items()}
            took = row["seconds"]
            for what, slow, fast, least in (
                    ("DuckDB by comm against perf script, wall", wall.get(SCRIPT),
                     took.get("DuckDB by comm"), 100),
                    ("DuckDB inclusive against perf report, wall", wall.get(CHILDREN),
                     took.get("DuckDB inclusive"), 25),
                    ("pquery by comm against perf script, wall", wall.get(SCRIPT),
                     wall.get("pquery by comm"), 10),
                    ("Python, five columns to data frame, against jsonl",
                     took.get("jsonl to data frame"), took.get("binding to data frame"), 12)):
                yield f"{kind}: {what}", least, divide(slow, fast)

    def goals(self):
        """(what, goal, what was reached); a negative goal is the most that it may be."""
        yield from self._writing_goals()
        yield from self._size_goals()
        yield from self._query_goals()
