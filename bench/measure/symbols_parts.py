"""The parts of libpdsymbols alone: unwinding, the index of inlined functions, symbols, kallsyms.

The programs are those of the tests (tests/c), which can print times. They are no rows of their own:
what is compared is what they print.
"""
import os
import re
import shlex
import subprocess

from measure import ROOT, median

PASS = re.compile(r"^pass \d+: .*, (?P<ns>[0-9.]+) ns each, (?P<millions>[0-9.]+) M/s", re.M)
INDEX = re.compile(r"units in (\d+) us, (\d+) us functions, .* (\d+) ns a search")
SEARCH = re.compile(r"(\d+) symbols read in (\d+) us; (\d+) ns a search")
INCLUDES = ("libdecode", "libdecode/include", "libsymbols", "libsymbols/include")
LIBRARIES = ("-ldw", "-lelf", "-liberty", "-lzstd", "-lz", "-llzma", "-lbz2", "-lm", "-pthread")


def optional():
    """Libraries that libpdsymbols is linked with where they are installed."""
    done = subprocess.run(["pkg-config", "--exists", "libdeflate"], check=False)
    return ["-ldeflate"] if done.returncode == 0 else []


def compiled(settings, name):
    """Returns the path of tests/c/NAME.c, compiled as fast as the tools are."""
    program = settings.program(name)
    archives = [settings.build / "libpdsymbols.a", settings.build / "libdecode.a"]
    subprocess.run([*shlex.split(os.environ.get("CC") or "gcc"), "-std=gnu11", "-O2", "-g",
                    "-D_GNU_SOURCE", "-Wno-missing-field-initializers",
                    *[f"-I{ROOT / folder}" for folder in INCLUDES], "-o", program,
                    ROOT / "tests" / "c" / f"{name}.c", *archives, *optional(), *LIBRARIES],
                   check=True)
    return program


def printed(settings, command, pattern, stdin=None):
    """Returns what a program printed that a pattern finds, a list of matches."""
    done = subprocess.run([*map(str, command)], stdin=stdin, stdout=subprocess.PIPE, text=True,
                          env=settings.environment(), check=True)
    return list(re.finditer(pattern, done.stdout))


def unwinding(settings, path):
    """Millions of frames a second: from empty caches, and by libdwfl, whose better one of two
    passes counts: the second one has all modules."""
    unwind, dwfl = compiled(settings, "symbols_unwind"), compiled(settings, "symbols_dwfl")
    ours, theirs = [], []
    for _ in range(settings.rounds):
        cold, = printed(settings, [unwind, path, "time=1"], PASS)
        kept = printed(settings, [dwfl, path, "time=2"], PASS)
        ours.append(float(cold["millions"]))
        theirs.append(max(float(one["millions"]) for one in kept))
    return {"cold": median(ours), "libdwfl": median(theirs)}


def debug_information(program):
    """Bytes of .debug_info, as the program has them in memory."""
    done = subprocess.run(["objdump", "-h", program], stdout=subprocess.PIPE, text=True, check=True)
    return next(int(line.split()[2], 16) for line in done.stdout.splitlines()
                if ".debug_info" in line)


def index(settings, program, addresses):
    """MB of .debug_info a second, until the functions at the addresses are known, and ns of one
    search."""
    listed = settings.work / "addresses"
    listed.write_text("".join(f"{address:#x}\n" for address in addresses))
    debug, speeds, searches = compiled(settings, "symbols_debug"), [], []
    for _ in range(settings.rounds):
        with open(listed, encoding="ascii") as file:
            found, = printed(settings, [debug, "-t", program], INDEX, file)
        speeds.append(debug_information(program) / (int(found[1]) + int(found[2])))
        searches.append(int(found[3]))
    return {"mb_per_second": median(speeds), "ns": median(searches)}


def search(settings, program):
    """ns of one search in the symbols of a program."""
    image = compiled(settings, "symbols_image")
    found = [printed(settings, [image, "time", program, 1000000], SEARCH)[0]
             for _ in range(settings.rounds)]
    return median([int(one[3]) for one in found])


def parts(settings, path, program, addresses):
    return {"unwinding": unwinding(settings, path), "index": index(settings, program, addresses),
            "symbol_ns": search(settings, program)}
