#!/usr/bin/python3
"""seeds.py PDECODE DIRECTORY: what the fuzz targets start from, made of the fixtures and the
catalogue of layouts.

    DIRECTORY/data      files, each also with two bytes after its end, which choose what a target
                        does with it; some compressed as a whole: for the other targets
    DIRECTORY/json      their JSON Lines: for fuzz_encode
    DIRECTORY/feature   feature sections, with the two bytes that fuzz_feature wants before them
    DIRECTORY/image     small ELF files of several kinds: for fuzz_image
    DIRECTORY/debug     the same, and programs with a .dwo or .dwp: for fuzz_debug
    DIRECTORY/bpf       files with BPF programs that have lines
    DIRECTORY/unwind    the same and hand-made call frame information, with the stack that
                        fuzz_unwind wants before them
    DIRECTORY/demangle  mangled names
    DIRECTORY/kallsyms  texts of /proc/kallsyms and /proc/modules
    DIRECTORY/jit       a byte, then a perf map or a jitdump
    DIRECTORY/bundle    sections of feature PD_SYMBOLS
    DIRECTORY/simpleperf  a byte, then a section of feature SIMPLEPERF_FILE or SIMPLEPERF_FILE2
    DIRECTORY/tracing   the two bytes of fuzz_tracing, tracepoint formats, and raw data
"""
import bz2
import lzma
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(1, os.path.join(ROOT, "tests", "support"))
import cfi_builder as cb  # noqa: E402
import go_program  # noqa: E402
import simpleperf_sections as simpleperf  # noqa: E402
from perfdata import features as f  # noqa: E402
from perfdata.attr import Attr  # noqa: E402
from perfdata.catalog import write  # noqa: E402
from perfdata.container import OWN_MAGIC, File, gzip, zstd_stream  # noqa: E402
from perfdata.wire import Wire, encode, u32, u64  # noqa: E402

SMALL = 16_000      # bytes: a larger seed costs more than it reaches
RAW = 64            # bytes of raw data after a tracepoint's format
HEADER = 104
PD_SYMBOLS = 240
DEVICE_FILES = [
    (b"[kernel.kallsyms]", simpleperf.KERNEL_FILE, 0, [(0xffffffff81000000, 256, b"do_it")], None),
    (b"/lib/libx.so", simpleperf.ELF, 0x1040, [(0x1100, 0x20, b"_ZN1a1bEv"), (0x1200, 0, b"c")],
     0x40),
    (b"/data/base.vdex", simpleperf.DEX, 0, [(0x2100, 0x20, b"com.mine.Main$1.run")], None),
    (b"/vendor/m.ko", simpleperf.MODULE, 0x400, [(0x500, 0x40, b"starts")], 0x1000)]
PACKED = ("file.le.data", "file.be.data", "pipe.le.data")


def xz(data):
    """Without a checksum, so that mutants of it are unpacked to their end."""
    return lzma.compress(data, check=lzma.CHECK_NONE,
                         filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}])


def packings(data):
    """Packed as a whole, and in two members."""
    half = len(data) // 2
    for kind, pack in (("gz", gzip), ("zst", lambda part: zstd_stream(part, end=True)), ("xz", xz),
                       ("bz2", lambda part: bz2.compress(part, 1))):
        yield kind, pack(data)
        yield f"2.{kind}", pack(data[:half]) + pack(data[half:])


def captures():
    top = os.path.join(ROOT, "fixtures", "perf")
    paths = [os.path.join(where, name) for where, _, names in os.walk(top) for name in names]
    return sorted(path for path in paths if path.endswith(".data"))


def put(directory, kind, name, data):
    where = os.path.join(directory, kind)
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, name), "wb") as out:
        out.write(data)


def features(data):
    """(number, big-endian or not, bytes) of each feature section of a file."""
    order = {b"PERFILE2": "<", b"2ELIFREP": ">"}.get(data[:8])
    if not order or len(data) < HEADER or struct.unpack_from(order + "Q", data, 8)[0] != HEADER:
        return
    at, size = struct.unpack_from(order + "2Q", data, 40)
    words = struct.unpack_from(order + "4Q", data, 72)
    bits = [i for i in range(256) if words[i // 64] >> i % 64 & 1]
    for i, bit in enumerate(bits):
        if at + size + 16 * (i + 1) <= len(data):
            where, length = struct.unpack_from(order + "2Q", data, at + size + 16 * i)
            yield bit, order == ">", data[where:where + length]
    table = at + size + 16 * len(bits)
    if data[table:table + 8] == OWN_MAGIC:
        for i in range(struct.unpack_from(order + "Q", data, table + 8)[0]):
            own, where, length = struct.unpack_from(order + "3Q", data, table + 16 + 24 * i)
            yield own, order == ">", data[where:where + length]


PROGRAM = """__attribute__((noinline)) static int in(int x) { return x * 3; }
static inline __attribute__((always_inline)) int inlined(int x) { return in(x) + 1; }
int f(int x); int g(int x) { return f(inlined(x)) + 1; } void _start(void) { g(1); }
__asm__(".globl bare\\nbare: nop\\nret\\n");"""
KINDS = {"shared": ["-shared"], "debug": ["-shared", "-g", "-gz=none"],
         "zlib": ["-shared", "-g", "-gz"], "v4": ["-shared", "-g", "-gdwarf-4"],
         "object": ["-c", "-g"], "stripped": ["-shared", "-s"], "o2": ["-shared", "-O2", "-g"],
         "plt": ["-shared", "-fcf-protection"]}


def images():
    """Programs of some KB."""
    with tempfile.TemporaryDirectory() as scratch:
        source, out = os.path.join(scratch, "p.c"), os.path.join(scratch, "out")
        with open(source, "w") as file:
            file.write(PROGRAM)
        for kind, options in KINDS.items():
            command = ["cc", "-fPIC", "-O1", *options, "-nostdlib",
                       "-Wl,-z,noseparate-code,--build-id", "-o", out, source]
            if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                with open(out, "rb") as file:
                    yield kind, file.read()
        try:
            go_program.build(pathlib.Path(out), "-s", "-Wl,-z,noseparate-code")
        except subprocess.CalledProcessError:
            return
        with open(out, "rb") as file:
            yield "go", file.read()


SPLIT = {"gcc": ["gcc"], "gcc-v4": ["gcc", "-gdwarf-4"], "clang": ["clang"],
         "gcc-types": ["g++", "-xc++", "-fdebug-types-section"],
         "clang-types": ["clang++", "-xc++", "-fdebug-types-section"],
         "clang-v4": ["clang", "-gdwarf-4"]}


def split_programs():
    """Programs of some KB whose functions are in another file, which follows."""
    with tempfile.TemporaryDirectory() as scratch:
        program, package = os.path.join(scratch, "p"), os.path.join(scratch, "p.dwp")
        with open(f"{program}.c", "w") as file:
            file.write("struct s { int x; } one;\n" + PROGRAM)
        for kind, command in SPLIT.items():
            options = ["-fPIC", "-O1", "-g", "-gsplit-dwarf", "-gz=none"]
            link = ["cc", "-shared", "-nostdlib", "-Wl,-z,noseparate-code", "-o", program]
            if not shutil.which(command[0]) or any(
                    subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode
                    for words in ([*command, *options, "-c", "-o", f"{program}.o", f"{program}.c"],
                                  [*link, f"{program}.o"])):
                continue
            yield kind, pair(program, f"{program}.dwo")
            if packs(program, package):
                yield f"{kind}-packed", pair(program, package)


def packs(program, package):
    """The one of LLVM 14 makes no package of gcc's DWARF 5 in any time."""
    try:
        return subprocess.run(["llvm-dwp", "-e", program, "-o", package],
                              stderr=subprocess.DEVNULL, timeout=2, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def pair(first, second):
    with open(first, "rb") as a, open(second, "rb") as b:
        program = a.read()
        return struct.pack("=I", len(program)) + program + b.read()


def bpf_files():
    """With a program of two functions and three lines, in both byte orders."""
    starts, tags = (0xffffffffc0001000, 0xffffffffc0002000), (bytes(range(8)), bytes(range(8, 16)))
    strings = b"\0one.c\0two.c\0"
    for order in "<>":
        btf = struct.pack(f"{order}HBBIIIII", 0xeb9f, 1, 0, 24, 0, 0, 0, len(strings)) + strings
        lines = [(0, 1, 10, starts[0]), (2, 1, 11, starts[0] + 8), (3, 7, 7, starts[1])]
        info = f.bpf_info.part(
            nr_jited_ksyms=2, nr_jited_func_lens=2, btf_id=5, nr_line_info=3, nr_jited_line_info=3,
            line_info_rec_size=16, jited_line_info_rec_size=8, nr_prog_tags=2)
        data = [u64(*starts), u32(64, 32),
                b"".join(struct.pack(f"{order}IIII", at, file, 0, line << 10)
                         for at, file, line, _ in lines),
                b"".join(struct.pack(f"{order}Q", address) for *_, address in lines),
                b"".join(tags)]
        features = {f.NUMBER["BPF_PROG_INFO"]: f.bpf_prog_info([(info, 0x1d8, data)]),
                    f.NUMBER["BPF_BTF"]: f.bpf_btf([(5, btf)])}
        yield f"bpf.{ord(order)}", File(attrs=[(Attr(), [1])], features=features).build(order)


def vdso():
    """The kernel's own image in this process, which has signal frames on some machines."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        found = [line.split()[0].split("-") for line in maps if line.rstrip().endswith("[vdso]")]
    for start, end in found:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(int(start, 16))
            yield "vdso", memory.read(int(end, 16) - int(start, 16))


def headless():
    """Without section headers: found by the segments alone."""
    for kind, data in images():
        if kind in ("shared", "o2"):
            yield f"{kind}-headless", data[:40] + bytes(8) + data[48:58] + bytes(6) + data[64:]


def programs(cfi, reg):
    """CFI programs of all kinds."""
    grown = cb.def_cfa(reg, 2 * cfi.word) + cb.saved(reg, 2) + cb.saved(3, 3)
    return [b"", grown, cb.cfa_offset(4 * cfi.word) + cb.saved(12, 2),
            cb.cfa_expression(cb.breg(reg, -cfi.word) + cb.DEREF), cb.REMEMBER + grown + cb.RESTORE,
            cb.at_expression(reg, cb.breg(reg)), cb.in_register(cfi.ra(), 2),
            cb.undefined(cfi.ra())]


def frames():
    """Call frame information of three machines."""
    cb.EH_FRAME = 0x1400
    for machine, reg in ((cb.X86_64, 6), (cb.I386, 5), (cb.AARCH64, 29)):
        for kind, options in (("z", {"augmentation": "zPLRS"}), ("plain", {"augmentation": ""}),
                              ("debug", {"augmentation": "", "debug_frame": True})):
            cfi = cb.Cfi(machine=machine, **options)
            for i, program in enumerate(programs(cfi, reg)):
                cfi.fde(0x1000 + 0x40 * i, 0x40, program)
            yield f"{machine}-{kind}", cb.elf(cfi, code_size=0x200)
            yield f"{machine}-{kind}-scan", cb.elf(cfi, code_size=0x200, table=False)


NAMES = ["_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
         "_RNvNtCs1234_7mycrate3foou8gdel_5qa", "_RINvNtC3std3mem8align_ofjE",
         "camlStdlib__List__map_1234", "_Z1fI1aIiiE1bIS1_S1_ES2_IS3_S3_ES2_IS4_S4_EEvv",
         "_Znwm@@GLIBCXX_3.4", "_GLOBAL__sub_I_main", "_ZZ4mainENKUlT_E_clIiEEDaS_"]


KALLSYMS = (b"ffffffff81000000 T _text\nffffffff81001000 t first\n"
            b"ffffffff81000800 W weak\nffffffffc0001000 T in\t[mod]\n")
MODULES = b"mod 16384 1 other, Live 0xffffffffc0001000 (OE)\n"
PERF_MAP = b"0" b"1000 100 old function\n0x1080 20 new (a.js:3)\n"
JITDUMP = (b"1" + struct.pack("<6I2Q", 0x4a695444, 1, 40, 62, 0, 1, 0, 0)
           + struct.pack("<2IQ2I4Q", 0, 66, 1, 1, 1, 4096, 4096, 4, 7) + b"name\0\0code"[:10]
           + struct.pack("<2IQ2I5Q", 1, 64, 1, 1, 1, 8192, 4096, 8192, 4, 7))


def main():
    pdecode, directory = sys.argv[1:]
    for kind, data in images():
        put(directory, "image", kind, data)
        put(directory, "debug", kind, data)
    for kind, data in split_programs():
        put(directory, "debug", kind, data)
    for name, data in bpf_files():
        put(directory, "bpf", name, data)
    for i, (kind, data) in enumerate([*images(), *vdso(), *frames(), *headless()]):
        stack = random.Random(i).randbytes(8 * 24)
        put(directory, "unwind", kind, bytes([i, len(stack) // 8]) + stack + data)
    for kind, data in (("kallsyms", KALLSYMS), ("kallsyms", MODULES), ("jit", PERF_MAP),
                       ("jit", JITDUMP)):
        put(directory, kind, str(len(data)), data)
    for number in (simpleperf.FILE, simpleperf.FILE2):
        section = encode(simpleperf.section(number, DEVICE_FILES), Wire())
        put(directory, "simpleperf", str(number), bytes([number == simpleperf.FILE2]) + section)
    for i, name in enumerate(NAMES):
        put(directory, "demangle", str(i), name.encode())
    with tempfile.TemporaryDirectory() as scratch:
        paths = captures() + [path for path in write(scratch).values() if os.path.isfile(path)]
        for path in paths:
            name = os.path.basename(path)
            with open(path, "rb") as file:
                data = file.read()
            for bit, big, section in features(data):
                if bit == PD_SYMBOLS:
                    put(directory, "bundle", name, section)
                if len(section) < SMALL:
                    put(directory, "feature", f"{name}.{bit}", bytes([bit, big]) + section)
            for i, text in enumerate(re.findall(rb"name: \S+\nID: .*?print fmt: [^\n]*\n", data,
                                                re.S)):
                put(directory, "tracing", f"{name}.{i}",
                    struct.pack("<H", RAW) + text + bytes(range(RAW)))
            if len(data) < SMALL:
                put(directory, "data", name, data)
                choice = random.Random(name).randbytes(2)
                put(directory, "data", f"{name}.chosen", data + choice)
                for kind, packed in packings(data) if name in PACKED else ():
                    put(directory, "data", f"{name}.{kind}", packed)
                lines = subprocess.run([pdecode, "-f", "jsonl", "--blobs", "full", path],
                                       capture_output=True, check=False).stdout
                if len(lines) < 4 * SMALL:
                    put(directory, "json", name, lines)


if __name__ == "__main__":
    main()
