"""The programs of examples/ compile as their first comments say, and print what pdecode prints."""
import collections
import re
import shlex
import subprocess

import pytest

import named as named_recording
from conftest import FIXTURES, ROOT, TOOLS, strict_json_lines
from rights import needs

PERF = FIXTURES / "perf"
EXAMPLES = sorted((ROOT / "examples").glob("*.c"))


def build_line(path):
    """The command of the first comment, and the packages in it."""
    (line,) = re.findall(r"^ \*\t(cc .*)$", path.read_text(), flags=re.M)
    (packages,) = re.findall(r"\$\(pkg-config --cflags --libs ([^)]+)\)", line)
    return line, packages.split()


@pytest.fixture(scope="module")
def run(installed):
    programs = {}

    def run(name, *arguments, **options):
        if name not in programs:
            path = ROOT / "examples" / f"{name}.c"
            programs[name] = installed.link(path, "static", packages=build_line(path)[1])
        done = subprocess.run([programs[name], *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, **options)
        assert done.returncode == 0 and not done.stderr, done.stderr.decode()
        return done.stdout.decode(errors="replace").splitlines()
    return run


def test_each_library_has_one():
    packages = {package for path in EXAMPLES for package in build_line(path)[1]}
    assert packages == {"libdecode", "libpdsymbols", "libpdprofile", "libpdcolumns"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_they_say_how_to_build_them(path, installed, tmp_path):
    if installed.sanitized:
        pytest.skip("the sanitized library is linked statically")
    line, packages = build_line(path)
    flags = installed.pkg_config("--cflags", "--libs", packages=packages)
    command = re.sub(r"\$\(.*\)", lambda _: shlex.join(flags), line)
    assert command != line and f" {path.name} " in command
    subprocess.run(command.replace(path.name, shlex.quote(str(path))), shell=True, check=True,
                   cwd=tmp_path)
    assert (tmp_path / path.stem).is_file()


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["01-basic.data", "18-pipe.data", "20-threads.data"])
def test_count_types(name, run, decode):
    counts = collections.Counter(record["type"] for record in decode(PERF / name)["records"])
    assert (dict(line.split()[::-1] for line in run("count_types", PERF / name))
            == {key: str(n) for key, n in counts.items()})


@pytest.mark.sanitize
def test_bytes_that_are_not_records_have_no_type(run, decode, tmp_path):
    """The file ends inside the header of a SAMPLE."""
    path = tmp_path / "cut.data"
    records = [r for r in decode(PERF / "01-basic.data")["records"] if r["type"] == "SAMPLE"]
    path.write_bytes((PERF / "01-basic.data").read_bytes()[:records[-1]["offset"] + 5])
    counts = dict(line.split()[::-1] for line in run("count_types", path))
    assert counts["SKIPPED"] == "1" and counts["SAMPLE"] == str(len(records) - 1)


@pytest.mark.sanitize
def test_count_samples(run, decode):
    samples = [record for record in decode(PERF / "02-callgraph-fp.data")["records"]
               if record["type"] == "SAMPLE"]
    counts = collections.Counter((str(s["pid"]), s["ip"]) for s in samples)
    lines = [line.split() for line in run("count_samples", PERF / "02-callgraph-fp.data", 1000)]
    assert {(pid, ip): int(n) for n, pid, ip in lines} == counts and lines


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["18-pipe.data", "95-zstd-pipe.data", "02-callgraph-fp.data"])
def test_live_pipe(name, run, decode):
    path = PERF / name
    want = [f"{s['time']} {s['event']} tid={s['tid']} ip={s['ip']}"
            for s in decode(path)["records"] if s["type"] == "SAMPLE"]
    assert run("live_pipe", input=path.read_bytes()) == want and want


@pytest.mark.sanitize
def test_write_file(run, decode, tmp_path):
    run("write_file", tmp_path / "made.data")
    document = decode(tmp_path / "made.data")
    assert not document["errors"] and document["features"]["HOSTNAME"] == "example"
    types = [record["type"] for record in document["records"]]
    assert types == ["COMM", "MMAP"] + 10 * ["SAMPLE"]
    assert document["records"][2]["callchain"] == ["USER", "0x400000", "0x400800"]
    assert document["attrs"][0]["name"] == "cpu-clock:u"


def sample_of(record):
    """Without its place."""
    return {key: value for key, value in record.items() if key not in ("offset", "inner_offset")}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "16-zstd.data"])
def test_filter_copy(name, run, decode, tmp_path):
    before = decode(PERF / name)
    pid = next(record["pid"] for record in before["records"] if record["type"] == "SAMPLE")
    run("filter_copy", PERF / name, tmp_path / "copy.data", pid)
    after = decode(tmp_path / "copy.data")
    assert not after["errors"]
    assert ([event["name"] for event in after["attrs"]]
            == [event["name"] for event in before["attrs"]])
    want = [sample_of(record) for record in before["records"]
            if record["type"] == "SAMPLE" and record["pid"] == pid]
    assert want == [sample_of(record) for record in after["records"] if record["type"] == "SAMPLE"]
    assert want and {record["pid"] for record in after["records"]
                     if record["type"] in ("COMM", "MMAP2")} <= {pid, -1}
    assert after["features"]["HOSTNAME"] == before["features"]["HOSTNAME"]


@pytest.mark.sanitize
def test_tracepoint_fields(run, decode):
    path = PERF / "12-tracepoints.data"
    points = [record["raw"]["tracepoint"] for record in decode(path)["records"]
              if "tracepoint" in record.get("raw", {})]
    lines = run("tracepoint_fields", path)
    assert ([line.split()[0] for line in lines]
            == [f"{point['system']}:{point['name']}" for point in points])
    for line, point in zip(lines, points):
        words = dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", line.partition(" ")[2]))
        assert set(words) == {key for key in point["fields"] if not key.endswith("_hex")}
        assert all(words[key] == str(value) for key, value in point["fields"].items()
                   if isinstance(value, int))
    one = run("tracepoint_fields", path, "next_pid")
    assert 0 < len(one) < len(lines)
    assert all(re.fullmatch(r"sched:\w+ next_pid=\d+", line) for line in one)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "45-kernel-callchains.data",
                                  "18-pipe.data"])
def test_hot_dsos(name, run, run_pdecode):
    lines = strict_json_lines(run_pdecode(["-f", "jsonl", "--resolve", PERF / name]).stdout)
    paths = {line["index"]: line["path"] for line in lines if line["kind"] == "image"}
    frames = [line["frames"][0] for line in lines if line.get("type") == "SAMPLE"]
    files = collections.Counter(frame.get("image") for frame in frames)
    places = collections.Counter((frame["image"], frame["file_offset"]) for frame in frames
                                 if "image" in frame)
    printed = run("hot_dsos", PERF / name, 1000)
    assert (sorted(line for line in printed if line[0] != "\t")
            == sorted(f"{n} {paths.get(image, '[unknown]')}" for image, n in files.items()))
    assert (sorted(line.split() for line in printed if line[0] == "\t")
            == sorted([str(n), offset] for (_, offset), n in places.items()))
    assert frames and len(run("hot_dsos", PERF / name, 1)) <= 2 * len(files)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["20-threads.data", "12-tracepoints.data", "18-pipe.data"])
def test_count_comms(name, run, run_pdecode):
    lines = strict_json_lines(run_pdecode(["-f", "jsonl", "--resolve", PERF / name]).stdout)
    want = collections.Counter(line["comm"] for line in lines if line.get("type") == "SAMPLE")
    printed = [line.split(" ", 1) for line in run("count_comms", PERF / name)]
    assert {comm: int(samples) for samples, comm in printed} == want
    assert len(printed) == len(want) > 1


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["02-callgraph-fp.data", "03-callgraph-dwarf.data",
                                  "43-multi-event.data"])
def test_folded_stacks(name, run):
    assert folded_by_preport(PERF / name) == sorted(run("folded_stacks", PERF / name)) != []


def folded_by_preport(path):
    done = subprocess.run([TOOLS / "preport", "--inline", "-f", "folded", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, text=True)
    assert done.returncode in (0, 1)
    return sorted(done.stdout.splitlines())


PROGRAM = """
static volatile double sum;
static inline __attribute__((always_inline)) void add(int i) { sum += i * 0.5; }
__attribute__((noinline)) void inner(int n) { for (int i = 0; i < n; i++) add(i); }
int main(void) { for (int i = 0; i < 2000; i++) inner(100000); }
"""


@needs("events")
@pytest.mark.sanitize
def test_names_in_folded_stacks(run, tmp_path):
    """Names come from the program's debug information, and without it from the recording."""
    (tmp_path / "loop.c").write_text(PROGRAM)
    subprocess.run(["cc", "-g", "-O0", "-fno-omit-frame-pointer", "-o", "loop", "loop.c"],
                   cwd=tmp_path, check=True)
    data = tmp_path / "perf.data"
    named_recording.record(data, "-g", "./loop", event="cpu-clock:u", cwd=tmp_path)
    lines = run("folded_stacks", data)
    assert folded_by_preport(data) == sorted(lines)
    assert any(line.startswith("loop;") and ";main;inner;add " in line for line in lines)
    (tmp_path / "loop").unlink()
    lines = run("folded_stacks", data)
    assert folded_by_preport(data) == sorted(lines)
    assert any(";main;inner" in line for line in lines)
