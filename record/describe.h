/* describe.h - hands synthesis and host information what they need to know of the run. */
#ifndef RECORD_DESCRIBE_H
#define RECORD_DESCRIBE_H

#include "recording.h"

/* 0, or -1 and r->file.error. */
int describe_existing(struct recording *r);	/* records for what runs already */
int describe_stream(struct recording *r);	/* features at the start of a pipe */
int describe_file(struct recording *r);		/* features at the end of a file, build ids too */

/* --synth. False: an unknown word. */
bool describe_parse_synth(const char *text, unsigned int *what);

#endif
