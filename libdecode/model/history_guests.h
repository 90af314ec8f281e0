/* history_guests.h - virtual machines: records whose id belongs to one (ID_INDEX) are of its tasks
 * and maps, whose numbers and addresses are not the host's. */
#ifndef PD_MODEL_HISTORY_GUESTS_H
#define PD_MODEL_HISTORY_GUESTS_H

#include "model/history.h"

#define PD_HOST 0
#define PD_GUESTS_MAX 254
#define PD_GUEST_LEFT_OUT 255	/* one of too many: nothing of it is kept */

/* A virtual CPU. */
struct pd_guest {
	uint64_t machine_pid, vcpu;
	uint8_t number;		/* of the machine: 1 to PD_GUESTS_MAX, or PD_GUEST_LEFT_OUT */
};

/* Learns from an ID_INDEX record. Returns 0, or -1 without memory. */
int pd_history_learn_guests(struct pd_history *h, const struct pd_record *r);
/* Returns the virtual CPU that an event's id belongs to, or NULL: the host's. */
const struct pd_guest *pd_history_guest(const struct pd_history *h, uint64_t id);
const struct pd_guest *pd_history_guest_of(const struct pd_history *h, const struct pd_record *r);

/* history_tasks.c: as pd_history_record_task(), for another thread of the record's machine. */
bool pd_history_machine_task(const struct pd_history *h, const struct pd_record *r, int32_t pid,
			     int32_t tid, struct pd_task *out);

static inline uint8_t pd_guest_number(const struct pd_guest *g)
{
	return g ? g->number : PD_HOST;
}

/* Returns the process of a machine, 0: the host. */
static inline int32_t pd_history_machine_pid(const struct pd_history *h, uint8_t number)
{
	return number && number <= h->machines.nr ?
		((const int32_t *)h->machines.items)[number - 1] : 0;
}

#endif
