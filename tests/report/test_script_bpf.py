"""preport -f script of the event bpf-output: what a BPF program wrote, as perf script shows it."""
import re
import shutil
import subprocess

import pytest

import perf_oracle
from conftest import TIMEOUT
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from profiles import preport

pytestmark = pytest.mark.sanitize
FIELDS = "IP|TID|TIME|RAW|PERIOD|IDENTIFIER"
WRITTEN = [b"\5\0\0\0Hello\0\0\0", b"ABCDEFG\0" + bytes(4), b"ABCDEFGH" * 5 + bytes(4), bytes(4),
           b"\0Hi\0" + bytes(8), b"ABC\n" + bytes(8), b"A\0\0B", b"A\0\0\0", b"\x7f~ \0", b"AB  "]


def write(path, *written, chain=False):
    event = attr(FIELDS + ("|CALLCHAIN" if chain else ""), type=1, config=10, sample_period=1)
    more = {"callchain": [0xfffffffffffffe00, 0x1010]} if chain else {}
    records = [sample(event, misc=2, pid=10, tid=10, time=10**9 + i * 1000, ip=0x1010,
                      identifier=1, period=9, raw=data, **more)
               for i, data in enumerate(written)]
    path.write_bytes(File(attrs=[(event, [1])], records=records, features={
        12: f.event_desc([(event, "bpf-output", [1])], 136)}).build())
    return path


def text(path, *options, like="6.1"):
    return preport("-f", "script", "--compat", like, *options, path).decode()


def test_the_bytes_are_below_the_place(tmp_path):
    path = write(tmp_path / "x", b"ABCDEFG\0" + bytes(4),
                 b"\xe6\x97\xa5\xe2\x80\xae\xaa\x1b" + bytes(4))
    head = "             :10    10     1.00000%d:          9 bpf-output: "
    place = "             1010 [unknown] ([unknown])\n"
    first = ("      BPF output: 0000: 41 42 43 44 45 46 47 00  ABCDEFG.\n"
             "                  0008: 00 00 00 00              ....    \n"
             '      BPF string: "ABCDEFG"\n\n')
    second = ("      BPF output: 0000: e6 97 a5 e2 80 ae aa 1b  ........\n"
              "                  0008: 00 00 00 00              ....    \n\n")
    assert text(path) == head % 0 + place + first + head % 1 + place + second
    assert text(path, "-F-bpf-output") == head % 0 + place + head % 1 + place
    assert text(path, "-F", "event,bpf-output") == "".join(
        "bpf-output: \n" + lines for lines in (first, second))
    assert "BPF" not in text(path, "--layout=stack") + text(path, "-F", "comm,ip")


@pytest.mark.parametrize("written, shown", [
    (b"\xc3\xa9\xc3\xa9" + bytes(4), "éé"), (b"\xa0\xff\0\0", "??")])
def test_a_string_is_text(tmp_path, written, shown):
    assert f'BPF string: "{shown}"\n' in text(write(tmp_path / "x", written))


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
@pytest.mark.parametrize("chain", [False, True])
def test_perf_shows_the_same(tmp_path, chain):
    numbers = re.match(r"(\d+)\.(\d+)", perf_oracle.version("perf")).groups()
    like = "6.12" if tuple(map(int, numbers)) >= (6, 12) else "6.1"
    path = write(tmp_path / "x", *WRITTEN, chain=chain)
    shown = subprocess.run(["perf", "script", "-i", path], capture_output=True, text=True,
                           check=True, timeout=TIMEOUT).stdout
    assert shown.count("BPF output:") == len(WRITTEN) and shown == text(path, like=like)
