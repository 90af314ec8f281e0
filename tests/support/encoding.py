"""Running pdecode and pencode on bytes, and comparing what two files decode to."""
import copy
import json
import subprocess

import pytest

from conftest import SANITIZER_REPORT, TIMEOUT, TOOLS, strict_json

PIPE_ONLY = ("HEADER_ATTR", "HEADER_FEATURE", "HEADER_TRACING_DATA", "HEADER_BUILD_ID")
COMPRESSED = ("COMPRESSED", "COMPRESSED2")
PLACES = ("offset", "inner_offset", "file")


def run(tool, *args, stdin=b"", **options):
    command = [str(TOOLS / tool), *map(str, args)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT, **options)
    if done.returncode < 0 or done.returncode == SANITIZER_REPORT:
        pytest.fail(f"{command} ended with {done.returncode}\n"
                    f"{done.stderr[-4000:].decode(errors='replace')}", pytrace=False)
    return done


def pdecode(source, *args):
    """Exit code and JSON (bytes) of a path or of bytes."""
    if isinstance(source, bytes):
        done = run("pdecode", *args, "-", stdin=source)
    else:
        done = run("pdecode", *args, source)
    return done.returncode, done.stdout


def document(source, *args):
    code, text = pdecode(source, *args)
    assert code in (0, 1), text[-300:]
    return strict_json(text)


def pencode(text, *args):
    """The bytes that pencode writes to stdout; it must not write to stderr."""
    if not isinstance(text, bytes):
        text = json.dumps(text).encode()
    done = run("pencode", *args, stdin=text)
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr
    return done.stdout


def refusal(text, *args):
    """The message of pencode for input that it can't encode: exit 3, nothing written."""
    if not isinstance(text, bytes):
        text = json.dumps(text).encode()
    done = run("pencode", *args, stdin=text)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert done.stdout == b""
    return done.stderr.decode(errors="replace")


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def records_of(doc):
    """Records without their offsets, without COMPRESSED ones and those that replace the header in a
    pipe."""
    records = []
    for record in copy.deepcopy(doc["records"]):
        if record["type"] in PIPE_ONLY or record["type"] in COMPRESSED:
            continue
        for key in PLACES:
            record.pop(key, None)
        records.append(record)
    return records


def features_of(doc, without=()):
    """Features, without their raw bytes (NAME_raw)."""
    return {name: value for name, value in doc["features"].items()
            if name not in without and not name.endswith("_raw")}


def events_of(doc):
    """Attributes with names and ids, without the padding of a section's entries: the same in every
    mode."""
    events = copy.deepcopy(doc["attrs"])
    for event in events:
        event.pop("padding", None)
        event.pop("trailing", None)
    return events
