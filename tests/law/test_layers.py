"""Laws of the sources: includes between folders, facts that have one place, and sizes.

MAY_INCLUDE has a line for each folder; sources at the top of libdecode/ and record/ may include all
folders. The public headers (include/pd) include each other and C's. tools/ and record/ see the
libraries through them only; record/ also uses what all tools have. sqlite/ is a part of pquery that
its extension has, too.

An exception states its reason here.
"""
import pathlib
import re
import subprocess
import sys
import sysconfig

import pytest

from conftest import ROOT

LIBRARY = ROOT / "libdecode"
PUBLIC = [ROOT / library / "include" for library in ("libdecode", "libsymbols", "libprofile",
                                                      "libcolumns")]

MAY_INCLUDE = {
    "libdecode": {
        "base": "",
        "layout": "base",
        "plan": "base layout",
        "pack": "base layout plan",
        "schema": "base layout",
        "lint": "base layout plan",
        "tracepoint": "base",
        "input": "base layout",
        "session": "base layout plan tracepoint",
        "stream": "base layout input session",
        "container": "base input plan session stream",
        "output": "base layout pack plan session stream",
        "model": "base input layout stream",
        "reader": "base container input model plan stream",
        "repair": "base layout output plan reader session stream",
        "tree": "base layout reader tracepoint",
        "stats": "base layout model reader stream sink.h",
        "json": "base layout model plan reader stats stream sink.h",
    },
    "libsymbols": {
        "image": "",
        "find": "image",
        "kernel": "image",
        "jit": "image",
        "unwind": "image",
        "debug": "image",
        "bundle": "image",
        "bpf": "",
        "static": "",
        "session": "bpf bundle debug find image jit kernel unwind",
    },
    "libprofile": {
        "store": "",
        "calltree": "store",
        "samples": "store",
        "profile": "calltree samples store",
        "merge": "calltree profile store",
        "encoding": "profile store",
        "table": "encoding merge profile",
        "formats": "encoding profile samples",
        "page": "encoding profile",
    },
    "libcolumns": {
        "store": "",
        "tables": "store",
        "samples": "store",
        "pass": "samples store tables",
        "encoding": "",
        "parquet": "encoding pass store tables",
        "arrow": "encoding pass tables",
    },
    "sqlite": {},
    "python": {},
    "tools": {
        "cli": "",
        "process": "cli",
        "sandbox": "cli",
        "files": "cli sandbox",
        "recording": "cli files process",
        "pdecode": "cli files process recording sandbox",
        "pencode": "cli files process sandbox",
        "prepair": "cli files process sandbox",
        "preport": "cli files process recording sandbox",
        "pquery": "cli files process recording sandbox",
    },
    "record": {
        "base": "",
        "bpf": "base",
        "buildid": "base",
        "hostinfo": "base bpf",
        "synth": "base bpf buildid",
        "target": "base",
        "event": "base target",
        "capture": "base event target",
        "output": "base buildid capture event",
        "inform": "base event output",
        "names": "base",
        "run": "base bpf buildid capture event hostinfo names output synth target",
    },
}
# Folders that every tool uses, precord too.
OF_ALL_TOOLS = {"cli", "process", "sandbox", "files", "recording"}
PYTHON_HEADER = pathlib.Path(sysconfig.get_path("include"), "Python.h")
COLUMNS = 100          # .clang-format says so, too; a tab has 8
FUNCTION_LINES = 60
FILE_LINES = 700
PARAMETERS = 8         # what more functions share is a struct, such as struct pd_loader

# Tables and lists of names are as long as what they describe.
TABLES = re.compile(
    r"libdecode/layout/(names|records|features|sample|attr|registers|container)(_\w+)?\.c$")

NAMES_THAT_SAY_NOTHING = {"util", "utils", "common", "misc", "helper", "helpers", "defs", "stuff",
                          "lib"}

# Decisions by record type belong into the tables of layout/. The exceptions, with their reasons:
SWITCHES_ON_TYPE = {
    "libdecode/session/session_update.c":
        "which records teach the session something: events, names, features",
    "record/buildid/buildid_scan.c": "takes fields out of maps, through the public interface",
}


def sources(*tops):
    return sorted(path for top in tops for path in (ROOT / top).rglob("*.[ch]"))


ALL = sources("libdecode", "libsymbols", "libprofile", "libcolumns", "sqlite", "python", "tools",
              "record")


def name_of(path):
    return str(path.relative_to(ROOT))


def code_of(text):
    """The text without comments, strings and characters; line numbers stay the same."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0]) if match[0][0] == "/" else match[0][0] + match[0][-1]
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text,
                  flags=re.S)


def includes(text):
    """[(quoted, name)] of a source's includes."""
    return [(mark == '"', name)
            for mark, name in re.findall(r'^\s*#\s*include\s+(["<])([^">]+)[">]', text, flags=re.M)]


def room_of(path):
    """("libdecode", "stream") of libdecode/stream/batch.h; ("libdecode", "sink.h") of a file at the
    top."""
    top, room, *_ = path.relative_to(ROOT).parts
    return top, room


def include_law(top, room, name):
    """The fault of a quoted include in a room of libdecode/ or record/, or None."""
    if name.startswith("pd/"):
        own = {"libsymbols": PUBLIC[1:2], "libprofile": PUBLIC[2:3], "libcolumns": PUBLIC[3:],
               "sqlite": PUBLIC[3:], "python": PUBLIC[3:], "record": PUBLIC[1:2],
               "tools": PUBLIC[1:]}
        seen = [PUBLIC[0], *own.get(top, [])]
        return None if any((place / name).is_file() for place in seen) else "no public header"
    if room == "include":
        return "a public header includes public headers only"
    # budgets, buffers, arenas, maps, hashes, temporary files and the cursor of libdecode
    if top in ("libsymbols", "libprofile", "libcolumns") and name.startswith("base/"):
        return None if (LIBRARY / name).is_file() else "not there"
    if top == "record" and name.split("/")[0] in OF_ALL_TOOLS:
        return None if (ROOT / "tools" / name).is_file() else "not there"
    if (top, room) == ("tools", "pquery") and "/" not in name:
        return None if (ROOT / "sqlite" / name).is_file() else "names no room"
    if not (ROOT / top / name).is_file():
        return "not there"
    other = name.split("/")[0]
    if room in MAY_INCLUDE[top] and other not in (room, *MAY_INCLUDE[top][room].split()):
        return f"{room} may not include {other}"
    return None


@pytest.mark.parametrize("top", MAY_INCLUDE)
def test_folders_include_only_allowed_folders(top):
    wrong = [f"{name_of(path)} includes {name}: {problem}"
             for path in sources(top) for quoted, name in includes(path.read_text()) if quoted
             for problem in [include_law(*room_of(path), name)] if problem]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("top", MAY_INCLUDE)
def test_every_room_has_its_law(top):
    folders = {path.parent.name for path in (ROOT / top).glob("*/*.[ch]")} - {"include"}
    assert folders == set(MAY_INCLUDE[top])


@pytest.mark.parametrize("top", MAY_INCLUDE)
def test_no_circle_of_rooms(top):
    """Each room includes only rooms above it in the table."""
    seen = {"sink.h"}
    for room, others in MAY_INCLUDE[top].items():
        assert set(others.split()) <= seen, f"{room} stands above what it includes"
        seen.add(room)


@pytest.mark.parametrize("top, room, name, allowed", [
    ("libdecode", "base", "layout/desc.h", False), ("libdecode", "layout", "base/buf.h", True),
    ("libdecode", "stream", "model/order.h", False),
    ("libdecode", "model", "base/tempfile.h", True),
    ("libdecode", "reader", "json/json.h", False), ("libdecode", "json", "reader/reader.h", True),
    ("libdecode", "include", "base/buf.h", False), ("libdecode", "include", "pd/error.h", True),
    ("libdecode", "stream", "cli.h", False), ("libdecode", "base", "pd/none.h", False),
    ("libdecode", "sink.c", "json/json.h", True), ("record", "event", "run/loop.h", False),
    ("record", "run", "event/event.h", True), ("record", "base", "cli/cli.h", True),
    ("record", "base", "cli.h", False), ("record", "run", "preport/preport_table.h", False),
    ("tools", "cli", "files/input.h", False), ("tools", "recording", "files/input.h", True),
    ("tools", "recording", "pdecode/pdecode_columns.h", False),
    ("tools", "pdecode", "preport/preport_table.h", False),
    ("tools", "pdecode", "pd/columns.h", True), ("tools", "pdecode", "layout/desc.h", False),
    ("tools", "pquery", "database.h", True), ("tools", "pdecode", "database.h", False),
    ("record", "run", "loop.h", False),
    ("record", "run", "stream/batch.h", False), ("record", "run", "pd/profile.h", False),
    ("libsymbols", "image", "base/arena.h", True), ("libsymbols", "image", "layout/desc.h", False),
    ("libsymbols", "image", "pd/symbols.h", True), ("libdecode", "reader", "pd/symbols.h", False),
    ("libsymbols", "include", "image/image.h", False),
    ("libsymbols", "include", "base/buf.h", False),
    ("libprofile", "merge", "base/arena.h", True), ("libprofile", "merge", "frames.h", False),
    ("libprofile", "merge", "calltree/frames.h", True),
    ("libprofile", "profile", "formats/script_head.h", False),
    ("libprofile", "write.c", "formats/script_head.h", True),
    ("libprofile", "merge", "pd/profile.h", True), ("libprofile", "merge", "layout/desc.h", False),
    ("libprofile", "merge", "pd/symbols.h", False),
    ("libsymbols", "image", "pd/profile.h", False),
    ("libcolumns", "tables", "base/buf.h", True),
    ("libcolumns", "tables", "layout/desc.h", False),
    ("libcolumns", "tables", "pd/columns.h", True),
    ("libcolumns", "tables", "pd/symbols.h", False),
    ("libcolumns", "tables", "pass/columns_internal.h", False),
    ("libcolumns", "pass", "parquet/group_writer.h", False),
    ("libcolumns", "arrow", "encoding/flatbuffer.h", True),
    ("libcolumns", "tables", "batch.h", False),
    ("sqlite", "scan.c", "plan.h", True), ("sqlite", "scan.c", "pd/columns.h", True),
    ("sqlite", "scan.c", "base/buf.h", False), ("sqlite", "scan.c", "cli.h", False),
])
def test_the_law_itself(top, room, name, allowed):
    assert (include_law(top, room, name) is None) == allowed


# A number given to the name of a record type or feature: "#define TYPE_COMM 3", "RECORD_COMM = 3".
NUMBERED = re.compile(
    r"\b(?:PD_)?(?:(?:PERF_)?RECORD|TYPE|FEATURE|HOST)_([A-Z][A-Z0-9_]*)(?:\s*=\s*|\s+)\d+")


def numbered(text, names):
    return [match[0] for match in NUMBERED.finditer(code_of(text)) if match[1] in names]


def test_types_and_features_are_numbered_once():
    header = (LIBRARY / "include" / "pd" / "types.h").read_text()
    names = set(re.findall(r"^\tPD_(?:RECORD|FEATURE)_(\w+) = \d+,", header, flags=re.M))
    assert {"SAMPLE", "FINISHED_ROUND", "HOSTNAME", "SIMPLEPERF_FILE"} <= names
    found = {name_of(path): numbers for path in [*ALL, *sorted((ROOT / "bench").rglob("*.c"))]
             for numbers in [numbered(path.read_text(), names)] if numbers}
    assert set(found) <= {"libdecode/include/pd/types.h"}, found
    for text, found in [("#define TYPE_COMM 3", True), ("enum { RECORD_COMM = 3 };", True),
                        ("TYPE_OTHER = 3", False), ("f(PD_RECORD_COMM2, 4)", False),
                        ("a[PD_RECORD_COMM - 1]", False), ("case RECORD_COMM: 3", False)]:
        assert bool(numbered(text, {"COMM"})) == found


# misc and size at their offsets in a record header, size in an attribute.
HEADER_OFFSET = re.compile(r"\bpd_(?:load|store)(?:16|32)?\([^;]*\+ [46],")


def test_headers_have_one_accessor():
    found = [name_of(path) for path in ALL if HEADER_OFFSET.search(code_of(path.read_text()))]
    assert found == ["libdecode/layout/record_header.h"]


def test_public_headers_need_nothing_but_c():
    allowed = {"stddef.h", "stdint.h", "stdbool.h", "string.h"}
    wrong = [f"{path.name} includes <{name}>"
             for path in sources(*[place.relative_to(ROOT) for place in PUBLIC])
             for quoted, name in includes(path.read_text()) if not quoted and name not in allowed]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("header", [path for path in ALL if path.suffix == ".h"], ids=name_of)
def test_a_header_includes_its_dependencies(header):
    """It compiles alone, and included twice."""
    top = header.relative_to(ROOT).parts[0]
    if top == "python" and (sys.version_info < (3, 11) or not PYTHON_HEADER.exists()):
        pytest.skip("no Python.h of 3.11: install python3-dev")
    places = {"libdecode": ["libdecode"],
              "libsymbols": ["libsymbols", "libsymbols/include", "libdecode"],
              "libprofile": ["libprofile", "libprofile/include", "libdecode"],
              "libcolumns": ["libcolumns", "libcolumns/include", "libdecode"],
              "sqlite": ["sqlite", "libcolumns/include"],
              "python": ["python", "libcolumns/include", sysconfig.get_path("include")],
              "tools": ["tools", "sqlite", "libsymbols/include", "libprofile/include",
                        "libcolumns/include"],
              "record": ["record", "tools", "libsymbols/include"]}[top]
    flags = [f"-I{ROOT / place}" for place in [*places, "libdecode/include"]]
    done = subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-xc", "-fsyntax-only", "-Wall",
                           "-Werror", "-Wno-unused-function", *flags, "-"],
                          input=f'#include "{header}"\n' * 2, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^#ifndef (\w+_H)\n#define \1\n", header.read_text(), flags=re.M), "no guard"


# --- in one place only ----------------------------------------------------------------------------

def test_names_of_test_files_are_unique():
    """pytest imports all of them by their last name."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names)) and len(names) > 100


def test_no_name_that_says_nothing():
    assert not [name_of(path) for path in ALL if path.stem in NAMES_THAT_SAY_NOTHING]


def switches_on_type(code):
    """The lines that switch on a record's type."""
    return [line.strip() for line in code.splitlines()
            if re.search(r"\bswitch\s*\((?:[^()]*(?:->|\.))?(?:record_)?type\)"
                         r"|\bswitch\s*\(\s*pd_record_type\(|\bcase\s+PERF_RECORD_", line)]


def test_no_switch_on_record_types_outside_the_tables():
    found = {name_of(path): lines for path in ALL if room_of(path) != ("libdecode", "layout")
             for lines in [switches_on_type(code_of(path.read_text()))] if lines}
    assert {name: lines for name, lines in found.items() if name not in SWITCHES_ON_TYPE} == {}


def test_switches_are_found():
    assert switches_on_type(
        "\tswitch (r->frame.type) {\n\tswitch (type) {\n\tswitch (pd_record_type(r)) {\n"
        "\tcase PERF_RECORD_MMAP:\n") and not switches_on_type("\tswitch (op->kind) {\n")


def test_byte_order_has_one_home():
    """Only the cursor swaps bytes of a file. (The JSON writer uses the instruction for hex
    digits.)"""
    swaps = re.compile(
        r"\b(__builtin_bswap\w+|bswap_\d+|[bl]e\d+toh|hto[bl]e\d+|ntoh[ls]|hton[ls])\b")
    found = {name_of(path) for path in sources("libdecode", "libsymbols")
             if swaps.search(code_of(path.read_text()))}
    assert found <= {"libdecode/base/cursor.h", "libdecode/base/jsonw.h"}


def test_messages_have_one_home():
    """cli_message.c makes text safe for terminals. The other two print no text of the input."""
    prints = re.compile(
        r"\bstderr\b|\b(perror|v?warnx?|v?errx?|psignal)\("
        r"|\b(write|v?dprintf)\((2|STDERR_FILENO)\b")
    found = {name_of(path) for path in ALL if prints.search(code_of(path.read_text()))}
    assert found == {"tools/cli/cli_message.c", "tools/process/progress.c",
                     "tools/sandbox/sandbox_calls.c"}


def test_macros_hide_no_way_out():
    """Macros build data; only code returns or jumps."""
    wrong = [f"{name_of(path)}: {macro.splitlines()[0]}" for path in ALL
             for macro in re.findall(r"^#\s*define .*(?:\\\n.*)*", code_of(path.read_text()),
                                     flags=re.M)
             if re.search(r"\b(return|goto|break|continue)\b", macro)]
    assert not wrong, "\n".join(wrong)


def test_no_second_boolean():
    """f(x, true, false) is not readable: use an enum or an option struct."""
    wrong = [f"{name_of(path)}: {found}" for path in ALL if path.suffix == ".h"
             for found in re.findall(r"\w+\([^()]*\bbool\b[^*(),]*,[^()]*\bbool\b[^*(),]*[,)]",
                                     code_of(path.read_text()))]
    assert not wrong, "\n".join(wrong)


# --- sizes ----------------------------------------------------------------------------------------

def functions(text):
    """(name, lines of the body, braces included) of a source in kernel style: both braces in the
    first column."""
    start, lines = None, code_of(text).splitlines()
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line == "}" and start is not None:
            head = " ".join(lines[max(0, start - 3):start])
            names = re.findall(r"(\w+)\s*\(", head.rsplit("}", 1)[-1].rsplit(";", 1)[-1])
            yield (names[0] if names else head.strip()), i - start + 1
            start = None


def test_functions_fit_a_screen():
    wrong = [f"{name_of(path)}: {name}() has {lines} lines" for path in ALL
             for name, lines in functions(path.read_text()) if lines > FUNCTION_LINES]
    assert not wrong, "\n".join(wrong)


def parameters(text):
    """(name, number of parameters) of the functions that a source defines."""
    for name, inside in re.findall(r"^[a-z][\w *]*?(\w+)\(([^;{}]*)\)\n\{", code_of(text),
                                   flags=re.M):
        yield name, re.sub(r"\([^()]*\)", "", inside).count(",") + 1


def test_functions_take_few_parameters():
    found = [(path, *function) for path in ALL for function in parameters(path.read_text())]
    wrong = [f"{name_of(path)}: {name}() has {n}" for path, name, n in found if n > PARAMETERS]
    assert not wrong, "\n".join(wrong)
    assert len(found) > 5000


def test_parameters_are_counted():
    text = "static int *f(int a, void (*g)(int, int),\n\t     int b)\n{\n}\n\nint h(void);\n"
    assert list(parameters(text)) == [("f", 3)]


def is_python(path):
    with open(path, "rb") as file:
        return path.suffix == ".py" or file.read(64).startswith(b"#!/usr/bin/python3")


def wide_lines(paths):
    return [f"{name_of(path)}:{n} has {len(line.expandtabs(8))} columns" for path in paths
            for n, line in enumerate(path.read_text().split("\n"), 1)
            if len(line.expandtabs(8)) > COLUMNS]


def test_lines_of_c_fit():
    wrong = wide_lines([*ALL, *sources("tests", "bench", "examples"),
                        *(ROOT / "tests").rglob("*.cc")])
    assert not wrong, "\n".join(wrong)


def test_lines_of_python_fit():
    files = [path for top in ("tests", "bench", "scripts", "python", "fleet")
             for path in sorted((ROOT / top).rglob("*")) if path.is_file() and is_python(path)]
    assert ROOT / "scripts" / "bench" in files and len(files) > 100
    wrong = wide_lines(files)
    assert not wrong, "\n".join(wrong)


def test_files_stay_readable():
    wrong = [f"{name_of(path)} has {lines} lines"
             for path in ALL if not TABLES.search(name_of(path))
             for lines in [path.read_text().count("\n")] if lines > FILE_LINES]
    assert not wrong, "\n".join(wrong)


def test_functions_are_counted():
    text = ("static int f(int a,\n\t     int b)\n{\n\tif (a) {\n\t}\n\treturn b;\n}\n"
            "\nstruct s {\n\tint x;\n};\n"
            "int g(void)\n{\n" + "\tg();\n" * 70 + "}\n")
    assert list(functions(text)) == [("f", 5), ("g", 72)]
    assert sum(1 for path in ALL for _ in functions(path.read_text())) > 500


# --- tidiness -------------------------------------------------------------------------------------

def test_each_source_states_its_subject():
    """The first line is "/* name.c - ...", or has the tool's name in the file of its main()."""
    wrong = [name_of(path) for path in ALL
             if not re.match(rf"/\* ({re.escape(path.name)}|{path.stem}) - \S", path.read_text())]
    assert not wrong, "\n".join(wrong)


def test_no_trailing_blanks():
    wrong = [f"{name_of(path)}:{i}" for path in ALL
             for i, line in enumerate(path.read_text().split("\n"), 1) if line != line.rstrip()]
    assert not wrong, "\n".join(wrong)
