/* event_terms.c - terms of single events, modifiers, and the words of -j and --call-graph. */
#include "event_terms.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct word {
	const char *name;
	uint64_t bits;
};

static const struct word branch_words[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY }, { "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN }, { "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP }, { "cond", PERF_SAMPLE_BRANCH_COND },
	{ "call", PERF_SAMPLE_BRANCH_CALL }, { "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX }, { "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK }, { "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL }, { "hv", PERF_SAMPLE_BRANCH_HV },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
	{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE }, { "hw_index", ABI_BRANCH_HW_INDEX },
	{ "priv", ABI_BRANCH_PRIV_SAVE }, { "counter", ABI_BRANCH_COUNTERS },
	{ NULL, 0 },
};

/* Flags of the attribute that no option sets alone. */
static const struct word flag_words[] = {
	{ "pinned", ATTR_PINNED }, { "exclusive", ATTR_EXCLUSIVE },
	{ "exclude_user", ATTR_EXCLUDE_USER }, { "exclude_kernel", ATTR_EXCLUDE_KERNEL },
	{ "exclude_hv", ATTR_EXCLUDE_HV }, { "exclude_idle", ATTR_EXCLUDE_IDLE },
	{ "exclude_host", ATTR_EXCLUDE_HOST }, { "exclude_guest", ATTR_EXCLUDE_GUEST },
	{ "exclude_callchain_kernel", ATTR_EXCLUDE_CALLCHAIN_KERNEL },
	{ "exclude_callchain_user", ATTR_EXCLUDE_CALLCHAIN_USER },
	{ "mmap", ATTR_MMAP }, { "mmap2", ATTR_MMAP2 }, { "mmap_data", ATTR_MMAP_DATA },
	{ "comm", ATTR_COMM }, { "comm_exec", ATTR_COMM_EXEC }, { "task", ATTR_TASK },
	{ "inherit_stat", ATTR_INHERIT_STAT }, { "inherit_thread", ATTR_INHERIT_THREAD },
	{ "remove_on_exec", ATTR_REMOVE_ON_EXEC }, { "sigtrap", ATTR_SIGTRAP },
	{ "context_switch", ATTR_CONTEXT_SWITCH }, { "namespaces", ATTR_NAMESPACES },
	{ "ksymbol", ATTR_KSYMBOL }, { "bpf_event", ATTR_BPF_EVENT }, { "cgroup", ATTR_CGROUP },
	{ "text_poke", ATTR_TEXT_POKE }, { "build_id", ATTR_BUILD_ID },
	{ "write_backward", ATTR_WRITE_BACKWARD }, { "defer_callchain", ATTR_DEFER_CALLCHAIN },
	{ "defer_output", ATTR_DEFER_OUTPUT },
	{ NULL, 0 },
};

/* Numbers that go to the attribute as they are. */
static const struct number_term {
	const char *name;
	size_t offset, width;
} attr_terms[] = {
#define ATTR_TERM(field) #field, offsetof(struct event_attr, field), \
	sizeof(((struct event_attr *)0)->field)
	{ ATTR_TERM(config) }, { ATTR_TERM(config1) }, { ATTR_TERM(config2) },
	{ ATTR_TERM(config3) }, { ATTR_TERM(config4) }, { ATTR_TERM(sig_data) },
	{ ATTR_TERM(aux_watermark) }, { ATTR_TERM(wakeup) }, { ATTR_TERM(bp_type) },
	{ NULL },
};

static const struct word *find_word(const struct word *w, const char *name, size_t size)
{
	for (; w->name; w++)
		if (strlen(w->name) == size && memcmp(w->name, name, size) == 0)
			return w;
	return NULL;
}

bool parse_branch_filter(const char *text, uint64_t *bits)
{
	size_t size;

	for (const char *item; (item = cli_next_item(&text, &size));) {
		const struct word *w = find_word(branch_words, item, size);

		if (!w)
			return false;
		*bits |= w->bits;
	}
	return true;
}

bool parse_callchain(const char *text, enum callchain_mode *mode, uint32_t *size)
{
	static const char *const names[] = { "", "no", "fp", "dwarf", "lbr", NULL };
	size_t length = strcspn(text, ",");
	uint64_t number;

	for (int i = CALLCHAIN_NONE; names[i]; i++) {
		if (strlen(names[i]) != length || memcmp(names[i], text, length) != 0)
			continue;
		*mode = i;
		if (!text[length])
			return true;
		if (i != CALLCHAIN_DWARF || !parse_number(text + length + 1, &number) ||
		    number == 0 || number > 65528)
			return false;
		*size = (uint32_t)((number + 7) & ~7u);
		return true;
	}
	return false;
}

static int wrong_value(const struct say *say_to, const char *key, const char *value)
{
	say(say_to, SAY_ERROR, "event term '%s' can't be '%s'", key, value ? value : "");
	return -1;
}

static bool number_in(const char *value, uint64_t limit, uint64_t *out)
{
	if (!value) {
		*out = 1;
		return true;
	}
	return parse_number(value, out) && *out <= limit;
}

static int attr_term(struct event *e, const char *key, const char *value, const struct say *s)
{
	for (const struct number_term *t = attr_terms; t->name; t++) {
		uint64_t number;
		uint32_t narrow;

		if (strcmp(t->name, key) != 0)
			continue;
		if (!number_in(value, UINT64_MAX >> (64 - 8 * t->width), &number))
			return wrong_value(s, key, value);
		narrow = (uint32_t)number;
		if (t->width == sizeof(number))
			memcpy((char *)&e->attr + t->offset, &number, sizeof(number));
		else
			memcpy((char *)&e->attr + t->offset, &narrow, sizeof(narrow));
		return 1;
	}
	return 0;
}

static int flag_term(struct event *e, const char *key, const char *value, const struct say *s)
{
	const struct word *w = find_word(flag_words, key, strlen(key));
	uint64_t number;

	if (!w)
		return 0;
	if (!number_in(value, 1, &number))
		return wrong_value(s, key, value);
	if (number)
		e->terms.flags_set |= w->bits;
	else
		e->terms.flags_cleared |= w->bits;
	return 1;
}

/* Terms that are a yes or no. */
static int choice_term(struct event *e, const char *key, const char *value, const struct say *s)
{
	const struct { const char *name; enum choice *where; bool reversed; } rows[] = {
		{ "time", &e->terms.time, false },
		{ "inherit", &e->terms.inherit, false }, { "no-inherit", &e->terms.inherit, true },
		{ "overwrite", &e->terms.overwrite, false },
		{ "no-overwrite", &e->terms.overwrite, true },
		{ "aux-output", &e->terms.aux_output, false },
	};
	uint64_t number;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, key) != 0)
			continue;
		if (!number_in(value, 1, &number))
			return wrong_value(s, key, value);
		*rows[i].where = (number != 0) != rows[i].reversed ? CHOICE_YES : CHOICE_NO;
		return 1;
	}
	return 0;
}

static int aux_action_term(struct event *e, const char *value, const struct say *s)
{
	static const struct word words[] = {
		{ "start-paused", AUX_ACTION_BIT(0) }, { "pause", AUX_ACTION_BIT(1) },
		{ "resume", AUX_ACTION_BIT(2) }, { NULL, 0 },
	};
	const struct word *w = value ? find_word(words, value, strlen(value)) : NULL;

	if (!w)
		return wrong_value(s, "aux-action", value);
	e->attr.aux_action |= (uint32_t)w->bits;
	return 1;
}

static int name_term(struct event *e, const char *value, const struct say *s)
{
	size_t size = value ? strlen(value) : 0;
	char *name;

	if (!size)
		return wrong_value(s, "name", value);
	if (size > 1 && (*value == '\'' || *value == '"') && value[size - 1] == *value) {
		value++;
		size -= 2;
	}
	name = event_text(value, size);
	if (!name)
		return -1;
	free(e->name);
	e->name = name;
	return 1;
}

/* Numbers with a field of their own in struct event_terms. */
static int number_term(struct event *e, const char *key, const char *value, const struct say *s)
{
	struct event_terms *t = &e->terms;
	uint64_t number = 0;
	bool ok = value && parse_number(value, &number);

	if (strcmp(key, "period") == 0) {
		t->has_period = true;
		t->period = number;
	} else if (strcmp(key, "freq") == 0) {
		t->has_freq = true;
		t->freq = number;
	} else if (strcmp(key, "sample_type") == 0) {
		t->sample_type = number;
	} else if (strcmp(key, "read_format") == 0) {
		t->read_format = number;
	} else if (strcmp(key, "stack-size") == 0) {
		ok = ok && number <= 65528;
		t->stack_size = (uint32_t)((number + 7) & ~7u);
	} else if (strcmp(key, "max-stack") == 0) {
		ok = ok && number <= UINT16_MAX;
		t->has_max_stack = true;
		t->max_stack = (uint16_t)number;
	} else if (strcmp(key, "aux-sample-size") == 0) {
		ok = ok && number <= UINT32_MAX;
		t->aux_sample_size = (uint32_t)number;
	} else {
		return 0;
	}
	return ok ? 1 : wrong_value(s, key, value);
}

int event_term(struct event *e, const char *key, const char *value, const struct say *s)
{
	static int (*const kinds[])(struct event *, const char *, const char *,
				    const struct say *) = {
		attr_term, flag_term, choice_term, number_term,
	};
	int got = 0;

	if (strcmp(key, "name") == 0)
		return name_term(e, value, s);
	if (strcmp(key, "aux-action") == 0)
		return aux_action_term(e, value, s);
	if (strcmp(key, "percore") == 0) {
		e->terms.percore = true;
		return 1;
	}
	if (strcmp(key, "call-graph") == 0)
		return value && parse_callchain(value, &e->terms.callchain, &e->terms.stack_size) ?
			1 : wrong_value(s, key, value);
	if (strcmp(key, "branch_type") == 0)
		return value && parse_branch_filter(value, &e->terms.branch_type) ?
			1 : wrong_value(s, key, value);
	for (size_t i = 0; !got && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		got = kinds[i](e, key, value, s);
	return got;
}

#define MODIFIERS "ukhGHpPSDeWI"

bool is_modifiers(const char *text)
{
	return *text && text[strspn(text, MODIFIERS)] == '\0';
}

/* Naming what to count excludes the rest: the first letter of its kind shuts all out. */
static void count_only(struct event_attr *a, uint64_t all, uint64_t one, bool *seen)
{
	if (!*seen)
		a->flags |= all;
	*seen = true;
	a->flags &= ~one;
}

static void modify(struct event *e, const char *letters)
{
	const uint64_t levels = ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
	const uint64_t machines = ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST;
	unsigned int precise = 0;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'u': count_only(&e->attr, levels, ATTR_EXCLUDE_USER, &e->modified); break;
		case 'k': count_only(&e->attr, levels, ATTR_EXCLUDE_KERNEL, &e->modified); break;
		case 'h': count_only(&e->attr, levels, ATTR_EXCLUDE_HV, &e->modified); break;
		case 'G': count_only(&e->attr, machines, ATTR_EXCLUDE_GUEST, &e->machines_given); break;
		case 'H': count_only(&e->attr, machines, ATTR_EXCLUDE_HOST, &e->machines_given); break;
		case 'I': e->attr.flags |= ATTR_EXCLUDE_IDLE; break;
		case 'p': precise += precise < 3; break;
		case 'P': e->precise_max = true; break;
		case 'S': e->sample_read = true; break;
		case 'D': e->attr.flags |= ATTR_PINNED; break;
		case 'e': e->attr.flags |= ATTR_EXCLUSIVE; break;
		default: e->weak_group = true; break;
		}
	}
	if (precise)
		attr_set_precise_ip(&e->attr, precise);
}

bool event_modifiers(struct event_list *l, size_t from, const char *letters)
{
	if (!is_modifiers(letters))
		return false;
	for (size_t i = from; i < l->n; i++) {
		modify(&l->items[i], letters);
		/* Only the group's first can be pinned or alone. */
		if (l->items[i].leader != i)
			l->items[i].attr.flags &= ~(ATTR_PINNED | ATTR_EXCLUSIVE);
	}
	return true;
}
