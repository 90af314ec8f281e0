/* script.h - each sample as text, in the layout of perf script. */
#ifndef PP_SCRIPT_H
#define PP_SCRIPT_H

#include "out.h"
#include "stack.h"

struct pp_texts;

/* Writes what is known of the recording. Returns 0, or -1 without memory. */
int pp_put_script_head(struct pp_out *out, struct pd_reader *r);

/* Writes a sample that counts as `weight` of an event. Returns PD_OK or PD_E_LIMIT. */
enum pd_code pp_texts_add(struct pp_texts *t, struct pd_reader *r, const struct pd_fields *sample,
			  const struct pp_stack *stack, const struct pp_counted_event *event,
			  uint64_t weight);

#endif
