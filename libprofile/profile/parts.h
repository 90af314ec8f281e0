/* parts.h - the samples of each event in each track, for formats that write one after the other. */
#ifndef PP_PARTS_H
#define PP_PARTS_H

#include "profile/profile_internal.h"

/* The samples of one event in one track, those that are left out aside. */
struct pp_part {
	uint32_t event, track;
	uint64_t samples, weight;
	size_t first;	/* in pp_parts.samples */
};

/* Must be zero-initialized. */
struct pp_parts {
	struct pp_profile *p;
	struct pp_part *items;		/* by event, then track; none is empty */
	size_t nr, capacity;
	struct pp_item *samples;	/* of all parts; NULL: they are read from the tracks */
	uint64_t nr_samples;
};

/* Fills in the parts of a merged profile. Returns 0, or -1 without memory; pp_parts_free() is due
 * in any case. */
int pp_parts_make(struct pp_parts *parts, struct pp_profile *p);
void pp_parts_free(struct pp_parts *parts);

/* Returns the place of an event's first part: the next ones are its others. */
size_t pp_parts_of(const struct pp_parts *parts, size_t event);

/* A part that is being read. Only one is at a time. */
struct pp_part_reader {
	const struct pp_parts *parts;
	const struct pp_part *part;
	uint64_t read;
	struct pp_track_reader track;
};

struct pp_part_reader pp_part_read(const struct pp_parts *parts, const struct pp_part *part);

/* Reads the next sample. Returns false after the last, or when the tracks' file can't be read. */
bool pp_part_next(struct pp_part_reader *r, struct pp_item *item);

#endif
