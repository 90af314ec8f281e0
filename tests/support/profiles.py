"""Runs preport, and reads what it writes with readers of our own."""
import base64
import csv
import gzip
import json
import re
import resource
import subprocess
import zlib
from xml.etree import ElementTree

from conftest import TIMEOUT, TOOLS


def without_large_files():
    """To be called in the process before the program: no file can be longer than a memory page."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


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
    """The JSON of a flame graph page and of its first event, as one, and what pages() has of it."""
    about, events = pages(data)
    event, nodes, samples = events[0]
    return {**about, **event}, nodes, samples


def pages(data):
    """The JSON of a flame graph page, and of each event its JSON, its nodes [(parent, function,
    weight, samples)], in a difference with (weight, samples) before, and its samples [(thread, us,
    node, weight)]."""
    found = re.findall(rb'<script id="data"[^>]*>([^<]*)</script>', data)
    assert len(found) == 1
    packed = zlib.decompress(base64.b64decode(found[0], validate=True))
    size = int.from_bytes(packed[:4], "little")
    about, at, events = json.loads(packed[4:4 + size]), 4 + size, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = packed[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    for event in about["events"]:
        nodes, last, samples = [], -1, []
        for _ in range(event["nodes"]):
            for _ in range(number()):
                last = nodes[last][0]
            nodes.append((last, *(number() for _ in range(5 if "base" in about else 3))))
            last = len(nodes) - 1
        for i, (_, _, _, count) in enumerate(event["threads"]):
            time = 0
            for _ in range(count):
                time += number()
                samples.append((i, time, number(), number()))
        events.append((event, nodes, samples))
    assert at == len(packed)
    return about, events


def page_paths(about, nodes):
    paths = []
    for parent, function, *_ in nodes:
        paths.append([] if parent < 0 else paths[parent] + [about["functions"][function][0]])
    return [";".join(path) for path in paths]


def page_stacks(data):
    """{"frame;frame": weight} of a page, as folded stacks have them."""
    about, nodes, _ = page(data)
    stacks = {}
    for path, (_, _, weight, samples, *_) in zip(page_paths(about, nodes), nodes):
        if samples:
            stacks[path] = stacks.get(path, 0) + weight
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


# The fields of profile.proto, and whether each is a number, text or a message, or packed.
PPROF = {
    "profile": {1: "type", 2: "sample", 3: "mapping", 4: "location", 5: "function", 6: bytes,
                10: int, 11: "type", 12: int, 13: int, 14: int},
    "type": {1: int, 2: int},
    "sample": {1: "packed", 2: "packed", 3: "label"},
    "label": {1: int, 2: int, 3: int},
    "mapping": {1: int, 2: int, 3: int, 4: int, 5: int, 6: int, 7: int, 8: int, 9: int, 10: int},
    "location": {1: int, 2: int, 3: int, 4: "line"},
    "line": {1: int, 2: int},
    "function": {1: int, 2: int, 3: int, 4: int},
}


def message(data, kind="profile"):
    """{field: [values]} of a message, and of those in it."""
    fields = {}
    for number, value in wire(data):
        want = PPROF[kind][number]
        assert isinstance(value, int if want is int else bytes), (kind, number)
        fields.setdefault(number, []).append(
            value if want in (int, bytes) else packed(value) if want == "packed"
            else message(value, want))
    return fields


class Pprof:
    """A pprof file whose references are all checked."""

    def __init__(self, data):
        top = message(gzip.decompress(data))
        self.strings = [value.decode() for value in top[6]]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        self.types = [(self._text(row, 1), self._text(row, 2)) for row in top[1]]
        assert len({name for name, _ in self.types}) == len(self.types)     # pprof drops the others
        self.comments = [self.strings[i] for i in top.get(13, [])]
        self.mappings, self.locations, self.functions = (self._table(top, field)
                                                         for field in (3, 4, 5))
        self.files = [self._text(row, 5) for row in top.get(3, [])]
        self.build_ids = {self._text(row, 6) for row in top.get(3, [])}
        self.samples = [self._sample(row) for row in top.get(2, [])]
        self.default_type = self._text(top, 14)
        assert self.default_type in [name for name, _ in self.types]
        self.period = top.get(12, [0])[0]
        self.period_type = self._text(top[11][0], 1)
        assert self.period_type == next((name for name, unit in self.types[1::2]
                                         if unit == "nanoseconds"), self.types[1][0])

    def _text(self, row, field):
        return self.strings[row.get(field, [0])[0]]

    @staticmethod
    def _table(top, field):
        rows = {row[1][0]: row for row in top.get(field, [])}
        assert len(rows) == len(top.get(field, [])) and 0 not in rows
        assert set(rows) == set(range(1, len(rows) + 1))
        return rows

    def _names(self, number):
        location = self.locations[number]
        mapping = self.mappings[location[2][0]] if 2 in location else None
        if mapping:
            assert location[3][0] < 2**64 and mapping.get(2, [0])[0] <= mapping[3][0]
        if 4 not in location:
            return ["[" + self._text(mapping, 5).rpartition("/")[2] + "]"]
        return [self._text(self.functions[line[1][0]], 2) for line in location[4]]

    def _sample(self, row):
        labels = {}
        for label in row.get(3, []):
            key = self._text(label, 1)
            assert key not in labels
            labels[key] = self._text(label, 2) or label.get(3, [0])[0]
        (values,) = row[2]
        assert len(values) == len(self.types)
        frames = [name for number in row[1][0] for name in self._names(number)]
        return labels, frames[::-1], values

    def stacks(self):
        """{"comm;frame;frame": [values]}."""
        stacks = {}
        for labels, frames, values in self.samples:
            key = ";".join([labels.get("comm", ""), *frames])
            before = stacks.get(key, [0] * len(values))
            stacks[key] = [a + b for a, b in zip(before, values)]
        return stacks

    def total(self, column):
        return sum(values[column] for _, _, values in self.samples)


class Firefox:
    """A file of the Firefox Profiler, whose tables are checked against the types of version 60."""

    TABLES = {
        "stackTable": ("frame", "prefix"),
        "frameTable": ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
                       "innerWindowID", "line", "column"),
        "funcTable": ("name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
                      "columnNumber"),
        "resourceTable": ("lib", "name", "host", "type"),
        "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
        "sources": ("uuid", "filename"),
    }

    def __init__(self, data):
        text = gzip.decompress(data)
        assert text.startswith(b'{"meta"')
        self.top = json.loads(text)
        meta, shared = self.top["meta"], self.top["shared"]
        assert (meta["version"], meta["preprocessedProfileVersion"]) == (24, 60)
        assert meta["interval"] > 0 and "grey" in [row["color"] for row in meta["categories"]]
        self.strings, self.schemas = shared["stringArray"], {row["name"]
                                                             for row in meta["markerSchema"]}
        for table, columns in self.TABLES.items():
            rows = shared[table]
            assert set(rows) == {"length", *columns}
            assert all(len(rows[column]) == rows["length"] for column in columns), table
        self.shared, self.threads = shared, self.top["threads"]
        self._check_references(meta)
        self.stacks = self._stacks()
        for thread in self.threads:
            self._check_thread(thread)

    def _check_references(self, meta):
        shared = self.shared

        def inside(table, column, target):
            nr = target if isinstance(target, int) else shared[target]["length"]
            assert all(value in (None, -1) or 0 <= value < nr for value in shared[table][column])

        inside("stackTable", "frame", "frameTable")
        inside("frameTable", "func", "funcTable")
        inside("frameTable", "category", len(meta["categories"]))
        inside("funcTable", "name", len(self.strings))
        inside("funcTable", "resource", "resourceTable")
        inside("resourceTable", "lib", len(self.top["libs"]))
        inside("resourceTable", "name", len(self.strings))
        assert all(re.fullmatch("[0-9A-F]{33}", lib["breakpadId"]) for lib in self.top["libs"])

    def _stacks(self):
        stacks, shared = [], self.shared
        for frame, prefix in zip(*(shared["stackTable"][key] for key in ("frame", "prefix"))):
            assert prefix is None or prefix < len(stacks)
            name = self.strings[shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]]
            stacks.append((() if prefix is None else stacks[prefix]) + (name,))
        return stacks

    def _check_thread(self, thread):
        samples, markers = thread["samples"], thread["markers"]
        assert isinstance(thread["pid"], str) and isinstance(thread["tid"], int)
        for rows in (samples, markers):
            assert all(len(column) == rows["length"] for column in rows.values()
                       if isinstance(column, list))
        assert samples["time"] == sorted(samples["time"])
        assert all(stack is None or stack < len(self.stacks) for stack in samples["stack"])
        for i, data in enumerate(markers["data"]):
            assert data["type"] in self.schemas and self.strings[markers["name"][i]]
            assert (markers["endTime"][i] is None) == (markers["phase"][i] == 0)

    def weights(self):
        """{"thread;frame;frame": weight}, in ns where the file has ms."""
        sums = {}
        for thread in self.threads:
            samples = thread["samples"]
            scale = 10**6 if samples["weightType"] == "tracing-ms" else 1
            for stack, weight in zip(samples["stack"], samples["weight"]):
                key = ";".join([thread["name"], *(() if stack is None else self.stacks[stack])])
                sums[key] = sums.get(key, 0) + round(weight * scale)
        return sums

    def markers(self):
        """[(thread, name, start, end, data)]."""
        return [(thread["name"], self.strings[name], *rest) for thread in self.threads
                for name, *rest in zip(*(thread["markers"][key] for key in
                                         ("name", "startTime", "endTime", "data")))]


def speedscope(data):
    """[(name, unit, {"frame;frame": weight}, [stack, ...])] of a file for speedscope."""
    top = json.loads(data)
    assert set(top) == {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}
    frames = top["shared"]["frames"]
    assert all(set(frame) == {"name", "file"} for frame in frames)
    profiles = []
    for one in top["profiles"]:
        assert set(one) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert one["type"] == "sampled" and one["unit"] in ("nanoseconds", "none")
        assert len(one["samples"]) == len(one["weights"]) and one["startValue"] == 0
        assert one["endValue"] == sum(one["weights"])
        sums, order = {}, [";".join(frames[i]["name"] for i in stack) for stack in one["samples"]]
        for stack, weight in zip(order, one["weights"]):
            sums[stack] = sums.get(stack, 0) + weight
        profiles.append((one["name"], one["unit"], sums, order))
    totals = [sum(sums.values()) for _, _, sums, _ in profiles]
    assert totals == sorted(totals, reverse=True)
    return profiles


def chrome(data):
    """Slices [(pid, tid, name, start us, end us)], samples [(event, args)] and {(pid, tid): name}
    of trace events, whose slices must nest and be in order."""
    slices, samples, names, opened = [], [], {}, {}
    for event in json.loads(data)["traceEvents"]:
        task = event["pid"], event["tid"]
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            names[task] = event["args"]["name"]
        elif event["ph"] == "B":
            assert task not in opened and (not slices or slices[-1][:2] != task
                                           or slices[-1][4] < event["ts"])
            opened[task] = event
        elif event["ph"] == "E":
            begin = opened.pop(task)
            assert begin["name"] == event["name"] and begin["ts"] <= event["ts"]
            slices.append((*task, event["name"], begin["ts"], event["ts"]))
        else:
            assert event["ph"] == "i" and event["s"] == "t" and task in names
            samples.append((event["name"], event["args"]))
    assert not opened
    return slices, samples, names


def chrome_stacks(data):
    """{(pid, tid): [(stack, start ns, end ns)]} of the slices of trace events, which must nest and
    be in order: which are open from when to when. An end is 1 ns early."""
    tracks = {}
    for event in json.loads(data)["traceEvents"]:
        if event["ph"] not in "BE":
            continue
        spans, stack = tracks.setdefault((event["pid"], event["tid"]), ([], []))
        now = round(event["ts"] * 1000) + (event["ph"] == "E")
        last = spans[-1][2] if spans else 0
        assert now >= last, event
        if stack and now > last:
            spans.append((tuple(stack), last, now))
        elif not stack:
            spans.append(((), last, now))
        if event["ph"] == "B":
            stack.append(event["name"])
        else:
            assert stack and stack.pop() == event["name"], event
    assert not any(stack for _, stack in tracks.values())
    return {task: [span for span in spans if span[0]] for task, (spans, _) in tracks.items()}


def csv_rows(data):
    """[(function, image, build id, self, total, samples)] of the table as CSV."""
    rows = list(csv.reader(data.decode().splitlines()))
    assert rows.pop(0) == ["function", "image", "build_id", "self", "total", "samples"]
    return [(*row[:3], *map(int, row[3:])) for row in rows]


def json_table(data):
    """The table as JSON."""
    table = json.loads(data)
    assert set(table) - {"other_events"} == {"event", "unit", "total", "samples", "rows"}
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
        self.command = head.get("cmd")
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
    """[(title, width)] of the frames of a picture, and its text. It ends with a script that refers
    to nothing else."""
    script = re.search(rb"<script><!\[CDATA\[\n(.*)\]\]></script>\n</svg>\n$", data, re.DOTALL)
    assert len(script[1]) < 3000 and not re.search(rb"src|href|https?:|import|fetch|\]\]>",
                                                   script[1])
    data = data[:script.start()] + b"</svg>"
    assert not re.search(rb"<script|href|url\(|<!|on\w+=", data)
    top = ElementTree.fromstring(data)
    prefix = "{http://www.w3.org/2000/svg}"
    assert top.tag == prefix + "svg"
    assert {element.tag[len(prefix):] for element in top.iter()} <= {"svg", "g", "rect", "text",
                                                                      "title"}
    frames = [(g.find(prefix + "title").text, float(g.find(prefix + "rect").get("width")))
              for g in top.iter(prefix + "g")]
    return frames, "".join(top.itertext())
