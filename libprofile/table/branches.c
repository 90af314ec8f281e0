/* branches.c - calls as an indented tree, heaviest first. */
#include "table/branches.h"

#include "table/function_name.h"

enum { INDENT = 2, DEEPEST = 40 };

static bool is_shown(const struct pp_branches *b, uint32_t at)
{
	const double total = (double)pp_total(&b->nodes[at], b->out->o.measure);

	return total * 10000 >= (double)b->all * b->min_permyriad;
}

/* Returns the only child of a node that ends no stack, or PP_NONE. Tasks have their own lines. */
static uint32_t only_child(const struct pp_branches *b, uint32_t at)
{
	const struct pp_merged *n = &b->nodes[at];
	const uint32_t child = n->first_child;

	if (n->samples || child == PP_NONE || b->nodes[child].next != PP_NONE ||
	    b->out->p->functions[n->function].kind >= PP_KIND_THREAD)
		return PP_NONE;
	return child;
}

/* Writes a chain of single calls in one line, repeated ones as "name x3". Returns its last one. */
static uint32_t put_chain(const struct pp_branches *b, uint32_t at, size_t columns)
{
	struct pp_out *out = b->out;
	size_t used = 0;

	for (;;) {
		const uint32_t function = b->nodes[at].function;
		uint32_t child = only_child(b, at);
		size_t times = 1;

		for (; child != PP_NONE && b->nodes[child].function == function; times++) {
			at = child;
			child = only_child(b, at);
		}
		if (!columns || used + 8 < columns)
			used += pp_put_function_name(out, pp_name_of(out->p, &b->nodes[at]),
						     columns ? columns - used : 0);
		if (times > 1)
			pp_printf(out, " ×%zu", times);
		if (child == PP_NONE)
			return at;
		if (!columns || used + 8 < columns)
			pp_put_text(out, " › ");
		used += 3;
		at = child;
	}
}

static uint32_t put_line(const struct pp_branches *b, uint32_t at, size_t depth)
{
	struct pp_out *out = b->out;
	const double scale = b->all ? 100.0 / (double)b->all : 0;
	const size_t indent = INDENT * (depth < DEEPEST ? depth : DEEPEST) + b->indent;
	const size_t numbers = 20;
	const struct pp_merged *n;

	pp_printf(out, "%*s%6.1f %%  %*s", (int)b->indent, "",
		  (double)pp_total(&b->nodes[at], out->o.measure) * scale,
		  (int)(indent - b->indent), "");
	at = put_chain(b, at, out->o.columns > numbers + indent + 20 ?
			      out->o.columns - numbers - indent : 0);
	n = &b->nodes[at];
	if (n->samples && n->first_child != PP_NONE && !b->is_upward)
		pp_printf(out, "  (self %.1f %%)", (double)pp_self(n, out->o.measure) * scale);
	pp_put_text(out, "\n");
	return at;
}

/* Lines are as deep as they are indented: each line, whatever its chain, is one level. */
int pp_branches_put(const struct pp_branches *b, uint32_t first)
{
	struct pp_memory *m = &b->out->p->memory;
	size_t depth = 0, capacity = 0;
	uint32_t *tops = NULL, *more, at = first;

	while (at != PP_NONE) {
		more = pp_memory_grow(m, tops, &capacity, depth + 1, sizeof(*tops));
		if (!more)
			break;
		tops = more;
		tops[depth] = at;
		if (is_shown(b, at)) {
			const uint32_t last = put_line(b, at, depth);

			if (b->nodes[last].first_child != PP_NONE) {
				at = b->nodes[last].first_child;
				depth++;
				continue;
			}
		}
		while (depth && b->nodes[tops[depth]].next == PP_NONE)
			depth--;
		at = b->nodes[tops[depth]].next;
	}
	pp_memory_free(m, tops, capacity, sizeof(*tops));
	return at == PP_NONE ? 0 : -1;
}
