/* event_kinds.h - the kinds of events, each adding its own to a list. 0, or -1 after saying why. */
#ifndef RECORD_EVENT_KINDS_H
#define RECORD_EVENT_KINDS_H

#include "event/event.h"

/* Names that the kernel has numbers for: cycles, page-faults, L1-dcache-load-misses. */
bool event_symbol(const char *name, uint32_t *type, uint64_t *config);
struct event_symbol {
	const char *name, *alias;	/* alias: NULL, or another spelling */
	const char *what;		/* NULL, or what it counts */
	uint32_t type, config;
};
/* Hardware and software events, without those of caches. */
const struct event_symbol *event_symbols(size_t *n);

/* The usual names of the events of caches, by number; false after the last. */
bool event_cache_name(size_t i, char *name, size_t size);
/* An event with almost this name, for free(); NULL: none is near. */
char *event_suggest(const char *name);
/* Says that there is no such event, and which may be meant; -1. what: "event", "tracepoint". */
int event_unknown(const struct event_list *l, const char *what, const char *name);

/* "mem:ADDR[/LEN][:rwx]"; text: how the user wrote it, with terms and modifiers. */
int event_breakpoint(struct event_list *l, const char *name, const char *text);
/* The modifiers at the end of a breakpoint, which need no colon; NULL: none. */
const char *breakpoint_modifiers(const char *text);

/* "sys:name", both with globs. */
int event_tracepoints(struct event_list *l, const char *text);
/* " a b c", the fields of "sys:name" but for those that all have. False: unknown. */
bool tracepoint_fields(const char *name, char *text, size_t size);

/* "pmu" with its terms; text: how the user wrote it. */
int event_pmu(struct event_list *l, const char *pmu, const char *terms, const char *text);
/* Is there such a PMU, or one that the pattern or the name without its number means? */
bool pmu_exists(const char *pmu);
/* Does some PMU have the name in its events directory? */
bool pmu_has_alias(const char *alias);
/* That event of all PMUs that have it. */
int event_pmu_alias(struct event_list *l, const char *alias, const char *terms, const char *text);
/* Where in attr.config a term of a PMU's format goes; 0: nowhere. */
uint64_t pmu_config_bits(const char *pmu, const char *term);
/* The number of a PMU; false where there is none. */
bool pmu_type(const char *pmu, uint32_t *type);

/* "uprobe:FILE:SYMBOL[+OFF]", "uretprobe:", "kprobe:SYMBOL[+OFF]", "kretprobe:", then maybe a
 * blank and what to fetch. */
bool is_probe(const char *text);
int event_probe(struct event_list *l, const char *text);
void probe_remove(const char *created, const struct logger *log);

/* Stores the name that this process gives to its group of probes in tracefs. False: /proc does not tell who it is. */
bool probe_group(char *name, size_t size);
/* Probes in tracefs whose recorder was killed: how many there were, and how many of them are gone now. */
enum probes_action { PROBES_COUNT, PROBES_REMOVE };
struct probes_left { size_t n, removed; };
struct probes_left probes_left(enum probes_action action);

/* Where in the file the symbol's code lies. False: no ELF file of this machine, no such symbol. */
bool elf_symbol_offset(const char *path, const char *symbol, uint64_t *offset);

#endif
