"""Prints the results: tables for people as they arrive, JSON for programs at the end."""
from symbols_report import SymbolsReport
from tables_report import TablesReport


def number(value, digits=2):
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def ratio(value):
    return "-" if value is None else f"{value:.1f}x" if value < 100 else f"{value:.0f}x"


def table(rows, head):
    rows = [head, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


FORMS = ("jsonl",)      # measured with two threads as well as with one


def divide(a, b):
    return a / b if a is not None and b else None


class Report:
    def __init__(self, description):
        self.description = description
        self.decode, self.threads, self.growth, self.recorder, self.instructions = ([], [], [], [],
                                                                                    [])
        self.history, self.profiles, self.tables = [], [], TablesReport()
        self.symbols = SymbolsReport()
        self.skipped, self.notes, self.goals = [], [], []

    def head(self):
        d = self.description
        print(f"{d['date']}  {d['machine']['cpus']} cpus ({d['machine']['cpu']}), Linux "
              f"{d['machine']['kernel']}")
        print(f"{d['versions']['pdecode']}; {d['versions']['perf'] or 'no perf'}; "
              f"{d['versions']['compiler']}")
        print(f"{d['settings']['mb']:g} MB of each kind, up to {d['settings']['rounds']} runs of "
              "each program in turn; medians")
        if d["machine"]["load_average_before"] > 0.5:
            print(f"The machine was not idle (load {d['machine']['load_average_before']:.1f}): "
                  "wall times are too long.")

    def skip(self, what, reason):
        self.skipped.append({"what": what, "reason": reason})
        print(f"\n{what}: left out: {reason}")

    # decoding

    def add_decode(self, result):
        self.decode.append(result)
        this = result["input"]
        made = (f"a recording of {this['bytes'] // this['multiplied'] // 1000} kB, "
                f"{this['multiplied']} times with times shifted"
                if this["multiplied"] > 1 else "as recorded")
        print(f"\n{this['kind']}: {this['what']}: {this['bytes'] / 1e6:.0f} MB, {this['records']} "
              f"records; {made}"
              + (f"; {this['file_bytes'] / 1e6:.1f} MB in the file" if "zstd" in this["kind"]
                 else ""))
        print(f"  {this['recorded_with']}")
        base = self.program(this["kind"], "pdecode jsonl -j1")
        rows = []
        for one in result["programs"]:
            if "failed" in one:
                rows.append([one["program"], one["failed"], "", "", "", "", "", ""])
                continue
            rows.append([one["program"], number(one["wall"], 3), number(one["cpu"], 3),
                         f"{one['cpu_spread']:.0%}", number(one["mb_per_second"], 0),
                         f"{one['rss_kib'] / 1024:.1f}",
                         ratio(divide(one["cpu"], base and base["cpu"])), one["runs"]])
        table(rows, ["", "wall s", "cpu s", "spread", "MB/s", "MiB", "cpu, pdecode=1", "runs"])
        for name in ("count_samples", "linux-perf-data"):
            counted = self.program(this["kind"], name)
            if counted and counted.get("cpu"):
                print(f"  {name} reads {number(divide(this['records'], counted['cpu']) / 1e6, 1)} "
                      "million records a second of cpu time")
        for note in self.notes:
            print(f"  {note}")

    def program(self, kind, name):
        for result in self.decode:
            if result["input"]["kind"] == kind:
                for one in result["programs"]:
                    if one["program"] == name and "failed" not in one:
                        return one
        return None

    def add_threads(self, result):
        self.threads.append(result)

    def show_threads(self):
        if not self.threads:
            return
        size = self.threads[0]["bytes"] / 1e6
        print(f"\ntwo threads, and two programs at once as much: times as fast as one; {size:.0f} "
              "MB each, in turn")
        table([[one["kind"],
                *(number(value) for form in FORMS for value in self._threads_of(one, form))]
               for one in self.threads],
              ["", *(f"{form}: {what}" for form in FORMS for what in ("threads", "programs"))])

    @staticmethod
    def _threads_of(result, form):
        """How much faster two threads are than one, two programs than one after the other."""
        wall = {one["program"]: one.get("wall") for one in result["programs"]}
        one = wall[f"pdecode {form} -j1"]
        both = divide(one, wall[f"two pdecode {form} -j1 at once"])
        return divide(one, wall[f"pdecode {form} -j2"]), both and 2 * both

    def add_growth(self, result):
        self.growth.append(result)

    def show_growth(self):
        if not self.growth:
            return
        print("\nshort samples, as the recording grows: cpu ms per MB, and peak memory in MiB")
        names = [one["program"] for one in self.growth[0]["programs"]]
        rows = [[name]
                + [next((f"{p['cpu_ms_per_mb']:.2f} / {p['rss_kib'] / 1024:.1f}"
                         for p in size["programs"]
                         if p["program"] == name), "-") for size in self.growth] for name in names]
        table(rows, [""] + [f"{size['bytes'] / 1e6:.0f} MB" for size in self.growth])

    # resolving

    def add_history(self, row):
        self.history.append(row)

    @staticmethod
    def _history_rates(row):
        """Side-band records and addresses a second, in millions; the history's MiB."""
        return (divide(row["changes"] / 1e6, row["learn"] + row["seal"]),
                divide(row["addresses"] / 1e6, row["resolve"]), row["memory"] / 2**20)

    def show_history(self):
        print("\nresolving: side-band records and addresses a second in millions, MiB of the"
              " history; cpu seconds of the whole program")
        rows = []
        for row in self.history:
            cpu = {one["program"]: one.get("cpu") for one in row["programs"]}
            rows.append([
                f"{row['input']}: {row['changes']} records, {row['addresses']} addresses",
                *(number(value) for value in self._history_rates(row)),
                number(cpu.get("resolve")), number(cpu.get("perf script -F comm,ip,dso"))])
        table(rows, ["", "side-band", "addresses", "MiB", "resolve", "perf script"])

    # profiles

    def add_profiles(self, result):
        self.profiles.append(result)

    def _profile(self, part, kind, name):
        """A program's row, or None; `kind`: of the input, None: any."""
        return next((one for result in self.profiles if result["part"] == part
                     and kind in (None, result["input"]["kind"])
                     for one in result["programs"]
                     if one["program"] == name and "failed" not in one), None)

    def _profile_cpu(self, part, kind, name):
        one = self._profile(part, kind, name)
        return one and one["cpu"]

    def show_profiles(self):
        for result in self.profiles:
            this = result["input"]
            print(f"\nprofiles of {this['kind']}, {result['part']}: {this['bytes'] / 1e6:.0f} MB, "
                  f"{result['samples']} samples")
            base = self._profile(result["part"], this["kind"], "preport folded")
            rows = [[one["program"], one.get("failed", "")] if "failed" in one else
                    [one["program"], number(one["wall"], 3), number(one["cpu"], 3),
                     f"{one['rss_kib'] / 1024:.1f}",
                     ratio(divide(one["cpu"], base and base["cpu"])), one["runs"]]
                    for one in result["programs"]]
            table([[*row, *[""] * (6 - len(row))] for row in rows],
                  ["", "wall s", "cpu s", "MiB", "cpu, folded=1", "runs"])

    def _at_least(self, what, least, got, unit="x"):
        self._goal(what, f"{least}{unit}", got, got is not None and got >= least)

    def _at_most(self, what, most, got, unit=""):
        self._goal(what, f"at most {most}{unit}", got, got is not None and got <= most)

    def _peer_goals(self, kind):
        """Ratios of CPU times, and of memory."""
        def cpu(name):
            return self._profile_cpu("peers", kind, name)
        chain = "perf script | stackcollapse-perf.pl"
        for mine, peer, least in (("folded", chain, 40), ("folded", "perf script", 6),
                                  ("top", "perf report", 14), ("script", "perf script", 6)):
            self._at_least(f"{kind}: preport {mine} against {peer}, cpu", least,
                           divide(cpu(peer), cpu(f"preport {mine}")))
        for name in ("flamegraph", "pprof"):
            self._at_most(f"{kind}: preport {name}, of the cpu of folded", 1.3,
                          divide(cpu(f"preport {name}"), cpu("preport folded")))
        mine, peer = (self._profile("peers", kind, name) for name in ("preport top", "perf report"))
        if mine and peer:
            self._at_most(f"{kind}: memory of preport top, of perf report's", 0.05,
                          mine["rss_kib"] / peer["rss_kib"])
        samples = next(result["samples"] for result in self.profiles
                       if result["part"] == "peers" and result["input"]["kind"] == kind)
        for name in ("firefox, plain", "speedscope"):
            self._at_least(f"{kind}: preport {name}, million samples a second", 1.5,
                           divide(samples / 1e6, cpu(f"preport {name}")), "")

    def _thread_goals(self):
        for form in ("folded", "top", "flamegraph", "pprof"):
            one, two = (self._profile("threads", None, f"preport {form} -j {jobs}")
                        for jobs in (1, 2))
            self._at_least(f"preport {form}: two threads against one, wall", 1.6,
                           divide(one and one["wall"], two and two["wall"]))

    def _size_goals(self):
        few = self._profile("few with the kernel", None, "preport top")
        for form in ("folded", "top", "flamegraph", "pprof"):
            many = self._profile("many", None, f"preport {form}")
            if many and few:
                self._at_most(f"preport {form} of 10 million samples, cpu s", 5, many["cpu"])
                self._at_most(f"preport {form} of 10 million samples, MiB above those of a few",
                              128, (many["rss_kib"] - few["rss_kib"]) / 1024)
        for form in ("firefox", "speedscope"):
            many = self._profile("many", None, f"preport {form}")
            if many:
                self._at_most(f"preport {form} of 10 million samples, MiB", 256,
                              many["rss_kib"] / 1024)
        for part, most in (("few with the kernel", 30), ("few without the kernel", 10)):
            few = self._profile(part, None, "preport top")
            if few:
                self._at_most(f"preport of {part}, ms from start to end", most,
                              1000 * few["wall"])

    def _profile_goals(self):
        for kind in dict.fromkeys(result["input"]["kind"] for result in self.profiles
                                  if result["part"] == "peers"):
            self._peer_goals(kind)
        self._thread_goals()
        self._size_goals()

    # tables

    def add_tables(self, row):
        self.tables.rows.append(row)

    def show_tables(self):
        print("\ntables: Parquet, queries, sizes")
        table(self.tables.lines(), ["", "wall s", "cpu s", "MiB"])

    def add_symbols(self, row):
        self.symbols.rows.append(row)

    def show_symbols(self):
        print("\nsymbols: names, inlined functions, unwinding")
        table(self.symbols.lines(), ["", "wall s", "cpu s", "MiB"])

    def _stated_goals(self, goals):
        for what, goal, got in goals:
            if goal < 0:
                self._at_most(what, -goal, got)
            else:
                self._at_least(what, goal, got, "")

    # recording

    def add_recorder(self, row):
        self.recorder.append(row)

    def recorded(self, test, recorder, **wanted):
        for row in self.recorder:
            if (row["test"] == test and row["recorder"] == recorder
                and all(row.get(k) == v for k, v in wanted.items())):
                return row
        return None

    def show_recorder(self):
        some = [row for row in self.recorder if row["test"] == "true"]
        if some:
            print("\nfrom start to end of -e cpu-clock -m 512K -- true")
            table([[f"{r['recorder']} {r['options']}", f"{1e3 * r['wall']:.1f}",
                    f"{1e3 * r['cpu']:.1f}", f"{r['rss_kib'] / 1024:.1f}",
                    number(r["system_calls"]), r["runs"]] for r in some],
                  ["", "wall ms", "cpu ms", "MiB", "system calls", "runs"])
        for threads in sorted({row["threads"] for row in self.recorder
                               if row["test"] == "syscalls"}):
            some = [row for row in self.recorder if row["test"] == "syscalls"
                    and row["threads"] == threads]
            print(f"\n{some[0]['syscalls']} system calls traced, of {threads} "
                  f"{'thread' if threads == 1 else 'threads'}; "
                  f"{some[0]['alone']:.2f} s when not recorded. Both are told the size of the "
                  "buffers")
            table([[f"{r['recorder']} -m {r['buffer']} {r['options']}", number(r["recorder_cpu"]),
                    number(r["cpu_per_million"], 3), int(r["samples"]), int(r["lost"]),
                    f"{r['lost'] / max(1, r['lost'] + r['samples']):.2%}", ratio(r["slow_down"]),
                    f"{r['file_bytes'] / 1e6:.0f}", f"{r['rss_kib'] / 1024:.1f}", r["runs"]]
                   for r in some],
                  ["", "own cpu s", "a million", "samples", "lost", "", "slow-down", "MB", "MiB",
                   "runs"])
        some = [row for row in self.recorder if row["test"] == "own events"]
        if some:
            print("\n-a on system calls: events that are the recorder's own")
            table([[r["recorder"], r["samples"], r["own"], f"{r['share'] or 0:.3%}"] for r in some],
                  ["", "samples", "own", "share"])

    def show_instructions(self):
        if self.instructions:
            print("\ninstructions per record, by callgrind on files that are the same each time")
            table([[f"{r['kind']}: {r['path']}", r["per_record"]] for r in self.instructions],
                  ["", ""])

    # what was to be reached

    def _goal(self, what, goal, got, met):
        if got is not None:
            self.goals.append({"what": what, "goal": goal, "got": round(got, 4), "met": met})

    def _cpu_ratio(self, kind, peer, mine):
        a, b = self.program(kind, peer), self.program(kind, mine)
        return divide(a and a["cpu"], b and b["cpu"])

    def _decode_goals(self):
        least = [("short", "perf data convert", "jsonl -j1", 20),
                 ("chains", "perf data convert", "jsonl -j1", 40)]
        least += [(kind, "perf report -D", "jsonl -j1", 60)
                  for kind in ("short", "chains", "dwarf", "tracepoints", "side-band")]
        least += [(kind, "perf report --stats", "stats -j1", 2)
                  for kind in ("short", "chains", "dwarf", "tracepoints", "side-band")]
        for kind, peer, mine, goal in least:
            got = self._cpu_ratio(kind, peer, f"pdecode {mine}")
            self._goal(f"{kind}: pdecode {mine} against {peer}, cpu", f"{goal}x", got,
                       got is not None and got >= goal)
        got = self._cpu_ratio("short", "pdecode jsonl -j1", "emit_short")
        self._goal("short: time of a hand-written loop, cpu", "at most 1.3x", got,
                   got is not None and got <= 1.3)
        got = self._cpu_ratio("short", "pdecode jsonl -j1 > file", "emit_short > file")
        self._goal("short: the same into a file, cpu", "at most 2x", got,
                   got is not None and got <= 2)
        for result in self.threads:
            got, both = self._threads_of(result, "jsonl")
            limit = f" (two programs: {both:.2f})" if both else ""
            self._goal(f"{result['kind']}: two threads against one, wall{limit}", "1.7x", got,
                       got is not None and got >= 1.7)
        peaks = [one["rss_kib"] / 1024 for result in self.decode + self.threads + self.growth
                 for one in result["programs"]
                 if one["program"].startswith("pdecode") and "failed" not in one]
        if peaks:
            self._goal("peak memory of pdecode, MiB", "64", max(peaks), max(peaks) <= 64)

    def _history_goals(self):
        for row in self.history:
            side_band, addresses, memory = self._history_rates(row)
            whole = not row["left_out"] and row["found"] == row["addresses"]
            name = f"history of {row['input']}"
            self._goal(f"{name}: side-band records a second, millions", "2", side_band,
                       whole and side_band >= 2)
            self._goal(f"{name}: addresses a second, millions", "5", addresses, addresses >= 5)
            self._goal(f"{name}: memory, MiB", "at most 256", memory, whole and memory <= 256)

    def _cpu_goal(self, row, peer, label):
        """A recorder that loses half of the samples has half of the work: where the load takes
        every CPU, the CPU time is compared per sample kept."""
        key, what = (("recorder_cpu", "") if row["threads"] == 1
                     else ("cpu_per_million", " a sample kept"))
        got = divide(row[key], peer[key])
        self._goal(f"precord's cpu{what}, {label}, threads {row['threads']}, of perf's",
                   "at most 0.5", got, got is not None and got <= 0.5)

    def _recorder_goals(self):
        mine, peer = (self.recorded("true", "precord", options=""),
                      self.recorded("true", "perf record", options=""))
        if mine and peer:
            got = peer["wall"] / mine["wall"]
            self._goal("precord -- true against perf, wall", "20x", got, got >= 20)
            got = divide(mine["system_calls"], peer["system_calls"])
            self._goal("its system calls, of perf's", "at most 0.1", got,
                       got is not None and got <= 0.1)
        for row in [r for r in self.recorder if r["test"] == "syscalls"
                    and r["recorder"] == "precord"]:
            same = {key: row[key] for key in ("threads", "buffer", "options")}
            peer = self.recorded("syscalls", "perf record", **same)
            if not peer:
                continue
            label = f"-m {row['buffer']} {row['options']}".strip()
            self._cpu_goal(row, peer, label)
            label += f", threads {row['threads']}"
            self._goal(f"samples lost, {label} (perf {peer['lost']:.0f})", "not more",
                       float(row["lost"]), row["lost"] <= peer["lost"])
            got = row["slow_down"] / peer["slow_down"]
            self._goal(f"slow-down, {label}, of perf's", "at most 1 (5 % of noise)", got,
                       got <= 1.05)
        mine, peer = (self.recorded("own events", "precord"),
                      self.recorded("own events", "perf record"))
        if mine and peer:
            got = divide(mine["share"], peer["share"])
            self._goal("own events under -a, of perf's share", "at most 0.1", got,
                       got is not None and got <= 0.1)

    def show_goals(self):
        self._decode_goals()
        self._history_goals()
        self._profile_goals()
        self._stated_goals(self.symbols.goals())
        self._stated_goals(self.tables.goals())
        self._recorder_goals()
        if self.goals:
            print("\ngoals")
            table([[g["what"], g["goal"], number(float(g["got"])), "yes" if g["met"] else "no"]
                   for g in self.goals],
                  ["", "goal", "here", "met"])

    def document(self):
        return {"format": 1, **self.description, "instructions": self.instructions,
                "recorder": self.recorder, "decode": self.decode, "history": self.history,
                "profiles": self.profiles, "symbols": self.symbols.rows, "tables": self.tables.rows,
                "threads": self.threads, "growth": self.growth, "goals": self.goals,
                "skipped": self.skipped, "notes": self.notes}
