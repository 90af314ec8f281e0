"""precord --print-attr: the attribute that each option and each spelling of an event gives; no
event is opened."""
import os
import subprocess

import pytest

from recorder import precord, print_attr, run_precord, steady_rate   # noqa: F401: fixtures

pytestmark = pytest.mark.sanitize
TRACKING = {"mmap", "mmap2", "comm", "comm_exec", "task", "ksymbol", "bpf_event"}


def one(print_attr, *options):
    attrs = print_attr(*options)
    assert len(attrs) == 1, [attr.name for attr in attrs]
    return attrs[0]


def test_the_default_is_cycles_as_precise_as_can_be(print_attr):
    attr = one(print_attr)
    assert (attr.name, attr["type"], attr["config"]) == ("cycles:P", "HARDWARE", "0x0")
    assert attr["precise_ip"] == 3
    assert attr["sample_freq"] == 4000
    assert attr.sample_type == {"IP", "TID", "TIME", "PERIOD"}
    assert attr.read_format == {"ID", "LOST"}
    assert attr.flags == TRACKING | {"disabled", "inherit", "freq", "enable_on_exec",
                                     "sample_id_all", "exclude_guest",
                                     "watermark"}


FLAGS = [
    # options, flags that must be set, flags that must not
    (["--switch-events"], {"context_switch"}, set()),
    (["--namespaces"], {"namespaces"}, set()),
    (["--all-cgroups"], {"cgroup"}, set()),
    (["--no-bpf-event"], {"ksymbol"}, {"bpf_event"}),
    (["--no-ksymbol"], {"bpf_event"}, {"ksymbol"}),
    (["--text-poke"], {"text_poke"}, set()),
    (["--buildid-mmap"], {"build_id"}, set()),
    (["-d"], {"mmap_data"}, set()),
    (["-i"], set(), {"inherit"}),
    (["--no-inherit"], set(), {"inherit"}),
    (["--per-thread"], set(), {"inherit"}),
    (["--inherit-thread"], {"inherit", "inherit_thread"}, set()),
    (["--remove-on-exec"], {"remove_on_exec"}, {"enable_on_exec"}),
    (["-s"], {"inherit_stat"}, set()),
    (["-c", "1000"], set(), {"freq"}),
    (["-n"], {"disabled"}, {"freq"}),
    (["-k", "mono"], {"use_clockid"}, set()),
    (["--all-user"], {"exclude_kernel"}, {"exclude_user"}),
    (["--all-kernel"], {"exclude_user"}, {"exclude_kernel"}),
    (["-g", "--kernel-callchains"], {"exclude_callchain_user"}, {"exclude_callchain_kernel"}),
    (["-g", "--user-callchains"], {"exclude_callchain_kernel"}, {"exclude_callchain_user"}),
    (["--call-graph", "dwarf"], {"exclude_callchain_user", "mmap_data"}, set()),
    (["--call-graph", "dwarf", "--user-callchains"],
     {"exclude_callchain_user", "exclude_callchain_kernel"}, set()),
    (["-e", "cycles/call-graph=dwarf/"], {"exclude_callchain_user", "mmap_data"}, set()),
    (["-g"], set(), {"mmap_data"}),
    (["--overwrite"], {"write_backward"}, set()),
]


@pytest.mark.parametrize("options, there, absent", FLAGS,
                         ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_flags_of_options(print_attr, options, there, absent):
    attr = print_attr(*options)[0]
    flags = attr.flags | (print_attr(*options)[-1].flags & (TRACKING | {"mmap_data"}))
    assert there <= flags and not absent & attr.flags


TERM_FLAGS = ["pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
              "exclude_host", "exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user",
              "mmap", "mmap2", "mmap_data", "comm", "comm_exec", "task", "inherit_stat",
              "inherit_thread", "remove_on_exec", "context_switch", "namespaces", "ksymbol",
              "bpf_event", "cgroup", "text_poke", "build_id", "write_backward", "defer_callchain",
              "defer_output"]


@pytest.mark.parametrize("flag", TERM_FLAGS)
def test_every_flag_can_be_set_and_cleared_by_a_term(print_attr, flag):
    assert flag in one(print_attr, "-e", f"cycles/{flag}/").flags
    assert flag not in one(print_attr, "-e", f"cycles/{flag}=0/").flags


@pytest.mark.parametrize("bit, name", enumerate(
    "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER STACK_USER "
    "WEIGHT DATA_SRC "
    "IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE "
    "WEIGHT_STRUCT".split()))
def test_every_bit_of_sample_type_can_be_set_by_a_term(print_attr, bit, name):
    assert (name
            in one(print_attr, "-c", "1", "-e", f"cycles/sample_type={1 << bit:#x}/").sample_type)


@pytest.mark.parametrize("bit, name",
                         enumerate(["TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP",
                                    "LOST"]))
def test_every_bit_of_read_format_can_be_set_by_a_term(print_attr, bit, name):
    assert name in one(print_attr, "-e", f"cycles/read_format={1 << bit:#x}/").read_format


def test_sigtrap_comes_with_remove_on_exec(print_attr):
    attr = one(print_attr, "-e", "cycles/sigtrap,sig_data=0x1234/")
    assert {"sigtrap", "remove_on_exec"} <= attr.flags and "enable_on_exec" not in attr.flags
    assert attr["size"] == 128 and attr["sig_data"] in (0x1234, "0x1234")


@pytest.mark.parametrize("options, warned", [
    (["--remove-on-exec", "true"], True), (["-e", "cpu-clock/sigtrap/", "true"], True),
    (["--remove-on-exec", "-p", str(os.getpid())], False), (["--remove-on-exec", "-a"], False),
    (["true"], False)])
def test_events_that_exec_ends_are_not_for_commands(run_precord, options, warned):
    done = run_precord("--print-attr", *options)
    assert (b"events that are removed on exec see nothing of a command" in done.stderr) == warned
    assert done.returncode == 0


SAMPLE_TYPES = [
    (["-g"], {"CALLCHAIN"}), (["--call-graph", "fp"], {"CALLCHAIN"}),
    (["--call-graph", "dwarf"], {"CALLCHAIN", "REGS_USER", "STACK_USER"}),
    (["--call-graph", "lbr"], {"CALLCHAIN", "BRANCH_STACK"}),
    (["-d"], {"ADDR", "DATA_SRC"}), (["--phys-data"], {"PHYS_ADDR"}),
    (["--data-page-size"], {"DATA_PAGE_SIZE"}),
    (["--code-page-size"], {"CODE_PAGE_SIZE"}), (["-W"], {"WEIGHT_STRUCT"}),
    (["-R"], {"RAW", "CPU", "TIME"}),
    (["-b"], {"BRANCH_STACK"}), (["--user-regs"], {"REGS_USER"}), (["-I"], {"REGS_INTR"}),
    (["--transaction"], {"TRANSACTION"}), (["-T"], {"TIME"}), (["-P"], {"PERIOD"}),
    (["-c", "5", "-P"], {"PERIOD"}),
    (["--sample-cpu"], {"CPU"}), (["--sample-identifier"], {"IDENTIFIER"}),
    (["--all-cgroups"], {"CGROUP"}),
    (["-a"], {"CPU", "IDENTIFIER"}), (["--aux-sample"], {"AUX"}), (["-e", "cycles:S"], {"READ"}),
]


@pytest.mark.parametrize("options, bits", SAMPLE_TYPES,
                         ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_sample_type_of_options(print_attr, options, bits):
    assert bits | {"IP", "TID"} <= print_attr(*options)[0].sample_type


def test_time_can_be_left_out(print_attr):
    assert "TIME" not in one(print_attr, "--no-timestamp").sample_type
    assert "TIME" not in print_attr("-e", "cycles/time=0/")[0].sample_type


def test_a_period_of_its_own_needs_no_period_in_samples(print_attr):
    attr = one(print_attr, "-c", "12345")
    assert attr["sample_period"] == 12345 and "PERIOD" not in attr.sample_type


def test_max_frequency_is_the_kernels(steady_rate, print_attr):
    with open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="ascii") as limit:
        assert one(print_attr, "-F", "max")["sample_freq"] == int(limit.read())


def test_a_frequency_above_the_kernels_is_lowered_or_refused(steady_rate, print_attr, run_precord):
    with open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="ascii") as limit:
        most = int(limit.read())
    assert one(print_attr, "-F", str(most + 1))["sample_freq"] == most
    done = run_precord("--print-attr", "-F", str(most + 1), "--strict-freq")
    assert done.returncode == 3 and b"perf_event_max_sample_rate" in done.stderr


@pytest.mark.parametrize("letters, flags, precise", [
    ("u", {"exclude_kernel", "exclude_hv"}, 0), ("k", {"exclude_user", "exclude_hv"}, 0),
    ("h", {"exclude_user", "exclude_kernel"}, 0), ("uk", {"exclude_hv"}, 0),
    ("G", {"exclude_host"}, 0),
    ("H", {"exclude_guest"}, 0), ("I", {"exclude_idle"}, 0), ("p", {"exclude_guest"}, 1),
    ("ppp", {"exclude_guest"}, 3),
    ("P", set(), 3), ("D", {"pinned"}, 0), ("e", {"exclusive"}, 0),
    ("upp", {"exclude_kernel", "exclude_hv"}, 2),
])
def test_modifiers(print_attr, letters, flags, precise):
    attr = one(print_attr, "-e", f"cycles:{letters}")
    levels = {"exclude_user", "exclude_kernel", "exclude_hv"}
    assert attr.flags & levels == flags & levels and flags <= attr.flags
    assert attr["precise_ip"] == precise
    assert attr.name == f"cycles:{letters}"


@pytest.mark.parametrize("name, kind, config", [
    ("cycles", "HARDWARE", 0), ("cpu-cycles", "HARDWARE", 0), ("instructions", "HARDWARE", 1),
    ("cache-references", "HARDWARE", 2), ("cache-misses", "HARDWARE", 3),
    ("branches", "HARDWARE", 4),
    ("branch-instructions", "HARDWARE", 4), ("branch-misses", "HARDWARE", 5),
    ("bus-cycles", "HARDWARE", 6),
    ("stalled-cycles-frontend", "HARDWARE", 7), ("stalled-cycles-backend", "HARDWARE", 8),
    ("ref-cycles", "HARDWARE", 9), ("cpu-clock", "SOFTWARE", 0), ("task-clock", "SOFTWARE", 1),
    ("page-faults", "SOFTWARE", 2), ("faults", "SOFTWARE", 2), ("context-switches", "SOFTWARE", 3),
    ("cs", "SOFTWARE", 3), ("cpu-migrations", "SOFTWARE", 4), ("migrations", "SOFTWARE", 4),
    ("minor-faults", "SOFTWARE", 5), ("major-faults", "SOFTWARE", 6),
    ("alignment-faults", "SOFTWARE", 7),
    ("emulation-faults", "SOFTWARE", 8), ("dummy", "SOFTWARE", 9), ("bpf-output", "SOFTWARE", 10),
    ("cgroup-switches", "SOFTWARE", 11), ("L1-dcache-loads", "HW_CACHE", 0),
    ("L1-dcache-load-misses", "HW_CACHE", 0x10000),
    ("L1-icache-prefetch-misses", "HW_CACHE", 0x10201),
    ("LLC-stores", "HW_CACHE", 0x102), ("dTLB-store-misses", "HW_CACHE", 0x10103),
    ("iTLB-loads", "HW_CACHE", 4),
    ("branch-load-misses", "HW_CACHE", 0x10005), ("node-loads", "HW_CACHE", 6),
    ("r1a8", "RAW", 0x1a8),
])
def test_names(print_attr, name, kind, config):
    attr = print_attr("-e", name)[0]
    assert (attr["type"], int(attr["config"], 16)) == (kind, config)


@pytest.mark.parametrize("text, kind, address, length", [
    ("mem:0x1000", "RW", 0x1000, 4), ("mem:0x1000:w", "W", 0x1000, 4),
    ("mem:4096/8:rw", "RW", 0x1000, 8),
    ("mem:0x1000:x", "X", 0x1000, 8), ("mem:0x1000/1:r", "R", 0x1000, 1),
])
def test_breakpoints(print_attr, text, kind, address, length):
    attr = one(print_attr, "-e", text)
    assert (attr["type"], attr["bp_type"], int(attr["bp_addr"], 16), attr["bp_len"]) == \
        ("BREAKPOINT", kind, address, length)
    assert attr["sample_period"] == 1


def test_breakpoint_with_modifiers(print_attr):
    attr = one(print_attr, "-e", "mem:0x1000/4:w:u")
    assert attr["bp_type"] == "W" and "exclude_kernel" in attr.flags


def test_groups(print_attr):
    leader, member = print_attr("-e", "{cycles,instructions}")
    assert "disabled" in leader.flags and "disabled" not in member.flags
    assert ("enable_on_exec" not in member.flags
            and "IDENTIFIER" in leader.sample_type & member.sample_type)


def test_a_groups_leader_samples_for_all(print_attr):
    leader, member = print_attr("-e", "{cycles,instructions}:S")
    assert "READ" in leader.sample_type & member.sample_type
    assert leader.read_format == member.read_format == {"ID", "GROUP", "LOST"}
    assert leader["sample_freq"] == 4000 and member["sample_period"] == 0
    assert "inherit" not in leader.flags | member.flags


@pytest.mark.parametrize("events, options, is_said", [
    ("{cpu-clock,page-faults}:S", ["--", "true"], True),
    ("{cpu-clock,page-faults}:S", ["-p", str(os.getpid())], True),
    ("{cpu-clock,page-faults}:S", ["-a"], False), ("{cpu-clock,page-faults}:S", ["-t", "1"], False),
    ("{cpu-clock,page-faults}:S", ["-i", "--", "true"], False),
    ("{cpu-clock,page-faults}", ["--", "true"], False), ("cpu-clock:S", ["--", "true"], False),
    ("{cpu-clock/inherit/,page-faults/inherit/}:S", ["--", "true"], False)])
def test_a_group_that_leaves_new_threads_out_says_so(run_precord, events, options, is_said):
    done = run_precord("--dry-run", "-e", events, *options)
    assert done.returncode == 0
    assert (b"cpu-clock: its group with :S records no new threads" in done.stderr) == is_said


def test_running_time(print_attr):
    attrs = print_attr("--running-time", "-e", "{cycles,instructions}:S")
    assert all({"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING"} <= attr.read_format for attr in attrs)


def test_option_group(print_attr):
    leader, member = print_attr("--group", "-e", "cycles", "-e", "instructions")
    assert "disabled" in leader.flags and "disabled" not in member.flags


def test_lists_mix_with_groups(print_attr):
    names = [attr.name for attr in print_attr("-e", "cycles:u,{faults,cs}:S,cpu-clock", "-e", "r1")]
    assert names == ["cycles:u", "faults", "cs", "cpu-clock", "r1"]


def test_terms_stand_above_options(print_attr):
    first, second = print_attr("-F", "99", "-g", "-e",
                               "cycles/period=1000,call-graph=no,name=mine/u,instructions")
    assert (first.name == "mine" and first["sample_period"] == 1000
            and "CALLCHAIN" not in first.sample_type)
    assert "exclude_kernel" in first.flags
    assert second["sample_freq"] == 99 and "CALLCHAIN" in second.sample_type


@pytest.mark.parametrize("term, key, value", [
    ("freq=77", "sample_freq", 77), ("period=7", "sample_period", 7),
    ("config=0x12", "config", "0x12"),
    ("config1=0x34", "config1", "0x34"), ("config2=0x56", "config2", "0x56"),
    ("config3=0x78", "config3", "0x78"),
    ("config4=0x9a", "config4", "0x9a"), ("aux-sample-size=8192", "aux_sample_size", 8192),
    ("call-graph=dwarf,stack-size=4096", "sample_stack_user", 4096),
    ("call-graph=fp,max-stack=7", "sample_max_stack", 7),
    ("aux_watermark=4096", "aux_watermark", 4096),
])
def test_terms(print_attr, term, key, value):
    assert print_attr("-e", f"cycles/{term}/")[0][key] == value


@pytest.mark.parametrize("word, bit", [("start-paused", "aux_start_paused"), ("pause", "aux_pause"),
                                       ("resume", "aux_resume")])
def test_aux_actions(print_attr, word, bit):
    action = print_attr("-e", f"cycles/aux-action={word}/")[0]["aux_action"]
    assert [name for name, value in action.items() if value] == [bit]


@pytest.mark.parametrize("term, flag, there", [
    ("inherit", "inherit", True), ("no-inherit", "inherit", False), ("inherit=0", "inherit", False),
    ("overwrite", "write_backward", True), ("aux-output", "aux_output", True),
])
def test_choices(print_attr, term, flag, there):
    assert (flag in print_attr("-e", f"cycles/{term}/")[0].flags) == there


@pytest.mark.parametrize("words, bits", [
    ("any", {"ANY"}), ("any_call,u", {"ANY_CALL", "USER"}), ("any_ret,k", {"ANY_RETURN", "KERNEL"}),
    ("ind_call", {"IND_CALL"}), ("ind_jmp", {"IND_JUMP"}), ("cond,call", {"COND", "CALL"}),
    ("hv", {"HV", "ANY"}),
    ("abort_tx,in_tx,no_tx", {"ABORT_TX", "IN_TX", "NO_TX"}), ("stack,u", {"CALL_STACK", "USER"}),
    ("any,no_flags,no_cycles", {"ANY", "NO_FLAGS", "NO_CYCLES"}),
    ("any,save_type", {"ANY", "TYPE_SAVE"}),
    ("any,hw_index,priv,counter", {"ANY", "HW_INDEX", "PRIV_SAVE", "COUNTERS"}),
    ("u", {"USER", "ANY"}),
])
def test_branches(print_attr, words, bits):
    assert one(print_attr, "-j", words).branches == bits


def test_branches_of_one_event(print_attr):
    first, second = print_attr("-e", "cycles/branch_type=any_call/", "-e", "instructions")
    assert first.branches == {"ANY_CALL"} and second.branches == set()


def test_lbr_call_graph(print_attr):
    attr = one(print_attr, "--call-graph", "lbr")
    assert attr.branches == {"USER", "CALL_STACK", "NO_CYCLES", "NO_FLAGS", "HW_INDEX"}
    # perf writes the branches in place of the call chain's user part
    assert "exclude_callchain_user" not in attr.flags


@pytest.mark.parametrize("letters, excluded", [("", {"exclude_guest"}), (":u", {"exclude_guest"}),
                                               (":G", {"exclude_host"}),
                                               (":H", {"exclude_guest"}), (":GH", set()),
                                               (":ukGHp", set())])
def test_hosts_and_guests(print_attr, letters, excluded):
    assert (one(print_attr, "-e", f"cycles{letters}").flags & {"exclude_host", "exclude_guest"}
            == excluded)


def test_threads_that_are_named_are_meant_alone(print_attr):
    me = str(os.getpid())
    assert "inherit" not in one(print_attr, "-t", me).flags
    assert "inherit" in one(print_attr, "-t", me, "-e", "cycles/inherit/").flags
    assert "inherit" in one(print_attr, "-p", me).flags


@pytest.mark.parametrize("text, size", [("dwarf", 8192), ("dwarf,4096", 4096), ("dwarf,100", 104),
                                        ("dwarf,65528", 65528)])
def test_dwarf_stacks(print_attr, text, size):
    assert one(print_attr, "--call-graph", text)["sample_stack_user"] == size


def test_registers(print_attr):
    assert one(print_attr, "--user-regs=0x1ff")["sample_regs_user"] == "0x1ff"
    assert one(print_attr, "--intr-regs=0x100")["sample_regs_intr"] == "0x100"
    assert (one(print_attr, "--user-regs")["sample_regs_user"]
            == one(print_attr, "-I")["sample_regs_intr"] != "0x0")


@pytest.mark.parametrize("text, name", [
    ("mono", "MONOTONIC"), ("CLOCK_MONOTONIC", "MONOTONIC"), ("monotonic_raw", "MONOTONIC_RAW"),
    ("raw", "MONOTONIC_RAW"),
    ("real", "REALTIME"), ("boot", "BOOTTIME"), ("tai", "TAI"), ("11", "TAI"),
])
def test_clocks(print_attr, text, name):
    assert one(print_attr, "-k", text)["clockid"] == name


def test_max_stack(print_attr):
    assert one(print_attr, "-g", "--max-stack", "16")["sample_max_stack"] == 16


def test_when_the_reader_is_woken(print_attr):
    assert one(print_attr, "--no-buffering")["wakeup_events"] == 1
    assert one(print_attr, "-m", "64K")["wakeup_watermark"] == 32768
    assert one(print_attr, "-m", "128K")["wakeup_watermark"] == 65536
    assert one(print_attr, "-m", "512K")["wakeup_watermark"] == 131072
    assert one(print_attr, "-m", "32M")["wakeup_watermark"] == 2 << 20


@pytest.mark.parametrize("given, said", [
    ("3", "16 KiB, 4 pages"), ("100K", "128 KiB, 32 pages"),
    ("4,5", "'-m 5': a buffer is rounded up to 32 KiB"),
    ("4", ""), ("128K", ""), ("1M,64K", ""),
])
@pytest.mark.skipif(os.sysconf("SC_PAGESIZE") != 4096, reason="pages have another size")
def test_a_size_that_is_rounded_is_said(run_precord, given, said):
    done = run_precord("--dry-run", "-m", given, "--", "true")
    assert done.returncode == 0 and said in done.stderr.decode() and bool(said) == bool(done.stderr)
    assert not run_precord("-q", "--dry-run", "-m", given, "--", "true").stderr


@pytest.mark.parametrize("flush, said", [
    ("1", ""), ("32K", ""), ("33K", "drained at 32 KiB"), ("100M", "drained at 32 KiB")])
def test_a_flush_size_of_more_than_a_buffer_is_reduced(run_precord, flush, said):
    done = run_precord("--dry-run", "-m", "128K", "--mmap-flush", flush, "--", "true")
    assert done.returncode == 0 and said in done.stderr.decode() and bool(said) == bool(done.stderr)


def test_no_samples_a_second_are_refused(run_precord):
    done = run_precord("--dry-run", "-F", "0", "--", "true")
    assert done.returncode == 2 and b"at least 1, or max; use -n" in done.stderr


def test_wakeups_by_term(print_attr):
    assert one(print_attr, "-e", "cycles/wakeup=3/")["wakeup_events"] == 3


def test_counting_only(print_attr):
    first, helper = print_attr("-n")
    assert first["sample_period"] == 0 and TRACKING <= helper.flags and helper.name == "dummy:u"


def test_the_whole_machine_has_an_event_for_maps_and_tasks(print_attr):
    first, helper = print_attr("-a")
    assert not TRACKING & first.flags and TRACKING <= helper.flags
    assert "enable_on_exec" not in first.flags | helper.flags


def test_events_that_differ_have_identifiers(print_attr):
    attrs = print_attr("-e", "cpu-clock", "-e", "faults/call-graph=fp/")
    assert all("IDENTIFIER" in attr.sample_type for attr in attrs)
    assert len({attr["size"] for attr in attrs}) == 1


def test_bpf_output_brings_its_data(print_attr):
    attr = one(print_attr, "-e", "bpf-output")
    assert {"RAW", "TIME", "CPU"} <= attr.sample_type and attr["sample_period"] == 1


@pytest.mark.parametrize("options, said", [
    (["-F", "1", "-c", "1"], "-F and -c"), (["-c", "0"], "-c"), (["-F", "0"], "-F"),
    (["-F", "often"], "-F"),
    (["--call-graph", "stack"], "--call-graph"), (["--call-graph", "dwarf,100000"], "--call-graph"),
    (["-j", "some"], "some"), (["-k", "sun"], "sun"), (["-k", "3"], "number of one of these"),
    (["-C", "0,65000"], "65000"), (["--user-regs=nope"], "nope"), (["-e", "nope"], "nope"),
    (["-e", "cycles/period=often/"], "period"), (["-e", "cycles/nope/"], "nope"),
    (["-e", "cycles:z"], "cycles:z"),
    (["-e", "{cycles,faults"], "brace"), (["-e", "cycles/period=1"], "slash"), (["-e", ""], "name"),
    (["-e", "mem:here"], "mem:"), (["-e", "nope/x=1/"], "nope"),
    (["--all-user", "--all-kernel"], "--all-kernel"),
    (["--per-thread", "-a"], "--per-thread"), (["-C", "x"], "-C"),
    (["--max-stack", "many"], "--max-stack"),
    (["-m", "some"], "-m"), (["-D", "later"], "-D"), (["-D", "20-10"], "-D"),
    (["--duration", "long"], "--duration"),
    (["--switch-output=often"], "--switch-output"), (["--max-size", "5"], "--max-size"),
    (["--synth", "some"], "--synth"),
    (["-e", "uprobe:/bin/true"], "uprobe"), (["--filter", "a==1"], "--filter"),
    (["-r", "100"], "-r"),
    (["-p", ""], "'-p'"), (["-p", f"{os.getpid()},"], "'-p'"),
    (["-G", "x", "-p", str(os.getpid())], "-G records all processes of a cgroup"),
])
def test_wrong_attributes_are_named(run_precord, options, said):
    done = run_precord("--print-attr", *options)
    assert done.returncode in (2, 3)
    assert said in done.stderr.decode() and len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize("options, meant", [
    (["--call=dwarf"], ["--call-graph=dwarf"]), (["--call", "fp"], ["-g"]),
    (["--callchain"], ["-g"]), (["-g", "--no-callchain"], []), (["-g", "--no-call-graph"], []),
    (["--call-graph=dwarf", "--no-call"], []), (["--group", "--no-group"], []),
    (["--no-inh"], ["-i"]), (["--sample-c"], ["--sample-cpu"]),
])
def test_names_as_in_perf(run_precord, options, meant):
    """Long ones may be cut where one name begins so; --call is --call-graph there."""
    def attrs(*options):
        done = run_precord("--print-attr", "-e", "cycles", "-e", "faults", *options,
                           stdout=subprocess.PIPE)
        return done.returncode, done.stdout
    assert attrs(*options) == attrs(*meant) and attrs(*options)[0] == 0


def test_an_ambiguous_beginning(run_precord):
    done = run_precord("--sample", "--print-attr")
    assert done.returncode == 2 and (b"'--sample' is ambiguous: --samples, --sample-cpu, "
                                     b"--sample-identifier\n") in done.stderr
    assert b"--no-samples, --no-all-cpus" in run_precord("--no-", "--print-attr").stderr


@pytest.mark.parametrize("option", ["--pfm-events=x",
                                    "--debuginfod", "--vmlinux=x", "--clang-path=x",
                                    "--clang-opt=x"])
def test_unsupported_options_are_refused_by_name(run_precord, option):
    done = run_precord(option, "--print-attr")
    assert done.returncode == 2 and option.split("=")[0] in done.stderr.decode()


def test_dry_run_opens_nothing(run_precord, tmp_path):
    assert run_precord("--dry-run", "--", "true").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_registers_are_listed(run_precord):
    listed = run_precord("--user-regs=?", stdout=subprocess.PIPE)
    assert listed.returncode == 0 and len(listed.stdout.split()) > 10
