"""Files of more than 2 GiB, beyond a 32-bit offset. They consist mostly of a hole."""
import json
import os
import struct
import subprocess

import pytest

from conftest import TOOLS, strict_json
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.wire import fstr

GIB = 1 << 30
HOLE = 3 * GIB
HOSTNAME = 3
DATA = 40       # the data section's offset and size in the file header


@pytest.fixture(scope="module")
def small():
    return File(attrs=[(Attr(), [42])],
                records=[r.comm(1, 1, "before"), r.auxtrace(b""), r.comm(2, 2, "after")],
                features={HOSTNAME: fstr("box")}).build("<")


@pytest.fixture(scope="module")
def large(small, tmp_path_factory):
    """The small file with 3 GiB of zeros as AUX data."""
    path = tmp_path_factory.mktemp("large") / "perf.data"
    offset, size = struct.unpack_from("<QQ", small, DATA)
    comm = struct.unpack_from("<H", small, offset + 6)[0]
    aux_size = offset + comm + 8
    hole_at = offset + comm + struct.unpack_from("<H", small, offset + comm + 6)[0]
    head = bytearray(small[:hole_at])
    struct.pack_into("<Q", head, DATA + 8, size + HOLE)
    struct.pack_into("<Q", head, aux_size, HOLE)
    rest = bytearray(small[hole_at:])
    table = offset + size - hole_at
    struct.pack_into("<Q", rest, table, struct.unpack_from("<Q", rest, table)[0] + HOLE)
    with path.open("wb") as file:
        file.write(head)
        file.seek(HOLE, os.SEEK_CUR)
        file.write(rest)
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("the file system of the temporary directory has no holes")
    yield path
    path.unlink()


def test_pdecode_reads_the_data_after_the_hole(run_pdecode, large):
    done = run_pdecode(["--blobs=omit", large])
    document = strict_json(done.stdout)
    assert done.returncode == 0, done.stderr
    assert ([record["comm"] for record in document["records"] if record["type"] == "COMM"]
            == ["before", "after"])
    assert document["features"]["HOSTNAME"] == "box"


def test_pencode_writes_after_a_hole(run_pdecode, small, tmp_path):
    """The data section and the sections after it are moved by 3 GiB; the bytes before are a gap."""
    plain = tmp_path / "small.data"
    plain.write_bytes(small)
    document = strict_json(run_pdecode([plain]).stdout)
    file = document["file"]
    file["size"] += HOLE
    file["data_offset"] += HOLE
    for section in file["sections"]:
        if section["name"] in ("data", "feature_table", "HOSTNAME"):
            section["offset"] += HOLE
    moved = tmp_path / "moved.data"
    subprocess.run([TOOLS / "pencode", "-o", moved], input=json.dumps(document).encode(),
                   check=True)
    offset, size = struct.unpack_from("<QQ", small, DATA)
    with moved.open("rb") as written:
        assert struct.unpack_from("<QQ", written.read(104), DATA) == (offset + HOLE, size)
        written.seek(offset + HOLE)
        assert written.read(size) == small[offset:offset + size]
    assert moved.stat().st_size == len(small) + HOLE
