/* error.h - errors as values: a pd_error owns nothing, so there is nothing to free. */
#ifndef PD_ERROR_H
#define PD_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PD_API __attribute__((visibility("default")))

/* New codes are appended, none is renumbered. The name without PD_E_ is the `code` in the JSON. */
enum pd_code {
	PD_OK,
	PD_E_IO,		/* read(2) or write(2) failed: `have` is the errno */
	PD_E_NOMEM,		/* malloc failed */
	PD_E_LIMIT,		/* would exceed a limit, mostly of memory */
	PD_E_MAGIC,		/* not a perf.data file */
	PD_E_SIZE,		/* an impossible size or offset */
	PD_E_TRUNCATED,		/* the bytes end before the field does */
	PD_E_COUNT,		/* a count larger than the remaining bytes can hold */
	PD_E_NO_ATTR,		/* a record that belongs to no event */
	PD_E_UNKNOWN_TYPE,	/* a record type or section without a known layout */
	PD_E_CODEC,		/* the compressed stream is damaged */
	PD_E_UNFINISHED,	/* the recorder was killed: no features, and no data size or an
				 * early one */
	PD_E_TRAILING,		/* bytes after the last field */
	PD_E_PAYLOAD,		/* the data after a record is cut short */
	PD_E_GARBAGE,		/* bytes that are not records */
	PD_E_DUPLICATE,		/* the same id or feature twice; the first counts */
	PD_E_FORMAT,		/* the text of a tracepoint format is damaged */
	PD_E_ARGUMENT,		/* an invalid argument or call */
	PD_E_RESTORED,		/* an attribute or its ids were zeroed, or no record of a pipe has
				 * them; the copy in EVENT_DESC is used. Or a terminal has changed
				 * newlines */
	PD_E_MISMATCH,		/* an attribute or its ids differ from the copy in EVENT_DESC; or a
				 * record has the fields of another type, which it is read as */
	PD_E_AGAIN,		/* more bytes are needed, which pd_feed_add() has not yet been
				 * given: no damage, reading can continue */
	PD_E_CANCELLED,		/* pd_reader_options.is_cancelled ended a wait; reading can
				 * continue */
	PD_E_ORDER,		/* records came too late, or without a time, for answers about
				 * the records before them */
};

enum pd_severity {
	PD_NOTE = 1,	/* fully decoded, but unusual */
	PD_DAMAGED,	/* this record or section is partial or opaque; reading continues */
	PD_FATAL,	/* framing is lost; nothing follows */
};

struct pd_error {
	enum pd_code code;
	enum pd_severity severity;
	uint64_t offset;	/* of the damaged record or section in the input, in bytes */
	uint32_t record_type;	/* 0: the container */
	const char *record;	/* name of the record type or section, or NULL; static */
	const char *field;	/* name of the field, or NULL; static. pd_writer_record(),
				 * pd_writer_feature() and encoders set a path,
				 * "branch_stack.entries[3].from", borrowed as `text` is */
	const char *file;	/* "data.3" in a directory, or NULL; borrowed until
				 * pd_reader_free(). NULL or static if the reader could not be
				 * opened */
	uint64_t want, have;	/* bytes that the field needs, bytes that were left */
	uint64_t skipped;	/* input bytes that are in no record because of this */
	const char *text;	/* details, or NULL: the caller's mistake, why bytes are missing,
				 * which other format a file has. Static, but text and path of
				 * writers and encoders are borrowed until they are freed or refuse
				 * values again */
};

/* Returns the name of a code, "TRUNCATED"; "UNKNOWN" for other numbers, never NULL. Static. Safe in
 * any thread. */
PD_API const char *pd_code_name(enum pd_code code);

/* Returns whether memory, or a limit of it, is the reason. Safe in any thread. */
static inline bool pd_code_is_of_memory(enum pd_code code)
{
	return code == PD_E_LIMIT || code == PD_E_NOMEM;
}

/* Writes the error as one line of English, without the input's name, to `buf`: NUL-terminated and
 * cut to `size` bytes. Returns buf. Safe in any thread. */
PD_API char *pd_error_text(const struct pd_error *e, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
