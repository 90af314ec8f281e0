/* describe.c - the schemas as files: parts first, then one for each record type. */
#include "schema/describe.h"

#include <errno.h>
#include <stdio.h>

#include "pd/schema.h"

static size_t nr_parts(void)
{
	size_t n = 0;

	while (pd_parts[n].name)
		n++;
	return n;
}

size_t pd_schema_count(void)
{
	size_t n = nr_parts(), records = 0;

	while (pd_record_desc_at(records))
		records++;
	return n + records;
}

char *pd_schema_name(size_t i, char *buf, size_t size)
{
	const size_t parts = nr_parts();

	if (!buf || !size)
		return buf;
	if (i >= pd_schema_count())
		buf[0] = '\0';
	else if (i < parts)
		snprintf(buf, size, "%s.schema.json", pd_parts[i].name);
	else
		snprintf(buf, size, "record-%s.schema.json", pd_record_desc_at(i - parts)->name);
	return buf;
}

static void write_schema_body(size_t i, struct pd_arena *arena, struct pd_buf *b)
{
	const size_t parts = nr_parts();
	const struct pd_record_desc *d = i < parts ? NULL : pd_record_desc_at(i - parts);
	char name[PD_SCHEMA_NAME_SIZE];

	pd_text_open(b, '{');
	pd_text_member(b, "$schema", "https://json-schema.org/draft/2020-12/schema");
	pd_text_member(b, "$id", pd_schema_name(i, name, sizeof(name)));
	pd_text_member(b, "title", d ? d->name : pd_parts[i].title);
	pd_text_member(b, "description", d ? d->doc : pd_parts[i].doc);
	if (d)
		pd_describe_record(d, arena, b);
	else
		pd_parts[i].write(arena, b);
	pd_text_close(b, '}');
}

int pd_schema_write(size_t i, struct pd_output out)
{
	struct pd_budget budget = { .limit = PD_DESCRIBE_MEMORY };
	struct pd_arena arena = { .budget = &budget };
	struct pd_buf json = { .budget = &budget }, laid_out = { .budget = &budget };
	int err = ENOMEM;

	if (i >= pd_schema_count() || !out.write)
		return EINVAL;
	write_schema_body(i, &arena, &json);
	if (!json.failed)
		pd_text_lay_out(pd_buf_bytes(&json), &laid_out);
	if (!json.failed && !laid_out.failed)
		err = out.write(out.ctx, laid_out.data, laid_out.size);
	pd_buf_free(&json);
	pd_buf_free(&laid_out);
	pd_arena_free(&arena);
	return err;
}
