"""Messages on stderr: names from untrusted input cannot control the reader's terminal."""
import re
import subprocess
import unicodedata

import pytest

from conftest import FIXTURES, TIMEOUT, TOOLS

PLAIN = FIXTURES / "perf" / "02-callgraph-fp.data"
# Set the title, clear the screen (7 bits, 8 bits, as UTF-8), reorder, go back, end the line,
# delete, shift out.
ATTACK = b"\x1b]0;title\x07\x1b[2J\x9b2J\xc2\x9b2J\xe2\x80\xaeelif\r\x08\n\x7f\x0e"
HARMLESS = "?]0;title??[2J?2J?2J?elif?????"
TOOLS_WITH_INPUT = ["pdecode", "pencode", "prepair", "preport", "pquery"]

sanitize = pytest.mark.sanitize


def run(tool, *args, code=None, **options):
    """Checks the bytes of stderr, and returns them as text."""
    if not (TOOLS / tool).exists():
        pytest.skip(f"no {tool} here")
    done = subprocess.run([str(TOOLS / tool), *args], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=TIMEOUT, check=False,
                          **{"stdin": subprocess.DEVNULL, **options})
    assert code is None or done.returncode == code, done.stderr
    text = done.stderr.decode("utf-8")
    assert all(line.isprintable() for line in text.split("\n")), text
    return text


@sanitize
@pytest.mark.parametrize("tool", TOOLS_WITH_INPUT)
def test_input_names(tool, tmp_path):
    name = ATTACK + b".data"
    assert f"/{HARMLESS}.data: No such file" in run(tool, bytes(tmp_path) + b"/" + name, code=3)
    (tmp_path / name.decode("utf-8", "surrogateescape")).write_bytes(
        b"no such thing, says the program that looks at it")
    assert f"{HARMLESS}.data:" in run(tool, bytes(tmp_path) + b"/" + name, "-o", tmp_path / "out",
                                      code=3)


@sanitize
@pytest.mark.parametrize("tool", TOOLS_WITH_INPUT + ["precord"])
def test_options_and_outputs(tool, tmp_path):
    assert f"unknown option '--{HARMLESS[:10]}" in run(tool, b"--" + ATTACK, code=2)
    missing = bytes(tmp_path) + b"/" + ATTACK + b"/out"
    command = (["-e", "dummy", "-o", missing, "--", "true"] if tool == "precord"
               else ["-o", missing, PLAIN])
    if tool == "pencode":
        command[-1] = tmp_path / "in.json"
        command[-1].write_bytes(subprocess.run([TOOLS / "pdecode", PLAIN], capture_output=True,
                                               check=True).stdout)
    assert f"{HARMLESS}/out: No such file" in run(tool, *command)


@sanitize
def test_keys_of_json(tmp_path):
    (tmp_path / "in.json").write_bytes(
        b'{"kind":"record","type":"COMM","\\u001b[2J\\u009b2J\\u202e":1}\n')
    assert "?[2J?2J?" in run("pencode", tmp_path / "in.json", "-o", tmp_path / "out", code=3)


def test_names_of_filters():
    assert f"'{HARMLESS}'" in run("pdecode", "-e", ATTACK, PLAIN, code=0)


@pytest.mark.parametrize("args", [["-e", ATTACK], ["-e", b"sched:" + ATTACK], ["-p", b"^" + ATTACK],
                                  ["-u", ATTACK], ["-C", ATTACK],
                                  ["--control", b"fifo:" + ATTACK], ["-k", ATTACK],
                                  ["-e", b"dummy/name=" + ATTACK + b"/x"]])
def test_arguments_of_precord(args, tmp_path):
    assert HARMLESS[12:] in run("precord", *args, "-o", tmp_path / "out", "--", "true")


def test_programs_and_outputs_of_precord(tmp_path):
    assert HARMLESS in run("precord", "-e", "dummy", "-o", tmp_path / "out", "--", ATTACK)
    assert f" MB {HARMLESS} (0 samples) ]" in run("precord", "-e", "dummy:u", "-o", ATTACK, "--",
                                                  "true", cwd=tmp_path, code=0)


def printable(character):
    """Printable by Python's tables, and no control of bidirectional text."""
    if unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs"):
        return "?"
    is_control = unicodedata.bidirectional(character) in ("LRE", "LRO", "RLE", "RLO", "PDF", "LRI",
                                                          "RLI", "FSI", "PDI")
    return "?" if is_control or character in "\u200e\u200f\u061c" else character


@pytest.mark.parametrize("first", [1, 0x10000, 0x1f000, 0xe0000, 0x10f000])
def test_every_character(first):
    """Text in all languages is printed unchanged: all characters, and some of many letters."""
    last = 0x10000 if first == 1 else first + 0x1000
    chosen = [chr(code) for code in range(first, last) if code % 16 == 0 or code < 0x300
              or unicodedata.category(chr(code)) not in ("Lo", "Co", "Cn", "Cs")]
    for start in range(0, len(chosen), 200):
        text = "".join(chosen[start:start + 200]).replace("/", "")
        done = subprocess.run([TOOLS / "pdecode", "-e", "x", text.encode("utf-8", "surrogatepass")],
                              capture_output=True, check=False, timeout=TIMEOUT)
        # no byte of a lone surrogate is valid UTF-8
        expected = "".join("???" if unicodedata.category(c) == "Cs" else printable(c) for c in text)
        assert re.fullmatch(f"pdecode: {re.escape(expected)}: [A-Z].*\n", done.stderr.decode())


@pytest.mark.parametrize("tool, args", [
    ("pdecode", ["NAME"]), ("pdecode", ["-e", "NAME", PLAIN]), ("pencode", ["NAME"]),
    ("prepair", ["-o", "out/NAME", PLAIN]), ("preport", ["NAME"]),
    ("pdecode", ["-f", "NAME"]),
    *[("precord", ["-o", "out", *options, "--", "true"]) for options in (
        ["-e", "NAME"], ["-e", "sched:NAME"], ["-p", "NAME"], ["-u", "NAME"],
        ["--control", "fifo:NAME"], ["-e", "dummy", "-G", "NAME"], ["-k", "NAME"])],
    ("precord", ["-e", "dummy", "-o", "out", "--", "NAME"]),
], ids=lambda a: a if isinstance(a, str) else " ".join(map(str, a[:2])))
def test_long_names(tool, args, tmp_path):
    """A message is one line that a person can read: how a long name begins, and how it ends."""
    name = "\u20ac" * 9000
    text = run(tool, *[a.replace("NAME", name) if isinstance(a, str) else a for a in args],
               cwd=tmp_path)
    lines = [line for line in text.splitlines() if not line.startswith("Try '")]
    assert lines and len(lines) <= 2 and all(len(line.encode()) < 1000 for line in lines), text
    assert any("\u20ac ... " in line and "?" not in line.split(" ... ")[0] for line in lines), text


def test_bytes_that_are_not_utf8():
    for text in (b"\x80", b"\xc0\x9b", b"\xe0\x82\x9b", b"\xf0\x80\x82\x9b", b"\xf4\x90\x80\x80",
                 b"\xed\xa0\x80", b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98",
                 b"\xf8\x88\x80\x80\x80"):
        assert f"pdecode: a{'?' * len(text)}: " in run("pdecode", b"a" + text, code=3), text
        assert f"pdecode: {'?' * len(text)}b: " in run("pdecode", text + b"b", code=3), text
