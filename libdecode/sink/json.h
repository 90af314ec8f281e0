/* json.h - the JSON sink's state; json.c is the sink, json_record.c and json_file.c write the parts. */
#ifndef PD_SINK_JSON_H
#define PD_SINK_JSON_H

#include "base/jsonw.h"
#include "file/record.h"
#include "reader.h"
#include "sink/pretty.h"

/* Text rendered once; copied in whole steps. */
#define PD_JSON_STEP 32
struct pd_json_text {
	size_t size;
	char text[3 * PD_JSON_STEP];
};

/* An event's keys in a record, rendered once per name. */
struct pd_json_label {
	uint32_t generation;
	size_t size;
	char text[16 * PD_JSON_STEP];
};

struct pd_json_feature_kept {
	uint32_t id;
	struct pd_bytes bytes;
};

/* What two records have in common that differ in their fields only: from their type to their event, rendered once. */
struct pd_json_head {
	const struct pd_record_desc *desc;	/* NULL: none yet */
	const struct pd_attr *attr;
	uint32_t generation;			/* of attr */
	uint16_t size, misc;
	uint32_t text_size;
	char text[8 * PD_JSON_STEP];
};
#define PD_JSON_HEADS 8				/* by the low bits of misc */

#define PD_JSON_TYPES 128

struct pd_json_counts {
	uint64_t records, by_type[128], skipped, errors;
	uint64_t lost, lost_samples, first_time, last_time;
	struct pd_map others;		/* type -> uint64_t *: types of 128 and up */
};

struct pd_json {
	struct pd_jsonw w;
	struct pd_pretty pretty;	/* between w and the output, where it is wanted */
	struct pd_json_options options;
	struct pd_reader *reader;
	struct pd_session *session;
	struct pd_budget own;		/* memory of the sink itself: grows with events and errors, not with records */
	struct pd_arena arena;
	struct pd_json_text types[PD_JSON_TYPES], other_type, cpumodes[8];
	struct pd_json_label **labels;
	size_t nr_labels;
	struct pd_json_head heads[PD_JSON_HEADS];
	struct pd_json_counts counts;
	struct pd_error *errors;
	size_t nr_errors, errors_capacity;
	struct pd_json_feature_kept features[PD_FEATURE_BITS];	/* of a pipe */
	size_t nr_features;
	bool begun;
	struct pd_json_team *team;	/* the threads, or NULL */
	bool error_is_written;		/* its line stands where it belongs already */
	/* of the record being written */
	const struct pd_record *record;
	struct pd_bytes raw_data;
	size_t fields_missing;		/* of the tracepoint: the raw data are too short */
	bool not_utf8;			/* in an array of bare strings: their bytes can't stand beside them */
};

extern const struct pd_visitor pd_json_visitor;
/* A pd_see_run: the plain numbers of a record, without a call for each. */
void pd_json_run(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap);

void pd_json_record(struct pd_json *j, const struct pd_record *r);
/* The same as a line, or as an element of the document's array. */
void pd_json_write_record(struct pd_json *j, const struct pd_record *r);
/* The line of the error that the record's raw data are too short for its fields. */
void pd_json_write_missing(struct pd_json *j, const struct pd_record *r);
/* And that error itself, to whoever listens. */
void pd_json_report_missing(struct pd_json *j, uint64_t offset, uint64_t want, uint64_t have, const char *file);
/* ,"NAME":value and, where that does not give the same bytes back, ,"NAME_raw":"hex". */
void pd_json_feature(struct pd_json *j, uint64_t id, struct pd_bytes section);
void pd_json_file(struct pd_json *j);
void pd_json_attr(struct pd_json *j, const struct pd_attr *a);
void pd_json_error(struct pd_json *j, const struct pd_error *e);
void pd_json_summary(struct pd_json *j);
void pd_json_count(struct pd_json *j, const struct pd_record *r);

#endif
