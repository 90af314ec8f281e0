"""The binding of Python in the environment of the clients: PD_CLIENTS is their folder (make
check-clients sets it)."""
import os
import pathlib
import subprocess

import pytest

from conftest import ROOT, TIMEOUT, TOOLS
from installed import KEEP_FLAGS, make

PYTHON = pathlib.Path(os.environ.get("PD_CLIENTS") or "/nonexistent") / "python" / "bin" / "python"
NEEDS_CLIENTS = [
    pytest.mark.skipif("PD_CLIENTS" not in os.environ, reason="run by make check-clients"),
    pytest.mark.skipif(not PYTHON.exists(), reason=f"{PYTHON} is not here")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Function: runs a program with the binding, which pip installs from its wheel."""
    packages = tmp_path_factory.mktemp("packages")
    wheel = ROOT / make(*KEEP_FLAGS, "python").split()[-1]
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "--no-index", "--target", packages,
                    wheel], check=True)

    def run(program, *args, cwd=None, modules=()):
        """`modules` are further folders of modules."""
        path = os.pathsep.join(map(str, [packages, *modules]))
        done = subprocess.run([PYTHON, "-c", program, *map(str, args)], capture_output=True,
                              timeout=TIMEOUT, text=True, cwd=cwd,
                              env={**os.environ, "PYTHONPATH": path})
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run
