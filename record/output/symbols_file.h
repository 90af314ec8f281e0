/* symbols_file.h - --symbols-file: feature PD_SYMBOLS of a stream, in a file of its own. A stream
 * can't be read back for the addresses that samples hit: its records are copied to a temporary
 * file. */
#ifndef RECORD_SYMBOLS_FILE_H
#define RECORD_SYMBOLS_FILE_H

#include <stdio.h>

#include "files/atomic_output.h"
#include "base/log.h"
#include "pd/write.h"

struct symbols_file {
	const char *path;		/* NULL: not asked for */
	struct atomic_output out;	/* gets its name at the end */
	FILE *copy;			/* without compression */
	struct pd_writer *header;	/* of the copy, until symbols_file_begin() */
	uint64_t size;			/* bytes of records in the copy */
	bool is_cut;			/* later records are not in the copy */
	bool failed;			/* it was not written */
};

#define SYMBOLS_FILE_CLOSED { .out = ATOMIC_OUTPUT_CLOSED }

/* Opens both files. Returns 0, or an exit status after logging the error. */
int symbols_file_open(struct symbols_file *s, const char *path, const struct logger *log);
/* Writes the header of the copy, after events were added to `header`. Returns 0, or -1 and *e. */
int symbols_file_begin(struct symbols_file *s, struct pd_error *e);
/* Copies the next bytes of the records; the `watch` of pd_writer_options. */
void symbols_file_copy(void *symbols_file, struct pd_bytes bytes);
/* Returns the descriptor of the copy, to be read. Warns if it has not all records. */
int symbols_file_end_copy(struct symbols_file *s, const struct logger *log);
/* Writes the section and gives the file its name; logs an error and sets `failed` if it can't, or
 * if there is no section. */
void symbols_file_write(struct symbols_file *s, struct pd_bytes section, const struct logger *log);
void symbols_file_close(struct symbols_file *s);

#endif
