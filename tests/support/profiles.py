"""Runs preport, and reads what it writes with readers of our own."""
import base64
import csv
import gzip
import json
import re
import subprocess
import zlib
from xml.etree import ElementTree

from conftest import TIMEOUT, TOOLS


def preport(*args, status=0, symbols=("--no-symbols",), **more):
    """Standard output of preport, as bytes."""
    done = subprocess.run([TOOLS / "preport", *symbols, *map(str, args)], capture_output=True,
                          timeout=TIMEOUT, **more)
    assert done.returncode in (status if isinstance(status, tuple) else (status,)), (
        done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout


def folded(data):
    """{(frame, ...): weight} of folded stacks."""
    stacks = {}
    lines = data.split(b"\n")
    assert lines.pop() == b""
    for line in lines:
        stack, _, weight = line.rpartition(b" ")
        assert weight.isdigit() and not re.search(rb"[\x00-\x1f\x7f]", stack), line
        key = tuple(stack.split(b";"))
        assert key not in stacks, line
        stacks[key] = int(weight)
    assert [b";".join(key) for key in stacks] == sorted(b";".join(key) for key in stacks)
    return stacks


def text(stacks):
    return {";".join(frame.decode() for frame in key): value for key, value in stacks.items()}


def self_by_function(stacks):
    sums = {}
    for key, weight in stacks.items():
        sums[key[-1]] = sums.get(key[-1], 0) + weight
    return sums


def table(data):
    """{function: (self %, total %, samples)} of a table that is not cut. Names with two blanks in
    a row can't be read back."""
    rows = {}
    for line in data.decode().split("\n"):
        found = re.match(r" *([\d.]+) % +([\d.]+) % +(\d+)  (\S+(?: \S+)*)  ", line + "  ")
        if found:
            rows[found[4]] = (float(found[1]), float(found[2]), int(found[3]))
    return rows


def page(data):
    """The JSON of a flame graph page, and its nodes: [(parent, function, weight, samples)]."""
    found = re.findall(rb'<script id="data"[^>]*>([^<]*)</script>', data)
    assert len(found) == 1
    packed = zlib.decompress(base64.b64decode(found[0], validate=True))
    size = int.from_bytes(packed[:4], "little")
    about, at, nodes, last = json.loads(packed[4:4 + size]), 4 + size, [], -1

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = packed[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    for _ in range(about["nodes"]):
        for _ in range(number()):
            last = nodes[last][0]
        nodes.append((last, number(), number(), number()))
        last = len(nodes) - 1
    assert at == len(packed)
    return about, nodes


def page_stacks(data):
    """{"frame;frame": weight} of a page, as folded stacks have them."""
    about, nodes = page(data)
    stacks, paths = {}, []
    for parent, function, weight, samples in nodes:
        paths.append([] if parent < 0 else paths[parent] + [about["functions"][function][0]])
        if samples:
            key = ";".join(paths[-1])
            stacks[key] = stacks.get(key, 0) + weight
    return stacks


def wire(data):
    """[(field, value)] of a protobuf message: numbers and bytes."""
    fields, at = [], 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        assert key & 7 in (0, 2), key
        value = number()
        if key & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at:at + value], at + value
        fields.append((key >> 3, value))
    return fields


def packed(data):
    return [value for _, value in wire(b"".join(b"\x08" + part for part in varints(data)))]


def varints(data):
    start = 0
    for i, byte in enumerate(data):
        if byte < 128:
            yield data[start:i + 1]
            start = i + 1
    assert start == len(data)


def pprof(data):
    """The types [(name, unit)], {"comm;frame;frame": [values]} and the build ids of a pprof file,
    whose references are all checked."""
    fields = wire(gzip.decompress(data))
    strings = [value.decode(errors="replace") for field, value in fields if field == 6]
    assert strings[0] == "" and {field for field, _ in fields} <= {1, 2, 3, 4, 5, 6, 10, 11, 12, 14}

    def table(field):
        rows = [dict(wire(value)) for number, value in fields if number == field]
        ids = {row[1]: row for row in rows}
        assert len(ids) == len(rows) and 0 not in ids
        return ids

    mappings, locations, functions = table(3), table(4), table(5)
    names = {}
    for number, location in locations.items():
        assert location[2] in mappings
        names[number] = strings[functions[dict(wire(location[4]))[1]][2]]
    types = [(strings[row[1]], strings[row[2]]) for row in
             (dict(wire(value)) for field, value in fields if field == 1)]
    stacks = {}
    for sample in (dict(wire(value)) for field, value in fields if field == 2):
        label = dict(wire(sample[3]))
        assert strings[label[1]] == "comm"
        key = ";".join([strings[label[2]], *[names[i] for i in packed(sample[1])][::-1]])
        values = packed(sample[2])
        assert len(values) == len(types)
        before = stacks.get(key, [0] * len(types))
        stacks[key] = [a + b for a, b in zip(before, values)]
    return types, stacks, {strings[row.get(6, 0)] for row in mappings.values()}


def csv_rows(data):
    """[(function, image, build id, self, total, samples)] of the table as CSV."""
    rows = list(csv.reader(data.decode().splitlines()))
    assert rows.pop(0) == ["function", "image", "build_id", "self", "total", "samples"]
    return [(*row[:3], *map(int, row[3:])) for row in rows]


def json_table(data):
    """The table as JSON."""
    table = json.loads(data)
    assert set(table) == {"event", "unit", "total", "samples", "rows"}
    for row in table["rows"]:
        assert {"function", "image", "self", "total", "samples"} <= set(row) <= {
            "function", "image", "build_id", "self", "total", "samples"}
        assert 0 <= row["self"] <= row["total"] <= table["total"]
    return table


class Callgrind:
    """The events, the summary, {(object, function): [own costs]} and
    {(caller, callee): [costs]} of a callgrind file, whose grammar is checked."""

    def __init__(self, data):
        lines = data.decode().split("\n")
        assert lines[:2] == ["# callgrind format", "version: 1"] and lines.pop() == ""
        head = dict(line.split(": ", 1) for line in lines[1:lines.index("")])
        self.events, self.own, self.calls = head["events"].split(), {}, {}
        assert head["positions"] == "line" and len(set(self.events)) == len(self.events)
        assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", event) for event in self.events)
        self.summary = [int(n) for n in head["summary"].split()]
        self._names, self._is_called = {}, False
        self._at = {}
        for line in lines[lines.index("") + 1:]:
            self._read(line)

    def _name(self, key, number, name):
        kind = {"cob": "ob", "cfi": "fl", "cfn": "fn"}.get(key, key)
        assert (name is None) == ((kind, number) in self._names), (key, number, name)
        return self._names.setdefault((kind, number), name), number

    def _read(self, line):
        if found := re.fullmatch(r"(ob|fl|fn|cob|cfi|cfn)=\((\d+)\)(?: (.+))?", line):
            self._at[found[1]] = self._name(*found.groups())
        elif line.startswith("calls="):
            assert re.fullmatch(r"calls=[1-9]\d* \d+", line)
            self._is_called = True
        elif line:
            _, *costs = (int(n) for n in line.split())
            assert len(costs) == len(self.events)
            caller = self._at["ob"], self._at["fn"]
            callee = (self._at["cob"], self._at["cfn"]) if self._is_called else None
            table, key = (self.calls, (caller, callee)) if callee else (self.own, caller)
            table[key] = [a + b for a, b in zip(table.get(key, [0] * len(costs)), costs)]
            self._is_called = False

    def totals(self):
        return [sum(column) for column in zip(*self.own.values())]

    def self_by_name(self, event=0):
        sums = {}
        for (_, (name, _)), costs in self.own.items():
            sums[name] = sums.get(name, 0) + costs[event]
        return {name: value for name, value in sums.items() if value}


def svg(data):
    """[(title, width)] of the frames of a picture, and its whole text."""
    assert not re.search(rb"<script|href|url\(|<!|on\w+=", data)
    top = ElementTree.fromstring(data)
    prefix = "{http://www.w3.org/2000/svg}"
    assert top.tag == prefix + "svg"
    assert {element.tag[len(prefix):] for element in top.iter()} <= {"svg", "g", "rect", "text",
                                                                      "title"}
    frames = [(g.find(prefix + "title").text, float(g.find(prefix + "rect").get("width")))
              for g in top.iter(prefix + "g")]
    return frames, "".join(top.itertext())
