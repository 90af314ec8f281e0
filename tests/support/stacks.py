"""Runs tests/c/symbols_stack.c: images and stacks in, chains out."""
import struct
import subprocess

import compiled
from cfi_builder import AARCH64, I386, X86_64

STACK = 0x7FFF0000
# Bit of sample_regs_user by DWARF number.
BITS = {
    X86_64: {
        0: 0, 3: 1, 2: 2, 1: 3, 4: 4, 5: 5, 6: 6, 7: 7, 16: 8, **{n: n + 8
                                                                  for n in range(8, 16)}
    },
    I386: {0: 0, 3: 1, 1: 2, 2: 3, 6: 4, 7: 5, 5: 6, 4: 7, 8: 8},
    AARCH64: {**{n: n
                 for n in range(32)}, "pc": 32},
}
SP = {X86_64: 7, I386: 4, AARCH64: 31}
PC = {X86_64: 16, I386: 8, AARCH64: "pc"}


def run(*lines):
    """The answer to each line that has one."""
    return compiled.run_clean("symbols_stack", lines=lines)


def head(machine, registers, abi=None):
    bits = BITS[machine]
    present = sorted((bits[reg], value) for reg, value in registers.items())
    mask = sum(1 << bit for bit, _ in present)
    recorded = X86_64 if machine == I386 else machine
    abi = abi or (1 if machine == I386 else 2)
    return f"{recorded:x} {abi:x} {mask:x}", ",".join(f"{value:x}" for _, value in present) or "-"


def stack_line(machine,
               pc,
               words,
               registers=(),
               size=None,
               highest=0x7FFFFFFFFFFF,
               sp=STACK,
               abi=None):
    """A sample at pc, with a stack of these words (numbers, or bytes as they are) from sp on.
    `size` was asked for: else the same."""
    width = 4 if machine == I386 else 8
    data = words if isinstance(words, bytes) else b"".join(
        (word % 2**(8 * width)).to_bytes(width, "little") for word in words)
    front, values = head(machine, {SP[machine]: sp, PC[machine]: pc, **dict(registers)}, abi)
    size = len(data) if size is None else size
    return f"stack {front} {size:x} {highest:x} {values} {data.hex() or '-'}"


def image_line(path, bias=0, size=0x100000):
    return f"image {path} {bias:x} {bias + size:x} 0"


def words(*values, width=8):
    return b"".join(
        struct.pack("<Q" if width == 8 else "<I", value % 2**(8 * width)) for value in values)
