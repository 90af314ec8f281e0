/* count_samples.c - counts samples by process and instruction pointer: count_samples FILE [LINES].
 *
 * Build it against an installed libdecode:
 *
 *	cc -O2 -o count_samples count_samples.c $(pkg-config --cflags --libs libdecode)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pd/fields.h>
#include <pd/pd.h>

/* An open hash table; a count of 0 is an empty place. Small entries, since most of the time goes
 * into reaching them. */
struct entry {
	uint64_t ip;
	int32_t pid;
	uint32_t count;
};

struct table {
	struct entry *entries;
	size_t used, size;	/* size: a power of two */
};

static size_t first_place(const struct table *t, int32_t pid, uint64_t ip)
{
	uint64_t hash = (ip ^ (uint64_t)(uint32_t)pid << 32) * 0x9e3779b97f4a7c15;

	return (size_t)(hash >> 32) & (t->size - 1);
}

static struct entry *find_entry(const struct table *t, int32_t pid, uint64_t ip)
{
	size_t i = first_place(t, pid, ip);

	while (t->entries[i].count && (t->entries[i].ip != ip || t->entries[i].pid != pid))
		i = (i + 1) & (t->size - 1);
	return &t->entries[i];
}

static int grow(struct table *t)
{
	struct table larger = { NULL, t->used, t->size ? 2 * t->size : 4096 };

	larger.entries = calloc(larger.size, sizeof(*larger.entries));
	if (!larger.entries)
		return -1;
	for (size_t i = 0; i < t->size; i++)
		if (t->entries[i].count)
			*find_entry(&larger, t->entries[i].pid, t->entries[i].ip) = t->entries[i];
	free(t->entries);
	*t = larger;
	return 0;
}

static int count(struct table *t, int32_t pid, uint64_t ip)
{
	struct entry *e;

	if (2 * t->used >= t->size && grow(t))
		return -1;
	e = find_entry(t, pid, ip);
	t->used += !e->count;
	e->ip = ip;
	e->pid = pid;
	e->count++;
	return 0;
}

/* Has memory bring the entries of a batch: waiting for them one by one takes longer than all the
 * rest. */
static void fetch_entries(const struct table *t, const struct pd_fields *items, int n)
{
	for (int i = 0; i < n && t->size; i++)
		if (items[i].has & PD_HAS_IP)
			__builtin_prefetch(&t->entries[first_place(t, items[i].pid, items[i].ip)]);
}

/* 0, or -1: no memory, or the file can't be read on; then *e tells why. */
static int count_all(struct pd_reader *r, struct table *t, struct pd_error *e)
{
	const uint32_t needed = PD_HAS_PID | PD_HAS_IP;
	struct pd_fields items[128] = { { .type = 0 } };
	struct pd_fields_batch batch = { sizeof(batch), items, sizeof(*items), 128, needed };
	int n;

	while ((n = pd_reader_next_fields(r, &batch, e)) > 0) {
		fetch_entries(t, items, n);
		for (int i = 0; i < n; i++) {
			if (items[i].type != PD_RECORD_SAMPLE || (items[i].has & needed) != needed)
				continue;
			if (count(t, items[i].pid, items[i].ip)) {
				e->code = PD_E_NOMEM;
				return -1;
			}
		}
	}
	return n;
}

static int most_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static void print(struct table *t, size_t lines)
{
	qsort(t->entries, t->size, sizeof(*t->entries), most_first);
	for (size_t i = 0; i < t->used && i < lines; i++)
		printf("%" PRIu32 " %" PRId32 " 0x%" PRIx64 "\n", t->entries[i].count,
		       t->entries[i].pid, t->entries[i].ip);
}

int main(int argc, char **argv)
{
	size_t lines = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
	struct table t = { NULL, 0, 0 };
	struct pd_error e = { .code = PD_OK };
	struct pd_reader *r;
	char text[256];
	int failed;

	if (argc < 2) {
		fprintf(stderr, "usage: count_samples FILE [LINES]\n");
		return 2;
	}
	r = pd_reader_open_path(argv[1], NULL, &e);
	failed = !r || count_all(r, &t, &e);
	if (failed)
		fprintf(stderr, "count_samples: %s: %s\n", argv[1],
			pd_error_text(&e, text, sizeof(text)));
	else if (t.used)
		print(&t, lines);
	free(t.entries);
	pd_reader_free(r);
	return failed;
}
