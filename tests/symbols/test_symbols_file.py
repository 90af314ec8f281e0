"""Names beside a recording: --symbols-file of the tools that read, and of precord for a stream."""
import json
import os
import shutil
import stat
import subprocess

import pytest

from conftest import TOOLS
from perfdata import features as f
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.wire import Wire, encode
from test_symbols import EVENT, hit
from test_symbols_travel import (BUILD_ID, INLINING, SOURCE, decode, empty_root, frames, image,
                                 mapped, named, with_calls)

NAMES = [image(b"/nowhere/app", [named(0x1000, b"beside")], [0x1010], [0], build_id=BUILD_ID)]
USAGE, INPUT, OUTPUT = 2, 3, 4
TRIES = 3


def section(images, order="<", version=1):
    return encode(f.pd_symbols(images, version=version), Wire(order))


@pytest.fixture
def place(tmp_path):
    """A recording without names, and a file with its names."""
    recording = File(attrs=[(EVENT, [1])], records=[mapped(), hit(0x10010)])
    (tmp_path / "p.data").write_bytes(recording.build("<"))
    (tmp_path / "p.symbols").write_bytes(section(NAMES))
    return tmp_path


def run(place, tool, *options):
    return subprocess.run([TOOLS / tool, *options], cwd=place, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)


def frame_of(done):
    sample, = [line for line in map(json.loads, done.stdout.splitlines())
               if line.get("type") == "SAMPLE"]
    return sample["frames"][0]


def pdecode(place, *options):
    return run(place, "pdecode", "-f", "jsonl", "--symbols", "--symbols-file", "p.symbols",
               *options, "p.data")


# --- tools that read ------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_names_beside_a_recording(order, place):
    """In either byte order, whatever that of the recording is."""
    (place / "p.symbols").write_bytes(section(NAMES, order))
    assert frame_of(pdecode(place))["symbol"] == "beside"
    assert frame_of(run(place, "pdecode", "-f", "jsonl", "--symbols", "p.data"))["why"] == "NO_FILE"


def test_all_tools_read_them(place):
    done = run(place, "preport", "-f", "folded", "--symbols-file", "p.symbols", "p.data")
    assert (done.returncode, done.stdout.split(";")[-1]) == (0, "beside 1\n"), done.stderr
    done = run(place, "pquery", "-f", "csv", "--symbols", "--symbols-file", "p.symbols",
               "select function from symbols", "p.data")
    assert (done.returncode, done.stdout.split()) == (0, ["function", "beside"]), done.stderr
    done = run(place, "pdecode", "-f", "jsonl", "--in", "other", "--symbols-file", "p.symbols",
               "p.data")
    assert done.returncode == 0 and '"SAMPLE"' not in done.stdout


@pytest.mark.sanitize
def test_names_of_the_recording_do_not_count(place):
    """Also not for addresses that the file does not have."""
    elsewhere = image(b"/nowhere/app", [named(0x1000, b"inside")], [0x1010, 0x1014], [0, 0],
                      build_id=BUILD_ID)
    recording = File(attrs=[(EVENT, [1])], records=[mapped(), hit(0x10010)],
                     features={NUMBER["PD_SYMBOLS"]: section([elsewhere])})
    (place / "p.data").write_bytes(recording.build("<"))
    inside = frame_of(run(place, "pdecode", "-f", "jsonl", "--symbols", "p.data"))
    assert inside["symbol"] == "inside"
    assert frame_of(pdecode(place))["symbol"] == "beside"
    (place / "p.symbols").write_bytes(section([]))
    assert frame_of(pdecode(place))["why"] == "NO_FILE"


@pytest.mark.sanitize
@pytest.mark.parametrize("version", [1, 2])
def test_a_damaged_file_is_refused(version, place):
    """Cut anywhere, or longer; nothing is written then."""
    whole = section([with_calls([(1, 1, 5, 0)], [1, 0])] if version == 2 else NAMES,
                    version=version)
    damaged = [whole[:cut] for cut in range(0, len(whole), 7)] + [whole + b"\0", b"PERFILE2" * 20]
    for content in damaged:
        (place / "p.symbols").write_bytes(content)
        done = pdecode(place, "-o", "out")
        assert done.returncode == INPUT and not (place / "out").exists()
        assert done.stderr == ("pdecode: p.symbols: not a file of precord --symbols-file, or it is "
                               "damaged\n")
    (place / "p.symbols").write_bytes(whole)
    assert pdecode(place).returncode == 0


@pytest.mark.parametrize("tool, options", [
    ("pdecode", ["--symbols"]), ("preport", ["-f", "folded"]),
    ("pquery", ["--symbols", "select 1 from symbols"])])
@pytest.mark.parametrize("content, said", [(None, "No such file or directory"),
                                           (b"names", "not a file of precord --symbols-file")])
def test_a_file_that_has_no_names(tool, options, content, said, place):
    if content:
        (place / "x").write_bytes(content)
    done = run(place, tool, "--symbols-file", "x", *options, "p.data")
    assert (done.returncode, done.stdout) == (INPUT, "")
    assert done.stderr.startswith(f"{tool}: x: {said}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("tool, options, said", [
    ("pdecode", ["p.data"], "'--symbols-file' needs '--symbols'"),
    ("preport", ["--no-symbols", "p.data"], "that '--no-symbols' leaves out"),
    ("preport", ["--base", "p.data", "p.data"], "not of that of '--base'"),
    ("pquery", ["select 1", "p.data"], "'--symbols-file' needs '--symbols'"),
    ("pquery", ["--symbols", "select 1", "p.data", "p.data"], "of one recording, not of 2")])
def test_refused_combinations(tool, options, said, place):
    done = run(place, tool, "--symbols-file", "p.symbols", *options)
    assert (done.returncode, done.stdout) == (USAGE, "") and said in done.stderr


# --- precord --------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    top = tmp_path_factory.mktemp("programs")
    for name, source, options in (("app", SOURCE, ["-O1"]), ("inlining", INLINING, ["-O2", "-g"])):
        (top / f"{name}.c").write_text(source)
        subprocess.run(["gcc", *options, "-fno-omit-frame-pointer", "-o", top / name,
                        top / f"{name}.c"], check=True)
    return top


def stream(place, *options, env=None):
    """Records to the stream p.stream, with the names in p.symbols."""
    with open(place / "p.stream", "wb") as out:
        return subprocess.run(
            [TOOLS / "precord", "-q", "-e", "cpu-clock", "-F", "1000", "-o", "-", "--symbols-file",
             "p.symbols", *options], stdout=out, stderr=subprocess.PIPE, text=True, cwd=place,
            env={**os.environ, **(env or {})})


def stream_with_names(place, *options):
    """The same, again if precord had no time for names."""
    for _ in range(TRIES):
        done = stream(place, "-v", *options)
        if done.returncode:
            pytest.skip(f"can't record: {done.stderr}")
        if "took too long" not in done.stderr:
            return
    pytest.skip(f"precord had no time for names, {TRIES} times: this machine has other work")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for chroot")
@pytest.mark.parametrize("program, record, read", [
    ("app", ["-g"], []), ("app", ["-g", "-z"], ["--no-inline"]), ("inlining", ["-g"], []),
    ("inlining", ["-g", "--symbols=lines"], ["--lines"]),
    ("app", ["--call-graph", "dwarf"], ["--no-inline"])], ids=lambda value: "".join(value))
def test_a_stream_in_an_empty_root(program, record, read, programs, tmp_path):
    """The frames at home, functions of libraries and of the kernel included, also of copied
    stacks."""
    app = tmp_path / "app"
    shutil.copy(programs / program, app)
    stream_with_names(tmp_path, *record, "--", app)
    home = frames(decode(tmp_path / "p.stream", *read))
    pdecode_there = empty_root(tmp_path)
    for name in ("p.stream", "p.symbols"):
        shutil.copy(tmp_path / name, tmp_path / "root" / "x" / name)
    with open(tmp_path / "p.stream", "rb") as recorded:
        done = subprocess.run([*pdecode_there, "-f", "jsonl", "--symbols", "--symbols-file",
                               "/x/p.symbols", *read, "-"], stdin=recorded, stdout=subprocess.PIPE,
                              check=True)
    assert frames(done.stdout) == home and sum("inner" in str(line) for line in home) > 10


def test_the_section_is_that_of_a_file(programs, tmp_path):
    """The same bytes are read as a feature."""
    stream_with_names(tmp_path, "-g", "--", programs / "app")
    recording = File(attrs=[(EVENT, [1])], records=[],
                     features={NUMBER["PD_SYMBOLS"]: (tmp_path / "p.symbols").read_bytes()})
    (tmp_path / "p.data").write_bytes(recording.build("<"))
    names = json.loads(run(tmp_path, "pdecode", "--header-only", "p.data").stdout)["features"]
    functions = [function["name"] for of in names["PD_SYMBOLS"]["images"]
                 for function in of["functions"]]
    assert {"inner", "outer", "main"} <= set(functions)


def test_the_file_is_private_and_replaced_at_the_end(programs, tmp_path):
    (tmp_path / "p.symbols").write_text("older")
    (tmp_path / "tmp").mkdir()
    done = stream(tmp_path, "--", tmp_path / "missing", env={"TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode and (tmp_path / "p.symbols").read_text() == "older"
    (tmp_path / "p.symbols").unlink()
    done = stream(tmp_path, "--", programs / "app", env={"TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "p.symbols").stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["p.stream", "p.symbols", "tmp"]
    assert os.listdir(tmp_path / "tmp") == []


def test_no_names(tmp_path):
    """A file that is asked for and not written is an error; the stream is whole."""
    with open(tmp_path / "p.stream", "wb") as out:
        done = subprocess.run([TOOLS / "precord", "-e", "dummy", "-o", "-", "--symbols-file",
                               tmp_path / "p.symbols", "--", "true"], stdout=out,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == OUTPUT
    said = [line for line in done.stderr.splitlines() if not line.startswith("[ precord: ")]
    assert said == [f"precord: {tmp_path}/p.symbols: not written, there are no names"]
    assert os.listdir(tmp_path) == ["p.stream"]
    assert run(tmp_path, "pdecode", "-f", "stats", "p.stream").returncode == 0


def test_a_temporary_file_that_cannot_grow(programs, tmp_path):
    """The names are those of the first samples; the stream, a pipe, is whole."""
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 256; exec "$@"', "sh", TOOLS / "precord", "-e", "cpu-clock", "-F",
         "1000", "--call-graph", "dwarf", "-o", "-", "--symbols-file", tmp_path / "p.symbols", "--",
         programs / "app"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"not all names of functions are in" in done.stderr
    assert b"a temporary file (TMPDIR) could not be written" in done.stderr
    assert len(done.stdout) > 200_000
    (tmp_path / "p.stream").write_bytes(done.stdout)
    assert run(tmp_path, "pdecode", "-f", "stats", "p.stream").returncode == 0
    assert run(tmp_path, "pdecode", "-f", "stats", "--in", "inner", "--symbols-file", "p.symbols",
               "p.stream").returncode == 0


@pytest.mark.parametrize("options, said", [
    (["-o", "p.data", "--symbols-file", "x"], "is for streams (-o -): a file holds the names"),
    (["-o", "-", "--symbols-file", "x", "--symbols=off"], "exclude each other"),
    (["-o", "-", "--symbols-file", "-"], "must name a file"),
    (["-o", "-", "--symbols-file", "."], "must name a file, which '.' is not"),
    (["-o", "-", "--symbols-file", "/nowhere/x"], "No such file or directory"),
    (["-o", "-", "--symbols=names"], "a stream can't hold names: add '--symbols-file FILE'"),
    (["-o", "-", "--symbols=lines"], "'--symbols=lines': a stream can't hold names")])
def test_refused_by_precord(options, said, tmp_path):
    done = subprocess.run([TOOLS / "precord", *options, "--", "touch", "ran"], cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode in (USAGE, INPUT) and said in done.stderr
    assert done.stderr.count("\n") == 1 and os.listdir(tmp_path) == []
