/* api_index.c - from each entry of an index come the records that come from the start.
 *
 * api_index FILE EVERY [batches]   an entry for each EVERY-th record; built in batches
 * api_index refused FILE PIPE      what an index is not for
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/fields.h>
#include <pd/index.h>
#include <pd/pd.h>

#define COMPARED 200

static uint64_t add(uint64_t hash, const void *p, size_t n)
{
	const uint8_t *bytes = p;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	return hash;
}

/* All that a caller sees of a record. */
static uint64_t hash_of(const struct pd_record *r)
{
	const char *event = pd_attr_name(pd_record_attr(r));
	const uint64_t offset = pd_record_offset(r), payload = pd_record_payload_size(r);
	const struct pd_error *e = pd_record_error(r);
	const int code = e ? (int)e->code : 0;
	uint64_t hash = 14695981039346656037u;

	hash = add(hash, pd_record_bytes(r).data, pd_record_bytes(r).size);
	hash = add(hash, &offset, sizeof(offset));
	hash = add(hash, &payload, sizeof(payload));
	hash = add(hash, &code, sizeof(code));
	return add(hash, event, strlen(event));
}

struct all {
	int is_compressed;
	uint64_t *hashes, *times;
	size_t nr, capacity;
};

static void keep(struct all *all, const struct pd_record *r)
{
	uint64_t time = 0;

	if (all->nr == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 1024;
		all->hashes = realloc(all->hashes, all->capacity * sizeof(*all->hashes));
		all->times = realloc(all->times, all->capacity * sizeof(*all->times));
	}
	all->is_compressed |= strncmp(pd_record_name(r), "COMPRESSED", 10) == 0;
	pd_record_time(r, &time);
	all->times[all->nr] = time;
	all->hashes[all->nr++] = hash_of(r);
}

static int read_singly(struct pd_reader *r, struct pd_index *x, struct all *all, struct pd_error *e)
{
	const struct pd_record *record;
	int got;

	while ((got = pd_reader_next(r, &record, e)) == 1) {
		keep(all, record);
		if (pd_index_add(x, r, 1, e))
			return -1;
	}
	return got;
}

static int read_in_batches(struct pd_reader *r, struct pd_index *x, struct all *all,
			   struct pd_error *e)
{
	struct pd_fields items[5];
	struct pd_fields_batch batch = { sizeof(batch), items, sizeof(*items), 5, 0 };
	int n;

	while ((n = pd_reader_next_fields(r, &batch, e)) > 0) {
		for (int i = 0; i < n; i++)
			keep(all, pd_reader_record(r, &items[i]));
		if (pd_index_add(x, r, (size_t)n, e))
			return -1;
	}
	return n;
}

/* Returns the number of records that are the same from the entry on, -1 where one is not. */
static int compare(const char *path, const struct pd_index *x, size_t i, const struct all *all)
{
	const struct pd_index_entry *entry = pd_index_entry(x, i);
	const struct pd_record *record;
	struct pd_error e = { .code = PD_OK };
	struct pd_reader *r = pd_reader_open_path(path, NULL, &e);
	size_t n = entry->number;
	uint64_t latest = 0;
	int got = -1;

	for (size_t j = 0; j < n; j++)
		if (all->times[j] != UINT64_MAX && all->times[j] > latest)
			latest = all->times[j];
	if (latest != entry->time)
		printf("WRONG time of entry %zu: %" PRIu64 " %" PRIu64 "\n", i, entry->time,
		       latest);
	if (pd_reader_start(r, x, i, &e) == 0)
		for (; n < entry->number + COMPARED && (got = pd_reader_next(r, &record, &e)) == 1;
		     n++) {
			if (n == entry->number && !all->is_compressed &&
			    pd_record_offset(record) != entry->offset)
				printf("WRONG offset of entry %zu\n", i);
			if (n >= all->nr || all->hashes[n] != hash_of(record)) {
				printf("WRONG record %zu from entry %zu at %" PRIu64 "\n", n, i,
				       pd_record_offset(record));
				got = -1;
				break;
			}
		}
	if (got < 0 || (got == 0 && n != all->nr))
		printf("WRONG end from entry %zu: %s after %zu of %zu\n", i, pd_code_name(e.code),
		       n, all->nr);
	pd_reader_free(r);
	return got < 0 ? -1 : (int)(n - entry->number);
}

static int refused(const char *path, const char *pipe)
{
	struct pd_reader *r = pd_reader_open_path(path, NULL, NULL),
			 *other = pd_reader_open_path(pipe, NULL, NULL);
	struct pd_reader *sorted =
		pd_reader_open_path(path, PD_READER_OPTIONS(.order = PD_BY_TIME), NULL);
	struct pd_index *x = pd_index_new(0);
	const struct pd_record *record;
	struct pd_error e;

	while (pd_reader_next(r, &record, &e) == 1)
		pd_index_add(x, r, 1, &e);
	printf("%d %d %d", pd_index_nr_entries(x) > 10, pd_index_entry(x, 0) != NULL,
	       pd_index_entry(x, 1 << 20) != NULL);
	printf(" %d", pd_reader_start(r, x, 0, &e)); /* has begun */
	printf(" %d", pd_reader_start(other, x, 0, &e)); /* another recording */
	printf(" %d", pd_reader_start(sorted, x, 0, &e));
	printf(" %d", pd_index_add(x, sorted, 1, &e));
	printf(" %s\n", pd_code_name(e.code));
	pd_index_free(x);
	pd_reader_free(sorted);
	pd_reader_free(other);
	pd_reader_free(r);
	return 0;
}

int main(int argc, char **argv)
{
	struct pd_error e = { .code = PD_OK };
	struct all all = { .nr = 0 };
	struct pd_index *x;
	struct pd_reader *r;
	int compared = 0;

	if (strcmp(argv[1], "refused") == 0)
		return refused(argv[2], argv[3]);
	x = pd_index_new(strtoull(argv[2], NULL, 10));
	r = pd_reader_open_path(argv[1], NULL, &e);
	if (!r || (argc > 3 ? read_in_batches : read_singly)(r, x, &all, &e))
		printf("failed %s\n", pd_code_name(e.code));
	for (size_t i = 0; i < pd_index_nr_entries(x); i++) {
		const int n = compare(argv[1], x, i, &all);

		if (n < 0)
			break;
		compared += n;
	}
	printf("records %zu entries %zu compared %d\n", all.nr, pd_index_nr_entries(x), compared);
	pd_reader_free(r);
	pd_index_free(x);
	free(all.hashes);
	free(all.times);
	return 0;
}
