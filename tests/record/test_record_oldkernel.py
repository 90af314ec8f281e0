"""precord on older kernels: a preloaded perf_event_open(2) refuses what they would refuse."""
import errno
import os

import pytest

from compiled import preloaded
from conftest import TOOLS
from recorder import precord, record, run_precord, workload   # noqa: F401

# Known bits of a kernel of this version: attr.flags, sample_type, read_format.
KERNELS = {
    "5.4": (0x0000_0000_ffff_ffff, 0x1fffff, 0xf),
    "4.4": (0x0000_0000_07ff_ffff, 0x7ffff, 0xf),
    "3.12": (0x0000_0000_007f_ffff, 0x1ffff, 0xf),
}

pytestmark = pytest.mark.skipif("san" in TOOLS.name, reason="a sanitizer must be loaded first")


@pytest.fixture(scope="module")
def shim(workload):
    return preloaded("oldkernel", workload.parent)


@pytest.fixture
def old(record, shim):
    def run(*options, kernel=None, does="spin 30", status=0, **more):
        environment = dict(os.environ, LD_PRELOAD=str(shim), **more)
        if kernel:
            environment.update(zip(("OLD_FLAGS", "OLD_SAMPLE", "OLD_READ"),
                                   map(hex, KERNELS[kernel])),
                               OLD_RELEASE=f"{kernel}.0-test")
        return record("-v", *options, does=does, status=status, env=environment)
    return run


def names(attr, key):
    return set(attr[key]["names"])


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_defaults_work_on_every_kernel(old, kernel):
    run = old("-e", "cpu-clock", "-g", "-F", "1000", kernel=kernel)
    assert len(run.samples) > 10
    flags, sample, read = KERNELS[kernel]
    assert not run.attr()["flags"]["raw"] & ~flags and not run.attr()["read_format"]["raw"] & ~read
    assert "without counts of lost samples" in run.stderr
    assert ("ksymbol" in names(run.attr(), "flags")) == (kernel == "5.4")
    assert ("mmap2" in names(run.attr(), "flags")) == (kernel != "3.12")
    assert run.count("MMAP2" if kernel != "3.12" else "MMAP") > 0


def test_omitted_requests_are_reported(old):
    run = old("-e", "cpu-clock", "--all-cgroups", "--namespaces", "--code-page-size", "-W",
              kernel="4.4")
    for words in ("without cgroups", "without namespaces", "without page sizes"):
        assert f"recording {words} (needs Linux " in run.stderr
    assert ("WEIGHT" in names(run.attr(), "sample_type")
            and "WEIGHT_STRUCT" not in names(run.attr(), "sample_type"))


def test_a_kernel_that_should_know_refuses(old):
    run = old("-e", "cpu-clock", "--namespaces", OLD_FLAGS="0x07ffffff")
    assert ("recording without namespaces (refused by this kernel)" in run.stderr
            and "Linux" not in run.stderr)


def test_nothing_is_left_out_when_that_does_not_help(old, run_precord, shim):
    run = run_precord("-e", "cpu-clock", "--", "true",
                      env=dict(os.environ, LD_PRELOAD=str(shim), OLD_TYPE="1",
                               OLD_ERRNO=f"{errno.EINVAL:x}"))
    assert run.returncode == 3 and b"EINVAL" in run.stderr and b"without" not in run.stderr


@pytest.mark.parametrize("number, said", [
    (errno.EBUSY, "EBUSY"), (errno.ENOSPC, "ENOSPC"), (errno.ENOSYS, "ENOSYS"),
    (errno.EOVERFLOW, "EOVERFLOW"),
    (errno.ENOENT, "ENOENT"), (errno.EOPNOTSUPP, "EOPNOTSUPP"), (errno.ESRCH, "ESRCH"),
    (errno.EMFILE, "EMFILE"),
    (errno.E2BIG, "E2BIG"),
])
def test_errors_are_explained(run_precord, shim, number, said):
    run = run_precord("-e", "cpu-clock", "-o", "perf.data", "--", "true",
                      env=dict(os.environ, LD_PRELOAD=str(shim), OLD_TYPE="1",
                               OLD_ERRNO=f"{number:x}"))
    assert run.returncode == 3 and said in run.stderr.decode()
    assert len(run.stderr.splitlines()) <= 2


def test_lost_chunks_are_said_where_samples_are_not_counted(old):
    run = old("-e", "page-faults", "-c", "1", "-m", "1", kernel="5.4", does="touch 30000")
    if run.count("LOST"):
        assert f"Lost samples {run.count('LOST')} times" in run.stderr
