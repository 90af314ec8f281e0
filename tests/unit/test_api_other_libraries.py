"""libpdsymbols, libpdprofile and libpdcolumns, called as nobody should."""
import re
import subprocess

import pytest

from conftest import FIXTURES, ROOT

PROGRAM = ROOT / "tests" / "c" / "api_nothing.c"
MAPS = sorted(ROOT.glob("lib*/libpd*.map"))


@pytest.mark.sanitize
def test_calls_with_nothing_are_refused(installed):
    """A NULL, an enum's value that does not exist, a call that comes too late or twice."""
    program = installed.link(PROGRAM, "static", packages=[path.stem for path in MAPS])
    done = subprocess.run([program, FIXTURES / "perf" / "02-callgraph-fp.data"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_function_is_called():
    called = set(re.findall(r"\b(\w+)\(", PROGRAM.read_text()))
    exported = {name for path in MAPS for name in re.findall(r"\bp[scp]_\w+", path.read_text())}
    assert len(exported) > 30
    assert not exported - called
