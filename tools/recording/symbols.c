/* symbols.c - names of functions: see symbols.h. */
#include "recording/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	for (size_t i = 0; i < s->prefixes.count; i++)
		if (!strchr(s->prefixes.items[i], '='))
			return cli_usage(tool, "'--prefix-map' needs OLD=NEW, not '%s'",
					 s->prefixes.items[i]);
	return CLI_OK;
}

const char *symbols_first_option(const struct symbol_settings *s)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{ "symbols-file", s->file }, { "lines", s->lines }, { "no-inline", s->no_inline },
		{ "linkage-names", s->linkage_names }, { "sysroot", s->sysroot },
		{ "debug-dir", s->debug_dirs.count }, { "kallsyms", s->kallsyms },
		{ "vmlinux", s->vmlinux }, { "debuginfod", s->debuginfod },
		{ "unverified", s->unverified },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given)
			return options[i].name;
	return NULL;
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

/* A kernel that was named is an ELF file, which /boot/vmlinuz is not. */
static bool is_kernel(const struct cli_tool *tool, const char *path)
{
	char start[SELFMAG];
	const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool is_one;

	if (fd < 0)
		return is_there(tool, "vmlinux", path);
	is_one = read(fd, start, sizeof(start)) == sizeof(start) &&
		 memcmp(start, ELFMAG, sizeof(start)) == 0;
	close(fd);
	if (is_one)
		return true;
	cli_error(tool, "--vmlinux %s: no ELF file, so it has no symbols: of a vmlinuz, the "
		  "kernel's debug package has the vmlinux; a packed one must be unpacked", path);
	return false;
}

/* An archive, as perf archive makes them, would have to be unpacked for each run. */
static bool is_directory(const struct cli_tool *tool, const char *option, const char *path)
{
	struct stat st;

	if (!path || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return true;
	if (strstr(path, ".tar") && access(path, R_OK) == 0)
		cli_error(tool, "--%s %s: archives are unpacked first: mkdir DIR && "
			  "tar xf %s -C DIR, then --%s DIR", option, path, path, option);
	else
		cli_error(tool, "--%s %s: %s", option, path,
			  strerror(access(path, R_OK) == 0 ? ENOTDIR : errno));
	return false;
}

static bool are_directories(const struct cli_tool *tool, const struct cli_list *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		if (!is_directory(tool, "debug-dir", paths->items[i]))
			return false;
	return true;
}

enum cli_exit symbols_prepare(struct symbols *n, const struct cli_tool *tool,
			      const struct symbol_settings *s)
{
	if (s->file && symbols_file_read(tool, s->file, &n->file) != CLI_OK)
		return CLI_INPUT;
	if (!is_directory(tool, "sysroot", s->sysroot) ||
	    !is_there(tool, "kallsyms", s->kallsyms) || !is_kernel(tool, s->vmlinux) ||
	    !are_directories(tool, &s->debug_dirs))
		return CLI_INPUT;
	n->opener.sysroot = s->sysroot;
	n->opener.kallsyms = s->kallsyms;
	n->opener.servers.tool = s->debuginfod ? tool : NULL;
	n->mount_namespace = opener_mount_namespace();
	n->is_machine_known = uname(&n->machine) == 0;
	opener_start(&n->opener);	/* without it, only what the sandbox allows is opened */
	return CLI_OK;
}

/* Creates the session, with what the recording itself has of names. */
static struct ps_session *make_session(struct ps_options *o, const struct input *in,
				       const struct pd_reader_options *reader, struct pd_error *e)
{
	const off_t at = in->fd >= 0 ? lseek(in->fd, 0, SEEK_CUR) : 0;
	const struct pd_reader_options *quiet = PD_READER_OPTIONS(
		.memory_limit = reader->memory_limit, .max_expanded = reader->max_expanded,
		.max_ratio = reader->max_ratio);
	struct ps_session *s;

	o->recording = in->fd >= 0 ? pd_reader_open_fd(in->fd, quiet, e) :
				     pd_reader_open_path(in->path, quiet, e);
	s = ps_new(o, e);
	pd_reader_free(o->recording);
	if (in->fd >= 0)
		lseek(in->fd, at, SEEK_SET);
	return s;
}

enum cli_exit symbols_open(struct symbols *n, const struct cli_tool *tool,
			   const struct symbol_settings *s, const struct input *in,
			   const struct pd_reader_options *reader, const struct pd_history *h)
{
	struct ps_options o = {
		.size = sizeof(o), .history = h, .places = &n->places,
		.memory_limit = reader->memory_limit,
		.depth = s->lines ? PS_LINES : s->no_inline ? PS_NAMES : PS_INLINES,
		.unverified = (enum ps_unverified)s->unverified,
		.max_frames = s->max_frames, .open = opener_open,
		.open_first = opener_open_first, .ctx = &n->opener,
		.mount_namespace = n->mount_namespace, .bundle = n->file,
		.threads = n->threads, .machine = n->is_machine_known ? n->machine.nodename : NULL,
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
	n->session = make_session(&o, in, reader, &e);
	if (!n->session) {
		cli_error(tool, "--symbols: %s", pd_error_text(&e, text, sizeof(text)));
		return CLI_OUTPUT;
	}
	if (s->file && !ps_session_has_bundle(n->session)) {
		cli_error(tool, "%s: %s", s->file, SYMBOLS_FILE_UNKNOWN);
		return CLI_INPUT;
	}
	n->namer = ps_session_namer(n->session);
	n->namer.totals = symbols_keep_totals;
	n->namer.totals_ctx = n;
	n->namer.linkage_names =
		s->linkage_names ? PD_LINKAGE_NAMES_SHOWN : PD_LINKAGE_NAMES_HIDDEN;
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
