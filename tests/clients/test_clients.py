"""Programs that others wrote open preport's files and show the function with its share.

They are installed by scripts/clients; PD_CLIENTS is their folder (make check-clients sets it).
"""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import zlib

import pytest

from conftest import ROOT, TIMEOUT, TOOLS
from known_recording import EXEC, Recording, build_program, recorded
from profiles import preport

CLIENTS = pathlib.Path(os.environ.get("PD_CLIENTS") or "/nonexistent")
MODULES = CLIENTS / "npm" / "node_modules"
MS = 1_000_000
pytestmark = pytest.mark.skipif("PD_CLIENTS" not in os.environ, reason="run by make check-clients")


def need(*paths):
    for path in paths:
        if not (shutil.which(path) if isinstance(path, str) else path.exists()):
            pytest.skip(f"{path} is not here")


def run(*args, status=0, **more):
    done = subprocess.run([*map(str, args)], capture_output=True, timeout=TIMEOUT, text=True,
                          **more)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done.stdout if status is not None else done


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """5 ms in leaf() and 2 ms in main()."""
    folder = tmp_path_factory.mktemp("clients")
    program = build_program(folder / "app")
    path = folder / "perf.data"
    path.write_bytes(recorded(program, program[1], MS))
    return path


def written(recording, name):
    path = recording.parent / name
    preport("-o", path, recording, symbols=())
    return path


# --- pprof ----------------------------------------------------------------------------------------

def test_pprof_shows_shares_and_labels(recording):
    need(CLIENTS / "bin" / "pprof")
    pprof = [CLIENTS / "bin" / "pprof", "-symbolize=none"]
    path = written(recording, "app.pb.gz")
    top = run(*pprof, "-top", path)
    assert re.search(r"5ms 71\.43% 71\.43% +5ms 71\.43%  leaf", top)
    assert re.search(r"2ms 28\.57% +100% +7ms +100%  main", top)
    assert "Type: cpu" in top and "File: app" in top and "lost: 0" in top
    assert re.search(r"pid: Total.*\n.*10$", run(*pprof, "-tags", path), flags=re.M)


def test_pprof_shows_a_difference_as_its_own(recording, tmp_path):
    need(CLIENTS / "bin" / "pprof")
    program, old = build_program(tmp_path / "app"), tmp_path / "old.data"
    old.write_bytes(recorded(program, program[1], MS // 4))
    new, base = written(recording, "app.pb.gz"), tmp_path / "old.pb.gz"
    preport("-o", base, old, symbols=())
    preport("-o", tmp_path / "both.pb.gz", "--base", old, recording, symbols=())
    pprof = [CLIENTS / "bin" / "pprof", "-symbolize=none", "-top"]
    ours, own = (re.findall(r"^ *(\S+s) +(\S+%) .*  (\w+)$", run(*pprof, *files), re.M) for files in
                 ([tmp_path / "both.pb.gz"], [f"-diff_base={base}", new]))
    assert ours == own and ("3.75ms", "214.29%", "leaf") in ours


def test_pprof_format_decodes_the_file(recording):
    need("node", MODULES / "pprof-format")
    path = written(recording, "app.pb.gz")
    program = """
        const {Profile} = require("pprof-format"), fs = require("fs"), zlib = require("zlib");
        const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[1])));
        console.log(JSON.stringify({values: p.sample.map(s => s.value.map(Number)),
            names: p.function.map(f => p.stringTable.strings[Number(f.name)]).sort()}));"""
    got = json.loads(run("node", "-e", program, path, env={**os.environ, "NODE_PATH": MODULES}))
    assert sorted(got["values"]) == [[1, 2 * MS], [1, 5 * MS]]
    assert got["names"] == ["leaf", "main"]


def text_of_proto(text):
    """[(field, value)] of what protoc prints: values are words, and lists of fields."""
    fields, open_lists = [], []
    for line in text.splitlines():
        word = line.strip()
        if word == "}":
            fields = open_lists.pop()
        elif word.endswith("{"):
            inner = []
            fields.append((word[:-2], inner))
            open_lists.append(fields)
            fields = inner
        else:
            fields.append(tuple(word.split(": ", 1)))
    assert not open_lists
    return fields


@pytest.fixture
def profile_of_protoc(recording):
    need("protoc", CLIENTS / "profile.proto")
    data = zlib.decompress(written(recording, "app.pb.gz").read_bytes(), 31)

    def go(*options):
        done = subprocess.run(["protoc", *options], input=data, capture_output=True,
                              cwd=CLIENTS, timeout=TIMEOUT, check=True)
        assert not done.stderr
        return text_of_proto(done.stdout.decode())
    return go


def test_protoc_reads_the_profile_by_its_description(profile_of_protoc):
    """All fields have names, so none is of a number that the description lacks."""
    top = profile_of_protoc("--decode=perftools.profiles.Profile", "profile.proto")
    strings = [json.loads(value) for name, value in top if name == "string_table"]
    samples = [dict((name, [v for n, v in fields if n == name]) for name, _ in fields)
               for field, fields in top if field == "sample"]
    assert sorted(sample["value"] for sample in samples) == [["1", "2000000"], ["1", "5000000"]]
    assert [[strings[int(v)] for _, v in fields] for name, fields in top
            if name == "sample_type"] == [["samples", "count"], ["cpu", "nanoseconds"]]
    names = {dict(fields)["id"]: strings[int(dict(fields)["name"])]
             for name, fields in top if name == "function"}
    assert sorted(names.values()) == ["leaf", "main"]

    def all_names(fields):
        for name, value in fields:
            yield name
            if isinstance(value, list):
                yield from all_names(value)
    assert not [name for name in all_names(top) if name.isdigit()]


def test_protoc_reads_the_same_without_the_description(profile_of_protoc):
    known = profile_of_protoc("--decode=perftools.profiles.Profile", "profile.proto")
    raw = profile_of_protoc("--decode_raw")
    numbers = {"sample_type": "1", "sample": "2", "mapping": "3", "location": "4",
               "function": "5", "string_table": "6"}
    for name, number in numbers.items():
        assert (sum(field == name for field, _ in known)
                == sum(field == number for field, _ in raw) > 0), name


# --- flamegraph.pl --------------------------------------------------------------------------------

def test_flamegraph_pl_draws_the_shares(recording):
    need("perl", CLIENTS / "bin" / "flamegraph.pl")
    picture = run("perl", CLIENTS / "bin" / "flamegraph.pl", written(recording, "app.folded"))
    frames = dict(re.findall(r"<title>(\S+) \(([^)]*)\)</title>", picture))
    assert frames["leaf"] == "5,000,000 samples, 71.43%"
    assert frames["main"] == "7,000,000 samples, 100.00%"
    assert "ERROR" not in picture


# --- OpenTelemetry --------------------------------------------------------------------------------

def test_opentelemetry_reads_the_profiles(recording):
    python = CLIENTS / "python" / "bin" / "python"
    need(python)
    program = """
import json, sys
try:
    from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData
except ImportError:
    sys.exit(77)
data = ProfilesData.FromString(open(sys.argv[1], "rb").read())
d, (profile,) = data.dictionary, data.resource_profiles[0].scope_profiles[0].profiles
text = d.string_table
def name(location):
    return text[d.function_table[d.location_table[location].lines[0].function_index].name_strindex]
print(json.dumps({
    "type": [text[profile.sample_type.type_strindex], text[profile.sample_type.unit_strindex]],
    "samples": [[[name(i) for i in d.stack_table[s.stack_index].location_indices],
                 list(s.values)] for s in profile.samples],
    "pids": [d.attribute_table[i].value.int_value for s in profile.samples
             for i in s.attribute_indices
             if text[d.attribute_table[i].key_strindex] == "process.pid"],
    "unknown": data.ByteSize() - len(open(sys.argv[1], "rb").read())}))
"""
    done = run(python, "-c", program, written(recording, "app.otlp"), status=None)
    if done.returncode == 77:
        pytest.skip("opentelemetry-proto is not here")
    got = json.loads(done.stdout)
    assert got["type"] == ["cpu", "nanoseconds"] and got["unknown"] == 0
    assert sorted(got["samples"]) == [[["leaf", "main"], [5 * MS]], [["main"], [2 * MS]]]
    assert got["pids"] == [10, 10]


# --- Firefox Profiler -----------------------------------------------------------------------------

def ask_the_profiler(client, path, folder, *question):
    """The answer for the first thread. The client's server is started here: the client itself
    gives up after half a second."""
    env = {**os.environ, "PROFILER_CLI_SESSION_DIR": str(folder)}
    server = subprocess.Popen([client, "--daemon", path, "--session", "one"], env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = folder / "one.log"
    deadline = time.monotonic() + TIMEOUT
    try:    # a client that asks too early removes the session
        while not (log.exists() and "loaded successfully" in log.read_text()):
            assert time.monotonic() < deadline and server.poll() is None, "no session"
            time.sleep(0.2)
        return json.loads(run(client, *question, "--json", "--session", "one", env=env))
    finally:
        server.terminate()
        server.wait(TIMEOUT)


@pytest.mark.parametrize("name", ["app.firefox.json.gz", "app.folded", "app.perf.txt"])
def test_the_firefox_profiler_shows_shares(recording, tmp_path, name):
    client = MODULES / ".bin" / "profiler-cli"
    need("node", client)
    path = recording.parent / name
    counts = not name.endswith("gz")    # of samples: it reads no other weights from text
    weight = ["--weight=samples"] if name.endswith("folded") else []
    preport("-o", path, *weight, recording, symbols=())
    shares = {row["name"]: round(row["selfPercentage"], 1)
              for row in ask_the_profiler(client, path, tmp_path, "thread", "functions")[
                  "functions"]}
    want = {"leaf": 50.0, "main": 50.0} if counts else {"leaf": 71.4, "main": 28.6}
    assert {key: shares[key] for key in want} == want


@pytest.fixture
def waiting(tmp_path):
    """A thread that waits for 100 ms of 114."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.sample(2 * MS, 10, MS, 0x1010)
    for time, misc in ((13, 1 << 13), (113, 0)):
        it.switch(time * MS, 10, 10, misc)
    it.sample(116 * MS, 10, MS, 0x1010)
    (tmp_path / "perf.data").write_bytes(it.file())
    return tmp_path / "perf.data"


def test_the_firefox_profiler_shows_a_timeline(waiting, tmp_path):
    client = MODULES / ".bin" / "profiler-cli"
    need("node", client)
    rows = ask_the_profiler(client, written(waiting, "app.trace.json.gz"), tmp_path, "thread",
                            "markers")["byType"]
    longest = {row["markerName"]: row["durationStats"]["max"] for row in rows if row["isInterval"]}
    assert longest["blocked"] == pytest.approx(100, abs=1e-3)
    assert set(longest) == {"blocked", "running"}
    assert {row["markerName"]: row["count"] for row in rows}["cpu-clock"] == 2


# --- speedscope -----------------------------------------------------------------------------------

def test_speedscopes_schema(recording):
    need(MODULES / "speedscope")
    import jsonschema
    schema = json.loads((MODULES / "speedscope/dist/release/file-format-schema.json").read_text())
    jsonschema.validate(json.loads(written(recording, "app.speedscope.json").read_text()), schema)


def rows_of_speedscope(path, tmp_path, wanted):
    """The text of its list of functions, which has the word."""
    page = MODULES / "speedscope/dist/release/index.html"
    need("chromium", page)
    name = path.name
    script = tmp_path / "load.js"
    data = base64.b64encode(path.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(data)})")
    rows = text = ""
    for _ in range(4):      # its list stays empty if it is drawn before it is measured
        text = run("chromium", "--headless", "--no-sandbox", "--use-gl=angle",
                   "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                   "--window-size=1400,800", f"--user-data-dir={tmp_path}/profile",
                   "--virtual-time-budget=30000", "--dump-dom",
                   f"file://{page}#localProfilePath={script}&view=sandwich")
        rows = " ".join(re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.S).split())
        if wanted in rows:
            break
    return rows


@pytest.mark.parametrize("name", ["app.speedscope.json", "app.speedscope.json.gz", "app.pb.gz",
                                  "app.callgrind", "app.folded", "app.collapsedstack.txt"])
def test_speedscope_shows_shares(recording, tmp_path, name):
    rows = rows_of_speedscope(written(recording, name), tmp_path, "leaf")
    assert re.search(r"\(71%\) \S+ \(71%\) leaf", rows), rows[-500:]
    assert re.search(r"\(100%\) \S+ \(29%\) main", rows), rows[-500:]


def test_speedscope_shows_a_timeline_and_text(waiting, tmp_path):
    rows = rows_of_speedscope(written(waiting, "app.trace.json.gz"), tmp_path, "blocked")
    assert re.search(r"100\.00ms \(88%\) blocked 14\.00ms \(12%\) \S+ \(12%\) running", rows), rows
    # the time to the neighbors of a sample is its own there
    rows = rows_of_speedscope(written(waiting, "app.linux-perf.txt"), tmp_path, "100%")
    assert re.search(r"114\.00ms \(100%\) 114\.00ms \(100%\) \S+ \(/bin/app\)", rows), rows


# --- callgrind ------------------------------------------------------------------------------------

def test_callgrind_annotate_shows_totals(recording):
    need("callgrind_annotate")
    path = written(recording, "callgrind.out.app")
    out = run("callgrind_annotate", path)
    assert re.search(r"7,000,000 .*PROGRAM TOTALS", out)
    assert re.search(r"5,000,000 \(71\.43%\) .*:leaf \[", out)
    inclusive = run("callgrind_annotate", "--inclusive=yes", path)
    assert re.search(r"7,000,000 \(100\.0%\) .*:main \[", inclusive)


def test_kcachegrind_shows_the_calls(recording, tmp_path):
    """Its window has the name of the file; a tip would hide the list."""
    need("kcachegrind", "xvfb-run", "dbus-run-session", "xdotool", "import")
    (tmp_path / "kcachegrindrc").write_text("[TipOfDay]\nRunOnStart=false\n")
    show = """
        kcachegrind "$0" & shown=$!
        for i in 1 2 3 4 5 6 7 8 9 10; do
            sleep 1
            xdotool search --name "callgrind.out.app" getwindowname %@ && break
        done
        sleep 1
        import -window root "$1"
        kill $shown"""
    path = written(recording, "callgrind.out.app")
    out = run("xvfb-run", "-a", "dbus-run-session", "sh", "-c", show, path, tmp_path / "x.png",
              status=None, env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}).stdout
    assert "callgrind.out.app — KCachegrind" in out and shades(tmp_path / "x.png") > 20


# --- the page and the picture ---------------------------------------------------------------------

@pytest.mark.parametrize("name", ["app.html", "app.svg"])
def test_chromium_opens_the_pictures(recording, tmp_path, name):
    need("chromium")
    path = written(recording, name)
    text = run("chromium", "--headless", "--no-sandbox", "--disable-gpu",
               f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=10000",
               "--dump-dom", f"file://{path}")
    assert ('data-ready="1"' in text) if name.endswith("html") else (
        "leaf (5000000, 71.43 %)" in text and "parsererror" not in text)


def shades(png):
    """How many different bytes the rows of a picture have."""
    data, at, packed = png.read_bytes(), 8, b""
    assert data.startswith(b"\x89PNG")
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        packed += data[at + 8:at + 8 + size] if data[at + 4:at + 8] == b"IDAT" else b""
        at += size + 12
    return len(set(zlib.decompress(packed)))


def test_pictures_for_review(recording, tmp_path):
    need("chromium")
    run(ROOT / "scripts" / "pictures", TOOLS, tmp_path, recording, recording)
    found = {path.stem: shades(path) for path in tmp_path.glob("*.png")}
    assert set(found) == {"light", "dark", "readme", "icicle", "callers", "sandwich", "time",
                          "table", "search", "narrow", "difference", "static"}
    assert min(found.values()) > 40, found
    assert (tmp_path / "light.png").read_bytes() != (tmp_path / "dark.png").read_bytes()
    assert "leaf" in (tmp_path / "table.txt").read_text()
