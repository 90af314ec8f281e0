"""pdecode --symbols of samples with copied stacks: unwound, and joined with the kernel's part."""
import json
import os
import random
import re
import struct
import subprocess
import time

import pytest

from cfi_builder import AARCH64, EH_FRAME, I386, WORD, X86_64, Cfi, def_cfa, elf, saved, undefined
from conftest import TOOLS, strict_json_lines
from lbr import build_id
from perfdata import features as f
from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample, sample_id
from perfdata.wire import Wire, encode, fstr
from profiles import folded, preport
from same_length import zip_all
from schema_check import complaints
from stacks import BITS, PC, SP, STACK, words

SECOND = 10**9
BASE = 0x7FF000000000
F, G, H = 0x1100, 0x1200, 0x1300  # functions of 0x100 bytes
KERNEL_MARK, USER_MARK = 2**64 - 128, 2**64 - 512
IN_KERNEL, IN_USER = 1, 2
LR = 30
FP = 5                              # of i386, as DWARF numbers it


class Machine:
    """An image of a machine, where F calls nothing, G has pushed two words, and H is outermost; and
    its recordings."""

    def __init__(self, number, run, where):
        self.run, self.image, self.path = run, where / "image", where / "stacks.data"
        self.number, self.abi = number, 1 if number == I386 else 2
        self.base = BASE if WORD[number] == 8 else 0x8000000
        self.arch = {X86_64: b"x86_64", I386: b"x86_64", AARCH64: b"aarch64"}[number]
        more = def_cfa(SP[number], 3 * WORD[number]) if number != AARCH64 else (
            def_cfa(31, 32) + saved(LR, 3))
        cfi = Cfi(number).fde(F, 0x100).fde(G, 0x100, more)
        self.image.write_bytes(elf(cfi.fde(H, 0x100, undefined(cfi.ra()))))
        registers = (SP[number], PC[number]) + ((LR, ) if number == AARCH64 else ())
        mask = sum(1 << BITS[number][reg] for reg in registers)
        self.attr = Attr(type=1,
                         sample_period=1,
                         sample_type="IP|TID|TIME|CALLCHAIN|REGS_USER|STACK_USER",
                         flags=("sample_id_all", "use_clockid"),
                         clockid=1,
                         sample_regs_user=mask,
                         sample_stack_user=64)

    def at(self, address):
        return self.base + address

    def stack(self, *values):
        return words(*values, width=WORD[self.number]).ljust(64, b"\0")

    def usual(self):
        """The stack of F, which G called, which H called."""
        ra, caller = self.at(G + 8), self.at(H + 8)
        if self.number == AARCH64:
            return self.stack(0, caller, 0, 0)
        return self.stack(ra, 0, 0, caller)

    def registers(self, pc):
        values = {PC[self.number]: pc, SP[self.number]: STACK, LR: self.at(G + 8)}
        bits = BITS[self.number]
        mine = [(bits[reg], value) for reg, value in values.items() if reg in bits]
        return [value for bit, value in sorted(mine) if self.attr.sample_regs_user >> bit & 1]

    def sample(self, stack, misc=IN_USER, ip=None, chain=(), pid=7, second=9, **more):
        pc = self.at(F)
        return sample(self.attr, misc, ip=ip or pc, pid=pid, tid=pid, time=second * SECOND,
                      callchain=chain, regs_user=self.registers(pc), user_abi=self.abi,
                      stack_user=stack, **more)

    def map(self, path, size=0x20000, second=0):
        return r.mmap2(7, 7, self.base, size, 0, 8, 1, 99, 0, 5, 2, str(path),
                       sid=sample_id(self.attr, pid=7, tid=7, time=second * SECOND + 1))

    def write(self, *samples, size=0x20000):
        now = int(time.time()) + 100
        features = {NUMBER["ARCH"]: fstr(self.arch),
                    NUMBER["CLOCK_DATA"]: f.clock_data(1, now * SECOND, 9 * SECOND),
                    NUMBER["SAMPLE_TIME"]: f.sample_time(9 * SECOND, 900 * SECOND)}
        file = File(attrs=[(self.attr, [1])], records=[self.map(self.image, size), *samples],
                    features=features)
        self.path.write_bytes(file.build("<"))

    def lines(self, *samples, options=(), size=0x20000):
        self.write(*samples, size=size)
        done = self.run(["-f", "jsonl", "--symbols", *options, self.path])
        assert done.returncode == 0, done.stderr
        lines = strict_json_lines(done.stdout)
        assert not [text for line in lines for text in complaints("line.schema.json", line)]
        return lines

    def chains(self, *samples, **more):
        """[(end, [(address, whether it is a return address)])]; addresses of the image from its
        start."""
        return [(line.get("stack_end"),
                 [(int(frame["addr"], 16) - (self.base if "image" in frame else 0),
                   frame.get("return_address", False)) for frame in line["frames"]])
                for line in self.lines(*samples, **more) if line.get("type") == "SAMPLE"]


@pytest.fixture(params=[X86_64, I386, AARCH64], ids=["x86_64", "i386", "aarch64"])
def any_machine(request, run_pdecode, tmp_path):
    return Machine(request.param, run_pdecode, tmp_path)


@pytest.fixture
def machine(run_pdecode, tmp_path):
    return Machine(X86_64, run_pdecode, tmp_path)


USUAL = [(F, False), (G + 8, True), (H + 8, True)]


@pytest.mark.sanitize
def test_stacks_are_unwound_after_the_kernel_part(any_machine):
    m, kernel = any_machine, 0xFFFFFFFF81000000
    in_user = m.sample(m.usual())
    in_kernel = m.sample(m.usual(), IN_KERNEL, ip=kernel, chain=[KERNEL_MARK, kernel, kernel + 64])
    assert m.chains(in_user, in_kernel) == [
        ("BOTTOM", USUAL), ("BOTTOM", [(kernel, False), (kernel + 64, True), *USUAL])]


def test_the_mode_of_the_user_part_is_stated(machine):
    kernel = machine.sample(machine.usual(), IN_KERNEL, ip=2**64 - 4096 * 16, chain=[])
    frames = next(line["frames"] for line in machine.lines(kernel) if "frames" in line)
    assert [frame.get("cpumode") for frame in frames] == [None, "USER", "USER", "USER"]


def test_an_unwound_stack_replaces_the_recorded_user_chain(machine):
    chain = [USER_MARK, machine.at(F), machine.at(H + 8)]
    assert machine.chains(machine.sample(machine.usual(), chain=chain)) == [("BOTTOM", USUAL)]


def test_ends(machine):
    m = machine
    cut, lost = m.stack(m.at(G + 8), 0, 0)[:24], m.stack(m.at(0x40000))
    assert m.chains(m.sample(cut), m.sample(lost), m.sample(m.stack(m.at(0x9000))),
                    m.sample(m.stack(0))) == [
        ("STACK_CUT", USUAL[:2]),
        ("NO_MAP", [(F, False), (m.at(0x40000), True)]),
        ("NO_CFI", [(F, False), (0x9000, True)]),
        ("BOTTOM", USUAL[:1])]
    done = m.run(["--symbols", m.path])
    assert b"1 of 4 copied stacks are cut; copy more, up to precord --call-graph" in done.stderr
    ends = json.loads(done.stdout)["summary"]["frames"]["stack_ends"]
    assert ends == {"BOTTOM": 1, "NO_CFI": 1, "NO_MAP": 1, "STACK_CUT": 1}


@pytest.mark.sanitize
def test_code_entered_as_if_it_had_been_called(machine):
    """No call is before the return address, but padding, as with makecontext(). Nothing has pushed
    another one there: after its own, glibc has the next context on the stack."""
    m = machine
    assert m.chains(m.sample(m.stack(m.at(F), m.at(H + 8)))) == [
        ("BOTTOM", [(F, False), (F, True)])]


def test_advice_for_copied_stacks(machine):
    """Frame pointers have not misled them."""
    machine.lines(machine.sample(machine.stack(machine.at(0x40000))))
    done = machine.run(["--symbols", machine.path])
    assert b"2 of 2 frames have no name, 1 of them because of NO_MAP\n" in done.stderr


def test_places_hold_as_long_as_nothing_else_is_mapped(machine):
    m = machine
    first, second, third = (m.sample(m.usual(), second=at) for at in (9, 11, 13))
    unmapped = ("NO_FILE", [(F, False)])
    found = m.chains(third, first, second, first, m.map("/nowhere", second=10),
                     m.map(m.image, second=12))
    assert found == [("BOTTOM", USUAL), ("BOTTOM", USUAL), unmapped, ("BOTTOM", USUAL)]


def test_places_are_those_of_the_process(machine):
    """64 processes are kept, by number."""
    m = machine
    found = m.chains(*(m.sample(m.usual(), pid=pid) for pid in (7, 7 + 64, 7, 8)))
    unmapped = ("NO_MAP", [(m.at(F), False)])
    assert found == [("BOTTOM", USUAL), unmapped, ("BOTTOM", USUAL), unmapped]


@pytest.mark.parametrize("whole, share", [(98, "1.0"), (99, "1.0"), (100, None)])
def test_short_copies_are_a_doubt_of_preport_from_one_percent_on(machine, whole, share):
    m = machine
    cut = m.stack(m.at(G + 8), 0, 0)[:24]
    m.lines(m.sample(cut), *[m.sample(m.usual()) for _ in range(whole)])
    out = preport(m.path, symbols=()).decode()
    told = re.search(r"^(\S+) % of the stacks reach beyond .*--call-graph dwarf,256$", out, re.M)
    assert (told and told[1]) == share
    assert "stacks: 1.0 % cut" in out       # those that end at the outermost function are whole


@pytest.mark.parametrize("copied, told", [
    (8192, "beyond what was copied of them: record with --call-graph dwarf,32768"),
    (16384, "beyond what was copied of them: record with --call-graph dwarf,65528"),
    (65528, "beyond the 65528 bytes that can be copied of them: --call-graph fp has no such "
            "limit")])
def test_the_advice_for_short_copies_is_a_larger_one(machine, copied, told):
    machine.attr.sample_stack_user = copied
    machine.lines(machine.sample(machine.stack(machine.at(G + 8), 0, 0)[:24]))
    assert f"\n100.0 % of the stacks reach {told}\n" in preport(machine.path,
                                                               symbols=()).decode()


def test_preport_unwinds_at_most_so_many_frames(machine):
    machine.lines(machine.sample(machine.usual()))
    for most, frames in (0, 3), (3, 3), (2, 2), (1, 1):
        out = preport("-f", "folded", "--max-frames", most, machine.path, symbols=())
        assert len(out.split(b";")) == 1 + frames


def test_files_at_which_stacks_are_cut_are_a_doubt_of_preport(machine):
    def told(*options):
        out = preport(*options, machine.path, symbols=()).decode()
        return re.findall(r"^100.0 % of the stacks are cut at a file (.*)$", out, re.M)
    machine.lines(machine.sample(machine.usual()))
    assert told() == []
    assert told("--unverified=no") == [
        "that nothing shows to be the recorded one: --unverified always uses it"]
    machine.write(r.mmap2_build_id(7, 7, machine.base, 0x20000, 0, b"\1" * 20, 5, 2,
                                   str(machine.image),
                                   sid=sample_id(machine.attr, pid=7, tid=7, time=2)),
                  machine.sample(machine.usual()))
    assert told() == ["that is another build here: --debug-dir DIR has the recorded one"]
    machine.image.unlink()
    assert told() == ["that is not here: --sysroot DIR has the other machine's"]


def test_without_the_file_only_the_address_is_known(machine):
    stack = machine.sample(machine.usual())
    assert machine.chains(stack, options=["--unverified", "no"]) == [("MISMATCH", USUAL[:1])]
    machine.image.rename(machine.image.with_name("other"))
    assert machine.chains(stack) == [("NO_FILE", USUAL[:1])]
    machine.image.write_bytes(b"\x7fELF no more")
    assert machine.chains(stack, options=["--unverified", "no"])[0][1] == USUAL[:1]


def test_without_a_stack_nothing_is_unwound(machine):
    none = machine.sample(b"", chain=[USER_MARK, machine.at(F), machine.at(H + 8)])
    kernel_thread = sample(machine.attr, IN_KERNEL, ip=1, pid=7, tid=7, time=9 * SECOND,
                           callchain=[KERNEL_MARK, 1], user_abi=0)
    assert machine.chains(none, kernel_thread) == [
        (None, [(F, False), (H + 8, True)]), (None, [(1, False)])]


def test_the_machine_by_the_files(any_machine):
    """A recorder that was killed has not written which one it is."""
    m = any_machine
    m.arch = b""
    assert m.chains(m.sample(m.usual())) == [("BOTTOM", USUAL)]


def test_the_machine_by_all_its_registers(machine):
    """Without any file: what is missing is the file, not support for the machine."""
    machine.arch = b""
    machine.image.unlink()
    bits = [bit for bit in range(24) if 0xff0fff >> bit & 1]
    machine.attr.sample_regs_user = 0xff0fff
    pc = machine.at(F)
    known = {BITS[X86_64][PC[X86_64]]: pc, BITS[X86_64][SP[X86_64]]: STACK}
    only = sample(machine.attr, IN_USER, ip=pc, pid=7, tid=7, time=9 * SECOND, user_abi=2,
                  regs_user=[known.get(bit, 0) for bit in bits], stack_user=machine.usual())
    assert machine.chains(only) == [("NO_FILE", [(F, False)])]


def test_registers_of_another_machine_than_the_files(machine):
    """x86 has none with that number."""
    machine.arch = b""
    machine.attr.sample_regs_user |= 1 << 24
    pc = machine.at(F)
    other = sample(machine.attr, IN_USER, ip=pc, pid=7, tid=7, time=9 * SECOND, user_abi=2,
                   regs_user=[*machine.registers(pc), 0], stack_user=machine.usual())
    assert machine.chains(other) == [("NO_ARCH", [(F, False)])]


@pytest.mark.parametrize("arch", [b"riscv64", b"s390x", b"ppc64le", b"arm"])
def test_stacks_of_other_machines_say_so(arch, run_pdecode, tmp_path):
    """Nothing is unwound, for the registers are unknown; frames are those that the kernel found."""
    m = Machine(X86_64, run_pdecode, tmp_path)
    m.arch = arch
    samples = [m.sample(m.usual()), m.sample(b"", chain=[USER_MARK, m.at(F), m.at(H + 8)])]
    assert m.chains(*samples) == [("NO_ARCH", [(F, False)]), (None, [(F, False), (H + 8, True)])]
    done = m.run(["-f", "jsonl", "--symbols=names", m.path])
    assert b'"stack_ends":{"NO_ARCH":1}' in done.stdout
    assert b"1 of 1 copied stacks are of a machine that is not known, or not" in done.stderr
    m.write(m.sample(m.usual()))
    table = subprocess.run([TOOLS / "preport", m.path], capture_output=True, text=True)
    assert "stacks: 100.0 % cut" in table.stdout
    assert ("100.0 % of the stacks were copied, but those of this machine are not unwound: "
            "record with --call-graph fp\n") in table.stdout
    assert "record with -g" not in table.stdout and "one function" not in table.stdout


def test_resolve_alone_unwinds_nothing(machine):
    machine.lines(machine.sample(machine.usual()))
    done = machine.run(["-f", "jsonl", "--resolve", machine.path])
    line = next(line for line in strict_json_lines(done.stdout) if "frames" in line)
    assert len(line["frames"]) == 1 and "stack_end" not in line


def jit_dump(machine, *records, flags=0):
    """A dump of records: (number, time, body)."""
    return struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, machine, 0, 7, 0, flags) + b"".join(
        struct.pack("<IIQ", number, 16 + len(body), second * SECOND) + body
        for number, second, body in records)


def jit_frames(size, program, padding=0):
    """Call frame information of code that it follows."""
    cfi = Cfi(X86_64).fde(EH_FRAME - (size + 7) // 8 * 8, size, program)
    frames = cfi.section()[0] + bytes(padding)
    return struct.pack("<QQQ", len(frames) + 4, 4, 0) + frames + b"head"


def jit_code(at, size, index):
    return struct.pack("<IIQQQQ", 7, 7, at, at, size, index) + b"jit\0" + bytes(size)


@pytest.mark.sanitize
@pytest.mark.parametrize("number", [X86_64, 0])     # Python 3.13 leaves it out
def test_jit_code_is_unwound_by_its_jitdump(number, machine, tmp_path):
    if not number and os.uname().machine != "x86_64":
        pytest.skip("code without a machine is of this one")
    m, jit, path = machine, 0x10010, tmp_path / "jit-7.dump"
    sid = sample_id(m.attr, pid=7, tid=7, time=1)
    maps = [r.mmap2(7, 7, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon", sid=sid),
            r.mmap2(7, 7, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path), sid=sid)]

    def write(padding=0):
        path.write_bytes(jit_dump(
            number, (4, 2, jit_frames(0x25, def_cfa(7, 16))), (0, 2, jit_code(jit, 0x25, 0)),
            (1, 3, struct.pack("<IIQQQQQ", 7, 7, 0x10210, jit, 0x10210, 0x25, 0)),
            (4, 6, jit_frames(0x40, def_cfa(7, 24), padding)), (0, 6, jit_code(jit, 0x40, 1)),
            (0, 6, jit_code(0x10300, 0x40, 2))))
        os.utime(path, (time.time() + 200, ) * 2)
    write()
    caller = m.at(H + 8)
    samples = [m.sample(m.stack(jit + 8, 0, 0, caller), second=9),
               m.sample(m.stack(jit + 8, 0, caller), second=5),
               m.sample(m.stack(jit + 0x28, 0, 0, caller), second=9),
               m.sample(m.stack(0x10218, 0, caller), second=9),
               m.sample(m.stack(0x10308, 0, caller), second=9),
               m.sample(m.stack(jit + 8, 0, 0, caller), second=9)]
    chains = m.chains(*maps, *samples)
    assert [end for end, _ in chains] == ["BOTTOM"] * 4 + ["NO_CFI", "BOTTOM"]
    assert all(chain[-1] == (H + 8, True) and len(chain) == 3
               for end, chain in chains if end == "BOTTOM")
    done = m.run(["-f", "jsonl", "--symbols", m.path])
    assert b"1 of 6 copied stacks end in code without call frame information" in done.stderr
    out = preport(m.path, symbols=()).decode()
    assert "\n16.7 % of the stacks are cut in JIT code, as it keeps no frame pointers: java" in out
    write(padding=1 << 16)              # no compiler writes as much
    assert [end for end, _ in m.chains(*maps, *samples)][:2] == ["NO_CFI", "BOTTOM"]


def test_wrong_cfi_tells_where_its_function_begins(machine):
    """By a pointer it is called, and it has no symbol."""
    cfi = Cfi(X86_64).fde(F, 0x100, def_cfa(7, 0)).fde(G, 0x100, def_cfa(7, 24))
    image = bytearray(elf(cfi.fde(H, 0x100, undefined(cfi.ra()))))
    for function in G, H:
        image[function + 6:function + 8] = b"\xff\xd0"
    machine.image.write_bytes(image)
    assert machine.chains(machine.sample(machine.usual())) == [("BOTTOM", USUAL)]


@pytest.mark.parametrize("second, third, end", [
    (24, 24, "BOTTOM"), (16, 24, "NO_CFI"), (24, 16, "NO_CFI"), (24, None, "NO_CFI")])
def test_jit_code_whose_time_is_not_known(second, third, end, machine, tmp_path):
    """The dump's clock is not that of the records. Where all code has the same row, that counts."""
    m, jit, path = machine, 0x10010, tmp_path / "jit-7.dump"
    sid = sample_id(m.attr, pid=7, tid=7, time=1)
    maps = [r.mmap2(7, 7, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon", sid=sid),
            r.mmap2(7, 7, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path), sid=sid)]
    records = []
    for index, (size, offset) in enumerate([(0x40, 24), (0x25, second), (0x30, third)]):
        if offset is not None:
            records.append((4, index, jit_frames(size, def_cfa(7, offset))))
        records.append((0, index, jit_code(jit, size, index)))
    path.write_bytes(jit_dump(X86_64, *records, flags=1))
    os.utime(path, (time.time() + 200, ) * 2)
    (found, chain), = m.chains(*maps, m.sample(m.stack(jit + 8, 0, 0, m.at(H + 8))))
    assert (found, chain[-1]) == (end, (H + 8, True) if end == "BOTTOM" else (
        jit + 8 - m.base, True))


def test_jit_code_that_a_guess_leads_to(machine, tmp_path):
    """A jitdump says where the code is, and a guess believes it: its call is not looked for."""
    m, jit, path, fp = machine, 0x10010, tmp_path / "jit-7.dump", 6
    m.attr.sample_regs_user |= 1 << BITS[X86_64][fp]
    with open(m.image, "r+b") as file:
        file.seek(H + 3)
        file.write(b"\xe8\x10\0\0\0")
    sid = sample_id(m.attr, pid=7, tid=7, time=1)
    maps = [r.mmap2(7, 7, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon", sid=sid),
            r.mmap2(7, 7, 0x90000, 0x1000, 0, 8, 1, 99, 0, 5, 2, str(path), sid=sid)]
    path.write_bytes(jit_dump(
        X86_64, (4, 2, jit_frames(0x40, def_cfa(7, 24))), (0, 2, jit_code(jit, 0x40, 0)),
        (0, 2, jit_code(0x10300, 0x40, 1))))
    os.utime(path, (time.time() + 200, ) * 2)
    values = {PC[X86_64]: m.at(F), SP[X86_64]: STACK, fp: STACK + 16}
    registers = [value for _, value in sorted((BITS[X86_64][reg], value)
                                              for reg, value in values.items())]
    stack = m.stack(0x10308, 0, 0, jit + 8, 0, 0, m.at(H + 8))
    assert m.chains(*maps, sample(
        m.attr, IN_USER, ip=m.at(F), pid=7, tid=7, time=9 * SECOND, user_abi=2,
        regs_user=registers, stack_user=stack)) == [
            ("BOTTOM", [(F, False), (0x10308 - m.base, True), (jit + 8 - m.base, True),
                        (H + 8, True)])]


@pytest.mark.sanitize
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="code of other machines is other code")
@pytest.mark.parametrize("size, name, end", [
    (11, "py::f:/a.py", "BOTTOM"), (15, "py::f:/a.py", "BOTTOM"), (16, "py::f", "BOTTOM"),
    (11, "py:f", "NO_CFI"), (11, "py", "NO_CFI")])
def test_code_of_python_is_known(size, name, end, machine):
    """It has no frame pointer: sub $8, %rsp; call *%rcx; add $8, %rsp; ret."""
    m, pid, code = machine, random.randrange(3_000_000, 4_000_000), 0x10010
    sid = sample_id(m.attr, pid=pid, tid=pid, time=1)
    maps = [r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 5, 2, "//anon", sid=sid),
            r.mmap2(pid, pid, m.base, 0x20000, 0, 8, 1, 99, 0, 5, 2, str(m.image), sid=sid)]
    path = f"/tmp/perf-{pid}.map"
    with open(path, "x", encoding="ascii") as file:
        file.write(f"{code:x} {size:x} {name}\n")
    try:
        os.utime(path, (time.time() + 200, ) * 2)
        inside = m.sample(m.stack(code + 6, 0, m.at(H + 8)), pid=pid)
        (found, chain), = m.chains(*maps, inside)
        assert (found, chain[2:]) == (end, [(H + 8, True)] if end == "BOTTOM" else [])
    finally:
        os.unlink(path)


def test_the_vdso_of_32_bits_has_frame_pointers(run_pdecode, tmp_path):
    """It is in no file, and not that of 64 bits."""
    m = Machine(I386, run_pdecode, tmp_path)
    low = 0xf7f00000
    m.attr.sample_regs_user |= 1 << BITS[I386][FP]
    with open(m.image, "r+b") as file:      # a guess goes on where there are calls
        for function in G, H:
            file.seek(function + 3)
            file.write(b"\xe8\x10\0\0\0")
    vdso = r.mmap2(7, 7, low, 0x2000, 0, 0, 0, 0, 0, 5, 2, "[vdso]",
                   sid=sample_id(m.attr, pid=7, tid=7, time=1))
    values = {PC[I386]: low + 0x600, SP[I386]: STACK, FP: STACK + 4}
    registers = [value for _, value in sorted((BITS[I386][reg], value)
                                              for reg, value in values.items())]
    at = sample(m.attr, IN_USER, ip=low + 0x600, pid=7, tid=7, time=9 * SECOND, user_abi=1,
                regs_user=registers, stack_user=m.stack(1, 2, m.at(G + 8), 0, 0, m.at(H + 8)))
    line = next(line for line in m.lines(vdso, at) if line.get("type") == "SAMPLE")
    assert line["stack_end"] == "BOTTOM"
    assert [(int(frame["addr"], 16), frame.get("guessed", False)) for frame in line["frames"]] == [
        (low + 0x600, False), (m.at(G + 8), True), (m.at(H + 8), True)]


def test_the_leaf_that_frame_pointers_miss(run_pdecode, tmp_path):
    """F has its return address in the link register only, so the kernel's chain lacks G."""
    m = Machine(AARCH64, run_pdecode, tmp_path)
    chain = [USER_MARK, m.at(F), m.at(H + 8)]
    assert m.chains(m.sample(b"", chain=chain)) == [(None, USUAL)]


def test_threads_write_the_same(machine):
    samples = [machine.sample(machine.usual(), period=i) for i in range(300)]
    machine.lines(*samples)
    outputs = [machine.run(["-f", "jsonl", "--symbols", "-j", str(n), machine.path]).stdout
               for n in (1, 4)]
    assert outputs[0] == outputs[1] and outputs[0].count(b"BOTTOM") == 301
    assert b'"stack_ends":{"BOTTOM":300}' in outputs[0]


# --- forms ---


def by_kind(lines):
    found = {}
    for line in lines:
        found.setdefault(line.get("type", line["kind"]), []).append(line)
    return found


def test_a_table_has_each_frame_once(machine):
    samples = [machine.sample(machine.usual()), machine.sample(machine.stack(machine.at(0x40000))),
               machine.sample(machine.usual())]
    full = by_kind(machine.lines(*samples))["SAMPLE"]
    table = by_kind(machine.lines(*samples, options=["--symbols=table"]))
    rows = {row.pop("id"): row for row in table["frame"]}
    assert list(rows) == ["0:1100", "0:1208r", "0:1308r", "NO_MAP:7ff000040000r"]
    for one, other in zip_all(full, table["SAMPLE"]):
        frames = one.pop("frames")
        for frame, row in zip_all(frames, map(rows.get, other.pop("frame_ids"))):
            if "image" in frame:
                del frame["addr"]
            assert {**frame, "kind": "frame"} == row
        assert one == other


def test_a_table_tells_an_interrupted_address_from_a_return_address(machine):
    """Their functions can differ: the call of the latter is before it."""
    m = machine
    same = sample(m.attr, IN_USER, ip=m.at(G), pid=7, tid=7, time=9 * SECOND,
                  callchain=[USER_MARK, m.at(G), m.at(G)], user_abi=0)
    table = by_kind(m.lines(same, options=["--symbols=table"]))
    assert table["SAMPLE"][0]["frame_ids"] == ["0:1200", "0:1200r"]
    assert [row.get("function") for row in table["frame"]] == ["0x1200", "0x1100"]


def test_the_table_of_a_document_and_of_threads(machine):
    samples = [machine.sample(machine.usual(), period=i) for i in range(300)]
    lines = machine.lines(*samples, options=["--symbols=table", "-j", "4"])
    document = json.loads(machine.run(["--symbols=table", "-j", "1", machine.path]).stdout)
    rows = [row for row in lines if row["kind"] == "frame"]
    assert [{**row, "kind": "frame"} for row in document["frames"]] == rows and len(rows) == 3
    assert not complaints("document.schema.json", document)


def test_names_alone(machine):
    """Without a name, a frame says what the code is."""
    line = by_kind(machine.lines(machine.sample(machine.usual()),
                                 options=["--symbols=names"]))["SAMPLE"][0]
    assert line["frames"][0] == {
        "addr": hex(machine.at(F)), "file_offset": hex(F), "image": 0, "dso": str(machine.image),
        "function": hex(F), "why": "NO_SYMBOLS"}


def test_an_unknown_form(run_pdecode, tmp_path):
    done = run_pdecode(["--symbols=short", tmp_path / "none"])
    assert done.returncode == 2 and b"must be full, table or names" in done.stderr


def test_a_limit_of_frames(machine):
    assert machine.chains(machine.sample(machine.usual()), options=["--max-frames", "2"]) == [
        ("MAX_FRAMES", USUAL[:2])]


@pytest.mark.parametrize("form", ["full", "table", "names"])
def test_strict_fails_for_a_frame_without_a_name(machine, form):
    machine.lines(machine.sample(machine.usual()))
    done = machine.run([f"--symbols={form}", "--symbols-strict", machine.path])
    assert done.returncode == 1
    assert b"3 of 3 frames have no name, 3 of them because of NO_SYMBOLS" in done.stderr
    assert machine.run(["--symbols-strict", machine.path]).returncode == 2


def test_threads_of_preport_give_the_same_stacks(machine):
    """Copied stacks are divided by their bytes: these are too few records for two threads."""
    def one(i):
        stack = [machine.usual(), machine.stack(machine.at(H + 8))][i % 7 == 6]
        in_f = sample(machine.attr, IN_USER, ip=machine.at(F), pid=7, tid=7, time=9 * SECOND + i,
                      regs_user=machine.registers(machine.at(F + i)), user_abi=2,
                      stack_user=stack.ljust(8192, b"\0"))
        return encode(in_f, Wire("<"))

    machine.write(*[one(i) for i in range(100)] * 41, one(3))
    want = preport("-f", "folded", "--addrs", "-j1", machine.path, symbols=())
    stacks = folded(want)
    assert sum(stacks.values()) == 4101 and len(stacks) == 100
    for jobs in ("-j2", "-j3"):
        assert preport("-f", "folded", "--addrs", jobs, machine.path, symbols=()) == want


INLINED = """
static inline __attribute__((always_inline)) unsigned inner(unsigned x) { return x * x / (x | 9); }
__attribute__((noinline)) unsigned outer(const unsigned *p) { return inner(p[0]) ^ inner(p[1]); }
int main(int n, char **v) { unsigned a[2] = { n, n + 1 }; return (int)(outer(a) + outer(a)); }
"""


@pytest.mark.parametrize("tables", ["-fasynchronous-unwind-tables",
                                    "-fno-asynchronous-unwind-tables"])
def test_debug_information_is_opened_while_threads_unwind(tables, machine, tmp_path):
    """Unwinding needs no other section of it than .debug_frame."""
    source, program, debug = tmp_path / "it.c", tmp_path / "it", tmp_path / "debug"
    source.write_text(INLINED)
    subprocess.run(["gcc", "-O2", "-g", tables, "-Wl,--build-id", "-o", program, source],
                   check=True)
    lines = subprocess.run(["nm", "-S", program], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split("\n")
    (outer, size), (main, _) = [[int(number, 16) for number in line.split()[:2]]
                                for name in ("outer", "main")
                                for line in lines if line.endswith(f" T {name}")]
    place = debug / ".build-id" / build_id(program).hex()[:2]
    place.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", "--compress-debug-sections=zlib", program,
                    place / f"{build_id(program).hex()[2:]}.debug"], check=True)
    subprocess.run(["strip", "-o", machine.image, program], check=True)

    def one(i):
        in_outer = sample(machine.attr, IN_USER, ip=machine.at(outer + i), pid=7, tid=7,
                          time=9 * SECOND + i, user_abi=2,
                          regs_user=machine.registers(machine.at(outer + i)),
                          stack_user=words(machine.at(main + 8), width=8).ljust(8192, b"\0"))
        return encode(in_outer, Wire("<"))

    machine.write(*[one(i) for i in range(size)] * (4100 // size + 1), one(0))
    options = ("-f", "folded", "--inline", "--debug-dir", debug, machine.path)
    want = preport(*options, "-j1", symbols=())
    assert any(stack[-3:] == (b"main", b"outer", b"inner") for stack in folded(want))
    for jobs in ("-j2", "-j3"):
        assert preport(*options, jobs, symbols=()) == want


# --- call frame information that only debug information has ---

CALLS = """
volatile unsigned sink;
__attribute__((noinline)) void inner(unsigned n) { sink += n; __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void outer(unsigned n) { inner(n); sink++; }
int main(int n, char **v) { outer(n); sink++; return 0; }
"""


def without_eh_frame(where, *options):
    """A program whose functions are in .debug_frame only."""
    (where / "calls.c").write_text(CALLS)
    subprocess.run(["gcc", "-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                    "-Wl,--build-id", *options, "-o", where / "calls", where / "calls.c"],
                   check=True)
    return where / "calls"


@pytest.mark.parametrize("depth", ["--no-inline", "--lines"])
@pytest.mark.parametrize("where", ["here", "compressed", "separate", "separate, compressed",
                                   "compressed by zstd"])
def test_debug_frame_at_any_depth(where, depth, machine, tmp_path):
    program, debug, options = without_eh_frame(tmp_path), tmp_path / "debug", [depth]
    lines = subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split("\n")
    at = {line.split()[2]: int(line.split()[0], 16) for line in lines if " T " in line}
    if "compressed" in where:
        kind = "zstd" if "zstd" in where else "zlib"
        subprocess.run(["objcopy", f"--compress-debug-sections={kind}", program], check=True)
    if "separate" in where:
        place = debug / ".build-id" / build_id(program).hex()[:2]
        place.mkdir(parents=True)
        subprocess.run(["objcopy", "--only-keep-debug", program,
                        place / f"{build_id(program).hex()[2:]}.debug"], check=True)
        subprocess.run(["strip", "-g", program], check=True)
        options += ["--debug-dir", debug]
    program.rename(machine.image)
    ra = [machine.at(at[name] + 9) for name in ("outer", "main")]
    first = sample(machine.attr, IN_USER, ip=machine.at(at["inner"]), pid=7, tid=7,
                   time=9 * SECOND, user_abi=2,
                   regs_user=machine.registers(machine.at(at["inner"])),
                   stack_user=machine.stack(ra[0], ra[1], 0, 0))
    frames = next(line["frames"] for line in machine.lines(first, options=options)
                  if line.get("type") == "SAMPLE")
    assert [frame.get("symbol") for frame in frames[:3]] == ["inner", "outer", "main"]
    assert not any(frame.get("guessed") for frame in frames[:3])
