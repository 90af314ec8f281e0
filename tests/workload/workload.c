/* workload.c - does what the recorder's tests look for in a recording: WORD NUMBER [WORD
 * NUMBER]... */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

volatile long watched;			/* for breakpoints */

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Three frames to find in a call chain. */
__attribute__((noinline)) long spin_inner(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) long spin_middle(long n)
{
	return spin_inner(n) + 1;
}

__attribute__((noinline)) void spin(long ms)
{
	long end = cpu_ms() + ms;

	while (cpu_ms() < end)
		spin_middle(10000);
}

/* For probes: returns what it was given, plus one. */
__attribute__((noinline)) long probed(long value)
{
	__asm__ volatile("" ::: "memory");
	return value + 1;
}

static void call(long n)
{
	for (long i = 0; i < n; i++)
		probed(i);
}

static void store(long n)
{
	for (long i = 0; i < n; i++)
		watched = i;
}

/* A page fault each. */
static void touch(long pages)
{
	size_t size = (size_t)pages * 4096;
	volatile char *p =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)p, size, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		p[i * 4096] = 1;
	munmap((void *)p, size);
}

/* With a stack that compresses to nothing less: another one each time. */
static void noise(long n)
{
	volatile unsigned char random[8192];

	for (long i = 0; i < n; i++) {
		for (size_t at = 0; at < sizeof(random); at += 256)
			syscall(SYS_getrandom, random + at, 256, 0);
		touch(1);
	}
}

static void forks(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			spin(5);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void *thread(void *name)
{
	prctl(PR_SET_NAME, name);
	spin(5);
	return NULL;
}

static void threads(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_t t;
		char name[16];

		snprintf(name, sizeof(name), "thread-%d", (int)i % 10);
		pthread_create(&t, NULL, thread, name);
		pthread_join(t, NULL);
	}
}

/* Executable maps: anonymous, from memory, deleted. */
static void maps(long n)
{
	for (long i = 0; i < n; i++) {
		char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fd = memfd_create("code", MFD_CLOEXEC);

		mprotect(p, 4096, PROT_READ | PROT_EXEC);
		munmap(p, 4096);
		if (ftruncate(fd, 4096) == 0)
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		close(fd);
	}
}

static void namespaces(long n)
{
	for (long i = 0; i < n; i++)
		if (unshare(CLONE_NEWUTS))
			perror("unshare");
}

/* A socket filter that lets everything pass. */
static void bpf(long n)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 }, { .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2 };

	attr.insns = (unsigned long)code;
	attr.license = (unsigned long)"GPL";
	memcpy(attr.prog_name, "workload", 9);
	for (long i = 0; i < n; i++) {
		int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

		if (fd < 0)
			perror("bpf");
		close(fd);
	}
}

static void cgroups(long n)
{
	const char *directory = getenv("WORKLOAD_CGROUPS");

	for (long i = 0; directory && i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/workload-%d-%ld", directory, (int)getpid(), i);
		if (mkdir(path, 0755))
			perror(path);
		rmdir(path);
	}
}

/* Forth and back between two processes. */
static void switches(long n)
{
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	if (pipe(there) || pipe(back))
		return;
	pid = fork();
	if (!pid) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			if (write(back[1], &byte, 1) < 0)
				break;
		_exit(0);
	}
	for (long i = 0; i < n; i++)
		if (write(there[1], &byte, 1) < 0 || read(back[0], &byte, 1) < 0)
			break;
	close(there[1]);
	waitpid(pid, NULL, 0);
	close(there[0]);
	close(back[0]);
	close(back[1]);
}

static void getppids(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void comm(long n)
{
	char name[16];

	snprintf(name, sizeof(name), "named %ld", n);
	prctl(PR_SET_NAME, name);
}

static void run_on(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(3);
}

static void rest(long ms)
{
	usleep((useconds_t)ms * 1000);
}

static void say(long n)
{
	printf("%ld\n", n);
	fflush(stdout);
}

/* Until that many bytes were read, or input ends. */
static void wait_for_input(long n)
{
	char byte;

	for (long i = 0; i < n; i++)
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return;
}

static void leave(long status)
{
	exit((int)status);
}

static void die(long number)
{
	raise((int)number);
}

/* So many more that wait; they end when a line is read, or input ends. */
static void crowd(long n)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return;
	for (long i = 0; i < n; i++) {
		if (fork())
			continue;
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	say(n);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		perror("stdin");
	close(ends[1]);
	while (wait(NULL) > 0)
		;
}

static const struct { const char *word; void (*run)(long);
} words[] = {
	{ "spin", spin },      { "call", call },	  { "store", store },
	{ "touch", touch },    { "fork", forks },	  { "thread", threads },
	{ "map", maps },       { "unshare", namespaces }, { "bpf", bpf },
	{ "cgroup", cgroups }, { "switch", switches },	  { "getppid", getppids },
	{ "noise", noise },    { "comm", comm },	  { "sleep", rest },
	{ "say", say },	       { "exit", leave },	  { "raise", die },
	{ "crowd", crowd },    { "cpu", run_on },	  { "wait", wait_for_input },
};

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		size_t w = 0;

		while (w < sizeof(words) / sizeof(words[0]) && strcmp(words[w].word, argv[i]) != 0)
			w++;
		if (w == sizeof(words) / sizeof(words[0]))
			return 2;
		words[w].run(atol(argv[i + 1]));
	}
	return 0;
}
