/* source.c - the access rights of an input. */
#include "files/source.h"

#include <stdio.h>
#include <stdlib.h>

bool source_stat(const char *path, int fd, struct stat *st)
{
	struct stat data;
	char *inside;

	if (fd >= 0)
		return fstat(fd, st) == 0 && S_ISREG(st->st_mode);
	if (stat(path, st))
		return false;
	if (asprintf(&inside, "%s/data", path) < 0)
		return true;
	if (S_ISDIR(st->st_mode) && stat(inside, &data) == 0)
		st->st_mode = S_IFDIR | (st->st_mode & data.st_mode & 0777);
	free(inside);
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

mode_t source_limit(mode_t mode, const struct stat *source, gid_t gid)
{
	mode &= 0600 | (source->st_mode & 0066);
	if (source->st_gid != gid)	/* another group gets the rights of others */
		mode &= ~(mode_t)0060 | (source->st_mode & 0006) << 3;
	return mode;
}

mode_t source_umask(void)
{
	const mode_t mask = umask(0);

	umask(mask);
	return mask;
}
