/* result.c - where the output goes. */
#include "result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100
#define LINKS 40	/* as many as the kernel follows */

static enum cli_exit failed(const struct result *t, const char *path)
{
	cli_error(t->tool, "%s: %s", path ? path : "standard output", strerror(errno));
	return CLI_OUTPUT;
}

static char *joined(const char *a, const char *b)
{
	char *s = malloc(strlen(a) + strlen(b) + 1);

	if (s)
		stpcpy(stpcpy(s, a), b);
	return s;
}

static mode_t current_umask(void)
{
	const mode_t mask = umask(0);

	umask(mask);
	return mask;
}

/* A file without a name, or with one where there are none such. */
static int open_hidden(struct result_file *f, const char *beside, mode_t mode)
{
	const char *slash = strrchr(beside, '/');
	char *dir = slash ? strndup(beside, (size_t)(slash - beside) + 1) : strdup(".");

	f->fd = dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode) : -1;
	free(dir);
	if (f->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return f->fd;
	f->temporary = joined(beside, ".XXXXXX");
	f->fd = f->temporary ? mkostemp(f->temporary, O_CLOEXEC) : -1;
	if (f->fd < 0) {
		free(f->temporary);
		f->temporary = NULL;
		return -1;
	}
	return fchmod(f->fd, mode & ~current_umask()) ? -1 : f->fd;
}

static int open_scratch(struct result_file *f, const struct cli_tool *tool)
{
	const char *dir = getenv("TMPDIR");
	char *where = joined(dir && *dir ? dir : "/tmp", "/");
	char *name = where ? joined(where, tool->name) : NULL;

	free(where);
	if (!name || open_hidden(f, name, 0600) < 0) {
		free(name);
		return -1;
	}
	free(name);
	if (f->temporary) {
		unlink(f->temporary);
		free(f->temporary);
		f->temporary = NULL;
	}
	return 0;
}

char *result_place(const char *path)
{
	char *at = strdup(path), *directory, *next, link[PATH_MAX];

	for (int i = 0; at && i < LINKS; i++) {
		const ssize_t n = readlink(at, link, sizeof(link) - 1);
		const char *slash = strrchr(at, '/');

		if (n < 0)	/* no link */
			return at;
		link[n] = '\0';
		directory = strndup(at, slash && *link != '/' ? (size_t)(slash - at) + 1 : 0);
		next = directory ? joined(directory, link) : NULL;
		free(directory);
		free(at);
		at = next;
	}
	if (at)
		errno = ELOOP;
	free(at);
	return NULL;
}

/* The old file's, or the source's less what the umask says; but who can't read the source can't read this. */
static int set_mode(int fd, const struct stat *old, const struct stat *source)
{
	mode_t mode = old ? old->st_mode & 07777 : source->st_mode & 0666 & ~current_umask();
	struct stat new;

	if (fstat(fd, &new))
		return -1;
	if (source)
		mode &= 0600 | (source->st_mode & 0066);
	if (source && source->st_gid != new.st_gid)	/* another group: what all others may */
		mode &= ~(mode_t)0060 | (source->st_mode & 0006) << 3;
	return fchmod(fd, mode);
}

/* A regular file, there or not yet. */
static int open_file(struct result_file *f, const char *path, const struct stat *old,
		     const struct stat *source)
{
	const mode_t mode = old || source ? 0600 : 0666;

	if (old && S_ISDIR(old->st_mode)) {
		errno = EISDIR;
		return -1;
	}
	f->path = result_place(path);
	if (!f->path || (old && access(f->path, W_OK)) || open_hidden(f, f->path, mode) < 0)
		return -1;
	return old || source ? set_mode(f->fd, old, source) : 0;
}

/* What can't be renamed: opened now, written when all is known to be right. */
static enum cli_exit open_copy(struct result *t)
{
	if (open_scratch(&t->main, t->tool))
		return failed(t, "a temporary file (TMPDIR)");
	return output_open(&t->out, t->tool, t->name, NULL);
}

enum cli_exit result_open(struct result *t, const struct cli_tool *tool, const char *path,
			  const struct stat *source)
{
	const bool to_stdout = !path || strcmp(path, "-") == 0;
	const size_t n = to_stdout ? 0 : strlen(path);
	struct stat st;
	bool there;
	char *data;

	*t = (struct result)RESULT_CLOSED;
	t->tool = tool;
	t->name = to_stdout ? NULL : path;
	if (to_stdout)
		return open_copy(t);
	there = stat(path, &st) == 0;
	if (!there && errno != ENOENT && errno != ENOTDIR)
		return failed(t, path);
	if (n && (path[n - 1] == '/' || (there && S_ISDIR(st.st_mode)))) {
		t->made = mkdir(path, 0777) == 0;
		if (!t->made && errno != EEXIST)
			return failed(t, path);
		t->directory = joined(path, path[n - 1] == '/' ? "" : "/");
		data = t->directory ? joined(t->directory, "data") : NULL;
		there = data && stat(data, &st) == 0;
		if (!data || open_file(&t->main, data, there ? &st : NULL, source)) {
			free(data);
			return failed(t, path);
		}
		free(data);
		return CLI_OK;
	}
	if (there && !S_ISREG(st.st_mode))
		return open_copy(t);
	return open_file(&t->main, path, there ? &st : NULL, source) ? failed(t, path) : CLI_OK;
}

int result_open_other(void *ctx, const char *name)
{
	struct result *t = ctx;
	struct result_file *others, f = { .fd = -1 };
	char *path = t->directory ? joined(t->directory, name) : NULL;
	struct stat st;

	t->other_error = t->directory ? ENOMEM : ENOTDIR;
	if (!path)
		return -1;
	others = realloc(t->others, (t->nr_others + 1) * sizeof(*others));
	if (others)
		t->others = others;
	if (others) {
		t->other_error = open_file(&f, path, stat(path, &st) == 0 ? &st : NULL, NULL) ? errno : 0;
		others[t->nr_others++] = f;
	}
	free(path);
	return f.fd;
}

static enum cli_exit copy(struct result *t)
{
	static char buffer[65536];
	ssize_t got = 1;

	lseek(t->main.fd, 0, SEEK_SET);
	while ((got = read(t->main.fd, buffer, sizeof(buffer))) > 0)
		if (output_write(&t->out, buffer, (size_t)got))
			break;
	if (got < 0)
		cli_error(t->tool, "a temporary file (TMPDIR): %s", strerror(errno));
	return output_close(&t->out, got < 0 ? CLI_OUTPUT : CLI_OK);
}

/* Gives it a name, if not yet the last one. */
static int name_it(struct result_file *f)
{
	char self[40];

	if (f->temporary)
		return 0;
	f->temporary = malloc(strlen(f->path) + 40);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
	for (int i = 0; f->temporary && i < TRIES; i++) {
		sprintf(f->temporary, "%s.%d.%d", f->path, (int)getpid(), i);
		if (linkat(AT_FDCWD, self, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	free(f->temporary);
	f->temporary = NULL;
	return -1;
}

static enum cli_exit keep(struct result *t, struct result_file *f)
{
	if (!f->path)
		return copy(t);
	if ((fsync(f->fd) && errno != EINVAL && errno != EROFS) || name_it(f) || rename(f->temporary, f->path))
		return failed(t, f->path);
	free(f->temporary);
	f->temporary = NULL;
	return CLI_OK;
}

/* A data.N that was there before would be read with the new ones. */
static enum cli_exit refuse_leftovers(struct result *t)
{
	DIR *dir = opendir(t->directory);
	enum cli_exit status = CLI_OK;
	struct dirent *entry;

	while (dir && status == CLI_OK && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		size_t i = 0;

		if (strncmp(name, "data.", 5) != 0 || !name[5] || strspn(name + 5, "0123456789") != strlen(name + 5))
			continue;
		while (i < t->nr_others && strcmp(strrchr(t->others[i].path, '/') + 1, name) != 0)
			i++;
		if (i < t->nr_others)
			continue;
		cli_error(t->tool, "%s%s: is there already and no part of this recording", t->directory, name);
		status = CLI_OUTPUT;
	}
	if (dir)
		closedir(dir);
	return status;
}

enum cli_exit result_keep(struct result *t)
{
	enum cli_exit status = t->directory ? refuse_leftovers(t) : CLI_OK;

	for (size_t i = 0; i < t->nr_others && status == CLI_OK; i++)
		status = keep(t, &t->others[i]);
	if (status == CLI_OK)
		status = keep(t, &t->main);
	if (status == CLI_OK)
		t->made = false;
	return status;
}

static void drop(struct result_file *f)
{
	if (f->temporary)
		unlink(f->temporary);
	if (f->fd >= 0)
		close(f->fd);
	free(f->temporary);
	free(f->path);
	*f = (struct result_file){ .fd = -1 };
}

void result_drop_files(struct result *t)
{
	for (size_t i = 0; i < t->nr_others; i++)
		drop(&t->others[i]);
	drop(&t->main);
	free(t->others);
	t->others = NULL;
	t->nr_others = 0;
}

void result_drop(struct result *t)
{
	result_drop_files(t);
	output_drop(&t->out);
	if (t->made && t->directory)
		rmdir(t->directory);
	free(t->directory);
}
