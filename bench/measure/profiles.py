"""preport compared with perf report and perf script, on recordings with call graphs."""
import copy
import os
import shlex
import shutil

from inputs import KINDS, CantRecord, Input, Kind, make, multiply, record, stats_of
from measure import Program, measure, summary

FORMATS = ("folded", "top", "flamegraph", "pprof", "script", "firefox", "speedscope")
MERGED = ("folded", "top", "flamegraph", "pprof")
STREAMS = ("firefox", "speedscope")
MANY = 10_000_000           # samples of the large recording
FEW = 300                   # of the small ones
QUICK = 50                  # the fraction of that for --quick

STACKS = Kind("stacks", "cpu-clock samples with call graphs of everything that runs",
              ["-e", "cpu-clock", "-F", "9000", "-g", "-a"], None, None)


def preport(settings, form, path, jobs=None):
    """One thread, unless they are what is measured."""
    return Program(f"preport {form}" + (f" -j {jobs}" if jobs else ""),
                   [settings.tool("preport"), "-f", form, "-j", str(jobs or 1), "-o", "-", path])


def shell(name, *commands):
    """Programs in a pipe; their times are added up."""
    return Program(name, ["sh", "-c", " | ".join(commands)])


def peers(path):
    perf = shutil.which(os.environ.get("PERF") or "perf")
    collapse = shutil.which(os.environ.get("STACKCOLLAPSE") or "stackcollapse-perf.pl")
    if not perf:
        return []
    script = [perf, "script", "--no-inline", "-i", str(path)]
    found = [Program("perf script", script),
             Program("perf report", [perf, "report", "--stdio", "--no-inline", "-i", path])]
    if collapse:
        found.append(shell("perf script | stackcollapse-perf.pl", shlex.join(script), collapse))
    return found


def without_gzip(settings, path):
    """The work of -f firefox before it compresses: a file of this name is plain."""
    name = settings.work / "firefox.json"
    return Program("preport firefox, plain", [settings.tool("preport"), "-f", "firefox", "-j", "1",
                                              "-o", name, path])


def result(settings, part, file, programs):
    """The measurements of a part, for the report, which finds rows by part and program."""
    return {"part": part, "input": file.describe(),
            "samples": stats_of(settings, file.path)["by_type"]["SAMPLE"]["records"],
            "programs": [summary(one, file.bytes) for one in programs]}


def beside_peers(settings, report, file):
    ours = [preport(settings, form, file.path) for form in FORMATS]
    plain = without_gzip(settings, file.path)
    report.add_profiles(result(settings, "peers", file, measure(
        settings, [*ours, plain, *peers(file.path)])))


def with_threads(settings, report, file):
    programs = [preport(settings, form, file.path, jobs) for form in MERGED for jobs in (1, 2)]
    report.add_profiles(result(settings, "threads", file, measure(settings, programs)))


def of_many_samples(settings, report, file):
    """The same samples again and again, as the times go on."""
    known = stats_of(settings, file.path)["by_type"]["SAMPLE"]
    wanted = MANY // QUICK if settings.quick else MANY
    large = copy.copy(file)
    large.path = settings.work / "many.data"
    large.times = multiply(settings, file.path, large.path,
                           wanted * file.bytes // known["records"])
    large.stats = stats_of(settings, large.path)
    programs = [preport(settings, form, large.path) for form in (*MERGED, *STREAMS)]
    report.add_profiles(result(settings, "many", large, measure(settings, programs, rounds=2)))
    large.path.unlink()


def of_few_samples(settings, report):
    """From start to end: with names of the kernel, and of a program alone."""
    for name, event in (("with the kernel", "cpu-clock"), ("without the kernel", "cpu-clock:u")):
        file = Input(Kind("few", f"{FEW} samples {name}", ["-e", event, "-F", "1000", "-g"], None,
                          None), settings.work / "few.data", False)
        file.command = record(settings, file.path, file.kind.options,
                              ["timeout", str(FEW / 1000), "sh", "-c", "while :; do :; done"])
        file.stats = stats_of(settings, file.path)
        programs = [preport(settings, "top", file.path)]
        report.add_profiles(result(settings, f"few {name}", file, measure(settings, programs)))
        file.path.unlink()


def profiles(settings, report):
    chains = next(kind for kind in KINDS if kind.name == "chains")
    for kind in (chains, STACKS):
        try:
            file = make(settings, kind, False)
            beside_peers(settings, report, file)
            if kind is STACKS:
                with_threads(settings, report, file)
                of_many_samples(settings, report, file)
            file.remove()
        except CantRecord as error:
            report.skip(f"profiles of {kind.name}", str(error))
    try:
        of_few_samples(settings, report)
    except CantRecord as error:
        report.skip("profiles of few samples", str(error))
