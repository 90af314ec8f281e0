/* list.c - precord --list: list the events of this machine. */
#include "inform/list.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/abi.h"
#include "event/event_kinds.h"
#include "inform/list_internal.h"

/* Whether the kernel has the event. One that is refused for lack of privilege exists. */
static bool is_available(const char *name)
{
	struct event_attr attr = { .size = 112, .flags = ATTR_DISABLED | ATTR_EXCLUDE_KERNEL |
				   ATTR_EXCLUDE_HV };
	int fd;

	if (!event_symbol(name, &attr.type, &attr.config))
		return false;
	fd = abi_event_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EACCES || errno == EPERM;
}

/* Lists events of one type. An alias is on the same line, but on its own with LIST_NAMES. */
static void list_symbols(struct list *l, uint32_t type)
{
	const struct event_symbol *s;
	char alias[64];
	size_t n;

	s = event_symbols(&n);
	for (size_t i = 0; i < n; i++) {
		if (s[i].type != type || !is_available(s[i].name))
			continue;
		snprintf(alias, sizeof(alias), "or %s", s[i].alias ? s[i].alias : "");
		list_line(l, s[i].name, s[i].alias ? alias : s[i].what);
		if (s[i].alias && l->names_only)
			list_line(l, s[i].alias, NULL);
	}
}

static void list_hardware(struct list *l)
{
	size_t before = l->n;

	list_begin_group(l, "Hardware events", "hw hardware");
	list_symbols(l, PERF_TYPE_HARDWARE);
	if (l->n == before)
		list_note(l, "none here; cpu-clock is used instead of cycles");
}

static void list_software(struct list *l)
{
	list_begin_group(l, "Software events", "sw software");
	list_symbols(l, PERF_TYPE_SOFTWARE);
}

static void list_caches(struct list *l)
{
	char name[48];

	list_begin_group(l, "Hardware cache events", "cache hwcache");
	for (size_t i = 0; event_cache_name(i, name, sizeof(name)); i++)
		if (list_matches(l, name) && is_available(name))
			list_line(l, name, NULL);
}

/* Lists the syntax of events that have no fixed names. */
static void list_syntaxes(struct list *l)
{
	uint32_t type;

	list_begin_group(l, "Breakpoints", "breakpoint breakpoints mem");
	list_line(l, "mem:ADDR[/LEN][:rwx]",
		  "a hardware breakpoint; at most four at a time on x86");
	list_begin_group(l, "Probes", "probe probes uprobe kprobe");
	if (pmu_type("uprobe", &type)) {
		list_line(l, "uprobe:FILE:SYMBOL[+OFFSET]", "when a program reaches this code");
		list_line(l, "uretprobe:FILE:SYMBOL", "when a function of a program returns");
	}
	if (pmu_type("kprobe", &type)) {
		list_line(l, "kprobe:SYMBOL[+OFFSET]", "when the kernel reaches this code");
		list_line(l, "kretprobe:SYMBOL", "when a function of the kernel returns");
	}
	list_begin_group(l, "Raw events", "raw");
	if (pmu_type("cpu", &type) || pmu_type("cpu_core", &type) || pmu_type("armv8_pmuv3", &type))
		list_line(l, "rNNN", "an event number from the processor's manual, in hex");
}

size_t list_events(FILE *out, const char *glob, enum list_style style)
{
	struct list l = {
		.out = out, .glob = *glob ? glob : NULL, .names_only = style == LIST_NAMES,
	};

	list_hardware(&l);
	list_software(&l);
	list_caches(&l);
	list_pmus(&l);
	if (!l.names_only)
		list_syntaxes(&l);
	list_tracepoints(&l);
	return l.n;
}
