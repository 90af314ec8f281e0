"""preport --base and --fail-above: two recordings with known shares."""
import re

import pytest

from known_recording import EXEC, Recording
from profiles import preport


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
    assert got == want and list(got) == list(want)      # the largest change first
    assert changes(preport("--base", old, "-s", "total", new))["[app]"] == (100, 100, 0)


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


@pytest.mark.parametrize("format", ["pprof", "folded"])
def test_other_formats_have_no_difference(write, format):
    old = write("old", "/app", libx=10)
    preport("--base", old, "-f", format, old, status=2)
