"""A recording of which one byte of the magic is damaged, or all are reversed, is read; other files
are not."""
import subprocess

import pytest

from conftest import TOOLS, strict_json
from perfdata.catalog import catalog

pytestmark = pytest.mark.sanitize
CATALOG = catalog()


@pytest.mark.parametrize("name", ["file.le", "file.be", "pipe.le", "pipe.be"])
@pytest.mark.parametrize("at", [0, 3, 7, "reversed"])
def test_a_damaged_byte_of_the_magic(at, name, run_pdecode, tmp_path):
    """The rest is decoded, the same bytes come back, and prepair corrects it."""
    intact = CATALOG[name].data
    data = bytearray(intact)
    if at == "reversed":
        data[:8] = data[7::-1]
    else:
        data[at] ^= 0x80
    before, path = strict_json(run_pdecode(["-"], input=intact).stdout), tmp_path / "perf.data"
    path.write_bytes(data)
    for args, given in (([path], b""), (["-"], bytes(data))):
        done = run_pdecode(args, input=given)
        document = strict_json(done.stdout)
        assert done.returncode == 1 and document["records"] == before["records"]
        assert [(error["code"], error["record"]) for error in document["errors"]] == [
            ("MAGIC", "header")]
        assert document["file"]["magic_hex"] == data[:8].hex()
        assert subprocess.run([TOOLS / "pencode"], input=done.stdout,
                              stdout=subprocess.PIPE).stdout == data
    done = subprocess.run([TOOLS / "prepair", "-o", tmp_path / "fixed", path])
    assert done.returncode == 1
    assert strict_json(run_pdecode([tmp_path / "fixed"]).stdout)["records"] == before["records"]


@pytest.mark.parametrize("damage", [
    {0: 0x50 ^ 1, 5: 0x20}, {8: 105}, {9: 1}, {15: 1}, {7: ord("3")}],
    ids=["two bytes", "size", "second byte of the size", "last byte of the size", "version"])
def test_not_a_damaged_magic(damage, run_pdecode):
    data = bytearray(CATALOG["file.le"].data)
    data[1] ^= 0x80 if 7 not in damage else 0
    for at, byte in damage.items():
        data[at] = byte
    done = run_pdecode(["-"], input=bytes(data))
    assert done.returncode == 3 and b"not a perf.data file" in done.stderr
