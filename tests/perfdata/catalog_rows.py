"""The rows that no other case has; tests/law/test_coverage.py requires all."""

from . import features as f
from . import records as r
from .attr import Attr
from .case import TRAILER, Case, one_record, record_facts
from .container import File, Pipe
from .wire import u32, u64

JITED, XLATED, FUNC, LINE = (bytes(range(24)), bytes(range(16)), bytes(range(8)),
                             bytes(range(16, 32)))


# A program with one of everything.
BPF_INFO = f.bpf_info.part(
    type=6, id=17, tag=bytes(range(8)), jited_prog_len=len(JITED), xlated_prog_len=len(XLATED),
    load_time=123456789, created_by_uid=1000, nr_map_ids=1, name="prog", ifindex=2,
    gpl_compatible=1, netns_dev=3, netns_ino=4, nr_jited_ksyms=1, nr_jited_func_lens=1, btf_id=5,
    func_info_rec_size=len(FUNC), nr_func_info=1, nr_line_info=1, nr_jited_line_info=1,
    line_info_rec_size=len(LINE), jited_line_info_rec_size=8, nr_prog_tags=1, run_time_ns=1111,
    run_cnt=22, recursion_misses=3, verified_insns=8, attach_btf_obj_id=9, attach_btf_id=10)
MAP_ID, ADDRESS, LENGTH = 0x4d, 0xffffffffc0001000, 0x18


def bpf_arrays():
    """In the order of the bits, each padded to a multiple of 8 bytes."""
    return [JITED, XLATED, u32(MAP_ID, 0), u64(ADDRESS), u32(LENGTH, 0), FUNC, LINE,
            bytes(range(24, 32)),
            bytes(range(8))]


def cases():
    yield Case("bpf-prog-info-whole",
               File(attrs=[(TRAILER, [42])], records=[r.finished_round()],
                    features={25: f.bpf_prog_info([(BPF_INFO, (1 << 9) - 1, bpf_arrays())])}),
               [("feature", "BPF_PROG_INFO", f"[0].data.{key}", value) for key, value in (
                   ("jited_insns", JITED.hex()), ("xlated_insns", XLATED.hex()),
                   ("map_ids", [MAP_ID]),
                   ("jited_ksyms", [hex(ADDRESS)]), ("jited_func_lens", [LENGTH]))])
    yield one_record("auxtrace-info-intel-bts-of-later", r.auxtrace_info(2, [*range(1, 7), 0x99]),
                     intel_bts__snapshot_mode=6, intel_bts__priv=["0x99"])
    attr = Attr(sample_type="IP|TIME", flags=("sample_id_all", "watermark", "use_clockid"),
                wakeup_events=4096, clockid=7)
    yield Case("pipe-watermark-clockid", Pipe([r.header_attr(attr, [42]), r.finished_round()]),
               record_facts(0, attr__wakeup_watermark=4096, attr__clockid="BOOTTIME"))
