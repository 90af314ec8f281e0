/* control.h - --control: commands from a FIFO or a descriptor, one per line. */
#ifndef RECORD_CONTROL_H
#define RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

enum control_command {
	CONTROL_NONE,		/* no complete line yet */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_STOP,
	CONTROL_PING,
	CONTROL_EVLIST,
	CONTROL_UNKNOWN,
	CONTROL_CLOSED,		/* end of file, or an error */
};

struct control {
	int in, out;		/* -1: none */
	bool owned;		/* opened here, closed by control_close() */
	char line[256];
	size_t used;
};

#define CONTROL_ABSENT { .in = -1, .out = -1 }

/* Opens "fifo:CTL[,ACK]" or "fd:CTL[,ACK]". Returns 0, or an exit status after logging the
 * error. */
int control_open(struct control *c, const char *text, const struct logger *s);
/* Returns the next command, without waiting, and stores the text after it; both are borrowed until
 * the next call. */
enum control_command control_next(struct control *c, const char **argument);
/* Answers "ack". */
void control_acknowledge(const struct control *c);
/* Answers "error: REASON". */
void control_refuse(const struct control *c, const char *reason);
void control_close(struct control *c);

#endif
