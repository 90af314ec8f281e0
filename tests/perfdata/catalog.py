"""Small valid files that together contain every layout.

    for name, entry in catalog().items():     # "mmap2.le", "mmap2.be", ...
        entry.data                            # bytes, or {"data": bytes, "data.0": ...}
        entry.expect                          # facts: see case.py

    write(directory)                          # the same as files
"""

import functools
import os
from collections import OrderedDict
from typing import NamedTuple

from . import (catalog_containers, catalog_features, catalog_kernel, catalog_rows, catalog_samples,
               catalog_tracepoints, catalog_user)
from .case import Case

MODULES = (catalog_containers, catalog_features, catalog_kernel, catalog_samples,
           catalog_tracepoints, catalog_rows, catalog_user)
ORDERS = (
    ("le", "<", ("file", None, "byte_order", "little")),
    ("be", ">", ("file", None, "byte_order", "big")),
)


class Entry(NamedTuple):
    data: object
    expect: list
    case: Case
    order: str


def cases():
    """name -> Case."""
    found = OrderedDict()
    for module in MODULES:
        for case in module.cases():
            assert case.name not in found, case.name
            found[case.name] = case
    return found


@functools.lru_cache(maxsize=None)
def catalog():
    """name.le and name.be -> Entry. Must not be changed: all tests have the same one."""
    return OrderedDict(
        (f"{name}.{suffix}", Entry(case.file.build(order), case.expect + [fact], case, order))
        for name, case in cases().items()
        for suffix, order, fact in ORDERS
    )


def write(directory):
    """Every entry as a file, directories as such.  Returns name -> path."""
    paths = {}
    for name, entry in catalog().items():
        path = paths[name] = os.path.join(directory, name + ".data")
        files = {path: entry.data}
        if isinstance(entry.data, dict):
            files = {os.path.join(path, part): content for part, content in entry.data.items()}
        for where, content in files.items():
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, "wb") as out:
                out.write(content)
    return paths
