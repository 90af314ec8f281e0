/* metadata.c - pass options and events to synth.h, hostinfo.h and buildid.h. */
#include "run/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysctl.h"
#include "buildid/buildid.h"
#include "capture/perf_clock.h"
#include "event/attr.h"
#include "hostinfo/hostinfo.h"
#include "names/names.h"
#include "synth/synth.h"

#define NS 1000000000ull

/* Limits for reading /proc, and for reading the files that were hit: other users own them. */
#define LOOK_MS 30000
#define NAMES_MS 1000		/* or NAMES_PERCENT of the time that the recorder used */
#define NAMES_PERCENT 5

bool metadata_parse_synth(const char *text, unsigned int *what)
{
	static const struct { const char *name; unsigned int what; } words[] = {
		{ "no", 0 }, { "all", SYNTH_TASKS | SYNTH_MAPS | SYNTH_CGROUPS },
		{ "task", SYNTH_TASKS }, { "mmap", SYNTH_TASKS | SYNTH_MAPS },
		{ "cgroup", SYNTH_CGROUPS },
	};
	const size_t n = sizeof(words) / sizeof(words[0]);
	size_t size;

	*what = SYNTH_KERNEL | SYNTH_BPF;
	for (const char *item; (item = cli_next_item(&text, &size));) {
		size_t i = 0;

		while (i < n && (strlen(words[i].name) != size ||
				 memcmp(words[i].name, item, size) != 0))
			i++;
		if (i == n)
			return false;
		*what |= words[i].what;
	}
	return true;
}

static unsigned int synth_selection(const struct recording *r)
{
	const struct settings *o = r->options;
	unsigned int what;

	metadata_parse_synth(o->synth ? o->synth : "all", &what);
	if (!o->all_cgroups)
		what &= ~(unsigned int)SYNTH_CGROUPS;
	if (!o->bpf_event)
		what &= ~(unsigned int)SYNTH_BPF;
	if (what & SYNTH_MAPS && events_have_flag(&r->events, ATTR_MMAP_DATA))
		what |= SYNTH_DATA_MAPS;
	if (events_have_flag(&r->events, ATTR_BUILD_ID))
		what |= SYNTH_BUILD_IDS;
	if (what & SYNTH_TASKS && o->namespaces)
		what |= SYNTH_NAMESPACES;
	return what;
}

struct synth_options metadata_options(const struct recording *r)
{
	const struct settings *o = r->options;
	const struct target *t = &r->target;
	bool by_thread = t->kind == TARGET_THREADS;
	/* For a later file of a rotation: descendants of the command may have been reparented. */
	bool command_runs = r->child.started && !r->child.ended;

	return (struct synth_options){
		.what = synth_selection(r), .all_tasks = t->kind == TARGET_SYSTEM || command_runs,
		.threads = by_thread ? t->threads.items : NULL,
		.nr_threads = by_thread ? t->threads.n : 0,
		.workload = r->child.pid, .waiting = r->child.pid && !r->child.started,
		.cpus = t->cpus.items, .nr_cpus = t->cpus.n,
		.timeout_ms = (unsigned int)o->map_timeout,
		.nr_readers = (unsigned int)o->synth_threads, .bpf = r->bpf,
		.deadline = deadline_in(LOOK_MS, &r->interrupt.hurry),
	};
}

int metadata_running(struct pd_writer *w, const struct synth_options *o,
		     struct synth_report *report, struct pd_error *e)
{
	if (synth_existing(w, o, report, e) || (o->waiting && synth_workload(w, o, e)))
		return -1;
	return synth_finished_init(w, e);
}

static bool any_samples_kernel(const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->items[i].helper && !(l->items[i].attr.flags & ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

/* what: is left out, of the files */
static void log_silent_files(const struct recording *r, const char *what,
			     const struct file_names *silent)
{
	char more[48] = "";

	if (!silent->n || !silent->names)
		return;
	if (silent->n > 1)
		snprintf(more, sizeof(more), " (and those of %zu others)", silent->n - 1);
	log_at(&r->log, LOG_WARNING,
	       "%s '%s'%s is left out: its file system did not answer", what, silent->names,
	       more);
}

void metadata_log_report(const struct recording *r, struct synth_report *report)
{
	const struct logger *s = &r->log;
	const bool first_file = r->bytes == 0;
	long restricted = report->kernel_hidden ? sysctl_read("kptr_restrict", 0) : 0;

	if (restricted && first_file && any_samples_kernel(&r->events))
		log_at(s, LOG_WARNING,
		       "addresses of the kernel will have no symbols: kernel.kptr_restrict is %ld. "
		       "Try: sudo sysctl kernel.kptr_restrict=0",
		       restricted);
	if (report->timed_out)
		log_at(s, LOG_WARNING, "the maps of %zu processes are not complete: reading them "
		       "took too long (--proc-map-timeout)", report->timed_out);
	if (report->cut)
		log_at(s, LOG_WARNING,
		       "existing tasks are not recorded in full: reading them took too long");
	log_silent_files(r, "the build id of", &report->silent);
	file_names_free(&report->silent);
	log_at(s, LOG_DETAIL, "%zu tasks and %zu maps existed already", report->tasks,
	       report->maps);
}

int metadata_existing(struct recording *r)
{
	const struct synth_options o = metadata_options(r);
	struct synth_report report;

	if (metadata_running(r->file.writer, &o, &report, &r->file.error))
		return -1;
	metadata_log_report(r, &report);
	return 0;
}

/* Arrays that a struct hostinfo borrows. */
struct host_arrays {
	struct hostinfo_group *groups;
	struct hostinfo_tracepoint *tracepoints;
};

static void list_groups(struct hostinfo *h, struct hostinfo_group *groups,
			const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		uint32_t members = 0;

		for (size_t j = 0; j < l->n; j++)
			members += l->items[j].leader == i;
		if (members > 1)
			groups[h->nr_groups++] = (struct hostinfo_group){
				.name = l->items[i].group_name, .leader = (uint32_t)i,
				.members = members };
	}
	h->groups = groups;
}

static void list_tracepoints(struct hostinfo *h, struct hostinfo_tracepoint *tracepoints,
			     const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].attr.type == PERF_TYPE_TRACEPOINT)
			tracepoints[h->nr_tracepoints++] = (struct hostinfo_tracepoint){
				l->items[i].name, l->items[i].attr.config };
	h->tracepoints = tracepoints;
}

static struct hostinfo host_of(const struct recording *r, struct host_arrays *a)
{
	const struct event_list *l = &r->events;
	struct hostinfo h = {
		.version = "precord " PD_VERSION, .argv = r->argv,
		.online_cpus = r->target.nr_online,
		.branch_stacks = events_have_sample(l, PERF_SAMPLE_BRANCH_STACK),
		.auxtraces = r->file.auxtraces, .nr_auxtraces = r->file.nr_auxtraces,
		.use_clockid = events_have_flag(l, ATTR_USE_CLOCKID),
		.clockid = l->items[0].attr.clockid,
		.compress = r->file.compress, .bpf = r->bpf,
	};
	struct perf_clock_pair now;

	h.perf_clock_known = !h.use_clockid && perf_clock_read(&now);
	if (h.perf_clock_known) {
		h.perf_clock = now.perf;
		h.wall_clock = now.wall;
	}

	a->groups = calloc(l->n, sizeof(*a->groups));
	a->tracepoints = calloc(l->n, sizeof(*a->tracepoints));
	if (a->groups)
		list_groups(&h, a->groups, l);
	if (a->tracepoints)
		list_tracepoints(&h, a->tracepoints, l);
	return h;
}

static void free_host_arrays(struct host_arrays *a)
{
	free(a->groups);
	free(a->tracepoints);
}

int metadata_stream(struct recording *r)
{
	struct host_arrays arrays;
	const struct hostinfo h = host_of(r, &arrays);
	int err = hostinfo_features(r->file.writer, &h, &r->file.error);
	const char *feature;

	for (size_t i = 0; (feature = pd_writer_feature_left_out(r->file.writer, i)); i++)
		log_at(&r->log, LOG_WARNING,
		       "feature %s left out: larger than a record of a pipe, 64 KiB (a file has "
		       "room)",
		       feature);
	free_host_arrays(&arrays);
	return err;
}

/* Uncompressed bytes per written byte, rounded up. */
static uint32_t compression_ratio(const struct datafile *f)
{
	uint64_t written = pd_writer_size(f->writer) + f->parts;

	return f->compress && written ? (uint32_t)((f->totals.bytes + written - 1) / written) : 0;
}

/* Feature DIR_FORMAT: readers take data.N of a directory only if it is there. */
static int write_directory_format(struct recording *r)
{
	static const struct pd_value version = PD_NUMBER(NULL, 1);

	if (r->file.mode != PD_MODE_DIRECTORY)
		return 0;
	return pd_writer_feature(r->file.writer, PD_FEATURE_DIR_FORMAT, &version, &r->file.error);
}

/* Reads the clock of the records and the wall clock. Returns false if that is not possible. */
static bool read_clocks(const struct event_list *l, struct perf_clock_pair *out)
{
	struct timespec now, wall;

	if (!events_have_flag(l, ATTR_USE_CLOCKID))
		return perf_clock_read(out);
	if (clock_gettime(l->items[0].attr.clockid, &now) || clock_gettime(CLOCK_REALTIME, &wall))
		return false;
	out->perf = (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
	out->wall = (uint64_t)wall.tv_sec * NS + (uint64_t)wall.tv_nsec;
	return true;
}

static int write_hits(struct datafile *f, const struct buildid_request *what,
		      struct buildid_summary *found)
{
	const struct hits *seen = f->watch ? buildid_watch_end(f->watch, found) : NULL;
	char path[32];

	if (seen)
		return buildid_feature_of(f->writer, seen, what, found, &f->error);
	if (f->mode != PD_MODE_DIRECTORY)
		return buildid_feature(f->writer, f->fd, what, found, &f->error);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->directory);
	return buildid_feature_path(f->writer, path, what, found, &f->error);
}

/* Writes feature BUILD_ID, and takes totals from the same pass over the records. */
static int write_build_ids(struct recording *r, struct buildid_summary *found)
{
	struct datafile *f = &r->file;
	const struct deadline deadline = deadline_in(LOOK_MS, &r->interrupt.hurry);
	struct perf_clock_pair now = { 0 };
	struct held_roots roots;
	int err;

	mounts_roots(&r->mounts, &roots);
	if (f->which != BUILDID_NONE && !read_clocks(&r->events, &now))
		now = (struct perf_clock_pair){ 0 };
	err = write_hits(f, &(struct buildid_request){ f->which, &deadline, now.perf, now.wall,
						       &roots }, found);

	if (found->cut)
		log_at(&r->log, LOG_WARNING,
		       "not all build ids are in the file: reading those of the files that were "
		       "hit took too long");
	log_silent_files(r, "the build id of", &found->silent);
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
		       "not all names of functions are in %s: looking them up took too long",
		       where);
	if (result == NAMES_FEWER_INLINED)
		log_at(s, LOG_WARNING,
		       "not all inlined functions are in %s: reading debug information took too "
		       "long",
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
	struct held_roots roots;
	const struct names_options o = {
		.began = (uint64_t)r->began, .roots = &roots,
		.silent = &found->silent, .replaced = &found->replaced,
		.clock = has_monotonic_clock(r) ? PS_CLOCK_MONOTONIC : PS_CLOCK_OTHER,
		.stacks = have_stacks(r),
		.depth = r->options->symbols == SYMBOLS_LINES ? PS_LINES : PS_INLINES,
		.deadline = deadline_in(names_limit_ms(), &r->interrupt.hurry),
	};
	enum names_result result;
	struct names_lack lack;
	struct pd_bytes section;

	mounts_roots(&r->mounts, &roots);
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
	const struct deadline deadline = deadline_in(LOOK_MS, &r->interrupt.hurry);
	struct perf_clock_pair now = { 0 };
	struct buildid_summary checked;
	struct held_roots roots;
	char path[32];

	if (!read_clocks(&r->events, &now))
		now = (struct perf_clock_pair){ 0 };
	mounts_roots(&r->mounts, &roots);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	buildid_check(path, &(struct buildid_request){
		have_stacks(r) == NAMES_WITH_STACKS ? BUILDID_ALL : BUILDID_HIT, &deadline,
		now.perf, now.wall, &roots }, &checked);
	log_silent_files(r, "what functions are called in", &checked.silent);
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

void metadata_symbols_file(struct recording *r)
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

int metadata_file(struct recording *r)
{
	struct buildid_summary found = { 0 };
	struct hostinfo h;
	struct host_arrays arrays;
	int err = write_directory_format(r);

	if (!err && r->file.read_back)
		err = write_build_ids(r, &found);
	if (!err)
		err = write_names(r, &found);
	file_names_free(&found.silent);
	file_names_free(&found.replaced);
	if (r->bpf)
		bpf_progs_refresh(r->bpf);
	h = host_of(r, &arrays);
	h.timed = found.samples > 0;
	h.first = found.first;
	h.last = found.last;
	h.compress_ratio = compression_ratio(&r->file);
	if (!err)
		err = hostinfo_features(r->file.writer, &h, &r->file.error);
	free_host_arrays(&arrays);
	return err;
}
