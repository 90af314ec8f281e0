"""precord --kcore: a directory with the recording and copies of the kernel's code and symbols. Few
test machines have /proc/kcore, so copying is tested with generated core files."""
import errno
import os
import pathlib
import shlex
import shutil
import struct
import subprocess

import pytest

from conftest import ROOT
from perf_oracle import run_perf
from recorder import needs_root, precord, record, run_precord, workload   # noqa: F401
from rights import needs

PAGE = 4096
TEXT, MODULES, MEMORY = 0xffffffff81000000, 0xffffffffc0000000, 0xffff888000000000
CLOCK = ["-e", "cpu-clock:u", "-F", "1000"]
NATIVE = pytest.mark.skipif(struct.calcsize("P") != 8 or struct.pack("=H", 1) != b"\1\0",
                            reason="core files are made for 64 bits, little endian")


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    """Function: copies with record/run/kcore_copy.c, built with sanitizers; returns errno and the
    segments {address: bytes}."""
    directory = tmp_path_factory.mktemp("kcore")
    subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-std=gnu11", "-g", "-Wall",
                    "-Wextra", "-Werror", "-D_GNU_SOURCE", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=undefined", f"-I{ROOT}/record", "-o", directory / "copy",
                    ROOT / "tests/c/kcore_copy.c", ROOT / "record/run/kcore_copy.c", "-lelf"],
                   check=True)

    def run(core, *ranges):
        (directory / "kcore").unlink(missing_ok=True)
        if isinstance(core, pathlib.Path):
            (directory / "kcore").symlink_to(core)
        else:
            (directory / "kcore").write_bytes(core)
        numbers = [hex(n) for pair in ranges for n in pair]
        done = subprocess.run([directory / "copy", directory / "kcore", directory / "out",
                               hex(PAGE), *numbers],
                              capture_output=True, text=True, timeout=30)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return int(done.stdout), directory / "out"
    return run


def core(segments, kind=4, note=b"CORE"):
    """An ELF core file; segments: (address, bytes)."""
    at = 64 + 56 * (len(segments) + 1)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", kind, 62, 1, 0, 64, 0, 0, 64, 56,
                       len(segments) + 1, 0, 0, 0)
    table, body = struct.pack("<IIQQQQQQ", 4, 0, at, 0, 0, len(note), 0, 0), note
    for address, data in segments:
        table += struct.pack("<IIQQQQQQ", 1, 7, at + len(body), address, address & 0xffffffff,
                             len(data), len(data), PAGE)
        body += data
    return head + table + body


def segments_of(path):
    data = path.read_bytes()
    assert data[:4] == b"\x7fELF" and struct.unpack_from("<H", data, 16) == (4,)
    found = {}
    for i in range(struct.unpack_from("<H", data, 56)[0]):
        kind, flags, offset, address, _, size, memory, align = struct.unpack_from("<IIQQQQQQ", data,
                                                                                  64 + 56 * i)
        assert (kind == 1 and flags == 7 and size == memory and offset % align == address % align
                == 0)
        assert offset + size <= len(data)
        found[address] = data[offset:offset + size]
    return found


@pytest.fixture(scope="module")
def memory():
    return os.urandom(64 * PAGE)


@NATIVE
def test_code_is_copied_and_nothing_else(copy, memory):
    kernel = core([(MEMORY, bytes(16 * PAGE)), (TEXT - PAGE, memory), (MODULES, memory[::-1])])
    error, out = copy(kernel, (TEXT, TEXT + 5 * PAGE + 1),
                      (MODULES + 4 * PAGE, MODULES + 5 * PAGE - 9),
                      (MODULES + 5 * PAGE, MODULES + 6 * PAGE),
                      (MODULES + PAGE + 7, MODULES + PAGE + 8))
    assert error == 0
    assert segments_of(out) == {TEXT: memory[PAGE:7 * PAGE],
                                MODULES + PAGE: memory[::-1][PAGE:2 * PAGE],
                                MODULES + 4 * PAGE: memory[::-1][4 * PAGE:6 * PAGE]}
    assert out.stat().st_size < 11 * PAGE
    if shutil.which("readelf"):
        listed = subprocess.run(["readelf", "-hlW", out], capture_output=True, text=True,
                                check=True)
        assert listed.stdout.count("LOAD") == 3 and not listed.stderr


@NATIVE
def test_a_segment_of_all_memory_is_not_read(copy, memory, tmp_path):
    """As in /proc/kcore: its size is far larger than the memory."""
    whole = bytearray(core([(TEXT, memory)]))
    struct.pack_into("<Q", whole, 64 + 56 + 32, 1 << 46)       # p_filesz
    (tmp_path / "kcore").write_bytes(whole)
    error, out = copy(tmp_path / "kcore", (TEXT + PAGE, TEXT + 3 * PAGE))
    assert error == 0 and segments_of(out) == {TEXT + PAGE: memory[PAGE:3 * PAGE]}
    assert copy(tmp_path / "kcore", (TEXT, TEXT + (2 << 30)))[0] == errno.EFBIG


@NATIVE
@pytest.mark.parametrize("change, error", [
    (lambda data: data[:40], errno.ENOEXEC), (lambda data: data[:100], errno.ENOEXEC),
    (lambda data: b"", errno.ENOEXEC),
    (lambda data: b"x" + data[1:], errno.ENOEXEC),
    (lambda data: data[:16] + b"\2" + data[17:], errno.ENOEXEC),
    (lambda data: data[:4] + b"\1" + data[5:], errno.ENOEXEC),
    (lambda data: data[:-PAGE], errno.ENOEXEC),
    (lambda data: data[:32] + b"\xff" * 8 + data[40:], errno.ENOEXEC),            # e_phoff
    (lambda data: data[:128] + b"\xff" * 8 + data[136:], errno.ENOEXEC),          # p_offset
    (lambda data: data[:136] + bytes(8) + data[144:], errno.ENODATA),             # p_vaddr
    (lambda data: data[:152] + bytes(8) + data[160:], errno.ENODATA),             # p_filesz
])
def test_other_files_than_core_files_are_not_copied(copy, memory, change, error):
    got, out = copy(change(core([(TEXT, memory)])), (TEXT, TEXT + len(memory)))
    assert got == error and not out.read_bytes().startswith(b"\x7fELF")


def own_symbols(path):
    """Those of the kernel and its modules. Programs of BPF come and go."""
    return [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()
            if not line.endswith("[bpf]") and "[__builtin__" not in line]


@needs_root
def test_symbols_are_kept_with_the_recording(record, run_precord, decode, perf, tmp_path):
    for _ in range(3):      # the second becomes perf.data.old, the third replaces that
        run = record("--kcore", "-e", "cpu-clock", "-F", "4000", does="touch 20000")
        assert "can't be kept" not in run.stderr
    kept = run.path / "kcore_dir"
    assert (sorted(path.name for path in run.path.iterdir()) == ["data", "kcore_dir"]
            and len(run.samples) == run.captured)
    assert (own_symbols(kept / "kallsyms") == own_symbols("/proc/kallsyms")
            and (kept / "modules").exists())
    assert (kept / "kcore").exists() != (run.stderr.count("the kernel's code is not copied: ") == 1)
    assert all(path.stat().st_mode & 0o77 == 0
               for path in [run.path, kept, *kept.iterdir(), run.path / "data"])
    assert (tmp_path / "perf.data.old" / "kcore_dir" / "kallsyms").exists()
    code, out, err = run_perf(perf, ["report", "--stats", "-i", run.path])
    assert code == 0 and f"SAMPLE events: {run.captured:10}" in out, (out, err)


@NATIVE
@needs_root
def test_perf_takes_symbols_and_code_from_the_copies(copy, record, perf):
    """Without /proc/kcore the code is generated: perf checks only its addresses."""
    run = record("--kcore", "-e", "cpu-clock", "-F", "4000", does="touch 20000")
    symbols = {name: int(address, 16)
               for address, _, name, *_ in map(str.split, open("/proc/kallsyms", encoding="utf-8"))
               if name in ("_stext", "_etext")}
    start, end = symbols["_stext"], symbols["_etext"]
    if not (run.path / "kcore_dir" / "kcore").exists():
        error, out = copy(
            core([(MEMORY, bytes(PAGE)), (start, b"\x90" * (end - start + 2 * PAGE))]),
            (start, end))
        assert error == 0
        shutil.copy(out, run.path / "kcore_dir" / "kcore")
    code, out, err = run_perf(perf, ["report", "-v", "--stdio", "-i", run.path])
    assert code == 0 and f"Using {run.path}/kcore_dir/kcore for kernel data" in err + out, err
    assert f"Using {run.path}/kcore_dir/kallsyms for symbols" in err + out and "[k] " in out


@needs("events")
def test_hidden_symbols_are_not_copied(run_precord, tmp_path):
    """A user may record without seeing kernel addresses."""
    user = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    tmp_path.chmod(0o777)
    start = subprocess.run([*user, "head", "-1", "/proc/kallsyms"], capture_output=True, text=True,
                           check=True).stdout
    if start.strip("0")[0] != " ":
        pytest.skip("the kernel's addresses are not hidden")
    done = run_precord("--kcore", "-o", "perf.data", *CLOCK, "--", "true", prefix=user)
    assert done.returncode == 0 and done.stderr.count(b"their addresses are hidden") == 1
    assert [path.name for path in (tmp_path / "perf.data").iterdir()] == ["data"]


@needs("events")
@pytest.mark.parametrize("options, said", [(["-o", "-"], "a directory, not a stream"),
                                           (["--switch-output"], "there is one directory"),
                                           (["--switch-output-event", "dummy:u"],
                                            "there is one directory")])
def test_incompatible_options_are_refused(run_precord, tmp_path, options, said):
    done = run_precord("--kcore", *CLOCK, *options, "--", "true")
    assert done.returncode == 2 and said in done.stderr.decode() and list(tmp_path.iterdir()) == []
