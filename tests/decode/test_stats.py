"""--format stats, compared with the document of each file and with the known content of built
files."""
import collections

import pytest

from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, Pipe, zstd_records
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from perfdata.wire import Wire, encode, fstr
from periods import fixed_period
from schema_check import complaints

pytestmark = pytest.mark.sanitize

CLOCK = Attr(type=1, config=0, sample_period=1000, sample_type="IDENTIFIER|IP|TID|TIME|PERIOD")
FAULTS = Attr(type=1, config=2, sample_period=1, sample_type="IDENTIFIER|IP|TID|TIME")
ATTRS = [(CLOCK, [1]), (FAULTS, [2])]


def stats_of(decoder, path, *args):
    return decoder.result(path, "--format", "stats", *args)


def record_bytes(record):
    """The bytes of a record and its payload, according to the document."""
    after = record["data_size"] if record["type"] in ("AUXTRACE", "HEADER_TRACING_DATA") else 0
    return record.get("cut", record["size"]) + after


NOT_PERF = {"corpus/hotspot/perf.data.broken.gz"}


def test_agrees_with_document(data_file, decoder, run_pdecode):
    if data_file.label in NOT_PERF:
        assert run_pdecode(["-f", "stats", data_file.path]).returncode == 3
        return
    document = decoder.result(data_file.path, "--blobs", "omit")
    stats = stats_of(decoder, data_file.path)
    assert stats.returncode == document.returncode
    stats, document = stats.document, document.document
    assert complaints("stats.schema.json", stats) == []
    records = [record for record in document["records"] if record["type"] != "SKIPPED"]

    count, size = collections.Counter(), collections.Counter()
    for record in records:
        count[record["type"]] += 1
        size[record["type"]] += record_bytes(record)
    assert stats["by_type"] == {name: {"records": count[name], "bytes": size[name]}
                                for name in count}
    assert stats["records"] == len(records)
    assert stats["bytes"] == sum(size.values())

    assert [(e["attr_index"], e["event"]) for e in stats["by_event"]] == [
        (a["index"], a["name"]) for a in document["attrs"]]
    for event in stats["by_event"]:
        own = [record for record in records if record.get("attr_index") == event["attr_index"]]
        samples = [record for record in own if record["type"] == "SAMPLE"]
        assert event["records"] == len(own)
        assert event["bytes"] == sum(map(record_bytes, own))
        assert event["samples"] == len(samples)
        fixed = fixed_period(document["attrs"][event["attr_index"]]["attr"])
        periods = [record.get("period", fixed) for record in samples]
        assert event.get("period", 0) == sum(periods) % 2**64

    summary = document["summary"]
    for key in ("records", "lost", "lost_samples", "first_time", "last_time", "errors", "skipped"):
        assert stats.get(key) == summary.get(key), key
    assert stats["file"]["complete"] == summary["complete"]
    if "first_time" in summary:
        assert stats["duration"] == summary["last_time"] - summary["first_time"]
    assert stats["throttled"] == count["THROTTLE"]
    codes = collections.Counter(error["code"] for error in document["errors"]
                                if error["severity"] != "note")
    assert stats["errors_by_code"] == codes
    for key in ("mode", "byte_order", "size"):
        assert stats["file"].get(key) == document["file"].get(key)
    version = document["features"].get("VERSION")
    if version and isinstance(version, str):
        assert stats["file"]["perf_version"] == version

    inner = [record for record in records if "inner_offset" in record]
    outer = [record for record in records if record["type"].startswith("COMPRESSED")]
    if outer:
        assert stats["compressed"] == {"records": len(outer), "in": sum(map(record_bytes, outer)),
                                       "out": sum(map(record_bytes, inner))}
    else:
        assert "compressed" not in stats


def made_records():
    def sid(time):
        return sample_id(CLOCK, pid=1, tid=1, time=time, id=1)
    return [
        r.comm(1, 1, "x", sid=sid(0)),
        sample(CLOCK, id=1, time=500, period=7),
        sample(CLOCK, id=1, time=400, period=2**64 - 1),
        sample(FAULTS, id=2, time=900),
        r.throttle(600, 1, 1, sid=sid(600)),
        r.lost(1, 40, sid=sid(700)),
        r.lost(1, 2, sid=sid(710)),
        r.lost_samples(9, sid=sid(720)),
        r.record(99, b"\0" * 8),
        r.record(200, b"\0" * 16),
        r.record(32770, b"\0" * 8),
        r.finished_round(),
    ]


EXPECTED = {
    "records": 12,
    "first_time": 400, "last_time": 900, "duration": 500,
    "lost": 42, "lost_samples": 9, "throttled": 1,
    "errors": 0, "errors_by_code": {}, "damaged": 0, "skipped": 0,
}
BY_TYPE = {"COMM": 1, "SAMPLE": 3, "THROTTLE": 1, "LOST": 2, "LOST_SAMPLES": 1, "UNKNOWN": 2,
           "SIMPLEPERF_DSO": 1,
           "FINISHED_ROUND": 1}


def make_file():
    return File(attrs=ATTRS, records=made_records(),
                features={NUMBER["VERSION"]: fstr("6.99.test")})


@pytest.mark.parametrize("order", ["<", ">"])
def test_made_file(order, tmp_path, decoder):
    path = tmp_path / "made.data"
    path.write_bytes(make_file().build(order))
    stats = stats_of(decoder, path)
    assert stats.returncode == 0
    stats = stats.document
    assert {key: stats[key] for key in EXPECTED} == EXPECTED
    assert {name: of["records"] for name, of in stats["by_type"].items()} == BY_TYPE
    assert stats["by_type"]["FINISHED_ROUND"]["bytes"] == 8
    assert stats["by_type"]["UNKNOWN"]["bytes"] == 16 + 24
    clock, faults = stats["by_event"]
    assert (clock["samples"], clock["period"]) == (2, 6)   # modulo 2^64
    assert (clock["records"], faults["records"]) == (7, 1)
    assert faults["period"] == 1    # a sample, and the period of its event
    assert stats["file"] == {
        "mode": "file", "byte_order": "big" if order == ">" else "little",
        "size": path.stat().st_size, "data_offset": stats["file"]["data_offset"],
        "data_size": stats["bytes"], "complete": True,
        "perf_version": "6.99.test"}


def test_made_pipe(tmp_path, decoder, run_pdecode):
    path = tmp_path / "made.pipe"
    heads = [r.header_attr(attr, ids) for attr, ids in ATTRS]
    version = r.header_feature(NUMBER["VERSION"], fstr("6.99.test"))
    path.write_bytes(Pipe(records=[*heads, version, *made_records()]).build("<"))
    stats = stats_of(decoder, path).document
    assert stats["file"]["mode"] == "pipe"
    assert stats["file"]["perf_version"] == "6.99.test"
    assert {key: stats[key] for key in EXPECTED} == {**EXPECTED, "records": 15}
    assert run_pdecode(["-f", "stats", "-"], input=path.read_bytes()).returncode == 0


def test_version_survives_a_filter(tmp_path, decoder):
    path = tmp_path / "made.pipe"
    version = r.header_feature(NUMBER["VERSION"], fstr("6.99.test"))
    path.write_bytes(Pipe(records=[r.header_attr(CLOCK, [1]), version, *made_records()[:2]]).build(
        "<"))
    stats = stats_of(decoder, path, "--types", "SAMPLE").document
    assert stats["file"]["perf_version"] == "6.99.test"
    assert (stats["records"], stats["filtered"]) == (1, 3)


def test_compressed(tmp_path, decoder):
    path = tmp_path / "packed.data"
    packed = zstd_records(encode(made_records(), Wire("<")))
    path.write_bytes(File(attrs=ATTRS, records=[packed]).build("<"))
    stats = stats_of(decoder, path).document
    plain = len(encode(made_records(), Wire("<")))
    assert stats["compressed"]["out"] == plain
    assert stats["compressed"]["in"] == stats["by_type"]["COMPRESSED"]["bytes"]
    assert stats["bytes"] == stats["compressed"]["in"] + plain


def test_damage(tmp_path, decoder):
    """A cut file: all counts show the damage."""
    whole = make_file()
    whole.features = {}
    path = tmp_path / "cut.data"
    path.write_bytes(whole.build("<")[:-4])
    stats = stats_of(decoder, path)
    assert stats.returncode == 1
    stats = stats.document
    assert stats["file"]["complete"] is False
    assert stats["errors"] >= 1 and stats["errors_by_code"].get("TRUNCATED")


def test_pretty_is_the_same(tmp_path, decoder, run_pdecode):
    path = tmp_path / "made.data"
    path.write_bytes(make_file().build("<"))
    pretty = stats_of(decoder, path, "--pretty")
    assert pretty.document == stats_of(decoder, path).document
    lines = run_pdecode(["-f", "stats", "--pretty", path]).stdout.decode().split("\n")
    assert '    "SAMPLE": {"records": 3, "bytes": %d},' % pretty.document["by_type"]["SAMPLE"][
        "bytes"] in lines


def test_stats_end_with_one_line(tmp_path, run_pdecode):
    path = tmp_path / "made.data"
    path.write_bytes(make_file().build("<"))
    out = run_pdecode(["-f", "stats", path]).stdout
    assert out.count(b"\n") == 1 and out.endswith(b"}\n")
