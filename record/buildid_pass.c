/* buildid_pass.c - blocks of a file, cut into records; those of compressed ones likewise.
 *
 * The other records are put behind a copy of the file's header, which makes a small file of them:
 * what they mean is left to the library.
 */
#include "buildid_pass.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	BLOCK = 1 << 20,
	RECORD_MOST = 1 << 16,		/* bytes of a record */
	OTHERS_FIRST = 1 << 16,
	OTHERS_MOST = 1 << 24,		/* gathered, until the library gets them */
	HEADER_MOST = 1 << 24,
	/* In a file's header: */
	DATA_SIZE_AT = 48, FEATURES_AT = 72, FEATURES_SIZE = 32, HEADER_SIZE = 104,
	/* perf's own records: */
	TYPE_USER = 64, TYPE_AUXTRACE = 71, TYPE_COMPRESSED = 81, TYPE_COMPRESSED2 = 83,
};

/* Bytes that come in pieces; what is no whole record yet stays for the next. */
struct stage {
	uint8_t *bytes;
	size_t used;
};

struct pass {
	const struct pass_callbacks *callbacks;
	struct sample_table table;
	struct stage file, unpacked;
	uint64_t skip;			/* bytes behind an AUXTRACE */
	ZSTD_DStream *stream;
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
	reader = pd_open_memory(file, NULL, &ignored);
	if (reader)
		p->callbacks->others(p->callbacks->ctx, reader);
	else
		p->failed = true;
	pd_close(reader);
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
	if (type == TYPE_COMPRESSED && !packed)
		unpack(p, body);
	else if (type == TYPE_COMPRESSED || type == TYPE_COMPRESSED2)
		p->failed = true;
	else if (type == TYPE_AUXTRACE && body.size >= sizeof(p->skip))
		memcpy(&p->skip, body.data, sizeof(p->skip));
}

static void see(struct pass *p, const struct perf_event_header *h, const uint8_t *at, bool packed)
{
	const struct pd_bytes body = { at + sizeof(*h), h->size - sizeof(*h) };

	if (h->type == PERF_RECORD_SAMPLE)
		see_sample(p, h->misc, body);
	else if (h->type < TYPE_USER)
		gather(p, (struct pd_bytes){ at, h->size });
	else
		see_own(p, h->type, body, packed);
}

/* A compressed record is as long as it came out. */
static bool is_sound(const struct perf_event_header *h)
{
	return h->size >= sizeof(*h) &&
	       (h->size % sizeof(uint64_t) == 0 || h->type == TYPE_COMPRESSED);
}

/* Looks at the whole records of a stage, and keeps the rest. */
static void cut(struct pass *p, struct stage *s)
{
	const bool packed = s == &p->unpacked;
	struct perf_event_header h;
	size_t at = 0;

	while (!p->failed && s->used - at >= sizeof(h)) {
		if (p->skip) {
			size_t some = p->skip < s->used - at ? (size_t)p->skip : s->used - at;

			at += some;
			p->skip -= some;
			continue;
		}
		memcpy(&h, s->bytes + at, sizeof(h));
		p->failed = !is_sound(&h);
		if (p->failed || h.size > s->used - at)
			break;
		see(p, &h, s->bytes + at, packed);
		at += h.size;
	}
	memmove(s->bytes, s->bytes + at, s->used - at);
	s->used -= at;
}

static bool can_unpack(struct pass *p)
{
	if (!p->stream) {
		p->stream = ZSTD_createDStream();
		p->unpacked.bytes = malloc(BLOCK + RECORD_MOST);
	}
	return p->stream && p->unpacked.bytes;
}

static void unpack(struct pass *p, struct pd_bytes payload)
{
	ZSTD_inBuffer in = { payload.data, payload.size, 0 };
	bool more = true;

	p->failed = !can_unpack(p);

	while (!p->failed && more) {
		ZSTD_outBuffer out = { p->unpacked.bytes, BLOCK + RECORD_MOST, p->unpacked.used };
		size_t got = ZSTD_decompressStream(p->stream, &out, &in);

		p->failed = ZSTD_isError(got);
		more = in.pos < in.size || out.pos == out.size;
		p->unpacked.used = out.pos;
		cut(p, &p->unpacked);
	}
}

static bool read_header(struct pass *p, struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_file(reader);

	p->header = (size_t)f->data_offset;
	if (!grow_others(p, OTHERS_FIRST) || pd_read_at(reader, 0, p->others, p->header) != (int64_t)p->header)
		return false;
	memset(p->others + FEATURES_AT, 0, FEATURES_SIZE);
	return true;
}

static void read_blocks(struct pass *p, struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_file(reader);
	uint64_t at = f->data_offset, end = f->data_offset + f->data_size;
	int64_t got = 1;

	while (!p->failed && at < end && got > 0) {
		size_t most = end - at < BLOCK ? (size_t)(end - at) : BLOCK;

		got = pd_read_at(reader, at, p->file.bytes + p->file.used, most);
		if (got <= 0)
			break;
		at += (uint64_t)got;
		p->file.used += (size_t)got;
		cut(p, &p->file);
	}
	/* Cut short: what the end was to be is the library's to say. */
	p->failed = p->failed || at < end || p->file.used || p->unpacked.used;
	hand_others(p);
}

/* A whole file with its header in front, in this machine's byte order. */
static bool is_plain(struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_file(reader);
	const uint16_t one = 1;
	const bool little = *(const uint8_t *)&one;

	return f->mode == PD_MODE_FILE && f->size_known && !f->v1 &&
	       f->byte_order == (little ? PD_LITTLE_ENDIAN : PD_BIG_ENDIAN) &&
	       f->data_offset >= HEADER_SIZE && f->data_offset <= HEADER_MOST && f->data_size;
}

bool pass_over(struct pd_reader *reader, const struct pass_callbacks *callbacks)
{
	struct pass p = { .callbacks = callbacks };
	bool passed = is_plain(reader) && sample_table_read(&p.table, reader) &&
		      read_header(&p, reader);

	if (passed) {
		uint64_t size = pd_file(reader)->data_size;

		p.file.bytes = malloc(size < BLOCK ? (size_t)size : BLOCK + RECORD_MOST);
		passed = p.file.bytes;
	}
	if (passed)
		read_blocks(&p, reader);
	passed = passed && !p.failed;
	sample_table_free(&p.table);
	ZSTD_freeDStream(p.stream);
	free(p.file.bytes);
	free(p.unpacked.bytes);
	free(p.others);
	return passed;
}
