"""The files that preport writes for other programs: each read by a reader of our own."""
import collections
import re

import pytest

from conftest import fixture_files
from known_recording import ANSWER, EXEC, Recording, known
from profiles import Callgrind, csv_rows, folded, json_table, preport, svg

HOSTILE = "a;b\n\x1b[31m</script>\"'\u202e=&\x01("
SELF = {"[app]": 45, "[libx.so.1]": 150, "[[kernel.kallsyms]]": 1007, "[unknown]": 2}
TOTAL = {"[app]": 202, "[libx.so.1]": 157, "[[kernel.kallsyms]]": 1007, "[unknown]": 2}


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(known().file())
    return path


@pytest.fixture
def hostile(tmp_path):
    it = Recording()
    it.comm(1, 10, "=x\"y", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/tmp/" + HOSTILE.replace("/", ""))
    it.sample(10, 10, 3, 0x1010)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    return path


# --- the table ----------------------------------------------------------------------------------

def test_the_table_as_csv_and_json(recording, tmp_path):
    out = tmp_path / "out.json"
    preport("-o", out, recording)
    table = json_table(out.read_bytes())
    assert (table["event"], table["unit"], table["total"], table["samples"]) == (
        "cpu-clock", "ns", sum(ANSWER.values()), 7)
    assert {row["function"]: row["self"] for row in table["rows"]} == SELF
    assert {row["function"]: row["total"] for row in table["rows"]} == TOTAL
    assert [row["self"] for row in table["rows"]] == sorted(SELF.values(), reverse=True)
    rows = csv_rows(preport("-f", "csv", recording))
    assert [(row["function"], row["image"], row.get("build_id", ""), row["self"], row["total"],
             row["samples"]) for row in table["rows"]] == rows


def test_a_table_by_samples_is_no_time(recording):
    table = json_table(preport("-f", "json", "--weight=samples", recording))
    assert (table["unit"], table["total"]) == ("count", 7)


# --- callgrind ------------------------------------------------------------------------------------

def test_callgrind_has_all_events_and_counts_recursion_once(recording, tmp_path):
    out = tmp_path / "callgrind.out.known"
    preport("-o", out, recording)
    got = Callgrind(out.read_bytes())
    assert got.events == ["cpu_clock", "page_faults_HG"]
    assert got.summary == got.totals() == [sum(ANSWER.values()), 3]
    assert got.self_by_name() == SELF and got.self_by_name(1) == {"[libx.so.1]": 3}
    calls = {(caller[1][0], callee[1][0]): costs for (caller, callee), costs in got.calls.items()}
    assert calls == {("[app]", "[libx.so.1]"): [157, 0], ("[app]", "[app]"): [40, 0],
                     ("[libx.so.1]", "[[kernel.kallsyms]]"): [7, 0]}


# --- svg ------------------------------------------------------------------------------------------

def test_the_picture_shows_the_shares(recording):
    frames, _ = svg(preport("-f", "svg", "--idle=keep", recording))
    total = sum(ANSWER.values())
    widths = collections.Counter()
    for title, width in frames:
        widths[title.rsplit(" (", 1)[0]] += width
    assert widths["all"] == pytest.approx(1180)
    for name, value in (("swapper", 1000), ("app one", 157), ("[libx.so.1]", 157)):
        assert widths[name] == pytest.approx(1180 * value / total, abs=0.02), name
    assert "swapper (1000, 83.06 %)" in str(frames)


def test_a_picture_of_many_frames_is_small(tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000000, "/bin/app")
    for i in range(3000):
        it.sample(10 + i, 10, 1 + i * i, *[0x1000 + (i * 7919 + k * 31) % 0xffff
                                           for k in range(20)])
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    out = preport("-f", "svg", "--addrs", path)
    frames, _ = svg(out)
    assert 100 < len(frames) <= 8000 and len(out) < 2_000_000 and b"#999999" in out


# --- all ------------------------------------------------------------------------------------------

def sums(path, status):
    """{format: sum of the weights} of each format."""
    def run(name, *more):
        return preport("-f", name, "--idle=keep", *more, path, status=status)

    table = json_table(run("json"))
    callgrind = Callgrind(run("callgrind"))
    assert callgrind.totals() == callgrind.summary or not any(callgrind.summary)
    frames, _ = svg(run("svg"))
    return {
        "json": table["total"], "json rows": sum(row["self"] for row in table["rows"]),
        "csv": sum(row[3] for row in csv_rows(run("csv"))),
        "callgrind": max(callgrind.summary),
        "svg": int(re.search(r"\((\d+), ", frames[0][0])[1]),
    }


@pytest.mark.parametrize("file", [file for file in fixture_files() if not file.is_directory],
                         ids=lambda file: file.name)
def test_all_formats_have_the_same_sum(file):
    out = preport("-f", "folded", file.path, status=(0, 1, 3, 5))
    if not out:
        return
    want = sum(folded(out).values())
    got = sums(file.path, (0, 1))
    tasks = want - got.pop("json rows")     # stacks without a function
    assert tasks >= 0 and got.pop("csv") == want - tasks
    assert got.pop("callgrind") >= want
    assert set(got.values()) == {want}


@pytest.mark.parametrize("name", ["csv", "json", "callgrind", "svg"])
def test_hostile_names_and_the_same_bytes_every_time(hostile, name):
    out = preport("-f", name, hostile)
    assert out == preport("-f", name, hostile)
    assert not re.search(rb"\x1b|\x01|\xe2\x80\xae", out)
    if name == "csv":
        assert len(csv_rows(out)) == 1
    elif name == "json":
        assert len(json_table(out)["rows"]) == 1
    elif name == "callgrind":
        assert Callgrind(out).totals() == [3]
    else:
        assert len(svg(out)[0]) == 3
