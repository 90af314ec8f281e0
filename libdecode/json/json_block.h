/* json_block.h - records that wait for a worker, and the JSON that it writes for them. */
#ifndef PD_JSON_JSON_BLOCK_H
#define PD_JSON_JSON_BLOCK_H

#include "json/json.h"
#include "stream/batch.h"

/* Bytes of records in a full block. */
#define PD_JSON_BLOCK_BYTES (224 * 1024)
#define PD_JSON_BLOCK_RECORDS 4096

/* A sample whose raw data are too short: reported after its block. */
struct pd_json_missing {
	uint64_t offset, want, have;
	const char *file;
};

/* An output buffer. */
struct pd_json_outbuf {
	const void *writer;		/* the worker that used it last, or NULL */
	bool taken;
	char *text;			/* starts after one byte, for the comma rule */
	size_t size, capacity;
};

/* Consecutive records: simple ones of one batch, or items. */
struct pd_json_span {
	const uint8_t *data;		/* of the batch; NULL: items */
	uint64_t offset, inner_offset;
	const char *file;
	uint32_t from, count;		/* in the block's simples or items */
};

struct pd_json_block {
	struct pd_window *pinned;	/* bytes of batches; NULL: copied, or never unmapped */
	bool first;			/* has the document's first record */
	bool failed;			/* out of memory: its output is incomplete */
	size_t nr_spans, nr_simples, nr_items, nr_missing, missing_capacity;
	size_t size;			/* of all records */
	size_t used, capacity;		/* of bytes, which must not move */
	uint8_t *bytes;
	struct pd_json_outbuf *outbuf;	/* its JSON; NULL: none yet */
	struct pd_json_missing *missing;
	struct pd_json_span spans[PD_JSON_BLOCK_RECORDS];
	struct pd_simple simples[PD_JSON_BLOCK_RECORDS];
	struct pd_record items[PD_JSON_BLOCK_RECORDS];
};

struct pd_json_block *pd_json_block_new(void);
void pd_json_block_free(struct pd_json_block *b);

/* Copies the record. Returns 1, 0 if the block is full, or -1 if there is no memory. */
int pd_json_block_add(struct pd_json_block *b, const struct pd_record *r);

/* Adds as many records of the batch as fit. Pins the reader's window, or copies their bytes. */
void pd_json_block_add_batch(struct pd_json_block *b, struct pd_batch *batch,
			     struct pd_reader *reader);

/* Writes the block as JSON to an output buffer. `j` is the worker's own sink, which counts the
 * simple records. A full output buffer is written to `full`. */
void pd_json_block_write(struct pd_json_block *b, struct pd_json_outbuf *outbuf, struct pd_json *j,
			 struct pd_output full);

static inline bool pd_json_block_is_empty(const struct pd_json_block *b)
{
	return !b->nr_spans;
}

/* Clears the block for new records. For the thread that reads. */
void pd_json_block_clear(struct pd_json_block *b);

#endif
