/* group_writer.h - full batches become row groups of Parquet files, in a thread of its own if there
 * may be two. */
#ifndef PC_GROUP_WRITER_H
#define PC_GROUP_WRITER_H

#include <pthread.h>

#include "parquet/parquet.h"

struct pc_group_writer {
	struct pc_parquet files[PC_NR_TABLES];
	ZSTD_CCtx *compressor;
	/* Batches are exchanged with these, which the thread writes: while it does, rows are added
	 * to the others. */
	struct pc_batch spares[PC_NR_TABLES];
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	/* under the lock: */
	struct pc_batch *full[PC_NR_TABLES];	/* spares to be written, in this order: the first
						 * one is being written */
	size_t nr_full;
	bool is_ending;
	int error;			/* of pc_parquet_group() */
};

/* The settings of a writer. */
struct pc_group_writer_options {
	const struct pd_output *outputs;	/* of the tables; without `write`: not wanted */
	const struct pc_batch *batches;		/* of the tables */
	struct pc_selection selection;
	enum pc_unsigned uint64;
	unsigned int threads;
	struct pd_budget *budget;
};

/* Begins the files. Returns 0, or what an output returned; -1: without memory. */
int pc_group_writer_begin(struct pc_group_writer *w, const struct pc_group_writer_options *o);

/* Takes the rows of a batch, which is then to be cleared. Returns 0, or the same, perhaps of an
 * earlier batch. */
int pc_group_writer_add(struct pc_group_writer *w, struct pc_batch *b);

/* Ends the files and frees what the writer has. Returns 0, or the same. */
int pc_group_writer_end(struct pc_group_writer *w);

#endif
