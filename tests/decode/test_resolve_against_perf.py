"""comm, pid, tid and the place of each frame, compared with the output of `perf script`."""
import json
import re

import pytest

import perf_oracle
from conftest import fixture_files

HEAD = re.compile(r"^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s*(.*)$")
FRAME = re.compile(r"^\s*([0-9a-f]+) \((.*)\)$")

# perf script has no plain list of samples for these, or makes up the frames by unwinding.
OTHERS = {
    "03-callgraph-dwarf.data": "perf unwinds stacks", "88-32bit-regs.data": "perf unwinds stacks",
    "10-group-leader-sampling.data": "perf makes a sample for each member of a group",
    "98-group-lead-tp.data": "the same", "K-group.data": "the same",
    "A3-zstd-unflushed.data": "perf does not read the last, cut part",
    "18-pipe.data": "symbols that -F can't leave out of a pipe", "19-pipe-tp.data": "the same",
    "95-zstd-pipe.data": "the same", "A2-raw-all-pipe.data": "the same", "K-all.data": "the same",
    "K-weight.data": "the same",
    **dict.fromkeys(
        ["34-no-samples.data", "37-per-thread.data", "56-bpf-output.data", "62-bp-exec.data",
         "65-stat-record.data", "66-stat-record-interval.data", "67-stat-record-pipe.data",
         "68-switch-output.data.2026112112470082", "71-lock-record.data", "86-stat-msr.data",
         "87-event-terms.data", "91-dummy-sideband.data", "99-stat-pertask.data",
         "K-bpfout.data"], "no samples with a task, a time and an ip"),
}


@pytest.fixture(scope="module")
def is_later(perf):
    """Whether perf shows addresses in files as they are in memory, and forgets threads that end."""
    version = perf_oracle.version(perf)
    if not version.startswith(("6.1.", "6.12.")):
        pytest.skip("the comparison reads the output of perf 6.1 and 6.12")
    return version.startswith("6.12.")


def perf_samples(perf, path):
    """(time, pid, tid, comm, [(address or offset, dso)]); None where perf shows no samples."""
    _, out, _ = perf_oracle.run_perf(perf, ["script", "-i", path, "-f", "--no-inline", "--ns",
                                            "-F", "comm,pid,tid,time,ip,dso"])
    found = []
    for line in filter(str.strip, out.split("\n")):
        head, frame = HEAD.match(line), FRAME.match(line)
        if head:
            found.append((int(head[4] + head[5]), int(head[2]), int(head[3]), head[1], []))
            frame = FRAME.match(head[6])
        elif not frame:
            return None
        if frame:
            found[-1][4].append((int(frame[1], 16), frame[2]))
    return found


def our_samples(run_pdecode, path, is_later):
    """The same; perf leaves out an ip that is not in the callchain, and shows it as an address."""
    done = run_pdecode(["--resolve", "--types", "SAMPLE", "--blobs", "omit", path])
    document, found = json.loads(done.stdout), []
    for record in document["records"]:
        if not {"pid", "time"} <= set(record):
            return None
        frames, chain = record.get("frames", []), record.get("callchain")
        if chain is not None:
            frames = frames[len(frames) - sum(addr.startswith("0x") for addr in chain):]
        places = []
        for frame in frames:
            kind = document["images"][frame["image"]]["image_kind"] if "image" in frame else None
            as_address = is_later or kind in (None, "KERNEL") or chain is None
            places.append((int(frame["addr" if as_address else "file_offset"], 16),
                           frame.get("dso", "[unknown]")))
        found.append((record["time"], record["pid"], record["tid"],
                      record.get("comm", f":{record['tid']}"), places))
    return found


def times_of(document, kind, key):
    """pid or tid -> times of execs (COMM) or ends (EXIT)."""
    found = {}
    for record in document["records"]:
        if record["type"] == kind and (kind != "COMM" or
                                       "COMM_EXEC" in record.get("misc_flags", [])):
            found.setdefault(record[key], []).append(record["sample_id"]["time"])
    return found


def is_stale(ours, theirs, exec_times):
    """perf keeps the maps of the program before an exec: what it names is not mapped any more."""
    return any(time <= ours[0] for time in exec_times.get(ours[1], [])) and all(
        own == other or own[1] == "[unknown]" for own, other in zip(ours[4], theirs[4]))


def forget_names(samples, document):
    """The samples after their threads' ends, as a perf that forgets these shows them."""
    ends = times_of(document, "EXIT", "tid")
    return [(time, pid, tid, f":{tid}" if any(end < time for end in ends.get(tid, ())) else comm,
             places) for time, pid, tid, comm, places in samples]


@pytest.mark.parametrize("file", [file for file in fixture_files() if file.name not in OTHERS],
                         ids=lambda file: file.name)
def test_samples_as_perf_shows_them(file, perf, is_later, run_pdecode, decode):
    theirs, ours = perf_samples(perf, file.path), our_samples(run_pdecode, file.path, is_later)
    assert theirs and ours
    document = decode(file.path)
    stale = times_of(document, "COMM", "pid")
    if is_later:
        ours = forget_names(ours, document)
    theirs.sort()
    ours.sort()
    assert [sample[:4] for sample in ours] == [sample[:4] for sample in theirs]
    wrong = [pair for pair in zip(ours, theirs)
             if pair[0] != pair[1] and not is_stale(*pair, stale)]
    assert not wrong, wrong[:3]
