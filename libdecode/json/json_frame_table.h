/* json_frame_table.h - the locations of samples, each once: what frame_ids refer to. */
#ifndef PD_JSON_FRAME_TABLE_H
#define PD_JSON_FRAME_TABLE_H

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "pd/history.h"
#include "pd/names.h"

/* Locations with the same key are one frame: they have the same names. */
struct pd_frame_key {
	uint64_t offset;	/* in the image; an address where there is none */
	uint64_t since;		/* pd_namer.since() */
	uint32_t image;
	int32_t pid;		/* of memory without a file, whose code is the process's own; else
				 * -1 */
	uint8_t why, flags;	/* without an image; enum pd_location_flag */
};

struct pd_frame_entry {
	struct pd_frame_entry *same_hash;
	struct pd_frame_key key;
	struct pd_location location;	/* the first of them by the start of its map */
	uint64_t frames;		/* of samples */
};

/* Must be zero-initialized, except for the budgets. */
struct pd_frame_table {
	struct pd_arena arena;
	struct pd_map by_hash;
	uint64_t seed;		/* 0: no entry yet */
	size_t nr;
	bool is_cut;		/* no memory for an entry, or for the locations of a sample */
};

struct pd_frame_key pd_frame_key_of(const struct pd_history *h, const struct pd_namer *namer,
				    int32_t pid, const struct pd_location *l);
/* Writes the id: "IMAGE:OFFSET", or "WHY:ADDRESS" without an image; then "@PID", "tSINCE", and a
 * letter for each flag. */
void pd_frame_key_write(struct pd_jsonw *w, const struct pd_frame_key *key);

/* Adds a location, which is that of `frames` frames. */
void pd_frame_table_add(struct pd_frame_table *t, const struct pd_frame_key *key,
			const struct pd_location *l, uint64_t frames);
/* Moves all entries of `from`. */
void pd_frame_table_collect(struct pd_frame_table *t, struct pd_frame_table *from);
/* Returns the entries in the order of their keys, as an array of t->nr to be given to free(); NULL
 * without memory, or if there are none. */
const struct pd_frame_entry **pd_frame_table_sorted(const struct pd_frame_table *t);
void pd_frame_table_free(struct pd_frame_table *t);

#endif
