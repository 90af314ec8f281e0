/* buildid_pass.c - pieces of a file, cut into records; those of compressed ones likewise.
 *
 * The other records are put behind a copy of the file's header, which makes a small file of them:
 * what they mean is left to the library.
 */
#include "buildid/buildid_pass.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	BLOCK = 1 << 20,
	RECORD_MOST = 1 << 16,		/* bytes of a record */
	CACHE_LINE = 64,
	FETCH_AHEAD = 1024,		/* bytes */
	OTHERS_FIRST = 1 << 16,
	OTHERS_MOST = 1 << 24,		/* gathered, until the library gets them */
	HEADER_MOST = 1 << 24,
	/* In a file's header: */
	DATA_SIZE_AT = 48, FEATURES_AT = 72, FEATURES_SIZE = 32, HEADER_SIZE = 104,
};

/* Of bytes that come in pieces: what is no whole record yet stays for the next piece. */
struct stage {
	uint8_t *begun;
	size_t used;
};

struct pass {
	const struct pass_callbacks *callbacks;
	struct sample_table table;
	struct stage file, unpacked;
	uint64_t skip;			/* bytes behind an AUXTRACE */
	ZSTD_DStream *stream;
	uint8_t *block;			/* what comes out of it */
	uint8_t *others;		/* the file's header, then records */
	size_t header, nr_others, room_others;
	bool failed;
};

static void hand_others(struct pass *p)
{
	const struct pd_bytes file = { p->others, p->header + p->nr_others };
	const uint64_t size = p->nr_others;
	struct pd_error ignored;
	struct pd_reader *reader;

	if (!size)
		return;
	memcpy(p->others + DATA_SIZE_AT, &size, sizeof(size));
	reader = pd_reader_open_memory(file, NULL, &ignored);
	if (reader)
		p->callbacks->others(p->callbacks->ctx, reader);
	else
		p->failed = true;
	pd_reader_free(reader);
	p->nr_others = 0;
}

static bool grow_others(struct pass *p, size_t room)
{
	uint8_t *larger = realloc(p->others, p->header + room);

	if (!larger)
		return false;
	p->others = larger;
	p->room_others = room;
	return true;
}

static void gather(struct pass *p, struct pd_bytes record)
{
	if (p->nr_others + record.size > OTHERS_MOST)
		hand_others(p);
	if (p->nr_others + record.size > p->room_others && !grow_others(p, 2 * p->room_others)) {
		p->failed = true;
		return;
	}
	memcpy(p->others + p->header + p->nr_others, record.data, record.size);
	p->nr_others += record.size;
}

/* Only behind compressed records do words not lie where words lie, and there are no samples. */
static void see_sample(struct pass *p, uint16_t misc, struct pd_bytes body)
{
	struct sample_seen seen;

	if ((uintptr_t)body.data % sizeof(uint64_t))
		p->failed = true;
	else if (sample_see(&p->table, (const void *)body.data, body.size / sizeof(uint64_t),
			    &seen))
		p->callbacks->sample(p->callbacks->ctx, misc, &seen);
}

static void unpack(struct pass *p, struct pd_bytes payload);

/* AUXTRACE begins with the size of what lies behind it. */
static void see_own(struct pass *p, uint32_t type, struct pd_bytes body, bool packed)
{
	if (type == PD_RECORD_COMPRESSED && !packed)
		unpack(p, body);
	else if (type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2)
		p->failed = true;
	else if (type == PD_RECORD_AUXTRACE && body.size >= sizeof(p->skip))
		memcpy(&p->skip, body.data, sizeof(p->skip));
}

static void see(struct pass *p, const struct perf_event_header *h, const uint8_t *at, bool packed)
{
	const struct pd_bytes body = { at + sizeof(*h), h->size - sizeof(*h) };

	if (h->type == PD_RECORD_SAMPLE)
		see_sample(p, h->misc, body);
	else if (h->type < PD_RECORD_USER_START)
		gather(p, (struct pd_bytes){ at, h->size });
	else
		see_own(p, h->type, body, packed);
}

/* A compressed record is as long as it came out. */
static bool is_sound(const struct perf_event_header *h)
{
	return h->size >= sizeof(*h) &&
	       (h->size % sizeof(uint64_t) == 0 || h->type == PD_RECORD_COMPRESSED);
}

/* Bytes of what was begun: of its header, until that tells the record's. */
static size_t whole_size(struct pass *p, const struct stage *s)
{
	struct perf_event_header h;

	if (s->used < sizeof(h))
		return sizeof(h);
	memcpy(&h, s->begun, sizeof(h));
	p->failed = !is_sound(&h);
	return p->failed ? s->used : h.size;
}

/* What was begun goes on, up to the end of its record. The bytes taken. */
static size_t complete(struct pass *p, struct stage *s, struct pd_bytes bytes)
{
	struct perf_event_header h;
	size_t at = 0, size;

	while ((size = whole_size(p, s)) > s->used && at < bytes.size) {
		size_t n = size - s->used < bytes.size - at ? size - s->used : bytes.size - at;

		memcpy(s->begun + s->used, bytes.data + at, n);
		at += n;
		s->used += n;
	}
	if (!p->failed && s->used == size) {
		memcpy(&h, s->begun, sizeof(h));
		s->used = 0;
		see(p, &h, s->begun, s == &p->unpacked);
	}
	return at;
}

/* The kernel wrote these bytes on another core: they come from there while those before are looked at. */
static inline void fetch_ahead(struct pd_bytes bytes, size_t at)
{
	if (bytes.size - at < FETCH_AHEAD + 2 * CACHE_LINE)
		return;
	__builtin_prefetch(bytes.data + at + FETCH_AHEAD);
	__builtin_prefetch(bytes.data + at + FETCH_AHEAD + CACHE_LINE);
}

/* Looks at the whole records where they are, and keeps the rest. */
static void feed(struct pass *p, struct stage *s, struct pd_bytes bytes)
{
	const bool packed = s == &p->unpacked;
	struct perf_event_header h;
	size_t at = s->used ? complete(p, s, bytes) : 0;

	while (!p->failed && at < bytes.size) {
		const size_t left = bytes.size - at;

		if (p->skip) {
			size_t some = p->skip < left ? (size_t)p->skip : left;

			at += some;
			p->skip -= some;
			continue;
		}
		if (left >= sizeof(h)) {
			memcpy(&h, bytes.data + at, sizeof(h));
			p->failed = !is_sound(&h);
		}
		if (left < sizeof(h) || p->failed || h.size > left)
			break;
		fetch_ahead(bytes, at);
		see(p, &h, bytes.data + at, packed);
		at += h.size;
	}
	if (p->failed || at == bytes.size)
		return;
	memcpy(s->begun, bytes.data + at, bytes.size - at);
	s->used = bytes.size - at;
}

static bool can_unpack(struct pass *p)
{
	if (!p->stream) {
		p->stream = ZSTD_createDStream();
		p->block = malloc(BLOCK);
		p->unpacked.begun = malloc(RECORD_MOST);
	}
	return p->stream && p->block && p->unpacked.begun;
}

static void unpack(struct pass *p, struct pd_bytes payload)
{
	ZSTD_inBuffer in = { payload.data, payload.size, 0 };
	bool more = true;

	p->failed = !can_unpack(p);
	while (!p->failed && more) {
		ZSTD_outBuffer out = { p->block, BLOCK, 0 };
		size_t got = ZSTD_decompressStream(p->stream, &out, &in);

		p->failed = ZSTD_isError(got);
		more = in.pos < in.size || out.pos == out.size;
		if (!p->failed)
			feed(p, &p->unpacked, (struct pd_bytes){ p->block, out.pos });
	}
}

static bool read_header(struct pass *p, struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_reader_file(reader);

	p->header = (size_t)f->data_offset;
	if (!grow_others(p, OTHERS_FIRST) || pd_reader_read_at(reader, 0, p->others, p->header) != (int64_t)p->header)
		return false;
	memset(p->others + FEATURES_AT, 0, FEATURES_SIZE);
	return true;
}

static bool is_hurried(const struct pass *p)
{
	return p->callbacks->hurry && __atomic_load_n(p->callbacks->hurry, __ATOMIC_RELAXED);
}

static void read_blocks(struct pass *p, struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_reader_file(reader);
	const size_t most = f->data_size < BLOCK ? (size_t)f->data_size : BLOCK;
	uint64_t at = f->data_offset, end = f->data_offset + f->data_size;
	uint8_t *block = malloc(most);
	int64_t got = block ? 1 : 0;

	while (!p->failed && at < end && got > 0 && !is_hurried(p)) {
		got = pd_reader_read_at(reader, at, block, end - at < most ? (size_t)(end - at) : most);
		if (got <= 0)
			break;
		at += (uint64_t)got;
		pass_see(p, (struct pd_bytes){ block, (size_t)got });
	}
	p->failed = p->failed || (at < end && !is_hurried(p));
	free(block);
}

/* A file with its header in front, in this machine's byte order. */
static bool is_plain(struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_reader_file(reader);
	const uint16_t one = 1;
	const bool little = *(const uint8_t *)&one;

	return f->mode == PD_MODE_FILE && !f->v1 &&
	       f->byte_order == (little ? PD_LITTLE_ENDIAN : PD_BIG_ENDIAN) &&
	       f->data_offset >= HEADER_SIZE && f->data_offset <= HEADER_MOST;
}

struct pass *pass_begin(struct pd_reader *header, const struct pass_callbacks *callbacks)
{
	struct pass *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->callbacks = callbacks;
	p->file.begun = malloc(RECORD_MOST);
	if (p->file.begun && is_plain(header) && sample_table_read(&p->table, header) &&
	    read_header(p, header))
		return p;
	pass_free(p);
	return NULL;
}

void pass_see(struct pass *p, struct pd_bytes bytes)
{
	if (!p->failed)
		feed(p, &p->file, bytes);
}

/* Cut short: what the end was to be is the library's to say. */
bool pass_end(struct pass *p)
{
	p->failed = p->failed ||
		    (!is_hurried(p) && (p->skip || p->file.used || p->unpacked.used));
	if (!p->failed)
		hand_others(p);
	return !p->failed;
}

void pass_free(struct pass *p)
{
	if (!p)
		return;
	sample_table_free(&p->table);
	ZSTD_freeDStream(p->stream);
	free(p->block);
	free(p->file.begun);
	free(p->unpacked.begun);
	free(p->others);
	free(p);
}

bool pass_over(struct pd_reader *reader, const struct pass_callbacks *callbacks)
{
	const struct pd_file_info *f = pd_reader_file(reader);
	struct pass *p = f->size_known && f->data_size ? pass_begin(reader, callbacks) : NULL;
	bool passed;

	if (!p)
		return false;
	read_blocks(p, reader);
	passed = pass_end(p);
	pass_free(p);
	return passed;
}
