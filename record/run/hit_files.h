/* hit_files.h - what a recording has of the files that samples hit: their build ids, and the names
 * of the functions. Both are found when it ends. */
#ifndef RECORD_HIT_FILES_H
#define RECORD_HIT_FILES_H

#include "buildid/buildid.h"
#include "run/recording.h"

/* Writes the features, and takes totals from the pass over the records. *found is zeroed; its lists
 * of names are freed. Returns 0, or -1 and r->file.error. */
int hit_files_write(struct recording *r, struct buildid_summary *found);

/* Writes the names of a stream to the file of --symbols-file, after the stream has ended. */
void hit_files_symbols_file(struct recording *r);

#endif
