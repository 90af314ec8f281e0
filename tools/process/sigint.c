/* sigint.c - the end of a pipeline on SIGINT: see sigint.h. */
#include "process/sigint.h"

#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>

static void ignore_sigint(int number)
{
	(void)number;
}

void sigint_ignore_first(int input)
{
	const struct sigaction once = { .sa_handler = ignore_sigint, .sa_flags = SA_RESTART |
		SA_RESETHAND };
	struct sigaction now;
	struct stat st;

	if (input < 0 || fstat(input, &st) || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
		return;
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGINT, &once, NULL);
}
