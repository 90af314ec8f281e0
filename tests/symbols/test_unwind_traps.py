"""The hard cases of call frame information, by hand: images are built byte by byte, stacks are a
few words."""
import struct

import pytest

from cfi_builder import (AARCH64, AND, DEREF, EH_FRAME, GE, I386, NEGATE_RA, PLT, PLUS, REMEMBER,
                         RESTORE, SHL, X86_64, Cfi, advance, at_expression, breg, cfa_expression,
                         cfa_offset, def_cfa, elf, header_table, in_register, is_expression, lit,
                         same, saved, undefined)
from stacks import STACK, head, image_line, run, stack_line, words

RBX, RBP, RSP, R12, R13, RIP = 3, 6, 7, 12, 13, 16
F, G, H = 0x1100, 0x1200, 0x1300  # functions of 0x100 bytes
BASE = 0x400000


@pytest.fixture
def made(tmp_path):
    """Function: answers to stacks over one image at address BASE."""
    def answers(image, *lines):
        (tmp_path / "image").write_bytes(image)
        return run(image_line(tmp_path / "image", BASE), *lines)

    return answers


def outermost(cfi, start=H):
    """A function whose return address is undefined."""
    return cfi.fde(start, 0x100, undefined(cfi.ra()))


def at(address):
    return BASE + address


def chain(end, *frames):
    """The line for frames given as address and flags: (F, "x")."""
    return " ".join([end, *(f"{at(address):x}{flags}" for address, flags in frames)])


# --- x86-64 ---


def plain(**options):
    """F calls nothing: its CFA is rsp + 8; G pushed two words; H is outermost."""
    return outermost(Cfi(**options).fde(F, 0x100).fde(G, 0x100, def_cfa(RSP, 24)))


def test_three_functions(made):
    stack = [at(G + 5), 0, 0, at(H + 5)]
    assert made(elf(plain()),
                stack_line(X86_64, at(F),
                           stack)) == [chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r"))]


@pytest.mark.parametrize("options", [
    {"augmentation": ""},
    {"augmentation": "eh"},
    {"augmentation": "zPLR"},
    {"augmentation": "zRB"},
    {"augmentation": "zRG"},
    {"augmentation": "zR", "encoding": 0},
    {"augmentation": "zR", "encoding": 0x1C},
    {"augmentation": "zR", "encoding": 3},
    {"augmentation": "zR", "encoding": 0x50},
    {"augmentation": "", "debug_frame": True, "version": 4},
    {"augmentation": "", "debug_frame": True, "version": 1},
    {"augmentation": "zR", "version": 3},
],
                         ids=str)
@pytest.mark.parametrize("table", [True, False])
def test_forms_of_entries(made, options, table):
    image = elf(plain(**options), table=table)
    assert made(image, stack_line(X86_64, at(F), [at(G + 5), 0, 0, at(H + 5)])) == [
        chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r"))
    ]


def test_a_call_at_the_end_of_a_function(made):
    """The return address is the start of the next function, or of none; the caller is the function
    before it."""
    cfi = outermost(Cfi().fde(F, 0x100).fde(G, 0x10, def_cfa(RSP,
                                                             24)).fde(G + 0x10, 0x10,
                                                                      def_cfa(RSP, 800)))
    assert made(elf(cfi),
                stack_line(X86_64, at(F), [at(G + 0x10), 0, 0, at(H + 0x100)])) == [
                    chain("BOTTOM", (F, "x"), (G + 0x10, "r"), (H + 0x100, "r"))
                ]


def test_ends(made):
    far = STACK + (64 << 20)
    cfi = plain().fde(0x1400, 0x100,
                      def_cfa(RBP, 16)).fde(0x1500, 0x100,
                                            def_cfa(RSP, 0)).fde(0x1600, 0x100, def_cfa(9, 8))
    lines = {
        stack_line(X86_64, at(F), [0]): "BOTTOM",
        stack_line(X86_64, at(F), []): "STACK_CUT",
        stack_line(X86_64, at(F), [], size=8192): "OTHER_STACK",  # the copy ends where memory does
        stack_line(X86_64, at(0x1400), [1, 2], {RBP: STACK + 4096}): "STACK_CUT",
        stack_line(X86_64, at(0x1400), [1, 2], {RBP: far}): "OTHER_STACK",
        stack_line(X86_64, at(0x1400), [1, 2], {RBP: STACK - 64}): "OTHER_STACK",
        stack_line(X86_64, at(0x1400), [1, 2]): "BAD_CFI",  # rbp was not recorded
        stack_line(X86_64, at(0x1600), [1, 2]): "BAD_CFI",
        stack_line(X86_64, at(F), [0x10]): f"NO_MAP {at(F):x}x 10r",
        stack_line(X86_64, at(0x7000), [1]): "NO_CFI",
        # Its return address lies below the stack pointer.
        stack_line(X86_64, at(0x1500), [1], {}): "OTHER_STACK",
        stack_line(X86_64, at(F), [at(0x1500) + 5, at(F) + 1]): "NO_PROGRESS",
    }
    for (line, expected), answer in zip(lines.items(), made(elf(cfi), *lines)):
        assert (answer == expected) if " " in expected else (answer.split()[0]
                                                             == expected), (line, answer)


def test_most_frames(made):
    recursion = stack_line(X86_64, at(F), [at(F + 1)] * 300)
    answers = made(elf(plain()), recursion, "options 10 5", recursion)
    assert [(line.split()[0], len(line.split()) - 1) for line in answers] == [("MAX_FRAMES", 127),
                                                                              ("MAX_FRAMES", 5)]


def test_no_file_and_another_build(tmp_path):
    assert run(image_line(tmp_path / "none", BASE), stack_line(X86_64, at(F),
                                                               [1, 2])) == [f"NO_FILE {at(F):x}x"]


def test_without_registers(made):
    assert made(elf(plain()), f"stack 3e 2 0 40 0 - {'00' * 64}", "stack 3e 0 ff01ff 0 0 - -",
                stack_line(X86_64, at(F), [], abi=7)) == ["-"] * 3


def test_an_unreadable_register_matters_where_it_is_needed(made):
    """F says that rbx and rbp are saved below the stack pointer; only the second caller needs
    rbp."""
    program = saved(RBX, 4) + saved(RBP, 5)
    cfi = outermost(Cfi().fde(F, 0x100,
                              program).fde(G, 0x100,
                                           def_cfa(RSP, 24)).fde(0x1400, 0x100, def_cfa(RBP, 16)))
    registers = {RBP: STACK, RBX: 1}
    assert made(elf(cfi), stack_line(X86_64, at(F), [at(G + 5), 0, 0, at(H + 5)], registers),
                stack_line(X86_64, at(F), [at(0x1405), 0, 0, at(H + 5)], registers)) == [
                    chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r")),
                    chain("OTHER_STACK", (F, "x"), (0x1405, "r"))
                ]


def test_epilogue_and_red_zone(made):
    """After a pop the register has its value again; what was saved in the red zone can't be read,
    also where several rows have it there.
    """
    needs_rbp = Cfi().fde(0x1400, 0x100, def_cfa(RBP, 16))
    popped = def_cfa(RSP, 8) + advance(1) + cfa_offset(16) + saved(RBP, 2) + advance(16)
    moved = def_cfa(RSP, 8) + advance(1) + saved(RBP, 2) + advance(16) + saved(RBX, 3)
    cfi = outermost(needs_rbp.fde(F, 0x100, popped + cfa_offset(8)).fde(G, 0x100, moved))
    stack = [at(0x1405), 0, at(H + 5)]
    lines = [
        stack_line(X86_64, at(pc), stack, {RBP: STACK + 8}) for pc in (F + 0x20, G + 8, G + 0x20)
    ]
    assert made(elf(cfi), *lines) == [
        chain("BOTTOM", (F + 0x20, "x"), (0x1405, "r"), (H + 5, "r")),
        chain("OTHER_STACK", (G + 8, "x"), (0x1405, "r")),
        chain("OTHER_STACK", (G + 0x20, "x"), (0x1405, "r")),
    ]


def test_registers_that_rules_do_not_keep(made):
    """The CFA of the second caller is r12 + 8, which the first function has saved; also from a
    cache that has the short rule."""
    cfi = outermost(Cfi().fde(F, 0x100,
                              def_cfa(RSP, 16) + saved(R12, 2)).fde(G, 0x100, def_cfa(R12, 8)))
    needs = stack_line(X86_64, at(F), [STACK + 24, at(G + 5), 0, at(H + 5)], {R12: 1})
    other = stack_line(X86_64, at(F), [STACK + 24, at(H + 5)], {R12: 1})
    good = chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r"))
    assert made(elf(cfi), needs, other, needs, "options 1 0", other, needs) == [
        good,
        chain("BOTTOM", (F, "x"), (H + 5, "r")), good,
        chain("BOTTOM", (F, "x"), (H + 5, "r")), good
    ]


def test_return_address_in_a_register(made):
    """As in glibc's vfork; r13 is not among those that rules keep."""
    cfi = outermost(Cfi().fde(F, 0x100,
                              def_cfa(RSP, 0) + in_register(RIP, 5)).fde(
                                  G, 0x100,
                                  def_cfa(RSP, 0) + in_register(RIP, R13)))
    assert made(elf(cfi), stack_line(X86_64, at(F), [], {5: at(H + 5)}),
                stack_line(X86_64, at(G), [], {R13: at(H + 5)}), stack_line(X86_64, at(G), [])) == [
                    chain("BOTTOM", (F, "x"), (H + 5, "r")),
                    chain("BOTTOM", (G, "x"), (H + 5, "r")),
                    chain("BAD_CFI", (G, "x"))
                ]


def test_realigned_stack(made):
    """The CFA is in memory at rbp - 8, as gcc does it; rbp is where an expression says."""
    program = cfa_expression(breg(RBP, -8) + DEREF) + at_expression(RBP, breg(RBP)) + saved(RIP, 1)
    cfi = outermost(Cfi().fde(F, 0x100, program).fde(G, 0x100, def_cfa(RBP, 16)))
    # rbp - 8 has the CFA, rbp the caller's rbp, below the CFA is the return address.
    stack = [0, STACK + 48, STACK + 56, 0, 0, at(G + 5), 0, 0, at(H + 5)]
    assert made(elf(cfi), stack_line(X86_64, at(F), stack, {RBP: STACK + 16})) == [
        chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r"))
    ]


def test_plt(made):
    """The linker's expression: from byte 11 of an entry on, a word more is on the stack."""
    expression = breg(RSP, 8) + breg(RIP) + lit(15) + AND + lit(11) + GE + lit(3) + SHL + PLUS
    cfi = outermost(Cfi().fde(F, 0x100, cfa_expression(expression)))
    longer = outermost(Cfi().fde(
        F, 0x100, cfa_expression(expression + b"\x96")))  # a nop: the same, not in short form
    lines = [
        stack_line(X86_64, at(F + 0x2A), [at(H + 5), 0]),
        stack_line(X86_64, at(F + 0x2B), [0, at(H + 5)])
    ]
    expected = [
        chain("BOTTOM", (F + 0x2A, "x"), (H + 5, "r")),
        chain("BOTTOM", (F + 0x2B, "x"), (H + 5, "r"))
    ]
    assert made(elf(cfi), *lines) == made(elf(longer), *lines) == expected


# The first entry and one more, as lld writes them; the same with landing pads: .plt, .plt.sec.
LAZY = bytes.fromhex("ff3502200000ff25042000000f1f4000 ff25022000006800000000e9e0ffffff")
PADS = bytes.fromhex("ff3502200000ff25042000000f1f4000 f30f1efa6800000000e9dfffffff0f1f"
                     "f30f1efaff25f61f0000660f1f440000 ff25f61f00006690ff25f61f00006690")


@pytest.mark.parametrize("machine", [X86_64, I386], ids=["x86-64", "i386"])
@pytest.mark.parametrize("plt, pushed", [
    (LAZY, {0: 1, 6: 2, 16: 0, 22: 0, 27: 1}),
    (PADS, {0: 1, 6: 2, 16: 0, 20: 0, 25: 1, 32: 0, 36: 0, 48: 0, 56: 0}),
], ids=["lazy", "pads"])  # yapf: disable
def test_plt_without_cfi(made, machine, plt, pushed):
    """lld and mold write none for it: instructions tell what is on the stack."""
    word = 8 if machine == X86_64 else 4
    cfi = outermost(Cfi(machine=machine).fde(G, 0x100, def_cfa(RSP if word == 8 else 4, 2 * word)))
    stacks = [[*range(1, n + 1), at(G + 5), 0, at(H + 5)] for n in pushed.values()]
    assert made(elf(cfi, plt=plt), *(stack_line(machine, at(PLT + offset), stack)
                                     for offset, stack in zip(pushed, stacks))) == [
        chain("BOTTOM", (PLT + offset, "x"), (G + 5, "r"), (H + 5, "r")) for offset in pushed
    ]


@pytest.mark.parametrize("offset", [1, 5, 12, 17, 23])
def test_a_plt_of_other_code(made, offset):
    """No instruction begins there, or it is none of a PLT."""
    plt = LAZY if offset < 20 else bytes(32)
    assert made(elf(plain(), plt=plt), stack_line(X86_64, at(PLT + offset), [at(H + 5)])) == [
        chain("NO_CFI", (PLT + offset, "x"))
    ]


def test_signal_frame(made):
    """As glibc's trampoline: every register by an expression; the interrupted address is exact,
    and may be a function's first."""
    restore = b"".join(
        at_expression(reg, breg(RSP, 8 * i)) for i, reg in enumerate((RBX, RBP, R12, RSP, RIP)))
    cfi = Cfi(augmentation="zRS").fde(F, 0x100, cfa_expression(breg(RSP, 24) + DEREF) + restore)
    other = Cfi().fde(G, 0x100, def_cfa(RSP, 16))
    image = elf(cfi)
    stack = [1, STACK + 40, 2, STACK + 40, at(F), at(F)]
    # Lying about the next sp ends the chain, not the process.
    answer = made(image, stack_line(X86_64, at(F + 1), stack))[0].split()
    assert answer[1:3] == [f"{at(F + 1):x}xs", f"{at(F):x}xs"]
    both = elf(outermost(other))
    assert made(both, stack_line(X86_64, at(G),
                                 [0, at(H + 5)])) == [chain("BOTTOM", (G, "x"), (H + 5, "r"))]


def test_the_end_of_a_signal_trampoline(made):
    """sigreturn does not come back, so the CFI ends with its call; a sample in the kernel has the
    address after it. It is not taken for that of a function that follows."""
    restore = at_expression(RSP, breg(RSP, 8)) + at_expression(RIP, breg(RSP, 0))
    cfi = Cfi(augmentation="zRS").fde(F, 9, cfa_expression(breg(RSP, 8) + DEREF) + restore)
    calls = outermost(Cfi()).fde(F, 0x10)
    stack = [at(0x1500), STACK + 16, at(H + 5)]
    assert made(elf(cfi), stack_line(X86_64, at(F + 9), stack),
                stack_line(X86_64, at(F + 10), stack)) == [
                    chain("NO_CFI", (F + 9, "r"), (0x1500, "x")), chain("NO_CFI", (F + 10, "x"))]
    assert made(elf(calls), stack_line(X86_64, at(F + 0x10), [at(H + 5)])) == [
        chain("NO_CFI", (F + 0x10, "x"))]


RT_SIGRETURN_64 = bytes.fromhex("48c7c00f000000 0f05")
RT_SIGRETURN_32 = bytes.fromhex("b8ad000000 cd80")
SIGRETURN_32 = bytes.fromhex("58 b877000000 cd80")
RT_SIGRETURN_ARM = bytes.fromhex("681180d2 010000d4")


@pytest.mark.parametrize("machine, code, place, sp, pc", [
    (X86_64, RT_SIGRETURN_64, 0, 20, 21), (X86_64, RT_SIGRETURN_64, 7, 20, 21),
    (I386, RT_SIGRETURN_32, 0, 47, 54), (I386, RT_SIGRETURN_32, 5, 47, 54),
    (I386, SIGRETURN_32, 0, 8, 15), (I386, SIGRETURN_32, 1, 7, 14), (I386, SIGRETURN_32, 6, 7, 14),
    (AARCH64, RT_SIGRETURN_ARM, 0, 70, 71), (AARCH64, RT_SIGRETURN_ARM, 4, 70, 71),
], ids=lambda value: value.hex() if isinstance(value, bytes) else value)  # yapf: disable
def test_a_signal_trampoline_without_cfi(machine, code, place, sp, pc, made):
    """As musl and Go have it. `sp` and `pc`: words from the stack pointer on."""
    cfa = {X86_64: def_cfa(RSP, 16), I386: def_cfa(4, 8), AARCH64: def_cfa(31, 16) + saved(30, 1)}
    word = 4 if machine == I386 else 8
    image = bytearray(elf(outermost(Cfi(machine=machine).fde(G, 0x100, cfa[machine]))))
    image[0x1600:0x1600 + len(code)] = code
    stack = [0] * 80 + [0, at(H + 5)]
    stack[sp], stack[pc] = STACK + 80 * word, at(G)
    answer = chain("BOTTOM", (0x1600 + place, "xs"), (G, "x"), (H + 5, "r"))
    assert made(bytes(image), stack_line(machine, at(0x1600 + place), stack)) == [answer]
    if place:
        return
    stack[sp] += 2 * word
    answer = chain("BOTTOM", (G + 4, "x"), (0x1600, "rs"), (G, "x"), (H + 5, "r"))
    assert made(bytes(image), stack_line(machine, at(G + 4), [0, at(0x1600), *stack])) == [answer]


def test_a_precise_sample_of_a_call(made):
    """PEBS gives the address of the call, and the registers after it."""
    line = stack_line(X86_64, at(G), [at(G + 5), 0, 0, at(H + 5)])
    other = stack_line(X86_64, at(G), [at(G), 0, at(H + 5)])
    precise = line.replace("stack", "precise", 1), other.replace("stack", "precise", 1)
    assert made(elf(plain()), line, *precise) == [
        chain("BOTTOM", (G, "x")),
        chain("BOTTOM", (G, "x"), (H + 5, "r")),
        chain("BOTTOM", (G, "x"), (H + 5, "r"))
    ]


JIT = BASE + 0x200000
CALL = b"\xe8\x10\0\0\0"


def test_code_without_cfi(made):
    """One frame-pointer step: into code, upwards, aligned, within the copy; all from there on is
    guessed, and must follow calls."""
    image = bytearray(elf(plain().fde(0x1400, 0x100, def_cfa(RBP, 16))))
    image[0x1400:0x1405] = image[H:H + 5] = CALL
    stack = [7, STACK + 32, at(0x1405), 7, STACK + 48, at(H + 5)]
    other = [7, STACK + 32, at(0x1405), 7, STACK + 48, at(H + 6)]
    unaligned = bytes(9) + words(STACK + 48, at(H + 5)) + bytes(64)
    assert made(bytes(image), image_line("//anon", JIT),
                stack_line(X86_64, JIT, stack, {RBP: STACK + 8}),
                stack_line(X86_64, JIT, other, {RBP: STACK + 8}),
                stack_line(X86_64, JIT, unaligned, {RBP: STACK + 9}),
                stack_line(X86_64, JIT, stack, {RBP: STACK + 9}),
                stack_line(X86_64, JIT, stack, {RBP: STACK - 8}),
                stack_line(X86_64, JIT, [0, 0x10], {RBP: STACK}),
                stack_line(X86_64, JIT, [0, at(H + 6)], {RBP: STACK}),
                stack_line(X86_64, JIT, [0, 0], {RBP: STACK}),
                stack_line(X86_64, JIT, stack)) == [
                    f"BOTTOM {JIT:x}x {at(0x1405):x}rg {at(H + 5):x}rg",
                    f"NO_CFI {JIT:x}x {at(0x1405):x}rg", *[f"NO_CFI {JIT:x}x"] * 7
                ]


def test_cfi_that_leads_to_no_code(made):
    """As in glibc's memcpy for i386, whose CFI leaves out a push. Instructions tell better."""
    image = bytearray(elf(plain()))
    image[F:F + 2] = b"\x50\x90"
    image[H:H + 5] = CALL
    line = stack_line(X86_64, at(F + 1), [7, at(G + 5), 0, 0, at(H + 5)])
    assert made(bytes(image), line) == [chain("NO_MAP", (F + 1, "x")) + " 7r"]
    image[G:G + 5] = b"\xe8" + struct.pack("<i", F - (G + 5))
    assert made(bytes(image), line) == [
        chain("BOTTOM", (F + 1, "x"), (G + 5, "rg"), (H + 5, "rg"))]


def test_cfi_that_leads_below_the_stack(made):
    """As in its memmove, whose CFI counts a pop twice."""
    image = bytearray(elf(outermost(Cfi().fde(F, 0x100, def_cfa(RSP, 0)).fde(
        G, 0x100, def_cfa(RSP, 24)))))
    image[H:H + 5] = CALL
    line = stack_line(X86_64, at(F), [at(G + 5), 0, 0, at(H + 5)])
    assert made(bytes(image), line) == [chain("OTHER_STACK", (F, "x"))]
    image[G - 8:G + 5] = b"\x90" * 8 + b"\xe8" + struct.pack("<i", F - (G + 5))
    assert made(bytes(image), line) == [
        chain("BOTTOM", (F, "x"), (G + 5, "rg"), (H + 5, "rg"))]


# --- limits ---


@pytest.mark.parametrize("program, end", [
    (REMEMBER * 8 + RESTORE * 8, "BOTTOM"),
    (REMEMBER * 9, "BAD_CFI"),
    (REMEMBER * 100000, "BAD_CFI"),
    (same(255), "BOTTOM"),
    (same(256), "BAD_CFI"),
    (same(1 << 27), "BAD_CFI"),
    (undefined(1 << 63), "BAD_CFI"),
    (b"\x00" * 65000, "BOTTOM"),
    (b"\x00" * 66000, "BAD_CFI"),
    (b"\x3f", "BAD_CFI"),
    (b"\x0f\x7f", "BAD_CFI"),
    (b"\x07" + b"\x80" * 20, "BAD_CFI"),
    (RESTORE, "BAD_CFI"),
],
                         ids=lambda value: value
                         if isinstance(value, str) else f"{value[:4].hex()}-{len(value)}")
@pytest.mark.parametrize("form", ["table", "scan", "debug_frame"])
def test_limits_of_programs(made, program, end, form):
    cfi = Cfi(debug_frame=form == "debug_frame", augmentation="" if form == "debug_frame" else "zR")
    answer = made(elf(outermost(cfi.fde(F, 0x100, program)), table=form == "table"),
                  stack_line(X86_64, at(F), [at(H + 5)]))[0].split()[0]
    # Without a table, a bad entry spoils the section: libdw may read any. That a program fails
    # later is no different from no entry.
    assert answer == end or (form != "table" and end == "BAD_CFI" and answer == "NO_CFI")


@pytest.mark.parametrize(
    "expression, end",
    [
        (breg(RSP, 8), "BOTTOM"),
        (lit(1) * 65, "BAD_CFI"),
        (breg(RSP, 8) + b"\x12" * 63, "BOTTOM"),
        (breg(RSP, 8) + b"\x12" * 64, "BAD_CFI"),
        (b"\x2f\xfd\xff", "BAD_CFI"),  # jumps to itself
        (b"\x2f\x01\x00\x96" + breg(RSP, 8), "BOTTOM"),  # over a nop
        (b"\x2f\x01\x00" + breg(RSP, 8) + lit(0), "BAD_CFI"),  # into an operation
        (breg(RSP, 8) + lit(0) + b"\x28\x01\x00\x96", "BOTTOM"),
        (breg(RSP, 8) + lit(1) + b"\x28\x01\x00\x96", "BOTTOM"),
        (breg(RSP, 8) + b"\x96" * 255, "BOTTOM"),
        (breg(RSP, 8) + b"\x96" * 256, "BAD_CFI"),
        (breg(RSP, 9) + lit(1) + b"\x1c", "BOTTOM"),
        (breg(RSP) + lit(0) + b"\x1b", "BAD_CFI"),
        (breg(RSP) + lit(0) + b"\x1d", "BAD_CFI"),
        (b"\x22", "BAD_CFI"),
        (b"\x13", "BAD_CFI"),
        (b"\x03" + bytes(8), "BAD_CFI"),
        (b"\x9c", "OTHER_STACK"),
        (breg(RSP, 8) + lit(3) + lit(5) + b"\x16\x13\x1d\x22" + lit(0) + b"\x22", "BAD_CFI"),
        (lit(8) + breg(RSP) + b"\x16" + b"\x22", "BOTTOM"),
        (breg(RSP, -8) + b"\x23\x10", "BOTTOM"),
        (breg(RSP, 24) + lit(2) + lit(3) + b"\x24\x1c", "BOTTOM"),
        (breg(RSP) + lit(1) + lit(8) + b"\x1e\x22", "BOTTOM"),
        (b"\x92\x07\x08", "BOTTOM"),
        (b"\x0e" + words(STACK + 8), "BOTTOM"),
        (breg(RSP) + b"\x0d" + b"\xf8\xff\xff\xff" + b"\x1f\x22", "BOTTOM"),
        (breg(RSP, 8) + b"\x20\x20", "BOTTOM"),
        (breg(RSP, 8) + lit(9) + b"\x14", "BOTTOM"),
        (breg(RSP, 8) + lit(9) + lit(7) + b"\x17\x13", "BOTTOM"),
        (breg(RSP, 8) + lit(9) + b"\x15\x01", "BOTTOM"),
        (breg(RSP, 8) + b"\x15\x01", "BAD_CFI"),
        (lit(1) + lit(2) + b"\x2d\x13" + breg(RSP, 7) + lit(1) + lit(2) + b"\x2d\x22", "BOTTOM"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value[:9].hex()}-{len(value)}")
def test_expressions(made, expression, end):
    """The CFA is to be STACK + 8."""
    cfi = outermost(Cfi().fde(F, 0x100, cfa_expression(expression)))
    assert made(elf(cfi), stack_line(X86_64, at(F), [at(H + 5), 2, 3]))[0].split()[0] == end


def test_value_expressions(made):
    cfi = outermost(Cfi().fde(F, 0x100,
                              def_cfa(RSP, 8) + is_expression(RBP, b"\x23\x08")).fde(
                                  G, 0x100, def_cfa(RBP, 8)))
    assert made(elf(cfi), stack_line(X86_64, at(F), [at(G + 5), 0, at(H + 5)])) == [
        chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r"))
    ]


# --- damaged tables ---


@pytest.mark.parametrize(
    "damage",
    ["beyond", "minus two", "cie", "middle", "unsorted", "count", "encoding", "version", "empty"])
def test_damaged_table(made, damage):
    def header(entries, vaddr):
        table = bytearray(header_table(entries, vaddr))
        first = 12 + 8 * sorted(entries).index(min(entries))
        offsets = {
            "beyond": 1 << 30, "minus two": EH_FRAME - 2 - vaddr, "cie": EH_FRAME - vaddr,
            "middle": EH_FRAME + entries[0][1] + 9 - vaddr
        }
        if damage in offsets:
            table[first + 4:first + 8] = (offsets[damage] % 2**32).to_bytes(4, "little")
        elif damage == "unsorted":
            table[12:20], table[20:28] = table[20:28], table[12:20]
        elif damage == "count":
            table[8:12] = b"\xff\xff\xff\x0f"
        elif damage == "encoding":
            table[3] = 0x1B
        elif damage == "version":
            table[0] = 2
        return bytes(table) if damage != "empty" else b""

    answer = made(elf(plain(), header=header), stack_line(X86_64, at(F), [at(H + 5)]),
                  stack_line(X86_64, at(H), []))
    assert answer[0].split()[0] in ("BAD_CFI", "NO_CFI")
    others = ("BOTTOM", ) if damage in ("beyond", "minus two", "cie", "middle") else ("BAD_CFI",
                                                                                      "NO_CFI")
    assert answer[1].split()[0] in others


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("second", [(F + 0x80, 0x10), (F + 0x80, 0x100), (F, 0x100), (F, 0),
                                    (F - 0x10, 0x20)],
                         ids=str)
def test_overlapping_functions(made, table, second):
    """Which of them libdw finds depends on what it was asked before: neither is used, in any order
    of questions."""
    image = elf(outermost(Cfi().fde(F, 0x100).fde(*second, def_cfa(RSP, 16))), table=table)
    lines = [
        stack_line(X86_64, at(address), [at(H + 5)] * 3)
        for address in (F + 1, F + 0x81, F + 0xF0, second[0], H)
    ]
    answers = dict(zip(lines, made(image, *lines)))
    assert made(image, *reversed(lines)) == [answers[line] for line in reversed(lines)]
    assert answers[lines[-1]] == chain("BOTTOM", (H, "x"))
    refused = [line for line in lines if answers[line].split()[0] in ("BAD_CFI", "NO_CFI")]
    assert len(refused) == 4 or (table and (refused or second[0] == F)
                                 )  # a table leads to the last one that starts there


def test_debug_frame_with_an_empty_eh_frame(made):
    """A debug file has the header of .eh_frame, but not its bytes."""
    assert made(elf(plain(), nobits=True), stack_line(X86_64, at(F),
                                                      [at(H + 5)])) == [chain("NO_CFI", (F, "x"))]


def test_a_relocatable_file(made):
    """Its addresses are not relocated: what they seem to be for depends on the reader."""
    image = elf(plain(), table=False)
    relocatable = image[:16] + b"\x01\0" + image[18:]
    assert made(relocatable, stack_line(X86_64, at(F), [at(H + 5)])) == [chain("NO_CFI", (F, "x"))]


def test_an_image_of_another_machine(made):
    assert made(elf(plain(machine=I386)), stack_line(X86_64, at(F),
                                                     [at(H + 5)]))[0].split()[0] == "NO_CFI"


# --- i386 ---


def test_i386(made):
    """Words of 4 bytes, dispatched by the sample's abi in a recording of x86-64."""
    cfi = outermost(Cfi(machine=I386).fde(F, 0x100).fde(G, 0x100, def_cfa(5, 8) + saved(5, 2)))
    answers = made(
        elf(cfi), stack_line(I386, at(F),
                             [at(G + 5), 0, STACK + 20, at(H + 5), 9], {5: STACK + 8}))
    assert answers == [chain("BOTTOM", (F, "x"), (G + 5, "r"), (H + 5, "r"))]


def test_i386_plt_and_wrap(made):
    expression = breg(4, 4) + breg(8) + lit(15) + AND + lit(11) + GE + lit(2) + SHL + PLUS
    cfi = outermost(
        Cfi(machine=I386).fde(F, 0x100, cfa_expression(expression)).fde(G, 0x100, def_cfa(5, 8)))
    assert made(elf(cfi), stack_line(I386, at(F + 0x2B), [0, at(H + 5)]),
                stack_line(I386, at(G), [at(H + 5)], {5: 2**32 - 4 + STACK - 2**32 + 0},
                           sp=STACK)) == [
                               chain("BOTTOM", (F + 0x2B, "x"), (H + 5, "r")),
                               chain("BOTTOM", (G, "x"), (H + 5, "r"))
                           ]


# --- aarch64 ---

FP, LR = 29, 30
KERNEL_TOP = 0x0000FFFFFFFFFFFF


def arm(*fdes):
    cfi = Cfi(machine=AARCH64)
    for start, program in fdes:
        cfi.fde(start, 0x100, program)
    return outermost(cfi)


def test_leaf_has_its_caller_in_x30(made):
    """Only in the first frame: a function that called has another value there."""
    image = elf(arm((F, b""), (G, def_cfa(31, 32) + saved(FP, 4) + saved(LR, 3))))
    registers = {FP: 1, LR: at(G + 8)}
    assert made(image, stack_line(AARCH64, at(F), [STACK + 64, at(H + 8), 0, 0], registers),
                stack_line(AARCH64, at(F), [0], {FP: 1, LR: at(F + 8)}),
                stack_line(AARCH64, at(F), [0])) == [
                    chain("BOTTOM", (F, "x"), (G + 8, "r"), (H + 8, "r")),
                    chain("NO_PROGRESS", (F, "x"), (F + 8, "r")),
                    chain("BAD_CFI", (F, "x"))
                ]


def test_a_caller_must_have_saved_its_return_address(made):
    """G has a frame, and its rule leaves the return address in x30: it has called F since."""
    image = elf(arm((F, b""), (G, def_cfa(31, 32))))
    line = stack_line(AARCH64, at(F), [0] * 8, {FP: 1, LR: at(G + 8)})
    assert made(image, line) == [chain("NO_PROGRESS", (F, "x"), (G + 8, "r"))]


@pytest.mark.parametrize("bits", [39, 42, 48, 52])
def test_high_addresses_are_kept(tmp_path, bits):
    base = 1 << (bits - 1)
    (tmp_path / "image").write_bytes(elf(arm((F, def_cfa(31, 16) + saved(FP, 2) + saved(LR, 1)))))
    stack = [1, base + H + 8 | 0xFFF << 52]
    line = stack_line(AARCH64, base + F, stack, highest=2 ** bits - 1)
    assert run(image_line(tmp_path / "image", base), line) == [
        f"BOTTOM {base + F:x}x {base + H + 8:x}r"
    ]


def test_another_link_register(made, tmp_path):
    """As in glibc's functions that are called by x15."""
    (tmp_path / "caller").write_bytes(elf(arm((F, def_cfa(31, 16)))))
    cfi = Cfi(machine=AARCH64, column=15).fde(F, 0x100)
    answer = made(elf(cfi), image_line(tmp_path / "caller", 4 * BASE),
                  stack_line(AARCH64, at(F), [1, 2], {15: 4 * BASE + H + 4}),
                  stack_line(AARCH64, at(F), [1, 2]))
    assert answer == [f"BOTTOM {at(F):x}x {4 * BASE + H + 4:x}r", f"BAD_CFI {at(F):x}x"]


@pytest.mark.parametrize("highest, bits", [(2**39 - 1, 39), (2**39, 42), (2**42, 48),
                                           (2**48 - 1, 48), (2**48, 52), (0, 52)])
def test_authentication_codes(made, highest, bits):
    code = (0x55AA << 48 | 0xFFFF << 39) >> bits << bits
    image = elf(arm((F, def_cfa(31, 16) + NEGATE_RA + saved(FP, 2) + saved(LR, 1))))
    assert made(image, stack_line(AARCH64, at(F), [1, code | at(H + 8)],
                                  highest=highest)) == [chain("BOTTOM", (F, "x"), (H + 8, "r"))]


def test_negate_ra_state_leaves_registers(made):
    """0x2d saves a window of registers on SPARC: x29 and x30 would be read from the stack."""
    image = elf(arm((F, NEGATE_RA), (G, def_cfa(FP, 16) + saved(FP, 2) + saved(LR, 1))))
    stack = [9, 9, 1, at(H + 8)]
    assert made(image, stack_line(AARCH64, at(F), stack, {FP: STACK + 16, LR: at(G + 8)})) == [
        chain("BOTTOM", (F, "x"), (G + 8, "r"), (H + 8, "r"))
    ]


def test_aarch64_signal(made):
    """The kernel's CFI names the frame record only, whose return address is not that of the
    interrupted code."""
    cfi = Cfi(machine=AARCH64,
              augmentation="zRS",
              initial=def_cfa(FP, 0) + b"\x05\x1d\x00" + b"\x05\x1e\x00").fde(F, 0x100)
    frame = [0] * 39 + list(range(100, 131)) + [STACK + 1000, at(F + 0x10), 0
                                                ]  # x0 at 312, sp at 560, pc at 568
    frame[39 + FP] = STACK
    answer = made(elf(cfi), stack_line(AARCH64, at(F + 4), frame, {FP: STACK}))[0].split()
    assert answer[1:3] == [f"{at(F + 4):x}xs", f"{at(F + 0x10):x}xs"]
    assert made(elf(cfi), stack_line(AARCH64, at(F + 4), frame[:60],
                                     {FP: STACK})) == [f"STACK_CUT {at(F + 4):x}xs"]


def test_the_leaf_that_frame_pointers_miss(made):
    image = elf(arm((F, b""), (G, def_cfa(31, 32) + saved(FP, 4) + saved(LR, 3))))
    front, values = head(AARCH64, {LR: at(H + 8)})

    def leaf(pc):
        return f"leaf {front} {pc:x} {values}"

    none, _ = head(AARCH64, {FP: 1})
    assert made(image, leaf(at(F)), leaf(at(G)), leaf(at(0x7000)), leaf(5),
                f"leaf {none} {at(F):x} 1") == [f"{at(H + 8):x}", "-", "-", "-", "-"]


def test_plt_of_aarch64(made):
    """No linker writes call frame information for it. Its first entry pushes x16 and x30."""
    first = struct.pack("<5I", 0xA9BF7BF0, 0xB0000010, 0xF9400211, 0x91000210, 0xD61F0220)
    plt = first + bytes(12) + first[4:]
    image = elf(arm(), plt=plt)
    assert made(image, *(stack_line(AARCH64, at(PLT + offset), [1, 2], {LR: at(H + 5)})
                         for offset in (0, 32, 36)),
                stack_line(AARCH64, at(PLT + 4), [1, at(H + 5)], {LR: 1})) == [
                    chain("BOTTOM", (PLT + offset, "x"), (H + 5, "r")) for offset in (0, 32, 36, 4)
                ]
    front, values = head(AARCH64, {LR: at(H + 8)})
    assert made(image, f"leaf {front} {at(PLT + 36):x} {values}") == [f"{at(H + 8):x}"]
