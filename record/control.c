/* control.c - commands while recording. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"

static int open_fifo(const char *path, int flags)
{
	return open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

static bool take_fd(const char *text, int *fd)
{
	uint64_t number;

	if (!parse_number(text, &number) || number > 1 << 20 || fcntl((int)number, F_GETFD) < 0)
		return false;
	*fd = (int)number;
	return fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) | O_NONBLOCK) == 0;
}

/* Opened for both directions a fifo is never at its end, and never waits for a peer. */
static bool take(struct control *c, const char *in, const char *out)
{
	if (c->owned) {
		c->in = open_fifo(in, O_RDWR);
		if (out)
			c->out = open_fifo(out, O_RDWR);
		return c->in >= 0 && (!out || c->out >= 0);
	}
	return take_fd(in, &c->in) && (!out || take_fd(out, &c->out));
}

int control_open(struct control *c, const char *text, const struct say *s)
{
	const char *colon = strchr(text, ':');
	char names[4096], *comma;

	*c = (struct control)CONTROL_ABSENT;
	c->owned = strncmp(text, "fifo:", 5) == 0;
	if (!colon || (!c->owned && strncmp(text, "fd:", 3) != 0))
		return say_failed(s, CLI_USAGE,
				  "'--control' must be fifo:PATH[,PATH] or fd:N[,N], not "
				  "'%s'",
				  text);
	snprintf(names, sizeof(names), "%s", colon + 1);
	comma = strchr(names, ',');
	if (comma)
		*comma++ = '\0';
	if (!take(c, names, comma))
		return say_failed(s, CLI_USAGE, "'--control %s': %s", text, strerror(errno));
	return 0;
}

static enum control_command parse(char *line, const char **argument)
{
	static const struct { const char *name; enum control_command command; } commands[] = {
		{ "enable", CONTROL_ENABLE }, { "disable", CONTROL_DISABLE },
		{ "snapshot", CONTROL_SNAPSHOT }, { "stop", CONTROL_STOP },
		{ "ping", CONTROL_PING },
	};
	char *blank = strchr(line, ' ');

	if (blank)
		*blank++ = '\0';
	*argument = blank ? blank : "";
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(line, commands[i].name) == 0)
			return commands[i].command;
	return CONTROL_UNKNOWN;
}

enum control_command control_next(struct control *c, const char **argument)
{
	for (;;) {
		char byte;
		ssize_t got = read(c->in, &byte, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			return CONTROL_CLOSED;
		if (got < 0)
			return errno == EAGAIN ? CONTROL_NONE : CONTROL_CLOSED;
		if (byte != '\n' && byte != '\0') {
			if (c->used < sizeof(c->line) - 1)
				c->line[c->used++] = byte;
			continue;
		}
		c->line[c->used] = '\0';
		if (!c->used)
			continue;
		c->used = 0;
		return parse(c->line, argument);
	}
}

void control_acknowledge(const struct control *c)
{
	static const char ack[] = "ack\n";

	/* Who does not read its acknowledgements does without. perf sends the NUL too. */
	if (c->out >= 0 && write(c->out, ack, sizeof(ack)) < 0)
		return;
}

void control_close(struct control *c)
{
	if (c->owned && c->in >= 0)
		close(c->in);
	if (c->owned && c->out >= 0)
		close(c->out);
	*c = (struct control)CONTROL_ABSENT;
}
