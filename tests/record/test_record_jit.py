"""Code of JIT compilers in processes that end before the recording does: its names are in a file
that has the process's number in its own PID namespace, is below its root directory, and belongs to
its user."""
import glob
import os
import shutil
import subprocess

import pytest

import named as named_recording
from conftest import TIMEOUT, TOOLS
from rights import needs

pytestmark = [needs("events"),
              pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"),
                                 reason="only root makes namespaces, with unshare")]
OTHER_USER = 64321
TAG = f"_of_test_{os.getpid()}"         # others run as well
MANY = 40       # more roots than are held
# It writes its map, its jitdump or nothing, and runs code in anonymous memory. "fork": a child
# does; "before": a child runs it; "again": and has written a map of its own.
SOURCE = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { SIZE = 256 };
__attribute__((noinline)) unsigned long spin(unsigned long n)
{
	unsigned long s = n;
	while (n--) { s = s * 31 + n; __asm__ volatile("" : "+r"(s)); }
	return s;
}
static void write_map(void *code, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%lx %x %s\n", (unsigned long)code, SIZE, name);
	fclose(f);
}
static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static void write_dump(void *code, unsigned int machine)
{
	char path[64];
	static const char name[] = "made_by_jit" TAG;
	const uint64_t at = (unsigned long)code;
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	FILE *f = fopen(path, "w+");
	const uint32_t head[] = { 0x4a695444, 1, 40, machine, 0, getpid() };
	const uint32_t load[] = { 0, 56 + sizeof(name) + SIZE }, ids[] = { getpid(), getpid() };
	const uint64_t zero = 0, time = now(), where[] = { at, at, SIZE, 0 };
	fwrite(head, sizeof(head), 1, f);
	fwrite(&time, 8, 1, f);
	fwrite(&zero, 8, 1, f);
	fwrite(load, sizeof(load), 1, f);
	fwrite(&time, 8, 1, f);
	fwrite(ids, sizeof(ids), 1, f);
	fwrite(where, sizeof(where), 1, f);
	fwrite(name, sizeof(name), 1, f);
	fwrite(code, SIZE, 1, f);
	fflush(f);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
}
static int has(int n, char **arguments, const char *what)
{
	return n > 2 && strcmp(arguments[2], what) == 0;
}
int main(int n, char **arguments)
{
	unsigned short machine = 0;
	FILE *self = fopen("/proc/self/exe", "r");
	char *code;
	unsigned long (*run)(unsigned long);
	if (has(n, arguments, "fork") && fork() > 0)
		return wait(NULL) < 0;
	if (self) {
		fseek(self, 18, SEEK_SET);
		fread(&machine, 2, 1, self);
	}
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, (void *)spin, SIZE);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(code, code + SIZE);
	if (arguments[1][0] == 'm')
		write_map(code, "made_by_jit" TAG);
	else if (arguments[1][0] == 'd')
		write_dump(code, machine);
	if ((has(n, arguments, "before") || has(n, arguments, "again")) && fork() > 0)
		return wait(NULL) < 0;
	if (has(n, arguments, "again"))
		write_map(code, "made_by_child" TAG);
	run = (unsigned long (*)(unsigned long))code;
	while (clock() < CLOCKS_PER_SEC / 10)
		run(10000);
	return 0;
}
"""
TMP = "mount -t tmpfs none /tmp && "
PLACES = {
    "user": ["setpriv", "--reuid", str(OTHER_USER), "--clear-groups"],
    "pid": ["unshare", "--pid", "--fork"],
    "pid-mount": ["unshare", "--pid", "--fork", "--mount-proc"],
    "mount": ["unshare", "-m", "sh", "-c", TMP + 'exec "$0" "$@"'],
    "all": ["unshare", "-m", "--pid", "--fork", "sh", "-c",
            TMP + f'chmod 777 /tmp; true; setpriv --reuid {OTHER_USER} --clear-groups "$0" "$@"; '
            "true"],
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    # others can enter it, and it is not below /tmp
    top = tmp_path_factory.mktemp("jit")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-w", "-static", f'-DTAG="{TAG}"', "-o", top / "p",
                    top / "p.c"], check=True)
    where = f"/var/tmp/precord-jit-{os.getpid()}"
    shutil.copy(top / "p", where)
    os.chmod(where, 0o755)
    yield where
    os.unlink(where)
    for path in glob.glob("/tmp/perf-*.map") + glob.glob("/tmp/jit-*.dump"):
        with open(path, "rb") as file:
            if TAG.encode() in file.read(4096):
                os.unlink(path)


def record(data, *arguments):
    done = subprocess.run([TOOLS / "precord", "-e", "cpu-clock:u", "-F", "2000", "-o", data,
                           *arguments], timeout=TIMEOUT, text=True, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    named_recording.need_time(done.stderr)
    return data


def assert_named(data, name="made_by_jit", named=True):
    """The recording has names of the code, now that the processes have ended."""
    done = subprocess.run([TOOLS / "preport", "-f", "folded", data],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    assert (name in done.stdout) == named, done.stdout[-2000:] + done.stderr


@pytest.mark.parametrize("how", ["map", "dump"])
@pytest.mark.parametrize("place", PLACES)
def test_one_that_has_ended(place, how, program, tmp_path):
    assert_named(record(tmp_path / "p.data", "--", *PLACES[place], program, how))


@pytest.mark.parametrize("place", ["user", "all"])
def test_in_a_recording_of_the_system(place, program, tmp_path):
    assert_named(record(tmp_path / "p.data", "-a", "--", *PLACES[place], program, "map"))


@pytest.mark.parametrize("place", PLACES)
def test_a_child_that_started_no_program(place, program, tmp_path):
    assert_named(record(tmp_path / "p.data", "--", *PLACES[place], program, "map", "fork"))


@pytest.mark.parametrize("how", ["map", "dump"])
@pytest.mark.parametrize("place", PLACES)
def test_code_that_a_child_has_from_its_parent(place, how, program, tmp_path):
    """As with Python and Ruby, which load a program and then fork workers."""
    assert_named(record(tmp_path / "p.data", "--", *PLACES[place], program, how, "before"))


def test_code_that_a_child_has_written_itself(program, tmp_path):
    data = record(tmp_path / "p.data", "--", program, "map", "again")
    assert_named(data, "made_by_child")
    assert_named(data, named=False)


def test_a_root_that_was_there_before_many_others(program, tmp_path):
    """It has another process that ended early, and one that goes on."""
    script = (f"{TMP} /bin/true; echo > $1/there; until [ -e $1/go ]; do sleep 0.01; done; "
              '"$0" map; true')
    outside = (f"unshare -m sh -c '{script}' \"$0\" $1 & until [ -e $1/there ]; do sleep 0.01; "
               f"done; for i in $(seq {MANY}); do unshare -m true; done; echo > $1/go; wait")
    work = f"/var/tmp/precord-jit-{os.getpid()}.d"
    os.mkdir(work)
    try:
        data = record(tmp_path / "p.data", "--", "sh", "-c", outside, program, work)
    finally:
        shutil.rmtree(work)
    assert_named(data)


def test_a_file_of_another_user_is_not_read(program, tmp_path):
    """Others could give the code any names."""
    script = (f"install -o {OTHER_USER} /dev/null /tmp/perf-$$.map; chmod 755 /tmp; "
              'exec "$0" map')
    assert_named(record(tmp_path / "p.data", "--", "unshare", "-m", "sh", "-c",
                        TMP + script, program), named=False)


@pytest.mark.parametrize("how", ["map", "dump"])
@pytest.mark.parametrize("place", ["mount", "all"])
def test_files_that_are_removed_after_the_process(place, how, program, tmp_path):
    """As with a container that is removed when it ends."""
    before, script = PLACES[place][:-1], PLACES[place][-1].replace("exec ", "")
    assert_named(record(tmp_path / "p.data", "--", *before,
                        f"{script}; sleep 0.3; rm -r /tmp/*", program, how))


@pytest.mark.parametrize("how", ["map", "dump"])
def test_a_root_that_is_no_longer_held(how, program, tmp_path):
    """Others take its place, as time would."""
    script = f'"$@"; for i in $(seq {MANY}); do unshare -m sleep 0.01; done'
    assert_named(record(tmp_path / "p.data", "--", "sh", "-c", script, "sh", *PLACES["mount"],
                        program, how))


def test_a_number_that_another_process_has_by_now(program, tmp_path):
    """The kernel is told which number is next."""
    script = (f"unshare -m sh -c '{TMP} exec $0 map' $0 & first=$!; wait; sleep 1.2; "
              "echo $((first - 1)) > /proc/sys/kernel/ns_last_pid; "
              "$0 nothing & [ $! = $first ] || exit 9; wait")
    data = tmp_path / "p.data"
    done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", TOOLS / "precord", "-e",
                           "cpu-clock:u", "-F", "2000", "-o", data, "--", "sh", "-c", script,
                           program], timeout=TIMEOUT, text=True, stderr=subprocess.PIPE)
    if done.returncode == 9:
        pytest.skip("the number was given to another process")
    assert done.returncode == 0, done.stderr
    named_recording.need_time(done.stderr)
    assert_named(data)
    assert_named(data, "[anon]")
