/* report.c - --flamegraph and --top: record, then show the recording with preport. */
#include "run/report.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127, MOST_ARGUMENTS = 10 };

/* Returns whether a name is one of a flame graph, a page or a picture. */
static bool is_picture(const char *name)
{
	static const char *const ends[] = { ".html", ".svg", ".html.gz", ".svg.gz" };
	const size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (size >= strlen(ends[i]) && strcmp(name + size - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Checks the file of --flamegraph. Returns 0, or an exit status after logging the error. */
static int check_picture(const char *name, const char *command, const struct logger *log)
{
	const char *slash = strrchr(name, '/');

	if (strchr(slash ? slash : name, '.') && !is_picture(name))
		return log_error(log, CLI_USAGE, "'--flamegraph' writes .html and .svg, not '%s': "
				 "preport writes other files of the recording", name);
	if (command && is_picture(command) && access(command, X_OK))
		return log_error(log, CLI_USAGE, "'%s' is no command; the file of a flame graph is "
				 "given with '=': --flamegraph=%s", command, command);
	return 0;
}

int report_prepare(struct settings *o, const char *command, const struct logger *log)
{
	const char *option = o->flamegraph ? "--flamegraph" : o->top ? "--top" : NULL;
	const int status = o->flamegraph ? check_picture(o->flamegraph, command, log) : 0;

	if (status)
		return status;
	if (o->off_cpu)
		o->switch_events = true;
	if (!option && !o->off_cpu)
		return 0;
	/* A stack copy or branch records are chosen with --call-graph. */
	if (!o->callgraph_mode)
		o->callgraph = true;
	if (option && o->output && strcmp(o->output, "-") == 0)
		return log_error(log, CLI_USAGE, "'%s' needs a file: not '-o -'", option);
	if (option && (o->switch_output || o->rotate_triggers.count || o->timestamp_filename))
		return log_error(log, CLI_USAGE, "'%s' needs one file: not --switch-output or "
				 "--timestamp-filename", option);
	/* A stream is the default where stdout is a pipe. */
	if (option && !o->output)
		o->output = "perf.data";
	return 0;
}

/* Sets path to the preport of the same build, or to its name alone. */
static void find_preport(char path[PATH_MAX])
{
	const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[size > 0 ? size : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash && slash + sizeof("/preport") < path + PATH_MAX) {
		memcpy(slash, "/preport", sizeof("/preport"));
		if (access(path, X_OK) == 0)
			return;
	}
	memcpy(path, "preport", sizeof("preport"));
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_OUTPUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_OUTPUT;
}

static int run_preport(char *const *arguments, const char *path,
		       const struct child_signals *signals, const struct logger *log)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		signal(SIGPIPE, signals->on_pipe);
		signal(SIGXFSZ, signals->on_size);
		sigprocmask(SIG_SETMASK, &signals->mask, NULL);
		execvp(path, arguments);
		_exit(NOT_STARTED);
	}
	status = pid < 0 ? NOT_STARTED : wait_for(pid);
	if (status != NOT_STARTED)
		return status;
	return log_error(log, CLI_OUTPUT, "preport could not be started; the recording is there");
}

int report_run(const struct settings *o, const char *recording,
	       const struct child_signals *signals, const struct logger *log)
{
	char path[PATH_MAX];
	const char *arguments[MOST_ARGUMENTS] = { "preport" };
	int n = 1, status = 0;

	find_preport(path);
	if (o->off_cpu)
		arguments[n++] = "--wall";
	if (o->top) {
		arguments[n] = "--";
		arguments[n + 1] = recording;
		status = run_preport((char *const *)arguments, path, signals, log);
	}
	if (!o->flamegraph)
		return status;
	arguments[n++] = "--format=flamegraph";
	arguments[n++] = "-o";
	arguments[n++] = o->flamegraph;
	arguments[n++] = "--";
	arguments[n++] = recording;
	arguments[n] = NULL;
	n = run_preport((char *const *)arguments, path, signals, log);
	if (n <= CLI_ERRORS)
		log_footer(log, "Wrote %s", o->flamegraph);
	return status ? status : n;
}
