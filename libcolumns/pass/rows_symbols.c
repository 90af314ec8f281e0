/* rows_symbols.c - the rows of symbols: the functions of each frame. */
#include "pass/columns_internal.h"

static void add_function(struct pc_columns *c, uint32_t frame, size_t depth,
			 const struct pd_function *f, const struct pd_frame_names *of)
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
		pc_set_text(b, PC_SYMBOLS_WHY, pd_why_name(of->why));
	pc_set_int(b, PC_SYMBOLS_UNVERIFIED, f->symbol && of->is_unverified);
	pc_finish_row(c, b);
}

/* --- totals --- */

/* Returns what is counted of an image, or NULL. */
static struct pd_image_frames *find_image(struct pc_columns *c, uint32_t image)
{
	const size_t count = pd_history_nr_images(c->o.history);
	struct pd_buf *images = &c->named.images;
	const struct pd_image_frames none = { .frames = 0 };

	while (images->size < count * sizeof(none) && !images->failed)
		pd_buf_append(images, &none, sizeof(none));
	return image >= count || images->failed ? NULL :
		(struct pd_image_frames *)(void *)images->data + image;
}

static void count_named(struct pc_columns *c, uint32_t image, bool is_named, unsigned int why)
{
	struct pd_image_frames *of = find_image(c, image);

	if (why < PC_WHYS)
		c->named.by_why[why]++;
	if (!of)
		return;
	of->frames++;
	of->named += is_named;
	if (of->why < why)
		of->why = (uint8_t)why;
}

void pc_report_named(struct pc_columns *c)
{
	const struct pd_namer *namer = c->o.namer;
	const struct pd_buf *images = &c->named.images;

	if (!namer || !namer->totals || !pc_wants(c, PC_SYMBOLS))
		return;
	namer->totals(namer->totals_ctx, &(struct pd_name_totals){
		.by_why = c->named.by_why, .nr_why = PC_WHYS,
		.images = (const struct pd_image_frames *)(const void *)images->data,
		.nr_images = images->size / sizeof(struct pd_image_frames) });
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
		add_function(c, frame, i, &names.functions[i], &names);
	if (!names.nr_functions)
		add_function(c, frame, 0, &none, &names);
	count_named(c, at->image, names.nr_functions != 0, names.why);
}
