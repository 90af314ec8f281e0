"""pencode reports what it cannot swap to the other byte order; everything else survives two
swaps."""
import subprocess

from conftest import TOOLS
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.wire import Wire, encode, fstr, u32


def swapped(data, order):
    """(the file in that byte order, exit status, pencode's messages)"""
    decoded = subprocess.run([TOOLS / "pdecode", "-f", "jsonl"], input=data, capture_output=True,
                             check=False).stdout
    done = subprocess.run([TOOLS / "pencode", "--byte-order", order], input=decoded,
                          capture_output=True, check=False)
    return done.stdout, done.returncode, done.stderr.decode()


def test_raw_bytes_that_cannot_be_swapped_are_reported():
    """A topology with four more bytes: without NRCPUS it can't have CPUs."""
    blob = encode(f.cpu_topology(["0-3"], []), Wire("<")) + b"\1\2\3\4"
    data = File(attrs=[(attr("IP|TID"), [1])], features={13: lambda wire: blob}).build("<")
    _, status, said = swapped(data, "big")
    assert status == 1 and "CPU_TOPOLOGY_raw left out" in said
    same, status, said = swapped(data, "little")
    assert (same, status, said) == (data, 0, "")


def test_gaps_without_a_place_in_the_other_order_are_reported():
    """The sizes of sections change, here because of a text longer than its padding, which moves the
    gaps between them."""
    blob = encode(u32(70), Wire("<")) + b"box" + bytes(67)
    data = File(attrs=[(attr("IP|TID"), [1])], features={3: lambda wire: blob},
                tail=b"\7\7\7").build("<")
    _, status, said = swapped(data, "big")
    assert status == 1 and "gaps left out: 3 bytes" in said and "HOSTNAME_raw left out" in said


def test_gaps_of_a_file_whose_sections_keep_their_sizes_survive():
    data = File(attrs=[(attr("IP|TID"), [1])], features={3: fstr("box")}, tail=b"\7\7\7").build("<")
    big, status, said = swapped(data, "big")
    assert status == 0 and not said and big.endswith(b"\7\7\7")
    assert swapped(big, "little") == (data, 0, "")
