/* metadata.h - hands synthesis and host information what they need to know of the run. */
#ifndef RECORD_METADATA_H
#define RECORD_METADATA_H

#include "run/recording.h"
#include "synth/synth.h"

/* What is to be described; borrows from the recording what stays the same until its end. */
struct synth_options metadata_options(const struct recording *r);
/* Records for what runs already, by any thread. 0, or -1 and *e. */
int metadata_running(struct pd_writer *w, const struct synth_options *o,
		     struct synth_report *report, struct pd_error *e);
/* What of it the user should know. */
void describe_log(const struct recording *r, const struct synth_report *report);

/* 0, or -1 and r->file.error. */
int metadata_existing(struct recording *r);	/* the three of them, now */
int metadata_stream(struct recording *r);	/* features at the start of a pipe */
int metadata_file(struct recording *r);		/* features at the end of a file, build ids too */

/* --synth. False: an unknown word. */
bool metadata_parse_synth(const char *text, unsigned int *what);

#endif
