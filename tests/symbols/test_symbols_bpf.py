"""Source lines of BPF programs, from the recording alone."""
import json
import os
import shutil
import struct
import subprocess
import sys

import pytest

from conftest import ROOT, TIMEOUT, TOOLS
from perfdata import features as f
from perfdata import records as r
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample_id
from perfdata.wire import u32, u64
from rights import needs
from test_symbols import EVENT, IN_KERNEL, KERNEL, hit
from test_symbols import symbols as symbols_fixture

symbols = symbols_fixture       # a fixture

CODE, OTHER = KERNEL + 0x40000000, KERNEL + 0x50000000
TAGS = bytes(range(8)), bytes(range(8, 16))
STRINGS = b"\0/src/one.c\0/src/two.c\0"
ONE, TWO = 1, 12
SIZE = 0x40
ALL = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8    # the arrays that lines need
# (function, offset, number of the instruction, file, line): of each function in order
LINES = [(0, 0, 0, ONE, 10), (0, 8, 1, ONE, 11), (0, 8, 2, ONE, 12), (0, 0x20, 5, TWO, 7),
         (1, 0, 6, ONE, 20), (1, 4, 7, 0, 21)]


def btf(order, strings=STRINGS):
    return struct.pack(f"{order}HBBIIIII", 0xeb9f, 1, 0, 24, 0, 0, 0, len(strings)) + strings


def program(order, starts=(CODE, OTHER), tags=TAGS, lines=LINES, btf_id=5, **more):
    """The program with its arrays, which start with addresses; lines are in the byte order of the
    machine that is recorded."""
    info = {"nr_jited_ksyms": len(starts), "nr_jited_func_lens": len(starts),
            "btf_id": btf_id, "nr_line_info": len(lines), "nr_jited_line_info": len(lines),
            "line_info_rec_size": 16, "jited_line_info_rec_size": 8, "nr_prog_tags": len(tags)}
    sizes = [SIZE] * len(starts) + [0] * (len(starts) % 2)
    rows = b"".join(struct.pack(f"{order}IIII", instruction, file, 0, line << 10 | 3)
                    for _, _, instruction, file, line in lines)
    places = b"".join(struct.pack(f"{order}Q", starts[function] + offset)
                      for function, offset, *_ in lines)
    return (f.bpf_info.part(**(info | more)), ALL,
            [u64(*starts), u32(*sizes), rows, places, b"".join(tags)])


def symbol_record(start, tag, size=SIZE):
    return r.ksymbol(start, size, 1, 0, f"bpf_prog_{tag.hex()}_mine",
                     sid=sample_id(EVENT, time=1))


def features(order, programs, blobs=None):
    return {"BPF_PROG_INFO": f.bpf_prog_info(programs),
            "BPF_BTF": f.bpf_btf([(5, blobs if blobs is not None else btf(order))])}


def places(symbols, addresses, programs, order="<", blobs=None, options=("--lines",),
           records=(symbol_record(CODE, TAGS[0]), symbol_record(OTHER, TAGS[1]))):
    """(file, line) of each address. The first is not a return address, the others are."""
    samples = [hit(address, misc=IN_KERNEL) for address in addresses]
    frames = symbols.frames([*records, *samples], *options, order=order,
                            more=features(order, programs, blobs))
    assert all(frame["symbol"].startswith("bpf_prog_") for sample in frames for frame in sample)
    return [(frame.get("file"), frame.get("line")) for sample in frames for frame in sample]


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
def test_lines_of_each_function(order, symbols):
    """The last of several lines at an address is that of the instruction there. A line without a
    file is none."""
    expected = {CODE: ("/src/one.c", 10), CODE + 7: ("/src/one.c", 10),
                CODE + 8: ("/src/one.c", 12), CODE + 0x1f: ("/src/one.c", 12),
                CODE + 0x20: ("/src/two.c", 7), CODE + SIZE - 1: ("/src/two.c", 7),
                OTHER: ("/src/one.c", 20), OTHER + 4: (None, None)}
    assert places(symbols, expected, [program(order)], order) == list(expected.values())
    assert places(symbols, expected, [program(order)], order, options=()) == (
        [(None, None)] * len(expected))


@pytest.mark.sanitize
def test_return_addresses_have_the_line_of_the_call(symbols):
    sample = hit(OTHER, CODE + 0x20, misc=IN_KERNEL)
    frames = symbols.frames([symbol_record(CODE, TAGS[0]), symbol_record(OTHER, TAGS[1]), sample],
                            "--lines", more=features("<", [program("<")]))[0]
    assert [frame.get("line") for frame in frames] == [20, 12]


@pytest.mark.sanitize
def test_converted_recordings(symbols, tmp_path):
    """BTF and lines keep the byte order of their machine."""
    places(symbols, [CODE], [program("<")])
    text = subprocess.run([TOOLS / "pdecode", "--blobs", "full", symbols.path],
                          stdout=subprocess.PIPE, check=True).stdout
    other = tmp_path / "other.data"
    done = subprocess.run([TOOLS / "pencode", "--byte-order", "big", "-o", other], input=text,
                          stderr=subprocess.PIPE)
    assert other.exists(), done.stderr
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", "--lines", other],
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    frame, = [line["frames"][0] for line in map(json.loads, lines) if line.get("type") == "SAMPLE"]
    assert (frame["file"], frame["line"]) == ("/src/one.c", 10)


@pytest.mark.sanitize
def test_a_program_that_took_the_place_of_another(symbols):
    """The tag tells which one it is."""
    first = program("<", (CODE,), TAGS[:1], LINES[:1])
    second = program("<", (CODE,), TAGS[1:], [(0, 0, 0, TWO, 99)])
    for tag, place in ((TAGS[0], ("/src/one.c", 10)), (TAGS[1], ("/src/two.c", 99)),
                       (bytes(8), (None, None))):
        for programs in ([first, second], [second, first]):
            assert places(symbols, [CODE], programs,
                          records=[symbol_record(CODE, tag)]) == [place]
    assert places(symbols, [CODE], [first], records=[symbol_record(CODE - 4, TAGS[0])]) == [
        (None, None)]


@pytest.mark.sanitize
def test_a_function_ends_where_its_code_does(symbols):
    records = [symbol_record(CODE, TAGS[0], 2 * SIZE)]
    assert places(symbols, [CODE + SIZE - 1, CODE + SIZE], [program("<")], records=records) == [
        ("/src/two.c", 7), (None, None)]


@pytest.mark.sanitize
@pytest.mark.parametrize("more, blobs", [
    ({"btf_id": 6}, None), ({"btf_id": 0}, None), ({"line_info_rec_size": 15}, None),
    ({"jited_line_info_rec_size": 4}, None), ({"nr_line_info": 2**31}, None),
    ({"nr_jited_line_info": 0}, None), ({"nr_prog_tags": 0}, None), ({}, b""), ({}, b"\x9f"),
    ({}, btf("<")[:23]), ({}, btf("<")[:-1]), ({}, b"\0" * 64)],
    ids=lambda value: str(value)[:30])
def test_damage_leaves_names(more, blobs, symbols):
    """No lines, or only those that are there."""
    records = [symbol_record(CODE, TAGS[0]), hit(CODE, misc=IN_KERNEL)]
    info, arrays, data = program("<", **{"btf_id": 5} | more)
    lines = symbols.run(["-f", "jsonl", "--symbols", "--lines", write(
        symbols, records, features("<", [(info, arrays, data)], blobs))]).stdout.splitlines()
    frame, = [line["frames"][0] for line in map(json.loads, lines) if line.get("type") == "SAMPLE"]
    assert frame["symbol"].startswith("bpf_prog_") and "file" not in frame


def write(symbols, records, more):
    """Damaged features make pdecode exit with 1."""
    file = File(attrs=[(EVENT, [1])], records=records,
                features={NUMBER[name]: feature for name, feature in more.items()})
    symbols.path.write_bytes(file.build("<"))
    return symbols.path


# --- a program that runs --------------------------------------------------------------------------

COUNTED = r"""
#line 100 "/src/counted.c"
#define IN_XDP __attribute__((section("xdp")))
static int inner(unsigned long x);

IN_XDP int outer(void *ctx)
{
	return inner(((unsigned int *)ctx)[3]) & 1;
}

IN_XDP __attribute__((noinline)) static int inner(unsigned long x)
{
	volatile unsigned long sum = x;

	for (int i = 0; i < 2000; i++) {
		sum += i ^ x;
		sum ^= x;
	}
	return (int)sum;
}
"""


@needs("root", "machine")
@pytest.mark.parametrize("recorder", ["precord", "perf"])
def test_lines_of_a_program_that_runs(recorder, tmp_path):
    """The compiler's lines, in a loop and at a call."""
    clang, recorder = shutil.which("clang"), shutil.which(str(TOOLS / recorder)) or shutil.which(
        recorder)
    if not clang or not recorder or os.uname().machine != "x86_64":
        pytest.skip("needs clang, this recorder, and x86_64")
    (tmp_path / "counted.c").write_text(COUNTED)
    subprocess.run([clang, "-target", "bpf", "-g", "-O2", "-c", "-o", tmp_path / "counted.o",
                    tmp_path / "counted.c"], check=True)
    running = subprocess.Popen([sys.executable, "-c", f"""
import sys
sys.path.insert(0, {str(ROOT / "tests" / "support")!r})
import bpf_programs
bpf_programs.run_compiled({str(tmp_path / "counted.o")!r}, lambda: print("ready", flush=True))
"""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if running.stdout.readline() != "ready\n":
            pytest.skip(f"no BPF program can be run here: {running.stderr.read()}")
        record = [recorder, "record"] if recorder.endswith("/perf") else [recorder]
        subprocess.run([*record, "-e", "cpu-clock", "-F", "1000", "-g", "-a", "-o",
                        tmp_path / "p.data", "--", "sleep", "1"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=TIMEOUT)
    finally:
        running.kill()
        running.communicate()
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", "--lines",
                            tmp_path / "p.data"], stdout=subprocess.PIPE, check=True).stdout
    found = {"inner": [], "outer": []}
    for line in map(json.loads, lines.splitlines()):
        for frame in line["frames"] if line.get("type") == "SAMPLE" else []:
            name = frame.get("symbol", "").split("_", 3)
            if name[:2] == ["bpf", "prog"] and name[3:] and name[3] in found:
                found[name[3]].append((frame.get("file"), frame.get("line")))
    assert len(found["inner"]) > 20 and len(found["outer"]) > 20
    assert set(found["outer"]) == {("/src/counted.c", 105)}
    loop = {("/src/counted.c", line) for line in (112, 113, 114)}
    # some processors stop for a timer only where they wait for memory
    assert len(loop & set(found["inner"])) > 1
    assert sum(place in loop for place in found["inner"]) > 0.95 * len(found["inner"])
