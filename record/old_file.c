/* old_file.c - PATH becomes PATH.old. Of directories only the files of a recording are removed. */
#include "old_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { OTHER, RECORDING, DIRECTORY };

static enum kind kind_of(const char *path)
{
	char data[PATH_MAX + 16];
	struct stat st;

	if (lstat(path, &st))
		return OTHER;
	if (S_ISREG(st.st_mode))
		return st.st_size ? RECORDING : OTHER;
	snprintf(data, sizeof(data), "%s/data", path);
	return S_ISDIR(st.st_mode) && access(data, F_OK) == 0 ? DIRECTORY : OTHER;
}

static bool is_part(const char *name)
{
	if (strcmp(name, "data") == 0)
		return true;
	return strncmp(name, "data.", 5) == 0 && name[5] &&
	       strspn(name + 5, "0123456789") == strlen(name + 5);
}

/* Where anything else lies in it, it stays, and rename(2) says so. */
static void remove_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_part(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

void old_file_keep(const char *path, const struct say *s)
{
	enum kind kind = kind_of(path);
	char old[PATH_MAX + 8];

	if (kind == OTHER)
		return;
	snprintf(old, sizeof(old), "%s.old", path);
	/* A file does not take the place of a directory, nor the other way round. */
	if (kind_of(old) == DIRECTORY)
		remove_directory(old);
	else if (kind == DIRECTORY && kind_of(old) == RECORDING)
		unlink(old);
	if (rename(path, old))
		say(s, SAY_WARNING, "%s can't be kept as %s: %s", path, old, strerror(errno));
}
