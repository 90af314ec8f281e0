/* buildid_sample.h - where samples of an event have their address, process, time and call chain: in
 * eighths of their bytes, worked out once for an event instead of for each sample. */
#ifndef RECORD_BUILDID_SAMPLE_H
#define RECORD_BUILDID_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/pd.h"

struct sample_places {
	uint64_t sample_type, read_format;
	/* Places in the words behind the header; -1: none. */
	int ip, tid, time, id;
	int read;		/* its size is told by its first word where it is a group's */
	size_t words;		/* up to there, at least */
};

/* Of all events of a recording. */
struct sample_table {
	struct sample_places *places;
	size_t n;
	bool alike;		/* one for all: no id needs to be looked up */
	struct sample_id { uint64_t id; size_t event; } *ids;
	size_t nr_ids;
	const struct sample_id *last;
};

/* What a sample says. */
struct sample_seen {
	uint64_t ip, time;
	int32_t pid;
	bool has_ip, has_time;
	const uint64_t *chain;
	size_t nr_chain;
};

/* False: no memory, or events whose samples can't be told apart this way. */
bool sample_table_read(struct sample_table *t, struct pd_reader *reader);
void sample_table_free(struct sample_table *t);

/* The words behind a sample's header. False: it is too short, or no event's. */
bool sample_see(struct sample_table *t, const uint64_t *words, size_t n, struct sample_seen *out);

#endif
