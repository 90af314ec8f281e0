/* symbol_filter.h - filters samples by the functions and images of their addresses. */
#ifndef PD_TOOLS_SYMBOL_FILTER_H
#define PD_TOOLS_SYMBOL_FILTER_H

#include "cli/cli.h"
#include "pd/symbols.h"

/* The options as given: each list may be repeated and contain commas. */
struct symbol_filter_settings {
	struct cli_list symbols, dsos, in;
};

/* The rows of the options, for a tool whose settings have a struct symbol_filter_settings. */
#define SYMBOL_FILTER_OPTIONS(type, member)						\
	CLI_LIST('S', "symbol", "NAMES", type, member.symbols,				\
		 "samples in these functions, or in one that is inlined there: main,'std::*'"), \
	CLI_LIST(0, "dso", "NAMES", type, member.dsos,					\
		 "samples in these files, by path or its last part: libc.so.6,"		\
		 "'[kernel.kallsyms]'"),						\
	CLI_LIST(0, "in", "NAMES", type, member.in,					\
		 "samples with one of these functions anywhere in their stack")

struct symbol_filter;

/* Returns CLI_OK, or reports an empty name. */
enum cli_exit symbol_filter_check(const struct cli_tool *tool,
				  const struct symbol_filter_settings *s);
bool symbol_filter_is_given(const struct symbol_filter_settings *s);
/* Returns whether it needs names of functions; else locations suffice. */
bool symbol_filter_needs_names(const struct symbol_filter_settings *s);

/* Makes the filter, and the test that `filter` asks of each sample. `session` may be NULL if no
 * names are needed. All are borrowed until symbol_filter_free(). Returns NULL without memory. */
struct symbol_filter *symbol_filter_new(const struct symbol_filter_settings *s,
					const struct pd_history *history,
					struct ps_session *session, struct pd_filter *filter);
/* `f` may be NULL. */
void symbol_filter_free(struct symbol_filter *f);

void symbol_filter_settings_free(struct symbol_filter_settings *s);

#endif
