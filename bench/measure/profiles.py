"""preport compared with perf report and perf script, on a recording with call graphs."""
import os
import shutil

from inputs import KINDS, CantRecord, make
from measure import Program, measure, summary

FORMATS = ("folded", "top", "flamegraph", "pprof", "script", "firefox", "speedscope")


def programs_for(settings, path, perf):
    found = [Program(f"preport {name}", [settings.tool("preport"), "-f", name, "-o", "-", path])
             for name in FORMATS]
    if perf:
        found += [
            Program("perf script", [perf, "script", "--no-inline", "-i", path]),
            Program("perf report", [perf, "report", "--stdio", "--no-inline", "-i", path]),
        ]
    return found


def profiles(settings, report):
    kind = next(kind for kind in KINDS if kind.name == "chains")
    perf = shutil.which(os.environ.get("PERF") or "perf")
    try:
        file = make(settings, kind, False)
    except CantRecord as error:
        report.skip("profiles", str(error))
        return
    programs = measure(settings, programs_for(settings, file.path, perf))
    report.add_profiles({"input": file.describe(),
                         "programs": [summary(one, file.bytes) for one in programs]})
    file.remove()
