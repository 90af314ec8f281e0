"""--debuginfod: files of a server on this machine, which is a thread of the test."""
import ctypes.util
import http.server
import os
import shutil
import socket
import subprocess
import threading
import time

import pytest

import lbr
from conftest import TOOLS, strict_json_lines
from lbr import BASE, PID, USER_MARK
from perfdata.sample import sample
from sandboxed import no_sandbox_here

ATTR = lbr.lbr_attr(branches=0, sample_type=lbr.SAMPLED)

needs_library = pytest.mark.skipif(not ctypes.util.find_library("debuginfod"),
                                   reason="libdebuginfod1 is not installed")


class Slow(bytes):
    """Arrives in 13 s, from a server that does not tell its size."""


class Server:
    """Serves what is in `files`, {path: bytes}; None: it does not answer. Keeps what it is
    asked for."""

    def __init__(self):
        outer = self
        self.files, self.asked, self.ended = {}, [], threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):       # noqa: N802
                outer.asked.append(self.path)
                found = outer.files.get(self.path, b"")
                if found is None:
                    outer.ended.wait(60)
                elif not found:
                    self.send_error(404)
                elif isinstance(found, Slow):
                    self.send_response(200)
                    self.end_headers()
                    for at in range(0, len(found), len(found) // 26 + 1):
                        self.wfile.write(found[at:at + len(found) // 26 + 1])
                        outer.ended.wait(0.5)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(found)))
                    self.end_headers()
                    self.wfile.write(found)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.ended.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    it = Server()
    yield it
    it.close()


class Recorded:
    """A recording of a library that is no longer there: the library and its debug file are kept
    aside."""

    def __init__(self, where):
        built, functions = lbr.build_image(where)
        self.whole, self.image, self.debug = built.read_bytes(), where / "stripped", where / "debug"
        subprocess.run(["strip", "-o", self.image, built], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", built, self.debug], check=True)
        self.id, self.gone = lbr.build_id(built).hex(), built
        self.path = where / "perf.data"
        hits = [sample(ATTR, 2, pid=PID, tid=PID, time=5, period=1, ip=start + 20,
                       callchain=[USER_MARK, start + 20]) for start, _ in functions]
        self.path.write_bytes(lbr.recording(built, [ATTR], hits))
        built.unlink()
        self.home = where / "home"
        self.home.mkdir()

    def paths(self):
        return f"/buildid/{self.id}/executable", f"/buildid/{self.id}/debuginfo"

    def run(self, server, *options, tool="pdecode", **variables):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("DEBUGINFOD", "XDG_"))}
        environment.update(HOME=str(self.home), **variables)
        if server:
            environment["DEBUGINFOD_URLS"] = server.url
        return subprocess.run([TOOLS / tool, *options, self.path], env=environment, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def frames(self, *args, **more):
        """The frames, the image's line, and the messages."""
        done = self.run(*args[:1], "-f", "jsonl", "--symbols", *args[1:], **more)
        assert done.returncode == 0, done.stderr
        lines = strict_json_lines(done.stdout.encode())
        return ([line["frames"][0] for line in lines if line.get("type") == "SAMPLE"],
                next(line for line in lines if line["kind"] == "image"), done.stderr)


@pytest.fixture
def recorded(tmp_path):
    return Recorded(tmp_path)


def symbols_of(frames):
    return [frame.get("symbol", frame.get("why")) for frame in frames]


NAMES = [f"f{i}" for i in range(12)]


@needs_library
@no_sandbox_here
@pytest.mark.parametrize("sandbox", ["always", "never"])
def test_image_and_debug_file_of_a_server(server, recorded, sandbox):
    image, debug = recorded.paths()
    server.files = {image: recorded.image.read_bytes(), debug: recorded.debug.read_bytes()}
    frames, line, err = recorded.frames(server, "--debuginfod", "--lines", f"--sandbox={sandbox}")
    assert symbols_of(frames) == NAMES and not err
    assert {frame["file"].split("/")[-1] for frame in frames} == {"calls.c"}
    assert line["match"] == "BUILD_ID" and "DEBUG_FILE" in line["sources"]
    assert [line["file"], line["debug_file"]] == [
        f"debuginfod:{recorded.id}/executable", f"debuginfod:{recorded.id}/debuginfo"]
    assert set(server.asked) == {image, debug}
    server.asked.clear()        # libdebuginfod keeps them, and we find them without it
    assert recorded.frames(server, "--lines")[0] == frames
    assert recorded.frames(None, "--lines")[0] == frames
    assert not server.asked


def test_nothing_is_asked_without_the_option(server, recorded):
    image, debug = recorded.paths()
    server.files = {image: recorded.image.read_bytes(), debug: recorded.debug.read_bytes()}
    assert symbols_of(recorded.frames(server, "--lines")[0]) == ["NO_FILE"] * 12
    assert recorded.run(server, "-f", "folded", tool="preport").returncode == 0
    assert not server.asked


def test_the_option_needs_servers(recorded):
    for tool in ("pdecode", "preport"):
        symbols = ["--symbols"] if tool == "pdecode" else []
        done = recorded.run(None, *symbols, "--debuginfod", tool=tool)
        assert done.returncode == 2 and "DEBUGINFOD_URLS" in done.stderr
        done = recorded.run(None, *symbols, "--debuginfod", tool=tool, DEBUGINFOD_URLS=" ")
        assert done.returncode == 2


@needs_library
def test_profiles_and_queries(server, recorded):
    server.files = {recorded.paths()[0]: recorded.image.read_bytes()}
    done = recorded.run(server, "-f", "folded", "--debuginfod", tool="preport")
    assert done.stdout.splitlines() == sorted(f"calls;{name} 1" for name in NAMES)
    shutil.rmtree(recorded.home)
    recorded.home.mkdir()
    done = recorded.run(server, "--symbols", "--debuginfod", "-f", "csv",
                        "select function from symbols order by function", tool="pquery")
    assert done.stdout.split() == ["function", *sorted(NAMES)]


@needs_library
def test_files_that_no_server_has(server, recorded):
    """No message: they may be nowhere."""
    frames, _, err = recorded.frames(server, "--debuginfod")
    assert symbols_of(frames) == ["NO_FILE"] * 12 and "debuginfod" not in err
    assert server.asked == [recorded.paths()[0]]


@needs_library
def test_a_file_with_another_build_id_is_not_used(server, recorded, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    source = other / "x.c"
    source.write_text("int f0(int x) { return x; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,--build-id", "-o", other / "x.so", source],
                   check=True)
    for wrong in ((other / "x.so").read_bytes(), b"\x7fELF" + bytes(5000), b"no ELF file" * 99):
        shutil.rmtree(recorded.home)
        recorded.home.mkdir()
        server.files = {recorded.paths()[0]: wrong}
        server.asked.clear()
        for _ in range(2):      # of the server, and of the cache
            frames, line, _ = recorded.frames(server, "--debuginfod")
            assert set(symbols_of(frames)) <= {"MISMATCH", "NO_FILE", "NOT_ELF", "BAD_FILE"}
            assert "match" not in line
        assert server.asked


@needs_library
def test_a_server_that_does_not_answer_is_waited_for_once(server, recorded):
    image, debug = recorded.paths()
    server.files = {image: None, debug: None}
    start = time.monotonic()
    frames, _, err = recorded.frames(server, "--debuginfod", "--lines")
    assert 5 < time.monotonic() - start < 40
    assert symbols_of(frames) == ["NO_FILE"] * 12
    assert err.count("does not answer") == 1 and len(server.asked) == 1


@needs_library
def test_a_slow_server_is_waited_for(server, recorded):
    """As long as bytes arrive."""
    image, _ = recorded.paths()
    server.files = {image: Slow(recorded.image.read_bytes() + bytes(1 << 20))}
    start = time.monotonic()
    frames, _, err = recorded.frames(server, "--debuginfod")
    assert time.monotonic() - start > 12
    assert symbols_of(frames) == NAMES and "debuginfod" not in err


@needs_library
def test_waiting_ends_with_the_program(server, recorded):
    """The process that asks is not left over."""
    server.files = {recorded.paths()[0]: None}
    environment = {**os.environ, "HOME": str(recorded.home), "DEBUGINFOD_URLS": server.url}
    tool = subprocess.Popen([TOOLS / "pdecode", "--symbols", "--debuginfod", recorded.path],
                            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not server.asked:
        time.sleep(0.05)
    tool.kill()
    start = time.monotonic()
    tool.stderr.read()          # until the last process closes it
    assert time.monotonic() - start < 6
    tool.wait()


@needs_library
def test_a_server_that_is_not_there(recorded):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        frames, _, err = recorded.frames(
            None, "--debuginfod",
            DEBUGINFOD_URLS=f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert symbols_of(frames) == ["NO_FILE"] * 12
    assert err.count("--debuginfod: a file can't be downloaded") == 1


def test_without_the_library(server, recorded, tmp_path):
    """A library that can't be loaded stands before the real one."""
    (tmp_path / "libdebuginfod.so.1").write_bytes(b"no library")
    frames, _, err = recorded.frames(server, "--debuginfod", LD_LIBRARY_PATH=str(tmp_path))
    done = subprocess.run(["ldd", TOOLS / "pdecode"], stdout=subprocess.PIPE, text=True)
    assert "debuginfod" not in done.stdout
    if "does not work" in err or "is missing" in err:
        assert symbols_of(frames) == ["NO_FILE"] * 12 and not server.asked
        assert err.count("--debuginfod: no file is downloaded") == 1
    else:
        pytest.fail(f"the library was loaded: {err}")


def test_the_cache_is_read_without_a_server(recorded):
    """Where libdebuginfod keeps files: by its own variable, by that for all caches, or at home."""
    caches = {"own": {"DEBUGINFOD_CACHE_PATH": str(recorded.home / "own")},
              "xdg/debuginfod_client": {"XDG_CACHE_HOME": str(recorded.home / "xdg")},
              ".cache/debuginfod_client": {}}
    for place, variables in caches.items():
        assert symbols_of(recorded.frames(None, **variables)[0]) == ["NO_FILE"] * 12
        directory = recorded.home / place / recorded.id
        directory.mkdir(parents=True)
        shutil.copy(recorded.image, directory / "executable")
        assert symbols_of(recorded.frames(None, **variables)[0]) == NAMES
        shutil.rmtree(recorded.home / place)
