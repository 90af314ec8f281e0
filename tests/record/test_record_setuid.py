"""Programs with other rights than their caller: the kernel ends the recording of one that a command
starts, also for root; precord says so. In a recording of the system they are, with names."""
import json
import os
import shutil
import subprocess

import pytest

import named as named_recording
from conftest import TIMEOUT, TOOLS
from rights import needs

USER = 54321
pytestmark = [needs("events"),
              pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                                 reason="only root makes setuid programs and becomes another user")]
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
WARNING = "the kernel did not let"
SOURCE = r"""
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) void only_in_setuid(void)
{
	for (int i = 0; i < 100000; i++) sum += i;
}
int main(int n, char **arguments)
{
	(void)arguments;
	while (clock() < CLOCKS_PER_SEC / 5)
		only_in_setuid();
	return n > 1 && getuid() == geteuid();
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory of the user, with precord, a setuid program and others."""
    where = f"/var/tmp/precord-setuid-{os.getpid()}"
    source = tmp_path_factory.mktemp("setuid") / "p.c"
    source.write_text(SOURCE)
    os.mkdir(where)
    try:
        if os.statvfs(where).f_flag & os.ST_NOSUID:
            pytest.skip("no setuid programs in /var/tmp")
        subprocess.run(["gcc", "-O1", "-o", f"{where}/plain", source], check=True)
        for name, mode in ("setuid", 0o4755), ("setgid", 0o2755), ("unreadable", 0o711):
            shutil.copy(f"{where}/plain", f"{where}/{name}")
            os.chmod(f"{where}/{name}", mode)
        shutil.copy(TOOLS / "precord", f"{where}/precord")
        os.chown(where, USER, USER)
        yield where
    finally:
        shutil.rmtree(where)


def record(place, before, *arguments):
    done = subprocess.run([*before, "./precord", "-e", "cpu-clock:u", "-F", "1000", "-o",
                           "perf.data", *arguments], timeout=TIMEOUT, text=True, cwd=place,
                          stderr=subprocess.PIPE)
    path = f"{place}/perf.data"
    assert done.returncode == 0, done.stderr
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols=names", path], check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.splitlines()
    os.unlink(path)
    frames = [frame for line in map(json.loads, lines) if line.get("type") == "SAMPLE"
              for frame in line.get("frames", [])]
    return done.stderr, sum(f.get("symbol") == "only_in_setuid" for f in frames)


@pytest.mark.parametrize("program", ["setuid", "setgid", "unreadable"])
def test_a_user_is_told(program, place):
    stderr, hits = record(place, AS_USER, "--", f"./{program}")
    assert f"{WARNING} '{program}' be recorded" in stderr and not hits


@pytest.mark.parametrize("program", ["setuid", "setgid"])
def test_root_is_told(program, place):
    """The program that makes it a user's has only that user's rights."""
    stderr, hits = record(place, [], "--", *AS_USER, f"./{program}")
    assert f"{WARNING} '{program}' be recorded" in stderr and not hits


def test_several_are_counted(place):
    stderr, hits = record(place, AS_USER, "--", "sh", "-c", "./setuid; ./setgid; ./plain")
    assert f"{WARNING} 2 programs be recorded, first 'setuid'" in stderr and hits


@pytest.mark.parametrize("before, command", [
    (AS_USER, ["./plain"]), ([], ["./setuid"]), ([], [*AS_USER, "./plain"])],
    ids=["user", "root", "as-user"])
def test_others_are_recorded(before, command, place):
    stderr, hits = record(place, before, "--", *command)
    assert WARNING not in stderr and hits


def test_the_system(place):
    stderr, hits = record(place, [], "-a", "--", *AS_USER, "./setuid")
    named_recording.need_time(stderr)
    assert WARNING not in stderr and hits
