/* storm.c - the load of scripts/soak: storm SECONDS THREADS MEGABYTES
 *
 * Until the time is over, or SIGTERM: two processes fork children that exit at once, one in sixteen
 * after an exec; one process has THREADS threads and replaces them in turn; one touches and frees
 * MEGABYTES. At the end a line for each process that has children or threads, "forks PID COUNT" or
 * "threads PID COUNT": what it made, all of which has ended.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FORKERS = 2, EXEC_EVERY = 16, STACK = 64 * 1024, PAUSE_US = 200 };

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(int fd, const char *what, long count)
{
	char line[64];
	const int n = snprintf(line, sizeof(line), "%s %d %ld\n", what, (int)getpid(), count);

	if (write(fd, line, (size_t)n) != n)
		_exit(1);
}

static void fork_children(int fd, double end)
{
	long count = 0;

	prctl(PR_SET_NAME, "storm-forker");
	while (!stopped && now() < end) {
		const pid_t pid = fork();

		if (pid == 0) {
			if (count % EXEC_EVERY == 0)
				execl("/bin/true", "storm-true", (char *)NULL);
			_exit(0);
		}
		count += pid > 0;
		while (waitpid(-1, NULL, 0) > 0)
			;
		usleep(PAUSE_US);
	}
	report(fd, "forks", count);
}

struct slot {
	pthread_t thread;
	sem_t ends;
	int is_used;
};

static void *wait_for_end(void *arg)
{
	struct slot *slot = arg;

	while (sem_wait(&slot->ends))
		;
	return NULL;
}

static void end_thread(struct slot *slot)
{
	if (!slot->is_used)
		return;
	sem_post(&slot->ends);
	pthread_join(slot->thread, NULL);
	slot->is_used = 0;
}

static void replace_threads(int fd, double end, long n)
{
	struct slot *slots = calloc((size_t)n, sizeof(*slots));
	pthread_attr_t small;
	long count = 0;

	prctl(PR_SET_NAME, "storm-threads");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	for (long i = 0; slots && !stopped && now() < end; i = (i + 1) % n) {
		end_thread(&slots[i]);
		sem_init(&slots[i].ends, 0, 0);
		slots[i].is_used =
			!pthread_create(&slots[i].thread, &small, wait_for_end, &slots[i]);
		count += slots[i].is_used;
		if (i % 64 == 0)
			usleep(PAUSE_US);
	}
	for (long i = 0; slots && i < n; i++)
		end_thread(&slots[i]);
	report(fd, "threads", count);
	free(slots);
}

static void press_memory(double end, size_t megabytes)
{
	const size_t size = megabytes << 20;

	prctl(PR_SET_NAME, "storm-memory");
	while (!stopped && now() < end) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		for (size_t at = 0; p != MAP_FAILED && at < size && !stopped; at += 4096)
			p[at] = 1;
		if (p != MAP_FAILED)
			munmap(p, size);
		usleep(100000);
	}
}

int main(int argc, char **argv)
{
	const double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	const long threads = argc > 2 ? atol(argv[2]) : 100;
	const size_t megabytes = argc > 3 ? (size_t)atol(argv[3]) : 64;
	int pipes[2];

	if (threads < 1 || pipe(pipes))
		return 2;
	signal(SIGTERM, stop);
	for (int i = 0; i < FORKERS + 2; i++) {
		if (fork())
			continue;
		if (i < FORKERS)
			fork_children(pipes[1], end);
		else if (i == FORKERS)
			replace_threads(pipes[1], end, threads);
		else
			press_memory(end, megabytes);
		_exit(0);
	}
	close(pipes[1]);
	while (wait(NULL) > 0)
		;
	for (char text[4096];;) {
		const ssize_t n = read(pipes[0], text, sizeof(text));

		if (n <= 0 || fwrite(text, 1, (size_t)n, stdout) != (size_t)n)
			break;
	}
	return 0;
}
