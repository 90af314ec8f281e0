"""Text of more samples than the output holds at once."""
import re

from known_recording import Recording
from profiles import preport

SAMPLES = 20_000


def test_each_sample_has_its_line(tmp_path):
    """Lines end at other places of the output each time, as names and numbers have other sizes."""
    it = Recording()
    for pid in range(10, 210):
        it.task(pid)
    want = []
    for i in range(SAMPLES):
        time, pid, period = 1_000_000 + 7_777 * i * i, 10 + i * i % 199, 10 ** (i % 12)
        it.sample(time, pid, period, 0x1000, *[0x2010] * (i * i % 7))
        want.append((pid, f"{time // 10 ** 9}.{time // 1000 % 10 ** 6:06}", period))
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    text = preport("-f", "script", "-F", "tid,time,period", path).decode()
    assert [(int(tid), time, int(period)) for tid, time, period in
            re.findall(r"^ *(\d+) +([\d.]+): +(\d+) *$", text, re.M)] == want
    heads = re.findall(r"^ *task (\d+) .*?([\d.]+): ", preport("-f", "script", path).decode(), re.M)
    assert [(int(pid), time) for pid, time in heads] == [(pid, time) for pid, time, _ in want]
