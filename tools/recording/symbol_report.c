/* symbol_report.c - reports the frames without a name at the end of a run. */
#include <stdio.h>
#include <string.h>

#include "recording/symbol_help.h"
#include "recording/symbols.h"

static void add_worst(struct symbol_totals *t, struct symbol_worst w)
{
	for (size_t i = 0; i < SYMBOL_WORST; i++) {
		const struct symbol_worst other = t->worst[i];

		if (w.unnamed <= other.unnamed)
			continue;
		t->worst[i] = w;
		w = other;
	}
}

void symbols_keep_totals(void *symbols, const struct pd_name_totals *totals)
{
	struct symbols *n = symbols;
	struct symbol_totals *t = &n->totals;

	for (size_t i = 0; i < totals->nr_why && i < SYMBOL_REASONS; i++)
		t->by_why[i] = totals->by_why[i];
	for (size_t i = 0; totals->images && i < totals->nr_images; i++) {
		const struct pd_image_frames *f = &totals->images[i];
		const struct pd_image *image = pd_history_image(n->history, i);

		if (image && f->frames > f->named)
			add_worst(t, (struct symbol_worst){ image, f->frames - f->named, f->why });
	}
	for (size_t i = 0; i < totals->nr_ends; i++) {
		t->stacks += totals->ends[i].samples;
		if (strcmp(totals->ends[i].end, ps_end_name(PS_END_STACK_CUT)) == 0)
			t->cut = totals->ends[i].samples;
		else if (strcmp(totals->ends[i].end, ps_end_name(PS_END_NO_ARCH)) == 0)
			t->foreign = totals->ends[i].samples;
		else if (strcmp(totals->ends[i].end, ps_end_name(PS_END_NO_CFI)) == 0)
			t->lost = totals->ends[i].samples;
	}
}

static void report_images(const struct symbol_totals *t, const struct cli_tool *tool,
			  const char *input)
{
	for (size_t i = 0; i < SYMBOL_WORST && t->worst[i].unnamed; i++) {
		const struct symbol_worst *w = &t->worst[i];
		const char *help = symbol_help(w->why, w->image);

		cli_error(tool, "%s: %llu frame%s without a name in %s, %s%s%s", input,
			  (unsigned long long)w->unnamed, w->unnamed == 1 ? "" : "s",
			  w->image->path, pd_why_name(w->why), *help ? "; " : "", help);
	}
}

/* Images are reported with what helps. */
static bool has_image(unsigned int why)
{
	return why >= PD_WHY_NO_FILE;
}

/* Copied stacks do not follow frame pointers. */
static const char lost_chains[] = "chains by frame pointers get lost in code without them: record "
				  "with precord --call-graph dwarf, or JIT code with them: java "
				  "-XX:+PreserveFramePointer";

static bool report_frames(const struct symbol_totals *t, const struct cli_tool *tool,
			  const char *input)
{
	uint64_t unnamed = 0;
	unsigned int most = PD_WHY_FOUND + 1;
	const char *help = "";

	for (unsigned int i = PD_WHY_FOUND + 1; i < SYMBOL_REASONS; i++) {
		unnamed += t->by_why[i];
		if (t->by_why[i] > t->by_why[most])
			most = i;
	}
	if (!unnamed)
		return false;
	if (most == PD_WHY_NO_MAP)
		help = t->stacks ? "" : lost_chains;
	else if (!has_image(most))
		help = symbol_help(most, NULL);
	cli_error(tool, "%s: %llu of %llu frames %s no name, %llu of them because of %s%s%s",
		  input, (unsigned long long)unnamed,
		  (unsigned long long)(unnamed + t->by_why[PD_WHY_FOUND]),
		  unnamed == 1 ? "has" : "have", (unsigned long long)t->by_why[most],
		  pd_why_name(most), *help ? "; " : "", help);
	report_images(t, tool, input);
	return true;
}

bool symbols_report_unnamed(const struct symbols *n, const struct cli_tool *tool, const char *input)
{
	const struct symbol_totals *t = &n->totals;

	if (t->cut)
		cli_error(tool, "%s: %llu of %llu copied stacks are cut; copy more, up to "
			  "precord --call-graph dwarf,65528", input, (unsigned long long)t->cut,
			  (unsigned long long)t->stacks);
	if (t->foreign)
		cli_error(tool, "%s: %llu of %llu copied stacks are of a machine that is not "
			  "known, or not supported; use precord --call-graph fp there", input,
			  (unsigned long long)t->foreign, (unsigned long long)t->stacks);
	/* a thread that begins or ends may have one */
	if (t->lost * 100 >= t->stacks && t->lost)
		cli_error(tool, "%s: %llu of %llu copied stacks end in code without call frame "
			  "information and frame pointers; JIT compilers can keep these: java "
			  "-XX:+PreserveFramePointer", input, (unsigned long long)t->lost,
			  (unsigned long long)t->stacks);
	return report_frames(t, tool, input);
}

static bool is_over_limit(const struct pd_image_file *f)
{
	return f->why == PD_WHY_LIMIT;
}

static bool is_unverified(const struct pd_image_file *f)
{
	return f->match && strcmp(f->match, ps_match_name(PS_MATCH_UNVERIFIED)) == 0;
}

/* Returns how many images have such a file, and sets *first to the first of them. */
static size_t count_files(const struct symbols *n, bool (*has)(const struct pd_image_file *f),
			  uint32_t *first)
{
	const size_t nr_images = n->session ? pd_history_nr_images(n->history) : 0;
	struct pd_image_file file;
	size_t found = 0;

	for (uint32_t i = 0; i < nr_images; i++)
		if (ps_session_image(n->session, i, &file) && has(&file) && !found++)
			*first = i;
	return found;
}

bool symbols_report_limit(const struct symbols *n, const struct cli_tool *tool, const char *input)
{
	uint32_t first = 0;
	const size_t found = count_files(n, is_over_limit, &first);

	if (found)
		cli_error(tool, "%s: names or lines of %zu files do not fit into memory, as those "
			  "of %s: give more --memory", input, found,
			  pd_history_image(n->history, first)->path);
	else if (ps_session_lacks_memory(n->session))
		cli_error(tool, "%s: names may be missing for lack of memory: give more --memory",
			  input);
	return found || ps_session_lacks_memory(n->session);
}

static void report_unverified(const struct symbols *n, const struct cli_tool *tool,
			      const char *input)
{
	uint32_t first = 0;
	const size_t found = count_files(n, is_unverified, &first);
	struct pd_image_file file;

	if (found && ps_session_image(n->session, first, &file))
		cli_error(tool, "%s: nothing shows that %zu files are the recorded ones, as %s; "
			  "their names may be wrong", input, found,
			  file.path ? file.path : "/tmp/perf-PID.map");
}

/* The report of a file that an image lacks: before its path, and after. */
struct lack_text {
	const char *before, *after;
};

static const struct lack_text lack_texts[PS_NR_LACKS] = {
	[PS_LACK_IMAGE] = { "only functions that the recording names are shown: nothing shows "
			    "that",
			    " is the recorded file; --unverified=always uses it if no build id was "
			    "recorded" },
	[PS_LACK_SPLIT] = { "what is inlined there is in",
			    ", which is not here or of another build: give it, or the program's "
			    ".dwp, with --debug-dir" },
	[PS_LACK_ALT] = { "some names and lines there are in",
			  ", which is not here or of another build: install it, or give it with "
			  "--debug-dir" },
	[PS_LACK_DEBUG] = { "its debug file", " is not used: by its build id or the checksum in "
			    ".gnu_debuglink it is of another build; give the right one with "
			    "--debug-dir" },
	[PS_LACK_READABLE] = { "no names or lines are taken from debug information in",
			       " that is damaged, or compressed in an unknown way" },
	[PS_LACK_VMLINUX] = { "--vmlinux", " is not used: it is another kernel by its build id, or "
			      "has no symbols" },
	[PS_LACK_KALLSYMS] = { "--kallsyms", " is not used: it is of another kernel, or of another "
			       "start of the recorded one" },
	[PS_LACK_ADDRESSES] = { "--kallsyms", " is not used: all its addresses are 0; copy "
				"/proc/kallsyms as root" },
};

bool symbols_describe_lack(struct ps_session *session, const struct pd_history *history,
			   enum ps_lack what, char *text, size_t size)
{
	const size_t nr_images = session ? pd_history_nr_images(history) : 0;
	const char *path, *first = NULL;
	uint32_t image = 0;
	size_t found = 0;
	char others[64] = "";

	for (uint32_t i = 0; i < nr_images; i++) {
		path = ps_session_lacks(session, i, what);
		if (path && !found++) {
			first = path;
			image = i;
		}
	}
	if (found > 1)
		snprintf(others, sizeof(others), " (the same of %zu other files)", found - 1);
	if (found)
		snprintf(text, size, "%s: %s %s%s%s", pd_history_image(history, image)->path,
			 lack_texts[what].before, first, lack_texts[what].after, others);
	return found != 0;
}

void symbols_report_files(const struct symbols *n, const struct cli_tool *tool, const char *input)
{
	char text[SYMBOL_LACK_TEXT];

	report_unverified(n, tool, input);
	for (unsigned int what = 0; what < PS_NR_LACKS; what++)
		if (symbols_describe_lack(n->session, n->history, (enum ps_lack)what, text,
					  sizeof(text)))
			cli_error(tool, "%s: %s", input, text);
}
