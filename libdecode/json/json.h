/* json.h - the JSON sink's state; json.c is the sink, json_record.c and json_file.c write the parts. */
#ifndef PD_JSON_JSON_H
#define PD_JSON_JSON_H

#include "base/jsonw.h"
#include "base/pretty.h"
#include "json/json_template.h"
#include "reader/reader.h"
#include "stats/totals.h"
#include "stream/batch.h"

struct pd_json_feature_kept {
	uint32_t id;
	struct pd_bytes bytes;
};

/* An offset but for its last 4 digits, as text: for many records that stays the same. */
struct pd_json_offset {
	uint64_t high;			/* 0: none yet */
	uint8_t size;
	char text[24];
};

/* What records of one kind begin with, behind their offset: what they have in common, and their leading numbers. */
#define PD_JSON_BLANKS 20
#define PD_JSON_HEAD_TEXT 1024
struct pd_json_kind {
	const struct pd_attr *attr;
	const struct pd_op_list *list;		/* of the body, for its leading numbers; NULL: without them */
	const struct pd_op *optional;		/* of that list, for the numbers in it; NULL: without them */
	const char *file;
	uint32_t type, generation;		/* generation: of attr */
	unsigned int arch_changes;
	uint16_t misc;
};
struct pd_json_head {
	struct pd_json_kind kind;
	bool is_good;				/* the form is */
	struct pd_json_form form;
	struct pd_json_blank blanks[PD_JSON_BLANKS];
	char text[PD_JSON_HEAD_TEXT + PD_JSON_STEP];
};
#define PD_JSON_HEADS 64			/* by type, misc and event */

/* Numbers in a row elsewhere. Plans are made anew when the machine they are for changes. */
#define PD_JSON_RUN_TEXT 512
struct pd_json_fixed_fields {
	const struct pd_op *ops;	/* NULL: none yet */
	unsigned int nr_ops, arch_changes;
	enum pd_swap swap;
	bool is_good;
	struct pd_json_form form;
	struct pd_json_blank blanks[PD_JSON_BLANKS];
	char text[PD_JSON_RUN_TEXT + PD_JSON_STEP];
};
#define PD_JSON_RUNS 64			/* by the address of their ops */

/* Fields of a tracepoint: numbers and short arrays of them, and one field of another kind behind them. */
struct pd_json_tp_part {
	struct pd_json_form form;	/* of the first part: from ,"tracepoint":{ on */
	uint32_t from;			/* the first field */
	uint64_t used;			/* bytes of those, and one more for each field: see pd_tp_decode() */
	const struct pd_tp_field *then;	/* NULL: none */
};

#define PD_JSON_TP_PARTS 8
#define PD_JSON_TP_BLANKS 24
#define PD_JSON_TP_TEXT 1024
struct pd_json_tp {
	const struct pd_tp_event *event;	/* NULL: none yet */
	size_t nr_parts, nr_blanks, used, done;	/* used: bytes of text; done: fields in the parts */
	struct pd_json_tp_part parts[PD_JSON_TP_PARTS];
	struct pd_json_blank blanks[PD_JSON_TP_BLANKS];
	char text[PD_JSON_TP_TEXT + PD_JSON_STEP];
};
#define PD_JSON_TPS 64			/* by the address of their event */

/* The names of a set of registers as keys. */
#define PD_JSON_REGISTER_KEY 16
struct pd_json_registers {
	const char *const *names;	/* NULL: none yet */
	unsigned int arch_changes;
	struct pd_json_register {
		char text[PD_JSON_REGISTER_KEY];	/* ,"ax":"0x */
		uint8_t size;
	} each[64];
};
#define PD_JSON_REGISTERS 4		/* by the address of their names */

/* The last chain of addresses: the next one often begins and ends like it. */
#define PD_JSON_CHAIN 160
struct pd_json_chain {
	const struct pd_name *names;	/* of its markers */
	enum pd_swap swap;
	const char *text;		/* in the writer's buffer; NULL: none yet */
	uint64_t flushed;		/* of the writer, then */
	size_t count;
	uint64_t entries[PD_JSON_CHAIN];	/* as they lie in the file */
	uint16_t ends[PD_JSON_CHAIN];		/* of each entry's text, from the opening bracket */
};

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
	struct pd_json_offset outer, inner;	/* of the last record */
	struct pd_json_head heads[PD_JSON_HEADS];
	struct pd_json_fixed_fields runs[PD_JSON_RUNS];
	struct pd_json_tp tps[PD_JSON_TPS];
	struct pd_json_registers registers[PD_JSON_REGISTERS];
	struct pd_json_chain chains[2];
	unsigned int last_chain;	/* of those two */
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
	const struct pd_record *record;	/* NULL: a plain one */
	const struct pd_attr *attr;
	const struct pd_op *head_ops, *head_optional;	/* numbers that stand in its head already, or NULL */
	struct pd_bytes raw_data;
	size_t fields_missing;		/* of the tracepoint: the raw data are too short */
	bool not_utf8;			/* in an array of bare strings: their bytes can't stand beside them */
};

extern const struct pd_visitor pd_json_visitor;
/* A pd_see_fixed_fields: the plain numbers of a record, without a call for each. */
void pd_json_fixed_fields(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap);

/* ,"sample_id":{...} of a trailer that is a run. */
void pd_json_trailer(struct pd_json *j, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap);
/* Adds those of a run to a form, with their keys; at: where the run begins. */
void pd_json_form_ops(struct pd_json_form *f, const struct pd_op *op, size_t n, uint32_t at);
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
void pd_json_write_simple(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p);
/* Heads: for records of a kind, of one that is not like others, of bytes that are none. */
void pd_json_make_head(struct pd_json *j, struct pd_json_head *h, const struct pd_json_kind *kind);
void pd_json_odd_head(struct pd_json *j, const struct pd_record *r);
void pd_json_skipped(struct pd_json *j, const struct pd_record *r);
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
void pd_json_count_simple(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p);

#endif
