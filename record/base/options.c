/* options.c - the options of precord, a row each: perf record's, under perf's names, and a few. */
#include "base/options.h"

#include "build.h"

const struct settings settings_default = {
	.period = NOT_GIVEN, .realtime = NOT_GIVEN, .cpu_percent = NOT_GIVEN,
	.samples = true, .inherit = true, .timestamp = true, .buffering = true, .buildid = true,
	.bpf_event = true, .ksymbol = true, .mmap_flush = 1,
};

static const struct cli_option options[] = {
	CLI_GROUP("Events"),
	CLI_LIST('e', "event", "EVENT", settings, events,
		 "what to sample: cycles:u, sched:*, pmu/term=1/, mem:ADDR/LEN:w, rNNN, {a,b}:S, "
		 "uprobe:FILE:SYMBOL, kprobe:SYMBOL (default cycles, else cpu-clock)"),
	CLI_LIST(0, "filter", "EXPR", settings, filters,
		 "only what passes, of the tracepoints of the -e before it"),
	CLI_FLAG(0, "exclude-perf", settings, exclude_self,
		 "no tracepoint samples of the recorder itself; what runs is then described before "
		 "the start"),
	CLI_FLAG(0, "group", settings, group, "all events in one group"),
	CLI_STRING('F', "freq", "HZ|max", settings, freq, "samples a second (default 4000)"),
	CLI_NUMBER('c', "count", "N", settings, period, "a sample every N events"),
	CLI_FLAG(0, "strict-freq", settings, strict_freq,
		 "fail where the kernel forbids the frequency, rather than lower it"),
	CLI_SWITCH('n', "no-samples", settings, samples, "count, don't sample"),
	CLI_FLAG(0, "all-user", settings, all_user, "events of user space only"),
	CLI_FLAG(0, "all-kernel", settings, all_kernel, "events of the kernel only"),

	CLI_GROUP("Targets"),
	CLI_SWITCH('a', "all-cpus", settings, all_cpus, "the whole machine"),
	CLI_STRING('C', "cpu", "LIST", settings, cpus, "these cpus: 0-3,5"),
	CLI_LIST('p', "pid", "PID,...", settings, pids,
		 "processes, with their threads; or a regular expression of their command lines (-v lists them)"),
	CLI_LIST('t', "tid", "TID,...", settings, tids, "threads, without what they start"),
	CLI_STRING('u', "uid", "USER", settings, uid, "what this user runs"),
	CLI_LIST('G', "cgroup", "NAME,...", settings, cgroups,
		 "cgroups, one for each event or one for all; with -a"),
	CLI_FLAG(0, "per-thread", settings, per_thread, "a buffer for each thread, none for cpus"),
	CLI_SWITCH('i', "no-inherit", settings, inherit, "leave out new processes and threads"),
	CLI_FLAG(0, "inherit-thread", settings, inherit_thread,
		 "new threads, but no new processes"),
	CLI_FLAG(0, "remove-on-exec", settings, remove_on_exec, "an exec ends the recording"),
	CLI_STRING(0, "duration", "SEC", settings, duration, "stop after so many seconds"),
	CLI_STRING('D', "delay", "MS", settings, delay,
		 "start after so long; -1: with events off; 10-20,30-40: on in these times"),
	CLI_FLAG(0, "exit-with-parent", settings, exit_with_parent,
		 "stop when the process that started precord ends"),
	CLI_STRING(0, "control", "fifo:C[,A]|fd:C[,A]", settings, control,
		   "obey enable, disable, evlist, snapshot, stop, ping; answer ack or error"),

	CLI_GROUP("What a sample holds"),
	CLI_FLAG('g', "callchain", settings, callgraph, "call chains, by frame pointers"),
	CLI_STRING(0, "call-graph", "fp|dwarf[,SIZE]|lbr", settings, callgraph_mode,
		   "call chains by frame pointers, copies of the stack, or branch records"),
	CLI_STRING(0, "max-stack", "N", settings, max_stack, "frames in a call chain"),
	CLI_FLAG(0, "kernel-callchains", settings, kernel_callchains, "only their kernel part"),
	CLI_FLAG(0, "user-callchains", settings, user_callchains, "only their user part"),
	CLI_SWITCH('d', "data", settings, data, "addresses of data, and data maps"),
	CLI_SWITCH(0, "phys-data", settings, phys_data, "physical addresses of data"),
	CLI_SWITCH(0, "data-page-size", settings, data_page_size, "size of the data's page"),
	CLI_SWITCH(0, "code-page-size", settings, code_page_size, "size of the code's page"),
	CLI_SWITCH('W', "weight", settings, weight, "how costly it was"),
	CLI_SWITCH('R', "raw-samples", settings, raw, "raw data of every event"),
	CLI_FLAG('b', "branch-any", settings, branch_any, "the branches before it"),
	CLI_LIST('j', "branch-filter", "KIND,...", settings, branches,
		 "the branches of these kinds: any, any_call, any_ret, ind_call, ind_jmp, cond, "
		 "call, abort_tx, in_tx, no_tx, stack, u, k, hv, no_flags, no_cycles, save_type, "
		 "hw_index, priv, counter"),
	CLI_OPTIONAL('I', "intr-regs", "REG,...", settings, intr_regs, "",
		     "registers at the interrupt; ? lists them"),
	CLI_OPTIONAL(0, "user-regs", "REG,...", settings, user_regs, "",
		     "registers of user space; ? lists them"),
	CLI_SWITCH(0, "transaction", settings, transaction, "flags of memory transactions"),
	CLI_SWITCH('T', "timestamp", settings, timestamp, "the time (default)"),
	CLI_SWITCH('P', "period", settings, period_field, "the period"),
	CLI_SWITCH('s', "stat", settings, stat, "counts of each thread that ends"),
	CLI_SWITCH(0, "sample-cpu", settings, sample_cpu, "the cpu"),
	CLI_SWITCH(0, "sample-identifier", settings, identifier, "the event's id, first"),
	CLI_SWITCH(0, "running-time", settings, running_time, "time enabled and running, with :S"),
	CLI_OPTIONAL(0, "aux-sample", "SIZE", settings, aux_sample, "4096", "AUX data"),
	CLI_STRING('k', "clockid", "CLOCK", settings, clock,
		   "clock of the times: mono, mono_raw, real, boot, tai, or its number"),

	CLI_GROUP("What else is recorded"),
	CLI_SWITCH(0, "switch-events", settings, switch_events, "context switches"),
	CLI_SWITCH(0, "namespaces", settings, namespaces, "namespaces of processes"),
	CLI_SWITCH(0, "all-cgroups", settings, all_cgroups, "cgroups, and each sample's"),
	CLI_SWITCH(0, "no-bpf-event", settings, bpf_event, "no loading of BPF programs"),
	CLI_SWITCH(0, "ksymbol", settings, ksymbol, "new kernel symbols (default)"),
	CLI_SWITCH(0, "text-poke", settings, text_poke, "changes of the kernel's code"),
	CLI_SWITCH(0, "buildid-mmap", settings, buildid_mmap, "build ids in maps"),
	CLI_SWITCH('B', "no-buildid", settings, buildid, "no build ids at the end"),
	CLI_FLAG(0, "buildid-all", settings, buildid_all,
		 "build ids of every mapped file, not only where samples hit"),
	CLI_FLAG('N', "no-buildid-cache", settings, no_buildid_cache,
		 "fill no cache of build ids; precord never does"),
	CLI_STRING(0, "synth", "no|all|task|mmap|cgroup", settings, synth,
		   "which records for what runs already (default all)"),
	CLI_FLAG(0, "tail-synthesize", settings, tail_synth, "write these at the end"),
	CLI_NUMBER(0, "num-thread-synthesize", "N", settings, synth_threads,
		   "threads that read /proc for them (default: as many as pay)"),
	CLI_NUMBER(0, "proc-map-timeout", "MS", settings, map_timeout,
		   "time for the maps of one process (default 500)"),

	CLI_GROUP("Buffers"),
	CLI_STRING('m', "mmap-pages", "PAGES|SIZE[,AUX]", settings, mmap_pages,
		   "of each buffer: a power of two of pages, or 512K, 8M"),
	CLI_SIZE(0, "mmap-flush", "BYTES", settings, mmap_flush,
		 "leave less than this in a buffer"),
	CLI_SWITCH(0, "no-buffering", settings, buffering, "wake up for every sample"),
	CLI_FLAG(0, "overwrite", settings, overwrite,
		 "keep the newest in the buffers; write at SIGUSR2 and at the end"),
	CLI_OPTIONAL('S', "snapshot", "OPTS", settings, snapshot, "", "AUX data only at SIGUSR2"),
	CLI_OPTIONAL(0, "threads", "cpu|core|package|numa|CPUS/RUN-ON:...", settings, threads, "cpu",
		     "a thread and a file for each of these, or for these lists of cpus; the output "
		     "is a directory"),
	CLI_NUMBER('r', "realtime", "PRIO", settings, realtime,
		   "read with this SCHED_FIFO priority"),
	CLI_NUMBER(0, "cpu-percent", "N", settings, cpu_percent,
		   "let sampling take so much of the cpus (sets a sysctl meanwhile)"),

	CLI_GROUP("Output"),
	CLI_STRING('o', "output", "FILE", settings, output,
		   "- or a FIFO: a stream, as to a stdout that is a pipe without -o (default perf.data)"),
	CLI_OPTIONAL('z', "compression-level", "LEVEL", settings, compress, "1",
		     "compress with zstd, 1 to 22"),
	CLI_STRING(0, "max-size", "SIZE", settings, max_size, "stop when the file is so large"),
	CLI_OPTIONAL(0, "switch-output", "signal|SIZE|TIME", settings, switch_output, "signal",
		     "begin a new file at SIGUSR2, or after SIZE (10M: MiB) or TIME (30s, 5m: minutes)"),
	CLI_LIST(0, "switch-output-event", "EVENT", settings, rotate_triggers,
		 "begin a new file when EVENT, as for -e, occurs in the target; it is not recorded itself"),
	CLI_NUMBER(0, "switch-max-files", "N", settings, switch_max_files,
		   "keep the last N of them"),
	CLI_FLAG(0, "timestamp-filename", settings, timestamp_filename,
		 "append the time to the file's name"),
	CLI_FLAG(0, "timestamp-boundary", settings, timestamp_boundary,
		 "note the times of the first and last sample; done unless -B"),
	CLI_OPTIONAL(0, "aio", "N", settings, aio, "1",
		     "no effect, accepted for perf's scripts: a thread writes where the disk would be waited for"),
	CLI_STRING(0, "affinity", "node|cpu", settings, affinity,
		   "no effect, accepted for perf's scripts: --threads reads on the cpus of the buffers"),
	CLI_FLAG(0, "kcore", settings, kcore,
		 "copy the kernel's code and symbols (kcore, kallsyms, modules) to kcore_dir; the output is a directory"),
	CLI_FLAG(0, "strict-loss", settings, strict_loss, "exit with 1 when samples were lost"),
	CLI_FLAG('q', "quiet", settings, quiet, "only errors"),
	CLI_FLAG('v', "verbose", settings, verbose, "say more"),

	CLI_GROUP("Looking, not recording"),
	CLI_OPTIONAL(0, "list", "GLOB", settings, list, "*", "the events of this machine"),
	CLI_OPTIONAL(0, "list-names", "GLOB", settings, list_names, "*",
		     "names of events only, one a line, as -e takes them: for scripts"),
	CLI_FLAG(0, "doctor", settings, doctor, "what works on this machine, and how to get the rest"),
	CLI_FLAG(0, "clean", settings, clean, "with --doctor: remove the probes that killed recorders left"),
	CLI_FLAG(0, "print-attr", settings, print_attr,
		 "the events' attributes as pdecode's JSON, without opening them"),
	CLI_FLAG(0, "dry-run", settings, dry_run, "check the options and the events"),

	CLI_REFUSED(0, "off-cpu", "it needs a BPF program; try -e sched:sched_switch -g"),
	CLI_REFUSED(0, "pfm-events", "there is no libpfm; name the events with -e pmu/term=.../"),
	CLI_REFUSED(0, "debuginfod", "nothing is fetched from the network"),
	CLI_REFUSED(0, "vmlinux", "recording needs no symbols of the kernel"),
	CLI_REFUSED(0, "clang-path", "BPF programs are not compiled"),
	CLI_REFUSED(0, "clang-opt", "BPF programs are not compiled"),
	CLI_REFUSED(0, "setup-filter", "it needs a BPF program"),
	CLI_REFUSED(0, "bpf-filter", "it needs a BPF program"),
	CLI_END
};

static const struct cli_note sections[] = {
	{ "Events",
	  "Events are written as perf-list(1) describes: a name such as cycles, page-faults or "
	  "L1-dcache-load-misses; rHEX; TYPE:CONFIG, numbers of perf_event_attr; SYSTEM:NAME, a "
	  "tracepoint, where both may be patterns; mem:ADDR[/LEN][:rwx], a breakpoint; "
	  "pmu/term=N,.../, and the names that PMUs have for their events; uprobe:FILE:SYMBOL, "
	  "uretprobe:, kprobe:SYMBOL, kretprobe:. {a,b} is a group, name{a,b} a group with a name. "
	  "--list shows the events of this machine, --print-attr what becomes of an event." },
	{ "Terms",
	  "Terms stand between two slashes after any event but probes: period, freq, time, name, "
	  "call-graph, stack-size, max-stack, branch_type, inherit, no-inherit, overwrite, "
	  "no-overwrite, percore, aux-output, aux-sample-size, aux-action, config, config1 to "
	  "config4, and for a PMU the fields of its format directory, its events, and rHEX. Numbers "
	  "are decimal or 0x and hex." },
	{ "Modifiers",
	  "Modifiers follow a colon or the second slash: u user space, k kernel, h hypervisor, G "
	  "guests, H host, I not idle, p to ppp precise, P as precise as can be, S read the group's "
	  "counts, D pinned, e exclusive, W a group that may be split, b nothing here." },
	{ "Differences from perf record",
	  "What perf does not take: fields and flags of perf_event_attr as terms (sample_type=0x200, "
	  "exclude_idle); every term but config for tracepoints; any characters in a name in quotes; "
	  "a colon between the second slash and modifiers. A field beside an event's name replaces "
	  "the one that the name brings, where perf combines their bits: cpu/mem-loads,ldlat=30/ is "
	  "30. Refused is what perf takes and then ignores or cuts off: call-graph=x, "
	  "stack-size=65536, max-stack=70000, a group without its closing brace." },
	{ "Signals",
	  "SIGINT, SIGTERM and SIGHUP end the recording and are passed on to the command; SIGHUP is "
	  "ignored under nohup. SIGUSR2 takes a snapshot (-S, --overwrite) and begins the next file of "
	  "--switch-output." },
	{ "Switching at events",
	  "--switch-output-event does what SIGUSR2 does with --switch-output, when the event occurs in the "
	  "recorded threads and on the recorded cpus (-a: anywhere; perf looks everywhere for a command, too). "
	  "Every tracepoint hit, probe hit, breakpoint hit and software event counts, or every Nth of a "
	  "cpu with /period=N/; clocks and what a PMU counts need a period. Occurrences within 10 ms of a new file "
	  "begin one file together." },
	{ "Control",
	  "--control=fifo:C[,A] reads commands from FIFO C, a line each, and answers each on FIFO A with "
	  "\"ack\", or with \"error: REASON\" and a line on stderr; a NUL ends an answer. enable and "
	  "disable switch all events or, with a name after them, those called so; evlist prints the "
	  "events to stderr (-F: frequencies, -g: groups, -v: attributes); snapshot is SIGUSR2; stop ends "
	  "the recording; ping only answers. The FIFOs must be the caller's or root's, and no links; "
	  "fd:N[,N] takes open descriptors. -D -1 starts with events off." },
	{ "Files",
	  "Without -o a recording is perf.data, or a stream where stdout is a pipe or a socket; a regular "
	  "file at stdout (nohup, CI logs) gets one only with -o -. A recording that is there becomes "
	  "perf.data.old. Files are made anew, with mode 0600, and under sudo belong to the user behind "
	  "it. A link is followed only in a directory where nobody but the caller and root can write; "
	  "elsewhere it is removed, as is a FIFO of somebody else. --threads and --kcore make a directory, "
	  "--switch-output files named perf.data.YYYYMMDDhhmmsscc. With --overwrite, each of them holds "
	  "what the buffers held when it ended; what is newer goes to the next one. --kcore reports what of the "
	  "kernel can't be copied, such as /proc/kcore without CONFIG_PROC_KCORE, and records all the same." },
	{ "Full disk",
	  "A full disk, a limit of the file's size or an I/O error ends the recording: the file is cut "
	  "off after its last whole record, precord reports what it holds and what is lost, the command "
	  "runs to its end without being measured, and the exit status is 4. When the reader of a stream "
	  "ends, precord dies of SIGPIPE after the command's end." },
	{ NULL, NULL }
};

/* Those of -j and -k as their help has them. */
static const struct cli_values values[] = {
	{ "event", .command = "--list-names" },
	{ "switch-output-event", .command = "--list-names" },
	{ "branch-filter", .words = "any any_call any_ret ind_call ind_jmp cond call abort_tx in_tx no_tx stack u k hv no_flags "
				    "no_cycles save_type hw_index priv counter" },
	{ "clockid", .words = "mono mono_raw real boot tai" },
	{ NULL }
};

static const struct cli_note examples[] = {
	{ "precord -- ./app", "where does the time go?" },
	{ "precord -F 99 -a -g -- sleep 60", "the whole machine for a minute, with call chains" },
	{ "precord --call-graph dwarf -p 1234 --duration 10",
	  "a running process, without frame pointers" },
	{ "precord -e sched:sched_switch -a -g --duration 5", "who waits, and where" },
	{ "precord -o - -- ./app | pdecode -", "a stream into the decoder" },
	{ "precord --list 'sched:*'", "the events there are" },
	{ NULL, NULL }
};

static const struct cli_note exits[] = {
	{ "STATUS", "of the recorded command; 128 and the number of a signal that ended it" },
	{ "0", "recorded" },
	{ "1", "samples were lost, with --strict-loss" },
	{ "2", "the command line is wrong" },
	{ "3", "the kernel does not let this be recorded, or there is no such target" },
	{ "4", "the output could not be written to its end: what reached it can be read, and the command ran on" },
	{ "127", "the command could not be started" },
	{ NULL, NULL }
};

const struct cli_tool record_tool = {
	.name = "precord", .version = PD_VERSION, .build = BUILD_LINES,
	.summary = "Record performance events into perf.data.",
	.description = "Takes perf record's options and writes what perf and pdecode read.",
	.usage = "[-- COMMAND [ARG...]]", .operands = CLI_COMMAND,
	.options = options, .values = values, .examples = examples,
	.sections = sections, .exits = exits,
	.see_also = "pdecode(1), perf-record(1), perf_event_open(2)",
};
