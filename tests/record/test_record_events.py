"""precord -e against perf record -e: both accept and refuse the same strings, and make the same
attributes of them.

Strings are generated from the grammar (event_grammar.py). Both run where sysfs shows the PMUs that
the strings name; perf's perf_event_open(2) accepts everything (tests/workload/allevents.c), so that
its attributes get into its file.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess

import pytest

import event_grammar
import perf_oracle
from compiled import preloaded
from recorder import (  # noqa: F401
    needs_root, needs_tracefs, precord, print_attr, record, run_precord, strict_attrs, workload)
from same_length import zip_all
from test_record_aux import DEVICES, within

STRINGS, WRONG = 600, 200
BATCH = 50
MARK = "r5e805eed"          # separates the events of one string from those of the next
TIMEOUT = 120
FIELDS = ("type config config1 config2 config3 bp_type bp_addr bp_len sample_period sample_freq "
          "precise_ip "
          "branch_sample_type sample_max_stack sample_stack_user sample_regs_user").split()
# Set for the recording, not for the event.
NOT_COMPARED = {"mmap", "mmap2", "mmap_data", "comm", "comm_exec", "task", "ksymbol", "bpf_event",
                "watermark", "enable_on_exec", "sample_id_all"}

# Accepted by perf 6.12, not by 6.1.
NEWER = re.compile(
    r"(^|[,{] *)mem:[^,{}]*/[^0-9]|config3|no_flags|[*?\[][^/:,]*/|name='?9|cpu/(cycles|L1-)")
# perf accepts a group without its closing brace.
UNFINISHED = re.compile(r"^[^}]*\{[^}]*$")

pytestmark = [needs_root, needs_tracefs,
              pytest.mark.skipif(not shutil.which("unshare") or not os.path.isdir(DEVICES),
                                 reason="no unshare, no sysfs")]


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    directory = tmp_path_factory.mktemp("grammar") / "devices"
    event_grammar.write_pmus(directory)
    mount = subprocess.run(within(directory) + ["true"], stderr=subprocess.PIPE)
    if mount.returncode:
        pytest.skip(f"no mount namespace: {mount.stderr.decode()}")
    return directory


def run_each(devices, directory, command, strings):
    """Runs the command with each string, in a few shells; returns exit codes and first lines of
    stderr."""
    script = ('while IFS= read -r event; do said=$("$@" -e "$event" true 2>&1 >/dev/null); '
              'echo "$? $(printf %s "$said" | grep -v "^$" | head -n 1)"; done')
    parts = [strings[i::2] for i in range(2)]
    environment = dict(os.environ, LC_ALL="C", HOME="/nonexistent")

    def run(part):
        done = subprocess.run(within(devices) + ["sh", "-c", script, "sh", *command], cwd=directory,
                              env=environment, input="".join(f"{string}\n" for string in part),
                              stdout=subprocess.PIPE, timeout=TIMEOUT, text=True, check=True)
        return [(int(line.split(" ")[0]), line.split(" ", 1)[1])
                for line in done.stdout.splitlines()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = dict(kv for part, got in zip(parts, pool.map(run, parts))
                       for kv in zip_all(part, got))
    return [answers[string] for string in strings]


def marked(strings):
    return [word for string in strings for word in ("-e", string, "-e", MARK)]


def per_string(attrs, strings):
    """Returns the events of each string, sorted by number: perf orders those of a group
    differently."""
    events, parts = [], []
    for attr in attrs:
        if int(attr["config"], 16) == int(MARK[1:], 16):
            parts.append(sorted(events,
                                key=lambda event: sorted(event.items(), key=repr).__repr__()))
            events = []
        else:
            events.append(comparable(attr))
    return dict(zip_all(strings, parts))


def comparable(attr):
    fields = {name: attr[name] for name in FIELDS if name in attr.fields
              and attr[name] not in (0, "0x0")}
    if "branch_sample_type" in fields:
        fields["branch_sample_type"] = sorted(attr.branches)
    fields["flags"] = sorted(attr.flags - NOT_COMPARED)
    fields["sample_type"] = sorted(attr.sample_type - {"IDENTIFIER", "ID"})
    fields["read_format"] = sorted(attr.read_format - {"LOST"})
    return fields


@pytest.fixture(scope="module")
def perf_attrs(perf, devices, tmp_path_factory, run_pdecode):
    """Function: the attributes that perf makes of these strings; its failure names the string."""
    directory = tmp_path_factory.mktemp("perf")
    library = preloaded("allevents", directory)

    def run(strings):
        name = directory / f"{abs(hash(tuple(strings)))}.data"
        command = [perf, "record", "--no-bpf-event", "--synth=no", "-B", "-N", "-m", "1", "-T",
                   "-o", name]
        done = subprocess.run(within(devices) + ["env", f"LD_PRELOAD={library}", *map(str, command),
                                                 *marked(strings), "true"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=TIMEOUT,
                              env=dict(os.environ, LC_ALL="C", HOME="/nonexistent"))
        if name.exists() and name.stat().st_size:
            return per_string(strict_attrs(run_pdecode([name]).stdout), strings)
        if len(strings) == 1:
            return {strings[0]: done.stderr.decode(errors="replace").strip()[:200]}
        half = len(strings) // 2
        return run(strings[:half]) | run(strings[half:])
    return run


@pytest.fixture(scope="module")
def versions(perf):
    return tuple(int(number) for number in re.findall(r"\d+", perf_oracle.version(perf))[:2])


def comparable_strings(version):
    strings = event_grammar.right(STRINGS) + event_grammar.wrong(WRONG)
    return [string for string in dict.fromkeys(strings) if not UNFINISHED.search(string) and
            (version >= (6, 12) or not NEWER.search(string))]


def test_the_grammar_gives_many_strings():
    assert len(comparable_strings((6, 1))) >= 500


@pytest.mark.long
def test_perf_takes_the_same_strings_and_makes_the_same_of_them(precord, perf, perf_attrs, versions,
                                                                devices, tmp_path):
    strings = comparable_strings(versions)
    verdicts = dict(zip(strings, run_each(devices, tmp_path, [precord, "--dry-run"], strings)))
    taken = [string for string in strings if verdicts[string][0] == 0]
    refused = [string for string in strings if verdicts[string][0]]
    assert len(taken) > 400 and len(refused) > 100

    answers = run_each(devices, tmp_path, [perf, "record", "--dry-run"], refused)
    too_strict = [f"{string}: {verdicts[string][1]}" for string, (code, _) in zip(refused, answers)
                  if code == 0]
    assert not too_strict

    done = subprocess.run(within(devices) + [precord, "--print-attr", "-T", *marked(taken)],
                          stdout=subprocess.PIPE, check=True, timeout=TIMEOUT)
    ours = per_string(strict_attrs(done.stdout), taken)
    batches = [taken[i:i + BATCH] for i in range(0, len(taken), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        theirs = dict(kv for part in pool.map(perf_attrs, batches) for kv in part.items())
    different = [f"{string}\n  ours   {ours[string]}\n  perf's {theirs[string]}" for string in taken
                 if ours[string] != theirs[string]]
    assert not different, "\n".join(different[:10])


@pytest.mark.parametrize("event, name", [
    ("cycles/name=mine/u", "mine"), ("cycles/name='a:b=1,c'/", "a:b=1,c"),
    ("cycles/name='two words'/", "two words"),
    ("r1a8/name=\"x\"/", "x"), ("mem:0x1000/4:w/name='a/b',period=3/u", "a/b"),
    (" cycles : u ", "cycles : u"),
    ("1:2/name=x.y-z/", "x.y-z"), ("mem:0x1000:w:u", "mem:0x1000:w:u"),
    ("sched:sched_switch:u", "sched:sched_switch"),
])
def test_names_of_events(print_attr, event, name):
    assert [attr.name for attr in print_attr("-e", event)] == [name]


@pytest.mark.parametrize("event, said", [
    ("cycles:uu", "'u' occurs twice"), ("cycles:pppp", "level is 3"),
    ("cycles:q", "unknown modifiers 'q'"),
    ("{cycles,cs}:", "missing after a group's colon"), ("{cycles,cs", "closing brace"),
    ("cycles/period=1", "second slash"),
    ("cycles/period=1,/", "a term or value is missing"), ("cycles/nosuch/", "no term 'nosuch'"),
    ("cycles/name=12/", "in quotes"),
    ("mem:0x1000:ww", "mem:ADDR[/LEN]"),
    ("mem:0x1000:u/name=x/", "modifiers must follow the terms"),
    ("sched:sched_switch/config=1/", "no term 'config'"),
    ("/x/{cycles}", "name is missing before the slash"),
    ("a b{cycles,cs}", "can't be a group's name"),
])
def test_errors_name_the_wrong_part(run_precord, event, said):
    done = run_precord("--dry-run", "-e", event, "--", "true")
    assert done.returncode == 2 and said in done.stderr.decode(), done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("event, said", [
    ("hv_gpci/dispatch/", "starting_index=N"),
    ("cpu/mem-loads,cache-misses/", "more than one event"),
    ("cpu/event=256/", "too large"), ("cpu/event=x/", "not a number"),
    ("cpu/nosuch/", "no term or event 'nosuch'"),
])
def test_errors_name_the_wrong_part_of_a_pmu_event(run_precord, devices, event, said):
    done = run_precord("--dry-run", "-e", event, "--", "true", prefix=within(devices))
    assert done.returncode == 2 and said in done.stderr.decode(), done.stderr.decode()


@pytest.mark.parametrize("event, field, value", [
    # the user's value replaces that of the named event; perf combines their bits
    ("cpu/mem-loads,ldlat=30/", "config1", 30), ("mem-loads/ldlat=30/", "config1", 30),
    ("cpu/umask=0x10,cache-misses/", "config", 0x102e),
    ("*/event=1,ldlat=2/", "config1", 2), ("cp?/event=2/", "config", 2),
    ("imc_*/cas_count_read/", "config", 0x304),
])
def test_pmus(devices, precord, event, field, value):
    done = subprocess.run(within(devices) + [precord, "--print-attr", "-e", event],
                          stdout=subprocess.PIPE, check=True)
    assert int(strict_attrs(done.stdout)[0][field], 16) == value


def test_names_of_groups_are_in_the_file(record):
    run = record("-e", "mine{cpu-clock,page-faults},'the.other'{task-clock:u,cs}:S,{faults,cs}")
    groups = run.document["features"]["GROUP_DESC"]
    assert [group["name"] for group in groups] == ["mine", "the.other", "{anon_group}"]


@pytest.mark.parametrize("event, meant", [
    ("cylces", "cycles"), ("cylces:u", "cycles"), ("CPU-CLOCK", "cpu-clock"),
    ("page-fault", "page-faults"), ("fautls", "faults"),
    ("L1-dcahe-loads", "L1-dcache-loads"), ("sched_switch", "sched:sched_switch"),
    ("sched_swich", "sched:sched_switch"),
    ("sched:sched_swich", "sched:sched_switch"), ("schd:sched_switch", "sched:sched_switch"),
])
def test_a_misspelt_event_gets_a_suggestion(run_precord, event, meant):
    done = run_precord("--dry-run", "-e", event, "--", "true")
    assert done.returncode == 2
    assert f"did you mean '{meant}'?" in done.stderr.decode() and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("event, kind", [
    ("cylces", "event"), ("cylces:u", "event"), ("xyzzy:k", "event"),
    ("sched:sched_swich", "tracepoint"),
    ("nosuch:nosuch", "tracepoint"),
])
def test_an_unknown_event_is_named_by_its_kind(run_precord, event, kind):
    done = run_precord("--dry-run", "-e", event, "--", "true")
    assert done.returncode == 2 and f"there is no {kind} '{event}'; " in done.stderr.decode()


@pytest.mark.parametrize("event", ["xyzzy", "sched:nosuch", "qq", "x" * 300])
def test_no_suggestion_without_a_similar_name(run_precord, event):
    done = run_precord("--dry-run", "-e", event, "--", "true")
    assert done.returncode == 2 and b"did you mean" not in done.stderr and b"--list" in done.stderr
