/* pdecode_directory.c - an output inside the input: see pdecode_directory.h. */
#include "pdecode/pdecode_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

bool directory_contains(const char *path, const char *output)
{
	DIR *dir = output && strcmp(output, "-") != 0 ? opendir(path) : NULL;
	struct stat out, in;
	struct dirent *entry;
	bool same = false;

	if (!dir)
		return false;
	while (stat(output, &out) == 0 && !same && (entry = readdir(dir)))
		same = fstatat(dirfd(dir), entry->d_name, &in, 0) == 0 && S_ISREG(in.st_mode) &&
		       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
	closedir(dir);
	return same;
}

bool directory_names_data(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "data.", strlen("data.")) == 0;
}
