/* background_synth.h - a thread synthesizes records for existing tasks while the target starts and
 * buffers are drained.
 *
 * Until it ends the thread owns the file's writer, and drained records go to the backlog. They are
 * written after the synthesized ones, so the file looks as if synthesis had come first.
 */
#ifndef RECORD_BACKGROUND_SYNTH_H
#define RECORD_BACKGROUND_SYNTH_H

#include <pthread.h>
#include <stdbool.h>

#include "run/backlog.h"
#include "synth/synth.h"

struct recording;

struct background {
	enum { BACKGROUND_NOTHING, BACKGROUND_PLANNED, BACKGROUND_RUNS } state;
	/* owned by the thread while it runs: */
	struct pd_writer *writer;
	struct synth_options options;	/* as of background_plan() */
	struct synth_report report;
	struct pd_error error;
	bool failed;
	bool done;			/* atomic */
	/* owned by the main thread: */
	bool threaded;			/* false: no thread could be started */
	pthread_t thread;
	int done_fd;			/* an eventfd, readable once synthesis ended; -1: none */
	struct backlog backlog;
};

/* Returns whether background_start() will synthesize; else the caller must call
 * metadata_existing(). */
bool background_plan(struct recording *r);
/* Starts what was planned. Must be called after the counters were enabled, so that changes during
 * synthesis are in the buffers. Returns a descriptor that is readable once synthesis ended; -1:
 * none, poll background_is_done(). */
int background_start(struct recording *r);
/* While true, the caller must not use the writer. */
static inline bool background_runs(const struct background *b)
{
	return b->state == BACKGROUND_RUNS;
}
bool background_is_done(const struct recording *r);
/* Waits for the thread, if it runs, and writes the backlog. Returns 0, or -1 and r->file.error. */
int background_finish(struct recording *r);

#endif
