/* event_pmu_sysfs.c - PMUs as /sys/bus/event_source/devices describes them.
 *
 * type: the number for perf_event_attr. format/TERM: "config1:0-7,32", the bits that a term sets.
 * events/NAME: the terms that the name abbreviates; NAME.unit and NAME.scale apply to its counts.
 * cpumask or cpus: where events can be opened; a cpumask also means that they can't follow tasks.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "event/event_kinds.h"
#include "event/event_pmu.h"

int pmu_open(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), PMU_DEVICES "/%s", name);
	return strchr(name, '/') ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool pmu_type(const char *pmu, uint32_t *type)
{
	int dir = pmu_open(pmu);
	uint64_t number;
	bool ok = dir >= 0 && read_text_number(dir, "type", 10, &number);

	if (ok)
		*type = (uint32_t)number;
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

bool pmu_set_bits(struct event_attr *a, const char *format, uint64_t value)
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
	int dir = pmu_open(pmu);

	snprintf(path, sizeof(path), "format/%s", term);
	if (dir >= 0 && read_text(dir, path, format, sizeof(format)) >= 0)
		pmu_set_bits(&bits, format, UINT64_MAX);
	if (dir >= 0)
		close(dir);
	return bits.config;
}

bool pmu_is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

bool pmu_is_wanted(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);

	if (strncmp(wanted, "uncore_", 7) != 0 && strncmp(name, "uncore_", 7) == 0)
		name += 7;
	if (pmu_is_pattern(wanted))
		return fnmatch(wanted, name, 0) == 0;
	if (strncmp(name, wanted, size) != 0)
		return false;
	name += size;
	if (!*name)
		return true;
	name += *name == '_';
	return isdigit((unsigned char)*name) && name[strspn(name, "0123456789")] == '\0';
}

bool pmu_lists_event(const char *name, const char *event)
{
	char path[1024];

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/events/%s", name, event);
	return access(path, F_OK) == 0;
}

static int is_entry(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int pmu_scan(struct dirent ***names)
{
	return scandir(PMU_DEVICES, names, is_entry, alphasort);
}

bool pmu_exists(const char *pmu)
{
	struct dirent **names;
	int n = pmu_scan(&names);
	bool found = false;

	for (int i = 0; i < n; i++) {
		found = found || pmu_is_wanted(names[i]->d_name, pmu);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
}

bool pmu_has_alias(const char *alias)
{
	struct dirent **names;
	int n = strpbrk(alias, "/.") ? -1 : pmu_scan(&names);
	bool found = false;

	for (int i = 0; i < n; i++) {
		found = found || pmu_lists_event(names[i]->d_name, alias);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found && *alias;
}
