/* event_pmu.c - events of PMUs: pmu/term=value,.../ and names that PMUs list. */
#include "event/event_pmu.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "event/event_kinds.h"

static void read_cpus(const struct pmu *p, struct event *e)
{
	char text[4096];

	if (read_text(p->dir, "cpumask", text, sizeof(text)) >= 0)
		e->system_wide = true;
	else if (read_text(p->dir, "cpus", text, sizeof(text)) < 0)
		return;
	if (*text)
		int_list_parse(&e->cpus, text, 1 << 20);
}

static int add_pmu(struct event_list *l, const char *name, const char *terms, const char *text)
{
	struct pmu p = { .name = name, .dir = pmu_open(name), .terms = terms, .log = l->log };
	struct event *e;
	uint32_t type;
	int err;

	if (p.dir < 0 || !pmu_type(name, &type)) {
		log_at(l->log, LOG_ERROR,
		       "this machine has no PMU '%s'; precord --list shows its PMUs",
		       name);
		return -1;
	}
	e = events_add(l, text, type, 0);
	err = e ? pmu_apply_terms(&p, e, terms) : event_no_memory(l);
	if (e && !err)
		read_cpus(&p, e);
	close(p.dir);
	return err;
}

/* Adds the event of every PMU that is_wanted() selects, with a pattern only where it knows all
 * terms. */
static int add_each(struct event_list *l, bool (*is_wanted)(const char *name, const char *word),
		    const char *word, const char *terms, const char *text)
{
	struct dirent **names;
	int n = pmu_scan(&names), err = 0;

	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (!err && is_wanted(name, word) &&
		    (!pmu_is_pattern(word) || pmu_has_terms(name, terms, l->log)))
			err = add_pmu(l, name, terms, text);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return err;
}

int event_pmu(struct event_list *l, const char *pmu, const char *terms, const char *text)
{
	size_t before = l->n;
	uint32_t type;
	int err;

	if (pmu_type(pmu, &type))
		return add_pmu(l, pmu, terms, text);
	err = add_each(l, pmu_is_wanted, pmu, terms, text);
	if (!err && l->n == before)
		return add_pmu(l, pmu, terms, text);	/* logs that there is none */
	return err;
}

int event_pmu_alias(struct event_list *l, const char *alias, const char *terms, const char *text)
{
	size_t size = strlen(alias) + strlen(terms) + 2;
	char *all = malloc(size);
	int err;

	if (!all)
		return event_no_memory(l);
	snprintf(all, size, "%s%s%s", alias, *terms ? "," : "", terms);
	err = add_each(l, pmu_lists_event, alias, all, text);
	free(all);
	return err;
}
