/* buildid_watch.c - find hit files in records on their way to a file, or in a file.
 *
 * Nearly all records are samples, whose numbers are read where they are. The others are collected
 * after a copy of the file's header, and read as the file of a killed recorder.
 */
#include "buildid/buildid_watch.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buildid/buildid_scan.h"
#include "pd/pd.h"

enum {
	BATCH = 128,
	CHUNK = 1 << 20,		/* bytes of records that are collected */
	HEADER_MOST = 1 << 24,
	HEAD = sizeof(struct perf_event_header),
	RECORD_MOST = UINT16_MAX,
};

struct buildid_watch {
	struct buildid_scan scan;
	struct buildid_summary found;
	struct pd_reader *events;	/* of the header alone, for samples */
	uint8_t *bytes;			/* header, collected records; NULL: not begun, or not
					 * possible */
	size_t header, used;
	uint64_t skip;			/* bytes of a payload that follow */
	size_t nr_begun;		/* bytes of a record of which more will come */
	uint8_t begun[RECORD_MOST];
};

struct buildid_watch *buildid_watch_new(enum buildid_which which)
{
	struct buildid_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->scan = (struct buildid_scan){ .hits = hits_new(), .out = &w->found, .which = which };
	if (w->scan.hits)
		return w;
	free(w);
	return NULL;
}

static void abandon(struct buildid_watch *w)
{
	pd_reader_free(w->events);
	w->events = NULL;
	free(w->bytes);
	w->bytes = NULL;
}

void buildid_watch_free(struct buildid_watch *w)
{
	if (!w)
		return;
	abandon(w);
	hits_free(w->scan.hits);
	free(w);
}

static struct pd_reader *open_collected(const struct buildid_watch *w)
{
	const struct pd_bytes file = { w->bytes, w->header + w->used };
	struct pd_error e;

	return pd_reader_open_memory(file, NULL, &e);
}

void buildid_watch_begin(struct buildid_watch *w, int fd, uint64_t header)
{
	if (!header || header > HEADER_MOST)
		return;
	w->header = (size_t)header;
	w->bytes = malloc(w->header + CHUNK);
	if (!w->bytes)
		return;
	if (pread(fd, w->bytes, w->header, 0) == (ssize_t)w->header)
		w->events = open_collected(w);
	if (!w->events)
		abandon(w);
}

static void scan_collected(struct buildid_watch *w)
{
	const uint64_t all = w->header + w->used;
	struct pd_reader *reader = open_collected(w);
	const uint64_t done = reader ? buildid_scan_whole(&w->scan, reader) : 0;
	const bool lacks_memory = pd_reader_lacks_memory(reader);

	pd_reader_free(reader);
	if (done < all || w->scan.failed || lacks_memory) {
		abandon(w);
		return;
	}
	w->skip = done - all;
	w->used = 0;
}

static struct perf_event_header head_of(const uint8_t *record)
{
	struct perf_event_header h;

	memcpy(&h, record, sizeof(h));
	return h;
}

/* Only perf's own records can have a payload; its size is known once they are read. */
static void collect_record(struct buildid_watch *w, const uint8_t *record)
{
	const struct perf_event_header h = head_of(record);

	if (h.type == PD_RECORD_FINISHED_ROUND)
		return;
	if (h.size > CHUNK - w->used)
		scan_collected(w);
	if (!w->bytes)
		return;
	memcpy(w->bytes + w->header + w->used, record, h.size);
	w->used += h.size;
	if (h.type >= PD_RECORD_USER_START)
		scan_collected(w);
}

/* Returns the size of the record at the beginning of the bytes; 0: it is cut short. */
static size_t take_record(struct buildid_watch *w, struct pd_bytes bytes)
{
	const size_t size = bytes.size < HEAD ? 0 : head_of(bytes.data).size;

	if (size > bytes.size)
		return 0;
	if (size >= HEAD)
		collect_record(w, bytes.data);
	else if (bytes.size >= HEAD)
		abandon(w);
	return size;
}

/* Returns the size of the samples at the beginning of the bytes, up to BATCH. */
static size_t take_samples(struct buildid_watch *w, struct pd_bytes bytes)
{
	struct pd_sample items[BATCH];
	size_t size, n = pd_reader_samples_in(w->events, bytes, items, BATCH, &size);

	for (size_t i = 0; i < n; i++)
		buildid_scan_sample(&w->scan, &items[i]);
	if (w->scan.failed)
		abandon(w);
	return size;
}

/* Returns the size of the whole records, up to one with a payload. */
static size_t take_records(struct buildid_watch *w, struct pd_bytes bytes)
{
	struct pd_bytes left = bytes;
	size_t size = 1;

	while (size && left.size && w->bytes && !w->skip) {
		size = take_samples(w, left);
		if (!size)
			size = take_record(w, left);
		left.data += size;
		left.size -= size;
	}
	return bytes.size - left.size;
}

/* Copies more of a record: its head, then the rest. Returns the size of that. */
static size_t continue_record(struct buildid_watch *w, struct pd_bytes bytes)
{
	const size_t whole = w->nr_begun < HEAD ? HEAD : head_of(w->begun).size;
	const size_t n = whole - w->nr_begun < bytes.size ? whole - w->nr_begun : bytes.size;

	memcpy(w->begun + w->nr_begun, bytes.data, n);
	w->nr_begun += n;
	if (w->nr_begun >= HEAD && head_of(w->begun).size <= w->nr_begun) {
		take_records(w, (struct pd_bytes){ w->begun, w->nr_begun });
		w->nr_begun = 0;
	}
	return n;
}

static size_t skip_payload(struct buildid_watch *w, size_t most)
{
	const size_t n = w->skip < most ? (size_t)w->skip : most;

	w->skip -= n;
	return n;
}

void buildid_watch_bytes(void *watch, struct pd_bytes bytes)
{
	struct buildid_watch *w = watch;
	size_t n;

	while (w->bytes && bytes.size) {
		if (w->skip)
			n = skip_payload(w, bytes.size);
		else
			n = w->nr_begun ? 0 : take_records(w, bytes);
		if (!n && w->bytes)
			n = continue_record(w, bytes);
		bytes.data += n;
		bytes.size -= n;
	}
}

/* Reads the next bytes of a file. Returns how many; 0: they can't be read. */
static size_t read_next(int fd, uint8_t *buffer, uint64_t from, uint64_t to)
{
	const ssize_t got = pread(fd, buffer, to - from < CHUNK ? (size_t)(to - from) : CHUNK,
				  (off_t)from);

	return got > 0 ? (size_t)got : 0;
}

void buildid_watch_file(struct buildid_watch *w, int fd, uint64_t from, uint64_t to,
			const bool *hurry)
{
	uint8_t *buffer = malloc(CHUNK);
	size_t n = 1;

	if (!buffer)
		abandon(w);
	for (; w->bytes && from < to; from += n) {
		n = read_next(fd, buffer, from, to);
		if (!n)
			abandon(w);
		buildid_watch_bytes(w, (struct pd_bytes){ buffer, n });
		if (__atomic_load_n(hurry, __ATOMIC_RELAXED)) {
			w->nr_begun = 0;
			w->skip = 0;
			break;
		}
	}
	free(buffer);
}

const struct hits *buildid_watch_end(struct buildid_watch *w, struct buildid_summary *out)
{
	if (w->bytes && w->used)
		scan_collected(w);
	if (!w->bytes || w->nr_begun || w->skip || hits_resolve(w->scan.hits))
		return NULL;
	*out = w->found;
	return w->scan.hits;
}
