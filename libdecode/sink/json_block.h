/* json_block.h - records that wait for a thread, and the JSON that it makes of them. */
#ifndef PD_SINK_JSON_BLOCK_H
#define PD_SINK_JSON_BLOCK_H

#include "sink/json.h"

#define PD_JSON_BLOCK_BYTES (128 * 1024)	/* of records, after which a block is full */
#define PD_JSON_BLOCK_RECORDS 1024

/* A record in a block: what it takes to make a struct pd_record of the copy. */
struct pd_json_item {
	uint64_t offset, inner_offset;
	const struct pd_record_desc *desc;
	const struct pd_attr *attr;
	const struct pd_plan *plan, *trailer;
	const char *file;
	uint32_t type, at, size, trailer_size, nr_ops, end;
	uint16_t misc, header_size;
	uint8_t state, variant, code;
};

/* A sample whose raw data were too short: said behind its block. */
struct pd_json_missing {
	uint64_t offset, want, have;
	const char *file;
};

struct pd_json_block {
	bool first;			/* holds the document's first record */
	bool failed;			/* out of memory: its output is not whole */
	size_t nr_items, nr_missing, missing_capacity;
	size_t used, capacity;		/* of bytes */
	uint8_t *bytes;
	char *text;			/* out[-1] is for what stood before */
	size_t text_size, text_capacity;
	struct pd_json_missing *missing;
	struct pd_json_item items[PD_JSON_BLOCK_RECORDS];
};

struct pd_json_block *pd_json_block_new(void);
void pd_json_block_free(struct pd_json_block *b);

/* Copies the record: 1; 0: the block is full; -1: no memory. */
int pd_json_block_add(struct pd_json_block *b, const struct pd_record *r);

/* Makes JSON of it with a thread's own sink. */
void pd_json_block_write(struct pd_json_block *b, struct pd_json *j);

/* The JSON. */
static inline struct pd_bytes pd_json_block_text(const struct pd_json_block *b)
{
	return (struct pd_bytes){ (const uint8_t *)b->text + 1, b->text_size };
}

static inline bool pd_json_block_is_empty(const struct pd_json_block *b)
{
	return !b->nr_items;
}

/* For new records. */
void pd_json_block_empty(struct pd_json_block *b);

#endif
