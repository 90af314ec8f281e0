"""Runs programs in turn and keeps what each run took."""
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Settings:
    """How much is measured, from the environment and the command line."""

    def __init__(self, build, quick):
        self.build = pathlib.Path(build).resolve()
        self.work = self.build / "bench"
        self.quick = quick
        self.mb = float(os.environ.get("BENCH_MB") or 200)
        self.rounds = int(os.environ.get("BENCH_ROUNDS") or (1 if quick else 5))
        # further rounds of a program are left out when it has used this up
        self.seconds = float(os.environ.get("BENCH_SECONDS") or (1 if quick else 40))
        self.timeout = int(os.environ.get("BENCH_TIMEOUT") or (20 if quick else 300))
        self.syscalls = int(os.environ.get("BENCH_SYSCALLS") or (50_000 if quick else 12_000_000))
        self.home = self.work / "home"      # perf's cache of build ids is not the user's
        self.work.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(exist_ok=True)

    @property
    def bytes(self):
        return int(self.mb * 1e6)

    def tool(self, name):
        return str(self.build / name)

    def program(self, name):
        return str(self.work / name)

    @staticmethod
    def source(name):
        return str(ROOT / "bench" / "programs" / name)

    def environment(self):
        return {**os.environ, "HOME": str(self.home), "PERF_CONFIG": "/dev/null", "LC_ALL": "C",
                "PAGER": "cat"}


class Run:
    """Cost of one run: seconds, KiB."""
    __slots__ = ("wall", "user", "system", "rss", "status", "report")

    def __init__(self, line, report=None):
        wall, user, system, rss, status = line.split()
        self.wall, self.user, self.system = float(wall), float(user), float(system)
        self.rss, self.status = int(rss), int(status)
        self.report = report

    @property
    def cpu(self):
        return self.user + self.system


def run(settings, command, output="/dev/null", environment=None):
    """Runs it once; what it prints goes to `output`, what it complains about to a file of the
    working directory."""
    result = settings.work / "took"
    result.unlink(missing_ok=True)
    with open(output, "wb") as out, open(settings.work / "stderr", "wb") as err:
        subprocess.run([settings.program("timed"), str(result), str(settings.timeout),
                        *map(str, command)],
                       stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=settings.work,
                       env={**settings.environment(), **(environment or {})}, check=True)
    return Run(result.read_text())


def complaint(settings):
    lines = (settings.work / "stderr").read_text(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


class Program:
    """A command to be measured."""

    def __init__(self, name, command, output="/dev/null", expected=(0,)):
        self.name, self.command, self.output, self.expected = name, command, output, expected
        self.runs, self.failed, self.output_bytes = [], None, None


def median(values):
    return statistics.median(values) if values else None


def spread(values):
    """How far apart the runs are, as a part of their median."""
    middle = median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def measure(settings, programs, rounds=None):
    """All programs once, then all of them again: what disturbs the machine for a while disturbs
    each of them."""
    for number in range(rounds or settings.rounds):
        for program in programs:
            used = sum(one.wall for one in program.runs)
            if program.failed or (number and used + used / number > settings.seconds):
                continue
            one = run(settings, program.command, program.output)
            if one.status not in program.expected:
                program.failed = (f"more than {settings.timeout} s" if one.status == 124 else
                                  f"exit status {one.status}: {complaint(settings)}")
                continue
            program.runs.append(one)
            if program.output != "/dev/null":
                program.output_bytes = os.path.getsize(program.output)
                os.unlink(program.output)
    return programs


def summary(program, size):
    """Returns the medians of a program's runs over an input of this size, for the results."""
    if not program.runs:
        return {"program": program.name, "failed": program.failed or "not run"}
    walls, cpus = [one.wall for one in program.runs], [one.cpu for one in program.runs]
    wall, cpu = median(walls), median(cpus)
    return {
        "program": program.name, "runs": len(program.runs),
        "wall": round(wall, 4), "user": round(median([one.user for one in program.runs]), 4),
        "system": round(median([one.system for one in program.runs]), 4), "cpu": round(cpu, 4),
        "wall_spread": round(spread(walls), 3), "cpu_spread": round(spread(cpus), 3),
        "rss_kib": max(one.rss for one in program.runs),
        "mb_per_second": round(size / 1e6 / wall, 1) if wall else None,
        **({"output_bytes": program.output_bytes} if program.output_bytes else {}),
    }
