/* control.h - --control: commands from a fifo or a descriptor, a line each. */
#ifndef RECORD_CONTROL_H
#define RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

enum control_command {
	CONTROL_NONE,		/* nothing complete has come */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_STOP,
	CONTROL_PING,
	CONTROL_EVLIST,
	CONTROL_UNKNOWN,
	CONTROL_CLOSED,		/* nobody will write again */
};

struct control {
	int in, out;		/* -1: none */
	bool owned;		/* they were opened here */
	char line[256];
	size_t used;
};

#define CONTROL_ABSENT { .in = -1, .out = -1 }

/* "fifo:CTL[,ACK]" or "fd:CTL[,ACK]". 0; or an exit status after saying what is wrong. */
int control_open(struct control *c, const char *text, const struct logger *s);
/* Never waits. What stands behind the command is put into *argument, valid until the next call. */
enum control_command control_next(struct control *c, const char **argument);
/* The command was carried out. */
void control_acknowledge(const struct control *c);
/* It was not: answers "error: REASON". */
void control_refuse(const struct control *c, const char *reason);
void control_close(struct control *c);

#endif
