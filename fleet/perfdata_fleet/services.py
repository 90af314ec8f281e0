"""The service, version and group of hosts that a sample belongs to.

A recording does not state them. A deployment knows them by host, command or cgroup, and writes its
rules to services/rules.json, a list of objects:

    [{"host": "web-*", "cgroup": "/system.slice/shop.service", "service": "shop", "version": "2.1",
      "host_group": "web"}]

host, comm and cgroup are patterns (* ? [...]); one that is absent matches everything. A sample has
the answers of the first rule that matches, and none without one. Cgroups are in recordings made
with --all-cgroups."""
import json

import pyarrow
import pyarrow.fs

from . import objects

PATTERNS = ["host", "comm", "cgroup"]
ANSWERS = ["service", "version", "host_group"]
_KEY = "services/rules.json"
_SCHEMA = pyarrow.schema([("rule", pyarrow.int32())]
                         + [(name, pyarrow.string()) for name in PATTERNS + ANSWERS])


def _check(rules):
    """Raises ValueError at a rule that is no dict, or has other fields or values than texts."""
    if not isinstance(rules, list):
        raise ValueError("the rules are no list")
    for number, rule in enumerate(rules):
        if not isinstance(rule, dict):
            raise ValueError(f"rule {number} is no object: {rule!r}")
        for name, value in rule.items():
            if name not in PATTERNS + ANSWERS:
                raise ValueError(f"rule {number}: no field {name!r}: there are "
                                 f"{', '.join(PATTERNS + ANSWERS)}")
            if not isinstance(value, str):
                raise ValueError(f"rule {number}: {name} is no text: {value!r}")


def put(store, rules):
    """Writes the rules, a list of dicts. They count for hours that are compacted later."""
    _check(rules)
    objects.put(store, _KEY, (json.dumps(rules, indent=1) + "\n").encode())


def table(store):
    """The rules as Arrow table, with their number in `rule`."""
    if store.get_file_info(_KEY).type != pyarrow.fs.FileType.File:
        return _SCHEMA.empty_table()
    try:
        rules = json.loads(objects.read(store, _KEY).to_pybytes())
        _check(rules)
    except ValueError as error:
        raise ValueError(f"{_KEY}: {error}") from None
    return pyarrow.Table.from_pylist(
        [{**rule, "rule": number} for number, rule in enumerate(rules)], schema=_SCHEMA)
