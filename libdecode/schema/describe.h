/* describe.h - layout tables as JSON Schema: shared by the describe*.c files. */
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

/* The origin of a member of an object. */
struct pd_member {
	struct pd_member *next;		/* in the order of the rows */
	struct pd_member *other;	/* the same key under another condition */
	const char *name, *suffix;	/* the key: both */
	const struct pd_field *row;	/* description of the value: a row ... */
	const struct pd_bits *bits;	/* ... or a part of row ... */
	/* ... or the members of its schema, as for pd_text_json() */
	const char *json;
	const struct pd_when *when;	/* its only condition, or NULL */
	bool required;
};

/* The members of an object; members of alternatives share a key. */
struct pd_members {
	struct pd_arena *arena;
	struct pd_member *first, **end;
	bool failed;			/* out of memory */
};

void pd_members_init(struct pd_members *m, struct pd_arena *arena);
void pd_members_of_rows(struct pd_members *m, const struct pd_field *rows);
void pd_members_add(struct pd_members *m, const char *name, const char *suffix, const char *json);
/* Writes "key":schema for each member. */
void pd_members_write(struct pd_members *m, struct pd_buf *b);
bool pd_members_any_required(const struct pd_members *m);
/* Writes "required":[...] with the members that always exist, or nothing. */
void pd_members_required(const struct pd_members *m, struct pd_buf *b);

/* Writes the schema of a row's value, with braces. */
void pd_describe_row(const struct pd_field *row, struct pd_arena *arena, struct pd_buf *b);
/* Writes the members of the schema of an object of rows, without braces. */
void pd_describe_object(const struct pd_field *rows, struct pd_arena *arena, struct pd_buf *b);
/* Writes schema members for one of the names, or a number if some values have no name. */
void pd_describe_enum(const struct pd_name *names, unsigned int bits, struct pd_buf *b);
/* Writes schema members for a list of flag names. */
void pd_describe_names(const struct pd_name *names, struct pd_buf *b);
/* Writes the schema of a part of a row's number. */
void pd_describe_bits(const struct pd_bits *bits, struct pd_buf *b);

/* Schemas of where an address is, without braces (describe_locations.c). */
void pd_describe_frame(struct pd_arena *arena, struct pd_buf *b);
void pd_describe_table_frame(struct pd_arena *arena, struct pd_buf *b);
void pd_describe_image(struct pd_arena *arena, struct pd_buf *b);

/* The schemas that do not follow from rows alone (describe_parts.c), without braces. */
struct pd_part {
	const char *name, *title, *doc;
	void (*write)(struct pd_arena *arena, struct pd_buf *b);
};
extern const struct pd_part pd_parts[];		/* the last one's name is NULL */

/* Writes the schema of a record: the keys of all records, and its fields; of an unknown one if
 * d is NULL. */
void pd_describe_record(const struct pd_record_desc *d, struct pd_arena *arena, struct pd_buf *b);

#endif
