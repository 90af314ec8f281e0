"""Names, inlined functions and unwinding compared with perf, addr2line and llvm-symbolizer."""
import json
import os
import shutil
import struct
import subprocess

from inputs import CantRecord, Input, Kind, record, stats_of
from measure import Program, measure, run, summary
from symbols_parts import compiled, parts

PD_SYMBOLS = 240            # the feature
OWN_TABLE = b"PDFEATS1"     # before the table that has it
SECONDS = 9                 # of CPU, of the program that is recorded
STACKS = Kind("copied stacks", "a C++ program of templates, --call-graph dwarf",
              ["-e", "cpu-clock", "-F", "4000", "--call-graph", "dwarf,8192"], None, None)
CHAINS = Kind("frame pointers", "the same, -g", ["-e", "cpu-clock", "-F", "2500", "-g"], None, None)


def bundle_size(path):
    """Bytes of the names that the recording carries. Their table is the one after perf's, which has
    an entry of 16 bytes for each bit."""
    with open(path, "rb") as file:
        header = file.read(104)
        start, size = struct.unpack_from("<QQ", header, 40)
        bits = int.from_bytes(header[72:104], "little")
        file.seek(start + size + 16 * bin(bits).count("1"))
        magic, number = struct.unpack("<8sQ", file.read(16))
        if magic != OWN_TABLE:
            return 0
        entries = [struct.unpack("<3Q", file.read(24)) for _ in range(number)]
        return next((length for feature, _, length in entries if feature == PD_SYMBOLS), 0)


def with_debug_information(settings):
    """The path of the compiled program, or CantRecord."""
    program, source = settings.program("templates"), "templates.cc"
    done = subprocess.run([os.environ.get("CXX") or "g++", "-std=gnu++17", "-g", "-O2", "-o",
                           program, settings.source(source)],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise CantRecord(f"{source} can't be compiled: {done.stderr.strip()[:200]}")
    return program


def make(settings, kind, program):
    file = Input(kind, settings.work / "symbols.data", False)
    seconds = SECONDS / 30 if settings.quick else SECONDS
    file.command = record(settings, file.path, kind.options, [program, seconds])
    file.stats = stats_of(settings, file.path)
    return file


def pdecode(settings, name, *options):
    return Program(name, [settings.tool("pdecode"), "-j", "1", *options])


def preport(settings, name, *options, form="folded", jobs="1"):
    return Program(name, [settings.tool("preport"), "-f", form, "-j", jobs, "-o", "-", *options])


def ours(settings, path):
    return [preport(settings, "preport folded", path),
            preport(settings, "preport folded --inline", "--inline", path),
            preport(settings, "preport script", path, form="script"),
            preport(settings, "preport script --inline", "--inline", path, form="script"),
            pdecode(settings, "pdecode names", "-f", "jsonl", "--symbols=names", "--no-inline",
                    "--types", "SAMPLE", "--blobs", "omit", path),
            pdecode(settings, "pdecode inlined", "-f", "jsonl", "--symbols=names", "--types",
                    "SAMPLE", "--blobs", "omit", path)]


def peers(path):
    """perf, and a later one (PERF_NEW) where there is one."""
    found = []
    for mark, variable, default in (("", "PERF", "perf"), (" (new)", "PERF_NEW", "")):
        perf = shutil.which(os.environ.get(variable) or default)
        if not perf:
            continue
        found += [Program(f"perf script --no-inline{mark}",
                          [perf, "script", "--no-inline", "-i", path]),
                  Program(f"perf script{mark}", [perf, "script", "-i", path]),
                  Program(f"perf report --no-inline{mark}",
                          [perf, "report", "--stdio", "--no-inline", "-i", path])]
    return found


def two_threads(settings, path):
    """Two threads against one, with nothing run between the two."""
    return measure(settings, [preport(settings, f"preport folded, {word}", path, jobs=jobs)
                              for word, jobs in (("one thread", "1"), ("two threads", "2"))])


def kallsyms(settings):
    """Reads this machine's kallsyms, and finds a symbol. Most of the time is the kernel's, which
    writes the text for whoever reads it."""
    return measure(settings, [Program("kallsyms", [compiled(settings, "symbols_text"), "kallsyms",
                                                   "/proc/kallsyms", "ffffffff81000100"]),
                              Program("cat kallsyms", ["cat", "/proc/kallsyms"])])


def frames_of(settings, path):
    """The frames of all samples, and the distinct addresses of the program itself in its file."""
    lines = settings.work / "frames.jsonl"
    run(settings, [settings.tool("pdecode"), "-f", "jsonl", "--symbols=table", "--no-inline",
                   "--types", "SAMPLE", "--blobs", "omit", "-o", lines, path])
    frames, addresses = 0, set()
    with open(lines, encoding="utf-8") as file:
        for line in map(json.loads, file):
            frames += len(line.get("frame_ids", ()))
            if line["kind"] == "frame" and line.get("dso", "").endswith("/templates"):
                addresses.add(int(line["file_offset"], 16) - line.get("return_address", False))
    lines.unlink()
    return frames, sorted(addresses)


def one_by_one(settings, program, addresses):
    """Programs that find the functions inlined at each address of a list."""
    listed = settings.work / "addresses"
    listed.write_text("".join(f"{address:#x}\n" for address in addresses))
    commands = {"addr2line -fi": ["addr2line", "-f", "-i", "-e", program],
                "llvm-symbolizer": ["llvm-symbolizer", "--inlines", f"--obj={program}"]}
    return [Program(name, ["sh", "-c", '"$@" < "$0"', listed, *command])
            for name, command in commands.items() if shutil.which(command[0])]


def add(settings, report, file, programs, **more):
    measure(settings, programs)
    report.add_symbols({"input": file.describe(),
                        "samples": stats_of(settings, file.path)["by_type"]["SAMPLE"]["records"],
                        "carried": bundle_size(file.path), **more,
                        "programs": [summary(one, file.bytes) for one in programs]})


def symbols(settings, report):
    try:
        program = with_debug_information(settings)
    except CantRecord as error:
        report.skip("symbols", str(error))
        return
    for kind in (STACKS, CHAINS):
        try:
            file = make(settings, kind, program)
            frames, addresses = frames_of(settings, file.path)
            programs = [*ours(settings, file.path), *peers(file.path)]
            alone = {}
            if kind is STACKS:
                programs += one_by_one(settings, program, addresses)
                alone["parts"] = parts(settings, file.path, program, addresses)
                alone["apart"] = [summary(one, file.bytes) for one in
                                  (*two_threads(settings, file.path), *kallsyms(settings))]
            add(settings, report, file, programs, frames=frames, addresses=len(addresses), **alone)
            file.remove()
        except CantRecord as error:
            report.skip(f"symbols of {kind.name}", str(error))
