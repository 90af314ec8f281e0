"""An independent walk over the bytes of a perf.data file, header by header, as far as records are
whole.

It shares nothing with libdecode. It omits the record in which the bytes end (for a compressed one,
the part that cannot be expanded), and everything after an impossible header.
"""
import collections
import struct

from perfdata import zstd

SAMPLE, AUXTRACE, COMPRESSED, COMPRESSED2 = 9, 71, 81, 83


class Walk:
    """types: Counter of record types, including compressed records; end: offset where the walk
    stopped."""

    def __init__(self, data, start=0, order="<"):
        self.types = collections.Counter()
        self.order = order
        self.stream = b""       # decompressed, but not yet walked
        self.zstd = zstd.Decompressor()
        self.end = start + self._records(data[start:])

    @property
    def samples(self):
        return self.types[SAMPLE]

    def _records(self, data):
        at = 0
        while at + 8 <= len(data):
            kind, _, size = struct.unpack_from(f"{self.order}IHH", data, at)
            if size < 8 or at + size > len(data):
                if size > 8 and kind == COMPRESSED:
                    self._expand(data[at + 8:])
                break
            self.types[kind] += 1
            if kind == COMPRESSED:
                self._expand(data[at + 8:at + size])
            elif kind == COMPRESSED2:
                used, = struct.unpack_from(f"{self.order}Q", data, at + 8)
                self._expand(data[at + 16:at + 16 + used])
            elif kind == AUXTRACE:
                at += struct.unpack_from(f"{self.order}Q", data, at + 8)[0]
            at += size
        return at

    def _expand(self, payload):
        """A zstd stream can continue in the next record, and a new one can begin in any."""
        self.stream += self.zstd.decompress(payload)
        self.stream = self.stream[self._records(self.stream):]


def walk_file(path):
    """The Walk of a file's records to the end of the file, whatever size the header states."""
    data = path.read_bytes()
    if data[:8] not in (b"PERFILE2", b"2ELIFREP"):
        return Walk(data)       # a data.N
    order = "<" if data[:8] == b"PERFILE2" else ">"
    size, = struct.unpack_from(f"{order}Q", data, 8)
    return Walk(data, 16 if size == 16 else struct.unpack_from(f"{order}Q", data, 40)[0], order)


def walk(path):
    """The Walks of a recording by file name: it may be a directory."""
    return ({file.name: walk_file(file) for file in sorted(path.glob("data*"))} if path.is_dir()
            else {path.name: walk_file(path)})
