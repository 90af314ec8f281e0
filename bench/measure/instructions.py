"""Instructions per record, counted by callgrind on files that the tests' own builder makes: the
same numbers for the same compiler, so that a slower path shows in a diff.

Each path is run on N and on 2 N records: the difference has no start-up in it.
"""
import os
import re
import shutil
import struct
import subprocess
import sys

from measure import ROOT

COUNT = 1000


def build(name, n):
    """A file of n records of that kind, in bytes."""
    sys.path.insert(0, str(ROOT / "tests"))
    sys.dont_write_bytecode = True
    from perfdata import records as r
    from perfdata import tracing
    from perfdata.attr import Attr
    from perfdata.container import File
    from perfdata.sample import sample, sample_id

    five = "IP|TID|TIME|CPU|PERIOD"
    times = [7_000_000_000_000 + 111_111 * i for i in range(n)]
    ips = [0xffffffff81000000 + 0x1357 * (i % 4096) if i % 2 else 0x7f0012345678 + 16 * i
           for i in range(n)]
    features = {}
    if name == "short":
        attr = Attr(type=1, sample_type=five)
        body = [sample(attr, ip=ip, pid=1000 + i % 9, tid=1000 + i % 99, time=t, cpu=i % 2,
                       period=111111)
                for i, (t, ip) in enumerate(zip(times, ips))]
    elif name == "chains":
        attr = Attr(type=1, sample_type=five + "|CALLCHAIN")
        body = [sample(attr, ip=ip, pid=1000, tid=1000, time=t, cpu=i % 2, period=111111,
                       callchain=[0xffffffffffffff80, *ips[:8], 0xfffffffffffffe00,
                                  *(ip + 64 * k for k in range(12))])
                for i, (t, ip) in enumerate(zip(times, ips))]
    elif name == "dwarf":
        attr = Attr(type=1, sample_type="IP|TID|TIME|REGS_USER|STACK_USER",
                    sample_regs_user=0xff0fff, sample_stack_user=1024)
        stack = bytes(i * 7 & 255 for i in range(1024))
        body = [sample(attr, ip=ip, pid=1000, tid=1000, time=t,
                       regs_user=[ip + k for k in range(20)], stack_user=stack)
                for t, ip in zip(times, ips)]
    elif name == "tracepoints":
        fields = [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)]
        attr = Attr(type=2, config=300, sample_type="IP|TID|TIME|CPU|PERIOD|RAW")
        features[1] = tracing.tracing_data(
            {"raw_syscalls": [tracing.Format("sys_enter", 300, fields)]})
        body = [sample(attr, ip=ip, pid=1000, tid=1000, time=t, cpu=i % 2, period=1,
                       raw=tracing.common(300, 1000)
                       + struct.pack("<q6Q", i % 300, *(ip + k for k in range(6))))
                for i, (t, ip) in enumerate(zip(times, ips))]
    else:
        attr = Attr(type=1, sample_type=five)
        ids = [sample_id(attr, pid=1000, tid=1000, time=t, cpu=i % 2) for i, t in enumerate(times)]
        body = [r.comm(1000, 1000, f"worker {i % 100}", sid=sid) if i % 2 else
                r.mmap2(1000, 1000, 0x7f0000000000 + 4096 * i, 4096, 0, 8, 1, 123456 + i, 0, 5, 2,
                        "/usr/lib/x86_64-linux-gnu/libc.so.6", sid=sid)
                for i, sid in enumerate(ids)]
    return File(attrs=[(attr, [1])], records=body, features=features).build("<")


PATHS = [
    ("short", "jsonl"), ("chains", "jsonl"), ("dwarf", "jsonl"), ("tracepoints", "jsonl"),
    ("side-band", "jsonl"),
    ("short", "json"), ("short", "jsonl", "--sort", "time"), ("short", "jsonl", "--types", "COMM"),
    ("short", "jsonl", "--time", "1,2"), ("short", "stats"), ("chains", "stats"),
    ("dwarf", "stats"),
    ("tracepoints", "stats"), ("side-band", "stats"),
]


def instructions(settings, arguments):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           settings.tool("pdecode"), "-j", "1", *map(str, arguments)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                          env=settings.environment())
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found.group(1)) if found and done.returncode == 0 else None


def compiler():
    done = subprocess.run([os.environ.get("CC") or "gcc", "--version"], stdout=subprocess.PIPE,
                          text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "?"


def count(settings, report, target):
    if not shutil.which("valgrind"):
        report.skip("instructions", "no valgrind in PATH")
        return
    rows = []
    files = {}
    for kind in dict.fromkeys(path[0] for path in PATHS):
        for n in (COUNT, 2 * COUNT):
            files[kind, n] = settings.work / f"{kind}-{n}.data"
            files[kind, n].write_bytes(build(kind, n))
    for kind, form, *options in PATHS[:2] if settings.quick else PATHS:
        one, two = (instructions(settings, ["-f", form, *options, files[kind, n]])
                    for n in (COUNT, 2 * COUNT))
        if one is None or two is None:
            report.skip(f"instructions of {kind} {form}", "valgrind or pdecode failed")
            continue
        rows.append((kind, " ".join([form, *options]), round((two - one) / COUNT)))
    for path in files.values():
        path.unlink()
    report.instructions = [{"kind": a, "path": b, "per_record": c} for a, b, c in rows]
    lines = [f"# instructions per record; {compiler()}, {os.uname().machine}, one thread",
             "kind\tpath\tinstructions"]
    target.write_text("\n".join(lines + ["\t".join(map(str, row)) for row in rows]) + "\n")
