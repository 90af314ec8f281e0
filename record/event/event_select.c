/* event_select.c - evaluate -e, --filter, --exclude-perf and -G. */
#include "event/event_select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_aux.h"
#include "target/cgroup.h"

/* Returns the index of the argument that contains the text. */
static unsigned int argv_index_of(char *const *argv, const char *text)
{
	for (unsigned int i = 0; argv[i]; i++)
		if (text >= argv[i] && text <= argv[i] + strlen(argv[i]))
			return i;
	return 0;
}

static int no_memory(const struct event_list *l)
{
	event_no_memory(l);
	return CLI_OUTPUT;
}

/* An event that has a filter must pass both. */
static int add_filter(struct event *e, const char *filter)
{
	size_t size = strlen(filter) + (e->filter ? strlen(e->filter) : 0) + 16;
	char *both = malloc(size);

	if (!both)
		return -1;
	if (e->filter)
		snprintf(both, size, "(%s) && (%s)", e->filter, filter);
	else
		snprintf(both, size, "%s", filter);
	free(e->filter);
	e->filter = both;
	return 0;
}

/* Returns the index of the first event of the last specification before argv_index, or SIZE_MAX. */
static size_t find_spec_before(const struct event_list *l, unsigned int argv_index)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].argv_index < argv_index &&
		    (found == SIZE_MAX || l->items[i].spec != l->items[found].spec))
			found = i;
	return found;
}

static int filter_spec(struct event_list *l, const char *filter, unsigned int argv_index)
{
	size_t first = find_spec_before(l, argv_index);

	if (first == SIZE_MAX)
		return log_error(l->log, CLI_USAGE, "'--filter' must follow the -e it belongs to");
	for (size_t i = first; i < l->n && l->items[i].spec == l->items[first].spec; i++) {
		struct event *e = &l->items[i];

		if (e->attr.type != PERF_TYPE_TRACEPOINT && !e->aux)
			return log_error(l->log, CLI_USAGE,
					 "'--filter' is for tracepoints and AUX events, not for %s",
					 e->name);
		if (add_filter(e, filter))
			return no_memory(l);
	}
	return 0;
}

static int read_filters(struct event_list *l, const struct settings *o, char *const *argv)
{
	char self[64];

	for (size_t i = 0; i < o->filters.count; i++) {
		const char *filter = o->filters.items[i];
		int err = filter_spec(l, filter, argv_index_of(argv, filter));

		if (err)
			return err;
	}
	snprintf(self, sizeof(self), "common_pid != %d", (int)getpid());
	for (size_t i = 0; i < l->n && o->exclude_self; i++)
		if (l->items[i].attr.type == PERF_TYPE_TRACEPOINT && add_filter(&l->items[i], self))
			return no_memory(l);
	return 0;
}

static int set_cgroup(struct event_list *l, size_t i, const char *name, size_t size)
{
	struct event *e = &l->items[i];

	e->cgroup = event_text(name, size);
	if (!e->cgroup)
		return no_memory(l);
	e->cgroup_fd = cgroup_open(e->cgroup);
	if (e->cgroup_fd < 0)
		return log_error(l->log, CLI_INPUT, "cgroup '%s': %s", e->cgroup, strerror(errno));
	return 0;
}

/* One name for all events, or one for each, which may be empty. */
static int read_cgroups(struct event_list *l, const struct settings *o)
{
	const char *only = NULL;
	size_t event = 0, size, only_size = 0;
	int err = 0;

	for (size_t i = 0; i < o->cgroups.count; i++) {
		const char *rest = o->cgroups.items[i];

		for (const char *item; !err && (item = cli_next_item(&rest, &size)); event++) {
			if (event == l->n)
				return log_error(l->log, CLI_USAGE,
						 "'-G' names more cgroups than there are events");
			only = event ? NULL : item;
			only_size = size;
			if (size)
				err = set_cgroup(l, event, item, size);
		}
	}
	for (size_t i = 1; only && i < l->n && !err; i++)
		err = set_cgroup(l, i, only, only_size);
	return err;
}

static int add_default(struct event_list *l)
{
	struct event *e = events_add(l, "cycles:P", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (!e)
		return no_memory(l);
	e->precise_max = true;
	return 0;
}

int events_select(struct event_list *l, const struct settings *o, char *const *argv)
{
	int err = 0;

	for (size_t i = 0; i < o->events.count; i++)
		if (events_parse(l, o->events.items[i], argv_index_of(argv, o->events.items[i])))
			return CLI_USAGE;
	if (!l->n)
		err = add_default(l);
	if (!err)
		err = read_filters(l, o, argv);
	if (!err)
		err = read_cgroups(l, o);
	return err ? err : events_aux_to_front(l);
}
