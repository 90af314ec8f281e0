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
bool beside_plan(struct recording *r)
{
	struct beside *b = &r->beside;

	b->options = describe_options(r);
	if (!(b->options.what & SYNTH_TASKS) || r->options->exclude_self || r->rings.nr_aux ||
	    !(b->options.all_tasks || b->options.nr_threads))
		return false;
	b->state = BESIDE_PLANNED;
	return true;
}

static void describe(struct beside *b)
{
	b->failed = describe_running(b->writer, &b->options, &b->report, &b->error) != 0;
	__atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
	eventfd_write(b->alarm, 1);
}

static void *run(void *arg)
{
	priority_be_ordinary();
	describe(arg);
	return NULL;
}

/* Signals stay the main thread's. */
static bool start_thread(struct beside *b)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

int beside_start(struct recording *r)
{
	struct beside *b = &r->beside;

	if (b->state != BESIDE_PLANNED)
		return -1;
	b->state = BESIDE_RUNS;
	b->writer = r->file.writer;
	b->error = (struct pd_error){ 0 };
	b->done = false;
	b->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->threaded = start_thread(b);
	if (!b->threaded)
		describe(b);
	return b->alarm;
}

bool beside_runs(const struct recording *r)
{
	return r->beside.state == BESIDE_RUNS;
}

bool beside_is_done(const struct recording *r)
{
	return beside_runs(r) && __atomic_load_n(&r->beside.done, __ATOMIC_ACQUIRE);
}

static int write_first(struct recording *r)
{
	const struct pd_bytes first = held_first(&r->beside.held);
	int got = pd_writer_write(r->file.writer, &first, 1, &r->file.error);

	held_drop(&r->beside.held);
	return got;
}

/* Much takes its time: what comes meanwhile is held, too, but not for ever. */
static int write_held(struct recording *r)
{
	struct beside *b = &r->beside;
	int got = 0;

	for (size_t n = b->held.blocks; n && !got; n--)
		got = write_first(r) || drain_buffers(r, DRAIN_WORTHWHILE) ? -1 : 0;
	b->state = BESIDE_NOTHING;
	while (!got && b->held.blocks)
		got = write_first(r);
	return got;
}

int beside_finish(struct recording *r)
{
	struct beside *b = &r->beside;
	int got = 0;

	if (!beside_runs(r))
		return 0;
	if (b->threaded)
		pthread_join(b->thread, NULL);
	if (b->alarm >= 0)
		close(b->alarm);
	if (b->failed) {
		r->file.error = b->error;
		got = -1;
	} else {
		describe_say(r, &b->report);
		got = write_held(r);
	}
	b->state = BESIDE_NOTHING;
	held_free(&b->held);
	return got;
}
