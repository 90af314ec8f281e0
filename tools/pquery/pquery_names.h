/* pquery_names.h - names of functions, for the table symbols of each input. */
#ifndef PD_TOOLS_PQUERY_NAMES_H
#define PD_TOOLS_PQUERY_NAMES_H

#include "recording/symbols.h"
#include "recording.h"

/* Must be zero-initialized. */
struct query_names {
	struct symbols *of;	/* each input; NULL: no names */
	size_t count;
};

/* Starts what opens files; to be called before the sandbox. Returns CLI_OK, or another status after
 * a message. */
enum cli_exit query_names_prepare(struct query_names *n, const struct cli_tool *tool,
				  const struct symbol_settings *s, size_t inputs);

/* Gives a recording its names. Returns CLI_OK, or another status after a message. */
enum cli_exit query_names_open(struct query_names *n, const struct cli_tool *tool,
			       const struct symbol_settings *s, const struct input *in,
			       struct pq_recording *r);

/* Reports files that are not used, and inputs whose names do not fit into the memory limit. Returns
 * whether there are any of these. */
bool query_names_report(const struct query_names *n, const struct cli_tool *tool,
			const struct input *inputs);
/* To be called after the recordings are freed. */
void query_names_close(struct query_names *n);

#endif
