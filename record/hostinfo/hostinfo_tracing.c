/* hostinfo_tracing.c - feature TRACING_DATA: formats of the recorded tracepoints, from tracefs. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/read_text.h"
#include "base/tracefs.h"
#include "hostinfo/hostinfo_internal.h"

#define LIMIT (16u << 20)

struct format {
	const char *system, *text;
	size_t size;
};

static struct pd_value file_text(struct host_values *h, const char *name, int dir, const char *path)
{
	size_t size;
	char *text = read_text_all(dir, path, LIMIT, &size);
	char *copy = text ? host_alloc(h, size + 1) : NULL;

	if (copy)
		memcpy(copy, text, size);
	free(text);
	return (struct pd_value){ .name = name, .kind = PD_VALUE_TEXT, .bytes = {
		(const uint8_t *)(copy ? copy : ""), copy ? size : 0 } };
}

static bool has_id(int events, const char *path, uint64_t id)
{
	char file[PATH_MAX];
	uint64_t found;

	snprintf(file, sizeof(file), "%s/id", path);
	return read_text_number(events, file, 10, &found) && found == id;
}

/* Finds "system/event" by id: tries the name, which the user may have changed, then all
 * tracepoints. */
static bool find_event(int events, const struct hostinfo_tracepoint *t, char *path, size_t size)
{
	const char *colon = t->name ? strchr(t->name, ':') : NULL;
	struct dirent *system, *event;
	bool found = false;
	DIR *top;

	if (colon) {
		snprintf(path, size, "%.*s/%.*s", (int)(colon - t->name), t->name,
			 (int)strcspn(colon + 1, ":"), colon + 1);
		if (has_id(events, path, t->id))
			return true;
	}
	top = fdopendir(openat(events, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (top && !found && (system = readdir(top))) {
		int fd = system->d_name[0] == '.' ? -1 :
			 openat(events, system->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

		if (!dir)
			continue;
		while (!found && (event = readdir(dir))) {
			snprintf(path, size, "%s/%s", system->d_name, event->d_name);
			found = event->d_name[0] != '.' && has_id(events, path, t->id);
		}
		closedir(dir);
	}
	if (top)
		closedir(top);
	return found;
}

static bool is_duplicate(const struct hostinfo *info, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (info->tracepoints[k].id == info->tracepoints[i].id)
			return true;
	return false;
}

static int by_system(const void *a, const void *b)
{
	return strcmp(((const struct format *)a)->system, ((const struct format *)b)->system);
}

static size_t read_formats(struct host_values *h, const struct hostinfo *info, int events,
			   struct format *formats)
{
	size_t n = 0;

	for (size_t i = 0; i < info->nr_tracepoints; i++) {
		char path[PATH_MAX / 2], file[PATH_MAX];
		struct pd_value text;

		if (is_duplicate(info, i) ||
		    !find_event(events, &info->tracepoints[i], path, sizeof(path)))
			continue;
		snprintf(file, sizeof(file), "%s/format", path);
		text = file_text(h, NULL, events, file);
		path[strcspn(path, "/")] = '\0';
		formats[n++] = (struct format){ host_copy(h, path), (const char *)text.bytes.data,
						text.bytes.size };
	}
	qsort(formats, n, sizeof(*formats), by_system);
	return n;
}

/* Makes an object for each system with its formats, and a separate list for system ftrace. */
static void group_formats(struct host_values *h, const struct format *formats, size_t n,
			  struct host_list *systems, struct host_list *ftrace)
{
	for (size_t i = 0; i < n;) {
		const char *system = formats[i].system;
		struct host_list list = { .h = h };
		struct host_list *into = strcmp(system, "ftrace") == 0 ? ftrace : &list;

		for (; i < n && strcmp(formats[i].system, system) == 0; i++)
			host_add(into, (struct pd_value){ .kind = PD_VALUE_TEXT,
				.bytes = { (const uint8_t *)formats[i].text, formats[i].size } });
		if (into == &list)
			host_add(systems, host_object(h, NULL, (const struct pd_value[]){
				PD_TEXT("name", system), host_array(&list, "formats") }, 2));
	}
}

/* tracefs, events: open directories. */
static struct pd_value tracing_value(struct host_values *h, const struct hostinfo *info,
				     int tracefs, int events)
{
	struct format *formats = host_alloc(h, (info->nr_tracepoints + 1) * sizeof(*formats));
	struct host_list systems = { .h = h }, ftrace = { .h = h };
	size_t n = formats ? read_formats(h, info, events, formats) : 0;

	group_formats(h, formats, n, &systems, &ftrace);
	return host_object(h, NULL, (const struct pd_value[]){
		PD_TEXT("version", "0.6"),
		PD_NUMBER("byte_order", __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		PD_NUMBER("long_size", sizeof(long)), PD_NUMBER("page_size", sysconf(_SC_PAGESIZE)),
		file_text(h, "header_page", events, "header_page"),
		file_text(h, "header_event", events, "header_event"),
		host_array(&ftrace, "ftrace_formats"), host_array(&systems, "systems"),
		PD_TEXT("kallsyms", ""), file_text(h, "printk_formats", tracefs, "printk_formats"),
		file_text(h, "cmdlines", tracefs, "saved_cmdlines") }, 11);
}

int hostinfo_tracing(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		     struct pd_error *e)
{
	int tracefs = info->nr_tracepoints ? tracefs_open() : -1, ret = 0;
	int events = -1;

	if (tracefs >= 0)
		events = openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (events >= 0) {
		ret = host_feature(w, h, PD_FEATURE_TRACING_DATA,
				   tracing_value(h, info, tracefs, events), e);
		close(events);
	}
	if (tracefs >= 0)
		close(tracefs);
	return ret;
}
