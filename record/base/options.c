/* options.c - the options of precord, a row each: those of perf record, and a few more. */
#include "base/options.h"

#include "cli/build.h"

const struct settings settings_default = {
	.period = NOT_GIVEN, .realtime = NOT_GIVEN, .cpu_percent = NOT_GIVEN,
	.samples = true, .inherit = true, .timestamp = true, .buffering = true, .buildid = true,
	.bpf_event = true, .ksymbol = true, .mmap_flush = 1,
};

const char *const settings_symbols[] = { "auto", "names", "lines", "off", NULL };

static const struct cli_option options[] = {
	CLI_GROUP("Events"),
	CLI_LIST('e', "event", "EVENT", settings, events,
		 "events to sample: cycles:u, sched:*, pmu/term=1/, mem:ADDR/LEN:w, rNNN, {a,b}:S, "
		 "uprobe:FILE:SYMBOL, kprobe:SYMBOL (default cycles, else cpu-clock)"),
	CLI_LIST(0, "filter", "EXPR", settings, filters,
		 "filter for the tracepoints of the preceding -e"),
	CLI_FLAG(0, "exclude-perf", settings, exclude_self,
		 "no tracepoint samples of precord itself; the records of running processes are "
		 "then written before the start"),
	CLI_SWITCH(0, "group", settings, group, "put all events in one group"),
	CLI_STRING('F', "freq", "HZ|max", settings, freq, "samples per second (default 4000)"),
	CLI_NUMBER('c', "count", "N", settings, period, "take a sample every N events"),
	CLI_FLAG(0, "strict-freq", settings, strict_freq,
		 "fail if the kernel does not allow the frequency, instead of lowering it"),
	CLI_SWITCH('n', "no-samples", settings, samples, "count, don't sample"),
	CLI_FLAG(0, "all-user", settings, all_user, "events in user space only"),
	CLI_FLAG(0, "all-kernel", settings, all_kernel, "events in the kernel only"),

	CLI_GROUP("Targets"),
	CLI_SWITCH('a', "all-cpus", settings, all_cpus, "record all CPUs"),
	CLI_STRING('C', "cpu", "LIST", settings, cpus, "record these CPUs: 0-3,5"),
	CLI_LIST('p', "pid", "PID,...", settings, pids,
		 "processes, with their threads; or a regular expression that matches their "
		 "command lines (-v lists them)"),
	CLI_LIST('t', "tid", "TID,...", settings, tids, "threads, without their children"),
	CLI_STRING('u', "uid", "USER", settings, uid, "the processes of this user"),
	CLI_LIST('G', "cgroup", "NAME,...", settings, cgroups,
		 "cgroups, one for each event or one for all; with -a"),
	CLI_FLAG(0, "per-thread", settings, per_thread,
		 "a buffer for each thread, instead of one for each CPU"),
	CLI_SWITCH('i', "no-inherit", settings, inherit, "leave out new processes and threads"),
	CLI_FLAG(0, "inherit-thread", settings, inherit_thread,
		 "record new threads, but no new processes"),
	CLI_FLAG(0, "remove-on-exec", settings, remove_on_exec, "stop recording a process at exec"),
	CLI_STRING(0, "duration", "SEC", settings, duration, "stop after this many seconds"),
	CLI_STRING('D', "delay", "MS", settings, delay,
		 "start after this time; -1: with events disabled; 10-20,30-40: enable events in "
		 "these times"),
	CLI_FLAG(0, "exit-with-parent", settings, exit_with_parent,
		 "stop when the process that started precord ends"),
	CLI_STRING(0, "control", "fifo:C[,A]|fd:C[,A]", settings, control,
		   "obey enable, disable, evlist, snapshot, stop, ping; answer ack or error"),

	CLI_GROUP("Fields of samples"),
	/* perf has no such long name: its --call is --call-graph. */
	CLI_SWITCH_EXACT('g', "callchain", settings, callgraph, "call chains, by frame pointers"),
	CLI_STRING(0, "call-graph", "fp|dwarf[,SIZE]|lbr", settings, callgraph_mode,
		   "call chains by frame pointers, stack copies or branch records"),
	CLI_FLAG(0, "no-call-graph", settings, no_callgraph,
		 "no call chains, whatever other options say"),
	CLI_STRING(0, "max-stack", "N", settings, max_stack,
		   "maximum number of frames in a call chain"),
	CLI_FLAG(0, "kernel-callchains", settings, kernel_callchains,
		 "only the kernel part of call chains"),
	CLI_FLAG(0, "user-callchains", settings, user_callchains,
		 "only the user part of call chains"),
	CLI_SWITCH('d', "data", settings, data, "data addresses, and maps of data"),
	CLI_SWITCH(0, "phys-data", settings, phys_data, "physical data addresses"),
	CLI_SWITCH(0, "data-page-size", settings, data_page_size, "page size of the data address"),
	CLI_SWITCH(0, "code-page-size", settings, code_page_size, "page size of the code address"),
	CLI_SWITCH('W', "weight", settings, weight, "weight: the cost of the sampled operation"),
	CLI_SWITCH('R', "raw-samples", settings, raw, "raw data of all events"),
	CLI_FLAG('b', "branch-any", settings, branch_any, "preceding branches of any kind"),
	CLI_LIST('j', "branch-filter", "KIND,...", settings, branches,
		 "preceding branches of these kinds: any, any_call, any_ret, ind_call, ind_jmp, "
		 "cond, call, abort_tx, in_tx, no_tx, stack, u, k, hv, no_flags, no_cycles, "
		 "save_type, hw_index, priv, counter"),
	CLI_OPTIONAL('I', "intr-regs", "REG,...", settings, intr_regs, "",
		     "registers at the interrupt; ? lists them"),
	CLI_OPTIONAL(0, "user-regs", "REG,...", settings, user_regs, "",
		     "registers of user space; ? lists them"),
	CLI_SWITCH(0, "transaction", settings, transaction, "flags of memory transactions"),
	CLI_SWITCH('T', "timestamp", settings, timestamp, "time (default)"),
	CLI_SWITCH('P', "period", settings, period_field, "period"),
	CLI_SWITCH('s', "stat", settings, stat, "counts of each thread when it exits"),
	CLI_SWITCH(0, "sample-cpu", settings, sample_cpu, "CPU"),
	CLI_SWITCH(0, "sample-identifier", settings, identifier, "event id, as the first field"),
	CLI_SWITCH(0, "running-time", settings, running_time, "time enabled and running, with :S"),
	CLI_OPTIONAL(0, "aux-sample", "SIZE", settings, aux_sample, "4096", "AUX data"),
	CLI_STRING('k', "clockid", "CLOCK", settings, clock,
		   "clock for the time: mono, mono_raw, real, boot, tai or its number"),

	CLI_GROUP("Other records"),
	CLI_FLAG(0, "off-cpu", settings, off_cpu,
		 "where threads wait, for preport --off-cpu: context switches, and "
		 "sched:sched_switch if tracepoints are allowed; implies -g"),
	CLI_SWITCH(0, "switch-events", settings, switch_events, "context switches"),
	CLI_SWITCH(0, "namespaces", settings, namespaces, "namespaces of processes"),
	CLI_SWITCH(0, "all-cgroups", settings, all_cgroups, "cgroups, also in samples"),
	CLI_SWITCH(0, "no-bpf-event", settings, bpf_event, "no records of loaded BPF programs"),
	CLI_SWITCH(0, "ksymbol", settings, ksymbol, "new kernel symbols (default)"),
	CLI_SWITCH(0, "text-poke", settings, text_poke, "changes of kernel code"),
	CLI_SWITCH(0, "buildid-mmap", settings, buildid_mmap, "build ids in map records"),
	CLI_SWITCH('B', "no-buildid", settings, buildid, "no build ids at the end of the file"),
	CLI_FLAG(0, "buildid-all", settings, buildid_all,
		 "build ids of all mapped files, not only of those that samples hit"),
	CLI_CHOICE(0, "symbols", NULL, settings, symbols, settings_symbols,
		   "functions that were hit, for pdecode on machines without the files: names, in "
		   "the file, those inlined there included; lines: source lines, too; off; auto "
		   "(default): names, but not with -z, -B or --switch-output"),
	CLI_STRING(0, "symbols-file", "FILE", settings, symbols_file,
		   "write the names to FILE, for a stream (-o -), which can't hold them; until the "
		   "end the recording is copied to a temporary file in TMPDIR or /tmp"),
	CLI_FLAG('N', "no-buildid-cache", settings, no_buildid_cache,
		 "don't fill a build-id cache; precord never does"),
	CLI_STRING(0, "synth", "no|all|task|mmap|cgroup", settings, synth,
		   "records to synthesize for running processes (default all)"),
	CLI_FLAG(0, "tail-synthesize", settings, tail_synth,
		 "write the synthesized records at the end"),
	CLI_NUMBER(0, "num-thread-synthesize", "N", settings, synth_threads,
		   "threads that read /proc to synthesize records (default: as many as help)"),
	CLI_NUMBER(0, "proc-map-timeout", "MS", settings, map_timeout,
		   "time limit for reading the maps of a process (default 500)"),

	CLI_GROUP("Buffers"),
	CLI_STRING('m', "mmap-pages", "PAGES|SIZE[,AUX]", settings, mmap_pages,
		   "size of each ring buffer: a power of two of pages, or 512K, 8M"),
	CLI_SIZE(0, "mmap-flush", "BYTES", settings, mmap_flush,
		 "don't read a ring buffer that holds less than this"),
	CLI_SWITCH(0, "no-buffering", settings, buffering, "wake up for every sample"),
	CLI_FLAG(0, "overwrite", settings, overwrite,
		 "overwrite the oldest records in the ring buffers; write them at SIGUSR2 and at "
		 "the end"),
	CLI_OPTIONAL('S', "snapshot", "OPTS", settings, snapshot, "",
		     "write AUX data only at SIGUSR2"),
	CLI_OPTIONAL(0, "threads", "cpu|core|package|numa|CPUS/RUN-ON:...", settings, threads,
		     "cpu",
		     "a thread and a file for each of these, or for these lists of CPUs; the "
		     "output is a directory"),
	CLI_NUMBER('r', "realtime", "PRIO", settings, realtime,
		   "read the ring buffers with this SCHED_FIFO priority"),
	CLI_NUMBER(0, "cpu-percent", "N", settings, cpu_percent,
		   "limit for the CPU time of sampling (sets a sysctl during the recording)"),

	CLI_GROUP("Output"),
	CLI_STRING('o', "output", "FILE", settings, output,
		   "file, FIFO, or - for a stream; a stream is also the default if stdout is a "
		   "pipe (default perf.data)"),
	CLI_OPTIONAL('z', "compression-level", "LEVEL", settings, compress, "1",
		     "compress with zstd, 1 to 22"),
	CLI_STRING(0, "max-size", "SIZE", settings, max_size,
		   "stop when the file has this size; the records that are in the buffers then, "
		   "those of running processes, and the features at the end come on top"),
	CLI_OPTIONAL(0, "switch-output", "signal|SIZE|TIME", settings, switch_output, "signal",
		     "begin a new file at SIGUSR2, or after SIZE (10M: MiB) or TIME (30s, 5m: "
		     "minutes)"),
	CLI_LIST(0, "switch-output-event", "EVENT", settings, rotate_triggers,
		 "begin a new file when EVENT, as for -e, occurs in the target; it is not recorded "
		 "itself"),
	CLI_NUMBER(0, "switch-max-files", "N", settings, switch_max_files,
		   "keep only the last N of these files"),
	CLI_FLAG(0, "timestamp-filename", settings, timestamp_filename,
		 "append the time to the file's name"),
	CLI_FLAG(0, "timestamp-boundary", settings, timestamp_boundary,
		 "store the times of the first and last sample; done unless -B"),
	CLI_OPTIONAL(0, "aio", "N", settings, aio, "1",
		     "no effect, for compatibility with perf: a thread writes whenever the disk "
		     "would block"),
	CLI_STRING(0, "affinity", "node|cpu", settings, affinity,
		   "no effect, for compatibility with perf: --threads reads on the CPUs of the "
		   "buffers"),
	CLI_FLAG(0, "kcore", settings, kcore,
		 "copy the kernel's code and symbols (kcore, kallsyms, modules) to kcore_dir; the "
		 "output is a directory"),
	CLI_FLAG(0, "strict-loss", settings, strict_loss, "exit with 1 if samples were lost"),
	CLI_FLAG('q', "quiet", settings, quiet, "print errors only"),
	CLI_FLAG('v', "verbose", settings, verbose, "print more messages"),

	CLI_GROUP("After the recording"),
	CLI_OPTIONAL(0, "flamegraph", "FILE", settings, flamegraph, "perf.html",
		     "write a flame graph, an HTML page or if the name ends in .svg a picture "
		     "(default perf.html), with preport; implies -g unless --call-graph is given"),
	CLI_FLAG(0, "top", settings, top,
		 "print which functions take the time, with preport; implies -g likewise"),
	CLI_GROUP("Information"),
	CLI_OPTIONAL(0, "list", "GLOB", settings, list, "*", "list the events of this machine"),
	CLI_OPTIONAL(0, "list-names", "GLOB", settings, list_names, "*",
		     "list only names that -e accepts, one per line, for scripts"),
	CLI_FLAG(0, "doctor", settings, doctor,
		 "report what can be recorded on this machine, and how to enable the rest"),
	CLI_FLAG(0, "clean", settings, clean,
		 "with --doctor: remove the probes that killed recorders left behind"),
	CLI_FLAG(0, "print-attr", settings, print_attr,
		 "print the events' attributes as pdecode's JSON, without opening the events"),
	CLI_FLAG(0, "dry-run", settings, dry_run, "check the options and events, and exit"),

	CLI_REFUSED(0, "pfm-events",
		    "libpfm is not supported; name the events with -e pmu/term=.../"),
	CLI_REFUSED(0, "debuginfod", "precord downloads nothing"),
	CLI_REFUSED(0, "vmlinux", "recording needs no kernel symbols"),
	CLI_REFUSED(0, "clang-path", "precord compiles no BPF programs"),
	CLI_REFUSED(0, "clang-opt", "precord compiles no BPF programs"),
	CLI_REFUSED(0, "setup-filter", "it needs a BPF program"),
	CLI_REFUSED(0, "bpf-filter", "it needs a BPF program"),
	CLI_END
};

static const struct cli_note sections[] = {
	{ "Events",
	  "Events are written as perf-list(1) describes: a name such as cycles, page-faults or "
	  "L1-dcache-load-misses; rHEX; TYPE:CONFIG, numbers for perf_event_attr; SYSTEM:NAME, a "
	  "tracepoint, where both may be patterns; mem:ADDR[/LEN][:rwx], a breakpoint; "
	  "pmu/term=N,.../, and the names that PMUs have for their events; uprobe:FILE:SYMBOL, "
	  "uretprobe:, kprobe:SYMBOL, kretprobe:. {a,b} is a group, name{a,b} a group with a name. "
	  "A probe that new processes inherit (of a command, -p or -u), or that has fetch "
	  "arguments, is created in tracefs for the recording. "
	  "--list shows the events of this machine, --print-attr the attribute of an event." },
	{ "Terms",
	  "Terms are written between two slashes after any event except probes: period, freq, "
	  "time, name, call-graph, stack-size, max-stack, branch_type, inherit, no-inherit, "
	  "overwrite, no-overwrite, percore, aux-output, aux-sample-size, aux-action, config, "
	  "config1 to config4, and for a PMU the fields of its format directory, its events, and "
	  "rHEX. Numbers are decimal, or 0x and hex digits." },
	{ "Modifiers",
	  "Modifiers follow a colon or the second slash: u user space, k kernel, h hypervisor, G "
	  "guests, H host, I not idle, p to ppp precise, P as precise as possible, S read the "
	  "group's counts, D pinned, e exclusive, W a group that may be split, b no effect here." },
	{ "Differences from perf record",
	  "precord accepts what perf does not: fields and flags of perf_event_attr as terms "
	  "(sample_type=0x200, exclude_idle); every term but config for tracepoints; any "
	  "characters in a quoted name; a colon between the second slash and modifiers. A field "
	  "next to an event's name replaces the field that the name sets, where perf combines "
	  "their bits: cpu/mem-loads,ldlat=30/ is 30. precord refuses what perf accepts and then "
	  "ignores or truncates: call-graph=x, stack-size=65536, max-stack=70000, a group without "
	  "its closing brace. Where there is no counter for cycles, the clock that replaces it "
	  "samples at 10000 Hz at most; -e cpu-clock takes any rate." },
	{ "Signals",
	  "SIGINT, SIGQUIT, SIGTERM and SIGHUP end the recording; SIGHUP is ignored under nohup. "
	  "SIGTERM is passed on to the command at once. A terminal and timeout send the others to "
	  "the command, too, so that it gets SIGTERM only if it still runs when the file is "
	  "finished. SIGUSR2 takes a snapshot (-S, --overwrite) and begins the next "
	  "file of --switch-output." },
	{ "Switching at events",
	  "--switch-output-event does what SIGUSR2 does with --switch-output, when the event "
	  "occurs in the recorded threads and on the recorded CPUs (-a: anywhere; perf looks "
	  "everywhere for a command, too). Every tracepoint hit, probe hit, breakpoint hit and "
	  "software event counts, or every Nth on a CPU with /period=N/; clocks and events of PMUs "
	  "need a period. Occurrences within 10 ms of a new file begin no further file." },
	{ "Control",
	  "--control=fifo:C[,A] reads commands from FIFO C, one per line, and answers each on FIFO "
	  "A with \"ack\", or with \"error: REASON\" and a line on stderr; a NUL ends an answer. "
	  "enable and disable switch all events or, with a name after them, the events of that "
	  "name; evlist prints the events to stderr (-F: frequencies, -g: groups, -v: attributes); "
	  "snapshot is SIGUSR2; stop ends the recording; ping only answers. The FIFOs must belong "
	  "to the caller or root, and must not be links; fd:N[,N] takes open descriptors. -D -1 "
	  "starts with events disabled." },
	{ "Files",
	  "Without -o the recording is written to perf.data, or to stdout as a stream if that is a "
	  "pipe or a socket; a regular file at stdout (nohup, CI logs) gets one only with -o -. An "
	  "existing recording is renamed to perf.data.old. Files are always created, with mode "
	  "0600, and under sudo belong to the user who ran sudo. A link is followed only in a "
	  "directory where nobody but the caller and root can write; elsewhere it is removed, as "
	  "is a FIFO of another user. --threads and --kcore write a directory, --switch-output "
	  "files named perf.data.YYYYMMDDhhmmsscc. With --overwrite, each of these contains what "
	  "the buffers held when it ended; newer records go to the next one. --kcore reports what "
	  "of the kernel can't be copied, such as /proc/kcore without CONFIG_PROC_KCORE, and "
	  "records all the same." },
	{ "Full disk",
	  "A full disk, a limit for the file's size or an I/O error ends the recording: the file "
	  "is truncated after its last whole record, precord reports what it contains and what is "
	  "lost, the command runs to its end without being recorded, and the exit status is 4. "
	  "When the reader of a stream ends, precord ends by SIGPIPE after the command. pdecode "
	  "reads what a killed precord left, and perf does, too, unless it is the directory of "
	  "--threads: prepair DIR -o FILE makes a file of it that perf reads." },
	{ "Names of a stream",
	  "A file holds the names of the functions that were hit; a stream can't, as perf would "
	  "refuse it. precord -o - --symbols-file p.symbols -- ./app > p.stream writes them to a "
	  "file of their own, which is there when precord has ended, and pdecode --symbols "
	  "--symbols-file p.symbols p.stream reads them on any machine; preport and pquery have "
	  "the option, too. If there are no names to write, the exit status is 4." },
	{ "Containers",
	  "Programs of other root directories and mount namespaces are named, too. precord holds "
	  "these from when a program is started there until 10 seconds after it has ended, or "
	  "until the end of the recording: so long the mounts of a container stay in use. "
	  "--symbols=off holds none." },
	{ "Programs and libraries that are removed",
	  "Programs and libraries that a command removes or builds again, as go run does and "
	  "programs that unpack themselves, are named if they are on the file system of the root, "
	  "of the current directory or of TMPDIR (/tmp), libraries outside of /usr and /lib: "
	  "precord holds the last 256 until its end, and so long they take space on the disk. "
	  "With -a and -p they are held until 10 seconds after the last process that mapped them "
	  "has ended. --symbols=off holds none." },
	{ NULL, NULL }
};

/* The words of -j and -k are those of their help. */
static const struct cli_values values[] = {
	{ "event", .command = "--list-names" },
	{ "switch-output-event", .command = "--list-names" },
	{ "branch-filter",
	 .words = "any any_call any_ret ind_call ind_jmp cond call abort_tx in_tx "
				    "no_tx stack u k hv no_flags no_cycles save_type hw_index priv "
				    "counter" },
	{ "clockid", .words = "mono mono_raw real boot tai" },
	{ NULL }
};

static const struct cli_note examples[] = {
	{ "precord -- ./app", "Where does the time go?" },
	{ "precord --flamegraph=app.html -- ./app", "The same as a picture: one HTML page." },
	{ "precord --top -- ./app", "The same as a table." },
	{ "precord -F 99 -a -g -- sleep 60", "All CPUs for a minute, with call chains." },
	{ "precord --call-graph dwarf -p 1234 --duration 10",
	  "A running process, without frame pointers." },
	{ "precord -e sched:sched_switch -a -g --duration 5", "Which threads wait, and where?" },
	{ "precord -o - -- ./app | pdecode -", "A stream to the decoder." },
	{ "precord -o - --symbols-file p.symbols -- ./app > p.stream",
	  "A stream, and names for machines without the program." },
	{ "precord --list 'sched:*'", "Available events." },
	{ NULL, NULL }
};

static const struct cli_note exits[] = {
	{ "STATUS",
	 "that of the recorded command; 128 plus the number of the signal that ended it" },
	{ "0", "success" },
	{ "1", "samples were lost, with --strict-loss" },
	{ "2", "the command line is wrong" },
	{ "3",
	 "nothing was recorded and the command did not run: the kernel does not allow it, the "
	 "target does not exist, or the output can't be created" },
	{ "4", "the output could not be written completely, but can be read; the command ran on" },
	{ "126", "the command can't be executed; nothing was recorded" },
	{ "127", "the command was not found or could not be started; nothing was recorded" },
	{ NULL, NULL }
};

const struct cli_tool record_tool = {
	.name = "precord", .version = PD_VERSION, .build = BUILD_LINES,
	.summary = "Record performance events into perf.data.",
	.description = "Takes perf record's options and writes what perf and pdecode read.",
	.usage = "[-- COMMAND [ARG...]]", .operands = CLI_COMMAND,
	.options = options, .values = values, .examples = examples,
	.sections = sections, .exits = exits,
	.see_also = "preport(1), pdecode(1), perf-record(1), perf_event_open(2)",
};
