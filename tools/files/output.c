/* output.c - buffered output that misses no write error. */
#include "files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/output_place.h"
#include "files/source.h"

enum { BUFFER_SIZE = 1 << 18, DIRECT_SIZE = BUFFER_SIZE / 8 };

static bool is_stdio(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* Only a regular file is destroyed when it is both. */
static bool is_same_file(const struct stat *out, const char *input)
{
	struct stat in;

	if (!input || !S_ISREG(out->st_mode))
		return false;
	if (is_stdio(input) ? fstat(STDIN_FILENO, &in) : stat(input, &in))
		return false;
	return in.st_dev == out->st_dev && in.st_ino == out->st_ino;
}

static enum cli_exit open_failed(struct output *o, int error)
{
	cli_error(o->tool, "%s: %s", o->name, strerror(error));
	if (o->fd > STDOUT_FILENO)
		close(o->fd);
	free(o->buffer);
	o->buffer = NULL;
	o->fd = -1;
	return CLI_OUTPUT;
}

/* Opens an existing file only if it is the caller's own, or a FIFO or device of the caller or root:
 * other users can plant links and FIFOs. Returns -1 and errno, or *why where that is better. */
static int open_existing(const struct place *at, const char **why)
{
	struct stat st;
	int fd;

	if (output_place_stat(at, &st))
		return -1;
	*why = S_ISLNK(st.st_mode) ? "is a link that another user may have made: name its target, "
				     "or remove it" :
	       S_ISREG(st.st_mode) ?
		       "belongs to another user or has another name (hard link): remove it, or use "
				     "another name" : "belongs to another user";
	errno = EPERM;
	if (!is_own_file(&st) &&
	    (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) || !owner_is_trusted(st.st_uid)))
		return -1;
	*why = NULL;
	fd = output_place_open_file(at, O_WRONLY, 0);
	if (fd < 0 ||
	    (fstat(fd, &st) == 0 &&
	     (is_own_file(&st) || (!S_ISREG(st.st_mode) && owner_is_trusted(st.st_uid)))))
		return fd;
	close(fd);	/* replaced in the meantime */
	errno = EPERM;
	return -1;
}

static int open_new(const struct place *at, const char *input)
{
	struct stat source, new;
	const int in = input && is_stdio(input) ? STDIN_FILENO : -1;
	const bool limited = input && source_stat(input, in, &source);
	const int fd = output_place_open_file(at, O_WRONLY | O_CREAT | O_EXCL, limited ? 0600 :
					      0666);

	if (fd >= 0 && limited && fstat(fd, &new) == 0)
		fchmod(fd, source_limit(0666 & ~source_umask(), &source, new.st_gid));
	return fd;
}

/* Opens a path and sets o->created. Returns -1 and errno; *why as in open_existing(). */
static int open_path(struct output *o, const char *path, const char *input, const char **why)
{
	struct place at;
	int fd = -1, error = output_place_open(&at, path);

	if (!error) {
		fd = open_new(&at, input);
		o->created = fd >= 0;
		if (fd < 0 && errno == EEXIST)
			fd = open_existing(&at, why);
		error = errno;
		output_place_close(&at);
	}
	errno = error;
	return fd;
}

static void ignore_signal(int number)
{
	(void)number;
}

void output_catch_size_limit(void)
{
	const struct sigaction catch = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART };
	struct sigaction now;

	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &catch, NULL);
}

enum cli_exit output_open_fd(struct output *o, const struct cli_tool *tool, const char *name,
			     int fd)
{
	*o = (struct output){ .tool = tool, .name = name };
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (o->fd < 0)
		return open_failed(o, errno);
	o->buffer = malloc(BUFFER_SIZE);
	return o->buffer ? CLI_OK : open_failed(o, ENOMEM);
}

enum cli_exit output_open(struct output *o, const struct cli_tool *tool, const char *path,
			  const char *input)
{
	bool to_stdout = is_stdio(path);
	const char *why = NULL;
	struct stat st;

	output_catch_size_limit();
	*o = (struct output){ .tool = tool, .name = to_stdout ? "standard output" : path };
	o->fd = to_stdout ? STDOUT_FILENO : open_path(o, path, input, &why);
	if (why) {
		cli_error(tool, "%s: %s", o->name, why);
		return CLI_OUTPUT;
	}
	if (o->fd < 0 || fstat(o->fd, &st))
		return open_failed(o, errno);
	if (is_same_file(&st, input)) {
		cli_error(tool, "%s: is both input and output", o->name);
		if (!to_stdout)
			close(o->fd);
		o->fd = -1;
		return CLI_USAGE;
	}
	o->buffer = malloc(BUFFER_SIZE);
	if (!o->buffer)
		return open_failed(o, ENOMEM);
	return CLI_OK;
}

enum cli_exit output_truncate(struct output *o)
{
	struct stat st;

	if (o->fd == STDOUT_FILENO || o->created)
		return CLI_OK;
	if (fstat(o->fd, &st) || (S_ISREG(st.st_mode) && ftruncate(o->fd, 0)))
		return open_failed(o, errno);
	return CLI_OK;
}

void output_discard(struct output *o)
{
	if (o->fd < 0)
		return;
	if (o->created)
		unlink(o->name);
	if (o->fd != STDOUT_FILENO)
		close(o->fd);
	free(o->buffer);
	o->buffer = NULL;
	o->fd = -1;
}

static int write_all(struct output *o, const unsigned char *bytes, size_t size)
{
	while (size && !o->error) {
		ssize_t n = write(o->fd, bytes, size);

		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		} else if (n == 0) {
			o->error = ENOSPC;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			/* another process made the terminal or pipe non-blocking */
			poll(&(struct pollfd){ .fd = o->fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			o->error = errno;
		}
	}
	return o->error ? -1 : 0;
}

int output_flush(struct output *o)
{
	size_t used = o->used;

	o->used = 0;
	return write_all(o, o->buffer, used);
}

int output_write(void *output, const void *bytes, size_t size)
{
	struct output *o = output;

	if (o->error)
		return -1;
	o->written += size;
	if ((size > BUFFER_SIZE - o->used || size >= DIRECT_SIZE) && output_flush(o))
		return -1;
	if (size >= DIRECT_SIZE)
		return write_all(o, bytes, size);
	if (size)
		memcpy(o->buffer + o->used, bytes, size);
	o->used += size;
	return 0;
}

bool output_is_terminal(const struct output *o)
{
	return o->fd >= 0 && isatty(o->fd);
}

/* Some file systems report a failed write only in close(2).  stdout stays open: a duplicate is
 * closed. */
static void close_fd(struct output *o)
{
	int fd = o->fd == STDOUT_FILENO ? dup(o->fd) : o->fd;

	if (fd >= 0 && close(fd) && errno != EINTR && !o->error)
		o->error = errno;
	o->fd = -1;
}

enum cli_exit output_close(struct output *o, enum cli_exit status)
{
	if (o->fd < 0)
		return status;
	output_flush(o);
	close_fd(o);
	free(o->buffer);
	o->buffer = NULL;
	if (o->error == EPIPE)
		cli_die_of(SIGPIPE);
	if (!o->error)
		return status;
	cli_error(o->tool, "%s: %s", o->name, strerror(o->error));
	return CLI_OUTPUT;
}
