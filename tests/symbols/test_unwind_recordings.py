"""Recordings of other machines, with their programs: unwound as by perf."""
import pytest

from conftest import CORPUS, NO_CORPUS
from unwind_oracle import KNOWN, count, explain_perf, our_stacks, perf_stacks

RECORDED = "/tmp/vector_static_clang_v8.0.1"
PERFPARSER = CORPUS / "perfparser"

needs_corpus = pytest.mark.skipif(not PERFPARSER.is_dir(), reason=NO_CORPUS)


@needs_corpus
def test_a_static_program_as_perf(perf, tmp_path):
    path = PERFPARSER / "vector_static_clang.perf.data"
    (tmp_path / "tmp").mkdir()
    (tmp_path / RECORDED[1:]).write_bytes((PERFPARSER / "vector_static_clang").read_bytes())
    ours = our_stacks(path, f"map={RECORDED}:{tmp_path / RECORDED[1:]}")
    theirs = dict(perf_stacks(perf, path, "--symfs", tmp_path))
    assert len(ours) == len(theirs) > 50
    reasons = []
    for key, end, frames in ours:
        # perf does not show code that is in no map, or in a file that it does not have.
        shown = [frame for frame in frames if frame.file == RECORDED]
        reasons.append(explain_perf(theirs[key], shown, end))
    assert set(reasons) <= KNOWN, count(reasons)
    assert count(reasons)["same"] >= 50
    assert sum(len(frames) for _, _, frames in ours) > 150


@needs_corpus
def test_another_static_program():
    """perf 6.1 does not read this one. Without the program, that is what ends each chain.

    The samples are precise, and where the last instruction was a return, the address that it used
    was not copied: these 18 have a wrong second frame. 5 more are at the entry point, whose CFI
    states a return address.
    """
    path = PERFPARSER / "cpp-inlining.perf.data"
    without = our_stacks(path)
    name = next(frame.file for _, _, frames in without for frame in frames
                if frame.file.endswith("/cpp-inlining"))
    found = our_stacks(path, f"map={name}:{PERFPARSER / 'cpp-inlining'}")
    assert count(end for _, end, _ in without) == {"NO_FILE": 539}
    assert count(end for _, end, _ in found) == {"BOTTOM": 515, "STACK_CUT": 1, "NO_MAP": 23}
    assert sum(
        len(frames)
        for _, _, frames in without) == len(without) < sum(len(frames)
                                                           for _, _, frames in found) / 3
