/* preport_read.c - reads the samples of a recording into a profile: see preport_run.h. */
#include "preport/preport_run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preport/preport_threads.h"
#include "process/sigbus.h"
#include "recording/cpu_filter.h"
#include "recording/history.h"
#include "recording/symbol_help.h"

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

enum cli_exit run_print_error(struct run *run, const struct pd_error *e)
{
	char text[512];

	if (e->code == PD_E_LIMIT && !e->text) {
		input_lacks_memory(&preport, run->in.name, run->choices.s->memory);
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

bool run_is_for_terminal(const struct run *run)
{
	return run->is_paged || output_is_terminal(&run->out);
}

static struct pd_reader_options reader_options(struct run *run)
{
	return (struct pd_reader_options){
		.size = sizeof(struct pd_reader_options), .memory_limit = run->choices.s->memory,
		.max_expanded = run->choices.max_output.bytes,
		.max_ratio = run->choices.max_output.ratio,
		.on_error = on_error, .ctx = run, .access = PD_MAP_OWN,
		/* waits are from a switch on one CPU to one on another */
		.order = choices_state(&run->choices) == PP_ON_CPU ? PD_AS_WRITTEN : PD_BY_TIME,
	};
}

static bool wants_event(void *ctx, const char *name)
{
	const struct run *run = ctx;

	return filter_wants_event(&run->choices.s->filter, name);
}

/* Text that goes to the terminal shows that there is progress. */
static void start_progress(struct run *run, const struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_reader_file(reader);
	const bool is_text = run->choices.format->is_script && run_is_for_terminal(run);

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

enum cli_exit run_make_filter(struct run *run)
{
	struct filter_settings s = run->choices.s->filter;

	s.events = (struct cli_list){ 0 };
	return filter_make(&preport, &s, &run->filter, &run->part);
}

/* Returns 0, or -1 without memory. */
static int set_symbol_filter(struct run *run)
{
	const struct symbol_filter_settings *places = &run->choices.s->filter.places;

	if (!symbol_filter_is_given(places))
		return 0;
	run->symbol_filter = symbol_filter_new(places, run->history, run->symbols.session,
					       run->filter);
	return run->symbol_filter ? 0 : -1;
}

unsigned int run_thread_count(const struct run *run)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (run->choices.s->jobs)
		return run->choices.s->jobs;
	return cpus < 1 ? 1 : (unsigned int)cpus;
}

static int take_samples(struct run *run, struct pd_reader *reader, const struct pp_options *profile,
			struct pd_error *e)
{
	const struct parts parts = { .in = &run->in, .index = run->index,
				     .reader = reader_options(run), .profile = *profile,
				     .threads = run_thread_count(run) };

	if (!run->choices.format->is_script)
		return parts_add(&parts, run->profile, reader, e);
	return pp_script(run->profile, reader, &run->choices.script,
			 (struct pd_output){ output_write, &run->out }, e);
}

static enum cli_exit add_samples(struct run *run, struct pd_reader *reader)
{
	enum cli_exit status = run->filter ?
		filter_set_part(&preport, run->filter, run->part, reader) : CLI_OK;
	const struct choices *c = &run->choices;
	const struct settings *s = c->s;
	const struct pd_reader_options limits = reader_options(run);
	const struct pp_options *o = PP_OPTIONS(
		.history = run->history, .filter = run->filter,
		.namer = s->no_symbols ? NULL : &run->symbols.namer,
		.memory_limit = s->memory, .groups = c->groups, .keep = choices_keep(c),
		.state = choices_state(c),
		.pmus = s->merge_events ? PP_PMUS_MERGED : PP_PMUS_APART,
		.wants_event = wants_event, .on_progress = on_progress, .ctx = run,
		.help = symbol_help);
	struct pd_error e;
	int ret;

	if (status != CLI_OK)
		return status;
	run->symbols.threads = c->format->is_script ? 1 : run_thread_count(run);
	if (!s->no_symbols)
		status = symbols_open(&run->symbols, &preport, &s->symbols, &run->in, &limits,
				      run->history);
	if (status != CLI_OK)
		return status;
	if (set_symbol_filter(run))
		return run_print_error(run, &(struct pd_error){ .code = PD_E_NOMEM,
								.severity = PD_FATAL });
	run->profile = pp_new(o, &e);
	if (!run->profile)
		return run_print_error(run, &e);
	start_progress(run, reader);
	ret = take_samples(run, reader, o, &e);
	progress_end(&run->progress);
	if (ret) {
		if (run->out.error)
			return output_close(&run->out, CLI_OUTPUT);
		if (e.code == PD_E_LIMIT || is_disk_full(&e))
			return run_print_error(run, &e);
		on_error(run, &e);
	}
	if (sigbus_lost_bytes(&e))
		on_error(run, &e);
	filter_report_unknown_events(&preport, &s->filter, reader);
	cpu_filter_report(&preport, &s->filter, reader);
	return run->errors.nr ? CLI_ERRORS : CLI_OK;
}

/* Large recordings have entries that are further apart, so that an index stays small. */
static uint64_t index_distance(const struct input *in)
{
	struct stat st;

	if (in->fd < 0 || fstat(in->fd, &st) || st.st_size < 0)
		return PARTS_RECORDS;
	return PARTS_RECORDS + (uint64_t)st.st_size / PARTS_BYTES;
}

enum cli_exit run_read_samples(struct run *run)
{
	struct pd_reader_options o = reader_options(run);
	struct pd_error e;
	enum cli_exit status;
	struct pd_reader *reader;

	if (run_thread_count(run) > 1 && !choices_need_order(&run->choices))
		run->index = pd_index_new(index_distance(&run->in));
	status = history_make(&preport, &run->in, &o, PD_HISTORY_ALL, &run->history, run->index,
			      &e);
	if (status == CLI_OK && run->choices.s->symbols.stitch_lbr)
		status = history_stitch(&preport, &run->in, &o, run->history, 0);
	if (status != CLI_OK)
		return status;
	if (e.code != PD_OK)
		on_error(run, &e);
	status = cpu_filter_check(&preport, &run->choices.s->filter, &run->in);
	if (status != CLI_OK)
		return status;
	if (run->filter)
		pd_filter_set_history(run->filter, run->history);
	if (choices_need_order(&run->choices))
		o.order = PD_BY_TIME;
	reader = run->in.fd >= 0 ? pd_reader_open_fd(run->in.fd, &o, &e) :
		pd_reader_open_path(run->in.path, &o, &e);
	if (!reader)
		return run_print_error(run, &e);
	status = add_samples(run, reader);
	pd_reader_free(reader);
	return status;
}
