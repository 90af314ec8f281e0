/* gaps.c - finds bytes of a file that are in no section: they are needed to rebuild the file. */
#include "container/gaps.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536
#define MAX_ZEROS 4096	/* consecutive zeros inside a gap */

static int by_offset(const void *a, const void *b)
{
	const struct pd_section *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int add_gap(struct pd_session *s, struct pd_container *c, uint64_t offset, uint64_t size)
{
	if (c->info.nr_gaps == c->gaps_capacity) {
		size_t capacity = c->gaps_capacity ? c->gaps_capacity * 2 : 8;
		struct pd_section *gaps =
			pd_budget_grow(s->budget, c->gaps, c->gaps_capacity * sizeof(*gaps),
				       capacity * sizeof(*gaps));

		if (!gaps)
			return -1;
		c->gaps = gaps;
		c->gaps_capacity = capacity;
	}
	c->gaps[c->info.nr_gaps++] = (struct pd_section){ .name = "gap", .offset = offset,
		.size = size };
	c->info.gaps = c->gaps;
	return 0;
}

/* Accounts for the bytes of a section in [from, to), which earlier sections do not cover. The
 * stream accounts for the bytes of the data section. */
static void account_section(struct pd_container *c, const struct pd_section *section,
			    const struct pd_section *data, uint64_t from, uint64_t to)
{
	static const char *const of_header[] = { "header", "attrs", "ids", "event_types", "kept" };
	const uint64_t data_end =
		data->offset + data->size < data->offset ? UINT64_MAX : data->offset + data->size;
	const uint64_t begin = from > data->offset ? from : data->offset,
		       end = to < data_end ? to : data_end;
	uint64_t bytes = to - from, *sum = &c->account.features;

	if (section == data)
		return;
	if (begin < end)
		bytes -= end - begin;
	for (size_t i = 0; i < sizeof(of_header) / sizeof(*of_header); i++)
		if (strcmp(section->name, of_header[i]) == 0)
			sum = &c->account.header;
	*sum += bytes;
}

static const struct pd_section *find_data(const struct pd_section *sections, size_t n)
{
	static const struct pd_section none;

	for (size_t i = 0; i < n; i++)
		if (strcmp(sections[i].name, "data") == 0)
			return &sections[i];
	return &none;
}

struct scan {
	struct pd_source *source;
	struct pd_session *session;
	struct pd_container *container;
	uint8_t *chunk;		/* the bytes that are looked at */
	uint64_t first, last;	/* first and last non-zero byte; UINT64_MAX: none yet */
};

static int finish_gap(struct scan *s)
{
	if (s->first == UINT64_MAX)
		return 0;
	s->container->account.gaps += s->last - s->first + 1;
	s->container->account.zeros -= s->last - s->first + 1;
	return add_gap(s->session, s->container, s->first, s->last - s->first + 1);
}

static int scan_chunk(struct scan *s, uint64_t offset, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t at = offset + i;

		if (!s->chunk[i])
			continue;
		if (s->first == UINT64_MAX || at - s->last > MAX_ZEROS) {
			if (finish_gap(s))
				return -1;
			s->first = at;
		}
		s->last = at;
	}
	return 0;
}

/* Adds the non-zero bytes in [from, to) as gaps, which may include a few zeros. Returns 0, or -1
 * and *e. */
static int add_gaps_between(struct scan *s, uint64_t from, uint64_t to, struct pd_error *e)
{
	s->first = UINT64_MAX;
	s->last = 0;
	s->container->account.zeros += to - from;
	while (from < to) {
		size_t ask = to - from < CHUNK ? (size_t)(to - from) : CHUNK;
		int64_t got = pd_source_pread(s->source, from, s->chunk, ask, e);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		if (scan_chunk(s, from, (size_t)got))
			goto no_memory;
		from += (uint64_t)got;
		if (to - from > CHUNK)
			from = pd_source_data_from(s->source, from);
	}
	if (finish_gap(s) == 0)
		return 0;
no_memory:
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return -1;
}

int pd_gaps_find(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		 struct pd_error *e)
{
	const size_t n = c->nr_ranges;
	struct pd_section *sorted = pd_budget_alloc(s->budget, n * sizeof(*sorted));
	struct scan scan = { .source = source, .session = s, .container = c,
			     .chunk = pd_budget_alloc(s->budget, CHUNK) };
	const struct pd_section *data;
	uint64_t at = 0;
	int err = -1;

	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	if (!sorted || !scan.chunk)
		goto out;
	memcpy(sorted, c->ranges, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_offset);
	data = find_data(sorted, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t end = sorted[i].offset + sorted[i].size;

		if (sorted[i].offset >= c->info.size)
			break;
		if (end < sorted[i].offset)
			end = UINT64_MAX;
		if (sorted[i].offset > at) {
			if (add_gaps_between(&scan, at, sorted[i].offset, e))
				goto out;
			at = sorted[i].offset;
		}
		if (strcmp(sorted[i].name, "kept") == 0 &&
		    add_gap(s, c, sorted[i].offset, sorted[i].size))
			goto out;
		if (end > at && sorted[i].size) {
			account_section(c, &sorted[i], data,
					sorted[i].offset > at ? sorted[i].offset : at,
					end < c->info.size ? end : c->info.size);
			at = end;
		}
	}
	err = at < c->info.size ? add_gaps_between(&scan, at, c->info.size, e) : 0;
out:
	pd_budget_free(s->budget, sorted, n * sizeof(*sorted));
	pd_budget_free(s->budget, scan.chunk, CHUNK);
	return err;
}
