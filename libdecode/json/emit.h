/* emit.h - emit programs: the text of one kind of record as literals and slots for its numbers.
 *
 * A program is compiled when its key is first seen, and then run for each record. It keeps no state
 * of earlier records.
 */
#ifndef PD_JSON_EMIT_H
#define PD_JSON_EMIT_H

#include "base/jsonw.h"
#include "plan/walk.h"

struct pd_json;

enum {
	PD_EMIT_PROGRAMS = 256,	/* a power of 2; on a hash collision the newer program replaces */
	PD_EMIT_SLOTS = 24,
	PD_EMIT_TEXT = 1024,
	PD_EMIT_STEP = 32,	/* literals are copied in steps: bytes after their end are too */
	PD_EMIT_AROUND = 128,	/* bytes that the caller may write with a program's */
};

enum pd_emit_how {
	PD_EMIT_NUMBER2,	/* an unsigned decimal of 2 bytes */
	PD_EMIT_NUMBER4,
	PD_EMIT_SIGNED4,
	PD_EMIT_NUMBER8,
	PD_EMIT_ADDRESS,	/* 8 bytes in hex */
	PD_EMIT_SIGNED,		/* a decimal of any width */
	PD_EMIT_OTHER,		/* an unsigned decimal of any width */
	PD_EMIT_VISIT,		/* the visitor writes the row with its key */
	PD_EMIT_UTC,		/* 8 bytes of a time: pd_json_utc() writes key and value */
};

struct pd_emit_slot {
	const struct pd_op *op;	/* VISIT only */
	int32_t offset;		/* of the number's bytes, from `start` of pd_emit_put() */
	uint16_t literal;	/* bytes of text after it */
	uint8_t width, how;
};

/* Identifies what a program is compiled for. */
struct pd_emit_key {
	const void *of;
	const struct pd_attr *attr;
	const char *file;
	uint64_t what, version;
};

/* The high bits of key.what.
 * RECORD: `of` is the first op, if the body begins with numbers; `what` has type and misc;
 * `version` is the attribute's generation and the session's arch_changes.
 * FIELDS, TRAILER: `of` is the first op; `what` has the number of ops; `version` is arch_changes.
 * TRACEPOINT: `of` is the first field. */
#define PD_EMIT_RECORD (1ull << 56)
#define PD_EMIT_FIELDS (2ull << 56)
#define PD_EMIT_TRAILER (3ull << 56)
#define PD_EMIT_TRACEPOINT (4ull << 56)

struct pd_emit {
	struct pd_emit_key key;
	uint32_t nr_slots;
	uint32_t size;		/* of text */
	uint32_t max;		/* bytes that the slots may write */
	uint16_t head;		/* bytes of text before the first slot */
	bool is_unusable;	/* something did not fit */
	bool is_whole;		/* of a record: writes all of it, from bytes and key alone */
	uint32_t nr_fields;	/* of a tracepoint: fields that the program writes */
	uint64_t cost;		/* of these fields, see pd_tp_allowance() */
	struct pd_emit_slot slots[PD_EMIT_SLOTS];
	char text[PD_EMIT_TEXT + PD_EMIT_STEP];
};

/* Returns the entry for a key. If its program has another key (pd_emit_is_for()), the caller must
 * compile a new one there, beginning with pd_emit_begin(). */
static inline struct pd_emit *pd_emit_lookup(struct pd_emit *programs,
					     const struct pd_emit_key *key)
{
	const uint64_t of = (uintptr_t)key->of ^ (uintptr_t)key->attr;
	const uint64_t hash = (of ^ key->what * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	return &programs[hash >> 32 & (PD_EMIT_PROGRAMS - 1)];
}

static inline bool pd_emit_is_for(const struct pd_emit *p, const struct pd_emit_key *key)
{
	return p->key.of == key->of && p->key.attr == key->attr && p->key.file == key->file &&
	       p->key.what == key->what && p->key.version == key->version;
}

void pd_emit_begin(struct pd_emit *p, const struct pd_emit_key *key);
/* Appends a literal. Its comma is left out after an opening brace. */
void pd_emit_add_text(struct pd_emit *p, const char *text, size_t n);
/* Appends a slot for a number shown as decimal, signed or (if 8 bytes wide) hex. */
void pd_emit_add_number(struct pd_emit *p, int32_t offset, unsigned int width, enum pd_show show);
/* Appends the first n ops of a list, with their keys. */
void pd_emit_add_ops(struct pd_emit *p, const struct pd_json *j, const struct pd_op *ops,
		     size_t n);
/* Ends the program: it is unusable unless all of it fits and it begins with a literal. */
void pd_emit_end(struct pd_emit *p);

/* Runs a program: writes its text without the first `skip` (0 or 1) bytes, with the numbers at
 * `start`, to `at` in the buffer of j->w, where there must be room for PD_JSONW_SLACK -
 * PD_EMIT_AROUND bytes. Returns the end. May move j->w.at. */
char *pd_emit_put(struct pd_json *j, const struct pd_emit *p, size_t skip, char *at,
		  const uint8_t *start, enum pd_swap swap);

/* A writer whose text becomes a literal. */
struct pd_emit_scratch {
	struct pd_jsonw w;
	char text[1 + 2 * PD_JSONW_SLACK];
};
void pd_emit_scratch_init(struct pd_emit_scratch *s);
/* Appends the text that was written to the scratch writer, and empties it. */
void pd_emit_add_scratch(struct pd_emit *p, struct pd_emit_scratch *s);

#endif
