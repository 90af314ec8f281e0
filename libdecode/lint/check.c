/* check.c - check every table. */
#include "lint/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout/container.h"
#include "layout/names_tables.h"
#include "layout/records.h"
#include "lint/check_tables.h"
#include "pd/pd.h"

static void check_all(struct pd_check *c, const char *table, const struct pd_field *rows,
		      const char *prefix, enum pd_check_misc has_misc)
{
	c->table = table;
	pd_check_rows(c, rows);
	pd_check_keys(c, rows, prefix);
	pd_check_plans(c, rows, has_misc);
}

/* Returns whether the key exists in records of all types. */
static bool is_common_key(const struct pd_record_desc *d, const struct pd_field *row)
{
	static const char *const keys[] = {
		"kind", "offset", "inner_offset", "file", "type", "type_id", "size", "cut", "misc",
		"cpumode", "misc_flags", "attr_index", "event", "sample_id", "trailing", "padding",
		"body", "frames",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(keys[i], row->name) == 0)
			return true;
	/* `data` is either a field or the payload */
	return d->payload && strcmp(row->name, "data") == 0 && row->when.on != PD_ON_TEST;
}

static void check_common_keys(struct pd_check *c, const struct pd_record_desc *d,
			      const struct pd_field *rows)
{
	for (; rows->kind != PD_END; rows++) {
		if (rows->kind == PD_GROUP)
			check_common_keys(c, d, rows->fields);
		else if (rows->kind != PD_PAD && rows->kind != PD_LITERAL && is_common_key(d, rows))
			pd_check_complain(c, rows->name, "is a key of every record");
	}
}

static bool has_row(const struct pd_field *rows, const char *name)
{
	for (; rows->kind != PD_END; rows++)
		if (rows->kind == PD_UINT && strcmp(rows->name, name) == 0)
			return true;
	return false;
}

static void check_record(struct pd_check *c, const struct pd_record_desc *d)
{
	check_all(c, d->name, d->fields, "", PD_CHECK_HAS_MISC);
	check_common_keys(c, d, d->fields);
	if (!d->doc || !d->doc[0])
		pd_check_complain(c, "", "has no doc");
	if (pd_record_desc(d->type) != d)
		pd_check_complain(c, "", "type %" PRIu32 " is not found in its table", d->type);
	if (d->payload && !has_row(d->fields, d->payload))
		pd_check_complain(c, d->payload, "the size of the payload has no row");
	if (d->misc)
		pd_check_names(c, "misc", d->misc, 16);
	for (const struct pd_name *n = d->misc; n && n->name; n++)
		if (d->cpumode && n->value & PD_MISC_CPUMODE)
			pd_check_complain(c, "misc", "%s is among the bits of cpumode", n->name);
	if (d->type >= PD_RECORD_USER_START && (d->task || d->event || d->names_thread))
		pd_check_complain(c, "", "filters test only the type of perf's own records");
	if (d->trailer == PD_TRAILER && d->type >= PD_RECORD_USER_START)
		pd_check_complain(c, "", "perf's own records have no trailer");
}

void pd_check_numbers(struct pd_check *c, uint32_t first, uint32_t end,
		      const char *(*name_of)(uint32_t number))
{
	c->table = "numbers";
	for (uint32_t number = first; number < end; number++)
		if (!name_of(number))
			pd_check_complain(c, "", "%" PRIu32 " has no row", number);
}

static const char *record_name(uint32_t type)
{
	const struct pd_record_desc *d = pd_record_desc(type);

	return d ? d->name : NULL;
}

static const char *feature_name(uint32_t id)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);

	return d ? d->field->name : NULL;
}

static void check_all_numbers(struct pd_check *c)
{
	pd_check_numbers(c, PD_RECORD_MMAP, PD_RECORD_KERNEL_END, record_name);
	pd_check_numbers(c, PD_RECORD_USER_START, PD_RECORD_USER_END, record_name);
	pd_check_numbers(c, PD_RECORD_SIMPLEPERF_START, PD_RECORD_SIMPLEPERF_END, record_name);
	pd_check_numbers(c, PD_FEATURE_TRACING_DATA, PD_FEATURE_PERF_END, feature_name);
	pd_check_numbers(c, PD_FEATURE_SIMPLEPERF_START, PD_FEATURE_SIMPLEPERF_END, feature_name);
}

static void check_records(struct pd_check *c)
{
	const struct pd_record_desc *d, *before = NULL;

	for (size_t i = 0; (d = pd_record_desc_at(i)); before = d, i++) {
		check_record(c, d);
		if (before && d->type <= before->type)
			pd_check_complain(c, "", "comes after a higher type");
		for (size_t j = 0; j < i; j++)
			if (strcmp(pd_record_desc_at(j)->name, d->name) == 0)
				pd_check_complain(c, "", "another type has the same name");
	}
}

static void check_feature(struct pd_check *c, const struct pd_feature_desc *d)
{
	const char *name = pd_name_of(pd_names_feature, d->id);

	check_all(c, d->field->name, d->field, "features.", PD_CHECK_NO_MISC);
	if (d->field[1].kind != PD_END)
		pd_check_complain(c, "", "a feature must be one row");
	if (!name || strcmp(name, d->field->name) != 0)
		pd_check_complain(c, "", "its name in feat_id is %s", name ? name : "nothing");
	if (strncmp(d->field->name, "FEATURE_", 8) == 0)
		pd_check_complain(c, "", "looks like an unknown feature");
	if (d->id >= PD_FEATURE_BITS)
		pd_check_complain(c, "", "there is no such feature bit");
}

static void check_features(struct pd_check *c)
{
	const struct pd_feature_desc *d;
	uint32_t before = 0;

	for (size_t i = 0; (d = pd_feature_desc_at(i)); before = d->id, i++) {
		check_feature(c, d);
		if (d->id <= before)
			pd_check_complain(c, "", "comes after a higher bit");
	}
}

size_t pd_check_tables(void (*complain)(void *ctx, const char *text), void *ctx)
{
	struct pd_budget budget = { .limit = 16u << 20 };
	struct pd_check c = { .complain = complain, .ctx = ctx, .arena = { .budget = &budget },
		.table = "names" };

	pd_check_names(&c, "cpumode", pd_names_cpumode, 3);
	check_all_numbers(&c);
	check_records(&c);
	check_features(&c);
	check_all(&c, "sample_id", pd_sample_id_fields, "sample_id.", PD_CHECK_NO_MISC);
	check_all(&c, "attr", pd_file_attr_fields, "", PD_CHECK_NO_MISC);
	check_all(&c, "file header", pd_file_header_fields, "header.", PD_CHECK_NO_MISC);
	check_all(&c, "section", pd_section_fields, "section.", PD_CHECK_NO_MISC);
	check_all(&c, "own table", pd_own_table_fields, "own_table.", PD_CHECK_NO_MISC);
	check_all(&c, "own entry", pd_own_entry_fields, "own_table.", PD_CHECK_NO_MISC);
	check_all(&c, "event type", pd_event_type_fields, "file.event_types[].", PD_CHECK_NO_MISC);
	pd_arena_free(&c.arena);
	return c.complaints;
}
