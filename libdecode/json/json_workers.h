/* json_workers.h - writes records with several threads: the same bytes as with one.
 *
 * Runs of plain records are read by whoever has time, one thread after the other, each into a block that it then turns into JSON
 * itself: their bytes stay in one core's cache. Other records are copied into blocks by the caller's thread, for any to write. Who
 * has done the oldest block hands it to the output, and those behind it that are done. What records teach the session must not
 * happen while blocks are under way: see pd_reader_before_update().
 */
#ifndef PD_JSON_JSON_WORKERS_H
#define PD_JSON_JSON_WORKERS_H

#include "json/json.h"

struct pd_json_team;

/* NULL: no memory or no threads to be had; one thread does as well. */
struct pd_json_team *pd_json_team_new(struct pd_json *j, unsigned int threads);
void pd_json_team_free(struct pd_json_team *t);

/* Can this record wait in a block? Not when it has a payload, or a feature that needs a plan of its own. */
bool pd_json_team_takes(const struct pd_record *r);
/* Copies it. 0, or what the output returned. */
int pd_json_team_add(struct pd_json_team *t, const struct pd_record *r);
/* The runs that come next; they are counted on the way. 0, what the output returned, or what a filter did. */
int pd_json_team_batch(struct pd_json_team *t);
/* A record was written without it. */
void pd_json_team_is_not_first(struct pd_json_team *t);
/* Everything added is written out; nothing is done while this reports an error. 0, or what the output returned. */
int pd_json_team_drain(struct pd_json_team *t);

#endif
