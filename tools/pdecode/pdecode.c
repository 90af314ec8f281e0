/* pdecode.c - decode a perf.data file to JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "files/input.h"
#include "files/input_errors.h"
#include "files/output.h"
#include "pd/pd.h"
#include "pdecode/pdecode_clocks.h"
#include "pdecode/pdecode_columns.h"
#include "pdecode/pdecode_directory.h"
#include "pdecode/pdecode_schema.h"
#include "pdecode/pdecode_settings.h"
#include "process/progress.h"
#include "process/sigbus.h"
#include "process/sigint.h"
#include "recording/cpu_filter.h"
#include "recording/filter.h"
#include "recording/history.h"
#include "recording/symbols.h"
#include "sandbox/sandbox.h"

enum { ERRORS_SHOWN = 20 };

/* The decoding of one input. */
struct run {
	const struct settings *s;
	struct max_output max_output;
	struct input in;
	struct output out;
	struct pd_filter *filter;
	struct filter_part part;
	struct pd_history *history;	/* NULL: not needed */
	struct symbol_filter *symbol_filter;
	struct pd_error history_cut;	/* to be reported, or PD_OK */
	struct history_texts history_texts;
	struct symbols symbols;
	struct column_files files;	/* of -f parquet */
	struct pc_columns *columns;	/* of arrow and parquet; of the sink */
	struct pd_sink *sink;
	struct progress progress;
	uint64_t done;			/* bytes of the input, for progress */
	uint64_t errors, not_shown;
	int refused;			/* what the sink returned if not 0 */
};

static void report_error(struct run *run, const struct pd_error *e, const char *hint)
{
	char text[512];

	progress_clear(&run->progress);
	cli_error(&pdecode, "%s: %s%s%s", run->in.name, pd_error_text(e, text, sizeof(text)),
		  input_error_option(e), hint);
}

static enum cli_exit report_memory(const struct run *run)
{
	input_lacks_memory(&pdecode, run->in.name, run->s->memory);
	return CLI_OUTPUT;
}

static void on_error(void *ctx, const struct pd_error *e)
{
	struct run *run = ctx;
	/* first reports what its threads found before this */
	int refused = run->refused ? 0 : pd_sink_error(run->sink, e);

	if (!run->refused)
		run->refused = refused;
	if (e->severity > PD_NOTE)
		run->errors++;
	if (run->s->verbose || (e->severity > PD_NOTE && run->errors <= ERRORS_SHOWN))
		report_error(run, e, "");
	else if (e->severity > PD_NOTE)
		run->not_shown++;
}

static void on_wait(void *ctx)
{
	struct run *run = ctx;

	pd_sink_wait(run->sink);
	output_flush(&run->out);
}

/* Returns whether a history follows the records; names of functions and tables need a whole one. */
static bool is_live(const struct run *run)
{
	const struct settings *s = run->s;

	return (s->resolve || s->filter.comms.count) && s->format <= FORMAT_STATS &&
	       !settings_need_names(s) && !s->header_only && history_needs_copy(&run->in);
}

/* --strict ends at the very record that is damaged, and a history may follow the records: no thread
 * may be ahead of either. */
static unsigned int thread_count(const struct run *run)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct settings *s = run->s;

	if (s->strict || is_live(run))
		return 1;
	if (s->jobs)
		return s->jobs < MOST_THREADS ? s->jobs : MOST_THREADS;
	return cpus < 1 ? 1 : cpus < MOST_THREADS ? (unsigned int)cpus : MOST_THREADS;
}

/* Mapping saves a copy of each byte. If the file shrinks, up to a piece of it becomes zeros, which
 * is reported. Tables, which are put in place when they are complete, are not worth that. */
static enum pd_access access_of(const struct settings *s)
{
	return s->format <= FORMAT_STATS ? PD_MAP_OWN : PD_READ;
}

static struct pd_sink *make_column_sink(struct run *run)
{
	const struct settings *s = run->s;

	run->columns = column_make(&s->columns, &(struct pc_options){
		.size = sizeof(struct pc_options), .history = run->history, .filter = run->filter,
		.memory_limit = s->memory, .path = run->in.name, .threads = thread_count(run),
		.namer = s->symbols.depth ? &run->symbols.namer : NULL,
		.tables = s->format == FORMAT_ARROW ? 1ull << column_table(&s->columns) : 0 });
	return column_sink(run->columns);
}

static struct pd_sink *make_sink(struct run *run)
{
	const enum pd_json_layout layout = run->s->pretty ? PD_JSON_INDENTED : PD_JSON_COMPACT;
	const struct pd_output out = { output_write, &run->out };
	enum pd_json_frames form;

	if (settings_make_tables(run->s))
		return make_column_sink(run);
	symbols_form(&run->s->symbols, &form);
	if (run->s->format == FORMAT_STATS)
		return pd_sink_new_stats(&(struct pd_stats_options){
			.size = sizeof(struct pd_stats_options), .layout = layout,
			.filter = run->filter }, out);
	return pd_sink_new_json(&(struct pd_json_options){
		.size = sizeof(struct pd_json_options), .layout = layout, .filter = run->filter,
		.shape = run->s->format == FORMAT_JSONL ? PD_JSON_LINES : PD_JSON_DOCUMENT,
		.blobs = (enum pd_blobs)run->s->blobs, .threads = thread_count(run),
		.times = run->s->utc ? PD_JSON_CLOCK_AND_UTC : PD_JSON_CLOCK,
		.history = settings_show_frames(run->s) ? run->history : NULL,
		.namer = run->s->symbols.depth ? &run->symbols.namer : NULL, .frames = form,
		.parts = run->s->header_only ? PD_JSON_HEADER :
			 run->s->records_only ? PD_JSON_RECORDS : PD_JSON_ALL }, out);
}

/* --comm and --resolve need names and maps in the order of time. A stream can't be read twice: it
 * is sorted, which takes no longer than a round, so that what is live stays live. */
static bool sorts_by_time(const struct run *run)
{
	return run->s->sort || is_live(run);
}

static struct pd_reader_options reader_options(struct run *run)
{
	return (struct pd_reader_options){
		.size = sizeof(struct pd_reader_options), .memory_limit = run->s->memory,
		.max_expanded = run->max_output.bytes, .max_ratio = run->max_output.ratio,
		.order = sorts_by_time(run) ? PD_BY_TIME : PD_AS_WRITTEN, .on_error = on_error,
		.stop_at = settings_make_tables(run->s) && run->s->strict ? PD_DAMAGED : PD_FATAL,
		.on_wait = on_wait, .ctx = run, .access = access_of(run->s) };
}

static struct pd_reader *open_reader(struct run *run)
{
	const struct pd_reader_options o = reader_options(run);
	struct pd_reader *reader;
	struct pd_error e;

	reader = run->in.fd >= 0 ? pd_reader_open_fd(run->in.fd, &o, &e) :
		pd_reader_open_path(run->in.path, &o, &e);
	if (!reader)
		report_error(run, &e, run->in.hint);
	return reader;
}

static enum cli_exit open_input(struct run *run)
{
	if (input_open(&run->in, &pdecode) == 0)
		return CLI_OK;
	report_error(run,
		     &(struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
			     .have = (uint64_t)errno }, run->in.hint);
	return CLI_INPUT;
}

static enum cli_exit open_output(struct run *run)
{
	const char *output = run->s->output;
	bool inside = directory_contains(run->in.path, output);
	enum cli_exit status = run->s->format == FORMAT_PARQUET ?
		column_files_open(&run->files, &pdecode, output, &run->in) :
		inside ? CLI_USAGE : output_open(&run->out, &pdecode, output, run->in.path);

	/* A new data.N would be read as part of the directory. */
	if (run->out.created && directory_names_data(output) &&
	    directory_contains(run->in.path, output)) {
		inside = true;
		output_discard(&run->out);
	}
	if (inside)
		cli_error(&pdecode, "%s: is both input and output", output);
	return inside ? CLI_USAGE : status;
}

static void start_progress(struct run *run, const struct pd_reader *reader)
{
	const struct pd_file_info *f = pd_reader_file(reader);

	if (!output_is_terminal(&run->out) || run->s->format == FORMAT_STATS)
		progress_start(&run->progress, f->size_known && f->mode != PD_MODE_DIRECTORY ?
			       f->size : 0);
}

static void show_progress(struct run *run, const struct pd_reader *reader,
			  const struct pd_record *record)
{
	const uint64_t offset = pd_record_offset(record);

	if (pd_reader_file(reader)->mode == PD_MODE_DIRECTORY)	/* each file has its own offsets */
		run->done += pd_record_bytes(record).size;
	else if (offset > run->done)
		run->done = offset;
	progress_update(&run->progress, run->done);
}

/* In a pipe the header consists of records, which end at the first of these. */
static bool ends_header(const struct pd_record *record)
{
	static const char *const firsts[] = {
		"SAMPLE", "READ", "COMPRESSED", "COMPRESSED2", "AUXTRACE", "FINISHED_ROUND",
		"FINISHED_INIT",
	};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		if (strcmp(pd_record_name(record), firsts[i]) == 0)
			return true;
	return false;
}

static bool must_stop(const struct run *run)
{
	return run->refused || (run->s->strict && run->errors);
}

static void decode_records(struct run *run, struct pd_reader *reader)
{
	const bool header_only = run->s->header_only, live = is_live(run);
	const struct pd_record *record;
	struct pd_error e;
	int ret = 0;

	run->refused = pd_sink_begin(run->sink, reader);
	if (live)
		pd_history_add_features(run->history, reader, &e);
	while (!must_stop(run) && !(header_only && pd_reader_file(reader)->mode != PD_MODE_PIPE)) {
		if (!header_only && !live)
			run->refused = pd_sink_batch(run->sink, reader);
		ret = run->refused ? 0 : pd_reader_next(reader, &record, &e);
		if (ret <= 0 || must_stop(run) || (header_only && ends_header(record)))
			break;
		if (live)
			pd_history_add_record(run->history, record, NULL);
		run->refused = pd_sink_record(run->sink, record);
		show_progress(run, reader, record);
	}
	if (ret < 0)
		on_error(run, &e);
	if (sigbus_lost_bytes(&e))
		on_error(run, &e);
	if (live)
		history_end(run->history, reader, &run->history_texts, on_error, run);
	if (!run->refused)
		run->refused = pd_sink_finish(run->sink, reader);
}

/* Writes tables. An error that reached `stop_at` was reported already. */
static void decode_columns(struct run *run, struct pd_reader *reader)
{
	struct pd_error e;

	run->refused = run->s->format == FORMAT_PARQUET ?
		column_files_write(&run->files, run->columns, reader, &e) :
		pc_write_arrow(run->columns, reader, column_table(&run->s->columns),
			       (struct pd_output){ output_write, &run->out }, &e);
	if (run->refused || e.code == PD_OK || (run->s->strict && run->errors))
		return;
	run->errors++;
	report_error(run, &e, "");
}

/* Returns the status of the input that was decoded. An error of the output was reported already. */
static enum cli_exit status_of_input(const struct run *run)
{
	const bool output_failed = run->out.error ||
				   (run->files.outputs && column_files_failed(&run->files));

	if (run->refused && !output_failed)
		return report_memory(run);
	return run->errors ? CLI_ERRORS : CLI_OK;
}

/* Reports which names are missing. Returns whether the options make that an error. */
static bool report_names(struct run *run)
{
	const struct symbol_settings *s = &run->s->symbols;
	bool wrong = s->depth && symbols_report_unnamed(&run->symbols, &pdecode, run->in.name) &&
		     s->strict;

	if (symbols_report_limit(&run->symbols, &pdecode, run->in.name))
		wrong = true;
	symbols_report_files(&run->symbols, &pdecode, run->in.name);
	return wrong;
}

/* Reports what the options ask for and the recording does not have. */
static void report_unmet_options(struct run *run, const struct pd_reader *reader)
{
	const struct filter_settings *filter = &run->s->filter;

	if (run->s->utc)
		clocks_report_untied(&pdecode, run->in.name, reader);
	filter_report_unknown_events(&pdecode, filter, reader);
	if (run->s->header_only)
		return;
	cpu_filter_report(&pdecode, filter, reader);
	if (run->filter && !run->refused)
		filter_report_no_match(&pdecode, filter, run->filter);
}

static enum cli_exit decode_reader(struct run *run, struct pd_reader *reader)
{
	enum cli_exit status = run->filter ?
		filter_set_part(&pdecode, run->filter, run->part, reader) : CLI_OK;

	if (status == CLI_OK && run->s->format != FORMAT_PARQUET)
		status = output_truncate(&run->out);
	if (status != CLI_OK)
		return status;
	start_progress(run, reader);
	if (run->history_cut.code != PD_OK)
		on_error(run, &run->history_cut);
	if (settings_make_tables(run->s))
		decode_columns(run, reader);
	else
		decode_records(run, reader);
	progress_end(&run->progress);
	status = status_of_input(run);
	if (report_names(run) && status == CLI_OK)
		status = CLI_ERRORS;
	report_unmet_options(run, reader);
	if (run->not_shown)
		cli_error(&pdecode, "%s: and %llu more errors; -v shows all of them", run->in.name,
			  (unsigned long long)run->not_shown);
	return run->files.outputs ? column_files_close(&run->files, status) :
				    output_close(&run->out, status);
}

static bool needs_maps(const struct run *run)
{
	const struct settings *s = run->s;

	return settings_make_tables(s) || settings_show_frames(s) ||
	       symbol_filter_is_given(&s->filter.places);
}

static bool needs_history(const struct run *run)
{
	const struct settings *s = run->s;

	return !s->header_only && !is_live(run) &&
	       (needs_maps(run) || (s->filter.comms.count && !history_needs_copy(&run->in)));
}

/* Returns 0, or -1 without memory. */
static int set_filter(struct run *run)
{
	const struct symbol_filter_settings *places = &run->s->filter.places;

	if (!run->filter || !run->history)
		return 0;
	pd_filter_set_history(run->filter, run->history);
	if (!symbol_filter_is_given(places))
		return 0;
	run->symbol_filter = symbol_filter_new(places, run->history, run->symbols.session,
					       run->filter);
	return run->symbol_filter ? 0 : -1;
}

/* Makes what the second pass needs: the history, and the sink. */
static enum cli_exit prepare_second_pass(struct run *run)
{
	const struct pd_reader_options o = reader_options(run);
	enum cli_exit status = is_live(run) ? history_begin(&pdecode, &o, &run->history) :
		needs_history(run) ? history_make(&pdecode, &run->in, &o,
						  needs_maps(run) ? PD_HISTORY_ALL :
								    PD_HISTORY_TASKS,
						  &run->history, NULL, &run->history_cut) : CLI_OK;

	if (status == CLI_OK && run->history && run->s->symbols.stitch_lbr)
		status = history_stitch(&pdecode, &run->in, &o, run->history,
					run->s->symbols.max_frames);
	if (status != CLI_OK)
		return status;
	if (settings_need_names(run->s) && run->history)
		status = symbols_open(&run->symbols, &pdecode, &run->s->symbols, &run->in, &o,
				      run->history);
	if (status != CLI_OK)
		return status;
	run->sink = make_sink(run);
	if (run->sink && set_filter(run) == 0)
		return CLI_OK;
	return report_memory(run);
}

/* Runs in the sandbox: all files are open, except those of a directory. */
static enum cli_exit decode(void *ctx)
{
	struct run *run = ctx;
	struct pd_reader *reader = NULL;
	enum cli_exit status;

	if (access_of(run->s) == PD_MAP_OWN)
		sigbus_watch();
	status = prepare_second_pass(run);
	if (status == CLI_OK) {
		reader = open_reader(run);
		status = reader ? decode_reader(run, reader) : CLI_INPUT;
	}
	pd_sink_free(run->sink);
	pd_reader_free(reader);
	symbol_filter_free(run->symbol_filter);
	symbols_close(&run->symbols);
	pd_history_free(run->history);
	return status;
}

static void drop_files(void *ctx)
{
	struct run *run = ctx;

	atomic_output_discard(&run->files.place);
}

static enum cli_exit decode_input(struct run *run)
{
	const struct sandbox sandbox = {
		.tool = &pdecode, .word = run->s->sandbox, .verbose = run->s->verbose,
		.input = run->in.fd,
		.read_beneath = run->in.fd < 0 ? run->in.path : NULL,
		.receive = settings_need_names(run->s) ? SANDBOX_RECEIVE_FILES :
							 SANDBOX_RECEIVE_NOTHING,
		.tempfile = sorts_by_time(run) || needs_history(run) ? SANDBOX_TEMPFILE_ALWAYS :
								 SANDBOX_TEMPFILE_UNLESS_PLAIN,
		.undo = drop_files,
	};
	enum cli_exit status = open_output(run), kept;

	if (status != CLI_OK)
		return status;
	if (settings_need_names(run->s))
		status = symbols_prepare(&run->symbols, &pdecode, &run->s->symbols);
	/* If the input is invalid, a new output is removed, which needs a right to its
	 * directory. */
	if (status == CLI_OK)
		status = sandbox_run(&sandbox, run->out.created || run->files.outputs ?
				     SANDBOX_IN_CHILD : SANDBOX_IN_PROCESS, decode, run);
	if (status == CLI_INPUT || status == CLI_USAGE)
		output_discard(&run->out);
	if (!run->files.outputs || status > CLI_ERRORS)
		return status;
	kept = column_files_commit(&run->files);
	return kept == CLI_OK ? status : kept;
}

static enum cli_exit run_decode(struct run *run)
{
	enum cli_exit status = filter_make(&pdecode, &run->s->filter, &run->filter, &run->part);

	if (status == CLI_OK)
		status = open_input(run);
	if (status == CLI_OK) {
		sigint_ignore_first(run->in.fd);
		status = decode_input(run);
	}
	input_close(&run->in);
	pd_filter_free(run->filter);
	column_files_free(&run->files);
	return status;
}

int main(int argc, char **argv)
{
	struct settings s = { .output = NULL };
	char **operands = cli_parse(&pdecode, argc, argv, &s);
	struct run run = { .s = &s, .in = INPUT_CLOSED, .out = OUTPUT_CLOSED,
			   .files.place = ATOMIC_OUTPUT_CLOSED, .symbols.opener = OPENER_CLOSED };
	enum cli_exit status = settings_check(&s, operands[0]);

	if (status == CLI_OK)
		status = max_output_read(&pdecode, s.max_output, &run.max_output);
	if (status == CLI_OK && s.schema) {
		status = schema_write(&pdecode, s.schema, s.output);
	} else if (status == CLI_OK && s.columns.ddl) {
		status = column_write_ddl(&pdecode, &s.columns, s.output);
	} else if (status == CLI_OK) {
		input_choose(&run.in, input_named(&s.inputs, operands[0]));
		status = run_decode(&run);
	}
	filter_settings_free(&s.filter);
	cli_list_free(&s.inputs);
	cli_list_free(&s.symbols.debug_dirs);
	cli_list_free(&s.symbols.prefixes);
	cli_list_free(&s.columns.with);
	return cli_finish(&pdecode, status);
}
