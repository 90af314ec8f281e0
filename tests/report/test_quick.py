"""Time does not multiply: of inputs of few megabytes every part is read once or twice."""
import resource
import subprocess

from conftest import TIMEOUT, TOOLS
from known_recording import build_named, recorded

SECONDS = 3     # of CPU: what one loop within another took was at least three times as long


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def preport(tmp_path, data, *options, symbols="--no-symbols"):
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    return subprocess.run([TOOLS / "preport", symbols, *options, path], check=True,
                          capture_output=True, timeout=TIMEOUT, preexec_fn=limit).stdout


def test_a_name_of_brackets(tmp_path):
    program = build_named(tmp_path / "program", ".(" * 250_000)
    out = preport(tmp_path, recorded(program, program[1]), "-f", "folded", symbols="--jobs=1")
    assert out.endswith(b";. 5\napp;main 2\n")
