/* preport_formats.c - what preport writes, and the names of outputs that select it. */
#include "preport/preport_formats.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Programs that read such files know stacks only. */
#define STACKS_END ".linux-perf.txt"
#define PACKED_END ".gz"

const char *const format_words[] = { "top", "tree", "folded", "flamegraph", "pprof", "csv", "json",
				     "svg", "callgrind", "firefox", "speedscope", "chrome",
				     "script", "otlp", NULL };

/* In the order of their words. */
static const struct format formats[] = {
	{ PP_TOP, FOR_PEOPLE, { ".txt" }, .has_one_event = true },
	{ PP_TREE, FOR_PEOPLE, .has_one_event = true },
	{ PP_FOLDED, FOR_PROGRAMS, { ".folded", ".collapsed", ".collapsedstack.txt" },
	  .has_one_event = true, .viewer = "flamegraph.pl" },
	{ PP_FLAMEGRAPH, FOR_PEOPLE, { ".html" }, "perf.html", PP_KEEP_WHAT_FITS,
	  .viewer = "xdg-open" },
	{ PP_PPROF, FOR_PROGRAMS, { ".pb.gz", ".pprof" }, "perf.pb.gz", PP_KEEP_SUMS,
	  PP_GROUP_COMM | PP_GROUP_PID | PP_GROUP_TID, .viewer = "go tool pprof -http=:" },
	{ PP_CSV, FOR_PROGRAMS, { ".csv" }, .has_one_event = true },
	{ PP_JSON, FOR_PROGRAMS, { ".json" }, .has_one_event = true },
	{ PP_SVG, FOR_PEOPLE, { ".svg" }, "perf.svg", .has_one_event = true, .viewer = "xdg-open" },
	{ PP_CALLGRIND, FOR_PROGRAMS, { ".callgrind" }, "callgrind.out.perf",
	  .viewer = "kcachegrind" },
	{ PP_FIREFOX, FOR_PROGRAMS, { ".firefox.json", "profile.json" },
	  "perf.firefox.json.gz", PP_KEEP_SAMPLES, .site = "https://profiler.firefox.com",
	  .most = 450000000 },
	{ PP_SPEEDSCOPE, FOR_PROGRAMS, { ".speedscope.json" }, "perf.speedscope.json",
	  PP_KEEP_SAMPLES, .site = "https://www.speedscope.app", .most = 400000000 },
	{ PP_CHROME, FOR_PROGRAMS, { ".trace.json" }, "perf.trace.json.gz", PP_KEEP_SAMPLES,
	  .site = "https://ui.perfetto.dev" },
	{ PP_FOLDED, FOR_PROGRAMS, { ".perf.txt", STACKS_END }, .is_script = true },
	{ PP_OTLP, FOR_PROGRAMS, { ".otlp" }, "perf.otlp", PP_KEEP_SUMS,
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

/* A flame graph is a page or a picture. */
unsigned int format_word(const char *word)
{
	unsigned int i = 0;

	while (strcmp(format_words[i], word) != 0)
		i++;
	return i;
}

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
