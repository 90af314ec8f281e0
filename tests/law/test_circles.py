"""Which sources call each other in a circle: as few as there can be, each with its reason.

The calls are those of the object files, by their symbols.
"""
import collections
import shutil
import subprocess

import pytest

from compiled import BUILD, ROOT

STAY = {
    "libdecode/input/source libdecode/input/source_unpack": "a packed source is inside another",
    "libdecode/schema/describe_object libdecode/schema/describe_row": "rows have rows of their own",
    "libdecode/json/emit libdecode/json/json_numbers libdecode/json/json_tracepoint "
    "libdecode/json/json_visit": "a record's raw data is written by a program of its own",
    "libdecode/json/json libdecode/json/json_block libdecode/json/json_workers "
    "libdecode/json/json_workers_out": "workers write with the sink's functions",
}


def calls_of(objects):
    """{object: objects whose symbols it needs}; objects: {path: name}."""
    done = subprocess.run(["nm", "--print-file-name", *objects], stdout=subprocess.PIPE, text=True,
                          check=True)
    home, needed = {}, {name: set() for name in objects.values()}
    for line in done.stdout.splitlines():
        path, _, rest = line.partition(":")
        kind, symbol = rest.split()[-2:]
        if kind == "U":
            needed[objects[path]].add(symbol)
        elif kind in "TDBRVW":
            home[symbol] = objects[path]
    return {name: {home[symbol] for symbol in symbols if home.get(symbol, name) != name}
            for name, symbols in needed.items()}


def reachable(calls, start):
    seen, queue = set(), collections.deque([start])
    while queue:
        for other in calls[queue.popleft()] - seen:
            seen.add(other)
            queue.append(other)
    return seen


def circles(calls):
    """Each as its names in a row."""
    reach = {name: reachable(calls, name) for name in calls}
    return {" ".join(sorted(other for other in reach[name] if name in reach[other]))
            for name in calls if name in reach[name]}


@pytest.mark.parametrize("top", ["libdecode", "libsymbols", "libprofile", "libcolumns", "sqlite",
                                 "python", "record", "tools"])
def test_circles(top):
    if not shutil.which("nm"):
        pytest.skip("no nm")
    root = BUILD / "obj"
    objects = {str(path): str(path.relative_to(root))[:-2] for path in (root / top).rglob("*.o")
               if (ROOT / path.relative_to(root)).with_suffix(".c").is_file()}
    if not objects:
        pytest.skip(f"no objects in {root / top}")
    assert circles(calls_of(objects)) == {one for one in STAY if one.startswith(top + "/")}


def test_circles_are_found():
    calls = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert circles(calls) == {"b c"}
