/* stats_workers.h - counts one file with several threads.
 *
 * The file is in parts of some MB, of which each thread takes the next that nobody has, guesses where in it records begin, and
 * counts them apart. The caller's thread, in between, adds what was counted where its reader comes to the beginning of a part,
 * and goes on behind it; what a guess did not find, or was wrong about, is its own to read. So the numbers are those of one
 * thread.
 */
#ifndef PD_STATS_STATS_WORKERS_H
#define PD_STATS_STATS_WORKERS_H

#include "reader/reader.h"
#include "stats/stats_counts.h"

struct pd_stats_team;

/* For a reader that nothing was read from. Borrows all; `filter` may be NULL. NULL: no others than the caller's thread, or no
 * memory: nobody helps. */
struct pd_stats_team *pd_stats_team_new(struct pd_reader *r, struct pd_stats_counts *counts, struct pd_filter *filter,
					unsigned int threads);
void pd_stats_team_free(struct pd_stats_team *t);	/* before the reader; NULL is fine */

/* When the reader has no run to give: 1, it may have one again; 0: ask it for what comes next; -1: no memory. `t` may be NULL. */
int pd_stats_team_go_on(struct pd_stats_team *t);

#endif
