"""pdecode -f parquet: the files of a directory are those of one run, or it has no files.parquet."""
import resource
import signal

import pytest

from conftest import FIXTURES, TIMEOUT
from interrupted import RECORDING, end_while_reading, reading

CHAINS = FIXTURES / "perf" / "02-callgraph-fp.data"
BASIC = FIXTURES / "perf" / "01-basic.data"


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_signal_leaves_no_file(tmp_path):
    out = tmp_path / "out"
    end_while_reading(["pdecode", "-f", "parquet", "-o", out, "-"], out, signal.SIGTERM)
    assert content(out) == {}


def test_a_signal_leaves_older_files(run_pdecode, tmp_path):
    assert run_pdecode(["-f", "parquet", "-o", tmp_path, CHAINS]).returncode == 0
    older = content(tmp_path)
    end_while_reading(["pdecode", "-f", "parquet", "-o", tmp_path, "-"], tmp_path, signal.SIGTERM)
    assert content(tmp_path) == older


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_a_failure_leaves_older_files(run_pdecode, tmp_path):
    assert run_pdecode(["-f", "parquet", "-o", tmp_path, CHAINS]).returncode == 0
    older = content(tmp_path)
    done = run_pdecode(["-f", "parquet", "-o", tmp_path, BASIC], preexec_fn=limit_files)
    assert done.returncode == 4 and done.stderr.count(b"\n") == 1, done.stderr
    assert content(tmp_path) == older


def test_a_failure_removes_its_directory(run_pdecode, tmp_path):
    out = tmp_path / "out"
    done = run_pdecode(["-f", "parquet", "-o", out, BASIC], preexec_fn=limit_files)
    assert done.returncode == 4 and not out.exists()


def test_the_mark_is_renamed_last(run_pdecode, tmp_path):
    """A directory comes in the way of one file: the older mark is gone, and there is no new one."""
    assert run_pdecode(["-f", "parquet", "-o", tmp_path, CHAINS]).returncode == 0
    files = len(list(tmp_path.iterdir()))
    with reading(["pdecode", "-f", "parquet", "-o", tmp_path, "-"], tmp_path, files) as process:
        (tmp_path / "symbols.parquet").unlink()
        (tmp_path / "symbols.parquet").mkdir()
        _, errors = process.communicate(RECORDING[4096:], TIMEOUT)
    assert process.returncode == 4 and b"symbols.parquet: Is a directory" in errors
    assert not (tmp_path / "files.parquet").exists()


@pytest.mark.parametrize("mode, want", [(0o644, 0o644), (0o440, 0o640), (0o600, 0o600)],
                         ids=["usual", "read only", "own"])
def test_files_are_readable_as_the_recording(mode, want, run_pdecode, tmp_path):
    recording, out = tmp_path / "perf.data", tmp_path / "out"
    recording.write_bytes(CHAINS.read_bytes())
    recording.chmod(mode)
    done = run_pdecode(["-f", "parquet", "-o", out, recording], umask=0o022)
    assert done.returncode == 0
    assert {path.stat().st_mode & 0o777 for path in out.iterdir()} == {want}
