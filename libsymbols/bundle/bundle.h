/* bundle.h - names that travel in the recording: feature PD_SYMBOLS, both ways. Its layout is in
 * libdecode/layout/features.c. */
#ifndef PS_BUNDLE_BUNDLE_H
#define PS_BUNDLE_BUNDLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "pd/symbols.h"

#define PS_NO_EXTENT UINT64_MAX

struct ps_bundle_function {
	uint64_t base;		/* start, as an address like those of ps_bundle_image */
	uint64_t extent;	/* without a name: start in the image, or PS_NO_EXTENT */
	struct pd_bytes name;	/* as in the symbol table; empty: none */
	uint32_t why;		/* without a name: enum pd_why */
};

/* An inlined function, and where it was called. */
struct ps_bundle_call {
	uint32_t name, file;	/* numbers in names and files, from 1; 0: unknown */
	uint32_t line;		/* 0: unknown */
	uint32_t caller;	/* number in calls, from 1, lower than its own; 0: the function of
				 * the address */
};

struct ps_bundle_texts {
	struct pd_bytes *items;	/* each is followed by a NUL */
	size_t nr;
};

struct ps_bundle_image {
	int32_t pid;		/* of JIT code; -1: a file or the kernel */
	uint64_t ino;		/* 0: unknown */
	struct pd_bytes path, build_id;
	struct ps_bundle_function *functions;
	size_t nr_functions;
	uint64_t *addresses;	/* sorted */
	uint32_t *hits;		/* by address: index of its function */
	uint64_t *times;	/* by address, sorted for equal ones; NULL: none */
	size_t nr;		/* addresses */
	struct ps_bundle_texts names, files;
	struct ps_bundle_call *calls;
	size_t nr_calls;
	/* All by address, or NULL: the number of the innermost call, from 1, or 0; the line, and
	 * the number of its file, likewise. */
	uint32_t *inlined, *lines, *line_files;
	struct pd_bytes *rows;	/* of call frame information: see unwind/rows.h */
	size_t nr_rows;
	uint64_t *unwound;	/* addresses, sorted */
	uint32_t *unwound_rows;	/* by address: index of its row */
	size_t nr_unwound;
};

/* The function at an address. */
struct ps_bundle_hit {
	const struct ps_bundle_function *function;
	size_t at;		/* the address's index */
};

static inline uint32_t ps_bundle_number(const uint32_t *by_address, size_t at)
{
	return by_address ? by_address[at] : 0;
}

struct ps_bundle_images {
	struct ps_bundle_image *items;
	size_t nr;
	bool is_whole;		/* damage, or a lack of memory, ends them */
	bool has_inlined;	/* as far as the recorder had debug information, all of it */
};

/* Reads a section in either byte order. Texts are borrowed from it; the images are valid as long as
 * the arena. */
struct ps_bundle_images ps_bundle_read(struct pd_bytes section, struct pd_arena *arena);

/* Finds the function at an address as it was at `time`. Returns false if there is none. */
bool ps_bundle_find(const struct ps_bundle_image *image, uint64_t address, uint64_t time,
		    struct ps_bundle_hit *out);

/* The same for the last address up to that one. */
bool ps_bundle_find_last(const struct ps_bundle_image *image, uint64_t address,
			 struct ps_bundle_hit *out);

/* Appends a section in this machine's byte order. */
void ps_bundle_write(struct pd_buf *out, const struct ps_bundle_image *images, size_t n,
		     enum ps_bundle_is is);

#endif
