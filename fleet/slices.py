"""Slices of a fleet, for tests and the demonstration: recordings of 40 hosts in 2 hours, made from
captures of fixtures/ by pdecode and pencode.

The hosts with odd numbers run a version of the workload that spends less time in its loop."""
import concurrent.futures
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAPTURES = ["02-callgraph-fp", "05-switch-events", "02-callgraph-fp", "59-lost",
            "46-user-callchains", "02-callgraph-fp", "18-pipe", "16-zstd"]
HOSTS = 40
OLD = "751970c5534b26a5996d556531ab431a55e1381b"      # of the workload
NEW = "0123456789abcdef0123456789abcdef01234567"
# Rules of services; the first that matches counts.
RULES = [{"cgroup": "/*", "comm": "workload", "host_group": "with cgroups"},
         {"host": "web-?[13579]", "comm": "exe", "service": "loader", "version": "7"},
         {"host": "web-?[13579]", "service": "shop", "version": "2", "host_group": "odd"},
         {"comm": "wl*", "service": "shop", "version": "1"}]
_LOOP = '"ip":"0x556f1b52528f"'
_TIME = re.compile(r'("(?:time|first|last)":)(\d{9,})')


def _lines(tools, capture):
    done = subprocess.run([tools / "pdecode", "-f", "jsonl",
                           ROOT / "fixtures" / "perf" / f"{capture}.data"],
                          capture_output=True, check=True, text=True)
    return done.stdout.splitlines(keepends=True)


def _edited(lines, number):
    """The capture as slice `number`: another host and time, and in odd hosts another version."""
    host = number % HOSTS
    if host % 2:
        lines = [line for i, line in enumerate(lines) if _LOOP not in line or i % 3]
    text = "".join(lines).replace('"HOSTNAME":"vm"', f'"HOSTNAME":"web-{host:02}"')
    shifted = _TIME.sub(lambda found: f"{found[1]}{int(found[2]) + number * 60_000_000_000}", text)
    return shifted.replace(OLD, NEW) if host % 2 else shifted


def _make_one(tools, lines, number, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([tools / "pencode", "-o", path], input=_edited(lines, number).encode(),
                   check=True)


def _path(raw, number):
    hour = 13 + number // HOSTS % 2
    return raw / f"date=2026-11-22/hour={hour}/host=web-{number % HOSTS:02}/{number:06}.data"


def make(tools, raw, total, cut, foreign, duplicates):
    """Makes `total` slices in the folder `raw`. Returns the paths of those that differ: the
    `duplicates` are left out."""
    good = total - foreign - duplicates
    paths = [_path(raw, number) for number in range(total)]
    lines = {capture: _lines(tools, capture) for capture in set(CAPTURES)}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda number: _make_one(tools, lines[CAPTURES[number % len(CAPTURES)]],
                                               number, paths[number]), range(good)))
    for number in range(cut):
        path = paths[number * (good // cut)]
        data = path.read_bytes()
        path.write_bytes(data[:len(data) // 2 + number])
    for number in range(good, good + foreign):
        paths[number].parent.mkdir(parents=True, exist_ok=True)
        paths[number].write_text(json.dumps({"log": number}) * 100)
    for number in range(good + foreign, total):
        paths[number].parent.mkdir(parents=True, exist_ok=True)
        paths[number].write_bytes(paths[number % good * 7 % good].read_bytes())
    return paths[:good + foreign]
