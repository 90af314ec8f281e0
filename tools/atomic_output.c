/* atomic_output.c - where the output goes. */
#include "atomic_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"

#define TRIES 100

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

static int open_named(struct atomic_output_file *f, mode_t mode)
{
	f->temporary = malloc(strlen(f->at.name) + 40);
	for (int i = 0; f->temporary && i < TRIES; i++) {
		sprintf(f->temporary, "%s.%d.%d", f->at.name, (int)getpid(), i);
		f->fd = openat(f->at.dir, f->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (f->fd >= 0 || errno != EEXIST)
			break;
	}
	if (f->fd < 0) {
		free(f->temporary);
		f->temporary = NULL;
	}
	return f->fd;
}

/* A file without a name, or with one where the file system has no such files. /proc is needed to name it later. */
static int open_hidden(struct atomic_output_file *f, mode_t mode)
{
	const bool has_proc = access("/proc/self/fd", X_OK) == 0;

	f->fd = has_proc ? openat(f->at.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode) : -1;
	if (f->fd >= 0 || (has_proc && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return f->fd;
	return open_named(f, mode);
}

static void remove_temporary(struct atomic_output_file *f)
{
	if (f->temporary)
		unlinkat(f->at.dir, f->temporary, 0);
	free(f->temporary);
	f->temporary = NULL;
}

static int open_scratch(struct atomic_output_file *f, const struct cli_tool *tool)
{
	const char *dir = getenv("TMPDIR");
	char *where = joined(dir && *dir ? dir : "/tmp", "/");
	char *name = where ? joined(where, tool->name) : NULL;
	int error = name ? output_place_open(&f->at, name) : ENOMEM;

	free(where);
	free(name);
	if (!error && open_hidden(f, 0600) < 0)
		error = errno;
	if (!error)
		remove_temporary(f);
	output_place_close(&f->at);
	errno = error;
	return error ? -1 : 0;
}

/* The mode of the caller's own file that is replaced, or the source's; less what the source does not allow. */
static int set_mode(const struct result *t, int fd, const struct stat *old)
{
	mode_t mode = old ? old->st_mode & 07777 : t->source.st_mode & 0666 & ~source_umask();
	struct stat new;

	if (fstat(fd, &new))
		return -1;
	return fchmod(fd, t->has_source ? source_limit(mode, &t->source, new.st_gid) : mode);
}

/* A regular file, there or not yet. */
static int open_file(const struct result *t, struct atomic_output_file *f, const struct place *at, const char *path)
{
	struct stat st;
	const bool there = output_place_stat(at, &st) == 0;
	const bool own = there && is_own_file(&st);

	if (there && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	f->path = strdup(path);
	f->at = (struct place){ .dir = openat(at->dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), .name = strdup(at->name) };
	if (!f->path || f->at.dir < 0 || !f->at.name)
		return -1;
	if (there && S_ISREG(st.st_mode) && faccessat(at->dir, at->name, W_OK, 0))
		return -1;
	if (open_hidden(f, own || t->has_source ? 0600 : 0666) < 0)
		return -1;
	return own || t->has_source ? set_mode(t, f->fd, own ? &st : NULL) : 0;
}

/* What can't be renamed: opened now, written when all is known to be right. */
static enum cli_exit open_copy(struct result *t)
{
	if (open_scratch(&t->main, t->tool))
		return failed(t, "a temporary file (TMPDIR)");
	return output_open(&t->out, t->tool, t->name, NULL);
}

static int open_data(struct result *t, const char *path)
{
	char name[] = "data";

	return open_file(t, &t->main, &(struct place){ .dir = t->dir, .name = name }, path);
}

/* The directory is looked up once; whoever renames it afterwards does not change where the files go. */
static enum cli_exit open_directory(struct result *t, const char *path)
{
	const size_t n = strlen(path);
	struct place at;
	int error;

	t->directory = joined(path, path[n - 1] == '/' ? "" : "/");
	error = output_place_open(&at, path);
	if (!error) {
		t->made = mkdirat(at.dir, at.name, 0777) == 0;
		if (!t->made && errno != EEXIST)
			error = errno;
		t->dir = output_place_open_file(&at, O_RDONLY | O_DIRECTORY, 0);
		if (t->dir < 0 && !error)
			error = errno;
		output_place_close(&at);
	}
	errno = error;
	return error || open_data(t, path) ? failed(t, path) : CLI_OK;
}

/* Without the slashes after it, which would make a directory of a link. For free(). */
static char *without_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

static enum cli_exit open_place(struct result *t, const char *path, bool directory)
{
	struct place at;
	enum cli_exit status;
	struct stat st;
	int error = output_place_open(&at, path);
	bool there;

	if (error) {
		errno = error;
		return failed(t, path);
	}
	there = output_place_stat(&at, &st) == 0;
	if (!there && errno != ENOENT)
		status = failed(t, path);
	else if (directory || (there && S_ISDIR(st.st_mode)))
		status = open_directory(t, path);
	else if (there && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		status = open_copy(t);
	else
		status = open_file(t, &t->main, &at, path) ? failed(t, path) : CLI_OK;
	output_place_close(&at);
	return status;
}

enum cli_exit atomic_output_open(struct result *t, const struct cli_tool *tool, const char *path,
				 const struct stat *source)
{
	const bool to_stdout = !path || strcmp(path, "-") == 0;
	enum cli_exit status;
	char *cut;

	*t = (struct result)ATOMIC_OUTPUT_CLOSED;
	t->tool = tool;
	t->name = to_stdout ? NULL : path;
	t->has_source = source != NULL;
	if (source)
		t->source = *source;
	if (to_stdout)
		return open_copy(t);
	cut = without_slashes(path);
	status = cut ? open_place(t, cut, *path && path[strlen(path) - 1] == '/') : failed(t, path);
	free(cut);
	return status;
}

int atomic_output_open_other(void *ctx, const char *name)
{
	struct result *t = ctx;
	struct atomic_output_file *others, f = ATOMIC_OUTPUT_FILE_CLOSED;
	char *path = t->directory ? joined(t->directory, name) : NULL, *own = strdup(name);

	t->other_error = t->directory ? ENOMEM : ENOTDIR;
	others = path && own ? realloc(t->others, (t->nr_others + 1) * sizeof(*others)) : NULL;
	if (others) {
		t->others = others;
		t->other_error = open_file(t, &f, &(struct place){ .dir = t->dir, .name = own }, path) ? errno : 0;
		others[t->nr_others++] = f;
	}
	free(path);
	free(own);
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
static int name_it(struct atomic_output_file *f)
{
	char self[40];

	if (f->temporary)
		return 0;
	f->temporary = malloc(strlen(f->at.name) + 40);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
	for (int i = 0; f->temporary && i < TRIES; i++) {
		sprintf(f->temporary, "%s.%d.%d", f->at.name, (int)getpid(), i);
		if (linkat(AT_FDCWD, self, f->at.dir, f->temporary, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	free(f->temporary);
	f->temporary = NULL;
	return -1;
}

static enum cli_exit keep(struct result *t, struct atomic_output_file *f)
{
	if (!f->path)
		return copy(t);
	if ((fsync(f->fd) && errno != EINVAL && errno != EROFS) || name_it(f) ||
	    renameat(f->at.dir, f->temporary, f->at.dir, f->at.name))
		return failed(t, f->path);
	free(f->temporary);
	f->temporary = NULL;
	return CLI_OK;
}

/* A data.N that was there before would be read with the new ones. */
static enum cli_exit refuse_leftovers(struct result *t)
{
	DIR *dir = opendir(t->directory);	/* fdopendir(3) makes a call that the sandbox refuses */
	enum cli_exit status = CLI_OK;
	struct dirent *entry;

	while (dir && status == CLI_OK && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		size_t i = 0;

		if (strncmp(name, "data.", 5) != 0 || !name[5] || strspn(name + 5, "0123456789") != strlen(name + 5))
			continue;
		while (i < t->nr_others && strcmp(t->others[i].at.name, name) != 0)
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

enum cli_exit atomic_output_keep(struct result *t)
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

static void drop(struct atomic_output_file *f)
{
	remove_temporary(f);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	output_place_close(&f->at);
	*f = (struct atomic_output_file)ATOMIC_OUTPUT_FILE_CLOSED;
}

void atomic_output_drop_files(struct result *t)
{
	for (size_t i = 0; i < t->nr_others; i++)
		drop(&t->others[i]);
	drop(&t->main);
	free(t->others);
	t->others = NULL;
	t->nr_others = 0;
}

void atomic_output_drop(struct result *t)
{
	atomic_output_drop_files(t);
	output_drop(&t->out);
	if (t->made && t->directory)
		rmdir(t->directory);
	if (t->dir >= 0)
		close(t->dir);
	t->dir = -1;
	free(t->directory);
}
