"""without_perf_events.py ERRNO COMMAND...: runs a command in which perf_event_open(2) fails with
this error.

The filter is seccomp's, as in containers. Kernels with kernel.perf_event_paranoid=4 return EACCES
to ordinary users.
"""
import ctypes
import errno
import os
import sys

ALLOW = 0x7fff0000      # SCMP_ACT_ALLOW; the other is SCMP_ACT_ERRNO
ERRNO = 0x00050000


def forbid(call, error):
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(ALLOW)))
    number = seccomp.seccomp_syscall_resolve_name(call.encode())
    if (not context or number < 0 or
            seccomp.seccomp_rule_add(context, ctypes.c_uint32(ERRNO | error), ctypes.c_int(number),
                                     ctypes.c_uint(0)) or
            seccomp.seccomp_load(context)):
        sys.exit(f"no filter for {call}")


if __name__ == "__main__":
    forbid("perf_event_open", getattr(errno, sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
