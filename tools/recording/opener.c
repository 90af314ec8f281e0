/* opener.c - opens files for a process in the sandbox: see opener.h. */
#include "recording/opener.h"
#include "process/fd_message.h"
#include "process/process_path.h"
#include "recording/vdso.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Files of which the first that can be opened is wanted: for each the place and the path with its
 * end. */
struct request {
	size_t used;
	char bytes[5 * 4096];
};

struct reply {
	uint32_t which;
	char is_open;
};

/* --- what may be opened --- */

static bool is_elf(int fd)
{
	unsigned char start[EI_NIDENT + 2];

	return pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	       memcmp(start, ELFMAG, SELFMAG) == 0 && start[EI_NIDENT] != ET_CORE &&
	       start[EI_NIDENT + 1] != ET_CORE;
}

/* A kernel module that is compressed. */
static bool is_packed_module(int fd, const char *path)
{
	static const struct {
		const char *ending, *magic;
	} kinds[] = {
		{ ".ko.xz", "\xfd" "7zXZ" }, { ".ko.zst", "\x28\xb5\x2f\xfd" },
		{ ".ko.gz", "\x1f\x8b" },
	};
	const size_t n = strlen(path);
	char start[8];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t m = strlen(kinds[i].ending), size = strlen(kinds[i].magic);

		if (n > m && strcmp(path + n - m, kinds[i].ending) == 0)
			return pread(fd, start, size, 0) == (ssize_t)size &&
			       memcmp(start, kinds[i].magic, size) == 0;
	}
	return false;
}

static bool is_of_kernel(const char *path)
{
	return strcmp(path, PS_RUNNING_VDSO) == 0 || strcmp(path, PS_RUNNING_VDSO_32) == 0 ||
	       strcmp(path, "/proc/kallsyms") == 0 || strcmp(path, "/sys/kernel/notes") == 0;
}

/* /proc/PID/stat: when a process began. */
static bool is_stat(const char *path)
{
	static const char head[] = "/proc/";
	const size_t n = sizeof(head) - 1;

	return strncmp(path, head, n) == 0 &&
	       strcmp(path + n + strspn(path + n, "0123456789"), "/stat") == 0;
}

/* /tmp/perf-PID.map. Sets *pid. */
static bool is_perf_map(const char *path, pid_t *pid)
{
	static const char head[] = "/tmp/perf-", tail[] = ".map";
	const size_t n = sizeof(head) - 1, digits = strspn(path + (strlen(path) < n ? 0 : n),
							   "0123456789");

	if (strncmp(path, head, n) != 0 || !digits || strcmp(path + n + digits, tail) != 0)
		return false;
	*pid = (pid_t)strtol(path + n, NULL, 10);
	return true;
}

/* .../jit-PID.dump. Sets *pid. */
static bool is_jitdump(int fd, const char *path, pid_t *pid)
{
	const char *name = strrchr(path, '/');
	char magic[4];

	if (!name || strncmp(name, "/jit-", 5) != 0 ||
	    strcmp(name + 5 + strspn(name + 5, "0123456789"), ".dump") != 0)
		return false;
	*pid = (pid_t)strtol(name + 5, NULL, 10);
	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (memcmp(magic, "JiTD", 4) == 0 || memcmp(magic, "DTiJ", 4) == 0);
}

static bool is_writer(const struct opener *o, pid_t inner_pid, uid_t user)
{
	for (size_t i = 0; i < o->nr_writers; i++)
		if (o->writers[i].inner_pid == inner_pid && o->writers[i].user == user)
			return true;
	return false;
}

/* A file of a JIT compiler: of this user, of root, or of the user whose process it is. */
static bool is_written(const struct opener *o, int fd, const char *path, const struct stat *st)
{
	struct process_path p;
	pid_t inner_pid;

	if (process_path_is_open_in(path, o->copier))
		return true;
	if (process_path_read(path, &p))
		path = p.inside;
	else
		p.pid = 0;
	return (is_perf_map(path, &inner_pid) || is_jitdump(fd, path, &inner_pid)) &&
	       (st->st_uid == geteuid() || st->st_uid == 0 ||
		(p.pid && process_has_user(p.pid, st->st_uid)) ||
		is_writer(o, inner_pid, st->st_uid));
}

/* A copy of kallsyms in a tree of build ids, or the one that the user named. */
static bool is_kallsyms(const struct opener *o, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (o->kallsyms && strcmp(path, o->kallsyms) == 0)
		return true;
	return slash && strcmp(slash, "/kallsyms") == 0 && !strstr(path, "/../");
}

static bool is_allowed(const struct opener *o, int fd, const char *path, enum ps_file_place place)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	switch (place) {
	case PS_PLACE_RUNNING:
		return is_of_kernel(path) || is_stat(path);
	case PS_PLACE_TEMPORARY:
		return is_written(o, fd, path, &st);
	case PS_PLACE_NAMED:
	case PS_PLACE_BUILD_ID:
		return is_elf(fd) || is_packed_module(fd, path) || is_kallsyms(o, path);
	default:
		return is_elf(fd) || is_packed_module(fd, path);
	}
}

static int find_in_root(const char *root, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned int)flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	const int dir = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int fd;

	if (dir < 0)
		return -1;
	fd = (int)syscall(__NR_openat2, dir, path, &how, sizeof(how));
	close(dir);
	return fd;
}

static int look_up(const struct opener *o, const char *path, enum ps_file_place place, int flags)
{
	struct process_path p;

	if (place == PS_PLACE_TEMPORARY && !process_path_is_open_in(path, o->copier))
		flags |= O_NOFOLLOW;
	if (place == PS_PLACE_SYSROOT)
		return find_in_root(o->sysroot, path, flags);
	if (place == PS_PLACE_MAPPED)
		return process_path_is_mapped(path) ? open(path, flags) : -1;
	if (process_path_read(path, &p))
		return find_in_root(p.root, p.inside, flags);
	return place == PS_PLACE_PROCESS ? -1 : open(path, flags);
}

/* Opens the file that was looked up as `seen`, a descriptor of O_PATH. Where /proc is not mounted,
 * it is looked up again. */
static int reopen(const struct opener *o, const char *path, enum ps_file_place place, int seen,
		  const struct stat *st)
{
	char link[32];
	struct stat now;
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
	fd = open(link, FLAGS);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = look_up(o, path, place, FLAGS);
	if (fd < 0 || (fstat(fd, &now) == 0 && now.st_dev == st->st_dev &&
		       now.st_ino == st->st_ino))
		return fd;
	close(fd);
	return -1;
}

/* Opening a device may have an effect, so the type of a file is looked at before. */
static int open_if_regular(const struct opener *o, const char *path, enum ps_file_place place)
{
	const int seen = look_up(o, path, place, O_PATH | O_CLOEXEC);
	struct stat st;
	int fd = -1;

	if (seen < 0)
		return -1;
	if (fstat(seen, &st) == 0 && S_ISREG(st.st_mode))
		fd = reopen(o, path, place, seen, &st);
	close(seen);
	return fd;
}

static int look_here(struct opener *o, const char *path, enum ps_file_place place)
{
	if (place == PS_PLACE_DEBUGINFOD)
		return debuginfod_get(&o->servers, path);
	if (place == PS_PLACE_RUNNING && strcmp(path, PS_RUNNING_VDSO) == 0)
		return vdso_open();
	if (place == PS_PLACE_RUNNING && strcmp(path, PS_RUNNING_VDSO_32) == 0)
		return vdso_open_32();
	return open_if_regular(o, path, place);
}

static int open_here(struct opener *o, const char *path, enum ps_file_place place)
{
	int fd = look_here(o, path, place);

	if (fd >= 0 && !is_allowed(o, fd, path, place)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_first_here(struct opener *o, const struct ps_candidate *files, size_t n,
			   size_t *which)
{
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < n; i++) {
		fd = open_here(o, files[i].path, files[i].place);
		*which = i;
	}
	return fd;
}

/* --- the process --- */

static void send_file(int socket, int fd, uint32_t which)
{
	const struct reply reply = { .which = which, .is_open = fd >= 0 };

	if (!fd_message_send(socket, &reply, sizeof(reply), fd, 0))
		_exit(0);
}

/* Takes the next file from a request whose last byte is 0. Returns false after the last one. */
static bool next_file(const struct request *r, size_t *at, struct ps_candidate *out)
{
	uint32_t place;

	if (r->used - *at <= sizeof(place))
		return false;
	memcpy(&place, r->bytes + *at, sizeof(place));
	out->place = (enum ps_file_place)place;
	out->path = r->bytes + *at + sizeof(place);
	*at += sizeof(place) + strlen(out->path) + 1;
	return true;
}

static void answer_request(struct opener *o, int socket, const struct request *r)
{
	struct ps_candidate file;
	uint32_t which = 0;
	size_t at = 0;
	int fd = -1;

	for (; next_file(r, &at, &file); which++) {
		fd = open_here(o, file.path, file.place);
		if (fd >= 0)
			break;
	}
	send_file(socket, fd, which);
	if (fd >= 0)
		close(fd);
}

/* Until the other end is closed. */
static _Noreturn void serve_files(struct opener *o, int socket)
{
	static struct request r;
	ssize_t n;

	while ((n = read(socket, r.bytes, sizeof(r.bytes))) > 0 || (n < 0 && errno == EINTR)) {
		if (n <= 0)
			continue;
		r.used = (size_t)n;
		r.bytes[r.used - 1] = '\0';
		answer_request(o, socket, &r);
	}
	_exit(0);
}

int opener_start(struct opener *o)
{
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	child = fork();
	if (child == 0) {
		signal(SIGINT, SIG_IGN);	/* it ends with the other process */
		close(ends[0]);
		o->servers.asker = ends[1];
		serve_files(o, ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -1;
	}
	o->socket = ends[0];
	return 0;
}

void opener_stop(struct opener *o)
{
	if (o->socket >= 0)
		close(o->socket);
	o->socket = -1;
}

static int receive_file(int socket, size_t *which)
{
	struct reply reply = { 0 };
	int fd;

	fd_message_receive(socket, &reply, sizeof(reply), &fd);
	*which = reply.which;
	return fd;
}

/* Returns false if there is no room. */
static bool add_file(struct request *r, const struct ps_candidate *file)
{
	const uint32_t place = (uint32_t)file->place;
	const size_t n = strlen(file->path) + 1;

	if (n + sizeof(place) > sizeof(r->bytes) - r->used)
		return false;
	memcpy(r->bytes + r->used, &place, sizeof(place));
	memcpy(r->bytes + r->used + sizeof(place), file->path, n);
	r->used += sizeof(place) + n;
	return true;
}

/* Asks for as many files as fit into a request, from the one at *at on, and sets *at to the one
 * that was opened, or the next one to be asked for. */
static int ask_process(int socket, const struct ps_candidate *files, size_t n, size_t *at)
{
	const size_t first = *at;
	struct request r;
	size_t which;
	int fd;

	r.used = 0;
	while (*at < n && add_file(&r, &files[*at]))
		++*at;
	if (*at == first) {
		++*at;		/* a path that is too long */
		return -1;
	}
	if (write(socket, r.bytes, r.used) < 0)
		return -1;
	fd = receive_file(socket, &which);
	if (fd >= 0)
		*at = first + which;
	return fd;
}

int opener_open_first(void *opener, const struct ps_candidate *files, size_t n, size_t *which)
{
	struct opener *o = opener;
	int fd = -1;

	if (o->socket < 0)
		return open_first_here(o, files, n, which);
	*which = 0;
	while (fd < 0 && *which < n)
		fd = ask_process(o->socket, files, n, which);
	return fd;
}

int opener_open(void *opener, const char *path, enum ps_file_place place)
{
	const struct ps_candidate file = { path, place };
	size_t which;

	return opener_open_first(opener, &file, 1, &which);
}

struct ps_namespace opener_mount_namespace(void)
{
	struct stat st;

	if (stat("/proc/self/ns/mnt", &st))
		return (struct ps_namespace){ 0, 0 };
	return (struct ps_namespace){ st.st_dev, st.st_ino };
}
