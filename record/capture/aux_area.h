/* aux_area.h - the second buffer of PMUs that trace: Intel PT, CoreSight, SPE. */
#ifndef RECORD_AUX_AREA_H
#define RECORD_AUX_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/ring.h"
#include "pd/write.h"

enum aux_kind {
	AUX_FULL,		/* the whole trace */
	AUX_SNAPSHOT,		/* the newest data, on request (-S) */
	AUX_SAMPLES,		/* samples copy parts of it; it is not written itself */
};

struct aux_area {
	enum aux_kind kind;
	const struct ring *ring;	/* its first page has aux_head and the like */
	uint32_t idx;			/* index of the ring buffer */
	uint8_t *data;
	size_t size;
	uint64_t tail;
};

/* Returns 0, ENOTSUP if the event has no AUX area, or another errno. */
int aux_area_map(struct aux_area *a, const struct ring *r, size_t size, enum aux_kind kind,
		 uint32_t idx);
void aux_area_unmap(struct aux_area *a);

/* Writes new data, if any, as an AUXTRACE record. Returns 0, or -1 and *e. */
int aux_area_write(struct aux_area *a, struct pd_writer *w, struct pd_error *e);

#endif
