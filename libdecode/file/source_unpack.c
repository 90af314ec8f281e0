/* source_unpack.c - a gzip or zstd wrapping around a whole input. */
#include "file/source_unpack.h"

#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "file/codec.h"

#define GZIP_ONLY (15 + 16)	/* for inflateInit2: the largest window, and only gzip headers */
#define STEP_MAX (1u << 30)	/* zlib counts in unsigned int */

struct pd_unpack {
	struct pd_source *under;
	enum pd_packing packing;
	struct pd_budget *budget;
	z_stream gzip;
	struct pd_codec *zstd;
	struct pd_bytes in;	/* zstd: the part of the window of `under` that the codec has */
	uint64_t produced;
	bool between;		/* at the start of a member of gzip, a frame of zstd, or behind the last */
	bool ended;
	struct pd_error damage;
};

/* zlib does not tell the size when it frees. */
struct zlib_block {
	size_t size;
	max_align_t data[];
};

static voidpf zlib_alloc(voidpf budget, uInt items, uInt size)
{
	size_t total = sizeof(struct zlib_block) + (size_t)items * size;
	struct zlib_block *b = pd_budget_alloc(budget, total);

	if (!b)
		return Z_NULL;
	b->size = total;
	return b->data;
}

static void zlib_free(voidpf budget, voidpf p)
{
	struct zlib_block *b = (void *)((uint8_t *)p - offsetof(struct zlib_block, data));

	pd_budget_free(budget, b, b->size);
}

enum pd_packing pd_packing_of(struct pd_bytes head)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	if (head.size >= sizeof(gzip) && !memcmp(head.data, gzip, sizeof(gzip)))
		return PD_PACKING_GZIP;
	if (head.size >= sizeof(zstd) && !memcmp(head.data, zstd, sizeof(zstd)))
		return PD_PACKING_ZSTD;
	return PD_PACKING_NONE;
}

static int start(struct pd_unpack *u, struct pd_error *e)
{
	u->between = true;
	if (u->packing == PD_PACKING_ZSTD) {
		u->zstd = pd_codec_new(u->budget, e);
		return u->zstd ? 0 : -1;
	}
	u->gzip.zalloc = zlib_alloc;
	u->gzip.zfree = zlib_free;
	u->gzip.opaque = u->budget;
	if (inflateInit2(&u->gzip, GZIP_ONLY) == Z_OK)
		return 0;
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return -1;
}

struct pd_unpack *pd_unpack_new(struct pd_source *under, enum pd_packing packing,
				struct pd_budget *b, struct pd_error *e)
{
	struct pd_unpack *u = pd_budget_alloc(b, sizeof(*u));

	if (!u) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
		pd_source_close(under);
		return NULL;
	}
	u->under = under;
	u->packing = packing;
	u->budget = b;
	if (start(u, e)) {
		pd_unpack_free(u);
		return NULL;
	}
	return u;
}

void pd_unpack_free(struct pd_unpack *u)
{
	if (!u)
		return;
	if (u->packing == PD_PACKING_GZIP)
		inflateEnd(&u->gzip);
	pd_codec_free(u->zstd);
	pd_source_close(u->under);
	pd_budget_free(u->budget, u, sizeof(*u));
}

struct pd_source *pd_unpack_under(const struct pd_unpack *u)
{
	return u->under;
}

const struct pd_error *pd_unpack_damage(const struct pd_unpack *u)
{
	return u->damage.code ? &u->damage : NULL;
}

static void end(struct pd_unpack *u, enum pd_code code, enum pd_severity severity)
{
	u->ended = true;
	if (code)
		u->damage = (struct pd_error){
			.code = code, .severity = severity, .offset = u->produced,
			.field = u->packing == PD_PACKING_GZIP ? "gzip" : "zstd",
		};
}

/* Behind the last member: padding with zeros, or something that is no part of this and that nobody reads. */
static int end_behind(struct pd_unpack *u, struct pd_error *e)
{
	const uint64_t from = pd_source_offset(u->under);
	uint64_t size, data;
	struct pd_bytes in;

	for (;;) {
		if (pd_source_peek(u->under, 1, &in, e))
			return -1;
		if (!in.size) {
			end(u, PD_OK, PD_NOTE);
			return 0;
		}
		if (!pd_all_zero(in))
			break;
		if (pd_source_skip(u->under, in.size, NULL, e))
			return -1;
		data = pd_source_data_from(u->under, pd_source_offset(u->under));
		if (pd_source_is_random(u->under) && pd_source_seek(u->under, data, e))
			return -1;
	}
	end(u, PD_E_TRAILING, PD_DAMAGED);
	if (pd_source_size(u->under, &size) && size > from)
		u->damage.skipped = size - from;
	return 0;
}

/* zstd has frames without content, too. */
static bool starts_member(enum pd_packing packing, struct pd_bytes in)
{
	static const uint8_t skippable[] = { 0x2a, 0x4d, 0x18 };

	return pd_packing_of(in) == packing ||
	       (packing == PD_PACKING_ZSTD && in.size > sizeof(skippable) && in.data[0] >> 4 == 5 &&
		!memcmp(in.data + 1, skippable, sizeof(skippable)));
}

static int next_member(struct pd_unpack *u, struct pd_error *e)
{
	struct pd_bytes in;

	if (pd_source_peek(u->under, u->packing == PD_PACKING_GZIP ? 2 : 4, &in, e))
		return -1;
	if (!starts_member(u->packing, in))
		return end_behind(u, e);
	u->between = false;
	if (u->packing == PD_PACKING_GZIP) {
		inflateReset(&u->gzip);
	} else {
		u->in = in;
		pd_codec_input(u->zstd, in);
	}
	return 0;
}

/* One call of zlib. -1 is an I/O error; damage ends the stream behind what came out before it. */
static int64_t inflate_some(struct pd_unpack *u, void *p, size_t n, struct pd_error *e)
{
	struct pd_bytes in;
	int64_t got;
	int result;

	if (pd_source_peek(u->under, 1, &in, e))
		return -1;
	u->gzip.next_in = (void *)(uintptr_t)in.data;	/* zlib only reads it */
	u->gzip.avail_in = (uInt)(in.size < STEP_MAX ? in.size : STEP_MAX);
	u->gzip.next_out = p;
	u->gzip.avail_out = (uInt)(n < STEP_MAX ? n : STEP_MAX);
	result = inflate(&u->gzip, Z_NO_FLUSH);
	got = u->gzip.next_out - (uint8_t *)p;
	u->produced += (uint64_t)got;
	if (in.size)	/* inside the window: can't fail */
		pd_source_skip(u->under, (uint64_t)(u->gzip.next_in - in.data), NULL, e);
	if (result == Z_STREAM_END)
		u->between = true;
	else if (result != Z_OK && result != Z_BUF_ERROR)
		end(u, result == Z_MEM_ERROR ? PD_E_LIMIT : PD_E_CODEC, PD_DAMAGED);
	else if (!in.size && !got)
		end(u, PD_E_CODEC, PD_DAMAGED);
	return got;
}

/* What the codec took of its input is behind us. */
static void leave_input(struct pd_unpack *u, size_t left)
{
	struct pd_error ignored;

	pd_source_skip(u->under, u->in.size - left, NULL, &ignored);	/* inside the window: can't fail */
	u->in.size = 0;
}

static int64_t expand_some(struct pd_unpack *u, void *p, size_t n, struct pd_error *e)
{
	struct pd_error damage;
	size_t left;
	int64_t got = pd_codec_read_frame(u->zstd, p, n, &left, &damage);

	if (got < 0) {
		end(u, damage.code, PD_DAMAGED);
		return 0;
	}
	u->produced += (uint64_t)got;
	u->between = pd_codec_at_frame_end(u->zstd);
	if (u->between)
		leave_input(u, left);
	if (got || u->between)
		return got;
	leave_input(u, 0);
	if (pd_source_peek(u->under, 1, &u->in, e)) {
		u->in.size = 0;
		return -1;
	}
	if (!u->in.size)
		end(u, PD_E_CODEC, PD_DAMAGED);
	pd_codec_input(u->zstd, u->in);
	return 0;
}

int64_t pd_unpack_read(struct pd_unpack *u, void *p, size_t n, struct pd_error *e)
{
	int64_t got = 0;

	while (!got && !u->ended) {
		if (u->between && next_member(u, e))
			return -1;
		if (u->ended)
			break;
		got = u->packing == PD_PACKING_GZIP ? inflate_some(u, p, n, e)
						    : expand_some(u, p, n, e);
	}
	return got;
}
