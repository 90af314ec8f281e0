/* json_team.h - writes records with several threads: the same bytes as with one.
 *
 * The caller's thread reads records into blocks, and takes one itself rather than wait; threads turn blocks into JSON. Whoever
 * has done the oldest hands it to the output, and those behind it that are done. What records teach the session must not happen
 * while blocks are under way: see pd_reader_before_learning().
 */
#ifndef PD_SINK_JSON_TEAM_H
#define PD_SINK_JSON_TEAM_H

#include "sink/json.h"

struct pd_json_team;

/* NULL: no memory or no threads to be had; one thread does as well. */
struct pd_json_team *pd_json_team_new(struct pd_json *j, unsigned int threads);
void pd_json_team_free(struct pd_json_team *t);

/* Can this record wait in a block? Not when it has a payload, or a feature that needs a plan of its own. */
bool pd_json_team_takes(const struct pd_record *r);
/* Copies it. 0, or what the output returned. */
int pd_json_team_add(struct pd_json_team *t, const struct pd_record *r);
/* The rest of a run; they are counted on the way. */
int pd_json_team_add_run(struct pd_json_team *t, struct pd_run *run);
/* A record was written without it. */
void pd_json_team_is_not_first(struct pd_json_team *t);
/* Everything added is written out; nothing is done while this reports an error. 0, or what the output returned. */
int pd_json_team_drain(struct pd_json_team *t);

#endif
