"""precord for ordinary users: what works without rights, and the messages where it does not."""
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import TOOLS, TRACEFS
from recorder import Recording, check_end, needs_root, seeing, wait_for, workload   # noqa: F401
from rights import needs

USER = 54321
SYSCTL = pathlib.Path("/proc/sys/kernel")
CLOCK = ["-e", "cpu-clock", "-F", "1000"]

pytestmark = [needs_root, pytest.mark.skipif(not shutil.which("setpriv"), reason="no setpriv")]


@pytest.fixture(params=[2, 3])
def paranoid(request):
    """Sets the sysctl, and restores it after the test."""
    path = SYSCTL / "perf_event_paranoid"
    before = path.read_text()
    path.write_text(str(request.param))
    yield request.param
    path.write_text(before)


@pytest.fixture
def home(workload):
    """The user's directory, with a precord that the user may run."""
    directory = workload.parent / "home"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(TOOLS / "precord", directory / "precord")
    os.chown(directory, USER, USER)
    return directory


# by number: setpriv of Debian 11 does not know its name
CAPABILITIES = {"perfmon": 38}


@pytest.fixture
def as_user(home, workload, decode):
    def run(*options, does="spin 100", prefix=(), capabilities=(), target=True,
            stdout=subprocess.DEVNULL, keep=False):
        privileges = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        if capabilities:
            names = ",".join(f"+cap_{CAPABILITIES[name]}" for name in capabilities)
            privileges += [f"--inh-caps={names}", f"--ambient-caps={names}"]
        if not keep:
            (home / "perf.data").unlink(missing_ok=True)
        command = [*prefix, "setpriv", *privileges, "./precord", "-o", "perf.data",
                   *map(str, options)]
        if target:
            command += ["--", str(workload), *does.split()]
        done = subprocess.run(command, cwd=home, stdout=stdout, stderr=subprocess.PIPE, timeout=60)
        check_end(done, command)
        return Recording(done, home / "perf.data", decode)
    return run


def test_user_space_is_recorded_where_the_kernel_is_forbidden(as_user, paranoid):
    run = as_user(*CLOCK)
    assert run.returncode == 0, run.stderr
    assert run.stderr.count(f"kernel.perf_event_paranoid is {paranoid}") == 1
    assert run.document["attrs"][0]["name"] == "cpu-clock:u"
    assert len(run.samples) > 30 and {s["cpumode"] for s in run.samples} == {"USER"}


def test_without_options(as_user):
    run = as_user()
    assert run.returncode == 0 and len(run.samples) > 100, run.stderr


@pytest.mark.parametrize("options", [["-g"], ["--call-graph", "dwarf"], ["-d"], ["--switch-events"],
                                     ["-s"], ["-z"],
                                     ["--per-thread"], ["--overwrite"], ["--buildid-mmap"],
                                     ["-k", "mono"]])
def test_recordings_open_to_every_user(as_user, options):
    run = as_user(*CLOCK, *options)
    assert run.returncode == 0 and len(run.samples) > 10, run.stderr


def refused(run, *said):
    assert run.returncode == 3, run.stderr
    for words in said:
        assert words in run.stderr
    assert not run.path.exists()


def test_the_whole_machine_is_forbidden(as_user, paranoid):
    refused(as_user("-a", *CLOCK), f"perf_event_paranoid is {paranoid}", "CAP_PERFMON is missing",
            "kernel.perf_event_paranoid=0", "setcap cap_perfmon")


def test_the_kernel_is_asked_for_and_forbidden(as_user):
    refused(as_user("-e", "cpu-clock:k"), "perf_event_paranoid", "kernel.perf_event_paranoid=1")


def test_physical_addresses_are_forbidden(as_user):
    refused(as_user("-e", "page-faults:u", "-d", "--phys-data"), "kernel.perf_event_paranoid=1",
            "so that physical addresses can be recorded")


def test_namespaces_are_forbidden(as_user):
    refused(as_user(*CLOCK, "--namespaces"), "namespaces", "setcap")


def test_another_users_process_is_forbidden(as_user):
    refused(as_user(*CLOCK, "-p", os.getpid(), target=False), "another user's process",
            "setcap cap_")


@pytest.mark.skipif(not os.path.exists("/sys/bus/event_source/devices/uprobe"),
                    reason="no PMU of probes")
def test_probes_are_roots(as_user, workload):
    run = as_user("-e", f"uprobe:{workload}:probed")
    refused(run, "so that a probe can be set, try: sudo precord")
    assert (f"uprobe:{workload}:probed:" in run.stderr and "setcap" not in run.stderr
            and "user space" not in run.stderr)


def test_the_advice_is_enough(as_user, workload):
    run = as_user(*CLOCK, "--namespaces", capabilities=["perfmon"])
    assert run.returncode == 0 and run.count("NAMESPACES"), run.stderr
    other = subprocess.Popen([str(workload), "spin", "100000"])
    try:
        run = as_user(*CLOCK, "-p", other.pid, "--duration", "0.1", target=False,
                      capabilities=["perfmon"])
    finally:
        other.kill()
        other.wait()
    assert run.returncode == 0 and run.samples, run.stderr


@pytest.mark.parametrize("event, name",
                         [("cpu-clock", "cpu-clock:u"), ("cpu-clock:p", "cpu-clock:pu"),
                          ("cpu-clock/period=1000000/", "cpu-clock/period=1000000/u"),
                          ("mem:0x1000:rw", "mem:0x1000:rw:u")])
def test_events_of_user_space_are_called_so(as_user, event, name):
    run = as_user("-e", event)
    assert run.returncode == 0 and run.document["attrs"][0]["name"] == name


@pytest.fixture
def tracefs_put_back():
    """All mounts of tracefs share its group and mode."""
    before = TRACEFS.stat()
    yield
    subprocess.run(["mount", "-o", f"remount,gid={before.st_gid},mode={before.st_mode & 0o7777:o}",
                    str(TRACEFS)], check=True)


@needs("tracefs")
@pytest.mark.skipif(not shutil.which("setcap"), reason="no setcap")
def test_the_advice_for_tracepoints_is_enough(as_user, home, tmp_path, tracefs_put_back):
    """The advice of --doctor, too. It is followed by root: sudo is replaced."""
    refusal = as_user("-e", "sched:sched_switch")
    assert refusal.returncode == 2 and len(refusal.stderr.splitlines()) == 1
    advice = refusal.stderr.strip().partition(" Try: ")[2]
    assert (f"try: {advice}"
            in as_user("--doctor", target=False, stdout=subprocess.PIPE).done.stdout.decode())
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    subprocess.run(["sh", "-ec", advice],
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=True)
    run = as_user("-e", "sched:sched_switch", does="switch 20")
    assert run.returncode == 0 and len(run.samples) >= 20, run.stderr
    assert "prev_comm" in run.samples[0]["raw"]["tracepoint"]["fields"]
    assert ("ok    tracepoints\n"
            in as_user("--doctor", target=False, stdout=subprocess.PIPE).done.stdout.decode())


def test_a_capability_is_enough(as_user):
    run = as_user(*CLOCK, capabilities=["perfmon"])
    assert run.returncode == 0 and "paranoid" not in run.stderr
    assert run.document["attrs"][0]["name"] == "cpu-clock"
    run = as_user("-a", *CLOCK, capabilities=["perfmon"])
    assert run.returncode == 0 and run.samples, run.stderr


@pytest.mark.skipif(not shutil.which("prlimit"), reason="no prlimit")
def test_little_memory_may_be_locked(as_user):
    limit = ["prlimit", "--memlock=65536"]
    assert as_user(*CLOCK, "--overwrite", prefix=limit).returncode == 0
    run = as_user(*CLOCK, "-m", "64M", prefix=limit)
    refused(run, "perf_event_mlock_kb", "ulimit -l 64", "-m 16")


@pytest.mark.skipif(not shutil.which("prlimit"), reason="no prlimit")
def test_another_recording_has_locked_all_memory(as_user, home):
    limit = ["prlimit", "--memlock=0"]
    other = subprocess.Popen([*limit, "setpriv", f"--reuid={USER}", f"--regid={USER}",
                              "--clear-groups", "./precord", "-o", "other", "-m", "128", *CLOCK,
                              "--", "sleep", "60"], cwd=home, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: (home / "other").exists() and (home / "other").stat().st_size)
        run = as_user(*CLOCK, prefix=limit)
        refused(run, "buffers of 4 KiB", "Try: end this user's other recordings, or: sudo sysctl")
        assert "-m 16" not in run.stderr
    finally:
        other.terminate()
        other.wait()


def test_the_cause_is_said_where_the_old_file_stays(as_user, home):
    """Also with -q: in a directory of root the old file can't be renamed."""
    (home / "perf.data").write_text("an old recording")
    home.chmod(0o755)
    os.chown(home, 0, 0)
    run = as_user("-q", *CLOCK, keep=True)
    assert run.returncode == 3 and "perf.data.old: Permission denied" in run.stderr


def test_hardly_any_memory_may_be_locked(as_user):
    path = SYSCTL / "perf_event_mlock_kb"
    before = path.read_text()
    try:
        path.write_text("24")
        run = as_user("-v", *CLOCK)
        assert run.returncode == 0 and len(run.samples) > 30, run.stderr
        path.write_text("0")
        run = as_user(*CLOCK, prefix=["prlimit", "--memlock=0"])
        refused(run, "perf_event_mlock_kb is 0", "Try: sudo sysctl kernel.perf_event_mlock_kb=516")
    finally:
        path.write_text(before)


def test_few_files_may_be_open(as_user):
    """Root raises the soft limit: the hard limit is lowered, too."""
    run = as_user("-e", "cpu-clock:u,task-clock:u,faults:u,cs:u,minor-faults:u,major-faults:u",
                  prefix=["prlimit", "--nofile=12:12"])
    refused(run, "EMFILE", "ulimit -n")
    assert as_user("-e", "cpu-clock:u,faults:u,cs:u",
                   prefix=["prlimit", "--nofile=9:64"]).returncode == 0


@pytest.mark.skipif(not shutil.which("unshare"), reason="no unshare")
def test_in_a_pid_namespace(workload, tmp_path, decode):
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no new PID namespace")
    done = subprocess.run([*inside, TOOLS / "precord", "-o", "perf.data", *CLOCK, "--", workload,
                           "spin", "100"],
                          cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    samples = [r for r in decode(tmp_path / "perf.data")["records"] if r["type"] == "SAMPLE"]
    # the kernel gives pid -1 for a task that has exited
    assert len(samples) > 20 and {s["pid"] for s in samples} <= set(range(-1, 10))


@pytest.mark.skipif(not shutil.which("unshare"), reason="no unshare")
def test_the_root_of_a_user_namespace_is_an_ordinary_user(tmp_path):
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no new user namespace")
    done = subprocess.run([*inside, TOOLS / "precord", "--doctor"], stdout=subprocess.PIPE,
                          text=True, timeout=60)
    assert done.returncode == 1
    for wrong in ("ok    ring buffers of any size", "ok    probes", "ok    all capabilities",
                  "ok    tracepoints"):
        assert wrong not in done.stdout
    assert ("note  CAP_PERFMON: no, CAP_SYS_ADMIN (to see BPF programs): no, CAP_IPC_LOCK: no\n"
            in done.stdout)
    assert "root of a user namespace" in done.stdout


@needs("tracefs")
def test_a_list_that_is_empty_for_lack_of_a_right_says_so(as_user):
    done = as_user("--list", "sched:*", target=False, stdout=subprocess.PIPE).done
    assert (done.returncode == 3 and done.stderr.count(b"\n") == 1
            and b"Try: sudo mount" in done.stderr)
    assert b"'sched:*'" in done.stderr


@needs("tracefs")
@pytest.mark.parametrize("event, said",
                         [("cylces:u", "there is no event 'cylces:u'; did you mean 'cycles'?"),
                          ("mysystem:b",
                           "tracepoint 'mysystem:b': tracefs can't be read (EACCES)")])
def test_a_misspelt_event_is_no_tracepoint_that_is_out_of_reach(as_user, event, said):
    done = as_user("--dry-run", "-e", event).done
    assert done.returncode == 2 and said in done.stderr.decode()


@pytest.mark.parametrize("event, said", [("cpu-clock", 1), ("cpu-clock:u", 0)])
def test_hidden_symbols_of_the_kernel_are_said(tmp_path, event, said):
    hidden = seeing(tmp_path, {
        SYSCTL / "kptr_restrict": "2\n",
        "/proc/kallsyms": "0000000000000000 T _text\n0000000000000000 T _stext\n"})
    done = subprocess.run([*hidden, TOOLS / "precord", "-e", event, "-F", "100", "--", "true"],
                          cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True, timeout=60)
    assert done.returncode == 0 and done.stderr.count("kernel.kptr_restrict is 2") == said


def test_under_sudo_the_file_is_the_users(home, workload):
    environment = dict(os.environ, SUDO_UID=str(USER), SUDO_GID=str(USER))
    subprocess.run([TOOLS / "precord", "-q", "-o", "perf.data", *CLOCK, "--", workload, "spin",
                    "5"], cwd=home,
                   env=environment, check=True, timeout=60)
    assert (home / "perf.data").stat().st_uid == USER
