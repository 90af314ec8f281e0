/* json.h - the JSON sink's state; json.c is the sink, json_record.c and json_file.c write the parts. */
#ifndef PD_JSON_JSON_H
#define PD_JSON_JSON_H

#include "base/jsonw.h"
#include "base/pretty.h"
#include "json/emit.h"
#include "reader/reader.h"
#include "stats/totals.h"
#include "stream/batch.h"

struct pd_json_feature_kept {
	uint32_t id;
	struct pd_bytes bytes;
};

/* The names of a set of registers as keys. */
#define PD_JSON_REGISTER_KEY 16
struct pd_json_registers {
	const char *const *names;	/* NULL: none yet */
	unsigned int arch_changes;
	struct pd_json_register {
		char text[PD_JSON_REGISTER_KEY];	/* "ax":"0x */
		uint8_t size;
	} each[64];
};
#define PD_JSON_REGISTERS 4		/* by the address of their names */

#define COLD __attribute__((noinline))	/* few records come here: the others need no room for its variables */

#define PD_JSON_TYPES 128

struct pd_json_counts {
	uint64_t records, by_type[PD_JSON_TYPES], skipped, errors;
	struct pd_totals totals;
	struct pd_map others;		/* type -> uint64_t *: known types of 128 and up */
	uint64_t unknown;		/* records of other types of 128 and up */
};

struct pd_json {
	struct pd_jsonw w;
	struct pd_pretty pretty;	/* between w and the output, where it is wanted */
	struct pd_json_options options;
	struct pd_reader *reader;
	struct pd_session *session;
	struct pd_budget own;		/* memory of the sink itself: grows with events and errors, not with records */
	struct pd_arena arena;
	struct pd_emit programs[PD_EMIT_PROGRAMS];
	struct pd_json_registers registers[PD_JSON_REGISTERS];
	struct pd_json_counts counts;
	struct pd_error *errors;
	size_t nr_errors, errors_capacity;
	struct pd_error fatal;		/* if it came when there was no room left in the list */
	uint64_t listed, unlisted;	/* bytes of the list that the reader's budget has; errors that found no room */
	struct pd_json_feature_kept features[PD_FEATURE_BITS];	/* of a pipe */
	size_t nr_features;
	bool begun;
	struct pd_json_team *team;	/* the threads, or NULL */
	bool error_is_written;		/* its line stands where it belongs already */
	/* of the record being written */
	const struct pd_record *record;
	const struct pd_op *written;	/* ops that its program has written already, or NULL */
	struct pd_bytes raw_data;
	size_t fields_missing;		/* of the tracepoint: the raw data are too short */
	bool not_utf8;			/* in an array of bare strings: their bytes can't stand beside them */
};

extern const struct pd_visitor pd_json_visitor;
/* A pd_see_fixed_fields: the plain numbers of a record, without a call for each. */
void pd_json_fixed_fields(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap);

/* ,"tracepoint":{...} of the record's raw data. */
void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e);
/* Arrays of numbers. */
void pd_json_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n);

/* The row's key, or the comma before an array's bare element. */
static inline void pd_json_key(struct pd_json *j, const struct pd_field *f)
{
	if (f->key_size)
		pd_jsonw_padded_key(&j->w, f->key, f->key_size);
	else
		pd_jsonw_comma(&j->w);
}
/* A key with something behind the name. */
void pd_json_key_with(struct pd_json *j, const char *name, const char *suffix);
/* A value's name, the number as text where there is none. */
void pd_json_name(struct pd_json *j, const struct pd_name *names, uint64_t v);

/* pd_reader_batch(), of which the filter has kept some: 0, or what that failed with. */
int pd_json_next_batch(struct pd_json *j, struct pd_batch **batch);

/* Is the record wanted? Then it is counted. Less than 0: the filter failed. */
int pd_json_keeps(struct pd_json *j, const struct pd_record *r);

/* A record as a line, or as an element of the document's array. */
void pd_json_write_record(struct pd_json *j, const struct pd_record *r);
/* Compiles what records of a kind have before their fields, and the numbers that their bodies begin with. */
void pd_json_compile_record(struct pd_emit *p, const struct pd_emit_key *key, const struct pd_record *r);
/* Writes what a record has before its fields without a program: one that is cut, of an unknown type, or no record. */
void pd_json_odd_head(struct pd_json *j, const struct pd_record *r);
/* The line of the error that the record's raw data are too short for its fields. */
void pd_json_write_missing(struct pd_json *j, const struct pd_record *r);
/* And that error itself, to whoever listens. */
void pd_json_report_missing(struct pd_json *j, uint64_t offset, uint64_t want, uint64_t have, const char *file);
/* ,"NAME":value and, where that does not give the same bytes back, ,"NAME_raw":"hex". */
void pd_json_feature(struct pd_json *j, uint64_t id, struct pd_bytes section);
void pd_json_file(struct pd_json *j);
void pd_json_attr(struct pd_json *j, const struct pd_attr *a);
void pd_json_error(struct pd_json *j, const struct pd_error *e);
/* The last one of a list that is too long. */
void pd_json_errors_left_out(struct pd_json *j);
void pd_json_summary(struct pd_json *j);
void pd_json_count(struct pd_json *j, const struct pd_record *r);

#endif
