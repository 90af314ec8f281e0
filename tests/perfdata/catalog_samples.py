"""Cases of SAMPLE: each bit alone, all together, and every value that a field's parts can have."""

from . import records as r
from .attr import READ_FORMAT, SAMPLE_TYPE, Attr
from .case import PRESENT, Case, attr, read_facts, read_of, record_facts
from .container import File
from .records import MISC_EXACT_IP, MISC_KERNEL, MISC_USER
from .sample import NO_HW_IDX, branch, data_src, sample, sample_id, transaction
from .wire import fstr

USER_REGS = 0x1FF  # ax to ip of x86
REG_VALUES = [0x100 + i for i in range(9)]
REG_FACTS = {name: hex(0x100 + i) for i, name in enumerate("ax bx cx dx si di bp sp ip".split())}
KERNEL, USER = -128 & (1 << 64) - 1, -512 & (1 << 64) - 1

# The values for a bit, and what the JSON must show of them.
BITS = {
    "IP": ({"ip": 0xFFFFFFFF81001234}, {"ip": "0xffffffff81001234"}),
    "TID": ({"pid": 7, "tid": 8}, {"pid": 7, "tid": 8}),
    "TIME": ({"time": 4711889012345}, {"time": 4711889012345}),
    "ADDR": ({"addr": 0x7FFE00001000}, {"addr": "0x7ffe00001000"}),
    "READ": ({"read": {"value": 1 << 60}}, {"read": {"value": 1 << 60}}),
    "CALLCHAIN": (
        {"callchain": [KERNEL, 0xFFFFFFFF81000010, USER, 0x401000]},
        {"callchain": ["KERNEL", "0xffffffff81000010", "USER", "0x401000"]},
    ),
    "ID": ({"id": 42}, {"id": 42}),
    "CPU": ({"cpu": 3}, {"cpu": 3}),
    "PERIOD": ({"period": (1 << 64) - 1}, {"period": (1 << 64) - 1}),
    "STREAM_ID": ({"stream_id": 43}, {"stream_id": 43}),
    "RAW": ({"raw": bytes(range(12))}, {"raw__size": 12, "raw__data": bytes(range(12)).hex()}),
    "BRANCH_STACK": (
        {"branch_stack": {"entries": [branch(0x401000, 0x402000, predicted=1, cycles=9)]}},
        {"branch_stack__entries[0].from": "0x401000", "branch_stack__entries[0].to": "0x402000",
         "branch_stack__entries[0].mispred": 0, "branch_stack__entries[0].predicted": 1,
         "branch_stack__entries[0].cycles": 9},
    ),
    "REGS_USER": ({"regs_user": REG_VALUES}, {"regs_user__abi": "64",
                                              "regs_user__regs": REG_FACTS}),
    "STACK_USER": (
        {"stack_user": b"stack of a task!", "dyn_size": 5},
        {"stack_user__size": 16, "stack_user__dyn_size": 5,
         "stack_user__data": b"stack of a task!".hex()},
    ),
    "WEIGHT": ({"weight": 1 << 40}, {"weight": 1 << 40}),
    "DATA_SRC": (
        {"data_src": data_src(op=2, lvl=2 | 8, snoop=2, lock=1, dtlb=2 | 8, lvl_num=1)},
        {"data_src__op": ["LOAD"], "data_src__lvl": ["HIT", "L1"], "data_src__snoop": ["NONE"],
         "data_src__lock": ["NA"], "data_src__dtlb": ["HIT", "L1"], "data_src__lvl_num": ["L1"]},
    ),
    "IDENTIFIER": ({"id": 42}, {"identifier": 42}),
    "TRANSACTION": (
        {"transaction": transaction(flags=1 | 1 << 6, abort_code=0x1234)},
        {"transaction__flags": ["ELISION", "CAPACITY_WRITE"], "transaction__abort_code": 0x1234},
    ),
    "REGS_INTR": ({"regs_intr": REG_VALUES}, {"regs_intr__abi": "64",
                                              "regs_intr__regs": REG_FACTS}),
    "PHYS_ADDR": ({"phys_addr": 0x123456000}, {"phys_addr": "0x123456000"}),
    "AUX": ({"aux": b"\x02\x82" * 8}, {"aux__size": 16, "aux__data": "0282" * 8}),
    "CGROUP": ({"cgroup": 77}, {"cgroup": 77}),
    "DATA_PAGE_SIZE": ({"data_page_size": 4096}, {"data_page_size": 4096}),
    "CODE_PAGE_SIZE": ({"code_page_size": 1 << 21}, {"code_page_size": 1 << 21}),
    "WEIGHT_STRUCT": (
        {"weight_struct": (70000, 60000, 50000)},
        {"weight_struct": {"var1_dw": 70000, "var2_w": 60000, "var3_w": 50000}},
    ),
}
ARCH = {3: fstr("box"), 6: fstr("x86_64")}


def sampled(name, bits, records, expect, features=ARCH, ids=(42,), **fields):
    """A file with one attribute of these bits; records: a function that takes it."""
    a = attr(bits, **fields)
    return Case(name, File(attrs=[(a, list(ids))], records=records(a), features=features), expect)


def each_bit():
    regs = {"sample_regs_user": USER_REGS, "sample_regs_intr": USER_REGS}
    for bit in SAMPLE_TYPE:
        given, facts = BITS[bit]
        yield sampled(f"sample-{bit.lower().replace('_', '-')}", bit,
                      lambda a: [sample(a, **given)],
                      record_facts(0, type="SAMPLE", **facts), **regs)
    for leave in ("WEIGHT", "WEIGHT_STRUCT"):  # never both at once
        bits = [b for b in SAMPLE_TYPE if b != leave]
        given, facts = {}, {}
        for bit in bits:
            given.update(BITS[bit][0])
            facts.update(BITS[bit][1])
        name = "sample-all-" + ("weight-struct" if leave == "WEIGHT" else "weight")
        yield sampled(name, "|".join(bits), lambda a: [sample(a, **given), sample(a)],
                      record_facts(0, type="SAMPLE", **facts)
                      + record_facts(1, callchain=[], stack_user__size=0, aux__size=0), **regs)
    yield sampled("sample-nothing", "", lambda a: [sample(a)],
                  record_facts(0, type="SAMPLE", size=8))
    yield sampled("sample-internal-bit", 1 | 1 << 63, lambda a: [sample(a, ip=0x10)],
                  record_facts(0, ip="0x10"))
    yield sampled("sample-unknown-bit", 1 | 1 << 30, lambda a: [sample(a, ip=0x10,
                                                                       after=b"\xab" * 8)],
                  record_facts(0, ip="0x10"))
    yield sampled("sample-trailing", "IP", lambda a: [sample(a, ip=0x10, after=b"\xab" * 8)],
                  record_facts(0, ip="0x10", trailing="ab" * 8))


def paddings():
    yield sampled("padding-sample-cpu", "IP|CPU|PERIOD",
                  lambda a: [sample(a, ip=0x10, cpu=1, res=0xABABABAB, period=5)],
                  record_facts(0, ip="0x10", cpu=1, period=5, padding="abababab"))


def cpumodes():
    for value, name in enumerate("UNKNOWN KERNEL USER HYPERVISOR GUEST_KERNEL GUEST_USER".split()):
        yield sampled(f"sample-cpumode-{name.lower().replace('_', '-')}", "IP",
                      lambda a: [sample(a, misc=value, ip=1)],
                      record_facts(0, cpumode=name, ip="0x1"))
    yield sampled("sample-exact-ip", "IP", lambda a: [sample(a, misc=MISC_USER | MISC_EXACT_IP,
                                                             ip=1)],
                  record_facts(0, misc=0x4002, cpumode="USER", misc_flags=["EXACT_IP"]))


def read_formats():
    """All 32, between other fields, so that a wrong size shows."""
    for bits in range(1 << len(READ_FORMAT)):
        members = [(100, 42, 1), (200, 43, 2)]
        a = attr("TID|READ|CPU|PERIOD", read_format=bits)
        yield Case(f"sample-read-{bits:02}",
                   File(attrs=[(a, [42, 43])],
                        records=[sample(a, pid=7, tid=8, cpu=1, period=5, read=read_of(members))]),
                   record_facts(0, tid=8, cpu=1, period=5, read=read_facts(a, members)))
    a = attr("TID|READ|PERIOD", read_format="GROUP|ID")
    yield Case("sample-read-group-empty",
               File(attrs=[(a, [42])], records=[sample(a, period=5, read={"values": []})]),
               record_facts(0, period=5, read={"nr": 0, "values": []}))


def chains():
    markers = {"HV": -32, "KERNEL": -128, "USER": -512, "USER_DEFERRED": -640, "GUEST": -2048,
               "GUEST_KERNEL": -2176, "GUEST_USER": -2560}
    chain, names = [], []
    for name, value in markers.items():
        chain += [value & (1 << 64) - 1, 0x401000]
        names += [name, "0x401000"]
    yield sampled("callchain-markers", "IP|CALLCHAIN", lambda a: [sample(a, callchain=chain)],
                  record_facts(0, callchain=names))
    yield sampled("callchain-unmarked", "IP|CALLCHAIN",
                  lambda a: [sample(a, callchain=[0x401000, 0]), sample(a, misc=MISC_KERNEL)],
                  record_facts(0, callchain=["0x401000", "0x0"]) + record_facts(1, callchain=[]))
    yield sampled("callchain-long", "CALLCHAIN", lambda a: [sample(a,
                                                                   callchain=list(range(1, 500)))],
                  record_facts(0, callchain=[hex(i) for i in range(1, 500)]))
    yield sampled("callchain-deferred-sample", "TID|TIME|CALLCHAIN",
                  lambda a: [sample(a, tid=8, time=5,
                                    callchain=[markers["USER_DEFERRED"] & (1 << 64) - 1, 99]),
                             r.callchain_deferred(99, [0x401000], sid=sample_id(a, tid=8, time=6))],
                  record_facts(0, **{"callchain[0]": "USER_DEFERRED"})
                  + record_facts(1, type="CALLCHAIN_DEFERRED", ips=["0x401000"]))


def branches():
    def stack(name, entries, facts, branch_type="USER|ANY", **more):
        path = {f"branch_stack.{key}": value for key, value in facts.items()}
        return sampled(name, "IP|BRANCH_STACK|DATA_SRC",
                       lambda a: [sample(a, ip=0x10, branch_stack={"entries": entries, **more},
                                         data_src=5)],
                       record_facts(0, ip="0x10", data_src__raw=5)
                       + [("record", 0, p, v) for p, v in path.items()],
                       branch_sample_type=branch_type)

    flags = {"mispred": 1, "predicted": 1, "in_tx": 1, "abort": 1, "cycles": 0xFFFF}
    for flag, value in flags.items():
        rest = {f"entries[0].{other}": 0 for other in flags if other != flag}
        yield stack(f"branch-{flag.replace('_', '-')}", [branch(1, 2, **{flag: value})],
                    {f"entries[0].{flag}": value, **rest})
    types = ("UNKNOWN COND UNCOND IND CALL IND_CALL RET SYSCALL SYSRET COND_CALL COND_RET ERET IRQ"
             " SERROR NO_TX EXTEND_ABI").split()
    yield stack("branch-types", [branch(i, i + 1, type=i) for i in range(16)],
                {f"entries[{i}].type": name for i, name in enumerate(types)}, "USER|ANY|TYPE_SAVE")
    yield stack("branch-new-types", [branch(i, i + 1, type=15, new_type=i) for i in range(8)],
                {f"entries[{i}].from": hex(i) for i in range(8)}, "USER|ANY|TYPE_SAVE")
    yield stack("branch-spec", [branch(i, i + 1, spec=i) for i in range(4)],
                {f"entries[{i}].to": hex(i + 1) for i in range(4)})
    yield stack("branch-priv", [branch(i, i + 1, priv=i) for i in range(4)],
                {f"entries[{i}].priv": name for i,
                 name in enumerate("UNKNOWN USER KERNEL HV".split())},
                "USER|ANY|PRIV_SAVE")
    yield stack("branch-not-taken", [branch(1, 2, not_taken=1)], {"entries[0].not_taken": 1})
    yield stack("branch-all", [branch(1, 2, 1, 1, 1, 1, 0xABCD, 15, 3, 7, 3)],
                {"entries[0].cycles": 0xABCD, "entries[0].type": "EXTEND_ABI",
                 "entries[0].priv": "HV"})
    yield stack("branch-hw-idx", [branch(1, 2)], {"hw_idx": 5, "entries[0].to": "0x2"},
                "USER|ANY|HW_INDEX", hw_idx=5)
    yield stack("branch-hw-idx-none", [branch(1, 2)], {"entries[0].to": "0x2"}, "USER|ANY|HW_INDEX",
                hw_idx=(1 << 64) - 1)
    yield stack("branch-hw-idx-empty", [], {"hw_idx": 5, "entries": []}, "USER|ANY|HW_INDEX",
                hw_idx=5)
    yield stack("branch-hw-idx-left-out", [], {"entries": []}, "USER|ANY|HW_INDEX",
                hw_idx=NO_HW_IDX)
    yield stack("branch-counters", [branch(1, 2), branch(3, 4)],
                {"entries[1].from": "0x3", "counters": PRESENT}, "USER|ANY|COUNTERS",
                counters=[5, 10])
    yield stack("branch-counters-empty", [], {"entries": []}, "USER|ANY|COUNTERS")
    yield stack("branch-hw-idx-counters", [branch(1, 2)], {"hw_idx": 0, "entries[0].from": "0x1"},
                "USER|ANY|HW_INDEX|COUNTERS", counters=[5])
    # only a member of the group has COUNTERS, the samples are the leader's
    leader = attr("IP|BRANCH_STACK|IDENTIFIER", branch_sample_type="USER|ANY", read_format="ID")
    member = attr("IP|BRANCH_STACK|IDENTIFIER", branch_sample_type="USER|ANY|COUNTERS",
                  read_format="ID")
    stack_ = {"entries": [branch(1, 2)], "counters": [7]}
    yield Case("branch-counters-of-group",
               File(attrs=[(leader, [1]), (member, [2])],
                    records=[sample(leader, id=1, branch_stack=stack_)]),
               [("record", 0, "branch_stack.entries[0].from", "0x1")])


DATA_SRC_NAMES = {
    # field: (names of its values or None, whether they are bits)
    "op": (["NA", "LOAD", "STORE", "PFETCH", "EXEC"], True),
    "lvl": (["NA", "HIT", "MISS", "L1", "LFB", "L2", "L3", "LOC_RAM", "REM_RAM1", "REM_RAM2",
             "REM_CCE1",
             "REM_CCE2", "IO", "UNC"], True),
    "snoop": (["NA", "NONE", "HIT", "MISS", "HITM"], True),
    "lock": (["NA", "LOCKED"], True),
    "dtlb": (["NA", "HIT", "MISS", "L1", "L2", "WK", "OS"], True),
    "lvl_num": ([None, "L1", "L2", "L3", "L4", "L2_MHB", "MSC", "L0", "UNC", "CXL", "IO",
                 "ANY_CACHE",
                 "LFB", "RAM", "PMEM", "NA"], False),
    "remote": (["REMOTE"], True),
    "snoopx": (["FWD", "PEER"], True),
    "blk": (["NA", "DATA", "ADDR"], True),
    "hops": ([None] * 5, False),
    "region": ([None] * 16, False),
}


def data_sources():
    for field, (names, bits) in DATA_SRC_NAMES.items():
        values = [1 << i if bits else i for i in range(len(names))]
        words = [data_src(**{field: value}) for value in values]
        facts = [("record", i, "data_src.raw", word) for i, word in enumerate(words)]
        facts += [("record", i, f"data_src.{field}", [name]) for i,
                  name in enumerate(names) if name]
        if bits:
            word = data_src(**{field: sum(values)})
            facts += [("record", len(words), "data_src.raw", word),
                      ("record", len(words), f"data_src.{field}", names)]
            words.append(word)
        yield sampled(f"data-src-{field.replace('_', '-')}", "DATA_SRC",
                      lambda a: [sample(a, data_src=word) for word in words], facts)
    na = data_src(1, 1, 1, 1, 1, 15)
    yield sampled("data-src-nothing-known", "DATA_SRC", lambda a: [sample(a, data_src=na)],
                  record_facts(0, data_src__op=["NA"], data_src__lvl_num=["NA"]))
    yield sampled("data-src-reserved-bits", "DATA_SRC", lambda a: [sample(a, data_src=1 << 63 | 2)],
                  record_facts(0, data_src__raw=1 << 63 | 2, data_src__op=["LOAD"]))


def transactions():
    names = ("ELISION TRANSACTION SYNC ASYNC RETRY CONFLICT CAPACITY_WRITE CAPACITY_READ").split()
    yield sampled("transaction-flags", "TRANSACTION",
                  lambda a: [sample(a, transaction=transaction(1 << i, i)) for i in range(8)],
                  [("record", i, "transaction.flags", [name]) for i, name in enumerate(names)]
                  + [("record", i, "transaction.abort_code", i) for i in range(8)])


# machine: (uname -m, mask, {number of the register: name}); the value of register i is 0x100 + i
ARCHES = {
    "x86": ("x86_64", 0xFF0FFF, {0: "ax", 7: "sp", 8: "ip", 9: "flags", 16: "r8", 23: "r15"}),
    "x86-segments": ("x86_64", 0xFFFFFF, {12: "ds", 13: "es", 14: "fs", 15: "gs"}),
    "i386": ("i686", 0xFFF, {0: "ax", 8: "ip", 11: "ss"}),
    "arm": ("armv7l", 0xFFFF, {0: "r0", 11: "fp", 12: "ip", 13: "sp", 14: "lr", 15: "pc"}),
    "arm64": ("aarch64", (1 << 33) - 1, {0: "x0", 29: "x29", 30: "lr", 31: "sp", 32: "pc"}),
    "arm64-sve": ("aarch64", (1 << 33) - 1 | 1 << 46, {32: "pc"}),
    "riscv": ("riscv64", (1 << 32) - 1, {0: "pc", 1: "ra", 2: "sp", 10: "a0", 28: "t3"}),
    "powerpc": ("ppc64le", (1 << 59) - 1, {0: "r0", 31: "r31", 32: "nip", 36: "link"}),
    "s390": ("s390x", (1 << 34) - 1, {33: "pc"}),
    "loongarch": ("loongarch64", (1 << 32) - 1, {0: "pc", 1: "r1", 31: "r31"}),
    "mips": ("mips64", (1 << 32) - 1, {0: "pc"}),
    "csky": ("csky", (1 << 38) - 1, {0: "tls", 1: "lr", 2: "pc", 3: "sr", 4: "sp", 6: "a0"}),
}


def registers():
    for name, (machine, mask, names) in ARCHES.items():
        numbers = [i for i in range(64) if mask >> i & 1]
        abi = 1 if name in ("arm", "i386", "csky") else 2
        yield sampled(f"regs-{name}", "IP|REGS_USER|REGS_INTR|TIME",
                      lambda a: [sample(a, time=5, user_abi=abi,
                                        regs_user=[0x100 + i for i in numbers],
                                        intr_abi=abi, regs_intr=[0x200 + i for i in numbers])],
                      [("record", 0, f"regs_user.regs.{reg}", hex(0x100 + i)) for i,
                       reg in names.items()]
                      + [("record", 0, f"regs_intr.regs.{reg}", hex(0x200 + i)) for i,
                         reg in names.items()],
                      features={3: fstr("box"), 6: fstr(machine)}, sample_regs_user=mask,
                      sample_regs_intr=mask)
    xmm = 0xFF0FFF | 0xFFFFFFFF << 32
    yield sampled("regs-x86-xmm", "REGS_INTR|PHYS_ADDR",
                  lambda a: [sample(a, regs_intr=list(range(bin(xmm).count("1"))),
                                    phys_addr=0x1000)],
                  record_facts(0, regs_intr__regs__ax="0x0", phys_addr="0x1000"),
                  sample_regs_intr=xmm)
    yield sampled("regs-compat-task", "REGS_USER|STACK_USER",
                  lambda a: [sample(a, user_abi=1, regs_user=REG_VALUES)],
                  record_facts(0, regs_user__abi="32", regs_user__regs=REG_FACTS,
                               stack_user__size=0),
                  sample_regs_user=USER_REGS)
    yield sampled("regs-none", "REGS_USER|STACK_USER|REGS_INTR|TIME", lambda a: [sample(a, time=5)],
                  record_facts(0, regs_user__abi="NONE", regs_intr__abi="NONE", time=5),
                  sample_regs_user=USER_REGS, sample_regs_intr=USER_REGS)
    yield sampled("regs-arch-unknown", "REGS_USER", lambda a: [sample(a, regs_user=REG_VALUES)],
                  record_facts(0, regs_user__abi="64"), features={3: fstr("box")},
                  sample_regs_user=USER_REGS)
    yield sampled("regs-abi-unknown", "REGS_USER|PHYS_ADDR",
                  lambda a: [sample(a, user_abi=4, regs_user=REG_VALUES, phys_addr=0x1000)],
                  record_facts(0, regs_user__abi="4", phys_addr="0x1000"),
                  sample_regs_user=USER_REGS)


def raws_and_stacks():
    yield sampled("raw-empty", "IP|RAW|PHYS_ADDR", lambda a: [sample(a, raw=b"", phys_addr=0x1000)],
                  record_facts(0, raw__size=4, raw__data="00000000", phys_addr="0x1000"))
    yield sampled("raw-unaligned", "RAW|PHYS_ADDR",
                  lambda a: [sample(a, raw=b"\1\2\3\0", raw_size=3, phys_addr=0x1000)],
                  record_facts(0, raw__size=3, raw__data="010203"))
    yield sampled("raw-synthesised", "IP|RAW", lambda a: [sample(a, raw=bytes(12))],
                  record_facts(0, raw__size=12), type=0x80000000, config=5)
    yield sampled("stack-empty", "STACK_USER|PHYS_ADDR", lambda a: [sample(a, phys_addr=0x1000)],
                  record_facts(0, stack_user__size=0, phys_addr="0x1000"), sample_stack_user=8192)
    yield sampled("stack-whole", "STACK_USER", lambda a: [sample(a,
                                                                 stack_user=bytes(range(256)) * 8)],
                  record_facts(0, stack_user__size=2048, stack_user__dyn_size=2048,
                               stack_user__data=(bytes(range(256)) * 8).hex()),
                  sample_stack_user=2048)


def _trailer(a, id):
    return sample_id(a, pid=7, tid=8, id=id)


def lookups():
    """The event of a sample: by IDENTIFIER, by ID, by the only attribute, by none."""
    first, second = attr("IP|IDENTIFIER"), attr("IP|TIME|IDENTIFIER", config=1)
    yield Case("lookup-identifier",
               File(attrs=[(first, [1, 2]), (second, [3])],
                    records=[sample(second, id=3, ip=0x10, time=5), sample(first, id=2, ip=0x20),
                             r.comm(7, 8, "x", sid=_trailer(second, 3)),
                             r.comm(7, 8, "y", sid=_trailer(first, 1))]),
               record_facts(0, attr_index=1, time=5) + record_facts(1, attr_index=0, ip="0x20")
               + record_facts(2, attr_index=1, comm="x", sample_id__identifier=3)
               + record_facts(3, attr_index=0, comm="y"))
    first, second = attr("IP|TID|TIME|ID|CPU"), attr("IP|TID|TIME|ID|CPU|PERIOD", config=1)
    yield Case("lookup-id",
               File(attrs=[(first, [1]), (second, [2])],
                    records=[sample(second, id=2, ip=0x10, period=9), sample(first, id=1, ip=0x20),
                             r.comm(7, 8, "x", sid=_trailer(second, 2))]),
               record_facts(0, attr_index=1, period=9) + record_facts(1, attr_index=0)
               + record_facts(2, attr_index=1, sample_id__id=2))
    a = attr("IP|TIME")
    yield Case("lookup-single", File(attrs=[(a, [])], records=[sample(a, ip=0x10, time=5)]),
               record_facts(0, attr_index=0, ip="0x10"))
    first, second = attr("IP|TIME"), attr("IP|TIME", config=1)
    yield Case("lookup-nothing-to-go-by",
               File(attrs=[(first, [1]), (second, [2])], records=[sample(second, ip=0x10, time=5)]),
               record_facts(0, ip="0x10", time=5))
    first, second = attr("IP|IDENTIFIER"), attr("IP|IDENTIFIER", config=1)
    yield Case("lookup-id-unknown",
               File(attrs=[(first, [1]), (second, [2])], records=[sample(first, id=99, ip=0x10)]),
               record_facts(0, type="SAMPLE", ip="0x10"))
    yield Case("lookup-id-zero",
               File(attrs=[(first, [1]), (second, [2])],
                    records=[r.comm(7, 8, "x", sid=_trailer(first, 0))]),
               record_facts(0, attr_index=0, comm="x"))
    early = Attr(sample_type="IP|TID", flags=(), size=72)
    yield Case("lookup-before-sample-id-all",
               File(attrs=[(early, [1])], records=[r.comm(7, 8, "x"),
                                                   sample(early, ip=0x10, pid=7, tid=8)]),
               record_facts(0, comm="x") + record_facts(1, tid=8))


def cases():
    yield from each_bit()
    yield from paddings()
    yield from cpumodes()
    yield from read_formats()
    yield from chains()
    yield from branches()
    yield from data_sources()
    yield from transactions()
    yield from registers()
    yield from raws_and_stacks()
    yield from lookups()
