/* candidates.c - names under which a file may be found: a table of patterns. */
#include "find/candidates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IMAGE (1u << PS_WANT_IMAGE)
#define DEBUG (1u << PS_WANT_DEBUG)
#define ALT (1u << PS_WANT_ALT)
#define KERNEL (1u << PS_WANT_KERNEL)
#define KALLSYMS (1u << PS_WANT_KALLSYMS)
#define VDSO (1u << PS_WANT_VDSO)
#define VDSO_32 (1u << PS_WANT_VDSO_32)
#define PACKAGE (1u << PS_WANT_PACKAGE)
#define MODULE (1u << PS_WANT_MODULE)
#define OBJECT (1u << PS_WANT_OBJECT)

/* %D: a directory that the user named, %H: home, %C: debuginfod's cache, %x: the id's first byte,
 * %r: its other bytes, %i: all of it, %p: the recorded path, %d: its directory, %n: its last part,
 * %l: the file of .gnu_debuglink, %V, %K: files that the user named, %P: the root directory of a
 * process, %M: where it mapped the file, %R: a root directory that the caller keeps, %F: a file
 * that it keeps, %k: the path of a kernel module, not compressed. The path in .gnu_debugaltlink is
 * taken for the recorded one: %a: that, if it is relative, %b: the directory of the file that
 * states it, and its place, %z: what follows the directory of debug files. A pattern whose parts
 * are not all known is left out. */
struct pattern {
	const char *text;
	unsigned int kinds;
	enum ps_file_place place;
};

static const struct pattern patterns[] = {
	{ "%V", KERNEL, PS_PLACE_NAMED },
	{ "%K", KALLSYMS, PS_PLACE_NAMED },
	{ "%p", IMAGE | OBJECT | ALT, PS_PLACE_SYSROOT },
	{ "%p.dwp", PACKAGE, PS_PLACE_SYSROOT },
	{ "%k", MODULE, PS_PLACE_SYSROOT },
	{ "%k.xz", MODULE, PS_PLACE_SYSROOT },
	{ "%k.zst", MODULE, PS_PLACE_SYSROOT },
	{ "%k.gz", MODULE, PS_PLACE_SYSROOT },
	{ "/usr/lib/debug/.build-id/%x/%r.debug", DEBUG | ALT | KERNEL, PS_PLACE_SYSROOT },
	{ "/usr/lib/debug%z", ALT, PS_PLACE_SYSROOT },
	{ "%d/%l", DEBUG, PS_PLACE_SYSROOT },
	{ "%d/.debug/%l", DEBUG, PS_PLACE_SYSROOT },
	{ "/usr/lib/debug%d/%l", DEBUG, PS_PLACE_SYSROOT },
	{ "%D/.build-id/%x/%r/elf", IMAGE | DEBUG | KERNEL | MODULE, PS_PLACE_NAMED },
	{ "%D/.build-id/%x/%r/vdso", VDSO | VDSO_32, PS_PLACE_NAMED },
	{ "%D/.build-id/%x/%r/kallsyms", KALLSYMS, PS_PLACE_NAMED },
	{ "%D/.build-id/%x/%r/debug", DEBUG | ALT, PS_PLACE_NAMED },
	{ "%D/.build-id/%x/%r.debug", DEBUG | ALT | KERNEL, PS_PLACE_NAMED },
	{ "%D/.build-id/%x/%r", IMAGE | DEBUG | KERNEL | MODULE, PS_PLACE_NAMED },
	{ "%D/%i/executable", IMAGE | MODULE, PS_PLACE_NAMED },
	{ "%D/%i/debuginfo", DEBUG | ALT | KERNEL, PS_PLACE_NAMED },
	{ "%D%p", IMAGE | OBJECT | ALT, PS_PLACE_NAMED },
	{ "%D%z", ALT, PS_PLACE_NAMED },
	{ "%D%p.dwp", PACKAGE, PS_PLACE_NAMED },
	{ "%D%k", MODULE, PS_PLACE_NAMED },
	{ "%D%k.xz", MODULE, PS_PLACE_NAMED },
	{ "%D%k.zst", MODULE, PS_PLACE_NAMED },
	{ "%D%k.gz", MODULE, PS_PLACE_NAMED },
	{ "%D%p.debug", DEBUG, PS_PLACE_NAMED },
	{ "%D%d/%l", DEBUG, PS_PLACE_NAMED },
	{ "%D/%l", DEBUG, PS_PLACE_NAMED },
	{ "%D/%n", IMAGE | OBJECT, PS_PLACE_NAMED },
	{ "%D/%n.dwp", PACKAGE, PS_PLACE_NAMED },
	{ "%D/%n.debug", DEBUG, PS_PLACE_NAMED },
	{ "/usr/lib/debug/.build-id/%x/%r.debug", DEBUG | ALT | KERNEL, PS_PLACE_BUILD_ID },
	{ "/usr/lib/debug%z", ALT, PS_PLACE_BUILD_ID },
	{ "%H/.debug/.build-id/%x/%r/elf", IMAGE | KERNEL | MODULE, PS_PLACE_BUILD_ID },
	{ "%H/.debug/.build-id/%x/%r/vdso", VDSO | VDSO_32, PS_PLACE_BUILD_ID },
	{ "%H/.debug/.build-id/%x/%r/kallsyms", KALLSYMS, PS_PLACE_BUILD_ID },
	{ "%H/.debug/.build-id/%x/%r/debug", DEBUG | ALT, PS_PLACE_BUILD_ID },
	{ "%H/.debug/.build-id/%x/%r", IMAGE | KERNEL | MODULE, PS_PLACE_BUILD_ID },
	{ "/proc/kallsyms", KALLSYMS, PS_PLACE_RUNNING },
	{ PS_RUNNING_VDSO, VDSO, PS_PLACE_RUNNING },
	{ PS_RUNNING_VDSO_32, VDSO_32, PS_PLACE_RUNNING },
	{ "%C/%i/executable", IMAGE | MODULE, PS_PLACE_BUILD_ID },
	{ "%C/%i/debuginfo", DEBUG | ALT | KERNEL, PS_PLACE_BUILD_ID },
	{ "%b/%a", ALT, PS_PLACE_DEBUGLINK },
	{ "%P%p", IMAGE | OBJECT | ALT, PS_PLACE_PROCESS },
	{ "%P%p.dwp", PACKAGE, PS_PLACE_PROCESS },
	{ "%P/usr/lib/debug/.build-id/%x/%r.debug", DEBUG | ALT, PS_PLACE_PROCESS },
	{ "%P/usr/lib/debug%z", ALT, PS_PLACE_PROCESS },
	{ "%P%d/%l", DEBUG, PS_PLACE_PROCESS },
	{ "%P%d/.debug/%l", DEBUG, PS_PLACE_PROCESS },
	{ "%P/usr/lib/debug%d/%l", DEBUG, PS_PLACE_PROCESS },
	{ "%M", IMAGE, PS_PLACE_MAPPED },
	{ "%p", IMAGE | OBJECT, PS_PLACE_RECORDED },
	{ "%R%p", IMAGE, PS_PLACE_PROCESS },
	{ "%F", IMAGE, PS_PLACE_MAPPED },
	{ "%p.dwp", PACKAGE, PS_PLACE_RECORDED },
	{ "%k", MODULE, PS_PLACE_RECORDED },
	{ "%k.xz", MODULE, PS_PLACE_RECORDED },
	{ "%k.zst", MODULE, PS_PLACE_RECORDED },
	{ "%k.gz", MODULE, PS_PLACE_RECORDED },
	{ "%p", ALT, PS_PLACE_DEBUGLINK },
	{ "%d/%l", DEBUG, PS_PLACE_DEBUGLINK },
	{ "%d/.debug/%l", DEBUG, PS_PLACE_DEBUGLINK },
	{ "/usr/lib/debug%d/%l", DEBUG, PS_PLACE_DEBUGLINK },
	{ "debuginfod:%i/executable", IMAGE, PS_PLACE_DEBUGINFOD },
	{ "debuginfod:%i/debuginfo", DEBUG | ALT | KERNEL, PS_PLACE_DEBUGINFOD },
};
enum { NR_PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

/* A name that perf made of something that is no file has no directory. */
static bool is_path(const char *path)
{
	return path && path[0] == '/' && path[1] && path[1] != '/' && strlen(path) < PS_PATH_MAX;
}

static void set_values(struct ps_candidates *c)
{
	const struct pd_bytes id = c->what->build_id;
	const char *slash;

	c->id[0] = '\0';
	for (size_t i = 0; id.size <= PS_BUILD_ID_MAX && i < id.size; i++)
		snprintf(c->id + 2 * i, 3, "%02x", id.data[i]);
	slash = is_path(c->what->path) ? strrchr(c->what->path, '/') : NULL;
	snprintf(c->dirname, sizeof(c->dirname), "%.*s",
		 slash ? (int)(slash - c->what->path) : 0, c->what->path ? c->what->path : "");
	slash = c->what->linking ? strrchr(c->what->linking, '/') : NULL;
	snprintf(c->linking, sizeof(c->linking), "%.*s",
		 slash ? (int)(slash - c->what->linking) : 1, slash ? c->what->linking : ".");
}

/* The name in .gnu_debuglink must not lead elsewhere. */
static const char *link_of(const struct ps_wanted *what)
{
	return what->debuglink && what->debuglink[0] && !strchr(what->debuglink, '/') ?
		       what->debuglink : NULL;
}

/* Returns the path, and sets *n to its length without the ending of a compressed file; NULL if it
 * is not that of a kernel module. */
static const char *module_path(const char *path, size_t *n)
{
	static const char *const endings[] = { ".ko", ".ko.xz", ".ko.zst", ".ko.gz" };
	const size_t size = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t m = strlen(endings[i]);

		if (size <= m || strcmp(path + size - m, endings[i]) != 0)
			continue;
		*n = size - m + strlen(endings[0]);
		return path;
	}
	return NULL;
}

/* Returns the part of a path that names a file which dwz(1) made for a distribution, or NULL. */
static const char *shared_path(const char *path)
{
	const char *found = path ? strstr(path, "/.dwz/") : NULL;

	return found && !strstr(found, "/../") ? found : NULL;
}

static const char *relative_path(const char *path)
{
	return path && path[0] && path[0] != '/' ? path : NULL;
}

/* Returns the value of a part, or NULL; at most *n bytes of it are meant. */
static const char *value_of(const struct ps_candidates *c, char part, size_t *n)
{
	const bool has_id = strlen(c->id) > 2, has_path = is_path(c->what->path);

	*n = PS_PATH_MAX;
	switch (part) {
	case 'D':
		return c->directory;
	case 'H':
		return c->places->home;
	case 'C':
		return c->places->debuginfod_cache;
	case 'x':
		*n = 2;
		return has_id ? c->id : NULL;
	case 'r':
		return has_id ? c->id + 2 : NULL;
	case 'i':
		return has_id ? c->id : NULL;
	case 'p':
		return has_path ? c->what->path : NULL;
	case 'd':
		return has_path ? c->dirname : NULL;
	case 'n':
		return has_path ? strrchr(c->what->path, '/') + 1 : NULL;
	case 'l':
		return link_of(c->what);
	case 'V':
		return c->places->vmlinux;
	case 'K':
		return c->places->kallsyms;
	case 'P':
		return c->root;
	case 'R':
		return c->held;
	case 'F':
		return c->file;
	case 'M':
		return c->mapped[0] ? c->mapped : NULL;
	case 'a':
		return relative_path(c->what->path);
	case 'b':
		return c->linking;
	case 'z':
		return shared_path(c->what->path);
	case 'k':
		return has_path ? module_path(c->what->path, n) : NULL;
	default:
		return NULL;
	}
}

/* Returns false if a part is unknown or the path too long. */
static bool expand_pattern(const struct ps_candidates *c, const char *text, char *out)
{
	size_t used = 0;

	for (; *text; text++) {
		const char *value = text;
		size_t n = 1;

		if (*text == '%')
			value = value_of(c, *++text, &n);
		if (!value)
			return false;
		n = strnlen(value, n);
		if (n >= PS_PATH_MAX - used)
			return false;
		memcpy(out + used, value, n);
		used += n;
	}
	out[used] = '\0';
	return true;
}

static bool starts_with(const struct pattern *p, const char part[3])
{
	return strncmp(p->text, part, 2) == 0;
}

static bool is_beside(const struct pattern *p)
{
	return starts_with(p, "%b");
}

/* Returns whether other files can be next to the one that names them. */
static bool has_directory(const struct ps_wanted *what)
{
	return what->linking && what->linking_place != PS_PLACE_MAPPED &&
	       what->linking_place != PS_PLACE_DEBUGINFOD &&
	       what->linking_place != PS_PLACE_RUNNING;
}

/* How often a pattern applies: once, or once for each directory that the user named, or for each
 * process. */
static size_t repeats_of(const struct pattern *p, const struct ps_candidates *c)
{
	if (is_beside(p))
		return has_directory(c->what);
	if (starts_with(p, "%R"))
		return c->places->nr_roots;
	if (starts_with(p, "%F"))
		return c->places->nr_files;
	switch (p->place) {
	case PS_PLACE_SYSROOT:
		return c->places->sysroot != NULL;
	case PS_PLACE_PROCESS:
	case PS_PLACE_MAPPED:
		return c->what->nr_mappers;
	case PS_PLACE_DEBUGINFOD:
		return c->places->network == PS_DEBUGINFOD;
	default:
		return starts_with(p, "%D") ? c->places->nr_debug_dirs : 1;
	}
}

static void set_process(struct ps_candidates *c, const struct ps_mapper *m)
{
	c->mapped[0] = '\0';
	snprintf(c->process, sizeof(c->process), "/proc/%d/root", (int)m->pid);
	c->root = m->root ? m->root : c->process;
	if (m->end)
		snprintf(c->mapped, sizeof(c->mapped),
			 "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)m->pid, m->start, m->end);
}

/* overlayfs has numbers of its layers in the uppermost bits of inodes. */
static bool may_be_file(const struct ps_wanted *what, const struct ps_held_file *file)
{
	return !what->ino || (what->ino ^ file->ino) << 16 == 0;
}

static void set_turn(struct ps_candidates *c, size_t n)
{
	c->directory = n < c->places->nr_debug_dirs ? c->places->debug_dirs[n] : NULL;
	c->held = n < c->places->nr_roots ? c->places->roots[n] : NULL;
	c->file = n < c->places->nr_files && may_be_file(c->what, &c->places->files[n]) ?
			  c->places->files[n].path : NULL;
	if (n < c->what->nr_mappers)
		set_process(c, &c->what->mappers[n]);
}

bool ps_candidates_next(struct ps_candidates *c, struct ps_candidate *out)
{
	const struct pattern *p;

	if (!c->has_values)
		set_values(c);
	c->has_values = true;
	for (; c->pattern < NR_PATTERNS; c->pattern++, c->turn = 0) {
		p = &patterns[c->pattern];
		if (!(p->kinds >> c->what->kind & 1))
			continue;
		while (c->turn < repeats_of(p, c)) {
			set_turn(c, c->turn++);
			if (!expand_pattern(c, p->text, c->path))
				continue;
			out->path = c->path;
			out->place = is_beside(p) ? c->what->linking_place : p->place;
			return true;
		}
	}
	return false;
}
