/* background_synth.h - a thread describes what runs already, while the target starts and buffers are read.
 *
 * Until it is done the file's writer is the thread's, and so is everything that needs it: what
 * comes from the buffers is held in memory. It is written behind the descriptions, so a file looks
 * as if they had been there before.
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
	/* the thread's while it runs: */
	struct pd_writer *writer;
	struct synth_options options;	/* as they were when it was planned */
	struct synth_report report;
	struct pd_error error;
	bool failed;
	bool done;			/* atomic */
	/* the main thread's: */
	bool threaded;			/* false: no thread could be had */
	pthread_t thread;
	int alarm;			/* readable when it is done; -1: none */
	struct backlog backlog;
};

/* Whether background_start() is to do what else metadata_existing() would do now. */
bool background_plan(struct recording *r);
/* Once the counters run, so that what changes meanwhile is in the buffers; nothing where nothing is
 * planned. A descriptor that can be read when it is done; -1: none, ask background_is_done(). */
int background_start(struct recording *r);
/* The writer is not the caller's. */
bool background_runs(const struct recording *r);
bool background_is_done(const struct recording *r);
/* Waits for it, and writes what was held; nothing where none runs. 0, or -1 and r->file.error. */
int background_finish(struct recording *r);

#endif
