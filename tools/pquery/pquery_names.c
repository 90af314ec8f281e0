/* pquery_names.c - names of functions: see pquery_names.h. */
#include "pquery/pquery_names.h"

#include <stdlib.h>

enum cli_exit query_names_prepare(struct query_names *n, const struct cli_tool *tool,
				  const struct symbol_settings *s, size_t inputs)
{
	n->of = calloc(inputs, sizeof(*n->of));
	if (!n->of) {
		cli_error(tool, "out of memory");
		return CLI_OUTPUT;
	}
	for (size_t i = 0; i < inputs; i++) {
		n->of[i].opener = (struct opener)OPENER_CLOSED;
		if (symbols_prepare(&n->of[i], tool, s) != CLI_OK) {
			query_names_close(n);
			return CLI_INPUT;
		}
		n->count++;
	}
	return CLI_OK;
}

enum cli_exit query_names_open(struct query_names *n, const struct cli_tool *tool,
			       const struct symbol_settings *s, const struct input *in,
			       struct pq_recording *r)
{
	struct symbols *names = &n->of[r->number];
	const struct pd_reader_options *limits = PD_READER_OPTIONS(
		.memory_limit = r->input.memory, .max_expanded = r->input.max_expanded,
		.max_ratio = r->input.max_ratio);
	const enum cli_exit status = symbols_open(names, tool, s, in, limits, r->history);

	if (status == CLI_OK)
		r->namer = &names->namer;
	return status;
}

bool query_names_report(const struct query_names *n, const struct cli_tool *tool,
			const struct input *inputs)
{
	bool is_over = false;

	for (size_t i = 0; i < n->count; i++) {
		is_over |= symbols_report_limit(&n->of[i], tool, inputs[i].name);
		symbols_report_files(&n->of[i], tool, inputs[i].name);
	}
	return is_over;
}

void query_names_close(struct query_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		symbols_close(&n->of[i]);
	free(n->of);
}
