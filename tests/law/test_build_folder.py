"""A changed header compiles what includes it, however the folder of the build is written: tests and
users write it differently, and objects of two layouts of a structure crash."""
import os

import pytest

from conftest import ROOT, TOOLS
from installed import BUILD, KEEP_FLAGS, make


@pytest.mark.parametrize("folder", [TOOLS, os.path.relpath(TOOLS, ROOT),
                                    f"{TOOLS}/../{TOOLS.name}"])
def test_header_that_changed(folder):
    if not (TOOLS / "obj" / "libcolumns" / "tables" / "batch.d").exists():
        pytest.skip(f"{TOOLS} was not built here")
    done = make("--dry-run", *KEEP_FLAGS, "-W", "libcolumns/tables/batch.h", f"B={folder}",
                f"{BUILD}/libpdcolumns.a")
    assert "libcolumns/tables/batch.c" in done and "libcolumns/pass/rows.c" in done
