/* viewer.c - show a result: text in a pager, a file in the desktop's program for it. */
#include "process/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum { NOT_STARTED = 127 };

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_OUTPUT << 8;
	return status;
}

_Noreturn static void end_like(int status)
{
	if (WIFSIGNALED(status))
		cli_die_of(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* --- pager --- */

static const char *pager_of_user(void)
{
	const char *pager = getenv("PAGER");

	return pager ? pager : "less";
}

static bool wants_pager(void)
{
	const char *pager = pager_of_user(), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && *pager && strcmp(pager, "cat") != 0 &&
	       !(term && strcmp(term, "dumb") == 0);
}

/* Returns false if the pager's first word is no command. A word with other characters may be one
 * to the shell. */
static bool is_pager_there(void)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_./-+,@%";
	const char *pager = pager_of_user();
	const size_t size = strcspn(pager, " \t");
	char word[4096];
	pid_t pid;

	if (strspn(pager, plain) < size || !size || size >= sizeof(word) ||
	    strcmp(pager, "less") == 0)
		return true;
	snprintf(word, sizeof(word), "%.*s", (int)size, pager);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "command -v \"$1\" >/dev/null 2>&1", "sh", word,
		      (char *)NULL);
		_exit(NOT_STARTED);
	}
	return pid > 0 && wait_for(pid) == 0;
}

/* As git does: less shows colors, and text of one screen without waiting for a key. */
_Noreturn static void run_pager(int input)
{
	const char *pager = pager_of_user();

	dup2(input, STDIN_FILENO);
	close(input);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (strcmp(pager, "less") != 0)
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	execlp("less", "less", (char *)NULL);
	execlp("more", "more", (char *)NULL);
	execlp("cat", "cat", (char *)NULL);
	_exit(NOT_STARTED);
}

/* The terminal sends its signals to all three processes: this one outlives both others. */
_Noreturn static void wait_for_both(pid_t worker, pid_t pager)
{
	int status;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	status = wait_for(worker);
	wait_for(pager);
	end_like(status);
}

bool viewer_page(const struct cli_tool *tool)
{
	int ends[2];
	pid_t pager, worker;

	if (!wants_pager())
		return false;
	if (!is_pager_there()) {
		cli_error(tool, "PAGER: '%s' could not be started", pager_of_user());
		return false;
	}
	if (pipe2(ends, O_CLOEXEC))
		return false;
	pager = fork();
	if (pager == 0)
		run_pager(ends[0]);
	close(ends[0]);
	worker = pager > 0 ? fork() : -1;
	if (worker == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[1]);
		return true;
	}
	close(ends[1]);
	if (worker > 0)
		wait_for_both(worker, pager);
	if (pager > 0)
		wait_for(pager);
	return false;
}

/* --- files --- */

static int run_xdg_open(const char *path)
{
	const pid_t pid = fork();

	if (pid == 0) {
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(NOT_STARTED);
	}
	return pid < 0 ? NOT_STARTED << 8 : wait_for(pid);
}

/* Returns a path that is no option. */
static const char *safe_path(const char *path, char *text, size_t size)
{
	snprintf(text, size, "%s%s", *path == '-' ? "./" : "", path);
	return text;
}

void viewer_open_after(const struct cli_tool *tool, const char *path)
{
	const pid_t worker = fork();
	char text[4096];
	int status;

	if (worker <= 0)
		return;
	status = wait_for(worker);
	if (WIFSIGNALED(status) || WEXITSTATUS(status) > CLI_ERRORS)
		end_like(status);
	if (run_xdg_open(safe_path(path, text, sizeof(text))) == 0)
		end_like(status);
	cli_error(tool, "%s is written, but xdg-open could not open it", path);
	_exit(CLI_OUTPUT);
}
