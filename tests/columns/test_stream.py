"""Tables handed over by pointer (Arrow's C stream interface): the same rows as in Parquet."""
import ctypes
import errno

import pytest

from arrow_c_reader import (Array, Schema, Stream, StreamError, columns_of, next_batch,
                            read_stream, release, schema_of)
from arrow_reader import read_arrow
from compiled import columns_library
from conftest import FIXTURES, fixture_files
from test_columns import CHAINS, TABLES, of_type

DAMAGED = 2


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return ctypes.CDLL(str(columns_library("columns_stream", tmp_path_factory.mktemp("library"))))


@pytest.fixture(scope="module")
def opened(library):
    """Function: a stream. Each must be released."""
    library.stream_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32,
                                    ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p]

    def open_stream(path, table, groups=0, memory=0, stop_at=0):
        stream = Stream()
        error = library.stream_open(bytes(path), table.encode(), groups, memory, stop_at,
                                    ctypes.byref(stream))
        assert error == 0
        return stream
    yield open_stream
    assert library.stream_count() == 0


def of_ipc(run_pdecode, path, table, *args):
    done = run_pdecode(["-f", "arrow", "--table", table, *args, path])
    assert done.returncode in (0, 1), done.stderr
    return read_arrow(done.stdout)


@pytest.mark.parametrize("table", sorted(TABLES))
@pytest.mark.parametrize("path", [CHAINS, FIXTURES / "perf" / "59-lost.data"],
                         ids=["chains", "lost"])
def test_a_stream_has_the_rows_of_the_file(table, path, opened, run_pdecode):
    found, metadata, _ = read_stream(opened(path, table))
    want, same = of_ipc(run_pdecode, path, table)
    if table == "files":
        found["path"] = want["path"]
    assert found == want and metadata == same


def test_damage_is_no_failure(opened, tmp_path, run_pdecode):
    cut = tmp_path / "cut.data"
    cut.write_bytes(CHAINS.read_bytes()[:7000])
    for table in ("samples", "errors", "files"):
        found, _, _ = read_stream(opened(cut, table))
        want, _ = of_ipc(run_pdecode, cut, table)
        if table == "files":
            found["path"] = want["path"]
        assert found == want and found["file_id"]


def test_reading_that_cannot_continue_is_an_error_after_the_last_batch(opened, tmp_path,
                                                                          decode_lines):
    cut = tmp_path / "cut.data"
    data = bytearray(CHAINS.read_bytes())
    offset = of_type(decode_lines(CHAINS), "SAMPLE")[30]["offset"]
    data[offset + 6:offset + 8] = b"\3\0"
    cut.write_bytes(data)
    for table in ("samples", "errors"):
        stream = opened(cut, table, stop_at=DAMAGED)
        array, schema = next_batch(stream), schema_of(stream)
        found = columns_of(schema, array)
        with pytest.raises(StreamError) as caught:
            next_batch(stream)
        assert caught.value.args[0] == errno.EIO and caught.value.args[1]
        for thing in (array, schema, stream):
            release(thing)
        assert len(found["file_id"]) == (30 if table == "samples" else 2)  # as pd_pump()


def test_batches_have_dictionaries_of_their_own(opened):
    """With little memory a batch is small."""
    path = FIXTURES / "perf" / "50-max-size.data"
    want, _, one = read_stream(opened(path, "samples"))
    found, _, many = read_stream(opened(path, "samples", 0, 400_000))
    assert len(one) == 1 and len(many) > 1 and found == want


def test_memory_that_does_not_suffice_is_an_error(opened):
    with pytest.raises(StreamError) as caught:
        read_stream(opened(CHAINS, "samples", 0, 200_000))
    assert caught.value.args[0] == errno.ENOMEM and "limit" in caught.value.args[1]


def test_a_batch_outlives_its_stream_and_a_child_its_batch(opened):
    stream = opened(CHAINS, "samples")
    schema, array = schema_of(stream), next_batch(stream)
    release(stream)
    child, kept = Array(), array.children[1].contents
    ctypes.memmove(ctypes.byref(child), ctypes.byref(kept), ctypes.sizeof(Array))
    kept.release = type(kept.release)()
    release(array)
    times = ctypes.cast(child.buffers[1], ctypes.POINTER(ctypes.c_int64))[:child.length]
    assert schema.children[1].contents.name == b"time"
    assert times == read_stream(opened(CHAINS, "samples"))[0]["time"]
    release(child)
    release(schema)


def test_a_schema_can_be_asked_for_again(opened):
    stream = opened(CHAINS, "stacks")
    schemas = [schema_of(stream), schema_of(stream)]
    release(stream)
    for schema in schemas:
        assert schema.children[2].contents.format == b"+l"
        assert not schema.children[2].contents.flags
        release(schema)


def test_an_unknown_table_has_no_stream(library):
    assert library.stream_open(bytes(CHAINS), b"nothing", 0, 0, 0, ctypes.byref(Stream())) != 0
    assert ctypes.sizeof(Schema) == 72 and ctypes.sizeof(Array) == 80


def test_there_are_fixtures():
    assert len(fixture_files()) > 30
