/* out_script.c - each sample as text, in the layout of perf script: many programs read that.
 *
 * A line for each sample: task, thread, CPU, time, period, event; after it the function, or, with a
 * call chain, a line for each of its functions and an empty one. The text of a place is made once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "formats/script_access.h"
#include "formats/script_bpf.h"
#include "formats/script_frames.h"
#include "formats/script_head.h"
#include "formats/script_starts.h"
#include "profile/stack.h"
#include "samples/print_format.h"
#include "samples/trace.h"

struct pp_texts {
	struct pp_out out;
	struct pp_script o;
	uint32_t fields;	/* of the sample's event */
	struct pd_tree *tree;	/* of a tracepoint's sample or an access; NULL: none yet */
	/* Tracepoints may have other fields, and accesses more after the place. */
	struct pp_frame_lines frames[3];
	bool is_trace;
	const struct pd_item *access;	/* the sample, if its access is shown; else NULL */
	struct pp_line_starts starts;
	size_t widest_source;	/* see script_access.h */
	struct pp_trace_format {
		struct pp_print_format *format;	/* NULL: not known */
		bool is_read;
	} *formats;		/* of each event */
	size_t formats_capacity;
	struct pp_printed printed;
};

/* perf 6.1 prints where an address of a chain is in its file. */
static uint64_t shown_address(const struct pp_texts *t, const struct pd_location *at)
{
	if (t->o.like == PP_LIKE_PERF_6_1 && at->of != PD_LOCATION_OF_IP &&
	    at->cpumode == PD_CPUMODE_USER && at->image != PD_NO_IMAGE)
		return at->file_offset;
	return at->addr;
}

/* --- the fields of a tracepoint --- */

static void put_value(struct pp_out *out, const struct pd_item *item)
{
	const struct pd_item *member = NULL;

	switch (item->kind) {
	case PD_ITEM_SIGNED:
		pp_printf(out, "%" PRId64, (int64_t)item->number);
		break;
	case PD_ITEM_ADDRESS:
		pp_printf(out, "0x%" PRIx64, item->number);
		break;
	case PD_ITEM_TEXT:
		pp_put_clean(out, item->bytes);
		break;
	case PD_ITEM_BYTES:
		for (size_t i = 0; i < item->bytes.size; i++)
			pp_printf(out, "%02x", item->bytes.data[i]);
		break;
	case PD_ITEM_OBJECT:
	case PD_ITEM_ARRAY:
		while ((member = pd_item_next(item, member))) {
			put_value(out, member);
			pp_put_text(out, ",");
		}
		break;
	default:
		pp_printf(out, "%" PRIu64, item->number);
	}
}

/* Each field by its name, where the print format is not known. */
static void put_named_fields(struct pp_texts *t, const struct pd_item *fields)
{
	const struct pd_item *field = NULL;
	bool is_first = true;

	while ((field = pd_item_next(fields, field))) {
		if (strncmp(field->name, "common_", 7) == 0)
			continue;
		pp_put_text(&t->out, is_first ? "" : " ");
		pp_put_clean(&t->out, pp_bytes(field->name));
		pp_put_text(&t->out, "=");
		put_value(&t->out, field);
		is_first = false;
	}
}

/* Where a tracepoint's sample is. */
struct place {
	const struct pp_profile *p;
	const struct pd_fields *sample;
	const struct pd_moment *at;
};

static const char *kernel_name(void *ctx, uint64_t address, uint64_t *offset)
{
	const struct place *place = ctx;
	const struct pd_namer *namer = place->p->options.namer;
	struct pd_frame_names names = { .nr_functions = 0 };
	struct pd_location at;

	if (!namer || !pd_history_locate(place->p->options.history, place->sample->pid, address,
					 PD_CPUMODE_KERNEL, place->at, &at))
		return NULL;
	namer->frame(namer->ctx, place->sample->pid, &at, &names);
	*offset = names.offset;
	return names.nr_functions ?
		pp_symbol_of(namer, &names.functions[names.nr_functions - 1]) : NULL;
}

/* Returns the print format of an event, compiled at its first sample; NULL if it is not known. */
static const struct pp_print_format *find_format(struct pp_texts *t, const struct pd_attr *attr)
{
	const size_t before = t->formats_capacity, i = pd_attr_index(attr);
	struct pp_memory *m = &t->out.p->memory;
	struct pp_trace_format *formats = pp_memory_grow(m, t->formats, &t->formats_capacity,
							 i + 1, sizeof(*formats));

	if (!formats)
		return NULL;
	t->formats = formats;
	memset(formats + before, 0, (t->formats_capacity - before) * sizeof(*formats));
	if (!formats[i].is_read)
		formats[i].format = pp_print_format_new(m, pd_attr_print_format(attr));
	formats[i].is_read = true;
	return formats[i].format;
}

static enum pd_code put_trace(struct pp_texts *t, const struct pd_record *record,
			      const struct pd_fields *sample, const struct pd_moment *at)
{
	const struct pp_print_format *format = find_format(t, pd_record_attr(record));
	struct place place = { t->out.p, sample, at };
	const struct pd_item *fields;

	if (pp_trace_fields(&t->tree, record, &fields) != PD_OK)
		return PD_E_LIMIT;
	t->printed.name = kernel_name;
	t->printed.ctx = &place;
	if (format && fields && pp_print_fields(format, fields, &t->printed))
		pp_put_clean(&t->out, (struct pd_bytes){ (const uint8_t *)t->printed.text,
							 t->printed.size });
	else
		put_named_fields(t, fields);
	return PD_OK;
}

static void free_formats(struct pp_texts *t, struct pp_memory *m)
{
	for (size_t i = 0; i < t->formats_capacity; i++)
		pp_print_format_free(t->formats[i].format, m);
	pp_memory_free(m, t->formats, t->formats_capacity, sizeof(*t->formats));
}

/* --- a sample --- */

/* Writes the functions of a chain, innermost first. Those that it has in common with the thread's
 * last one are kept. */
static enum pd_code put_chain(struct pp_texts *t, const struct pd_fields *sample,
			      const struct pp_stack *stack)
{
	struct pp_recent *recent = stack->recent;
	size_t left = t->o.max_depth ? t->o.max_depth : SIZE_MAX;
	enum pd_code code = PD_OK;

	for (size_t i = 0; i < stack->nr && code == PD_OK; i++) {
		struct pd_location *at = &stack->items[i];
		const uint32_t frame = pp_stack_frame(t->out.p, sample, stack, at);
		const uint64_t shown = shown_address(t, at);

		if (left && (at->of != PD_LOCATION_OF_IP || t->o.layout == PP_LAYOUT_STACKS)) {
			code = pp_put_frame(&t->frames[t->is_trace], &t->out, frame, '\t', shown);
			left--;
		}
		if (recent)
			pp_recent_set_frame(recent, stack->same + stack->nr - 1 - i, frame, shown);
	}
	for (size_t i = stack->same; i-- && left-- && code == PD_OK;)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): else `same` is 0 */
		code = pp_put_frame(&t->frames[t->is_trace], &t->out, recent->nodes[i], '\t',
				    recent->shown[i]);
	if (recent) {
		recent->is_cut = stack->is_cut;
		pp_recent_keep_chain(recent, sample, stack->same + stack->nr);
	}
	return code;
}

static enum pd_code put_place(struct pp_texts *t, const struct pd_fields *sample,
			      const struct pp_stack *stack)
{
	struct pp_frame_lines *lines = &t->frames[t->access ? 2 : t->is_trace];

	return pp_put_frame(lines, &t->out, pp_stack_frame(t->out.p, sample, stack, stack->items),
			    ' ', shown_address(t, stack->items));
}

/* Writes the end of the line or lines of a place. */
static void put_end(struct pp_texts *t)
{
	if (t->access)
		pp_put_pages(&t->out, t->access);
	pp_put_text(&t->out, "\n");
}

static enum pd_code put_stack(struct pp_texts *t, const struct pd_fields *sample,
			      const struct pp_stack *stack, enum pp_sample_shape shape)
{
	enum pd_code code;

	if (shape == PP_IN_ONE_LINE) {
		code = stack->nr ? put_place(t, sample, stack) : PD_OK;
		if (t->access || !stack->nr)
			put_end(t);
		return code;
	}
	pp_put_text(&t->out, "\n");
	code = put_chain(t, sample, stack);
	if (stack->is_cut && t->o.cut == PP_CUT_SHOWN)
		pp_put_text(&t->out, "\t               0 [cut stack] ([unknown])\n");
	put_end(t);
	return code;
}

static bool is_unwound(const struct pp_stack *stack)
{
	return stack->nr && stack->items[0].of == PD_LOCATION_OF_STACK;
}

static enum pd_code read_access(struct pp_texts *t, const struct pd_record *record,
				const struct pp_counted_event *event)
{
	t->access = NULL;
	/* programs that read stacks would not find the event's name before it */
	if (!event->weigher.has_accesses || !(t->fields & PP_FIELD_ACCESS) ||
	    t->o.layout == PP_LAYOUT_STACKS)
		return PD_OK;
	return pp_read_record(&t->tree, record, &t->access);
}

/* Its place is the last of a sample's lines. */
static enum pd_code put_sample_and_place(struct pp_texts *t, struct pd_reader *r,
					 const struct pd_fields *sample,
					 const struct pp_stack *stack,
					 const struct pp_counted_event *event, uint64_t weight)
{
	const bool has_chain = sample->has & PD_HAS_CALLCHAIN || is_unwound(stack);
	const bool has_stack = t->o.layout == PP_LAYOUT_STACKS || has_chain;
	enum pp_sample_shape shape = PP_IN_ONE_LINE;
	enum pd_code code;

	t->is_trace = event->weigher.is_tracepoint;
	t->fields = t->is_trace ? t->o.trace_fields : t->o.fields;
	code = read_access(t, pd_reader_record(r, sample), event);
	if (has_stack && t->fields & PP_FIELD_IP)
		shape = PP_WITH_LINES_BELOW;
	if (stack->recent && !stack->recent->is_known)
		pp_recent_keep_task(stack->recent, &stack->task, PP_NONE);
	pp_put_line_start(&t->starts, &t->out, r, &(struct pp_line_start){
				  sample, &stack->task, event, weight, t->fields, shape });
	if (t->is_trace && t->fields & PP_FIELD_TRACE)
		code = put_trace(t, pd_reader_record(r, sample), sample, &stack->at);
	if (t->access)
		pp_put_access(&t->out, t->access, t->o.like, &t->widest_source);
	if (code != PD_OK)
		return code;
	/* perf shows where a tracepoint is only if that was recorded or asked for */
	if (shape == PP_IN_ONE_LINE &&
	    (!(t->fields & PP_FIELD_IP) || (t->is_trace && !(t->fields & PP_FIELD_LONE_IP)))) {
		put_end(t);
		return PD_OK;
	}
	return put_stack(t, sample, stack, shape);
}

static enum pd_code put_bpf_output(struct pp_texts *t, const struct pd_record *record)
{
	const struct pd_item *root, *item;
	const enum pd_code code = pp_read_record(&t->tree, record, &root);

	item = pd_item_get(root, "raw.data");
	if (item && item->kind == PD_ITEM_BYTES)
		pp_put_bpf_output(&t->out, item->bytes);
	return code;
}

/* The lines of a sample. */
static enum pd_code put_sample(void *ctx, struct pd_reader *r, const struct pd_fields *sample,
			       const struct pp_stack *stack, const struct pp_counted_event *event,
			       uint64_t weight)
{
	struct pp_texts *t = ctx;
	const enum pd_code code = put_sample_and_place(t, r, sample, stack, event, weight);

	/* programs that read stacks would take the lines for functions */
	if (code != PD_OK || !event->weigher.is_bpf_output || !(t->fields & PP_FIELD_BPF_OUTPUT) ||
	    t->o.layout == PP_LAYOUT_STACKS)
		return code;
	return put_bpf_output(t, pd_reader_record(r, sample));
}

static bool is_script(const struct pp_script *o)
{
	return o->like <= PP_LIKE_PERF_6_1 && o->layout <= PP_LAYOUT_STACKS &&
	       o->cut <= PP_CUT_SHOWN && o->times <= PP_TIMES_NS && o->head <= PP_HEAD_SHOWN;
}

int pp_script(struct pp_profile *p, struct pd_reader *r, const struct pp_script *o,
	      struct pd_output to, struct pd_error *e)
{
	struct pp_texts t = { .out = { .p = p, .to = to } };
	const struct pp_each_sample each = { .take = put_sample, .ctx = &t };
	struct pd_error unused;
	int ret = 0;

	e = pd_error_or(e, &unused);
	if (!p || !r || !to.write || !o || pd_options_take(&t.o, sizeof(t.o), o, o->size) ||
	    !is_script(&t.o))
		return pd_refuse(e, "no profile, reader or output, or an invalid option");
	if (!t.o.fields)
		t.o.fields = PP_FIELDS;
	if (!t.o.trace_fields)
		t.o.trace_fields = PP_FIELDS_OF_TRACEPOINTS;
	if (t.o.head == PP_HEAD_SHOWN)
		ret = pp_put_script_head(&t.out, r);
	t.frames[0].fields = t.o.fields;
	t.frames[1].fields = t.o.trace_fields;
	t.frames[2].fields = t.o.fields;
	t.frames[2].are_open = true;
	t.starts.like = t.o.like;
	t.starts.times = t.o.times;
	p->each = &each;
	if (ret)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	else
		ret = pp_add(p, r, e);
	p->each = NULL;
	pp_flush(&t.out);
	pd_tree_free(t.tree);
	free_formats(&t, &p->memory);
	for (size_t i = 0; i < 3; i++)
		pp_frame_lines_free(&t.frames[i], &p->memory);
	return t.out.error ? t.out.error : ret;
}
