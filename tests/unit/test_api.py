"""libdecode's C interface, from programs that see only what `make install` installs.

Their output is compared with pdecode's JSON. If the tools are sanitized, the programs are, too.
"""
import re
import shutil
import struct
import subprocess

import pytest

from conftest import FIXTURES, ROOT, strict_json, strict_json_lines
from perfdata import features as f
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File, Pipe
from perfdata.sample import sample
from perfdata.wire import fstr

PERF = FIXTURES / "perf"
FILES = ["02-callgraph-fp.data", "16-zstd.data", "18-pipe.data", "12-tracepoints.data",
         "20-threads.data",
         "10-group-leader-sampling.data"]
ATTR = attr("IP|TID|TIME|PERIOD")
KINDS = ["shared", "static"]


@pytest.fixture(params=KINDS)
def run(request, installed):
    if installed.sanitized and request.param == "shared":
        pytest.skip("the sanitized library is linked statically")
    return lambda source, *arguments, **options: installed.run(source, request.param, *arguments,
                                                               **options)


def built(tmp_path, file, order="<"):
    path = tmp_path / "built.data"
    path.write_bytes(file.build(order))
    return path


# --- iterating ------------------------------------------------------------------------------------

def lines_of(output, what):
    return [line for line in output.splitlines() if line.split(" ")[0] == what]


def expected_record(record, number):
    """The values that api_read prints for a record, from the JSON."""
    words = ["record", number, record["type"], record["offset"], record["size"],
             f"misc={record['misc']}"]
    if "attr_index" in record:
        words.append(f"attr={record['attr_index']}")
    time = (record.get("time") if record["type"] == "SAMPLE"
            else record.get("sample_id", {}).get("time"))
    if time is not None:
        words.append(f"time={time}")
    if "ip" in record:
        words.append(f"ip={record['ip']}")
    if "pid" in record:
        words.append(f"pid={record['pid']}")
    if "tid" in record.get("sample_id", {}):
        words.append(f"sample_id.tid={record['sample_id']['tid']}")
    if "callchain" in record:
        words.append(f"callchain={len(record['callchain'])},")
    text = record.get("comm", record.get("filename"))
    if text is not None:
        words.append(f"text={text}")
    if "value" in record.get("read", {}):
        words.append(f"read.value={record['read']['value']}")
    if "raw" in record:
        words.append(f"raw={len(record['raw']['data']) // 2}")
    return " ".join(map(str, words))


def assert_read(output, document):
    """The records of api_read are those of the document."""
    records = [record for record in document["records"] if record["type"] != "SKIPPED"]
    printed = lines_of(output, "record")
    assert len(printed) == len(records)
    for line, record in zip(printed, records):
        assert "WRONG" not in line
        number = int(line.split(" ")[1])
        want, line = expected_record(record, number), re.sub(r"(callchain=\d+,)\S*", r"\1", line)
        assert line.startswith(want + " "), f"expected {want}\nprinted  {line}"
        assert line.endswith(",0"), "enter and leave have to be in pairs"


@pytest.mark.sanitize
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("way", ["path", "fd", "memory"])
def test_read(name, way, run, decode):
    path = PERF / name
    if path.is_dir() and way != "path":
        pytest.skip("a directory has only a path")
    returncode, output = run("api_read.c", way, path)
    document = decode(path)
    assert returncode == 0
    assert_read(output, document)
    file = document["file"]
    assert f"file {file['mode']} {file['byte_order']} complete=1" in output
    assert "magic PERFILE2" in output
    assert lines_of(output, "attr") == [
        f"attr {event['index']} {event['name']} ids={len(event['ids'])},{(event['ids'] or [0])[0]} "
        f"sample_type={event['attr']['sample_type']['raw']} visited=1"
        for event in document["attrs"]]
    if file["mode"] != "pipe":
        sections = {section["name"]: section["size"] for section in file["sections"]}
        printed = [line.split(" ")[2:] for line in lines_of(output, "feature")]
        assert printed == [[name, str(sections[name])] for name in document["features"]
                           if not name.endswith("_raw")]
        span = document["features"].get("SAMPLE_TIME")
        assert not span or not span["last"] or f"span {span['first']} {span['last']}" in output
    assert output.endswith("end errors=0\n")


@pytest.mark.sanitize
def test_read_from_a_pipe(run, decode):
    path = PERF / "02-callgraph-fp.data"
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as cat:
        returncode, output = run("api_read.c", "fd", "-", stdin=cat.stdout)
    assert returncode == 0 and "the descriptor was closed" not in output
    assert_read(output, decode(path))


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_names_and_numbers(order, run, tmp_path):
    """One record of each kind with known values, in both byte orders."""
    chain = attr("IP|TID|TIME|CALLCHAIN")
    path = built(tmp_path, File(attrs=[(chain, [42, 43])], records=[
        sample(chain, ip=0xffffffff81000010, pid=-1, tid=8, time=5, callchain=[0x10, 0x20, 0x30]),
        r.comm(7, 8, "worker"), r.mmap(7, 8, 0x400000, 0x1000, 0, "/bin/ls")],
        features={3: fstr("box"), 21: f.sample_time(5, 9)}), order)
    _, output = run("api_read.c", "path", path)
    sampled, comm, mmap = lines_of(output, "record")
    assert "attr=0 time=5 ip=0xffffffff81000010 pid=-1 callchain=3,0x30 " in sampled
    assert " pid=7 text=worker " in comm and " pid=7 text=/bin/ls " in mmap
    assert "span 5 9" in output
    assert lines_of(output, "feature") == ["feature 3 HOSTNAME 68", "feature 21 SAMPLE_TIME 16"]
    assert f"{'little' if order == '<' else 'big'} complete=1" in output


@pytest.mark.sanitize
def test_a_path_ends_where_its_object_does(run, tmp_path):
    """`weight` is after `read`, not in it."""
    both = attr("READ|WEIGHT", read_format="ID")
    path = built(tmp_path, File(attrs=[(both, [42])], records=[
        sample(both, read={"value": 77, "id": 42}, weight=5)]))
    _, output = run("api_read.c", "path", path)
    assert " read.value=77 visited" in output and "WRONG" not in output


@pytest.mark.sanitize
def test_payload(run, tmp_path):
    path = built(tmp_path,
                 File(attrs=[(ATTR, [42])],
                      records=[r.auxtrace(bytes(range(200)) * 5), r.finished_round()]))
    _, output = run("api_read.c", "path", path)
    assert "payload=1000" in output and "payload whole" in output and "FINISHED_ROUND" in output


@pytest.mark.sanitize
def test_damage_is_told_where_it_is(run, tmp_path, run_pdecode):
    path = built(tmp_path,
                 Pipe([r.header_attr(ATTR, [42]), sample(ATTR, ip=1), sample(ATTR, ip=2)]))
    path.write_bytes(path.read_bytes()[:-10])
    _, output = run("api_read.c", "path", path)
    document = strict_json(run_pdecode([path]).stdout)
    (error,) = document["errors"]
    assert (lines_of(output, "error")
            == [f"error {error['code']} {error['offset']} {error['message']}"])
    assert lines_of(output, "record")[-1].count("error=TRUNCATED") == 1
    assert "complete=1" in output and output.endswith("end errors=1\n")


@pytest.mark.sanitize
@pytest.mark.parametrize("way", ["path", "fd", "memory"])
@pytest.mark.parametrize("content, code", [(b"", "MAGIC"), (b"PERFILE3" + bytes(100), "MAGIC"),
                                           (b"PERFILE2", "MAGIC")])
def test_files_that_are_not_opened(way, content, code, run, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    assert run("api_read.c", way, path) == (3, f"not opened: {code}\n")


@pytest.mark.sanitize
def test_a_missing_file(run, tmp_path):
    assert run("api_read.c", "path", tmp_path / "missing") == (3, "not opened: IO\n")
    assert run("api_read.c", "fd", tmp_path / "missing") == (3, "not opened: IO\n")
    assert run("api_read.c", "path", tmp_path) == (3, "not opened: IO\n")


# --- sinks ----------------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("format", ["json", "jsonl", "stats"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("way", [[], [1, "singly"]], ids=["loop", "singly"])
def test_sinks_write_the_same_as_pdecode(way, name, format, run, run_pdecode):
    returncode, output = run("api_sink.c", format, PERF / name, *way)
    assert returncode == 0
    assert output == run_pdecode(["-f", format, PERF / name]).stdout.decode(errors="replace")


@pytest.mark.sanitize
def test_a_sink_of_ones_own(run, decode):
    document = decode(PERF / "02-callgraph-fp.data")
    assert run("api_sink.c", "own", PERF / "02-callgraph-fp.data") == (
        0, f"1 {len(document['records'])} 0 {len(document['attrs'])}\n")


@pytest.mark.sanitize
@pytest.mark.parametrize("format", ["json", "stats"])
def test_readers_in_threads(format, run, run_pdecode):
    """Each thread has its own reader; readers share no state."""
    path = PERF / "16-zstd.data"
    returncode, output = run("api_sink.c", format, path, 8)
    assert returncode == 0
    assert output == run_pdecode(["-f", format, path]).stdout.decode(errors="replace")


@pytest.mark.sanitize
@pytest.mark.parametrize("format, threads", [("json", 1), ("jsonl", 1), ("jsonl", 3), ("stats", 1)])
def test_an_output_that_failed_is_not_called_again(format, threads, run):
    assert run("api_failing_output.c", format, PERF / "12-tracepoints.data", threads) == (
        0, "failed: 0 wrong, 0 again\n")


@pytest.mark.sanitize
def test_errors_reach_the_sink(run, tmp_path, run_pdecode):
    path = built(tmp_path, File(attrs=[(ATTR, [42])], records=[sample(ATTR, ip=1)] * 3, data_size=0,
                                claimed=(3,)))
    returncode, output = run("api_sink.c", "jsonl", path)
    assert returncode == 0
    assert (strict_json_lines(output.encode())
            == strict_json_lines(run_pdecode(["-f", "jsonl", path]).stdout))
    assert '"code":"UNFINISHED"' in output


# --- options and limits ---------------------------------------------------------------------------

UNSORTED = File(attrs=[(ATTR, [42])],
                records=[sample(ATTR, ip=i, time=1000 - i) for i in range(50)])


@pytest.mark.sanitize
def test_order(run, tmp_path):
    path = built(tmp_path, UNSORTED)
    assert run("api_limits.c", "plain", path) == (0, "records 50 sorted=0\n")
    assert run("api_limits.c", "by time", path) == (0, "records 50 sorted=1\n")
    assert run("api_limits.c", "defaults", path) == (0, "records 50 sorted=0\n")


@pytest.mark.sanitize
def test_old_and_new_callers(run, tmp_path):
    """`size` states how many of the options the caller knows; the rest of a longer struct is
    ignored."""
    path = built(tmp_path, UNSORTED)
    assert run("api_limits.c", "old caller", path) == (0, "records 50 sorted=0\n")
    assert run("api_limits.c", "new caller", path) == (0, "records 50 sorted=1\n")


@pytest.mark.sanitize
def test_old_and_new_visitors(run):
    """Functions that the caller's struct does not have are not read beyond its end."""
    returncode, output = run("api_limits.c", "visitors", PERF / "02-callgraph-fp.data")
    old, today, later = output.splitlines()
    assert returncode == 0 and old == today == later
    assert re.fullmatch(r"[1-9]\d+ [1-9]\d* wrong=0", old)


@pytest.mark.sanitize
def test_stop_at(run, tmp_path):
    path = built(tmp_path,
                 Pipe([r.header_attr(ATTR, [42]), sample(ATTR), r.record(12, bytes(8 + 8 + 16)),
                       sample(ATTR, ip=1)]))
    assert run("api_limits.c", "strict", path)[0] == 0
    returncode, output = run("api_limits.c", "stop at notes", path)
    assert returncode == 1
    assert output.splitlines() == ["told TRAILING severity=1 have=8", "records 2 sorted=1",
                                   "stopped TRAILING severity=1 have=8"]
    path.write_bytes(path.read_bytes()[:-10])
    returncode, output = run("api_limits.c", "strict", path)
    assert returncode == 1
    assert re.search(r"^stopped TRUNCATED severity=2", output, flags=re.M)


@pytest.mark.sanitize
def test_stop_at_the_open(run, tmp_path):
    """The error of a failed open has no file name, because names are freed with the reader."""
    (tmp_path / "data").write_bytes((PERF / "12-tracepoints.data").read_bytes())
    (tmp_path / "data.1").write_bytes(b"")
    returncode, output = run("api_limits.c", "strict", tmp_path)
    assert returncode == 1
    assert output.splitlines() == ["told IO severity=2 have=2", "not opened IO severity=2 have=2"]


@pytest.mark.sanitize
def test_memory_limit(run):
    for limit, code in (4096, "LIMIT"), (100_000, "LIMIT"):
        returncode, output = run("api_limits.c", "little memory", PERF / "16-zstd.data", limit)
        assert code in output
    assert run("api_limits.c", "little memory", PERF / "16-zstd.data", 64 << 20)[0] == 0


@pytest.mark.sanitize
def test_memory_limit_at_each_step(run):
    """Any failed allocation is an error, without a crash or leak."""
    for limit in range(1 << 10, 3 << 20, 53 << 10):
        returncode, output = run("api_limits.c", "little memory", PERF / "12-tracepoints.data",
                                 limit)
        assert returncode == 0 or "LIMIT" in output, (limit, output)


@pytest.mark.sanitize
def test_output_that_fails(run):
    returncode, output = run("api_limits.c", "output fails", PERF / "02-callgraph-fp.data")
    assert (returncode, output) == (0, "failed=No space left on device calls=1\n")


@pytest.mark.sanitize
def test_closed_early(run):
    for name in FILES:
        assert run("api_limits.c", "early", PERF / name) == (0, "closed\n")


@pytest.mark.sanitize
def test_texts(run, decode):
    _, output = run("api_limits.c", "texts")
    lines = output.splitlines()
    assert lines[0] == "SAMPLE at 4096: callchain needs 48 bytes, 12 left"
    assert lines[1] == "SAMPLE at 9"
    assert (lines[2].split()
            == ("OK IO NOMEM LIMIT MAGIC SIZE TRUNCATED COUNT NO_ATTR UNKNOWN_TYPE CODEC "
                "UNFINISHED "
                "TRAILING PAYLOAD GARBAGE DUPLICATE FORMAT ARGUMENT RESTORED MISMATCH "
                "AGAIN CANCELLED ORDER").split())
    assert lines[3] == "1 10 MMAP"
    assert lines[4] == "0 no more"
    assert lines[5] == f"{decode(PERF / '01-basic.data')['pdecode']['version']} 1"


@pytest.mark.sanitize
def test_values(run):
    assert run("api_limits.c", "values") == (0, "1 2 sh\n-1\n")


def test_a_history_is_sealed_once(run):
    assert run("api_limits.c", "sealed twice", PERF / "02-callgraph-fp.data") == (
        0, "0\n-1 ARGUMENT\nall\nsame tasks\n")


# --- the writer -----------------------------------------------------------------------------------

def said(output):
    """{what: the rest} of lines "what: the rest"."""
    return dict(line.split(": ", 1) for line in output.splitlines())


@pytest.mark.sanitize
def test_wrong_values_are_named(run, tmp_path, decode):
    """The error has the record, the field's path and the fault; the file does not change."""
    path = tmp_path / "written.data"
    returncode, output = run("api_write.c", "wrong values", path)
    assert (returncode, said(output)) == (0, {
        "typo": "-1 ARGUMENT | COMM: tidd: unknown field; did you mean tid?",
        "fields": "type=3 COMM tidd",
        "kind": "-1 ARGUMENT | COMM: pid: not a number or name of this field",
        "large": "-1 SIZE | COMM: the record would be larger than 65535 bytes",
        "trailer": "-1 ARGUMENT | COMM: sample_id.tim: unknown field; did you mean time?",
        "deep": "-1 ARGUMENT | NAMESPACES: namespaces[1].inode: not a number or name of this field",
        "unknown": "-1 ARGUMENT | record of type 999: body: expected the bytes of a record with "
                   "unknown layout",
        "no such event": "-1 ARGUMENT | COMM: no event was added with this index",
        "feature": "-1 ARGUMENT | HOSTNAME: expected a string",
        "feature's field": "-1 ARGUMENT | CPU_TOPOLOGY: pid: unknown field",
        "no such feature":
            "-1 ARGUMENT | the layout of this feature is unknown: use pd_writer_feature_bytes()",
        "no such bit": "-1 ARGUMENT | no feature has this id",
        "right": "done", "finish": "done"})
    document = decode(path)
    assert [(record["type"], record["pid"]) for record in document["records"]] == [("COMM", 1)]
    assert list(document["features"]) == ["EVENT_DESC"]


@pytest.mark.sanitize
def test_texts_that_are_lent(run, tmp_path):
    """The text of an error is borrowed from the writer until its next error."""
    assert run("api_write.c", "lent texts", tmp_path / "written.data") == (
        0, "later: -1 ARGUMENT | COMM: pidd: unknown field; did you mean pid?\n")


@pytest.mark.sanitize
def test_wrong_events_are_named(run, tmp_path):
    assert said(run("api_write.c", "wrong events", tmp_path / "written.data")[1]) == {
        "small": "-1 ARGUMENT | no perf_event_attr has this size", "many ids": "done",
        "begin": "-1 SIZE | HEADER_ATTR: the names or ids of the events are too long for it",
        "mode": "-1 ARGUMENT | the mode is invalid"}


def records_of(data):
    at = 0
    while at < len(data):
        kind, _, size = struct.unpack_from("=IHH", data, at)
        yield kind, size, data[at + 8:at + size]
        at += size


@pytest.mark.sanitize
@pytest.mark.parametrize("level, by, mode", [(1, 0, 0), (1, 1, 0), (1, 2, 0), (0, 0, 0), (0, 2, 0),
                                             (1, 0, 1), (0, 0, 1)])
def test_lent_bytes_are_read_before_they_are_returned(run, tmp_path, decoder, level, by, mode):
    """All bytes are released once and in order; the file has exactly the lent records, and the
    watch function has seen all."""
    path, seen = tmp_path / "lent.data", tmp_path / "lent.data.seen"
    returncode, output = run("api_lend.c", level, by, mode, path)
    count = int(re.fullmatch(r"(\d+) records\n", output)[1])
    assert returncode == 0 and count > 1000
    decoded = decoder.lines(path)
    records = [record for record in decoded.document if record["kind"] == "record" and
               record["type"] not in ("COMPRESSED", "HEADER_FEATURE")]
    bodies = sorted(bytes.fromhex(record["body"]) for record in records if "body" in record)
    same = bodies == sorted(number.to_bytes(8, "little")
                            + bytes([number % 256]) * (number * 7919 % 4000 // 8 * 8)
                            for number in range(count))
    assert decoded.returncode == 0 and same     # the bodies are too large for a message
    same = [(record.get("type_id", record["type"]), record["size"], record.get("body"))
            for record in records] == [
        (kind, size, body.hex()) if kind == 50 else ("COMM", size, None)
        for kind, size, body in records_of(seen.read_bytes())]
    assert same
    assert len(records) == count + 5


@pytest.mark.sanitize
def test_a_thread_writes_the_same(run, tmp_path):
    """With a thread, the file and the sizes after each record are the same."""
    by = {how: run("api_write.c", f"by {how}", tmp_path / how) for how in ("caller", "thread")}
    assert by["caller"] == by["thread"] and by["thread"][0] == 0
    assert (tmp_path / "thread").stat().st_size > 7 << 20
    assert (tmp_path / "thread").read_bytes() == (tmp_path / "caller").read_bytes()


@pytest.mark.sanitize
def test_an_encoder_ends_once(run, tmp_path, decode):
    path = tmp_path / "encoded.data"
    returncode, output = run("api_write.c", "encoder", path)
    ended = "-1 ARGUMENT | the encoder has finished and can only be freed"
    assert (returncode, said(output)) == (0, {
        "file": "done", "record": "done", "finish": "done", "attr later": ended,
        "features later": ended, "record later": ended, "finish later": ended,
        "file later": "-1 ARGUMENT | it must precede attrs, features and records"})
    assert [record["comm"] for record in decode(path)["records"]] == ["worker"]


NEEDS_EVENT = "its layout depends on an event, so it needs an event's index"
SAMPLES_SAID = {
    "comm": "done", "sample": "done", "fault": "done", "read": "done", "half": "done",
    "round": "done", "finish": "done",
    "other's field": "-1 ARGUMENT | SAMPLE: callchain: unknown field",
    "no event": f"-1 ARGUMENT | SAMPLE: {NEEDS_EVENT}",
    "no event's counts": f"-1 ARGUMENT | READ: {NEEDS_EVENT}",
    "trailer": "-1 ARGUMENT | SAMPLE: records of this type have no sample_id",
    "trailer of nobody": "-1 ARGUMENT | COMM: sample_id needs an event",
    "trailer of perf": "-1 ARGUMENT | FINISHED_ROUND: records of this type have no sample_id",
}


@pytest.mark.sanitize
def test_samples_written(run, tmp_path, decode):
    """Samples have the layout of their event, and no trailer."""
    path = tmp_path / "written.data"
    returncode, output = run("api_write.c", "samples", path)
    assert (returncode, said(output)) == (0, SAMPLES_SAID)
    document = decode(path)
    comm, sampled, fault, read, half, end = document["records"]
    task = {"pid": 7, "tid": 8}
    assert not document["errors"] and not [r for r in document["records"] if "trailing" in r
                                           or "padding" in r]
    assert comm["comm"] == "worker" and comm["sample_id"] == {**task, "time": 1000,
                                                              "identifier": 11}
    assert sampled | task | {"event": "cpu-clock", "identifier": 11, "ip": "0x401000",
                             "time": 2000001000, "size": 72,
                             "callchain": ["USER", "0x401000", "0x402000"]} == sampled
    assert fault | task | {"event": "page-faults", "identifier": 22, "ip": "0x403000",
                           "time": 3000001000, "size": 56,
                           "read": {"value": 5, "id": 22}} == fault
    assert half["read"] == {"value": 0, "id": 22} and half["size"] == 56
    assert not [r for r in (sampled, fault, half, end) if "sample_id" in r]
    assert read | task | {"event": "page-faults", "read": {"value": 5, "id": 22},
                          "sample_id": {"pid": 0, "tid": 0, "time": 0, "identifier": 22}} == read
    assert (end["type"], end["size"]) == ("FINISHED_ROUND", 8)


@pytest.mark.skipif(not shutil.which("perf"), reason="no perf here")
def test_samples_written_are_perfs(run, tmp_path):
    path = tmp_path / "written.data"
    run("api_write.c", "samples", path)
    script = subprocess.run(
        ["perf", "script", "--force", "-i", path, "-F", "comm,pid,tid,time,event,ip"], check=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert (script.stdout.split("\n\n")[0].split()
            == "worker 7/8 2.000001: cpu-clock: 401000 402000".split())
    # perf script omits counts of 0
    assert [line.split() for line in script.stdout.splitlines()[4:]] == [
        "worker 7/8 3.000001: page-faults: 403000".split()]
    assert not script.stderr
    dump = subprocess.run(["perf", "script", "--force", "-i", path, "-D"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    assert "PERF_RECORD_READ: 7 8 page-faults 5" in dump


FIRST = "-1 ARGUMENT | pd_writer_begin() must be called first"
ENDED = "-1 ARGUMENT | the writer has finished and can only be freed"
CALLS = ["write", "record", "finish", "feature", "bytes", "flush", "flush soon"]


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["file", "pipe", "directory"])
def test_calls_out_of_turn(mode, run, tmp_path, decode):
    """Calls in the wrong order fail with a fitting message, and the writer stays usable."""
    path = tmp_path / "written.data"
    returncode, output = run("api_write.c", mode, path)
    before, after = output.split("after: they get\n")
    before, between = before.removeprefix("before: they get\n").split("add: ")
    early = {call: FIRST for call in CALLS} | {"flush": "done", "flush soon": "done"}
    if mode == "file":
        early |= {"feature": "done", "bytes": "done"}   # kept for the end
    late = {call: ENDED for call in CALLS}
    if mode == "directory":
        late["feature"] = late["bytes"] = early["feature"] = early["bytes"] = (
            "-1 ARGUMENT | a data.N has no features: they belong into the file `data` of its "
            "directory")
    assert returncode == 0 and said(before) == early
    assert said("add: " + between) == {
        "add": "done", "begin": "done",
        "add again": "-1 ARGUMENT | events must be added before pd_writer_begin()",
        "begin again": "-1 ARGUMENT | pd_writer_begin() was already called", "record": "done",
        "finish": "done"}
    assert said(after) == late | {
        "add at last": "-1 ARGUMENT | events must be added before pd_writer_begin()",
        "begin at last": "-1 ARGUMENT | pd_writer_begin() was already called", "size": "the same"}
    if mode != "directory":
        document = decode(path)
        assert not document["errors"] and document["summary"]["by_type"]["COMM"] == 1


@pytest.mark.sanitize
def test_nothing_after_half_a_header(run, tmp_path):
    lines = said(run("api_write.c", "failed begin", tmp_path / "written.data")[1])
    assert lines.pop("begin").startswith("-1 SIZE") and {lines[call] for call in CALLS} == {ENDED}


@pytest.mark.sanitize
def test_no_options_are_the_usual_ones(run, tmp_path, decode):
    path = tmp_path / "written.data"
    returncode, output = run("api_write.c", "no options", path)
    assert (returncode, said(output)) == (0, {"finish": "done", "others": "there",
                                              "abort later": ENDED})
    document = decode(path)
    assert document["file"]["mode"] == "file" and document["file"]["complete"]
    assert document["summary"]["by_type"] == {"COMM": 1}


@pytest.mark.sanitize
def test_from_cplusplus(run, tmp_path, decode):
    """The same interface as in C: options by name, values, reading and writing."""
    summary, path = decode(PERF / "02-callgraph-fp.data")["summary"], tmp_path / "written.data"
    returncode, output = run("api_cplusplus.cc", PERF / "02-callgraph-fp.data", path)
    assert (returncode, output.splitlines()) == (0, [
        "document.schema.json", "line.schema.json", f"samples {summary['by_type']['SAMPLE']}",
        f"records {summary['records']} errors 0 numbers 1", "defaults 1", "json 1"])
    document = decode(path)
    comm, sampled = document["records"]
    assert not document["errors"] and "trailing" not in sampled
    assert comm["comm"] == "worker" and comm["sample_id"] == {"pid": 7, "tid": -1}
    assert sampled["ip"] == "0x1234" and sampled["callchain"] == ["0x10", "0x20"]
    assert sampled["raw"] == {"size": 12, "data": "100000000000000020000000"}
    assert (document["features"]["HOSTNAME"] == "box" and document["features"]["CMDLINE"]
            == ["perf", "record"])
