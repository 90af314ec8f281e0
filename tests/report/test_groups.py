"""Frames above the stacks: control groups, tasks and CPUs."""
import json
import random
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import ANSWER, FAULTS, recording  # noqa: F401
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe
from perfdata.sample import sample, sample_id
from profiles import Pprof, folded, page_stacks, preport, text

IN_GROUPS = attr("IP|TID|TIME|PERIOD|IDENTIFIER|CGROUP", type=1, config=0, sample_period=1000,
                 flags=("sample_id_all", "cgroup"))


@pytest.fixture
def grouped(tmp_path):
    """Samples in a group with a path, and in one without."""
    sid = sample_id(IN_GROUPS, time=1, identifier=1)
    records = [r.cgroup(77, "/system.slice/x.service", sid=sid), r.comm(10, 10, "app", sid=sid)]
    records += [sample(IN_GROUPS, misc=2, pid=10, tid=11, time=10 + group, ip=0x1010, identifier=1,
                       period=group, cgroup=group) for group in (77, 78)]
    path = tmp_path / "grouped.data"
    path.write_bytes(File(attrs=[(IN_GROUPS, [1])], records=records).build("<"))
    return path


def test_cpus(recording):
    got = text(folded(preport("-f", "folded", "--group=cpu", recording)))
    assert got["cpu_3;[[kernel.kallsyms]]"] == 1000
    assert {key.split(";")[0] for key in got} == {"cpu_3", "cpu_0"}
    assert sum(got.values()) == sum(ANSWER.values())
    got = text(folded(preport("-f", "folded", "--group=cpu,tid,comm,pid", "--comm=child",
                              recording)))
    assert got == {"child-20/20;cpu_0;[app];[app];[app]": 40, "child-20/20;cpu_0;[unknown]": 2}


def test_control_groups(grouped):
    got = text(folded(preport("-f", "folded", "--group=cgroup,pid,comm", grouped)))
    assert got == {"/system.slice/x.service;:11-10;[unknown]": 77, "cgroup_78;:11-10;[unknown]": 78}
    profile = Pprof(preport("-f", "pprof", "--group=cgroup,tid,cpu", grouped))
    assert [labels for labels, *_ in profile.samples] == [
        {"cgroup": "/system.slice/x.service", "tid": 11}, {"cgroup": "cgroup 78", "tid": 11}]
    stacks = page_stacks(preport("-f", "flamegraph", "--group=cgroup", grouped))
    assert stacks["/system.slice/x.service;[unknown]"] == 77


def test_recordings_without_them(grouped, recording):
    assert set(text(folded(preport("-f", "folded", "--group=cpu", grouped)))) == {
        "[no_CPU];[unknown]"}
    assert all(key.startswith("[no_cgroup];") for key in text(folded(preport(
        "-f", "folded", "--group=cgroup", recording))))


def test_lines_without_a_cpu(grouped):
    rows = json.loads(preport("-f", "json", "-s", "cpu,tid", grouped))["rows"]
    assert rows == [{"cpu": None, "tid": 11, "self": 155, "total": 155, "samples": 2}]
    assert "  [no CPU]\n" in preport("-s", "cpu", grouped).decode()


def test_labels_of_pprof(recording):
    profile = Pprof(preport("-f", "pprof", "--group=comm,cpu", "--comm=swapper", recording))
    assert [labels for labels, *_ in profile.samples] == [{"comm": "swapper", "cpu": 3}]


def test_a_word_that_is_no_group(recording):
    preport("--group=node", recording, status=2)


def test_groups_are_given_at_once_or_one_by_one(recording):
    both = preport("-f", "folded", "--group=comm,cpu", recording)
    assert preport("-f", "folded", "--group=comm", "--group", "cpu", recording) == both
    assert both not in (preport("-f", "folded", f"--group={one}", recording)
                        for one in ("comm", "cpu"))
    preport("--group=comm", "--group=wrong", recording, status=2)


def test_lines_of_frames_that_others_begin_with_are_sorted_by_bytes(tmp_path):
    """A frame ends with ';', which is between other characters; one without text has none."""
    chance, want, records = random.Random(4), {}, []
    sid = sample_id(IN_GROUPS, time=1, identifier=1)
    for i in range(1, 400):
        names = ["".join(chance.choices("a!~'", k=chance.randrange(1, 5))) for _ in range(2)]
        stack = b""
        for name in (*names, "[unknown]"):
            stack += b";" * bool(stack) + name.replace("'", "").encode()
        want[stack] = want.get(stack, 0) + i
        records += [r.cgroup(i, names[0], sid=sid), r.comm(i, i, names[1], sid=sid),
                    sample(IN_GROUPS, misc=2, pid=i, tid=i, time=10, ip=0x1010, identifier=1,
                           period=i, cgroup=i)]
    path = tmp_path / "names.data"
    path.write_bytes(File(attrs=[(IN_GROUPS, [1])], records=records).build("<"))
    got = preport("-f", "folded", "--group=cgroup,comm", path)
    assert got == b"".join(b"%s %d\n" % line for line in sorted(want.items()))


def without_cpus(times=1):
    """A recording of an event without a CPU, as of a command, and of one with it; a dummy event
    has a CPU and no samples."""
    alone = attr("IP|TID|TIME|PERIOD|IDENTIFIER", type=1, config=0, sample_period=1000,
                 flags=("freq", "sample_id_all", "exclude_guest"))
    dummy = attr("IP|TID|TIME|CPU|IDENTIFIER", type=1, config=9, flags=("sample_id_all",))
    events = [(alone, [1]), (dummy, [3])]
    records = [sample(alone, misc=2, pid=7, tid=7, time=10, ip=0x1010, identifier=1, period=5)]
    if times > 1:
        events.append((FAULTS, [2]))
        records += [sample(FAULTS, misc=2, pid=7, tid=7, time=11 + cpu, ip=0x1010, cpu=cpu,
                           callchain=[], identifier=2) for cpu in (0, 1)]
    return events, records


def asked(*args, input=None):
    done = subprocess.run([TOOLS / "preport", "--no-symbols", *map(str, args)], input=input,
                          capture_output=True, timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.parametrize("options", ([], ["-f", "script"], ["-f", "folded", "-e", "cpu-clock"]),
                         ids=" ".join)
def test_a_cpu_that_no_sample_states_is_refused(options, tmp_path):
    events, records = without_cpus()
    (tmp_path / "x").write_bytes(File(attrs=events, records=records).build("<"))
    stream = Pipe(records=[*(r.header_attr(*event) for event in events), *records]).build("<")
    for path, input in ((tmp_path / "x", None), ("-", stream)):
        status, out, said = asked(*options, "-C", "7", path, input=input)
        assert (status, out) == (2, b"")
        assert said.splitlines()[0] == (
            "preport: '--cpu' needs samples with a CPU, which this recording does not have: "
            "record with --sample-cpu")
        assert asked(*options, path, input=input)[0] == 0


def test_an_event_without_cpus_beside_another_is_told(tmp_path):
    events, records = without_cpus(times=2)
    (tmp_path / "x").write_bytes(File(attrs=events, records=records).build("<"))
    status, out, said = asked("-f", "script", "--cpu", "1", tmp_path / "x")
    assert status == 0 and out.count(b":7   ") == 2
    assert said == ("preport: --cpu does not apply to samples of cpu-clock, which have no CPU: "
                    "record with --sample-cpu\n")
    status, out, said = asked("-f", "folded", "-e", "page-faults", "--cpu", "1", tmp_path / "x")
    assert (status, out, said) == (0, b":7;[unknown] 3\n", "")
