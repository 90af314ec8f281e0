/* tracepoint.h - the raw data of tracepoint samples, by the kernel's format texts.
 *
 * A format text is what stands in tracefs under events/SYSTEM/NAME/format, and what a recording
 * keeps of it in its TRACING_DATA. Its `field:` lines say where each field is in the raw data;
 * `print fmt` is not looked at. Data and texts are the recording machine's: its byte order and
 * word size come with the texts and may differ from the file's.
 */
#ifndef PD_TRACEPOINT_TRACEPOINT_H
#define PD_TRACEPOINT_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/visit.h"

/* What a field's value is; which callback it comes by. */
enum pd_tp_kind {
	PD_TP_UNSIGNED,		/* number: 1, 2, 4 or 8 bytes */
	PD_TP_SIGNED,		/* number, sign-extended */
	PD_TP_POINTER,		/* number, best seen in hex */
	PD_TP_STRING,		/* text: of char, cut at the first NUL */
	PD_TP_INTS,		/* numbers: elem_size, is_signed and is_pointer tell of what kind */
	PD_TP_BYTES,		/* bytes: structs, and whatever is of no number's size */
};

/* Where its bytes are. */
enum pd_tp_place {
	PD_TP_FIXED,		/* `size` bytes at `offset` */
	PD_TP_REST,		/* from `offset` to the end: an array without a length */
	PD_TP_DATA_LOC,		/* a u32 at `offset`: length << 16 | offset in the data */
	PD_TP_REL_LOC,		/* the same, its offset counted from behind the u32 */
};

struct pd_tp_field {
	/* Letters, digits and '_'. None is called like another, or like a string's plus `_hex`. */
	const char *name;
	const char *key;	/* `,"name":` */
	const char *type;	/* the declaration without the name: "char[16]"; any bytes */
	uint32_t offset, size;
	uint16_t name_size, key_size;
	uint8_t kind, place;	/* enum pd_tp_kind, enum pd_tp_place */
	uint8_t elem_size;	/* STRING, INTS: bytes of an element; else 0 */
	bool is_signed, is_pointer;	/* of an element, or the number */
};

struct pd_tp_event {
	const char *system, *name;	/* any bytes but NUL */
	uint64_t id;			/* attr.config, and common_type of the data */
	const struct pd_tp_field *fields;	/* as the text has them, common_ ones included */
	size_t nr_fields;		/* at least 1 */
	uint64_t min_size;		/* bytes that hold every fixed part */
	enum pd_swap swap;
};

/* A format text and the machine it is from. */
struct pd_tp_source {
	struct pd_bytes system, text;
	unsigned int long_size;		/* 4; anything else is taken as 8 */
	enum pd_swap swap;
};

/* What was wrong with a text, beside the fields that are good. */
struct pd_tp_damage {
	size_t lines;			/* left out: not understood, or a field too many */
	size_t offset;			/* of the first of them in the text */
};

/* Fields beyond these bounds are damage; a kernel's events have a few dozen, with short names. */
#define PD_TP_MAX_FIELDS 256
#define PD_TP_MAX_DECLARATION 512
/* Also of an event's system: a text whose system is longer is refused. */
#define PD_TP_MAX_NAME 255

/* Reads one text; strings and fields are the arena's. PD_OK with damage->lines 0: the text is
 * whole. PD_E_FORMAT: it has no ID or no field. PD_E_LIMIT, PD_E_NOMEM. */
enum pd_code pd_tp_parse(struct pd_arena *a, const struct pd_tp_source *in, struct pd_tp_event *e,
			 struct pd_tp_damage *damage);
/* Which of PD_E_LIMIT and PD_E_NOMEM it was that made the arena fail. */
enum pd_code pd_tp_no_memory(const struct pd_arena *a);

/* The events of a file, by id. NULL when the budget is used up. */
struct pd_tracepoints;
struct pd_tracepoints *pd_tracepoints_new(struct pd_budget *budget);
/* As pd_tp_parse(), or PD_E_DUPLICATE: the id is known and its first event stays. */
enum pd_code pd_tracepoints_add(struct pd_tracepoints *t, const struct pd_tp_source *in,
				struct pd_tp_damage *damage);
/* NULL where there is none; the event lives as long as t. At most 64 steps. */
const struct pd_tp_event *pd_tracepoints_find(const struct pd_tracepoints *t, uint64_t id);
void pd_tracepoints_free(struct pd_tracepoints *t);

/* Callbacks; each may be NULL. Spans are borrowed from the raw data. */
struct pd_tp_visitor {
	void (*number)(void *ctx, const struct pd_tp_field *f, uint64_t value);
	void (*numbers)(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *n);
	void (*text)(void *ctx, const struct pd_tp_field *f, struct pd_bytes text);
	void (*bytes)(void *ctx, const struct pd_tp_field *f, struct pd_bytes bytes);
	/* The data are too short for it, or its length and offset point outside. */
	void (*missing)(void *ctx, const struct pd_tp_field *f);
};

/* Every field in the order of the text, each by one call. Returns how many were missing. All spans
 * given out come to four times the data at most: fields that share bytes beyond that are missing
 * too. */
size_t pd_tp_decode(const struct pd_tp_event *e, struct pd_bytes raw, const struct pd_tp_visitor *v,
		    void *ctx);

/* Its parts. What spans may come to before the first field; each takes its bytes and one more. */
static inline uint64_t pd_tp_allowance(struct pd_bytes raw)
{
	return 4 * (uint64_t)raw.size;
}
/* One field. False: it is missing. */
bool pd_tp_decode_field(const struct pd_tp_event *e, const struct pd_tp_field *f, struct pd_bytes raw, uint64_t *left,
			const struct pd_tp_visitor *v, void *ctx);
/* The fields from `from` on. */
size_t pd_tp_decode_from(const struct pd_tp_event *e, size_t from, struct pd_bytes raw, uint64_t left,
			 const struct pd_tp_visitor *v, void *ctx);

/* The i-th element, i < n->count, sign-extended where the field's are signed. */
uint64_t pd_tp_element(const struct pd_tp_field *f, const struct pd_numbers *n, size_t i);

#endif
