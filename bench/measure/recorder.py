"""precord compared with perf record.

perf sizes its buffers by kernel.perf_event_mlock_kb where nobody says how large they shall be: both
are always told.
"""
import collections
import json
import os
import re
import shutil
import subprocess

from inputs import lost, tracefs
from measure import median, run, spread

SYSCALLS = "raw_syscalls:sys_enter"
BUFFERS = ("128K", "512K", "8M")
TRUE_RUNS = 20


class Recorder:
    def __init__(self, name, command):
        self.name, self.command = name, list(map(str, command))

    def line(self, path, options, command):
        return [*self.command, *options, "-o", str(path), "--", *map(str, command)]


def recorders(settings, report):
    found = [Recorder("precord", [settings.tool("precord"), "-q"])]
    perf = shutil.which(os.environ.get("PERF") or "perf")
    if perf:
        found.append(Recorder("perf record", [perf, "record", "-q"]))
    else:
        report.skip("perf record", "no perf in PATH: precord is measured alone")
    return found


def stats(settings, path, *options):
    done = subprocess.run([settings.tool("pdecode"), "-f", "stats", *options, str(path)],
                          stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


def name_of(recorder, options):
    return " ".join([recorder.name, *options])


def loaded(settings, recorder, options, load, path):
    """One recording of the load: what it took, less what the load itself took."""
    told = settings.work / "load-report"
    told.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    one = run(settings, recorder.line(path, options, load), environment={"LOAD_REPORT": str(told)})
    if one.status or not told.exists():
        return None
    wall, user, system = map(float, told.read_text().split())
    counts = stats(settings, path)
    if counts["errors"]:    # perf 6.1 -z may leave its last records in its compressor
        print(f"  (so a file of {name_of(recorder, options)})")
    samples = counts["by_type"].get("SAMPLE", {}).get("records", 0)
    size = os.path.getsize(path)
    path.unlink()
    return {"recorder_cpu": one.cpu - user - system, "load_wall": wall, "load_cpu": user + system,
            "wall": one.wall, "rss_kib": one.rss, "file_bytes": size, "lost": lost(counts),
            "samples": samples,
            "cpu_per_million": 1e6 * (one.cpu - user - system) / max(samples, 1)}


def medians(runs):
    return {"runs": len(runs),
            **{key: round(median([one[key] for one in runs]), 4) for key in runs[0]},
            "cpu_spread": round(spread([one["recorder_cpu"] for one in runs]), 3)}


def unrecorded(settings, load):
    """The load alone."""
    told = settings.work / "load-report"
    run(settings, load, environment={"LOAD_REPORT": str(told)})
    return float(told.read_text().split()[0])


def losses(settings, report, programs):
    """A syscall in a loop: from one thread, which leaves the other cpus to the recorder, and from a
    thread for each cpu: the recorder has to fight for its time."""
    for threads in sorted({1, os.cpu_count() or 1}):
        losses_beside(settings, report, programs, threads)


def losses_beside(settings, report, programs, threads):
    load = [settings.program("load"), "syscalls", settings.syscalls // threads, threads]
    path = settings.work / "syscalls.data"
    cases = [(buffer, extra) for buffer in BUFFERS for extra in ([], ["-z"])]
    runs = collections.defaultdict(list)
    alone = []
    for turn in range(1 if settings.quick else 3):
        alone.append(unrecorded(settings, load))
        # not counted: finds memory that nobody used for long, which a virtual machine's host may
        # have to bring
        loaded(settings, programs[0], ["-e", SYSCALLS, "-m", BUFFERS[0]], load, path)
        for buffer, extra in cases:
            # whoever comes second finds a busier disk
            for recorder in programs[::-1] if turn % 2 else programs:
                one = loaded(settings, recorder, ["-e", SYSCALLS, "-m", buffer, *extra], load, path)
                if one:
                    one["slow_down"] = one["load_wall"] / alone[-1]
                    runs[(buffer, " ".join(extra), recorder.name)].append(one)
    for (buffer, extra, name), some in runs.items():
        report.add_recorder({"test": "syscalls", "threads": threads, "recorder": name,
                             "buffer": buffer, "options": extra, "syscalls": settings.syscalls,
                             "alone": round(median(alone), 4), **medians(some)})


def startup(settings, report, programs):
    """From start to end of a recording of nothing."""
    path = settings.work / "true.data"
    cases = [("", ["-e", "cpu-clock", "-m", "512K"]),
             ("-z", ["-e", "cpu-clock", "-m", "512K", "-z"])]
    runs = collections.defaultdict(list)
    for _ in range(3 if settings.quick else TRUE_RUNS):
        for label, options in cases:
            for recorder in programs:
                runs[(label, recorder)].append(run(settings,
                                                   recorder.line(path, options, ["true"])))
    for (label, recorder), some in runs.items():
        options = dict(cases)[label]
        walls = [one.wall for one in some]
        report.add_recorder({
            "test": "true", "recorder": recorder.name, "options": label, "runs": len(some),
            "wall": round(median(walls), 5), "wall_spread": round(spread(walls), 3),
            "cpu": round(median([one.cpu for one in some]), 5),
            "rss_kib": max(one.rss for one in some),
            "system_calls": system_calls(settings, recorder.line(path, options, ["true"]))})


def system_calls(settings, command):
    """All of them, those of the command and of other children too; None without strace."""
    strace = shutil.which("strace")
    if not strace:
        return None
    table = settings.work / "strace"
    run(settings, [strace, "-f", "-c", "-o", table, *command])
    total = re.search(r"^\s*100\.00\s+[\d.]+\s+(?:\d+\s+)?(\d+)\s+(?:\d+\s+)?total",
                      table.read_text(), re.M)
    return int(total.group(1)) if total else None


def own_events(settings, report, programs):
    """The whole machine's system calls, while a program makes some: how many of them are the
    recorder's own?"""
    path = settings.work / "all.data"
    load = [settings.program("load"), "syscalls", max(settings.syscalls // 10, 20000)]
    for recorder in programs:
        run(settings, recorder.line(path, ["-a", "-e", SYSCALLS, "-m", "512K"], load))
        if not path.exists():
            continue
        comm = os.path.basename(recorder.command[0])
        every = stats(settings, path, "--types", "SAMPLE")["records"]
        own = stats(settings, path, "--types", "SAMPLE", "--comm", comm + "*")["records"]
        report.add_recorder({"test": "own events", "recorder": recorder.name, "samples": every,
                             "own": own,
                             "share": round(own / every, 6) if every else None})
        path.unlink()


def record(settings, report):
    programs = recorders(settings, report)
    startup(settings, report, programs)
    reason = tracefs(settings)
    if reason:
        report.skip("syscalls, own events", reason)
        return
    losses(settings, report, programs)
    own_events(settings, report, programs)
