"""Stacks through code without call frame information, by what its instructions do."""
import os
import re
import subprocess

import pytest

import compiled
from cfi_builder import I386, X86_64
from stacks import STACK, image_line, run, stack_line

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64",
                                reason="programs are assembled for x86-64")
BASE = 0x400000
RBP = 6
NONE, PUSH, POP, ADD_SP, LEA_SP, LEA, STORE, LEAVE, WRITE, CALL, CALL_INDIRECT = range(11)
BRANCH, JUMP, JUMP_INDIRECT, LEAVES = range(11, 15)
ANY = 255


# --- instructions ---

def decode(bits, items):
    """(length, effect, register, base, value) of each."""
    done = subprocess.run([compiled.program("symbols_x86"), str(bits)], input="\n".join(items),
                          stdout=subprocess.PIPE, text=True, check=True)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def disassembled(path):
    """{bytes: text}"""
    done = subprocess.run(["objdump", "-d", "-w", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
    found = {}
    for line in done.stdout.splitlines():
        columns = line.split("\t")
        if len(columns) >= 3 and re.match(r"\s*[0-9a-f]+:$", columns[0]):
            found.setdefault(columns[1].replace(" ", ""), columns[2])
    return found


@pytest.mark.parametrize("bits, path", [
    (64, "/lib/x86_64-linux-gnu/libc.so.6"), (64, "/usr/lib/x86_64-linux-musl/libc.so"),
    (64, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"), (32, "/lib32/libc.so.6")])
def test_lengths_as_objdump(bits, path):
    if not os.path.exists(path):
        pytest.skip(f"no {path}")
    texts = disassembled(path)
    # what objdump shows as one: a prefix before an instruction, and fwait
    known = [item for item, text in texts.items() if not re.search(r"^f|\(bad\)", text)]
    assert len(known) > 10000
    wrong = [(item, texts[item], found) for item, found in
             zip(known, decode(bits, [item + "90" * 15 for item in known]))
             if found[0] != len(item) // 2]
    assert not wrong, f"{len(wrong)} of {len(known)}: {wrong[:10]}"


@pytest.mark.parametrize("bits, code, expected", [
    (64, "53", (1, PUSH, 3, ANY, 0)), (64, "4154", (2, PUSH, 12, ANY, 0)),
    (64, "6a01", (2, PUSH, ANY, ANY, 0)), (64, "ff742408", (4, PUSH, ANY, ANY, 0)),
    (64, "415c", (2, POP, 12, ANY, 0)), (64, "8f00", (2, POP, ANY, ANY, 0)),
    (64, "4883ec28", (4, ADD_SP, 4, ANY, -0x28)), (64, "4881c400010000", (7, ADD_SP, 4, ANY, 256)),
    (64, "4883e4f0", (4, WRITE, 4, ANY, 0)), (64, "488d642410", (5, LEA_SP, 4, 4, 16)),
    (64, "488d65e8", (4, LEA_SP, 4, 5, -24)), (64, "4889ec", (3, LEA_SP, 4, 5, 0)),
    (64, "4889e5", (3, LEA, 5, 4, 0)), (64, "488bec", (3, LEA, 5, 4, 0)),
    (64, "4889cd", (3, LEA, 5, 1, 0)), (64, "31ed", (2, WRITE, 5, ANY, 0)),
    (64, "48895c2410", (5, STORE, 3, 4, 16)), (64, "4c8965f8", (4, STORE, 12, 5, -8)),
    (64, "48891c0c", (4, NONE, ANY, ANY, 0)), (64, "891c24", (3, NONE, ANY, ANY, 0)),
    (64, "c9", (1, LEAVE, ANY, ANY, 0)), (64, "e810000000", (5, CALL, ANY, ANY, 16)),
    (64, "e800000000", (5, PUSH, ANY, ANY, 0)), (64, "ffd0", (2, CALL_INDIRECT, ANY, ANY, 0)),
    (64, "67e810000000", (6, CALL, ANY, ANY, 16)),
    (64, "7505", (2, BRANCH, ANY, ANY, 5)), (64, "0f84fbffffff", (6, BRANCH, ANY, ANY, -5)),
    (64, "ebfe", (2, JUMP, ANY, ANY, -2)), (64, "3effe0", (3, JUMP_INDIRECT, ANY, ANY, 0)),
    (64, "c3", (1, LEAVES, ANY, ANY, 0)), (64, "0f0b", (2, LEAVES, ANY, ANY, 0)),
    (64, "f30f1efa", (4, NONE, ANY, ANY, 0)), (64, "cc", (1, NONE, ANY, ANY, 0)),
    (64, "c5fd6f06", (4, NONE, ANY, ANY, 0)), (64, "62f17c481000", (6, NONE, ANY, ANY, 0)),
    (64, "06", (0,)), (64, "48", (0,)), (64, "e81000", (0,)), (64, "8fe8e0a3d8cae10060", (0,)),
    (64, "66" * 15 + "90", (0,)),
    (32, "06", (1, PUSH, ANY, ANY, 0)), (32, "83ec0c", (3, ADD_SP, 4, ANY, -12)),
    (32, "89e5", (2, LEA, 5, 4, 0)), (32, "45", (1, WRITE, 5, ANY, 0)), (32, "67e8", (0,)),
    (64, "bf78000000", (5, WRITE, 7, ANY, 0x78)), (64, "48c7c778000000", (7, WRITE, 7, ANY, 0x78)),
    (64, "488d3d10000000", (7, WRITE, 7, ANY, 16)),
    (32, "c5f877", (3, NONE, ANY, ANY, 0)), (32, "c506", (0,)),
], ids=str)
def test_effects_of_instructions(bits, code, expected):
    assert decode(bits, [code]) == [expected]


# --- stacks ---

START = """
.text
.skip 16, 0x90
caller: call f; after: nop
other: call g; after_other: nop
indirect: call *%{ax}; after_indirect: nop
.balign 16
"""
CALLED = ".type f, @function; f: {code}; .size f, . - f; .balign 16; g: ret; ret\n"


@pytest.fixture
def assembled(tmp_path):
    """Function: assembles f. Returns the addresses of labels, and answers to stacks."""
    def assemble(code, bits=64, strip=False):
        source, target = tmp_path / "f.s", tmp_path / "f.so"
        source.write_text(START.format(ax="rax" if bits == 64 else "eax") +
                          CALLED.format(code=code))
        subprocess.run(["gcc", f"-m{bits}", "-nostdlib", "-shared", "-Wl,-Bsymbolic", "-o", target,
                        source], check=True, stderr=subprocess.PIPE)
        labels = {}
        for line in subprocess.run(["nm", target], stdout=subprocess.PIPE, text=True,
                                   check=True).stdout.splitlines():
            address, _, name = line.split()
            labels[name] = BASE + int(address, 16)
        # A label within a function would be one, too.
        inner = [f"--strip-symbol={name}" for name in ("here", "gone", "then")]
        subprocess.run(["objcopy", *(["--strip-all"] if strip else inner), target], check=True)
        return labels, lambda *lines: run(image_line(target, BASE), *lines)

    return assemble


# Code with the label `here`, and how many words are between stack pointer and return address.
FUNCTIONS = {
    "at the start": ("here: nop; ret", 0),
    "pushed": ("push %{b}; push %{bp}; here: nop; pop %{bp}; pop %{b}; ret", 2),
    "reserved": ("sub $32, %{sp}; here: nop; add $32, %{sp}; ret", 32),
    "popped": ("push %{b}; nop; pop %{b}; here: ret", 0),
    "by lea": ("lea -32(%{sp}), %{sp}; here: nop", 32),
    "after an early return": ("push %{b}; test %{b}, %{b}; je 1f; pop %{b}; ret; 1: here: nop", 1),
    "in a loop that is entered at its end": (
        "push %{b}; jmp 2f; 1: nop; here: nop; 2: test %{b}, %{b}; jne 1b; pop %{b}; ret", 1),
    "a switch": ("push %{b}; jmp *%{b}; here: nop", 1),
    "after a call that returns": ("push %{b}; call g; here: nop", 1),
    "of the next instruction": ("call 1f; 1: here: pop %{b}; ret", 1),
}


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_words_on_the_stack(bits, name, assembled):
    code, count = FUNCTIONS[name]
    word = bits // 8
    names = {"b": "rbx", "bp": "rbp", "sp": "rsp"} if bits == 64 else {
        "b": "ebx", "bp": "ebp", "sp": "esp"}
    labels, answers = assembled(code.format(**names), bits)
    count = count // word if count > 8 else count
    here, after = labels["here"], labels["after"]
    assert answers(stack_line(X86_64 if bits == 64 else I386, here, [1] * count + [after, 0])) == [
        f"NO_CFI {here:x}x {after:x}rg"]


def test_a_frame_pointer(assembled):
    """The stack pointer may be anything then."""
    labels, answers = assembled(
        "push %rbp; mov %rsp, %rbp; sub %rax, %rsp; here: nop; leave; gone: ret")
    here, gone, after = (labels[name] for name in ("here", "gone", "after"))
    assert answers(
        stack_line(X86_64, here, [1, 2, 3, 7, after, 0], {RBP: STACK + 24}),
        stack_line(X86_64, here, [1, 2, 3, 7, after, 0]),
        stack_line(X86_64, gone, [after, 0], {RBP: STACK + 24})) == [
            f"NO_CFI {here:x}x {after:x}rg", f"NO_CFI {here:x}x", f"NO_CFI {gone:x}x {after:x}rg"]


@pytest.mark.parametrize("code", [
    "1: push %rcx; dec %eax; jne 1b",
    "jmp 2f; 1: push %rcx; 2: dec %eax; jge 1b",    # V8's interpreter: its registers
    "push %rcx; call g",                            # which takes its arguments with it
], ids=["a loop", "one that is entered at its end", "arguments"])
def test_pushes_that_are_not_counted(code, assembled):
    labels, answers = assembled(f"push %rbp; mov %rsp, %rbp; {code}; here: nop; leave; ret")
    here, after = labels["here"], labels["after"]
    stacks = [[1] * n + [7, after, 0] for n in (0, 1, 5)]
    assert answers(*(stack_line(X86_64, here, stack, {RBP: STACK + 8 * stack.index(7)})
                     for stack in stacks)) == [f"NO_CFI {here:x}x {after:x}rg"] * 3


UNKNOWN = ("jmp", ".byte")        # where the frame pointer may be the function's


@pytest.mark.parametrize("code", [
    "and $-64, %rsp; here: nop",            # how far is not known
    "mov %rax, %rsp; here: nop",
    "jmp g; here: nop",                     # nothing leads there
    "pop %rax; here: nop",                  # the return address
    "push %rbx; jne 1f; pop %rbx; 1: here: nop",
    "1: push %rbx; dec %eax; jne 1b; here: nop",    # how often is not known
    "nop; jmp 2f; 1: push %rbx; 2: dec %eax; jne 1b; here: nop",
    ".byte 6; here: nop",                   # no instruction
], ids=lambda code: code.partition(";")[0])
def test_no_way_is_found(code, assembled):
    """Words on the stack are not tried, nor the frame pointer where it is the caller's."""
    labels, answers = assembled(code)
    here, after = labels["here"], labels["after"]
    stack = [after] * 8
    registers = {} if code.startswith(UNKNOWN) else {RBP: STACK + 24}
    assert answers(stack_line(X86_64, here, stack, registers)) == [f"NO_CFI {here:x}x"]


DYNAMIC_CALLER = ".size f, . - f; .type h, @function; h: push %rbp; mov %rsp, %rbp; sub %rax, %rsp"
SIZE = ".size h, . - h"         # f ends after it: without a size, it would be a label inside f


@pytest.mark.parametrize("save, saved", [
    ("sub $24, %rsp; mov %rbp, 8(%rsp)", True), ("sub $8, %rsp; push %rbp; sub $8, %rsp", True),
    ("sub $24, %rsp", False)], ids=["stored", "pushed", "lost"])
def test_saved_registers_are_the_callers(save, saved, assembled):
    """A register that is written and not saved is lost."""
    labels, answers = assembled(
        f"{save}; mov $5, %ebp; here: nop; {DYNAMIC_CALLER}; call f; then: nop; {SIZE}")
    here, then, after = (labels[name] for name in ("here", "then", "after"))
    inner = [0, STACK + 56, 0, then]
    found = answers(stack_line(X86_64, here, [*inner, 0, 0, 0, 7, after, 0], {RBP: 5}))
    assert found == [f"NO_CFI {here:x}x {then:x}rg" + f" {after:x}rg" * saved]


def test_a_place_where_a_register_was_saved_is_used_again(assembled):
    labels, answers = assembled("push %rbp; pop %rbp; push %rax; here: nop; "
                                f"{DYNAMIC_CALLER}; call f; then: nop; {SIZE}")
    here, then, after = (labels[name] for name in ("here", "then", "after"))
    stack = stack_line(X86_64, here, [STACK, then, 0, 0, 7, after, 0], {RBP: STACK + 32})
    assert answers(stack) == [f"NO_CFI {here:x}x {then:x}rg {after:x}rg"]


def test_code_after_a_switch_is_where_a_jump_leads(assembled):
    """Not where the switch is, if that differs."""
    labels, answers = assembled("push %rbx; push %rcx; jne 1f; pop %rcx; jmp *%rax; 1: here: nop")
    here, after = labels["here"], labels["after"]
    assert answers(stack_line(X86_64, here, [1, 2, after, 0])) == [f"NO_CFI {here:x}x {after:x}rg"]


@pytest.mark.parametrize("strip", [False, True], ids=["symbol", "none"])
def test_a_return_address_follows_a_call(strip, assembled):
    """If a function has no symbol, it must be a call to it, if that says what it calls."""
    labels, answers = assembled("push %rbx; here: nop", strip=strip)
    here = labels["here"]
    found = answers(*(stack_line(X86_64, here, [1, labels[name] + more, 0]) for name, more in (
        ("after", 0), ("after", 1), ("after_other", 0), ("after_indirect", 0))))
    cut = f"NO_CFI {here:x}x"
    assert found == [f"{cut} {labels['after']:x}rg", cut,
                     cut if strip else f"{cut} {labels['after_other']:x}rg",
                     f"{cut} {labels['after_indirect']:x}rg"]
