/* event_names.c - names of events for formats in which a name stands for one column. */
#include "profile/event_names.h"

#include <string.h>

bool *pp_find_repeated_names(struct pp_profile *p)
{
	bool *are_repeated = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*are_repeated));
	struct pp_strings names = { 0 };
	bool is_whole = are_repeated;

	for (size_t i = 0; is_whole && i < p->nr_events; i++) {
		const char *name = p->events[i].weigher.name;
		const size_t before = names.nr;

		is_whole = pp_strings_add(&names, &p->memory, name, strlen(name)) != PP_NONE;
		are_repeated[i] = names.nr == before;
	}
	pp_strings_free(&names, &p->memory);
	if (is_whole)
		return are_repeated;
	pp_memory_free(&p->memory, are_repeated, p->nr_events, sizeof(*are_repeated));
	return NULL;
}
