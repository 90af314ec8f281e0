/* history_plans.h - reads the fields that a history needs from side-band records, by their names in
 * the tables. */
#ifndef PD_MODEL_HISTORY_PLANS_H
#define PD_MODEL_HISTORY_PLANS_H

#include "model/history.h"

enum pd_side_number {
	PD_SIDE_PID, PD_SIDE_TID, PD_SIDE_PPID, PD_SIDE_PTID, PD_SIDE_TIME,
	PD_SIDE_ADDR, PD_SIDE_LEN, PD_SIDE_PGOFF, PD_SIDE_MAJ, PD_SIDE_MIN, PD_SIDE_INO,
	PD_SIDE_INO_GENERATION, PD_SIDE_BUILD_ID_SIZE, PD_SIDE_PROT, PD_SIDE_FLAGS,
	PD_SIDE_KSYM_TYPE, PD_SIDE_ID, PD_SIDE_BPF_TYPE, PD_SIDE_LOST,
	PD_NR_SIDE_NUMBERS,
};

/* Fields of a record; numbers are sign-extended where the tables say so. */
struct pd_side_band {
	uint32_t has;		/* bits: enum pd_side_number */
	uint64_t n[PD_NR_SIDE_NUMBERS];
	struct pd_bytes text;	/* the last row: a path or name */
	struct pd_bytes build_id;	/* all bytes that there is room for; or a tag */
};

static inline bool pd_side_has(const struct pd_side_band *s, enum pd_side_number which)
{
	return s->has >> which & 1;
}

struct pd_history_plans *pd_history_plans_new(void);
void pd_history_plans_free(struct pd_history_plans *p);

/* Reads a record. Returns false if it is not intact. */
bool pd_side_band_read(struct pd_history_plans *p, const struct pd_record *r,
		       struct pd_side_band *out);

#endif
