/* history_guests.c - which records are of virtual machines: see history_guests.h. */
#include "model/history_guests.h"

#include <string.h>

/* The two arrays of ID_INDEX while it is visited: the same ids in the same order. */
struct index_reader {
	struct pd_history *h;
	struct pd_array ids;		/* uint64_t */
	size_t at;			/* in vcpu_entries */
	uint64_t machine_pid;
	bool is_failed;
};

static uint8_t number_of(struct pd_history *h, int32_t machine_pid)
{
	int32_t *known = h->machines.items;

	for (uint32_t i = 0; i < h->machines.nr; i++)
		if (known[i] == machine_pid)
			return (uint8_t)(i + 1);
	if (h->machines.nr == PD_GUESTS_MAX)
		return PD_GUEST_LEFT_OUT;
	known = pd_array_add(&h->machines, 1);
	if (!known)
		return 0;
	*known = machine_pid;
	return (uint8_t)h->machines.nr;
}

static int add_guest(struct pd_history *h, uint64_t id, uint64_t machine_pid, uint64_t vcpu)
{
	const uint8_t number = number_of(h, (int32_t)machine_pid);
	struct pd_guest *g = pd_map_find(&h->guests, id);

	if (!number)
		return -1;
	if (g)	/* the first counts, as for events */
		return 0;
	g = pd_arena_alloc(&h->arena, sizeof(*g));
	if (!g)
		return -1;
	*g = (struct pd_guest){ machine_pid, vcpu, number };
	return pd_map_add(&h->guests, id, g);
}

static void see_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct index_reader *n = ctx;
	const char *name = pd_field_name(f);

	if (strcmp(name, "id") == 0) {
		uint64_t *id = pd_array_add(&n->ids, 1);

		if (id)
			*id = value;
		else
			n->is_failed = true;
	} else if (strcmp(name, "machine_pid") == 0) {
		n->machine_pid = value;
	} else if (strcmp(name, "vcpu") == 0) {
		if (n->machine_pid && n->at < n->ids.nr)
			n->is_failed |= add_guest(n->h, ((uint64_t *)n->ids.items)[n->at],
						  n->machine_pid, value) != 0;
		n->at++;
	}
}

int pd_history_learn_guests(struct pd_history *h, const struct pd_record *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = see_number };
	struct index_reader n = { .h = h, .ids = { .budget = &h->budget, .width = 8 } };

	pd_record_visit(r, &v, &n);
	pd_array_free(&n.ids);
	return n.is_failed ? -1 : 0;
}

const struct pd_guest *pd_history_guest(const struct pd_history *h, uint64_t id)
{
	return h->machines.nr ? pd_map_find(&h->guests, id) : NULL;
}

const struct pd_guest *pd_history_guest_of(const struct pd_history *h, const struct pd_record *r)
{
	const enum pd_part part = r->frame.type == PD_RECORD_SAMPLE ? PD_OF_BODY : PD_OF_TRAILER;
	uint64_t id;

	if (!h->machines.nr || (!pd_record_number(r, part, PD_HOT_IDENTIFIER, &id) &&
				!pd_record_number(r, part, PD_HOT_ID, &id)))
		return NULL;
	return pd_history_guest(h, id);
}
