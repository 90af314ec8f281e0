/* error.h - what can go wrong, as values: nothing in them is to be freed. */
#ifndef PD_ERROR_H
#define PD_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PD_API __attribute__((visibility("default")))

/* Appended to, never renumbered. The name without PD_E_ is the `code` of the JSON. */
enum pd_code {
	PD_OK,
	PD_E_IO,		/* read(2) or write(2) failed: `have` is the errno */
	PD_E_NOMEM,		/* malloc failed */
	PD_E_LIMIT,		/* would pass the memory limit */
	PD_E_MAGIC,		/* not a perf.data file */
	PD_E_SIZE,		/* a size or offset that can't be */
	PD_E_TRUNCATED,		/* the bytes end before the field does */
	PD_E_COUNT,		/* a count that the bytes left can't hold */
	PD_E_NO_ATTR,		/* a record that belongs to no attribute */
	PD_E_UNKNOWN_TYPE,	/* a record type or section nobody has described */
	PD_E_CODEC,		/* the compressed stream is damaged */
	PD_E_UNFINISHED,	/* the recorder was killed: no features, no data size or one that grew with the records */
	PD_E_TRAILING,		/* bytes after the last field */
	PD_E_PAYLOAD,		/* the data behind a record is short */
	PD_E_GARBAGE,		/* bytes that are no records */
	PD_E_DUPLICATE,		/* the same id or feature twice; the first counts */
	PD_E_FORMAT,		/* a tracepoint's format text is damaged */
	PD_E_ARGUMENT,		/* the caller asked for what can't be */
	PD_E_RESTORED,		/* zeros where an attribute was; EVENT_DESC's copy is used */
	PD_E_MISMATCH,		/* an attribute differs from its copy in EVENT_DESC */
};

enum pd_severity {
	PD_NOTE = 1,	/* fully decoded, but odd */
	PD_DAMAGED,	/* this record or section is partial or opaque; the stream goes on */
	PD_FATAL,	/* framing is lost; nothing follows */
};

struct pd_error {
	enum pd_code code;
	enum pd_severity severity;
	uint64_t offset;	/* in the input: of the record or section that is damaged */
	uint32_t record_type;	/* 0: the container */
	const char *record;	/* the type's or section's name, static, or NULL */
	const char *field;	/* the field's name, static, or NULL; of pd_writer_record() and pd_writer_feature() its
				 * path: "branch_stack.entries[3].from" */
	const char *file;	/* "data.3" in a directory, or NULL */
	uint64_t want, have;	/* what the field asked for, what was left (bytes) */
	uint64_t skipped;	/* input bytes that no record holds because of this */
	const char *text;	/* what a caller got wrong, why bytes are missing, what else a file is, or NULL. Static; of
				 * pd_writer_record() and pd_writer_feature() path and text are the writer's, until it
				 * is freed or refuses values again */
};

/* "TRUNCATED"; never NULL. */
PD_API const char *pd_code_name(enum pd_code code);

/* One line of English for people, without the file's name, NUL-terminated, cut to size. Returns buf. */
PD_API char *pd_error_text(const struct pd_error *e, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
