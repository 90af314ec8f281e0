"""Each allocation of a tool in turn finds no memory. The tool ends with a message and a status that
says so, or, where it can do without, with the same output."""
import os
import subprocess

import pytest

from conftest import FIXTURES, TOOLS

PERF = FIXTURES / "perf"
CHAINS, STACKS = PERF / "02-callgraph-fp.data", PERF / "03-callgraph-dwarf.data"
COMMANDS = {
    "jsonl": ["pdecode", "-f", "jsonl", "-j", "1", PERF / "16-zstd.data"],
    "threads": ["pdecode", "-j", "2", CHAINS],
    "stats": ["pdecode", "-f", "stats", PERF / "12-tracepoints.data"],
    "pipe": ["pdecode", "-f", "jsonl", "--resolve", "--sort", "time", PERF / "18-pipe.data"],
    "symbols": ["pdecode", "-f", "jsonl", "-j", "1", "--symbols", "--lines", CHAINS],
    "arrow": ["pdecode", "-f", "arrow", "--table", "files", "-j", "1", CHAINS],
    "folded": ["preport", "-f", "folded", "-j", "1", "-i", STACKS],
    "firefox": ["preport", "-f", "firefox", "-j", "1", "-i", CHAINS],
    "callgrind": ["preport", "-f", "callgrind", "-j", "1", "-i", CHAINS],
    "difference": ["preport", "-j", "1", "--base", CHAINS, STACKS],
    "wall": ["preport", "-j", "1", "--wall", "-i", PERF / "05-switch-events.data"],
    "rows": ["pquery", "-f", "csv", "select * from samples limit 3", CHAINS],
    "heading": ["pquery", "select comm, count(*) from samples group by comm", CHAINS],
    "repair": ["prepair", "-o", "-", CHAINS],
}


def run(refusing_malloc, command, refused, **more):
    return subprocess.run([TOOLS / command[0], *command[1:]], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env=dict(os.environ, LD_PRELOAD=str(refusing_malloc),
                                   REFUSED=str(refused), **more))


ENCODED = {
    "encode": [PERF / "43-multi-event.data"],
    "encode-lines": [PERF / "18-pipe.data", "-f", "jsonl"],
    "encode-compressed": [PERF / "16-zstd.data", "--blobs", "full"],
}


@pytest.fixture(params=[*COMMANDS, *ENCODED])
def command(request, run_pdecode, tmp_path):
    if request.param in COMMANDS:
        return COMMANDS[request.param]
    (tmp_path / "in.json").write_bytes(run_pdecode(ENCODED[request.param]).stdout)
    return ["pencode", "-o", "-", tmp_path / "in.json"]


@pytest.mark.long
def test_nothing_is_lost_without_a_word(refusing_malloc, command, tmp_path):
    count = tmp_path / "count"
    whole = run(refusing_malloc, command, 0, ALLOCATIONS=str(count))
    allocations = int.from_bytes(count.read_bytes(), "little")
    assert whole.returncode == 0 and allocations > 50
    failed = 0
    for refused in range(1, allocations + 1):
        done = run(refusing_malloc, command, refused)
        failed += done.returncode != 0
        if done.returncode == 0:
            assert done.stdout == whole.stdout, f"allocation {refused}"
        else:
            # a table has a line for what is left out
            assert 1 <= done.returncode <= 5 and (done.stderr or b"[small]" in done.stdout), \
                f"allocation {refused}: status {done.returncode}"
    assert failed > allocations / 3


def test_a_library_without_memory_is_no_wrong_input(refusing_malloc, run_pdecode, tmp_path):
    """json-c has no error for it. (Some of its own functions crash.)"""
    path = tmp_path / "in.json"
    path.write_bytes(run_pdecode([CHAINS]).stdout)
    words = {run(refusing_malloc, ["pencode", path, "-o", tmp_path / "out"], refused,
                 REFUSED_IN="libjson-c").stderr for refused in range(20, 1500, 41)}
    assert not any(b"success" in said for said in words)
    assert sum(b": out of memory" in said for said in words) > 3


BUSY = "int main(void) { for (volatile int i = 0; i < 30000000; i++) ; return 0; }"


@pytest.mark.parametrize("name", ["libelf", "libdw"])
def test_names_without_memory_are_not_taken_for_none(refusing_malloc, name, tmp_path):
    """Both report that as damage, or do without: no functions, lines or rows. (libdw ends the
    process in some places, and crashes in others.)"""
    data, program, count = (tmp_path / part for part in ("p.data", "program", "count"))
    subprocess.run(["cc", "-g", "-xc", "-", "-o", program], input=BUSY, text=True, check=True)
    made = subprocess.run([TOOLS / "precord", "-q", "-e", "cpu-clock:u", "--symbols=off", "-o",
                           data, "--", program], stderr=subprocess.PIPE, text=True)
    if made.returncode:
        pytest.skip(f"can't record: {made.stderr}")
    command = ["pdecode", "-f", "jsonl", "-j", "1", "--symbols", "--lines", data]
    whole = run(refusing_malloc, command, 0, ALLOCATIONS=str(count), REFUSED_IN=name)
    allocations = int.from_bytes(count.read_bytes(), "little")
    if not allocations:
        pytest.skip(f"{name} is part of the program here")
    told = 0
    for refused in [1, 2, *range(3, allocations + 1, 3)]:
        done = run(refusing_malloc, command, refused, REFUSED_IN=name)
        told += done.returncode == 1 and b"memory" in done.stderr
        assert done.returncode or done.stdout == whole.stdout, f"allocation {refused}"
    assert told


def test_a_directory_for_tables_is_not_opened_without_memory(refusing_malloc, tmp_path):
    """It took a path of NULL for its own."""
    command = ["pdecode", "-f", "parquet", "-o", tmp_path / "tables", CHAINS]
    for refused in range(1, 30):
        done = run(refusing_malloc, command, refused)
        assert 0 <= done.returncode <= 4
