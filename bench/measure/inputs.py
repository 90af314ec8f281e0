"""The files that are measured: recorded here with precord, and multiplied where recording so much
would take minutes."""
import json
import os
import pathlib
import signal
import subprocess

RECORD_SECONDS = 10     # no recording takes longer; a shorter one is multiplied
PILOT_SECONDS = 0.3

# Programs of this machine that do different things: samples all over kernel and libraries.
MIXED = ("find /usr -xdev -type f -print0 2>/dev/null | xargs -0 -n 64 md5sum 2>/dev/null | sort | "
         "gzip >/dev/null & "
         "while :; do find /usr/share /usr/lib -name '*.so*' 2>/dev/null | xargs ls -l 2>/dev/null "
         "| sort >/dev/null; done")


class Kind:
    """options: precord's; load: words for bench/programs/load, to which a number is added, or None:
    what MIXED does."""

    def __init__(self, name, what, options, load, pilot):
        self.name, self.what, self.options, self.load, self.pilot = name, what, options, load, pilot


# 10 kHz of a clock is as much as virtual machines bear: the volume comes from page faults and
# tracepoints.
KINDS = [
    Kind("short", "cpu-clock samples of 5 fields, no chains",
         ["-e", "cpu-clock", "-F", "9000", "-P", "--sample-cpu"], None, None),
    Kind("chains", "page faults with chains by frame pointers",
         ["-e", "page-faults", "-c", "1", "-g"], "chains", 20000),
    Kind("dwarf", "page faults with copies of 8 KiB of stack",
         ["-e", "page-faults", "-c", "1", "--call-graph", "dwarf"], "chains", 500),
    Kind("tracepoints", "raw_syscalls:sys_enter", ["-e", "raw_syscalls:sys_enter"], "syscalls",
         50000),
    Kind("side-band", "maps, names, forks and execs, no samples", ["-e", "dummy"], "storm", 5000),
]


class Input:
    def __init__(self, kind, path, compressed):
        self.kind, self.path, self.compressed = kind, pathlib.Path(path), compressed
        self.base = self.path   # the recording itself
        self.times = 1          # how often it was multiplied
        self.command = None
        self.stats = None

    @property
    def name(self):
        return self.kind.name + (" zstd" if self.compressed else "")

    @property
    def bytes(self):
        """Bytes of the records after decompression."""
        packed = self.stats.get("compressed")
        return packed["out"] if packed else self.stats["file"]["data_size"]

    @property
    def records(self):
        return self.stats["records"]

    def remove(self):
        self.path.unlink(missing_ok=True)
        self.base.unlink(missing_ok=True)

    def describe(self):
        return {"kind": self.name, "what": self.kind.what, "file_bytes": os.path.getsize(self.path),
                "bytes": self.bytes, "records": self.records, "lost": lost(self.stats),
                "multiplied": self.times, "recorded_with": self.command}


def lost(stats):
    """Returns the number of lost samples: LOST records count them as it happens, LOST_SAMPLES all
    of them at the end."""
    return max(stats["lost"], stats["lost_samples"])


class CantRecord(Exception):
    pass


def stats_of(settings, path):
    done = subprocess.run([settings.tool("pdecode"), "-f", "stats", str(path)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise CantRecord(f"pdecode: {done.stderr.decode(errors='replace').strip()[:200]}")
    return json.loads(done.stdout)


def tracefs(settings):
    """Tracepoints need it; None, or why it can't be had."""
    where = pathlib.Path("/sys/kernel/tracing")
    if (where / "events").is_dir():
        return None
    if os.geteuid() != 0:
        return f"{where} is not mounted, and mounting it needs root"
    done = subprocess.run(["mount", "-t", "tracefs", "nodev", str(where)], stderr=subprocess.PIPE,
                          check=False)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip()


def record(settings, path, options, command):
    """Returns the command line. Processes that the command leaves running are ended."""
    full = [settings.tool("precord"), "-q", "-m", "8M", *options, "-o", str(path), "--",
            *map(str, command)]
    path.unlink(missing_ok=True)
    said = settings.work / "stderr"
    with open(said, "wb") as err:
        process = subprocess.Popen(full, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=err, cwd=settings.work, start_new_session=True)
        process.wait(600)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if not path.exists() or not path.stat().st_size:
        raise CantRecord(said.read_text(errors="replace").strip()[:300]
                         or f"exit status {process.returncode}")
    line = " ".join(["precord", *full[1:]]).replace(str(settings.work) + "/", "")
    return line.replace(MIXED, "'a shell that runs find, ls, md5sum, sort and gzip'")


def multiply(settings, source, target, size, level=None):
    """Returns how often the records of `source` stand in `target`."""
    command = [settings.program("multiply"), str(source), str(target), str(size),
               *([str(level)] if level else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise CantRecord(done.stderr.decode(errors="replace").strip())
    return int(done.stdout)


def _mixed(settings, kind, path, extra):
    seconds = min(RECORD_SECONDS, max(PILOT_SECONDS, settings.mb / 10))
    return record(settings, path, [*kind.options, *extra, "--duration", f"{seconds:.1f}"],
                  ["sh", "-c", MIXED])


def _loaded(settings, kind, path, extra):
    """As much as is wanted, or as much as can be had in the time, by a small recording."""
    load = settings.program("load")
    record(settings, path, [*kind.options, *extra], [load, kind.load, kind.pilot])
    stats = stats_of(settings, path)
    packed = stats.get("compressed")
    size = packed["out"] if packed else stats["file"]["data_size"]
    took = stats.get("duration", 1) / 1e9
    times = min(1.05 * settings.bytes / size, RECORD_SECONDS / max(took, 1e-3))
    return record(settings, path, [*kind.options, *extra],
                  [load, kind.load, max(1, int(kind.pilot * times))])


def make(settings, kind, compressed):
    """An Input of that kind; CantRecord with the reason."""
    reason = tracefs(settings) if kind.name == "tracepoints" else None
    if reason:
        raise CantRecord(reason)
    file = Input(kind, settings.work / f"{kind.name}{'-zstd' if compressed else ''}.data",
                 compressed)
    raw = settings.work / "recorded.data"
    make_one = _loaded if kind.load else _mixed
    file.command = make_one(settings, kind, raw, ["-z"] if compressed else [])
    file.stats = stats_of(settings, raw)
    if not file.records:
        raise CantRecord("nothing was recorded")
    if file.bytes < 0.95 * settings.bytes:
        file.times = multiply(settings, raw, file.path, settings.bytes, 1 if compressed else None)
        file.base = raw
        file.stats = stats_of(settings, file.path)
    else:
        os.replace(raw, file.path)
    return file
