/* debuginfod.c - files from debuginfod servers: see debuginfod.h. */
#include "recording/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "process/clock.h"
#include "process/tool_thread.h"
#include "pd/symbols.h"

#define LIBRARY "libdebuginfod.so.1"
#define PREFIX "debuginfod:"
#define DIGITS_MIN 16			/* of a build id: 8 bytes */
#define DIGITS_MAX (2 * PS_BUILD_ID_MAX)

/* A file may take this long, and longer by what arrives. */
#define PATIENCE 10			/* s */
#define SLOWEST 10240			/* bytes/s */

typedef int progress_fn(struct debuginfod_client *c, long done, long total);
typedef struct debuginfod_client *begin_fn(void);
typedef int find_fn(struct debuginfod_client *c, const unsigned char *id, int size, char **path);
typedef void set_progress_fn(struct debuginfod_client *c, progress_fn *fn);
/* A static program has none. */
#pragma weak dlopen
#pragma weak dlsym

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

const char *debuginfod_cache(char *buf, unsigned int size)
{
	const char *own = variable("DEBUGINFOD_CACHE_PATH"), *xdg = variable("XDG_CACHE_HOME"),
		   *home = variable("HOME");
	int n;

	if (own || (!xdg && !home))
		return own;
	n = snprintf(buf, size, "%s%s/debuginfod_client", xdg ? xdg : home, xdg ? "" : "/.cache");
	return n > 0 && (unsigned int)n < size ? buf : NULL;
}

/* --- the library --- */

/* Sets *fn to a function of the library. */
static bool find_function(const struct debuginfod *d, const char *name, void *fn, size_t size)
{
	void *found = dlsym(d->library, name);

	if (found)
		memcpy(fn, &found, size);
	return found != NULL;
}

static struct debuginfod *asking;	/* that the library works for: one at a time */

/* Called by the library on its thread. `done` is the bytes that arrived; before the first one it
 * may be how often this was called; `total` is 0 if the server does not tell it. Returns whether to
 * stop. */
static int check_progress(struct debuginfod_client *c, long done, long total)
{
	(void)c, (void)total;
	if (done > 0)
		atomic_store(&asking->arrived, (uint64_t)done);
	return atomic_load(&asking->is_over);
}

static bool load_library(struct debuginfod *d)
{
	set_progress_fn *set_progress = NULL;
	begin_fn *begin = NULL;

	d->library = dlopen ? dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!d->library) {
		cli_error(d->tool, "--debuginfod: no file is downloaded: " LIBRARY " is missing "
			  "(Debian: libdebuginfod1)");
		return false;
	}
	if (find_function(d, "debuginfod_begin", &begin, sizeof(begin)) &&
	    find_function(d, "debuginfod_set_progressfn", &set_progress, sizeof(set_progress)))
		d->client = begin();
	if (!d->client) {
		cli_error(d->tool, "--debuginfod: no file is downloaded: " LIBRARY
			  " does not work");
		return false;
	}
	set_progress(d->client, check_progress);
	return true;
}

/* --- requests --- */

struct file {
	const char *function;		/* of the library */
	char id[DIGITS_MAX + 1];
};

/* Returns false if it is no request. */
static bool parse_request(const char *request, struct file *out)
{
	const char *id = request + strlen(PREFIX), *kind;
	size_t n;

	if (strncmp(request, PREFIX, strlen(PREFIX)) != 0)
		return false;
	n = strspn(id, "0123456789abcdef");
	kind = id + n;
	if (n < DIGITS_MIN || n > DIGITS_MAX)
		return false;
	snprintf(out->id, sizeof(out->id), "%.*s", (int)n, id);
	out->function = strcmp(kind, "/executable") == 0 ? "debuginfod_find_executable" :
			strcmp(kind, "/debuginfo") == 0	 ? "debuginfod_find_debuginfo" : NULL;
	return out->function != NULL;
}

/* The library's work on a thread of its own: elfutils 0.192 waits 90 s for the first byte, and does
 * not ask meanwhile whether to stop. */
struct query {
	struct debuginfod *d;
	find_fn *find;
	struct file file;
	int ended;			/* eventfd */
	int fd;				/* the result */
	pthread_t thread;
};

static void *run_query(void *query)
{
	struct query *q = query;
	char *path = NULL;

	/* size 0: digits */
	q->fd = q->find(q->d->client, (const unsigned char *)q->file.id, 0, &path);
	free(path);
	eventfd_write(q->ended, 1);
	return NULL;
}

/* Returns 0 or an errno. */
static int start_query(struct query *q)
{
	int error;

	q->ended = eventfd(0, EFD_CLOEXEC);
	if (q->ended < 0)
		return errno;
	error = tool_thread_start(&q->thread, run_query, q);
	if (error)
		close(q->ended);
	return error;
}

/* Returns false if it takes too long, or nobody waits for the file any more. */
static bool wait_for_end(struct debuginfod *d, int ended)
{
	struct pollfd p[] = { { .fd = ended, .events = POLLIN }, { .fd = d->asker } };
	const uint64_t started = clock_ns();

	do {
		if (poll(p, 2, 500) > 0)
			return p[0].revents != 0;
		d->has_stalled = (clock_ns() - started) / 1000000000 >
				 PATIENCE + atomic_load(&d->arrived) / SLOWEST;
	} while (!d->has_stalled);
	return false;
}

/* Returns a descriptor, or a negative errno. A query that is not waited for keeps its thread and
 * memory until the process ends, and is the last one. */
static int finish_query(struct query *q)
{
	int fd;

	if (!wait_for_end(q->d, q->ended)) {
		atomic_store(&q->d->is_over, true);
		pthread_detach(q->thread);
		return -ETIMEDOUT;
	}
	pthread_join(q->thread, NULL);
	close(q->ended);
	fd = q->fd;
	free(q);
	return fd;
}

/* Returns a descriptor, or a negative errno. */
static int ask_servers(struct debuginfod *d, const struct file *file)
{
	struct query *q = calloc(1, sizeof(*q));
	int error = q ? 0 : ENOMEM;

	if (!error && !find_function(d, file->function, &q->find, sizeof(q->find)))
		error = ENOSYS;
	if (!error) {
		q->d = asking = d;
		q->file = *file;
		atomic_store(&d->arrived, 0);
		error = start_query(q);
	}
	if (!error)
		return finish_query(q);
	free(q);
	return -error;
}

/* Reports the first failure; after a server that does not answer nothing more is asked. */
static void note_failure(struct debuginfod *d, int error)
{
	if (d->has_stalled) {
		cli_error(d->tool, "--debuginfod: a server does not answer, no more files are "
			  "downloaded");
	} else if (!d->is_over && error != ENOENT && !d->has_failed) {
		cli_error(d->tool, "--debuginfod: a file can't be downloaded: %s",
			  strerror(error));
		d->has_failed = true;
	}
}

int debuginfod_get(struct debuginfod *d, const char *request)
{
	struct file file;
	int fd;

	if (!d->tool || d->is_over || !parse_request(request, &file))
		return -1;
	if (!d->client && !load_library(d)) {
		d->is_over = true;
		return -1;
	}
	fd = ask_servers(d, &file);
	if (fd >= 0)
		return fd;
	note_failure(d, -fd);
	return -1;
}
