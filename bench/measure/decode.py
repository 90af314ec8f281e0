"""pdecode compared with perf and with the limits."""
import os
import shutil
import subprocess

from inputs import KINDS, CantRecord, make, multiply, stats_of
from measure import Program, measure, median, summary

LONG = 5    # times the size of an input


def pdecode(settings, path, form, jobs, *options):
    return [settings.tool("pdecode"), "-f", form, "-j", jobs, *options, path]


def twice(command):
    """Two of them at once: as much as two threads could reach on this machine, did they need
    nothing of each other."""
    return ["sh", "-c", '"$@" & "$@" && wait $!', "sh", *command]


def programs_for(settings, file, perf):
    """Programs that read this file, without those that take too long for it."""
    path = file.path
    found = [
        Program("cat", ["cat", path]),
        Program("pdecode stats -j1", pdecode(settings, path, "stats", 1)),
        Program("pdecode jsonl -j1", pdecode(settings, path, "jsonl", 1)),
        Program("pdecode jsonl -j2", pdecode(settings, path, "jsonl", 2)),
        Program("pdecode json -j1", pdecode(settings, path, "json", 1)),
        Program("pdecode json -j2", pdecode(settings, path, "json", 2)),
        Program("count_samples", [settings.program("count_samples"), path, 20]),
        Program("pdecode --types COMM", pdecode(settings, path, "jsonl", 1, "--types", "COMM")),
    ]
    if os.access(settings.program("linux-perf-data"), os.X_OK):
        found.append(Program("linux-perf-data", [settings.program("linux-perf-data"), path]))
    if perf:
        found += [
            Program("perf report --stats", [perf, "report", "--stats", "-i", path]),
            Program("perf script", [perf, "script", "-i", path]),
            Program("perf script -F", [perf, "script", "-F", "comm,tid,time,ip", "-i", path]),
            Program("perf data convert",
                    [perf, "data", "convert", "--to-json", "/dev/null", "--force", "-i", path]),
        ]
        if not file.compressed:
            found.append(Program("perf report -D", [perf, "report", "-D", "-i", path]))
    return found


def to_file(settings, file):
    """Writing to a file, and how long the writing alone takes."""
    target = settings.work / "output"
    one = Program("pdecode jsonl -j1 > file", pdecode(settings, file.path, "jsonl", 1), target)
    measure(settings, [one], rounds=1)
    size = one.output_bytes or 0
    one.runs.clear()
    return [one, Program("pdecode jsonl -j2 > file", pdecode(settings, file.path, "jsonl", 2),
                         target),
            Program("write_bytes > file", [settings.program("write_bytes"), size], target)]


def same_lines(settings, file, emit):
    """Does the hand-written loop print what pdecode prints of these samples?"""
    mine, its = settings.work / "pdecode.jsonl", settings.work / "emitted.jsonl"
    with open(mine, "wb") as out:
        subprocess.run(
            list(map(str, pdecode(settings, file.path, "jsonl", 2, "--types", "SAMPLE"))),
            stdout=out, check=False)
    with open(its, "wb") as out:
        subprocess.run(list(map(str, emit)), stdout=out, check=False)
    with open(mine, "rb") as a, open(its, "rb") as b:
        its_lines = sum(1 for _ in b)
        b.seek(0)
        samples = (line for line in a if line.startswith(b'{"kind":"record"'))
        same = all(x == y for x, y in zip(samples, b)) and next(samples, None) is None
    mine.unlink()
    its.unlink()
    return same and its_lines > 0


def emitter(settings, file):
    info = file.stats["file"]
    return [settings.program("emit_short"), file.path, info["data_offset"], info["data_size"],
            "cpu-clock"]


def measure_kind(settings, file, perf, notes):
    programs = programs_for(settings, file, perf)
    if not file.compressed:
        programs += to_file(settings, file)
    if file.name == "short":
        programs.append(Program("emit_short", emitter(settings, file)))
        programs.append(Program("emit_short > file", emitter(settings, file),
                                settings.work / "output"))
        if not same_lines(settings, file, emitter(settings, file)):
            notes.append(
                "emit_short does not print the lines that pdecode prints: its times mean nothing")
    measure(settings, programs)
    return {"input": file.describe(), "programs": [summary(one, file.bytes) for one in programs]}


def decode(settings, report):
    perf = shutil.which(os.environ.get("PERF") or "perf")
    if not perf:
        report.skip("perf", "no perf in PATH: pdecode is measured alone")
    for compressed in (False, True):
        for kind in KINDS:
            name = kind.name + (" zstd" if compressed else "")
            try:
                file = make(settings, kind, compressed)
            except CantRecord as reason:
                report.skip(name, str(reason))
                continue
            result = measure_kind(settings, file, perf, report.notes)
            report.add_decode(result)
            if not compressed:
                two_threads(settings, report, file)
            if kind.name == "short" and not compressed:
                growth(settings, report, file)
            file.remove()


def two_threads(settings, report, file):
    """One thread and two in turn, with nothing between them, and for so long that starting them
    does not count."""
    path = settings.work / "grown.data"
    multiply(settings, file.base, path, LONG * settings.bytes)
    done = []
    for form in ("jsonl",):
        one = pdecode(settings, path, form, 1)
        programs = [Program(f"pdecode {form} -j1", one),
                    Program(f"pdecode {form} -j2", pdecode(settings, path, form, 2)),
                    Program(f"two pdecode {form} -j1 at once", twice(one))]
        measure(settings, programs)
        done += programs
    size = stats_of(settings, path)["file"]["data_size"]
    report.add_threads({"kind": file.name, "bytes": size,
                        "programs": [summary(one, size) for one in done]})
    path.unlink()


def growth(settings, report, file):
    """Time and memory as a recording gets longer: with 200 MB a kind, 10 MB, 100 MB and 1 GB."""
    path = settings.work / "grown.data"
    for factor in (0.05, 0.5, LONG):
        multiply(settings, file.base, path, int(settings.bytes * factor))
        size = stats_of(settings, path)["file"]["data_size"]
        programs = [Program(f"pdecode {name}", pdecode(settings, path, *args)) for name, args in (
            ("stats -j1", ("stats", 1)), ("jsonl -j1", ("jsonl", 1)), ("jsonl -j2", ("jsonl", 2)),
            ("json -j2", ("json", 2)),
            ("jsonl --sort time -j1", ("jsonl", 1, "--sort", "time")))]
        measure(settings, programs, rounds=min(settings.rounds, 3))
        report.add_growth({"bytes": size, "programs": [
            {**summary(one, size),
             "cpu_ms_per_mb": round(1e3 * median([r.cpu for r in one.runs]) / (size / 1e6), 3)}
            for one in programs if one.runs]})
        path.unlink()
