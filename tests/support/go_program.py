"""Programs with the table that Go's runtime has of its functions, .gopclntab, as runtime/symtab.go
describes it: assembled, as not every machine has Go."""
import subprocess

MAGIC_1_18, MAGIC_1_20 = 0xFFFFFFF0, 0xFFFFFFF1
SOURCE = """
.text
nop
base: .globl _start
_start: nop; nop; ret
second: {second}
third: ret
end:
.section {section},"{flags}"
{before}
.balign 32
table: .long {magic}
.byte 0, 0, 1, {word}
{words} {count}, 1, {text}, names - table, 0, 0, values - table, functions - table
names: .asciz "main.main", "main.(*T[...]).second"
third_name: .asciz "go:third·1"
functions: .long _start - base, f1 - functions, second - base, f2 - functions
.long third - base, f3 - functions, end - base
f1: .long _start - base, 0, 0, 0, v1 - values, 0, 0, 0, 0 {line}
.byte 0, 0, 0, 0
f2: .long second - base, 10, 0, 0, v2 - values, 0, 0, 0, 0 {line}
.byte 0, 0, 0, 0
f3: .long third - base, {last_name}, 0, 0, {last_values}, 0, 0, 0, 0 {line}
.byte 0, {last_flags}, 0, 0
values: .byte 0
v1: .byte {frames}
v2: .byte 2, 2, 0
v3: .byte 2, 1, 0
.section .go.module,"aw"
.fill 20, {word}, 1
{words} {lowest}, {highest}, base
"""
# Pairs: by how much the frame grows, from -1 on, doubled, or, odd, shrinks; for how many bytes.
FRAMES = "2, 1, 0xb0, 1, 1, 0xaf, 1, 1, 0"      # 0, 88, 0
NAMES = ["main.main", "main.(*T[...]).second", "go:third·1"]


def build(path, *options, word=8, magic=MAGIC_1_20, count=3, text="0", lowest="_start",
          highest="end", last_name="third_name - names", frames=FRAMES,
          last_values="v3 - values", last_flags=0, section=".gopclntab", before="",
          second="nop; ret"):
    """Writes the program; returns the addresses of its functions, and of their end."""
    source = path.with_suffix(".s")
    source.write_text(SOURCE.format(
        word=word, magic=magic, count=count, text=text, lowest=lowest, highest=highest,
        last_name=last_name, words=".quad" if word == 8 else ".long", frames=frames,
        line=", 0" if magic == MAGIC_1_20 else "", last_values=last_values,
        last_flags=last_flags, section=section, before=before, second=second,
        flags="a" if section == ".gopclntab" else "aw"))
    subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", *options, "-o", path, source],
                   check=True, stderr=subprocess.DEVNULL)
    symbols = {}
    if "-s" in options:
        return symbols
    for line in subprocess.run(["nm", path], check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines():
        address, _, name = line.split()
        symbols[name] = int(address, 16)
    return [symbols[name] for name in ("_start", "second", "third", "end")]
