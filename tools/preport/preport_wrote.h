/* preport_wrote.h - the lines after a file was written: what is in it, and what opens it. */
#ifndef PREPORT_WROTE_H
#define PREPORT_WROTE_H

#include "cli/cli.h"
#include "preport/preport_choices.h"

/* Prints a warning if the viewer of the format opens only smaller files. */
void wrote_warn_large(const struct cli_tool *tool, const char *input, const struct format *format,
		      const struct pp_profile *profile);

/* Prints warnings if many stacks are not those of the program, or have no names, or one sample has
 * most of the weight. */
void wrote_warn_doubts(const struct cli_tool *tool, const char *input, struct pp_profile *profile,
		       enum pp_measure measure);

/* Prints a warning if samples of another event are compared, as the older recording has none of
 * this one. */
void wrote_warn_event(const struct cli_tool *tool, const char *base_input,
		      const struct pp_profile *base, const struct pp_profile *profile);

/* Prints which events a file or stream does not have that has one of several. Tables and trees say
 * that themselves. */
void wrote_name_others(const struct cli_tool *tool, const char *input, const struct choices *c,
		       const struct pp_profile *profile);

/* Prints both on standard error; the second only for formats that have a viewer. */
void wrote_report(const struct cli_tool *tool, uint64_t size, const struct choices *c,
		  const struct pp_profile *profile);

#endif
