/* json_block.h - records that wait for a thread, and the JSON that it makes of them. */
#ifndef PD_JSON_JSON_BLOCK_H
#define PD_JSON_JSON_BLOCK_H

#include "json/json.h"
#include "stream/batch.h"

#define PD_JSON_BLOCK_BYTES (224 * 1024)	/* of records, after which a block is full: holds what is read ahead at once */
#define PD_JSON_BLOCK_RECORDS 4096

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

/* What a thread writes on. It is in the cache of whoever wrote on it last. */
struct pd_json_sheet {
	const void *writer;		/* who; NULL: nobody did */
	bool taken;
	char *text;			/* behind one byte, for the comma rule */
	size_t size, capacity;
};

/* Records in a row: plain ones, one behind the other, or items. */
struct pd_json_span {
	const uint8_t *data;		/* of a run's; NULL: items */
	uint64_t offset, inner_offset;
	const char *file;
	uint32_t from, count;		/* in the block's plains or items */
};

struct pd_json_block {
	struct pd_window *held;		/* where the runs' bytes lie; NULL: they were copied, or stay anyway */
	bool first;			/* holds the document's first record */
	bool failed;			/* out of memory: its output is not whole */
	size_t nr_spans, nr_simples, nr_items, nr_missing, missing_capacity;
	size_t size;			/* of all records */
	size_t used, capacity;		/* of bytes, which stay where they are */
	uint8_t *bytes;
	struct pd_json_sheet *sheet;	/* with the JSON; NULL: none yet */
	struct pd_json_missing *missing;
	struct pd_json_span spans[PD_JSON_BLOCK_RECORDS];
	struct pd_simple simples[PD_JSON_BLOCK_RECORDS];
	struct pd_json_item items[PD_JSON_BLOCK_RECORDS];
};

struct pd_json_block *pd_json_block_new(void);
void pd_json_block_free(struct pd_json_block *b);

/* Is there room for a record of so many bytes? */
bool pd_json_block_fits(const struct pd_json_block *b, size_t size);
/* Copies the record: 1; 0: the block is full; -1: no memory. */
int pd_json_block_add(struct pd_json_block *b, const struct pd_record *r);

/* Takes of the run what there is room for. Its bytes stay in the reader's window where they can, else they are copied. */
void pd_json_block_add_batch(struct pd_json_block *b, struct pd_batch *batch, struct pd_reader *reader);

/* Makes JSON of it on a sheet with a thread's own sink, which counts the plain ones. What a sheet has no room for goes to `full`
 * while the rest is written. */
void pd_json_block_write(struct pd_json_block *b, struct pd_json_sheet *sheet, struct pd_json *j, struct pd_output full);

static inline bool pd_json_block_is_empty(const struct pd_json_block *b)
{
	return !b->nr_spans;
}

/* For new records. By the reader's thread. */
void pd_json_block_empty(struct pd_json_block *b);

#endif
