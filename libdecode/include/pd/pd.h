/* pd.h - decodes perf.data files and pipes.
 *
 * Threads: the library has no global state. Calls on one object (reader, sink, filter, writer) must
 * not overlap; different objects are independent. Calls on a record or attribute count as calls on
 * its reader. Callbacks run in the calling thread, unless their documentation says otherwise, and
 * must not call back into the object that they are called for.
 *
 * Lifetime: pointers that the library returns are borrowed. Those of a record are valid until the
 * next pd_reader_next(), pd_sink_batch() or pd_reader_free(), all others until pd_reader_free(),
 * unless their documentation says otherwise.
 *
 * Arguments: `e` and every other place for a result may be NULL: whether there is a result is still
 * returned. A call with another NULL, an index out of range, an enum's value that does not exist or
 * options whose `size` was not set has no effect: functions with a pd_error fail with
 * PD_E_ARGUMENT, others return what they return where there is nothing (false, 0, NULL, "").
 *
 * Units: times are ns of the recording's clock, sizes are bytes, offsets are bytes from the start
 * of the (unpacked) input.
 *
 * Names: pd_OBJECT_VERB() or pd_OBJECT_MEMBER(); `_new` or `_open_` creates, `_free` frees. Options
 * are struct pd_OBJECT_options, built by PD_OBJECT_OPTIONS().
 *
 * The library does not print, exit or read the environment. The layouts come from
 * linux/perf_event.h and perf's own headers; the tables in libdecode/layout give the source of
 * each.
 *
 * Structs whose first member is `size` are allocated by the caller and may grow at their end;
 * members beyond the caller's size are taken as 0. pd_file_info may grow, too: only the library
 * allocates it. All other structs keep their size as long as the library's soname does, because
 * callers keep arrays of them, or have the library fill them.
 */
#ifndef PD_PD_H
#define PD_PD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/filter.h"
#include "pd/names.h"
#include "pd/options.h"
#include "pd/output.h"
#include "pd/types.h"
#include "pd/visit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library, "0.1.0". Static. Safe in any thread. */
PD_API const char *pd_version(void);

struct pd_reader;
struct pd_record;
struct pd_attr;
struct pd_history;

enum pd_order_by {
	PD_AS_WRITTEN,
	/* Within FINISHED_ROUNDs. Records without a time are not delayed; one that is cut off by
	 * the end of the input comes last. */
	PD_BY_TIME,
};

enum pd_access {
	PD_READ,
	/* Maps regular files that only the process's user can write, a few MB at a time: saves a
	 * copy of each byte. If such a file shrinks meanwhile, or its disk fails, the process may
	 * get SIGBUS: the caller must handle that. */
	PD_MAP_OWN,
};

struct pd_reader_options {
	size_t size;		/* PD_READER_OPTIONS() sets it */
	uint64_t memory_limit;	/* bytes that input can make the library allocate; 0: 256 MiB */
	enum pd_order_by order;
	enum pd_severity stop_at;	/* the lowest severity that ends the reading; 0: PD_FATAL */
	/* Called for each error, before the record it concerns. `e` is valid during the call. */
	void (*on_error)(void *ctx, const struct pd_error *e);
	/* Called before a read that may block on a pipe: an opportunity to flush output. */
	void (*on_wait)(void *ctx);
	void *ctx;		/* for all callbacks */
	enum pd_access access;
	/* Limits for the decompressed size of compressed records, and of a file that is compressed
	 * as a whole: max_expanded bytes or max_ratio times its size (for a stream: the bytes
	 * read), whichever is more. The rest is left out, with an error (PD_E_LIMIT). Both 0: no
	 * limit. */
	uint64_t max_expanded, max_ratio;
	/* Returns whether to end a wait for a pipe or socket with PD_E_CANCELLED. Called before the
	 * wait, when a signal interrupts it, and every 200 ms; so it may return what a signal
	 * handler or another thread sets. Gets `ctx`. */
	bool (*is_cancelled)(void *ctx);
};
#define PD_READER_OPTIONS(...) PD_OPTIONS_OF(pd_reader_options, __VA_ARGS__)

/* Opens a file, or a directory of perf record --threads, in which only regular files are read and
 * links are not followed. Removes gzip, zstd, xz and bzip2. `o` is copied and may be NULL. Returns
 * NULL on failure and sets *e: PD_E_IO, PD_E_MAGIC, PD_E_NOMEM, PD_E_LIMIT, or the error that
 * reached pd_reader_options.stop_at. Close the reader with pd_reader_free(). */
PD_API struct pd_reader *pd_reader_open_path(const char *path, const struct pd_reader_options *o,
					     struct pd_error *e);

/* The same for a descriptor, from its current offset: a file, pipe or socket. `fd` is borrowed
 * until pd_reader_free() and stays open. */
PD_API struct pd_reader *pd_reader_open_fd(int fd, const struct pd_reader_options *o,
					   struct pd_error *e);

/* The same for bytes in memory, borrowed until pd_reader_free(). */
PD_API struct pd_reader *
pd_reader_open_memory(struct pd_bytes in, const struct pd_reader_options *o, struct pd_error *e);

/* Copies the rest of a stream to an unlinked temporary file in $TMPDIR or /tmp, so that it can be
 * read twice: once for a history (pd/history.h), once for its samples. Returns a descriptor of the
 * file, at its start, which the caller closes, or -1 and *e: PD_E_IO or PD_E_NOMEM. */
PD_API int pd_stream_copy(int fd, struct pd_error *e);

/* Frees the reader and all that was borrowed from it. Sinks that it feeds must be closed before.
 * `r` may be NULL. */
PD_API void pd_reader_free(struct pd_reader *r);

/* Reads the next record. Returns 1 and sets *out, valid until the next call; 0 at the end; -1 and
 * *e when reading cannot continue. After 0 or -1 there are no more records, except after
 * PD_E_CANCELLED and PD_E_AGAIN: the next call continues as if there had been none. */
PD_API int pd_reader_next(struct pd_reader *r, const struct pd_record **out, struct pd_error *e);

/* --- the file around the records --- */

enum pd_mode { PD_MODE_FILE, PD_MODE_PIPE, PD_MODE_DIRECTORY };
enum pd_byte_order { PD_LITTLE_ENDIAN, PD_BIG_ENDIAN };

struct pd_section {
	const char *name;	/* "header", "ids", "attrs", "data", "event_types", "feature_table",
				 * "own_feature_table", or the name of a feature; static */
	uint32_t feature;	/* bit of the feature; 0: none */
	uint32_t attr_index;	/* of "ids" */
	uint64_t offset, size;
	bool unread;		/* a feature, or ids, whose stated size does not fit into the file
				 * with others, or ids that exceed the memory limit */
};

struct pd_file_info {
	enum pd_mode mode;
	enum pd_byte_order byte_order;
	bool v1;			/* has the magic of perf before 3.4 */
	bool complete;			/* false: unfinished, or the end is missing. Final at the
					 * end */
	bool size_known;		/* false: a stream */
	uint64_t size, header_size, attr_size, data_offset, data_size;
	uint32_t long_size;		/* word size of the feature bitmap: 8; 4 from big-endian
					 * 32-bit */
	bool adds_features[256];	/* the bitmap; in an unfinished file they may be missing.
					 * Features of own_feature_table have no bit */
	const struct pd_section *sections;
	size_t nr_sections;
	const struct pd_section *gaps;	/* bytes in no section that are not zero */
	size_t nr_gaps;
	bool magic_is_damaged;		/* one byte of the first 8 is another one */
	uint8_t magic[8];
};

/* Returns what the header states, and what was found out since. Valid until pd_reader_free(); later
 * pd_reader_next() may update it. */
PD_API const struct pd_file_info *pd_reader_file(const struct pd_reader *r);

/* Copies n bytes of the file at `offset` to `p`, without moving the reader. Returns the number of
 * bytes copied, fewer than n at the end of the file, or -1: not readable, or not a file in which
 * one can seek. Valid only where pd_reader_file()->size_known. */
PD_API int64_t pd_reader_read_at(struct pd_reader *r, uint64_t offset, void *p, size_t n);

/* Accounts for all bytes read so far: header, features, records, skipped, gaps, zeros and unread
 * add up to total. Counts unpacked bytes where the input is packed, and the bytes of all files read
 * so far in a directory. */
struct pd_account {
	size_t size;		/* the caller's sizeof(struct pd_account) */
	uint64_t total;
	uint64_t header;	/* the header, attributes, ids and names of events */
	uint64_t features;	/* the feature tables and the sections */
	uint64_t records;	/* including damaged ones and the data after records */
	uint64_t skipped;	/* in records named "SKIPPED": bytes that are not records */
	uint64_t gaps;		/* in no section, not all zero */
	uint64_t zeros;		/* in no section, between sections, all zero */
	uint64_t unread;	/* not reached by the reader, or after the packed stream */
	uint64_t unwritten;	/* part of skipped: zeros up to the end of the records */
	uint64_t unexpanded;	/* part of records: compressed ones that cannot be expanded
				 * completely */
	/* Not written by pd_reader_repair(): */
	uint64_t dropped;	/* part of records, not of unexpanded */
	uint64_t dropped_expanded;	/* decompressed bytes; not part of total */
	uint64_t dropped_features;	/* part of features */
};

/* Fills in *out as of now. out->size must be set. */
PD_API void pd_reader_account(const struct pd_reader *r, struct pd_account *out);

/* --- events --- */

/* Returns the number of events. In a pipe they arrive with the records: the number grows. */
PD_API size_t pd_reader_nr_attrs(const struct pd_reader *r);

/* Returns the i-th event, or NULL after the last. Valid until pd_reader_free(). */
PD_API const struct pd_attr *pd_reader_attr(const struct pd_reader *r, size_t i);

/* Returns the event of an id, or NULL; an id that several events state belongs to the first. Valid
 * until pd_reader_free(). */
PD_API const struct pd_attr *pd_reader_attr_by_id(struct pd_reader *r, uint64_t id);

/* Returns the event's name, "cycles:u"; "" if unknown, never NULL. Valid until pd_reader_free(),
 * but a later record may give the event another name. */
PD_API const char *pd_attr_name(const struct pd_attr *a);

/* Returns the i for which pd_reader_attr() returns this event. */
PD_API size_t pd_attr_index(const struct pd_attr *a);

/* Returns the event's *n ids; may be NULL if *n is 0. Valid until the next pd_reader_next(). */
PD_API const uint64_t *pd_attr_ids(const struct pd_attr *a, size_t *n);

/* Returns the event's struct perf_event_attr in the byte order of the file, with what follows it
 * there. Valid until pd_reader_free(). */
PD_API struct pd_bytes pd_attr_bytes(const struct pd_attr *a);

/* Returns the period of the event's samples where they do not state it: attr.sample_period. Returns
 * 0 if they do, and of an event with a frequency. */
PD_API uint64_t pd_attr_fixed_period(const struct pd_attr *a);

/* Returns how the kernel prints a tracepoint's samples, the text after `print fmt:` in its format:
 * "\"pid=%d\", REC->pid"; "" if the recording has none, never NULL. Valid until
 * pd_reader_free(). */
PD_API const char *pd_attr_print_format(const struct pd_attr *a);

/* Returns which fields the event's samples have: attr.sample_type, PD_SAMPLE_* of pd/enums.h; 0 of
 * NULL. */
PD_API uint64_t pd_attr_sample_type(const struct pd_attr *a);

/* Visits the fields of the event's struct perf_event_attr. Spans are valid until
 * pd_reader_free(). */
PD_API void pd_attr_visit(const struct pd_reader *r, const struct pd_attr *a,
			  const struct pd_visitor *v, void *ctx);

/* Returns whether memory was refused so far: what it was for may be missing. The end of the records
 * reports that as PD_E_LIMIT, unless another error did. */
PD_API bool pd_reader_lacks_memory(const struct pd_reader *r);

/* Sets *first and *last to the times of the first and last sample, in ns, as feature SAMPLE_TIME
 * states them. Returns false if it is missing, or no recording has such a span; both are then 0.
 * Loads a feature: see pd_reader_feature(). */
PD_API bool pd_reader_time_span(struct pd_reader *r, uint64_t *first, uint64_t *last);

/* Sets *times to those that samples can have: in the span of pd_reader_time_span(), or as near to
 * it as it is long, or as a second. A time outside is damage. All times, if no span is stated.
 * Loads a feature. */
PD_API void pd_reader_credible_times(struct pd_reader *r, struct pd_range *times);

/* Sets *ns to the wall time, in ns since 1970 UTC, of a time of an event's records. Returns false
 * if it is not known: time is 0 (a synthesized record), or the recording does not tie the event's
 * clock to wall time. It does by the clock CLOCK_REALTIME, or by feature CLOCK_DATA, which in a
 * pipe arrives with the records. *ns is then undefined. */
PD_API bool pd_reader_utc(const struct pd_reader *r, const struct pd_attr *a, uint64_t time,
			  uint64_t *ns);

/* --- features --- */

/* Returns the number of features: of a file header's sections; in a pipe, of those that were
 * read so far, as far as they fit into the memory limit. */
PD_API size_t pd_reader_nr_features(const struct pd_reader *r);

struct pd_feature {
	uint32_t id;
	const char *name;	/* "HOSTNAME", or NULL; static */
	struct pd_bytes bytes;	/* borrowed until the next pd_reader_feature(),
				 * pd_reader_time_span() or pd_reader_free() */
	uint64_t offset;
};

/* Loads the i-th feature, in the order of the feature bits, or of a pipe's records. Returns 0,
 * or -1 and *e: PD_E_ARGUMENT if i is not below pd_reader_nr_features(), else the damage of the
 * section; id, name and offset are then set. */
PD_API int pd_reader_feature(struct pd_reader *r, size_t i, struct pd_feature *out,
			     struct pd_error *e);

/* --- a record --- */

/* Returns the type, PERF_RECORD_*; 0 for bytes that are not records. */
PD_API uint32_t pd_record_type(const struct pd_record *r);

/* Returns the name of the type, "MMAP2"; "UNKNOWN", or "SKIPPED" for bytes that are not records.
 * Static. */
PD_API const char *pd_record_name(const struct pd_record *r);

#define PD_MISC_CPUMODE 7	/* the bits of misc that are an enum pd_cpumode (pd/history.h) */

/* Returns the header's misc, PERF_RECORD_MISC_*. */
PD_API uint16_t pd_record_misc(const struct pd_record *r);

/* Returns the record's offset in the input; for a decompressed record, that of the compressed
 * one. */
PD_API uint64_t pd_record_offset(const struct pd_record *r);

/* Returns the record's bytes, header included, in the byte order of the file. Valid until the next
 * pd_reader_next(). */
PD_API struct pd_bytes pd_record_bytes(const struct pd_record *r);

/* Returns the record's event, or NULL if it has none. Valid until pd_reader_free(). */
PD_API const struct pd_attr *pd_record_attr(const struct pd_record *r);

/* Returns the record's damage, or NULL if it is intact. Valid until the next pd_reader_next(). */
PD_API const struct pd_error *pd_record_error(const struct pd_record *r);

/* Sets *time, in ns. Returns false if the record has no time; *time is then unchanged. */
PD_API bool pd_record_time(const struct pd_record *r, uint64_t *time);

/* The functions below find a field by its name in the JSON ("ip", "callchain", "filename"), or
 * by its path in objects ("sample_id.cpu", "read.value", "raw.data"), but not inside arrays.
 * They return false if the record has no such field, or one of another kind; *out is then
 * undefined. `out` may be NULL, to ask whether the field is there. Tracepoints' fields, parts of
 * words and entries of arrays are in trees (pd/tree.h). Fields at a fixed offset are found
 * without walking the record. */

/* Gets a number; signed ones are sign-extended. */
PD_API bool pd_record_get_number(const struct pd_record *r, const char *name, uint64_t *out);

/* Gets an array of numbers, or registers. Valid until the next pd_reader_next(). */
PD_API bool pd_record_get_numbers(const struct pd_record *r, const char *name,
				  struct pd_numbers *out);

/* Gets a text, without its NUL, or bytes. Valid until the next pd_reader_next(). */
PD_API bool pd_record_get_text(const struct pd_record *r, const char *name, struct pd_bytes *out);

/* Registers and stack that a sample copied from a thread's user space. */
struct pd_copied_stack {
	uint16_t machine;		/* EM_* of the recording; 0: unknown */
	bool is_swapped;		/* `bytes` are not in this machine's byte order */
	bool is_precise;		/* the program counter is that of the instruction that was
					 * executed last (misc EXACT_IP) */
	uint64_t abi;			/* enum perf_sample_regs_abi: 1: 32 bits, 2: 64 bits */
	uint64_t mask;			/* sample_regs_user: a bit for each of `registers` */
	struct pd_numbers registers;
	struct pd_bytes bytes;		/* of the stack, from the stack pointer on */
	uint64_t size;			/* bytes that were asked for; 0: none */
};

/* Gets the user registers and stack of a sample, to be unwound. Returns false if it has no
 * registers. Valid until the next pd_reader_next(). */
PD_API bool pd_record_copied_stack(const struct pd_record *r, struct pd_copied_stack *out);

/* Visits all fields in the order of the file; sample_id last, as an object of that name. Spans are
 * valid until the next pd_reader_next(). */
PD_API void pd_record_visit(const struct pd_record *r, const struct pd_visitor *v, void *ctx);

/* Returns the number of bytes that follow the record (AUXTRACE, HEADER_TRACING_DATA), as it states
 * it. */
PD_API uint64_t pd_record_payload_size(const struct pd_record *r);

/* Reads up to n of the bytes that follow the last record and sets *out, valid until the next call.
 * Returns the number of bytes, 0 at their end, or -1 and *e. Ends the validity of the record
 * itself. pd_reader_next() skips what was not read. */
PD_API int pd_reader_read_payload(struct pd_reader *r, size_t n, struct pd_bytes *out,
				  struct pd_error *e);

/* --- sinks ---
 *
 * A sink takes all records, and the errors of a reader: its on_error must call pd_sink_error(), its
 * on_wait pd_sink_wait(). pd_pump() does the rest; a caller that wants to stop early or to see the
 * records, too, calls the functions that it is made of. */
struct pd_sink;

/* The functions of a sink; each may be NULL. They return 0 to continue; any other value is passed
 * to the caller, who must stop. */
struct pd_sink_ops {
	size_t size;
	int (*begin)(void *state, struct pd_reader *r);
	int (*record)(void *state, const struct pd_record *r);
	int (*error)(void *state, const struct pd_error *e);
	int (*finish)(void *state, struct pd_reader *r);
	void (*wait)(void *state);
	void (*free)(void *state);
};

/* Creates a sink from functions and their state. `ops` is copied. Returns NULL without memory,
 * or if `ops` is invalid; `state` is then not freed. Close it with pd_sink_free(). */
PD_API struct pd_sink *pd_sink_new(const struct pd_sink_ops *ops, void *state);

/* Stops the sink's threads and frees it and its state. Must be called before pd_reader_free(),
 * unless the sink is finished: its threads may be reading the reader's memory. `s` may be NULL. */
PD_API void pd_sink_free(struct pd_sink *s);

/* The functions below call the sink's function and return its result, 0 if it has none. The sinks
 * of this library return 0, the errno that pd_output.write returned, or -1 without memory or for a
 * NULL. */

/* Starts the output. Must be called once, before the first record is read. */
PD_API int pd_sink_begin(struct pd_sink *s, struct pd_reader *r);

/* Takes the record that pd_reader_next() returned last. */
PD_API int pd_sink_record(struct pd_sink *s, const struct pd_record *r);

/* Lets the sink read the next records itself, as far as that is faster than one by one. Continue
 * with pd_reader_next(). */
PD_API int pd_sink_batch(struct pd_sink *s, struct pd_reader *r);

/* Takes an error that the reader reported. */
PD_API int pd_sink_error(struct pd_sink *s, const struct pd_error *e);

/* Completes the output. Must be called once, after the last record; the sink can only be closed
 * then. */
PD_API int pd_sink_finish(struct pd_sink *s, struct pd_reader *r);

/* Writes out what the sink has buffered, because the input has no data for now. */
PD_API void pd_sink_wait(struct pd_sink *s);

/* Passes everything that the reader has to the sink: begins it, reads to the end, and finishes
 * it. If reading cannot continue, or a wait is cancelled, the sink gets that error and is
 * finished. (An error that reaches `stop_at` was passed to on_error before.) Returns 0, or what a
 * function of the sink returned; the sink is then not finished. */
PD_API int pd_pump(struct pd_reader *r, struct pd_sink *s);

enum pd_blobs { PD_BLOBS_HEX, PD_BLOBS_OMIT, PD_BLOBS_FULL };
enum pd_json_shape { PD_JSON_DOCUMENT, PD_JSON_LINES };

enum pd_json_layout {
	PD_JSON_COMPACT,
	PD_JSON_INDENTED,	/* for people; not for PD_JSON_LINES */
};
enum pd_json_parts {
	PD_JSON_ALL,
	PD_JSON_HEADER,		/* no records, but the sink must be given them: in a pipe they have
				 * the features */
	PD_JSON_RECORDS,	/* no lines of kind file, attr and feature; for PD_JSON_LINES */
};

enum pd_json_times {
	PD_JSON_CLOCK,		/* ns of the recording's clock */
	PD_JSON_CLOCK_AND_UTC,	/* and beside each known wall time, see pd_reader_utc() */
};

/* How frames are written. */
enum pd_json_frames {
	PD_JSON_FRAMES_FULL,
	PD_JSON_FRAMES_NAMES,	/* only address and functions, or why there are none */
	PD_JSON_FRAMES_TABLE,	/* samples have frame_ids; each frame is written once, at the end */
};

struct pd_json_options {
	size_t size;		/* PD_JSON_OPTIONS() sets it */
	enum pd_json_shape shape;
	enum pd_blobs blobs;
	enum pd_json_layout layout;
	enum pd_json_parts parts;
	struct pd_filter *filter;	/* borrowed until pd_sink_free(), or NULL; records it drops
					 * are counted as `filtered` */
	unsigned int threads;		/* that format records, including the caller's; 0 and 1: no
					 * others. The output is the same */
	enum pd_json_times times;
	/* Adds task and frames to samples, and what was mapped. Sealed, of the same recording;
	 * borrowed until pd_sink_free(), or NULL. */
	const struct pd_history *history;
	/* With history: adds functions to frames, and files to what was mapped. Copied; NULL: no
	 * names. */
	const struct pd_namer *namer;
	enum pd_json_frames frames;
};
#define PD_JSON_OPTIONS(...) PD_OPTIONS_OF(pd_json_options, __VA_ARGS__)

/* Creates a sink that writes the JSON of schemas/ to `out`. `o` is copied and may be NULL. Returns
 * NULL without memory, or for invalid options. Close it with pd_sink_free(). */
PD_API struct pd_sink *pd_sink_new_json(const struct pd_json_options *o, struct pd_output out);

struct pd_stats_options {
	size_t size;		/* PD_STATS_OPTIONS() sets it */
	enum pd_json_layout layout;
	struct pd_filter *filter;	/* borrowed until pd_sink_free(), or NULL */
};
#define PD_STATS_OPTIONS(...) PD_OPTIONS_OF(pd_stats_options, __VA_ARGS__)

/* Creates a sink that counts and writes the totals to `out`, as one JSON object, when it is
 * finished. `o` is copied and may be NULL. Returns NULL without memory, or for invalid options.
 * Close it with pd_sink_free(). */
PD_API struct pd_sink *pd_sink_new_stats(const struct pd_stats_options *o, struct pd_output out);

#ifdef __cplusplus
}
#endif
#endif
