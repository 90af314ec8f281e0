/* hit_files.c - build ids, then names: the pass for build ids finds files that were replaced. */
#include "run/hit_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock_pair.h"
#include "capture/perf_clock.h"
#include "event/attr.h"
#include "names/names.h"
#include "process/clock.h"


/* Limits for reading the files: other users own them. */
#define LOOK_MS 30000
#define NAMES_MS 1000		/* of CPU time, or NAMES_PERCENT of what the recorder used */
#define NAMES_PERCENT 5
#define NAMES_WAIT_MS 4000	/* more, for files and for a CPU that others use */
#define COPIES_MS 500		/* for those of what JIT compilers wrote, out of that */

/* Reads the clock of the records and the wall clock. Returns false if that is not possible. */
static bool read_clocks(const struct event_list *l, struct perf_clock_pair *out)
{
	struct clock_pair now;

	if (!events_have_flag(l, ATTR_USE_CLOCKID))
		return perf_clock_read(out);
	if (!clock_pair_read(l->items[0].attr.clockid, CLOCK_REALTIME, &now))
		return false;
	out->perf = now.first;
	out->wall = now.second;
	return true;
}

/* Scans the records once they are all in the file, if they were not before. */
static void watch_file(struct datafile *f, const bool *hurry)
{
	if (f->watch || f->compress || f->mode != PD_MODE_FILE)
		return;
	f->watch = buildid_watch_new(f->which);
	if (!f->watch)
		return;
	buildid_watch_begin(f->watch, f->fd, f->header_size);
	buildid_watch_file(f->watch, f->fd, f->header_size, pd_writer_size(f->writer), hurry);
}

static int write_hits(struct datafile *f, const struct buildid_request *what,
		      struct buildid_summary *found)
{
	const struct hits *seen;
	char path[32];

	watch_file(f, what->deadline->hurry);
	seen = f->watch ? buildid_watch_end(f->watch, found) : NULL;
	if (seen)
		return buildid_feature_of(f->writer, seen, what, found, &f->error);
	if (f->mode != PD_MODE_DIRECTORY)
		return buildid_feature(f->writer, f->fd, what, found, &f->error);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->directory);
	return buildid_feature_path(f->writer, path, what, found, &f->error);
}

/* A request, and what it borrows. */
struct asked {
	struct buildid_request request;
	struct deadline deadline;
	struct held_files held;
};

/* Makes a request. *a must stay where it is. */
static void begin_request(struct asked *a, struct recording *r, enum buildid_which which)
{
	struct perf_clock_pair now;

	a->deadline = deadline_in(LOOK_MS, &r->interrupt.hurry);
	mounts_files(&r->mounts, &a->held);
	if (which == BUILDID_NONE || !read_clocks(&r->events, &now))
		now = (struct perf_clock_pair){ 0 };
	a->request = (struct buildid_request){ which, &a->deadline, now.perf, now.wall, &a->held };
}

/* Writes feature BUILD_ID, and takes totals from the same pass over the records. */
static int write_build_ids(struct recording *r, struct buildid_summary *found)
{
	struct datafile *f = &r->file;
	struct asked asked;
	int err;

	begin_request(&asked, r, f->which);
	err = write_hits(f, &asked.request, found);
	if (found->cut)
		log_at(&r->log, LOG_WARNING,
		       "not all build ids are in the file: reading those of the files that were "
		       "hit took too long");
	if (found->unread)
		log_at(&r->log, LOG_WARNING,
		       "build ids, or the times of the first and last sample, are not in the file: "
		       "it could not be read back, or there is too little memory");
	file_names_log_silent(&found->silent, &r->log, "the build id of");
	f->totals.samples = found->samples;
	f->totals.lost_records = found->lost_records;
	return err;
}

static unsigned int names_limit_ms(void)
{
	struct timespec used;
	uint64_t ms;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	ms = (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
	ms = ms * NAMES_PERCENT / 100;
	return ms > NAMES_MS ? (unsigned int)ms : NAMES_MS;
}

static bool has_monotonic_clock(const struct recording *r)
{
	return r->events.n && events_have_flag(&r->events, ATTR_USE_CLOCKID) &&
	       r->events.items[0].attr.clockid == CLOCK_MONOTONIC;
}

/* Reads the clock of the records and that of jitdumps, unless they are the same. */
static void read_moment(const struct recording *r, struct names_options *o)
{
	struct perf_clock_pair now;
	struct clock_pair later;

	if (o->clock == PS_CLOCK_MONOTONIC || !r->events.n || !read_clocks(&r->events, &now) ||
	    !clock_pair_read(CLOCK_MONOTONIC, CLOCK_REALTIME, &later))
		return;
	o->moment = now.perf;
	o->moment_monotonic = later.first - (later.second - now.wall);
}

static enum names_stacks have_stacks(const struct recording *r)
{
	for (size_t i = 0; i < r->events.n; i++)
		if (r->events.items[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return NAMES_WITH_STACKS;
	return NAMES_WITHOUT_STACKS;
}

/* Names need a pass over the records. By default there is none where the file would not be read
 * back for its build ids, or while the next file is being recorded. */
static bool wants_names(const struct recording *r)
{
	const struct settings *o = r->options;

	if (o->symbols != SYMBOLS_AUTO)
		return o->symbols != SYMBOLS_OFF;
	return r->file.read_back && !r->file.compress && !o->switch_output &&
	       !o->rotate_triggers.count;
}

static void log_names(const struct logger *s, enum names_result result, const char *where)
{
	if (result == NAMES_CUT)
		log_at(s, LOG_WARNING,
		       "not all names of functions are in %s: looking them up took too long, or "
		       "too much memory",
		       where);
	if (result == NAMES_FEWER_INLINED)
		log_at(s, LOG_WARNING,
		       "not all inlined functions are in %s: reading debug information took too "
		       "long, or too much memory",
		       where);
	if (result == NAMES_SILENT)
		log_at(s, LOG_WARNING,
		       "names of functions are left out: a file that was mapped did not answer");
	if (result == NAMES_ENDED)
		log_at(s, LOG_WARNING,
		       "not all names of functions are in %s: the process that looks them up "
		       "ended early; a file that was mapped may be damaged, or an attack",
		       where);
}

/* Returns the section of feature PD_SYMBOLS, for free(). `where`: its place, for messages. */
static struct pd_bytes find_names(struct recording *r, int fd, const struct buildid_summary *found,
				  const char *where)
{
	const unsigned int limit_ms = names_limit_ms();
	struct held_files held;
	struct names_options o = {
		.began = (uint64_t)r->began, .held = &held,
		.silent = &found->silent, .replaced = &found->replaced,
		.clock = has_monotonic_clock(r) ? PS_CLOCK_MONOTONIC : PS_CLOCK_OTHER,
		.stacks = have_stacks(r),
		.depth = r->options->symbols == SYMBOLS_LINES ? PS_LINES : PS_INLINES,
		.cpu_ms = limit_ms,
		.deadline = deadline_in(limit_ms + NAMES_WAIT_MS, &r->interrupt.hurry),
	};
	enum names_result result;
	struct deadline copied;
	struct names_lack lack;
	struct pd_bytes section;

	read_moment(r, &o);
	mounts_files(&r->mounts, &held);
	copied = deadline_within(&o.deadline, COPIES_MS);
	jit_copies_list(&r->mounts.copies, &copied, &held);
	section = names_find(fd, &o, &result, &lack);
	log_names(&r->log, result, where);
	if (lack.text[0])
		log_at(&r->log, LOG_WARNING, "not all names of functions are in %s, but preport "
		       "can find more: %s", where, lack.text);
	return section;
}

/* Finds the files that were replaced, in which names would be wrong. */
static void check_files(struct recording *r, int fd, struct buildid_summary *found)
{
	struct buildid_summary checked;
	struct asked asked;
	char path[32];

	begin_request(&asked, r, have_stacks(r) == NAMES_WITH_STACKS ? BUILDID_ALL : BUILDID_HIT);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	buildid_check(path, &asked.request, &checked);
	file_names_log_silent(&checked.silent, &r->log, "what functions are called in");
	found->silent = checked.silent;
	found->replaced = checked.replaced;
}

static int output_fd(const struct datafile *f)
{
	return f->mode == PD_MODE_DIRECTORY ? f->directory : f->fd;
}

/* Writes feature PD_SYMBOLS. */
static int write_names(struct recording *r, struct buildid_summary *found)
{
	struct datafile *f = &r->file;
	struct pd_bytes section;
	int err = 0;

	if (!wants_names(r))
		return 0;
	if (f->which == BUILDID_NONE)
		check_files(r, output_fd(f), found);
	section = find_names(r, output_fd(f), found, "the file");
	if (section.size)
		err = pd_writer_feature_bytes(f->writer, PD_FEATURE_PD_SYMBOLS, section, &f->error);
	free((void *)section.data);
	return err;
}

void hit_files_symbols_file(struct recording *r)
{
	struct symbols_file *s = &r->file.symbols;
	const int copy = symbols_file_end_copy(s, &r->log);
	struct buildid_summary found = { 0 };
	struct pd_bytes section;

	check_files(r, copy, &found);
	section = find_names(r, copy, &found, s->path);
	symbols_file_write(s, section, &r->log);
	free((void *)section.data);
	file_names_free(&found.silent);
	file_names_free(&found.replaced);
}

int hit_files_write(struct recording *r, struct buildid_summary *found)
{
	int err = r->file.read_back ? write_build_ids(r, found) : 0;

	if (!err)
		err = write_names(r, found);
	file_names_free(&found->silent);
	file_names_free(&found->replaced);
	return err;
}
