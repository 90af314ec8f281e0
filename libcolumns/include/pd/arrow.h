/* arrow.h - the structures of Arrow's C data and C stream interfaces: columns that are handed over
 * by pointer, without a library.
 *
 * Names, order and types are those of the specification ("The Arrow C data interface", "The Arrow C
 * stream interface"), and so are the two macros that keep headers from defining them twice. The
 * owner of a structure calls its `release` once; NULL there: it is released, or moved away. */
#ifndef PD_ARROW_H
#define PD_ARROW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* The type of an array. */
struct ArrowSchema {
	const char *format;		/* "l": int64, "u": UTF-8, "+l": list, "+s": struct, ... */
	const char *name;
	const char *metadata;		/* pairs of counted texts, or NULL */
	int64_t flags;			/* ARROW_FLAG_* */
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;	/* the type of the values, if `format` is that of indices */
	void (*release)(struct ArrowSchema *schema);
	void *private_data;		/* of the producer */
};

/* The rows of an array. */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;			/* the first row in the buffers */
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;		/* validity (NULL: all are valid), then offsets and data */
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Batches of rows of one type. The functions return 0 or an errno value. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
	/* Sets out->release to NULL after the last batch. */
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
	/* Describes the last failure: valid until the next call. */
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

#endif

#ifdef __cplusplus
}
#endif
#endif
