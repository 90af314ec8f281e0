/* columns_internal.h - a pass over a recording, step by step. */
#ifndef PC_COLUMNS_INTERNAL_H
#define PC_COLUMNS_INTERNAL_H

#include <stdatomic.h>

#include "pass/leaders.h"
#include "pass/registers.h"
#include "pd/tree.h"
#include "samples/chains.h"
#include "samples/codes.h"
#include "samples/recent.h"
#include "samples/samples_queue.h"
#include "samples/sites.h"
#include "tables/batch.h"

enum { PC_ITEMS = 256 };

/* Takes a full batch, or the last one, which may be empty. Returns 0 to continue. */
typedef int (*pc_flush_fn)(void *ctx, struct pc_batch *b);

/* Totals for the rows at the end of a recording. */
struct pc_totals {
	uint64_t records, samples, lost, lost_samples, throttled, errors;
	uint64_t first, last;		/* times of samples, PD_NO_TIME: none */
	struct pd_range credible;	/* see pd_reader_credible_times() */
	bool is_damaged, is_unreadable;
};

enum { PC_WHYS = 32 };	/* more than enum pd_why has */

/* How many frames have a name, for pd_namer.totals. */
struct pc_named {
	uint64_t by_why[PC_WHYS];
	struct pd_buf images;	/* struct pd_image_frames */
};

/* The numbers that a sample refers to. PC_NONE: none. */
struct pc_numbered {
	uint32_t frame, stack;
};

/* Records, events and features as lines of JSON in memory. */
struct pc_json {
	struct pd_sink *sink;
	struct pd_buf line;	/* of the last record */
	struct pd_buf header;	/* lines of events and features */
	size_t at;		/* of the next line in `header` */
	bool is_made;
};

struct pc_columns {
	struct pc_options o;
	struct pd_budget budget;
	struct pd_reader *reader;
	struct pc_selection selection;
	struct pc_batch batches[PC_NR_TABLES];
	size_t max_rows, max_bytes;	/* of a batch */
	size_t rows_a_check;	/* of a batch's memory and size */
	size_t side_size;		/* bytes of batches that samples have no rows in */
	struct pc_chains chains;
	struct pc_codes codes;
	struct pc_recents recents;
	struct pc_totals totals;
	struct pc_json json;
	struct pd_tree *tree;
	bool has_trees;		/* pc_wants_trees() */
	bool needs_records;	/* pc_needs_records() */
	bool wants_tasks, wants_rest, wants_period, numbers_frames;	/* of samples */
	bool checks_raw;	/* of samples whose fields are not read, for `errors` and `files` */
	uint32_t fields;	/* enum pd_fields_bit */
	pc_flush_fn flush;		/* NULL: not yet known, the batches grow */
	void *ctx;
	atomic_int refused;	/* what `flush` or `on_read` returned if not 0; -1: no memory */

	struct pd_fields items[PC_ITEMS];	/* of the last batch of records */
	int nr_items, item;
	bool is_inner;		/* they are in a decompressed stream */
	unsigned int ending;		/* tables of what is known at the end */
	size_t end_row;

	struct pd_location *stack;	/* of the last sample */
	size_t stack_capacity;
	struct pc_samples samples;	/* without a queue */
	struct pc_samples_queue queue;
	struct pc_samples *open;	/* more may be added; NULL: there are none */
	struct pc_numbered *numbered;	/* of samples, by their slot in `recents` */
	struct pc_site *sites;		/* PC_NR_SITES, by a hash of the key and the address */
	uint32_t *site_frames;		/* numbers of their frames */
	struct pd_buf numbers;		/* uint32_t: the frames of the stack */
	struct pd_buf first_times;	/* uint64_t: of the objects */
	struct pd_buf facts;		/* enum pc_fact, a byte for each event */
	struct pc_registers registers;
	struct pd_buf leaders;		/* of the groups of events */
	struct pc_named named;
};

enum pc_step { PC_STEP_MORE, PC_STEP_END, PC_STEP_FAILED };

/* Starts the pass. `flush` gets the batches in the order in which they become full. Returns 0 or
 * -1 and *e. */
int pc_begin(struct pc_columns *c, struct pd_reader *r, pc_flush_fn flush, void *ctx,
	     struct pd_error *e);

/* Makes a step, and a row of `errors` if reading cannot continue: *e is then set, and else not
 * changed. Returns true after the last step, or if c->refused is not 0. */
bool pc_run_step(struct pc_columns *c, struct pd_error *e);

/* Makes all steps. Returns and sets *e as pc_write_parquet(). */
int pc_run(struct pc_columns *c, struct pd_error *e);

/* Returns the batch for a new row, or NULL: the table is not wanted, or nothing is any more. */
struct pc_batch *pc_start_row(struct pc_columns *c, enum pc_table_number table);
/* Ends the row, and the batch if it is full. */
void pc_finish_row(struct pc_columns *c, struct pc_batch *b);
/* The same for up to n rows, as many as *rows says. */
struct pc_batch *pc_start_rows(struct pc_columns *c, enum pc_table_number table, size_t n,
			       size_t *rows);
void pc_finish_rows(struct pc_columns *c, struct pc_batch *b, size_t rows);
/* Keeps the first failure: another thread may find one at the same time. 0 is none. */
void pc_note_refusal(struct pc_columns *c, int refused);
void pc_flush_batch(struct pc_columns *c, struct pc_batch *b);
/* Keeps the batches of pc_columns.side_size together at the size of two: flushes the largest. No
 * row may be open. */
void pc_limit_side(struct pc_columns *c);
/* Sets a value of the row: a number, or its name as a text. NULL is NULL. */
void pc_set_item(struct pc_batch *b, unsigned int column, const struct pd_item *item);

static inline bool pc_wants(const struct pc_columns *c, enum pc_table_number table)
{
	return c->batches[table].table != NULL;
}

/* Returns whether a filter keeps the record. */
bool pc_keeps(struct pc_columns *c, const struct pd_fields *item);

/* Adds a sample, of which *f then has the period, too, if that is its event's. Rows are made when
 * there are many, or at pc_end_samples(). */
void pc_add_sample(struct pc_columns *c, struct pd_fields *f);
void pc_end_samples(struct pc_columns *c);
/* Adds a sample, finding its thread and the places of its addresses. */
void pc_find_sample(struct pc_columns *c, struct pc_samples *s, const struct pd_fields *f);
/* Lets a thread make the rows, as far as it can, until pc_queue_stop(). */
void pc_queue_samples(struct pc_columns *c);
/* Numbers the frames and stacks of samples. */
void pc_number_samples(struct pc_columns *c, struct pc_samples *s);
/* Returns whether a column takes more than the usual fields. */
bool pc_needs_records(const struct pc_batch *samples);
/* Returns whether a column takes a tree of the whole record. */
bool pc_wants_trees(const struct pc_batch *samples);
/* Sets the columns of groups that take more than a number each. */
void pc_set_groups(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f,
		   const struct pd_record *r);
/* Adds the functions of a new frame. */
void pc_add_symbols(struct pc_columns *c, uint32_t frame, int32_t pid,
		    const struct pd_location *at);
/* Tells the namer how many frames have a name. */
void pc_report_named(struct pc_columns *c);
/* Adds the rows of another record. */
void pc_add_record(struct pc_columns *c, const struct pd_fields *f);

/* Adds the next row of a table that is made at the end. Returns false if there are no more. */
bool pc_add_object(struct pc_columns *c, size_t i);
void pc_learn_first_times(struct pc_columns *c);
bool pc_add_map(struct pc_columns *c, size_t i);
bool pc_add_task(struct pc_columns *c, size_t i);
bool pc_add_event(struct pc_columns *c, size_t i);
bool pc_add_feature(struct pc_columns *c, size_t i);
bool pc_add_file(struct pc_columns *c, size_t i);

/* Returns the record as a line of JSON, borrowed until the next; size 0 without memory. */
struct pd_bytes pc_json_of_record(struct pc_columns *c, const struct pd_record *r);
/* Returns the next line that starts with `prefix`, without that and the newline; size 0: there is
 * none. Events come before features. */
struct pd_bytes pc_json_next_line(struct pc_columns *c, const char *prefix);
void pc_json_free(struct pc_json *j);

#endif
