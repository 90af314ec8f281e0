"""The fields of tracepoint samples: pdecode against libtraceevent, and against the expected results
of unusual formats.

libtraceevent reports the place and number of each field (tests/c/tracepoint_oracle.c). shown() has
the rules by which a field is shown as text, number, list or hex.

Environment:
  TRACEFS  where tracefs is mounted; default /sys/kernel/tracing
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, corpus_files, fixture_files
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample
from perfdata.tracing import Format, tracing_data
from perfdata.wire import fstr

TRACEFS = pathlib.Path(os.environ.get("TRACEFS") or "/sys/kernel/tracing")
MAGIC = b"\x17\x08\x44tracing"
HOSTNAME = 3  # its bit tells a reader the word size of the feature bitmap
ORDERS = {"<": "little", ">": "big"}
# Sizes that libtraceevent does not report; "long" is that of the machine.
ELEMENTS = {"unsigned int": 4, "u32": 4, "int": 4, "u16": 2, "u64": 8, "unsigned long": "long",
            "cpumask_t": "long"}


# ---- The oracle ----

@pytest.fixture(scope="session")
def oracle(tmp_path_factory):
    """Function: ask(machine, formats, raws) -> (answers to the formats, answers to the raws)."""
    compiler = shutil.which(os.environ.get("CC") or "cc")
    config = shutil.which("pkg-config")
    if not compiler or not config:
        pytest.skip("no C compiler or no pkg-config: the oracle can't be built")
    flags = subprocess.run([config, "--cflags", "--libs", "libtraceevent >= 1.5"],
                           capture_output=True, text=True)
    if flags.returncode:
        pytest.skip("no libtraceevent from 1.5 on: install Debian's libtraceevent-dev")
    program = tmp_path_factory.mktemp("oracle") / "oracle"
    source = ROOT / "tests" / "c" / "tracepoint_oracle.c"
    subprocess.run([compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-o",
                    program, source,
                    *flags.stdout.split()], check=True)

    def ask(machine, formats, raws):
        order, long_size = machine
        lines = [f"machine {ORDERS[order]} {long_size}"]
        lines += [f"format {system} {text.encode().hex()}" for system, text in formats]
        lines += [f"raw {id} {data}" for id, data in raws]
        done = subprocess.run([program], input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
                              text=True, check=True, timeout=120)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(formats) + len(raws)
        return answers[: len(formats)], answers[len(formats):]
    return ask


def signed(value, size):
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def split_type(field):
    """The words of the type without qualifiers, and whether it is a pointer."""
    text = re.sub(r"\[.*|\b(const|volatile|__data_loc|__rel_loc)\b", " ", field["type"])
    return text.replace("*", " ").split(), "*" in text


def numbers(field, machine, element):
    data = bytes.fromhex(field["data"])
    order = ORDERS[machine[0]]
    values = [int.from_bytes(data[i: i + element], order)
              for i in range(0, len(data) - element + 1, element)]
    assert values == field.get("elements", values), field
    return [signed(v, element) for v in values] if "signed" in field["flags"] else values


def shown(field, machine):
    """The expected JSON of the field, from libtraceevent's answer; a text is given as bytes."""
    words, pointer = split_type(field)
    many = "array" in field["flags"] or "dynamic" in field["flags"]
    if many and not pointer and words == ["char"]:
        return bytes.fromhex(field["data"]).split(b"\0")[0]
    if many:
        element = field["elem_size"] if "array" in field["flags"] else 0
        element = element or ELEMENTS.get(" ".join(words), 0)
        element = machine[1] if element == "long" else element
        if element not in (1, 2, 4, 8):
            return field["data"]
        values = numbers(field, machine, element)
        return [hex(v) for v in values] if pointer else values
    if "number" not in field or field["size"] not in (1, 2, 4, 8):
        return field["data"]
    if pointer:
        return hex(field["number"])
    return signed(field["number"], field["size"]) if "signed" in field["flags"] else field["number"]


def text_of(fields, name):
    """The exact bytes of a text in JSON, which has hex of those that aren't UTF-8."""
    if name + "_hex" not in fields:
        return fields[name].encode()
    data = bytes.fromhex(fields[name + "_hex"])
    with pytest.raises(UnicodeDecodeError):
        data.decode()
    return data


def differences(answer, fields, machine):
    """[(name, libtraceevent's, pdecode's)]. pdecode shows a last array without a length to the end
    of the data."""
    found, names = [], set()
    for field in answer["fields"]:
        name = field["name"]
        names |= {name, name + "_hex"}
        if not field["size"]:
            continue
        expected = None if "missing" in field else shown(field, machine)
        actual = (text_of(fields, name) if isinstance(expected, bytes) and name in fields
                  else fields.get(name))
        if actual != expected:
            found.append((name, expected, actual))
    return found + [(name, None, fields[name]) for name in fields if name not in names]


def samples_of(document):
    """(event id, raw data in hex, tracepoint or None) of each tracepoint sample."""
    attrs = [a["attr"] for a in document["attrs"]]
    for record in document["records"]:
        if record["type"] != "SAMPLE" or "raw" not in record or "attr_index" not in record:
            continue
        attr = attrs[record["attr_index"]]
        if attr["type"] == "TRACEPOINT":
            yield int(attr["config"], 0), record["raw"]["data"], record["raw"].get("tracepoint")


def compare(oracle, document):
    """Returns the number of equal samples, or fails with all differences."""
    tracing = document["features"]["TRACING_DATA"]
    machine = (">" if tracing["byte_order"] in (1, "big") else "<", tracing["long_size"])
    formats = [("ftrace", text) for text in tracing["ftrace_formats"]]
    formats += [(system["name"], text) for system in tracing["systems"]
                for text in system["formats"]]
    samples = list(samples_of(document))
    events, answers = oracle(machine, formats, [(id, data) for id, data, _ in samples])
    names = {event["id"]: (event["system"], event["name"]) for event in reversed(events)}
    wrong = []
    for (id, data, tracepoint), answer in zip(samples, answers):
        if id not in names:
            assert tracepoint is None
            continue
        assert (tracepoint
                is not None), f"the file has the format of event {id}, the sample was not decoded"
        assert (tracepoint["system"], tracepoint["name"]) == names[id]
        assert list(f["name"] for f in answer["fields"] if f["name"] in tracepoint["fields"]) == \
            [name for name in tracepoint["fields"] if name in {f["name"] for f in answer["fields"]}]
        wrong += [(names[id], data, *d) for d in differences(answer, tracepoint["fields"], machine)]
    assert not wrong, wrong[:10]
    return sum(tracepoint is not None for _, _, tracepoint in samples)


# ---- Files that were recorded ----

def with_tracing_data():
    files = [file for file in fixture_files() + corpus_files() if not file.is_directory]
    return [pytest.param(file, id=file.label) for file in files if MAGIC in file.path.read_bytes()]


@pytest.mark.parametrize("file", with_tracing_data())
def test_recorded_samples(file, decode, oracle):
    compare(oracle, decode(file.path))


# ---- Every event of this kernel ----

@pytest.fixture(scope="session")
def kernel_formats():
    """[(system, name, text)] of all events in tracefs."""
    paths = sorted(TRACEFS.glob("events/*/*/format")) if os.access(TRACEFS, os.R_OK) else []
    if not paths:
        pytest.skip(
            f"no events at {TRACEFS}: mount tracefs and be root, or set TRACEFS to where it is")
    return [(path.parent.parent.name, path.parent.name, path.read_text()) for path in paths]


class Text:
    """A format with a given text."""

    def __init__(self, text):
        self.body = text

    def text(self):
        return self.body


def raw_data(event, machine, source):
    """Random bytes for the fields, with valid places of dynamic fields, and texts in them."""
    order = ORDERS[machine[0]]
    data = bytearray(source.randbytes(max(f["offset"] + f["size"] for f in event["fields"])))
    for field in event["fields"]:
        if "dynamic" not in field["flags"]:
            continue
        piece = source.randbytes(8 * source.randrange(4))
        if split_type(field)[0] == ["char"]:
            piece = source.choice((b"", b"\0", b"ls\0", "gr\u00fcn\0".encode(), b"a\0hidden\0",
                                   piece))
        start = len(data)
        if "relative" in field["flags"]:
            start -= field["offset"] + field["size"]
        place = len(piece) << 16 | start
        data[field["offset"]: field["offset"] + 4] = place.to_bytes(4, order)
        data += piece
    return bytes(data)


def tracepoint_file(formats, samples, machine):
    """A file with the formats, {system: [texts]}, and samples (event id, raw data)."""
    order, long_size = machine
    ids = sorted({id for id, _ in samples})
    attr = {id: Attr(type=2, config=id, sample_type="IDENTIFIER|RAW", size=128) for id in ids}
    blob = tracing_data({system: [Text(text) for text in texts]
                         for system, texts in formats.items()}, order, long_size)
    return File(attrs=[(attr[id], [id]) for id in ids], features={1: blob, HOSTNAME: fstr("box")},
                order=order, long_size=long_size,
                records=[sample(attr[id], id=id, raw=data) for id, data in samples]).build(order)


@pytest.mark.parametrize("order", ORDERS, ids=ORDERS.values())
def test_every_event_of_this_kernel(order, kernel_formats, oracle, decode, tmp_path):
    machine = (order, 8)
    source = random.Random(1)
    events, _ = oracle(machine, [(system, text) for system, _, text in kernel_formats], [])
    by_system = {}
    for system, _, text in kernel_formats:
        by_system.setdefault(system, []).append(text)
    samples = [(event["id"], raw_data(event, machine, source)) for event in events]
    # data that end early
    samples += [(id, data[: source.randrange(len(data))]) for id, data in samples[::10]]
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file(by_system, samples, machine))
    assert compare(oracle, decode(path)) == len(samples)


# ---- Formats that no kernel at hand has ----

RAW = bytes(range(1, 37))  # its length needs no padding in a record


def little(data):
    return int.from_bytes(data, "little")


@pytest.mark.parametrize("line, expected", [
    # arrays: lengths as names, expressions and products; their elements
    ("char f[TASK_COMM_LEN];\toffset:8;\tsize:4;\tsigned:0;", "\t\n\x0b\x0c"),
    ("char f[sizeof(struct x *)];\toffset:8;\tsize:4;\tsigned:1;", "\t\n\x0b\x0c"),
    ("u8 f[LEN[3]+1];\toffset:8;\tsize:4;\tsigned:0;", [9, 10, 11, 12]),
    ("unsigned char f[2][2];\toffset:8;\tsize:4;\tsigned:0;", [9, 10, 11, 12]),
    ("const unsigned long f[2];\toffset:8;\tsize:16;\tsigned:0;",
     [little(RAW[8:16]), little(RAW[16:24])]),
    ("unsigned long f[2];\toffset:8;\tsize:8;\tsigned:0;", [little(RAW[8:12]), little(RAW[12:16])]),
    ("const char *const f[2];\toffset:8;\tsize:16;\tsigned:0;",
     [hex(little(RAW[8:16])), hex(little(RAW[16:24]))]),
    ("u32 f[];\toffset:28;\tsize:0;\tsigned:0;", [little(RAW[28:32]), little(RAW[32:36])]),
    # no brackets, but the size of an array
    ("u32 f;\toffset:8;\tsize:12;\tsigned:0;", [little(RAW[i: i + 4]) for i in (8, 12, 16)]),
    # no numbers
    ("struct in6_addr f;\toffset:8;\tsize:16;\tsigned:0;", RAW[8:24].hex()),
    ("guid_t f;\toffset:8;\tsize:16;\tsigned:0;", RAW[8:24].hex()),
    ("struct x f[2];\toffset:8;\tsize:8;\tsigned:0;", RAW[8:16].hex()),
    # pointers
    ("void (*f)(struct rcu_head *, int n[2]);\toffset:8;\tsize:8;\tsigned:0;",
     hex(little(RAW[8:16]))),
    ("struct file * f;\toffset:8;\tsize:8;\tsigned:1;", hex(little(RAW[8:16]))),
    # kernels before 2.6.33 write no `signed:`
    ("long f;\toffset:31;\tsize:1;", 32),
    ("unsigned f;\toffset:8;\tsize:2;", little(RAW[8:10])),
    # spelling
    (" int  f ;\toffset: 8 ;\tsize: 4 ;\tsigned: 1 ;\r", little(RAW[8:12])),
    ("int f;\tsize:4;\tnew:yes;\toffset:8;\tsigned:1;", little(RAW[8:12])),
    # beyond the data
    ("int f;\toffset:40;\tsize:4;\tsigned:1;", None),
    ("int f;\toffset:4294967295;\tsize:4294967295;\tsigned:1;", None),
    ("char f[64];\toffset:8;\tsize:64;\tsigned:1;", None),
    ("__data_loc char[] f;\toffset:8;\tsize:4;\tsigned:1;", None),
])
def test_odd_declaration(line, expected, decode, tmp_path):
    text = (f"name: odd\nID: 7\nformat:\n\tfield:{line}\n\n"
            'print fmt: "%d", REC->f\n\tfield:int not_one;\toffset:0;\tsize:4;\tsigned:1;\n')
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [text]}, [(7, RAW)], ("<", 8)))
    document = decode(path)
    assert next(samples_of(document))[2]["fields"] == ({} if expected is None else {"f": expected})
    assert document["errors"] == [] or expected is None


@pytest.mark.parametrize("order", ORDERS, ids=ORDERS.values())
@pytest.mark.parametrize("prefix, base", [("__data_loc", 0), ("__rel_loc", 12)])
@pytest.mark.parametrize("type, piece, expected", [
    ("char[]", b"one\0two", "one"),
    ("char[]", b"", ""),
    ("__u8[]", b"\1\xff", [1, 255]),
    ("s8[]", b"\1\xff", [1, -1]),
    ("unsigned long[]", bytes(7) + b"\2" + bytes(3), [(2, 2 << 56)]),
    ("cpumask_t", b"\1" + bytes(6) + b"\1", [((1 << 56) + 1, (1 << 56) + 1)]),
    ("struct x[]", b"\1\2\3", "010203"),
])
def test_dynamic_field(order, prefix, base, type, piece, expected, decode, tmp_path):
    sign = int(type == "s8[]")
    text = (f"name: odd\nID: 7\nformat:\n"
            f"\tfield:{prefix} {type} f;\toffset:8;\tsize:4;\tsigned:{sign};\n")
    data = bytes(8) + (len(piece) << 16 | 16 - base).to_bytes(4, ORDERS[order]) + bytes(4) + piece
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [text]}, [(7, data)], (order, 8)))
    if isinstance(expected, list) and isinstance(expected[0], tuple):
        expected = [pair[order == "<"] for pair in expected]
    assert next(samples_of(decode(path)))[2]["fields"] == {"f": expected}


GOOD = "\tfield:int good;\toffset:4;\tsize:4;\tsigned:1;\n"


@pytest.mark.parametrize("text", [
    f"ID: 7\nformat:\n\tfield:int bad;\toffset:x;\tsize:4;\tsigned:1;\n{GOOD}",
    f"ID: 7\nformat:\n\tfield:;\toffset:0;\tsize:4;\tsigned:1;\n{GOOD}",
    f"ID: 7\nformat:\n\tfield:int 9;\toffset:0;\tsize:4;\tsigned:1;\n{GOOD}",
    f"ID: 7\nformat:\n\tfield:int bad;\toffset:0;\tsize:4294967296;\n{GOOD}",
    f"ID: 7\nformat:\nwhat is this\n{GOOD}",
    f"ID: 7\nformat:\n{GOOD}{GOOD}",
    f"ID: 7\nformat:\n{GOOD}\tfield:int cut;\toffset:0;\tsize:4",
    f"ID: 7\nformat:\n{GOOD}\tfield:{'x' * 600} long_one;\toffset:0;\tsize:4;\n",
], ids=range(8))
def test_damaged_line(text, decode, tmp_path):
    """The intact fields are shown, and the damage is reported."""
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [f"name: odd\n{text}"]}, [(7, RAW)], ("<", 8)))
    document = decode(path)
    assert next(samples_of(document))[2]["fields"] == {"good": little(RAW[4:8])}
    assert [error["code"] for error in document["errors"]] == ["FORMAT"]


def test_key_of_exact_bytes_is_taken(decode, tmp_path):
    """A field with the name of another one's hex would give a duplicate key: the later one is left
    out."""
    fields = [("char a[4]", 0, 4, 0), ("int a_hex", 4, 4, 1), ("int b_hex", 8, 4, 1),
              ("char b[4]", 12, 4, 0),
              ("int c", 16, 4, 1), ("int c_hex", 20, 4, 1)]
    lines = "".join(f"\tfield:{d};\toffset:{o};\tsize:{n};\tsigned:{s};\n" for d, o, n, s in fields)
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [f"name: odd\nID: 7\nformat:\n{lines}"]},
                                     [(7, b"\xff" * 32)], ("<", 8)))
    document = decode(path)
    shown_fields = next(samples_of(document))[2]["fields"]
    assert list(shown_fields) == ["a", "a_hex", "b_hex", "c", "c_hex"]
    assert shown_fields["a_hex"] == "ffffffff" and shown_fields["b_hex"] == -1


@pytest.mark.parametrize("text", ["", "name: odd\n", f"name: odd\nformat:\n{GOOD}",
                                  "name: odd\nID: 7\nformat:\n",
                                  f"name: odd\nID: -1\nformat:\n{GOOD}"], ids=range(5))
def test_no_event(text, decode, tmp_path):
    """A text without an id or a field gives no event."""
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [text]}, [(7, RAW)], ("<", 8)))
    document = decode(path)
    assert next(samples_of(document))[2] is None
    assert [error["code"] for error in document["errors"]] == ["FORMAT"]


def test_first_definition_counts(decode, tmp_path):
    one = Format("one", 7, [("int a", 8, 4, 1)]).text()
    two = Format("two", 7, [("int b", 8, 4, 1)]).text()
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [one, two]}, [(7, RAW)], ("<", 8)))
    tracepoint = next(samples_of(decode(path)))[2]
    assert tracepoint["name"] == "one" and "a" in tracepoint["fields"]


@pytest.mark.parametrize("order", ORDERS, ids=ORDERS.values())
def test_word_size_is_the_recorders(order, decode, tmp_path):
    text = ("name: odd\nID: 7\nformat:\n"
            "\tfield:__data_loc long[] f;\toffset:8;\tsize:4;\tsigned:1;\n"
            "\tfield:void *p[2];\toffset:16;\tsize:8;\tsigned:0;\n")
    words = [5, -6]
    data = bytes(8) + (8 << 16 | 16).to_bytes(4, ORDERS[order]) + bytes(4) + \
        b"".join(w.to_bytes(4, ORDERS[order], signed=True) for w in words)
    path = tmp_path / "perf.data"
    path.write_bytes(tracepoint_file({"test": [text]}, [(7, data)], (order, 4)))
    assert next(samples_of(decode(path)))[2]["fields"] == {"f": words, "p": ["0x5", "0xfffffffa"]}
