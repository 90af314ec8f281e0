/* script_starts.h - how a sample begins in the layout of perf script: task, thread, CPU, time,
 * period, event. */
#ifndef PP_SCRIPT_STARTS_H
#define PP_SCRIPT_STARTS_H

#include "encoding/out.h"

enum {
	PP_STARTS = 64,		/* threads of which the text is kept */
	PP_STARTS_COMM = 32,	/* bytes of their names at most, with a NUL */
	PP_STARTS_TEXT = 64,	/* bytes of a text that is kept */
};

/* The shape of a sample's text. */
enum pp_sample_shape { PP_IN_ONE_LINE, PP_WITH_LINES_BELOW };

struct pp_line_start {
	const struct pd_fields *sample;
	const struct pd_task *task;
	const struct pp_counted_event *event;
	uint64_t weight;
	uint32_t fields;	/* of enum pp_field */
	enum pp_sample_shape shape;
};

/* Text that is kept, as most samples have it again. Must be zero-initialized, but for `like` and
 * `times`. */
struct pp_line_starts {
	enum pp_like like;
	enum pp_times times;
	int widest;		/* of the events' names; 0: not known yet */
	/* The texts of threads, by their numbers, modulo. */
	struct pp_who {
		char comm[PP_STARTS_COMM];
		int32_t task_tid, pid, tid;
		uint32_t form;	/* the fields, and what else the text depends on */
		uint32_t size;	/* 0: none is kept */
		char text[PP_STARTS_TEXT];
	} who[PP_STARTS];
	/* The text of the last event. */
	struct {
		size_t number;	/* in the profile */
		size_t size;	/* 0: none is kept */
		char text[PP_STARTS_TEXT];
	} event;
};

void pp_put_line_start(struct pp_line_starts *s, struct pp_out *out, const struct pd_reader *r,
		       const struct pp_line_start *l);

#endif
