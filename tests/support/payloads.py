"""Recordings with damage that only shows when payloads are read."""
from conftest import FIXTURES


def short_payload(path):
    """Writes a recording in which the text of a tracepoint is after the end of its payload."""
    data = bytearray((FIXTURES / "perf" / "12-tracepoints.data").read_bytes())
    at = data.index(bytes.fromhex("6d0100018e210000")) + 8      # __data_loc of the file's name
    data[at:at + 4] = bytes.fromhex("ff00ff00")
    path.write_bytes(data)
    return path
