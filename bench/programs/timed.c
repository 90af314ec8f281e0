/* timed.c - runs a command and says what it took: timed OUT TIMEOUT COMMAND [ARG...].
 *
 * To OUT: wall, user and system seconds, peak memory in KiB, exit status (128 and the signal, 124
 * when time ran out). A small program of its own, because a child's peak begins with that of the
 * program that forked it. User and system seconds include those of processes that the command
 * started and did not wait for, such as perf's addr2line, if they end soon after it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t late;
static volatile pid_t child;

static void on_alarm(int sig)
{
	(void)sig;
	late = 1;
	kill(-child, SIGKILL);
}

/* Adds the times of processes that the command left, for two seconds at most. */
static void add_orphans(struct rusage *sum)
{
	const struct timespec pause = { 0, 10000000 };
	struct rusage u;
	int status;
	pid_t pid;

	for (int turns = 0; turns < 200; turns++) {
		while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0) {
			timeradd(&sum->ru_utime, &u.ru_utime, &sum->ru_utime);
			timeradd(&sum->ru_stime, &u.ru_stime, &sum->ru_stime);
		}
		if (pid < 0)
			return;
		nanosleep(&pause, NULL);
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	const struct sigaction alarmed = { .sa_handler = on_alarm };
	struct timespec start, end;
	struct rusage u;
	int status;
	FILE *out;

	if (argc < 4)
		return fprintf(stderr, "usage: timed OUT TIMEOUT COMMAND [ARG...]\n") ? 2 : 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (child < 0)
		return 1;
	setpgid(child, child);
	sigaction(SIGALRM, &alarmed, NULL);
	alarm((unsigned int)atoi(argv[2]));
	while (wait4(child, &status, 0, &u) < 0)
		if (errno != EINTR)
			return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	alarm(0);
	add_orphans(&u);
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.6f %.6f %.6f %ld %d\n",
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9,
		seconds(u.ru_utime), seconds(u.ru_stime), u.ru_maxrss,
		late		      ? 124
		: WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				      : WEXITSTATUS(status));
	return fclose(out) != 0;
}
