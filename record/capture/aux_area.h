/* aux_area.h - the second buffer of PMUs that trace: Intel PT, CoreSight, SPE. */
#ifndef RECORD_AUX_AREA_H
#define RECORD_AUX_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/ring.h"
#include "pd/write.h"

enum aux_kind {
	AUX_FULL,		/* all that is traced */
	AUX_SNAPSHOT,		/* the newest, when asked for (-S) */
	AUX_SAMPLES,		/* what samples take from it; it is not written by itself */
};

struct aux_area {
	enum aux_kind kind;
	const struct ring *ring;	/* whose first page it is described in */
	uint32_t idx;			/* of the buffer */
	uint8_t *data;
	size_t size;
	uint64_t tail;
};

/* 0; ENOTSUP where the event has none; or another errno. */
int aux_area_map(struct aux_area *a, const struct ring *r, size_t size, enum aux_kind kind,
		 uint32_t idx);
void aux_area_unmap(struct aux_area *a);

/* What is new as an AUXTRACE record; nothing when nothing is. 0, or -1 and *e. */
int aux_area_write(struct aux_area *a, struct pd_writer *w, struct pd_error *e);

#endif
