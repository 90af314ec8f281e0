"""Samples with a copy of 8 KiB of a stack that is smaller: behind what there is of it the kernel leaves what its buffer held before."""
from .attr import Attr
from .sample import sample
from .wire import Wire, encode

STACKS = Attr(type=1, config=2, sample_period=1, sample_type="IP|TID|TIME|STACK_USER")
SIZE = 8192


def _one(number, time, stack):
    return sample(STACKS, ip=5, pid=3, tid=3, time=time + 20 * number, stack_user=stack, dyn_size=96)


def with_old_records(first, count=100, order="<", before=4096):
    """In each lies the beginning of an older one of the same size, which ends behind the beginning of the next: the old ones lead to
    each other as the others do."""
    return [_one(first + n, 2 * 10**9, (bytes(before) + encode(_one(first + n, 10**9, bytes(SIZE)), Wire(order)))[:SIZE])
            for n in range(count)]
