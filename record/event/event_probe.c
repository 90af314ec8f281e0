/* event_probe.c - probes in programs and the kernel, opened by their PMU, or else by a tracefs
 * event that is created for the recording and removed after it.
 *
 * Tasks can't inherit a probe of a PMU: at fork the kernel reads the string at attr.config1 again,
 * from the memory of the task that forks, and if that fails, so does the fork. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tracefs.h"
#include "event/event_kinds.h"

struct probe {
	const char *text;		/* as given */
	bool user, at_return;
	char *where;			/* a file, or a symbol of the kernel */
	char *symbol;			/* in the file; points into `where` */
	uint64_t offset;		/* in the file, or from the symbol of the kernel */
	const char *fetch;		/* fetch arguments, or NULL */
};

static const struct kind {
	const char *start;
	bool user, at_return;
} kinds[] = {
	{ "uprobe:", true, false }, { "uretprobe:", true, true },
	{ "kprobe:", false, false }, { "kretprobe:", false, true },
};

static const struct kind *kind_of(const char *text)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i].start, strlen(kinds[i].start)) == 0)
			return &kinds[i];
	return NULL;
}

bool is_probe(const char *text)
{
	return kind_of(text) != NULL;
}

static int log_wrong_probe(const struct event_list *l, const char *text, const char *why)
{
	log_at(l->log, LOG_ERROR, "probe '%s': %s", text, why);
	return -1;
}

/* Cuts "+8" off the end of a symbol. False: it is not a number. */
static bool cut_offset(char *symbol, uint64_t *offset)
{
	char *plus = strrchr(symbol, '+');

	*offset = 0;
	if (!plus)
		return true;
	*plus = '\0';
	return parse_number(plus + 1, offset);
}

static int find_in_file(const struct event_list *l, struct probe *p)
{
	char *colon = strrchr(p->where, ':'), path[PATH_MAX];
	uint64_t start, more;

	if (!colon || !colon[1])
		return log_wrong_probe(l, p->text,
				       "must be uprobe:FILE:SYMBOL[+OFFSET] or uprobe:FILE:OFFSET");
	*colon = '\0';
	p->symbol = colon + 1;
	if (!realpath(p->where, path))
		return log_wrong_probe(l, p->text, strerror(errno));
	if (parse_number(p->symbol, &p->offset)) {
		p->symbol = NULL;
	} else {
		if (!cut_offset(p->symbol, &more))
			return log_wrong_probe(l, p->text,
					       "the offset after the symbol is not a number");
		if (!elf_symbol_offset(path, p->symbol, &start))
			return log_wrong_probe(l, p->text, "no such symbol in the file");
		p->offset = start + more;
	}
	free(p->where);
	p->where = event_text(path, strlen(path));
	p->symbol = NULL;
	return p->where ? 0 : event_no_memory(l);
}

static int add_by_pmu(struct event_list *l, const struct probe *p, uint32_t type)
{
	struct event *e = events_add(l, p->text, type, 0);

	if (!e)
		return event_no_memory(l);
	e->probe = event_text(p->where, strlen(p->where));
	if (!e->probe)
		return event_no_memory(l);
	if (p->at_return)
		e->attr.config = pmu_config_bits(p->user ? "uprobe" : "kprobe", "retprobe");
	e->attr.config1 = (uintptr_t)e->probe;
	e->attr.config2 = p->offset;
	e->attr.sample_period = 1;
	return 0;
}

/* Appends a line to uprobe_events or kprobe_events. Returns 0 or an errno. */
static int write_line(const char *file, const char *line)
{
	int dir = tracefs_open(), fd, error = 0;

	if (dir < 0)
		return errno;
	fd = openat(dir, file, O_WRONLY | O_APPEND | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return errno;
	if (write(fd, line, strlen(line)) < 0)
		error = errno;
	close(fd);
	return error;
}

void probe_remove(const char *created, const struct logger *log)
{
	char file[32];
	size_t size = strcspn(created, " ");
	int error;

	snprintf(file, sizeof(file), "%.*s", (int)size, created);
	error = write_line(file, created + size + 1);
	if (error)
		log_at(log, LOG_WARNING, "probe %s could not be removed from tracefs: %s",
		       created + size + 3, strerror(error));
}

static const char *probe_file(const struct probe *p)
{
	return p->user ? "uprobe_events" : "kprobe_events";
}

static bool can_create(const struct probe *p)
{
	int dir = tracefs_open();
	bool can;

	if (dir < 0)
		return false;
	can = faccessat(dir, probe_file(p), W_OK, AT_EACCESS) == 0;
	close(dir);
	return can;
}

static bool is_for_pmu(const struct event_list *l, const struct probe *p, uint32_t *type)
{
	return !p->fetch && pmu_type(p->user ? "uprobe" : "kprobe", type) &&
	       !(l->inherited && can_create(p));
}

static int add_by_tracefs(struct event_list *l, const struct probe *p)
{
	const char *file = probe_file(p);
	char group[48], name[64], line[PATH_MAX + 1024], event[128];
	size_t before = l->n;
	struct probes_left left;
	int error;

	if (!probe_group(group, sizeof(group)))
		return log_wrong_probe(l, p->text, "/proc is not mounted");
	left = probes_left(PROBES_REMOVE);
	if (left.removed)
		log_at(l->log, LOG_WARNING, "removed %zu probes that killed recorders left behind",
		       left.removed);
	snprintf(name, sizeof(name), "%s/probe_%u", group, l->specs);
	snprintf(line, sizeof(line), p->user ? "%c:%s %s:0x%llx %s" : "%c:%s %s+%llu %s",
		 p->at_return ? 'r' : 'p', name, p->where, (unsigned long long)p->offset,
		 p->fetch ? p->fetch : "");
	error = write_line(file, line);
	if (error == ENOENT)
		return log_wrong_probe(l, p->text, p->user ? "this kernel has no uprobes" :
			     "this kernel has no kprobes");
	if (error)
		return log_wrong_probe(l, p->text, strerror(error));
	snprintf(line, sizeof(line), "%s -:%s", file, name);
	snprintf(event, sizeof(event), "%s:probe_%u", group, l->specs);
	if (event_tracepoints(l, event) || l->n == before) {
		probe_remove(line, l->log);
		return -1;
	}
	free(events_last(l)->name);
	events_last(l)->name = event_text(p->text, strlen(p->text));
	events_last(l)->created = event_text(line, strlen(line));
	return events_last(l)->name && events_last(l)->created ? 0 : event_no_memory(l);
}

static int add_probe(struct event_list *l, const char *text, const struct kind *kind)
{
	const char *rest = text + strlen(kind->start), *blank = strchr(rest, ' ');
	struct probe p = {
		.text = text, .user = kind->user, .at_return = kind->at_return,
		.where = event_text(rest, blank ? (size_t)(blank - rest) : strlen(rest)),
		.fetch = blank ? blank + 1 : NULL,
	};
	uint32_t type;
	int err;

	if (!p.where)
		return event_no_memory(l);
	if (p.user)
		err = find_in_file(l, &p);
	else
		err = cut_offset(p.where, &p.offset) ? 0 :
			log_wrong_probe(l, text, "the offset after the symbol is not a number");
	if (!err && is_for_pmu(l, &p, &type))
		err = add_by_pmu(l, &p, type);
	else if (!err)
		err = add_by_tracefs(l, &p);
	free(p.where);
	return err;
}

int event_probe(struct event_list *l, const char *text)
{
	const struct kind *kind = kind_of(text);

	return kind ? add_probe(l, text, kind) : log_wrong_probe(l, text, "unknown kind of probe");
}
