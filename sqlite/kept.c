/* kept.c - tables that stay in memory. */
#include "api.h"

#include "kept.h"

#include <stdlib.h>
#include <string.h>

#include "table_read.h"

enum { MOST_TABLES = 64 };

struct pq_kept {
	unsigned int scans[MOST_TABLES];
	bool is_too_large[MOST_TABLES];
	struct pq_table *tables[MOST_TABLES];
};

struct pq_kept *pq_kept_new(void)
{
	return calloc(1, sizeof(struct pq_kept));
}

void pq_kept_free(struct pq_kept *k)
{
	for (size_t i = 0; k && i < MOST_TABLES; i++)
		pq_table_release(k->tables[i]);
	free(k);
}

unsigned int pq_kept_count(struct pq_kept *k, size_t table)
{
	return k->scans[table]++;
}

int pq_kept_get(struct pq_recording *r, size_t table, uint64_t columns, struct pq_table **out,
		struct pd_error *e)
{
	struct pq_table **kept = &r->kept->tables[table], *new;
	int ret = SQLITE_OK;

	*out = NULL;
	if (r->kept->is_too_large[table])
		return SQLITE_OK;
	if (!*kept || columns & ~(*kept)->columns) {
		const struct pq_wanted wanted = { .scan = {
			.table = table, .columns = columns | (*kept ? (*kept)->columns : 0) } };

		ret = pq_table_read(r, &wanted, &new, e);
		r->kept->is_too_large[table] = ret == SQLITE_FULL;
		if (ret != SQLITE_OK)
			return ret == SQLITE_FULL ? SQLITE_OK : ret;
		if (*kept)
			r->kept_bytes -= (*kept)->bytes;
		pq_table_release(*kept);
		r->kept_bytes += new->bytes;
		*kept = new;
	}
	(*kept)->users++;
	*out = *kept;
	return SQLITE_OK;
}
