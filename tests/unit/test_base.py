"""The pieces of libdecode/base on their own: cursor, budget, buffers, arena, map, JSON writer."""
from compiled import run


def test_base():
    assert run("base_units") == (0, [])
