/* firsts.c - when each stack had its first sample: samples need not come in the order of time. */
#include "profile/firsts.h"

void pp_firsts_note(struct pp_profile *p, uint32_t node, const struct pp_first *sample)
{
	struct pp_firsts *f = &p->firsts;
	struct pp_first *items;

	f->is_unordered |= sample->time < f->last;
	f->last = sample->time;
	if (f->is_given_up)
		return;
	items = pp_memory_grow(&p->memory, f->of_node, &f->capacity, (size_t)node + 1,
			       sizeof(*items));
	if (!items) {
		pp_firsts_free(f, &p->memory);
		f->is_given_up = true;
		return;
	}
	f->of_node = items;
	if (!p->tree.nodes[node].samples || pp_is_earlier(sample, &items[node]))
		items[node] = *sample;
}

const struct pp_first *pp_firsts_of(const struct pp_profile *p, uint32_t node)
{
	return node < p->firsts.capacity && p->tree.nodes[node].samples ?
		       &p->firsts.of_node[node] : NULL;
}

void pp_firsts_free(struct pp_firsts *f, struct pp_memory *m)
{
	pp_memory_free(m, f->of_node, f->capacity, sizeof(*f->of_node));
	*f = (struct pp_firsts){ 0 };
}
