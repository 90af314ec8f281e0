/* child.c - fork the command, let it wait for the counters, execute it, wait for its end. */
#include "target/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

static int check_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NOT_FOUND;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : NOT_EXECUTABLE;
}

static int search_path(const char *command, char found[PATH_MAX])
{
	const char *path = getenv("PATH");
	int worst = NOT_FOUND;

	for (path = path ? path : "/bin:/usr/bin"; ; path++) {
		size_t size = strcspn(path, ":");
		int err;

		snprintf(found, PATH_MAX, "%.*s/%s", size ? (int)size : 1, size ? path : ".",
			 command);
		err = check_path(found);
		if (!err)
			return 0;
		worst = err < worst ? err : worst;
		path += size;
		if (!*path)
			return worst;
	}
}

static const char *explain_error(const char *command, int err)
{
	if (err != NOT_FOUND)
		return "can't be executed";
	return strcmp(command, "record") == 0 ?	/* as in `perf record` */
		"command not found; leave it out: precord -g -- ./app" : "command not found";
}

static int find_command(const char *command, char path[PATH_MAX], const struct logger *log)
{
	int err;

	if (strchr(command, '/')) {
		snprintf(path, PATH_MAX, "%s", command);
		err = check_path(command);
	} else {
		err = search_path(command, path);
	}
	if (err)
		log_at(log, LOG_ERROR, "%s: %s", command, explain_error(command, err));
	return err;
}

struct execution {
	const char *path;
	char *const *command;
	enum child_stdout out;
	const struct child_signals *signals;
};

static _Noreturn void wait_and_exec(const struct execution *r, int link)
{
	char byte;

	if (r->out == CHILD_STDOUT_TO_STDERR)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	signal(SIGPIPE, r->signals->on_pipe);
	signal(SIGXFSZ, r->signals->on_size);
	sigprocmask(SIG_SETMASK, &r->signals->mask, NULL);
	/* The recorder closes the socket without a byte when it gives up. */
	if (read(link, &byte, 1) == 1) {
		/* The path has a slash, so there is no search; but a shell runs scripts without
		 * #!. */
		execvp(r->path, r->command);
		if (write(link, &errno, sizeof(errno)) < 0)
			_exit(NOT_FOUND);
	}
	_exit(NOT_FOUND);
}

int child_fork(struct child *c, char *const *command, enum child_stdout out,
	       const struct child_signals *signals, const struct logger *log)
{
	char path[PATH_MAX];
	const struct execution execution = { path, command, out, signals };
	int ends[2];
	int err = find_command(command[0], path, log);

	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return log_error(log, CLI_INPUT, "can't create a socket: %s", strerror(errno));
	c->pid = fork();
	if (c->pid < 0)
		return log_error(log, CLI_INPUT, "can't create a process: %s", strerror(errno));
	if (!c->pid) {
		close(ends[0]);
		wait_and_exec(&execution, ends[1]);
	}
	close(ends[1]);
	c->link = ends[0];
	return 0;
}

int child_start(struct child *c, const char *command, const struct logger *log)
{
	int error = 0;

	if (write(c->link, "", 1) != 1)
		error = errno;
	/* A successful exec closes the other end, and read() returns 0. */
	while (!error && read(c->link, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	close(c->link);
	c->link = -1;
	c->started = !error;
	return error ? log_error(log, NOT_FOUND, "%s: %s", command, strerror(error)) : 0;
}

bool child_poll(struct child *c)
{
	if (c->pid && !c->ended)
		c->ended = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
	return c->ended;
}

void child_terminate(struct child *c)
{
	if (c->pid && !c->ended && !c->terminated)
		kill(c->pid, SIGTERM);
	c->terminated = true;
}

void child_finish(struct child *c, const bool *hurry)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	if (c->link >= 0)
		close(c->link);
	c->link = -1;
	if (!c->pid || child_poll(c))
		return;
	child_terminate(c);
	while (!child_poll(c) && !__atomic_load_n(hurry, __ATOMIC_RELAXED))
		nanosleep(&pause, NULL);
}

int child_exit_status(const struct child *c)
{
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status);
}
