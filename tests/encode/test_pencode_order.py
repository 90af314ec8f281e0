"""pencode reports what it cannot swap to the other byte order; everything else survives two
swaps."""
import subprocess

from conftest import TOOLS
from perfdata import features as f
from perfdata.case import attr
from perfdata.container import File
from perfdata.wire import Wire, encode, fstr, u32


def decoded(data):
    return subprocess.run([TOOLS / "pdecode", "-f", "jsonl"], input=data, capture_output=True,
                          check=False).stdout


def swapped(data, order):
    """(the file in that byte order, exit status, pencode's messages)"""
    done = subprocess.run([TOOLS / "pencode", "--byte-order", order], input=decoded(data),
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


def test_features_that_a_reader_would_take_for_others_are_refused():
    """Bit 35 of a big-endian file without HOSTNAME is HOSTNAME of a machine with 32-bit words."""
    unknown = File(attrs=[(attr("IP|TID"), [1])], features={35: lambda wire: b""}).build("<")
    _, status, said = swapped(unknown, "big")
    assert status == 3 and "FEATURE_35" in said and "HOSTNAME" in said
    named = File(attrs=[(attr("IP|TID"), [1])],
                 features={3: fstr("box"), 35: lambda wire: b""}).build("<")
    big, status, said = swapped(named, "big")
    assert status == 0 and swapped(big, "little") == (named, 0, "")


def test_words_of_32_bits_that_a_reader_would_not_recognize_are_written_as_64():
    """As when the HOSTNAME of such a recording is taken out."""
    text = decoded(File(attrs=[(attr("IP|TID"), [1])],
                        features={4: fstr("6.1"), 6: fstr("x86_64")}).build(">"))
    assert text.count(b'"long_size":8') == 1
    encoded = subprocess.run([TOOLS / "pencode"], capture_output=True, check=True,
                             input=text.replace(b'"long_size":8', b'"long_size":4')).stdout
    assert decoded(encoded) == text
