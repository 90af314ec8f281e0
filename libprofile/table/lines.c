/* lines.c - the lines of a table: functions of an event with the same keys, and their sums. */
#include "table/lines.h"

#include <string.h>

#include "profile/groups.h"

struct part {
	uint32_t line, thread;
	uint64_t weight;
};

struct summing {
	struct pp_lines *l;
	struct pp_profile *p;
	uint32_t *open;		/* of each line: how often it is in the current stack */
	size_t open_capacity;
	struct part *parts;
	size_t nr_parts, parts_capacity;
	struct pp_index index;
	uint32_t task[PP_NR_KEYS];	/* the keys of the groups above the current node */
	uint32_t thread;	/* the first group's name above the current node */
	uint32_t event;
	size_t depth;
};

/* --- the line of a node --- */

/* Without keys each function is a line. */
static bool is_same_line(const void *ctx, uint32_t id, const void *key)
{
	const struct pp_lines *l = ctx;
	const struct pp_line *have = &l->items[id], *want = key;

	return have->event == want->event &&
	       memcmp(have->values, want->values, sizeof(have->values)) == 0 &&
	       (l->keys[0] != PP_KEY_NONE || have->function == want->function);
}

static uint32_t value_of(const struct summing *s, const struct pp_named *f, enum pp_key key)
{
	switch (key) {
	case PP_KEY_SYMBOL:
		return f->name;
	case PP_KEY_IMAGE:
		return f->image;
	case PP_KEY_LINE:
		return f->place;
	case PP_KEY_EVENT:
		return s->p->functions[s->p->merged[s->p->events[s->event].merged].function].name;
	default:
		return s->task[key];
	}
}

static uint32_t hash_line(struct pp_lines *l, const struct pp_line *line)
{
	uint64_t hash = pp_index_hash(&l->index,
				      l->keys[0] == PP_KEY_NONE ? line->function : 0);

	hash = pd_hash_mix(hash, line->event);
	for (size_t i = 0; i < PP_NR_KEYS; i++)
		hash = pd_hash_mix(hash, line->values[i]);
	return (uint32_t)hash;
}

static uint32_t add_line(struct summing *s, const struct pp_line *line, uint32_t hash)
{
	struct pp_lines *l = s->l;
	struct pp_memory *m = &s->p->memory;
	struct pp_line *items = pp_memory_grow(m, l->items, &l->capacity, l->nr + 1,
					       sizeof(*items));
	uint32_t *open;

	if (!items)
		return PP_NONE;
	l->items = items;
	open = pp_memory_grow(m, s->open, &s->open_capacity, l->nr + 1, sizeof(*open));
	if (!open)
		return PP_NONE;
	s->open = open;
	if (pp_index_add(&l->index, m, hash, (uint32_t)l->nr))
		return PP_NONE;
	s->open[l->nr] = 0;
	l->items[l->nr] = *line;
	return (uint32_t)l->nr++;
}

/* Returns PP_NONE without memory. */
static uint32_t line_of(struct summing *s, uint32_t function)
{
	struct pp_line line = { .event = s->event, .function = function, .thread = PP_NONE };
	uint32_t hash, found;

	memset(line.values, 0xff, sizeof(line.values));
	for (size_t i = 0; i < PP_NR_KEYS && s->l->keys[i] != PP_KEY_NONE; i++)
		line.values[s->l->keys[i]] = value_of(s, &s->p->functions[function],
						      s->l->keys[i]);
	hash = hash_line(s->l, &line);
	found = pp_index_find(&s->l->index, hash, s->l, &line, is_same_line);
	return found != PP_NONE ? found : add_line(s, &line, hash);
}

/* --- sums --- */

static bool is_same_part(const void *ctx, uint32_t id, const void *key)
{
	const struct part *have = &((const struct part *)ctx)[id], *want = key;

	return have->line == want->line && have->thread == want->thread;
}

static int add_part(struct summing *s, uint32_t line, uint64_t weight)
{
	const struct part part = { line, s->thread, weight };
	const uint32_t hash = (uint32_t)pp_index_hash(&s->index,
						      (uint64_t)line << 32 | s->thread);
	const uint32_t found = pp_index_find(&s->index, hash, s->parts, &part, is_same_part);
	struct part *parts;

	if (found != PP_NONE) {
		s->parts[found].weight += weight;
		return 0;
	}
	parts = pp_memory_grow(&s->p->memory, s->parts, &s->parts_capacity, s->nr_parts + 1,
			       sizeof(*parts));
	if (!parts)
		return -1;
	s->parts = parts;
	if (pp_index_add(&s->index, &s->p->memory, hash, (uint32_t)s->nr_parts))
		return -1;
	s->parts[s->nr_parts++] = part;
	return 0;
}

static enum pp_key key_of(enum pp_group group)
{
	switch (group) {
	case PP_GROUP_CGROUP:
		return PP_KEY_CGROUP;
	case PP_GROUP_COMM:
		return PP_KEY_COMM;
	case PP_GROUP_PID:
		return PP_KEY_PID;
	case PP_GROUP_TID:
		return PP_KEY_TID;
	case PP_GROUP_CPU:
		return PP_KEY_CPU;
	}
	return PP_KEY_NONE;
}

/* The first level below an event is that of the first group, if there is one. */
static void enter_task(struct summing *s, const struct pp_named *f)
{
	const uint32_t group = pp_group_at(s->p->options.groups, s->depth - 1);

	if (s->depth == 1) {
		memset(s->task, 0xff, sizeof(s->task));
		s->thread = f->kind == PP_KIND_THREAD ? f->name : PP_NONE;
	}
	if (f->kind == PP_KIND_THREAD)
		s->task[key_of((enum pp_group)group)] = f->name;
}

static int enter_node(struct summing *s, uint32_t at)
{
	const struct pp_merged *n = &s->p->merged[at];
	const struct pp_named *function = &s->p->functions[n->function];
	struct pp_line *sum;
	uint32_t line;

	s->l->of_node[at] = PP_NONE;
	if (function->kind == PP_KIND_EVENT)
		return 0;
	enter_task(s, function);
	if (function->kind == PP_KIND_THREAD)
		return 0;
	line = s->l->of_node[at] = line_of(s, n->function);
	if (line == PP_NONE)
		return -1;
	sum = &s->l->items[line];
	sum->self_weight += n->weight;
	sum->self_samples += n->samples;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): line_of() made room */
	if (!s->open[line]++) {
		sum->total_weight += n->total_weight;
		sum->total_samples += n->total_samples;
	}
	return n->samples ? add_part(s, line, n->weight) : 0;
}

static void leave_node(struct summing *s, uint32_t at)
{
	if (s->l->of_node[at] != PP_NONE)
		s->open[s->l->of_node[at]]--;
}

static int sum_event(struct summing *s, size_t event)
{
	const struct pp_merged *nodes = s->p->merged;
	const uint32_t root = s->p->events[event].merged;
	uint32_t at = root;

	s->event = (uint32_t)event;
	s->depth = 0;
	while (at != PP_NONE) {
		if (enter_node(s, at))
			return -1;
		if (nodes[at].first_child != PP_NONE) {
			at = nodes[at].first_child;
			s->depth++;
			continue;
		}
		leave_node(s, at);
		while (at != root && nodes[at].next == PP_NONE) {
			at = nodes[at].parent;
			s->depth--;
			leave_node(s, at);
		}
		at = at == root ? PP_NONE : nodes[at].next;
	}
	return 0;
}

static int sum_events(struct summing *s)
{
	int ret = 0;

	for (size_t i = 0; i < s->p->nr_events && !ret; i++)
		if (s->p->events[i].samples)
			ret = sum_event(s, i);
	return ret;
}

static size_t count_digits(struct pd_bytes text)
{
	size_t n = 0;

	while (n < text.size && text.data[n] >= '0' && text.data[n] <= '9')
		n++;
	return n;
}

static struct pd_bytes skip(struct pd_bytes text, size_t n)
{
	return (struct pd_bytes){ text.data + n, text.size - n };
}

/* Returns whether two names are the same but for their digits. */
static bool are_alike(struct pd_bytes a, struct pd_bytes b)
{
	while (a.size && b.size) {
		const size_t n = count_digits(a), m = count_digits(b);

		if (!n != !m || (!n && *a.data != *b.data))
			return false;
		a = skip(a, n ? n : 1);
		b = skip(b, m ? m : 1);
	}
	return !a.size && !b.size;
}

/* Returns whether a thread's name differs from those of the line in more than digits. */
static bool is_other(const struct summing *s, const struct pp_line *line, uint32_t thread)
{
	const struct pp_strings *strings = &s->p->strings;

	if (thread == PP_NONE || line->thread == PP_NONE)
		return thread != line->thread;
	return !are_alike(pp_strings_at(strings, thread), pp_strings_at(strings, line->thread));
}

static void choose_threads(struct summing *s)
{
	struct pp_lines *l = s->l;
	uint64_t *best = pp_memory_zeroed(&s->p->memory, l->nr, sizeof(*best));

	for (size_t i = 0; best && i < s->nr_parts; i++) {
		const struct part *part = &s->parts[i];
		struct pp_line *line = &l->items[part->line];

		if (!line->nr_threads++ || part->weight > best[part->line]) {
			line->thread = part->thread;
			best[part->line] = part->weight;
		}
	}
	pp_memory_free(&s->p->memory, best, l->nr, sizeof(*best));
	for (size_t i = 0; i < s->nr_parts; i++) {
		struct pp_line *line = &l->items[s->parts[i].line];

		line->is_of_others |= is_other(s, line, s->parts[i].thread);
	}
}

bool pp_keys_have_event(const enum pp_key keys[PP_NR_KEYS])
{
	for (size_t i = 0; i < PP_NR_KEYS && keys[i] != PP_KEY_NONE; i++)
		if (keys[i] == PP_KEY_EVENT)
			return true;
	return false;
}

int pp_lines_make(struct pp_lines *l, struct pp_profile *p, size_t event, const enum pp_key *keys)
{
	struct pp_memory *m = &p->memory;
	struct summing s = { .l = l, .p = p, .thread = PP_NONE };
	int ret = -1;

	l->p = p;
	for (size_t i = 0; i + 1 < PP_NR_KEYS && keys && keys[i] != PP_KEY_NONE; i++)
		l->keys[i] = keys[i];
	l->of_node = pp_memory_zeroed(m, p->nr_merged, sizeof(*l->of_node));
	if (l->of_node)
		ret = pp_keys_have_event(l->keys) ? sum_events(&s) : sum_event(&s, event);
	if (!ret)
		choose_threads(&s);
	pp_memory_free(m, s.open, s.open_capacity, sizeof(*s.open));
	pp_memory_free(m, s.parts, s.parts_capacity, sizeof(*s.parts));
	pp_index_free(&s.index, m);
	return ret;
}

void pp_lines_free(struct pp_lines *l)
{
	struct pp_memory *m = &l->p->memory;

	pp_memory_free(m, l->items, l->capacity, sizeof(*l->items));
	pp_memory_free(m, l->of_node, l->p->nr_merged, sizeof(*l->of_node));
	pp_index_free(&l->index, m);
}
