/* jit_copies.h - copies of what JIT compilers wrote below other root directories, made when their
 * processes end: a container's files are removed soon afterwards, and a descriptor of one would
 * keep its mounts in use.
 *
 * The file systems are others' and may not answer: a process of its own reads them, and keeps the
 * copies in memory.
 */
#ifndef RECORD_JIT_COPIES_H
#define RECORD_JIT_COPIES_H

#include "base/deadline.h"
#include "base/file_process.h"
#include "base/held_files.h"

struct jit_copies {
	struct file_process process;
};

#define JIT_COPIES_NONE { FILE_PROCESS_NONE }

/* Notes a file that a process mapped, in case that it is its jitdump. Does not wait. */
void jit_copies_note(struct jit_copies *c, const struct held_process *process, const char *path);
/* Copies the map and the jitdump of a process that has ended. Does not wait. */
void jit_copies_make(struct jit_copies *c, const struct held_process *process);
/* Stores the copies, of which the oldest may be left out. They last until jit_copies_close(). */
void jit_copies_list(struct jit_copies *c, const struct deadline *deadline,
		     struct held_files *out);
void jit_copies_close(struct jit_copies *c);

#endif
