/* pdecode - everything in a perf.data file, as JSON. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "pd/pd.h"

struct settings {
	const char *output;
	unsigned int format, blobs, sort;
	uint64_t memory;
	bool strict;
};

static const char *const formats[] = { "json", "jsonl", "stats", NULL };
static const char *const blobs[] = { "hex", "omit", "full", NULL };
static const char *const sorts[] = { "file", "time", NULL };

static const struct cli_option options[] = {
	CLI_STRING('o', "output", "FILE", settings, output, "write to FILE instead of stdout"),
	CLI_CHOICE('f', "format", NULL, settings, format, formats, "what to write"),
	CLI_CHOICE(0, "blobs", NULL, settings, blobs, blobs, "stacks, raw and AUX data"),
	CLI_CHOICE(0, "sort", NULL, settings, sort, sorts, "order of the records"),
	CLI_SIZE(0, "memory", "BYTES", settings, memory, "hold no more than this"),
	CLI_FLAG(0, "strict", settings, strict, "stop at the first damaged record"),
	CLI_END
};

static const struct cli_tool tool = {
	.name = "pdecode", .version = PD_VERSION, .summary = "Decode perf.data into JSON.",
	.usage = "[FILE|-]", .operands = CLI_AT_MOST_ONE, .options = options,
};

struct run {
	struct pd_sink *sink;
	enum cli_exit status;
};

static void on_error(void *ctx, const struct pd_error *e)
{
	struct run *run = ctx;
	char text[256];

	cli_error(&tool, "%s", pd_error_text(e, text, sizeof(text)));
	if (e->severity > PD_NOTE)
		run->status = CLI_ERRORS;
	pd_sink_error(run->sink, e);
}

static void on_wait(void *ctx)
{
	pd_sink_wait(((struct run *)ctx)->sink);
}

int main(int argc, char **argv)
{
	struct settings s = { .format = 0 };
	char **operands = cli_parse(&tool, argc, argv, &s);
	const char *path = operands[0] ? operands[0] : "perf.data";
	struct output out = OUTPUT_CLOSED;
	const struct pd_json_options json = { sizeof(json), s.format == 1 ? PD_JSON_LINES : PD_JSON_DOCUMENT, s.blobs };
	struct run run = { .status = CLI_OK };
	const struct pd_record *record;
	struct pd_reader *reader;
	struct pd_error e;
	char text[256];
	int got;

	run.sink = pd_json_sink(&json, (struct pd_output){ output_write, &out });
	reader = strcmp(path, "-") ?
		pd_open_path(path, PD_OPTIONS(.memory_limit = s.memory, .order = s.sort, .on_error = on_error, .on_wait = on_wait, .ctx = &run), &e) :
		pd_open_fd(0, PD_OPTIONS(.memory_limit = s.memory, .order = s.sort, .on_error = on_error, .on_wait = on_wait, .ctx = &run), &e);
	if (!reader) {
		cli_error(&tool, "%s: %s", path, pd_error_text(&e, text, sizeof(text)));
		return CLI_INPUT;
	}
	output_open(&out, &tool, s.output, path);
	pd_sink_begin(run.sink, reader);
	while ((got = pd_next(reader, &record, &e)) > 0)
		if (pd_sink_record(run.sink, record))
			break;
	if (got < 0) {
		cli_error(&tool, "%s: %s", path, pd_error_text(&e, text, sizeof(text)));
		run.status = CLI_ERRORS;
	}
	pd_sink_finish(run.sink, reader);
	pd_sink_close(run.sink);
	pd_close(reader);
	return cli_finish(&tool, output_close(&out, run.status));
}
