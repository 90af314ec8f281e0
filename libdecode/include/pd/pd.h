/* pd.h - decode perf.data files and pipes.
 *
 * No globals, no output, no exit; one thread per reader. Pointers handed out are borrowed: what belongs to a record stays
 * valid until the next pd_next(), everything else until pd_close(). Times are ns of the recording's clock, sizes bytes,
 * offsets bytes from the start of the (unpacked) input. Layouts: linux/perf_event.h and perf's own headers; the tables
 * of this library say where each comes from.
 *
 * Structs that begin with `size` are the caller's and may get more members at their end: those that its size does not
 * cover are as if they were 0. So may pd_file_info, which only the library makes. No other struct changes while the
 * library's soname stays; of these the caller has arrays, or memory that the library fills.
 */
#ifndef PD_PD_H
#define PD_PD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/filter.h"
#include "pd/options.h"
#include "pd/output.h"
#include "pd/types.h"
#include "pd/visit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library, "0.1.0". */
PD_API const char *pd_version(void);

struct pd_reader;
struct pd_record;
struct pd_attr;

enum pd_order_by {
	PD_AS_WRITTEN,
	PD_BY_TIME,		/* bounded by FINISHED_ROUND; what has no time comes at once */
};

enum pd_access {
	PD_READ,
	/* Regular files that nobody but the process's user may write are mapped, with some MB of them in memory: quicker where
	 * most bytes are not looked at. When such a file shrinks meanwhile, or its disk fails, the process gets SIGBUS, and has
	 * to be ready. */
	PD_MAP_OWN,
};

struct pd_options {
	size_t size;		/* PD_OPTIONS() sets it: old callers meet new libraries */
	uint64_t memory_limit;	/* bytes that input may make the library hold; 0: 256 MiB */
	enum pd_order_by order;
	enum pd_severity stop_at;	/* the least severity that ends the reading; 0: PD_FATAL */
	/* Called for everything that is wrong, at the record it concerns. `e` is valid during the call. */
	void (*on_error)(void *ctx, const struct pd_error *e);
	/* Called before a read that may wait for a pipe's other end: a moment to flush output. */
	void (*on_wait)(void *ctx);
	void *ctx;		/* of both */
	unsigned int threads;	/* that may be used, the caller's included; 0 and 1: no others. A second one expands
				 * compressed records */
	enum pd_access access;
	/* What compressed records, and a file that is compressed as a whole, may become: so many bytes, or so many times its
	 * size (of a stream: what was read), whichever is more. The rest is left out, with an error (PD_E_LIMIT). Both 0: any. */
	uint64_t max_expanded, max_ratio;
};
#define PD_OPTIONS(...) PD_OPTIONS_OF(pd_options, __VA_ARGS__)

/* Open a file or a directory of perf record --threads; a descriptor (not closed by the library); bytes (borrowed until
 * pd_close()). gzip, zstd, xz and bzip2 are taken off. In a directory only regular files are read, links not followed. `o` may be
 * NULL. NULL on failure, and *e says why: PD_E_IO, PD_E_MAGIC, PD_E_NOMEM, PD_E_LIMIT, PD_E_ARGUMENT. */
PD_API struct pd_reader *pd_open_path(const char *path, const struct pd_options *o, struct pd_error *e);
PD_API struct pd_reader *pd_open_fd(int fd, const struct pd_options *o, struct pd_error *e);
PD_API struct pd_reader *pd_open_memory(struct pd_bytes in, const struct pd_options *o, struct pd_error *e);
PD_API void pd_close(struct pd_reader *r);	/* NULL is fine */

/* The next record: 1 and *out; 0 at the end; -1 when reading can't go on, *e says why. */
PD_API int pd_next(struct pd_reader *r, const struct pd_record **out, struct pd_error *e);

/* The file around the records. */
enum pd_mode { PD_MODE_FILE, PD_MODE_PIPE, PD_MODE_DIRECTORY };
enum pd_byte_order { PD_LITTLE_ENDIAN, PD_BIG_ENDIAN };

struct pd_section {
	const char *name;	/* "header", "ids", "attrs", "data", "event_types", "feature_table", or a feature's name */
	uint32_t feature;	/* its bit; 0: none */
	uint32_t attr_index;	/* of "ids" */
	uint64_t offset, size;
	bool unread;		/* a feature that is said to be more than the file can hold beside others */
};

struct pd_file_info {
	enum pd_mode mode;
	enum pd_byte_order byte_order;
	bool v1;			/* the magic of perf before 3.4 */
	bool complete;			/* false: the recorder did not finish, or the end is missing */
	bool size_known;		/* false: a stream */
	uint64_t size, header_size, attr_size, data_offset, data_size;
	uint32_t long_size;		/* of the feature bitmap's words: 8, 4 from big-endian 32-bit machines */
	bool adds_features[256];	/* the bitmap; a recorder that was killed may not have written them */
	const struct pd_section *sections;
	size_t nr_sections;
	const struct pd_section *gaps;	/* non-zero bytes that belong to nothing */
	size_t nr_gaps;
};

PD_API const struct pd_file_info *pd_file(const struct pd_reader *r);
/* Bytes of the file: how many were there, or -1. Only where pd_file()->size_known. */
PD_API int64_t pd_read_at(struct pd_reader *r, uint64_t offset, void *p, size_t n);

/* Where the bytes of the input are, as far as it was read: header, features, records, skipped, gaps, zeros and unread add up to
 * total. Unpacked bytes, where the input is packed; of a directory, those of all files that were read. */
struct pd_account {
	size_t size;		/* the caller's sizeof(struct pd_account) */
	uint64_t total;
	uint64_t header;	/* the header, attributes, ids and names of events */
	uint64_t features;	/* the feature table and the sections */
	uint64_t records;	/* with the data after them; damaged ones, too */
	uint64_t skipped;	/* in records named "SKIPPED": bytes that are no record */
	uint64_t gaps;		/* belong to nothing */
	uint64_t zeros;		/* belong to nothing, between sections, and are zero */
	uint64_t unread;	/* the reader has not come to them, or they follow the packed stream */
	uint64_t unwritten;	/* part of skipped: zeros up to the end of the records */
	uint64_t unexpanded;	/* part of records: compressed ones that can't be expanded, or not to their end */
	/* What pd_repair() has not written: */
	uint64_t dropped;	/* part of records, not of unexpanded */
	uint64_t dropped_expanded;	/* bytes out of compressed records; not part of total */
	uint64_t dropped_features;	/* part of features */
};
PD_API void pd_get_account(const struct pd_reader *r, struct pd_account *out);

/* Events. In a pipe they come with the records: the number grows. */
PD_API size_t pd_nr_attrs(const struct pd_reader *r);
PD_API const struct pd_attr *pd_attr_at(const struct pd_reader *r, size_t i);
PD_API const char *pd_attr_name(const struct pd_attr *a);
PD_API size_t pd_attr_index(const struct pd_attr *a);
PD_API const uint64_t *pd_attr_ids(const struct pd_attr *a, size_t *n);
PD_API void pd_attr_visit(const struct pd_reader *r, const struct pd_attr *a, const struct pd_visitor *v, void *ctx);

/* First and last time of the samples, in ns, where the header says it (feature SAMPLE_TIME). */
PD_API bool pd_time_span(struct pd_reader *r, uint64_t *first, uint64_t *last);

/* Feature sections of a file header, in the order of their bits. `feature` is borrowed until the next call. */
PD_API size_t pd_nr_features(const struct pd_reader *r);
struct pd_feature {
	uint32_t id;
	const char *name;	/* "HOSTNAME", or NULL */
	struct pd_bytes bytes;
	uint64_t offset;
};
/* 0, or -1 and *e: PD_E_ARGUMENT where i is not below pd_nr_features(), else what is wrong with the section. */
PD_API int pd_feature_at(struct pd_reader *r, size_t i, struct pd_feature *out, struct pd_error *e);

/* A record. */
PD_API uint32_t pd_record_type(const struct pd_record *r);
PD_API const char *pd_record_name(const struct pd_record *r);	/* "UNKNOWN" */
PD_API uint16_t pd_record_misc(const struct pd_record *r);
PD_API uint64_t pd_record_offset(const struct pd_record *r);
PD_API struct pd_bytes pd_record_bytes(const struct pd_record *r);	/* as they lie in the file, header included */
PD_API const struct pd_attr *pd_record_attr(const struct pd_record *r);	/* its event, or NULL */
PD_API const struct pd_error *pd_record_error(const struct pd_record *r);	/* NULL: intact */
/* ns; false where the record has none. */
PD_API bool pd_record_time(const struct pd_record *r, uint64_t *time);

/* A field by its name, as in the JSON ("ip", "callchain", "filename"), in objects by their path ("sample_id.cpu",
 * "read.value", "raw.data"), but not inside of arrays; without walking where its place is fixed. pd_get_text() fetches
 * texts, without the NUL, and bytes; pd_get_numbers() arrays of numbers and registers. False: not there, or of another
 * kind. */
PD_API bool pd_get_number(const struct pd_record *r, const char *name, uint64_t *out);
PD_API bool pd_get_numbers(const struct pd_record *r, const char *name, struct pd_numbers *out);
PD_API bool pd_get_text(const struct pd_record *r, const char *name, struct pd_bytes *out);

/* Every field of a record, in wire order; sample_id's as an object of that name, last. */
PD_API void pd_record_visit(const struct pd_record *r, const struct pd_visitor *v, void *ctx);

/* Bytes that follow the record (AUXTRACE, HEADER_TRACING_DATA): up to n of what is left of them, borrowed until the next
 * call; 0 at their end, -1 and *e. Reading them ends the record's own validity. */
PD_API uint64_t pd_payload_size(const struct pd_record *r);
PD_API int pd_payload_read(struct pd_reader *r, size_t n, struct pd_bytes *out, struct pd_error *e);

/* Sinks take every record, from a loop of the caller's:
 *
 *	got = 0;
 *	failed = pd_sink_begin(sink, reader);
 *	while (!failed && !(failed = pd_sink_batch(sink, reader)) && (got = pd_next(reader, &record, &e)) == 1)
 *		failed = pd_sink_record(sink, record);
 *	if (!failed && got < 0)
 *		failed = pd_sink_error(sink, &e);
 *	if (!failed)
 *		failed = pd_sink_finish(sink, reader);
 *
 * while the reader's on_error calls pd_sink_error(), and its on_wait pd_sink_wait(). (What `stop_at` ends the reading
 * with, on_error had already.) pd_sink_batch() may be left out: then all records come one by one, and threads have
 * nothing to do. */
struct pd_sink;
/* A sink of one's own: each function may be NULL. 0 goes on; anything else is for the caller to end with. */
struct pd_sink_ops {
	size_t size;
	int (*begin)(void *state, struct pd_reader *r);
	int (*record)(void *state, const struct pd_record *r);
	int (*error)(void *state, const struct pd_error *e);
	int (*finish)(void *state, struct pd_reader *r);
	void (*wait)(void *state);
	void (*free)(void *state);
	int (*batch)(void *state, struct pd_reader *r);	/* of this library's sinks, who see its inside: else NULL */
};
PD_API struct pd_sink *pd_sink_new(const struct pd_sink_ops *ops, void *state);
/* Before pd_close(), but for a sink that is finished: its threads may be reading what the reader holds. NULL is fine. */
PD_API void pd_sink_close(struct pd_sink *s);
/* They return what the sink's function returned. wait: the input has nothing for now, so output should not be held
 * back. */
PD_API int pd_sink_begin(struct pd_sink *s, struct pd_reader *r);
PD_API int pd_sink_record(struct pd_sink *s, const struct pd_record *r);
/* Lets the sink read records itself, as far as it has a faster way for those that come next than one by one; go on with
 * pd_next(). */
PD_API int pd_sink_batch(struct pd_sink *s, struct pd_reader *r);
PD_API int pd_sink_error(struct pd_sink *s, const struct pd_error *e);
PD_API int pd_sink_finish(struct pd_sink *s, struct pd_reader *r);
PD_API void pd_sink_wait(struct pd_sink *s);

enum pd_blobs { PD_BLOBS_HEX, PD_BLOBS_OMIT, PD_BLOBS_FULL };
enum pd_json_shape { PD_JSON_DOCUMENT, PD_JSON_LINES };

enum pd_json_layout {
	PD_JSON_COMPACT,
	PD_JSON_INDENTED,	/* for people; not for PD_JSON_LINES */
};
enum pd_json_parts {
	PD_JSON_ALL,
	PD_JSON_HEADER,		/* no records, though they are handed in: they tell of a pipe's features */
};

struct pd_json_options {
	size_t size;
	enum pd_json_shape shape;
	enum pd_blobs blobs;
	enum pd_json_layout layout;
	enum pd_json_parts parts;
	struct pd_filter *filter;	/* borrowed, or NULL: records it drops are counted as `filtered` */
	unsigned int threads;		/* that write records, the caller's included; 0 and 1: no others. The same bytes */
};
/* JSON as ../schemas describe it, to `out`. `o` may be NULL. */
PD_API struct pd_sink *pd_json_sink(const struct pd_json_options *o, struct pd_output out);

struct pd_stats_options {
	size_t size;
	enum pd_json_layout layout;
	struct pd_filter *filter;	/* borrowed, or NULL */
	unsigned int threads;		/* that count, the caller's included; 0 and 1: no others. The same numbers */
};
/* What is in the file, counted, as one JSON object: written when the sink is finished. `o` may be NULL. */
PD_API struct pd_sink *pd_stats_sink(const struct pd_stats_options *o, struct pd_output out);

#ifdef __cplusplus
}
#endif
#endif
