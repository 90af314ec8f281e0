/* event_terms.c - parse terms, modifiers, and the values of -j and --call-graph. */
#include "event/event_terms.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

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

/* Terms that set a flag of the attribute. */
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

/* Terms that set a member of the attribute. */
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

bool parse_event_hex(const char *text, uint64_t *number)
{
	size_t size = strspn(text, "0123456789abcdefABCDEF");

	if (size == 0 || size > 16 || text[size])
		return false;
	*number = strtoull(text, NULL, 16);
	return true;
}

bool parse_event_number(const char *text, uint64_t *number)
{
	if (strncmp(text, "0x", 2) == 0)
		return parse_event_hex(text + 2, number);
	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	*number = strtoull(text, NULL, 10);
	return !errno;
}

int event_next_term(const char **rest, struct term *t, const struct logger *log)
{
	size_t size;
	char *text;

	if (!*rest || !**rest)
		return 0;
	size = event_size_to(*rest, ',');
	t->key = event_text(*rest, size);
	if (!t->key)
		return -1;
	t->value = strchr(t->key, '=');
	if (t->value) {
		*t->value++ = '\0';
		t->value = event_trim(t->value);
	}
	text = event_trim(t->key);
	memmove(t->key, text, strlen(text) + 1);
	/* A comma must be followed by another term. */
	if (*t->key && (!t->value || *t->value) && ((*rest)[size] != ',' || (*rest)[size + 1])) {
		*rest += size + ((*rest)[size] == ',');
		return 1;
	}
	log_at(log, LOG_ERROR, "event terms '%s': a term or value is missing", *rest);
	free(t->key);
	return -1;
}

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

uint64_t branches_of_any_kind(uint64_t bits)
{
	const uint64_t levels = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				PERF_SAMPLE_BRANCH_HV;

	return bits && !(bits & ~levels) ? bits | PERF_SAMPLE_BRANCH_ANY : bits;
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

static int wrong_value(const struct logger *log, const char *key, const char *value)
{
	log_at(log, LOG_ERROR, "event term '%s' can't be '%s'", key, value ? value : "");
	return -1;
}

static bool number_in(const char *value, uint64_t limit, uint64_t *out)
{
	if (!value) {
		*out = 1;
		return true;
	}
	return parse_event_number(value, out) && *out <= limit;
}

static int attr_term(struct event *e, const char *key, const char *value, const struct logger *log)
{
	for (const struct number_term *t = attr_terms; t->name; t++) {
		uint64_t number;
		uint32_t narrow;

		if (strcmp(t->name, key) != 0)
			continue;
		if (!number_in(value, UINT64_MAX >> (64 - 8 * t->width), &number))
			return wrong_value(log, key, value);
		narrow = (uint32_t)number;
		if (t->width == sizeof(number))
			memcpy((char *)&e->attr + t->offset, &number, sizeof(number));
		else
			memcpy((char *)&e->attr + t->offset, &narrow, sizeof(narrow));
		return 1;
	}
	return 0;
}

static int flag_term(struct event *e, const char *key, const char *value, const struct logger *log)
{
	const struct word *w = find_word(flag_words, key, strlen(key));
	uint64_t number = 0;

	if (!w)
		return 0;
	if (!number_in(value, 1, &number))
		return wrong_value(log, key, value);
	if (number)
		e->terms.flags_set |= w->bits;
	else
		e->terms.flags_cleared |= w->bits;
	return 1;
}

/* Terms with a yes or no. */
static int choice_term(struct event *e, const char *key, const char *value,
		       const struct logger *log)
{
	const struct {
		const char *name;
		enum choice *where;
		bool reversed;
		uint64_t most;
	} rows[] = {
		{ "time", &e->terms.time, false, 1 },
		{ "inherit", &e->terms.inherit, false, UINT64_MAX },
		{ "no-inherit", &e->terms.inherit, true, UINT64_MAX },
		{ "overwrite", &e->terms.overwrite, false, UINT64_MAX },
		{ "no-overwrite", &e->terms.overwrite, true, UINT64_MAX },
		{ "aux-output", &e->terms.aux_output, false, UINT64_MAX },
		{ "percore", &e->terms.percore, false, 1 },
	};
	uint64_t number;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, key) != 0)
			continue;
		if (!number_in(value, rows[i].most, &number))
			return wrong_value(log, key, value);
		*rows[i].where = (number != 0) != rows[i].reversed ? CHOICE_YES : CHOICE_NO;
		return 1;
	}
	return 0;
}

static int aux_action_term(struct event *e, const char *value, const struct logger *log)
{
	static const struct word words[] = {
		{ "start-paused", AUX_ACTION_BIT(0) }, { "pause", AUX_ACTION_BIT(1) },
		{ "resume", AUX_ACTION_BIT(2) }, { NULL, 0 },
	};
	const struct word *w = value ? find_word(words, value, strlen(value)) : NULL;

	if (!w)
		return wrong_value(log, "aux-action", value);
	e->attr.aux_action |= (uint32_t)w->bits;
	return 1;
}

/* Whether a name has only characters that need no quotes. */
static bool is_plain_name(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("_*?.[]!:-", *text))
			return false;
	return true;
}

static int name_term(struct event *e, const char *value, const struct logger *log)
{
	size_t size = value ? strlen(value) : 0;
	uint64_t number;
	char *name;

	if (size > 2 && (*value == '\'' || *value == '"') && value[size - 1] == *value) {
		value++;
		size -= 2;
	} else if (!size || parse_event_number(value, &number) || !is_plain_name(value)) {
		log_at(log, LOG_ERROR, "event term 'name': put '%s' in quotes: name='...'",
		       value ? value : "");
		return -1;
	}
	name = event_text(value, size);
	if (!name)
		return -1;
	free(e->name);
	e->name = name;
	return 1;
}

/* Terms that set a member of struct event_terms. */
static int number_term(struct event *e, const char *key, const char *value,
		       const struct logger *log)
{
	struct event_terms *t = &e->terms;
	uint64_t number = 0;
	bool ok = number_in(value, UINT64_MAX, &number);

	/* The last of period and freq counts; freq=0 stands for the frequency of the options. */
	if (strcmp(key, "period") == 0) {
		t->has_period = true;
		t->has_freq = false;
		t->period = number;
	} else if (strcmp(key, "freq") == 0) {
		t->has_freq = number != 0;
		t->has_period = false;
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
		t->has_max_stack = number != 0;
		t->max_stack = (uint16_t)number;
	} else if (strcmp(key, "aux-sample-size") == 0) {
		ok = ok && number <= UINT32_MAX;
		t->aux_sample_size = (uint32_t)number;
	} else {
		return 0;
	}
	return ok ? 1 : wrong_value(log, key, value);
}

int event_term(struct event *e, const char *key, const char *value, const struct logger *log)
{
	static int (*const kinds[])(struct event *, const char *, const char *,
				    const struct logger *) = {
		attr_term, flag_term, choice_term, number_term,
	};
	int ret = 0;

	if (strcmp(key, "name") == 0)
		return name_term(e, value, log);
	if (strcmp(key, "aux-action") == 0)
		return aux_action_term(e, value, log);
	/* Used by perf trace and perf stat only. */
	if (strcmp(key, "nr") == 0 || strcmp(key, "metric-id") == 0)
		return 1;
	if (strcmp(key, "call-graph") == 0)
		return value && parse_callchain(value, &e->terms.callchain, &e->terms.stack_size) ?
			1 : wrong_value(log, key, value);
	if (strcmp(key, "branch_type") == 0) {
		if (!value || !parse_branch_filter(value, &e->terms.branch_type))
			return wrong_value(log, key, value);
		e->terms.branch_type = branches_of_any_kind(e->terms.branch_type);
		return 1;
	}
	/* A tracepoint's config is the id that its name stands for. */
	if (e->attr.type == PERF_TYPE_TRACEPOINT && e->attr.sample_type & PERF_SAMPLE_RAW &&
	    strncmp(key, "config", strlen("config")) == 0)
		return 0;
	for (size_t i = 0; !ret && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		ret = kinds[i](e, key, value, log);
	return ret;
}

int event_common_terms(struct event_list *l, size_t from, const char *terms)
{
	for (size_t i = from; i < l->n; i++) {
		const char *rest = terms;
		struct term t;
		int ret;

		while ((ret = event_next_term(&rest, &t, l->log)) > 0) {
			ret = event_term(&l->items[i], t.key, t.value, l->log);
			if (!ret)
				log_at(l->log, LOG_ERROR, "event '%s' has no term '%s'",
				       l->items[i].name, t.key);
			free(t.key);
			if (ret != 1)
				return -1;
		}
		if (ret)
			return -1;
	}
	return 0;
}

bool is_modifiers(const char *text)
{
	return *text && text[strspn(text, MODIFIERS)] == '\0';
}

#define LEVELS (ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV)

/* The first modifier of a kind excludes all others of that kind. */
static void count_only(struct event_attr *a, uint64_t all, uint64_t one, bool *seen)
{
	if (!*seen)
		a->flags |= all;
	*seen = true;
	a->flags &= ~one;
}

/* As in perf, u and p exclude guests unless G or H was given. */
static void exclude_guest(struct event *e)
{
	if (!e->machines_given)
		e->attr.flags |= ATTR_EXCLUDE_GUEST;
}

static void apply_modifier(struct event *e, char letter)
{
	const uint64_t machines = ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST;

	switch (letter) {
	case 'u':
		count_only(&e->attr, LEVELS, ATTR_EXCLUDE_USER, &e->modified);
		exclude_guest(e);
		break;
	case 'k': count_only(&e->attr, LEVELS, ATTR_EXCLUDE_KERNEL, &e->modified); break;
	case 'h': count_only(&e->attr, LEVELS, ATTR_EXCLUDE_HV, &e->modified); break;
	case 'G': count_only(&e->attr, machines, ATTR_EXCLUDE_GUEST, &e->machines_given); break;
	case 'H': count_only(&e->attr, machines, ATTR_EXCLUDE_HOST, &e->machines_given); break;
	case 'I': e->attr.flags |= ATTR_EXCLUDE_IDLE; break;
	case 'p': exclude_guest(e); break;
	case 'P': e->precise_max = true; break;
	case 'S': e->sample_read = true; break;
	case 'D': e->attr.flags |= ATTR_PINNED; break;
	case 'e': e->attr.flags |= ATTR_EXCLUSIVE; break;
	case 'W': e->weak_group = true; break;
	default: break;			/* b: counting by BPF, for perf stat only */
	}
}

/* Each letter may occur once; p up to three times, for the precise level. */
static int check_modifiers(const struct event_list *l, const char *letters)
{
	if (*letters && !is_modifiers(letters)) {
		log_at(l->log, LOG_ERROR, "unknown modifiers '%s' (known: " MODIFIERS ")", letters);
		return -1;
	}
	for (const char *at = letters; *at; at++) {
		if (*at == 'p' || !strchr(at + 1, *at))
			continue;
		log_at(l->log, LOG_ERROR, "modifiers '%s': '%c' occurs twice", letters, *at);
		return -1;
	}
	return 0;
}

/* The precise level of a group is added to the event's; D and e apply to the leader only. */
static int modify_event(struct event_list *l, size_t i, const char *letters, enum modified what)
{
	struct event *e = &l->items[i];
	unsigned int precise = attr_precise_ip(&e->attr);
	const bool modified = e->modified;

	/* Levels of the group replace those of an event that counts all levels. */
	e->modified = modified && e->attr.flags & LEVELS;
	/* As in perf, an event with modifiers counts guests, too. */
	if (*letters && what == MODIFY_EVENTS)
		e->attr.flags &= ~ATTR_EXCLUDE_GUEST;
	for (const char *at = letters; *at; at++) {
		precise += *at == 'p';
		if (what == MODIFY_EVENTS || e->leader == i || !strchr("De", *at))
			apply_modifier(e, *at);
	}
	e->modified |= modified;
	if (precise > 3) {
		log_at(l->log, LOG_ERROR, "event '%s': the highest precise level is 3 (ppp)",
		       e->name);
		return -1;
	}
	attr_set_precise_ip(&e->attr, precise);
	return 0;
}

int event_modifiers(struct event_list *l, size_t from, const char *letters, enum modified what)
{
	int err = check_modifiers(l, letters);

	for (size_t i = from; i < l->n && !err; i++)
		err = modify_event(l, i, letters, what);
	return err;
}
