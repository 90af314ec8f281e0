/* preport_formats.c - what preport writes, and the names of outputs that select it. */
#include "preport/preport_formats.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Programs that read such files know stacks only. */
#define STACKS_END ".linux-perf.txt"
#define PACKED_END ".gz"

const char *const format_words[] = {
	[WORD_TOP] = "top", [WORD_TREE] = "tree", [WORD_FOLDED] = "folded",
	[WORD_FLAMEGRAPH] = "flamegraph", [WORD_PPROF] = "pprof", [WORD_CSV] = "csv",
	[WORD_JSON] = "json", [WORD_SVG] = "svg", [WORD_CALLGRIND] = "callgrind",
	[WORD_FIREFOX] = "firefox", [WORD_SPEEDSCOPE] = "speedscope", [WORD_CHROME] = "chrome",
	[WORD_SCRIPT] = "script", [WORD_OTLP] = "otlp", [WORDS] = NULL
};

static const struct format formats[] = {
	[WORD_TOP] = { PP_TOP, FOR_PEOPLE, { ".txt" }, .has_one_event = true },
	[WORD_TREE] = { PP_TREE, FOR_PEOPLE, .has_one_event = true },
	[WORD_FOLDED] = { PP_FOLDED, FOR_PROGRAMS,
			  { ".folded", ".collapsed", ".collapsedstack.txt" },
			  .has_one_event = true, .viewer = "flamegraph.pl" },
	[WORD_FLAMEGRAPH] = { PP_FLAMEGRAPH, FOR_PEOPLE, { ".html" }, "perf.html",
			      PP_KEEP_WHAT_FITS, .viewer = "xdg-open" },
	[WORD_PPROF] = { PP_PPROF, FOR_PROGRAMS, { ".pb.gz", ".pprof" }, "perf.pb.gz",
			 PP_KEEP_SUMS, PP_GROUP_COMM | PP_GROUP_PID | PP_GROUP_TID,
			 .viewer = "go tool pprof -http=:" },
	[WORD_CSV] = { PP_CSV, FOR_PROGRAMS, { ".csv" }, .has_one_event = true },
	[WORD_JSON] = { PP_JSON, FOR_PROGRAMS, { ".json" }, .has_one_event = true },
	[WORD_SVG] = { PP_SVG, FOR_PEOPLE, { ".svg" }, "perf.svg", .has_one_event = true,
		       .viewer = "xdg-open" },
	[WORD_CALLGRIND] = { PP_CALLGRIND, FOR_PROGRAMS, { ".callgrind" }, "callgrind.out.perf",
			     .viewer = "kcachegrind" },
	[WORD_FIREFOX] = { PP_FIREFOX, FOR_PROGRAMS, { ".firefox.json", "profile.json" },
			   "perf.firefox.json.gz", PP_KEEP_SAMPLES,
			   .site = "https://profiler.firefox.com", .most = 450000000 },
	[WORD_SPEEDSCOPE] = { PP_SPEEDSCOPE, FOR_PROGRAMS, { ".speedscope.json" },
			      "perf.speedscope.json", PP_KEEP_SAMPLES,
			      .site = "https://www.speedscope.app", .most = 400000000 },
	[WORD_CHROME] = { PP_CHROME, FOR_PROGRAMS, { ".trace.json" }, "perf.trace.json.gz",
			  PP_KEEP_SAMPLES, .site = "https://ui.perfetto.dev" },
	[WORD_SCRIPT] = { PP_FOLDED, FOR_PROGRAMS, { ".perf.txt", STACKS_END },
			  .is_script = true },
	[WORD_OTLP] = { PP_OTLP, FOR_PROGRAMS, { ".otlp" }, "perf.otlp", PP_KEEP_SUMS,
			PP_GROUP_COMM | PP_GROUP_PID | PP_GROUP_TID },
};

enum { NR_ENDS = sizeof(formats->ends) / sizeof(formats->ends[0]) };

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* Returns whether a name has this ending, or this one and .gz. */
static bool selects(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end), gz = strlen(PACKED_END);

	if (ends_with(name, end))
		return true;
	return n >= m + gz && ends_with(name, PACKED_END) &&
	       memcmp(name + n - gz - m, end, m) == 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns whether a path is of a descriptor, such as that of <(zcat perf.data.gz) in a shell. */
static bool is_descriptor(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Returns the format that an output's name selects, or NULL. */
static const struct format *find_format(const char *output)
{
	static const char callgrind[] = "callgrind.out.";
	const struct format *chosen = NULL;
	size_t longest = 0;

	for (size_t i = 0; output && format_words[i]; i++) {
		const struct format *f = &formats[i];

		for (size_t k = 0; k < NR_ENDS && f->ends[k]; k++)
			if (selects(output, f->ends[k]) && strlen(f->ends[k]) > longest) {
				chosen = f;
				longest = strlen(f->ends[k]);
			}
		if (f->format == PP_CALLGRIND &&
		    strncmp(last_part(output), callgrind, strlen(callgrind)) == 0)
			return f;
	}
	return chosen;
}

enum format_word format_word(const struct format *f)
{
	return (enum format_word)(f - formats);
}

/* A flame graph is a page or a picture. */
const struct format *format_choose(unsigned int word, const char *output)
{
	const struct format *named = find_format(output);

	if (word == UNSET)
		return named ? named : &formats[0];
	if (formats[word].format == PP_FLAMEGRAPH && named && named->format == PP_SVG)
		return named;
	return &formats[word];
}

bool format_is_unknown(const char *output)
{
	const char *name = output ? last_part(output) : "", *dot = strrchr(name, '.');

	return dot && dot > name && dot[1] && !is_descriptor(output) && !find_format(output);
}

const char *format_file(const struct format *f, const char *input, char name[OUTPUT_NAME_MAX])
{
	const int folder = (int)(last_part(input) - input);

	if (!f->file || !folder || is_descriptor(input) ||
	    folder >= OUTPUT_NAME_MAX - (int)strlen(f->file))
		return f->file;
	snprintf(name, OUTPUT_NAME_MAX, "%.*s", folder, input);
	if (access(name, W_OK))
		return f->file;
	snprintf(name, OUTPUT_NAME_MAX, "%.*s%s", folder, input, f->file);
	return name;
}

/* A name without either end leaves it to the format. */
enum pp_compression format_compression(const char *output)
{
	if (!output)
		return PP_COMPRESSION_OF_FORMAT;
	return ends_with(output, PACKED_END) ? PP_COMPRESSED :
	       ends_with(output, ".json") ? PP_NOT_COMPRESSED : PP_COMPRESSION_OF_FORMAT;
}

enum pp_layout format_layout(unsigned int chosen, const char *output)
{
	if (chosen != UNSET)
		return (enum pp_layout)chosen;
	return output && ends_with(output, STACKS_END) ? PP_LAYOUT_STACKS : PP_LAYOUT_PERF;
}
