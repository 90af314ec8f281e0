/* metadata.c - pass options and events to synth.h and hostinfo.h. */
#include "run/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/sysctl.h"
#include "capture/perf_clock.h"
#include "event/attr.h"
#include "hostinfo/hostinfo.h"
#include "run/hit_files.h"
#include "synth/synth.h"

#define LOOK_MS 30000		/* for reading /proc */

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
	if (report->lacks_memory)
		log_at(s, LOG_WARNING, "out of memory: existing tasks are not recorded in full");
	file_names_log_silent(&report->silent, s, "the build id of");
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
		const uint32_t members = (uint32_t)events_of_leader(l, i);

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

static int write_host(struct recording *r, const struct hostinfo *h)
{
	const int ret = hostinfo_features(r->file.writer, h, &r->file.error);

	if (r->options->bpf_event && !bpf_progs_are_whole(r->bpf))
		log_at(&r->log, LOG_WARNING,
		       "out of memory: not all BPF programs are described in the file");
	if (ret > 0)
		log_at(&r->log, LOG_WARNING, "out of memory: not all facts about the machine and "
		       "the command are in the file");
	return ret < 0 ? -1 : 0;
}

int metadata_stream(struct recording *r)
{
	struct host_arrays arrays;
	const struct hostinfo h = host_of(r, &arrays);
	int err = write_host(r, &h);
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

int metadata_file(struct recording *r)
{
	struct buildid_summary found = { 0 };
	struct hostinfo h;
	struct host_arrays arrays;
	int err = write_directory_format(r);

	if (!err)
		err = hit_files_write(r, &found);
	if (r->bpf)
		bpf_progs_refresh(r->bpf);
	h = host_of(r, &arrays);
	h.timed = found.samples > 0;
	h.first = found.first;
	h.last = found.last;
	h.compress_ratio = compression_ratio(&r->file);
	if (!err)
		err = write_host(r, &h);
	free_host_arrays(&arrays);
	return err;
}
