"""The life of a recording: exit codes, signals, files, streams, delays, control commands."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from recorder import (  # noqa: F401
    low_rate, needs_root, precord, record, release, run_precord, start_precord, start_recording,
    start_workload, wait_for, wait_until_synthesized, workload)
from rights import need, needs

CLOCK = ["-e", "cpu-clock:u", "-F", "1000"]


def types(document):
    return document["summary"]["by_type"]


@pytest.mark.parametrize("does, status", [("exit 0", 0), ("exit 42", 42), ("raise 15", 128 + 15),
                                          ("raise 9", 128 + 9)])
def test_the_commands_status_is_precords(record, does, status):
    record(*CLOCK, does=does, status=status)


@pytest.mark.parametrize("command, status, said", [
    (["no-such-command"], 127, "not found"), (["/no/such/file"], 127, "not found"),
    (["record", "-g", "true"], 127, "leave it out: precord -g"), (["/"], 126, "can't be executed"),
])
def test_a_command_that_is_not_there(run_precord, tmp_path, command, status, said):
    done = run_precord("-o", "perf.data", "--", *command)
    assert done.returncode == status and said in done.stderr.decode()
    assert not (tmp_path / "perf.data").exists()


@pytest.mark.parametrize("ignored", [(), (signal.SIGPIPE,)], ids=["usual", "as nohup does"])
@needs("events")
def test_the_commands_signals_are_as_they_were(run_precord, ignored):
    def set_up():
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    done = run_precord("-o", "perf.data", *CLOCK, "--", "grep", "Sig[IB]", "/proc/self/status",
                       stdout=subprocess.PIPE, preexec_fn=set_up, restore_signals=False)
    found = dict(re.findall(rb"Sig(Ign|Blk):\t([0-9a-f]+)", done.stdout))
    mask = sum(1 << number - 1 for number in ignored)
    watched = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
    assert int(found[b"Blk"], 16) == 0 and int(found[b"Ign"], 16) & watched == mask


@needs("events")
def test_a_file_that_may_not_grow(run_precord, workload):
    done = run_precord("-o", "perf.data", "-e", "cpu-clock:u", "-F", "5000", "-g", "--", workload,
                       "spin", "300",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    assert done.returncode == 4 and b"File too large" in done.stderr


@pytest.mark.parametrize("path, command", [("/nowhere::/bin", "returns-seven"),
                                           ("/bin:.", "returns-seven"), ("/bin", "./returns-seven"),
                                           ("/nowhere:/bin", "{}/returns-seven")])
@needs("events")
def test_a_command_is_found_as_a_shell_finds_it(run_precord, tmp_path, path, command):
    (tmp_path / "returns-seven").write_text("exit 7\n")      # without #!, a shell runs it
    (tmp_path / "returns-seven").chmod(0o755)
    done = run_precord("-o", "perf.data", *CLOCK, "--", command.format(tmp_path),
                       env=dict(os.environ, PATH=path))
    assert done.returncode == 7, done.stderr


def test_without_anything_to_record(run_precord):
    done = run_precord()
    assert done.returncode == 2 and b"nothing to record" in done.stderr


def test_the_footer_is_perfs(record):
    run = record(*CLOCK, does="spin 30")
    lines = run.stderr.splitlines()
    assert re.fullmatch(r"\[ precord: Woken up \d+ times to write data \]", lines[-2])
    assert re.fullmatch(rf"\[ precord: Captured and wrote \d+\.\d\d\d MB "
                        rf"{re.escape(str(run.path))} \(\d+ samples\) \]",
                        lines[-1])


def test_quiet_says_nothing_and_verbose_more(record):
    assert record("-q", *CLOCK).stderr == ""
    assert "buffers of" in record("-v", *CLOCK).stderr


@needs("events")
def test_the_old_file_is_kept(run_precord, tmp_path, workload):
    for _ in range(2):
        run_precord("-o", "perf.data", *CLOCK, "--", workload, "spin", "5")
    assert (tmp_path / "perf.data").stat().st_size > 0 < (tmp_path / "perf.data.old").stat().st_size
    assert (tmp_path / "perf.data").stat().st_mode & 0o777 == 0o600


@needs("events")
def test_perf_data_is_the_default(run_precord, tmp_path, workload):
    run_precord(*CLOCK, "--", workload, "spin", "5")     # stdout is /dev/null
    assert (tmp_path / "perf.data").exists()


@needs("events")
@pytest.mark.parametrize("output, said, files", [
    ("no/perf.data", b"No such file", 1024), ("there", b"Is a directory", 1024),
    ("/dev/full", b"No space left", 1024), ("perf.data", b"too many open files", 8),
    ("-", b"standard output: Bad file descriptor", 1024)],
    ids=["nowhere", "directory", "full", "descriptors", "closed"])
def test_an_output_that_cant_be_written(run_precord, tmp_path, output, said, files):
    """Status 4 would promise a part of a recording of a command that ran."""
    def set_up():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        if output == "-":
            os.close(1)
    (tmp_path / "there").mkdir()
    (tmp_path / "there/mine").touch()
    done = run_precord("-o", output, *CLOCK, "--", "touch", "ran", preexec_fn=set_up)
    assert done.returncode == 3 and said in done.stderr
    assert not (tmp_path / "ran").exists()


@needs("events", "machine", "buffers")
def test_few_descriptors_are_no_reason_for_missing_tasks(run_precord, decode, tmp_path):
    """Counters that take all leave none to read which tasks run: then the recording is refused."""
    done_well = []
    for files in range(10, 64, 2):
        done = run_precord("-a", *CLOCK, "-o", f"{files}.data", "--", "true", preexec_fn=lambda:
                           resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        done_well.append(done.returncode == 0)
        if done.returncode:
            assert done.returncode == 3 and b"Try: ulimit -n" in done.stderr, (files, done.stderr)
            continue
        assert b"not all" not in done.stderr, (files, done.stderr)
        assert os.getpid() in {record["pid"] for record in decode(tmp_path / f"{files}.data")[
            "records"] if record["type"] == "COMM"}, files
    assert done_well == sorted(done_well) and set(done_well) == {False, True}


@pytest.mark.parametrize("options", [["-o", "-"], [], ["-z", "-o", "-"]],
                         ids=["dash", "a pipe", "compressed"])
@needs("events")
def test_a_stream(run_precord, run_pdecode, workload, options):
    from conftest import strict_json
    done = run_precord(*options, *CLOCK, "--", workload, "spin", "50", "say", "7",
                       stdout=subprocess.PIPE)
    decoded = run_pdecode(["-"], input=done.stdout)
    document = strict_json(decoded.stdout)
    assert decoded.returncode == 0 and document["file"]["mode"] == "pipe"
    assert types(document)["SAMPLE"] > 10
    assert "HOSTNAME" in document["features"] and document["attrs"][0]["name"] == "cpu-clock:u"
    # the command's output must not get into the stream
    assert b"\n7\n" in b"\n" + done.stderr
    assert re.search(rb"wrote \d+\.\d{3} MB - \(\d+ samples\)", done.stderr)


@pytest.mark.parametrize("size, is_there", [(60000, True), (70000, False)])
@needs("events")
def test_a_feature_too_large_for_a_stream_is_left_out_and_said(run_precord, run_pdecode, size,
                                                               is_there):
    from conftest import strict_json
    done = run_precord("-o", "-", *CLOCK, "--", "true", "x" * size, stdout=subprocess.PIPE)
    said = (b"precord: feature CMDLINE left out: larger than a record of a pipe, 64 KiB "
            b"(a file has room)\n")
    assert done.returncode == 0 and (said in done.stderr) != is_there
    features = strict_json(run_pdecode(["-"], input=done.stdout).stdout)["features"]
    assert ("CMDLINE" in features) == is_there and "HOSTNAME" in features


@pytest.mark.parametrize("options", [[], ["-z"]], ids=" ".join)
def test_a_fifo_is_a_stream(start_precord, run_pdecode, workload, tmp_path, options):
    """A FIFO given by name; stdout is left to the command."""
    from conftest import strict_json
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = start_precord("-o", fifo, *options, *CLOCK, "--", workload, "spin", "50", "say", "7",
                            stdout=subprocess.PIPE)
    stream = fifo.read_bytes()
    said, footer = process.communicate(timeout=20)
    assert process.returncode == 0 and said == b"7\n" and b"fifo" in footer
    document = strict_json(run_pdecode(["-"], input=stream).stdout)
    assert (document["errors"] == [] and document["file"]["mode"] == "pipe"
            and types(document)["SAMPLE"] > 10)
    assert fifo.is_fifo() and not (tmp_path / "fifo.old").exists()


def test_a_fifo_that_nobody_reads_can_be_left(start_precord, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    process = start_precord("-o", tmp_path / "fifo", *CLOCK, "--", "touch", tmp_path / "ran")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT
    assert not (tmp_path / "ran").exists()


@needs("events")
def test_a_streams_maps_have_build_ids(run_precord, run_pdecode, workload):
    from conftest import strict_json
    for options, there in (([], True), (["-B"], False)):
        done = run_precord(*options, "-o", "-", "-e", "dummy", "--", workload, "spin", "1",
                           stdout=subprocess.PIPE)
        maps = [record
                for record in strict_json(run_pdecode(["-"], input=done.stdout).stdout)["records"]
                if record["type"] == "MMAP2"]
        files = [record for record in maps if record["filename"].startswith("/")]
        assert files and all(("build_id" in record) == there for record in files)
        kernel = [record for record in maps if record["filename"].startswith("[kernel.kallsyms]")]
        assert bool(kernel) == there or not addresses_are_known()


def addresses_are_known():
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        return int(symbols.readline().split()[0], 16) != 0


def test_a_stream_is_not_written_to_a_terminal(run_precord):
    import pty
    master, terminal = pty.openpty()
    done = run_precord("-o", "-", *CLOCK, "--", "true", stdout=terminal)
    os.close(terminal)
    os.close(master)
    assert done.returncode == 2 and b"terminal" in done.stderr


def test_nobody_reads_the_stream(start_precord, workload):
    process = start_precord("-o", "-", *CLOCK, "--", workload, "spin", "2000",
                            stdout=subprocess.PIPE)
    process.stdout.read(16)
    process.stdout.close()
    assert process.wait(timeout=20) == -signal.SIGPIPE
    assert process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_end_the_command_and_finish_the_file(start_precord, workload, decode, tmp_path,
                                                     number):
    """As after perf, the command ends by SIGTERM."""
    process = start_precord("-o", "perf.data", *CLOCK, "--", workload,
                            *"spin 50 say 1 spin 20000".split(), stdout=subprocess.PIPE,
                            # nohup ignores SIGHUP
                            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    assert process.stdout.readline() == b"1\n"
    process.send_signal(number)
    assert process.wait(timeout=20) == 128 + signal.SIGTERM
    document = decode(tmp_path / "perf.data")
    assert (document["file"]["complete"] and "CMDLINE" in document["features"]
            and types(document)["SAMPLE"] > 10)


# Ends half a second after the first signal of the name that is its argument, with their number.
CLEANER = """
import os, signal, sys, time
counts = {"INT": 0, "TERM": 0}
def count(number, frame):
    counts[signal.Signals(number).name[3:]] += 1
signal.signal(signal.SIGINT, count)
signal.signal(signal.SIGTERM, count)
print(os.getpid(), flush=True)
while not counts[sys.argv[1]]:
    time.sleep(0.01)
end = time.monotonic() + 0.5
while time.monotonic() < end:
    time.sleep(0.01)
sys.exit(counts[sys.argv[1]])
"""


@needs("events")
@pytest.mark.parametrize("sent, counted, to_both", [
    (signal.SIGINT, "INT", True), (signal.SIGINT, "TERM", False), (signal.SIGTERM, "TERM", False),
])
def test_a_command_that_cleans_up_gets_one_signal(start_precord, sent, counted, to_both):
    """timeout(1) signals the whole group, a script often the recorder alone."""
    process = start_precord("-q", "-o", "perf.data", *CLOCK, "--", sys.executable, "-c", CLEANER,
                            counted, stdout=subprocess.PIPE)
    command = int(process.stdout.readline())
    if to_both:
        os.kill(command, sent)
        time.sleep(0.1)
    process.send_signal(sent)
    assert process.wait(timeout=20) == 1


def test_a_hang_up_is_ignored_under_nohup(start_precord, workload, decode, tmp_path):
    process = start_precord("-o", "perf.data", *CLOCK, "--", workload, *"say 1 wait 1".split(),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert process.stdout.readline() == b"1\n"
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    release(process)
    assert process.wait(timeout=20) == 0 and decode(tmp_path / "perf.data")["file"]["complete"]


def test_a_process_is_recorded_until_it_ends(start_recording, start_workload, decode, tmp_path):
    target = start_workload("wait 1 spin 300")
    process = start_recording("-o", "perf.data", *CLOCK, "-p", target.pid)
    wait_until_synthesized(tmp_path / "perf.data")
    release(target)
    target.wait()
    assert process.wait(timeout=20) == 0
    document = decode(tmp_path / "perf.data")
    assert {r["pid"] for r in document["records"] if r["type"] == "SAMPLE"} == {target.pid}
    # synthesized, for they precede the recording
    assert {r["pid"] for r in document["records"] if r["type"] in ("COMM", "MMAP2")} == {target.pid}
    assert [e["pid"] for r in document["records"] if r["type"] == "THREAD_MAP"
            for e in r["entries"]] == [target.pid]


def wait_for_command_line(process, words):
    """It has that of this process until its exec."""
    file = pathlib.Path(f"/proc/{process.pid}/cmdline")
    wait_for(lambda: file.read_bytes().endswith("\0".join(words.split()).encode() + b"\0"))


def test_a_process_by_its_command_line(start_recording, start_workload, decode, tmp_path):
    words = f"comm {os.getpid()} wait 1 spin 100"
    target = start_workload(words)
    wait_for_command_line(target, words)
    process = start_recording("-o", "perf.data", *CLOCK, "-p", f"workload {words[:-4]}")
    release(target)
    target.wait()
    assert process.wait(timeout=20) == 0
    assert types(decode(tmp_path / "perf.data"))["SAMPLE"] > 20


# Other runs of these tests may look for a process meanwhile.
NO_PROCESS = f"no such command line {os.getpid()}"


def test_ancestors_of_precord_do_not_match(run_precord):
    """The parent's command line contains the expression, too."""
    for prefix in (["timeout", "20"], ["sh", "-c", '"$@"; exit $?', "sh"]):
        done = run_precord(*CLOCK, "-p", NO_PROCESS, prefix=prefix)
        assert (done.returncode == 3 and done.stderr.count(b"\n") == 1
                and NO_PROCESS in done.stderr.decode())


@needs("events")
def test_processes_replace_all_cpus(run_precord, workload, decode, tmp_path):
    """As in perf, which then prints "PID/TID switch overriding SYSTEM"."""
    target, other = (subprocess.Popen([workload, "spin", "20000"]) for _ in range(2))
    try:
        done = run_precord("-o", "perf.data", "-a", *CLOCK, "-p", target.pid, "--duration", "0.3")
    finally:
        for process in (target, other):
            process.kill()
            process.wait()
    assert done.returncode == 0 and b"-p, -t and -u replace -a" in done.stderr
    records = decode(tmp_path / "perf.data")["records"]
    assert {r["pid"] for r in records if r["type"] == "SAMPLE"} == {target.pid}
    assert {r["pid"] for r in records if r["type"] == "MMAP2"} <= {target.pid, 2**32 - 1}


@needs("events")
def test_the_chosen_processes_are_listed(run_precord, start_workload, workload):
    words = f"comm {os.getpid()} wait 8432"
    target = start_workload(words)
    wait_for_command_line(target, words)
    done = run_precord("-v", *CLOCK, "-p", f"workload {words[:-1]}", "--duration", "0.1",
                       prefix=["timeout", "20"])
    lines = [line for line in done.stderr.decode().splitlines() if "process " in line]
    assert (done.returncode == 0
            and lines == [f"precord: process {target.pid}: {workload} {words}"])


def test_an_empty_list_says_so(run_precord):
    done = run_precord("--list", "no-such-event")
    assert (done.returncode == 3 and done.stderr.count(b"\n") == 1
            and b"'no-such-event'" in done.stderr)


def test_no_such_process(run_precord):
    for options in (["-p", "999999999"], ["-t", "999999999"], ["-p", NO_PROCESS],
                    ["-u", "nobody-is-called-so"]):
        done = run_precord(*options)
        assert done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1


def test_a_user(start_recording, start_workload, decode, tmp_path):
    need("root")
    user = 100_000 + os.getpid()    # other runs of these tests have others
    target = start_workload("wait 1 spin 200", user=user)
    process = start_recording("-o", "perf.data", *CLOCK, "-u", user)
    release(target)
    target.wait()
    assert process.wait(timeout=20) == 0
    assert ({r["pid"] for r in decode(tmp_path / "perf.data")["records"] if r["type"] == "SAMPLE"}
            == {target.pid})


def test_duration(record):
    start = time.monotonic()
    run = record(*CLOCK, "--duration", "0.3", does="spin 20000")
    assert time.monotonic() - start < 15
    assert 0 < len(run.samples) < 10000


def test_delay(record):
    before = time.monotonic_ns()    # the delay begins later, and before the command
    run = record(*CLOCK, "-k", "mono", "-D", "200", does="spin 400")
    times = [s["time"] for s in run.samples]
    assert times and min(times) - before >= 200e6
    assert any("workload" in m["filename"] for m in run.records("MMAP2"))


def test_ranges_of_time(record):
    run = record(*CLOCK, "-D", "50-150,1150-1250", does="spin 1500")
    times = sorted(s["time"] for s in run.samples)
    gaps = [b - a for a, b in zip(times, times[1:])]
    # the timers may be late on a machine that has other work
    assert max(gaps) > 300e6 and len(times) < 1200


def test_max_size(record):
    run = record(*CLOCK, "-g", "--max-size", "20K", does="spin 20000")
    assert "size limit" in run.stderr and 20 * 1024 <= run.path.stat().st_size < 1 << 20


def test_a_killed_recorder_leaves_a_file_that_decodes(start_precord, run_pdecode, workload,
                                                      tmp_path):
    """pdecode reports that it is unfinished; perf reads as much as the header states."""
    from conftest import strict_json
    process = start_precord("-o", "perf.data", *CLOCK, "--", workload, "spin", "3000")
    wait_for(lambda: (tmp_path / "perf.data").exists()
             and (tmp_path / "perf.data").stat().st_size > 30000)
    process.kill()
    process.wait()
    decoded = run_pdecode(["perf.data"], cwd=tmp_path)
    document = strict_json(decoded.stdout)
    assert types(document)["SAMPLE"] > 400 and document["attrs"][0]["name"]
    assert decoded.returncode == 1 and document["errors"][0]["code"] == "UNFINISHED"
    assert document["file"]["complete"] is document["summary"]["complete"] is False
    if shutil.which("perf"):
        told = subprocess.run(["perf", "script", "-i", "perf.data", "-F", "time"], cwd=tmp_path,
                              capture_output=True)
        assert (told.returncode == 0 and 0 < len(told.stdout.splitlines())
                <= types(document)["SAMPLE"]), told.stderr


@needs("events")
def test_timestamp_in_the_name(run_precord, workload, tmp_path):
    done = run_precord("-o", "perf.data", "--timestamp-filename", *CLOCK, "--", workload, "spin",
                       "5")
    names = [path.name for path in tmp_path.iterdir() if path.name.startswith("perf.data")]
    assert len(names) == 1 and re.fullmatch(r"perf\.data\.\d{16}", names[0])
    assert names[0] in done.stderr.decode()


@pytest.mark.parametrize("when", ["50K", "1s"])
@needs("events")
def test_switching_files(run_precord, workload, decode, tmp_path, when):
    options = ["-g"] if when == "50K" else []
    done = run_precord("-o", "perf.data", f"--switch-output={when}", *CLOCK, *options, "--",
                       workload, "spin", "1500")
    files = sorted(tmp_path.glob("perf.data.*"))
    assert done.returncode == 0 and len(files) >= 2, done.stderr.decode()
    samples = 0
    for path in files:
        document = decode(path)
        samples += types(document).get("SAMPLE", 0)
        assert document["errors"] == [] and document["file"]["complete"]
        if path == files[-1]:
            continue    # the command may have ended when this file was begun
        assert any("workload" in r["comm"] for r in document["records"] if r["type"] == "COMM")
        assert any("workload" in r["filename"] for r in document["records"] if r["type"] == "MMAP2")
    assert samples == int(re.search(r"\((\d+) samples", done.stderr.decode()).group(1))


def test_switching_at_a_signal_keeps_the_last_files(start_precord, workload, decode, tmp_path):
    process = start_precord("-o", "perf.data", "--switch-output", "--switch-max-files", "2", *CLOCK,
                            "--", workload, *"say 1 wait 1".split(), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"1\n"
    names = set(tmp_path.glob("perf.data.*"))
    for _ in range(4):
        process.send_signal(signal.SIGUSR2)
        wait_for(lambda: names != set(tmp_path.glob("perf.data.*")))
        names = set(tmp_path.glob("perf.data.*"))
    release(process)
    stderr = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 0 and stderr.count("Dump perf.data.") == 4
    assert len(list(tmp_path.glob("perf.data*"))) == 2


@pytest.fixture
def snapshot(start_recording, workload):
    """Function: records into buffers that are overwritten, with a snapshot halfway. Returns the
    process."""
    def run(*options):
        process = start_recording("-o", "perf.data", "--overwrite", *options, "-m", "1", *CLOCK,
                                  "--", workload, *"spin 200 say 1 wait 1 spin 200".split(),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"1\n"
        process.send_signal(signal.SIGUSR2)
        process.control.settle()
        release(process)
        return process
    return run


def test_snapshots_at_a_signal(snapshot, decode, tmp_path):
    process = snapshot()
    assert process.wait(timeout=30) == 0
    document = decode(tmp_path / "perf.data")
    rounds = [[]]
    for r in document["records"]:
        if r["type"] == "SAMPLE":
            rounds[-1].append(r["time"])
        elif r["type"] == "FINISHED_ROUND" and rounds[-1]:
            rounds.append([])
    rounds = [times for times in rounds if times]
    assert len(rounds) == 2 and min(map(len, rounds)) > 20
    assert min(rounds[1]) > max(rounds[0])


def test_snapshots_with_new_files(snapshot, decode, tmp_path):
    process = snapshot("--switch-output")
    assert process.wait(timeout=30) == 0
    files = sorted(tmp_path.glob("perf.data.*"))
    assert len(files) == 2
    assert all(types(decode(path)).get("SAMPLE", 0) > 20 for path in files)


class Control:
    def __init__(self, directory, process):
        self.into = open(directory / "control", "w", encoding="ascii")
        self.back = open(directory / "ack", encoding="ascii")
        self.process = process

    def say(self, command):
        self.into.write(command + "\n")
        self.into.flush()
        assert self.back.read(5).rstrip("\0") == "ack\n"


def test_control(start_precord, workload, decode, tmp_path):
    os.mkfifo(tmp_path / "control")
    os.mkfifo(tmp_path / "ack")
    process = start_precord("-o", "perf.data", "-D", "-1", "--control", "fifo:control,ack", *CLOCK,
                            "-k", "mono", "--", workload, "spin", "20000")
    control = Control(tmp_path, process)
    control.say("ping")
    time.sleep(0.3)
    begin = time.monotonic_ns()
    control.say("enable")
    time.sleep(0.3)
    control.say("disable")
    end = time.monotonic_ns()
    time.sleep(0.3)
    control.say("stop")
    assert process.wait(timeout=20) == 0
    times = [r["time"] for r in decode(tmp_path / "perf.data")["records"] if r["type"] == "SAMPLE"]
    assert times and begin <= min(times) <= max(times) <= end


@needs("events")
def test_every_control_command_is_answered(start_precord, workload, tmp_path):
    os.mkfifo(tmp_path / "control")
    os.mkfifo(tmp_path / "ack")
    process = start_precord("-o", "perf.data", "--control", "fifo:control,ack", "-e",
                            "{cpu-clock:u,task-clock:u}", "-F", "500", "--", workload, "spin",
                            "20000")
    control = Control(tmp_path, process)

    def answer(command):
        control.into.write(command + "\n")
        control.into.flush()
        text = control.back.readline()
        assert control.back.read(1) == "\0"
        return text
    assert (answer("evlist") == answer("evlist -F") == answer("evlist -g") == answer("evlist -v")
            == "ack\n")
    assert answer("disable cpu-clock:u") == answer("enable cpu-clock:u") == "ack\n"
    assert (answer("restart")
            == "error: not a command: enable, disable, evlist, snapshot, stop, ping\n")
    assert answer("enable no-such-event") == "error: no event has this name\n"
    assert answer("evlist -x").startswith("error: ")
    assert answer("stop") == "ack\n"
    said = process.communicate(timeout=20)[1].decode()
    listed = ["cpu-clock:u", "task-clock:u", "cpu-clock:u: sample_freq=500",
              "task-clock:u: sample_freq=500",
              "{cpu-clock:u,task-clock:u}"]
    assert [line.removeprefix("precord: ") for line in said.splitlines()[:5]] == listed
    assert "precord: control: 'restart': not a command" in said and "'enable no-such-event'" in said


@needs("events")
@pytest.mark.parametrize("option", ["--aio", "--aio=4", "--affinity=cpu", "--switch-max-files=2"])
def test_flags_without_effect_are_accepted(run_precord, option):
    done = run_precord(option, "-o", "perf.data", "-e", "dummy:u", "--", "true")
    assert done.returncode == 0 and b"has no effect" in done.stderr


@needs("events")
@pytest.mark.parametrize("pid", ["-1", "99999999999999999999", "1,-1"])
def test_numbers_that_no_process_has(run_precord, start_precord, workload, pid):
    """Not a pattern, which would match the command line of this one."""
    start_precord("-o", "other.data", *CLOCK, "--", workload, "spin", "3000", "-1", pid)
    done = run_precord("-p", pid, *CLOCK, "--duration", "0.1")
    number = pid.removeprefix("1,")
    assert done.returncode == 3
    assert done.stderr.decode() == f"precord: there is no process {number}\n"


@needs("events")
def test_a_directory_that_is_no_cgroup(run_precord):
    done = run_precord("-G", "../" * 40 + "tmp", "-a", *CLOCK, "--", "true")
    if b"No such device" in done.stderr:
        pytest.skip("no cgroups here")
    assert done.returncode == 3 and b"No such file or directory" in done.stderr, done.stderr


@pytest.mark.parametrize("output, status, said", [("", 2, "'-o' needs the name"),
                                                  ("/", 3, "/: Is a directory"),
                                                  ("//", 3, "/: Is a directory"),
                                                  (".", 3, ".: Is a directory")])
@needs("events")
def test_names_that_no_file_can_have(run_precord, output, status, said):
    done = run_precord("-o", output, "-e", "dummy:u", "--", "true")
    assert done.returncode == status and f"precord: {said}" in done.stderr.decode()


@needs("events")
def test_control_by_descriptors(precord, workload, tmp_path):
    theirs, ours = os.pipe()
    back, ack = os.pipe()
    process = subprocess.Popen([precord, "-o", "perf.data", "--control", f"fd:{theirs},{ack}",
                                *CLOCK, "--", workload, "spin", "20000"], pass_fds=(theirs, ack),
                               cwd=tmp_path, stderr=subprocess.PIPE)
    os.write(ours, b"stop\n")
    assert os.read(back, 16).startswith(b"ack\n")
    process.communicate(timeout=20)
    assert process.returncode == 0
    for fd in (theirs, ours, back, ack):
        os.close(fd)


def test_control_that_is_wrong(run_precord):
    for wrong in ("fifo", "fd:x", "fd:999", "fifo:/no/such/fifo"):
        done = run_precord("--control", wrong, "--", "true")
        assert done.returncode == 2 and b"--control" in done.stderr


def test_tail_synthesis(record):
    run = record(*CLOCK, "--tail-synthesize", does="spin 30")
    order = [r["type"] for r in run.document["records"]]
    assert order.index("SAMPLE") < order.index("FINISHED_INIT")


@pytest.mark.parametrize("words, maps",
                         [("no", False), ("task", False), ("mmap", True), ("all", True)])
def test_synthesis_can_be_chosen(start_recording, start_workload, decode, tmp_path, words, maps):
    target = start_workload("wait 1")
    process = start_recording("-o", "perf.data", "-e", "dummy", "--synth", words, "-p", target.pid)
    wait_until_synthesized(tmp_path / "perf.data")
    release(target)
    target.wait()
    assert process.wait(timeout=20) == 0
    assert ("MMAP2" in types(decode(tmp_path / "perf.data"))) == maps


def test_no_build_ids(record):
    assert "BUILD_ID" not in record(*CLOCK, "-B").document["features"]
    assert "SAMPLE_TIME" not in record(*CLOCK, "-B").document["features"]


def test_all_build_ids(record):
    def names(*options):
        """The files of a program with more libraries than samples hit by chance."""
        run = record(*CLOCK, *options, command=[sys.executable, "-c", "sum(range(2000000))"])
        return {item["filename"] for item in run.document["features"]["BUILD_ID"]}
    hit, everything = names(), names("--buildid-all")
    assert hit and hit < everything


@pytest.mark.parametrize("words", [["--list=cpu-clo*"], ["--list", "cpu-clo*"]], ids=" ".join)
def test_list_names_events(run_precord, words):
    done = run_precord(*words, stdout=subprocess.PIPE)
    assert (done.returncode == 0 and b"cpu-clock" in done.stdout
            and b"page-faults" not in done.stdout)


def test_every_listed_name_is_an_event(run_precord):
    done = run_precord("--list-names", stdout=subprocess.PIPE)
    names = done.stdout.decode().splitlines()
    assert {"cpu-clock", "page-faults", "faults", "context-switches", "cs"} <= set(names)
    assert not [name for name in names if " " in name]
    if any(name.startswith("syscalls:") for name in names):
        names = ([name for name in names if not name.startswith("syscalls:")]
                 + ["syscalls:sys_enter_openat"])
    assert run_precord("--dry-run", "-e", ",".join(names)).returncode == 0


@pytest.mark.parametrize("words", [["--list-names=cpu-*"], ["--list-names", "cpu-*"]], ids=" ".join)
def test_list_names_takes_a_pattern(run_precord, words):
    done = run_precord(*words, stdout=subprocess.PIPE)
    assert {"cpu-clock", "cpu-migrations"} <= set(done.stdout.decode().split())
    assert all(name.startswith(b"cpu-") for name in done.stdout.split())


def test_many_events_threads_and_cpus(record):
    run = record("-e", "cpu-clock:u,task-clock:u,page-faults,cs,minor-faults", "-F", "1000",
                 does="thread 8 fork 8 spin 50")
    assert len({s["attr_index"] for s in run.samples}) >= 3
    assert len({s["tid"] for s in run.samples}) > 8


@needs("events")
def test_ends_with_its_parent(precord, workload, decode, tmp_path):
    shell = subprocess.Popen(["sh", "-c", f"{precord} -q -o perf.data --exit-with-parent -e "
                                          "cpu-clock:u -F 1000 -- "
                              f"{workload} spin 100 say 1 spin 20000 > said & "
                              "until [ -s said ]; do sleep 0.05; done"], cwd=tmp_path)
    shell.wait()
    document = wait_for(lambda: decode(tmp_path / "perf.data") if b"--exit-with-parent" in
                        (tmp_path / "perf.data").read_bytes() else None)
    assert 20 < types(document)["SAMPLE"] < 10000


@needs_root
@pytest.mark.parametrize("options, said", [([], False), (["-e", "cpu-clock/freq=3000/"], True),
                                           (["-F", "3000"], True)])
def test_a_low_limit_of_the_rate_is_kept(start_recording, workload, decode, tmp_path, options,
                                         said):
    with low_rate(2000):
        process = start_recording("-o", "perf.data", *options,
                                  *([] if "-e" in options else ["-e", "cpu-clock"]), "--", workload,
                                  "wait", "1", stdin=subprocess.PIPE)
    release(process)
    stderr = process.communicate(timeout=20)[1]
    assert process.returncode == 0 and (b"lowered to 2000 Hz" in stderr) == said
    assert decode(tmp_path / "perf.data")["attrs"][0]["attr"]["sample_freq"] == 2000


@pytest.fixture
def percent():
    """The file of the sysctl, and its text; it has this again when the test has failed, too."""
    need("root")
    path = pathlib.Path("/proc/sys/kernel/perf_cpu_time_max_percent")
    before = path.read_text()
    yield path, before
    if path.read_text() != before:
        path.write_text(before)


def test_the_sysctl_for_sampling_is_put_back(percent, record, start_precord, run_precord,
                                             tmp_path):
    """Also after a quit from the terminal. While it is changed, the doctor says so."""
    path, before = percent
    run = record(*CLOCK, "--cpu-percent", "50", command=["cat", path], stdout=subprocess.PIPE)
    assert run.done.stdout == b"50\n" and path.read_text() == before
    process = start_precord("-o", "perf.data", *CLOCK, "--cpu-percent", "51", "--", "sh", "-c",
                            f"touch {tmp_path}/runs; exec sleep 60")
    wait_for((tmp_path / "runs").exists)
    assert path.read_text() == "51\n"
    said = run_precord("--doctor", stdout=subprocess.PIPE).stdout
    process.send_signal(signal.SIGQUIT)
    assert process.wait(timeout=20) == 128 + signal.SIGTERM and b"may take 51 %" in said
    assert path.read_text() == before


def test_realtime_priority_is_the_recorders_alone(start_precord, workload, tmp_path):
    need("root")
    process = start_precord("-o", "perf.data", "-r", "1", *CLOCK, "--", workload, "wait", "1",
                            stdin=subprocess.PIPE)
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    wait_for(lambda: os.sched_getscheduler(process.pid) == os.SCHED_FIFO)
    if os.path.exists(children):
        child = int(wait_for(lambda: open(children, encoding="ascii").read().split())[0])
        assert os.sched_getscheduler(child) == os.SCHED_OTHER
    release(process)
    assert process.wait(timeout=20) == 0
