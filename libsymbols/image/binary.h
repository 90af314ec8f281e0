/* binary.h - an ELF image and its debug file: all their symbols in one table. */
#ifndef PS_IMAGE_BINARY_H
#define PS_IMAGE_BINARY_H

#include "base/arena.h"
#include "image/elf_file.h"
#include "image/symtab.h"

enum { PS_SOURCES = PS_FROM_FDE + 1 };

struct ps_binary {
	struct pd_budget *budget;
	struct ps_elf image, debug;	/* `elf` is NULL where there is none */
	struct ps_elf minidebug;
	struct pd_buf expanded;		/* the bytes of minidebug */
	struct pd_buf unpacked;		/* those of an image that was compressed */
	struct pd_arena names;		/* made names, of PLT entries */
	struct ps_symtab symbols;
	struct ps_symtab variables;	/* read on first need */
	bool tried_variables;
	bool has[PS_SOURCES];		/* tables that were found */
};

/* Opens the image, from a descriptor or from borrowed bytes. On failure nothing is left to
 * close. */
enum ps_status ps_binary_open_fd(struct ps_binary *b, int fd, struct pd_budget *budget);
/* The same for a kernel module, which may be compressed. */
enum ps_status ps_binary_open_module(struct ps_binary *b, int fd, struct pd_budget *budget);
enum ps_status ps_binary_open_bytes(struct ps_binary *b, struct pd_bytes bytes,
				    struct pd_budget *budget);

/* Adds the separate debug file, before the symbols are read. The caller has made sure that it
 * belongs to the image. */
enum ps_status ps_binary_add_debug_fd(struct ps_binary *b, int fd);

/* Reads all tables of symbols, the image's as well as the debug file's. Damaged tables are left
 * out. Returns PS_OK, or PS_OVER_LIMIT: there are no symbols then. */
enum ps_status ps_binary_read_symbols(struct ps_binary *b);

/* Returns the variables that the image and the debug file name: none without memory. Valid until
 * ps_binary_close(). */
const struct ps_symtab *ps_binary_variables(struct ps_binary *b);

/* Finds the file and checksum that .gnu_debuglink states. Returns NULL if there is none. Valid
 * until ps_binary_close(). */
const char *ps_binary_debuglink(const struct ps_binary *b, uint32_t *crc);

void ps_binary_close(struct ps_binary *b);

/* Computes the checksum of .gnu_debuglink over a file. */
uint32_t ps_debuglink_crc(struct pd_bytes file);

#endif
