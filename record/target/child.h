/* child.h - the recorded command. */
#ifndef RECORD_CHILD_H
#define RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/log.h"

struct child {
	pid_t pid;		/* 0: none */
	int link;		/* socket: a byte starts it; it sends errno if exec fails */
	bool started, ended;
	bool terminated;	/* by child_terminate() */
	int status;		/* of wait(2), after it ended */
};

/* The recorder's signal settings at its start, which the command gets back. */
struct child_signals {
	sigset_t mask;
	void (*on_pipe)(int), (*on_size)(int);	/* SIGPIPE, SIGXFSZ */
};

#define CHILD_NONE { .link = -1 }

enum child_stdout { CHILD_STDOUT, CHILD_STDOUT_TO_STDERR };

/* Forks; the child waits for child_start(). Returns 0, or an exit status after logging the
 * error: as from a shell, 127 if the command can't be found, 126 if it can't be executed. */
int child_fork(struct child *c, char *const *command, enum child_stdout out,
	       const struct child_signals *signals, const struct logger *log);
/* Lets the child execute the command. Returns 0, or 127 after logging the error. */
int child_start(struct child *c, const char *command, const struct logger *log);

/* Returns whether it has ended, without waiting. */
bool child_poll(struct child *c);
/* Sends SIGTERM unless it has ended or this was done before. */
void child_terminate(struct child *c);
/* The same, and waits for its end, or until *hurry (atomic). A command that was not started ends
 * by itself. */
void child_finish(struct child *c, const bool *hurry);
/* Returns its exit status as a shell does: 128 plus the signal that ended it. */
int child_exit_status(const struct child *c);

#endif
