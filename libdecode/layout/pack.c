/* pack.c - runs a plan the other way: values to bytes. The mirror of walk.c, row kind by row kind. */
#include "layout/pack.h"

#include <stdio.h>
#include <string.h>

#include "layout/pack_number.h"

#define MAX_DEPTH 12
#define MAX_USED 256

/* An object of the source; groups share that of the list around them. */
struct packed_object {
	pd_node node;
	struct pd_bytes padding;	/* what is left of its `padding` */
	struct pd_buf padding_bytes;
	unsigned int first_used;
};

struct packer_scope {
	const struct pd_op_list *list;
	pd_node object;
	struct packed_object *in;
	size_t start;			/* of the list in out */
	size_t end;			/* of the extent in out; PD_SIZE_OPEN: not known */
};

struct pd_packer {
	const struct pd_pack *how;
	const struct pd_values *v;
	struct pd_buf *out;
	struct pd_pack_error *e;
	enum pd_swap swap;
	size_t base;			/* of the body in out */
	size_t fields_end;		/* in out, where `trailing` begins; PD_SIZE_OPEN: not known */
	unsigned int depth, nr_used;
	const struct pd_field *used[MAX_USED];	/* rows that were there, of the objects that are open */
	const char *names[MAX_DEPTH];	/* the path, for errors; NULL: an element */
	size_t indices[MAX_DEPTH];
	uint64_t slots[PD_SLOTS];
	size_t patch_at[PD_SLOTS];	/* where a size that is not yet known stands, or 0 */
	uint16_t patch_width[PD_SLOTS];
};

static int pack_list(struct pd_packer *p, const struct pd_op_list *list, struct packed_object *in, size_t end);

static void render_path(struct pd_packer *p, const char *last)
{
	char *at = p->e->path, *end = at + sizeof(p->e->path);

	*at = '\0';
	for (unsigned int i = 0; i < p->depth && at < end; i++)
		at += p->names[i] ? snprintf(at, (size_t)(end - at), "%s%s", i ? "." : "", p->names[i])
				  : snprintf(at, (size_t)(end - at), "[%zu]", p->indices[i]);
	if (last && *last && at < end)
		snprintf(at, (size_t)(end - at), "%s%s", p->depth ? "." : "", last);
}

static int fail(struct pd_packer *p, const char *last, enum pd_code code, const char *text)
{
	if (p->e->code != PD_OK)
		return -1;
	p->e->code = code;
	render_path(p, last);
	snprintf(p->e->text, sizeof(p->e->text), "%s", text);
	return -1;
}

int pd_packer_fail(struct pd_packer *p, enum pd_code code, const char *text)
{
	return fail(p, NULL, code, text);
}

void pd_packer_append(struct pd_packer *p, struct pd_bytes bytes)
{
	pd_buf_append(p->out, bytes.data, bytes.size);
}

static int enter(struct pd_packer *p, const char *name, size_t index)
{
	if (p->depth == MAX_DEPTH)
		return fail(p, name, PD_E_ARGUMENT, "too deep");
	p->names[p->depth] = name;
	p->indices[p->depth++] = index;
	return 0;
}

static void store(struct pd_packer *p, uint64_t v, unsigned int width)
{
	uint8_t bytes[8];

	pd_store(bytes, v, width, p->swap);
	pd_buf_append(p->out, bytes, width);
}

int pd_unhex(struct pd_bytes text, struct pd_buf *out)
{
	uint8_t *at = text.size % 2 ? NULL : pd_buf_reserve(out, text.size / 2);

	if (!at)
		return -1;
	for (size_t i = 0; i < text.size; i++) {
		uint8_t c = text.data[i], d = (uint8_t)(c | 0x20);
		uint8_t v = c >= '0' && c <= '9' ? c - '0' : d >= 'a' && d <= 'f' ? d - 'a' + 10 : 16;

		if (v > 15)
			return -1;
		at[i / 2] = (uint8_t)(i % 2 ? at[i / 2] << 4 | v : v);
	}
	out->size += text.size / 2;
	return 0;
}

/* Bytes of a node: hex text, or bytes as they are. */
static int append_blob(struct pd_packer *p, pd_node n)
{
	if (p->v->type(n) == PD_NODE_BYTES) {
		pd_packer_append(p, p->v->text(n));
		return 0;
	}
	return p->v->type(n) == PD_NODE_TEXT ? pd_unhex(p->v->text(n), p->out) : -1;
}

static size_t blob_size(struct pd_packer *p, pd_node n)
{
	switch (p->v->type(n)) {
	case PD_NODE_BYTES:
		return p->v->text(n).size;
	case PD_NODE_TEXT:
		return p->v->text(n).size / 2;
	default:
		return 0;
	}
}

static pd_node suffixed(struct pd_packer *p, pd_node object, const char *name, const char *suffix)
{
	char key[96];

	if (snprintf(key, sizeof(key), "%s%s", name, suffix) >= (int)sizeof(key))
		return NULL;
	return p->v->member(object, key);
}

/* Text: its exact bytes stand beside it where it is not UTF-8. *size: bytes appended. */
static int append_text(struct pd_packer *p, struct packer_scope *s, const struct pd_field *f, pd_node n, size_t *size)
{
	pd_node hex = f->name[0] ? suffixed(p, s->object, f->name, "_hex") : NULL;
	size_t from = p->out->size;

	if (hex) {
		if (append_blob(p, hex))
			return fail(p, f->name, PD_E_ARGUMENT, "the _hex beside it is no hex");
	} else if (n) {
		if (p->v->type(n) != PD_NODE_TEXT && p->v->type(n) != PD_NODE_BYTES)
			return fail(p, f->name, PD_E_ARGUMENT, "a string was expected");
		pd_packer_append(p, p->v->text(n));
	}
	*size = p->out->size - from;
	return 0;
}

/* n bytes of padding: from the object's `padding` while it lasts, then zeros. */
static int append_padding(struct pd_packer *p, struct packer_scope *s, size_t n)
{
	struct pd_bytes *padding = &s->in->padding;
	size_t kept = n < padding->size ? n : padding->size;
	uint8_t *at = pd_buf_reserve(p->out, n);

	if (!at)
		return fail(p, "padding", PD_E_LIMIT, "too many bytes");
	if (kept) {
		memcpy(at, padding->data, kept);
		padding->data += kept;
		padding->size -= kept;
	}
	memset(at + kept, 0, n - kept);
	p->out->size += n;
	return 0;
}

static int open_object(struct pd_packer *p, pd_node node, struct packed_object *o)
{
	pd_node n = node && p->v->type(node) == PD_NODE_OBJECT ? p->v->member(node, "padding") : NULL;

	*o = (struct packed_object){ .node = node, .padding_bytes.budget = p->out->budget, .first_used = p->nr_used };
	if (!n)
		return 0;
	if (p->v->type(n) == PD_NODE_BYTES) {
		o->padding = p->v->text(n);
		return 0;
	}
	if (p->v->type(n) != PD_NODE_TEXT || pd_unhex(p->v->text(n), &o->padding_bytes))
		return fail(p, "padding", PD_E_ARGUMENT, "an even number of hex digits was expected");
	o->padding = pd_buf_bytes(&o->padding_bytes);
	return 0;
}

/* The row that a member belongs to has this name, or a part of it has. */
static bool is_of_row(const struct pd_field *f, const char *name)
{
	if (f->name[0] == name[0]) {
		const size_t n = strlen(f->name);

		if (strncmp(f->name, name, n) == 0 && (!name[n] || strcmp(name + n, "_hex") == 0))
			return true;
	}
	if (f->show != PD_BITS && f->show != PD_FLAGS)
		return false;
	for (const struct pd_bits *b = f->bits; b && b->name; b++)
		if (strcmp(b->name, name) == 0)
			return true;
	return false;
}

static bool is_listed(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if ((*names)[0] == name[0] && strcmp(*names, name) == 0)
			return true;
	return false;
}

/* One letter more, less, other, or two swapped. */
static bool is_like(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), same = 0, end = 0;

	while (same < n && same < m && a[same] == b[same])
		same++;
	while (end < n - same && end < m - same && a[n - 1 - end] == b[m - 1 - end])
		end++;
	n -= same + end;
	m -= same + end;
	return n <= 2 && m <= 2 && (n < 2 || m < 2 || (a[same] == b[same + 1] && a[same + 1] == b[same]));
}

static int no_such_field(struct pd_packer *p, const struct packed_object *o, const char *name)
{
	char text[sizeof(p->e->text)] = "there is no such field here";

	for (unsigned int i = o->first_used; i < p->nr_used; i++)
		if (is_like(p->used[i]->name, name))
			snprintf(text, sizeof(text), "there is no such field here, but there is %s", p->used[i]->name);
	return fail(p, name, PD_E_ARGUMENT, text);
}

/* Every member has found its row. The object is closed. */
static int check_members(struct pd_packer *p, const struct packed_object *o, const char *const *also)
{
	static const char *const anywhere[] = { "padding", "tracepoint", "frames", NULL };
	const unsigned int first = o->first_used, n = p->nr_used - first;
	unsigned int next = 0;
	const char *name;
	pd_node value;

	if (!o->node || p->v->type(o->node) != PD_NODE_OBJECT || p->nr_used == MAX_USED)
		return 0;
	for (size_t i = 0; p->v->member_at(o->node, i, &name, &value); i++) {
		unsigned int k = 0;

		if (!name || is_listed(also, name))
			continue;
		while (k < n && !is_of_row(p->used[first + (next + k) % n], name))
			k++;
		if (k < n)
			next = (next + k) % n;
		else if (!is_listed(anywhere, name))
			return no_such_field(p, o, name);
	}
	p->nr_used = first;
	return 0;
}

static pd_node member(struct pd_packer *p, const struct packer_scope *s, const struct pd_field *f)
{
	return f->name[0] ? p->v->member(s->object, f->name) : s->object;
}

/* How many elements or bytes a node holds. */
static size_t length_of(struct pd_packer *p, pd_node object, const struct pd_field *f)
{
	pd_node n = p->v->member(object, f->name), hex = suffixed(p, object, f->name, "_hex");

	if (hex)
		return p->v->type(hex) == PD_NODE_BYTES ? p->v->text(hex).size : p->v->text(hex).size / 2;
	switch (n ? p->v->type(n) : PD_NODE_NULL) {
	case PD_NODE_ARRAY:
		return p->v->length(n);
	case PD_NODE_BYTES:
		return p->v->text(n).size;
	case PD_NODE_TEXT:
		return f->kind == PD_TEXT ? p->v->text(n).size : p->v->text(n).size / 2;
	default:
		return 0;
	}
}

/* A number that is not given: the length of what it counts, in this list or a group of it. */
static bool derive(struct pd_packer *p, const struct pd_op_list *list, pd_node object, int8_t slot, uint64_t *out)
{
	for (uint32_t i = 0; i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];

		if (op->kind == PD_GROUP && derive(p, op->list, object, slot, out))
			return true;
		if (op->count_slot != slot || op->count_from != PD_COUNT_SIBLING || !op->field->key_size ||
		    !p->v->member(object, op->field->name))
			continue;
		*out = length_of(p, object, op->field);
		return true;
	}
	return false;
}

static int fail_names(struct pd_packer *p, const char *last, const struct pd_name *names)
{
	char text[sizeof(p->e->text)] = "a number was expected";

	if (names && names->name)
		snprintf(text, sizeof(text), "a number or one of %s", names->name);
	for (size_t n; names && names->name && (++names)->name;) {
		n = strlen(text);
		if (n + strlen(names->name) + 8 > sizeof(text)) {
			snprintf(text + n, sizeof(text) - n, ", ...");
			break;
		}
		snprintf(text + n, sizeof(text) - n, ", %s", names->name);
	}
	if (!names)
		snprintf(text, sizeof(text), "not a number or name that this field can have");
	return fail(p, last, PD_E_ARGUMENT, text);
}

/* The number of a row as its source gives it, or as derived. 0, 1: neither, -1. */
static int number_of(struct pd_packer *p, const struct packer_scope *s, const struct pd_op *op, uint64_t *v)
{
	const char *bad;
	int got = pd_pack_number_of(p->v, s->object, op->field, v, &bad);

	if (got < 0) {
		if (bad && (op->field->show != PD_BITS && !is_of_row(op->field, bad)))
			enter(p, op->field->name, 0);	/* else it is a member of the object around */
		return fail_names(p, bad ? bad : op->field->name, bad ? NULL : op->field->names);
	}
	if (got == 0 || op->slot < 0 || !derive(p, s->list, s->object, op->slot, v))
		return got;
	return 0;
}

static bool fits(const struct pd_op *op, uint64_t v)
{
	return op->width == 8 || !(v >> (8 * op->width)) || pd_sign_extend(v, op->width) == v;
}

static int pack_number(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	uint64_t v = 0;
	pd_node hex;
	int got = number_of(p, s, op, &v);

	if (got < 0)
		return -1;
	hex = op->field->show == PD_FLOAT ? suffixed(p, s->object, op->field->name, "_hex") : NULL;
	if (hex && p->v->type(hex) == PD_NODE_TEXT) {
		struct pd_bytes text = p->v->text(hex);
		struct pd_buf bits = { .budget = p->out->budget };

		if (pd_unhex(text, &bits) == 0 && bits.size == 8)
			v = pd_load64(bits.data, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? PD_SWAP_YES : PD_SWAP_NO);
		pd_buf_free(&bits);
	}
	if (!fits(op, v))
		return fail(p, op->field->name, PD_E_ARGUMENT, "too large for this field");
	if (op->field->show == PD_DEC && v >> 63 && pd_node_is_negative(p->v, member(p, s, op->field)))
		return fail(p, op->field->name, PD_E_ARGUMENT, "it can't be negative");
	if (op->slot >= 0) {
		p->slots[op->slot] = v;
		p->patch_at[op->slot] = got ? p->out->size + 1 : 0;
		p->patch_width[op->slot] = op->width;
	}
	if (op->field->show == PD_ORDER)
		p->swap = (v != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? PD_SWAP_YES : PD_SWAP_NO;
	if (op->field->msb_first && pd_is_big(p->swap))
		v = pd_bits_mirror(op->field, v, op->width, PD_TO_BIG);
	store(p, v, op->width);
	return 0;
}

/* A size that its row did not give: now it is known. */
static void patch(struct pd_packer *p, int8_t slot, uint64_t v)
{
	if (slot < 0)
		return;
	if (p->patch_at[slot])
		pd_store(p->out->data + p->patch_at[slot] - 1, v, p->patch_width[slot], p->swap);
	p->slots[slot] = v;
	p->patch_at[slot] = 0;
}

static size_t left_of(const struct pd_packer *p, const struct packer_scope *s)
{
	return s->end == PD_SIZE_OPEN || s->end < p->out->size ? 0 : s->end - p->out->size;
}

static int pack_cstr(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	size_t size, pad;

	if (append_text(p, s, op->field, member(p, s, op->field), &size))
		return -1;
	if (s->end == PD_SIZE_OPEN)
		pad = 1 + (size_t)(-(ptrdiff_t)(p->out->size - p->base + 1) & 7);
	else if (s->end < p->out->size)
		return fail(p, op->field->name, PD_E_SIZE, "the record's size is too small for it: leave size out");
	else
		pad = left_of(p, s);
	return append_padding(p, s, pad);
}

static int pack_text(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	pd_node n = op->field->name[0] ? member(p, s, op->field) : s->object;
	size_t from = p->out->size, size;

	if (op->kind == PD_FSTR)
		store(p, 0, 4);
	if (append_text(p, s, op->field, n, &size))
		return -1;
	switch (op->kind) {
	case PD_CHARS:
		if (size > op->width)
			return fail(p, op->field->name, PD_E_SIZE, "longer than the array it goes into");
		return append_padding(p, s, op->width - size);
	case PD_ZSTR:
		pd_buf_append(p->out, "", 1);
		return 0;
	default:
		pd_buf_append(p->out, (const char[65]){ 0 }, pd_fstr_size(size) - size);
		if (!p->out->failed)
			pd_store(p->out->data + from, pd_fstr_size(size), 4, p->swap);
		return 0;
	}
}

/* Elements or bytes that a count asks for beside the values themselves. */
static size_t pad_count(struct pd_packer *p, const struct packer_scope *s, const struct pd_op *op)
{
	size_t at = p->out->size;

	switch (op->count_from) {
	case PD_COUNT_REST:
		return left_of(p, s);
	case PD_COUNT_REST_MOD:
		if (s->end == PD_SIZE_OPEN)
			return (size_t)(-(ptrdiff_t)(at - p->base)) & (size_t)(op->count_value - 1);
		return left_of(p, s) % (size_t)op->count_value;
	case PD_COUNT_ALIGN:
		return (size_t)(-(ptrdiff_t)(at - s->start)) & (size_t)(op->count_value - 1);
	default:
		return (size_t)op->count_value;
	}
}

/* The count says what the values have; a count that was given must agree. */
static int check_count(struct pd_packer *p, const struct pd_op *op, uint64_t have)
{
	uint64_t said;

	switch (op->count_from) {
	case PD_COUNT_FIXED:
		said = op->count_value;
		break;
	case PD_COUNT_SIBLING:
		said = op->count_slot < 0 ? have : p->slots[op->count_slot];
		if (op->count_value == 32)
			said &= UINT32_MAX;
		break;
	case PD_COUNT_PRODUCT:
		said = p->slots[op->count_slot] * p->slots[op->by_slot];
		break;
	case PD_COUNT_WORDS:
		said = p->slots[op->count_slot];
		said = said / op->count_value + (said % op->count_value != 0);
		break;
	default:
		return 0;
	}
	if (said == have)
		return 0;
	if (!have)
		return fail(p, op->field->name, PD_E_COUNT, "it is left out (was it decoded with --blobs omit?)");
	return fail(p, op->field->name, PD_E_COUNT, "its length is not what its count says: leave the count out");
}

static int pack_bytes(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	size_t inline_at = p->out->size, size = 0;
	pd_node n;

	if (op->kind == PD_PAD)
		return append_padding(p, s, pad_count(p, s, op));
	if (op->count_from == PD_COUNT_INLINE)
		store(p, 0, (unsigned int)op->count_value);
	n = op->field->name[0] ? member(p, s, op->field) : s->object;
	if (op->kind == PD_TEXT) {
		if (append_text(p, s, op->field, n, &size))
			return -1;
	} else if (n) {
		size_t from = p->out->size;

		if (append_blob(p, n))
			return fail(p, op->field->name, PD_E_ARGUMENT, "an even number of hex digits was expected");
		size = p->out->size - from;
	}
	if (op->kind == PD_AREA) {
		if (size > op->width)
			return fail(p, op->field->name, PD_E_SIZE, "longer than the bytes it goes into");
		return append_padding(p, s, op->width - size);
	}
	if (op->count_from == PD_COUNT_INLINE && !p->out->failed)
		pd_store(p->out->data + inline_at, size, (unsigned int)op->count_value, p->swap);
	return check_count(p, op, size);
}

static int pack_registers(struct pd_packer *p, const struct packer_scope *s, const struct pd_op *op)
{
	pd_node regs = member(p, s, op->field), value;
	const char *name;

	if (regs && p->v->type(regs) != PD_NODE_OBJECT)
		return fail(p, op->field->name, PD_E_ARGUMENT, "an object was expected: registers by name");
	for (size_t i = 0; regs && p->v->member_at(regs, i, &name, &value); i++) {
		uint32_t k = 0;

		while (k < op->size / 8 && strcmp(op->names[k], name) != 0)
			k++;
		if (k < op->size / 8)
			continue;
		enter(p, op->field->name, 0);
		return fail(p, name, PD_E_ARGUMENT, "the event's mask has no such register of the machine that feature ARCH names");
	}
	for (uint32_t i = 0; i < op->size / 8; i++) {
		pd_node n = regs ? p->v->member(regs, op->names[i]) : NULL;
		uint64_t v = 0;

		if (n && pd_node_number(p->v, n, NULL, &v))
			return enter(p, op->field->name, 0),
			       fail(p, op->names[i], PD_E_ARGUMENT, "a register's value was expected");
		store(p, v, 8);
	}
	return 0;
}

static int pack_numbers(struct pd_packer *p, const struct packer_scope *s, const struct pd_op *op)
{
	pd_node list = member(p, s, op->field);
	size_t n = 0;

	if (op->kind == PD_REGISTERS)
		return pack_registers(p, s, op);
	if (list) {
		if (p->v->type(list) != PD_NODE_ARRAY)
			return fail(p, op->field->name, PD_E_ARGUMENT, "an array was expected");
		n = p->v->length(list);
	}
	if (op->count_from == PD_COUNT_INLINE)
		store(p, n, (unsigned int)op->count_value);
	if (check_count(p, op, n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;
		pd_node item = p->v->item(list, i, &v);

		if ((item && pd_node_number(p->v, item, op->field->names, &v)) || !fits(op, v) ||
		    (item && op->field->show == PD_DEC && pd_node_is_negative(p->v, item))) {
			enter(p, op->field->name, 0);
			enter(p, NULL, i);
			return fail(p, NULL, PD_E_ARGUMENT, "a number that this field can have was expected");
		}
		store(p, v, op->width);
	}
	return 0;
}

/* An object of its own; where its extent is given, it is filled. */
static int pack_object(struct pd_packer *p, const struct pd_op *op, pd_node node, size_t end, bool fill)
{
	struct packed_object o;
	int failed;

	if (enter(p, op->field->name, 0))
		return -1;
	failed = open_object(p, node, &o) || pack_list(p, op->list, &o, end) || check_members(p, &o, NULL);
	if (!failed && fill && p->out->size < end) {
		struct packer_scope s = { .in = &o };

		failed = append_padding(p, &s, end - p->out->size);
	}
	pd_buf_free(&o.padding_bytes);
	p->depth--;
	return failed ? -1 : 0;
}

static int pack_struct(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	const struct pd_extent *extent = &op->field->extent;
	size_t from = p->out->size, end = s->end;
	pd_node object = op->kind == PD_GROUP ? s->object : member(p, s, op->field);
	bool given = false;

	if (object && op->kind == PD_STRUCT && p->v->type(object) == PD_NODE_BYTES) {
		pd_packer_append(p, p->v->text(object));	/* packed already */
		return 0;
	}
	if (object && p->v->type(object) != PD_NODE_OBJECT)
		return fail(p, op->field->name, PD_E_ARGUMENT, "an object was expected");
	if (extent->from == PD_EXTENT_SIBLING && op->extent_slot >= 0) {
		given = !p->patch_at[op->extent_slot];
		end = given ? from + p->slots[op->extent_slot] : PD_SIZE_OPEN;
	} else if (extent->from == PD_EXTENT_OWN) {
		uint64_t own = 0;
		pd_node n = object ? p->v->member(object, extent->sibling) : NULL;

		given = n && pd_node_number(p->v, n, NULL, &own) == 0;
		own = own ? own : extent->value;
		end = given ? from + own : PD_SIZE_OPEN;
		if (given && s->end < end)
			end = s->end;	/* cut short by what is around it */
	}
	if (op->kind == PD_GROUP) {
		if (pack_list(p, op->list, s->in, end))
			return -1;
	} else if (pack_object(p, op, object, end, given)) {
		return -1;
	}
	if (extent->from == PD_EXTENT_NONE)
		return 0;
	if (op->kind == PD_GROUP && given && p->out->size < end && append_padding(p, s, end - p->out->size))
		return -1;
	if (given && p->out->size != end)
		return fail(p, op->field->name, PD_E_SIZE, "more bytes than its size says: leave the size out");
	if (!given)
		patch(p, op->extent_slot, p->out->size - from);
	return 0;
}

static int pack_array(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	pd_node list = member(p, s, op->field);
	const bool bare = op->list->nr_ops == 1 && op->list->ops[0].field->name[0] == '\0' &&
			  op->list->ops[0].kind != PD_GROUP;
	size_t n = 0;

	if (list) {
		if (p->v->type(list) != PD_NODE_ARRAY)
			return fail(p, op->field->name, PD_E_ARGUMENT, "an array was expected");
		n = p->v->length(list);
	}
	if (op->count_from == PD_COUNT_INLINE)
		store(p, n, (unsigned int)op->count_value);
	if (check_count(p, op, n) || enter(p, op->field->name, 0))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct packed_object o;
		uint64_t ignored;
		pd_node item = p->v->item(list, i, &ignored);
		int failed;

		if (enter(p, NULL, i))
			return -1;
		if (!item || (!bare && p->v->type(item) != PD_NODE_OBJECT))
			return fail(p, NULL, PD_E_ARGUMENT, bare ? "a string was expected" : "an object was expected");
		failed = open_object(p, item, &o) || pack_list(p, op->list, &o, s->end) || check_members(p, &o, NULL);
		pd_buf_free(&o.padding_bytes);
		if (failed)
			return -1;
		p->depth--;
	}
	p->depth--;
	return 0;
}

/* Is any of these rows given? */
static bool any_given(struct pd_packer *p, const struct pd_op_list *list, uint32_t from, pd_node object)
{
	for (uint32_t i = from; object && i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];

		if (op->kind == PD_GROUP ? any_given(p, op->list, 0, object) :
		    op->field->key_size && (p->v->member(object, op->field->name) ||
					    suffixed(p, object, op->field->name, "_hex")))
			return true;
	}
	return false;
}

/* The first row with a name, in groups too. */
static const struct pd_field *first_named(const struct pd_op *op)
{
	const struct pd_field *f = op->field;

	if (op->kind != PD_GROUP)
		return f->key_size ? f : NULL;
	for (uint32_t i = 0; i < op->list->nr_ops; i++) {
		f = first_named(&op->list->ops[i]);
		if (f)
			return f;
	}
	return NULL;
}

/* Layouts that only the bytes tell apart: a row is there when it is given, a group when its first row is. */
static bool given(struct pd_packer *p, const struct packer_scope *s, const struct pd_op *op)
{
	const struct pd_field *f = first_named(op);

	return f && s->object && p->v->member(s->object, f->name);
}

/* The row before is there instead: the same test, the other way round. */
static bool other_given(struct pd_packer *p, const struct packer_scope *s, uint32_t i)
{
	const struct pd_op *op = &s->list->ops[i], *before = op - 1;

	return i && before->on == PD_ON_TEST && before->unless != op->unless &&
	       before->field->when.test == op->field->when.test && given(p, s, before);
}

enum presence { ABSENT, PRESENT, LIST_ENDS };

static enum presence presence_of(struct pd_packer *p, const struct packer_scope *s, uint32_t i)
{
	const struct pd_op *op = &s->list->ops[i];
	uint64_t v = op->when_slot >= 0 ? p->slots[op->when_slot] : 0;
	bool yes = true;

	switch (op->on) {
	case PD_ON_MASK:
		yes = (v & op->when_value) != 0;
		break;
	case PD_ON_EQUAL:
		yes = v == op->when_value;
		break;
	case PD_ON_AT_LEAST:
		yes = v >= op->when_value;
		break;
	case PD_ON_TEST:
	case PD_ON_VARIANT:
		return given(p, s, op) && !(op->on == PD_ON_TEST && other_given(p, s, i)) ? PRESENT : ABSENT;
	default:
		break;
	}
	if (yes == op->unless)
		return ABSENT;
	if (!op->left)
		return PRESENT;
	if (s->end != PD_SIZE_OPEN)
		return left_of(p, s) >= op->left && (left_of(p, s) > 0) &&
		       (op->kind == PD_UINT || op->kind == PD_PAD || any_given(p, s->list, i, s->object)) ?
			PRESENT : LIST_ENDS;
	return any_given(p, s->list, i, s->object) ? PRESENT : LIST_ENDS;
}

static int pack_feature(struct pd_packer *p, const struct packer_scope *s, const struct pd_op *op)
{
	pd_node value = member(p, s, op->field);
	uint64_t id = 0;

	for (uint32_t i = 0; i < s->list->nr_ops; i++)
		if (strcmp(s->list->ops[i].field->name, "feat_id") == 0 && number_of(p, s, &s->list->ops[i], &id) < 0)
			return -1;
	if (!value)
		return 0;
	if (p->v->type(value) == PD_NODE_BYTES) {
		pd_packer_append(p, p->v->text(value));
		return 0;
	}
	if (!p->how->feature)
		return fail(p, op->field->name, PD_E_ARGUMENT, "no feature can stand here");
	return p->how->feature(p->how->ctx, id, value, p);
}

static int pack_op(struct pd_packer *p, struct packer_scope *s, const struct pd_op *op)
{
	switch (op->kind) {
	case PD_UINT:
		return pack_number(p, s, op);
	case PD_CSTR:
		return pack_cstr(p, s, op);
	case PD_ZSTR:
	case PD_CHARS:
	case PD_FSTR:
		return pack_text(p, s, op);
	case PD_TEXT:
	case PD_BYTES:
	case PD_PAD:
	case PD_AREA:
		return pack_bytes(p, s, op);
	case PD_NUMBERS:
	case PD_REGISTERS:
		return pack_numbers(p, s, op);
	case PD_LITERAL:
		pd_buf_append(p->out, op->field->literal, op->width);
		return 0;
	case PD_ARRAY:
		return pack_array(p, s, op);
	case PD_FEATURE:
		return pack_feature(p, s, op);
	default:
		return pack_struct(p, s, op);
	}
}

/* Numbers that rows before them need. */
static int look_ahead(struct pd_packer *p, const struct packer_scope *s)
{
	for (uint32_t i = 0; i < s->list->nr_aheads; i++) {
		const struct pd_op *op = s->list->aheads[i].op;
		uint64_t v = 0;

		if (s->object && number_of(p, s, op, &v) < 0)
			return -1;
		p->slots[op->slot] = v;
	}
	return 0;
}

/* A damaged record stops where its `trailing` bytes take over: rows from there on are not given. */
static bool trailing_takes_over(struct pd_packer *p, const struct packer_scope *s, uint32_t i)
{
	const struct pd_op *op = &s->list->ops[i];

	if (p->depth || p->fields_end != PD_SIZE_OPEN)
		return !p->depth && p->out->size >= p->fields_end;
	return op->kind != PD_PAD && p->v->member(s->object, "trailing") && !any_given(p, s->list, i, s->object);
}

static int pack_list(struct pd_packer *p, const struct pd_op_list *list, struct packed_object *in, size_t end)
{
	struct packer_scope s = { .list = list, .object = in->node, .in = in, .start = p->out->size, .end = end };
	const enum pd_swap swap = p->swap;

	if (look_ahead(p, &s))
		return -1;
	for (uint32_t i = 0; i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];
		enum presence there = op->on != PD_ALWAYS || op->left ? presence_of(p, &s, i) : PRESENT;

		if (there == LIST_ENDS || trailing_takes_over(p, &s, i))
			break;
		if (there == ABSENT)
			continue;
		if (op->field->name[0] && op->kind != PD_GROUP && op->kind != PD_PAD && p->nr_used < MAX_USED)
			p->used[p->nr_used++] = op->field;
		if (pack_op(p, &s, op) || p->out->failed)
			return fail(p, op->field->name, PD_E_LIMIT, "too many bytes");
	}
	p->swap = swap;
	return 0;
}

static int pack_body(struct pd_packer *p, const struct pd_plan *plan, pd_node object)
{
	const struct pd_pack *how = p->how;
	const size_t end = how->size == PD_SIZE_OPEN ? PD_SIZE_OPEN : p->base + how->size;
	struct packed_object o;
	struct packer_scope s = { .in = &o };
	pd_node trailing = p->v->member(object, "trailing");
	const size_t left = trailing ? blob_size(p, trailing) : 0;
	int failed;

	p->fields_end = trailing && end != PD_SIZE_OPEN && left <= how->size ? end - left : PD_SIZE_OPEN;
	failed = open_object(p, object, &o) || pack_list(p, plan->list, &o, end) ||
		 (how->also && !trailing && check_members(p, &o, how->also));
	if (!failed && trailing && append_blob(p, trailing))
		failed = fail(p, "trailing", PD_E_ARGUMENT, "an even number of hex digits was expected");
	if (!failed && end != PD_SIZE_OPEN && p->out->size < end)
		failed = append_padding(p, &s, end - p->out->size);
	if (!failed && end != PD_SIZE_OPEN && p->out->size > end)
		failed = fail(p, "size", PD_E_SIZE, "too small for these fields: leave it out");
	pd_buf_free(&o.padding_bytes);
	return failed ? -1 : 0;
}

int pd_pack(const struct pd_plan *plan, pd_node object, const struct pd_pack *how, struct pd_buf *out,
	    struct pd_pack_error *e)
{
	struct pd_packer p = {
		.how = how, .v = how->values, .out = out, .e = e, .swap = how->swap, .base = out->size,
	};

	*e = (struct pd_pack_error){ .code = PD_OK };
	p.slots[PD_MISC_SLOT] = how->misc;
	return pack_body(&p, plan, object);
}
