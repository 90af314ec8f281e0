"""Validates a value against one of the schemas in schemas/."""
import functools
import json

import jsonschema
import pytest

from conftest import ROOT

SCHEMAS = ROOT / "schemas"


def draft():
    if not hasattr(jsonschema, "Draft202012Validator"):
        pytest.skip("this python3-jsonschema does not know draft 2020-12: version 4 does")
    return jsonschema.Draft202012Validator


@functools.lru_cache(maxsize=None)
def schemas():
    """name -> schema."""
    return {path.name: json.loads(path.read_text())
            for path in sorted(SCHEMAS.glob("*.schema.json"))}


@functools.lru_cache(maxsize=None)
def validator(reference):
    """reference: `line.schema.json`, `record.schema.json#/$defs/UNKNOWN`, ..."""
    try:  # jsonschema from 4.18 on
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012
    except ImportError:
        return draft()({"$ref": reference},
                       resolver=jsonschema.RefResolver("", {}, store=schemas()))
    registry = Registry().with_contents(schemas().items(), default_specification=DRAFT202012)
    return draft()({"$ref": reference}, registry=registry)


def complaints(reference, value):
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[-300:]}"
            for error in validator(reference).iter_errors(value)]
