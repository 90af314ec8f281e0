/* moved_features.c - finds the features of a file that has more or fewer bytes before them. */
#include "container/moved_features.h"

#include <string.h>

#include "container/sections.h"

#define CHUNK 65536

/* Returns the end of n sections, of which each begins where the one before ends, the first one at
 * `at`; 0 if they do not. Their entries are `stride` bytes apart. */
static uint64_t end_of_chain(const struct pd_moved_search *s, const uint8_t *entries, size_t stride,
			     size_t n, uint64_t at)
{
	for (size_t i = 0; i < n; i++) {
		const struct pd_section section = pd_section_load(entries + i * stride, s->swap);

		if (section.offset != at || section.size > INT64_MAX - at)
			return 0;
		at += section.size;
	}
	return at;
}

/* Returns the end of the sections of the own table, the first one at `at`; `at` if there is no own
 * table, 0 if it does not fit. */
static uint64_t end_of_own(const struct pd_moved_search *s, struct pd_bytes table, uint64_t at)
{
	uint64_t n;

	if (table.size < PD_OWN_TABLE_HEAD ||
	    memcmp(table.data, PD_OWN_TABLE_MAGIC, strlen(PD_OWN_TABLE_MAGIC)) != 0)
		return at;
	n = pd_load64(table.data + PD_OWN_TABLE_HEAD - sizeof(n), s->swap);
	if (n > PD_OWN_FEATURES_MAX || PD_OWN_TABLE_HEAD + n * PD_OWN_ENTRY_SIZE > table.size)
		return 0;
	return end_of_chain(s, table.data + PD_OWN_TABLE_HEAD + sizeof(uint64_t),
			    PD_OWN_ENTRY_SIZE, (size_t)n, at);
}

uint64_t pd_moved_features_end(const struct pd_moved_search *s, struct pd_bytes tables)
{
	const size_t size = s->nr_features * PD_SECTION_SIZE;
	const uint64_t least = s->data_end + size, first = pd_load64(tables.data, s->swap);
	uint64_t end;

	if (first < least || first - least > PD_FEATURE_TABLES_MAX || tables.size < size)
		return 0;
	end = end_of_chain(s, tables.data, PD_SECTION_SIZE, s->nr_features, first);
	return end ? end_of_own(s, (struct pd_bytes){ tables.data + size, tables.size - size },
				end) :
		     0;
}

/* Returns whether the table is at `offset`, where `bytes` begin. */
static bool table_at(const struct pd_moved_search *s, struct pd_bytes bytes, uint64_t offset)
{
	struct pd_moved_search here = *s;
	uint64_t end;

	if (here.data_end == UINT64_MAX)
		here.data_end = offset - s->distance;
	end = pd_moved_features_end(&here, bytes);
	return end && end - here.data_end == s->file_size - offset;
}

bool pd_moved_features_find(const struct pd_moved_search *s, uint64_t *table)
{
	uint8_t chunk[CHUNK];
	struct pd_error ignored;
	uint64_t at = s->data_offset;

	if (s->data_end != UINT64_MAX &&
	    (s->data_end > INT64_MAX || s->data_end < s->data_offset))
		return false;
	while ((at = pd_source_data_from(s->source, at)) < s->file_size) {
		const int64_t got = pd_source_pread(s->source, at, chunk, sizeof(chunk), &ignored);
		const size_t n = got < PD_SECTION_SIZE ? 0 : (size_t)got;
		const bool is_last = n < sizeof(chunk) || s->file_size - at == n;
		const size_t to = is_last ? n : n - PD_FEATURE_TABLES_MAX;

		for (size_t i = 0; i < to && n - i >= PD_SECTION_SIZE; i++)
			if (table_at(s, (struct pd_bytes){ chunk + i, n - i }, at + i)) {
				*table = at + i;
				return *table != s->data_end;
			}
		if (is_last)
			return false;
		at += to;
	}
	return false;
}
