/* names_open.c - opens files for names: see names_open.h. */
#include "names/names_open.h"

#include "process/process_path.h"

static bool may_open(const struct names_files *f, const char *path, enum ps_file_place place)
{
	struct process_path inside;
	const char *name;

	/* what is mapped has a name that is not known here */
	if (place == PS_PLACE_MAPPED && f->silent->n)
		return false;
	name = process_path_read(path, &inside) ? inside.inside : path;
	if (file_names_have(f->silent, name))
		return false;
	/* a jitdump is written while it is mapped */
	return place == PS_PLACE_TEMPORARY || !file_names_may_have(f->replaced, name);
}

int names_open_first(void *names, const struct ps_candidate *files, size_t n, size_t *which)
{
	struct names_files *f = names;
	size_t from, upto, at;
	int fd = -1;

	for (from = 0; fd < 0 && from < n; from = upto + 1) {
		for (upto = from; upto < n && may_open(f, files[upto].path, files[upto].place);)
			upto++;
		if (upto == from)
			continue;
		fd = opener_open_first(&f->opener, files + from, upto - from, &at);
		*which = from + at;
	}
	return fd;
}

int names_open(void *names, const char *path, enum ps_file_place place)
{
	struct names_files *f = names;

	return may_open(f, path, place) ? opener_open(&f->opener, path, place) : -1;
}
