"""Samples with an id that no event has: Linux writes that of another recorder's event where both
count the same software event."""
import pytest

from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample

SOFTWARE, PAGE_FAULTS, MIGRATIONS, DUMMY = 1, 2, 4, 9
IP, TID, TIME, ADDR, IDENTIFIER = 1, 2, 4, 8, 1 << 16
TYPE = IP | TID | TIME | IDENTIFIER
FAULTS = Attr(type=SOFTWARE, config=PAGE_FAULTS, sample_type=TYPE | ADDR, sample_period=1)
COUNTING = Attr(type=SOFTWARE, config=MIGRATIONS, sample_type=TYPE)     # as in a group with :S
OTHER = Attr(type=SOFTWARE, config=DUMMY, sample_type=TYPE)
FOREIGN = 99


def samples(event):
    return [sample(event, id=id, ip=0x1000, pid=7, tid=7, time=id, addr=5) for id in (1, FOREIGN)]


@pytest.fixture
def read(tmp_path, decoder):
    def read(attrs, records, order):
        path = tmp_path / "p.data"
        path.write_bytes(File(attrs=attrs, records=records).build(order))
        document, returncode, _ = decoder.result(path)
        return [r for r in document["records"] if r["type"] == "SAMPLE"], document, returncode
    return read


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("dummies", [[(OTHER, [2])], [(OTHER, [2]), (OTHER, [3])],
                                     [(COUNTING, [2]), (OTHER, [3])]],
                         ids=["dummy", "dummies", "counting"])
@pytest.mark.parametrize("is_first", [True, False])
def test_the_only_event_with_samples_has_them(is_first, dummies, order, read):
    attrs = [(FAULTS, [1]), *dummies] if is_first else [*dummies, (FAULTS, [1])]
    found, document, returncode = read(attrs, samples(FAULTS), order)
    assert returncode == 0 and document["errors"] == []
    assert [(r["attr_index"], r["identifier"], r["addr"]) for r in found] \
        == [(0 if is_first else len(dummies), id, "0x5") for id in (1, FOREIGN)]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("rate, flag", [(1, []), (4000, ["freq"]), (0, ["freq"])])
def test_one_of_several_is_not_guessed(rate, flag, order, read):
    second = Attr(type=SOFTWARE, config=MIGRATIONS, sample_type=TYPE, sample_period=rate,
                  flags=("sample_id_all", *flag))
    found, document, returncode = read([(FAULTS, [1]), (OTHER, [2]), (second, [3])],
                                       samples(FAULTS), order)
    assert returncode == 1 and [error["code"] for error in document["errors"]] == ["NO_ATTR"]
    assert [r.get("attr_index") for r in found] == [0, None] and "body" in found[1]
