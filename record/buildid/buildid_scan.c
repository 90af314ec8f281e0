/* buildid_scan.c - collect maps, addresses and times from records. */
#include "buildid/buildid_scan.h"

#include <string.h>

#include "pd/pd.h"

/* linux/perf_event.h */
enum { MODE_MASK = 7, MODE_KERNEL = 1, MODE_USER = 2 };
#define CONTEXT_MAX ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
enum { BATCH = 128 };

static void add_hit(struct buildid_scan *s, unsigned int mode, int32_t pid, uint64_t address)
{
	if (mode == MODE_KERNEL)
		s->failed |= hits_address(s->hits, HITS_KERNEL, address);
	else if (mode == MODE_USER)
		s->failed |= hits_address(s->hits, pid, address);
}

/* A callchain entry is an address, or a marker for the mode of the addresses after it. */
static void add_callchain_entry(struct buildid_scan *s, unsigned int *mode, int32_t pid,
				uint64_t entry)
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

static void add_callchain(struct buildid_scan *s, unsigned int mode, int32_t pid,
			  const struct pd_numbers *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		add_callchain_entry(s, &mode, pid, entry_at(chain, i));
}

static void add_time(struct buildid_summary *out, uint64_t time)
{
	if (out->first == 0 || time < out->first)
		out->first = time;
	if (time > out->last)
		out->last = time;
}

void buildid_scan_sample(struct buildid_scan *s, const struct pd_sample *sample)
{
	const unsigned int mode = sample->misc & MODE_MASK;

	s->out->samples++;
	if (sample->time)
		add_time(s->out, sample->time);
	if (s->which != BUILDID_HIT)
		return;
	if (sample->ip)
		add_hit(s, mode, sample->pid, sample->ip);
	if (sample->callchain.count)
		add_callchain(s, mode, sample->pid, &sample->callchain);
}

static void scan_sample(struct buildid_scan *s, const struct pd_fields *f)
{
	struct pd_sample sample = { .pid = -1, .misc = f->misc };

	if (f->has & PD_HAS_TIME)
		sample.time = f->time;
	if (f->has & PD_HAS_IP)
		sample.ip = f->ip;
	if (f->has & PD_HAS_PID)
		sample.pid = f->pid;
	if (f->has & PD_HAS_CALLCHAIN)
		sample.callchain = f->callchain;
	buildid_scan_sample(s, &sample);
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

static void scan_map(struct buildid_scan *s, const struct pd_record *r)
{
	static const char kernel_map[] = "[kernel.kallsyms]";
	bool kernel = (pd_record_misc(r) & MODE_MASK) == MODE_KERNEL;
	struct hits_map map = { .start = get_number(r, "addr") };
	struct pd_bytes name;

	pd_record_time(r, &map.time);	/* or 0 */
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

static void scan_other(struct buildid_scan *s, const struct pd_record *r)
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

static bool must_hurry(const struct buildid_scan *s)
{
	return s->hurry && __atomic_load_n(s->hurry, __ATOMIC_RELAXED);
}

static struct pd_fields_batch make_batch(const struct buildid_scan *s, struct pd_fields *items)
{
	const uint32_t addresses = PD_HAS_PID | PD_HAS_IP | PD_HAS_CALLCHAIN;

	return (struct pd_fields_batch){
		.size = sizeof(struct pd_fields_batch), .items = items,
		.item_size = sizeof(*items), .capacity = BATCH,
		.want = PD_HAS_TIME | (s->which == BUILDID_HIT ? addresses : 0),
	};
}

static void scan_item(struct buildid_scan *s, struct pd_reader *reader,
		      const struct pd_fields *item)
{
	if (item->type == PD_RECORD_SAMPLE)
		scan_sample(s, item);
	else if (item->type && item->type < PD_RECORD_USER_START)
		scan_other(s, pd_reader_record(reader, item));
}

int buildid_scan(struct buildid_scan *s, struct pd_reader *reader)
{
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = make_batch(s, items);
	struct pd_error e;
	int n;

	while (!s->failed && !must_hurry(s) && (n = pd_reader_next_fields(reader, &batch, &e)) > 0)
		for (int i = 0; i < n; i++)
			scan_item(s, reader, &items[i]);
	s->failed |= hits_resolve(s->hits);
	return s->failed;
}

/* Returns the end of a record and its payload; 0: the record is cut short, damaged, or compressed,
 * which records on their way to the file are not. */
static uint64_t end_of_record(struct pd_reader *reader, const struct pd_fields *item)
{
	const uint64_t end = item->offset + item->bytes.size;

	if (item->error || !item->type || item->type == PD_RECORD_COMPRESSED ||
	    item->type == PD_RECORD_COMPRESSED2)
		return 0;
	if (item->type < PD_RECORD_USER_START)
		return end;
	return end + pd_record_payload_size(pd_reader_record(reader, item));
}

uint64_t buildid_scan_whole(struct buildid_scan *s, struct pd_reader *reader)
{
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = make_batch(s, items);
	uint64_t done = 0, end;
	struct pd_error e;
	int n;

	while (!s->failed && (n = pd_reader_next_fields(reader, &batch, &e)) > 0) {
		for (int i = 0; i < n; i++) {
			end = end_of_record(reader, &items[i]);
			if (!end)
				return done;
			scan_item(s, reader, &items[i]);
			done = end;
		}
	}
	return done;
}
