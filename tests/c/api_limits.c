/* api_limits.c - options, errors and odd callers. Each check prints what it saw; the tests know
 * what that should be.
 *
 * api_limits WHAT FILE
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/history.h>
#include <pd/pd.h>
#include <pd/schema.h>
#include <pd/write.h>

static void print(const char *what, const struct pd_error *e)
{
	printf("%s %s severity=%d have=%" PRIu64 "\n", what, pd_code_name(e->code),
	       (int)e->severity, e->have);
}

static void on_error(void *ctx, const struct pd_error *e)
{
	(void)ctx;
	print("told", e);
}

static int read_all(const char *path, const struct pd_reader_options *o)
{
	const struct pd_record *record;
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_path(path, o, &e);
	uint64_t last = 0, time;
	unsigned int n = 0;
	bool sorted = true;
	int got;

	if (!r) {
		print("not opened", &e);
		if (e.file)
			printf("file %s\n", e.file);
		return 1;
	}
	while ((got = pd_reader_next(r, &record, &e)) == 1) {
		n++;
		if (pd_record_time(record, &time) && time) {
			sorted = sorted && time >= last;
			last = time;
		}
	}
	printf("records %u sorted=%d\n", n, sorted);
	if (got < 0)
		print("stopped", &e);
	pd_reader_free(r);
	return got < 0;
}

/* A caller that was compiled with an older, shorter struct: what it does not know is as if it were
 * 0. */
static int old_caller(const char *path)
{
	struct pd_reader_options o = { .on_error = on_error,
				       .stop_at = PD_NOTE,
				       .order = PD_BY_TIME };

	o.size = sizeof(o.size) + sizeof(o.memory_limit);
	return read_all(path, &o);
}

/* A caller that is newer than the library. */
static int new_caller(const char *path)
{
	struct {
		struct pd_reader_options known;
		char more[64];
	} o = { .known.order = PD_BY_TIME };

	memset(o.more, 0xff, sizeof(o.more));
	o.known.size = sizeof(o);
	return read_all(path, &o.known);
}

/* Visitors of three ages: one that knew `number` alone, today's, one with a function that is yet to
 * come. */
struct visits {
	unsigned int numbers, wrong;
};

static void a_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	(void)f;
	(void)value;
	((struct visits *)ctx)->numbers++;
}

static void is_wrong(void *ctx, const struct pd_field *f)
{
	(void)f;
	((struct visits *)ctx)->wrong++;
}

static void wrong_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	(void)n;
	is_wrong(ctx, f);
}

static void wrong_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	(void)bytes;
	is_wrong(ctx, f);
}

static int visitors(const char *path)
{
	const struct pd_visitor today = { .size = sizeof(today), .number = a_number };
	/* what follows an old caller's struct is anything */
	const struct pd_visitor old = {
		.size = offsetof(struct pd_visitor, numbers),
		.number = a_number,
		.numbers = wrong_numbers,
		.text = wrong_bytes,
		.bytes = wrong_bytes,
		.enter = is_wrong,
		.leave = is_wrong,
	};
	struct {
		struct pd_visitor known;
		void (*more)(void *ctx, const struct pd_field *f);
	} later = { { .size = sizeof(later), .number = a_number }, is_wrong };
	const struct pd_visitor *ages[] = { &old, &today, &later.known };
	struct visits records[3] = { { 0, 0 } }, attrs[3] = { { 0, 0 } };
	const struct pd_record *record;
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_path(path, NULL, &e);

	while (r && pd_reader_next(r, &record, &e) == 1)
		for (int i = 0; i < 3; i++)
			pd_record_visit(record, ages[i], &records[i]);
	for (int i = 0; r && i < 3; i++)
		pd_attr_visit(r, pd_reader_attr(r, 0), ages[i], &attrs[i]);
	for (int i = 0; i < 3; i++)
		printf("%u %u wrong=%u\n", records[i].numbers, attrs[i].numbers,
		       records[i].wrong + attrs[i].wrong);
	pd_reader_free(r);
	return 0;
}

static int full(void *ctx, const void *p, size_t n)
{
	(void)p;
	(void)n;
	++*(int *)ctx;
	return ENOSPC;
}

/* An output that fails is not called again. */
static int output_fails(const char *path)
{
	int calls = 0, failed;
	struct pd_sink *sink = pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_DOCUMENT),
						(struct pd_output){ full, &calls });
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_path(path, NULL, &e);
	const struct pd_record *record;

	failed = pd_sink_begin(sink, r);
	while (!failed && pd_reader_next(r, &record, &e) == 1)
		failed = pd_sink_record(sink, record);
	if (!failed)
		failed = pd_sink_finish(sink, r);
	printf("failed=%s calls=%d\n", strerror(failed), calls);
	pd_sink_free(sink);
	pd_reader_free(r);
	return 0;
}

/* Closed in the middle, and before the first record. */
static int early(const char *path)
{
	for (unsigned int records = 0; records < 20; records++) {
		struct pd_error e;
		const struct pd_record *record;
		struct pd_reader *r = pd_reader_open_path(
			path, PD_READER_OPTIONS(.order = records & 1 ? PD_BY_TIME : PD_AS_WRITTEN),
			&e);

		for (unsigned int i = 0; r && i < records && pd_reader_next(r, &record, &e) == 1;
		     i++)
			;
		pd_reader_free(r);
	}
	puts("closed");
	return 0;
}

static int texts(void)
{
	struct pd_error e = { .code = PD_E_TRUNCATED,
			      .severity = PD_DAMAGED,
			      .offset = 4096,
			      .record = "SAMPLE",
			      .field = "callchain",
			      .want = 48,
			      .have = 12 };
	char text[256], cut[10];
	uint32_t type = 0;

	puts(pd_error_text(&e, text, sizeof(text)));
	pd_error_text(&e, cut, sizeof(cut));
	printf("%s %zu\n", cut, strlen(cut));
	for (int code = 0; code <= PD_E_ORDER; code++)
		printf("%s ", pd_code_name((enum pd_code)code));
	printf("\n%d", pd_record_type_parse("mmap2", &type));
	printf(" %d %s\n", (int)type, pd_record_type_name_at(0));
	printf("%d %s\n", pd_record_type_parse("no such", &type),
	       pd_record_type_name_at(100000) ? "more" : "no more");
	printf("%s %d\n", pd_version(), pd_schema_count() > 50);
	return 0;
}

/* The macros of pd/write.h, in a file that includes nothing for them. */
static int values(void)
{
	const uint64_t ids[] = { 1, 2, 3 };
	const struct pd_value items[] = { PD_NUMBER("pid", -1), PD_TEXT("comm", "sh"),
					  PD_NUMBERS("ids", ids, 3) };
	const struct pd_value object = PD_OBJECT("all", items, 3);

	printf("%d %zu %s\n", pd_value_values.type(&object) == PD_NODE_OBJECT, items[1].bytes.size,
	       (const char *)items[1].bytes.data);
	printf("%" PRId64 "\n",
	       (int64_t)pd_value_values.number(pd_value_values.member(&object, "pid")));
	return 0;
}

/* The second time changes nothing. */
static int sealed_twice(const char *path)
{
	struct pd_error e = { .code = PD_OK };
	struct pd_history *h = pd_history_new(NULL, NULL);
	struct pd_reader *r = pd_reader_open_path(path, NULL, &e);
	size_t tasks;
	int again;

	pd_history_learn(h, r, &e);
	printf("%d\n", pd_history_seal(h, r, &e));
	tasks = pd_history_nr_tasks(h);
	again = pd_history_seal(h, r, &e);
	printf("%d %s\n", again, pd_code_name(e.code));
	printf("%s\n", pd_history_lacks_memory(h, NULL) ? "a part" : "all");
	printf("%s\n", tasks && tasks == pd_history_nr_tasks(h) ? "same tasks" : "other tasks");
	pd_reader_free(r);
	pd_history_free(h);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";

	if (strcmp(what, "plain") == 0)
		return read_all(path, PD_READER_OPTIONS(.on_error = on_error));
	if (strcmp(what, "defaults") == 0)
		return read_all(path, NULL);
	if (strcmp(what, "strict") == 0)
		return read_all(path,
				PD_READER_OPTIONS(.on_error = on_error, .stop_at = PD_DAMAGED));
	if (strcmp(what, "stop at notes") == 0)
		return read_all(path, PD_READER_OPTIONS(.on_error = on_error, .stop_at = PD_NOTE));
	if (strcmp(what, "by time") == 0)
		return read_all(path, PD_READER_OPTIONS(.order = PD_BY_TIME));
	if (strcmp(what, "little memory") == 0)
		return read_all(path, PD_READER_OPTIONS(
			.on_error = on_error,
			.memory_limit = argc > 3 ? strtoull(argv[3], NULL, 0) : 4096));
	if (strcmp(what, "old caller") == 0)
		return old_caller(path);
	if (strcmp(what, "new caller") == 0)
		return new_caller(path);
	if (strcmp(what, "visitors") == 0)
		return visitors(path);
	if (strcmp(what, "output fails") == 0)
		return output_fails(path);
	if (strcmp(what, "early") == 0)
		return early(path);
	if (strcmp(what, "texts") == 0)
		return texts();
	if (strcmp(what, "sealed twice") == 0)
		return sealed_twice(path);
	if (strcmp(what, "values") == 0)
		return values();
	return 2;
}
