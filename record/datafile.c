/* datafile.c - names and descriptors of the output. */
#include "datafile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "old_file.h"

/* Someone waits for the output: a pipe, a socket, a file that the shell opened. */
static bool stdout_is_wanted(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode));
}

/* Of files with a name: a FIFO. */
static bool is_stream(const char *base)
{
	struct stat st;

	return strcmp(base, "-") == 0 || (stat(base, &st) == 0 && S_ISFIFO(st.st_mode));
}

/* Waits until somebody reads a FIFO: before signals wait, too, and before anything runs. */
static int open_stream(struct datafile *f, const struct say *s)
{
	f->fd = strcmp(f->base, "-") == 0 ? STDOUT_FILENO : open(f->base, O_WRONLY | O_CLOEXEC);
	if (f->fd < 0)
		return say_failed(s, CLI_OUTPUT, "%s: %s", f->base, strerror(errno));
	if (isatty(f->fd))
		return say_failed(s, CLI_USAGE,
				  "a recording is not written to a terminal: use -o FILE, "
				  "or a pipe");
	return 0;
}

/* Where a directory is meant, its name may end so; FILE.old lies beside it. */
static void cut_slashes(char *path)
{
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
}

int datafile_choose(struct datafile *f, const struct settings *o, const struct say *s)
{
	uint64_t level = 0;

	f->base = o->output ? o->output : stdout_is_wanted() ? "-" : "perf.data";
	f->mode = is_stream(f->base) ? PD_MODE_PIPE :
		  o->threads ? PD_MODE_DIRECTORY : PD_MODE_FILE;
	if (snprintf(f->path, sizeof(f->path), "%s", f->base) + 32 > (int)sizeof(f->path))
		return say_failed(s, CLI_USAGE, "the name of the output is too long");
	cut_slashes(f->path);
	if (f->mode == PD_MODE_PIPE && o->threads)
		return say_failed(s, CLI_USAGE,
				  "'--threads' writes a directory, not a stream: name it with -o");
	if (o->compress && (!parse_number(o->compress, &level) || !level || level > 22))
		return say_failed(s, CLI_USAGE, "'-z' must be a level from 1 to 22, not '%s'",
				  o->compress);
	f->compress = (int)level;
	f->which = !o->buildid ? BUILDID_NONE : o->buildid_all ? BUILDID_ALL : BUILDID_HIT;
	f->read_back = o->buildid || o->buildid_all || o->timestamp_boundary;
	if (f->mode == PD_MODE_PIPE && (o->switch_output || o->timestamp_filename))
		return say_failed(s, CLI_USAGE,
				  "'--switch-output' and '--timestamp-filename' need a "
				  "file, not a stream");
	return f->mode == PD_MODE_PIPE ? open_stream(f, s) : 0;
}

/* Under sudo the file belongs to the user who asked for it. */
static void give_to_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	uint64_t u, g;

	if (geteuid() == 0 && uid && gid && parse_number(uid, &u) && parse_number(gid, &g) &&
	    fchown(fd, (uid_t)u, (gid_t)g))
		return;		/* then it stays root's */
}

static int open_new(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* A directory, and the file in it that has the header. */
static int open_directory(const struct datafile *f)
{
	char data[PATH_MAX + 8];
	int dir;

	if (mkdir(f->path, 0700))
		return -1;
	dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		give_to_user(dir);
		close(dir);
	}
	snprintf(data, sizeof(data), "%s/data", f->path);
	return open_new(data);
}

int datafile_open_part(const struct datafile *f, size_t n)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/data.%zu", f->path, n);
	fd = open_new(path);
	if (fd >= 0)
		give_to_user(fd);
	return fd;
}

int datafile_open(struct datafile *f, const struct say *s)
{
	struct stat st;

	f->tally = (struct tally){ 0 };
	f->unfinished = f->parts = 0;
	f->nr_auxtraces = 0;
	if (f->mode == PD_MODE_PIPE) {
		f->read_back = false;
	} else {
		old_file_keep(f->path, s);
		f->fd = f->mode == PD_MODE_FILE ? open_new(f->path) : open_directory(f);
		if (f->fd < 0)
			return say_failed(s, CLI_OUTPUT, "%s: %s", f->path, strerror(errno));
		if (fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode))
			give_to_user(f->fd);
		else
			f->read_back = false;
	}
	if (f->read_back && f->compress && f->mode == PD_MODE_FILE)
		f->watch = buildid_watch_new(f->which);
	f->writer = pd_writer_open_fd(f->fd, PD_WRITER_OPTIONS(
				      .mode = f->mode == PD_MODE_PIPE ? PD_MODE_PIPE : PD_MODE_FILE,
				      .compress = f->compress, .by = f->by,
				      .watch = f->watch ? buildid_watch_see : NULL, .ctx = f->watch),
				      &f->error);
	return f->writer ? 0 : datafile_failed(f, s);
}

int datafile_begin(struct datafile *f)
{
	if (pd_writer_begin(f->writer, &f->error))
		return -1;
	if (f->watch)
		buildid_watch_begin(f->watch, f->fd);
	return 0;
}

int datafile_add_event(struct pd_writer *w, const struct event *e, const uint64_t *ids, size_t n,
		       struct pd_error *error)
{
	struct event_attr attr = e->attr;

	if (e->probe)
		attr.config1 = 0;	/* an address in this process's memory */
	return pd_writer_add_event(w, &attr, attr.size, ids, n, e->name, error);
}

/* BASE.YYYYMMDDhhmmsscc, as perf names them: the time to a hundredth of a second. */
static void stamped_name(const struct datafile *f, const struct timeval *t, char path[PATH_MAX])
{
	char stamp[32];
	struct tm local;

	localtime_r(&t->tv_sec, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &local);
	snprintf(path, PATH_MAX, "%.*s.%s%02u", PATH_MAX - 64, f->base, stamp,
		 (unsigned int)(t->tv_usec / 10000) % 100);
}

/* A file that ends in the same hundredth of a second as the one before gets the next: none may
 * take the place of another. */
int datafile_stamp(struct datafile *f, const struct say *s)
{
	const struct timeval hundredth = { .tv_usec = 10000 };
	char path[PATH_MAX];
	struct timeval t;

	gettimeofday(&t, NULL);
	for (stamped_name(f, &t, path); access(path, F_OK) == 0; stamped_name(f, &t, path))
		timeradd(&t, &hundredth, &t);
	if (rename(f->path, path))
		return say_failed(s, CLI_OUTPUT, "%s can't be called %s: %s", f->path, path,
				  strerror(errno));
	memcpy(f->path, path, sizeof(path));
	return 0;
}

void datafile_keep(struct datafile *f, uint64_t most)
{
	char *name = strdup(f->path);
	char **kept = name ? realloc(f->kept, (f->nr_kept + 1) * sizeof(*kept)) : NULL;

	if (!kept) {
		free(name);
		return;
	}
	f->kept = kept;
	kept[f->nr_kept++] = name;
	if (!most || f->nr_kept <= most)
		return;
	unlink(kept[0]);
	free(kept[0]);
	memmove(kept, kept + 1, --f->nr_kept * sizeof(*kept));
}

int datafile_failed(struct datafile *f, const struct say *s)
{
	char text[256];

	f->failed = true;
	if (f->error.code == PD_E_IO && f->error.have == EPIPE)
		return CLI_OUTPUT;
	return say_failed(s, CLI_OUTPUT, "%s: %s",
			  f->fd == STDOUT_FILENO ? "standard output" : f->path,
			  pd_error_text(&f->error, text, sizeof(text)));
}

int datafile_close(struct datafile *f, const struct say *s)
{
	int fd = f->fd;

	pd_writer_free(f->writer);
	buildid_watch_free(f->watch);
	f->writer = NULL;
	f->watch = NULL;
	f->fd = -1;
	if (fd >= 0 && fd != STDOUT_FILENO && close(fd))
		return say_failed(s, CLI_OUTPUT, "%s: %s", f->path, strerror(errno));
	return 0;
}

void datafile_free(struct datafile *f)
{
	for (size_t i = 0; i < f->nr_kept; i++)
		free(f->kept[i]);
	free(f->kept);
	free(f->auxtraces);
	pd_writer_free(f->writer);
	buildid_watch_free(f->watch);
	if (f->fd >= 0 && f->fd != STDOUT_FILENO)
		close(f->fd);
	*f = (struct datafile)DATAFILE_CLOSED;
}
