/* describe_object.c - a list of rows as a JSON object: its keys, the required ones,
 * alternatives.
 */
#include "schema/describe.h"

#include <string.h>

#define HEX_BESIDE "'description':'the exact bytes, where they are not UTF-8','type':'string'," \
		   "'pattern':'" PD_PATTERN_HEX "'"
#define FLOAT_BITS "'description':'its bits, where it is no finite number','type':'string'," \
		   "'pattern':'^[0-9a-f]{16}$'"
#define UTC "'description':'wall time of `time`, with ns, if the recording ties its clock to it " \
	    "(only with --utc)','type':'string'," \
	    "'pattern':'^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{9}Z$'"
#define PADDING "'description':'reserved bytes of this object, where they are not all " \
		"0','type':'string'," \
		"'pattern':'" PD_PATTERN_HEX "'"
#define TRACEPOINT "'description':'the fields, by the format that the file " \
		   "holds','type':'object'," \
	"'additionalProperties':false,'required':['system','name','fields'],'properties':{" \
	"'system':{'type':'string'},'name':{'type':'string'},'fields':{'type':'object'," \
	"'additionalProperties':{'type':['integer','string','array']," \
	"'minimum':-9223372036854775808," \
	"'maximum':18446744073709551615,'items':{'type':['integer','string']}}}," \
	"'syscall':{'description':'name of the system call with the number `id`, in events of " \
	"raw_syscalls','type':'string'}}"

/* Properties of a list that apply to all its rows. */
struct place {
	const struct pd_when *when;	/* condition of the list */
	bool conditional;
	bool ended;			/* an earlier row may have ended the list */
};

void pd_members_init(struct pd_members *m, struct pd_arena *arena)
{
	*m = (struct pd_members){ .arena = arena, .end = &m->first };
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns whether exactly one of the conditions holds. */
static bool are_complementary(const struct pd_when *a, const struct pd_when *b)
{
	return a && b && a->on == b->on && a->unless != b->unless && !a->left && !b->left &&
	       a->value == b->value && a->test == b->test && same_text(a->sibling, b->sibling);
}

static struct pd_member *add_member(struct pd_members *m, const struct pd_member *what)
{
	struct pd_member *new = pd_arena_alloc(m->arena, sizeof(*new)), *same;

	if (!new) {
		m->failed = true;
		return NULL;
	}
	*new = *what;
	for (same = m->first; same; same = same->next)
		if (strcmp(same->name, new->name) == 0 && strcmp(same->suffix, new->suffix) == 0)
			break;
	if (!same) {
		*m->end = new;
		m->end = &new->next;
		return new;
	}
	same->required |= new->required || are_complementary(same->when, new->when);
	while (same->other)
		same = same->other;
	same->other = new;
	return new;
}

void pd_members_add(struct pd_members *m, const char *name, const char *suffix, const char *json)
{
	add_member(m, &(struct pd_member){ .name = name, .suffix = suffix, .json = json });
}

static void add_row(struct pd_members *m, const struct pd_field *row, const struct place *p)
{
	const bool own = row->when.on != PD_ALWAYS || row->when.left;
	struct pd_member member = {
		.name = row->name, .suffix = "", .row = row,
	};

	if (row->blob == PD_BLOB_SMALL && !p->ended) {	/* large ones may be omitted */
		member.required = !p->conditional && !own;
		member.when = !own ? p->when : p->conditional ? NULL : &row->when;
	}
	if (row->show != PD_BITS)
		add_member(m, &member);
	if (row->show != PD_BITS && row->show != PD_FLAGS)
		return;
	for (const struct pd_bits *bits = row->bits; bits && bits->name; bits++) {
		struct pd_member part = member;

		part.name = bits->name;
		part.bits = bits;
		part.required &= bits->show != PD_BIT_RESERVED;
		add_member(m, &part);
	}
}

static void add_rows(struct pd_members *m, const struct pd_field *rows, struct place *p);

/* Rows of a flattened group can also end the outer list. */
static void add_group(struct pd_members *m, const struct pd_field *row, struct place *p)
{
	const bool own = row->when.on != PD_ALWAYS || row->when.left;
	struct place inside = {
		.when = !own ? p->when : p->conditional || p->ended ? NULL : &row->when,
		.conditional = p->conditional || own, .ended = p->ended,
	};

	add_rows(m, row->fields, &inside);
	if (row->extent.from != PD_EXTENT_NONE)
		pd_members_add(m, "padding", "", PADDING);
	else if (!row->when.left && row->when.on <= PD_ON_BRANCH_TYPE)
		p->ended |= inside.ended;
}

/* Adds the additional keys of some kinds. */
static void add_extra_keys(struct pd_members *m, const struct pd_field *row)
{
	if (row->kind == PD_CSTR || row->kind == PD_CHARS || row->kind == PD_AREA)
		pd_members_add(m, "padding", "", PADDING);
	if (row->kind == PD_CSTR || row->kind == PD_CHARS || row->kind == PD_ZSTR ||
	    row->kind == PD_FSTR || row->kind == PD_TEXT)
		pd_members_add(m, row->name, "_hex", HEX_BESIDE);
	if (row->kind == PD_UINT && row->show == PD_FLOAT)
		pd_members_add(m, row->name, "_hex", FLOAT_BITS);
	if (row->names_event)
		pd_members_add(m, "event", "",
			       "'description':'name of the event','type':'string'");
	if (row->role == PD_ROLE_TIME && strcmp(row->name, "time") == 0)
		pd_members_add(m, "time_utc", "", UTC);
}

static void add_rows(struct pd_members *m, const struct pd_field *rows, struct place *p)
{
	for (; rows->kind != PD_END; rows++) {
		p->ended |= rows->when.left != 0;
		switch (rows->kind) {
		case PD_GROUP:
			add_group(m, rows, p);
			break;
		case PD_PAD:
			pd_members_add(m, "padding", "", PADDING);
			break;
		case PD_LITERAL:
			break;
		default:
			if (rows->show == PD_HIDDEN)
				break;
			add_row(m, rows, p);
			add_extra_keys(m, rows);
			break;
		}
	}
}

void pd_members_of_rows(struct pd_members *m, const struct pd_field *rows)
{
	add_rows(m, rows, &(struct place){ NULL });
}

static void write_member(const struct pd_member *member, struct pd_arena *arena, struct pd_buf *b)
{
	if (member->bits) {
		pd_describe_bits(member->bits, b);
	} else if (member->row) {
		pd_describe_row(member->row, arena, b);
	} else {
		pd_text_open(b, '{');
		pd_text_json(b, member->json);
		pd_text_close(b, '}');
	}
}

/* Returns the schema without its description, in which alternatives of a key may differ. */
static struct pd_bytes strip_description(struct pd_bytes schema)
{
	static const char doc[] = "{\"description\":\"";
	const uint8_t *quote;

	if (schema.size < sizeof(doc) || memcmp(schema.data, doc, sizeof(doc) - 1) != 0)
		return (struct pd_bytes){ schema.data + 1, schema.size - 1 };
	quote = memchr(schema.data + sizeof(doc) - 1, '"', schema.size - sizeof(doc));
	if (!quote)
		return schema;
	return (struct pd_bytes){ quote + 2, schema.size - (size_t)(quote + 2 - schema.data) };
}

static bool contains_schema(const struct pd_bytes *seen, size_t n, struct pd_bytes schema)
{
	struct pd_bytes bare = strip_description(schema);

	for (size_t i = 0; i < n; i++) {
		struct pd_bytes other = strip_description(seen[i]);

		if (other.size == bare.size && memcmp(other.data, bare.data, bare.size) == 0)
			return true;
	}
	return false;
}

/* Writes the alternatives of a key: one schema if they are equal, else anyOf. */
static void write_alternatives(const struct pd_member *member, struct pd_arena *arena,
			       struct pd_buf *b)
{
	struct pd_bytes cases[8];
	size_t n = 0;

	for (; member; member = member->other) {
		struct pd_buf one = { .budget = b->budget };
		struct pd_bytes schema;

		write_member(member, arena, &one);
		schema = (struct pd_bytes){ (const uint8_t *)pd_arena_text(arena, one.data,
									   one.size), one.size };
		b->failed |= one.failed || !schema.data;
		pd_buf_free(&one);
		if (b->failed)
			return;
		if (n < sizeof(cases) / sizeof(*cases) && !contains_schema(cases, n, schema))
			cases[n++] = schema;
	}
	if (n > 1)
		pd_text_json(b, "{'anyOf':[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			pd_buf_append(b, ",", 1);
		pd_buf_append(b, cases[i].data, cases[i].size);
	}
	if (n > 1)
		pd_buf_append(b, "]}", 2);
}

void pd_members_write(struct pd_members *m, struct pd_buf *b)
{
	b->failed |= m->failed;
	for (const struct pd_member *member = m->first; member; member = member->next) {
		pd_text_key2(b, member->name, member->suffix);
		write_alternatives(member, m->arena, b);
	}
}

bool pd_members_any_required(const struct pd_members *m)
{
	for (const struct pd_member *member = m->first; member; member = member->next)
		if (member->required)
			return true;
	return false;
}

void pd_members_required(const struct pd_members *m, struct pd_buf *b)
{
	if (!pd_members_any_required(m))
		return;
	pd_text_key(b, "required");
	pd_text_open(b, '[');
	for (const struct pd_member *member = m->first; member; member = member->next)
		if (member->required)
			pd_text_string(b, member->name);
	pd_text_close(b, ']');
}

/* Raw data of a tracepoint is also shown by fields, according to the file's format. */
static bool holds_raw_data(const struct pd_field *rows)
{
	for (const struct pd_field *f = pd_sample_fields; f->kind != PD_END; f++)
		if (f->fields == rows)
			return strcmp(f->name, "raw") == 0;
	return false;
}

void pd_describe_object(const struct pd_field *rows, struct pd_arena *arena, struct pd_buf *b)
{
	struct pd_members m;

	pd_members_init(&m, arena);
	pd_members_of_rows(&m, rows);
	if (holds_raw_data(rows))
		pd_members_add(&m, "tracepoint", "", TRACEPOINT);
	pd_text_json(b, "'type':'object','additionalProperties':false");
	pd_members_required(&m, b);
	pd_text_key(b, "properties");
	pd_text_open(b, '{');
	pd_members_write(&m, b);
	pd_text_close(b, '}');
}
