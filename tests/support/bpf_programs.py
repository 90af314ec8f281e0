"""Two small BPF programs, one of them with BTF that names its function; and programs that clang
compiled, with their lines."""
import contextlib
import ctypes
import os
import struct

import pytest

SYS_BPF = 321       # x86_64
PROG_LOAD, TEST_RUN, BTF_LOAD = 5, 10, 18
SOCKET_FILTER, XDP = 1, 6
RETURN_0 = struct.pack("<BBhi", 0xb7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)


def _bpf(command, attr, size=144):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attr.ljust(size, b"\0"), size)
    got = libc.syscall(SYS_BPF, command, buffer, size)
    if got < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return got


def _btf(function):
    """BTF of an int, a prototype that returns it, and a function of that prototype."""
    strings = b"\0int\0" + function + b"\0"
    kind = lambda number, linkage=0: number << 24 | linkage
    types = struct.pack("<IIII", 1, kind(1), 4, 1 << 24 | 32)      # INT, signed, 32 bits
    types += struct.pack("<III", 0, kind(13), 1)                   # FUNC_PROTO -> int
    types += struct.pack("<III", 5, kind(12), 2)                   # FUNC
    return (struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings))
            + types + strings)


def run_xdp(before):
    """Calls before(), then runs an XDP program on an empty packet until the process is killed."""
    program = _load(b"xdp", kind=XDP)
    packet = ctypes.create_string_buffer(64)
    before()
    while True:
        _bpf(TEST_RUN, struct.pack("<IIIIQQII", program, 0, 64, 0, ctypes.addressof(packet), 0,
                                   1 << 30, 0))


def _load_btf(btf):
    content = ctypes.create_string_buffer(btf, len(btf))
    return _bpf(BTF_LOAD, struct.pack("<QQII", ctypes.addressof(content), 0, len(btf), 0))


def _load(name, btf_fd=0, function_type=0, kind=SOCKET_FILTER):
    functions = [struct.pack("<II", 0, function_type)] if btf_fd else []
    return _load_code(name, RETURN_0, kind, btf_fd, functions, [])


def _load_code(name, instructions, kind, btf_fd, functions, lines):
    """functions, lines: struct bpf_func_info and bpf_line_info, as bytes."""
    code, licence, info, places = map(ctypes.create_string_buffer, (
        instructions, b"GPL", b"".join(functions), b"".join(lines)))
    attr = struct.pack("<IIQQIIQII16sIIIIQIIQI", kind, len(instructions) // 8,
                       ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0, name, 0, 0,
                       btf_fd, 8 if functions else 0, ctypes.addressof(info) if functions else 0,
                       len(functions), 16 if lines else 0,
                       ctypes.addressof(places) if lines else 0, len(lines))
    return _bpf(PROG_LOAD, attr)


def _sections(elf):
    """{name: bytes} of a 64-bit ELF file."""
    start, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, start + i * size) for i in range(count)]
    bodies = [elf[head[4]:head[4] + head[5]] for head in heads]
    return {bodies[names][head[0]:].split(b"\0")[0].decode(): body
            for head, body in zip(heads, bodies)}


def _records(extension, at):
    """The records of a part of .BTF.ext, for programs of one section: offsets are of instructions
    there, not of bytes."""
    header, = struct.unpack_from("<I", extension, 4)
    offset, = struct.unpack_from("<I", extension, at)
    size, _, count = struct.unpack_from("<III", extension, header + offset)
    start = header + offset + 12
    records = [extension[i:i + size] for i in range(start, start + count * size, size)]
    return [struct.pack("<I", struct.unpack_from("<I", record)[0] // 8) + record[4:]
            for record in records]


def run_compiled(path, before):
    """Calls before(), then runs the XDP program of an object file of clang until the process is
    killed. Its code is in section xdp, and its first function is the program."""
    parts = _sections(open(path, "rb").read())
    program = _load_code(b"compiled", parts["xdp"], XDP, _load_btf(parts[".BTF"]),
                         _records(parts[".BTF.ext"], 8), _records(parts[".BTF.ext"], 16))
    packet = ctypes.create_string_buffer(64)
    before()
    while True:
        _bpf(TEST_RUN, struct.pack("<IIIIQQII", program, 0, 64, 0, ctypes.addressof(packet), 0,
                                   1 << 10, 0))


@contextlib.contextmanager
def loaded():
    """Loads the programs; yields the names of their functions."""
    if os.uname().machine != "x86_64":
        pytest.skip("knows the system call of x86_64 only")
    descriptors = []
    try:
        try:
            descriptors.append(_load_btf(_btf(b"my_function")))
            descriptors.append(_load(b"plain"))
            descriptors.append(_load(b"typed", descriptors[0], 3))
        except OSError as error:
            pytest.skip(str(error))
        yield ["plain", "my_function"]
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
