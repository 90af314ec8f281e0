/* input.c - choose and open the recording that a tool reads. */
#include "files/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STDIN_WAIT_MS = 3000 };

static const char is_default_stdin[] = "; standard input is read because no FILE is given";

/* False for a terminal, /dev/null and the replacement of a closed descriptor by cli_parse(). */
static bool stdin_is_redirected(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 &&
		(S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

enum cli_exit input_check(const struct cli_tool *tool, const struct cli_list *inputs,
			  const char *operand)
{
	if (inputs->count > 1 || (operand && inputs->count))
		return cli_usage(tool, "two inputs: '%s' and '%s'", inputs->items[0],
				 inputs->count > 1 ? inputs->items[1] : operand);
	return CLI_OK;
}

const char *input_named(const struct cli_list *inputs, const char *operand)
{
	return operand ? operand : inputs->count ? inputs->items[0] : NULL;
}

void input_choose(struct input *in, const char *path)
{
	*in = (struct input)INPUT_CLOSED;
	in->path = path;
	if (!path) {
		in->path = stdin_is_redirected() ? "-" : "perf.data";
		in->hint = strcmp(in->path, "-") == 0 ? is_default_stdin :
			"; give a FILE, or - for standard input";
	}
	in->name = strcmp(in->path, "-") == 0 ? "standard input" : in->path;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A user who meant perf.data would not know why the tool does nothing. */
static void report_idle_stdin(const struct cli_tool *tool)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	if (poll(&in, 1, STDIN_WAIT_MS) == 0)
		cli_error(tool,
			  "waiting for standard input, which is read because no FILE is given");
}

int input_open(struct input *in, const struct cli_tool *tool)
{
	if (strcmp(in->path, "-") == 0) {
		in->fd = STDIN_FILENO;
		if (in->hint == is_default_stdin)
			report_idle_stdin(tool);
		return 0;
	}
	if (is_directory(in->path))
		return 0;
	in->fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return in->fd < 0 ? -1 : 0;
}

void input_close(struct input *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = -1;
}
