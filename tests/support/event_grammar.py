"""Event strings for -e, generated from the grammar in perf-list(1) and perf-record(1), and the PMUs
that they name.

The strings are pseudorandom, the same in each run. An invalid one is a valid one with a mistake.
"""
import random
import re

# The PMUs in sysfs: of the core, two uncore ones of one kind, one whose events have parameters.
PMUS = {
    "cpu": {
        "type": 4, "format/event": "config:0-7", "format/umask": "config:8-15",
        "format/edge": "config:18", "format/inv": "config:23", "format/cmask": "config:24-31",
        "format/ldlat": "config1:0-15", "format/frontend": "config1:0-23",
        "events/cpu-cycles": "event=0x3c", "events/instructions": "event=0xc0",
        "events/cache-misses": "event=0x2e,umask=0x41",
        "events/mem-loads": "event=0xcd,umask=0x1,ldlat=3",
        "events/topdown-retiring": "event=0x00,umask=0x80"},
    "software": {"type": 1},
    "tracepoint": {"type": 2},
    "breakpoint": {"type": 5},
    "msr": {"type": 9, "format/event": "config:0-63", "events/tsc": "event=0x00"},
    "uncore_imc_0": {"type": 12, "cpumask": "0", "format/event": "config:0-7",
                     "format/umask": "config:8-15",
                     "events/cas_count_read": "event=0x04,umask=0x03"},
    "uncore_imc_1": {"type": 13, "cpumask": "0", "format/event": "config:0-7",
                     "format/umask": "config:8-15",
                     "events/cas_count_read": "event=0x04,umask=0x03"},
    "hv_gpci": {"type": 14, "format/request": "config:0-31",
                "format/starting_index": "config:32-63",
                "events/dispatch": "request=0x10,starting_index=?"},
}

SYMBOLS = ["cycles", "cpu-cycles", "instructions", "cache-references", "cache-misses", "branches",
           "branch-misses", "bus-cycles", "ref-cycles", "idle-cycles-frontend",
           "stalled-cycles-backend", "cpu-clock", "task-clock", "page-faults", "faults", "cs",
           "context-switches", "migrations", "minor-faults", "major-faults", "alignment-faults",
           "emulation-faults", "dummy", "bpf-output", "cgroup-switches"]
CACHES = ["L1-dcache", "l1-d", "l1d", "L1-data", "L1-icache", "l1-i", "L1-instruction", "LLC", "L2",
          "dTLB", "d-tlb", "Data-TLB", "iTLB", "i-tlb", "Instruction-TLB", "branch", "bpu", "btb",
          "bpc", "node"]
CACHE_WORDS = ["load", "loads", "read", "store", "stores", "write", "prefetch", "prefetches",
               "speculative-read", "speculative-load", "refs", "Reference", "ops", "access",
               "misses", "miss"]
READ_WORDS = ["load", "loads", "read", "refs", "Reference", "ops", "access", "misses", "miss"]
RAW = ["r0", "r1a8", "rF", "rcafe", "rABCDEF", "rffffffffffffffff", "r20000038f"]
NUMERIC = ["0:0", "0:1", "1:2", "1:0x9", "1:0xa", "01:02", "0x1:3", "3:65536", "4:0x1a8", "5:3",
           "12:5", "999:1", "1 : 2", "4294967295:1", "1:0xffffffffffffffff",
           "1:18446744073709551615"]
TRACEPOINTS = ["sched:sched_switch", "sched:sched_wakeup", "raw_syscalls:sys_enter",
               "syscalls:sys_enter_openat", "sched:sched_switc?", "sched:sched_w[ao][ki]?[pn]*",
               "sch?d:sched_switch", "sched : sched_switch"]
BREAKPOINTS = ["mem:0x1000", "mem:4096", "mem:010", "mem:0x1000/1", "mem:0x1000/0x8",
               "mem:0x1000/0", "mem:0x1000:r", "mem:0x1000:w", "mem:0x1000:rw", "mem:0x1000:wr",
               "mem:0x1000:x", "mem:0x1000:rwx", "mem:0x1000:xr", "mem:0x1000/2:rw",
               "mem:0xffffffff81000000/4:w", "mem:0x7fffffffffff/8:x"]
PMU_TERMS = ["event=0x3c", "event=60", "event=010", "umask=0x1", "edge", "edge=1", "inv", "inv=0",
             "cmask=255", "ldlat=65535", "frontend=0x400416", "config=0x1a8", "config1=0x10",
             "config2=3"]
PMU_EVENTS = ["cpu-cycles", "instructions", "cache-misses", "mem-loads", "topdown-retiring", "r1a8",
              "r0x1a8", "rA8"]
ALIASES = ["mem-loads", "topdown-retiring", "tsc", "cas_count_read"]
ANY_TERMS = ["period=1000", "period=0x10", "period=010", "period", "freq=99", "freq", "time",
             "time=0", "time=1", "call-graph=fp", "call-graph=dwarf", "call-graph=lbr",
             "call-graph=no", "stack-size=1024", "stack-size=100", "max-stack=10", "max-stack",
             "max-stack=0", "inherit", "inherit=0", "no-inherit", "no-inherit=1", "overwrite",
             "no-overwrite", "percore", "percore=0", "aux-output", "nr=3", "branch_type=any",
             "branch_type=any_call", "branch_type=u", "branch_type=k", "branch_type=ind_call",
             "branch_type=save_type", "branch_type=stack"]
CONFIG_TERMS = ["config=1", "config1=0x20", "config2=3"]
NAMES = ["name=x", "name=my-name", "name=a.b_c", "name=a:b", "name=desc", "name=orig", "name='x'",
         "name='x:y=1,z'", "name='LSD.UOPS_CYCLES:cmask=0x1'",
         "name='COMPLEX:orig=cycles,desc=chip-clock-ticks'", "name=\"x\"", "name=cycles",
         "name=L1-dcache-loads"]
TRACEPOINT_TERMS = [term for term in ANY_TERMS if term.split("=")[0] in (
    "call-graph", "stack-size", "max-stack", "inherit", "no-inherit", "overwrite", "no-overwrite",
    "aux-output", "nr")]
MODIFIERS = ["u", "k", "h", "uk", "ukh", "kh", "p", "pp", "ppp", "P", "upp", "kP", "S", "Su", "D",
             "e", "I", "G", "H", "GH", "HG", "Gu", "uH", "pG", "Hp", "GHpp", "b", "uD", "ukhIDe",
             "pSu", "Ge", ""]


def terms_of(rng, pool, names=True, most=3):
    """Terms that do not contradict each other: at most one for each key."""
    chosen, keys = [], set()
    for term in rng.sample(pool, k=min(len(pool), rng.randint(0, most))):
        key = term.split("=")[0].replace("no-", "")
        if key not in keys and not (key in ("period", "freq") and keys & {"period", "freq"}):
            chosen.append(term)
            keys.add(key)
    if names and rng.random() < 0.3:
        chosen.insert(rng.randint(0, len(chosen)), rng.choice(NAMES))
    return chosen


def tail(rng, terms, colon=(":",)):
    """The text after an event's name: terms between slashes, modifiers; sometimes with blanks."""
    modifiers = rng.choice(MODIFIERS)
    blank = " " if rng.random() < 0.06 else ""
    if rng.random() < 0.5:
        return rng.choice(["", "", f":{modifiers}{blank}"])
    colon = rng.choice(colon) if modifiers else ""
    return f"/{blank}{(blank + ',').join(terms)}{blank}/{colon}{blank}{modifiers}"


def cache_event(rng):
    """Stores and prefetches are valid for some caches only."""
    cache = rng.choice(CACHES)
    pool = (CACHE_WORDS if cache.startswith(("L1-d", "l1d", "l1-d", "L1-data", "LLC", "d", "D"))
            else READ_WORDS)
    return "-".join([cache, *(rng.choice(pool) for _ in range(rng.choice([0, 1, 1, 2, 2])))])


def symbol(rng):
    terms = terms_of(rng, ANY_TERMS + CONFIG_TERMS)
    if rng.random() < 0.4:
        return rng.choice(SYMBOLS) + tail(rng, terms, colon=("",))
    return ((cache_event(rng) if rng.random() < 0.5 else rng.choice(RAW + NUMERIC))
            + tail(rng, terms, colon=("", ":")))


def tracepoint(rng):
    return rng.choice(TRACEPOINTS) + tail(rng, terms_of(rng, TRACEPOINT_TERMS, names=False))


def breakpoint_event(rng):
    name = rng.choice(BREAKPOINTS)
    modifiers = rng.choice(MODIFIERS)
    more = tail(rng, terms_of(rng, ANY_TERMS + CONFIG_TERMS), colon=("", ":"))
    return rng.choice([name, f"{name}:{modifiers}", f"{name}{more}"])


def pmu_event(rng):
    kind = rng.random()
    if kind < 0.2:
        terms = ",".join(terms_of(rng, ANY_TERMS))
        return (rng.choice(ALIASES) + (f"/{terms}/" if rng.random() < 0.5 else ":")
                + rng.choice(MODIFIERS))
    if kind < 0.35:
        event = rng.choice(["cas_count_read", "event=1", "event=1,umask=2"])
        pmu = rng.choice(["imc", "uncore_imc", "imc_0", "uncore_imc_1"])
        return f"{pmu}/{event}/{rng.choice(['', 'u', 'k'])}"
    if kind < 0.4:
        return rng.choice(["msr/tsc/", "msr/event=0/u", "software/config=1/",
                           "software/config=2,name=x/k", "cpu//", "cpu//u",
                           "tracepoint/config=300/", "hv_gpci/dispatch,starting_index=3/",
                           "cpu/event=mem-loads/",
                           "cpu/@sink/"])
    first = [rng.choice(PMU_EVENTS)] if rng.random() < 0.4 else []
    # whether a term can override one of the event is tested elsewhere
    pool = ["inv", "cmask=255"] + ANY_TERMS if first else PMU_TERMS + ANY_TERMS
    blank = " " if rng.random() < 0.06 else ""
    terms = f"{blank},{blank}".join(first + terms_of(rng, pool, most=4))
    return f"cpu{blank}/{terms}{blank}/{blank}{rng.choice(MODIFIERS)}{blank}"


def group(rng):
    # newer perfs regroup events of several PMUs
    members = [member for member in (symbol(rng) for _ in range(rng.randint(1, 3)))
               if not re.match("(5|12|999|4294967295):", member)] or ["cycles"]
    name = rng.choice(["", "", "grp", "my_group", "'grp'", "grp "])
    blank = " " if rng.random() < 0.1 else ""
    modifiers = rng.choice(["", ":S", ":u", ":k", ":D", ":e", ":W", ":uS", ":G", ":H", ":p", ":uh"])
    # perf 6.1 drops S and precision of a member if the group has modifiers
    if modifiers and any(set("SpP") & set(re.split("[:/]", member)[-1]) for member in members):
        modifiers = ""
    return f"{name}{{{blank}{(blank + ',').join(members)}{blank}}}{modifiers}"


def right(count, seed=1):
    """Valid strings. Each name, term and modifier is alone in one of them."""
    rng = random.Random(seed)
    strings = SYMBOLS + CACHES + RAW + NUMERIC + TRACEPOINTS + BREAKPOINTS + ALIASES
    strings += [f"{cache}-{word}" for cache in ("L1-dcache", "dTLB") for word in CACHE_WORDS]
    strings += [f"cycles/{term}/" for term in ANY_TERMS + CONFIG_TERMS + NAMES]
    strings += ([f"cycles:{letters}" for letters in MODIFIERS]
                + [f"cpu/{term}/" for term in PMU_TERMS + PMU_EVENTS])
    kinds = [symbol, symbol, tracepoint, breakpoint_event, pmu_event, pmu_event, group]
    while len(strings) < count:
        strings.append(",".join(rng.choice(kinds)(rng) for _ in range(rng.choice([1, 1, 1, 2]))))
    return list(dict.fromkeys(strings))


def wrong(count, seed=2):
    """Invalid strings, each with one mistake."""
    rng = random.Random(seed)
    strings = ["", ",", "cycles,", ",cycles", "cycles,,cs", "nosuch", "CYCLES", "cpu_clock",
               "llc-loads", "L1-dcache-", "{}", "L1-dcache-x", "L1-dcache-load-", "r", "rxyz",
               "r0x1a8", "RA", "1", "1:", ":1", "1:a", "1:2:3", "0x1:0X2", "1:18446744073709551616",
               "1:0x1ffffffffffffffff", "sched:", ":sched_switch", "sched:nosuch", "nosys:nosuch",
               "SCHED:sched_switch", "mem", "mem:", "mem:zz", "mem:0X10", "mem:0x1000:ww",
               "mem:0x1000:rwxr", "mem:0x1000:q", "mem:0x1000/4/w", "mem:0x1000:u/name=x/",
               "mem:0xffffffffffffffff1", "nopmu/event=1/", "cpu/", "cpu/event=1", "cpu/nosuch/",
               "cpu/nosuch=1/", "cpu/event=256/", "cpu/event=x/", "cpu/event=0X1/", "cpu/event=/",
               "cpu/=1/", "cpu/event==1/", "cpu/event=1.5/", "cpu/mem-loads,cache-misses/",
               "cpu/,/", "cpu/event=1,/", "cpu/page-faults/", "cpu/inv=2/", "cpu/rzz/",
               "hv_gpci/dispatch/", "imc/event=1,cmask=3/", "software/event=1/", "//", "/", ":u",
               "{cycles,{cs,faults}}", "cycles,cs}", "{cycles,}", "{cycles,cs}:", "{cycles,cs}u",
               "{cycles,cs}:z", "{cycles:pp,cs}:pp", "1:2/umask=3/", "r1a8/umask=3/",
               "cycles/umask=1/", "sched:sched_switch/config=1/", "mem:0x1000:w/umask=3/",
               "cycles/period=5/name=x/", "cycles///", "/period=5/"]
    strings += [f"cycles/{term}/" for term in (
        "nosuch", "period=x", "period=5,", ",period=5", "PERIOD=5", "name", "name=", "name=12",
        "name=0x12", "name=''", "name=a+b", "name=a@b", "time=2", "time=x", "call-graph",
        "call-graph=1", "branch_type", "branch_type=x", "percore=2", "max-stack=x", "freq=1.5",
        "config=x", "inherit=x")]
    strings += [f"cycles:{letters}"
                for letters in ("z", "uu", "uku", "pppp", "PP", "SS", "uDD", "uz", "u:k",
                                "u/period=5/")]
    while len(strings) < count:
        base = rng.choice([symbol, breakpoint_event, pmu_event])(rng)
        strings.append(rng.choice([
            f"{base},", f",{base}", f"{{{base}", f"{base}}}", f"{base}:zz", f"{base}/", f"x{base}",
            f"{base}:u:u", base.replace("/", "//", 1) + "x", base.replace(":", "::", 1) + ":q",
            f"{base},nosuch"]))
    return list(dict.fromkeys(strings))


def write_pmus(directory):
    """Writes the files of PMUS to the directory."""
    for pmu, files in PMUS.items():
        for name, content in files.items():
            path = directory / pmu / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
