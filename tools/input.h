/* input.h - the recording that a tool reads. */
#ifndef PD_TOOLS_INPUT_H
#define PD_TOOLS_INPUT_H

#include <stdbool.h>

#include "cli.h"

/* For --help. */
#define INPUT_NOTE "Without FILE: standard input when it is a file or a pipe, else perf.data."

/* For the description in the manual page. */
#define INPUT_DESCRIPTION \
	"Without FILE, standard input is read when it is a file, a pipe or a socket (pdecode < FILE, perf record -o - | " \
	"pdecode), and perf.data of the current directory when it is a terminal, /dev/null or closed, as under cron and " \
	"systemd and with ssh -n. A pipe that ends without data is an error, so that a recorder that failed does not pass " \
	"unnoticed; where a wrapper leaves such a pipe or its own script as standard input, name perf.data. A FILE of - " \
	"always is standard input."

struct input {
	const char *path;	/* "-": standard input */
	const char *name;	/* for messages */
	const char *hint;	/* what else to say when it can't be read */
	int fd;			/* -1: not open, or a directory */
};

#define INPUT_CLOSED { .hint = "", .fd = -1 }

/* Names the input: path, or what is to be read when that is NULL. */
void input_choose(struct input *in, const char *path);

/* Opens what is no directory: 0, or -1 with errno. Tells the user when standard input was not asked for by name and nothing
 * comes from it for some seconds. */
int input_open(struct input *in, const struct cli_tool *tool);

void input_close(struct input *in);

#endif
