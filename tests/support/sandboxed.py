"""For tests of the sandbox: whether there can be one, and the programs of tests/c that test it."""
import ctypes
import subprocess

import pytest

from conftest import ROOT, TOOLS

SANITIZED = (b"__asan_init" in (TOOLS / "pdecode").read_bytes() if (TOOLS / "pdecode").exists()
             else False)


def landlock_version():
    return ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1)


no_sandbox_here = pytest.mark.skipif(
    SANITIZED or landlock_version() < 1,
    reason="these tools are built with sanitizers, which need what a sandbox takes" if SANITIZED
    else "no Landlock here")


def build(directory, name, *flags):
    """Returns the path of tests/c/NAME.c, compiled."""
    target = directory / name
    subprocess.run(["cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *flags, "-o", target,
                    ROOT / "tests" / "c" / f"{name}.c", "-lseccomp"], check=True)
    return target
