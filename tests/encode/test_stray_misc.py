"""MMAP2 records of Linux before 6.19 that have an inode and, left from another event's record, the
misc bit MMAP_BUILD_ID: they are shown with the inode, and the same bytes come back."""
import json

import pytest

from encoding import document, pencode
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from perfdata.wire import Wire, encode

BUILD_ID = r.MISC_MMAP_BUILD_ID


def attr_with(*flags):
    return Attr(type=1, config=0, sample_period=1, sample_type="IP|TID|TIME",
                flags=("sample_id_all", *flags))


def marked(attr, order, maj, inode, generation):
    blob = encode(r.mmap2(5, 5, 0x10000, 0x1000, 0, maj, 3, inode, generation, 5, 2, "/a",
                          sid=sample_id(attr, pid=5, tid=5, time=10)), Wire(order))
    misc = r.MISC_USER | BUILD_ID
    return lambda wire: blob[:4] + misc.to_bytes(2, {"<": "little", ">": "big"}[order]) + blob[6:]


def shown(attr, order, *inode):
    data = File(attrs=[(attr, [1])], records=[marked(attr, order, *inode), sample(
        attr, ip=0x10010, pid=5, tid=5, time=11)]).build(order)
    text = json.dumps(document(data, "--blobs", "full")).encode()
    assert pencode(text) == data
    record, _ = document(data)["records"]
    assert record["misc_flags"] == ["MMAP_BUILD_ID"] and record["filename"] == "/a"
    return record


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("inode", [(254, 5, 9), (8, 2**40 + 5, 0), (259, 7, 1)])
def test_an_inode(order, inode):
    record = shown(attr_with(), order, *inode)
    assert (record["maj"], record["ino"], record["ino_generation"]) == inode
    assert record["min"] == 3 and "build_id" not in record and "build_id_size" not in record


@pytest.mark.parametrize("attr, inode", [(attr_with("build_id"), (254, 5, 9)),
                                         (attr_with(), (8, 0, 0))], ids=["asked for", "no doubt"])
def test_a_build_id(attr, inode):
    """Events that ask for build ids have them, and what may be one stays one."""
    record = shown(attr, "<", *inode)
    assert record["build_id_size"] == inode[0] and "ino" not in record
