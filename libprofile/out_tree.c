/* out_tree.c - the calls as an indented tree, heaviest first. */
#include "out.h"

enum { INDENT = 2, DEEPEST = 40 };

static bool is_shown(const struct pp_out *out, const struct pp_merged *n, uint64_t all)
{
	const double total = (double)pp_total(n, out->o.measure);

	return total * 10000 >= (double)all * out->o.min_permyriad;
}

/* Returns the only child of a node that ends no stack, or PP_NONE. Tasks have their own lines. */
static uint32_t only_child(const struct pp_profile *p, const struct pp_merged *n)
{
	const uint32_t child = n->first_child;

	if (n->samples || child == PP_NONE || p->merged[child].next != PP_NONE ||
	    p->functions[n->function].kind >= PP_KIND_THREAD)
		return PP_NONE;
	return child;
}

/* Writes a chain of single calls in one line, repeated ones as "name x3". Returns its last one. */
static uint32_t put_chain(struct pp_out *out, uint32_t at, size_t columns)
{
	const struct pp_profile *p = out->p;
	size_t used = 0;

	for (;;) {
		const uint32_t function = p->merged[at].function;
		uint32_t child = only_child(p, &p->merged[at]);
		size_t times = 1;

		for (; child != PP_NONE && p->merged[child].function == function; times++) {
			at = child;
			child = only_child(p, &p->merged[at]);
		}
		if (!columns || used + 8 < columns)
			used += pp_put_name(out, pp_name_of(p, &p->merged[at]),
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

static uint32_t put_line(struct pp_out *out, uint32_t at, size_t depth, uint64_t all)
{
	const struct pp_merged *n = &out->p->merged[at];
	const double scale = all ? 100.0 / (double)all : 0;
	const size_t numbers = 20, indent = INDENT * (depth < DEEPEST ? depth : DEEPEST);

	pp_printf(out, "%6.1f %%  %*s", (double)pp_total(n, out->o.measure) * scale, (int)indent,
		  "");
	at = put_chain(out, at, out->o.columns > numbers + indent + 20 ?
				out->o.columns - numbers - indent : 0);
	n = &out->p->merged[at];
	if (n->samples && n->first_child != PP_NONE)
		pp_printf(out, "  (self %.1f %%)", (double)pp_self(n, out->o.measure) * scale);
	pp_put_text(out, "\n");
	return at;
}

/* Lines are as deep as they are indented: each line, whatever its chain, is one level. */
int pp_write_tree(struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	const uint32_t root = p->events[out->o.event].merged;
	const uint64_t all = pp_total(&p->merged[root], out->o.measure);
	size_t depth = 0, capacity = 0;
	uint32_t *tops = NULL, *more, at = root;

	pp_put_summary(out);
	pp_put_text(out, "\n   total  calls\n");
	while (at != PP_NONE) {
		more = pp_memory_grow(&out->p->memory, tops, &capacity, depth + 1, sizeof(*tops));
		if (!more)
			break;
		tops = more;
		tops[depth] = at;
		if (is_shown(out, &p->merged[at], all)) {
			const uint32_t last = put_line(out, at, depth, all);

			if (p->merged[last].first_child != PP_NONE) {
				at = p->merged[last].first_child;
				depth++;
				continue;
			}
		}
		while (depth && p->merged[tops[depth]].next == PP_NONE)
			depth--;
		at = depth ? p->merged[tops[depth]].next : PP_NONE;
	}
	pp_memory_free(&out->p->memory, tops, capacity, sizeof(*tops));
	return at == PP_NONE ? 0 : -1;
}
