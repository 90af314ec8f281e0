"""The content of a perf.data file according to Debian's perf (6.1, 6.12), with the names of this
project's JSON contract.

    perf report -D          every record, with its bytes and decoded values, and counts by type
    perf script             the samples in order of time
    perf report --header-only -I, perf evlist -v

Only values that perf prints are used; nothing here decodes a record. Each parser states the
oddities of perf's output that it must know.
"""
from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess

TIMEOUT = 300

# perf's names in `PERF_RECORD_...` lines and in the counts -> the contract's.
RENAMED = {"ATTR": "HEADER_ATTR", "EVENT_TYPE": "HEADER_EVENT_TYPE",
           "TRACING_DATA": "HEADER_TRACING_DATA", "BUILD_ID": "HEADER_BUILD_ID",
           "FEATURE": "HEADER_FEATURE"}


def total_events(text):
    """The number of records of each type in the output of perf report --stats."""
    counts = {}
    totals = text.partition("TOTAL events:")[2]     # followed by those of each event
    for name, count in re.findall(r"^\s*(\w+) events:\s+(\d+)", totals, re.M):
        counts.setdefault(RENAMED.get(name, name), int(count))
    return counts


TYPE_NAMES = {
    1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE", 7: "FORK",
    8: "READ", 9: "SAMPLE", 10: "MMAP2", 11: "AUX", 12: "ITRACE_START", 13: "LOST_SAMPLES",
    14: "SWITCH", 15: "SWITCH_CPU_WIDE", 16: "NAMESPACES", 17: "KSYMBOL", 18: "BPF_EVENT",
    19: "CGROUP", 20: "TEXT_POKE", 21: "AUX_OUTPUT_HW_ID", 64: "HEADER_ATTR",
    65: "HEADER_EVENT_TYPE", 66: "HEADER_TRACING_DATA", 67: "HEADER_BUILD_ID", 68: "FINISHED_ROUND",
    69: "ID_INDEX", 70: "AUXTRACE_INFO", 71: "AUXTRACE", 72: "AUXTRACE_ERROR", 73: "THREAD_MAP",
    74: "CPU_MAP", 75: "STAT_CONFIG", 76: "STAT", 77: "STAT_ROUND", 78: "EVENT_UPDATE",
    79: "TIME_CONV", 80: "HEADER_FEATURE", 81: "COMPRESSED", 82: "FINISHED_INIT",
}

# The header of pipe mode: perf counts offsets after it, the contract from the file's start.
PIPE_HEADER = 16


class PerfFailed(Exception):
    """perf can't read the file, or not all of it; the text is the reason that perf prints."""


def run_perf(perf, args, timeout=TIMEOUT):
    """Returns the exit code, stdout as text (bytes that are not UTF-8 as surrogates) and stderr.

    Without a home there are no settings and no cache of binaries. It also makes perf 6.1 refuse
    files that it can't read: that depends on the errno of the failed lookup of ~/.perfconfig; if
    the file exists, perf continues with events that it has not read.
    """
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PERF_")}
    environment.update(LC_ALL="C", TZ="UTC", HOME="/nonexistent", XDG_CONFIG_HOME="/nonexistent")
    done = subprocess.run([perf, "--no-pager", *map(str, args)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                          env=environment)
    return (done.returncode, done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "replace"))


def version(perf):
    """"6.1.187"."""
    return re.sub(r"^perf version ", "", run_perf(perf, ["--version"])[1].strip())


FAILURE = re.compile(
    r"incompatible file format|failed to process|bad event header size|unexpected end of event|"
    r"decompress|file is truncated|unsupported ABI|file .* has no samples!|error", re.I)


def failure(stderr):
    """perf's reason in one line, or None. perf's exit code is 0 even after an aborted dump."""
    found = [line.strip() for line in stderr.split("\n") if FAILURE.search(line)
             and line.strip() != "Error:"]
    return "; ".join(dict.fromkeys(found)) or None


# --- perf report -D -------------------------------------------------------------------------------

@dataclasses.dataclass
class DumpRecord:
    """One record of `perf report -D`."""
    # as perf prints it: in a file, an inner record has that of its COMPRESSED record
    offset: int
    size: int
    type_id: int
    file: str | None            # "data.N" in a directory
    raw: bytearray              # the record, byte for byte
    said_size: int | None = None
    type: str | None = None     # from the PERF_RECORD_ line; None if there is none
    cpu: int | None = None      # of the sample or the trailer; None if perf does not print it
    time: int | None = None
    details: dict = dataclasses.field(default_factory=dict)


HEAD = re.compile(r"(0x[0-9a-f]+|0)@(.*) \[(0x[0-9a-f]+)\]: event: (\d+)$")
BODY = re.compile(
    r"(?:(-?\d+) )?(?:(-?\d+) )?(0x[0-9a-f]+|0) \[(0x[0-9a-f]+)\]: PERF_RECORD_([A-Z0-9_]+)(.*)$",
    re.DOTALL)
HEX = r"(0x[0-9a-f]+|0)"
INT = r"(-?\d+)"
UNKNOWN_CPU = 0xffffffff
UNKNOWN_U64 = 0xffffffffffffffff


def hexa(text):
    return int(text, 16)


def _fields(pattern, *names):
    """Detail parser: groups of `pattern` under `names`; a name ending in ! is hex, in $ text."""
    compiled = re.compile(pattern + r"\s*$", re.DOTALL)

    def parse(text, record):
        match = compiled.match(text)
        if not match:
            raise ValueError(f"can't read {text!r} of a {record.type} record")
        for name, value in zip(names, match.groups()):
            if value is None:
                continue
            if name.endswith("!"):
                record.details[name[:-1]] = hexa(value)
            elif name.endswith("$"):
                record.details[name[:-1]] = value
            else:
                record.details[name] = int(value)
    return parse


def _text_at_end(pattern, *names):
    """The same; the last group is text that runs to the end of the line, blanks included."""
    compiled = re.compile(pattern + r"(.*)$", re.DOTALL)
    numbers = _fields(pattern, *names[:-1])

    def parse(text, record):
        match = compiled.match(text)
        if not match:
            raise ValueError(f"can't read {text!r} of a {record.type} record")
        numbers(text[:match.start(compiled.groups)], record)
        record.details[names[-1]] = match.group(compiled.groups)
    return parse


def _mmap2(text, record):
    match = re.match(rf" {INT}/{INT}: \[{HEX}\({HEX}\) @ {HEX} "
                     r"(?:([0-9a-f]+):([0-9a-f]+) (\d+) (\d+)|<([0-9a-f]*)>)\]: "
                     r"([r-])([w-])([x-])([sp]) (.*)$", text, re.DOTALL)
    if not match:
        raise ValueError(f"can't read {text!r} of a MMAP2 record")
    (pid, tid, addr, length, pgoff, major, minor, inode, generation, build_id, r, w, x, shared,
     name) = match.groups()
    record.details.update(pid=int(pid), tid=int(tid), addr=hexa(addr), len=hexa(length),
                          pgoff=hexa(pgoff), filename=name,
                          prot=(r == "r") + 2 * (w == "w") + 4 * (x == "x"), shared=shared == "s")
    if build_id is None:
        record.details.update(maj=hexa(major), min=hexa(minor), ino=int(inode),
                              ino_generation=int(generation))
    else:
        record.details["build_id"] = build_id


def _comm(text, record):
    match = re.match(rf"( exec)?: (.*):{INT}/{INT}$", text, re.DOTALL)
    record.details.update(exec=match[1] is not None, comm=match[2], pid=int(match[3]),
                          tid=int(match[4]))


def _switch(text, record):
    match = re.match(r" (IN|OUT preempt|OUT) *(?:(?:next|prev) pid/tid: *(-?\d+)/(-?\d+))?\s*$",
                     text)
    record.details["switch"] = match[1]
    if match[2] is not None:
        record.details.update(next_prev_pid=int(match[2]), next_prev_tid=int(match[3]))


def _sample(text, record):
    if not text.strip():
        return      # perf has no event for it
    match = re.match(rf"\(IP, 0x([0-9a-f]+)\): {INT}/{INT}: {HEX} period: (\d+) addr: {HEX}$", text)
    record.details.update(misc=int(match[1], 16), pid=int(match[2]), tid=int(match[3]),
                          ip=hexa(match[4]), period=int(match[5]), addr=hexa(match[6]))


def _read(text, record):
    match = re.match(rf": {INT} {INT} (.*) (\d+)$", text)
    record.details.update(pid=int(match[1]), tid=int(match[2]), event=match[3], value=int(match[4]))


def _thread_map(text, record):
    match = re.match(r" nr: (\d+) threads?: (.*)$", text)
    record.details.update(nr=int(match[1]),
                          threads=[int(pid) for pid in re.findall(r"-?\d+", match[2])])


def cpu_list(text):
    """[0, 1, 2, 5] of "0-2,5"; "-1" stands for any cpu."""
    cpus = []
    for part in filter(None, text.strip().split(",")):
        match = re.match(r"(-1|\d+)(?:-(\d+))?$", part)
        cpus.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return cpus


def _cpu_map(text, record):
    record.details["cpus"] = cpu_list(text.lstrip(": "))


def _nothing(text, record):
    if text.strip() not in ("", ": unhandled!"):
        raise ValueError(f"did not expect {text!r} of a {record.type} record")


# The text on the PERF_RECORD_ line after the type.
FIRST_LINE = {
    "MMAP": _text_at_end(rf" {INT}/{INT}: \[{HEX}\({HEX}\) @ {HEX}\]: (\S) ", "pid", "tid", "addr!",
                         "len!", "pgoff!", "kind$", "filename"),
    "MMAP2": _mmap2,
    "COMM": _comm,
    "FORK": _fields(r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)", "pid", "tid", "ppid", "ptid"),
    "EXIT": _fields(r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)", "pid", "tid", "ppid", "ptid"),
    "SAMPLE": _sample,
    "READ": _read,
    "LOST": _fields(r": id:(\d+): lost:(\d+)", "id", "lost"),
    "LOST_SAMPLES": _fields(r": id:(\d+): lost samples :(\d+)", "sample_id", "lost"),
    "SWITCH": _switch,
    "SWITCH_CPU_WIDE": _switch,
    "ITRACE_START": _fields(rf" pid: {INT} tid: {INT}", "pid", "tid"),
    "AUX": _fields(rf" offset: {HEX} size: {HEX} flags: {HEX} \[.*\]", "aux_offset!", "aux_size!",
                   "flags!"),
    "NAMESPACES": _fields(rf" {INT}/{INT} - nr_namespaces: (\d+).*", "pid", "tid", "nr_namespaces"),
    "KSYMBOL": _text_at_end(rf" addr ([0-9a-f]+) len (\d+) type (\d+) flags {HEX} name ", "addr!",
                            "len", "ksym_type", "flags!", "name"),
    "BPF_EVENT": _fields(r"(?: type (\d+), flags (\d+), id (\d+))?", "bpf_type", "flags", "id"),
    "CGROUP": _text_at_end(r" cgroup: (\d+) ", "id", "path"),
    "ID_INDEX": _fields(r" nr: (\d+)", "nr"),
    "AUXTRACE_INFO": _fields(r" type: (\d+)", "auxtrace_type"),
    "AUXTRACE":
        _fields(rf" size: {HEX}  offset: {HEX}  ref: {HEX}  idx: {INT}  tid: {INT}  cpu: {INT}",
                "data_size!", "data_offset!", "reference!", "idx", "tid", "cpu"),
    "THREAD_MAP": _thread_map,
    "CPU_MAP": _cpu_map,
}

# The lines after it: the beginning, the type, and a function that takes the values.
UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def page_size(text):
    match = re.match(r"(\d+)([BKMG]?)$", text)
    return int(match[1]) * UNITS[match[2]] if match else 0      # "N/A"


LINES = [(re.compile(pattern), types.split(), parse) for pattern, types, parse in [
    (r" \.\.\. id: (\d+)  idx: (\d+)  cpu: (-?\d+)  tid: (-?\d+)", "ID_INDEX",
     lambda d, m: d.setdefault("entries", []).append(dict(zip(("id", "idx", "cpu", "tid"),
                                                              map(int, m.groups()))))),
    (r"\.\.\. id: +(\d+)$", "EVENT_UPDATE", lambda d, m: d.update(id=int(m[1]))),
    (r"\.\.\. unit: +(.*)$", "EVENT_UPDATE", lambda d, m: d.update(unit=m[1])),
    (r"\.\.\. name: +(.*)$", "EVENT_UPDATE", lambda d, m: d.update(name=m[1])),
    (r"\.\.\. scale: +(\S+)$", "EVENT_UPDATE", lambda d, m: d.update(scale=float(m[1]))),
    (r"\.\.\. (\S.*)$", "EVENT_UPDATE", lambda d, m: d.update(cpus=cpu_list(m[1]))),
    (r"\.\.\. aggr_mode +(\d+)$", "STAT_CONFIG", lambda d, m: d.update(aggr_mode=int(m[1]))),
    (r"\.\.\. scale +(\d+)$", "STAT_CONFIG", lambda d, m: d.update(scale=int(m[1]))),
    (r"\.\.\. interval +(\d+)$", "STAT_CONFIG", lambda d, m: d.update(interval=int(m[1]))),
    (r"\.\.\. id (\d+), cpu (-?\d+), thread (-?\d+)$", "STAT",
     lambda d, m: d.update(id=int(m[1]), cpu=int(m[2]), thread=int(m[3]))),
    (r"\.\.\. value (\d+), enabled (\d+), running (\d+)$", "STAT",
     lambda d, m: d.update(val=int(m[1]), ena=int(m[2]), run=int(m[3]))),
    (r"\.\.\. time (\d+), type (\S+)$", "STAT_ROUND",
     lambda d, m: d.update(time=int(m[1]), round_type=m[2])),
    (r"\.\.\. Time Shift +(\d+)$", "TIME_CONV", lambda d, m: d.update(time_shift=int(m[1]))),
    (r"\.\.\. Time Muliplier +(\d+)$", "TIME_CONV", lambda d, m: d.update(time_mult=int(m[1]))),
    (r"\.\.\. Time Zero +(\d+)$", "TIME_CONV", lambda d, m: d.update(time_zero=int(m[1]))),
    (r"\.\.\. Time Cycles +(\d+)$", "TIME_CONV", lambda d, m: d.update(time_cycles=int(m[1]))),
    (r"\.\.\. Time Mask +(?:0x)?([0-9a-f]+)$", "TIME_CONV",
     lambda d, m: d.update(time_mask=int(m[1], 16))),
    (r"\.\.\. Cap Time Zero +(\d+)$", "TIME_CONV",
     lambda d, m: d.update(cap_user_time_zero=int(m[1]))),
    (r"\.\.\. Cap Time Short +(\d+)$", "TIME_CONV",
     lambda d, m: d.update(cap_user_time_short=int(m[1]))),
    (r"\.\.\. time enabled : (\d+)$", "READ", lambda d, m: d.update(time_enabled=int(m[1]))),
    (r"\.\.\. time running : (\d+)$", "READ", lambda d, m: d.update(time_running=int(m[1]))),
    (r"\.\.\. id +: (\d+)$", "READ", lambda d, m: d.update(id=int(m[1]))),
    (r"\.\.\. lost +: (\d+)$", "READ", lambda d, m: d.update(lost=int(m[1]))),
    (r"\t\t[ \[](.*)$", "NAMESPACES",
     lambda d, m: d.setdefault("namespaces", []).extend(
         {"dev": int(dev), "inode": int(inode, 16)}
         for dev, inode in re.findall(r"\d+/\w+: (\d+)/(0x[0-9a-f]+|0)", m[1]))),
    (r"  (\S.*?) {2,}(0x[0-9a-f]+|\d+)$", "AUXTRACE_INFO",
     lambda d, m: d.setdefault("words", []).append((m[1], int(m[2], 0)))),
    (r"  Filter string +(.*)$", "AUXTRACE_INFO", lambda d, m: d.update(filter=m[1])),
    (r"  (\S+(?: \S+)*) +(0x[0-9a-f]+|\d+)$", "AUXTRACE_INFO",
     lambda d, m: d.setdefault("words", []).append((m[1], int(m[2], 0)))),
    (r"\.\.\. (FP|LBR) chain: nr:(\d+)$", "SAMPLE",
     lambda d, m: d.update(callchain=[], callchain_nr=int(m[2]))),
    (r"\.\.\. branch stack: nr:(\d+)$", "SAMPLE",
     lambda d, m: d.update(branches=[], branches_nr=int(m[1]))),
    (r"\.\.\. branch callstack: nr:(\d+)$", "SAMPLE",
     lambda d, m: d.update(callstack=[], branches_nr=int(m[1]))),
    (r"\.{5} +\d+: ([0-9a-f]{16})$", "SAMPLE",
     lambda d, m: d["callstack" if "callstack" in d else "callchain"].append(hexa(m[1]))),
    (r"\.{5} +\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16}) (-?\d+) cycles ([M ])([P ])([A ])([T ]) "
     r"([0-9a-f]+) ?(.*)$",
     "SAMPLE",
     lambda d, m: d["branches"].append({"from": hexa(m[1]), "to": hexa(m[2]),
                                        "cycles": int(m[3]) & 0xffff, "mispred": m[4] == "M",
                                        "predicted": m[5] == "P", "abort": m[6] == "A",
                                        "in_tx": m[7] == "T"})),
    (r"\.\.\. (user|intr) regs: mask (0x[0-9a-f]+|0) ABI (\S+)$", "SAMPLE",
     lambda d, m: d.update({"regs": d.setdefault("regs_" + m[1], {}), "abi_" + m[1]: m[3]})),
    (r"\.{4} (\S+) +0x([0-9a-f]+)$", "SAMPLE",
     lambda d, m: d["regs"].update({m[1].lower(): hexa(m[2])})),
    (r"\.\.\. ustack: size (\d+), offset (0x[0-9a-f]+|0)$", "SAMPLE",
     lambda d, m: d.update(stack_dyn_size=int(m[1]), stack_offset=hexa(m[2]))),
    (r"\.\.\. weight: (\d+)(?:,0x([0-9a-f]+),0x([0-9a-f]+))?$", "SAMPLE",
     lambda d, m: d.update(weight=int(m[1]),
                           **({} if m[2] is None else {"weight_parts": (hexa(m[2]), hexa(m[3]))}))),
    (r" \. data_src: (0x[0-9a-f]+|0)", "SAMPLE", lambda d, m: d.update(data_src=hexa(m[1]))),
    (r" \.\. phys_addr: (0x[0-9a-f]+|0)$", "SAMPLE", lambda d, m: d.update(phys_addr=hexa(m[1]))),
    (r" \.\. data page size: (\S+)$", "SAMPLE",
     lambda d, m: d.update(data_page_size=page_size(m[1]))),
    (r" \.\. code page size: (\S+)$", "SAMPLE",
     lambda d, m: d.update(code_page_size=page_size(m[1]))),
    (r"\.\.\. transaction: ([0-9a-f]+)$", "SAMPLE", lambda d, m: d.update(transaction=hexa(m[1]))),
    (r"\.\.\. sample_read:$", "SAMPLE", lambda d, m: d.update(read={"values": []})),
    (r"\.{6} time enabled ([0-9a-f]{16})$", "SAMPLE",
     lambda d, m: d["read"].update(time_enabled=hexa(m[1]))),
    (r"\.{6} time running ([0-9a-f]{16})$", "SAMPLE",
     lambda d, m: d["read"].update(time_running=hexa(m[1]))),
    (r"\.{4} group nr (\d+)$", "SAMPLE", lambda d, m: d["read"].update(nr=int(m[1]))),
    (r"\.{5} id ([0-9a-f]{16}), value ([0-9a-f]{16})(?:, lost (\d+))?$", "SAMPLE",
     lambda d, m: d["read"]["values"].append({"id": hexa(m[1]), "value": hexa(m[2]),
                                              **({} if m[3] is None else {"lost": int(m[3])})})),
    (r" \.{3} thread: ", "SAMPLE", lambda d, m: None),
    (r" \.{6} dso: ", "SAMPLE", lambda d, m: None),
]]
# AUX data decoded (". ... Intel Processor Trace data", ".  00000000: 02 82 ... PSB") and perf's
# remarks.
NO_DETAIL = (". ... ", ".  ", "WARNING: ", "#")
LINES_OF = {}
for _pattern, _types, _parse in LINES:
    for _type in _types:
        LINES_OF.setdefault(_type, []).append((_pattern, _parse))


@dataclasses.dataclass
class Dump:
    records: list
    counts: dict            # type -> number, from the end of the dump
    failure: str | None     # the reason why perf stopped before the end


def parse_dump(text, pipe, lone="time"):
    """The records of `perf report -D` in perf's order, which is that of time for records that have
    one.

    perf prints cpu and time before the offset, each only if an event of the file samples it; if it
    prints only one, `lone` is its name. It prints "-1 -1" if the events have no sample_id_all,
    2^32-1 for a sample without cpu, 2^64-1 for one without time, and zeroes before its own records.
    """
    records = []
    counts = {}
    record = None
    in_counts = False
    for line in text.split("\n"):
        if line.startswith(".  ") and line[7:8] == ":":
            if record is not None and record.type is None:
                record.raw += bytes.fromhex(line[8:57])
            continue
        if not line or line == ".":
            continue
        if line.startswith("Aggregated stats:"):    # "... (excludes AUX area ...)"
            in_counts = True
            continue
        if in_counts:
            match = re.match(r" *([A-Z0-9_]+) events: +(\d+)", line)
            if not match:
                # "cpu-clock stats:": by event, where perf counts a sample's branches one by one
                break
            counts[RENAMED.get(match[1], match[1])] = int(match[2])
            continue
        match = HEAD.match(line) if line[0] == "0" else None
        if match:
            name = pathlib.PurePath(match[2]).name
            record = DumpRecord(int(match[1], 16) + (PIPE_HEADER if pipe else 0), int(match[3], 16),
                                int(match[4]), name if re.match(r"data\.\d+$", name) else None,
                                bytearray())
            records.append(record)
            continue
        if record is None:
            continue
        if record.type is None:
            match = re.match(r"\. \.\.\. raw event: size (\d+) bytes$", line)
            if match:
                record.said_size = int(match[1])
                continue
            match = BODY.match(line)
            if match:
                _first_line(record, match, lone)
                continue
        for pattern, parse in LINES_OF.get(record.type, ()):
            match = pattern.match(line)
            if match:
                parse(record.details, match)
                break
        else:
            if line != ": unhandled!" and not line.startswith(NO_DETAIL):
                raise ValueError(f"can't read {line!r} of a {record.type} record")
    for record in records:
        record.details.pop("regs", None)
    return records, counts


def _first_line(record, match, lone):
    record.type = RENAMED.get(match[5], match[5])
    if int(match[4], 16) != record.size:
        raise ValueError(
            f"perf gives record {record.offset:#x} two sizes: {record.size:#x} and {match[4]}")
    numbers = [int(number) for number in match.groups()[:2] if number is not None]
    if numbers != [-1, -1] and record.type_id < 64:
        told = dict(zip((lone,) if len(numbers) == 1 else ("cpu", "time"), numbers))
        record.cpu, record.time = told.get("cpu"), told.get("time")
        if record.cpu == UNKNOWN_CPU:
            record.cpu = None
        if record.time == UNKNOWN_U64:
            record.time = None
    FIRST_LINE.get(record.type, _nothing)(match[6], record)


def is_pipe(path):
    """Whether a file is in pipe mode: its header is 16 bytes long."""
    if pathlib.Path(path).is_dir():
        return False
    with open(path, "rb") as file:
        head = file.read(16)
    return head[:8] in (b"PERFILE2", b"2ELIFREP", b"PERFFILE") and b"\x10" == head[8:].strip(b"\0")


def event_list(perf, path):
    """The events that `perf evlist -v` lists. [] is legal: perf finds none in some pipes that it
    can dump.

    perf 6.1 has no name for TRANSACTION in sample_type and leaves it out.
    """
    _, output, stderr = run_perf(perf, ["evlist", "-v", "-f", "-i", path])
    if failure(stderr) and not output.strip():
        raise PerfFailed(failure(stderr))
    events = []
    for line in output.split("\n"):
        # An event's name contains no ": ".
        match = re.match(r"(.*?): (?:type: \d+(?: \(.*?\))?, )?size: \d+, ", line)
        if match:
            attr = _attr(line[match.end(1) + 2:])
            events.append({"name": match[1], "attr": attr,
                           "sample_type": attr.get("sample_type", [])})
    return events


def dump(perf, path):
    """The dump of a file by `perf report -D`. Raises PerfFailed if there is none."""
    code, output, stderr = run_perf(perf, ["report", "-D", "-f", "--no-inline", "-i", path])
    reason = failure(stderr)
    if code != 0 or not output:
        raise PerfFailed(reason or stderr.strip() or f"exit {code}")
    sampled = set().union(*(event["sample_type"] for event in event_list(perf, path)))
    records, counts = parse_dump(output, is_pipe(path), "cpu" if "CPU" in sampled
                                 and "TIME" not in sampled else "time")
    return Dump(records, counts, reason)


def stats(perf, path):
    """The counts by type of `perf report --stats`, and the reason if perf stopped before the
    end."""
    _, output, stderr = run_perf(perf, ["report", "--stats", "-f", "-i", path])
    _, counts = parse_dump(output, False)
    return counts, failure(stderr)


# --- perf script ----------------------------------------------------------------------------------

@dataclasses.dataclass
class ScriptSample:
    event: str
    pid: int | None = None
    tid: int | None = None
    cpu: int | None = None
    time: int | None = None
    period: int | None = None
    addr: int | None = None
    ip: int | None = None


def script(perf, path):
    """The samples of `perf script` in its order, and their fields: those that all events of the
    file have.

    perf refuses a field that one event lacks. It prints a sample with counters (READ) once for each
    counter, with the count since the last sample as period, and omits counters with no change. For
    files of `perf stat record` perf prints counts, which are not samples.
    """
    events = event_list(perf, path)
    if any(event["sample_type"] in ([], ["IDENTIFIER"]) for event in events):
        return [], []
    common = (set.intersection(*(set(event["sample_type"]) for event in events)) if events
              else {"TID", "TIME", "IP"})
    parts = [("TID", "pid,tid", rf"\s*{INT}/{INT}\s+", ("pid", "tid")),
             ("CPU", "cpu", r"\s*\[(\d+)\]\s+", ("cpu",)),
             ("TIME", "time", r"\s*(\d+\.\d{9}):\s+", ("time",)),
             ("PERIOD", "period", r"\s*(\d+)\s+", ("period",)),
             (None, "event", r"\s*(\S.*?):(?:\s+|$)", ("event",)),
             ("ADDR", "addr", r"\s*([0-9a-f]+)(?:\s+|$)", ("addr",)),
             ("IP", "ip", r"\s*([0-9a-f]+)\s*$", ("ip",))]
    parts = [part for part in parts if part[0] is None or part[0] in common]
    pattern = re.compile("^" + "".join(part[2] for part in parts))
    names = [name for part in parts for name in part[3]]
    fields = ",".join(part[1] for part in parts)
    code, output, stderr = run_perf(perf, ["script", "-f", "--ns", "-G", "--no-itrace", "-F",
                                           fields, "-i", path])
    reason = failure(stderr)
    if code != 0 or reason:
        raise PerfFailed(reason or stderr.strip() or f"exit {code}")
    samples = []
    for line in output.split("\n"):
        if not line.strip():
            continue
        match = pattern.match(line)
        if not match:
            raise ValueError(f"can't read {line!r} of perf script")
        values = dict(zip(names, match.groups()))
        for name in ("pid", "tid", "cpu", "period"):
            if name in values:
                values[name] = int(values[name])
        for name in ("addr", "ip"):
            if name in values:
                values[name] = int(values[name], 16)
        if "time" in values:
            values["time"] = int(values["time"].replace(".", ""))
        samples.append(ScriptSample(**values))
    return samples, [name for name in names if name != "event"]


# --- perf report --header-only --------------------------------------------------------------------

def _duration(text):
    """ns of perf's "seconds.fraction"."""
    seconds, fraction = text.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


HEADER_LINES = [(re.compile(r"# " + pattern), parse) for pattern, parse in [
    (r"data offset +: (\d+)$", lambda h, m: h.update(data_offset=int(m[1]))),
    (r"data size +: (\d+)$", lambda h, m: h.update(data_size=int(m[1]))),
    (r"feat offset +: (\d+)$", lambda h, m: h.update(feat_offset=int(m[1]))),
    (r"hostname : (.*)$", lambda h, m: h.update(HOSTNAME=m[1])),
    (r"os release : (.*)$", lambda h, m: h.update(OSRELEASE=m[1])),
    (r"perf version : (.*)$", lambda h, m: h.update(VERSION=m[1])),
    (r"arch : (.*)$", lambda h, m: h.update(ARCH=m[1])),
    (r"nrcpus online : (\d+)$", lambda h, m: h.setdefault("NRCPUS", {}).update(online=int(m[1]))),
    (r"nrcpus avail : (\d+)$", lambda h, m: h.setdefault("NRCPUS", {}).update(available=int(m[1]))),
    (r"cpudesc : (.*)$", lambda h, m: h.update(CPUDESC=m[1])),
    (r"cpuid : (.*)$", lambda h, m: h.update(CPUID=m[1])),
    (r"total memory : (\d+) kB$", lambda h, m: h.update(TOTAL_MEM=int(m[1]))),
    (r"cmdline : (.*)$", lambda h, m: h.update(CMDLINE=m[1])),
    (r"event : name = (.*?), , (?:id = \{ ([\d, ]*) \}, )?(.*)$",
     lambda h, m: h.setdefault("EVENT_DESC", []).append(
         {"name": m[1],
          "ids": [int(number) for number in (m[2] or "").split(",") if number.strip()],
          "attr": _attr(m[3])})),
    (r"sibling (sockets|cores|threads|dies) +: (.*)$",
     lambda h, m: h.setdefault("siblings", {}).setdefault(m[1], []).append(m[2].strip())),
    (r"CPU (\d+): Core ID (-?\d+)(?:, Die ID (-?\d+))?, Socket ID (-?\d+)$",
     lambda h, m: h.setdefault("cpus", []).append({"core_id": int(m[2]), "socket_id": int(m[4]),
                                                   **({} if m[3] is None
                                                      else {"die_id": int(m[3])})})),
    (r"node(\d+) meminfo +: total = (\d+) kB, free = (\d+) kB$",
     lambda h, m: h.setdefault("NUMA_TOPOLOGY", []).append({"node": int(m[1]), "total": int(m[2]),
                                                            "free": int(m[3])})),
    (r"node(\d+) cpu list : (.*)$", lambda h, m: h["NUMA_TOPOLOGY"][-1].update(cpus=m[2])),
    (r"pmu mappings: (.*)$",
     lambda h, m: h.update(PMU_MAPPINGS=[(name, int(number)) for name, number
                                         in re.findall(r"(?:^|, )(.+?) = (\d+)", m[1])])),
    (r"group: (.*)\{(.*)\}$",
     lambda h, m: h.setdefault("GROUP_DESC", []).append({"name": m[1], "members": m[2]})),
    (r" L(\d+) (\S+) +(\d+)K \[(.*)\]$",
     lambda h, m: h.setdefault("CACHE", []).append(
         {"level": int(m[1]), "type": m[2], "size": m[3] + "K", "map": m[4]})),
    (r"time of first sample : (\S+)$",
     lambda h, m: h.setdefault("SAMPLE_TIME", []).append(_duration(m[1]))),
    (r"time of last sample : (\S+)$",
     lambda h, m: h.setdefault("SAMPLE_TIME", []).append(_duration(m[1]))),
    (r"memory nodes \(nr (\d+), block size (0x[0-9a-f]+)\):$",
     lambda h, m: h.update(MEM_TOPOLOGY={"nr": int(m[1]), "block_size": int(m[2], 16),
                                         "nodes": []})),
    (r" +(\d+) \[ *\S+\]: ?([\d,-]*)$",
     lambda h, m: h["MEM_TOPOLOGY"]["nodes"].append((int(m[1]), cpu_list(m[2])))
     if "MEM_TOPOLOGY" in h else None),
    (r"clockid frequency: (\d+) MHz$", lambda h, m: h.update(CLOCKID=int(m[1]))),
    (r"clockid: (\S+) \((\d+)\)$", lambda h, m: h.update(CLOCK_DATA=int(m[2]))),
    (r"compressed : (\S+), level = (\d+), ratio = (\d+)$",
     lambda h, m: h.update(COMPRESSED={"type": m[1], "level": int(m[2]), "ratio": int(m[3])})),
    (r"missing features: (.*)$", lambda h, m: h.update(missing=m[1].split())),
]]


def _attr(text):
    """The attributes of an event in perf's list: name -> number, or list of names."""
    attr = {}
    for name, value in re.findall(r"(\{ [^}]* \}|\w+)(?: =|:) ([^,{}]+)(?:, |$)", text):
        name = name.strip("{ }")
        value = value.strip()
        number = re.match(r"(0x[0-9a-f]+|-?\d+)(?: \(.*\))?$", value)    # 6.12: with its name
        if number:
            attr[name] = int(number[1], 0)
        else:
            attr[name] = value.split("|")
    return attr


def header(perf, path):
    """The output of `perf report --header-only -I`: features by the contract's names, and
    `missing`, absent ones."""
    code, output, stderr = run_perf(perf, ["report", "--header-only", "-I", "-f", "-i", path])
    if code != 0:
        raise PerfFailed(failure(stderr) or stderr.strip() or f"exit {code}")
    result = {}
    for line in output.split("\n"):
        for pattern, parse in HEADER_LINES:
            match = pattern.match(line)
            if match:
                parse(result, match)
                break
    return result
