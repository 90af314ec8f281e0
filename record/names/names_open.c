/* names_open.c - opens files for names: see names_open.h. */
#include "names/names_open.h"

#include "base/silent_files.h"
#include "opener.h"
#include "process_path.h"

int names_open(void *silent, const char *path, enum ps_file_place place)
{
	struct opener here = OPENER_CLOSED;
	struct process_path inside;

	if (silent_files_have(silent, process_path_read(path, &inside) ? inside.inside : path))
		return -1;
	return opener_open(&here, path, place);
}
