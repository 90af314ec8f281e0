/* out_folded.c - a line for each stack: frame;frame;frame WEIGHT, sorted by bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/groups.h"
#include "encoding/out.h"

struct line {
	const char *text;	/* while they are collected: an offset */
	size_t start, size;
	uint64_t value;
};

struct folding {
	struct pp_out *out;
	struct pp_memory *memory;
	char *stack;		/* the frames down to the current node */
	size_t size, capacity;
	char *text;		/* of all lines */
	size_t text_size, text_capacity;
	struct line *lines;
	size_t nr, lines_capacity;
};

static int add_byte(struct folding *f, char c)
{
	char *stack = pp_memory_grow(f->memory, f->stack, &f->capacity, f->size + 1, 1);

	if (!stack)
		return -1;
	f->stack = stack;
	f->stack[f->size++] = c;
	return 0;
}

/* Parameters begin at the first "(" that is neither "(anonymous namespace)" nor part of a Go
 * receiver, ".(*T).". */
static size_t size_without_parameters(struct pd_bytes name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *text = (const char *)name.data;

	for (size_t i = 0; i + 1 < name.size; i++)
		if (memcmp(text + i, ".(", 2) == 0 && memmem(text + i, name.size - i, ").", 2))
			return name.size;
	for (size_t i = 0; i < name.size; i++)
		if (text[i] == '(' &&
		    (name.size - i < strlen(anonymous) ||
		     memcmp(text + i, anonymous, strlen(anonymous)) != 0))
			return i;
	return name.size;
}

static int add_text(struct folding *f, struct pd_bytes name, char space)
{
	for (size_t i = 0; i < name.size; i++) {
		const char c = (char)name.data[i];
		int ret = 0;

		if (c == ';')
			ret = add_byte(f, ':');
		else if ((unsigned char)c < 0x20 || c == 0x7f)
			ret = add_byte(f, '?');
		else if (c == ' ')
			ret = add_byte(f, space);
		else if ((c != '"' && c != '\'') || f->out->o.names == PP_NAMES_WHOLE)
			ret = add_byte(f, c);
		if (ret)
			return -1;
	}
	return 0;
}

static const char *mark_of(const struct folding *f, enum pp_kind kind)
{
	const uint32_t marks = f->out->o.marks;

	if (kind == PP_KIND_KERNEL && marks & PP_MARK_KERNEL)
		return "_[k]";
	if (kind == PP_KIND_JIT && marks & PP_MARK_JIT)
		return "_[j]";
	return kind == PP_KIND_INLINED && marks & PP_MARK_INLINED ? "_[i]" : "";
}

static int add_function(struct folding *f, const struct pp_named *function)
{
	struct pd_bytes name = pp_strings_at(&f->out->p->strings, function->name);
	const size_t size = f->out->o.names == PP_NAMES_WHOLE ? 0 : size_without_parameters(name);

	name.size = size ? size : name.size;
	if (add_text(f, name, ' '))
		return -1;
	return add_text(f, pp_bytes(mark_of(f, (enum pp_kind)function->kind)), ' ');
}

/* Tasks are one frame: comm-PID/TID. Control groups and CPUs have their own. */
static int add_task(struct folding *f, struct pd_bytes name, enum pp_group group)
{
	const size_t word = strlen("pid ");

	if (!f->size || (group != PP_GROUP_PID && group != PP_GROUP_TID))
		return f->size && add_byte(f, ';') ? -1 : add_text(f, name, '_');
	if (add_byte(f, group == PP_GROUP_PID ? '-' : '/'))
		return -1;
	return add_text(f, (struct pd_bytes){ name.data + word, name.size - word }, '_');
}

static int add_frame(struct folding *f, const struct pp_merged *n, size_t depth)
{
	const struct pp_profile *p = f->out->p;
	const struct pp_named *function = &p->functions[n->function];

	if (function->kind == PP_KIND_EVENT)
		return 0;
	if (function->kind == PP_KIND_THREAD)
		return add_task(f, pp_name_of(p, n), (enum pp_group)
				pp_group_at(p->options.groups, depth - 1));
	if (f->size && add_byte(f, ';'))
		return -1;
	return add_function(f, function);
}

static int add_line(struct folding *f, uint64_t value)
{
	char *text = pp_memory_grow(f->memory, f->text, &f->text_capacity, f->text_size + f->size,
				    1);
	struct line *lines;

	if (!text)
		return -1;
	f->text = text;
	lines = pp_memory_grow(f->memory, f->lines, &f->lines_capacity, f->nr + 1, sizeof(*lines));
	if (!lines)
		return -1;
	f->lines = lines;
	memcpy(f->text + f->text_size, f->stack, f->size);
	f->lines[f->nr++] = (struct line){ .start = f->text_size, .size = f->size,
					   .value = value };
	f->text_size += f->size;
	return 0;
}

/* Goes through the tree without recursion: `depth` is as deep as a stack. */
static int collect_lines(struct folding *f, uint32_t root)
{
	const struct pp_profile *p = f->out->p;
	size_t *sizes = NULL, capacity = 0, depth = 0;
	uint32_t at = root;
	int ret = 0;

	while (at != PP_NONE && !ret) {
		const struct pp_merged *n = &p->merged[at];
		size_t *more = pp_memory_grow(f->memory, sizes, &capacity, depth + 1,
					      sizeof(*sizes));

		if (!more) {
			ret = -1;
			break;
		}
		sizes = more;
		sizes[depth] = f->size;
		ret = add_frame(f, n, depth);
		if (!ret && n->samples)
			ret = add_line(f, pp_self(n, f->out->o.measure));
		if (n->first_child != PP_NONE) {
			at = n->first_child;
			depth++;
			continue;
		}
		f->size = sizes[depth];
		while (at != root && p->merged[at].next == PP_NONE) {
			at = p->merged[at].parent;
			f->size = sizes[--depth];
		}
		at = at == root ? PP_NONE : p->merged[at].next;
	}
	pp_memory_free(f->memory, sizes, capacity, sizeof(*sizes));
	return ret;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);

	return order ? order : x->size < y->size ? -1 : x->size > y->size;
}

/* Functions of different images may have the same name: their lines are one. */
static void put_lines(struct folding *f)
{
	for (size_t i = 0; i < f->nr; i++)
		f->lines[i].text = f->text + f->lines[i].start;
	qsort(f->lines, f->nr, sizeof(*f->lines), compare_lines);
	for (size_t i = 0, next; i < f->nr; i = next) {
		uint64_t value = 0;

		for (next = i; next < f->nr && !compare_lines(&f->lines[i], &f->lines[next]);
		     next++)
			value += f->lines[next].value;
		pp_put(f->out, f->lines[i].text, f->lines[i].size);
		pp_printf(f->out, " %" PRIu64 "\n", value);
	}
}

int pp_write_folded(struct pp_out *out)
{
	struct folding f = { .out = out, .memory = &out->p->memory };
	const int ret = collect_lines(&f, out->p->events[out->o.event].merged);

	if (!ret && f.nr)
		put_lines(&f);
	pp_memory_free(f.memory, f.stack, f.capacity, 1);
	pp_memory_free(f.memory, f.text, f.text_capacity, 1);
	pp_memory_free(f.memory, f.lines, f.lines_capacity, sizeof(*f.lines));
	return ret;
}
