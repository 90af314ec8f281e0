"""Laws of profiles, over all captures and the recordings of other projects."""
import collections
import json
import re
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from profiles import (Callgrind, Firefox, Pprof, csv_rows, folded, pages, preport,
                      self_by_function)

FORMS = ("top", "tree", "folded", "flamegraph", "pprof", "csv", "json", "svg", "callgrind",
         "firefox", "speedscope", "chrome", "otlp", "script")
SHOWN = (0, 1)          # whole, or as far as the file is readable


@pytest.fixture(scope="module", name="stacks")
def fixture_stacks(data_file):
    """Folded stacks of a recording, with names as they are; skips one without samples."""
    if data_file.is_directory:
        pytest.skip("a directory")
    out = preport("-f", "folded", "--raw-names", "--group=none", data_file.path,
                  status=(0, 1, 3, 5))
    if not out:
        pytest.skip("no samples")
    return folded(out)


def test_jobs_are_not_seen(data_file, stacks):
    """Each thread of a small recording has little to do: test_parts has a large one."""
    for form in FORMS:
        one, two = (preport("-f", form, jobs, data_file.path, status=SHOWN)
                    for jobs in ("-j1", "-j3"))
        assert one == two, form


def test_two_times_are_the_whole(data_file, stacks):
    """Samples without a time are in neither."""
    path = data_file.path
    info = json.loads(subprocess.run([TOOLS / "pdecode", "-f", "stats", path], check=False,
                                     capture_output=True, timeout=TIMEOUT).stdout)
    first, last = info.get("first_time"), info.get("last_time")
    if not last:
        pytest.skip("no times")
    middle = (first + last) // 2

    def part(*options):
        out = preport("-f", "folded", "--raw-names", *options, path, status=(0, 1, 5))
        return collections.Counter(folded(out)) if out else collections.Counter()
    event = json.loads(preport("-f", "json", path, status=SHOWN))["event"]
    # what a counter in samples has counted begins in one
    options = ["--weight=samples", "-e", re.sub(r"[\[*?]", "?", event).replace(",", "?")]
    whole = part(*options, "--time", f"0ns,{2**63}ns")
    before = part(*options, "--time", f"0ns,{middle}ns")
    after = part(*options, "--time", f"{middle + 1}ns,{2**63}ns")
    assert before + after == whole


def test_callers_have_the_same_total(data_file, stacks):
    out = preport("-f", "folded", "--raw-names", "--group=none", "--callers", data_file.path,
                  status=SHOWN)
    assert folded(out) == {key[::-1]: weight for key, weight in stacks.items()}


def test_the_difference_of_a_recording_with_itself_is_nothing(data_file, stacks):
    path = data_file.path
    out = preport("--base", path, "-n0", path, status=SHOWN).decode()
    changes = re.findall(r"^ *[\d.]+ % +[\d.]+ % +(\S+)  ", out, re.M)
    assert {float(change) for change in changes} <= {0}
    out = preport("--base", path, "-n0", "--absolute", path, status=SHOWN).decode()
    changes = re.findall(r"^ *[\d.]+ +[\d.]+ +(\S+)  ", out, re.M)
    assert {float(change) for change in changes} <= {0}
    _, events = pages(preport("--base", path, "-f", "flamegraph", path, status=SHOWN))
    for _, nodes, _ in events:
        assert all(node[2:4] == node[4:6] for node in nodes)
    pprof = Pprof(preport("--base", path, "-f", "pprof", path, status=SHOWN))
    assert all(value % 2**64 == 0 for values in pprof.stacks().values() for value in values)


def test_functions_have_the_same_own_weight_in_all_formats(data_file, stacks):
    path = data_file.path

    def run(form, *options):
        return preport("-f", form, "--idle=keep", *options, path, status=SHOWN)
    want = {name.decode(): weight for name, weight in self_by_function(stacks).items() if weight}
    table = collections.Counter()
    for name, _, _, own, _, _ in csv_rows(run("csv")):
        table[name.replace(";", ":")] += own
    assert {name: own for name, own in table.items() if own} == want
    pprof, event = Pprof(run("pprof")), json.loads(run("json"))["event"]
    names = [name for name, _ in pprof.types]
    column = next(i for i in range(1, len(names), 2)
                  if names[i] in (event, event + "_event")
                  or (names[i] == "cpu" and names[i - 1] in ("samples", event + "_sample")))
    sums = collections.Counter()
    for _, frames, values in pprof.samples:
        sums[frames[-1].replace(";", ":") if frames else "[unknown]"] += values[column]
    assert {name: own for name, own in sums.items() if own} == want
    if not all(frames for _, frames, _ in pprof.samples):
        return      # samples without an address have the thread there
    callgrind = Callgrind(run("callgrind"))
    own = callgrind.self_by_name(callgrind.events.index(re.sub(r"\W", "_", event)))
    assert {name.replace(";", ":"): weight for name, weight in own.items()} == want
    firefox = Firefox(run("firefox"))
    sums = collections.Counter()
    for key, weight in firefox.weights().items():
        sums[key.rpartition(";")[2]] += weight
    is_time = any(thread["samples"]["weightType"] == "tracing-ms" for thread in firefox.threads)
    if is_time and sum(sums.values()) == sum(want.values()):
        # else another event is the first in the order of time
        assert {name: own for name, own in sums.items() if own} == want
