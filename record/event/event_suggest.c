/* event_suggest.c - find the event that a misspelt name most likely means. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tracefs.h"
#include "cli/cli.h"
#include "event/event_kinds.h"
#include "event/event_terms.h"

enum { TOO_FAR = 3 };			/* edit distance in letters */

struct suggestion {
	const char *wanted;
	size_t size;			/* of wanted, without modifiers */
	size_t distance;
	char name[256];
};

/* Suggests `name` if `compared` is more similar than the best so far. */
static void consider_name(struct suggestion *s, const char *compared, const char *name)
{
	size_t distance = cli_distance(compared, s->wanted, s->size);

	if (distance && strlen(compared) == s->size &&
	    strncasecmp(compared, s->wanted, s->size) == 0)
		distance = 1;
	if (distance >= s->distance)
		return;
	s->distance = distance;
	snprintf(s->name, sizeof(s->name), "%s", name);
}

static void consider_symbols(struct suggestion *s)
{
	size_t n;
	const struct event_symbol *symbols = event_symbols(&n);
	char name[48];

	for (size_t i = 0; i < n; i++) {
		consider_name(s, symbols[i].name, symbols[i].name);
		if (symbols[i].alias)
			consider_name(s, symbols[i].alias, symbols[i].alias);
	}
	for (size_t i = 0; event_cache_name(i, name, sizeof(name)); i++)
		consider_name(s, name, name);
}

static int is_entry(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Names without a system are compared with the events of all systems. */
static void consider_system(struct suggestion *s, int events, const char *system)
{
	const char *colon = memchr(s->wanted, ':', s->size);
	struct dirent **names;
	int n = scandirat(events, system, &names, is_entry, alphasort);
	char name[256];

	for (int i = 0; i < n; i++) {
		int size = snprintf(name, sizeof(name), "%s:%s", system, names[i]->d_name);

		if (size < (int)sizeof(name))
			consider_name(s, colon ? name : names[i]->d_name, name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static void consider_tracepoints(struct suggestion *s)
{
	int tracefs = tracefs_open();
	int events = tracefs < 0 ? -1 :
		     openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **systems;
	int n = events < 0 ? -1 : scandirat(events, ".", &systems, is_entry, alphasort);

	for (int i = 0; i < n; i++) {
		consider_system(s, events, systems[i]->d_name);
		free(systems[i]);
	}
	if (n >= 0)
		free(systems);
	if (events >= 0)
		close(events);
	if (tracefs >= 0)
		close(tracefs);
}

char *event_suggest(const char *name)
{
	const char *colon = strrchr(name, ':');
	struct suggestion s = {
		.wanted = name, .distance = strlen(name) > 3 ? TOO_FAR : TOO_FAR - 1,
		.size = colon && is_modifiers(colon + 1) ? (size_t)(colon - name) : strlen(name),
	};

	consider_symbols(&s);
	if (s.distance)
		consider_tracepoints(&s);
	return s.name[0] ? event_text(s.name, strlen(s.name)) : NULL;
}

int event_unknown(const struct event_list *l, const char *what, const char *name)
{
	char *similar = event_suggest(name);

	if (similar)
		log_at(l->log, LOG_ERROR, "there is no %s '%s'; did you mean '%s'?", what, name,
		       similar);
	else
		log_at(l->log, LOG_ERROR,
		       "there is no %s '%s'; precord --list shows those of this machine",
		       what, name);
	free(similar);
	return -1;
}
