"""Output of precord in directories that others can write: traps of an unprivileged user, and races
with one."""
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import tempfile
import time

import pytest

from compiled import preloaded
from conftest import ROOT
from recorder import needs_root, precord, run_precord, start_precord, wait_for   # noqa: F401
from rights import needs

DUMMY = ["-e", "dummy:u"]
CLOCK = ["-e", "cpu-clock:u", "-F", "1000"]
SECRET = b"the victim's\n"
NOBODY = 65534

pytestmark = needs("events")


@pytest.fixture
def shared():
    """A directory where every user may create, rename and remove files."""
    with tempfile.TemporaryDirectory(prefix="precord-shared-") as directory:
        os.chmod(directory, 0o777)
        yield pathlib.Path(directory)


@pytest.fixture
def victim():
    """A file that must not change, in its owner's directory."""
    with tempfile.TemporaryDirectory(prefix="precord-victim-") as directory:
        os.chmod(directory, 0o755)
        path = pathlib.Path(directory) / "victim"
        path.write_bytes(SECRET)
        path.chmod(0o666)       # else fs.protected_hardlinks refuses the hard link
        before = path.stat()
        yield path
        after = path.stat()
        assert path.read_bytes() == SECRET and os.listdir(directory) == ["victim"]
        assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid,
                                                               before.st_mode)


def attacker():
    """Options that run a process as another user; without the right to that, as the same user."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def plant(directory, script, *arguments):
    subprocess.run(["sh", "-ec", script, "sh", *map(str, arguments)], cwd=directory, check=True,
                   timeout=20, **attacker())


def is_own_recording(path):
    st = path.lstat()
    if stat.S_ISDIR(st.st_mode):
        assert stat.S_IMODE(st.st_mode) == 0o700
        return st.st_uid == os.geteuid() and is_own_recording(path / "data")
    assert stat.S_IMODE(st.st_mode) == 0o600
    return (stat.S_ISREG(st.st_mode) and st.st_uid == os.geteuid()
            and path.read_bytes()[:8] == b"PERFILE2")


LINK = 'ln -s "$1" "$2"'
MODES = {"plain": [], "threads": ["--threads"], "compressed": ["-z"]}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["perf.data", "perf.data.old"])
@pytest.mark.parametrize("script, given", [
    (LINK, True), (LINK, False), ('ln -s "$1.new" "$2"', True), ('mkfifo "$2"', False),
    ('mkfifo "$2"', True),
    ('ln "$1" "$2"', True), ('echo mine > "$2"; chmod 666 "$2"', True),
    (': > "$2"; chmod 666 "$2"', True),
    ('mkdir "$2"; echo mine > "$2/data"; ln -s "$1" "$2/data.0"; chmod -R a+rwX "$2"', True),
], ids=["link", "link-unnamed", "dangling", "fifo-unnamed", "fifo", "hard-link", "file", "empty",
        "directory"])
def test_links_planted_by_another_user(run_precord, shared, victim, mode, name, script, given):
    if os.geteuid() != 0 and (script.startswith(":") or (script.startswith("mkfifo") and given)):
        pytest.skip("needs root: what one made oneself is written to")
    (shared / "perf.data.old" if name == "perf.data" else shared / "perf.data").unlink(
        missing_ok=True)
    plant(shared, script, victim, name)
    for _ in range(2):      # the second run renames the first file to perf.data.old
        done = run_precord(*(["-o", "perf.data"] if given else []), *MODES[mode], *DUMMY, "--",
                           "true", cwd=shared)
        assert done.returncode == 0, done.stderr.decode()
        assert is_own_recording(shared / "perf.data")
    assert is_own_recording(shared / "perf.data.old")


def test_removals_are_reported(run_precord, shared, victim):
    plant(shared, LINK, victim, "perf.data")
    done = run_precord(*DUMMY, "--", "true", cwd=shared)
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    assert (f"perf.data was a link of user {user}: it was removed, not written to"
            in done.stderr.decode())


@needs_root
def test_only_new_files_are_given_to_the_user_of_sudo(run_precord, shared, victim):
    plant(shared, LINK, victim, "perf.data")
    plant(shared, ": > empty; chmod 666 empty")
    sudo = dict(os.environ, SUDO_UID="12345", SUDO_GID="12345")
    for name in ("perf.data", "empty"):
        assert run_precord("-o", name, *DUMMY, "--", "true", cwd=shared, env=sudo).returncode == 0
        made = (shared / name).lstat()
        assert stat.S_ISREG(made.st_mode) and (made.st_uid, made.st_gid) == (12345, 12345)


@needs_root
def test_a_file_in_a_sticky_directory(run_precord, shared, victim, as_user):
    """A user who may not rename the existing file is told so, and nothing is written."""
    shared.chmod(0o1777)
    for script in ("echo mine > perf.data; chmod 666 perf.data", 'ln -s "$1" perf.data',
                   "mkfifo perf.data; chmod 666 perf.data"):
        plant(shared, script, victim)
        done = as_user("-o", "perf.data", *DUMMY, "--", "true", cwd=shared)
        assert (done.returncode == 3 and b"user 65534" in done.stderr
                or b"can't be kept" in done.stderr), done.stderr
        assert done.stderr.count(b"\n") == 2, "once, and what follows from it"
        kind = (shared / "perf.data").lstat().st_mode
        assert not stat.S_ISREG(kind) or (shared / "perf.data").read_text() == "mine\n"
        (shared / "perf.data").unlink()


@pytest.fixture
def as_user(run_precord):
    def run(*args, **options):
        return run_precord(*args, user=12345, group=12345, extra_groups=[], **options)
    return run


@pytest.fixture(scope="session")
def planter():
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no compiler for tests/workload")
    with tempfile.TemporaryDirectory(prefix="planter-") as directory:
        os.chmod(directory, 0o755)
        path = pathlib.Path(directory) / "planter"
        subprocess.run([compiler, "-O1", "-o", path, ROOT / "tests/workload/planter.c"], check=True,
                       timeout=60)
        yield path


class Race:
    """An attacker that runs at the same time as precord."""

    def __init__(self, planter, directory, *args):
        self.process = subprocess.Popen([planter, *map(str, args)], cwd=directory,
                                        stdout=subprocess.PIPE, **attacker())
        assert self.process.stdout.readline() == b"ready\n"

    def traps(self):
        self.process.wait(timeout=20)
        return int(self.process.stdout.read())


@needs_root
@pytest.mark.parametrize("kind, options", [
    ("swap", ["--threads"]), ("churn", []), ("churn", ["--threads"]),
    ("churn", ["--switch-output=1K"]),
], ids=["directory", "file", "threads", "switch"])
def test_a_race_for_the_name(run_precord, planter, shared, victim, kind, options):
    """Both outcomes are safe: nothing is written through the links, to a file or a directory."""
    race = Race(planter, shared, kind, "rd", victim.parent if options == ["--threads"] else victim,
                2)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        run_precord("-q", "-o", "rd", *options, *DUMMY, "--", "true", cwd=shared)
    assert race.traps() > 0


@pytest.fixture(scope="session")
def swap_library():
    with tempfile.TemporaryDirectory(prefix="swap-") as directory:
        yield preloaded("swap", pathlib.Path(directory))


def treasury(directory, names):
    directory.mkdir()
    for name in names:
        (directory / name).write_bytes(SECRET)
    return directory


@pytest.mark.parametrize("directory, options", [
    ("out/rd", ["--threads"]), ("out", ["--threads", "-z"]), ("out", []),
    ("out", ["--switch-output=1K", "--switch-max-files=1"]), ("out/rd", ["--kcore"]),
], ids=lambda o: o if isinstance(o, str) else " ".join(o) or "file")
def test_the_directory_is_replaced_at_each_call(run_precord, swap_library, tmp_path, directory,
                                                options):
    """An attacker who always wins: precord must not create, rename or remove anything in the
    directory that the link leads to, whether it is empty or has the same names."""
    if "--kcore" in options and not os.access("/proc/kcore", os.R_OK):
        pytest.skip("no right to read /proc/kcore")
    report = tmp_path / "calls"
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    names = ["rd", "rd.old", "data", "data.0", "data.1", "kcore_dir"]
    swapped = 0

    def record(number, target):
        shutil.rmtree(tmp_path / "all", ignore_errors=True)
        (tmp_path / "all/out").mkdir(parents=True)
        if options == []:
            (tmp_path / "all/out/rd").write_bytes(b"PERFILE2")
        environment = dict(
            os.environ, LD_PRELOAD=str(swap_library), ASAN_OPTIONS=sanitizer, SWAP_TO=str(target),
            SWAP=str(tmp_path / "all" / directory), SWAP_AT=str(number), SWAP_CALLS=str(report))
        run_precord("-q", "-o", tmp_path / "all/out/rd", *options, *CLOCK, "--", "true",
                    env=environment)
        return report.read_text().split()

    for i in range(1, 3 + int(record(0, tmp_path)[0])):
        for held in ([], names):
            target = treasury(tmp_path / f"treasury-{i}-{len(held)}", held)
            swapped += record(i, target)[1:] == ["swapped"]
            assert sorted(os.listdir(target)) == sorted(held), f"call {i}"
            assert all((target / name).read_bytes() == SECRET for name in held), f"call {i}"
    assert swapped > 1


@needs_root
def test_answers_to_control_go_to_no_link(run_precord, shared, victim, tmp_path):
    plant(shared, 'mkfifo theirs; chmod 666 theirs; ln -s "$1" ack; echo mine > file', victim)
    os.mkfifo(shared / "own")
    for names, said in (("own,ack", "a link, not a FIFO"), ("own,file", "is not a FIFO"),
                        ("theirs", "belongs to user 65534"),
                        ("own,theirs", "belongs to user 65534")):
        done = run_precord("-o", tmp_path / "perf.data", "--control", f"fifo:{names}", *DUMMY, "--",
                           "true", cwd=shared)
        assert done.returncode == 2 and said in done.stderr.decode(), (names, done.stderr)
    assert (shared / "file").read_text() == "mine\n"
    done = run_precord("-o", tmp_path / "perf.data", "--control", "fifo:own", *DUMMY, "--", "true",
                       cwd=shared)
    assert done.returncode == 0


def test_a_fifo_that_nobody_reads_is_not_waited_for_in_silence(start_precord, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    process = start_precord("-o", "fifo", *DUMMY, "--", "true")
    assert process.stderr.readline() == b"precord: fifo: waiting for a program to read this FIFO\n"
    assert (tmp_path / "fifo").read_bytes()[:8] == b"PERFILE2"
    assert process.wait(timeout=20) == 0


def test_links_of_ones_own_are_followed_where_nobody_else_can_make_any(run_precord, tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "disk").mkdir()
    (tmp_path / "perf.data").symlink_to("disk/real.data")
    for _ in range(2):
        assert run_precord(*DUMMY, "--", "true").returncode == 0
    assert (tmp_path / "perf.data").is_symlink() and is_own_recording(tmp_path / "disk/real.data")
    assert is_own_recording(tmp_path / "disk/real.data.old")


@pytest.mark.parametrize("output", ["-o /dev/stdout | cat > out", "-o >(cat > out); wait $!"],
                         ids=["stdout", "substitution"])
def test_pipes_by_the_names_that_shells_give_them(precord, tmp_path, output):
    if not shutil.which("bash"):
        pytest.skip("no bash")
    line = f"{precord} {' '.join(DUMMY)} {output.replace('-o', '-o', 1)}"
    before, pipe, after = line.partition(" | ")
    script = f"{before} -- true{pipe}{after}" if pipe else line.replace("; wait", " -- true; wait")
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, timeout=30,
                   stderr=subprocess.DEVNULL)
    wait_for(lambda: (tmp_path / "out").exists() and (tmp_path / "out").stat().st_size > 16)
    assert (tmp_path / "out").read_bytes()[:8] == b"PERFILE2"


def test_a_socket_that_a_link_leads_to(run_precord, tmp_path):
    """Root must not replace /dev/stdout by a file."""
    tmp_path.chmod(0o755)
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    with ours, theirs:
        for number in 1, theirs.fileno():
            link = tmp_path / f"fd{number}"
            link.symlink_to(f"/proc/self/fd/{number}")
            stdout = theirs if number == 1 else subprocess.DEVNULL
            done = run_precord("-o", link, *DUMMY, "--", "true", stdout=stdout,
                               pass_fds=[theirs.fileno()])
            assert link.is_symlink() and not (tmp_path / f"fd{number}.old").exists()
            if number == 1:
                assert done.returncode == 0 and ours.recv(8) == b"PERFILE2"
            else:
                assert done.returncode == 3 and b"removed" not in done.stderr


def test_an_empty_file_of_ones_own_is_filled(run_precord, tmp_path):
    """A program that keeps its temporary file open finds the recording in it."""
    with tempfile.NamedTemporaryFile(dir=tmp_path) as file:
        assert run_precord("-o", file.name, *DUMMY, "--", "true").returncode == 0
        assert file.read(8) == b"PERFILE2"
