/* wrong_type.c - records of which the header states a wrong type: they are read as the type that
 * their bytes fit. A lost type would lose a sample, or all records that are compressed in one. */
#include "stream/wrong_type.h"

#include <string.h>

#include "pd/enums.h"
#include "stream/stream_internal.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define TYPE_BITS 16	/* a wrong bit above these makes an implausible type */
#define NEWER_END 32	/* newer kernels may write records of types below this one */

static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };	/* RFC 8878, 3.1.1 */

static void set_error(const struct pd_frame *f, uint32_t stated, struct pd_error *e)
{
	*e = (struct pd_error){
		.code = PD_E_MISMATCH, .severity = PD_DAMAGED, .offset = f->offset,
		.record_type = f->type, .record = f->desc->name, .field = "type",
		.want = f->type, .have = stated,
		.text = "the header states another one, which its bytes do not fit",
	};
}

enum fit {
	FITS,
	FITS_LOOSELY,	/* bytes are left, as newer kernels may append some */
	NEWER,		/* there is no such type yet: its bytes may look like those of another */
	MISFIT,
	NOT_KNOWN,	/* there is no such type */
};

/* Finds out whether the record may be of another type than its own. */
static enum fit judge_own_type(const struct pd_record *r)
{
	const struct pd_record_desc *d = r->frame.desc;
	const struct pd_attr *a = r->layout;

	if (r->frame.state != PD_FRAME_WHOLE || r->frame.payload ||
	    r->frame.bytes.size > PD_CORRECTED_MAX || r->error.code == PD_E_SIZE)
		return FITS;
	if (!d || d->type >= 1u << (TYPE_BITS - 1))
		return r->frame.type >= PD_RECORD_KERNEL_END && r->frame.type < NEWER_END ?
			       NEWER : NOT_KNOWN;
	if (d->oversized || d->type == PD_RECORD_SAMPLE)
		return FITS;
	if (r->error.code != PD_OK ||
	    (d->trailer == PD_TRAILER && a && a->trailer_size && !r->trailer))
		return MISFIT;
	return d->type >= PD_RECORD_USER_START ||
	       (r->plan && (pd_record_trailing(r).size || !pd_resync_text_ends_well(r))) ?
		       FITS_LOOSELY : FITS;
}

/* Returns whether the record's time is near that of the last sample, also by a clock that began to
 * run a short time ago. */
static bool is_in_time(const struct pd_stream *s, const struct pd_record *r)
{
	const uint64_t last = s->resync.time;
	uint64_t time;

	return last && pd_record_time(r, &time) && pd_resync_is_near(time, last) &&
	       time >= last / 2 && time / 2 <= last;
}

static bool is_of_own_task(const struct pd_record *r)
{
	uint64_t tid, own;

	return pd_record_number(r, PD_OF_BODY, PD_HOT_TID, &own) && own &&
	       pd_record_number(r, PD_OF_TRAILER, PD_HOT_TID, &tid) && tid == own;
}

static bool has_unknown_id(const struct pd_record *r)
{
	uint64_t id;

	return r->attr && r->session->ids.used &&
	       pd_session_id_of(r->session, r->attr, r->frame.type, r->frame.bytes, &id) && id &&
	       !pd_session_by_id(r->session, id);
}

static bool has_path(const struct pd_record *r)
{
	struct pd_bytes path;

	return pd_record_get_text(r, "filename", &path) && path.size &&
	       path.data + path.size < r->body.data + r->body.size &&	/* it ends with a NUL */
	       (*path.data == '/' || *path.data == '[');
}

/* Returns whether the record has a place among those around it if it is of that type. */
static bool is_of_type(struct pd_stream *s, struct pd_bytes copy, uint32_t type, enum fit own)
{
	struct pd_record r;

	pd_store(s->corrected, type, sizeof(type), s->session->swap);
	if (!pd_resync_is_filled(&s->resync, copy, &r) || r.error.code != PD_OK ||
	    has_unknown_id(&r))
		return false;
	if (type == PD_RECORD_SAMPLE)
		return is_in_time(s, &r) || (own == NOT_KNOWN && !s->resync.time);
	return has_path(&r) || (own >= MISFIT && (is_in_time(s, &r) || is_of_own_task(&r)));
}

/* Finds a type that fits the record: best one that differs in one bit, and of these the sample.
 * Returns its own if there is none. */
static uint32_t find_type(struct pd_stream *s, struct pd_bytes copy, uint32_t stated, enum fit own)
{
	static const uint32_t others[] = { PD_RECORD_SAMPLE, PD_RECORD_MMAP2, PD_RECORD_MMAP };
	const bool is_near_sample = __builtin_popcount(stated ^ PD_RECORD_SAMPLE) == 1;

	if (is_near_sample && is_of_type(s, copy, PD_RECORD_SAMPLE, own))
		return PD_RECORD_SAMPLE;
	for (unsigned int bit = 0; bit < TYPE_BITS; bit++) {
		const uint32_t type = stated ^ 1u << bit;

		if (type < PD_RECORD_USER_START && type != PD_RECORD_SAMPLE &&
		    pd_record_desc(type) && is_of_type(s, copy, type, own))
			return type;
	}
	if (own == NEWER || (own == FITS_LOOSELY && stated >= PD_RECORD_USER_START))
		return stated;
	for (size_t i = 0; i < (own >= MISFIT ? sizeof(others) / sizeof(*others) : 1); i++)
		if (is_of_type(s, copy, others[i], FITS_LOOSELY))
			return others[i];
	return stated;
}

/* Copies the record to s->corrected. Returns false without memory. */
static bool copy_record(struct pd_stream *s, struct pd_bytes bytes)
{
	if (!s->corrected)
		s->corrected = pd_budget_alloc(s->session->budget, PD_CORRECTED_MAX);
	if (s->corrected)
		memcpy(s->corrected, bytes.data, bytes.size);
	return s->corrected;
}

bool pd_stream_correct_type(struct pd_stream *s, struct pd_record *r, struct pd_error *e)
{
	const struct pd_bytes bytes = r->frame.bytes;
	const uint32_t stated = r->frame.type;
	const enum fit own = judge_own_type(r);
	uint32_t type;

	if (own == FITS || bytes.data == s->corrected)
		return false;
	pd_lost_prepare_search(s, &s->lost, r->frame.offset);
	if (!copy_record(s, bytes))
		return false;
	type = find_type(s, (struct pd_bytes){ s->corrected, bytes.size }, stated, own);
	if (type == stated)
		return false;
	r->frame.type = type;
	r->frame.wrong_type = type ^ stated;
	r->frame.desc = pd_record_desc(type);
	r->frame.bytes.data = s->corrected;
	pd_store(s->corrected, type, sizeof(type), s->session->swap);
	set_error(&r->frame, stated, e);
	return pd_record_prepare(r) == 0;
}

void pd_stream_store_type(struct pd_stream *s, struct pd_frame *f)
{
	if (f->bytes.size > PD_CORRECTED_MAX || !copy_record(s, f->bytes))
		return;
	pd_store(s->corrected, f->type, sizeof(f->type), s->session->swap);
	f->bytes.data = s->corrected;
}

/* Returns whether the fields of the frame's own type do not fill it. */
static bool is_misfit(const struct pd_stream *s, const struct pd_frame *f)
{
	struct pd_record r = { .frame = *f, .session = s->session };

	return !pd_resync_may_begin(f->type, f->size, f->desc) || pd_record_prepare(&r) ||
	       !r.plan || r.error.code != PD_OK || pd_record_trailing(&r).size ||
	       !pd_resync_text_ends_well(&r);
}

static bool holds_zstd(const struct pd_stream *s, const struct pd_frame *f, size_t at)
{
	return f->bytes.size >= at + sizeof(zstd_magic) &&
	       (s->zstd || memcmp(f->bytes.data + at, zstd_magic, sizeof(zstd_magic)) == 0) &&
	       is_misfit(s, f);
}

/* Returns whether the frame, the type of which is unknown, has the form of a feature. */
static bool holds_feature(const struct pd_stream *s, const struct pd_frame *f)
{
	struct pd_record r = { .frame = *f, .session = s->session };
	uint64_t id;

	r.frame.type = PD_RECORD_HEADER_FEATURE;
	r.frame.desc = pd_record_desc(r.frame.type);
	return !f->desc && s->session->is_pipe && pd_record_prepare(&r) == 0 &&
	       r.error.code == PD_OK && pd_record_get_number(&r, "feat_id", &id) && id &&
	       id < PD_FEATURE_BITS && pd_feature_desc((uint32_t)id);
}

/* Returns the type of a frame of perf itself that its bytes fit; 0 if none does, or its own. */
static uint32_t find_user_type(const struct pd_stream *s, const struct pd_frame *f)
{
	static const uint32_t types[] = { PD_RECORD_COMPRESSED, PD_RECORD_COMPRESSED2,
					  PD_RECORD_HEADER_FEATURE };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const uint32_t type = types[i];

		if (__builtin_popcount(f->type ^ type) == 1 &&
		    (type == PD_RECORD_HEADER_FEATURE ? holds_feature(s, f) :
		     holds_zstd(s, f, type == PD_RECORD_COMPRESSED ? HEADER : 2 * HEADER)))
			return type;
	}
	return 0;
}

bool pd_stream_correct_user_type(const struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint32_t stated = f->type, type = find_user_type(s, f);

	if (!type)
		return false;
	f->type = type;
	f->wrong_type = type ^ stated;
	f->desc = pd_record_desc(type);
	set_error(f, stated, e);
	return true;
}
