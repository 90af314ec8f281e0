/* event_list.c - the list of events, and the texts that its parsers take apart. */
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

char *event_trim(char *text)
{
	size_t size;

	text += strspn(text, EVENT_BLANKS);
	size = strlen(text);
	while (size && strchr(EVENT_BLANKS, text[size - 1]))
		size--;
	text[size] = '\0';
	return text;
}

size_t event_size_to(const char *text, char end)
{
	size_t i;

	for (i = 0; text[i] && text[i] != end; i++) {
		const char *quote = strchr("'\"", text[i]) ? strchr(text + i + 1, text[i]) : NULL;

		if (quote)
			i = (size_t)(quote - text);
	}
	return i;
}

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
	log_at(l->log, LOG_ERROR, "out of memory");
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
		.attr = { .type = type, .config = config, .flags = ATTR_EXCLUDE_GUEST },
		.leader = l->n, .spec = l->specs,
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

size_t events_of_leader(const struct event_list *l, size_t leader)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->items[i].leader == leader;
	return n;
}
