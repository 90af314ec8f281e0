/* atomic_output.c - write output files that appear only when they are complete. */
#include "files/atomic_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/source.h"

#define MAX_NAME_ATTEMPTS 100
#define DATA "data"	/* the main file of a recorded directory */

static enum cli_exit report_failure(const struct atomic_output *a, const char *path)
{
	if (a->is_source) {
		cli_error(a->tool, "%s: is both input and output", path ? path : "standard output");
		return CLI_USAGE;
	}
	cli_error(a->tool, "%s: %s", path ? path : "standard output", strerror(errno));
	return CLI_OUTPUT;
}

static char *concat(const char *a, const char *b)
{
	char *s = malloc(strlen(a) + strlen(b) + 1);

	if (s)
		stpcpy(stpcpy(s, a), b);
	return s;
}

static int open_named(struct atomic_output_file *f, mode_t mode)
{
	f->temporary = malloc(strlen(f->at.name) + 40);
	for (int i = 0; f->temporary && i < MAX_NAME_ATTEMPTS; i++) {
		sprintf(f->temporary, "%s.%d.%d", f->at.name, (int)getpid(), i);
		f->fd = openat(f->at.dir, f->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
			       O_CLOEXEC, mode);
		if (f->fd >= 0 || errno != EEXIST)
			break;
	}
	if (f->fd < 0) {
		free(f->temporary);
		f->temporary = NULL;
	}
	return f->fd;
}

/* Opens a file without a name, or with a temporary one where the file system lacks O_TMPFILE. The
 * file gets its name through /proc later. */
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
	char *where = concat(dir && *dir ? dir : "/tmp", "/");
	char *name = where ? concat(where, tool->name) : NULL;
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

/* Keeps the mode of the caller's file that is replaced, else takes the source's; never more than
 * the source allows. */
static int set_file_mode(const struct atomic_output *a, int fd, const struct stat *old)
{
	mode_t mode = old ? old->st_mode & 07777 : a->source.st_mode & 0666 & ~source_umask();
	struct stat new;

	if (fstat(fd, &new))
		return -1;
	return fchmod(fd, a->has_source ? source_limit(mode, &a->source, new.st_gid) : mode);
}

static bool is_source(const struct atomic_output *a, const struct stat *st)
{
	return a->has_source && S_ISREG(st->st_mode) && st->st_dev == a->source.st_dev &&
	       st->st_ino == a->source.st_ino;
}

static int open_file(struct atomic_output *a, struct atomic_output_file *f,
		     const struct place *at, const char *path)
{
	struct stat st;
	const bool there = output_place_stat(at, &st) == 0;
	const bool own = there && is_own_file(&st);

	if (there && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	a->is_source = there && is_source(a, &st);
	if (a->is_source) {
		errno = EEXIST;
		return -1;
	}
	f->path = strdup(path);
	f->at = (struct place){ .dir = openat(at->dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.name = strdup(at->name) };
	if (!f->path || f->at.dir < 0 || !f->at.name)
		return -1;
	if (there && S_ISREG(st.st_mode) && faccessat(at->dir, at->name, W_OK, 0))
		return -1;
	if (open_hidden(f, own || a->has_source ? 0600 : 0666) < 0)
		return -1;
	return own || a->has_source ? set_file_mode(a, f->fd, own ? &st : NULL) : 0;
}

/* stdout, devices and FIFOs can't be renamed: they are opened now and written at the end. */
static enum cli_exit open_for_copying(struct atomic_output *a)
{
	struct stat st;

	a->is_source = !a->name && fstat(STDOUT_FILENO, &st) == 0 && is_source(a, &st);
	if (a->is_source)
		return report_failure(a, NULL);
	if (open_scratch(&a->main, a->tool))
		return report_failure(a, "a temporary file (TMPDIR)");
	return output_open(&a->out, a->tool, a->name, NULL);
}

static int open_main(struct atomic_output *a, const char *name)
{
	char *path = concat(a->directory, name), *own = strdup(name);
	int ret = path && own ?
		open_file(a, &a->main, &(struct place){ .dir = a->dir, .name = own }, path) : -1;

	free(path);
	free(own);
	return ret;
}

/* The directory is looked up once: renaming it afterwards does not change where the files go. */
static enum cli_exit open_directory(struct atomic_output *a, const char *path, const char *name)
{
	const size_t n = strlen(path);
	struct place at;
	int error;

	a->directory = concat(path, path[n - 1] == '/' ? "" : "/");
	error = a->directory ? output_place_open(&at, path) : ENOMEM;
	if (!error) {
		a->made = mkdirat(at.dir, at.name, 0777) == 0;
		if (!a->made && errno != EEXIST)
			error = errno;
		a->dir = output_place_open_file(&at, O_RDONLY | O_DIRECTORY, 0);
		if (a->dir < 0 && !error)
			error = errno;
		output_place_close(&at);
	}
	errno = error;
	return error || open_main(a, name) ? report_failure(a, path) : CLI_OK;
}

/* Returns the path without trailing slashes, which would follow a symbolic link; for free(). */
static char *without_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

static enum cli_exit open_place(struct atomic_output *a, const char *path, bool directory)
{
	struct place at;
	enum cli_exit status;
	struct stat st;
	int error = output_place_open(&at, path);
	bool there;

	if (error) {
		errno = error;
		return report_failure(a, path);
	}
	there = output_place_stat(&at, &st) == 0;
	if (!there && errno != ENOENT)
		status = report_failure(a, path);
	else if (directory || (there && S_ISDIR(st.st_mode)))
		status = open_directory(a, path, DATA);
	else if (there && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		status = open_for_copying(a);
	else
		status = open_file(a, &a->main, &at, path) ? report_failure(a, path) : CLI_OK;
	output_place_close(&at);
	return status;
}

static void begin_output(struct atomic_output *a, const struct cli_tool *tool, const char *name,
			 const struct stat *source)
{
	*a = (struct atomic_output)ATOMIC_OUTPUT_CLOSED;
	a->tool = tool;
	a->name = name;
	a->has_source = source != NULL;
	if (source)
		a->source = *source;
	output_catch_size_limit();
}

enum cli_exit atomic_output_open(struct atomic_output *a, const struct cli_tool *tool,
				 const char *path,
				 const struct stat *source)
{
	const bool to_stdout = !path || strcmp(path, "-") == 0;
	enum cli_exit status;
	char *cut;

	begin_output(a, tool, to_stdout ? NULL : path, source);
	if (to_stdout)
		return open_for_copying(a);
	cut = without_slashes(path);
	status = cut ? open_place(a, cut, *path && path[strlen(path) - 1] == '/') :
		report_failure(a, path);
	free(cut);
	return status;
}

enum cli_exit atomic_output_open_in(struct atomic_output *a, const struct cli_tool *tool,
				    const char *directory, const char *name,
				    const struct stat *source)
{
	char *cut = without_slashes(directory);
	enum cli_exit status;

	begin_output(a, tool, directory, source);
	status = cut ? open_directory(a, cut, name) : report_failure(a, directory);
	free(cut);
	return status;
}

int atomic_output_scratch(const struct cli_tool *tool)
{
	struct atomic_output_file f = ATOMIC_OUTPUT_FILE_CLOSED;

	return open_scratch(&f, tool) ? -1 : f.fd;
}

int atomic_output_open_other(void *ctx, const char *name)
{
	struct atomic_output *a = ctx;
	struct atomic_output_file *others, f = ATOMIC_OUTPUT_FILE_CLOSED;
	char *path = a->directory ? concat(a->directory, name) : NULL, *own = strdup(name);

	a->other_error = a->directory ? ENOMEM : ENOTDIR;
	others = path && own ? realloc(a->others, (a->nr_others + 1) * sizeof(*others)) : NULL;
	if (others) {
		a->others = others;
		a->other_error = open_file(a, &f, &(struct place){ .dir = a->dir, .name = own },
					   path) ? errno : 0;
		others[a->nr_others++] = f;
	}
	free(path);
	free(own);
	return f.fd;
}

static enum cli_exit copy_to_stream(struct atomic_output *a)
{
	static char buffer[65536];
	ssize_t n = 1;

	lseek(a->main.fd, 0, SEEK_SET);
	while ((n = read(a->main.fd, buffer, sizeof(buffer))) > 0)
		if (output_write(&a->out, buffer, (size_t)n))
			break;
	if (n < 0)
		cli_error(a->tool, "a temporary file (TMPDIR): %s", strerror(errno));
	return output_close(&a->out, n < 0 ? CLI_OUTPUT : CLI_OK);
}

/* Gives the file its temporary name, from which it is renamed. */
static int link_temporary_name(struct atomic_output_file *f)
{
	char self[40];

	if (f->temporary)
		return 0;
	f->temporary = malloc(strlen(f->at.name) + 40);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
	for (int i = 0; f->temporary && i < MAX_NAME_ATTEMPTS; i++) {
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

static enum cli_exit commit_file(struct atomic_output *a, struct atomic_output_file *f)
{
	if (!f->path)
		return copy_to_stream(a);
	if ((fsync(f->fd) && errno != EINVAL && errno != EROFS) || link_temporary_name(f) ||
	    renameat(f->at.dir, f->temporary, f->at.dir, f->at.name))
		return report_failure(a, f->path);
	free(f->temporary);
	f->temporary = NULL;
	return CLI_OK;
}

/* An older data.N would be read as part of the new recording. */
static enum cli_exit refuse_leftovers(struct atomic_output *a)
{
	/* not fdopendir(3), which makes a system call that the sandbox refuses */
	DIR *dir = opendir(a->directory);
	enum cli_exit status = CLI_OK;
	struct dirent *entry;

	while (dir && status == CLI_OK && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		size_t i = 0;

		if (strncmp(name, "data.", 5) != 0 || !name[5] ||
		    strspn(name + 5, "0123456789") != strlen(name + 5))
			continue;
		while (i < a->nr_others && strcmp(a->others[i].at.name, name) != 0)
			i++;
		if (i < a->nr_others)
			continue;
		cli_error(a->tool, "%s%s: exists and is not part of this recording", a->directory,
			  name);
		status = CLI_OUTPUT;
	}
	if (dir)
		closedir(dir);
	return status;
}

static enum cli_exit remove_old_main(struct atomic_output *a)
{
	if (unlinkat(a->main.at.dir, a->main.at.name, 0) && errno != ENOENT)
		return report_failure(a, a->main.path);
	return CLI_OK;
}

enum cli_exit atomic_output_commit(struct atomic_output *a)
{
	const bool is_recording = a->directory && strcmp(a->main.at.name, DATA) == 0;
	enum cli_exit status = is_recording ? refuse_leftovers(a) : CLI_OK;

	if (status == CLI_OK && a->nr_others)
		status = remove_old_main(a);
	for (size_t i = 0; i < a->nr_others && status == CLI_OK; i++)
		status = commit_file(a, &a->others[i]);
	if (status == CLI_OK)
		status = commit_file(a, &a->main);
	if (status == CLI_OK)
		a->made = false;
	return status;
}

static void discard_file(struct atomic_output_file *f)
{
	remove_temporary(f);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	output_place_close(&f->at);
	*f = (struct atomic_output_file)ATOMIC_OUTPUT_FILE_CLOSED;
}

void atomic_output_discard_files(struct atomic_output *a)
{
	for (size_t i = 0; i < a->nr_others; i++)
		discard_file(&a->others[i]);
	discard_file(&a->main);
	free(a->others);
	a->others = NULL;
	a->nr_others = 0;
}

void atomic_output_discard(struct atomic_output *a)
{
	atomic_output_discard_files(a);
	output_discard(&a->out);
	if (a->made && a->directory)
		rmdir(a->directory);
	if (a->dir >= 0)
		close(a->dir);
	a->dir = -1;
	free(a->directory);
}
