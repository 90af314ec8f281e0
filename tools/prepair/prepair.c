/* prepair.c - write a damaged perf.data file as a valid one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/atomic_output.h"
#include "cli/build.h"
#include "cli/cli.h"
#include "files/input.h"
#include "files/input_errors.h"
#include "files/limit_options.h"
#include "pd/repair.h"
#include "sandbox/sandbox.h"
#include "files/source.h"

enum { ERRORS_SHOWN = 20, ERRORS_LISTED = 10000 };

struct settings {
	const char *output, *sandbox, *max_output;
	uint64_t memory;
	struct cli_list inputs;
	bool json, verbose;
};

static const struct cli_option options[] = {
	INPUT_OPTION(settings),
	CLI_STRING('o', "output", "FILE", settings, output,
		   "write to FILE, - for standard output (default: the input's name with .repaired "
		   "appended)"),
	CLI_FLAG(0, "json", settings, json,
		 "report what was kept and lost on standard output, as a JSON object"),
	LIMIT_OPTIONS(settings, LIMIT_INPUT),
	CLI_FLAG('v', "verbose", settings, verbose, "show every error"),
	CLI_END
};

static const struct cli_note examples[] = {
	{ "prepair -o fixed.data perf.data; perf report -i fixed.data",
	  "Keep what the recorder wrote before it was killed. (Status 1: something is lost.)" },
	{ "prepair --json perf.data | jq .lost", "Show what is missing." },
	{ NULL, NULL }
};

static const struct cli_note exits[] = {
	{ "0", "nothing is lost" },
	{ "1", "the output is valid, but something is lost: see standard error" },
	{ "2", "the command line is wrong" },
	{ "3", "no output: the input can't be opened, is no perf.data file, or has no event or "
	       "record left" },
	{ "4", "the output could not be written" },
	{ NULL, NULL }
};

static const struct cli_tool tool = {
	.name = "prepair", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Write a damaged perf.data file as a valid one.",
	.description =
		"prepair writes everything that can be read from a killed, truncated or "
		"damaged recording to a new file that perf and other readers accept. Records "
		"are copied unchanged; truncated records and those that don't match their "
		"layout are dropped, sizes and the feature table are corrected, and damaged "
		"features are left out. An unfinished recording is read up to the end of the "
		"file. Compressed records are written uncompressed, and the files of a "
		"directory as one.\n\n"
		INPUT_DESCRIPTION
		" Standard input needs -o.\n\n"
		"The input is never changed. The output appears under its name when it is "
		"complete; devices and FIFOs are written at that point.\n\n"
		SANDBOX_DESCRIPTION,
	.usage = "[FILE|-]", .operand_note = INPUT_NOTE, .operands = CLI_AT_MOST_ONE,
	.options = options, .examples = examples, .exits = exits,
	.see_also = "pdecode(1), pencode(1), precord(1), perf-report(1)",
};

struct run {
	const struct settings *s;
	struct max_output max_output;
	struct input in;
	char *output;
	struct atomic_output *result;
	struct input_errors errors;
	uint64_t missing;	/* bytes of records beyond the end of the file */
	struct pd_account account;
	uint64_t compressed;	/* records that can't be expanded to their end */
	uint64_t compressed_at;	/* offset of the last of these */
	FILE *report;		/* of --json, in memory until the output is complete; or NULL */
	struct pd_error *listed;
	size_t nr_listed;
};

/* Returns whether a COMPRESSED record is damaged (not the feature of that name): the number of
 * records lost in it is unknown. */
static bool is_compressed(const struct pd_error *e)
{
	return (e->record_type || (e->field && strcmp(e->field, "zstd") == 0)) && e->record &&
	       strncmp(e->record, "COMPRESSED", strlen("COMPRESSED")) == 0;
}

static void on_error(void *ctx, const struct pd_error *e)
{
	struct run *run = ctx;

	if (e->severity == PD_NOTE)
		return;
	if (is_compressed(e) && (!run->compressed || run->compressed_at != e->offset)) {
		run->compressed++;
		run->compressed_at = e->offset;
	}
	if (run->listed && run->nr_listed < ERRORS_LISTED)
		run->listed[run->nr_listed++] = *e;
	input_errors_add(&run->errors, run->in.name, e);
}

/* --- output --- */

static bool is_input(const struct run *run, const struct stat *st)
{
	struct stat in;

	if (run->in.fd >= 0 ? fstat(run->in.fd, &in) : stat(run->in.path, &in))
		return false;
	return st->st_dev == in.st_dev && st->st_ino == in.st_ino;
}

/* There the output would replace a part of the input, or be read as one. */
static bool is_inside_input(const struct run *run)
{
	struct stat dir;
	struct place at;
	bool inside;

	if (output_place_open(&at, run->output))
		return false;
	inside = fstat(at.dir, &dir) == 0 && is_input(run, &dir);
	output_place_close(&at);
	return inside;
}

static enum cli_exit output_failed(const struct run *run, int error)
{
	cli_error(&tool, "%s: %s", run->output, strerror(error));
	return CLI_OUTPUT;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum cli_exit name_output(struct run *run)
{
	size_t n = strlen(run->in.path);

	/* DIR/ gives DIR.repaired, not DIR/.repaired */
	while (n > 1 && run->in.path[n - 1] == '/')
		n--;
	if (run->s->output) {
		run->output = strdup(run->s->output);
	} else {
		if (asprintf(&run->output, "%.*s.repaired", (int)n, run->in.path) < 0)
			run->output = NULL;
	}
	if (run->output && *run->output)
		return CLI_OK;
	cli_error(&tool, "%s", run->output ? "the output has no name" : "out of memory");
	return run->output ? CLI_USAGE : CLI_OUTPUT;
}

static enum cli_exit open_output(struct run *run)
{
	enum cli_exit status = name_output(run);
	struct stat st;

	if (status != CLI_OK)
		return status;
	if (strcmp(run->output, "-") == 0) {
		if (run->s->json)
			return cli_usage(&tool, "'--json' and '-o -' both use standard output");
		if (isatty(STDOUT_FILENO))
			return cli_usage(&tool,
					 "perf.data is binary and standard output is a terminal: "
					 "use -o FILE");
		return atomic_output_open(run->result, &tool, NULL, NULL);
	}
	if (stat(run->output, &st) == 0 && is_input(run, &st)) {
		cli_error(&tool, "%s: is both input and output", run->output);
		return CLI_USAGE;
	}
	if (is_inside_input(run)) {
		cli_error(&tool, "%s: is inside the input", run->output);
		return CLI_USAGE;
	}
	if (is_directory(run->output) || run->output[strlen(run->output) - 1] == '/')
		return output_failed(run, EISDIR);
	return atomic_output_open(run->result, &tool, run->output,
				  source_stat(run->in.path, run->in.fd, &st) ? &st : NULL);
}

/* --- reports --- */

static const char *feature_name(uint32_t id, char *buf, size_t size)
{
	if (pd_feature_name(id))
		return pd_feature_name(id);
	snprintf(buf, size, "FEATURE_%" PRIu32, id);
	return buf;
}

/* Prints a string; bytes that are not UTF-8 become U+FFFD. Returns whether there are any. */
static bool json_string(FILE *to, const char *text)
{
	bool is_utf8 = true;

	fputc('"', to);
	for (size_t left = strlen(text), size; left; text += size, left -= size) {
		const struct cli_character c = cli_first_character(text, left);

		size = c.size;
		if (c.code == '"' || c.code == '\\')
			fprintf(to, "\\%c", (int)c.code);
		else if (c.code < 0x20)
			fprintf(to, "\\u%04x", (unsigned int)c.code);
		else
			fwrite(c.code < CLI_NO_CHARACTER ? text : "\xef\xbf\xbd", 1,
			       c.code < CLI_NO_CHARACTER ? size : 3, to);
		is_utf8 &= c.code < CLI_NO_CHARACTER;
	}
	fputc('"', to);
	return !is_utf8;
}

/* Prints a member, and its exact bytes as NAME_hex if the string does not have them. */
static void json_text(FILE *to, const char *name, const char *text)
{
	fprintf(to, ",\"%s\":", name);
	if (!json_string(to, text))
		return;
	fprintf(to, ",\"%s_hex\":\"", name);
	for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
		fprintf(to, "%02x", *byte);
	fputc('"', to);
}

static void json_features(FILE *to, const char *key, const bool ids[256])
{
	bool any = false;
	char name[32];

	fprintf(to, ",\"%s\":[", key);
	for (uint32_t id = 0; id < 256; id++) {
		if (!ids[id])
			continue;
		if (any)
			fputc(',', to);
		json_string(to, feature_name(id, name, sizeof(name)));
		any = true;
	}
	fputc(']', to);
}

/* Bytes of the input that were never written. */
static uint64_t empty_bytes(const struct pd_account *a)
{
	return a->zeros + a->unwritten;
}

/* Bytes of the input that are not in the output, neither copied, nor expanded, nor in a section
 * that was written again. */
static uint64_t lost_bytes(const struct pd_account *a)
{
	return a->dropped + a->unexpanded + a->skipped - a->unwritten + a->gaps + a->unread +
	       a->dropped_features;
}

static void write_json_report(const struct run *run, const struct pd_repair_report *r)
{
	FILE *to = run->report;
	const struct pd_account *a = &run->account;
	const uint64_t lost = lost_bytes(a), empty = empty_bytes(a);
	char text[512];

	fprintf(to, "{\"prepair\":{\"format\":1,\"version\":\"%s\"}", PD_VERSION);
	json_text(to, "input", run->in.name);
	json_text(to, "output", run->output);
	fprintf(to, ",\"kept\":{\"records\":%" PRIu64 ",\"expanded\":%" PRIu64, r->records,
		r->expanded);
	json_features(to, "features", r->features);
	fprintf(to, "},\"mended\":{\"attrs\":%" PRIu64 ",\"ids\":%" PRIu64 ",\"payloads\":%" PRIu64
		",\"formats_stand_in\":%s}", r->attrs_recovered, r->ids_forgotten, r->shortened,
		r->placeholder_formats ? "true" : "false");
	fprintf(to, ",\"lost\":{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"missing_bytes\":%" PRIu64 ",\"compressed\":%" PRIu64
		",\"expanded_bytes\":%" PRIu64, r->dropped, lost, run->missing, run->compressed,
		a->dropped_expanded);
	json_features(to, "features", r->features_dropped);
	fprintf(to, "},\"bytes\":{\"input\":%" PRIu64 ",\"kept\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"empty\":%" PRIu64 "}",
	       a->total, a->total - lost - empty, lost, empty);
	fprintf(to, ",\"errors\":[");
	for (size_t i = 0; i < run->nr_listed; i++) {
		const struct pd_error *e = &run->listed[i];

		fprintf(to, "%s{\"offset\":%" PRIu64 ",\"code\":\"%s\",\"skipped\":%" PRIu64,
		       i ? "," : "", e->offset, pd_code_name(e->code), e->skipped);
		json_text(to, "message", pd_error_text(e, text, sizeof(text)));
		fputc('}', to);
	}
	fprintf(to, "]}\n");
}

static enum cli_exit report_failed(int error)
{
	cli_error(&tool, "standard output: %s", strerror(error));
	return CLI_OUTPUT;
}

/* Opens the report before the sandbox forbids that. Its writer may be another process. */
static enum cli_exit open_report(struct run *run)
{
	const int fd = run->s->json ? memfd_create("report", MFD_CLOEXEC) : -1;

	run->report = fd < 0 ? NULL : fdopen(fd, "w+");
	return run->report || !run->s->json ? CLI_OK : report_failed(errno);
}

/* Prints the report, now that the output is complete. */
static enum cli_exit print_report(struct run *run)
{
	char buffer[4096];
	size_t n;
	int error;

	rewind(run->report);
	while ((n = fread(buffer, 1, sizeof(buffer), run->report)))
		fwrite(buffer, 1, n, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return CLI_OK;
	error = errno;
	clearerr(stdout);	/* it is reported */
	return report_failed(error);
}

/* Prints one line for all of them. */
static void report_lost_features(const struct run *run, const bool ids[256])
{
	char text[2048] = "", name[32];
	size_t n = 0;

	for (uint32_t id = 0; id < 256 && n < sizeof(text) - 64; id++)
		if (ids[id])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
					      feature_name(id, name, sizeof(name)));
	if (n)
		cli_error(&tool, "%s: lost features: %s", run->output, text);
}

static void report_losses(const struct run *run, const struct pd_repair_report *r)
{
	const uint64_t lost = lost_bytes(&run->account), inner = run->account.dropped_expanded;
	char missing[64] = "", compressed[64] = "", bytes[96] = "";

	if (run->missing)
		snprintf(missing, sizeof(missing), ", %" PRIu64 " missing at the end",
			 run->missing);
	if (run->compressed)
		snprintf(compressed, sizeof(compressed),
			 "; damaged content in %" PRIu64 " compressed record%s",
			 run->compressed, run->compressed == 1 ? "" : "s");
	if (!inner)
		snprintf(bytes, sizeof(bytes), "%" PRIu64 " byte%s", lost, lost == 1 ? "" : "s");
	else if (!lost)
		snprintf(bytes, sizeof(bytes), "%" PRIu64 " expanded bytes", inner);
	else
		snprintf(bytes, sizeof(bytes), "%" PRIu64 " bytes and %" PRIu64 " expanded ones",
			 lost, inner);
	cli_error(&tool, "%s: %" PRIu64 " record%s kept, %" PRIu64 " lost; %s lost%s%s",
		  run->output, r->records,
		  r->records == 1 ? "" : "s", r->dropped, bytes, missing, compressed);
	report_lost_features(run, r->features_dropped);
	if (r->placeholder_formats)
		cli_error(&tool,
			  "%s: tracepoint formats are lost: samples of these events have no "
			  "fields", run->output);
}

static enum cli_exit input_failed(const struct run *run, const struct pd_error *e)
{
	char buffer[512];
	const char *text = pd_error_text(e, buffer, sizeof(buffer));

	if (e->code == PD_E_NO_ATTR)
		text = "no event is left, so the records can't be read";
	else if (e->code == PD_E_UNFINISHED)
		text = "no record is left";
	cli_error(&tool, "%s: %s%s", run->in.name, text, run->in.hint);
	return CLI_INPUT;
}

/* Bytes of the data section, by its header, beyond the end of the file. Unknown for a pipe or a
 * recorder that was killed. */
static uint64_t missing_bytes(const struct pd_file_info *info)
{
	const uint64_t there = info->size > info->data_offset ? info->size - info->data_offset : 0;

	if (info->mode == PD_MODE_PIPE || !info->size_known || info->data_size <= there)
		return 0;
	return info->data_size - there;
}

static enum cli_exit repair_reader(struct run *run, struct pd_reader *reader)
{
	struct pd_repair_report report;
	struct pd_error e;
	bool is_lossy;

	if (pd_reader_repair(reader, run->result->main.fd, &report, &e))
		return e.code == PD_E_IO ? output_failed(run, (int)e.have) : input_failed(run, &e);
	run->missing = missing_bytes(pd_reader_file(reader));
	run->account.size = sizeof(run->account);
	pd_reader_account(reader, &run->account);
	is_lossy = run->errors.nr || lost_bytes(&run->account) || run->account.dropped_expanded;
	if (is_lossy)
		report_losses(run, &report);
	if (run->report)
		write_json_report(run, &report);
	return is_lossy ? CLI_ERRORS : CLI_OK;
}

/* Runs in the sandbox. */
static enum cli_exit repair(void *ctx)
{
	struct run *run = ctx;
	const struct pd_reader_options *o = PD_READER_OPTIONS(.memory_limit = run->s->memory,
							      .max_expanded = run->max_output.bytes,
		.max_ratio = run->max_output.ratio, .on_error = on_error, .ctx = run);
	enum cli_exit status = CLI_INPUT;
	struct pd_reader *reader;
	struct pd_error e;

	if (run->report)
		run->listed = calloc(ERRORS_LISTED, sizeof(*run->listed));
	reader = run->in.fd >= 0 ? pd_reader_open_fd(run->in.fd, o, &e) :
		pd_reader_open_path(run->in.path, o, &e);
	status = reader ? repair_reader(run, reader) : input_failed(run, &e);
	pd_reader_free(reader);
	free(run->listed);
	run->listed = NULL;
	return run->report && fflush(run->report) ? report_failed(errno) : status;
}

static enum cli_exit open_input(struct run *run)
{
	if (strcmp(run->in.path, "-") == 0 && !run->s->output)
		return cli_usage(&tool,
				 "standard input has no name to append .repaired to: use -o "
				 "FILE%s", run->in.hint);
	if (input_open(&run->in, &tool) == 0)
		return CLI_OK;
	return input_failed(run,
			    &(struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
				    .have = (uint64_t)errno });
}

static void drop_output(void *ctx)
{
	struct run *run = ctx;

	atomic_output_discard(run->result);
}

static enum cli_exit repair_input(struct run *run)
{
	const struct sandbox sandbox = {
		.tool = &tool, .word = run->s->sandbox, .verbose = run->s->verbose,
		.input = run->in.fd,
		.read_beneath = run->in.fd < 0 ? run->in.path :
			NULL, .tempfile = SANDBOX_TEMPFILE_UNLESS_PLAIN,
		.undo = drop_output,
	};
	enum cli_exit status = open_output(run), kept;

	if (status == CLI_OK)
		status = open_report(run);
	if (status == CLI_OK)
		status = sandbox_run(&sandbox, SANDBOX_IN_CHILD, repair, run);
	if (status > CLI_ERRORS)
		return status;
	kept = atomic_output_commit(run->result);
	if (kept == CLI_OK && run->report)
		kept = print_report(run);
	return kept == CLI_OK ? status : kept;
}

int main(int argc, char **argv)
{
	struct settings s = { .output = NULL };
	char **operands = cli_parse(&tool, argc, argv, &s);
	struct atomic_output result = ATOMIC_OUTPUT_CLOSED;
	struct run run = { .s = &s, .result = &result,
			   .errors = { &tool, ERRORS_SHOWN, s.verbose, 0 } };
	enum cli_exit status = sandbox_check(&tool, s.sandbox);

	if (status == CLI_OK)
		status = max_output_read(&tool, s.max_output, &run.max_output);
	if (status == CLI_OK)
		status = input_check(&tool, &s.inputs, operands[0]);
	input_choose(&run.in, input_named(&s.inputs, operands[0]));
	if (status == CLI_OK)
		status = open_input(&run);
	if (status == CLI_OK)
		status = repair_input(&run);
	atomic_output_discard(&result);
	input_close(&run.in);
	if (run.report)
		fclose(run.report);
	cli_list_free(&s.inputs);
	free(run.output);
	return cli_finish(&tool, status);
}
