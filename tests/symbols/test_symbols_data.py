"""Names of the variables at data addresses: addr_frame."""
import json
import subprocess

import pytest

import named as named_recording
from conftest import TOOLS

SOURCE = r"""
#include <stdio.h>
#define SIZE (1 << 18)
const char constant[SIZE] = "c";
char filled[SIZE] = "f";
char zeros[SIZE];
static int small;
int main(int argc, char **argv)
{
	volatile int sum = 0;
	char *heap = __builtin_malloc(1 << 20);

	if (!freopen(argv[1], "w", stdout))
		return 1;
	printf("constant %p filled %p zeros %p small %p\n", (void *)constant, (void *)filled,
	       (void *)zeros, (void *)&small);
	for (int i = 0; i < SIZE; i += 4096) {
		sum += ((volatile const char *)constant)[i];
		filled[i] += argc;
		zeros[i] += argc;
		heap[i] = argv[0][0];
	}
	small += argc;
	return sum == 1;
}
"""
VARIABLES = {"constant", "filled", "zeros", "small"}
BUILDS = {"pie": [], "no pie": ["-no-pie"], "static": ["-static"],
          "one segment": ["-Wl,-z,noseparate-code"], "lazy": ["-Wl,-z,norelro"]}


@pytest.fixture(params=BUILDS, ids=list(BUILDS))
def recorded(request, tmp_path):
    """A recording of page faults, and where the variables were."""
    (tmp_path / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", *BUILDS[request.param], "-o", tmp_path / "app",
                    tmp_path / "p.c"], check=True)
    named_recording.record(tmp_path / "p.data", "-e", "page-faults", "-c", "1", "-d", "--",
                           tmp_path / "app", tmp_path / "where")
    words = (tmp_path / "where").read_text().split()
    return tmp_path, {name: int(at, 16) for name, at in zip(words[::2], words[1::2])}


def accessed(path):
    """(address, variable, offset), as far as they are of the program."""
    done = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", path],
                          stdout=subprocess.PIPE, check=True)
    frames = [record["addr_frame"] for record in map(json.loads, done.stdout.splitlines())
              if "addr_frame" in record]
    return [(int(frame["addr"], 16), frame.get("symbol"), frame.get("offset"))
            for frame in frames]


def right(addr, variables):
    """The variable at an address, of those of the program."""
    for name, start in variables.items():
        size = 4 if name == "small" else 1 << 18
        if start <= addr < start + size:
            return name, addr - start
    return None


def test_variables(recorded):
    top, variables = recorded
    home = accessed(top / "p.data")
    for addr, name, offset in home:
        expected = right(addr, variables)
        if expected or name in VARIABLES:
            assert (name, offset) == expected, hex(addr)
    assert {name for _, name, _ in home} >= {"constant", "filled", "zeros"}
    (top / "app").rename(top / "away")
    named = [found for found in home if found[1] in VARIABLES]
    assert [found for found in accessed(top / "p.data") if found[1] in VARIABLES] == named
