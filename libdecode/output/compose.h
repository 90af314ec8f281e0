/* compose.h - encode the parts of a file from values: headers, records, features. Used by encoder
 * and writer.
 */
#ifndef PD_OUTPUT_COMPOSE_H
#define PD_OUTPUT_COMPOSE_H

#include "pd/write.h"
#include "pack/pack.h"
#include "session/session.h"

struct pd_header_values {
	bool v1;
	uint32_t long_size;	/* 8 or 4: size of a word of the feature bitmap */
	uint64_t size, attr_size;
	struct pd_section attrs, data, event_types;
	bool features[PD_FEATURE_BITS];
};

/* Appends the header of a file or of a pipe. */
int pd_compose_header(struct pd_session *s, const struct pd_header_values *h, struct pd_buf *out);
/* Returns whether a reader of the header would find other features. */
bool pd_feature_words_misread(const struct pd_session *s, const struct pd_header_values *h);
int pd_compose_pipe_header(struct pd_session *s, struct pd_buf *out);
/* Appends {offset, size}, for the ids of an attr or for perf's feature table. */
int pd_compose_section(struct pd_session *s, uint64_t offset, uint64_t size, struct pd_buf *out);

/* Appends an own table with n entries, ascending. */
int pd_compose_own_table(struct pd_session *s, const struct pd_section *features, size_t n,
			 struct pd_buf *out);
/* Appends the tables of n features, ascending, for the offset `at`: perf's, whose bits it sets in
 * the header, and the own one. Sets the features' offsets: directly after the tables, in this
 * order. */
int pd_compose_feature_tables(struct pd_session *s, uint64_t at, struct pd_section *features,
			      size_t n, struct pd_header_values *h, struct pd_buf *out);

/* Whether to use a feature's raw bytes, if given, or its decoded form, in another byte order. */
enum pd_prefer { PD_PREFER_RAW, PD_PREFER_DECODED };

struct pd_compose_record {
	uint32_t type;
	uint32_t wrong_type;		/* as in struct pd_frame */
	uint16_t misc;
	const struct pd_attr *attr;	/* for kernel records; may be NULL */
	size_t size;			/* of the record; PD_SIZE_OPEN: by its fields */
	/* bytes that exist of a truncated record, or PD_SIZE_OPEN */
	size_t cut;
	pd_node sample_id;		/* NULL: no trailer, */
	bool is_synthesized;		/* or with this one of zeros, as perf synthesizes it */
	enum pd_prefer prefer;
	bool opaque;			/* only `body` is given */
};

/* Appends a record: header, fields, trailer. Returns 0, or -1 and *e. */
int pd_compose_record(struct pd_session *s, const struct pd_values *v,
		      const struct pd_compose_record *r, pd_node fields,
		      struct pd_buf *out, struct pd_pack_error *e);

/* Appends a feature section from the member `name` of `features`, or from name_raw. Returns 0, 1 if
 * there is neither, or -1 and *e. */
int pd_compose_feature(struct pd_session *s, const struct pd_values *v, const char *name,
		       pd_node features,
		       enum pd_prefer prefer, struct pd_buf *out, struct pd_pack_error *e);

/* Returns whether name_raw has bytes that the decoded form does not reproduce. They are lost when
 * the session's byte order is not that of the input. */
bool pd_feature_loses_raw(struct pd_session *s, const struct pd_values *v, uint32_t id,
			  pd_node features);

/* Returns whether a pipe carries the feature as other records, or not at all. */
bool pd_feature_not_in_pipe(uint32_t id);
/* Returns whether a HEADER_FEATURE record can have the section: it fits into one, and perf, which
 * refuses a pipe with an id above its own, reads it. */
bool pd_feature_fits_record(uint32_t id, size_t size);

struct pd_composed_feature {
	bool given;
	bool left_out;		/* does not fit into a record of a pipe */
	bool lost_raw;		/* bytes that no field describes are lost: the byte order changes */
	struct pd_buf bytes;
};

/* Returns the name of the i-th feature that was left out, or NULL. */
const char *pd_feature_left_out(const struct pd_composed_feature *features, size_t i);
/* Returns the name of the i-th feature of which only `_raw` bytes were lost, or NULL. */
const char *pd_feature_lost_raw(const struct pd_composed_feature *features, size_t i);

/* Returns the bit of the feature with this name, also for "HOSTNAME_raw" and "FEATURE_47", or
 * -1. */
int pd_feature_of_name(const char *name);

#endif
