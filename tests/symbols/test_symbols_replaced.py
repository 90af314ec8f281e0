"""Code that takes the place of other code in a process: each frame has the name of its time."""
import json
import subprocess

from conftest import TOOLS
from named import record
from rights import needs

pytestmark = needs("events")
SPIN = """
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline, aligned(4096))) void FUNCTION(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 20;

	while (clock() < end)
		for (int i = 0; i < 20000; i++) sum += i;
}
"""
LIBRARIES = """
#include <dlfcn.h>
int main(void)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(i ? "./second.so" : "./first.so", RTLD_NOW);
		void *function = dlsym(library, i ? "second" : "first");

		((void (*)(void))function)();
		dlclose(library);
	}
	return 0;
}
"""
# As BOLT and iodlr do, for large pages.
MOVED = "#define _GNU_SOURCE" + SPIN + """
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#define APART __attribute__((noinline, aligned(4096), section(".text.apart")))
APART int main(void)
{
	char *from = (char *)((uintptr_t)FUNCTION & ~(uintptr_t)4095), copy[4096];

	memcpy(copy, from, sizeof(copy));
	if (mmap(from, sizeof(copy), PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 1;
	memcpy(from, copy, sizeof(copy));
	if (mprotect(from, sizeof(copy), PROT_READ | PROT_EXEC))
		return 1;
	FUNCTION();
	return 0;
}
"""


def build(directory, name, source, *options):
    (directory / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", *options, "-o", directory / name,
                    directory / f"{name}.c"], check=True)


def frames_in(path, image):
    """(symbol, whether it was moved) of the frames in an image, and the reasons of those without
    a name."""
    lines = subprocess.run([TOOLS / "pdecode", "--symbols", "-f", "jsonl", "--types", "SAMPLE",
                            path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           check=True).stdout.splitlines()
    return {(frame.get("symbol", frame.get("why")), frame.get("remapped", False))
            for line in map(json.loads, lines) if line["kind"] == "record"
            for frame in line.get("frames", ()) if frame.get("dso", "").endswith(image)}


def start_files(library):
    """Local functions, and those that the loader calls."""
    symbols = subprocess.run(["nm", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {(line.split()[2], False) for line in symbols.splitlines() if " t " in line}


def test_a_library_in_place_of_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        build(tmp_path, f"{name}.so", SPIN, "-shared", "-fPIC", f"-DFUNCTION={name}")
    build(tmp_path, "app", LIBRARIES, "-ldl")
    record("p.data", "-F", "2000", "--", "./app")
    for name, other in (("first", "second"), ("second", "first")):
        found = frames_in("p.data", f"/{name}.so")
        # A sample may fall into the entry of the PLT, or into code of the C library's start files.
        assert (name, False) in found and found <= {(name, False), ("clock@plt", False),
                                                    *start_files(f"{name}.so")}
        assert (other, False) not in found


def test_text_moved_to_anonymous_memory(tmp_path):
    build(tmp_path, "app", MOVED, "-DFUNCTION=moved")
    record(tmp_path / "p.data", "-g", "-F", "2000", "--", tmp_path / "app")
    found = frames_in(tmp_path / "p.data", "/app")
    assert ("moved", True) in found and ("main", False) in found
    assert not [symbol for symbol, is_moved in found if is_moved and symbol != "moved"]
