/* describe_doc.c - the layouts as a readable page: a table for each record type and feature. */
#include "schema/describe.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout/names_tables.h"
#include "pd/schema.h"

#define PATH_SIZE 128
#define FEW_NAMES 8

/* The position of a row: path of its object, outer lists, and the group it is in. */
struct place {
	const struct place *outer;
	const struct pd_field *rows;
	const struct pd_field *group;	/* in outer->rows: the group these rows are of, or NULL */
	const struct pd_name *misc;
	char path[PATH_SIZE];
};

__attribute__((format(printf, 2, 3))) static void append(struct pd_buf *b, const char *format, ...)
{
	char text[1000];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pd_buf_append(b, text, strlen(text));
}

/* Appends text in a table cell. */
static void put_cell(struct pd_buf *b, const char *text)
{
	for (; *text; text++)
		append(b, *text == '|' ? "\\|" : "%c", *text);
}

static const struct pd_field *find_row(const struct pd_field *rows, const char *name, size_t size)
{
	for (; rows->kind != PD_END; rows++) {
		const struct pd_field *inside = rows->kind == PD_GROUP ?
			find_row(rows->fields, name, size) : NULL;

		if (inside)
			return inside;
		if (strncmp(rows->name, name, size) == 0 && !rows->name[size])
			return rows;
	}
	return NULL;
}

/* Returns the names of a sibling's values, or NULL for numbers. */
static const struct pd_name *sibling_names(const struct place *p, const char *sibling)
{
	const char *dot = strchr(sibling, '.');
	const struct pd_name *misc = p->misc;

	for (; p; p = p->outer) {
		const struct pd_field *row = find_row(p->rows, sibling, dot ?
						      (size_t)(dot - sibling) : strlen(sibling));

		if (row && dot)
			row = find_row(row->fields, dot + 1, strlen(dot + 1));
		if (row)
			return row->names;
	}
	return strcmp(sibling, "misc") == 0 ? misc : NULL;
}

/* Appends bits by name, and the rest as a number. */
static void put_bits(struct pd_buf *b, const struct pd_name *names, uint64_t bits)
{
	const char *between = "";

	for (; names && names->name; names++)
		if (names->value && (bits & names->value) == names->value) {
			append(b, "%s%s", between, names->name);
			between = " or ";
			bits &= ~names->value;
		}
	if (bits)
		append(b, "%s0x%" PRIx64, between, bits);
}

static void put_attr_bits(struct pd_buf *b, const struct pd_when *w, const char *word,
			  const struct pd_name *names)
{
	append(b, "%s %s ", word, w->unless ? "lacks" : "has");
	put_bits(b, names, w->value);
}

static void put_condition(struct pd_buf *b, const struct pd_when *w, const struct place *p)
{
	const struct pd_name *names = w->sibling ? sibling_names(p, w->sibling) : NULL;
	const char *name = names ? pd_name_of(names, w->value) : NULL;

	switch (w->on) {
	case PD_ALWAYS:
		break;
	case PD_ON_SAMPLE_TYPE:
		put_attr_bits(b, w, "sample_type", pd_names_sample_type);
		break;
	case PD_ON_READ_FORMAT:
		put_attr_bits(b, w, "read_format", pd_names_read_format);
		break;
	case PD_ON_BRANCH_TYPE:
		put_attr_bits(b, w, "branch_sample_type", pd_names_branch_sample_type);
		break;
	case PD_ON_MASK:
		put_attr_bits(b, w, w->sibling, names);
		break;
	case PD_ON_EQUAL:
		append(b, "%s is %s", w->sibling, w->unless ? "not " : "");
		if (name)
			append(b, "%s", name);
		else
			append(b, "%" PRIu64, w->value);
		break;
	case PD_ON_AT_LEAST:
		append(b, "%s is %s %" PRIu64, w->sibling, w->unless ? "below" : "at least",
		       w->value);
		break;
	case PD_ON_TEST:
		append(b, "the bytes %s this layout", w->unless ? "don't fit" : "fit");
		break;
	case PD_ON_VARIANT:
		append(b, "the record's size requires it");
		break;
	}
	if (w->left)
		append(b, "%sat least %u bytes are left", w->on != PD_ALWAYS ? ", " : "", w->left);
}

/* Appends the conditions of the outer groups, then the row's own. */
static void put_when(struct pd_buf *b, const struct pd_when *own, const struct place *p)
{
	const bool has = own->on != PD_ALWAYS || own->left;

	if (p->group) {
		const struct pd_when *group = &p->group->when;
		struct pd_buf before = { .budget = b->budget };

		put_when(&before, group, p->outer);
		pd_buf_append(b, before.data, before.size);
		if (has && before.size)
			append(b, ", ");
		pd_buf_free(&before);
	}
	if (has)
		put_condition(b, own, p);
}

static void put_names(struct pd_buf *b, const char *what, const struct pd_name *names)
{
	size_t n = 0;

	append(b, "%s", what);
	while (names[n].name)
		n++;
	for (size_t i = 0; i < n && n <= FEW_NAMES; i++)
		append(b, "%s %s", i ? "," : ":", names[i].name);
}

static void put_shown(struct pd_buf *b, const struct pd_field *row)
{
	static const char *const shown[] = {
		[PD_DEC] = "integer", [PD_SIGNED] = "integer", [PD_HEX] =
			"hex address", [PD_FLOAT] = "number",
		[PD_MARKED] = "hex address or", [PD_BITS] = "bits, each a key", [PD_BITS_OBJECT] =
			"bits, in an object",
		[PD_BITS_RAW] = "bits, in an object with raw", [PD_HIDDEN] =
			"not shown", [PD_ORDER] = "little or big",
	};

	if (row->show == PD_ENUM)
		put_names(b, "name", row->names);
	else if (row->show == PD_FLAGS)
		put_names(b, "flags", row->names);
	else if (row->show == PD_MARKED)
		put_names(b, shown[PD_MARKED], row->names);
	else
		append(b, "%s", shown[row->show]);
	if (row->show == PD_SIGNED)
		append(b, ", signed");
}

static void put_count(struct pd_buf *b, const struct pd_count *c)
{
	switch (c->from) {
	case PD_COUNT_FIXED:
		append(b, "%" PRIu64, c->value);
		break;
	case PD_COUNT_SIBLING:
		append(b, "%s", c->sibling);
		break;
	case PD_COUNT_PRODUCT:
		append(b, "%s * %s", c->sibling, c->by);
		break;
	case PD_COUNT_WORDS:
		append(b, "%s / %" PRIu64, c->sibling, c->value);
		break;
	case PD_COUNT_INLINE:
		append(b, "(%" PRIu64 ")", c->value);
		break;
	case PD_COUNT_REST:
		append(b, "the rest");
		break;
	case PD_COUNT_REST_MOD:
		append(b, "the rest %% %" PRIu64, c->value);
		break;
	case PD_COUNT_ALIGN:
		append(b, "to %" PRIu64, c->value);
		break;
	case PD_COUNT_CPUS:
		append(b, "NRCPUS.available");
		break;
	case PD_COUNT_REGS_USER:
		append(b, "bits in sample_regs_user");
		break;
	case PD_COUNT_REGS_INTR:
		append(b, "bits in sample_regs_intr");
		break;
	}
}

/* Appends the size in bytes: "8", "nr x 8", "(4) x" for a count of 4 bytes just before. */
static void put_width(struct pd_buf *b, const struct pd_field *row)
{
	switch (row->kind) {
	case PD_UINT:
	case PD_CHARS:
	case PD_AREA:
	case PD_LITERAL:
		append(b, "%u", row->width);
		break;
	case PD_CSTR:
		append(b, "the rest");
		break;
	case PD_ZSTR:
		append(b, "to its NUL");
		break;
	case PD_FSTR:
		append(b, "(4)");
		break;
	case PD_TEXT:
	case PD_BYTES:
	case PD_PAD:
		put_count(b, &row->count);
		break;
	case PD_NUMBERS:
	case PD_REGISTERS:
		put_count(b, &row->count);
		append(b, " x %u", row->width);
		break;
	case PD_ARRAY:
		put_count(b, &row->count);
		append(b, " x");
		break;
	}
}

static void put_kind(struct pd_buf *b, const struct pd_field *row)
{
	switch (row->kind) {
	case PD_UINT:
		put_shown(b, row);
		break;
	case PD_NUMBERS:
		append(b, "array: ");
		put_shown(b, row);
		break;
	case PD_REGISTERS:
		append(b, "object by register: hex address");
		break;
	case PD_BYTES:
	case PD_AREA:
		append(b, "hex");
		break;
	case PD_PAD:
		append(b, "hex, if not 0");
		break;
	case PD_LITERAL:
		append(b, "not shown");
		break;
	case PD_ARRAY:
		append(b, "array");
		break;
	case PD_STRUCT:
	case PD_FEATURE:
		append(b, "object");
		break;
	default:
		append(b, "text");
		break;
	}
}

static void put_rows(struct pd_buf *b, const struct place *p);

static void put_bit_rows(struct pd_buf *b, const struct pd_field *row, const struct place *p)
{
	const bool flat = row->show == PD_BITS || row->show == PD_FLAGS;
	static const char *const kinds[] = {
		[PD_BIT_NUMBER] = "integer", [PD_BIT_ENUM] = "name", [PD_BIT_LIST] =
			"list of names",
		[PD_BIT_ENUM_LIST] = "list of a name", [PD_BIT_RESERVED] = "integer, where not 0",
	};

	for (const struct pd_bits *bits = row->bits; bits && bits->name; bits++) {
		append(b, "| `%s%s%s%s` | %s | bit", p->path, flat ? "" : row->name, flat ? "" :
		       ".", bits->name, kinds[bits->show]);
		if (bits->width > 1)
			append(b, "s %u-%u of %s | | | |\n", bits->shift,
			       bits->shift + bits->width - 1, row->name);
		else
			append(b, " %u of %s | | | |\n", bits->shift, row->name);
	}
}

/* A bare element has no name: the row of its array describes it, except its kind. */
static bool is_bare(const struct pd_field *row)
{
	return row->kind == PD_ARRAY && !row->fields->name[0] && row->fields->kind != PD_GROUP;
}

static void put_role(struct pd_buf *b, const struct pd_field *row)
{
	static const char *const roles[PD_NR_ROLES] = {
		[PD_ROLE_PID] = "pid", [PD_ROLE_TID] = "tid", [PD_ROLE_UID] = "uid", [PD_ROLE_CPU] =
			"cpu",
		[PD_ROLE_TIME] = "time", [PD_ROLE_CODE_ADDRESS] =
			"code address", [PD_ROLE_DATA_ADDRESS] = "data address",
		[PD_ROLE_PHYS_ADDRESS] = "physical address", [PD_ROLE_REGISTERS] =
			"registers", [PD_ROLE_EVENT_ID] = "event id",
		[PD_ROLE_EVENT_NAME] = "event name", [PD_ROLE_CGROUP_ID] =
			"cgroup id", [PD_ROLE_COMM] = "comm",
		[PD_ROLE_PATH] = "path", [PD_ROLE_SYMBOL] = "symbol", [PD_ROLE_BUILD_ID] =
			"build id",
		[PD_ROLE_HOST] = "host", [PD_ROLE_MACHINE] = "machine", [PD_ROLE_ARGUMENTS] =
			"arguments",
		[PD_ROLE_USER_BYTES] = "user bytes", [PD_ROLE_CODE_BYTES] =
			"code bytes", [PD_ROLE_RECORDS] = "records",
	};

	append(b, "%s", roles[row->role] ? roles[row->role] : "");
}

static void put_row(struct pd_buf *b, const struct pd_field *row, const struct place *p)
{
	append(b, "| `%s%s` | ", p->path, row->kind == PD_LITERAL ? row->literal : row->name);
	put_kind(b, row);
	append(b, " | ");
	put_width(b, row);
	append(b, " | ");
	put_when(b, &row->when, p);
	append(b, " | ");
	put_role(b, is_bare(row) ? row->fields : row);
	append(b, " | ");
	put_cell(b, row->doc ? row->doc : "");
	append(b, " |\n");
	if (row->kind == PD_UINT)
		put_bit_rows(b, row, p);
}

static void put_inside(struct pd_buf *b, const struct pd_field *row, const struct place *p)
{
	struct place inside = { .outer = p, .rows = row->fields, .misc = p->misc };
	const char *end = row->kind == PD_ARRAY ? "[]." : ".";

	if (p->group && (p->rows == pd_attr_fields || p->rows == pd_file_attr_fields))
		return;		/* has its own table */
	if (row->kind == PD_GROUP) {
		inside.group = row;
		snprintf(inside.path, sizeof(inside.path), "%s", p->path);
	} else if (snprintf(inside.path, sizeof(inside.path), "%s%s%s", p->path, row->name,
			    end) >= PATH_SIZE) {
		return;
	}
	put_rows(b, &inside);
}

static void put_rows(struct pd_buf *b, const struct place *p)
{
	for (const struct pd_field *row = p->rows; row->kind != PD_END; row++) {
		if (row->kind != PD_GROUP)
			put_row(b, row, p);
		if (row->fields && !is_bare(row))
			put_inside(b, row, p);
	}
}

static void put_table(struct pd_buf *b, const struct pd_field *rows, const struct pd_name *misc)
{
	const struct place top = { .rows = rows, .misc = misc };

	if (rows->kind == PD_END)
		return;
	append(b,
	       "\n| key | shown as | bytes | when | role | description |\n| --- | --- | --- | --- "
	       "| --- | --- |\n");
	put_rows(b, &top);
}

static void put_record(struct pd_buf *b, const struct pd_record_desc *d)
{
	append(b, "\n### %" PRIu32 " %s\n\n%c%s.", d->type, d->name,
	       toupper((unsigned char)d->doc[0]), d->doc + 1);
	if (d->cpumode)
		append(b, " Has `cpumode`.");
	if (d->misc && d->misc->name) {
		append(b, " `misc_flags`:");
		for (const struct pd_name *n = d->misc; n->name; n++)
			append(b, "%s %s", n == d->misc ? "" : ",", n->name);
		append(b, ".");
	}
	if (d->task == PD_TASK_NONE)
		append(b, " Belongs to no task.");
	if (d->event == PD_EVENT_ANY)
		append(b, " Applies to all events.");
	if (d->payload)
		append(b, " A payload of `%s` bytes follows, shown as `data`.", d->payload);
	if (d->opaque)
		append(b, " Its body is not decoded and shown as `body`.");
	append(b, "\n");
	put_table(b, d->fields, d->misc);
}

static const char head[] =
	"# Records and features\n"
	"\n"
	"Generated by `make schemas` from the layout tables; the schemas in this directory are "
	"for programs.\n"
	"\n"
	"Each table has the fields in the order of the file. *bytes* is the size: `nr x 8` is "
	"an array whose length is the field `nr`, `(4)` a length of 4 bytes just before it, "
	"`the rest` all remaining bytes of the record or section. *when* is the condition of "
	"the field; empty means always. *role* is the meaning of the value, the same in every "
	"record. Reserved bytes have the key `padding`. Text that is not UTF-8 also has its "
	"bytes as hex, with `_hex` appended to the key.\n"
	"\n"
	"Every record has `offset`, `type`, `size`, `misc` and, if they apply, `attr_index`, "
	"`event`, `inner_offset`, `file`, `cut`, `trailing`. With `--utc` a `time` also has "
	"`time_utc`, and with `--resolve` a SAMPLE has `comm`, `frames`, `branch_frames` and "
	"`addr_frame`.\n"
	"\n"
	"## Records\n";

static void put_page(struct pd_buf *b)
{
	pd_buf_append(b, head, sizeof(head) - 1);
	for (size_t i = 0; pd_record_desc_at(i); i++)
		put_record(b, pd_record_desc_at(i));
	append(b, "\n### sample_id\n\nFollows the fields of kernel records other than SAMPLE, "
	       "if the event has `sample_id_all`.\n");
	put_table(b, pd_sample_id_fields, NULL);
	append(b, "\n## Features\n");
	for (size_t i = 0; pd_feature_desc_at(i); i++) {
		const struct pd_feature_desc *d = pd_feature_desc_at(i);

		append(b, "\n### Feature %" PRIu32 " %s\n", d->id, d->field->name);
		put_table(b, d->field, NULL);
	}
	append(b,
	       "\n## Events\n\nAn entry of `attrs`; `attr` in HEADER_ATTR and EVENT_DESC is the "
	       "same.\n");
	put_table(b, pd_attr_fields, NULL);
}

int pd_doc_write(struct pd_output out)
{
	struct pd_budget budget = { .limit = PD_DESCRIBE_MEMORY };
	struct pd_buf page = { .budget = &budget };
	int err = ENOMEM;

	if (!out.write)
		return EINVAL;
	put_page(&page);
	if (!page.failed)
		err = out.write(out.ctx, page.data, page.size);
	pd_buf_free(&page);
	return err;
}
