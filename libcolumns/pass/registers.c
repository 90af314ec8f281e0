/* registers.c - names of the registers that samples of an event have. */
#include "pass/registers.h"

#include <string.h>

/* The fields of samples, and their columns in `events`. */
static const struct {
	const char *field;
	unsigned int column;
} kinds[] = {
	{ "regs_user.regs", PC_EVENTS_USER_REGS }, { "regs_intr.regs", PC_EVENTS_INTR_REGS },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct pc_register_lists {
	struct {
		size_t start, count;	/* in `names`; 0: not known */
	} of[NR_KINDS];
};

/* Returns the lists of an event, or NULL without memory. */
static struct pc_register_lists *lists_of(struct pc_registers *x, size_t event)
{
	const struct pc_register_lists none = { { { 0, 0 } } };

	while (x->lists.size / sizeof(none) <= event && !x->lists.failed)
		pd_buf_append(&x->lists, &none, sizeof(none));
	return x->lists.failed ? NULL :
		(struct pc_register_lists *)(void *)x->lists.data + event;
}

void pc_registers_learn(struct pc_registers *x, size_t event, const struct pd_record *r)
{
	struct pc_register_lists *lists = lists_of(x, event);
	struct pd_numbers n;

	for (size_t i = 0; lists && i < NR_KINDS; i++) {
		if (lists->of[i].count || !pd_record_get_numbers(r, kinds[i].field, &n) || !n.names)
			continue;
		lists->of[i].start = x->names.size;
		for (size_t k = 0; k < n.count; k++)
			pd_buf_append(&x->names, n.names[k], strlen(n.names[k]) + 1);
		lists->of[i].count = x->names.failed ? 0 : n.count;
	}
}

void pc_registers_set(struct pc_registers *x, size_t event, struct pc_batch *events)
{
	const struct pc_register_lists *lists = lists_of(x, event);

	for (size_t i = 0; lists && i < NR_KINDS; i++) {
		const char *name;

		if (!lists->of[i].count)
			continue;
		pc_set_list(events, kinds[i].column);
		name = (const char *)x->names.data + lists->of[i].start;
		for (size_t k = 0; k < lists->of[i].count; k++, name += strlen(name) + 1)
			pc_add_text(events, kinds[i].column, pc_text_bytes(name));
	}
}

void pc_registers_free(struct pc_registers *x)
{
	pd_buf_free(&x->lists);
	pd_buf_free(&x->names);
}
