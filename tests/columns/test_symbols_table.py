"""The table symbols: the functions that pdecode --symbols gives to frames, in the JSON and here."""
import re
import subprocess
import time

import pytest

from arrow_reader import read_arrow
from cfi_builder import X86_64, Cfi, def_cfa, elf, undefined
from conftest import FIXTURES, strict_json_lines
from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from perfdata.wire import fstr
from stacks import BITS, PC, SP, STACK, words
from test_columns import rows

SECOND = 10**9
BASE = 0x555500000000
USER_MARK = 2**64 - 512
EVENT = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME|CALLCHAIN",
             flags=("sample_id_all", "use_clockid"), clockid=1)
SOURCE = r"""
static inline __attribute__((always_inline)) int inner(int x) { return x * 7 + 3; }
__attribute__((noinline)) int outer(int x) { return inner(x + 1) ^ x; }
int main(int argc, char **argv) { (void)argv; return outer(argc) + 1; }
"""


def written(path, attr, records, shift=100):
    """A recording whose clock is tied to wall time, after all files here were written."""
    features = {NUMBER["ARCH"]: fstr(b"x86_64"),
                NUMBER["CLOCK_DATA"]: f.clock_data(1, (int(time.time()) + shift) * SECOND,
                                                   9 * SECOND),
                NUMBER["SAMPLE_TIME"]: f.sample_time(9 * SECOND, 9 * SECOND)}
    path.write_bytes(File(attrs=[(attr, [1])], records=records, features=features).build("<"))
    return path


def mapped(attr, path, size):
    return r.mmap2(7, 7, BASE, size, 0, 8, 1, 99, 0, 5, 2, str(path),
                   sid=sample_id(attr, pid=7, tid=7, time=1))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A recording with a sample at each byte of outer(), and one in no map."""
    top = tmp_path_factory.mktemp("program")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O2", "-o", top / "app", top / "p.c"], check=True)
    names = subprocess.run(["nm", "-S", top / "app"], check=True, capture_output=True, text=True)
    found = re.search(r"(\w+) (\w+) T outer", names.stdout)
    start, size = (int(part, 16) for part in found.groups())
    hits = [sample(EVENT, 2, ip=at, pid=7, tid=7, time=9 * SECOND,
                   callchain=[USER_MARK, at, BASE + start + 1])
            for at in [*range(BASE + start, BASE + start + size), BASE - 4096]]
    return written(top / "s.data", EVENT, [mapped(EVENT, top / "app", 0x10000), *hits])


@pytest.fixture
def copied(tmp_path):
    """Function: a recording with copied stacks of three functions, of which the inner one is always
    at the same place, and the others have these offsets."""
    cfi = Cfi(X86_64).fde(0x1100, 0x100).fde(0x1200, 0x100, def_cfa(SP[X86_64], 24))
    image = tmp_path / "image"
    image.write_bytes(elf(cfi.fde(0x1300, 0x100, undefined(cfi.ra()))))
    bits = BITS[X86_64]
    attr = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME|CALLCHAIN|REGS_USER|STACK_USER",
                flags=("sample_id_all", "use_clockid"), clockid=1, sample_stack_user=64,
                sample_regs_user=1 << bits[SP[X86_64]] | 1 << bits[PC[X86_64]])
    registers = {bits[PC[X86_64]]: BASE + 0x1100, bits[SP[X86_64]]: STACK}

    def hit(time, outer, outermost):
        stack = words(BASE + outer, 0, 0, BASE + outermost, width=8).ljust(64, b"\0")
        return sample(attr, 2, ip=BASE + 0x1100, pid=7, tid=7, time=time, callchain=[],
                      regs_user=[value for _, value in sorted(registers.items())], user_abi=2,
                      stack_user=stack)

    def copied(*offsets):
        hits = [hit(9 * SECOND + i, *pair) for i, pair in enumerate(offsets)]
        return written(tmp_path / "u.data", attr, [mapped(attr, image, 0x20000), *hits])
    return copied


@pytest.fixture
def unwound(copied):
    """A sample with a copied stack of three functions."""
    return copied((0x1208, 0x1308))


def tables_of(run_pdecode, path, *options):
    def table(name):
        done = run_pdecode(["-f", "arrow", "--table", name, *options, path])
        assert done.returncode == 0, done.stderr
        return read_arrow(done.stdout)[0]
    return {name: table(name) for name in ("samples", "stacks", "frames", "symbols")}


def chains_of(found):
    """For each sample the functions of each frame: [(name, file, line)], innermost first; or why
    there are none."""
    names = {}
    for row in rows(found["symbols"]):
        assert row["depth"] == len(names.setdefault(row["frame"], []))
        assert (row["function"] is None) == (row["why"] is not None)
        names[row["frame"]].append((row["function"], row["file"], row["line"])
                                   if row["function"] else row["why"])
    return [[names[frame] for frame in found["stacks"]["frames"][stack]
             if found["frames"]["kind"][frame] != "marker"]
            for stack in found["samples"]["stack"]]


def wanted(run_pdecode, path, *options):
    """The same from the JSON."""
    def functions(frame):
        if "symbol" not in frame:
            return [frame["why"]]
        return [(part.get("symbol"), part.get("file"), part.get("line"))
                for part in [*frame.get("inlined", []), frame]]
    done = run_pdecode(["-f", "jsonl", *options, path])
    return [[functions(frame) for frame in line["frames"]]
            for line in strict_json_lines(done.stdout) if line.get("type") == "SAMPLE"]


@pytest.mark.parametrize("options", [["--symbols", "--lines"], ["--symbols"],
                                     ["--symbols", "--no-inline"]], ids=" ".join)
def test_functions_are_those_of_the_json(options, program, run_pdecode):
    have, want = chains_of(tables_of(run_pdecode, program, *options)), wanted(
        run_pdecode, program, *options)
    assert have == want and ["NO_MAP"] in want[-1] and want[0][0][-1][0] == "outer"
    inlined = [chain for chain in want if len(chain[0]) == 2]
    assert bool(inlined) == ("--no-inline" not in options)
    assert any(part[2] for chain in inlined for part in chain[0]) == ("--lines" in options)


@pytest.mark.parametrize("shift, marked", [(100, False), (-86400, True)])
def test_names_of_files_that_may_be_others(shift, marked, program, run_pdecode, tmp_path):
    """A file that is younger than the recording is used because the user wants it, and marked."""
    top = program.parent
    names = subprocess.run(["nm", top / "app"], check=True, capture_output=True, text=True).stdout
    at = BASE + int(re.search(r"(\w+) T outer", names)[1], 16)
    hits = [sample(EVENT, 2, ip=ip, pid=7, tid=7, time=9 * SECOND, callchain=[USER_MARK, ip])
            for ip in (at, BASE - 4096)]
    path = written(tmp_path / "s.data", EVENT, [mapped(EVENT, top / "app", 0x10000), *hits], shift)
    found = tables_of(run_pdecode, path, "--symbols", "--unverified", "always")["symbols"]
    assert {(row["function"], row["unverified"]) for row in rows(found) if not row["depth"]} == {
        ("outer", marked), (None, False)}


def test_files_that_are_not_here_are_a_reason(run_pdecode):
    path = FIXTURES / "perf" / "02-callgraph-fp.data"
    found = tables_of(run_pdecode, path, "--symbols")
    code = [i for i, kind in enumerate(found["frames"]["kind"]) if kind != "marker"]
    assert sorted(set(found["symbols"]["frame"])) == code
    assert "NO_FILE" in found["symbols"]["why"]


def without_names(symbols):
    return len({row["frame"] for row in rows(symbols) if row["function"] is None})


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_frames_without_a_name_are_reported(form, program, run_pdecode, tmp_path):
    """Each frame of the table once; with --symbols-strict they are status 1."""
    args = ["-f", form, *(["--table", "symbols"] if form == "arrow" else ["-o", tmp_path / "t"]),
            "--symbols"]
    found = tables_of(run_pdecode, program, "--symbols")["symbols"]
    nr = without_names(found)
    said = f"{nr} of {len(set(found['frame']))} frames {'has' if nr == 1 else 'have'} no name"
    loose, strict = (run_pdecode([*args, *more, program]) for more in ([], ["--symbols-strict"]))
    assert (loose.returncode, strict.returncode) == (0, 1) and nr > 0
    assert said in loose.stderr.decode() and loose.stderr == strict.stderr


def test_strict_where_nothing_is_without_a_name(program, run_pdecode):
    done = run_pdecode(["-f", "arrow", "--table", "symbols", "--symbols", "--symbols-strict",
                        "--time", "1,2", program])
    assert done.returncode == 0 and b"frames" not in done.stderr


def test_copied_stacks_are_unwound(unwound, run_pdecode):
    found = tables_of(run_pdecode, unwound, "--symbols")
    assert [[found["frames"]["offset"][frame] for frame in frames]
            for frames in found["stacks"]["frames"]] == [[0x1100, 0x1208, 0x1308]]
    assert found["stacks"]["depth"] == [3]
    assert found["frames"]["exact"] == [True, False, False] and found["samples"]["frame"] == [0]
    assert tables_of(run_pdecode, unwound)["stacks"]["frames"] == [[]]


def test_copies_of_other_stacks_at_one_place(copied, run_pdecode):
    pairs = [(0x1208, 0x1308), (0x1210, 0x1308), (0x1208, 0x1308), (0x1208, 0x1318)]
    found = tables_of(run_pdecode, copied(*pairs), "--symbols")
    stacks = [[found["frames"]["offset"][frame] for frame in frames]
              for frames in found["stacks"]["frames"]]
    assert [stacks[stack] for stack in found["samples"]["stack"]] == [
        [0x1100, *pair] for pair in pairs]


def test_without_symbols_the_table_is_empty(program, run_pdecode):
    found = tables_of(run_pdecode, program)
    assert found["symbols"]["frame"] == [] and found["frames"]["frame"]


@pytest.mark.parametrize("option, words", [
    ("--symbols=table", "'--symbols' fills the table symbols"),
    ("--symbols-strict", "add '--table symbols'"),
    ("--linkage-names", "does not apply to tables")])
def test_usage(option, words, program, run_pdecode):
    done = run_pdecode(["-f", "arrow", "--symbols", option, program])
    assert done.returncode == 2 and words in done.stderr.decode()
