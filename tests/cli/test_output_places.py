"""Output of pdecode, pencode and prepair in directories that others can write, and the permissions
of the result."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

import pytest

from conftest import FIXTURES, TOOLS

SOURCE = FIXTURES / "perf" / "01-basic.data"
SECRET = b"the victim's\n"
NOBODY = 65534


def is_root():
    return os.geteuid() == 0


@pytest.fixture
def places():
    """(a directory that all users can write to, a file elsewhere that must not change)."""
    with tempfile.TemporaryDirectory(prefix="output-") as top:
        os.chmod(top, 0o755)
        shared, own = pathlib.Path(top, "shared"), pathlib.Path(top, "own")
        shared.mkdir()
        shared.chmod(0o777)
        own.mkdir(0o755)
        victim = own / "victim"
        victim.write_bytes(SECRET)
        victim.chmod(0o666)
        before = victim.stat()
        yield shared, victim
        after = victim.stat()
        assert victim.read_bytes() == SECRET and os.listdir(own) == ["victim"]
        assert (after.st_uid, after.st_mode, after.st_ino) == (before.st_uid, before.st_mode,
                                                               before.st_ino)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """{tool: an input file}, readable by the owner only."""
    directory = tmp_path_factory.mktemp("inputs")
    data, text = directory / "perf.data", directory / "in.json"
    shutil.copyfile(SOURCE, data)
    text.write_bytes(subprocess.run([TOOLS / "pdecode", SOURCE], stdout=subprocess.PIPE,
                                    check=True).stdout)
    for path in (data, text):
        path.chmod(0o600)
    return {"pdecode": data, "pencode": text, "prepair": data}


def run(tool, *args, **options):
    return subprocess.run([TOOLS / tool, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, umask=0o022, **options)


def plant(shared, script, *args):
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root() else {}
    subprocess.run(["sh", "-ec", script, "sh", *map(str, args)], cwd=shared, check=True, timeout=20,
                   **user)


@pytest.mark.parametrize("script", ['ln -s "$1" out', 'ln -s "$1.new" out', 'ln "$1" out',
                                    'ln -s "${1%/*}" out', 'echo mine > out; chmod 666 out',
                                    'mkfifo out; chmod 666 out'],
                         ids=["link", "dangling", "hard-link", "directory-link", "file", "fifo"])
@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair"])
def test_links_planted_by_another_user(tool, script, places, inputs):
    """A file of another user is replaced or refused, and never written to."""
    shared, victim = places
    if ("mine" in script or "mkfifo" in script) and not is_root():
        pytest.skip("needs root: what one made oneself is written to")
    plant(shared, script, victim)
    before = (shared / "out").lstat()
    done = run(tool, "-o", shared / "out", inputs[tool])
    after = (shared / "out").lstat()
    if done.returncode == 4:
        assert (after.st_ino == before.st_ino and len(done.stderr.splitlines()) == 1
                and b"out" in done.stderr)
        assert (not stat.S_ISREG(after.st_mode)
                or (shared / "out").read_bytes() in (SECRET, b"mine\n"))
    else:
        assert (done.returncode == 0 and stat.S_ISREG(after.st_mode)
                and after.st_uid == os.geteuid()), done.stderr
        assert stat.S_IMODE(after.st_mode) == 0o600


@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair"])
@pytest.mark.parametrize("mode, expected", [(0o600, 0o600), (0o644, 0o644), (0o640, 0o640)],
                         ids=lambda mode: f"{mode:o}")
def test_the_output_is_not_open_to_more_users_than_the_input(tool, mode, expected, inputs,
                                                             tmp_path):
    source = tmp_path / "source"
    shutil.copyfile(inputs[tool], source)
    source.chmod(mode)
    os.chown(source, -1, os.getegid())
    assert run(tool, "-o", tmp_path / "out", source).returncode == 0
    assert f"{stat.S_IMODE((tmp_path / 'out').stat().st_mode):o}" == f"{expected:o}"


@pytest.mark.parametrize("tool", ["pdecode", "pencode"])
def test_nor_that_of_standard_input(tool, inputs, tmp_path):
    with open(inputs[tool], "rb") as source:
        assert run(tool, "-o", tmp_path / "out", "-", stdin=source).returncode == 0
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600


def test_nor_any_file_of_a_directory(tmp_path):
    text = tmp_path / "in.json"
    text.write_bytes(
        run("pdecode", "--blobs", "full", FIXTURES / "perf" / "20-threads.data").stdout)
    text.chmod(0o600)
    assert run("pencode", "-o", f"{tmp_path}/out/", text).returncode == 0
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()} == {0o600}


@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair"])
def test_links_of_ones_own_are_followed(tool, inputs, tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to("disk/real")
    for _ in range(2):
        assert run(tool, "-o", tmp_path / "out", inputs[tool]).returncode == 0
    assert (tmp_path / "out").is_symlink() and (tmp_path / "disk/real").stat().st_size > 1000


@pytest.mark.parametrize("tool", ["pdecode", "pencode", "prepair"])
def test_devices_are_written_to(tool, inputs):
    before = os.stat("/dev/null")
    assert run(tool, "-o", "/dev/null", inputs[tool]).returncode == 0
    assert os.stat("/dev/null").st_ino == before.st_ino
    assert len(run(tool, "-o", "/dev/stdout", inputs[tool]).stdout) > 1000
