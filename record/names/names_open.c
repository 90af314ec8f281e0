/* names_open.c - opens files for names: see names_open.h. */
#include "names/names_open.h"

#include "process/process_path.h"

int names_open(void *files, const char *path, enum ps_file_place place)
{
	struct names_files *f = files;
	struct process_path inside;
	const char *name;

	/* what is mapped has a name that is not known here */
	if (place == PS_PLACE_MAPPED && f->silent->n)
		return -1;
	name = process_path_read(path, &inside) ? inside.inside : path;
	if (file_names_have(f->silent, name))
		return -1;
	/* a jitdump is written while it is mapped */
	if (place != PS_PLACE_TEMPORARY && file_names_may_have(f->replaced, name))
		return -1;
	return opener_open(&f->opener, path, place);
}
