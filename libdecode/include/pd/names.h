/* names.h - functions at an address, from a source other than the recording: pd/symbols.h has one.
 *
 * Threads: a namer's functions may be called by several threads at once.
 */
#ifndef PD_NAMES_H
#define PD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_location;
struct pd_record;

struct pd_function {
	const char *symbol;		/* readable; NULL: unknown. Not necessarily UTF-8 */
	const char *linkage_name;	/* as the file has it; NULL, or the same as symbol, if it is
					 * not mangled */
	const char *file;		/* NULL: unknown */
	uint32_t line;			/* 0: unknown */
	uint32_t reserved;
};

/* The functions at an address. File and line are where each is at that address: the line
 * itself for the innermost, the call for the others. */
struct pd_frame_names {
	const struct pd_function *functions;	/* innermost first: all but the last are inlined
						 * into the next */
	size_t nr_functions;		/* 0: no name, see why */
	uint64_t offset;		/* of the address, from the start of the last function or
					 * of the extent */
	uint64_t extent;		/* without a name, if has_extent: start of the function, as
					 * an address in the image */
	uint8_t why;			/* enum pd_why: PD_WHY_FOUND with a name */
	bool has_extent;
	bool is_unverified;		/* nothing shows that the file is the recorded one */
	uint8_t reserved;
	uint32_t reserved2;
};

enum { PD_SOURCES_MAX = 16 };

/* Where the names of an image come from. */
struct pd_image_file {
	const char *match;		/* how the file is known to be the recorded one, "BUILD_ID";
					 * NULL: no file was used */
	const char *path;		/* of the file; NULL: none */
	const char *debug_path;		/* of its separate debug file; NULL: none */
	struct pd_bytes other_id;	/* build id of a file that was refused; size 0: none */
	size_t nr_sources;		/* of sources, "SYMTAB" */
	const char *sources[PD_SOURCES_MAX];
	uint8_t why;			/* enum pd_why: why no file was used; PD_WHY_LIMIT with a
					 * file: not all its debug information fits into memory */
};

/* How many samples and frames are in an image. */
struct pd_image_frames {
	uint64_t samples;	/* with their ip in it */
	uint64_t frames, named;
	uint8_t why;	/* enum pd_why: the reason of those without one; of several the last in its
			 * order */
};

/* Samples whose copied stack ends for one reason. */
struct pd_end_count {
	const char *end;	/* "BOTTOM"; static */
	uint64_t samples;
};

/* How many frames have a name. */
struct pd_name_totals {
	const uint64_t *by_why;			/* frames, by enum pd_why */
	size_t nr_why;
	const struct pd_image_frames *images;	/* by index; NULL: not known */
	size_t nr_images;
	const struct pd_end_count *ends;
	size_t nr_ends;
};

enum pd_linkage_names { PD_LINKAGE_NAMES_HIDDEN, PD_LINKAGE_NAMES_SHOWN };

struct pd_namer {
	size_t size;		/* PD_NAMER() sets it */
	/* Fills in *out for an address of process `pid`. Its pointers must stay valid. */
	void (*frame)(void *ctx, int32_t pid, const struct pd_location *l,
		      struct pd_frame_names *out);
	/* Fills in *out for an image of the history. Returns false if it was never asked for. */
	bool (*image)(void *ctx, uint32_t index, struct pd_image_file *out);
	void *ctx;
	enum pd_linkage_names linkage_names;
	/* Locates the addresses of a sample in place of pd_history_frames(), its copied stack
	 * unwound. Sets *end to the word that says why the stack ends there, "BOTTOM", or "". Each
	 * call is for another reader. NULL: stacks are not unwound. */
	size_t (*frames)(void *ctx, const struct pd_record *sample, struct pd_location *out,
			 size_t capacity, const char **end);
	/* Called once when all names were found, with totals_ctx. *totals is valid during the call.
	 * May be NULL. */
	void (*totals)(void *totals_ctx, const struct pd_name_totals *totals);
	void *totals_ctx;
	/* Returns 0 if an address of process `pid` has the same names at any time; else a number
	 * for the names at l->time, of which all are times of the recording. JIT compilers use
	 * memory again. NULL: 0 everywhere. */
	uint64_t (*since)(void *ctx, int32_t pid, const struct pd_location *l);
};
#define PD_NAMER(...) PD_OPTIONS_OF(pd_namer, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
