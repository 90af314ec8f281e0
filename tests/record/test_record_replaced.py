"""Files that are changed while precord records: names in them would be those of other functions."""
import json
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from rights import needs

pytestmark = needs("events")
SOURCE = r"""
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) void NAME(void)
{
	for (int i = 0; i < 100000; i++) sum += i;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 10)
		NAME();
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with two programs that have no build ids."""
    top = tmp_path_factory.mktemp("replaced")
    for name in ("of_app", "of_other"):
        (top / f"{name}.c").write_text(SOURCE.replace("NAME", name))
        subprocess.run(["gcc", "-O1", "-static", "-Wl,--build-id=none", "-o", top / name,
                        top / f"{name}.c"], check=True)
    return top


def names(place, options, script):
    """The names of functions that precord found, in its file or beside its stream."""
    with open(place / "out", "wb") as out:
        done = subprocess.run([TOOLS / "precord", "-e", "cpu-clock:u", "-F", "2000", *options,
                               "--", "sh", "-c", f"cp of_app app; ./app; {script}"], cwd=place,
                              stdout=out, stderr=subprocess.PIPE, timeout=TIMEOUT, text=True)
    if "there are no names" in done.stderr:     # nothing else was hit
        return set()
    assert done.returncode == 0, done.stderr
    if "took too long" in done.stderr:
        pytest.skip("precord had no time for names: this machine has other work")
    is_stream = "--symbols-file" in options
    lines = subprocess.run(
        [TOOLS / "pdecode", "-f", "jsonl",
         *(["--symbols", "--symbols-file", "names", "out"] if is_stream else ["p.data"])],
        cwd=place, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    found = list(map(json.loads, lines))
    if is_stream:
        return {frame.get("symbol") for line in found if line.get("type") == "SAMPLE"
                for frame in line["frames"]}
    sections = [line["feature"]["PD_SYMBOLS"] for line in found
                if "PD_SYMBOLS" in line.get("feature", {})]
    return {function["name"] for section in sections for image in section["images"]
            for function in image["functions"]}


@pytest.mark.parametrize("options", [
    ["-o", "p.data"], ["-o", "-", "--symbols-file", "names"],
    ["-B", "--symbols=names", "-o", "p.data"],
], ids=["file", "stream", "without-build-ids"])
def test_a_program_that_is_written_over(place, options):
    assert "of_app" in names(place, options, ":")
    found = names(place, options, "cat of_other > app")
    assert not found & {"of_app", "of_other"}
