/* metadata.h - synthesized records and features of this recording. */
#ifndef RECORD_METADATA_H
#define RECORD_METADATA_H

#include "run/recording.h"
#include "synth/synth.h"

/* Returns what to synthesize. Borrowed from the recording until its end. */
struct synth_options metadata_options(const struct recording *r);
/* Writes records for existing tasks and maps; may be called by any thread. Returns 0, or -1 and
 * *e. */
int metadata_running(struct pd_writer *w, const struct synth_options *o,
		     struct synth_report *report, struct pd_error *e);
/* Logs what the report has for the user, and frees what it holds. */
void metadata_log_report(const struct recording *r, struct synth_report *report);

/* Each returns 0, or -1 and r->file.error. */
int metadata_existing(struct recording *r);	/* the three above in one */
int metadata_stream(struct recording *r);	/* features at the start of a pipe */
int metadata_file(struct recording *r);		/* features at the end of a file, build ids too */

/* Parses --synth. Returns false for an unknown word. */
bool metadata_parse_synth(const char *text, unsigned int *what);

#endif
