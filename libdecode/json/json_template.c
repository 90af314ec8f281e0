/* json_template.c - makes forms and fills them in: see json_template.h. */
#include "json/json.h"

#define HUNDRED_MILLION 100000000
#define NUMBER_MOST 24	/* bytes of a number or an address */
#define INLINE inline __attribute__((always_inline))	/* one for each byte order */

void pd_json_form_init(struct pd_json_form *f, struct pd_json_blank *blanks, size_t max_blanks, char *text, size_t room)
{
	*f = (struct pd_json_form){
		.blanks = blanks, .max_blanks = (uint32_t)max_blanks, .text = text, .room = (uint32_t)room };
}

void pd_json_form_text(struct pd_json_form *f, const char *text, size_t n)
{
	if (n && *text == ',' && f->tail && (f->text[f->size - 1] == '{' || f->text[f->size - 1] == '[')) {
		text++;
		n--;
	}
	if (n > f->room - f->size) {
		f->is_full = true;
		return;
	}
	memcpy(f->text + f->size, text, n);
	f->size += (uint32_t)n;
	f->tail += (uint32_t)n;
}

static void add_blank(struct pd_json_form *f, struct pd_json_blank b, size_t most)
{
	if (f->nr_blanks == f->max_blanks) {
		f->is_full = true;
		return;
	}
	b.gap = (uint16_t)f->tail;
	f->blanks[f->nr_blanks++] = b;
	f->tail = 0;
	f->most += (uint32_t)most;
}

void pd_json_form_number(struct pd_json_form *f, int32_t offset, unsigned int width, enum pd_show show)
{
	add_blank(f, (struct pd_json_blank){ .offset = offset, .width = (uint8_t)width, .is_signed = show == PD_SIGNED,
		.how = show == PD_HEX ? PD_JSON_ADDRESS : width == 8 ? PD_JSON_NUMBER8 : width == 4 ? PD_JSON_NUMBER4 :
		       PD_JSON_SMALL }, NUMBER_MOST);
}

/* Bytes of a table's names: of the longest, of all with quotes and commas. */
static size_t longest(const struct pd_name *names)
{
	size_t most = NUMBER_MOST;

	for (; names && names->name; names++)
		if (strlen(names->name) > most)
			most = strlen(names->name);
	return most + 2;
}

static size_t all(const struct pd_name *names)
{
	size_t sum = 2;

	for (; names && names->name; names++)
		sum += strlen(names->name) + 3;
	return sum;
}

/* The most that a row can take, its keys included. */
static size_t most_of(const struct pd_field *f)
{
	size_t sum = 2 * ((size_t)f->key_size + 8 * NUMBER_MOST) + longest(f->names);

	if (f->show == PD_FLAGS)
		sum += all(f->names);
	for (const struct pd_bits *b = f->bits; b && b->name; b++)
		sum += b->key_size + longest(b->names) + (b->show == PD_BIT_LIST ? all(b->names) : 2);
	return sum;
}

void pd_json_form_other(struct pd_json_form *f, const struct pd_op *op, uint32_t at)
{
	add_blank(f, (struct pd_json_blank){ .offset = (int32_t)(at + op->offset), .width = (uint8_t)op->width, .op = op,
		.how = PD_JSON_OTHER }, most_of(op->field));
}

bool pd_json_form_is_good(const struct pd_json_form *f)
{
	return !f->is_full && f->size + f->most + PD_JSON_STEP <= PD_JSONW_SLACK;
}

/* The form with nothing in its blanks takes the place of the last text; none of the values is as before. */
static const char *forget(struct pd_json_form *f, const uint8_t *start, enum pd_swap swap)
{
	for (struct pd_json_blank *b = f->blanks, *end = b + f->nr_blanks; b < end; b++) {
		b->value = ~pd_load(start + b->offset, b->width, swap);
		b->high = 0;
		b->size = 0;
	}
	return f->text;
}

/* Writes the text at `at`. What is behind `from` in the last one comes next: `same` bytes of it as they are. */
struct pen {
	char *at;
	const char *from;
	size_t same;
};

/* Goes to the blank's place, of which the first `kept` bytes stay. */
static inline void go(struct pen *p, const struct pd_json_blank *b, size_t kept)
{
	p->at = pd_json_put_short(p->at, p->from, p->same + kept);
	p->from += p->same + b->size;
	p->same = 0;
}

static INLINE char *decimal4(const struct pd_json_blank *b, char *at, uint32_t v)
{
	if ((int32_t)v < 0 && b->is_signed) {
		*at++ = '-';
		v = -v;
	}
	if (v < 10) {
		*at = (char)('0' + v);
		return at + 1;
	}
	return v < 10000 ? pd_write_decimal4(at, v) : pd_write_decimal16(at, v);
}

static char *decimal8(struct pd_json_blank *b, char *at, uint64_t v)
{
	if (b->is_signed && (int64_t)v < 0) {
		*at++ = '-';
		v = -v;
	} else if (!b->is_signed) {
		b->high = v < HUNDRED_MILLION ? 0 : v / HUNDRED_MILLION;
	}
	return pd_write_decimal(at, v);
}

static char *other(struct pd_json *j, const struct pd_json_blank *b, char *at, const uint8_t *start, enum pd_swap swap)
{
	uint64_t v = pd_load(start + b->offset, b->width, swap);

	if (b->how == PD_JSON_OTHER) {
		j->w.at = at;
		pd_json_visitor.number(j, b->op->field, pd_op_shown(b->op, start + b->offset - b->op->offset, swap));
		return j->w.at;
	}
	if (b->is_signed && (int64_t)pd_sign_extend(v, b->width) < 0) {
		*at++ = '-';
		v = -pd_sign_extend(v, b->width);
	}
	return pd_write_decimal(at, v);
}

/* Is it the number that stood there? Then it stays. */
static inline bool stays(struct pen *p, struct pd_json_blank *b, uint64_t v)
{
	p->same += b->gap;
	if (v != b->value) {
		b->value = v;
		return false;
	}
	p->same += b->size;
	return true;
}

/* What was written from p->at to `end` stands in it. */
static inline void done(struct pen *p, struct pd_json_blank *b, char *end)
{
	b->size = (uint16_t)(end - p->at);
	p->at = end;
}

static INLINE void fill_blank(struct pd_json *j, struct pd_json_blank *b, struct pen *p, const uint8_t *start,
			      enum pd_swap swap)
{
	const uint8_t *data = start + b->offset;
	uint64_t v;

	if (b->how == PD_JSON_NUMBER4) {
		v = pd_load32(data, swap);
		if (stays(p, b, v))
			return;
		go(p, b, 0);
		done(p, b, decimal4(b, p->at, (uint32_t)v));
	} else if (b->how == PD_JSON_NUMBER8) {
		v = pd_load64(data, swap);
		if (stays(p, b, v))
			return;
		if (b->high && v / HUNDRED_MILLION == b->high) {	/* a time: all but its last digits */
			go(p, b, b->size - 8);
			pd_write_eight_digits(p->at, (uint32_t)(v - b->high * HUNDRED_MILLION));
			p->at += 8;
			return;
		}
		go(p, b, 0);
		done(p, b, decimal8(b, p->at, v));
	} else if (b->how == PD_JSON_ADDRESS) {
		v = pd_load64(data, swap);
		if (stays(p, b, v))
			return;
		go(p, b, 0);
		done(p, b, pd_write_address(p->at, v));
	} else if (!stays(p, b, pd_load(data, b->width, swap))) {
		go(p, b, 0);
		done(p, b, other(j, b, p->at, start, swap));
	}
}

static INLINE char *fill(struct pd_json *j, struct pd_json_form *f, char *at, const uint8_t *start, enum pd_swap swap)
{
	const bool kept = f->last && f->epoch == j->w.epoch;
	struct pen p = { at, kept ? f->last : forget(f, start, swap), 0 };

	f->last = at;
	f->epoch = j->w.epoch;
	for (struct pd_json_blank *b = f->blanks, *end = b + f->nr_blanks; b < end; b++)
		fill_blank(j, b, &p, start, swap);
	return pd_json_put(p.at, p.from, p.same + f->tail);
}

char *pd_json_fill(struct pd_json *j, struct pd_json_form *f, char *at, const uint8_t *start, enum pd_swap swap)
{
	return swap == PD_SWAP_NO ? fill(j, f, at, start, PD_SWAP_NO) : fill(j, f, at, start, PD_SWAP_YES);
}
