"""Programs and libraries that are removed, or built again, before the recording ends: precord names
their functions as long as they are as they were when they ran."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from conftest import TIMEOUT, TOOLS
from rights import needs

pytestmark = needs("events")
MANY = 260      # more than are held
SOURCE = r"""
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) void FUNCTION(void)
{
	for (int i = 0; i < 100000; i++) sum += i;
}
int main(int n, char **arguments)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (n > 1 ? 1500 : 30);

	while (clock() < end)
		FUNCTION();
	return arguments == 0;
}
"""
# Loads each library that is named, calls its function, and removes it, if that is to be done.
HOST = r"""
#include <dlfcn.h>
#include <unistd.h>
int main(int n, char **arguments)
{
	for (int i = 2; i < n; i++) {
		void *library = dlopen(arguments[i], RTLD_NOW);

		if (!library)
			return 1;
		if (arguments[1][0] == 'r')
			unlink(arguments[i]);
		((void (*)(void))dlsym(library, "work"))();
	}
	return 0;
}
"""
MEMORY_LIBRARY = """
import ctypes, os, sys
fd = os.memfd_create("library")
os.write(fd, open(sys.argv[1], "rb").read())
ctypes.CDLL(f"/proc/self/fd/{fd}").work()
"""
MEMORY_FILE = """
import os, sys
fd = os.memfd_create("program", os.MFD_CLOEXEC)
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, ["program"], os.environ)
"""


with_and_without_ids = pytest.mark.parametrize("programs", ["sha1", "none"], indirect=True)


@pytest.fixture(scope="module")
def programs(request, tmp_path_factory):
    """A directory with two programs that differ in the name of their function alone."""
    top = tmp_path_factory.mktemp("programs")
    (top / "app.c").write_text(SOURCE)
    build_id = getattr(request, "param", "sha1")
    for name in ("first", "second"):
        subprocess.run(["gcc", "-O1", "-static", f"-DFUNCTION={name}_function",
                        f"-Wl,--build-id={build_id}", "-o", top / name, top / "app.c"], check=True)
    return top


def names(directory, *arguments, before=()):
    """The functions of the programs that a recording shows, and why frames there have none."""
    path = directory / "p.data"
    done = subprocess.run([*before, TOOLS / "precord", "-q", "-e", "cpu-clock:u", "-F", "8000",
                           "-o", path, *arguments], cwd=directory, timeout=TIMEOUT, text=True,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    if "took too long" in done.stderr:
        pytest.skip("precord had no time for names: this machine has other work")
    lines = subprocess.run([TOOLS / "pdecode", "--symbols", "-f", "jsonl", "--types", "SAMPLE",
                            path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           check=True).stdout.splitlines()
    frames = [frame for line in map(json.loads, lines) if line["kind"] == "record"
              for frame in line.get("frames", ())]
    return {frame.get("symbol", frame.get("why")) for frame in frames
            if frame.get("symbol", "_function").endswith("_function") and
            frame.get("dso", "").startswith((str(directory), "/memfd:"))}


def shell(script):
    return ("--", "sh", "-ec", script)


@with_and_without_ids
def test_removed(programs):
    assert names(programs, *shell("cp first app; ./app; rm app")) == {"first_function"}


def test_removed_while_it_runs(programs):
    assert names(programs, *shell("cp first app; ./app & sleep 0.02; rm app; wait")) == {
        "first_function"}


@with_and_without_ids
def test_built_again(programs):
    """At the same path: each run has the names of its own build."""
    assert names(programs, *shell("cp first app; ./app; cp second new; mv new app; ./app")) == {
        "first_function", "second_function"}


@with_and_without_ids
def test_overwritten(programs):
    """The file that ran is no more, though the inode is the same."""
    assert names(programs, *shell("cp first app; ./app; sleep 0.02; cat second > app; ./app")) == {
        "MISMATCH"}
    assert names(programs, *shell("cp first gone; ./gone; sleep 0.02; cat second > gone; rm gone")
                 ) == {"NO_FILE"}


def test_in_memory(programs):
    assert names(programs, "--", sys.executable, "-c", MEMORY_FILE, "first") >= {"first_function"}


def test_the_programs_that_were_started_last(programs):
    script = (f"cp {shutil.which('true')} true; for i in $(seq {MANY}); do cp true t; ./t; rm t; "
              "done; cp first app; ./app; rm app")
    assert "first_function" in names(programs, *shell(script))


def test_of_a_process_that_ran_before(programs):
    shutil.copy(programs / "first", programs / "app")
    running = subprocess.Popen(["sh", "-c", "read line; exec ./app long"], cwd=programs, text=True,
                               stdin=subprocess.PIPE)
    running.stdin.write("\n")
    running.stdin.close()
    while running.poll() is None and os.readlink(f"/proc/{running.pid}/exe") != str(
            programs / "app"):
        pass
    found = names(programs, "-p", str(running.pid), *shell("rm app; sleep 0.6"))
    running.wait(TIMEOUT)
    assert found == {"first_function"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"),
                    reason="only root makes mount namespaces, with unshare")
def test_file_systems_can_be_unmounted(programs):
    """Those that precord does not use itself: it does not hold what is there."""
    (programs / "there").mkdir(exist_ok=True)
    command = [TOOLS / "precord", "-q", "-o", programs / "p.data", *shell(
        "mount -t tmpfs none there; cp first there/app; there/app; umount there")]
    done = subprocess.run(["unshare", "-m", *command], cwd=programs, timeout=TIMEOUT, text=True,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr


@pytest.fixture(name="libraries", params=["sha1", "none"])
def libraries_fixture(request, tmp_path):
    """A directory with two libraries, and a program that loads what it is told to."""
    source = SOURCE.replace("int main(int n, char **arguments)",
                            "static int run(int n, void *arguments)")
    source += "void work(void) { for (int i = 0; i < 8; i++) run(1, 0); }\n"
    tmp_path.joinpath("library.c").write_text(source)
    tmp_path.joinpath("host.c").write_text(HOST)
    for name in ("first", "second"):
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-DFUNCTION={name}_function",
                        f"-Wl,--build-id={request.param}", "-o", tmp_path / name,
                        tmp_path / "library.c"], check=True)
    subprocess.run(["gcc", "-O1", "-o", tmp_path / "host", tmp_path / "host.c", "-ldl"], check=True)
    return tmp_path


def test_a_library_that_is_removed_once_it_is_loaded(libraries):
    """As Java programs do with those that they carry."""
    assert names(libraries, "--", "./host", "remove", "./first", "./second") == {
        "first_function", "second_function"}


def test_a_library_that_is_removed_at_the_end(libraries):
    """As programs do that unpack themselves."""
    assert names(libraries, *shell("mkdir unpacked; cp first unpacked; ./host keep unpacked/first; "
                                   "rm -r unpacked")) == {"first_function"}


def test_a_library_that_is_built_again(libraries):
    """At the same path: each run has the names of its own build."""
    assert names(libraries, *shell("cp first l; ./host keep ./l; cp second new; mv new l; "
                                   "./host keep ./l")) == {"first_function", "second_function"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may open what a process has mapped")
def test_a_library_in_memory(libraries):
    assert names(libraries, "--", sys.executable, "-c", MEMORY_LIBRARY, "first") >= {
        "first_function"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                    reason="only root becomes another user, with setpriv")
def test_a_library_of_a_user_without_rights(libraries):
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        place = pathlib.Path(shutil.copytree(libraries, place, dirs_exist_ok=True))
        for path in (place, *place.iterdir()):
            os.chown(path, 65534, 65534)
        assert names(place, *shell("mkdir unpacked; cp first unpacked; "
                                   "./host keep unpacked/first; rm -r unpacked"),
                     before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]) == {
                         "first_function"}
