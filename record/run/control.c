/* control.c - --control: read commands and answer them. */
#include "run/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "files/output_place.h"

/* Opened for both directions, a FIFO never reports end of file and opening does not wait for a
 * peer. Links are refused: others may plant one, and answers would be written to its target. */
static int open_fifo(const char *path, const struct logger *s)
{
	struct stat st = { 0 };
	int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);

	if (fd < 0) {
		log_at(s, LOG_ERROR, "'--control': %s: %s", path,
		       errno == ELOOP ? "a link, not a FIFO" : strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && owner_is_trusted(st.st_uid))
		return fd;
	if (S_ISFIFO(st.st_mode))
		log_at(s, LOG_ERROR,
		       "'--control': %s belongs to user %u: make your own with mkfifo", path,
		       (unsigned int)st.st_uid);
	else
		log_at(s, LOG_ERROR, "'--control': %s is not a FIFO", path);
	close(fd);
	return -1;
}

static int use_fd(const char *text, const struct logger *s)
{
	uint64_t number;
	int fd = -1;

	if (parse_number(text, &number) && number <= 1 << 20)
		fd = (int)number;
	if (fd >= 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0)
		return fd;
	log_at(s, LOG_ERROR, "'--control': %s is not an open descriptor", text);
	return -1;
}

int control_open(struct control *c, const char *text, const struct logger *s)
{
	const bool fifo = strncmp(text, "fifo:", 5) == 0;
	int (*open_end)(const char *, const struct logger *) = fifo ? open_fifo : use_fd;
	char names[4096], *out;

	*c = (struct control)CONTROL_ABSENT;
	c->owned = fifo;
	if (!fifo && strncmp(text, "fd:", 3) != 0)
		return log_error(s, CLI_USAGE,
				 "'--control' must be fifo:PATH[,PATH] or fd:N[,N], not "
				 "'%s'",
				 text);
	snprintf(names, sizeof(names), "%s", strchr(text, ':') + 1);
	out = strchr(names, ',');
	if (out)
		*out++ = '\0';
	c->in = open_end(names, s);
	if (c->in >= 0 && out)
		c->out = open_end(out, s);
	return c->in >= 0 && (!out || c->out >= 0) ? 0 : CLI_USAGE;
}

static enum control_command parse_command(char *line, const char **argument)
{
	static const struct { const char *name; enum control_command command; } commands[] = {
		{ "enable", CONTROL_ENABLE }, { "disable", CONTROL_DISABLE },
		{ "snapshot", CONTROL_SNAPSHOT }, { "stop", CONTROL_STOP },
		{ "ping", CONTROL_PING }, { "evlist", CONTROL_EVLIST },
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
		ssize_t n = read(c->in, &byte, 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return CONTROL_CLOSED;
		if (n < 0)
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
		return parse_command(c->line, argument);
	}
}

/* Each answer ends with a NUL, as perf's do. An answer that can't be written is dropped. */
static void send_answer(const struct control *c, const char *text)
{
	if (c->out >= 0 && write(c->out, text, strlen(text) + 1) < 0)
		return;
}

void control_acknowledge(const struct control *c)
{
	send_answer(c, "ack\n");
}

void control_refuse(const struct control *c, const char *reason)
{
	char text[512];

	snprintf(text, sizeof(text), "error: %s\n", reason);
	send_answer(c, text);
}

void control_close(struct control *c)
{
	if (c->owned && c->in >= 0)
		close(c->in);
	if (c->owned && c->out >= 0)
		close(c->out);
	*c = (struct control)CONTROL_ABSENT;
}
