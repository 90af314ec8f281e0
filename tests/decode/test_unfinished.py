"""Records after the data size that an unfinished file states belong to the recording; zeros at its
end are not records.
"""
import gzip
import json
import struct
import subprocess

import pytest

from conftest import TOOLS, strict_json
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe, zstd_records
from perfdata.sample import sample
from perfdata.wire import Wire, encode, fstr
from walk import walk

pytestmark = pytest.mark.sanitize

ATTR = attr("IP|TID|TIME|PERIOD|IDENTIFIER")
IDS = [71]
DATA_SIZE, MARK = 48, 56    # offsets in the header
COUNT = 300


def samples(first, n):
    return [sample(ATTR, ip=0x1000 + i, pid=7, tid=8, time=5_000_000_000 + i, period=i,
                   identifier=IDS[0])
            for i in range(first, first + n)]


def build(order="<", records=None, **options):
    return bytearray(
        File(attrs=[(ATTR, IDS)], records=records or samples(0, COUNT), **options).build(order))


def state_size(data, size, order="<", marked=True):
    """Sets the data size in the header; marked: with precord's mark of an unfinished file."""
    struct.pack_into(f"{order}Q", data, DATA_SIZE, size)
    if marked:
        struct.pack_into(f"{order}QQ", data, MARK, 1, 0)
    return data


def stated(size, order="<", records=None, marked=True):
    return state_size(build(order, records), size, order, marked)


@pytest.fixture
def write(tmp_path):
    def write(data, name="perf.data"):
        path = tmp_path / name
        path.write_bytes(data)
        return path
    return write


def times(document):
    return [record["time"] for record in document["records"] if record["type"] == "SAMPLE"
            and "cut" not in record]


ALL = [5_000_000_000 + i for i in range(COUNT)]
SIZE = len(encode(samples(0, 1), Wire()))       # of a sample


def decode_all_ways(run_pdecode, path):
    """The documents and lines of all ways to decode, and the statistics."""
    for args in ([], ["-j", "1"], ["-j", "3"], ["--sort", "time", "-j", "2"]):
        yield strict_json(run_pdecode([*args, path]).stdout)
    lines = [strict_json(line)
             for line in run_pdecode(["-f", "jsonl", "-j", "2", path]).stdout.splitlines()]
    yield {"records": [line for line in lines if line["kind"] == "record"],
           "errors": [line for line in lines if line["kind"] == "error"]}
    data = path.read_bytes()
    for given in (data, gzip.compress(data)):
        yield strict_json(run_pdecode(["-"], input=given).stdout)


def stats_of(run_pdecode, path, *args):
    return strict_json(run_pdecode(["-f", "stats", *args, path]).stdout)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("size", [0, 8, SIZE * 10, SIZE * 10 + 16, SIZE * (COUNT - 1)])
def test_the_rest_of_the_file_is_decoded(size, order, write, run_pdecode):
    """Also if the size ends inside a record: the recorder was killed while it patched the
    header."""
    data = stated(size, order)
    path = write(data)
    for document in decode_all_ways(run_pdecode, path):
        assert times(document) == ALL
        assert [error["code"] for error in document["errors"]] == ["UNFINISHED"]
    for threads in "1", "3":
        assert stats_of(run_pdecode, path, "-j", threads)["by_type"]["SAMPLE"]["records"] == COUNT
    assert walk(path)["perf.data"].samples == COUNT


@pytest.mark.parametrize("size", [0, SIZE * 10, SIZE * COUNT])
@pytest.mark.parametrize("tail", [b"", bytes(7), bytes(8), bytes(100_000),
                                  b"\x09\0\0\0\x02\0\x28\0", b"rubbish" * 9 + bytes(5000)],
                         ids=["nothing", "7 zeros", "8 zeros", "100000 zeros", "half a record",
                              "rubbish and zeros"])
def test_the_same_bytes_come_back(size, tail, write, run_pdecode):
    data = stated(size) + tail
    path = write(data)
    for args in ([], ["-f", "jsonl", "-j", "3"]):
        done = run_pdecode([*args, path])
        again = subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True)
        assert again.stdout == data, again.stderr
    assert times(strict_json(run_pdecode([path]).stdout)) == ALL


@pytest.mark.parametrize("marked", [True, False], ids=["precord", "perf"])
@pytest.mark.parametrize("zeros", [8, 4096, 1_000_000])
def test_zeros_at_the_end_are_no_records(zeros, marked, write, run_pdecode):
    """Space that was allocated in advance. perf states no size."""
    path = write(stated(SIZE * 10 if marked else 0, marked=marked) + bytes(zeros))
    end = path.stat().st_size - zeros
    for document in decode_all_ways(run_pdecode, path):
        assert times(document) == ALL
        assert [record for record in document["records"]
                if record["type"] == "SKIPPED"][0]["zeros"] == zeros
        assert [(error["code"], error["offset"], error["skipped"]) for error in document["errors"]
                if error["skipped"]] == \
            [("GARBAGE", end, zeros)]
    for threads in "1", "3":
        assert stats_of(run_pdecode, path, "-j", threads)["skipped"] == zeros
    assert b"zeros to the end" in run_pdecode([path]).stderr


def test_zeros_between_records_are_kept(write, run_pdecode):
    records = [*samples(0, 100), bytes(4096), *samples(100, COUNT - 100)]
    data = stated(0, records=records)
    done = run_pdecode([write(data)])
    document = strict_json(done.stdout)
    assert times(document) == ALL
    assert (["zeros" in record for record in document["records"] if record["type"] == "SKIPPED"]
            == [False])
    assert (subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True).stdout
            == data)


def test_a_stack_of_zeros_is_part_of_its_record(write, run_pdecode):
    """The last record ends with zeros."""
    kind = attr("IP|TID|TIME|STACK_USER|IDENTIFIER")
    records = [sample(kind, ip=1, pid=7, tid=8, time=ALL[i], identifier=IDS[0],
                      stack_user=bytes(512), dyn_size=512) for i in range(20)]
    data = bytearray(File(attrs=[(kind, IDS)], records=records).build())
    path = write(state_size(data, 0) + bytes(5000))
    document = strict_json(run_pdecode([path]).stdout)
    assert times(document) == ALL[:20]
    assert ([record["zeros"] for record in document["records"] if record["type"] == "SKIPPED"]
            == [5000])


# --- without the mark -----------------------------------------------------------------------------

@pytest.mark.parametrize("size", [8, SIZE * 10, SIZE * 10 + 16, SIZE * (COUNT - 4)])
def test_records_follow_and_no_features(size, write, run_pdecode):
    """The size in the header is wrong, whichever recorder wrote it."""
    data = stated(size, marked=False)
    path = write(data)
    for document in decode_all_ways(run_pdecode, path):
        assert times(document) == ALL
        error, = document["errors"]
        assert ((error["code"], error["field"], error["want"], error["have"])
                == ("SIZE", "data.size", size, SIZE * COUNT))
    done = run_pdecode([path])
    assert done.returncode == 1 and strict_json(done.stdout)["file"]["complete"] is False
    assert (subprocess.run([TOOLS / "pencode"], input=done.stdout, capture_output=True).stdout
            == data)


@pytest.mark.parametrize("tail", [b"x", b"rubbish" * 9, bytes(5000), bytes(5000) + b"x"],
                         ids=["a letter", "rubbish", "zeros", "zeros and a letter"])
@pytest.mark.parametrize("features", [{}, {3: fstr("box")}], ids=["no features", "features"])
def test_bytes_outside_of_records_stay_a_gap(features, tail, write, run_pdecode):
    path = write(build(features=features) + tail)
    done = run_pdecode([path])
    document = strict_json(done.stdout)
    assert (done.returncode, document["errors"]) == (0, []) and times(document) == ALL
    assert ([gap["data"] for gap in document["file"]["gaps"]]
            == ([tail.lstrip(b"\0").hex()] if any(tail) else []))


def test_attributes_after_the_data_are_not_taken_for_records(write, run_pdecode):
    done = run_pdecode([write(build(late_attrs=True))])
    assert done.returncode == 0 and times(strict_json(done.stdout)) == ALL


# --- other modes ----------------------------------------------------------------------------------

@pytest.mark.parametrize("pieces", [1, 5])
def test_compressed(pieces, write, run_pdecode):
    data = stated(16, records=[zstd_records(samples(0, COUNT), pieces=pieces), r.finished_round()])
    path = write(data + bytes(3000))
    for document in decode_all_ways(run_pdecode, path):
        assert times(document) == ALL
    assert walk(path)["perf.data"].samples == COUNT


def test_the_rest_of_a_compressed_record(write, run_pdecode):
    """Whole zstd blocks are expanded."""
    data = stated(16, records=[zstd_records(samples(0, COUNT), flush_every=SIZE * 10)])
    found = []
    for missing in range(1, 2000, 300):
        path = write(data[:-missing])
        for args in ("-j", "1"), ("-j", "3"):
            done = run_pdecode(["--blobs", "full", *args, path])
            document = strict_json(done.stdout)
            found.append(times(document))
            assert (found[-1] == ALL[:len(found[-1])]
                    and len(found[-1]) == walk(path)["perf.data"].samples)
            assert [error["code"] for error in document["errors"]] == ["UNFINISHED", "TRUNCATED"]
            assert subprocess.run([TOOLS / "pencode"], input=done.stdout,
                                  capture_output=True).stdout == path.read_bytes()
    assert 0 < len(found[-1]) < len(found[0]) < COUNT


def test_a_directory(tmp_path, run_pdecode):
    """Only `data` has a header that states the size, data.N have none."""
    directory = tmp_path / "perf.data"
    directory.mkdir()
    parts = [samples(i * 100, 100) for i in range(3)]
    (directory / "data").write_bytes(stated(SIZE, records=parts[0]) + bytes(64))
    (directory / "data.0").write_bytes(encode(parts[1], Wire()) + bytes(4096))
    (directory / "data.1").write_bytes(encode(parts[2], Wire())[:-3])
    for args in ([], ["-j", "3"]):
        done = run_pdecode([*args, directory])
        document = strict_json(done.stdout)
        assert times(document) == ALL[:-1]
        assert [(record.get("file"), record["zeros"]) for record in document["records"]
                if record["type"] == "SKIPPED"] == \
            [(None, 64), ("data.0", 4096)]
        again = tmp_path / "again"
        subprocess.run([TOOLS / "pencode", "-o", f"{again}/"], input=done.stdout, check=True)
        assert {path.name: path.read_bytes() for path in again.iterdir()} == \
            {path.name: path.read_bytes() for path in directory.iterdir()}
        subprocess.run(["rm", "-r", again], check=True)
    assert ({name: one.samples for name, one in walk(directory).items()}
            == {"data": 100, "data.0": 100, "data.1": 99})
    for threads in "1", "3":
        assert stats_of(run_pdecode, directory, "-j", threads)["by_event"][0]["samples"] == COUNT


# --- prepair --------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [0, 8, SIZE * 10, SIZE * 10 + 16])
def test_the_repaired_file_has_all_of_it(size, write, run_pdecode, tmp_path, perf):
    path, fixed = write(stated(size) + bytes(4096)), tmp_path / "fixed"
    done = subprocess.run([TOOLS / "prepair", "--json", "-o", fixed, path], capture_output=True)
    assert done.returncode == 1 and json.loads(done.stdout)["kept"]["records"] == COUNT
    again = run_pdecode([fixed])
    assert again.returncode == 0 and times(strict_json(again.stdout)) == ALL
    report = subprocess.run([perf, "report", "--stats", "-i", fixed], capture_output=True,
                            text=True)
    assert f"SAMPLE events:        {COUNT} " in report.stdout, report.stderr


@pytest.mark.parametrize("left, record", [(4, "SAMPLE"), (7, "SAMPLE"), (3, None)])
def test_a_header_that_is_cut_off_names_its_record(left, record, tmp_path, run_pdecode):
    path = tmp_path / "cut.data"
    whole = Pipe([r.header_attr(ATTR, IDS), *samples(0, 2)]).build("<")
    size = len(encode(samples(1, 1), Wire("<")))
    path.write_bytes(whole[:len(whole) - size + left])
    done = run_pdecode(["-f", "jsonl", str(path)])
    errors = [line for line in map(strict_json, done.stdout.splitlines())
              if line["kind"] == "error"]
    assert ([(e["code"], e.get("record"), e["have"]) for e in errors]
            == [("TRUNCATED", record, left)])


@pytest.mark.parametrize("zeros", [8, 4096, 300_000])
def test_zeros_at_the_end_of_a_stream(zeros, write, run_pdecode):
    """The end of a stream is known late; errors and the account are those of the file."""
    data = Pipe([r.header_attr(ATTR, IDS), *samples(0, COUNT)]).build("<")
    found = [json.loads(run_pdecode(["-f", "stats", *args], input=given).stdout)
             for args, given in (([write(data + bytes(zeros))], b""), (["-"], data + bytes(zeros)))]
    for stats in found:
        account = stats["account"]
        assert account["unwritten"] == account["skipped"] == zeros and stats["errors"] == 1
    loud = run_pdecode(["-f", "stats", "-"], input=data + bytes(zeros)).stderr.decode()
    assert f"at {len(data)}: zeros to the end: never written; {zeros} bytes skipped" in loud
    loud = run_pdecode(["-f", "stats", "-"], input=data + bytes(zeros) + b"\1").stderr.decode()
    assert f"at {len(data)}: impossible size" in loud


@pytest.mark.sanitize
@pytest.mark.parametrize("zeros", [0, 7, 8, 100, 4096, 32768, 300_000])
@pytest.mark.parametrize("garbage", [b"\1", b"\xa5" * 20, b"\0\xff" * 10, b"\xa5" * 40_000,
                                     bytes(100) + b"\xa5"], ids=len)
def test_zeros_after_garbage_at_the_end(garbage, zeros, write, run_pdecode):
    """They are counted alike in a file, a pipe and a file that is read as one: from a block on, as
    fewer may be what the garbage ends with."""
    records = [r.header_attr(ATTR, IDS), *samples(0, COUNT)]
    for data in (Pipe(records).build("<") + garbage + bytes(zeros),
                 stated(0) + garbage + bytes(zeros)):
        for args, given in ([write(data)], b""), (["-"], data):
            account = json.loads(run_pdecode(["-f", "stats", *args], input=given).stdout)["account"]
            assert account["skipped"] == len(garbage) + zeros
            assert account["unwritten"] == (zeros if zeros >= 4096 else 0)
