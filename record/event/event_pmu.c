/* event_pmu.c - pmu/term=value,.../ as /sys/bus/event_source/devices describes it.
 *
 * type: the PMU's number. format/TERM: "config1:0-7,32": where a term's bits go. events/NAME: terms
 * that the name stands for; NAME.unit and NAME.scale belong to its counts. cpumask or cpus: where
 * it can be opened; cpumask also means that it knows no tasks.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_aux.h"
#include "event/event_kinds.h"
#include "event/event_terms.h"

#define DEVICES "/sys/bus/event_source/devices"

struct pmu {
	const char *name;
	int dir;
	const char *terms;		/* all that the user wrote */
	const struct logger *log;
};

/* A small file without its last newline; false: it can't be read. */
static bool read_text(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, buf, size - 1);
	close(fd);
	if (got < 0)
		return false;
	buf[got] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

static int pmu_dir(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), DEVICES "/%s", name);
	return strchr(name, '/') ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool pmu_type(const char *pmu, uint32_t *type)
{
	int dir = pmu_dir(pmu);
	char text[32];
	bool ok = dir >= 0 && read_text(dir, "type", text, sizeof(text));

	if (ok)
		*type = (uint32_t)strtoul(text, NULL, 10);
	if (dir >= 0)
		close(dir);
	return ok;
}

static uint64_t *attr_word(struct event_attr *a, const char *name, size_t size)
{
	static const char *const names[] = { "config", "config1", "config2", "config3", "config4" };
	uint64_t *const words[] = {
		&a->config, &a->config1, &a->config2, &a->config3, &a->config4,
	};

	for (size_t i = 0; i < 5; i++)
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return words[i];
	return NULL;
}

/* Sets the low bits of value where the format says, beside those that are set; false: it does not
 * fit, or it is odd. */
static bool place_bits(struct event_attr *a, const char *format, uint64_t value)
{
	size_t size = strcspn(format, ":");
	uint64_t *word = attr_word(a, format, size);
	const char *bits = format + size;

	if (!word || !*bits)
		return false;
	while (*bits == ':' || *bits == ',') {
		char *end;
		unsigned long low = strtoul(bits + 1, &end, 10), high = low;
		uint64_t mask;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (high > 63 || low > high)
			return false;
		mask = high - low == 63 ? UINT64_MAX : (1ull << (high - low + 1)) - 1;
		*word |= (value & mask) << low;
		value = high - low == 63 ? 0 : value >> (high - low + 1);
		bits = end;
	}
	return value == 0;
}

uint64_t pmu_config_bits(const char *pmu, const char *term)
{
	struct event_attr bits = { .config = 0 };
	char path[300], format[256];
	int dir = pmu_dir(pmu);

	snprintf(path, sizeof(path), "format/%s", term);
	if (dir >= 0 && read_text(dir, path, format, sizeof(format)))
		place_bits(&bits, format, UINT64_MAX);
	if (dir >= 0)
		close(dir);
	return bits.config;
}

/* What is applied in turn: whole words of the attribute, then events by name, then single fields. */
enum pass { PASS_WORDS, PASS_NAMES, PASS_FIELDS };
enum origin { FROM_USER, FROM_ALIAS };

static int apply_terms(const struct pmu *p, struct event *e, const char *terms, enum origin from);

/* cycles and the like, which cores have besides what their directory lists. */
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

/* "name", or "event=name". NULL: the term names no event. */
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

/* Did the user give this term? Then it stands in place of the one that a name brings. */
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

/* 1: a term of the PMU's format; 0: it has none of that name; -1. */
static int format_term(const struct pmu *p, struct event *e, const struct term *t, enum origin from)
{
	char path[300], format[256];
	uint64_t number = 1;

	snprintf(path, sizeof(path), "format/%s", t->key);
	if (!read_text(p->dir, path, format, sizeof(format)))
		return 0;
	if (from == FROM_ALIAS && is_given(p, t->key))
		return 1;
	if (from == FROM_ALIAS && t->value && strcmp(t->value, "?") == 0) {
		log_at(p->log, LOG_ERROR, "%s: this event needs a value: %s=N", p->name, t->key);
		return -1;
	}
	if (t->value && !parse_event_number(t->value, &number))
		return wrong_value(p, t->key, t->value, "is not a number");
	if (place_bits(&e->attr, format, number))
		return 1;
	log_at(p->log, LOG_ERROR, "%s: '%s' is too large for %s (%s)", p->name,
	       t->value ? t->value : "1", t->key, format);
	return -1;
}

static void alias_unit(const struct pmu *p, struct event *e, const char *alias)
{
	char path[300], text[128];

	snprintf(path, sizeof(path), "events/%s.unit", alias);
	if (read_text(p->dir, path, text, sizeof(text)) && *text) {
		free(e->unit);
		e->unit = event_text(text, strlen(text));
	}
	snprintf(path, sizeof(path), "events/%s.scale", alias);
	if (read_text(p->dir, path, text, sizeof(text)))
		e->scale = strtod(text, NULL);
}

static int alias_term(const struct pmu *p, struct event *e, const char *alias)
{
	char path[300], terms[1024];

	snprintf(path, sizeof(path), "events/%s", alias);
	if (!read_text(p->dir, path, terms, sizeof(terms)))
		return 0;
	alias_unit(p, e, alias);
	return apply_terms(p, e, terms, FROM_ALIAS) ? -1 : 1;
}

/* One kind of cores of several is told by its number in the high half. */
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

/* "r1a8" or "r0x1a8": all of config. */
static bool is_raw(const struct term *t, uint64_t *config)
{
	const char *digits = t->key + 1;

	if (t->value || t->key[0] != 'r')
		return false;
	return parse_event_hex(strncmp(digits, "0x", 2) == 0 ? digits + 2 : digits, config);
}

/* "@sink": where CoreSight writes its trace, by the number that sysfs has for it. */
static int driver_term(const struct pmu *p, struct event *e, const char *name)
{
	char path[300], text[32];

	snprintf(path, sizeof(path), "sinks/%s", name);
	if (!strchr(name, '/') && read_text(p->dir, path, text, sizeof(text)))
		e->attr.config2 |= strtoull(text, NULL, 16);
	else
		log_at(p->log, LOG_WARNING, "%s: '@%s' means nothing to this PMU", p->name, name);
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
				       DEVICES "/%s/format", p->name, t.key, p->name);
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

static void read_cpus(const struct pmu *p, struct event *e)
{
	char text[4096];

	if (read_text(p->dir, "cpumask", text, sizeof(text)))
		e->system_wide = true;
	else if (!read_text(p->dir, "cpus", text, sizeof(text)))
		return;
	if (*text)
		int_list_parse(&e->cpus, text, 1 << 20);
}

/* The user's stand above those that tracing needs. */
static int apply_all_terms(const struct pmu *p, struct event *e, const char *terms)
{
	enum aux_pmu kind = event_aux_kind(p->name, &e->attr);
	char unasked[256];

	event_aux_terms(kind, p->dir, unasked, sizeof(unasked));
	if (apply_terms(p, e, unasked, FROM_ALIAS) || apply_terms(p, e, terms, FROM_USER))
		return -1;
	e->aux = event_aux_kind(p->name, &e->attr);
	if (!e->aux)
		return 0;
	event_aux_attr(e, p->dir);
	e->pmu = event_text(p->name, strlen(p->name));
	return e->pmu ? 0 : -1;
}

static int add_pmu(struct event_list *l, const char *name, const char *terms, const char *text)
{
	struct pmu p = { .name = name, .dir = pmu_dir(name), .terms = terms, .log = l->log };
	struct event *e;
	uint32_t type;
	int got;

	if (p.dir < 0 || !pmu_type(name, &type)) {
		log_at(l->log, LOG_ERROR, "this machine has no PMU '%s'; precord --list shows what "
		       "it has", name);
		return -1;
	}
	e = events_add(l, text, type, 0);
	got = e ? apply_all_terms(&p, e, terms) : event_no_memory(l);
	if (e && !got)
		read_cpus(&p, e);
	close(p.dir);
	return got;
}

static bool is_glob(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* "uncore_imc" stands for uncore_imc_0, uncore_imc_1, ... as well, and needs no "uncore_". */
static bool is_instance(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);

	if (strncmp(wanted, "uncore_", 7) != 0 && strncmp(name, "uncore_", 7) == 0)
		name += 7;
	if (is_glob(wanted))
		return fnmatch(wanted, name, 0) == 0;
	if (strncmp(name, wanted, size) != 0)
		return false;
	name += size;
	if (!*name)
		return true;
	name += *name == '_';
	return isdigit((unsigned char)*name) && name[strspn(name, "0123456789")] == '\0';
}

static bool has_alias(const char *name, const char *alias)
{
	char path[1024];

	snprintf(path, sizeof(path), DEVICES "/%s/events/%s", name, alias);
	return access(path, F_OK) == 0;
}

/* Does the PMU know all keys? A pattern stands for those PMUs that do. */
static bool has_terms(const char *name, const char *terms, const struct logger *s)
{
	struct pmu p = { .name = name, .dir = pmu_dir(name), .log = s };
	struct event scratch = { .name = NULL };
	bool ok = p.dir >= 0;
	uint64_t config;
	struct term t;

	while (ok && event_next_term(&terms, &t, s) > 0) {
		ok = is_file(&p, "format", t.key) || event_named_by(&p, &t) || is_raw(&t, &config) ||
		     event_term(&scratch, t.key, t.value, s) == 1;
		free(t.key);
	}
	free(scratch.name);
	if (p.dir >= 0)
		close(p.dir);
	return ok;
}

static int is_entry(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Adds the event of every PMU that is meant. */
static int add_each(struct event_list *l, bool (*is_meant)(const char *name, const char *word),
		    const char *word, const char *terms, const char *text)
{
	struct dirent **names;
	int n = scandir(DEVICES, &names, is_entry, alphasort), err = 0;

	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (!err && is_meant(name, word) &&
		    (!is_glob(word) || has_terms(name, terms, l->log)))
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
	err = add_each(l, is_instance, pmu, terms, text);
	if (!err && l->n == before)
		return add_pmu(l, pmu, terms, text);	/* says that there is none */
	return err;
}

bool pmu_exists(const char *pmu)
{
	struct dirent **names;
	int n = scandir(DEVICES, &names, is_entry, alphasort);
	bool found = false;

	for (int i = 0; i < n; i++) {
		found = found || is_instance(names[i]->d_name, pmu);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
}

bool pmu_has_alias(const char *alias)
{
	struct dirent **names;
	int n = strpbrk(alias, "/.") ? -1 : scandir(DEVICES, &names, is_entry, alphasort);
	bool found = false;

	for (int i = 0; i < n; i++) {
		found = found || has_alias(names[i]->d_name, alias);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found && *alias;
}

int event_pmu_alias(struct event_list *l, const char *alias, const char *terms, const char *text)
{
	size_t size = strlen(alias) + strlen(terms) + 2;
	char *all = malloc(size);
	int err;

	if (!all)
		return event_no_memory(l);
	snprintf(all, size, "%s%s%s", alias, *terms ? "," : "", terms);
	err = add_each(l, has_alias, alias, all, text);
	free(all);
	return err;
}
