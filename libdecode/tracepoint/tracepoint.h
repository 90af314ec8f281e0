/* tracepoint.h - decode the raw data of tracepoint samples by the kernel's format texts.
 *
 * A format text is the content of events/SYSTEM/NAME/format in tracefs, which a recording keeps in
 * its TRACING_DATA. Its `field:` lines state the position of each field in the raw data; `print
 * fmt` is kept for callers. Byte order and word size of data and texts are those of the recording
 * machine, which may differ from the file's.
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

/* The kind of a field's value, which selects the callback. */
enum pd_tp_kind {
	PD_TP_UNSIGNED,		/* number: 1, 2, 4 or 8 bytes */
	PD_TP_SIGNED,		/* number, sign-extended */
	PD_TP_POINTER,		/* number, shown in hex */
	PD_TP_STRING,		/* text of char, up to the first NUL */
	PD_TP_INTS,		/* numbers, as elem_size, is_signed and is_pointer state */
	PD_TP_BYTES,		/* bytes: structs, and sizes that no number has */
};

/* The position of its bytes. */
enum pd_tp_place {
	PD_TP_FIXED,		/* `size` bytes at `offset` */
	PD_TP_REST,		/* from `offset` to the end: an array without a length */
	PD_TP_DATA_LOC,		/* a u32 at `offset`: length << 16 | offset in the data */
	PD_TP_REL_LOC,		/* the same, with the offset relative to the end of the u32 */
};

struct pd_tp_field {
	/* Letters, digits and '_'. Unique, also among the names of strings with `_hex`. */
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
	const char *print_format;	/* what follows `print fmt:`; likewise */
	uint64_t id;			/* attr.config, and common_type of the data */
	const struct pd_tp_field *fields;	/* as the text has them, common_ ones included */
	size_t nr_fields;		/* at least 1 */
	uint64_t min_size;		/* bytes that hold every fixed part */
	const struct pd_tp_field *syscall;	/* the number of a system call, or NULL */
	enum pd_swap swap;
};

/* A format text and the machine it is from. */
struct pd_tp_source {
	struct pd_bytes system, text;
	unsigned int long_size;		/* 4, or 8 for any other value */
	enum pd_swap swap;
};

/* Damage of a text; its other fields are valid. */
struct pd_tp_damage {
	size_t lines;			/* skipped lines: not understood, or too many fields */
	size_t offset;			/* of the first of them in the text */
};

/* Fields beyond these bounds are damage; a kernel's events have a few dozen, with short names. */
#define PD_TP_MAX_FIELDS 256
#define PD_TP_MAX_DECLARATION 512
/* Also for an event's system: texts with a longer one are refused. */
#define PD_TP_MAX_NAME 255

/* Parses one text; strings and fields are in the arena. PD_OK with damage->lines 0 means that the
 * text is complete. PD_E_FORMAT: no ID or no field. PD_E_LIMIT, PD_E_NOMEM. */
enum pd_code pd_tp_parse(struct pd_arena *a, const struct pd_tp_source *in, struct pd_tp_event *e,
			 struct pd_tp_damage *damage);
/* Returns PD_E_LIMIT or PD_E_NOMEM, whichever made the arena fail. */
enum pd_code pd_tp_no_memory(const struct pd_arena *a);

/* The events of a file, by id. NULL when the budget is used up. */
struct pd_tracepoints;
struct pd_tracepoints *pd_tracepoints_new(struct pd_budget *budget);
/* Like pd_tp_parse(); returns PD_E_DUPLICATE if the id is known, and keeps the first event. */
enum pd_code pd_tracepoints_add(struct pd_tracepoints *t, const struct pd_tp_source *in,
				struct pd_tp_damage *damage);
/* Returns NULL if there is none. Borrowed until t is freed. At most 64 steps. */
const struct pd_tp_event *pd_tracepoints_find(const struct pd_tracepoints *t, uint64_t id);
void pd_tracepoints_free(struct pd_tracepoints *t);

/* Callbacks; each may be NULL. Spans are borrowed from the raw data. */
struct pd_tp_visitor {
	void (*number)(void *ctx, const struct pd_tp_field *f, uint64_t value);
	void (*numbers)(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *n);
	void (*text)(void *ctx, const struct pd_tp_field *f, struct pd_bytes text);
	void (*bytes)(void *ctx, const struct pd_tp_field *f, struct pd_bytes bytes);
	/* The data is too short for it, or its length and offset are out of range. */
	void (*missing)(void *ctx, const struct pd_tp_field *f);
};

/* Visits every field in the order of the text, each by one call. Returns the number of missing
 * fields. All spans together are at most four times the data: fields that share bytes beyond that
 * are missing, too. */
size_t pd_tp_decode(const struct pd_tp_event *e, struct pd_bytes raw, const struct pd_tp_visitor *v,
		    void *ctx);

/* Returns the error of a sample whose raw data, `have` bytes, lack fields of a format that needs at
 * least `want`. */
struct pd_error pd_tp_shortage(uint64_t offset, uint64_t want, uint64_t have, const char *file);

/* Parts of pd_tp_decode(). Returns the limit for all spans; each uses its bytes and one more. */
static inline uint64_t pd_tp_allowance(struct pd_bytes raw)
{
	return 4 * (uint64_t)raw.size;
}
/* Visits one field. Returns false if it is missing. */
bool pd_tp_decode_field(const struct pd_tp_event *e, const struct pd_tp_field *f,
			struct pd_bytes raw, uint64_t *left,
			const struct pd_tp_visitor *v, void *ctx);

/* Returns the i-th element, i < n->count, sign-extended if the field's elements are signed. */
uint64_t pd_tp_element(const struct pd_tp_field *f, const struct pd_numbers *n, size_t i);

#endif
