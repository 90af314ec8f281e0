"""Programs of other mount namespaces and root directories that end before the recording does:
precord names their functions, although no path leads to their files then."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import TIMEOUT, TOOLS
from recorder import precord, release, start_precord, start_recording    # noqa: F401
from rights import needs

pytestmark = [needs("events"),
              pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"),
                                 reason="only root makes mount namespaces, with unshare")]
MANY = 40       # more than are held
OTHERS = 1000   # processes that run already
SOURCE = r"""
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) void only_in_there(void)
{
	for (int i = 0; i < 100000; i++) sum += i;
}
int main(int n, char **arguments)
{
	while (clock() < CLOCKS_PER_SEC / 1000 * (n > 1 ? 1000 : 100))
		only_in_there();
	return arguments == 0;
}
"""
# A file system that no other process sees, and a program on it: its arguments.
INSIDE = 'mount -t tmpfs none "$0/there" && cp "$0/app" "$0/there/app" && exec "$0/there/app" '


@pytest.fixture(scope="module", params=["build-id", "no-build-id"])
def place(request, tmp_path_factory):
    """A directory with a program that needs no other files, and an empty directory."""
    top = tmp_path_factory.mktemp("mounts")
    (top / "there").mkdir()
    (top / "app.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-static", "-o", top / "app", top / "app.c",
                    *(["-Wl,--build-id=none"] if request.param == "no-build-id" else [])],
                   check=True)
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no mount namespace")
    return top


def record(place, *arguments):
    done = subprocess.run([TOOLS / "precord", "-e", "cpu-clock:u", "-F", "2000", "-o",
                           place / "perf.data", *arguments], timeout=TIMEOUT, text=True,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    if "took too long" in done.stderr:
        pytest.skip("precord had no time for names: this machine has other work")
    return place / "perf.data"


def named(path, function="only_in_there"):
    """Whether the recording has the function's name."""
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", path], stdout=subprocess.PIPE,
                           check=True).stdout.splitlines()
    sections = [line["feature"]["PD_SYMBOLS"] for line in map(json.loads, lines)
                if "PD_SYMBOLS" in line.get("feature", {})]
    return any(found["name"] == function for section in sections for image in section["images"]
               for found in image["functions"])


@pytest.mark.parametrize("options", [[], ["-a"]], ids=["command", "system"])
def test_a_file_system_of_its_own(place, options):
    assert named(record(place, *options, "--", "unshare", "-m", "sh", "-c", INSIDE, place))


def test_a_program_that_starts_while_others_are_synthesized(place):
    """It is synthesized as well, as if it had run before its file was made."""
    others = subprocess.Popen(["sh", "-c", f"for i in $(seq {OTHERS}); do sleep 60 & done; "
                               "echo; wait"], stdout=subprocess.PIPE, start_new_session=True)
    try:
        others.stdout.readline()
        path = record(place, "-a", "--", "unshare", "-m", "sh", "-c", INSIDE, place)
    finally:
        os.killpg(others.pid, signal.SIGKILL)
        others.wait()
    assert named(path)


def test_a_root_directory_of_its_own(place):
    root = place / "root"
    root.mkdir(exist_ok=True)
    shutil.copy(place / "app", root / "app")
    assert named(record(place, "--", "chroot", root, "/app"))


def test_a_process_that_runs_already(place):
    running = subprocess.Popen(["unshare", "-m", "sh", "-c", INSIDE + "long", place])
    while os.readlink(f"/proc/{running.pid}/exe") != f"{place}/there/app":
        time.sleep(0.01)
    path = record(place, "-p", str(running.pid))
    assert running.wait(TIMEOUT) == 0
    assert named(path)


@pytest.mark.parametrize("threads", [1, 30])
def test_programs_of_a_process_that_runs_already(threads, place, start_recording, tmp_path):
    """Each of its threads may start programs; other ones have ended since."""
    script = (f"import os, subprocess, sys, threading\nfor _ in range({threads} - 1):\n"
              "    threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
              "print(flush=True); os.read(0, 1)\n"
              "subprocess.run(sys.argv[1:], check=True); print(flush=True); os.read(0, 1)\n"
              "os._exit(0)")
    inside = ["unshare", "-m", "sh", "-c", INSIDE, place]
    with subprocess.Popen([sys.executable, "-c", script, *inside], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        recorder = start_recording("-o", "perf.data", "-e", "cpu-clock:u", "-F", "2000",
                                   "-p", str(process.pid))
        release(process)
        process.stdout.readline()
        recorder.send_signal(signal.SIGINT)
        stderr = recorder.communicate(timeout=TIMEOUT)[1].decode()
        release(process)
    assert recorder.returncode == 0, stderr
    if "took too long" in stderr:
        pytest.skip("precord had no time for names: this machine has other work")
    assert named(tmp_path / "perf.data")


def test_the_build_id(place):
    expected = subprocess.run(["readelf", "-n", place / "app"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    path = record(place, "--", "unshare", "-m", "sh", "-c", INSIDE, place)
    listed = subprocess.run([TOOLS / "pdecode", path], stdout=subprocess.PIPE, check=True).stdout
    ids = [item["build_id"] for item in json.loads(listed)["features"].get("BUILD_ID", [])
           if item["filename"] == f"{place}/there/app"]
    assert len(ids) == ("Build ID" in expected)
    assert all(one in expected for one in ids)


def test_more_namespaces_than_are_held(place):
    """The ones of programs that have ended give way."""
    script = (f"for i in $(seq {MANY}); do unshare -m true; done; "
              f"exec unshare -m sh -c '{INSIDE}' \"$0\"")
    assert named(record(place, "--", "sh", "-c", script, place))


def test_other_files_of_the_path_name_nothing(place):
    """A file that has the path in another namespace is not the one that ran."""
    shutil.copy(place / "app", place / "other")
    subprocess.run(["objcopy", "--redefine-sym", "only_in_there=of_another_file", place / "other"],
                   check=True)
    outside = f'cp "$0/other" "$0/there/app"; unshare -m sh -c \'{INSIDE}\' "$0"; "$0/there/app"'
    path = record(place, "--", "sh", "-c", outside, place)
    (place / "there" / "app").unlink()
    assert named(path) and named(path, "of_another_file")
