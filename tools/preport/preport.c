/* preport - where the time goes: tables and pictures of a perf.data file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pd/index.h"
#include "preport/preport_fits.h"
#include "preport/preport_limits.h"
#include "preport/preport_run.h"
#include "preport/preport_wrote.h"
#include "process/sigbus.h"
#include "process/viewer.h"
#include "sandbox/sandbox.h"

enum { ERRORS_SHOWN = 5, ROWS = 40, EXIT_EMPTY = 5, EXIT_ABOVE = 6 };

static bool wants_colors(const struct run *run)
{
	const char *no = getenv("NO_COLOR");

	if (run->choices.s->color)
		return run->choices.s->color == 1;
	return run_is_for_terminal(run) && !(no && *no);
}

static size_t row_count(const struct run *run)
{
	const unsigned int height = run_is_for_terminal(run) ? run->window.ws_row : 0;

	if (run->choices.s->rows != ROWS_UNSET)
		return run->choices.s->rows;
	if (run->choices.format->format != PP_TOP)
		return 0;
	return height > 16 && !run->choices.s->graph ? height - 8u : ROWS;
}

/* States what is left out, for lack of memory or because it cannot be. Returns whether anything
 * is. */
static bool report_left_out(const struct run *run)
{
	const struct choices *choices = &run->choices;
	/* a table of one recording has a line for them */
	const bool is_in_table = choices->format->format == PP_TOP && !choices->s->base;
	struct pp_counts c = { .size = sizeof(c) };

	pp_count(run->profile, &c);
	if (c.small && !is_in_table)
		cli_error(&preport, "%s: %" PRIu64 " samples are in [small]: give more --memory",
			  run->in.name, c.small);
	if (c.lacks_times)
		cli_error(&preport, "%s: the page has no times: they need more memory (--memory) "
			  "or a temporary file (TMPDIR)", run->in.name);
	if (c.lacks_memory && !c.small && !c.lacks_times)
		cli_error(&preport, "%s: something may be missing for lack of memory: give more "
			  "--memory", run->in.name);
	if (c.too_heavy)
		cli_error(&preport, "%s: %" PRIu64 " sample%s left out: no sample weighs 2^56 or "
			  "more, so that is damage", run->in.name, c.too_heavy,
			  c.too_heavy == 1 ? " is" : "s are");
	if (c.wrong_times)
		cli_error(&preport, "%s: %" PRIu64 " sample%s a time far outside of the "
			  "recording's, so that is damage: it counts without a time",
			  run->in.name, c.wrong_times, c.wrong_times == 1 ? " has" : "s have");
	return c.small || c.lacks_times || c.lacks_memory || c.too_heavy || c.wrong_times;
}

static enum cli_exit check_whole(const struct run *run, enum cli_exit status)
{
	bool is_whole = !report_left_out(run);

	if (run->base)
		is_whole &= !report_left_out(run->base);
	return status > CLI_ERRORS || is_whole ? status : CLI_ERRORS;
}

static bool report_names_over_limit(const struct run *run)
{
	const bool is_over = symbols_report_limit(&run->symbols, &preport, run->in.name);

	return (run->base && report_names_over_limit(run->base)) || is_over;
}

static enum cli_exit finish_output(struct run *run, enum cli_exit status)
{
	const struct settings *s = run->choices.s;
	const uint64_t size = run->out.written;
	const bool is_file = run->out.fd != STDOUT_FILENO;

	if (report_names_over_limit(run) && status == CLI_OK)
		status = CLI_ERRORS;
	status = output_close(&run->out, status);
	if (status > CLI_ERRORS)
		return status;
	wrote_warn_large(&preport, run->in.name, run->choices.format, run->profile);
	if (s->quiet)
		return status;
	if (is_file && s->format == UNSET && format_is_unknown(s->output))
		cli_error(&preport, "%s: a table, as no format has names that end so: -f chooses "
			  "one", s->output);
	if (is_file)
		wrote_warn_doubts(&preport, run->in.name, run->profile,
				  (enum pp_measure)s->weight);
	wrote_name_others(&preport, run->in.name, &run->choices, run->profile);
	if (is_file && isatty(STDERR_FILENO))
		wrote_report(&preport, size, &run->choices, run->profile);
	return status;
}

/* The table of a recording that has nothing but tracepoints says which, and in which programs. The
 * functions of a single one are the same place, unless there are call graphs. */
static void choose_columns(struct run *run)
{
	const struct settings *s = run->choices.s;
	enum pp_key *keys = run->choices.table.keys;
	struct pp_counts counts = { .size = sizeof(counts) };
	struct pp_event e;

	pp_count(run->profile, &counts);
	if (run->choices.format->format != PP_TOP || s->sort || s->graph || s->base ||
	    (pp_nr_events(run->profile) < 2 && counts.chains) ||
	    !pp_event_at(run->profile, pp_main_event(run->profile), &e) || !e.is_tracepoint)
		return;
	keys[0] = PP_KEY_EVENT;
	if (run->choices.groups & PP_GROUP_COMM)
		keys[1] = PP_KEY_COMM;
}

static enum cli_exit write_profile(struct run *run, enum cli_exit status)
{
	struct pp_write o;
	int ret;

	choose_columns(run);
	o = choices_write(&run->choices);
	o.event = pp_main_event(run->profile);
	o.colors = wants_colors(run) ? PP_COLORS : PP_PLAIN;
	o.title = o.title ? o.title : run->in.name;
	o.base = run->base ? run->base->profile : NULL;
	o.base_title = run->base ? run->base->in.name : NULL;
	if (run_is_for_terminal(run))
		o.columns = run->window.ws_col;
	o.rows = row_count(run);
	o.threads = run_thread_count(run);
	if (fits_check(&preport, run->in.name, run->profile, &o) != CLI_OK)
		return CLI_OUTPUT;
	if (output_truncate(&run->out) != CLI_OK)
		return CLI_OUTPUT;
	ret = pp_write(run->profile, &o, (struct pd_output){ output_write, &run->out });
	if (ret && !run->out.error)
		return run_print_error(run, &(struct pd_error){ .code = PD_E_LIMIT });
	return check_whole(run, finish_output(run, status));
}

static bool has_samples(const struct run *run)
{
	struct pp_event e;

	return pp_event_at(run->profile, pp_main_event(run->profile), &e) && e.samples;
}

/* Returns why there are no samples. */
static const char *why_empty(const struct run *run)
{
	struct pp_counts counts = { .size = sizeof(counts) };

	pp_count(run->profile, &counts);
	if (choices_state(&run->choices) != PP_ON_CPU && run->filter)
		return "no wait matches";
	if (choices_state(&run->choices) != PP_ON_CPU)
		return "no context switches: record with precord --off-cpu";
	if (run->filter || run->choices.s->filter.events.count)
		return "no sample matches";
	if (counts.too_heavy)
		return "no sample is left: each weighs 2^56 or more, so the periods are damaged";
	return "the recording has no samples: nothing ran for long enough, or its events only "
	       "count; pdecode -f stats shows what it has";
}

static void report_empty(const struct run *run)
{
	char names[1024];

	cli_error(&preport, "%s: %s", run->in.name, why_empty(run));
	if (run->choices.s->filter.comms.count &&
	    *filter_list_comms(run->history, names, sizeof(names)))
		cli_error(&preport, "--comm: the threads are called %s", names);
}

/* Warns if the time of --wall is only that on or off the CPU. */
static void warn_of_half(const struct run *run, const struct pp_counts *counts)
{
	const struct settings *s = run->choices.s;
	struct pp_event e;

	if (!s->wall)
		return;
	if (!counts->waits)
		cli_error(&preport, "%s: no context switches, so this is only time on the CPU: "
			  "record with precord --off-cpu", run->in.name);
	else if (pp_event_at(run->profile, pp_main_event(run->profile), &e) &&
		 e.samples == counts->waits)
		cli_error(&preport, "%s: no samples of a clock%s, so this is only time off the CPU",
			  run->in.name, s->filter.events.count ? " with -e" : "");
}

/* Checks what is left of the samples. */
static enum cli_exit check_merged(const struct run *run)
{
	const struct settings *s = run->choices.s;
	const size_t main_event = pp_main_event(run->profile);
	struct pp_counts counts = { .size = sizeof(counts) };
	struct pp_event e;

	pp_count(run->profile, &counts);
	warn_of_half(run, &counts);
	if (s->stacks && counts.waits == 0 && pp_event_at(run->profile, main_event, &e) &&
	    (e.is_tracepoint || counts.first == PD_NO_TIME))
		cli_error(&preport, "%s: samples of %s stand for no time: --stacks adds nothing",
			  run->in.name, e.name);
	if (s->idle == PP_IDLE_ONLY && pp_event_at(run->profile, main_event, &e) &&
	    e.idle_samples == e.samples) {
		cli_error(&preport, "%s: no sample is of an idle CPU", run->in.name);
		return (enum cli_exit)EXIT_EMPTY;
	}
	if (s->parent && pp_share(run->profile, main_event, s->parent, PP_BY_SAMPLES) <= 0) {
		if (strpbrk(s->parent, "*?["))
			cli_error(&preport, "%s: no stack has '%s'", run->in.name, s->parent);
		else
			cli_error(&preport, "%s: no stack has '%s'; part of a name is '*%s*'",
				  run->in.name, s->parent, s->parent);
		return (enum cli_exit)EXIT_EMPTY;
	}
	return CLI_OK;
}

static enum cli_exit load_samples(struct run *run)
{
	const struct choices *c = &run->choices;
	const struct pp_shape shape = choices_shape(c);
	enum cli_exit status = run_read_samples(run), empty;
	struct pd_error e;

	if (status > CLI_ERRORS)
		return status;
	if (!has_samples(run)) {
		report_empty(run);
		return (enum cli_exit)EXIT_EMPTY;
	}
	if (c->format->is_script)
		return status;
	if (pp_merge(run->profile, &shape, &e))
		return run_print_error(run, &e);
	empty = check_merged(run);
	return empty == CLI_OK ? status : empty;
}

/* Returns the status of --fail-above; `status` is that of the report, which is written. */
static enum cli_exit judge_limits(const struct run *run, enum cli_exit status)
{
	switch (limits_judge(&preport, &run->choices.s->limits, run->in.name, run->profile,
			     run->base ? run->base->profile : NULL,
			     (enum pp_measure)run->choices.s->weight)) {
	case LIMITS_EXCEEDED:
		return (enum cli_exit)EXIT_ABOVE;
	case LIMITS_OF_NOTHING:
		return (enum cli_exit)EXIT_EMPTY;
	case LIMITS_KEPT:
		break;
	}
	return status;
}

/* Runs in the sandbox: files with names come from the opener. */
static enum cli_exit write_report(void *ctx)
{
	struct run *run = ctx;
	enum cli_exit base = run->base ? load_samples(run->base) : CLI_OK, status;

	if (base > CLI_ERRORS)
		return base;
	if (run->choices.format->is_script && output_truncate(&run->out) != CLI_OK)
		return CLI_OUTPUT;
	status = load_samples(run);
	if (status > CLI_ERRORS)
		return status;
	if (run->choices.format->is_script)
		return finish_output(run, status);
	if (run->base)
		wrote_warn_event(&preport, run->base->in.name, run->base->profile, run->profile);
	status = write_profile(run, status == CLI_OK ? base : status);
	return status <= CLI_ERRORS ? judge_limits(run, status) : status;
}

static enum cli_exit open_files(struct run *run)
{
	if (input_open(&run->in, &preport)) {
		cli_error(&preport, "%s: %s%s", run->in.name, strerror(errno), run->in.hint);
		return CLI_INPUT;
	}
	if (!run->base)
		return output_open(&run->out, &preport, run->choices.s->output, run->in.path);
	if (input_open(&run->base->in, &preport) || run->base->in.fd < 0) {
		cli_error(&preport, "%s: %s", run->base->in.name, run->base->in.fd < 0 && !errno ?
			  "a directory can't be compared" : strerror(errno));
		return CLI_INPUT;
	}
	return output_open(&run->out, &preport, run->choices.s->output, run->in.path);
}

static enum cli_exit report_input(struct run *run)
{
	const struct settings *s = run->choices.s;
	const struct sandbox sandbox = {
		.tool = &preport, .word = s->sandbox, .verbose = s->verbose,
		.input = run->in.fd, .read_beneath = run->in.fd < 0 ? run->in.path : NULL,
		.receive = s->no_symbols ? SANDBOX_RECEIVE_NOTHING : SANDBOX_RECEIVE_FILES,
		.tempfile = SANDBOX_TEMPFILE_ALWAYS,
	};
	enum cli_exit status = CLI_OK;

	if (!s->no_symbols)
		status = symbols_prepare(&run->symbols, &preport, &s->symbols);
	if (status == CLI_OK && !s->no_symbols && run->base)
		status = symbols_prepare(&run->base->symbols, &preport, &s->symbols);
	if (status != CLI_OK)
		return status;
	sigbus_watch();
	return sandbox_run(&sandbox, run->out.created ? SANDBOX_IN_CHILD : SANDBOX_IN_PROCESS,
			   write_report, run);
}

static void close_run(struct run *run)
{
	symbols_report_files(&run->symbols, &preport, run->in.name);
	symbols_close(&run->symbols);
	pp_free(run->profile);
	symbol_filter_free(run->symbol_filter);
	pd_filter_free(run->filter);
	pd_history_free(run->history);
	pd_index_free(run->index);
	input_close(&run->in);
}

/* Evaluates the options and opens the files. */
static enum cli_exit prepare_run(struct run *run)
{
	enum cli_exit status = choices_make(&run->choices);

	if (status == CLI_OK)
		status = run_make_filter(run);
	if (status == CLI_OK && run->base) {
		run->base->choices = run->choices;
		status = run_make_filter(run->base);
	}
	return status == CLI_OK ? open_files(run) : status;
}

/* The caller goes on in a child process if there is a viewer. */
static void start_viewer(struct run *run)
{
	const struct format *f = run->choices.format;
	const bool is_long = f->format == PP_TOP || f->format == PP_TREE || f->is_script;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &run->window))
		run->window = (struct winsize){ 0 };
	if (run->choices.s->open)
		viewer_open_after(&preport, run->choices.s->output);
	if (run->choices.s->pager && is_long && !run->choices.s->output)
		run->is_paged = viewer_page(&preport);
}

/* --csv and --json are formats, too. */
static enum cli_exit choose_word(struct settings *s)
{
	const struct {
		bool is_given;
		unsigned int word;
	} flags[] = { { s->csv, WORD_CSV }, { s->json, WORD_JSON } };

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!flags[i].is_given)
			continue;
		if (s->format != UNSET && s->format != flags[i].word)
			return cli_usage(&preport, "one format, please: '--csv', '--json' or '-f'");
		s->format = flags[i].word;
	}
	return CLI_OK;
}

int main(int argc, char **argv)
{
	struct settings s = { .format = UNSET, .idle = UNSET, .rows = ROWS_UNSET,
			      .layout = UNSET, .pager = true };
	char file[OUTPUT_NAME_MAX];
	char **operands = cli_parse(&preport, argc, argv, &s);
	struct run base = { .choices.s = &s, .in = INPUT_CLOSED, .out = OUTPUT_CLOSED,
			    .symbols.opener = OPENER_CLOSED,
			    .errors = { &preport, ERRORS_SHOWN, s.verbose, 0 } };
	struct run run = base;
	enum cli_exit status = sandbox_check(&preport, s.sandbox);

	if (status == CLI_OK)
		status = input_check(&preport, &s.inputs, operands[0]);
	if (status == CLI_OK)
		status = choose_word(&s);
	input_choose(&run.in, input_named(&s.inputs, operands[0]));
	if (s.base) {
		input_choose(&base.in, s.base);
		run.base = &base;
	}
	run.choices.format = format_choose(s.format, !s.output && s.open ? "perf.html" : s.output);
	if (!s.output && (s.open || isatty(STDOUT_FILENO)))
		s.output = format_file(run.choices.format, run.in.path, file);
	if (status == CLI_OK)
		status = prepare_run(&run);
	s.symbols.lines = s.lines || table_has_lines(&run.choices.table);
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
	cli_list_free(&s.symbols.prefixes);
	cli_list_free(&s.limits);
	cli_list_free(&s.groups);
	cli_list_free(&s.inputs);
	filter_settings_free(&s.filter);
	return cli_finish(&preport, status);
}
