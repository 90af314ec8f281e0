/* json_workers.h - writes records with several threads: the same bytes as with one.
 *
 * The caller's thread reads: it puts batches and single records into blocks, in a ring. Any thread
 * formats a block; the caller's does when the ring is full. The thread that finishes the oldest
 * block flushes it, and the finished blocks that follow. Records must not update the session while
 * there are unfinished blocks: see pd_reader_before_update().
 */
#ifndef PD_JSON_JSON_WORKERS_H
#define PD_JSON_JSON_WORKERS_H

#include "json/json.h"

struct pd_json_workers;

/* Returns NULL if memory or threads are not available; the caller then uses one thread. */
struct pd_json_workers *pd_json_workers_new(struct pd_json *j, unsigned int threads);
void pd_json_workers_free(struct pd_json_workers *pool);

/* Checks whether a record can be copied into a block: it has no payload, and is no feature, which
 * needs a plan of its own. */
bool pd_json_workers_can_take(const struct pd_record *r);
/* Copies a record. Returns 0 or the output's error. */
int pd_json_workers_add(struct pd_json_workers *pool, const struct pd_record *r);
/* Reads, counts and formats the batches that follow. Returns 0 or the error of output or filter. */
int pd_json_workers_batches(struct pd_json_workers *pool);
/* Must be called after a record was written without the workers. */
void pd_json_workers_note_outside(struct pd_json_workers *pool);
/* Writes all records added so far; does nothing while an error is reported. Returns 0 or the
 * output's error. */
int pd_json_workers_drain(struct pd_json_workers *pool);

#endif
