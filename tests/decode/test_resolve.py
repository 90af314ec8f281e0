"""pdecode --resolve and --comm: whose sample it is, and where, at its time."""
import gzip
import json
import subprocess
import threading

import pytest

from conftest import strict_json, strict_json_lines
from parquet_reader import read_parquet
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File, Pipe, zstd_records
from perfdata.sample import branch, sample, sample_id
from schema_check import complaints

sanitize = pytest.mark.sanitize

CLOCK = Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME|CPU|CALLCHAIN")
BRANCHES = Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME|BRANCH_STACK")
DATA = Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME|ADDR")
KERNEL_MARK, USER_MARK = 2**64 - 128, 2**64 - 512
IN_KERNEL, IN_USER = 1, 2       # cpumode
COMM_EXEC = 1 << 13
KERNEL = 0xffffffff81000000
BUILD_ID = bytes(range(20))


def sid(pid, time, tid=None, attr=CLOCK):
    return sample_id(attr, pid=pid, tid=tid or pid, time=time)


def comm(pid, name, time, exec=False, tid=None):
    return r.comm(pid, tid or pid, name, COMM_EXEC if exec else 0, sid=sid(pid, time, tid))


def mapped(pid, start, len, pgoff, path, time, attr=CLOCK):
    return r.mmap2(pid, pid, start, len, pgoff, 8, 1, 5, 0, 5, 2, path,
                   sid=sid(pid, time, attr=attr))


def hit(pid, ip, time, *chain, tid=None, cpu=0, misc=IN_USER):
    return sample(CLOCK, misc, ip=ip, pid=pid, tid=tid or pid, time=time, cpu=cpu, callchain=chain)


def written(tmp_path, records, mode="file", attr=CLOCK):
    path = tmp_path / "resolve.data"
    if mode == "pipe":
        path.write_bytes(Pipe(records=[r.header_attr(attr, [1]), *records]).build("<"))
    else:
        order = ">" if mode == "big-endian" else "<"
        path.write_bytes(File(attrs=[(attr, [1])], records=records).build(order))
    return path


def samples(document):
    return [record for record in document["records"] if record["type"] == "SAMPLE"]


def place(frame):
    """(dso, offset), or why there is none."""
    return (frame["dso"], int(frame["file_offset"], 16)) if "image" in frame else frame["why"]


def places(document):
    """(comm, places of the frames) of each sample."""
    return [(record.get("comm"), [place(frame) for frame in record.get("frames", [])])
            for record in samples(document)]


@sanitize
@pytest.mark.parametrize("mode", ["file", "big-endian", "pipe"])
def test_task_and_map_at_the_time(mode, tmp_path, decode):
    """Records stand in the order of two CPUs' buffers, not of time."""
    path = written(tmp_path, [
        comm(5, "sh", 10), mapped(5, 0x1000, 0x1000, 0x3000, "/bin/sh", 20),
        hit(5, 0x1010, 30), hit(5, 0x1010, 130), hit(5, 0x2010, 131),
        r.fork(6, 5, 6, 5, 140, sid=sid(5, 140)), hit(6, 0x1020, 150),
        comm(5, "ls", 100, exec=True), mapped(5, 0x1000, 0x2000, 0, "/bin/ls", 110),
        hit(5, 0x1010, 105), hit(6, 0x1020, 155), hit(7, 0x1000, 200),
    ], mode)
    assert places(decode(path, "--resolve")) == [
        ("sh", [("/bin/sh", 0x3010)]), ("ls", [("/bin/ls", 0x10)]), ("ls", [("/bin/ls", 0x1010)]),
        ("ls", [("/bin/ls", 0x20)]), ("ls", ["NO_MAP"]), ("ls", [("/bin/ls", 0x20)]),
        (None, ["NO_PID"])]


@sanitize
def test_frames_of_a_chain(tmp_path, decode):
    """Its first address is ip, which is one frame. Markers choose the maps, and are no frames."""
    path = written(tmp_path, [
        r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", IN_KERNEL,
               sid=sid(0, 0)),
        comm(5, "sh", 10),
        r.mmap2_build_id(5, 5, 0x1000, 0x1000, 0, BUILD_ID, 5, 2, "/bin/sh", sid=sid(5, 20)),
        hit(5, KERNEL + 16, 30, KERNEL_MARK, KERNEL + 16, KERNEL + 32, USER_MARK, 0x1100, 0x9999,
            misc=IN_KERNEL),
    ])
    document = decode(path, "--resolve")
    frames = samples(document)[0]["frames"]
    assert [int(frame["addr"], 16) for frame in frames] == [
        KERNEL + 16, KERNEL + 32, 0x1100, 0x9999]
    assert [frame.get("cpumode") for frame in frames] == [None, None, "USER", "USER"]
    assert [frame.get("return_address") for frame in frames] == [None, True, None, True]
    image = frames[2]["image"]
    assert frames[2] == {"addr": "0x1100", "file_offset": "0x100", "image": image,
                         "dso": "/bin/sh", "build_id": BUILD_ID.hex(), "cpumode": "USER"}
    assert frames[3] == {"addr": "0x9999", "why": "NO_MAP", "return_address": True,
                         "cpumode": "USER"}
    assert [image["index"] for image in document["images"]] == list(range(len(document["images"])))
    assert document["images"][image] == {
        "index": image, "image_kind": "FILE", "path": "/bin/sh", "build_id": BUILD_ID.hex(),
        "build_id_source": "MMAP2", "samples": 0, "frames": 1}
    kernel, = [image for image in document["images"] if image["image_kind"] == "KERNEL"]
    assert (kernel["samples"], kernel["frames"]) == (1, 2)


@sanitize
def test_ip_that_is_not_in_the_chain(tmp_path, decode):
    """A chain of user addresses only, taken in the kernel: both are there."""
    path = written(tmp_path, [
        mapped(5, 0x1000, 0x1000, 0, "/bin/sh", 20),
        hit(5, KERNEL, 30, USER_MARK, 0x1100, misc=IN_KERNEL), hit(5, 0x1001, 31)])
    assert [found for _, found in places(decode(path, "--resolve"))] == [
        ["NO_MAP", ("/bin/sh", 0x100)], [("/bin/sh", 1)]]


@sanitize
def test_branches(tmp_path, decode):
    entries = [branch(0x1001, 0x1002), branch(7, 0x1003)]
    records = [mapped(5, 0x1000, 0x1000, 0, "/bin/sh", 20, attr=BRANCHES),
               sample(BRANCHES, ip=0x1010, pid=5, tid=5, time=30,
                      branch_stack={"entries": entries})]
    document = decode(written(tmp_path, records, attr=BRANCHES), "--resolve")
    record, = samples(document)
    assert [{end: place(frame) for end, frame in pair.items()}
            for pair in record["branch_frames"]] == [
        {"from": ("/bin/sh", 1), "to": ("/bin/sh", 2)}, {"from": "NO_MAP", "to": ("/bin/sh", 3)}]
    assert not complaints("document.schema.json", document)


@sanitize
def test_data_addresses(tmp_path, decode):
    """They are the process's, else the kernel's; 0 is none."""
    records = [r.mmap(-1, 0, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", IN_KERNEL,
                      sid=sid(0, 0, attr=DATA)),
               mapped(5, 0x1000, 0x1000, 0x3000, "/bin/sh", 20, attr=DATA),
               *(sample(DATA, IN_KERNEL, ip=KERNEL, pid=5, tid=5, time=30, addr=addr)
                 for addr in (0x1010, 0x2000, KERNEL + 1, 0))]
    path = written(tmp_path, records, attr=DATA)
    document = decode(path, "--resolve")
    found = [record.get("addr_frame") for record in samples(document)]
    assert found[3] is None
    assert [place(frame) for frame in found[:3]] == [
        ("/bin/sh", 0x3010), "NO_MAP", ("[kernel.kallsyms]", KERNEL + 1)]
    assert sum(image["frames"] for image in document["images"]) == 4     # those of code
    assert not complaints("document.schema.json", document)
    table = decode(path, "--symbols=table")
    assert [record["addr_frame_id"][-1] for record in samples(table)[:3]] == ["d"] * 3
    assert {record["addr_frame_id"] for record in samples(table)[:3]} <= {
        frame["id"] for frame in table["frames"]}
    assert not complaints("document.schema.json", table)


@sanitize
def test_the_idle_task_and_threads(tmp_path, decode):
    path = written(tmp_path, [
        comm(5, "leader", 10), r.fork(5, 5, 6, 5, 20, sid=sid(5, 20)), comm(5, "worker", 30, tid=6),
        hit(0, KERNEL, 40, cpu=3, misc=IN_KERNEL), hit(5, 0x1000, 25, tid=6),
        hit(5, 0x1000, 35, tid=6), hit(5, 0x1000, 45)])
    names = [name for name, _ in places(decode(path, "--resolve"))]
    assert names == ["swapper", "leader", "worker", "leader"]


@sanitize
def test_names_that_are_not_text(tmp_path, decode):
    document = decode(written(tmp_path, [
        r.comm(5, 5, b"\xff\xfe", sid=sid(5, 10)), mapped(5, 0x1000, 0x1000, 0, b"/bin/\xff", 20),
        hit(5, 0x1000, 30)]), "--resolve")
    record, = samples(document)
    frame, image = record["frames"][0], document["images"][0]
    assert (record["comm"], record["comm_hex"]) == ("\ufffd\ufffd", "fffe")
    assert (frame["dso"], frame["dso_hex"]) == ("/bin/\ufffd", b"/bin/\xff".hex())
    assert (image["path"], image["path_hex"]) == (frame["dso"], frame["dso_hex"])
    assert not complaints("document.schema.json", document)


@sanitize
@pytest.mark.parametrize("size", [512, 513])
def test_long_names_are_not_repeated(size, tmp_path, decode):
    """8 bytes of a callchain must not become 64 KiB of a path: its image has it."""
    path = "/" + (size - 1) * "x"
    document = decode(written(tmp_path, [
        comm(5, size * "c", 10), mapped(5, 0x1000, 0x1000, 0, path, 20), hit(5, 0x1001, 30)]),
        "--resolve")
    record, = samples(document)
    frame, = record["frames"]
    assert (frame.get("dso"), record.get("comm")) == (
        (path, size * "c") if size == 512 else (None, None))
    assert document["images"][frame["image"]]["path"] == path
    assert not complaints("document.schema.json", document)


def busy(count):
    """Tasks that come, rename themselves and map files; their samples are in two buffers."""
    late = []
    for n in range(count):
        pid, start = 100 + n % 50, n * 1000
        yield r.fork(pid, 1, pid, 1, start, sid=sid(1, start))
        yield hit(pid, 0x401000 + n, start + 900, 0x401000, 0x402000 + n, 0x999)
        late += [comm(pid, f"task-{n % 7}", start + 10, exec=True),
                 mapped(pid, 0x400000, 0x10000, n % 3 * 0x1000, f"/bin/{n % 5}", start + 20),
                 hit(pid, 0x402000, start + 5)]
        if len(late) > 300:
            yield from late
            late = []
    yield from late


@sanitize
@pytest.mark.parametrize("shape", ["json", "jsonl"])
@pytest.mark.parametrize("more", [
    [], ["--sort", "time"], ["--types", "SAMPLE", "--comm", "task-[24]"],
    ["--utc", "--blobs", "omit"]], ids=" ".join)
def test_the_same_for_any_number_of_threads(shape, more, tmp_path, run_pdecode):
    path = written(tmp_path, list(busy(2000)))
    args = ["-f", shape, "--resolve", *more, path]
    one = run_pdecode(["-j", 1, *args])
    assert one.returncode == 0 and one.stdout.count(b'"frames":[') > 500
    for jobs in 2, 5:
        other = run_pdecode(["-j", jobs, *args])
        assert (other.returncode, other.stdout, other.stderr) == (0, one.stdout, one.stderr)


@sanitize
def test_ways_to_give_the_input(tmp_path, run_pdecode, pdecode):
    """A pipe is read once, by time; a packed file is unpacked twice, a file read from where its
    descriptor is."""
    path, packed, after = (written(tmp_path, list(busy(300))), tmp_path / "packed",
                           tmp_path / "after")
    data = path.read_bytes()
    packed.write_bytes(gzip.compress(data))
    after.write_bytes(b"x" * 100 + data)

    def redirected(path, offset):
        with open(path, "rb") as file:
            file.seek(offset)
            return subprocess.run([pdecode, "--resolve"], stdin=file, stdout=subprocess.PIPE,
                                  check=True).stdout
    expected = strict_json(run_pdecode(["--resolve", path]).stdout)
    for out in (redirected(path, 0), run_pdecode(["--resolve", packed]).stdout,
                redirected(packed, 0), redirected(after, 100)):
        found = strict_json(out)
        assert (found["records"], found["images"]) == (expected["records"], expected["images"])
    expected = resolved(run_pdecode(["--resolve", "--sort", "time", path]).stdout)
    for piped in data, gzip.compress(data):
        done = run_pdecode(["--resolve", "-"], input=piped)
        assert (resolved(done.stdout), done.stderr) == (expected, b"")


def resolved(out):
    """The records, without the numbers that images get in the order of reading."""
    document = strict_json(out)
    images = sorted([{**image, "index": 0} for image in document["images"]],
                    key=lambda image: json.dumps(image))
    for record in samples(document):
        for frame in record.get("frames", []) + [
                frame for pair in record.get("branch_frames", []) for frame in pair.values()]:
            frame.pop("image", None)
            frame["why"] = frame.get("why", "").replace("NO_PID", "NO_MAP")
    return document["records"], images


def test_captures_in_one_pass(fixture_file, run_pdecode):
    """A stream's samples have the names and frames of the file's."""
    if fixture_file.is_directory:
        pytest.skip("a directory is no stream")
    data = fixture_file.path.read_bytes()
    whole = run_pdecode(["--resolve", "--sort", "time", "--blobs", "omit", fixture_file.path])
    live = run_pdecode(["--resolve", "--blobs", "omit", "-"], input=data)
    if b'"code":"ORDER"' in live.stdout:
        assert live.returncode == 1
        return
    assert live.returncode == whole.returncode
    assert resolved(live.stdout) == resolved(whole.stdout)


@sanitize
def test_a_live_stream(tmp_path, pdecode):
    """Records that a round releases are resolved and written before the stream goes on."""
    path = written(tmp_path, [
        comm(5, "a", 10), mapped(5, 0x1000, 0x1000, 0, "/a", 11), hit(5, 0x1010, 20),
        r.finished_round(), hit(5, 0x1020, 30), r.finished_round(), comm(5, "b", 35, exec=True),
        hit(5, 0x1010, 40), r.finished_round()], "pipe")
    data = path.read_bytes()
    with subprocess.Popen([pdecode, "-f", "jsonl", "--resolve", "--types", "SAMPLE"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        timer = threading.Timer(30, p.kill)
        timer.start()
        p.stdin.write(data[:-8])
        p.stdin.flush()
        lines = (json.loads(line) for line in iter(p.stdout.readline, b""))
        first = next(line for line in lines if line.get("type") == "SAMPLE")
        assert first["comm"] == "a" and first["frames"][0]["dso"] == "/a"
        p.stdin.write(data[-8:])
        p.stdin.close()
        found = [(line["comm"], place(line["frames"][0])) for line in lines
                 if line.get("type") == "SAMPLE"]
        assert found == [("a", ("/a", 0x20)), ("b", "NO_MAP")]
        assert p.wait() == 0
        timer.cancel()


@sanitize
@pytest.mark.parametrize("mode", ["file", "stream"])
def test_numbers_that_are_used_again(mode, tmp_path, run_pdecode):
    """By a child of an unknown process, without a record of its start, and in another process."""
    def fork(pid, ppid, time):
        return r.fork(pid, ppid, pid, ppid, time, sid=sid(ppid, time))

    def end(pid, time):
        return r.exit(pid, 1, pid, 1, time, sid=sid(pid, time))
    path = written(tmp_path, [
        comm(5, "a", 10), hit(5, 1, 11), end(5, 12), hit(5, 1, 13), fork(5, 77, 20), hit(5, 1, 21),
        comm(6, "b", 10), end(6, 12), comm(9, "c", 22, tid=6), hit(9, 1, 23, tid=6), hit(6, 1, 24),
        r.finished_round()], "pipe")
    done = run_pdecode(["--resolve", "-"], input=path.read_bytes()) if mode == "stream" else \
        run_pdecode(["--resolve", path])
    assert [name for name, _ in places(strict_json(done.stdout))] == [
        "a", "a", None, "c", None]


def in_rounds(*rounds):
    return [record for part in rounds for record in (*part, r.finished_round())]


@sanitize
def test_late_records_are_reported(tmp_path, run_pdecode):
    """A name and map that come two rounds after their sample; they hold from then on, but don't
    replace what is newer."""
    path = written(tmp_path, in_rounds(
        [comm(6, "c", 1), hit(5, 0x1010, 20)], [hit(6, 1, 30)], [hit(6, 1, 40)], [hit(6, 1, 50)],
        [comm(5, "a", 10), mapped(5, 0x1000, 0x1000, 0, "/a", 11), comm(6, "old", 0)],
        [hit(5, 0x1010, 60), hit(6, 1, 61)]), "pipe")
    done = run_pdecode(["--resolve", "-"], input=path.read_bytes())
    document = strict_json(done.stdout)
    told = ("3 records came after later ones: some names and frames are missing or wrong; those of "
            "a file would be complete")
    assert (done.returncode, done.stderr.decode()) == (1, f"pdecode: standard input: {told}\n")
    assert [(e["code"], e["message"]) for e in document["errors"]] == [("ORDER", told)]
    assert document["summary"]["errors"] == 1 and not complaints("document.schema.json", document)
    found = places(document)
    assert found[0] == (None, ["NO_PID"])
    assert found[-2:] == [("a", [("/a", 0x10)]), ("c", ["NO_MAP"])]


@sanitize
@pytest.mark.parametrize("pieces", [0, 1], ids=["plain", "zstd"])
def test_changes_without_times_between_samples_are_reported(pieces, tmp_path, run_pdecode):
    """Samples wait for the end of the round, which the records after them do not: those of one
    compressed record have one offset."""
    attr = Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME")
    records = [sample(attr, IN_USER, ip=0x1010, pid=5, tid=5, time=10),
               r.mmap(5, 5, 0x1000, 0x1000, 0, "/a"),
               sample(attr, IN_USER, ip=0x1010, pid=5, tid=5, time=20)]
    packed = [zstd_records(records, pieces)] if pieces else records
    path = written(tmp_path, [*packed, r.finished_round()], "pipe", attr)
    done = run_pdecode(["--resolve", "-"], input=path.read_bytes())
    document = strict_json(done.stdout)
    assert [error["code"] for error in document["errors"]] == ["ORDER"] and done.returncode == 1


@sanitize
@pytest.mark.parametrize("shape", ["jsonl", "stats"])
def test_a_name_that_comes_too_late_to_select_is_told(shape, tmp_path, run_pdecode):
    path = written(tmp_path, in_rounds([hit(5, 1, 20)], [hit(5, 1, 30)], [comm(5, "a", 10)],
                                       [hit(5, 1, 40)]), "pipe")
    args = ["-f", shape, "--comm", "a", "--types", "SAMPLE"]
    done = run_pdecode([*args, "-"], input=path.read_bytes())
    assert (done.returncode, b" came after later ones" in done.stderr) == (1, True)
    done = run_pdecode([*args, path])
    assert (done.returncode, done.stderr) == (0, b"")


@sanitize
def test_samples_without_a_time_are_told(tmp_path, run_pdecode):
    """One event has no times: its samples have the names of when they were read, before the round
    is released; the file's have those of where they are."""
    timed, untimed = (Attr(type=1, config=0, sample_period=1, sample_type=names)
                      for names in ("IDENTIFIER|IP|TID|TIME", "IDENTIFIER|IP|TID"))

    def named(name, time):
        return r.comm(5, 5, name, 0, sid=sample_id(timed, pid=5, tid=5, time=time, id=1))
    hit_untimed = sample(untimed, IN_USER, ip=1, pid=5, tid=5, id=2)
    data = Pipe(records=[r.header_attr(timed, [1]), r.header_attr(untimed, [2]), *in_rounds(
        [named("a", 10)], [named("a", 11)], [named("c", 12)], [hit_untimed], [named("a", 13)],
        [named("b", 20)])]).build("<")
    done = run_pdecode(["--resolve", "-"], input=data)
    assert (done.returncode, done.stderr.decode()) == (
        1, "pdecode: standard input: 1 samples have no time: their names and frames are those of "
        "the moment they were read\n")
    assert places(strict_json(done.stdout)) == [("a", ["NO_MAP"])]
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    done = run_pdecode(["--resolve", path])
    assert (places(strict_json(done.stdout)), done.stderr) == ([("c", ["NO_MAP"])], b"")


@pytest.fixture(scope="module")
def short_lived(tmp_path_factory):
    """8,000 processes, 100 in each round; each is sampled again in the next one, after its end."""
    def rounds():
        for n in range(80):
            yield [record for pid in range(100 * n + 10, 100 * n + 110) for record in (
                r.fork(pid, 1, pid, 1, 10 * pid, sid=sid(1, 10 * pid)),
                comm(pid, "sh", 10 * pid + 1, exec=True),
                mapped(pid, 0x1000, 0x1000, 0, "/bin/sh", 10 * pid + 2),
                mapped(pid, 0x8000, 0x1000, 0, "/lib/c", 10 * pid + 3),
                hit(pid, 0x8010, 10 * pid + 4),
                r.exit(pid, 1, pid, 1, 10 * pid + 5, sid=sid(pid, 10 * pid + 5)),
                *[hit(pid - 100, 0x8010, 10 * pid + 6)][:n])]
    return written(tmp_path_factory.mktemp("short"), in_rounds(*rounds()), "pipe").read_bytes()


@sanitize
@pytest.mark.parametrize("memory", ["2M", "256M"])
def test_ended_tasks_are_forgotten(memory, short_lived, run_pdecode):
    """They pass through little memory, as none is asked for after two rounds."""
    done = run_pdecode(["--resolve", "--memory", memory, "--types", "SAMPLE", "-"],
                       input=short_lived)
    assert (done.returncode, done.stderr) == (0, b"")
    assert places(strict_json(done.stdout)) == 15_900 * [("sh", [("/lib/c", 0x10)])]


def frames_hold(record):
    """One for ip and each address of the chain."""
    chain = [addr for addr in record.get("callchain", []) if addr.startswith("0x")]
    if "ip" in record and chain[:1] != [record["ip"]]:
        chain.insert(0, record["ip"])
    return [frame["addr"] for frame in record.get("frames", [])] == chain


def test_captures(fixture_file, run_pdecode, pdecode, tmp_path):
    """It only adds, what it adds holds the schema, and pencode ignores it."""
    plain, done = run_pdecode([fixture_file.path]), run_pdecode(["--resolve", fixture_file.path])
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    document = strict_json(done.stdout)
    assert not complaints("document.schema.json",
                          {**document, "records": samples(document)[:20]})
    assert all(frames_hold(record) for record in samples(document))
    for record in samples(document):
        for key in "comm", "comm_hex", "frames", "branch_frames", "addr_frame":
            record.pop(key, None)
    document.pop("images")
    assert document == strict_json(plain.stdout)
    pencode, out = pdecode.parent / "pencode", []
    for text in plain.stdout, done.stdout:
        mode = ["--mode", "file"] if fixture_file.is_directory else []
        back = subprocess.run([pencode, *mode, "-o", tmp_path / "out"], input=text, check=False,
                              stderr=subprocess.PIPE)
        out.append((back.returncode, back.stderr, (tmp_path / "out").read_bytes()))
    assert out[0] == out[1] and out[0][0] <= 1


@sanitize
def test_lines(tmp_path, run_pdecode, pdecode):
    path = written(tmp_path, list(busy(20)))
    document = strict_json(run_pdecode(["--resolve", path]).stdout)
    out = run_pdecode(["--resolve", "-f", "jsonl", path]).stdout
    lines = strict_json_lines(out)
    images = [{"kind": "image", **image} for image in document["images"]]
    assert lines[-1]["kind"] == "summary" and lines[-1 - len(images):-1] == images != []
    for line in lines:
        assert not complaints("line.schema.json", line)
    back = subprocess.run([pdecode.parent / "pencode"], input=out, stdout=subprocess.PIPE,
                          check=True)
    assert back.stdout == path.read_bytes()


@sanitize
@pytest.mark.parametrize("args", [["--resolve"], ["--comm", "x"]])
def test_files_that_are_no_recording(args, tmp_path, run_pdecode):
    path = tmp_path / "not.data"
    path.write_bytes(b"no recording at all")
    plain, done = run_pdecode([path]), run_pdecode([*args, path])
    assert (done.returncode, done.stdout, done.stderr) == (3, plain.stdout, plain.stderr)
    assert run_pdecode([*args, "-"], input=b"").returncode == 3


@sanitize
def test_damage_is_told_once(tmp_path, run_pdecode):
    path = written(tmp_path, list(busy(50)))
    path.write_bytes(path.read_bytes()[:-500])
    plain, done = run_pdecode([path]), run_pdecode(["--resolve", path])
    assert (done.returncode, done.stderr) == (1, plain.stderr)
    assert strict_json(done.stdout)["errors"] == strict_json(plain.stdout)["errors"] != []


TOLD = ("more tasks and maps than the memory limit (--memory) allows, or deferred call chains of "
        "more than 1,024 addresses: some names, images or frames are missing")


@sanitize
def test_memory_that_is_too_small_is_told(tmp_path, run_pdecode):
    """Maps learned before the limit are still used."""
    maps = [mapped(5, n << 20, 4096, 0, f"/{n}" * 200, n) for n in range(1, 9000)]
    path = written(tmp_path, maps)
    done = run_pdecode(["--resolve", "--memory", "2M", path])
    assert (done.returncode, done.stderr.decode()) == (1, f"pdecode: {path}: {TOLD}\n")
    document = strict_json(done.stdout)
    assert 0 < len(document["images"]) < 8999
    assert [(e["code"], e["message"]) for e in document["errors"]] == [("LIMIT", TOLD)]
    by_name = ["--comm", "x", "--memory", "2M", "-f", "stats"]
    assert run_pdecode([*by_name, path]).returncode == 0        # needs no maps
    names = written(tmp_path, [comm(n, f"{n}" * 50, n) for n in range(1, 9000)])
    assert run_pdecode([*by_name, names]).returncode == 1


@sanitize
def test_memory_that_is_too_small_for_a_stream_is_told(tmp_path, run_pdecode):
    maps = [mapped(5, n << 20, 4096, 0, f"/{n}" * 200, n) for n in range(1, 9000)]
    path = written(tmp_path, [*in_rounds(maps), hit(5, 1 << 20, 10000), r.finished_round()], "pipe")
    done = run_pdecode(["--resolve", "--memory", "4M", "-"], input=path.read_bytes())
    assert (done.returncode, done.stderr.decode()) == (1, f"pdecode: standard input: {TOLD}\n")
    document = strict_json(done.stdout)
    assert [(e["code"], e["message"]) for e in document["errors"]] == [("LIMIT", TOLD)]
    assert document["summary"]["errors"] == 1 and len(samples(document)) == 1


def test_no_room_for_the_copy_is_told(tmp_path, run_pdecode):
    data = written(tmp_path, list(busy(50)), "pipe").read_bytes()
    done = run_pdecode(["--symbols", "-"], input=data, preexec_fn=small_files)
    assert done.returncode == 3
    assert b"can't be copied to a temporary file, to be read twice: " in done.stderr


def small_files():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_usage(run_pdecode):
    done = run_pdecode(["--resolve", "-f", "stats"])
    assert (done.returncode, done.stderr.decode()) == (
        2, "pdecode: '--resolve' applies to records, and stats shows none\n"
           "Try 'pdecode --help'\n")


# --- --comm

@sanitize
@pytest.mark.parametrize("mode", ["file", "pipe", "stream"])
@pytest.mark.parametrize("sort", ["file", "time"])
@pytest.mark.parametrize("shape", ["json", "stats"])
def test_comm_is_the_name_at_the_time(mode, sort, shape, tmp_path, run_pdecode):
    """The order of the file and of the output make no difference."""
    path = written(tmp_path, [
        comm(5, "late", 200), hit(5, 1, 100), hit(5, 2, 300), hit(5, 3, 150), comm(5, "early", 50),
        hit(5, 4, 40), r.finished_round()], "file" if mode == "file" else "pipe")
    for name, ips in (("late", {2}), ("early", {1, 3}), ("*l*", {1, 2, 3}), ("none", set())):
        args = ["--types", "SAMPLE", "--comm", name, "--sort", sort, "-f", shape]
        document = strict_json(
            run_pdecode([*args, "-"], input=path.read_bytes()).stdout if mode == "stream" else
            run_pdecode([*args, path]).stdout)
        if shape == "stats":
            assert document["records"] == len(ips)
        else:
            assert {int(record["ip"], 16) for record in document["records"]} == ips
            assert document["summary"]["filtered"] + len(ips) == 7 + (mode != "file")


def test_comm_of_a_live_stream(tmp_path, pdecode):
    """The first round's records are written before the stream goes on."""
    path = written(tmp_path, [comm(5, "a", 10), hit(5, 1, 20), r.finished_round(), hit(5, 2, 30),
                              r.finished_round(), hit(5, 3, 40), r.finished_round()], "pipe")
    data = path.read_bytes()
    with subprocess.Popen([pdecode, "-f", "jsonl", "--comm", "a", "--types", "SAMPLE"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        timer = threading.Timer(30, p.kill)  # waiting for the end would fail
        timer.start()
        p.stdin.write(data[:-8])
        p.stdin.flush()
        lines = iter(p.stdout.readline, b"")
        assert any(b'"ip":"0x1"' in line for line in lines)
        p.stdin.write(data[-8:])
        p.stdin.close()
        assert sum(b'"SAMPLE"' in line and b'"ip"' in line for line in lines) == 2
        assert p.wait() == 0
        timer.cancel()


@sanitize
@pytest.mark.parametrize("mode", ["file", "stream"])
def test_comm_keeps_the_record_that_names_it(mode, tmp_path, run_pdecode):
    path = written(tmp_path, [comm(5, "a", 10), hit(5, 1, 20), comm(5, "b", 30), hit(5, 2, 40),
                              comm(5, "c", 50), r.finished_round()], "pipe")
    args = ["--comm", "b", "--types", "COMM,SAMPLE"]
    done = run_pdecode([*args, "-"], input=path.read_bytes()) if mode == "stream" else \
        run_pdecode([*args, path])
    assert [record["type"] for record in strict_json(done.stdout)["records"]] == [
        "COMM", "SAMPLE"]


def test_comm_of_every_capture(fixture_file, run_pdecode):
    """--comm keeps the samples that --resolve gives the name."""
    done = run_pdecode(["--resolve", "--types", "SAMPLE", "--blobs", "omit", fixture_file.path])
    if done.returncode == 3:
        return
    named = {}
    for record in json.loads(done.stdout)["records"]:
        if "tid" in record:
            named.setdefault(record.get("comm"), []).append(record["offset"])
    for name in sorted(set(named) - {None})[:2]:
        part = run_pdecode(["--comm", name, "--types", "SAMPLE", "--blobs", "omit",
                            fixture_file.path])
        assert named[name] == [record["offset"] for record in json.loads(part.stdout)["records"]
                               if "tid" in record]


# --- guests

GUEST = Attr(type=1, config=0, sample_period=1, sample_type="IDENTIFIER|IP|TID|TIME|CPU")
HOST_ID, GUEST_IDS, OTHER_ID = 1, (2, 3), 4
MACHINE, OTHER_MACHINE = 500, 600
GUEST_KERNEL, GUEST_USER = 4, 5
MODULE, PROGRAM = KERNEL + 0x10000, KERNEL + 0x20000


def guest_recording():
    """The host and two virtual machines, each with a process 7."""
    def of(id, time, pid=7):
        return sample_id(GUEST, pid=pid, tid=pid, time=time, id=id)

    def there(id, name, path, misc=IN_USER):
        return [r.comm(7, 7, name, 0, sid=of(id, 10)),
                r.mmap2(7, 7, 0x1000, 0x1000, 0, 8, 1, 5, 0, 5, 2, path, misc=misc,
                        sid=of(id, 11))]

    def at(id, ip, misc, time=50, pid=7, tid=None):
        return sample(GUEST, misc, ip=ip, pid=pid, tid=tid or pid, time=time, cpu=0, id=id)

    def kernel(id, name, size, misc=IN_KERNEL, start=KERNEL):
        return r.mmap(2**32 - 1, 0, start, size, start, name, misc, sid=of(id, 0, 0))
    return [
        r.id_index([(id, 0, 0, -1) for id in (HOST_ID, *GUEST_IDS, OTHER_ID)],
                   [(0, 0), (MACHINE, 0), (MACHINE, 1), (OTHER_MACHINE, 0)]),
        kernel(HOST_ID, "[kernel.kallsyms]_text", 0x1000),
        kernel(GUEST_IDS[0], "[kernel.kallsyms]_text", 0x2000),
        kernel(GUEST_IDS[0], "[a_module]", 0x1000, GUEST_KERNEL, MODULE),
        r.ksymbol(PROGRAM, 64, 1, 0, "bpf_prog", sid=of(GUEST_IDS[1], 0, 0)),
        kernel(HOST_ID, f"[guest.kernel.kallsyms.{OTHER_MACHINE}]_text", 0x3000, GUEST_KERNEL),
        *there(HOST_ID, "host", "/host"), *there(GUEST_IDS[0], "guest", "/guest"),
        *there(OTHER_ID, "other", "/other", GUEST_USER),
        r.fork(8, 7, 8, 7, 20, sid=of(GUEST_IDS[1], 20)),
        r.comm(8, 8, "child", COMM_EXEC, sid=of(HOST_ID, 30, 8)),
        at(HOST_ID, 0x1010, IN_USER), at(GUEST_IDS[0], 0x1010, GUEST_USER),
        at(GUEST_IDS[1], 0x1010, IN_USER), at(OTHER_ID, 0x1010, GUEST_USER),
        at(GUEST_IDS[1], 0x1010, GUEST_USER, pid=8), at(HOST_ID, 0x1010, IN_USER, pid=8),
        at(GUEST_IDS[0], 0x5000, GUEST_USER), at(GUEST_IDS[0], 0x1010, GUEST_USER, pid=9),
        at(GUEST_IDS[0], KERNEL + 0x1800, GUEST_KERNEL), at(HOST_ID, KERNEL + 0x1800, IN_KERNEL),
        at(OTHER_ID, KERNEL + 0x2800, GUEST_KERNEL), at(HOST_ID, 0x1010, GUEST_USER),
        *(at(id, addr, mode) for addr in (MODULE, PROGRAM)
          for id, mode in ((GUEST_IDS[0], GUEST_KERNEL), (OTHER_ID, GUEST_KERNEL),
                           (HOST_ID, IN_KERNEL)))]


@sanitize
@pytest.mark.parametrize("mode", ["file", "pipe", "stream"])
def test_tasks_and_maps_of_guests(mode, tmp_path, run_pdecode):
    """The same numbers and addresses are others in each machine."""
    attrs = [(GUEST, [HOST_ID, *GUEST_IDS, OTHER_ID])]
    path = tmp_path / "perf.data"
    if mode == "file":
        path.write_bytes(File(attrs=attrs, records=guest_recording()).build("<"))
    else:
        path.write_bytes(Pipe(records=[r.header_attr(*attrs[0]), *guest_recording()]).build("<"))
    done = run_pdecode(["--resolve", "-"], input=path.read_bytes()) if mode == "stream" else \
        run_pdecode(["--resolve", path])
    document = strict_json(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not complaints("document.schema.json", document)
    assert [place.replace("NO_PID", "NO_MAP") if isinstance(place, str) else place
            for _, (place,) in places(document)] == [
        ("/host", 0x10), ("/guest", 0x10), ("/guest", 0x10), ("/other", 0x10), ("/guest", 0x10),
        "NO_MAP", "NO_MAP", "NO_MAP", ("[kernel.kallsyms]", KERNEL + 0x1800), "NO_MAP",
        (f"[guest.kernel.kallsyms.{OTHER_MACHINE}]", KERNEL + 0x2800), "NO_MAP",
        ("[a_module]", MODULE), "NO_MAP", "NO_MAP", ("bpf_prog", 0), "NO_MAP", "NO_MAP"]
    assert [comm for comm, _ in places(document)] == [
        "host", "guest", "guest", "other", "guest", "child", "guest", None, "guest", "host",
        "other", "host", *2 * ["guest", "other", "host"]]
    assert [(record.get("machine_pid"), record.get("vcpu")) for record in samples(document)] == [
        (None, None), (500, 0), (500, 1), (600, 0), (500, 1), (None, None), (500, 0), (500, 0),
        (500, 0), (None, None), (600, 0), (None, None),
        *2 * [(500, 0), (600, 0), (None, None)]]
    assert {(image["path"], image.get("guest"), image.get("machine_pid"))
            for image in document["images"]} == {
        ("/host", None, None), ("/guest", True, 500), ("/other", True, 600),
        ("[kernel.kallsyms]", None, None), ("[kernel.kallsyms]", True, 500),
        ("[a_module]", True, 500), ("bpf_prog", True, 500),
        (f"[guest.kernel.kallsyms.{OTHER_MACHINE}]", True, None)}
    part = strict_json(run_pdecode(["--comm", "guest", "--types", "SAMPLE", path]).stdout)
    assert len(part["records"]) == 7
    part = strict_json(run_pdecode(["--comm", "guest", "--types", "COMM,MMAP2,FORK", path]).stdout)
    assert [record.get("filename", record["type"]) for record in part["records"]] == [
        "COMM", "/guest", "FORK"]


@sanitize
def test_tables_tell_machines_apart(tmp_path, run_pdecode):
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(GUEST, [HOST_ID, *GUEST_IDS, OTHER_ID])],
                          records=guest_recording()).build("<"))
    document = strict_json(run_pdecode(["--resolve", path]).stdout)
    assert run_pdecode(["-f", "parquet", "-o", tmp_path / "tables", path]).returncode == 0

    def table(name):
        return read_parquet((tmp_path / "tables" / f"{name}.parquet").read_bytes())[0]
    assert table("samples")["machine_pid"] == [
        record.get("machine_pid") for record in samples(document)]
    assert table("objects")["machine_pid"] == [
        image.get("machine_pid") for image in document["images"]]
    tasks, maps = table("tasks"), table("maps")
    assert set(zip(tasks["machine_pid"], tasks["tid"], tasks["comm"])) == {
        (None, 7, "host"), (None, 8, "child"), (MACHINE, 7, "guest"), (MACHINE, 8, "guest"),
        (OTHER_MACHINE, 7, "other")}
    assert set(zip(maps["machine_pid"], maps["pid"])) == {
        (None, -1), (MACHINE, -1), (None, 7), (MACHINE, 7), (OTHER_MACHINE, 7)}


@sanitize
def test_more_guests_than_fit_are_told(tmp_path, run_pdecode):
    """They are not mixed up with each other or the host."""
    ids = range(1, 301)
    records = [r.id_index([(id, 0, 0, -1) for id in ids], [(1000 + id, 0) for id in ids])]
    for id in (1, 254, 255, 300):
        records += [r.comm(7, 7, f"of{id}", 0, sid=sample_id(GUEST, pid=7, tid=7, time=1, id=id)),
                    sample(GUEST, GUEST_USER, ip=1, pid=7, tid=7, time=5, cpu=0, id=id)]
    path = tmp_path / "perf.data"
    path.write_bytes(File(attrs=[(GUEST, list(ids))], records=records).build("<"))
    done = run_pdecode(["--resolve", path])
    document = strict_json(done.stdout)
    assert [comm for comm, _ in places(document)] == ["of1", "of254", None, None]
    assert (done.returncode, document["errors"][0]["code"]) == (1, "LIMIT")


DEFERRED_MARK = 2**64 - 640


def deferred(repeats, count):
    """Samples whose callchains have a cookie again and again, and its addresses."""
    chain = [USER_MARK, 0x10010, *[DEFERRED_MARK, 77] * repeats]
    return [mapped(5, 0x10000, 0x100000, 0, "/app", 1), hit(5, 0x10010, 10, *chain),
            hit(5, 0x10010, 11, *chain),
            r.callchain_deferred(77, [USER_MARK, *range(0x10020, 0x10020 + 16 * count, 16)],
                                 sid=sid(5, 12))]


@sanitize
def test_a_cookie_stands_for_its_addresses_once(tmp_path, decode):
    document = decode(written(tmp_path, deferred(3, 3)), "--resolve")
    assert [[frame["addr"] for frame in s["frames"]] for s in samples(document)] == [
        ["0x10010", "0x10020", "0x10030", "0x10040"]] * 2


@sanitize
def test_a_cookie_has_1024_addresses_at_most(tmp_path, run_pdecode):
    path = written(tmp_path, deferred(1, 2000))
    done = run_pdecode(["--resolve", path])
    assert (done.returncode, done.stderr.decode()) == (1, f"pdecode: {path}: {TOLD}\n")
    assert [len(s["frames"]) for s in samples(strict_json(done.stdout))] == [1024] * 2
