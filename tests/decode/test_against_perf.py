"""pdecode against Debian's perf: the same records at the same offsets, with the same values.

The comparison goes both ways: everything that perf prints must be in the document, every record of
the document must be known to perf, and keys that perf always prints (callchain, registers, ...)
must be absent where perf does not print them. Numbers are compared as numbers (integer, hex string
or flag word); test_schemas checks how they are written.
"""
import collections
import copy
import gzip
import re
import shutil

import pytest

import perf_oracle
from conftest import FIXTURES
from perf_oracle import PerfFailed

# The messages of perf for files that it does not read, or not to the end. The records that it
# printed before are compared.
UNREADABLE_BY_6_1 = {
    # attributes of 136 bytes or more, with values in members that 6.1 does not know
    "corpus/hotspot/perf.data.PerfFormatLost": "incompatible file format",
    "corpus/linux-perf-data/sleep.compressed.data": "incompatible file format",
    "corpus/linux-perf-data/sleep.data": "incompatible file format",
    "corpus/perfparser/cpp-inlining.perf.data": "incompatible file format",
    "corpus/tracepoints/perf.data": "incompatible file format",
}
UNREADABLE = {
    # a tar archive of the word "dummy", in gzip
    "corpus/hotspot/perf.data.broken.gz": "incompatible file format",
    # COMPRESSED2 was added in 6.16
    "corpus/linux-perf-data/sleep.compressed2.pipe.data": "failed to process type: 83",
    # damaged: a record of size 0
    "corpus/quipper/perf.data.piped.corrupted.zero_size_sample-3.2": "bad event header size",
}
# `perf report --stats` stops early, -D does not: without -D, perf reads pipes through a buffer, and
# loses its place after data that follow a record, and in compressed records.
STATS_STOP_EARLY = {
    "perf/19-pipe-tp.data": "unexpected end of event stream",
    "perf/A2-raw-all-pipe.data": "unexpected end of event stream",
    "corpus/perfparser/probe.data.stream": "unexpected end of event stream",
    "perf/95-zstd-pipe.data": "Couldn't decompress data",
}
CUT = {"perf/A3-zstd-unflushed.data"}
# The only files with MMAP2 records that have no prot and flags.
MMAP2_WITHOUT_PROT = {"corpus/hotspot/perf.data.true.v2", "corpus/hotspot/perf.data.true.v2.gz"}
CALLCHAIN_MARKERS = {"HV": -32, "KERNEL": -128, "USER": -512, "USER_DEFERRED": -640, "GUEST": -2048,
                     "GUEST_KERNEL": -2176, "GUEST_USER": -2560, "MAX": -4095}
U64 = (1 << 64) - 1


def number(value):
    """The number that the contract writes as an integer, hex string, flag word or callchain
    marker."""
    if isinstance(value, dict):
        return number(value["raw"])
    if isinstance(value, str):
        if value in CALLCHAIN_MARKERS:
            return CALLCHAIN_MARKERS[value] & U64
        return int(value, 0)
    return value


def text(holder, key):
    """A text as perf prints it: bytes that are not UTF-8 become surrogates."""
    if key + "_hex" in holder:
        return bytes.fromhex(holder[key + "_hex"]).decode("utf-8", "surrogateescape")
    return holder.get(key)


def find(value, *keys):
    """The first object in `value` that has all these keys."""
    if isinstance(value, dict):
        if all(key in value for key in keys):
            return value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = find(item, *keys)
            if found is not None:
                return found
    return None


def cpus_of(value):
    """The cpus of a CPU_MAP or EVENT_UPDATE, which are written in one of three ways."""
    listed = find(value, "cpus")
    if listed is not None:
        return listed["cpus"]
    bounds = find(value, "start_cpu", "end_cpu")
    if bounds is not None:
        return (([-1] if bounds.get("any_cpu") else [])
                + list(range(bounds["start_cpu"], bounds["end_cpu"] + 1)))
    mask = find(value, "mask", "long_size")
    return [8 * mask["long_size"] * index + bit for index, word in enumerate(mask["mask"])
            for bit in range(8 * mask["long_size"]) if number(word) >> bit & 1]


class Differences(list):
    """The differences in one record, as text."""

    def equal(self, what, perf, ours):
        if perf != ours:
            self.append(f"{what}: perf {_short(perf)}, pdecode {_short(ours)}")

    def numbers(self, details, holder, *names):
        for name in names:
            if name in details:
                try:
                    ours = number(holder.get(name))
                except (ValueError, KeyError):
                    ours = holder.get(name)
                perf = details[name]
                if isinstance(ours, int) and ours < 0 <= perf:
                    ours &= U64 if perf >> 32 else 0xffffffff
                self.equal(name, perf, ours)


def _short(value):
    shown = (f"{value:#x}" if isinstance(value, int) and not isinstance(value, bool)
             and value > 9999 else repr(value))
    return shown if len(shown) < 200 else shown[:200] + "..."


# --- each type's details --------------------------------------------------------------------------

def _task(diff, said, ours, attr):
    diff.numbers(said, ours, "pid", "tid", "ppid", "ptid")


def _mmap(diff, said, ours, attr):
    diff.numbers(said, ours, "pid", "tid", "addr", "len", "pgoff", "maj", "min", "ino",
                 "ino_generation")
    if "kind" in said:
        diff.equal("data mapping", said["kind"] == "r", bool(ours["misc"] & 1 << 13))
    if ours["type"] == "MMAP2" and "prot" not in ours:
        # In the layout of the first 3.12 and of RHEL 7 there are no prot and flags. perf reads the
        # first 8 bytes of the name as these, and if the name has no more, the trailer as the name.
        name = text(ours, "filename")
        head = name.encode("utf-8", "surrogateescape")[:8].ljust(8, b"\0")
        diff.equal("prot", said["prot"], head[0] & 7)
        diff.equal("shared", said["shared"], bool(head[4] & 1))
        if len(name) >= 8:
            diff.equal("filename", said["filename"], name[8:])
        return
    diff.equal("filename", said["filename"], text(ours, "filename"))
    if "prot" in said:
        diff.equal("prot", said["prot"], number(ours.get("prot", 0)) & 7)
        # perf prints s for MAP_SHARED, bit 0 of flags
        diff.equal("shared", said["shared"], bool(number(ours.get("flags", 0)) & 1))
    diff.equal("build_id", said.get("build_id"), ours.get("build_id"))


def _comm(diff, said, ours, attr):
    diff.numbers(said, ours, "pid", "tid")
    diff.equal("comm", said["comm"], text(ours, "comm"))
    diff.equal("exec", said["exec"], bool(ours["misc"] & 1 << 13))


def _switch(diff, said, ours, attr):
    diff.numbers(said, ours, "next_prev_pid", "next_prev_tid")
    out, preempted = bool(ours["misc"] & 1 << 13), bool(ours["misc"] & 1 << 14)
    diff.equal("switch", said["switch"], "IN" if not out else "OUT preempt" if preempted else "OUT")


def _numbers(diff, said, ours, attr):
    names = [name for name, value in said.items() if isinstance(value, int)]
    diff.numbers(said, ours, *names)


def _lost_samples(diff, said, ours, attr):
    diff.numbers(said, ours, "lost")
    # perf prints the trailer's id, or 2^64-1 without one
    trailer = ours.get("sample_id", {})
    diff.equal("sample_id.id", said["sample_id"], trailer.get("id", trailer.get("identifier", U64)))


def _read(diff, said, ours, attr):
    diff.numbers(said, ours, "pid", "tid")
    diff.numbers(said, ours.get("read", {}), "value", "time_enabled", "time_running", "id", "lost")


def _entries(key, *names):
    def compare(diff, said, ours, attr):
        _numbers(diff, said, ours, attr)
        mine = find(ours, *names) and ours.get(key)
        diff.equal(key, said.get(key, []),
                   [{name: number(entry[name]) for name in names} for entry in mine or []])
    return compare


def _named(*names):
    def compare(diff, said, ours, attr):
        for name in names:
            if isinstance(said.get(name), str):
                diff.equal(name, said[name], text(ours, name))
        plain = {name: value for name, value in said.items()
                 if name not in ("ksym_type", "bpf_type")}
        _numbers(diff, plain, ours, attr)
    return compare


def _thread_map(diff, said, ours, attr):
    entries = ours.get("entries", [])
    diff.equal("nr", said["nr"], len(entries))
    diff.equal("threads", said["threads"], [entry["pid"] for entry in entries])


def _cpu_map(diff, said, ours, attr):
    diff.equal("cpus", said["cpus"], cpus_of(ours))


def _stat_config(diff, said, ours, attr):
    listed = {}

    def walk(value):
        if isinstance(value, dict) and {"tag", "val"} <= set(value):
            listed[str(value["tag"]).lower()] = value["val"]
        for item in value.values() if isinstance(value, dict) else value if isinstance(
                value, list) else ():
            walk(item)
    walk(ours)
    for name, value in said.items():
        diff.equal(name, value, listed.get(name))


def _stat_round(diff, said, ours, attr):
    diff.numbers(said, ours, "time")
    diff.equal("round_type", said["round_type"], ours.get("round_type"))


def _event_update(diff, said, ours, attr):
    diff.numbers(said, ours, "id")
    for name in ("unit", "name"):
        diff.equal(name, said.get(name), text(ours, name))
    if "scale" in said:     # perf prints six decimals
        diff.equal("scale", f"{said['scale']:f}", f"{float(ours['scale']):f}")
    if "cpus" in said:
        diff.equal("cpus", said["cpus"], cpus_of(ours))


def _auxtrace_info(diff, said, ours, attr):
    mine = find(ours, "pmu_type") or {}
    values = [number(value) for value in mine.values() if isinstance(value, (int, str))
              and value != mine.get("filter")]
    diff.equal("words", [value for _, value in said.get("words", [])],
               values[:len(said.get("words", []))])
    if said.get("filter"):
        diff.equal("filter", said["filter"], text(mine, "filter"))


def _sample(diff, said, ours, attr):
    if not said:
        diff.append("perf found no event for it")
        return
    diff.equal("misc", said["misc"], ours["misc"])
    # For a field that the sample lacks, perf prints -1 (pid and tid), 0 (ip and addr), or that of
    # the attribute (period).
    for name, lacking in (("pid", -1), ("tid", -1), ("ip", 0), ("addr", 0)):
        diff.equal(name, said[name], number(ours.get(name, lacking)))
    period = ours.get("period")
    if period is None:
        period = attr.get("sample_period", attr.get("sample_freq", 0))
    diff.equal("period", said["period"], period)
    if ("callchain" in said) != ("callchain" in ours):
        diff.append(
            f"callchain: perf {'has' if 'callchain' in said else 'has none'}, pdecode not so")
    elif "callchain" in said:
        diff.equal("callchain", said["callchain"], [number(entry) for entry in ours["callchain"]])
        diff.equal("callchain nr", said["callchain_nr"], len(ours["callchain"]))
    _branches(diff, said, ours.get("branch_stack"))
    for which in ("user", "intr"):
        mine = ours.get("regs_" + which) or {}
        if f"abi_{which}" in said:
            diff.equal(f"regs_{which} abi", said[f"abi_{which}"], f"{mine.get('abi')}-bit")
        theirs = said.get("regs_" + which, {})
        registers = {name: number(value) for name, value in mine.get("regs", {}).items()}
        if _unnamed(registers):
            # The file does not state its machine; perf assumes that it runs on it.
            diff.equal("regs_" + which, list(theirs.values()), list(registers.values()))
        else:
            diff.equal("regs_" + which, theirs, registers)
    stack = ours.get("stack_user")
    if ("stack_dyn_size" in said) != (stack is not None):
        diff.append("stack_user: only one of us has it")
    elif stack is not None:
        # perf prints dyn_size, and the offset of the stack in the record
        diff.equal("stack_user dyn_size", said["stack_dyn_size"], stack.get("dyn_size", 0))
    if "weight" in ours or "weight_struct" in ours or "weight" in said:
        parts = ours.get("weight_struct")
        # perf on x86 ignores the upper half of WEIGHT, and the third part of WEIGHT_STRUCT
        diff.equal("weight", said.get("weight"),
                   ours.get("weight") if parts is None else parts["var1_dw"])
        if parts is not None:
            diff.equal("weight second part", said["weight_parts"][0], parts["var2_w"])
            if said["weight_parts"][1]:
                diff.equal("weight third part", said["weight_parts"][1], parts["var3_w"])
    for name in ("data_src", "phys_addr", "data_page_size", "code_page_size", "transaction"):
        diff.equal(name, said.get(name), number(ours[name]) if name in ours else None)
    _sample_read(diff, said.get("read"), ours.get("read"))


def _unnamed(registers):
    return bool(registers) and all(re.match(r"reg\d+$", name) for name in registers)


def _branches(diff, said, mine):
    if "branches_nr" not in said:
        # perf prints a branch stack only for events that ask for one
        if mine is not None and mine["entries"]:
            diff.append("branch_stack: perf has none")
        return
    entries = (mine or {}).get("entries", [])
    diff.equal("branch_stack nr", said["branches_nr"],
               len(entries) + ("callstack" in said and bool(entries)))
    if "callstack" in said:
        expected = ([number(entries[0]["to"]), *(number(entry["from"]) for entry in entries)]
                    if entries else [])
        diff.equal("branch callstack", said["callstack"], expected)
        return
    names = ("from", "to", "cycles", "mispred", "predicted", "abort", "in_tx")
    ours = [{name: number(entry[name]) for name in names} for entry in map(_flat, entries)]
    diff.equal("branch_stack",
               [{name: int(entry[name]) for name in names} for entry in said["branches"]], ours)


def _flat(entry):
    return {**entry, **entry["flags"]} if isinstance(entry.get("flags"), dict) else entry


def _sample_read(diff, said, mine):
    if (said is None) != (mine is None):
        diff.append(f"read: perf {_short(said)}, pdecode {_short(mine)}")
    if said is None or mine is None:
        return
    for name in ("time_enabled", "time_running"):
        diff.equal("read." + name, said.get(name), mine.get(name))
    values = mine["values"] if "values" in mine else [mine]
    if "nr" in said:
        diff.equal("read.nr", said["nr"], mine.get("nr"))
    expected = [{name: value[name] for name in entry if name in value}
                for entry, value in zip(said["values"], values)]
    for entry, value in zip(said["values"], expected):
        if "lost" not in value and not entry.get("lost"):
            # printed as 0 if it isn't read
            entry = {name: entry[name] for name in entry if name != "lost"}
        if "id" not in value and not entry.get("id"):
            entry = {name: entry[name] for name in entry if name != "id"}
        diff.equal("read.values", entry, value)
    diff.equal("read.values length", len(said["values"]), len(values))


COMPARE = {
    "MMAP": _mmap, "MMAP2": _mmap, "COMM": _comm, "FORK": _task, "EXIT": _task,
    "ITRACE_START": _task, "SWITCH": _switch, "SWITCH_CPU_WIDE": _switch,
    "LOST_SAMPLES": _lost_samples, "READ": _read, "SAMPLE": _sample,
    "NAMESPACES": _entries("namespaces", "dev", "inode"),
    "ID_INDEX": _entries("entries", "id", "idx", "cpu", "tid"), "KSYMBOL": _named("name"),
    "CGROUP": _named("path"), "BPF_EVENT": _named(), "THREAD_MAP": _thread_map, "CPU_MAP": _cpu_map,
    "STAT_CONFIG": _stat_config, "STAT_ROUND": _stat_round, "EVENT_UPDATE": _event_update,
    "AUXTRACE_INFO": _auxtrace_info, "LOST": _numbers, "AUX": _numbers, "STAT": _numbers,
    "TIME_CONV": _numbers,
    "AUXTRACE": _numbers,
}


def record_differences(said, ours, attrs):
    """The differences between a record of perf's dump and one of the document."""
    diff = Differences()
    diff.equal("type", said.type, ours["type"])
    diff.equal("size", said.size, ours["size"])
    if diff:
        return diff
    # Only these are read from the bytes of the dump: perf does not print them, or not for all
    # records.
    diff.equal("misc", int.from_bytes(said.raw[4:6], "little"), ours["misc"])
    stack = ours.get("stack_user") or {}
    if stack.get("data") and "stack_offset" in said.details:
        # perf prints the offset of the size, which is before the bytes
        start = said.details["stack_offset"] + 8
        diff.equal("stack_user data", said.raw[start:start + stack["size"]].hex(), stack["data"])
    where = ours if ours["type"] == "SAMPLE" else ours.get("sample_id", {})
    for name, nothing in (("time", (None, 0)), ("cpu", (None, 0))):
        perf, mine = getattr(said, name), where.get(name)
        if mine == -1:
            mine = None
        # perf prints 0 for a record without a trailer or too short for it, and for the unknown cpu
        # of old files.
        if perf != mine and not (perf in nothing and mine in nothing):
            diff.append(f"{name}: perf {perf}, pdecode {mine}")
    index = ours.get("attr_index")
    attr = attrs[index]["attr"] if index is not None and index < len(attrs) else {}
    compare = COMPARE.get(said.type)
    if compare:
        try:
            compare(diff, said.details, ours, attr)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            diff.append(f"{type(error).__name__}: {error}")
    return diff


# --- which record is which ------------------------------------------------------------------------

def _time_of(record):
    return (record.get("time") if record["type"] == "SAMPLE"
            else record.get("sample_id", {}).get("time")) or 0


def pair(dump, document):
    """(perf's record, ours) by file and offset; either may be None.

    Inner records have the offset of their compressed record, in perf's dump too: several have
    the same. Both lists are sorted by time, as perf delivers them, records without a time first;
    equal times keep their order. For a record that straddles two compressed ones, the document has
    the offset of the first, perf that of the second.
    """
    compressed = {(record.get("file"), record["offset"]) for record in document["records"]
                  if record["type"] in ("COMPRESSED", "COMPRESSED2")}
    ours, inner_ours = {}, collections.defaultdict(list)
    twice = []
    for record in document["records"]:
        place = record.get("file"), record["offset"]
        if "inner_offset" in record:
            inner_ours[place[0]].append(record)
        elif place in ours:
            twice.append((None, record))
        else:
            ours[place] = record
    theirs, inner_theirs = {}, collections.defaultdict(list)
    for record in dump.records:
        place = record.file, record.offset
        if place in compressed:
            inner_theirs[place[0]].append(record)
        else:
            theirs[place] = record
    places = sorted({*ours, *theirs}, key=lambda place: (place[0] or "", place[1]))
    pairs = [(theirs.get(place), ours.get(place)) for place in places]
    pairs += twice
    for file in {*inner_ours, *inner_theirs}:
        left = sorted(inner_theirs[file], key=lambda record: record.time or 0)
        right = sorted(sorted(inner_ours[file], key=lambda record: record["inner_offset"]),
                       key=_time_of)
        length = max(len(left), len(right))
        pairs += zip(left + [None] * (length - len(left)), right + [None] * (length - len(right)))
    return pairs


def place_differences(said, ours, places):
    """Inner records: perf's offset must be ours, or that of the next compressed record."""
    if said.offset == ours["offset"]:
        return []
    known = places[said.file]
    if ours["offset"] in known and said.offset == known.get(ours["offset"]):
        return []
    return [f"offset: perf {said.offset:#x}, pdecode {ours['offset']:#x}"]


# perf counts these, but does not print them.
NOT_DUMPED = {"COMPRESSED", "COMPRESSED2"}


def differences(dump, document):
    """The differences between the document and perf's dump, as lines of text."""
    found = []
    places = collections.defaultdict(dict)
    last = {}
    for record in document["records"]:
        if record["type"] in NOT_DUMPED:
            file = record.get("file")
            if file in last:
                places[file][last[file]] = record["offset"]
            last[file] = record["offset"]
            places[file].setdefault(record["offset"], None)
    for said, ours in pair(dump, document):
        if said is None:
            # perf drops incomplete records
            if ours["type"] not in NOT_DUMPED and not dump.failure and "cut" not in ours:
                found.append(f"{ours['type']} at {ours['offset']:#x}: perf does not have it")
            continue
        place = f"{said.file}:" if said.file else ""
        label = f"{said.type or said.type_id} at {place}{said.offset:#x}"
        if ours is None:
            found.append(f"{label}: not in the document")
            continue
        found += [f"{label}: {line}"
                  for line in record_differences(said, ours, document.get("attrs", []))]
        if "inner_offset" in ours:
            found += [f"{label}: {line}" for line in place_differences(said, ours, places)]
    if not dump.failure:
        counts = collections.Counter(record["type"] for record in document["records"]
                                     if "cut" not in record)
        counts["TOTAL"] = sum(counts.values())
        found += [f"count of {name}: perf {dump.counts.get(name, 0)}, pdecode {counts.get(name, 0)}"
                  for name in sorted({*dump.counts, *counts})
                  if dump.counts.get(name, 0) != counts.get(name, 0)]
    return found


def report(found):
    shown = found[:40] + [f"... and {len(found) - 40} more"] * (len(found) > 40)
    return f"{len(found)} differences from perf:\n  " + "\n  ".join(shown)


# --- tests ----------------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def perf(perf):
    """Debian's perf, the oddities of which are known here."""
    version = perf_oracle.version(perf)
    if not re.match(r"6\.(1|12)(\.|$)", version):
        pytest.skip(f"{perf} is of {version}: what perf prints changes, this comparison knows 6.1 "
                    "and 6.12 (Debian 12 and 13); name one with PERF=")
    return perf


@pytest.fixture(scope="session")
def unreadable(perf):
    is_old = perf_oracle.version(perf).startswith("6.1.")
    return {**UNREADABLE, **(UNREADABLE_BY_6_1 if is_old else {})}


@pytest.fixture(scope="module")
def perf_file(data_file, tmp_path_factory):
    """The file, decompressed: perf can't open gzip."""
    if data_file.path.suffix != ".gz":
        return data_file.path
    plain = tmp_path_factory.mktemp("plain") / data_file.path.stem
    with gzip.open(data_file.path) as packed, open(plain, "wb") as file:
        shutil.copyfileobj(packed, file)
    return plain


@pytest.fixture(scope="module")
def dumped(data_file, perf_file, perf, unreadable):
    """perf's dump, as far as perf gets. A failure that is not in the list fails the tests."""
    expected = unreadable.get(data_file.label)
    try:
        dump = perf_oracle.dump(perf, perf_file)
    except PerfFailed as reason:
        assert expected and expected in str(reason), f"perf can't read {data_file.label}: {reason}"
        pytest.skip(f"perf: {reason}")
    if expected or dump.failure:
        assert expected and dump.failure and expected in dump.failure, \
            f"{data_file.label}: perf said {dump.failure}, expected {expected}"
    return dump


def test_dump_is_the_file(dumped, perf_file):
    """The oracle: perf's dump of a record has its size and type, and the file's bytes at that
    place."""
    for record in dumped.records:
        place = f"{record.type} at {record.offset:#x}"
        assert record.type == perf_oracle.TYPE_NAMES[record.type_id], place
        assert record.said_size == record.size == len(record.raw), place
        assert int.from_bytes(record.raw[:4], "little") == record.type_id, place
        assert int.from_bytes(record.raw[6:8], "little") == record.size, place
    content = {None: perf_file / "data" if perf_file.is_dir() else perf_file}
    if perf_file.is_dir():
        content.update((path.name, path) for path in perf_file.glob("data.*"))
    content = {name: path.read_bytes() for name, path in content.items()}
    inside = 0
    for record in dumped.records:
        data = content[record.file]
        if int.from_bytes(data[record.offset:record.offset + 4], "little") == 81 != record.type_id:
            inside += 1
            continue
        assert (data[record.offset:record.offset + record.size]
                == record.raw), f"{record.type} at {record.offset:#x}"
    assert bool(inside) == bool(dumped.counts.get("COMPRESSED"))


def test_records(data_file, dumped, decode):
    document = decode(data_file.path)
    found = differences(dumped, document)
    assert not found, report(found)
    if "ARCH" in document["features"]:
        assert not [record for record in document["records"] for which in ("regs_user", "regs_intr")
                    if _unnamed((record.get(which) or {}).get("regs", {}))]
    without = any(record["type"] == "MMAP2" and "prot" not in record
                  for record in document["records"])
    assert without == (data_file.label in MMAP2_WITHOUT_PROT)


def test_counts(data_file, dumped, perf, perf_file, decode):
    """The counts by type are those of `perf report --stats`."""
    if dumped.failure:
        pytest.skip(f"perf: {dumped.failure}")
    counts, reason = perf_oracle.stats(perf, perf_file)
    expected = STATS_STOP_EARLY.get(data_file.label)
    if reason or expected:
        assert (reason and expected
                and expected in reason), f"perf report --stats: {reason}, expected {expected}"
        pytest.skip(
            f"perf report --stats: {reason}; the dump's counts are compared in test_records")
    counts.pop("TOTAL")
    document = decode(data_file.path)
    # perf drops them
    cut = collections.Counter(record["type"] for record in document["records"] if "cut" in record)
    assert document["summary"]["by_type"] == collections.Counter(counts) + cut
    assert not cut or data_file.label in CUT


def _expanded(document):
    """The samples as perf script prints them: one with counters is printed for each counter that
    has changed."""
    last = collections.defaultdict(int)
    owner = {number_: attr["index"] for attr in document["attrs"]
             for number_ in attr.get("ids", [])}
    names = {attr["index"]: attr.get("name") for attr in document["attrs"]}
    for record in document["records"]:
        if record["type"] != "SAMPLE" or "cut" in record:
            continue
        if "read" not in record:
            yield record, record.get("event"), record.get("period")
            continue
        for value in record["read"].get("values", [record["read"]]):
            key = value.get("id", record.get("identifier", record.get("id")))
            counted, last[key] = value["value"] - last[key], value["value"]
            if counted:
                yield record, names.get(owner.get(key)), counted


def test_samples_in_time_order(data_file, dumped, perf, perf_file, decode):
    """perf script's samples are those of pdecode --sort time, in the same order."""
    if dumped.failure:
        pytest.skip(f"perf: {dumped.failure}")
    said, fields = perf_oracle.script(perf, perf_file)
    ours = list(_expanded(decode(data_file.path, "--sort", "time")))
    assert len(said) == len(ours)
    names = names_in_the_file(decode(data_file.path))
    found = []
    for index, (sample, (record, event, period)) in enumerate(zip(said, ours)):
        diff = Differences()
        for name in fields:
            mine = period if name == "period" else number(record.get(name))
            diff.equal(name, getattr(sample, name), mine)
        # otherwise perf made the name from the attributes
        if {_plain(sample.event), _plain(event or "")} & names:
            diff.equal("event", _plain(sample.event), _plain(event or ""))
        found += [f"sample {index} at {record['offset']:#x}: {line}" for line in diff]
    assert not found, report(found)


def _plain(event):
    """The name without the modifiers that perf adds to distinguish events."""
    return re.sub(r":[ukhpPHGSDIWeb]+$", "", event)


def names_in_the_file(document):
    """The names of events that the file itself states, without modifiers."""
    names = [event["name"]
             for event in dicts_in(document["features"].get("EVENT_DESC"), "name", "ids")]
    names += [record["name"] for record in document["records"] if record["type"] == "EVENT_UPDATE"
              and "name" in record]
    return {_plain(name) for name in names}


# --- features -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def header(data_file, dumped, perf, perf_file):
    return perf_oracle.header(perf, perf_file)


def numbers_in(value):
    """All integers in a JSON value, in order."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [item for part in value for item in numbers_in(part)] if isinstance(value, list) else []


def texts_in(value):
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [item for part in value for item in texts_in(part)] if isinstance(value, list) else []


def dicts_in(value, *keys):
    """All objects in a JSON value that have these keys."""
    if isinstance(value, dict):
        if all(key in value for key in keys):
            yield value
            return
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from dicts_in(item, *keys)


def feature_differences(header, document):
    """The differences between the features and perf's output."""
    diff = Differences()
    features = document["features"]
    file = document["file"]
    if header.get("data_offset"):
        diff.equal("data offset", header["data_offset"], file["data_offset"])
        diff.equal("data size", header["data_size"], file["data_size"])
    if "missing" in header:
        known = {name for name in features if not name.startswith("FEATURE_")}
        diff.equal("features said to be missing that are there", [],
                   sorted(known & set(header["missing"])))
    for name in ("HOSTNAME", "OSRELEASE", "VERSION", "ARCH", "CPUDESC", "CPUID"):
        if name in header:
            diff.equal(name, header[name].rstrip(), (features.get(name) or "").rstrip())
    if "NRCPUS" in header:
        diff.equal("NRCPUS", header["NRCPUS"], features.get("NRCPUS"))
    if "TOTAL_MEM" in header:
        diff.equal("TOTAL_MEM", [header["TOTAL_MEM"]], numbers_in([features.get("TOTAL_MEM")]))
    if "CMDLINE" in header:
        # perf escapes blanks and quotes within a word, and puts one blank between words
        diff.equal("CMDLINE", re.sub(r"\\(.)", r"\1", header["CMDLINE"]).split(),
                   " ".join(texts_in(features.get("CMDLINE"))).split())
    if "EVENT_DESC" in header:
        mine = list(dicts_in(features.get("EVENT_DESC"), "name", "ids"))
        diff.equal("EVENT_DESC names", [event["name"] for event in header["EVENT_DESC"]],
                   [text(event, "name") for event in mine])
        diff.equal("EVENT_DESC ids", [event["ids"] for event in header["EVENT_DESC"]],
                   [[number(one) for one in event["ids"]] for event in mine])
        for said, event in zip(header["EVENT_DESC"], mine):
            attr_differences(diff, said["name"], said["attr"], event.get("attr", {}))
    _topology(diff, header, features)
    if "NUMA_TOPOLOGY" in header:
        mine = list(dicts_in(features.get("NUMA_TOPOLOGY"), "node"))
        diff.equal("NUMA_TOPOLOGY", [[node["node"], node["total"], node["free"]]
                                     for node in header["NUMA_TOPOLOGY"]],
                   [numbers_in([value for value in node.values() if isinstance(value, int)])
                    for node in mine])
        diff.equal("NUMA_TOPOLOGY cpus", [node["cpus"] for node in header["NUMA_TOPOLOGY"]],
                   [texts_in(node)[0] for node in mine])
    if "PMU_MAPPINGS" in header:
        diff.equal("PMU_MAPPINGS", header["PMU_MAPPINGS"],
                   [(text(pmu, "name"), number(pmu["type"]))
                    for pmu in dicts_in(features.get("PMU_MAPPINGS"), "name", "type")])
    if "CACHE" in header:
        diff.equal("CACHE", [(cache["level"], cache["type"], cache["size"], cache["map"])
                             for cache in header["CACHE"]],
                   [(cache["level"], cache["type"], cache["size"], cache["map"])
                    for cache in dicts_in(features.get("CACHE"), "level", "type", "size", "map")])
    if "SAMPLE_TIME" in header and "SAMPLE_TIME" in features:
        # perf prints microseconds
        diff.equal("SAMPLE_TIME", [time // 1000 for time in header["SAMPLE_TIME"]],
                   [time // 1000 for time in numbers_in(features["SAMPLE_TIME"])])
    if "MEM_TOPOLOGY" in header:
        mine = features.get("MEM_TOPOLOGY") or {}
        diff.equal("MEM_TOPOLOGY block size", header["MEM_TOPOLOGY"]["block_size"],
                   number(mine.get("block_size")))
        diff.equal("MEM_TOPOLOGY nodes", [node for node, _ in header["MEM_TOPOLOGY"]["nodes"]],
                   [node["node"] for node in dicts_in(mine, "node")])
    if "COMPRESSED" in header:
        said, mine = header["COMPRESSED"], features.get("COMPRESSED") or {}
        diff.equal("COMPRESSED", [said["level"], said["ratio"]],
                   [mine.get("level"), mine.get("ratio")])
        diff.equal("COMPRESSED type", said["type"] == "Zstd",
                   str(mine.get("type")).upper() == "ZSTD")
    if "CLOCK_DATA" in header:
        diff.numbers({"clockid": header["CLOCK_DATA"]},
                     {"clockid": _clock(features.get("CLOCK_DATA"))}, "clockid")
    return diff


CLOCKS = {"REALTIME": 0, "MONOTONIC": 1, "MONOTONIC_RAW": 4, "BOOTTIME": 7, "TAI": 11}


def _clock(value):
    value = (value or {}).get("clockid")
    return CLOCKS.get(str(value).removeprefix("CLOCK_"), value)


def _topology(diff, header, features):
    """CPU_TOPOLOGY: the lists of siblings as text, in perf's order, and the ids of each cpu."""
    mine = features.get("CPU_TOPOLOGY")
    if "siblings" in header:
        # perf calls the first list cores, or sockets if dies are known
        said = header["siblings"]
        expected = (said.get("sockets", said.get("cores", [])) + said.get("threads", [])
                    + said.get("dies", []))
        # perf 6.1 prints sockets, dies, threads; the section has sockets, threads, dies
        diff.equal("CPU_TOPOLOGY lists", sorted(expected), sorted(texts_in(mine)))
    if "cpus" in header and mine is not None:
        cpus = list(dicts_in(mine, "core_id", "socket_id"))
        diff.equal("CPU_TOPOLOGY core and socket ids",
                   [(cpu["core_id"], cpu["socket_id"]) for cpu in header["cpus"]],
                   [(cpu["core_id"], cpu["socket_id"]) for cpu in cpus])


# perf's names of attribute fields that are flag words or enumerations in the contract.
ATTR_LISTS = {"sample_type", "read_format", "branch_sample_type"}
# The end of each member in the attribute. perf 6.1 reads an attribute of a pipe beyond its size,
# into the ids after it.
ATTR_ENDS = {"branch_sample_type": 80, "sample_regs_user": 88, "sample_stack_user": 92,
             "sample_regs_intr": 104, "aux_watermark": 108, "sample_max_stack": 110,
             "aux_sample_size": 116, "bp_len": 72}
ATTR_NUMBERS = ["size", "config", "precise_ip", "sample_stack_user", "sample_max_stack",
                "sample_regs_user", "sample_regs_intr", "aux_watermark", "aux_sample_size"]
# Members with two names: perf prints both, the contract has the one that is valid.
ATTR_EITHER = [("sample_period", "sample_freq"), ("wakeup_events", "wakeup_watermark"),
               ("bp_addr", "config1"),
               ("bp_len", "config2")]
UNNAMED = {"TRANSACTION"}       # missing in perf 6.1's sample_type
ATTR_TYPES = ["HARDWARE", "SOFTWARE", "TRACEPOINT", "HW_CACHE", "RAW", "BREAKPOINT"]
BREAKPOINTS = ["EMPTY", "R", "W", "RW", "X"]


def attr_differences(diff, name, said, mine):
    """The attributes of an event, of which perf prints those that are not zero."""
    flags = {key for key, value in said.items() if value == 1 and key in ATTR_FLAGS}
    diff.equal(f"{name}: flags", sorted(flags), sorted(set(mine["flags"]["names"]) & ATTR_FLAGS))
    size = said.get("size", 0) or 64
    said = {key: value for key, value in said.items()
            if ATTR_ENDS.get(key.split(",")[0], 0) <= size}
    for key in ATTR_LISTS:
        names = mine.get(key, {}).get("names", [])
        diff.equal(f"{name}: {key}", sorted(said.get(key, [])), sorted(set(names) - UNNAMED))
    kind = said.get("type", 0)
    diff.equal(f"{name}: type", ATTR_TYPES[kind] if kind < len(ATTR_TYPES) else str(kind),
               str(mine["type"]))
    for key in ATTR_NUMBERS:
        diff.equal(f"{name}: {key}", said.get(key, 0), number(mine.get(key, 0)))
    for keys in ATTR_EITHER:
        diff.equal(f"{name}: {keys}", said.get(", ".join(keys), 0),
                   number(mine.get(keys[0], mine.get(keys[1], 0))))
    if kind == 5:
        diff.equal(f"{name}: bp_type", BREAKPOINTS[said.get("bp_type", 0)], mine["bp_type"])


ATTR_FLAGS = set("""
    disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap comm
    freq inherit_stat enable_on_exec task watermark mmap_data sample_id_all exclude_host
    exclude_guest exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec use_clockid
    context_switch write_backward namespaces ksymbol bpf_event aux_output cgroup text_poke build_id
    inherit_thread remove_on_exec sigtrap
""".split())


def test_features(data_file, header, decode):
    found = feature_differences(header, decode(data_file.path))
    assert not found, report(found)


def test_event_list(data_file, dumped, perf, perf_file, decode):
    """The events of perf evlist are the attrs of the document, in order, with the same
    attributes."""
    events = perf_oracle.event_list(perf, perf_file)
    document = decode(data_file.path)
    attrs, names = document["attrs"], names_in_the_file(document)
    if not events:
        pytest.skip("perf evlist lists no events: in this pipe features come before attributes")
    assert len(events) == len(attrs)
    for said, mine in zip(events, attrs):
        diff = Differences()
        attr_differences(diff, said["name"], said["attr"], mine["attr"])
        assert not diff, report(diff)
        if ({_plain(said["name"]), _plain(mine.get("name", ""))} & names
            and said["name"] != "unknown tracepoint"):
            assert _plain(said["name"]) == _plain(mine["name"])


# --- the comparison can fail ----------------------------------------------------------------------

# A capture, a record type, and a change of perf's values that must be reported.
def _set(**values):
    def change(record):
        for name, value in values.items():
            if name in ("offset", "size", "time", "cpu", "type"):
                assert getattr(record, name) != value
                setattr(record, name, value)
            else:
                assert record.details[name] != value
                record.details[name] = value
    return change


def _element(name, index, change):
    def apply(record):
        record.details[name][index] = change(record.details[name][index])
    return apply


def _key(name, key, value):
    def apply(record):
        assert record.details[name][key] != value
        record.details[name][key] = value
    return apply


MUTATIONS = [
    ("01-basic.data", "SAMPLE", _set(offset=8), "not in the document"),
    ("01-basic.data", "SAMPLE", _set(size=8), "size"),
    ("01-basic.data", "SAMPLE", _set(type="MMAP"), "type"),
    ("01-basic.data", "SAMPLE", _set(time=1), "time"),
    ("01-basic.data", "SAMPLE", _set(ip=1), "ip"),
    ("01-basic.data", "SAMPLE", _set(pid=1), "pid"),
    ("01-basic.data", "SAMPLE", _set(tid=1), "tid"),
    ("01-basic.data", "SAMPLE", _set(period=1), "period"),
    ("01-basic.data", "SAMPLE", _set(misc=0), "misc"),
    ("01-basic.data", "MMAP2", _set(filename="/bin/other"), "filename"),
    ("01-basic.data", "MMAP2", _set(addr=1), "addr"),
    ("01-basic.data", "MMAP2", _set(len=1), "len"),
    ("01-basic.data", "MMAP2", _set(pgoff=1), "pgoff"),
    ("01-basic.data", "MMAP2", _set(ino=1), "ino"),
    ("01-basic.data", "MMAP2", _set(prot=0), "prot"),
    ("01-basic.data", "MMAP", _set(filename="[kernel]"), "filename"),
    ("01-basic.data", "COMM", _set(comm="other"), "comm"),
    ("01-basic.data", "FORK", _set(ppid=1), "ppid"),
    ("01-basic.data", "EXIT", _set(ptid=1), "ptid"),
    ("01-basic.data", "EXIT", _set(time=1), "time"),
    ("01-basic.data", "ID_INDEX", _key("entries", 0, {}), "entries"),
    ("01-basic.data", "THREAD_MAP", _set(threads=[1]), "threads"),
    ("01-basic.data", "CPU_MAP", _set(cpus=[0]), "cpus"),
    ("01-basic.data", "EVENT_UPDATE", _set(unit="sec"), "unit"),
    ("02-callgraph-fp.data", "SAMPLE", _element("callchain", -1, lambda address: address + 1),
     "callchain"),
    ("03-callgraph-dwarf.data", "SAMPLE", _set(stack_dyn_size=1), "stack_user"),
    ("03-callgraph-dwarf.data", "SAMPLE", _set(stack_offset=8), "stack_user data"),
    ("03-callgraph-dwarf.data", "SAMPLE", _key("regs_user", "sp", 1), "regs_user"),
    ("05-switch-events.data", "SWITCH", _set(switch="OUT preempt"), "switch"),
    ("05-switch-events.data", "NAMESPACES", _key("namespaces", 3, {}), "namespaces"),
    ("05-switch-events.data", "CGROUP", _set(path="/other"), "path"),
    ("06-data-phys-pages.data", "SAMPLE", _set(addr=1), "addr"),
    ("06-data-phys-pages.data", "SAMPLE", _set(phys_addr=1), "phys_addr"),
    ("06-data-phys-pages.data", "SAMPLE", _set(data_src=1), "data_src"),
    ("06-data-phys-pages.data", "SAMPLE", _set(code_page_size=1), "code_page_size"),
    ("09-regs.data", "SAMPLE", _key("regs_intr", "ip", 1), "regs_intr"),
    ("10-group-leader-sampling.data", "SAMPLE",
     lambda record: record.details["read"]["values"][1].update(value=1),
     "read.values"),
    ("12-tracepoints.data", "SAMPLE", _set(cpu=7), "cpu"),
    ("16-zstd.data", "SAMPLE", _set(ip=1), "ip"),
    ("16-zstd.data", "SAMPLE", _set(offset=1), "not in the document"),
    ("22-build-id-mmap.data", "MMAP2", _set(build_id="00"), "build_id"),
    ("32-inherit-stat.data", "READ", _set(value=1), "value"),
    ("59-lost.data", "LOST", _set(lost=1), "lost"),
    ("59-lost.data", "LOST_SAMPLES", _set(lost=1), "lost"),
    ("66-stat-record-interval.data", "STAT", _set(val=1), "val"),
    ("66-stat-record-interval.data", "STAT_ROUND", _set(time=1), "time"),
    ("66-stat-record-interval.data", "STAT_CONFIG", _set(interval=1), "interval"),
]


def _applies(record, change):
    trial = copy.deepcopy(record)
    try:
        change(trial)
    except (AssertionError, KeyError, IndexError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("name, kind, change, word", MUTATIONS,
                         ids=[f"{m[1]}-{m[3].split()[0]}-{i}" for i, m
                              in enumerate(MUTATIONS)])
def test_a_wrong_field_is_reported(name, kind, change, word, perf, decode, fixture_dumps):
    path, dump = fixture_dumps(name)
    document = decode(path)
    assert not differences(dump, document)
    changed = copy.deepcopy(dump)
    # the last one: perf synthesizes the first ones, with zeroes
    record = next(record for record in reversed(changed.records) if record.type == kind
                  and _applies(record, change))
    change(record)
    found = differences(changed, document)
    assert found and any(word in line for line in found), found


@pytest.mark.parametrize("key, value", [
    ("sample_freq", 1), ("sample_type", {"raw": 1, "names": ["IP"]}),
    ("flags", {"raw": 1, "names": ["disabled"]}),
    ("config", "0x1"), ("type", "HARDWARE"), ("size", 1), ("read_format", {"raw": 0, "names": []}),
    ("precise_ip", 1), ("wakeup_events", 1), ("config1", "0x1"), ("sample_max_stack", 1)])
def test_a_wrong_attribute_is_reported(key, value, perf, decode, fixture_dumps):
    path, _ = fixture_dumps("01-basic.data")
    said, mine = (perf_oracle.event_list(perf, path)[0],
                  copy.deepcopy(decode(path)["attrs"][0]["attr"]))
    right, wrong = Differences(), Differences()
    attr_differences(right, "event", said["attr"], mine)
    assert not right
    assert mine[key] != value
    mine[key] = value
    attr_differences(wrong, "event", said["attr"], mine)
    assert any(key in line for line in wrong)


@pytest.mark.parametrize("change", ["lost", "invented", "twice"])
def test_a_wrong_set_of_records_is_reported(change, perf, decode, fixture_dumps):
    path, dump = fixture_dumps("01-basic.data")
    document = copy.deepcopy(decode(path))
    if change == "lost":
        del document["records"][5]
    elif change == "invented":
        document["records"].append({**document["records"][5], "offset": 1 << 40})
    else:
        document["records"].append(document["records"][5])
    assert differences(dump, document)


@pytest.mark.parametrize("feature", ["HOSTNAME", "NRCPUS", "CMDLINE", "EVENT_DESC", "CPU_TOPOLOGY",
                                     "NUMA_TOPOLOGY", "PMU_MAPPINGS", "CACHE", "SAMPLE_TIME",
                                     "MEM_TOPOLOGY", "TOTAL_MEM"])
def test_a_missing_feature_is_reported(feature, perf, decode, fixture_dumps):
    path, _ = fixture_dumps("01-basic.data")
    document = copy.deepcopy(decode(path))
    header = perf_oracle.header(perf, path)
    assert not feature_differences(header, document)
    document["features"][feature] = {"NRCPUS": {"online": 1, "available": 99}}.get(feature, [])
    assert any(line.startswith(feature) for line in feature_differences(header, document))


@pytest.fixture(scope="module")
def fixture_dumps(perf):
    """Function: returns the path and perf's dump of a capture."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = perf_oracle.dump(perf, FIXTURES / "perf" / name)
        return FIXTURES / "perf" / name, made[name]
    return get
