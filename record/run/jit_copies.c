/* jit_copies.c - a process that copies files when it is asked to. */
#include "run/jit_copies.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/fd_message.h"
#include "recording/opener.h"

enum {
	BYTES_MOST = 1 << 27,		/* of all copies */
	DUMPS_MOST = 64,		/* of processes that still run */
	INSIDE = 1024,			/* bytes of a path below a root directory */
};

/* Comes with the root directory of the process. */
struct ask {
	enum { ASK_NOTE, ASK_COPIES, ASK_LIST } what;
	struct held_process process;
	char path[INSIDE];
};

struct copy {
	struct held_copy is;
	size_t size;
};

/* The process's own. */
struct copier {
	struct ask dumps[DUMPS_MOST];	/* the last that were noted */
	size_t noted;
	size_t n, size;
	struct copy copies[HELD_COPIES_MOST];
};

/* --- the process that copies --- */

static int open_inside(const struct held_process *process, int root, const char *inside)
{
	struct opener_writer writer = { process->inner_pid, process->user };
	struct opener opener = OPENER_CLOSED;
	char path[HELD_PATH + INSIDE];

	opener.writers = &writer;
	opener.nr_writers = 1;
	held_path(getpid(), root, path);
	snprintf(path + strlen(path), INSIDE, "%s", inside);
	return opener_open(&opener, path, PS_PLACE_TEMPORARY);
}

static void drop_oldest_copy(struct copier *c)
{
	close(c->copies[0].is.fd);
	c->size -= c->copies[0].size;
	memmove(c->copies, c->copies + 1, --c->n * sizeof(*c->copies));
}

/* The copy has the time of the file, by which it is known whose it is. */
static bool copy_bytes(int to, int from, const struct stat *st)
{
	const struct timespec times[] = { st->st_mtim, st->st_mtim };
	size_t left = (size_t)st->st_size;
	ssize_t n = 1;

	while (left && (n = sendfile(to, from, NULL, left)) > 0)
		left -= (size_t)n;
	return n >= 0 && futimens(to, times) == 0;
}

static void keep_copy(struct copier *c, const struct held_copy *copy, size_t size)
{
	while (c->n == HELD_COPIES_MOST || c->size + size > BYTES_MOST)
		drop_oldest_copy(c);
	c->size += size;
	c->copies[c->n++] = (struct copy){ *copy, size };
}

static void copy_file(struct copier *c, const struct ask *ask, int root, const char *path,
		      enum held_copy_of of)
{
	const int from = open_inside(&ask->process, root, path);
	const int to = from < 0 ? -1 : memfd_create("jit", MFD_CLOEXEC);
	struct stat st;

	if (to >= 0 && held_leaves_room(to) && fstat(from, &st) == 0 && st.st_size <= BYTES_MOST &&
	    copy_bytes(to, from, &st))
		keep_copy(c, &(struct held_copy){ ask->process.pid, to, of }, (size_t)st.st_size);
	else if (to >= 0)
		close(to);
	if (from >= 0)
		close(from);
}

static void copy_files(struct copier *c, const struct ask *ask, int root)
{
	char map[32];

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)ask->process.inner_pid);
	copy_file(c, ask, root, map, HELD_PERF_MAP);
	for (size_t i = 0; i < DUMPS_MOST; i++)
		if (c->dumps[i].process.pid == ask->process.pid)
			copy_file(c, ask, root, c->dumps[i].path, HELD_JITDUMP);
}

static void send_list(const struct copier *c, int socket)
{
	file_process_send(socket, &c->n, sizeof(c->n));
	for (size_t i = 0; i < c->n; i++)
		file_process_send(socket, &c->copies[i].is, sizeof(c->copies[i].is));
}

static void answer_asks(void *arg, int socket, int file)
{
	static struct copier c;
	struct ask ask;
	int root;

	(void)arg;
	(void)file;
	while (fd_message_receive(socket, &ask, sizeof(ask), &root)) {
		if (ask.what == ASK_LIST)
			send_list(&c, socket);
		else if (ask.what == ASK_NOTE)
			c.dumps[c.noted++ % DUMPS_MOST] = ask;
		else
			copy_files(&c, &ask, root);
		if (root >= 0)
			close(root);
	}
}

/* --- the recorder --- */

/* A message as short as this one is sent as a whole, or, if the process does not answer, not at
 * all. */
static void send_ask(struct jit_copies *c, const struct ask *ask)
{
	if (c->process.socket < 0 && !file_process_start(&c->process, answer_asks, NULL, -1))
		return;
	fd_message_send(c->process.socket, ask, sizeof(*ask), ask->process.root, MSG_DONTWAIT);
}

void jit_copies_note(struct jit_copies *c, const struct held_process *process, const char *path)
{
	struct ask ask = { .what = ASK_NOTE, .process = *process };
	const char *name = strrchr(path, '/');

	if (!name || strncmp(name, "/jit-", 5) != 0 || strlen(path) >= sizeof(ask.path))
		return;
	strcpy(ask.path, path);
	send_ask(c, &ask);
}

void jit_copies_make(struct jit_copies *c, const struct held_process *process)
{
	send_ask(c, &(struct ask){ .what = ASK_COPIES, .process = *process });
}

void jit_copies_list(struct jit_copies *c, const struct deadline *deadline,
		     struct held_files *out)
{
	size_t n = 0;

	out->copier = c->process.pid;
	out->nr_copies = 0;
	if (c->process.socket < 0)
		return;
	send_ask(c, &(struct ask){ .what = ASK_LIST, .process.root = -1 });
	if (file_process_receive(&c->process, &n, sizeof(n), deadline) == FILE_ANSWERED &&
	    n <= HELD_COPIES_MOST &&
	    file_process_receive(&c->process, out->copies, n * sizeof(*out->copies),
				 deadline) == FILE_ANSWERED)
		out->nr_copies = n;
}

void jit_copies_close(struct jit_copies *c)
{
	file_process_end(&c->process);
}
