"""Names out of recordings of simpleperf: features SIMPLEPERF_FILE and SIMPLEPERF_FILE2."""
import json

import pytest

from perfdata import records as r
from perfdata.container import File
from perfdata.sample import sample_id
from perfdata.wire import Wire, encode, u32
from simpleperf_sections import (
    DEX, ELF, FILE, FILE2, KERNEL_FILE, MODULE, UNKNOWN, message, protobuf, section)
from test_symbols import EVENT, IN_KERNEL, KERNEL, hit

NAME = {FILE: "plain", FILE2: "protobuf"}
PATH = "/system/lib64/libmine.so"
SYMBOLS = [(0x3100, 0x20, b"_ZN1a1bEv"), (0x3200, 0x10, b"c")]
LIBRARY = (PATH.encode(), ELF, 0x3040, SYMBOLS, 0x2040)


class Device:
    """Recordings of simpleperf, on a machine without the files."""

    def __init__(self, run, where):
        self.run, self.path = run, where / "s.data"

    def lines(self, records, number, files, order="<", cut=None, options=()):
        made = encode(section(number, files), Wire(order))
        file = File(attrs=[(EVENT, [1])], records=records, features={number: made[:cut]})
        self.path.write_bytes(file.build(order))
        done = self.run(["-f", "jsonl", "--symbols", *options, self.path])
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def frames(self, *args, **options):
        return [frame for line in self.lines(*args, **options) if line.get("type") == "SAMPLE"
                for frame in line["frames"]]

    def names(self, *args, **options):
        return [frame.get("symbol") or frame["why"] for frame in self.frames(*args, **options)]


@pytest.fixture
def device(run_pdecode, tmp_path):
    return Device(run_pdecode, tmp_path)


both = pytest.mark.parametrize("number", NAME, ids=NAME.get)


def mapped(name=PATH, at=0x10000, ino=5):
    return r.mmap2(7, 7, at, 0x4000, 0x2000, 8, 1, ino, 0, 5, 2, name,
                   sid=sample_id(EVENT, pid=7, tid=7, time=1))


def in_kernel(name, at, size, pgoff):
    return r.mmap(-1, 0, at, size, pgoff, name, misc=IN_KERNEL, sid=sample_id(EVENT))


@pytest.mark.sanitize
@both
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("options", [[], ["--no-inline"], ["--lines"]], ids=" ".join)
def test_a_library(options, number, order, device):
    """Its symbols are at addresses, the map has offsets."""
    records = [mapped(), *(hit(0x10000 + at) for at in (0x110, 0x11f, 0x120, 0x200))]
    files = [(b"/other", ELF, 0, [(0x2110, 1, b"wrong")], 0), LIBRARY]
    frames = device.frames(records, number, files, order, options=options)
    assert [(frame.get("symbol"), frame.get("offset"), frame.get("why")) for frame in frames] == [
        ("a::b", 0x10, None), ("a::b", 0x1f, None), (None, None, "NO_FILE"), ("c", 0, None)]


@both
def test_the_source_is_told(number, device):
    lines = device.lines([mapped(), hit(0x10110)], number, [LIBRARY])
    image = next(line for line in lines if line["kind"] == "image")
    assert image["sources"] == ["SIMPLEPERF"] and "why" not in image


@both
def test_the_kernel_and_a_module(number, device):
    """Symbols of the kernel are where they were, those of a module relative to its memory."""
    module = KERNEL + 0x40000000
    files = [(b"[kernel.kallsyms]", KERNEL_FILE, 0, [(KERNEL + 0x1000, 0x100, b"do_it")], None),
             (b"/vendor/m.ko", MODULE, 0x400, [(0x500, 0x40, b"starts")], 0x1000)]
    records = [in_kernel("[kernel.kallsyms]", KERNEL, 0x1000000, 0),
               in_kernel("/vendor/m.ko", module, 0x8000, 0), hit(KERNEL + 0x1010, misc=IN_KERNEL),
               hit(module + 0x1104, misc=IN_KERNEL), hit(module + 0x504, misc=IN_KERNEL)]
    frames = device.frames(records, number, files)
    assert [(frame.get("symbol"), frame.get("offset")) for frame in frames] == [
        ("do_it", 0x10), ("starts", 4), (None, None)]


@both
def test_java(number, device):
    """Methods of dex files are at offsets. Names of Java are shown as they are."""
    name = b"com.mine.Main$1.run"
    files = [(b"/data/base.vdex", DEX, 0, [(0x2100, 0x20, name)], None)]
    frame, = device.frames([mapped("/data/base.vdex"), hit(0x10104)], number, files)
    assert (frame["symbol"], frame["offset"]) == (name.decode(), 4)


@both
@pytest.mark.parametrize("file", [
    (PATH.encode(), ELF, 0x3040, SYMBOLS, None), (PATH.encode(), UNKNOWN, 0x3040, SYMBOLS, None),
    (b"libmine.so", ELF, 0x3040, SYMBOLS, 0x2040)],
    ids=["without the offset of its code", "unknown type", "another path"])
def test_uncertain_names_are_not_shown(file, number, device):
    assert device.names([mapped(), hit(0x10110)], number, [file]) == ["NO_FILE"]


@both
def test_two_files_of_one_path(number, device):
    """Either could be the one that the names are of."""
    records = [mapped(), mapped(at=0x20000, ino=6), hit(0x10110), hit(0x20110)]
    assert device.names(records, number, [LIBRARY]) == ["NO_FILE"] * 2
    assert device.names([mapped(), mapped(at=0x20000), hit(0x10110), hit(0x20110)], number,
                        [LIBRARY]) == ["a::b"] * 2


@pytest.mark.sanitize
@both
def test_damage(number, device):
    """A section that ends early has no names of the entry that is cut."""
    files = [LIBRARY, (b"/other", ELF, 0x10, [(0x40, 0x10, b"d")], 0)]
    records = [mapped(), hit(0x10110), mapped("/other", 0x20000), hit(0x20000 + 0x2000 - 0x2000)]
    whole = len(encode(section(number, files), Wire()))
    first = len(encode(section(number, files[:1]), Wire()))
    for cut in range(0, whole, 3):
        names = device.names(records, number, files, cut=cut)
        assert names[0] == ("a::b" if cut >= first else "NO_FILE")


@pytest.mark.sanitize
def test_a_damaged_protobuf(device):
    """Numbers without an end, unknown fields, sizes beyond the end."""
    for more, there in ((message((9, 5), (10, b"new")), True), (b"\x4d\1\2\3\4", True),
                        (b"\x49" + bytes(8), True), (b"\x4b", False),
                        (b"\x48" + b"\xff" * 11, False),
                        (b"\x22\x7f", False), (b"\x22\2\x0a\x7f", False)):
        entry = protobuf(*LIBRARY) + more
        file = File(attrs=[(EVENT, [1])], records=[mapped(), hit(0x10110)],
                    features={FILE2: [u32(len(entry)), entry]})
        device.path.write_bytes(file.build("<"))
        done = device.run(["-f", "jsonl", "--symbols", device.path])
        assert done.returncode == 0 and ('"a::b"' in done.stdout.decode()) == there, more
