/* background_synth.c - the thread, and what is held for it. */
#include "run/background_synth.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/priority.h"
#include "run/drain.h"
#include "run/metadata.h"
#include "run/recording.h"

/* Not for a command alone: of that there is little before it starts. Nor where the thread would
 * be in the way: --exclude-perf knows only the recorder's first thread, and AUX areas are too large
 * to be held. */
bool background_plan(struct recording *r)
{
	struct background *b = &r->background;

	b->options = metadata_options(r);
	if (!(b->options.what & SYNTH_TASKS) || r->options->exclude_self || r->rings.nr_aux ||
	    !(b->options.all_tasks || b->options.nr_threads))
		return false;
	b->state = BACKGROUND_PLANNED;
	return true;
}

static void describe(struct background *b)
{
	b->failed = metadata_running(b->writer, &b->options, &b->report, &b->error) != 0;
	__atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
	eventfd_write(b->alarm, 1);
}

static void *run(void *arg)
{
	priority_reset();
	describe(arg);
	return NULL;
}

/* Signals stay the main thread's. */
static bool start_thread(struct background *b)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

int background_start(struct recording *r)
{
	struct background *b = &r->background;

	if (b->state != BACKGROUND_PLANNED)
		return -1;
	b->state = BACKGROUND_RUNS;
	b->writer = r->file.writer;
	b->error = (struct pd_error){ 0 };
	b->done = false;
	b->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->threaded = start_thread(b);
	if (!b->threaded)
		describe(b);
	return b->alarm;
}

bool background_runs(const struct recording *r)
{
	return r->background.state == BACKGROUND_RUNS;
}

bool background_is_done(const struct recording *r)
{
	return background_runs(r) && __atomic_load_n(&r->background.done, __ATOMIC_ACQUIRE);
}

static int write_first(struct recording *r)
{
	const struct pd_bytes first = backlog_first(&r->background.backlog);
	int got = pd_writer_write(r->file.writer, &first, 1, &r->file.error);

	backlog_drop(&r->background.backlog);
	return got;
}

/* Much takes its time: what comes meanwhile is held, too, but not for ever. */
static int write_backlog(struct recording *r)
{
	struct background *b = &r->background;
	int got = 0;

	for (size_t n = b->backlog.blocks; n && !got; n--)
		got = write_first(r) || drain_buffers(r, DRAIN_WORTHWHILE) ? -1 : 0;
	b->state = BACKGROUND_NOTHING;
	while (!got && b->backlog.blocks)
		got = write_first(r);
	return got;
}

int background_finish(struct recording *r)
{
	struct background *b = &r->background;
	int got = 0;

	if (!background_runs(r))
		return 0;
	if (b->threaded)
		pthread_join(b->thread, NULL);
	if (b->alarm >= 0)
		close(b->alarm);
	if (b->failed) {
		r->file.error = b->error;
		got = -1;
	} else {
		describe_log(r, &b->report);
		got = write_backlog(r);
	}
	b->state = BACKGROUND_NOTHING;
	backlog_free(&b->backlog);
	return got;
}
