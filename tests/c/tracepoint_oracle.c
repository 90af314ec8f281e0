/* tracepoint_oracle.c - what libtraceevent makes of format texts and raw data, for the tests to
 * compare with.
 *
 * Reads commands from stdin, a line each; answers `format` and `raw` with a JSON object on a line:
 *   machine little|big LONG_SIZE    of the recording machine; before the formats
 *   format SYSTEM HEX               a format text
 *   raw ID HEX                      raw data of the event with this id
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

struct span {
	unsigned char *data;
	size_t size;
};

/* The events met so far, kept to the end: libtraceevent frees only those that it keeps itself. */
struct events {
	struct tep_handle *tep;
	struct tep_event **list;
	size_t count;
};

static void fail(const char *what)
{
	fprintf(stderr, "oracle: %s\n", what);
	exit(2);
}

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	if (!at)
		fail("not lower-case hex");
	return (int)(at - digits);
}

/* The bytes and a NUL, to be freed. */
static struct span from_hex(const char *hex)
{
	struct span out = { calloc(1, strlen(hex) / 2 + 1), strlen(hex) / 2 };

	if (!out.data)
		fail("no memory");
	for (size_t i = 0; i < out.size; i++)
		out.data[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	return out;
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\' || c < ' ' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_flags(unsigned long flags)
{
	static const struct {
		unsigned long bit;
		const char *name;
	} names[] = {
		{ TEP_FIELD_IS_ARRAY, "array" },     { TEP_FIELD_IS_POINTER, "pointer" },
		{ TEP_FIELD_IS_SIGNED, "signed" },   { TEP_FIELD_IS_STRING, "string" },
		{ TEP_FIELD_IS_DYNAMIC, "dynamic" }, { TEP_FIELD_IS_LONG, "long" },
		{ TEP_FIELD_IS_RELATIVE, "relative" },
	};
	const char *comma = "";

	printf(",\"flags\":[");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & names[i].bit))
			continue;
		printf("%s\"%s\"", comma, names[i].name);
		comma = ",";
	}
	putchar(']');
}

static void print_field(const struct tep_format_field *f)
{
	printf("{\"name\":");
	print_text(f->name);
	printf(",\"type\":");
	print_text(f->type);
	printf(",\"offset\":%d,\"size\":%d", f->offset, f->size);
	printf(",\"length\":%u,\"elem_size\":%u", f->arraylen, f->elementsize);
	print_flags(f->flags);
}

typedef void field_visit(struct tep_format_field *f, void *ctx);

/* The fields that every event has come first, as in the text. */
static void each_field(const struct tep_event *event, field_visit *visit, void *ctx)
{
	struct tep_format_field *lists[] = { event->format.common_fields, event->format.fields };
	const char *comma = "";

	for (size_t i = 0; i < 2; i++) {
		for (struct tep_format_field *f = lists[i]; f; f = f->next) {
			printf("%s", comma);
			visit(f, ctx);
			comma = ",";
		}
	}
}

static void describe(struct tep_format_field *f, void *ctx)
{
	(void)ctx;
	print_field(f);
	putchar('}');
}

static void keep(struct events *e, struct tep_event *event)
{
	struct tep_event **list = reallocarray(e->list, e->count + 1, sizeof(*list));

	if (!list)
		fail("no memory");
	e->list = list;
	list[e->count++] = event;
}

static struct tep_event *find(const struct events *e, int id)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->list[i]->id == id)
			return e->list[i];
	return NULL;
}

/* An event whose `print fmt` alone is not understood is a good one. */
static void answer_format(struct events *e, const char *system, const char *hex)
{
	struct span text = from_hex(hex);
	struct tep_event *event = NULL;
	enum tep_errno error;

	error = tep_parse_format(e->tep, &event, (char *)text.data, text.size, system);
	if (event && (event->format.common_fields || event->format.fields)) {
		keep(e, event);
		printf("{\"id\":%d,\"system\":", event->id);
		print_text(event->system);
		printf(",\"name\":");
		print_text(event->name);
		printf(",\"fields\":[");
		each_field(event, describe, NULL);
		printf("]}\n");
	} else {
		printf("{\"error\":%d}\n", (int)error);
	}
	free(text.data);
}

struct sample {
	struct tep_handle *tep;
	struct tep_event *event;
	struct span raw;
};

/* Where libtraceevent finds the field. False outside of the data, which it doesn't check. */
static bool find_data(const struct tep_format_field *f, const struct sample *s, struct span *out)
{
	struct tep_record record = { .data = s->raw.data, .size = (int)s->raw.size };
	struct trace_seq seq;
	size_t offset;
	int size = 0;

	if ((size_t)f->offset > s->raw.size || (size_t)f->size > s->raw.size - (size_t)f->offset)
		return false;
	if (!(f->flags & TEP_FIELD_IS_DYNAMIC)) {
		*out = (struct span){ s->raw.data + f->offset, (size_t)f->size };
		return true;
	}
	trace_seq_init(&seq);
	out->data = tep_get_field_raw(&seq, s->event, f->name, &record, &size, 0);
	trace_seq_destroy(&seq);
	if (!out->data || size < 0)
		return false;
	out->size = (size_t)size;
	offset = (size_t)(out->data - s->raw.data);
	return offset <= s->raw.size && out->size <= s->raw.size - offset;
}

static void print_elements(struct tep_handle *tep, struct span span, unsigned int size)
{
	const char *comma = "";

	if (!size)
		return;
	printf(",\"elements\":[");
	for (; span.size >= size; span.data += size, span.size -= size) {
		printf("%s%llu", comma, tep_read_number(tep, span.data, (int)size));
		comma = ",";
	}
	putchar(']');
}

static void show(struct tep_format_field *f, void *ctx)
{
	const struct sample *s = ctx;
	struct span span = { NULL, 0 };
	unsigned long long value;

	print_field(f);
	if (!find_data(f, s, &span)) {
		printf(",\"missing\":1}");
		return;
	}
	printf(",\"data\":\"");
	for (size_t i = 0; i < span.size; i++)
		printf("%02x", span.data[i]);
	putchar('"');
	if (f->flags & TEP_FIELD_IS_ARRAY)
		print_elements(s->tep, span, f->elementsize);
	else if (!tep_read_number_field(f, s->raw.data, &value))
		printf(",\"number\":%llu", value);
	putchar('}');
}

static void answer_raw(const struct events *e, const char *id, const char *hex)
{
	struct sample s = { e->tep, find(e, atoi(id)), from_hex(hex) };

	if (s.event) {
		printf("{\"id\":%d,\"fields\":[", s.event->id);
		each_field(s.event, show, &s);
		printf("]}\n");
	} else {
		printf("{\"error\":%d}\n", ENOENT);
	}
	free(s.raw.data);
}

static void obey(struct events *e, char *line)
{
	char *rest = line, *words[3];
	enum tep_endian order;

	for (size_t i = 0; i < 3; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i])
			fail("a command has three words");
	}
	if (!strcmp(words[0], "machine")) {
		order = strcmp(words[1], "big") ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN;
		tep_set_file_bigendian(e->tep, order);
		tep_set_long_size(e->tep, atoi(words[2]));
	} else if (!strcmp(words[0], "format")) {
		answer_format(e, words[1], words[2]);
	} else if (!strcmp(words[0], "raw")) {
		answer_raw(e, words[1], words[2]);
	} else {
		fail("a command is machine, format or raw");
	}
}

int main(void)
{
	struct events events = { .tep = tep_alloc() };
	size_t room = 0;
	char *line = NULL;

	if (!events.tep)
		fail("no memory");
	tep_set_loglevel(TEP_LOG_NONE);
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		obey(&events, line);
	}
	free(line);
	return fflush(stdout) ? 2 : 0;
}
