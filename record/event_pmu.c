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

#include "event_aux.h"
#include "event_kinds.h"
#include "event_terms.h"

#define DEVICES "/sys/bus/event_source/devices"

struct pmu {
	const char *name;
	int dir;
	const struct say *say;
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

/* Puts the low bits of value where the format says; false: it does not fit, or it is odd. */
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
		*word = (*word & ~(mask << low)) | (value & mask) << low;
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

static int apply_terms(const struct pmu *p, struct event *e, const char *terms, bool in_alias);

/* 1: a term of the PMU's format; 0: it has none of that name; -1. */
static int format_term(const struct pmu *p, struct event *e, const char *key, const char *value)
{
	char path[300], format[256];
	uint64_t number = 1;

	snprintf(path, sizeof(path), "format/%s", key);
	if (!read_text(p->dir, path, format, sizeof(format)))
		return 0;
	if (value && strcmp(value, "?") == 0)
		number = 0;	/* an alias that waits for a value: it comes later, or is 0 */
	else if (value && !parse_number(value, &number))
		number = UINT64_MAX;
	if ((value && number == UINT64_MAX) || !place_bits(&e->attr, format, number)) {
		say(p->say, SAY_ERROR, "%s: '%s' is too large for %s (%s)", p->name,
		    value ? value : "1", key, format);
		return -1;
	}
	return 1;
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
	return apply_terms(p, e, terms, true) ? -1 : 1;
}

/* cycles and the like, which cores have besides what their directory lists. One kind of cores of
 * several is told by its number in the high half. */
static int symbol_term(const struct pmu *p, struct event *e, const char *name)
{
	bool only_kind = strcmp(p->name, "cpu") == 0;
	uint64_t config;
	uint32_t type;

	if ((!only_kind && faccessat(p->dir, "cpus", F_OK, 0) != 0) ||
	    !event_symbol(name, &type, &config) ||
	    (type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE))
		return 0;
	e->attr.config = config | (only_kind ? 0 : (uint64_t)e->attr.type << 32);
	e->attr.type = type;
	return 1;
}

static int apply_term(const struct pmu *p, struct event *e, const char *key, const char *value,
		      bool in_alias)
{
	int got;

	if (!*key || strchr(key, '/'))
		return 0;
	got = format_term(p, e, key, value);
	if (!got && !value && !in_alias)
		got = alias_term(p, e, key);
	if (!got && !value)
		got = symbol_term(p, e, key);
	if (!got)
		got = event_term(e, key, value, p->say);
	return got;
}

static int apply_terms(const struct pmu *p, struct event *e, const char *terms, bool in_alias)
{
	const char *rest = *terms ? terms : NULL;
	size_t size;

	for (const char *item; (item = cli_next_item(&rest, &size));) {
		char *key = event_text(item, size), *value;
		int got;

		if (!key)
			return -1;
		value = strchr(key, '=');
		if (value)
			*value++ = '\0';
		got = apply_term(p, e, key, value, in_alias);
		if (!got)
			say(p->say, SAY_ERROR, "%s has no term or event '%s'; see "
			    DEVICES "/%s/format", p->name, key, p->name);
		free(key);
		if (got != 1)
			return -1;
	}
	return 0;
}

int event_common_terms(struct event_list *l, size_t from, const char *terms)
{
	for (size_t i = from; i < l->n; i++) {
		const char *rest = *terms ? terms : NULL;
		size_t size;

		for (const char *item; (item = cli_next_item(&rest, &size));) {
			char *key = event_text(item, size);
			char *value = key ? strchr(key, '=') : NULL;
			int got;

			if (value)
				*value++ = '\0';
			got = key ? event_term(&l->items[i], key, value, l->say) : -1;
			if (!got)
				say(l->say, SAY_ERROR, "no event has a term '%s'", key);
			free(key);
			if (got != 1)
				return -1;
		}
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
	if (apply_terms(p, e, unasked, true) || apply_terms(p, e, terms, false))
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
	struct pmu p = { .name = name, .dir = pmu_dir(name), .say = l->say };
	struct event *e;
	uint32_t type;
	int got;

	if (p.dir < 0 || !pmu_type(name, &type)) {
		say(l->say, SAY_ERROR, "this machine has no PMU '%s'; precord --list shows what "
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

/* uncore_imc stands for uncore_imc_0, uncore_imc_1, ... as well. */
static bool is_instance(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);

	if (strpbrk(wanted, "*?["))
		return fnmatch(wanted, name, 0) == 0;
	if (strncmp(name, wanted, size) != 0)
		return false;
	name += size;
	name += *name == '_';
	return isdigit((unsigned char)*name) && name[strspn(name, "0123456789")] == '\0';
}

static int is_entry(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int event_pmu(struct event_list *l, const char *pmu, const char *terms, const char *text)
{
	struct dirent **names;
	size_t before = l->n;
	int got = 0, n;
	uint32_t type;

	if (pmu_type(pmu, &type))
		return add_pmu(l, pmu, terms, text);
	n = scandir(DEVICES, &names, is_entry, alphasort);
	for (int i = 0; i < n; i++) {
		if (!got && is_instance(names[i]->d_name, pmu))
			got = add_pmu(l, names[i]->d_name, terms, text);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	if (!got && l->n == before)
		return add_pmu(l, pmu, terms, text);	/* says that there is none */
	return got;
}

char *pmu_of_alias(const char *alias)
{
	struct dirent **names;
	int n = strchr(alias, '/') ? -1 : scandir(DEVICES, &names, is_entry, alphasort);
	char path[1024], *found = NULL;

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), DEVICES "/%s/events/%s", names[i]->d_name, alias);
		if (!found && access(path, F_OK) == 0)
			found = event_text(names[i]->d_name, strlen(names[i]->d_name));
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
}
