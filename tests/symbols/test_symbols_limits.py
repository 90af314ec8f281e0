"""Files with names that would take more memory or time than --memory allows."""
import json
import re
import resource
import shutil
import struct
import subprocess
import sys
import zlib

import pytest

from conftest import TOOLS
from perfdata.container import File
from test_symbols import BASE, EVENT, IN_KERNEL, build_id, hit, mapped, reason, symbol
from test_symbols import symbols as symbols_fixture
from test_symbols_modules import MODULE, NAME, loaded

symbols = symbols_fixture       # a fixture
ZEROS = 200 << 20
SOURCE = "int work(int x) { return x * x; }\nint main(int argc, char **argv) { (void)argv; " \
         "return work(argc); }\n"


@pytest.fixture(scope="module", name="plain")
def compiled_program(tmp_path_factory):
    top = tmp_path_factory.mktemp("limits")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O0", "-Wl,--build-id", "-o", top / "app", top / "p.c"],
                   check=True)
    return top / "app"


def with_large_strings(plain, to):
    (to.parent / "zeros").write_bytes(bytes(ZEROS))
    subprocess.run(["objcopy", f"--update-section=.debug_str={to.parent / 'zeros'}", plain, to],
                   check=True)
    subprocess.run(["objcopy", "--compress-debug-sections=zlib-gabi", to], check=True)


def with_older_form(plain, to, name):
    """A section that libdw looks for is in the form that was used before SHF_COMPRESSED."""
    (to.parent / "zeros").write_bytes(b"ZLIB" + struct.pack(">Q", ZEROS) +
                                      zlib.compress(bytes(ZEROS), 1))
    subprocess.run(["objcopy", f"--add-section=.zdebug_{name}={to.parent / 'zeros'}", plain, to],
                   check=True)


def recording(program, where, addresses=("work", "main")):
    records = [mapped(program), *(hit(BASE + symbol(program, name)[0]) for name in addresses)]
    path = where / "limits.data"
    path.write_bytes(File(attrs=[(EVENT, [1])], records=records).build("<"))
    return path


# The peak of a process includes that of its parent, so the parent is a small one.
MEASURE = """import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(json.dumps([done.returncode, done.stdout, done.stderr,
                  resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10]))
"""


def run(*command):
    """(status, standard output, errors, MiB at most)"""
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], stdout=subprocess.PIPE,
                          check=True)
    return json.loads(done.stdout)


COMMANDS = [("pdecode", "--symbols", "-f", "jsonl"), ("preport", "-j1", "-s", "sym,srcline"),
            ("pquery", "--symbols", "select function from samples join symbols using (frame)")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_debug_information_is_expanded_within_the_limit(command, plain, tmp_path):
    app = tmp_path / "app"
    with_large_strings(plain, app)
    assert app.stat().st_size < 1 << 20
    path = recording(app, tmp_path)
    tool = [TOOLS / command[0], *command[1:]]
    status, out, errors, mib = run(*tool, "--memory", "16M", path)
    assert status == 1 and "work" in out and mib < ZEROS >> 20
    assert re.search(r"names or lines of 1 files do not fit into memory, as those of "
                     rf"{app}: give more --memory\n", errors)
    status, out, errors, mib = run(*tool, path)
    assert (status, errors) == (0, "") and "work" in out


@pytest.mark.parametrize("command", COMMANDS[:2], ids=lambda command: command[0])
def test_the_older_form_is_expanded_within_the_limit(command, plain, tmp_path):
    app = tmp_path / "app"
    with_older_form(plain, app, "types")
    path = recording(app, tmp_path)
    status, out, errors, mib = run(TOOLS / command[0], *command[1:], "--memory", "16M", path)
    assert status == 1 and "work" in out and mib < ZEROS >> 20
    assert f"do not fit into memory, as those of {app}: give more --memory\n" in errors


@pytest.mark.parametrize("command", COMMANDS[:2], ids=lambda command: command[0])
def test_sections_that_hold_no_names_are_not_expanded(command, plain, tmp_path):
    app = tmp_path / "app"
    with_older_form(plain, app, "loc")
    path = recording(app, tmp_path)
    status, out, _, mib = run(TOOLS / command[0], *command[1:], "--memory", "16M", path)
    assert status == 0 and "work" in out and mib < ZEROS >> 20


@pytest.mark.sanitize
def test_long_names_are_cut(symbols, tmp_path):
    names = {b"n" * 8191: "n" * 8191, b"n" * 8192: "n" * 8188 + "...",
             b"n" * 8187 + "é".encode() * 9: "n" * 8187 + "..."}
    path = tmp_path / "long"
    lines = [f'void f{i}(void) {{}} __asm__(".globl {name.decode()}\\n.set {name.decode()}, f{i}");'
             for i, name in enumerate(names)]
    path.with_suffix(".c").write_text("\n".join([*lines, "int main(void) { return 0; }"]))
    subprocess.run(["gcc", "-Wl,--build-id", "-o", path, path.with_suffix(".c")], check=True)
    table = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    starts = [int(re.search(rf"^(\w+) T f{i}$", table, re.M)[1], 16) for i in range(len(names))]
    subprocess.run(["strip", *(f"-Nf{i}" for i in range(len(names))), path], check=True)
    frames = symbols.frames([mapped(path), *(hit(BASE + start) for start in starts)])
    assert [frame["symbol"] for frame, in frames] == list(names.values())


@pytest.mark.sanitize
@pytest.mark.parametrize("nr, are_shown", [(5, True), (10, False)])
def test_inlined_functions_with_too_much_text_are_left_out(nr, are_shown, symbols, tmp_path):
    names = [f"f{i}_" + "n" * 8000 for i in range(nr)]
    source = ["volatile int n;"]
    for name, callee in zip(names, ["n = 5", *(f"{name}()" for name in names)]):
        source.append("static inline __attribute__((always_inline)) void "
                      f"{name}(void) {{ {callee}; }}")
    source.append(f"void work(void) {{ {names[-1]}(); }} int main(void) {{ work(); return 0; }}")
    path = tmp_path / "deep"
    path.with_suffix(".c").write_text("\n".join(source))
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", path, path.with_suffix(".c")],
                   check=True)
    (frame,), = symbols.frames([mapped(path), hit(BASE + symbol(path, "work")[0])])
    assert frame["symbol"] == "work"
    inlined = [function["symbol"] for function in frame.get("inlined", [])]
    assert inlined == (names if are_shown else [])


@pytest.mark.parametrize("count, word", [(1170, "work"), (1171, "BAD_FILE")])
def test_no_more_program_headers_than_the_kernel_loads(count, word, plain, symbols, tmp_path):
    data = bytearray(plain.read_bytes())
    at, = struct.unpack_from("<Q", data, 32)
    old, = struct.unpack_from("<H", data, 56)
    table = data[at:at + 56 * old]
    struct.pack_into("<Q", data, 32, len(data))
    struct.pack_into("<H", data, 56, count)
    app = tmp_path / "app"
    app.write_bytes(data + table + table[:56] * (count - old))
    records = [mapped(plain, build_id(plain), name=str(app)),
               hit(BASE + symbol(plain, "work")[0])]
    assert reason(symbols, records) == word


def test_a_module_of_many_sections(symbols, tmp_path):
    """The addresses of sections in its debug file are those of the same ones in the module: code
    that compared all with all took minutes."""
    (tmp_path / "many.s").write_text(".text\n.globl first\n.type first,@function\nfirst: ret\n"
                                     ".size first, 1\n" + "".join(
                                         f'.section .data.s{i},"aw"\n.byte 0\n'
                                         for i in range(30000)))
    module = tmp_path / "root" / NAME[1:]
    module.parent.mkdir(parents=True)
    subprocess.run(["gcc", "-c", "-o", tmp_path / "many.o", tmp_path / "many.s"], check=True)
    subprocess.run(["ld", "-r", "--unique", "--build-id=sha1", "-o", module, tmp_path / "many.o"],
                   check=True)
    debug = tmp_path / "debug" / ".build-id" / build_id(module).hex()[:2]
    debug.mkdir(parents=True)
    shutil.copy(module, debug / (build_id(module).hex()[2:] + ".debug"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    frames = symbols.frames([loaded(module), hit(MODULE, misc=IN_KERNEL)], "--lines", "--sysroot",
                            tmp_path / "root", "--debug-dir", tmp_path / "debug")
    assert frames[0][0]["symbol"] == "first"
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 2
