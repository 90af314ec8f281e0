/* check_tables.h - declarations shared by the check*.c files. */
#ifndef PD_LINT_CHECK_TABLES_H
#define PD_LINT_CHECK_TABLES_H

#include "base/arena.h"
#include "layout/desc.h"

#define PD_CHECK_PATH 160

/* A path of the output and its type. */
struct pd_check_path {
	struct pd_check_path *next;
	const char *path, *type, *table;
};

struct pd_check {
	void (*complain)(void *ctx, const char *text);
	void *ctx;
	size_t complaints;
	struct pd_arena arena;
	struct pd_check_path *paths;
	const char *table;		/* the current record type or feature */
};

/* Reports "TABLE path: text". */
__attribute__((format(printf, 3, 4))) void pd_check_complain(struct pd_check *c, const char *path,
							     const char *text, ...);

/* Checks the single rows of a table (check_rows.c). */
void pd_check_rows(struct pd_check *c, const struct pd_field *rows);
void pd_check_names(struct pd_check *c, const char *path, const struct pd_name *names,
		    unsigned int bits);
/* Checks the keys: unique within an object, and with one type in all tables (check_keys.c).
 * `prefix` is the path of the rows' object: "" for a record, "features." for a feature. */
void pd_check_keys(struct pd_check *c, const struct pd_field *rows, const char *prefix);
/* Checks the plans made of the rows: every name is found (check_plans.c). */
enum pd_check_misc { PD_CHECK_NO_MISC, PD_CHECK_HAS_MISC };
void pd_check_plans(struct pd_check *c, const struct pd_field *rows, enum pd_check_misc has_misc);

/* Reports each number from `first` to `end` - 1 without a name. */
void pd_check_numbers(struct pd_check *c, uint32_t first, uint32_t end,
		      const char *(*name_of)(uint32_t number));

/* Returns whether it is an array of values without keys. */
static inline bool pd_check_is_bare(const struct pd_field *row)
{
	return row->kind == PD_ARRAY && row->fields->kind != PD_GROUP && !row->fields->name[0];
}

#endif
