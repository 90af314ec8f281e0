"""Tables with the lines of all events."""
import json

import pytest

from conftest import fixture_files
from known_recording import EXEC, FAULTS, Recording, recording  # noqa: F401
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from profiles import preport
from test_viewer import on_terminal


def lines(*args):
    out = preport(*args).decode().split("\n\n")
    return out[0], [line.split() for line in out[1].splitlines()]


@pytest.fixture
def two(tmp_path):
    it = Recording()
    it.comm(1, 10, "one", misc=EXEC)
    it.comm(1, 20, "two", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.map(2, 20, 0x1000, 0x1000, "/bin/app")
    it.sample(5, 10, 75, 0x1010)
    it.sample(6, 20, 25, 0x1010)
    for time in (7, 8, 9):
        it.sample(time, 10, 0, 0x1010, event=FAULTS)
    it.sample(10, 20, 0, 0x1010, 0x1010, event=FAULTS)
    (tmp_path / "perf.data").write_bytes(it.file())
    return tmp_path / "perf.data"


@pytest.mark.sanitize
def test_shares_are_of_the_event_and_that_with_most_samples_is_first(two):
    assert lines("-s", "event,comm", two)[1] == [
        ["self", "total", "samples", "event", "comm"],
        ["75.0", "%", "75.0", "%", "3", "page-faults:HG", "one"],
        ["25.0", "%", "25.0", "%", "1", "page-faults:HG", "two"],
        ["75.0", "%", "75.0", "%", "1", "cpu-clock", "one"],
        ["25.0", "%", "25.0", "%", "1", "cpu-clock", "two"]]
    assert [row[6:] for row in lines("-s", "comm,event", "--percent-limit=50", two)[1]] == [
        [], ["page-faults:HG"], ["cpu-clock"], []]
    assert "more" not in lines("-s", "event", two)[1][-1]


def test_files_for_programs(two):
    assert preport("-f", "csv", "-s", "event", two).decode().split("\n") == [
        "event,self,total,samples", '"page-faults:HG",12,12,4', '"cpu-clock",100,100,2', ""]
    assert json.loads(preport("-f", "json", "-s", "event,sym", two))["rows"] == [
        {"event": "page-faults:HG", "function": "[app]", "self": 12, "total": 12, "samples": 4},
        {"event": "cpu-clock", "function": "[app]", "self": 100, "total": 100, "samples": 2}]


def test_the_lines_of_one_event_are_those_of_its_own_table(two):
    both = preport("-f", "csv", "-s", "event,comm,sym", two).decode().splitlines()
    for event in ("page-faults:HG", "cpu-clock"):
        own = preport("-f", "csv", "-s", "comm,sym", "-e", event, two).decode().splitlines()
        assert [line.split(",", 1)[1] for line in both if event in line] == own[1:]


def test_calls_are_of_one_event(two):
    preport("-s", "event", "-g", "caller", two, status=2)


@pytest.mark.parametrize("file", [file for file in fixture_files() if not file.is_directory],
                         ids=lambda file: file.path.name)
def test_events_of_a_capture_have_their_sums(file):
    got = preport("-f", "csv", "-s", "event", file.path, status=(0, 1, 3, 5)).decode()
    names = [line.rsplit(",", 3)[0] for line in got.splitlines()[1:]]
    for name, line in zip(names, got.splitlines()[1:]):
        if names.count(name) > 1 or any(c in name for c in "*?[,\\"):
            continue
        own = preport("-f", "csv", "-s", "event", "-e", name.strip('"'), file.path,
                      status=(0, 1)).decode().splitlines()
        assert own[1:] == [line]


def tracepoints(path, *events, names=()):
    known = [attr("IP|TID|TIME|CPU|PERIOD|IDENTIFIER", type=2, config=900 + i, sample_period=1,
                  flags=("sample_id_all",)) for i in range(len(events))]
    it = Recording()
    it.comm(1, 10, "one", misc=EXEC)
    it.comm(1, 20, "two", misc=EXEC)
    for i, pids in enumerate(events):
        for pid in pids:
            it.records.append(sample(known[i], misc=1, pid=pid, tid=pid, time=5, ip=0x1010, cpu=0,
                                     period=1, identifier=i + 1))
    called = [(event, name, [i + 1]) for i, (event, name) in enumerate(zip(known, names))]
    path.write_bytes(File(attrs=[(event, [i + 1]) for i, event in enumerate(known)],
                          records=it.records,
                          features={12: f.event_desc(called, 136)} if names else {}).build())
    return path


def test_a_recording_of_tracepoints_is_a_table_of_events_and_programs(tmp_path):
    path = tracepoints(tmp_path / "x", [10], [10, 20, 20])
    head, table = lines(path)
    assert [row[5:] for row in table[1:3]] == [[table[1][5], "two"], [table[1][5], "one"]]
    assert [row[4] for row in table[1:]] == ["2", "1", "1"] and len(table) == 4
    assert head.count("also recorded: 3 samples") == 1 and "-e shows" not in head
    assert lines("-s", "event,comm", path) == (head, table)
    assert lines("-s", "sym", path)[1][0][3:] == ["function"]
    one = tracepoints(tmp_path / "one", [10, 20, 20])   # in one place
    assert [row[4:] for row in lines(one)[1]][1:] == [
        ["2", "tracepoint:900", "two"], ["1", "tracepoint:900", "one"]]


def test_a_tracepoint_with_call_graphs_is_a_table_of_functions(tmp_path):
    point = attr("IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER", type=2, config=900,
                 sample_period=1, flags=("sample_id_all",))
    (tmp_path / "x").write_bytes(File(attrs=[(point, [1])], records=[
        sample(point, misc=1, pid=7, tid=7, time=5, ip=0x1010, cpu=0, period=1, identifier=1,
               callchain=[2**64 - 128, 0x1010, 0x1020])]).build())
    assert lines(tmp_path / "x")[1][0][3:] == ["function", "image", "thread"]


def test_many_events_leave_room_for_their_table(tmp_path):
    """Five are named above it; the column is as wide as the longest name, and on a terminal
    narrower rather than that the samples are left out."""
    names = ["a", "syscalls:sys_enter_clock_nanosleep",
             *(f"syscalls:sys_exit_{i}" for i in range(8))]
    path = tracepoints(tmp_path / "x", *[[10]] * len(names), names=names)
    out = preport(path).decode()
    assert out.count("also recorded: 1 sample of ") == 5
    assert "also recorded: 4 samples of 4 more events\n" in out
    rows = out.split("\n\n")[1].splitlines()
    assert len(rows) == 1 + len(names) and len({row.rindex(" ") for row in rows}) == 1
    status, out = on_terminal("--no-pager", path, columns=80)
    rows = [line for line in out.split("\n") if "100.0 %" in line[:9] or "total" in line[:20]]
    assert status == 0 and len(rows) == 1 + len(names) and max(map(len, rows)) <= 80
    assert rows[0].split() == ["self", "total", "samples", "event", "comm"]
    assert any("syscalls:sys_enter_clock_nanos" in row and "…" in row for row in rows)
