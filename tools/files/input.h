/* input.h - the recording that a tool reads. */
#ifndef PD_TOOLS_INPUT_H
#define PD_TOOLS_INPUT_H

#include <stdbool.h>

#include "cli/cli.h"

/* For --help. */
#define INPUT_NOTE "Without FILE: standard input when it is a file or a pipe, else perf.data."

/* For the description in the manual page. */
#define INPUT_DESCRIPTION \
	"Without FILE, the input is standard input if that is a file, a pipe or a socket " \
	"(pdecode < FILE, perf record -o - | pdecode). If it is a terminal, /dev/null or " \
	"closed, as under cron and systemd and with ssh -n, the input is perf.data in the " \
	"current directory. A pipe that ends without data is an error, so that a failed " \
	"recorder is noticed; if a wrapper leaves such a pipe or its own script as standard " \
	"input, name perf.data. A FILE of - always means standard input."

struct input {
	const char *path;	/* "-": standard input */
	const char *name;	/* for messages */
	const char *hint;	/* appended to the message if it can't be read */
	int fd;			/* -1: not open, or a directory */
};

#define INPUT_CLOSED { .hint = "", .fd = -1 }

/* perf's way to name the input. */
#define INPUT_OPTION(S) \
	CLI_LIST('i', "input", "FILE", S, inputs, "read FILE; the same as the operand")

/* Refuses a second input. */
enum cli_exit input_check(const struct cli_tool *tool, const struct cli_list *inputs,
			  const char *operand);

/* Returns the input that -i or the operand names; NULL: none. */
const char *input_named(const struct cli_list *inputs, const char *operand);

/* Sets the input to path, or to the default when that is NULL. */
void input_choose(struct input *in, const char *path);

/* Opens the input unless it is a directory. Returns 0, or -1 and errno. Prints a message if
 * standard input is the default and delivers nothing for some seconds. */
int input_open(struct input *in, const struct cli_tool *tool);

void input_close(struct input *in);

#endif
