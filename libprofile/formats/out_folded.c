/* out_folded.c - a line for each stack: frame;frame;frame WEIGHT, sorted by bytes. */
#include <inttypes.h>
#include <string.h>

#include "profile/groups.h"
#include "encoding/out.h"
#include "formats/folded_lines.h"

/* The frames above a node. */
struct level {
	size_t pieces, bytes;
};

struct folding {
	struct pp_out *out;
	struct pp_memory *memory;
	char *piece;		/* that is being made */
	size_t size, capacity;
	uint32_t *stack;	/* the pieces down to the current node */
	struct level at;	/* its end */
	size_t stack_capacity;
	uint32_t *known;	/* + 1: the pieces of functions below others; 0: none yet */
	struct pp_folded_lines lines;
};

static int add_byte(struct folding *f, char c)
{
	char *piece = pp_memory_grow(f->memory, f->piece, &f->capacity, f->size + 1, 1);

	if (!piece)
		return -1;
	f->piece = piece;
	f->piece[f->size++] = c;
	return 0;
}

/* Parameters begin at the first "(" that is neither "(anonymous namespace)" nor part of a Go
 * receiver, ".(*T).". */
static size_t size_without_parameters(struct pd_bytes name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *text = (const char *)name.data;
	const char *receiver = memmem(text, name.size, ".(", 2);

	if (receiver && memmem(receiver, name.size - (size_t)(receiver - text), ").", 2))
		return name.size;
	for (size_t i = 0; i < name.size; i++)
		if (text[i] == '(' &&
		    (name.size - i < strlen(anonymous) ||
		     memcmp(text + i, anonymous, strlen(anonymous)) != 0))
			return i;
	return name.size;
}

static int add_bytes(struct folding *f, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (add_byte(f, (char)bytes[i]))
			return -1;
	return 0;
}

static int add_text(struct folding *f, struct pd_bytes name, char space)
{
	while (name.size) {
		const uint8_t *start = name.data;
		const uint32_t c = pp_next_character(&name);
		int ret = 0;

		if (c == ';')
			ret = add_byte(f, ':');
		else if (pp_is_control(c))
			ret = add_byte(f, '?');
		else if (c == ' ')
			ret = add_byte(f, space);
		else if ((c != '"' && c != '\'') || f->out->o.names == PP_NAMES_WHOLE)
			ret = add_bytes(f, start, (size_t)(name.data - start));
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

	if (!f->at.bytes || (group != PP_GROUP_PID && group != PP_GROUP_TID))
		return f->at.bytes && add_byte(f, ';') ? -1 : add_text(f, name, '_');
	if (add_byte(f, group == PP_GROUP_PID ? '-' : '/'))
		return -1;
	return add_text(f, (struct pd_bytes){ name.data + word, name.size - word }, '_');
}

static int add_frame(struct folding *f, const struct pp_merged *n, size_t depth)
{
	const struct pp_profile *p = f->out->p;
	const struct pp_named *function = &p->functions[n->function];

	if (function->kind == PP_KIND_THREAD)
		return add_task(f, pp_name_of(p, n), (enum pp_group)
				pp_group_at(p->options.groups, depth - 1));
	if (f->at.bytes && add_byte(f, ';'))
		return -1;
	return add_function(f, function);
}

/* Returns the piece of a node, with what is between it and its caller, or PP_NONE without
 * memory. */
static uint32_t make_piece(struct folding *f, const struct pp_merged *n, size_t depth)
{
	const bool is_task = f->out->p->functions[n->function].kind == PP_KIND_THREAD;
	uint32_t *known = is_task || !f->at.bytes ? NULL : &f->known[n->function];
	uint32_t piece;

	if (known && *known)
		return *known - 1;
	f->size = 0;
	if (add_frame(f, n, depth))
		return PP_NONE;
	piece = pp_strings_add(&f->lines.pieces, f->memory, f->size ? f->piece : "", f->size);
	if (known && piece != PP_NONE)
		*known = piece + 1;
	return piece;
}

/* Appends the piece of a node to the stack. Events have none. */
static int go_down(struct folding *f, const struct pp_merged *n, size_t depth)
{
	uint32_t piece, *stack;

	if (f->out->p->functions[n->function].kind == PP_KIND_EVENT)
		return 0;
	piece = make_piece(f, n, depth);
	if (piece == PP_NONE)
		return -1;
	stack = pp_memory_grow(f->memory, f->stack, &f->stack_capacity, f->at.pieces + 1,
			       sizeof(*stack));
	if (!stack)
		return -1;
	f->stack = stack;
	f->stack[f->at.pieces++] = piece;
	f->at.bytes += pp_strings_at(&f->lines.pieces, piece).size;
	return 0;
}

/* Adds the line of a node. Readers expect a frame in each: a stack that has none is unknown. */
static int add_line(struct folding *f, const struct pp_merged *n)
{
	static const char unknown[] = "[unknown]";
	const uint64_t value = pp_self(n, f->out->o.measure);
	uint32_t piece;

	if (f->at.bytes)
		return pp_folded_add(&f->lines, f->stack, f->at.pieces, value);
	piece = pp_strings_add(&f->lines.pieces, f->memory, unknown, strlen(unknown));
	return piece == PP_NONE ? -1 : pp_folded_add(&f->lines, &piece, 1, value);
}

/* Goes through the tree without recursion: `depth` is as deep as a stack. */
static int collect_lines(struct folding *f, uint32_t root)
{
	const struct pp_profile *p = f->out->p;
	size_t capacity = 0, depth = 0;
	struct level *levels = NULL;
	uint32_t at = root;
	int ret = 0;

	while (at != PP_NONE && !ret) {
		const struct pp_merged *n = &p->merged[at];
		struct level *more = pp_memory_grow(f->memory, levels, &capacity, depth + 1,
						    sizeof(*levels));

		if (!more) {
			ret = -1;
			break;
		}
		levels = more;
		levels[depth] = f->at;
		ret = go_down(f, n, depth);
		if (!ret && n->samples)
			ret = add_line(f, n);
		if (n->first_child != PP_NONE) {
			at = n->first_child;
			depth++;
			continue;
		}
		f->at = levels[depth];
		while (at != root && p->merged[at].next == PP_NONE) {
			at = p->merged[at].parent;
			f->at = levels[--depth];
		}
		at = at == root ? PP_NONE : p->merged[at].next;
	}
	pp_memory_free(f->memory, levels, capacity, sizeof(*levels));
	return ret;
}

static void put_line(struct pp_out *out, const struct pp_folded_line *line, uint64_t value)
{
	for (size_t i = 0; i < line->nr; i++) {
		const struct pd_bytes text = pp_folded_text(line, i);

		pp_put(out, (const char *)text.data, text.size);
	}
	pp_put(out, " ", 1);
	pp_put_number(out, value, 1, ' ');
	pp_put(out, "\n", 1);
}

/* Functions of different images may have the same name: their lines are one. */
static void put_lines(struct folding *f)
{
	const struct pp_folded_line *lines = f->lines.items;

	for (size_t i = 0, next; i < f->lines.nr; i = next) {
		uint64_t value = 0;

		for (next = i; next < f->lines.nr && !pp_folded_compare(&lines[i], &lines[next]);
		     next++)
			value += lines[next].value;
		put_line(f->out, &lines[i], value);
	}
}

int pp_write_folded(struct pp_out *out)
{
	struct pp_memory *memory = &out->p->memory;
	const size_t nr_functions = out->p->nr_functions;
	struct folding f = { .out = out, .memory = memory, .lines.memory = memory,
			     .known = pp_memory_zeroed(memory, nr_functions,
						       sizeof(*f.known)) };
	int ret = f.known ? collect_lines(&f, out->p->events[out->o.event].merged) : -1;

	ret = ret ? ret : pp_folded_sort(&f.lines);
	if (!ret)
		put_lines(&f);
	pp_memory_free(memory, f.piece, f.capacity, 1);
	pp_memory_free(memory, f.stack, f.stack_capacity, sizeof(*f.stack));
	pp_memory_free(memory, f.known, nr_functions, sizeof(*f.known));
	pp_folded_free(&f.lines);
	return ret;
}
