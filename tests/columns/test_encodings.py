"""Encodings of Parquet: each is used where it is meant for, and gives back the numbers at the ends
of their types."""
import pytest

from parquet_reader import DELTA_BINARY_PACKED, PLAIN, RLE_DICTIONARY, encodings, read_parquet
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample
from test_columns import write

EVENT = Attr(type=1, sample_period=1, sample_type="IP|TID|TIME|PERIOD|CALLCHAIN",
             flags=("sample_id_all",))
SAMPLES = 4000
LEAST32, MOST32, MOST64 = -2**31, 2**31 - 1, 2**63 - 1


def scattered(i, limit):
    """A number below the limit that tells nothing of the next."""
    return (i + 1) * 0x9e3779b97f4a7c15 % limit


# Numbers that grow, with a leap to the end of their type, and back.
TIMES = [MOST64 if i == 3333 else 1000 + i * 7 for i in range(SAMPLES)]
TIDS = [MOST32 if i == 2222 else LEAST32 if i == 2223 else i for i in range(SAMPLES)]
PIDS = [scattered(i, 2**31) - (i % 2 * 2**31) for i in range(SAMPLES)]
# Numbers that come again, but not after the same one.
PERIODS = [scattered(scattered(i * i, 3001), 2**63) for i in range(SAMPLES)]


@pytest.fixture(scope="module")
def samples(run_pdecode, tmp_path_factory):
    """The files of samples whose numbers differ in each."""
    place = tmp_path_factory.mktemp("encodings")
    hits = [sample(EVENT, 2, ip=0x1000 + i % 7, pid=PIDS[i], tid=TIDS[i], time=TIMES[i],
                   period=PERIODS[i], callchain=[0x1000 + scattered(i, 2**47)] * (i % 3))
            for i in range(SAMPLES)]
    (place / "in.data").write_bytes(File(attrs=[(EVENT, [1])], records=hits).build("<"))
    return write(run_pdecode, place / "out", place / "in.data")


def test_each_is_used_where_it_is_meant_for(samples):
    found = {name: encodings(samples[name]) for name in ("samples", "stacks", "frames")}
    assert found["samples"]["time"] == found["samples"]["tid"] == {DELTA_BINARY_PACKED}
    assert found["stacks"]["stack"] == found["frames"]["frame"] == {DELTA_BINARY_PACKED}
    assert found["stacks"]["frames"] == {DELTA_BINARY_PACKED}   # of whole bytes
    assert found["samples"]["period"] == {PLAIN}
    assert found["samples"]["frame"] == {RLE_DICTIONARY, PLAIN}


def test_numbers_come_back(samples):
    table = read_parquet(samples["samples"])[0]
    assert (table["time"], table["tid"], table["pid"], table["period"]) == (
        TIMES, TIDS, PIDS, PERIODS)
    assert [len(frames) for frames in read_parquet(samples["stacks"])[0]["frames"][:3]] == [0, 1, 2]
