/* datafile.c - the output file or directory: names, descriptors and its writer. */
#include "output/datafile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "output/old_file.h"

enum { TRIES = 100, READER_MS = 20, SILENT_MS = 1000 };

/* Whether a program reads stdout. A file there is for the output of the command. */
static bool stdout_is_read(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* Whether the place is a link to stdout, such as /dev/stdout, which a program reads. */
static bool is_stdout(const struct place *p)
{
	struct stat st, out;

	return p->follow && stdout_is_read() && output_place_stat(p, &st) == 0 &&
	       fstat(STDOUT_FILENO, &out) == 0 && st.st_dev == out.st_dev &&
	       st.st_ino == out.st_ino;
}

/* Whether it is a FIFO of a trusted owner: others may make one to catch the recording. */
static bool is_stream(const struct place *p)
{
	struct stat st;

	return output_place_stat(p, &st) == 0 && S_ISFIFO(st.st_mode) &&
	       owner_is_trusted(st.st_uid);
}

/* Waits until a program reads the FIFO. Must be called before signals are blocked. */
static int open_fifo(const struct datafile *f, const struct logger *s)
{
	const struct timespec pause = { .tv_nsec = READER_MS * 1000000 };
	struct stat st;
	int fd;

	for (int ms = 0; (fd = output_place_open_file(&f->place, O_WRONLY | O_NONBLOCK, 0)) < 0;
	     ms += READER_MS) {
		if (errno != ENXIO)
			return -1;
		if (ms == SILENT_MS)
			log_at(s, LOG_WARNING, "%s: waiting for a program to read this FIFO",
			       f->base);
		nanosleep(&pause, NULL);
	}
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && owner_is_trusted(st.st_uid) &&
	    fcntl(fd, F_SETFL, O_WRONLY) == 0)
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

static int open_stream(struct datafile *f, const struct logger *s)
{
	f->fd = strcmp(f->base, "-") == 0 ? STDOUT_FILENO : open_fifo(f, s);
	if (f->fd < 0)
		return log_error(s, CLI_OUTPUT, "%s: %s", f->base, strerror(errno));
	/* cli_parse() gives a closed stdout a descriptor that can only be read. */
	if ((fcntl(f->fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return log_error(s, CLI_OUTPUT, "standard output: %s", strerror(EBADF));
	if (isatty(f->fd))
		return log_error(s, CLI_USAGE,
				 "a recording is not written to a terminal: use -o FILE, "
				 "or a pipe");
	return 0;
}

/* The name of a directory may end with slashes; NAME.old is not in it. */
static void cut_slashes(char *path)
{
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
}

/* Sets the names of the file, with `stamp` appended. Returns 0, or -1: too long. */
static int set_names(struct datafile *f, const char *stamp)
{
	const int n = snprintf(f->path, sizeof(f->path), "%s%s", f->base, stamp);
	const int m = snprintf(f->name, sizeof(f->name), "%s%s", f->place.name, stamp);

	return n < (int)sizeof(f->path) && m < (int)sizeof(f->name) ? 0 : -1;
}

/* Opens the directory of the output; later look-ups start there, not at the path. */
static int open_place(struct datafile *f, const struct settings *o, const struct logger *s)
{
	const char *unnamed = stdout_is_read() ? "-" : "perf.data";
	const char *base = o->output ? o->output : unnamed;
	int error;

	if (snprintf(f->base, sizeof(f->base), "%s", base) >= (int)sizeof(f->base))
		return log_error(s, CLI_USAGE, "the name of the output is too long");
	cut_slashes(f->base);
	if (!*f->base)
		return log_error(s, CLI_USAGE, "'-o' needs the name of a file");
	if (strcmp(f->base, "/") == 0)
		return log_error(s, CLI_OUTPUT, "/: %s", strerror(EISDIR));
	f->mode = PD_MODE_PIPE;
	if (strcmp(f->base, "-") == 0)
		return 0;
	error = output_place_open(&f->place, f->base);
	if (error)
		return log_error(s, CLI_OUTPUT, "%s: %s", f->base, strerror(error));
	if (is_stdout(&f->place)) {
		snprintf(f->base, sizeof(f->base), "-");
		return 0;
	}
	if (set_names(f, ""))
		return log_error(s, CLI_USAGE, "the name of the output is too long");
	if (!o->output || !is_stream(&f->place))
		f->mode = o->threads ? PD_MODE_DIRECTORY : PD_MODE_FILE;
	f->in_directory = f->mode != PD_MODE_PIPE && (o->threads || o->kcore);
	return 0;
}

/* The file of --symbols-file is for names that the recording itself can't hold. */
static int open_symbols(struct datafile *f, const struct settings *o, const struct logger *s)
{
	const bool is_stream = f->mode == PD_MODE_PIPE;

	if (is_stream && !o->symbols_file &&
	    (o->symbols == SYMBOLS_NAMES || o->symbols == SYMBOLS_LINES))
		return log_error(s, CLI_USAGE,
				 "'--symbols=%s': a stream can't hold names: add "
				 "'--symbols-file FILE'",
				 settings_symbols[o->symbols]);
	if (!o->symbols_file)
		return 0;
	if (!is_stream)
		return log_error(s, CLI_USAGE,
				 "'--symbols-file' is for streams (-o -): a file holds the names "
				 "itself");
	if (o->symbols == SYMBOLS_OFF)
		return log_error(s, CLI_USAGE, "'--symbols-file' and '--symbols=off' exclude each "
				 "other");
	return symbols_file_open(&f->symbols, o->symbols_file, s);
}

int datafile_choose(struct datafile *f, const struct settings *o, const struct logger *s)
{
	uint64_t level = 0;
	int status = open_place(f, o, s);

	if (status)
		return status;
	if (f->mode == PD_MODE_PIPE && (o->threads || o->kcore))
		return log_error(s, CLI_USAGE,
				 "'--%s' writes a directory, not a stream: name it with -o",
				 o->threads ? "threads" : "kcore");
	if (o->kcore && (o->switch_output || o->rotate_triggers.count))
		return log_error(s, CLI_USAGE,
				 "'--kcore' and --switch-output exclude each other: there is one "
				 "directory");
	if (o->compress && (!parse_number(o->compress, &level) || !level || level > 22))
		return log_error(s, CLI_USAGE, "'-z' must be a level from 1 to 22, not '%s'",
				 o->compress);
	f->compress = (int)level;
	f->which = !o->buildid ? BUILDID_NONE : o->buildid_all ? BUILDID_ALL : BUILDID_HIT;
	f->read_back = o->buildid || o->buildid_all || o->timestamp_boundary;
	if (f->mode == PD_MODE_PIPE &&
	    (o->switch_output || o->rotate_triggers.count || o->timestamp_filename))
		return log_error(s, CLI_USAGE,
				 "'--switch-output', '--switch-output-event' and "
				 "'--timestamp-filename' need a file, not a stream");
	status = open_symbols(f, o, s);
	return status || f->mode != PD_MODE_PIPE ? status : open_stream(f, s);
}

/* Under sudo, gives a created file to the user who called sudo. */
static int give_to_user(int fd)
{
	uid_t uid;
	gid_t gid;

	if (fd >= 0 && sudo_user(&uid, &gid) && fchown(fd, uid, gid))
		return fd;	/* root keeps it */
	return fd;
}

/* Opens the caller's own file that could not be renamed, or a device, for writing in place. */
static int open_existing(const struct place *p)
{
	struct stat st;
	int fd;

	if (output_place_stat(p, &st))
		return -1;
	if (!is_own_file(&st) && !(S_ISCHR(st.st_mode) && owner_is_trusted(st.st_uid))) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
		return -1;
	}
	fd = output_place_open_file(p, O_RDWR, 0);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (is_own_file(&st) ? ftruncate(fd, 0) == 0 : S_ISCHR(st.st_mode)))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

static int create_file(const struct place *p)
{
	return give_to_user(
		output_place_open_file(p, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
}

/* Others may replace the directory before it is opened: checks that it is the new one. */
static int create_directory(const struct place *p)
{
	struct stat st;
	int fd;

	if (mkdirat(p->dir, p->name, 0700))
		return -1;
	fd = openat(p->dir, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
		return give_to_user(fd);
	close(fd);
	errno = EEXIST;
	return -1;
}

int datafile_create(int directory, const char *name)
{
	char copy[32];

	snprintf(copy, sizeof(copy), "%s", name);
	return create_file(&(struct place){ .dir = directory, .name = copy });
}

int datafile_create_directory(const struct datafile *f, const char *name)
{
	char copy[32];

	snprintf(copy, sizeof(copy), "%s", name);
	return create_directory(&(struct place){ .dir = f->directory, .name = copy });
}

int datafile_open_part(const struct datafile *f, size_t n)
{
	char name[32];

	snprintf(name, sizeof(name), "data.%zu", n);
	return datafile_create(f->directory, name);
}

/* Creates the directory, and the file in it that has the header. */
static int open_directory(struct datafile *f)
{
	f->directory = create_directory(&f->place);
	return f->directory < 0 ? -1 : datafile_create(f->directory, "data");
}

/* Gives up after TRIES if others keep taking the name. */
static int open_output(struct datafile *f, const struct logger *s)
{
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		const bool stays = old_file_keep(&f->place, f->path, s) != 0;

		fd = f->in_directory ? open_directory(f) : create_file(&f->place);
		if (fd >= 0 || errno != EEXIST)
			break;
		fd = f->in_directory ? -1 : open_existing(&f->place);
		if (stays || (fd < 0 && errno != EEXIST && errno != ENOENT && errno != ELOOP))
			break;
	}
	return fd;
}

int datafile_open(struct datafile *f, const struct logger *s)
{
	struct pd_writer_options o = { .size = sizeof(o), .compress = f->compress, .by = f->by };
	struct stat st;

	f->totals = (struct drain_totals){ 0 };
	f->unfinished = f->parts = 0;
	f->nr_auxtraces = 0;
	if (f->mode != PD_MODE_PIPE)
		set_names(f, "");
	if (f->mode == PD_MODE_PIPE) {
		f->read_back = false;
	} else {
		f->fd = open_output(f, s);
		if (f->fd < 0)
			return log_error(s, CLI_OUTPUT, "%s: %s", f->path, strerror(errno));
		if (fstat(f->fd, &st) || !S_ISREG(st.st_mode))
			f->read_back = false;
	}
	if (f->read_back && f->compress && f->mode == PD_MODE_FILE)
		f->watch = buildid_watch_new(f->which);
	o.mode = f->mode == PD_MODE_PIPE ? PD_MODE_PIPE : PD_MODE_FILE;
	o.watch = f->watch ? buildid_watch_bytes : f->symbols.path ? symbols_file_copy : NULL;
	o.ctx = f->watch ? (void *)f->watch : &f->symbols;
	f->writer = pd_writer_open_fd(f->fd, &o, &f->error);
	return f->writer ? 0 : datafile_failed(f, s);
}

int datafile_begin(struct datafile *f)
{
	if (pd_writer_begin(f->writer, &f->error))
		return -1;
	f->header_size = pd_writer_size(f->writer);
	if (f->watch)
		buildid_watch_begin(f->watch, f->fd, f->header_size);
	return f->symbols.header ? symbols_file_begin(&f->symbols, &f->error) : 0;
}

int datafile_add_event(struct pd_writer *w, const struct event *e, const uint64_t *ids, size_t n,
		       struct pd_error *error)
{
	struct event_attr attr = e->attr;

	if (e->probe)
		attr.config1 = 0;	/* a pointer into this process */
	return pd_writer_add_event(w, &attr, attr.size, ids, n, e->name, error);
}

/* .YYYYMMDDhhmmsscc as in perf: the time in hundredths of a second. */
static void format_stamp(const struct timeval *t, char stamp[32])
{
	struct tm local;
	size_t n;

	localtime_r(&t->tv_sec, &local);
	n = strftime(stamp, 32, ".%Y%m%d%H%M%S", &local);
	snprintf(stamp + n, 32 - n, "%02u", (unsigned int)(t->tv_usec / 10000) % 100);
}

/* Renames without replacing another file. Without RENAME_NOREPLACE others may win a race. */
static int rename_noreplace(int dir, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(dir, from, dir, to);
}

/* A file of the same hundredth of a second as the previous one gets the next. */
int datafile_stamp(struct datafile *f, const struct logger *s)
{
	const struct timeval hundredth = { .tv_usec = 10000 };
	struct timeval t;
	char stamp[32];

	gettimeofday(&t, NULL);
	if (timercmp(&t, &f->next_stamp, <))
		t = f->next_stamp;
	for (int i = 0; i < TRIES; i++) {
		format_stamp(&t, stamp);
		timeradd(&t, &hundredth, &f->next_stamp);
		if (set_names(f, stamp)) {
			errno = ENAMETOOLONG;
			break;
		}
		if (rename_noreplace(f->place.dir, f->place.name, f->name) == 0)
			return 0;
		if (errno != EEXIST)
			break;
		t = f->next_stamp;
	}
	return log_error(s, CLI_OUTPUT, "%s can't be called %s: %s", f->base, f->path,
			 strerror(errno));
}

void datafile_remove(const struct datafile *f)
{
	unlinkat(f->place.dir, f->name, 0);
}

void datafile_keep(struct datafile *f, uint64_t most)
{
	char *name = strdup(f->name);
	char **kept = name ? realloc(f->kept, (f->nr_kept + 1) * sizeof(*kept)) : NULL;

	if (!kept) {
		free(name);
		return;
	}
	f->kept = kept;
	kept[f->nr_kept++] = name;
	if (!most || f->nr_kept <= most)
		return;
	unlinkat(f->place.dir, kept[0], 0);
	free(kept[0]);
	memmove(kept, kept + 1, --f->nr_kept * sizeof(*kept));
}

bool datafile_is_unread(const struct datafile *f)
{
	return f->failed && f->error.code == PD_E_IO && f->error.have == EPIPE;
}

int datafile_failed(struct datafile *f, const struct logger *s)
{
	char text[256];

	f->failed = true;
	if (datafile_is_unread(f))
		return CLI_OUTPUT;
	return log_error(s, CLI_OUTPUT, "%s: %s",
			 f->fd == STDOUT_FILENO ? "standard output" : f->path,
			 pd_error_text(&f->error, text, sizeof(text)));
}

void datafile_abort(struct datafile *f, struct pd_writer *w)
{
	const uint64_t given = w ? pd_writer_size(w) : 0;
	struct pd_error ignored;
	uint64_t kept = 0;

	if (w && pd_writer_abort(w, &kept, &ignored) && f->mode == PD_MODE_FILE)
		kept = 0;	/* the header was not updated after the last flush */
	f->no_features = f->no_features || w == f->writer;
	f->readable += kept;
	f->not_written += given > kept ? given - kept : 0;
}

/* Counts samples in the file: an unknown part of what was written reached it. */
static uint64_t count_samples(const struct datafile *f, const bool *hurry)
{
	struct buildid_summary found;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->directory >= 0 ? f->directory : f->fd);
	buildid_count(path, hurry, &found);
	return found.samples;
}

void datafile_report_loss(struct datafile *f, const bool *hurry, const struct logger *s)
{
	if (datafile_is_unread(f) || f->fd < 0)
		return;
	f->totals.samples = f->mode == PD_MODE_PIPE ? 0 : count_samples(f, hurry);
	log_at(s, LOG_ERROR,
	       "%s: the recording ends here, with %.3f MB (%llu samples); at least %.3f MB of "
	       "records are lost",
	       f->mode == PD_MODE_PIPE ? f->base : f->path, (double)f->readable / 1048576,
	       (unsigned long long)f->totals.samples, (double)f->not_written / 1048576);
	/* perf opens data.N only if the feature DIR_FORMAT says so. */
	if (f->mode == PD_MODE_DIRECTORY && f->no_features)
		log_at(s, LOG_ERROR, "perf finds no samples in an unfinished directory: "
		       "'prepair %s -o FILE' makes a file of it that perf reads", f->path);
}

int datafile_close(struct datafile *f, const struct logger *s)
{
	int fd = f->fd;

	pd_writer_free(f->writer);
	buildid_watch_free(f->watch);
	f->writer = NULL;
	f->watch = NULL;
	f->fd = -1;
	if (fd >= 0 && fd != STDOUT_FILENO && close(fd))
		return log_error(s, CLI_OUTPUT, "%s: %s", f->path, strerror(errno));
	return 0;
}

void datafile_free(struct datafile *f)
{
	for (size_t i = 0; i < f->nr_kept; i++)
		free(f->kept[i]);
	free(f->kept);
	output_place_close(&f->place);
	if (f->directory >= 0)
		close(f->directory);
	free(f->auxtraces);
	symbols_file_close(&f->symbols);
	pd_writer_free(f->writer);
	buildid_watch_free(f->watch);
	if (f->fd >= 0 && f->fd != STDOUT_FILENO)
		close(f->fd);
	*f = (struct datafile)DATAFILE_CLOSED;
}
