/* mapped_inode.h - the numbers of a file that the kernel has in maps. */
#ifndef RECORD_MAPPED_INODE_H
#define RECORD_MAPPED_INODE_H

#include <stdbool.h>
#include <stdint.h>

/* A file as MMAP2 records have it. On stacked file systems, stat(2) has another device. */
struct mapped_inode {
	uint32_t maj, min;
	uint64_t ino;
};

/* Maps the file to see its numbers; none of it is read. Returns false if that is not possible. */
bool mapped_inode_of(int fd, struct mapped_inode *out);

#endif
