/* write.h - writes perf.data files and pipes, with records from values, by the tables that also
 * decode them.
 *
 * Values are named as in the JSON. Derived ones may be omitted: counts (known from the length of
 * what they count), sizes, padding. Omitted numbers are 0.
 *
 * An invalid value or call is refused before anything of it is written; pd_error then has the
 * record, the path of the field and what was expected. The caller may continue.
 *
 * Calls on one writer or encoder must not overlap; different ones are independent.
 */
#ifndef PD_WRITE_H
#define PD_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/options.h"
#include "pd/pd.h"
#include "pd/types.h"
#include "pd/values.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pd_value_kind {
	PD_VALUE_NUMBER,	/* number; also enumerations, raw flag words, signed numbers */
	PD_VALUE_TEXT,		/* bytes, without a NUL */
	PD_VALUE_BYTES,		/* bytes */
	PD_VALUE_NUMBERS,	/* numbers, count */
	PD_VALUE_OBJECT,	/* items, count: found by name */
	PD_VALUE_ARRAY,		/* items, count: found by index */
};

/* A value and its name, NULL in an array. Everything that it points to is borrowed during the
 * call. */
struct pd_value {
	const char *name;
	enum pd_value_kind kind;
	size_t count;
	__extension__ union {	/* for C99, which has no unnamed ones */
		uint64_t number;
		struct pd_bytes bytes;
		const uint64_t *numbers;
		const struct pd_value *items;
	};
};

/* Initializers in C, expressions in C++. They copy nothing. */
#ifndef __cplusplus
#define PD_NUMBER(n, v) { .name = n, .kind = PD_VALUE_NUMBER, .number = (uint64_t)(v) }
#define PD_TEXT(n, s) { .name = n, .kind = PD_VALUE_TEXT, \
			.bytes = { (const uint8_t *)(s), strlen(s) } }
#define PD_BYTES(n, p, size) { .name = n, .kind = PD_VALUE_BYTES, \
			       .bytes = { (const uint8_t *)(p), size } }
#define PD_NUMBERS(n, p, c) { .name = n, .kind = PD_VALUE_NUMBERS, .numbers = p, .count = c }
#define PD_OBJECT(n, p, c) { .name = n, .kind = PD_VALUE_OBJECT, .items = p, .count = c }
#define PD_ARRAY(n, p, c) { .name = n, .kind = PD_VALUE_ARRAY, .items = p, .count = c }
#else
#define PD_NUMBER(n, v) pd_value_of_number(n, uint64_t(v))
#define PD_TEXT(n, s) pd_value_of_bytes(n, PD_VALUE_TEXT, s, strlen(s))
#define PD_BYTES(n, p, size) pd_value_of_bytes(n, PD_VALUE_BYTES, p, size)
#define PD_NUMBERS(n, p, c) pd_value_of_numbers(n, p, c)
#define PD_OBJECT(n, p, c) pd_value_of_items(n, PD_VALUE_OBJECT, p, c)
#define PD_ARRAY(n, p, c) pd_value_of_items(n, PD_VALUE_ARRAY, p, c)

static inline pd_value pd_value_of_number(const char *name, uint64_t number)
{
	pd_value v = pd_value();

	v.name = name;
	v.number = number;
	return v;
}

static inline pd_value pd_value_of_bytes(const char *name, pd_value_kind kind, const void *p,
					 size_t size)
{
	pd_value v = pd_value();

	v.name = name;
	v.kind = kind;
	v.bytes.data = static_cast<const uint8_t *>(p);
	v.bytes.size = size;
	return v;
}

static inline pd_value pd_value_of_numbers(const char *name, const uint64_t *numbers, size_t count)
{
	pd_value v = pd_value();

	v.name = name;
	v.kind = PD_VALUE_NUMBERS;
	v.numbers = numbers;
	v.count = count;
	return v;
}

static inline pd_value pd_value_of_items(const char *name, pd_value_kind kind,
					 const pd_value *items, size_t count)
{
	pd_value v = pd_value();

	v.name = name;
	v.kind = kind;
	v.items = items;
	v.count = count;
	return v;
}
#endif

/* Reads trees of struct pd_value: the pd_node is a const struct pd_value *. Constant; safe in any
 * thread. */
PD_API extern const struct pd_values pd_value_values;

/* --- writer: a recording as it is made --- */

struct pd_writer;

enum pd_write_by {
	PD_WRITE_BY_EITHER,	/* a thread if the output is compressed and not a data.N, else the
				 * caller */
	PD_WRITE_BY_CALLER,
	PD_WRITE_BY_THREAD,	/* the caller does not wait for a disk until 1 MiB is queued: for
				 * ring buffers that would overflow meanwhile. Copies all bytes. (A
				 * data.N is written by the caller even so.) */
};

struct pd_writer_options {
	size_t size;			/* PD_WRITER_OPTIONS() sets it */
	enum pd_mode mode;		/* PD_MODE_FILE needs a seekable fd, PD_MODE_PIPE takes any.
					 * PD_MODE_DIRECTORY writes one data.N of a directory:
					 * records only, without events and features */
	int compress;			/* zstd level for pd_writer_write() and pd_writer_lend(); 0:
					 * none */
	enum pd_write_by by;
	/* Gets the records before they are compressed: all bytes that are written between
	 * pd_writer_begin() and pd_writer_finish(), in order, in pieces that may end anywhere.
	 * Called in the thread that writes; pd_writer_flush() waits for it. May be NULL. */
	void (*watch)(void *ctx, struct pd_bytes bytes);
	void *ctx;
};
#define PD_WRITER_OPTIONS(...) PD_OPTIONS_OF(pd_writer_options, __VA_ARGS__)

/* Creates a writer. `fd` is borrowed until pd_writer_free(). `o` is copied and may be NULL: an
 * uncompressed file. Returns NULL and *e on failure: PD_E_NOMEM, PD_E_IO, PD_E_ARGUMENT. Free it
 * with pd_writer_free().
 *
 * Must be followed, in this order, by events, pd_writer_begin(), records, and pd_writer_finish() or
 * pd_writer_abort(). A call out of order is refused with PD_E_ARGUMENT and has no effect.
 *
 * The functions that return int return 0, or -1 and *e: PD_E_ARGUMENT for the call, PD_E_COUNT or
 * PD_E_SIZE for values, PD_E_IO with the errno in have, PD_E_NOMEM, PD_E_LIMIT. */
PD_API struct pd_writer *pd_writer_open_fd(int fd, const struct pd_writer_options *o,
					   struct pd_error *e);

/* Frees the writer without finishing the output, and ends its thread. `w` may be NULL. */
PD_API void pd_writer_free(struct pd_writer *w);

/* Adds an event; events are numbered from 0. Copies its arguments. `attr` is a struct
 * perf_event_attr of `attr_size` bytes in this machine's byte order; in a file, all events take the
 * size of the largest. `ids` are those of PERF_EVENT_IOC_ID. `name` may be NULL; it is written to
 * EVENT_DESC, in a pipe to an EVENT_UPDATE. */
PD_API int pd_writer_add_event(struct pd_writer *w, const void *attr, size_t attr_size,
			       const uint64_t *ids, size_t nr_ids, const char *name,
			       struct pd_error *e);

/* Writes the header, ids and attrs; in a pipe, the header and HEADER_ATTR records. A file that ends
 * after this is like that of a killed recorder: readers get its records. */
PD_API int pd_writer_begin(struct pd_writer *w, struct pd_error *e);

/* The most bytes of records in one compressed record. mmap_len of a COMPRESSED feature must be at
 * least that. */
#define PD_WRITER_COMPRESSED_MOST (256 * 1024)

/* Appends whole records as the kernel wrote them, in this machine's byte order, in n spans: a
 * record may straddle them, as where a ring buffer wraps. Copies or writes them before it returns.
 * They are buffered: see pd_writer_flush(). Their content is not checked: of bytes that are not
 * whole records, readers of the file report the damage. */
PD_API int pd_writer_write(struct pd_writer *w, const struct pd_bytes *spans, size_t n,
			   struct pd_error *e);

/* Takes back lent bytes: the next `bytes` of them, in their order, are no longer used. May be
 * called from another thread. */
struct pd_lender {
	void (*give_back)(void *owner, size_t bytes);
	void *owner;
};

/* The same as pd_writer_write(), but records may be compressed in place: they are borrowed until
 * from->give_back() is called for them, in parts and in order, or until pd_writer_flush(),
 * pd_writer_finish() or pd_writer_free() returns. A writer that failed gives nothing back. Without
 * a compressing thread, they are given back before the call returns. */
PD_API int pd_writer_lend(struct pd_writer *w, const struct pd_bytes *spans, size_t n,
			  const struct pd_lender *from, struct pd_error *e);

/* Appends a record made from values; it is never compressed. `event` is the number of an event, or
 * -1 for none:
 * - It selects the layout of a SAMPLE or READ: the fields in the event's sample_type and
 *   read_format. If there are several events, readers find it by the sample's `identifier` or `id`.
 * - Other kernel records, and READ, end with the event's sample_id, if its attribute has
 *   sample_id_all. The values are those of an object of that name; omitted ones are 0 (an id of 0
 *   means the first event).
 * - It has no effect on perf's own records (type 64 and up). `payload`, which may be empty, follows
 *   the record (AUXTRACE, HEADER_TRACING_DATA). */
PD_API int pd_writer_record(struct pd_writer *w, uint32_t type, uint16_t misc, int event,
			    const struct pd_value *fields, size_t n, struct pd_bytes payload,
			    struct pd_error *e);

/* Adds a feature section. In a file it is kept until pd_writer_finish(), and may be added before
 * pd_writer_begin(). In a pipe it is written now as a HEADER_FEATURE record (TRACING_DATA as
 * HEADER_TRACING_DATA); features that a pipe has as other records, or not at all, are omitted
 * without an error. `value` is as under `features` in the JSON; its name is ignored. EVENT_DESC is
 * made from the events. */
PD_API int pd_writer_feature(struct pd_writer *w, uint32_t id, const struct pd_value *value,
			     struct pd_error *e);

/* The same for an encoded section, which is copied. */
PD_API int pd_writer_feature_bytes(struct pd_writer *w, uint32_t id, struct pd_bytes section,
				   struct pd_error *e);

/* Returns the name of the i-th feature omitted so far because it is too large for a record of a
 * pipe, or PD_SYMBOLS, with which perf refuses a pipe; NULL after the last. Static. */
PD_API const char *pd_writer_feature_left_out(const struct pd_writer *w, size_t i);

/* Writes everything given so far to the fd and states its size in a file's header, so that the file
 * is readable up to here if the recorder is killed. Waits for the writer's thread. */
PD_API int pd_writer_flush(struct pd_writer *w, struct pd_error *e);

/* The same without waiting: the thread writes it soon, and a later call may report its errors. */
PD_API int pd_writer_flush_soon(struct pd_writer *w, struct pd_error *e);

/* Returns the size of the output so far, in bytes, without what is waiting to be compressed. */
PD_API uint64_t pd_writer_size(const struct pd_writer *w);

/* Completes the output: writes a file's features and the sizes in its header. The writer can only
 * be freed then; after a failure, pd_writer_abort() may be called before. */
PD_API int pd_writer_finish(struct pd_writer *w, struct pd_error *e);

/* Ends an output that cannot be completed: a disk is full, a limit is reached. Cuts a file, or a
 * data.N, after the last whole record that reached it; fd must be readable to find it. A file's
 * header then states that size, and that the recording is unfinished; it has no features. If no
 * call failed before, everything given so far is kept. Sets *kept to the size of the output in
 * bytes. The writer can only be freed then. Returns 0, or -1 and *e if the header cannot be
 * written. */
PD_API int pd_writer_abort(struct pd_writer *w, uint64_t *kept, struct pd_error *e);

/* --- encoder: from the parts of the JSON, as any tree of values, to the file they describe --- */

struct pd_encoder;

enum pd_encoder_order { PD_ENCODER_STATED_ORDER, PD_ENCODER_LITTLE, PD_ENCODER_BIG };
enum pd_encoder_mode { PD_ENCODER_SAME_MODE, PD_ENCODER_FILE, PD_ENCODER_PIPE };

struct pd_encoder_options {
	size_t size;		/* PD_ENCODER_OPTIONS() sets it */
	enum pd_encoder_order byte_order;
	enum pd_encoder_mode mode;
	int compress;		/* zstd level for kernel records; 0: as the JSON states */
	uint64_t memory_limit;	/* bytes that input can make the library allocate; 0: 256 MiB */
	/* Opens another file ("data.0") of a directory for writing and returns a descriptor, which
	 * is borrowed until pd_encoder_free(), or -1. NULL: directories are refused. */
	int (*open_file)(void *ctx, const char *name);
	void *ctx;
};
#define PD_ENCODER_OPTIONS(...) PD_OPTIONS_OF(pd_encoder_options, __VA_ARGS__)

/* Creates an encoder for trees that `values` reads, borrowed until pd_encoder_free(). `fd` is
 * borrowed as long and must be seekable and allow ftruncate(2). `o` is copied and may be NULL.
 * Returns NULL and *e on failure.
 *
 * Parts may be given in any order, except that `file` must be first, and attrs and features of a
 * file must precede its records. The functions that return int return 0, or -1 and *e: code
 * PD_E_ARGUMENT, PD_E_COUNT or PD_E_SIZE for the values, with the path of the wrong one in `field`
 * ("callchain[3]", relative to the object that was passed; NULL: the object) and what was expected
 * in `text`, both borrowed until the next call; PD_E_IO, with the errno in `have`; PD_E_LIMIT.
 * After a refused part the caller may continue. Nodes are borrowed during the call. */
PD_API struct pd_encoder *pd_encoder_new(const struct pd_values *values, int fd,
					 const struct pd_encoder_options *o,
					 struct pd_error *e);

/* Takes the object under `file`. */
PD_API int pd_encoder_file(struct pd_encoder *enc, pd_node file, struct pd_error *e);

/* Takes an object of the array `attrs`: adds an event. */
PD_API int pd_encoder_attr(struct pd_encoder *enc, pd_node attr, struct pd_error *e);

/* Takes the object under `features`, or one that has some of its members. */
PD_API int pd_encoder_features(struct pd_encoder *enc, pd_node features, struct pd_error *e);

/* Takes an object of the array `records`: appends a record. */
PD_API int pd_encoder_record(struct pd_encoder *enc, pd_node record, struct pd_error *e);

/* Completes the output. The encoder can only be freed then. */
PD_API int pd_encoder_finish(struct pd_encoder *enc, struct pd_error *e);

/* Returns the number of records that could not be written so far: only their first bytes came out
 * of a compressed stream, and that stream (its records' payloads, pdecode --blobs full) is not in
 * the JSON. */
PD_API uint64_t pd_encoder_left_out(const struct pd_encoder *enc);

/* Returns the name of the i-th feature omitted so far because it is too large for a record of a
 * pipe, or PD_SYMBOLS, with which perf refuses a pipe; NULL after the last. Static. */
PD_API const char *pd_encoder_feature_left_out(const struct pd_encoder *enc, size_t i);

/* Returns the name of the i-th feature so far that was swapped to the other byte order without the
 * bytes that only its `_raw` has; NULL after the last. Static. */
PD_API const char *pd_encoder_feature_lost_raw(const struct pd_encoder *enc, size_t i);

/* Returns the bytes of `gaps` that are not in the output, because its layout is not that of the
 * JSON. Valid after pd_encoder_finish(). */
PD_API uint64_t pd_encoder_gaps_left_out(const struct pd_encoder *enc);

/* Returns the path of the first member that has no effect, because another one, which counts, says
 * otherwise; NULL if there is none. Sets *n, which may be NULL, to the number of such members.
 * Records of a pipe count, not its attrs and features, which are compared if a record was given
 * before; the feature EVENT_DESC and EVENT_UPDATE records of a pipe have the names of events
 * ("attrs[0].attr", "attrs[0].name", "features.HOSTNAME"). Valid after pd_encoder_finish(); the
 * path is borrowed until pd_encoder_free(). */
PD_API const char *pd_encoder_ignored(const struct pd_encoder *enc, uint64_t *n);

/* Frees the encoder. `enc` may be NULL. */
PD_API void pd_encoder_free(struct pd_encoder *enc);

#ifdef __cplusplus
}
#endif
#endif
