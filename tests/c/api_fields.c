/* api_fields.c - reads a recording in batches: api_fields FILE CAPACITY [WAY].
 *
 * Prints a line for each record. WAY: all, mixed (every other one by pd_reader_next()), old (a
 * caller with smaller items), new (with larger ones), few (asks for pid and time only).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/fields.h>
#include <pd/history.h>
#include <pd/pd.h>

/* As this library's, and as a later one's. */
struct larger {
	struct pd_fields fields;
	uint64_t more[3];
};

static void print_numbers(const struct pd_fields *f)
{
	const struct { uint32_t bit; const char *name; int64_t value;
	} numbers[] = {
		{ PD_HAS_PID, "pid", f->pid },
		{ PD_HAS_TID, "tid", f->tid },
		{ PD_HAS_CPU, "cpu", (int32_t)f->cpu },
		{ PD_HAS_TIME, "time", (int64_t)f->time },
	};
	const struct { uint32_t bit; const char *name; uint64_t value;
	} wide[] = {
		{ PD_HAS_PERIOD, "period", f->period },
		{ PD_HAS_ID, "id", f->id },
		{ PD_HAS_IP, "ip", f->ip },
		{ PD_HAS_ADDR, "addr", f->addr },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (f->has & numbers[i].bit)
			printf(" %s=%" PRId64, numbers[i].name, numbers[i].value);
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (f->has & wide[i].bit)
			printf(" %s=%" PRIu64, wide[i].name, wide[i].value);
}

static void print_markers(const struct pd_fields *f)
{
	const char *name;

	for (size_t i = 0; i < f->callchain.count; i++)
		if ((name = pd_marker_name(pd_number_at(&f->callchain, i))))
			printf(",%s", name);
}

static void print_bytes(const struct pd_fields *f)
{
	if (f->has & PD_HAS_CALLCHAIN) {
		uint64_t sum = 0;

		for (size_t i = 0; i < f->callchain.count; i++)
			sum = 31 * sum + pd_number_at(&f->callchain, i);
		printf(" callchain=%zu,%" PRIu64, f->callchain.count, sum);
		print_markers(f);
	}
	if (f->has & PD_HAS_RAW) {
		unsigned int sum = 0;

		for (size_t i = 0; i < f->raw.size; i++)
			sum = 31 * sum + f->raw.data[i];
		printf(" raw=%zu,%u", f->raw.size, sum);
	}
}

static void print_record(struct pd_reader *r, const struct pd_fields *f)
{
	const struct pd_record *record = pd_reader_record(r, f);
	const char *cpumode = pd_cpumode_name(f->misc & 7);
	struct pd_bytes text;

	printf("item %s %" PRIu32 " %" PRIu64 " %zu misc=%u,%s", pd_record_name(record), f->type,
	       f->offset, f->bytes.size, f->misc, cpumode ? cpumode : "none");
	if (f->attr)
		printf(" attr=%zu", pd_attr_index(f->attr));
	if (f->error)
		printf(" error=%s", pd_code_name(f->error->code));
	print_numbers(f);
	print_bytes(f);
	if (pd_record_get_text(record, "comm", &text) ||
	    pd_record_get_text(record, "filename", &text))
		printf(" text=%.*s", (int)text.size, (const char *)text.data);
	putchar('\n');
	if (pd_record_offset(record) != f->offset || pd_record_misc(record) != f->misc ||
	    pd_record_attr(record) != f->attr || pd_record_bytes(record).size != f->bytes.size ||
	    (f->error != NULL) != (pd_record_error(record) != NULL))
		printf("WRONG record\n");
}

static void print_old(const uint8_t *items, int n, size_t size)
{
	for (int i = 0; i < n; i++) {
		struct pd_fields f = { .has = 0 };

		memcpy(&f, items + (size_t)i * size, size);
		printf("item %" PRIu32 " %d %d\n", f.type, f.has & PD_HAS_PID ? f.pid : -2,
		       f.has & PD_HAS_CPU ? (int)f.cpu : -2);
	}
}

/* A record by pd_reader_next(). 1, or what that returned. */
static int skip_one(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_record *record;
	int got = pd_reader_next(r, &record, e);

	if (got == 1)
		printf("next %s %" PRIu64 "\n", pd_record_name(record), pd_record_offset(record));
	return got;
}

static int read_all(struct pd_reader *r, size_t capacity, const char *way, struct pd_error *e)
{
	const size_t old = offsetof(struct pd_fields, time);
	const size_t size = strcmp(way, "old") == 0   ? old
			    : strcmp(way, "new") == 0 ? sizeof(struct larger)
						      : sizeof(struct pd_fields);
	struct pd_fields *items = calloc(capacity + 1, sizeof(struct larger));
	struct pd_fields_batch batch = { sizeof(batch), items, size, capacity, 0 };
	struct pd_fields before = { .type = 0 };
	int n;

	if (!items)
		return -1;
	if (strcmp(way, "unset") == 0)
		batch.size = 0;
	if (strcmp(way, "few") == 0)
		batch.want = PD_HAS_PID | PD_HAS_TIME;
	while ((n = pd_reader_next_fields(r, &batch, e)) > 0) {
		printf("batch %d\n", n);
		/* a full batch of the largest size leaves nothing of itself to the next */
		if (before.bytes.size && capacity >= 512 && pd_reader_record(r, &before))
			printf("WRONG record of an item of the batch before\n");
		before = size == old ? before : *items;
		if (size == old) {
			print_old((const uint8_t *)items, n, old);
			continue;
		}
		for (int i = 0; i < n; i++)
			print_record(r, (const struct pd_fields *)((const uint8_t *)items +
								   (size_t)i * size));
		if (strcmp(way, "mixed") == 0 && skip_one(r, e) != 1)
			break;
	}
	free(items);
	return n;
}

static void count_error(void *ctx, const struct pd_error *e)
{
	(void)e;
	++*(unsigned int *)ctx;
}

int main(int argc, char **argv)
{
	const char *way = argc > 3 ? argv[3] : "all";
	struct pd_error e = { .code = PD_OK };
	unsigned int errors = 0;
	struct pd_reader *r;
	int got;

	if (argc < 3)
		return 2;
	r = pd_reader_open_path(
		argv[1],
		PD_READER_OPTIONS(.on_error = count_error, .ctx = &errors,
				  .order = strcmp(way, "time") == 0 ? PD_BY_TIME : PD_AS_WRITTEN),
		&e);
	if (!r)
		return printf("open %s\n", pd_code_name(e.code)), 1;
	got = read_all(r, strtoul(argv[2], NULL, 10), way, &e);
	printf("end %d %s errors=%u\n", got, got < 0 ? pd_code_name(e.code) : "-", errors);
	pd_reader_free(r);
	return 0;
}
