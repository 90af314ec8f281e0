/* row_coverage - decodes the files it is given and prints the rows of the layout tables that none
 * of them has.
 *
 * A row is there when a visitor is called with it. Reserved bytes, literals and counts that are not
 * shown have no call.
 */
#include <stdio.h>
#include <string.h>

#include "layout/container.h"
#include "pd/pd.h"
#include "plan/walk.h"
#include "reader/reader.h"

#define MAX_ROWS 8192

static const struct pd_field *seen[MAX_ROWS];	/* a hash table, open */
static unsigned int missing;

static size_t place_of(const struct pd_field *f)
{
	size_t i = (size_t)((uintptr_t)f / sizeof(void *) * 0x9e3779b97f4a7c15ull >> 51) % MAX_ROWS;

	while (seen[i] && seen[i] != f)
		i = (i + 1) % MAX_ROWS;
	return i;
}

static void see(const struct pd_field *f)
{
	if (f)
		seen[place_of(f)] = f;
}

static void on_number(void *ctx, const struct pd_field *f, uint64_t v)
{
	(void)ctx, (void)v;
	see(f);
}

static void on_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	(void)ctx;
	if (n->count)
		see(f);
}

static void on_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	(void)ctx;
	if (bytes.size)
		see(f);
}

static void on_enter(void *ctx, const struct pd_field *f)
{
	(void)ctx;
	see(f);
}

static void on_array(void *ctx, const struct pd_field *f, size_t n)
{
	(void)ctx;
	if (n)
		see(f);
}

static const struct pd_visitor visitor = {
	.size = sizeof(visitor),
	.number = on_number,
	.numbers = on_numbers,
	.text = on_bytes,
	.bytes = on_bytes,
	.enter = on_enter,
	.enter_array = on_array,
};

static void visit_feature(struct pd_session *s, uint32_t id, struct pd_bytes section)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);
	struct pd_plan *plan = d ? pd_session_feature_plan(s, d) : NULL;
	struct pd_extent_of extent;

	if (!plan)
		return;
	pd_measure(plan, section, 0, s->swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, section, 0, s->swap, &extent, &visitor, NULL);
}

static int decode(const char *path)
{
	struct pd_error e;
	const struct pd_record *record;
	struct pd_reader *r = pd_reader_open_path(path, NULL, &e);

	if (!r) {
		fprintf(stderr, "%s: %s\n", path, pd_code_name(e.code));
		return 1;
	}
	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		struct pd_feature f;

		if (pd_reader_feature(r, i, &f, &e) == 0)
			visit_feature(pd_reader_session(r), f.id, f.bytes);
	}
	while (pd_reader_next(r, &record, &e) > 0)
		pd_record_visit(record, &visitor, NULL);
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++)
		pd_attr_visit(r, pd_reader_attr(r, i), &visitor, NULL);
	pd_reader_free(r);
	return 0;
}

static void report(const char *table, const char *path, const struct pd_field *rows)
{
	for (; rows->kind != PD_END; rows++) {
		const bool shown = rows->kind != PD_PAD && rows->kind != PD_LITERAL &&
				   rows->kind != PD_GROUP && rows->show != PD_HIDDEN;
		char inside[256];

		if (shown && !seen[place_of(rows)]) {
			printf("%s %s%s\n", table, path, rows->name[0] ? rows->name : "(element)");
			missing++;
		} else if (rows->fields) {
			/* a missing row stands for the rows inside it */
			snprintf(inside, sizeof(inside), "%s%s%s", path, rows->name,
				 rows->kind == PD_GROUP	  ? ""
				 : rows->kind == PD_ARRAY ? "[]."
							  : ".");
			report(table, inside, rows->fields);
		}
	}
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= decode(argv[i]);
	for (size_t i = 0; pd_record_desc_at(i); i++)
		report(pd_record_desc_at(i)->name, "", pd_record_desc_at(i)->fields);
	for (size_t i = 0; pd_feature_desc_at(i); i++)
		report("feature", "", pd_feature_desc_at(i)->field);
	report("sample_id", "", pd_sample_id_fields);
	report("attrs", "", pd_file_attr_fields);
	return failed || missing;
}
