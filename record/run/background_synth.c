/* background_synth.c - the synthesizing thread, and the backlog that waits for it. */
#include "run/background_synth.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/priority.h"
#include "process/tool_thread.h"
#include "run/drain.h"
#include "run/metadata.h"
#include "run/recording.h"

/* Not for a command alone: little exists before it starts. Not with --exclude-perf, which filters
 * by the tid of the recorder's first thread only, nor with AUX areas, which are too large for the
 * backlog. */
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

static void synthesize(struct background *b)
{
	b->failed = metadata_running(b->writer, &b->options, &b->report, &b->error) != 0;
	__atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
	eventfd_write(b->done_fd, 1);
}

static void *background_thread(void *arg)
{
	priority_reset();
	synthesize(arg);
	return NULL;
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
	b->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->threaded = tool_thread_start(&b->thread, background_thread, b) == 0;
	if (!b->threaded)
		synthesize(b);
	return b->done_fd;
}

bool background_is_done(const struct recording *r)
{
	return background_runs(&r->background) &&
	       __atomic_load_n(&r->background.done, __ATOMIC_ACQUIRE);
}

static int write_oldest(struct recording *r)
{
	const struct pd_bytes first = backlog_first(&r->background.backlog);
	int err = pd_writer_write(r->file.writer, &first, 1, &r->file.error);

	backlog_drop(&r->background.backlog);
	return err;
}

/* Writing a large backlog takes time: until the blocks of now are written, records still go to its
 * end, then they are written directly. */
static int write_backlog(struct recording *r)
{
	struct background *b = &r->background;
	int err = 0;

	for (size_t n = b->backlog.blocks; n && !err; n--)
		err = write_oldest(r) || drain_buffers(r, DRAIN_WORTHWHILE) ? -1 : 0;
	b->state = BACKGROUND_NOTHING;
	while (!err && b->backlog.blocks)
		err = write_oldest(r);
	return err;
}

int background_finish(struct recording *r)
{
	struct background *b = &r->background;
	int err = 0;

	if (!background_runs(&r->background))
		return 0;
	if (b->threaded)
		pthread_join(b->thread, NULL);
	if (b->done_fd >= 0)
		close(b->done_fd);
	if (b->failed) {
		r->file.error = b->error;
		err = -1;
	} else {
		metadata_log_report(r, &b->report);
		err = write_backlog(r);
	}
	b->state = BACKGROUND_NOTHING;
	backlog_free(&b->backlog);
	return err;
}
