/* file_process.c - fork, let go of everything, and wait for answers no longer than a deadline. */
#include "base/file_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/priority.h"

enum {
	SOCKET = 3,
	FILE_COPY = 4,
	FIRST_OTHER = 5,
	FDS_MOST = 1 << 16,	/* that are closed one by one */
	STEP_MS = 50,		/* between two looks at the deadline, and at its `hurry` */
};

static void close_from(int first)
{
	struct rlimit limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > FDS_MOST)
		limit.rlim_cur = FDS_MOST;
	for (int fd = first; fd < (int)limit.rlim_cur; fd++)
		close(fd);
}

/* A process that is stuck must not keep pipes open whose readers wait for their end, nor counters.
 * Its messages would be those of a sanitizer. */
static void let_go(int socket, int file)
{
	const int device = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* a root directory may be without it */
	const int null = device >= 0 ? device : memfd_create("null", MFD_CLOEXEC);
	const int high_socket = fcntl(socket, F_DUPFD_CLOEXEC, FIRST_OTHER);
	const int high_file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, FIRST_OTHER);

	if (null < 0 || high_socket < 0 || (file >= 0 && high_file < 0))
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	dup2(null, STDERR_FILENO);
#endif
	dup2(high_socket, SOCKET);
	dup2(high_file < 0 ? null : high_file, FILE_COPY);
	close_from(FIRST_OTHER);
}

bool file_process_start(struct file_process *p, void (*run)(void *arg, int socket, int file),
			void *arg, int file)
{
	const pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	p->pid = fork();
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		priority_reset();
		let_go(ends[1], file);
		run(arg, SOCKET, file < 0 ? -1 : FILE_COPY);
		_exit(0);
	}
	close(ends[1]);
	p->socket = ends[0];
	if (p->pid > 0)
		return true;
	file_process_end(p);
	return false;
}

/* Returns whether there are bytes, or the end. */
static bool wait_for_bytes(int socket, const struct deadline *deadline)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	while (poll(&fd, 1, STEP_MS) <= 0)
		if (deadline_is_over(deadline))
			return false;
	return true;
}

enum file_answer file_process_receive(const struct file_process *p, void *bytes, size_t size,
				      const struct deadline *deadline)
{
	uint8_t *at = bytes;

	while (size) {
		ssize_t n;

		if (!wait_for_bytes(p->socket, deadline))
			return FILE_SILENT;
		n = recv(p->socket, at, size, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return FILE_ENDED;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return FILE_ANSWERED;
}

bool file_process_send(int socket, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		const ssize_t n = write(socket, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* Does not wait: its parent, init after this process, gets its status once it ends. */
void file_process_end(struct file_process *p)
{
	if (p->socket >= 0)
		close(p->socket);
	p->socket = -1;
	if (p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, WNOHANG);
	p->pid = 0;
}
