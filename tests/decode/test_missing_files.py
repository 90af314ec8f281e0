"""The last file of a directory is missing: with --threads there is one for each CPU."""
import json
import shutil

import pytest

from conftest import FIXTURES
from encoding import document, pdecode, pencode

pytestmark = pytest.mark.sanitize

PERF = FIXTURES / "perf"


@pytest.fixture(name="directory", params=["20-threads", "96-zstd-threads"])
def _directory(request, tmp_path):
    path = tmp_path / "directory"
    shutil.copytree(PERF / f"{request.param}.data", path)
    return path


def errors_of(path):
    code, text = pdecode(path)
    found = json.loads(text)
    assert found["file"]["complete"] is (code == 0)
    return code, [(e.get("file"), e["code"]) for e in found["errors"]]


def test_a_cpu_without_a_file(directory):
    assert errors_of(directory) == (0, [])
    (directory / "data.1").unlink()
    assert errors_of(directory) == (1, [("data.1", "IO")])


@pytest.mark.parametrize("arguments", [
    ["perf", "record"], ["perf", "record", "--threads=core"],
    ["perf", "record", "--threads", "-C", "0"], ["perf", "record", "--threads", "--cpu=0"]])
def test_fewer_files_than_cpus(directory, arguments):
    """They may be all."""
    main = directory / "data"
    doc = document(main)
    doc["features"]["CMDLINE"] = arguments
    main.write_bytes(pencode(doc))
    (directory / "data.1").unlink()
    assert errors_of(directory) == (0, [])
