"""A file system with a directory and one file, the copy of another, that stops answering.

    silent_fuse.py MOUNTPOINT FILE OPERATION

Prints "mounted". After a line on stdin the operation (lookup, open or read) is received and never
answered, and neither is any later request; "stop" does not even receive them. The name of the file
is FILE's, and the kernel may keep nothing that it was told.
"""
import ctypes
import os
import select
import struct
import sys

# linux/fuse.h
LOOKUP, FORGET, GETATTR, OPEN, READ, INIT, OPENDIR = 1, 2, 3, 14, 15, 26, 27
FLUSH, RELEASE, INTERRUPT, BATCH_FORGET = 25, 18, 36, 42
NAMES = {"lookup": LOOKUP, "open": OPEN, "read": READ, "stop": None}
IN_HEADER = struct.Struct("=IIQQIIII")
OUT_HEADER = struct.Struct("=IiQ")
ROOT, FILE = 1, 2
ENOENT, ENOSYS = 2, 38
BUFFER = 1 << 17


def attributes(node, size):
    mode = 0o40755 if node == ROOT else 0o100755
    return struct.pack("=6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096,
                       0)


class Server:
    def __init__(self, fd, path):
        self.fd = fd
        self.name = os.path.basename(path).encode()
        with open(path, "rb") as file:
            self.content = file.read()
        self.silent_at = 0      # no operation

    def result(self, operation, node, body):
        """The answer's bytes, or an error's number."""
        if operation == INIT:
            return struct.pack("=IIIIHHIIHHI28x", 7, 31, BUFFER, 0, 16, 12, 65536, 1, 16, 0, 0)
        if operation == LOOKUP:
            if body.rstrip(b"\0") != self.name:
                return ENOENT
            return struct.pack("=QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE, len(self.content))
        if operation == GETATTR:
            return struct.pack("=QII", 0, 0, 0) + attributes(node, len(self.content))
        if operation in (OPEN, OPENDIR):
            return struct.pack("=QII", 0, 0, 0)
        if operation == READ:
            at, size = struct.unpack_from("=QI", body, 8)
            return self.content[at:at + size]
        return b"" if operation in (FLUSH, RELEASE) else ENOSYS

    def serve_one(self):
        """False: from now on nothing is answered."""
        request = os.read(self.fd, BUFFER + 4096)
        _, operation, unique, node, *_ = IN_HEADER.unpack_from(request)
        if operation == self.silent_at:
            return False
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            return True
        result = self.result(operation, node, request[IN_HEADER.size:])
        body, error = (b"", -result) if isinstance(result, int) else (result, 0)
        os.write(self.fd, OUT_HEADER.pack(OUT_HEADER.size + len(body), error, unique) + body)
        return True


def main():
    mountpoint, path, operation = sys.argv[1:]
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"silent", mountpoint.encode(), b"fuse", 0, options.encode()):
        sys.exit(os.strerror(ctypes.get_errno()))
    print("mounted", flush=True)
    server = Server(fd, path)
    answers = True
    while True:
        for ready in select.select([fd, 0], [], [])[0]:
            if ready == fd:
                answers = server.serve_one() if answers else os.read(fd, BUFFER + 4096)
            elif not sys.stdin.readline():
                return
            else:
                server.silent_at = NAMES[operation]
                print("silent", flush=True)
                if operation == "stop":
                    sys.stdin.read()
                    return


main()
