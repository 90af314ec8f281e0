/* graphs.h - the calls below each line of a table. */
#ifndef PP_GRAPHS_H
#define PP_GRAPHS_H

#include <stdbool.h>

#include "table/lines.h"
#include "encoding/out.h"

/* Must be zero-initialized. */
struct pp_graphs {
	const struct pp_lines *lines;
	bool is_of_many;	/* a line has many functions, which the graph begins with */
	uint32_t *first;	/* of each line: its first node, PP_NONE: none */
	uint32_t *next;		/* of each node: the next of its line */
	uint32_t *place;	/* of each node: where it is among the callees of a line */
};

/* Returns 0, or -1 without memory. To be freed with pp_graphs_free() in both cases; that takes a
 * zeroed one, too. */
int pp_graphs_make(struct pp_graphs *g, struct pp_out *out, const struct pp_lines *lines);

/* Writes the calls of a line. Returns 0, or -1 without memory. */
int pp_graphs_put(struct pp_graphs *g, struct pp_out *out, const struct pp_line *line);

void pp_graphs_free(struct pp_graphs *g, struct pp_out *out);

#endif
