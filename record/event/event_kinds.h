/* event_kinds.h - the kinds of events. Functions that add events return 0, or -1 after logging the
 * error. */
#ifndef RECORD_EVENT_KINDS_H
#define RECORD_EVENT_KINDS_H

#include "event/event.h"

/* Looks up an event that the kernel's ABI numbers: cycles, page-faults, L1-dcache-load-misses. */
bool event_symbol(const char *name, uint32_t *type, uint64_t *config);
struct event_symbol {
	const char *name, *alias;	/* alias: another spelling, or NULL */
	const char *what;		/* what it counts, or NULL */
	uint32_t type, config;
};
/* Returns the hardware and software events, without cache events. */
const struct event_symbol *event_symbols(size_t *n);

/* Stores the name of the i-th cache event in its usual spelling. False: after the last one. */
bool event_cache_name(size_t i, char *name, size_t size);
/* Returns the event with the most similar name, for the caller to free, or NULL. */
char *event_suggest(const char *name);
/* Logs that there is no such event, with a suggestion, and returns -1. what: "event" or
 * "tracepoint". */
int event_unknown(const struct event_list *l, const char *what, const char *name);

/* Adds "mem:ADDR[/LEN][:rwx]". text: as the user wrote it, with terms and modifiers. */
int event_breakpoint(struct event_list *l, const char *name, const char *text);
/* Returns the modifiers at the end of a breakpoint, which need no colon, or NULL. */
const char *breakpoint_modifiers(const char *text);

/* Adds the tracepoints of "system:name"; both may be patterns. */
int event_tracepoints(struct event_list *l, const char *text);
/* Stores " a b c", the fields of "system:name" without the common ones. False: it is unknown. */
bool tracepoint_fields(const char *name, char *text, size_t size);

/* Adds an event of a PMU, or of each PMU that `pmu` selects. text: as the user wrote it. */
int event_pmu(struct event_list *l, const char *pmu, const char *terms, const char *text);
/* Whether `pmu` selects any PMU: a name, a pattern, or a name without its number. */
bool pmu_exists(const char *pmu);
/* Whether any PMU lists an event of this name. */
bool pmu_has_alias(const char *alias);
/* Adds that event of every PMU that lists it. */
int event_pmu_alias(struct event_list *l, const char *alias, const char *terms, const char *text);
/* Returns the bits of attr.config that a term of the PMU sets; 0: none. */
uint64_t pmu_config_bits(const char *pmu, const char *term);
/* Stores the PMU's number. False: there is no such PMU. */
bool pmu_type(const char *pmu, uint32_t *type);

/* "uprobe:FILE:SYMBOL[+OFF]", "uretprobe:...", "kprobe:SYMBOL[+OFF]" or "kretprobe:...", optionally
 * followed by a blank and fetch arguments. */
bool is_probe(const char *text);
int event_probe(struct event_list *l, const char *text);
void probe_remove(const char *created, const struct logger *log);

/* Stores the group name of this process's probes in tracefs. False: /proc is not mounted. */
bool probe_group(char *name, size_t size);
enum probes_action { PROBES_COUNT, PROBES_REMOVE };
struct probes_left { size_t n, removed; };
/* Counts the probes in tracefs whose recorder was killed, and removes them if asked to. */
struct probes_left probes_left(enum probes_action action);

/* Stores the file offset of a symbol's code. False: not an ELF file, or no such symbol. */
bool elf_symbol_offset(const char *path, const char *symbol, uint64_t *offset);

#endif
