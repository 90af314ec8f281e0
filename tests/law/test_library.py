"""libdecode as a library: its exports and imports, no writable state, headers that compile
alone."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, TOOLS

HEADERS = sorted((ROOT / "libdecode" / "include" / "pd").glob("*.h"))
CPLUSPLUS = ROOT / "tests" / "c" / "api_cplusplus.cc"
MAP = ROOT / "libdecode" / "libdecode.map"
SHARED = TOOLS / "libdecode.so"
STATIC = TOOLS / "libdecode.a"

# A library must not end the process, print, or read the environment.
FORBIDDEN = set("""
    exit _exit _Exit quick_exit abort atexit __assert_fail raise kill signal sigaction
    printf vprintf fprintf vfprintf dprintf puts fputs fputc putc putchar fwrite perror
    stdin stdout stderr __printf_chk __fprintf_chk __vfprintf_chk fopen fdopen popen system fork
    execve setlocale setenv putenv getenv strtok localtime gmtime rand srand
""".split())


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def declared(text):
    """The names of functions and objects that a header exports."""
    names = set()
    for declaration in re.findall(r"^PD_API\b([^;]*);", without_comments(text), flags=re.M):
        name = re.search(r"(\w+)\s*(\(|$)", declaration)
        assert name, declaration
        names.add(name[1])
    return names


def exported(library):
    """{name: version} of the dynamic symbols that are defined."""
    symbols = {}
    for line in output("nm", "-D", "--defined-only", "--with-symbol-versions",
                       library).splitlines():
        _, kind, name = line.split()
        if kind != "A":     # the version itself
            name, _, version = name.partition("@@")
            symbols[name] = version
    return symbols


def mapped(text):
    """{name: version} of a version script."""
    names = {}
    for version, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}", without_comments(text), flags=re.S):
        section = body.split("global:")[1].split("local:")[0]
        for name in re.findall(r"\w+", section):
            assert name not in names, f"{name} is there twice"
            names[name] = version
    return names


@pytest.fixture(scope="module")
def api():
    return set().union(*(declared(path.read_text()) for path in HEADERS))


def test_the_map_is_the_headers(api):
    assert set(mapped(MAP.read_text())) == api


def test_the_library_exports_the_map():
    assert exported(SHARED) == mapped(MAP.read_text())


def test_everything_else_is_local():
    assert re.search(r"local:\s*\*;", without_comments(MAP.read_text()))


def test_names_have_the_prefix(api):
    assert not [name for name in api if not name.startswith("pd_")]
    macros = {name for path in HEADERS
              for name in re.findall(r"^#define\s+(\w+)", without_comments(path.read_text()),
                                     flags=re.M)}
    assert not [name for name in macros if not name.startswith("PD_")]
    tags = {name for path in HEADERS
            for name in re.findall(r"^(?:struct|enum|union)\s+(\w+)",
                                   without_comments(path.read_text()), flags=re.M)}
    assert tags and not [name for name in tags if not name.startswith("pd_")]


def test_the_static_library_stays_in_its_names():
    """A static library shares the name space of the program."""
    lines = [line.split() for line in output("nm", "-g", "--defined-only", STATIC).splitlines()]
    names = {line[2] for line in lines if len(line) == 3}
    assert len(names) > 100
    assert not [name for name in names if not name.startswith("pd_")]


def test_declared_finds_the_declarations_of_headers():
    text = """/* PD_API void pd_old(void); */
PD_API struct pd_x *pd_open(const char *path,
			     int (*f)(void));
PD_API extern const struct pd_v pd_values;
void not_this(void);
"""
    assert declared(text) == {"pd_open", "pd_values"}


# --- state ----------------------------------------------------------------------------------------

def writable(sections):
    """Sections of `readelf -SW` with data that a loaded program can change."""
    found = {}
    for line in sections.splitlines():
        row = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+(\S+)\s+\w+\s+\w+\s+(\w+)\s+\w+\s+(\w*)", line)
        if not row:
            continue
        name, kind, size, flags = row[1], row[2], int(row[3], 16), row[4]
        if ("W" in flags and size and kind in ("PROGBITS", "NOBITS")
            and not name.startswith(".data.rel.ro")):
            found[name] = size
    return found


def test_no_object_has_writable_data():
    """.data.rel.ro is allowed: it is read-only after the loader has filled in addresses."""
    sections = output("readelf", "-SW", STATIC)
    assert sections.count("File:") > 20
    assert writable(sections) == {}
    commons = [line for line in output("nm", STATIC).splitlines()
               if re.search(r"\s[CBbsS]\s", line)]
    assert commons == []


def test_writable_data_is_seen(tmp_path):
    source = tmp_path / "state.c"
    source.write_text(
        "static int calls; int table[] = { 1 }; static const char *const names[] = { \"a\" };\n"
        "const char *count(int i) { table[0] = i; return names[calls++]; }\n")
    subprocess.run(["cc", "-fPIC", "-c", "-o", tmp_path / "state.o", source], check=True)
    assert set(writable(output("readelf", "-SW", tmp_path / "state.o"))) == {".data", ".bss"}


def test_nothing_is_imported_that_a_library_has_no_use_for():
    imported = {re.split("@", line.split()[-1])[0]
                for line in output("nm", "-D", "--undefined-only", SHARED).splitlines()}
    assert "malloc" in imported and "read" in imported
    assert not imported & FORBIDDEN


def test_libraries_that_are_linked():
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", output("readelf", "-d", SHARED)))
    assert ({re.sub(r"\.so.*", "", name) for name in needed}
            <= {"libzstd", "libz", "liblzma", "libbz2", "libc", "libm", "ld-linux-x86-64",
               "ld-linux-aarch64", "libpthread"})   # part of libc since glibc 2.34
    assert "[libdecode.so.0]" in output("readelf", "-d", SHARED)


# --- headers --------------------------------------------------------------------------------------

LANGUAGES = {"c99": ["cc", "-std=c99", "-xc"],
             "c11": ["cc", "-std=c11", "-xc"], "c2x": ["cc", "-std=c2x", "-xc"],
             "c++11": ["c++", "-std=c++11", "-xc++"], "c++17": ["c++", "-std=c++17", "-xc++"],
             "c++20": ["c++", "-std=c++20", "-xc++"]}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_a_header_stands_alone(header, language, tmp_path):
    compiler, *options = LANGUAGES[language]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / "alone"
    source.write_text(
        f'#include "pd/{header.name}"\n#include "pd/{header.name}"\nextern int something;\n')
    done = subprocess.run([compiler, *options, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                           "-Werror", "-I", ROOT / "libdecode" / "include", source],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_in_cplusplus_with_many_warnings(compiler, standard, tmp_path):
    """Each header of all libraries alone, and all together."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    paths = sorted(ROOT.glob("lib*/include"))
    names = [f"pd/{header.name}" for path in paths for header in sorted((path / "pd").glob("*.h"))]
    assert {"pd/index.h", "pd/profile.h", "pd/symbols.h", "pd/columns.h"} <= set(names)
    sources = []
    for i, group in enumerate([names, *([name] for name in names)]):
        sources.append(tmp_path / f"{i}.cpp")
        sources[-1].write_text("".join(f'#include "{name}"\n' for name in group))
    done = subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra",
                           "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion",
                           "-Wold-style-cast", "-Werror", *(f"-I{path}" for path in paths),
                           *sources], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_a_header_states_its_purpose(header):
    """The first line states the purpose; declarations have C linkage in C++."""
    text = header.read_text()
    assert text.startswith(f"/* {header.name} - ")
    assert re.search(r'extern "C(\+\+)?"', text)
    assert re.search(rf"#ifndef PD_{header.stem.upper()}_H\n#define PD_{header.stem.upper()}_H\n",
                     text)


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20", "c++2b"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_macros_in_cplusplus(compiler, standard):
    """All compilers compile the program without warnings; test_api.py runs it."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    if subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", "-xc++", "/dev/null"],
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"this {compiler} does not know {standard}")
    done = subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra",
                           "-Wpedantic", "-Wold-style-cast", "-Wshadow", "-Werror", "-I",
                           ROOT / "libdecode" / "include", CPLUSPLUS],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("standard", ["c99", "c11", "c2x"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_macros_in_c(compiler, standard):
    """The examples, and the program that writes all kinds of values."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    programs = [*sorted((ROOT / "examples").glob("*.c")), ROOT / "tests" / "c" / "api_write.c"]
    headers = [f"-I{path}" for path in sorted(ROOT.glob("lib*/include"))]
    done = subprocess.run([compiler, f"-std={standard}", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall",
                           "-Wextra", "-Wpedantic", "-Werror", *headers, *programs],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def test_the_program_in_cplusplus_has_every_macro():
    macros = {name for path in HEADERS
              for name in re.findall(r"^#define\s+(\w+)", without_comments(path.read_text()),
                                     flags=re.M)
              if not name.endswith(("_H", "_"))}
    assert {"PD_READER_OPTIONS", "PD_NUMBER", "PD_WRITER_OPTIONS"} <= macros
    # other macros use it
    assert macros - set(re.findall(r"\w+", CPLUSPLUS.read_text())) == {"PD_API", "PD_OPTIONS_OF"}


def test_constants_that_callers_compile_in():
    """Compiled programs contain the codes and modes as numbers: these never change."""
    program = """#include "pd/pd.h"
        _Static_assert(PD_OK == 0 && PD_E_IO == 1, "codes");
        _Static_assert(PD_E_TRUNCATED == 6 && PD_E_ARGUMENT == 17, "more codes");
        _Static_assert(PD_NOTE == 1 && PD_DAMAGED == 2 && PD_FATAL == 3, "severities");
        _Static_assert(PD_MODE_FILE == 0 && PD_MODE_PIPE == 1 && PD_MODE_DIRECTORY == 2, "modes");
        _Static_assert(PD_LITTLE_ENDIAN == 0 && PD_BIG_ENDIAN == 1, "orders");
        _Static_assert(PD_AS_WRITTEN == 0 && PD_BY_TIME == 1, "sorting");
        _Static_assert(PD_BLOBS_HEX == 0 && PD_BLOBS_OMIT == 1 && PD_BLOBS_FULL == 2, "blobs");
        """
    done = subprocess.run(["cc", "-std=c11", "-xc", "-fsyntax-only", "-I",
                           ROOT / "libdecode" / "include", "-"],
                          input=program, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


# Structs in the callers' memory without a `size` member: if a size changes, so must the SONAME.
# 64-bit machines.
FIXED = {"libdecode.so.0": {
    "pd_bytes": 16, "pd_error": 80, "pd_range": 16, "pd_ranges": 16, "pd_globs": 16,
    "pd_output": 16, "pd_section": 40, "pd_feature": 40, "pd_numbers": 32, "pd_values": 64,
    "pd_value": 40, "pd_lender": 16, "pd_repair_report": 576, "pd_moment": 24, "pd_task": 80,
    "pd_location": 72, "pd_mapping": 64, "pd_item": 72, "pd_index_entry": 32, "pd_function": 32,
    "pd_frame_names": 40, "pd_image_file": 184, "pd_copied_stack": 80,
    "pd_image_frames": 32, "pd_end_count": 16, "pd_sample_test": 16,
    "pd_sample": 56,
}}
# the size of pd_fields is pd_fields_batch.item_size
GROWING = {"pd_file_info", "pd_fields", "pd_image", "pd_namespaces", "pd_name_totals"}


def structs():
    """{name: its first member} of the headers."""
    found = {}
    for path in HEADERS:
        found.update(re.findall(r"^struct (\w+) \{\s*([^;]*);", without_comments(path.read_text()),
                                flags=re.M))
    return found


def test_structs_grow_as_the_headers_say():
    soname = re.search(r"\[(libdecode\.so\.\d+)\]", output("readelf", "-d", SHARED))[1]
    sized = {name for name, first in structs().items() if first == "size_t size"}
    assert len(sized) > 6 and set(structs()) == sized | GROWING | set(FIXED[soname])
    program = "".join(f'#include "pd/{path.name}"\n' for path in HEADERS) + "".join(
        f'_Static_assert(sizeof(void *) != 8 || sizeof(struct {name}) == {size}, "{name}");\n'
        for name, size in FIXED[soname].items())
    done = subprocess.run(["cc", "-std=c11", "-xc", "-fsyntax-only", "-I",
                           ROOT / "libdecode" / "include", "-"],
                          input=program, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
