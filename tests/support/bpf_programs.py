"""Two small BPF programs, one of them with BTF that names its function."""
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


def _load(name, btf_fd=0, function_type=0, kind=SOCKET_FILTER):
    code, licence = (ctypes.create_string_buffer(RETURN_0, len(RETURN_0)),
                     ctypes.create_string_buffer(b"GPL"))
    functions = ctypes.create_string_buffer(struct.pack("<II", 0, function_type), 8)
    attr = struct.pack("<IIQQIIQII16sIIIIQI", kind, len(RETURN_0) // 8, ctypes.addressof(code),
                       ctypes.addressof(licence), 0, 0, 0, 0, 0, name, 0, 0, btf_fd,
                       8 if btf_fd else 0, ctypes.addressof(functions) if btf_fd else 0,
                       1 if btf_fd else 0)
    return _bpf(PROG_LOAD, attr)


@contextlib.contextmanager
def loaded():
    """Loads the programs; yields the names of their functions."""
    if os.uname().machine != "x86_64":
        pytest.skip("knows the system call of x86_64 only")
    descriptors = []
    try:
        try:
            btf = _btf(b"my_function")
            content = ctypes.create_string_buffer(btf, len(btf))
            descriptors.append(_bpf(BTF_LOAD,
                                    struct.pack("<QQII", ctypes.addressof(content), 0, len(btf),
                                                0)))
            descriptors.append(_load(b"plain"))
            descriptors.append(_load(b"typed", descriptors[0], 3))
        except OSError as error:
            pytest.skip(str(error))
        yield ["plain", "my_function"]
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
