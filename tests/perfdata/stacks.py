"""Samples with a stack dump of 8 KiB of a smaller stack: the kernel leaves the buffer's old bytes
after it."""
from .attr import Attr
from .sample import sample
from .wire import Wire, encode

STACKS = Attr(type=1, config=2, sample_period=1, sample_type="IP|TID|TIME|STACK_USER")
SIZE = 8192


def _one(number, time, stack):
    return sample(STACKS, ip=5, pid=3, tid=3, time=time + 20 * number, stack_user=stack,
                  dyn_size=96)


def with_old_records(first, count=100, order="<", before=4096):
    """Each contains the beginning of an older sample of the same size, which would end after the
    beginning of the next one: the old samples form a chain, as the real ones do."""
    return [_one(first + n, 2 * 10**9,
                 (bytes(before) + encode(_one(first + n, 10**9, bytes(SIZE)), Wire(order)))[:SIZE])
            for n in range(count)]
