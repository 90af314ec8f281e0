/* verdict.h - whether a file is the one that was recorded. */
#ifndef PS_FIND_VERDICT_H
#define PS_FIND_VERDICT_H

#include <stdbool.h>

#include "pd/symbols.h"

/* The identity of a file, from the recording or from fstat(2). */
struct ps_identity {
	struct pd_bytes build_id;	/* empty: none */
	uint64_t ino;			/* 0: unknown */
	uint32_t maj, min;
	uint64_t generation;		/* 0: unknown */
	uint64_t changed;		/* of a found file: its ctime, s; of the recording: when it
					 * began or ended; 0: unknown */
};

/* Recorded build ids are padded with zeros, or lack zeros at their end, where the recorder did not
 * state their size. */
bool ps_build_ids_agree(struct pd_bytes a, struct pd_bytes b);

/* Judges an image. */
enum ps_match ps_judge_image(const struct ps_identity *recorded, const struct ps_identity *found);

/* Judges a debug file: by its build id if the image has one, else by the checksum that the image
 * states. */
enum ps_match ps_judge_debug(const struct ps_identity *image, const struct ps_identity *found,
			     const struct ps_wanted *what, struct pd_bytes file);

#endif
