/* child.h - the command that is recorded. */
#ifndef RECORD_CHILD_H
#define RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/log.h"

struct child {
	pid_t pid;		/* 0: none */
	int link;		/* a socket: lets it go; its errno when exec failed */
	bool started, ended;
	int status;		/* of wait(2), once it ended */
};

/* How the recorder found its signals, and the command is to find them. */
struct child_signals {
	sigset_t mask;
	void (*on_pipe)(int), (*on_size)(int);	/* SIGPIPE, SIGXFSZ */
};

#define CHILD_NONE { .link = -1 }

enum child_stdout { CHILD_STDOUT, CHILD_STDOUT_TO_STDERR };

/* Forks; the child waits for child_start(). 0; or an exit status, said: a shell's for what
 * can't be found (127) or executed (126). */
int child_fork(struct child *c, char *const *command, enum child_stdout out,
	       const struct child_signals *signals, const struct logger *log);
/* 0; or 127 when it could not be executed, said. */
int child_start(struct child *c, const char *command, const struct logger *log);

/* Looks whether it ended. */
bool child_poll(struct child *c);
/* Waits for its end, after a signal (0: none), or until *hurry (atomic). */
void child_finish(struct child *c, int signal, const bool *hurry);
/* As a shell has it. */
int child_exit_status(const struct child *c);

#endif
