/* event_tracepoint.c - parse system:name; tracefs has the tracepoints' ids. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "base/tracefs.h"
#include "event/event_kinds.h"
#include "event/event_terms.h"
#include "event/explain.h"

static int add_tracepoint(struct event_list *l, const char *system, const char *name, uint64_t id)
{
	char text[512];
	struct event *e;

	snprintf(text, sizeof(text), "%s:%s", system, name);
	e = events_add(l, text, PERF_TYPE_TRACEPOINT, id);
	if (!e)
		return event_no_memory(l);
	e->attr.sample_period = 1;
	e->attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			      PERF_SAMPLE_PERIOD;
	return 0;
}

/* "cylces:u" looks like a tracepoint, but is more likely a misspelt event with modifiers. Where
 * tracefs can't be read, it is one if there is an event with a similar name. */
static bool is_misspelt_event(const char *text, int error)
{
	char *similar;
	bool misspelt;

	if (!is_modifiers(strchr(text, ':') + 1))
		return false;
	if (error == ENOENT)
		return true;
	similar = event_suggest(text);
	misspelt = similar != NULL;
	free(similar);
	return misspelt;
}

static int log_missing(const struct event_list *l, const char *text, int error)
{
	if (is_misspelt_event(text, error))
		return event_unknown(l, "event", text);
	if (error == ENOENT)
		return event_unknown(l, "tracepoint", text);
	explain_tracefs(text, error, l->log);
	return -1;
}

static int is_entry(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Adds the system's events that the pattern matches. */
static int add_matching(struct event_list *l, int events, const char *system, const char *glob)
{
	struct dirent **names;
	int n = scandirat(events, system, &names, is_entry, alphasort);
	char path[600];
	uint64_t id;
	int err = 0;

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/id", system, names[i]->d_name);
		if (!err && fnmatch(glob, names[i]->d_name, 0) == 0 &&
		    read_text_number(events, path, 10, &id))
			err = add_tracepoint(l, system, names[i]->d_name, id);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return err;
}

static int add_globs(struct event_list *l, int events, const char *systems, const char *glob)
{
	struct dirent **names;
	int n = scandirat(events, ".", &names, is_entry, alphasort);
	int err = 0;

	for (int i = 0; i < n; i++) {
		if (!err && fnmatch(systems, names[i]->d_name, 0) == 0)
			err = add_matching(l, events, names[i]->d_name, glob);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return err;
}

static int add_one(struct event_list *l, int events, const char *text, const char *system,
		   const char *name)
{
	char path[600];
	uint64_t id;

	snprintf(path, sizeof(path), "%s/%s/id", system, name);
	if (!read_text_number(events, path, 10, &id))
		return log_missing(l, text, errno);
	return add_tracepoint(l, system, name, id);
}

int event_tracepoints(struct event_list *l, const char *text)
{
	int tracefs = tracefs_open();
	char *system = event_text(text, strcspn(text, ":"));
	const char *name = strchr(text, ':') + 1 + strspn(strchr(text, ':') + 1, " ");
	int events, ret = -1;
	size_t before = l->n;

	if (tracefs < 0) {
		ret = log_missing(l, text, errno);
		free(system);
		return ret;
	}
	events = openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(tracefs);
	if (!system) {
		event_no_memory(l);
	} else if (events < 0) {
		log_missing(l, text, errno);
	} else if (strchr(event_trim(system), '/') || strchr(name, '/')) {
		log_missing(l, text, ENOENT);
	} else if (strpbrk(text, "*?[")) {
		ret = add_globs(l, events, system, name);
		if (!ret && l->n == before)
			ret = log_missing(l, text,
					  faccessat(events, "header_page", R_OK, AT_EACCESS) ?
					      errno : ENOENT);
	} else {
		ret = add_one(l, events, text, system, name);
	}
	if (events >= 0)
		close(events);
	free(system);
	return ret;
}

/* Appends the name in "TYPE NAME;" or "TYPE NAME[SIZE];", and returns the length. Common fields are
 * left out. */
static size_t add_field(const char *line, char *text, size_t size)
{
	const char *end = strchr(line, ';'), *name;

	if (!end)
		return 0;
	if (end[-1] == ']')
		while (end > line && *end != '[')
			end--;
	for (name = end; name > line && !strchr(" *", name[-1]); name--)
		;
	if (strncmp(name, "common_", strlen("common_")) == 0)
		return 0;
	return (size_t)snprintf(text, size, " %.*s", (int)(end - name), name);
}

bool tracepoint_fields(const char *name, char *text, size_t size)
{
	char path[600], content[16384], *line, *rest = content;
	size_t system = strcspn(name, ":"), n = 0;
	int tracefs = tracefs_open(), fd;
	ssize_t got;

	text[0] = '\0';
	if (tracefs < 0)
		return false;
	snprintf(path, sizeof(path), "events/%.*s/%s/format", (int)system, name,
		 name[system] ? name + system + 1 : "");
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	close(tracefs);
	got = fd < 0 ? -1 : read(fd, content, sizeof(content) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	content[got] = '\0';
	while ((line = strsep(&rest, "\n")) && n < size)
		if (strncmp(line, "\tfield:", strlen("\tfield:")) == 0)
			n += add_field(line + strlen("\tfield:"), text + n, size - n);
	return n > 0;
}
