"""The text of tracepoints in -f script: that of their print formats, as the kernel has it."""
import shutil
import struct
import subprocess

import pytest

from conftest import TIMEOUT, fixture_files
from known_recording import USER
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.tracing import Format, common, tracing_data
from profiles import preport

FIELDS = [("int n", 8, 4, 1), ("u64 mask", 16, 8, 0), ("char name[8]", 24, 8, 0),
          ("void * at", 32, 8, 0), ("u8 mac[4]", 40, 4, 0), ("s16 many[2]", 44, 4, 1),
          ("__data_loc char[] path", 48, 4, 0), ("u8 v6[16]", 52, 16, 0)]
SOCKETS = [("u8 v4[16]", 8, 16, 0), ("u8 v6[28]", 24, 28, 0), ("u8 none[4]", 52, 4, 0),
           ("u8 id[16]", 56, 16, 0), ("u8 short_v4[6]", 72, 6, 0), ("u8 mac[6]", 78, 6, 0)]
SOCKETS_BODY = (struct.pack("<H", 2) + struct.pack(">H", 8080) + bytes([192, 168, 0, 1]) +
                bytes(8) + struct.pack("<H", 10) + struct.pack(">HI", 443, 0) + b"\x20\x01" +
                bytes(13) + b"\x01" + bytes(4) + bytes(4) + bytes(range(0xf0, 0x100)) +
                struct.pack("<H", 2) + bytes(4) + bytes(range(0xa0, 0xa6)))
BODY = (struct.pack("<iIQ8sQ4B2h", -5, 0, 6, b"ab", 0xabc, 192, 168, 0, 1, -1, 2) +
        struct.pack("<I", 5 << 16 | 68) + b"\x20\x01" + bytes(13) + b"\x01" + b"/tmp\0")
NAMED = ("n=-5 mask=6 name=ab at=0xabc mac=192,168,0,1, many=-1,2, path=/tmp "
         "v6=32,1,0,0,0,0,0,0,0,0,0,0,0,0,0,1,")


def recorded(tmp_path, *formats, fields=FIELDS, body=BODY):
    """A recording with a sample of each print format."""
    events = [attr("IP|TID|TIME|RAW|IDENTIFIER", type=2, config=300 + i, sample_period=1)
              for i in range(len(formats))]
    records = [sample(event, misc=USER, pid=10, tid=10, time=10**9 + i, ip=0x1010,
                      identifier=1 + i, raw=common(300 + i, 10) + body)
               for i, event in enumerate(events)]
    path = tmp_path / "perf.data"
    path.write_bytes(File(
        attrs=[(event, [1 + i]) for i, event in enumerate(events)], records=records, features={
            1: tracing_data({"sys": [Format(f"e{i}", 300 + i, fields, print_fmt=text)
                                     for i, text in enumerate(formats)]}),
            12: f.event_desc([(event, f"sys:e{i}", [1 + i])
                              for i, event in enumerate(events)], 136)}).build())
    return path


def printed(tmp_path, *formats, **of):
    """The lines that preport prints, one for a sample of each print format."""
    path = recorded(tmp_path, *formats, **of)
    out = preport("-f", "script", "-F", "trace", path).decode("utf-8", "replace")
    return [line.strip(" ") for line in out.splitlines()]


KNOWN = [
    ('""', ""),
    ('"n=%d name=%s at=%p", REC->n, REC->name, REC->at', "n=-5 name=ab at=0xabc"),
    ('"plain %% text"', "plain % text"),
    ('"one " "text: %s", __get_str(path)', "one text: /tmp"),
    ('"%x %lx %hd %hhu %#x %08lx", REC->n, REC->n, REC->n, REC->n, REC->mask, REC->mask',
     "fffffffb fffffffffffffffb -5 251 0x6 00000006"),
    (r'"[%5d|%-5d|%+d|%.3d|%*d|%c]", 7, 7, 7, 7, 4, 7, 65',
     "[    7|7    |+7|007|   7|A]"),
    ('"[%5s|%-5s|%.1s]", REC->name, REC->name, REC->name', "[   ab|ab   |a]"),
    ('"%s", __print_flags(REC->mask, "|", {1U << 0, "A"}, {(1U << 1), "B"})', "B|0x4"),
    ('"%s", __print_flags(REC->mask & 1, "|", { 1, "A" })', ""),
    ('"%s %s", __print_symbolic(REC->n, { -5, "five" }), __print_symbolic(7, { 1, "x" })',
     "five 0x7"),
    ('"%s", __print_symbolic(REC->n, { SOME_NAME, "x" }, { 0, ((void *)0) })',
     "0xfffffffffffffffb"),
    ('"%s", REC->mask == 6 && !(REC->n > 0) ? "yes" : "no"', "yes"),
    ('"%s", 1 ? 0 ? "a" : "b" : "c"', "b"),
    ('"%d %d %d", 2 + 3 * 4, (2 + 3) * 4 % 7, 1 | 2 ^ 3 & 6', "14 6 1"),
    ('"%d %d", 7 - 2 - 1, 64 >> 2 >> 1', "4 8"),
    ('"%u %d %d", (u8)REC->n, (unsigned short)REC->n, (int)(unsigned char) 200',
     "251 65531 200"),
    ('"%d %d", REC->n < 3, (unsigned long)REC->n < 3', "1 0"),
    ('"%d", ~REC->n', "4"),
    ('"%d %d", REC->many[0], REC->many[0 + 1]', "-1 2"),
    ('"%s %s", __print_hex(REC->mac, 3), __print_hex_str(__get_dynamic_array(mac), 2)',
     "c0 a8 00 c0a8"),
    ('"%s", __print_array(REC->many, 2, 2)', "{0xffff,0x2}"),
    ('"%pI4 %pI6c %pS %ps", REC->mac, REC->v6, REC->at, (void *)REC->at',
     "192.168.0.1 2001::1 0xabc 0xabc"),
    ('"%d", __builtin_expect(!!(REC->n), 0)', "1"),
    (r'"a\tb\nc \"q\""', 'a?b?c "q"'),
]


@pytest.mark.sanitize
def test_print_formats_are_followed(tmp_path):
    got = printed(tmp_path, *(text for text, _ in KNOWN))
    assert got == [want for _, want in KNOWN]


ADDRESSES = [
    ('"%pISpc %pISpc", REC->v4, REC->v6', "192.168.0.1:8080 [2001::1]:443"),
    ('"<%pISpc>", REC->none', "<>"),
    ('"%pU %pM", REC->id, REC->mac', "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff a0:a1:a2:a3:a4:a5"),
]


@pytest.mark.sanitize
def test_addresses_of_sockets_and_ids(tmp_path):
    of = {"fields": SOCKETS, "body": SOCKETS_BODY}
    formats = [text for text, _ in ADDRESSES]
    assert printed(tmp_path, *formats, **of) == [want for _, want in ADDRESSES]
    short, = printed(tmp_path, '"%pISpc", REC->short_v4', **of)
    assert short.startswith("v4=2,0,31,144,192,168,0,1,")
    if not shutil.which("perf"):
        return
    perf = subprocess.run(["perf", "script", "-F", "trace", "-i",
                           recorded(tmp_path, *formats, **of)], text=True, capture_output=True,
                          timeout=TIMEOUT).stdout
    assert [line.strip() for line in perf.splitlines()] == [want for _, want in ADDRESSES]


UNKNOWN = [
    '"%d", jiffies - REC->n', '"%d", REC->missing', '"%s", REC->n', '"%d", REC->name',
    '"%d", REC->n / 0', '"%d", REC->n << 64', '"%d", REC->many[2]', '"%d", REC->many[-1]', '"%d"',
    '"%pU", REC->mac', '"%d', '"%q", 1', '"%5000d", 1', '"%s", __print_hex(REC->mac, 5)',
    '"%s", __print_flags(REC->n, "|")', '"%s", __get_bitmask(path)', '"%d", (6', '"%d", REC->n[',
    "REC->n", "", '"%*d", -1, 2', '"%s", __print_hex(REC->mac, -1)', '"%d", 0x', '"\\', '"%',
    '"%d", sizeof(int)', '"%d", (foo)REC->n', '"%s", __print_array(REC->many, 2, 9)',
    '"%d", ' + "(" * 5000 + "1" + ")" * 5000, '"%d", ' + "-" * 5000 + "1",
    '"%d", REC->n' + " + REC->n" * 5000, '"%d", ' + "1 ? " * 5000,
    '"%s", __print_symbolic(1' + ', { REC->n, "a" }' * 20000 + ")",
    '"' + "%1000d" * 20 + '"' + ", 1" * 20,
    '"%d", ' + " + ".join(f"REC->f{i}" for i in range(100)),
    '"' + "%d" * 40 + '"' + (", " + " + ".join(["REC->n"] * 150)) * 40,     # too long for a sample
]


@pytest.mark.sanitize
def test_fields_have_their_names_where_the_format_is_not_known(tmp_path):
    """One of what the kernel alone has, of fields that are not there, or damaged."""
    got = printed(tmp_path, *UNKNOWN)
    assert [(text[:50], line) for text, line in zip(UNKNOWN, got, strict=True)
            if line != NAMED] == []


FIELDS_OF_BOTH = "comm,time,event,trace"


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
def test_the_words_are_perfs():
    equal = 0
    for file in fixture_files():
        if file.is_directory or not file.name.startswith(("12-", "13-", "19-", "59-", "74-", "77-",
                                                          "78-", "98-")):
            continue
        want = subprocess.run(["perf", "script", "-F", FIELDS_OF_BOTH, "-i", file.path], text=True,
                              capture_output=True, timeout=TIMEOUT, errors="replace").stdout
        got = preport("-f", "script", "-F", FIELDS_OF_BOTH, file.path).decode()
        assert got.splitlines() == want.splitlines(), file.name
        equal += want.count("\n")
    assert equal > 500
