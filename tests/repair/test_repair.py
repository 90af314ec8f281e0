"""prepair: the readable part of a damaged recording becomes a file that perf accepts; nothing else
is lost, the original is not changed."""
import gzip
import json
import os
import random
import re
import shutil
import socket
import stat
import struct
import subprocess

import pytest

from conftest import FIXTURES, ROOT, SANITIZER_REPORT, TOOLS
from perf_counts import stats

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"
KINDS = ["01-basic", "02-callgraph-fp", "12-tracepoints", "16-zstd", "18-pipe", "43-multi-event"]


@pytest.fixture
def prepair():
    def run(*args, **options):
        done = subprocess.run([TOOLS / "prepair", *map(str, args)], capture_output=True, timeout=60,
                              **options)
        assert (done.returncode >= 0
                and done.returncode != SANITIZER_REPORT), done.stderr.decode(errors="replace")
        return done
    return run


@pytest.fixture(scope="module")
def records(decode):
    """Function: (type, everything but its place) of each record other than COMPRESSED."""
    def of(path):
        found = []
        for record in decode(path)["records"]:
            if record["type"] in ("SKIPPED", "COMPRESSED", "COMPRESSED2") or "cut" in record:
                continue
            if "raw" in record:     # its fields depend on the formats
                record = {**record, "raw": record["raw"]["data"]}
            found.append(json.dumps({key: value for key, value in record.items()
                                     if key not in ("offset", "inner_offset", "event")}))
        return found
    return of


@pytest.mark.parametrize("name", KINDS)
def test_an_intact_file(name, prepair, records, decode, tmp_path, perf):
    source, fixed = PERF / f"{name}.data", tmp_path / "fixed.data"
    done = prepair("-o", fixed, source)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert records(fixed) == records(source)
    document = decode(fixed)
    assert document["errors"] == [] and document["file"]["complete"] is True
    features = decode(source)["features"]
    assert document["features"] == {key: value for key, value in features.items()
                                    if key != "COMPRESSED"}
    assert [attr["attr"] for attr in document["attrs"]] == [attr["attr"]
                                                            for attr in decode(source)["attrs"]]
    assert stats(perf, fixed) == stats(perf, source)


def pipe_of(path):
    """The recording as a stream, and the offsets of its HEADER_ATTR records."""
    document = subprocess.run([TOOLS / "pdecode", path], stdout=subprocess.PIPE, check=True).stdout
    data = subprocess.run([TOOLS / "pencode", "--mode", "pipe"], input=document, check=True,
                          stdout=subprocess.PIPE).stdout
    events = len(json.loads(document)["attrs"])
    at = [16]
    while len(at) < events:
        at.append(at[-1] + struct.unpack_from("<H", data, at[-1] + 6)[0])
    assert {struct.unpack_from("<I", data, offset)[0] for offset in at} == {64}
    return bytearray(data), at


@pytest.mark.parametrize("name, event", [("01-basic", 0), ("43-multi-event", 0),
                                         ("43-multi-event", 2)])
@pytest.mark.parametrize("size", [1, 384, 0xffffffff])
def test_an_attribute_of_a_pipe_that_states_a_wrong_size(name, event, size, prepair, decode,
                                                         tmp_path, perf):
    """Without the event none of its samples can be read."""
    data, attrs = pipe_of(PERF / f"{name}.data")
    whole, broken, fixed = (tmp_path / name for name in ("whole", "broken", "fixed"))
    whole.write_bytes(data)
    struct.pack_into("<I", data, attrs[event] + 12, size)
    broken.write_bytes(data)
    assert prepair("-o", fixed, broken).returncode == 1
    wanted = [record["event"] for record in decode(whole)["records"] if record["type"] == "SAMPLE"]
    for path in broken, fixed:
        assert [record.get("event") for record in decode(path)["records"]
                if record["type"] == "SAMPLE"] == wanted
    assert decode(fixed)["errors"] == []
    assert stats(perf, fixed)["SAMPLE"] == len(wanted) > 0


@pytest.mark.parametrize("name", ["01-basic", "43-multi-event"])
@pytest.mark.parametrize("bit", [3, 5, 9, 11])
def test_attributes_elsewhere_than_stated(name, bit, prepair, records, tmp_path, perf):
    """The header states an offset at which there are other bytes."""
    source, broken, fixed = PERF / f"{name}.data", tmp_path / "broken", tmp_path / "fixed"
    data = bytearray(source.read_bytes())
    data[24 + bit // 8] ^= 1 << bit % 8
    broken.write_bytes(data)
    assert prepair("-o", fixed, broken).returncode == 1
    assert records(fixed) == records(broken) == records(source)
    assert stats(perf, fixed) == stats(perf, source)


@pytest.mark.parametrize("name", ["20-threads.data", "96-zstd-threads.data"])
def test_a_directory(name, prepair, decode, tmp_path, perf):
    source, fixed = PERF / name, tmp_path / "fixed.data"
    assert prepair("-o", fixed, source).returncode == 0
    before, after = (decode(path)["summary"]["by_type"] for path in (source, fixed))
    before = {key: n for key, n in before.items() if not key.startswith("COMPRESSED")}
    assert after == before
    assert stats(perf, fixed)["SAMPLE"] == before["SAMPLE"]


@pytest.mark.parametrize("name", ["data", "data.1", "data.9", "fixed"])
def test_output_inside_the_input(name, prepair, tmp_path):
    """The input is never changed, nor are the files of a directory."""
    source = tmp_path / "in"
    shutil.copytree(PERF / "20-threads.data", source)
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    done = prepair("-o", source / name, source)
    assert (done.returncode, done.stderr.strip()) == (2,
                                                      f"prepair: {source / name}: is inside the "
                                                      "input".encode())
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before
    done = subprocess.run([TOOLS / "prepair", "-o", name, "."], cwd=source, capture_output=True)
    assert (done.returncode == 2 and {path.name: path.read_bytes() for path in source.iterdir()}
            == before)


def test_killed(prepair, records, tmp_path, perf):
    """The data size in the header is 0, and there are no features."""
    source, fixed = PERF / "01-basic.data", tmp_path / "fixed.data"
    data = bytearray(source.read_bytes())
    offset, size = struct.unpack_from("<QQ", data, 40)
    struct.pack_into("<Q", data, 48, 0)
    killed = tmp_path / "killed.data"
    killed.write_bytes(data[:offset + size - 30])
    done = prepair("--json", "-o", fixed, killed)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert records(fixed) == records(source)[:-1] or len(records(source)) - len(records(fixed)) <= 2
    assert report["kept"]["records"] == len(records(fixed))
    assert "HOSTNAME" in str(done.stderr) or report["lost"]["features"]
    assert stats(perf, fixed)["SAMPLE"] == stats(perf, source)["SAMPLE"]


@pytest.mark.parametrize("name", KINDS)
def test_cut_off_anywhere(name, prepair, records, run_pdecode, tmp_path, perf):
    source, cut, fixed = PERF / f"{name}.data", tmp_path / "cut.data", tmp_path / "fixed.data"
    data = source.read_bytes()
    draw = random.Random(name)
    for size in sorted(draw.randrange(600, len(data)) for _ in range(12)):
        cut.write_bytes(data[:size])
        done = prepair("-o", fixed, cut)
        if done.returncode == 3:    # not even an event
            continue
        assert done.returncode in (0, 1)
        assert cut.read_bytes() == data[:size]
        again = run_pdecode([fixed])
        assert again.returncode == 0 and not again.stderr, (size, again.stderr)
        good = [record for record in records(cut)]
        assert set(records(fixed)) <= set(good)
        assert len(good) - len(records(fixed)) <= 1
        assert stats(perf, fixed) is not None, size


@pytest.mark.parametrize("name", KINDS)
def test_random_bytes_changed(name, prepair, run_pdecode, decode, tmp_path, perf):
    """perf reads the output, which has all intact samples of the input."""
    source, broken, fixed = PERF / f"{name}.data", tmp_path / "broken.data", tmp_path / "fixed.data"
    data = source.read_bytes()
    draw = random.Random(name)
    refused = 0
    for i in range(25):
        mutant = bytearray(data)
        for _ in range(6):
            mutant[draw.randrange(200, len(mutant))] = draw.randrange(256)
        broken.write_bytes(mutant)
        before = json.loads(run_pdecode([broken]).stdout)
        done = prepair("-o", fixed, broken)
        assert done.returncode in (0, 1), (i, done.stderr)
        assert broken.read_bytes() == mutant
        again = run_pdecode([fixed])
        after = json.loads(again.stdout)
        # the text of a damaged format is kept: the other formats are intact
        left = [error for error in after["errors"] if error["code"] != "FORMAT" and
                error.get("field") != "raw.tracepoint"]
        assert left == [], i
        damaged = sum(error["code"] in ("TRUNCATED", "COUNT", "NO_ATTR")
                      for error in before["errors"])
        samples = [document["summary"]["by_type"].get("SAMPLE", 0) for document in (before, after)]
        assert samples[0] - damaged <= samples[1] <= samples[0], i
        counted = stats(perf, fixed)
        refused += counted is None
        if counted is not None:
            assert counted.get("SAMPLE", 0) == samples[1], i
    assert refused <= 1     # only perf reads all of a format (print fmt), which may be damaged


def test_the_report(prepair, tmp_path):
    source, broken, fixed = (PERF / "01-basic.data", tmp_path / "broken.data",
                             tmp_path / "fixed.data")
    data = bytearray(source.read_bytes())
    offset = struct.unpack_from("<Q", data, 40)[0]
    size = struct.unpack_from("<H", data, offset + 6)[0]
    struct.pack_into("<H", data, offset + 6, 0)
    broken.write_bytes(data)
    done = prepair("--json", broken, "-o", fixed)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["lost"] == {"records": 0, "bytes": size, "missing_bytes": 0, "compressed": 0,
                              "expanded_bytes": 0,
                              "features": []}
    assert report["errors"][0]["offset"] == offset and report["errors"][0]["skipped"] == size
    assert (report["input"], report["output"]) == (str(broken), str(fixed))
    assert f"{size} bytes lost" in done.stderr.decode()


@pytest.mark.parametrize("packed", ["plain", "gzip"])
@pytest.mark.parametrize("size, records, there",
                         [(5000, 0, 0), (5020, 1, 20), (5935, 1, 47), (5943, 0, 7), (5944, 0, 0)])
def test_input_that_ends_early(size, records, there, packed, prepair, tmp_path):
    """5000 is between two records: all of the input is kept, but much of the recording is lost."""
    data = (PERF / "01-basic.data").read_bytes()
    assert struct.unpack_from("<QQ", data, 40) == (264, 5680)
    cut = tmp_path / "cut"
    cut.write_bytes(gzip.compress(data[:size]) if packed == "gzip" else data[:size])
    done = prepair("--json", "-o", tmp_path / "fixed", cut)
    lost, missing = json.loads(done.stdout)["lost"], 264 + 5680 - size
    assert (lost["records"], lost["bytes"], lost["missing_bytes"]) == (records, there, missing)
    said = f" kept, {records} lost; {there} bytes lost" + (f", {missing} missing at the end\n"
                                                           if missing else "\n")
    assert done.returncode == 1 and said in done.stderr.decode()


def test_packed_input(prepair, decode, tmp_path):
    """The number of records in COMPRESSED ones that can't be expanded is not known: these are
    counted separately."""
    source = PERF / "16-zstd.data"
    data = bytearray(source.read_bytes())
    first, second = (record["offset"] for record in decode(source)["records"]
                     if record["type"] == "COMPRESSED")
    broken, fixed = tmp_path / "broken", tmp_path / "fixed"
    mutant = data.copy()
    mutant[first + 9] ^= 0xff       # in the frame's header: the stream goes through both
    for damaged, count, words in ((mutant, 2, "; damaged content in 2 compressed records\n"),
                                  (data[:second + 500], 1,
                                   "; damaged content in 1 compressed record\n")):
        broken.write_bytes(damaged)
        done = prepair("--json", "-o", fixed, broken)
        assert json.loads(done.stdout)["lost"]["compressed"] == count
        assert done.returncode == 1 and words in done.stderr.decode()


@pytest.mark.parametrize("where", ["README", "help"])
def test_examples_accept_damaged_files(where, tmp_path, perf):
    """prepair exits 1, and the commands after it must run nevertheless."""
    text = (ROOT / "README.md").read_text() if where == "README" else \
        subprocess.run([TOOLS / "prepair", "--help"], capture_output=True, text=True,
                       check=True).stdout
    line, = re.findall(r"^ +(prepair -o .* perf report .*)$", text, flags=re.M)
    (tmp_path / "perf.data").write_bytes((PERF / "01-basic.data").read_bytes()[:5000])
    path = f"{TOOLS}:{os.path.dirname(perf)}:{os.environ['PATH']}"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PATH": path})
    assert "records kept" in done.stderr and "# Samples: " in done.stdout


@pytest.mark.parametrize("name", ["01-basic.data", "29-clockid-tai.data"])
def test_ids_that_are_lost(name, prepair, decode, tmp_path, perf):
    """perf refuses a file whose ID_INDEX has an id of no event; all other records are kept."""
    data = bytearray((PERF / name).read_bytes())
    attrs, _, at, size = struct.unpack_from("<4Q", data, 24)
    data[104:attrs] = bytes(attrs - 104)
    broken, fixed = tmp_path / "broken", tmp_path / "fixed"
    broken.write_bytes(data[:at + size])
    assert prepair("-o", fixed, broken).returncode == 1
    types = [[record["type"] for record in decode(path)["records"]]
             for path in (PERF / name, fixed)]
    assert types[1] == [kind for kind in types[0] if kind != "ID_INDEX"] != types[0]
    assert stats(perf, fixed)["SAMPLE"] == stats(perf, PERF / name)["SAMPLE"]


@pytest.mark.parametrize("less", [5, 155])
def test_fields_that_end_early(less, prepair, decode, tmp_path):
    """A copied stack that states fewer bytes: a record whose size were no multiple of 8 would have
    its raw data read in another way, so it is dropped."""
    data = bytearray((PERF / "K-all.data").read_bytes())
    before = decode(PERF / "K-all.data")
    record = next(record for record in before["records"] if record["type"] == "SAMPLE")
    stack = bytes.fromhex(record["stack_user"]["data"])
    at = data.index(stack, record["offset"])
    assert struct.unpack_from("<Q", data, at - 8) == (len(stack),)
    struct.pack_into("<Q", data, at - 8, len(stack) - less)
    broken, fixed = tmp_path / "broken", tmp_path / "fixed"
    broken.write_bytes(data)
    assert prepair("-o", fixed, broken).returncode == 1
    after = json.loads(subprocess.run([TOOLS / "pdecode", fixed], capture_output=True).stdout)
    assert after["errors"] == []
    samples = [r for r in after["records"] if r["type"] == "SAMPLE"]
    kept = [r for r in before["records"] if r["type"] == "SAMPLE"][1:]
    assert [r["regs_user"] for r in samples] == [r["regs_user"] for r in kept]


def test_the_original_is_never_touched(prepair, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes((PERF / "01-basic.data").read_bytes())
    (tmp_path / "link").symlink_to(path)
    os.link(path, tmp_path / "hard")
    for other in (path, tmp_path / "link", tmp_path / "hard", tmp_path / "." / "perf.data"):
        done = prepair("-o", other, path)
        assert done.returncode == 2 and b"both input and output" in done.stderr
    assert path.read_bytes() == (PERF / "01-basic.data").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hard", "link", "perf.data"]
    assert prepair(path).returncode == 0
    assert (tmp_path / "perf.data.repaired").exists()


def test_irreparable_files(prepair, tmp_path):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    for path in (empty, tmp_path / "absent", "/dev/null"):
        done = prepair("-o", tmp_path / "out", path)
        assert done.returncode == 3 and done.stderr.count(b"\n") == 1
    done = prepair("-o", tmp_path / "no" / "where", PERF / "01-basic.data")
    assert done.returncode == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty"]


def test_a_directory_without_data(prepair, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("in", "in/"):
        done = prepair("-o", tmp_path / "out", f"{tmp_path}/{name}")
        assert (done.returncode, done.stderr.decode()) == (3,
                                                           f"prepair: {tmp_path}/{name}: a "
                                                           "directory without a file 'data', so "
                                                           "it is no recording\n")
    done = prepair("-o", tmp_path / "out", tmp_path / "absent")
    assert (done.returncode, done.stderr.decode()) == (3,
                                                       f"prepair: {tmp_path}/absent: No such file "
                                                       "or directory\n")


def test_a_full_disk(prepair, tmp_path):
    """An output that does not fit is removed."""
    import resource
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    done = prepair("-o", tmp_path / "out", PERF / "50-max-size.data", preexec_fn=limit)
    assert done.returncode == 4 and b"File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


# --- where the output goes ---

def device(path, major, minor):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    except PermissionError:
        pytest.skip("only root makes devices")
    return path


@pytest.mark.parametrize("minor, code, said", [(3, 0, b""), (7, 4, b"No space left on device")],
                         ids=["null", "full"])
def test_a_device_is_written_not_replaced(minor, code, said, prepair, tmp_path):
    out = device(tmp_path / "device", 1, minor)
    done = prepair("-o", out, PERF / "01-basic.data")
    assert done.returncode == code and said in done.stderr
    assert stat.S_ISCHR(out.stat().st_mode) and out.stat().st_rdev == os.makedev(1, minor)
    assert [path.name for path in tmp_path.iterdir()] == ["device"]


def test_a_fifo_is_written_not_replaced(prepair, tmp_path):
    out, plain = tmp_path / "fifo", tmp_path / "plain"
    assert prepair("-o", plain, PERF / "01-basic.data").returncode == 0
    os.mkfifo(out)
    with subprocess.Popen(["cat", out], stdout=subprocess.PIPE) as reader:
        try:
            assert prepair("-o", out, PERF / "01-basic.data").returncode == 0
            assert stat.S_ISFIFO(out.stat().st_mode)
            assert reader.communicate(timeout=60)[0] == plain.read_bytes()
        finally:
            reader.kill()


def test_a_socket_is_no_file(prepair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)     # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        done = prepair("-o", "socket", PERF / "01-basic.data")
        assert done.returncode == 4 and b"socket: No such device or address" in done.stderr
        assert stat.S_ISSOCK(os.stat("socket").st_mode)


@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing-yet"])
def test_the_target_of_a_link_is_replaced(there, prepair, tmp_path):
    (tmp_path / "below").mkdir()
    out = tmp_path / "below" / "out"
    if there:
        out.write_bytes(b"old")
    (tmp_path / "below" / "second").symlink_to("out")
    (tmp_path / "first").symlink_to("below/second")
    assert prepair("-o", tmp_path / "first", PERF / "01-basic.data").returncode == 0
    assert out.read_bytes()[:8] == b"PERFILE2"
    assert (tmp_path / "first").is_symlink() and (tmp_path / "below" / "second").is_symlink()
    assert sorted(path.name for path in (tmp_path / "below").iterdir()) == ["out", "second"]


def test_links_that_lead_nowhere_or_into_the_input(prepair, tmp_path):
    (tmp_path / "round").symlink_to("round")
    done = prepair("-o", tmp_path / "round", PERF / "01-basic.data")
    assert done.returncode == 4 and (tmp_path / "round").is_symlink()
    source = tmp_path / "in"
    shutil.copytree(PERF / "20-threads.data", source)
    for name in ("data.1", "data.9"):
        (tmp_path / name).symlink_to(source / name)
        done = prepair("-o", tmp_path / name, source)
        assert done.returncode == 2 and b"is inside the input" in done.stderr
    assert (sorted(path.name for path in source.iterdir())
            == sorted(path.name for path in (PERF / "20-threads.data").iterdir()))


def test_to_stdout(prepair, tmp_path):
    done = prepair("-o", tmp_path / "out", PERF / "01-basic.data")
    assert prepair("-o", "-", PERF / "01-basic.data").stdout == (tmp_path / "out").read_bytes()
    done = prepair("--json", "-o", "-", PERF / "01-basic.data")
    assert (done.returncode, done.stdout) == (2, b"") and b"both use standard output" in done.stderr
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOLS / "prepair", "-o", "-", PERF / "01-basic.data"], stdout=full,
                              stderr=subprocess.PIPE)
    assert done.returncode == 4 and b"standard output: No space left on device" in done.stderr


def test_the_report_fails_once(prepair, tmp_path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOLS / "prepair", "--json", "-o", tmp_path / "out",
                               PERF / "01-basic.data"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 4
    assert done.stderr == b"prepair: standard output: No space left on device\n"


def test_no_report_of_an_output_that_fails(prepair, tmp_path):
    done = prepair("--json", "-o", device(tmp_path / "device", 1, 7), PERF / "01-basic.data")
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.endswith(b"device: No space left on device\n")


@pytest.mark.parametrize("name, text, exact", [
    (b'a"b\\\x01\x7f\xc3\xa9', 'a"b\\\x01\x7f\u00e9', False),
    (b"a\xff\xc3", "a\ufffd\ufffd", True),
    (b"\xed\xa0\x80", "\ufffd" * 3, True)], ids=["utf8", "other", "surrogate"])
def test_names_in_the_report(name, text, exact, tmp_path):
    """As in pdecode: the exact bytes of names that are not UTF-8 stand beside them."""
    source = os.path.join(os.fsencode(tmp_path), name)
    shutil.copy(PERF / "01-basic.data", source)
    done = subprocess.run([TOOLS / "prepair", "--json", name], capture_output=True, cwd=tmp_path)
    report = json.loads(done.stdout.decode("utf-8"))
    assert done.returncode == 0
    assert report["input"] == text and report["output"] == text + ".repaired"
    assert report.get("input_hex") == (name.hex() if exact else None)
    assert report.get("output_hex") == ((name + b".repaired").hex() if exact else None)


@pytest.mark.parametrize("name", ["", "there", "there/", "absent/"])
def test_a_directory_is_no_output(name, prepair, tmp_path):
    (tmp_path / "there").mkdir()
    done = prepair("-o", f"{tmp_path}/{name}", PERF / "01-basic.data")
    assert done.returncode == 4 and b"Is a directory" in done.stderr
    assert ([path.name for path in tmp_path.iterdir()] == ["there"]
            and not list((tmp_path / "there").iterdir()))


@pytest.mark.parametrize("mode, umask, old, expected", [
    (0o600, 0o022, None, 0o600), (0o600, 0o000, None, 0o600), (0o644, 0o077, None, 0o600),
    (0o664, 0o022, None, 0o644),
    (0o755, 0o022, None, 0o644), (0o640, 0o022, None, 0o640),
    (0o644, 0o022, 0o600, 0o600), (0o644, 0o077, 0o644, 0o644), (0o600, 0o022, 0o666, 0o600),
    (0o440, 0o022, 0o660, 0o640),
    (0o666, 0o022, 0o4755, 0o644),
], ids=lambda n: n if n is None else f"{n:o}")
def test_the_repaired_file_is_not_open_to_more_users(mode, umask, old, expected,
                                                                   prepair, tmp_path):
    source, out = tmp_path / "perf.data", tmp_path / "out"
    shutil.copyfile(PERF / "01-basic.data", source)
    source.chmod(mode)
    if old is not None:
        out.touch()
        out.chmod(old)
    assert prepair("-o", out, source, umask=umask).returncode == 0
    assert f"{stat.S_IMODE(out.stat().st_mode):o}" == f"{expected:o}"


@pytest.mark.parametrize("mode, files, expected",
                         [(0o700, 0o644, 0o600), (0o755, 0o600, 0o600), (0o755, 0o644, 0o644)])
def test_nor_that_of_a_directory(mode, files, expected, prepair, tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(PERF / "20-threads.data", source)
    source.chmod(mode)
    for path in source.iterdir():
        path.chmod(files)
    assert prepair("-o", out, source, umask=0o022).returncode == 0
    assert f"{stat.S_IMODE(out.stat().st_mode):o}" == f"{expected:o}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other groups")
@pytest.mark.parametrize("mode, expected", [(0o640, 0o600), (0o664, 0o644), (0o660, 0o600)],
                         ids=lambda n: f"{n:o}")
def test_the_rights_of_one_group_are_not_those_of_another(mode, expected, prepair, tmp_path):
    source, out = tmp_path / "perf.data", tmp_path / "out"
    shutil.copyfile(PERF / "01-basic.data", source)
    os.chown(source, -1, 12345)
    source.chmod(mode)
    assert prepair("-o", out, source, umask=0).returncode == 0
    assert f"{stat.S_IMODE(out.stat().st_mode):o}" == f"{expected:o}"


@pytest.mark.parametrize("way", ["pipe", "file", "gzip"])
def test_from_stdin(way, prepair, tmp_path):
    source, out = PERF / "01-basic.data", tmp_path / "out"
    assert prepair("-o", tmp_path / "expected", source).returncode == 0
    if way == "file":
        with open(source, "rb") as stdin:
            done = prepair("-", "-o", out, stdin=stdin)
    else:
        data = source.read_bytes()
        done = prepair("-", "-o", out, input=gzip.compress(data) if way == "gzip" else data)
    assert ((done.returncode, done.stderr) == (0, b"")
            and out.read_bytes() == (tmp_path / "expected").read_bytes())


def test_options_that_exclude_stdin(prepair, tmp_path):
    path = tmp_path / "perf.data"
    shutil.copyfile(PERF / "01-basic.data", path)
    with open(path, "rb") as stdin:
        done = prepair("-", "-o", path, stdin=stdin)
    assert done.returncode == 2 and b"both input and output" in done.stderr
    done = prepair("-", stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert done.returncode == 2 and b"use -o FILE" in done.stderr
    done = prepair("-", "-o", tmp_path / "out", stdin=subprocess.DEVNULL)
    assert done.returncode == 3 and done.stderr.startswith(b"prepair: standard input: ")
    assert prepair("-o", "", path).returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["perf.data"]


def test_without_a_file(prepair, tmp_path):
    shutil.copyfile(PERF / "01-basic.data", tmp_path / "perf.data")
    assert prepair(cwd=tmp_path, stdin=subprocess.DEVNULL).returncode == 0
    assert (tmp_path / "perf.data.repaired").is_file()
    assert b"Usage: prepair [OPTION]... [FILE|-]\n" in prepair("--help").stdout
