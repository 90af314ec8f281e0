"""The objects of a store: recordings under raw keys, and the files made of them.

A store is a pyarrow FileSystem that sees one folder, local or not. Raw keys are
date=2026-11-22/hour=13/host=web-01/NAME, or .../host=web-01/weight=20/NAME for a recording that was
made with a probability of 1/20; the date and hour are those of the upload. An object does not
change once it is there."""
import hashlib
import re
import typing
import uuid
import zlib

import pyarrow.fs

PART_BYTES = 64 << 20
_BLOCK = 1 << 20
_RAW_KEY = re.compile(
    r"date=([^/]+)/hour=([^/]+)/host=([^/]+)/(?:weight=([1-9]\d*(?:\.\d+)?)/)?[^/]+", re.ASCII)


class Item(typing.NamedTuple):
    key: str
    size: int


class Place(typing.NamedTuple):
    """The part of the store that a recording belongs to."""
    date: str
    hour: str
    shard: int

    @property
    def hour_key(self):
        return f"date={self.date}/hour={self.hour}"

    @property
    def key(self):
        return f"{self.hour_key}/shard={self.shard:02}"


def open_store(uri):
    """A folder, or a URI of pyarrow: s3://bucket/folder."""
    if "://" in uri:
        system, folder = pyarrow.fs.FileSystem.from_uri(uri)
    else:
        system, folder = pyarrow.fs.LocalFileSystem(), uri
    return pyarrow.fs.SubTreeFileSystem(folder, system)


def find(store, folder=""):
    """The objects in a folder, by key."""
    selector = pyarrow.fs.FileSelector(folder, allow_not_found=True, recursive=True)
    return sorted(Item(info.path, info.size) for info in store.get_file_info(selector)
                  if info.type == pyarrow.fs.FileType.File)


def read(store, key):
    with store.open_input_file(key) as file:
        return file.read_buffer()


def put(store, key, data):
    """Writes an object. It appears under its key when it is complete, and replaces the one that was
    there."""
    part = f"incomplete/{uuid.uuid4()}"
    for path in (part, key):
        store.create_dir(path.rpartition("/")[0], recursive=True)
    with store.open_output_stream(part) as file:
        file.write(data)
    store.move(part, key)


def remove(store, keys):
    for key in keys:
        store.delete_file(key)


def split(items, limit=PART_BYTES):
    """Lists of items, each of at most `limit` bytes or of one item."""
    parts, size = [], 0
    for item in items:
        if not parts or size + item.size > limit:
            parts.append([])
            size = 0
        parts[-1].append(item)
        size += item.size
    return parts


def identity(store, key):
    """32 hex digits of the SHA-256 of the content."""
    digest = hashlib.sha256()
    with store.open_input_stream(key) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()[:32]


def host_of(key):
    """The host that a raw key names, or None."""
    found = _RAW_KEY.fullmatch(key)
    return found and found[3]


def weight_of(key):
    """The weight that a raw key states, or None."""
    found = _RAW_KEY.fullmatch(key)
    return float(found[4]) if found and found[4] else None


def place_of(key, shards):
    """The place of the recording with a raw key. Others than the raw keys above belong to
    `unknown`."""
    found = _RAW_KEY.fullmatch(key)
    date, hour, host, _ = found.groups() if found else ("unknown", "unknown", "", None)
    return Place(date, hour, zlib.crc32(host.encode()) % shards)
