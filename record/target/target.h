/* target.h - the threads and cpus that are recorded. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>

#include "base/log.h"
#include "base/options.h"
#include "base/parse.h"

enum target_kind {
	TARGET_COMMAND,		/* the command and what it starts */
	TARGET_THREADS,		/* -p, -t, -u */
	TARGET_SYSTEM,		/* -a, -C, -G */
};

struct target {
	enum target_kind kind;
	char *const *command;	/* to execute, or NULL */
	struct int_list threads; /* TARGET_COMMAND: filled in after the fork */
	struct int_list cpus;	/* of the counters; only -1: any cpu that the thread runs on */
	struct int_list side_cpus; /* with -C: all online cpus, for side-band records */
	unsigned int nr_online;	/* cpus; 0: not counted */
	bool per_thread;
};

/* Returns 0, or an exit status after logging the error. */
int target_choose(struct target *t, const struct settings *o, char *const *command,
		  const struct logger *log);
void target_free(struct target *t);
/* Returns all cpus with a counter: with -C also those that have only side-band records. */
const struct int_list *target_all_cpus(const struct target *t);

#endif
