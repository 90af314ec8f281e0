"""Synthesized records and the description of the machine: existing tasks, feature sections, build
ids, --list, --doctor.

tests/c/synthesise.c writes them without a recording; they are compared with those of perf on the
same machine.
"""
import functools
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

import bpf_programs
from compiled import BUILD, RECORD_LIBRARIES, ROOT
from recorder import precord, record, run_measured, run_precord, workload  # noqa: F401 - fixtures
from rights import need

TIMEOUT = 60
TRIES = 4
KERNEL, TASKS, MAPS, DATA, BUILD_IDS, NAMESPACES, CGROUPS, BPF = (1 << bit for bit in range(8))
ROOMS = ("base", "bpf", "buildid", "capture", "event", "hostinfo", "inform", "output", "synth",
         "target")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="records Linux")


@pytest.fixture(scope="session")
def synthesise(tmp_path_factory):
    """tests/c/synthesise.c, built from the recorder's sources with sanitizers."""
    target = tmp_path_factory.mktemp("synthesise") / "synthesise"
    target.parent.chmod(0o755)
    sources = [path for room in ROOMS for path in sorted((ROOT / "record" / room).glob("*.c"))]
    command = [os.environ.get("CC") or "cc", "-std=gnu11", "-g", "-D_GNU_SOURCE",
               '-DPD_VERSION="0"', "-fsanitize=address,undefined",
               "-fno-sanitize-recover=undefined", f"-I{ROOT}/record", f"-I{ROOT}/tools",
               f"-I{ROOT}/libdecode/include", "-o", target, ROOT / "tests" / "c" / "synthesise.c",
               *sources, BUILD / "shared.a", BUILD / "libdecode.a", "-lpthread", *RECORD_LIBRARIES]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return target


@pytest.fixture
def run(synthesise, tmp_path, decode):
    """Function: runs synthesise; returns the decoded file and the output."""
    def call(*args):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.data"
        done = subprocess.run([synthesise, path, *map(str, args)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        assert done.returncode == 0 and not done.stderr, done.stderr
        document = decode(path, "--blobs", "full")
        assert not document["errors"]
        return document, done.stdout, path
    return call


@pytest.fixture
def perf_record(perf, tmp_path, decode):
    """Function: runs perf record; returns the decoded file."""
    def call(*args):
        path = tmp_path / f"perf{len(list(tmp_path.iterdir()))}.data"
        done = subprocess.run([perf, "record", "-q", "-o", path, *map(str, args)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT)
        if done.returncode != 0:
            pytest.skip(f"perf record {' '.join(map(str, args))}: {done.stderr.strip()}")
        return decode(path, "--blobs", "full"), path
    return call


@pytest.fixture
def running(tmp_path):
    """Function: starts this Python code and waits for its line `ready`; ends with the test."""
    started = []

    def start(text, *args):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(text), *map(str, args)],
                                   stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process
    yield start
    for process in started:
        process.stdin.close()
        process.kill()
        process.wait()


WAIT = "print('ready', flush=True); import sys; sys.stdin.read()"
LEFT_OUT = ("offset", "sample_id", "event", "attr_index")


def synthesised(document, *types, pid=None):
    """Returns the records of these types before FINISHED_INIT, without members that depend on the
    file."""
    found = []
    for record in document["records"]:
        if record["type"] == "FINISHED_INIT":
            return found
        if record["type"] in types and pid in (None, record.get("pid")):
            found.append({key: value for key, value in record.items()
                          if key not in LEFT_OUT + ("size",)})
    raise AssertionError("no FINISHED_INIT")


def needs_root():
    need("root", "events")


def without_made_up_pmu(features):
    """perf 6.12 shows a PMU "cpu" without capabilities where the kernel has no PMU of the cpus; 6.1
    does not."""
    if (not os.path.exists("/sys/bus/event_source/devices/cpu")
        and features.get("CPU_PMU_CAPS") == []):
        del features["CPU_PMU_CAPS"]
        features["PMU_MAPPINGS"].remove({"type": 4, "name": "cpu"})
    return features


def until_steady(test):
    """A test that compares two recordings of the machine. It runs again if it fails: programs of
    BPF, cgroups and files of other tests come and go between the recordings."""
    @functools.wraps(test)
    def call(*args, **kwargs):
        for _ in range(TRIES - 1):
            try:
                return test(*args, **kwargs)
            except AssertionError:
                time.sleep(1)
        return test(*args, **kwargs)
    return call


@until_steady
@pytest.mark.long
def test_every_feature_as_perf_has_it(run, perf_record):
    needs_root()
    theirs, _ = perf_record("-e", "sched:sched_switch", "-k", "mono", "-a", "--", "true")
    config = int(theirs["attrs"][0]["attr"]["config"], 16)
    ours, _, _ = run(f"tracepoint={config}:sched:sched_switch")
    ours, theirs = ours["features"], without_made_up_pmu(theirs["features"])
    own = {"VERSION", "CMDLINE", "EVENT_DESC", "SAMPLE_TIME", "BUILD_ID"}
    assert set(theirs) - own <= set(ours)
    for features in ours, theirs:
        for node in features.get("NUMA_TOPOLOGY", ()):
            node.pop("mem_free")
        features["PMU_MAPPINGS"].sort(key=lambda pmu: pmu["type"])
        features["CLOCK_DATA"].pop("wall_clock_ns"), features["CLOCK_DATA"].pop("clockid_time_ns")
        features["TRACING_DATA"].pop("cmdlines")
    for name in sorted(set(theirs) - own):
        assert ours[name] == theirs[name], name
    assert ours["VERSION"] == "precord 1.2.3"


def test_clock_data_is_one_moment(run):
    document, _, _ = run()
    clocks = document["features"]["CLOCK_DATA"]
    # of several tries, as this process may be interrupted in between
    behind = min((abs(time.time_ns() - time.monotonic_ns()
                      - (clocks["wall_clock_ns"] - clocks["clockid_time_ns"]))
                  for _ in range(20)))
    assert behind < 50_000_000


def test_tracepoint_with_another_name_is_found(run):
    needs_root()
    tracing = next((path for path in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
                    if os.path.isdir(f"{path}/events")), None)
    if not tracing:
        pytest.skip("no tracefs")
    number = int(open(f"{tracing}/events/sched/sched_wakeup/id").read())
    document, _, _ = run(f"tracepoint={number}:mine", f"tracepoint={number}:again:twice",
                         "tracepoint=99999999:none:such")
    systems = document["features"]["TRACING_DATA"]["systems"]
    assert [(system["name"], len(system["formats"])) for system in systems] == [("sched", 1)]
    assert systems[0]["formats"][0] == open(f"{tracing}/events/sched/sched_wakeup/format").read()


def test_a_pipe_has_the_same_features(run):
    needs_root()
    number = int(open("/sys/kernel/tracing/events/sched/sched_wakeup/id").read())
    file, _, _ = run(f"tracepoint={number}:sched:sched_wakeup")
    pipe, _, _ = run(f"tracepoint={number}:sched:sched_wakeup", "pipe")
    found = {}
    for record in pipe["records"]:
        if record["type"] == "HEADER_FEATURE":
            found.update(record["feature"])
    assert {"HOSTNAME", "NRCPUS", "CPU_TOPOLOGY", "PMU_MAPPINGS", "CLOCKID"} <= set(found)
    for name in found:
        if name not in ("CLOCK_DATA", "NUMA_TOPOLOGY", "CMDLINE", "EVENT_DESC"):
            assert found[name] == file["features"][name], name
    assert [record["data_size"] % 8 for record in pipe["records"]
            if record["type"] == "HEADER_TRACING_DATA"] == [0]


TREE = """
    import os, threading
    stop = threading.Event()
    for name in ("one", "two"):
        thread = threading.Thread(target=stop.wait, daemon=True)
        thread.start()
        open(f"/proc/self/task/{thread.native_id}/comm", "w").write(name)
""" + "    " + WAIT


def processes():
    return {int(name) for name in os.listdir("/proc") if name.isdecimal()}


@until_steady
def test_all_tasks_as_perf_has_them(run, perf_record, running):
    needs_root()
    tree = running(TREE)
    before = processes()
    theirs, _ = perf_record("-e", "dummy", "-a", "--", "true")
    for readers in 0, 3:
        ours, _, _ = run("all", f"readers={readers}")
        stayed = before & processes()
        for types in (("COMM",), ("FORK",), ("MMAP2",)):
            mine = synthesised(ours, *types, pid=tree.pid)
            assert mine == synthesised(theirs, *types, pid=tree.pid)
            assert mine
        assert ([record["comm"] for record in synthesised(ours, "COMM", pid=tree.pid)][1:]
                == ["one", "two"])
        for document in ours, theirs:
            assert stayed <= {record["pid"] for record in synthesised(document, "COMM")}
        assert synthesised(ours, "MMAP")[:1] == synthesised(theirs, "MMAP")[:1]


def test_the_newest_processes_are_read_first(run):
    """They are the ones that may end soon."""
    needs_root()
    waiting = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    document, _, _ = run("all")
    for one in waiting:
        one.kill()
        one.wait()
    pids = [record["pid"] for record in synthesised(document, "COMM")
            if record["pid"] == record["tid"]]
    places = [pids.index(one.pid) for one in reversed(waiting)]
    assert places == sorted(places) and places[-1] < pids.index(os.getpid())


def test_sample_ids_are_zero_and_whole(run):
    document, _, _ = run(os.getpid())
    for record in document["records"]:
        if record["type"] in ("COMM", "MMAP2", "MMAP"):
            assert record["sample_id"] == {"pid": 0, "tid": 0, "time": 0, "cpu": 0, "identifier": 0}


def test_threads_that_were_asked_for(run, running):
    tree = running(TREE)
    tids = sorted(map(int, os.listdir(f"/proc/{tree.pid}/task")))
    document, _, _ = run(*tids[1:])
    entries = next(record["entries"] for record in document["records"]
                   if record["type"] == "THREAD_MAP")
    assert entries == [{"pid": tids[1], "comm": "one"}, {"pid": tids[2], "comm": "two"}]
    assert not synthesised(document, "FORK")
    comms = synthesised(document, "COMM")
    # the process comes first, with its maps
    assert [(record["pid"], record["tid"]) for record in comms] == [(tree.pid, tid) for tid in tids]
    assert {record["pid"] for record in synthesised(document, "MMAP2")} == {tree.pid}


def test_no_task_before_a_command_starts(run):
    document, _, _ = run()
    assert not synthesised(document, "COMM", "MMAP2", "FORK")
    assert document["summary"]["by_type"]["CPU_MAP"] == 1


def test_a_process_that_is_gone(run, running):
    gone = subprocess.Popen(["true"])
    gone.wait()
    document, _, _ = run(gone.pid, os.getpid())
    assert {record["pid"] for record in synthesised(document, "COMM")} == {os.getpid()}


HOSTILE = """
    import ctypes, mmap, os, sys
    kept = []
    for name in map(bytes.fromhex, sys.argv[2:]):
        path = os.path.join(os.fsencode(sys.argv[1]), name)
        open(path, "wb").write(bytes(8192))
        file = os.open(path, os.O_RDONLY)
        kept.append(mmap.mmap(file, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    os.unlink(path)
    ctypes.CDLL(None).prctl(15, b"a) S 1 (b\\nc", 0, 0, 0)
""" + "    " + WAIT


def exact(record):
    """Returns the bytes of a map's name."""
    if "filename_hex" in record:
        return bytes.fromhex(record["filename_hex"])
    return record["filename"].encode()


def test_hostile_names(run, running, tmp_path):
    needs_root()
    names = [b"new\nline", b"sp ace", b"digits\\012", b"\xff\xfe", b"so (deleted)", b" lead",
             b"trail ", b"removed"]
    process = running(HOSTILE, tmp_path, *(name.hex() for name in names))
    for who in (process.pid,), ("all",):
        document, _, _ = run(*who)
        assert synthesised(document, "COMM", pid=process.pid)[0]["comm"] == "a) S 1 (b\nc"
        found = {exact(record) for record in synthesised(document, "MMAP2", pid=process.pid)}
        assert {os.fsencode(tmp_path / os.fsdecode(name)) for name in names[:-1]} <= found
        assert os.fsencode(tmp_path / "removed (deleted)") in found


def test_data_maps_are_marked(run):
    code, _, _ = run(os.getpid())
    everything, _, _ = run(os.getpid(), f"what={KERNEL | TASKS | MAPS | DATA}")
    code, everything = synthesised(code, "MMAP2"), synthesised(everything, "MMAP2")
    assert all("EXEC" in record["prot"]["names"] for record in code)
    data = [record for record in everything if "MMAP_DATA" in record.get("misc_flags", ())]
    assert data and not any("EXEC" in record["prot"]["names"] for record in data)
    assert len(everything) == len(data) + len(code)
    assert {"[heap]", "[stack]", "//anon"} <= {record["filename"] for record in data}


def gnu_build_id(path):
    notes = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return found and found.group(1)


def build_ids(synthesise, paths):
    done = subprocess.run([synthesise, "buildid", *paths], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    assert done.returncode == 0 and not done.stderr, done.stderr[-3000:]
    return done.stdout.split("\n")[:-1]


def note(name, kind, content, align=4):
    pad = lambda part: part + bytes(-len(part) % align)
    return pad(struct.pack("=III", len(name), len(content), kind)
               + name.ljust(-(-len(name) // 4) * 4, b"\0")) + pad(content)


def elf(notes, align=4, kind=4):
    """Returns an ELF file of one segment."""
    header = b"\x7fELF" + bytes([2, 1 if sys.byteorder == "little" else 2, 1]) + bytes(9)
    header += struct.pack("=HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return (header + struct.pack("=IIQQQQQQ", kind, 4, 120, 120, 120, len(notes), len(notes), align)
            + notes)


def test_build_id_of_a_file(synthesise, tmp_path):
    identity = bytes(range(1, 21))
    cases = [
        (elf(note(b"GNU\0", 3, identity)), identity),
        (elf(note(b"GNU\0", 1, bytes(16)) + note(b"GNU\0", 3, identity)), identity),
        (elf(note(b"GNU\0", 3, identity[:8])), identity[:8]),
        (elf(note(b"GNU\0", 3, identity[:9])), identity[:9]),
        (elf(note(b"GNU\0", 3, bytes(range(64)))), b""),       # longer than a record allows
        (elf(note(b"GNU\0", 3, b"")), b""),
        (elf(note(b"Xen\0", 3, identity)), b""),
        (elf(note(b"GNU\0", 5, bytes(16), 8) + note(b"GNU\0", 3, identity, 8), 8), identity),
        (elf(note(b"GNU\0", 3, identity)[:-4]), b""),
        (elf(note(b"GNU\0", 3, identity), kind=1), b""),
        (elf(struct.pack("=III", 0xffffffff, 20, 3)), b""),
        (elf(struct.pack("=III", 4, 0xfffffff0, 3) + b"GNU\0"), b""),
        (b"", b""), (b"\x7fELF", b""), (b"no program", b""),
    ]
    paths = [tmp_path / str(i) for i in range(len(cases))]
    for path, (content, _) in zip(paths, cases):
        path.write_bytes(content)
    assert build_ids(synthesise, paths) == [identity.hex() for _, identity in cases]


def small_elf(order, bits, sections):
    """Returns an ELF file with a note after the first page, in a segment or a section."""
    data = 1 if order == "<" else 2
    notes = struct.pack(order + "III", 4, 20, 3) + b"GNU\0" + bytes(range(20))
    header, entry = (64, 64 if sections else 56) if bits == 64 else (52, 40 if sections else 32)
    where = 5000
    kind = 7 if sections else 4
    table = bytes(entry)       # the first is another
    if bits == 64:
        table += (struct.pack(order + "IIQQQQIIQQ", 0, kind, 0, 0, where, len(notes), 0, 0, 4, 0)
                  if sections else
                  struct.pack(order + "IIQQQQQQ", kind, 4, where, 0, 0, len(notes), len(notes), 4))
    else:
        table += (struct.pack(order + "IIIIIIIIII", 0, kind, 0, 0, where, len(notes), 0, 0, 4, 0)
                  if sections else
                  struct.pack(order + "IIIIIIII", kind, where, 0, 0, len(notes), len(notes), 4, 4))
    at = 6000 if sections else header
    places = (0, at) if sections else (at, 0)
    ends = (0, 0, entry, 2, 0) if sections else (entry, 2, 0, 0, 0)
    head = b"\x7fELF" + bytes([2 if bits == 64 else 1, data, 1]) + bytes(9)
    head += struct.pack(order + ("HHIQQQIHHHHHH" if bits == 64 else "HHIIIIIHHHHHH"), 1, 21, 1, 0,
                        *places, 0, header, *ends)
    assert len(head) == header
    whole = bytearray(7000)
    for offset, part in ((0, head), (at, table), (where, notes)):
        whole[offset:offset + len(part)] = part
    return bytes(whole)


def test_build_id_of_any_machines_file(synthesise, tmp_path):
    paths = []
    for order in "<>":
        for bits in (32, 64):
            for sections in (False, True):
                paths.append(tmp_path / f"{'le' if order == '<' else 'be'}{bits}{sections}")
                paths[-1].write_bytes(small_elf(order, bits, sections))
    assert build_ids(synthesise, paths) == [bytes(range(20)).hex()] * 8
    assert ([gnu_build_id(path) for path in paths if "True" not in path.name]
            == [bytes(range(20)).hex()] * 4)


def test_build_id_far_after_the_header(synthesise, tmp_path):
    """Some tools move program headers and notes to the end of a large file."""
    identity = bytes(range(1, 21))
    content = note(b"GNU\0", 3, identity)
    header, entry = elf(content)[:64], struct.pack("=IIQQQQQQ", 4, 4, 200 << 20, 0, 0, len(content),
                                                   len(content), 4)
    with open(tmp_path / "large", "wb") as file:
        file.write(header[:32] + struct.pack("=Q", 100 << 20) + header[40:])
        file.seek(100 << 20)
        file.write(entry)
        file.seek(200 << 20)
        file.write(content)
    assert build_ids(synthesise, [tmp_path / "large"]) == [identity.hex()]


@pytest.mark.parametrize("shnum, first_size", [(0, 1 << 24), (65535, 0)],
                         ids=["in section 0", "in the header"])
def test_a_file_of_many_sections_costs_little(synthesise, tmp_path, shnum, first_size):
    """libelf would allocate 4 GB for the first of them."""
    header = struct.pack("=HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 8192, 0, 64, 56, 0, 64, shnum, 0)
    with open(tmp_path / "many", "wb") as file:
        file.write(b"\x7fELF" + bytes([2, 1 if sys.byteorder == "little" else 2, 1]) + bytes(9)
                   + header)
        file.seek(8192 + 32)
        file.write(struct.pack("=Q", 1 << 24))
        file.truncate(8192 + (64 << 24))
    done, peak = run_measured([synthesise, "buildid", tmp_path / "many"], tmp_path)
    assert done.returncode == 0 and done.stdout == b"\n" and peak < 100 << 10


def test_files_without_a_build_id(synthesise, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert (build_ids(synthesise, [tmp_path, tmp_path / "pipe", "/dev/zero", tmp_path / "absent"])
            == [""] * 4)


def test_damaged_files_give_some_build_id_or_none(synthesise, tmp_path):
    chance = random.Random(1)
    whole = open(shutil.which("true"), "rb").read()
    paths = []
    for i in range(300):
        content = bytearray(whole[:chance.randrange(64, len(whole))] if i % 3 == 0 else whole)
        for _ in range(chance.randrange(1, 20)):
            content[chance.randrange(64 if i % 2 else min(len(content), 1200))] = chance.randrange(
                256)
        paths.append(tmp_path / str(i))
        paths[-1].write_bytes(content)
    assert len(build_ids(synthesise, paths)) == 300


def test_build_ids_in_maps(run):
    if not shutil.which("readelf"):
        pytest.skip("no readelf")
    document, _, _ = run(os.getpid(), f"what={TASKS | MAPS | BUILD_IDS}")
    maps = synthesised(document, "MMAP2")
    files = [record for record in maps if record["filename"].startswith("/")]
    assert files
    for record in files:
        assert record.get("build_id") == gnu_build_id(record["filename"]), record["filename"]
        assert ("build_id" in record) == ("MMAP_BUILD_ID" in record.get("misc_flags", ()))
    assert "ino" in next(record for record in maps if record["filename"] == "[vdso]")


@until_steady
def test_build_id_of_the_kernels_map_as_perf_has_it(run, perf_record):
    needs_root()
    def kernel_map(document):
        return next(({key: record.get(key)
                      for key in ("misc", "pid", "tid", "addr", "pgoff", "prot", "flags",
                                   "build_id", "filename")}
                     for record in document["records"]
                     if record.get("filename", "").startswith("[kernel.kallsyms]")), None)
    mine = kernel_map(run(f"what={KERNEL | BUILD_IDS}")[0])
    theirs = kernel_map(perf_record("-e", "dummy", "--buildid-mmap", "--", "true")[0])
    assert mine == theirs and mine["build_id"]


@until_steady
def test_namespaces_and_cgroups_as_perf_has_them(run, perf_record, running):
    needs_root()
    tree = running(TREE)
    try:
        theirs, _ = perf_record("-e", "dummy", "-a", "--all-cgroups", "--namespaces", "--", "true")
    except subprocess.TimeoutExpired:
        pytest.skip("perf takes too long")
    ours, _, _ = run("all", f"what={TASKS | NAMESPACES | CGROUPS}")
    assert (synthesised(ours, "NAMESPACES", pid=tree.pid)
            == synthesised(theirs, "NAMESPACES", pid=tree.pid))
    assert synthesised(ours, "NAMESPACES", pid=tree.pid)
    assert synthesised(ours, "CGROUP") == synthesised(theirs, "CGROUP")


@until_steady
def test_bpf_programs_as_perf_has_them(run, perf_record):
    needs_root()
    with bpf_programs.loaded() as names:
        theirs, _ = perf_record("-e", "dummy", "-a", "--", "true")
        ours, _, _ = run("all")
        # perf also lists a dispatcher that no program uses any more
        assert synthesised(ours, "KSYMBOL") == [record for record in synthesised(theirs, "KSYMBOL")
                                                if record["name"].startswith("bpf_prog_")]
        assert synthesised(ours, "BPF_EVENT") == synthesised(theirs, "BPF_EVENT")
        assert {record["name"].split("_", 3)[3] for record in synthesised(ours, "KSYMBOL")} >= set(
            names)
    ours, theirs = ours["features"], theirs["features"]
    assert ours["BPF_BTF"] == theirs["BPF_BTF"] and len(ours["BPF_BTF"]) == 1
    assert len(ours["BPF_PROG_INFO"]) == len(theirs["BPF_PROG_INFO"])
    for mine, other in zip(ours["BPF_PROG_INFO"], theirs["BPF_PROG_INFO"]):
        for key in ("id", "tag", "name", "jited_prog_len", "nr_jited_ksyms", "nr_func_info",
                    "btf_id", "load_time"):
            assert mine["info"][key] == other["info"][key], key
        for key, value in mine["data"].items():
            if key != "padding":
                assert value == other["data"][key], key


@until_steady
def test_bpf_dispatchers_as_perf_has_them(run, perf_record, running):
    """The kernel creates a dispatcher while an XDP program is run repeatedly."""
    needs_root()
    tests = str(ROOT / "tests" / "support")
    process = running(f"""
        import sys
        sys.path.insert(0, {tests!r})
        import bpf_programs
        bpf_programs.run_xdp(lambda: print("ready", flush=True))
    """)
    for _ in range(100):
        if process.poll() is not None:
            pytest.skip("no XDP program can be run here")
        with open("/proc/kallsyms", encoding="ascii") as symbols:
            if "bpf_dispatcher_xdp\t[bpf]" in symbols.read():
                break
    theirs, _ = perf_record("-e", "dummy", "-a", "--", "true")
    ours, _, _ = run("all")
    process.kill()
    assert synthesised(ours, "KSYMBOL") == synthesised(theirs, "KSYMBOL")
    dispatchers = [record for record in synthesised(ours, "KSYMBOL")
                   if record["name"].startswith("bpf_dispatcher_")]
    assert dispatchers and all(record["len"] == os.sysconf("SC_PAGESIZE") for record in dispatchers)


def test_an_id_index_of_many_records(run):
    document, _, _ = run("ids=5000")
    records = [record for record in document["records"] if record["type"] == "ID_INDEX"]
    assert len(records) == 3 and all(record["size"] < 65536 for record in records)
    entries = [entry for record in records for entry in record["entries"]]
    assert entries == [{"id": i + 1, "idx": i // 2, "cpu": i % 2, "tid": -1} for i in range(5000)]


def test_time_conv_where_the_kernel_has_a_clock_for_it(run):
    document, _, _ = run("clock")
    records = [record for record in document["records"] if record["type"] == "TIME_CONV"]
    assert len(records) == 1
    assert ((records[0]["time_shift"], records[0]["time_mult"], records[0]["time_zero"])
            == (31, 5, 9))
    assert records[0]["cap_user_time_zero"] == 1


MANY_MAPS = """
    import ctypes, mmap
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    count = 30000
    start = libc.mmap(None, ctypes.c_size_t(4096 * count), 5, 34, -1, ctypes.c_size_t(0))
    for page in range(0, count, 2):
        libc.mprotect(start + 4096 * page, 4096, 1)
""" + "    " + WAIT


def test_maps_that_take_too_long_are_cut_and_marked(run, running):
    process = running(MANY_MAPS)
    whole, printed, _ = run(process.pid, "timeout=60000")
    assert "timed-out 0" in printed
    cut, printed, _ = run(process.pid, "timeout=1")
    whole, cut = synthesised(whole, "MMAP2"), synthesised(cut, "MMAP2")
    assert len(whole) >= 15000
    if "timed-out 0" in printed:
        pytest.skip("this machine reads 30,000 maps in a moment")
    assert 0 < len(cut) < len(whole)
    marked = [record for record in cut if "PROC_MAP_PARSE_TIMEOUT" in record.get("misc_flags", ())]
    assert marked == cut[-1:]


CHURN = """
    import os, sys, threading
    def churn():
        while True:
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
    threading.Thread(target=churn, daemon=True).start()
""" + "    " + WAIT


def test_tasks_that_vanish_meanwhile(run, running):
    running(CHURN), running(CHURN)
    for readers in 0, 0, 4, 4:
        document, _, _ = run("all", f"readers={readers}")
        assert document["summary"]["by_type"]["COMM"] > 2


def written_build_ids(document):
    """Returns the records by file, without their size: perf 6.1 pads names to 64 bytes, 6.12 to
    8."""
    items = {(item["filename"], item["build_id"]): item
             for item in document["features"]["BUILD_ID"]}
    for item in items.values():
        name = len(item["filename"].encode()) + 1
        assert item.pop("size") in (36 + -(-name // 64) * 64, 36 + -(-name // 8) * 8)
    return items


def all_see_the_same_files():
    namespaces = set()
    for pid in processes():
        try:
            os.readlink(f"/proc/{pid}/exe")     # fails for kernel threads
            namespaces.add(os.readlink(f"/proc/{pid}/ns/mnt"))
        except OSError:
            pass
    return len(namespaces) == 1


@until_steady
def test_build_ids_of_files_with_samples(run, perf_record):
    needs_root()
    # perf looks in its own mount namespace for the files of processes that have ended.
    all_tasks = ["-a"] if all_see_the_same_files() else []
    theirs, path = perf_record("-e", "cpu-clock", *all_tasks, "--", sys.executable, "-c",
                               "sum(range(3000000))")
    ours, printed, _ = run(f"buildids={path}")
    mine = written_build_ids(ours)
    assert mine == written_build_ids(theirs)
    assert {"[kernel.kallsyms]", "[vdso]"} <= {name for name, _ in mine}
    samples = [record["time"] for record in theirs["records"] if record["type"] == "SAMPLE"]
    words = printed.split()
    counts = dict(zip(words[6::2], map(int, words[7::2])))
    assert counts["samples"] == len(samples)
    assert (counts["first"], counts["last"]) == (min(samples), max(samples))
    assert counts["files"] == len(mine)


@until_steady
def test_call_chains_count_as_hits(run, perf_record):
    needs_root()
    loop = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    theirs, path = perf_record("-e", "cpu-clock", "-g", "--", "sh", "-c", loop)
    ours, _, _ = run(f"buildids={path}")
    mine = {item["filename"] for item in ours["features"]["BUILD_ID"]}
    assert mine >= {item["filename"] for item in theirs["features"]["BUILD_ID"]}


def test_a_recording_that_was_cut_off_gives_its_build_ids(run, perf_record, tmp_path):
    needs_root()
    _, path = perf_record("-e", "cpu-clock", "--", sys.executable, "-c", "sum(range(1000000))")
    whole = path.read_bytes()
    offset, size = struct.unpack_from("=QQ", whole, 40)
    cut = tmp_path / "cut.data"
    cut.write_bytes(whole[:48] + bytes(8) + whole[56:offset + size - 5])
    ours, _, _ = run(f"buildids={cut}")
    assert "[kernel.kallsyms]" in {item["filename"] for item in ours["features"]["BUILD_ID"]}


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"PERFILE2", b"PERFILE2" + b"\xff" * 200])
def test_other_files_give_no_build_ids(run, tmp_path, content):
    path = tmp_path / "bad.data"
    path.write_bytes(content)
    ours, printed, _ = run(f"buildids={path}")
    assert "BUILD_ID" not in ours["features"] and "files 0" in printed


def test_perf_reads_it_without_a_warning(run, perf):
    _, _, path = run("all", f"what={0xff}")
    done = subprocess.run([perf, "report", "-i", path, "--stats"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert not re.search("warning|unknown|invalid|failed", done.stderr, re.IGNORECASE), done.stderr
    done = subprocess.run([perf, "report", "-i", path, "--header-only"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and not done.stderr
    assert "# perf version : precord 1.2.3" in done.stdout


def as_user(program, *args):
    needs_root()
    if not shutil.which("setpriv"):
        pytest.skip("no setpriv")
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                           "--inh-caps=-all", program,
                           *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT)


@pytest.fixture
def for_users(synthesise):
    """The program, in a directory that every user may write to."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        path = shutil.copy(synthesise, directory)
        os.chmod(path, 0o755)
        if as_user(path, "list").returncode:
            pytest.skip("other users don't reach the directory for temporary files")
        yield path


def test_list(synthesise):
    def lines(*args):
        done = subprocess.run([synthesise, "list", *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        assert not done.stderr
        return done.stdout.splitlines()
    everything = lines()
    names = [line.split()[0] for line in everything if line.startswith("  ")]
    assert {"cpu-clock", "page-faults", "dummy", "mem:ADDR[/LEN][:rwx]"} <= set(names)
    assert len(names) == len(set(names))
    clocks = [line for line in lines("*-clock") if line.startswith("  ")]
    assert [line.split()[0] for line in clocks] == ["cpu-clock", "task-clock"]
    assert [line.split()[0] for line in lines("sw") if line.startswith("  ")][0] == "cpu-clock"
    assert "  page-faults" in [line[:13] for line in lines("fault")]
    assert lines("no-such-event") == []
    if os.geteuid() == 0 and os.path.isdir("/sys/kernel/tracing/events/sched"):
        assert "sched:sched_switch" in names
        found = [line.strip() for line in lines("sched:sched_w*") if line.startswith("  ")]
        assert "sched:sched_wakeup" in found and all(name.startswith("sched:sched_w")
                                                     for name in found)


def test_list_names_the_events_closed_to_a_user(for_users):
    done = as_user(for_users, "list")
    assert "cpu-clock" in done.stdout and not done.stderr
    if not os.stat("/sys/kernel/tracing").st_mode & 0o005:
        assert "Tracepoints: tracefs can't be read" in done.stdout


def test_doctor_is_content_with_root(synthesise):
    needs_root()
    done = subprocess.run([synthesise, "doctor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    states = {line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")}
    assert states <= {"ok", "note", "no"} and not done.stderr
    assert (done.returncode == 1) == ("no" in states)
    assert "perf_event_open works" in done.stdout


@until_steady
def test_doctor_advises_a_user(for_users):
    paranoid = int(open("/proc/sys/kernel/perf_event_paranoid").read())
    done = as_user(for_users, "doctor")
    lines = done.stdout.splitlines()
    remedies = [line for line in lines if line.lstrip().startswith("try: ")]
    if paranoid >= 2:
        assert done.returncode == 1
        assert any("kernel.perf_event_paranoid=1" in line for line in remedies)
        assert f"kernel.perf_event_paranoid is {paranoid}" in done.stdout
    assert all(lines[lines.index(line) - 1].startswith("no ") for line in remedies)


def test_hidden_tasks_are_left_out_for_a_user(for_users, decode):
    path = f"{for_users}.data"
    done = as_user(for_users, path, "all", f"what={0xff}")
    assert done.returncode == 0 and not done.stderr, done.stderr
    document = decode(path)
    assert not document["errors"]
    assert document["summary"]["by_type"]["COMM"] > 1
    assert {"HOSTNAME", "CPUDESC", "PMU_MAPPINGS"} <= set(document["features"])


@until_steady
def test_a_recording_has_the_features_that_perf_gives_it(record, perf_record):
    needs_root()
    theirs, _ = perf_record("-e", "sched:sched_switch", "-k", "mono", "-a", "--", "true")
    ours = record("-e", "sched:sched_switch", "-k", "mono", "-a").document["features"]
    assert set(without_made_up_pmu(theirs["features"])) <= set(ours)
    formats = [system["formats"] for system in ours["TRACING_DATA"]["systems"]]
    assert formats == [system["formats"]
                       for system in theirs["features"]["TRACING_DATA"]["systems"]]
    assert ours["VERSION"].startswith("precord ")


@until_steady
def test_a_recording_begins_as_perf_s(record, perf_record):
    needs_root()
    theirs, _ = perf_record("-e", "cpu-clock", "--", "true")
    ours = record("-e", "cpu-clock").document

    def start(document):
        types = [record["type"] for record in document["records"]
                 # perf also lists a dispatcher that no program uses any more
                 if not record.get("name", "").startswith("bpf_dispatcher_")]
        return [kind for kind in types[:types.index("FINISHED_INIT") + 1] if kind != "EVENT_UPDATE"]
    assert start(ours) == start(theirs)


def test_precord_asks_the_doctor(run_precord):
    done = run_precord("--doctor", stdout=subprocess.PIPE)
    assert done.returncode in (0, 1) and b"perf_event_open" in done.stdout and not done.stderr
