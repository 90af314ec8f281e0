"""record/ring.c over buffers that tests/c/ring_content.c fills as the kernel does: records that wrap, lost ends, snapshots."""
import os
import shlex
import subprocess

from conftest import ROOT


def test_what_lies_in_a_buffer(tmp_path):
    target = tmp_path / "ring_content"
    done = subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror",
                           "-D_GNU_SOURCE", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                           f"-I{ROOT}/record", f"-I{ROOT}/libdecode/include", "-o", target,
                           ROOT / "tests/c/ring_content.c", ROOT / "record/ring.c"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "")
