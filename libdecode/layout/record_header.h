/* record_header.h - struct perf_event_header, the start of every record. */
#ifndef PD_LAYOUT_RECORD_HEADER_H
#define PD_LAYOUT_RECORD_HEADER_H

#include "base/cursor.h"

#define PD_RECORD_HEADER_SIZE 8
#define PD_RECORD_SIZE_AT 6	/* offset in the header, 2 bytes */

struct pd_record_header {
	uint32_t type;
	uint16_t misc, size;
};

/* p: PD_RECORD_HEADER_SIZE bytes. Compilers load only the members that are used. */
static inline struct pd_record_header pd_record_header_load(const uint8_t *p, enum pd_swap swap)
{
	return (struct pd_record_header){
		.type = pd_load32(p, swap), .misc = pd_load16(p + 4, swap),
		.size = pd_load16(p + PD_RECORD_SIZE_AT, swap),
	};
}

/* Returns false if too few bytes are left. */
static inline bool pd_take_record_header(struct pd_cursor *c, struct pd_record_header *h)
{
	const uint8_t *p = pd_take(c, PD_RECORD_HEADER_SIZE);

	if (p)
		*h = pd_record_header_load(p, c->swap);
	return p;
}

static inline void pd_record_header_store(uint8_t *p, struct pd_record_header h, enum pd_swap swap)
{
	pd_store(p, h.type, 4, swap);
	pd_store(p + 4, h.misc, 2, swap);
	pd_store(p + PD_RECORD_SIZE_AT, h.size, 2, swap);
}

#endif
