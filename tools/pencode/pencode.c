/* pencode.c - encode the JSON of pdecode as perf.data. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/atomic_output.h"
#include "cli/build.h"
#include "cli/cli.h"
#include "pd/repair.h"
#include "pd/write.h"
#include "pencode/pencode_json.h"
#include "pencode/pencode_report.h"
#include "pencode/pencode_split.h"
#include "pencode/pencode_text.h"
#include "sandbox/sandbox.h"
#include "files/source.h"

#define DEFAULT_LEVEL "1"

struct settings {
	const char *output, *compress, *sandbox;
	unsigned int byte_order, mode;
	uint64_t memory;
	int level;
};

static const char *const orders[] = { "same", "little", "big", NULL };
static const char *const modes[] = { "same", "file", "pipe", NULL };

enum { MODE_SAME };

static const struct cli_option options[] = {
	CLI_STRING('o', "output", "FILE", settings, output,
		   "write to FILE, or to DIR/ if the recording is a directory of perf record "
		   "--threads (default: standard output)"),
	CLI_CHOICE(0, "byte-order", NULL, settings, byte_order, orders,
		   "change the byte order of all numbers"),
	CLI_CHOICE(0, "mode", NULL, settings, mode, modes,
		   "file: a header with offsets; pipe: a stream of records"),
	CLI_OPTIONAL('z', "compress", "LEVEL", settings, compress, DEFAULT_LEVEL,
		     "compress the kernel's records (zstd, 1 to 22, default " DEFAULT_LEVEL ")"),
	CLI_SIZE(0, "memory", "SIZE", settings, memory,
		 "use at most SIZE of memory, such as 1G (default and 0: 256M)"),
	SANDBOX_OPTION(settings),
	CLI_END
};

static const struct cli_note examples[] = {
	{ "pdecode perf.data | pencode -o copy.data", "Write the same bytes again." },
	{ "pdecode -f jsonl perf.data | grep -v '\"type\":\"MMAP2\"' | pencode > less.data",
	  "Remove some records." },
	{ "pencode --byte-order big --mode pipe in.json -o out.data",
	  "Write a stream as a big-endian machine does." },
	{ NULL, NULL }
};

static const struct cli_note exits[] = {
	{ "0", "everything was written" },
	{ "1", "the output is valid, but something was left out or ignored: see standard error" },
	{ "2", "the command line is wrong" },
	{ "3", "no output: the input can't be opened, or is not what pdecode writes" },
	{ "4", "the output could not be written" },
	{ NULL, NULL }
};

static const struct cli_tool tool = {
	.name = "pencode", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Write perf.data from the JSON of pdecode.",
	.description =
		"Reads a JSON document or JSON Lines. Sizes, counts and offsets may be left "
		"out; they are computed. Errors are reported with line and path, and then "
		"nothing is written. Numbers have up to 64 bits, and tools that edit the JSON "
		"must keep them exact: Python does, and jq since 1.7. jq 1.6 (Debian 12) and "
		"JavaScript round numbers above 2^53, such as the pgoff of a kernel map, which "
		"can't be detected afterwards. If an object has a key and the same key with "
		"_raw or _hex appended, the latter counts: it has the exact bytes. So does `raw` "
		"beside names and parts of it, and a sample's `raw.data` beside the fields of "
		"its tracepoint. `cpumode` and `misc_flags` must agree with `misc`; "
		"without it, they count. In a file, `event` must not name another event than "
		"`attr_index`, and the fields of a tracepoint must be those of `raw.data`. In a "
		"pipe, the HEADER_ATTR and HEADER_FEATURE records count, not `attrs` and "
		"`features`, which repeat them; a difference is reported (status 1).\n\n"
		SANDBOX_DESCRIPTION,
	.usage = "[FILE|-]", .operand_note = "Without FILE: standard input.",
	.operands = CLI_AT_MOST_ONE,
	.options = options, .examples = examples, .exits = exits,
	.see_also = "pdecode(1), prepair(1), perf-report(1)",
};

/* Returns whether the member of the document is encoded. */
static bool is_encoded_key(const char *key)
{
	return strcmp(key, "file") == 0 || strcmp(key, "attrs") == 0 ||
	       strcmp(key, "features") == 0 || strcmp(key, "records") == 0;
}

static bool states_format(const char *key)
{
	return strcmp(key, "pdecode") == 0;
}

static bool member_is(struct json_object *o, const char *key, const char *text)
{
	struct json_object *member;

	return json_object_object_get_ex(o, key, &member) &&
	       json_object_is_type(member, json_type_string) &&
	       strcmp(json_object_get_string(member), text) == 0;
}

static bool is_kind(struct json_object *o, const char *kind)
{
	return member_is(o, "kind", kind);
}

/* Returns whether the part is the member, or an element of it, or a line of that kind. */
static bool part_is(const struct split_part *part, struct json_object *o, const char *member,
		    const char *kind)
{
	return *part->key ? strcmp(part->key, member) == 0 : is_kind(o, kind);
}

/* An attr or features before what its encoding depends on: `file`, and the records of a pipe, with
 * which it is compared. */
struct early_part {
	struct json_object *object;
	struct split_part part;		/* without a text */
};

struct job {
	struct pd_encoder *enc;
	const struct atomic_output *result;
	const struct settings *settings;
	const char *input;
	struct early_part *early;
	size_t nr_early;
	uint64_t memory, kept;	/* bytes that parsed parts may take; that the early ones do */
	bool has_file, has_parts, is_directory;
	bool is_pipe, has_records;
};

static int set_error(struct pd_error *e, const char *text)
{
	*e = (struct pd_error){ .code = PD_E_ARGUMENT, .text = text };
	return -1;
}

/* Checks the object that states the format: another one may give keys another meaning. */
static int check_format(struct json_object *o, const char *path, struct pd_error *e)
{
	struct json_object *format;

	if (!json_object_object_get_ex(o, "format", &format) ||
	    json_object_get_int64(format) == 1)
		return 0;
	*e = (struct pd_error){ .code = PD_E_ARGUMENT, .field = path,
		.text = "only format 1 is known" };
	return -1;
}

/* Encodes the line with `file`, which also states the format. */
static int encode_file_line(struct job *j, struct json_object *o, struct pd_error *e)
{
	struct json_object *format;

	if (json_object_object_get_ex(o, "pdecode", &format) &&
	    check_format(format, "pdecode.format", e))
		return -1;
	return pd_encoder_file(j->enc, o, e);
}

/* Encodes one part. Errors, the summary and unknown keys are ignored. */
static int encode_part(struct job *j, const struct split_part *part, struct json_object *o,
		       struct pd_error *e)
{
	struct json_object *features;

	j->has_parts |= !*part->key || is_encoded_key(part->key);
	if (*part->key) {
		if (strcmp(part->key, "file") == 0)
			return pd_encoder_file(j->enc, o, e);
		if (strcmp(part->key, "attrs") == 0)
			return pd_encoder_attr(j->enc, o, e);
		if (strcmp(part->key, "features") == 0)
			return pd_encoder_features(j->enc, o, e);
		return pd_encoder_record(j->enc, o, e);
	}
	if (is_kind(o, "record"))
		return pd_encoder_record(j->enc, o, e);
	if (is_kind(o, "file"))
		return encode_file_line(j, o, e);
	if (is_kind(o, "attr"))
		return pd_encoder_attr(j->enc, o, e);
	if (is_kind(o, "feature"))
		return json_object_object_get_ex(o, "feature", &features) &&
			json_object_is_type(features, json_type_object) ?
			pd_encoder_features(j->enc, features, e) :
				set_error(e, "expected an object `feature`");
	return is_kind(o, "image") || is_kind(o, "error") || is_kind(o, "summary") ? 0 :
		set_error(e, "`kind` must be file, attr, feature, record, image, error or summary");
}

static void format_location(const char *input, const struct split_part *part, const char *path,
			    char *buf, size_t size)
{
	const bool of_file = strncmp(path, "file.", 5) == 0 || strcmp(path, "file") == 0;
	const bool elsewhere = of_file && *part->key && strcmp(part->key, "file") != 0;
	const char *key = elsewhere ? "" : part->key;
	char index[40] = "";

	if (part->is_element && !elsewhere)
		snprintf(index, sizeof(index), "[%llu]", (unsigned long long)part->index);
	if (of_file && !elsewhere)
		path += path[4] ? 5 : 4;	/* key already names `file` */
	snprintf(buf, size, "%s:%llu%s%s%s%s%s", input, (unsigned long long)part->line,
		 *key || *path ? ": " : "", key, index, *key && *path && *path != '[' ? "." : "",
		 path);
}

/* Sets *text to the reason and returns the exit status for it. */
static enum cli_exit error_reason(const struct atomic_output *out, const struct pd_error *e,
				  const char **text)
{
	const int error = e->code == PD_E_IO ? (int)e->have : out->other_error;

	*text = error ? strerror(error) : e->text ? e->text : pd_code_name(e->code);
	if (error && !out->directory && e->code != PD_E_IO) {
		*text = "the recording is a directory: write it to one (-o DIR/), or as one file "
			"(--mode file)";
		return CLI_INPUT;
	}
	return error ? CLI_OUTPUT : CLI_INPUT;
}

static enum cli_exit report_error(const struct job *j, const struct split_part *part,
				  const struct pd_error *e)
{
	const char *text;
	enum cli_exit status = error_reason(j->result, e, &text);
	char place[PATH_MAX + 300];

	format_location(j->input, part, e->field ? e->field : "", place, sizeof(place));
	cli_error(&tool, "%s: %s", place, text);
	return status;
}

/* In a directory a single `data` would look like a recording with threads whose other files are
 * lost. */
static enum cli_exit check_output_kind(const struct job *j)
{
	const char *directory = j->result->directory;

	if (!directory || (j->is_directory && j->settings->mode == MODE_SAME))
		return CLI_OK;
	cli_error(&tool, "%s: is a directory, but the recording is one file: use -o %sperf.data",
		  directory, directory);
	return CLI_OUTPUT;
}

/* Encodes the kept parts once what they depend on is known, or known to be missing. */
static enum cli_exit encode_early_parts(struct job *j)
{
	enum cli_exit status = CLI_OK;
	struct pd_error e;

	for (size_t i = 0; i < j->nr_early; i++) {
		const struct early_part *early = &j->early[i];

		if (status == CLI_OK && encode_part(j, &early->part, early->object, &e))
			status = report_error(j, &early->part, &e);
		json_object_put(early->object);
	}
	free(j->early);
	j->early = NULL;
	j->nr_early = 0;
	j->kept = 0;
	return status;
}

/* Takes ownership of the object. */
static enum cli_exit keep_early_part(struct job *j, const struct split_part *part,
				     struct json_object *o)
{
	struct early_part *more = realloc(j->early, (j->nr_early + 1) * sizeof(*more));
	struct early_part *early;

	if (!more) {
		json_object_put(o);
		cli_error(&tool, "%s", strerror(ENOMEM));
		return CLI_OUTPUT;
	}
	j->early = more;
	early = &more[j->nr_early++];
	*early = (struct early_part){ o, *part };
	early->part.key = !*part->key ? "" : part->is_element ? "attrs" : "features";
	j->kept += part->cost;
	return CLI_OK;
}

/* Takes ownership of the object. */
static enum cli_exit check_document_format(const struct job *j, const struct split_part *part,
					   struct json_object *o)
{
	struct pd_error e;
	const int err = check_format(o, "format", &e);

	json_object_put(o);
	return err ? report_error(j, part, &e) : CLI_OK;
}

/* Returns whether the part must wait for another one. */
static bool is_early(const struct job *j, const struct split_part *part, struct json_object *o)
{
	const bool waits = j->is_pipe ? !j->has_records : *part->key && !j->has_file;

	return waits && (part_is(part, o, "attrs", "attr") ||
			 part_is(part, o, "features", "feature"));
}

/* Takes ownership of the object. */
static enum cli_exit encode_object(struct job *j, const struct split_part *part,
				   struct json_object *o)
{
	const bool is_file = part_is(part, o, "file", "file");
	enum cli_exit status;
	struct pd_error e;

	if (states_format(part->key))
		return check_document_format(j, part, o);
	if (is_early(j, part, o))
		return keep_early_part(j, part, o);
	j->is_directory |= is_file && member_is(o, "mode", "directory");
	j->is_pipe |= is_file && member_is(o, "mode", "pipe");
	j->has_file |= is_file || strcmp(part->key, "records") == 0;
	j->has_records = j->has_records || part_is(part, o, "records", "record");
	status = check_output_kind(j);
	if (status == CLI_OK && !is_file && !j->is_pipe)
		status = encode_early_parts(j);
	if (status == CLI_OK && encode_part(j, part, o, &e))
		status = report_error(j, part, &e);
	if (status == CLI_OK && is_file && !j->is_pipe)
		status = encode_early_parts(j);
	json_object_put(o);
	return status;
}

static enum cli_exit parse_part(struct job *j, struct json_tokener *tokener,
				struct split_part *part)
{
	struct json_object *o = NULL;
	const char *wrong = NULL;
	char place[300];

	if (!part->is_element &&
	    (strcmp(part->key, "records") == 0 || strcmp(part->key, "attrs") == 0))
		wrong = "expected an array";
	else if (part->text[0] != '{')
		wrong = "expected an object";
	else if (!part_join_surrogates(part))
		wrong = "an unpaired surrogate is not a character";
	else if (part->size > INT32_MAX)
		wrong = "more than 2 GiB";
	else if (part->cost > j->memory - j->kept)
		wrong = "needs more memory than --memory allows";
	else if (part->has_long_number && part_exceeds_64_bits(part))
		wrong = "a number exceeds 64 bits (jq 1.6 and others round numbers above 2^53)";
	else if (!(o = json_parse(tokener, part->text, part->size)))
		wrong = json_parse_error(tokener);
	else if (json_nr_members(o) != part->members)
		wrong = "an object has a key twice";
	if (!wrong)
		return encode_object(j, part, o);
	format_location(j->input, part, "", place, sizeof(place));
	cli_error(&tool, "%s: %s", place, wrong);
	json_object_put(o);
	return CLI_INPUT;
}

static enum cli_exit encode_all(struct job *j, struct split *in)
{
	struct json_tokener *tokener = json_tokener_new_ex(64);
	enum cli_exit status = CLI_OK, early;
	struct split_part part;
	const char *why = "";
	int ret = 1;

	if (!tokener)
		return CLI_OUTPUT;
	while (status == CLI_OK && (ret = split_next(in, &part, &why)) > 0)
		if (!*part.key || is_encoded_key(part.key) || states_format(part.key))
			status = parse_part(j, tokener, &part);
	json_tokener_free(tokener);
	if (status == CLI_OK && ret < 0) {
		cli_error(&tool, "%s:%llu: %s", j->input, (unsigned long long)split_line(in), why);
		status = CLI_INPUT;
	}
	early = encode_early_parts(j);
	if (status == CLI_OK)
		status = early;
	if (status == CLI_OK && !j->has_parts) {
		cli_error(&tool,
			  "%s: nothing to encode: there is no file, attrs, features or records, or "
			  "they are empty", j->input);
		status = CLI_INPUT;
	}
	return status == CLI_OK ? check_output_kind(j) : status;
}

struct work {
	const struct settings *s;
	struct atomic_output *out;
	int fd;
	const char *input;
};

/* Returns whether to keep the output, which may lack something. */
static bool is_output_valid(enum cli_exit status)
{
	return status == CLI_OK || status == CLI_ERRORS;
}

/* Runs in the sandbox. */
static enum cli_exit encode_input(void *ctx)
{
	const struct work *w = ctx;
	const size_t memory = w->s->memory ? w->s->memory : PD_MEMORY_LIMIT;
	const struct pd_encoder_options o = {
		.size = sizeof(o), .byte_order = w->s->byte_order, .mode = w->s->mode,
		.compress = w->s->level, .memory_limit = memory,
		.open_file = atomic_output_open_other, .ctx = w->out,
	};
	struct pd_error e = { .text = "no memory" };
	struct job j = {
		.enc = pd_encoder_new(&json_values, w->out->main.fd, &o, &e), .result = w->out,
		.settings = w->s, .input = w->input, .memory = memory,
	};
	struct split *in = split_open(w->fd, memory);
	enum cli_exit status = CLI_INPUT;
	bool failed = !j.enc || !in;
	const char *text;

	if (!failed) {
		status = encode_all(&j, in);
		failed = status == CLI_OK && pd_encoder_finish(j.enc, &e);
	}
	if (failed) {
		status = error_reason(w->out, &e, &text);
		cli_error(&tool, "%s: %s%s%s", w->input, e.field ? e.field : "",
			  e.field ? ": " : "", text);
	}
	if (status == CLI_OK)
		status = report_left_out(&tool, w->input, j.enc);
	split_close(in);
	pd_encoder_free(j.enc);
	return status;
}

/* Commits in the child: only it knows the files of a directory. */
static enum cli_exit encode_directory(void *ctx)
{
	const struct work *w = ctx;
	const enum cli_exit status = encode_input(ctx);
	enum cli_exit kept = CLI_OK;

	if (is_output_valid(status))
		kept = atomic_output_commit(w->out);

	atomic_output_discard_files(w->out);
	return kept == CLI_OK ? status : kept;
}

static void drop_output(void *ctx)
{
	const struct work *w = ctx;

	atomic_output_discard(w->out);
}

static enum cli_exit encode_into(struct atomic_output *out, struct work *w)
{
	const struct sandbox sandbox = {
		.tool = &tool, .word = w->s->sandbox, .input = w->fd,
		.write_beneath = out->directory,
		.undo = drop_output,
	};
	enum cli_exit status, kept;

	if (out->directory) {
		status = sandbox_run(&sandbox, SANDBOX_IN_CHILD, encode_directory, w);
		out->made = out->made && !is_output_valid(status);
		return status;
	}
	status = sandbox_run(&sandbox, out->main.path ? SANDBOX_IN_CHILD : SANDBOX_IN_PROCESS,
			     encode_input, w);
	kept = is_output_valid(status) ? atomic_output_commit(out) : CLI_OK;
	return kept == CLI_OK ? status : kept;
}

/* Parses a zstd level, 1 to 22. */
static bool is_level(const char *text, int *level)
{
	char *end;
	long n = strtol(text, &end, 10);

	*level = (int)n;
	return text[0] >= '0' && text[0] <= '9' && !*end && n >= 1 && n <= 22;
}

static bool is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

int main(int argc, char **argv)
{
	struct settings s = { .output = NULL };
	char **operands = cli_parse(&tool, argc, argv, &s);
	const char *input = operands[0] ? operands[0] : "-";
	enum cli_exit status;
	struct stat st;
	struct atomic_output out;
	int fd = 0;

	if (!operands[0] && isatty(STDIN_FILENO))
		return cli_finish(&tool,
				  cli_usage(&tool,
					    "no FILE is given and standard input is a terminal "
					    "(use - to read it)"));
	if (strcmp(input, "-") != 0)
		fd = open(input, O_RDONLY | O_CLOEXEC);
	else
		input = "stdin";
	if (fd < 0 || is_directory(fd)) {
		cli_error(&tool, "%s: %s", input, strerror(fd < 0 ? errno : EISDIR));
		return cli_finish(&tool, CLI_INPUT);
	}
	if (sandbox_check(&tool, s.sandbox) != CLI_OK)
		return cli_finish(&tool, CLI_USAGE);
	if (s.compress && !is_level(s.compress, &s.level))
		return cli_finish(&tool, cli_usage(&tool, "--compress needs a level from 1 to 22"));
	if ((!s.output || strcmp(s.output, "-") == 0) && isatty(1))
		return cli_finish(&tool,
				  cli_usage(&tool,
					    "perf.data is binary and standard output is a "
					    "terminal: use -o FILE"));
	json_prepare();
	status = atomic_output_open(&out, &tool, s.output,
				    source_stat(input, fd, &st) ? &st : NULL);
	if (status == CLI_OK)
		status = encode_into(&out, &(struct work){ &s, &out, fd, input });
	atomic_output_discard(&out);
	if (fd > 0)
		close(fd);
	return cli_finish(&tool, status);
}
