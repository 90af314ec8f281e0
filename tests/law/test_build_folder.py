"""A changed header compiles what includes it, however the folder of the build is written: tests and
users write it differently, and objects of two layouts of a structure crash."""
import os
import re
import subprocess

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


def test_clean_is_for_the_folder_that_is_named(tmp_path):
    """Not for build/, where another build is; and other people's files stay."""
    folder = tmp_path / "out"
    names = ["flags", "pdecode", "precord", "libdecode.a", "libdecode.so.0", "obj/a.o", "README"]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    arguments = ["make", "-C", ROOT, f"B={folder}", "clean"]
    dry = subprocess.run([*arguments, "--dry-run"], stdout=subprocess.PIPE, text=True, check=True)
    assert str(folder) in dry.stdout and not re.search(r"\brm .*[ ']build\b", dry.stdout)
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True)
    assert [path.name for path in folder.iterdir()] == ["README"]
    (folder / "README").unlink()
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True)
    assert not folder.exists()
