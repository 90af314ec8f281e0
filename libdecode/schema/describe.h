/* describe.h - layout tables as JSON Schema: what the parts of describe*.c give each other. */
#ifndef PD_SCHEMA_DESCRIBE_H
#define PD_SCHEMA_DESCRIBE_H

#include "base/arena.h"
#include "layout/desc.h"
#include "schema/describe_text.h"

#define PD_DESCRIBE_MEMORY (16u << 20)

/* Patterns of the contract's values. */
#define PD_PATTERN_HEX "^([0-9a-f]{2})*$"
#define PD_PATTERN_ADDRESS "^0x(0|[1-9a-f][0-9a-f]{0,15})$"
#define PD_RANGE_U64 "'minimum':0,'maximum':18446744073709551615"
#define PD_RANGE_U32 "'minimum':0,'maximum':4294967295"

/* How a member of an object came to be there. */
struct pd_member {
	struct pd_member *next;		/* in the order of the rows */
	struct pd_member *other;	/* the same key in another case */
	const char *name, *suffix;	/* the key: both */
	const struct pd_field *row;	/* what describes the value ... */
	const struct pd_bits *bits;	/* ... or a part of row ... */
	const char *json;		/* ... or the members of its schema, as for pd_text_json() */
	const struct pd_when *when;	/* the one condition it depends on, if it is one */
	bool required;
};

/* The members of an object, those of alternatives together. */
struct pd_members {
	struct pd_arena *arena;
	struct pd_member *first, **end;
	bool failed;			/* no memory */
};

void pd_members_init(struct pd_members *m, struct pd_arena *arena);
void pd_members_of_rows(struct pd_members *m, const struct pd_field *rows);
void pd_members_add(struct pd_members *m, const char *name, const char *suffix, const char *json);
/* "key":schema of each. */
void pd_members_write(struct pd_members *m, struct pd_buf *b);
bool pd_members_any_required(const struct pd_members *m);
/* "required":[...] of those that are always there; nothing when there is none. */
void pd_members_required(const struct pd_members *m, struct pd_buf *b);

/* The schema of a row's value, with its braces. */
void pd_describe_row(const struct pd_field *row, struct pd_arena *arena, struct pd_buf *b);
/* The members of the schema of an object of rows, without braces. */
void pd_describe_object(const struct pd_field *rows, struct pd_arena *arena, struct pd_buf *b);
/* Schema members of one of the names, or its number where the width leaves unnamed ones. */
void pd_describe_enum(const struct pd_name *names, unsigned int bits, struct pd_buf *b);
/* Schema members of a list of names: of flags. */
void pd_describe_names(const struct pd_name *names, struct pd_buf *b);
/* Schema of a part of a row's number. */
void pd_describe_bits(const struct pd_bits *bits, struct pd_buf *b);

/* The files that do not follow from rows alone (describe_parts.c), without braces. */
struct pd_part {
	const char *name, *title, *doc;
	void (*write)(struct pd_arena *arena, struct pd_buf *b);
};
extern const struct pd_part pd_parts[];		/* the last one's name is NULL */
void pd_describe_record(const struct pd_record_desc *d, struct pd_arena *arena, struct pd_buf *b);

#endif
