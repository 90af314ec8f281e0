/* old_file.c - rename NAME to NAME.old. In directories only the files of a recording are
 * removed. */
#include "output/old_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { NOTHING, STAYS, RECORDING, DIRECTORY, TRAP };

static bool has_data(const struct place *at)
{
	struct stat st;
	const int fd = openat(at->dir, at->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const bool has = fd >= 0 && fstatat(fd, "data", &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

static enum kind kind_of(const struct place *at, struct stat *st)
{
	if (output_place_stat(at, st))
		return NOTHING;
	/* A link such as /dev/stdout: what it leads to has no name that could be removed. */
	if (at->follow)
		return STAYS;
	if (S_ISREG(st->st_mode))
		return st->st_size ? RECORDING : is_own_file(st) ? STAYS : TRAP;
	if (S_ISDIR(st->st_mode))
		return has_data(at) ? DIRECTORY : STAYS;
	if (S_ISLNK(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return TRAP;
	return STAYS;
}

static bool is_recording_file(const char *name)
{
	if (strcmp(name, "data") == 0)
		return true;
	return strncmp(name, "data.", 5) == 0 && name[5] &&
	       strspn(name + 5, "0123456789") == strlen(name + 5);
}

/* Removes what --kcore wrote. */
static void remove_kcore(int recording)
{
	static const char *const names[] = { "kcore", "kallsyms", "modules" };
	int fd = openat(recording, "kcore_dir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(fd, names[i], 0);
	close(fd);
	unlinkat(recording, "kcore_dir", AT_REMOVEDIR);
}

/* Other files stay in the directory; rename(2) then fails. */
static void remove_directory(const struct place *at)
{
	int fd = openat(at->dir, at->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (dir)
		remove_kcore(fd);
	while (dir && (entry = readdir(dir)))
		if (is_recording_file(entry->d_name))
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	unlinkat(at->dir, at->name, AT_REMOVEDIR);
}

/* Returns 0, or -1 if it is still there. */
static int remove_trap(const struct place *at, const char *path, const struct stat *st,
		       const struct logger *s)
{
	const char *what = S_ISLNK(st->st_mode) ? "link" : S_ISFIFO(st->st_mode) ? "FIFO" :
			   S_ISSOCK(st->st_mode) ? "socket" : "file";

	if (unlinkat(at->dir, at->name, 0) == 0) {
		log_at(s, LOG_WARNING, "%s was a %s of user %u: it was removed, not written to",
		       path, what, (unsigned int)st->st_uid);
		return 0;
	}
	if (errno == ENOENT)
		return 0;
	log_at(s, LOG_ERROR, "%s is a %s of user %u and can't be removed: %s", path, what,
	       (unsigned int)st->st_uid, strerror(errno));
	return -1;
}

static int keep_as_old(const struct place *at, enum kind kind, const char *path,
		       const struct logger *s)
{
	char name[NAME_MAX + 8];
	const struct place old = { .dir = at->dir, .name = name };
	enum kind there;
	struct stat st;

	snprintf(name, sizeof(name), "%s.old", at->name);
	/* rename(2) replaces neither a directory by a file nor a file by a directory. */
	there = kind_of(&old, &st);
	if (there == DIRECTORY)
		remove_directory(&old);
	else if (kind == DIRECTORY && there != NOTHING && !S_ISDIR(st.st_mode))
		unlinkat(old.dir, old.name, 0);
	if (renameat(at->dir, at->name, old.dir, old.name) == 0 || errno == ENOENT)
		return 0;
	log_at(s, LOG_ERROR, "%s can't be kept as %s.old: %s", path, path, strerror(errno));
	return -1;
}

int old_file_keep(const struct place *at, const char *path, const struct logger *s)
{
	struct stat st;
	enum kind kind = kind_of(at, &st);

	if (kind == TRAP)
		return remove_trap(at, path, &st, s);
	if (kind == RECORDING || kind == DIRECTORY)
		return keep_as_old(at, kind, path, s);
	return 0;
}
