/* pencode - perf.data from the JSON that pdecode writes. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"
#include "pd/write.h"
#include "pencode_json.h"
#include "pencode_split.h"

#define DEFAULT_MEMORY (256ull << 20)
#define DEFAULT_LEVEL "1"

struct settings {
	const char *output, *compress;
	unsigned int byte_order, mode;
	uint64_t memory;
};

static const char *const orders[] = { "same", "little", "big", NULL };
static const char *const modes[] = { "same", "file", "pipe", NULL };

static const struct cli_option options[] = {
	CLI_STRING('o', "output", "FILE", settings, output, "write to FILE, of a directory's JSON to a directory (default stdout)"),
	CLI_CHOICE(0, "byte-order", NULL, settings, byte_order, orders, "turn all numbers"),
	CLI_CHOICE(0, "mode", NULL, settings, mode, modes, "file: with a header that has offsets; pipe: a stream of records"),
	CLI_OPTIONAL('z', "compress", "LEVEL", settings, compress, DEFAULT_LEVEL, "compress the kernel's records (zstd, 1 to 22, default " DEFAULT_LEVEL ")"),
	CLI_SIZE(0, "memory", "BYTES", settings, memory, "hold no more than this (default 256M)"),
	CLI_END
};

static const struct cli_note examples[] = {
	{ "pdecode perf.data | pencode -o copy.data", "the same bytes again" },
	{ "pdecode -f jsonl perf.data | jq -c 'select(.type != \"MMAP2\")' | pencode > less.data", "without some records" },
	{ "pencode --byte-order big --mode pipe in.json -o out.data", "as a big-endian machine would have piped it" },
	{ NULL, NULL }
};

static const struct cli_tool tool = {
	.name = "pencode", .version = PD_VERSION, .summary = "Write perf.data from the JSON of pdecode.",
	.description = "Reads the document or JSON Lines. Sizes, counts and offsets may be left out; they are computed. "
		       "Nothing is written when something can't be encoded.",
	.usage = "[FILE|-]", .operands = CLI_AT_MOST_ONE, .options = options, .examples = examples,
};

/* What is written until all of it is known to be right. */
struct target {
	const char *path;	/* NULL: stdout */
	char *temporary;	/* renamed to path at the end */
	int fd, directory;	/* directory: of a directory's files, or -1 */
};

static int new_file(struct target *t)
{
	const char *dir = getenv("TMPDIR");
	size_t size;

	if (!t->path) {
		t->fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		return t->fd < 0 ? -1 : 0;
	}
	size = strlen(t->path) + 8;
	t->temporary = malloc(size);
	if (!t->temporary)
		return -1;
	snprintf(t->temporary, size, "%s.XXXXXX", t->path);
	t->fd = mkostemp(t->temporary, O_CLOEXEC);
	if (t->fd < 0) {
		free(t->temporary);
		t->temporary = NULL;
		return -1;
	}
	return fchmod(t->fd, 0644);
}

/* The records of a directory's data.N go to files beside `data`, made when the first of them comes. */
static int open_other(void *ctx, const char *name)
{
	struct target *t = ctx;

	return t->directory < 0 ? -1 : openat(t->directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

static void drop(struct target *t)
{
	if (t->temporary) {
		unlink(t->temporary);
		free(t->temporary);
		t->temporary = NULL;
	}
	if (t->fd >= 0)
		close(t->fd);
	if (t->directory >= 0)
		close(t->directory);
	t->fd = t->directory = -1;
}

static enum cli_exit output_failed(const struct target *t)
{
	cli_error(&tool, "%s: %s", t->path ? t->path : "stdout", strerror(errno));
	return CLI_OUTPUT;
}

static enum cli_exit copy_to_stdout(struct target *t)
{
	struct output out = OUTPUT_CLOSED;
	enum cli_exit status = output_open(&out, &tool, NULL, NULL);
	static char buffer[65536];
	ssize_t got = 1;

	if (status != CLI_OK)
		return status;
	lseek(t->fd, 0, SEEK_SET);
	while ((got = read(t->fd, buffer, sizeof(buffer))) > 0)
		if (output_write(&out, buffer, (size_t)got))
			break;
	return output_close(&out, got < 0 ? CLI_OUTPUT : CLI_OK);
}

static enum cli_exit keep(struct target *t)
{
	if (!t->path)
		return copy_to_stdout(t);
	if (fsync(t->fd) && errno != EINVAL && errno != EROFS)
		return output_failed(t);
	if (rename(t->temporary, t->path))
		return output_failed(t);
	free(t->temporary);
	t->temporary = NULL;
	return CLI_OK;
}

static bool is_kind(struct json_object *o, const char *kind)
{
	struct json_object *k;

	return json_object_object_get_ex(o, "kind", &k) && strcmp(json_object_get_string(k), kind) == 0;
}

/* The part goes to where it belongs. Errors, summary and what jq adds are not needed. */
static int encode_part(struct pd_encoder *enc, const struct split_part *part, struct json_object *o,
		       struct pd_encode_error *e)
{
	struct json_object *features;

	if (*part->key) {
		if (strcmp(part->key, "file") == 0)
			return pd_encoder_file(enc, o, e);
		if (strcmp(part->key, "attrs") == 0)
			return pd_encoder_attr(enc, o, e);
		if (strcmp(part->key, "features") == 0)
			return pd_encoder_features(enc, o, e);
		return strcmp(part->key, "records") == 0 ? pd_encoder_record(enc, o, e) : 0;
	}
	if (is_kind(o, "record"))
		return pd_encoder_record(enc, o, e);
	if (is_kind(o, "file"))
		return pd_encoder_file(enc, o, e);
	if (is_kind(o, "attr"))
		return pd_encoder_attr(enc, o, e);
	if (is_kind(o, "feature") && json_object_object_get_ex(o, "feature", &features) &&
	    json_object_is_type(features, json_type_object))
		return pd_encoder_features(enc, features, e);
	return 0;
}

static void where(const char *input, const struct split_part *part, const char *path, char *buf, size_t size)
{
	const bool element = strcmp(part->key, "records") == 0 || strcmp(part->key, "attrs") == 0;
	char index[40] = "";

	if (element)
		snprintf(index, sizeof(index), "[%llu]", (unsigned long long)part->index);
	snprintf(buf, size, "%s:%llu: %s%s%s%s", input, (unsigned long long)part->line, part->key, index,
		 *part->key && path && *path && *path != '[' ? "." : "", path ? path : "");
}

static enum cli_exit encode_all(struct pd_encoder *enc, struct split *in, const char *input)
{
	struct json_tokener *tokener = json_tokener_new_ex(64);
	enum cli_exit status = CLI_OK;
	struct pd_encode_error e;
	struct split_part part;
	const char *why = "";
	char place[300];
	int got = 1;

	if (!tokener)
		return CLI_OUTPUT;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	while (status == CLI_OK && (got = split_next(in, &part, &why)) > 0) {
		struct json_object *o;

		if (*part.key && part.text[0] != '{')
			continue;	/* a member that is no object: nothing of ours */
		json_tokener_reset(tokener);
		o = part.size <= INT32_MAX ? json_tokener_parse_ex(tokener, part.text, (int)part.size) : NULL;
		if (!o || !json_object_is_type(o, json_type_object)) {
			where(input, &part, NULL, place, sizeof(place));
			cli_error(&tool, "%s: %s", place, o ? "an object was expected" :
				  json_tokener_error_desc(json_tokener_get_error(tokener)));
			status = CLI_INPUT;
		} else if (encode_part(enc, &part, o, &e)) {
			where(input, &part, e.path, place, sizeof(place));
			cli_error(&tool, "%s: %s", place, e.code == PD_E_IO ? strerror((int)e.have) : e.text);
			status = e.code == PD_E_IO ? CLI_OUTPUT : CLI_INPUT;
		}
		json_object_put(o);
	}
	json_tokener_free(tokener);
	if (status == CLI_OK && got < 0) {
		cli_error(&tool, "%s:%llu: %s", input, (unsigned long long)split_line(in), why);
		return CLI_INPUT;
	}
	return status;
}

static enum cli_exit encode(const struct settings *s, struct target *t, int fd, const char *input)
{
	const size_t memory = s->memory ? s->memory : DEFAULT_MEMORY;
	const struct pd_encoder_options o = {
		.size = sizeof(o), .byte_order = s->byte_order, .mode = s->mode,
		.compress = s->compress ? atoi(s->compress) : 0, .memory_limit = memory,
		.open_file = open_other, .ctx = t,
	};
	struct pd_encode_error e;
	struct pd_encoder *enc = pd_encoder_new(&json_values, t->fd, &o, &e);
	struct split *in = split_open(fd, memory);
	enum cli_exit status = CLI_INPUT;

	if (enc && in) {
		status = encode_all(enc, in, input);
		if (status == CLI_OK && pd_encoder_finish(enc, &e)) {
			cli_error(&tool, "%s: %s%s%s", input, e.path, *e.path ? ": " : "",
				  e.code == PD_E_IO ? strerror((int)e.have) : e.text);
			status = e.code == PD_E_IO ? CLI_OUTPUT : CLI_INPUT;
		}
	}
	split_close(in);
	pd_encoder_free(enc);
	return status;
}

/* A directory is written when `-o DIR/` says so or DIR is one. */
static enum cli_exit open_target(struct target *t, const char *path)
{
	static char data[4096];
	size_t n = path ? strlen(path) : 0;
	struct stat st;

	*t = (struct target){ .path = path, .fd = -1, .directory = -1 };
	if (path && n && (path[n - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))) {
		if (mkdir(path, 0755) && errno != EEXIST)
			return output_failed(t);
		t->directory = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
		snprintf(data, sizeof(data), "%s%sdata", path, path[n - 1] == '/' ? "" : "/");
		t->path = data;
		if (t->directory < 0)
			return output_failed(t);
	}
	return new_file(t) ? output_failed(t) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct settings s = { .output = NULL };
	char **operands = cli_parse(&tool, argc, argv, &s);
	const char *input = operands[0] ? operands[0] : "-";
	enum cli_exit status;
	struct target t;
	int fd = 0;

	if (strcmp(input, "-") != 0)
		fd = open(input, O_RDONLY | O_CLOEXEC);
	else
		input = "stdin";
	if (fd < 0) {
		cli_error(&tool, "%s: %s", input, strerror(errno));
		return cli_finish(&tool, CLI_INPUT);
	}
	if (!s.output && isatty(1))
		return cli_finish(&tool, cli_usage(&tool, "perf.data is not for terminals: use -o FILE"));
	status = open_target(&t, s.output);
	if (status == CLI_OK)
		status = encode(&s, &t, fd, input);
	if (status == CLI_OK)
		status = keep(&t);
	drop(&t);
	if (fd > 0)
		close(fd);
	return cli_finish(&tool, status);
}
