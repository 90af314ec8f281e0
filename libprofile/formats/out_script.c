/* out_script.c - each sample as text, in the layout of perf script: many programs read that.
 *
 * A line for each sample: task, thread, CPU, time, period, event; after it the function, or, with a
 * call chain, a line for each of its functions and an empty one. The text of a place is made once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/script_head.h"
#include "profile/stack.h"
#include "samples/trace.h"

/* The lines of a frame, without their addresses. */
struct lines {
	uint32_t text;		/* string + 1; 0: not made yet */
	uint32_t first;		/* bytes of the first line */
};

/* The text of a frame while it is made. */
struct text {
	struct pp_memory *memory;
	char *bytes;
	size_t size, capacity;
	size_t start;		/* of the line */
	size_t first;		/* bytes of the first line; 0: it has no end yet */
	bool is_cut;		/* there was no memory */
};

struct pp_texts {
	struct pp_out out;
	struct text text;
	struct pp_script o;
	uint32_t fields;	/* of the sample's event */
	int widest;		/* of the events' names; 0: not known yet */
	struct pd_tree *tree;	/* of a tracepoint's sample; NULL: none yet */
	/* Each frame's lines. Tracepoints may have other fields. */
	struct {
		struct lines *items;
		size_t capacity;
	} lines[2];
	bool is_trace;
};

/* Returns how many characters from the first on are printable ASCII: most are. */
static size_t count_plain(struct pd_bytes text)
{
	size_t n = 0;

	while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7f)
		n++;
	return n;
}

/* Characters that could break a line are replaced. */
static void put_clean(struct pp_out *out, struct pd_bytes text)
{
	while (text.size) {
		const uint8_t *start = text.data;
		const size_t plain = count_plain(text);
		uint32_t c = ' ';

		if (plain)
			text = (struct pd_bytes){ text.data + plain, text.size - plain };
		else
			c = pp_next_character(&text);
		if (pp_is_control(c))
			pp_put_text(out, "?");
		else
			pp_put(out, (const char *)start, (size_t)(text.data - start));
	}
}

/* --- functions --- */

static void add_bytes(struct text *l, const void *bytes, size_t size)
{
	char *grown = l->is_cut ? NULL : pp_memory_grow(l->memory, l->bytes, &l->capacity,
							l->size + size, 1);

	l->is_cut = !grown;
	if (!grown)
		return;
	l->bytes = grown;
	memcpy(l->bytes + l->size, bytes, size);
	l->size += size;
}

/* Characters that could break a line are replaced. */
static void add_part(struct text *l, const char *part)
{
	struct pd_bytes rest = pp_bytes(part);

	while (rest.size) {
		const uint8_t *start = rest.data;
		const bool is_control = pp_is_control(pp_next_character(&rest));

		add_bytes(l, is_control ? (const uint8_t *)"?" : start,
			  is_control ? 1 : (size_t)(rest.data - start));
	}
}

static void begin_line(struct text *l)
{
	l->start = l->size;
	add_bytes(l, " ", 1);
}

static void end_line(struct text *l)
{
	if (l->size == l->start + 1)
		l->size = l->start;
	add_bytes(l, "\n", 1);
	if (!l->first)
		l->first = l->size;
}

/* The name of the image, as perf has it: code of compilers is in their maps. */
static void add_image(struct text *l, const struct pp_texts *t, const struct pp_frame *f)
{
	const struct pd_image *image = pd_history_image(t->out.p->options.history, f->at.image);
	char text[64];

	if (!(t->fields & PP_FIELD_IMAGE))
		return;
	add_part(l, t->fields & PP_FIELD_SYMBOL ? " (" : "(");
	if (image && image->kind == PD_IMAGE_ANONYMOUS) {
		snprintf(text, sizeof(text), "/tmp/perf-%" PRId32 ".map", f->pid);
		add_part(l, text);
	} else {
		add_part(l, image ? image->path : "[unknown]");
	}
	add_part(l, ")");
}

/* A line for each function that is inlined there, then the one that they are in. */
static void make_text(struct text *l, const struct pp_texts *t, const struct pp_frame *f)
{
	const struct pd_namer *namer = t->out.p->options.namer;
	struct pd_frame_names names = { .why = f->at.why };
	char offset[32];

	if (namer)
		namer->frame(namer->ctx, f->pid, &f->at, &names);
	begin_line(l);
	for (size_t i = 0; i < names.nr_functions && t->fields & PP_FIELD_SYMBOL; i++) {
		const char *symbol = names.functions[i].symbol;
		const bool is_inlined = i + 1 < names.nr_functions;

		snprintf(offset, sizeof(offset), "+0x%" PRIx64, is_inlined ? 0 : names.offset);
		add_part(l, symbol ? symbol : "[unknown]");
		add_part(l, symbol && t->fields & PP_FIELD_OFFSET ? offset : "");
		if (is_inlined) {
			add_part(l, " (inlined)");
			end_line(l);
			begin_line(l);
		}
	}
	if (!names.nr_functions && t->fields & PP_FIELD_SYMBOL)
		add_part(l, "[unknown]");
	add_image(l, t, f);
	end_line(l);
}

/* Returns 0, or -1 without memory. */
static int make_lines(struct pp_texts *t, const struct pp_frame *f, struct lines *made)
{
	struct pp_profile *p = t->out.p;
	struct text *l = &t->text;
	uint32_t string;

	l->memory = &p->memory;
	l->size = l->start = l->first = 0;
	make_text(l, t, f);
	if (l->is_cut)
		return -1;
	string = pp_strings_add(&p->strings, &p->memory, l->bytes, l->size);
	if (string == PP_NONE)
		return -1;
	*made = (struct lines){ string + 1, (uint32_t)l->first };
	return 0;
}

/* Returns the lines of a frame, or NULL without memory. */
static const struct lines *find_lines(struct pp_texts *t, uint32_t frame)
{
	struct pp_profile *p = t->out.p;
	struct lines *lines = t->lines[t->is_trace].items;
	const size_t before = t->lines[t->is_trace].capacity;

	if (frame == PP_NONE)
		return NULL;
	if (frame >= before) {
		lines = pp_memory_grow(&p->memory, lines, &t->lines[t->is_trace].capacity,
				       (size_t)frame + 1, sizeof(*lines));
		if (!lines)
			return NULL;
		t->lines[t->is_trace].items = lines;
		memset(lines + before, 0,
		       (t->lines[t->is_trace].capacity - before) * sizeof(*lines));
	}
	if (!lines[frame].text && make_lines(t, &p->frames.items[frame], &lines[frame]))
		return NULL;
	return &lines[frame];
}

/* Right-aligned in 16 columns, after a character. */
static void put_address(struct pp_out *out, char before, uint64_t address)
{
	char text[17];
	int at = sizeof(text);

	do {
		text[--at] = "0123456789abcdef"[address & 15];
		address >>= 4;
	} while (address);
	memset(text, ' ', (size_t)at);
	*text = before;
	pp_put(out, text, sizeof(text));
}

/* perf 6.1 prints where an address of a chain is in its file. */
static uint64_t shown_address(const struct pp_texts *t, const struct pd_location *at)
{
	if (t->o.like == PP_LIKE_PERF_6_1 && at->of != PD_LOCATION_OF_IP &&
	    at->cpumode == PD_CPUMODE_USER && at->image != PD_NO_IMAGE)
		return at->file_offset;
	return at->addr;
}

static enum pd_code put_frame(struct pp_texts *t, uint32_t frame, uint64_t address, char before)
{
	const struct lines *lines = find_lines(t, frame);
	struct pd_bytes text;

	if (!lines)
		return PD_E_LIMIT;
	text = pp_strings_at(&t->out.p->strings, lines->text - 1);
	for (size_t size = lines->first; size;) {
		const uint8_t *newline;

		put_address(&t->out, before, address);
		pp_put(&t->out, (const char *)text.data, size);
		text = (struct pd_bytes){ text.data + size, text.size - size };
		newline = text.size ? memchr(text.data, '\n', text.size) : NULL;
		size = newline ? (size_t)(newline + 1 - text.data) : text.size;
	}
	return PD_OK;
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
		put_clean(out, item->bytes);
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

/* Each field by its name: what the kernel's print format says in words of its own is not known. */
static enum pd_code put_trace(struct pp_texts *t, const struct pd_record *record)
{
	const struct pd_item *fields, *field = NULL;
	bool is_first = true;

	if (pp_trace_fields(&t->tree, record, &fields) != PD_OK)
		return PD_E_LIMIT;
	while ((field = pd_item_next(fields, field))) {
		if (strncmp(field->name, "common_", 7) == 0)
			continue;
		pp_put_text(&t->out, is_first ? "" : " ");
		put_clean(&t->out, pp_bytes(field->name));
		pp_put_text(&t->out, "=");
		put_value(&t->out, field);
		is_first = false;
	}
	return PD_OK;
}

/* --- a sample --- */

static void find_widest(struct pp_texts *t, const struct pd_reader *r)
{
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		const int size = (int)strlen(pd_attr_name(pd_reader_attr(r, i)));

		if (size > t->widest)
			t->widest = size;
	}
}

enum shape { IN_ONE_LINE, WITH_LINES_BELOW };

static void put_comm(struct pp_texts *t, const struct pd_task *task, enum shape shape)
{
	struct pp_out *out = &t->out;
	char unnamed[32];
	size_t size;

	if (!task->comm)
		snprintf(unnamed, sizeof(unnamed), ":%" PRId32, task->tid);
	size = strlen(task->comm ? task->comm : unnamed);
	for (; shape == IN_ONE_LINE && size < 16; size++)
		pp_put_text(out, " ");
	put_clean(out, pp_bytes(task->comm ? task->comm : unnamed));
	pp_put_text(out, " ");
}

static void put_ids(struct pp_texts *t, const struct pd_fields *sample)
{
	const int width = t->o.like == PP_LIKE_PERF_6_1 ? 5 : 7;
	const int32_t id = t->fields & PP_FIELD_PID ? sample->pid : sample->tid;
	struct pp_out *out = &t->out;

	if (!(sample->has & PD_HAS_TID) || !(t->fields & (PP_FIELD_PID | PP_FIELD_TID)))
		return;
	if (t->fields & PP_FIELD_PID && t->fields & PP_FIELD_TID) {
		pp_printf(out, "%*" PRId32 "/%-*" PRId32 " ", width, sample->pid, width,
			  sample->tid);
	} else if (id < 0) {
		pp_printf(out, "%*" PRId32 " ", width, id);
	} else {
		pp_put_number(out, (uint64_t)id, (size_t)width, ' ');
		pp_put(out, " ", 1);
	}
}

static void put_time(struct pp_texts *t, uint64_t time)
{
	const uint64_t second = 1000000000, s = time / second, ns = time % second;

	pp_put_number(&t->out, s, 5, ' ');
	pp_put(&t->out, ".", 1);
	if (t->o.times == PP_TIMES_NS)
		pp_put_number(&t->out, ns, 9, '0');
	else
		pp_put_number(&t->out, ns / 1000, 6, '0');
	pp_put(&t->out, ": ", 2);
}

static void put_head(struct pp_texts *t, const struct pd_fields *sample,
		     const struct pp_counted_event *event, uint64_t weight)
{
	struct pp_out *out = &t->out;

	put_ids(t, sample);
	if (sample->has & PD_HAS_CPU && t->fields & PP_FIELD_CPU) {
		pp_put(out, "[", 1);
		pp_put_number(out, sample->cpu, 3, '0');
		pp_put(out, "] ", 2);
	}
	if (sample->has & PD_HAS_TIME && t->fields & PP_FIELD_TIME)
		put_time(t, sample->time);
	if (t->fields & PP_FIELD_PERIOD) {
		pp_put_number(out, weight, 10, ' ');
		pp_put(out, " ", 1);
	}
	if (!(t->fields & PP_FIELD_EVENT))
		return;
	for (int size = (int)strlen(event->weigher.name); size < t->widest; size++)
		pp_put_text(out, " ");
	put_clean(out, pp_bytes(event->weigher.name));
	pp_put_text(out, ": ");
}

/* Writes the functions of a chain, innermost first. Those that it has in common with the thread's
 * last one are kept. */
static enum pd_code put_chain(struct pp_texts *t, const struct pd_fields *sample,
			      const struct pp_stack *stack)
{
	struct pp_recent *recent = stack->recent;
	enum pd_code code = PD_OK;

	for (size_t i = 0; i < stack->nr && code == PD_OK; i++) {
		struct pd_location *at = &stack->items[i];
		const uint32_t frame = pp_stack_frame(t->out.p, sample, stack, at);
		const uint64_t shown = shown_address(t, at);

		if (at->of != PD_LOCATION_OF_IP || t->o.layout == PP_LAYOUT_STACKS)
			code = put_frame(t, frame, shown, '\t');
		if (recent)
			pp_recent_set_frame(recent, stack->same + stack->nr - 1 - i, frame, shown);
	}
	for (size_t i = stack->same; i-- && code == PD_OK;)
		code = put_frame(t, recent->nodes[i], recent->shown[i], '\t');
	if (recent) {
		recent->is_cut = stack->is_cut;
		pp_recent_keep_chain(recent, sample, stack->same + stack->nr);
	}
	return code;
}

static enum pd_code put_stack(struct pp_texts *t, const struct pd_fields *sample,
			      const struct pp_stack *stack, enum shape shape)
{
	enum pd_code code;

	if (shape == IN_ONE_LINE && stack->nr) {
		const uint32_t frame = pp_stack_frame(t->out.p, sample, stack, stack->items);

		return put_frame(t, frame, shown_address(t, stack->items), ' ');
	}
	if (shape == IN_ONE_LINE) {
		pp_put_text(&t->out, "\n");
		return PD_OK;
	}
	pp_put_text(&t->out, "\n");
	code = put_chain(t, sample, stack);
	if (stack->is_cut && t->o.cut == PP_CUT_SHOWN)
		pp_put_text(&t->out, "\t               0 [cut stack] ([unknown])\n");
	pp_put_text(&t->out, "\n");
	return code;
}

static bool is_unwound(const struct pp_stack *stack)
{
	return stack->nr && stack->items[0].of == PD_LOCATION_OF_STACK;
}

/* The lines of a sample. */
static enum pd_code put_sample(void *ctx, struct pd_reader *r, const struct pd_fields *sample,
			       const struct pp_stack *stack, const struct pp_counted_event *event,
			       uint64_t weight)
{
	struct pp_texts *t = ctx;
	const bool has_chain = sample->has & PD_HAS_CALLCHAIN || is_unwound(stack);
	const bool has_stack = t->o.layout == PP_LAYOUT_STACKS || has_chain;
	enum shape shape = IN_ONE_LINE;
	enum pd_code code = PD_OK;

	t->is_trace = event->weigher.is_tracepoint;
	t->fields = t->is_trace ? t->o.trace_fields : t->o.fields;
	if (has_stack && t->fields & PP_FIELD_IP)
		shape = WITH_LINES_BELOW;
	if (!t->widest)
		find_widest(t, r);
	if (stack->recent && !stack->recent->is_known)
		pp_recent_keep_task(stack->recent, &stack->task, PP_NONE);
	if (t->fields & PP_FIELD_COMM)
		put_comm(t, &stack->task, shape);
	put_head(t, sample, event, weight);
	if (t->is_trace && t->fields & PP_FIELD_TRACE)
		code = put_trace(t, pd_reader_record(r, sample));
	if (code != PD_OK)
		return code;
	/* perf shows where a tracepoint is only if that was recorded or asked for */
	if (shape == IN_ONE_LINE &&
	    (!(t->fields & PP_FIELD_IP) || (t->is_trace && !(t->fields & PP_FIELD_LONE_IP)))) {
		pp_put_text(&t->out, "\n");
		return PD_OK;
	}
	return put_stack(t, sample, stack, shape);
}

int pp_script(struct pp_profile *p, struct pd_reader *r, const struct pp_script *o,
	      struct pd_output to, struct pd_error *e)
{
	struct pp_texts t = { .out = { .p = p, .to = to } };
	const struct pp_each_sample each = { .take = put_sample, .ctx = &t };
	int ret = 0;

	memcpy(&t.o, o, o->size < sizeof(t.o) ? o->size : sizeof(t.o));
	if (!t.o.fields)
		t.o.fields = PP_FIELDS;
	if (!t.o.trace_fields)
		t.o.trace_fields = PP_FIELDS_OF_TRACEPOINTS;
	if (t.o.head == PP_HEAD_SHOWN)
		ret = pp_put_script_head(&t.out, r);
	p->each = &each;
	if (ret)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	else
		ret = pp_add(p, r, e);
	p->each = NULL;
	pp_flush(&t.out);
	pd_tree_free(t.tree);
	pp_memory_free(&p->memory, t.text.bytes, t.text.capacity, 1);
	for (size_t i = 0; i < 2; i++)
		pp_memory_free(&p->memory, t.lines[i].items, t.lines[i].capacity,
			       sizeof(*t.lines[i].items));
	return t.out.error ? t.out.error : ret;
}
