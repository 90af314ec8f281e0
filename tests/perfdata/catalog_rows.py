"""What no other case has: the rest of the rows that tests/law/test_coverage.py asks for."""

from . import features as f
from . import records as r
from .attr import Attr
from .case import TRAILER, Case, one_record, record_facts
from .container import File, Pipe
from .wire import bits, fixed, u32, u64

JITED, XLATED, FUNC, LINE = bytes(range(24)), bytes(range(16)), bytes(range(8)), bytes(range(16, 32))


def bpf_info():
    """struct bpf_prog_info of a program with one of everything."""
    return [
        u32(6, 17), bytes(range(8)), u32(len(JITED), len(XLATED)), u64(0, 0, 123456789), u32(1000, 1), u64(0),
        fixed("prog", 16), u32(2), bits(32, (0, 1, 1)), u64(3, 4), u32(1, 1), u64(0, 0), u32(5, len(FUNC)), u64(0),
        u32(1, 1), u64(0, 0), u32(1, len(LINE), 8, 1), u64(0, 1111, 22, 3), u32(8, 9, 10),
    ]


MAP_ID, ADDRESS, LENGTH = 0x4d, 0xffffffffc0001000, 0x18


def bpf_arrays():
    """In the order of the bits, each to a multiple of 8 bytes."""
    return [JITED, XLATED, u32(MAP_ID, 0), u64(ADDRESS), u32(LENGTH, 0), FUNC, LINE, bytes(range(24, 32)),
            bytes(range(8))]


def cases():
    yield Case("bpf-prog-info-whole",
               File(attrs=[(TRAILER, [42])], records=[r.finished_round()],
                    features={25: f.bpf_prog_info([(bpf_info(), (1 << 9) - 1, bpf_arrays())])}),
               [("feature", "BPF_PROG_INFO", f"[0].data.{key}", value) for key, value in (
                   ("jited_insns", JITED.hex()), ("xlated_insns", XLATED.hex()), ("map_ids", [MAP_ID]),
                   ("jited_ksyms", [hex(ADDRESS)]), ("jited_func_lens", [LENGTH]))])
    yield one_record("auxtrace-info-intel-bts-of-later", r.auxtrace_info(2, [*range(1, 7), 0x99]),
                     intel_bts__snapshot_mode=6, intel_bts__priv=["0x99"])
    attr = Attr(sample_type="IP|TIME", flags=("sample_id_all", "watermark", "use_clockid"), wakeup_events=4096,
                clockid=7)
    yield Case("pipe-watermark-clockid", Pipe([r.header_attr(attr, [42]), r.finished_round()]),
               record_facts(0, attr__wakeup_watermark=4096, attr__clockid="BOOTTIME"))
