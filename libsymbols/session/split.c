/* split.c - split DWARF of an image: its .dwp, which is next to it, or the .dwo files of its
 * objects, where the compiler wrote them. */
#include <string.h>

#include "session/session.h"

struct split_search {
	struct ps_loaded *loaded;
	const struct ps_skeleton *skeleton;
	struct ps_split *out;
	struct pd_budget *budget;
};

/* A package has any number of units, so it stays open. Whether it has one is seen by the id. */
static bool use_package(struct ps_search *search, int fd, const struct ps_candidate *candidate)
{
	struct split_search *w = search->ctx;

	(void)candidate;
	if (ps_elf_open_fd(&w->loaded->dwp, fd, w->budget) != PS_OK)
		return false;
	if (ps_split_open(w->out, &w->loaded->dwp, w->skeleton, w->budget) == PS_OK)
		return true;
	ps_elf_close(&w->loaded->dwp);
	return false;
}

static bool use_object(struct ps_search *search, int fd, const struct ps_candidate *candidate)
{
	struct split_search *w = search->ctx;
	struct ps_elf file;
	bool is_found;

	(void)candidate;
	if (ps_elf_open_fd(&file, fd, w->budget) != PS_OK)
		return false;
	is_found = ps_split_open(w->out, &file, w->skeleton, w->budget) == PS_OK;
	ps_elf_close(&file);
	return is_found;
}

static const char *path_of(struct ps_session *s, const struct ps_skeleton *k)
{
	const size_t n = k->directory ? strlen(k->directory) : 0, m = strlen(k->name);
	char *path;

	if (k->name[0] == '/')
		return pd_arena_text(&s->arena, k->name, m);
	path = n && n + m < PS_PATH_MAX ? pd_arena_alloc(&s->arena, n + m + 2) : NULL;
	if (path) {
		memcpy(path, k->directory, n);
		path[n] = '/';
		memcpy(path + n + 1, k->name, m + 1);
	}
	return path;
}

static bool find_split(void *ctx, const struct ps_skeleton *k, struct ps_split *out)
{
	struct ps_loaded *l = ctx;
	struct ps_session *s = l->session;
	struct split_search w = { l, k, out, &s->budget };
	struct ps_search search = { .what = { .kind = PS_WANT_PACKAGE, .path = l->recorded_path,
					      .mappers = &l->from,
					      .nr_mappers = l->from.pid != 0 },
				    .use = use_package, .session = s, .ctx = &w };
	bool is_found = false;

	if (l->dwp.elf)
		is_found = ps_split_open(out, &l->dwp, k, &s->budget) == PS_OK;
	else if (!l->has_no_dwp)
		is_found = ps_session_search(&search);
	l->has_no_dwp = !l->dwp.elf;
	if (!is_found) {
		search.what.kind = PS_WANT_OBJECT;
		search.what.path = path_of(s, k);
		search.use = use_object;
		is_found = ps_session_search(&search);
	}
	if (is_found)
		l->sources |= 1u << PS_FROM_SPLIT;
	else if (!l->lacks[PS_LACK_SPLIT])
		l->lacks[PS_LACK_SPLIT] = search.what.path;
	return is_found;
}

struct ps_split_finder ps_session_split_finder(struct ps_loaded *l)
{
	return (struct ps_split_finder){ find_split, l };
}
