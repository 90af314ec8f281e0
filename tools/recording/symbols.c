/* symbols.c - names of functions: see symbols.h. */
#include "recording/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pd/tree.h"
#include "recording/symbols_file.h"

static const char *const forms[] = {
	[PD_JSON_FRAMES_FULL] = SYMBOLS_FULL, [PD_JSON_FRAMES_NAMES] = "names",
	[PD_JSON_FRAMES_TABLE] = "table",
};

bool symbols_form(const struct symbol_settings *s, enum pd_json_frames *out)
{
	*out = PD_JSON_FRAMES_FULL;
	for (unsigned int i = 0; s->depth && i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(s->depth, forms[i]) == 0) {
			*out = (enum pd_json_frames)i;
			return true;
		}
	return !s->depth;
}

/* By enum ps_unverified. */
const char *const symbol_unverified[] = { "yes", "no", "always", NULL };

enum cli_exit symbols_check_files(const struct symbol_settings *s, const struct cli_tool *tool)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (s->debuginfod && !(servers && servers[strspn(servers, " ")]))
		return cli_usage(tool, "'--debuginfod' needs the servers in the environment "
				 "variable DEBUGINFOD_URLS");
	return CLI_OK;
}

enum cli_exit symbols_check(const struct symbol_settings *s, const struct cli_tool *tool)
{
	enum pd_json_frames form;

	if (!symbols_form(s, &form))
		return cli_usage(tool, "'--symbols' must be full, table or names, not '%s'",
				 s->depth);
	if ((s->strict || s->max_frames || s->stitch_lbr) && !s->depth)
		return cli_usage(tool, "'--%s' needs '--symbols'",
				 s->strict ? "symbols-strict" :
				 s->max_frames ? "max-frames" : "stitch-lbr");
	if (s->lines && s->no_inline)
		return cli_usage(tool, "'--lines' needs the debug information that '--no-inline' "
				 "does not read");
	if (s->prefixes.count && !s->lines)
		return cli_usage(tool, "'--prefix-map' needs '--lines'");
	for (size_t i = 0; i < s->prefixes.count; i++)
		if (!strchr(s->prefixes.items[i], '='))
			return cli_usage(tool, "'--prefix-map' needs OLD=NEW, not '%s'",
					 s->prefixes.items[i]);
	return symbols_check_files(s, tool);
}

/* Without memory for them, paths stay as they are. */
static void read_prefixes(struct symbols *n, const struct cli_list *given)
{
	if (given->count)
		n->prefixes = calloc(given->count, sizeof(*n->prefixes));
	for (size_t i = 0; n->prefixes && i < given->count; i++) {
		const char *to = strchr(given->items[i], '=') + 1;
		const char *from = strndup(given->items[i],
					   (size_t)(to - given->items[i]) - 1);

		if (from)
			n->prefixes[n->nr_prefixes++] = (struct ps_prefix){ from, to };
	}
}

/* A file that was named is there. */
static bool is_there(const struct cli_tool *tool, const char *option, const char *path)
{
	if (!path || access(path, R_OK) == 0)
		return true;
	cli_error(tool, "--%s %s: %s", option, path, strerror(errno));
	return false;
}

/* An archive, as perf archive makes them, would have to be unpacked for each run. */
static bool is_directory(const struct cli_tool *tool, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return true;
	if (strstr(path, ".tar") && access(path, R_OK) == 0)
		cli_error(tool, "--debug-dir %s: archives are unpacked first: mkdir DIR && "
			  "tar xf %s -C DIR, then --debug-dir DIR", path, path);
	else
		cli_error(tool, "--debug-dir %s: %s", path,
			  strerror(access(path, R_OK) == 0 ? ENOTDIR : errno));
	return false;
}

static bool are_directories(const struct cli_tool *tool, const struct cli_list *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		if (!is_directory(tool, paths->items[i]))
			return false;
	return true;
}

enum cli_exit symbols_prepare(struct symbols *n, const struct cli_tool *tool,
			      const struct symbol_settings *s)
{
	if (s->file && symbols_file_read(tool, s->file, &n->file) != CLI_OK)
		return CLI_INPUT;
	if (!is_there(tool, "sysroot", s->sysroot) || !is_there(tool, "kallsyms", s->kallsyms) ||
	    !is_there(tool, "vmlinux", s->vmlinux) || !are_directories(tool, &s->debug_dirs))
		return CLI_INPUT;
	n->opener.sysroot = s->sysroot;
	n->opener.kallsyms = s->kallsyms;
	n->opener.servers.tool = s->debuginfod ? tool : NULL;
	n->mount_namespace = opener_mount_namespace();
	opener_start(&n->opener);	/* without it, only what the sandbox allows is opened */
	return CLI_OK;
}

static void name_frame(void *ctx, int32_t pid, const struct pd_location *l,
		       struct pd_frame_names *out)
{
	const struct symbols *n = ctx;

	ps_resolve(n->session, pid, l, out);
}

static size_t find_frames(void *ctx, const struct pd_record *sample, struct pd_location *out,
			  size_t capacity, const char **end)
{
	enum ps_end why;
	const struct symbols *n = ctx;
	const size_t found = ps_frames(n->session, sample, out, capacity, &why);

	*end = ps_end_name(why);
	return found;
}

static bool describe_image(void *ctx, uint32_t index, struct pd_image_file *out)
{
	const struct symbols *n = ctx;

	return ps_session_image(n->session, index, out);
}

static enum ps_clock clock_of(struct pd_reader *reader)
{
	struct pd_tree *tree = pd_tree_new(NULL);
	const struct pd_item *attr = NULL, *id;
	struct pd_error e;
	bool is_monotonic;

	if (reader && tree && pd_reader_nr_attrs(reader))
		attr = pd_tree_read_attr(tree, reader, pd_reader_attr(reader, 0), &e);
	id = pd_item_get(attr, "attr.clockid");		/* with use_clockid */
	is_monotonic = id && id->number == CLOCK_MONOTONIC;
	pd_tree_free(tree);
	return is_monotonic ? PS_CLOCK_MONOTONIC : PS_CLOCK_OTHER;
}

/* Returns a feature section, for free(). */
static struct pd_bytes copy_feature(struct pd_reader *reader, uint32_t id)
{
	const size_t n = reader ? pd_reader_nr_features(reader) : 0;
	struct pd_bytes out = { NULL, 0 };
	struct pd_feature f;
	struct pd_error e;
	uint8_t *copy;

	for (size_t i = 0; i < n; i++) {
		if (pd_reader_feature(reader, i, &f, &e) < 0 || f.id != id)
			continue;
		copy = malloc(f.bytes.size ? f.bytes.size : 1);
		if (copy && f.bytes.size)
			memcpy(copy, f.bytes.data, f.bytes.size);
		return (struct pd_bytes){ copy, copy ? f.bytes.size : 0 };
	}
	return out;
}

/* Copies the names that the recording has, but for those that were given. */
static void copy_names(struct pd_reader *reader, struct ps_options *o)
{
	if (!o->bundle.size)
		o->bundle = copy_feature(reader, PD_FEATURE_PD_SYMBOLS);
	o->simpleperf_file = copy_feature(reader, PD_FEATURE_SIMPLEPERF_FILE);
	o->simpleperf_file2 = copy_feature(reader, PD_FEATURE_SIMPLEPERF_FILE2);
}

static void free_names(const struct ps_options *o, struct pd_bytes given)
{
	if (o->bundle.data != given.data)
		free((void *)o->bundle.data);
	free((void *)o->simpleperf_file.data);
	free((void *)o->simpleperf_file2.data);
}

/* Returns when the recording began, in s since 1970; 0 if it does not tie its clock to wall time.
 * The age of the file says nothing: it may be a copy. */
static uint64_t beginning_of(struct pd_reader *reader)
{
	uint64_t first, last, ns = 0;

	if (reader && (!pd_reader_nr_attrs(reader) || !pd_reader_time_span(reader, &first, &last) ||
		       !pd_reader_utc(reader, pd_reader_attr(reader, 0), first, &ns)))
		ns = 0;
	return ns / 1000000000;
}

/* Creates the session, with what the recording itself has of names. */
static struct ps_session *make_session(struct ps_options *o, const struct input *in,
				       struct pd_error *e)
{
	const off_t at = in->fd >= 0 ? lseek(in->fd, 0, SEEK_CUR) : 0;
	struct pd_reader *reader = in->fd >= 0 ? pd_reader_open_fd(in->fd, NULL, e) :
						 pd_reader_open_path(in->path, NULL, e);
	const struct pd_bytes given = o->bundle;
	struct ps_session *s;

	o->began = beginning_of(reader);
	o->clock = clock_of(reader);
	copy_names(reader, o);
	s = ps_new(o, e);
	if (s && reader)
		ps_read_bpf_lines(s, reader);
	free_names(o, given);
	pd_reader_free(reader);
	if (in->fd >= 0)
		lseek(in->fd, at, SEEK_SET);
	return s;
}

enum cli_exit symbols_open(struct symbols *n, const struct cli_tool *tool,
			   const struct symbol_settings *s, const struct input *in,
			   const struct pd_history *h)
{
	struct ps_options o = {
		.size = sizeof(o), .history = h, .places = &n->places,
		.depth = s->lines ? PS_LINES : s->no_inline ? PS_NAMES : PS_INLINES,
		.unverified = (enum ps_unverified)s->unverified,
		.max_frames = s->max_frames, .open = opener_open, .ctx = &n->opener,
		.mount_namespace = n->mount_namespace, .bundle = n->file,
		.threads = n->threads,
	};
	char text[256];
	struct pd_error e;

	n->places = (struct ps_places){
		.size = sizeof(n->places), .sysroot = s->sysroot, .kallsyms = s->kallsyms,
		.vmlinux = s->vmlinux,
		.debug_dirs = (const char *const *)s->debug_dirs.items,
		.nr_debug_dirs = s->debug_dirs.count, .home = getenv("HOME"),
		.debuginfod_cache = debuginfod_cache(n->cache, sizeof(n->cache)),
		.network = s->debuginfod ? PS_DEBUGINFOD : PS_OFFLINE,
	};
	n->history = h;
	read_prefixes(n, &s->prefixes);
	o.prefixes = n->prefixes;
	o.nr_prefixes = n->nr_prefixes;
	n->session = make_session(&o, in, &e);
	if (!n->session) {
		cli_error(tool, "--symbols: %s", pd_error_text(&e, text, sizeof(text)));
		return CLI_OUTPUT;
	}
	if (s->file && !ps_session_has_bundle(n->session)) {
		cli_error(tool, "%s: %s", s->file, SYMBOLS_FILE_UNKNOWN);
		return CLI_INPUT;
	}
	n->namer = (struct pd_namer){
		.size = sizeof(n->namer),
		.frame = name_frame,
		.frames = find_frames,
		.image = describe_image,
		.totals = symbols_keep_totals,
		.ctx = n,
		.linkage_names =
			s->linkage_names ? PD_LINKAGE_NAMES_SHOWN : PD_LINKAGE_NAMES_HIDDEN,
	};
	return CLI_OK;
}

void symbols_close(struct symbols *n)
{
	ps_free(n->session);
	for (size_t i = 0; i < n->nr_prefixes; i++)
		free((void *)(uintptr_t)n->prefixes[i].from);
	free(n->prefixes);
	free((void *)n->file.data);
	opener_stop(&n->opener);
}
