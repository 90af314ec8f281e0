/* planter.c - an attacker of the tests: makes traps at names that a program of another user is
 * about to write to.
 *
 *	planter swap NAME TARGET SECONDS	replaces a directory NAME by a link to TARGET
 *	planter churn NAME TARGET SECONDS	NAME is a link to TARGET whenever it can be
 *
 * Prints how often it did so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int swap(const char *name, const char *target)
{
	char aside[4096];
	struct stat st;
	static int n;

	if (lstat(name, &st) || !S_ISDIR(st.st_mode))
		return 0;
	snprintf(aside, sizeof(aside), "aside.%d", n++);
	return rename(name, aside) == 0 && symlink(target, name) == 0;
}

static int churn(const char *name, const char *target)
{
	char aside[4096];
	static int n;

	if (symlink(target, name) == 0)
		return 1;
	snprintf(aside, sizeof(aside), "aside.%d", n++ % 8);
	rename(name, aside);
	return 0;
}

int main(int argc, char **argv)
{
	const time_t end = argc == 5 ? time(NULL) + atoi(argv[4]) : 0;
	long traps = 0;

	if (argc != 5)
		return 2;
	puts("ready");
	fflush(stdout);
	while (time(NULL) < end)
		traps += strcmp(argv[1], "swap") == 0 ? swap(argv[2], argv[3])
						      : churn(argv[2], argv[3]);
	printf("%ld\n", traps);
	return 0;
}
