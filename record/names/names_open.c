/* names_open.c - opens files for names: see names_open.h. */
#include "names/names_open.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/silent_files.h"
#include "opener.h"
#include "process_path.h"

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

int names_open(void *silent, const char *path, enum ps_file_place place)
{
	struct opener here = OPENER_CLOSED;
	struct process_path inside;
	int fd;

	if (silent_files_have(silent, process_path_read(path, &inside) ? inside.inside : path))
		return -1;
	if (place == PS_PLACE_RUNNING || place == PS_PLACE_TEMPORARY || place == PS_PLACE_PROCESS)
		return opener_open(&here, path, place);
	fd = open_regular(AT_FDCWD, path, NULL);
	if (fd < 0 || is_elf(fd))
		return fd;
	close(fd);
	return -1;
}
