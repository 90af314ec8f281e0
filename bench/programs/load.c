/* load.c - what scripts/bench records: load KIND N, and how long it took to the file that
 * LOAD_REPORT names.
 *
 *   faults N            touches N pages that are not there: a page fault each
 *   chains N            the same, at the bottom of 20 calls
 *   syscalls N [M]      N system calls that do nothing, from each of M threads
 *   storm N             N times something with records of its own: maps, names, and at times a fork
 *                       and exec
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 4096, DEPTH = 20, FORK_EVERY = 256 };

static long faults(long n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, size, MADV_NOHUGEPAGE))
		return -1;
	while (n > 0) {
		for (size_t i = 0; i < PAGES && n > 0; i++, n--)
			p[i * page] = 1;
		madvise(p, size, MADV_DONTNEED);
	}
	return munmap(p, size);
}

/* Not the last thing it does: no tail call. */
__attribute__((noinline)) static long deep(long n, int depth)
{
	volatile long result = depth ? deep(n, depth - 1) : faults(n);

	return result;
}

static long chains(long n)
{
	return deep(n, DEPTH);
}

static void *call(void *arg)
{
	for (long n = *(long *)arg; n > 0; n--)
		syscall(SYS_getppid);
	return NULL;
}

static long syscalls(long n, long threads)
{
	pthread_t other[64];
	long started = 0;

	for (; started + 1 < threads && started < 64; started++)
		if (pthread_create(&other[started], NULL, call, &n))
			break;
	call(&n);
	for (long i = 0; i < started; i++)
		pthread_join(other[i], NULL);
	return 0;
}

static long storm(long n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *self = fopen("/proc/self/exe", "r");
	char name[16];

	for (long i = 0; self && i < n; i++) {
		void *p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(self), 0);

		if (p == MAP_FAILED)
			return -1;
		munmap(p, page);
		snprintf(name, sizeof(name), "storm %ld", i % 1000);
		prctl(PR_SET_NAME, name);
		if (i % FORK_EVERY == 0) {
			pid_t pid = fork();

			if (pid == 0) {
				execl("/bin/true", "true", NULL);
				_exit(127);
			}
			waitpid(pid, NULL, 0);
		}
	}
	return self ? fclose(self) : -1;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int report(const struct timespec *start)
{
	const char *path = getenv("LOAD_REPORT");
	FILE *f = path ? fopen(path, "w") : NULL;
	struct timespec end;
	struct rusage u;

	if (!f)
		return path != NULL;
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &u);
	fprintf(f, "%.6f %.6f %.6f\n",
		(double)(end.tv_sec - start->tv_sec) + (double)(end.tv_nsec - start->tv_nsec) / 1e9,
		seconds(u.ru_utime), seconds(u.ru_stime));
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	const long n = argc > 2 ? atol(argv[2]) : 0;
	struct timespec start;
	long failed;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (strcmp(kind, "faults") == 0)
		failed = faults(n);
	else if (strcmp(kind, "chains") == 0)
		failed = chains(n);
	else if (strcmp(kind, "syscalls") == 0)
		failed = syscalls(n, argc > 3 ? atol(argv[3]) : 1);
	else if (strcmp(kind, "storm") == 0)
		failed = storm(n);
	else
		return fprintf(stderr, "usage: load faults|chains|syscalls|storm N\n") ? 2 : 2;
	return failed || report(&start);
}
