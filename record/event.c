/* event.c - read -e: lists, groups, one event. */
#include "event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_kinds.h"
#include "event_terms.h"

char *event_text(const char *text, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

int event_no_memory(const struct event_list *l)
{
	say(l->say, SAY_ERROR, "out of memory");
	return -1;
}

struct event *events_add(struct event_list *l, const char *name, uint32_t type, uint64_t config)
{
	struct event *items = realloc(l->items, (l->n + 1) * sizeof(*items));
	struct event *e;

	if (!items)
		return NULL;
	l->items = items;
	e = &items[l->n];
	*e = (struct event){
		.attr = { .type = type, .config = config }, .leader = l->n, .term = l->terms,
		.cgroup_fd = -1, .name = event_text(name, strlen(name)),
	};
	if (!e->name)
		return NULL;
	l->n++;
	return e;
}

struct event *events_last(struct event_list *l)
{
	return &l->items[l->n - 1];
}

void events_free(struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct event *e = &l->items[i];

		if (e->created)
			probe_remove(e->created, l->say);
		if (e->cgroup_fd >= 0)
			close(e->cgroup_fd);
		int_list_free(&e->cpus);
		free(e->created);
		free(e->probe);
		free(e->unit);
		free(e->pmu);
		free(e->filter);
		free(e->cgroup);
		free(e->name);
	}
	free(l->items);
	l->items = NULL;
	l->n = 0;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Slashes of paths and of mem: do not come in pairs. */
static bool has_terms(const char *item)
{
	return !starts_with(item, "mem:") && !is_probe(item);
}

/* Up to the comma or brace that ends the item. */
static size_t item_size(const char *text)
{
	bool pairs = has_terms(text), inside = false;
	size_t i;

	for (i = 0; text[i]; i++) {
		if (pairs && text[i] == '/')
			inside = !inside;
		if (!inside && (text[i] == ',' || text[i] == '}'))
			break;
	}
	return i;
}

static bool is_raw(const char *name, uint64_t *config)
{
	char *end;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return false;
	*config = strtoull(name + 1, &end, 16);
	return !*end;
}

static int unknown(const struct event_list *l, const char *name)
{
	say(l->say, SAY_ERROR,
	    "no event is called '%s'; precord --list shows those of this machine", name);
	return -1;
}

/* "cycles:z": no tracepoint's system is called as an event is. */
static bool has_odd_modifiers(const char *name)
{
	size_t size = strcspn(name, ":");
	char start[64];
	uint64_t config;
	uint32_t type;

	if (!name[size] || size >= sizeof(start))
		return false;
	memcpy(start, name, size);
	start[size] = '\0';
	return event_symbol(start, &type, &config);
}

/* A name without terms and modifiers; `text` is what the user wrote. */
static int add_named(struct event_list *l, const char *name, const char *text)
{
	uint64_t config;
	uint32_t type;
	char *pmu;
	int got;

	if (event_symbol(name, &type, &config))
		return events_add(l, text, type, config) ? 0 : event_no_memory(l);
	if (is_raw(name, &config))
		return events_add(l, text, PERF_TYPE_RAW, config) ? 0 : event_no_memory(l);
	if (has_odd_modifiers(name)) {
		say(l->say, SAY_ERROR, "event '%s': '%s' are not modifiers (ukhGHpPSDeWI)", name,
		    strchr(name, ':') + 1);
		return -1;
	}
	if (strchr(name, ':'))
		return event_tracepoints(l, name);
	pmu = pmu_of_alias(name);
	if (!pmu)
		return unknown(l, name);
	got = event_pmu(l, pmu, name, text);
	free(pmu);
	return got;
}

/* "cycles:u": cuts the modifiers off and returns them, or NULL. What follows the colon of a
 * tracepoint is its name, though it may look like modifiers. */
static char *cut_modifiers(char *name)
{
	char *colon = strrchr(name, ':');
	uint64_t config;
	uint32_t type;

	if (!colon || !is_modifiers(colon + 1))
		return NULL;
	*colon = '\0';
	if (strchr(name, ':') || event_symbol(name, &type, &config) || is_raw(name, &config))
		return colon + 1;
	*colon = ':';
	return NULL;
}

static int add_plain(struct event_list *l, char *item)
{
	size_t from = l->n;
	char *whole = event_text(item, strlen(item));
	char *letters = cut_modifiers(item);
	int got = whole ? add_named(l, item, whole) : event_no_memory(l);

	free(whole);
	if (got || !letters)
		return got;
	event_modifiers(l, from, letters);
	return 0;
}

/* "name/terms/modifiers" */
static int add_with_terms(struct event_list *l, char *item)
{
	char *whole = event_text(item, strlen(item));
	size_t from = l->n;
	char *terms = strchr(item, '/'), *letters = strchr(terms + 1, '/');
	uint64_t config;
	uint32_t type;
	int got;

	if (!whole)
		return event_no_memory(l);
	*terms++ = '\0';
	if (!letters) {
		say(l->say, SAY_ERROR, "event '%s': the second slash is missing", whole);
		free(whole);
		return -1;
	}
	*letters++ = '\0';
	if (strchr(item, ':') || event_symbol(item, &type, &config)) {
		got = add_named(l, item, whole);
		if (!got)
			got = event_common_terms(l, from, terms);
	} else {
		got = event_pmu(l, item, terms, whole);
	}
	letters += *letters == ':';
	if (!got && *letters && !event_modifiers(l, from, letters)) {
		say(l->say, SAY_ERROR, "event '%s': '%s' are not modifiers (ukhGHpPSDeWI)", whole,
		    letters);
		got = -1;
	}
	free(whole);
	return got;
}

static int add_item(struct event_list *l, const char *text, size_t size)
{
	char *item = event_text(text, size);
	int got;

	if (!item)
		return event_no_memory(l);
	l->terms++;
	if (!size) {
		say(l->say, SAY_ERROR, "an event's name is missing");
		got = -1;
	} else if (starts_with(item, "mem:")) {
		got = event_breakpoint(l, item);
	} else if (is_probe(item)) {
		got = event_probe(l, item);
	} else if (strchr(item, '/')) {
		got = add_with_terms(l, item);
	} else {
		got = add_plain(l, item);
	}
	free(item);
	return got;
}

/* Items up to the end or a closing brace, to which *text moves. */
static int add_items(struct event_list *l, const char **text)
{
	for (;;) {
		size_t size = item_size(*text);

		if (add_item(l, *text, size))
			return -1;
		*text += size;
		if (**text != ',')
			return 0;
		++*text;
	}
}

/* "{a,b}:mods"; *text stands behind the brace. */
static int add_group(struct event_list *l, const char **text)
{
	size_t from = l->n, size;
	char *letters;
	bool ok;

	if (add_items(l, text))
		return -1;
	if (**text != '}') {
		say(l->say, SAY_ERROR, "a group of events has no closing brace");
		return -1;
	}
	++*text;
	for (size_t i = from; i < l->n; i++)
		l->items[i].leader = from;
	if (**text != ':')
		return 0;
	++*text;
	size = strcspn(*text, ",");
	letters = event_text(*text, size);
	ok = letters && event_modifiers(l, from, letters);
	if (!ok)
		say(l->say, SAY_ERROR, "'%s' are not modifiers of a group (ukhGHpPSDeWI)",
		    letters ? letters : "");
	free(letters);
	*text += size;
	return ok ? 0 : -1;
}

static int add_next(struct event_list *l, const char **text)
{
	size_t size;

	if (**text == '{') {
		++*text;
		return add_group(l, text);
	}
	size = item_size(*text);
	if (add_item(l, *text, size))
		return -1;
	*text += size;
	return 0;
}

int events_parse(struct event_list *l, const char *text, unsigned int place)
{
	size_t from = l->n;

	do {
		if (add_next(l, &text))
			return -1;
		if (*text && *text != ',') {
			say(l->say, SAY_ERROR, "'%s' can't follow an event", text);
			return -1;
		}
	} while (*text++);
	for (size_t i = from; i < l->n; i++)
		l->items[i].place = place;
	return 0;
}
