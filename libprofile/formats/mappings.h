/* mappings.h - the code of a profile for formats with addresses: where images are mapped, and the
 * locations in them. */
#ifndef PP_MAPPINGS_H
#define PP_MAPPINGS_H

#include "profile/profile_internal.h"

/* A part of an image, at the address of the first process that maps it. */
struct pp_mapping {
	uint32_t image;
	uint64_t start, len, pgoff;
	const struct pp_named *named;	/* a function there */
	bool is_program, has_names;
};

/* Must be zero-initialized, but for the memory. */
struct pp_mappings {
	struct pp_memory *memory;
	const struct pp_profile *p;
	uint32_t *locations;		/* of each frame: its number from 1, 0: not used */
	uint32_t nr_locations;		/* of all profiles */
	struct pp_mapping *items;
	size_t nr, capacity;
	struct pp_index index;
	uint32_t *of_frame;		/* the mapping of each frame; PP_NONE: none */
	int failed;			/* 0, or -1 without memory */
};

/* Begins with the frames of a profile. Returns 0, or -1 without memory. */
int pp_mappings_start(struct pp_mappings *m, const struct pp_profile *p);

/* Forgets the frames and mappings of the profile; the numbers of locations go on. */
void pp_mappings_end(struct pp_mappings *m);

/* Returns the location of a frame, or 0 if it has none. */
uint32_t pp_location_of(struct pp_mappings *m, uint32_t frame);

/* Returns the address of a frame in its mapping, which it must have. */
uint64_t pp_location_address(const struct pp_mappings *m, uint32_t frame);

#endif
