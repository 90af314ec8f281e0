"""precord records real programs: every record type and sample field that a kernel without a PMU
provides."""
import glob
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest

import perf_oracle
from compiled import preloaded
from conftest import TRACEFS
from recorder import (  # noqa: F401
    MAX_SAMPLE_RATE, event_works, lock_probes, low_rate, needs_root, needs_tracefs, precord, record,
    release, run_measured, run_precord, start_precord, start_recording, start_workload, steady_rate,
    symbol, wait_for, wait_until_synthesized, workload)
from rights import needs

CGROUPS = next((line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()
                if line.split()[2] == "cgroup2" and os.access(line.split()[1], os.W_OK)), None)
needs_cgroups = pytest.mark.skipif(CGROUPS is None, reason="no cgroup2 that can be written")


needs_two_cpus = pytest.mark.skipif(not {0, 1} <= os.sched_getaffinity(0),
                                    reason="there are no two cpus")


def needs_uprobes(function):
    return pytest.mark.skipif(not os.path.exists("/sys/bus/event_source/devices/uprobe/type"),
                              reason="no uprobe PMU")(needs_root(function))


@pytest.fixture(scope="module", name="breakpoints")
def breakpoints_fixture(precord, symbol):
    if not event_works(f"mem:{symbol('watched'):#x}/8:w"):
        pytest.skip("no breakpoint is free")


def test_clock_samples_hold_their_fields(record):
    run = record("-e", "cpu-clock", "-F", "1000", does="spin 200")
    samples = [s for s in run.samples if s["cpumode"] == "USER"]
    assert len(samples) > 20 and run.captured == len(run.samples)
    assert {"ip", "pid", "tid", "time", "period"} <= set(samples[0])
    times = [s["time"] for s in run.samples]
    assert list(run.document["features"]["SAMPLE_TIME"].values()) == [min(times), max(times)]


def test_a_command_is_told_of_from_its_exec(record, workload):
    run = record("-e", "cpu-clock:u", "-F", "1000", does="spin 50")
    exec_comm = [c for c in run.records("COMM") if "COMM_EXEC" in c.get("misc_flags", [])]
    assert [c["comm"] for c in exec_comm] == ["workload"]
    assert str(workload) in {m["filename"] for m in run.records("MMAP2")}
    assert run.count("EXIT") == 1
    assert run.document["features"]["BUILD_ID"]


def test_call_chains_by_frame_pointers(record, symbol):
    run = record("-e", "cpu-clock:u", "-g", "-F", "1000", does="spin 100")
    middle, top = symbol("spin_middle"), symbol("spin")
    chains = [[int(ip, 16) for ip in s["callchain"] if ip.startswith("0x")] for s in run.samples]
    deep = [c for c in chains if any(middle <= ip < middle + 64 for ip in c[1:]) and
            any(top <= ip < top + 256 for ip in c[2:])]
    assert len(deep) > len(chains) / 2


def test_stacks_for_dwarf(record):
    run = record("-e", "cpu-clock:u", "--call-graph", "dwarf,4096", "-F", "200", does="spin 100")
    assert run.samples
    for sample in run.samples:
        assert sample["stack_user"]["size"] == 4096 >= sample["stack_user"]["dyn_size"] > 0
        assert "ip" in sample["regs_user"]["regs"] and "sp" in sample["regs_user"]["regs"]
    assert any("MMAP_DATA" in record.get("misc_flags", []) for record in run.records("MMAP2"))


def test_registers(record):
    run = record("-e", "cpu-clock:u", "--user-regs=ip,sp", "-I", "-F", "200", does="spin 100")
    assert set(run.samples[0]["regs_user"]["regs"]) == {"ip", "sp"}
    assert len(run.samples[0]["regs_intr"]["regs"]) > 8


@needs("kernel")
@pytest.mark.parametrize("buffer", [[], ["-m", "4K"]], ids=["usual", "small"])
def test_every_other_sample_field(record, buffer):
    run = record("-e", "minor-faults", "-c", "1", "-d", "--phys-data", "--data-page-size",
                 "--code-page-size", "-W", "--transaction", "-P", "-R", "--sample-cpu",
                 "--sample-identifier", "--all-cgroups", *buffer, does="touch 200")
    samples = [s for s in run.samples if s["data_page_size"] == 4096 and int(s["phys_addr"], 16)]
    # Buffers are small while other recordings use up the user's locked memory. A loss at the
    # end has no LOST record.
    lost = sum(r["lost"] for r in run.document["records"] if r["type"] == "LOST_SAMPLES")
    assert samples and len(run.samples) + lost >= 200
    assert buffer or lost or len(samples) >= 200
    assert not lost or f"Lost {lost} of {lost + len(run.samples)} samples" in run.stderr
    for key in ("identifier", "addr", "cpu", "period", "raw", "weight_struct", "data_src",
                "transaction", "cgroup",
                "code_page_size"):
        assert key in samples[0], key
    assert len({s["addr"] for s in samples}) > 0.9 * len(samples)


def test_ids_of_the_stream(record):
    # ID, STREAM_ID
    run = record("-e", "page-faults/sample_type=0x240/", "-c", "1", does="touch 20")
    ids = set(run.document["attrs"][0]["ids"])
    assert {sample["id"] for sample in run.samples} <= ids and len(run.samples) >= 20
    assert {sample["stream_id"] for sample in run.samples}


def test_groups_are_read(record):
    run = record("-e", "{cpu-clock,page-faults}:S", "--running-time", "-F", "500",
                 does="touch 5000 spin 50")
    last = run.samples[-1]["read"]
    ids = [i for attr in run.document["attrs"] for i in attr["ids"]]
    assert last["nr"] == 2 and {v["id"] for v in last["values"]} <= set(ids)
    assert {"time_enabled", "time_running"} <= set(last)
    assert max(v["value"] for s in run.samples for v in s["read"]["values"]) > 1000000
    assert run.document["features"]["GROUP_DESC"]


def test_one_event_is_read(record):
    run = record("-e", "page-faults:S", "-c", "1", does="touch 20")
    values = [s["read"]["value"] for s in run.samples]
    assert values[-1] >= 20


@needs("namespaces")
def test_side_band_records(record):
    run = record("-e", "dummy", "--namespaces", "--switch-events",
                 does="fork 3 thread 2 comm 7 map 2 switch 20")
    assert run.count("FORK") == 3 + 2 + 1 and run.count("EXIT") == 3 + 2 + 1 + 1
    comms = [c["comm"] for c in run.records("COMM")]
    assert "named 7" in comms and {"thread-0", "thread-1"} <= set(comms)
    names = [m["filename"] for m in run.records("MMAP2")]
    assert names.count("//anon") == 2 and sum("memfd:code" in name for name in names) == 2
    assert run.count("SWITCH") >= 20
    assert any("SWITCH_OUT" in s.get("misc_flags", []) for s in run.records("SWITCH"))


@needs_root
def test_namespaces(record):
    run = record("-e", "dummy", "--namespaces", does="unshare 2")
    threads = {c["pid"] for c in run.records("COMM") if c["comm"].startswith("workload")}
    told = [n for n in run.records("NAMESPACES") if n["pid"] in threads]
    assert all(n["nr_namespaces"] == 7 for n in told)
    # of the command before and after its exec, then after each unshare
    assert len({n["namespaces"][1]["inode"] for n in told}) == 3


def test_data_maps(record):
    run = record("-e", "dummy", "-d", does="touch 1")
    assert any("MMAP_DATA" in m.get("misc_flags", []) for m in run.records("MMAP2"))


def test_build_ids_in_maps(record):
    run = record("-e", "dummy", "--buildid-mmap", does="spin 1")
    with_id = [m for m in run.records("MMAP2") if "build_id" in m]
    assert any("libc" in m["filename"] for m in with_id)
    assert all("ino" in m for m in run.records("MMAP2") if m["filename"] == "[vdso]")


def test_counts_of_tasks_that_end(record):
    run = record("-e", "page-faults", "-c", "100000", "-s", does="fork 4")
    reads = run.records("READ")
    assert len({r["tid"] for r in reads}) == 4
    assert sum(r["read"]["value"] for r in reads) > 0


@needs_root
def test_bpf_programs(record):
    run = record("-e", "dummy", does="bpf 2")
    mine = [k for k in run.records("KSYMBOL") if "workload" in k["name"]]
    if not mine:
        pytest.skip("no BPF here")
    assert len(mine) == 4
    loaded = [b["bpf_type"] for b in run.records("BPF_EVENT")]
    assert loaded.count("PROG_LOAD") == 2 and loaded.count("PROG_UNLOAD") == 2


@needs_root
def test_bpf_programs_of_two_recorders(start_recording, workload, decode, tmp_path):
    """The kernel states too large a size in the records for the second one: see docs/decisions."""
    names = [tmp_path / "first.data", tmp_path / "second.data"]
    recorders = [start_recording("-a", "-e", "dummy", "-o", name) for name in names]
    task = subprocess.Popen([str(workload), "bpf", "2"])
    assert task.wait(20) == 0
    for recorder in recorders:
        recorder.send_signal(signal.SIGINT)
    assert [recorder.wait(20) for recorder in recorders] == [0, 0]
    found = [[r for r in decode(name)["records"] if r["type"] in ("KSYMBOL", "BPF_EVENT")
              and r.get("sample_id", {}).get("pid") == task.pid] for name in names]
    if not any(found):
        pytest.skip("no BPF here")
    for mine in found:
        loaded = [r["bpf_type"] for r in mine if r["type"] == "BPF_EVENT"]
        assert sorted(loaded) == ["PROG_LOAD"] * 2 + ["PROG_UNLOAD"] * 2
        assert sum("workload" in r["name"] for r in mine if r["type"] == "KSYMBOL") == 4
        assert max(r["sample_id"]["time"] for r in mine) < 10**11 + mine[0]["sample_id"]["time"]
    if not any("trailing" in r for mine in found for r in mine):
        pytest.skip("this kernel states the right size")


@needs_root
@needs_cgroups
def test_cgroups(record):
    top = pathlib.Path(CGROUPS) / f"precord-cgroups-{os.getpid()}"
    top.mkdir()
    try:
        run = record("-a", "-e", "dummy", "--all-cgroups", does="cgroup 3",
                     env=dict(os.environ, WORKLOAD_CGROUPS=str(top)))
    finally:
        top.rmdir()
    # other tests make some meanwhile
    assert sum(f"/{top.name}/workload-" in c["path"] for c in run.records("CGROUP")) == 3


@needs_root
@needs_cgroups
def test_only_a_cgroup(record, tmp_path, workload):
    directory = pathlib.Path(CGROUPS) / f"precord-test-{os.getpid()}"
    directory.mkdir()
    try:
        inside = f"echo $$ > {directory}/cgroup.procs && exec {workload} spin 100"
        run = record("-e", "cpu-clock", "-F", "500", "-G", directory.name,
                     command=["sh", "-c", inside])
        wait_for(lambda: not (directory / "cgroup.procs").read_text())
    finally:
        directory.rmdir()
    comms = {c["tid"]: c["comm"] for c in run.records("COMM")}
    # the kernel gives tid -1 for a task that has exited
    samples = [s for s in run.samples if s["tid"] != -1]
    assert len(samples) > 20
    assert {comms.get(s["tid"]) for s in samples} <= {"workload", "sh"}


@needs_root
def test_the_whole_machine(record):
    run = record("-a", "-e", "cpu-clock", "-F", "200", "--switch-events", does="spin 100 switch 20")
    assert {s["cpu"] for s in run.samples} >= {0}
    assert run.count("SWITCH_CPU_WIDE") > 10
    # tasks that ran before, such as this test
    assert os.getpid() in {c["pid"] for c in run.records("COMM")}
    assert any(m["pid"] == os.getpid() for m in run.records("MMAP2"))
    assert "FINISHED_INIT" in run.document["summary"]["by_type"]


@needs_root
def test_only_a_cpu(record):
    run = record("-C", "0", "-e", "cpu-clock", "-F", "200", does="spin 50")
    assert {s["cpu"] for s in run.samples} == {0}


@needs_root
@needs_two_cpus
@pytest.mark.parametrize("options", [["-e", "cpu-clock", "-F", "500"], ["-e", "sched:sched_switch"],
                                     ["--threads=0/0"],
                                     ["-e", "{cpu-clock,page-faults}:S", "-F", "500"]],
                         ids=" ".join)
def test_names_from_other_cpus_are_known_on_the_one_recorded(record, perf, workload, options):
    starter = ("import os, sys; os.sched_setaffinity(0, {1}); print(os.getpid(), flush=True); "
               "os.execv(sys.argv[1], sys.argv[1:])")
    # the switch to sleep is a sample, too
    run = record("-C", "0", *options, stdout=subprocess.PIPE,
                 command=[sys.executable, "-c", starter, str(workload), *"cpu 0 spin 60 sleep 1"
                          .split()])
    name, pid = workload.name[:15], int(run.done.stdout)
    # other tests may start the same program meanwhile
    execs = [comm for comm in run.records("COMM") if comm["comm"] == name and comm["pid"] == pid
             and "EXEC" in str(comm)]
    assert len(execs) == 1
    files = {record["filename"] for record in run.records("MMAP2") if record["pid"] == pid}
    assert str(workload) in files and any("/ld-" in name for name in files)
    assert {sample["cpu"] for sample in run.samples} == {0}
    assert any(sample["pid"] == pid for sample in run.samples)
    if "--threads=0/0" not in options:
        code, shown, complaint = perf_oracle.run_perf(perf, ["report", "-i", run.path, "--stdio",
                                                             "--sort", "comm,dso"])
        assert code == 0 and name in shown, complaint


@needs_root
@needs_two_cpus
def test_maps_from_other_cpus_are_known_on_the_one_recorded(start_recording, start_workload,
                                                            decode, tmp_path):
    task = start_workload("cpu 1 wait 1 map 3 cpu 0 spin 50")
    recorder = start_recording("-o", "perf.data", "-C", "0", "-e", "cpu-clock", "-F", "500", "-p",
                               task.pid)
    wait_until_synthesized(tmp_path / "perf.data")
    release(task)
    assert task.wait(20) == 0 and recorder.wait(20) == 0
    records = decode(tmp_path / "perf.data")["records"]
    assert len([r for r in records if r["type"] == "MMAP2" and "memfd:code" in r["filename"]]) == 3
    assert {r["cpu"] for r in records if r["type"] == "SAMPLE"} == {0}


@needs_root
@needs_tracefs
def test_tracepoints(record):
    run = record("-e", "syscalls:sys_enter_getppid", "-e", "sched:sched_process_*",
                 does="getppid 50 fork 2")
    names = [attr["name"] for attr in run.document["attrs"]]
    assert "sched:sched_process_fork" in names and "syscalls:sys_enter_getppid" in names
    by_name = [s["raw"]["tracepoint"]["name"] for s in run.samples]
    assert by_name.count("sys_enter_getppid") == 50 and by_name.count("sched_process_fork") == 2
    fork = next(s for s in run.samples if s["raw"]["tracepoint"]["name"] == "sched_process_fork")
    assert fork["raw"]["tracepoint"]["fields"]["parent_pid"] == fork["pid"]


@needs_root
@needs_tracefs
def test_a_filter_belongs_to_the_event_before_it(record):
    run = record("-e", "syscalls:sys_enter_write", "--filter", "count == 2", "-e",
                 "syscalls:sys_exit_write", does="say 1 say 10 say 2")
    by_name = [s["raw"]["tracepoint"]["name"] for s in run.samples]
    assert by_name.count("sys_enter_write") == 2 and by_name.count("sys_exit_write") == 3


@needs_root
@needs_tracefs
def test_without_the_recorder_itself(run_precord, decode, tmp_path):
    run_precord("-a", "-e", "syscalls:sys_enter_pwrite64", "-e", "syscalls:sys_enter_write",
                "--exclude-perf", "-o", "perf.data", "--", "sleep", "0.1")
    document = decode(tmp_path / "perf.data")
    recorder = {r["pid"] for r in document["records"] if r["type"] == "COMM"
                and r["comm"] == "precord"}
    assert not [r for r in document["records"] if r["type"] == "SAMPLE" and r["pid"] in recorder and
                r.get("comm") == "precord"]


def test_a_wrong_filter_is_named(run_precord):
    if not event_works("sched:sched_switch"):
        pytest.skip("no tracepoints")
    done = run_precord("-e", "sched:sched_switch", "--filter", "no_such_field == 1", "--", "true")
    assert done.returncode == 2 and b"no_such_field" in done.stderr
    assert (b"fields are prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio"
            in done.stderr)


@needs_uprobes
def test_probes_by_pmu(record, workload):
    run = record("-i", "-e", f"uprobe:{workload}:probed", "-e", f"uretprobe:{workload}:probed",
                 does="call 5")
    assert len(run.samples) == 10
    assert {s["attr_index"] for s in run.samples} == {0, 1}
    # the file must not disclose an address in the recorder's memory
    assert run.attr(0)["config1"] == "0x0"


@needs_uprobes
@needs_tracefs
def test_probes_of_new_processes(lock_probes, record, workload):
    """Were they inherited from the PMU's event, the kernel would refuse to fork."""
    probe = f"uprobe:{workload}:probed"
    run = record("-e", probe, command=["sh", "-c", f"{workload} call 2; {workload} call 3; exit 0"])
    assert [s["event"] for s in run.samples] == 5 * [probe]
    assert len({s["pid"] for s in run.samples}) == 2
    assert str(workload) not in (TRACEFS / "uprobe_events").read_text()


@needs_uprobes
@needs_tracefs
def test_probes_through_tracefs_are_removed(lock_probes, record, workload):
    run = record("-e", f"uprobe:{workload}:probed value=%di:s64", does="call 5")
    values = [s["raw"]["tracepoint"]["fields"]["value"] for s in run.samples]
    assert values == [0, 1, 2, 3, 4]
    assert str(workload) not in (TRACEFS / "uprobe_events").read_text()


@needs_root
def test_probe_without_a_place(run_precord, workload):
    done = run_precord("-e", f"uprobe:{workload}:no_such_symbol", "--", "true")
    assert done.returncode == 2 and b"no such symbol" in done.stderr
    done = run_precord("-e", "uprobe:/no/such/file:main", "--", "true")
    assert done.returncode == 2 and b"No such file" in done.stderr


@needs_root
def test_probe_of_a_file_with_too_many_sections(precord, tmp_path):
    """libelf would allocate 1 GB for the number that the first section header states."""
    with open(tmp_path / "many", "wb") as file:
        file.write(b"\x7fELF" + bytes([2, 1 if sys.byteorder == "little" else 2, 1]) + bytes(9))
        file.write(struct.pack("=HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 4096, 0, 64, 56, 0, 64, 0, 0))
        file.seek(4096 + 32)
        file.write(struct.pack("=Q", 1 << 22))
        file.truncate(4096 + (64 << 22))
    done, peak = run_measured([precord, "-e", f"uprobe:{tmp_path}/many:main", "--", "true"],
                              tmp_path)
    assert done.returncode == 2 and b"no such symbol" in done.stderr
    assert peak < 100 << 10


@needs_root
@pytest.mark.skipif(bool(glob.glob("/sys/kernel/tracing/kprobe_events")),
                    reason="there are kprobes")
def test_kprobes_that_are_not_there(run_precord):
    done = run_precord("-e", "kprobe:do_exit", "--", "true")
    assert done.returncode == 2 and b"no kprobes" in done.stderr


@needs_root
@pytest.mark.skipif(not glob.glob("/sys/kernel/tracing/kprobe_events"),
                    reason="this kernel has no kprobes")
def test_kprobes(record):
    run = record("-e", "kprobe:do_exit", does="fork 2")
    assert len(run.samples) >= 2


def test_breakpoints(record, symbol, breakpoints):
    run = record("-e", f"mem:{symbol('watched'):#x}/8:w:u", "-e", f"mem:{symbol('probed'):#x}:x:u",
                 "-d", does="store 7 call 3")
    writes = [s for s in run.samples if s["attr_index"] == 0]
    assert len(writes) == 7 and {int(s["addr"], 16) for s in writes} == {symbol("watched")}
    assert [int(s["ip"], 16) for s in run.samples if s["attr_index"] == 1] == 3 * [symbol("probed")]


@pytest.mark.parametrize("clock", ["mono", "raw", "real", "boot", "tai"])
def test_clocks(record, clock):
    run = record("-e", "cpu-clock:u", "-F", "500", "-k", clock, does="spin 20")
    assert "CLOCK_DATA" in run.document["features"] and "CLOCKID" in run.document["features"]
    if clock == "real":
        assert abs(run.samples[0]["time"] / 1e9 - os.stat(run.path).st_mtime) < 100


@pytest.mark.parametrize("clock", [[], ["-k", "mono"]], ids=["perf's own", "mono"])
@pytest.mark.parametrize("output", ["file", "pipe"])
def test_clocks_are_tied_to_wall_time(clock, output, run_precord, workload, decode, tmp_path):
    """By CLOCK_DATA, for every clock: the samples are between the wall times before and after
    the recording."""
    if not event_works("cpu-clock:u"):
        pytest.skip("cpu-clock:u can't be recorded: perf_event_paranoid below 3 would allow it")
    path, before = tmp_path / "wall.data", time.time_ns()
    with open(path, "wb") as out:
        done = run_precord("-o", "-" if output == "pipe" else path, "-e", "cpu-clock:u", "-F",
                           "500", *clock, "--", workload, "spin", "50",
                           stdout=out if output == "pipe" else None)
    after = time.time_ns()
    assert done.returncode == 0
    document = decode(path, "--utc")
    assert document["features"]["CLOCK_DATA"]["clockid"] == ("MONOTONIC" if clock else "PERF")
    found = [sample["time_utc"] for sample in document["records"] if sample["type"] == "SAMPLE"]

    def utc(ns):
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9)) + f".{ns % 10**9:09}Z"
    assert found and utc(before - 5_000_000) <= min(found) <= max(found) <= utc(after + 5_000_000)


def test_a_busy_machine_does_not_move_the_wall_clock(record, workload):
    """Other tasks run between the readings of two clocks."""
    late = preloaded("lateclock", workload.parent)
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    run = record("-e", "cpu-clock:u", "-k", "mono", does="spin 1",
                 env=dict(os.environ, LD_PRELOAD=str(late), LATE_MS="50", ASAN_OPTIONS=sanitizer))
    data = run.document["features"]["CLOCK_DATA"]
    wall_at_zero = data["wall_clock_ns"] - data["clockid_time_ns"]
    # this process may be interrupted, too
    assert min(abs(time.time_ns() - time.monotonic_ns() - wall_at_zero) for _ in range(20)) < 10**7


def test_lost_samples_are_counted_and_said(start_recording, workload, decode, tmp_path):
    """A recorder that sleeps loses samples, and reports how many."""
    cpu = min(os.sched_getaffinity(0))      # whose buffer gets the LOST record
    recorder = start_recording("-o", "perf.data", "-m", "1", "-e", "page-faults:u", "-c", "1",
                               "--strict-loss", "--", workload, "cpu", cpu,
                               *"say 1 wait 1 touch 2000 say 2 wait 1 touch 3".split(),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert recorder.stdout.readline() == b"1\n"
    recorder.send_signal(signal.SIGSTOP)
    release(recorder)
    assert recorder.stdout.readline() == b"2\n"
    recorder.send_signal(signal.SIGCONT)
    recorder.control.settle()       # there is room again
    release(recorder)
    stderr = recorder.communicate(timeout=30)[1].decode()
    document = decode(tmp_path / "perf.data")
    lost = [r for r in document["records"] if r["type"] == "LOST"]
    counted = sum(r["lost"] for r in document["records"] if r["type"] == "LOST_SAMPLES")
    assert recorder.returncode == 1 and lost and counted >= 1000
    assert sum(r["lost"] for r in lost) <= counted
    assert f"Lost {counted} of" in stderr.splitlines()[-1]
    samples = document["summary"]["by_type"]["SAMPLE"]
    assert samples + counted >= 2003


def test_compression(record):
    plain = record("-e", "cpu-clock:u", "-g", "-F", "1000", does="spin 100")
    assert plain.samples
    run = record("-e", "cpu-clock:u", "-g", "-F", "1000", "-z", does="spin 100")
    assert (run.count("COMPRESSED") + run.count("COMPRESSED2") > 0
            and len(run.samples) == run.captured > 20)
    assert run.document["features"]["COMPRESSED"]["level"] == 1


def test_overwriting_keeps_the_newest(record):
    run = record("--overwrite", "-m", "1", "-e", "page-faults:u", "-c", "1", "--sample-cpu",
                 does="touch 2000")
    assert 10 < len(run.samples) < 500
    assert "write_backward" in run.attr()["flags"]["names"]
    for cpu in {s["cpu"] for s in run.samples}:
        times = [s["time"] for s in run.samples if s["cpu"] == cpu]
        assert times == sorted(times, reverse=True)


def test_threads_have_buffers_of_their_own(record):
    run = record("--per-thread", "-e", "cpu-clock:u", "-F", "500", does="spin 50")
    assert run.samples and run.records("CPU_MAP")[0]["cpu_map"]["cpus"] == [-1]
    assert {e["cpu"] for e in run.records("ID_INDEX")[0]["entries"]} == {-1}


def test_units_and_scales_of_pmus(record):
    pmus = [path for path in glob.glob("/sys/bus/event_source/devices/*/events/*.unit")]
    if not pmus:
        pytest.skip("no PMU here has units")
    event = pathlib.Path(pmus[0]).with_suffix("")
    run = record("-a", "-n", "-e", f"{event.parent.parent.name}/{event.name}/", does="sleep 10")
    assert run.count("EVENT_UPDATE") >= 1


@needs("kernel")
@pytest.mark.skipif(os.path.exists("/sys/bus/event_source/devices/cpu"),
                    reason="there are hardware counters")
def test_cycles_become_a_clock_where_there_is_no_counter(record):
    run = record(does="spin 20")
    assert run.document["attrs"][0]["name"] == "cpu-clock"
    assert run.stderr.count("cpu-clock") == 1


@pytest.mark.skipif(os.path.exists("/sys/bus/event_source/devices/cpu"),
                    reason="there are hardware counters")
@pytest.mark.parametrize("options, field, value", [
    (["-F", "9000"], "sample_freq", 9000), (["-F", "10000"], "sample_freq", 10000),
    (["-F", "10001"], "sample_freq", 10000), ([], "sample_freq", 4000),
    (["-c", "100000"], "sample_period", 100000), (["-c", "50000"], "sample_period", 100000),
    (["-c", "3000000"], "sample_period", 3000000),
    (["-e", "cycles/freq=9000/"], "sample_freq", 9000),
    (["-e", "cycles/freq=12000/"], "sample_freq", 10000),
    (["-e", "cycles/period=20000/"], "sample_period", 100000),
])
def test_a_clock_in_place_of_cycles_is_no_faster_than_is_good(steady_rate, record, options, field,
                                                              value):
    """That a given rate is lowered is said also with -q, and is an error with --strict-freq."""
    lowered = bool(options) and str(value) not in options[1]
    run = record("-q", *options, does="spin 5")
    assert run.attr(0)[field] == value
    assert (run.stderr.count("cpu-clock instead, at 10000 Hz") == lowered
            and run.stderr.count("\n") == lowered)
    strict = record("--strict-freq", *options, does="spin 5", status=3 if lowered else 0)
    assert ("'--strict-freq': cpu-clock is not sampled" in strict.stderr) == lowered
    assert lowered or strict.attr(0)[field] == value


@pytest.mark.skipif(os.path.exists("/sys/bus/event_source/devices/cpu"),
                    reason="there are hardware counters")
def test_as_fast_as_can_be_is_10000_of_a_clock(steady_rate, record):
    most = min(int(MAX_SAMPLE_RATE.read_text()), 10000)
    assert record("-F", "max", does="spin 5").attr(0)["sample_freq"] == most


@needs_root
def test_throttling(start_recording, workload, decode, tmp_path):
    process = start_recording("-o", "perf.data", "-e", "cpu-clock", "-c", "100000", "--", workload,
                              *"wait 1 spin 40 say 1".split(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    with low_rate(1000):
        release(process)
        assert process.stdout.readline() == b"1\n"
    assert process.wait(20) == 0
    assert decode(tmp_path / "perf.data")["summary"]["by_type"].get("THROTTLE", 0) > 0
