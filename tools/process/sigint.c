/* sigint.c - SIGINT: see sigint.h. */
#include "process/sigint.h"

#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>

static volatile sig_atomic_t is_noted;

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

static void note_sigint(int number)
{
	(void)number;
	is_noted = 1;
}

void sigint_note(void)
{
	const struct sigaction note = { .sa_handler = note_sigint };

	sigaction(SIGINT, &note, NULL);
}

bool sigint_is_noted(void)
{
	return is_noted;
}

void sigint_clear(void)
{
	is_noted = 0;
}
