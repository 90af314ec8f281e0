"""Manual pages of section 3 are made from the headers: one for each group of functions."""
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

HEADERS = sorted((ROOT / "libdecode" / "include" / "pd").glob("*.h"))


@pytest.fixture(scope="module")
def pages():
    loader = importlib.machinery.SourceFileLoader("man3", str(ROOT / "scripts" / "man3"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("man3", loader))
    loader.exec_module(module)
    return module.pages()


@pytest.fixture(scope="module")
def groups(pages, tmp_path_factory):
    """Paths of the pages that are no references."""
    folder = tmp_path_factory.mktemp("man3")
    for name, text in pages.items():
        (folder / name).write_text(text)
    return [folder / name for name, text in pages.items() if not text.startswith(".so ")]


def exported():
    texts = [re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S) for path in HEADERS]
    return {re.search(r"(\w+) ?(\(|$)", " ".join(code.split()))[1]
            for text in texts for code in re.findall(r"^PD_API\b([^;]*);", text, flags=re.M)}


def test_every_function_has_a_page(pages):
    assert exported() <= {name.removesuffix(".3") for name in pages}
    for name in exported():
        target = re.fullmatch(r"\.so man3/(\S+)\n", pages[f"{name}.3"])[1]
        assert re.search(rf"^\.SS {name}$", pages[target], flags=re.M), name


def test_groups_state_their_subject(groups):
    assert len(groups) >= 15
    for path in groups:
        text = path.read_text()
        assert re.search(r"^\.SH NAME\n\S.* \\- \S", text, flags=re.M), path.name
        assert ".SH SYNOPSIS" in text and ".SH DESCRIPTION" in text, path.name


TOOLS = [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-man", "-ww", "-z", "-Tutf8"]]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool[0])
def test_pages_are_clean(tool, groups):
    if not shutil.which(tool[0]):
        pytest.skip(f"no {tool[0]} here")
    done = subprocess.run([*tool, *groups], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    # the tools' own pages have no date, either: a build has none that is the same everywhere
    wrong = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert not wrong, "\n".join(wrong[:20])


def test_man_shows_them(groups):
    if not shutil.which("man"):
        pytest.skip("no man here")
    for path in groups:
        done = subprocess.run(["man", "--warnings", "-l", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert "DESCRIPTION" in done.stdout and len(done.stdout.splitlines()) > 15
