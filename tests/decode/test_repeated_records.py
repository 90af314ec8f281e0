"""Records of many kinds: the head changes with misc and event; paths, flags, padding and offsets
vary."""

import json
import random

import pytest

from perfdata import records as r
from perfdata.attr import Attr
from perfdata.container import File
from perfdata.sample import sample, sample_id
from perfdata.wire import u32

COUNT = 4000
RARE = 1300     # the JSON between two of these is larger than a buffer
CPUMODES = ["UNKNOWN", "KERNEL", "USER", "HYPERVISOR", "GUEST_KERNEL", "GUEST_USER"]
PROT, MAP = ["READ", "WRITE", "EXEC"], ["SHARED", "PRIVATE"]
KEYS_FIRST = ["type", "misc", "cpumode", "attr_index"]
TEXTS = ["", "a", "sh", "kworker", "kworker/", "kworker/0", "/usr/lib/libc.so", "/usr/lib/libc.so.",
         "[vdso]", "//anon", 'a"b', "tab\there", "back\\slash and more of it", "/x/é",
         "/日本語/and/a/longer/one", "/home/user/" + "d/" * 90 + '"', "\x7f", "x" * 31, "x" * 32,
         "x" * 33]


def once(pairs):
    """An object with unique keys."""
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def flags(value, names):
    return {"raw": value, "names": [name for bit, name in enumerate(names) if value >> bit & 1]}


def padding(dirt):
    return {"padding": f"{dirt:08x}"} if dirt else {}


class Maker:
    """Random records and their expected JSON; numbers repeat, change slightly, or return to an
    earlier value."""

    def __init__(self, seed, attrs):
        self.rng, self.attrs = random.Random(seed), attrs
        self.last = {}

    def number(self, name, bits):
        near = (self.last.get(name, 1) + self.rng.randrange(3000)) % 2**bits
        edges = [0, 9, 10, 9999, 10000, 10**8 - 1, 10**8, 2**31, 2**bits - 1]
        choices = [self.last.get(name, 1)] * 6 + [near] * 2 + [self.rng.choice(edges),
                                                               self.rng.getrandbits(bits)]
        self.last[name] = self.rng.choice(choices) % 2**bits
        return self.last[name]

    def signed(self, name):
        value = self.number(name, 32)
        return value, value - 2**32 if value >> 31 else value

    def trailer(self, attr, identifier):
        (pid, pid_is), (tid, tid_is), (cpu, cpu_is) = (self.signed("s" + name)
                                                       for name in ("pid", "tid", "cpu"))
        time, dirt = self.number("time", 64), self.dirt()
        want = {"pid": pid_is, "tid": tid_is, "time": time, "cpu": cpu_is, "identifier": identifier}
        return (sample_id(attr, pid=pid, tid=tid, time=time, cpu=cpu, identifier=identifier,
                          res=dirt),
                {"sample_id": want | padding(dirt)})

    def dirt(self):
        """Bytes that should be zeros."""
        return self.rng.choice([0] * 9 + [0x2a2a2a2a])

    def map2(self, sid, misc):
        (pid, pid_is), (tid, tid_is) = self.signed("pid"), self.signed("tid")
        addr, size, pgoff = (self.number(name, 64) for name in ("addr", "len", "pgoff"))
        kind = self.rng.choice(["inode", "inode", "inode", "build id", "dirty", "old"])
        text = self.rng.choice(TEXTS) if kind != "old" else "/from/old/times"
        prot, how = self.rng.choice([(5, 2), (5, 2), (1, 1), (7, 0)])
        start = {"pid": pid_is, "tid": tid_is, "addr": hex(addr), "len": size, "pgoff": pgoff}
        mapped = {"prot": flags(prot, PROT), "flags": flags(how, MAP), "filename": text}
        if kind in ("build id", "dirty"):
            build_id, pad = self.rng.randbytes(20), (1, 0x302) if kind == "dirty" else (0, 0)
            want = start | {"build_id_size": 20, "build_id": build_id.hex()} | mapped
            made = r.mmap2_build_id(pid, tid, addr, size, pgoff, build_id, prot, how, text,
                                    misc=misc, sid=sid, pad=pad)
            return made, want, kind == "dirty"
        maj, min_, ino, gen = (self.number("maj", 32), self.number("min", 32),
                               self.number("ino", 64), self.number("gen", 64))
        inode = {"maj": maj, "min": min_, "ino": ino, "ino_generation": gen}
        if kind == "old":
            return r.mmap2_rhel7(pid, tid, addr, size, pgoff, maj, min_, ino, gen, text, misc=misc,
                                 sid=sid), \
                start | inode | {"filename": text}, False
        return r.mmap2(pid, tid, addr, size, pgoff, maj, min_, ino, gen, prot, how, text, misc=misc,
                       sid=sid), \
            start | inode | mapped, False

    def one(self, number):
        """(record, JSON without offset, size and event, whether it has padding)"""
        index = self.rng.randrange(len(self.attrs))
        attr, (identifier,) = self.attrs[index]
        sid, after = self.trailer(attr, identifier)
        mode, extra = self.rng.choice([1, 2]), self.rng.choice([0, 0, 1 << 13])
        kind = self.rng.choice(["MMAP2", "MMAP2", "COMM", "FORK", "KSYMBOL", "SWITCH", "SAMPLE",
                                "SAMPLE"])
        if number % RARE == 0:
            kind, extra = "LOST", 0
        elif kind == "SWITCH" and len(self.attrs) > 1:    # more heads than are cached
            extra = self.rng.getrandbits(16)
        (pid, pid_is), (tid, tid_is) = self.signed("pid"), self.signed("tid")
        head, dirty = {"type": kind, "misc": extra, "attr_index": index}, False
        if kind in ("MMAP2", "KSYMBOL", "SAMPLE"):
            head |= {"misc": mode | extra, "cpumode": CPUMODES[mode]}
        misc = head["misc"]
        if kind == "MMAP2":
            made, want, dirty = self.map2(sid, misc)
            head["misc"] |= (1 << 14) * ("build_id" in want)
        elif kind == "COMM":
            text = self.rng.choice(TEXTS)
            made, want = (r.comm(pid, tid, text, misc=misc, sid=sid),
                          {"pid": pid_is, "tid": tid_is, "comm": text})
            dirty = self.rng.randrange(5) == 0
            if dirty:
                after_nul = b"\0" + b"\1" * (8 - len(text.encode()) % 8)
                made = r.record(3,
                                [u32(pid, tid), text.encode(), after_nul,
                                 b"\1" * (-len(text.encode() + after_nul) % 8), sid], misc)
        elif kind == "FORK":
            time = self.number("time", 64)
            made = r.fork(pid, pid, tid, tid, time, sid=sid, misc=misc)
            want = {"pid": pid_is, "ppid": pid_is, "tid": tid_is, "ptid": tid_is, "time": time}
        elif kind == "KSYMBOL":
            addr, unregister = self.number("addr", 64), self.rng.randrange(2)
            made = r.ksymbol(addr, tid, 1, unregister, "bpf_prog", sid=sid, misc=misc)
            want = {"addr": hex(addr), "len": tid, "ksym_type": "BPF",
                    "flags": flags(unregister, ["UNREGISTER"]),
                    "name": "bpf_prog"}
        elif kind == "SWITCH":
            made, want = r.switch(misc, sid), {}
        elif kind == "LOST":
            lost = self.number("lost", 64)
            made, want = (r.lost(identifier, lost, sid=sid, misc=misc),
                          {"id": identifier, "lost": lost})
        else:
            ip, time, cpu, period = (self.number("ip", 64), self.number("time", 64),
                                     self.number("cpu", 31),
                                     self.number("period", 64))
            chain, dirt = [0xffffffffffffff80, *[ip] * self.rng.randrange(3)], self.dirt()
            made = sample(attr, identifier=identifier, ip=ip, pid=pid, tid=tid, time=time, cpu=cpu,
                          period=period, callchain=chain, res=dirt, misc=misc)
            want = {"identifier": identifier, "ip": hex(ip), "pid": pid_is, "tid": tid_is,
                    "time": time, "cpu": cpu, "period": period,
                    "callchain": ["KERNEL", *map(hex, chain[1:])]}
            after = padding(dirt)
        return made, head | want | after, dirty


@pytest.mark.sanitize
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("events", [1, 3])
@pytest.mark.parametrize("how", [("jsonl", "-j1"), ("jsonl", "-j2"), ("json", "-j1")], ids="-".join)
def test_records_by_turns(tmp_path, run_pdecode, order, events, how):
    attrs = [(Attr(type=1, config=i, sample_type="IDENTIFIER|IP|TID|TIME|CPU|PERIOD|CALLCHAIN"),
              [70 + i]) for i in range(events)]
    maker = Maker(f"{order} {events}", attrs)
    made = [maker.one(number) for number in range(COUNT)]
    path = tmp_path / "turns.data"
    path.write_bytes(File(attrs=attrs, records=[record for record, _, _ in made]).build(order))
    done = run_pdecode(["--format", *how, str(path)])
    assert done.returncode == 0, done.stderr
    if how[0] == "json":
        got = json.loads(done.stdout, object_pairs_hook=once)["records"]
    else:
        lines = [json.loads(line, object_pairs_hook=once) for line in done.stdout.splitlines()]
        got = [line for line in lines if line.pop("kind") == "record"]
    assert len(got) == COUNT
    at = got[0]["offset"]
    for record, (_, want, dirty) in zip(got, made):
        assert record.pop("offset") == at
        at += record.pop("size")
        for key in ("misc_flags", "event"):
            record.pop(key, None)
        if dirty:
            assert record.pop("padding").lstrip("0").startswith("1")
        assert record == want
        assert (list(record) == [key for key in KEYS_FIRST if key in want]
                + [key for key in want if key not in KEYS_FIRST])
