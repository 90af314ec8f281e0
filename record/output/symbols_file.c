/* symbols_file.c - --symbols-file: see symbols_file.h. */
#include "output/symbols_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names are looked up for about a second: a larger copy would not be read to its end. */
#define COPY_MOST (4ull << 30)

static int log_failure(struct symbols_file *s, const struct logger *log, const char *what)
{
	s->failed = true;
	return log_error(log, CLI_OUTPUT, "%s: %s", what, strerror(errno));
}

static int open_output(struct symbols_file *s, const struct logger *log)
{
	const struct stat private = { .st_mode = S_IFREG | 0600 };
	uid_t uid;
	gid_t gid;

	if (strcmp(s->path, "-") == 0)
		return log_error(log, CLI_USAGE, "'--symbols-file' must name a file");
	if (atomic_output_open(&s->out, log->tool, s->path, &private) != CLI_OK)
		return CLI_OUTPUT;
	if (s->out.directory || !s->out.main.path)
		return log_error(log, CLI_USAGE, "'--symbols-file' must name a file, which '%s' "
				 "is not", s->path);
	if (sudo_user(&uid, &gid) && fchown(s->out.main.fd, uid, gid))
		return log_failure(s, log, s->path);
	return 0;
}

int symbols_file_open(struct symbols_file *s, const char *path, const struct logger *log)
{
	int status, fd;
	struct pd_error e;

	s->path = path;
	status = open_output(s, log);
	if (status)
		return status;
	fd = atomic_output_scratch(log->tool);
	s->copy = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!s->copy)
		return log_failure(s, log, "a temporary file (TMPDIR)");
	s->header = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_PIPE,
							    .by = PD_WRITE_BY_CALLER), &e);
	return s->header ? 0 : log_error(log, CLI_OUTPUT, "out of memory");
}

int symbols_file_begin(struct symbols_file *s, struct pd_error *e)
{
	const int err = pd_writer_begin(s->header, e) || pd_writer_flush(s->header, e) ? -1 : 0;

	pd_writer_free(s->header);
	s->header = NULL;
	return err;
}

void symbols_file_copy(void *symbols_file, struct pd_bytes bytes)
{
	struct symbols_file *s = symbols_file;

	s->is_cut = s->is_cut || bytes.size > COPY_MOST - s->size;
	if (!s->is_cut && fwrite(bytes.data, 1, bytes.size, s->copy) != bytes.size)
		s->is_cut = true;
	s->size += s->is_cut ? 0 : bytes.size;
}

int symbols_file_end_copy(struct symbols_file *s, const struct logger *log)
{
	const bool is_written = fflush(s->copy) == 0 && !ferror(s->copy);

	if (s->is_cut || !is_written)
		log_at(log, LOG_WARNING, "not all names of functions are in %s: %s", s->path,
		       is_written ? "the recording is too large to be copied" :
				    "a temporary file (TMPDIR) could not be written");
	return fileno(s->copy);
}

static bool write_all(int fd, struct pd_bytes bytes)
{
	for (size_t done = 0; done < bytes.size;) {
		const ssize_t n = write(fd, bytes.data + done, bytes.size - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n < 0 ? 0 : (size_t)n;
	}
	return true;
}

void symbols_file_write(struct symbols_file *s, struct pd_bytes section, const struct logger *log)
{
	s->failed = true;
	if (!section.size)
		log_at(log, LOG_ERROR, "%s: not written, there are no names", s->path);
	else if (!write_all(s->out.main.fd, section))
		log_failure(s, log, s->path);
	else
		s->failed = atomic_output_commit(&s->out) != CLI_OK;
}

void symbols_file_close(struct symbols_file *s)
{
	if (!s->path)
		return;
	atomic_output_discard(&s->out);
	pd_writer_free(s->header);
	if (s->copy)
		fclose(s->copy);
	*s = (struct symbols_file)SYMBOLS_FILE_CLOSED;
}
