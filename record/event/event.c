/* event.c - parse -e: lists, groups, single events. */
#include "event/event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_kinds.h"
#include "event/event_terms.h"

void events_free(struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct event *e = &l->items[i];

		if (e->created)
			probe_remove(e->created, l->log);
		if (e->cgroup_fd >= 0)
			close(e->cgroup_fd);
		int_list_free(&e->cpus);
		free(e->created);
		free(e->probe);
		free(e->unit);
		free(e->pmu);
		free(e->group_name);
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

/* Returns the slash that opens the terms, or NULL. Slashes are also in the paths of probes and
 * before the length of a breakpoint. */
static char *find_terms(char *item)
{
	bool breakpoint = starts_with(item, "mem:");

	if (is_probe(item))
		return NULL;
	for (char *slash = strchr(item, '/'); slash; slash = strchr(slash + 1, '/'))
		if (!breakpoint || !isdigit((unsigned char)slash[1]))
			return slash;
	return NULL;
}

/* Returns the length of the item up to the comma or brace that ends it. */
static size_t item_size(char *text)
{
	size_t blanks = strspn(text, EVENT_BLANKS), size = blanks + strcspn(text + blanks, ",}");
	char *terms = find_terms(text + blanks);

	if (!terms || terms > text + size)
		return size;
	size = (size_t)(terms + 1 - text);
	size += event_size_to(text + size, '/');
	return size + strcspn(text + size, ",}");
}

static bool is_raw(const char *name, uint64_t *config)
{
	return name[0] == 'r' && parse_event_hex(name + 1, config);
}

/* "TYPE:CONFIG", numbers for perf_event_attr. */
static bool is_numeric(const char *name, uint32_t *type, uint64_t *config)
{
	size_t size = strcspn(name, ":");
	char *start = name[size] ? event_text(name, size) : NULL;
	char *end = start ? event_text(name + size + 1, strlen(name + size + 1)) : NULL;
	uint64_t number = 0;
	bool ok = end && parse_event_number(event_trim(start), &number) && number <= UINT32_MAX &&
		  parse_event_number(event_trim(end), config);

	*type = (uint32_t)number;
	free(start);
	free(end);
	return ok;
}

/* Names and numbers that need no look-up in sysfs or tracefs. */
static bool is_known(const char *name, uint32_t *type, uint64_t *config)
{
	if (event_symbol(name, type, config) || is_numeric(name, type, config))
		return true;
	*type = PERF_TYPE_RAW;
	return is_raw(name, config);
}

/* "cycles:z": no tracepoint, because no subsystem has the name of an event. */
static bool has_unknown_modifiers(const char *name)
{
	size_t size = strcspn(name, ":");
	char start[64];
	uint64_t config;
	uint32_t type;

	if (!name[size] || size >= sizeof(start))
		return false;
	memcpy(start, name, size);
	start[size] = '\0';
	return is_known(start, &type, &config);
}

/* The parts of an event's specification. */
struct item {
	const char *text;		/* as the user wrote it */
	char *name;
	char *terms;			/* NULL: none; "" for two slashes with nothing between */
	const char *modifiers;		/* NULL: none */
};

/* The name is a PMU's, or that of an event which some PMUs list. */
static int add_pmu_event(struct event_list *l, const struct item *item)
{
	const char *terms = item->terms ? item->terms : "";

	if (item->terms && pmu_exists(item->name))
		return event_pmu(l, item->name, terms, item->text);
	if (pmu_has_alias(item->name))
		return event_pmu_alias(l, item->name, terms, item->text);
	return item->terms ? event_pmu(l, item->name, terms, item->text) :
			     event_unknown(l, "event", item->name);
}

static int add_named(struct event_list *l, const struct item *item)
{
	size_t from = l->n;
	uint64_t config;
	uint32_t type;
	int err;

	if (starts_with(item->name, "mem:")) {
		err = event_breakpoint(l, item->name, item->text);
	} else if (is_known(item->name, &type, &config)) {
		err = events_add(l, item->text, type, config) ? 0 : event_no_memory(l);
	} else if (has_unknown_modifiers(item->name)) {
		log_at(l->log, LOG_ERROR,
		       "event '%s': unknown modifiers '%s' (known: " MODIFIERS ")",
		       item->text, strchr(item->name, ':') + 1);
		err = -1;
	} else if (strchr(item->name, ':')) {
		err = event_tracepoints(l, item->name);
	} else {
		return add_pmu_event(l, item);
	}
	return err || !item->terms ? err : event_common_terms(l, from, item->terms);
}

/* Cuts the modifiers off "cycles:u" and returns them, or NULL. A tracepoint's name follows its
 * colon, and may look like modifiers. */
static const char *cut_modifiers(char *name)
{
	char *colon = strrchr(name, ':'), *letters;
	uint64_t config;
	uint32_t type;

	if (starts_with(name, "mem:"))
		return breakpoint_modifiers(name);
	if (!colon)
		return NULL;
	letters = event_trim(colon + 1);
	if (*letters && !is_modifiers(letters))
		return NULL;
	*colon = '\0';
	event_trim(name);
	if (strchr(name, ':') || is_known(name, &type, &config) || pmu_has_alias(name))
		return letters;
	*colon = ':';
	return NULL;
}

/* "name", "name:modifiers", "name/terms/modifiers" or "name/terms/:modifiers". */
static int add_event(struct event_list *l, char *text, const char *whole)
{
	char *terms = find_terms(text);
	struct item item = { .text = whole, .terms = terms };
	size_t from = l->n, size;

	if (terms) {
		*terms++ = '\0';
		size = event_size_to(terms, '/');
		if (!terms[size]) {
			log_at(l->log, LOG_ERROR, "event '%s': the second slash is missing", whole);
			return -1;
		}
		terms[size] = '\0';
		item.terms = event_trim(terms);
		size += strspn(terms + size + 1, EVENT_BLANKS ":");
		item.modifiers = event_trim(terms + size + 1);
		item.name = event_trim(text);
		if (starts_with(item.name, "mem:") && breakpoint_modifiers(item.name)) {
			log_at(l->log, LOG_ERROR, "event '%s': modifiers must follow the terms",
			       whole);
			return -1;
		}
	} else {
		item.name = event_trim(text);
		item.modifiers = cut_modifiers(item.name);
	}
	if (!*item.name) {
		log_at(l->log, LOG_ERROR, "event '%s': a name is missing before the slash", whole);
		return -1;
	}
	if (add_named(l, &item))
		return -1;
	return item.modifiers ? event_modifiers(l, from, item.modifiers, MODIFY_EVENTS) : 0;
}

static int add_item(struct event_list *l, const char *text, size_t size)
{
	char *copy = event_text(text, size), *whole = NULL, *item;
	int err = -1;

	if (!copy)
		return event_no_memory(l);
	item = event_trim(copy);
	l->specs++;
	if (!*item) {
		log_at(l->log, LOG_ERROR, "an event's name is missing");
	} else if (is_probe(item)) {
		err = event_probe(l, item);
	} else {
		whole = event_text(item, strlen(item));
		err = whole ? add_event(l, item, whole) : event_no_memory(l);
	}
	free(whole);
	free(copy);
	return err;
}

/* Adds items up to the end or a closing brace, and moves *text there. */
static int add_items(struct event_list *l, char **text)
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

/* Stores the name before the brace, which may be in quotes. False: it has characters that no name
 * may have, or memory is short. */
static bool set_group_name(struct event *leader, const char *name, size_t size)
{
	char *copy = event_text(name, size), *trimmed = copy ? event_trim(copy) : NULL;

	if (!copy)
		return false;
	size = strlen(trimmed);
	if (size > 1 && *trimmed == '\'' && trimmed[size - 1] == '\'') {
		trimmed[size - 1] = '\0';
		trimmed++;
	}
	if (*trimmed && !strpbrk(trimmed, "/:'\" "))
		leader->group_name = event_text(trimmed, strlen(trimmed));
	free(copy);
	return leader->group_name != NULL;
}

/* Applies the modifiers after a group's colon. */
static int modify_group(struct event_list *l, size_t from, char **text)
{
	size_t size = strcspn(*text, ",");
	char *copy = event_text(*text, size), *letters = copy ? event_trim(copy) : NULL;
	int err = -1;

	*text += size;
	if (!letters)
		return event_no_memory(l);
	if (*letters)
		err = event_modifiers(l, from, letters, MODIFY_GROUP);
	else
		log_at(l->log, LOG_ERROR, "modifiers are missing after a group's colon");
	free(copy);
	return err;
}

/* Parses "a,b}:modifiers": a group after its opening brace. */
static int add_group(struct event_list *l, char **text)
{
	size_t from = l->n;

	if (add_items(l, text))
		return -1;
	if (**text != '}') {
		log_at(l->log, LOG_ERROR, "a group of events has no closing brace");
		return -1;
	}
	++*text;
	for (size_t i = from; i < l->n; i++)
		l->items[i].leader = from;
	*text += strspn(*text, EVENT_BLANKS);
	if (**text != ':')
		return 0;
	++*text;
	return modify_group(l, from, text);
}

/* Parses "item", "{group}" or "name{group}". */
static int add_next(struct event_list *l, char **text)
{
	size_t size = strcspn(*text, "{,}/");
	size_t blanks = strspn(*text, EVENT_BLANKS), from = l->n;
	const char *name = *text + blanks;

	if ((*text)[size] == '{' && !is_probe(name)) {
		*text += size + 1;
		if (add_group(l, text))
			return -1;
		if (size == blanks || set_group_name(&l->items[from], name, size - blanks))
			return 0;
		log_at(l->log, LOG_ERROR, "'%.*s' can't be a group's name", (int)(size - blanks),
		       name);
		return -1;
	}
	size = item_size(*text);
	if (add_item(l, *text, size))
		return -1;
	*text += size;
	return 0;
}

static int add_all(struct event_list *l, char *text)
{
	do {
		if (add_next(l, &text))
			return -1;
		text += strspn(text, EVENT_BLANKS);
		if (*text && *text != ',') {
			log_at(l->log, LOG_ERROR, "unexpected '%s' after an event", text);
			return -1;
		}
	} while (*text++);
	return 0;
}

int events_parse(struct event_list *l, const char *text, unsigned int argv_index)
{
	char *copy = event_text(text, strlen(text));
	size_t from = l->n;
	int err = copy ? add_all(l, copy) : event_no_memory(l);

	free(copy);
	for (size_t i = from; i < l->n; i++)
		l->items[i].argv_index = argv_index;
	return err;
}
