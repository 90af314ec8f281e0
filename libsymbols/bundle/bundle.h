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
};

/* Reads a section in either byte order. Texts are borrowed from it. Returns the images, which are
 * valid as long as the arena, and sets *n. Damage ends it. */
struct ps_bundle_image *ps_bundle_read(struct pd_bytes section, struct pd_arena *arena, size_t *n);

/* Finds the function at an address as it was at `time`, or NULL. */
const struct ps_bundle_function *ps_bundle_find(const struct ps_bundle_image *image,
						uint64_t address, uint64_t time);

/* Appends a section in this machine's byte order. */
void ps_bundle_write(struct pd_buf *out, const struct ps_bundle_image *images, size_t n,
		     enum ps_bundle_is is);

#endif
