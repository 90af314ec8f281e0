/* parts.c - a recording in parts: see parts.h. */
#include "parts.h"

enum { LEAST_RECORDS = 1 << 16 };	/* of a part: fewer are read before a thread has started */

/* Returns how far into the recording an entry is: in bytes, or in records, if there are several
 * files. */
static uint64_t distance_of(const struct pd_index *x, size_t i)
{
	const struct pd_index_entry *e = pd_index_entry(x, i);

	return pd_index_entry(x, pd_index_nr_entries(x) - 1)->file ? e->number : e->offset;
}

/* Returns the entry with which the i-th of n parts begins. */
static size_t entry_of(const struct pd_index *x, size_t i, size_t n)
{
	const size_t last = pd_index_nr_entries(x) - 1;
	const uint64_t wanted = distance_of(x, last) / n * i;
	size_t entry = 0;

	while (entry < last && distance_of(x, entry) < wanted)
		entry++;
	return entry;
}

static size_t count_parts(const struct pq_recording *r, const struct pq_scan *scan)
{
	const uint64_t worth = r->records / LEAST_RECORDS;
	size_t most = r->input.threads < PQ_MOST_PARTS ? r->input.threads : PQ_MOST_PARTS;

	if (!r->index || !pd_index_nr_entries(r->index) || r->namer || !pq_scan_is_of_tasks(scan))
		return 1;
	most = worth < most ? (size_t)worth : most;
	return most ? most : 1;
}

size_t pq_parts_divide(const struct pq_recording *r, const struct pq_scan *scan,
		       struct pq_part parts[PQ_MOST_PARTS])
{
	const size_t n = count_parts(r, scan);
	uint64_t start = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t entry = i ? entry_of(r->index, i, n) : PQ_FROM_START;

		parts[i] = (struct pq_part){ .entry = entry, .memory = r->input.memory / n };
		if (!i)
			continue;
		parts[i - 1].records = pd_index_entry(r->index, entry)->number - start;
		start += parts[i - 1].records;
		if (!parts[i - 1].records)	/* they would begin at the same entry */
			return 1;
	}
	return n;
}
