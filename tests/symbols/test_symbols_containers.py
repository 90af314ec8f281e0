"""Files of other mount namespaces: found below the roots of processes that still run."""
import json
import os
import shutil
import subprocess
import time

import pytest

import named as named_recording
from conftest import TIMEOUT, TOOLS
from perfdata import records as r
from perfdata.sample import sample_id
from rights import needs
from test_symbols import BASE, EVENT, SECOND, SOURCE, build_id, hit, mapped, reason, symbol
from test_symbols import symbols as symbols_fixture

symbols = symbols_fixture       # a fixture

SPIN = SOURCE.replace("return outer(argc) + after(argc);",
                      "for (;;) outer(argc++);").replace("int main", "volatile int z; int main")
MOUNT = 5


def unshare(top, shell, *options):
    """A process whose `top` is a file system of its own. `shell` replaces itself when it is done;
    its process number is that of the one that is returned."""
    process = subprocess.Popen(["unshare", "-m", *options, "sh", "-c",
                                f"mount -t tmpfs none {top} && {shell}"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        process.kill()
        pytest.skip(f"no mount namespace here: {process.stderr.read()}")
    return process


def end(process):
    process.kill()
    process.communicate()


def namespaces_of(pid, mount):
    links = [(4, 0xF0000000 + i) for i in range(7)]
    links[MOUNT] = os.stat("/proc/self/ns/mnt").st_dev, mount
    return r.namespaces(pid, pid, links, sid=sample_id(EVENT, pid=pid, tid=pid, time=0))


def own_namespace():
    return namespaces_of(1, os.stat("/proc/self/ns/mnt").st_ino)


class Container:
    """A process that has a program where there is no file here, and nothing else."""

    def __init__(self, where, program):
        self.top = where / "inside"
        self.top.mkdir()
        self.path = self.top / "app"
        self.process = unshare(
            self.top, f"cp {program} {self.path} && echo ready && exec cat")
        self.pid = self.process.pid

    def namespaces(self):
        """The record of its namespaces."""
        return namespaces_of(self.pid, os.stat(f"/proc/{self.pid}/ns/mnt").st_ino)

    def records(self, program, recorded=None):
        start, _ = symbol(program, "outer")
        return [mapped(program, recorded, pid=self.pid, name=str(self.path)),
                hit(BASE + start, pid=self.pid)]


def compile_to(path, text, *options):
    path.with_suffix(".c").write_text(text)
    subprocess.run(["gcc", "-g", "-O2", "-fno-omit-frame-pointer", "-fno-reorder-functions",
                    *options, "-o", path, path.with_suffix(".c")], check=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_to(tmp_path_factory.mktemp("program") / "app", SPIN)


@pytest.fixture
def container(tmp_path, program):
    made = Container(tmp_path, program)
    yield made
    end(made.process)


def needs_root(function):
    return pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for mount(2)")(function)


@needs_root
def test_while_the_process_runs(container, program, symbols):
    records = container.records(program)
    assert reason(symbols, records) == "outer"
    image = symbols.images(records)[0]
    assert image["file"] == f"/proc/{container.pid}/root{container.path}"
    assert image["match"] == "BUILD_ID"
    assert reason(symbols, records, "--sandbox=never") == "outer"
    end(container.process)
    assert reason(symbols, records) == "NO_FILE"


ALONE = """
void _start(void)
{
	for (volatile int i = 0; i < 60000000; i++);
	__asm__("syscall" :: "a" (60), "D" (0));
}
"""


@needs_root
def test_precord_does_not_take_the_names_of_another_root(tmp_path):
    """A file here has the same path and is older than the recording."""
    here, data = os.path.realpath(shutil.which("true")), tmp_path / "p.data"
    there = tmp_path / here[1:]
    there.parent.mkdir(parents=True)
    compile_to(there, ALONE, "-nostdlib", "-static")
    named_recording.record(data, "-F", "2000", "-B", "--symbols=names", "--", "chroot", tmp_path,
                           here)
    done = subprocess.run([TOOLS / "pdecode", "--resolve", data], stdout=subprocess.PIPE,
                          check=True)
    document = json.loads(done.stdout)
    assert [s for s in document["records"] if s["type"] == "SAMPLE" and
            s["frames"][0].get("dso") == here]
    names = [f["name"] for i in document["features"]["PD_SYMBOLS"]["images"] if i["path"] == here
             for f in i["functions"]]
    assert names == ["_start"]


def record(data, *command):
    done = subprocess.run([TOOLS / "precord", "-e", "cpu-clock", "-F", "2000", "-o", data,
                           *command], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        pytest.skip(f"can't record here: {done.stderr}")
    named_recording.need_time(done.stderr)


def named_in(data, path):
    """The names of frames in a file, None included, and the paths that have a build id."""
    done = subprocess.run([TOOLS / "pdecode", "--symbols", data], stdout=subprocess.PIPE,
                          check=True)
    document = json.loads(done.stdout)
    return ({frame.get("symbol") for s in document["records"] for frame in s.get("frames", [])
             if frame.get("dso") == str(path)},
            {item["filename"] for item in document["features"].get("BUILD_ID", [])})


OTHER = ALONE.replace("_start(void)", "_start(void) { other(); }\n__attribute__((noinline)) "
                                      "void other(void)")


@needs_root
@pytest.mark.parametrize("options", [[], ["-z"], ["--symbols=off"], ["-B"], ["--threads"]],
                         ids="".join)
def test_precord_does_not_take_the_file_of_another_mount_namespace(tmp_path, options):
    """The process has ended: only precord can find its file. The one with its path here is older
    than the recording."""
    top, data = tmp_path / "top", tmp_path / "p.data"
    top.mkdir()
    compile_to(tmp_path / "ran", ALONE, "-nostdlib", "-static", "-Wl,--build-id")
    compile_to(top / "app", "void other(void);" + OTHER, "-nostdlib", "-static", "-Wl,--build-id")
    time.sleep(1.1)             # times of recordings are whole seconds
    record(data, *options, "--", "unshare", "-m", "sh", "-c",
           f"mount -t tmpfs none {top} && cp {tmp_path}/ran {top}/app && {top}/app")
    names, ids = named_in(data, top / "app")
    assert names == ({"_start"} if options in ([], ["--threads"]) else {None})
    assert (str(top / "app") in ids) == (options not in (["-B"], ["--symbols=off"]))
    assert (len(ids) > 0) == ("-B" not in options)


@needs_root
@pytest.mark.parametrize("where, option", [
    ("{top}", "--build-id"), ("{top}/.debug", "--build-id=none"),
    ("/usr/lib/debug{top}", "--build-id=none"), ("/usr/lib/debug/.build-id/12", "--build-id")])
def test_precord_takes_debug_files_of_a_container_that_has_ended(where, option, tmp_path):
    """Those that its stripped programs had, not those here."""
    top, app, data = tmp_path / "top", tmp_path / "app", tmp_path / "p.data"
    if not os.path.isdir("/usr/lib/debug"):
        pytest.skip("no directory to mount on")
    top.mkdir()
    if option == "--build-id":
        option += "=0x12" + "34" * 19
    compile_to(app, ALONE, "-nostdlib", "-static", f"-Wl,{option}")
    name = "34" * 19 + ".debug" if "build-id" in where else "app.debug"
    subprocess.run(["objcopy", "--only-keep-debug", app, tmp_path / name], check=True)
    subprocess.run(["strip", app], check=True)
    if name == "app.debug":
        subprocess.run(["objcopy", f"--add-gnu-debuglink={tmp_path / name}", app], check=True)
    place = where.format(top=top)
    record(data, "--", "unshare", "-m", "sh", "-c",
           f"mount -t tmpfs none {top} && mount -t tmpfs none /usr/lib/debug && "
           f"mkdir -p {place} && mv {tmp_path / name} {place} && mv {app} {top} && {top}/app")
    assert named_in(data, top / "app")[0] == {"_start"}


@pytest.mark.parametrize("options", [[], ["-z"], ["--symbols=off"], ["--call-graph", "dwarf"]],
                         ids="".join)
def test_precord_does_not_take_a_file_that_was_overwritten(tmp_path, options):
    """The inode is the one that was mapped."""
    app, data = tmp_path / "app", tmp_path / "p.data"
    compile_to(app, ALONE, "-nostdlib", "-static", "-Wl,--build-id")
    compile_to(tmp_path / "new", "void other(void);" + OTHER, "-nostdlib", "-static",
               "-Wl,--build-id")
    record(data, *options, "--", "sh", "-c", f"{app}; cat {tmp_path}/new > {app}")
    names, ids = named_in(data, app)
    assert names == {None} and str(app) not in ids


def test_precord_takes_a_file_that_is_new(tmp_path):
    """Made while it records, and run then."""
    made, data = tmp_path / "made", tmp_path / "p.data"
    compile_to(tmp_path / "app", ALONE, "-nostdlib", "-static", "-Wl,--build-id")
    record(data, "--", "sh", "-c", f"sleep 0.2; cp {tmp_path}/app {made}; {made}")
    names, ids = named_in(data, made)
    assert names == {"_start"} and str(made) in ids


def test_copied_stacks_lead_into_all_files(tmp_path):
    """A library of which only callers are on the stacks has a build id, too."""
    data = tmp_path / "p.data"
    record(data, "--call-graph", "dwarf", "--", "sh", "-c",
           "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done")
    maps = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--types", "MMAP2", data],
                          stdout=subprocess.PIPE, check=True).stdout.splitlines()
    mapped = {line.get("filename") for line in map(json.loads, maps)}
    libraries = {path for path in mapped if path and path.endswith((".so", ".so.6", ".so.2"))}
    assert len(libraries) > 1 and libraries <= named_in(data, None)[1]


@needs_root
def test_its_debug_file(container, program, symbols):
    """A stripped program's is below the same root."""
    inside = f"/proc/{container.pid}/root{container.path}"
    tree = f"/proc/{container.pid}/root{container.top}"
    os.mkdir(f"{tree}/.debug")
    subprocess.run(["objcopy", "--only-keep-debug", program, f"{tree}/.debug/app.debug"],
                   check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={tree}/.debug/app.debug",
                    program, inside], check=True)
    frame = symbols.frames(container.records(program), "--lines")[0][0]
    assert frame["symbol"] == "outer" and frame["file"].endswith("app.c")


@needs_root
def test_another_build_is_not_used(container, program, symbols):
    """Neither the one in the container, nor the one at the same path here."""
    records = container.records(program, bytes(range(20)))
    assert reason(symbols, records) == "MISMATCH"
    shutil.copy(compile_to(container.top.parent / "other", SPIN + "int more;"), container.path)
    assert build_id(container.path) != build_id(program)
    assert reason(symbols, container.records(program)) == "outer"
    end(container.process)
    assert reason(symbols, container.records(program)) == "MISMATCH"


@needs_root
def test_without_a_recorded_id(container, program, symbols):
    """The name alone says nothing: the process number may be another one's by now. The inode
    does."""
    assert reason(symbols, container.records(program, "")) == "NO_FILE"
    st = os.stat(f"/proc/{container.pid}/root{container.path}")
    start, _ = symbol(program, "outer")
    by_id, sample = container.records(program)
    del by_id
    exact = r.mmap2(container.pid, container.pid, BASE, 0x8000, 0, os.major(st.st_dev),
                    os.minor(st.st_dev), st.st_ino, 0, 5, 2, str(container.path),
                    sid=sample_id(EVENT, pid=container.pid, tid=container.pid, time=1))
    assert start < 0x8000
    assert reason(symbols, [exact, sample]) == "outer"


@needs_root
@pytest.mark.parametrize("told_by", ["this machine", "process 1"])
def test_where_the_namespace_is_known_to_be_another(told_by, container, program, symbols):
    """The reason says that a path means something else here; the file there is not looked at,
    unless its build id is the recorded one."""
    home = own_namespace() if told_by == "this machine" else namespaces_of(1, 0xFEEDBEEF)
    known = [home, container.namespaces(), *container.records(program)]
    unknown = [home, container.namespaces(), *container.records(program, "")]
    assert reason(symbols, known) == "outer"
    end(container.process)
    assert reason(symbols, known) == "FOREIGN_NAMESPACE"
    assert reason(symbols, unknown) == "FOREIGN_NAMESPACE"
    shutil.copy(compile_to(container.top.parent / "other", SPIN + "int more;"), container.path)
    assert reason(symbols, known) == "FOREIGN_NAMESPACE"
    assert reason(symbols, unknown) == "FOREIGN_NAMESPACE"
    assert reason(symbols, unknown[2:]) == "outer"      # only its path is known
    assert reason(symbols, unknown[1:]) == "outer"
    shutil.copy(program, container.path)
    assert reason(symbols, known) == "outer"


@needs_root
def test_files_mapped_by_a_process_here_are_not_foreign(container, program, symbols):
    start, _ = symbol(program, "outer")
    records = [own_namespace(), container.namespaces(), *container.records(program),
               mapped(program, pid=1, name=str(container.path)), hit(BASE + start, pid=1)]
    end(container.process)
    assert reason(symbols, records) == "NO_FILE"


@needs_root
def test_a_daemon(container, program, symbols):
    """Its first process has ended; the one that runs is a grandchild."""
    start, _ = symbol(program, "outer")
    first, second = 3_999_998, 3_999_999

    def fork(child, parent):
        return r.fork(child, parent, child, parent, 2 * SECOND,
                      sid=sample_id(EVENT, pid=child, tid=child, time=2 * SECOND))
    records = [mapped(program, pid=first, name=str(container.path)), fork(second, first),
               fork(container.pid, second), hit(BASE + start, pid=container.pid)]
    assert reason(symbols, records) == "outer"


@needs_root
def test_code_of_jit_compilers(container, symbols, tmp_path):
    """perf-PID.map below its root, under the number in its namespace."""
    inner = unshare(tmp_path, "mount -t tmpfs none /tmp && echo '10010 40 inner' > "
                    "/tmp/perf-1.map && echo ready && exec cat", "-p", "--fork", "--kill-child")
    try:
        with open(f"/proc/{inner.pid}/task/{inner.pid}/children", encoding="ascii") as children:
            pid = int(children.read())
        anonymous = r.mmap2(pid, pid, 0x10000, 0x10000, 0x10000, 0, 0, 0, 0, 7, 2, "//anon",
                            sid=sample_id(EVENT, pid=pid, tid=pid, time=1))
        records = [anonymous, hit(0x10020, pid=pid)]
        assert reason(symbols, records, began=time.time() - 100) == "inner"
        assert reason(symbols, records, began=time.time() + 100) == "JIT_NO_MAP"
    finally:
        end(inner)
    assert reason(symbols, records, began=time.time() - 100) == "JIT_NO_MAP"


# --- precord ------------------------------------------------------------------------------------

@needs_root
def test_names_in_the_recording(program, tmp_path):
    """The recorder finds them at the end, while the process runs."""
    top = tmp_path / "inside"
    top.mkdir()
    running = unshare(top, f"cp {program} {top}/app && echo ready && exec {top}/app")
    try:
        named_recording.wait_until_it_spins(running.pid, top / "app")
        named_recording.record(tmp_path / "c.data", "-F", "2000", "-g", "--namespaces",
                               "--duration", "1", "-p", str(running.pid))
    finally:
        end(running)
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--symbols", tmp_path / "c.data"],
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    samples = [line for line in map(json.loads, lines) if line.get("type") == "SAMPLE"]
    assert len(samples) > 20        # of 2,000 on an idle machine
    odd = [line for line in samples
           if not {"outer", "main"} & {frame.get("symbol") for frame in line["frames"]}]
    assert not odd


def functions(path, app, *before):
    """(innermost function, or why there is none) of the samples of app. Other tests may run
    programs meanwhile, and perf, which copies the files of all containers to ~/.debug."""
    lines = subprocess.run([*before, TOOLS / "pdecode", "-f", "jsonl", "--symbols", path],
                           stdout=subprocess.PIPE, check=True,
                           env={**os.environ, "HOME": str(path.parent)}).stdout.splitlines()
    frames = [line["frames"][0] for line in map(json.loads, lines) if line.get("type") == "SAMPLE"]
    return {frame.get("symbol", frame.get("why")) for frame in frames
            if frame.get("dso") == str(app)}


@needs_root
@needs("namespaces")
@pytest.mark.parametrize("target", ["process", "command", "machine"])
def test_a_recording_says_which_files_are_of_a_container(target, program, tmp_path):
    """Process 1 and the recorder, which are not recorded, have the namespaces of this machine.
    Readers may run in others."""
    top, path = tmp_path / "inside", tmp_path / "c.data"
    top.mkdir()
    in_container = f"cp {program} {top}/app && echo ready && exec "
    running = unshare(top, in_container + ("cat" if target == "command" else f"{top}/app"))
    what = {"process": ["--duration", "0.5", "-p", running.pid],
            "machine": ["--duration", "0.5", "-a"],
            "command": ["--", "nsenter", "-m", "-t", running.pid, "timeout", "0.5", f"{top}/app"]}
    try:
        done = subprocess.run([TOOLS / "precord", "-e", "cpu-clock:u", "-F", "500", "--namespaces",
                               "--symbols=off", "-o", path, *map(str, what[target])],
                              stderr=subprocess.PIPE, timeout=TIMEOUT, text=True)
    finally:
        end(running)
    assert done.returncode == 0 or target == "command", done.stderr
    assert functions(path, top / "app") == {"FOREIGN_NAMESPACE"}
    if can_read_namespaces(1):
        assert functions(path, top / "app", "unshare", "-m") == {"FOREIGN_NAMESPACE"}


def can_read_namespaces(pid):
    """Processes of more rights hide theirs, from root, too."""
    try:
        return bool(os.stat(f"/proc/{pid}/ns/mnt"))
    except OSError:
        return False


@needs("namespaces")
@pytest.mark.parametrize("target", [["-p", "first"], ["-p", "other"], ["-a"], ["--", "true"]],
                         ids=" ".join)
def test_process_1_and_the_recorder_are_written_once(target, tmp_path):
    path = tmp_path / "p.data"
    other = subprocess.Popen(["sleep", "60"])
    numbers = {"first": "1", "other": str(other.pid)}
    duration = [] if "--" in target else ["--duration", "0.1"]
    recorder = subprocess.Popen([TOOLS / "precord", "-e", "dummy", "--namespaces", *duration, "-o",
                                 path, *(numbers.get(word, word) for word in target)],
                                stderr=subprocess.PIPE, text=True)
    stderr = recorder.communicate(timeout=TIMEOUT)[1]
    end(other)
    if recorder.returncode:
        pytest.skip(f"can't record: {stderr}")
    lines = subprocess.run([TOOLS / "pdecode", "-f", "jsonl", "--types", "COMM,NAMESPACES", path],
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    records = [line for line in map(json.loads, lines) if line.get("type")]
    for pid, here in ((1, "/proc/1/ns/mnt"), (recorder.pid, "/proc/self/ns/mnt")):
        mine = [line for line in records if line["pid"] == line["tid"] == pid]
        if can_read_namespaces(pid if pid == 1 else "self"):
            assert sorted(line["type"] for line in mine) == ["COMM", "NAMESPACES"], pid
            mounts = [line["namespaces"][MOUNT]["inode"] for line in mine if "namespaces" in line]
            assert mounts == [os.stat(here).st_ino]
        else:
            assert [line["type"] for line in mine] in ([], ["COMM"])
