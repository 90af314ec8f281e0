/* rows_symbols.c - the rows of symbols: the functions of each frame. */
#include "columns_internal.h"

static void add_function(struct pc_columns *c, uint32_t frame, size_t depth,
			 const struct pd_function *f, unsigned int why)
{
	struct pc_batch *b = pc_start_row(c, PC_SYMBOLS);

	if (!b)
		return;
	pc_set_int(b, PC_SYMBOLS_FRAME, frame);
	pc_set_int(b, PC_SYMBOLS_DEPTH, (int64_t)depth);
	pc_set_text(b, PC_SYMBOLS_FUNCTION, f->symbol);
	pc_set_text(b, PC_SYMBOLS_FILE, f->file);
	if (f->file && f->line && f->line <= INT32_MAX)
		pc_set_int(b, PC_SYMBOLS_LINE, f->line);
	if (!f->symbol)
		pc_set_text(b, PC_SYMBOLS_WHY, pd_why_name(why));
	pc_finish_row(c, b);
}

void pc_add_symbols(struct pc_columns *c, uint32_t frame, int32_t pid,
		    const struct pd_location *at)
{
	const struct pd_namer *namer = c->o.namer;
	const struct pd_function none = { .symbol = NULL };
	struct pd_frame_names names = { .nr_functions = 0 };

	if (!namer || !pc_wants(c, PC_SYMBOLS))
		return;
	namer->frame(namer->ctx, pid, at, &names);
	for (size_t i = 0; i < names.nr_functions; i++)
		add_function(c, frame, i, &names.functions[i], names.why);
	if (!names.nr_functions)
		add_function(c, frame, 0, &none, names.why);
}
