/* preport - where the time goes: tables and pictures of a perf.data file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "input.h"
#include "input_errors.h"
#include "max_output.h"
#include "output.h"
#include "pd/profile.h"
#include "pdecode_history.h"
#include "preport_fields.h"
#include "preport_formats.h"
#include "preport_groups.h"
#include "preport_limits.h"
#include "preport_options.h"
#include "preport_parts.h"
#include "preport_table.h"
#include "preport_wrote.h"
#include "progress.h"
#include "sandbox.h"
#include "viewer.h"

enum { ERRORS_SHOWN = 5, ROWS = 40, EXIT_EMPTY = 5, EXIT_ABOVE = 6 };

struct run {
	const struct settings *s;
	struct max_output max_output;
	struct input in;
	struct output out;
	struct pd_filter *filter;
	struct filter_part part;
	struct symbol_filter *symbol_filter;
	struct pd_history *history;
	struct pd_index *index;		/* where threads begin to read; NULL: there is one */
	struct symbols symbols;
	struct pp_profile *profile;
	const struct format *format;
	uint32_t groups;
	struct table table;
	uint32_t marks;		/* of enum pp_mark */
	uint32_t labels;	/* of enum pp_label */
	double min_percent, percent_limit;
	struct pp_script script;
	bool is_paged;		/* standard output is a pager on a terminal */
	struct winsize window;	/* of the terminal; 0: there is none */
	struct input_errors errors;
	struct progress progress;
	uint64_t read;		/* bytes of the input, for progress */
	struct run *base;	/* of --base; NULL: none */
};

static void on_error(void *ctx, const struct pd_error *e)
{
	struct run *run = ctx;

	progress_clear(&run->progress);
	input_errors_add(&run->errors, run->in.name, e);
}

/* Returns whether a temporary file can't be written: inputs are only read. */
static bool is_disk_full(const struct pd_error *e)
{
	return e->code == PD_E_IO &&
	       (e->have == ENOSPC || e->have == EDQUOT || e->have == EFBIG);
}

static enum cli_exit fail(struct run *run, const struct pd_error *e)
{
	char text[512];

	if (e->code == PD_E_LIMIT && !e->text) {
		cli_error(&preport, "%s: needs more memory: see --memory", run->in.name);
		return CLI_OUTPUT;
	}
	if (is_disk_full(e)) {
		cli_error(&preport, "%s: a temporary file (TMPDIR): %s", run->in.name,
			  strerror((int)e->have));
		return CLI_OUTPUT;
	}
	cli_error(&preport, "%s: %s%s", run->in.name, pd_error_text(e, text, sizeof(text)),
		  run->in.hint);
	return CLI_INPUT;
}

/* --- reading --- */

static bool is_for_terminal(const struct run *run)
{
	return run->is_paged || output_is_terminal(&run->out);
}

static struct pd_reader_options reader_options(struct run *run)
{
	return (struct pd_reader_options){
		.size = sizeof(struct pd_reader_options), .memory_limit = run->s->memory,
		.max_expanded = run->max_output.bytes, .max_ratio = run->max_output.ratio,
		.on_error = on_error, .ctx = run,
		/* waits are from a switch on one CPU to one on another */
		.order = run->s->off_cpu || run->s->wall ? PD_BY_TIME : PD_AS_WRITTEN,
	};
}

static bool wants_event(void *ctx, const char *name)
{
	const struct run *run = ctx;

	return filter_wants_event(&run->s->filter, name);
}

/* Text that goes to the terminal shows that there is progress. */
static void start_progress(struct run *run, const struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_reader_file(reader);
	const bool is_text = run->format->is_script && is_for_terminal(run);

	if (f->size_known && f->mode != PD_MODE_DIRECTORY && !is_text)
		progress_start(&run->progress, f->size);
}

static void on_progress(void *ctx, uint64_t offset)
{
	struct run *run = ctx;

	if (offset > run->read)	/* in the order of time it may be less */
		run->read = offset;
	progress_update(&run->progress, run->read);
}

/* The profile chooses the events. */
static enum cli_exit make_filter(struct run *run)
{
	struct filter_settings s = run->s->filter;

	s.events = (struct cli_list){ 0 };
	return filter_make(&preport, &s, &run->filter, &run->part);
}

static enum pp_state choose_state(const struct settings *s)
{
	return s->wall ? PP_WALL : s->off_cpu ? PP_OFF_CPU : PP_ON_CPU;
}

/* Returns 0, or -1 without memory. */
static int set_symbol_filter(struct run *run)
{
	const struct symbol_filter_settings *places = &run->s->filter.places;

	if (!symbol_filter_is_given(places))
		return 0;
	run->symbol_filter = symbol_filter_new(places, run->history, run->symbols.session,
					       run->filter);
	return run->symbol_filter ? 0 : -1;
}

/* Files for other programs hold everything, and nothing that these do not know. */
static bool converts(const struct run *run)
{
	return run->format->use == FOR_PROGRAMS;
}

/* Such stacks are seen in the Firefox Profiler as in a picture. */
static enum pp_cut choose_cut(const struct run *run)
{
	if (run->s->mark_cut || !converts(run) || run->format->format == PP_FIREFOX)
		return PP_CUT_SHOWN;
	return PP_CUT_HIDDEN;
}

/* A difference has no times: two recordings have no moment in common. */
static enum pp_keep choose_keep(const struct run *run)
{
	if (run->s->base)
		return PP_KEEP_SUMS;
	return run->labels & PP_LABEL_TIME ? PP_KEEP_SAMPLES : run->format->keep;
}

static unsigned int thread_count(const struct run *run)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (run->s->jobs)
		return run->s->jobs;
	return cpus < 1 ? 1 : (unsigned int)cpus;
}

static int take_samples(struct run *run, struct pd_reader *reader, const struct pp_options *profile,
			struct pd_error *e)
{
	const struct parts parts = { .in = &run->in, .index = run->index,
				     .reader = reader_options(run), .profile = *profile,
				     .threads = thread_count(run) };

	if (!run->format->is_script)
		return parts_add(&parts, run->profile, reader, e);
	return pp_script(run->profile, reader, &run->script,
			 (struct pd_output){ output_write, &run->out }, e);
}

static enum cli_exit add_samples(struct run *run, struct pd_reader *reader)
{
	enum cli_exit status = run->filter ?
		filter_set_part(&preport, run->filter, run->part, reader) : CLI_OK;
	const struct pp_options *o = PP_OPTIONS(.history = run->history, .filter = run->filter,
						.namer = run->s->no_symbols ? NULL :
							&run->symbols.namer,
						.memory_limit = run->s->memory,
						.groups = run->groups,
						.keep = choose_keep(run),
						.state = choose_state(run->s),
						.pmus = run->s->merge_events ? PP_PMUS_MERGED :
									       PP_PMUS_APART,
						.wants_event = wants_event,
						.on_progress = on_progress, .ctx = run);
	struct pd_error e;
	int ret;

	if (status != CLI_OK)
		return status;
	if (!run->s->no_symbols)
		status = symbols_open(&run->symbols, &preport, &run->s->symbols, &run->in,
				      run->history);
	if (status != CLI_OK)
		return status;
	if (set_symbol_filter(run))
		return fail(run, &(struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL });
	run->profile = pp_new(o, &e);
	if (!run->profile)
		return fail(run, &e);
	start_progress(run, reader);
	ret = take_samples(run, reader, o, &e);
	progress_end(&run->progress);
	if (ret) {
		if (run->out.error)
			return CLI_OUTPUT;
		if (e.code == PD_E_LIMIT || is_disk_full(&e))
			return fail(run, &e);
		on_error(run, &e);
	}
	filter_report_unknown_events(&preport, &run->s->filter, reader);
	return run->errors.nr ? CLI_ERRORS : CLI_OK;
}

static enum cli_exit read_samples(struct run *run)
{
	struct pd_reader_options o = reader_options(run);
	struct pd_error e;
	enum cli_exit status;
	struct pd_reader *reader;

	if (thread_count(run) > 1)
		run->index = pd_index_new(PARTS_RECORDS);
	status = history_make(&preport, &run->in, &o, &run->history, run->index, &e);
	if (status == CLI_OK && run->s->symbols.stitch_lbr)
		status = history_stitch(&preport, &run->in, &o, run->history, 0);
	if (status != CLI_OK)
		return status;
	if (e.code != PD_OK)
		on_error(run, &e);
	if (run->filter)
		pd_filter_set_history(run->filter, run->history);
	if (choose_keep(run) == PP_KEEP_SAMPLES || run->format->is_script)
		o.order = PD_BY_TIME;
	reader = run->in.fd >= 0 ? pd_reader_open_fd(run->in.fd, &o, &e) :
		pd_reader_open_path(run->in.path, &o, &e);
	if (!reader)
		return fail(run, &e);
	status = add_samples(run, reader);
	pd_reader_free(reader);
	return status;
}

/* --- writing --- */

static enum pp_idle choose_idle(const struct run *run)
{
	if (run->s->idle != UNSET)
		return (enum pp_idle)run->s->idle;
	return converts(run) ? PP_IDLE_KEEP : PP_IDLE_DROP;
}

static bool wants_colors(const struct run *run)
{
	const char *no = getenv("NO_COLOR");

	if (run->s->color)
		return run->s->color == 1;
	return is_for_terminal(run) && !(no && *no);
}

static size_t row_count(const struct run *run)
{
	const unsigned int height = is_for_terminal(run) ? run->window.ws_row : 0;

	if (run->s->rows != UNSET)
		return run->s->rows;
	return height > 16 && !run->s->graph ? height - 8u : ROWS;
}

/* The times of samples are left out of a page rather than the page. */
static enum cli_exit check_times(const struct run *run, enum cli_exit status)
{
	struct pp_counts c = { .size = sizeof(c) };

	pp_count(run->profile, &c);
	if (status > CLI_ERRORS || !c.lacks_times)
		return status;
	cli_error(&preport, "%s: the page has no times: they need more memory (--memory) or a "
		  "temporary file (TMPDIR)", run->in.name);
	return CLI_ERRORS;
}

static enum cli_exit finish_output(struct run *run, enum cli_exit status)
{
	const uint64_t size = run->out.written;
	const bool is_file = run->out.fd != STDOUT_FILENO;

	status = output_close(&run->out, status);
	if (status <= CLI_ERRORS && is_file && !run->s->quiet && isatty(STDERR_FILENO))
		wrote_report(&preport, run->s->output, size, run->format, run->profile);
	return status;
}

static enum pp_view choose_view(const struct settings *s)
{
	if (s->inverted)
		return PP_VIEW_ICICLE;
	return s->callers ? PP_VIEW_CALLERS : PP_VIEW_FLAME;
}

static enum cli_exit write_profile(struct run *run, enum cli_exit status)
{
	struct pp_write o = {
		.size = sizeof(o), .format = run->format->format,
		.event = pp_main_event(run->profile), .measure = (enum pp_measure)run->s->weight,
		.sort = run->table.sort, .graph = (enum pp_graph)run->s->graph,
		.colors = wants_colors(run) ? PP_COLORS : PP_PLAIN,
		.min_permyriad = (unsigned int)(run->percent_limit * 100 + 0.5),
		.title = run->s->title ? run->s->title : run->in.name,
		.theme = (enum pp_theme)run->s->theme, .view = choose_view(run->s),
		.marks = run->marks, .labels = run->labels,
		.names = run->s->raw_names ? PP_NAMES_WHOLE : PP_NAMES_SHORT,
		.base = run->base ? run->base->profile : NULL,
		.compare = run->s->absolute ? PP_COMPARE_SUMS : PP_COMPARE_SHARES,
		.base_title = run->base ? run->base->in.name : NULL,
	};
	int ret;

	if (is_for_terminal(run))
		o.columns = run->window.ws_col;
	o.rows = row_count(run);
	memcpy(o.keys, run->table.keys, sizeof(o.keys));
	if (output_truncate(&run->out) != CLI_OK)
		return CLI_OUTPUT;
	ret = pp_write(run->profile, &o, (struct pd_output){ output_write, &run->out });
	if (ret && !run->out.error)
		return fail(run, &(struct pd_error){ .code = PD_E_LIMIT });
	return check_times(run, finish_output(run, status));
}

static bool has_samples(const struct run *run)
{
	struct pp_event e;

	return pp_event_at(run->profile, pp_main_event(run->profile), &e) && e.samples;
}

/* The page turns its stacks by itself, and back. */
static enum pp_direction choose_direction(const struct run *run)
{
	return run->s->callers && run->format->format != PP_FLAMEGRAPH ? PP_FROM_LEAF :
									PP_FROM_ROOT;
}

static enum cli_exit load(struct run *run)
{
	const struct pp_shape *shape = PP_SHAPE(
		.idle = choose_idle(run),
		.cut = choose_cut(run), .min_percent = run->min_percent,
		.one_of = run->s->thin,
		.lines = table_has_lines(&run->table) ? PP_LINES_APART : PP_LINES_TOGETHER,
		.max_depth = run->s->max_stack, .parent = run->s->parent,
		.cut_after = run->s->cut_after, .direction = choose_direction(run),
		.recursion = run->s->fold_recursion ? PP_RECURSION_FOLDED : PP_RECURSION_KEPT,
		.unnamed = run->s->addrs ? PP_UNNAMED_ADDRESS : PP_UNNAMED_IMAGE);
	enum cli_exit status = read_samples(run);
	struct pd_error e;

	if (status > CLI_ERRORS)
		return status;
	if (!has_samples(run)) {
		cli_error(&preport, choose_state(run->s) == PP_ON_CPU ? "%s: no sample matches" :
			  "%s: no context switches: record with precord --off-cpu", run->in.name);
		return (enum cli_exit)EXIT_EMPTY;
	}
	if (run->format->is_script)
		return status;
	if (pp_merge(run->profile, shape, &e))
		return fail(run, &e);
	if (run->s->parent && pp_share(run->profile, pp_main_event(run->profile), run->s->parent,
				       PP_BY_SAMPLES) <= 0) {
		cli_error(&preport, "%s: no stack has '%s'", run->in.name, run->s->parent);
		return (enum cli_exit)EXIT_EMPTY;
	}
	return status;
}

/* Evaluates the options with a percentage. */
static enum cli_exit prepare_limits(struct run *run)
{
	const struct settings *s = run->s;
	enum cli_exit status = percent_read(&preport, "min", s->min, &run->min_percent);

	if (status == CLI_OK)
		status = percent_read(&preport, "percent-limit", s->percent_limit,
				      &run->percent_limit);
	return status == CLI_OK ? limits_check(&preport, &s->limits) : status;
}

static bool is_above(const struct run *run)
{
	return limits_exceeded(&preport, &run->s->limits, run->in.name, run->profile,
			       run->base ? run->base->profile : NULL,
			       (enum pp_measure)run->s->weight);
}

/* Runs in the sandbox: files with names come from the opener. */
static enum cli_exit report(void *ctx)
{
	struct run *run = ctx;
	enum cli_exit base = run->base ? load(run->base) : CLI_OK, status;

	if (base > CLI_ERRORS)
		return base;
	if (run->format->is_script && output_truncate(&run->out) != CLI_OK)
		return CLI_OUTPUT;
	status = load(run);
	if (status > CLI_ERRORS)
		return status;
	if (run->format->is_script)
		return finish_output(run, status);
	status = write_profile(run, status == CLI_OK ? base : status);
	return status <= CLI_ERRORS && is_above(run) ? (enum cli_exit)EXIT_ABOVE : status;
}

static enum cli_exit open_files(struct run *run)
{
	if (input_open(&run->in, &preport)) {
		cli_error(&preport, "%s: %s%s", run->in.name, strerror(errno), run->in.hint);
		return CLI_INPUT;
	}
	if (!run->base)
		return output_open(&run->out, &preport, run->s->output, run->in.path);
	if (input_open(&run->base->in, &preport) || run->base->in.fd < 0) {
		cli_error(&preport, "%s: %s", run->base->in.name, run->base->in.fd < 0 && !errno ?
			  "a directory can't be compared" : strerror(errno));
		return CLI_INPUT;
	}
	return output_open(&run->out, &preport, run->s->output, run->in.path);
}

static enum cli_exit report_input(struct run *run)
{
	const struct sandbox sandbox = {
		.tool = &preport, .word = run->s->sandbox, .verbose = run->s->verbose,
		.input = run->in.fd, .read_beneath = run->in.fd < 0 ? run->in.path : NULL,
		.receive = run->s->no_symbols ? SANDBOX_RECEIVE_NOTHING : SANDBOX_RECEIVE_FILES,
		.tempfile = SANDBOX_TEMPFILE_ALWAYS,
	};

	enum cli_exit status = CLI_OK;

	if (!run->s->no_symbols)
		status = symbols_prepare(&run->symbols, &preport, &run->s->symbols);
	if (status == CLI_OK && !run->s->no_symbols && run->base)
		status = symbols_prepare(&run->base->symbols, &preport, &run->s->symbols);
	if (status != CLI_OK)
		return status;
	return sandbox_run(&sandbox, run->out.created ? SANDBOX_IN_CHILD : SANDBOX_IN_PROCESS,
			   report, run);
}

static void close_run(struct run *run)
{
	symbols_close(&run->symbols);
	pp_free(run->profile);
	symbol_filter_free(run->symbol_filter);
	pd_filter_free(run->filter);
	pd_history_free(run->history);
	pd_index_free(run->index);
	input_close(&run->in);
}

static enum cli_exit check_base(const struct run *run)
{
	const enum pp_format format = run->format->format;

	if (run->base && format != PP_TOP && format != PP_FLAMEGRAPH && format != PP_PPROF)
		return cli_usage(&preport, "'--base' is for -f top, flamegraph and pprof");
	if (run->s->absolute && (!run->base || format == PP_PPROF))
		return cli_usage(&preport, "'--absolute' is for '--base' with -f top and "
				 "flamegraph");
	return CLI_OK;
}

/* Evaluates the options of samples that are written one by one. */
static enum cli_exit prepare_samples(struct run *run)
{
	const struct settings *s = run->s;
	enum cli_exit status = CLI_OK;

	if (s->labels && (s->group || run->format->format != PP_PPROF))
		return cli_usage(&preport, "'--labels' is for -f pprof, without '--group'");
	if (s->labels)
		status = labels_read(&preport, s->labels, &run->groups, &run->labels);
	if (status == CLI_OK && run->labels & PP_LABEL_TIME && s->base)
		return cli_usage(&preport, "'--labels timestamp_ns' is not for '--base'");
	if (status == CLI_OK && s->thin &&
	    (choose_keep(run) == PP_KEEP_SUMS || run->format->is_script || s->weight))
		return cli_usage(&preport, "'--thin' is for formats with times, without "
				 "'--weight=samples'");
	return status;
}

/* Evaluates the options of -f script. */
static enum cli_exit prepare_script(struct run *run)
{
	const struct settings *s = run->s;

	if ((s->fields || s->ns || s->header) && !run->format->is_script)
		return cli_usage(&preport, "'--%s' is for -f script", s->fields ? "fields" :
				 s->ns ? "ns" : "header");
	run->script = (struct pp_script){
		.size = sizeof(run->script), .like = (enum pp_like)s->like,
		.layout = format_layout(s->layout, s->output), .cut = choose_cut(run),
		.times = s->ns ? PP_TIMES_NS : PP_TIMES_US,
		.head = s->header ? PP_HEAD_SHOWN : PP_HEAD_HIDDEN,
	};
	return fields_read(&preport, s->fields, &run->script);
}

/* Evaluates the options of stacks. */
static enum cli_exit prepare_stacks(struct run *run)
{
	const enum pp_format format = run->format->format;
	const bool is_picture = format == PP_SVG || format == PP_FLAMEGRAPH;
	const bool is_folded = format == PP_FOLDED && !run->format->is_script;

	if (run->s->callers && !is_picture && !is_folded && format != PP_TREE)
		return cli_usage(&preport, "'--callers' is for -f tree, folded, svg and "
				 "flamegraph");
	if (run->s->inverted && !is_picture)
		return cli_usage(&preport, "'--inverted' is for -f svg and flamegraph");
	if (run->s->inverted && run->s->callers && format == PP_FLAMEGRAPH)
		return cli_usage(&preport, "the page shows '--callers' or '--inverted' first, "
				 "not both");
	if (run->s->min && !is_picture && !is_folded)
		return cli_usage(&preport, "'--min' is for -f folded, svg and flamegraph; "
				 "'--percent-limit' for top and tree");
	if ((run->s->annotate || run->s->raw_names) && !is_folded)
		return cli_usage(&preport, "'--%s' is for -f folded",
				 run->s->annotate ? "annotate" : "raw-names");
	return marks_read(&preport, run->s->annotate, &run->marks);
}

/* Evaluates the options of tables. */
static enum cli_exit prepare_table(struct run *run)
{
	const enum pp_format format = run->format->format;
	const bool is_table = format == PP_TOP || format == PP_CSV || format == PP_JSON;
	enum cli_exit status = table_read(&preport, run->s->sort, &run->table);

	if (status != CLI_OK)
		return status;
	if (run->s->children)
		run->table.sort = PP_SORT_TOTAL;
	if (run->table.keys[0] && (!is_table || run->format->is_script || run->base))
		return cli_usage(&preport, "'--sort' with columns is for -f top, csv and json, "
				 "without '--base'");
	if (run->s->graph && (format != PP_TOP || run->base))
		return cli_usage(&preport, "'--graph' is for -f top, without '--base'");
	if (table_has_lines(&run->table) && run->s->no_symbols)
		return cli_usage(&preport, "'--sort srcline' needs what '--no-symbols' leaves out");
	run->groups |= table_groups(&run->table);
	return CLI_OK;
}

static enum cli_exit check_names(const struct settings *s)
{
	const struct symbol_filter_settings *places = &s->filter.places;

	if (s->no_symbols && symbol_filter_needs_names(places))
		return cli_usage(&preport, "'--%s' needs the names that '--no-symbols' leaves out",
				 places->symbols.count ? "symbol" : "in");
	if (s->symbols.file && (s->no_symbols || s->base))
		return cli_usage(&preport, s->base ?
				 "'--symbols-file' has the names of one recording, not of that of "
				 "'--base', too" :
				 "'--symbols-file' has the names that '--no-symbols' leaves out");
	return CLI_OK;
}

/* Evaluates the options and opens the files. */
static enum cli_exit prepare(struct run *run)
{
	enum cli_exit status = max_output_read(&preport, run->s->max_output, &run->max_output);

	if (status == CLI_OK)
		status = groups_read(&preport, run->s->group, run->format, &run->groups);
	if (status == CLI_OK)
		status = prepare_samples(run);
	if (status == CLI_OK)
		status = prepare_script(run);
	if (status == CLI_OK)
		status = prepare_table(run);
	if (status == CLI_OK)
		status = prepare_stacks(run);
	if (status == CLI_OK)
		status = prepare_limits(run);
	if (status == CLI_OK)
		status = check_names(run->s);
	if (status == CLI_OK)
		status = symbols_check_files(&run->s->symbols, &preport);
	if (status == CLI_OK)
		status = check_base(run);
	if (status == CLI_OK)
		status = make_filter(run);
	if (status == CLI_OK && run->base) {
		run->base->max_output = run->max_output;
		run->base->groups = run->groups;
		run->base->min_percent = run->min_percent;
		run->base->format = run->format;
		status = make_filter(run->base);
	}
	return status == CLI_OK ? open_files(run) : status;
}

static enum cli_exit check_viewer(const struct run *run)
{
	const bool is_picture = run->format->format == PP_FLAMEGRAPH ||
				run->format->format == PP_SVG;

	if (run->s->open && (!is_picture || !run->s->output || strcmp(run->s->output, "-") == 0))
		return cli_usage(&preport, "'--open' is for files of -f flamegraph and svg");
	return CLI_OK;
}

/* The caller goes on in a child process if there is a viewer. */
static void start_viewer(struct run *run)
{
	const struct format *f = run->format;
	const bool is_long = f->format == PP_TOP || f->format == PP_TREE || f->is_script;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &run->window))
		run->window = (struct winsize){ 0 };
	if (run->s->open)
		viewer_open_after(&preport, run->s->output);
	if (run->s->pager && is_long && !run->s->output)
		run->is_paged = viewer_page();
}

int main(int argc, char **argv)
{
	struct settings s = { .format = UNSET, .idle = UNSET, .rows = UNSET,
			      .layout = UNSET, .pager = true };
	char **operands = cli_parse(&preport, argc, argv, &s);
	struct run base = { .s = &s, .in = INPUT_CLOSED, .out = OUTPUT_CLOSED,
			    .symbols.opener = OPENER_CLOSED,
			    .errors = { &preport, ERRORS_SHOWN, s.verbose, 0 } };
	struct run run = base;
	enum cli_exit status = sandbox_check(&preport, s.sandbox);

	if (status == CLI_OK)
		status = input_check(&preport, &s.inputs, operands[0]);
	input_choose(&run.in, input_named(&s.inputs, operands[0]));
	if (s.base) {
		input_choose(&base.in, s.base);
		run.base = &base;
	}
	run.format = format_choose(s.format, !s.output && s.open ? "perf.html" : s.output);
	if (!s.output && (s.open || isatty(STDOUT_FILENO)))
		s.output = run.format->file;
	if (status == CLI_OK)
		status = check_viewer(&run);
	if (status == CLI_OK)
		status = prepare(&run);
	s.symbols.lines = s.lines || table_has_lines(&run.table);
	s.symbols.no_inline = !s.inlines && !s.symbols.lines;
	if (status == CLI_OK) {
		start_viewer(&run);
		status = report_input(&run);
	}
	if (run.out.fd >= 0 && status > CLI_ERRORS && status != (enum cli_exit)EXIT_ABOVE)
		output_discard(&run.out);
	close_run(&run);
	close_run(&base);
	cli_list_free(&s.symbols.debug_dirs);
	cli_list_free(&s.limits);
	cli_list_free(&s.inputs);
	filter_settings_free(&s.filter);
	return cli_finish(&preport, status);
}
