/* go_frame.c - pcsp of .gopclntab: pairs of numbers, by how much the stack pointer differs from the
 * one before, and for how many bytes of code. See runtime/symtab.go, step() and pcvalue().
 */
#include "image/go_frame.h"

enum {
	VALUES_IN_FUNCTION = 16,	/* of struct _func: pcsp */
	FLAGS_IN_FUNCTION = 37,
	LINE_SIZE = 4,			/* further, if there is one */
	FLAG_TOP = 1,
	STEPS_MOST = 4096,		/* some for each return of a function */
	FRAME_MOST = 1 << 30,
};

/* Finds the last function that begins at or before an address. */
static bool find_go_function(const struct ps_go_table *g, uint64_t address, uint64_t *found)
{
	uint64_t low = 0, high = g->nr, start;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (!ps_go_table_start(g, middle, &start))
			return false;
		if (start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*found = low - 1;
	return low && ps_go_table_start(g, g->nr, &start) && address < start;
}

static bool take_varint(struct pd_cursor *c, uint32_t *out)
{
	uint64_t byte = 0x80;

	*out = 0;
	for (unsigned int shift = 0; byte & 0x80; shift += 7) {
		if (shift > 28 || !pd_take_number(c, 1, &byte))
			return false;
		*out |= (uint32_t)(byte & 0x7f) << shift;
	}
	return true;
}

static int32_t signed_of(uint32_t number)
{
	return (int32_t)(number & 1 ? ~(number >> 1) : number >> 1);
}

/* Finds the frame at an address in the code that begins at out->end. */
static bool find_step(struct pd_cursor *c, uint64_t quantum, uint64_t address,
		      struct ps_go_frame *out)
{
	uint32_t change, length;
	int64_t size = -1;

	for (unsigned int i = 0; i < STEPS_MOST; i++) {
		if (!take_varint(c, &change) || (i && !change) || !take_varint(c, &length) ||
		    !length)
			return false;
		size += signed_of(change);
		out->start = out->end;
		out->end += length * quantum;
		if (address >= out->end)
			continue;
		out->size = (uint64_t)size;
		return size >= 0 && size < FRAME_MOST;
	}
	return false;
}

static bool find_in_function(const struct ps_go_table *g, uint64_t i, uint64_t address,
			     struct ps_go_frame *out)
{
	const unsigned int flags_at = FLAGS_IN_FUNCTION + (g->has_lines ? LINE_SIZE : 0);
	struct pd_cursor c = pd_cursor(g->bytes, g->swap);
	uint64_t values, flags;

	if (!ps_go_table_start(g, i, &out->end) ||
	    !ps_go_table_number(g, i, VALUES_IN_FUNCTION, 4, &values) || !values ||
	    !ps_go_table_number(g, i, flags_at, 1, &flags) || !pd_take(&c, g->values) ||
	    values > pd_left(&c) || !pd_take(&c, values))
		return false;
	out->is_outermost = flags & FLAG_TOP;
	return find_step(&c, g->quantum, address, out);
}

bool ps_go_frame_find(const struct ps_go_table *g, uint64_t address, struct ps_go_frame *out)
{
	uint64_t i;

	if (address < g->text || !find_go_function(g, address - g->text, &i) ||
	    !find_in_function(g, i, address - g->text, out))
		return false;
	out->start += g->text;
	out->end += g->text;
	return true;
}
