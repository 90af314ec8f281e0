/* debuginfod.h - files from debuginfod servers, for the process that opens files.
 *
 * libdebuginfod is loaded on the first request; it knows the servers (DEBUGINFOD_URLS) and keeps
 * what it got in its cache. A server that does not answer is waited for once, then no file is asked
 * for any more.
 */
#ifndef PD_TOOLS_DEBUGINFOD_H
#define PD_TOOLS_DEBUGINFOD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cli_tool;
struct debuginfod_client;

struct debuginfod {
	const struct cli_tool *tool;	/* for messages; NULL: nothing is asked for */
	int asker;			/* socket; when it is closed, waiting ends. -1: none */
	void *library;
	struct debuginfod_client *client;
	_Atomic uint64_t arrived;	/* bytes of the file that is asked for */
	_Atomic bool is_over;		/* nothing more is asked for */
	bool has_stalled, has_failed;
};

#define DEBUGINFOD_OFF { NULL, -1, NULL, NULL, 0, false, false, false }

/* Returns the directory where libdebuginfod keeps files, as an environment of these variables has
 * it; NULL: unknown. `buf` has room for `size` bytes. */
const char *debuginfod_cache(char *buf, unsigned int size);

/* Gets the file that a request names: "debuginfod:BUILD_ID/executable", or .../debuginfo.
 * Reports once if servers can't be asked. Returns a descriptor, or -1. */
int debuginfod_get(struct debuginfod *d, const char *request);

#endif
