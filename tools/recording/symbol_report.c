/* symbol_report.c - reports the frames without a name at the end of a run. */
#include <stdio.h>
#include <string.h>

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

static bool may_be_jit(const struct pd_image *image)
{
	return image->kind == PD_IMAGE_ANONYMOUS || image->kind == PD_IMAGE_HEAP ||
	       image->kind == PD_IMAGE_STACK;
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
			add_worst(t, (struct symbol_worst){ image->path, f->frames - f->named,
							    f->why, image->build_id.size != 0,
							    may_be_jit(image) });
	}
	for (size_t i = 0; i < totals->nr_ends; i++) {
		t->stacks += totals->ends[i].samples;
		if (strcmp(totals->ends[i].end, ps_end_name(PS_END_STACK_CUT)) == 0)
			t->cut = totals->ends[i].samples;
		else if (strcmp(totals->ends[i].end, ps_end_name(PS_END_NO_ARCH)) == 0)
			t->foreign = totals->ends[i].samples;
	}
}

/* Such a path is of a file in memory, too. */
static bool is_gone(const char *path)
{
	const size_t n = strlen(path), m = sizeof(PD_DELETED) - 1;

	return n > m && strcmp(path + n - m, PD_DELETED) == 0;
}

/* Instructions under probes are executed in a copy. */
static bool is_of_kernel(const char *path)
{
	return strcmp(path, PD_VDSO_32) == 0 || strcmp(path, "[uprobes]") == 0;
}

/* Returns what helps, or "". */
static const char *help_of(unsigned int why, const struct symbol_worst *image)
{
	static const char *const help[SYMBOL_REASONS] = {
		[PD_WHY_NO_MAP] = "; chains by frame pointers get lost in code without them: "
			"record with precord --call-graph dwarf",
		[PD_WHY_MAPS_LOST] = "; record with larger buffers: precord -m 4M",
		[PD_WHY_KPTR_RESTRICT] = "; record as root, or with sysctl kernel.kptr_restrict=0",
		[PD_WHY_LIMIT] = "; allow more with --memory",
		[PD_WHY_NO_FILE] = "; give a copy with --sysroot or --debug-dir, or let "
			"'precord --symbols=names' record the names",
		[PD_WHY_MISMATCH] = "; the file here is another build: give a copy of the recorded "
			"one with --debug-dir",
		[PD_WHY_NO_SYMBOLS] = "; it is stripped: install its debug package, or give its "
			"debug file with --debug-dir",
		[PD_WHY_NO_SYMBOL] = "; its symbol tables have none there: a debug package, or a "
			"debug file given with --debug-dir, may have more",
		[PD_WHY_JIT_NO_MAP] = "; let the program write /tmp/perf-PID.map: node "
			"--perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions "
			"-XX:+DumpPerfMapAtExit",
		[PD_WHY_NO_KERNEL] = "; give the recorded kernel's --vmlinux, or a copy of its "
			"/proc/kallsyms with --kallsyms",
		[PD_WHY_FOREIGN_NAMESPACE] = "; give its file system with --sysroot",
	};

	if (why == PD_WHY_NO_FILE && image && is_of_kernel(image->path))
		return "; it is memory that the kernel maps, in no file";
	if (why == PD_WHY_NO_FILE && image && is_gone(image->path))
		return "; only its processes had the file: precord that ends before them, as with "
		       "--duration, records the names";
	if (why == PD_WHY_NO_MAP && image)
		return "; it has data, no code: the chain got lost there";
	if (why == PD_WHY_NO_SYMBOL && image && image->is_jit)
		return "; what its compiler wrote lacks that code: /tmp/perf-PID.map must be "
		       "written from the start on, and a jitdump (node --perf-prof) also has code "
		       "that was replaced";
	if (why == PD_WHY_MISMATCH && !(image && image->has_build_id))
		return "; nothing tells which build was recorded: record build ids with precord "
		       "--buildid-mmap, or use this one with --unverified=always";
	return why < SYMBOL_REASONS && help[why] ? help[why] : "";
}

static void report_images(const struct symbol_totals *t, const struct cli_tool *tool,
			  const char *input)
{
	for (size_t i = 0; i < SYMBOL_WORST && t->worst[i].unnamed; i++)
		cli_error(tool, "%s: %llu frames without a name in %s, %s%s", input,
			  (unsigned long long)t->worst[i].unnamed, t->worst[i].path,
			  pd_why_name(t->worst[i].why), help_of(t->worst[i].why, &t->worst[i]));
}

/* Images are reported with what helps. */
static bool has_image(unsigned int why)
{
	return why >= PD_WHY_NO_FILE;
}

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
	/* with copied stacks, chains do not follow frame pointers */
	if (!has_image(most) && !(most == PD_WHY_NO_MAP && t->stacks))
		help = help_of(most, NULL);
	cli_error(tool, "%s: %llu of %llu frames have no name, %llu of them because of %s%s", input,
		  (unsigned long long)unnamed,
		  (unsigned long long)(unnamed + t->by_why[PD_WHY_FOUND]),
		  (unsigned long long)t->by_why[most], pd_why_name(most), help);
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
			  "their names may be wrong", input, found, file.path);
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
