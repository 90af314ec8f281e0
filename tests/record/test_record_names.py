"""The process of precord that looks up names: its sandbox, and its end before it is done. The files
that it reads may be made by an attacker, whose code stands in tests/c/sandbox_intruder.c."""
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, TOOLS
from named import TRIES
from rights import needs
from sandboxed import build, no_sandbox_here

pytestmark = needs("events")
NOBODY = 65534
SOURCE = r"""
static inline __attribute__((always_inline)) void inlined(volatile int *sum, int x)
{
	for (int i = 0; i < 1000000; i++) *sum += i * x;
}
__attribute__((noinline)) int outer(int x)
{
	volatile int sum = 0;

	inlined(&sum, x);
	return sum;
}
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 50; i++)
		sum += outer(i);
	return sum == 1;
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a program that has debug information, the intruder, and a program that
    refuses the parts of a sandbox."""
    top = tmp_path_factory.mktemp("names")
    (top / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-o", top / "app", top / "p.c"],
                   check=True)
    build(top, "sandbox_intruder", "-shared", "-fPIC")
    build(top, "sandbox_refused")
    return top


def run_recorder(place, path, *options, before=(), environment=None):
    """Returns what precord wrote to stderr. Records again if precord had no time for names."""
    for _ in range(TRIES):
        done = subprocess.run([*before, TOOLS / "precord", "-e", "cpu-clock", "-F", "1000", "-g",
                               *options, "-o", path, "--", place / "app"],
                              env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, text=True)
        assert done.returncode == 0, done.stderr
        if "looking them up took too long" not in done.stderr:
            return done.stderr
    pytest.skip(f"precord had no time for names, {TRIES} times: this machine has other work")


def intrude(place, path, deed, at, *options, before=(), victim="/etc/passwd"):
    """Records with injected code in the process that looks up names. Returns the outcome, and what
    precord wrote to stderr."""
    report = path.with_suffix(".report")
    report.write_bytes(bytes(100))
    stderr = run_recorder(place, path, *options, before=before, environment={
        "LD_PRELOAD": str(place / "sandbox_intruder"), "INTRUDER": deed, "INTRUDER_AT": at,
        "INTRUDER_PATH": str(victim), "INTRUDER_REPORT": str(report)})
    return report.read_bytes().rstrip(b"\0").decode(), stderr


def document(path):
    """The JSON of a recording, which must be whole."""
    found = json.loads(subprocess.run([TOOLS / "pdecode", path], stdout=subprocess.PIPE,
                                      check=True).stdout)
    assert not found["errors"] and found["file"]["complete"]
    return found


def names_section(path):
    return document(path)["features"].get("PD_SYMBOLS")


def functions(section):
    return {function["name"] for image in section["images"] for function in image["functions"]}


def frames(path):
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", path],
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return [line["frames"] for line in map(json.loads, lines) if line.get("type") == "SAMPLE"]


def without_names(path, out):
    """Copies a recording without its feature PD_SYMBOLS: names are those of the files here."""
    left = document(path)
    del left["features"]["PD_SYMBOLS"]
    subprocess.run([TOOLS / "pencode", "-o", out], input=json.dumps(left).encode(), check=True)
    return out


def test_a_file_that_names_are_missing_from_is_named(tmp_path):
    """The compiler put what is inlined into another file, which is gone."""
    (tmp_path / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-gsplit-dwarf", "-O1", "-c", "p.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-o", "app", "p.o"], cwd=tmp_path, check=True)
    lack = f"{tmp_path}/app: what is inlined there is in {tmp_path}/p.dwo, which is not here"
    assert lack not in run_recorder(tmp_path, tmp_path / "p.data")
    (tmp_path / "p.dwo").unlink()
    line, = (line for line in run_recorder(tmp_path, tmp_path / "p.data").splitlines()
             if lack in line)
    assert line.startswith("precord: not all names of functions are in the file, but preport")
    assert lack not in run_recorder(tmp_path, tmp_path / "p.data", "-q")


# --- the sandbox ----------------------------------------------------------------------------------

def refuse(place, *parts):
    """The start of a command for which these parts of a sandbox do not exist."""
    return [word for part in parts for word in (place / "sandbox_refused", part)]


@pytest.mark.parametrize("refused", [(), ("landlock",), ("seccomp",), ("landlock", "seccomp")],
                         ids=lambda parts: "without " + " and ".join(parts) if parts else "whole")
def test_names_are_those_of_the_files(refused, place, tmp_path):
    """With the sandbox, and on kernels without its parts."""
    path = tmp_path / "p.data"
    run_recorder(place, path, before=refuse(place, *refused))
    assert {"outer", "main"} <= functions(names_section(path))
    (place / "app").rename(place / "away")
    try:
        carried = frames(path)
    finally:
        (place / "away").rename(place / "app")
    assert carried == frames(without_names(path, tmp_path / "bare.data"))
    assert sum('"inlined"' in json.dumps(sample) for sample in carried) > 5


@no_sandbox_here
@pytest.mark.parametrize("deed", ["run", "exec", "socket", "unix", "trace", "kill"])
def test_an_attack_ends_the_process(deed, place, tmp_path):
    path = tmp_path / "p.data"
    if not shutil.which("strace"):
        pytest.skip("no strace here: signals are not seen")
    trace = ["strace", "-f", "-o", tmp_path / "trace", "-e", "trace=none"]
    outcome, stderr = intrude(place, path, deed, "file", before=trace)
    assert outcome == "intruder: tries\n"
    assert "+++ killed by SIGSYS" in (tmp_path / "trace").read_text()
    assert "the process that looks them up ended early" in stderr
    assert names_section(path) is None and frames(path)
    outcome, stderr = intrude(place, path, deed, "file", before=refuse(place, "seccomp"))
    assert outcome != "intruder: tries\n" or deed == "exec"


@no_sandbox_here
@pytest.mark.parametrize("deed", ["read", "write", "append", "nameless", "remove", "move", "list",
                                  "mode", "code", "turn", "tgkill"])
def test_other_rights_are_refused(deed, place, tmp_path):
    """The names are there nevertheless."""
    path, victim = tmp_path / "p.data", tmp_path / "victim"
    victim.write_bytes(b"precious")
    victim.chmod(0o600)
    target = tmp_path if deed in ("nameless", "list") else victim
    for refused in [(), ("landlock",)]:
        outcome, stderr = intrude(place, path, deed, "file", before=refuse(place, *refused),
                                  victim=target)
        assert outcome == f"intruder: {os.strerror(38)}\n", refused      # ENOSYS
        assert {"outer", "main"} <= functions(names_section(path)) and "early" not in stderr
        assert (victim.read_bytes(), victim.stat().st_mode & 0o777) == (b"precious", 0o600)
    outcome, _ = intrude(place, path, deed, "file", before=refuse(place, "landlock", "seccomp"),
                         victim=target)
    assert outcome == "intruder: done\n"


@no_sandbox_here
def test_landlock_alone_refuses_files(place, tmp_path):
    path, victim = tmp_path / "p.data", tmp_path / "victim"
    victim.write_bytes(b"precious")
    for deed in ("read", "write", "remove"):
        outcome, _ = intrude(place, path, deed, "file", before=refuse(place, "seccomp"),
                             victim=victim)
        assert outcome == f"intruder: {os.strerror(13)}\n", deed          # EACCES


@no_sandbox_here
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read the files of others")
def test_root_has_no_more_rights_than_others(place, tmp_path):
    """Without Landlock and seccomp, as on old kernels."""
    path, victim = tmp_path / "p.data", tmp_path / "victim"
    victim.write_bytes(b"precious")
    os.chown(victim, NOBODY, NOBODY)
    victim.chmod(0o600)
    outcome, _ = intrude(place, path, "read", "file", before=refuse(place, "landlock", "seccomp"),
                         victim=victim)
    assert outcome == f"intruder: {os.strerror(13)}\n"


@no_sandbox_here
def test_only_files_of_an_output_directory_can_be_opened(place, tmp_path):
    path, victim = tmp_path / "p.data", tmp_path / "victim"
    victim.write_bytes(b"precious")
    outcome, stderr = intrude(place, path, "read", "file", "--threads", victim=victim)
    assert outcome == f"intruder: {os.strerror(13)}\n" and "early" not in stderr
    assert {"outer", "main"} <= functions(names_section(path))
    for deed, allowed in (("read", True), ("append", False), ("remove", False)):
        shutil.rmtree(path)
        outcome, _ = intrude(place, path, deed, "file", "--threads", victim=path / "data")
        assert (outcome == "intruder: done\n") == allowed, (deed, outcome)
        assert document(path)


@no_sandbox_here
def test_the_process_opens_nothing_and_has_limits(place, tmp_path):
    if not shutil.which("strace"):
        pytest.skip("no strace here: system calls are not seen")
    run_recorder(place, tmp_path / "p.data", before=["strace", "-f", "-o", tmp_path / "trace"])
    calls = [line.split(None, 1) for line in (tmp_path / "trace").read_text().splitlines()]
    pid, at = next((pid, i) for i, (pid, call) in enumerate(calls)
                   if call.startswith("seccomp(SECCOMP_SET_MODE_FILTER") and "filter=" in call)
    before, after = ([call for other, call in part if other == pid]
                     for part in (calls[:at], calls[at:]))
    assert not [call for call in after if re.match(r"open|socket|fork|clone|exec", call)]
    # a file with each: the program and the C library, if not more
    assert len([call for call in after if call.startswith("recvmsg(")]) > 1
    for limit in ("RLIMIT_CORE, {rlim_cur=0, rlim_max=0}", "RLIMIT_FSIZE, {rlim_cur=0, rlim_max=0}",
                  "RLIMIT_DATA, {rlim_cur=8388608*1024, rlim_max=8388608*1024}",
                  '"1000", 4', "{effective=0, permitted=0, inheritable=0}"):
        assert [call for call in before if limit in call], limit


# --- the end before all is done -------------------------------------------------------------------

@pytest.mark.parametrize("deed, message", [
    ("long", "reading debug information took too long"),
    ("for ever", "reading debug information took too long"),
    ("crash", "the process that looks them up ended early"),
    ("lie", "the process that looks them up ended early")])
def test_names_stay_when_inlined_functions_are_not_done(deed, message, place, tmp_path):
    """The section says that functions inlined at its addresses may be missing."""
    path = tmp_path / "p.data"
    outcome, stderr = intrude(place, path, deed, "names")
    # a machine that has much other work lets it not come to its end
    assert outcome == "intruder: tries\n" or (deed == "long" and outcome == "intruder: done\n")
    section = names_section(path)
    assert message in stderr and section["cut"] == 2
    assert {"outer", "main"} <= functions(section)
    assert frames(path)


@pytest.mark.parametrize("moment", ["file", "names"])
def test_time_that_other_processes_use_is_not_counted(moment, place, tmp_path):
    path = tmp_path / "p.data"
    outcome, stderr = intrude(place, path, "wait", moment)
    assert outcome == "intruder: done\n" and "took too long" not in stderr
    assert names_section(path)["cut"] == 0


@pytest.mark.parametrize("deed", ["crash", "lie"])
def test_an_early_end_leaves_a_recording_without_names(deed, place, tmp_path):
    """An answer that no names can have counts as the end."""
    path = tmp_path / "p.data"
    outcome, stderr = intrude(place, path, deed, "file")
    assert outcome == "intruder: tries\n"
    assert "the process that looks them up ended early" in stderr
    assert names_section(path) is None
    assert sum("outer" in json.dumps(sample) for sample in frames(path)) > 5
