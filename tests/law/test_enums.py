"""pd/enums.h is what scripts/enums makes of the tables, and has the kernel's numbers."""
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess

import pytest

from conftest import ROOT

HEADER = ROOT / "libdecode" / "include" / "pd" / "enums.h"
KERNEL = pathlib.Path("/usr/include/linux/perf_event.h")
# Names of the kernel that are put together in another way: parts of data_src have their shifts in
# them.
OTHER = re.compile(r"PD_(MEM|REGS)_")


def script():
    loader = importlib.machinery.SourceFileLoader("enums", str(ROOT / "scripts" / "enums"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("enums", loader))
    loader.exec_module(module)
    return module


def test_the_header_is_current():
    assert HEADER.read_text() == script().header(), "make enums"


def test_the_enums_that_users_need():
    text = HEADER.read_text()
    for line in ("PD_SAMPLE_CALLCHAIN = 0x20", "PD_FORMAT_GROUP = 0x8", "PD_BR_COND = 1",
                 "PD_CONTEXT_USER = -512"):
        assert f"\n\t{line},\n" in text
    assert len(re.findall(r"^\tPD_\w+ = ", text, flags=re.M)) > 150


def test_numbers_are_the_kernels():
    """As far as this machine's header has the names."""
    if not KERNEL.is_file():
        pytest.skip(f"no {KERNEL} here")
    known = set(re.findall(r"\bPERF_\w+", KERNEL.read_text()))
    ours = [name for name in re.findall(r"^\t(PD_\w+) = ", HEADER.read_text(), flags=re.M)
            if not OTHER.match(name)]
    same = [(name, "PERF_" + name[3:]) for name in ours if "PERF_" + name[3:] in known]
    assert len(same) > 90   # 97 of Linux 5.10
    program = "#include <linux/perf_event.h>\n#include <pd/enums.h>\n" + "".join(
        f'_Static_assert((unsigned long long){a} == (unsigned long long){b}, "{a}");\n'
        for a, b in same)
    done = subprocess.run(["cc", "-std=c11", "-xc", "-fsyntax-only",
                           "-I", ROOT / "libdecode" / "include", "-"],
                          input=program, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
