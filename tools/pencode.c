/* pencode - perf.data from the JSON that pdecode writes. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_output.h"
#include "build.h"
#include "cli.h"
#include "pd/write.h"
#include "pencode_json.h"
#include "pencode_split.h"
#include "sandbox.h"
#include "source.h"

#define DEFAULT_MEMORY (256ull << 20)
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
		   "write to FILE, or to DIR/ when the recording is a directory of perf record --threads (default stdout)"),
	CLI_CHOICE(0, "byte-order", NULL, settings, byte_order, orders, "turn all numbers"),
	CLI_CHOICE(0, "mode", NULL, settings, mode, modes, "file: with a header that has offsets; pipe: a stream of records"),
	CLI_OPTIONAL('z', "compress", "LEVEL", settings, compress, DEFAULT_LEVEL,
		     "compress the kernel's records (zstd, 1 to 22, default " DEFAULT_LEVEL ")"),
	CLI_SIZE(0, "memory", "BYTES", settings, memory, "hold no more than this (default 256M)"),
	SANDBOX_OPTION(settings),
	CLI_END
};

static const struct cli_note examples[] = {
	{ "pdecode perf.data | pencode -o copy.data", "the same bytes again" },
	{ "pdecode -f jsonl perf.data | grep -v '\"type\":\"MMAP2\"' | pencode > less.data",
	  "without some records" },
	{ "pencode --byte-order big --mode pipe in.json -o out.data", "as a big-endian machine would have piped it" },
	{ NULL, NULL }
};

static const struct cli_tool tool = {
	.name = "pencode", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Write perf.data from the JSON of pdecode.",
	.description = "Reads the document or JSON Lines. Sizes, counts and offsets may be left out; they are computed. "
		       "What can't be encoded is named by line and path, and nothing is written then. "
		       "Numbers have up to 64 bits, and what edits the JSON has to keep them as they are: Python does, "
		       "jq from 1.7 on. jq 1.6, Debian 12's, and JavaScript round those above 2^53, such as the pgoff of "
		       "a kernel's map, and nobody can tell afterwards. "
		       "Where a key and the same with _raw or _hex behind it both stand, the latter counts: it has the "
		       "exact bytes.\n\n"
		       SANDBOX_DESCRIPTION,
	.usage = "[FILE|-]", .operand_note = "Without FILE: standard input.", .operands = CLI_AT_MOST_ONE,
	.options = options, .examples = examples,
	.see_also = "pdecode(1), prepair(1), perf-report(1)",
};

/* Members of the document that are encoded. */
static bool is_ours(const char *key)
{
	return strcmp(key, "file") == 0 || strcmp(key, "attrs") == 0 || strcmp(key, "features") == 0 ||
	       strcmp(key, "records") == 0;
}

static bool member_is(struct json_object *o, const char *key, const char *text)
{
	struct json_object *member;

	return json_object_object_get_ex(o, key, &member) && json_object_is_type(member, json_type_string) &&
	       strcmp(json_object_get_string(member), text) == 0;
}

static bool is_kind(struct json_object *o, const char *kind)
{
	return member_is(o, "kind", kind);
}

/* A part of the document that came before `file`, which says how it is to be read. */
struct early {
	struct json_object *object;
	bool is_attr;
	uint64_t line, index;
};

struct job {
	struct pd_encoder *enc;
	const struct result *result;
	const struct settings *settings;
	const char *input;
	struct early *early;
	size_t nr_early;
	bool has_file, has_parts, is_directory;
};

static int no_object(struct pd_encode_error *e, const char *text)
{
	*e = (struct pd_encode_error){ .code = PD_E_ARGUMENT };
	snprintf(e->text, sizeof(e->text), "%s", text);
	return -1;
}

/* One part goes to where it belongs. Errors, summary and what others add are not needed. */
static int encode_part(struct job *j, const struct split_part *part, struct json_object *o, struct pd_encode_error *e)
{
	struct json_object *features;

	j->has_parts |= !*part->key || is_ours(part->key);
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
		return pd_encoder_file(j->enc, o, e);
	if (is_kind(o, "attr"))
		return pd_encoder_attr(j->enc, o, e);
	if (is_kind(o, "feature"))
		return json_object_object_get_ex(o, "feature", &features) && json_object_is_type(features, json_type_object) ?
			pd_encoder_features(j->enc, features, e) : no_object(e, "an object `feature` was expected");
	return is_kind(o, "error") || is_kind(o, "summary") ? 0 :
		no_object(e, "`kind` has to be file, attr, feature, record, error or summary");
}

static void where(const char *input, const struct split_part *part, const char *path, char *buf, size_t size)
{
	const bool of_file = strncmp(path, "file.", 5) == 0 || strcmp(path, "file") == 0;
	const bool elsewhere = of_file && *part->key && strcmp(part->key, "file") != 0;
	const char *key = elsewhere ? "" : part->key;
	char index[40] = "";

	if (part->is_element && !elsewhere)
		snprintf(index, sizeof(index), "[%llu]", (unsigned long long)part->index);
	if (of_file && !elsewhere)
		path += path[4] ? 5 : 4;	/* the part is that already */
	snprintf(buf, size, "%s:%llu%s%s%s%s%s", input, (unsigned long long)part->line, *key || *path ? ": " : "", key, index,
		 *key && *path && *path != '[' ? "." : "", path);
}

/* Why, and the status that goes with it. */
static enum cli_exit reason(const struct result *t, const struct pd_encode_error *e, const char **text)
{
	const int error = e->code == PD_E_IO ? (int)e->have : t->other_error;

	*text = error ? strerror(error) : e->text;
	if (error && !t->directory && e->code != PD_E_IO) {
		*text = "the recording is a directory: write it to one (-o DIR/), or as one file (--mode file)";
		return CLI_INPUT;
	}
	return error ? CLI_OUTPUT : CLI_INPUT;
}

static enum cli_exit report(const struct job *j, const struct split_part *part, const struct pd_encode_error *e)
{
	const char *text;
	enum cli_exit status = reason(j->result, e, &text);
	char place[300];

	where(j->input, part, e->path, place, sizeof(place));
	cli_error(&tool, "%s: %s", place, text);
	return status;
}

/* Where a directory is written to, `data` alone would be taken for a recording with threads of which the rest is lost. */
static enum cli_exit check_place(const struct job *j)
{
	const char *directory = j->result->directory;

	if (!directory || (j->is_directory && j->settings->mode == MODE_SAME))
		return CLI_OK;
	cli_error(&tool, "%s: is a directory and the recording is one file: give that a name, such as -o %sperf.data", directory,
		  directory);
	return CLI_OUTPUT;
}

/* `file` has come, or there is none. */
static enum cli_exit encode_early(struct job *j)
{
	enum cli_exit status = CLI_OK;
	struct pd_encode_error e;

	for (size_t i = 0; i < j->nr_early; i++) {
		const struct early *early = &j->early[i];
		const struct split_part part = { .key = early->is_attr ? "attrs" : "features", .line = early->line,
						 .index = early->index, .is_element = early->is_attr };

		if (status == CLI_OK && encode_part(j, &part, early->object, &e))
			status = report(j, &part, &e);
		json_object_put(early->object);
	}
	free(j->early);
	j->early = NULL;
	j->nr_early = 0;
	return status;
}

/* Takes the object over. */
static enum cli_exit keep_early(struct job *j, const struct split_part *part, struct json_object *o)
{
	struct early *more = realloc(j->early, (j->nr_early + 1) * sizeof(*more));

	if (!more) {
		json_object_put(o);
		cli_error(&tool, "%s", strerror(ENOMEM));
		return CLI_OUTPUT;
	}
	j->early = more;
	j->early[j->nr_early++] = (struct early){ o, strcmp(part->key, "attrs") == 0, part->line, part->index };
	return CLI_OK;
}

static enum cli_exit encode_object(struct job *j, const struct split_part *part, struct json_object *o)
{
	const bool is_file = *part->key ? strcmp(part->key, "file") == 0 : is_kind(o, "file");
	enum cli_exit status;
	struct pd_encode_error e;

	if (*part->key && !j->has_file && (strcmp(part->key, "attrs") == 0 || strcmp(part->key, "features") == 0))
		return keep_early(j, part, o);
	j->is_directory |= is_file && member_is(o, "mode", "directory");
	status = check_place(j);
	if (status == CLI_OK && !is_file)
		status = encode_early(j);
	j->has_file |= is_file || strcmp(part->key, "records") == 0;
	if (status == CLI_OK && encode_part(j, part, o, &e))
		status = report(j, part, &e);
	if (status == CLI_OK && is_file)
		status = encode_early(j);
	json_object_put(o);
	return status;
}

/* json-c up to 0.16 reads a number outside of 64 bits as the nearest one inside; 0.18 refuses it without a reason. */
static bool exceeds_64_bits(const struct split_part *part)
{
	bool in_string = false;

	for (size_t i = 0; i < part->size; i++) {
		const char *at = part->text + i, *limit = "18446744073709551615";
		const char before = i ? at[-1] : '\0';
		size_t n = 0, most;

		if (*at == '"')
			in_string = !in_string;
		else if (in_string && *at == '\\')
			i++;
		if (in_string || *at < '1' || *at > '9')
			continue;
		while (i + n < part->size && at[n] >= '0' && at[n] <= '9')
			n++;
		i += n - 1;
		if (before == '.' || (i + 1 < part->size && strchr(".eE", at[n])))
			continue;
		if (before == '-')
			limit = "9223372036854775808";
		most = strlen(limit);
		if (n > most || (n == most && memcmp(at, limit, n) > 0))
			return true;
	}
	return false;
}

static bool is_escaped(const char *at, const char *end, const char *digits)
{
	return end - at >= 6 && strncasecmp(at, "\\ud", 3) == 0 && strchr(digits, at[3]) && isxdigit((unsigned char)at[4]) &&
	       isxdigit((unsigned char)at[5]);
}

static unsigned int code_of(const char *at)
{
	const char digits[] = { at[2], at[3], at[4], at[5], '\0' };

	return (unsigned int)strtoul(digits, NULL, 16);
}

/* Writes surrogate pairs ("\ud83d\ude00") as the characters they are: json-c 0.15 to 0.18 takes U+1D800 and others like it
 * for U+FFFD, and halves of pairs too. False: there is half a pair. */
static bool join_surrogates(struct split_part *part)
{
	char *at = part->text, *to = NULL, *end = at + part->size, *next;

	while ((next = memchr(at, '\\', (size_t)(end - at)))) {
		if (to)
			to = (char *)memmove(to, at, (size_t)(next - at)) + (next - at);
		at = next;
		if (is_escaped(at, end, "89abAB") && is_escaped(at + 6, end, "cdefCDEF")) {
			unsigned int c = 0x10000 + ((code_of(at) & 0x3ff) << 10) + (code_of(at + 6) & 0x3ff);

			to = to ? to : at;
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
			at += 12;
			continue;
		}
		if (is_escaped(at, end, "89abcdefABCDEF"))
			return false;
		for (int i = 0; i < 2 && at < end; i++, at++)
			if (to)
				*to++ = *at;
	}
	if (to) {
		to = (char *)memmove(to, at, (size_t)(end - at)) + (end - at);
		part->size = (size_t)(to - part->text);
	}
	return true;
}

static enum cli_exit parse(struct job *j, struct json_tokener *tokener, struct split_part *part)
{
	struct json_object *o = NULL;
	const char *wrong = NULL;
	char place[300];

	if (!part->is_element && (strcmp(part->key, "records") == 0 || strcmp(part->key, "attrs") == 0))
		wrong = "an array was expected";
	else if (part->text[0] != '{')
		wrong = "an object was expected";
	else if (!join_surrogates(part))
		wrong = "half a surrogate pair is no character";
	else if (part->size > INT32_MAX)
		wrong = "more than 2 GiB";
	else if (part->has_long_number && exceeds_64_bits(part))
		wrong = "a number is larger than 64 bits (jq 1.6 and others round those above 2^53)";
	else if (!(o = json_parse(tokener, part->text, part->size)))
		wrong = json_parse_error(tokener);
	else if (json_nr_members(o) != part->members)
		wrong = "a key stands twice in one object";
	if (!wrong)
		return encode_object(j, part, o);
	where(j->input, part, "", place, sizeof(place));
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
	int got = 1;

	if (!tokener)
		return CLI_OUTPUT;
	while (status == CLI_OK && (got = split_next(in, &part, &why)) > 0)
		if (!*part.key || is_ours(part.key))
			status = parse(j, tokener, &part);
	json_tokener_free(tokener);
	if (status == CLI_OK && got < 0) {
		cli_error(&tool, "%s:%llu: %s", j->input, (unsigned long long)split_line(in), why);
		status = CLI_INPUT;
	}
	early = encode_early(j);
	if (status == CLI_OK)
		status = early;
	if (status == CLI_OK && !j->has_parts) {
		cli_error(&tool, "%s: no file, attrs, features or records in it", j->input);
		status = CLI_INPUT;
	}
	return status == CLI_OK ? check_place(j) : status;
}

struct work {
	const struct settings *s;
	struct result *t;
	int fd;
	const char *input;
};

/* What the output has no place for. */
static enum cli_exit say_left_out(const char *input, const struct pd_encoder *enc)
{
	const uint64_t records = pd_encoder_left_out(enc), gaps = pd_encoder_gaps_left_out(enc);
	const char *feature;
	size_t n, raw;

	for (n = 0; (feature = pd_encoder_feature_left_out(enc, n)); n++)
		cli_error(&tool, "%s: feature %s left out: it is larger than a record of a pipe, 64 KiB (a file has room)", input,
			  feature);
	for (raw = 0; (feature = pd_encoder_feature_lost_raw(enc, raw)); raw++)
		cli_error(&tool, "%s: %s_raw left out: it has bytes that no field explains, and they can't change their byte order",
			  input, feature);
	if (gaps)
		cli_error(&tool, "%s: gaps left out: %llu byte%s between the sections, which are elsewhere in the output", input,
			  (unsigned long long)gaps, gaps == 1 ? "" : "s");
	if (records)
		cli_error(&tool, "%s: %llu record%s left out: the compressed records hold only a part of %s "
			  "(pdecode --blobs full keeps it)", input, (unsigned long long)records, records == 1 ? "" : "s",
			  records == 1 ? "it" : "each");
	return records || n || raw || gaps ? CLI_ERRORS : CLI_OK;
}

/* Is the output to be kept, though something may be missing in it? */
static bool is_there(enum cli_exit status)
{
	return status == CLI_OK || status == CLI_ERRORS;
}

/* In the sandbox. */
static enum cli_exit encode(void *ctx)
{
	const struct work *w = ctx;
	const size_t memory = w->s->memory ? w->s->memory : DEFAULT_MEMORY;
	const struct pd_encoder_options o = {
		.size = sizeof(o), .byte_order = w->s->byte_order, .mode = w->s->mode,
		.compress = w->s->level, .memory_limit = memory, .open_file = atomic_output_open_other, .ctx = w->t,
	};
	struct pd_encode_error e = { .path = "", .text = "no memory" };
	struct job j = { .enc = pd_encoder_new(&json_values, w->t->main.fd, &o, &e), .result = w->t,
			 .settings = w->s, .input = w->input };
	struct split *in = split_open(w->fd, memory);
	enum cli_exit status = CLI_INPUT;
	bool failed = !j.enc || !in;
	const char *text;

	if (!failed) {
		status = encode_all(&j, in);
		failed = status == CLI_OK && pd_encoder_finish(j.enc, &e);
	}
	if (failed) {
		status = reason(w->t, &e, &text);
		cli_error(&tool, "%s: %s%s%s", w->input, e.path, *e.path ? ": " : "", text);
	}
	if (status == CLI_OK)
		status = say_left_out(w->input, j.enc);
	split_close(in);
	pd_encoder_free(j.enc);
	return status;
}

/* The files of a directory are known only here. */
static enum cli_exit encode_directory(void *ctx)
{
	const struct work *w = ctx;
	enum cli_exit status = encode(ctx), kept = is_there(status) ? atomic_output_keep(w->t) : CLI_OK;

	atomic_output_drop_files(w->t);
	return kept == CLI_OK ? status : kept;
}

static void drop_output(void *ctx)
{
	const struct work *w = ctx;

	atomic_output_drop(w->t);
}

static enum cli_exit encode_into(struct result *t, struct work *w)
{
	const struct sandbox sandbox = {
		.tool = &tool, .word = w->s->sandbox, .input = w->fd, .write_beneath = t->directory,
		.undo = drop_output,
	};
	enum cli_exit status, kept;

	if (t->directory) {
		status = sandbox_run(&sandbox, SANDBOX_APART, encode_directory, w);
		t->made = t->made && !is_there(status);
		return status;
	}
	status = sandbox_run(&sandbox, t->main.path ? SANDBOX_APART : SANDBOX_HERE, encode, w);
	kept = is_there(status) ? atomic_output_keep(t) : CLI_OK;
	return kept == CLI_OK ? status : kept;
}

/* 1 to 22, as zstd has them. */
static bool is_level(const char *text, int *level)
{
	char *end;
	long n = strtol(text, &end, 10);

	*level = (int)n;
	return text[0] >= '0' && text[0] <= '9' && !*end && n >= 1 && n <= 22;
}

int main(int argc, char **argv)
{
	struct settings s = { .output = NULL };
	char **operands = cli_parse(&tool, argc, argv, &s);
	const char *input = operands[0] ? operands[0] : "-";
	enum cli_exit status;
	struct stat st;
	struct result t;
	int fd = 0;

	if (!operands[0] && isatty(STDIN_FILENO))
		return cli_finish(&tool, cli_usage(&tool, "no FILE is given and standard input is a terminal (- reads it)"));
	if (strcmp(input, "-") != 0)
		fd = open(input, O_RDONLY | O_CLOEXEC);
	else
		input = "stdin";
	if (fd < 0) {
		cli_error(&tool, "%s: %s", input, strerror(errno));
		return cli_finish(&tool, CLI_INPUT);
	}
	if (sandbox_check(&tool, s.sandbox) != CLI_OK)
		return cli_finish(&tool, CLI_USAGE);
	if (s.compress && !is_level(s.compress, &s.level))
		return cli_finish(&tool, cli_usage(&tool, "--compress takes a level from 1 to 22"));
	if ((!s.output || strcmp(s.output, "-") == 0) && isatty(1))
		return cli_finish(&tool, cli_usage(&tool, "perf.data is not for terminals: use -o FILE"));
	json_prepare();
	status = atomic_output_open(&t, &tool, s.output, source_stat(input, fd, &st) ? &st : NULL);
	if (status == CLI_OK)
		status = encode_into(&t, &(struct work){ &s, &t, fd, input });
	atomic_output_drop(&t);
	if (fd > 0)
		close(fd);
	return cli_finish(&tool, status);
}
