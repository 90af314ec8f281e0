"""Names of system calls beside their numbers, by the recording's machine."""
import pathlib
import re
import struct

import pytest

from perfdata import features as f
from perfdata import tracing
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.features import NUMBER
from perfdata.sample import sample
from perfdata.tracing import Format
from perfdata.wire import fstr
from schema_check import complaints

pytestmark = pytest.mark.sanitize

ENTER, EXIT = 41, 42
FORMATS = [Format("sys_enter", ENTER, [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)]),
           Format("sys_exit", EXIT, [("long id", 8, 8, 1), ("long ret", 16, 8, 1)])]
OTHERS = [Format("other", 43, [("long id", 8, 8, 1)])]


def tracepoint(id):
    return Attr(type=2, config=id, sample_period=1, sample_type="IDENTIFIER|TID|TIME|RAW")


def syscall_file(path, arch, numbers, features=None):
    """A sys_enter for each number, then a sys_exit, an event of another system with the same field,
    and a cut one."""
    attrs = [(tracepoint(id), [id]) for id in (ENTER, EXIT, 43)]

    def raw(id, number, rest):
        return tracing.common(id, 1) + struct.pack("<q", number) + rest
    records = [sample(attrs[0][0], id=ENTER, raw=raw(ENTER, number, bytes(48)))
               for number in numbers]
    records += [sample(attrs[1][0], id=EXIT, raw=raw(EXIT, numbers[0], bytes(8))),
                sample(attrs[2][0], id=43, raw=raw(43, numbers[0], b"")),
                sample(attrs[0][0], id=ENTER, raw=raw(ENTER, numbers[0], b""))]
    given = {NUMBER["TRACING_DATA"]:
                 tracing.tracing_data({"raw_syscalls": FORMATS, "mine": OTHERS})}
    if arch:
        given[NUMBER["ARCH"]] = fstr(arch)
    path.write_bytes(
        File(attrs=attrs, records=records, features={**given, **(features or {})}).build("<"))


def names_in(document):
    """(name of the tracepoint, number, name) of each sample."""
    return [(point["name"], point["fields"].get("id"), point.get("syscall"))
            for record in document["records"] for point in [record["raw"]["tracepoint"]]]


# By the machine's manual: the same calls, with other numbers.
MACHINES = {
    "x86_64": {0: "read", 9: "mmap", 59: "execve", 257: "openat", 334: "rseq",
               424: "pidfd_send_signal", 462: "mseal"},
    "i686": {3: "read", 90: "mmap", 192: "mmap2", 11: "execve", 295: "openat", 386: "rseq",
             422: "futex_time64", 462: "mseal"},
    "aarch64": {63: "read", 222: "mmap", 221: "execve", 56: "openat", 293: "rseq",
                424: "pidfd_send_signal", 462: "mseal"},
    "armv7l": {3: "read", 192: "mmap2", 11: "execve", 322: "openat", 398: "rseq",
               422: "futex_time64", 462: "mseal"},
    "riscv64": {63: "read", 56: "openat"},
}


@pytest.mark.parametrize("arch", MACHINES)
def test_system_calls_by_machine(arch, tmp_path, decode):
    path, expected = tmp_path / "calls.data", MACHINES[arch]
    numbers = list(expected)
    syscall_file(path, arch, numbers)
    first = numbers[0]
    document = decode(path)
    assert names_in(document) == [("sys_enter", number, expected[number]) for number in numbers] + [
        ("sys_exit", first, expected[first]), ("other", first, None), ("sys_enter", first, None)]
    document["records"] = [record for record in document["records"] if record]
    assert not complaints("document.schema.json", document)


def test_numbers_without_a_name(tmp_path, decode):
    """Those of other ABIs (x32), of the future, and -1, which is no call."""
    path, numbers = tmp_path / "calls.data", [1 << 30, 1 << 30 | 1, 337, 423, 9999, -1, -2**63]
    syscall_file(path, "x86_64", numbers)
    assert names_in(decode(path))[:-3] == [("sys_enter", number, None) for number in numbers]


@pytest.mark.parametrize("arch", [None, "alpha", "x86"])
def test_unknown_machines_have_no_names(arch, tmp_path, decode):
    path = tmp_path / "calls.data"
    syscall_file(path, arch, [0, 1])
    assert {name for _, _, name in names_in(decode(path))} == {None}


def test_machine_by_its_elf_number(tmp_path, decode):
    path = tmp_path / "calls.data"
    syscall_file(path, None, [63], {NUMBER["E_MACHINE"]: f.e_machine(183, 0)})
    assert names_in(decode(path))[0] == ("sys_enter", 63, "read")


HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "i686": "x86_64-linux-gnu/asm/unistd_32.h",
           "aarch64": "asm-generic/unistd.h"}


@pytest.mark.parametrize("arch", HEADERS)
def test_all_numbers_of_the_headers(arch, tmp_path, decode):
    """Each number that this machine's kernel headers give a name has that name."""
    header = pathlib.Path("/usr/include") / HEADERS[arch]
    if not header.is_file():
        pytest.skip(f"no {header}")
    text, names, later = header.read_text(), {}, {}
    for name, number in re.findall(r"(?m)^#define __NR(?:3264)?_(\w+) (\d+)$", text):
        if name not in ("syscalls", "arch_specific_syscall"):
            names.setdefault(int(number), set()).add(name)
    for name, other in re.findall(r"(?m)^#define __NR_(\w+) __NR3264_(\w+)$", text):
        later.setdefault(other, set()).add(name)
    for known in names.values():
        known.update(*[later.get(name, ()) for name in known])
    path, numbers = tmp_path / "calls.data", sorted(names)
    syscall_file(path, arch, numbers)
    found = names_in(decode(path))[:-3]
    wrong = [(number, name) for _, number, name in found if name not in names[number]]
    if arch == "aarch64":   # 32-bit machines have these numbers' other name, or only they have them
        wrong = [(number, name) for number, name in wrong if not 403 <= number <= 423]
    assert len(numbers) > 300 and not wrong
