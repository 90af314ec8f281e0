"""Names beside a recording: --symbols-file of the tools that read, and of precord for a stream."""
import json
import subprocess

import pytest

from conftest import TOOLS
from perfdata import features as f
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.wire import Wire, encode
from test_symbols import EVENT, hit
from test_symbols_travel import BUILD_ID, image, mapped, named, with_calls

NAMES = [image(b"/nowhere/app", [named(0x1000, b"beside")], [0x1010], [0], build_id=BUILD_ID)]
INPUT, USAGE = 3, 2


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
    return run(place, "pdecode", "-f", "jsonl", "--symbols", "--symbols-file", "p.symbols", *options,
               "p.data")


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
    assert frame_of(run(place, "pdecode", "-f", "jsonl", "--symbols", "p.data"))["symbol"] == "inside"
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
