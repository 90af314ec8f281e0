"""record/capture/ring.c and record/run/drain.c over buffers that tests/c fills like the kernel:
records that wrap, overwritten records, snapshots, a buffer that never becomes empty, and the
backlog."""
import os
import shlex
import subprocess

import pytest

from conftest import ROOT


@pytest.mark.parametrize("program, sources", [
    ("ring_content", ["record/capture/ring"]),
    ("drain_turns", ["record/capture/ring", "record/run/drain", "record/run/backlog"]),
    ("background_order", ["record/capture/ring", "record/run/drain", "record/run/backlog",
                          "record/run/background_synth", "tools/process/tool_thread"]),
])
def test_content_of_a_buffer(tmp_path, program, sources):
    target = tmp_path / program
    done = subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-std=gnu11", "-g", "-Wall",
                           "-Wextra", "-Werror", "-D_GNU_SOURCE", "-fsanitize=address,undefined",
                           "-fno-sanitize-recover=undefined", f"-I{ROOT}/record", f"-I{ROOT}/tools",
                           f"-I{ROOT}/libdecode/include", "-o", target,
                           ROOT / f"tests/c/{program}.c", "-pthread",
                           *(ROOT / f"{source}.c" for source in sources)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=30)
    assert (done.returncode, done.stdout) == (0, "")
