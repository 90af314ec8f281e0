/* preport_choices.c - the options of preport, checked and evaluated. */
#include "preport/preport_choices.h"

#include <string.h>

#include "preport/preport_applies.h"
#include "preport/preport_fields.h"
#include "preport/preport_groups.h"
#include "preport/preport_limits.h"

enum { GRAPH_AUTO = PP_GRAPH_CALLEES + 1 };	/* the word after those of enum pp_graph */

enum pp_state choices_state(const struct choices *c)
{
	const struct settings *s = c->s;

	return s->wall ? PP_WALL : s->off_cpu ? PP_OFF_CPU : PP_ON_CPU;
}

/* Files for other programs hold everything, and nothing that these do not know. */
static bool converts(const struct choices *c)
{
	return c->format->use == FOR_PROGRAMS;
}

/* Such stacks are seen in the Firefox Profiler as in a picture. */
static enum pp_cut choose_cut(const struct choices *c)
{
	if (c->s->mark_cut || !converts(c) || c->format->format == PP_FIREFOX)
		return PP_CUT_SHOWN;
	return PP_CUT_HIDDEN;
}

/* A difference has no times: two recordings have no moment in common. */
enum pp_keep choices_keep(const struct choices *c)
{
	if (c->s->base)
		return PP_KEEP_SUMS;
	return c->labels & PP_LABEL_TIME ? PP_KEEP_SAMPLES : c->format->keep;
}

bool choices_need_order(const struct choices *c)
{
	return c->format->is_script ||
	       (choices_keep(c) == PP_KEEP_SAMPLES &&
		(c->labels & PP_LABEL_TIME || choices_state(c) != PP_ON_CPU));
}

static enum pp_idle choose_idle(const struct choices *c)
{
	if (c->s->idle != UNSET)
		return (enum pp_idle)c->s->idle;
	return converts(c) ? PP_IDLE_KEEP : PP_IDLE_DROP;
}

/* All waits end in __schedule(), which tells nothing. */
static enum pp_waits choose_waits(const struct choices *c)
{
	const enum pp_format format = c->format->format;

	return converts(c) && format != PP_CSV && format != PP_JSON ? PP_WAITS_WHOLE :
								      PP_WAITS_OF_CALLER;
}

static enum pp_view choose_view(const struct choices *c)
{
	if (c->s->inverted)
		return PP_VIEW_ICICLE;
	if (c->s->heatmap)
		return PP_VIEW_TIME;
	return c->s->callers ? PP_VIEW_CALLERS : PP_VIEW_FLAME;
}

/* The page gets its stacks from the root: it shows callers itself. */
static enum pp_direction choose_direction(const struct choices *c)
{
	return c->s->callers && c->format->format != PP_FLAMEGRAPH ? PP_FROM_LEAF : PP_FROM_ROOT;
}

bool choices_show_one_event(const struct choices *c)
{
	return c->format->has_one_event && !table_has_events(&c->table);
}

struct pp_shape choices_shape(const struct choices *c)
{
	const struct settings *s = c->s;

	return (struct pp_shape){
		.size = sizeof(struct pp_shape), .idle = choose_idle(c), .cut = choose_cut(c),
		.unnamed = s->addrs ? PP_UNNAMED_ADDRESS : PP_UNNAMED_IMAGE,
		.max_depth = s->max_stack,
		.recursion = s->fold_recursion ? PP_RECURSION_FOLDED : PP_RECURSION_KEPT,
		.parent = s->parent, .cut_after = s->cut_after,
		.direction = choose_direction(c),
		.min_percent = c->min_percent, .one_of = s->thin,
		.lines = table_has_lines(&c->table) ? PP_LINES_APART : PP_LINES_TOGETHER,
		.waits = choose_waits(c),
	};
}

struct pp_write choices_write(const struct choices *c)
{
	const struct settings *s = c->s;
	struct pp_write o = {
		.size = sizeof(o), .format = c->format->format,
		.measure = (enum pp_measure)s->weight, .sort = c->table.sort,
		.graph = c->graph,
		.min_permyriad = (unsigned int)(c->percent_limit * 100 + 0.5),
		.title = s->title, .theme = (enum pp_theme)s->theme, .view = choose_view(c),
		.marks = c->marks, .labels = c->labels,
		.names = s->raw_names ? PP_NAMES_WHOLE : PP_NAMES_SHORT,
		.compare = s->absolute ? PP_COMPARE_SUMS : PP_COMPARE_SHARES,
		.compression = format_compression(s->output),
		.timeline = s->stacks ? PP_TIMELINE_STACKS : PP_TIMELINE_STATES,
	};

	memcpy(o.keys, c->table.keys, sizeof(o.keys));
	return o;
}

/* Evaluates the options with a percentage. */
static enum cli_exit prepare_limits(struct choices *c)
{
	const struct settings *s = c->s;
	enum cli_exit status = percent_read(&preport, "min", s->min, &c->min_percent);

	if (status == CLI_OK)
		status = percent_read(&preport, "percent-limit", s->percent_limit,
				      &c->percent_limit);
	return status == CLI_OK ? limits_check(&preport, &s->limits) : status;
}

/* Refuses options beside --base, and without it, where they would do nothing. */
static enum cli_exit check_base(struct choices *c)
{
	const struct settings *s = c->s;

	if (s->absolute && !s->base)
		return cli_usage(&preport, "'--absolute' is for '--base'");
	if (!s->base)
		return CLI_OK;
	if (c->table.keys[0])
		return cli_usage(&preport, "'--sort' with columns is not for '--base'");
	if (s->graph)
		return cli_usage(&preport, "'--graph' is not for '--base'");
	if (s->heatmap)
		return cli_usage(&preport, "'--heatmap' is not for '--base'");
	if (c->labels & PP_LABEL_TIME)
		return cli_usage(&preport, "'--labels timestamp_ns' is not for '--base'");
	if (s->groups.count && c->format->format == PP_TOP)
		return cli_usage(&preport, "'--group' is not for the table of '--base'");
	if (s->symbols.file)
		return cli_usage(&preport, "'--symbols-file' has the names of one recording, not "
				 "of that of '--base', too");
	return CLI_OK;
}

/* Evaluates the options of samples that are written one by one. */
static enum cli_exit prepare_samples(struct choices *c)
{
	const struct settings *s = c->s;
	enum cli_exit status = CLI_OK;

	if (s->off_cpu && s->wall)
		return cli_usage(&preport, "'--wall' is the time on and off the CPU, '--off-cpu' "
				 "only that off it: one of them, please");
	if (s->labels && s->groups.count)
		return cli_usage(&preport, "'--labels' takes the place of '--group': one of them, "
				 "please");
	if (s->labels)
		status = labels_read(&preport, s->labels, &c->groups, &c->labels);
	if (status == CLI_OK && s->thin &&
	    (choices_keep(c) == PP_KEEP_SUMS || c->format->is_script || s->weight))
		return cli_usage(&preport, "'--thin' is for formats with times, without "
				 "'--weight=samples'");
	return status;
}

/* Evaluates the options of -f script. */
static enum cli_exit prepare_script(struct choices *c)
{
	const struct settings *s = c->s;

	if (c->format->is_script && format_compression(s->output) == PP_COMPRESSED)
		return cli_usage(&preport, "-f script is not compressed: it can be piped to gzip");
	c->script = (struct pp_script){
		.size = sizeof(c->script), .like = (enum pp_like)s->like,
		.layout = format_layout(s->layout, s->output), .cut = choose_cut(c),
		.times = s->ns ? PP_TIMES_NS : PP_TIMES_US,
		.head = s->header ? PP_HEAD_SHOWN : PP_HEAD_HIDDEN,
		.max_depth = s->max_stack,
	};
	return fields_read(&preport, s->fields, &c->script);
}

/* Evaluates the options of stacks. */
static enum cli_exit prepare_stacks(struct choices *c)
{
	const struct settings *s = c->s;

	if (c->format->format == PP_FLAMEGRAPH && s->inverted + s->callers + s->heatmap > 1)
		return cli_usage(&preport, "the page shows one of '--callers', '--inverted' and "
				 "'--heatmap' first");
	return marks_read(&preport, s->annotate, &c->marks);
}

/* Evaluates the options of tables. */
static enum cli_exit prepare_table(struct choices *c)
{
	enum cli_exit status = table_read(&preport, c->s->sort, &c->table);

	if (status != CLI_OK)
		return status;
	if (c->s->children)
		c->table.sort = PP_SORT_TOTAL;
	c->graph = c->s->graph != GRAPH_AUTO ? (enum pp_graph)c->s->graph :
		   c->table.sort == PP_SORT_TOTAL ? PP_GRAPH_CALLEES : PP_GRAPH_CALLERS;
	if (c->s->graph && table_has_events(&c->table))
		return cli_usage(&preport, "'--graph' is for one event, not for '--sort event'");
	if (table_has_lines(&c->table) && c->s->no_symbols)
		return cli_usage(&preport, "'--sort srcline' needs what '--no-symbols' leaves out");
	c->groups |= table_groups(&c->table);
	return CLI_OK;
}

/* Refuses options about names without names. */
static enum cli_exit check_no_names(const struct settings *s)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{ "inline", s->inlines }, { "lines", s->lines },
		{ "linkage-names", s->symbols.linkage_names },
		{ "kallsyms", s->symbols.kallsyms }, { "vmlinux", s->symbols.vmlinux },
		{ "symbols-file", s->symbols.file }, { "debuginfod", s->symbols.debuginfod },
	};

	for (size_t i = 0; s->no_symbols && i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given)
			return cli_usage(&preport, "'--%s' is for the names that '--no-symbols' "
					 "leaves out", options[i].name);
	return CLI_OK;
}

static enum cli_exit check_names(struct choices *c)
{
	const struct settings *s = c->s;
	const struct symbol_filter_settings *places = &s->filter.places;

	if (check_no_names(s) != CLI_OK)
		return CLI_USAGE;
	if (s->no_symbols && symbol_filter_needs_names(places))
		return cli_usage(&preport, "'--%s' needs the names that '--no-symbols' leaves out",
				 places->symbols.count ? "symbol" : "in");
	if (s->symbols.prefixes.count && !s->lines && !table_has_lines(&c->table))
		return cli_usage(&preport, "'--prefix-map' needs '--lines' or '--sort srcline'");
	return symbols_check_files(&s->symbols, &preport);
}

static enum cli_exit check_viewer(struct choices *c)
{
	if (c->s->open && (!c->s->output || strcmp(c->s->output, "-") == 0))
		return cli_usage(&preport, "'--open' is for files, not for standard output");
	return CLI_OK;
}

enum cli_exit choices_make(struct choices *c)
{
	static enum cli_exit (*const steps[])(struct choices *) = {
		prepare_samples, prepare_script, prepare_table, prepare_stacks, prepare_limits,
		check_names, check_base, check_viewer,
	};
	enum cli_exit status = applies_check(c->s, c->format);

	if (status == CLI_OK)
		status = max_output_read(&preport, c->s->max_output, &c->max_output);
	if (status == CLI_OK)
		status = groups_read(&preport, &c->s->groups, c->format, &c->groups);
	for (size_t i = 0; status == CLI_OK && i < sizeof(steps) / sizeof(*steps); i++)
		status = steps[i](c);
	return status;
}
