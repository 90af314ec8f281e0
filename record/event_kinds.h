/* event_kinds.h - the kinds of events, each adding its own to a list. 0, or -1 after saying why. */
#ifndef RECORD_EVENT_KINDS_H
#define RECORD_EVENT_KINDS_H

#include "event.h"

/* Names that the kernel has numbers for: cycles, page-faults, L1-dcache-load-misses. */
bool event_symbol(const char *name, uint32_t *type, uint64_t *config);

/* "mem:ADDR[/LEN][:rwx][:mods]" */
int event_breakpoint(struct event_list *l, const char *text);

/* "sys:name", both with globs. */
int event_tracepoints(struct event_list *l, const char *text);
/* Directory of tracefs, open; -1 and errno. */
int tracefs_open(void);

/* "pmu" with its terms; text: how the user wrote it. */
int event_pmu(struct event_list *l, const char *pmu, const char *terms, const char *text);
/* Terms of an event that is no PMU's. */
int event_common_terms(struct event_list *l, size_t from, const char *terms);
/* A name that some PMU has in its events directory: the PMU's name, for free(), or NULL. */
char *pmu_of_alias(const char *alias);
/* Where in attr.config a term of a PMU's format goes; 0: nowhere. */
uint64_t pmu_config_bits(const char *pmu, const char *term);
/* The number of a PMU; false where there is none. */
bool pmu_type(const char *pmu, uint32_t *type);

/* "uprobe:FILE:SYMBOL[+OFF]", "uretprobe:", "kprobe:SYMBOL[+OFF]", "kretprobe:", then maybe a
 * blank and what to fetch. */
bool is_probe(const char *text);
int event_probe(struct event_list *l, const char *text);
void probe_remove(const char *created, const struct say *say);

/* Where in the file the symbol's code lies. False: no ELF file of this machine, no such symbol. */
bool elf_symbol_offset(const char *path, const char *symbol, uint64_t *offset);

#endif
