/* buildid_scan.c - looks through what was recorded: maps, addresses, times. */
#include "buildid/buildid_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buildid/buildid_pass.h"
#include "pd/pd.h"

/* linux/perf_event.h */
enum { MODE_MASK = 7, MODE_KERNEL = 1, MODE_USER = 2 };
#define CONTEXT_MAX ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define ROLES 64		/* a power of two */

enum role { ROLE_NONE, ROLE_IP, ROLE_PID, ROLE_TIME, ROLE_CALLCHAIN };

struct known_role {
	const struct pd_field *field;
	enum role role;
};

struct scan {
	struct hits *hits;
	struct buildid_summary *out;
	enum buildid_which which;
	const bool *hurry;
	struct known_role roles[ROLES];
	/* what the library has shown of the sample at hand */
	unsigned int depth;
	struct sample_seen seen;
	struct pd_numbers chain;
	int failed;
};

static enum role name_role(const char *name)
{
	return strcmp(name, "ip") == 0 ? ROLE_IP : strcmp(name, "pid") == 0 ? ROLE_PID :
	       strcmp(name, "time") == 0 ? ROLE_TIME :
	       strcmp(name, "callchain") == 0 ? ROLE_CALLCHAIN : ROLE_NONE;
}

/* Rows are few and stay where they are: each one's name is compared once. */
static enum role role_of(struct scan *s, const struct pd_field *f)
{
	struct known_role *k = &s->roles[((uintptr_t)f >> 4) % ROLES];

	if (k->field != f)
		*k = (struct known_role){ f, name_role(pd_field_name(f)) };
	return k->role;
}

static void sample_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct scan *s = ctx;

	if (s->depth)
		return;
	switch (role_of(s, f)) {
	case ROLE_IP:
		s->seen.ip = value;
		s->seen.has_ip = true;
		break;
	case ROLE_PID:
		s->seen.pid = (int32_t)value;
		break;
	case ROLE_TIME:
		s->seen.time = value;
		s->seen.has_time = true;
		break;
	default:
		break;
	}
}

static void sample_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	struct scan *s = ctx;

	if (!s->depth && role_of(s, f) == ROLE_CALLCHAIN)
		s->chain = *n;
}

static void sample_enter(void *ctx, const struct pd_field *f)
{
	(void)f;
	((struct scan *)ctx)->depth++;
}

static void sample_leave(void *ctx, const struct pd_field *f)
{
	(void)f;
	((struct scan *)ctx)->depth--;
}

static void sample_enter_array(void *ctx, const struct pd_field *f, size_t n)
{
	(void)n;
	sample_enter(ctx, f);
}

static void hit(struct scan *s, unsigned int mode, int32_t pid, uint64_t address)
{
	if (mode == MODE_KERNEL)
		s->failed |= hits_address(s->hits, HITS_KERNEL, address);
	else if (mode == MODE_USER)
		s->failed |= hits_address(s->hits, pid, address);
}

/* An entry of a call chain: an address, or whose the ones behind it are. */
static void hit_entry(struct scan *s, unsigned int *mode, int32_t pid, uint64_t entry)
{
	if (entry < CONTEXT_MAX)
		hit(s, *mode, pid, entry);
	else
		*mode = entry == CONTEXT_KERNEL ? MODE_KERNEL : entry == CONTEXT_USER ? MODE_USER : 0;
}

static void count_sample(struct scan *s, unsigned int mode, const struct sample_seen *seen)
{
	struct buildid_summary *out = s->out;

	out->samples++;
	if (seen->has_time) {
		if (out->first == 0 || seen->time < out->first)
			out->first = seen->time;
		if (seen->time > out->last)
			out->last = seen->time;
	}
	if (s->which != BUILDID_HIT)
		return;
	if (seen->has_ip)
		hit(s, mode, seen->pid, seen->ip);
	for (size_t i = 0; i < seen->nr_chain; i++)
		hit_entry(s, &mode, seen->pid, seen->chain[i]);
}

static void see_sample(struct scan *s, const struct pd_record *r)
{
	static const struct pd_visitor visitor = {
		.size = sizeof(visitor), .number = sample_number, .numbers = sample_numbers,
		.enter = sample_enter, .leave = sample_leave, .enter_array = sample_enter_array,
		.leave_array = sample_leave,
	};
	unsigned int mode = pd_record_misc(r) & MODE_MASK;

	s->depth = 0;
	s->seen = (struct sample_seen){ .pid = -1 };
	s->chain.count = 0;
	pd_record_visit(r, &visitor, s);
	count_sample(s, mode, &s->seen);
	for (size_t i = 0; i < s->chain.count && s->which == BUILDID_HIT; i++)
		hit_entry(s, &mode, s->seen.pid, pd_number_at(&s->chain, i));
}

static uint64_t number(const struct pd_record *r, const char *name)
{
	uint64_t value = 0;

	pd_record_get_number(r, name, &value);
	return value;
}

/* Files, the kernel and its modules, the vdso; heaps, stacks and anonymous memory have no id. */
static bool is_file(const struct pd_bytes *name, bool kernel)
{
	const char *text = (const char *)name->data;

	if (name->size == 0 || (name->size > 1 && memcmp(text, "//", 2) == 0))
		return false;
	if (kernel)
		return true;
	return text[0] == '/' || (name->size == 6 && memcmp(text, "[vdso]", 6) == 0);
}

static void take_build_id(const struct pd_record *r, struct hits_file *f)
{
	struct pd_bytes id;

	if (f->id.size || !pd_record_get_text(r, "build_id", &id) || id.size == 0 || id.size > BUILDID_MAX)
		return;
	memcpy(f->id.data, id.data, id.size);
	f->id.size = (uint8_t)id.size;
}

static void see_map(struct scan *s, const struct pd_record *r)
{
	static const char kernel_map[] = "[kernel.kallsyms]";
	bool kernel = (pd_record_misc(r) & MODE_MASK) == MODE_KERNEL;
	struct hits_map map = { .start = number(r, "addr") };
	struct pd_bytes name;

	map.end = map.start + number(r, "len");
	if (map.end < map.start)
		map.end = UINT64_MAX;
	if (!pd_record_get_text(r, "filename", &name))
		return;
	/* its reference symbol follows */
	if (kernel && name.size > sizeof(kernel_map) - 1 &&
	    memcmp(name.data, kernel_map, sizeof(kernel_map) - 1) == 0)
		name.size = sizeof(kernel_map) - 1;
	if (is_file(&name, kernel)) {
		const struct hits_key key = {
			(const char *)name.data, name.size, number(r, "ino"),
			(uint32_t)number(r, "maj"), (uint32_t)number(r, "min"),
		};

		map.file = hits_file(s->hits, &key);
		if (!map.file) {
			s->failed = -1;
			return;
		}
		if (!map.file->pid)
			map.file->pid = (int32_t)number(r, "pid");
		map.file->kernel = kernel;
		take_build_id(r, map.file);
	}
	s->failed |= hits_map(s->hits, kernel ? HITS_KERNEL : (int32_t)number(r, "pid"), &map);
}

static void see(struct scan *s, const struct pd_record *r)
{
	switch (pd_record_type(r)) {
	case PD_RECORD_SAMPLE:
		see_sample(s, r);
		break;
	case PD_RECORD_LOST:
		s->out->lost += number(r, "lost");
		s->out->lost_records++;
		break;
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2:
		if (s->which != BUILDID_NONE)
			see_map(s, r);
		break;
	case PD_RECORD_FORK:
		if (s->which == BUILDID_HIT)
			s->failed |= hits_fork(s->hits, (int32_t)number(r, "ppid"),
					       (int32_t)number(r, "pid"));
		break;
	default:
		break;
	}
}

static void see_all(void *scan, struct pd_reader *reader)
{
	struct scan *s = scan;
	const struct pd_record *r;
	struct pd_error e;

	while (!s->failed && !(s->hurry && __atomic_load_n(s->hurry, __ATOMIC_RELAXED)) &&
	       pd_reader_next(reader, &r, &e) == 1)
		see(s, r);
}

static void see_in_passing(void *scan, uint16_t misc, const struct sample_seen *seen)
{
	count_sample(scan, misc & MODE_MASK, seen);
}

/* What the faster way can't read, the other counts anew; files that were hit stay hit. */
int buildid_scan(struct pd_reader *reader, enum buildid_which which, struct hits *hits,
		 const bool *hurry, struct buildid_summary *out)
{
	struct scan s = { .hits = hits, .out = out, .which = which, .hurry = hurry };
	const struct pass_callbacks callbacks = { see_in_passing, see_all, &s, hurry };

	if (!pass_over(reader, &callbacks)) {
		*out = (struct buildid_summary){ 0 };
		see_all(&s, reader);
	}
	hits_resolve(hits);
	return s.failed;
}

struct buildid_watch {
	struct scan scan;
	struct buildid_summary found;
	struct pass_callbacks callbacks;
	struct pass *pass;		/* NULL: not begun, or it can't be done */
};

struct buildid_watch *buildid_watch_new(enum buildid_which which)
{
	struct buildid_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->scan = (struct scan){ .hits = hits_new(), .out = &w->found, .which = which };
	w->callbacks = (struct pass_callbacks){ see_in_passing, see_all, &w->scan, NULL };
	if (w->scan.hits)
		return w;
	free(w);
	return NULL;
}

void buildid_watch_free(struct buildid_watch *w)
{
	if (!w)
		return;
	pass_free(w->pass);
	hits_free(w->scan.hits);
	free(w);
}

void buildid_watch_begin(struct buildid_watch *w, int fd)
{
	struct pd_error ignored;
	struct pd_reader *header;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	header = pd_reader_open_path(path, NULL, &ignored);
	if (header)
		w->pass = pass_begin(header, &w->callbacks);
	pd_reader_free(header);
}

void buildid_watch_see(void *watch, struct pd_bytes bytes)
{
	struct buildid_watch *w = watch;

	if (w->pass)
		pass_see(w->pass, bytes);
}

const struct hits *buildid_watch_end(struct buildid_watch *w, struct buildid_summary *out)
{
	if (!w->pass || !pass_end(w->pass) || w->scan.failed)
		return NULL;
	hits_resolve(w->scan.hits);
	*out = w->found;
	return w->scan.hits;
}
