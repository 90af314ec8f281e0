"""preport --base and --fail-above: two recordings with known shares."""
import csv
import json
import re
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import EXEC, FAULTS, KTEXT, Recording
from profiles import Pprof, page, preport


pytestmark = pytest.mark.sanitize


@pytest.fixture
def write(tmp_path):
    def go(name, program, **weights):
        """A recording of 100 ns; weights: of libraries, which `program` calls."""
        it = Recording()
        it.comm(1, 10, "app", misc=EXEC)
        it.map(2, 10, 0x1000, 0x1000, program)
        it.sample(5, 10, 100 - sum(weights.values()), 0x1010)
        for i, (library, weight) in enumerate(weights.items()):
            it.map(3 + i, 10, 0x7000 + i * 0x1000, 0x1000, f"/lib/{library}.so")
            it.sample(10 + i, 10, weight, 0x7010 + i * 0x1000, 0x1010)
        (tmp_path / name).write_bytes(it.file())
        return tmp_path / name
    return go


def changes(out):
    found = re.findall(r"^ *([\d.]+) % +([\d.]+) % +([+-][\d.]+)  (\S+)", out.decode(), re.M)
    return {row[3]: tuple(map(float, row[:3])) for row in found}


def test_shares_before_and_after(write):
    old = write("old", "/old/app", libx=10, gone=20)
    new = write("new", "/new/app", libx=40, come=5)
    want = {"[libx.so]": (10, 40, 30), "[gone.so]": (20, 0, -20), "[app]": (70, 55, -15),
            "[come.so]": (0, 5, 5)}
    got = changes(preport("--base", old, new))
    assert preport("--base", old, new).decode().startswith(f"{old}   ")
    assert got == want and list(got) == list(want)      # the largest change first
    assert changes(preport("--base", old, "-s", "total", new))["[app]"] == (100, 100, 0)


def sums(out):
    found = re.findall(r"^ *([\d.]+) +([\d.]+) +([+-][\d.]+)  (\S+)", out.decode(), re.M)
    return {row[3]: row[:3] for row in found}


def test_sums_before_and_after(tmp_path):
    def go(name, *weights):
        it = Recording()
        it.comm(1, 10, "app", misc=EXEC)
        for i, weight in enumerate(weights):
            it.map(2 + i, 10, 0x7000 + i * 0x1000, 0x1000, f"/lib/{'xyz'[i]}")
            it.sample(10 + i, 10, weight, 0x7010 + i * 0x1000)
        (tmp_path / name).write_bytes(it.file())
        return tmp_path / name
    old, new = go("old", 2_000_000, 5_000, 3_000_000), go("new", 4_000_000, 5_000, 2_999_000)
    out = preport("--base", old, "--absolute", new)
    assert sums(out) == {"[x]": ("2.000", "4.000", "+2.000"), "[z]": ("3.000", "2.999", "-0.001"),
                         "[y]": ("0.005", "0.005", "+0.000")}
    assert list(sums(out))[0] == "[x]" and b"in ms" in out
    assert sums(preport("--base", old, "--absolute", "--weight=samples", new))["[x]"] == (
        "1", "1", "+0")
    # 1 percent of the larger recording
    limited = preport("--base", old, "--absolute", "--percent-limit=1", new)
    assert set(sums(limited)) == {"[x]"} and b"2 more functions" in limited
    colored = preport("--base", old, "--absolute", "--color=always", new)
    assert colored.count(b"\033[31m") == 1 and b"\033[32m" not in colored
    base = page(preport("-f", "flamegraph", "--base", old, "--absolute", new))[0]["base"]
    assert base["sums"] is True
    assert "sums" not in page(preport("-f", "flamegraph", "--base", old, new))[0]["base"]


@pytest.mark.parametrize("options", [["--absolute"], ["--absolute", "--base", "OLD", "-f",
                                                      "pprof"]])
def test_sums_are_for_differences_as_a_table_or_page(write, options):
    old = write("old", "/old/app", libx=10)
    preport(*[str(old) if word == "OLD" else word for word in options], old, status=2)


def test_no_difference_to_itself(write):
    old = write("old", "/old/app", libx=10)
    assert {row[2] for row in changes(preport("--base", old, old)).values()} == {0}


@pytest.mark.parametrize("limits, status", [
    (["[[]libx.so[]]=40%"], 0), (["[[]libx.so[]]=39.9%"], 6), (["*=100"], 0),
    (["none=0", "[[]app[]]=50%"], 6), (["libx"], 2), (["x=101%"], 2), (["x=1%%"], 2)])
def test_a_limit_for_the_share_of_functions(write, limits, status):
    new = write("new", "/new/app", libx=40)
    options = [word for limit in limits for word in ("--fail-above", limit)]
    out = preport(*options, new, status=status)
    assert (b"hottest path" in out) == (status != 2)


@pytest.mark.parametrize("limit, status", [("30", 0), ("29", 6)])
def test_a_limit_for_the_gain_of_functions(write, limit, status, tmp_path):
    old, new = write("old", "/app", libx=10), write("new", "/app", libx=40)
    out = tmp_path / "out.txt"
    preport("--base", old, "--fail-above", f"*libx*={limit}", "-o", out, new, status=status)
    assert changes(out.read_bytes())["[libx.so]"] == (10, 40, 30)


def test_sums_for_programs(write):
    old, new = write("old", "/old/app", libx=10, gone=20), write("new", "/new/app", libx=40)
    rows = list(csv.DictReader(preport("--base", old, "-f", "csv", new).decode().splitlines()))
    given = json.loads(preport("--base", old, "-f", "json", new))
    want = changes(preport("--base", old, new))
    assert [row["function"] for row in rows] == list(want)
    assert given.pop("rows") == [
        {key: value if key in ("function", "image") else int(value) for key, value in row.items()}
        for row in rows]
    assert given == {"event": "cpu-clock", "unit": "ns", "by": "self",
                     "before": sum(int(row["before"]) for row in rows),
                     "after": sum(int(row["after"]) for row in rows)}
    for row in rows:
        before, after = int(row["before"]), int(row["after"])
        assert int(row["difference"]) == after - before
        assert want[row["function"]][:2] == (100 * before / given["before"],
                                             100 * after / given["after"])
    assert len(json.loads(preport("--base", old, "-f", "json", "-n1", new))["rows"]) == 1
    total = json.loads(preport("--base", old, "-f", "json", "-s", "total", new))
    assert total["by"] == "total" and {"function": "[app]", "image": "app",
                                       "before": given["before"], "after": given["after"],
                                       "difference": given["after"] - given["before"]
                                       } in total["rows"]
    preport("--base", old, "-f", "csv", "--absolute", new, status=2)


@pytest.mark.parametrize("format", ["speedscope", "folded", "script"])
def test_other_formats_have_no_difference(write, format):
    old = write("old", "/app", libx=10)
    preport("--base", old, "-f", format, old, status=2)


def test_the_kernel_is_one_image_and_other_images_are_not(tmp_path):
    def go(name, kernel, library, weight):
        it = Recording()
        it.map_kernel(kernel)
        it.comm(1, 10, "app", misc=EXEC)
        it.map(2, 10, 0x7000, 0x1000, library)
        it.sample(5, 10, 50, KTEXT + 0x1010)
        it.sample(6, 10, weight, 0x7010)
        (tmp_path / name).write_bytes(it.file())
        (tmp_path / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81001000 T busy\n"
                                           "ffffffff82000000 T _end\n")
        return tmp_path / name
    old = go("old", "[kernel.kallsyms]_text", "/lib/one", 50)
    new = go("new", "[kernel.kallsyms]_stext", "/lib/two", 50)
    out = preport("--base", old, new, symbols=("--kallsyms", tmp_path / "kallsyms"))
    assert re.search(r"50\.00 % +50\.00 % +\+0\.00  busy  \[k\]$", out.decode(), re.M)
    assert changes(out)["[one]"] == (50, 0, -50) and changes(out)["[two]"] == (0, 50, 50)


def test_functions_of_one_name_in_two_images_are_two(tmp_path):
    def go(name, folder, weights):
        it = Recording()
        it.comm(1, 10, "app", misc=EXEC)
        for i, weight in enumerate(weights):
            it.map(2 + i, 10, 0x1000 * (i + 1), 0x1000, f"{folder}/{'ab'[i]}")
            it.sample(5 + i, 10, weight, 0x1000 * (i + 1) + 16)
        (tmp_path / name).write_bytes(it.file())
        return tmp_path / name
    out = preport("--base", go("old", "/x", (30, 70)), go("new", "/y", (60, 40))).decode()
    assert re.findall(r"([+-][\d.]+)  \[(.)\]  (.)", out) == [("+30.00", "a", "a"),
                                                             ("-30.00", "b", "b")]


def test_by_samples_and_in_short(write):
    old = write("old", "/app", libx=10, liby=20)
    new = write("new", "/app", libx=40, liby=21)
    by_samples = changes(preport("--base", old, "--weight=samples", new))
    assert by_samples == {name: (33.33, 33.33, 0) for name in ("[app]", "[libx.so]", "[liby.so]")}
    assert "app" not in by_samples      # a thread is no function
    short = preport("--base", old, "-n", "1", new)
    assert list(changes(short)) == ["[app]"] and b"2 more functions" in short
    large = preport("--base", old, "--percent-limit", "2", new)
    assert set(changes(large)) == {"[app]", "[libx.so]"} and b"1 more function\n" in large
    assert b" more function" not in preport("--base", old, new)
    colored = preport("--base", old, "--color=always", new)
    assert b"\033[31m +30.00\033[0m  [libx.so]" in colored
    assert b"\033[32m -31.00\033[0m  [app]" in colored


def test_the_main_event_is_compared(tmp_path, write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/app")
    it.sample(3, 10, 0, 0x9999, event=FAULTS)   # the first sample is of the second event
    it.sample(5, 10, 100, 0x1010)
    (tmp_path / "old").write_bytes(it.file())
    assert changes(preport("--base", tmp_path / "old", write("new", "/app"))) == {
        "[app]": (100, 100, 0)}


@pytest.fixture
def faults(tmp_path):
    """Paths of a recording of a clock and of page faults, and of one of page faults alone."""
    paths = tmp_path / "both", tmp_path / "faults"
    for path, period in zip(paths, (100, 0)):
        it = Recording()
        it.comm(1, 10, "app", misc=EXEC)
        it.map(2, 10, 0x1000, 0x1000, "/app")
        if period:
            it.sample(3, 10, period, 0x1010)
        it.sample(5, 10, 0, 0x1010, event=FAULTS)
        path.write_bytes(it.file())
    return paths


def test_an_event_is_compared_with_that_of_its_name(faults):
    both, alone = faults
    rows = json.loads(preport("--base", both, "--json", alone))
    assert (rows["before"], rows["after"]) == (3, 3)
    about, nodes, _ = page(preport("--base", both, "-f", "flamegraph", alone))
    assert nodes[0][2:] == (0, 0, 0, 0) and {node[2:] for node in nodes if node[2]} == {
        (3, 1, 3, 1)} and "page-faults" in about["base"]["facts"]
    pprof = Pprof(preport("--base", both, "-f", "pprof", alone))
    assert sorted(values for *_, values in pprof.samples) == [[1, 3], [2**64 - 1, 2**64 - 3]]
    preport("--base", both, "--fail-above", "*app*=0%", alone)


def test_another_event_is_compared_with_a_warning(faults, write):
    clock = write("old", "/app")
    for older, newer, is_told in ((clock, faults[1], True), (faults[0], faults[1], False),
                                  (faults[0], clock, False)):
        done = subprocess.run([TOOLS / "preport", "--no-symbols", "-q", "--csv", "--base", older,
                               newer], capture_output=True, timeout=TIMEOUT, text=True, check=True)
        assert is_told == ("old: no samples of page-faults:HG, so those of cpu-clock are "
                           "compared with them" in done.stderr), done.stderr


def test_a_limit_is_for_functions_and_no_threads(write):
    preport("--fail-above", "app=1%", write("new", "/app", libx=40), status=5)


def test_in_pprof_the_older_samples_are_negative(write):
    old = write("old", "/old/app", libx=10, gone=20)
    new = write("new", "/new/app", libx=40)
    it = Pprof(preport("--base", old, "-f", "pprof", new))
    signed = [(labels.get("pprof::base"), frames,
               tuple(n - 2**64 if n >= 2**63 else n for n in values))
              for labels, frames, values in it.samples]
    assert signed == [
        (None, ["[app]"], (1, 60)), (None, ["[app]", "[libx.so]"], (1, 40)),
        ("true", ["[app]"], (-1, -70)), ("true", ["[app]", "[libx.so]"], (-1, -10)),
        ("true", ["[app]", "[gone.so]"], (-1, -20))]
    assert it.files == ["/new/app", "/lib/libx.so", "/old/app", "/lib/libx.so", "/lib/gone.so"]


def test_in_pprof_an_event_that_only_the_older_one_has_is_left_out(tmp_path, write):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/app")
    it.sample(3, 10, 0, 0x1010, event=FAULTS)
    it.sample(5, 10, 100, 0x1010)
    (tmp_path / "old").write_bytes(it.file())
    one = Pprof(preport("--base", tmp_path / "old", "-f", "pprof", write("new", "/app")))
    assert [values for *_, values in one.samples] == [[1, 100], [2**64 - 1, 2**64 - 100]]
    two = Pprof(preport("--base", write("new", "/app"), "-f", "pprof", tmp_path / "old"))
    assert sorted(values for *_, values in two.samples) == [
        [0, 0, 1, 3], [1, 100, 0, 0], [2**64 - 1, 2**64 - 100, 0, 0]]
