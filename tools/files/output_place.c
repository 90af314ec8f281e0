/* output_place.c - resolve the path of an output safely. */
#include "files/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINKS 40	/* the kernel's own limit */

static bool read_id(const char *name, unsigned long *id)
{
	const char *text = getenv(name);
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*id = strtoul(text, &end, 10);
	return !errno && !*end && *id < UINT_MAX;
}

bool sudo_user(uid_t *uid, gid_t *gid)
{
	unsigned long u, g;

	if (geteuid() != 0 || !read_id("SUDO_UID", &u) || !read_id("SUDO_GID", &g))
		return false;
	*uid = (uid_t)u;
	*gid = (gid_t)g;
	return true;
}

static bool is_callers(uid_t uid)
{
	uid_t user;
	gid_t group;

	return uid == geteuid() || (sudo_user(&user, &group) && uid == user);
}

bool owner_is_trusted(uid_t uid)
{
	return uid == 0 || is_callers(uid);
}

bool is_own_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) && is_callers(st->st_uid) && st->st_nlink == 1;
}

/* Returns whether only root and the caller can create files in it. */
static bool is_private(int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && owner_is_trusted(st.st_uid) &&
		!(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the directory of `path`, which is relative to `from`, and sets the last component. */
static int open_parent(struct place *p, int from, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	p->name = strdup(slash ? slash + 1 : path);
	p->dir = dir && p->name ? openat(from, dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (!dir || !p->name)
		errno = ENOMEM;
	free(dir);
	return p->dir < 0 ? errno : 0;
}

/* Pipes and devices have no path at which they could be replaced. */
static bool leads_to_file(const struct place *p)
{
	struct stat st;

	return fstatat(p->dir, p->name, &st, 0) ? errno == ENOENT : S_ISREG(st.st_mode) ||
		S_ISDIR(st.st_mode);
}

int output_place_open(struct place *p, const char *path)
{
	char target[PATH_MAX];
	struct place before;
	int error;

	*p = (struct place)PLACE_NONE;
	error = open_parent(p, AT_FDCWD, path);
	for (int i = 0; !error && i < MAX_LINKS; i++) {
		const ssize_t n = readlinkat(p->dir, p->name, target, sizeof(target) - 1);

		if (n < 0 || !is_private(p->dir))
			return 0;
		p->follow = !leads_to_file(p);
		if (p->follow)
			return 0;
		target[n] = '\0';
		before = *p;
		error = open_parent(p, before.dir, target);
		output_place_close(&before);
	}
	output_place_close(p);
	return error ? error : ELOOP;
}

void output_place_close(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	free(p->name);
	*p = (struct place)PLACE_NONE;
}

int output_place_stat(const struct place *p, struct stat *st)
{
	return fstatat(p->dir, p->name, st, p->follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

int output_place_open_file(const struct place *p, int flags, mode_t mode)
{
	return openat(p->dir, p->name, flags | O_CLOEXEC | O_NOCTTY | (p->follow ? 0 : O_NOFOLLOW),
		      mode);
}
