/* opener.h - opens files for a process in the sandbox, which itself can't.
 *
 * The process is forked before any input is read, and has read nothing when it is asked for a file.
 * It does not trust the one that asks: it opens only what can hold the names of functions, so that
 * a decoder that is under control of its input learns nothing else.
 */
#ifndef PD_TOOLS_OPENER_H
#define PD_TOOLS_OPENER_H

#include <stddef.h>
#include <sys/types.h>

#include "recording/debuginfod.h"
#include "pd/symbols.h"

/* A process that may have ended: its number in its own PID namespace, and its user. */
struct opener_writer {
	pid_t inner_pid;
	uid_t user;
};

struct opener {
	const char *sysroot;		/* for PS_PLACE_SYSROOT; NULL: none */
	const char *kallsyms;		/* which the user named; NULL: none */
	int socket;			/* to the process; -1: none, files are opened here */
	struct debuginfod servers;
	/* They may have written files of JIT compilers. */
	const struct opener_writer *writers;
	size_t nr_writers;
	pid_t copier;			/* a process that has copies of such files open; 0: none */
};

#define OPENER_CLOSED { NULL, NULL, -1, DEBUGINFOD_OFF, NULL, 0, 0 }

/* Starts the process. Returns 0, or -1 and errno. */
int opener_start(struct opener *o);
void opener_stop(struct opener *o);

/* Opens a file for reading: an ELF file that is no core dump, a compressed kernel module, the
 * symbols, notes and vdso of the running kernel, or what a JIT compiler wrote as this user, as root
 * or as the user of its process, which is one of `writers` if it has ended, or a copy of it. After
 * "/proc/PID/root" or "/proc/PID/fd/N" the path is resolved inside of that directory; in that of a
 * process /tmp/perf-PID.map has the number that it has there. A file that a process has mapped is
 * opened if the caller may follow its links in /proc/PID/map_files. Files of debuginfod servers are
 * got only if `servers` is on. Returns a descriptor, or -1. */
int opener_open(void *opener, const char *path, enum ps_file_place place);

/* Opens the first of the files that opener_open() would open, and sets *which to its index. */
int opener_open_first(void *opener, const struct ps_candidate *files, size_t n, size_t *which);

/* Returns the mount namespace of this process; inode 0: not known. */
struct ps_namespace opener_mount_namespace(void);

#endif
