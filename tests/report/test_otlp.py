"""preport -f otlp: OpenTelemetry's profiles, read by a reader of the wire format against a table of
the fields of version 1.11."""
import collections

import pytest

from conftest import fixture_files
from known_recording import (  # noqa: F401
    ANSWER, EXEC, Recording, build_program, recorded, recording)
from profiles import folded, packed, preport, text, wire

# Whether a field is a number, text or a message, packed, or 8 bytes.
FIELDS = {
    "data": {1: "resource", 2: "dictionary"},
    "resource": {2: "scope"},
    "scope": {1: "about", 2: "profile"},
    "about": {1: bytes, 2: bytes},
    "dictionary": {1: "mapping", 2: "location", 3: "function", 4: "link", 5: bytes, 6: "attribute",
                   7: "stack"},
    "profile": {1: "type", 2: "sample", 4: int, 5: "type", 6: int},
    "type": {1: int, 2: int},
    "sample": {1: int, 2: "packed", 4: "packed"},
    "mapping": {1: int, 2: int, 3: int, 4: int, 5: "packed"},
    "location": {1: int, 2: int, 3: "line", 4: "packed"},
    "line": {1: int, 2: int},
    "function": {1: int, 2: int, 3: int},
    "link": {},
    "attribute": {1: int, 2: "value"},
    "value": {1: bytes, 3: int},
    "stack": {1: "packed"},
}


def message(data, kind="data"):
    """{field: [values]} of a message, and of those in it."""
    fields = collections.defaultdict(list)
    for number, value in wire(data):
        want = FIELDS[kind][number]
        assert isinstance(value, int if want is int else bytes), (kind, number)
        fields[number].append(value if want in (int, bytes) else packed(value)
                              if want == "packed" else message(value, want))
    return fields


class Otlp:
    """A file whose references are all checked."""

    def __init__(self, data):
        top = message(data)
        (self.dictionary,), (resource,) = top[2], top[1]
        (scope,) = resource[2]
        self.about = [scope[1][0][i][0].decode() for i in (1, 2)]
        self.strings = [value.decode() for value in self.dictionary[5]]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        for table in (1, 2, 3, 4, 6, 7):
            assert self.dictionary[table][0] == {}
            entries = [repr(entry) for entry in self.dictionary[table]]
            assert len(set(entries)) == len(entries)
        self.attributes = [self._attribute(row) for row in self.dictionary[6]]
        self.mappings = [(self._text(row, 4), self._attributes(row, 5))
                         for row in self.dictionary[1]]
        self.stacks = [self._stack(row) for row in self.dictionary[7]]
        self.profiles = [self._profile(row) for row in scope[2]]

    def _text(self, row, field):
        return self.strings[row.get(field, [0])[0]]

    def _attribute(self, row):
        if not row:
            return None
        (value,) = row[2]
        assert len(value) == 1 and row[1][0]
        return self._text(row, 1), value[1][0].decode() if 1 in value else value[3][0]

    def _attributes(self, row, field):
        pairs = [self.attributes[i] for part in row.get(field, []) for i in part]
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    def _location(self, number):
        row = self.dictionary[2][number]
        assert number
        file = self.mappings[row.get(1, [0])[0]][0]
        names = [self._text(self.dictionary[3][line[1][0]], 1) for line in row.get(3, [])]
        return names or [f"[{file.rpartition('/')[2]}]"]

    def _stack(self, row):
        return [name for part in row.get(1, []) for number in part
                for name in self._location(number)][::-1]

    def _profile(self, row):
        (type,) = row[1]
        samples = [(self._attributes(sample, 2), self.stacks[sample.get(1, [0])[0]],
                    *sample[4][0]) for sample in row[2]]
        identities = [repr((sample.get(1), sample.get(2))) for sample in row[2]]
        assert len(set(identities)) == len(identities)
        return (self._text(type, 1), self._text(type, 2)), samples

    def sums(self, i):
        sums = collections.Counter()
        for attributes, stack, value in self.profiles[i][1]:
            sums[";".join([attributes["thread.name"].replace(" ", "_"), *stack])] += value
        return sums


@pytest.mark.sanitize
def test_the_known_answer(recording, tmp_path):
    out = tmp_path / "x.otlp"
    preport("-o", out, recording)
    got = Otlp(out.read_bytes())
    assert got.about[0] == "preport" and got.about[1][0].isdigit()
    assert {type for type, _ in got.profiles} == {("cpu", "nanoseconds"),
                                                  ("page-faults:HG", "count")}
    clock = [type for type, _ in got.profiles].index(("cpu", "nanoseconds"))
    assert got.sums(clock) == ANSWER and got.sums(1 - clock) == {"renamed;[libx.so.1]": 3}
    ids = {(row["process.pid"], row["thread.id"]) for row, *_ in got.profiles[clock][1]}
    assert ids == {(10, 10), (20, 20), (0, 0)}
    assert {"", "/bin/app", "/lib/libx.so.1"} < {name for name, _ in got.mappings}
    kinds = {got._text(got.dictionary[1][row[1][0]], 4) if 1 in row else "":
             got._attributes(row, 4).get("profile.frame.type") for row in got.dictionary[2]}
    assert kinds["/bin/app"] == kinds["/lib/libx.so.1"] == "native" and kinds[""] is None
    assert "kernel" in kinds.values()


def test_names_lines_and_build_ids(tmp_path):
    program = build_program(tmp_path / "app")
    path = tmp_path / "perf.data"
    path.write_bytes(recorded(program, program[1]))
    got = Otlp(preport("-f", "otlp", path, symbols=()))
    assert got.sums(0) == {"app;main;leaf": 5, "app;main": 2}
    assert got.mappings[1] == (str(program[0]),
                               {"process.executable.build_id.gnu": program[1].hex()})
    mapping = got.dictionary[1][1]
    for row in got.dictionary[2][1:]:
        assert mapping[1][0] <= row[2][0] < mapping[2][0]


def test_functions_of_the_same_name_in_two_files_are_one_entry(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/nowhere/app")
    it.map(3, 10, 0x2000, 0x1000, "/elsewhere/app")
    it.sample(10, 10, 5, 0x1010, 0x2010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = Otlp(preport("-f", "otlp", path, symbols=()))
    assert got.sums(0) == {"app;[app];[app]": 5} and len(got.dictionary[3]) == 2
    assert {file for file, _ in got.mappings[1:]} == {"/nowhere/app", "/elsewhere/app"}


def test_addresses_that_nothing_tells_apart_are_one_location(tmp_path):
    """Samples of them are added up."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for i in range(3):
        it.sample(10 + i, 10, 5, 0x9010 + i, 0x1010)
    it.sample(20, 10, 4, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = Otlp(preport("-f", "otlp", path))
    assert len(got.dictionary[2]) == 3 and len(got.stacks) == 3
    assert [(stack, value) for _, stack, value in got.profiles[0][1]] == [
        (["[app]", "[unknown]"], 15), (["[app]"], 4)]


def test_samples_instead_of_periods_and_other_groups(recording):
    got = Otlp(preport("-f", "otlp", "--weight=samples", "--group=cpu,comm", recording))
    clock = max(range(2), key=lambda i: len(got.profiles[i][1]))
    assert got.profiles[clock][0] == ("samples", "count")
    assert sum(got.sums(clock).values()) == 7
    assert {row["cpu.logical_number"] for row, *_ in got.profiles[clock][1]} == {0, 3}
    bare = Otlp(preport("-f", "otlp", "--group=none", recording))
    assert all(not row for row, *_ in bare.profiles[clock][1])


def test_idle_samples_can_be_left_out(tmp_path):
    it = Recording()
    it.map_kernel()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.sample(10, 10, 3, 0x1010)
    it.sample(11, 0, 100, 0xffffffff81001010)
    (tmp_path / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81001000 T default_idle\n"
                                       "ffffffff82000000 T _end\n")
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    for idle, want in (("keep", 103), ("drop", 3)):
        got = Otlp(preport("-f", "otlp", f"--idle={idle}", "--kallsyms", tmp_path / "kallsyms",
                           path, symbols=()))
        assert sum(got.sums(0).values()) == want
        assert ("default_idle" in got.strings) == (idle == "keep")


@pytest.mark.parametrize("file", [file for file in fixture_files() if not file.is_directory],
                         ids=lambda file: file.name)
def test_the_sum_is_that_of_the_other_formats(file):
    out = preport("-f", "folded", file.path, status=(0, 1, 3, 5))
    if not out:
        return
    got = Otlp(preport("-f", "otlp", file.path, status=(0, 1)))
    want = text(folded(out))
    sums = [sum(value for *_, value in samples) for _, samples in got.profiles]
    assert sum(want.values()) in sums
    assert all(stack or attributes for _, samples in got.profiles
               for attributes, stack, _ in samples)


def test_a_stack_of_two_threads_is_one_entry(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for tid in (10, 11, 12):
        it.sample(tid, 10, tid, 0x1010, 0x1020, tid=tid)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = Otlp(preport("-f", "otlp", path))
    assert got.stacks == [[], ["[app]", "[app]"]]
    assert [(row["thread.id"], value) for row, _, value in got.profiles[0][1]] == [
        (10, 10), (11, 11), (12, 12)]


def test_hostile_names(tmp_path):
    it = Recording()
    it.comm(1, 10, "\x1b\u202e;x", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/tmp/\x01\"")
    it.sample(10, 10, 3, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    data = preport("-f", "otlp", path)
    assert data == preport("-f", "otlp", path)
    (((_, samples),)) = Otlp(data).profiles
    assert [value for *_, value in samples] == [3]


def test_no_difference_and_no_memory(recording, tmp_path):
    preport("-f", "otlp", "--base", recording, recording, status=2)
    out = tmp_path / "x.otlp"
    preport("-o", out, "--memory=12K", recording, status=4)
    assert not out.exists()
