"""The name of an output selects its format, and whether it is compressed."""
import gzip
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from known_recording import recording  # noqa: F401
from profiles import preport

GZIP = b"\x1f\x8b"


def unpacked(data):
    return gzip.decompress(data) if data.startswith(GZIP) else data


@pytest.mark.parametrize("name, form", [
    ("x.txt", "top"), ("x", "top"), ("x.html", "flamegraph"), ("x.svg", "svg"),
    ("x.folded", "folded"), ("x.collapsed", "folded"), ("x.collapsedstack.txt", "folded"),
    ("x.perf.txt", "script"), ("x.linux-perf.txt", "script"),
    ("x.pb.gz", "pprof"), ("x.pprof", "pprof"), ("x.csv", "csv"), ("x.json", "json"),
    ("x.firefox.json", "firefox"), ("x.firefox.json.gz", "firefox"),
    ("profile.json", "firefox"), ("profile.json.gz", "firefox"),
    ("x.speedscope.json", "speedscope"), ("x.speedscope.json.gz", "speedscope"),
    ("x.trace.json", "chrome"), ("x.trace.json.gz", "chrome"), ("x.callgrind", "callgrind"),
    ("callgrind.out.x", "callgrind"), ("x.otlp", "otlp"), ("x.folded.gz", "folded"),
    ("x.txt.gz", "top")])
def test_the_name_of_an_output_selects_its_format(recording, tmp_path, name, form):
    layout = ["--layout=stack"] if name == "x.linux-perf.txt" else []
    preport("-o", name, recording, cwd=tmp_path)
    got = (tmp_path / name).read_bytes()
    assert unpacked(got) == unpacked(preport("-f", form, *layout, recording))
    assert got.startswith(GZIP) == (name.endswith(".gz") or name == "x.pprof")


def test_a_chosen_format_is_compressed_by_the_name(recording, tmp_path):
    for name, is_packed in ("x.gz", True), ("x.json", False), ("x", True), ("-", True):
        out = preport("-f", "firefox", "-o", name, recording, cwd=tmp_path)
        got = out if name == "-" else (tmp_path / name).read_bytes()
        assert got.startswith(GZIP) == is_packed and unpacked(got).startswith(b'{"meta"')


def test_samples_as_text_are_not_compressed(recording, tmp_path):
    preport("-f", "script", "-o", tmp_path / "x.gz", recording, status=2)
    assert not (tmp_path / "x.gz").exists()


def test_a_flame_graph_with_the_name_of_a_picture_is_one(recording, tmp_path):
    want = preport("-f", "svg", recording)
    for name in "x.svg", "x.svg.gz":
        preport("-f", "flamegraph", "-o", name, recording, cwd=tmp_path)
        assert unpacked((tmp_path / name).read_bytes()) == want


@pytest.mark.parametrize("name, options, is_told", [
    ("x.foo", [], True), ("x.png", [], True), ("x.foo", ["-q"], False), ("x.txt", [], False),
    ("x.foo", ["-f", "top"], False), ("x", [], False), (".x", [], False)])
def test_a_name_that_selects_nothing_is_told(recording, tmp_path, name, options, is_told):
    done = subprocess.run([TOOLS / "preport", "--no-symbols", *options, "-o", name, recording],
                          cwd=tmp_path, capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0
    assert (tmp_path / name).read_bytes() == preport(recording)
    assert done.stderr.decode() == is_told * (
        f"preport: {name}: a table, as no format has names that end so: -f chooses one\n")
