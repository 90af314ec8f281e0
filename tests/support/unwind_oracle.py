"""The frames of perf, of libdwfl and our own, sample by sample, and why they differ."""
import collections
import json
import subprocess

import compiled
from perf_oracle import run_perf

Frame = collections.namedtuple("Frame", "addr offset vaddr flags file")
INVENTED = 2**64 - 1
KERNEL = 2**63


def parse(lines):
    """[((tid, time), end, [fields of each frame])]"""
    found = []
    for line in lines:
        words = line.split()
        if words[0] == "sample":
            found.append(((int(words[2]), int(words[3])), words[5], []))
        else:
            found[-1][2].append(words)
    return found


def our_stacks(path, *options):
    """[((tid, time), end, [Frame])]"""
    return [
        (key, end,
         [Frame(*(int(word, 16) for word in words[:3]), words[3], words[4]) for words in frames])
        for key, end, frames in parse(compiled.run_clean("symbols_unwind", path, *options))
    ]


def pdecode_stacks(run_pdecode, path):
    """{(tid, time): (end, [(address, offset in the file, flags)])} of the user part, as
    --symbols writes it."""
    done = run_pdecode(["-f", "jsonl", "--records-only", "--types", "SAMPLE", "--symbols",
                        "--no-inline", "--blobs", "omit", path])
    assert done.returncode == 0, done.stderr
    found = {}
    for line in map(json.loads, done.stdout.splitlines()):
        if line.get("type") != "SAMPLE" or "frames" not in line:
            continue
        found[line["tid"], line["time"]] = line.get("stack_end", "-"), [
            (int(frame["addr"], 16), int(frame.get("file_offset", "-1"), 16),
             ("r" if "return_address" in frame else "x") + ("g" if "guessed" in frame else ""))
            for frame in line["frames"] if frame.get("cpumode", line["cpumode"]) == "USER"]
    return found


def dwfl_stacks(path):
    """[((tid, time), [address])]"""
    return [(key, [int(words[0], 16) for words in frames])
            for key, _, frames in parse(compiled.run_clean("symbols_dwfl", path))]


def perf_stacks(perf, path, *options):
    """[((tid, time), [offset in the file])] of the user part."""
    code, out, err = run_perf(
        perf,
        ["script", "-f", "--ns", "--no-inline", "-F", "tid,time,ip", *options, "-i",
         str(path)])
    assert code == 0, err
    found = []
    for line in out.splitlines():
        words = line.split()
        if line and not line[0].isspace() or line.rstrip().endswith(":"):
            seconds, _, ns = words[1].rstrip(":").partition(".")
            found.append(((int(words[0]), int(seconds) * 10**9 + int(ns)), []))
        elif words:
            found[-1][1].append(int(words[0], 16))
    return [(key, [ip for ip in ips if ip < KERNEL or ip == INVENTED]) for key, ips in found]


def explain_perf(theirs, frames, end):
    """None: the same. Else the name of a known difference, or what is wrong.

    perf 6.1 shows offsets in the file, 6.12 addresses; of return addresses both show 1 less, also
    of a signal's trampoline, which they look up there.
    """
    shown = [frame.offset - ("r" in frame.flags)
             for frame in frames], [frame.addr - ("r" in frame.flags) for frame in frames]
    reasons = [compare(theirs, ours, end) for ours in shown]
    return next((reason for reason in reasons if reason in KNOWN), reasons[0])


def compare(theirs, ours, end):
    if theirs == ours:
        return None
    if theirs and theirs[-1] == INVENTED:  # where the copied bytes end, and nothing says so
        rest = theirs[:-1]
        return "invented" if ours[:len(rest
                                       )] == rest else f"differs before an invented frame, {end}"
    if ours[:len(theirs)] == theirs:  # a saved register that was not copied stops libunwind
        return "stops early"
    return f"perf has more, {end}" if theirs[:len(ours)] == ours else f"differs, {end}"


def explain_dwfl(theirs, ours, end):
    if theirs == ours:
        return None
    if ours[:len(theirs)] == theirs:
        return "stops early"
    return f"libdwfl has more, {end}" if theirs[:len(ours)] == ours else f"differs, {end}"


KNOWN = {None, "invented", "stops early"}


def count(reasons):
    return collections.Counter("same" if reason is None else reason for reason in reasons)
