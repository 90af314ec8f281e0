/* Stands for an attacker's code: preloaded into a tool, it comes alive when the tool writes, and
 * tries what the variable INTRUDER says, on the path INTRUDER_PATH. The outcome goes to
 * stderr.
 *
 * With INTRUDER_AT, it comes alive in the recorder's process that looks up names: when that
 * receives its first file ("file"), or has sent its names, but not yet the inlined functions
 * ("names"). That process has no stderr: the outcome goes to the file INTRUDER_REPORT, which
 * exists. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_SIZE = 100, TO_RECORDER = 3 };

static const char *path;
static char *report;		/* shared memory: the process can't write files */

static long run_program(void)
{
	pid_t child = fork();	/* without a sandbox the tool goes on */
	char *const argv[] = { (char *)"true", NULL };

	if (child)
		return child;
	execve("/bin/true", argv, NULL);
	_exit(1);
}

static long exec_here(void)
{
	char *const argv[] = { (char *)"echo", (char *)"intruder: echo runs", NULL };

	return execve("/bin/echo", argv, NULL);
}

static long make_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long make_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM, 0);
}

static long be_traced(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long kill_parent(void)
{
	return kill(getppid(), 0);
}

static long signal_parent(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0);
}

static long read_file(void)
{
	return open(path, O_RDONLY);
}

static long write_file(void)
{
	return open(path, O_WRONLY | O_CREAT, 0600);
}

static long append_file(void)
{
	return open(path, O_RDWR | O_APPEND);
}

static long make_nameless(void)
{
	return open(path, O_RDWR | O_TMPFILE, 0600);
}

static long make_unlinkable(void)
{
	return open(path, O_RDWR | O_TMPFILE | O_EXCL, 0600);
}

static long remove_file(void)
{
	return unlink(path);
}

static long move_file(void)
{
	char other[4096];

	snprintf(other, sizeof(other), "%s.moved", path);
	return rename(path, other);
}

static long list_directory(void)
{
	DIR *dir = opendir(path);

	return dir ? closedir(dir) : -1;
}

static long change_mode(void)
{
	return chmod(path, 0777);
}

static long make_code(void)
{
	const int rights = PROT_READ | PROT_WRITE | PROT_EXEC;

	return mmap(NULL, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long turn_into_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static long type_into_terminal(void)
{
	const int got = ioctl(STDIN_FILENO, TIOCSTI, "x");

	return got && errno == ENOTTY ? 0 : got;	/* the kernel was asked */
}

static void *nothing(void *p)
{
	return p;
}

static long start_thread(void)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, nothing, NULL);
	return errno ? -1 : pthread_join(t, NULL);
}

static long crash(void)
{
	__builtin_trap();
}

enum { LONG_US = 1300000 };	/* more CPU time than there is for names */

static long take_long(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 1000000 * LONG_US;

	while (clock() < end)
		;
	return 0;
}

/* As on a machine that has other work. */
static long wait_long(void)
{
	return usleep(LONG_US);
}

static long take_for_ever(void)
{
	while (usleep(1000000) == 0)
		;
	return -1;
}

/* The answer that precedes names, of a kind that there is not. */
static long lie(void)
{
	const unsigned long long answer[2] = { 8, 0x7fffffff };

	syscall(SYS_write, TO_RECORDER, answer, sizeof(answer));
	return syscall(SYS_write, TO_RECORDER, answer, 8) == 8 ? take_for_ever() : -1;
}

static const struct {
	const char *name;
	long (*deed)(void);
} deeds[] = {
	{ "run", run_program },		{ "exec", exec_here },
	{ "socket", make_socket },	{ "unix", make_unix_socket },
	{ "trace", be_traced },		{ "kill", kill_parent },
	{ "tgkill", signal_parent },	{ "read", read_file },
	{ "write", write_file },	{ "append", append_file },
	{ "nameless", make_nameless },	{ "unlinkable", make_unlinkable },
	{ "remove", remove_file },	{ "move", move_file },
	{ "list", list_directory },	{ "mode", change_mode },
	{ "code", make_code },		{ "turn", turn_into_code },
	{ "type", type_into_terminal }, { "thread", start_thread },
	{ "crash", crash },		{ "long", take_long },
	{ "wait", wait_long },
	{ "for ever", take_for_ever },	{ "lie", lie },
};

static void intrude(void)
{
	static int once;
	const char *name = getenv("INTRUDER");
	char line[REPORT_SIZE];

	if (once++ || !name)
		return;
	path = getenv("INTRUDER_PATH");
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		if (strcmp(deeds[i].name, name) != 0)
			continue;
		errno = 0;
		if (report)
			strcpy(report, "intruder: tries\n");
		snprintf(line, sizeof(line), "intruder: %s\n",
			 deeds[i].deed() < 0 ? strerror(errno) : "done");
		if (report)
			strcpy(report, line);
		else
			syscall(SYS_write, STDERR_FILENO, line, strlen(line));
	}
}

__attribute__((constructor)) static void share_report(void)
{
	const char *name = getenv("INTRUDER_REPORT");
	const int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	report = mmap(NULL, REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

/* --- in the recorder --- */

static int files;		/* that were received, which no other process does */

static int is_at(const char *moment)
{
	const char *at = getenv("INTRUDER_AT");

	return at && strcmp(at, moment) == 0;
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
	if (!files++ && is_at("file"))
		intrude();
	return syscall(SYS_recvmsg, socket, message, flags);
}

/* The names are two writes: their size, and they. */
static void count_writes(int fd)
{
	static int writes;

	if (files && fd == TO_RECORDER && ++writes == 2 && is_at("names"))
		intrude();
}

/* --- in the tools --- */

ssize_t write(int fd, const void *bytes, size_t size)
{
	if (getenv("INTRUDER_AT")) {
		const ssize_t n = syscall(SYS_write, fd, bytes, size);

		count_writes(fd);
		return n;
	}
	if (fd != STDERR_FILENO)
		intrude();
	return syscall(SYS_write, fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	if (!getenv("INTRUDER_AT"))
		intrude();
	return syscall(SYS_pwrite64, fd, bytes, size, at);
}

/* The name with 64-bit file offsets. */
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) __attribute__((alias("pwrite")));
