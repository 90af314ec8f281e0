"""pd/tree.h gives what the JSON shows: every key of every capture, by its path, nothing else."""
import pytest

from conftest import FIXTURES, strict_json_lines
from perfdata import records as r
from perfdata.case import attr
from perfdata.container import File
from perfdata.sample import branch, sample

PERF = FIXTURES / "perf"


@pytest.fixture
def run(installed):
    return lambda *arguments: installed.run("api_tree.c", "static", *arguments)[1]


def trees(output):
    """{(kind, number): {path: value}} of what api_tree prints."""
    found, tree = {}, None
    for line in output.splitlines():
        if line.startswith("= "):
            kind, number = line[2:].split()
            tree = found[kind, int(number)] = {}
        else:
            path, _, value = line.partition("\t")
            assert value and path not in tree, line
            tree[path] = value
    return found


def flat(value, path=""):
    """(path, value) of all that is in a JSON value."""
    items = (value.items() if isinstance(value, dict)
             else enumerate(value) if isinstance(value, list) else ())
    for key, item in items:
        inner = f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}" if path else key
        yield inner, item
        yield from flat(item, inner)


def is_of_json_only(key, value, owner):
    """Keys that JSON needs because it has no bytes: the exact ones of a text or a number."""
    return key.endswith("_hex") and key[:-4] in owner


def without_hex(value):
    if isinstance(value, list):
        return [without_hex(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: (item, value[key + "_hex"]) if key + "_hex" in value else without_hex(item)
            for key, item in value.items() if not is_of_json_only(key, item, value)}


def is_same(value, printed):
    """Whether what is printed of an item is the JSON's value."""
    word, _, rest = printed.rpartition("=")
    kind, _, text = rest.partition(" ")
    # the text and its exact bytes, or a number that JSON does not have and its bits
    if isinstance(value, tuple):
        return (kind, text) == ("t", value[1]) or kind == "r"
    if isinstance(value, bool):
        return word == str(value).lower()
    if isinstance(value, int):
        return kind == "n" and int(text) == value
    if isinstance(value, float):
        return kind == "r" and float(text) == value
    if isinstance(value, (dict, list)):
        return kind == ("o" if isinstance(value, dict) else "a") and int(text) == len(value)
    if word:
        return word == value
    if kind == "t":
        return bytes.fromhex(text) == value.encode()
    return text == value or (kind == "n" and value == hex(int(text)))


def parts(lines):
    """{(kind, number): object} of JSON Lines."""
    numbers = {}
    for line in lines:
        kind = line.pop("kind")
        if kind == "file":
            line.pop("pdecode")
        if kind in ("file", "attr", "record", "feature"):
            number = numbers[kind] = numbers.get(kind, -1) + 1
            yield (kind, number), without_hex(line["feature"] if kind == "feature" else line)


@pytest.mark.sanitize
def test_every_key(fixture_file, run, run_pdecode):
    done = run_pdecode(["-f", "jsonl", "--blobs", "full", fixture_file.path])
    expected = dict(parts(strict_json_lines(done.stdout)))
    printed = trees(run(fixture_file.path))
    assert set(printed) == set(expected)
    for part, value in expected.items():
        want = dict(flat(value))
        have = printed[part]
        if part[0] == "file":
            # printed at the end, in the JSON at the beginning
            want.pop("complete"), have.pop("complete")
        assert set(want) == set(have), part
        wrong = [(path, item, have[path]) for path, item in want.items()
                 if not is_same(item, have[path])]
        assert not wrong, (part, wrong[:5])


@pytest.mark.sanitize
def test_paths(run, tmp_path):
    branches = attr("IP|BRANCH_STACK|DATA_SRC|CALLCHAIN")
    path = tmp_path / "built.data"
    entries = [branch(0x10 + i, 0x20 + i, predicted=1, type=1) for i in range(4)]
    path.write_bytes(File(attrs=[(branches, [42])], records=[
        sample(branches, ip=1, callchain=[2**64 - 512, 0x10], data_src=0x2 | 1 << 33,
               branch_stack={"entries": entries}), r.comm(7, 8, "worker")]).build("<"))
    asked = {
        "branch_stack.entries[3].from": "x 0x13", "branch_stack.entries[0].type": "COND=n 1",
        "branch_stack.entries": "a 4", "data_src.op": "a 1",
        "data_src.op[0]": "t " + b"LOAD".hex(), "data_src.lvl_num[0]": "L1=n 1",
        "data_src.raw": f"n {0x2 | 1 << 33}", "callchain[0]": "USER=x 0xfffffffffffffe00",
        "callchain[1]": "x 0x10", "ip": "x 0x1", "event": "t " + b"cpu-clock:HG".hex(),
        "": "o 11",
    }
    wrong = ["entries[4].from", "entries[3]from", "entries[3", "entries[-1]", "",
             "entries[18446744073709551619]"]
    asked |= {f"branch_stack.{path}": "-" for path in wrong}
    asked |= dict.fromkeys([".ip", "ip.ip", "i", "[0]", "ip[0]", "callchain[]", "callchain[ 1]",
                            "callchain.[1]", "[", "."], "-")
    assert dict(zip(asked, run(path, "record", 0, *asked).splitlines())) == asked
    assert run(path, "record", 1, "comm", "sample_id").splitlines() == ["t " + b"worker".hex(), "-"]
    selected, number = run(path, "attr", 0, "attr.sample_type.names[1]", "ids[0]").splitlines()
    assert (selected, number) == ("t " + b"CALLCHAIN".hex(), "n 42")


@pytest.mark.sanitize
def test_tracepoints_and_features(run):
    path = PERF / "12-tracepoints.data"
    number = next(number for (_, number), tree in trees(run(path)).items()
                  if "raw.tracepoint.name" in tree)
    system, name, fields = run(path, "record", number,
                               "raw.tracepoint.system", "raw.tracepoint.name",
                               "raw.tracepoint.fields").splitlines()
    assert bytes.fromhex(system[2:]) == b"sched"
    assert name.startswith("t ") and fields.startswith("o ")
    assert run(path, "feature", 7, "NRCPUS.online").startswith("n ")
    assert run(path, "feature", 250, "NRCPUS.online") == "-\n"
