/* event_pmu_terms.c - set an attribute from the terms of pmu/term=value,.../. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "event/event_aux.h"
#include "event/event_kinds.h"
#include "event/event_pmu.h"
#include "event/event_terms.h"

/* Terms are applied in this order: whole words of the attribute, events by name, single fields. */
enum pass { PASS_WORDS, PASS_NAMES, PASS_FIELDS };
enum origin { FROM_USER, FROM_ALIAS };

static int apply_terms(const struct pmu *p, struct event *e, const char *terms, enum origin from);

/* PMUs of cpu cores also have the kernel's generic events, such as cycles. */
static bool is_symbol_of(const struct pmu *p, const char *name, uint32_t *type, uint64_t *config)
{
	return (strcmp(p->name, "cpu") == 0 || faccessat(p->dir, "cpus", F_OK, 0) == 0) &&
	       event_symbol(name, type, config) &&
	       (*type == PERF_TYPE_HARDWARE || *type == PERF_TYPE_HW_CACHE);
}

static bool is_file(const struct pmu *p, const char *directory, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return *name && !strchr(name, '/') && faccessat(p->dir, path, F_OK, 0) == 0;
}

/* Returns the event that "name" or "event=name" selects, or NULL. */
static const char *event_named_by(const struct pmu *p, const struct term *t)
{
	const char *name = t->value && strcmp(t->key, "event") == 0 ? t->value : t->key;
	uint64_t config;
	uint32_t type;

	if (t->value && (name == t->key || !is_file(p, "events", name)))
		return NULL;
	if (!t->value && is_file(p, "format", name))
		return NULL;
	return is_file(p, "events", name) || is_symbol_of(p, name, &type, &config) ? name : NULL;
}

/* Whether the user gave this term, which then overrides the one of a named event. */
static bool is_given(const struct pmu *p, const char *key)
{
	const char *rest = p->terms;
	struct term t;
	bool found = false;

	while (!found && event_next_term(&rest, &t, p->log) > 0) {
		found = strcmp(t.key, key) == 0 && !event_named_by(p, &t);
		free(t.key);
	}
	return found;
}

static int wrong_value(const struct pmu *p, const char *key, const char *value, const char *why)
{
	log_at(p->log, LOG_ERROR, "%s: '%s' %s for %s", p->name, value ? value : "1", why, key);
	return -1;
}

/* Returns 1 for a field of the PMU's format, 0 for another name, or -1 after logging the error. */
static int format_term(const struct pmu *p, struct event *e, const struct term *t, enum origin from)
{
	char path[300], format[256];
	uint64_t number = 1;

	snprintf(path, sizeof(path), "format/%s", t->key);
	if (read_text(p->dir, path, format, sizeof(format)) < 0)
		return 0;
	if (from == FROM_ALIAS && is_given(p, t->key))
		return 1;
	if (from == FROM_ALIAS && t->value && strcmp(t->value, "?") == 0) {
		log_at(p->log, LOG_ERROR, "%s: this event needs a value: %s=N", p->name, t->key);
		return -1;
	}
	if (t->value && !parse_event_number(t->value, &number))
		return wrong_value(p, t->key, t->value, "is not a number");
	if (pmu_set_bits(&e->attr, format, number))
		return 1;
	log_at(p->log, LOG_ERROR, "%s: '%s' is too large for %s (%s)", p->name,
	       t->value ? t->value : "1", t->key, format);
	return -1;
}

static void alias_unit(const struct pmu *p, struct event *e, const char *alias)
{
	char path[300], text[128];

	snprintf(path, sizeof(path), "events/%s.unit", alias);
	if (read_text(p->dir, path, text, sizeof(text)) >= 0 && *text) {
		free(e->unit);
		e->unit = event_text(text, strlen(text));
	}
	snprintf(path, sizeof(path), "events/%s.scale", alias);
	if (read_text(p->dir, path, text, sizeof(text)) >= 0)
		e->scale = strtod(text, NULL);
}

static int alias_term(const struct pmu *p, struct event *e, const char *alias)
{
	char path[300], terms[1024];

	snprintf(path, sizeof(path), "events/%s", alias);
	if (read_text(p->dir, path, terms, sizeof(terms)) < 0)
		return 0;
	alias_unit(p, e, alias);
	return apply_terms(p, e, terms, FROM_ALIAS) ? -1 : 1;
}

/* On machines with several kinds of cores, the high half of config is the PMU's type. */
static int symbol_term(const struct pmu *p, struct event *e, const char *name)
{
	bool only_kind = strcmp(p->name, "cpu") == 0;
	uint64_t config;
	uint32_t type;

	if (!is_symbol_of(p, name, &type, &config))
		return 0;
	e->attr.config = config | (only_kind ? 0 : (uint64_t)e->attr.type << 32);
	e->attr.type = type;
	return 1;
}

/* "r1a8" or "r0x1a8": the whole config. */
static bool is_raw(const struct term *t, uint64_t *config)
{
	const char *digits = t->key + 1;

	if (t->value || t->key[0] != 'r')
		return false;
	return parse_event_hex(strncmp(digits, "0x", 2) == 0 ? digits + 2 : digits, config);
}

/* "@sink": the CoreSight device that stores the trace, by its number in sysfs. */
static int driver_term(const struct pmu *p, struct event *e, const char *name)
{
	char path[300], text[32];

	snprintf(path, sizeof(path), "sinks/%s", name);
	if (!strchr(name, '/') && read_text(p->dir, path, text, sizeof(text)) >= 0)
		e->attr.config2 |= strtoull(text, NULL, 16);
	else
		log_at(p->log, LOG_WARNING, "%s: this PMU has no sink '%s': '@%s' is ignored",
		       p->name, name, name);
	return 1;
}

static enum pass pass_of(const struct pmu *p, const struct term *t, enum origin from)
{
	uint64_t config;

	if (is_file(p, "format", t->key) && !event_named_by(p, t))
		return PASS_FIELDS;
	if (strncmp(t->key, "config", strlen("config")) == 0 || is_raw(t, &config))
		return PASS_WORDS;
	return from == FROM_USER && event_named_by(p, t) ? PASS_NAMES : PASS_FIELDS;
}

static int apply_term(const struct pmu *p, struct event *e, const struct term *t, enum origin from)
{
	const char *name = from == FROM_USER ? event_named_by(p, t) : NULL;
	uint64_t config;
	int ret = 0;

	if (t->key[0] == '@')
		return driver_term(p, e, t->key + 1);
	if (strchr(t->key, '/'))
		return 0;
	if (name) {
		ret = alias_term(p, e, name);
		return ret ? ret : symbol_term(p, e, name);
	}
	ret = format_term(p, e, t, from);
	if (!ret && is_raw(t, &config)) {
		e->attr.config = config;
		return 1;
	}
	return ret ? ret : event_term(e, t->key, t->value, p->log);
}

static int apply_pass(const struct pmu *p, struct event *e, const char *terms, enum origin from,
		      enum pass pass)
{
	unsigned int names = 0;
	struct term t;
	int ret;

	while ((ret = event_next_term(&terms, &t, p->log)) > 0) {
		if (pass_of(p, &t, from) == pass) {
			names += pass == PASS_NAMES;
			ret = apply_term(p, e, &t, from);
			if (!ret)
				log_at(p->log, LOG_ERROR, "%s has no term or event '%s'; see "
				       PMU_DEVICES "/%s/format", p->name, t.key, p->name);
		}
		free(t.key);
		if (ret != 1)
			return -1;
	}
	if (names > 1) {
		log_at(p->log, LOG_ERROR, "%s/%s/ names more than one event", p->name, p->terms);
		return -1;
	}
	return ret;
}

static int apply_terms(const struct pmu *p, struct event *e, const char *terms, enum origin from)
{
	for (enum pass pass = PASS_WORDS; pass <= PASS_FIELDS; pass++)
		if (apply_pass(p, e, terms, from, pass))
			return -1;
	return 0;
}

/* The user's terms are applied last: they override those that hardware traces need. */
int pmu_apply_terms(const struct pmu *p, struct event *e, const char *terms)
{
	enum aux_pmu kind = event_aux_kind(p->name, &e->attr);
	char defaults[256];

	event_aux_terms(kind, p->dir, defaults, sizeof(defaults));
	if (apply_terms(p, e, defaults, FROM_ALIAS) || apply_terms(p, e, terms, FROM_USER))
		return -1;
	e->aux = event_aux_kind(p->name, &e->attr);
	if (!e->aux)
		return 0;
	event_aux_attr(e, p->dir);
	e->pmu = event_text(p->name, strlen(p->name));
	return e->pmu ? 0 : -1;
}

bool pmu_has_terms(const char *name, const char *terms, const struct logger *log)
{
	struct pmu p = { .name = name, .dir = pmu_open(name), .log = log };
	struct event scratch = { .name = NULL };
	bool ok = p.dir >= 0;
	uint64_t config;
	struct term t;

	while (ok && event_next_term(&terms, &t, log) > 0) {
		ok = is_file(&p, "format", t.key) || event_named_by(&p, &t) ||
		     is_raw(&t, &config) || event_term(&scratch, t.key, t.value, log) == 1;
		free(t.key);
	}
	free(scratch.name);
	if (p.dir >= 0)
		close(p.dir);
	return ok;
}
