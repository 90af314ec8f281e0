/* buildid_scan.c - collect maps, addresses and times from records. */
#include "buildid/buildid_scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pd/fields.h"
#include "pd/pd.h"

/* linux/perf_event.h */
enum { MODE_MASK = 7, MODE_KERNEL = 1, MODE_USER = 2 };
#define CONTEXT_MAX ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
enum {
	BATCH = 128,
	CHUNK = 1 << 20,		/* bytes of records that buildid_watch collects */
	HEADER_MOST = 1 << 24,
};

struct scan {
	struct hits *hits;
	struct buildid_summary *out;
	enum buildid_which which;
	const bool *hurry;
	int failed;
};

static void add_hit(struct scan *s, unsigned int mode, int32_t pid, uint64_t address)
{
	if (mode == MODE_KERNEL)
		s->failed |= hits_address(s->hits, HITS_KERNEL, address);
	else if (mode == MODE_USER)
		s->failed |= hits_address(s->hits, pid, address);
}

/* A callchain entry is an address, or a marker for the mode of the addresses after it. */
static void add_callchain_entry(struct scan *s, unsigned int *mode, int32_t pid, uint64_t entry)
{
	if (entry < CONTEXT_MAX)
		add_hit(s, *mode, pid, entry);
	else
		*mode = entry == CONTEXT_KERNEL ? MODE_KERNEL :
			entry == CONTEXT_USER ? MODE_USER : 0;
}

/* pd_number_at(), without the call for numbers in this machine's byte order. */
static inline uint64_t entry_at(const struct pd_numbers *chain, size_t i)
{
	uint64_t entry;

	if (chain->swapped || chain->width != sizeof(entry))
		return pd_number_at(chain, i);
	memcpy(&entry, chain->data + i * sizeof(entry), sizeof(entry));
	return entry;
}

static void add_callchain(struct scan *s, unsigned int mode, int32_t pid,
			  const struct pd_numbers *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		add_callchain_entry(s, &mode, pid, entry_at(chain, i));
}

static void scan_sample(struct scan *s, const struct pd_fields *f)
{
	const int32_t pid = f->has & PD_HAS_PID ? f->pid : -1;
	struct buildid_summary *out = s->out;

	out->samples++;
	if (f->has & PD_HAS_TIME) {
		if (out->first == 0 || f->time < out->first)
			out->first = f->time;
		if (f->time > out->last)
			out->last = f->time;
	}
	if (s->which != BUILDID_HIT)
		return;
	if (f->has & PD_HAS_IP)
		add_hit(s, f->misc & MODE_MASK, pid, f->ip);
	if (f->has & PD_HAS_CALLCHAIN)
		add_callchain(s, f->misc & MODE_MASK, pid, &f->callchain);
}

static uint64_t get_number(const struct pd_record *r, const char *name)
{
	uint64_t value = 0;

	pd_record_get_number(r, name, &value);
	return value;
}

/* Whether the map may have a build id: heaps, stacks and anonymous memory have none. */
static bool may_have_build_id(const struct pd_bytes *name, bool kernel)
{
	const char *text = (const char *)name->data;

	if (name->size == 0 || (name->size > 1 && memcmp(text, "//", 2) == 0))
		return false;
	if (kernel)
		return true;
	return text[0] == '/' || (name->size == 6 && memcmp(text, "[vdso]", 6) == 0);
}

static void copy_build_id(const struct pd_record *r, struct hits_file *f)
{
	struct pd_bytes id;

	if (f->id.size || !pd_record_get_text(r, "build_id", &id) || id.size == 0 ||
	    id.size > BUILDID_MAX)
		return;
	memcpy(f->id.data, id.data, id.size);
	f->id.size = (uint8_t)id.size;
}

static void scan_map(struct scan *s, const struct pd_record *r)
{
	static const char kernel_map[] = "[kernel.kallsyms]";
	bool kernel = (pd_record_misc(r) & MODE_MASK) == MODE_KERNEL;
	struct hits_map map = { .start = get_number(r, "addr") };
	struct pd_bytes name;

	map.end = map.start + get_number(r, "len");
	if (map.end < map.start)
		map.end = UINT64_MAX;
	if (!pd_record_get_text(r, "filename", &name))
		return;
	/* the name of the reference symbol follows */
	if (kernel && name.size > sizeof(kernel_map) - 1 &&
	    memcmp(name.data, kernel_map, sizeof(kernel_map) - 1) == 0)
		name.size = sizeof(kernel_map) - 1;
	if (may_have_build_id(&name, kernel)) {
		const struct hits_key key = {
			(const char *)name.data, name.size, get_number(r, "ino"),
			(uint32_t)get_number(r, "maj"), (uint32_t)get_number(r, "min"),
		};

		map.file = hits_file(s->hits, &key);
		if (!map.file) {
			s->failed = -1;
			return;
		}
		if (!map.file->pid)
			map.file->pid = (int32_t)get_number(r, "pid");
		map.file->kernel = kernel;
		copy_build_id(r, map.file);
	}
	s->failed |= hits_map(s->hits, kernel ? HITS_KERNEL : (int32_t)get_number(r, "pid"), &map);
}

static void scan_other(struct scan *s, const struct pd_record *r)
{
	switch (pd_record_type(r)) {
	case PD_RECORD_LOST:
		s->out->lost += get_number(r, "lost");
		s->out->lost_records++;
		break;
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2:
		if (s->which != BUILDID_NONE)
			scan_map(s, r);
		break;
	case PD_RECORD_FORK:
		if (s->which == BUILDID_HIT)
			s->failed |= hits_fork(s->hits, (int32_t)get_number(r, "ppid"),
					       (int32_t)get_number(r, "pid"));
		break;
	default:
		break;
	}
}

static bool must_hurry(const struct scan *s)
{
	return s->hurry && __atomic_load_n(s->hurry, __ATOMIC_RELAXED);
}

static struct pd_fields_batch make_batch(const struct scan *s, struct pd_fields *items)
{
	const uint32_t addresses = PD_HAS_PID | PD_HAS_IP | PD_HAS_CALLCHAIN;

	return (struct pd_fields_batch){
		.size = sizeof(struct pd_fields_batch), .items = items,
		.item_size = sizeof(*items), .capacity = BATCH,
		.want = PD_HAS_TIME | (s->which == BUILDID_HIT ? addresses : 0),
	};
}

static void scan_item(struct scan *s, struct pd_reader *reader, const struct pd_fields *item)
{
	if (item->type == PD_RECORD_SAMPLE)
		scan_sample(s, item);
	else if (item->type && item->type < PD_RECORD_USER_START)
		scan_other(s, pd_reader_record(reader, item));
}

int buildid_scan(struct pd_reader *reader, enum buildid_which which, struct hits *hits,
		 const bool *hurry, struct buildid_summary *out)
{
	struct scan s = { .hits = hits, .out = out, .which = which, .hurry = hurry };
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = make_batch(&s, items);
	struct pd_error e;
	int n;

	while (!s.failed && !must_hurry(&s) && (n = pd_reader_next_fields(reader, &batch, &e)) > 0)
		for (int i = 0; i < n; i++)
			scan_item(&s, reader, &items[i]);
	hits_resolve(hits);
	return s.failed;
}

/* bytes: a copy of the file's header and the records after it, as in the file of a killed
 * recorder. */
struct buildid_watch {
	struct scan scan;
	struct buildid_summary found;
	uint8_t *bytes;			/* NULL: not begun, or not possible */
	size_t header, used;
	uint64_t skip;			/* bytes of a payload that follow */
};

struct buildid_watch *buildid_watch_new(enum buildid_which which)
{
	struct buildid_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->scan = (struct scan){ .hits = hits_new(), .out = &w->found, .which = which };
	if (w->scan.hits)
		return w;
	free(w);
	return NULL;
}

static void watch_abandon(struct buildid_watch *w)
{
	free(w->bytes);
	w->bytes = NULL;
}

void buildid_watch_free(struct buildid_watch *w)
{
	if (!w)
		return;
	watch_abandon(w);
	hits_free(w->scan.hits);
	free(w);
}

void buildid_watch_begin(struct buildid_watch *w, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > HEADER_MOST)
		return;
	w->header = (size_t)st.st_size;
	w->bytes = malloc(w->header + CHUNK);
	if (w->bytes && pread(fd, w->bytes, w->header, 0) != (ssize_t)w->header)
		watch_abandon(w);
}

/* Returns the end of a record and its payload in the collected bytes; 0: the record is truncated,
 * damaged, or compressed, which records on their way to the file are not. */
static uint64_t end_of_record(struct buildid_watch *w, struct pd_reader *reader,
			      const struct pd_fields *item)
{
	const uint64_t end = item->offset - w->header + item->bytes.size;

	if (item->error || !item->type || item->type == PD_RECORD_COMPRESSED ||
	    item->type == PD_RECORD_COMPRESSED2)
		return 0;
	if (item->type < PD_RECORD_USER_START)
		return end;
	return end + pd_record_payload_size(pd_reader_record(reader, item));
}

/* Scans all whole records. Returns where the rest begins. */
static uint64_t watch_scan_records(struct buildid_watch *w, struct pd_reader *reader)
{
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = make_batch(&w->scan, items);
	uint64_t done = 0, end;
	struct pd_error e;
	int n;

	while (!w->scan.failed && (n = pd_reader_next_fields(reader, &batch, &e)) > 0) {
		for (int i = 0; i < n; i++) {
			end = end_of_record(w, reader, &items[i]);
			if (!end)
				return done;
			scan_item(&w->scan, reader, &items[i]);
			done = end;
		}
	}
	return done;
}

/* Damage looks like a truncated record that never continues. */
static void watch_scan_chunk(struct buildid_watch *w)
{
	const struct pd_bytes file = { w->bytes, w->header + w->used };
	struct pd_error e;
	struct pd_reader *reader = pd_reader_open_memory(file, NULL, &e);
	uint64_t done = reader ? watch_scan_records(w, reader) : 0;

	pd_reader_free(reader);
	if (!done || w->scan.failed) {
		watch_abandon(w);
		return;
	}
	w->skip = done > w->used ? done - w->used : 0;
	done -= w->skip;
	w->used -= (size_t)done;
	memmove(w->bytes + w->header, w->bytes + w->header + done, w->used);
}

void buildid_watch_bytes(void *watch, struct pd_bytes bytes)
{
	struct buildid_watch *w = watch;

	while (w->bytes && bytes.size) {
		const uint64_t most = w->skip ? w->skip : CHUNK - w->used;
		const size_t n = bytes.size < most ? bytes.size : (size_t)most;

		if (w->skip) {
			w->skip -= n;
		} else {
			memcpy(w->bytes + w->header + w->used, bytes.data, n);
			w->used += n;
		}
		bytes.data += n;
		bytes.size -= n;
		if (w->used == CHUNK)
			watch_scan_chunk(w);
	}
}

const struct hits *buildid_watch_end(struct buildid_watch *w, struct buildid_summary *out)
{
	if (w->bytes && w->used)
		watch_scan_chunk(w);
	if (!w->bytes || w->used || w->skip)
		return NULL;
	hits_resolve(w->scan.hits);
	*out = w->found;
	return w->scan.hits;
}
