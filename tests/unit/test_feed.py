"""pd/feed.h: bytes in pieces give the records of pd_reader_next(). And waits that are cancelled."""
import gzip
import random
import struct

import pytest

from conftest import FIXTURES, strict_json_lines
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import Pipe
from perfdata.sample import sample

PERF = FIXTURES / "perf"
PIPES = sorted(path.name for path in PERF.iterdir() if path.is_file()
               and path.read_bytes()[8:16] == b"\x10" + bytes(7))
FILES = ["01-basic.data", "16-zstd.data", "12-tracepoints.data"]
CUTS = [(1, 1), (2, 7), (3, 100), (4, 5000), (5, 70000), (6, 1 << 20)]
ATTR = attr("IP|TID|TIME|PERIOD")


@pytest.fixture
def run(installed):
    return lambda *arguments, **options: installed.run("api_feed.c", "static", *arguments,
                                                       **options)[1]


def assert_any_cut(run, path, cuts, ways=("feed",)):
    whole = run("read", input=path.read_bytes())
    for how in ways:
        for seed, most in cuts:
            assert run(how, path, seed, most) == whole, (how, seed, most)
    return whole


def test_there_are_pipes():
    assert len(PIPES) >= 5 and "95-zstd-pipe.data" in PIPES


@pytest.mark.sanitize
@pytest.mark.parametrize("name", PIPES)
def test_pipes(name, run):
    whole = assert_any_cut(run, PERF / name, CUTS, ("feed", "batches"))
    assert "complete 1" in whole and len(whole.splitlines()) > 5


@pytest.mark.sanitize
@pytest.mark.parametrize("name", FILES)
def test_files_with_sections(name, run):
    """Records of features come at the end of the input."""
    whole = assert_any_cut(run, PERF / name, [(1, 100), (2, 1 << 20)])
    assert len(whole.splitlines()) > 5


@pytest.mark.sanitize
def test_packed(run, tmp_path):
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress((PERF / "18-pipe.data").read_bytes()))
    plain = run("read", input=(PERF / "18-pipe.data").read_bytes())
    assert assert_any_cut(run, path, [(1, 3), (2, 4096)]) == plain


@pytest.mark.sanitize
@pytest.mark.parametrize("kind, next_kind", [(0x4f00, None), (0x40, None), (0, 0)], ids=str)
def test_records_inside_one_of_an_unknown_type(kind, next_kind, run, tmp_path):
    """A header that is none seems to hold many records. The header after it tells."""
    data = Pipe([r.header_attr(ATTR), *(sample(ATTR, ip=i, pid=1, tid=2, time=100 + i, period=1)
                                        for i in range(200))]).build("<")
    whole = run("read", input=data)
    at = len(data) - 200 * 40
    header = struct.pack("<IHH", 0x5000 + kind if kind == 0x40 else kind, 0, 1000)
    after = b"" if next_kind is None else bytes(6) + struct.pack("<H", 0x4000)
    damaged = data[:at] + header + data[at:at + 40 * 24] + after + data[at + 40 * 24:]
    path = tmp_path / "damaged"
    path.write_bytes(damaged)
    found = assert_any_cut(run, path, CUTS)
    assert found.count("SAMPLE") >= whole.count("SAMPLE") - 3 > 100


@pytest.mark.sanitize
@pytest.mark.parametrize("seed", range(24))
def test_damaged(seed, run, tmp_path):
    """The result does not depend on the cuts, and is that of the same bytes in a file, or in a
    pipe."""
    some = random.Random(seed)
    data = bytearray((PERF / some.choice(PIPES)).read_bytes())
    for _ in range(some.randrange(1, 5)):
        at = some.randrange(16, len(data))
        data[at:at + some.randrange(40)] = some.randbytes(some.randrange(40))
    if some.random() < .5:
        del data[some.randrange(16, len(data)):]
    path = tmp_path / "damaged"
    path.write_bytes(data)
    with open(path, "rb") as file:
        in_file = run("read", stdin=file)
    for how in ("feed", "batches"):
        for most in (1, 300, 20000):
            assert run(how, path, seed, most) == in_file, (how, most)
    assert run("read", input=bytes(data)) == in_file


@pytest.mark.sanitize
def test_records_at_multiples_of_four(run, tmp_path):
    """Features in a pipe have sizes that are no multiples of 8: after damage none of them is
    lost."""
    features = Pipe([r.header_attr(ATTR), *(r.header_feature(3, struct.pack("<I", 64) + bytes(64))
                                            for _ in range(12))]).build("<")
    size = 16 + 4 + 64
    at = len(features) - 12 * size
    damaged = features[:at + size] + bytes(size) + features[at + 2 * size:]
    path = tmp_path / "features"
    path.write_bytes(damaged)
    with open(path, "rb") as file:
        in_file = run("read", stdin=file)
    assert in_file.count("HEADER_FEATURE") == 11
    assert assert_any_cut(run, path, CUTS) == in_file


@pytest.mark.sanitize
def test_payloads(run, tmp_path):
    """A record comes with its payload, however large."""
    path = tmp_path / "payload"
    path.write_bytes(Pipe([r.header_attr(ATTR, [42]), r.auxtrace(bytes(3_000_000)),
                           sample(ATTR, ip=1), r.auxtrace(b"12345678")]).build("<"))
    cuts = [(1, 99999), (2, 1 << 20)]
    assert "payload=3000000" in assert_any_cut(run, path, cuts, ("feed", "batches"))


@pytest.mark.sanitize
@pytest.mark.parametrize("bit", [27, 40, 63])
def test_payload_of_a_damaged_size(bit, run, tmp_path):
    """The records after it are not taken for it."""
    aux = bytearray(Pipe([r.auxtrace(bytes.fromhex("0282") * 2000)]).build("<")[16:])
    samples = [Pipe([sample(ATTR, ip=i, pid=1, tid=2, time=100 + i, period=1)]).build("<")[16:]
               for i in range(300)]
    aux[8 + bit // 8] ^= 1 << bit % 8
    path = tmp_path / "payload"
    path.write_bytes(Pipe([r.header_attr(ATTR, [42])]).build("<") + b"".join(samples[:50]) + aux
                     + b"".join(samples[50:]))
    with open(path, "rb") as file:
        in_file = run("read", stdin=file)
    assert in_file.count("SAMPLE") == 300
    assert assert_any_cut(run, path, CUTS, ("feed", "batches")) == in_file


@pytest.mark.sanitize
def test_short_inputs(run, tmp_path):
    path = tmp_path / "short"
    begun = (PERF / "18-pipe.data").read_bytes()[:20]
    for data in (b"", b"PERF", b"PERFILE2", b"PERFILE2" + bytes(8), bytes(100), b"\x1f\x8b", begun):
        path.write_bytes(data)
        assert_any_cut(run, path, [(1, 1), (2, 1000)])


@pytest.mark.sanitize
def test_into_json(run, run_pdecode):
    path = PERF / "95-zstd-pipe.data"
    lines = strict_json_lines(run_pdecode(["-f", "jsonl", "-"], path.read_bytes()).stdout)
    assert strict_json_lines(run("json", path, 1, 333).encode()) == lines


@pytest.mark.sanitize
def test_limits(run):
    assert run("limit", PERF / "18-pipe.data") == "0 -1 LIMIT\n0 -1 ARGUMENT\n"


@pytest.mark.sanitize
def test_cancelled(run):
    path = PERF / "18-pipe.data"
    output, _, pumped = run("cancel", path).partition("{")
    assert '"code":"CANCELLED"' in pumped and "pumped 0" in pumped
    lines = output.splitlines()
    assert lines[0] == "open CANCELLED" and lines[-1] == "waited yes"
    assert all(line.endswith("then CANCELLED") for line in lines[1:-2])
    assert lines[-2].endswith("then the end")
    whole = run("read", input=path.read_bytes()).splitlines()
    assert sum(int(line.split()[1]) for line in lines[1:-1]) == len(whole) - 1 and len(lines) > 4
