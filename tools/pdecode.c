/* pdecode - everything in a perf.data file, as JSON. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"
#include "cli.h"
#include "input.h"
#include "max_output.h"
#include "output.h"
#include "pd/pd.h"
#include "pdecode_filter.h"
#include "pdecode_schema.h"
#include "progress.h"
#include "sandbox.h"
#include "sigbus.h"

enum { ERRORS_SHOWN = 20, MOST_THREADS = 16 };

enum { FORMAT_JSON, FORMAT_JSONL, FORMAT_STATS };

struct settings {
	struct cli_list inputs;
	const char *output, *schema, *sandbox, *max_output;
	unsigned int format, blobs, sort;
	uint64_t memory;
	unsigned int jobs;
	bool strict, pretty, header_only, verbose;
	struct filter_settings filter;
};

static const char *const formats[] = { "json", "jsonl", "stats", NULL };
static const char *const blobs[] = { "hex", "omit", "full", NULL };
static const char *const sorts[] = { "file", "time", NULL };

static const struct cli_option options[] = {
	CLI_GROUP("Input and output"),
	CLI_LIST('i', "input", "FILE", settings, inputs, "read FILE; the same as the operand"),
	CLI_STRING('o', "output", "FILE", settings, output, "write to FILE instead of standard output"),
	CLI_CHOICE('f', "format", NULL, settings, format, formats,
		"json: one document (default); jsonl: an object a line, each with its kind; "
		"stats: counts instead of records"),
	CLI_FLAG(0, "pretty", settings, pretty, "json and stats: indented, for people"),
	CLI_CHOICE(0, "blobs", NULL, settings, blobs, blobs,
		"stacks, raw and AUX data: as hex (default); left out; hex, and the payloads of compressed "
		"records too"),
	CLI_CHOICE(0, "sort", NULL, settings, sort, sorts, "order of the records: as written (default), or by time"),
	CLI_FLAG(0, "header-only", settings, header_only,
		"the file, its events and features; reads no records, and a pipe up to the first sample"),
	CLI_OPTIONAL(0, "schema", "NAME|DIR", settings, schema, SCHEMA_LIST,
		"print the JSON Schema of that name, such as document or SAMPLE; write all of them to a "
		"directory; alone, list their names"),
	CLI_GROUP("Filters"),
	CLI_LIST(0, "types", "LIST", settings, filter.types,
		"records of these types, by name or number: SAMPLE,MMAP2,70"),
	CLI_LIST('e', "event", "LIST", settings, filter.events, "samples of these events: cycles,'sched:*'"),
	CLI_LIST(0, "pid", "LIST", settings, filter.pids, "of these processes: 4711,5000-5010"),
	CLI_LIST(0, "tid", "LIST", settings, filter.tids, "of these threads"),
	CLI_LIST('c', "comm", "LIST", settings, filter.comms, "of threads with these names: bash,'kworker*'"),
	CLI_LIST('C', "cpu", "LIST", settings, filter.cpus, "of these cpus: 0-3,5"),
	CLI_STRING(0, "time", "A,B", settings, filter.time,
		"from A to B; either may be left out. Seconds as perf prints them (12.5), ns as in the JSON, or with "
		"a unit (s, ms, us, ns); or a part of the recording: 10%-20%"),
	CLI_GROUP("Limits and messages"),
	CLI_NUMBER('j', "jobs", "N", settings, jobs, "use N threads, at most 16 (default and 0: one for each cpu); the output "
		"is the same"),
	CLI_FLAG(0, "strict", settings, strict, "stop at the first damage"),
	CLI_SIZE(0, "memory", "SIZE", settings, memory, "hold no more than SIZE of the input, such as 1G (default and 0: 256M)"),
	MAX_OUTPUT_OPTION(settings, max_output),
	SANDBOX_OPTION(settings),
	CLI_FLAG('v', "verbose", settings, verbose, "show every error, and what is odd but no error"),

	/* perf script's, that fingers know */
	CLI_REFUSED('F', "fields", "all fields are written; pick some with pdecode -f jsonl | jq -c '{time,pid,ip}'"),
	CLI_REFUSED('D', "dump-raw-trace", "the JSON has every record and field; try --pretty"),
	CLI_REFUSED(0, "ns", "times always are in ns"),
	CLI_REFUSED(0, "header", "the header is always written; --header-only leaves out the rest"),
	CLI_REFUSED('I', "show-info", "the header is always written; --header-only leaves out the rest"),
	CLI_REFUSED('G', "hide-call-graph", "drop it with pdecode -f jsonl | jq -c 'del(.callchain)'"),
	CLI_REFUSED('s', "script", "give a script of your own the lines of pdecode -f jsonl"),
	CLI_REFUSED(0, "itrace", "AUX data are written as they are, not decoded"),
	CLI_REFUSED('k', "vmlinux", "addresses are not resolved to symbols"),
	CLI_REFUSED(0, "kallsyms", "addresses are not resolved to symbols"),
	CLI_END
};

static const struct cli_values values[] = {
	{ "types", .word = schema_record_type },
	{ "schema", .word = schema_word },
	{ NULL }
};

static const struct cli_note examples[] = {
	{ "pdecode > out.json", "Decode perf.data of this directory." },
	{ "pdecode -f stats --pretty perf.data", "What is in it, and is it complete?" },
	{ "pdecode -f jsonl --types SAMPLE perf.data | jq -r .ip", "One object a line, for jq, databases and scripts." },
	{ "perf record -a -o - sleep 10 | pdecode -f jsonl", "Decode while perf records." },
	{ "pdecode --header-only --pretty perf.data", "Machine, command line and events, at once for any size." },
	{ "pdecode --comm nginx --cpu 0-3 --time 12.5,13 perf.data", "A part of it." },
	{ NULL, NULL }
};

static const char description[] =
	"pdecode decodes the files that perf record writes, whatever its version and the machine it ran on, to complete "
	"JSON: every record with every field, the header's attributes and features, and what was damaged. Files, pipes, "
	"directories of perf record --threads, compressed records and gzip, zstd, xz or bzip2 around all of it are understood. "
	"In a directory only regular files are read: a symbolic link, FIFO or device among them is an error.\n\n"
	INPUT_DESCRIPTION " What comes through a pipe is written as it arrives; the first Ctrl-C is left to who writes it, so "
	"that pdecode ends with its input.\n\n"
	"Damage does not end the decoding: what can be read is written, the rest is listed under errors, on standard "
	"error, and in the exit status.\n\n"
	"--format stats writes one object: records, bytes, by_type and by_event with the records and bytes of each (and "
	"the samples of an event and the sum of their period), first_time, last_time and duration in ns, lost (records), "
	"lost_samples, throttled, errors and errors_by_code, damaged (records), skipped (bytes that are no record), "
	"compressed (bytes in and out), and file, where complete is false when the recording was cut off. account says where "
	"every byte of the input is: header, features, records, skipped, gaps, zeros and unread add up to total.\n\n"
	"Of a recording that was not finished, everything up to the end of the file is decoded, whatever its header states.\n\n"
	"A filter drops the records that don't match and leaves everything else as it is; the summary counts the dropped "
	"ones as filtered. Filters given together must all match. A record without the thing that is asked for stays: "
	"perf's own records (FINISHED_ROUND, HEADER_..., AUXTRACE) are dropped by --types only. The pid and tid of "
	"MMAP2, COMM, FORK and the like are those they tell of, and of others the task they happened in; KSYMBOL, BPF_EVENT, "
	"TEXT_POKE, CGROUP, LOST and mappings of the kernel belong to no task and stay. --comm goes by the names that COMM "
	"and FORK records gave up to there; --sort time makes that exact on several cpus. --event is asked of samples "
	"and counts, cycles finds cycles:u too; mappings, names and switches hold for all events. Records that perf made up "
	"for what ran before the recording have no time and no cpu.\n\n"
	"Names may have wildcards as in the shell (*, ?, [a-z]). Lists can be given again and add up.\n\n"
	"Of a time without unit, a whole number of 11 digits or more is ns, every other one seconds.\n\n"
	SANDBOX_DESCRIPTION;

static const struct cli_tool tool = {
	.name = "pdecode", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Decode perf.data to complete JSON.",
	.description = description, .usage = "[FILE|-]", .operand_note = INPUT_NOTE, .operands = CLI_AT_MOST_ONE,
	.options = options, .values = values, .examples = examples,
	.see_also = "precord(1), pencode(1), prepair(1), perf-record(1), jq(1)",
};

/* One file on its way through. */
struct run {
	const struct settings *s;
	struct max_output max_output;
	struct input in;
	struct output out;
	struct pd_filter *filter;
	struct filter_part part;
	struct pd_sink *sink;
	struct progress progress;
	uint64_t done;			/* bytes of the input, for the progress */
	uint64_t errors, not_shown;
	int refused;			/* what the sink returned when not 0 */
};

static void complain(struct run *run, const struct pd_error *e, const char *hint)
{
	char text[512];

	progress_clear(&run->progress);
	cli_error(&tool, "%s: %s%s", run->in.name, pd_error_text(e, text, sizeof(text)), hint);
}

static void on_error(void *ctx, const struct pd_error *e)
{
	struct run *run = ctx;

	int refused = run->refused ? 0 : pd_sink_error(run->sink, e);	/* says first what its threads found before this */

	if (!run->refused)
		run->refused = refused;
	if (e->severity > PD_NOTE)
		run->errors++;
	if (run->s->verbose || (e->severity > PD_NOTE && run->errors <= ERRORS_SHOWN))
		complain(run, e, "");
	else if (e->severity > PD_NOTE)
		run->not_shown++;
}

static void on_wait(void *ctx)
{
	struct run *run = ctx;

	pd_sink_wait(run->sink);
	output_flush(&run->out);
}

/* --strict ends at the very record that is damaged: no thread may be ahead of it. */
static unsigned int threads(const struct settings *s)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->strict)
		return 1;
	if (s->jobs)
		return s->jobs < MOST_THREADS ? s->jobs : MOST_THREADS;
	return cpus < 1 ? 1 : cpus < MOST_THREADS ? (unsigned int)cpus : MOST_THREADS;
}

/* The reader has a use for a thread of its own, to decompress, where another would have nothing to do: on two cpus it would be in
 * the way of those that write. */
static unsigned int reader_threads(const struct settings *s)
{
	return s->format == FORMAT_STATS ? threads(s) : threads(s) - 1;
}

/* To count, most bytes need not be looked at. To write them all, it makes no difference whether the kernel copies them before; and
 * what was written can't be taken back when the file turns out to have shrunk. */
static enum pd_access access_of(const struct settings *s)
{
	return s->format == FORMAT_STATS ? PD_MAP_OWN : PD_READ;
}

static struct pd_sink *make_sink(struct run *run)
{
	const enum pd_json_layout layout = run->s->pretty ? PD_JSON_INDENTED : PD_JSON_COMPACT;
	const struct pd_output out = { output_write, &run->out };

	if (run->s->format == FORMAT_STATS)
		return pd_stats_sink(&(struct pd_stats_options){
			.size = sizeof(struct pd_stats_options), .layout = layout, .filter = run->filter,
			.threads = threads(run->s) }, out);
	return pd_json_sink(&(struct pd_json_options){
		.size = sizeof(struct pd_json_options), .layout = layout, .filter = run->filter,
		.shape = run->s->format == FORMAT_JSONL ? PD_JSON_LINES : PD_JSON_DOCUMENT,
		.blobs = (enum pd_blobs)run->s->blobs, .threads = threads(run->s),
		.parts = run->s->header_only ? PD_JSON_HEADER : PD_JSON_ALL }, out);
}

static struct pd_reader *open_reader(struct run *run)
{
	const struct pd_options *o = PD_OPTIONS(.memory_limit = run->s->memory, .max_expanded = run->max_output.bytes,
		.max_ratio = run->max_output.ratio,
		.order = run->s->sort ? PD_BY_TIME : PD_AS_WRITTEN, .on_error = on_error, .on_wait = on_wait, .ctx = run,
		.threads = reader_threads(run->s), .access = access_of(run->s));
	struct pd_reader *reader;
	struct pd_error e;

	reader = run->in.fd >= 0 ? pd_open_fd(run->in.fd, o, &e) : pd_open_path(run->in.path, o, &e);
	if (!reader)
		complain(run, &e, run->in.fd < 0 && e.code == PD_E_IO && e.have == ENOENT ?
			 "; a directory that was recorded has this file in it" : run->in.hint);
	return reader;
}

static enum cli_exit open_input(struct run *run)
{
	if (input_open(&run->in, &tool) == 0)
		return CLI_OK;
	complain(run, &(struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL, .have = (uint64_t)errno }, run->in.hint);
	return CLI_INPUT;
}

/* An output that is one of the files of an input directory would destroy it. */
static bool is_inside(const char *output, const char *directory)
{
	DIR *dir = output && strcmp(output, "-") != 0 ? opendir(directory) : NULL;
	struct stat out, in;
	struct dirent *entry;
	bool same = false;

	if (!dir)
		return false;
	while (stat(output, &out) == 0 && !same && (entry = readdir(dir)))
		same = fstatat(dirfd(dir), entry->d_name, &in, 0) == 0 && S_ISREG(in.st_mode) &&
		       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
	closedir(dir);
	return same;
}

static bool is_named_like_data(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "data.", strlen("data.")) == 0;
}

static enum cli_exit open_output(struct run *run)
{
	const char *output = run->s->output;
	bool inside = is_inside(output, run->in.path);
	enum cli_exit status = inside ? CLI_USAGE : output_open(&run->out, &tool, output, run->in.path);

	/* Made before the directory is read, it would be taken for a part of it. */
	if (run->out.created && is_named_like_data(output) && is_inside(output, run->in.path)) {
		inside = true;
		output_drop(&run->out);
	}
	if (inside)
		cli_error(&tool, "%s: is both the input and the output", output);
	return inside ? CLI_USAGE : status;
}

static void start_progress(struct run *run, const struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_file(reader);

	if (!output_is_terminal(&run->out) || run->s->format == FORMAT_STATS)
		progress_start(&run->progress, f->size_known && f->mode != PD_MODE_DIRECTORY ? f->size : 0);
}

static void show_progress(struct run *run, const struct pd_reader *reader, const struct pd_record *record)
{
	const uint64_t offset = pd_record_offset(record);

	if (pd_file(reader)->mode == PD_MODE_DIRECTORY)	/* offsets begin anew in each file */
		run->done += pd_record_bytes(record).size;
	else if (offset > run->done)
		run->done = offset;
	progress_update(&run->progress, run->done);
}

/* In a pipe the header is records, which end where the recording begins. */
static bool ends_header(const struct pd_record *record)
{
	static const char *const firsts[] = {
		"SAMPLE", "READ", "COMPRESSED", "COMPRESSED2", "AUXTRACE", "FINISHED_ROUND", "FINISHED_INIT",
	};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		if (strcmp(pd_record_name(record), firsts[i]) == 0)
			return true;
	return false;
}

static bool must_stop(const struct run *run)
{
	return run->refused || (run->s->strict && run->errors);
}

static void pump(struct run *run, struct pd_reader *reader)
{
	const bool header_only = run->s->header_only;
	const struct pd_record *record;
	struct pd_error e;
	int got = 0;

	run->refused = pd_sink_begin(run->sink, reader);
	while (!must_stop(run) && !(header_only && pd_file(reader)->mode != PD_MODE_PIPE)) {
		if (!header_only)
			run->refused = pd_sink_batch(run->sink, reader);
		got = run->refused ? 0 : pd_next(reader, &record, &e);
		if (got <= 0 || must_stop(run) || (header_only && ends_header(record)))
			break;
		run->refused = pd_sink_record(run->sink, record);
		show_progress(run, reader, record);
	}
	if (got < 0)
		on_error(run, &e);
	if (sigbus_lost_bytes())
		on_error(run, &(struct pd_error){ .code = PD_E_IO, .severity = PD_DAMAGED, .text =
			"it shrank while it was read, or can't be read everywhere: zeros stand for what is gone" });
	if (!run->refused)
		run->refused = pd_sink_finish(run->sink, reader);
}

static enum cli_exit decode_open(struct run *run, struct pd_reader *reader)
{
	enum cli_exit status = run->filter ? filter_set_part(&tool, run->filter, run->part, reader) : CLI_OK;

	if (status == CLI_OK)
		status = output_empty(&run->out);
	if (status != CLI_OK)
		return status;
	start_progress(run, reader);
	pump(run, reader);
	progress_end(&run->progress);
	if (run->refused && !run->out.error) {
		cli_error(&tool, "%s: out of memory", run->in.name);
		status = CLI_OUTPUT;
	} else if (run->errors) {
		status = CLI_ERRORS;
	}
	filter_say_unknown_events(&tool, &run->s->filter, reader);
	if (run->filter && !run->s->header_only && !run->refused)
		filter_say_empty(&tool, &run->s->filter, run->filter);
	if (run->not_shown)
		cli_error(&tool, "%s: and %llu more errors; -v shows all of them", run->in.name,
			  (unsigned long long)run->not_shown);
	return output_close(&run->out, status);
}

/* In the sandbox: all files are open, but for those of a directory. */
static enum cli_exit decode(void *ctx)
{
	struct run *run = ctx;
	struct pd_reader *reader;
	enum cli_exit status;

	if (access_of(run->s) == PD_MAP_OWN)
		sigbus_watch();
	reader = open_reader(run);
	status = reader ? decode_open(run, reader) : CLI_INPUT;
	pd_sink_close(run->sink);
	run->sink = NULL;
	pd_close(reader);
	return status;
}

static enum cli_exit decode_input(struct run *run)
{
	const struct sandbox sandbox = {
		.tool = &tool, .word = run->s->sandbox, .verbose = run->s->verbose, .input = run->in.fd,
		.read_beneath = run->in.fd < 0 ? run->in.path : NULL,
		.spool = run->s->sort ? SANDBOX_TEMPFILE_ALWAYS : SANDBOX_TEMPFILE_UNLESS_PLAIN,
	};
	enum cli_exit status = open_output(run);

	if (status != CLI_OK)
		return status;
	run->sink = make_sink(run);
	if (!run->sink) {
		cli_error(&tool, "out of memory");
		return CLI_OUTPUT;
	}
	/* A new output goes again when the input is none, which needs a right to its directory. */
	status = sandbox_run(&sandbox, run->out.created ? SANDBOX_APART : SANDBOX_HERE, decode, run);
	if (status == CLI_INPUT || status == CLI_USAGE)
		output_drop(&run->out);
	return status;
}

static void leave_it_to_the_writer(int number)
{
	(void)number;
}

/* A terminal's SIGINT goes to all of a pipeline. Who writes the recording brings it to its end, which is worth having: the
 * first one is left to him. The second one ends us, as the first does where nobody writes. */
static void outlive_an_interrupt(int input)
{
	const struct sigaction once = { .sa_handler = leave_it_to_the_writer, .sa_flags = SA_RESTART | SA_RESETHAND };
	struct sigaction now;
	struct stat st;

	if (input < 0 || fstat(input, &st) || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
		return;
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGINT, &once, NULL);
}

static enum cli_exit run_all(struct run *run)
{
	enum cli_exit status = filter_make(&tool, &run->s->filter, &run->filter, &run->part);

	if (status == CLI_OK)
		status = open_input(run);
	if (status == CLI_OK) {
		outlive_an_interrupt(run->in.fd);
		status = decode_input(run);
	}
	pd_sink_close(run->sink);
	input_close(&run->in);
	pd_filter_free(run->filter);
	return status;
}

static enum cli_exit check(const struct settings *s, const char *operand)
{
	const struct cli_list *inputs = &s->inputs;

	if (inputs->count > 1 || (operand && inputs->count))
		return cli_usage(&tool, "two inputs: '%s' and '%s'", inputs->items[0],
				 inputs->count > 1 ? inputs->items[1] : operand);
	if (s->pretty && s->format == FORMAT_JSONL)
		return cli_usage(&tool, "'--pretty' is not for jsonl: it has an object on each line");
	if (s->header_only && s->format == FORMAT_STATS)
		return cli_usage(&tool, "'--header-only' reads no records, stats would have nothing to count");
	if (s->schema && (operand || inputs->count))
		return cli_usage(&tool, "'--schema' reads no input ('--schema=NAME' needs the '=')");
	if (s->verbose && s->jobs > MOST_THREADS)
		cli_error(&tool, "'--jobs': %u threads are used, that is the most", (unsigned int)MOST_THREADS);
	return sandbox_check(&tool, s->sandbox);
}

int main(int argc, char **argv)
{
	struct settings s = { .output = NULL };
	char **operands = cli_parse(&tool, argc, argv, &s);
	struct run run = { .s = &s, .in = INPUT_CLOSED, .out = OUTPUT_CLOSED };
	enum cli_exit status = check(&s, operands[0]);

	if (status == CLI_OK)
		status = max_output_read(&tool, s.max_output, &run.max_output);
	if (status == CLI_OK && s.schema) {
		status = schema_write(&tool, s.schema, s.output);
	} else if (status == CLI_OK) {
		input_choose(&run.in, operands[0] ? operands[0] : s.inputs.count ? s.inputs.items[0] : NULL);
		status = run_all(&run);
	}
	filter_settings_free(&s.filter);
	cli_list_free(&s.inputs);
	return cli_finish(&tool, status);
}
