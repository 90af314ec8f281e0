/* list_dirs.c - list events that have directory entries: those of PMUs and tracefs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "base/tracefs.h"
#include "event/event_kinds.h"
#include "event/event_pmu.h"
#include "inform/list_internal.h"

struct names {
	char **items;
	size_t n, room;
};

static void add_name(struct names *names, const char *name)
{
	if (names->n == names->room) {
		size_t room = names->room ? names->room * 2 : 32;
		char **larger = realloc(names->items, room * sizeof(*larger));

		if (!larger)
			return;
		names->items = larger;
		names->room = room;
	}
	names->items[names->n] = strdup(name);
	names->n += names->items[names->n] != NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

enum entry_kind { ENTRY_FILES, ENTRY_DIRECTORIES };	/* links count as directories */

/* Returns the names of a directory's entries of one kind, sorted. */
static struct names read_names(int parent, const char *path, enum entry_kind kind)
{
	const bool directories = kind == ENTRY_DIRECTORIES;
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct names names = { 0 };
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && directories == (entry->d_type != DT_REG))
			add_name(&names, entry->d_name);
	if (dir)
		closedir(dir);
	if (names.n)
		qsort(names.items, names.n, sizeof(*names.items), by_name);
	return names;
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
}

/* Entries such as NAME.unit and NAME.scale are attributes of NAME. */
static void list_pmu_events(struct list *l, int devices, const char *pmu)
{
	char path[NAME_MAX + 16], name[2 * NAME_MAX], text[256];
	struct names events;

	snprintf(path, sizeof(path), "%s/events", pmu);
	events = read_names(devices, path, ENTRY_FILES);
	for (size_t i = 0; i < events.n; i++) {
		if (strchr(events.items[i], '.'))
			continue;
		snprintf(name, sizeof(name), "%s/%s/", pmu, events.items[i]);
		snprintf(path, sizeof(path), "%s/events/%.200s", pmu, events.items[i]);
		if (list_matches(l, name))
			list_line(l, name,
				  read_text(devices, path, text, sizeof(text)) > 0 ? text : NULL);
	}
	free_names(&events);
}

/* Lists the syntax of the PMU's events: "pmu/term=N,term=N/". */
static void list_pmu_terms(struct list *l, int devices, const char *pmu)
{
	char path[NAME_MAX + 16], name[4096];
	struct names terms;
	size_t n;

	snprintf(path, sizeof(path), "%s/format", pmu);
	terms = read_names(devices, path, ENTRY_FILES);
	n = (size_t)snprintf(name, sizeof(name), "%s/", pmu);
	for (size_t i = 0; i < terms.n && n + NAME_MAX + 4 < sizeof(name); i++)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%s%s=N", i ? "," : "",
				      terms.items[i]);
	snprintf(name + n, sizeof(name) - n, "/");
	if (terms.n && !l->names_only)
		list_line(l, name, NULL);
	free_names(&terms);
}

void list_pmus(struct list *l)
{
	int devices = open(PMU_DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct names pmus = { 0 };

	list_begin_group(l, "Events of PMUs", "pmu pmus");
	if (devices >= 0)
		pmus = read_names(devices, ".", ENTRY_DIRECTORIES);
	for (size_t i = 0; i < pmus.n; i++) {
		list_pmu_events(l, devices, pmus.items[i]);
		list_pmu_terms(l, devices, pmus.items[i]);
	}
	free_names(&pmus);
	if (devices >= 0)
		close(devices);
}

void list_tracepoints(struct list *l)
{
	int tracefs = tracefs_open();
	struct names systems = { 0 };

	list_begin_group(l, "Tracepoints", "tracepoint tracepoints");
	if (tracefs >= 0)
		systems = read_names(tracefs, "events", ENTRY_DIRECTORIES);
	if (tracefs < 0 || systems.n == 0)
		list_note(l, tracefs < 0 && errno == ENOENT ? "the kernel has no tracefs" :
			  "tracefs can't be read; precord --doctor shows a remedy");
	for (size_t i = 0; i < systems.n; i++) {
		char path[NAME_MAX + 16], name[2 * NAME_MAX + 2];
		struct names events;

		/* perf_event_open(2) does not accept ftrace's own. */
		if (strcmp(systems.items[i], "ftrace") == 0)
			continue;
		snprintf(path, sizeof(path), "events/%.200s", systems.items[i]);
		events = read_names(tracefs, path, ENTRY_DIRECTORIES);
		for (size_t k = 0; k < events.n; k++) {
			snprintf(name, sizeof(name), "%s:%s", systems.items[i], events.items[k]);
			list_line(l, name, NULL);
		}
		free_names(&events);
	}
	free_names(&systems);
	if (tracefs >= 0)
		close(tracefs);
}
