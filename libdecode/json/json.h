/* json.h - state of the JSON sink, and the functions that write parts of its output. */
#ifndef PD_JSON_JSON_H
#define PD_JSON_JSON_H

#include "base/jsonw.h"
#include "base/pretty.h"
#include "json/emit.h"
#include "json/json_frame_table.h"
#include "json/json_name_totals.h"
#include "pd/history.h"
#include "reader/reader.h"
#include "stats/totals.h"
#include "stream/batch.h"

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
#define PD_JSON_REGISTERS 4		/* hashed by the address of the names */

/* For code that few records need: keeps its variables out of the caller's frame. */
#define COLD __attribute__((noinline))
/* For code that runs for each record or number: one copy for each caller or byte order. */
#define INLINE inline __attribute__((always_inline))

#define PD_JSON_TYPES 128

struct pd_json_counts {
	uint64_t records, by_type[PD_JSON_TYPES], skipped, errors;
	struct pd_totals totals;
	struct pd_map others;		/* type -> uint64_t *: known types of 128 and up */
	uint64_t unknown;		/* records of other types of 128 and up */
};

struct pd_json {
	struct pd_jsonw w;
	struct pd_pretty pretty;	/* between w and the output if indented */
	struct pd_json_options options;
	struct pd_namer namer;		/* a copy of options.namer; zeros: none */
	struct pd_reader *reader;
	struct pd_session *session;
	struct pd_budget own;		/* of the sink: for events and errors, not for records */
	struct pd_arena arena;
	struct pd_emit programs[PD_EMIT_PROGRAMS];
	struct pd_json_registers registers[PD_JSON_REGISTERS];
	struct pd_json_counts counts;
	struct pd_error *errors;
	size_t nr_errors, errors_capacity;
	struct pd_error fatal;		/* if the list was full when it occurred */
	uint64_t listed;		/* bytes of the list, charged to the reader's budget */
	uint64_t unlisted;		/* errors that the list has no room for */
	bool begun;
	struct pd_json_workers *workers;	/* NULL: one thread */
	bool error_is_written;		/* the line of the error being reported is written */
	/* State of the record being written: */
	const struct pd_record *record;
	const struct pd_op *written;	/* ops that its emit program has written, or NULL */
	struct pd_bytes raw_data;
	size_t fields_missing;		/* of its tracepoint: the raw data are too short */
	bool not_utf8;			/* a bare string, which has no key for _hex, is not */
	struct pd_json_second {
		uint64_t second;	/* since 1970 */
		char text[20];		/* 2026-11-23T09:15:48. */
	} second;			/* of the last time_utc; 0: none yet */
	struct pd_json_resolve {
		struct pd_location *locations;	/* of the record being written */
		int32_t pid;			/* of the record being written; -1: unknown */
		const char *stack_end;		/* why its stack ends there; "": not unwound */
		size_t capacity, nr_counts;
		struct pd_image_frames *counts;	/* of each image; NULL: none yet */
		struct pd_json_name_totals names;
		struct pd_frame_table table;	/* with PD_JSON_FRAMES_TABLE */
	} resolve;			/* with options.history */
};

extern const struct pd_visitor pd_json_visitor;
/* Runs an emit program, without its leading comma after an opening brace. */
static inline void pd_json_emit(struct pd_json *j, const struct pd_emit *p, const uint8_t *start,
				enum pd_swap swap)
{
	char *at = (pd_jsonw_room(&j->w), j->w.at);

	j->w.at = pd_emit_put(j, p, at[-1] == '{', at, start, swap);
}

/* Returns whether the row is a `time` that has a `time_utc` beside it. */
static inline bool pd_json_has_utc(const struct pd_json *j, const struct pd_field *f)
{
	return j->options.times == PD_JSON_CLOCK_AND_UTC && f->role == PD_ROLE_TIME &&
	       strcmp(f->name, "time") == 0;
}

#define PD_JSON_UTC_SIZE 64	/* at least what pd_json_utc() writes */
/* Writes ,"time_utc":"..." for a time of the record, if its wall time is known. */
void pd_json_utc(struct pd_json *j, uint64_t time);

/* Writes a sample's ,"comm", ,"frames", ,"branch_frames" and ,"addr_frame", as far as
 * options.history, which must be set, knows them. */
void pd_json_resolve(struct pd_json *j, const struct pd_record *r);
/* Moves the counts of a worker to the caller's sink. */
void pd_json_resolve_collect(struct pd_json *all, struct pd_json *worker);
void pd_json_resolve_free(struct pd_json *j);
/* Writes the members of an entry of the table. */
void pd_json_table_frame(struct pd_json *j, const struct pd_frame_entry *entry);
/* Writes the members of an image of options.history. */
void pd_json_image(struct pd_json *j, size_t index);
/* With names: writes how many frames have one, and gives that to the namer. */
void pd_json_name_summary(struct pd_json *j);

/* Writes ,"tracepoint":{...} for the record's raw data. */
void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e);
/* Writes an array of numbers. */
void pd_json_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n);

/* Writes the row's key, or the comma before an array's bare element. */
static inline void pd_json_key(struct pd_json *j, const struct pd_field *f)
{
	if (f->key_size)
		pd_jsonw_padded_key(&j->w, f->key, f->key_size);
	else
		pd_jsonw_comma(&j->w);
}
/* Writes a key: the name with a suffix. */
void pd_json_key_with(struct pd_json *j, const char *name, const char *suffix);
/* Writes a value's name, or the number as text if it has none. */
void pd_json_name(struct pd_json *j, const struct pd_name *names, uint64_t v);

/* Reads a batch, of which the filter may drop records; NULL: none follows. Returns 0 or the
 * filter's error. */
int pd_json_next_batch(struct pd_json *j, struct pd_batch **batch);

/* Writes a record as a line, or as an element of the document's array. */
void pd_json_write_record(struct pd_json *j, const struct pd_record *r);
/* Writes a record of only numbers by its program. Returns false, with nothing written, if that is
 * not compiled yet or does not write all of it. */
bool pd_json_run_whole(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p);

/* Returns whether a record is nothing but numbers at fixed places. */
static inline bool pd_json_has_only_numbers(const struct pd_simple *p)
{
	const struct pd_op_list *list = p->plan->list;

	return list->nr_simple == list->nr_ops && !pd_simple_trailer_size(p);
}

/* Writes a record of a batch. pd_batch_begin() has begun *r, which is the record afterwards if
 * j->fields_missing is set. */
static inline void pd_json_write_simple(struct pd_json *j, const struct pd_batch *batch,
					const struct pd_simple *p, struct pd_record *r)
{
	if (pd_json_has_only_numbers(p) && pd_json_run_whole(j, batch, p))
		return;
	pd_batch_set(batch, p, r);
	pd_json_write_record(j, r);
}
/* Compiles the members before a record's fields, and the numbers that its body begins with. */
void pd_json_compile_record(struct pd_emit *p, const struct pd_json *j,
			    const struct pd_emit_key *key, const struct pd_record *r);
/* Writes the members before a record's fields without an emit program: for a record that is cut or
 * of an unknown type, or skipped bytes. */
void pd_json_write_head_slow(struct pd_json *j, const struct pd_record *r);
/* Writes the error that a record's raw data are too short for its fields, as a line. */
void pd_json_write_missing(struct pd_json *j, const struct pd_record *r);
/* Reports that error to the reader. */
void pd_json_report_missing(struct pd_json *j, uint64_t offset, uint64_t want, uint64_t have,
			    const char *file);
/* Writes ,"NAME":value and, if the value does not encode to the same bytes, ,"NAME_raw":"hex". */
void pd_json_feature(struct pd_json *j, uint64_t id, struct pd_bytes section);
void pd_json_file(struct pd_json *j);
void pd_json_attr(struct pd_json *j, const struct pd_attr *a);
void pd_json_error(struct pd_json *j, const struct pd_error *e);
/* Writes the error that ends an incomplete list of errors. */
void pd_json_errors_left_out(struct pd_json *j);
void pd_json_summary(struct pd_json *j);
void pd_json_count(struct pd_json *j, const struct pd_record *r);
/* The same for a simple record: it has a type of the kernel. */
static inline void pd_json_count_simple(struct pd_json *j, const struct pd_batch *batch,
					const struct pd_simple *p)
{
	j->counts.records++;
	j->counts.by_type[p->type]++;
	pd_totals_simple(&j->counts.totals, batch, p, j->session->swap);
}

#endif
