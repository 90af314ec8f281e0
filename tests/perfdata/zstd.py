"""zstd streams, by the C library that the tools are linked with: Python's bindings differ between
distributions."""

import ctypes

CONTINUE, FLUSH, END = range(3)  # ZSTD_EndDirective
_COMPRESSION_LEVEL = 100  # ZSTD_c_compressionLevel
_ROOM = 1 << 17


class Error(Exception):
    """An error that the library reports."""


class _Buffer(ctypes.Structure):
    """ZSTD_inBuffer, ZSTD_outBuffer."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


def _library():
    lib = ctypes.CDLL("libzstd.so.1")
    stream, buffer = ctypes.c_void_p, ctypes.POINTER(_Buffer)
    for name, result, *arguments in (
            ("ZSTD_createCCtx", stream), ("ZSTD_createDCtx", stream),
            ("ZSTD_freeCCtx", ctypes.c_size_t, stream), ("ZSTD_freeDCtx", ctypes.c_size_t, stream),
            ("ZSTD_CCtx_setParameter", ctypes.c_size_t, stream, ctypes.c_int, ctypes.c_int),
            ("ZSTD_compressStream2", ctypes.c_size_t, stream, buffer, buffer, ctypes.c_int),
            ("ZSTD_decompressStream", ctypes.c_size_t, stream, buffer, buffer),
            ("ZSTD_isError", ctypes.c_uint, ctypes.c_size_t),
            ("ZSTD_getErrorName", ctypes.c_char_p, ctypes.c_size_t)):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


_lib = _library()


def _checked(result):
    if _lib.ZSTD_isError(result):
        raise Error(_lib.ZSTD_getErrorName(result).decode())
    return result


class Compressor:
    def __init__(self, level=3):
        self._stream = _lib.ZSTD_createCCtx()
        _checked(_lib.ZSTD_CCtx_setParameter(self._stream, _COMPRESSION_LEVEL, level))

    def __del__(self):
        _lib.ZSTD_freeCCtx(self._stream)

    def compress(self, data, directive=FLUSH):
        room, out = ctypes.create_string_buffer(_ROOM), b""
        source = _Buffer(ctypes.cast(ctypes.c_char_p(bytes(data)), ctypes.c_void_p), len(data), 0)
        while True:
            target = _Buffer(ctypes.cast(room, ctypes.c_void_p), _ROOM, 0)
            left = _checked(_lib.ZSTD_compressStream2(self._stream, target, source, directive))
            out += room[:target.at]
            if source.at == source.size and (directive == CONTINUE or left == 0):
                return out


class Decompressor:
    """One frame after the other."""

    def __init__(self):
        self._stream = _lib.ZSTD_createDCtx()

    def __del__(self):
        _lib.ZSTD_freeDCtx(self._stream)

    def decompress(self, data):
        room, out = ctypes.create_string_buffer(_ROOM), b""
        source = _Buffer(ctypes.cast(ctypes.c_char_p(bytes(data)), ctypes.c_void_p), len(data), 0)
        while True:
            target = _Buffer(ctypes.cast(room, ctypes.c_void_p), _ROOM, 0)
            _checked(_lib.ZSTD_decompressStream(self._stream, target, source))
            out += room[:target.at]
            if source.at == source.size and target.at < _ROOM:
                return out


def compress(data, level=3):
    """One whole frame."""
    return Compressor(level).compress(data, END)
