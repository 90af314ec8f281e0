"""Recordings at the limits of the numbers: no format loses a unit, or the end is an error."""
import gzip
import json
import re
import subprocess

import pytest

from conftest import TOOLS
from known_recording import EXEC, Recording, build_named, recorded
from profiles import (Callgrind, Pprof, chrome, csv_rows, folded, json_table, pages, preport,
                      speedscope, svg)

FORMS = ("top", "tree", "folded", "flamegraph", "pprof", "csv", "json", "svg", "callgrind",
         "firefox", "speedscope", "chrome", "otlp", "script")


MOST = 2**56 - 1        # of one sample


def write_samples(path, *samples):
    """Samples (weight, chain) of one thread."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000000, "/bin/app")
    for i, (weight, *chain) in enumerate(samples):
        it.sample(10 + i, 10, weight, *chain)
    path.write_bytes(it.file())
    return path


def write(path, *stacks):
    """The same, each in as many samples as its weight takes."""
    return write_samples(path, *((weight, *chain) for total, *chain in stacks
                                 for weight in [MOST] * (total // MOST) + [total % MOST]))


def sum_of(form, path):
    """The sum of the weights, to the unit."""
    return sum_in(form, preport("-f", form, path))


def sum_in(form, out):
    if form == "folded":
        return sum(folded(out).values())
    if form == "csv":
        return sum(row[3] for row in csv_rows(out))
    if form == "json":
        return json_table(out)["total"]
    if form == "pprof":
        return Pprof(out).total(1)
    if form == "callgrind":
        return Callgrind(out).totals()[0]
    if form == "speedscope":
        return sum(sum(sums.values()) for _, _, sums, _ in speedscope(out))
    if form == "chrome":
        return sum(args["weight"] for _, args in chrome(out)[1])
    if form == "flamegraph":
        return sum(node[2] for node in pages(out)[1][0][1])
    if form == "svg":
        return int(re.search(r"\((\d+), ", svg(out)[0][0][0])[1])
    if form == "script":
        return sum(int(n) for n in re.findall(rb"(\d+) +cpu-clock", out))
    if form == "firefox":
        text = gzip.decompress(out).decode()
        column = re.search(r'"weight":\[([^]]*)\]', text)[1]
        return sum(int(ms) * 10**6 + int((ns or "").ljust(6, "0"))
                   for ms, _, ns in re.findall(r"(\d+)(\.(\d+))?", column))
    raise KeyError(form)


EXACT = [form for form in FORMS if form not in ("top", "tree", "otlp")]
SIGNED = ("pprof", "otlp")      # numbers of 63 bits and a sign


@pytest.mark.sanitize
@pytest.mark.parametrize("form", EXACT)
def test_weights_near_the_largest_number(form, tmp_path):
    large = 2**63 - 1 if form in SIGNED else 2**64 - 1
    path = write(tmp_path / "x", (large - 2**62, 0x1010), (2**62, 0x1020, 0x1010), (0, 0x1030))
    assert sum_of(form, path) == large


@pytest.mark.sanitize
@pytest.mark.parametrize("form", [form for form in FORMS if form != "script"])
def test_weights_beyond_it_are_an_error(form, tmp_path):
    path = write(tmp_path / "x", (2**63, 0x1010), (2**62, 0x1020, 0x1010), (2**62, 0x1030))
    out = tmp_path / "out"
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-f", form, "-o", out, path],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        3, f"preport: {path}: the sum of the weights does not fit into 64 bits\n")


@pytest.mark.sanitize
@pytest.mark.parametrize("form", FORMS)
def test_samples_heavier_than_any_are_left_out(form, tmp_path):
    """Their periods are damaged: the others would be nothing beside them."""
    path = write_samples(tmp_path / "x", (4, 0x1010, 0x1500),
                         (2**64 - 1, 0x1020, 0x1500), (2**56, 0x1030, 0x1500), (3, 0x1010, 0x1500))
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-f", form, "-o", tmp_path / "out",
                           path], capture_output=True, text=True, check=False)
    if form == "script":        # shows what each sample has
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert (done.returncode, done.stderr) == (
        1, f"preport: {path}: 2 samples are left out: no sample weighs 2^56 or more, so that is "
        "damage\n")
    if form in EXACT:
        assert sum_in(form, (tmp_path / "out").read_bytes()) == 7


def test_no_sample_is_left(tmp_path):
    path = write_samples(tmp_path / "x", (2**56, 0x1010))
    done = subprocess.run([TOOLS / "preport", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        5, f"preport: {path}: no sample is left: each weighs 2^56 or more, so the periods are "
        "damaged\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_one_sample_that_has_most_of_the_weight(jobs, tmp_path):
    path = write_samples(tmp_path / "x", *((1000 + i, 0x1010, 0x1500) for i in range(99)),
                         (2**55, 0x1020, 0x1500))
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-j", jobs, path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0
    offset, share = re.search(r"one sample, at (\d+), has ([\d.]+) % of the weight",
                              done.stdout).groups()
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", path], capture_output=True,
                           check=True).stdout.splitlines()
    heaviest = max((r for r in map(json.loads, lines) if r.get("type") == "SAMPLE"),
                   key=lambda r: int(r["period"]))
    assert int(offset) == heaviest["offset"] and float(share) > 99
    assert b"one sample" not in preport("-f", "top", "--weight", "samples", path)


@pytest.mark.sanitize
@pytest.mark.parametrize("form", SIGNED)
def test_weights_beyond_63_bits_are_not_negative(form, tmp_path):
    path = write(tmp_path / "x", (2**62, 0x1010), (2**62, 0x1020, 0x1010))
    out = tmp_path / "out"
    done = subprocess.run([TOOLS / "preport", "--no-symbols", "-f", form, "-o", out, path],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        4, f"preport: {path}: the sum of the weights of cpu-clock does not fit into the 63 bits of "
        f"-f {form}\n")
    assert not out.exists()


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    """A million samples of 2^32."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000000, "/bin/app")
    head, it.records = it.records, []
    for i in range(1000):
        it.sample(10 + i, 10, 2**32, 0x1010 + 16 * (i % 7))
    it.records = [*head, *it.records * 1000]
    path = tmp_path_factory.mktemp("million") / "x"
    path.write_bytes(it.file())
    return path


@pytest.mark.parametrize("form", [form for form in EXACT if form not in ("chrome", "script")])
@pytest.mark.long
def test_a_million_long_periods(form, million):
    assert sum_of(form, million) == 2**32 * 10**6


@pytest.mark.sanitize
@pytest.mark.parametrize("form", FORMS)
def test_a_stack_as_deep_as_a_record_is_long(form, tmp_path):
    """A record has at most 65,535 bytes."""
    deep = [0x1000 + 16 * i for i in range(8100)]
    path = write(tmp_path / "x", (3, *deep), (4, *deep[4000:]), (5, *deep[::-1]))
    options = ["-f", form, *["--addrs"][form == "script":]]
    out = preport(*options, path)
    if form in EXACT and form != "svg":
        assert sum_of(form, path) == 12
    if form == "folded":
        assert sorted(map(len, folded(out))) == [4101, 8101, 8101]
    assert out == preport(*options, path)


@pytest.fixture(scope="module")
def long_name(tmp_path_factory):
    """A program whose function has a name of a million bytes."""
    folder = tmp_path_factory.mktemp("long")
    program = build_named(folder / "app", "f" + "o" * (1 << 20) + "(;")
    path = folder / "perf.data"
    path.write_bytes(recorded(program, program[1]))
    return path


@pytest.mark.sanitize
@pytest.mark.parametrize("form", FORMS)
def test_a_name_of_a_million_bytes(form, long_name):
    """It is cut, so that samples of it can't multiply it."""
    out = preport("-f", form, long_name, symbols=())
    if form in ("firefox", "pprof"):
        out = gzip.decompress(out)
    if form == "svg":
        assert len(out) < 3 << 20
    elif form != "flamegraph":
        assert 8000 < max(map(len, re.findall(b"o+", out))) < 8192
    if form == "folded":
        (weight,) = [weight for key, weight in folded(out).items() if len(key[-1]) > 8000]
        assert weight == 5
