/* json_template.h - text with blanks: what stays the same from record to record is copied, numbers that changed are written.
 *
 * A form is text and blanks in turn. What it gave last lies in the writer's buffer, until that is handed out; the next
 * text is copied from there up to the first number that is another one, and so on behind it.
 */
#ifndef PD_JSON_JSON_TEMPLATE_H
#define PD_JSON_JSON_TEMPLATE_H

#include "base/jsonw.h"
#include "plan/walk.h"

/* Text is copied in steps, without a call: so much can be read and written beyond its end. */
#define PD_JSON_STEP 32

static inline void pd_json_step(char *at, const char *text)
{
	pd_bytes16 first, second;	/* both are read before one is written: it may be right behind the text */

	memcpy(&first, text, sizeof(first));
	memcpy(&second, text + sizeof(first), sizeof(second));
	memcpy(at, &first, sizeof(first));
	memcpy(at + sizeof(first), &second, sizeof(second));
}

static inline char *pd_json_put(char *at, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i += PD_JSON_STEP)
		pd_json_step(at + i, text + i);
	return at + n;
}

/* The same where it is less than half a step, most often. */
static inline char *pd_json_put_short(char *at, const char *text, size_t n)
{
	pd_bytes16 half;

	memcpy(&half, text, sizeof(half));
	memcpy(at, &half, sizeof(half));
	for (size_t i = sizeof(half); __builtin_expect(i < n, 0); i += PD_JSON_STEP)
		pd_json_step(at + i, text + i);
	return at + n;
}

struct pd_json_blank {
	uint64_t value;			/* of the last text, as loaded */
	uint64_t high;			/* value / 10^8 where 8 digits come behind that; or 0 */
	const struct pd_op *op;		/* of PD_JSON_OTHER: what is no plain number, with its key */
	int32_t offset;
	uint16_t gap;			/* bytes of text before it */
	uint16_t size;			/* of what stands in it */
	uint8_t width;
	bool is_signed;
	enum { PD_JSON_NUMBER4, PD_JSON_NUMBER8, PD_JSON_ADDRESS, PD_JSON_SMALL, PD_JSON_OTHER } how;
};

struct pd_json_form {
	struct pd_json_blank *blanks;
	char *text;			/* with nothing in the blanks */
	uint32_t nr_blanks, max_blanks;
	uint32_t size, room;		/* of text */
	uint32_t tail;			/* bytes of it behind the last blank */
	uint32_t most;			/* bytes that the blanks may take */
	bool is_full;			/* something did not fit: not to be used */
	const char *last;		/* filled in: valid in the epoch of the writer's buffer */
	uint64_t epoch;
};

struct pd_json;

/* An empty form. `text` has room for so much and a step more. */
void pd_json_form_init(struct pd_json_form *f, struct pd_json_blank *blanks, size_t max_blanks, char *text, size_t room);
/* Adds text. A comma behind a bracket is left out. */
void pd_json_form_text(struct pd_json_form *f, const char *text, size_t n);
/* Adds a plain number, shown as decimal, signed, or hex. */
void pd_json_form_number(struct pd_json_form *f, int32_t offset, unsigned int width, enum pd_show show);
/* Adds a row of another kind, with its key: what the visitor makes of it. at: where its list begins. */
void pd_json_form_other(struct pd_json_form *f, const struct pd_op *op, uint32_t at);
/* Can it be filled in? Then it takes less than PD_JSONW_SLACK bytes. */
bool pd_json_form_is_good(const struct pd_json_form *f);

/* Fills it in with the numbers at start. The end. */
char *pd_json_fill(struct pd_json *j, struct pd_json_form *f, char *at, const uint8_t *start, enum pd_swap swap);

/* Where a text that begins with a comma goes: over the bracket before it, which is put back. */
struct pd_json_joint {
	char *at, first;
};

static inline struct pd_json_joint pd_json_joint(char *at)
{
	if (at[-1] == '{' || at[-1] == '[')
		return (struct pd_json_joint){ at - 1, at[-1] };
	return (struct pd_json_joint){ at, ',' };
}

#endif
