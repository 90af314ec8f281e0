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

/* A number in a row and the value it had last, rendered: many are the same in record after record. */
#define PD_JSON_STEP_TEXT (4 * PD_JSON_STEP)
struct pd_json_step {
	uint64_t value;			/* as it lies in the file */
	uint64_t high;			/* value / 10^8 where its last 8 digits stand at the end of text; or 0 */
	uint32_t offset;
	uint8_t size;			/* of text */
	uint8_t key_size, width;
	bool is_signed, closes;		/* an array: its bracket follows */
	enum { PD_JSON_NUMBER4, PD_JSON_NUMBER8, PD_JSON_ADDRESS, PD_JSON_SMALL, PD_JSON_OTHER } how;
	const struct pd_op *op;		/* of PD_JSON_OTHER: what is no plain number */
	char text[PD_JSON_STEP_TEXT];	/* key and value */
};

/* The steps of ops in a row. Plans are made anew when the machine they are for changes. */
#define PD_JSON_STEPS 14
struct pd_json_run {
	const struct pd_op *ops;	/* NULL: none yet */
	unsigned int nr_ops, arch_changes;
	enum pd_swap swap;
	unsigned int nr_steps;
	bool plain;			/* no PD_JSON_OTHER among them */
	struct pd_json_step steps[PD_JSON_STEPS];
};
#define PD_JSON_RUNS 64			/* by the address of their ops */

/* Fields of a tracepoint: numbers and short arrays of them, and one field of another kind behind them. */
struct pd_json_tp_part {
	uint32_t nr_steps, from;	/* from: the first field */
	uint64_t used;			/* bytes of those, and one more for each field: see pd_tp_decode() */
	const struct pd_tp_field *then;	/* NULL: none */
};

#define PD_JSON_TP_PARTS 8
#define PD_JSON_TP_STEPS 24
struct pd_json_tp {
	const struct pd_tp_event *event;	/* NULL: none yet */
	size_t nr_parts, nr_steps, done;	/* done: fields in the parts */
	size_t head_size;		/* 0: not kept */
	char head[8 * PD_JSON_STEP];	/* ,"tracepoint":{ to the fields' bracket */
	struct pd_json_tp_part parts[PD_JSON_TP_PARTS];
	struct pd_json_step steps[PD_JSON_TP_STEPS];
};
#define PD_JSON_TPS 64			/* by the address of their event */

/* The names of a set of registers as keys, each with the value it had last. */
#define PD_JSON_REGISTER_KEY 16
struct pd_json_register {
	uint64_t value;
	uint8_t key_size, size;
	char text[PD_JSON_REGISTER_KEY + 24];	/* ,"ax":"0x1" */
};
struct pd_json_registers {
	const char *const *names;	/* NULL: none yet */
	unsigned int arch_changes;
	struct pd_json_register each[64];
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
	struct pd_json_run runs[PD_JSON_RUNS];
	struct pd_json_tp tps[PD_JSON_TPS];
	struct pd_json_registers registers[PD_JSON_REGISTERS];
	struct pd_json_chain chains[2];
	unsigned int last_chain;	/* of those two */
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

/* A plain number shown as decimal, signed, or hex. False: the key is too long, or it is no plain one. */
bool pd_json_make_step(struct pd_json_step *s, struct pd_bytes key, uint32_t offset, unsigned int width,
		       enum pd_show show);
/* The bracket of an array follows it. */
void pd_json_close_step(struct pd_json_step *s);
/* Numbers at start, written from `at` on, where PD_JSONW_SLACK bytes are; the end. Behind a '{' only plain ones. */
char *pd_json_put_steps(struct pd_json *j, struct pd_json_step *s, size_t n, char *at, const uint8_t *start,
			enum pd_swap swap);
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

/* A record as a line, or as an element of the document's array. */
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
