/* plan.h - which constraints of a query a scan makes use of.
 *
 * SQLite checks all constraints itself: a scan may return more rows than asked for, never fewer. */
#ifndef PQ_PLAN_H
#define PQ_PLAN_H

#include "database.h"
#include "order.h"

/* Columns before those of the table: `file`, and of functions `accept`. */
size_t pq_first_column(const struct pq_database *d);

/* Chooses the constraints and estimates the cost: xBestIndex. Sets *message, from
 * sqlite3_malloc(), on failure. */
int pq_plan_choose(const struct pq_module *m, sqlite3_index_info *info, char **message);

/* Parts of the recording that a scan reads. */
struct pq_plan {
	uint64_t columns;		/* of the table that is read */
	bool is_empty;			/* no row can match */
	char *file, *accept;		/* NULL: not given */
	bool has_strange_argument;	/* one of the two is no text, or has a zero byte */
	bool has_key;
	size_t key_column;
	int64_t key;			/* as SQLite has it, with the base of a recording */
	struct pq_term order[PQ_MOST_TERMS];
	size_t nr_order;		/* 0: as in the recording */
	bool may_merge;			/* no other columns are used, and rows are in groups */
	/* Conditions that pd/filter.h can test. */
	bool filters;
	struct pd_range pid, tid, cpu, time;
	bool has_pid, has_tid, has_cpu;
	char *comm, *event_name;
};

/* Reads the plan of pq_plan_choose() and the values of its constraints. Returns SQLITE_OK or
 * SQLITE_NOMEM; release it with pq_plan_free() in any case. */
int pq_plan_read(const struct pq_module *m, const char *text, sqlite3_value **values,
		 struct pq_plan *out);
void pq_plan_free(struct pq_plan *p);

/* Returns whether the table has a row for each of many records, so that it is not kept at once. */
bool pq_is_large(const struct pq_module *m);

#endif
