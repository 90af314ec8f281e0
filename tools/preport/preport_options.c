/* preport_options.c - the command line of preport. */
#include "preport/preport_options.h"

#include "cli/build.h"
#include "files/input.h"
#include "files/limit_options.h"
#include "preport/preport_fields.h"
#include "preport/preport_formats.h"
#include "preport/preport_table.h"

static const char *const weights[] = { "period", "samples", NULL };
static const char *const graphs[] = { "none", "callee", "caller", "auto", NULL };
static const char *const idles[] = { "keep", "drop", "only", NULL };
static const char *const themes[] = { "system", "light", "dark", NULL };
static const char *const likes[] = { "6.12", "6.1", NULL };
static const char *const layouts[] = { "perf", "stack", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };

static const struct cli_option options[] = {
	INPUT_OPTION(settings),
	CLI_GROUP("Output"),
	CLI_STRING('o', "output", "FILE", settings, output,
		   "write to FILE, compressed if its name ends in .gz; pprof and firefox are, "
		   "unless it ends in .json (default: standard output)"),
	CLI_CHOICE('f', "format", "FORMAT", settings, format, format_words,
		   "top: summary and table of functions; tree: the calls; folded: a line for each "
		   "stack; flamegraph: an HTML page, or a picture if the output's name ends in "
		   ".svg; pprof: for `go tool pprof`; csv, json: the table of functions; svg: a "
		   "flame graph for documents; callgrind: for KCachegrind; firefox: for "
		   "profiler.firefox.com; speedscope; chrome: trace "
		   "events for Perfetto; script: each sample as text, like perf script; otlp: "
		   "OpenTelemetry's profiles, of version 1.11 of its protocol, which may change. "
		   "On a terminal most are written to a file beside the input, such as "
		   "perf.html, perf.pb.gz and perf.firefox.json.gz "
		   "(default: by the name of the output, else top)"),
	CLI_FLAG(0, "csv", settings, csv, "the same as -f csv"),
	CLI_FLAG(0, "json", settings, json, "the same as -f json"),
	CLI_STRING(0, "title", "TEXT", settings, title, "name in headings (default: the input's)"),
	CLI_CHOICE(0, "theme", NULL, settings, theme, themes,
		   "colors of the flame graph page at first (default system)"),
	CLI_CHOICE(0, "compat", NULL, settings, like, likes,
		   "the version of perf whose text -f script is like (default 6.12)"),
	CLI_CHOICE(0, "layout", NULL, settings, layout, layouts,
		   "samples without a call graph in -f script: in one line as perf has them, or as "
		   "a stack of one function (default: perf, but stack if the output's name ends "
		   "in .linux-perf.txt)"),
	CLI_STRING('F', "fields", "LIST", settings, fields,
		   "fields of samples in -f script: comm, pid, tid, cpu, time, period, event, "
		   "trace, ip, sym, symoff, dso, bpf-output; or changes of those without this "
		   "option, such as +pid,-period"),
	CLI_FLAG(0, "ns", settings, ns, "times in -f script in ns, not us"),
	CLI_FLAG(0, "header", settings, header,
		 "lines about the recording above the samples in -f script, each with a #"),
	CLI_FLAG(0, "open", settings, open,
		 "open the written file with xdg-open: a flame graph page (the default here) "
		 "or picture"),
	CLI_SWITCH(0, "pager", settings, pager,
		   "on a terminal, show top, tree and script in $PAGER (default: less, if it is "
		   "more than a screen)"),
	CLI_FLAG('q', "quiet", settings, quiet,
		 "do not print which file was written, and which events it leaves out"),
	CLI_FLAG(0, "stacks", settings, stacks,
		 "in -f chrome the functions of samples, too, as slices; at most 500 MB"),
	CLI_GROUP("Samples"),
	FILTER_OPTIONS(settings, filter, "samples"),
	CLI_LIST('d', "dsos", "NAMES", settings, filter.places.dsos,
		 "the same as --dso: perf report's name of it"),
	CLI_LIST(0, "symbols", "NAMES", settings, filter.places.symbols,
		 "the same as --symbol"),
	CLI_LIST(0, "comms", "NAMES", settings, filter.comms, "the same as --comm"),
	CLI_CHOICE(0, "idle", NULL, settings, idle, idles,
		   "samples of waiting CPUs (default: drop, but keep in files for programs)"),
	CLI_FLAG(0, "off-cpu", settings, off_cpu,
		 "the time that threads wait, from context switches: see precord --off-cpu; "
		 "tables, trees and pictures end in the function that called the scheduler"),
	CLI_FLAG(0, "wall", settings, wall,
		 "the time on and off the CPU: a thread's total is its lifetime"),
	CLI_GROUP("Comparison"),
	CLI_STRING(0, "base", "FILE", settings, base,
		   "an older recording: how the shares of functions changed, as a table or as the "
		   "colors of a flame graph; in csv and json sums before and after, and their "
		   "difference; in pprof the increase, as with pprof -diff_base"),
	CLI_FLAG(0, "absolute", settings, absolute,
		 "with --base the sums before and after, not shares of each recording; in the "
		 "flame graph shares of the larger one"),
	CLI_LIST(0, "fail-above", "PATTERN=PERCENT", settings, limits,
		 "exit 6 if functions with these names are in more than PERCENT of the samples, "
		 "or with --base have gained more; 5 if there are none: the name of a function, "
		 "or a pattern"),
	CLI_GROUP("Shape"),
	CLI_CHOICE(0, "weight", NULL, settings, weight, weights,
		   "weight of a sample: its period, or 1 (default period)"),
	CLI_FLAG(0, "merge-events", settings, merge_events,
		 "add up the same event of different kinds of cores: cpu_core/cycles/ and "
		 "cpu_atom/cycles/ are cycles"),
	CLI_LIST(0, "group", "LIST", settings, groups,
		 "frames above the stacks: comm, pid, tid, cpu (precord --sample-cpu), "
		 "cgroup (precord --all-cgroups), none (default comm); not in -f csv, json, "
		 "speedscope and chrome"),
	CLI_STRING(0, "labels", "LIST", settings, labels,
		   "labels of samples in -f pprof, in place of --group: comm, pid, tid, cpu, "
		   "cgroup, execution_mode, timestamp_ns (all samples one by one), none "
		   "(default comm,pid,tid)"),
	CLI_NUMBER(0, "thin", "N", settings, thin,
		   "in files with times one of N samples of each thread, with the weight of all "
		   "N: in -f firefox, speedscope, chrome, flamegraph and pprof with timestamp_ns"),
	CLI_STRING(0, "parent", "PATTERN", settings, parent,
		   "only stacks with a function of this name; patterns may be used"),
	CLI_NUMBER(0, "max-stack", "N", settings, max_stack,
		   "at most N functions of each stack, from its root; with --callers and in "
		   "-f script from its leaf; as the two below not in -f pprof, callgrind, firefox "
		   "and otlp"),
	CLI_STRING(0, "cut-after", "PATTERN", settings, cut_after,
		   "count callees of functions of this name for these; patterns may be used"),
	CLI_FLAG(0, "fold-recursion", settings, fold_recursion,
		 "a function that calls itself is one frame"),
	CLI_STRING(0, "min", "PERCENT", settings, min,
		   "stacks with a smaller share, such as 0.1, are one frame, [small], below their "
		   "caller; in -f folded, svg and flamegraph"),
	CLI_FLAG(0, "callers", settings, callers,
		 "stacks from the leaf: the functions that take the time, and their callers; "
		 "in -f tree, folded, svg and flamegraph"),
	CLI_FLAG(0, "inverted", settings, inverted,
		 "the root above, in -f svg and flamegraph: an icicle graph"),
	CLI_FLAG(0, "heatmap", settings, heatmap,
		 "the page of -f flamegraph shows when samples were taken first: a heat map, whose "
		 "ranges can be chosen, and the stacks of each thread"),
	CLI_OPTIONAL(0, "annotate", "k,j,i", settings, annotate, "k,j,i",
		     "suffixes in -f folded: _[k] for functions of the kernel, _[j] of a JIT "
		     "compiler, _[i] inlined ones"),
	CLI_FLAG(0, "raw-names", settings, raw_names,
		 "names in -f folded with their parameters and quotes; without it they are those "
		 "of stackcollapse-perf.pl"),
	CLI_FLAG(0, "mark-cut", settings, mark_cut,
		 "a frame [cut stack] at the root of stacks that lack theirs, in files for "
		 "programs, too"),
	CLI_FLAG(0, "addrs", settings, addrs,
		 "functions without a name as [image+0xOFFSET], not [image]"),
	CLI_GROUP("Tables"),
	CLI_STRING('s', "sort", "LIST", settings, sort,
		   "order of the table: self, a function alone, or total, with its callees "
		   "(default self); and its columns, of event, comm, pid, tid, cpu, cgroup, dso, "
		   "sym, srcline: a line for each combination (default: each function; event,comm "
		   "if there are only tracepoints, and several or no call graphs)"),
	CLI_SWITCH(0, "children", settings, children, "the same as -s total, as in perf report"),
	CLI_CHOICE_OR('g', "graph", "callee|caller|none|auto", settings, graph, graphs, "auto",
		      "below each line of the table: callee: its callers; caller: its callees; "
		      "auto, and -g alone: callers, with -s total callees; as far as it has "
		      "--percent-limit or 0.5 percent (default none)"),
	CLI_NUMBER_OR('n', "rows", "N", settings, rows, "",
		      "at most N lines in top, csv and json; 0: all (default: all in csv and "
		      "json, in top the terminal's height, else 40); -n "
		      "alone changes nothing: in perf report it adds the column samples, which is "
		      "always there"),
	CLI_FLAG(0, "show-nr-samples", settings, is_as_always, "the same as -n alone"),
	CLI_FLAG(0, "stdio", settings, is_as_always,
		 "changes nothing: in perf report it chooses text"),
	CLI_STRING(0, "percent-limit", "PERCENT", settings, percent_limit,
		   "leave out smaller shares in top and tree, such as 0.5"),
	CLI_CHOICE(0, "color", NULL, settings, color, colors,
		   "in tables (default auto: on a terminal, unless NO_COLOR is set)"),
	CLI_GROUP("Names"),
	CLI_FLAG(0, "no-symbols", settings, no_symbols,
		 "no names of functions, and open no files for them"),
	CLI_SWITCH(0, "inline", settings, inlines,
		   "functions that are inlined, too: reads debug information, which takes longer "
		   "(default no)"),
	CLI_FLAG(0, "lines", settings, lines,
		 "source files and lines, too, in -f flamegraph, pprof, callgrind, firefox, "
		 "speedscope and otlp; reads more debug information"),
	SYMBOL_PREFIX_OPTION(settings, symbols),
	CLI_FLAG(0, "linkage-names", settings, symbols.linkage_names,
		 "names as files have them, where they are mangled"),
	SYMBOL_MAX_FRAMES_OPTION(settings, symbols),
	SYMBOL_STITCH_OPTION(settings, symbols),
	SYMBOL_FILE_OPTIONS(settings, symbols),
	CLI_GROUP("Limits and messages"),
	CLI_NUMBER('j', "jobs", "N", settings, jobs,
		   "read samples with N threads, at most 16 (default and 0: one per CPU); the "
		   "output is the same"),
	LIMIT_OPTIONS(settings, LIMIT_INPUT_AND_NAMES),
	CLI_FLAG('v', "verbose", settings, verbose, "show every error"),
	/* of perf report and perf script */
	CLI_REFUSED(0, "tui", "-f flamegraph --open is interactive"),
	CLI_REFUSED(0, "gtk", "-f flamegraph --open is interactive"),
	CLI_REFUSED(0, "call-graph", "try -g caller or -g callee"),
	CLI_REFUSED('G', "hide-call-graph", "in a table calls are shown with -g only"),
	CLI_REFUSED(0, "hierarchy", "try -f tree --group comm"),
	CLI_REFUSED(0, "flamegraph", "try -f flamegraph"),
	CLI_REFUSED(0, "top", "a table is what preport writes without -f"),
	CLI_REFUSED(0, "symfs", "try --sysroot DIR"),
	CLI_REFUSED(0, "no-demangle", "try --linkage-names"),
	CLI_REFUSED('t', "field-separator", "try -f csv"),
	CLI_REFUSED(0, "show-total-period", "-f csv and json have periods"),
	CLI_REFUSED(0, "header-only", "try pdecode --header-only"),
	CLI_REFUSED('D', "dump-raw-trace", "try pdecode"),
	CLI_REFUSED(0, "stats", "try pdecode -f stats"),
	CLI_REFUSED(0, "tasks", "try pdecode, or pquery 'select * from tasks'"),
	CLI_REFUSED('b', "branch-stack", "try pdecode"),
	CLI_REFUSED(0, "mem-mode", "try pdecode or pquery"),
	CLI_REFUSED(0, "ignore-vmlinux", "no kernel is read unless -k names it"),
	CLI_END
};

/* Names that people have for the formats. */
static const struct cli_note other_formats[] = {
	{ "html", "flamegraph" },	{ "flame", "flamegraph" },
	{ "graph", "flamegraph" },	{ "report", "top" },
	{ "text", "top" },		{ "txt", "top" },
	{ "table", "top" },		{ "stdio", "top" },
	{ "collapsed", "folded" },	{ "stacks", "folded" },
	{ "pb", "pprof" },		{ "proto", "pprof" },
	{ "protobuf", "pprof" },	{ "gecko", "firefox" },
	{ "cachegrind", "callgrind" },	{ "kcachegrind", "callgrind" },
	{ "perfetto", "chrome" },	{ "trace", "chrome" },
	{ "perf", "script" },		{ "otel", "otlp" },
	{ NULL, NULL }
};

static const struct cli_values values[] = {
	{ "format", .others = other_formats },
	{ "sort", .words = TABLE_SORT_WORDS },
	{ "fields", .words = FIELDS_WORDS },
	{ "group", .words = "comm pid tid cpu cgroup none" },
	{ "labels", .words = "comm pid tid cpu cgroup execution_mode timestamp_ns none" },
	{ NULL }
};

static const struct cli_note examples[] = {
	{ "precord -g -- ./app; preport", "Record a program; see which functions take its time." },
	{ "preport -s total --comm nginx", "Functions with all that they call, in one program." },
	{ "preport -s comm,dso,sym -g callee", "The lines of perf report, with callers." },
	{ "preport --base old.data new.data", "What became slower, as shares of the time." },
	{ "preport --fail-above 'parse_*=20%'", "A gate for CI: status 6 if parsing takes more." },
	{ "preport --open", "A flame graph, in your browser: perf.html." },
	{ "preport -o app.html", "The same as a file to send: one HTML file, for any browser." },
	{ "preport -f folded | flamegraph.pl > app.svg", "For tools that read folded stacks." },
	{ NULL, NULL }
};

static const struct cli_note exits[] = {
	{ "0", "success" },
	{ "1", "parts are damaged or did not fit into --memory, see standard error" },
	{ "2", "the command line is wrong" },
	{ "3", "the input can't be opened or is no perf.data file" },
	{ "4", "the output or a temporary file could not be written, or memory is short" },
	{ "5", "no sample matches, or no function the pattern of --fail-above" },
	{ "6", "a function is above the share of --fail-above" },
	{ NULL, NULL }
};

const struct cli_tool preport = {
	.name = "preport", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Show where the time of a perf.data file goes.",
	.description =
		"preport weighs the samples of a recording, merges their stacks and writes "
		"them as a table or for other programs. The first lines of a table state what "
		"was recorded and whether it can be trusted: lost samples, cut stacks, and the "
		"command that helps.\n\n"
		"A sample counts as its period: time for clocks, the number of events for "
		"others. Events are never added up; formats with one event show the first "
		"that is no tracepoint. A thread is shown under the name that it had at that "
		"time.\n\n"
		"The input is read twice: first its tasks and maps, then the samples. A pipe "
		"is copied to a temporary file. For formats with times, samples are sorted and "
		"kept one by one, in temporary files as far as --memory is too small. "
		INPUT_DESCRIPTION "\n\n"
		"Names of functions come from the mapped files on this machine, if they have the "
		"recorded build id, from their debug files, from /proc/kallsyms and from JIT "
		"compilers. Functions without a name are shown as [file].\n\n"
		SANDBOX_DESCRIPTION,
	.usage = "[FILE|-]", .operand_note = INPUT_NOTE, .operands = CLI_AT_MOST_ONE,
	.more_operands = "--base OLD compares two recordings",
	.options = options, .values = values, .examples = examples, .exits = exits,
	.see_also = "precord(1), pdecode(1), perf-report(1)",
};
